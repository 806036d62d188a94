"""Formulas in rsbench's settings: symbols are listed by name, and numbers stand for values."""

from collections.abc import Mapping

from assay.base import ConfigError, Settings
from assay.logic import Compare, Const, Formula, Var, map_children, parse, substitute


def read_symbols(settings: Settings, key: str, logic: str) -> list[str]:
    """Return the symbols listed under a key, which the formula under `logic` needs."""
    names = settings.values.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
        raise ConfigError(f"{settings.place(logic)}{logic} needs {key}, a list of names, not {names!r}")
    return names


def read_formula(settings: Settings, key: str, concepts: Mapping[str, str], values: Mapping[int, str]) -> Formula:
    """Return the formula under a key, with symbols replaced by concepts and numbers by values."""
    text = settings.values[key]
    if not isinstance(text, str):
        raise ConfigError(f"{settings.place(key)}{key}: expected a formula, not {text!r}")
    named = _name_values(parse(text, concepts), values)
    return substitute(named, {symbol: Var(concept) for symbol, concept in concepts.items()})


def _name_values(formula: Formula, values: Mapping[int, str]) -> Formula:
    """Return the formula with the numbers in comparisons replaced: `Eq(color_1, 1)` is about red."""
    if not isinstance(formula, Compare):
        return map_children(formula, lambda part: _name_values(part, values))

    def name_side(side: Formula) -> Formula:
        number = side.value if isinstance(side, Const) else None
        return Const(values[number]) if type(number) is int and number in values else side

    return Compare(formula.operator, name_side(formula.left), name_side(formula.right))
