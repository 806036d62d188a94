"""What each address asks the parts behind it for, and what these tell in full: samples, verdicts, curves of runs."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fastapi import FastAPI

from assay.errors import ConfigError, DataError, UnknownName
from assay.viewer import bundle, compare, interventions, reading, routes, samples
from assay.viewer import service as service_module
from assay.viewer.access import Access
from assay.viewer.query import Query
from tests.viewer.test_counts import GOOD, POOR, Table, said
from tests.viewer.test_edges import request

# addresses

ASKED = (
    "page_of", "sample_of", "compare_runs", "edit_sample", "ask_model", "run_page", "verdict_of", "pairs_of",
    "reading_of", "intervention_curve", "layers_of", "map_of", "dataset_page", "audit_now", "shortcuts_of",
    "distribution_of", "list_tasks", "task_page", "task_picture",
)  # fmt: skip


class Shelf(dict):
    """A shelf with one dataset that has one run."""

    def __missing__(self, key):
        raise UnknownName(f"no dataset {key!r}")


def run(key):
    if key != "r":
        raise UnknownName(f"no run {key!r}")


class Service:
    """Answers with what it was asked, and with the names of work that is done in the background."""

    def __init__(self):
        self.state = SimpleNamespace(shelf=Shelf(d=SimpleNamespace(run=run)), drawing="drawing", jobs="jobs")
        self.state.table = lambda key, split: SimpleNamespace(file=lambda column, row: f"{key} {split} {column} {row}")

    def respond(self, data, status=200):
        return data

    def respond_in_place(self, work):
        return ("in place", work())

    def respond_later(self, name, work, jobs=None):
        return (name, work("tell"), jobs)


@pytest.fixture
def endpoints(monkeypatch):
    """The functions behind the addresses, by path; what they call answers with its name and what it was given."""
    service = Service()
    for name in ASKED:
        monkeypatch.setattr(
            routes, name, lambda *args, name=name: (name, *(arg for arg in args if arg is not service.state))
        )
    monkeypatch.setattr(routes, "overview", lambda shelf: {"datasets": [], "broken": ["b"]})
    monkeypatch.setattr(routes, "to_displayable", lambda column, data: f"{column}: {data}".encode())
    app = FastAPI()
    for serve in (routes.serve_samples, routes.serve_runs, routes.serve_datasets, routes.serve_tasks):
        serve(app, service)
    return {route.path: route.endpoint for route in app.routes if hasattr(route, "endpoint")}


def test_samples_are_asked_for_by_query_and_page(endpoints):
    asked = request(query="page=3&label=y:1&run=good&versus=poor&versus=also")
    query = Query(labels=(("y", "1"),), runs=("good", "poor", "also"))
    data = "/api/data/{key}/{split}"
    assert endpoints[f"{data}.json"]("d", "test", asked) == ("page_of", "d", "test", query, 3)
    assert endpoints[f"{data}/{{row}}.json"]("d", "test", 7, asked) == ("sample_of", "d", "test", 7, query)
    compared = endpoints[f"{data}/compare.json"]("d", "test", asked)
    assert compared == ("compare_runs", "d", "test", ("good", "poor", "also"))
    wanted = routes.Edit(changes={"a": 2})
    assert endpoints[f"{data}/{{row}}/edit"]("d", "test", 7, wanted) == (
        "in place", ("edit_sample", "d", "test", 7, {"a": 2}),
    )  # fmt: skip
    assert endpoints[f"{data}/{{row}}/ask/{{run}}"]("d", "test", 7, "r", wanted) == (
        "in place", ("ask_model", "d", "test", 7, "r", {"a": 2}),
    )  # fmt: skip


def test_every_kind_of_picture_can_be_asked_for_and_no_other_column(endpoints):
    picture = endpoints["/api/data/{key}/{split}/{row}/{column}.png"]
    for column in ("image", "instances", "parts", "depth"):
        answer = picture("d", "test", 4, column)
        assert answer.body == f"{column}: d test {column} 4".encode() and answer.media_type == "image/png"
    with pytest.raises(UnknownName, match="no picture 'style'"):
        picture("d", "test", 4, "style")


def fail(*given):
    raise DataError("no such world")


def test_why_a_change_cannot_be_is_an_answer(endpoints, monkeypatch):
    monkeypatch.setattr(routes, "edit_sample", fail)
    monkeypatch.setattr(routes, "ask_model", fail)
    monkeypatch.setattr(routes, "task_picture", fail)
    wanted, why = routes.Edit(), {"error": "no such world"}
    assert endpoints["/api/data/{key}/{split}/{row}/edit"]("d", "test", 7, wanted) == ("in place", why)
    assert endpoints["/api/data/{key}/{split}/{row}/ask/{run}"]("d", "test", 7, "r", wanted) == ("in place", why)
    assert endpoints["/api/tasks/{name}/picture.json"]("t")[1] == why


def test_what_takes_long_is_known_by_all_that_it_depends_on(endpoints):
    runs = "/api/runs/{key}/{run}"
    later = {
        f"{runs}/verdict.json": (("d", "r"), ("verdict", "d", "r"), ("verdict_of", "d", "r")),
        f"{runs}/{{split}}/interventions.json": (
            ("d", "r", "test", "fixed"),
            ("interventions", "d", "test", "r", "fixed"),
            ("intervention_curve", "d", "test", "r", "fixed"),
        ),
        f"{runs}/{{split}}/layers.json": (
            ("d", "r", "test"), ("layers", "d", "test", "r"), ("layers_of", "d", "test", "r"),
        ),
        f"{runs}/{{split}}/map.json": (
            ("d", "r", "test", "conv"), ("map", "d", "test", "r", "conv"), ("map_of", "d", "test", "r", "conv"),
        ),
        "/api/datasets/{key}/audit.json": (("d",), ("audit", "d"), ("audit_now", "d", "tell")),
        "/api/datasets/{key}/shortcuts.json": (("d",), ("shortcuts", "d"), ("shortcuts_of", "d")),
    }  # fmt: skip
    for path, (given, name, work) in later.items():
        assert endpoints[path](*given) == (name, work, None)
        with pytest.raises(UnknownName, match="no dataset 'e'"):
            endpoints[path]("e", *given[1:])
        if len(given) > 1:
            with pytest.raises(UnknownName, match="no run 's'"):
                endpoints[path]("d", "s", *given[2:])
    drawn = endpoints["/api/tasks/{name}/picture.json"]("t")
    assert drawn == (("task", "t"), ("task_picture", "t"), "drawing")  # which no verdict waits for


def test_what_is_quick_is_answered_at_once(endpoints):
    runs = "/api/runs/{key}/{run}"
    assert endpoints[f"{runs}.json"]("d", "r") == ("run_page", "d", "r")
    assert endpoints[f"{runs}/pairs.json"]("d", "r", request(query="page=2"), "moved") == (
        "pairs_of",
        "d",
        "r",
        "moved",
        2,
    )
    assert endpoints[f"{runs}/{{split}}/reading.json"]("d", "r", "test") == ("reading_of", "d", "test", "r")
    assert endpoints["/api/shelf.json"]() == {"datasets": [], "broken": ["b"], "live": True}
    assert endpoints["/api/datasets/{key}.json"]("d") == ("dataset_page", "d")
    assert endpoints["/api/datasets/{key}/{split}/distribution.json"]("d", "test") == ("distribution_of", "d", "test")
    assert endpoints["/api/tasks.json"]() == ("list_tasks",)
    assert endpoints["/api/tasks/{name}.json"]("t") == ("in place", ("task_page", "t"))


# one sample in full


class Sampled(Table):
    """The made-up split with a picture, boxes and a text in each row."""

    columns = ("index", "image", "instances", "parts", "things", "text", "pair_concept")
    dataset = SimpleNamespace(fingerprint="print", pairs={"split": "test"})

    def world(self, row):
        return SimpleNamespace(codes=tuple(self.concepts[row].tolist()), text=f"world {row}", style={"luck": row})

    def cell(self, column, row):
        return {"index": 20 + row, "things": [{"name": f"thing {row}"}], "text": f"text {row}", "pair_concept": "b"}[
            column
        ]


def state(table):
    return SimpleNamespace(
        table=lambda key, split: table,
        answers=lambda key, split, run: {"good": GOOD, "poor": POOR, "none": None}[run],
        require_answers=lambda key, split, run: {"good": GOOD, "poor": POOR}[run],
        shelf={"d": SimpleNamespace(runs={"good": 1, "none": 2})},
    )


def test_all_that_is_known_of_a_sample_is_told():
    found = samples.sample_of(state(Sampled()), "d", "test", 3)
    answer = found.pop("answers")
    assert list(answer) == ["good"] and [one["code"] for one in answer["good"]["concepts"]] == [1, 2, 1]
    assert found == {
        "row": 3, "index": 23, "concepts": [1, 2, 1], "labels": [0, 1], "tags": {"y": ["miss", "a 2"]},
        "violated": ["free"], "has": ["image", "instances", "parts"], "things": [{"name": "thing 3"}],
        "text": "text 3", "world": "world 3", "style": {"luck": 3}, "changed_from": None,
    }  # fmt: skip
    bare = Sampled()
    bare.columns = ("depth",)
    plain = samples.sample_of(state(bare), "d", "test", 4)
    assert (plain["has"], plain["things"], plain["text"], plain["violated"]) == (["depth"], [], None, [])
    assert plain["answers"] == {"good": None}


def test_a_changed_sample_names_where_it_comes_from(monkeypatch):
    monkeypatch.setattr(samples, "origins_of", lambda state, key: np.array([9, 8, 7, 6, 5]))
    found = samples.sample_of(state(Sampled()), "d", "pairs", 1)
    assert found["changed_from"] == {"split": "test", "row": 8, "concept": "b"}


@pytest.mark.parametrize(
    ("row", "before", "after"), [(0, None, 1), (1, None, 2), (2, 1, 4), (3, 2, 4), (4, 2, None)]
)  # fmt: skip
def test_the_next_samples_are_those_of_the_query(monkeypatch, row, before, after):
    monkeypatch.setattr(samples, "matching_rows", lambda *given: np.array([1, 2, 4]))
    found = samples.sample_of(state(Sampled()), "d", "test", row, Query())
    assert (found["before"], found["after"]) == (before, after)
    monkeypatch.setattr(samples, "matching_rows", lambda *given: np.zeros(0, dtype=int))
    alone = samples.sample_of(state(Sampled()), "d", "test", row, Query())
    assert (alone["before"], alone["after"]) == (None, None)
    assert "before" not in samples.sample_of(state(Sampled()), "d", "test", row)


class Plain(SimpleNamespace):
    def to_dict(self):
        return dict(self.__dict__)


def score(value, applies=True):
    return Plain(value=value, applies=applies)


# curves of interventions


class Asked:
    """A split of so many rows that remembers which were taken."""

    def __init__(self, rows, taken=None, known=None):
        self.rows, self.taken, self.known = rows, taken, known
        self.concepts, self.labels = np.zeros((rows, 3)), np.zeros((rows, 1))

    def __len__(self):
        return self.rows

    def take(self, rows):
        return Asked(len(rows), rows.tolist())

    def with_known_concepts(self, what):
        return Asked(self.rows, self.taken, what)


@pytest.fixture
def curve(monkeypatch):
    """A function that draws the curve of a run, and tells what was asked."""
    monkeypatch.setattr(interventions, "answers_from", lambda how, asked, model: (how, asked))
    monkeypatch.setattr(interventions, "Units", SimpleNamespace(of=lambda space: [1, 2, 3]))
    monkeypatch.setattr(interventions, "policy_of", lambda name, *rest: name)
    monkeypatch.setattr(interventions, "_budgets", lambda units: [0, len(units)])
    points = {name: place for place, name in enumerate(interventions.SHOWN)}
    seen = {}

    class Trial:
        def __init__(self, model, units, answers, truth):
            seen.update(answers=answers, truth=truth)

        def run(self, policy, budgets):
            seen.update(policy=policy, budgets=budgets)
            return SimpleNamespace(points=[SimpleNamespace(to_dict=lambda: {**points, "more": 9})] * 2)

    monkeypatch.setattr(interventions, "Trial", Trial)

    def draw(live=True, soft=True, rows=1000, **options):
        dataset = SimpleNamespace(knowledge=SimpleNamespace(space=None))
        split = Asked(rows)
        served = SimpleNamespace(
            run=lambda key: SimpleNamespace(live=live, folder="f"),
            dataset=type("Dataset", (), {"__getitem__": lambda self, name: split, "knowledge": dataset.knowledge})(),
        )
        model = SimpleNamespace(soft=soft)
        models = SimpleNamespace(
            answering=lambda folder, dataset, split: lambda asked: seen.update(asked=asked) or model
        )
        held = SimpleNamespace(shelf={"d": served}, models=models if options.pop("models", True) else None)
        return interventions.intervention_curve(held, "d", "test", "r", *options.values()), seen, points

    return draw


def test_a_live_model_is_asked_about_four_hundred_rows_evenly(curve):
    found, seen, points = curve()
    taken = seen["asked"].taken
    assert len(taken) == 400 and (taken[0], taken[-1]) == (0, 999) and seen["asked"].known == "an intervention"
    assert set(np.diff(taken)) == {2, 3} and seen["answers"][0] == "perfect" and seen["answers"][1] is seen["asked"]
    assert {key: found[key] for key in ("split", "policy", "by", "examples", "concepts")} == {
        "split": "test", "policy": "uncertainty", "by": "its own label head", "examples": 400, "concepts": 3,
    }  # fmt: skip
    assert found["points"] == [points, points] and seen["budgets"] == [0, 3] and seen["policy"] == "uncertainty"
    assert [one["name"] for one in found["policies"]] == ["uncertainty", "random", "fixed"]
    assert all(one["text"] and "\n" not in one["text"] for one in found["policies"])
    few, seen, _ = curve(rows=7)
    assert seen["asked"].taken == list(range(7)) and few["examples"] == 7


def test_of_a_file_all_rows_are_asked_and_hard_answers_are_corrected_at_random(curve):
    found, seen, _ = curve(live=False, soft=False)
    assert seen["asked"].taken is None and found["examples"] == 1000 and found["by"].startswith("the rule")
    assert found["policy"] == seen["policy"] == "random"
    assert curve(soft=False, policy="fixed")[0]["policy"] == "fixed"
    assert curve(policy="random")[0]["policy"] == "random"
    with pytest.raises(ConfigError, match="no policy 'greedy' here; there is: uncertainty, random, fixed"):
        curve(policy="greedy")
    with pytest.raises(ConfigError, match="without a way to ask models"):
        curve(models=False)


# answers and comparisons


def test_labels_are_set_against_each_other_where_both_are_predicted():
    one = said([[0, 0], [1, -1], [1, 1], [0, 1], [1, 0]], [[0, 1, 0]] * 5, range(5))
    other = said([[1, 0], [-1, 1], [1, 0], [1, 1], [0, 0]], [[0, 1, 0]] * 5, range(5))
    rows = np.arange(5)
    assert compare._against([one, other], rows, 0) == [[0, 2], [1, 1]]
    assert compare._against([one, other], rows, 1) == [[2, 0], [1, 1]]
    assert compare._against([other, one], rows, 1) == [[2, 1], [0, 1]]
    assert compare._against([one, other], rows[2:], 0) == [[0, 1], [1, 1]]
    assert compare._against([one, other, one], rows, 0) is None


def test_work_in_place_takes_one_of_two_places_and_gives_it_back():
    access = Access("token")
    service = service_module.Service(SimpleNamespace(shelf=SimpleNamespace(places=list)), access)
    free = []
    answer = service.respond_in_place(lambda: free.append(access.places._value) or {"done": 1})
    assert free == [1] and access.places._value == 2 and answer.body == b'{"done": 1}' and answer.status_code == 200
    with pytest.raises(DataError):
        service.respond_in_place(fail)
    assert access.places._value == 2


def test_answers_hide_folders_and_keep_letters_and_their_status():
    shelf = SimpleNamespace(places=lambda: [Path("/home/me/my data")])
    service = service_module.Service(SimpleNamespace(shelf=shelf), Access("token"))
    answer = service.respond({"why": "/home/me/my data/é.png is gone"}, 404)
    assert answer.status_code == 404 and answer.body.decode() == '{"why": "é.png is gone"}'
    assert answer.media_type == "application/json"


def test_rows_without_an_answer_are_no_errors_of_a_bundle():
    table = Table()
    table.sides = {}
    right = table.labels.copy()
    right[4] = 1 - right[4]  # of the last three rows that have answers, the last is wrong
    answers = said(right[2:], table.concepts[2:], (-1, -1, 0, 1, 2))
    served = SimpleNamespace(key="d", runs=["r"])
    held = SimpleNamespace(answers=lambda key, split, run: answers)
    assert [bundle.choose_rows(held, served, table, most).tolist() for most in (2, 3, 4)] == [
        [0, 4],
        [0, 1, 4],
        [0, 1, 2, 4],
    ]


def test_regions_count_only_rows_that_have_answers():
    table = Table()
    table.labels = np.array([[0, 0], [1, 1], [-1, 0], [-1, 1], [0, 0]])
    answers = said([[0, 0], [0, 1], [1, 0]], [[0, 1, 0]] * 3, (0, 1, -1, -1, 2))
    object.__setattr__(answers, "table", table)
    found = {one["name"]: (one["examples"], one["right"]) for one in reading._regions(answers, "y", table.sides["y"])}
    assert found == {"far": (2, 1), "a 1": (1, 0), "a 2": (1, 0)}  # rows 0 and 4; row 1; none of the others
