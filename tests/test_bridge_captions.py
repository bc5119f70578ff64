"""Captions files of every format, what is wrong with them, and what is said about it."""

import io
import json
import random
import tarfile
import tracemalloc
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from bridge.captions import Caption, iter_captions, read_captions, write_captions
from bridge.errors import InputError

COCO = {
    "images": [
        {"id": 7, "file_name": "000007.jpg"},
        {"id": 3, "file_name": "000003.jpg"},
    ],
    "annotations": [
        {"id": 1, "image_id": 3, "caption": "A dog."},
        {"id": 2, "image_id": 7, "caption": "A boat.\n"},
        {"id": 5, "image_id": 3, "caption": "The dog runs."},
    ],
}
KARPATHY = {
    "dataset": "coco",
    "images": [
        {
            "filepath": f"{split}2014",
            "filename": f"{split}_{k}.jpg",
            "cocoid": 100 + k,
            "imgid": k,
            "split": split,
            "sentences": [{"raw": f"First of {k}."}, {"raw": f"Second of {k}."}],
        }
        for k, split in enumerate(["train", "restval", "val", "test", "train"])
    ],
}
PAIRS = [("3.jpg", "A dog."), ("7.jpg", "A boat, far out."), ("3.jpg", 'A "good" dog.')]


@pytest.fixture
def put(tmp_path):
    """Write bytes, text or JSON under a name, and return the path."""

    def put(name: str, content) -> Path:
        path = tmp_path / name
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def pairs(path: Path, **options) -> list[tuple[str, str]]:
    return [(caption.image_id, caption.text) for caption in read_captions(path, **options)]


def refusal(path: Path, **options) -> str:
    """The one line that a file is refused with, without the folder it lies in."""
    with pytest.raises(InputError) as caught:
        read_captions(path, **options)
    line = str(caught.value)
    assert "\n" not in line and path.name in line
    return line.replace(f"{path.parent}/", "")


# ---- formats


def test_json_lines_with_all_fields(put):
    path = put(
        "a.jsonl",
        '{"image_id": 42, "text": " A dog. "}\n\n'
        '{"image_id": "42", "text": "The dog.", "source": "alt", "split": "val"}\r\n'
        '{"image_id": "b", "caption": "Un café.", "id": 9}',
    )
    assert read_captions(path) == [
        Caption("42", "A dog.", "42#0"),
        Caption("42", "The dog.", "42#1", source="alt", split="val"),
        Caption("b", "Un café.", "9"),
    ]


def test_coco_by_file_name_and_by_number(put):
    path = put("captions.json", COCO)
    assert read_captions(path) == [
        Caption("000003.jpg", "A dog.", "000003.jpg#0"),
        Caption("000007.jpg", "A boat.", "000007.jpg#0"),
        Caption("000003.jpg", "The dog runs.", "000003.jpg#1"),
    ]
    assert [c.image_id for c in read_captions(path, image_key="id")] == ["3", "7", "3"]


@pytest.mark.parametrize("indent", [None, 1])
def test_documents_on_one_line_and_on_many(put, indent):
    assert len(read_captions(put("c.json", json.dumps(COCO, indent=indent) + "\n"))) == 3
    assert len(read_captions(put("k.json", json.dumps(KARPATHY, indent=indent)))) == 10
    items = [{"image_id": image, "caption": text} for image, text in PAIRS]
    assert pairs(put("l.json", json.dumps(items, indent=indent))) == PAIRS


def test_karpathy_splits_and_names(put):
    path = put("dataset_coco.json", KARPATHY)
    train = read_captions(path, split="train")
    assert [c.id for c in train] == [
        f"{name}.jpg#{k}" for name in ("train_0", "restval_1", "train_4") for k in (0, 1)
    ]
    assert Counter(c.split for c in train) == {"train": 4, "restval": 2}
    assert pairs(path, split="restval")[0] == ("restval_1.jpg", "First of 1.")
    assert pairs(path, split="val", image_key="path")[0] == ("val2014/val_2.jpg", "First of 2.")
    assert pairs(path, split="test", image_key="id") == [
        ("103", "First of 3."),
        ("103", "Second of 3."),
    ]


def test_token_file_with_its_faulty_line(put):
    path = put(
        "Flickr8k.token.txt",
        "1_a.jpg#0\tA dog .\n1_a.jpg#1\tThe dog .\n"
        "2_b.jpg.1#0\tpeople\nno tab here\n3#c.jpg#4\tA # b .\n",
    )
    problems = []
    captions = read_captions(path, problems=problems.append)
    assert captions == [
        Caption("1_a.jpg", "A dog .", "1_a.jpg#0"),
        Caption("1_a.jpg", "The dog .", "1_a.jpg#1"),
        Caption("3#c.jpg", "A # b .", "3#c.jpg#4"),
    ]
    assert [(p.file, p.place) for p in problems] == [(path, "line 3"), (path, "line 4")]
    assert str(problems[0]) == (
        f"{path}, line 3: '2_b.jpg.1' is no image name: it goes on after its suffix"
    )
    assert refusal(path, strict=True) == (
        "Flickr8k.token.txt, line 3: '2_b.jpg.1' is no image name: it goes on after its suffix"
    )


def csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kaggle.txt", "image,caption\n" + "".join(f"{i},{csv_field(t)}\n" for i, t in PAIRS)),
        (
            "semicolon.csv",
            "Text;Image_ID\r\n" + "".join(f"{csv_field(t)};{i}\r\n" for i, t in PAIRS),
        ),
        ("open_clip.csv", "filepath\ttitle\n" + "".join(f"{i}\t{t}\n" for i, t in PAIRS)),
        ("pandas.tsv", "filename\ttext\n" + "".join(f"{i}\t{csv_field(t)}\n" for i, t in PAIRS)),
        (
            "results.csv",  # Flickr30k's
            "image_name| comment_number| comment\n" + "".join(f"{i}| 0| {t}\n" for i, t in PAIRS),
        ),
        (
            "quoted header.csv",
            '"","image","caption"\n' + "".join(f"0,{i},{csv_field(t)}\n" for i, t in PAIRS),
        ),
    ],
)
def test_tables(put, name, content):
    assert pairs(put(name, content)) == PAIRS


def test_table_rows_over_several_lines_keep_the_line_count(put):
    path = put("a.csv", 'image,text,split\na.jpg,"one\ntwo",val\n\nb.jpg,\nc.jpg,,val\nd.jpg,x,\n')
    problems = []
    captions = read_captions(path, problems=problems.append)
    assert captions == [
        Caption("a.jpg", "one\ntwo", "a.jpg#0", split="val"),
        Caption("d.jpg", "x", "d.jpg#0"),
    ]
    assert [(p.place, p.what) for p in problems] == [
        ("line 5", "expected 3 columns as in the header, got 2"),
        ("line 6", "the caption of 'c.jpg' is empty"),
    ]


def test_caption_that_opens_with_a_quote_does_not_swallow_a_tab_table(put):
    path = put("a.tsv", 'image\ttext\na.jpg\t"Stop" on a sign\nb.jpg\t"unclosed\n')
    assert pairs(path) == [("a.jpg", '"Stop" on a sign'), ("b.jpg", '"unclosed')]


def shard(path: Path, files: dict[str, str | bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            raw = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw))
    return path


SHARD = {
    "00/000.jpg": b"\xff\xd8\xff" * 500,
    "00/000.json": json.dumps({"caption": "alt text\nof two lines", "key": "000"}),
    "00/000.txt": "alt text\nof two lines",
    "00/001.txt": "A dog.\nThe dog runs.\n",
    "00/001.webp": b"RIFF",
    "00/._001.txt": "metadata of a file system",
    "00/002.png": b"\x89PNG",
    "00/003.jpg": b"",
    "00/003.json": json.dumps({"caption": None}),
}


def test_shards(tmp_path):
    path = shard(tmp_path / "00000.tar", SHARD)
    problems = []
    assert read_captions(path, problems=problems.append) == [
        Caption("00/000.jpg", "alt text\nof two lines", "00/000.jpg#0"),
        Caption("00/001.webp", "A dog.", "00/001.webp#0"),
        Caption("00/001.webp", "The dog runs.", "00/001.webp#1"),
    ]
    assert [p.place for p in problems] == ["sample '00/002'", "sample '00/003'"]
    assert [c.image_id for c in read_captions(path, image_key="id")] == ["00/000", *["00/001"] * 2]


def test_shards_by_folder_and_by_pattern(tmp_path):
    for k in (10, 2):
        shard(tmp_path / f"{k:05}.tar", {f"{k}.txt": f"Caption {k}.", f"{k}.jpg": b""})
    expected = [("2.jpg", "Caption 2."), ("10.jpg", "Caption 10.")]
    assert pairs(tmp_path) == pairs(tmp_path / "*.tar") == expected
    with pytest.raises(InputError, match=r"expected tar shards, got no file of such a name"):
        read_captions(tmp_path / "x*.tar")
    (tmp_path / "odd.tar").write_text("{}")
    with pytest.raises(InputError, match=r"odd\.tar: expected a tar shard"):
        read_captions(tmp_path / "*.tar")


@pytest.mark.parametrize("length", [100, 512, 700, 3000, 3072])
def test_cut_off_shard(tmp_path, length):
    whole = shard(tmp_path / "a.tar", {"0.txt": "A dog.", "0.jpg": bytes(4000)}).read_bytes()
    path = tmp_path / "cut.tar"
    path.write_bytes(whole[:length])
    with pytest.raises(InputError) as caught:
        read_captions(path)
    assert "\n" not in str(caught.value) and "cut.tar" in str(caught.value)


# ---- what text files may look like


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e"])
def test_only_line_feeds_end_lines(put, separator):
    text = f"one{separator}two"
    lines = [{"image_id": 1, "text": text}, {"image_id": 2, "text": "three"}]
    raw = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    assert pairs(put("a.jsonl", raw)) == [("1", text), ("2", "three")]
    assert refusal(put("a.jsonl", raw + '\n{"image_id": 3}')).startswith("a.jsonl, line 3: ")
    assert pairs(put("t.txt", f"1.jpg#0\t{text}\n2.jpg#0\tthree\n"))[0] == ("1.jpg", text)
    assert pairs(put("c.csv", f"image,text\n1.jpg,{text}\n2.jpg,three\n"))[1] == ("2.jpg", "three")


def test_byte_order_mark_and_windows_line_ends(put):
    mark = b"\xef\xbb\xbf"
    assert pairs(put("a.jsonl", mark + b'{"image_id": 1, "text": "a"}\r\n')) == [("1", "a")]
    assert pairs(put("a.csv", mark + b"image,text\r\n1.jpg,a\r\n")) == [("1.jpg", "a")]
    assert pairs(put("a.txt", mark + b"1.jpg#0\ta\r\n")) == [("1.jpg", "a")]
    assert len(read_captions(put("a.json", mark + json.dumps(COCO).encode()))) == 3


def test_content_decides_and_not_the_suffix(put):
    assert len(read_captions(put("coco.txt", COCO))) == 3
    assert pairs(put("token.json", "1.jpg#0\tA dog.\n")) == [("1.jpg", "A dog.")]


# ---- refusals: file, place, remedy, in one line

GOOD = '{"image_id": 1, "text": "a"}\n'
CUT = "the JSON ends in the middle: the file is cut off; copy or download it again"
KINDS = "captions (JSON Lines, COCO or Karpathy JSON, token.txt, CSV or tar shards)"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", f": expected {KINDS}, got an empty file; copy or make it again"),
        (b" \n\n", f": expected {KINDS}, got blank lines only"),
        (
            b"version https://git-lfs.example/spec/v1\noid sha256:0\nsize 3\n",
            f": expected {KINDS}, got a Git LFS pointer; fetch it with `git lfs pull`",
        ),
        (b"\x1f\x8b\x08", f": expected {KINDS}, got a gzip archive; unpack it with `gunzip`"),
        (b"PK\x03\x04..", f": expected {KINDS}, got a zip archive; unpack it with `unzip`"),
        (
            b"PAR1\x15",
            f": expected {KINDS}, got a Parquet table; read it with pandas and write CSV or .npy",
        ),
        (
            GOOD.encode("utf-16"),
            f": expected {KINDS}, got UTF-16 text; convert it with `iconv -f UTF-16 -t UTF-8`",
        ),
        (
            GOOD.encode("utf-16-be"),
            f": expected {KINDS}, got UTF-16 text; convert it with `iconv -f UTF-16BE -t UTF-8`",
        ),
        (b"abc\0def", f": expected {KINDS}, got binary data; name another file"),
        (
            GOOD.encode() + '{"image_id": 2, "text": "café"}'.encode("latin-1"),
            ", line 2: byte 0xe9 at position 29 is not UTF-8; "
            "convert the file, for example with `iconv -f LATIN1 -t UTF-8`",
        ),
        (
            json.dumps({"images": [], "annotations": "é"}, ensure_ascii=False, indent=1).encode(
                "latin-1"
            ),
            ", line 3: byte 0xe9 at position 18 is not UTF-8; "
            "convert the file, for example with `iconv -f LATIN1 -t UTF-8`",
        ),
        (
            GOOD.encode() + '{"image_id": 2, "text": "é'.encode()[:-1],
            ", line 2: ends in the middle of a character: the file is cut off; copy it again",
        ),
        (
            GOOD + '{"image_id": 2, "te',
            ", line 2: " + CUT,
        ),
        (
            json.dumps(COCO)[:-30],
            ", line 1: " + CUT,
        ),
        (
            json.dumps(KARPATHY, indent=1)[:300],
            ", line 21: " + CUT,
        ),
        (
            '{"image_id": 1 "text": "a"}\n' + GOOD,
            ", line 1: broken JSON: Expecting ',' delimiter at column 16; "
            "correct or write it again",
        ),
        (
            GOOD + GOOD.replace("image_id", "img"),
            ", line 2: expected a key for the image (image_id, image, filename, file_name, "
            "filepath, image_name), got ['img', 'text']",
        ),
        (
            '{"image_id": 1}\n',
            ", line 1: expected a key for the text (text, caption, title, comment), "
            "got ['image_id']",
        ),
        (GOOD + '["a"]\n', ", line 2: expected an object, got ['a']"),
        (
            '{"image_id": 1, "text": ["a", "b"]}',
            ", line 1: expected text as \"text\", got ['a', 'b']",
        ),
        (
            '{"image_id": 1.5, "text": "a"}',
            ', line 1: expected text or a whole number as "image_id", got 1.5',
        ),
        (
            '{"image_id": true, "text": "a"}',
            ', line 1: expected text or a whole number as "image_id", got True',
        ),
        ('{"image_id": 1, "text": "a", "split": 3}', ', line 1: expected text as "split", got 3'),
        (
            '{"image_id": 1, "text": "a", "id": "x"}\n{"image_id": 2, "text": "b", "id": "x"}',
            ", line 2: caption id 'x' came before; ids must differ, so correct it",
        ),
        (
            "1.jpg#0\ta\n1.jpg#0\tb\n",
            ", line 2: caption id '1.jpg#0' came before; ids must differ, so correct it",
        ),
        (
            COCO | {"annotations": [COCO["annotations"][0]] * 2},
            ", annotation 2: annotation id '1' came before; "
            "ids must differ, so remove or renumber one",
        ),
        (
            COCO | {"images": [COCO["images"][0]] * 2},
            ", image 2: image id '7' came before; ids must differ, so remove or renumber one",
        ),
        (
            COCO | {"annotations": [{"id": 1, "image_id": 3, "bbox": [1, 2]}]},
            ", annotation 1: expected the key \"caption\", got ['id', 'image_id', 'bbox']",
        ),
        ({"annotations": []}, ", top level: expected the key \"images\", got ['annotations']"),
        (
            {"images": [{"id": 1, "file_name": "a.jpg"}]},
            ', image 1: no captions: COCO\'s has "annotations", '
            "Karpathy's \"sentences\" in each image, got ['id', 'file_name']",
        ),
        ({"images": [], "annotations": []}, ": expected captions, got none"),
        ([], ": expected captions, got none"),
        ([{"image_id": 1, "caption": "a"}, 3], ", item 2: expected an object, got 3"),
        (
            "path,words\na.jpg,a dog\n",
            ", line 1: expected a CSV header with an image column (image_id, image, filename, "
            "file_name, filepath, image_name) and a text column (text, caption, title, comment), "
            "got 'path,words'",
        ),
        (
            'image,text\na.jpg,b\nc.jpg,"d\ne.jpg,f\n',
            ", line 3: broken CSV (unexpected end of data); "
            "a quote inside a quoted text is doubled, and the text closed",
        ),
        (
            '{"image_id": 1, "text": ""}',
            ": no caption can be used, the first fault: a.txt, line 1: the caption of '1' is empty",
        ),
    ],
)
def test_refusals(put, content, line):
    assert refusal(put("a.txt", content)) == "a.txt" + line


def test_missing_file_offers_the_nearest_name(put, tmp_path):
    put("captions.jsonl", GOOD)
    with pytest.raises(InputError) as caught:
        read_captions(tmp_path / "caption.jsonl")
    assert str(caught.value) == (
        f"{tmp_path}/caption.jsonl: no such file; did you mean {tmp_path}/captions.jsonl?"
    )


def test_folder_names_what_it_holds(put, tmp_path):
    put("captions.jsonl", GOOD)
    assert refusal(tmp_path) == (
        f"{tmp_path.name}: expected {KINDS}, got a folder (it holds captions.jsonl); "
        "name the file itself"
    )


def test_json_of_absurd_depth_or_length_is_a_users_mistake(put):
    assert "line 2: " in refusal(put("deep.jsonl", GOOD + '{"a":' * 100_000))
    assert "line 2: " in refusal(
        put("long.jsonl", GOOD + f'{{"image_id": 1{"0" * 5000}, "text": ""}}')
    )


def test_unknown_split_lists_those_there(put):
    path = put("k.json", KARPATHY)
    assert refusal(path, split="tset") == (
        "k.json: no caption of the split 'tset'; "
        "there are train (4), restval (2), val (2), test (2)"
    )
    assert refusal(put("c.json", COCO), split="val") == (
        "c.json: no caption names a split; leave the split 'val' out"
    )


# ---- content that is left out


def test_faulty_content_is_noted_and_left_out(put):
    path = put(
        "a.jsonl",
        '{"image_id": 1, "text": "  "}\n'
        '{"image_id": 1, "text": null}\n'
        '{"image_id": "", "text": "a"}\n'
        '{"image_id": 2, "text": "half \\ud83d of a smile"}\n'
        '{"image_id": 1, "text": "good"}\n',
    )
    problems = []
    assert read_captions(path, problems=problems.append) == [Caption("1", "good", "1#2")]
    assert [(p.place, p.what) for p in problems] == [
        ("line 1", "the caption of '1' is empty"),
        ("line 2", "the caption of '1' is empty"),
        ("line 3", "the image id is empty"),
        ("line 4", "the caption of '2' holds half a surrogate pair, no character"),
    ]
    assert refusal(path, strict=True) == "a.jsonl, line 1: the caption of '1' is empty"


def test_images_and_captions_without_each_other(put):
    lonely = COCO | {"images": [*COCO["images"], {"id": 9, "file_name": "000009.jpg"}]}
    lonely["annotations"] = [*COCO["annotations"], {"id": 6, "image_id": 4, "caption": "A cat."}]
    problems = []
    assert len(read_captions(put("c.json", lonely), problems=problems.append)) == 3
    assert [(p.place, p.what) for p in problems] == [
        ("annotation 4", "no image of the id '4' stands in \"images\""),
        ("image '000009.jpg'", "no caption belongs to it"),
    ]
    problems.clear()
    bare = {"images": [{"filename": "a.jpg", "sentences": []}, KARPATHY["images"][0]]}
    assert len(read_captions(put("k.json", bare), problems=problems.append)) == 2
    assert [str(p.what) for p in problems] == ["no caption belongs to 'a.jpg'"]


# ---- round trips, order, memory


def test_what_is_written_is_read(tmp_path):
    draw = random.Random(0)
    letters = "ab \"'\\\t\n\r,;|#é漢😀\u2028\u2029\x85\x00\x1f{}[]"

    def word() -> str:
        return "".join(draw.choices(letters, k=draw.randrange(1, 12))).strip() or "x"

    for trial in range(50):
        captions = [
            Caption(
                word(),
                word(),
                f"{k}{word()}",
                draw.choice([None, word()]),
                draw.choice([None, word()]),
            )
            for k in range(draw.randrange(1, 20))
        ]
        path = tmp_path / f"{trial}.jsonl"
        assert write_captions(path, captions) == len(captions)
        assert read_captions(path) == captions
        assert path.read_bytes().count(b"\n") == len(captions)


def test_failed_write_leaves_nothing_and_spares_what_was_there(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text(GOOD)
    with pytest.raises(InputError):
        write_captions(path, iter_captions(tmp_path / "missing.jsonl"))
    assert path.read_text() == GOOD and list(tmp_path.iterdir()) == [path]


def test_ids_do_not_depend_on_the_split_that_is_read(put):
    lines = [
        {"image_id": k % 3, "text": f"t{k}", "split": "val" if k % 2 else "train"}
        for k in range(12)
    ]
    path = put("a.jsonl", "\n".join(map(json.dumps, lines)))
    every = read_captions(path)
    assert [c.id for c in every][:6] == ["0#0", "1#0", "2#0", "0#1", "1#1", "2#1"]
    assert read_captions(path, split="val") == [c for c in every if c.split == "val"]


def long_file(path: Path, kind: str) -> Path:
    """4 MB of captions of five images."""
    texts = [f"caption number {k} " + "of a long file " * 260 for k in range(1000)]
    if kind == "tar":
        return shard(path, {f"{k}.txt": text for k, text in enumerate(texts)})
    line = {
        "jsonl": '{{"image_id": {0}, "text": "{2}"}}\n',
        "csv": "{0},{2}\n",
        "token": "{0}.jpg#{1}\t{2}\n",
    }[kind]
    head = "image,text\n" if kind == "csv" else ""
    path.write_text(head + "".join(line.format(k % 5, k, text) for k, text in enumerate(texts)))
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "token", "tar"])
def test_reading_one_by_one_holds_little(tmp_path, kind):
    path = long_file(tmp_path / "long", kind)
    next(iter_captions(path))  # what is imported and cached at first use does not count
    tracemalloc.start()
    assert sum(1 for _ in iter_captions(path)) == 1000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000 < path.stat().st_size / 10


def test_iteration_starts_before_the_file_is_read(put):
    path = put("a.jsonl", GOOD * 3 + "broken")
    assert len(list(islice(iter_captions(path), 3))) == 3


# ---- real files


@pytest.mark.realdata
def test_flickr8k(data_folder):
    folder = data_folder / "flickr8k"
    karpathy = read_captions(folder / "dataset_flickr8k.json", strict=True)
    assert len(karpathy) == 40_000
    images = Counter(split for _, split in {(c.image_id, c.split) for c in karpathy})
    assert images == {"train": 6000, "val": 1000, "test": 1000}
    assert len(read_captions(folder / "dataset_flickr8k.json", split="test")) == 5000

    problems = []
    token = read_captions(folder / "Flickr8k.token.txt", problems=problems.append)
    assert [p.place for p in problems] == ["line 6731"] and "2258277193" in problems[0].what
    assert len(token) == 40_459
    by_id = {c.id: (c.image_id, c.text) for c in token}
    assert all(by_id[c.id] == (c.image_id, c.text) for c in karpathy)
    pictures = {path.name for path in (folder / "images").iterdir()}
    assert pictures == {c.image_id for c in karpathy if c.split == "test"}


@pytest.mark.realdata
def test_coco(data_folder, tmp_path):
    captions = read_captions(data_folder / "coco" / "captions.jsonl", strict=True)
    assert len(captions) == 67_566 and len({c.image_id for c in captions}) == 13_511
    ids = (data_folder / "coco" / "text_minilm.ids.txt").read_text().split()
    assert [c.id for c in captions] == ids
    assert len(read_captions(data_folder / "coco" / "pairs_captions.jsonl", strict=True)) == 1840
    results = data_folder / "metrics" / "captions_val2014_fakecap_results.json"
    assert read_captions(results, strict=True)[0].image_id == "404464"
    write_captions(tmp_path / "again.jsonl", captions[:5000])
    assert read_captions(tmp_path / "again.jsonl") == captions[:5000]
