"""What the viewer counts where answers are uneven: rows out of order, concepts that nobody knows, runs that say little."""

import colorsys
import io
import json
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assay.concepts import Concept, ConceptSpace, bits
from assay.data import decode
from assay.logic import Knowledge
from assay.render import Picture
from assay.viewer import datasets, edit, embedding, folders, interventions, pairs, pictures, reading
from assay.viewer.jobs import Jobs
from assay.viewer.query import Query, matching_rows, outcome_mask
from assay.viewer.table import SplitTable
from assay.worlds import World
from tests.viewer.test_counts import GOOD, KNOWLEDGE, POOR, STATE, Changed, PairState, State, Table, said

# answers and queries


def test_misread_concepts_are_those_that_are_known_and_said():
    assert [GOOD.misread_concepts(row) for row in range(5)] == [[], [[0, 2, 1]], [[0, 1, 2]], [], []]
    assert [POOR.misread_concepts(row) for row in range(5)] == [[], [[2, 1, 0]], [], [], []]


def test_the_first_answer_is_one_too():
    assert GOOD.of(0) == {
        "labels": [{"code": 0, "probabilities": None}] * 2,
        "concepts": [{"code": code, "probabilities": None} for code in (0, 1, 0)],
        "by_rule": [0, 0],
        "violated": [],
    }


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ({"label": ["z:1"], "tag": ["y:a 1"]}, [1]),
        ({"concept": ["a:1"], "tag": ["y:a 2"]}, [3]),
        ({"tag": ["y:a 1", "y:a 2"]}, [1]),
        ({"label": ["y:0"], "concept": ["a:0"]}, [0, 4]),
        ({"concept": ["a:0", "b:1"]}, [0]),
        ({"label": ["y:1"], "run": ["poor"], "predicts": ["y:1"]}, [2]),
        ({"label": ["z:0"], "run": ["good"], "outcome": ["misread"]}, [2]),
        ({"run": ["good"], "outcome": ["wrong"]}, []),
        ({"run": ["good"], "reads": ["digit:0:0"], "predicts": ["y:0"]}, [0]),
        ({"run": ["good"], "reads": ["digit:0:0"]}, [0, 2]),
        ({"run": ["good"], "reads": ["digit:0:0", "digit:1:2"]}, [2]),
        ({"run": ["good"], "violates": ["odd", "free"]}, []),
    ],
)
def test_every_part_of_a_query_must_hold(asked, rows):
    assert matching_rows(STATE, "key", "test", Query.of(asked)).tolist() == rows


def test_a_run_without_an_answer_is_neither_right_nor_wrong():
    late = said([[1, 0], [1, 1]], [[0, 1, 0]] * 2, (-1, -1, -1, 0, 1))
    assert outcome_mask([late], "wrong").tolist() == [False, False, False, True, True]
    assert outcome_mask([GOOD, late], "all_wrong").tolist() == [False] * 5
    assert outcome_mask([POOR, late], "all_wrong").tolist() == [False, False, False, True, False]
    assert outcome_mask([late, POOR], "differ").tolist() == [False, False, False, False, True]
    assert outcome_mask([late, POOR], "only_second").tolist() == [False, False, False, False, True]
    assert outcome_mask([POOR, late], "only_second").tolist() == [False] * 5


# readings


def test_each_label_is_counted_with_its_own_predictions():
    answers = said([[1, 0], [1, 0], [1, 0], [0, -1], [1, 1]], [[0, 1, 0]] * 5, range(5))
    y, z = reading.reading_of(State(require_answers=lambda *names: answers), "key", "test", "r")["labels"]
    assert y == {"name": "y", "values": [False, True], "right": 3, "answered": 5, "counts": [[1, 2, 0], [0, 2, 0]]}
    assert z == {"name": "z", "values": [False, True], "right": 2, "answered": 4, "counts": [[2, 1, 0], [1, 0, 1]]}


def test_what_is_neither_known_nor_said_is_not_right():
    found = reading.reading_of(STATE, "key", "test", "good")
    assert found["concepts"] == [
        {"name": "a", "right": 2, "answered": 4},
        {"name": "b", "right": 4, "answered": 4},
        {"name": "c", "right": 4, "answered": 4},
    ]
    assert found["outcomes"] == {"right": 4, "wrong": 0, "misread": 2, "hidden": 2}
    assert found["constraints"] == [{"name": "odd", "count": 1}, {"name": "free", "count": 1}]
    digit, c = found["groups"]
    assert digit["counts"] == [[2, 0, 0, 2], [0, 3, 1, 0], [0, 1, 1, 0]]
    assert (digit["right"], digit["answered"]) == (6, 8)
    assert c == {
        "name": "c", "concepts": ["c"], "values": [False, True], "right": 4, "answered": 4,
        "counts": [[2, 0, 0], [0, 2, 0]],
    }  # fmt: skip


def test_a_group_has_only_the_concepts_that_a_run_speaks_of():
    answers = said([[0, 0]] * 5, [[-1, 1], [-1, 2], [-1, -1], [-1, 2], [-1, 0]], range(5))
    found = reading._groups(answers)
    assert found == [{
        "name": "digit", "concepts": ["b"], "values": [0, 1, 2], "right": 3, "answered": 4,
        "counts": [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]],
    }]  # fmt: skip


# pairs


class Turned(Changed):
    """Pairs in another order than their originals; the label `y` moves in the first and the fourth."""

    concepts = np.array([[1, 2, 1], [0, 1, 1], [2, 1, 0], [1, 1, 0], [2, 2, 1], [0, 0, 0]])
    labels = np.array([[0, 1], [0, 0], [1, 0], [0, 0], [0, 1], [0, 0]])
    index = np.arange(6) + 50
    columns = {"pair_row": [21, 20, 21, 22, 23, 20], "pair_concept": ["b", "c", "c", "b", "a", "b"]}

    def __len__(self):
        return 6


def test_pairs_are_compared_with_their_own_originals():
    before = said([[0, 0], [1, 1], [1, 0], [0, 0]], [[0, 1, 0], [2, 0, 1], [1, 0, 0], [1, 2, 1]], (0, 1, 2, 3, -1))
    spoken = [[1, 2, 1], [0, 1, 0], [2, 1, 0], [1, 0, 0], [1, 2, 1]]
    after = said([[1, 0], [0, 1], [1, 0], [0, 0], [0, 1]], spoken, (0, 1, 2, 3, 4, -1), table=Turned)

    class Both(PairState):
        def table(self, key, split):
            return Turned() if split == "pairs" else Table()

        def require_answers(self, key, split, run):
            return after if split == "pairs" else before

    found = pairs.pairs_of(Both(), "key", "r")
    # labels of the originals 1, 0, 1, 2, 3: y z = 11, 00, 11, 10, 01; said of them 11, 00, 11, 10, 00
    assert [pair["kinds"] for pair in found["pairs"]] == [
        ["all", "missed"],
        ["all", "moved", "unnoticed"],
        ["all", "fine"],
        ["all", "unnoticed", "fine"],
        ["all", "moved", "unnoticed"],
    ]
    assert {one["name"]: one["count"] for one in found["kinds"]} == {
        "all": 5, "missed": 1, "moved": 2, "unnoticed": 3, "fine": 2,
    }  # fmt: skip
    assert found["pairs"][0] == {
        "concept": 1,
        "sides": [
            {"split": "test", "row": 1, "index": 21, "value": 1, "read": 0, "labels": [1, 1], "predicted": [1, 1], "right": True},
            {"split": "pairs", "row": 0, "index": 50, "value": 2, "read": 2, "labels": [0, 1], "predicted": [1, 0], "right": False},
        ],
        "kinds": ["all", "missed"],
    }  # fmt: skip
    second = pairs.pairs_of(Both(), "key", "r", "unnoticed", page=1, size=2)
    assert (second["page"], second["pages"]) == (1, 2)
    assert [[side["row"] for side in pair["sides"]] for pair in second["pairs"]] == [[3, 4]]


def test_a_pair_whose_original_has_no_answer_is_of_no_kind():
    before = said([[0, 0]], [[0, 1, 0]], (-1, -1, 0, -1, -1))
    after = said([[0, 0]] * 5, [[0, 0, 0]] * 5, range(5), table=Changed)

    class Both(PairState):
        def require_answers(self, key, split, run):
            return after if split == "pairs" else before

    found = pairs.pairs_of(Both(), "key", "r")
    assert [[side["row"] for side in pair["sides"]] for pair in found["pairs"]] == [[2, 2]]


# maps


def test_a_map_takes_three_answers_wherever_their_rows_are():
    answers = said([[1, 0], [0, 0], [1, 1]], [[2, 1, 0], [0, -1, 1], [1, 0, 1]], (2, -1, 0, -1, 1))
    assert embedding._probabilities(answers, np.array([0, 4])).tolist() == [
        [0, 1, 0, 1, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 0, 0, 1],
    ]
    found = embedding.map_of(State(require_answers=lambda *names: answers), "key", "test", "r", embedding.CONCEPTS)
    assert found["rows"] == [0, 2, 4] and found["layer"] == "concept probabilities" and found["features"] == 8
    assert found["predicted"] == [[1, 1], [1, 0], [0, 0]] and found["labels"] == [[0, 0], [1, 0], [0, 0]]
    assert found["outcomes"] == ["wrong", "misread", "right"]
    assert found["concepts"] == [[0, 1, 0], [1, 0, 0], [0, 0, -1]]


@pytest.mark.parametrize("turn", [1, -1])
def test_the_farthest_point_of_each_axis_is_positive(turn):
    features = turn * np.array([[5.0, 0.0], [-1.0, 1.0], [-2.0, 1.0], [-2.0, -2.0]])
    plane = embedding.principal_plane(features)
    centred = features - features.mean(axis=0)
    assert np.allclose(np.linalg.norm(plane.points, axis=1), np.linalg.norm(centred, axis=1))
    farthest = np.abs(plane.points).argmax(axis=0)
    assert farthest[0] == 0 and (plane.points[farthest, [0, 1]] > 0).all()
    shares = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1]
    assert plane.explained == pytest.approx(tuple(shares / shares.sum()))


# datasets, pictures, edits


def test_values_that_never_occur_are_counted_as_none():
    class Narrow(Table):
        concepts, labels = np.array([[0, 1, 0], [1, 0, -1], [1, 1, 0]]), np.array([[0, 0], [0, 0], [0, 0]])

        def __len__(self):
            return 3

        def codes(self, name):
            kind, _, bare = name.partition("_")
            return self.concepts[:, "abc".index(bare)] if kind == "concept" else self.labels[:, "yz".index(bare)]

    found = datasets.distribution_of(SimpleNamespace(table=lambda key, split: Narrow()), "key", "test")
    assert found["labels"] == [{"name": "y", "counts": [3, 0]}, {"name": "z", "counts": [3, 0]}]
    assert [one["counts"] for one in found["concepts"]] == [[1, 2, 0], [1, 2, 0], [2, 0]]


def test_objects_have_strong_colours_that_are_far_apart():
    with Image.open(io.BytesIO(pictures.film(np.array([[3, 0, 1], [2, 1, 1]])))) as shown:
        pixels = np.asarray(shown)
    colours = [
        [round(255 * part) for part in colorsys.hls_to_rgb(turn, 0.55, 0.9)] + [150] for turn in (0.618, 0.236, 0.854)
    ]
    assert pixels.tolist() == [
        [colours[2], [0, 0, 0, 0], colours[0]],
        [colours[1], colours[0], colours[0]],
    ]


def test_every_kind_of_map_of_a_picture_is_shown_as_it_is():
    numbers, depth = np.array([[1, 2]], np.uint8), np.array([[10, 30]], np.uint16)
    picture = Picture(np.full((1, 2), 9, np.uint8), (), instances=numbers, parts=numbers[:, ::-1], depth=depth)
    found = pictures.picture_to_dict(picture, ("depth", "parts", "image", "instances", "things", "text"))
    assert found == {
        "pictures": {
            "instances": pictures.address(pictures.film(numbers)),
            "parts": pictures.address(pictures.film(numbers[:, ::-1])),
            "depth": pictures.address(pictures.nearness(depth)),
            "image": pictures.address(pictures.encode_png(picture.image)),
        },
        "things": [],
        "text": picture.text,
    }
    assert decode(pictures.nearness(depth))[..., 0].tolist() == [[255, 0]]


def test_a_model_is_shown_the_world_that_was_changed(monkeypatch):
    table = SimpleNamespace(
        knowledge=KNOWLEDGE, world=lambda row: World(KNOWLEDGE.space, (0, 1, row), {}), data=lambda rows: ("data", rows)
    )
    task = SimpleNamespace(change_world=lambda world, named: world.do(named))
    monkeypatch.setattr(edit, "table_of", lambda *given: given)
    kind, (drawn_by, worlds, files, index) = edit._drawn_anew(
        SimpleNamespace(task=lambda key: task), "key", table, 1, {"a": 2, "b": 0}
    )
    assert (kind, files, index.tolist()) == ("data", ["edited.png"], [0]) and drawn_by is task
    assert [world.codes for world in worlds] == [(2, 0, 1)]


def test_the_tags_of_a_changed_world_are_those_of_labels_that_have_some():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a or b", "w": "b"})
    table = SimpleNamespace(knowledge=knowledge, sides={"y": None, "w": None})
    found = edit._tags(table, World(knowledge.space, (0, 1), {}))
    by_hand = {
        name: boundary.tags(np.array([[0, 1]]))[0].split("; ")
        for name, boundary in zip(("y", "z", "w"), knowledge.boundaries, strict=True)
    }
    assert found == {"y": by_hand["y"], "w": by_hand["w"]} and by_hand["y"] != by_hand["w"]


def test_a_concept_that_is_not_known_has_no_code(tmp_path):
    space = ConceptSpace((Concept("n", (10, 20, 30)), Concept("big", (False, True))))
    columns = {
        "concept_n": pa.array([30, None, 20]),
        "concept_big": pa.array([None, True, False]),
        "style": [json.dumps({"s": place}) for place in range(3)],
    }
    pq.write_table(pa.table(columns), tmp_path / "part.parquet")
    dataset = SimpleNamespace(folder=tmp_path, knowledge=Knowledge.of(space, {"y": "big"}))
    shards = [{"file": "part.parquet", "rows": 3}]
    table = SplitTable(SimpleNamespace(key="k", dataset=dataset, split=lambda name: {"shards": shards}), "test")
    assert [table.world(row).codes for row in range(3)] == [(2, -1), (-1, 1), (1, 0)]
    assert table.concepts.tolist() == [[2, -1], [-1, 1], [1, 0]]


# curves, work, folders


def test_from_sixteen_concepts_on_budgets_grow_faster_than_by_one():
    def budgets(count):
        space = ConceptSpace(tuple(Concept(f"c{n}", (0, 1)) for n in range(count)))
        return [budget.each for budget in interventions._budgets(interventions.Units.of(space))]

    assert budgets(16) == [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16]
    assert budgets(100) == [0, 1, 2, 3, 4, 5, 7, 10, 14, 19, 27, 37, 52, 72, 100]


def test_work_that_fails_is_finished():
    jobs, may_end = Jobs(), threading.Event()
    error = ValueError("no")

    def work(tell):
        may_end.wait(5)
        raise error

    job = jobs.ask(("fails",), work, patience=0)
    may_end.set()
    assert job.finished.wait(5) and job.error is error and job.result is None


def test_answers_of_a_run_come_in_the_order_of_their_names(monkeypatch, tmp_path):
    names = ["valid", "hard", "test", "ood_2", "train", "ood", "pairs"]

    class Data(SimpleNamespace):
        def __contains__(self, split):
            return split in names

    about = {"data": {"fingerprint": "f"}, "model": "dpl", "seed": 7}
    fake = SimpleNamespace(about=lambda: about, title="title", label="label")
    monkeypatch.setattr(folders, "RunFolder", lambda folder: fake)
    search = folders._Search({"d": folders.ServedDataset("d", Data(fingerprint="f"))})
    (tmp_path / "run" / "predictions" / "old").mkdir(parents=True)
    for name in names:
        (tmp_path / "run" / "predictions" / f"{name}.parquet").write_text("")
    (tmp_path / "run" / "predictions" / "old" / "test.parquet").write_text("")
    search.add_run(tmp_path / "run")
    found = search.datasets["d"].runs["run"].answers
    folder = (tmp_path / "run" / "predictions").resolve()
    assert found == {name: folder / f"{name}.parquet" for name in names} and list(found) == sorted(names)
