"""Decoders: a row in a text encoder's space -> captions.

A decoder's folder holds a memory of captions and, unless it is of the kind `nearest`, a language
model behind a prefix: what transformers saves, the prefix in decoder.safetensors, and
platobridge.json that says which encoder's rows it reads. docs/formats.md has it field by field.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from bridge.encoders import pick_device, quiet_transformers
from bridge.errors import InputError
from bridge.files import PathLike, check_folder_of, existing, replacing, write_json
from bridge.geometry import unit
from bridge.memory import Memory, load_memory

FORMAT = "platobridge.decoder/1"
BATCH = 64  # rows that are decoded together


class Candidate(NamedTuple):
    """A caption and how well it fits: a cosine if remembered, else its log-probability a token."""

    text: str
    score: float


@dataclass(frozen=True)
class Decoding:
    """How captions are made of rows.

    `project` puts each row among the remembered captions first (see Memory.project). `beams`,
    `max_tokens` and `length_penalty` are transformers' own. `consensus` is for remembered captions:
    of so many that are nearest, the one most like the others.
    """

    beams: int = 4
    max_tokens: int = 24
    length_penalty: float = 1.0
    consensus: int = 1
    project: bool = False


class Prefix(nn.Module):
    """Rows of width d -> `positions` input vectors of a language model."""

    def __init__(self, d: int, positions: int, width: int, hidden: int):
        super().__init__()
        self.positions = positions
        layers: list[nn.Module] = [nn.LayerNorm(d)]
        if hidden:
            layers += [nn.Linear(d, hidden), nn.Tanh()]
        layers.append(nn.Linear(hidden or d, positions * width))
        self.layers = nn.Sequential(*layers)

    def forward(self, rows: Float[Tensor, "n d"]) -> Float[Tensor, "n p w"]:
        return self.layers(rows).view(len(rows), self.positions, -1)


class CaptionModel(nn.Module):
    """A causal language model that continues a prefix made of a (centred) row.

    The prefix has at least two positions: `generate` from a single one never sees its own words
    in some versions of transformers.
    """

    def __init__(self, language_model: nn.Module, d: int, positions: int, hidden: int):
        super().__init__()
        if positions < 2:
            raise InputError(f"expected a prefix of at least 2 positions, got {positions}")
        self.language_model = language_model
        self.prefix = Prefix(d, positions, language_model.config.hidden_size, hidden)

    def forward(
        self, rows: Float[Tensor, "n d"], ids: Int[Tensor, "n t"], mask: Int[Tensor, "n t"]
    ) -> Float[Tensor, "n t v"]:
        """Logits of every token, given the row and the tokens before it; padding at the right."""
        prefix = self.prefix(rows)
        words = self.language_model.get_input_embeddings()(ids[:, :-1])
        inputs = torch.cat([prefix.to(words.dtype), words], 1)
        seen = torch.cat([mask.new_ones(prefix.shape[:2]), mask[:, :-1]], 1)
        logits = self.language_model(inputs_embeds=inputs, attention_mask=seen).logits
        return logits[:, self.prefix.positions - 1 :]

    @torch.inference_mode()
    def write(self, rows: Float[Tensor, "n d"], how: Decoding, count: int, end: int):
        """Token ids of `count` captions a row, and their mean log-probabilities."""
        prefix = self.prefix(rows).to(self.language_model.dtype)
        beams = max(how.beams, count)
        made = self.language_model.generate(
            inputs_embeds=prefix,
            attention_mask=prefix.new_ones(prefix.shape[:2], dtype=torch.long),
            max_new_tokens=how.max_tokens,
            do_sample=False,
            num_beams=beams,
            num_return_sequences=count,
            length_penalty=how.length_penalty if beams > 1 else None,
            early_stopping=beams > 1,
            eos_token_id=end,
            pad_token_id=end,
            return_dict_in_generate=True,
            output_scores=True,
        )
        indices = getattr(made, "beam_indices", None)
        scores = self.language_model.compute_transition_scores(
            made.sequences, made.scores, indices, normalize_logits=beams == 1
        )
        tokens = (made.sequences != end).sum(1) + 1
        finite = torch.where(torch.isfinite(scores), scores, 0.0)
        return made.sequences, finite.sum(1) / tokens


@dataclass(frozen=True, eq=False)
class Decoder:
    """A frozen decoder. `about` says its kind, whose rows it reads, and how it was trained."""

    about: dict[str, Any]
    memory: Memory
    model: CaptionModel | None = None
    tokenizer: Any = None

    @property
    def mean(self) -> Float[Tensor, " d"]:
        return self.memory.mean

    def projects(self, paired: bool) -> bool:
        """Whether rows of such a bridge are best projected on the memory first.

        Those of a bridge without pairs, unless the decoder was trained with noise and is used to
        rows that lie off the captions: then projection takes away more than it repairs.
        """
        request = self.about.get("request", {})
        noisy = request.get("bridge") is not None or request.get("cosine", 1.0) < 1
        return not paired and not noisy

    def check_encoder(self, noted: Mapping[str, Any], width: int) -> None:
        """Raise InputError for rows of another text encoder than the decoder reads."""
        ours = self.about["encoder"]
        key = "fingerprint" if "fingerprint" in ours and "fingerprint" in noted else "name"
        if width != len(self.mean) or ours.get(key) != noted.get(key):
            raise InputError(
                f"this decoder reads rows of {ours.get('name')} (width {len(self.mean)}), got rows "
                f"of {noted.get('name')} (width {width}); train one for that encoder with "
                "`platobridge train-decoder`"
            )

    def captions(
        self, rows: Float[Tensor, "n d"], how: Decoding | None = None, *, count: int = 1
    ) -> Iterator[list[Candidate]]:
        """`count` captions for each row, best first; by the language model if there is one."""
        how = how or Decoding()
        for first in range(0, len(rows), BATCH):
            some = rows[first : first + BATCH].float()
            if how.project:
                some = self.memory.project(some)
            yield from (
                self._written(some, how, count)
                if self.model
                else self.remembered(some, how.consensus, count=count)
            )

    def _written(self, rows: Tensor, how: Decoding, count: int) -> Iterator[list[Candidate]]:
        device = self.model.language_model.device
        end = self.tokenizer.eos_token_id
        ids, scores = self.model.write((rows - self.mean).to(device), how, count, end)
        texts = self.tokenizer.batch_decode(ids, skip_special_tokens=True)
        candidates = [
            Candidate(text.strip(), float(score)) for text, score in zip(texts, scores, strict=True)
        ]
        for first in range(0, len(candidates), count):
            yield candidates[first : first + count]

    def remembered(
        self, rows: Float[Tensor, "n d"], consensus: int = 1, *, count: int = 1
    ) -> Iterator[list[Candidate]]:
        """The nearest remembered captions, or of the `consensus` nearest those most like all."""
        for first in range(0, len(rows), BATCH):
            cosines, places = self.memory.nearest(
                rows[first : first + BATCH].float(), max(consensus, count)
            )
            for cosine, place in zip(cosines, places, strict=True):
                if consensus > 1:
                    near = self.memory.directions(place)
                    order = (near @ near.sum(0)).argsort(descending=True)
                    cosine, place = cosine[order], place[order]
                found = zip(place[:count].tolist(), cosine[:count].tolist(), strict=True)
                yield [Candidate(self.memory.texts[at], value) for at, value in found]

    def save(self, folder: PathLike, *, overwrite: bool = False) -> None:
        """Write the folder, whole or not at all; raises InputError if something stands there."""
        folder = Path(folder)
        if folder.exists() and not overwrite:
            raise InputError(
                f"{folder} exists; name another folder, or replace it with --overwrite"
            )
        check_folder_of(folder, "platobridge.json", "decoder folder")
        with replacing(folder) as temporary:
            temporary.mkdir()
            tensors = {"mean": self.mean}
            if self.model:
                with quiet_transformers():
                    self.model.language_model.save_pretrained(temporary)
                    self.tokenizer.save_pretrained(temporary)
                prefix = self.model.prefix.state_dict()
                tensors |= {f"prefix.{name}": value for name, value in prefix.items()}
            save_file(
                {name: value.cpu().contiguous() for name, value in tensors.items()},
                temporary / "decoder.safetensors",
            )
            self.memory.save(temporary)
            write_json(temporary / "platobridge.json", {"format": FORMAT, "about": self.about})


def load_decoder(folder: PathLike, *, device: str = "auto") -> Decoder:
    """Read a decoder's folder; raises InputError if it is missing, foreign or damaged."""
    folder = existing(folder, "decoder folder")
    try:
        card = json.loads((folder / "platobridge.json").read_text(encoding="utf-8"))
        if card.get("format") != FORMAT:
            raise InputError(f"{folder}: expected format {FORMAT}, got {card.get('format')}")
        tensors = load_file(folder / "decoder.safetensors")
        memory = load_memory(folder, tensors.pop("mean"))
        if card["about"]["kind"] == "nearest":
            return Decoder(card["about"], memory)
        model, tokenizer = load_model(folder, tensors, len(memory.mean), card["about"])
    except InputError:
        raise
    except (OSError, LookupError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise InputError(
            f"{folder}: expected a decoder folder, got {type(error).__name__}: {error}; make one "
            "with `platobridge train-decoder`"
        ) from error
    return Decoder(card["about"], memory, model.to(pick_device(device)), tokenizer)


def load_model(folder: Path, tensors: dict[str, Tensor], d: int, about: Mapping[str, Any]):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with quiet_transformers():
        language_model = AutoModelForCausalLM.from_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    model = CaptionModel(language_model, d, about["prefix"]["positions"], about["prefix"]["hidden"])
    model.prefix.load_state_dict({k.removeprefix("prefix."): v for k, v in tensors.items()})
    return model.eval().requires_grad_(False), tokenizer


def reranked(
    candidates: Sequence[Sequence[Candidate]],
    rows: Float[Tensor, "n d"],
    mean: Float[Tensor, " d"],
    encode: Callable[[Sequence[str]], Float[Tensor, "m d"]],
) -> list[list[Candidate]]:
    """Each row's candidates by the cosine of their own rows to it, which becomes their score."""
    found = []
    for row, some in zip(unit(rows - mean), candidates, strict=True):
        cosines = unit(encode([candidate.text for candidate in some]) - mean) @ row
        scored = [Candidate(c.text, float(v)) for c, v in zip(some, cosines, strict=True)]
        found.append(sorted(scored, key=lambda candidate: -candidate.score))
    return found
