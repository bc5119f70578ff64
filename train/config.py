"""Settings of a training run. All but `run` can change its result."""

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
    captions: str | None = None
    split: str | None = None


class Model(Settings):
    size: Literal["tiny", "small", "11m", "109m"] = "tiny"
    vocabulary: str | int = 8000  # size of a WordPiece vocabulary to train, or a tokenizer's folder
    max_tokens: int = Field(64, ge=4, le=512)
    dropout: float = Field(0.0, ge=0, lt=1)
    projector: int = Field(4, ge=0)  # hidden width in widths of the model; 0 for none


class Objective(Settings):
    invariance: float = Field(25.0, ge=0)  # VICReg's three weights
    variance: float = Field(25.0, ge=0)
    covariance: float = Field(1.0, ge=0)


class Optim(Settings):
    steps: int = Field(1000, ge=0)
    batch: int = Field(256, ge=2)  # images a step, two texts each
    lr: float = Field(1e-3, gt=0)
    warmup: float = Field(0.1, ge=0, le=1)  # share of the steps
    weight_decay: float = Field(0.05, ge=0)
    clip: float = Field(1.0, gt=0)


class Run(Settings):
    chunk: int = Field(64, ge=1)  # texts that go through the model together
    save_every: int = Field(200, ge=1)
    log_every: int = Field(10, ge=1)


class TrainConfig(Settings):
    seed: int = 0
    data: Data = Data()
    model: Model = Model()
    objective: Objective = Objective()
    optim: Optim = Optim()
    run: Run = Run()
