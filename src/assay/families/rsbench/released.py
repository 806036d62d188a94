"""What rsbench's released code reads and makes: formulas in its settings, and splits with its generator's fault.

In formulas symbols are listed by name, and numbers stand for values. The generator gives every split as many positive
worlds as half of the training set has examples. With its usual proportions that is more than valid, test and ood hold,
so that all their examples are positive; whoever wants to meet its published numbers does the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.base import ConfigError, Settings
from assay.logic import TRUE, Compare, Const, Formula, Var, conjunction, map_children, parse, substitute
from assay.worlds import Split


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


def positive_only(splits: Sequence[Split], positive: Formula) -> tuple[Split, ...]:
    """Return the splits with only positive worlds in all but the training split and `hard`."""
    return tuple(
        split
        if split.name.startswith("train") or split.quota is not None
        else replace(split, where=_both(split.where, positive), one_sided=True)
        for split in splits
    )


def _both(where: Formula, positive: Formula) -> Formula:
    return positive if where == TRUE else conjunction(where, positive)
