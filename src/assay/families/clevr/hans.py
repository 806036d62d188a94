"""CLEVR-Hans3: which of three classes is a scene of, where training confounds two of them?

Concepts     as in CLE4EVR: colour (8), shape (3), material (2), size (2) of three to ten objects.
Rule         1: a large cube and a large cylinder; 2: a small metal cube and a small sphere; 3: a large blue sphere and
             a small yellow sphere. No scene keeps two of these.
Shortcuts    in train, valid and test a scene of class 1 has a gray large cube, and one of class 2 a small metal sphere.
Splits       train, valid, test; `unconfounded`, the published test set, with scenes of all kinds; `reversed`, without
             what training always shows.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from pydantic import Field

from assay.families.clevr.settings import ClevrConfig
from assay.families.clevr.task import Clevr
from assay.logic.formula import Formula
from assay.logic.parse import parse
from assay.worlds.split import Balance

OBJECTS = "x.size == '{}' and x.shape == '{}'"


def _some(size: str, shape: str, more: str = "") -> str:
    """Return "there is such an object".

    >>> _some("large", "cube")
    "any(x.size == 'large' and x.shape == 'cube' for x in objects)"
    """
    return f"any({OBJECTS.format(size, shape)}{more and ' and ' + more} for x in objects)"


BLUE, YELLOW, GRAY = (f"x.colour == {name!r}" for name in ("blue", "yellow", "gray"))
METAL = "x.material == 'metal'"
CLASSES = (
    f"{_some('large', 'cube')} and {_some('large', 'cylinder')}",
    f"{_some('small', 'cube', METAL)} and {_some('small', 'sphere')}",
    f"{_some('large', 'sphere', BLUE)} and {_some('small', 'sphere', YELLOW)}",
)
"""The published rule of each class."""
CONFOUNDED = {
    CLASSES[0]: _some("large", "cube", GRAY),
    CLASSES[1]: _some("small", "sphere", METAL),
}
"""What training and validation always show with a class."""


class ClevrHansConfig(ClevrConfig):
    """Settings of CLEVR-Hans3; by default the objects of CLEVR, three to ten of them."""

    objects: int | tuple[int, int] = (3, 10)
    """How many objects a picture has: the least and the most, each number as often as another."""
    shapes: list[str] = ["cube", "sphere", "cylinder"]
    """The shapes in use."""
    colours: list[str] = ["gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"]
    """The colours in use."""
    sizes: list[str] = ["large", "small"]
    """The sizes in use."""
    rule: str = f"1 if {CLASSES[0]} else 2 if {CLASSES[1]} else 3"
    """The class; scenes of which no class rule holds, or more than one, are not drawn."""
    balance: Balance | None = "label"
    """Distribute examples evenly over classes, as published, or over `world`s."""
    strength: float = Field(1.0, ge=0, le=1)
    """In what share of the scenes of a confounded class training shows what goes with it; as published, in all."""


class ClevrHans(Clevr):
    """Scenes of three classes, two of which training confounds: which class?"""

    name = "clevr-hans"
    version: ClassVar[int] = 1
    Config = ClevrHansConfig
    config: ClevrHansConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 9000, "valid": 2250, "test": 2250}
    trial: ClassVar[Mapping[str, Any]] = {"width": 64, "height": 48, "quality": "draft", "objects": (3, 4)}

    @property
    def planted(self) -> Sequence[Mapping[str, Any]]:
        """What goes with the first two classes."""
        return tuple(
            {"what": what, "with": rule, "strength": self.config.strength, "one_sided": True}
            for rule, what in CONFOUNDED.items()
        )

    @cached_property
    def _one_class(self) -> Formula:
        return parse(f"exactly(1, {', '.join(CLASSES)})")

    def in_distribution(self) -> Formula:
        """Return the scenes of which one class rule holds, and no other."""
        inside = super().in_distribution()
        return self._one_class & inside
