import json

import pytest
import torch

from bridge.classes import ClassList
from bridge.encode_text import text_encoder
from bridge.errors import InputError
from bridge.prompts import (
    FAMILIES,
    class_of_prompt,
    class_rows,
    embed_prompts,
    fill,
    group_means,
    prompts,
    read_templates,
)

PETS = ClassList("pets", "us", {"d": ("dog", "old dog"), "c": ("cat",), "o": ("orange cat",)})


def texts(templates, classes=PETS) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in prompts(classes, templates):
        found.setdefault(each.image_id, []).append(each.text)
    return found


def test_every_name_in_every_sentence():
    assert texts(read_templates("single")) == {
        "d": ["a photo of a dog.", "a photo of a old dog."],
        "c": ["a photo of a cat."],
        "o": ["a photo of a orange cat."],
    }
    assert len(texts(read_templates("captions"))["d"]) == 2 * len(FAMILIES["captions"])
    assert {each.id for each in prompts(PETS, read_templates("name"))} == {
        "d#0",
        "d#1",
        "c#0",
        "o#0",
    }


def test_articles():
    assert fill("there is {a} here.", "orange cat") == "there is an orange cat here."
    assert fill("{a}", "unicycle") == "a unicycle"


@pytest.fixture
def put(tmp_path):
    def write(content, name="t.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_files_of_other_tools(put):
    both = {"c": ["a bad photo of a cat.", "the cat."]}
    listed = put(["a bad photo of a {c}.", "the {c}."])
    assert texts(read_templates(listed))["c"] == both["c"]
    lines = put("a bad photo of a {}.\nthe {}.\n", "t.txt")
    assert texts(read_templates(lines))["c"] == both["c"]


def test_sentences_of_each_class(put):
    own = {"Dog": ["a furry friend that barks"], "c": ["{} on a sofa"], "orange cat": ["Garfield"]}
    assert texts(read_templates(put(own))) == {
        "d": ["a furry friend that barks"],
        "c": ["cat on a sofa"],
        "o": ["Garfield"],
    }
    del own["c"]
    with pytest.raises(InputError, match="no sentences for the classes 'c'"):
        prompts(PETS, read_templates(put(own)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (["a photo"], "expected {} or {c} for the name in 'a photo'"),
        ([3], "expected a list of sentences, got [3]"),
        ({"dog": "barks"}, "expected a list of sentences, got 'barks'"),
        ([], "expected at least one sentence, got none"),
        ("[", "the JSON ends in the middle"),
    ],
)
def test_bad_templates(put, content, said):
    with pytest.raises(InputError) as caught:
        read_templates(put(content))
    assert said in str(caught.value)


def test_class_rows_by_hand():
    """Two prompts at right angles count the same, however long they are."""
    rows = torch.tensor([[4.0, 1.0], [1.0, 3.0], [1.0, 0.0]])
    of, centre = torch.tensor([0, 0, 1]), torch.tensor([1.0, 1.0])
    assert class_rows(rows, of, centre).tolist() == [[1.5, 1.5], [1.0, 0.0]]
    assert group_means(rows, of).tolist() == [[2.5, 2.0], [1.0, 0.0]]


def test_prompts_are_embedded_in_their_order(text_model):
    encoder = text_encoder(f"hf:{text_model}", device="cpu")
    moves = []
    made = embed_prompts(
        PETS, read_templates("captions"), encoder, progress=lambda done, total: moves.append(done)
    )
    wanted = prompts(PETS, read_templates("captions"))
    assert made.ids == tuple(each.id for each in wanted) and moves[-1] == len(made)
    alone = encoder.encode([wanted[5].text])
    assert torch.allclose(made.rows[5], alone[0], atol=1e-5)
    assert made.about["templates"] == "captions" and made.about["encoder"] == encoder.about
    assert class_of_prompt(made, ("o", "c", "d")).tolist()[:2] == [2, 2]
