"""What the viewer counts of made-up predictions: queries, comparisons, readings, pairs, maps, regions, units."""

import io
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from assay.concepts import Concept, ConceptSpace, EncoderGroup
from assay.data import decode
from assay.errors import ConfigError, DataError, RunFailed, UnknownName
from assay.logic import Constraint, Knowledge, parse
from assay.predictions import Answer, Predictions
from assay.render import Box, ObjectBox, Picture
from assay.viewer import compare, embedding, interventions, pairs, pictures, query, reading, serve, units, verdicts
from assay.viewer.answers import Answers, answers_of, plain, violated_constraints
from assay.viewer.datasets import rule_table, small_diagram
from assay.viewer.query import Misreading, Query, matching_rows, outcome_mask
from assay.viewer.table import BoundaryTags

SPACE = ConceptSpace(
    (Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (False, True))),
    encoders=(EncoderGroup("digit", ("a", "b")), EncoderGroup("c", ("c",))),
)
KNOWLEDGE = Knowledge.of(
    SPACE, {"y": "a > b", "z": "c"}, (Constraint("odd", parse("a != 2")), Constraint("free", parse("b < 2 or not c")))
)
CONCEPTS = np.array([[0, 1, 0], [2, 1, 1], [1, 0, 0], [1, 2, 1], [0, 0, -1]])
LABELS = np.array([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]])
TAGS = pa.chunked_array([["far", "a 1; a 2", "a 1"], ["miss; a 2", "far"]])


class Table:
    name = "test"
    knowledge = KNOWLEDGE
    concepts, labels, index = CONCEPTS, LABELS, np.arange(5) + 20
    dataset = SimpleNamespace(fingerprint="print", sizes={})
    sides = {"y": BoundaryTags(TAGS, LABELS[:, 0])}

    def __len__(self):
        return 5

    def codes(self, name):
        kind, _, bare = name.partition("_")
        return CONCEPTS[:, SPACE.place(bare)] if kind == "concept" else LABELS[:, "yz".index(bare)]


def said(labels, concepts, places=(0, 1, 2, 3, -1), soft=None, table=Table):
    labels, concepts = np.array(labels), np.array(concepts)
    named = {name: Answer(labels[:, i], (soft or {}).get(name)) for i, name in enumerate("yz")}
    spoken = {name: Answer(concepts[:, i], (soft or {}).get(name)) for i, name in enumerate("abc"[: concepts.shape[1]])}
    return Answers(table(), Predictions("print", "test", np.arange(len(labels)) + 20, named, spoken), np.array(places))


GOOD = said([[0, 0], [1, 1], [1, 0], [0, 1]], [[0, 1, 0], [1, 1, 1], [2, 0, 0], [1, 2, 1]])
POOR = said(
    [[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]], [[0, 1, 0], [2, 1, 0], [1, -1, 0], [1, 2, 1], [0, 0, 1]], (0, 1, 2, 3, 4)
)


class State(SimpleNamespace):
    def table(self, key, split):
        return Table()

    def require_answers(self, key, split, run):
        return {"good": GOOD, "poor": POOR}[run]


STATE = State()


def test_answers_are_aligned_with_the_rows():
    turned = said([[1, 0], [0, 1]], [[2, 1, 0], [0, 1, 1]], (1, -1, 0, -1, -1))
    assert turned.labels.tolist() == [[0, 1], [-1, -1], [1, 0], [-1, -1], [-1, -1]]
    assert turned.concepts.tolist()[:3] == [[0, 1, 1], [-1, -1, -1], [2, 1, 0]]
    assert turned.has_answer.tolist() == [True, False, True, False, False]
    assert GOOD.right.tolist() == [True, True, True, True, False] and POOR.right.tolist() == [
        True,
        False,
        False,
        False,
        True,
    ]
    assert GOOD.misread.tolist() == [False, True, True, False, False]
    assert POOR.misread.tolist() == [False, True, False, False, False]  # what is not said or not known is not wrong
    assert GOOD.misread_concepts(1) == [[0, 2, 1]] and POOR.misread_concepts(1) == [[2, 1, 0]]
    assert GOOD.violations.tolist() == [[False, False], [False, False], [True, False], [False, True], [False, False]]
    assert POOR.violations.tolist()[1:3] == [[True, False], [False, False]]  # one concept is not said


def test_one_answer_as_plain_data():
    soft = {"y": np.array([[0.25, 0.75], [0.123456, 0.876544]])}
    predictions = said([[1, 0], [1, 1]], [[2, 1, 0], [-1, 1, 1]], soft=soft).predictions
    first = plain(predictions, 0, KNOWLEDGE)
    assert first["labels"] == [{"code": 1, "probabilities": [0.25, 0.75]}, {"code": 0, "probabilities": None}]
    assert first["by_rule"] == [1, 0] and first["violated"] == ["odd"]
    second = plain(predictions, 1, KNOWLEDGE)
    assert (
        second["by_rule"] is None
        and second["violated"] == []
        and second["labels"][0]["probabilities"] == [0.1235, 0.8765]
    )
    assert second["concepts"][0] == {"code": -1, "probabilities": None}
    silent = said([[1, 0], [1, 1]], [[2], [1]])
    assert plain(silent.predictions, 0, KNOWLEDGE)["concepts"][1] == {"code": -1, "probabilities": None}
    assert GOOD.of(4) is None and GOOD.of(2)["violated"] == ["odd"]
    assert violated_constraints(KNOWLEDGE, np.array([[2, 2, 1]])) == ["odd", "free"]
    assert violated_constraints(KNOWLEDGE, np.array([[2, -1, 1]])) == []


def test_predictions_about_other_data_are_refused(monkeypatch):
    from assay.viewer import answers

    run = SimpleNamespace(name="r", answers={"test": "file"})
    monkeypatch.setattr(answers, "read_predictions", lambda file, knowledge, sizes: POOR.predictions)
    assert answers_of(run, Table()).places.tolist() == [0, 1, 2, 3, 4]
    assert answers_of(SimpleNamespace(name="r", answers={}), Table()) is None
    for other in (("other", "test"), ("print", "valid")):
        strange = Predictions(*other, np.arange(5), {}, {})
        monkeypatch.setattr(answers, "read_predictions", lambda file, knowledge, sizes, strange=strange: strange)
        with pytest.raises(DataError, match="the predictions of 'r' for 'test' are about other data"):
            answers_of(run, Table())


def test_a_query_is_read_from_an_address():
    found = Query.of({
        "label": ["y:1"], "concept": ["a:2", "b:0"], "tag": ["y:a 1: x"], "run": ["good", ""], "versus": ["poor", "good"],
        "outcome": ["right", "differ"], "predicts": ["y:none"], "reads": ["s.digit:2:4"], "violates": ["odd"],
    })  # fmt: skip
    assert found == Query(
        (("y", "1"),), (("a", "2"), ("b", "0")), (("y", "a 1: x"),), ("good", "poor"), "differ", (("y", "none"),),
        (Misreading("s.digit", "2", "4"),), ("odd",),
    )  # fmt: skip
    assert Query.of({}) == Query() and not Query().about_runs
    for text, why in (
        ({"label": ["y"]}, "expected NAME:VALUE, not 'y'"), ({"reads": ["a:1"], "run": ["r"]}, "expected NAME:TRUE:PREDICTED"),
        ({"outcome": ["odd"], "run": ["r"]}, "no outcome 'odd'; there is: right, wrong"), ({"outcome": ["right"]}, "name one"),
        ({"predicts": ["y:1"]}, "name one"), ({"violates": ["odd"]}, "name one"), ({"reads": ["a:1:2"]}, "name one"),
        *(({"outcome": [o], "run": ["r"]}, "name a second") for o in (*query.OF_TWO, *query.OF_SEVERAL)),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=why):
            Query.of(text)


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ({}, [0, 1, 2, 3, 4]), ({"label": ["y:1"]}, [1, 2]), ({"label": ["y:1", "z:1"]}, [1]), ({"concept": ["a:1"]}, [2, 3]),
        ({"tag": ["y:a 1"]}, [1, 2]), ({"tag": ["y:*near"]}, [3]), ({"tag": ["y:*holds"]}, [1, 2, 3]), ({"tag": ["y:far"]}, [0, 4]),
        ({"tag": ["y:none such"]}, []), ({"run": ["good"]}, [0, 1, 2, 3, 4]),
        ({"run": ["good"], "outcome": ["right"]}, [0, 1, 2, 3]), ({"run": ["poor"], "outcome": ["wrong"]}, [1, 2, 3]),
        ({"run": ["good"], "outcome": ["misread"]}, [1, 2]), ({"run": ["good"], "outcome": ["hidden"]}, [1, 2]),
        ({"run": ["poor"], "outcome": ["hidden"]}, []), ({"run": ["good"], "outcome": ["violating"]}, [2, 3]),
        ({"run": ["good", "poor"], "outcome": ["only_first"]}, [1, 2, 3]), ({"run": ["poor", "good"], "outcome": ["only_second"]}, [1, 2, 3]),
        ({"run": ["poor", "good"], "outcome": ["only_first"]}, []), ({"run": ["good", "poor"], "outcome": ["differ"]}, [1, 2, 3]),
        ({"run": ["good", "poor"], "outcome": ["all_right"]}, [0]), ({"run": ["good", "poor"], "outcome": ["all_wrong"]}, []),
        ({"run": ["poor"], "predicts": ["y:0"]}, [0, 1, 4]), ({"run": ["poor"], "predicts": ["y:0", "z:1"]}, [1]),
        ({"run": ["good"], "predicts": ["y:0"]}, [0, 3]), ({"run": ["poor"], "reads": ["b:0:none"]}, [2]),
        ({"run": ["good"], "reads": ["digit:2:1"]}, [1]), ({"run": ["good"], "reads": ["digit:1:2"]}, [2]),
        ({"run": ["good"], "reads": ["b:1:1"]}, [0, 1]), ({"run": ["good"], "violates": ["odd"]}, [2]),
        ({"run": ["good"], "violates": ["free"]}, [3]),
    ],
)  # fmt: skip
def test_rows_that_a_query_asks_for(asked, rows):
    assert matching_rows(STATE, "key", "test", Query.of(asked)).tolist() == rows


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"label": ["y:2"]}, "expected a code from 0 to 1, not '2'"), ({"concept": ["a:none"]}, "from 0 to 2, not 'none'"),
        ({"tag": ["z:far"]}, "no boundary of label 'z' in 'key'"), ({"run": ["good"], "violates": ["odd1"]}, "no constraint named 'odd1'"),
        ({"run": ["good"], "reads": ["a:none:1"]}, "not 'none'"), ({"concept": ["a:-1"]}, "not '-1'"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_asked_for(asked, why):
    with pytest.raises((ConfigError, UnknownName), match=why):
        matching_rows(STATE, "key", "test", Query.of(asked))


def test_outcomes_of_three_runs():
    third = said([[1, 0], [1, 1], [0, 0], [0, 1]], [[0, 1, 0]] * 4)
    assert outcome_mask([GOOD, GOOD, third], "differ").tolist() == [True, False, True, False, False]
    assert outcome_mask([GOOD, GOOD, third], "all_right").tolist() == [False, True, False, True, False]
    assert outcome_mask([POOR, third, third], "all_wrong").tolist() == [False, False, True, False, False]
    assert query.columns_of(SPACE, "digit") == [0, 1] and query.columns_of(SPACE, "b") == [1]


def test_runs_side_by_side():
    found = compare.compare_runs(STATE, "key", "test", ["good", "poor"])
    assert found["rows"] == 4 and found["right"] == [4, 1] and found["misread"] == [2, 1] and found["hidden"] == [2, 0]
    assert found["only"] == [[0, 3], [0, 0]] and (found["differ"], found["all_right"], found["all_wrong"]) == (3, 1, 0)
    assert [label["right"] for label in found["labels"]] == [[1.0, 0.5], [1.0, 0.5]]
    assert found["labels"][0]["against"] == [[1, 1], [1, 1]] and found["labels"][1]["against"] == [[1, 1], [1, 1]]
    assert [concept["right"] for concept in found["concepts"]] == [[0.5, 1.0], [1.0, 1.0], [1.0, 0.75]]
    for runs in (["good"], ["good", "good"], ["good"] * 21):
        with pytest.raises(ConfigError, match="comparing takes from 2 to 20 different runs"):
            compare.compare_runs(STATE, "key", "test", runs)
    assert compare._against([GOOD, POOR, GOOD], np.arange(4), 0) is None
    first, second = (
        said([[0, 0], [1, 1], [-1, 0], [0, 1]], [[0, 1, 0]] * 4),
        said([[1, 0], [1, 1], [1, 1], [1, -1]], [[0, 1, 0]] * 4),
    )
    assert compare._against([first, second], np.arange(4), 0) == [[0, 2], [0, 1]]


def test_how_a_run_reads_a_split():
    found = reading.reading_of(STATE, "key", "test", "poor")
    assert (found["split"], found["whole"], found["answered"]) == ("test", 5, 5)
    assert found["outcomes"] == {"right": 2, "wrong": 3, "misread": 1, "hidden": 0}
    y, z = found["labels"]
    assert y == {"name": "y", "values": [False, True], "right": 3, "answered": 5, "counts": [[2, 1, 0], [1, 1, 0]]}
    assert z["counts"] == [[2, 1, 0], [1, 1, 0]]
    digit, c = found["groups"]
    assert (digit["name"], digit["concepts"], digit["right"], digit["answered"]) == ("digit", ["a", "b"], 9, 9)
    assert digit["counts"] == [[3, 0, 0, 1], [0, 4, 0, 0], [0, 0, 2, 0]]
    assert c["counts"] == [[2, 0, 0], [1, 1, 0]] and c["right"] == 3
    assert found["concepts"] == [
        {"name": "a", "right": 5, "answered": 5}, {"name": "b", "right": 4, "answered": 4}, {"name": "c", "right": 3, "answered": 4},
    ]  # fmt: skip
    assert found["constraints"] == [{"name": "odd", "count": 1}, {"name": "free", "count": 1}]
    assert reading.reading_of(STATE, "key", "test", "good")["answered"] == 4
    regions = {(r["name"], r["kind"]): (r["examples"], r["right"]) for r in found["regions"]}
    assert regions == {
        ("far", "far"): (2, 2),
        ("a 1", "holds"): (2, 1),
        ("a 2", "holds"): (2, 0),
        ("miss", "just misses"): (1, 0),
    }
    good = {r["name"]: (r["examples"], r["right"]) for r in reading.reading_of(STATE, "key", "test", "good")["regions"]}
    assert good["far"] == (1, 1)
    many = reading._confusion(np.array([[0], [24]]), np.array([[0], [-1]]), tuple(range(25)))
    assert many["counts"] is None and (many["right"], many["answered"]) == (1, 1)
    assert reading._confusion(np.array([[0]]), np.array([[1]]), tuple(range(24)))["counts"][0][1] == 1


def test_boundary_tags():
    tags = BoundaryTags(
        pa.chunked_array([["far", "one; change a", "one"], ["two", "one; two"]]), np.array([0, 1, 0, 0, 0])
    )
    assert tags.kinds == {"far": "far", "one": "holds", "change a": "changes", "two": "just misses"}
    assert tags.tags(1) == ["one", "change a"] and tags.tags(3) == ["two"]
    assert tags.mask("one").tolist() == [False, True, True, False, True]
    assert (
        tags.mask("*near").tolist() == [False, True, False, True, True]
        and tags.mask("*holds").tolist() == tags.mask("one").tolist()
    )
    counts = {entry["name"]: (entry["kind"], entry["count"]) for entry in tags.counts(np.array([1, 4, 4]))}
    assert counts == {"far": ("far", 0), "one": ("holds", 3), "change a": ("changes", 1), "two": ("just misses", 2)}


class PairState(State):
    shelf = {"key": SimpleNamespace(dataset=SimpleNamespace(pairs={"split": "test"}, why_no_pairs="why"))}

    def table(self, key, split):
        return Changed() if split == "pairs" else Table()

    def require_answers(self, key, split, run):
        return self.after if split == "pairs" else POOR


class Changed(Table):
    name = "pairs"
    concepts = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]])
    labels = np.array([[0, 0], [0, 1], [1, 1], [0, 1], [0, 0]])
    columns = {"pair_row": [20, 21, 22, 23, 99], "pair_concept": ["b", "a", "c", "b", "a"]}

    def column(self, name):
        return pa.chunked_array([self.columns[name]])


def test_pairs_before_and_after():
    spoken = [[0, 0, 0], [2, 1, 0], [1, 0, 1], [1, -1, 1], [0, 0, 0]]
    state = PairState(after=said([[0, 0], [0, 1], [1, 1], [0, 1], [0, 0]], spoken, (0, 1, 2, 3, 4), table=Changed))
    found = pairs.pairs_of(state, "key", "poor")
    assert {entry["name"]: entry["count"] for entry in found["kinds"]} == {
        "all": 4,
        "missed": 2,
        "moved": 1,
        "unnoticed": 1,
        "fine": 1,
    }
    assert (found["split"], found["page"], found["pages"], len(found["pairs"])) == ("test", 0, 1, 4)
    assert [pair["kinds"] for pair in found["pairs"]] == [
        ["all", "fine"],
        ["all", "missed", "unnoticed"],
        ["all", "missed"],
        ["all", "moved"],
    ]
    first, second = found["pairs"][1]["sides"]
    assert found["pairs"][1]["concept"] == 0
    assert first == {
        "split": "test",
        "row": 1,
        "index": 21,
        "value": 2,
        "read": 2,
        "labels": [1, 1],
        "predicted": [0, 1],
        "right": False,
    }
    assert second == {
        "split": "pairs",
        "row": 1,
        "index": 21,
        "value": 0,
        "read": 2,
        "labels": [0, 1],
        "predicted": [0, 1],
        "right": True,
    }
    assert pairs.origins_of(state, "key").tolist() == [0, 1, 2, 3, -1]
    paged = pairs.pairs_of(state, "key", "poor", page=1, size=3)
    assert (paged["page"], paged["pages"], len(paged["pairs"])) == (1, 2, 1)
    assert (
        pairs.pairs_of(state, "key", "poor", page=9, size=3)["page"] == 1
        and pairs.pairs_of(state, "key", "poor", page=-1)["page"] == 0
    )
    assert len(pairs.pairs_of(state, "key", "poor", "missed")["pairs"]) == 2
    with pytest.raises(ConfigError, match="no kind of pair 'odd'; there is: all, missed"):
        pairs.pairs_of(state, "key", "poor", "odd")
    none = PairState(
        after=None, shelf={"key": SimpleNamespace(dataset=SimpleNamespace(pairs=None, why_no_pairs="why"))}
    )
    with pytest.raises(DataError, match="no counterfactual pairs: why"):
        pairs.pairs_of(none, "key", "poor")


def test_the_plane_of_principal_components():
    points = np.array([[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [0.0, 2.0, 1.0], [4.0, 2.0, 1.0]])
    plane = embedding.principal_plane(points)
    assert plane.explained == pytest.approx((0.8, 0.2))
    assert (
        np.abs(plane.points).tolist() == pytest.approx(np.array([[2.0, 1.0]] * 4))
        and (plane.points.max(axis=0) > 0).all()
    )
    assert np.sign(plane.points[0] * plane.points[3]).tolist() == [-1, -1]
    lone = embedding.principal_plane(np.array([[1.0], [3.0], [2.0]]))
    assert lone.points.shape == (3, 2) and not lone.points[:, 1].any() and lone.explained == pytest.approx((1.0, 0.0))
    still = embedding.principal_plane(np.ones((3, 2)))
    assert still.explained == (0.0, 0.0) and not still.points.any()


def test_a_map_of_predictions():
    found = embedding.map_of(STATE, "key", "test", "poor")
    assert found["layer"] == "concept probabilities" and found["features"] == 8 and found["rows"] == [0, 1, 2, 3, 4]
    assert (
        np.abs(found["points"]).max() == 1.0
        and found["concepts"] == CONCEPTS.tolist()
        and found["labels"] == LABELS.tolist()
    )
    assert found["predicted"] == POOR.labels.tolist()
    assert found["outcomes"] == ["right", "wrong", "wrong", "wrong", "right"]
    assert embedding.map_of(STATE, "key", "test", "good")["outcomes"] == ["right", "misread", "misread", "right"]
    columns = embedding._probabilities(POOR, np.array([2]))
    assert columns.tolist() == [[0, 1, 0, 0, 0, 0, 1, 0]]  # `b` is not said
    soft = said([[0, 0]] * 4, np.zeros((4, 0), int), soft={"y": np.array([[0.25, 0.75]] * 4)})
    assert embedding._probabilities(soft, np.array([1])).tolist() == [[0.25, 0.75, 1, 0]]
    few = said([[0, 0]] * 4, [[0, 1, 0]] * 4, (0, 1, -1, -1, -1))
    with pytest.raises(DataError, match="a map takes three samples with predictions; 'test' has 2"):
        embedding.map_of(State(require_answers=lambda *names: few), "key", "test", "few")


def test_layers_take_the_model_itself():
    live, file = SimpleNamespace(live=True, folder="f", name="r"), SimpleNamespace(live=False, folder="f", name="r")
    taken = []

    class Split:
        def take(self, rows):
            taken.append(rows.tolist())
            return "some"

    models = SimpleNamespace(
        layers=lambda folder, data: ["conv1"], activations=lambda folder, data, layer: (folder, data, layer)
    )

    def state(run, models=models):
        shelf = {"key": SimpleNamespace(run=lambda name: run, dataset={"test": Split()})}
        return State(shelf=shelf, models=models)

    assert embedding.layers_of(state(live), "key", "test", "r") == {
        "layers": ["concept probabilities", "conv1"],
        "why": "",
    }
    assert taken == [[0, 1]]
    for other in (state(file), state(live, None)):
        assert embedding.layers_of(other, "key", "test", "r")["layers"] == ["concept probabilities"]
        with pytest.raises(DataError, match="'r' is only a file of predictions: it has no layer 'conv1'"):
            embedding._features(other, "key", "test", "r", "conv1", np.arange(3), POOR)
    assert embedding._features(state(live), "key", "test", "r", "conv1", np.arange(3), POOR) == ("f", "some", "conv1")
    assert embedding._features(state(file), "key", "test", "r", "", np.arange(3), POOR).shape == (3, 8)

    def refuse(folder, data):
        raise DataError("no network")

    broken = state(live, SimpleNamespace(layers=refuse))
    assert embedding.layers_of(broken, "key", "test", "r") == {"layers": ["concept probabilities"], "why": "no network"}


def test_units_show_the_rows_that_are_there(monkeypatch):
    content = {"split": "test", "units": [{"unit": 3, "rows": [24, 99, 20], "has": [True, None, False]}]}
    monkeypatch.setattr(units, "units_of", lambda folder: content if folder == "f" else None)

    def page(live=True, splits=("test",), folder="f", pictures=None):
        run = SimpleNamespace(live=live, folder=folder)
        shelf = {"key": SimpleNamespace(run=lambda name: run, splits=[{"name": name} for name in splits])}
        return units.units_page(State(shelf=shelf), "key", "r", pictures)

    assert page() == {"split": "test", "units": [{"unit": 3, "rows": [4, 0], "has": [True, False]}]}
    assert page(pictures={"test": np.array([0, 1])})["units"][0] == {"unit": 3, "rows": [0], "has": [False]}
    assert page(live=False) is None and page(splits=("train",)) is None and page(folder="g") is None


def test_masks_are_films_and_depth_is_nearness():
    with Image.open(io.BytesIO(pictures.film(np.array([[0, 1], [2, 2]])))) as shown:
        pixels = np.asarray(shown)
    assert pixels.shape == (2, 2, 4) and pixels[..., 3].tolist() == [[0, 150], [150, 150]]
    assert pixels[0, 1].tolist() != pixels[1, 0].tolist() == pixels[1, 1].tolist()
    assert decode(pictures.nearness(np.array([[100, 350], [600, 600]], dtype=np.uint16)))[..., 0].tolist() == [
        [255, 127],
        [0, 0],
    ]
    assert decode(pictures.nearness(np.full((1, 2), 7, dtype=np.uint16)))[..., 0].tolist() == [[255, 255]]
    picture = Picture(
        np.zeros((2, 2), np.uint8), (ObjectBox("x", Box(0, 1, 2, 3)),), np.ones((2, 2), np.uint8), text="words"
    )
    whole = pictures.picture_to_dict(picture, ("image", "things", "instances", "text"))
    assert set(whole["pictures"]) == {"image", "instances"} and whole["text"] == "words"
    assert whole["things"] == [{"name": "x", "left": 0, "top": 1, "right": 2, "bottom": 3}]
    bare = pictures.picture_to_dict(picture, ("image",))
    assert set(bare["pictures"]) == {"image"} and bare["things"] == [] and bare["text"] is None
    image = whole["pictures"]["image"]
    assert image.startswith("data:image/png;base64,") and pictures.to_displayable("image", b"x") == b"x"


def test_budgets_grow_with_the_concepts():
    def budgets(count):
        space = ConceptSpace(tuple(Concept(f"c{n}", (0, 1)) for n in range(count)))
        return [budget.each for budget in interventions._budgets(interventions.Units.of(space))]

    assert budgets(3) == [0, 1, 2, 3] and budgets(15) == list(range(16))
    many = budgets(40)
    assert many[:3] == [0, 1, 2] and many[-1] == 40 and len(many) <= 16 and sorted(set(many)) == many
    with pytest.raises(ConfigError, match="no policy 'odd' here; there is: uncertainty, random, fixed"):
        interventions.intervention_curve(STATE, "key", "test", "r", "odd")


def test_rules_as_tables():
    grid = ConceptSpace((Concept("a", tuple(range(12))), Concept("b", tuple(range(12))), Concept("c", (0, 1))))
    found = rule_table(Knowledge.of(grid, {"y": "a > b"}, (Constraint("odd", parse("a != 3")),)))
    assert found["kind"] == "grid" and found["concepts"] == [0, 1] and len(found["rows"]) == 144
    assert all(label[0] == (row[0] > row[1]) for row, label in zip(found["rows"], found["labels"], strict=True))
    assert [row for row, fine in zip(found["rows"], found["possible"], strict=True) if not fine] == [
        [3, b] for b in range(12)
    ]
    large = ConceptSpace((Concept("a", tuple(range(13))), Concept("b", tuple(range(12)))))
    assert (
        rule_table(Knowledge.of(large, {"y": "a > b"}))["kind"] == "many"
        and rule_table(Knowledge.of(large, {"y": "a > b"}))["count"] == 156
    )
    five = ConceptSpace(tuple(Concept(f"x{n}", (0, 1)) for n in range(6)))
    assert rule_table(Knowledge.of(five, {"y": "x0 + x1 + x2 + x3 + x4 > 2"}))["kind"] == "table"
    assert rule_table(Knowledge.of(five, {"y": "x0 + x1 + x2 + x3 + x4 + x5 > 2"}))["kind"] == "many"
    diagram = small_diagram(Knowledge.of(five, {"y": "x1 > x3"}))
    assert [layer["concept"] for layer in diagram["layers"]] == [1, 3] and diagram["outcomes"] == [["False"], ["True"]]
    assert small_diagram(Knowledge.of(five, {"y": "x1 > x3", "z": "x0"})) is None


def score(value, applies=True):
    return SimpleNamespace(value=value, applies=applies)


def test_numbers_of_a_list_of_runs():
    first = {"label_f1": score(0.98765), "concept_f1": score(0.5, applies=False), "collapse": score(0.25)}
    found = verdicts.key_numbers(
        SimpleNamespace(
            scores={"test": first, "ood_2": {"label_accuracy": score(0.75)}, "ood": {"label_accuracy": score(0.5)}}
        )
    )
    assert found == {
        "label_f1": 0.9877,
        "concept_f1": None,
        "collapse": 0.25,
        "rule_consistency": None,
        "ood_label_accuracy": 0.75,
    }
    assert verdicts.key_numbers(SimpleNamespace(scores={"test": first}))["ood_label_accuracy"] is None
    assert verdicts._changes(SimpleNamespace(counterfactuals=None)) is None
    effects = SimpleNamespace(to_dict=lambda: {"n": 1})
    counterfactuals = SimpleNamespace(all=effects, by_concept={"a": effects}, text="words", pairs=7)
    assert verdicts._changes(SimpleNamespace(counterfactuals=counterfactuals)) == {
        "text": "words", "pairs": 7, "by_concept": [{"name": "all", "n": 1}, {"name": "a", "n": 1}],
    }  # fmt: skip


# serving


@pytest.mark.parametrize(
    ("platform", "display", "wayland", "screen"),
    [
        ("darwin", "", "", True),
        ("win32", "", "", True),
        ("linux", "", "", False),
        ("linux", ":0", "", True),
        ("linux", "", "w", True),
    ],
)
def test_a_browser_needs_a_screen(monkeypatch, platform, display, wayland, screen):
    monkeypatch.setattr(serve.sys, "platform", platform)
    for name, value in (("DISPLAY", display), ("WAYLAND_DISPLAY", wayland)):
        monkeypatch.setenv(name, value)
    assert serve._has_screen() is screen


def test_the_viewer_listens_to_this_machine_alone():
    server_socket, address = serve._listen(0, "token")
    with server_socket:
        host, port = server_socket.getsockname()
        assert host == "127.0.0.1" and address == f"http://127.0.0.1:{port}/?token=token"
        with pytest.raises(ConfigError, match=f"port {port} cannot be used: .*leave --port out to take a free one"):
            serve._listen(port, "token")


def fake_server(monkeypatch, run=lambda server: None):
    made = []

    class Server:
        started = should_exit = False

        def run(self, sockets):
            self.sockets = sockets
            run(self)

    def build(state, token):
        made.append((state, token, Server()))
        return made[-1][2]

    monkeypatch.setattr(serve, "_server", build)
    monkeypatch.setattr(serve, "new_token", lambda: "token")
    return made


def test_serving_until_ctrl_c(monkeypatch):
    def interrupt(server):
        raise KeyboardInterrupt

    opened, words = [], []
    fake_server(monkeypatch, interrupt)
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    monkeypatch.setattr(serve, "_has_screen", lambda: True)
    serve.serve("state", 0, words.append, browse=True)
    assert (
        words[0].endswith("/?token=token  (Ctrl-C to stop)")
        and words[1] == "stopped"
        and words[0].startswith(opened[0])
    )
    serve.serve("state", 0, words.append, browse=False)
    monkeypatch.setattr(serve, "_has_screen", lambda: False)
    serve.serve("state", 0, words.append, browse=True)
    assert len(opened) == 1


def test_serving_in_the_background(monkeypatch):
    def begin(server):
        server.started = True
        while not server.should_exit:
            serve.time.sleep(0.001)

    monkeypatch.setattr(serve.State, "open", lambda folders, models: (folders, models))
    made = fake_server(monkeypatch, begin)
    viewer = serve.serve_in_background(["a"], "models")
    assert made[0][:2] == ((["a"], "models"), "token") and viewer.thread.daemon and viewer.thread.is_alive()
    assert repr(viewer) == f"Viewer({viewer.url})" and f'href="{viewer.url}"' in viewer._repr_html_()
    viewer.stop()
    assert not viewer.thread.is_alive()
    made[0][2].sockets[0].close()
    made = fake_server(monkeypatch)
    with pytest.raises(RunFailed, match="the viewer did not start"):
        serve.serve_in_background([], "models")
    made[0][2].sockets[0].close()
