"""The kept cases of the zoo of trained models: what their headers say of them can be counted again from their arrays."""

import numpy as np
import pytest
from benchmarks.trained.kept import UNIT, kept_cases, packed, read_case
from benchmarks.trained.measures import facts_of
from benchmarks.trained.words import WORDS, expectation

CASES = kept_cases()
LATER = {"ceiling", "next_iid", "next_ood", "next_interventions", "next_pairs"}
"""What was measured on data that are not kept."""


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_facts_are_those_of_the_arrays(path):
    case = read_case(path)
    known = dict(case.header["facts"])
    assert set(known) >= LATER
    assert facts_of(case) == {name: fact for name, fact in known.items() if name not in LATER}


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_expectations_follow_from_the_facts(path):
    header = read_case(path).header
    setup = header["setup"]
    other = bool(header["other_pictures"])
    expected = expectation(setup["intended"], setup.get("rule", True), other, header["facts"])
    assert {name: header[name] for name in expected} == expected
    assert header["accept"] and set(header["required"]) <= set(header["accept"])
    assert not set(header["accept"]) & set(header["forbidden"])
    assert set(header["accept"]) <= {*WORDS, "too few"}


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_evidence_can_be_judged(path):
    case = read_case(path)
    for evidence in case.evidence.values():
        assert len(evidence.labels) == len(evidence.predicted_labels) == len(evidence.concepts)
        for codes, parts in (
            (evidence.predicted_labels, evidence.label_probabilities),
            (evidence.predicted_concepts, evidence.concept_probabilities),
        ):
            for column, part in zip(codes.T, parts, strict=True):
                if part is not None:
                    assert (part.argmax(axis=1) == column).all() and np.allclose(part.sum(axis=1), 1)
    assert case.training.shape[1] == len(case.knowledge.space)


def test_the_zoo_has_both_halves_of_every_kind():
    headers = [read_case(path).header for path in CASES]
    assert len(headers) >= 66 and len({header["family"] for header in headers}) >= 8
    for half in ("choosing", "held"):
        assert sum(header["half"] == half for header in headers) >= 30
    words = [{word for h in headers if h["half"] == half for word in h["accept"]} for half in ("choosing", "held")]
    assert words[0] == words[1]


def test_probabilities_are_kept_to_a_ten_thousandth():
    shares = np.random.default_rng(0).dirichlet(np.ones(4), size=50)
    kept = packed([shares])
    assert kept is not None and np.abs(kept / UNIT - shares[:, :-1]).max() <= 2.5 / UNIT
