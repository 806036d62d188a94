"""Patterns over the objects of one figure, the aggregator over all figures, and rsbench's way of writing both."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.base import ConfigError, FormulaError, Settings, suggestion
from assay.families.rsbench.released import read_formula, read_symbols
from assay.logic import (
    Concept,
    ConceptSpace,
    Formula,
    Slot,
    Value,
    Var,
    free_names,
    ground_formula,
    parse,
    shape_of,
    substitute,
)

ATTRIBUTES = ("shape", "colour")
KINDS = {
    "same": "all_equal({})",
    "different": "all_different({})",
    "mixed": "not all_equal({0}) and not all_different({0})",
}
ALIKE = {
    attribute: " or ".join(f"all(figure.{kind}_{attribute} for figure in figures)" for kind in KINDS)
    for attribute in ATTRIBUTES
}
"""For each attribute the aggregator "all figures have it in the same kind"."""
EACH = "all(figure.pattern for figure in figures)"


def puzzle_text(figures: int) -> str:
    """Return the aggregator "all figures but the last have the same kinds; the last has both of them, or neither"."""
    first = [
        " or ".join(f"({' and '.join(f'figure{i + 1}.{kind}_{a}' for i in range(figures - 1))})" for kind in KINDS)
        for a in ATTRIBUTES
    ]
    shapes, colours = (f"({ALIKE[a]})" for a in ATTRIBUTES)
    fits = f"({shapes} and {colours} or not {shapes} and not {colours})"
    return f"({first[0]}) and ({first[1]}) and {fits}"


KINDS_OF_FIRST = tuple(f"figure1.{kind}_{a}" for a in ATTRIBUTES for kind in ("same", "different"))
"""What tells the kinds of shapes and colours of the first figure: the third kind is neither."""


def figure_space(objects: int, values: Mapping[str, tuple[Value, ...]]) -> ConceptSpace:
    """Return the concepts of one figure, by the names that patterns use: `object1.shape`, `object1.colour`, ..."""
    slots = tuple(Slot(f"object{i + 1}", "objects", ATTRIBUTES) for i in range(objects))
    return ConceptSpace(tuple(Concept(slot.concept(a), values[a]) for slot in slots for a in ATTRIBUTES), slots)


def patterns_of(own: Mapping[str, str], figure: ConceptSpace) -> dict[str, Formula]:
    """Return all patterns, those of `KINDS` first, spelled out over a figure; a later may use an earlier.

    >>> figure = figure_space(2, {"shape": ("square", "circle"), "colour": ("red", "blue")})
    >>> patterns_of({"red": "any(x.colour == 'red' for x in objects)"}, figure)["red"]
    <object1.colour == 'red' or object2.colour == 'red'>
    """
    texts = [(f"{kind}_{a}", text.format(_each(figure, a))) for a in ATTRIBUTES for kind, text in KINDS.items()]
    formulas: dict[str, Formula] = {}
    for name, text in [*texts, *own.items()]:
        if name in formulas or not name.isidentifier():
            why = "is there already" if name in formulas else "is no name"
            raise ConfigError(f"patterns: {name!r} {why}; choose another")
        try:
            formula = substitute(parse(text, [*figure.names, *formulas]), formulas)
            shape_of(formula, figure)
        except FormulaError as error:
            raise ConfigError(f"pattern {name!r}: {error}") from None
        formulas[name] = ground_formula(formula, figure)
    return formulas


def _each(figure: ConceptSpace, attribute: str) -> str:
    return ", ".join(slot.concept(attribute) for slot in figure.slots)


def aggregate(text: str, patterns: Mapping[str, Formula], figures: int) -> Formula:
    """Return the aggregator over the concepts of all figures: `figure1.object1.shape`, ...

    >>> aggregate("figure2.red", {"red": parse("object1.colour == 'red'")}, 2)
    <figure2.object1.colour == 'red'>
    """
    slots = tuple(Slot(f"figure{i + 1}", "figures", tuple(patterns)) for i in range(figures))
    space = ConceptSpace(tuple(Concept(name, (False, True)) for slot in slots for name in slot.concepts), slots)
    try:
        whole = ground_formula(parse(text), space)
    except FormulaError as error:
        raise ConfigError(f"aggregator: {error}") from None
    if unknown := [name for name in free_names(whole) if name not in space.places]:
        raise ConfigError(f"aggregator: no pattern named {unknown[0]!r}{suggestion(unknown[0], space.names)}")
    meanings = {slot.concept(name): _in_figure(slot, body) for slot in slots for name, body in patterns.items()}
    return substitute(whole, meanings)


def _in_figure(figure: Slot, pattern: Formula) -> Formula:
    return substitute(pattern, {name: Var(f"{figure.name}.{name}") for name in free_names(pattern)})


# -- rsbench's settings ------------------------------------------------------------------------------------------------

RSBENCH = {"n_figures": "figures", "n_shapes": "objects", "colors": "colours"}
NUMBERS = {1: "red", 2: "yellow", 3: "blue", 4: "square", 5: "circle", 6: "triangle"}
"""The numbers that rsbench's formulas have for colours and shapes."""


def from_rsbench(settings: Settings) -> Settings:
    """Return settings with rsbench's keys in our words: `logic` is the pattern, `aggregator_logic` the aggregator."""
    translated: dict[str, Any] = {}
    if "logic" in settings.values:
        names = read_symbols(settings, "symbols", "logic")
        owners = {name: f"object{i // 2 + 1}.{ATTRIBUTES[i % 2]}" for i, name in enumerate(names)}
        translated["pattern"] = str(read_formula(settings, "logic", owners, NUMBERS))
    if "aggregator_logic" in settings.values:
        names = read_symbols(settings, "aggregator_symbols", "aggregator_logic")
        owners = {name: f"figure{i + 1}.pattern" for i, name in enumerate(names)}
        translated["aggregator"] = str(read_formula(settings, "aggregator_logic", owners, NUMBERS))
    places = {"pattern": settings.places.get("logic"), "aggregator": settings.places.get("aggregator_logic")}
    consumed = {"logic", "symbols", "aggregator_logic", "aggregator_symbols", "sample_size"}
    plain = settings.without(consumed).rename_keys(RSBENCH)
    return plain.merge(Settings(translated, {key: at for key, at in places.items() if at and key in translated}))


def flat_combination(combination: Any, objects: int, shapes: Iterable[str]) -> list[Any]:
    """Return a world's values in order; objects may be given as texts, in lists for each figure or in one.

    >>> flat_combination([["red, square"], ["circle, blue"]], 2, ["square", "circle"])
    ['square', 'red', 'circle', 'blue']
    """
    parts = list(_leaves(combination))
    if not any(isinstance(part, str) and "," in part for part in parts):
        return parts
    if len(parts) != objects:
        raise ConfigError(
            f"combinations_in_distribution: {combination!r} has {len(parts)} objects, a picture has {objects}"
        )
    values: list[str] = []
    for part in parts:
        words = [word.strip() for word in str(part).split(",")]
        if len(words) != 2:
            raise ConfigError(f"combinations_in_distribution: {part!r} is no object; write 'red, square'")
        values += words if words[0] in shapes else reversed(words)
    return values


def _leaves(part: Any) -> Iterator[Any]:
    if isinstance(part, list | tuple):
        for inside in part:
            yield from _leaves(inside)
    else:
        yield part
