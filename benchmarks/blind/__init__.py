"""Blind cases: models and data with a cause that is known, written before anybody looked at how it is diagnosed.

`CASES` maps names to cases; `CASES[name].build(seed)` trains the model, draws the data, checks that the cause truly
occurred, and returns the evidence. `python -m benchmarks.blind --list` prints what is expected of each.
"""

from benchmarks.blind import concepts, heads, leaks, opaque, reality, shifts, shortcuts, small, sound, without_rule
from benchmarks.blind.case import CASES, Case, CauseMissing, Trial

__all__ = [
    "CASES", "Case", "CauseMissing", "Trial",
    "concepts", "heads", "leaks", "opaque", "reality", "shifts", "shortcuts", "small", "sound", "without_rule",
]  # fmt: skip
