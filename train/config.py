"""Settings of a training run. `run` and `validation` do not change its result, the others do."""

from typing import Literal

from pydantic import Field

from bridge.config import Settings

SIZES = {  # layers, width, heads
    "tiny": (2, 128, 2),
    "small": (2, 256, 4),
    "11m": (4, 256, 4),
    "109m": (12, 768, 12),
}


class Data(Settings):
    captions: str | None = None  # a file, a folder of tar shards, or a pattern with *
    split: str | None = None


class Model(Settings):
    size: Literal["tiny", "small", "11m", "109m"] = "tiny"
    vocabulary: str | int = 8000  # most pieces to train, or a tokenizer: FOLDER, package:minilm
    max_tokens: int = Field(64, ge=4, le=512)
    dropout: float = Field(0.0, ge=0, lt=1)
    projector: int = Field(4, ge=0)  # width of the head in widths of the model; 0 for none
    predictor: Literal["none", "mlp"] = "none"  # from the first view's row to the second's


class VicReg(Settings):
    # Published for images: 25. A weaker pull keeps what captions tell by turns, see docs/log.md.
    invariance: float = Field(5.0, ge=0)
    variance: float = Field(25.0, ge=0)
    covariance: float = Field(1.0, ge=0)


class SigReg(Settings):
    weight: float = Field(0.05, ge=0, le=1)  # the agreement of the views has the rest of 1
    slices: int = Field(256, ge=1)


class Objective(Settings):
    kind: Literal["good-views", "bad-views", "next-token"] = "good-views"
    anticollapse: Literal["vicreg", "sigreg", "none"] = "vicreg"
    beside_tokens: float = Field(0.0, ge=0)  # weight of anticollapse in next-token, 0 for none
    mask: float = Field(0.5, gt=0, lt=1)  # share of a text's words masked in a bad view
    vicreg: VicReg = VicReg()
    sigreg: SigReg = SigReg()


class Optim(Settings):
    steps: int = Field(1000, ge=0)
    batch: int = Field(256, ge=2)  # images a draw over all processes, two texts each
    accumulate: int = Field(1, ge=1)  # draws a step; anti-collapse terms see one draw at a time
    lr: float = Field(1e-3, gt=0)
    warmup: float = Field(0.1, ge=0, le=1)  # share of the steps
    weight_decay: float = Field(0.05, ge=0)
    clip: float = Field(1.0, gt=0)  # largest norm of the gradient
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"


class Validation(Settings):
    captions: str | None = None  # captions of images that are not trained on
    split: str | None = None
    images: str | None = None  # embeddings of their images, for mutual 10-NN
    every: int = Field(200, ge=1)  # steps


class Run(Settings):
    save_every: int = Field(200, ge=1)
    keep: int = Field(2, ge=1)  # checkpoints
    log_every: int = Field(10, ge=1)
    tensorboard: bool = False
    collapse_rank: float = Field(1.5, ge=0)  # stop below this effective rank, 0 for never
    collapse_spread: float = Field(0.01, ge=0)  # or where rows differ by less than this share


class Writer(Settings):
    kind: Literal["nearest", "small", "gpt2"] = "small"
    size: Literal["tiny", "2m", "5m"] | None = None  # of small; by default 5m on a GPU, else 2m
    dropout: float = Field(0.1, ge=0, lt=1)  # of small
    positions: int = Field(4, ge=2)  # of the prefix
    max_tokens: int = Field(40, ge=4, le=512)
    language_model: str | None = None  # of gpt2: a name on the hub, or a folder
    tuned: bool = True  # of gpt2: train its weights too, not only the prefix


class DecoderOptim(Optim):
    steps: int = Field(0, ge=0)  # 0: as many as the epochs take
    epochs: float = Field(10.0, gt=0)
    batch: int = Field(128, ge=1)  # captions


class DecoderConfig(Settings):
    seed: int = Field(0, ge=0)
    writer: Writer = Writer()
    cosine: float = Field(0.8, gt=0, le=1)  # that noise leaves of a row; with a bridge its errors
    smoothing: float = Field(0.1, ge=0, lt=1)  # of the labels
    remember: int = Field(100_000, ge=1)  # most captions in the memory
    optim: DecoderOptim = DecoderOptim()
    run: Run = Run()

    def result(self) -> dict:
        """The settings that can change the trained decoder, as plain values."""
        return self.model_dump(mode="json", exclude={"run"})


class TrainConfig(Settings):
    seed: int = Field(0, ge=0)
    data: Data = Data()
    model: Model = Model()
    objective: Objective = Objective()
    optim: Optim = Optim()
    validation: Validation = Validation()
    run: Run = Run()

    def result(self) -> dict:
        """The settings that can change the trained encoder, as plain values."""
        return self.model_dump(mode="json", exclude={"run", "validation"})
