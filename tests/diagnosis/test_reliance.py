"""Models that follow a nuisance, that follow it in part, that read one concept from it, and that do not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.base import Codes, rng_for
from assay.dataset import Dataset, SplitData
from assay.diagnosis import Diagnosis, diagnose_predictions, headline
from tests.conftest import write
from tests.dataset.confounding.test_confounding import codes
from tests.predictors import predictions

SIZES = {"train": 100, "valid": 0, "test": 400, "hard": 0, "pairs": 100}
JUDGED = ("test", "unconfounded", "reversed", "pairs")
Answers = tuple[Codes, Codes | None]
"""The labels that a model says, and the concepts, if any."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    listed = [{"what": "watermark", "with": "y"}]
    return write(tmp_path_factory.mktemp("data") / "d", "mnlogic", k=3, splits=SIZES, confound=listed)


def judge(data: Dataset, model: Callable[[SplitData], Answers], splits: tuple[str, ...] = JUDGED) -> Diagnosis:
    parts = [data[name] for name in splits]
    return diagnose_predictions(data, {part.name: predictions(part, *model(part)) for part in parts})


def nuisance(diagnosis: Diagnosis) -> Any:
    (row,) = (row for row in diagnosis.reliance if row.kind == "nuisance")
    return row


def follows(part: SplitData) -> Answers:
    return codes(part)[:, None], None


def knows(part: SplitData) -> Answers:
    return part.labels, part.concepts


def follows_in_half(part: SplitData) -> Answers:
    half = (np.arange(len(part)) % 2 == 0)[:, None]
    return np.where(half, codes(part)[:, None], part.labels), None


def reads_one_concept_from_it(part: SplitData) -> Answers:
    """The first bit is what would explain the watermark; labels follow by the rule."""
    concepts = part.concepts.copy()
    concepts[:, 0] = concepts[:, 0] ^ (part.labels[:, 0] ^ codes(part))
    return part.knowledge.labels_of(concepts), concepts


def guesses(part: SplitData) -> Answers:
    rng = rng_for(0, "guesses", part.name)
    return rng.integers(0, 2, (len(part), 1)), None


def test_a_model_that_follows_the_watermark_is_spurious(data: Dataset) -> None:
    found = judge(data, follows)
    row = nuisance(found)
    assert found.verdict == "spurious" and row.moved == row.pairs > 350 and row.should == 0
    assert row.labels.usual == row.labels.usual_of and row.labels.unusual == 0 and "watermark" in found.reasons[0]
    assert "100 %" in found.reasons[0] and "part of the examples" not in row.text
    line = headline(found)
    assert line.tone == "bad" and line.split == "reversed" and line.value < 0.1 and "follow watermark" in line.why


def test_a_model_that_knows_the_rule_is_sound_and_the_watermark_is_spoken_of(data: Dataset) -> None:
    found = judge(data, knows)
    assert found.verdict == "sound" and nuisance(found).moved == 0
    assert any("do not clearly follow watermark" in note for note in found.notes)


def test_a_part_of_the_examples_is_said_to_be_a_part(data: Dataset) -> None:
    found = judge(data, follows_in_half)
    assert found.verdict == "spurious" and 0.4 < nuisance(found).share < 0.6
    assert "It is a part of the examples" in nuisance(found).text and nuisance(found).text in found.details


def test_a_concept_that_is_read_from_the_watermark_is_named(data: Dataset) -> None:
    found = judge(data, reads_one_concept_from_it)
    row = nuisance(found)
    assert found.verdict == "spurious" and set(row.concepts) == {"a"} and set(row.others) == {"b", "c"}
    assert (
        "predicted of a is right in" in row.text and "does not spoil b and c" in row.text and row.text in found.details
    )
    assert found.findings[0].concepts == ("a",)


def test_a_concept_alone_suffices(data: Dataset) -> None:
    def model(part: SplitData) -> Answers:
        return part.labels, reads_one_concept_from_it(part)[1]

    found = judge(data, model)
    assert (found.verdict, found.findings[0].claim) == ("spurious", "concepts") and "Labels hold." in nuisance(
        found
    ).text
    assert "a follows watermark: right in 100 %" in found.reasons[0]
    assert headline(found).why.startswith("a follows watermark")


def test_guesses_and_a_model_that_learned_only_to_go_by_a_free_mark_are_not_spurious(
    data: Dataset, tmp_path: Path
) -> None:
    assert judge(data, guesses).verdict != "spurious"
    listed = [{"what": "watermark", "with": "y", "where": []}]
    free = write(tmp_path / "d", "mnlogic", k=3, splits=SIZES, confound=listed)
    found = judge(free, follows)
    assert nuisance(found).moved == nuisance(found).pairs and found.verdict != "spurious"


def test_other_splits_are_no_evidence_of_other_faults(data: Dataset) -> None:
    found = judge(data, reads_one_concept_from_it)
    assert all("reversed" not in finding.split for finding in found.findings if finding.kind != "spurious")
    assert "memorised" not in found.kinds


def test_without_predictions_for_the_reversed_split_nothing_is_said(data: Dataset) -> None:
    found = judge(data, follows, ("test", "unconfounded"))
    assert found.verdict != "spurious"
    assert any("not judged: there are no predictions for reversed" in note for note in found.notes)


def test_the_table_says_how_often_labels_move_with_concepts_too(data: Dataset) -> None:
    rows = judge(data, knows).reliance
    assert [row.name for row in rows] == ["watermark", "a", "b", "c"]
    assert not rows[0].relied_on and all(row.moved == row.should == row.pairs for row in rows[1:])
    stuck = judge(data, follows).reliance[1:]
    assert all(row.moved == 0 and row.should == row.pairs for row in stuck)


def test_a_formula_that_is_followed_is_found(tmp_path: Path) -> None:
    listed = [{"what": "c", "with": "y"}]
    made = write(
        tmp_path / "d", "mnlogic", k=3, formula="a and b", prop_in_distribution=1.0, confound=listed,
        splits={**SIZES, "pairs": 0},
    )  # fmt: skip

    def cheats(part: SplitData) -> Answers:
        return part.concepts[:, [2]], None

    found = judge(made, cheats, ("test", "unconfounded", "reversed"))
    assert found.verdict == "spurious" and nuisance(found).name == "'c'" and nuisance(found).pairs == 0
    assert judge(made, knows, ("test", "unconfounded", "reversed")).verdict == "sound"
    always = judge(made, lambda part: (np.ones_like(part.labels), None), ("test", "unconfounded", "reversed"))
    assert always.verdict != "spurious"


def test_plain_data_holds_the_rows(data: Dataset) -> None:
    row = judge(data, follows).to_dict()["reliance"][0]
    assert row["share"] == 1.0 and row["labels"]["falls"] is True and row["low"] > 0.98


# -- what is said of single nuisances ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("moved", "part"), [(100, False), (90, False), (60, True), (11, True), (10, False)])
def test_a_part_is_said_only_where_labels_move_in_a_part_of_the_pairs(data: Dataset, moved: int, part: bool) -> None:
    row = replace(nuisance(judge(data, follows)), pairs=100, moved=moved)
    assert ("It is a part of the examples" in row.text) == part and row.share == moved / 100
