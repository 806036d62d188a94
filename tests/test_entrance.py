"""How the package and the command are entered: names that are imported late, and Ctrl-C before anything is done."""

import importlib
import os
import signal
import sys
from types import ModuleType

import pytest

import assay
from assay import __main__ as entrance
from assay.base import VERSION


def test_public_names_are_listed_and_come_from_their_homes():
    assert dir(assay) == assay.__all__ == sorted(assay.__all__) and assay.__version__ == VERSION
    homes = {"Concept": "logic", "make": "api", "read_predictions": "contracts", "AssayError": "base"}
    for name, home in homes.items():
        assert getattr(assay, name) is getattr(importlib.import_module(f"assay.{home}"), name)
    for name in ("nothing", "_version", "concept"):
        with pytest.raises(AttributeError, match=f"module 'assay' has no attribute '{name}'"):
            getattr(assay, name)


class CommandLine(ModuleType):
    """Stands for the command line, and notes who would hear Ctrl-C while it is imported and while it runs."""

    def __init__(self):
        super().__init__("assay.cli.commands")
        self.heard = []

    def __getattr__(self, name):
        if name != "main":
            raise AttributeError(name)
        self.heard.append(signal.getsignal(signal.SIGINT))
        return lambda: self.heard.append(signal.getsignal(signal.SIGINT))


@pytest.fixture
def command(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    made = CommandLine()
    monkeypatch.setitem(sys.modules, "assay.cli.commands", made)
    yield made
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_leaves_at_once_while_everything_is_imported_and_not_after(command):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    entrance.main()
    assert command.heard[0] is entrance._leave and command.heard[-1] is signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_command_that_was_told_to_ignore_ctrl_c_ignores_it_throughout(command):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    entrance.main()
    assert set(command.heard) == {signal.SIG_IGN} and signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_leaving_says_so_in_a_line(monkeypatch):
    said = []

    def leave(code):
        said.append(code)
        raise SystemExit

    monkeypatch.setattr(os, "write", lambda stream, text: said.append((stream, text)))
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(SystemExit):
        entrance._leave(signal.SIGINT, None)
    assert said == [(2, b"error: interrupted before anything was done\n"), 130]
