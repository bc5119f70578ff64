import json

import pytest

from bridge.classes import ClassList, read_classes, typed_classes
from bridge.errors import InputError
from bridge.world import CLASSES


@pytest.fixture
def put(tmp_path):
    def write(name: str, content: str | bytes):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_the_two_imagenet_100_are_different_sets():
    cmc, kaggle = read_classes("cmc"), read_classes("kaggle")
    assert len(cmc) == len(kaggle) == 100 and cmc.named_by == "WordNet"
    both = "n01729322 n01735189 n01749939 n01773797 n01820546 n01855672 n01978455 n02018207"
    assert set(cmc.ids) & set(kaggle.ids) == set(both.split())
    assert cmc.names["n02869837"] == ("bonnet", "poke bonnet")
    assert kaggle.names["n01514668"] == ("cock",)


def test_a_synonym_that_two_classes_share_belongs_to_neither():
    kaggle = read_classes("kaggle").names
    everything = [name for names in kaggle.values() for name in names]
    assert len(set(everything)) == len(everything)
    assert not {"grass snake", "sand viper"} & set(everything)
    assert kaggle["n01985128"][0] == "crayfish"  # the lobster too is called so


def test_world_is_a_hundred_plain_classes():
    world = read_classes("world")
    assert len(world) == 100 and set(world.ids) <= {each.id for each in CLASSES}
    assert {"sheep", "lighthouse", "teapot"} <= set(world.labels)
    assert "dairy cow" not in world.labels


LINES = """# a remark
n01440764 tench, Tinca tinca
n01443537\tgoldfish
n01484850

my-cat\tcat, house_cat
garbage truck
"""


def test_lines(put):
    classes = read_classes(put("c.txt", b"\xef\xbb\xbf" + LINES.encode()))
    assert classes.names == {
        "n01440764": ("tench", "Tinca tinca"),
        "n01443537": ("goldfish",),
        "n01484850": (
            "great white shark", "white shark", "man-eater", "man-eating shark",
            "Carcharodon carcharias",
        ),
        "my-cat": ("cat", "house cat"),
        "garbage truck": ("garbage truck",),
    }  # fmt: skip
    assert classes.named_by.endswith("c.txt and WordNet")


@pytest.mark.parametrize(
    "content",
    [
        {"a": "ant, emmet", "b": "bee"},
        {"a": ["ant", "emmet"], "b": ["bee"]},
    ],
)
def test_json(put, content):
    names = read_classes(put("c.json", json.dumps(content))).names
    assert names == {"a": ("ant", "emmet"), "b": ("bee",)}
    assert read_classes(put("l.json", '["ant", "bee"]')).ids == ("ant", "bee")


def test_names_from_a_file_for_a_list(put):
    everything = dict.fromkeys(read_classes("cmc").ids, "x")
    everything = {wnid: f"thing {k}" for k, wnid in enumerate(everything)} | {
        "n01514668": "rooster"
    }
    named = read_classes("cmc", put("n.json", json.dumps(everything)))
    assert named.labels[:2] == ("thing 0", "thing 1") and len(named) == 100
    del everything[named.ids[7]], everything[named.ids[8]]
    with pytest.raises(InputError, match="names of all 100 classes of cmc, got none for 'n0"):
        read_classes("cmc", put("n.json", json.dumps(everything)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("n01440764\nn99999999\n", "'n99999999' is no WordNet id of ImageNet"),
        ("cat\n", "expected at least 2 classes, got 1"),
        ("cat\ndog\ncat\n", "class 'cat' comes twice"),
        ("a\tcat\nb\tCat\n", "classes 'a' and 'b' are both called 'Cat'"),
        ("a\tcat\nb\t,\n", "class 'b' has no name"),
        ("cat\n,,\n", "line 2: expected a class, got ',,'"),
        (b"caf\xe9\ndog\n", "line 1: byte 0xe9 at position 4 is not UTF-8"),
        ("cat\ndog\n".encode("utf-16"), "UTF-16 text; convert it with `iconv"),
        ('{"a": "cat", "b": 3}', "class 'b': expected a name or a list of names, got 3"),
        ('{"a": "cat"', "the JSON ends in the middle"),
        ("", "got an empty file"),
    ],
)
def test_bad_files(put, content, said):
    with pytest.raises(InputError) as caught:
        read_classes(put("classes.txt", content))
    assert said in str(caught.value) and "classes.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_classes(tmp_path / "none.txt")


def test_typed():
    assert typed_classes(" cat, fire engine ,").labels == ("cat", "fire engine")
    with pytest.raises(InputError, match="'cat' is named twice"):
        typed_classes("cat,dog,cat")
    with pytest.raises(InputError, match="at least 2 classes, got 1"):
        typed_classes("cat")


def test_class_lists_keep_their_order():
    assert ClassList("s", "n", {"b": ("x",), "a": ("y", "z")}).labels == ("x", "y")
