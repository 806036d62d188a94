"""Formulas at the edges: sums that overflow a byte, pieces of rows, limits that are just reached, worlds out of bounds."""

import math
import pickle

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import KnowledgeError, TooLarge
from assay.logic import (
    TRUE,
    Constraint,
    Decoder,
    Diagram,
    Evaluator,
    Knowledge,
    Limits,
    chance_of,
    circuit,
    compile_diagram,
    decode,
    distance,
    evaluate,
    letters,
    parse,
    profiles,
    sensitivity,
    true_outcomes,
    uniform,
    variants,
)
from assay.logic import formula as f
from assay.logic.circuit import log_probabilities, merge_nodes
from assay.logic.decode import Decoded, _walk
from assay.logic.distance import distances
from assay.logic.limits import best_completions
from assay.logic.plan import Plan, PreparedPart
from assay.logic.profiles import profiles_of
from assay.logic.sensitivity import Dependencies, flips
from assay.logic.tally import compile_tallied, truth_diagram
from assay.logic.variants import Region, boundary_of

MANY = [f"x{n}" for n in range(300)]


def var(*names):
    return tuple(f.Var(name) for name in names)


# -- changes of many parts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ones", [0, 1, 127, 128, 255, 256, 257, 299, 300])
def test_changes_of_rules_over_more_parts_than_a_byte_counts(ones):
    space, parts = bits(MANY), var(*MANY)
    codes = np.array([[1] * ones + [0] * (300 - ones)])
    up, down = (f"x{min(ones, 299)}", 1), (f"x{max(ones - 1, 0)}", 0)
    for rule, truth in (
        (f.And(parts), lambda n: n == 300), (f.Or(parts), lambda n: n > 0), (f.Xor(parts), lambda n: n % 2 == 1),
        (f.Count(parts), lambda n: n), (f.Sum(parts), lambda n: n),
    ):  # fmt: skip
        changes = Dependencies(rule, space).at(codes)
        assert changes.now.tolist() == [truth(ones)]
        assert changes.after(*up).tolist() == [truth(min(ones + 1, 300))]
        assert changes.after(*down).tolist() == [truth(max(ones - 1, 0))]
        assert changes.after(*up).tolist() == [truth(min(ones + 1, 300))]  # the last change is not kept


def test_equal_pairs_beyond_a_byte_are_still_equal():
    sizes = {0: 22, 1: 7, 2: 3, 3: 2}  # 231 + 21 + 3 + 1 = 256 pairs
    row = [value for value, often in sizes.items() for _ in range(often)]
    names = [f"x{n}" for n in range(len(row))]
    space = digits(names, range(40))
    changes = Dependencies(f.AllDifferent(var(*names)), space).at(np.array([row, list(range(34))]))
    assert changes.now.tolist() == [False, True]
    assert changes.after("x0", 39).tolist() == [False, True] and changes.after("x0", 5).tolist() == [False, False]
    assert changes.after("x33", 0).tolist() == [False, False]


def test_sums_of_large_numbers_change_exactly():
    space = ConceptSpace((Concept("a", (0, 40_000)), Concept("b", (1, 3_000_000_000)), Concept("c", (-5, 7))))
    changes = Dependencies(parse("a + b + 2 * c + a"), space).at(space.all_codes())
    a, b, c = (np.array([concept.values[code] for code in column]) for concept, column in zip(space.concepts, space.all_codes().T, strict=True))  # fmt: skip
    assert changes.now.tolist() == (2 * a + b + 2 * c).tolist()
    assert changes.after("a", 40_000).tolist() == (80_000 + b + 2 * c).tolist()
    assert changes.after("b", 3_000_000_000).tolist() == (2 * a + 3_000_000_000 + 2 * c).tolist()
    assert changes.after("c", -5).tolist() == (2 * a + b - 10).tolist()


def test_a_concept_that_the_rule_does_not_use_changes_nothing():
    space = bits(["a", "b"])
    changes = Dependencies(parse("a"), space).at(space.all_codes())
    assert changes.after("b", 1).tolist() == changes.now.tolist() == [False, False, True, True]
    always = Dependencies(parse("True"), space).at(space.all_codes())
    assert always.now.tolist() == [True] * 4 and not flips(parse("True"), space, space.all_codes()).any()
    assert Dependencies(parse("a and (a or b)"), space).names == {"a", "b"}


def test_flips_in_pieces_are_those_of_the_whole(monkeypatch):
    space = digits(["a", "b"], range(3))
    codes = space.all_codes()
    whole = flips(parse("a + b == 3"), space, codes, parse("a != b"))
    assert len(codes) == 9 and whole.any() and not whole.all()
    for size in (1, 2, 4, 9, 10):
        monkeypatch.setattr(sensitivity, "CHUNK", size)
        assert np.array_equal(flips(parse("a + b == 3"), space, codes, parse("a != b")), whole)


def test_flips_that_leave_the_limits_do_not_count_whatever_concept_they_are_of():
    space = bits(["a", "b", "c"])
    codes = space.all_codes()
    found = flips(parse("a"), space, codes, parse("b"))  # b is not the concept that changes
    assert found.tolist() == [[bool(b), False, False] for a, b, c in codes.tolist()]
    both = flips(parse("a or c"), space, codes, parse("not (a and c)"))
    assert both.tolist() == [[not c and True, False, not a and True] if a + c < 2 else [False, False, False]
                             for a, b, c in codes.tolist()]  # fmt: skip


def test_steps_are_from_the_code_that_a_world_has_to_another():
    space = ConceptSpace((Concept("n", (0, 1, 2)), Concept("b", (False, True))))
    step = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)  # up only
    codes = space.all_codes()
    found = flips(parse("n == 1 or b"), space, codes, TRUE, [step, None])
    expected = [[n in (0, 1) and not b, n != 1] for n, b in codes.tolist()]
    assert found.tolist() == expected


# -- evaluation --------------------------------------------------------------------------------------------------------


def test_formulas_are_evaluated_alike_after_a_trip_to_another_process():
    space = ConceptSpace((Concept("hue", ("red", "blue", ABSENT)), Concept("n", (3, -1, 8))))
    made = Evaluator(space, parse("n in (8, -1) and hue != 'red'"))
    codes = space.all_codes()
    before = made(codes)
    sent = pickle.loads(pickle.dumps(made))
    assert sent.plans == {} and sent(codes).tolist() == before.tolist()
    assert before.tolist() == [n != 3 and hue != "red" for hue in ("red", "blue", ABSENT) for n in (3, -1, 8)]


@pytest.mark.parametrize("size", [126, 127, 128, 129, 255, 256, 257])
def test_values_near_the_width_of_a_byte(size):
    space = ConceptSpace((Concept("n", tuple(range(size))), Concept("m", tuple(range(size, 0, -1)))))
    codes = np.array([[size - 1, 0], [0, size - 1], [size // 2, size // 2]])
    n, m = codes[:, 0], size - codes[:, 1]
    assert evaluate(parse("n + m"), space, codes).tolist() == (n + m).tolist()
    assert evaluate(parse(f"n == {size - 1}"), space, codes).tolist() == [True, False, False]
    assert evaluate(parse(f"count(n >= {size // 2}, m > 1)"), space, codes).tolist() == [2, 0, 2]


def test_pairs_of_large_numbers_are_looked_up():
    large = 2**63
    space = ConceptSpace((Concept("a", (1, large)), Concept("b", (large + 1, 2))))
    rule = f.Member(var("a", "b"), ((1, 2), (large, large + 1)))
    assert evaluate(rule, space, space.all_codes()).tolist() == [False, True, True, False]
    assert evaluate(parse("a * a + b"), space, space.all_codes()).tolist() == [
        1 + large + 1, 3, large**2 + large + 1, large**2 + 2]  # fmt: skip


def test_a_plan_keeps_what_is_asked_for_and_frees_the_rest():
    names = {name: f.Var(name) for name in "abc"}
    both, whole = f.And((names["a"], names["b"])), f.Or((f.And((names["a"], names["b"])), names["c"]))
    calls = []

    def prepare(formula):
        if isinstance(formula, f.Var):
            return PreparedPart((), lambda inside, codes: calls.append(formula.name) or {formula.name})
        return PreparedPart(formula.parts, lambda inside, codes: set.union(*inside), fold=True)

    plan = Plan([whole, both], prepare)
    assert plan.run(np.zeros((1, 1))) == [{"a", "b", "c"}, {"a", "b"}] and calls == ["a", "b", "c"]
    freed = [number for step in plan.steps for number in step.done]
    assert sorted(freed) == sorted(set(range(len(plan.steps))) - set(plan.results))
    assert [len(step.inside) for step in plan.steps] == [0, 0, 2, 0, 2]


# -- diagrams ----------------------------------------------------------------------------------------------------------


def test_outcomes_are_numbered_in_order_words_after_numbers():
    space = bits(["a"])
    outcomes = [("b", 2), (3, 1), ("a", 1), (-1, 5), (3, 0)]
    layer = np.array([[0, 1, 2, 3, 4]])
    made = merge_nodes(space, (0,), [layer], outcomes)
    assert made.outcomes == ((-1, 5), (3, 0), (3, 1), ("a", 1), ("b", 2)) and made.layers[0].tolist() == [
        [4, 2, 3, 0, 1]
    ]


def test_nodes_that_lead_alike_are_one():
    space = bits(["a", "b"])
    made = merge_nodes(space, (0, 1), [np.array([[0, 1]]), np.array([[0, 1], [2, 1]])], [(False,), (True,), (False,)])
    assert [layer.tolist() for layer in made.layers] == [[[0, 0]], [[0, 1]]] and made.size == 4 and made.width == 1
    assert made.next_widths == (1, 2) and made.counts == {(False,): 2, (True,): 2}


def test_a_diagram_of_three_concepts_by_hand():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (False, True)), Concept("c", (0, 5))))
    made = compile_diagram([parse("a + c"), parse("b")], space, ["c", "a", "b"])
    assert made.order == (2, 0, 1) and made.layers[0].shape == (1, 2)
    assert made.counts == {(n, b): 1 for n in (0, 1, 2, 5, 6, 7) for b in (False, True)}
    assert all(type(outcome[0]) is int and type(outcome[1]) is bool for outcome in made.outcomes)
    chances = [np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]), np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[0.7, 0.3], [0.0, 1.0]])]  # fmt: skip
    found = dict(zip(made.outcomes, made.probabilities(chances).T, strict=True))
    assert found[6, True] == pytest.approx([0.3 * 0.1 * 0.3, 0.0]) and found[5, False] == pytest.approx(
        [0.2 * 0.9 * 0.3, 0.4]
    )
    wanted = np.array([outcome[0] > 5 and outcome[1] for outcome in made.outcomes])
    codes, logs = made.most_probable(chances, wanted)
    assert codes[0].tolist() == [2, 1, 1] and logs[0] == pytest.approx(math.log(0.5 * 0.1 * 0.3))
    assert logs[1] == -np.inf and codes[1, 1:].tolist() == [1, 1]
    ranking = made.among(wanted)
    assert ranking.total == 2 and ranking.worlds(np.array([0, 1])).tolist() == [[1, 1, 1], [2, 1, 1]]
    assert ranking.ranks(np.array([[2, 1, 1], [0, 1, 1], [1, 1, 1], [2, 0, 1]])).tolist() == [1, -1, 0, -1]
    assert ranking.worlds(np.array([], dtype=int)).shape == (0, 3)


def test_no_examples_have_no_probabilities_and_no_worlds():
    made = compile_diagram([parse("a + b")], digits(["a", "b"], range(3)))
    none = [np.zeros((0, 3))] * 2
    assert made.probabilities(none).shape == (0, 5) and made.outcome_of(np.zeros((0, 2), dtype=int)).shape == (0,)
    codes, logs = made.most_probable(none, np.ones(5, dtype=bool))
    assert codes.shape == (0, 2) and logs.shape == (0,)


def test_logarithms_of_nothing_are_finite():
    found = log_probabilities(np.array([0.0, 1.0, 0.5]))
    assert found.tolist() == pytest.approx([-1e9, 0.0, math.log(0.5)])


def test_a_number_is_written_as_one_and_absence_stays():
    space = ConceptSpace((Concept("o.n", (0, 1, ABSENT)),), (Slot("o", "things", ("n",)),))
    made = compile_diagram([parse("count(x.n == 1 for x in things)")], space)
    assert made.counts == {(0,): 2, (1,): 1} and all(type(outcome[0]) is int for outcome in made.outcomes)
    assert set(compile_diagram([f.Var("o.n")], space).outcomes) == {(0,), (1,), (ABSENT,)}


def test_the_order_of_use_comes_first_and_idle_concepts_last():
    space = bits(["a", "b", "c", "d"])
    assert compile_diagram([parse("c and a"), parse("d")], space).order == (2, 0, 3, 1)
    assert (circuit.BUDGET, circuit.WIDE, circuit.UNDOUBTED, circuit.SAMPLED, circuit.ROUNDS) == (
        300_000,
        200,
        2_000,
        2_000,
        4,
    )


def test_the_least_number_of_classes_by_hand():
    assert circuit.least_classes([1, 1, 1, 2, 2, 2, 2, 5]) == pytest.approx(8 + 9 / (2 * (4 + 4 + 3)))
    assert circuit.least_classes([1]) == pytest.approx(1 + 1 / 6) and circuit.least_classes([]) == 0


def test_letters_are_numbered_as_they_come():
    codes, of_code = letters(np.array([[3, 1, 3, 1, 0], [0, 2, 0, 1, 0]]))
    assert codes.tolist() == [0, 1, 3, 4] and of_code.tolist() == [0, 1, 0, 2, 3]


def test_chances_of_a_rule_in_uniform_worlds():
    space = digits(["a", "b"], range(4))
    for made in (truth_diagram(parse("a + b >= 5"), space), compile_tallied(parse("a + b >= 5"), space)):
        assert chance_of(made, uniform(space)).tolist() == pytest.approx([3 / 16])
        assert [bool(outcome[0]) for outcome in made.outcomes] == true_outcomes(made).tolist()
    assert [one.tolist() for one in uniform(space)] == [[[0.25] * 4]] * 2
    skewed = [np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[0.4, 0.3, 0.2, 0.1]])]
    assert chance_of(truth_diagram(parse("a + b >= 5"), space), skewed).tolist() == pytest.approx(
        [0.3 * 0.1 + 0.4 * 0.3]
    )


# -- distances and decoding --------------------------------------------------------------------------------------------


def test_distances_in_pieces_are_those_of_the_whole(monkeypatch):
    space = digits(["a", "b", "c"], range(3))
    codes, rule, within = space.all_codes(), parse("a + b + c == 6"), parse("a >= b")
    whole = distances(rule, space, codes, within)
    for cells in (1, 30, 100):
        monkeypatch.setattr(distance, "CELLS", cells)
        assert distances(rule, space, codes, within).least.tolist() == whole.least.tolist()
    truth = evaluate(rule, space, codes)
    inside = evaluate(within, space, codes)
    others = [codes[inside & (truth != now)] for now in (False, True)]
    assert whole.least.tolist() == [int((others[int(now)] != row).sum(axis=1).min()) for row, now in zip(codes, truth, strict=True)]  # fmt: skip


def test_distances_of_a_number_are_to_any_other_number():
    space = digits(["a", "b"], range(3))
    found = distances(parse("max(a, b)"), space, np.array([[0, 0], [2, 2], [2, 1]]))
    assert found.least.tolist() == [1, 2, 1] and found.exact.tolist() == [True] * 3


def test_bounds_keep_within_too(monkeypatch):
    monkeypatch.setattr(distance, "NODES", 0)
    space = bits(["a", "b"])
    found = distances(parse("a"), space, np.array([[0, 0], [0, 1], [1, 1]]), parse("not a or b"))
    assert found.exact.tolist() == [False, True, True] and found.least.tolist() == [2, 1, 1]


def test_worlds_are_decoded_in_batches_that_fit(monkeypatch):
    knowledge = Knowledge.of(digits(["a", "b"], range(3)), {"y": "a"}, [Constraint("sum", parse("a + b == 3"))])
    rng = np.random.default_rng(0)
    chances = [rng.dirichlet(np.ones(3), size=11) for _ in range(2)]
    whole = Decoder(knowledge)(chances)
    monkeypatch.setattr(decode, "CELLS", 200)
    pieces = Decoder(knowledge)(chances)
    assert pieces.codes.tolist() == whole.codes.tolist() and pieces.logs == pytest.approx(whole.logs)
    worlds = [(1, 2), (2, 1)]
    best = [max(worlds, key=lambda w, row=row: chances[0][row, w[0]] * chances[1][row, w[1]]) for row in range(11)]
    assert whole.codes.tolist() == [list(one) for one in best] and whole.proven.all() and whole.solved.all()
    assert (decode.BEAM, decode.STATES) == (256, 50_000)


def test_a_world_is_found_only_if_all_of_it_is():
    none = Decoded(np.array([[0, 1], [-1, -1], [2, -1]]), np.zeros(3), np.ones(3), np.zeros(3))
    assert none.solved.tolist() == [True, False, False]


def test_a_walk_beats_what_is_known_or_finds_nothing():
    space = bits(["a", "b", "c"])
    diagram = compile_diagram([parse("count(a, b, c) >= 2")], space, space.names)
    costs = [np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.array([0.0, 4.0])]
    ways = [best_completions(diagram, costs)]
    found = _walk([diagram], ways, costs, 10, np.inf)
    assert found.codes.tolist() == [1, 1, 0] and found.cost == 3.0 and found.exact
    assert _walk([diagram], ways, costs, 10, 3.5).cost == 3.0
    nothing = _walk([diagram], ways, costs, 10, 3.0)
    assert nothing.codes.tolist() == [-1, -1, -1] and nothing.cost == np.inf and nothing.exact
    other = compile_diagram([parse("c or a == b")], space, space.names)
    both = _walk([diagram, other], [*ways, best_completions(other, costs)], costs, 10, np.inf)
    assert both.codes.tolist() == [1, 1, 0] and both.cost == 3.0
    third = compile_diagram([parse("not (a and b)")], space, space.names)
    last = _walk([diagram, third], [*ways, best_completions(third, costs)], costs, 10, np.inf)
    assert last.codes.tolist() == [1, 0, 1] and last.cost == 5.0


def test_groups_of_constraints_within_a_budget():
    rules = {"one": "a + b == 3", "two": "c + d == 3", "three": "a + b + c + d > 4"}
    knowledge = Knowledge.of(
        digits([*"abcd"], range(4)), {"y": "a"}, [Constraint(n, parse(t)) for n, t in rules.items()]
    )
    limits = Limits(knowledge)
    assert limits.groups == (("one", "two", "three"),) and limits.exact and limits.left_out == ()
    sizes = {name: limits.diagram([name]).size for name in rules}
    assert limits.small_first(["three", "two", "one"]) == sorted(rules, key=lambda name: (sizes[name], name))
    tight = Limits(knowledge, max(sizes["one"], sizes["two"]))
    assert tight.left_out == ("three",) and not tight.exact
    assert Limits(knowledge, max(sizes.values())).left_out == ()
    assert limits.only(["two", "q"]).names == ("two",) and limits.names == ("one", "two", "three")


# -- profiles and variants ---------------------------------------------------------------------------------------------


def test_worlds_are_listed_up_to_their_number(monkeypatch):
    space = digits(["a", "b", "c"], range(4))
    monkeypatch.setattr(profiles, "MOST_WORLDS", 16)
    assert len(profiles_of(parse("a == b"), space, TRUE).rows) > 1
    monkeypatch.setattr(profiles, "MOST_WORLDS", 15)
    with pytest.raises(TooLarge, match="too many worlds"):
        profiles_of(parse("a == b"), space, TRUE)
    assert profiles.MOST_PROFILES == 4096


def test_profiles_within_some_worlds():
    space = bits(["a", "b", "c"])
    found = profiles_of(parse("a and b"), space, parse("not (a and not c)"))
    rows = {tuple(row): bool(holds) for row, holds in zip(found.rows.tolist(), found.holds, strict=True)}
    assert sum(rows.values()) == 1 and len(rows) == 4
    within_none = profiles_of(parse("a and b"), space, parse("not a"))
    assert not within_none.holds.any() and len(within_none.rows) == 2
    assert all(len(move.before) == 0 for move in within_none.moves)
    moves = {move.name: len(move.before) for move in found.moves}
    assert moves == {"a": 1, "b": 1}


def test_listed_types_are_all_that_is_near_and_false():
    space = bits(["a", "b", "c"])
    codes = space.all_codes()
    types = (Region("no a", parse("not a and b")), Region("any c", parse("c")))
    found = boundary_of(parse("a and b"), space, TRUE, types)
    assert found.listed and found.explicit and [region.name for region in found.variants] == ["a and b"]
    near = [not (a and b) and bool((not a and b) or c) for a, b, c in codes.tolist()]
    assert found.near(codes).tolist() == near
    assert found.in_types(codes).tolist() == [[not a and b == 1 and one, c == 1 and one]
                                              for (a, b, c), one in zip(codes.tolist(), near, strict=True)]  # fmt: skip
    assert found.tags(codes) == ["far", "any c", "no a", "no a; any c", "far", "any c", "a and b", "a and b"]
    with pytest.raises(KnowledgeError, match="types cannot be listed for"):
        boundary_of(parse("count(a, b)"), space, TRUE, types)


def test_truth_values_and_numbers_of_one_name_have_boundaries_of_their_own():
    truths, numbers = bits(["a", "b"]), digits(["a", "b"], range(2))
    first, second = boundary_of(parse("a == b"), truths), boundary_of(parse("a == b"), numbers)
    assert first.space.concepts[0].kind == "bool" and second.space.concepts[0].kind == "int"
    assert [region.name for region in first.variants] != [] and first.truth and second.truth
    assert boundary_of(parse("a + b"), numbers).steps is None and not boundary_of(parse("a + b"), numbers).truth


def test_a_rule_that_always_holds_has_one_variant_and_none_nearby():
    space = bits(["a", "b"])
    found = boundary_of(parse("a or not a or b"), space)
    assert [region.name for region in found.variants] == ["always"] and found.types == ()
    assert found.in_types(space.all_codes()).shape == (4, 0) and set(found.tags(space.all_codes())) == {"always"}
    assert not found.near(space.all_codes()).any()


@pytest.mark.parametrize(
    ("text", "holds"), [("True", True), ("False", False), ("count() == 0", True), ("1 > 2", False)]
)
@pytest.mark.parametrize("within", ["True", "a or b", "a and not a"])
def test_a_rule_that_names_no_concept_always_or_never_holds(text, holds, within):
    space = bits(["a", "b"])
    codes, found = space.all_codes(), boundary_of(parse(text), space, parse(within))
    assert found.explicit and [region.name for region in found.variants] == ["always"] * holds and found.types == ()
    assert found.tags(codes) == ["always" if holds else "far"] * 4 and not found.near(codes).any()
    known = profiles_of(parse(text), space, parse(within))
    assert known.rows.shape == (1, 0) and known.holds.tolist() == [holds] and known.moves == known.features == ()


def test_a_rule_may_hold_in_so_many_ways_and_tell_so_many_things_apart(monkeypatch):
    space = bits([*"abcdef"])
    rule = parse("a and b or c and d or e and f")
    monkeypatch.setattr(variants, "MOST_VARIANTS", 3)
    variants._boundary_of.cache_clear()
    assert len(boundary_of(rule, space).variants) == 3
    monkeypatch.setattr(variants, "MOST_VARIANTS", 2)
    variants._boundary_of.cache_clear()
    assert not boundary_of(rule, space).explicit
    monkeypatch.setattr(variants, "MOST_VARIANTS", 100)
    for features, explicit in ((6, True), (5, False)):
        monkeypatch.setattr(variants, "MOST_FEATURES", features)
        variants._boundary_of.cache_clear()
        assert boundary_of(rule, space).explicit == explicit
    variants._boundary_of.cache_clear()


def test_diagrams_can_be_made_by_hand():
    space = bits(["a", "b"])
    made = Diagram(space, (1, 0), (np.array([[0, 1]]), np.array([[0, 0], [0, 1]])), ((False,), (True,)))
    assert made.outcome_of(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])).tolist() == [0, 0, 0, 1]
    assert made.size == 5 and made.width == 2 and made.counts == {(False,): 3, (True,): 1}
