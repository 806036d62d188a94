"""CLEVR-Hans: which of three, or seven, classes is a scene of, where training confounds some of them?

Concepts     as in CLE4EVR: colour (8), shape (3), material (2), size (2) of three to ten objects. With seven classes
             also the side of the picture (left, right) and the row, counted from the front, in which an object stands.
Rule         1: a large cube and a large cylinder; 2: a small metal cube and a small sphere; 3: a large blue sphere and
             a small yellow sphere. No scene keeps two of these. `HANS7` has the rules of the seven classes.
Shortcuts    in train, valid and test a scene of class 1 has a gray large cube, and one of class 2 a small metal sphere.
Splits       train, valid, test; `unconfounded`, the published test set, with scenes of all kinds; `reversed`, without
             what training always shows.

Rules and confounders are those of the released class files; where the released text says otherwise, the files count.
`x.row < y.row`: x is in front of y. Of seven classes, scenes of class 5 may have what makes class 6, and no other two
rules hold of one scene.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from assay.base import ConfigError
from assay.families.clevr.placed_source import PlacedObjects, PlacedSource, SceneKind, ScenePlanner
from assay.families.clevr.placement import OrderedPlacement
from assay.families.clevr.settings import ATTRIBUTES, ClevrConfig
from assay.families.clevr.task import TRIES, Clevr
from assay.logic import ABSENT, Constraint, Formula, Implies, Value, Var, conjunction, parse
from assay.worlds import Balance, Source, Split, Style, World

OBJECTS = "x.size == '{}' and x.shape == '{}'"


def _some(size: str, shape: str, more: str = "") -> str:
    """Return "there is such an object".

    >>> _some("large", "cube")
    "any(x.size == 'large' and x.shape == 'cube' for x in objects)"
    """
    return f"any({OBJECTS.format(size, shape)}{more and ' and ' + more} for x in objects)"


def _in_front(more: str = "") -> str:
    """Return "a cyan object is in front of two red ones"."""
    behind = "count(y.colour == 'red' and x.row < y.row for y in objects) >= 2"
    return f"any(x.colour == 'cyan' and {more}{behind} for x in objects)"


BLUE, YELLOW, GRAY = (f"x.colour == {name!r}" for name in ("blue", "yellow", "gray"))
METAL = "x.material == 'metal'"
LARGE = f"{_some('large', 'cube')} and {_some('large', 'cylinder')}"
SMALL = f"{_some('small', 'cube', METAL)} and {_some('small', 'sphere')}"
SPHERES = f"{_some('large', 'sphere', BLUE)} and {_some('small', 'sphere', YELLOW)}"
FIVE = "count(x.size == 'small' for x in objects) >= 5 and " + " and ".join(
    f"any(x.size == 'small' and x.colour == {colour!r} for x in objects)" for colour in ("brown", "green", "purple")
)
LEFT = "count(x.shape == 'sphere' and x.side == 'left' for x in objects) >= 3"
RIGHT = f"count(x.shape == 'cylinder' and {METAL} and x.side == 'right' for x in objects) >= 3"


@dataclass(frozen=True)
class HansClasses:
    """The rules of all classes in order, what confounds some of them, and how many objects each needs.

    `confounders` are by rule: a formula, and in what share of the scenes of that class training shows it.
    """

    rules: tuple[str, ...]
    confounders: Mapping[str, tuple[str, float]]
    least: tuple[int, ...]

    @property
    def label(self) -> str:
        """The class as a formula, where one rule holds and no other."""
        *first, _ = [f"{number} if {rule} else " for number, rule in enumerate(self.rules, start=1)]
        return f"{''.join(first)}{len(self.rules)}"


CONFOUNDERS = {LARGE: (_some("large", "cube", GRAY), 1.0), SMALL: (_some("small", "sphere", METAL), 1.0)}
HANS3 = HansClasses((LARGE, SMALL, SPHERES), CONFOUNDERS, (2, 2, 2))
CYAN, CYLINDERS = _in_front(), f"{RIGHT} and not ({LEFT})"
HANS7 = HansClasses(
    (LARGE, SMALL, CYAN, FIVE, LEFT, CYLINDERS, SPHERES),
    {
        **CONFOUNDERS,
        CYAN: (_in_front(f"{OBJECTS.format('small', 'cube')} and "), 1.0),
        LEFT: (f"not ({RIGHT})", 0.9),  # of class 5, rule 5a in 90 % and 5b, which has both, in 10 %
    },
    (2, 2, 3, 5, 3, 3, 2),
)
BOTH = 6
"""How many objects a scene has at least of which both rules of class 5 hold."""


POSITIONS = ("side", "row")
SIDES = ("left", "right")


class ClevrHansConfig(ClevrConfig):
    """Settings of CLEVR-Hans; by default the objects of CLEVR, three to ten of them."""

    classes: Literal[3, 7] = 3
    """How many classes: those of CLEVR-Hans3, or of CLEVR-Hans7, whose rules also ask where objects stand."""
    objects: int | tuple[int, int] = (3, 10)
    """How many objects a picture has: the least and the most, each number as often as another."""
    shapes: list[str] = ["cube", "sphere", "cylinder"]
    """The shapes in use."""
    colours: list[str] = ["gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"]
    """The colours in use."""
    sizes: list[str] = ["large", "small"]
    """The sizes in use."""
    rule: str = HANS3.label
    """The class; scenes of which no class rule holds, or more than one, are not drawn."""
    balance: Balance | None = "label"
    """Distribute examples evenly over classes, as published, or over `world`s."""
    strength: float = Field(1.0, ge=0, le=1)
    """In what share of the scenes of a confounded class training shows what goes with it; as published, in all."""

    @model_validator(mode="before")
    @classmethod
    def _rule_of_classes(cls, values: Any) -> Any:
        """Take the rule of seven classes, where these are asked for and no other rule is."""
        if isinstance(values, Mapping) and values.get("classes") == 7:
            return {"rule": HANS7.label, **values}
        return values

    @model_validator(mode="after")
    def _room_for_seven(self) -> "ClevrHansConfig":
        if self.classes == 7:
            if self.most < BOTH:
                raise ValueError(f"objects: scenes of class 5 of CLEVR-Hans7 have up to {BOTH} objects or more")
            if self.balance != "label":
                raise ValueError("balance: scenes of CLEVR-Hans7 are drawn evenly over classes; leave it out")
        return self


class ClevrHans(Clevr):
    """Scenes of three classes, two of which training confounds: which class?"""

    name = "clevr-hans"
    version: ClassVar[int] = 1
    Config = ClevrHansConfig
    config: ClevrHansConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 9000, "valid": 2250, "test": 2250}
    trial: ClassVar[Mapping[str, Any]] = {"width": 64, "height": 48, "quality": "draft", "objects": (3, 4)}

    @property
    def summary(self) -> str:
        """One line about the task."""
        seven = "Scenes of seven classes, four of which training confounds: which class?"
        return seven if self._placed else super().summary

    @property
    def classes(self) -> HansClasses:
        """The classes with their rules and confounders."""
        return HANS7 if self._placed else HANS3

    @property
    def _placed(self) -> bool:
        """Whether it matters where objects stand."""
        return self.config.classes == 7

    @property
    def planted(self) -> Sequence[Mapping[str, Any]]:
        """What goes with the confounded classes."""
        strength = self.config.strength
        return tuple(
            {"what": what, "with": rule, "strength": min(strength, share), "one_sided": True}
            for rule, (what, share) in self.classes.confounders.items()
        )

    @cached_property
    def _one_class(self) -> Formula:
        return parse(f"exactly(1, {', '.join(self.classes.rules)})")

    def in_distribution(self) -> Formula:
        """Return the scenes of which one class rule holds, and no other."""
        inside = super().in_distribution()
        return self._one_class & inside

    # -- where objects stand, of which seven classes ask ---------------------------------------------------------------

    @property
    def attributes(self) -> tuple[str, ...]:
        """What objects look like, and of seven classes where they stand."""
        return (*ATTRIBUTES, *POSITIONS) if self._placed else ATTRIBUTES

    def values_of(self, attribute: str) -> tuple[Value, ...]:
        """Return the values of an attribute."""
        if attribute == "row":
            return tuple(range(1, self.config.most + 1))
        return SIDES if attribute == "side" else super().values_of(attribute)

    def constraints(self) -> list[Constraint]:
        """Return what holds of every scene: objects are numbered from left to right, and each row has one."""
        return [*super().constraints(), *(self._standing() if self._placed else ())]

    def _standing(self) -> list[Constraint]:
        sides, rows = ([Var(slot.concept(name)) for slot in self.slots] for name in POSITIONS)
        ordered = [Implies(left.eq("right"), right.ne("left")) for left, right in pairwise(sides)]
        maybe = self.config.least < self.config.most
        apart: list[Formula] = [
            Implies(one.ne(ABSENT), one.ne(other)) if maybe else one.ne(other) for one, other in combinations(rows, 2)
        ]
        return [
            Constraint("objects are numbered from left to right", conjunction(*ordered), ("placing",)),
            Constraint("each row has one object", conjunction(*apart), ("placing",)),
        ]

    def splits(self) -> tuple[Split, ...]:
        """Return the splits; there is none of hard scenes where these would have to be placed anew."""
        return tuple(split for split in super().splits() if split.quota is None or not self._placed)

    def source_for(self, split: Split, seed: int) -> Source:
        """Return scenes of three classes by their looks, and of seven by their places first."""
        if not self._placed:
            return super().source_for(split, seed)
        least = [max(self.config.least, number) for number in HANS7.least]
        rules = zip(HANS7.rules, least, strict=True)
        kinds = [[SceneKind(parse(rule), number)] for rule, number in rules]
        both = SceneKind(parse(f"{LEFT} and {RIGHT}"), max(self.config.least, BOTH))
        five = HANS7.rules.index(LEFT)
        kinds[five] = [SceneKind(parse(f"{LEFT} and not ({RIGHT})"), least[five]), both]
        planner = ScenePlanner(self.place_objects, self.shows_all)
        return PlacedSource(self.knowledge, split, seed, self.name, self.version, kinds=kinds, planner=planner)

    def place_objects(self, rng: np.random.Generator, count: int) -> PlacedObjects | None:
        """Return places for so many objects, with the side and the row of each, or None if none were found."""
        moves, turns = self.draw_moves(rng), self.draw_turns(rng)
        placement = OrderedPlacement.of(self.config.placement.seen_from(moves["camera"]))
        spots = placement.find_spots(rng, count, TRIES)
        if spots is None:
            return None
        columns, depths = placement.seen_at(spots)
        sides = [SIDES[int(column > placement.view.width / 2)] for column in columns]
        rows = (np.searchsorted(np.sort(depths), depths) + 1).tolist()
        places: list[Any] = [[*spot, turn] for spot, turn in zip(spots.tolist(), turns, strict=False)]
        spare = [None] * (self.config.most - count)
        return PlacedObjects({**moves, "spots": places + spare}, {"side": sides, "row": rows})

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw where the camera, the lamps and the objects stand, and how objects are turned."""
        if not self._placed:
            return super().style(rng, codes, pool)
        raise ConfigError(
            "a scene of CLEVR-Hans7 stands where its concepts say; take one that was drawn, and change it"
        )

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the same scene with other objects; of seven classes none can move, leave or join."""
        if not self._placed:
            return super().change_world(world, changes)
        moved = [
            name for name in changes if name.rpartition(".")[2] in POSITIONS or ABSENT in (changes[name], world[name])
        ]
        return None if any(changes[name] != world[name] for name in moved) else world.do(changes)
