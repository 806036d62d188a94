"""Every reader of formulas reads every node, or says by name that it does not.

A node that is added needs a sample here; each reader is then held to what the sample means. A module that is added and
tells nodes apart must be listed here: as a reader, or among those that look for some forms only.
"""

import ast
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from pysat.solvers import Solver

import assay
from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.errors import FormulaError
from assay.logic import (
    Knowledge,
    compile_diagram,
    evaluate,
    ground_formula,
    latex,
    map_children,
    parse,
    shape_of,
    to_cnf,
    walk,
)
from assay.logic import formula as f
from assay.logic.features import features_of
from assay.logic.sensitivity import Dependencies
from assay.logic.tally import truth_diagram
from assay.logic.traverse import children
from assay.models.rule.fuzzy_logic import FuzzyRule, Semantics
from assay.models.symbolic.ilp.expressible import express_rule
from assay.prolog import Bias, Worlds, label, rules_text
from tests.logic.formulas import NODES, meaning

SPACE = ConceptSpace(
    (
        *(Concept(name, (False, True)) for name in "pq"),
        *(Concept(name, (0, 1, 2)) for name in "nm"),
        *(Concept(f"{name}.size", (1, 2, ABSENT)) for name in "xy"),
    ),
    tuple(Slot(name, "things", ("size",)) for name in "xy"),
)
CODES = SPACE.all_codes()

SAMPLES: dict[type[f.Formula], str] = {
    f.Const: "iff(p, False)",
    f.Var: "p",
    f.Not: "not p",
    f.And: "p and q",
    f.Or: "p or n == 2",
    f.Xor: "xor(p, q, n == 1)",
    f.Implies: "implies(p, q)",
    f.Iff: "iff(p, n == m)",
    f.Compare: "n < m",
    f.Sum: "n + m == 3",
    f.Minus: "-n < m - 2",
    f.Product: "n * m > 1",
    f.Divide: "n // 2 == m % 2",
    f.Function: "max(n, m) == 2 and abs(n - m) ** 2 < 4",
    f.Count: "count(p, q, n == 1) >= 2",
    f.AllEqual: "all_equal(n, m)",
    f.AllDifferent: "all_different(n, m, 1)",
    f.If: "(n if p else m) == 1",
    f.Member: "(n, m) in [(0, 1), (2, 2)]",
    f.Quantified: "any(t.size == 2 for t in things)",
    f.Oracle: "prolog('less(W) :- n(W, X), m(W, Y), X < Y.', 'less', '', n, m)",
}
SAME_AS = {f.Oracle: "n < m"}
"""What a sample means, where the plain reading does not know the node."""

# -- readers -----------------------------------------------------------------------------------------------------------

Truths = np.ndarray


def by_evaluation(formula: f.Formula) -> Truths:
    return evaluate(formula, SPACE, CODES)


def by_grounding(formula: f.Formula) -> Truths:
    flat = ground_formula(formula, SPACE)
    assert shape_of(formula, SPACE).kind == "bool"
    assert not any(isinstance(part, f.Quantified) for part in walk(flat))
    return evaluate(flat, SPACE, CODES)


def by_changes(formula: f.Formula) -> Truths:
    """Change each concept to its first value, one after the other, and back to what it is."""
    changes = Dependencies(formula, SPACE).at(CODES)
    for place, concept in enumerate(SPACE.concepts):
        other = CODES.copy()
        other[:, place] = 0
        found = changes.after(concept.name, changes.rule.evaluator.number(concept.values[0]))
        assert np.array_equal(found, evaluate(formula, SPACE, other))
    return changes.now


def by_diagram(formula: f.Formula) -> Truths:
    diagram = compile_diagram([formula], SPACE)
    return np.array([diagram.outcomes[number][0] for number in diagram.outcome_of(CODES)])


def by_tallies(formula: f.Formula) -> Truths:
    diagram = truth_diagram(formula, SPACE)
    return np.array([diagram.outcomes[number][0] for number in diagram.outcome_of(CODES)])


def by_clauses(formula: f.Formula) -> Truths:
    """Ask a solver about each world."""
    cnf = to_cnf(Knowledge.of(SPACE, {"said": formula}), {"said": True})
    literals = {meant: literal for literal, meant in cnf.meanings.items()}
    with Solver("cadical153", bootstrap_with=cnf.clauses) as solver:
        worlds = [SPACE.decode(row) for row in CODES]
        return np.array(
            [solver.solve([literals[m] if m in literals else -literals[m[0], True] for m in w.items()]) for w in worlds]
        )


def by_text(formula: f.Formula) -> Truths:
    assert parse(str(formula)) == formula
    return evaluate(parse(str(formula)), SPACE, CODES)


def by_latex(formula: f.Formula) -> None:
    assert latex(formula)


def by_rebuilding(formula: f.Formula) -> Truths:
    assert all(part in list(walk(formula)) for part in children(formula))
    return evaluate(map_children(formula, lambda part: part), SPACE, CODES)


def by_prolog(formula: f.Formula) -> Truths:
    text = rules_text(Knowledge.of(SPACE, {"said": f.And((formula, f.TRUE))}))
    return label(text, Worlds(SPACE, CODES), head="said")


def by_fuzzy_truth(formula: f.Formula) -> Truths:
    concepts = [torch.eye(size)[CODES[:, place]] for place, size in enumerate(SPACE.sizes)]
    found = FuzzyRule(formula, SPACE)(concepts, Semantics("goedel", "goedel", "kleene-dienes", "or"))
    return found.numpy() > 0.5


def by_features(formula: f.Formula) -> Truths:
    """Worlds that no feature tells apart are taken to have the truth of the first of them."""
    features = features_of(ground_formula(formula, SPACE), SPACE)
    classes = np.stack([feature.classes(SPACE, CODES) for feature in features], axis=1)
    _, first, which = np.unique(classes, axis=0, return_index=True, return_inverse=True)
    return evaluate(formula, SPACE, CODES)[first][which.ravel()]


def by_expressibility(formula: f.Formula) -> None:
    told = express_rule(formula, Bias(SPACE))
    assert told.holds or told.why


READERS: dict[str, Callable[[f.Formula], Truths | None]] = {
    "logic/evaluate": by_evaluation,
    "logic/ground": by_grounding,
    "logic/sensitivity": by_changes,
    "logic/residual": by_diagram,
    "logic/tally": by_tallies,
    "logic/cnf": by_clauses,
    "logic/write": by_text,
    "logic/latex": by_latex,
    "logic/traverse": by_rebuilding,
    "logic/features": by_features,
    "prolog/goal_writer": by_prolog,
    "models/rule/fuzzy_logic": by_fuzzy_truth,
    "models/symbolic/ilp/expressible": by_expressibility,
}
UNSUPPORTED: dict[tuple[str, type[f.Formula]], type[Exception]] = {
    ("prolog/goal_writer", f.Oracle): FormulaError,  # its text is a program already
}
SOME_FORMS = {"logic/formula", "logic/knowledge", "prolog/lift", "prolog/symbols"}
"""Modules that make formulas and look at those that they make, or look for one form and leave all others alone."""

# -- laws --------------------------------------------------------------------------------------------------------------


def expected(kind: type[f.Formula]) -> Truths:
    formula = parse(SAME_AS.get(kind, SAMPLES[kind]))
    return np.array([meaning(formula, SPACE.decode(row), SPACE) is True for row in CODES])


def test_every_node_has_a_sample():
    assert set(SAMPLES) == set(NODES)
    for kind, text in SAMPLES.items():
        assert any(isinstance(part, kind) for part in walk(parse(text))), kind
        assert 0 < expected(kind).sum() < len(CODES), kind


@pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_reads_every_node_or_names_it(reader, kind):
    formula = parse(SAMPLES[kind])
    if (reader, kind) in UNSUPPORTED:
        with pytest.raises(UNSUPPORTED[reader, kind]):
            READERS[reader](formula)
        return
    found = READERS[reader](formula)
    assert found is None or np.array_equal(np.asarray(found, dtype=bool), expected(kind))


@f.node
class Unheard(f.Formula):
    """A node that no reader knows."""

    body: f.Formula


GENERIC = {"logic/traverse", "models/symbolic/ilp/expressible"}
"""Readers that go by the fields of a node, or say of any other node that it cannot be said."""


@pytest.mark.parametrize("reader", sorted(READERS.keys() - GENERIC))
def test_no_reader_takes_a_node_that_it_does_not_know(reader):
    with pytest.raises((TypeError, KeyError, FormulaError)):
        READERS[reader](Unheard(f.Var("p")))


def told_apart(path: Path) -> set[str]:
    """Return the nodes that a module tells apart: in cases, by isinstance, or as keys of a table."""
    nodes, names = set(), {kind.__name__ for kind in NODES}
    for part in ast.walk(ast.parse(path.read_text())):
        asked: list[ast.AST] = []
        if isinstance(part, ast.MatchClass):
            asked = [part.cls]
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "isinstance":
            asked = list(ast.walk(part.args[1]))
        elif isinstance(part, ast.Dict):
            asked = [key for key in part.keys if key is not None]
        nodes |= {one.attr for one in asked if isinstance(one, ast.Attribute) and getattr(one.value, "id", "") == "f"}
        nodes |= {one.id for one in asked if isinstance(one, ast.Name)}
    return nodes & names


def test_every_module_that_tells_nodes_apart_is_listed():
    package = Path(assay.__file__).parent
    found = {
        str(path.relative_to(package).with_suffix(""))
        for path in package.rglob("*.py")
        if "logic.formula" in (text := path.read_text()) or "import formula" in text or path.stem == "formula"
        if len(told_apart(path)) > 2
    }
    assert found == READERS.keys() | SOME_FORMS
