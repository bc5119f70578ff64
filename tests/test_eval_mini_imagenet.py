"""Zero-shot figures on real rows against another road to them.

Bridges from Flickr8k's 6000 training pairs (MiniLM, EfficientNet-Lite0: trained with ImageNet
labels), 100 classes of mini-ImageNet, 50 images each, "a photo of a X.". An earlier computation on
100 images a class found .095 / .269 (Top-1, Top-5) in 64 and .144 / .331 in 256 components, both
sides centred by their own mean; these 50 give .080 / .234 and .134 / .337.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from bridge.classes import read_classes
from bridge.embeddings import image_means
from bridge.encode_text import text_encoder
from bridge.features import import_features
from bridge.fitting import fit
from bridge.maps import Bridge
from bridge.prompts import class_of_prompt, embed_prompts, read_templates
from eval.labelled import images_to_embed, labelled
from eval.measure_zero_shot import measure_zero_shot
from eval.zero_shot import classified, figures

pytestmark = pytest.mark.realdata


def table(folder, name: str):
    return import_features(folder / f"{name}.safetensors", folder / f"{name}.ids.txt")


def training_images(folder) -> list[str]:
    content = json.loads((folder / "dataset_flickr8k.json").read_text())
    return [image["filename"] for image in content["images"] if image["split"] == "train"]


@pytest.fixture(scope="module")
def images_and_names(data_folder):
    classes = read_classes(data_folder / "mini-imagenet" / "classes.json")
    shown = labelled(table(data_folder / "mini-imagenet", "images_lite0"), classes)
    encoder = text_encoder("package:minilm", device="cpu")
    return shown, classes, embed_prompts(classes, read_templates("single"), encoder)


@pytest.fixture(scope="module")
def bridge(data_folder) -> Bridge:
    folder = data_folder / "flickr8k"
    sides = table(folder, "text_minilm"), table(folder, "images_lite0")
    return fit(*sides, method="rotation", pairs=training_images(folder))


@pytest.mark.parametrize(("components", "top"), [(64, (0.080, 0.234)), (256, (0.134, 0.337))])
def test_rotation_between_components(images_and_names, bridge, data_folder, components, top):
    """Rows go through principal components in NumPy, and through a `Bridge` of the same map."""
    shown, classes, prompts = images_and_names
    texts, images = sides_of_the_fit(bridge, data_folder / "flickr8k")
    bases = [np.linalg.eigh(side.T @ side)[1][:, ::-1][:, :components] for side in (texts, images)]
    left, _, right = np.linalg.svd(unit(texts @ bases[0]).T @ unit(images @ bases[1]))
    rotation = left @ right

    rows = [side.double().numpy() for side in (prompts.rows, shown.images.rows)]
    entered = [unit(unit(r - r.mean(0)) @ basis) for r, basis in zip(rows, bases, strict=True)]
    ranked = np.argsort(-entered[1] @ (entered[0] @ rotation).T, axis=1)
    label = shown.label.numpy()[:, None]
    naive = [(ranked[:, :k] == label).any(1).mean() for k in (1, 5)]
    assert naive == pytest.approx(top, abs=0.002)

    weight = torch.as_tensor(bases[0] @ rotation @ bases[1].T, dtype=torch.float32)
    mapped = replace(bridge, to_image_weight=weight, to_text_weight=weight.T.contiguous())
    class_of = class_of_prompt(prompts, classes.ids)
    found = classified(mapped, prompts, class_of, shown, center="own", space="image")["cosine"]
    said = figures(found, shown.label)
    assert (said["top1"], said["top5"]) == pytest.approx(naive, abs=0.002)


def sides_of_the_fit(bridge: Bridge, folder) -> list[np.ndarray]:
    """Rows of the training pairs, entered."""
    train = training_images(folder)
    text, image = image_means(table(folder, "text_minilm")), table(folder, "images_lite0")
    entered = (
        bridge.text.enter(text.of_images(train).rows),
        bridge.image.enter(image.of_images(train).rows),
    )
    return [side.double().numpy() for side in entered]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_report_on_all_classes(images_and_names, bridge):
    made = measure_zero_shot(*images_and_names, {"rotation": bridge}).report
    assert made.settings["images"] == 5000 and made.settings["class_count"] == 100
    assert made.metrics["cosine.top1"] == pytest.approx(0.130, abs=0.01)
    assert made.metrics["cosine.top5"] == pytest.approx(0.319, abs=0.01)
    assert made.metrics["cosine.mean_per_class"] == pytest.approx(made.metrics["cosine.top1"])
    assert made.chance["cosine.top5"] == 0.05


def test_image_folder(data_folder):
    classes = read_classes(data_folder / "mini-imagenet" / "classes.json")
    root, wanted = images_to_embed(data_folder / "mini-imagenet", classes)
    assert root.name == "val" and wanted("n01532829/n0153282900001095.jpg")
    names = json.loads((data_folder / "classnames" / "wnid_to_clip_name.json").read_text())
    assert len(read_classes("cmc", data_folder / "classnames" / "wnid_to_clip_name.json")) == 100
    assert set(read_classes("kaggle").ids) <= set(names)
