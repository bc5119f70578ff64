from PIL import Image

from eval.page import Page


def test_a_page_holds_all_it_shows(tmp_path):
    Image.new("RGB", (8, 8), "red").save(tmp_path / "p.png")
    page = Page("A <title>", "what it is")
    page.table(("", "value"), [("a & b", "1")])
    page.figure(tmp_path / "p.png", "curve", "caption")
    page.cards([(Image.new("RGB", (8, 8)), "it is", [("a text", True), ("<other>", False)])])
    page.save(tmp_path / "p.html")
    html = (tmp_path / "p.html").read_text()
    assert "A &lt;title&gt;" in html and "&lt;other&gt;" in html and "a &amp; b" in html
    assert "http" not in html and html.count("data:image/") == 2
