"""What a changed concept does to models that are right, that never move, and that look at the wrong thing."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.base import Codes, DataError
from assay.contracts import PAIR_CONCEPT, PAIR_ROW, Predictions
from assay.dataset import Dataset, SplitData
from assay.diagnosis import Counterfactuals, counterfactuals, diagnose_run
from assay.runs import RunFolder
from assay.tasks import TASKS
from tests.conftest import write
from tests.predictors import predictions

SIZES = {"train": 400, "valid": 0, "test": 200, "hard": 0}
MADE = {
    "integers": ("mnadd", {}),
    "truths": ("mnlogic", {"k": 4, "formula": "a and b or c", "prop_in_distribution": 1.0}),
    "labels": ("mnmath", {"equations": ["x1 + x2 == x3 + x4", "x5 > x6"], "prop_in_distribution": 1.0}),
    "symbols": ("kand-logic", {}),
}
PIXELS = {"k": 4, "formula": "a and b or c", "prop_in_distribution": 1.0, "pixels": True, "splits": SIZES}


@pytest.fixture(scope="module", params=sorted(MADE))
def some(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    name, settings = MADE[request.param]
    return write(tmp_path_factory.mktemp("data") / name, name, splits=SIZES, **settings)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Four pixels, of which the last plays no part."""
    return write(tmp_path_factory.mktemp("pixels") / "data", "mnlogic", **PIXELS)


def oracle(data: SplitData) -> Predictions:
    return predictions(data, data.labels, data.concepts)


def effects(dataset: Dataset, answer: Callable[[SplitData], Predictions]) -> Counterfactuals:
    """Return the effects on a model that answers so."""
    return counterfactuals(dataset, answer(dataset.symbols("test")), answer(dataset.symbols("pairs")))


def reasoned(dataset: Dataset, read: Callable[[Codes], Codes]) -> Counterfactuals:
    """Return the effects on a model that reads concepts so, and follows the rule."""
    return effects(dataset, lambda d: predictions(d, d.knowledge.labels_of(read(d.concepts)), read(d.concepts)))


def values(found: Counterfactuals, name: str | None = None) -> dict[str, float]:
    chosen = found.all if name is None else found.by_concept[name]
    return {key: score["value"] for key, score in chosen.to_dict().items() if score["value"] is not None}


def test_the_oracle_follows_and_stays(some: Dataset) -> None:
    found = effects(some, oracle)
    assert set(values(found).values()) == {1.0} and {"follows", "noticed", "untouched"} <= set(values(found))
    assert found.all.consistency == 1.0 and found.pairs == 200 and found.split == "pairs"
    assert sum(part.noticed.examples for part in found.by_concept.values()) == 200
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"] == 200


def test_the_constant_never_follows_and_always_stays(some: Dataset) -> None:
    test, pairs = some.symbols("test"), some.symbols("pairs")

    def constant(data: SplitData) -> Predictions:
        rows = np.zeros(len(data), dtype=np.int64)
        return predictions(data, test.labels[rows], test.concepts[rows])

    told = values(effects(some, constant))
    assert told["follows"] == 0.0 and told.get("stays", 1.0) == 1.0 and told["untouched"] == 1.0
    places = [some.knowledge.space.place(name) for name in pairs.table[PAIR_CONCEPT].to_pylist()]
    hits = [pairs.concepts[row, place] == test.concepts[0, place] for row, place in enumerate(places)]
    assert told["noticed"] == np.mean(hits)


def test_truths_stay_as_well(data: Dataset) -> None:
    found = effects(data, oracle)
    assert found.all.stays.applies and found.all.follows.examples + found.all.stays.examples == 200
    assert found.by_concept["d"].follows.examples == 0 and not found.by_concept["d"].follows.applies
    text = "When one concept is changed, the label follows in 100 % of the changes that should move it and stays in "
    assert found.text == f"{text}100 % of those that should not."


def taking(place: int, other: int) -> Callable[[Codes], Codes]:
    """Return what reads one concept off another."""

    def read(codes: Codes) -> Codes:
        read = codes.copy()
        read[:, place] = codes[:, other]
        return read

    return read


def test_a_model_that_reads_the_wrong_concept_is_found_out(data: Dataset) -> None:
    """It takes the second pixel for the first."""
    found = reasoned(data, taking(0, 1))
    assert values(found, "a")["follows"] == values(found, "a")["stays"] - 1.0 == 0.0
    assert 0 < values(found, "a")["noticed"] < 1  # where the two happen to agree
    assert values(found, "b")["untouched"] == pytest.approx(2 / 3)  # a is predicted to change along with b
    assert set(values(found, "d").values()) == {1.0} and values(found)["follows"] < 1


def test_a_model_that_looks_at_what_does_not_matter_does_not_stay(data: Dataset) -> None:
    """It takes the last pixel, which plays no part, for the third."""
    found = reasoned(data, taking(2, 3))
    assert values(found, "d")["stays"] < 1 and values(found, "c")["follows"] == 0.0


def test_of_a_model_without_concepts_only_labels_are_known(data: Dataset) -> None:
    found = effects(data, lambda split: predictions(split, split.labels))
    assert values(found) == {"follows": 1.0, "stays": 1.0} and not found.all.noticed.applies


def test_the_order_of_the_rows_does_not_matter(data: Dataset) -> None:
    def mixed(split: SplitData) -> Predictions:
        return oracle(split.take(np.random.default_rng(0).permutation(len(split))))

    assert effects(data, mixed).to_dict() == effects(data, oracle).to_dict()


def test_answers_that_do_not_fit_are_refused(data: Dataset) -> None:
    test, pairs = data.symbols("test"), data.symbols("pairs")
    with pytest.raises(DataError, match=r"hold 100 of the 200 rows of split 'pairs'"):
        counterfactuals(data, oracle(test), oracle(pairs.take(np.arange(100))))
    with pytest.raises(DataError, match="are for split 'test', not 'pairs'"):
        counterfactuals(data, oracle(test), oracle(test))
    originals = pairs.table[PAIR_ROW].to_pylist()
    others = np.array([row for row in range(len(test)) if row != originals[3]])
    with pytest.raises(DataError, match=f"split 'test' leave out example {originals[3]}, which 'pairs' changes"):
        counterfactuals(data, oracle(test.take(others)), oracle(pairs))


def test_pairs_with_values_that_training_does_not_show_are_told_apart(data: Dataset) -> None:
    """Training shows no world whose last pixel is set, and the model knows nothing of such worlds."""

    def answer(split: SplitData) -> Predictions:
        unknown = split.concepts[:, 3] == 1
        return predictions(split, np.where(unknown[:, None], 0, split.labels), split.concepts)

    every = data.symbols("train").concepts
    worlds, said = every[every[:, 3] == 0], [answer(data.symbols(name)) for name in ("test", "pairs")]
    found, plain = counterfactuals(data, *said, worlds), counterfactuals(data, *said)
    test, pairs = data.symbols("test"), data.symbols("pairs")
    apart = (test.concepts[pairs.pair_rows, 3] == 1) | (pairs.concepts[:, 3] == 1)
    assert 0 < apart.sum() == found.unseen_pairs == 200 - found.pairs
    assert found.unseen is not None and found.unseen.follows.value == 0.0
    assert values(found)["follows"] == values(found)["stays"] == 1.0 > values(plain)["follows"]
    assert found.to_dict()["unseen"]["pairs"] == found.unseen_pairs and str(found.unseen_pairs) in found.text
    assert "d" not in found.by_concept and plain.unseen is None and "unseen" not in plain.to_dict()
    whole = counterfactuals(data, *said, every)
    assert whole.to_dict() == plain.to_dict() and whole.text == plain.text
    none = counterfactuals(data, *said, worlds[:1])  # one world: every change leads to a value that is not shown
    assert (none.pairs, none.unseen_pairs) == (0, 200) and not none.all.follows.applies and "200" in none.text


def test_a_diagnosis_tells_what_changes_do(data: Dataset, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "theirs")
    oracle(data.symbols("test")).write(run.predictions("test"), data.knowledge)
    assert diagnose_run(run, data).counterfactuals is None
    oracle(data.symbols("pairs")).write(run.predictions("pairs"), data.knowledge)
    found = diagnose_run(run, data)
    assert found.verdict == "sound" and found.counterfactuals is not None and found.counterfactuals.text in found.notes
    assert found.to_dict()["counterfactuals"]["all"]["follows"]["value"] == 1.0


def test_a_dataset_whose_task_is_not_installed_is_diagnosed_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "data", "mnlogic", **PIXELS)
    run = RunFolder(tmp_path / "run")
    for split in ("test", "pairs"):
        oracle(data.symbols(split)).write(run.predictions(split), data.knowledge)
    here = diagnose_run(run, data).to_dict()
    monkeypatch.delitem(TASKS.registered, "mnlogic")
    assert "mnlogic" not in TASKS
    assert diagnose_run(run, Dataset.open(data.folder)).to_dict() == here
    assert here["counterfactuals"]["pairs"] == 200
