"""Every kind of formula, on every world of small spaces: all readings say what a plain reference evaluator says.

The formulas are drawn at random (`tests/logic/formulas.py`), with every kind of node among them; beside them stand rules
without concepts, concepts of one value, and constants.
"""

import json
import pickle
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
import torch
from pysat.solvers import Solver

from assay import Constraint, Knowledge, compile_diagram, evaluate, latex, parse, parse_dimacs, to_cnf
from assay.base import Array, AssayError, ConfigError, FormulaError, KnowledgeError, rng_for
from assay.logic import (
    ABSENT,
    TRUE,
    Boundary,
    Concept,
    ConceptSpace,
    Formula,
    Function,
    Label,
    Oracle,
    Quantified,
    Slot,
    Var,
    Xor,
    bits,
    ground_formula,
    shape_of,
    true_outcomes,
    truth_diagram,
    walk,
)
from assay.models import MODELS
from assay.prolog import PrologError, Worlds, formula_of, label, oracle, rules_text, value_text
from assay.render import Layout
from tests.logic.formulas import CASES, NODES, Case, Scope, case, case_of, number, random_space, truth

ONE = ConceptSpace(
    (Concept("only", ("x",)), Concept("b", (True,)), Concept("n", (7,)), Concept("o.size", (3, ABSENT))),
    (Slot("o", "things", ("size",)),),
)
IRREGULAR = [
    *((ONE, text) for text in (
        "True", "False", "7", "-3 // 2", "'red'", "xor()", "count()", "all_equal()", "all_different()", "1 in ()", "n in ()",
        "only == 'x'", "only", "b", "not b", "n", "n * n - 7", "n ** 0", "o.size", "o.size == 'absent'", "min(n)", "xor(b)",
        "any(t.size > 3 for t in things)", "all(t.size > 3 for t in things)", "count(t.size == 3 for t in things)",
        "any(True for s, t in pairs(things))", "all(False for s, t in pairs(things))", "'x' if b else 'y'", "1 > 2",
    )),
    (bits(["a"]), "a"), (bits(["a", "idle"]), "a or not a"), (bits(["a", "idle"]), "(a and not a) + 2"),
    (ConceptSpace((Concept("a", (0, 2**70)), Concept("b", (-(2**63), 1)))), "a * a - b"),
    (ConceptSpace((Concept("a", (0, 2**70)), Concept("b", (-(2**63), 1)))), "a > b and (a, b) in [(0, 1), (1180591620717411303424, 1)]"),
]  # fmt: skip
PLACES = range(CASES + len(IRREGULAR))
PARTS = 12


def on_each(places):
    """Try a law on each of these cases, in a dozen tests; what fails says of which case it is."""

    def tests_of(law):
        @pytest.mark.parametrize("part", range(PARTS))
        def law_on_a_part(part):
            for place in places[part::PARTS]:
                try:
                    law(place)
                except Exception as error:
                    error.add_note(f"case {place}")
                    raise

        law_on_a_part.__name__, law_on_a_part.__doc__ = law.__name__, law.__doc__
        return law_on_a_part

    return tests_of


@cache
def made(place: int) -> Case:
    """Return one of the random cases, or of the irregular ones."""
    if place < CASES:
        return case(place)
    space, text = IRREGULAR[place - CASES]
    return case_of(space, parse(text))


def typed(values: object) -> list[tuple[type, object]]:
    return [(type(value), value) for value in values]


def is_truth(one: Case) -> bool:
    return shape_of(one.formula, one.space).kind == "bool"


def knowledge_of(one: Case) -> Knowledge:
    """Return the knowledge of a case; its label may have one value only."""
    values = (False, True) if is_truth(one) else tuple(sorted(set(one.values), key=lambda v: (isinstance(v, str), v)))
    return Knowledge(one.space, (Label("y", one.formula, values),))


def whole(one: Case) -> Array:
    return Knowledge(one.space, ()).can_be(one.codes)


# -- text --------------------------------------------------------------------------------------------------------------


def test_the_formulas_have_every_kind_of_node():
    parts = [part for place in PLACES for part in walk(made(place).formula)]
    assert {type(part) for part in parts} == set(NODES) - {Oracle}  # a program, tested below
    quantifiers = {(p.quantifier, len(p.variables)) for p in parts if isinstance(p, Quantified)}
    assert quantifiers == {(word, size) for word in ("any", "all", "count") for size in (1, 2)}
    assert {p.name for p in parts if isinstance(p, Function)} == {"abs", "min", "max", "pow"}


def test_what_is_written_reads_back_and_latex_tells_formulas_apart():
    texts: dict[str, Formula] = {}
    for place in PLACES:
        formula, written = made(place).formula, latex(made(place).formula)
        again = parse(str(formula))
        assert again == formula == pickle.loads(pickle.dumps(formula)) and hash(again) == hash(formula)
        plain = re.sub(r"\\[{}|]", "", written)
        assert plain.count("{") == plain.count("}") and written.count(r"\left") == written.count(r"\right")
        assert written.count(r"\begin") == written.count(r"\end")
        assert not re.search(r"\^\{[^{}]*\}\^", written)  # two exponents in a row do not compile
        assert texts.setdefault(written, formula) == formula


@on_each(range(60))
def test_deep_formulas_read_back(place):
    rng = rng_for(12, "deep", place)
    space = random_space(rng)
    scope = Scope(space, {concept.name: concept for concept in space.concepts})
    formula = (truth if place % 2 else number)(rng, scope, 6)
    assert parse(str(formula)) == formula


# -- values ------------------------------------------------------------------------------------------------------------


@on_each(PLACES)
def test_numpy_gives_the_values_in_any_width_of_codes(place):
    one = made(place)
    assert typed(evaluate(one.formula, one.space, one.codes).tolist()) == typed(
        value if value != ABSENT or shape_of(one.formula, one.space).kind == "symbol" else -(2**31)
        for value in one.values
    )
    for kind in (np.int8, np.int32):
        found = evaluate(one.formula, one.space, one.codes[::-1].astype(kind))
        assert found.tolist() == evaluate(one.formula, one.space, one.codes).tolist()[::-1]
    assert evaluate(one.formula, one.space, one.codes[:0]).tolist() == []
    flat = ground_formula(one.formula, one.space)
    assert not any(isinstance(part, Quantified) for part in walk(flat))
    assert evaluate(flat, one.space, one.codes).tolist() == evaluate(one.formula, one.space, one.codes).tolist()


@on_each(PLACES)
def test_every_part_lies_within_its_shape(place):
    one = made(place)
    for part in walk(ground_formula(one.formula, one.space)):
        try:
            shape = shape_of(part, one.space)
        except FormulaError as error:  # a part that counts only where its guard holds cannot stand alone
            assert "may be absent" in str(error)
            continue
        if shape.kind != "symbol" and not shape.optional:
            found = evaluate(part, one.space, one.codes)
            assert shape.least <= found.min() and found.max() <= shape.most


@on_each(PLACES)
def test_labels_are_codes_among_their_values_and_knowledge_reads_back(place):
    one = made(place)
    try:
        knowledge = Knowledge.of(
            one.space, {"y": one.formula}, [Constraint("c", one.formula.eq(one.formula), ("tag",))]
        )
    except KnowledgeError as error:
        assert len({value for value in one.values if value != ABSENT}) < 2 and "leaves nothing to learn" in str(error)
        return
    values = knowledge.label("y").values
    assert knowledge.label("y").kind == shape_of(one.formula, one.space).kind
    expected = [values.index(value) if value != ABSENT else -1 for value in one.values]
    assert knowledge.labels_of(one.codes)[:, 0].tolist() == expected
    assert not knowledge.violations(one.codes).any()
    assert Knowledge.from_dict(json.loads(json.dumps(knowledge.to_dict()))) == knowledge


# -- diagrams ----------------------------------------------------------------------------------------------------------


def distributions(space: ConceptSpace, rng: np.random.Generator, batch: int = 3) -> list[Array]:
    """Return distributions of each concept, the first of each certain."""
    drawn = [rng.dirichlet(np.ones(size), size=batch) for size in space.sizes]
    for one in drawn:
        one[0] = np.eye(one.shape[1])[rng.integers(one.shape[1])]
    return drawn


def joint(codes: Array, chances: list[Array]) -> Array:
    """Return the probability of each world, for each of the batch."""
    return np.prod([own[:, codes[:, place]] for place, own in enumerate(chances)], axis=0)


@on_each(PLACES)
def test_diagrams_agree_with_every_world(place):
    one, rng = made(place), rng_for(1, "diagrams", place)
    order = None if place % 3 else rng.permutation(one.space.names).tolist()
    diagram = compile_diagram([one.formula], one.space, order)
    which = diagram.outcome_of(one.codes)
    assert typed(diagram.outcomes[number][0] for number in which) == typed(one.values)
    assert diagram.counts == Counter((value,) for value in one.values)
    chances = distributions(one.space, rng)
    mass = joint(one.codes, chances)
    expected = [mass[:, which == number].sum(axis=1) for number in range(len(diagram.outcomes))]
    assert np.allclose(diagram.probabilities(chances), np.stack(expected, axis=1), atol=1e-12)
    wanted = rng.random(len(diagram.outcomes)) < 0.6
    wanted[rng.integers(len(wanted))] = True
    inside = wanted[which]
    best = mass[:, inside].max(axis=1)
    codes, logs = diagram.most_probable(chances, wanted)
    assert np.allclose(np.exp(logs), best, atol=1e-12) and wanted[diagram.outcome_of(codes)].all()
    assert np.allclose(np.diag(joint(codes, chances)), best, atol=1e-12)
    ranking = diagram.among(wanted)
    ranks = ranking.ranks(one.codes)
    assert ranking.total == inside.sum() and (ranks[~inside] == -1).all()
    assert sorted(ranks[inside].tolist()) == list(range(ranking.total))
    assert (ranking.worlds(ranks[inside]) == one.codes[inside]).all()


@on_each([place for place in PLACES if place % 5 == 0])
def test_diagrams_of_several_formulas_have_the_values_of_all(place):
    one, other = made(place), made(place).space.names[-1]
    diagram = compile_diagram([one.formula, Var(other)], one.space)
    flag = one.space.concept(other).kind == "bool"  # a truth that is absent is not true
    column = [value is True if flag else value for value in (one.space.decode(row)[other] for row in one.codes)]
    assert diagram.counts == Counter(zip(one.values, column, strict=True))


@on_each(PLACES)
def test_rules_compiled_by_what_they_count_agree_with_every_world(place):
    one = made(place)
    if is_truth(one):
        diagram, chances = truth_diagram(one.formula, one.space), distributions(one.space, rng_for(2, "tally", place))
        assert true_outcomes(diagram)[diagram.outcome_of(one.codes)].tolist() == one.values
        true = np.array(one.values)
        shares = diagram.probabilities(chances)[:, true_outcomes(diagram)].sum(axis=1)
        assert np.allclose(shares, joint(one.codes, chances)[:, true].sum(axis=1), atol=1e-12)


# -- clauses -----------------------------------------------------------------------------------------------------------


def models(cnf, names):
    """Return every model, as the values that its literals give to these names."""
    found = []
    with Solver("cadical153", bootstrap_with=cnf.clauses) as solver:
        for model in solver.enum_models():
            true = {*model, *(-v for v in range(1, cnf.variables + 1) if v not in model)}
            meant = Counter(name for literal, (name, _) in cnf.meanings.items() if literal in true)
            assert max(meant.values(), default=0) <= 1
            values = {name: value for literal, (name, value) in cnf.meanings.items() if literal in true}
            found.append(tuple(values.get(name, False) for name in names))
    return found


@on_each(PLACES)
def test_models_of_clauses_are_the_possible_worlds_with_their_labels(place):
    one = made(place)
    rows = zip(one.codes, one.values, whole(one), strict=True)
    worlds = [(*one.space.decode(row).values(), y) for row, y, inside in rows if inside]
    cnf = to_cnf(knowledge_of(one))
    assert Counter(models(cnf, (*one.space.names, "y"))) == Counter(worlds)
    assert parse_dimacs(cnf.to_dimacs()) == cnf
    if place % 4 == 0:
        for value in list(dict.fromkeys(one.values))[:3]:
            given = models(to_cnf(knowledge_of(one), given={"y": value}), one.space.names)
            assert Counter(given) == Counter(world[:-1] for world in worlds if world[-1] == value)


# -- fuzzy truth -------------------------------------------------------------------------------------------------------


def fuzzy_truth(knowledge: Knowledge, concepts: list[torch.Tensor]) -> list[bool]:
    """Return of each example whether the only label is rather true than false."""
    norms = {"conjunction": "goedel", "disjunction": "goedel", "implication": "kleene-dienes", "exists": "or"}
    model = MODELS["ltn"](knowledge, Layout(2, 1), {"backbone": "mlp", "device": "cpu", **norms})
    return (model.labels_from_concepts(concepts)[0][:, 1] > 0.5).tolist()


@on_each(PLACES)
def test_fuzzy_truth_at_certain_concepts_is_truth(place):
    one = made(place)
    if not is_truth(one) or one.formula == Xor(()):  # fuzzy logic has no "odd number of none" (yet)
        return
    concepts = [torch.eye(size)[one.codes[:, place]] for place, size in enumerate(one.space.sizes)]
    try:
        found = fuzzy_truth(Knowledge(one.space, (Label("y", one.formula, (False, True)),)), concepts)
    except ConfigError as error:  # a comparison of too many concepts
        assert "\n" not in str(error)
        return
    assert found == one.values


# -- Prolog ------------------------------------------------------------------------------------------------------------


@on_each([place for place in PLACES if place % 2 or place >= CASES])
def test_prolog_proves_what_holds_and_is_read_back_as_a_formula(place):
    one = made(place)
    kept = whole(one)
    worlds, expected = Worlds(one.space, one.codes[kept]), [v for v, ok in zip(one.values, kept, strict=True) if ok]
    text = rules_text(Knowledge(one.space, (Label("said", one.formula, knowledge_of(one).label("y").values),)))
    if is_truth(one):
        assert label(text, worlds, head="said").tolist() == expected
        try:
            lifted = formula_of(text, one.space, "said")
        except (AssayError, RecursionError):  # not every program is a formula
            return
        assert evaluate(lifted, one.space, one.codes[kept]).tolist() == expected
        return
    for value in dict.fromkeys(expected):
        if value == ABSENT and shape_of(one.formula, one.space).kind == "int":
            continue  # written as a number far below all others
        asked = f"{text}yes(W) :- said(W,{value_text(value)}).\n"
        assert label(asked, worlds, head="yes").tolist() == [own == value for own in expected]


def test_a_program_is_read_wherever_formulas_are():
    space = ConceptSpace((Concept("n", (0, 1, 2)), Concept("m", (2, 0, 1)), Concept("p", (False, True))))
    program = Oracle("less(W) :- n(W, X), m(W, Y), X < Y.", "less", "", (Var("n"), Var("m")))
    plain, every = parse("n < m"), oracle("less(W) :- n(W, X), m(W, Y), X < Y.", space)
    assert evaluate(every, space, space.all_codes()).tolist() == evaluate(plain, space, space.all_codes()).tolist()
    codes = space.all_codes()
    expected = evaluate(plain, space, codes)
    for rule, same in ((program, plain), (program & Var("p"), plain & Var("p")), (Xor((program, Var("p"))), parse("xor(n < m, p)"))):  # fmt: skip
        assert parse(str(rule)) == rule == pickle.loads(pickle.dumps(rule)) and latex(rule)
        assert evaluate(rule, space, codes).tolist() == evaluate(same, space, codes).tolist()
        assert compile_diagram([rule], space).counts == compile_diagram([same], space).counts
        assert truth_diagram(rule, space).counts == truth_diagram(same, space).counts
        assert (Boundary(rule, space, TRUE).flips(codes) == Boundary(same, space, TRUE).flips(codes)).all()
        both = [models(to_cnf(Knowledge.of(space, {"y": each}), {"y": True}), space.names) for each in (rule, same)]
        assert sorted(both[0]) == sorted(both[1])
    concepts = [torch.eye(size)[codes[:, place]] for place, size in enumerate(space.sizes)]
    assert fuzzy_truth(Knowledge.of(space, {"y": program}), concepts) == expected.tolist()
    with pytest.raises((FormulaError, PrologError)):
        rules_text(Knowledge.of(space, {"y": program & Var("p")}))


# -- changes of single concepts ----------------------------------------------------------------------------------------


def changed(codes: Array, place: int, code: int) -> Array:
    other = codes.copy()
    other[:, place] = code
    return other


@on_each(PLACES)
def test_flips_are_those_of_changing_each_concept_to_each_value(place):
    one = made(place)
    limits = Var(one.space.names[0]).ne(one.space.concepts[0].values[0]) if place % 3 else TRUE
    boundary = Boundary(one.formula, one.space, limits)
    now = evaluate(one.formula, one.space, one.codes)
    expected = np.zeros(one.codes.shape, dtype=bool)
    for column, concept in enumerate(one.space.concepts):
        step = None if boundary.steps is None else boundary.steps[column]
        for code in range(len(concept.values)):
            other = changed(one.codes, column, code)
            moved = (evaluate(one.formula, one.space, other) != now) & evaluate(limits, one.space, other)
            expected[:, column] |= moved if step is None else moved & step[one.codes[:, column], code]
    assert np.array_equal(boundary.flips(one.codes), expected)


@on_each(PLACES)
def test_variants_cover_the_rule_and_types_what_is_near(place):
    """Near is false, and true after a change of one concept to a possible world."""
    one = made(place)
    if not is_truth(one):
        return
    limit = Var(one.space.names[0]).ne(one.space.concepts[0].values[0])
    for limits in ((), (Constraint("some", limit),)) if place % 2 and one.space.sizes[0] > 1 else ((),):
        knowledge = Knowledge(one.space, knowledge_of(one).labels, limits)
        (boundary,), possible = knowledge.boundaries, knowledge.can_be(one.codes)
        holds, near = np.array(one.values), np.zeros(len(one.codes), dtype=bool)
        for column, concept in enumerate(one.space.concepts):
            for code in range(len(concept.values)):
                there = changed(one.codes, column, code)
                near |= ~holds & evaluate(one.formula, one.space, there) & knowledge.can_be(there)
        assert boundary.explicit
        assert boundary.near(one.codes)[possible].tolist() == near[possible].tolist()
        variants, types = boundary.in_variants(one.codes)[possible], boundary.in_types(one.codes)[possible]
        assert variants.any(axis=1).tolist() == holds[possible].tolist()
        assert types.any(axis=1).tolist() == near[possible].tolist()
        assert variants.any(axis=0).all() and types.any(axis=0).all(), "a region is empty"
        regions = (*boundary.variants, *boundary.types)
        names = [region.name for region in regions]
        assert len(set(names)) == len(names)
        for region in regions:
            assert shape_of(parse(str(region.formula)), one.space).kind == "bool"
        tags, members = boundary.tags(one.codes[possible]), np.concatenate([variants, types], axis=1)
        own = [[name for name, inside in zip(names, row, strict=True) if inside] for row in members]
        assert tags == ["; ".join(row) or "far" for row in own]
