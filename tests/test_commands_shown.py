"""Every command that the README and the pages show could be given: the verb, its options and its settings exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from assay.cli import app
from assay.models import MODELS
from assay.tasks import TASKS
from tests.samples import MISSING

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "board")]
COMMANDS = typer.main.get_command(app)
KNOWN = {"make": TASKS, "train": MODELS}


def shown_in(text):
    """Give the words of each command: lines of blocks, and code in sentences."""
    blocks = re.findall(r"^```(?:sh|console|bash|text)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    sentences = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines += re.findall(r"`(assay [^`]+)`", sentences)
    for line in lines:
        if re.match(r"assay [a-z][a-z-]*( |$)", line):
            words = shlex.split(" ".join(line.split()), comments=True)
            yield [*words, "VALUE"] if words[-1].startswith("--") else words


def parsed(words):
    """Return the command and what it is given, by the names of its parameters; unknown verbs and options raise."""
    command, context, rest = COMMANDS, typer.Context(COMMANDS), words[1:]
    while hasattr(command, "commands"):
        if not rest:
            return command, {}
        command, rest = command.commands[rest[0]], rest[1:]
    given, _, _ = command.make_parser(typer.Context(command, parent=context)).parse_args(list(rest))
    return command, given


def settings_of(given):
    """Return the settings that a command names, by what stands before the first dot or equals sign."""
    found = given.get("settings") or []
    return [re.split(r"[=.]", text)[0] for text in found]


def fields_of_task(name):
    """Return the settings of a task, and those that every dataset has."""
    return {*type(TASKS[name]().config).model_fields, "seed", "n", "splits", "confound"}


@pytest.mark.skipif(bool(MISSING), reason="a family was deleted")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_commands_of_a_page_have_verbs_options_and_settings_that_exist(page):
    for words in shown_in(page.read_text(encoding="utf-8")):
        _, given = parsed(words)
        names = KNOWN.get(words[1])
        if names is not None and words[2:] and words[2] in names:
            fields = names[words[2]].Config.model_fields if words[1] == "train" else fields_of_task(words[2])
            unknown = [name for name in settings_of(given) if name not in fields]
            assert not unknown, f"{shlex.join(words)}: no setting {unknown[0]!r}"


def test_what_does_not_exist_is_noticed():
    words = next(shown_in("```\nassay make mnlogic -o data --sets k=3   # a comment\n```\n"))
    assert words == ["assay", "make", "mnlogic", "-o", "data", "--sets", "k=3"]
    with pytest.raises(Exception, match="No such option"):
        parsed(words)
    assert settings_of(parsed(["assay", "train", "cbm", "data", "--set", "mode=joint", "--set", "a.b=1"])[1]) == [
        "mode",
        "a",
    ]
    with pytest.raises(KeyError):
        parsed(["assay", "mak", "mnlogic"])
