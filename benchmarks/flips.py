"""How many verdicts on trained models flip when one threshold moves by a fifth.

`python -m benchmarks.flips` diagnoses every kept case of the trained zoo with each threshold lowered and raised by 20 %
(counts by at least one), and prints how many first words change, and how many of these become wrong. The name of a page
writes the table there, between two markers.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from assay.diagnosis import Thresholds, case_of, described, judge, read_thresholds
from benchmarks.claims.diagnosing import effects_of
from benchmarks.pages import write_between
from benchmarks.trained.kept import Case, kept_cases, read_case

BEGIN, END = "<!-- flips: begin -->", "<!-- flips: end -->"
BY = 0.2
IDLE = frozenset({"verdict.resamples", "verdict.calibration"})
"""Thresholds that decide no word."""


@dataclass(frozen=True)
class Move:
    """A threshold moved from its value to another."""

    key: str
    value: float
    to: float


@dataclass(frozen=True)
class Flips:
    """What became of the first words: which cases flipped, from which word to which, and how many went wrong."""

    move: Move
    flipped: tuple[tuple[str, str, str], ...]
    spoilt: int
    mended: int


def moves() -> list[Move]:
    """Return every threshold lowered and raised, within its bounds."""
    found = []
    for each in described():
        value = each.default
        for side in (-1, 1) if each.name not in IDLE else ():
            to = value * (1 + side * BY)
            if isinstance(value, int):
                to = value + side * max(1, round(value * BY))
            to = min(max(to, each.low), each.high)
            if to != value:
                found.append(Move(each.name, value, to))
    return found


def words_of(cases: Sequence[Case], move: Move | None = None) -> dict[str, str]:
    """Return the first word of each case, a threshold perhaps moved."""
    thresholds = read_thresholds({} if move is None else {move.key: move.to})
    return {case.name: word_of(case, thresholds) for case in cases}


def word_of(case: Case, thresholds: Thresholds) -> str:
    """Return the first word on a case."""
    effects = None if case.pairs is None else effects_of(case.pairs)
    return judge(case_of(case.evidence, case.training, thresholds, effects)).findings[0].kind


def flips(cases: Sequence[Case], chosen: Sequence[Move]) -> Iterator[Flips]:
    """Yield what each move does to the first words."""
    before = words_of(cases)
    accept = {case.name: set(case.header["accept"]) for case in cases}
    for move in chosen:
        after = words_of(cases, move)
        names = [name for name, word in before.items() if after[name] != word]
        lost = sum(before[name] in accept[name] and after[name] not in accept[name] for name in names)
        won = sum(before[name] not in accept[name] and after[name] in accept[name] for name in names)
        yield Flips(move, tuple((name, before[name], after[name]) for name in names), lost, won)


def markdown(found: Sequence[Flips], cases: int) -> str:
    """Return the table as Markdown: the moves that flip something, and a sentence on all."""
    total = sum(len(flip.flipped) for flip in found)
    tried, spoilt = len(found) * cases, sum(flip.spoilt for flip in found)
    still = sum(not flip.flipped for flip in found)
    text = (
        f"{len(found)} moves of {len({flip.move.key for flip in found})} thresholds by {BY:.0%}, on {cases} trained "
        f"models: {total:,} of {tried:,} first words flip ({total / tried:.2%}), {spoilt} to a wrong one; "
        f"{still} moves flip none."
    )
    head = ["threshold", "value", "moved to", "first words that flip", "right to wrong", "wrong to right", "which"]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head))]
    for flip in sorted((flip for flip in found if flip.flipped), key=lambda flip: -len(flip.flipped)):
        kinds = Counter(f"{one} to {other}" for _, one, other in flip.flipped)
        which = ", ".join(f"{kind} {count}" if count > 1 else kind for kind, count in kinds.most_common(3))
        counts = f"{len(flip.flipped)} | {flip.spoilt} | {flip.mended}"
        lines.append(f"| `{flip.move.key}` | {flip.move.value:g} | {flip.move.to:g} | {counts} | {which} |")
    return "\n".join([text, "", *lines])


def main() -> None:
    """Print the table, and write it into pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flips", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages to write the table into")
    parser.add_argument("--half", choices=("choosing", "held"), help="only this half of the zoo")
    parser.add_argument("--only", default="", metavar="PREFIX", help="only thresholds whose names begin so")
    chosen = parser.parse_args()
    cases = [
        case
        for path in kept_cases()
        if (case := read_case(path)).header["half"] in (chosen.half or case.header["half"])
    ]
    found = list(flips(cases, [move for move in moves() if move.key.startswith(chosen.only)]))
    text = markdown(found, len(cases))
    print(text)
    write_between([str(page) for page in chosen.pages], BEGIN, END, text)


if __name__ == "__main__":
    main()
