"""The rules of the rsbench paper that counts are known for, written from its text."""

from itertools import product

import numpy as np

from assay.base import Codes
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, Slot, bits, digits

EVENODD = [(0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9)]
HALF = [(0, 0), (0, 1), (2, 3), (2, 4)]
FRONT = ["green_light", "follow", "red_light", "stop_sign", "car", "person", "rider", "other_obstacle"]
PARTS = {
    "red": "red_light and not green_light",
    "obstacle": "car or person or rider or other_obstacle",
    "clear": "not obstacle",
    "halt": "red or stop_sign or obstacle",
}
AHEAD = {"stop": "halt", "forward": "(green_light or follow or clear) and not halt"}


def names(count: int) -> list[str]:
    return [f"x{number}" for number in range(count)]


def xor(count: int, shared: bool = False) -> Knowledge:
    return Knowledge.of(bits(names(count), shared), {"y": f"xor({', '.join(names(count))})"})


def conjunction(count: int) -> Knowledge:
    return Knowledge.of(bits(names(count)), {"y": " and ".join(names(count))})


def addition(values: int = 10) -> Knowledge:
    return Knowledge.of(digits(["a", "b"], range(values)), {"sum": "a + b"})


def both_ways(pairs: list[tuple[int, int]]) -> Codes:
    return np.array(sorted({pair for a, b in pairs for pair in [(a, b), (b, a)]}))


def side(name: str) -> tuple[list[str], str]:
    """Return the concepts of a turn, and when it is safe."""
    allow, forbid = ["{}_lane", "{}_green_light", "{}_follow"], ["no_{}_lane", "{}_obstacle", "{}_solid_line"]
    allow, forbid = ([pattern.format(name) for pattern in patterns] for patterns in (allow, forbid))
    return allow + forbid, f"({' or '.join(allow)}) and not ({' or '.join(forbid)})"


def driving() -> Knowledge:
    left, right = side("left"), side("right")
    rules = {**AHEAD, "left": left[1], "right": right[1]}
    return Knowledge.of(bits([*FRONT, *left[0], *right[0]]), rules, definitions=PARTS)


def cle4evr(objects: int, shapes: int, colours: int) -> Knowledge:
    """Two objects have the same shape and colour; one encoder for shapes, one for colours."""
    values = {"shape": [f"s{i}" for i in range(shapes)], "colour": [f"c{i}" for i in range(colours)]}
    slots = tuple(Slot(f"o{i}", "objects", ("shape", "colour")) for i in range(objects))
    concepts = tuple(Concept(s.concept(a), tuple(values[a])) for s, a in product(slots, values))
    encoders = tuple(EncoderGroup(a, tuple(slot.concept(a) for slot in slots)) for a in values)
    rule = "any(a.shape == b.shape and a.colour == b.colour for a, b in pairs(objects))"
    return Knowledge.of(ConceptSpace(concepts, slots, encoders), {"y": rule})


def kandinsky(figures: int) -> Knowledge:
    """All figures have as many primitives of the same colour, or all have as many of the same shape."""
    values = {"shape": ("square", "triangle", "circle"), "colour": ("red", "blue", "yellow")}
    cells = {a: [[f"{a}_{i}_{j}" for j in range(3)] for i in range(figures)] for a in values}
    concepts = [Concept(name, values[a]) for a in values for row in cells[a] for name in row]
    encoders = [EncoderGroup(a, tuple(name for row in cells[a] for name in row)) for a in values]
    parts, ways = {}, []
    for a in values:
        for i, (x, y, z) in enumerate(cells[a]):
            parts[f"same_{a}_{i}"] = f"{x} == {y} and {x} == {z} and {y} == {z}"
            parts[f"diff_{a}_{i}"] = f"{x} != {y} and {x} != {z} and {y} != {z}"
            parts[f"two_{a}_{i}"] = f"not same_{a}_{i} and not diff_{a}_{i}"
        ways += [" and ".join(f"{kind}_{a}_{i}" for i in range(figures)) for kind in ("diff", "two", "same")]
    space = ConceptSpace(tuple(concepts), encoders=tuple(encoders))
    return Knowledge.of(space, {"y": " or ".join(f"({way})" for way in ways)}, definitions=parts)
