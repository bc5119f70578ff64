"""Tokens as Penn Treebank tools give them, with Java and without."""

import json
import shutil

import pytest

from bridge.captions import iter_captions
from bridge.errors import InputError
from eval.ptb import chosen, ptb_tokens, python_tokens, tokens

BY_HAND = {
    "A man's dog can't swim.": "a man 's dog ca n't swim",
    'The "STOP" sign (red) - on 5th Ave. at 5:30!': "the stop sign -lrb- red -rrb- on 5th ave. at 5:30",
    "She cannot eat; they're gonna wait...": "she can not eat they 're gon na wait",
    "two dogs' black-and-white t-shirts": "two dogs black-and-white t-shirts",
    "m&m's , 1,000 of them": "m & m 's 1,000 of them",
    "": "",
    "...": "",
    "caf\u00e9\u2019s 🐶 \u201cok\u201d": "caf\u00e9 's ok",
}
BREAKS = ["a\rb", "a\x0bb", "a\x0cb", "a\u2028b", "a\u2029b", "a\nb", "a\x85b", "a\x1eb"]

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no java here")


@pytest.mark.parametrize("caption", BY_HAND)
def test_python_tokens_by_hand(caption):
    assert python_tokens(caption) == BY_HAND[caption]


@needs_java
def test_java_agrees_on_them():
    assert ptb_tokens(list(BY_HAND)) == list(BY_HAND.values())


@pytest.mark.parametrize("tokenizer", ["python", pytest.param("ptb", marks=needs_java)])
def test_no_line_break_shifts_the_captions_after_it(tokenizer):
    found = tokens([*BREAKS, "the last"], tokenizer)
    assert found == ["a b"] * len(BREAKS) + ["the last"]


def test_java_that_fails_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert chosen("auto") == "python"
    with pytest.raises(InputError, match=r"needs java .*; take --tokenizer python"):
        ptb_tokens(["a"])
    (tmp_path / "java").write_text("#!/bin/sh\necho one\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert chosen("auto") == "ptb"
    with pytest.raises(InputError, match="gave 1 lines for 2 captions"):
        ptb_tokens(["a", "b"])


def test_unknown_tokenizer():
    with pytest.raises(InputError, match="auto, ptb, python, got 'nltk'"):
        chosen("nltk")


@pytest.mark.realdata
@needs_java
def test_python_tokens_agree_with_java_on_real_captions(data_folder):
    files = ["coco/captions.jsonl", "flickr8k/dataset_flickr8k.json"]
    captions = [c.text for name in files for c in iter_captions(data_folder / name)]
    assert len(captions) == 67_566 + 40_000
    pairs = zip(tokens(captions, "python"), ptb_tokens(captions), strict=True)
    assert sum(ours == theirs for ours, theirs in pairs) >= 0.998 * len(captions)


@pytest.mark.realdata
def test_stored_tokens(data_folder):
    stored = json.loads(
        (data_folder / "metrics/flickr8k_test_human_first_vs_rest.json").read_text()
    )
    for item in stored["per_image"]:
        assert python_tokens(item["hyp"]) == item["hyp_tok"]
