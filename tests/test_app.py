"""The page of `platobridge app` through its API: right answers, plain errors, closed doors."""

import json
import re
import shutil
import threading
from pathlib import Path

import httpx
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from PIL import Image

import app
from bridge import embeddings, maps
from bridge.__main__ import main
from bridge.captions import read_captions
from bridge.decode import Decoder
from bridge.errors import InputError
from bridge.fitting import fit
from bridge.images import read_upload
from bridge.memory import remember
from bridge.opened import Choice, OpenBridge, open_bridge
from eval import cards
from eval.answers import Shown
from eval.gallery import (
    Gallery,
    default_bridges,
    embedding_map,
    gallery,
    measured,
    quickstart_beside,
)


@pytest.fixture(scope="module")
def remembering(colours, tmp_path_factory) -> Path:
    """A decoder that remembers the captions of the coloured pictures."""
    table = embeddings.load(colours / "text.safetensors")
    mean = maps.load(colours / "bridge").text.mean
    memory = remember(table, read_captions(colours / "captions.jsonl"), mean)
    folder = tmp_path_factory.mktemp("decoders") / "nearest"
    Decoder({"kind": "nearest", "encoder": table.about["encoder"]}, memory).save(folder)
    return folder


@pytest.fixture(scope="module")
def shown(colours, remembering) -> list[Shown]:
    """Two bridges: one with a decoder and a gallery, one that has neither."""
    beside = gallery(
        colours / "images.safetensors",
        colours / "pictures",
        colours / "text.safetensors",
        colours / "captions.jsonl",
    )
    pool = {}
    choice = Choice(decoder=remembering, device="cpu")
    return [
        Shown("colours", open_bridge(colours / "bridge", choice, pool), beside),
        Shown("bare", open_bridge(colours / "bridge", Choice(device="cpu"), pool)),
    ]


@pytest.fixture(scope="module")
def address(shown):
    with app.temporary_files():
        blocks = app.build(shown)
        address = app.launch(blocks)
        blocks.page.loading.join()
        yield address
        blocks.close()


@pytest.fixture(scope="module")
def client(address) -> Client:
    return Client(address, verbose=False)


@pytest.fixture(scope="module")
def red(colours):
    return handle_file(colours / "new" / "red" / "16.png")


@pytest.fixture(scope="module")
def blue(colours):
    return handle_file(colours / "new" / "blue" / "17.png")


def test_a_caption_with_its_rivals(client, red, blue):
    for picture, colour in ((red, "red"), (blue, "blue")):
        (answer,) = client.predict(
            image=picture, bridges=["colours"], candidates=2, api_name="/caption"
        )
        assert colour in answer["caption"] and not answer["written"]
        assert answer["caption"] == answer["candidates"][0]["text"]
        assert len(answer["candidates"]) == 2 and len(answer["near"]) == 5
        scores = [each["score"] for each in answer["near"]]
        assert scores == sorted(scores, reverse=True)


def test_classes_best_first(client, red, blue):
    for picture, right in ((red, "red dog"), (blue, "blue dog")):
        answers = client.predict(
            image=picture,
            classes="blue dog\nred dog\n",
            bridges=["colours", "bare"],
            api_name="/classify",
        )
        assert [answer["bridge"] for answer in answers] == ["colours", "bare"]
        for answer in answers:
            assert answer["classes"][0]["name"] == right
            assert answer["classes"][0]["cosine"] > answer["classes"][1]["cosine"]


def test_a_bridge_that_cannot_answer_does_not_silence_the_other(client, red):
    can, cannot = client.predict(image=red, bridges=["colours", "bare"], api_name="/caption")
    assert "red" in can["caption"]
    assert "no decoder belongs to this bridge" in cannot["error"]


def test_a_ready_list(client, red):
    (answer,) = client.predict(
        image=red, ready_list="world", top=7, bridges=["bare"], api_name="/classify"
    )
    assert len(answer["classes"]) == 7


def test_search_both_ways(client, red, colours):
    (answer,) = client.predict(text="a blue dog", top=4, bridges=["colours"], api_name="/search")
    blue = {f"{index}.png" for index in range(1, 16, 2)}
    assert {each["image"] for each in answer["images"]} <= blue
    assert "blue" in answer["images"][0]["caption"]
    (answer,) = client.predict(image=red, top=3, bridges=["colours"], api_name="/search")
    assert all("red" in each["text"] for each in answer["texts"])


CAPTION = {"api_name": "/caption", "bridges": ["colours"]}
CLASSIFY = {"api_name": "/classify", "bridges": ["colours"]}
SEARCH = {"api_name": "/search", "bridges": ["colours"]}


@pytest.mark.parametrize(
    "request_, says",
    [
        (CAPTION | {"image": None}, "no image yet"),
        (CLASSIFY | {"image": None}, "no image yet"),
        (CLASSIFY | {"classes": "cat"}, "at least 2 classes, got 1"),
        (CLASSIFY | {"classes": ""}, "at least 2 classes, got 0"),
        (CLASSIFY | {"classes": "cat\ndog\ncat"}, "'cat' is named twice"),
        (CLASSIFY | {"classes": "\n".join(map(str, range(1001)))}, "most 1,000 classes, got 1,001"),
        (SEARCH, "type what to look for"),
        (SEARCH | {"text": "   "}, "type what to look for"),
        (CAPTION | {"bridges": ["bare"]}, "no decoder belongs to this bridge"),
        (SEARCH | {"text": "a dog", "bridges": ["bare"]}, "no pictures to search in"),
    ],
)
def test_plain_errors(client, red, request_, says):
    if request_["api_name"] != "/search":
        request_ = {"image": red} | request_
    with pytest.raises(AppError, match=says):
        client.predict(**request_)


def test_files_that_are_no_images(client, tmp_path):
    (tmp_path / "words.png").write_text("not an image")
    with pytest.raises(AppError, match="cannot be read as an image") as told:
        client.predict(image=handle_file(tmp_path / "words.png"), **CAPTION)
    assert str(tmp_path) not in str(told.value) and "/" not in str(told.value)


def test_too_many_pixels(client, tmp_path):
    Image.new("1", (8000, 6000)).save(tmp_path / "large.png")
    with pytest.raises(AppError, match="at most 40 million pixels"):
        client.predict(image=handle_file(tmp_path / "large.png"), **CAPTION)
    Image.new("1", (20_000, 20_000)).save(tmp_path / "bomb.png")  # above Pillow's own limit
    with pytest.raises(AppError, match="at most 40 million pixels"):
        client.predict(image=handle_file(tmp_path / "bomb.png"), **CAPTION)


def test_too_many_bytes(client, tmp_path):
    (tmp_path / "heavy.png").write_bytes(bytes(11 * 1024 * 1024))
    with pytest.raises(Exception, match=r"413|too large|exceeds|maximum"):
        client.predict(image=handle_file(tmp_path / "heavy.png"), **CAPTION)


def test_nothing_else_can_be_fetched(address):
    for path in ("/etc/passwd", str(Path(app.__file__)), "app.py"):
        assert httpx.get(f"{address}gradio_api/file={path}").status_code in (403, 404)
    data = {"data": [{"path": "/etc/passwd"}, ["colours"], "writes", 1, 1, 1, 5]}
    posted = httpx.post(f"{address}gradio_api/call/caption", json=data)
    event = posted.json()["event_id"]
    told = httpx.get(f"{address}gradio_api/call/caption/{event}", timeout=60).text
    assert "error" in told and "root:" not in told


def test_people_at_once_get_their_own_answers(address, red, blue):
    wrong, failed = [], []

    def ask(picture, colour):
        try:
            mine = Client(address, verbose=False)
            for _ in range(5):
                (answer,) = mine.predict(image=picture, **CAPTION)
                wrong.extend([] if colour in answer["caption"] else [answer["caption"]])
        except Exception as error:
            failed.append(error)

    people = [
        threading.Thread(target=ask, args=pair) for pair in ((red, "red"), (blue, "blue")) * 3
    ]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert not failed and not wrong


def test_the_readmes_client_runs(address, colours, tmp_path, monkeypatch, capsys):
    readme = (Path(app.__file__).parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if not blocks:
        pytest.skip("the README shows no client")
    shutil.copy(colours / "new" / "red" / "16.png", tmp_path / "picture.jpg")
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block.replace("http://127.0.0.1:7860", address), "README.md", "exec"), {})
    assert "red" in capsys.readouterr().out


def test_the_page_offers_three_endpoints_alone(client):
    offered = client.view_api(return_format="dict", print_info=False)
    assert set(offered["named_endpoints"]) == {"/caption", "/classify", "/search"}
    assert not offered["unnamed_endpoints"]


def test_nothing_is_shared_or_recorded(address):
    config = httpx.get(f"{address}config").json()
    assert address.startswith("http://127.0.0.1:")
    assert config["analytics_enabled"] is False and config["run_history"] is False
    assert config["footer_links"] == ["api"]


def test_cards_escape_what_they_show():
    evil = "<script>alert(1)</script>"
    answer = {
        "bridge": evil,
        "far": True,
        "kept": 0.2,
        "least": 0.7,
        "caption": evil,
        "written": True,
        "candidates": [{"text": evil, "score": -1.0}],
        "near": [],
    }
    html = cards.side_by_side([answer], cards.caption_card)
    assert "<script" not in html and "&lt;script" in html
    assert "Far from what this bridge knows" in html and 'class="guess"' in html


def test_a_near_image_gets_a_plain_sentence():
    answer = {"far": False, "caption": "a dog", "written": True, "candidates": [], "near": []}
    html = cards.caption_card(answer)
    assert 'class="sentence"' in html and "guess" not in html


def test_without_a_decoder_the_controls_are_hidden(shown):
    with app.temporary_files():
        for bridges, hidden in (([shown[0]], False), ([shown[1]], True)):
            config = app.build(bridges).get_config_file()
            labels = {
                part["props"].get("label"): part["props"]["visible"]
                for part in config["components"]
                if "visible" in part["props"]
            }
            assert labels["Decoder settings"] is not hidden
            assert labels["Image to caption"] is True


def test_all_inputs_have_labels(shown):
    with app.temporary_files():
        parts = app.build(shown).get_config_file()["components"]
    asked = {"image", "textbox", "slider", "dropdown", "radio", "checkboxgroup"}
    assert all(part["props"]["label"] for part in parts if part["type"] in asked)


def test_a_gallery_does_not_leave_its_folder(colours):
    beside = Gallery(folder=colours / "pictures")
    assert beside.picture("0.png") and beside.picture("../captions.jsonl") is None
    assert beside.picture("none.png") is None


def test_the_quickstart_is_the_default(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["app"]) == 2
    assert "platobridge quickstart" in capsys.readouterr().err
    folder = tmp_path / "runs" / "quickstart" / "good-views" / "bridge-ridge"
    folder.mkdir(parents=True)
    (folder / "bridge.json").write_text("{}")
    assert default_bridges() == [Path("runs/quickstart/good-views/bridge-ridge")]
    assert quickstart_beside(folder) is None


@pytest.mark.parametrize("text", ["", "name-alone\n", ":x\n", "x:\n"])
def test_an_auth_file_must_hold_names_and_passwords(tmp_path, text):
    (tmp_path / "auth").write_text(text)
    with pytest.raises(InputError, match="NAME:PASSWORD"):
        app.read_auth(tmp_path / "auth")


def test_auth_is_asked_for(shown, tmp_path):
    (tmp_path / "auth").write_text("ann:one:two\n\nbob:three\n")
    people = app.read_auth(tmp_path / "auth")
    assert people == [("ann", "one:two"), ("bob", "three")]
    with app.temporary_files():
        blocks = app.build([shown[1]])
        address = app.launch(blocks, auth=people)
        assert httpx.get(f"{address}config").status_code == 401
        assert Client(address, verbose=False, auth=("ann", "one:two")).predict is not None
        blocks.page.loading.join()
        blocks.close()


def test_names_of_bridges_differ():
    folders = [Path("/runs/a/bridge"), Path("/runs/b/bridge")]
    assert app.short_names(folders) == ["a/bridge", "b/bridge"]
    with pytest.raises(InputError, match="named twice"):
        app.short_names(folders[:1] * 2)


def test_uploads_are_upright_and_small(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = np.zeros((200, 400, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "turned.jpg", exif=exif)
    picture = read_upload(tmp_path / "turned.jpg", most_pixels=10**6, side=100)
    assert picture.size == (50, 100) and picture.mode == "RGB"


@pytest.fixture
def held_out(planted) -> Shown:
    """A bridge from 200 planted pairs, shown on 100 others."""
    text, image, _ = planted
    beside = Gallery(image, None, text, {each: f"text <{each}>" for each in text.ids})
    return Shown("planted", OpenBridge(fit(text.take(range(200)), image.take(range(200)))), beside)


def test_a_bridge_is_measured_on_what_it_has_not_seen(held_out):
    html = app.report_card(held_out)
    assert "Measured on 100 pictures it was not fitted on" in html
    report = measured(held_out.opened.bridge, held_out.unseen)["retrieval"]
    found = report.metrics["text_to_image.recall@1"]
    assert found > 0.9 and f"<td>{found:.3f}</td><td>0.010</td>" in html
    assert "data:image/png" in html and "text &lt;i250&gt;" in html and "text <" not in html
    assert not measured(held_out.opened.bridge, Gallery(*held_out_of_fit(held_out)))


def held_out_of_fit(shown: Shown):
    fitted = range(200)
    return shown.gallery.images.take(fitted), None, shown.gallery.texts.take(fitted)


def test_pairs_lie_near_each_other_on_the_map(held_out):
    points = embedding_map(held_out.opened.bridge, held_out.unseen)
    assert len(points) == 200 and all(0 <= p.x <= 1 and 0 <= p.y <= 1 for p in points)
    texts, images = np.array([(p.x, p.y) for p in points]).reshape(2, 100, 2)
    distances = np.linalg.norm(texts[:, None] - images[None], axis=2)
    assert np.median(distances.diagonal()) < 0.2 * np.median(distances)


def test_the_report_card_of_a_bridge(shown):
    html = app.report_card(shown[1])
    assert "16 known pairs" in html and "fit it again" in html
    verdict = {"level": "failed", "reasons": ("nothing to match by",)}
    line = cards.verdict_line(json.loads(json.dumps({"paired": False, "verdict": verdict})))
    assert "Judged without labels: failed." in line and "nothing to match by" in line
