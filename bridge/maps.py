"""Bridge: a fitted map between a text space and an image space, as a frozen value."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from bridge.channel import Channel
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.files import PathLike, check_folder_of, existing, replacing, write_json
from bridge.geometry import unit
from bridge.provenance import id_hash
from bridge.reach import Reach

FORMAT = "platobridge.bridge/1"
Side = Literal["text", "image"]


@dataclass(frozen=True, eq=False)
class Space:
    """One side of a bridge: how its rows are centred and scaled before they are compared.

    `mean` is that of the fitted rows. With `unit`, centred rows are scaled to length 1; `length`
    is the mean length they had, by which `leave` gives them their size back.
    """

    mean: Float[Tensor, " d"]
    unit: bool
    length: float

    def enter(self, rows: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """Encoder rows -> centred (and unit) rows, the coordinates in which maps are fitted."""
        centred = rows.to(self.mean.device, torch.float32) - self.mean
        return unit(centred) if self.unit else centred

    def leave(self, rows: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """Back to the encoder's own coordinates."""
        return rows * (self.length if self.unit else 1.0) + self.mean


@dataclass(frozen=True, eq=False)
class Bridge:
    """A fitted map in both directions; rows are items, so image ~ text @ to_image_weight.

    The weights act on rows that have entered their `Space`; each direction is fitted for itself
    unless the method is a rotation. `fitted_on` holds sorted hashes of the image ids behind the
    fit; `about` its method, settings, encoders, pairs, seed, versions and diagnostics. `channel`
    is what held-out pairs say of `to_text`'s errors, where there were enough pairs to tell;
    `reach` says which images are like the fitted ones, where there were enough of those.
    """

    text: Space
    image: Space
    to_image_weight: Float[Tensor, "d_text d_image"]
    to_text_weight: Float[Tensor, "d_image d_text"]
    fitted_on: Int[Tensor, " m"]
    about: dict[str, Any] = field(default_factory=dict)
    channel: Channel | None = None
    reach: Reach | None = None

    def to_image(self, text: Float[Tensor, "n d_text"]) -> Float[Tensor, "n d_image"]:
        """Map text encoder rows to where their images should lie in the image encoder's space."""
        self.check_width("text", text.shape[1])
        return self.image.leave(self.text.enter(text) @ self.to_image_weight)

    def to_text(self, image: Float[Tensor, "n d_image"]) -> Float[Tensor, "n d_text"]:
        """Map image encoder rows to where their captions should lie in the text encoder's space."""
        self.check_width("image", image.shape[1])
        return self.text.leave(self.image.enter(image) @ self.to_text_weight)

    def both_in(
        self, space: Side, text: Float[Tensor, "n d_text"], image: Float[Tensor, "m d_image"]
    ) -> tuple[Float[Tensor, "n d"], Float[Tensor, "m d"]]:
        """Text and image rows in one centred space, ready for cosines.

        To rank a gallery, use the query's space: a regressed *query* is pulled to the mean, where
        hubs are nearest to everything, a regressed *gallery* is not (Shigeto et al., Ridge
        regression, hubness, and zero-shot learning, ECML 2015).
        """
        self.check_width("text", text.shape[1])
        self.check_width("image", image.shape[1])
        text, image = self.text.enter(text), self.image.enter(image)
        if space == "text":
            return text, image @ self.to_text_weight
        return text @ self.to_image_weight, image

    def check_width(self, side: Side, width: int) -> None:
        """Raise InputError if rows of this width are not those of the side's encoder."""
        expected = len(getattr(self, side).mean)
        if width != expected:
            raise InputError(
                f"this bridge maps {side} rows of width {expected}, got width {width}; "
                f"was it fitted on another {side} encoder?"
            )

    def check_encoder(self, side: Side, embeddings: Embeddings) -> None:
        """Raise InputError if `embeddings` come from another encoder than the bridge's side."""
        self.check_width(side, embeddings.width)
        ours = self.about.get(side, {}).get("encoder", {})
        theirs = embeddings.about.get("encoder", {})
        for key in ("fingerprint", "layer", "pooling"):
            if key in ours and key in theirs and ours[key] != theirs[key]:
                raise InputError(
                    f"this bridge was fitted on {side} rows of {ours.get('name')} ({key} "
                    f"{ours[key]}), got rows of {theirs.get('name')} ({key} {theirs[key]}); "
                    "embed them with the encoder of the bridge"
                )

    def are_seen(self, image_ids: Sequence[str]) -> np.ndarray:
        """For each of these images whether the bridge was fitted on it."""
        return np.isin([id_hash(image_id) for image_id in image_ids], self.fitted_on.numpy())

    def save(self, folder: PathLike, *, overwrite: bool = False) -> None:
        """Write `bridge.json` and `weights.safetensors`; raises InputError if `folder` exists."""
        folder = Path(folder)
        if folder.exists() and not overwrite:
            raise InputError(
                f"{folder} exists; name another folder, or replace it with --overwrite"
            )
        check_folder_of(folder, "bridge.json", "bridge folder")
        with replacing(folder) as temporary:
            self.write(temporary)

    def write(self, folder: Path) -> None:
        """Make `folder` and put `bridge.json` and `weights.safetensors` there."""
        tensors = {
            "text_mean": self.text.mean,
            "image_mean": self.image.mean,
            "to_image": self.to_image_weight,
            "to_text": self.to_text_weight,
            "fitted_on": self.fitted_on,
        }
        if self.channel:
            tensors |= {"channel_gain": self.channel.gain, "channel_noise": self.channel.noise}
        if self.reach:
            least = torch.tensor(self.reach.least, dtype=torch.float64)
            tensors |= {"reach": self.reach.directions, "reach_least": least}
        sides = {
            side: {"unit": getattr(self, side).unit, "length": getattr(self, side).length}
            for side in ("text", "image")
        }
        folder.mkdir()
        weights = folder / "weights.safetensors"
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, weights)
        weights.chmod(0o666 & ~umask())  # save_file leaves it readable for its owner only
        write_json(folder / "bridge.json", {"format": FORMAT, "spaces": sides, "about": self.about})

    def save_pretrained(self, folder: PathLike, **options: Any) -> None:
        """A bridge folder with a card: sharing.save_pretrained."""
        from bridge import sharing

        sharing.save_pretrained(self, folder, **options)

    @classmethod
    def from_pretrained(cls, name: PathLike, **options: Any) -> "Bridge":
        """A bridge from a folder or the hub: sharing.from_pretrained."""
        from bridge import sharing

        return sharing.from_pretrained(name, **options)

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Upload to the hub: sharing.push_to_hub."""
        from bridge import sharing

        return sharing.push_to_hub(self, repo_id, **options)


def channel_in(weights: dict[str, Tensor]) -> Channel | None:
    if "channel_gain" not in weights:
        return None
    return Channel(weights["channel_gain"], weights["channel_noise"])


def reach_in(weights: dict[str, Tensor]) -> Reach | None:
    if "reach" not in weights:
        return None
    return Reach(weights["reach"], float(weights["reach_least"]))


def umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load(folder: PathLike) -> Bridge:
    """Read a bridge folder, or hub:OWNER/NAME; raises InputError if it is missing or damaged."""
    if str(folder).startswith("hub:"):
        return Bridge.from_pretrained(folder)
    folder = existing(folder, "bridge folder")
    try:
        card = json.loads((folder / "bridge.json").read_text(encoding="utf-8"))
        if card.get("format") != FORMAT:
            raise InputError(f"{folder}: expected format {FORMAT}, got {card.get('format')}")
        weights = load_file(folder / "weights.safetensors")
        text, image = (
            Space(weights[f"{side}_mean"], **card["spaces"][side]) for side in ("text", "image")
        )
        widths = len(text.mean), len(image.mean)
        if weights["to_image"].shape != widths or weights["to_text"].shape != widths[::-1]:
            raise ValueError(f"weights that do not fit means of widths {widths}")
        return Bridge(
            text,
            image,
            weights["to_image"],
            weights["to_text"],
            weights["fitted_on"],
            card["about"],
            channel_in(weights),
            reach_in(weights),
        )
    except InputError:
        raise
    except (OSError, LookupError, TypeError, AttributeError, ValueError, SafetensorError) as error:
        raise InputError(
            f"{folder}: expected a bridge folder (bridge.json and weights.safetensors), got "
            f"{type(error).__name__}: {error}; make one with `platobridge fit`"
        ) from error
