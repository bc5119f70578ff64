"""Features of other tools: every kind of file, every kind of ids, what is refused and how."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from bridge import embeddings, features
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.feature_ids import by_number
from bridge.features import convert_features, import_features

ROWS = np.array([[1.5, -2.0], [0.25, 3.0], [4.0, 0.125]], dtype=np.float32)  # exact in float16
IDS = ["b.jpg", "a.jpg", "c.jpg"]


@pytest.fixture
def ids(tmp_path) -> Path:
    path = tmp_path / "ids.txt"
    path.write_text("\n".join(IDS) + "\n")
    return path


def npy(path: Path, array) -> Path:
    np.save(path, array)
    return path


def refusal(*arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        import_features(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def same(made: Embeddings, rows=ROWS, row_ids=IDS) -> bool:
    return made.ids == made.image_ids == tuple(row_ids) and np.array_equal(
        made.rows.float().numpy(), rows
    )


# ---- tables


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4", ">f8", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, ids, kind, order):
    made = import_features(npy(tmp_path / "a.npy", np.array(ROWS, kind, order=order)), ids)
    assert same(made)
    assert made.rows.dtype == (torch.float16 if kind == "f2" else torch.float32)


@pytest.mark.parametrize(
    "kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_safetensors(tmp_path, ids, kind):
    path = tmp_path / "a.safetensors"
    said = {"model": "MiniLM", "pooling": "mean"}
    save_file({"rows": torch.tensor(ROWS, dtype=kind), "bias": torch.zeros(2)}, path, said)
    made = import_features(path, ids, name="minilm")
    assert same(made)
    assert made.rows.dtype == (torch.float16 if kind == torch.float16 else torch.float32)
    assert made.about["source"]["metadata"] == said and made.encoder == "minilm"


def test_npz(tmp_path, ids):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, rows=ROWS, labels=np.arange(3), names=np.array(IDS, dtype=object))
    assert same(import_features(path, ids))


def test_array_is_chosen_or_those_there_are_listed(tmp_path, ids):
    np.savez(tmp_path / "a.npz", text=ROWS, image=-ROWS[:, :1])
    save_file(
        {"text": torch.tensor(ROWS), "image": -torch.tensor(ROWS)[:, :1].contiguous()},
        tmp_path / "a.safetensors",
    )
    for path in (tmp_path / "a.npz", tmp_path / "a.safetensors"):
        assert same(import_features(path, ids, key="text"))
        assert same(import_features(path, ids, key="image"), -ROWS[:, :1])
        listed = "got image [3, 1], text [3, 2]; choose with --key"
        assert refusal(path, ids) == f"{path}: expected one table of rows, {listed}"
        assert refusal(path, ids, key="img") == f"{path}: expected the array 'img', {listed}"


def test_folder_of_parts_in_the_order_of_their_numbers(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    rows = np.arange(24, dtype=np.float16).reshape(12, 2)
    for k in range(12):
        npy(folder / f"part_{k}.npy", rows[k : k + 1])
    names = [f"{k}.png" for k in range(12)]
    (tmp_path / "ids.txt").write_text("\n".join(names))
    made = import_features(folder, tmp_path / "ids.txt")
    assert same(made, rows, names) and made.rows.dtype == torch.float16
    npy(folder / "part_5.npy", rows[5:6].astype("f8"))  # then all become float32
    assert import_features(folder, tmp_path / "ids.txt").rows.dtype == torch.float32


def clip_retrieval(folder: Path) -> Path:
    for kind, sign in (("img_emb", 1), ("text_emb", -1)):
        (folder / kind).mkdir(parents=True)
        npy(folder / kind / f"{kind}_0.npy", sign * ROWS[:2].astype("f2"))
        npy(folder / kind / f"{kind}_1.npy", sign * ROWS[2:].astype("f2"))
    (folder / "metadata").mkdir()
    return folder


def test_clip_retrieval_folder_with_ids(tmp_path, ids):
    folder = clip_retrieval(tmp_path / "clip")
    assert same(import_features(folder / "img_emb", ids))
    assert same(import_features(folder, ids, key="text_emb"), -ROWS)
    assert refusal(folder, ids) == f"{folder}: it holds img_emb and text_emb; choose with --key"
    assert refusal(folder / "img_emb") == (
        f"{folder}/img_emb: features carry no ids; name a file of them with --ids"
    )


@pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="pyarrow is not installed")
def test_clip_retrieval_folder_with_its_own_metadata(tmp_path):
    import pyarrow
    from pyarrow import parquet

    folder = clip_retrieval(tmp_path / "clip")
    for k, part in enumerate((IDS[:2], IDS[2:])):
        table = pyarrow.table({"image_path": part, "caption": ["a"] * len(part)})
        parquet.write_table(table, folder / "metadata" / f"metadata_{k}.parquet")
    assert same(import_features(folder, key="img_emb"))
    text = import_features(folder, key="text_emb")
    assert text.ids == ("b.jpg#0", "a.jpg#0", "c.jpg#0") and text.image_ids == tuple(IDS)
    file = folder / "metadata" / "metadata_1.parquet"
    parquet.write_table(pyarrow.table({"caption": ["a"]}), file)
    assert refusal(folder, key="img_emb").startswith(f'{file}: no column "image_path" can be read')
    file.write_bytes(b"PAR1 cut")
    assert refusal(folder, key="img_emb").startswith(f'{file}: no column "image_path" can be read')


def test_metadata_without_pyarrow_says_what_to_do(tmp_path, monkeypatch):
    folder = clip_retrieval(tmp_path / "clip")
    file = folder / "metadata" / "metadata_0.parquet"
    file.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert refusal(folder, key="img_emb") == (
        f"{file}: ids in Parquet can be read only where pyarrow is installed; "
        "install it, or name a file of ids with --ids"
    )


def test_numbers_in_names_are_compared_as_numbers():
    names = [
        "img_emb_10.npy",
        "img_emb_9.npy",
        "img_emb_009.npy",
        "img_emb.npy",
        "a2b10.npy",
        "a2b9.npy",
    ]
    assert [p.name for p in sorted(map(Path, names), key=by_number)] == [
        *("a2b9.npy", "a2b10.npy", "img_emb.npy", "img_emb_9.npy", "img_emb_009.npy"),
        "img_emb_10.npy",
    ]


# ---- ids


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ids.txt", b"\xef\xbb\xbfb.jpg\r\na.jpg\r\nc.jpg\r\n\r\n"),
        ("ids", b"b.jpg \na.jpg\nc.jpg"),
        ("ids.json", json.dumps(IDS, indent=1).encode()),
    ],
)
def test_files_of_ids(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert same(import_features(npy(tmp_path / "a.npy", ROWS), tmp_path / name))


def test_ids_in_arrays(tmp_path):
    rows = npy(tmp_path / "a.npy", ROWS)
    assert same(import_features(rows, npy(tmp_path / "ids.npy", np.array(IDS))))
    numbers = npy(tmp_path / "ids.npy", np.array([7, 3, 12]))
    assert import_features(rows, numbers).ids == ("7", "3", "12")


def test_captions_file_as_ids(tmp_path):
    path = tmp_path / "captions.jsonl"
    lines = [{"image_id": "x.jpg", "text": f"Text {k}."} for k in range(3)]
    path.write_text("\n".join(map(json.dumps, lines)))
    made = import_features(npy(tmp_path / "a.npy", ROWS), path)
    assert made.ids == ("x.jpg#0", "x.jpg#1", "x.jpg#2")
    assert made.image_ids == ("x.jpg",) * 3
    path.write_text(path.read_text().replace("Text 1.", ""))
    assert refusal(tmp_path / "a.npy", path) == f"{path}, line 2: the caption of 'x.jpg' is empty"


def test_caption_ids_give_image_ids(tmp_path):
    rows, path = npy(tmp_path / "a.npy", ROWS), tmp_path / "ids.txt"
    path.write_text("x#1.jpg#0\nx#1.jpg#1\ny#10\n")
    assert import_features(rows, path).image_ids == ("x#1.jpg", "x#1.jpg", "y")
    assert import_features(rows, path, caption_ids=True).image_ids == ("x#1.jpg", "x#1.jpg", "y")
    made = import_features(rows, path, caption_ids=False)
    assert made.image_ids == made.ids == ("x#1.jpg#0", "x#1.jpg#1", "y#10")
    path.write_text("x#0\nx#1\ny\n")  # not all of them: then they are ids of images
    assert import_features(rows, path).image_ids == ("x#0", "x#1", "y")
    assert refusal(rows, path, caption_ids=True) == (
        "expected caption ids IMAGE#NUMBER, got 'y'; leave caption_ids out"
    )


EXPECTED_IDS = "ids (a line each, a JSON list, .npy or a captions file)"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a\nb\na\n", ", line 3: id 'a' stands on line 1 already; ids must differ"),
        (b'["\\ud83d"]', r", item 1: '\ud83d' holds half a surrogate pair, no character"),
        (b"a\n\nb\n", ", line 2: expected an id, got nothing; each row needs one"),
        (b'["a", "b", "a"]', ", item 3: id 'a' stands on item 1 already; ids must differ"),
        (b'["a", 2.5, "c"]', ', item 2: expected text or a whole number as "id", got 2.5'),
        (
            b'["a", "b"',
            ", line 1: the JSON ends in the middle: the file is cut off; copy or download it again",
        ),
        (b"", f": expected {EXPECTED_IDS}, got an empty file; copy or make it again"),
        (b"\x1f\x8b", f": expected {EXPECTED_IDS}, got a gzip archive; unpack it with `gunzip`"),
        (
            b"caf\xe9\n",
            ", line 1: byte 0xe9 at position 4 is not UTF-8; "
            "convert the file, for example with `iconv -f LATIN1 -t UTF-8`",
        ),
    ],
)
def test_refused_ids(tmp_path, content, line):
    (tmp_path / "ids").write_bytes(content)
    assert refusal(npy(tmp_path / "a.npy", ROWS), tmp_path / "ids") == f"{tmp_path}/ids{line}"


def test_refused_ids_in_arrays(tmp_path):
    rows, path = npy(tmp_path / "a.npy", ROWS), tmp_path / "ids.npy"
    np.save(path, np.array(IDS, dtype=object))
    assert "pickles are never opened" in refusal(rows, path)
    assert "expected one row of texts or whole numbers" in refusal(rows, npy(path, ROWS))


def test_count_must_be_that_of_the_rows(tmp_path, ids):
    path = npy(tmp_path / "a.npy", ROWS[:2])
    assert refusal(path, ids) == (
        f"{path}: 2 rows, but 3 ids in {ids}; each row needs its id, in the order of the rows"
    )
    assert refusal(path) == f"{path}: features carry no ids; name a file of them with --ids"
    assert refusal(path, tmp_path / "idz.txt").endswith(f"no such file; did you mean {ids}?")


# ---- refused tables


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_rows_must_be_finite_in_float32(tmp_path, ids, monkeypatch, value):
    monkeypatch.setattr(features, "BLOCK", 2)
    rows = ROWS.astype("f8")
    rows[2, 1] = value
    path = npy(tmp_path / "a.npy", rows)
    line = (
        f"{path}: row 2 from 0 ('c.jpg') holds NaN or infinity, or is too large for float32; "
        "make the features again, or leave the row out"
    )
    assert refusal(path, ids) == line
    with pytest.raises(InputError) as caught:
        convert_features(path, tmp_path / "out.safetensors", ids)
    assert str(caught.value) == line
    assert not list(tmp_path.glob("out*"))
    convert_features(
        npy(path, ROWS), tmp_path / "out.safetensors", ids
    )  # and no trace is in the way


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (ROWS[0], "expected a table of rows x width, got the shape [2]; save one row an item"),
        (
            ROWS[None],
            "expected a table of rows x width, got the shape [1, 3, 2]; save one row an item",
        ),
        (ROWS[:0], "expected a table of rows x width, got the shape [0, 2]; save one row an item"),
        (ROWS.astype(int), "expected floating rows, got int64; save them as float32 or float16"),
        (ROWS.astype(str), "expected floating rows, got <U32; save them as float32 or float16"),
    ],
)
def test_refused_arrays(tmp_path, ids, array, line):
    path = tmp_path / "a.npy"
    with path.open("wb") as file:
        np.save(file, array)
    assert refusal(path, ids).endswith(line)


def test_refused_files(tmp_path, ids):
    whole = npy(tmp_path / "whole.npy", np.ones((300, 2))).read_bytes()
    (path := tmp_path / "cut.npy").write_bytes(whole[:-8])
    assert "if the file is cut off copy it again" in refusal(path, ids)
    (path := tmp_path / "header.npy").write_bytes(whole[:40])
    assert "if the file is cut off copy it again" in refusal(path, ids)
    np.save(path := tmp_path / "objects.npy", np.array([{}, []], dtype=object))
    assert "pickles are never opened" in refusal(path, ids)

    torch.save({"rows": torch.ones(3, 2)}, path := tmp_path / "a.pt")
    assert "got a PyTorch pickle; save its tensor with safetensors" in refusal(path, ids)
    (path := tmp_path / "old.pt").write_bytes(b"\x80\x02}q\x00.")
    assert "got a Python pickle" in refusal(path, ids)

    np.savez(path := tmp_path / "whole.npz", rows=np.ones((300, 2)))
    (cut := tmp_path / "cut.npz").write_bytes(path.read_bytes()[:-30])
    assert "cut.npz: broken .npz" in refusal(cut, ids)
    damaged = bytearray(path.read_bytes())
    damaged[400] ^= 1
    (cut := tmp_path / "damaged.npz").write_bytes(damaged)
    assert "damaged.npz: broken .npz" in refusal(cut, ids)

    save_file({"rows": torch.ones(300, 2)}, path := tmp_path / "whole.safetensors")
    (cut := tmp_path / "cut.safetensors").write_bytes(path.read_bytes()[:-30])
    assert "cut.safetensors: broken safetensors" in refusal(cut, ids)

    (path := tmp_path / "a.csv").write_text("1.0,2.0\n")
    assert "expected features (.npy, .npz, plain safetensors" in refusal(path, ids)
    (path := tmp_path / "lfs.npy").write_text("version https://git-lfs.example/spec/v1\n")
    assert "fetch it with `git lfs pull`" in refusal(path, ids)
    assert "no such features; did you mean" in refusal(tmp_path / "whale.npy", ids)
    (path := tmp_path / "empty").mkdir()
    assert "empty: expected .npy parts, got none" in refusal(path, ids)


def test_parts_of_two_models_are_refused(tmp_path, ids):
    (folder := tmp_path / "parts").mkdir()
    npy(folder / "0.npy", ROWS[:2])
    npy(folder / "1.npy", ROWS[2:, :1])
    assert refusal(folder, ids) == (
        f"{folder}/1.npy: rows of width 1, but 0.npy has width 2; "
        f"keep only the parts of one model in {folder}"
    )


def test_embeddings_files_need_no_import(tmp_path, ids):
    made = Embeddings(torch.tensor(ROWS), tuple(IDS), tuple(IDS))
    embeddings.save(made, tmp_path / "a.safetensors")
    assert refusal(tmp_path / "a.safetensors", ids).endswith(
        "is an embeddings file already; use it as it is"
    )


# ---- block by block


@pytest.fixture
def parts(tmp_path, monkeypatch) -> tuple[Path, Path, np.ndarray]:
    """Three parts of 7, 4 and 9 rows, read 4 at a time."""
    monkeypatch.setattr(features, "BLOCK", 4)
    (folder := tmp_path / "parts").mkdir()
    rows = np.random.default_rng(0).normal(size=(20, 3))
    for k, part in enumerate(np.split(rows, [7, 11])):
        npy(folder / f"{k}.npy", part)
    names = tmp_path / "names.txt"
    names.write_text("".join(f"{k // 2}.jpg#{k % 2}\n" for k in range(20)))
    return folder, names, rows.astype("f4")


def test_converted_is_what_is_imported(tmp_path, parts):
    folder, names, rows = parts
    made = import_features(folder, names, name="mine")
    assert np.array_equal(made.rows.numpy(), rows)
    out = convert_features(folder, tmp_path / "out.safetensors", names, name="mine")
    for other in (out, embeddings.load(tmp_path / "out.safetensors")):
        assert torch.equal(other.rows, made.rows)
        assert (other.ids, other.image_ids) == (made.ids, made.image_ids)
        assert other.about == made.about
    assert made.image_ids[:3] == ("0.jpg", "0.jpg", "1.jpg")


@pytest.mark.parametrize("kept", range(6))
def test_interrupted_conversion_goes_on(tmp_path, parts, monkeypatch, kept):
    folder, names, rows = parts
    append, calls = embeddings.Writer.append, []

    def interrupted(self, *arguments, **options):
        if len(calls) == kept:
            raise KeyboardInterrupt
        calls.append(arguments)
        append(self, *arguments, **options)

    out = tmp_path / "out.safetensors"
    monkeypatch.setattr(embeddings.Writer, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_features(folder, out, names)
    assert not out.exists()
    monkeypatch.setattr(embeddings.Writer, "append", append)
    monkeypatch.setattr(features, "BLOCK", 3)  # another version may read other blocks
    assert np.array_equal(convert_features(folder, out, names).rows.numpy(), rows)


def test_conversion_again_is_for_free_and_of_other_settings_refused(tmp_path, parts, monkeypatch):
    folder, names, _ = parts
    out = tmp_path / "out.safetensors"
    convert_features(folder, out, names)
    monkeypatch.setattr(embeddings.Writer, "append", None)  # nothing may be written again
    assert len(convert_features(folder, out, names)) == 20
    with pytest.raises(InputError, match=r"caption_ids = None, now source\.caption_ids = False"):
        convert_features(folder, out, names, caption_ids=False)
    monkeypatch.undo()
    made = convert_features(folder, out, names, caption_ids=False, overwrite=True)
    assert made.image_ids == made.ids


# ---- real features


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "count", "width", "images"),
    [
        ("flickr8k/images_lite0", 8000, 1280, 8000),
        ("flickr8k/text_minilm", 40_000, 384, 8000),
        ("coco/text_minilm", 67_566, 384, 13_511),
        ("coco/uncaptioned_images_lite0", 5614, 1280, 5614),
        ("coco/pairs_images_lite0", 368, 1280, 368),
        ("coco/pairs_text_minilm", 1840, 384, 368),
        ("mini-imagenet/images_lite0", 5000, 1280, 5000),
    ],
)
def test_real_features(data_folder, tmp_path, name, count, width, images):
    path, ids = data_folder / f"{name}.safetensors", data_folder / f"{name}.ids.txt"
    made = import_features(path, ids)
    assert made.rows.shape == (count, width) and made.rows.dtype == torch.float16
    assert len(set(made.image_ids)) == images
    converted = convert_features(path, tmp_path / "out.safetensors", ids)
    assert torch.equal(converted.rows, made.rows) and converted.image_ids == made.image_ids


@pytest.mark.realdata
@pytest.mark.parametrize("folder", ["flickr8k/", "coco/pairs_"])
def test_real_texts_and_images_join(data_folder, folder):
    sides = [
        import_features(
            data_folder / f"{folder}{side}.safetensors", data_folder / f"{folder}{side}.ids.txt"
        )
        for side in ("text_minilm", "images_lite0")
    ]
    assert set(sides[0].image_ids) == set(sides[1].image_ids)
