"""Splits of imported data: as the source has them, and those that it lacks made by a seeded share."""

from collections.abc import Mapping, Sequence

import numpy as np

from assay.base import DataError, rng_for
from assay.contracts import SPLIT_NAME
from assay.exchange.imports.source_table import SourceTable

USUAL = ("train", "valid", "test")


def assign_splits(table: SourceTable, shares: Mapping[str, float], seed: int) -> list[str]:
    """Return the split of each row: the source's own, with `valid` and `test` taken from `train` where they lack.

    Pictures of one source image stay together.
    """
    splits = list(table.splits) if table.splits is not None else ["train"] * len(table)
    if "train" not in splits:
        raise DataError(f"no row is of split 'train'; there is: {', '.join(sorted(set(splits)))}")
    for name in sorted(set(splits)):
        if not SPLIT_NAME.fullmatch(name):
            raise DataError(f"{name!r} is no name of a split; name it by letters, digits, '.', '_' and '-'")
    lacking = {name: share for name, share in shares.items() if name != "train" and name not in splits}
    if lacking:
        rows = [row for row, split in enumerate(splits) if split == "train"]
        whole = shares["train"] + sum(lacking.values())
        made = _divide(_groups(table, rows), {name: share / whole for name, share in lacking.items()}, seed)
        for row, name in made.items():
            splits[row] = name
    if "train" not in splits or any(name not in splits for name in lacking):
        raise DataError(f"{len(table)} examples are too few for the splits {', '.join(shares)}; give other shares")
    return splits


def split_order(splits: Sequence[str]) -> list[str]:
    """Return the names of splits, the usual ones first."""
    names = dict.fromkeys(splits)
    return [*(name for name in USUAL if name in names), *(name for name in names if name not in USUAL)]


def _groups(table: SourceTable, rows: Sequence[int]) -> list[list[int]]:
    """Return rows that belong together: those of the same source images."""
    grouped: dict[object, list[int]] = {}
    for row in rows:
        key = table.sources[row] if table.sources and table.sources[row] else row
        grouped.setdefault(key, []).append(row)
    return list(grouped.values())


def _divide(groups: Sequence[list[int]], shares: Mapping[str, float], seed: int) -> dict[int, str]:
    """Return the split of the rows that are taken out, in a seeded order."""
    order = rng_for(seed, "import", "splits").permutation(len(groups)).tolist()
    total = sum(map(len, groups))
    splits: dict[int, str] = {}
    for name, share in shares.items():
        count, wanted = 0, max(1, int(np.rint(share * total)))
        while order and count < wanted:
            rows = groups[order.pop()]
            splits.update(dict.fromkeys(rows, name))
            count += len(rows)
    return splits
