"""Rules of several kinds on which what is computed is compared: bits, sums, objects with constraints, mixed values."""

from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, Slot, bits, digits, parse

# -- rules and worlds --------------------------------------------------------------------------------------------------


def xor() -> Knowledge:
    """Return a rule over three of four bits with two labels."""
    return Knowledge.of(bits([*"abcd"]), {"y": "a ^ b", "z": "b and not c"})


def sums() -> Knowledge:
    """Return the sum of two digits of five values that share an encoder."""
    return Knowledge.of(digits(["first", "second"], range(5)), {"sum": "first + second"})


def shelf() -> Knowledge:
    """Return objects in two slots, the second perhaps missing, with tagged constraints."""
    colour, size = ("red", "green", "blue"), ("small", "big")
    concepts = (
        Concept("one.colour", colour), Concept("one.size", size),
        Concept("two.colour", (*colour, "none"), nothing="none"), Concept("two.size", (*size, "none"), nothing="none"),
    )  # fmt: skip
    slots = tuple(Slot(name, "object", ("colour", "size")) for name in ("one", "two"))
    limits = (
        Constraint("whole", parse("(two.colour == 'none') == (two.size == 'none')"), ("shape",)),
        Constraint("no big blue", parse("not (one.colour == 'blue' and one.size == 'big')"), ("taste", "shape")),
        Constraint("not both red", parse("not (one.colour == 'red' and two.colour == 'red')"), ("taste",)),
    )
    labels = {"alike": "one.size == two.size or one.colour == two.colour", "alone": "two.colour == 'none'"}
    return Knowledge.of(ConceptSpace(concepts, slots), labels, limits)


def mixed() -> Knowledge:
    """Return concepts of two, three and four values with labels of two, three and five values."""
    space = ConceptSpace((Concept("a", (False, True)), Concept("b", ("x", "y", "z")), Concept("c", (0, 1, 2, 3))))
    return Knowledge.of(space, {"truth": "a or b == 'x'", "number": "c + a", "far": "c >= 2 and b != 'z'"})


RULES = {"xor": xor, "sums": sums, "shelf": shelf, "mixed": mixed}
