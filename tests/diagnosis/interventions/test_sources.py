"""Who answers in an intervention: the truth, experts that err, other models, files, machines and the model itself."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from assay.base import ConfigError, DataError, UnknownName, rng_for
from assay.contracts import Prediction, Predictions
from assay.diagnosis import answers_from
from assay.logic import Concept, ConceptSpace
from tests.diagnosis.interventions.test_plans import blind_to_the_first


def class_indices(answers):
    return np.stack([np.where(np.isnan(p[:, 0]), -1, np.nan_to_num(p).argmax(axis=1)) for p in answers], axis=1)


def test_plain_sources(mnlogic):
    data = mnlogic["test"]
    model = blind_to_the_first(data)
    assert class_indices(answers_from("perfect", data, model)).tolist() == data.concepts.tolist()
    for own, said in zip(model.concepts, answers_from("self", data, model), strict=True):
        assert said.tolist() == own.tolist()
    assert class_indices(answers_from("expert:1", data, model)).tolist() == data.concepts.tolist()
    assert class_indices(answers_from("expert:0", data, model)).tolist() == (1 - data.concepts).tolist()

    class Reader:
        def probabilities(self, split):
            return [np.where(np.arange(len(split))[:, None] == 1, np.nan, [0.3, 0.7])] * 3

    said = class_indices(answers_from("vlm", data, model, reader=Reader()))
    assert said[1].tolist() == [-1] * 3 and (np.delete(said, 1, axis=0) == 1).all()
    assert np.nanmax(answers_from("clip:here", data, model, reader=Reader())[0]) == 1


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("vlm", ConfigError, "is a machine that must be opened"),
        ("clip", ConfigError, "source 'clip' is not whole"),
        ("expert", ConfigError, "source 'expert' is not whole"),
        ("clip:weights", ConfigError, "is a machine that must be opened"),
        ("file:", ConfigError, "source 'file:' is not whole"),
        ("perfect:1", ConfigError, "source 'perfect:1' is not whole"),
        ("oracle", UnknownName, "no source named 'oracle'"),
        ("expert:1.1", ConfigError, "an accuracy is a number from 0 to 1"),
        ("expert:-0.1", ConfigError, "an accuracy is a number from 0 to 1"),
        ("expert:nowhere.json", ConfigError, "expected an accuracy or a JSON file"),
        ("file:nowhere.csv", DataError, "cannot be read"),
    ],
)
def test_sources_that_cannot_be(source, kind, message, mnlogic):
    data = mnlogic["test"]
    with pytest.raises(kind, match=message):
        answers_from(source, data, blind_to_the_first(data))


def test_an_expert_with_confusions_of_each_concept(mnlogic, tmp_path):
    data, path = mnlogic["test"], tmp_path / "expert.json"
    names = data.knowledge.space.names
    path.write_text(json.dumps({names[0]: 0.0, names[1]: [[1, 0], [1, 0]]}))
    said = class_indices(answers_from(f"expert:{path}", data, blind_to_the_first(data)))
    assert said[:, 0].tolist() == (1 - data.concepts[:, 0]).tolist()
    assert (said[:, 1] == 0).all() and said[:, 2].tolist() == data.concepts[:, 2].tolist()
    for wrong in ({names[0]: 1.5}, {names[0]: [[1, 0]]}, {names[0]: [[0.5, 0.4], [0, 1]]}, {names[0]: "much"},
                  {names[0]: [[2, -1], [0, 1]]}, {names[0]: [[None, 1], [0, 1]]}):  # fmt: skip
        path.write_text(json.dumps(wrong))
        with pytest.raises(ConfigError, match="needs an accuracy, or 2 rows of 2 chances"):
            answers_from(f"expert:{path}", data, blind_to_the_first(data))
    path.write_text("[1]")
    with pytest.raises(ConfigError, match="for each concept by name"):
        answers_from(f"expert:{path}", data, blind_to_the_first(data))
    path.write_text('{"q": 1}')
    with pytest.raises(UnknownName, match="no concept named 'q'"):
        answers_from(f"expert:{path}", data, blind_to_the_first(data))


def test_answers_of_another_model(mnlogic, tmp_path):
    data, path = mnlogic["test"], tmp_path / "other.parquet"
    name = data.knowledge.space.names[1]
    rows = np.array([5, 2])
    labels = {x: Prediction(data.labels[rows, i]) for i, x in enumerate(data.knowledge.label_names)}
    other = Predictions(data.fingerprint, "test", data.index[rows], labels, {name: Prediction(np.array([1, 0]))})
    other.write(path, data.knowledge)
    said = class_indices(answers_from(f"model:{path}", data, blind_to_the_first(data)))
    assert said[5].tolist() == [-1, 1, -1] and said[2].tolist() == [-1, 0, -1] and (said >= 0).sum() == 2
    for wrong, message in (({"split": "ood"}, "answers for split 'ood'"), ({"fingerprint": "x"}, "of other data"),
                           ({"concepts": {}}, "answers no concept"), ({"index": np.array([5, 999])}, "no example 999")):  # fmt: skip
        replace(other, **wrong).write(path, data.knowledge)
        with pytest.raises(DataError, match=message):
            answers_from(f"model:{path}", data, blind_to_the_first(data))


def test_answers_in_files(mnlogic, tmp_path):
    data = mnlogic["test"]
    space, model = data.knowledge.space, blind_to_the_first(data)
    name, values = space.names[2], space.concepts[2].values
    whole = pa.table({name: [values[1]] * len(data)})
    some = pa.table({"index": data.index[[4, 1]], f"concept_{name}": [values[0], values[1]]})
    pa.csv.write_csv(whole, tmp_path / "whole.csv")
    pq.write_table(some, tmp_path / "some.parquet")
    said = class_indices(answers_from(f"file:{tmp_path / 'whole.csv'}", data, model))
    assert (said[:, :2] == -1).all() and (said[:, 2] == 1).all()
    said = class_indices(answers_from(f"file:{tmp_path / 'some.parquet'}", data, model))
    assert (said[4, 2], said[1, 2]) == (0, 1) and (said >= 0).sum() == 2
    pq.write_table(whole.slice(1), tmp_path / "short.parquet")
    pq.write_table(pa.table({"q": [1]}), tmp_path / "other.parquet")
    for file, message in (("short", f"has {len(data) - 1} rows, split 'test' has {len(data)}"),
                          ("other", "no column is named as a concept")):  # fmt: skip
        with pytest.raises(DataError, match=message):
            answers_from(f"file:{tmp_path / file}.parquet", data, model)


SPACE = ConceptSpace((Concept("a", (False, True)), Concept("one", ("only",)), Concept("n", (0, 1, 2))))


def rows(concepts, name="test"):
    return SimpleNamespace(knowledge=SimpleNamespace(space=SPACE), concepts=concepts, name=name)


def test_experts_say_nothing_of_what_is_not_known_and_any_other_value_where_they_err():
    truth = np.array([[1, 0, 2], [-1, 0, 0], [0, 0, -1], [1, 0, 1]])
    said = class_indices(answers_from("expert:0", rows(truth), None, 3))
    assert said[:, 0].tolist() == [0, -1, 1, 0] and said[:, 1].tolist() == [0] * 4 and said[2, 2] == -1
    assert (said[[0, 1, 3], 2] != truth[[0, 1, 3], 2]).all() and (said[[0, 1, 3], 2] >= 0).all()
    assert class_indices(answers_from("expert:1", rows(truth), None)).tolist() == truth.tolist()


def test_an_expert_errs_as_often_as_said_and_the_same_way_each_time(tmp_path):
    truth = rng_for(0, "truth").integers(0, [2, 1, 3], size=(20_000, 3))
    path, chances = tmp_path / "c.json", [[1, 0, 0], [0, 0.5, 0.5], [0.25, 0.25, 0.5]]
    path.write_text(json.dumps({"a": 0.8, "n": chances}))
    first, again, other = (class_indices(answers_from(f"expert:{path}", rows(truth), None, seed)) for seed in (0, 0, 1))
    assert (first == again).all() and (first != other).any() and (first[:, 1] == 0).all()
    assert (first[:, 0] == truth[:, 0]).mean() == pytest.approx(0.8, abs=0.01)
    for value in range(3):
        shares = np.bincount(first[truth[:, 2] == value, 2], minlength=3) / (truth[:, 2] == value).sum()
        assert shares == pytest.approx(chances[value], abs=0.02)
    even = class_indices(answers_from("expert:0.4", rows(truth), None))
    shares = np.bincount(even[truth[:, 2] == 1, 2], minlength=3) / (truth[:, 2] == 1).sum()
    assert shares == pytest.approx([0.3, 0.4, 0.3], abs=0.02)
