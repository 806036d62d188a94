"""The card and `assay show` tell how many examples lie where in the rule."""

import re
from collections.abc import Callable
from pathlib import Path

from assay.dataset import Dataset, region_tables
from tests.boundaries import counts
from tests.cli.conftest import Told, assay
from tests.conftest import Made
from tests.toys import Coin, written

__all__ = ["assay"]

RULE = {"pixels": True, "k": 4, "formula": "a & (b | c)", "prop_in_distribution": 1.0}
SIZES = {"train": 64, "valid": 0, "test": 16, "hard": 12}


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of every table in a card that tells where examples lie."""
    found = re.findall(r"^\| \w+ \| worlds where \|.*\n(?:\|.*\n)+", text, re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("| ").split(" | ")] for line in one.splitlines()] for one in found]


def card(dataset: Dataset) -> str:
    return (dataset.folder / "README.md").read_text()


def test_rows_are_in_the_order_of_the_rule_and_count_every_split(made: Made) -> None:
    dataset = made("mnlogic", **RULE, splits=SIZES)
    rows = region_tables(dataset.manifest)["y"]
    assert [(kind, name) for kind, name, *_ in rows] == [
        *[("holds", "a and b"), ("holds", "a and c"), ("just misses", "not a and b")],
        *[("just misses", "a and not b and not c"), ("just misses", "not a and c"), ("far", "all others")],
    ]
    for place, name in enumerate(("train", "test", "hard"), start=2):
        assert [int(row[place]) for row in rows] == counts(dataset.knowledge, dataset[name].concepts)
    assert rows[3][4] == rows[5][4] == "2"  # of 12, in 6 turns


def test_the_card_has_a_table_for_each_label(made: Made) -> None:
    dataset = made("mnlogic", **RULE, splits=SIZES)
    (table,) = tables(card(dataset))
    assert table[0] == ["y", "worlds where", "train", "test", "hard"]
    rows = region_tables(dataset.manifest, lambda name: f"`{name}`")["y"]
    assert table[2:] == rows and rows[0][1] == "`a and b`" and rows[-1][:2] == ["far", "all others"]
    assert "evenly over label values (hard: over the ways to keep and to just miss the rule)" in card(dataset)


def test_a_label_that_is_a_number_has_the_concepts_that_change_it(evenodd: Dataset) -> None:
    (table,) = tables(card(evenodd))
    assert table[2:] == [
        *(["changes", f"`change {name}`", "160", "32", "160", "168", "32"] for name in "ab"),
    ]


def test_of_many_rows_the_first_are_shown_and_the_others_counted(made: Made) -> None:
    dataset = made("mnlogic", pixels=True, k=6, n=200, prop_in_distribution=1.0)
    (table,) = tables(card(dataset))  # the parity of 6 bits holds in 32 ways, and every other world just misses it
    assert len(table) == 2 + 30 + 1 and "and 34 more, in manifest.json" in table[-1]
    assert len(dataset.manifest.to_dict()["splits"][0]["boundary"]["y"]) == 64


def test_show_tells_where_the_examples_of_a_folder_lie(made: Made, assay: Callable[..., Told]) -> None:
    dataset = made("mnmath", n=64, splits={"valid": 0, "ood": 0})
    told = assay("show", dataset.folder)
    assert told.status == 0
    lines = [line.split() for line in told.out.splitlines()]
    for label, rows in region_tables(dataset.manifest).items():
        assert [label, "worlds", "where", "train", "test", "hard"] in lines
        assert all(" ".join(row).split() in lines for row in rows)


def test_datasets_from_before_are_shown_too(evenodd: Dataset) -> None:
    body = evenodd.manifest.to_dict()
    splits = [{key: value for key, value in split.items() if key != "boundary"} for split in body["splits"]]
    assert region_tables(evenodd.manifest.but(splits=splits)) == {"sum": []}


def test_the_card_says_which_labels_are_drawn(tmp_path: Path, evenodd: Dataset) -> None:
    text = card(written(Coin(), tmp_path / "data", train=8, valid=8, test=8, hard=8))
    assert "drawn: True with probability 1 / (1 + exp(-0.7 x)), x = `2 * (a + b + c) - 3`" in text
    assert "Drawn by chance: y; examples with the same concepts can differ in it." in text
    assert "no noise was added" not in text and "no noise was added" in card(evenodd)
    assert "| first | `a` | False, True |" in text
