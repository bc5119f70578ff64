"""Classes named without any map: clusters of images and class texts, matched by their distances."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from torch import Tensor

from bridge.assignment import kernel, tabu_search
from bridge.errors import InputError
from bridge.geometry import center, unit
from eval.retrieval import interval

COMPONENTS = 64  # in which images are clustered
STARTS = 10  # of k-means
STEPS, RESTARTS = 2000, 30  # of the search for the best match


@dataclass(frozen=True, eq=False)
class Named:
    """The cluster of each image, and the class that each cluster was matched to."""

    cluster: Int[Tensor, " n"]
    class_of_cluster: Int[Tensor, " c"]

    @property
    def taken_for(self) -> Int[Tensor, " n"]:
        return self.class_of_cluster[self.cluster]


def blind_match(
    images: Float[Tensor, "n d_image"], classes: Float[Tensor, "c d_text"], *, seed: int = 0
) -> Named:
    """Cluster the images into as many clusters as there are classes, and give each a class.

    The match is the one under which distances of clusters agree best with distances of class
    texts: a quadratic assignment of their standardised kernels (Schnaus et al., It's a (blind)
    match, CVPR 2025; there by a factorised solver, here by tabu search). Uses no pair and no map.
    Raises InputError for fewer images than classes.
    """
    if len(images) < len(classes):
        raise InputError(
            f"clusters for {len(classes)} classes need as many images, got {len(images)}"
        )
    rows = unit(center(images.float())).numpy()
    most = min(COMPONENTS, *rows.shape)
    rows = PCA(most, random_state=seed).fit_transform(rows)
    found = KMeans(len(classes), n_init=STARTS, random_state=seed).fit(rows)
    texts = unit(center(classes.float())).numpy()
    centroids = unit(torch.as_tensor(found.cluster_centers_)).numpy()
    nothing = np.zeros((len(classes), len(classes)))
    match = tabu_search(
        kernel(texts, "distance"),
        kernel(centroids, "distance"),
        nothing,
        STEPS,
        RESTARTS,
        np.random.default_rng(seed),
    )
    class_of_cluster = torch.as_tensor(np.argsort(match))
    return Named(torch.as_tensor(found.labels_, dtype=torch.long), class_of_cluster)


def best_naming(cluster: Int[Tensor, " n"], label: Int[Tensor, " n"], classes: int) -> float:
    """The share of images that the best one-to-one naming of the clusters gets right."""
    table = torch.bincount(cluster * classes + label, minlength=classes**2)
    table = table.reshape(classes, classes).numpy()
    return float(table[linear_sum_assignment(-table)].sum() / len(label))


def measure_blind_match(
    images: Float[Tensor, "n d_image"],
    classes: Float[Tensor, "c d_text"],
    label: Int[Tensor, " n"],
    seeds: Sequence[int],
) -> tuple[dict[str, Any], dict[str, float]]:
    """Metrics and chance of the mean over seeds: `top1`, and `oracle`, its bound by the clusters.

    `oracle` names the clusters by the labels; its chance level is that of shuffled labels.
    """
    runs = [blind_match(images, classes, seed=seed) for seed in seeds]
    found = torch.stack([(run.taken_for == label).double() for run in runs])
    count = len(classes)
    oracle = [best_naming(run.cluster, label, count) for run in runs]
    shuffled = label[torch.randperm(len(label), generator=torch.Generator().manual_seed(seeds[0]))]
    mean = found.mean(0)
    metrics = {
        "top1": float(mean.mean()),
        "top1.interval": list(interval(mean, torch.arange(len(label)))),
        "seeds": found.mean(1).tolist(),
        "oracle": float(np.mean(oracle)),
    }
    by_chance = np.mean([best_naming(run.cluster, shuffled, count) for run in runs])
    return metrics, {"top1": 1 / count, "oracle": float(by_chance)}
