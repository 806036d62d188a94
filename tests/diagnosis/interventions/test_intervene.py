"""Whole intervention studies on a model whose errors are written down: one bit is always read as false."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from assay.contracts import BottleneckModel
from assay.data import redrawing_for
from assay.diagnosis import InterventionPlan, answers_from, intervene, rule_head
from assay.diagnosis.interventions.manipulation import toggle_concepts
from assay.diagnosis.interventions.sources import check_answers
from assay.errors import ConfigError, DataError, UnknownName
from assay.predictions import Answer, Predictions


def blind_to_the_first(data):
    """A model that reads the first bit as false, not quite surely, and the others as they are."""
    read = data.concepts.copy()
    read[:, 0] = 0
    concepts = [0.8 * np.eye(2)[read[:, i]] + 0.1 for i in range(3)]
    concepts[0] = np.tile([0.6, 0.4], (len(data), 1))
    return BottleneckModel("blind", concepts, rule_head(data.knowledge))


def study(dataset, **plan):
    return intervene(
        InterventionPlan(**plan), dataset, blind_to_the_first, redrawing_for(plan.get("kind", ""), dataset)
    )


def test_asking_about_what_it_cannot_see_mends_a_model(mnlogic):
    found = study(mnlogic, policy="fixed", order=mnlogic.knowledge.space.names)
    data = mnlogic["test"]
    share = (data.concepts[:, 0] == 0).mean()
    points = found.curve.points
    assert [point.budget for point in points] == [0, 1, 2, 3] and [p.whole for p in points] == [False] * 3 + [True]
    assert points[0].accuracy == pytest.approx(share) and [p.accuracy for p in points[1:]] == [1, 1, 1]
    assert [point.asked for point in points] == [0, 1, 2, 3] == [point.answered for point in points]
    assert [point.edited for point in points] == pytest.approx([0, 1 - share, 1 - share, 1 - share])
    assert [point.changed for point in points] == pytest.approx([0, 1 - share, 1 - share, 1 - share])
    assert points[0].concept_accuracy == pytest.approx((2 + share) / 3) and points[-1].concept_accuracy == 1
    assert found.control_changed == 0 and {p.accuracy for p in found.control.points} == {points[0].accuracy}
    assert found.index.tolist() == data.index.tolist() and found.truth.labels.tolist() == data.labels.tolist()
    assert found.plan.to_dict()["source"] == "perfect" and found.abstention is None
    frame = found.to_frame()
    assert frame["accuracy"].tolist() == [p.accuracy for p in points] and len(frame) == 4
    assert repr(found) == (
        f"InterventionResult(blind, fixed, confirmation: label accuracy {share:.3f} at budget 0, 1.000 at 3)"
    )


def test_the_most_telling_question_is_about_what_is_least_sure(mnlogic):
    found = study(mnlogic, policy="responsiveness", budget="1")
    assert found.curve.asked[0].units[:, 0].all() and found.curve.points[0].accuracy == 1


def test_changed_worlds_are_judged_by_their_own_truth(mnlogic):
    names, data = mnlogic.knowledge.space.names, mnlogic["test"]
    found = study(mnlogic, policy="fixed", order=names, kind="manipulation", budget="0,1,max")
    zeros = (data.concepts[:, 0] == 0).mean()
    assert [point.accuracy for point in found.curve.points] == pytest.approx([zeros, 1 - zeros, 1 - zeros])
    assert [point.edited for point in found.curve.points] == [0, 1, 3] == [p.answered for p in found.curve.points]
    assert {point.accuracy for point in found.control.points} == {zeros} and found.plan.answered_by == "toggle"
    assert {point.edited for point in found.control.points} == {0}
    kept = study(mnlogic, policy="fixed", order=names, kind="manipulation", source="self", budget="max")
    assert [point.edited for point in kept.curve.points] == [0]
    told = study(mnlogic, policy="fixed", order=names, kind="manipulation", source="expert:0", budget="max")
    assert [point.edited for point in told.curve.points] == [3]
    with pytest.raises(ConfigError, match="nothing to draw them with"):
        intervene(InterventionPlan(kind="manipulation"), mnlogic, blind_to_the_first)


def test_what_is_decided_alone_is_not_asked_about(mnlogic):
    def sure_of_some(data):
        sure = np.arange(len(data))[:, None] % 2 == 0
        concepts = [np.where(sure, np.eye(2)[data.concepts[:, i]], 0.5) for i in range(3)]
        return BottleneckModel("sure", concepts, rule_head(data.knowledge))

    found = intervene(
        InterventionPlan(policy="random", budget="0,max", target=1.0, baseline=0.25), mnlogic, sure_of_some
    )
    first, last = found.curve.points
    assert first.automated.coverage == 0.5 and first.automated.selective_accuracy == 1
    assert last.asked == 1.5 and last.accuracy == 1 and last.gain == 0.75  # three concepts of every second example
    assert last.automated.net_work_automated == pytest.approx(1 - 1.5 / 3)
    assert not found.curve.asked[1].units[::2].any() and found.curve.asked[1].units[1::2].all()


def test_plans_that_cannot_be(mnlogic):
    with pytest.raises(UnknownName, match="no kind of intervention named 'manipulate'; did you mean 'manipulation'"):
        InterventionPlan(kind="manipulate")
    with pytest.raises(ConfigError, match="'toggle' is for manipulation"):
        InterventionPlan(source="toggle")
    with pytest.raises(UnknownName, match="order: nothing named 'q'"):
        study(mnlogic, policy="fixed", order=["q"])
    ranked = study(mnlogic, policy="validation", budget="1")
    assert ranked.curve.asked[0].units[:, 0].all() and ranked.curve.points[0].accuracy == 1  # learned on `valid`


def test_toggled_concepts_have_any_other_value():
    truth = np.tile([0, 3], (4000, 1))
    found = toggle_concepts(truth, (2, 4), seed=1)
    assert (found[:, 0] == 1).all() and sorted(set(found[:, 1].tolist())) == [0, 1, 2]
    assert np.bincount(found[:, 1]) == pytest.approx(4000 / 3, rel=0.1)


# -- who answers -------------------------------------------------------------------------------------------------------


def codes_of(answers):
    return np.stack([np.where(np.isnan(p[:, 0]), -1, np.nan_to_num(p).argmax(axis=1)) for p in answers], axis=1)


def test_plain_sources(mnlogic):
    data = mnlogic["test"]
    model = blind_to_the_first(data)
    assert codes_of(answers_from("perfect", data, model)).tolist() == data.concepts.tolist()
    for own, said in zip(model.concepts, answers_from("self", data, model), strict=True):
        assert said.tolist() == own.tolist()
    assert codes_of(answers_from("expert:1", data, model)).tolist() == data.concepts.tolist()
    assert codes_of(answers_from("expert:0", data, model)).tolist() == (1 - data.concepts).tolist()

    class Reader:
        def probabilities(self, split):
            return [np.where(np.arange(len(split))[:, None] == 1, np.nan, [0.3, 0.7])] * 3

    said = codes_of(answers_from("vlm", data, model, reader=Reader()))
    assert said[1].tolist() == [-1] * 3 and (np.delete(said, 1, axis=0) == 1).all()
    assert np.nanmax(answers_from("clip:here", data, model, reader=Reader())[0]) == 1


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("vlm", ConfigError, "is a machine that must be opened"),
        ("clip", ConfigError, "source 'clip' is not whole"),
        ("expert", ConfigError, "source 'expert' is not whole"),
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
    said = codes_of(answers_from(f"expert:{path}", data, blind_to_the_first(data)))
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
    labels = {x: Answer(data.labels[rows, i]) for i, x in enumerate(data.knowledge.label_names)}
    other = Predictions(data.fingerprint, "test", data.index[rows], labels, {name: Answer(np.array([1, 0]))})
    other.write(path, data.knowledge)
    said = codes_of(answers_from(f"model:{path}", data, blind_to_the_first(data)))
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
    said = codes_of(answers_from(f"file:{tmp_path / 'whole.csv'}", data, model))
    assert (said[:, :2] == -1).all() and (said[:, 2] == 1).all()
    said = codes_of(answers_from(f"file:{tmp_path / 'some.parquet'}", data, model))
    assert (said[4, 2], said[1, 2]) == (0, 1) and (said >= 0).sum() == 2
    pq.write_table(whole.slice(1), tmp_path / "short.parquet")
    pq.write_table(pa.table({"q": [1]}), tmp_path / "other.parquet")
    for file, message in (("short", f"has {len(data) - 1} rows, split 'test' has {len(data)}"),
                          ("other", "no column is named as a concept")):  # fmt: skip
        with pytest.raises(DataError, match=message):
            answers_from(f"file:{tmp_path / file}.parquet", data, model)


def test_answers_are_probabilities_or_whole_gaps():
    fine = [np.array([[0.2, 0.8], [np.nan, np.nan]]), np.array([[0.2, 0.3, 0.5]] * 2)]
    assert all(a is b for a, b in zip(check_answers(fine, 2, (2, 3)), fine, strict=True))
    assert check_answers([[[0.2, 0.8]]], 1, (2,))[0].tolist() == [[0.2, 0.8]]
    for wrong in ([[0.2, 0.7]], [[1.2, -0.2]], [[np.nan, 1.0]]):
        with pytest.raises(DataError, match="must be probabilities that add up to 1, or NaN in a whole row"):
            check_answers([np.array(wrong)], 1, (2,))
    for rows, sizes in ((3, (2, 3)), (2, (2, 2)), (2, (2,))):
        with pytest.raises(DataError, match="answers have the wrong shape"):
            check_answers(fine, rows, sizes)
