"""Shared, small, seeded: a planted pair of embeddings, a tiny text encoder folder, a few images."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

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
