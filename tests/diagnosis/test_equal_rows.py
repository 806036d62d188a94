"""A diagnosis of many equal rows says what the same diagnosis says row by row."""

from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import bits
from assay.diagnosis.comparisons import new_worlds, region_scores
from assay.diagnosis.concepts import decided_examples
from assay.diagnosis.maps import explained_by_sources, halves_of
from assay.diagnosis.verdict import diagnose
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for
from tests.predictors import random_codes, random_evidence

ROWS = 2000
LOGIC = Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b, c)", "z": "a and b"})


def model(kind: str) -> Evidence:
    """Return the evidence of a model of this kind."""
    held, rng = random_evidence(LOGIC, ROWS, "equal rows"), rng_for(0, "model", kind)
    truth = held.concepts
    said, share = truth.copy(), 0.3 if kind in ("noisy", "together") else 0.02
    wrong = rng.random((ROWS, 1)) < share if kind == "together" else rng.random(said.shape) < share
    said = (
        np.where(wrong & (np.arange(3) < 2), 1 - said, said) if kind == "together" else np.where(wrong, 1 - said, said)
    )
    if kind == "gaps":
        truth = np.where(rng.random(truth.shape) < 0.1, -1, truth)
    labels = LOGIC.labels_of(held.concepts)
    return replace(held, concepts=truth, labels=labels, predicted_concepts=said, predicted_labels=LOGIC.labels_of(said))


def row_by_row(held: Evidence) -> Evidence:
    """Return the evidence as if no two rows were equal."""
    rows = replace(held)
    rows.__dict__["distinct"] = rows
    return rows


@pytest.mark.parametrize("kind", ["right", "noisy", "together", "gaps"])
def test_a_diagnosis_is_that_of_the_rows(kind: str) -> None:
    held, training = model(kind), random_codes(5, (2, 2, 2), "training")
    assert len(held.distinct) < 200
    found, expected = (diagnose({"test": rows}, training) for rows in (held, row_by_row(held)))
    assert found.text == expected.text and found.kinds == expected.kinds
    assert found.concepts == expected.concepts and found.regions == expected.regions
    for name, score in found.scores["test"].items():
        other = expected.scores["test"][name]
        numbers = [(x.value, x.low, x.high) for x in (score, other)]
        assert numbers[0] == pytest.approx(numbers[1], abs=1e-12, nan_ok=True)


def test_parts_of_a_diagnosis_are_those_of_the_rows() -> None:
    held = model("right")
    flips = np.any([boundary.flips(held.concepts) for boundary in LOGIC.boundaries], axis=0)
    assert (decided_examples(held) == flips.sum(axis=0)).all()
    training = random_codes(3, (2, 2, 2), "few")
    known = {tuple(world) for world in training.tolist()}
    new = new_worlds(held, training)
    assert new is not None and new.tolist() == [tuple(world) not in known for world in held.concepts.tolist()]
    assert all(entry.examples <= ROWS for entry in region_scores(held))


def test_what_other_concepts_explain_is_the_same_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    held = model("noisy")
    parts = held.concepts, held.predicted_concepts, (2, 2, 2), halves_of(ROWS)
    whole = explained_by_sources(*parts)
    monkeypatch.setattr("assay.diagnosis.maps.AT_ONCE", 97)
    assert (explained_by_sources(*parts) == whole).all()
