import pytest
import torch

from bridge.errors import InputError
from eval.blind_match import best_naming, blind_match, measure_blind_match


def planted(classes: int = 12, each: int = 15, noise: float = 0.15):
    """Classes that lie alike in two spaces, of which nothing but that is common to both."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(classes, 10, generator=generator)
    turn = torch.linalg.qr(torch.randn(16, 10, generator=generator)).Q.T
    label = torch.arange(classes).repeat(each)
    images = centres[label] @ turn + noise * torch.randn(len(label), 16, generator=generator)
    return images + 5, centres - 2, label


def test_classes_that_lie_alike_are_found():
    images, classes, label = planted()
    named = blind_match(images, classes)
    assert float((named.taken_for == label).double().mean()) > 0.95
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    turned = blind_match(images, classes[order])
    assert (order[turned.taken_for] == named.taken_for).double().mean() > 0.95


def test_unrelated_spaces_are_at_chance():
    images, _, label = planted()
    found = [
        float((blind_match(images, torch.randn(12, 10, generator=torch.Generator().manual_seed(s)))
               .taken_for == label).double().mean())
        for s in range(12)
    ]  # fmt: skip
    assert sum(found) / 12 < 0.3


def test_measured_with_its_bound_by_the_clusters():
    images, classes, label = planted()
    metrics, chance = measure_blind_match(images, classes, label, range(2))
    assert metrics["top1"] <= metrics["oracle"] + 1e-9 and len(metrics["seeds"]) == 2
    assert chance["top1"] == 1 / 12 < chance["oracle"] < 0.4
    assert set(chance) == {"top1", "oracle"}


def test_best_naming_by_hand():
    cluster, label = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([2, 2, 1, 1, 0, 0])
    assert best_naming(cluster, label, 3) == pytest.approx(4 / 6)
    assert best_naming(torch.tensor([0, 0, 1]), torch.tensor([0, 0, 1]), 2) == 1.0


def test_too_few_images():
    with pytest.raises(InputError, match="clusters for 12 classes need as many images, got 5"):
        blind_match(torch.randn(5, 3), torch.randn(12, 3))
