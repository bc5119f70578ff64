import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from conftest import WORDS
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from bridge.captions import Caption
from bridge.encode_text import text_encoder
from bridge.errors import InputError
from train.config import Model, Objective, Optim, Run, TrainConfig
from train.loop import run
from train.model import TextJepa, make_tokenizer
from train.schedules import warmup_cosine
from train.views import lay_out

CONFIG = TrainConfig(
    model=Model(size="tiny", vocabulary=80, max_tokens=16),
    optim=Optim(steps=6, batch=8),
    run=Run(save_every=2, log_every=1),
)
OBJECTIVES = {
    "good-views": Objective(),
    "bad-views": Objective(kind="bad-views", anticollapse="sigreg"),
    "next-token": Objective(kind="next-token"),
    "next-token beside": Objective(kind="next-token", beside_tokens=0.1),
}


class Stop(Exception):
    """Stands for a person's Ctrl-C."""


def changed(config: TrainConfig, **groups) -> TrainConfig:
    """The same settings but for some of some groups."""
    update = {name: getattr(config, name).model_copy(update=new) for name, new in groups.items()}
    return config.model_copy(update=update)


def captions(images: int = 20, each: int = 3) -> list[Caption]:
    """Every image has a pair of words of its own that all of its captions hold."""
    random = np.random.default_rng(0)
    made = []
    for image in range(images):
        own = [WORDS[image % 17], WORDS[(3 * image + 5) % 17]]
        for k in range(each):
            extra = list(random.choice(WORDS, random.integers(1, 6)))
            made.append(Caption(f"{image}.jpg", " ".join(own + extra), f"{image}#{k}"))
    return made


def metrics(folder) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def losses(folder) -> list[float]:
    return [record["loss"] for record in metrics(folder)]


def weights(encoder) -> dict[str, torch.Tensor]:
    return load_file(encoder / "model.safetensors")


def equal(first: dict, second: dict) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_exported_folder_gives_the_models_rows(tmp_path, name):
    config = CONFIG.model_copy(update={"objective": OBJECTIVES[name]})
    texts, seen = [caption.text for caption in captions()[:7]], {}
    encoder = run(
        config,
        captions(),
        out=tmp_path / "run",
        validate=lambda encode: seen.update(rows=encode(texts)) or {},
    )
    stock = AutoModel.from_pretrained(encoder, add_pooling_layer=False).eval()
    batch = AutoTokenizer.from_pretrained(encoder)(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = stock(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).last_hidden_state
    mask = batch["attention_mask"][:, :, None]
    rows = (hidden * mask).sum(1) / mask.sum(1)
    assert torch.allclose(rows, seen["rows"], atol=1e-5)
    ours = text_encoder(f"jepa:{encoder}", device="cpu")
    assert ours.about["pooling"] == "mean" and ours.about["max_tokens"] == 16
    assert torch.allclose(ours.encode(texts), rows, atol=1e-5)

    last = stock(input_ids=batch["input_ids"][:1]).last_hidden_state[0, 0]
    other = batch["input_ids"][:1].clone()
    other[0, -1] = 7
    sees_ahead = not torch.equal(stock(input_ids=other).last_hidden_state[0, 0], last)
    assert sees_ahead == (not name.startswith("next-token"))

    about = json.loads((encoder / "platobridge.json").read_text())
    assert about["projector"] == (name != "next-token")
    assert about["about"]["objective"] == name.split()[0]
    assert about["about"]["parameters"]["encoder"] == sum(p.numel() for p in stock.parameters())
    if about["projector"]:
        head = text_encoder(f"jepa:{encoder}", pooling="projector", device="cpu")
        assert head.encode(texts).shape == (7, 512)


def test_next_token_loss_is_a_sum_over_single_texts(tmp_path):
    """Another road: each text alone, token after token, by log-softmax."""
    made = captions()
    tokenizer = make_tokenizer(CONFIG.model, made)
    torch.manual_seed(0)
    model = TextJepa(
        CONFIG.model_copy(update={"objective": OBJECTIVES["next-token"]}), tokenizer
    ).eval()
    texts = [np.array(ids) for ids in tokenizer([c.text for c in made[:9]])["input_ids"]]
    found = model(lay_out(texts, 0, torch.device("cpu"))).cross_entropy
    table, total, count = model.backbone.embeddings.word_embeddings.weight, 0.0, 0
    for text in texts:
        for end in range(1, len(text)):
            seen = torch.tensor(text[None, :end], dtype=torch.long)
            state = model.backbone(input_ids=seen).last_hidden_state[0, -1]
            total -= float(torch.log_softmax(table @ state, 0)[text[end]].detach())
            count += 1
    assert float(found.detach()) == pytest.approx(total / count, rel=1e-4)


@pytest.mark.parametrize("stop_at", [1, 3, 5])
def test_an_interrupted_run_has_the_same_losses_to_the_last_bit(tmp_path, stop_at):
    def stop(done: int, _total: int) -> None:
        if done == stop_at:
            raise Stop

    config = changed(CONFIG, model={"dropout": 0.1, "predictor": "mlp"}, optim={"accumulate": 2})
    whole = run(config, captions(), out=tmp_path / "whole")
    with pytest.raises(Stop):
        run(config, captions(), out=tmp_path / "cut", progress=stop)
    notes = []
    resumed = run(config, captions(), out=tmp_path / "cut", note=notes.append)
    assert ("going on at step" in notes[0]) == (stop_at > 1)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert len(losses(tmp_path / "cut")) == 6 and len(set(losses(tmp_path / "cut"))) == 6
    assert equal(weights(whole), weights(resumed))


def test_checkpoints_rotate_and_a_broken_one_is_passed_over(tmp_path):
    def stop(done: int, _total: int) -> None:
        if done == 5:
            raise Stop

    config = changed(CONFIG, run={"save_every": 1, "keep": 2})
    whole = run(config, captions(), out=tmp_path / "whole")
    with pytest.raises(Stop):
        run(config, captions(), out=tmp_path / "cut", progress=stop)
    state = tmp_path / "cut" / "state"
    assert sorted(path.name for path in state.iterdir()) == ["step-4", "step-5"]
    (state / "step-5" / "state.safetensors").write_bytes(b"half")
    with (tmp_path / "cut" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "lo')
    notes = []
    resumed = run(config, captions(), out=tmp_path / "cut", note=notes.append)
    assert "going on at step 4" in notes[0]
    assert equal(weights(whole), weights(resumed))
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")


def test_finished_is_left_alone_and_other_settings_are_refused(tmp_path):
    encoder, notes = run(CONFIG, captions(), out=tmp_path / "run"), []
    before = (encoder / "model.safetensors").stat().st_mtime_ns
    often = changed(CONFIG, run={"log_every": 3})  # does not change the result
    assert run(often, captions(), out=tmp_path / "run", note=notes.append) == encoder
    assert "is finished" in notes[0]
    assert (encoder / "model.safetensors").stat().st_mtime_ns == before
    other = CONFIG.model_copy(update={"seed": 1})
    with pytest.raises(InputError, match="seed = 0, now seed = 1"):
        run(other, captions(), out=tmp_path / "run")
    with pytest.raises(InputError, match="made with captions = "):
        run(CONFIG, captions(images=21), out=tmp_path / "run")
    run(other, iter(captions()), out=tmp_path / "run", overwrite=True)
    assert (encoder / "model.safetensors").stat().st_mtime_ns > before


@pytest.mark.parametrize("anticollapse", ["vicreg", "sigreg"])
def test_training_pulls_captions_of_an_image_together(tmp_path, anticollapse):
    config = CONFIG.model_copy(update={"objective": Objective(anticollapse=anticollapse)})
    scores = []
    for steps in (40, 0):
        trained = changed(config, optim={"steps": steps, "batch": 16}, run={"save_every": 1000})
        folder = run(trained, captions(), out=tmp_path / str(steps))
        rows = text_encoder(f"jepa:{folder}", device="cpu").encode([c.text for c in captions()])
        rows = torch.nn.functional.normalize(rows - rows.mean(0))
        nearest = (rows @ rows.T).fill_diagonal_(-1).argmax(1)
        image = torch.arange(60) // 3
        scores.append(float((image[nearest] == image).float().mean()))
    assert scores[0] > scores[1] + 0.2, scores


def test_next_token_learns_to_predict(tmp_path):
    config = CONFIG.model_copy(update={"objective": OBJECTIVES["next-token"]})
    config = changed(config, optim={"steps": 40, "batch": 16}, run={"save_every": 1000})
    run(config, captions(), out=tmp_path / "run")
    found = losses(tmp_path / "run")
    assert found[0] == pytest.approx(
        np.log(80), abs=0.4
    )  # nothing known: as many as there are pieces
    assert found[-1] < found[0] - 1


def test_views_that_agree_on_one_row_are_called_a_collapse(tmp_path):
    config = changed(
        CONFIG,
        objective={"anticollapse": "none"},
        optim={"steps": 300, "batch": 16, "lr": 1e-2},
        run={"save_every": 1000},
    )
    with pytest.raises(
        InputError, match=r"the embeddings collapsed at step \d+: effective rank"
    ) as error:
        run(config, captions(), out=tmp_path / "run")
    assert "\n" not in str(error.value) and not (tmp_path / "run" / "encoder").exists()
    kept = changed(config, run={"collapse_rank": 0.0, "collapse_spread": 0.0}, optim={"steps": 20})
    run(kept, captions(), out=tmp_path / "other")


def test_metrics_say_what_a_run_does(tmp_path):
    heard, done = [], []
    config = changed(CONFIG, validation={"every": 4}, run={"log_every": 3, "save_every": 100})
    run(
        config,
        captions(),
        out=tmp_path / "run",
        validate=lambda encode: {"rows": float(len(encode(["a dog", "the cat"])))},
        report=heard.append,
        progress=lambda step, steps: done.append((step, steps)),
    )
    assert heard == metrics(tmp_path / "run") and done == [(k, 6) for k in range(1, 7)]
    assert [record["step"] for record in heard] == [0, 3, 5]
    assert ["validation.rows" in record for record in heard] == [False, True, True]
    first = heard[0]
    assert 1 <= first["effective_rank"] <= 128 and 0 < first["spread"] < 1
    assert 0 <= first["padding"] < 1 and first["tokens_per_second"] > 0 and first["single"] == 0
    assert first["lr"] == pytest.approx(1e-3) and heard[-1]["lr"] < first["lr"]


def test_schedule():
    shares = [warmup_cosine(step, 100, 0.1) for step in range(100)]
    assert shares[:10] == pytest.approx([0.1 * k for k in range(1, 11)])
    assert shares[10] == 1 and shares[55] == pytest.approx(0.5)
    assert all(0 < after < before for before, after in pairwise(shares[10:]))
    assert warmup_cosine(0, 1, 0.0) == 1


def test_bad_input(tmp_path):
    with pytest.raises(InputError, match="at least 8 images for a batch, got captions of 5"):
        run(CONFIG, captions(images=5), out=tmp_path / "run")
    wild = changed(CONFIG, optim={"lr": 1e18})
    with pytest.raises(
        InputError, match=r"not finite any more at step \d; lower optim\.lr = 1e\+18"
    ):
        run(wild, captions(), out=tmp_path / "wild")
    board = changed(CONFIG, run={"tensorboard": True})
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match="pip install tensorboard"):
            run(board, captions(), out=tmp_path / "board")


def test_half_precision_trains_alike(tmp_path):
    from accelerate.state import AcceleratorState

    config = changed(CONFIG, optim={"steps": 4, "batch": 16})
    run(config, captions(), out=tmp_path / "fp32")
    AcceleratorState._reset_state()  # a process has one precision; a test has two
    try:
        half = changed(config, optim={"precision": "bf16"})
        run(half, captions(), out=tmp_path / "bf16")
    finally:
        AcceleratorState._reset_state()
    found, expected = losses(tmp_path / "bf16"), losses(tmp_path / "fp32")
    assert found != expected and found == pytest.approx(expected, rel=0.02)


def test_run_and_validation_settings_do_not_count():
    assert TrainConfig().result().keys() == {"seed", "data", "model", "objective", "optim"}
