"""A zoo of known faults: predictors whose fault is planted, with the findings that must and must not be reported.

`survey` tries specimens in habitats and counts what is reported of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import assay.testing.zoo_rivals
import assay.testing.zoo_specimens  # noqa: F401 - they register
from assay.base import rng_for
from assay.diagnosis import Diagnosis, Thresholds, Verdict, diagnose
from assay.testing.planted import FAULTY_PREDICTORS as FAULTY_PREDICTORS
from assay.testing.planted import Planted, ZooTask

QUICK = Thresholds({"verdict": Verdict(resamples=0)})
"""No resamples: only the words are looked at."""


@dataclass
class Survey:
    """What was reported of specimens: how many required findings, and how many forbidden ones."""

    tried: int = 0
    required: int = 0
    reported: int = 0
    forbidden: int = 0
    falsely_reported: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, where: str, planted: Planted, diagnosis: Diagnosis) -> None:
        """Count one diagnosis."""
        kinds = set(diagnosis.kinds)
        named = {name for finding in diagnosis.findings for name in finding.concepts}
        wanted = [(bool(kinds & options), f"no {' or '.join(sorted(options))}") for options in planted.required]
        wanted += [(name in named, f"{name} is not named") for name in sorted(planted.concepts)]
        if planted.note:
            said = " ".join((diagnosis.text, *diagnosis.details))
            wanted.append((planted.note in said, f"{planted.note!r} is not said"))
        if planted.first:
            first = " or ".join(sorted(planted.first))
            wanted.append((diagnosis.verdict in planted.first, f"not first: {first}"))
        wrongly = sorted(kinds & planted.forbidden)
        self.tried += 1
        self.required += len(wanted)
        self.reported += sum(ok for ok, _ in wanted)
        self.forbidden += len(planted.forbidden)
        self.falsely_reported += len(wrongly)
        faults = [why for ok, why in wanted if not ok] + [f"{kind} was told" for kind in wrongly]
        if faults:
            self.misses.append(f"{where}: {'; '.join(faults)} (told: {', '.join(diagnosis.kinds)})")


def try_specimen(name: str, home: ZooTask) -> tuple[Planted, Diagnosis] | None:
    """Plant a fault in a habitat and diagnose it; None where there is no room for it."""
    planted = FAULTY_PREDICTORS[name][1](home, rng_for(home.seed, "zoo", name, home.task))
    return None if planted is None else (planted, diagnose(planted.evidence, home.training, thresholds=QUICK))


def survey(homes: Sequence[ZooTask], chosen: Sequence[str] | None = None) -> Iterator[tuple[str, Survey]]:
    """Yield for each specimen what was reported of it in all habitats that have room for it."""
    for name in FAULTY_PREDICTORS if chosen is None else chosen:
        counts = Survey()
        for home in homes:
            tried = try_specimen(name, home)
            if tried is not None:
                counts.add(f"{name} on {home.task}, seed {home.seed}", *tried)
        yield name, counts
