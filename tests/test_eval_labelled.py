import pytest
import torch
from conftest import embeddings

from bridge.classes import ClassList
from bridge.errors import InputError
from eval.labelled import labelled, read_truth, validation_part

PETS = ClassList("pets", "us", {"n00000001": ("dog",), "n00000002": ("cat",)})


def rows(ids):
    return embeddings(torch.arange(2.0 * len(ids)).reshape(-1, 2), ids)


@pytest.mark.parametrize(
    "ids",
    [
        ["n00000002/a.jpg", "n00000001/b.jpg"],
        ["val.X/n00000002/ILSVRC_1.JPEG", "val.X/n00000001/ILSVRC_2.JPEG"],
        ["n00000002_10.JPEG", "all/n00000001_7.JPEG"],
    ],
)
def test_class_of_a_name(ids):
    shown = labelled(rows(ids), PETS)
    assert shown.label.tolist() == [1, 0] and shown.left_out == 0
    turned = labelled(rows(ids[::-1]), PETS)
    assert turned.label.tolist() == [0, 1]


def test_other_classes_are_left_out():
    ids = ["n00000003/x.jpg", "n00000002/a.jpg", "n00000001/b.jpg", "n00000001/c.jpg"]
    shown = labelled(rows(ids), PETS)
    assert shown.images.ids == tuple(ids[1:]) and shown.left_out == 1
    assert shown.label.tolist() == [1, 0, 0]
    assert shown.images.rows[0].tolist() == [2, 3]


def test_table(tmp_path):
    table = tmp_path / "truth.csv"
    ids = ["flat/ILSVRC2012_val_1.JPEG", "flat/ILSVRC2012_val_2.JPEG", "flat/3.JPEG"]
    table.write_text(
        "ImageId,PredictionString\n"
        "ILSVRC2012_val_2,n00000001 1 2 3 4 n00000001 5 6 7 8 \n"
        "ILSVRC2012_val_1,n00000002 1 2 3 4 \n"
    )
    shown = labelled(rows(ids), PETS, table)
    assert shown.label.tolist() == [1, 0] and shown.left_out == 1
    table.write_text("filename,label\n3.JPEG,n00000001\nflat/ILSVRC2012_val_1.JPEG,n00000002\n")
    assert labelled(rows(ids), PETS, table).label.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n", "expected columns image"),
        ("image,class\nx,n1\nx,n2\n", "line 3: 'x' is of class 'n1' and of 'n2'"),
        (b"image,class\ncaf\xe9,n1\n", "is not UTF-8"),
    ],
)
def test_bad_table(tmp_path, content, said):
    table = tmp_path / "truth.csv"
    table.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_truth(table)
    assert said in str(caught.value)


def test_a_class_without_images_and_another_list():
    with pytest.raises(InputError) as caught:
        labelled(rows(["n00000001/a.jpg", "n00000007/b.jpg", "n00000009/b.jpg"]), PETS)
    assert str(caught.value) == (
        "expected images of all 2 classes of pets, got none of 1: 'n00000002'; they lie in 2 other "
        "folders, as 'n00000007', 'n00000009'; is this another list of classes?"
    )
    with pytest.raises(InputError, match=r"images are called like 'a.jpg'; they need a folder"):
        labelled(rows(["a.jpg", "b.jpg"]), PETS)


def test_validation_part(tmp_path):
    assert validation_part(tmp_path) == tmp_path
    for part in ("train.X1", "val.X"):
        (tmp_path / part).mkdir()
    assert validation_part(tmp_path) == tmp_path / "val.X"
