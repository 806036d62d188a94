"""The card of a dataset: front matter that the Hub reads, tables, and sentences that depend on what the data is."""

import re

import numpy as np
import pytest
import yaml

from assay.contracts import MENDING
from assay.dataset import Dataset, describe
from assay.exchange import Annotation, annotate, from_table
from assay.logic import Constraint, Knowledge, parse
from tests.toys import Coin, Shelf, written


def card(manifest):
    return describe(manifest)["README.md"].decode()


def front(text):
    return yaml.safe_load(text.split("---\n", 2)[1])


def table(text, head):
    """Return the rows of a table by the beginning of its first line."""
    lines = text[text.index(head) :].splitlines()
    rows = lines[2 : next(n for n, line in enumerate([*lines, ""]) if not line.startswith("|"))]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def sized(manifest, **sizes):
    return manifest.but(splits=[manifest.splits_by_name[name].but(size=size) for name, size in sizes.items()])


@pytest.mark.parametrize(
    ("size", "category"),
    [(999, "n<1K"), (1000, "1K<n<10K"), (9_999, "1K<n<10K"), (10_000, "10K<n<100K"), (99_999, "10K<n<100K"),
     (100_000, "100K<n<1M"), (999_999, "100K<n<1M"), (1_000_000, "n>1M")],
)  # fmt: skip
def test_sizes_have_the_categories_of_the_hub(size, category, mnlogic):
    assert front(card(sized(mnlogic.manifest, train=size - 1, test=1)))["size_categories"] == [category]


@pytest.mark.parametrize(
    ("sources", "licence", "people"),
    [
        ([], "cc-by-4.0", "No."),
        (["digits"], "cc-by-sa-3.0", "Handwriting only; writers are not named."),
        (["digits", "coco"], "other", "Yes: photographs of people, who are not named."),
    ],
)
def test_licences_follow_from_the_sources(sources, licence, people, mnlogic):
    named = {name: {"name": name.upper(), "sha256": "0123456789abcdef" * 4} for name in sources}
    text = card(mnlogic.manifest.but(sources=named))
    assert front(text)["license"] == licence and people in text
    assert all(f"{name}: {name.upper()} (sha256 `0123456789abcdef`)" in text for name in sources)


def test_the_hub_finds_the_files_of_each_split_and_of_the_changed_worlds(mnlogic, tmp_path):
    first, pairs = front(card(mnlogic.manifest))["configs"]
    assert first["data_files"] == [{"split": name, "path": f"{name}/*.parquet"} for name in mnlogic.split_names]
    assert pairs["config_name"] == "pairs" and pairs["data_files"][0]["path"] == "pairs/*.parquet"
    none = written(Coin(), tmp_path / "coin", train=8, valid=2, test=2, hard=0, pairs=0)
    assert len(front(card(none.manifest))["configs"]) == 1 and "No: none were asked for." in card(none.manifest)
    assert f"Yes: split `pairs` holds {len(mnlogic['pairs'])} examples of split test" in card(mnlogic.manifest)


def test_tables_tell_concepts_labels_constraints_and_splits(mnlogic, evenodd):
    limited = Knowledge.of(
        mnlogic.knowledge.space, {"y": "a ^ b"}, [Constraint("few", parse("a or b"), ("hard", "one"))]
    )
    text = card(mnlogic.manifest.but(knowledge=limited.to_dict()))
    assert [row[:2] for row in table(text, "| concept |")] == [[name, "False, True"] for name in "abc"]
    assert table(text, "| label |") == [["y", "`xor(a, b)`", "False, True"]]
    assert table(text, "| constraint |")[0][:2] == ["few", "`a or b`"] and "hard, one" in text
    assert "No constraints: every combination is possible." in card(mnlogic.manifest)
    rows = {row[0]: row for row in table(card(evenodd.manifest), "| split |")}
    assert [int(row[1]) for row in rows.values()] == [len(evenodd[name]) for name in evenodd.split_names]
    assert "sum: 6 x 40, 10 x 80, 12 x 40" in rows["train"]
    assert len({row[-1] for row in table(card(evenodd.manifest), "| concept |")}) == 1  # one encoder reads both


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({}, "`label_noise: 0.1`, `drop: [\"a\"]`; seed 3)"),
        ({"settings": {}}, "(nothing asked; seed 3)"),
        ({"settings": {}, "reader": {"reader": "vlm"}}, "(concepts read by vlm; seed 3)"),
        ({"settings": {}, "machine": MENDING}, "(concept labels bought by `assay mend`; seed 3)"),
    ],
)  # fmt: skip
def test_an_annotated_copy_says_what_was_done_to_it(about, told, mnlogic):
    usual = {
        "settings": {"label_noise": 0.1, "drop": ["a"]},
        "splits": ["train"],
        "seed": 3,
        "parent": "ff",
        "machine": None,
    }
    manifest = mnlogic.manifest
    text = card(manifest.but(task=manifest.task.but(annotation={**usual, **about})))
    assert told in text and "fingerprint `ff`" in text and "`assay annotate` this one" in text


def test_an_annotated_dataset_lists_its_columns_for_other_programs(mnlogic, tmp_path):
    annotate(mnlogic, Annotation(missing=0.2), tmp_path / "copy")
    text = card(Dataset.open(tmp_path / "copy").manifest)
    assert "no noise was added. That is so of the columns" in text


def test_an_imported_dataset_says_where_it_is_from_and_what_is_not_known(tmp_path):
    columns = {"concept_a": [1, None, 0, 1, 0, 1], "label_y": [1, 0] * 3, "split": ["train"] * 4 + ["valid", "test"]}
    data = from_table(columns, tmp_path / "data", images=[np.zeros((8, 8), np.uint8)] * 6)
    text = card(data.manifest)
    assert front(text)["license"] == "other" and "It was imported from a table: 6 examples" in text
    assert "Concepts are not known in 25 % of train." in text
    whole = from_table(
        {**columns, "concept_a": [1, 0] * 3}, tmp_path / "whole", images=[np.zeros((8, 8), np.uint8)] * 6
    )
    assert "Every concept has a value." in card(whole.manifest)


@pytest.mark.parametrize("task", [Coin, Shelf])
def test_an_example_is_told_by_its_columns_and_size(task, tmp_path):
    text = card(written(task(), tmp_path / "data", train=8, valid=2, test=2, hard=0).manifest)
    (shown,) = re.findall(r"\*\*What is an example\?\*\* (.*?), the concepts", text)
    assert shown.startswith(
        "A picture of 3 x 1 pixels (grey)" if task is Coin else "A picture of 16 x 8 pixels (colour)"
    )
    assert ("a text" in shown) == ("how far away" in shown) == (task is Shelf)
