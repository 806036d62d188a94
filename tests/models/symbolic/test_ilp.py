"""The embedded learner of clauses: coverage, search, cover, bias; it finds the rules of trains."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, digits
from assay.config import Settings
from assay.diagnosis import relations_in
from assay.diagnosis.rule_relation import relate
from assay.logic import Constraint, Knowledge, evaluate, parse
from assay.models.symbolic.bits import pack_bits, unpack_bits
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.ilp import search
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral, clauses_of, definitions
from assay.models.symbolic.ilp.coverage import Coverage, refined_covers
from assay.models.symbolic.ilp.expressible import express_rule
from assay.models.symbolic.ilp.learner import Ilp
from assay.models.symbolic.ilp.search import Candidate, Clock
from assay.models.symbolic.ilp.set_cover import CoverSolver, drop_dominated
from assay.models.symbolic.perception import one_hot
from assay.prolog import Bias, Language, Worlds, formula_of, label, read_program
from assay.prolog.ilp_files import aleph_modes, popper_bias
from assay.tasks import TASKS

NARROW = {"counts": 0, "triples": False, "objects": 2, "comparisons": False, "literals": 3}


def trains(rule, size, seed=0):
    """Return the knowledge of trains and the codes of some."""
    task = TASKS["trains"](image=False, rule=rule)
    split = next(one for one in task.splits() if one.name == "train")
    return task.knowledge, task.worlds_in(replace(split, size=size), seed).codes(np.arange(size))


def learned(knowledge, codes, labels=None, **settings):
    """Return the model after learning from these worlds."""
    model = Ilp(knowledge, None, Settings(settings))
    given = knowledge.labels_of(codes) if labels is None else labels
    model.learn(Examples(knowledge, codes, one_hot(codes, knowledge.space), given))
    return model


def relation(model, knowledge):
    """Return how the learned formula relates to the rule."""
    (found,) = relations_in(model.state(), knowledge)
    assert found.exact
    return found.relation


# -- it finds rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["theory_x", "numerical", "complex"])
def test_rules_of_trains_are_found_exactly(rule):
    knowledge, codes = trains(rule, 600 if rule == "complex" else 400)
    model = learned(knowledge, codes, seconds=60)
    notes = model.learned["east"].notes
    assert relation(model, knowledge) == "equal"
    assert notes["errors"] == 0 and notes["bias"]["expressible"]


@pytest.mark.slow
def test_theory_x_is_found_among_wrong_labels():
    knowledge, codes = trains("theory_x", 500)
    labels = knowledge.labels_of(codes)
    wrong = np.random.default_rng(0).permutation(500)[:50]
    labels[wrong] = 1 - labels[wrong]
    model = learned(knowledge, codes, labels, seconds=60, **NARROW)
    assert relation(model, knowledge) == "equal"
    assert model.learned["east"].notes["errors"] == 50


@pytest.mark.slow
def test_labels_that_are_noise_are_not_explained():
    knowledge, codes = trains("theory_x", 300)
    labels = np.random.default_rng(1).integers(0, 2, (300, 1))
    notes = learned(knowledge, codes, labels, seconds=60, **NARROW).learned["east"].notes
    assert notes["clauses"] <= 1


def test_each_value_of_a_label_gets_clauses():
    knowledge = Knowledge.of(digits(["a", "b"], range(4)), {"least": "min(a, b)"})
    codes = np.tile(knowledge.space.all_codes(), (6, 1))
    model = learned(knowledge, codes, seconds=20)
    assert model.learned["least"].notes["3"]["errors"] == 0
    said = model.labels_from_concepts(one_hot(codes, knowledge.space))[0].argmax(axis=1)
    assert (said == knowledge.labels_of(codes)[:, 0]).all()


def test_the_search_looks_at_the_clock_often_and_stops_when_the_time_is_up(monkeypatch):
    looks = itertools.count()  # a clock on which each look takes a hundredth of a second
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=lambda: next(looks) / 100))
    knowledge, codes = trains("complex", 1000)
    model = learned(knowledge, codes, seconds=1.5)
    assert 1.3 < next(looks) / 100 < 1.5 * 1.1
    assert not model.learned["east"].notes["complete"] and model.learned["east"].notes["errors"] < 500


# -- coverage, clauses and Prolog agree --------------------------------------------------------------------------------


def two_groups():
    """Return a space with two groups of objects, some absent, and plain concepts."""
    cups = [Concept(f"cup{n}.size", (1, 2, 3, ABSENT)) for n in (1, 2, 3)]
    hats = [Concept(f"hat{n}.{name}", values) for n in (1, 2) for name, values in HAT.items()]
    slots = [Slot(f"cup{n}", "cups", ("size",)) for n in (1, 2, 3)]
    slots += [Slot(f"hat{n}", "hats", tuple(HAT)) for n in (1, 2)]
    return ConceptSpace((*cups, *hats, Concept("warm", (False, True)), Concept("day", (1, 2, 3))), tuple(slots))


HAT = {"colour": ("red", "blue", "Sky blue"), "price": (2, 3, 4)}


def some_worlds(space, size):
    """Return worlds drawn evenly, slots whole."""
    rng = np.random.default_rng(5)
    return rng.integers(0, np.array(space.sizes), (size, len(space)))


def some_clauses(bias, coverage, number):
    """Give clauses drawn from a bias."""
    rng = np.random.default_rng(3)
    for _ in range(number):
        groups = bias.structures[rng.integers(len(bias.structures))]
        batches, body = coverage.batches(groups), []
        for _ in range(rng.integers(1, 4)):
            batch = batches[rng.integers(len(batches))]
            body.append(PlacedLiteral(bias.literals[rng.choice(batch.numbers)], batch.places))
        yield IlpClause(groups, tuple(body))


@pytest.mark.parametrize("which", ["trains", "groups"])
def test_bits_formulas_and_prolog_say_the_same(which):
    space = two_groups() if which == "groups" else TASKS["trains"](image=False).space
    codes = some_worlds(space, 70) if which == "groups" else trains("theory_x", 70)[1]
    bias = Bias(space)
    coverage = Coverage(bias, codes)
    for place, clause in enumerate(some_clauses(bias, coverage, 60)):
        found = unpack_bits(coverage.of(clause), len(codes))
        assert (found == np.asarray(evaluate(clause.formula(), space, codes), dtype=bool)).all(), str(clause.formula())
        if place < 15:
            text = "\n".join([clause.text("goal", bias), *definitions([clause])])
            program = read_program(text, "learned")
            assert (label(program, Worlds(space, codes), head="goal") == found).all(), text
            again = np.asarray(evaluate(formula_of(text, space, "goal"), space, codes), dtype=bool)
            assert (again == found).all()
            assert clauses_of(read_program(clause.text("goal", bias)), "goal", bias) == [clause]


def test_an_added_literal_covers_what_the_longer_clause_does():
    knowledge, codes = trains("theory_x", 100)
    bias = Bias(knowledge.space)
    coverage = Coverage(bias, codes)
    groups = ("cars", "cars", "cars")
    first = PlacedLiteral(bias.by_name["car_before"], (0, 2))
    held = coverage.start(groups) & coverage.literal_bits(bias.literals.index(first.literal), (0, 2), 3)
    for batch in coverage.batches(groups):
        covers = refined_covers(held, batch)
        for row in range(0, len(batch.numbers), 7):
            clause = IlpClause(groups, (first, PlacedLiteral(bias.literals[batch.numbers[row]], batch.places)))
            assert (coverage.of(clause) == covers[row]).all()


def test_all_learners_get_the_same_bias():
    bias = Bias(TASKS["trains"](image=False).space)
    names = set(bias.by_name) | {"has_car"}
    assert len(names) == len(bias.literals) + 1
    for text in (aleph_modes(bias, "east"), popper_bias(bias, "east")):
        assert all(f"{name}(" in text or f"{name}," in text for name in names)


# -- the program with the fewest bits ----------------------------------------------------------------------------------


def test_the_cover_is_the_best_of_all_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(6):
        truth = rng.random(80) < 0.5
        rows = [(truth & (rng.random(80) < 0.5)) | (rng.random(80) < 0.05) for _ in range(9)]
        pool = [Candidate(IlpClause((), ()), float(rng.uniform(3, 12)), pack_bits(row)) for row in rows]
        cover = CoverSolver(pack_bits(truth), pack_bits(~truth), 9)
        best = cover.best(pool, Clock.of(20), cover.theory(()))
        best = cover.prove(pool, Clock.of(20), best)
        every = [cover.theory(some).bits for n in range(10) for some in itertools.combinations(pool, n)]
        assert best.bits == pytest.approx(min(every))


def test_clauses_that_another_betters_are_left_out():
    truth = np.array([True, True, False, False])
    wide, narrow = (
        Candidate(IlpClause((), ()), 3.0, pack_bits(truth)),
        Candidate(IlpClause((), ()), 4.0, pack_bits(truth & [1, 0, 0, 0])),
    )
    assert drop_dominated([narrow, wide], pack_bits(truth), pack_bits(~truth)) == [wide]


# -- what can be said --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["theory_x", "numerical", "complex", "easy", "color", "multi"])
def test_the_rules_of_trains_can_be_said(rule):
    task = TASKS["trains"](image=False, rule=rule)
    formula = task.knowledge.labels[0].formula
    assert express_rule(formula, Bias(task.space)).holds
    bare = Language(order=False, comparisons=False, others=False, counts=0, clauses=2)
    assert not express_rule(formula, Bias(task.space, bare)).holds


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("any(c.loads + c.axles > c.number + 1 for c in cars)", "clauses as it is written"),
        ("any(c.colour == 'red' and c.wall == 'braced' and c.axles == 2 and c.loads == 2 and c.load == 'box'"
         " for c in cars)", "a clause takes 5 literals"),
        ("xor(any(c.loads == 3 for c in cars), any(c.axles == 3 for c in cars))", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_named(rule, why):
    task = TASKS["trains"](image=False, rule=rule)
    told = express_rule(task.knowledge.labels[0].formula, Bias(task.space))
    assert not told.holds and why in told.why


@pytest.mark.parametrize(
    ("learned_text", "name", "more", "less"),
    [("a > 5", "equal", 0, 0), ("a >= 5", "more general", 4, 0), ("a > 6", "more specific", 0, 3),
     ("b == 9", "different", 6, 0), ("a == 5 or a == 8", "different", 4, 5)],
)  # fmt: skip
def test_relations_are_counted_on_the_worlds_that_can_be(learned_text, name, more, less):
    knowledge = Knowledge.of(digits(["a", "b"]), {"big": "a > 5"}, [Constraint("less", parse("a < b"))])
    codes = knowledge.space.all_codes()
    codes = codes[codes[:, 0] < codes[:, 1]]
    one = np.asarray(evaluate(parse(learned_text), knowledge.space, codes), dtype=bool)
    rule = codes[:, 0] > 5
    found = relate(parse(learned_text), knowledge.labels[0].formula, knowledge, "big")
    counted = int((one & ~rule).sum()), int((~one & rule).sum())
    assert (found.only_learned, found.only_rule, found.worlds, found.exact) == (*counted, len(codes), True)
    if name != "different":
        assert counted == (more, less)
    assert found.relation == name and str(name.split()[-1]) in found.text
