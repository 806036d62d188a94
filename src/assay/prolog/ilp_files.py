"""The files that Aleph and Popper read: the declared bias as each of them writes it, worlds as facts, and examples.

Exported datasets and our own runs of these learners write them here, so that both hold the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.prolog.bias import Bias


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
    """Return Aleph's files by their endings: settings, modes and background; positive and negative examples."""
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
