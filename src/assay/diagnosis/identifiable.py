"""Which reasoning shortcuts the training labels allow, and which concept supervision would rule them out.

Counted are the concepts that the rule uses; what no label depends on is named by its number alone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import AssayError, Codes, SeededPermutation, distinct_rows, join_words
from assay.contracts import RunRecord
from assay.counting import (
    ReadingCount,
    Supervised,
    WorldReadings,
    count_shortcuts,
    describe_unused,
    numeral,
    numerals,
)
from assay.dataset import Dataset
from assay.diagnosis.concepts import WRONG, ConceptState, used_concepts
from assay.logic import Knowledge

MOST_WORLDS = 2_000
MOST_READINGS = 1_000_000
SECONDS = 5.0
BEYOND: dict[str, str] = {"object": "per-object", "source": "per-world", "world": "per-world"}
"""The class of readings that has a map of this kind; what looks at its own values only is in `shared`."""
NOISE = 0.12
"""The share of wrong answers that may be noise, which keeps labels by chance."""
READ_FROM = {"per-object": "object by object", "per-world": "jointly"}
"""How concepts are read in a class of readings that is richer than `shared`."""


@dataclass(frozen=True)
class Identifiability:
    """How many readings of the concepts in the rule keep the labels of all training worlds, from `low` to `high`.

    All but the right one are reasoning shortcuts. `counted` of the training `worlds` were used; with fewer than all,
    the number is an upper bound.
    """

    worlds: int
    counted: int
    low: int
    high: int
    identified: dict[str, bool]
    """For each encoder group of used concepts, whether all readings that keep the labels read it right; empty if not
    known."""
    settle: tuple[str, ...]
    """The concepts or concept values to supervise so that no shortcut is left; none that is supervised already."""
    family: str = "shared"
    """The class of readings that was counted."""
    used: int = 0
    """How many concepts the rule uses."""
    unused: int = 0
    """How many concepts no label depends on, neither by themselves nor through a map that they share."""
    supervised: tuple[str, ...] = ()
    """The concepts in the rule that are supervised, or those of their values that are."""

    @property
    def text(self) -> str:
        """The count in words."""
        sentences = [self._count_text()]
        if self.settle and self.low == self.high > 1:
            pronoun = "them" if self.high > 2 else "it"
            sentences.append(f"Supervising {join_words(self.settle)} would rule {pronoun} out.")
        if self.unused:
            sentences.append(f"{describe_unused(self.unused)}.")
        return " ".join(sentences)

    def _count_text(self) -> str:
        """Return how many shortcuts there are, as a sentence."""
        where = f"labels of {self.worlds:,} training worlds"
        if self.counted < self.worlds:
            where = f"labels of {self.counted:,} of the {self.worlds:,} training worlds"
        if self.supervised:
            where += f" and the supervision of {join_words(self.supervised)}"
        how = READ_FROM.get(self.family)
        if self.high == 1:
            even = f", even if concepts are read {how}" if how else ""
            return f"The {where} allow no reasoning shortcut{even}: only the right reading keeps them all."
        what = f"of the concepts in the rule, read {how}, that" if how else "of the concepts in the rule that"
        low, high = max(0, self.low - 1), self.high - 1
        if (low, high) == (1, 1):
            return f"The {where} allow 1 reasoning shortcut: a wrong mapping {what} keeps every label."
        number = numeral(high) if low == high else f"from {numerals(low, high)}"
        return f"The {where} allow {number} reasoning shortcuts: wrong mappings {what} keep every label."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "training_worlds": self.worlds,
            "worlds_counted": self.counted,
            "low": self.low,
            "high": self.high,
            "family": self.family,
            "used_concepts": self.used,
            "unused_concepts": self.unused,
            "supervised": list(self.supervised),
            "identified": dict(self.identified),
            "settled_by": list(self.settle),
            "text": self.text,
        }


def identifiability(
    knowledge: Knowledge,
    training: Codes | None,
    seconds: float = SECONDS,
    supervised: Supervised | None = None,
    family: str = "shared",
) -> Identifiability | None:
    """Return which readings the labels of training worlds allow; None without any, or where they cannot be counted.

    Parameters
    ----------
    knowledge
        The concepts and the rule.
    training
        The concept codes of the training worlds, a row each.
    seconds
        How long counting may take.
    supervised
        Concepts that are supervised, on all of their values (None) or some: no advice names them.
    family
        The class of readings that is counted, such as the one that a model's misreadings need.
    """
    if training is None or not len(training):
        return None
    worlds = training[distinct_rows(training).first]
    counted = worlds[:: -(-len(worlds) // MOST_WORLDS)]
    used, known = used_concepts(knowledge), dict(supervised or {})
    try:
        count = count_shortcuts(knowledge, family, counted, known, seconds, used)
        settle = _ruling_out(count, knowledge, counted, known, seconds)
    except AssayError:
        return None
    low, high = count.of_used
    return Identifiability(
        worlds=len(worlds),
        counted=len(counted),
        low=low if len(counted) == len(worlds) else 1,
        high=high,
        identified=_identified_groups(count),
        settle=settle,
        family=family,
        used=len(used),
        unused=len(count.unused),
        supervised=_supervised_texts(knowledge, used, known),
    )


def _supervised_texts(knowledge: Knowledge, used: Collection[int], supervised: Supervised) -> tuple[str, ...]:
    """Return the supervised concepts of the rule, or their values."""
    texts: list[str] = []
    for column, concept in enumerate(knowledge.space.concepts):
        if column in used and concept.name in supervised:
            values = supervised[concept.name]
            texts += [concept.name] if values is None else [f"{concept.name} {value}" for value in values]
    return tuple(texts)


def family_of(states: Iterable[ConceptState], taught: Identifiability, knowledge: Knowledge, keeps_labels: bool) -> str:
    """Return the class of readings that a model's misreadings need: `shared` unless these are surely outside of it.

    They are where a fitted map looks at other concepts, and where the model keeps the labels (`keeps_labels`) although
    it misreads a concept that every reading of the counted class which keeps them reads right.
    """
    group_of = {name: group.name for group in knowledge.space.encoders for name in group.concepts}
    classes: set[str] = {taught.family}
    for state in states:
        if not state.used or state.state not in WRONG:
            continue
        if state.map is not None and state.map.kind in BEYOND:
            classes.add(BEYOND[state.map.kind])
        elif keeps_labels and state.accuracy < 1 - NOISE and taught.identified.get(group_of[state.concept]):
            classes.add("per-world")
    richest: tuple[str, ...] = ("per-world", "per-object")
    return next((family for family in richest if family in classes), taught.family)


def supervision_of(record: RunRecord, dataset: Dataset) -> dict[str, list[Any] | None]:
    """Return which concepts a run was supervised on, as `identifiability` takes it.

    A value counts as supervised if a training example with supervision is annotated with it; where those are all that
    occur, the whole concept does (None). A run without concept loss, or a file of predictions, has no supervision.
    """
    config, space = record.config, dataset.knowledge.space
    if not config.get("concept_weight") or "train" not in dataset:
        return {}
    data, found = dataset.symbols("train", styles=False, given=True), dict[str, list[Any] | None]()
    given, share = data.annotated_concepts, config.get("supervised_share", 1.0)
    if share < 1:
        order = SeededPermutation(len(given), record.seed, "supervision").deal(np.arange(len(given)))
        given = given[order < share * len(given)]
    names, only = config.get("supervised_concepts"), config.get("supervised_values")
    for column, concept in enumerate(space.concepts):
        occurring = {concept.values[code] for code in np.unique(data.concepts[:, column]) if code >= 0}
        values = {concept.values[code] for code in np.unique(given[:, column]) if code >= 0}
        if only is not None:
            values &= set(only)
        if values and (names is None or concept.name in names):
            found[concept.name] = None if occurring <= values else sorted(values, key=concept.values.index)
    return found


def _identified_groups(count: ReadingCount) -> dict[str, bool]:
    if count.readings is None or count.total is None:
        return {}
    identified: dict[str, bool] = {}
    for entry, share in count.readings.identifiability():
        identified[entry.owner] = identified.get(entry.owner, True) and share == 1
    return identified


def _ruling_out(
    count: ReadingCount, knowledge: Knowledge, worlds: Codes, supervised: Supervised, seconds: float
) -> tuple[str, ...]:
    """Return what to supervise so that only the right reading is left; nothing if that cannot be planned."""
    if count.family == "per-world":
        return tuple(step.supervised for step in WorldReadings.of(knowledge, worlds, supervised).plan())
    low, high = count.of_used
    if count.readings is None or low != high or not 1 < high <= MOST_READINGS:
        return ()
    steps = count.readings.plan(seconds)
    if not steps or steps[-1].left > 1:
        return ()
    entries = [(entry.owner, entry.text) for entry in count.readings.problem.entries]
    return _by_owner([step.supervised for step in steps], entries)


def _by_owner(chosen: Sequence[str], entries: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return entries by their texts, and in place of all entries of one owner its name.

    >>> _by_owner(["b 1", "a 0", "b 0"], [("a", "a 0"), ("a", "a 1"), ("b", "b 0"), ("b", "b 1")])
    ('b', 'a 0')
    """
    texts: dict[str, set[str]] = {}
    for owner, text in entries:
        texts.setdefault(owner, set()).add(text)
    owner_of = {text: owner for owner, text in entries}
    whole = {owner for owner, own in texts.items() if own <= set(chosen)}
    return tuple(dict.fromkeys(owner_of[one] if owner_of[one] in whole else one for one in chosen))
