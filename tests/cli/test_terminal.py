"""What the terminal shows: commands in groups with examples, progress, verdicts in a table, doctor and clean."""

import json
import math
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from assay.cli import app
from assay.cli.doctor import PURPOSES
from assay.cli.groups import EXAMPLES, GROUPS
from assay.cli.verdicts import print_verdicts
from assay.config import Settings
from assay.data import recipe_from, seconds_per_example
from assay.distribution import EXTRAS
from assay.progress import BETWEEN_LINES, FIRST_LINE, Bar, PlainLines, progress_bar
from assay.studies import Study, VerdictLine, run_study, study_from, verdict_lines

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_every_command_is_in_one_group_and_has_an_example() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(COMMANDS) == sorted(EXAMPLES)
    shown = CliRunner().invoke(app, ["--help"]).output
    assert [line for line in shown.splitlines() if line in {f"{title}:" for title in GROUPS}] == [
        f"{title}:" for title in GROUPS
    ]
    assert "Other:" not in shown


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_are_understood(example: str) -> None:
    """An example whose options do not exist raises a usage error."""
    _, name, *arguments = shlex.split(example)
    command = COMMANDS[name]
    if hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    context = command.make_context(name, arguments)
    assert context.params
    assert example in CliRunner().invoke(app, [name, "--help"]).output


def test_lines_without_a_terminal_are_rare_and_plain() -> None:
    now, lines = [0.0], list[str]()
    bar = Bar(PlainLines(lines.append, lambda: now[0]))
    for second in range(60):
        now[0] = float(second)
        bar("training", second, 120, f"loss {second}")
    assert len(lines) == 1 + math.floor((59 - FIRST_LINE) / BETWEEN_LINES)
    assert lines[0] == "training: 8 %, loss 10, about 110 s left\n".replace("110 s", "2 min")
    assert not any(ord(sign) < 32 and sign != "\n" for line in lines for sign in line)


def test_a_quick_step_writes_no_line(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as bar:
        bar("making", 1, 2)
        bar("making", 2, 2)
    assert capfd.readouterr().err == ""


def test_what_is_not_known_has_no_share_and_no_time_left() -> None:
    now, lines = [0.0], list[str]()
    bar = Bar(PlainLines(lines.append, lambda: now[0]))
    bar("counting", 0, 0, "at most 60 s")
    now[0] = FIRST_LINE
    bar("counting", 0, 0, "at most 60 s")
    assert lines == ["counting: at most 60 s\n"]


LINES = [
    VerdictLine("sums", "dpl", "shortcut", "bad", 0.98, 0.02, 0.1, "reads digit 2 as 4", Path("a")),
    VerdictLine("sums", "net", "opaque", "unknown", 0.97, math.nan, math.nan, "does not predict a and b", Path("b")),
]


def test_verdicts_are_a_table_without_control_characters_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_verdicts(LINES)
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["task", "model", "verdict", "label", "F1", "concept", "F1", "ood", "F1", "why"]
    assert [row.split()[:3] for row in rows] == [["sums", "dpl", "shortcut"], ["sums", "net", "opaque"]]
    assert "reads digit 2 as 4" in rows[0] and rows[1].split()[3:6] == ["0.97", "–", "–"]
    assert "\x1b" not in head + "".join(rows)


def test_on_a_narrow_terminal_reasons_stand_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.cli.console.LOG_WIDTH", 60)
    print_verdicts(LINES)
    out = capsys.readouterr().out
    assert "why" not in out.splitlines()[0] and "dpl on sums: reads digit 2 as 4" in out
    assert max(map(len, out.splitlines())) <= 60


@pytest.fixture(scope="module")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    plan = {"tasks": [{"task": "mnlogic", "n": 40}], "models": ["rules"], "seeds": [0, 1]}
    study = study_from(Settings(plan), tmp_path_factory.mktemp("study"))
    run_study(study)
    return study


def test_a_study_has_one_line_for_the_seeds_of_a_model(small_study: Study) -> None:
    lines = verdict_lines(small_study.runs, small_study.output)
    assert len(lines) == len({(run.task, run.label) for run in small_study.runs})
    several = lines[0]
    assert several.verdict.endswith(" of 2") and 0 <= several.label_f1 <= 1
    records = [
        json.loads((small_study.output / "runs" / run.name / "records.json").read_text()) for run in small_study.runs
    ]
    values = [s["value"] for r in records for s in r["scores"]["test"] if s["metric"] == "label_f1"]
    assert several.label_f1 == pytest.approx(np.mean(values))


def test_doctor_knows_every_extra_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(PURPOSES) == set(EXTRAS.values())
    monkeypatch.setattr("assay.cli.doctor.EXTRAS", {**EXTRAS, "no_such_package": "wandb"})
    shown = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert shown["extras"]["wandb"]["installed"] is False and shown["extras"]["view"]["gives"] == PURPOSES["view"]
    assert "no_such_package –" in CliRunner().invoke(app, ["doctor"]).stdout


def test_clean_lists_first_and_removes_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for name, count in (("decoded", 10), ("tracer-aa", 3), ("tracer-bb", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * count)
    listed = json.loads(CliRunner().invoke(app, ["clean", "--json"]).stdout)
    assert {row["name"]: row["bytes"] for row in listed} == {"decoded": 10, "tracer": 7}
    assert (tmp_path / "decoded").exists()
    assert CliRunner().invoke(app, ["clean", "tracer", "--yes"]).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decoded"]
    unknown = CliRunner().invoke(app, ["clean", "decode"])
    assert "did you mean 'decoded'?" in str(unknown.exception)


def test_an_estimate_is_what_a_picture_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recipe_from("mnlogic", Settings({"n": 20}))
    now = [0.0]

    def render(world: object) -> None:
        now[0] += 0.25

    monkeypatch.setattr("assay.data.estimate.time.perf_counter", lambda: now[0])
    monkeypatch.setattr(type(recipe.task), "render", lambda self, world: render(world))
    assert seconds_per_example(recipe) == 0.25
