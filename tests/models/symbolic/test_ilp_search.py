"""The search for clauses by hand: prices, scores, what goes on to the next level, and the engine around it."""

from itertools import permutations
from math import comb, log2
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.config import Settings
from assay.logic import Const, Knowledge
from assay.models.symbolic.bits import count_bits, pack_bits, unpack_bits
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.ilp import search as module
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral, canonical, clauses_of, placements
from assay.models.symbolic.ilp.coverage import Coverage
from assay.models.symbolic.ilp.learner import Ilp, InducedClauses, Learner
from assay.models.symbolic.ilp.search import (
    BestClauses,
    Candidate,
    CandidatePool,
    Clock,
    Refinements,
    Search,
    SearchNode,
    Structure,
    Target,
    choose_bits,
)
from assay.models.symbolic.perception import one_hot
from assay.prolog import Bias, Language, read_program

COLOURS, SIZES = ("red", "blue", "green"), (1, 2)
NAMES = ("u", "v", "w")
SPACE = ConceptSpace(
    tuple(Concept(f"{car}.{name}", values) for car in NAMES for name, values in (("colour", COLOURS), ("size", SIZES))),
    tuple(Slot(car, "cars", ("colour", "size")) for car in NAMES),
)
PLAIN = Language(objects=2, counts=0, others=False, comparisons=False, order=False, triples=False, literals=2)
BIAS = Bias(SPACE, PLAIN)
LATER = Clock(1e12)


def packed(*places, size=70):
    return pack_bits(np.isin(np.arange(size), places))


def test_a_clock_is_shared():
    clock = Clock.of(100.0)
    assert 99 < clock.left <= 100 and not clock.over and 24 < clock.share(0.25).left <= 25
    late = Clock.of(-1.0)
    assert late.over and late.share(0.5).left <= 0
    assert choose_bits(3, 9) == pytest.approx(log2(comb(9, 3))) and choose_bits(0, 5) == pytest.approx(0)


def test_of_clauses_that_cover_the_same_the_shorter_is_kept():
    pool = CandidatePool()
    one, other, dear, cheap = (Candidate(None, bits, packed(*covers)) for bits, covers in
                               ((3.0, (1, 2)), (4.0, (1,)), (3.5, (1, 2)), (2.0, (1, 2))))  # fmt: skip
    for candidate in (one, other, dear):
        pool.add(candidate)
    assert list(pool.clauses.values()) == [one, other]
    pool.add(cheap)
    assert list(pool.clauses.values()) == [cheap, other]


def coverage(count=40, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, count) for size in SPACE.sizes], axis=1)
    return Coverage(BIAS, codes), codes


def target_of(positive, savings=None, size=40):
    truth = np.isin(np.arange(size), list(positive))
    saved = np.arange(size + 1.0) * 5 if savings is None else savings
    return Target(pack_bits(truth), pack_bits(~truth), saved)


def test_a_literal_costs_its_kind_and_which_of_its_kind_it_is():
    batches = [SimpleNamespace(numbers=[0, 1, 2]), SimpleNamespace(numbers=[3, 4])]
    kinds = ["value", "value", "order", "value", "compare"]
    search = Search(SimpleNamespace(bias=SimpleNamespace(literals=[SimpleNamespace(kind=kind) for kind in kinds])))
    first, second = search.prices(batches)
    value, other = log2(3) + log2(3), log2(3)
    assert first.tolist() == pytest.approx([value, value, other]) and second.tolist() == pytest.approx([value, other])


def test_structures_with_too_many_choices_are_not_searched(monkeypatch):
    made = Search(coverage()[0])
    assert made._fits(("cars", "cars")) and made.complete
    monkeypatch.setattr(module, "LARGEST", 9)
    assert made._fits(("cars", "cars")) and made.complete and made.coverage.words == 1
    monkeypatch.setattr(module, "LARGEST", 8)
    assert not made._fits(("cars", "cars")) and not made.complete and made._fits(("cars",)) and not made.complete


def refinements(rows, bits, covers, node=None, places=(0,)):
    covers = np.stack(covers)
    target = target_of(range(20))
    pos, neg = target.counts(covers)
    return Refinements(node or SearchNode((), 0.0, None), places, np.array(rows), np.array(bits), covers, pos, neg)


def test_clauses_are_kept_by_three_scores(monkeypatch):
    made = Search(coverage()[0])
    target = target_of(range(20), np.arange(41.0) * 6)
    best = BestClauses(made, ("cars",), target)
    assert best.scores == ((6.0, 1.0), (6.0, 4.0), (2.0, 1.0))
    covers = [packed(0, 1, 2, size=40), packed(0, 1, 2, 3, 25, size=40), packed(0, 30, size=40)]
    best.look(refinements([0, 1, 2], [2.0, 3.0, 1.0], covers))
    scores = [{row[1][0][0]: value for value, row in ((entry[0], entry) for entry in kept.values())}
              for kept in best.by_score]  # fmt: skip
    assert scores == [{0: 18 - 2, 1: 18 - 3}, {0: 18 - 2}, {0: 6 - 2, 1: 6 - 3}]
    best.look(refinements([3, 4], [1.5, 2.5], covers[:2]))
    assert [sorted(round(entry[0], 6) for entry in kept.values()) for kept in best.by_score] == [
        [15.5, 16.5], [16.5], [3.5, 4.5],
    ]  # fmt: skip
    monkeypatch.setattr(module, "POOL", 1)
    pool = CandidatePool()
    best.into(pool)
    (only,) = pool.clauses.values()
    assert only.bits == 1.5 and only.clause.groups == ("cars",) and only.clause.body[0].literal is BIAS.literals[3]
    assert best.floors == [16.5, 16.5, 4.5]
    best.look(refinements([5], [1.6], [packed(5, 6, 7, size=40)]))
    assert all(len(kept) == 1 for kept in best.by_score)  # 16.4 is below the floor
    assert BestClauses(made, (), target_of([])).scores[0] == (1.0, 1.0)


def test_refinements_pay_and_say_something_new():
    cover, codes = coverage()
    made = Search(cover)
    red = np.array([(row.reshape(3, 2)[:, 0] == 0).any() for row in codes])
    savings = np.arange(41.0) * 0.5
    structure = Structure(made, ("cars",), Target(pack_bits(red), pack_bits(~red), savings))
    (root,) = structure.level
    assert root.bits == pytest.approx(log2(len(BIAS.structures))) and root.objects == set()
    assert structure.before == (red.sum(), (~red).sum())
    (batch,) = cover.batches(("cars",))
    price = np.full(len(batch.numbers), 1.0)
    grown = structure._grown(root, batch, price)
    assert made.seen == len(batch.numbers)
    holds = {}
    for number, literal in enumerate(BIAS.literals):
        column = 0 if literal.terms[0].attribute == "colour" else 1
        value = (COLOURS if column == 0 else SIZES).index(literal.value)
        holds[number] = (codes.reshape(-1, 3, 2)[:, :, column] == value).any(axis=1)
    wanted = []
    for number in batch.numbers.tolist():
        pos, neg = int((holds[number] & red).sum()), int((holds[number] & ~red).sum())
        if savings[pos] > root.bits + 1 and neg > 0:
            wanted.append((number, root.bits + 1, pos, neg))
    found = list(zip(grown.numbers.tolist(), grown.bits.tolist(), grown.pos.tolist(), grown.neg.tolist(), strict=True))
    assert found == wanted and 0 not in grown.numbers  # red itself has no negatives: nothing is left to refine
    for row, number in enumerate(grown.numbers.tolist()):
        assert unpack_bits(grown.covers[row], 40).tolist() == holds[number].tolist()
    made.limit = root.bits + 1
    assert structure._grown(root, batch, price) is None
    made.limit = np.inf
    again = SearchNode(((int(wanted[0][0]), (0,)),), 0.0, root.choices)
    assert wanted[0][0] not in structure._grown(again, batch, price).numbers
    assert again.objects == {0} and grown.steps(0) == ((wanted[0][0], (0,)),)
    assert grown.only(np.array([1])).numbers.tolist() == [wanted[1][0]]


def test_rows_are_ranked_by_two_scores_in_turn():
    made = Search(coverage()[0])
    structure = Structure(made, ("cars",), target_of(range(10)))
    pos, neg = np.array([10, 3, 6, 9]), np.array([8, 0, 1, 2])
    share = np.log2(pos / (pos + neg)) - np.log2(10 / 40)
    first, second = np.argsort(-(pos - neg), kind="stable"), np.argsort(-(pos * share), kind="stable")
    wanted = list(dict.fromkeys(int(place) for pair in zip(first, second, strict=True) for place in pair))
    assert structure._ranked(np.zeros(4), pos, neg, 4) == wanted
    assert structure._ranked(np.zeros(4), pos, neg, 1) == list(dict.fromkeys([int(first[0]), int(second[0])]))
    ties = structure._ranked(np.array([3.0, 1.0, 2.0]), np.array([4, 4, 4]), np.array([1, 1, 1]), 3)
    assert ties == [1, 2, 0]


def test_what_goes_on_is_each_clause_once_and_not_too_many_alike(monkeypatch):
    made = Search(coverage()[0])
    structure = Structure(made, ("cars",), target_of(range(20)))
    covers = [packed(0, 1, 30, size=40)] * 4 + [packed(2, 30, size=40)]
    node = SearchNode(((0, (0,)),), 1.0, made.coverage.start(("cars",)))
    grown = refinements([1, 2, 1, 3, 4], [2.0, 3.0, 2.5, 4.0, 9.0], covers, node)
    chosen = list(structure._chosen([grown], 10, LATER))
    assert [one.steps[-1][0] for one in chosen] == [1, 2, 3, 4] and [one.bits for one in chosen] == [2, 3, 4, 9]
    assert made.complete
    wanted = node.choices & made.coverage.literal_bits(2, (0,), 1)
    assert (chosen[1].choices == wanted).all()
    made.limit = 4.0
    assert [one.steps[-1][0] for one in structure._chosen([grown], 10, LATER)] == [1, 2]
    made.limit = np.inf
    monkeypatch.setattr(module, "ALL_BELOW", 0)
    monkeypatch.setattr(module, "ALIKE", 2)
    assert [one.steps[-1][0] for one in structure._chosen([grown], 10, LATER)] == [1, 2, 4] and made.complete
    monkeypatch.setattr(module, "FEWEST", 1)
    assert [one.steps[-1][0] for one in structure._chosen([grown], module.TRIED, LATER)] == [1] and not made.complete
    assert list(structure._chosen([], 10, LATER)) == []


def test_a_search_gives_the_clauses_of_each_level():
    cover, codes = coverage(60)
    cars = codes.reshape(-1, 3, 2)
    truth = ((cars[:, :, 0] == 0) & (cars[:, :, 1] == 1)).any(axis=1)
    made = Search(cover)
    savings = np.arange(61.0) * 6
    levels = list(made.run(Target(pack_bits(truth), pack_bits(~truth), savings), LATER))
    assert len(levels) == 2 and made.complete and made.seen > 0
    exact = [candidate for candidate in levels[1].clauses.values() if (candidate.covers == pack_bits(truth)).all()]
    assert len(exact) == 1 and len(exact[0].clause) == 2 and len(exact[0].clause.groups) == 1
    per = log2(1) + log2(5)
    assert exact[0].bits == pytest.approx(log2(len(BIAS.structures)) + 2 * per - log2(2))
    assert all(len(candidate.clause) == 1 for candidate in levels[0].clauses.values())
    assert len(list(Search(cover).run(Target(pack_bits(truth), pack_bits(~truth), savings), Clock.of(-1)))) == 1


# -- clauses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_canonical_form_does_not_depend_on_names_and_order(seed):
    rng = np.random.default_rng(seed)
    groups = ("a", "a", "b", "a")
    body = [(int(rng.integers(3)), tuple(rng.permutation(4)[:2].tolist()), False) for _ in range(3)]
    form = canonical(groups, body)
    for order in permutations(range(4)):
        if order[2] == 2:
            moved = [(n, tuple(order[place] for place in places), s) for n, places, s in reversed(body)]
            assert canonical(groups, moved) == form
    assert sorted(n for n, _ in form) == sorted(n for n, _, _ in body) and canonical((), []) == ()
    assert canonical(("a", "a"), [(1, (1, 0), True)]) == canonical(("a", "a"), [(1, (0, 1), True)])
    assert canonical(("a", "b"), [(1, (1, 0), False)]) == ((1, (1, 0)),)
    assert canonical(("a", "a"), [(5, (1,), False), (2, (0,), False)]) == ((2, (0,)), (5, (1,)))


def test_placements_are_of_different_objects_and_in_order_where_that_is_all_the_same():
    either, ordered = (SimpleNamespace(groups=("a", "a"), symmetric=same) for same in (True, False))
    groups = ("a", "b", "a")
    assert list(placements(either, groups)) == [(0, 2)] and list(placements(ordered, groups)) == [(0, 2), (2, 0)]
    mixed = SimpleNamespace(groups=("b", "a"), symmetric=False)
    assert list(placements(mixed, groups)) == [(1, 0), (1, 2)]
    assert list(placements(SimpleNamespace(groups=(), symmetric=False), groups)) == [()]


def clause(groups, *body):
    wide = Bias(SPACE)
    return IlpClause(groups, tuple(PlacedLiteral(wide.by_name[name], places) for name, places in body))


def test_objects_that_nothing_ties_together_are_apart_in_a_formula():
    one = clause(("cars", "cars"), ("colour_red", (0,)), ("size_2", (1,)))
    assert one._tied() == [{0}, {1}] and one.objects() == {0, 1} and len(one) == 2
    assert str(one.formula()) == "any(a.colour == 'red' for a in cars) and any(b.size == 2 for b in cars)"
    tied = clause(("cars", "cars"), ("same_size", (0, 1)), ("colour_red", (1,)))
    assert tied._tied() == [{0, 1}] and "a.size == b.size" in str(tied.formula())
    assert str(clause(()).formula()) == "True"


def test_clauses_are_written_and_read_as_prolog():
    bias = Bias(SPACE)
    own = clause(("cars", "cars"), ("colour_red", (0,)), ("same_size", (0, 1)))
    text = own.text("east", bias)
    has = bias.vocabulary.relation("has", "cars").name
    assert text == f"east(W) :- {has}(W,X1), {has}(W,X2), colour_red(X1), same_size(X1,X2)."
    assert clauses_of(read_program(text, "x"), "east", bias) == [own]
    assert clauses_of(read_program(text, "x"), "west", bias) == []
    alone = clauses_of(read_program("east(W) :- same_size(A,B), colour_red(A).", "x"), "east", bias)
    assert alone == [clause(("cars", "cars"), ("same_size", (0, 1)), ("colour_red", (0,)))]
    twice = clauses_of(read_program(f"east(W) :- {has}(W,A), {has}(W,A), colour_red(A).", "x"), "east", bias)
    assert twice == [clause(("cars",), ("colour_red", (0,)))] and clause(()).text("east", bias) == "east(W)."


# -- the engine --------------------------------------------------------------------------------------------------------


class Told(Ilp):
    """An engine that gives clauses it is told."""

    asked: list
    clauses = ()

    def induce(self, examples, positive, head, seconds):
        self.asked.append((positive.tolist(), head, seconds))
        return InducedClauses(self.clauses, {"more": 1})


def engine(rules, **settings):
    made = Told(Knowledge.of(SPACE, rules), None, Settings(settings))
    made.asked = []
    return made


def worlds(*rows):
    return np.array([[code for c, s in row for code in (COLOURS.index(c), SIZES.index(s))] for row in rows])


CODES = worlds(
    [("red", 1), ("blue", 1), ("green", 2)],
    [("blue", 1), ("blue", 2), ("green", 2)],
    [("red", 2), ("red", 1), ("red", 2)],
    [("green", 1), ("blue", 1), ("green", 1)],
)


def examples_for(made, labels):
    return Examples(made.knowledge, CODES, one_hot(CODES, SPACE), np.array(labels)).of_label(made.knowledge.labels[0])


def test_true_is_learned_and_errors_are_counted_by_us():
    made = engine({"east": "any(c.colour == 'red' for c in cars)"}, seconds=50.0)
    made.clauses = (clause(("cars",), ("colour_red", (0,))),)
    found = made.learn_label(made.knowledge.labels[0], examples_for(made, [[1], [0], [0], [0]]))
    assert found.otherwise == 0 and made.asked == [([True, False, False, False], "east", 50.0)]
    assert str(found.formulas[1]) == "any(a.colour == 'red' for a in cars)"
    assert (found.notes["errors"], found.notes["clauses"], found.notes["more"]) == (1, 1, 1)
    assert found.notes["prolog"][0].startswith("east(W) :- ")
    for label, value in ((0, False), (1, True)):
        same = made.learn_label(made.knowledge.labels[0], examples_for(made, [[label]] * 4))
        assert same.formulas[1] == Const(value) and same.notes["errors"] == 0
    assert len(made.asked) == 1


def test_each_value_but_the_commonest_is_learned_in_its_share_of_the_time():
    made = engine({"kind": "1 if any(c.colour == 'red' for c in cars) else 2 if any(c.size == 2 for c in cars) else -3"},
                  seconds=60.0)  # fmt: skip
    values = made.knowledge.labels[0].values
    code = {value: place for place, value in enumerate(values)}
    labels = [[code[1]], [code[2]], [code[2]], [code[-3]]]
    found = made.learn_label(made.knowledge.labels[0], examples_for(made, labels))
    assert found.otherwise == code[2] and sorted(found.formulas) == sorted([code[1], code[-3]])
    assert sorted(head for _, head, _ in made.asked) == ["kind_1", "kind_minus_3"]
    (_, _, first), (_, _, second) = made.asked
    assert 25 < first <= 30 and 55 < second <= 60


def test_the_learner_searches_again_for_what_is_left():
    cover, codes = coverage(60)
    cars = codes.reshape(-1, 3, 2)
    red_big = ((cars[:, :, 0] == 0) & (cars[:, :, 1] == 1)).any(axis=1)
    green = (cars[:, :, 0] == 2).all(axis=1)
    learner = Learner(cover, red_big | green)
    theory = learner.run(Clock.of(30.0))
    assert learner.cover.size == 60 and learner.rounds >= 1
    covered = unpack_bits(theory.covers, 60)
    assert theory.errors == int((covered != (red_big | green)).sum()) <= int(green.sum())
    assert learner.search.limit <= theory.bits - learner.cover.least + 1e-6 and int(count_bits(theory.covers)) > 0
    clean = Learner(cover, red_big)
    exact = clean.run(Clock.of(30.0))
    assert exact.errors == 0 and len(exact.clauses) == 1 and clean.rounds == 1


def test_a_level_has_every_literal_at_the_price_of_its_depth(monkeypatch):
    made = Search(coverage()[0])
    structure = Structure(made, ("cars",), target_of(range(20)))
    first, asked = structure.level, []
    other = SearchNode(((0, (0,)),), 3.0, first[0].choices)
    batches = [SimpleNamespace(numbers=np.array([0, 1])), SimpleNamespace(numbers=np.array([2]))]
    monkeypatch.setattr(made.coverage, "batches", lambda groups: batches)
    monkeypatch.setattr(made, "prices", lambda given: [np.array([5.0, 6.0]), np.array([7.0])])

    def grown(node, batch, price):
        asked.append((node, batch, price.tolist()))
        return None if batch is batches[1] else f"grown {len(asked)}"

    monkeypatch.setattr(structure, "_grown", grown)
    monkeypatch.setattr(structure, "_chosen", lambda refined, tried, clock: [(refined, tried)])
    structure.level = [first[0], other]
    structure.advance(1, LATER)
    assert asked == [(node, batch, price) for node in (first[0], other)
                     for batch, price in ((batches[0], [5.0, 6.0]), (batches[1], [7.0]))]  # fmt: skip
    assert structure.level == [(["grown 1", "grown 3"], 3)] and made.complete
    asked.clear()
    structure.level = [other]
    structure.advance(2, LATER)  # the last depth of this language
    assert [price for _, _, price in asked] == [[4.0, 5.0], [6.0]] and structure.level == []
    structure.advance(1, LATER)
    assert len(asked) == 2
    structure.level = [other]
    structure.advance(1, Clock.of(-1.0))
    assert structure.level == [] and not made.complete and len(asked) == 2


def test_structures_go_to_the_same_depth_in_shares_of_the_time(monkeypatch):
    asked = []

    class Part:
        def __init__(self, search, groups, target):
            self.groups, self.level, self.target = groups, [1], target
            self.best = SimpleNamespace(into=lambda pool: pool.add(Candidate(groups, 1.0, packed(len(groups)))))

        def advance(self, depth, clock):
            asked.append((self.groups, depth, clock))
            self.level = [1] if depth < 2 and self.groups else []

    class Shared:
        over = False

        def share(self, part):
            return part

    monkeypatch.setattr(module, "Structure", Part)
    bias = SimpleNamespace(structures=[(), ("a",), ("a", "b"), ("b", "b", "b")], language=SimpleNamespace(literals=4))
    present = {"a": np.zeros((2, 1)), "b": np.zeros((3, 1))}
    made = Search(SimpleNamespace(bias=bias, words=2, present=present))
    monkeypatch.setattr(module, "LARGEST", 12)  # two words for each of two and three objects, but not for 27 choices
    pools = list(made.run("target", Shared()))
    wanted = [((), 1 / 3), (("a",), 1 / 2), (("a", "b"), 1.0)]
    assert asked == [(groups, depth, part) for depth in (1, 2) for groups, part in wanted] and not made.complete
    assert [[one.clause for one in pool.clauses.values()] for pool in pools] == [[(), ("a",), ("a", "b")]] * 2
