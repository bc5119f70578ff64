import json

import numpy as np
import pytest
import timm
import torch
from conftest import WORDS
from PIL import Image
from safetensors.torch import save_file

from bridge.encode_text import pool_text, text_encoder, text_encoder_of
from bridge.encode_vision import vision_encoder, vision_encoder_of
from bridge.encoders import fingerprint
from bridge.errors import InputError

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), dtype=np.uint8))
TEXTS = ["the red dog runs", "cat", "a small old boat sits near the blue water", "sheep on grass"]


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    """timm's smallest vision transformer with random weights, and its checkpoint file."""
    torch.manual_seed(0)
    model = timm.create_model("test_vit", pretrained=False, num_classes=0).eval()
    file = tmp_path_factory.mktemp("vit") / "vit.safetensors"
    save_file(model.state_dict(), file)
    return model, file


def rows(encoder, picture=PICTURE):
    return encoder(encoder.prepare(picture)[None])


def test_timm_checkpoint_gives_timms_own_features(vit):
    model, file = vit
    encoder = vision_encoder("timm:test_vit", weights=file, device="cpu")
    config = timm.data.resolve_model_data_config(model)
    transform = timm.data.create_transform(**config, is_training=False)
    with torch.no_grad():
        expected = model(transform(PICTURE)[None])
    assert torch.allclose(rows(encoder), expected, atol=1e-5)
    assert encoder.about["fingerprint"] == fingerprint(model)
    assert encoder.about["image_size"] == 160


def test_timm_poolings(vit):
    model, file = vit
    got = {
        pooling: rows(vision_encoder("timm:test_vit", weights=file, pooling=pooling, device="cpu"))
        for pooling in ("cls", "mean", "cls+mean")
    }
    encoder = vision_encoder("timm:test_vit", weights=file, device="cpu")
    with torch.no_grad():
        tokens = model.forward_features(encoder.prepare(PICTURE)[None])
    assert torch.allclose(got["cls"], tokens[:, 0], atol=1e-5)
    assert torch.allclose(got["mean"], tokens[:, 1:].mean(1), atol=1e-5)
    assert torch.equal(got["cls+mean"], torch.cat([got["cls"], got["mean"]], 1))


def test_image_size_reaches_a_transformer_and_a_network(vit):
    _, file = vit
    encoder = vision_encoder("timm:test_vit", weights=file, image_size=96, device="cpu")
    assert encoder.prepare(PICTURE).shape == (3, 96, 96) and encoder.about["image_size"] == 96
    assert rows(encoder).shape == (1, 64)
    lite = vision_encoder("package:efficientnet-lite0", image_size=96, device="cpu")
    assert lite.prepare(PICTURE).shape == (3, 96, 96) and rows(lite).shape == (1, 1280)


def test_squash_keeps_the_borders_that_a_crop_cuts():
    framed = Image.new("RGB", (300, 224), "black")
    framed.paste("white", (0, 0, 20, 224))
    model = vision_encoder("package:efficientnet-lite0", device="cpu").prepare(framed)
    squashed = vision_encoder("package:efficientnet-lite0", resize="squash", device="cpu")
    assert model.max() < 0 < squashed.prepare(framed).max()


def test_squash_leaves_a_square_of_the_right_size_alone():
    square = Image.fromarray(np.asarray(PICTURE.resize((224, 224))))
    pixels = vision_encoder("package:efficientnet-lite0", resize="squash", device="cpu").prepare(
        square
    )
    assert np.allclose(pixels.permute(1, 2, 0) * 127.5 + 127.5, np.asarray(square), atol=1e-3)


def test_package_network_pools_its_own_feature_map():
    default = vision_encoder("package:efficientnet-lite0", device="cpu")
    mean = vision_encoder("package:efficientnet-lite0", pooling="mean", device="cpu")
    assert torch.allclose(rows(default), rows(mean), atol=1e-4)
    with pytest.raises(InputError, match="needs a class token"):
        vision_encoder("package:efficientnet-lite0", pooling="cls", device="cpu")


def test_timm_folder(vit, tmp_path):
    model, file = vit
    timm.models.save_for_hf(model, tmp_path / "vit", safe_serialization=True)
    encoder = vision_encoder(str(tmp_path / "vit"), device="cpu")
    same = vision_encoder("timm:test_vit", weights=file, device="cpu")
    assert torch.allclose(rows(encoder), rows(same), atol=1e-5)
    assert encoder.about["name"] == f"timm:{tmp_path / 'vit'}"


@pytest.fixture(scope="module")
def dino(tmp_path_factory):
    from transformers import BitImageProcessor, Dinov2Config, Dinov2Model

    folder = tmp_path_factory.mktemp("dino") / "dino"
    torch.manual_seed(0)
    config = Dinov2Config(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=56, patch_size=14
    )
    Dinov2Model(config).save_pretrained(folder)
    BitImageProcessor(
        size={"shortest_edge": 64}, crop_size={"height": 56, "width": 56}
    ).save_pretrained(folder)
    return folder


def test_transformers_vision_folder(dino):
    from transformers import AutoImageProcessor, AutoModel

    pixels = AutoImageProcessor.from_pretrained(dino)(images=PICTURE, return_tensors="pt")
    with torch.no_grad():
        hidden = AutoModel.from_pretrained(dino).eval()(**pixels).last_hidden_state
    got = rows(vision_encoder(str(dino), device="cpu"))
    assert torch.allclose(got, hidden[:, 0], atol=1e-5)
    got = rows(vision_encoder(f"hf:{dino}", pooling="cls+mean", device="cpu"))
    expected = torch.cat([hidden[:, 0], hidden[:, 1:].mean(1)], 1)
    assert torch.allclose(got, expected, atol=1e-5)
    bigger = vision_encoder(str(dino), image_size=84, resize="squash", device="cpu")
    assert bigger.prepare(PICTURE).shape == (3, 84, 84) and rows(bigger).shape == (1, 32)


def test_transformers_models_without_a_class_token(tmp_path):
    from transformers import SiglipImageProcessor, SiglipVisionConfig, SiglipVisionModel

    config = SiglipVisionConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        image_size=32, patch_size=16,
    )  # fmt: skip
    SiglipVisionModel(config).save_pretrained(tmp_path / "siglip")
    SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(tmp_path / "siglip")
    encoder = vision_encoder(str(tmp_path / "siglip"), device="cpu")
    model = SiglipVisionModel.from_pretrained(tmp_path / "siglip").eval()
    with torch.no_grad():
        hidden = model(encoder.prepare(PICTURE)[None]).last_hidden_state
    assert torch.allclose(rows(encoder), hidden.mean(1), atol=1e-5)
    assert encoder.about["pooling"] == "mean"
    with pytest.raises(InputError, match="needs a class token"):
        vision_encoder(str(tmp_path / "siglip"), pooling="cls", device="cpu")


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
@pytest.mark.parametrize("layer", [None, 0, 1, -1])
def test_padding_does_not_change_a_text(text_model, pooling, layer):
    encoder = text_encoder(f"hf:{text_model}", pooling=pooling, layer=layer, device="cpu")
    together = encoder.encode(TEXTS)
    alone = torch.cat([encoder.encode([text]) for text in TEXTS])
    assert torch.allclose(together, alone, atol=1e-5)


def test_text_rows_are_the_models_own(text_model):
    from transformers import AutoModel, AutoTokenizer

    batch = AutoTokenizer.from_pretrained(text_model)(TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        hidden = AutoModel.from_pretrained(text_model).eval()(
            input_ids=batch["input_ids"], output_hidden_states=True
        )
    encoder = text_encoder(str(text_model), device="cpu")
    assert torch.allclose(
        encoder.encode(TEXTS[:1])[0], hidden.last_hidden_state[0].mean(0), atol=1e-5
    )
    first = text_encoder(str(text_model), layer=0, device="cpu")
    assert torch.allclose(first.encode(TEXTS[:1])[0], hidden.hidden_states[0][0].mean(0), atol=1e-5)
    assert encoder.about["pooling"] == "mean" and encoder.about["layer"] is None


def test_pool_text_by_hand():
    hidden = torch.tensor([[[1.0], [3.0], [100.0]], [[2.0], [4.0], [9.0]]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert pool_text(hidden, mask, "mean").tolist() == [[2.0], [5.0]]
    assert pool_text(hidden, mask, "last").tolist() == [[3.0], [9.0]]
    assert pool_text(hidden, mask, "cls").tolist() == [[1.0], [2.0]]


def test_a_folder_says_how_it_is_pooled(text_model, tmp_path):
    import shutil

    folder = shutil.copytree(text_model, tmp_path / "st")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert text_encoder(str(folder), device="cpu").about["pooling"] == "cls"
    (folder / "platobridge.json").write_text(json.dumps({"pooling": "last"}))
    assert text_encoder(str(folder), device="cpu").about["pooling"] == "last"


def test_long_texts_are_cut_at_the_limit(text_model):
    encoder = text_encoder(str(text_model), max_tokens=4, device="cpu")
    assert [len(t) for t in encoder.tokenize([" ".join(WORDS), "dog"])] == [4, 1]


def test_bfloat16_is_close_and_counts_as_the_same_weights(text_model):
    full = text_encoder(str(text_model), device="cpu")
    half = text_encoder(str(text_model), dtype="bf16", device="cpu")
    assert torch.allclose(full.encode(TEXTS), half.encode(TEXTS), atol=0.05)
    assert full.about["fingerprint"] == half.about["fingerprint"]


def test_fingerprints_tell_weights_apart(text_model):
    encoder = text_encoder(str(text_model), device="cpu")
    torch.manual_seed(1)
    from transformers import AutoConfig, BertModel

    other = BertModel(AutoConfig.from_pretrained(text_model), add_pooling_layer=False)
    assert fingerprint(other) != encoder.about["fingerprint"]


@pytest.mark.parametrize(
    ("spec", "settings", "message"),
    [
        ("timm:vit_bse_patch14", {}, "timm has no model 'vit_bse_patch14'"),
        ("nothing", {}, "expected an encoder as timm:NAME or hf:NAME or package:NAME"),
        ("package:lite9", {}, "expected package:efficientnet-lite0"),
        ("package:efficientnet-lite0", {"pooling": "max"}, "expected pooling of default, cls"),
        ("package:efficientnet-lite0", {"resize": "crop"}, "expected resize of model, squash"),
        ("package:efficientnet-lite0", {"dtype": "fp8"}, "expected dtype of fp32, bf16, fp16"),
        ("package:efficientnet-lite0", {"device": "tpu"}, "device 'tpu' cannot be used here"),
        ("package:efficientnet-lite0", {"weights": "x"}, "--weights goes with timm:NAME"),
        ("timm:test_vit", {"weights": "none.safetensors"}, "no such checkpoint file"),
    ],
)
def test_bad_vision_settings(spec, settings, message):
    with pytest.raises(InputError, match=message):
        vision_encoder(spec, **{"device": "cpu"} | settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": 3}, "expected a layer from -3 to 2"),
        ({"pooling": "max"}, "expected pooling of default, mean"),
        ({"max_tokens": 99}, "expected --max-tokens from 2 to 32"),
    ],
)
def test_bad_text_settings(text_model, settings, message):
    with pytest.raises(InputError, match=message):
        text_encoder(str(text_model), device="cpu", **settings)


def test_encoders_are_reopened_with_the_settings_that_were_noted(text_model, vit):
    text = text_encoder(f"hf:{text_model}", layer=1, pooling="cls", max_tokens=8, device="cpu")
    again = text_encoder_of(text.about, device="cpu")
    assert again.about == text.about
    assert torch.equal(again.encode(TEXTS), text.encode(TEXTS))
    vision = vision_encoder("timm:test_vit", weights=vit[1], pooling="mean", image_size=80)
    assert torch.equal(rows(vision_encoder_of(vision.about)), rows(vision))


def test_what_cannot_be_reopened(text_model):
    noted = text_encoder(f"hf:{text_model}", device="cpu").about
    with pytest.raises(InputError, match="has changed: its weights have fingerprint"):
        text_encoder_of(noted | {"fingerprint": "0"}, device="cpu")
    with pytest.raises(InputError, match=r"imported \(lite0\).* --image-encoder"):
        vision_encoder_of({"name": "lite0"}, device="cpu")


def test_an_empty_jepa_folder(tmp_path):
    with pytest.raises(InputError, match="expected an encoder folder"):
        text_encoder(f"jepa:{tmp_path}", device="cpu")


def test_a_model_that_no_hub_gives(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError, match="neither on this machine nor could the hub be reached"
    ) as e:
        text_encoder("hf:nobody/nothing", device="cpu")
    assert "\n" not in str(e.value)


@pytest.mark.realdata
def test_lite0_agrees_with_stored_features(data_folder):
    """The stored rows come from the originals, the files are JPEGs of them: close, not equal."""
    from safetensors.torch import load_file

    from bridge.images import read_image

    folder = data_folder / "flickr8k"
    stored = load_file(folder / "images_lite0.safetensors")["rows"].float()
    ids = (folder / "images_lite0.ids.txt").read_text().split()
    files = sorted((folder / "images").iterdir())[:24]
    encoder = vision_encoder("package:efficientnet-lite0", resize="squash", device="cpu")
    got = encoder(torch.stack([encoder.prepare(read_image(file)) for file in files]))
    expected = stored[[ids.index(file.name) for file in files]]
    cosines = torch.nn.functional.normalize(got) @ torch.nn.functional.normalize(expected).T
    assert cosines.diag().mean() > 0.94
    assert torch.equal(cosines.argmax(1), torch.arange(24))
