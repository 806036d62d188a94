"""The files that Aleph and Popper read (the declared bias, worlds as facts, and examples), and clauses that they write.

Exported datasets and our own runs of these learners write the files here, so that both hold the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.base import DataError
from assay.prolog.bias import Bias, Literal
from assay.prolog.program import read_program
from assay.prolog.reader import Clause
from assay.prolog.terms import Term, Variable, chain_of, key_of

WrittenClause = tuple[tuple[str, ...], list[tuple[Literal, tuple[int, ...]]]]
"""The groups of a clause's objects, and its literals, each with the objects that are its arguments."""


@dataclass(frozen=True)
class IlpProblem:
    """The input of an ILP system: a bias, the predicate to learn, facts, positive and negative worlds."""

    bias: Bias
    head: str
    facts: str
    positive: Sequence[str]
    negative: Sequence[str]

    @property
    def background(self) -> str:
        """The facts of all worlds and the definition of every literal, in Prolog."""
        return self.facts + definitions_text(self.bias)


def definitions_text(bias: Bias) -> str:
    """Return the definitions of all literals; with them `formula_of` reads back what a learner wrote.

    >>> from assay.logic.concepts import digits
    >>> print(definitions_text(Bias(digits(["a"], (0, 1)))), end="")
    a_0(A) :- a(A,0).
    a_1(A) :- a(A,1).
    """
    return "".join(f"{literal.definition}\n" for literal in bias.literals)


def aleph_files(
    problem: IlpProblem, noise: int = 0, nodes: int = 5_000, search: str = "heuristic"
) -> Mapping[str, str]:
    """Return Aleph's files by their endings: settings, modes and background; positive and negative examples.

    Parameters
    ----------
    problem
        What is to be learned.
    noise
        How many negative worlds a clause may cover.
    nodes
        How many clauses are tried for each example.
    search
        Aleph's way of searching: `heuristic` or `bfs`.
    """
    language = problem.bias.language
    settings = {
        "clauselength": 1 + language.objects + language.literals, "i": 2, "minpos": 2, "noise": noise, "nodes": nodes,
        "verbosity": 0, "search": search, "openlist": 500,
    }  # fmt: skip
    lines = "".join(f":- set({name},{value}).\n" for name, value in settings.items())
    return {
        ".b": lines + aleph_modes(problem.bias, problem.head) + problem.background,
        ".f": "".join(f"{problem.head}({world}).\n" for world in problem.positive),
        ".n": "".join(f"{problem.head}({world}).\n" for world in problem.negative),
    }


def aleph_modes(bias: Bias, head: str) -> str:
    """Return the bias as Aleph's modes and determinations.

    >>> from assay.logic.concepts import digits
    >>> print(aleph_modes(Bias(digits(["a"], (0, 1))), "y"), end="")
    :- modeh(1,y(+world)).
    :- modeb(1,a_0(+world)).
    :- modeb(1,a_1(+world)).
    :- determination(y/1,a_0/1).
    :- determination(y/1,a_1/1).
    """
    kinds = bias.vocabulary.kinds
    modes, determinations = [f":- modeh(1,{head}(+world))."], []
    for group, kind in kinds.items():
        has = bias.vocabulary.relation("has", group).name
        modes.append(f":- modeb(*,{has}(+world,-{kind})).")
        determinations.append(f":- determination({head}/1,{has}/2).")
    for literal in bias.literals:
        arguments = ",".join(f"+{kinds[group]}" for group in literal.groups) or "+world"
        modes.append(f":- modeb(1,{literal.name}({arguments})).")
        determinations.append(f":- determination({head}/1,{literal.name}/{max(literal.arity, 1)}).")
    return "".join(f"{line}\n" for line in [*modes, *determinations])


def popper_files(problem: IlpProblem) -> Mapping[str, str]:
    """Return Popper's files by their names: background, bias and examples."""
    signs = (("pos", problem.positive), ("neg", problem.negative))
    return {
        "bk.pl": problem.background,
        "bias.pl": popper_bias(problem.bias, problem.head),
        "exs.pl": "".join(f"{sign}({problem.head}({world})).\n" for sign, worlds in signs for world in worlds),
    }


def popper_bias(bias: Bias, head: str) -> str:
    """Return the bias as Popper's bias file."""
    kinds, language = bias.vocabulary.kinds, bias.language
    lines = [
        f"max_vars({1 + language.objects}).", f"max_body({language.objects + language.literals}).",
        f"max_clauses({language.clauses}).", f"head_pred({head},1).", f"type({head},(world,)).",
        f"direction({head},(in,)).",
    ]  # fmt: skip
    for group, kind in kinds.items():
        has = bias.vocabulary.relation("has", group).name
        lines += [f"body_pred({has},2).", f"type({has},(world,{kind})).", f"direction({has},(in,out))."]
    for literal in bias.literals:
        types = [kinds[group] for group in literal.groups] or ["world"]
        comma = "," if len(types) == 1 else ""
        lines.append(f"body_pred({literal.name},{len(types)}).")
        lines.append(f"type({literal.name},({','.join(types)}{comma})).")
        lines.append(f"direction({literal.name},({','.join('in' for _ in types)}{comma})).")
    return "".join(f"{line}\n" for line in lines)


def read_clauses(text: str, head: str, bias: Bias) -> list[WrittenClause]:
    """Return the clauses of a predicate in a program that another learner wrote, its literals being those of the bias.

    Parameters
    ----------
    text
        The program.
    head
        The predicate, of one argument, which is the world.
    bias
        The literals that are known; any other is refused.
    """
    clauses = read_program(text, "a learned clause").clauses.get((head, 1), ())
    return [_written_clause(clause, bias) for clause in clauses]


def _written_clause(clause: Clause, bias: Bias) -> WrittenClause:
    objects: list[Term] = []
    groups: list[str] = []
    literals: list[tuple[Literal, tuple[Term, ...]]] = []
    has = {relation.name: relation.group for relation in bias.vocabulary.relations if relation.what == "has"}
    for goal in chain_of(clause.body, ","):
        if goal == "true":
            continue
        name, arguments = key_of(goal)[0], goal[1:]
        if name in has and len(arguments) == 2 and type(arguments[1]) is Variable:
            if not any(arguments[1] is known for known in objects):
                objects.append(arguments[1])
                groups.append(has[name])
        elif name in bias.by_name:
            literals.append((bias.by_name[name], arguments))
        else:
            raise DataError(f"a learner wrote {name}/{len(arguments)}, which the bias does not declare")
    placed: list[tuple[Literal, tuple[int, ...]]] = []
    for literal, arguments in literals:
        if literal.arity == 0:
            if arguments[0] is not clause.head[1]:
                raise DataError(f"a learner wrote {literal.name} of something that is not the world")
            placed.append((literal, ()))
            continue
        places = []
        for argument, group in zip(arguments, literal.groups, strict=True):
            position = next((place for place, known in enumerate(objects) if known is argument), None)
            if position is None:  # an object that only literals name: there is such an object
                objects.append(argument)
                groups.append(group)
                position = len(objects) - 1
            places.append(position)
        placed.append((literal, tuple(places)))
    return tuple(groups), placed
