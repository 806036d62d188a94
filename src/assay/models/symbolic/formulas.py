"""Models that learn formulas: one for each label, stored as text, so that it can be read, counted and compared."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError, TooLarge
from assay.logic import ConceptSpace, Diagram, Formula, Label, Value, compile_diagram, evaluate, parse
from assay.models.symbolic.base import SymbolicModel
from assay.models.symbolic.examples import Examples, LabelExamples


@dataclass(frozen=True)
class LearnedFormulas:
    """The formulas of one label, and notes for the record (cost, seconds, errors).

    `formulas` holds one formula of the label's own kind under the key None, or a true-or-false formula for some of its
    values by code; `otherwise` is the code where none of these is true. Where several are, the first listed holds.
    """

    formulas: Mapping[int | None, Formula]
    otherwise: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_values(
        cls, label: Label, rules: Mapping[int, tuple[Formula, dict[str, Any]]], otherwise: int
    ) -> "LearnedFormulas":
        """Return the formulas of a label's values, each with its notes, those with the fewest errors first."""
        codes = sorted(rules, key=lambda code: int(rules[code][1]["errors"]))
        notes = {str(label.values[code]): rules[code][1] for code in codes}
        return cls({code: rules[code][0] for code in codes}, otherwise, notes)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, formulas as text."""
        listed = [[code, str(formula)] for code, formula in self.formulas.items()]
        return {"formulas": listed, "otherwise": self.otherwise, "notes": dict(self.notes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LearnedFormulas":
        """Return what `to_dict` wrote."""
        return cls({code: parse(text) for code, text in data["formulas"]}, data["otherwise"], data["notes"])


@dataclass(frozen=True)
class LabelRule:
    """The formulas of one label: one of its own kind under None, or a true-or-false one for some values by code.

    Where several are true the first listed holds, where none is, the value of code `otherwise`.
    """

    space: ConceptSpace
    label: Label
    formulas: Mapping[int | None, Formula]
    otherwise: int = 0

    def __call__(self, concepts: list[Array]) -> Array:
        """Return the probabilities of the label's values: exact for independent concepts that are uncertain.

        Where a diagram would be too large, the most probable concepts decide.
        """
        codes = np.stack([values.argmax(axis=1) for values in concepts], axis=1)
        if all((values.max(axis=1) >= 1).all() for values in concepts) or self._diagram is None:
            return np.asarray(np.eye(len(self.label.values))[self.class_indices(codes)])
        outcomes = self._diagram.probabilities(concepts)
        return np.asarray(outcomes @ np.eye(len(self.label.values))[self._meanings])

    def class_indices(self, codes: Codes) -> Codes:
        """Return the label's code in worlds with these concepts."""
        columns = [evaluate(formula, self.space, codes) for formula in self.formulas.values()]
        if not columns:
            return np.full(len(codes), self.otherwise, dtype=np.int64)
        if None in self.formulas:
            places = {_plain(value): code for code, value in enumerate(self.label.values)}
            return np.array([places.get(_plain(value), self.otherwise) for value in columns[0].tolist()], np.int64)
        holds = np.stack([column.astype(bool) for column in columns], axis=1)
        keys = np.array([key for key in self.formulas if key is not None], dtype=np.int64)
        return np.where(holds.any(axis=1), keys[holds.argmax(axis=1)], self.otherwise)

    @cached_property
    def _diagram(self) -> Diagram | None:
        try:
            return compile_diagram(list(self.formulas.values()), self.space)
        except TooLarge:
            return None

    @cached_property
    def _meanings(self) -> Codes:
        """The label's code for each outcome of the diagram."""
        outcomes = self._diagram.outcomes if self._diagram is not None else ()
        if None in self.formulas:
            places = {_plain(value): code for code, value in enumerate(self.label.values)}
            return np.array([places.get(_plain(outcome[0]), self.otherwise) for outcome in outcomes], np.int64)
        keys = list(self.formulas)
        codes = [next((key for key, holds in zip(keys, outcome, strict=True) if holds), None) for outcome in outcomes]
        return np.array([self.otherwise if key is None else key for key in codes], dtype=np.int64)


MOST_EXCEPTIONS = 3


def rule_fit(rule: LabelRule, examples: LabelExamples) -> dict[str, Any]:
    """Return how a learned rule fits its training examples: what each value covers, and the worlds it is wrong in."""
    said, values = rule.class_indices(examples.codes), rule.label.values
    wrong = said != examples.targets
    covers = []
    for code in np.unique(examples.targets).tolist():
        there, claimed = examples.targets == code, said == code
        hits = int((there & claimed).sum())
        covers.append(
            f"{values[code]} in {hits:,} of {int(there.sum()):,}"
            + (f" and wrongly in {int(claimed.sum()) - hits:,}" if int(claimed.sum()) > hits else "")
        )
    text = f"right in {int((~wrong).sum()):,} of {len(wrong):,} training examples; covers {', '.join(covers)}"
    worlds, counts = np.unique(examples.codes[wrong], axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_EXCEPTIONS]
    shown = [_world_text(rule.space, worlds[place]) + f" ({counts[place]:,})" for place in order.tolist()]
    more = f" and {len(worlds) - len(shown)} more worlds" if len(worlds) > len(shown) else ""
    text += f"; exceptions: {', '.join(shown)}{more}" if shown else "; no exceptions"
    return {"examples": len(wrong), "right": int((~wrong).sum()), "exceptions": len(worlds), "text": text}


def _world_text(space: ConceptSpace, codes: Codes) -> str:
    return " ".join(f"{name}={value}" for name, value in space.decode(codes).items())


class FormulaModel(SymbolicModel):
    """A learner of formulas: one for each label, or a true-or-false one for each value of a label."""

    def begin(self) -> None:
        """Start without formulas."""
        self.learned: dict[str, LearnedFormulas] = {}

    @abstractmethod
    def learn_label(self, label: Label, examples: LabelExamples) -> LearnedFormulas:
        """Learn the formulas of one label."""

    def learn(self, examples: Examples) -> None:
        """Learn label by label."""
        for label in self.knowledge.labels:
            annotated = examples.of_label(label)
            learned = self.learn_label(label, annotated)
            fit = rule_fit(LabelRule(self.space, label, learned.formulas, learned.otherwise), annotated)
            self.learned[label.name] = replace(learned, notes={**learned.notes, "fit": fit})

    @property
    def formulas(self) -> dict[str, Formula]:
        """The formula of each label that has one of its own kind, or the one of "true" where it is true or false."""
        formulas = {}
        for label in self.knowledge.labels:
            learned = self.learned[label.name].formulas
            key = None if None in learned else label.values.index(True) if True in label.values else None
            if key in learned:
                formulas[label.name] = learned[key]
        return formulas

    def label_probabilities(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities under the formulas, exact for independent concepts."""
        return [self._rule(label)(concepts) for label in self.knowledge.labels]

    def _rule(self, label: Label) -> LabelRule:
        if label.name not in self.learned:
            raise ConfigError(f"model {self.name!r} has learned nothing yet of label {label.name!r}")
        learned = self.learned[label.name]
        return LabelRule(self.space, label, learned.formulas, learned.otherwise)

    def describe(self) -> list[str]:
        """Return the formula of each label, or of each value that it can have."""
        lines = []
        for label in self.knowledge.labels:
            for code, formula in self.learned[label.name].formulas.items():
                plain = code is None or label.kind == "bool"
                lines.append(f"{label.name}{'' if plain else f' is {label.values[code or 0]}'}: {formula}")
        return lines

    def coverage(self) -> list[str]:
        """Return how the formula of each label fits the training examples, and its exceptions."""
        fits = {name: learned.notes.get("fit") for name, learned in self.learned.items()}
        return [f"{name}: {fit['text']}" for name, fit in fits.items() if fit is not None]

    def state(self) -> dict[str, Any]:
        """Return the formulas as text."""
        return {"labels": {name: learned.to_dict() for name, learned in self.learned.items()}}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore the formulas."""
        self.learned = {name: LearnedFormulas.from_dict(data) for name, data in state["labels"].items()}


def _plain(value: Value) -> int | str:
    return value if isinstance(value, str) else int(value)
