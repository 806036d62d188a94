"""The declared bias of a space for learners: modes for Aleph, a bias file for Popper, and the same literals for all.

All engines get the same language: `has_car`, the order of objects, each attribute with each of its values, and, where
numbers are compared, `<` between numbers that attributes give.
"""

from dataclasses import dataclass

from assay.concepts import Value, kind_of_value
from assay.logic.prolog.terms import quoted_atom
from assay.logic.prolog.vocabulary import Relation, Vocabulary, atom_of, plain_name


@dataclass(frozen=True)
class Bias:
    """What rules may be made of: the predicate to learn, which relations, and how long clauses may get."""

    vocabulary: Vocabulary
    head: str
    numbers: bool = False
    clause_length: int = 6
    variables: int = 6
    clauses: int = 4

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations that bodies may use."""
        return self.vocabulary.relations


def value_name(relation: Relation, value: Value) -> str:
    """Return the predicate that says that an object has this value: `colour_red`."""
    return plain_name(f"{relation.name}_{value}".replace("-", "minus_"))


def helpers_text(bias: Bias) -> str:
    """Return clauses for the predicates of learners without constants; `formula_of` needs them to read rules back.

    >>> from assay.concepts import digits
    >>> print(helpers_text(Bias(Vocabulary(digits(["a"], (0, 1))), "y")), end="")
    a_0(X) :- a(X,0).
    a_1(X) :- a(X,1).
    """
    lines = []
    for relation in bias.relations:
        for value in relation.values:
            atom = atom_of(value)
            shown = str(atom) if isinstance(atom, int) else quoted_atom(atom)
            lines.append(f"{value_name(relation, value)}(X) :- {relation.name}(X,{shown}).")
    return "".join(f"{line}\n" for line in [*lines, *_less_text(bias)])


def _less_text(bias: Bias) -> list[str]:
    return ["less(X,Y) :- X < Y."] if bias.numbers else []


def aleph_modes(bias: Bias) -> str:
    """Return the modes and determinations for Aleph.

    >>> from assay.concepts import digits
    >>> print(aleph_modes(Bias(Vocabulary(digits(["a"])), "y")), end="")
    :- modeh(1,y(+world)).
    :- modeb(1,a(+world,#a)).
    :- modeb(1,a(+world,-a)).
    :- determination(y/1,a/2).
    """
    modes, seen = [f":- modeh(1,{bias.head}(+world))."], []
    for relation in bias.relations:
        modes += [f":- modeb({recall},{relation.name}({arguments}))." for recall, arguments in _modes(relation, bias)]
        seen.append(f":- determination({bias.head}/1,{relation.name}/{len(relation.types)}).")
    if bias.numbers:
        modes.append(":- modeb(*,less(+int,+int)).")
        seen.append(f":- determination({bias.head}/1,less/2).")
    return "".join(f"{line}\n" for line in [*modes, *seen])


def _modes(relation: Relation, bias: Bias) -> list[tuple[str, str]]:
    first, second = relation.types
    if relation.what == "has":
        return [("*", f"+{first},-{second}")]
    if relation.what == "before":
        kinds = tuple(bias.vocabulary.kinds.values())
        return [("*", mode) for kind in kinds for mode in (f"+{kind},-{kind}", f"+{kind},+{kind}")]
    found = [("1", f"+{first},#{second}")]
    if bias.numbers and (relation.what == "number" or _numeric(relation)):
        found.append(("1", f"+{first},-int"))
    elif relation.what != "number" and len(relation.values) > 2:
        found.append(("1", f"+{first},-{second}"))
    return found


def _numeric(relation: Relation) -> bool:
    return bool(relation.values) and kind_of_value(relation.values[0]) == "int"


def aleph_text(bias: Bias, seconds: int = 60, noise: int = 0) -> str:
    """Return the settings and modes of Aleph's background file; facts and helpers follow."""
    settings = {
        "clauselength": bias.clause_length, "i": 3, "noise": noise, "nodes": 50_000, "searchtime": seconds,
        "verbosity": 0,
    }  # fmt: skip
    lines = "".join(f":- set({name},{value}).\n" for name, value in settings.items())
    return lines + aleph_modes(bias) + "".join(f"{line}\n" for line in _less_text(bias))


def popper_bias(bias: Bias) -> str:
    """Return Popper's bias file; its constants are the unary predicates of `helpers_text`."""
    lines = [
        f"max_vars({bias.variables}).", f"max_body({bias.clause_length}).", f"max_clauses({bias.clauses}).",
        f"head_pred({bias.head},1).", f"type({bias.head},(world,)).", f"direction({bias.head},(in,)).",
    ]  # fmt: skip
    for relation in bias.relations:
        if relation.what in ("has", "before") or (bias.numbers and (relation.what == "number" or _numeric(relation))):
            second = "int" if relation.what not in ("has", "before") else relation.types[1]
            way = "in,in" if relation.what == "before" else "in,out"
            lines += _popper(relation.name, (relation.types[0], second), way)
        for value in relation.values:
            lines += _popper(value_name(relation, value), (relation.types[0],), "in")
    if bias.numbers:
        lines += _popper("less", ("int", "int"), "in,in")
    return "".join(f"{line}\n" for line in lines)


def _popper(name: str, types: tuple[str, ...], way: str) -> list[str]:
    comma = "," if len(types) == 1 else ""
    return [
        f"body_pred({name},{len(types)}).",
        f"type({name},({','.join(types)}{comma})).",
        f"direction({name},({way}{comma})).",
    ]


def examples_text(head: str, positive: list[str], negative: list[str]) -> str:
    """Return Popper's examples file."""
    return "".join(f"pos({head}({world})).\n" for world in positive) + "".join(
        f"neg({head}({world})).\n" for world in negative
    )
