"""Strategies against confounders: what is drawn anew, by the task or from unmarked pictures, and what they refuse."""

import json

import numpy as np
import pytest

import assay
from assay.base import ConfigError, DataError, Settings
from assay.contracts import BOUNDARY
from assay.dataset import NUISANCES, Dataset
from assay.exchange import Annotation, annotate
from assay.lab import STRATEGIES, AcquiredData, AcquisitionContext, MendSettings, mend_run
from assay.models import TrainSpec, train_run
from assay.render import Picture, mark_picture
from assay.runs import RunFolder
from tests.conftest import write
from tests.exchange.imports.drawn import RULE, draw
from tests.pixels import trained
from tests.samples import needs_task

FRAME = {"what": "frame", "with": "y", "strength": 0.9}
SIZES = {"train": 60, "valid": 20, "test": 40, "hard": 0, "pairs": 0, "ood": 0}
ONCE = {"epochs": 1}


def mark_image(image, name, code, count):
    """Return an image with a mark."""
    return mark_picture(Picture(image), name, code, count).image


def codes(split, name="frame"):
    """Return the nuisance of each example."""
    return np.array([json.loads(style)[NUISANCES][name] for style in split.table["style"].to_pylist()])


def mended(run, data, out, **settings):
    """Mend once with all that may be spent; return the curve and what the last round was trained on."""
    curve = mend_run(run, data, MendSettings(**{"first": settings["budget"], **settings}), out)
    return curve, RunFolder(out / curve.rounds[-1].run).dataset()["train"]


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return write(tmp_path_factory.mktemp("marked") / "d", "mnlogic", k=3, splits=SIZES, confound=[FRAME])


@pytest.fixture(scope="module")
def box(marked, tmp_path_factory):
    """A black box that was trained on it."""
    folder = tmp_path_factory.mktemp("box") / "run"
    trained("blackbox", marked, folder, ONCE)
    return folder


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder, drawn = tmp_path_factory.mktemp("imported"), draw(60)
    columns = {name: [one.truth[name] for one in drawn] for name in ("red", "wide", "dotted")}
    return assay.from_table(
        {**columns, "alarm": [one.alarm for one in drawn]},
        folder / "plain",
        images=[one.pixels for one in drawn],
        name="mine",
        rule=RULE,
        concepts=list(columns),
        labels=["alarm"],
    )


def test_a_world_is_drawn_again_with_a_nuisance_that_goes_with_another_label(marked, box, tmp_path):
    _, more = mended(box, marked, tmp_path / "out", strategy="augment", budget=8)
    train, purchase = (
        marked["train"],
        json.loads((tmp_path / "out" / "mending.json").read_text())["rounds"][1]["purchase"],
    )
    rows = np.array(purchase["redrawn"])
    fits = np.flatnonzero(codes(train) == train.labels[:, 0])
    assert set(rows) <= set(fits.tolist()) and len(set(rows)) == 8  # those where it goes with the label
    labels = train.labels[rows, 0].tolist()
    assert labels.count(0) == labels.count(1) == 4  # labels take turns
    added = more.take(np.arange(60, 68))
    assert (added.concepts == train.concepts[rows]).all() and (added.labels == train.labels[rows]).all()
    assert not (codes(more)[60:] == added.labels[:, 0]).any() and len(set(more.index.tolist())) == 68
    assert (more.labels[:60] == train.labels).all()


def test_further_examples_are_drawn_as_those_of_training(marked, box, tmp_path):
    _, more = mended(box, marked, tmp_path / "out", strategy="fresh", budget=200)
    drawn, old = codes(more)[60:], {tuple(row) for row in marked["train"].images.reshape(60, -1).tolist()}
    assert len(drawn) == 200 and abs((drawn == more.labels[60:, 0]).mean() - 0.9) < 0.07
    assert not old & {tuple(row) for row in more.images[60:].reshape(200, -1).tolist()}  # none was drawn before


def test_a_formula_is_broken_by_another_world_of_the_same_label(tmp_path):
    listed = [{"what": "c", "with": "y", "strength": 1.0}]
    sizes = {name: size for name, size in SIZES.items() if name != "ood"}
    rule = {"k": 3, "formula": "a or b", "prop_in_distribution": 1.0}
    data = write(tmp_path / "d", "mnlogic", splits=sizes, confound=listed, **rule)
    trained("blackbox", data, tmp_path / "run", ONCE)
    _, more = mended(tmp_path / "run", data, tmp_path / "out", strategy="augment", budget=8)
    assert (more.concepts[60:, 2] != more.labels[60:, 0]).all() and len(more) == 68


def test_unmarked_pictures_are_marked_anew_imported_ones_included(imported, tmp_path):
    data = assay.confound(imported, tmp_path / "marked", "patch", "alarm", 1.0)
    trained("dpl", data, tmp_path / "run", {**ONCE, "learning_rate": 1e-9})
    for clean, why in ((None, "--set clean=FOLDER"), (str(data.folder), "is not the dataset that was marked")):
        with pytest.raises(ConfigError, match=why):
            mended(tmp_path / "run", data, tmp_path / why[:5], strategy="augment", budget=4, clean=clean)
    with pytest.raises(ConfigError, match="no further examples can be drawn"):
        mended(tmp_path / "run", data, tmp_path / "fresh", strategy="fresh", budget=4)
    clean = str(imported.folder)
    _, more = mended(tmp_path / "run", data, tmp_path / "out", strategy="augment", budget=4, clean=clean)
    rows = json.loads((tmp_path / "out" / "mending.json").read_text())["rounds"][1]["purchase"]["redrawn"]
    for place, row in enumerate(rows):
        other = 1 - int(data["train"].labels[row, 0])
        plain = imported["train"].pictures([row])[0]
        assert np.array_equal(more.pictures([len(data["train"]) + place])[0], mark_image(plain, "patch", other, 2))


def test_a_round_is_trained_on_a_copy_with_one_more_shard_and_all_else_as_it_was(marked, box, tmp_path):
    mended(box, marked, tmp_path / "out", strategy="fresh", budget=3)
    more = Dataset.open(tmp_path / "out" / "data-1")
    data, train = more["train"], marked["train"]
    assert len(data) == 63 and data.pngs[:60] == train.pngs and more.fingerprint != marked.fingerprint
    assert np.array_equal(data.labels[:60], train.labels) and data.index.tolist() == list(range(63))
    for split in ("valid", "test", "unconfounded"):
        assert more[split].full_table().equals(marked[split].full_table())
    told, before = (one.manifest.to_dict() for one in (more, marked))
    assert told["task"]["added"] == {
        **{"parent": marked.fingerprint, "split": "train", "examples": 3, "redrawn": [], "fresh": 3}
    }
    entry, old = (next(part for part in one["splits"] if part["name"] == "train") for one in (told, before))
    assert entry["size"] == 63 and entry["shards"][:-1] == old["shards"]
    label = marked.knowledge.labels[0]
    counted = dict(zip(map(str, label.values), np.bincount(data.labels[:, 0], minlength=2).tolist(), strict=True))
    assert {str(key): number for key, number in entry["labels"][label.name].items()} == counted
    tags = [tag for text in data.table[BOUNDARY + label.name].to_pylist() for tag in text.split("; ")]
    assert entry["boundary"] == {label.name: {tag: tags.count(tag) for tag in sorted(set(tags))}}


def test_no_example_is_added_to_an_annotated_copy(marked, tmp_path):
    annotate(marked, Annotation(missing=0.5), tmp_path / "annotated")
    trained("blackbox", Dataset.open(tmp_path / "annotated"), tmp_path / "run", ONCE)
    with pytest.raises(DataError, match="is an annotated copy; add examples to the dataset that it was made of"):
        mended(tmp_path / "run", Dataset.open(tmp_path / "annotated"), tmp_path / "out", strategy="fresh", budget=3)


@pytest.mark.parametrize("strategy", ["augment", "fresh", "reweight"])
def test_each_round_is_trained_with_what_was_bought(strategy, marked, box, tmp_path):
    curve, more = mended(box, marked, tmp_path / "out", strategy=strategy, budget=6, first=2)
    config = RunFolder(tmp_path / "out" / "round-2").metadata()["config"]
    assert [one.spent for one in curve.rounds] == [0, 2, 6] and config["keeps"] == "last"
    expected = {"augment": (66, 0.0), "fresh": (66, 0.0), "reweight": (60, 0.05)}
    assert (len(more), config["group_step"]) == expected[strategy]
    assert config["group_examples"] == (6 if strategy == "reweight" else None)
    assert curve.rounds[-1].elsewhere == curve.rounds[-1].accuracy["unconfounded"]


@needs_task("kand-logic")
def test_masks_are_bought_where_there_are_some_and_up_to_all_examples(marked, box, tmp_path):
    data = write(tmp_path / "kand", "kand-logic", splits={"train": 24, "valid": 8, "test": 24, "hard": 0, "pairs": 0})
    trained("blackbox", data, tmp_path / "run", ONCE)
    curve, _ = mended(tmp_path / "run", data, tmp_path / "out", strategy="reasons", budget=40, first=30)
    config = RunFolder(tmp_path / "out" / "round-1").metadata()["config"]
    assert curve.rounds[1].bought["masks"] == 24 == config["reasons_examples"] and config["reasons_weight"] == 10.0
    with pytest.raises(ConfigError, match="has no masks, neither instances nor parts"):
        mended(box, marked, tmp_path / "none", strategy="reasons", budget=4)


def test_an_imported_dataset_is_mended_by_labels_and_says_what_needs_drawing(imported, tmp_path):
    trained("dpl", imported, tmp_path / "run", ONCE)
    curve = mend_run(tmp_path / "run", imported, MendSettings(strategy="random", budget=4, first=4), tmp_path / "out")
    assert curve.spent in (0, 4)
    for strategy in ("augment", "reweight"):
        with pytest.raises(ConfigError, match="declares no confounder to break"):
            mended(tmp_path / "run", imported, tmp_path / strategy, strategy=strategy, budget=4)
    with pytest.raises(DataError, match="it cannot be redrawn"):
        mended(tmp_path / "run", imported, tmp_path / "fresh", strategy="fresh", budget=4)


def test_learners_on_concepts_are_refused_where_training_is_changed(marked, tmp_path):
    train_run(TrainSpec("tree", Settings(), 0), marked, tmp_path / "run")
    nothing = AcquiredData(np.full(marked["train"].concepts.shape, -1))
    chosen = MendSettings(strategy="reweight")
    asked = AcquisitionContext(tmp_path / "run", marked, marked, nothing, 4, 1, chosen, tmp_path / "committee")
    with pytest.raises(ConfigError, match="'tree' is none; choose --strategy augment"):
        STRATEGIES["reweight"](asked)
