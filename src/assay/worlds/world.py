"""A world: concepts and style. All that is random about it is stored in it, so that a picture is a function of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.base import DataError, shorten
from assay.logic import ConceptSpace, Value

Style = Mapping[str, Any]
CONTENT = "content"
"""The key of a style for what determines the concepts, such as a whole board; it is no nuisance factor."""
SOURCES = "sources"
"""The key of a style for the names of the source images that an imported example shows."""
LUCK = "luck"
"""The key of a style for the random numbers from 0 to 1 by which stochastic labels are drawn, one for each label."""


@dataclass(frozen=True, repr=False)
class World:
    """Concept codes in the order of the space, and a style of plain data (numbers, texts, lists)."""

    space: ConceptSpace
    codes: tuple[int, ...]
    style: Style

    def __getitem__(self, name: str) -> Value:
        return self.space.concept(name).values[self.codes[self.space.place(name)]]

    @property
    def values(self) -> dict[str, Value]:
        """The value of every concept."""
        return self.space.decode(self.codes)

    def do(self, changes: Mapping[str, Value] | None = None, **more: Value) -> "World":
        """Return the same world but for these concepts; the style stays."""
        codes = list(self.codes)
        for name, value in {**(changes or {}), **more}.items():
            codes[self.space.place(name)] = self.space.concept(name).code(value)
        return replace(self, codes=tuple(codes))

    @property
    def text(self) -> str:
        """The world in one line: its concepts, then its style as JSON."""
        concepts = " ".join(f"{name}={value}" for name, value in self.values.items())
        return f"{concepts} | {json.dumps(dict(self.style), sort_keys=True, separators=(',', ':'))}"

    @classmethod
    def from_text(cls, text: str, space: ConceptSpace) -> "World":
        """Read the line that `text` gives.

        >>> from assay.logic.concepts import digits
        >>> World.from_text('a=3 b=4 | {"draw":[7,9]}', digits(["a", "b"])).codes
        (3, 4)
        """
        left, bar, right = text.partition(" | ")
        try:
            pairs = dict(word.split("=", 1) for word in left.split())
            style = json.loads(right)
        except ValueError:
            raise DataError(f"not a world: {text!r}; expected 'name=value ... | {{style}}'") from None
        if not bar or set(pairs) != set(space.names):
            raise DataError(f"not a world: {text!r}; expected the concepts {', '.join(space.names)}")
        named = [{str(value): code for code, value in enumerate(concept.values)} for concept in space.concepts]
        for concept, codes in zip(space.concepts, named, strict=True):
            if pairs[concept.name] not in codes:
                raise DataError(f"not a world: concept {concept.name!r} has no value {pairs[concept.name]!r}")
        codes_in_order = zip(space.names, named, strict=True)
        return cls(space, tuple(codes[pairs[name]] for name, codes in codes_in_order), style)

    def __repr__(self) -> str:
        return f"World({shorten(self.text, 320)})"
