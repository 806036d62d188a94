"""The language and the leaves of the synthesiser, their costs by hand; the bank and the nearest program."""

from itertools import combinations, pairwise
from math import factorial, log2

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.logic import Knowledge, evaluate, parse
from assay.logic import formula as f
from assay.models.symbolic.bits import unpack_bits
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.perception import one_hot
from assay.models.symbolic.synthesis import leaves, search
from assay.models.symbolic.synthesis.bank import AND, LEAF, NOT, OR, XOR, Bank, ProgramBatch, join, keys_of, negate
from assay.models.symbolic.synthesis.language import Costs, Family, NumberTerms, ProgramLanguage, symbol_pairs
from assay.models.symbolic.synthesis.learner import _sum
from assay.models.symbolic.synthesis.leaves import LeafBlock, leaves_of, names, units
from assay.models.symbolic.synthesis.search import ProgramSearch, SearchBudget

COSTS = Costs()


def written(block):
    return [str(block.make(row)) for row in range(len(block.costs))]


def language(*concepts, slots=()):
    return ProgramLanguage.of(ConceptSpace(concepts, slots))


def families(found):
    return {family.name: (family.cost, [str(one) for one in family.objects], family.grouped) for family in found}


# -- the language ------------------------------------------------------------------------------------------------------


def test_numbers_cost_half_a_bit_a_step():
    assert [COSTS.of_number(n) for n in (0, 1, 3, -2)] == [2.25, 2.75, 3.75, 3.25]


def test_truth_values_and_symbols_are_asked_for():
    found = language(Concept("on", (False, True)), Concept("hat", ("red", "blue")), Concept("coat", ("red", "grey")))
    assert found.terms == () and found.costs == COSTS and found.objects == 2
    assert families(found.families) == {
        "exists": (1.0, ["on"], True),
        "is red": (1.0 + log2(4 / 2), ["hat == 'red'", "coat == 'red'"], True),
        "is blue": (1.0 + log2(4), ["hat == 'blue'"], True),
        "is grey": (1.0 + log2(4), ["coat == 'grey'"], True),
        "one of hat": (1.0, ["hat == 'red'", "hat == 'blue'"], True),
        "one of coat": (1.0, ["coat == 'red'", "coat == 'grey'"], True),
    }


def test_numbers_are_compared_with_bounds_and_with_one_another():
    found = language(Concept("a", (3, 4, 6)), Concept("b", tuple(range(13))), Concept("c", (4, ABSENT)))
    told = families(found.families)
    assert told["least a"] == (1.5 + 1.75, ["a >= 4", "a >= 6"], False) and len(told["least b"][1]) == 12
    assert told["is 4"] == (1.0 + log2(5 / 2), ["a == 4", "c == 4"], True) and "is 12" not in told
    assert "least c" not in told
    assert [[str(one) for one in terms.formulas] for terms in found.terms] == [["a", "b"]]
    assert language(Concept("b", tuple(range(12))), Concept("x", (False, True))).terms == ()
    assert "is 11" in families(language(Concept("b", (5, *range(7, 18)))).families)


def test_counts_have_predicates_of_their_own():
    cats, dogs = (Concept(name, (0, 1, 2, 3, 4), counts=True) for name in ("cats", "dogs"))
    found = language(cats, dogs)
    assert families(found.families) == {
        "exists": (1.0, ["cats >= 1", "dogs >= 1"], True),
        "gt 1": (1.5 + 2.75, ["cats >= 2", "dogs >= 2"], True),
        "gt 2": (1.5 + 3.25, ["cats >= 3", "dogs >= 3"], True),
        "eq 1": (2.5 + 2.75, ["cats == 1", "dogs == 1"], True),
        "eq 2": (2.5 + 3.25, ["cats == 2", "dogs == 2"], True),
        "eq 3": (2.5 + 3.75, ["cats == 3", "dogs == 3"], True),
    }
    assert [([str(one) for one in terms.formulas], terms.costs) for terms in found.terms] == [
        (["cats", "dogs"], (0.0, 0.0))
    ]
    assert language(cats, Concept("on", (False, True))).terms == ()


@pytest.mark.parametrize("optional", [False, True])
def test_slots_are_counted_by_their_properties(optional):
    colours = ("red", "blue", *([ABSENT] if optional else []))
    concepts = [Concept(f"{car}.{name}", values) for car in ("u", "v") for name, values in
                (("colour", colours), ("size", ("big", *colours[2:])))]  # fmt: skip
    slots = tuple(Slot(car, "cars", ("colour", "size")) for car in ("u", "v"))
    found = language(*concepts, slots=slots)
    told = families(found.families)
    red, blue, big = (f"x.colour == '{value}'" if value != "big" else "x.size == 'big'" for value in
                      ("red", "blue", "big"))  # fmt: skip
    assert told["exists"][1] == [f"count({body} for x in cars) >= 1" for body in (red, blue, big)]
    assert told["all of cars"] == (1.0 + 3.0, [f"all({body} for x in cars)" for body in (red, blue, big)], True)
    both = [f"any({one} and {big} for x in cars)" for one in (red, blue)]
    assert told["with property of cars"] == (1.0 + 1.0, both, False)
    assert ("cars exists" in told) is optional and found.objects == 3
    if optional:
        cost, tests, grouped = told["cars gt 1"]
        assert (cost, grouped) == (1.5 + 2.75 + 3.0, False) and len(tests) == 1 and tests[0].endswith(">= 2")
    assert [len(terms.formulas) for terms in found.terms] == [3] and len(told) == 8 + 6 * optional


def test_a_slot_by_itself_is_like_loose_concepts():
    lonely = (Slot("u", "cars", ("colour",)),)
    found = language(Concept("u.colour", ("red", "blue")), slots=lonely)
    assert set(families(found.families)) == {"is red", "is blue", "one of u.colour"}


def test_symbols_of_the_same_values_are_compared_once():
    space = ConceptSpace(
        (Concept("b", ("x", "y")), Concept("a", ("x", "y")), Concept("c", ("x", "z")), Concept("n", (1, 2)))
    )
    assert [str(one) for one in symbol_pairs(space)] == ["a == b"]
    codes = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]])
    block = leaves_of(ProgramLanguage.of(space), space, codes, 1)[-1]
    assert written(block) == ["a == b"] and unpack_bits(block.words, 3).tolist() == [[True, False, True]]
    assert block.costs.tolist() == [units(2.5 + 1.75 + log2(2))]


# -- leaves ------------------------------------------------------------------------------------------------------------


def test_costs_are_whole_eighths_of_a_bit():
    assert [units(bits) for bits in (0.0, 0.01, 0.2, 1.0, 2.3)] == [1, 1, 2, 8, 18] and leaves.UNITS == 8
    holds = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool)
    block = LeafBlock.of(holds, np.array([2.0, 0.01, 1.0, 1.0]), lambda row: f.Var("abcd"[row]))
    assert block.costs.tolist() == [1, 8, 8, 16] and written(block) == ["b", "c", "d", "a"]
    assert unpack_bits(block.words, 3).tolist() == holds[[1, 2, 3, 0]].tolist()
    assert [block.of_cost(cost) for cost in (1, 8, 9, 16)] == [slice(0, 1), slice(1, 3), slice(3, 3), slice(3, 4)]


def test_naming_what_is_seen_more_often_costs_less():
    truth = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    share = np.array([4.4, 1.4, 0.4])
    np.testing.assert_allclose(names(truth, COSTS), -np.log2(share / 6.2))


def objects(number):
    return Family("is", 1.5, tuple(f.Var(f"o{place}") for place in range(number)))


def test_a_predicate_is_asked_of_up_to_so_many_objects():
    rng = np.random.default_rng(0)
    truth = rng.random((4, 30)) < 0.5
    blocks = list(leaves._of_family(objects(4), COSTS, truth, 3))
    naming = names(truth, COSTS)
    wanted = {}
    for place in range(4):
        wanted[f"o{place}"] = (1.5 + naming[place], truth[place])
    for size in (2, 3):
        for some in combinations(range(4), size):
            base = 1.5 + naming[list(some)].sum() - log2(factorial(size)) + 1.0 + 1.0 * (size - 1)
            own = [f.Var(f"o{place}") for place in some]
            counts = truth[list(some)].sum(axis=0)
            wanted[str(f.disjunction(*own))] = (base + 1.25, counts >= 1)
            wanted[str(f.conjunction(*own))] = (base + 1.0, counts == size)
            if size == 2:
                wanted[str(f.parity(*own))] = (base + 2.25, counts == 1)
                continue
            for number in (1, 2):
                counted = base + 0.5 * 3 + 2.25 + 0.5 * number
                wanted[str(f.exactly(number, *own))] = (counted + 2.5, counts == number)
            wanted[str(f.at_least(2, *own))] = (base + 0.5 * 3 + 2.25 + 1.0 + 1.5, counts >= 2)
    found = {}
    for block in blocks:
        for text, cost, holds in zip(written(block), block.costs, unpack_bits(block.words, 30), strict=True):
            found[text] = (int(cost), holds.tolist())
    assert found == {text: (max(1, round(bits * 8)), holds.tolist()) for text, (bits, holds) in wanted.items()}


def test_groups_are_no_larger_than_asked_for_nor_than_there_are_objects(monkeypatch):
    truth = np.random.default_rng(1).random((3, 9)) < 0.5
    sizes = {largest: len(list(leaves._of_family(objects(3), COSTS, truth, largest))) for largest in (1, 2, 3, 6)}
    assert sizes == {1: 1, 2: 4, 3: 9, 6: 9}
    alone = Family("is", 1.5, objects(3).objects, grouped=False)
    assert len(list(leaves._of_family(alone, COSTS, truth, 3))) == 1
    one = next(leaves._of_family(objects(1), COSTS, truth[:1], 3))
    assert one.costs.tolist() == [round((1.5 + 1) * 8)]  # the only object has a name of a bit
    monkeypatch.setattr(leaves, "MOST_SUBSETS", 3)
    assert len(list(leaves._of_family(objects(3), COSTS, truth, 3))) == 9
    monkeypatch.setattr(leaves, "MOST_SUBSETS", 2)
    assert len(list(leaves._of_family(objects(3), COSTS, truth, 3))) == 1


def test_sizes_of_which_there_are_too_many_groups_are_left_out_and_smaller_ones_are_not(monkeypatch):
    truth = np.random.default_rng(2).random((6, 9)) < 0.5
    counts = {}
    for most in (14, 15, 19, 20):  # 15 pairs, 20 triples, 15 groups of four
        monkeypatch.setattr(leaves, "MOST_SUBSETS", most)
        counts[most] = [len(block.costs) for block in leaves._of_family(objects(6), COSTS, truth, 3)]
    assert counts == {14: [6], 15: [6] + [15] * 3, 19: [6] + [15] * 3, 20: [6] + [15] * 3 + [20] * 5}


def test_numbers_are_compared_in_both_orders_and_equated_in_one():
    terms = NumberTerms((f.Var("a"), f.Var("b"), f.Var("c")), (0.0, 0.5, 2.0))
    values = np.array([[0, 1, 2, 3], [1, 1, 1, 0], [0, 0, 5, 3]])
    more, equal = leaves._of_terms(terms, COSTS, values)
    naming = dict(zip("abc", names(values != 0, COSTS) + np.array([0, 0.5, 2]), strict=True))
    wanted = {
        f"{x} > {y}": max(1, round((1.5 + 1.75 + naming[x] + naming[y]) * 8)) for x in "abc" for y in "abc" if x != y
    }
    assert dict(zip(written(more), more.costs.tolist(), strict=True)) == wanted
    same = {f"{x} == {y}": round((1.5 + 1.75 + naming[x] + naming[y]) * 8) for x, y in ("ab", "ac", "bc")}
    assert dict(zip(written(equal), equal.costs.tolist(), strict=True)) == same
    rows = dict(zip("abc", values, strict=True))
    for block in (more, equal):
        for text, holds in zip(written(block), unpack_bits(block.words, 4), strict=True):
            one, other = rows[text[0]], rows[text[-1]]
            assert holds.tolist() == (one > other if ">" in text else one == other).tolist()


# -- the bank ----------------------------------------------------------------------------------------------------------


def batch(rows, operation=LEAF, left=None, right=None):
    words = np.array(rows, dtype=np.uint64).reshape(len(rows), -1)
    places = np.arange(len(rows))
    return ProgramBatch(
        words, operation, places if left is None else np.array(left), places if right is None else np.array(right)
    )


@pytest.mark.parametrize("width", [1, 2])
def test_of_programs_that_hold_alike_the_first_is_kept(width):
    block = LeafBlock(None, None, lambda row: f.Var(f"v{row}"))
    bank = Bank([block], width)
    rows = [[7, 1], [3, 2], [7, 1], [9, 4]] if width == 2 else [7, 3, 7, 9]
    assert bank.add_level(4, [batch(rows, left=[0] * 4)]) == slice(0, 3)
    later = [[3, 2], [8, 8]] if width == 2 else [3, 8]
    assert bank.add_level(6, [batch(later, NOT, [1, 2], [1, 2]), batch(later[1:], AND, [0], [1])]) == slice(3, 4)
    last = [[5, 5], [6, 6]] if width == 2 else [5, 6]
    assert bank.add_level(7, [batch(last[:1], OR, [0], [3]), batch(last[1:], XOR, [1], [2])]) == slice(4, 6)
    assert bank.add_level(8, []) == slice(6, 6) and len(bank) == 6
    assert bank.costs.tolist() == [4, 4, 4, 6, 7, 7] and bank.levels[6] == slice(3, 4)
    assert bank.words[:, 0].tolist() == [7, 3, 9, 8, 5, 6]
    written_out = [str(bank.formula(number)) for number in range(6)]
    assert written_out == ["v0", "v1", "v3", "not v3", "v0 or not v3", "xor(v1, v3)"]
    keys = keys_of(bank.words)
    assert bank.find(keys).tolist() == [0, 1, 2, 3, 4, 5] and len(set(keys.tolist())) == 6
    assert bank.find(keys_of(batch([[1, 0]] if width == 2 else [1]).words)).tolist() == [-1]


def test_keys_depend_on_every_word_and_their_order():
    words = np.array([[1, 2], [2, 1], [1, 3], [0, 2]], dtype=np.uint64)
    assert len(set(keys_of(words).tolist())) == 4 and keys_of(words[:, :1]).tolist() == [1, 2, 1, 0]


def test_many_small_levels_are_found_again():
    bank = Bank([], 1)
    order = np.random.default_rng(0).permutation(200)
    for cost, word in enumerate(order.tolist()):
        bank.add_level(cost, [batch([word], left=[0])])
    assert bank.find(np.arange(200, dtype=np.uint64)).tolist() == np.argsort(order).tolist()
    sizes = [len(run) for run, _ in bank._runs]
    assert sum(sizes) == 200 and all(one > 2 * other for one, other in pairwise(sizes))


@pytest.mark.parametrize(
    ("text", "opposite"),
    [("a >= 1", "a < 1"), ("a >= 2", "a < 2"), ("a == 1", "a != 1"), ("a != 1", "a == 1"), ("a < 1", "a >= 1"),
     ("a > 1", "a <= 1"), ("a <= 1", "a > 1"), ("a and b", "not (a and b)"),
     ("count(x.n == 1 for x in g) >= 1", "not count(x.n == 1 for x in g) >= 1")],
)  # fmt: skip
def test_negations_are_comparisons_where_they_can_be(text, opposite):
    assert str(negate(parse(text))) == opposite


def test_joined_programs_have_no_brackets_in_brackets():
    a, both, either = parse("a"), parse("b and c"), parse("b or c")
    assert str(join(AND, a, both)) == "a and b and c" and str(join(OR, a, both)) == "a or b and c"
    assert str(join(AND, a, either)) == "a and (b or c)" and str(join(OR, either, a)) == "b or c or a"
    assert join(XOR, a, both) == f.Xor((a, both)) and (LEAF, NOT, AND, OR, XOR) == (0, 1, 2, 3, 4)


# -- the search --------------------------------------------------------------------------------------------------------


def searched(target, rows, bits, **budget):
    """Return the search for a target, over leaves a, b, ... that hold in these examples and cost so many bits."""
    block = LeafBlock.of(np.array(rows, dtype=bool), np.array(bits, dtype=float), lambda row: f.Var("abcdef"[row]))
    return ProgramSearch([block], np.array(target, dtype=bool), COSTS, SearchBudget(**budget))


def test_the_price_of_operations_is_in_eighths():
    assert searched([1, 0], [[1, 0]], [1]).prices == {NOT: 8, AND: 8, OR: 10, XOR: 18}
    assert (SearchBudget().seconds, SearchBudget().programs, SearchBudget().error_bits) == (300.0, 300_000, None)


@pytest.mark.parametrize(
    ("target", "formula", "bits"),
    [([1, 1, 0, 0], "a", 1), ([0, 0, 1, 1], "not a", 2), ([1, 0, 0, 0], "a and b", 1 + 2 + 1),
     ([1, 1, 1, 0], "a or b", 1 + 2 + 1.25), ([0, 1, 1, 0], "xor(a, b)", 1 + 2 + 2.25),
     ([0, 0, 0, 1], "not (a or b)", 1 + 2 + 1.25 + 1), ([0, 1, 1, 1], "not (a and b)", 1 + 2 + 1 + 1)],
)  # fmt: skip
def test_the_cheapest_program_is_found_with_its_price(target, formula, bits):
    result = searched(target, [[1, 1, 0, 0], [1, 0, 1, 0]], [1, 2]).run()
    assert (str(result.best.formula), result.best.bits, result.best.errors) == (formula, bits, 0)
    assert result.complete and [rival.bits for rival in result.rivals] == sorted(rival.bits for rival in result.rivals)
    assert all(rival.bits >= bits for rival in result.rivals) and len(result.rivals) <= 5
    assert result.programs > 0 and result.seconds >= 0


def test_rivals_are_at_most_five_and_each_explains_the_examples():
    rows = [[1, 0, 0]] * 6
    result = searched([1, 0, 0], rows, [1, 2, 3, 4, 5, 6]).run()
    assert [str(one.formula) for one in (result.best, *result.rivals)] == list("abcdef")
    assert [rival.bits for rival in result.rivals] == [2, 3, 4, 5, 6]


def test_without_room_the_shortest_account_is_taken():
    rows = [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 0], [1, 0, 1, 0, 1, 0, 1, 0]]
    target = [1, 1, 1, 1, 1, 1, 0, 0]
    result = searched(target, rows, [1, 2, 1], programs=0, error_bits=4.0).run()
    assert not result.complete and result.programs == 0 and result.rivals == ()
    assert str(result.best.formula) == "a or b"
    assert (result.best.bits, result.best.errors) == (1 + 2 + 1.25, 1)
    cheap = searched(target, rows, [1, 2, 1], programs=0, error_bits=1.0).run().best
    assert (str(cheap.formula), cheap.bits, cheap.errors) == ("a", 1.0, 2)
    never = searched([1, 0, 0, 0, 0, 0, 0, 0], rows, [9, 9, 9], programs=0, error_bits=2.0).run().best
    assert (never.formula, never.bits, never.errors) == (f.Const(False), 0.0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_program_is_the_best_of_leaves_and_pairs(seed):
    rng = np.random.default_rng(seed)
    rows, target = rng.random((5, 16)) < 0.4, rng.random(16) < 0.5
    bits = rng.integers(1, 5, 5)
    for price in (None, 1.5):
        found = searched(target, rows, bits, programs=0, error_bits=price)._nearest()
        wrong = round((log2(16) + 2 if price is None else price) * 8)
        options = [(8 * bits[a] + wrong * (rows[a] != target).sum(), (rows[a] != target).sum()) for a in range(5)]
        for a, b in combinations(range(5), 2):
            for cost, joined in ((8, rows[a] & rows[b]), (10, rows[a] | rows[b]), (18, rows[a] ^ rows[b])):
                errors = (joined != target).sum()
                options.append((8 * (bits[a] + bits[b]) + cost + wrong * errors, errors))
        best = min(options)[0]
        if target.sum() * wrong <= best:
            assert found.formula == f.Const(False)
            continue
        assert found.bits * 8 + wrong * found.errors == pytest.approx(best)
        space = ConceptSpace(tuple(Concept(name, (False, True)) for name in "abcde"))
        assert (evaluate(found.formula, space, rows.T.astype(int)) != target).sum() == found.errors


def test_programs_of_the_pool_are_those_of_the_bank_then_of_each_block():
    made = searched([1, 0, 1], [[1, 0, 0], [0, 0, 1]], [1, 1])
    made.bank.blocks.append(LeafBlock.of(np.ones((2, 3), dtype=bool), np.ones(2), lambda row: f.Var(f"late{row}")))
    made.bank.add_level(8, [batch([1], left=[0], right=[1])])
    assert [str(made._of_pool(number)) for number in range(5)] == ["b", "a", "b", "late0", "late1"]
    with pytest.raises(IndexError):
        made._of_pool(5)


def test_programs_are_sorted_into_those_above_and_below_the_target():
    target = search._Target(np.array([0b0110], dtype=np.uint64))
    words = np.array([[0b0110], [0b1110], [0b0100], [0b1000], [0]], dtype=np.uint64)
    target.take_in(words, np.array([5, 6, 7, 8, 9]))
    assert target.above.tolist() == [5, 6] and target.below.tolist() == [5, 7, 9]


# -- sums --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "found"),
    [("a", "a"), ("a + 2", "a + 2"), ("a + b", "a + b"), ("b + on", "b + on"), ("a + b + on + 3", "a + b + on + 3"),
     ("a + 4", None), ("2 * a", None), ("a - 1", "a - 1")],
)  # fmt: skip
def test_a_label_that_is_a_sum_is_found(rule, found):
    space = ConceptSpace((Concept("a", (1, 2, 3)), Concept("b", (0, 1, 5)), Concept("on", (False, True)),
                          Concept("gone", (1, ABSENT))))  # fmt: skip
    knowledge = Knowledge.of(space, {"y": rule})
    codes = space.all_codes()
    examples = Examples(knowledge, codes, one_hot(codes, space), knowledge.labels_of(codes))
    formula = _sum(examples.of_label(knowledge.labels[0]))
    if found is None:
        assert formula is None
    else:
        assert (evaluate(formula, space, codes) == evaluate(parse(rule), space, codes)).all()
        assert str(formula) == found


def test_of_many_programs_those_that_miss_little_are_tried_in_pairs(monkeypatch):
    rows = [[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]]
    monkeypatch.setattr(search, "NEAR", 2)  # the halves of the target are dear, and miss least
    best = searched([1, 1, 1, 1, 1, 1, 0, 0], rows, [4, 4, 1, 1], programs=0, error_bits=8.0)._nearest()
    assert (str(best.formula), best.bits, best.errors) == ("a or b", 4 + 4 + 1.25, 0)
    wide = [[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]]
    both = searched([1, 1, 0, 0, 0, 0], wide, [4, 4, 1, 1], programs=0, error_bits=8.0)._nearest()
    assert (str(both.formula), both.bits, both.errors) == ("a and b", 4 + 4 + 1, 0)


def test_examples_beyond_the_first_64_count_too():
    rng = np.random.default_rng(4)
    rows = rng.random((3, 70)) < 0.5
    for operation, wanted in ((np.logical_and, "a and b"), (np.logical_or, "a or b"), (np.logical_xor, "xor(a, b)")):
        late = np.stack([rows[0], rows[1], rows[1]])
        late[2, 66:] = ~late[2, 66:]  # as b in the first word, and cheaper
        result = searched(operation(rows[0], rows[1]), late, [2, 3, 1]).run()
        assert str(result.best.formula) == wanted and result.complete


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_programs_that_are_joined_some_at_a_time_are_the_same(monkeypatch, rows):
    rng = np.random.default_rng(8)
    leaf, target = rng.random((4, 9)) < 0.5, rng.random(9) < 0.5
    usual = searched(target, leaf, [1, 1, 2, 2], programs=150).run()
    monkeypatch.setattr(search, "ROWS", rows)
    made = searched(target, leaf, [1, 1, 2, 2], programs=150)
    found = made.run()
    assert (str(found.best.formula), found.best.bits) == (str(usual.best.formula), usual.best.bits)
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in "abcd"))
    for number in range(0, len(made.bank), 7):  # each program holds where its formula says
        holds = evaluate(made.bank.formula(number), space, leaf.T.astype(int)).astype(bool)
        assert unpack_bits(made.bank.words[number], 9).tolist() == holds.tolist()


def test_all_programs_of_a_cost_are_made_of_cheaper_ones():
    made = searched([1, 0, 0, 1, 0, 0, 0, 0], [[1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 1, 1, 0, 0]], [1, 2])
    for cost in range(8, 60):
        made.bank.add_level(cost, list(made._of_cost(cost)))
    costs = {}
    for number in range(len(made.bank)):
        costs[tuple(unpack_bits(made.bank.words[number], 8).tolist())] = int(made.bank.costs[number])
    a, b = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool), np.array([1, 1, 0, 0, 1, 1, 0, 0], dtype=bool)
    wanted = [(8, a), (16, b), (16, ~a), (24, ~b), (32, a & b), (34, a | b), (40, ~(a & b)), (42, a ^ b)]
    assert [costs[tuple(holds.tolist())] for _, holds in wanted] == [cost for cost, _ in wanted]
    assert costs[tuple((~a & b).tolist())] == 16 + 16 + 8 and costs[tuple((a & ~b).tolist())] == 8 + 24 + 8
    assert made.bank.levels[9] == slice(1, 1) and len(set(costs)) == len(made.bank)


def test_pairs_of_properties_and_terms_are_left_out_where_they_are_many(monkeypatch):
    concepts = [Concept(f"{car}.{name}", values) for car in ("u", "v") for name, values in
                (("colour", ("red", "blue")), ("size", ("big", "small")))]  # fmt: skip
    slots = tuple(Slot(car, "cars", ("colour", "size")) for car in ("u", "v"))
    for most, kept in ((4, True), (3, False)):
        monkeypatch.setattr("assay.models.symbolic.synthesis.language.MOST_OBJECTS", most)
        assert ("with property of cars" in families(language(*concepts, slots=slots).families)) is kept
    for few, terms in ((1, 1), (0, 0)):
        monkeypatch.setattr("assay.models.symbolic.synthesis.language.FEW", few)
        assert len(language(*concepts, slots=slots).terms) == terms
