"""The page in headless Chromium, as a person uses it: by pointer and keyboard, wide and narrow."""

import shutil
from pathlib import Path

import pytest
from test_app import remembering, shown  # noqa: F401 - fixtures

import app
from eval import cards
from eval.gallery import Gallery, Point

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed"),
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TABS = ("Caption", "Classify", "Search", "Bridge")
PATIENCE = 60_000  # milliseconds, for machines that have other things to do


@pytest.fixture(scope="module")
def address(shown):  # noqa: F811
    with app.temporary_files():
        blocks = app.build(shown)
        yield app.launch(blocks)
        blocks.page.loading.join()
        blocks.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open the page in a window of its own; what it asked for is in `asked`."""
    contexts = []

    def opened(size=WIDE, scheme="light"):
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(address)
        page.get_by_role("tab", name="Caption", exact=True).wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def red(colours) -> Path:
    return colours / "new" / "red" / "16.png"


@pytest.fixture(scope="module")
def blue(colours) -> Path:
    return colours / "new" / "blue" / "17.png"


def put(page, where: str, picture: Path) -> None:
    page.locator(f"#{where}-image input[type=file]").set_input_files(picture)
    page.locator(f"#{where}-image img").first.wait_for()


def go_to(page, tab: str) -> None:
    page.get_by_role("tab", name=tab, exact=True).click()


def cards_in(page, where: str, count: int = 1):
    cards = page.locator(f"#{where}-answer .card")
    cards.nth(count - 1).wait_for()
    return cards


def only_bridge(page, name: str) -> None:
    for other in ("colours", "bare"):
        page.get_by_label(other, exact=True).set_checked(other == name)


def test_a_picture_gets_its_caption(visit, red):
    page = visit()
    only_bridge(page, "colours")
    put(page, "caption", red)
    page.get_by_role("button", name="Write a caption").click()
    card = cards_in(page, "caption").first
    assert "red" in card.locator(".sentence").inner_text()
    assert card.locator("ol.scored li").count() >= 5
    outside = [url for url in page.asked if not url.startswith(("http://127.0.0.1", "data:"))]
    assert page.asked and not [url for url in outside if not url.startswith("blob:")]


def test_classes_become_bars_of_two_bridges(visit, blue):
    page = visit()
    go_to(page, "Classify")
    put(page, "classify", blue)
    page.get_by_label("Classes, one a line").fill("red dog\nblue dog")
    page.get_by_role("button", name="Classify", exact=True).click()
    found = cards_in(page, "classify", 2)
    for index, name in enumerate(("colours", "bare")):
        assert found.nth(index).locator("h3").inner_text() == name
        assert found.nth(index).locator(".name").all_inner_texts() == ["blue dog", "red dog"]
    widths = [bar.bounding_box()["width"] for bar in found.first.locator(".bar i").all()]
    assert widths[0] > 1.2 * widths[1]
    assert "no probabilities" in page.locator("body").inner_text()


def test_a_search_finds_pictures_and_bridges_can_be_switched(visit):
    page = visit()
    only_bridge(page, "colours")
    go_to(page, "Search")
    page.get_by_label("Text, to find images").fill("a red cat")
    page.get_by_label("Text, to find images").press("Enter")
    pictures = cards_in(page, "search").first.locator("img")
    assert pictures.count() == 10 and "red" in pictures.first.get_attribute("alt")
    only_bridge(page, "bare")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_text("no pictures to search in").wait_for()


def test_a_bad_file_is_told_in_plain_words(visit, tmp_path):
    page = visit()
    (tmp_path / "words.png").write_text("no image")
    page.locator("#caption-image input[type=file]").set_input_files(tmp_path / "words.png")
    page.locator("#caption-image img").first.wait_for(state="attached")
    page.get_by_role("button", name="Write a caption").click()
    page.get_by_text("cannot be read as an image").wait_for()


def tab_to(page, is_there: str) -> None:
    """Press the tab key until the focused element, `e`, is the wanted one."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(f"((e) => {is_there})(document.activeElement)"):
            return
    raise AssertionError(f"the tab key does not reach {is_there}")


def test_the_keyboard_is_enough(visit):
    page = visit()
    tab_to(page, "e.value === 'bare' || e.closest('label')?.innerText.trim() === 'bare'")
    page.keyboard.press("Space")
    tab_to(page, "e.role === 'tab' && e.innerText === 'Search'")
    page.keyboard.press("Enter")
    tab_to(page, "e.closest('#search-text')")
    page.keyboard.type("a blue boat")
    page.keyboard.press("Enter")
    assert "blue" in cards_in(page, "search").first.locator("img").first.get_attribute("alt")


def test_the_report_card(visit):
    page = visit()
    only_bridge(page, "colours")
    go_to(page, "Bridge")
    report = page.locator("#report")
    report.get_by_text("16 known pairs").wait_for()
    assert "package:efficientnet-lite0" in report.inner_text()


def test_the_map_says_what_a_dot_is(browser, colours):
    points = [
        Point("text", 0, 0.2, 0.2, "0.png"),
        Point("image", 0, 0.8, 0.8, "0.png"),
    ]
    page = browser.new_page()
    page.set_content(cards.map_card(points, Gallery(folder=colours / "pictures")))
    page.evaluate(f"(element) => {{ {cards.SHOW_POINT.read_text()} }}", page.query_selector("body"))
    page.locator("circle").last.hover()
    assert page.locator(".seen p").inner_text() == "image: 0.png"
    assert page.locator(".seen img").get_attribute("src").startswith("data:image/jpeg")
    page.locator("svg").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".seen p").inner_text() == "text: 0.png"
    page.close()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_fits_and_can_be_read(visit, size, scheme, red):
    page = visit(size, scheme)
    put(page, "caption", red)
    page.get_by_role("button", name="Write a caption").click()
    for tab in TABS:
        if page.get_by_role("tab", name=tab, exact=True).count() == 0:
            page.locator(".overflow-menu button").first.click()
        go_to(page, tab)
        page.wait_for_timeout(300)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{tab} is {width} wide"
        assert not page.evaluate(FAINT), f"{tab}: {page.evaluate(FAINT)}"
        assert not page.evaluate(UNNAMED), f"{tab}: {page.evaluate(UNNAMED)}"


def test_examples_are_drawn_here(visit):
    page = visit()
    page.locator("#caption-examples button, #caption-examples td").first.click()
    page.locator("#caption-image img").first.wait_for()
    assert page.locator("#caption-examples img").count() == len(app.EXAMPLES)


def test_dark_is_dark(visit):
    for scheme, dark in (("light", False), ("dark", True)):
        page = visit(scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(part) for part in colour.strip("rgb()").split(",")[:3])
        assert (brightness < 200) is dark, colour


# Texts of ours with less contrast to what lies behind them than WCAG 2 asks for (4.5; 3 if large).
FAINT = """() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= .03928 ? v / 12.92
      : ((v + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = channels(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] > .9) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const parts = document.querySelectorAll(
    '.pb *, button[role=tab], button.primary, label span, .block-label');
  for (const element of parts) {
    const box = element.getBoundingClientRect();
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !box.width || !box.height) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(channels(style.color)), light(behind(element))];
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const large = parseFloat(style.fontSize) >= 18.66;
    if (contrast < (large ? 3 : 4.5)) {
      found.push(element.textContent.trim().slice(0, 40) + ' ' + contrast.toFixed(2));
    }
  }
  return found.length ? found : null;
}"""
# Visible inputs without a name for those who hear the page, and pictures without a text.
UNNAMED = """() => {
  const found = [];
  const parts = document.querySelectorAll('input:not([type=file]), textarea, select, img, button');
  for (const element of parts) {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const name = element.getAttribute('aria-label') || element.getAttribute('aria-labelledby')
      || element.getAttribute('alt') || element.title || element.closest('label')
      || (element.labels && element.labels.length) || element.textContent.trim()
      || element.querySelector('img[alt]:not([alt=""])');
    if (!name) found.push(element.outerHTML.slice(0, 160));
  }
  return found.length ? found : null;
}"""
