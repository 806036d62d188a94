"""Differentiable ILP: values of atoms and clauses against brute force, the search, the weights, and trains seen badly."""

import numpy as np
import pytest
import torch

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits
from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.make import make
from assay.data.recipe import Recipe
from assay.errors import ConfigError
from assay.logic.evaluate import evaluate
from assay.logic.knowledge import Knowledge
from assay.logic.prolog.bias import Bias, Language
from assay.logic.prolog.lift import formula_of
from assay.models import MODELS
from assay.models.alpha_ilp import clause_weights
from assay.models.alpha_ilp.beam_search import Beam, ClausePool, SearchLimits, ground_clause
from assay.models.alpha_ilp.clause_weights import MARGIN, Descent, WeightedClauses, learn_weights
from assay.models.alpha_ilp.learner import AlphaConfig, AlphaIlp
from assay.models.alpha_ilp.modes import Modes
from assay.models.alpha_ilp.soft_reasoning import GroundBodies, Rules, clause_values, program_value
from assay.models.alpha_ilp.valuation import GroundAtoms
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral
from assay.models.symbolic.perception import one_hot
from assay.predictions import Answer, Predictions
from assay.render.picture import Layout
from assay.tasks import TASKS

FOREVER = 1e12


def balls(slots=3, absent=False):
    """Some balls of a colour and a size that may be absent."""
    more = (ABSENT,) if absent else ()
    names = [f"ball{number + 1}" for number in range(slots)]
    concepts = [
        Concept(f"{name}.{attribute}", (*values, *more))
        for name in names
        for attribute, values in {"colour": ("red", "blue", "green"), "size": (1, 2)}.items()
    ]
    return ConceptSpace(tuple(concepts), tuple(Slot(name, "balls", ("colour", "size")) for name in names))


def random_worlds(space, rows, rng):
    """Draw worlds in which a slot is absent as a whole."""
    codes = np.stack([rng.integers(0, len(c.present), rows) for c in space.concepts], axis=1)
    for slot in space.slots:
        if space.concept(slot.concepts[0]).optional:
            gone = rng.random(rows) < 0.3
            for name in slot.concepts:
                codes[gone, space.place(name)] = space.concept(name).values.index(ABSENT)
    return codes


def tensors(spreads):
    return [torch.from_numpy(np.asarray(spread)) for spread in spreads]


def searched(space, codes, target, way="noisy", spreads=None, **limits):
    modes = Modes(Bias(space, Language(objects=2, counts=2)))
    ground = GroundAtoms(space, modes.literals)
    values = ground.values(tensors(spreads or one_hot(codes, space)))
    held = {"beam": 8, "depth": 3, "rounds": 1, "clauses": 200, "ends": FOREVER, "way": way, **limits}
    return Beam(modes, ground, values, torch.from_numpy(np.asarray(target)), SearchLimits(**held)).run(), modes


# -- modes -------------------------------------------------------------------------------------------------------------


def test_modes_come_from_the_space():
    texts = Modes(Bias(balls(), Language(objects=2, counts=0))).texts()
    assert "modeb(2,colour_red(+ball))" in texts and "modeb(2,colour_red(-ball))" in texts
    assert "modeb(1,ball_before(+ball,-ball))" in texts and "modeb(1,same_colour(+ball,+ball))" in texts
    assert "modeb(1,same_colour(-ball,+ball))" not in texts  # it may be swapped
    assert "modeb(1,a_is_b(+world))" in Modes(Bias(bits(["a", "b"]))).texts()


def test_literals_that_never_hold_together_are_known():
    modes = Modes(Bias(balls(), Language(objects=2)))
    number = {literal.name: place for place, literal in enumerate(modes.literals)}
    clashing = GroundAtoms(balls(), modes.literals).clashing
    assert clashing[number["colour_red"], number["colour_blue"]]
    assert not clashing[number["colour_red"], number["size_1"]]
    assert modes.idle[number["colour_red"], number["colour_not_blue"]]
    assert not modes.idle[number["colour_not_red"], number["colour_not_blue"]]


# -- values of atoms ---------------------------------------------------------------------------------------------------


def test_the_value_of_an_atom_is_its_probability():
    space = balls(2)
    literals = Bias(space, Language(objects=2, counts=2)).literals
    ground = GroundAtoms(space, literals)
    rng = np.random.default_rng(1)
    spreads = [rng.dirichlet(np.ones(size), 4) for size in space.sizes]
    worlds = space.all_codes()
    mass = np.prod([spreads[place][:, worlds[:, place]] for place in range(len(space))], axis=0)
    found = ground.values(tensors(spreads)).numpy()
    exact = ground.values(tensors(one_hot(worlds, space))).numpy().round()  # of each world, by the same atoms' numbers
    np.testing.assert_allclose(found[2:], (mass @ exact.T).T[2:], atol=1e-9)
    for number, literal in enumerate(literals):
        if not literal.groups:
            holds = evaluate(literal.formula(), space, worlds).astype(bool)
            np.testing.assert_allclose(found[ground.offsets[number]], mass[:, holds].sum(axis=1), atol=1e-9)


def test_all_attributes_are_witnesses_that_an_object_is_there():
    space = balls(2, absent=True)
    ground = GroundAtoms(space, ())
    sure = [np.array([[0.9, 0.05, 0.05, 0.0]]), np.array([[0.3, 0.3, 0.4]])]  # its size is said to be absent, perhaps
    gone = [np.array([[0.0, 0.05, 0.05, 0.9]]), np.array([[0.1, 0.1, 0.8]])]
    value = ground.values(tensors([*sure, *gone]))[ground.presence("balls"), 0]
    assert value[0] > 0.99 and value[1] < 0.05


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("way", ["noisy", "max"])
def test_clauses_are_as_true_as_their_formulas_where_concepts_are_certain(absent, way):
    space, rng = balls(3, absent), np.random.default_rng(2)
    codes = random_worlds(space, 60, rng)
    pool, _ = searched(space, codes, rng.random(60) < 0.5, way, beam=15)
    assert len(pool.clauses) > 30 and {len(clause.groups) for clause in pool.clauses} >= {1, 2}
    fresh = random_worlds(space, 80, rng)
    for clause in pool.clauses:
        used = tuple(dict.fromkeys(one.literal for one in clause.body))
        ground = GroundAtoms(space, used)
        held = clause_values(
            ground.values(tensors(one_hot(fresh, space))), GroundBodies.of([ground_clause(clause, ground)]), way
        )
        assert ((held[0].numpy() > 0.5) == evaluate(clause.formula(), space, fresh).astype(bool)).all(), clause
        assert (torch.minimum(held[0], 1 - held[0]) < 0.01).all()


# -- reasoning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["noisy", "max"])
def test_an_answer_does_not_depend_on_the_other_examples(way):
    rng = torch.Generator().manual_seed(0)
    values = torch.rand(9, 6, generator=rng, dtype=torch.float64)
    bodies = GroundBodies.of([np.array([[2, 3], [4, 5]]), np.array([[6, 7], [7, 8], [2, 8]])])
    together = clause_values(values, bodies, way)
    apart = torch.cat([clause_values(values[:, [place]], bodies, way) for place in range(6)], dim=1)
    assert torch.equal(together, apart) and together.min() >= 0 and together.max() <= 1


def test_a_soft_or_is_what_it_says():
    bodies = GroundBodies.of([np.array([[0], [1]])])
    values = torch.tensor([[0.5, 0.9], [0.5, 0.1]], dtype=torch.float64)
    np.testing.assert_allclose(clause_values(values, bodies, "noisy")[0], [0.75, 0.91])
    np.testing.assert_allclose(clause_values(values, bodies, "max")[0], [0.5, 0.9], atol=1e-9)


def test_gradients_reach_the_concepts():
    space = balls(2)
    bias = Bias(space, Language(objects=2))
    body = (PlacedLiteral(bias.by_name["colour_red"], (0,)), PlacedLiteral(bias.by_name["same_size"], (0, 1)))
    ground = GroundAtoms(space, [one.literal for one in body])
    bodies = GroundBodies.of([ground_clause(IlpClause(("balls", "balls"), body), ground)])
    rules = Rules(torch.zeros(1, 1, dtype=torch.float64))
    rng = np.random.default_rng(3)
    concepts = [torch.from_numpy(rng.dirichlet(np.ones(n), 2)).requires_grad_() for n in space.sizes]
    assert torch.autograd.gradcheck(lambda *given: rules(clause_values(ground.values(given), bodies)), concepts)


# -- search ------------------------------------------------------------------------------------------------------------


def test_negative_examples_count():
    space = bits(["a", "b"])
    codes = np.array([[1, 1]] * 10 + [[1, 0]] * 10)
    pool, _ = searched(space, codes, codes[:, 1] == 1)
    best = pool.clauses[int(pool.scores[:, 0].argmax())]
    assert best.text("y", Bias(space)) in ("y(W) :- b_true(W).", "y(W) :- a_is_b(W).")
    # `a` holds in all positive examples too, and would be as good if only these counted
    held = {
        clause.text("y", Bias(space)): float(score) for clause, score in zip(pool.clauses, pool.scores, strict=True)
    }
    assert held.get("y(W) :- a_true(W).", 0.0) <= 0


def test_no_clause_is_found_twice_and_none_says_the_same_of_two_objects():
    rng = np.random.default_rng(4)
    space = balls(3)
    codes = random_worlds(space, 50, rng)
    pool, _ = searched(space, codes, rng.random(50) < 0.5, rounds=3, beam=20)
    texts = [clause.text("y", Bias(space, Language(objects=2))) for clause in pool.clauses]
    assert len(set(texts)) == len(texts)
    for clause in pool.clauses:
        said = {(one.literal.name, one.places) for one in clause.body}
        assert (
            {(name, places) for name, places in said if places == (0,)}
            != {(name, (0,)) for name, places in said if places == (1,)}
            or len(clause.groups) < 2
            or any(len(one.places) > 1 for one in clause.body)
        )


def test_the_next_round_looks_for_what_is_left_to_explain():
    space = bits(["a", "b", "c"])
    codes = np.random.default_rng(5).integers(0, 2, (200, 3))
    target = (codes[:, 0] == 1) & (codes[:, 1] == 1) | (codes[:, 2] == 1)
    pool, _ = searched(space, codes, target, rounds=2)
    first, second = (pool.clauses[int(column.argmax())] for column in pool.scores.T)
    assert first.text("y", Bias(space)) == "y(W) :- c_true(W)."
    held = evaluate(second.formula(), space, codes).astype(bool)
    assert not held[~target].any() and held[target & (codes[:, 2] == 0)].all()


# -- weights -----------------------------------------------------------------------------------------------------------


def test_weights_find_the_clauses_that_explain_and_rules_may_be_none():
    bias = Bias(bits(["a", "b", "c"]))
    clauses = tuple(IlpClause((), (PlacedLiteral(bias.by_name[f"{name}_true"], ()),)) for name in "abc")
    held = torch.from_numpy(np.random.default_rng(6).integers(0, 2, (3, 60))).double()
    target = torch.maximum(held[0], held[2])
    pool = ClausePool(clauses, held.float(), torch.zeros(3, 3), 3, True)
    pool.scores[0, 0] = pool.scores[2, 1] = 0.1  # a slight lead; the third rule is not needed
    found, loss, steps = learn_weights(pool, target.float(), Descent(3, 400, 0.05, FOREVER))
    assert set(found.strongest(0.3)) == {clauses[0], clauses[2]} and loss < 0.05 and steps <= 400
    again = WeightedClauses.from_dict(found.to_dict(), bias)
    assert again.clauses == found.clauses and np.array_equal(again.weights, found.weights)


def test_clauses_are_read_back_with_their_objects_and_a_weight_for_each_rule():
    bias = Bias(balls(), Language(objects=2))
    before, red = bias.by_name["ball_before"], bias.by_name["colour_red"]
    pair, single = ("balls", "balls"), ("balls",)
    clauses = (
        IlpClause(pair, (PlacedLiteral(red, (1,)), PlacedLiteral(before, (1, 0)))),
        IlpClause(single, (PlacedLiteral(red, (0,)),)),
        IlpClause((), ()),
    )
    for weights in (np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.0]]), np.array([[0.7, 0.2, 0.1]])):
        again = WeightedClauses.from_dict(WeightedClauses(clauses, weights).to_dict(), bias)
        assert again.clauses == clauses and np.array_equal(again.weights, weights)


def test_an_undecided_program_is_its_strongest_clause():
    bias = Bias(bits(["a", "b"]))
    clauses = tuple(IlpClause((), (PlacedLiteral(bias.by_name[f"{name}_true"], ()),)) for name in "ab")
    assert WeightedClauses(clauses, np.array([[0.5, 0.4], [0.1, 0.2]])).strongest(0.3) == clauses[:1]
    assert WeightedClauses(clauses, np.array([[0.3, 0.4]])).strongest(0.9) == clauses[1:]
    assert WeightedClauses(clauses, np.array([[0.1, 0.2]])).strongest(0.9) == ()  # most of the weight is on none
    assert WeightedClauses((), np.ones((1, 0))).strongest(0.3) == ()


# -- the model ---------------------------------------------------------------------------------------------------------


def learned(knowledge, codes, **settings):
    model = AlphaIlp(knowledge, Layout(0, 0), Settings(settings))
    space = knowledge.space
    model.learn(Examples(knowledge, codes, one_hot(codes, space), knowledge.labels_of(codes)))
    return model


def agrees(model, codes):
    said = model.label_probabilities(one_hot(codes, model.space))
    return [
        float((spread.argmax(axis=1) == column).mean())
        for spread, column in zip(said, model.knowledge.labels_of(codes).T, strict=True)
    ]


def test_labels_of_any_kind_are_learned_from_plain_concepts():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (False, True)), Concept("c", ("x", "y"))))
    knowledge = Knowledge.of(space, {"y": "b == (c == 'x')", "z": "a", "one": "a >= 0"})
    codes = space.all_codes().astype(np.int64)
    for answers in ("soft", "program"):
        model = learned(knowledge, codes, answers=answers)
        assert agrees(model, codes) == [1.0, 1.0, 1.0]
    assert "z_2(W) :- a_2(W)." in model.in_words() and "one(W)." in model.in_words()


def test_a_model_says_the_same_in_prolog_as_a_formula_and_softly():
    space = balls(3, absent=True)
    rule = "any(x.colour == 'red' and x.size == 2 for x in balls) or any(x.colour == y.colour for x, y in pairs(balls))"
    knowledge = Knowledge.of(space, {"y": rule})
    codes = random_worlds(space, 300, np.random.default_rng(7))
    model = learned(knowledge, codes)
    fresh = random_worlds(space, 300, np.random.default_rng(8))
    read = formula_of(model.program(knowledge.labels[0]), model.bias.vocabulary, "y")
    by_formula = evaluate(model.formulas["y"], space, fresh).astype(bool)
    assert (evaluate(read, space, fresh).astype(bool) == by_formula).all()
    assert agrees(model, fresh) == [1.0] and (by_formula == knowledge.labels_of(fresh)[:, 0]).all()


def test_the_time_limit_holds():
    task = TASKS["trains"](image=False)
    codes = np.array(task.worlds_in(task.splits()[0], 0).codes(range(1000)))
    model = learned(task.knowledge, codes, seconds=0.5, beam=500, depth=6)  # would take minutes
    notes = model.learned["east"].notes["True"]
    assert not notes["complete"] and notes["seconds"] < 20 and model.in_words()


def test_bad_settings_are_one_line():
    with pytest.raises(ConfigError, match="rules: Input should be greater than or equal to 1") as caught:
        MODELS["alpha-ilp"](Knowledge.of(bits(["a"]), {"y": "a"}), Layout(0, 0), Settings({"rules": 0}))
    assert "\n" not in str(caught.value)


# -- trains that are seen badly ----------------------------------------------------------------------------------------


def seen_badly(data, folder, rate, seed):
    """Write what an eye says that takes each concept for another with some chance, and knows how often it errs."""
    folder.mkdir()
    for split in ("train", "valid", "test"):
        part, rng = data[split], np.random.default_rng([seed, len(split)])
        answers = {}
        for place, concept in enumerate(part.knowledge.space.concepts):
            size, true = len(concept.values), part.concepts[:, place]
            wrong = rng.random(len(true)) < rate
            seen = np.where(wrong, (true + rng.integers(1, size, len(true))) % size, true)
            answers[concept.name] = Answer.of(np.eye(size)[seen] * (1 - rate - rate / (size - 1)) + rate / (size - 1))
        Predictions(part.fingerprint, split, part.index, {}, answers).write(folder / f"{split}.parquet", data.knowledge)
    return str(folder)


@pytest.fixture(scope="module")
def trains(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trains") / "data"
    sizes = (("train", 100), ("valid", 20), ("test", 500))
    make(Recipe("trains", Settings({"image": False}), sizes=sizes), folder)
    return Dataset.open(folder)


@pytest.mark.slow
def test_theory_x_from_100_trains_and_noisy_concepts(trains, tmp_path):
    test = trains["test"]
    found = {}
    for kind, rate in (("clean", 0.0), ("noisy", 0.1)):
        eye = seen_badly(trains, tmp_path / kind, rate, 0)
        model = AlphaIlp(trains.knowledge, trains.layout, Settings({"perception": eye}))
        model.fit(trains["train"], trains["valid"])
        found[kind] = float((model.predict(test).labels["east"].codes == test.labels[:, 0]).mean())
        words = model.in_words()
        assert any(line.startswith("east(W) :- has_car(W,X1)") for line in words)
        read = formula_of(model.program(trains.knowledge.labels[0]), trains.knowledge.space, "east")
        same = evaluate(read, trains.knowledge.space, test.concepts) == evaluate(
            model.formulas["east"], trains.knowledge.space, test.concepts
        )
        assert same.all()
    assert found["clean"] > 0.97 and found["noisy"] > 0.7  # the true rule on these noisy concepts: about 0.86


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_usual_settings_of_the_differentiable_learner():
    config = AlphaConfig()
    wanted = {
        "reading": "soft", "rules": 3, "beam": 30, "depth": 4, "objects": 2, "most_clauses": 200, "counts": 0,
        "soft_or": "noisy", "steps": 300, "learning_rate": 0.05, "threshold": 0.3, "answers": "soft", "examples": 2000,
        "seconds": 60.0,
    }  # fmt: skip
    assert {key: getattr(config, key) for key in wanted} == wanted


def test_ground_bodies_are_filled_up_with_true():
    bodies = GroundBodies.of([np.array([[5, 6], [7, 8]]), np.array([[9]]), np.zeros((0, 1), dtype=np.int64)])
    assert bodies.atoms.tolist() == [[5, 6], [7, 8], [9, 1]] and bodies.clause.tolist() == [0, 0, 1]
    assert bodies.clauses == 3 and GroundBodies.of([]).atoms.shape == (0, 0)


def test_clauses_and_programs_by_hand():
    values = torch.tensor([[0.0, 0], [1, 1], [0.5, 0.2], [0.4, 0.9], [0.3, 1.0]])
    bodies = GroundBodies.of([np.array([[2, 3], [3, 4]]), np.array([[4]]), np.zeros((0, 1), dtype=np.int64)])
    noisy = clause_values(values, bodies)
    wanted = [[1 - (1 - 0.2) * (1 - 0.12), 1 - (1 - 0.18) * (1 - 0.9)], [0.3, 1.0], [0.0, 0.0]]
    np.testing.assert_allclose(noisy, wanted, atol=2e-6)
    most = clause_values(values, bodies, "max")
    powers = [np.exp((np.array(pair) - max(pair)) / 0.01) for pair in ((0.2, 0.12), (0.18, 0.9))]
    smooth = [float((p * pair).sum() / p.sum()) for p, pair in zip(powers, ((0.2, 0.12), (0.18, 0.9)), strict=True)]
    np.testing.assert_allclose(most, [smooth, [0.3, 1.0], [0.0, 0.0]], atol=1e-5)
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    truths = torch.tensor([[0.8, 0.0], [0.2, 0.4], [0.4, 0.1]])
    rules = np.array([[0.5 * 0.8 + 0.05 + 0.1, 0.1 + 0.025], [0.2, 0.4]])
    np.testing.assert_allclose(program_value(weights, truths, "noisy"), 1 - (1 - rules).prod(axis=0), atol=1e-5)
    logits = torch.tensor([[1.0, 2.0, 0.0]])
    np.testing.assert_allclose(Rules(logits).weights.detach(), logits.softmax(dim=1))
    np.testing.assert_allclose(Rules(logits)(truths).detach(), (logits.softmax(dim=1) @ truths)[0], atol=1e-5)


def test_strong_clauses_are_kept_or_else_the_strongest_unless_the_rule_is_none():
    names = ["a", "b", "c"]

    def strongest(weights, threshold):
        return WeightedClauses(tuple(names), np.array(weights)).strongest(threshold)

    assert strongest([[0.6, 0.3, 0.0], [0.1, 0.2, 0.4]], 0.3) == ("a", "c")
    assert strongest([[0.6, 0.3, 0.0], [0.1, 0.2, 0.4]], 0.5) == ("a",)
    assert strongest([[0.6, 0.3, 0.0], [0.5, 0.2, 0.1]], 0.5) == ("a",)  # each once
    assert strongest([[0.2, 0.3, 0.25]], 0.5) == ("b",)  # 0.25 is for none
    assert strongest([[0.2, 0.25, 0.2]], 0.5) == ()
    assert strongest([[0.1, 0.1, 0.4], [0.45, 0.1, 0.1]], 0.5) == ("a",)
    assert WeightedClauses((), np.ones((1, 0))).strongest(0.1) == ()


def pool_of(scores, values, lengths):
    clauses = tuple(IlpClause((), (None,) * length) for length in lengths)
    return ClausePool(clauses, torch.tensor(values), torch.tensor(scores), 0, True)


def test_rules_begin_with_the_scores_of_their_rounds_and_the_rest_as_none():
    pool = pool_of([[0.5, 0.1], [0.25, 0.75], [0.0, 0.3]], [[0.0]] * 3, [1, 2, 3])
    assert clause_weights._start(pool, 3).tolist() == [
        [0, 4, 2, 0],
        [0, pytest.approx(0.8), 6, pytest.approx(2.4)],
        [8, 0, 0, 0],
    ]


def test_the_price_is_of_literals_and_more_and_more_of_indecision():
    weights = torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    lengths = torch.tensor([0.0, 2.0, 4.0])
    literals = 0.005 * (0.25 * 2 + 0.25 * 4)
    entropy = -(0.5 * np.log(0.5) + 2 * 0.25 * np.log(0.25))
    assert clause_weights._price(weights, lengths, 0.0).item() == pytest.approx(literals)
    assert clause_weights._price(weights, lengths, 0.5).item() == pytest.approx(literals + 0.02 * 0.5 * entropy)


def test_weights_follow_the_gradient_of_the_cross_entropy():
    values, target = [[0.9, 0.2, 0.7], [0.1, 0.8, 0.3]], torch.tensor([1.0, 0.0, 1.0])
    pool = pool_of([[0.3], [0.2]], values, [1, 2])
    found, loss, steps = learn_weights(pool, target, Descent(1, 4, 0.1, FOREVER))
    logits = torch.nn.Parameter(torch.tensor([[0.0, 2.4, 1.6]]))
    adam = torch.optim.Adam([logits], lr=0.1)
    every = torch.cat([torch.zeros(1, 3), torch.tensor(values)])
    for step in range(4):
        adam.zero_grad()
        weights = logits.softmax(dim=1)
        holds = 1 - (1 - weights @ every).prod(dim=0)
        fit = torch.nn.functional.binary_cross_entropy(holds * (1 - 2e-4) + 1e-4, target)
        literals = 0.005 * (weights[0, 1] + 2 * weights[0, 2])
        (fit + literals - 0.02 * step / 4 * (weights * weights.log()).sum()).backward()
        adam.step()
    np.testing.assert_allclose(found.weights, logits.softmax(dim=1).detach()[:, 1:], atol=1e-4)
    assert steps == 4 and loss == pytest.approx(fit.item(), abs=1e-4) and found.clauses == pool.clauses
    assert learn_weights(pool, target, Descent(1, 4, 0.1, 0.0))[2] == 0
    sure = pool_of([[9.0], [0.0]], values, [1, 2])
    kept, _, few = learn_weights(sure, target, Descent(1, 300, 0.01, FOREVER))
    assert few == 10 and len(kept.clauses) == 1  # all is decided at the first look, and the other forgotten


def beam_of(target, **limits):
    usual = {"beam": 4, "depth": 2, "rounds": 2, "clauses": 5, "ends": FOREVER}
    space = balls(2)
    modes = Modes(Bias(space, Language(objects=1, counts=0, literals=2, others=False, comparisons=False, order=False)))
    ground = GroundAtoms(space, modes.literals)
    codes = random_worlds(space, len(target), np.random.default_rng(3))
    values = ground.values(tensors(one_hot(codes, space))).float()
    return Beam(modes, ground, values, torch.tensor(target), SearchLimits(**{**usual, **limits})), codes, space


def test_examples_weigh_one_together_on_either_side():
    beam, _, _ = beam_of([1.0, 0.0, 1.0, 0.0, 0.0])
    found = beam._weights(torch.tensor([0.6, 0.0, 0.2, 0.0, 0.0]))
    np.testing.assert_allclose(found, [0.75, -1 / 3, 0.25, -1 / 3, -1 / 3], atol=1e-6)


def test_scores_are_what_clauses_hold_on_either_side_less_their_length():
    target = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    beam, codes, space = beam_of(target)
    pool = beam.run()
    assert pool.complete and pool.tried == beam.tried > 0 and pool.scores.shape[1] <= 2
    against = np.array([-1 / 4 if one == 0 else 1 / 4 for one in target])
    for clause, values, scores in zip(pool.clauses, pool.values, pool.scores, strict=True):
        holds = np.asarray(evaluate(clause.formula(), space, codes), dtype=float)
        np.testing.assert_allclose(values, holds, atol=1e-4)
        assert scores[0].item() == pytest.approx(float(holds @ against) - 0.01 * len(clause.body), abs=1e-4)
    first = pool.scores[:2, 0].tolist()
    assert first == sorted(first, reverse=True) and len(pool.clauses) <= 4
    late, _, _ = beam_of(target, ends=0.0)
    assert not late.run().complete


def test_a_label_is_answered_softly():
    space = bits(["a"])
    knowledge = Knowledge.of(space, {"y": "a", "n": "2 if a else 3"})
    model = AlphaIlp(knowledge, None, Settings({}))
    truth, number = knowledge.labels
    model._rule = lambda label: None
    model.weighed = {"y": {truth.values.index(True): "t"}, "n": {0: "p", 1: "q"}}
    model.learned = {"n": type("Learned", (), {"otherwise": 1})()}
    chances = {"t": np.array([0.25, 1.0]), "p": np.array([0.5, 0.0]), "q": np.array([0.25, 0.0])}
    model._value = lambda weighted, concepts: chances[weighted]
    concepts = [np.zeros((2, 2))]
    np.testing.assert_allclose(model._softly(truth, concepts), [[0.75, 0.25], [0.0, 1.0]])
    wanted = np.array([[0.5, 0.25 + MARGIN], [0, MARGIN]])
    np.testing.assert_allclose(model._softly(number, concepts), wanted / wanted.sum(axis=1, keepdims=True))


def test_values_are_computed_a_few_rows_at_a_time(monkeypatch):
    space = balls(2)
    model = AlphaIlp(Knowledge.of(space, {"y": "any(b.colour == 'red' for b in balls)"}), None, Settings({}))
    literal = next(one for one in model.bias.literals if one.name == "colour_red")
    weighted = WeightedClauses((IlpClause(("balls",), (PlacedLiteral(literal, (0,)),)),), np.array([[0.5]]))
    rng = np.random.default_rng(0)
    concepts = [rng.dirichlet(np.ones(len(c.values)), 7) for c in space.concepts]
    red = [concepts[space.place(f"ball{n}.colour")][:, 0] for n in (1, 2)]
    wanted = 0.5 * (1 - (1 - red[0]) * (1 - red[1]))
    for rows in (2048, 7, 3, 1):
        monkeypatch.setattr("assay.models.alpha_ilp.learner.MOST_ROWS", rows)
        np.testing.assert_allclose(model._value(weighted, concepts), wanted, atol=1e-5)
    assert model._value(weighted, [concept[:0] for concept in concepts]).shape == (0,)


def test_a_value_that_is_always_or_never_there_needs_no_search():
    model = AlphaIlp(Knowledge.of(bits(["a"]), {"y": "a"}), None, Settings({}))
    always, notes = model._learn_value(None, None, torch.ones(3, dtype=torch.bool), FOREVER)
    assert always.clauses == (IlpClause((), ()),) and always.weights.tolist() == [[1.0]] and notes == {"loss": 0.0}
    for target in (torch.zeros(3, dtype=torch.bool), torch.zeros(0, dtype=torch.bool)):
        never, _ = model._learn_value(None, None, target, FOREVER)
        assert never.clauses == () and never.weights.shape == (1, 0)
