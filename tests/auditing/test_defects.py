"""The defects of data that others released, each in a small copy: the audit names the check that it fails."""

import numpy as np
import pyarrow as pa
import pytest

from assay.auditing import audit, audited_dataset, open_imported
from assay.base import rng_for
from assay.logic import Knowledge, LabelNoise, parse
from assay.tasks import TASKS
from tests.auditing.planted import Described, Squares, examined_task, failed, finding, folder_of, made, rewritten, rows

MNLogic = TASKS["mnlogic"]


@pytest.fixture(scope="module")
def patch():
    with pytest.MonkeyPatch.context() as context:
        yield context


@pytest.fixture(scope="module")
def squares(tmp_path_factory, patch):
    return made(Squares, tmp_path_factory.mktemp("squares") / "data", patch)


def test_nothing_is_wrong_with_good_data(squares, tmp_path):
    for data in (audited_dataset(squares), open_imported(folder_of(tmp_path / "folder", rows()))):
        found = {one.check: one.status for one in audit(data).results}
        assert set(found.values()) <= {"pass", "nothing to check"}, found
    assert found["texts"] == found["sources"] == found["nuisances"] == found["visible"] == "pass"


# -- MNLogic: validation and test splits of one class ------------------------------------------------------------------


def test_splits_of_one_class(squares, tmp_path):
    def positives(table):
        true = table["label_y"].to_numpy(zero_copy_only=False)
        return table.take(pa.array(np.flatnonzero(true)))

    data = audited_dataset(rewritten(squares, tmp_path / "data", "test", positives))
    assert failed(data) == {"classes"}
    assert "test: 'y' is always True" in finding(data, "classes")[1]


# -- Kand-Logic: shape and colour swapped where worlds are chosen -------------------------------------------------------

SHAPES, COLOURS = ("square", "circle", "triangle"), ("red", "yellow", "blue")


def figures(swapped):
    """Return figures of two objects, chosen to have two of a shape, or by mistake two of a colour."""
    rng, table = rng_for(0, "figures"), []
    while len(table) < 400:
        shapes, colours = rng.integers(3, size=2), rng.integers(3, size=2)
        chosen = colours if swapped else shapes
        if chosen[0] == chosen[1]:
            objects = {
                f"concept_{name}{place + 1}": values[codes[place]]
                for place in range(2)
                for name, values, codes in (("shape", SHAPES, shapes), ("colour", COLOURS, colours))
            }
            split = "train" if len(table) < 200 else "test"
            table.append({"split": split, **objects, "label_alike": bool(colours[0] == 0)})
    return table


@pytest.mark.parametrize("swapped", [False, True])
def test_worlds_outside_what_their_split_says(swapped, tmp_path):
    rule = "labels: {alike: colour1 == 'red'}\nsplits: {train: shape1 == shape2, test: shape1 == shape2}\n"
    data = open_imported(folder_of(tmp_path / "folder", figures(swapped), rule, draw=None))
    status, text = finding(data, "splits")
    assert status == ("fail" if swapped else "pass")
    assert ("train: " in text and "such as shape1=" in text) == swapped


def test_worlds_outside_what_a_split_of_ours_says(squares, tmp_path):
    data = audited_dataset(rewritten(squares, tmp_path / "data", "test", lambda table: table, where="a or b"))
    assert failed(data) == {"splits"}
    assert "such as a=False b=False" in finding(data, "splits")[1]


# -- MNMath, MNLogic: test digits that are training images -------------------------------------------------------------


class Digits(MNLogic):
    """Bits whose test digits are drawn from those of training."""

    name = "same-digits"
    pools = {"train": "train", "valid": "valid", "test": "train", "ood": "train"}


def test_digits_of_training_in_the_test_split(tmp_path, patch):
    data = examined_task(Digits, tmp_path / "data", patch)
    assert failed(data) == {"sources"}
    text = finding(data, "sources")[1]
    assert "test shows" in text and "hard shows" in text and "such as digit " in text and "valid" not in text


def test_shared_sources_in_a_folder(tmp_path):
    table = rows()
    table[300]["source"] = f"new;{table[0]['source']}"
    data = open_imported(folder_of(tmp_path / "folder", table, draw=None))
    assert failed(data) == {"sources"} and "test shows 2 of them, such as train0" in finding(data, "sources")[1]
    for row in table:
        row["source"] = ""
    assert finding(open_imported(folder_of(tmp_path / "none", table, draw=None)), "sources")[0] == "not checked"


# -- robots: knees that are not drawn, labels drawn by odds, robots in two splits ----------------------------------------


class Kneeless(Squares):
    """The fourth square always looks the same, though the rule asks for it."""

    name = "kneeless"
    rule = "(a or b) and d"

    def drawn(self, world):
        return (*world.codes[:3], 0)


def test_a_concept_that_is_never_drawn(tmp_path, patch):
    data = examined_task(Kneeless, tmp_path / "data", patch, train=400, test=400, valid=0, hard=0)
    assert failed(data) == {"visible"}
    assert "changing d alters nothing that is shown" in finding(data, "visible")[1]
    (ceilings,) = audit(data, ["ceilings"]).results
    # half of the worlds are true; of the visible combinations, those with neither a nor b are false for certain
    codes, labels = data.parts["test"].concepts, data.parts["test"].labels[:, 0]
    either = codes[:, :2].any(axis=1)
    best = labels[either].mean() * either.mean() + (~either).mean()
    assert ceilings.status == "note" and ceilings.numbers["concepts"] == 1.0
    assert ceilings.numbers["visible concepts"] == pytest.approx(best, abs=0.025) and best < 0.9


def test_a_concept_that_only_the_text_leaves_out(tmp_path, patch):
    class Silent(Described):
        name = "silent"

        @property
        def columns(self):
            return ("text",)

        def describe(self, world):
            return super().describe(world).rpartition("d is")[0]

    data = examined_task(Silent, tmp_path / "data", patch)
    assert failed(data) == {"visible"} and "changing d " in finding(data, "visible")[1]


class Chancy(Squares):
    """The label is drawn."""

    name = "chancy"
    rule = "a + b + c + d >= 2"

    @property
    def knowledge(self):
        odds = {"y": LabelNoise(parse("2 * (a + b + c + d) - 3"), 0.8)}
        return Knowledge.of(Squares.knowledge.func(self).space, {"y": self.rule}, odds=odds)


def test_labels_that_are_drawn_pass(tmp_path, patch):
    data = examined_task(Chancy, tmp_path / "data", patch)
    assert failed(data) == set()
    split = data.splits["test"]
    assert (split.labels != split.knowledge.labels_of(split.concepts)).any()  # so the check has something to forgive
    (ceilings,) = audit(data, ["ceilings"]).results
    assert 0.6 < ceilings.numbers["concepts"] < 0.95


def test_labels_that_luck_does_not_give(tmp_path, patch):
    def flip(table):
        flipped = pa.array([not value for value in table["label_y"].to_pylist()])
        return table.set_column(table.column_names.index("label_y"), "label_y", flipped)

    made_well = made(Chancy, tmp_path / "data", patch)
    assert finding(audited_dataset(rewritten(made_well, tmp_path / "flipped", "valid", flip)), "labels")[0] == "fail"


def test_robots_in_train_and_test(tmp_path):
    """The robots of the paper are cut by rendering: most of those in training occur in test."""
    table = rows()
    rule = "labels: {y: a ^ b}\ndisjoint: [[train, test]]\n"
    data = open_imported(folder_of(tmp_path / "folder", table, rule, draw=None))
    assert failed(data) == {"disjoint"} and "train and test share 8 worlds" in finding(data, "disjoint")[1]
    apart = [row for row in rows(800) if (row["split"] == "train") == (row["concept_a"] or row["concept_c"])]
    data = open_imported(folder_of(tmp_path / "apart", apart, rule, draw=None))
    assert finding(data, "disjoint") == ("pass", "2 claims to share no world hold")


def test_a_claim_of_ours_that_is_false(squares, tmp_path):
    data = audited_dataset(rewritten(squares, tmp_path / "data", "test", lambda table: table, disjoint_from=["train"]))
    assert failed(data) == {"disjoint"} and "test and train share 16 worlds" in finding(data, "disjoint")[1]


# -- Sudoku: boards that are called invalid and are valid, layouts that tell the label -----------------------------------


def test_labels_of_ours_that_the_rule_does_not_give(squares, tmp_path):
    def flip(table):
        labels = table["label_y"].to_pylist()
        return table.set_column(table.column_names.index("label_y"), "label_y", pa.array([not labels[0], *labels[1:]]))

    data = audited_dataset(rewritten(squares, tmp_path / "data", "valid", flip))
    assert failed(data) == {"labels"} and "valid: 1 of 60 labels 'y', first at row 0" in finding(data, "labels")[1]


class Printed(Squares):
    """Which cells are printed follows from the label, but for 4 in a hundred."""

    name = "printed"

    def style(self, rng, codes, pool):
        told = self.is_true(codes) == (rng.random() < 0.96)
        cells = [1, 0, 1, 1, 0] if told else rng.integers(2, size=5).tolist()
        return {**super().style(rng, codes, pool), "printed": cells}


def test_a_layout_that_tells_the_label(tmp_path, patch):
    data = examined_task(Printed, tmp_path / "data", patch)
    assert failed(data) == {"nuisances"}
    text = finding(data, "nuisances")[1]
    assert "'y' is predicted with balanced accuracy 0.9" in text and "printed." in text


def test_a_layout_that_tells_the_label_in_a_folder(tmp_path):
    table, rng = rows(), rng_for(0, "layout")
    for row in table:
        told = row["label_y"] == (rng.random() < 0.96)
        row["nuisance_layout"] = "starter 17" if told else f"starter {rng.integers(100)}"
    data = open_imported(folder_of(tmp_path / "folder", table, draw=None))
    assert failed(data) == {"nuisances"} and "by layout" in finding(data, "nuisances")[1]


# -- texts with unfilled places ------------------------------------------------------------------------------------------


def test_unfilled_texts_of_ours(tmp_path, patch):
    class Unfilled(Described):
        name = "unfilled"

        def describe(self, world):
            text = super().describe(world)
            return text.replace("c is light", "c is {LIGHT}")

    data = examined_task(Unfilled, tmp_path / "data", patch)
    assert failed(data) == {"texts"} and "such as {LIGHT}" in finding(data, "texts")[1]
    described = examined_task(Described, tmp_path / "described", patch)
    assert failed(described) == set() and finding(described, "texts")[0] == "pass"
