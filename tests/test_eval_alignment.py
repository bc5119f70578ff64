import numpy as np
import pytest
import torch

from bridge.errors import InputError
from eval import alignment
from eval.alignment import cka, cknna, curve, mutual_knn, neighbours


def table(n: int, d: int, seed: int) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def related(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tables of different widths that share half of their directions."""
    text = table(n, 6, seed)
    return text, torch.cat([text[:, :3], table(n, 5, seed + 1)], 1)


def on_circle(*degrees: float) -> torch.Tensor:
    angles = torch.tensor(degrees).deg2rad()
    return torch.stack([angles.cos(), angles.sin()], 1)


def naive_neighbours(rows, k: int, center: bool) -> list[set[int]]:
    """Cosines one by one, then a sorted list a row; ties keep the lower index."""
    rows = rows.double() - (rows.double().mean(0) if center else 0)
    near = []
    for i, row in enumerate(rows):
        cosine = {
            j: round(float(torch.cosine_similarity(row, other, dim=0)), 6)
            for j, other in enumerate(rows)
            if j != i
        }
        near.append(set(sorted(cosine, key=lambda j: -cosine[j])[:k]))
    return near


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("k", [1, 3, 10, 39])
def test_mutual_knn_is_the_naive_loop(k, center):
    text, image = related(40)
    text = text + 0.5
    near = naive_neighbours(text, k, center), naive_neighbours(image, k, center)
    expected = np.mean([len(a & b) / k for a, b in zip(*near, strict=True)])
    assert mutual_knn(text, image, k=k, center=center) == pytest.approx(expected, abs=1e-12)


def test_by_hand():
    """Directions 0, 10, 30, 80 degrees; on the image side the last two are swapped.

    One nearest: 1 0 1 2 of the texts, 1 0 3 1 of the images. Two nearest: {1,2} {0,2} {1,0} {2,1}
    and {1,3} {0,3} {3,1} {1,0}.
    """
    text, image = on_circle(0, 10, 30, 80), on_circle(0, 10, 80, 30)
    assert mutual_knn(text, image, k=1, center=False) == 2 / 4
    assert mutual_knn(text, image, k=2, center=False) == 4 / 8


def test_a_row_is_not_its_own_neighbour_even_if_all_others_are_opposite():
    text, image = on_circle(0, 120, 240), on_circle(0, 170, 185)
    for rows in (text, image):
        index = neighbours(rows, 2, center=False)[1]
        assert [set(row) for row in index.tolist()] == [{1, 2}, {0, 2}, {0, 1}]
    assert mutual_knn(on_circle(0, 180), on_circle(0, 180), k=1) == 1.0


def test_ties_go_to_the_lower_index():
    rows = on_circle(0, 90, 0, 0, 90, 0, 90, 45)
    near = [set(row) for row in neighbours(rows, 2, center=False)[1].tolist()]
    assert near == [{2, 3}, {4, 6}, {0, 3}, {0, 2}, {1, 6}, {0, 2}, {1, 4}, {0, 1}]
    assert near == naive_neighbours(rows, 2, center=False)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_duplicates_in_wide_tables_are_tied_whatever_the_rounding(block):
    """Products of equal rows differ in their last digits by their place in a block."""
    rows = table(25, 384, 0).repeat(4, 1)
    cosine, index = neighbours(rows, 2, block=block)
    copies = [[j for j in range(i % 25, 100, 25) if j != i][:2] for i in range(100)]
    assert index.sort(1).values.tolist() == copies
    assert cosine.flatten().tolist() == pytest.approx([1.0] * 200, abs=1e-5)


@pytest.mark.parametrize("block", [1, 7, 100, 101, 102, 4096])
def test_blocks_do_not_change_a_bit(block):
    text, image = related(101)
    assert mutual_knn(text, image, block=block) == mutual_knn(text, image)
    assert cknna(text, image, block=block) == pytest.approx(cknna(text, image), abs=1e-6)
    assert cka(text, image, block=block) == pytest.approx(cka(text, image), abs=1e-12)


def test_equal_turned_and_permuted_tables():
    text, image = related(80)
    turned = 3 * text @ torch.linalg.qr(table(6, 6, 1)).Q + 5
    assert mutual_knn(text, text) == mutual_knn(text, turned) == 1.0
    assert cka(text, turned) == pytest.approx(1.0, abs=1e-6)
    assert cknna(text, turned) == pytest.approx(1.0, abs=1e-5)
    order = torch.randperm(80, generator=torch.Generator().manual_seed(2))
    assert mutual_knn(text[order], image[order]) == mutual_knn(text, image)
    assert mutual_knn(text, image) == mutual_knn(image, text)
    assert mutual_knn(text[order], image) < 0.5 * mutual_knn(text, image)
    assert cka(text[order], image[order]) == pytest.approx(cka(text, image), abs=1e-9)
    assert cknna(text[order], image[order]) == pytest.approx(cknna(text, image), abs=1e-6)


def test_chance_on_unrelated_tables():
    pairs = [(table(200, 8, seed), table(200, 12, seed + 100)) for seed in range(20)]
    assert np.mean([mutual_knn(*pair) for pair in pairs]) == pytest.approx(10 / 199, abs=0.004)
    assert np.mean([cka(*pair) for pair in pairs]) == pytest.approx(0, abs=0.01)
    found = [alignment.alignment(*pair, permutations=100) for pair in pairs]
    for key in ("cknna", "mutual_knn.p_value"):
        mean, level = (np.mean([one[part][key] for one in found]) for part in ("metrics", "chance"))
        assert mean == pytest.approx(level, abs=0.2 if key.endswith("value") else 0.01)
    assert np.mean([one["metrics"]["mutual_knn.calibrated"] > 0 for one in found]) < 0.2


def test_biased_cka_would_not_be_zero_here():
    """Wide tables of few rows: the plain estimate calls unrelated tables alike."""
    text, image = table(50, 500, 0), table(50, 500, 1)
    centred = [rows - rows.mean(0) for rows in (text, image)]
    kernels = [rows @ rows.T for rows in centred]
    plain = (kernels[0] * kernels[1]).sum() / (kernels[0].norm() * kernels[1].norm())
    assert plain > 0.8 and abs(cka(text, image)) < 0.1


def full_hsic(left: torch.Tensor, right: torch.Tensor) -> float:
    """Song et al. 2012, equation 5, on whole kernels."""
    n, one = len(left), torch.ones(len(left), dtype=torch.float64)
    left, right = left - left.diag().diag(), right - right.diag().diag()
    outer = (one @ left @ one) * (one @ right @ one) / ((n - 1) * (n - 2))
    trace = (left @ right).trace()
    return float(trace + outer - 2 * (one @ left @ right @ one) / (n - 2)) / (n * (n - 3))


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_cka_is_the_full_matrix_formula(offset):
    text, image = (rows.double() for rows in related(30))
    kernels = text @ text.T, image @ image.T
    own = full_hsic(kernels[0], kernels[0]) * full_hsic(kernels[1], kernels[1])
    expected = full_hsic(*kernels) / own**0.5
    assert 0.1 < expected < 0.9
    assert cka(text + offset, image - offset) == pytest.approx(expected, abs=1e-9)


def test_cknna_is_the_full_matrix_formula():
    kernels, masks = [], []
    for rows in related(30):
        rows = torch.nn.functional.normalize(rows - rows.mean(0)).double()
        kernel = (rows @ rows.T).fill_diagonal_(-torch.inf)
        nearest = kernel.topk(7, dim=1).indices
        masks.append(torch.zeros(30, 30).scatter_(1, nearest, 1.0).double())
        kernels.append(kernel.fill_diagonal_(0))

    def masked(a: int, b: int) -> float:
        mask = masks[a] * masks[b]
        return full_hsic(kernels[a] * mask, kernels[b] * mask)

    expected = masked(0, 1) / (masked(0, 0) * masked(1, 1)) ** 0.5
    assert 0.1 < expected < 0.9
    assert cknna(*related(30), k=7) == pytest.approx(expected, abs=1e-5)


def test_renamed_neighbours_are_those_of_permuted_rows():
    rows = table(50, 8, 0)
    order = torch.randperm(50, generator=torch.Generator().manual_seed(0))
    moved = neighbours(rows[order], 5)[1].sort(1).values
    assert torch.equal(alignment.renamed(neighbours(rows, 5)[1], order).sort(1).values, moved)


def test_calibration_of_equal_and_unrelated_tables():
    index = neighbours(table(200, 8, 0), 10)[1]
    equal = alignment.calibrate(index, index)
    assert equal["calibrated"] == 1.0 and equal["p_value"] == 1 / 201
    assert 10 / 199 < equal["null_95"] < 0.07
    other = alignment.calibrate(index, neighbours(table(200, 8, 1), 10)[1])
    score = alignment.overlap(index, neighbours(table(200, 8, 1), 10)[1])
    assert other["calibrated"] == pytest.approx((score - other["null_95"]) / (1 - other["null_95"]))
    assert alignment.calibrate(index, index, seed=1) != equal
    every = neighbours(table(12, 3, 0), 11)[1]  # with k = n - 1 all tables agree
    assert alignment.calibrate(every, every)["calibrated"] == 0.0


def test_curve_falls_with_n_and_ends_at_the_whole():
    text = table(600, 6, 0)
    image = text + 0.7 * table(600, 6, 1)
    points = curve(text, image)
    assert [(point["n"], point["subsets"]) for point in points] == [
        (100, 5),
        (200, 3),
        (500, 1),
        (600, 1),
    ]
    assert points[-1]["mutual_knn"] == pytest.approx(mutual_knn(text, image))
    assert points[-1]["spread"] is None and 0 < points[0]["spread"] < 0.1
    assert [point["chance"] for point in points] == [10 / 99, 10 / 199, 10 / 499, 10 / 599]
    scores = [point["mutual_knn"] for point in points]
    assert scores == sorted(scores, reverse=True)
    assert points == curve(text, image) != curve(text, image, seed=1)


@pytest.mark.parametrize(
    ("n", "k", "sizes"),
    [
        (12, 10, [12]),
        (100, 10, [100]),
        (1500, 10, [100, 200, 500, 1000, 1500]),
        (120, 1, [10, 20, 50, 100, 120]),
        (6000, 100, [1000, 2000, 5000, 6000]),
    ],
)
def test_sizes_of_the_curve(n, k, sizes):
    assert alignment.curve_sizes(n, k) == sizes


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions(dtype):
    text = table(80, 6, 0)
    image = text + 0.1 * table(80, 6, 1)
    for measure in (mutual_knn, cka, cknna):
        other = measure(text.to(dtype), image.to(dtype))
        assert other == pytest.approx(measure(text, image), abs=0.02)


def test_a_far_mean_does_not_cost_digits():
    text, image = (rows.double() for rows in related(60))
    assert mutual_knn(text + 1e7, image) == mutual_knn(text, image)


def test_all_figures_at_once():
    text, image = related(150)
    found = alignment.alignment(text, image, k=5, seed=3)
    metrics, chance = found["metrics"], found["chance"]
    assert metrics["mutual_knn"] == mutual_knn(text, image, k=5)
    assert metrics["cknna"] == cknna(text, image, k=5) and metrics["cka"] == cka(text, image)
    assert metrics["curve"] == curve(text, image, k=5, seed=3)
    assert metrics["mutual_knn"] > metrics["mutual_knn.calibrated"] > 0.05
    assert metrics["mutual_knn.p_value"] < 0.01 and chance["mutual_knn"] == 5 / 149
    assert set(metrics) - {"curve"} <= set(chance)
    assert found["settings"]["n"] == 150 and found["settings"]["k"] == 5


def test_bad_tables():
    text = table(12, 3, 0)
    with pytest.raises(InputError, match="got 12 text rows and 11 image rows"):
        mutual_knn(text, text[:11])
    for k in (0, 12):
        with pytest.raises(InputError, match=f"between 1 and n - 1 = 11, got {k}"):
            mutual_knn(text, text, k=k)
    with pytest.raises(InputError, match="k >= 2 and at least 4 items, got k = 1"):
        cknna(text, text, k=1)
    with pytest.raises(InputError, match="at least 4 items, got 3"):
        cka(text[:3], text[:3])
    with pytest.raises(InputError, match="at least 100 permutations, got 99"):
        alignment.alignment(text, text, permutations=99)
    with pytest.raises(InputError, match="between k \\+ 1 = 11 and 12"):
        curve(text, text, sizes=[13])
    for measure in (mutual_knn, cka, cknna):
        with pytest.raises(InputError, match="same"):
            measure(text, torch.ones(12, 4))
        for value in (torch.nan, torch.inf):
            broken = text.clone()
            broken[5, 0] = value
            with pytest.raises(InputError, match=r"1 image rows hold NaN or infinity.* row 5"):
                measure(text, broken)
