"""The text encoder: a stock BERT and a WordPiece tokenizer; the mean over tokens is the embedding."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor
from transformers import AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast

from bridge.encode_text import pool_text, projection_head
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
    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = Counter(
        word
        for text in texts
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))
    )
    pieces = {piece: i for i, piece in enumerate(wordpieces(words, settings.vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
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


def wordpieces(words: Counter, size: int) -> list[str]:
    """Special tokens, every letter at a word's start and inside, then words by frequency.

    A word that is not among them is spelt. Not the tokenizers library's trainer: it breaks ties in
    an order that changes from run to run, and a seed should give one encoder.
    """
    letters = sorted({letter for word in words for letter in word})
    spelling = [*letters, *(f"##{letter}" for letter in letters)]
    frequent = sorted((word for word in words if words[word] > 1), key=lambda w: (-words[w], w))
    return list(dict.fromkeys([*SPECIAL, *spelling, *frequent]))[: max(size, len(SPECIAL))]


def make_model(settings: Model, vocabulary: int, seed: int) -> "TextJepa":
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
    backbone = BertModel(config, add_pooling_layer=False)
    if not settings.projector:
        return TextJepa(backbone, torch.nn.Identity())
    return TextJepa(backbone, projection_head(width, settings.projector * width))


class TextJepa(torch.nn.Module):
    """The encoder that is kept, and the head behind which the loss is taken.

    The head lets the loss ask for unit variance and no covariance, which mean-pooled rows of a
    layer norm could not give; the backbone's own rows are the better embedding (as in VICReg).
    """

    def __init__(self, backbone: BertModel, projector: torch.nn.Module):
        super().__init__()
        self.backbone = backbone
        self.projector = projector

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        hidden = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
        return pool_text(hidden, mask, "mean")


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
        rows.append(model(ids, mask))
    back = torch.tensor(order, device=device).argsort()
    return torch.cat(rows)[back], 1 - sum(map(len, texts)) / cells
