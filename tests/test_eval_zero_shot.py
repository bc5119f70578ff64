import numpy as np
import pytest
import torch
from conftest import embeddings
from sklearn.metrics import confusion_matrix, top_k_accuracy_score

from bridge.classes import ClassList
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.fitting import fit
from bridge.geometry import hubness, unit
from bridge.prompts import class_of_prompt, class_rows
from eval.labelled import labelled
from eval.measure_zero_shot import confusions, measure_zero_shot
from eval.retrieval import wilson
from eval.zero_shot import (
    COLUMNS,
    balance,
    chance,
    classified,
    cosines,
    deviation,
    figures,
    hubs,
    mean_of,
    mean_per_class,
    mean_row,
    outcomes,
)


def table(n: int, d: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def plain(scores: torch.Tensor, label: torch.Tensor):
    """The outcome of a table of scores, images x classes, as it is."""
    return outcomes([(0, scores)], label, {"cosine": torch.zeros(scores.shape[1])})["cosine"]


# ---- scores by hand and by other roads


def test_by_hand_and_not_with_the_axes_swapped():
    """Four images (rows), three classes: right are images 0 and 2; 3 ties two classes."""
    scores = torch.tensor(
        [
            [0.9, 0.5, 0.1],
            [0.8, 0.3, 0.2],
            [0.1, 0.2, 0.7],
            [0.4, 0.6, 0.6],
        ]
    )
    outcome = plain(scores, torch.tensor([0, 1, 2, 2]))
    assert outcome.found[1].tolist() == [1, 0, 1, 0.5]
    assert outcome.confusion.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0.5, 1.5]]
    square = plain(scores[[0, 1, 3]], torch.arange(3))
    swapped = plain(scores[[0, 1, 3]].T.contiguous(), torch.arange(3))
    assert square.found[1].tolist() == [1, 0, 0.5] and swapped.found[1].tolist() == [1, 0, 1]


def test_offsets_are_added_to_the_classes():
    scores = torch.tensor([[0.5, 0.4, 0.0, 0.1, 0.2, 0.3]])
    offsets = {"cosine": torch.zeros(6), "csls": torch.tensor([-0.2, 0, 0, 0, 0, 0])}
    found = outcomes([(0, scores)], torch.tensor([1]), offsets)
    assert (found["cosine"].found[1].item(), found["csls"].found[1].item()) == (0, 1)
    assert found["cosine"].found[5].item() == 1
    assert outcomes([(0, scores)], torch.tensor([2]), offsets)["cosine"].found[5].item() == 0


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_top_k_and_confusions_are_those_of_scikit_learn(block):
    scores, label = table(90, 9), torch.arange(90) % 9
    blocks = [(at, scores[at : at + block]) for at in range(0, 90, block)]
    outcome = outcomes(blocks, label, {"cosine": torch.zeros(9)})["cosine"]
    for k in (1, 5):
        expected = top_k_accuracy_score(label, scores, k=k, labels=range(9))
        assert float(outcome.found[k].mean()) == pytest.approx(expected, abs=1e-12)
    taken = scores.argmax(1)
    assert (outcome.confusion.numpy() == confusion_matrix(label, taken)).all()


def test_constant_scores_are_exactly_chance():
    label = torch.arange(60) % 20
    said = figures(plain(torch.full((60, 20), 0.3), label), label)
    for key, level in chance(20).items():
        assert said[key] == pytest.approx(level, abs=1e-12)
    assert chance(20) == {"top1": 0.05, "top5": 0.25, "mean_per_class": 0.05}
    assert set(chance(4)) == {"top1", "mean_per_class"}  # five guesses of four are no test


def test_random_rows_are_at_chance():
    label = torch.arange(200) % 20
    said = [figures(plain(table(200, 20, seed), label), label) for seed in range(40)]
    for key, level in chance(20).items():
        assert np.mean([one[key] for one in said]) == pytest.approx(level, abs=0.015)


def test_mean_per_class_counts_classes_and_not_images():
    label = torch.tensor([0] * 8 + [1, 1])
    found = torch.tensor([1.0] * 8 + [0, 1], dtype=torch.float64)
    mean, (low, high) = mean_per_class(found, label)
    assert mean == 0.75 and low < 0.75 < high
    assert float(found.mean()) == 0.9
    even = torch.bernoulli(torch.full((400,), 0.3), generator=torch.Generator().manual_seed(1))
    mean, reach = mean_per_class(even.double(), torch.arange(400) // 200)
    assert reach == pytest.approx(wilson(mean, 400), abs=0.003)


def test_mean_of_several_outcomes():
    label = torch.tensor([0, 1])
    right, wrong = plain(torch.eye(2), label), plain(1 - torch.eye(2), label)
    both = mean_of([right, wrong])
    assert both.found[1].tolist() == [0.5, 0.5] and both.confusion.tolist() == [[0.5, 0.5]] * 2


# ---- corrections


@pytest.mark.parametrize("block", [3, 16, 1000])
def test_hubs_are_those_of_a_whole_table(block):
    images, classes = table(50, 6), table(12, 6, 1)
    cosine = unit(images) @ unit(classes).T
    blocks = [(at, cosine[at : at + block]) for at in range(0, 50, block)]
    assert torch.allclose(hubs(blocks), hubness(images, classes, k=10), atol=1e-6)
    assert torch.allclose(hubs(blocks, k=80), cosine.mean(0), atol=1e-6)
    assert deviation(blocks) == pytest.approx(float(cosine.std(correction=0)), abs=1e-6)


def test_balance_is_sinkhorns():
    """Against a naive loop over rows and columns of the whole table."""
    cosine = table(60, 5) + torch.tensor([1.0, 0, 0, 0, -0.5])
    offset = balance([(0, cosine[:40]), (40, cosine[40:])])
    scale = 4.0 / cosine.std(correction=0)
    plan = (scale * cosine).double().exp()
    for _ in range(500):
        plan = plan / plan.sum(0) / 5
        plan = plan / plan.sum(1, keepdim=True) / 60
    assert torch.allclose(plan.sum(0), torch.full((5,), 0.2, dtype=torch.float64), atol=1e-6)
    ours = (scale * (cosine + offset)).double().softmax(1) / 60
    assert torch.allclose(ours, plan, atol=2e-4)
    assert (cosine + offset).argmax(1).bincount(minlength=5).tolist() != [12] * 5  # soft, not exact


def test_corrections_help_where_one_class_is_near_everything():
    """Images of two classes, all pulled to the first."""
    generator = torch.Generator().manual_seed(0)
    label = torch.arange(100) % 2
    cosine = torch.nn.functional.one_hot(label).float() + 0.3 * torch.randn(
        100, 2, generator=generator
    )
    cosine = cosine / 10 + torch.tensor([0.3, 0.0])
    offsets = {
        "cosine": torch.zeros(2),
        "csls": -hubs([(0, cosine)]) / 2,
        "balanced": balance([(0, cosine)]),
    }
    found = outcomes([(0, cosine)], label, offsets)
    share = {name: float(one.found[1].mean()) for name, one in found.items()}
    assert share["cosine"] < 0.55 and share["balanced"] > 0.9 and share["csls"] > share["cosine"]


# ---- through a bridge

COLOURS = ("red", "green", "blue", "black", "white", "brown", "pink")


@pytest.fixture
def world():
    """Seven classes in a text space of width 8 and an image space of width 12, and a bridge."""
    generator = torch.Generator().manual_seed(0)
    basis = torch.linalg.qr(torch.randn(12, 8, generator=generator)).Q.T
    text = torch.randn(300, 8, generator=generator)
    bridge = fit(
        embeddings(text + 1, name="words"),
        embeddings(text @ basis + 3, name="pictures"),
        method="rotation",
    )
    centres = 2 * torch.randn(7, 8, generator=generator)
    label = torch.arange(84) % 7
    images = centres[label] + torch.randn(84, 8, generator=generator)
    ids = [f"{COLOURS[k]}/{row}.jpg" for row, k in enumerate(label.tolist())]
    prompts = centres.repeat_interleave(3, 0) + 0.3 * torch.randn(21, 8, generator=generator)
    classes = ClassList("colours", "us", {name: (name,) for name in COLOURS})
    return (
        labelled(embeddings(images @ basis + 3, ids, name="pictures"), classes),
        classes,
        Embeddings(
            prompts + 1,
            tuple(f"{name}#{k}" for name in COLOURS for k in range(3)),
            tuple(name for name in COLOURS for _ in range(3)),
            {"encoder": {"name": "words"}, "templates": "captions"},
        ),
        bridge,
    )


def test_mean_row_in_blocks():
    rows = table(50, 6).half()
    assert torch.allclose(mean_row(rows, block=7), rows.double().mean(0).float(), atol=1e-6)


@pytest.mark.parametrize("space", ["image", "text"])
@pytest.mark.parametrize("center", ["bridge", "own"])
def test_classes_are_found_through_a_bridge(world, space, center):
    shown, classes, prompts, bridge = world
    class_of = class_of_prompt(prompts, classes.ids)
    found = classified(bridge, prompts, class_of, shown, center=center, space=space, block=10)
    for column in COLUMNS:
        assert float(found[column].found[1].mean()) > 0.8
    rows = class_rows(prompts.rows, class_of, bridge.text.mean)
    text, image = bridge.both_in(space, rows, shown.images.rows)
    whole = unit(image) @ unit(text).T
    if center == "bridge":
        assert float(found["cosine"].found[1].mean()) == float(
            (whole.argmax(1) == shown.label).double().mean()
        )
    blocks = cosines(bridge, rows, shown.images.rows, space=space, block=10)
    assert torch.allclose(torch.cat([cosine for _, cosine in blocks]), whole, atol=1e-6)
    assert torch.allclose(torch.cat([cosine for _, cosine in blocks]), whole, atol=1e-6)  # again


def test_the_order_of_images_and_classes_does_not_matter(world):
    shown, classes, prompts, bridge = world
    order = torch.randperm(len(shown), generator=torch.Generator().manual_seed(3)).tolist()
    backwards = ClassList("colours", "us", dict(reversed(classes.names.items())))
    again = labelled(shown.images.take(order), backwards)
    first = measure_zero_shot(shown, classes, prompts, {"b": bridge}).report
    second = measure_zero_shot(again, backwards, prompts, {"b": bridge}).report
    for key, value in first.metrics.items():
        if "." in key:
            assert second.metrics[key] == pytest.approx(value, abs=1e-9), key
    lines = {line["class"]: line for line in second.metrics["classes"]}
    for line in first.metrics["classes"]:
        assert lines[line["class"]]["cosine.top1"] == pytest.approx(line["cosine.top1"])


def test_report_of_several_bridges_with_a_ceiling(world):
    shown, classes, prompts, bridge = world
    turned = torch.linalg.qr(table(8, 8, 5)).Q @ bridge.to_image_weight
    failed = type(bridge)(
        bridge.text, bridge.image, turned, turned.T, bridge.fitted_on,
        bridge.about | {"verdict": {"level": "failed"}},
    )  # fmt: skip
    made = measure_zero_shot(
        shown, classes, prompts, {"good": bridge, "bad": failed}, ceiling=bridge, blind_seeds=2
    )
    metrics, level = made.report.metrics, made.report.chance
    good, bad = metrics["bridges"]
    assert (good["verdict"], bad["verdict"]) == (None, "failed")
    for column in COLUMNS:
        top1 = metrics[f"{column}.top1"]
        assert top1 == pytest.approx((good[f"{column}.top1"] + bad[f"{column}.top1"]) / 2)
        assert metrics[f"ceiling.{column}.top1"] == good[f"{column}.top1"] > top1
        low, high = metrics[f"{column}.top1.interval"]
        assert low < top1 < high
    assert {key for key in metrics if isinstance(metrics[key], float)} == set(level)
    assert len(metrics["classes"]) == 7 and metrics["classes"][0]["images"] == 12
    assert made.report.settings["transductive"] == ["csls", "balanced"]
    assert metrics["blind_match.oracle"] > 0.7 > level["blind_match.oracle"]
    assert made.confusion.sum() == pytest.approx(84)
    one = measure_zero_shot(shown, classes, prompts, {"b": bridge}, center="own").report
    assert one.settings["transductive"] == list(COLUMNS)


def test_confusions_name_the_worst_first():
    classes = ClassList("x", "x", {"a": ("ant",), "b": ("bee",), "c": ("cat",)})
    counted = torch.tensor([[5, 5, 0], [1, 9, 0], [0, 0, 10.0]], dtype=torch.float64)
    pairs = confusions(counted, classes)
    assert [(p["name"], p["taken_for_name"], p["images"], p["share"]) for p in pairs] == [
        ("ant", "bee", 5, 0.5),
        ("bee", "ant", 1, 0.1),
    ]


def test_bad_input(world):
    shown, classes, prompts, bridge = world
    with pytest.raises(InputError, match="center of bridge, own, got 'none'"):
        measure_zero_shot(shown, classes, prompts, {"b": bridge}, center="none")
    with pytest.raises(InputError, match="maps text rows of width 8, got width 7"):
        narrow = Embeddings(prompts.rows[:, :7], prompts.ids, prompts.image_ids)
        measure_zero_shot(shown, classes, narrow, {"b": bridge})
    seen = embeddings(table(300, 12), [f"red/{k}" for k in range(300)], name="pictures")
    leaky = fit(embeddings(table(300, 8), [f"red/{k}" for k in range(300)]), seen)
    others = embeddings(table(7, 12), [f"{name}/0" for name in COLOURS])
    with pytest.raises(InputError, match="fitted on 1 of the 7 images"):
        measure_zero_shot(labelled(others, classes), classes, prompts, {"b": leaky})
