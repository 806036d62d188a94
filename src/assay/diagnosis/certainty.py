"""How certain the first word is: the share of resamples of the worlds that give the same."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.base import join_words, rng_for
from assay.diagnosis.case import Case
from assay.diagnosis.judging import judge
from assay.diagnosis.thresholds import Verdict


@dataclass(frozen=True)
class Certainty:
    """How often resamples of the worlds give each first word."""

    word: str
    words: Mapping[str, int]

    @property
    def resamples(self) -> int:
        """How many resamples there were."""
        return sum(self.words.values())

    @property
    def share(self) -> float:
        """The share of resamples that give the same first word."""
        return self.words.get(self.word, 0) / self.resamples if self.resamples else float("nan")

    @property
    def text(self) -> str:
        """The share in words, with the other words that resamples give."""
        if not self.resamples:
            return ""
        others = [f"{word} {count}" for word, count in self.words.items() if word != self.word]
        also = f" (others: {join_words(others[:3])})" if others else ""
        same = f"{self.words.get(self.word, 0)} of {self.resamples} resamples of the worlds"
        return f"Certainty: {same} say {self.word}{also}."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"share": self.share if self.resamples else None, "resamples": self.resamples, "words": dict(self.words)}


def certainty_of(case: Case, word: str) -> Certainty:
    """Return how often the same first word comes out when worlds are drawn again."""
    rng = rng_for(0, "certainty", len(case.first))
    drawn = (case.drawn_again(rng) for _ in range(case.settings(Verdict).resamples))
    words = Counter(judge(again).findings[0].kind for again in drawn)
    return Certainty(word, dict(words.most_common()))
