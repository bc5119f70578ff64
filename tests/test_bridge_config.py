import pytest

from bridge.config import load
from bridge.errors import InputError
from train.config import TrainConfig


def settings(tmp_path, text: str, *words: str) -> TrainConfig:
    (tmp_path / "c.yaml").write_text(text)
    return load(TrainConfig, tmp_path / "c.yaml", words)


def test_a_file_says_what_differs_and_a_word_wins(tmp_path):
    got = settings(
        tmp_path, "seed: 3\noptim: {steps: 5, lr: 0.1}\n", "optim.steps=7", "model.size=small"
    )
    assert (got.seed, got.optim.steps, got.optim.lr, got.model.size) == (3, 7, 0.1, "small")
    assert got.optim.batch == TrainConfig().optim.batch
    assert load(TrainConfig, None, []) == TrainConfig()


@pytest.mark.parametrize(
    "text",
    ["optim: {lr: 3e-4}", "optim: {lr: 3.0e-4}", "optim: {lr: .0003}", "optim: {lr: +3.E-4}"],
)
def test_numbers_that_yaml_reads_as_text_are_numbers(tmp_path, text):
    assert settings(tmp_path, text).optim.lr == 0.0003


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        ("optim: {stepps: 5}", None, r"no setting optim.stepps; did you mean steps\?"),
        ("zzz: 5", None, "no setting zzz; there are seed, data"),
        ("optim: {lr: fast}", None, "setting optim.lr: .*number.* got 'fast'"),
        ("optim: {steps: -1}", None, "setting optim.steps: .*greater than or equal to 0, got -1"),
        ("optim: {steps: 1.5}", None, "setting optim.steps: .*got 1.5"),
        ("model: {size: huge}", None, "setting model.size: .*'tiny', 'small'"),
        ("- a", None, "expected settings as `name: value`, got list"),
        ("a: [", None, "not YAML"),
        ("optim: {lr: '0.0003'}", None, "setting optim.lr: .*number without quotes, got '0.0003'"),
        ("seed: yes", None, "setting seed: .*integer, got True"),
        ("data: {split: 3}", None, "setting data.split: .*string, got 3"),
        ("lr: 1.0", None, "no setting lr; did you mean optim.lr"),
        ("optim: 3", None, "setting optim: .*got 3"),
        ("optim: 3", "optim.steps=4", "setting optim.steps: optim is a value, 3, not a group"),
        ("model: {vocabulary: [1]}", None, "setting model.vocabulary: .*got .1."),
        ("", "optim.steps=[", "optim.steps: not YAML"),
        ("", "optim.steps", "expected a setting as a.b=value, got 'optim.steps'"),
    ],
)
def test_one_clear_line(tmp_path, text, word, message):
    with pytest.raises(InputError, match=message) as error:
        settings(tmp_path, text, *([word] if word else []))
    assert "\n" not in str(error.value)


def test_every_config_of_the_project_is_valid():
    from pathlib import Path

    files = sorted((Path(__file__).parent.parent / "configs").glob("*.yaml"))
    assert files and all(load(TrainConfig, file) for file in files)
