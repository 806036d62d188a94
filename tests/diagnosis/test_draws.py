"""What is drawn is the same in every run and on every machine, since published numbers depend on it."""

import numpy as np
import pytest

from assay.concepts import digits
from assay.diagnosis.information import Blur
from assay.diagnosis.interventions.manipulation import toggle_concepts
from assay.diagnosis.interventions.policies import Random
from assay.diagnosis.interventions.sources import draw_expert_answers, even_confusion
from assay.diagnosis.interventions.units import Budget
from assay.diagnosis.maps import halves_of
from assay.diagnosis.rule_relation import SAMPLED, _worlds, worlds_of
from assay.logic.knowledge import Constraint, Knowledge
from assay.logic.parse import parse
from tests.diagnosis.test_policies import model, state

FREE = Knowledge.of(digits(["a", "b"]), {"y": "a > b"})
LIMITED = Knowledge.of(digits(["a", "b"]), {"y": "a > b"}, [Constraint("less", parse("a + b < 9"))])


def test_halves_of_examples():
    assert halves_of(16).tolist() == [0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1]


def test_worlds_that_rules_are_compared_on():
    assert _worlds(FREE)[:4].tolist() == [[0, 7], [3, 6], [8, 0], [8, 0]]
    assert _worlds(LIMITED)[:4].tolist() == [[5, 0], [0, 4], [0, 4], [5, 3]]
    assert len(_worlds(FREE)) == len(_worlds(LIMITED)) == SAMPLED == 200_000
    assert (_worlds(LIMITED).sum(axis=1) < 9).all() and len(np.unique(_worlds(LIMITED), axis=0)) == 45
    few = worlds_of(LIMITED, 100)
    assert (
        few.exact
        and len(few.codes) == 45
        and not worlds_of(LIMITED, 99).exact
        and len(worlds_of(LIMITED, 99).codes) == 99
    )


def test_other_values_and_the_answers_of_experts():
    assert toggle_concepts(np.zeros((6, 2), dtype=int), (4, 5), 3).T.tolist() == [
        [1, 3, 3, 2, 2, 3],
        [3, 4, 4, 3, 4, 3],
    ]
    said = draw_expert_answers(np.zeros((12, 2), dtype=int), [even_confusion(3, 0.5)] * 2, 1, "test")
    assert said.T.tolist() == [[1, 0, 2, 0, 0, 2, 0, 0, 0, 0, 2, 2], [2, 0, 1, 0, 0, 0, 0, 1, 2, 1, 2, 0]]


def test_noise_and_random_questions():
    assert Blur(2, 1.0)(np.zeros(4), "x") == pytest.approx([0.4027, 0.2012, -0.1013, 0.1382], abs=1e-4)
    asked = Random().ask(state(model(*[[0.5] * 3] * 6)), Budget(1)).units
    assert asked.argmax(axis=1).tolist() == [0, 0, 0, 2, 0, 2]
