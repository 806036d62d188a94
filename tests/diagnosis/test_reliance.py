"""Models that follow a nuisance, that follow it in part, that read one concept from it, and that do not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.arrays import Codes
from assay.concepts import bits
from assay.data.confounding.confounder import Confounder, Coupling
from assay.data.dataset import Dataset, SplitData
from assay.diagnosis.headline import headline
from assay.diagnosis.reliance import (
    Reliance,
    Rights,
    _beats_constant,
    _by_groups,
    _only_learned,
    _pairs_of,
    reliance_table,
)
from assay.diagnosis.runs import diagnose_predictions
from assay.diagnosis.verdict import Diagnosis
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for
from tests.conftest import write
from tests.data.confounding.test_confounding import codes
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


def nuisance(diagnosis: Diagnosis) -> Reliance:
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
    assert "100 %" in found.reasons[0] and "part of the examples" not in found.reasons[0]
    line = headline(found)
    assert line.tone == "bad" and line.split == "reversed" and line.value < 0.1 and "follows watermark" in line.why


def test_a_model_that_knows_the_rule_is_sound_and_the_watermark_is_spoken_of(data: Dataset) -> None:
    found = judge(data, knows)
    assert found.verdict == "sound" and nuisance(found).moved == 0
    assert any("do not clearly follow watermark" in note for note in found.notes)


def test_a_part_of_the_examples_is_said_to_be_a_part(data: Dataset) -> None:
    found = judge(data, follows_in_half)
    assert found.verdict == "spurious" and 0.4 < nuisance(found).share < 0.6
    assert "It is a part of the examples" in found.reasons[0]


def test_a_concept_that_is_read_from_the_watermark_is_named(data: Dataset) -> None:
    found = judge(data, reads_one_concept_from_it)
    row = nuisance(found)
    assert found.verdict == "spurious" and set(row.concepts) == {"a"} and set(row.others) == {"b", "c"}
    assert "predicted of a is right in" in found.reasons[0] and "does not spoil b and c" in found.reasons[0]
    assert found.findings[0].concepts == ("a",)


def test_a_concept_alone_suffices(data: Dataset) -> None:
    def model(part: SplitData) -> Answers:
        return part.labels, reads_one_concept_from_it(part)[1]

    found = judge(data, model)
    assert found.verdict == "spurious" and "Labels hold." in found.reasons[0]
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
    rows = reliance_table(judge(data, knows).reliance)
    assert [row[0] for row in rows] == ["watermark", "a", "b", "c"]
    assert rows[0][5] == "" and all(row[4] == "100 %" for row in rows[1:])
    assert all(row.moved == row.should == row.pairs for row in judge(data, knows).reliance[1:])
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


# -- single comparisons, counted by hand -------------------------------------------------------------------------------

TOY = Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"})


def toy(labels: np.ndarray, said: np.ndarray, concepts: np.ndarray | None = None) -> Evidence:
    codes = labels if concepts is None else concepts
    return Evidence(TOY, "test", labels, labels, said, codes, (None, None), (None, None))


def toy_coupling(what: str, goes_with: str = "y", **settings: object) -> Coupling:
    return Coupling(Confounder(**{"what": what, "with": goes_with, **settings}), TOY)


def test_pairs_are_counted_by_the_side_that_is_as_in_training() -> None:
    rows = 200
    labels = np.stack([np.arange(rows) % 2, np.arange(rows) // 2 % 2], axis=1)
    as_usual = np.arange(rows) % 4 < 2  # the first of each pair, or the second
    wrong = labels.copy()
    wrong[:, 0] = 1 - wrong[:, 0]
    before = toy(labels, np.where(as_usual[:, None], labels, wrong))
    after = toy(labels, np.where(as_usual[:, None], wrong, labels))
    found = _pairs_of(toy_coupling("patch"), before, after, [as_usual, ~as_usual], [0, 1], 0.01)
    assert (found.pairs, found.moved, found.should) == (200, 200, 0) and found.relied_on and found.share == 1
    assert (found.labels.usual, found.labels.usual_of, found.labels.unusual, found.labels.unusual_of) == (
        200,
        200,
        0,
        200,
    )
    assert found.concepts == {} and found.others == ("a", "b")
    other = _pairs_of(toy_coupling("patch", "z"), before, after, [as_usual, ~as_usual], [0, 1], 0.01)
    assert other.labels.usual == other.labels.unusual == 200 and not other.relied_on  # z is right on both sides
    same = _pairs_of(toy_coupling("patch"), before, after, [as_usual, as_usual], [0, 1], 0.01)
    assert (same.labels.usual_of, same.labels.unusual_of) == (0, 0) and not same.labels.falls  # no side is told


def test_a_concept_that_the_nuisance_spoils_is_named_and_silence_is_not_judged() -> None:
    rows = 100
    labels = np.stack([np.arange(rows) % 2, np.arange(rows) // 2 % 2], axis=1)
    usual, spoilt = np.ones(rows, dtype=bool), labels.copy()
    spoilt[:60, 1] = 1 - spoilt[:60, 1]
    before, after = toy(labels, labels), toy(labels, labels, spoilt)
    found = _pairs_of(toy_coupling("patch"), before, after, [usual, ~usual], [0, 1], 0.01)
    assert list(found.concepts) == ["b"] and found.others == ("a",) and not found.labels.falls and found.relied_on
    assert found.concepts["b"].shares == (1.0, 0.4) and found.moved == 0
    silent = spoilt.copy()
    silent[0, 1] = -1
    quiet = _pairs_of(toy_coupling("patch"), before, toy(labels, labels, silent), [usual, ~usual], [0, 1], 0.01)
    assert quiet.concepts == {} and quiet.others == ("a",)


@pytest.mark.parametrize(("right", "total"), [(60, 100), (62, 100), (70, 100), (50, 100), (20, 20)])
def test_what_beats_a_constant_answer_is_a_binomial_test(right: int, total: int) -> None:
    truth = (np.arange(total)[:, None] < total // 2).astype(int)
    chance = stats.binomtest(right, total, 0.5, alternative="greater").pvalue
    assert _beats_constant(np.arange(total) < right, truth, 0.01) == (chance <= 0.01)
    assert _beats_constant(np.arange(total) < right, truth, 0.05) == (chance <= 0.05)


def test_the_constant_answer_is_the_most_frequent_truth() -> None:
    truth = (np.arange(100)[:, None] < 80).astype(int)
    assert not _beats_constant(np.arange(100) < 80, truth, 0.01) and _beats_constant(np.arange(100) < 95, truth, 0.01)


@pytest.mark.parametrize(("wrong", "told"), [(0, False), (60, True)])
def test_groups_of_examples_in_which_a_formula_goes_with_the_label(wrong: int, told: bool) -> None:
    labels = np.stack([np.arange(400) % 2, np.arange(400) // 2 % 2], axis=1)
    unusual = np.flatnonzero(labels[:, 0] != labels[:, 1])
    said = labels.copy()
    said[unusual[:wrong], 0] = 1 - said[unusual[:wrong], 0]
    found = _by_groups(toy(labels, said), toy_coupling("b"), 0.01)
    assert found.name == "'b'" and found.relied_on == told and found.pairs == 0
    assert (found.labels.usual, found.labels.usual_of, found.labels.unusual, found.labels.unusual_of) == (
        *(200, 200, 200 - wrong),
        200,
    )


def test_only_what_beats_a_constant_answer_in_training_is_said_to_fall() -> None:
    labels = np.stack([np.arange(200) % 2, np.arange(200) // 2 % 2], axis=1)
    fall = Rights(90, 100, 10, 100, True)
    row = Reliance("patch", "nuisance", "reversed", 9, 5, 0, fall, {"a": fall, "b": fall}, ("c",))
    guessed = np.stack([labels[:, 0], np.zeros(200, dtype=int)], axis=1)  # of b, one value is said
    found = _only_learned(row, toy(labels, guessed, guessed), toy_coupling("patch"), 0.01)
    assert found.labels.falls and list(found.concepts) == ["a"] and found.others == ("c", "b")
    other = _only_learned(row, toy(labels, guessed, guessed), toy_coupling("patch", "z"), 0.01)
    assert not other.labels.falls and other.labels.usual == 90  # z is guessed
    none = _only_learned(row, toy(labels, 1 - labels, 1 - labels), toy_coupling("patch"), 0.01)
    assert not none.relied_on and none.others == ("c", "a", "b")


@pytest.mark.parametrize(("rows", "told"), [(19, False), (20, True)])
def test_groups_of_twenty_are_compared(rows: int, told: bool) -> None:
    # y is false: 40 with b false, some with b true, of which all are wrong; y is true only where b is
    labels = np.array([[0, 0]] * 40 + [[0, 1]] * rows + [[1, 1]] * 40)
    said = labels.copy()
    said[40 : 40 + rows, 0] = 1
    assert _by_groups(toy(labels, said), toy_coupling("b"), 0.01).labels.falls == told


def test_a_fall_of_few_among_groups_is_averaged() -> None:
    labels = np.array([[0, 0]] * 400 + [[0, 1]] * 400 + [[1, 1]] * 400 + [[1, 0]] * 400)
    said = labels.copy()
    said[400:460, 0] = 1  # 15 % worse where y is false
    assert _by_groups(toy(labels, said), toy_coupling("b"), 0.01).labels.falls
    said[800:840, 0] = 0  # and 10 % better where y is true: on average hardly worse
    assert not _by_groups(toy(labels, said), toy_coupling("b"), 0.01).labels.falls
