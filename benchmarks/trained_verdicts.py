"""First words and false claims on trained models and on blind cases, whose truth was measured without a diagnosis.

`python -m benchmarks.trained_verdicts` judges the half of the trained zoo on which thresholds were chosen; `--held` the
other half too, `--blind` the cases of `benchmarks.blind`. The name of a page writes the table there.
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from assay.diagnosis import Diagnosis, Thresholds, diagnose, read_thresholds
from benchmarks.claims.diagnosing import diagnosed
from benchmarks.pages import write_between
from benchmarks.trained.kept import kept_cases, read_case

BEGIN, END = "<!-- trained: begin -->", "<!-- trained: end -->"
ALONE = {"verdict.resamples": 0}
SEEDS = 3
"""How often each blind case is drawn."""


@dataclass(frozen=True)
class Judged:
    """A case with what was told of it: which words may come first, which must be told, and which would be false."""

    name: str
    group: str
    told: tuple[str, ...]
    accept: frozenset[str]
    required: frozenset[str]
    forbidden: frozenset[str]

    @property
    def right(self) -> bool:
        """Whether the first word is one of those accepted."""
        return self.told[0] in self.accept

    @property
    def false(self) -> list[str]:
        """The words told that are false."""
        return sorted(self.forbidden & set(self.told))

    @property
    def missing(self) -> list[str]:
        """The words that must be told and are not."""
        return sorted(self.required - set(self.told))

    @property
    def text(self) -> str:
        """What went wrong in words; nothing if nothing did."""
        parts = [] if self.right else [f"{self.told[0]} comes first, not {' or '.join(sorted(self.accept))}"]
        parts += [f"{word} is told and false" for word in self.false]
        parts += [f"{word} is not told" for word in self.missing if word not in self.accept or self.right]
        return f"{self.name} ({self.group}): {'; '.join(parts)} (told: {', '.join(self.told)})" if parts else ""


@dataclass
class Sum:
    """How often first words are right and words false, in some cases."""

    group: str
    cases: list[Judged] = field(default_factory=list)

    @property
    def cells(self) -> list[str]:
        """The row of the table."""
        count, forbidden = len(self.cases), sum(len(case.forbidden) for case in self.cases)
        right, clean = sum(case.right for case in self.cases), sum(not case.false for case in self.cases)
        false = sum(len(case.false) for case in self.cases)
        share = (
            f"{right} ({right / count:.1%})",
            f"{clean} ({clean / count:.1%})",
            f"{false} of {forbidden:,} ({false / forbidden:.2%})",
        )
        return [self.group, f"{count}", *share]


def of_zoo(halves: Sequence[str], thresholds: Thresholds) -> Iterator[Judged]:
    """Yield the cases of the trained zoo of some halves."""
    for path in kept_cases():
        case = read_case(path)
        header = case.header
        if header["half"] in halves:
            found = diagnosed(case, thresholds).diagnosis
            expected = (frozenset(header[name]) for name in ("accept", "required", "forbidden"))
            yield _judged(case.name, f"trained, {header['half']} half", found, *expected)


def of_blind(seeds: Iterable[int], thresholds: Thresholds) -> Iterator[Judged]:
    """Yield the blind cases, built with some seeds."""
    from benchmarks.blind import CASES

    for name, case in CASES.items():
        for seed in seeds:
            trial = case.build(seed)
            found = diagnose(trial.evidence, trial.training, thresholds=thresholds)
            yield _judged(f"{name}, seed {seed}", "blind", found, trial.accept, frozenset(), trial.forbidden)


def _judged(
    name: str, group: str, found: Diagnosis, accept: frozenset[str], required: frozenset[str], forbidden: frozenset[str]
) -> Judged:
    return Judged(name, group, found.kinds, accept, required, forbidden)


def sums_of(cases: Iterable[Judged]) -> list[Sum]:
    """Return the sums of each group of cases, and that of all."""
    groups: dict[str, Sum] = {}
    for case in cases:
        groups.setdefault(case.group, Sum(case.group)).cases.append(case)
    whole = Sum("all", [case for group in groups.values() for case in group.cases])
    return [*groups.values(), *([whole] if len(groups) > 1 else [])]


def markdown(sums: Sequence[Sum]) -> str:
    """Return the table as Markdown, with what went wrong."""
    head = ["cases", "how many", "first word right", "no false word", "false words of those that would be false"]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *(group.cells for group in sums))]
    wrong = [f"- {case.text}" for group in sums if group.group != "all" for case in group.cases if case.text]
    return "\n".join([*lines, *(["", "What went wrong:", "", *wrong] if wrong else [])])


def main() -> None:
    """Print the table, and write it into pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trained_verdicts", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages to write the table into")
    parser.add_argument("--held", action="store_true", help="judge the other half of the trained zoo too")
    parser.add_argument("--blind", action="store_true", help="judge the blind cases too")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how often each blind case is drawn")
    chosen = parser.parse_args()
    thresholds = read_thresholds(ALONE)
    cases = list(of_zoo(("choosing", "held") if chosen.held else ("choosing",), thresholds))
    if chosen.blind:
        cases += of_blind(range(chosen.seeds), thresholds)
    text = markdown(sums_of(cases))
    print(text)
    write_between([str(page) for page in chosen.pages], BEGIN, END, text)


if __name__ == "__main__":
    main()
