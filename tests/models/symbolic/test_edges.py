"""Learners on concepts at their edges: formulas of uncertain concepts, columns, trees, and examples with gaps."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, bits
from assay.logic import Knowledge, parse
from assay.models.symbolic.base import FEWEST_WHOLE, SymbolicModel
from assay.models.symbolic.baseline import _no_scale, _scale, _scaled, columns, layer_probabilities
from assay.models.symbolic.examples import Examples, most_probable_codes
from assay.models.symbolic.formulas import LabelRule
from assay.models.symbolic.perception import _fill_gaps, _value_probabilities, one_hot
from assay.models.symbolic.perception_settings import perception_of, perception_seen_from
from assay.models.symbolic.tree import column_tests
from assay.predictions import Answer

NAN = float("nan")
COLOUR = Concept("c", ("red", "blue"))
SPOT = Concept("s", ("x", ABSENT))
AB = bits(["a", "b"])
BOTH = Knowledge.of(AB, {"y": "a and b"})


def test_gaps_are_absent_or_all_alike():
    found = one_hot(np.array([[1, -1], [-1, 0]]), ConceptSpace((COLOUR, SPOT)))
    assert found[0].tolist() == [[0, 1], [0.5, 0.5]] and found[1].tolist() == [[0, 1], [1, 0]]
    whole = np.array([[0.25, 0.75]])
    assert _fill_gaps(whole, COLOUR) is whole
    filled = _fill_gaps(np.array([[0.25, 0.75], [NAN, 1.0], [NAN, NAN]]), SPOT)
    assert filled.tolist() == [[0.25, 0.75], [0, 1], [0, 1]]
    rows = np.array([1, 0, 1])
    assert _value_probabilities(None, COLOUR, rows).tolist() == [[0.5, 0.5]] * 3
    hard, soft = Answer(np.array([0, 1])), Answer.of(np.array([[0.75, 0.25], [0.5, 0.5]]))
    assert _value_probabilities(hard, COLOUR, rows).tolist() == [[0, 1], [1, 0], [0, 1]]
    assert _value_probabilities(soft, COLOUR, rows).tolist() == [[0.5, 0.5], [0.75, 0.25], [0.5, 0.5]]


def test_what_lies_nowhere_is_not_seen_from_a_run(tmp_path):
    about = {"reader": "vlm"}
    source = SimpleNamespace(about=lambda: about, folder=None)
    assert perception_seen_from(source, tmp_path) is about
    source.folder = tmp_path / "deep" / "weights"
    assert perception_seen_from(source, tmp_path / "run") == {"reader": "vlm", "from_run": "../deep/weights"}
    source.about = lambda: None
    assert perception_seen_from(source, tmp_path) is None
    assert perception_of(None).about() is None and perception_of(None, {"model": "x"}).folder is None


def test_one_uncertain_row_is_weighed_by_its_chances():
    rule = LabelRule(AB, BOTH.labels[0], {1: parse("a and b")})
    sure, unsure = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.25, 0.75]])
    np.testing.assert_allclose(rule([sure, unsure]), [[0, 1], [0.25, 0.75]])
    np.testing.assert_allclose(rule([unsure, sure]), [[0, 1], [0.25, 0.75]])
    np.testing.assert_allclose(rule([unsure, unsure]), [[0, 1], [0.4375, 0.5625]])
    assert rule([sure, sure]).tolist() == [[0, 1], [0, 1]]


def test_the_first_formula_that_holds_counts_and_else_the_rest():
    many = Knowledge.of(AB, {"n": "a + b"}).labels[0]
    rule = LabelRule(AB, many, {2: parse("a"), 0: parse("b")}, otherwise=1)
    worlds = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert rule.codes_of(worlds).tolist() == [1, 0, 2, 2]
    half = [np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]])]
    np.testing.assert_allclose(rule(half), [[0.375, 0.125, 0.5]])
    assert LabelRule(AB, many, {}, otherwise=2).codes_of(worlds).tolist() == [2] * 4
    own = LabelRule(AB, many, {None: parse("a + b")})
    assert own.codes_of(worlds).tolist() == [0, 1, 1, 2]
    np.testing.assert_allclose(own(half), [[0.125, 0.5, 0.375]])


def test_columns_of_numbers_values_or_both():
    space = ConceptSpace((Concept("n", (2, 5, 9)), COLOUR))
    given = [np.array([[0.5, 0.25, 0.25]]), np.array([[0.1, 0.9]])]
    assert columns(space, given, "numbers").tolist() == [[4.5, 0.1, 0.9]]
    assert columns(space, given, "values").tolist() == [[0.5, 0.25, 0.25, 0.1, 0.9]]
    assert columns(space, given, "both").tolist() == [[4.5, 0.5, 0.25, 0.25, 0.1, 0.9]]
    for encoding in ("numbers", "values", "both"):
        assert len(column_tests(space, encoding)) == columns(space, given, encoding).shape[1]
    assert column_tests(space, "numbers")[0] == ("n <= {:g}", "n > {:g}")
    inputs = np.array([[1.0, 3.0], [5.0, 3.0]])
    np.testing.assert_allclose(_scaled(inputs, _scale(inputs)), [[-1, 0], [1, 0]])
    np.testing.assert_allclose(_scaled(inputs, _no_scale(inputs)), inputs)


def test_layers_are_rectified_but_for_the_last():
    parts = {"weight0": np.array([[1.0, -1.0]]), "bias0": np.array([0.5, 0.0]),
             "weight1": np.array([[1.0], [1.0]]), "bias1": np.array([-2.0])}  # fmt: skip
    found = layer_probabilities(parts, np.array([[1.0], [-3.0]]))
    chance = 1 / (1 + np.exp(-np.array([-0.5, 1.0])))
    np.testing.assert_allclose(found, np.stack([1 - chance, chance], axis=1))
    huge = layer_probabilities({"weight0": np.eye(2), "bias0": np.zeros(2)}, np.array([[900.0, 0.0]]))
    np.testing.assert_allclose(huge, [[1, 0]], atol=1e-12)


def test_examples_of_a_label_are_those_that_are_annotated():
    two = Knowledge.of(AB, {"y": "a", "z": "b"})
    codes = np.array([[0, 1], [1, 0], [1, 1]])
    given = Examples(two, codes, one_hot(codes, AB), np.array([[-1, 1], [1, -1], [0, 0]]))
    found = given.of_label(two.labels[1])
    assert (len(given), len(found)) == (3, 2) and found.targets.tolist() == [1, 0]
    assert found.codes.tolist() == [[0, 1], [1, 1]] and found.probabilities[0].tolist() == [[1, 0], [0, 1]]
    assert found.positive(1).tolist() == [True, False]
    assert most_probable_codes([np.array([[0.5, 0.5], [0.2, 0.8]]), np.eye(2)]).tolist() == [[0, 0], [1, 1]]


class Split(SimpleNamespace):
    """Examples of which some can be taken."""

    def __len__(self):
        return len(self.given_concepts)

    def take(self, rows):
        return Split(given_concepts=self.given_concepts[rows], given_labels=self.given_labels[rows])


@pytest.mark.parametrize(("perception", "source"), [(None, "truth"), (None, "perception"), ("p", "truth"), ("p", "p")])
def test_gaps_are_not_learned_from_where_enough_is_whole(perception, source):
    def learned(whole):
        concepts = np.array([[1, 0]] * whole + [[1, -1]] * 2)
        data = Split(given_concepts=concepts, given_labels=np.zeros((len(concepts), 1), int))
        said = SimpleNamespace(probabilities=lambda data: [np.tile([1.0, 0.0], (len(data), 1))] * 2)
        config = SimpleNamespace(perception=perception, learn_from=source)
        model = SimpleNamespace(config=config, space=AB, knowledge=BOTH, perception=said)
        return SymbolicModel.examples(model, data)

    true = perception is None or source == "truth"
    enough, few = learned(FEWEST_WHOLE), learned(FEWEST_WHOLE - 1)
    assert len(enough) == FEWEST_WHOLE + (0 if true else 2) and len(few) == FEWEST_WHOLE + 1
    assert enough.codes[0].tolist() == ([1, 0] if true else [0, 0])
