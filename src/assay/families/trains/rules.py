"""What makes a train go east, and what trains there are: the rules by name, and the laws of each distribution.

Programs given as `prolog=` may use our words and those of V-LoL's printed programs and README. `ON_LISTS` reads the
attributes off V-LoL's list of cars; as facts, trains have them already. `PREDICATES` says all else in terms of these.
"""

from collections.abc import Mapping
from itertools import pairwise

from assay.families.trains.source import GROUP, Distribution
from assay.logic import ABSENT, And, Constraint, Formula, Implies, Quantified, Var, conjunction, parse

ON_LISTS = """
has_car(T, C) :- member(C, T).
car_num(c(N, _, _, _, _, _, _), N).
colour(c(_, rectangle, _, _, _, _, _), yellow).
colour(c(_, bucket, _, _, _, _, _), green).
colour(c(_, ellipse, _, _, _, _, _), grey).
colour(c(_, hexagon, _, _, _, _, _), red).
colour(c(_, u_shaped, _, _, _, _, _), blue).
car_length(c(_, _, Length, _, _, _, _), Length).
wall(c(_, _, _, not_double, _, _, _), solid).
wall(c(_, _, _, double, _, _, _), braced).
roof(c(_, _, _, _, none, _, _), none).
roof(c(_, _, _, _, arc, _, _), foundation).
roof(c(_, _, _, _, flat, _, _), solid).
roof(c(_, _, _, _, jagged, _, _), braced).
roof(c(_, _, _, _, peaked, _, _), peaked).
axles(c(_, _, _, _, _, Wheels, _), Wheels).
loads(c(_, _, _, _, _, _, l(_, Loads)), Loads).
load(c(_, _, _, _, _, _, l(none, _)), none).
load(c(_, _, _, _, _, _, l(rectangle, _)), box).
load(c(_, _, _, _, _, _, l(triangle, _)), golden_vase).
load(c(_, _, _, _, _, _, l(circle, _)), barrel).
load(c(_, _, _, _, _, _, l(diamond, _)), diamond).
load(c(_, _, _, _, _, _, l(hexagon, _)), metal_pot).
load(c(_, _, _, _, _, _, l(utriangle, _)), oval_vase).
"""
"""What facts say of trains, of a list of cars."""

PREDICATES = r"""
has_car(T, C, N) :- has_car(T, C), car_num(C, N).
infront(T, C, D) :- has_car(T, C, N), has_car(T, D, M), M =:= N + 1.
somewhere_behind(T, C, D) :- has_car(T, C, N), has_car(T, D, M), N > M.
X /= Y :- X \= Y.

short(C) :- car_length(C, short).
long(C) :- car_length(C, long).

car_color(C, Colour) :- colour(C, Colour).
yellow(C) :- colour(C, yellow).
green(C) :- colour(C, green).
grey(C) :- colour(C, grey).
red(C) :- colour(C, red).
blue(C) :- colour(C, blue).
rectangle(C) :- colour(C, yellow).
bucket(C) :- colour(C, green).
ellipse(C) :- colour(C, grey).
hexagon(C) :- colour(C, red).
u_shaped(C) :- colour(C, blue).

double(C) :- wall(C, braced).
braced_wall(C) :- wall(C, braced).
solid_wall(C) :- wall(C, solid).

open(C) :- roof(C, none).
closed(C) :- \+ open(C).
has_roof0(C, none) :- roof(C, none).
has_roof0(C, arc) :- roof(C, foundation).
has_roof0(C, flat) :- roof(C, solid).
has_roof0(C, jagged) :- roof(C, braced).
has_roof0(C, peaked) :- roof(C, peaked).
has_roof2(C, none) :- roof(C, none).
has_roof2(C, roof_foundation) :- roof(C, foundation).
has_roof2(C, solid_roof) :- roof(C, solid).
has_roof2(C, braced_roof) :- roof(C, braced).
has_roof2(C, peaked_roof) :- roof(C, peaked).
has_roof(C, r(Roof, N)) :- has_roof0(C, Roof), car_num(C, N).
none(r(none, _)).
arc(r(arc, _)).
flat(r(flat, _)).
jagged(r(jagged, _)).
peaked(r(peaked, _)).
roof_open(C) :- roof(C, none).
roof_foundation(C) :- roof(C, foundation).
solid_roof(C) :- roof(C, solid).
braced_roof(C) :- roof(C, braced).
peaked_roof(C) :- roof(C, peaked).

has_wheel0(C, Wheels) :- axles(C, Wheels).
has_wheel(C, Wheels) :- axles(C, Wheels).
has_wheel(C, w(N, Wheel)) :- car_num(C, N), axles(C, Wheels), between(1, 3, Wheel), Wheel =< Wheels.

load_num(C, Loads) :- loads(C, Loads).
has_payload(C, Load) :- load(C, Load), Load \= none.
has_load0(C, rectangle) :- load(C, box).
has_load0(C, triangle) :- load(C, golden_vase).
has_load0(C, circle) :- load(C, barrel).
has_load0(C, hexagon) :- load(C, metal_pot).
has_load0(C, utriangle) :- load(C, oval_vase).
has_load0(C, golden-vase) :- load(C, golden_vase).
has_load0(C, metal-pot) :- load(C, metal_pot).
has_load0(C, oval-vase) :- load(C, oval_vase).
has_load0(C, Load) :- load(C, Load), Load \= none.
has_load1(T, Load) :- has_car(T, C), has_load0(C, Load).
has_load(C, l(Load, Loads)) :- has_load0(C, Load), loads(C, Loads).
has_load(C, Load) :- has_load0(C, Load).
box(C) :- load(C, box).
golden_vase(C) :- load(C, golden_vase).
barrel(C) :- load(C, barrel).
diamond(C) :- load(C, diamond).
metal_pot(C) :- load(C, metal_pot).
oval_vase(C) :- load(C, oval_vase).
"""
"""V-LoL's predicates. A load is named as in Michalski's trains, as in the pictures, and as the paper prints it."""


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
