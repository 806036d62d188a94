"""What makes a train go east, and what trains there are: the rules by name, and the laws of each distribution."""

from collections.abc import Mapping
from itertools import pairwise

from assay.families.trains.source import GROUP, Distribution
from assay.logic import ABSENT, And, Constraint, Formula, Implies, Quantified, Var, conjunction, parse

THREE_COLOURS = "any(any(all_different(a.colour, b.colour, c.colour) for c in cars) for a, b in pairs(cars))"
RULES: Mapping[str, str] = {
    "theory_x": (
        "any(c.length == 'short' and c.roof != 'none' for c in cars)"
        " or any(a.load == 'golden_vase' and b.load == 'barrel' for a, b in pairs(cars))"
    ),
    "numerical": "any(c.loads == c.number and c.axles == c.number for c in cars)",
    "complex": (
        "any(c.loads > c.number and c.axles > c.number for c in cars)"
        " or any(any(a.length == 'short' and b.length == 'long' and a.colour == b.colour and b.axles > a.number"
        f" for b in cars) for a in cars) or {THREE_COLOURS}"
    ),
    "easy": "any(any(a.length == 'short' and b.length == 'long' and a.colour == b.colour for b in cars) for a in cars)",
    "color": THREE_COLOURS,
    "multi": (
        "any(c.wall == 'braced' for c in cars) and any(c.loads == 2 for c in cars)"
        " or any(c.loads == 3 for c in cars) and any(c.colour == 'blue' for c in cars)"
        " or any(any(a.length == 'short' and b.length == 'long' and a.load == b.load and a.loads > 0"
        " for b in cars) for a in cars)"
    ),
}
"""The rules of V-LoL: east is where the formula holds. `c.number` counts cars from the engine."""

HEAD = "eastbound"
TEMPLATE = (
    "{each(cars, c({place}, {colour: [yellow-rectangle, green-bucket, grey-ellipse, red-hexagon, blue-u_shaped]}, "
    "{length}, {wall: [solid-not_double, braced-double]}, "
    "{roof: [foundation-arc, solid-flat, braced-jagged]}, {axles}, "
    "l({load: [box-rectangle, golden_vase-triangle, barrel-circle, metal_pot-hexagon, oval_vase-utriangle]}, "
    "{loads})))}"
)
"""How programs of the user see a train: as V-LoL's, a list of cars in Michalski's words."""

LAWS: Mapping[str, str] = {
    "load_is_seen": "(c.loads == 0) == (c.load == 'none')",
    "short_two_axles": "c.axles == 2 if c.length == 'short' else True",
    "short_at_most_two_loads": "c.loads <= 2 if c.length == 'short' else True",
}
"""What holds of each car of either distribution."""

MICHALSKI: Mapping[str, str] = {
    "long_yellow": "c.colour == 'yellow' if c.length == 'long' else True",
    "braced_wall_short_yellow": "c.length == 'short' and c.colour == 'yellow' if c.wall == 'braced' else True",
    "long_roof": "c.roof in ('none', 'solid', 'braced') if c.length == 'long' else True",
    "long_load": "c.load in ('none', 'box', 'barrel', 'metal_pot', 'oval_vase') if c.length == 'long' else True",
    "short_loaded": "c.load in ('box', 'barrel', 'diamond', 'golden_vase') if c.length == 'short' else True",
    "short_roof": "c.roof != 'braced' if c.length == 'short' else True",
    "grey_with_foundation": "(c.colour == 'grey') == (c.roof == 'foundation')",
    "red_with_solid_roof": "c.roof == 'solid' if c.colour == 'red' else True",
}
"""What holds besides of each car of Muggleton's generator."""


def laws_of(distribution: Distribution, slots: int, least: int) -> tuple[Constraint, ...]:
    """Return what holds of every train of a distribution: its cars follow one another, and each is lawful."""
    laws = {**LAWS, **(MICHALSKI if distribution == "michalski" else {})}
    cars = [Constraint(name, each(text), ("cars", *_tags(name))) for name, text in laws.items()]
    return (*_lengths(slots, least), *cars)


def _tags(name: str) -> tuple[str, ...]:
    return ("michalski",) if name in MICHALSKI else ()


def _lengths(slots: int, least: int) -> tuple[Constraint, ...]:
    if least == slots:
        return ()
    there = [Var(f"car{number + 1}.colour").ne(ABSENT) for number in range(slots)]
    steps = tuple(Implies(later, sooner) for sooner, later in pairwise(there))
    return (
        Constraint("cars_without_gap", conjunction(*steps), ("length",)),
        Constraint(f"cars_{least}_or_more", cars_at_least(least), ("length",)),
    )


def each(text: str) -> Formula:
    """Return "this holds of every car `c`"."""
    return Quantified("all", ("c",), GROUP, parse(text))


def michalski_cars() -> Formula:
    """Return "every car is one of Muggleton's generator"."""
    return And(tuple(each(text) for text in MICHALSKI.values()))


def cars_at_most(number: int) -> Formula:
    """Return "the train has no more cars", in a space that has slots for more."""
    return Var(f"car{number + 1}.colour").eq(ABSENT)


def cars_at_least(number: int) -> Formula:
    """Return "the train has so many cars or more"."""
    return Var(f"car{number}.colour").ne(ABSENT)
