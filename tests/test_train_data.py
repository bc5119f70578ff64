from itertools import combinations

import numpy as np
import pytest
import torch
from conftest import WORDS

from bridge.captions import Caption, write_captions
from bridge.errors import InputError
from train import data
from train.config import Model
from train.data import CaptionFiles, digest_of, tokenize
from train.model import make_tokenizer
from train.views import OVERHEAD, Words, cuts, draw, lay_out

SETTINGS = Model(size="tiny", vocabulary=80, max_tokens=16)


def captions(images: int = 20, each: int = 3, seed: int = 0) -> list[Caption]:
    """Captions of random words; those of one image do not follow each other."""
    random = np.random.default_rng(seed)
    return [
        Caption(
            f"{image}.jpg", " ".join(random.choice(WORDS, random.integers(2, 9))), f"{image}#{k}"
        )
        for k in range(each)
        for image in range(images)
    ]


def store(made, folder, tokenizer=None):
    tokenizer = tokenizer or make_tokenizer(SETTINGS, made)
    return tokenize(made, tokenizer, SETTINGS.max_tokens, folder), tokenizer


def groups_of(tokens, tokenizer) -> set[tuple[str, ...]]:
    """The texts of every image, read back."""
    bounds = zip(tokens.group_start[:-1], tokens.group_start[1:], strict=True)
    return {
        tuple(tokenizer.decode(tokens.text(i), skip_special_tokens=True) for i in range(*bound))
        for bound in bounds
    }


def expected_groups(made) -> set[tuple[str, ...]]:
    images = dict.fromkeys(caption.image_id for caption in made)
    return {tuple(c.text for c in made if c.image_id == image) for image in images}


@pytest.mark.parametrize("at_once", [1 << 22, 7])
def test_the_store_holds_the_texts_of_an_image_side_by_side(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(data, "SORTED", at_once)
    monkeypatch.setattr(data, "READ", 5)
    made = [*captions(), Caption("alone", "a red boat", "alone#0")]
    tokens, tokenizer = store(made, tmp_path / "tokens")
    assert groups_of(tokens, tokenizer) == expected_groups(made)
    counts = {"texts": 61, "images": 21, "single": 1, "tokens": len(tokens.ids)}
    assert tokens.about == counts and tokens.groups == 21
    assert sorted(path.name for path in (tmp_path / "tokens").iterdir()) == [
        "about.json",
        "groups.bin",
        "ids.bin",
        "texts.bin",
    ]


def test_shards_are_streamed_and_images_that_go_across_them_are_joined(tmp_path):
    made = captions()
    for part in range(3):
        write_captions(tmp_path / f"part-{part}.jsonl", made[part::3])
    files = CaptionFiles(str(tmp_path / "part-*.jsonl"))
    assert {c.id for c in files} == {c.id for c in made}
    tokens, tokenizer = store(files, tmp_path / "tokens")
    assert {frozenset(g) for g in groups_of(tokens, tokenizer)} == {
        frozenset(g) for g in expected_groups(made)
    }
    before = digest_of(files)
    assert before == digest_of(CaptionFiles(files.place))
    write_captions(tmp_path / "part-0.jsonl", made[1::3])
    assert digest_of(files) != before
    with pytest.raises(InputError, match="got no file of such a name"):
        CaptionFiles(str(tmp_path / "nothing-*.jsonl")).paths()


def test_a_vocabulary_is_the_same_at_every_run_and_spells_rare_words():
    made = [*captions(), Caption("z", "xylophone xyloid", "z#0")]
    first, second = make_tokenizer(SETTINGS, made), make_tokenizer(SETTINGS, list(reversed(made)))
    assert first.get_vocab() == second.get_vocab() and len(first) <= 80
    pieces = first.convert_ids_to_tokens(first("xyloid dog")["input_ids"])
    assert pieces[0] == "[CLS]" and pieces[-1] == "[SEP]" and "[UNK]" not in pieces
    assert first.decode(first("a Red boat")["input_ids"], skip_special_tokens=True) == "a red boat"


def test_vocabularies_that_do_not_fit(tmp_path, text_model):
    made = captions()
    with pytest.raises(InputError, match=r"at least \d+ pieces .* got 9"):
        make_tokenizer(Model(vocabulary=9), made)
    with pytest.raises(InputError, match="no tokenizer at"):
        make_tokenizer(Model(vocabulary=str(tmp_path)), made)
    with pytest.raises(InputError, match="no mask_token"):
        make_tokenizer(Model(vocabulary=str(text_model)), made)
    strangers = [Caption("1", "кот и пёс", "1#0"), Caption("2", "дом над морем", "2#0")]
    with pytest.raises(InputError, match="the vocabulary does not fit: 60% "):
        store(strangers, tmp_path / "tokens", make_tokenizer(SETTINGS, made))
    assert not (tmp_path / "tokens").exists()
    with pytest.raises(InputError, match="captions to train on, got none"):
        store([], tmp_path / "tokens", make_tokenizer(SETTINGS, made))


@pytest.fixture
def parts(tmp_path):
    tokens, tokenizer = store(captions(), tmp_path / "tokens")
    return tokens, Words.of(tokenizer), tokenizer


def drawn(parts, kind="good-views", step=3, **options):
    return draw(parts[0], parts[1], kind, 0.5, 8, (0, step, 0), **options)


def text_index(tokens, text) -> set[int]:
    return {i for i in range(len(tokens.text_start) - 1) if np.array_equal(tokens.text(i), text)}


def test_good_views_are_two_texts_of_one_image_and_a_function_of_the_seed(parts):
    tokens = parts[0]
    views = drawn(parts)
    images = []
    for first, second in zip(views.texts[:8], views.texts[8:], strict=True):
        pairs = {
            (i, j)
            for i in text_index(tokens, first)
            for j in text_index(tokens, second)
            if i != j and i // 3 == j // 3
        }
        assert pairs
        images.append(pairs.pop()[0] // 3)
    assert len(set(images)) == 8 and views.single == 0
    same, other = drawn(parts), drawn(parts, step=4)
    assert all(map(np.array_equal, views.texts, same.texts))
    assert not all(map(np.array_equal, views.texts, other.texts))


def test_bad_views_are_a_text_with_half_its_words_masked_and_the_text(parts):
    _, words, tokenizer = parts
    for masked, text in zip(
        *np.split(np.array(drawn(parts, "bad-views").texts, object), 2), strict=True
    ):
        changed = masked != text
        assert (masked[changed] == words.mask_id).all() and len(masked) == len(text)
        starts = ~words.inside[text] & ~words.special[text]
        assert changed[starts].sum() == np.clip(round(starts.sum() / 2), 1, starts.sum() - 1)
        for place in np.flatnonzero(words.inside[text]):  # a word is masked whole
            assert changed[place] == changed[place - 1]
        assert not changed[words.special[text]].any()
    one = np.array(tokenizer("dog")["input_ids"])
    assert np.array_equal(words.masked(one, np.arange(9.0), 0.5), one)


def test_next_token_reads_the_texts_of_good_views(parts):
    assert all(map(np.array_equal, drawn(parts, "next-token").texts, drawn(parts).texts))


def test_an_image_with_one_text_gives_a_masked_view(tmp_path):
    tokens, tokenizer = store(captions(each=1), tmp_path / "one")
    views = draw(tokens, Words.of(tokenizer), "good-views", 0.5, 8, (0, 0, 0))
    assert views.single == 1
    for first, second in zip(views.texts[:8], views.texts[8:], strict=True):
        assert (first != second).any() and (first[first != second] == tokenizer.mask_token_id).all()


def test_ranks_cut_up_one_draw(parts):
    whole = drawn(parts, "bad-views").texts
    halves = [drawn(parts, "bad-views", rank=r, ranks=2).texts for r in (0, 1)]
    together = [*halves[0][:4], *halves[1][:4], *halves[0][4:], *halves[1][4:]]
    assert all(map(np.array_equal, whole, together))
    with pytest.raises(InputError, match="at least 30 images for a batch, got captions of 20"):
        draw(parts[0], parts[1], "good-views", 0.5, 30, (0, 0, 0))


def test_layout_keeps_every_token_in_its_place(parts):
    texts = drawn(parts).texts
    batch = lay_out(texts, 0, torch.device("cpu"))
    assert batch.tokens == sum(map(len, texts))
    assert batch.cells == sum(ids.numel() for ids, _ in batch.chunks)
    rows = [ids[i][mask[i] == 1].numpy() for ids, mask in batch.chunks for i in range(len(ids))]
    for place, text in zip(batch.back, texts, strict=True):
        assert np.array_equal(rows[place], text)
    assert all((ids[mask == 0] == 0).all() for ids, mask in batch.chunks)


def test_cuts_cost_least():
    def cost(bounds) -> int:
        return sum((b - a) * lengths[b - 1] + OVERHEAD for a, b in bounds)

    lengths = np.sort(np.random.default_rng(1).integers(2, 40, 11))
    every = (
        list(zip((0, *inner), (*inner, 11), strict=True))
        for count in range(11)
        for inner in combinations(range(1, 11), count)
    )
    assert cost(cuts(lengths)) == min(map(cost, every))
    assert cuts(np.array([5, 5, 5])) == [(0, 3)]


def test_padding_of_captions_stays_under_a_tenth():
    """Lengths spread as those of Flickr8k's captions are (mean 14 pieces, a long tail)."""
    random = np.random.default_rng(0)
    texts = [np.ones(n, np.int64) for n in np.clip(random.gamma(9, 1.5, 256).astype(int), 5, 64)]
    batch = lay_out(texts, 0, torch.device("cpu"))
    assert 1 - batch.tokens / batch.cells < 0.1
    assert 1 - batch.tokens / (256 * max(map(len, texts))) > 0.4  # what one chunk would give
