"""Decoders: what they write, that it does not depend on the batch, and their folders."""

import json

import pytest
import torch
from conftest import WORDS, embeddings

from bridge.decode import Candidate, CaptionModel, Decoder, Decoding, load_decoder, reranked
from bridge.errors import InputError
from bridge.memory import Memory

ABOUT = {"kind": "small", "encoder": {"name": "planted", "fingerprint": "f"}}
GREEDY = Decoding(beams=1, max_tokens=12)


def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate(["<end>", *(f"Ġ{word}" for word in WORDS)])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel()
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<end>")


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    """A language model of random weights that reads rows of width 8, and twelve memories."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    words = tokenizer()
    settings = GPT2Config(
        vocab_size=len(words),
        n_positions=40,
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
        initializer_range=0.4,  # so that what is likely depends on what came before
    )
    model = CaptionModel(GPT2LMHeadModel(settings), 8, 3, 0).eval().requires_grad_(False)
    rows = torch.randn(12, 8) + 1
    memory = Memory(embeddings(rows), [f"remembered {k}" for k in range(12)], rows.mean(0))
    about = ABOUT | {"prefix": {"positions": 3, "hidden": 0}}
    return Decoder(about, memory, model, words)


@pytest.fixture
def rows(decoder) -> torch.Tensor:
    return decoder.mean + torch.randn(9, 8, generator=torch.Generator().manual_seed(1))


def by_hand(decoder: Decoder, row: torch.Tensor, most: int) -> str:
    """Greedy decoding, a token at a time and without a cache."""
    model, ids = decoder.model, []
    while len(ids) < most:
        told = torch.tensor([[*ids, 0]])
        logits = model((row - decoder.mean)[None], told, torch.ones_like(told))[0, -1]
        if (best := int(logits.argmax())) == 0:
            break
        ids.append(best)
    return decoder.tokenizer.decode(ids).strip()


def texts(candidates) -> list[str]:
    return [candidate.text for some in candidates for candidate in some]


def test_generate_is_the_greedy_loop(decoder, rows):
    written = texts(decoder.captions(rows, GREEDY))
    assert written == [by_hand(decoder, row, 12) for row in rows]
    assert len(set(written)) > 3, "rows should make a difference"


def test_a_score_is_the_mean_log_probability(decoder, rows):
    (only,) = decoder.captions(rows[:1], GREEDY)
    ids = decoder.tokenizer(" " + only[0].text)["input_ids"][:12]
    told = torch.tensor([[*ids, 0]][:1])
    logits = decoder.model((rows[:1] - decoder.mean), told, torch.ones_like(told))
    each = logits.log_softmax(2).gather(2, told[:, :, None])[0, :, 0]
    ended = len(ids) < 12
    total = each.sum() if ended else each[:-1].sum()
    assert only[0].score == pytest.approx(float(total / (len(ids) + 1)), abs=1e-4)


@pytest.mark.parametrize("how", [GREEDY, Decoding(beams=4, max_tokens=12)])
def test_a_batch_writes_what_each_row_gets_alone(decoder, rows, how):
    together = texts(decoder.captions(rows, how))
    assert together == [texts(decoder.captions(row[None], how))[0] for row in rows]


def test_beams_find_likelier_captions(decoder, rows):
    how = Decoding(beams=5, max_tokens=12, length_penalty=1.0)
    several = list(decoder.captions(rows, how, count=3))
    assert all(len(some) == 3 for some in several)
    for some in several:
        scores = [candidate.score for candidate in some]
        assert scores == sorted(scores, reverse=True) or len(set(texts([some]))) == 3


def test_remembered_captions(decoder):
    row = decoder.memory.table.rows[[4]]
    (found,) = decoder.remembered(row, count=3)
    assert found[0] == Candidate("remembered 4", pytest.approx(1.0, abs=1e-5))
    only_memory = Decoder(ABOUT | {"kind": "nearest"}, decoder.memory)
    assert texts(only_memory.captions(row, Decoding(consensus=1))) == ["remembered 4"]


def test_consensus_is_the_caption_most_like_the_others():
    rows = torch.tensor([[1.0, 0.0], [0.9, 0.3], [0.9, 0.35], [0.9, 0.4], [-1.0, 0.0]])
    memory = Memory(embeddings(rows), list("abcde"), torch.zeros(2))
    decoder = Decoder(ABOUT | {"kind": "nearest"}, memory)
    query = torch.tensor([[1.0, 0.01]])
    assert texts(decoder.remembered(query)) == ["a"]
    assert texts(decoder.remembered(query, 4)) == ["b"]  # mean angle of a to d: 16 degrees, b 18


def test_projection_comes_before_writing(decoder, rows):
    projected = decoder.memory.project(rows)
    written = texts(decoder.captions(rows, Decoding(beams=1, max_tokens=12, project=True)))
    assert written == texts(decoder.captions(projected, GREEDY))


def test_projection_is_for_unpaired_bridges_and_decoders_without_noise(decoder):
    def projects(request, paired):
        return Decoder(ABOUT | {"request": request}, decoder.memory).projects(paired)

    assert projects({"cosine": 1.0, "bridge": None}, paired=False)
    assert not projects({"cosine": 1.0, "bridge": None}, paired=True)
    assert not projects({"cosine": 0.8, "bridge": None}, paired=False)
    assert not projects({"cosine": 1.0, "bridge": "digest"}, paired=False)


def test_reranking_prefers_the_caption_whose_row_is_nearest():
    candidates = [[Candidate("far", -0.1), Candidate("near", -0.9)]]
    place = {"far": [0.0, 1.0], "near": [1.0, 0.1]}
    row, mean = torch.tensor([[1.0, 0.0]]), torch.zeros(2)
    (best,) = reranked(candidates, row, mean, lambda some: torch.tensor([place[t] for t in some]))
    assert [candidate.text for candidate in best] == ["near", "far"]
    assert best[0].score > 0.9


def test_a_decoder_comes_back_from_its_folder(decoder, rows, tmp_path):
    decoder.save(tmp_path / "decoder")
    again = load_decoder(tmp_path / "decoder", device="cpu")
    assert texts(again.captions(rows, GREEDY)) == texts(decoder.captions(rows, GREEDY))
    assert again.about == decoder.about
    with pytest.raises(InputError, match="exists; name another folder"):
        decoder.save(tmp_path / "decoder")
    memory_only = Decoder(ABOUT | {"kind": "nearest"}, decoder.memory)
    memory_only.save(tmp_path / "nearest")
    assert load_decoder(tmp_path / "nearest").model is None


def test_rows_of_another_encoder_are_refused(decoder):
    decoder.check_encoder({"name": "anything", "fingerprint": "f"}, 8)
    decoder.check_encoder({"name": "planted"}, 8)
    with pytest.raises(InputError, match=r"reads rows of planted \(width 8\), got rows of other"):
        decoder.check_encoder({"name": "other", "fingerprint": "g"}, 8)
    with pytest.raises(InputError, match="width 9"):
        decoder.check_encoder({"name": "planted", "fingerprint": "f"}, 9)


def test_damaged_folders(decoder, tmp_path):
    with pytest.raises(InputError, match="no such decoder folder"):
        load_decoder(tmp_path / "none")
    decoder.save(tmp_path / "d")
    (tmp_path / "d" / "model.safetensors").write_bytes(b"half")
    with pytest.raises(InputError, match="expected a decoder folder, got"):
        load_decoder(tmp_path / "d")
    card = tmp_path / "d" / "platobridge.json"
    card.write_text(json.dumps({"format": "platobridge.decoder/9"}))
    with pytest.raises(InputError, match=r"expected format platobridge\.decoder/1"):
        load_decoder(tmp_path / "d")


def test_a_prefix_of_one_position_is_refused(decoder):
    with pytest.raises(InputError, match="at least 2 positions, got 1"):
        CaptionModel(decoder.model.language_model, 8, 1, 0)
