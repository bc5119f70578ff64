"""Training a decoder on text alone: from an image's other captions to the one that is left out.

The row it reads is the mean of the other captions, sent through the channel of a bridge (what the
bridge's errors do to a row), so that later the mapped row of an image looks familiar. Grouped
captions as in CLOSE (Gu et al., I can't believe there's no images, ICCV 2023), noise in place of
images as in CapDec (Nukrai et al., Text-only training for image captioning, EMNLP 2022).
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bridge import embeddings, maps
from bridge.captions import Caption, iter_captions
from bridge.channel import Channel, cosine_channel
from bridge.decode import CaptionModel, Decoder
from bridge.embed import embed_captions
from bridge.embeddings import Embeddings, check_finite
from bridge.encode_text import TextEncoder
from bridge.encoders import quiet_transformers, unreachable
from bridge.errors import InputError
from bridge.files import PathLike, already_made, remove, replacing, write_json
from bridge.geometry import unit
from bridge.memory import remember
from bridge.provenance import digest, versions
from train.config import DecoderConfig
from train.data import mapped, spool
from train.loop import (
    Hooks,
    Trainer,
    accelerator_for,
    load_tokenizer,
    one_number,
    start_folder,
    train,
)
from train.views import Batch, lay_out

SIZES = {  # of `small`: layers, width, heads, pieces
    "tiny": (2, 128, 4, 1024),
    "2m": (3, 192, 4, 4096),
    "5m": (4, 256, 4, 8192),
}
HIDDEN = 512  # of gpt2's prefix
END = "<|endoftext|>"
SAMPLE = 20_000  # images behind the covariance of text rows


@dataclass(frozen=True, eq=False)
class Texts:
    """Captions of a file in its order: token ids, rows, and which of them share an image."""

    table: Embeddings
    ids: np.ndarray
    start: np.ndarray  # text i is ids[start[i]:start[i + 1]]
    order: np.ndarray  # texts sorted by image
    first: np.ndarray  # of text i's image, in `order`
    count: np.ndarray  # texts of text i's image

    def __len__(self) -> int:
        return len(self.order)

    def tokens(self, index: int | np.integer) -> np.ndarray:
        return self.ids[self.start[index] : self.start[index + 1]]

    def others(self, indices: np.ndarray) -> Float[Tensor, "n d"]:
        """For each text the mean row of its image's other texts; its own where it is the only."""
        means = []
        for index in indices:
            first, count = self.first[index], self.count[index]
            group = self.order[first : first + count]
            rows = group[group != index] if count > 1 else group
            means.append(self.table.rows[torch.from_numpy(rows)].float().mean(0))
        return torch.stack(means)


def run(
    config: DecoderConfig,
    captions: PathLike,
    encoder: TextEncoder | None,
    *,
    out: PathLike,
    text: PathLike | None = None,
    bridge: PathLike | None = None,
    split: str | None = None,
    overwrite: bool = False,
    device: str = "auto",
    embedding: Callable[[int, int], None] = lambda done, total: None,
    **hooks: Any,
) -> Path:
    """Train a decoder on a captions file and write its folder `out`, which is returned.

    Captions are embedded with `encoder`, or have rows in the embeddings file `text`. With a
    `bridge` from pairs, rows go through its channel, else through one that keeps `config.cosine`.
    An interrupted run goes on from `OUT.partial`; a finished one of the same request is left as
    it is. Raises InputError for captions without rows, a bridge of another text encoder, and a
    language model that cannot be had.
    """
    out, told = Path(out), Hooks(**hooks)
    partial = out.with_name(f"{out.name}.partial")
    fitted = maps.load(bridge) if bridge else None
    request = config.result() | {
        "captions": digest(captions),
        "split": split,
        "text": digest(text) if text else encoder.about,
        "bridge": digest(bridge) if bridge else None,
    }
    if already_made(out, request_of(out), request, overwrite=overwrite):
        told.note(f"{out} is already made with these settings")
        return out
    if out.exists() and not (out / "platobridge.json").exists():
        raise InputError(f"{out} is no decoder folder, and is not replaced; name another --out")
    accelerator = accelerator_for(config.optim, device)
    if accelerator.is_main_process:
        start_folder(partial, config, request, overwrite=overwrite and not same(partial, request))
        if not text:
            file = partial / "text.safetensors"
            embed_captions(captions, encoder, file, split=split, progress=embedding)
        prepare(partial, config, captions, split, accelerator.device)
    accelerator.wait_for_everyone()
    table = embeddings.load(text or partial / "text.safetensors")
    if fitted:
        fitted.check_encoder("text", table)
    texts = open_texts(partial, table, captions, split)
    with torch.random.fork_rng(devices=[]):
        trainer = DecoderTrainer(config, partial, texts, door(config, texts, fitted), accelerator)
        if config.writer.kind != "nearest":
            told.note(estimate(trainer))
            train(trainer, partial, told if accelerator.is_main_process else Hooks())
    if accelerator.is_main_process:
        trainer.decoder(captions, split, request).save(out, overwrite=overwrite)
        remove(partial)
    return out


def request_of(out: Path) -> dict | None:
    card = out / "platobridge.json"
    if not card.exists():
        return None
    return json.loads(card.read_text(encoding="utf-8"))["about"].get("request", {})


def same(partial: Path, request: dict) -> bool:
    """Whether an unfinished run of just this request lies there: --overwrite then goes on."""
    file = partial / "about.json"
    if not file.exists():
        return False
    return json.loads(file.read_text(encoding="utf-8"))["made_by"] == json.loads(
        json.dumps(request)
    )


def prepare(
    partial: Path,
    config: DecoderConfig,
    captions: PathLike,
    split: str | None,
    device: torch.device,
) -> None:
    """Make tokenizer and token store, once, so that a resumed run cannot have others."""
    writer = config.writer
    if writer.kind == "nearest":
        return
    if not (partial / "tokenizer").exists():
        if writer.kind == "small":
            pieces = SIZES[size_of(config, device)][3]
            made = byte_pairs((c.text for c in iter_captions(captions, split=split)), pieces)
        else:
            made = given_tokenizer(writer.language_model)
        with replacing(partial / "tokenizer") as temporary:
            made.save_pretrained(temporary)
    if not (partial / "tokens").exists():
        with replacing(partial / "tokens") as temporary:
            temporary.mkdir()
            stream = iter_captions(captions, split=split)
            about = spool(stream, load_tokenizer(partial), writer.max_tokens - 1, temporary)
            write_json(temporary / "about.json", about)


def byte_pairs(texts, pieces: int):
    """A byte-level BPE tokenizer of at most so many pieces, trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)


def given_tokenizer(name: str | None):
    from transformers import AutoTokenizer

    if name is None:
        raise InputError("writer.kind=gpt2 needs writer.language_model, a name or a folder")
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise unreachable(f"hf:{name}", "writer.language_model=FOLDER", error) from error
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def size_of(config: DecoderConfig, device: torch.device) -> str:
    return config.writer.size or ("2m" if device.type == "cpu" else "5m")


def open_texts(partial: Path, table: Embeddings, captions: PathLike, split: str | None) -> Texts:
    """Tokens and rows of a captions file, text by text; raises InputError for one without a row."""
    ids, image_ids = [], []
    for caption in iter_captions(captions, split=split):
        ids.append(caption.id)
        image_ids.append(caption.image_id)
    table = table.of_captions(ids)
    check_finite(table, "text embeddings")
    group = np.unique(image_ids, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    first = (np.cumsum(count) - count)[group]
    tokens, start = np.zeros(0, np.int64), np.zeros(len(ids) + 1, np.int64)
    if (partial / "tokens").exists():
        about = json.loads((partial / "tokens" / "about.json").read_text(encoding="utf-8"))
        tokens = mapped(partial / "tokens" / "spool.ids", about["dtype"])
        lengths = mapped(partial / "tokens" / "spool.lengths", "uint16")
        start = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Texts(table, tokens, start, order, first, count[group])


@dataclass(frozen=True, eq=False)
class Door:
    """How a text row becomes what the decoder reads: centred, unit, and through a channel."""

    mean: Float[Tensor, " d"]
    channel: Channel

    def __call__(
        self, rows: Float[Tensor, "n d"], generator: torch.Generator
    ) -> Float[Tensor, "n d"]:
        return unit(self.channel.through(unit(rows - self.mean), generator))


def door(config: DecoderConfig, texts: Texts, bridge: maps.Bridge | None) -> Door:
    """The channel of the bridge, or one that keeps a cosine of the rows of a sample of texts."""
    if bridge and bridge.channel:
        return Door(bridge.text.mean, bridge.channel)
    generator = np.random.default_rng((config.seed, 1))
    some = np.sort(generator.permutation(len(texts))[:SAMPLE])
    rows = texts.others(some)
    mean = bridge.text.mean if bridge else rows.mean(0)
    centred = unit(rows - mean)
    return Door(mean, cosine_channel(centred.T @ centred / len(centred), config.cosine))


class DecoderTrainer(Trainer):
    """A caption model, the texts that it learns to write, and the door that rows come through."""

    def __init__(self, config: DecoderConfig, partial: Path, texts: Texts, door: Door, accelerator):
        self.texts, self.door = texts, door
        if config.writer.kind == "nearest":
            self.config, self.tokenizer, self.module = config, None, None
            return
        if not config.optim.steps:
            steps = max(1, round(config.optim.epochs * len(texts) / config.optim.batch))
            optim = config.optim.model_copy(update={"steps": steps})
            config = config.model_copy(update={"optim": optim})
        self.tokenizer = load_tokenizer(partial)
        torch.manual_seed(config.seed)
        model = caption_model(config, self.tokenizer, texts.table.width, accelerator.device)
        super().__init__(config, Learner(model, config.smoothing), accelerator)

    def losses(self, seed: tuple[int, int, int]) -> tuple[dict[str, Tensor], None, dict]:
        accelerator, end = self.accelerator, self.tokenizer.eos_token_id
        rank, ranks = accelerator.process_index, accelerator.num_processes
        size = self.config.optim.batch
        drawn = np.random.default_rng(seed).integers(len(self.texts), size=size)[rank::ranks]
        batch = lay_out(
            [np.append(self.texts.tokens(index), end) for index in drawn],
            self.tokenizer.pad_token_id,
            accelerator.device,
        )
        generator = torch.Generator().manual_seed(one_number(*seed, rank))
        rows = self.door(self.texts.others(drawn), generator).to(accelerator.device)
        torch.manual_seed(one_number(*seed, rank))  # dropout: no generator's state to restore
        loss = self.model(rows, batch)
        counts = {"tokens": batch.tokens, "cells": batch.cells}
        return {"loss": loss}, None, counts

    def opening(self) -> str:
        count = sum(p.numel() for p in self.module.parameters())
        return (
            f"{self.config.writer.kind}: {count:,} parameters, {len(self.tokenizer):,} pieces; "
            f"{len(self.texts):,} captions, {self.config.optim.steps:,} steps"
        )

    def export(self, out: Path) -> None:
        """Nothing yet: the last checkpoint holds the weights until the folder is put together."""

    def decoder(self, captions: PathLike, split: str | None, request: dict) -> Decoder:
        """The finished value, with a memory of the captions (a random part of very many)."""
        kept = np.arange(len(self.texts))
        if len(kept) > (most := self.config.remember):
            kept = np.sort(np.random.default_rng((self.config.seed, 2)).permutation(kept)[:most])
        wanted = set(kept.tolist())
        stream = enumerate(iter_captions(captions, split=split))
        told: list[Caption] = [caption for index, caption in stream if index in wanted]
        about = {
            "kind": self.config.writer.kind,
            "encoder": self.texts.table.about.get("encoder", {}),
            "request": request,
            "steps": self.config.optim.steps,
            "versions": versions(),
        }
        table = self.texts.table.take(kept.tolist())
        memory = remember(half(table), told, self.door.mean)
        if self.module is None:
            return Decoder(about, memory)
        model = self.module.model
        prefix = {"positions": model.prefix.positions, "hidden": hidden_of(self.config)}
        return Decoder(about | {"prefix": prefix}, memory, model.eval(), self.tokenizer)


def half(table: Embeddings) -> Embeddings:
    return Embeddings(table.rows.half(), table.ids, table.image_ids, table.about)


class Learner(nn.Module):
    """A caption model with its loss: mean cross-entropy a token, the end counted, padding not."""

    def __init__(self, model: CaptionModel, smoothing: float):
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, rows: Float[Tensor, "n d"], batch: Batch) -> Float[Tensor, ""]:
        total, first = rows.new_zeros(()), 0
        for ids, mask in batch.chunks:
            here = batch.order[first : first + len(ids)]
            logits = self.model(rows[here], ids, mask).float()
            told = mask.bool()
            total = total + cross_entropy(
                logits[told], ids[told], label_smoothing=self.smoothing, reduction="sum"
            )
            first += len(ids)
        return total / batch.tokens


def hidden_of(config: DecoderConfig) -> int:
    return HIDDEN if config.writer.kind == "gpt2" else 0


def caption_model(config: DecoderConfig, tokenizer, d: int, device: torch.device) -> CaptionModel:
    """A small language model of random weights, or a given one behind an MLP prefix."""
    from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

    writer = config.writer
    if writer.kind == "gpt2":
        try:
            with quiet_transformers():
                model = AutoModelForCausalLM.from_pretrained(writer.language_model)
        except (OSError, ValueError) as error:
            spec = f"hf:{writer.language_model}"
            raise unreachable(spec, "writer.language_model=FOLDER", error) from error
        model.requires_grad_(writer.tuned)
        return CaptionModel(model, d, writer.positions, HIDDEN)
    layers, width, heads, _ = SIZES[size_of(config, device)]
    settings = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=writer.max_tokens + writer.positions,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        resid_pdrop=writer.dropout,
        embd_pdrop=writer.dropout,
        attn_pdrop=writer.dropout,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return CaptionModel(GPT2LMHeadModel(settings), d, writer.positions, 0)


def estimate(trainer: DecoderTrainer) -> str:
    """How long the run will take, from two draws that change nothing."""
    trainer.model.train()
    for draw in range(2):
        start = time.perf_counter()
        losses, _, _ = trainer.losses((trainer.config.seed, 0, draw))
        trainer.accelerator.backward(losses["loss"])
        seconds = time.perf_counter() - start
    trainer.optimizer.zero_grad()
    minutes = seconds * trainer.config.optim.steps / 60
    return f"about {minutes:.0f} minutes" if minutes >= 1.5 else f"about {minutes * 60:.0f} seconds"
