"""What small functions of commands print and write, to the letter."""

import csv
import io
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.cli import main, new
from assay.cli.intervene import _cell
from assay.errors import ConfigError
from assay.logic import NO_RULE
from tests.cli.test_edges import lines

doctor, make, show = (import_module(f"assay.cli.{name}") for name in ("doctor", "make", "show"))


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        (None, "–"),
        ({"mean": 0.12345, "low": 0.1, "high": 0.25}, "0.123 (0.100–0.250)"),
        ({"mean": 1.0, "low": 0.5, "high": 0.5}, "1.000"),
        ({"mean": 0.0, "low": 0.0, "high": 0.0004}, "0.000 (0.000–0.000)"),
        ({"mean": -0.5, "low": -0.75, "high": 0}, "-0.500 (-0.750–0.000)"),
    ],
)
def test_a_number_stands_with_its_interval_where_it_has_one(numbers, shown):
    assert _cell(numbers) == shown


def test_a_metric_is_shown_with_its_better_side(monkeypatch, capsys):
    from assay.metrics import METRICS

    for better in ("higher", "lower"):
        monkeypatch.setattr(type(METRICS), "__getitem__", lambda self, name, b=better: SimpleNamespace(better=b))
        monkeypatch.setattr(type(METRICS), "describe", lambda self, name: f"what {name} is")
        show._show_metric("odd", False)
        assert capsys.readouterr().out == f"odd: what odd is ({better} is better)\n"
        show._show_metric("odd", True)
        said = capsys.readouterr().out
        assert [part.strip() for part in said.strip().strip("{}").split(",")] == [
            '"name": "odd"', '"summary": "what odd is"', f'"better": "{better}"',
        ]  # fmt: skip


def test_an_import_is_shown_with_concepts_first_and_rules_as_far_as_known(capsys):
    about = {"layout": "CelebA", "examples": 1200, "resize": "crop", "splits": "made", "agreement": None, "missing": {}}
    knowledge = {
        "concepts": [{"name": "n", "values": [1, 2, 3]}, {"name": "red", "values": [False, True]}],
        "labels": [
            {"name": "y", "values": ["u", "v"], "formula": "n > 1"},
            {"name": "z", "values": [0, 1], "formula": str(NO_RULE)},
        ],
    }
    show._print_imported({"task": {"imported": about}, "knowledge": knowledge})
    head, *table, last = capsys.readouterr().out.split("\n")[:-1]
    assert head == "imported from CelebA: 1,200 examples, splits made, pictures resized by crop" and last == ""
    assert [line.split() for line in table] == [
        ["concept", "or", "label", "values", "rule"],
        ["n", "1,", "2,", "3"],
        ["red", "False,", "True"],
        ["y", "u,", "v", "n", ">", "1"],
        ["z", "0,", "1", "not", "known"],
    ]


def test_a_model_is_shown_with_its_settings(monkeypatch, capsys):
    from assay.models import MODELS

    model = SimpleNamespace(Config="config", has_concepts=True, can_intervene=False)
    monkeypatch.setattr(type(MODELS), "__getitem__", lambda self, name: model)
    monkeypatch.setattr(type(MODELS), "describe", lambda self, name: f"what {name} is")
    settings = {"epochs": {"default": 30, "help": "how many"}, "rate": {"default": None, "help": "how fast"}}
    monkeypatch.setattr("assay.config.describe_settings", lambda config: {"config": settings}[config])
    show._show_model("odd", False)
    said = capsys.readouterr().out
    assert said.startswith("odd: what odd is\n\n")
    assert [line.split() for line in lines(said)[1:] if line.strip()] == [
        ["setting", "default"], ["epochs", "30", "how", "many"], ["rate", "None", "how", "fast"],
    ]  # fmt: skip
    shown = []
    monkeypatch.setattr(show, "print_json", shown.append)
    show._show_model("odd", True)
    assert shown == [
        {"name": "odd", "summary": "what odd is", "has_concepts": True, "can_intervene": False, "settings": settings}
    ]


def test_a_dataset_goes_to_one_place_by_one_way(tmp_path):
    def asked(**values):
        return make._folder(SimpleNamespace(**{"output_dir": str(tmp_path), "archive": None, "cluster": None, "workers": None, **values}))  # fmt: skip

    assert asked() == asked(archive="zip") == asked(cluster="auto") == asked(workers=3) == tmp_path
    assert str(asked(output_dir="memory://x/y", workers=2)) == "memory://x/y" and asked(output_dir=None) == Path()
    with pytest.raises(ConfigError, match="--archive packs folders of this machine, not 'memory://x/y'"):
        asked(output_dir="memory://x/y", archive="zip")
    with pytest.raises(ConfigError, match="give --workers or --cluster, not both"):
        asked(cluster="auto", workers=1)


def test_an_error_of_usage_names_the_command_whose_help_explains_it():
    class Wrong(Exception):
        ctx = SimpleNamespace(command_path="assay make")

        def format_message(self):
            return "No such option: --od.."

    assert main._usage(Wrong()) == "No such option: --od; see 'assay make --help'"
    assert main._usage(ValueError("odd.")) == "odd; see 'assay --help'"
    lost = Wrong()
    lost.ctx = None
    assert main._usage(lost).endswith("see 'assay --help'")


def test_an_error_is_written_in_one_line(monkeypatch, capsys):
    heard = []
    monkeypatch.setattr(main, "stop_hearing_interrupts", lambda: heard.append(1))
    with pytest.raises(SystemExit) as caught:
        main._fail("one\n  two\tthree ", 7)
    assert caught.value.code == 7 and capsys.readouterr().err == "error: one two three\n" and heard == [1]


def test_a_version_is_that_of_the_first_distribution_that_brings_a_module(monkeypatch):
    monkeypatch.setattr(doctor, "_distributions", lambda: {"sklearn": ["numpy", "pytest"], "gone": ["no-such-thing"]})
    assert doctor._version("sklearn") == np.__version__ and doctor._version("pytest") == pytest.__version__
    assert doctor._version("gone") == "(version unknown)" == doctor._version("nor-this")


def test_metrics_are_named_with_lines_below_and_all_else_with_dashes():
    assert [new._registered(kind, ["my", "own"]) for kind in ("metric", "task", "model")] == ["my_own", "my-own", "my-own"]  # fmt: skip


def test_new_data_has_every_pair_of_brightnesses_in_turn(monkeypatch, tmp_path):
    monkeypatch.setattr(new, "ROWS", {"train": 11, "odd": 2})
    written = []
    monkeypatch.setattr(new, "_write", lambda path, template, names: written.append((path, template, names)))
    new._write_data(tmp_path, {"name": "x"})
    assert written == [(tmp_path / "rule.yaml", "rule", {"name": "x"}), (tmp_path / "README.md", "data", {"name": "x"})]
    head, *rows = csv.reader(io.StringIO((tmp_path / "concepts.csv").read_text()))
    assert head == ["file", "split", "concept_left", "concept_right", "label_brighter"]
    places = [("train", number) for number in range(11)] + [("odd", number) for number in range(2)]
    assert rows == [
        [f"pictures/{split}-{number:03d}.png", split, str(number % 9 // 3), str(number % 3), str(number % 9 // 3 > number % 3)]
        for split, number in places
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == sorted(row[0][9:] for row in rows)
    for file, _, left, right, _ in rows:
        with Image.open(tmp_path / file) as opened:
            image = np.asarray(opened).astype(int)
        assert image.shape == (12, 24)
        for half, level in ((image[:, :12], int(left)), (image[:, 12:], int(right))):
            assert 80 * level <= half.min() < 80 * level + 10 and 80 * level + 50 <= half.max() < 80 * level + 60
