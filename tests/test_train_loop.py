import json

import numpy as np
import pytest
import torch
from conftest import WORDS
from safetensors.torch import load_file

from bridge.captions import Caption
from bridge.encode_text import text_encoder
from bridge.errors import InputError
from train.config import Model, Objective, Optim, Run, TrainConfig
from train.data import good_views, tokenize
from train.loop import run
from train.model import embed, make_model, make_tokenizer

CONFIG = TrainConfig(
    model=Model(size="tiny", vocabulary=60, max_tokens=16),
    optim=Optim(steps=6, batch=8),
    run=Run(save_every=2, log_every=1, chunk=5),
)


class Stop(Exception):
    """Stands for a person's Ctrl-C."""


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


def losses(folder) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_the_exported_encoder_gives_the_models_rows(tmp_path):
    encoder = run(CONFIG, captions(), out=tmp_path / "run")
    loaded = text_encoder(f"jepa:{encoder}", device="cpu")
    assert loaded.about["pooling"] == "mean" and loaded.about["max_tokens"] == 16
    texts = [caption.text for caption in captions()[:7]]
    rows = loaded.encode(texts)
    model = make_model(CONFIG.model, loaded_vocabulary(encoder), CONFIG.seed)
    model.backbone.load_state_dict(load_file(encoder / "model.safetensors"))
    model.eval()
    tokens = [np.array(ids) for ids in loaded.tokenize(texts)]
    assert torch.allclose(embed(model, tokens, 3, torch.device("cpu"))[0], rows, atol=1e-5)
    head = text_encoder(f"jepa:{encoder}", pooling="projector", device="cpu")
    assert head.encode(texts).shape == (7, 512)


def loaded_vocabulary(encoder) -> int:
    return json.loads((encoder / "config.json").read_text())["vocab_size"]


@pytest.mark.parametrize("stop_at", [1, 3, 5])
def test_an_interrupted_run_has_the_same_losses_to_the_last_bit(tmp_path, stop_at):
    def stop(done: int, _total: int) -> None:
        if done == stop_at:
            raise Stop

    whole = run(CONFIG, captions(), out=tmp_path / "whole")
    with pytest.raises(Stop):
        run(CONFIG, captions(), out=tmp_path / "cut", progress=stop)
    resumed = run(CONFIG, captions(), out=tmp_path / "cut")
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole") and len(losses(tmp_path / "cut")) == 6
    for name, tensor in load_file(whole / "model.safetensors").items():
        assert torch.equal(tensor, load_file(resumed / "model.safetensors")[name])


def test_finished_is_left_alone_and_other_settings_are_refused(tmp_path):
    encoder = run(CONFIG, captions(), out=tmp_path / "run")
    before = (encoder / "model.safetensors").stat().st_mtime_ns
    assert run(CONFIG, captions(), out=tmp_path / "run") == encoder
    assert (encoder / "model.safetensors").stat().st_mtime_ns == before
    other = CONFIG.model_copy(update={"seed": 1})
    with pytest.raises(InputError, match="seed = 0, now seed = 1"):
        run(other, captions(), out=tmp_path / "run")
    run(other, captions(), out=tmp_path / "run", overwrite=True)
    assert (encoder / "model.safetensors").stat().st_mtime_ns > before


def test_training_pulls_captions_of_an_image_together(tmp_path):
    longer = CONFIG.model_copy(
        update={"optim": Optim(steps=60, batch=16), "run": Run(save_every=1000)}
    )
    untrained = CONFIG.model_copy(update={"optim": Optim(steps=0, batch=16)})
    scores = []
    for name, config in (("trained", longer), ("untrained", untrained)):
        encoder = text_encoder(f"jepa:{run(config, captions(), out=tmp_path / name)}", device="cpu")
        rows = encoder.encode([caption.text for caption in captions()])
        rows = torch.nn.functional.normalize(rows - rows.mean(0))
        nearest = (rows @ rows.T).fill_diagonal_(-1).argmax(1)
        image = torch.arange(60) // 3
        scores.append(float((image[nearest] == image).float().mean()))
    assert scores[0] > scores[1] + 0.2, scores


def test_views_are_two_texts_of_one_image_and_depend_on_seed_and_step_only():
    made = captions()
    tokenizer = make_tokenizer(CONFIG.model, [caption.text for caption in made])
    tokens = tokenize(made, tokenizer, 16)
    views = good_views(tokens, 8, seed=0, step=3)
    assert (views // 3 == views[:, :1] // 3).all() and (views[:, 0] != views[:, 1]).all()
    assert len(set(views[:, 0] // 3)) == 8
    assert np.array_equal(views, good_views(tokens, 8, seed=0, step=3))
    assert not np.array_equal(views, good_views(tokens, 8, seed=0, step=4))
    single = tokenize(captions(each=1), tokenizer, 16)
    views = good_views(single, 8, seed=0, step=0)
    assert (views[:, 0] == views[:, 1]).all()


def test_chunks_and_padding_do_not_change_rows():
    made = captions()
    tokenizer = make_tokenizer(CONFIG.model, [caption.text for caption in made])
    tokens = tokenize(made, tokenizer, 16)
    model = make_model(CONFIG.model, len(tokenizer), 0).eval()
    texts = [tokens.text(i) for i in range(20)]
    together, padding = embed(model, texts, 4, torch.device("cpu"))
    alone = torch.cat([embed(model, [text], 1, torch.device("cpu"))[0] for text in texts])
    assert torch.allclose(together, alone, atol=1e-5) and 0 <= padding < 0.25


def test_bad_settings(tmp_path):
    few = captions(images=5)
    with pytest.raises(InputError, match="at least 8 images for a batch, got captions of 5"):
        run(CONFIG, few, out=tmp_path / "run")
    wild = CONFIG.model_copy(
        update={"optim": Optim(steps=6, batch=8, lr=1e18), "objective": Objective()}
    )
    with pytest.raises(InputError, match="lower optim.lr"):
        run(wild, captions(), out=tmp_path / "wild")
    with pytest.raises(InputError, match="no tokenizer at"):
        make_tokenizer(Model(vocabulary=str(tmp_path)), [])
