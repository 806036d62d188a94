"""Learners step by step: what is searched again with which examples and time, and what a model passes on."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, bits
from assay.config import Settings
from assay.errors import DataError
from assay.logic import Const, Knowledge, parse
from assay.models.symbolic import base
from assay.models.symbolic.base import SymbolicModel
from assay.models.symbolic.baseline import columns
from assay.models.symbolic.examples import Examples, LabelExamples
from assay.models.symbolic.formulas import LabelRule, LearnedFormulas, rule_fit
from assay.models.symbolic.ilp import learner as ilp_learner
from assay.models.symbolic.ilp.learner import Ilp, InducedClauses, Learner
from assay.models.symbolic.ilp.search import CandidatePool
from assay.models.symbolic.perception import Detector, MissingPerception, RememberedConcepts, one_hot
from assay.models.symbolic.perception_settings import (
    PerceptionConfig,
    perception_seen_from,
    resolve_perception,
    saved_perception,
)
from assay.models.symbolic.rules import RuleList, _Rule, questions
from assay.models.symbolic.synthesis import learner as synthesis_learner
from assay.models.symbolic.synthesis.learner import FIRST, MORE, Synthesis, _notes, _sum
from assay.seeds import rng_for

AB = bits(["a", "b"])
BOTH = Knowledge.of(AB, {"y": "a and b"})
MIXED = ConceptSpace((Concept("n", (0, 1, 2)), Concept("b", (False, True))))
TWO = Knowledge.of(MIXED, {"y": "b", "z": "n"})


# -- what every model on concepts passes on ----------------------------------------------------------------------------


class Fixed(SymbolicModel):
    """A learner whose labels are the probabilities of the concepts, turned round."""

    name = "fixed"

    def learn(self, examples):
        self.learned_from = examples

    def label_probabilities(self, concepts):
        return [concepts[1], concepts[0]]

    def arrays(self):
        return {"u": np.zeros((2, 3)), "v": np.zeros(4)}


def fixed(**settings):
    return Fixed(TWO, None, Settings(settings), {}, 7)


def test_a_fit_is_scored_on_training_and_on_validation(monkeypatch):
    made, told = fixed(), []
    scores = {"train": 0.75, "valid": 0.5}
    monkeypatch.setattr(made, "examples", lambda data: f"examples of {data}")
    monkeypatch.setattr(made, "_f1", lambda data: scores[data])
    made.fit("train", "valid", lambda *said: told.append(said))
    (epoch,) = made.history
    assert (epoch.phase, epoch.number, epoch.loss, epoch.score, epoch.best) == ("learning", 1, 0.25, 0.5, True)
    assert made.learned_from == "examples of train" and told == [(epoch, 1)]

    def unseen(data):
        if data == "valid":
            raise MissingPerception
        return 0.75

    monkeypatch.setattr(made, "_f1", unseen)
    made.fit("train", "valid")
    assert (made.history[0].loss, made.history[0].score) == (0.25, 0.0)


def test_scores_are_of_true_labels_and_examples_of_annotated_ones(monkeypatch):
    made, asked = fixed(), []
    said = {"y": SimpleNamespace(codes="y codes"), "z": SimpleNamespace(codes="z codes")}
    monkeypatch.setattr(made, "predict", lambda data: SimpleNamespace(labels=said))
    monkeypatch.setattr(base, "mean_f1", lambda *given: asked.append(given) or 0.25)
    concepts = np.array([[2, 1], [0, -1], [1, 0]])
    data = SimpleNamespace(labels="true", given_labels="annotated", concepts="true", given_concepts=concepts)
    assert made._f1(data) == 0.25 and asked == [("true", ["y codes", "z codes"], [2, 3])]
    data = type("Data", (SimpleNamespace,), {"__len__": lambda self: 3})(**vars(data))
    found = made.examples(data)
    assert found.labels == "annotated" and found.codes.tolist() == [[2, 1], [0, 0], [1, 0]]
    assert found.probabilities[1].tolist() == [[0, 1], [1, 0], [1, 0]] and found.knowledge is TWO


@pytest.mark.parametrize(
    ("reading", "first"), [("hard", [[0, 1, 0], [1, 0, 0]]), ("soft", [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])]
)
def test_concepts_that_are_set_go_on_to_the_labels(reading, first):
    made = fixed(reading=reading)
    given = [np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]), np.array([[0.9, 0.1], [0.4, 0.6]])]
    made.perception = SimpleNamespace(probabilities=lambda data: list(given))
    plain = made.answers("data", {})
    assert plain.labels[1].tolist() == first and plain.concepts[0] is given[0]
    changed = made.answers("data", {1: np.array([1, 0])})
    assert changed.labels[0].tolist() == [[0, 1], [1, 0]] and changed.labels[1].tolist() == first
    soft = made.answers("data", {0: np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])})
    wanted = {"hard": [[0, 0, 1], [1, 0, 0]], "soft": [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]}[reading]
    assert soft.labels[1].tolist() == wanted and soft.concepts[0].tolist() == [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]
    held = made.answerer("data").answer(np.array([1]), {})
    assert held.labels[1].tolist() == first[1:]


def test_what_is_set_is_not_remembered():
    source = SimpleNamespace(probabilities=lambda data: [np.zeros((1, 2)), np.ones((1, 2))])
    data = SimpleNamespace(
        fingerprint="f", name="test", index=np.array([0]), stored=True, table=SimpleNamespace(column_names=())
    )
    held = RememberedConcepts(source)
    held.probabilities(data)[0] = "changed"
    assert held.probabilities(data)[0].tolist() == [[0, 0]]


def test_a_run_with_values_in_another_order_is_refused_before_it_is_asked(tmp_path):
    detector = Detector(tmp_path)
    turned = ConceptSpace((Concept("n", (2, 1, 0)),))
    detector.__dict__["_model"] = SimpleNamespace(space=turned, predict=lambda data: pytest.fail("asked"))
    data = SimpleNamespace(
        name="test", knowledge=TWO, layout=None, stored=True, table=SimpleNamespace(column_names=("image",))
    )
    with pytest.raises(DataError, match="knows other values of concept 'n' than the data"):
        detector.probabilities(data)


def test_settings_of_a_reader_are_kept_and_paths_are_those_that_are_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = PerceptionConfig(perception="clip:weights", reader={"batch_size": 3})
    assert resolve_perception(config) == {"perception": f"clip:{tmp_path / 'weights'}", "reader": {"batch_size": 3}}
    (tmp_path / "link").symlink_to(tmp_path / "far" / "run", target_is_directory=True)
    (tmp_path / "far" / "run").mkdir(parents=True)
    seen = SimpleNamespace(about=lambda: {"folder": "eye"}, folder=Path("far/eye"))
    assert perception_seen_from(seen, Path("link")) == {"folder": "eye", "from_run": "../eye"}
    (tmp_path / "far" / "eye").mkdir()
    gone = {"folder": str(tmp_path / "gone"), "from_run": "../eye"}
    found = saved_perception({"perception": gone, "config": {}}, Path("link"))
    assert found == {"perception": str(tmp_path / "far" / "run" / ".." / "eye")}


def test_numbers_are_drawn_by_seed_and_name_and_parameters_are_counted(tmp_path):
    made = fixed()
    assert made.rng("a", 3).random() == rng_for(7, "fixed", "a", 3).random()
    assert made.save(tmp_path) == {"perception": None, "parameters": 10}
    about = {"config": {"perception": "old", "reading": "soft"}, "perception": {"reader": "vlm"}}
    assert Fixed.saved_settings(tmp_path, about) == {"perception": "vlm", "reading": "soft", "reader": {}}


def test_a_fit_is_of_the_formulas_and_of_what_is_left():
    label = TWO.labels[1]
    codes = np.array([[0, 0], [2, 1], [1, 1]])
    examples = LabelExamples(MIXED, label, codes, one_hot(codes, MIXED), np.array([1, 2, 1]))

    class Told(Ilp):
        def learn_label(self, label, examples):
            return LearnedFormulas({2: parse("n == 2")}, 1, {"own": 1})

    made = Told(Knowledge.of(MIXED, {"z": "n"}), None, Settings({}))
    made.learn(Examples(made.knowledge, codes, one_hot(codes, MIXED), np.array([[1], [2], [1]])))
    notes = made.learned["z"].notes
    assert notes["own"] == 1 and notes["fit"]["right"] == 3 and notes["bias"]["expressible"]
    assert rule_fit(LabelRule(MIXED, label, {2: parse("n == 2")}), examples)["right"] == 1
    assert made.coverage() == [f"z: {notes['fit']['text']}"]
    made.learned["y"] = LearnedFormulas({}, 0, {"fit": {"text": "too"}})
    assert made.coverage()[1] == "y: too"


def test_examples_of_a_value_have_that_value():
    examples = LabelExamples(MIXED, TWO.labels[1], np.zeros((5, 2), int), [], np.array([2, 0, 1, 2, 1]))
    assert [examples.positive(code).tolist() for code in (0, 1, 2)] == [
        [False, True, False, False, False], [False, False, True, False, True], [True, False, False, True, False]
    ]  # fmt: skip


def test_a_rule_says_the_commonest_value_of_what_it_covers():
    truth = np.array([[1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1]], dtype=bool)
    targets, root = np.array([0, 1, 1, 2, 2, 2]), _Rule((), np.ones(6, dtype=bool), 0.0, -1)
    found = RuleList(TWO, None, Settings({"beam": 3}))._refined(root, truth, targets, 3)
    assert [(rule.questions, rule.code) for rule in found] == [((2,), 2), ((0,), 1), ((1,), 1)]
    assert [rule.worth for rule in found] == pytest.approx([4 / 6, 3 / 7, 3 / 7])
    few = RuleList(TWO, None, Settings({"beam": 2}))._refined(root, truth, targets, 3)
    assert [rule.questions for rule in few] == [(2,), (0,)]


def test_a_truth_value_that_may_be_absent_is_asked_for_by_value():
    told = [str(one) for one in questions(Concept("b", (False, True, ABSENT)))]
    assert told == [f"b {way} {value!r}" for value in (False, True, ABSENT) for way in ("==", "!=")]
    numbers = [str(one) for one in questions(Concept("n", (3, 5, ABSENT)))]
    assert numbers == [f"n {way} {value!r}" for value in (3, 5, ABSENT) for way in ("==", "!=")]


def test_numbers_that_may_be_absent_are_columns_of_values():
    space = ConceptSpace((Concept("n", (3, 5, ABSENT)), Concept("m", (2, 4))))
    given = [np.array([[0.2, 0.3, 0.5]]), np.array([[0.25, 0.75]])]
    assert columns(space, given, "numbers").tolist() == [[0.2, 0.3, 0.5, 3.5]]
    assert columns(space, given, "both").tolist() == [[0.2, 0.3, 0.5, 3.5, 0.25, 0.75]]


def test_the_formula_of_true_is_that_of_its_own_place():
    made = Ilp(TWO, None, Settings({}))
    label = SimpleNamespace(name="y", values=(True, False), kind="bool")
    made.knowledge = SimpleNamespace(labels=(label,))
    made.learned = {"y": LearnedFormulas({0: parse("b"), 1: parse("not b")})}
    assert {name: str(one) for name, one in made.formulas.items()} == {"y": "b"}


# -- programs ----------------------------------------------------------------------------------------------------------


def searching(monkeypatch, results, **settings):
    """Return a synthesiser whose searches give these formulas, and what each was given."""
    made, asked = Synthesis(BOTH, None, Settings(settings), {}, 3), []

    def search(examples, rows, target, seconds):
        formula, spent = results[len(asked)]
        asked.append((rows.tolist(), seconds))
        best = SimpleNamespace(formula=formula, bits=4.5)
        return SimpleNamespace(best=best, rivals=(), programs=9, complete=True, seconds=spent)

    monkeypatch.setattr(made, "_search", search)
    return made, asked


def many(size, seed=0):
    codes = np.random.default_rng(seed).integers(0, 2, (size, 2))
    return LabelExamples(AB, BOTH.labels[0], codes, one_hot(codes, AB), (codes[:, 0] & codes[:, 1]).astype(int))


def test_examples_that_a_program_has_wrong_are_added_in_turn(monkeypatch):
    examples = many(900)
    results = [(Const(False), 2.0), (parse("a"), 3.5), (parse("a and b"), 1.0)]
    made, asked = searching(monkeypatch, results, examples=FIRST)
    formula, notes = made._program(examples, 1, 20.0)
    first = np.sort(made.rng("examples").permutation(900)[:FIRST])
    target = examples.targets == 1
    fresh = np.setdiff1d(np.flatnonzero(target), first)
    second = np.concatenate([first, made.rng("counterexamples", FIRST).permutation(fresh)[:MORE]])
    wrong = np.setdiff1d(np.flatnonzero((examples.codes[:, 0] == 1) != target), second)
    third = np.concatenate([second, made.rng("counterexamples", len(second)).permutation(wrong)[:MORE]])
    assert len(fresh) > MORE and len(wrong) > MORE and len(second) == FIRST + MORE
    assert asked == [(first.tolist(), 20.0), (second.tolist(), 18.0), (third.tolist(), 14.5)]
    assert str(formula) == "a and b" and notes == {
        "bits": 4.5, "programs": 9, "complete": True, "rivals": [], "errors": 0, "seconds": 6.5
    }  # fmt: skip
    made, asked = searching(monkeypatch, [(parse("a"), 20.0)], examples=FIRST)
    notes = made._program(examples, 1, 20.0)[1]
    assert len(asked) == 1 and notes["errors"] == int(((examples.codes[:, 0] == 1) != target).sum())
    made, asked = searching(monkeypatch, [(parse("a"), 0.5)] * 9, examples=FIRST)
    made._program(many(2400), 1, 20.0)
    assert len(asked) == 6 and len(asked[-1][0]) == FIRST + 5 * MORE


def test_few_examples_are_all_used_at_once(monkeypatch):
    made, asked = searching(monkeypatch, [(parse("a"), 1.0)] * 2, examples=FIRST)
    examples = many(FIRST)
    notes = made._program(examples, 1, 9.0)[1]  # nothing is left to be added
    assert asked == [(list(range(FIRST)), 9.0)] and notes["errors"] > 0
    assert made._first(FIRST).tolist() == list(range(FIRST)) and len(made._first(FIRST + 1)) == FIRST
    never = LabelExamples(AB, BOTH.labels[0], examples.codes, [], np.zeros(FIRST, dtype=int))
    assert [str(made._program(never, code, 1.0)[0]) for code in (0, 1)] == ["True", "False"]
    none = LabelExamples(AB, BOTH.labels[0], examples.codes[:0], [], np.zeros(0, dtype=int))
    assert str(made._program(none, 0, 1.0)[0]) == "False" and len(asked) == 1


def test_a_search_has_its_leaves_target_and_budget(monkeypatch):
    made, asked = Synthesis(BOTH, None, Settings({"programs": 123, "error_bits": 2.5, "largest_group": 2})), []
    monkeypatch.setattr(synthesis_learner, "leaves_of", lambda *given: asked.append(given) or "blocks")

    class Found:
        def __init__(self, *given):
            asked.append(given)

        def run(self):
            return "result"

    monkeypatch.setattr(synthesis_learner, "ProgramSearch", Found)
    examples, rows = many(6), np.array([4, 0, 2])
    target = np.array([True, False, False, True, True, False])
    assert made._search(examples, rows, target, 7.0) == "result"
    (language, space, codes, largest), (blocks, wanted, costs, budget) = asked
    assert space is AB and codes.tolist() == examples.codes[rows].tolist() and largest == 2
    assert blocks == "blocks" and wanted.tolist() == [True, True, False] and costs == language.costs
    assert (budget.seconds, budget.programs, budget.error_bits) == (7.0, 123, 2.5)
    rivals = [SimpleNamespace(formula=parse(text), bits=place) for place, text in enumerate(("a", "b"))]
    best = SimpleNamespace(formula=parse("a"), bits=3.5)
    notes = _notes(SimpleNamespace(best=best, rivals=rivals, programs=4, complete=False))
    assert notes == {"bits": 3.5, "programs": 4, "complete": False, "rivals": [["a", 0], ["b", 1]]}


def test_each_value_that_occurs_has_a_program_in_its_share_of_the_time(monkeypatch):
    knowledge = Knowledge.of(MIXED, {"w": "'x' if n == 0 else 'y' if b else 'z' if n == 1 else 'v'", "y": "b"})
    made, asked = Synthesis(knowledge, None, Settings({"seconds": 30.0})), []

    def program(examples, code, seconds):
        asked.append((code, seconds))
        return parse("b"), {"errors": 5 - code}

    monkeypatch.setattr(made, "_program", program)
    word, truth = knowledge.labels
    targets = np.array([3, 1, 1, 3, 1, 0])
    codes = np.zeros((6, 2), dtype=int)
    found = made.learn_label(word, LabelExamples(MIXED, word, codes, one_hot(codes, MIXED), targets))
    assert asked == [(1, 10.0), (3, 10.0), (0, 10.0)] and found.otherwise == 1 and list(found.formulas) == [3, 1, 0]
    asked.clear()
    true = truth.values.index(True)
    one = made.learn_label(truth, LabelExamples(MIXED, truth, codes, one_hot(codes, MIXED), targets % 2))
    assert asked == [(true, 30.0)] and one.otherwise == 1 - true and list(one.formulas) == [true]
    none = LabelExamples(MIXED, word, codes[:0], [], targets[:0])
    assert made.learn_label(word, none).otherwise == 0


def test_a_sum_may_take_four_terms_and_no_more():
    space = ConceptSpace(tuple(Concept(name, (0, 1, 2)) for name in "abcde"))
    codes = np.random.default_rng(1).integers(0, 3, (40, 5))

    def found(rule):
        knowledge = Knowledge.of(space, {"y": rule})
        examples = Examples(knowledge, codes, one_hot(codes, space), knowledge.labels_of(codes))
        formula = _sum(examples.of_label(knowledge.labels[0]))
        return None if formula is None else str(formula)

    assert found("a + b + c + e") == "a + b + c + e" and found("a + b + c + d + e") is None
    assert found("b + d - 3") == "b + d - 3" and found("a - 2") == "a - 2" and found("c") == "c"


# -- clauses -----------------------------------------------------------------------------------------------------------


def test_labels_without_a_rule_are_passed_over(monkeypatch):
    class Told(Ilp):
        def induce(self, examples, positive, head, seconds):
            return InducedClauses((), {})

    codes = np.array([[0, 1], [1, 0], [2, 1]])
    made = Told(TWO, None, Settings({}))
    asked = []
    first, second = (SimpleNamespace(name=label.name, has_rule=rule, formula=f"rule of {label.name}", values=label.values)
                     for label, rule in zip(TWO.labels, (False, True), strict=True))  # fmt: skip
    monkeypatch.setattr(ilp_learner.FormulaModel, "learn", lambda self, examples: None)
    monkeypatch.setattr(
        ilp_learner,
        "express_rule",
        lambda *given: asked.append(given) or SimpleNamespace(to_dict=lambda: {"holds": True}),
    )
    made.knowledge = SimpleNamespace(labels=(first, second), space=MIXED)
    made.learned = {"y": LearnedFormulas({}, notes={"k": 1}), "z": LearnedFormulas({}, notes={"k": 2})}
    made.learn(Examples(TWO, codes, one_hot(codes, MIXED), np.zeros((3, 2), dtype=int)))
    assert made.learned["y"].notes == {"k": 1} and made.learned["z"].notes == {"k": 2, "bias": {"holds": True}}
    assert [given[:3] for given in asked] == [("rule of z", made.bias, (0, 1, 2))]


def theory(name, bits, errors, covers=0):
    return SimpleNamespace(name=name, bits=bits, errors=errors, covers=np.array([covers], dtype=np.uint64))


class Clock:
    """A clock that never ends, and tells what it was asked for."""

    over = False

    def share(self, part):
        return f"{part} of the time"


def a_learner(positive=0b001111, negative=0b110000):
    made = Learner.__new__(Learner)
    made.positive, made.negative = (np.array([word], dtype=np.uint64) for word in (positive, negative))
    made.rounds = 0
    return made


def test_what_is_left_is_searched_for_with_all_clauses_known():
    made, asked = a_learner(), []
    known = SimpleNamespace(bits=9.0, covers=np.array([1], dtype=np.uint64))
    fresh = [SimpleNamespace(bits=place, covers=np.array([word], dtype=np.uint64)) for place, word in ((3, 2), (5, 4))]
    levels = [CandidatePool(), CandidatePool()]
    for level, one in zip(levels, fresh, strict=True):
        level.add(one)

    def run(target, clock):
        asked.append((target.positive.tolist(), target.negative.tolist(), target.savings, clock))
        for level in levels:
            yield level
            asked.append(made.search.limit)

    def best(pool, clock, now):
        asked.append((pool, now.name))
        return theory(f"best of {len(pool)}", 40.0 - 8 * len(pool), 1)

    made.search = SimpleNamespace(run=run, limit=np.inf)
    made.cover = SimpleNamespace(savings=lambda base, most: (base.name, most), best=best, least=6.0)
    pool = CandidatePool()
    pool.add(known)
    found, same = made._searched(theory("base", 0, 0, covers=0b010001), theory("now", 50, 3), pool, Clock())
    assert same is pool and list(pool.clauses.values()) == [known, *fresh] and made.rounds == 1
    assert asked == [
        ([0b001110], [0b100000], ("base", 3), "0.7 of the time"),
        ([known, fresh[0]], "now"), 40.0 - 16 - 6, ([known, *fresh], "best of 2"), 40.0 - 24 - 6,
    ]  # fmt: skip
    assert found.name == "best of 3"


def test_a_program_is_searched_again_without_each_of_its_clauses_while_that_helps(monkeypatch):
    made, asked = a_learner(), []
    first, better, best = theory("first", 50, 3), theory("better", 40, 2), theory("best", 30, 1)
    answers = iter([first, first, better, better, better, best, best, best, best])

    def searched(base, now, pool, clock):
        asked.append((base.name, now.name))
        return next(answers), pool

    monkeypatch.setattr(made, "_searched", searched)
    proofs = []
    made.cover = SimpleNamespace(
        theory=lambda clauses: theory("nothing", 99, 9),
        without_each=lambda given: [theory(f"{given.name} without {at}", 0, 0) for at in (0, 1)],
        prove=lambda pool, clock, given: proofs.append(given.name) or "proved",
    )
    assert made.run(Clock()) == "proved" and proofs == ["best"]
    assert asked == [
        ("nothing", "nothing"),
        ("first", "first"), ("first without 0", "first"),
        ("better", "better"), ("better without 0", "better"), ("better without 1", "better"),
        ("best", "best"), ("best without 0", "best"), ("best without 1", "best"),
    ]  # fmt: skip
    asked.clear()
    answers = iter([theory("perfect", 20, 0)])
    made.run(Clock())
    assert len(asked) == 1  # nothing is wrong


def test_where_no_formula_holds_the_value_that_is_left_does():
    made = Ilp(TWO, None, Settings({}))
    made.learned = {"y": LearnedFormulas({1: parse("b")}), "z": LearnedFormulas({2: parse("n == 2")}, 1)}
    y, z = made.label_probabilities(one_hot(np.array([[0, 1], [2, 0], [1, 0]]), MIXED))
    assert y.argmax(axis=1).tolist() == [1, 0, 0] and z.argmax(axis=1).tolist() == [1, 2, 1]


def test_our_own_learner_leaves_time_for_what_comes_after(monkeypatch):
    asked = []
    monkeypatch.setattr(ilp_learner.Clock, "of", lambda seconds: asked.append(seconds) or "clock")
    search = SimpleNamespace(complete=True, seen=3)
    found = SimpleNamespace(bits=1.234, proved=False, clauses=[SimpleNamespace(clause="c")])
    made = SimpleNamespace(run=lambda clock: asked.append(clock) or found, search=search, rounds=2)
    monkeypatch.setattr(ilp_learner, "Learner", lambda coverage, positive: made)
    codes = np.zeros((2, 2), dtype=int)
    examples = LabelExamples(MIXED, TWO.labels[0], codes, one_hot(codes, MIXED), np.array([0, 1]))
    induced = Ilp(TWO, None, Settings({})).induce(examples, np.array([False, True]), "y", 50.0)
    assert asked == [pytest.approx(46.5), "clock"] and induced.clauses == ("c",)
    assert induced.notes == {"bits": 1.23, "proved": False, "complete": True, "seen": 3, "rounds": 2}
