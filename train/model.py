"""The text encoder: a stock BERT and a WordPiece tokenizer; its rows are means over tokens."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast

from bridge.captions import Caption
from bridge.encode_text import package_folder, pool_text, projection_head
from bridge.encoders import quiet_transformers
from bridge.errors import InputError
from train.config import SIZES, TrainConfig
from train.config import Model as Settings
from train.ranks import mean_over_ranks, over_ranks
from train.views import Batch

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_tokenizer(settings: Settings, captions: Iterable[Caption]) -> PreTrainedTokenizerFast:
    """The tokenizer of a given folder, or a WordPiece vocabulary trained on captions.

    Training passes over them twice and keeps the count of each word in memory, so a corpus of
    the web's size wants a given vocabulary. Raises InputError for a folder without a tokenizer, or
    with one that cannot pad or mask, and for a vocabulary too small for the captions' letters.
    """
    if isinstance(settings.vocabulary, str):
        return given_tokenizer(settings)
    tokenizer = Tokenizer(
        models.WordPiece(wordpieces(captions, settings.vocabulary), unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    cls, sep = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=settings.max_tokens,
        **dict(zip(names, SPECIAL, strict=True)),
    )


def given_tokenizer(settings: Settings) -> PreTrainedTokenizerFast:
    kind, _, name = settings.vocabulary.partition(":")
    source = package_folder(name) if kind == "package" else settings.vocabulary
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise InputError(
            f"model.vocabulary: no tokenizer at {settings.vocabulary!r}; give a folder that has "
            "one, a name on a hub that can be reached, or a number to train a vocabulary"
        ) from error
    if lacking := [
        name for name in ("pad_token", "mask_token") if getattr(tokenizer, name) is None
    ]:
        raise InputError(
            f"model.vocabulary: the tokenizer at {settings.vocabulary!r} has no "
            f"{' and no '.join(lacking)}; give a BERT vocabulary, or a number to train one"
        )
    tokenizer.model_max_length = settings.max_tokens
    return tokenizer


def wordpieces(captions: Iterable[Caption], size: int) -> dict[str, int]:
    """A WordPiece vocabulary of at most `size` pieces that occur more than once, with their ids.

    All letters are given to the trainer: left alone it meets them in another order at every run,
    which breaks ties otherwise, and a seed should give one encoder.
    """
    normalizer = normalizers.BertNormalizer(lowercase=True)
    texts = (normalizer.normalize_str(caption.text) for caption in captions)
    letters = sorted({letter for text in texts for letter in text if not letter.isspace()})
    given = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    if size < len(given):
        raise InputError(
            f"model.vocabulary: expected at least {len(given)} pieces (the captions have "
            f"{len(letters)} different letters and signs), got {size}"
        )
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=given
    )
    tokenizer.train_from_iterator((caption.text for caption in captions), trainer)
    return tokenizer.get_vocab()


class Output(NamedTuple):
    """Rows to keep, rows that the losses are taken on, what first views predict of second ones."""

    rows: Float[Tensor, "n d"]
    projected: Float[Tensor, "n p"]
    predicted: Float[Tensor, "m p"]
    cross_entropy: Float[Tensor, ""]


class TextJepa(nn.Module):
    """The encoder that is kept, and the heads that only training has.

    The projector lets the loss ask for unit variance and no covariance, which mean-pooled rows of
    a layer norm could not give; the backbone's own rows are the better embedding (as in VICReg).
    The predictor goes from a first view's projected row to the second's. Only heads that the
    objective uses exist.
    """

    def __init__(self, config: TrainConfig, tokenizer):
        super().__init__()
        kind, settings = config.objective.kind, config.model
        layers, width, heads = SIZES[settings.size]
        self.language = kind == "next-token"
        bert = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            max_position_embeddings=settings.max_tokens,
            hidden_dropout_prob=settings.dropout,
            attention_probs_dropout_prob=settings.dropout,
            pad_token_id=tokenizer.pad_token_id,
            is_decoder=self.language,  # the causal mask, which the exported folder then has too
            use_cache=False,
        )
        self.backbone = BertModel(bert, add_pooling_layer=False)
        regularised = not self.language or config.objective.beside_tokens > 0
        p = settings.projector * width if settings.projector and regularised else 0
        self.projector = over_ranks(projection_head(width, p)) if p else nn.Identity()
        predicts = settings.predictor == "mlp" and not self.language
        self.predictor = (
            over_ranks(projection_head(p or width, p or width)) if predicts else nn.Identity()
        )

    def forward(self, batch: Batch) -> Output:
        pooled, losses = [], []
        for ids, mask, hidden in self.states(batch):
            pooled.append(pool_text(hidden, mask, "mean"))
            if self.language:
                losses.append(self.next_token(hidden, ids, mask))
        rows = torch.cat(pooled)[batch.back]
        projected = self.projector(rows)
        predicted = self.predictor(projected[: len(rows) // 2])
        loss = rows.new_zeros(())
        if self.language:
            total, count = torch.stack(losses).sum(0)
            loss = mean_over_ranks(total) / mean_over_ranks(count)
        return Output(rows, projected.float(), predicted.float(), loss)

    def embed(self, batch: Batch) -> Float[Tensor, "n d"]:
        """The rows alone."""
        pooled = [pool_text(hidden, mask, "mean") for _, mask, hidden in self.states(batch)]
        return torch.cat(pooled)[batch.back]

    def states(self, batch: Batch) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Ids, mask and token states of each chunk."""
        for ids, mask in batch.chunks:
            hidden = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
            yield ids, mask, hidden.float()

    def next_token(
        self, hidden: Float[Tensor, "n t d"], ids: Int[Tensor, "n t"], mask: Int[Tensor, "n t"]
    ) -> Float[Tensor, "2"]:
        """Summed cross-entropy of each token given those before it, and how many there are.

        The output layer is the input embedding (Press & Wolf, Using the output embedding to
        improve language models, EACL 2017).
        """
        follows = mask[:, 1:].bool()
        logits = hidden[:, :-1][follows] @ self.backbone.embeddings.word_embeddings.weight.T
        loss = cross_entropy(logits.float(), ids[:, 1:][follows], reduction="sum")
        return torch.stack([loss, loss.new_tensor(float(follows.sum()))])

    def parameters_of(self) -> dict[str, int]:
        """How many parameters the kept encoder and the heads have."""
        parts = {"encoder": self.backbone, "projector": self.projector, "predictor": self.predictor}
        return {name: sum(p.numel() for p in part.parameters()) for name, part in parts.items()}
