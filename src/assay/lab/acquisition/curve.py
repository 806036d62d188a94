"""What each round of mending gave, over what was spent: verdict, F1 of labels and concepts, accuracy elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.base import Figure, curve_plot, html_table, html_text, to_frame
from assay.diagnosis import Diagnosis, headline

if TYPE_CHECKING:
    import pandas as pd

SHIFTED_FIRST = ("unconfounded", "ood")
"""Of the splits that differ from training, the one whose label accuracy is shown first."""
CURVE_HEAD = ("round", "spent", "verdict", "label F1", "concept F1", "elsewhere", "seconds", "why")


@dataclass(frozen=True)
class MendingRound:
    """A round: what was spent until then, and what the model trained with it is like."""

    number: int
    run: str
    """Where the run lies, as seen from the folder of the mending."""
    spent: int
    searched: int
    """At how many concepts of pictures an annotator looked."""
    bought: Mapping[str, int]
    """How much of each kind was bought until then."""
    verdict: str
    kinds: tuple[str, ...]
    why: str
    label_f1: float | None
    concept_f1: float | None
    accuracy: Mapping[str, float]
    """The label accuracy on each split."""
    seconds: float
    """What choosing, training and diagnosing took."""

    @classmethod
    def of(cls, diagnosis: Diagnosis, **facts: Any) -> "MendingRound":
        """Return the round of a diagnosis."""
        first = next(iter(diagnosis.scores.values()))
        label_f1, concept_f1 = (
            first[name].value if first[name].applies else None for name in ("label_f1", "concept_f1")
        )
        accuracy = {split: found["label_accuracy"].value for split, found in diagnosis.scores.items()}
        line = headline(diagnosis)
        scores = {"label_f1": label_f1, "concept_f1": concept_f1, "accuracy": accuracy}
        known: dict[str, Any] = {"verdict": line.verdict, "kinds": diagnosis.kinds, "why": line.why, **scores}
        return cls(**known, **facts)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "MendingRound":
        """Return the round of plain data."""
        return cls(**{**record, "kinds": tuple(record["kinds"])})

    @property
    def elsewhere(self) -> float | None:
        """The label accuracy on a split that differs from training, if there is one."""
        return next((self.accuracy[name] for name in SHIFTED_FIRST if name in self.accuracy), None)

    @property
    def cells(self) -> list[str]:
        """The round as a row of a table."""
        numbers = (self.label_f1, self.concept_f1, self.elsewhere)
        shown = ["" if value is None else f"{value:.2f}" for value in numbers]
        return [str(self.number), str(self.spent), self.verdict, *shown, f"{self.seconds:.1f}", self.why]


@dataclass(frozen=True, repr=False)
class MendingCurve:
    """The rounds of a mending, the first being the run that it began with."""

    strategy: str
    rounds: tuple[MendingRound, ...]
    goal: tuple[str, ...]
    """The verdicts that end it."""
    ended: str | None = None
    """Why it ended, if it has."""

    @property
    def mended(self) -> MendingRound | None:
        """The first round whose verdict is as it should be."""
        return next((one for one in self.rounds if one.verdict in self.goal), None)

    @property
    def spent(self) -> int:
        """What was spent in all."""
        return self.rounds[-1].spent

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {
            "strategy": self.strategy,
            "goal": list(self.goal),
            "ended": self.ended,
            "spent_until_mended": None if self.mended is None else self.mended.spent,
            "rounds": [asdict(one) for one in self.rounds],
        }

    @property
    def text(self) -> str:
        """What became of the model, in a sentence."""
        before, last = self.rounds[0].verdict, self.rounds[-1]
        if self.mended is not None:
            return f"{before} -> {self.mended.verdict}, {self.mended.spent} spent by {self.strategy!r}"
        return f"{before} -> {last.verdict}, not mended with {last.spent} spent by {self.strategy!r}: {self.ended}"

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame, a row for each round."""
        keys = ("number", "spent", "verdict", "label_f1", "concept_f1", "elsewhere", "seconds")
        return to_frame({key: [getattr(one, key) for one in self.rounds] for key in keys})

    def plot(self) -> Figure:
        """Draw F1 of labels and concepts, and accuracy elsewhere, over what was spent."""
        curves: dict[str, Sequence[float]] = {}
        for key in ("label_f1", "concept_f1", "elsewhere"):
            values = [getattr(one, key) for one in self.rounds]
            if None not in values:
                curves[key.replace("_", " ").replace(" f1", " F1")] = values
        return curve_plot("spent", [one.spent for one in self.rounds], curves, self.text)

    def __repr__(self) -> str:
        return f"MendingCurve({self.text}; {len(self.rounds) - 1} rounds)"

    def _repr_html_(self) -> str:
        return html_text(self.text, bold=True) + html_table(list(CURVE_HEAD), [one.cells for one in self.rounds])
