import numpy as np
import pytest
from PIL import Image

from bridge.errors import InputError
from bridge.images import find_images, read_image

GRADIENT = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4  # bright at the bottom right


def mean_of(path) -> list[float]:
    return np.asarray(read_image(path), dtype=float).mean((0, 1)).tolist()


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.avif", "a.bmp", "a.tif", "a.gif"])
def test_every_format_gives_the_same_picture(tmp_path, name):
    pixels = np.full((32, 32, 3), (200, 100, 50), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / name)
    assert read_image(tmp_path / name).mode == "RGB"
    assert mean_of(tmp_path / name) == pytest.approx([200, 100, 50], abs=6)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_rotation_is_applied(tmp_path, orientation):
    turned = {
        1: lambda a: a,
        2: np.fliplr,
        3: lambda a: np.rot90(a, 2),
        4: np.flipud,
        5: np.transpose,
        6: lambda a: np.rot90(a, 1),
        7: lambda a: np.rot90(a.T, 2),
        8: lambda a: np.rot90(a, 3),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = np.ascontiguousarray(turned(GRADIENT[:, :6]))
    Image.fromarray(stored).save(tmp_path / "x.png", exif=exif)
    assert np.array_equal(np.asarray(read_image(tmp_path / "x.png"))[..., 0], GRADIENT[:, :6])


def test_sixteen_bits_are_scaled_not_clipped(tmp_path):
    Image.fromarray(GRADIENT.astype(np.uint16) * 257).save(tmp_path / "x.png")
    assert np.array_equal(np.asarray(read_image(tmp_path / "x.png"))[..., 1], GRADIENT)


def test_floats_take_their_own_range(tmp_path):
    Image.fromarray(GRADIENT.astype(np.float32) / 255).save(tmp_path / "x.tif")
    got = np.asarray(read_image(tmp_path / "x.tif"))[..., 0].astype(int)
    assert got.min() == 0 and got.max() == 255


def test_grey_cmyk_and_one_bit(tmp_path):
    Image.new("L", (4, 4), 77).save(tmp_path / "l.png")
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "c.jpg", quality=95)
    Image.new("1", (4, 4), 1).save(tmp_path / "b.png")
    assert mean_of(tmp_path / "l.png") == [77, 77, 77]
    assert mean_of(tmp_path / "c.jpg") == pytest.approx([255, 0, 0], abs=8)
    assert mean_of(tmp_path / "b.png") == [255, 255, 255]


def test_transparency_lies_on_white(tmp_path):
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(tmp_path / "rgba.png")
    Image.new("LA", (4, 4), (0, 51)).save(tmp_path / "la.png")
    palette = Image.new("P", (4, 4), 1)
    palette.putpalette([10, 20, 30, 0, 0, 0])
    palette.save(tmp_path / "p.png", transparency=1)
    assert mean_of(tmp_path / "rgba.png") == mean_of(tmp_path / "p.png") == [255, 255, 255]
    assert mean_of(tmp_path / "la.png") == pytest.approx([204, 204, 204], abs=1)


def test_of_an_animation_the_first_frame(tmp_path):
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert mean_of(tmp_path / "a.gif") == pytest.approx([255, 0, 0], abs=1)


def test_unreadable_files_say_why(tmp_path):
    Image.new("RGB", (64, 64), "red").save(tmp_path / "whole.jpg")
    whole = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.jpg").write_text("not a picture")
    (tmp_path / "empty.png").write_bytes(b"")
    for name in ("cut.jpg", "text.jpg", "empty.png", "none.png"):
        with pytest.raises(InputError, match=f"{name}: cannot be read as an image"):
            read_image(tmp_path / name)


def test_a_decompression_bomb_is_refused(tmp_path, monkeypatch):
    Image.new("1", (200, 200)).save(tmp_path / "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10_000)
    with pytest.raises(InputError, match="decompression bomb"):
        read_image(tmp_path / "bomb.png")


def test_find_images_sorts_and_skips(pictures, tmp_path):
    (pictures / "notes.txt").write_text("x")
    (pictures / ".hidden.png").write_bytes(b"x")
    found = [path.relative_to(pictures).as_posix() for path in find_images(pictures)]
    assert found == [*(f"{k}.png" for k in range(9)), "more/9.png"]
    assert find_images(pictures / "0.png") == [pictures / "0.png"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="expected image files"):
        find_images(tmp_path / "empty")


@pytest.mark.realdata
def test_awkward_files_of_the_world(data_folder):
    outcomes = {}
    for path in find_images(data_folder / "edge"):
        try:
            outcomes[path.name] = read_image(path).size
        except InputError:
            outcomes[path.name] = None
    broken = {name for name, size in outcomes.items() if size is None}
    assert broken == {
        "pillow_broken_data_stream.png",
        "pillow_decompression_bomb.gif",
        "pillow_truncated_end_chunk.png",
        "pillow_truncated_image.png",
    }
    for name, size in outcomes.items():
        if "Landscape" in name or "Portrait" in name:
            assert (size[0] > size[1]) == ("Landscape" in name), name
