import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from bridge.errors import InputError
from eval.report import Report, figure, load, plot_curve, table

EXAMPLE = Report(
    task="alignment",
    metrics={
        "mutual_knn": 0.1234,
        "recall@1": 0.5,
        "recall@1.interval": [0.4, 0.6],
        "median_rank": 12.0,
        "curve": [
            {"n": n, "mutual_knn": s, "spread": d, "subsets": 2, "chance": 10 / (n - 1)}
            for n, s, d in ((100, 0.3, 0.02), (1000, 0.2, 0.01), (5000, 0.12, None))
        ],
    },
    chance={"mutual_knn": 0.01, "recall@1": 0.001, "median_rank": 500.5},
    settings={"k": 10, "n": 5000},
    inputs={"text": "abc"},
    versions={"torch": "2.4"},
    seconds=1.5,
)


def shown(reports: dict[str, Report]) -> list[list[str]]:
    """Cells of the table as a person reads them."""
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table(reports))
    lines = [line for line in capture.get().splitlines() if "│" in line or "┃" in line]
    return [[cell.strip() for cell in line.replace("┃", "│").split("│")[1:-1]] for line in lines]


def test_round_trip(tmp_path):
    path = tmp_path / "deep" / "r.json"
    EXAMPLE.save(path)
    assert load(path) == EXAMPLE
    assert json.loads(path.read_text())["format"] == "platobridge.report/1"
    assert [p.name for p in path.parent.iterdir()] == ["r.json"]


def test_an_existing_report_stays_unless_told(tmp_path):
    path = tmp_path / "r.json"
    EXAMPLE.save(path)
    other = replace(EXAMPLE, seconds=2.0)
    with pytest.raises(InputError, match="exists; name another file"):
        other.save(path)
    assert load(path) == EXAMPLE
    other.save(path, overwrite=True)
    assert load(path) == other


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_hold_is_not_written(tmp_path, value):
    EXAMPLE.save(tmp_path / "r.json")
    broken = replace(EXAMPLE, metrics={"mutual_knn": value})
    with pytest.raises(ValueError, match="not JSON compliant"):
        broken.save(tmp_path / "r.json", overwrite=True)
    assert load(tmp_path / "r.json") == EXAMPLE
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "no json", '{"format": "platobridge.report/1"}', '{"format": NaN}', "\xff"],
)
def test_foreign_files_are_refused(tmp_path, content):
    (tmp_path / "r.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match="expected a report, got"):
        load(tmp_path / "r.json")


def test_missing_and_other_versions_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such report"):
        load(tmp_path / "r.json")
    (tmp_path / "r.json").write_text('{"format": "platobridge.report/9"}')
    with pytest.raises(
        InputError, match=r"expected format platobridge\.report/1, got 'platobridge"
    ):
        load(tmp_path / "r.json")


def test_a_number_stands_beside_its_chance():
    assert shown({"good": EXAMPLE}) == [
        ["figure", "good", "chance"],
        ["mutual knn", "0.123", "0.010"],
        ["recall@1", "0.500 (0.400 to 0.600)", "0.001"],
        ["median rank", "12.0", "500.5"],
    ]


def test_a_verdict_stands_in_the_title():
    verdict = {"level": "coarse", "reasons": ["halves of the candidates [both] agree by 0.5"]}
    judged = replace(EXAMPLE, settings=EXAMPLE.settings | {"verdict": verdict})
    said = str(table({"value": judged}, title="retrieval").title).splitlines()
    assert said == [
        "retrieval",
        "bridge fitted without pairs, judged coarse:",
        "halves of the candidates [both] agree by 0.5",
    ]
    several = str(table({"few": judged, "many": EXAMPLE}).title)
    assert several.startswith("bridge (few) fitted") and "many" not in several
    assert str(table({"value": EXAMPLE}, title="retrieval").title) == "retrieval"
    assert table({"value": EXAMPLE}).title is None


def test_reports_side_by_side():
    other = replace(
        EXAMPLE,
        metrics={"mutual_knn": 0.05, "cka": 0.4},
        chance={"mutual_knn": 0.02, "cka": 0.0},
    )
    rows = shown({"good": EXAMPLE, "untrained": other})
    assert rows[0] == ["figure", "good", "untrained", "chance"]
    assert rows[1] == ["mutual knn", "0.123", "0.050", "0.010 / 0.020"]
    assert rows[2][1:] == ["0.500 (0.400 to 0.600)", "-", "0.001"]
    assert rows[-1] == ["cka", "-", "0.400", "0.000"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.000"),
        (1.0, "1.000"),
        (-0.25, "-0.250"),
        (5.0, "5.0"),
        (1e4, "10,000.0"),
    ],
)
def test_figures(value, text):
    assert figure(value) == text


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_plot(tmp_path, kind):
    path = tmp_path / f"curve.{kind}"
    plot_curve({"good views": EXAMPLE, "untrained": EXAMPLE}, path)
    head = path.read_bytes()[:200]
    assert {"png": b"PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind] in head
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_plot_shows_the_scores_and_chance(tmp_path):
    plot_curve(EXAMPLE, tmp_path / "one.svg")
    drawn = (tmp_path / "one.svg").read_text()
    for label in ("chance", "text and image", "mutual 10-nearest-neighbour overlap"):
        assert f"<!-- {label} -->" in drawn
    plot_curve(EXAMPLE, tmp_path / "one.png")
    with Image.open(tmp_path / "one.png") as picture:
        assert picture.size == (1024, 640)
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 10


def test_plot_refuses_what_it_cannot_draw(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.png, \.svg or \.pdf"):
        plot_curve(EXAMPLE, tmp_path / "curve.txt")
    with pytest.raises(InputError, match="other: this report of alignment has no alignment curve"):
        plot_curve({"other": replace(EXAMPLE, metrics={})}, tmp_path / "curve.png")
    assert list(tmp_path.iterdir()) == []


def test_old_reports_stay_readable():
    assert load(Path(__file__).parent / "data" / "report-1.json") == EXAMPLE
