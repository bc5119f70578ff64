import json
import os

import pytest
import torch

from bridge import embed
from bridge.embeddings import load
from bridge.encode_text import text_encoder
from bridge.encode_vision import vision_encoder
from bridge.errors import InputError
from bridge.images import find_images, read_image


@pytest.fixture(scope="module")
def lite():
    return vision_encoder("package:efficientnet-lite0", image_size=64, device="cpu")


@pytest.fixture(scope="module")
def words(text_model):
    return text_encoder(str(text_model), device="cpu")


@pytest.fixture
def captions(tmp_path):
    texts = [
        "the red dog runs",
        "cat",
        "a small old boat sits near the blue water",
        "sheep on grass",
    ]
    lines = [json.dumps({"image_id": f"{k // 2}.png", "text": t}) for k, t in enumerate(texts)]
    (tmp_path / "captions.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "captions.jsonl", texts


class Stop(Exception):
    """Stands for a person's Ctrl-C."""


def stop_after(count: int):
    def progress(done: int, _total: int) -> None:
        if done >= count:
            raise Stop

    return progress


@pytest.mark.parametrize("batch_size", [1, 4, 32])
def test_images_in_order_whatever_the_batch(lite, pictures, tmp_path, batch_size):
    made = embed.embed_images(pictures, lite, tmp_path / "i.safetensors", batch_size=batch_size)
    assert made.ids == (*(f"{k}.png" for k in range(9)), "more/9.png") == made.image_ids
    for path, row in zip(find_images(pictures), made.rows, strict=True):
        alone = lite(lite.prepare(read_image(path))[None])[0]
        assert torch.allclose(row, alone, atol=1e-4)


def test_unreadable_images_are_listed_and_left_out(lite, pictures, tmp_path):
    (pictures / "3.png").write_bytes(b"broken")
    made = embed.embed_images(pictures, lite, tmp_path / "i.safetensors", batch_size=4)
    assert len(made) == 9 and "3.png" not in made.ids
    [problem] = load(tmp_path / "i.safetensors").about["unreadable"]
    assert problem["file"] == "3.png" and "cannot be read" in problem["reason"]
    with pytest.raises(InputError, match=r"3\.png: cannot be read"):
        embed.embed_images(pictures, lite, tmp_path / "s.safetensors", strict=True)
    assert not (tmp_path / "s.safetensors").exists()


def test_links_to_nowhere_and_odd_names_do_not_stop_a_run(lite, pictures, tmp_path):
    (pictures / "lost.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (pictures / "0.png").rename(os.fsdecode(os.fsencode(pictures) + b"/\xff\xfe.png"))
    made = embed.embed_images(pictures, lite, tmp_path / "i.safetensors")
    assert len(made) == 10 and "\\udcff\\udcfe.png" in load(tmp_path / "i.safetensors").ids
    [problem] = made.about["unreadable"]
    assert problem["file"] == "lost.jpg"


def test_a_changed_picture_is_noticed(lite, pictures, tmp_path):
    from PIL import Image

    embed.embed_images(pictures, lite, tmp_path / "i.safetensors")
    with Image.open(pictures / "0.png") as old:
        Image.new("RGB", old.size).save(pictures / "0.png")
    with pytest.raises(InputError, match=r"source\.digest"):
        embed.embed_images(pictures, lite, tmp_path / "i.safetensors")


def test_a_batch_of_broken_images_only(lite, pictures, tmp_path):
    for index in range(5):
        (pictures / f"{index}.png").write_bytes(b"broken")
    made = embed.embed_images(pictures, lite, tmp_path / "i.safetensors", batch_size=2)
    assert made.ids == (*(f"{k}.png" for k in range(5, 9)), "more/9.png")


def test_nothing_readable_writes_nothing(lite, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.png").write_bytes(b"broken")
    with pytest.raises(InputError, match="nothing could be embedded"):
        embed.embed_images(tmp_path / "folder", lite, tmp_path / "i.safetensors")
    assert not (tmp_path / "i.safetensors").exists()


def test_interrupted_images_go_on(lite, pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(embed, "FLUSH_SECONDS", 0.0)
    out = tmp_path / "i.safetensors"
    (pictures / "1.png").write_bytes(b"broken")
    with pytest.raises(Stop):
        embed.embed_images(pictures, lite, out, batch_size=2, progress=stop_after(6))
    assert not out.exists()
    seen: list[int] = []
    resumed = embed.embed_images(
        pictures, lite, out, batch_size=2, progress=lambda done, _: seen.append(done)
    )
    assert min(seen) > 6
    whole = embed.embed_images(pictures, lite, tmp_path / "w.safetensors", batch_size=2)
    assert torch.equal(resumed.rows, whole.rows) and resumed.ids == whole.ids
    assert resumed.about["unreadable"] == whole.about["unreadable"]


def test_finished_is_not_done_again_and_other_settings_are_refused(lite, pictures, tmp_path):
    out = tmp_path / "i.safetensors"
    embed.embed_images(pictures, lite, out)
    before = out.stat().st_mtime_ns
    embed.embed_images(pictures, lite, out, progress=stop_after(0))
    assert out.stat().st_mtime_ns == before
    other = vision_encoder("package:efficientnet-lite0", image_size=96, device="cpu")
    with pytest.raises(InputError, match=r"encoder\.image_size = 64, now .* = 96"):
        embed.embed_images(pictures, other, out)
    embed.embed_images(pictures, other, out, overwrite=True)
    (pictures / "0.png").unlink()
    with pytest.raises(InputError, match=r"source\.digest"):
        embed.embed_images(pictures, other, out)


@pytest.mark.parametrize(("batch_size", "window"), [(1, 16), (3, 16), (1, 3)])
def test_captions_in_order_whatever_the_batch(
    words, captions, tmp_path, monkeypatch, batch_size, window
):
    monkeypatch.setattr(embed, "WINDOW", window)
    path, texts = captions
    made = embed.embed_captions(path, words, tmp_path / "t.safetensors", batch_size=batch_size)
    assert made.ids == ("0.png#0", "0.png#1", "1.png#0", "1.png#1")
    assert made.image_ids == ("0.png", "0.png", "1.png", "1.png")
    expected = torch.cat([words.encode([text]) for text in texts])
    assert torch.allclose(made.rows, expected, atol=1e-5)


def test_interrupted_captions_go_on(words, captions, tmp_path, monkeypatch):
    monkeypatch.setattr(embed, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(embed, "WINDOW", 2)
    path, _ = captions
    with pytest.raises(Stop):
        embed.embed_captions(
            path, words, tmp_path / "t.safetensors", batch_size=1, progress=stop_after(3)
        )
    resumed = embed.embed_captions(path, words, tmp_path / "t.safetensors")
    whole = embed.embed_captions(path, words, tmp_path / "w.safetensors")
    assert torch.allclose(resumed.rows, whole.rows, atol=1e-6) and resumed.ids == whole.ids


def test_faulty_and_cut_captions_are_told(text_model, captions, tmp_path):
    path, _ = captions
    with path.open("a") as file:
        file.write('{"image_id": "2.png", "text": "  "}\n')
    short = text_encoder(str(text_model), max_tokens=4, device="cpu")
    made = embed.embed_captions(path, short, tmp_path / "t.safetensors")
    assert len(made) == 4 and made.about["truncated"] == 2
    [fault] = made.about["faulty"]
    assert "line 5" in fault and "empty" in fault
    with pytest.raises(InputError, match="line 5"):
        embed.embed_captions(path, short, tmp_path / "s.safetensors", strict=True)


def test_a_waiting_reader_is_at_most_two_batches_ahead():
    asked: list[int] = []
    stream = embed.ahead(lambda i: asked.append(i) or i, range(100), workers=2, batch_size=4)
    assert [next(stream) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]
    stream.close()
    assert len(asked) <= 2 * 4 + 3


@pytest.mark.realdata
def test_minilm_agrees_with_stored_rows(data_folder, tmp_path):
    from safetensors.torch import load_file

    folder = data_folder / "coco"
    lines = (folder / "captions.jsonl").read_text().splitlines()[:200]
    (tmp_path / "c.jsonl").write_text("\n".join(lines) + "\n")
    encoder = text_encoder("package:minilm", device="cpu")
    made = embed.embed_captions(tmp_path / "c.jsonl", encoder, tmp_path / "t.safetensors")
    stored = load_file(folder / "text_minilm.safetensors")["rows"][:200].float()
    assert made.ids == tuple((folder / "text_minilm.ids.txt").read_text().split()[:200])
    assert torch.cosine_similarity(made.rows, stored).min() > 0.999
    assert (made.rows - stored).abs().max() < 0.01
