"""From formulas to the probabilities of a label's values, for concepts that are certain or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import ConceptSpace, Value
from assay.errors import TooLarge
from assay.logic.circuit import Diagram, compile_diagram
from assay.logic.evaluate import evaluate
from assay.logic.formula import Formula
from assay.logic.knowledge import Label


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

        Where a diagram would be too large, the likeliest concepts decide.
        """
        codes = np.stack([values.argmax(axis=1) for values in concepts], axis=1)
        if all((values.max(axis=1) >= 1).all() for values in concepts) or self._diagram is None:
            return np.asarray(np.eye(len(self.label.values))[self.codes_of(codes)])
        outcomes = self._diagram.probabilities(concepts)
        return np.asarray(outcomes @ np.eye(len(self.label.values))[self._meanings])

    def codes_of(self, codes: Codes) -> Codes:
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


def _plain(value: Value) -> int | str:
    return value if isinstance(value, str) else int(value)
