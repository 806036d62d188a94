"""Popper as a model: a checkout that the user points to, run in a process that is killed when its time is up."""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

from assay.base import Array, ConfigError, DataError, MissingExtra, write_new
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.ilp.external import best_of, find_clauses, problem_of, run_for
from assay.models.symbolic.ilp.learner import ClauseModel, IlpConfig, InducedClauses
from assay.models.symbolic.ilp.search import Clock
from assay.prolog import popper_files

PATH = "ASSAY_POPPER"
SHARE = 0.93
NEWER = ("combiner_size.py", "gen_norec.py")
"""Modules that Popper has since 5.0; the version that it states is not to be relied on."""
PARTS = re.compile(r"New best hypothesis|SOLUTION \*")


class PopperConfig(IlpConfig):
    """How Popper is run."""

    popper: str | None = None
    """The folder of a checkout of Popper 4.4 or 3.1; by default where ASSAY_POPPER says."""
    python: str | None = None
    """The Python that has what Popper needs; by default the one that runs this."""
    noisy: bool = False
    """Tell Popper that labels may be wrong."""


class Popper(ClauseModel):
    """Popper, with the same bias as the others."""

    name = "popper"
    Config: ClassVar[type[SymbolicConfig]] = PopperConfig
    config: PopperConfig

    @classmethod
    def ready(cls, config: PopperConfig) -> None:
        """Refuse if no checkout is named."""
        popper_folder(config.popper)

    def induce(self, examples: LabelExamples, positive: Array, head: str, seconds: float) -> InducedClauses:
        """Write the examples down, run Popper for its time, and take the best program of its log, scored by us."""
        clock = Clock.of(SHARE * seconds)
        checkout = popper_folder(self.config.popper)
        with tempfile.TemporaryDirectory(prefix="assay-popper-") as path:
            folder = Path(path)
            for name, text in popper_files(problem_of(self.bias, head, examples, positive)).items():
                write_new(folder / name, text.encode())
            python, script = self.config.python or sys.executable, str(checkout / "popper.py")
            command = [python, script, str(folder), "--timeout", str(max(int(seconds), 1))]
            paths = os.pathsep.join(filter(None, [str(checkout), os.environ.get("PYTHONPATH")]))
            environment = {"PYTHONUNBUFFERED": "1", "PYTHONPATH": paths}
            ran = run_for([*command, *(["--noisy"] if self.config.noisy else [])], folder, clock.left, environment)
        failed = re.findall(r"^\w*(?:Error|Exception)\b.*$", ran.output, re.MULTILINE)
        programs = [find_clauses(part, head) for part in PARTS.split(ran.output)[1:]]
        if failed and not programs and ran.finished:
            raise DataError(f"popper: {failed[-1].strip()[:300]}")
        clauses = best_of(programs, head, self.bias, examples, positive)
        return InducedClauses(clauses, {"finished": ran.finished, "engine_seconds": round(ran.seconds, 3)})


def popper_folder(setting: str | None) -> Path:
    """Return the checkout of Popper that a setting or the environment points to, refusing versions that go wrong."""
    named = setting or os.environ.get(PATH)
    if not named:
        raise MissingExtra(f"the model 'popper' needs a checkout of Popper 4.4 or 3.1: set popper=FOLDER or {PATH}")
    folder = Path(named).resolve()
    if not (folder / "popper.py").is_file():
        raise ConfigError(f"popper: {named!r} holds no popper.py; give the folder of a checkout of Popper 4.4 or 3.1")
    project = folder / "pyproject.toml"
    stated = re.search(r'^version *= *"(\d+)', project.read_text(encoding="utf-8"), re.M) if project.is_file() else None
    if (stated and int(stated[1]) >= 5) or any((folder / "popper" / name).is_file() for name in NEWER):
        raise ConfigError(
            f"popper: {named!r} is Popper 5, which can return programs that are worse than it says; take 4.4 or 3.1"
        )
    return folder
