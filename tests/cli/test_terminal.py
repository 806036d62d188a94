"""What the terminal shows: commands in groups with examples, verdicts in a table, doctor and clean."""

import json
import re
import shlex

import pytest
import typer
from typer.testing import CliRunner

from assay.base import EXTRAS
from assay.cli import app
from tests.samples import needs_task

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
HELP = {name: CliRunner().invoke(app, [name, "--help"]).output for name in COMMANDS}
EXAMPLES = [(name, line) for name, text in HELP.items() for line in re.findall(rf"(?m)^ +(assay {name}.*)$", text)]


def test_every_command_is_in_a_group_and_has_an_example(assay):
    shown = assay("--help").out
    groups = re.findall(r"(?m)^([A-Z]\w+):$", shown)
    assert {"Start", "Data", "Train", "Judge", "Share"} <= set(groups) and "Other" not in groups
    listed = re.findall(r"(?m)^  ([a-z]+)  ", shown)
    assert sorted(listed) == sorted(COMMANDS) == sorted({name for name, _ in EXAMPLES})


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples_are_understood(name, example):
    """An example whose options do not exist raises a usage error."""
    arguments, command = shlex.split(example)[2:], COMMANDS[name]
    if hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    assert command.make_context(name, arguments).params


@needs_task("mnlogic")
def test_verdicts_are_a_table_without_control_characters_where_there_is_no_terminal(assay, tmp_path, in_process):
    (tmp_path / "s.yaml").write_text(
        "tasks: [{task: mnlogic, k: 3}]\nmodels: [tree, rules]\nn: 32\noutput: out\nseeds: [0]\n"
    )
    told = assay("run", tmp_path / "s.yaml", "-o", tmp_path / "out", "--workers", 1, "--no-trial")
    head, *rows = told.out.splitlines()
    assert head.split() == ["task", "model", "verdict", "label", "F1", "concept", "F1", "ood", "F1", "why"]
    assert [row.split()[:2] for row in rows] == [["mnlogic", "tree"], ["mnlogic", "rules"]]
    assert "\x1b" not in told.out


def test_doctor_knows_every_extra_and_says_what_is_missing(assay):
    extras = json.loads(assay("doctor", "--json").out)["extras"]
    assert set(extras) == set(EXTRAS.values()) and all(one["gives"] for one in extras.values())
    text = assay("doctor").out
    missing = [name for name, one in extras.items() if not one["installed"]]
    assert all(re.search(rf"(?m)^{name} +missing", text) for name in missing)
    assert ("to install what is missing: " in text) == bool(missing) and extras["train"]["packages"].startswith(
        "torch "
    )


def test_clean_lists_first_and_removes_on_request(assay, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for name, count in (("decoded", 10), ("tracer-aa", 3), ("tracer-bb", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * count)
    (tmp_path / "tracer-aa" / "link").symlink_to(tmp_path / "decoded" / "file")
    listed = json.loads(assay("clean", "--json").out)
    assert {row["name"]: row["bytes"] for row in listed} == {"decoded": 10, "tracer": 7}
    assert assay("clean").err == "17 bytes in all; to remove them: assay clean --yes\n"
    assert (tmp_path / "decoded").exists()
    assert assay("clean", "tracer", "--yes").status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decoded"]
    assert "did you mean 'decoded'?" in assay("clean", "decode").error
    assert assay("clean", "--yes").err == "removed 10 bytes\n" and assay("clean").out == "the cache is empty\n"
