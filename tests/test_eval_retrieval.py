from math import comb

import numpy as np
import pytest
import torch

from bridge.errors import InputError
from eval.retrieval import (
    RECALL_AT,
    Places,
    by_chance,
    interval,
    partners,
    places,
    places_of,
    retrieval,
    texts_of_image,
)

DIRECTIONS = ("text_to_image", "image_to_text")
ITEM = torch.arange(4)[:, None]


def table(n: int, d: int, seed: int) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def rank(found) -> list[float]:
    """Best rank of each query: the middle of the tied places where one right row is among them."""
    return (found.better + 1 + found.tied / 2).tolist()


def test_by_hand_the_two_directions_differ():
    """Scores of four texts (rows) and four images (columns); the diagonal is right."""
    scores = torch.tensor(
        [
            [0.9, 0.8, 0.1, 0.0],
            [0.7, 0.6, 0.5, 0.1],
            [0.3, 0.9, 0.5, 0.4],
            [0.1, 0.7, 0.2, 0.6],
        ]
    )
    by_text, by_image = (places_of(part, ITEM)[0] + 1 for part in (scores, scores.T))
    assert by_text.tolist() == [1, 2, 2, 2]
    assert by_image.tolist() == [1, 4, 1, 1]


def test_any_caption_of_an_image_counts():
    """Texts 0, 1 are of image 0, texts 2, 3 of image 1, to which text 0 is nearer than they are."""
    text = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [-1.0, 0.0]])
    image = torch.tensor([[0.0, 1.0], [1.0, 0.05]])
    of = torch.tensor([0, 0, 1, 1])
    assert rank(places(text, image, of[:, None])) == [2, 1, 1, 2]
    found = places(image, text, texts_of_image(of, 2))
    assert rank(found) == [1, 2]
    # image 0: text 1 beats both wrong ones; text 0 (cosine 0) loses to text 2, ties with text 3.
    # image 1: text 2 loses to text 0, beats text 1; text 3 loses to both.
    assert found.closer.tolist() == [(0 + 3 / 4) / 2, (1 / 2 + 1) / 2]
    metrics = retrieval(text, image, of)["metrics"]
    assert metrics["text_to_image.recall@1"] == metrics["image_to_text.recall@1"] == 0.5
    assert metrics["text_to_image.median_rank"] == 1.5


def naive(query, gallery, answers: list[list[int]], csls: bool) -> tuple[list[int], list[float]]:
    """Best rank and share of wrong rows that are closer, from sorted lists."""
    cosine = torch.nn.functional.normalize(query) @ torch.nn.functional.normalize(gallery).T
    if csls:
        to_gallery = cosine.topk(10, dim=1).values.mean(1, keepdim=True)
        to_query = cosine.topk(10, dim=0).values.mean(0, keepdim=True)
        cosine = 2 * cosine - to_gallery - to_query
    ranks, closer = [], []
    for row, right in zip(cosine.tolist(), answers, strict=True):
        order = sorted(range(len(row)), key=lambda j: -row[j])
        ranks.append(1 + min(order.index(j) for j in right))
        wrong = [score for j, score in enumerate(row) if j not in right]
        closer.append(np.mean([[score > row[j] for score in wrong] for j in right]))
    return ranks, closer


@pytest.mark.parametrize("csls", [False, True])
@pytest.mark.parametrize("block", [1, 4, 100, None])
def test_places_are_those_of_the_naive_loop(csls, block):
    """31 texts of 15 images: three for the first, two for each other."""
    text, image, of = table(31, 4, 1), table(15, 4, 0), torch.arange(31) % 15
    texts = [[j for j in range(31) if j % 15 == i] for i in range(15)]
    found = places(image, text, texts_of_image(of, 15), csls=csls, block=block)
    ranks, closer = naive(image, text, texts, csls)
    assert rank(found) == ranks and found.closer.tolist() == pytest.approx(closer)
    found = places(text, image, of[:, None], csls=csls, block=block)
    ranks, closer = naive(text, image, [[i] for i in of.tolist()], csls)
    assert rank(found) == ranks and found.closer.tolist() == pytest.approx(closer)
    assert found.recall(5) == np.mean([r <= 5 for r in ranks])
    assert found.median_rank(15) == np.median(ranks)


@pytest.mark.parametrize("n", [20, 21])
def test_median_rank_is_the_usual_one(n):
    query, gallery = table(n, 3, 0), table(n, 3, 1)
    found = places(query, gallery, torch.arange(n)[:, None])
    assert found.median_rank(n) == np.median(rank(found))


@pytest.mark.parametrize("captions", [1, 5])
@pytest.mark.parametrize("d", [3, 384])
def test_constant_rows_score_exactly_chance(captions, d):
    """A collapsed encoder must not look perfect, and rounding must not break its ties."""
    text, image = table(1, d, 0).expand(20 * captions, d), table(1, d, 1).expand(20, d)
    found = retrieval(text, image, torch.arange(20).repeat_interleave(captions))
    for key, level in found["chance"].items():
        assert found["metrics"][key] == pytest.approx(level, abs=1e-9), key
    assert found["metrics"]["text_to_image.recall@1"] == pytest.approx(1 / 20)
    assert found["metrics"]["text_to_image.median_rank"] == 10.5


@pytest.mark.parametrize("captions", [1, 3])
def test_chance_is_what_random_rows_score(captions):
    of = torch.arange(40).repeat_interleave(captions)
    found = [retrieval(table(40 * captions, 9, s), table(40, 9, s + 99), of) for s in range(80)]
    for key, level in found[0]["chance"].items():
        mean = np.mean([one["metrics"][key] for one in found])
        if key.endswith("median_rank"):
            assert mean == pytest.approx(level, rel=0.1), key
        else:
            assert mean == pytest.approx(level, abs=0.025), key


@pytest.mark.parametrize(("gallery", "m"), [(10, 1), (10, 2), (50, 5), (7, 7)])
def test_chance_is_the_hypergeometric_formula(gallery, m):
    level = by_chance(torch.tensor([m, m]), gallery)
    for k in range(1, gallery + 1):
        expected = 1 - comb(gallery - m, k) / comb(gallery, k)
        assert level.recall(k) == pytest.approx(expected, abs=1e-12)
    half = [k for k in range(1, gallery + 1) if level.recall(k) >= 0.5 - 1e-12]
    assert half[0] <= level.median_rank(gallery) <= half[0] + 0.5


def test_ties_by_hand():
    """Of three equal rows, two wrong, behind one better: ranks 2, 3, 4 are equally likely."""
    found = places_of(torch.tensor([[0.9, 0.5, 0.5, 0.5, 0.1]]), torch.tensor([[2]]))
    better, tied, right, closer = found
    assert [better.item(), tied.item(), right.item()] == [1, 2, 1]
    assert closer.item() == (1 + 2 / 2) / 4
    # two right and one wrong at the same score: the wrong one comes first once in three
    two = Places(*places_of(torch.tensor([[0.5, 0.5, 0.5]]), torch.tensor([[0, 2]])))
    assert two.recall(1) == pytest.approx(2 / 3) and two.recall(2) == 1.0


def test_perfect_and_worst():
    rows = table(30, 8, 0)
    metrics = retrieval(rows, 2 * rows)["metrics"]
    for direction in DIRECTIONS:
        assert metrics[f"{direction}.recall@1"] == 1.0
        assert metrics[f"{direction}.median_rank"] == 1.0
        assert metrics[f"{direction}.foscttm"] == 0.0
    worst = retrieval(rows, -rows)["metrics"]
    assert worst["text_to_image.recall@10"] == 0.0 and worst["text_to_image.foscttm"] == 1.0


def test_order_of_the_rows_does_not_matter():
    text, image, of = table(40, 5, 0), table(20, 5, 1), torch.arange(40) // 2
    text = text + image[of]
    texts, images = (
        torch.randperm(n, generator=torch.Generator().manual_seed(n)) for n in (40, 20)
    )
    moved = retrieval(text[texts], image[images], images.argsort()[of[texts]])["metrics"]
    metrics = retrieval(text, image, of)["metrics"]
    assert metrics["text_to_image.recall@1"] > 0.2
    for key, value in metrics.items():
        assert moved[key] == pytest.approx(value, abs=1e-9), key


def test_csls_helps_where_one_row_is_near_everything():
    text = table(60, 6, 0)
    image = text + 0.6 * table(60, 6, 1)
    image[7] = text.mean(0) + 0.1  # a hub
    image = image + torch.tensor([1.0, 0, 0, 0, 0, 0])
    metrics = retrieval(text + torch.tensor([1.0, 0, 0, 0, 0, 0]), image)["metrics"]
    assert metrics["text_to_image.csls.recall@1"] > metrics["text_to_image.recall@1"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions(dtype):
    text = table(50, 8, 0)
    image = text + 0.5 * table(50, 8, 1)
    metrics = retrieval(text, image)["metrics"]
    for key, value in retrieval(text.to(dtype), image.to(dtype))["metrics"].items():
        tolerance = 1.0 if key.endswith("median_rank") else 0.05
        assert value == pytest.approx(metrics[key], abs=tolerance), key


def test_one_direction_can_be_asked_for():
    rows = table(9, 3, 0)
    found = retrieval(rows, rows, directions=["image_to_text"])
    assert {key.split(".")[0] for key in found["metrics"]} == {"image_to_text"}
    assert found["settings"] == {"texts": 9, "images": 9, "csls_k": 10}


def test_interval_is_wilsons_for_single_captions():
    half = torch.tensor([1.0, 0.0] * 50, dtype=torch.float64)
    low, high = interval(half, torch.arange(100))
    assert low == pytest.approx(0.4038, abs=1e-4) and high == pytest.approx(0.5962, abs=1e-4)
    low, high = interval(torch.zeros(10, dtype=torch.float64), torch.arange(10))
    assert low == 0.0 and high == pytest.approx(0.2775, abs=1e-4)


def test_interval_counts_images_not_captions():
    """Five captions that succeed and fail together tell no more than one."""
    draws = torch.bernoulli(torch.full((200,), 0.3), generator=torch.Generator().manual_seed(0))
    single = interval(draws.double(), torch.arange(200))
    together = interval(draws.double().repeat_interleave(5), torch.arange(200).repeat_interleave(5))
    assert together == pytest.approx(single, abs=1e-9)
    failed = interval(torch.zeros(50, dtype=torch.float64), torch.arange(50) // 5)
    assert failed == interval(torch.zeros(10, dtype=torch.float64), torch.arange(10))
    alone = interval(draws.double(), torch.arange(200) // 5)
    assert alone[1] - alone[0] == pytest.approx(single[1] - single[0], rel=0.3)


def test_interval_holds_the_truth_about_as_often_as_it_says():
    generator = torch.Generator().manual_seed(0)
    held = []
    for _ in range(300):
        share = torch.rand(60, generator=generator) ** 2  # an image's own rate; mean 1/3
        hits = torch.bernoulli(share.repeat_interleave(5), generator=generator).double()
        low, high = interval(hits, torch.arange(60).repeat_interleave(5))
        held.append(low <= 1 / 3 <= high)
    assert 0.91 < np.mean(held) < 0.99


def test_texts_of_image():
    of = torch.tensor([2, 0, 2, 1, 2])
    assert texts_of_image(of, 3).tolist() == [[1, -1, -1], [3, -1, -1], [0, 2, 4]]


def test_partners():
    assert partners(["b", "a", "b"], ["a", "b"]).tolist() == [1, 0, 1]
    with pytest.raises(InputError, match=r"1 texts belong to images that are not there.*'c'"):
        partners(["a", "c"], ["a", "b"])
    with pytest.raises(InputError, match="got 3 rows of 2 images"):
        partners(["a"], ["a", "b", "a"])


def test_bad_input():
    text, image = table(6, 3, 0), table(6, 3, 1)
    with pytest.raises(InputError, match="got widths 3 and 4"):
        retrieval(text, table(6, 4, 1))
    with pytest.raises(InputError, match="directions are text_to_image and image_to_text"):
        retrieval(text, image, directions=["both"])
    with pytest.raises(InputError, match="an image row for each of 6 texts, got 5"):
        retrieval(text, image, torch.arange(5))
    with pytest.raises(InputError, match=r"in 0\.\.5, got 0\.\.6"):
        retrieval(text, image, torch.tensor([0, 1, 2, 3, 4, 6]))
    with pytest.raises(InputError, match="1 of 6 images have no text"):
        retrieval(text, image, torch.tensor([0, 1, 2, 3, 4, 4]))
    with pytest.raises(InputError, match="at least 2 images, got 1"):
        retrieval(text[:1], image[:1])
    broken = image.clone()
    broken[2] = torch.inf
    with pytest.raises(InputError, match="1 image rows hold NaN or infinity, the first is row 2"):
        retrieval(text, broken)


def test_recall_beyond_a_small_gallery_is_one():
    rows = table(4, 3, 0)
    found = retrieval(rows, rows.flip(0))
    assert max(RECALL_AT) > 4
    assert found["metrics"]["text_to_image.recall@10"] == 1.0
    assert found["chance"]["text_to_image.recall@10"] == 1.0
