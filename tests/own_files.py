"""A file with a task, a model and a metric, one with a finding, as a user would write them, and a package with them."""

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.base import forget_files
from assay.cli import main
from assay.diagnosis import FINDINGS
from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS

OWN = '''
"""Two lamps: is the left one brighter? With a model and a metric for it."""

from functools import cached_property

import numpy as np

from assay.logic.concepts import Concept, ConceptSpace, EncoderGroup
from assay.logic.knowledge import Knowledge
from assay.metrics.metric import per_example
from assay.models.concept.cbm import CBM
from assay.render.picture import Box, Layout, Picture
from assay.tasks.base import Task


class Lamps(Task):
    """Two grey squares; is the left one brighter?"""

    name = "two-lamps"
    sizes = {"train": 120, "valid": 24, "test": 48, "hard": 12}

    @cached_property
    def knowledge(self):
        lamps = tuple(Concept(name, (0, 1, 2)) for name in ("left", "right"))
        space = ConceptSpace(lamps, encoders=(EncoderGroup("lamp", ("left", "right")),))
        return Knowledge.of(space, {"brighter": "left > right"})

    @cached_property
    def layout(self):
        return Layout(24, 12, 1, {"left": Box(0, 0, 12, 12), "right": Box(12, 0, 24, 12)})

    def style(self, rng, codes, pool):
        return {"noise": rng.integers(0, 40, size=24).tolist()}

    def render(self, world):
        row = 90 * np.repeat([int(code) for code in world.codes], 12) + np.array(world.style["noise"])
        return Picture(np.repeat(row.astype(np.uint8)[None, :], 12, axis=0))


class Net(CBM):
    """A bottleneck of one's own."""

    name = "my-net"


@per_example("both_right", "share of examples with labels and concepts all right")
def both_right(evidence):
    """Return whether all is right."""
    right = (evidence.predicted_labels == evidence.labels).all(axis=1)
    return (right & (evidence.predicted_concepts == evidence.concepts).all(axis=1)).astype(float)
'''

HASTY = '''
"""A finding of one's own: labels are predicted with confidence."""

from dataclasses import dataclass

import numpy as np

from assay.diagnosis.check import Check, Claim, Found
from assay.diagnosis.thresholds import Section, threshold


@dataclass(frozen=True)
class HastySettings(Section):
    """When a model is hasty."""

    section = "hasty"
    sure: float = threshold(0.5, "mean confidence of labels from which on a model is hasty", "a coin is as sure")


class Hasty(Check):
    """Labels are predicted with some confidence."""

    name = "hasty"
    summary = "The labels are predicted with confidence."
    tone = "weak"
    severity = 1000
    measure = "label_accuracy"
    null = "no label is predicted with confidence"
    statistic = "mean probability of the predicted labels"
    settings = HastySettings
    claims = {
        "sure": Claim(
            "The labels are predicted with confidence.",
            "On {split}, labels are predicted with a mean confidence of {sure%} in {examples} examples.",
            "Take a walk.",
        )
    }

    def find(self, case):
        for view in case.usual.values():
            told = [p.max(axis=1).mean() for p in view.evidence.label_probabilities if p is not None]
            sure = float(np.mean(told)) if told else 1.0
            if view.right.all() and case.settings(HastySettings).sure < sure < 1:
                yield Found("sure", view.name, {"split": view.name, "sure": sure, "examples": len(view)})
'''
"""A finding that is told of models whose labels are right and not quite certain, unless its threshold is 1."""

POINTS = """[assay.tasks]
two-lamps = own_package:Lamps
[assay.models]
my-net = own_package:Net
[assay.metrics]
both_right = own_package:both_right
"""


def call(*words: object) -> tuple[int, str, str]:
    """Do what the shell does with `assay WORDS...`: return the exit status, the output and the messages."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["assay", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        return int(stop.code or 0), out.getvalue(), err.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("the command line did not exit")


def install(folder: Path, points: str, **modules: str) -> None:
    """Write modules and the metadata of a package that registers them, as an installer would."""
    info = folder / "own_package-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)


@contextlib.contextmanager
def installed(folder: Path) -> Iterator[None]:
    """Let packages be found in a folder, and forget them afterwards."""
    kept = [(r, dict(r.registered), set(r.installed), r.scanned) for r in (TASKS, MODELS, METRICS, FINDINGS)]
    modules = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for registry, *_ in kept:
            registry.scanned = False
        try:
            yield
        finally:
            for registry, entries, names, scanned in kept:
                registry.registered, registry.installed, registry.scanned = entries, names, scanned
                registry.broken.clear()
            for name in set(sys.modules) - modules:
                if name.startswith("own_package"):
                    del sys.modules[name]
            forget_files()
