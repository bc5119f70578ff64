"""The text encoder: a stock BERT and a WordPiece tokenizer; the mean over tokens is the embedding."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor
from transformers import AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast

from bridge.encode_text import pool_text
from bridge.encoders import quiet_transformers
from bridge.errors import InputError
from train.config import SIZES, Model
from train.data import pad

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_tokenizer(settings: Model, texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """The tokenizer of a given folder, or a WordPiece vocabulary trained on `texts`."""
    if isinstance(settings.vocabulary, str):
        try:
            with quiet_transformers():
                return AutoTokenizer.from_pretrained(settings.vocabulary)
        except (OSError, ValueError) as error:
            raise InputError(
                f"model.vocabulary: no tokenizer at {settings.vocabulary!r}; give a folder that "
                "has one, or a number to train a vocabulary of that size"
            ) from error
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=settings.vocabulary,
        min_frequency=2,
        special_tokens=SPECIAL,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    cls, sep = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=settings.max_tokens,
    )


def make_model(settings: Model, vocabulary: int, seed: int) -> BertModel:
    layers, width, heads = SIZES[settings.size]
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=settings.max_tokens,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        pad_token_id=0,
    )
    torch.manual_seed(seed)
    return BertModel(config, add_pooling_layer=False)


def embed(
    model: torch.nn.Module, texts: Sequence[np.ndarray], chunk: int, device: torch.device
) -> tuple[Float[Tensor, "n d"], float]:
    """Embeddings of token arrays in their order, and the share of padding.

    Texts go through the model sorted by length, `chunk` at a time: a random batch of short
    captions padded to its longest is more than half padding.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    rows, cells = [], 0
    for start in range(0, len(order), chunk):
        ids, mask = (t.to(device) for t in pad([texts[i] for i in order[start : start + chunk]]))
        cells += ids.numel()
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
        rows.append(pool_text(hidden, mask, "mean"))
    back = torch.tensor(order, device=device).argsort()
    return torch.cat(rows)[back], 1 - sum(map(len, texts)) / cells
