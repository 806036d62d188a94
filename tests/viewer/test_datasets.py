"""The page of a dataset: its rule as a table, its distribution, its audit and its shortcuts; the pages of tasks."""

import base64
import itertools
import json
import shutil

import numpy as np
import pytest

from assay.render import encode_png
from assay.tasks import TASKS
from tests.conftest import write
from tests.toys import written
from tests.viewer.test_counts import Uneven

FEW = {"train": 8, "valid": 4, "test": 4}


@pytest.fixture(scope="module")
def rules(opened, tmp_path_factory):
    """Rules of unlike sizes: a table, a table of the concepts that it names, a grid, constraints, and too many worlds."""
    folder, bits = tmp_path_factory.mktemp("rules"), {"pixels": True, "prop_in_distribution": 1.0, "splits": FEW}
    made = {
        "three": write(folder / "three", "mnlogic", k=3, formula="a and b or c", **bits),
        "two": write(folder / "two", "mnlogic", k=3, formula="a and c", **bits),
        "many": write(folder / "many", "mnlogic", k=6, formula="a + b + c + d + e + f >= 3", **bits),
        "sum": write(folder / "sum", "mnadd", splits=FEW),
        "uneven": written(Uneven(), folder / "uneven"),
    }
    viewer = opened(*(data.folder for data in made.values()))
    return {key: (data, viewer.get(f"datasets/{key}.json")["rule"]) for key, data in made.items()}


def worlds_of(knowledge):
    return np.array(list(itertools.product(*(range(size) for size in knowledge.space.sizes))))


@pytest.mark.parametrize(
    ("key", "kind"), [("three", "table"), ("two", "table"), ("sum", "grid"), ("uneven", "table"), ("many", "many")]
)
def test_the_table_is_the_rule(rules, key, kind):
    data, found = rules[key]
    worlds = worlds_of(data.knowledge)
    assert found["kind"] == kind
    if kind == "many":
        assert found["count"] == len(worlds)
        return
    possible = (
        ~data.knowledge.violations(worlds).any(axis=1) if data.knowledge.constraints else np.ones(len(worlds), bool)
    )
    labels, places = data.knowledge.labels_of(worlds), found["concepts"]
    named = {
        tuple(row): (label, fine)
        for row, label, fine in zip(found["rows"], found["labels"], found["possible"], strict=True)
    }
    assert set(named) == {tuple(world[places].tolist()) for world in worlds}
    for world, label in zip(worlds, labels, strict=True):
        assert named[tuple(world[places].tolist())][0] == label.tolist()
    for row, (_, fine) in named.items():  # a row can be where some values of the other concepts break no constraint
        assert fine == possible[(worlds[:, places] == row).all(axis=1)].any()
    if key == "two":
        assert places == [0, 2]  # what the rule does not name is left out


@pytest.mark.parametrize("key", ["three", "two", "many"])
def test_the_diagram_leads_to_the_label(rules, key):
    data, found = rules[key]
    names = data.knowledge.label_names
    for world in worlds_of(data.knowledge):
        node = 0
        for layer in found["diagram"]["layers"]:
            node = layer["next"][node][world[layer["concept"]]]
        label = data.knowledge.labels_of(world[None])[0, 0]
        assert found["diagram"]["outcomes"][node] == [str(data.knowledge.label(names[0]).values[label])]


def test_shortcuts_are_counted_and_an_audit_is_made(viewer):
    found = viewer.get("datasets/pixels/shortcuts.json")
    assert found["low"] == found["high"] >= 1 and "training worlds" in found["text"]
    audit = viewer.get("datasets/pixels/audit.json")
    assert {one["status"] for one in audit["findings"]} <= {"pass", "note", "fail", "not checked", "nothing to check"}
    assert len(audit["findings"]) > 5 and not audit["stored"]


def test_a_stored_audit_is_shown_and_a_damaged_one_refused(folder, opened, tmp_path):
    shutil.copytree(folder / "data" / "pixels", tmp_path / "data")
    viewer, file = opened(tmp_path / "data"), tmp_path / "data" / "audit.json"
    assert viewer.get("datasets/data.json")["audit"] is None
    one = {"check": "labels", "status": "pass", "text": "fine"}
    file.write_text(json.dumps({"findings": [{**one, "numbers": {}}]}))
    assert viewer.get("datasets/data.json")["audit"] == {"findings": [one], "stored": True}
    for text in ("{", "{}", "[]", '{"findings": [{}]}'):
        file.write_text(text)
        assert viewer.why_not("datasets/data.json") == "audit.json of 'data' cannot be read"


def test_what_the_page_knows_of_a_dataset(viewer, data, folder):
    (found,) = viewer.get("shelf.json")["datasets"]
    sizes = {split["name"]: split["size"] for split in found["splits"]}
    assert sizes == {**{name: len(data[name]) for name in data.split_names}, "pairs": len(data["pairs"])}
    assert (found["title"], found["fingerprint"], found["folder"]) == ("mnlogic", data.fingerprint, "pixels")
    assert found["preview"] == {"split": "test", "rows": [0, 1, 2, 3]} and found["registered"]
    assert {run["key"]: run["title"] for run in found["runs"]}["good"] == "dpl on mnlogic, seed 0"
    assert str(folder) not in str(found)


def test_a_task_is_shown_by_its_first_training_worlds(viewer):
    def decoded(address):
        return base64.b64decode(address.partition(",")[2])

    task = TASKS["mnlogic"]()
    page = viewer.get("tasks/mnlogic.json")
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(len(page["examples"])))
    pictures = [encode_png(task.render(world).image) for world in worlds]
    assert [decoded(example["image"]) for example in page["examples"]] == pictures and len(pictures) == 8
    assert decoded(viewer.get("tasks/mnlogic/picture.json")["image"]) == pictures[0]
    assert page["splits"] == [{"name": split.name, "size": split.size} for split in task.splits()]
    assert {one["name"] for one in viewer.get("tasks.json")} == set(TASKS)
    assert viewer.told("tasks/nothing.json")[0] == 404
