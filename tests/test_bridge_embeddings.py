import json

import pytest
import torch
from conftest import embeddings
from safetensors.torch import load_file, save_file

from bridge.embeddings import Embeddings, Writer, about, check_finite, image_means, load, save
from bridge.errors import InputError

ROWS = torch.arange(15, dtype=torch.float32).reshape(5, 3)
IDS = ("a#0", "a#1", "b#0", "ü#0", "b#1")
IMAGES = ("a", "a", "b", "ü", "b")


def example(dtype=torch.float32) -> Embeddings:
    return Embeddings(ROWS.to(dtype), IDS, IMAGES, {"encoder": {"name": "hf:x"}, "n": 1})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_round_trip(tmp_path, dtype):
    save(example(dtype), tmp_path / "e.safetensors")
    back = load(tmp_path / "e.safetensors")
    assert back.rows.dtype == dtype and torch.equal(back.rows, ROWS.to(dtype))
    assert (back.ids, back.image_ids, back.about) == (IDS, IMAGES, example().about)
    assert about(tmp_path / "e.safetensors") == example().about


def test_the_file_is_plain_safetensors(tmp_path):
    save(example(), tmp_path / "e.safetensors")
    tensors = load_file(tmp_path / "e.safetensors")
    assert torch.equal(tensors["rows"], ROWS)
    assert json.loads(tensors["ids"].numpy().tobytes()) == list(IDS)


def test_same_content_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        save(example(), tmp_path / f"{name}.safetensors")
    one, two = (tmp_path / f"{name}.safetensors" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_existing_file_is_not_overwritten(tmp_path):
    save(example(), tmp_path / "e.safetensors")
    with pytest.raises(InputError, match="--overwrite"):
        save(example(), tmp_path / "e.safetensors")
    save(example(), tmp_path / "e.safetensors", overwrite=True)


def test_foreign_and_damaged_files_are_refused(tmp_path):
    save_file({"rows": ROWS}, tmp_path / "plain.safetensors")
    save(example(), tmp_path / "whole.safetensors")
    whole = (tmp_path / "whole.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.safetensors").write_bytes(b"")
    (tmp_path / "text.safetensors").write_text("hello, this is no tensor")
    for name in ("plain", "cut", "empty", "text"):
        with pytest.raises(InputError, match="expected an embeddings file") as error:
            load(tmp_path / f"{name}.safetensors")
        assert "\n" not in str(error.value)


def test_missing_file_offers_the_nearest_name(tmp_path):
    save(example(), tmp_path / "captions.safetensors")
    with pytest.raises(InputError, match=r"did you mean .*captions\.safetensors"):
        load(tmp_path / "caption.safetensors")


@pytest.mark.parametrize(
    ("ids", "image_ids", "message"),
    [
        (("a", "b"), ("a", "b"), "one id and one image id a row"),
        (("a", "b", "a"), ("a", "b", "a"), "'a' twice"),
    ],
)
def test_inconsistent_ids_are_refused(ids, image_ids, message):
    with pytest.raises(InputError, match=message):
        Embeddings(ROWS[:3], ids, image_ids)


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="at least one row"):
        Embeddings(ROWS[:0], (), ())


def test_non_finite_rows_are_named():
    rows = ROWS.clone()
    rows[3, 1] = torch.nan
    with pytest.raises(InputError, match=r"texts: row 3 \('ü#0'\) holds NaN"):
        check_finite(Embeddings(rows, IDS, IMAGES), "texts", block=2)


def test_image_means_by_hand():
    means = image_means(example())
    assert means.ids == ("a", "b", "ü") == means.image_ids
    expected = [[1.5, 2.5, 3.5], [9.0, 10.0, 11.0], [9.0, 10.0, 11.0]]
    assert torch.equal(means.rows, torch.tensor(expected))


def test_of_images_groups_rows_in_the_asked_order():
    assert example().of_images(["b", "a"]).ids == ("b#0", "b#1", "a#0", "a#1")


def append(writer: Writer, first: int, last: int, consumed: int) -> None:
    writer.append(
        ROWS[first:last],
        IDS[first:last],
        IMAGES[first:last],
        consumed=consumed,
        problems=[{"file": f"bad{first}"}],
    )


def test_writer_equals_save(tmp_path):
    writer = Writer(tmp_path / "w.safetensors", {"a": 1})
    append(writer, 0, 2, 3)
    append(writer, 2, 5, 3)
    writer.finish(example().about)
    save(example(), tmp_path / "s.safetensors")
    saved = (tmp_path / "s.safetensors").read_bytes()
    assert (tmp_path / "w.safetensors").read_bytes() == saved
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.safetensors", "w.safetensors"]


def test_writer_goes_on_after_a_crash_between_rows_and_log(tmp_path):
    path = tmp_path / "w.safetensors"
    append(Writer(path, {"a": 1}), 0, 2, 3)
    partial = tmp_path / "w.safetensors.partial"
    with (partial / "rows.bin").open("ab") as file:
        file.write(b"rows without a log line")
    with (partial / "log.jsonl").open("ab") as file:
        file.write(b'{"consumed": 1, "ids"')
    writer = Writer(path, {"a": 1})
    assert (writer.consumed, writer.problems) == (3, [{"file": "bad0"}])
    append(writer, 2, 5, 2)
    writer.finish({})
    assert torch.equal(load(path).rows, ROWS) and load(path).ids == IDS


def test_writer_refuses_another_request(tmp_path):
    append(Writer(tmp_path / "w.safetensors", {"a": 1}), 0, 2, 2)
    with pytest.raises(InputError, match="unfinished run of other settings"):
        Writer(tmp_path / "w.safetensors", {"a": 2})
    assert Writer(tmp_path / "w.safetensors", {"a": 2}, overwrite=True).consumed == 0


def test_writer_of_nothing_and_of_doubled_ids(tmp_path):
    with pytest.raises(InputError, match="nothing could be embedded"):
        Writer(tmp_path / "w.safetensors", {}).finish({})
    writer = Writer(tmp_path / "d.safetensors", {})
    append(writer, 0, 2, 2)
    append(writer, 1, 3, 2)
    with pytest.raises(InputError, match="'a#1' came twice"):
        writer.finish({})


@pytest.mark.parametrize("name", ["e.npy", "e"])
def test_output_must_be_a_safetensors_name(tmp_path, name):
    with pytest.raises(InputError, match=r"ends in \.safetensors"):
        save(embeddings(ROWS), tmp_path / name)


def test_old_files_stay_readable():
    from pathlib import Path

    old = load(Path(__file__).parent / "data" / "embeddings-1.safetensors")
    assert old.ids == IDS and torch.equal(old.rows, ROWS.half())
