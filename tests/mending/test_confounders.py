"""Strategies against confounders: what is drawn anew, by the task or from unmarked pictures, and what they refuse."""

import json

import numpy as np
import pytest

from assay.config import Settings
from assay.data import NUISANCES, Confounder, Dataset, add_examples, confound_dataset, from_table
from assay.data.additions import ADDED
from assay.errors import ConfigError, DataError
from assay.mending import STRATEGIES, MendSettings, mend_run
from assay.mending.holdings import Holdings
from assay.mending.redrawing import TrainingRedraw
from assay.mending.situation import Situation
from assay.models import Order, train_run
from assay.render import mark_image
from assay.runs import RunFolder
from tests.conftest import write
from tests.data.imports.drawn import RULE, draw
from tests.pixels import trained
from tests.samples import needs_task

FRAME = {"what": "frame", "with": "y", "strength": 0.9}
SIZES = {"train": 60, "valid": 20, "test": 40, "hard": 0, "pairs": 0, "ood": 0}
ONCE = {"epochs": 1}


def codes(table, name="frame"):
    return np.array([json.loads(style)[NUISANCES][name] for style in table["style"].to_pylist()])


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return write(tmp_path_factory.mktemp("marked") / "d", "mnlogic", k=3, splits=SIZES, confound=[FRAME])


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder, drawn = tmp_path_factory.mktemp("imported"), draw(60)
    columns = {name: [one.truth[name] for one in drawn] for name in ("red", "wide", "dotted")}
    return from_table(
        {**columns, "alarm": [one.alarm for one in drawn]},
        folder / "plain",
        images=[one.pixels for one in drawn],
        name="mine",
        rule=RULE,
        concepts=list(columns),
        labels=["alarm"],
    )


def test_a_world_is_drawn_again_with_a_nuisance_that_goes_with_another_label(marked):
    drawing, train = TrainingRedraw(marked), marked["train"]
    rows = drawing.rows_that_fit()
    assert np.array_equal(codes(train.table)[rows], train.labels[rows, 0]) and 40 < len(rows) < 60
    table = drawing.redraw(rows[:5])
    assert not (codes(table) == train.labels[rows[:5], 0]).any()
    assert table["index"].to_pylist() == list(range(60, 65))
    for column in ("label_y", "concept_a", "concept_b", "concept_c"):
        assert table[column].to_pylist() == train.table[column].take(rows[:5]).to_pylist()


def test_unmarked_pictures_are_marked_anew_imported_ones_included(imported, tmp_path):
    planted = Confounder.model_validate({"what": "patch", "with": "alarm", "strength": 1.0})
    confound_dataset(imported, [planted], tmp_path / "marked")
    data = Dataset.open(tmp_path / "marked")
    with pytest.raises(ConfigError, match="--set clean=FOLDER"):
        TrainingRedraw(data).redraw(np.array([0]))
    with pytest.raises(ConfigError, match="is not the dataset that was marked"):
        TrainingRedraw(data, str(data.folder)).redraw(np.array([0]))
    table = TrainingRedraw(data, str(imported.folder)).redraw(np.array([0, 1]))
    (code,) = {1 - int(label) for label in data["train"].labels[:1, 0]}
    add_examples(data, table, tmp_path / "more", {})
    picture = Dataset.open(tmp_path / "more")["train"].pictures([len(data["train"])])[0]
    assert np.array_equal(picture, mark_image(imported["train"].pictures([0])[0], "patch", code, 2))
    with pytest.raises(ConfigError, match="no further examples can be drawn"):
        TrainingRedraw(data).draw_further(2, 0)


def test_further_examples_are_drawn_as_those_of_training(marked):
    table = TrainingRedraw(marked).draw_further(200, 3)
    labels = np.array(table["label_y"].to_pylist(), dtype=int)
    assert table["index"].to_pylist()[0] == 63 and abs((codes(table) == labels).mean() - 0.9) < 0.07


def test_a_formula_is_broken_by_another_world_of_the_same_label(tmp_path):
    listed = [{"what": "c", "with": "y", "strength": 1.0}]
    sizes = {name: size for name, size in SIZES.items() if name != "ood"}
    data = write(
        tmp_path / "d", "mnlogic", k=3, formula="a or b", prop_in_distribution=1.0, splits=sizes, confound=listed
    )
    rows = TrainingRedraw(data).rows_that_fit()
    table = TrainingRedraw(data).redraw(rows[:8])
    labels = data["train"].labels[rows[:8], 0].astype(bool).tolist()
    assert table["label_y"].to_pylist() == labels
    assert [value != label for value, label in zip(table["concept_c"].to_pylist(), labels, strict=True)] == [True] * 8


def test_a_copy_with_further_rows_is_a_dataset_of_its_own(marked, tmp_path):
    table = TrainingRedraw(marked).redraw(np.array([0, 1, 2]))
    manifest = add_examples(marked, table, tmp_path / "more", {"why": "test"})
    more = Dataset.open(tmp_path / "more")
    assert len(more["train"]) == 63 and more.fingerprint != marked.fingerprint
    assert sum(manifest["splits"][0]["labels"]["y"].values()) == 63 and manifest["task"][ADDED]["why"] == "test"
    assert np.array_equal(more["train"].labels[:60], marked["train"].labels)
    assert more["test"].full_table().equals(marked["test"].full_table())
    assert add_examples(marked, table, tmp_path / "more", {"why": "test"}) == manifest
    with pytest.raises(DataError, match="not an empty folder"):
        add_examples(marked, table, tmp_path / "more", {"why": "another"})


@pytest.mark.parametrize("strategy", ["augment", "fresh", "reweight"])
def test_each_round_is_trained_with_what_was_bought(strategy, marked, tmp_path):
    trained("blackbox", marked, tmp_path / "run", ONCE)
    settings = MendSettings(strategy=strategy, budget=6, first=2)
    curve = mend_run(tmp_path / "run", marked, settings, tmp_path / "out")
    last = RunFolder(tmp_path / "out" / "round-2")
    config, size = last.about()["config"], len(last.dataset()["train"])
    assert [one.spent for one in curve.rounds] == [0, 2, 6] and config["keeps"] == "last"
    expected = {"augment": (66, 0.0), "fresh": (66, 0.0), "reweight": (60, 0.05)}
    assert (size, config["group_step"]) == expected[strategy]
    assert config["group_examples"] == (6 if strategy == "reweight" else None)
    assert curve.rounds[-1].elsewhere == curve.rounds[-1].accuracy["unconfounded"]


@needs_task("kand-logic")
def test_masks_are_bought_where_there_are_some(marked, tmp_path):
    data = write(tmp_path / "kand", "kand-logic", splits={"train": 24, "valid": 8, "test": 24, "hard": 0, "pairs": 0})
    trained("blackbox", data, tmp_path / "run", ONCE)
    curve = mend_run(tmp_path / "run", data, MendSettings(strategy="reasons", budget=4, first=4), tmp_path / "out")
    config = RunFolder(tmp_path / "out" / "round-1").about()["config"]
    assert curve.rounds[-1].bought["masks"] == 4 == config["reasons_examples"] and config["reasons_weight"] == 10.0
    trained("blackbox", marked, tmp_path / "other", ONCE)
    with pytest.raises(ConfigError, match="has no masks, neither instances nor parts"):
        mend_run(tmp_path / "other", marked, MendSettings(strategy="reasons"), tmp_path / "none")


def test_an_imported_dataset_is_mended_by_labels_and_says_what_needs_drawing(imported, tmp_path):
    trained("dpl", imported, tmp_path / "run", ONCE)
    curve = mend_run(tmp_path / "run", imported, MendSettings(strategy="random", budget=4, first=4), tmp_path / "out")
    assert curve.spent in (0, 4)
    for strategy in ("augment", "reweight"):
        with pytest.raises(ConfigError, match="declares no confounder to break"):
            mend_run(tmp_path / "run", imported, MendSettings(strategy=strategy), tmp_path / strategy)
    with pytest.raises(DataError, match="it cannot be redrawn"):
        mend_run(tmp_path / "run", imported, MendSettings(strategy="fresh"), tmp_path / "fresh")


def test_learners_on_concepts_are_refused_where_training_is_changed(marked, tmp_path):
    train_run(Order("tree", Settings(), 0), marked, tmp_path / "run")
    nothing = Holdings(np.full(marked["train"].concepts.shape, -1))
    chosen = MendSettings(strategy="reweight")
    asked = Situation(tmp_path / "run", marked, marked, nothing, 4, 1, chosen, tmp_path / "committee")
    with pytest.raises(ConfigError, match="'tree' is none; choose --strategy augment"):
        STRATEGIES["reweight"](asked)
