"""Shared, small, seeded: a planted pair of embeddings, a tiny text encoder folder, a few images."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from bridge.embeddings import Embeddings

# Models of a few thousand weights lose by threads: they wait for each other longer than they work.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that tests start
torch.set_num_threads(1)

WORDS = [
    "a",
    "the",
    "dog",
    "cat",
    "sheep",
    "boat",
    "red",
    "blue",
    "old",
    "small",
    "runs",
    "sits",
    "near",
    "on",
    "grass",
    "water",
    "house",
]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data; tests that need it are skipped where it is not named."""
    folder = os.environ.get("PLATOBRIDGE_DATA")
    if not folder:
        pytest.skip("PLATOBRIDGE_DATA does not name a folder of real data")
    return Path(folder)


@pytest.fixture(scope="session")
def flickr_table(data_folder) -> Callable[[str], Embeddings]:
    """Reads one of the stored feature tables of Flickr8k by name."""
    folder = data_folder / "flickr8k"

    def table(name: str) -> Embeddings:
        ids = tuple((folder / f"{name}.ids.txt").read_text().split())
        rows = load_file(folder / f"{name}.safetensors")["rows"].float()
        return embeddings(rows, ids, [i.split("#")[0] for i in ids], name=name)

    return table


def embeddings(rows: torch.Tensor, ids=None, image_ids=None, name="planted") -> Embeddings:
    ids = tuple(ids or (f"i{k}" for k in range(len(rows))))
    return Embeddings(rows, ids, tuple(image_ids or ids), {"encoder": {"name": name}})


@pytest.fixture
def planted() -> tuple[Embeddings, Embeddings, torch.Tensor]:
    """300 texts of width 8 and images of width 12, joined by a known semi-orthogonal map."""
    generator = torch.Generator().manual_seed(0)
    text = torch.randn(300, 8, generator=generator) * torch.linspace(2, 0.5, 8)
    basis = torch.linalg.qr(torch.randn(12, 8, generator=generator)).Q.T
    image = text @ basis + 3.0 + 0.01 * torch.randn(300, 12, generator=generator)
    return embeddings(text + 1.0, name="words"), embeddings(image, name="pictures"), basis


@pytest.fixture(scope="session")
def text_model(tmp_path_factory) -> Path:
    """A BERT of random weights with a word-level vocabulary, as transformers saves it."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Ten pictures of different colours and shapes in a folder, one of them below it."""
    folder = tmp_path / "pictures"
    (folder / "more").mkdir(parents=True)
    draw = np.random.default_rng(0)
    for index in range(10):
        pixels = draw.integers(0, 255, (40 + 3 * index, 50, 3), dtype=np.uint8)
        place = folder / "more" if index == 9 else folder
        Image.fromarray(pixels).save(place / f"{index}.png")
    return folder


@pytest.fixture(scope="session")
def colours(tmp_path_factory, text_model) -> Path:
    """Red and blue pictures with their captions, embedded by a tiny text model and a real vision
    model, and a bridge from these pairs; `new/` holds pictures that it was not fitted on, in a
    folder a colour."""
    from bridge.captions import Caption, write_captions
    from bridge.embed import embed_captions, embed_images
    from bridge.encode_text import text_encoder
    from bridge.encode_vision import vision_encoder
    from bridge.fitting import fit

    folder, chance = tmp_path_factory.mktemp("colours"), np.random.default_rng(0)
    paint = {"red": (200, 30, 30), "blue": (30, 30, 200)}
    captions = []
    for index in range(24):
        name = ("red", "blue")[index % 2]
        pixels = np.clip(chance.normal(paint[name], 25, (64, 64, 3)), 0, 255).astype(np.uint8)
        place = folder / "new" / name if index >= 16 else folder / "pictures"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(place / f"{index}.png")
        if index < 16:
            thing = ("dog", "cat", "boat", "house")[index // 2 % 4]
            captions.append(Caption(f"{index}.png", f"a {name} {thing}", f"{index}.png#0"))
    write_captions(folder / "captions.jsonl", captions)
    text = embed_captions(
        folder / "captions.jsonl",
        text_encoder(f"hf:{text_model}", device="cpu"),
        folder / "text.safetensors",
    )
    image = embed_images(
        folder / "pictures",
        vision_encoder("package:efficientnet-lite0", image_size=64, device="cpu"),
        folder / "images.safetensors",
    )
    fit(text, image, method="ridge").save(folder / "bridge")
    return folder
