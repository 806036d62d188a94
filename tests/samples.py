"""The tasks that tests take as samples, by family, and what skips a test where a family is not there.

Tests of what all tasks share need some task to try it on. Where its family was deleted (`tests/delete_part.py`), they
are skipped and say why: asking the registry for such a task skips by itself, `needs_task` is for all other ways.
"""

import os
from functools import partialmethod

import pytest

from assay.base import Registry
from assay.tasks import TASKS

SAMPLES = {
    "digits": ("mnadd", "mnadd-half", "mnadd-evenodd", "mnmath", "mnlogic"),
    "kandinsky": ("kand-logic", "kand-logic-and", "kand-logic-pairs"),
    "robots": ("robots",),
    "sudoku": ("sudoku", "sudoku-paper", "sudoku-mini", "sudoku-solve", "sudoku-solve-mini"),
    "coco": ("cocologic", "cocologic-fs"),
    "clevr": ("clevr", "clevr-small", "clevr-many"),
    "driving": ("sdd-oia", "bdd-oia"),
    "trains": ("trains", "trains-numerical", "trains-complex", "trains-ood", "blocks"),
    "chess": ("chess", "chess-sane", "chess-flat", "valued"),
    "raven": ("raven", "raven-small", "raven-biased"),
    "bongard": ("bongard", "bongard-small"),
}
MISSING = {name for names in SAMPLES.values() for name in names if name not in TASKS.entries}


DELETED = frozenset(os.environ.get("ASSAY_WITHOUT", "").split(",")) - MISSING
"""Models, metrics and findings that were deleted in this tree."""


def needs_task(*names):
    """Return the mark of a test that is skipped where one of these tasks is not there."""
    lacking = [name for name in names if name in MISSING]
    return pytest.mark.skipif(bool(lacking), reason=f"needs the task {', '.join(lacking)}")


def skip_without(*names):
    """Skip, from anywhere in a test or at the head of its module, where one of these tasks is not there."""
    for name in names:
        if name in MISSING:
            pytest.skip(f"needs the task {name}", allow_module_level=True)


def skip_where_samples_are_missing():
    """Let the registry skip a test that asks for a missing sample, instead of refusing its name."""

    def guarded(self, name, ask):
        skip_without(name)
        return ask(self, name)

    def guarded_part(self, name, ask):
        if name in DELETED and self.kind != "task":
            pytest.skip(f"needs the {self.kind} {name}", allow_module_level=True)
        return ask(self, name)

    if DELETED:
        Registry.entry = partialmethod(guarded_part, ask=Registry.entry)
        Registry.__contains__ = partialmethod(guarded_part, ask=Registry.__contains__)
    if MISSING:
        type(TASKS).entry = partialmethod(guarded, ask=Registry.entry)
        type(TASKS).__contains__ = partialmethod(guarded, ask=Registry.__contains__)
