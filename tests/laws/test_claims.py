"""No sentence of a diagnosis is false: each is counted again, by code that shares none with the checks."""

import numpy as np
import pytest
from benchmarks.claims.checking import check
from benchmarks.claims.diagnosing import random_ones
from benchmarks.claims.told import Told

from tests.diagnosis.models import CLEAR, clear_case


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_no_sentence_about_a_random_model_is_false(start: int) -> None:
    """`python -m benchmarks.claims` takes 300 of them, and the zoo of trained models."""
    sentences = 0
    for told in random_ones(start, 10):
        count, false = check(told)
        assert [str(problem) for problem in false] == []
        sentences += count
    assert sentences > 60  # they are known to what counts them


COUNTED = [key for key in CLEAR if key[0] != "spurious" and key not in (("boundary", "follows"), ("boundary", "stays"))]
"""What is said of nuisances and of pairs is given with these models, so that it cannot be counted again."""


@pytest.mark.parametrize(("word", "claim"), COUNTED, ids=[f"{word}: {claim}" for word, claim in COUNTED])
def test_no_sentence_about_a_clear_case_is_false(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    width = len(next(iter(model.splits.values())).knowledge.space)
    training = np.zeros((0, width), dtype=np.int64) if model.training is None else model.training
    told = Told(f"{word}: {claim}", model.splits, training, model.diagnosed(6))
    assert [str(problem) for problem in check(told)[1]] == []
