"""Other concepts for the same pictures: which there are, how codes are translated, and what labels become."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, EncoderGroup, bits
from assay.data import Annotation, concept_sets
from assay.data.annotator import ONE_HOT
from assay.data.concept_sets import ConceptSet, draw_luck, label_from, machine_knowledge
from assay.errors import AssayError, ConfigError
from assay.logic import Constraint, Knowledge, Odds, evaluate, parse
from assay.render import Box, Layout

SPACE = ConceptSpace(
    (Concept("a", (False, True)), Concept("n", ("x", "y", "z")), Concept("m", ("x", "y", "z")), Concept("k", (0, 1))),
    encoders=(EncoderGroup("letters", ("n", "m")), EncoderGroup("a", ("a",)), EncoderGroup("k", ("k",))),
)
OLD = Knowledge.of(
    SPACE, {"kept": "a and k == 1", "other": "n == 'x' or a"},
    (Constraint("first", parse("a or k == 0"), ("t",)), Constraint("second", parse("n != m"))),
    odds={"kept": Odds(parse("3 * k - 1"), 0.5)},
)  # fmt: skip


def concept_set(**asked):
    return ConceptSet.of(OLD, Annotation(**asked))


def test_concepts_are_dropped_and_refined():
    chosen = concept_set(drop=["k"], refine={"n": ["z", "x"], "m": ["x", "z"]})
    assert [view.concept.name for view in chosen.views] == ["a", "n_is_z", "n_is_x", "m_is_x", "m_is_z"]
    assert chosen.unchanged == {"a"}
    codes = np.array([[1, 0, 2, 0], [0, 2, -1, 1], [-1, 1, 1, 0]])
    assert chosen.translate(codes).tolist() == [[1, 0, 1, 0, 1], [0, 1, 0, -1, -1], [-1, 0, 0, 0, 0]]
    groups = {group.name: group.concepts for group in chosen.space.encoders}
    assert groups == {"letters_is_z": ("n_is_z", "m_is_z"), "letters_is_x": ("n_is_x", "m_is_x"), "a": ("a",)}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"drop": ["n"], "refine": {"n": ["x"]}}, "concept 'n' cannot be both dropped and refined"),
        ({"drop": ["a", "n", "m", "k"]}, "drop: no concept is left"),
        ({"drop": ["q"]}, "no concept"),
        ({"refine": {"n": ["x", "x"]}}, "refine: give distinct values of 'n': x, y, z"),
        ({"refine": {"n": []}}, "refine: give distinct values of 'n'"),
    ],
)
def test_what_cannot_be_is_refused(asked, why):
    with pytest.raises(AssayError, match=why):
        concept_set(**asked)


def test_constraints_of_kept_concepts_stay_and_subtypes_exclude_one_another():
    found = concept_set(refine={"n": ["x", "z"], "m": ["x", "y", "z"]}).constraints
    assert [(c.name, c.tags) for c in found] == [("first", ("t",)), ("one_n", (ONE_HOT,)), ("one_m", (ONE_HOT,))]
    space = bits(["n_is_x", "n_is_z", "m_is_x", "m_is_y", "m_is_z"])
    some = np.array([[0, 0, 0, 0, 0], [1, 0, 0, 1, 0], [1, 1, 1, 0, 1]])
    assert evaluate(found[1].formula, space, some).tolist() == [True, True, False]
    assert evaluate(found[2].formula, space, some).tolist() == [False, True, False]
    assert [c.name for c in concept_set(refine={"n": ["x"]}).constraints] == ["first"]
    assert [c.name for c in concept_set(drop=["k"]).constraints] == ["second"]


def test_labels_of_kept_concepts_keep_their_rule():
    chosen = concept_set(drop=["m"], refine={"n": ["x"]})
    codes = SPACE.all_codes()
    labels = OLD.labels_of(codes)
    new = chosen.knowledge(chosen.translate(codes), labels)
    assert str(new.labels[0].formula) == str(OLD.labels[0].formula) and new.labels[0].odds.scale == 0.5
    assert (new.labels_of(chosen.translate(codes))[:, 1] == labels[:, 1]).all() and new.labels[1].odds is None
    with pytest.raises(ConfigError, match="the concepts that are left have no part in the rule of label 'other'"):
        lost = ConceptSet.of(Knowledge.of(SPACE, {"other": "n == 'x'"}), Annotation(drop=["n"]))
        lost.knowledge(lost.translate(codes), labels[:, 1:])


def test_layouts_show_new_concepts_where_the_old_ones_were():
    old = Layout(20, 10, 3, {"n": Box(0, 0, 5, 5), "a": Box(5, 0, 9, 9), "m": Box(1, 1, 2, 2), "fine": Box(2, 2, 3, 3)})
    chosen = concept_set(drop=["m"], refine={"n": ["x", "y"]})
    made = chosen.layout(old, True)
    assert made.regions == {
        "n_is_x": Box(0, 0, 5, 5),
        "n_is_y": Box(0, 0, 5, 5),
        "a": Box(5, 0, 9, 9),
        "fine": Box(2, 2, 3, 3),
    }
    assert (made.width, made.height, made.channels) == (20, 10, 3) and chosen.layout(old, False).regions == {}


TWO = bits(["p", "q"])
YES = Knowledge.of(TWO, {"y": "p"}).labels[0]


def test_a_certain_label_becomes_a_list_of_combinations():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
    for labels in ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0], [0, 1, 1, 0, 0]):
        label = label_from(TWO, [0, 1], codes, np.array(labels), YES)
        assert label.odds is None and evaluate(label.formula, TWO, codes).tolist() == [bool(code) for code in labels]
    assert str(label_from(TWO, [0, 1], codes, np.array([0, 0, 0, 1, 1]), YES).formula).count("True") <= 2
    assert str(label_from(TWO, [0, 1], codes, np.array([1, 1, 1, 0, 0]), YES).formula).startswith("not ")
    with pytest.raises(ConfigError, match="label 'y' is always True in these rows: nothing to learn"):
        label_from(TWO, [0, 1], codes, np.ones(5, dtype=int), YES)


def test_labels_of_several_values():
    three = Knowledge.of(TWO, {"n": "p + q + 4"}).labels[0]
    assert three.values == (4, 5, 6)
    codes = TWO.all_codes()
    label = label_from(TWO, [0, 1], codes, np.array([2, 0, 0, 1]), three)
    assert evaluate(label.formula, TWO, codes).tolist() == [6, 4, 4, 5]
    twice = np.concatenate([codes, codes])
    with pytest.raises(ConfigError, match="label 'n' does not follow from the concepts p, q, and only true-or-false"):
        label_from(TWO, [0, 1], twice, np.array([2, 0, 0, 1, 1, 0, 0, 1]), three)


def test_uncertain_labels_have_odds():
    codes = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 4, axis=0)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    label = label_from(TWO, [0, 1], codes, labels, YES)
    each = TWO.all_codes()
    assert label.odds.scale == 1 / 64
    third = round(np.log(3) * 64)
    assert evaluate(label.odds.score, TWO, each).tolist() == [-third, third, 0, 40 * 64]
    assert evaluate(label.formula, TWO, each).tolist() == [False, True, False, True]


def test_many_combinations_are_fitted_by_weights(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr(concept_sets, "MOST_PATTERNS", 3)
    codes = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 20, axis=0)
    labels = np.concatenate([[0] * 18 + [1] * 2, [0] * 12 + [1] * 8, [0] * 6 + [1] * 14, [0] * 2 + [1] * 18])
    label = label_from(TWO, [0, 1], codes, labels, YES)
    scores = evaluate(label.odds.score, TWO, TWO.all_codes()) / 64
    assert label.odds.scale == 1 / 64 and (np.diff(scores) > 0).all() and scores[0] < -1 < 1 < scores[3]
    assert scores[1] - scores[0] == pytest.approx(scores[3] - scores[2])  # a sum of weights
    assert evaluate(label.formula, TWO, TWO.all_codes()).tolist() == [s > 0 for s in scores]
    certain = np.array([0] * 60 + [1] * 20)  # `both` is one combination that occurs again and again
    assert label_from(TWO, [0, 1], codes, certain, YES).odds is None


def test_few_combinations_of_one_kind(monkeypatch):
    monkeypatch.setattr(concept_sets, "MOST_PATTERNS", 2)
    few = concept_sets._few_of_one_kind
    assert few(np.array([[4.0, 0], [4, 0], [0, 1], [0, 1], [0, 1]]))
    assert not few(np.array([[4.0, 0], [3, 0], [0, 1], [0, 1], [0, 1]]))
    assert not few(np.array([[4.0, 0], [4, 0], [4, 0], [0, 1], [0, 1], [0, 1]]))
    assert not few(np.array([[4.0, 0, 0], [4, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]))


def test_rows_are_told_by_the_shorter_list():
    names = tuple(parse(name) for name in "pq")
    rows = [(False, False), (False, True), (True, False), (True, True)]
    assert str(concept_sets._one_of(names, rows, np.array([True] * 4))) == "True"
    assert str(concept_sets._one_of(names, rows, np.array([False] * 4))) == "False"
    for holds in ([1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]):
        formula = concept_sets._one_of(names, rows, np.array(holds, dtype=bool))
        assert str(formula).startswith("not ") == (sum(holds) > 2)
        assert evaluate(formula, TWO, TWO.all_codes()).tolist() == [bool(here) for here in holds]


def test_weights_are_of_values_but_the_first():
    concepts = [Concept("a", (False, True)), Concept("n", ("x", "y", "z"))]
    assert [str(concept_sets._says(concepts[0], 1)), str(concept_sets._says(concepts[1], 2))] == ["a", "n == 'z'"]
    assert concept_sets._log_odds(np.array([0.0, 0.5, 0.75, 1.0])).tolist() == pytest.approx([-40, 0, np.log(3), 40])


def test_a_machine_makes_up_true_or_false_concepts():
    codes = TWO.all_codes()
    made = machine_knowledge(
        ["u", "v"], Knowledge.of(TWO, {"y": "p != q", "z": "q"}), codes, np.array([[0, 0], [1, 1], [1, 0], [0, 1]])
    )
    assert made.space.names == ("u", "v") and made.label_names == ("y", "z")
    assert made.labels_of(codes).tolist() == [[0, 0], [1, 1], [1, 0], [0, 1]]


def test_luck_is_below_the_chance_where_the_label_is_true():
    luck = draw_luck(
        np.array([0.5, 0.5, 0.2, 1.0, 0.0]), np.array([1, 0, 1, 1, 0]), np.array([0.5, 0.25, 1.0, 1.0, 0.0])
    )
    assert luck[:2].tolist() == [0.25, 0.625] and luck[2] < 0.2 and luck[3] < 1.0 and luck[4] == 0.0
    assert luck[2] == pytest.approx(0.2)
