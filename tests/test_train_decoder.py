"""Training decoders: that they learn, resume to the bit, and say what is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import WORDS

from bridge import embeddings, fitting
from bridge.captions import Caption, write_captions
from bridge.decode import Decoding, load_decoder
from bridge.embed import embed_captions
from bridge.embeddings import Embeddings
from bridge.encode_text import text_encoder
from bridge.errors import InputError
from train import state
from train.config import DecoderConfig, DecoderOptim, Run, Writer
from train.decoder import byte_pairs, open_texts, run

NOUNS, PLACES = ["dog", "cat", "sheep", "boat"], ["grass", "water", "house"]


def told() -> list[Caption]:
    """48 images of a thing at a place, each told four times."""
    captions = []
    for index in range(48):
        noun, place = NOUNS[index % 4], PLACES[index // 4 % 3]
        for k, start in enumerate(["a", "the", "the old", "a small"]):
            text = f"{start} {noun} sits near the {place}"
            captions.append(Caption(f"{index}.jpg", text, f"{index}.jpg#{k}"))
    return captions


@pytest.fixture(scope="module")
def captions(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("told") / "captions.jsonl"
    write_captions(file, told())
    return file


def config(steps=40, **differs) -> DecoderConfig:
    optim = DecoderOptim(steps=steps, batch=16, lr=3e-3)
    return DecoderConfig(**({"optim": optim, "run": Run(save_every=10)} | differs))


def train(captions, text_model, out, settings=None, **options) -> Path:
    encoder = text_encoder(f"hf:{text_model}", device="cpu")
    return run(settings or config(), captions, encoder, out=out, device="cpu", **options)


def test_a_decoder_learns_to_tell_rows_apart(captions, text_model, tmp_path):
    losses = []
    settings = config(150, cosine=1.0, writer=Writer(dropout=0.0))
    folder = train(
        captions, text_model, tmp_path / "d", settings, report=lambda r: losses.append(r["loss"])
    )
    assert losses[-1] < 0.5 * losses[0]
    decoder = load_decoder(folder, device="cpu")
    rows = text_encoder(f"hf:{text_model}", device="cpu").encode(
        [f"the {noun} sits near the {place}" for noun in NOUNS for place in PLACES]
    )
    written = [some[0].text for some in decoder.captions(rows, Decoding(beams=1))]
    right = [
        noun in text and place in text
        for text, (noun, place) in zip(
            written, ((n, p) for n in NOUNS for p in PLACES), strict=True
        )
    ]
    assert sum(right) >= 8, written  # of 12; chance is 1
    assert len(decoder.memory) == 192
    assert not folder.with_name("d.partial").exists()


def weights(folder: Path) -> dict[str, torch.Tensor]:
    decoder = load_decoder(folder, device="cpu")
    return decoder.model.state_dict()


class Stop(Exception):
    pass


def test_an_interrupted_run_ends_with_the_same_weights(captions, text_model, tmp_path):
    def stop(done, total):
        if done == 25:
            raise Stop

    whole = train(captions, text_model, tmp_path / "whole")
    with pytest.raises(Stop):
        train(captions, text_model, tmp_path / "halted", progress=stop)
    assert not (tmp_path / "halted").exists()
    assert len(state.checkpoints(tmp_path / "halted.partial" / "state")) == 2
    halted = train(captions, text_model, tmp_path / "halted")
    first, second = weights(whole), weights(halted)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_finished_decoder_is_left_alone(captions, text_model, tmp_path):
    notes = []
    folder = train(captions, text_model, tmp_path / "d", config(2))
    before = (folder / "model.safetensors").stat().st_mtime_ns
    train(captions, text_model, folder, config(2), note=notes.append)
    assert "already made" in notes[0]
    with pytest.raises(InputError, match=r"made with optim.steps = 2, now optim.steps = 3"):
        train(captions, text_model, folder, config(3))
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    train(captions, text_model, folder, config(3), overwrite=True)
    assert load_decoder(folder).about["steps"] == 3


def test_epochs_give_the_steps(captions, text_model, tmp_path):
    optim = DecoderOptim(epochs=0.5, batch=16)
    folder = train(captions, text_model, tmp_path / "d", DecoderConfig(optim=optim))
    assert load_decoder(folder).about["steps"] == 6


def test_only_a_memory(captions, text_model, tmp_path):
    settings = DecoderConfig(writer=Writer(kind="nearest"), remember=100)
    folder = train(captions, text_model, tmp_path / "d", settings)
    decoder = load_decoder(folder)
    assert decoder.model is None and len(decoder.memory) == 100
    assert not (folder / "model.safetensors").exists()


def test_a_given_language_model(captions, text_model, tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = byte_pairs((caption.text for caption in told()), 300)
    settings = GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=1, n_head=2)
    settings.eos_token_id = settings.bos_token_id = tokenizer.eos_token_id
    GPT2LMHeadModel(settings).save_pretrained(tmp_path / "lm")
    tokenizer.save_pretrained(tmp_path / "lm")
    given = Writer(kind="gpt2", language_model=str(tmp_path / "lm"), tuned=False)
    folder = train(captions, text_model, tmp_path / "d", config(5, writer=given))
    decoder = load_decoder(folder, device="cpu")
    kept = GPT2LMHeadModel.from_pretrained(tmp_path / "lm").state_dict()
    found = decoder.model.language_model.state_dict()
    assert all(torch.equal(found[name], kept[name]) for name in kept), "a frozen model moved"
    rows = decoder.memory.table.rows[:2].float()
    assert all(some[0].text for some in decoder.captions(rows))
    with pytest.raises(InputError, match=r"needs writer.language_model"):
        train(captions, text_model, tmp_path / "e", config(5, writer=Writer(kind="gpt2")))


def pair(captions, text_model, folder: Path):
    """Text rows of the captions, and a bridge to images that are a linear map of them."""
    encoder = text_encoder(f"hf:{text_model}", device="cpu")
    text = embed_captions(captions, encoder, folder / "text.safetensors")
    means = embeddings.image_means(text)
    generator = torch.Generator().manual_seed(0)
    rows = means.rows @ torch.randn(16, 10, generator=generator)
    rows += 0.1 * rows.std() * torch.randn(rows.shape, generator=generator)
    image = Embeddings(rows, means.ids, means.image_ids, {"encoder": {"name": "pictures"}})
    return text, image, fitting.fit(text, image)


def test_a_bridge_gives_its_channel_and_mean(captions, text_model, tmp_path):
    *_, bridge = pair(captions, text_model, tmp_path)
    bridge.save(tmp_path / "bridge")
    given = {"bridge": tmp_path / "bridge", "text": tmp_path / "text.safetensors"}
    folder = train(captions, text_model, tmp_path / "d", config(60), **given)
    decoder = load_decoder(folder, device="cpu")
    assert torch.equal(decoder.mean, bridge.text.mean)
    bridge.about["text"]["encoder"]["fingerprint"] = "other"
    bridge.save(tmp_path / "foreign")
    with pytest.raises(InputError, match="this bridge was fitted on text rows of"):
        train(captions, text_model, tmp_path / "e", **(given | {"bridge": tmp_path / "foreign"}))


def test_the_row_of_a_caption_is_the_mean_of_the_others(captions, text_model, tmp_path):
    text, _, _ = pair(captions, text_model, tmp_path)
    shuffled = text.take(np.random.default_rng(0).permutation(len(text)).tolist())
    texts = open_texts(tmp_path, shuffled, captions, None)
    found = texts.others(np.array([5, 0]))
    own = {caption_id: row for row, caption_id in enumerate(text.ids)}
    expected = [
        torch.stack([text.rows[own[f"{image}.jpg#{k}"]] for k in range(4) if k != left]).mean(0)
        for image, left in ((1, 1), (0, 0))
    ]
    assert torch.allclose(found, torch.stack(expected), atol=1e-6)


def test_captions_without_rows(captions, text_model, tmp_path):
    text, _, _ = pair(captions, text_model, tmp_path)
    embeddings.save(text.take(range(100)), tmp_path / "few.safetensors")
    with pytest.raises(InputError, match="92 of 192 captions have no row among the text emb"):
        train(captions, text_model, tmp_path / "d", text=tmp_path / "few.safetensors")


def test_byte_pairs_are_the_same_twice():
    texts = [f"{a} {b} {c}" for a in WORDS for b in WORDS for c in WORDS[:5]]
    first, second = (byte_pairs(iter(texts), 400) for _ in range(2))
    assert first.backend_tokenizer.to_str() == second.backend_tokenizer.to_str()
    for text in ("a dog", "Émigré 🐶 dogs"):
        assert first.decode(first(text)["input_ids"]).strip() == text


def test_a_folder_that_is_no_decoder_is_kept(captions, text_model, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="is no decoder folder, and is not replaced"):
        train(captions, text_model, tmp_path / "d", overwrite=True)
    assert json.dumps((tmp_path / "d" / "thesis.txt").read_text()) == '"years of work"'
