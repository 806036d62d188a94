"""Learned formulas, rule lists, trees and columns by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, bits
from assay.config import Settings
from assay.errors import ConfigError
from assay.logic import Knowledge, parse
from assay.models import MODELS
from assay.models.symbolic import tree as tree_module
from assay.models.symbolic.base import _first_line
from assay.models.symbolic.baseline import columns, layer_probabilities
from assay.models.symbolic.examples import Examples, LabelExamples, most_probable_codes
from assay.models.symbolic.formulas import LabelRule, LearnedFormulas, rule_fit
from assay.models.symbolic.ilp.external import best_of
from assay.models.symbolic.linear import LinearConfig
from assay.models.symbolic.mlp import MLPConfig
from assay.models.symbolic.perception import one_hot
from assay.models.symbolic.rules import RuleListConfig, _Rule, questions
from assay.models.symbolic.tree import TreeConfig, _leaves, column_tests

SPACE = ConceptSpace((Concept("n", (2, 5, 9)), Concept("b", (False, True)), Concept("s", ("x", "y", ABSENT))))
GRADES = Knowledge.of(SPACE, {"grade": "n if b else 2", "on": "b and n > 2"})
GRADE, ON = GRADES.labels


def examples_of(codes, targets, label=GRADE):
    codes = np.array(codes)
    return LabelExamples(SPACE, label, codes, one_hot(codes, SPACE), np.array(targets))


def test_usual_settings():
    rules, tree, linear, mlp = RuleListConfig(), TreeConfig(), LinearConfig(), MLPConfig()
    assert (rules.rules, rules.questions, rules.beam, rules.least) == (20, 4, 8, 2)
    assert (tree.scaled, tree.depth, tree.leaf, tree.encoding) == (False, None, 1, "numbers")
    assert (linear.scaled, linear.strength, linear.steps) == (True, 1.0, 1000)
    assert (mlp.hidden, mlp.steps, mlp.learning_rate, mlp.decay) == ([64], 500, 1e-3, 1e-4)


# -- formulas of a label -----------------------------------------------------------------------------------------------


def test_of_several_formulas_that_are_true_the_first_listed_holds():
    rule = LabelRule(SPACE, GRADE, {2: parse("n == 9"), 1: parse("b")}, 0)
    codes = np.array([[2, 1, 0], [2, 0, 0], [1, 1, 0], [0, 0, 0]])
    assert rule.codes_of(codes).tolist() == [2, 2, 1, 0] and GRADE.values == (2, 5, 9)
    assert LabelRule(SPACE, GRADE, {}, 2).codes_of(codes).tolist() == [2] * 4
    own = LabelRule(SPACE, GRADE, {None: parse("n + 4 * b")}, 1)
    assert own.codes_of(np.array([[0, 0, 0], [1, 1, 0], [0, 1, 0], [2, 1, 0]])).tolist() == [0, 2, 1, 1]


@pytest.mark.parametrize(
    ("formulas", "otherwise"),
    [({2: parse("n == 9"), 1: parse("b")}, 0), ({None: parse("n if b else 5")}, 0), ({None: parse("n + 4 * b")}, 2)],
)
def test_uncertain_concepts_give_the_expected_label(formulas, otherwise):
    rule = LabelRule(SPACE, GRADE, formulas, otherwise)
    n, b, s = np.array([[0.2, 0.3, 0.5]]), np.array([[0.4, 0.6]]), np.array([[0.1, 0.2, 0.7]])
    wanted = np.zeros(3)
    for i in range(3):
        for j in range(2):
            wanted[rule.codes_of(np.array([[i, j, 0]]))[0]] += n[0, i] * b[0, j]
    np.testing.assert_allclose(rule([n, b, s]), [wanted])
    sure = [np.eye(3)[[2]], np.eye(2)[[1]], np.eye(3)[[0]]]
    assert rule(sure).tolist() == np.eye(3)[rule.codes_of(np.array([[2, 1, 0]]))].tolist()
    mixed = rule([np.array([[0.2, 0.3, 0.5], [0, 0, 1]]), np.eye(2)[[1, 1]], np.eye(3)[[0, 0]]])
    np.testing.assert_allclose(mixed.sum(axis=1), 1)
    assert mixed[1].tolist() == rule(sure)[0].tolist()


def test_without_a_diagram_the_most_probable_concepts_decide():
    rule = LabelRule(SPACE, GRADE, {2: parse("n == 9")}, 0)
    rule.__dict__["_diagram"] = None
    assert rule([np.array([[0.3, 0.3, 0.4]]), np.eye(2)[[0]], np.eye(3)[[0]]]).tolist() == [[0, 0, 1]]


def test_formulas_with_fewest_errors_come_first():
    rules = {0: (parse("b"), {"errors": 4}), 2: (parse("n == 9"), {"errors": 1}), 1: (parse("n == 5"), {"errors": 4})}
    found = LearnedFormulas.of_values(GRADE, rules, 1)
    assert list(found.formulas) == [2, 0, 1] and found.otherwise == 1
    assert found.notes == {"9": {"errors": 1}, "2": {"errors": 4}, "5": {"errors": 4}}
    plain = found.to_dict()
    assert plain["formulas"] == [[2, "n == 9"], [0, "b"], [1, "n == 5"]]
    assert LearnedFormulas.from_dict(plain) == found and LearnedFormulas({}).otherwise == 0


def test_a_fit_names_what_is_covered_and_the_exceptions():
    rule = LabelRule(SPACE, GRADE, {2: parse("n == 9"), 1: parse("n == 5")}, 0)
    codes = [[2, 0, 0]] * 3 + [[2, 1, 0]] + [[1, 0, 1]] * 2 + [[0, 0, 0]] * 2 + [[1, 1, 1], [0, 1, 1], [0, 1, 2]]
    targets = [2, 2, 0, 2, 0, 0, 0, 0, 0, 2, 2]
    found = rule_fit(rule, examples_of(codes, targets))
    assert (found["examples"], found["right"], found["exceptions"]) == (11, 5, 5)
    assert found["text"] == (
        "right in 5 of 11 training examples; covers 2 in 2 of 6 and wrongly in 2, 9 in 3 of 5 and wrongly in 1; "
        "exceptions: n=5 b=False s=y (2), n=2 b=True s=y (1), n=2 b=True s=absent (1) and 2 more worlds"
    )
    right = rule_fit(rule, examples_of([[2, 0, 0], [0, 0, 0]], [2, 0]))
    assert right["text"] == "right in 2 of 2 training examples; covers 2 in 1 of 1, 9 in 1 of 1; no exceptions"


def model(name="rules", knowledge=GRADES, **settings):
    return MODELS[name](knowledge, None, Settings(settings))


def test_formulas_are_listed_in_words():
    made = model()
    made.learned = {
        "grade": LearnedFormulas({2: parse("n == 9"), 1: parse("b")}),
        "on": LearnedFormulas({1: parse("b")}),
    }
    assert made.in_words() == ["grade is 9: n == 9", "grade is 5: b", "on: b"]
    assert {name: str(one) for name, one in made.formulas.items()} == {"on": "b"} and made.coverage() == []
    made.learned["grade"] = LearnedFormulas({None: parse("n")}, notes={"fit": {"text": "well"}})
    assert (
        made.in_words()[0] == "grade: n" and str(made.formulas["grade"]) == "n" and made.coverage() == ["grade: well"]
    )
    made.learned = {}
    with pytest.raises(ConfigError, match="has learned nothing yet of label 'grade'"):
        made.label_probabilities([])


def test_examples_of_a_label_are_those_that_are_annotated():
    codes = np.array([[0, 1, 0], [1, 0, 1], [2, 1, 2]])
    every = Examples(GRADES, codes, one_hot(codes, SPACE), np.array([[0, -1], [-1, 1], [2, 0]]))
    grade, on = (every.of_label(label) for label in GRADES.labels)
    assert grade.codes.tolist() == codes[[0, 2]].tolist() and grade.targets.tolist() == [0, 2] and len(every) == 3
    assert on.targets.tolist() == [1, 0] and on.probabilities[0].tolist() == np.eye(3)[[1, 2]].tolist()
    assert grade.positive(2).tolist() == [False, True] and len(on) == 2
    assert most_probable_codes([np.array([[0.2, 0.8]]), np.array([[0.5, 0.3, 0.2]])]).tolist() == [[1, 0]]


def test_an_error_is_told_by_its_first_line():
    assert _first_line(ValueError("one\ntwo")) == "one" and _first_line(KeyError()) == "KeyError"


# -- rule lists --------------------------------------------------------------------------------------------------------


def test_questions_to_each_kind_of_concept():
    found = [[str(one) for one in questions(concept)] for concept in SPACE.concepts]
    assert found[0] == ["n >= 5", "n < 5", "n >= 9", "n < 9", "n == 5", "n != 5"] and found[1] == ["b", "not b"]
    assert found[2] == [f"s {way} {value!r}" for value in ("x", "y", ABSENT) for way in ("==", "!=")]


def test_a_rule_is_refined_by_the_questions_that_single_out_a_value():
    made = model(least=2, beam=2)
    truth = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 1, 0], [0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1]], dtype=bool)
    targets, left = np.array([1, 1, 0, 2, 0, 0]), np.ones(6, dtype=bool)
    old = _Rule((7,), left, 0.0, -1)
    found = made._refined(old, truth, targets, 3)
    assert [(rule.questions, rule.code) for rule in found] == [((7, 0), 1), ((7, 1), 1)]
    assert [rule.worth for rule in found] == pytest.approx([3 / 6, 3 / 7])
    assert found[1].holds.tolist() == truth[1].tolist()
    alone = model(least=1, beam=8)._refined(old, truth, targets, 3)  # the third asks for one example, the last for all
    assert [rule.questions for rule in alone] == [(7, 0), (7, 2), (7, 1)] and alone[1].worth == pytest.approx(2 / 4)
    part = _Rule((), np.array([1, 1, 0, 1, 0, 0], dtype=bool), 0.0, -1)
    assert [rule.questions for rule in made._refined(part, truth, targets, 3)] == [(0,)]


def test_a_rule_is_grown_only_if_it_beats_the_commonest_value():
    first, second = [1, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0, 0, 1]

    def grown(more, questions=2):
        """Return the rule for two of value 1, and for six and some more of value 0."""
        truth = np.array([first + [0] * more, second + [0] * more], dtype=bool)
        targets = np.array([0, 1, 1] + [0] * (5 + more))
        return model(least=2, beam=2, questions=questions)._grown(truth, targets, np.ones(8 + more, dtype=bool), 2)

    found = grown(1)  # (2 + 1) / 4 against (7 + 1) / 11
    assert sorted(found.questions) == [0, 1] and found.code == 1 and found.worth == pytest.approx(3 / 4)
    assert found.holds.tolist() == [False, True, True] + [False] * 6
    assert grown(2) is None and grown(3) is None  # (8 + 1) / 12 is as good
    assert grown(1, questions=1) is None


def test_a_rule_list_is_written_in_order_and_ends_with_what_is_left():
    codes = [[2, 0, 0]] * 5 + [[1, 0, 0]] * 3 + [[0, 0, 0]] * 2 + [[0, 1, 0]] * 2
    targets = [2] * 5 + [1] * 3 + [0] * 2 + [0] * 2
    found = model().learn_label(GRADE, examples_of(codes, targets))
    assert str(found.formulas[None]) == "9 if n >= 9 else 2 if n != 5 else 5"
    assert found.notes == {"rules": 2} and found.otherwise == 1
    one = model(rules=1).learn_label(GRADE, examples_of(codes, targets))
    assert str(one.formulas[None]) == "9 if n >= 9 else 2" and one.otherwise == 0


# -- trees and columns -------------------------------------------------------------------------------------------------


def test_columns_are_means_values_or_both():
    given = [np.array([[0.5, 0.25, 0.25]]), np.array([[0.3, 0.7]]), np.array([[0.1, 0.2, 0.7]])]
    mean = 2 * 0.5 + 5 * 0.25 + 9 * 0.25
    np.testing.assert_allclose(columns(SPACE, given, "numbers"), [[mean, 0.7, 0.1, 0.2, 0.7]])
    np.testing.assert_allclose(columns(SPACE, given, "values"), [[0.5, 0.25, 0.25, 0.3, 0.7, 0.1, 0.2, 0.7]])
    both = [[mean, 0.5, 0.25, 0.25, 0.7, 0.3, 0.7, 0.1, 0.2, 0.7]]
    np.testing.assert_allclose(columns(SPACE, given, "both"), both)


def test_each_column_has_its_test_in_words():
    s = [(f"s != {value}", f"s == {value}") for value in ("x", "y", ABSENT)]
    n = [(f"n != {value}", f"n == {value}") for value in (2, 5, 9)]
    b = [(f"b != {value}", f"b == {value}") for value in (False, True)]
    number, truth = ("n <= {:g}", "n > {:g}"), ("not b", "b")
    assert column_tests(SPACE, "numbers") == [number, truth, *s]
    assert column_tests(SPACE, "values") == [*n, *b, *s]
    assert column_tests(SPACE, "both") == [number, *n, truth, *b, *s]


PARTS = {
    "left": np.array([1, -1, 3, -1, -1]),
    "right": np.array([2, -1, 4, -1, -1]),
    "feature": np.array([0, -2, 1, -2, -2]),
    "threshold": np.array([3.5, -2, 0.5, -2, -2]),
    "shares": np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0], [0.25, 0.75]]),
    "examples": np.array([18, 10, 8, 4, 4]),
    "classes": np.array([0, 2]),
}


def test_a_tree_is_walked_by_its_thresholds():
    inputs = np.array([[2, 1.0], [3.5, 0], [9, 0.5], [5, 1]])
    assert model("tree").scores(PARTS, inputs).tolist() == PARTS["shares"][[1, 1, 3, 4]].tolist()
    tests = [("n <= {:g}", "n > {:g}"), ("not b", "b")]
    wanted = [(1, ("n <= 3.5",)), (3, ("n > 3.5", "not b")), (4, ("n > 3.5", "b"))]
    assert list(_leaves(PARTS, 0, (), tests)) == wanted


def test_leaves_of_a_tree_are_told_with_most_examples_first(monkeypatch):
    made = model("tree")
    made.parts = {"grade": PARTS, "on": {"classes": np.array([1])}}
    lines = [
        "grade is 2 in 9 of 10 where n <= 3.5",
        "grade is 9 in 4 of 4 where n > 3.5 and not b",
        "grade is 9 in 3 of 4 where n > 3.5 and b",
    ]
    assert made.in_words() == lines and tree_module.MOST_LEAVES == 12
    monkeypatch.setattr(tree_module, "MOST_LEAVES", 2)
    assert made.in_words() == [*lines[:2], "grade: 1 more leaves of fewer examples"]
    made.parts["on"] = {**PARTS, "left": np.array([-1]), "examples": np.array([7]), "classes": np.array([0, 1])}
    assert made.in_words()[-1] == "on is False in 4 of 7 where always"


def test_scales_are_kept_and_values_not_seen_have_probability_0():
    made = model("tree", scaled=True)
    inputs = []
    made.fit_estimator = lambda scaled, targets, seed: inputs.append((scaled, targets.tolist())) or {"told": np.ones(1)}
    codes = np.array([[0, 1, 0], [1, 1, 0], [2, 1, 1], [0, 1, 1]])
    made.learn(Examples(GRADES, codes, one_hot(codes, SPACE), np.array([[0, 1], [-1, 1], [2, 1], [2, 1]])))
    kept = made.parts["grade"]
    plain = np.array([[2, 1, 1, 0, 0], [9, 1, 0, 1, 0], [2, 1, 0, 1, 0]])
    deviation = np.where(plain.std(axis=0) > 0, plain.std(axis=0), 1)
    np.testing.assert_allclose(kept["mean"], plain.mean(axis=0))
    np.testing.assert_allclose(kept["deviation"], deviation)
    np.testing.assert_allclose(inputs[0][0], (plain - plain.mean(axis=0)) / deviation)
    assert inputs[0][1] == [0, 2, 2] and len(inputs) == 1 and "told" not in made.parts["on"]
    assert kept["classes"].tolist() == [0, 2] and sorted(made.arrays()) == sorted(
        ["grade.mean", "grade.deviation", "grade.classes", "grade.told", "on.mean", "on.deviation", "on.classes"]
    )
    made.scores = lambda parts, scaled: np.full((len(scaled), 2), 0.25)
    found = made.label_probabilities(one_hot(codes, SPACE))
    assert found[0].tolist() == [[0.5, 0, 0.5]] * 4 and found[1].tolist() == [[0, 1]] * 4
    other = model("tree")
    other.set_arrays(made.arrays())
    assert {name: sorted(parts) for name, parts in other.parts.items()} == {
        name: sorted(parts) for name, parts in made.parts.items()
    }
    with pytest.raises(ConfigError, match="no example has the label 'on'"):
        made.learn(Examples(GRADES, codes, one_hot(codes, SPACE), np.array([[0, -1]] * 4)))


def test_layers_are_joined_by_relu_and_end_in_a_softmax():
    first, second = np.array([[1.0, -2.0], [0.5, 1.0]]), np.array([[1.0, 0.0, 2.0], [3.0, 1.0, -1.0]])
    parts = {"weight0": first, "bias0": np.array([0.5, -1]), "weight1": second, "bias1": np.array([0.1, 0.2, 0.3])}
    inputs = np.array([[1.0, 2.0], [-3.0, 1.0]])
    wanted = np.exp(np.maximum(inputs @ first + [0.5, -1], 0) @ second + [0.1, 0.2, 0.3])
    np.testing.assert_allclose(layer_probabilities(parts, inputs), wanted / wanted.sum(axis=1, keepdims=True))
    single = layer_probabilities({"weight0": np.array([[2.0], [1.0]]), "bias0": np.array([-1.0])}, inputs)
    np.testing.assert_allclose(single[:, 1], 1 / (1 + np.exp(-(inputs @ [2, 1] - 1))))
    big = layer_probabilities({"weight0": np.eye(2) * 1e4, "bias0": np.zeros(2)}, inputs)
    assert np.isfinite(big).all() and big.argmax(axis=1).tolist() == [1, 1]


# -- programs of other learners ----------------------------------------------------------------------------------------


def test_of_programs_with_as_few_errors_the_last_is_taken(monkeypatch):
    space = bits(["a", "b"])
    truth = {"a": [1, 1, 0, 0], "b": [1, 0, 1, 0], "all": [1, 1, 1, 1]}
    monkeypatch.setattr("assay.models.symbolic.ilp.external.read_clauses", lambda lines, head, bias: [*lines])
    monkeypatch.setattr("assay.models.symbolic.ilp.external.program_formula", lambda clauses: clauses[0])
    monkeypatch.setattr("assay.models.symbolic.ilp.external.evaluate", lambda formula, space, codes: truth[formula])
    bias, examples = SimpleNamespace(space=space), SimpleNamespace(codes=None)

    def best(programs, positive):
        return best_of(programs, "y", bias, examples, np.array(positive, dtype=bool))

    assert best([["a"], ["b"], []], [1, 0, 0, 0]) == ("b",)
    assert best([["b", "b", "a"], ["all"]], [1, 0, 0, 0]) == ("b", "a")
    assert best([["all"]], [1, 0, 0, 0]) == () and best([["all"]], [1, 1, 0, 0]) == ("all",)
    assert best([["a"], ["b"]], [1, 1, 0, 0]) == ("a",) and best([], [1, 1, 0, 0]) == ()
