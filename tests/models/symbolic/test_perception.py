"""Where learners on concepts get them from: the truth, a run, or predictions of any make; and what is refused."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from assay import Prediction, from_table
from assay.base import ConfigError, DataError
from assay.logic import ABSENT
from assay.models import load_model, one_hot, perception_of
from tests.models.symbolic.tables import cars, learn, write_predictions
from tests.pixels import pixels, trained


def without(*names):
    return lambda evidence: replace(evidence, concepts={n: a for n, a in evidence.concepts.items() if n not in names})


def concepts_of(model, data):
    return np.stack([answer.codes for answer in model.predict(data).concepts.values()], axis=1)


def test_what_is_missing_counts_as_absent_or_else_as_uniform():
    space = cars(1, absent=True)
    spreads = one_hot(np.array([[1, -1], [-1, 0]]), space)
    assert spreads[0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]] and spreads[1].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert space.concepts[0].values[spreads[0][1].argmax()] == ABSENT


def test_without_perception_the_concepts_are_the_true_ones(data, tmp_path):
    model = learn("tree", data, tmp_path / "run")
    assert (concepts_of(model, data["test"]) == data["test"].concepts).all()
    assert model.predict(data["test"]).about["perception"] is None


def test_a_run_can_be_what_perceives(data, run, tmp_path):
    model = learn("synthesis", data, tmp_path / "run", perception=str(run))
    seen, told = load_model(run).predict(data["test"]), model.predict(data["test"])
    for name, answer in told.concepts.items():
        np.testing.assert_allclose(answer.probabilities, seen.concepts[name].probabilities, atol=1e-6)
    record = (tmp_path / "run" / "run.json").read_text()
    about = json.loads(record)["perception"]
    assert (about["model"], about["folder"], about["data"]) == ("dpl", "run", data.fingerprint)
    assert len(about["fingerprint"]) == 32 and str(run.resolve()) not in record
    assert (tmp_path / "run" / "predictions" / "pairs.parquet").exists()  # the run is asked anew for these


def test_perception_is_found_again_where_both_were_moved(data, run, tmp_path):
    shutil.copytree(run, tmp_path / "here" / "eye")
    before = learn("rules", data, tmp_path / "here" / "run", perception=str(tmp_path / "here" / "eye"))
    one = before.predict(data["valid"])
    shutil.move(tmp_path / "here", tmp_path / "there")
    other = load_model(tmp_path / "there" / "run").predict(data["valid"])
    assert np.array_equal(one.labels["y"].codes, other.labels["y"].codes)


def test_predictions_of_any_make_can_be_what_perceives(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye")
    model = learn("synthesis", data, tmp_path / "run", perception=str(eye))
    assert (
        str(model.formulas["y"]) and (model.predict(data["test"]).labels["y"].codes == data["test"].labels[:, 0]).all()
    )
    assert not (tmp_path / "run" / "predictions" / "pairs.parquet").exists()  # nobody perceived the pairs


def test_predictions_are_put_in_the_order_of_the_examples(data, tmp_path):
    def turned(evidence):
        order = np.random.default_rng(0).permutation(len(evidence.index))
        answers = {n: Prediction(a.codes[order]) for n, a in evidence.concepts.items()}
        return replace(evidence, index=evidence.index[order], concepts=answers, labels={})

    eye = write_predictions(data, tmp_path / "eye", turned)
    found = perception_of(str(eye)).probabilities(data["test"])
    assert all((own.argmax(axis=1) == true).all() for own, true in zip(found, data["test"].concepts.T, strict=True))
    few = write_predictions(
        data, tmp_path / "few",
        lambda e: replace(
            e, index=e.index[1:], labels={}, concepts={n: Prediction(a.codes[1:]) for n, a in e.concepts.items()}
        ),
    )  # fmt: skip
    with pytest.raises(DataError, match=f"says nothing of example {data['test'].index[0]} of split 'test'"):
        perception_of(str(few)).probabilities(data["test"])


def test_a_class_that_a_detector_does_not_know_is_never_there(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", without("c"))
    told = concepts_of(learn("tree", data, tmp_path / "run", perception=str(eye)), data["test"])
    assert (told[:, 2] == 0).all() and (data["test"].concepts[:, 2] == 1).any()


def test_splits_that_nobody_perceived_are_left_out(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", splits=("train", "test"))
    learn("linear", data, tmp_path / "run", perception=str(eye))
    assert [path.name for path in (tmp_path / "run" / "predictions").glob("*.parquet")] == ["test.parquet"]


def test_rules_learned_from_the_truth_differ_from_those_learned_from_what_is_perceived(data, tmp_path):
    def turned(evidence):
        return replace(evidence, concepts={n: Prediction(1 - a.codes) for n, a in evidence.concepts.items()})

    eye = str(write_predictions(data, tmp_path / "eye", turned))
    seen = learn("synthesis", data, tmp_path / "seen", perception=eye)
    told = learn("synthesis", data, tmp_path / "told", perception=eye, learn_from="truth")
    truth = data["test"].labels[:, 0]
    assert (seen.predict(data["test"]).labels["y"].codes == truth).all()
    assert (told.predict(data["test"]).labels["y"].codes != truth).any()


def test_rows_with_gaps_are_left_out_where_enough_are_whole(tmp_path):
    """The labels of the rows with a gap say the opposite."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 2, 60).astype(bool).tolist() for _ in range(2))
    y = [x if row < 30 else not x for row, x in enumerate(a)]
    b = [x if row < 30 else None for row, x in enumerate(b)]
    columns = {"a": a, "b": b, "y": y, "split": (["train"] * 50 + ["test"] * 10)}
    pictures = [np.zeros((4, 4), dtype=np.uint8)] * 60
    data = from_table(columns, tmp_path / "data", images=pictures, concepts=["a", "b"], labels=["y"], split="split")
    model = learn("tree", data, tmp_path / "run")
    assert (model.predict(data["train"]).labels["y"].codes == data["train"].concepts[:, 0]).all()


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("perception", "message"),
    [
        ("nowhere", "perception: no run or predictions file"),
        (".", "is no run, no predictions file and holds none"),
    ],
)
def test_perception_that_is_not_there_is_one_line(perception, message, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message) as caught:
        learn("tree", data, tmp_path / "run", perception=perception)
    assert "\n" not in str(caught.value) and not list(tmp_path.rglob("*.parquet"))


def test_perception_that_says_nothing_of_concepts_is_refused(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", without("a", "b", "c"))
    with pytest.raises(ConfigError, match="say nothing of concepts"):
        learn("tree", data, tmp_path / "run", perception=str(eye))
    trained("blackbox", data, tmp_path / "box", {"epochs": 1})
    with pytest.raises(ConfigError, match="holds 'blackbox', which says nothing of concepts"):
        learn("tree", data, tmp_path / "run", perception=str(tmp_path / "box"))


def test_perception_of_other_data_is_refused(data, run, mnlogic, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", lambda evidence: replace(evidence, fingerprint="0" * 32))
    with pytest.raises(DataError, match="perception is of a dataset with fingerprint"):
        learn("tree", data, tmp_path / "run", perception=str(eye))
    other = pixels(tmp_path / "other", names=["d", "e", "f"], formula="d and e or f")
    with pytest.raises(DataError, match="knows none of the concepts of the data"):
        learn("tree", other, tmp_path / "run", perception=str(run))
    with pytest.raises(DataError, match=r"pictures|pixels"):
        learn("tree", mnlogic, tmp_path / "run", perception=str(run))


def test_settings_of_a_reader_are_refused_for_anything_else(run):
    with pytest.raises(ConfigError, match="reader: only perception=vlm or clip:FOLDER has such settings"):
        perception_of(str(run), {"model": "x"})
