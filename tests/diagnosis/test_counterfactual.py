"""What a changed concept does to models that are right, that never move, and that look at the wrong thing."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from assay.arrays import Codes
from assay.data.dataset import Dataset
from assay.data.pairs import Pairs, pairs_of
from assay.data.rebuild import task_of
from assay.diagnosis.counterfactual import Counterfactuals, counterfactuals
from assay.diagnosis.runs import diagnose_run
from assay.errors import DataError
from assay.families.handwriting.digits import digit_source
from assay.predictions import Predictions
from assay.runs import RunFolder
from tests.conftest import write
from tests.data.test_pairs import digits
from tests.predictors import predictions

SIZES = {"train": 8, "valid": 0, "test": 200, "hard": 0}
MADE = {
    "integers": ("mnadd", {}),
    "truths": ("mnlogic", {"k": 4, "formula": "a and b or c", "prop_in_distribution": 1.0}),
    "labels": ("mnmath", {"equations": ["x1 + x2 == x3 + x4", "x5 > x6"], "prop_in_distribution": 1.0}),
    "symbols": ("kand-logic", {}),
}
PIXELS = {"k": 4, "formula": "a and b or c", "prop_in_distribution": 1.0, "pixels": True, "splits": SIZES}


@pytest.fixture(scope="module", params=sorted(MADE))
def some(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    name, settings = MADE[request.param]
    data = write(tmp_path_factory.mktemp("data") / name, name, splits=SIZES, **settings)
    return pairs_of(data, "test", task_of(data), pictures=False)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Four pixels, of which the last plays no part."""
    return write(tmp_path_factory.mktemp("pixels") / "data", "mnlogic", **PIXELS)


@pytest.fixture(scope="module")
def pairs(data: Dataset) -> Pairs:
    return pairs_of(data, "test", task_of(data), pictures=False)


def oracle(pairs: Pairs) -> Predictions:
    return predictions(pairs.data, pairs.data.labels, pairs.data.concepts)


def reasoned(pairs: Pairs, read: Codes) -> Counterfactuals:
    """Return the effects on a model that reads these concepts and follows the rule."""
    return counterfactuals(pairs, predictions(pairs.data, pairs.data.knowledge.labels_of(read), read))


def values(found: Counterfactuals, name: str | None = None) -> dict[str, float]:
    effects = found.all if name is None else found.by_concept[name]
    return {key: score["value"] for key, score in effects.to_dict().items() if score["value"] is not None}


def test_the_oracle_follows_and_stays(some: Pairs) -> None:
    found = counterfactuals(some, oracle(some))
    assert set(values(found).values()) == {1.0} and {"follows", "noticed", "untouched"} <= set(values(found))
    assert found.all.consistency == 1.0 and found.pairs == len(some) and found.split == "test-pairs"
    assert sum(effects.noticed.examples for effects in found.by_concept.values()) == len(some)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"] == len(some)


def test_the_constant_never_follows_and_always_stays(some: Pairs) -> None:
    rows = np.zeros(len(some.data), dtype=np.int64)
    found = counterfactuals(some, predictions(some.data, some.data.labels[rows], some.data.concepts[rows]))
    told = values(found)
    assert told["follows"] == 0.0 and told.get("stays", 1.0) == 1.0 and told["untouched"] == 1.0
    said = some.data.concepts[0]
    changed = [some.data.knowledge.space.place(change.concept) for change in some.changes]
    after = some.data.concepts[len(some) :]
    assert told["noticed"] == np.mean([after[row, place] == said[place] for row, place in enumerate(changed)])


def test_truths_stay_as_well(pairs: Pairs) -> None:
    found = counterfactuals(pairs, oracle(pairs))
    assert found.all.stays.applies and found.all.follows.examples + found.all.stays.examples == len(pairs)
    assert found.by_concept["d"].follows.examples == 0 and not found.by_concept["d"].follows.applies
    text = "When one concept is changed, the label follows in 100 % of the changes that should move it and stays in "
    assert found.text == f"{text}100 % of those that should not."


def test_a_model_that_reads_the_wrong_concept_is_found_out(pairs: Pairs) -> None:
    """It takes the second pixel for the first."""
    read = pairs.data.concepts.copy()
    read[:, 0] = read[:, 1]
    found = reasoned(pairs, read)
    assert values(found, "a")["follows"] == values(found, "a")["stays"] - 1.0 == 0.0
    assert 0 < values(found, "a")["noticed"] < 1  # where the two happen to agree
    assert values(found, "b")["untouched"] == pytest.approx(2 / 3)  # a is predicted to change along with b
    assert set(values(found, "d").values()) == {1.0} and values(found)["follows"] < 1


def test_a_model_that_looks_at_what_does_not_matter_does_not_stay(pairs: Pairs) -> None:
    """It takes the last pixel, which plays no part, for the third."""
    read = pairs.data.concepts.copy()
    read[:, 2] = read[:, 3]
    found = reasoned(pairs, read)
    assert values(found, "d")["stays"] < 1 and values(found, "c")["follows"] == 0.0


def test_of_a_model_without_concepts_only_labels_are_known(pairs: Pairs) -> None:
    found = counterfactuals(pairs, predictions(pairs.data, pairs.data.labels))
    assert values(found) == {"follows": 1.0, "stays": 1.0} and not found.all.noticed.applies


def test_the_order_of_the_rows_does_not_matter(pairs: Pairs) -> None:
    told = oracle(pairs)
    order = np.random.default_rng(0).permutation(len(told.index))
    mixed = pairs.data.take(order)
    found = counterfactuals(pairs, predictions(mixed, mixed.labels, mixed.concepts))
    assert found.to_dict() == counterfactuals(pairs, told).to_dict()


def test_answers_that_do_not_fit_are_refused(pairs: Pairs, data: Dataset) -> None:
    some = pairs.data.take(np.arange(len(pairs)))
    with pytest.raises(DataError, match=r"hold 200 of the 400 rows of split 'test-pairs'; answer for all"):
        counterfactuals(pairs, predictions(some, some.labels))
    with pytest.raises(DataError, match="are for split 'test', not 'test-pairs'"):
        counterfactuals(pairs, predictions(data.symbols("test"), data.symbols("test").labels))


def test_a_diagnosis_tells_what_changes_do(pairs: Pairs, data: Dataset, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "theirs")
    split = data.symbols("test")
    predictions(split, split.labels, split.concepts).write(run.predictions("test"), data.knowledge)
    assert diagnose_run(run, data).counterfactuals is None
    oracle(pairs).write(run.pairs("test"), data.knowledge)
    found = diagnose_run(run, data)
    assert (
        found.verdict == "sound" and found.counterfactuals is not None and found.counterfactuals.text in found.reasons
    )
    assert found.to_dict()["counterfactuals"]["all"]["follows"]["value"] == 1.0


def test_where_the_task_cannot_be_built_the_rest_is_told(tmp_path: Path) -> None:
    sizes = {"train": 8, "valid": 8, "test": 8, "hard": 8}
    data = write(tmp_path / "data", "mnadd", digits=str(digits(tmp_path / "mnist", 0)), splits=sizes)
    run = RunFolder(tmp_path / "run")
    split = data.symbols("test")
    predictions(split, split.labels, split.concepts).write(run.predictions("test"), data.knowledge)
    oracle(pairs_of(data, "test", task_of(data))).write(run.pairs("test"), data.knowledge)
    assert diagnose_run(run, data).counterfactuals is not None
    shutil.rmtree(tmp_path / "mnist")
    digit_source.cache_clear()
    found = diagnose_run(run, data)
    assert found.verdict == "too few" and found.counterfactuals is None
    assert found.reasons[-1].startswith("What changing one concept does is left out: no digits in")
