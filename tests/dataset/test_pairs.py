"""Counterfactual pairs: a function of the dataset, one concept changed, the style kept, half of them across the rule.

No value of theirs is one that training does not show.
"""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.base import AssayError, DataError, Entry, Settings
from assay.dataset import Dataset, pairs_of, refresh_pairs, task_of
from assay.exchange import Annotation, annotate
from assay.families.handwriting.digits import digit_source
from assay.logic import Constraint, Knowledge, evaluate, parse
from assay.render import encode_png
from assay.tasks import TASKS
from tests.auditing.planted import Described, Squares
from tests.auditing.planted import made as registered
from tests.conftest import write

MNLogic = TASKS["mnlogic"]

SIZES = {"train": 400, "valid": 0, "test": 120, "hard": 0}
TASKS_MADE = {
    "integers": ("mnadd", {"splits": SIZES}),
    "truths": ("mnlogic", {"splits": SIZES, "k": 4, "formula": "a and b or c", "prop_in_distribution": 1.0}),
    "labels": ("mnmath", {"splits": SIZES, "equations": ["x1 + x2", "x3 > x4"], "prop_in_distribution": 1.0}),
    "symbols": ("kand-logic", {"splits": SIZES}),
}


@pytest.fixture(scope="module", params=sorted(TASKS_MADE))
def dataset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    name, settings = TASKS_MADE[request.param]
    return write(tmp_path_factory.mktemp("data") / name, name, **settings)


@pytest.fixture(scope="module")
def pairs(dataset: Dataset) -> Any:
    return pairs_of(dataset, "test", task_of(dataset))


def halves(pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows before and after."""
    return np.arange(len(pairs)), np.arange(len(pairs), 2 * len(pairs))


def test_the_same_dataset_gives_the_same_pairs(dataset: Dataset, pairs: Any) -> None:
    again = pairs_of(dataset, "test", task_of(dataset))
    assert again.changes == pairs.changes and again.data.table.equals(pairs.data.table)
    symbols = pairs_of(dataset, "test", task_of(dataset), pictures=False)
    assert symbols.changes == pairs.changes and "image" not in symbols.data.table.column_names
    assert symbols.data.table.equals(pairs.data.table.select(symbols.data.table.column_names))
    fewer = pairs_of(dataset, "test", task_of(dataset), count=10, pictures=False)
    assert len(fewer) == 10 and [one.row for one in fewer.changes] == [one.row for one in pairs.changes[:10]]


def test_they_lie_in_the_dataset_as_a_split(dataset: Dataset, pairs: Any) -> None:
    split = dataset["pairs"]
    assert "pairs" in dataset and "pairs" not in dataset.split_names
    assert split.table["pair_row"].to_pylist() == [change.row for change in pairs.changes]
    assert split.table["pair_concept"].to_pylist() == [change.concept for change in pairs.changes]
    assert np.array_equal(split.concepts, pairs.data.concepts[len(pairs) :])
    assert np.array_equal(split.labels, pairs.data.labels[len(pairs) :])
    assert split.pngs == pairs.data.pngs[len(pairs) :]


def test_a_number_of_them_may_be_asked_for(tmp_path: Path) -> None:
    sizes = {"train": 100, "valid": 0, "test": 40, "hard": 0}
    usual = write(tmp_path / "usual", "mnadd", splits=sizes)
    fewer = write(tmp_path / "fewer", "mnadd", splits={**sizes, "pairs": 12})
    none = write(tmp_path / "none", "mnadd", splits={**sizes, "pairs": 0})
    assert fewer.fingerprint == none.fingerprint == usual.fingerprint
    assert fewer["pairs"].pngs == usual["pairs"].pngs[:12]
    with pytest.raises(DataError, match="has no counterfactual worlds: none were asked for"):
        none["pairs"]
    again = write(tmp_path / "none", "mnadd", splits=sizes)
    assert again["pairs"].pngs == usual["pairs"].pngs
    for name in ("manifest.json", "README.md", "croissant.json", "pairs/part-00000.parquet"):
        assert (tmp_path / "none" / name).read_bytes() == (tmp_path / "usual" / name).read_bytes()


def test_exactly_one_concept_differs_and_the_style_is_kept(pairs: Any) -> None:
    before, after = halves(pairs)
    data, space = pairs.data, pairs.data.knowledge.space
    assert len(data) == 2 * len(pairs) and data.index.tolist() == list(range(len(data))) and data.name == "test-pairs"
    for change, old, new in zip(pairs.changes, before.tolist(), after.tolist(), strict=True):
        (place,) = np.flatnonzero(data.concepts[old] != data.concepts[new])
        assert space.names[place] == change.concept and data.world(new)[change.concept] == change.value
        assert data.world(old).style == data.world(new).style
    assert np.array_equal(data.labels, data.knowledge.labels_of(data.concepts))


def test_rows_before_are_those_of_the_split_and_rows_after_are_drawn(dataset: Dataset, pairs: Any) -> None:
    split, task = dataset["test"], task_of(dataset)
    before, after = halves(pairs)
    rows = [change.row for change in pairs.changes]
    own = [name for name in split.table.column_names if name != "index"]
    assert len(set(rows)) == len(rows) == 120
    assert pairs.data.table.select(own).slice(0, len(pairs)).equals(split.table.select(own).take(rows))
    for row in after[:20].tolist():
        assert pairs.data.pngs[row] == encode_png(task.render(pairs.data.world(row)).image)
    assert [pairs.data.pngs[row] for row in before.tolist()] == [split.pngs[row] for row in rows]


def test_about_half_lead_across(tmp_path: Path) -> None:
    name, settings = TASKS_MADE["truths"]
    data = write(tmp_path / "data", name, **settings)
    found = pairs_of(data, "test", task_of(data), pictures=False)
    before, after = halves(found)
    moved = (found.data.labels[before] != found.data.labels[after]).any(axis=1)
    assert 0.4 < moved.mean() < 0.6
    assert {change.concept for change in found.changes} == set("abcd")
    along = [change.concept for change, across in zip(found.changes, moved, strict=True) if not across]
    assert "d" in along and "d" not in [c.concept for c, across in zip(found.changes, moved, strict=True) if across]


def test_where_every_change_leads_across_all_do(mnlogic: Dataset) -> None:
    found = pairs_of(mnlogic, "test", task_of(mnlogic), pictures=False)
    before, after = halves(found)
    assert (found.data.labels[before] != found.data.labels[after]).all() and len(found) == 32


def test_there_are_not_more_than_enough(evenodd: Dataset) -> None:
    assert len(pairs_of(evenodd, "ood", task_of(evenodd), pictures=False)) == 168
    assert (
        pairs_of(evenodd, "ood", task_of(evenodd), pictures=False).changes
        != pairs_of(evenodd, "test", task_of(evenodd), pictures=False).changes
    )


class Limited(Described):
    """Squares of which at least one is light."""

    name = "limited"

    @property
    def knowledge(self) -> Knowledge:
        limit = Constraint("some light", parse("a or b or c or d"))
        return Knowledge.of(Described.knowledge.func(self).space, {"y": self.rule}, [limit])  # type: ignore[attr-defined]


def test_changed_worlds_are_possible_and_other_columns_come_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = registered(Limited, tmp_path / "data", monkeypatch)
    found = pairs_of(data, "test", task_of(data))
    limit = data.knowledge.constraints[0].formula
    assert evaluate(limit, data.knowledge.space, found.data.concepts).all() and len(found) == 200
    text = found.data.texts[len(found)]
    assert text == Limited().describe(found.data.world(len(found)))
    tags = found.data.table["boundary_y"].to_pylist()
    assert tags == data.knowledge.boundaries[0].tags(found.data.concepts)


class Fixed(Squares):
    """Squares that cannot be drawn otherwise."""

    name = "fixed"

    def change_world(self, world, changes):  # type: ignore[no-untyped-def]
        return None


def test_worlds_that_cannot_be_changed_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = registered(Fixed, tmp_path / "data", monkeypatch)
    with pytest.raises(DataError, match="no world of split 'test' can be drawn again with one concept changed"):
        pairs_of(data, "test", task_of(data))
    assert "pairs" not in data and data.why_no_pairs.startswith("no world of split 'test' can be drawn again")


class Coupled(Squares):
    """The third square is light where the first is: one cannot change without the other."""

    name = "coupled"

    def change_world(self, world, changes):  # type: ignore[no-untyped-def]
        return world.do({**changes, "c": changes["a"]} if "a" in changes else changes)


def test_what_follows_from_a_change_is_changed_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = registered(Coupled, tmp_path / "data", monkeypatch)
    found = pairs_of(data, "test", task_of(data), pictures=False)
    before, after = halves(found)
    for change, old, new in zip(found.changes, before.tolist(), after.tolist(), strict=True):
        one, other = found.data.world(old), found.data.world(new)
        assert other[change.concept] == change.value
        assert {n for n in "abcd" if one[n] != other[n]} in ({change.concept}, {"a", "c"})
        assert change.concept != "a" or other["c"] == change.value


def test_robots_are_changed_part_by_part(tmp_path: Path) -> None:
    sizes = {"train": 0, "valid": 0, "test": 80, "hard": 0}
    data = write(tmp_path / "data", "robots", concepts="human", splits=sizes)
    found = pairs_of(data, "test", task_of(data), pictures=False)
    assert len(found) == 80 and len({change.concept for change in found.changes}) > 6
    for change, row in zip(found.changes, halves(found)[1].tolist(), strict=True):
        assert found.data.world(row)[change.concept] == change.value
    limits = data.knowledge.possible
    assert evaluate(limits, data.knowledge.space, found.data.concepts).all()


def test_pairs_show_the_truth_also_of_an_annotated_split(mnlogic: Dataset, tmp_path: Path) -> None:
    annotate(mnlogic, Annotation(splits=["train"], concept_noise=0.5), tmp_path / "copy")
    copy = Dataset.open(tmp_path / "copy")
    found = pairs_of(copy, "train", task_of(copy), 5)
    assert not [name for name in found.data.columns if name.startswith("given")]
    assert np.array_equal(found.data.concepts[:5], copy["train"].concepts[[one.row for one in found.changes]])


# -- values that training shows (of every task in tests/auditing/test_tasks.py) ----------------------------------------------------------------------------------------


HALF = {"train": 60, "valid": 0, "test": 80, "ood": 40, "hard": 0}


@pytest.mark.parametrize("sizes", [HALF, {**HALF, "train": 0}], ids=["whole", "test only"])
def test_digits_that_training_does_not_show_are_in_no_pair(tmp_path: Path, sizes: dict[str, int]) -> None:
    data = write(tmp_path / "data", "mnadd-half", splits=sizes)
    assert data["pairs"].concepts.max() == 4 and len(data["pairs"]) == 80
    before = data["pairs"].pngs
    refresh_pairs(data, task_of(data))
    assert Dataset.open(data.folder)["pairs"].pngs == before
    assert pairs_of(data, "ood", task_of(data), pictures=False).data.concepts.max() == 4


def test_a_split_that_is_made_to_show_more_may_show_it_in_its_own_pairs(tmp_path: Path) -> None:
    few = {"combinations_in_distribution": ["00", "01", "10", "11"]}
    data = write(tmp_path / "data", "mnadd", **few, splits={"train": 20, "valid": 0, "test": 20, "ood": 60, "hard": 0})
    assert data["pairs"].concepts.max() == 1 < pairs_of(data, "ood", task_of(data), pictures=False).data.concepts.max()


class OnlyTest(Squares):
    """Squares that nobody trains on."""

    name = "only-test"
    sizes = {"test": 60}


def test_where_nothing_is_trained_on_every_value_may_occur(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS.entries, OnlyTest.name, Entry(OnlyTest.name, "tests", OnlyTest))
    data = write(tmp_path / "data", OnlyTest.name)
    assert data.split_names[0] == "test" and len(data["pairs"]) == 60


# -- the task of a dataset ---------------------------------------------------------------------------------------------


NAMES = [f"{part}-{kind}" for part in ("train", "t10k") for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")]


def idx(array: np.ndarray) -> bytes:
    """Return an array as MNIST's files have it."""
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes() + array.astype(np.uint8).tobytes()


def digits(folder: Path, seed: int) -> Path:
    """Write idx files of 60 and 20 images of noise, the classes in turn."""
    images = np.random.default_rng(seed).integers(256, size=(80, 28, 28)).astype(np.uint8)
    classes = np.arange(80) % 10
    folder.mkdir()
    for name, part in zip(NAMES, (images[:60], classes[:60], images[60:], classes[60:]), strict=True):
        (folder / name).write_bytes(idx(part))
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Dataset:
    """A dataset of someone's own digits."""
    sizes = {"train": 100, "valid": 8, "test": 8, "hard": 8}
    return write(tmp_path / "data", "mnadd", digits=str(digits(tmp_path / "mnist", 0)), splits=sizes)


def test_the_manifest_says_where_the_digits_lie(own: Dataset, tmp_path: Path) -> None:
    assert own.manifest.local == {"digits": str(tmp_path / "mnist")}
    assert "digits" not in own.manifest.to_dict()["task"]["config"]
    assert task_of(own).sources() == own.manifest.sources and len(pairs_of(own, "test", task_of(own))) == 8
    again = write(
        tmp_path / "again", "mnadd", digits=str(shutil.copytree(tmp_path / "mnist", tmp_path / "copy")),
        splits={"train": 100, "valid": 8, "test": 8, "hard": 8},
    )  # fmt: skip
    assert again.fingerprint == own.fingerprint


def test_digits_that_were_moved_are_found_by_a_setting(own: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mnist").rename(tmp_path / "moved")
    digit_source.cache_clear()
    with pytest.raises(AssayError, match="no digits in"):
        task_of(own)
    assert task_of(own, Settings({"digits": str(tmp_path / "moved")})).sources() == own.manifest.sources


def test_other_sources_are_refused(own: Dataset, evenodd: Dataset, tmp_path: Path) -> None:
    other = Settings({"digits": str(digits(tmp_path / "other", 1))})
    for data in (own, evenodd):
        with pytest.raises(DataError, match="was made from other source images than those at hand"):
            task_of(data, other)


def test_tasks_of_another_version_or_maker_are_refused(mnlogic: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as context:
        context.setattr(MNLogic, "version", 99)
        with pytest.raises(DataError, match=r"is of version \d+ of its task, this is 99"):
            task_of(mnlogic)
    monkeypatch.delitem(TASKS.entries, "mnlogic")
    with pytest.raises(DataError, match="the task 'mnlogic' of .* is not installed"):
        task_of(mnlogic)
