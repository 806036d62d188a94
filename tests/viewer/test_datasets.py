"""The page of a dataset: its rule as a table, its distribution, its audit and its shortcuts."""

import json
import shutil

import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.errors import DataError
from assay.logic import Constraint, Knowledge, parse
from assay.viewer import State, datasets
from assay.viewer.datasets import (
    audit_now,
    dataset_page,
    distribution_of,
    facts,
    rule_table,
    shortcuts_of,
    small_diagram,
)


def test_the_truth_table_is_the_rule(state):
    table = dataset_page(state, "pixels")["rule"]
    assert table["kind"] == "table" and len(table["rows"]) == 8
    for (a, b, c), (label,) in zip(table["rows"], table["labels"], strict=True):
        assert label == ((a and b) or c)


def test_concepts_that_the_rule_does_not_name_are_left_out():
    table = rule_table(Knowledge.of(bits(["a", "b", "c"]), {"y": "a and c"}))
    assert table["concepts"] == [0, 2] and [row[0] for row in table["labels"]] == [0, 0, 0, 1]


def test_two_concepts_make_a_grid_and_many_only_a_number():
    digits = tuple(range(10))
    space = ConceptSpace((Concept("a", digits), Concept("b", digits), Concept("c", digits)))
    assert rule_table(Knowledge.of(space, {"sum": "a + b"}))["kind"] == "grid"
    table = rule_table(Knowledge.of(space, {"sum": "a + b + c"}))
    assert (table["kind"], table["count"]) == ("many", 1000)


def test_worlds_that_break_a_constraint_are_marked():
    limit = Constraint("one", parse("not (a and b)"))
    table = rule_table(Knowledge.of(bits(["a", "b"]), {"y": "a or b"}, [limit]))
    assert table["possible"] == [True, True, True, False]


def test_the_diagram_leads_to_the_label():
    knowledge = Knowledge.of(bits(["a", "idle", "b"]), {"y": "a and b"})
    diagram = small_diagram(knowledge)
    assert [knowledge.space.names[layer["concept"]] for layer in diagram["layers"]] == ["a", "b"]
    for a in (0, 1):
        for b in (0, 1):
            node = 0
            for layer, code in zip(diagram["layers"], (a, b), strict=True):
                node = layer["next"][node][code]
            assert diagram["outcomes"][node] == [str(bool(a and b))]


def test_the_distribution_counts_every_sample(state, data):
    found = distribution_of(state, "pixels", "test")
    truth = data["test"]
    assert [one["counts"] for one in found["concepts"]] == [
        [int((column == code).sum()) for code in (0, 1)] for column in truth.concepts.T
    ]
    assert sum(found["labels"][0]["counts"]) == len(truth)


def test_shortcuts_are_counted_and_an_audit_is_made(state):
    found, steps = shortcuts_of(state, "pixels"), []
    assert found["low"] == found["high"] >= 1 and "training worlds" in found["text"]
    audit = audit_now(state, "pixels", steps.append)
    assert {one["status"] for one in audit["findings"]} <= {"pass", "note", "fail", "not checked", "nothing to check"}
    assert steps[0].startswith("labels (1 of ") and len(steps) == len(audit["findings"])


def test_a_stored_audit_is_shown_and_a_damaged_one_refused(folder, tmp_path):
    shutil.copytree(folder / "data" / "pixels", tmp_path / "data")
    state = State.open([tmp_path / "data"])
    assert dataset_page(state, "data")["audit"] is None
    one = {"check": "labels", "status": "pass", "text": "fine", "numbers": {}}
    (tmp_path / "data" / "audit.json").write_text(json.dumps({"findings": [one]}))
    found = dataset_page(state, "data")["audit"]
    assert found == {"findings": [{"check": "labels", "status": "pass", "text": "fine"}], "stored": True}
    (tmp_path / "data" / "audit.json").write_text("{}")
    with pytest.raises(DataError, match="audit.json of 'data' cannot be read"):
        dataset_page(state, "data")


def test_names_that_people_use(state, folder, tmp_path):
    shelf = state.shelf
    found = facts(shelf["pixels"], shelf)
    assert found["title"] == "mnlogic" and [split["name"] for split in found["splits"]][-1] == "pairs"
    runs = {run["key"]: run for run in found["runs"]}
    assert runs["good"]["title"] == "dpl on mnlogic, seed 0" and runs["good"]["short"] == "dpl"
    assert runs["good"]["splits"] == ["valid", "test", "hard", "pairs"]
    shutil.copytree(folder / "runs" / "good", tmp_path / "twin")
    both = State.open([folder, tmp_path / "twin"]).shelf["pixels"].short_names()
    assert both == {"good": "good", "poor": "cbm", "twin": "twin"}
    shutil.copytree(folder / "data" / "pixels", tmp_path / "again")
    assert State.open([folder / "data", tmp_path / "again"]).shelf.title("again") == "again"


def test_a_row_breaks_a_constraint_only_where_no_values_of_the_other_concepts_keep_all(monkeypatch):
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("u", (0, 1, 2)), Concept("b", (0, 1)), Concept("v", (0, 1))))
    limits = (
        Constraint("more", parse("u > a")),  # a = 2 leaves no value for u
        Constraint("one", parse("v == 1")),
        Constraint("apart", parse("not (a == 1 and b == 1)")),
    )
    knowledge = Knowledge.of(space, {"y": "a > b"}, limits)
    table = rule_table(knowledge)
    assert table["concepts"] == [0, 2] and table["rows"] == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert table["possible"] == [True, True, True, False, False, False]
    free = rule_table(Knowledge.of(space, {"y": "a > b"}))
    assert free["possible"] == [True] * 6 and free["labels"] == table["labels"]
    monkeypatch.setattr(datasets, "MOST_WORLDS", 36)
    assert rule_table(knowledge)["possible"] == table["possible"]  # 6 rows of 6 ways each
    monkeypatch.setattr(datasets, "MOST_WORLDS", 35)
    assert rule_table(knowledge)["possible"] == [True] * 6
