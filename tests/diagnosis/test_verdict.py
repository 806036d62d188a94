"""What a diagnosis holds and says: its word on datasets, several splits, notes, plain data, frames and drawings."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from assay.base import rng_for
from assay.dataset import Dataset, SplitData
from assay.diagnosis import TABLE_HEAD as HEAD
from assay.diagnosis import Counterfactuals, Diagnosis, Effects, cells_of, diagnose, identifiability
from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, parse
from assay.metrics import Evidence, gather, mean_score
from tests.diagnosis.models import (
    COLOUR,
    DOTS,
    FINE,
    FRAME,
    SHAPE,
    SIGNS,
    STRIPE,
    Model,
    certain,
    clear_case,
    every,
    evidence,
    on_test,
    redrawn,
    rule,
    signs,
    silent,
    some,
    turned,
    unruled,
    worlds,
)  # fmt: skip
from tests.predictors import constant, labels_only, oracle, predictions, random_codes, reading, shuffled

SHIFTED = np.array([1, 2, 3, 4, 5, 4, 5, 6, 7, 8])  # even: 0 1, 2 3, 4 5, 6 5, 8 7; odd: 1 2, 3 4, 5 4, 7 6, 9 8


def judged(dataset: Dataset, held: Evidence) -> Diagnosis:
    return diagnose({held.split: held}, dataset.symbols("train").concepts)


def random_concepts(data: SplitData) -> Evidence:
    return gather(data, predictions(data, data.labels, random_codes(len(data), data.knowledge.space.sizes, "said")))


# -- the word on datasets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fixture", ["evenodd", "mnlogic"])
@pytest.mark.parametrize(
    ("predictor", "word"),
    [
        (oracle, "sound"),
        (labels_only, "opaque"),
        (random_concepts, "leaking"),
        (shuffled, "underfit"),
        (constant, "underfit"),
    ],
)
def test_known_faults(
    predictor: Callable[[SplitData], Evidence], word: str, fixture: str, request: pytest.FixtureRequest
) -> None:
    dataset: Dataset = request.getfixturevalue(fixture)
    found = judged(dataset, predictor(dataset.symbols("test")))
    assert found.verdict == ("too few" if word == "sound" and fixture == "mnlogic" else word)  # 32 of 32 are too few


def test_a_mapping_that_keeps_the_sums_is_a_shortcut(evenodd: Dataset) -> None:
    splits = {name: reading(evenodd.symbols(name), np.array([SHIFTED] * 2)) for name in ("test", "ood")}
    found = diagnose(splits, evenodd.symbols("train").concepts)
    assert found.verdict == "shortcut" and found.findings[0].numbers["agreement"] == 1.0
    said = " ".join((*found.sentences, *found.details))
    assert "It reads digit 0 as 1, 1 as 2, 2 as 3, 3 as 4, 4 as 5, 5 as 4, 6 as 5, 7 as 6, 8 as 7 and 9 as 8" in said
    assert "With this concept mapping 100 % of the training worlds keep their labels." in said
    kept = splits["ood"].labels == splits["ood"].predicted_labels
    assert f"whose labels are right falls from 1.00 to {kept.mean():.2f}" in said


def test_a_misreading_that_training_labels_reveal_is_no_shortcut(evenodd: Dataset) -> None:
    swapped = np.array([6, 1, 2, 3, 4, 5, 0, 7, 8, 9])  # 14 of 16 training pairs keep their sums
    found = judged(evenodd, reading(evenodd.symbols("test"), np.array([swapped] * 2)))
    assert found.verdict == "noisy" and "0 as 6 and 6 as 0" in found.text


def test_a_model_that_always_says_the_frequent_label_has_no_shortcut() -> None:
    """Of 32 training worlds one has the other label: `training labels cannot reveal it` was said, and it does."""
    knowledge = rule("a and b and c and d and e", "abcde")
    test = np.concatenate([worlds(knowledge.space, 450, rng_for(0, "rare")), np.ones((14, 5), dtype=np.int64)])
    found = on_test(knowledge, test, np.zeros_like(test), training=every(knowledge.space)).diagnosed()
    assert found.verdict == "underfit" and "shortcut" not in found.kinds


def test_a_model_is_sound_only_if_it_is_so_on_every_split(evenodd: Dataset) -> None:
    test = oracle(evenodd.symbols("test"))
    for elsewhere, words in ((oracle, {"sound"}), (shuffled, {"shifted"}), (random_concepts, {"leaking"})):
        assert diagnose({"test": test, "ood": elsewhere(evenodd.symbols("ood"))}).verdict in words


def test_evidence_may_go_by_any_name(evenodd: Dataset) -> None:
    found = diagnose({"seed 0": oracle(evenodd.symbols("test")), "seed 1": shuffled(evenodd.symbols("test"))})
    assert any("From seed 0 to seed 1, the share of examples whose labels are right falls" in n for n in found.notes)


def test_where_every_label_is_surely_right_no_cause_is_asked_for() -> None:
    """Four labels, each contradicted by the table in 3 %: some label is wrong in a tenth of the examples."""
    four = Knowledge.of(FINE.space, {"y": "stripe", "z": "frame", "u": "dots >= 2", "v": "colour == 'red'"})
    test = worlds(SIGNS, 600, rng_for(0, "four"))
    labels = four.labels_of(test)
    table = labels.copy()
    for place in range(4):
        table = turned(table, np.arange(600) % 32 == 8 * place, place)
    found = on_test(four, test, predicted=labels, labels=table, training=test).diagnosed()
    assert found.kinds in (("sound",), ("annotations",))


def test_a_region_is_named_by_the_values_of_its_concepts() -> None:
    """Values 0 and 1 are no truths: where a concept had them and labels were wrong, there was no diagnosis."""
    space = ConceptSpace((Concept("n", (0, 1)), Concept("b", (False, True)), Concept("c", (True, False))))
    knowledge, test = rule("xor(n == 1, b, c)", space), every(space, 60)
    missed = (test == [1, 1, 1]).all(axis=1)  # c is false at its second value
    found = on_test(knowledge, test, silent(test), turned(knowledge.labels_of(test), missed), training=test).diagnosed()
    assert found.verdict == "missed region"
    assert set(str(found.findings[0].why_numbers["where"]).split(" and ")) == {"n is 1", "b", "not c"}


# -- several splits ----------------------------------------------------------------------------------------------------


def test_what_is_said_of_another_split_holds_there() -> None:
    """`On test (also on ood): colour is noisy` was said where colour was right on ood, and dots were not."""
    rng = rng_for(0, "also")
    training, test, _ = signs(500, rng)
    other = worlds(SIGNS, 500, rng)

    def found(*columns: int) -> Diagnosis:
        splits = {
            name: evidence(FINE, rows, redrawn(rows, 0.25, rng, [column]), split=name)
            for name, rows, column in zip(("test", "ood"), (test, other), columns, strict=True)
        }
        return Model(splits, training).diagnosed()

    apart, same = found(COLOUR, DOTS), found(STRIPE, STRIPE)
    said = " ".join((*apart.sentences, *apart.details))
    assert "also on" not in said and "On test: colour is noisy" in said and "On ood: dots is noisy" in said
    assert "On test (also on ood): stripe is noisy" in " ".join((*same.sentences, *same.details))


def test_labels_that_are_wrong_on_another_split_are_named_there() -> None:
    rng, two = rng_for(0, "two"), Knowledge.of(FINE.space, {"y": "colour == 'red'", "z": "stripe"})
    splits = {}
    for place, name in enumerate(("test", "ood")):
        rows = worlds(SIGNS, 500, rng)
        splits[name] = evidence(
            two, rows, predicted=turned(two.labels_of(rows), some(500, 0.3, rng), place), split=name
        )
    found = Model(splits).diagnosed()
    assert found.verdict == "wrong rule" and "also on" not in found.text
    assert "yet y is wrong in 150" in found.text and "yet z is wrong in 150" in found.text


def test_only_the_first_split_makes_labels_unlearned_or_undecided() -> None:
    rng = rng_for(0, "first")
    training, test, labels = signs(400, rng)
    right, few = evidence(FINE, test), evidence(FINE, test[:8], split="ood")
    chance = evidence(FINE, test, silent(test), rng.permutation(labels), split="ood")
    assert Model({"test": right, "ood": few}, training).diagnosed().verdict == "sound"
    assert Model({"ood": few, "test": right}, training).diagnosed().verdict == "too few"
    assert "underfit" not in Model({"test": right, "ood": chance}, training).diagnosed().kinds
    assert Model({"ood": chance}, training).diagnosed().verdict == "underfit"


def test_many_wrong_labels_are_counted_as_labels() -> None:
    """Two labels of one example count as two: `40 labels are wrong because of that` was said of 45."""
    two = Knowledge.of(rule("a", "abcd").space, {"y": "xor(a, b, c, d)", "z": "xor(a, b)"})
    rng, test = rng_for(0, "together"), every(two.space, 60)
    said = test
    for column in range(4):
        said = turned(said, some(len(test), 0.04, rng), column)
    found = on_test(two, test, said, training=test).diagnosed()
    assert (found.verdict, found.findings[0].claim) == ("noisy", "together")
    assert found.findings[0].numbers["wrong"] == found.errors["test"].perception == found.errors["test"].wrong


# -- notes -------------------------------------------------------------------------------------------------------------


def notes(model: Model) -> str:
    return " ".join(model.diagnosed().notes)


@pytest.mark.parametrize(("examples", "few"), [(29, True), (30, False)])
def test_fewer_than_thirty_examples_are_warned_of(examples: int, few: bool) -> None:
    test = worlds(SIGNS, examples, rng_for(0, "few"))
    assert ("Fewer than 30 examples: test" in notes(on_test(FINE, test))) == few


@pytest.mark.parametrize(("sure", "word"), [(0.7, "underconfident"), (0.99, ""), (0.999, "")])
def test_probabilities_that_are_not_calibrated_are_noted(sure: float, word: str) -> None:
    test = worlds(SIGNS, 400, rng_for(0, "sure"))
    odds = [certain(FINE.labels_of(test)[:, 0], sure)]
    said = notes(on_test(FINE, test, odds=odds))
    assert ("probabilities are not calibrated: of labels" in said and word in said) == bool(word)


def test_overconfidence_is_noted_with_confidence_and_accuracy() -> None:
    test = worlds(SIGNS, 400, rng_for(0, "sure"))
    wrong = turned(FINE.labels_of(test), np.arange(400) < 100)
    said = notes(on_test(FINE, test, predicted=wrong, odds=[certain(wrong[:, 0], 0.95)]))
    assert "of labels by 0.20 (overconfident: mean confidence 0.95, accuracy 0.75)" in said


def test_confidence_that_tells_the_label_is_noted_and_no_leak() -> None:
    """Concepts and labels are right; how sure the model is of a bit depends on the label."""
    knowledge = rule("a and b")
    test = every(knowledge.space, 60)
    unsure = 0.6 + 0.3 * knowledge.labels_of(test)[:, 0] + rng_for(0, "soft").uniform(-0.03, 0.03, len(test))
    model = on_test(
        knowledge, test, sure=[certain(test[:, 0], unsure), certain(test[:, 1], 0.97), certain(test[:, 2], 0.97)]
    )
    assert model.diagnosed().verdict == "sound" and "confidence" in notes(model)


def test_what_training_labels_allow_is_noted_beside_faults_that_it_explains() -> None:
    knowledge = rule("xor(a, b, c)")
    test = every(knowledge.space, 60)
    taught = identifiability(knowledge, test)
    assert taught is not None
    held = evidence(knowledge, test, test ^ [1, 1, 0])
    assert taught.text in diagnose({"test": held}, test, taught=taught).notes
    assert taught.text not in diagnose({"test": evidence(knowledge, test)}, test, taught=taught).notes


def test_broken_constraints_are_noted_of_the_first_split() -> None:
    space, one = rule("a and b").space, Constraint("one", parse("a + b + c <= 2"))
    knowledge = Knowledge.of(space, {"y": "a and b"}, [one])
    test = every(space, 20)
    test = test[test.sum(axis=1) <= 2]
    said = turned(test, np.arange(len(test)) % 7 == 6, 2)
    assert "most often one" in notes(on_test(knowledge, test, said))
    splits = {"test": evidence(knowledge, test), "ood": evidence(knowledge, test, said, split="ood")}
    assert "one" not in [note for note in Model(splits).diagnosed().notes if "constraint" in note]
    gaps = np.where(np.arange(3) == 2, -1, test)
    assert "nan" not in notes(on_test(knowledge, gaps, said, labels=knowledge.labels_of(test)))


def test_gaps_are_noted_as_shares_of_what_the_rule_uses_or_of_all() -> None:
    rng = rng_for(0, "gaps")
    _, test, labels = signs(400, rng)
    gaps = np.where(np.arange(5) == SHAPE, -1, np.where(rng.random(test.shape) < 0.25, -1, test))
    gaps[:, FRAME] = test[:, FRAME]
    used, known = gaps[:, [COLOUR, STRIPE, DOTS]], int((gaps[:, [COLOUR, STRIPE, DOTS]] >= 0).all(axis=1).sum())
    said = notes(on_test(FINE, gaps, test, labels, labels))
    assert f"{100 * (used < 0).mean():.0f} % of the true concepts that the rule uses are not known" in said
    assert f"the {known} of 400 examples" in said
    without = notes(on_test(unruled(SIGNS), gaps, test, labels, labels))
    assert f"{100 * (gaps < 0).mean():.0f} % of the true concepts are not known" in without


def effects(follows: float, stays: float) -> Counterfactuals:
    scores = {name: mean_score(name, np.arange(400) < 400 * x) for name, x in (("follows", follows), ("stays", stays))}
    whole = mean_score("noticed", np.ones(400))
    return Counterfactuals("pairs", 400, Effects(**scores, noticed=whole, untouched=whole), {})


def test_what_changes_do_is_told_once() -> None:
    _, test, _ = signs(400, rng_for(0, "pairs"))
    for follows, stays, word in ((0.98, 1.0, "sound"), (0.5, 1.0, "boundary"), (1.0, 0.5, "boundary")):
        given = effects(follows, stays)
        found = diagnose({"test": evidence(FINE, test)}, effects=given)
        said = (*found.sentences, *found.details)
        assert found.verdict == word and " ".join(said).count(given.text) == 1
        assert found.to_dict()["counterfactuals"] == given.to_dict()


# -- plain data, frames, drawings --------------------------------------------------------------------------------------

KEYS = {
    "diagnosis", "verdict", "meaning", "next", "certainty", "findings", "reasons", "details", "table", "thresholds",
    "scores", "concepts", "labels", "errors", "readings", "regions", "counterfactuals", "violations", "reliance",
    "identifiability", "about",
}  # fmt: skip


def test_a_diagnosis_as_plain_data() -> None:
    model = clear_case("shortcut")
    found = model.diagnosed(5, shortcut__kept=0.7)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(plain) == KEYS and plain["diagnosis"] == 2 and plain["verdict"] == "shortcut"
    assert (
        plain["thresholds"] == {"verdict.resamples": 5, "shortcut.kept": 0.7} and plain["certainty"]["resamples"] == 5
    )
    first = plain["findings"][0]
    assert set(first) == {
        "kind", "claim", "split", "text", "meaning", "next", "concepts", "labels", "details", "unsettled", "numbers",
        "wrong_labels",
    }  # fmt: skip
    assert first["text"] in plain["reasons"] and first["numbers"]["misread"] == found.findings[0].numbers["misread"]
    state = next(state for state in plain["concepts"]["test"] if state["concept"] == "dots")
    assert (state["state"], state["used_by_rule"], state["map"]["kind"]) == ("collapsed", True, "own")
    assert {row["split"] for row in plain["table"]} == {"test"}


def test_the_table_has_a_row_for_all_that_was_tested() -> None:
    model = clear_case("shifted", "cells")
    found = model.diagnosed()
    rows = [(row.split, row.what, row.name) for row in found.table]
    space = model.splits["test"].knowledge.space
    for split in model.splits:
        assert {(split, "label", "y"), *((split, "concept", name) for name in space.names)} <= set(rows)
    (own,) = [row for row in found.table if row.name == "shifted" and row.what == "finding"]
    assert (own.state, own.note, own.examples) == ("cells", found.findings[0].text, found.findings[0].wrong_labels)
    assert {"chance", "split"} <= {row.name for row in found.table if row.what == "explanation"}
    label = next(row for row in found.table if (row.split, row.what) == ("ood", "label"))
    assert (label.value, label.examples, label.threshold) == (0.75, 400, 0.9) and label.low < 0.75 < label.high
    assert all(len(cells) == len(HEAD) for cells in cells_of(found.table))


def test_what_a_rival_explains_better_is_kept_in_the_table() -> None:
    found = clear_case("annotations").diagnosed()
    assert [row.note for row in found.table if row.state == "withdrawn"]
    assert not {row.name for row in found.table if row.state == "withdrawn"} & set(found.kinds)


def test_scores_as_a_frame_and_the_diagnosis_on_a_page() -> None:
    _, test, _ = signs(100, rng_for(0, "frame"))
    found = Model({name: evidence(FINE, test, split=name) for name in ("test", "ood")}).diagnosed()
    frame = found.to_frame()
    for split, scores in found.scores.items():
        rows = frame[frame["split"] == split]
        assert rows["metric"].tolist() == list(scores)
        np.testing.assert_equal(rows["value"].to_numpy(), [score.value for score in scores.values()])
    assert repr(found).startswith("Diagnosis(sound; test: label_f1 1.00")
    page = found._repr_html_()
    assert "Verdict: sound." in page and "label_accuracy" in page and "on test" in page


def test_a_diagnosis_is_drawn_by_concepts_and_by_region() -> None:
    found = clear_case("noisy").diagnosed()
    for figure in (found.plot(), found.plot("boundary")):
        assert figure.axes
