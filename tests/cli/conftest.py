"""The command line, called in this process or as a program of its own, and something to call it on."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli import main
from tests.models.conftest import data, run

__all__ = ["data", "run"]


@dataclass(frozen=True)
class Told:
    """What a command said, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of an error, without anything else."""
        assert self.status != 0 and self.out == "" and self.err.startswith("error: ") and self.err.count("\n") == 1
        return self.err.removeprefix("error: ").rstrip("\n")


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """Return a function that does what the shell does with `assay WORDS...`."""

    def call(*words: object) -> Told:
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        said = capsys.readouterr()
        return Told(int(caught.value.code or 0), said.out, said.err)

    return call


@pytest.fixture
def shadow(tmp_path: Path) -> Path:
    """Return a folder that hides torch from a process that has it in its path."""
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"
    )
    return tmp_path / "shadow"


@pytest.fixture
def program(shadow: Path) -> Callable[..., Told]:
    """Return a function that runs `python -m assay WORDS...`; without torch where that is asked for."""

    def call(*words: object, torch: bool = True) -> Told:
        first = [] if torch else [str(shadow)]
        search = os.pathsep.join([*first, *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "assay", *map(str, words)]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": search}
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        return Told(done.returncode, done.stdout, done.stderr)

    return call
