"""Laws of every diagnosis, of models of which each claim is clearly true and of models drawn at random."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from assay.base import rng_for
from assay.diagnosis import Diagnosis, headline, kinds_in_order
from assay.logic import Concept, ConceptSpace, Knowledge, Label, parse
from assay.metrics import Evidence
from tests.diagnosis.models import CLEAR, Model, certain, clear_case, on_test, rule, some, turned, worlds
from tests.laws.random_models import random_model

CAUSES = ("table", "rule", "perception", "both", "unsure", "unknown")

WORDS = list(dict.fromkeys(word for word, _ in CLEAR))
every_claim = pytest.mark.parametrize(("word", "claim"), CLEAR, ids=[f"{word}: {claim}" for word, claim in CLEAR])
SEEDS = range(60)


def keep_the_laws(model: Model, found: Diagnosis) -> None:
    """Assert what holds of every diagnosis."""
    assert found.findings and set(found.kinds) <= set(kinds_in_order()) and len(found.kinds) == len(found.findings)
    assert found.sentences[0] == f"Verdict: {found.verdict}. {found.meaning}"
    assert len(found.reasons) <= 2 and len(found.sentences) <= 5
    assert all(
        text.endswith(".") and "{" not in text and "  " not in text for text in (*found.sentences, *found.details)
    )
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (plain["verdict"], plain["diagnosis"]) == (found.verdict, 2) and len(plain["findings"]) == len(
        found.findings
    )
    line = headline(found)
    assert line.verdict == found.verdict and line.why and json.dumps(line.to_dict(), allow_nan=False)
    assert found.verdict in repr(found) and found.verdict in found._repr_html_()
    for split, evidence in model.splits.items():
        counts = found.errors[split].to_dict()
        assert sum(counts[cause] for cause in CAUSES) == counts["wrong"] <= counts["labels"] == evidence.labels.size
        if not evidence.knowledge.stochastic:
            assert counts["wrong"] == (evidence.labels != evidence.predicted_labels).sum()
        assert [state.concept for state in found.concepts[split]] == list(evidence.knowledge.space.names)
        assert [state.label for state in found.labels[split]] == list(evidence.knowledge.label_names)
    wrong = sum(errors.wrong for errors in found.errors.values())
    assert all(0 <= finding.wrong_labels <= wrong for finding in found.findings)
    assert {row.split for row in found.table if row.what in ("concept", "label")} == set(model.splits)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_model_is_diagnosed(seed: int) -> None:
    model = random_model(seed)
    keep_the_laws(model, model.diagnosed())


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_a_random_model_is_diagnosed_with_certainty(seed: int) -> None:
    model = random_model(seed)
    found = model.diagnosed(5)
    keep_the_laws(model, found)
    assert found.kinds == model.diagnosed().kinds  # resamples do not change the word
    shares = [count / found.certainty.resamples for count in found.certainty.words.values()]
    assert sum(shares) == pytest.approx(1) and 0 <= found.certainty.share <= 1


@every_claim
def test_a_clear_case_is_diagnosed(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    found = model.diagnosed()
    keep_the_laws(model, found)
    assert found.to_dict() == model.diagnosed().to_dict()  # the same each time


@pytest.mark.parametrize("word", WORDS)
def test_of_a_clear_case_the_word_is_certain(word: str) -> None:
    certainty = clear_case(word).diagnosed(20).certainty
    assert certainty.share >= 0.8 and sum(certainty.words.values()) == certainty.resamples == 20
    assert certainty.word == word == max(certainty.words, key=lambda other: certainty.words[other])


def test_where_a_few_examples_more_would_change_the_word_it_is_not_certain() -> None:
    """Labels are wrong in 17 of 150 examples, next to the number that is clearly too often."""
    rng, knowledge = rng_for(0, "not certain"), rule("(a and b) or (c and d)", "abcdefgh")
    test = worlds(knowledge.space, 150, rng)
    wrong = turned(knowledge.labels_of(test), some(150, 0.115, rng))
    certainty = on_test(knowledge, test, predicted=wrong, training=test).diagnosed(40).certainty
    assert certainty.share < 0.9 and len(certainty.words) > 1 and "others: " in certainty.text


# -- what must not matter ----------------------------------------------------------------------------------------------


def words_of(model: Model, splits: dict[str, Evidence]) -> tuple[str, ...]:
    return replace(model, splits=splits).diagnosed().kinds


@every_claim
def test_the_order_of_examples_does_not_matter(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    for seed in range(2):
        rng = rng_for(seed, "order", word, claim)
        mixed = {name: rows.take(rng.permutation(len(rows))) for name, rows in model.splits.items()}
        assert words_of(model, mixed) == model.diagnosed().kinds


@every_claim
def test_equal_examples_may_be_put_together_and_counted(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    if any(p is not None for rows in model.splits.values() for p in rows.concept_probabilities):
        return  # what is put together has no probabilities
    counted = {name: rows.distinct for name, rows in model.splits.items()}
    assert words_of(model, counted) == model.diagnosed().kinds


def renamed(knowledge: Knowledge) -> Knowledge:
    """Return the same with other names of concepts, which sort the other way round."""
    names = {name: f"z{99 - place}" for place, name in enumerate(knowledge.space.names)}
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    space = ConceptSpace(tuple(Concept(names[c.name], c.values) for c in knowledge.space.concepts))
    if not knowledge.has_rule:
        return Knowledge(space, knowledge.labels)
    labels = knowledge.labels
    texts = [pattern.sub(lambda match: names[match[0]], str(label.formula)) for label in labels]
    own = [Label(label.name, parse(text), label.values) for label, text in zip(labels, texts, strict=True)]
    return Knowledge(space, tuple(own))


@every_claim
def test_names_do_not_matter(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    other = {name: replace(rows, knowledge=renamed(rows.knowledge)) for name, rows in model.splits.items()}
    assert words_of(model, other) == model.diagnosed().kinds


def with_probabilities(rows: Evidence) -> Evidence:
    """Return the same with probabilities that agree with what is predicted."""
    sides = ((rows.predicted_concepts, rows.knowledge.space.sizes, rows.concept_probabilities),
             (rows.predicted_labels, [len(label.values) for label in rows.knowledge.labels], rows.label_probabilities))  # fmt: skip
    parts = [
        tuple(
            own if own is not None or (column < 0).any() else certain(column, 0.97, size)
            for column, size, own in zip(codes.T, sizes, given, strict=True)
        )
        for codes, sizes, given in sides
    ]
    return replace(rows, concept_probabilities=parts[0], label_probabilities=parts[1])


@every_claim
def test_probabilities_that_agree_with_predictions_do_not_matter(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    soft = {name: with_probabilities(rows) for name, rows in model.splits.items()}
    assert words_of(model, soft) == model.diagnosed().kinds


@every_claim
def test_what_training_shows_more_than_once_does_not_matter(word: str, claim: str) -> None:
    model = clear_case(word, claim)
    if model.training is not None:
        again = replace(model, training=np.concatenate([model.training, model.training[::-1]]))
        assert again.diagnosed().kinds == model.diagnosed().kinds
