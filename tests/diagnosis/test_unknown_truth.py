"""Where the truth of a concept is not known, or a concept has one value, nothing is made up about it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.contracts import BottleneckModel
from assay.diagnosis import Units, answers_from, rule_head, violations_of
from assay.diagnosis.interventions.manipulation import toggle_concepts
from assay.diagnosis.interventions.policies import ValidationRanking
from assay.diagnosis.interventions.sources import draw_expert_answers, even_confusion
from assay.logic import Constraint, Knowledge, parse
from assay.metrics import Between, Evidence

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("one", ("only",)), Concept("n", (0, 1, 2))))
RULE = Knowledge.of(SPACE, {"y": "a", "z": "n == 2"})
TRUTH = np.array([[1, 0, 2], [-1, 0, 0], [0, 0, -1], [1, 0, 1]])


def model(*codes):
    columns = np.array(codes).T
    spread = [0.8 * np.eye(size)[column] + 0.2 / size for column, size in zip(columns, SPACE.sizes, strict=True)]
    return BottleneckModel("toy", spread, rule_head(RULE))


def test_experts_say_nothing_of_what_is_not_known():
    confusions = [even_confusion(size, 0.0) for size in SPACE.sizes]
    said = draw_expert_answers(TRUTH, confusions, 3, "test")
    assert said[:, 0].tolist() == [0, -1, 1, 0] and said[:, 1].tolist() == [0] * 4 and said[2, 2] == -1
    assert all(
        code != true and 0 <= code < 3 for code, true in zip(said[[0, 1, 3], 2], TRUTH[[0, 1, 3], 2], strict=True)
    )
    data = SimpleNamespace(knowledge=RULE, concepts=TRUTH, name="test")
    answers = answers_from("expert:1", data, None)
    gaps = [np.isnan(p).all(axis=1).tolist() for p in answers]
    assert gaps == [[False, True, False, False], [False] * 4, [False, False, True, False]]
    assert [np.nan_to_num(p).argmax(axis=1)[[0, 3]].tolist() for p in answers] == [[1, 1], [0, 0], [2, 1]]


@pytest.mark.parametrize("accuracy", [0.0, 0.3, 1.0])
def test_a_concept_of_one_value_cannot_be_mistaken_or_changed(accuracy):
    assert even_confusion(1, accuracy).tolist() == [[1.0]]
    assert even_confusion(2, accuracy).tolist() == [[accuracy, 1 - accuracy], [1 - accuracy, accuracy]]
    other = toggle_concepts(TRUTH[[0, 3]], SPACE.sizes, 5)
    assert other[:, 0].tolist() == [0, 0] and other[:, 1].tolist() == [-1, -1]
    assert (other[:, 2] != TRUTH[[0, 3], 2]).all() and (other[:, 2] >= 0).all()


def test_units_are_ranked_by_the_answers_that_there_are():
    """n is misread in the first example and known in it; a is misread in the last two, and known in neither."""
    made = model([1, 0, 0], [0, 0, 2], [1, 0, 1], [1, 0, 1])
    truth = np.array([[1, 0, 2], [0, 0, 2], [-1, 0, 1], [-1, 0, 1]])
    labels = np.array([[1, 1], [0, 1], [0, 0], [0, 0]])
    ranking = ValidationRanking(made, truth, labels)
    told = [ranking._quality({place: codes}) for place, codes in
            ((0, np.where(truth[:, [0]] < 0, np.nan, np.eye(2)[truth[:, 0]])), (2, np.eye(3)[truth[:, 2]]))]  # fmt: skip
    assert told[1] > told[0] and ranking.order(Units.of(SPACE)) == (2, 0, 1)


def test_whole_matches_are_counted_where_all_truth_is_known():
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"y": "a"}, [Constraint("no_a_at_two", parse("not (a and n == 2)"))])
    truth = np.array([[1, 0], [0, 2], [1, -1], [-1, 1], [0, 1]])
    said = np.array([[1, 0], [1, 2], [1, 1], [0, 1], [0, 1]])
    evidence = Evidence(knowledge, "test", said[:, :1], truth, said[:, :1], said, (None,), (None, None))
    found = violations_of(evidence)
    assert found.model.exact_match == pytest.approx(2 / 3) and found.model.contradiction_rate == Between(0.2, 0.2)
    assert found.guesser.exact_match == pytest.approx(1 / 6)  # one world of six, whichever is true
    blind = violations_of(replace(evidence, concepts=np.full_like(truth, -1)))
    assert np.isnan([blind.model.exact_match, blind.guesser.exact_match]).all()
