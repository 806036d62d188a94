"""The splits that rsbench's released generator makes, its fault included, for who wants to meet its published numbers.

It gives every split as many positive worlds as half of the training set has examples. With its usual proportions that
is more than valid, test and ood hold, so that all their examples are positive.
"""

from collections.abc import Sequence
from dataclasses import replace

from assay.logic import TRUE, Formula, conjunction
from assay.worlds import Split


def positive_only(splits: Sequence[Split], positive: Formula) -> tuple[Split, ...]:
    """Return the splits with only positive worlds in all but the training split and `hard`."""
    return tuple(
        split
        if split.name.startswith("train") or split.quota is not None
        else replace(split, where=_both(split.where, positive), one_sided=True)
        for split in splits
    )


def _both(where: Formula, positive: Formula) -> Formula:
    return positive if where == TRUE else conjunction(where, positive)
