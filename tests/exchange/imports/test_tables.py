"""What the cells and columns of a table mean: truths, numbers, texts, gaps, votes, probabilities, names, splits."""

import json
import math

import numpy as np
import pytest

from assay.base import AssayError, Settings
from assay.exchange import from_table, import_folder
from tests.exchange.imports.seen import column, imported, png, put, seen

ROWS = 6
PICTURES = [png(10 * row) for row in range(ROWS)]


@pytest.fixture
def read(tmp_path):
    """Return a function that imports columns, and says what is seen in the order of rows; a label is there."""
    numbers = iter(range(100))

    def function(columns, pictures=PICTURES, **settings):
        held = {"label_y": [row % 2 for row in range(len(pictures))], **columns}
        data = from_table(held, tmp_path / str(next(numbers)), images=pictures, **settings)
        rows = seen(data)
        return data, [rows.get(f"{row}.png") for row in range(len(pictures))]

    return function


@pytest.mark.parametrize(
    ("cells", "meant", "values"),
    [
        ([" Yes ", "NO", "true", "False", "?", "NaN"], [True, False, True, False, None, None], (False, True)),
        (["-3", 2.0, np.int64(4), "n/a", "Null", ""], [-3, 2, 4, None, None, None], (-3, 2, 4)),
        ([1, 0, None, 1, 0, math.nan], [True, False, None, True, False, None], (False, True)),
        ([10, 9, None, 100, 9, 10], [10, 9, None, 100, 9, 10], (9, 10, 100)),
        ([" red ", "Blue one", "NA", "red", "é", "3.5"], ["red", "Blue one", None, "red", "é", "3.5"], ("3.5", "Blue one", "red", "é")),
        (["yes", "maybe", "no", None, "yes", "no"], ["yes", "maybe", "no", None, "yes", "no"], ("maybe", "no", "yes")),
        (["1", "2", "3+", "1", 2, "3+"], ["1", "2", "3+", "1", "2", "3+"], ("1", "2", "3+")),
        ([True] * 6, [True] * 6, (False, True)),
    ],
)  # fmt: skip
def test_cells_are_truths_numbers_texts_or_gaps(cells, meant, values, read):
    data, rows = read({"concept_a": cells})
    assert [row["a"] for row in rows] == meant and [row["level"] for row in rows] == [0, 10, 20, 30, 40, 50]
    assert data.knowledge.space.concept("a").values == values


@pytest.mark.parametrize(
    ("columns", "settings", "why"),
    [
        ({"concept_a": [2.5] * 6}, {}, "is no truth value, whole number or text"),
        ({"concept_a": [[1]] * 6}, {}, "is no truth value, whole number or text"),
        ({"concept_a": [True, "maybe"] * 3}, {}, "mixes kinds of values"),
        ({"concept_a": [None] * 6}, {}, "concept 'a' has no value in any row; leave the column out"),
        ({"concept_a": [1, 0] * 3, "label_y": ["u"] * 6}, {}, "label 'y' is always"),
        ({"concept_a": [1, 0] * 3, "label_y": [1, None, 0, 1, 0, 1]}, {}, "label 'y' of picture '1.png' is empty"),
        ({"concept_a": [1, 0] * 3}, {"rule": {"y": "a + 5"}}, "label 'y': the rule never gives the value"),
        ({"concept_a": [1, 0] * 3}, {"rule": {"z": "a"}}, "labels: expected a formula for each of y"),
        ({"concept_a": [1, 0] * 3}, {"rule": {"splits": {"odd": "a"}}}, "splits: no split named 'odd'"),
        ({"concept_a": [1, 0] * 3}, {"rule": {"splits": {"train": "a + 1"}}}, "must be true or false"),
        ({"concept_a": [1, 0] * 3}, {"rule": {"disjoint": [["train", "odd"]]}}, "disjoint: no split named 'odd'"),
        ({"concept_a": [1, 0] * 3, "concept_a@ann": [1, 0] * 3}, {}, "has a column of its own and others by annotator"),
        ({"concept_n=1": [1.5] * 6}, {}, "concept 'n': expected probabilities from 0 to 1"),
        ({"concept_n=1": ["x"] * 6}, {}, "concept 'n': expected probabilities, found"),
        ({"concept_a": [1, 0] * 3}, {"labels": ["q"]}, "the table has no column 'q'"),
        ({"concept_a": [1, 0] * 3}, {"split": "part"}, "the table has no column 'part'"),
        ({"a": [1, 0] * 3}, {}, "needs columns 'concept_NAME' and 'label_NAME'"),
        ({"concept_a": [1, 0]}, {}, "the columns of the table differ in length"),
        ({"concept_a": [1, 0] * 3, "split": ["test"] * 6}, {}, "no row is of split 'train'; there is: test"),
        ({"concept_a": [1, 0] * 3}, {"shares": {"train": 0.7, "test": 0.2}}, "the shares must add up to 1"),
        ({"concept_a": [1, 0] * 3}, {"shares": {"valid": 0.5, "test": 0.5}}, "one of them of 'train'"),
        ({"concept_a": [1, 0] * 3}, {"shares": {"train": 1.0}}, "expected shares between 0 and 1"),
        ({"concept_a": [1, 0] * 3}, {"size": 7}, "expected 8 to 2048 pixels"),
        ({"concept_a": [1, 0] * 3}, {"size": [8, 2049]}, "expected 8 to 2048 pixels"),
        ({"concept_a": [1, 0] * 3}, {"resize": "bend"}, "resize"),
        ({"concept_a": [1, 0] * 3}, {"seed": -1}, "seed"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_dataset_is_told_in_a_line_and_leaves_nothing(columns, settings, why, read, tmp_path):
    with pytest.raises(AssayError, match=why) as caught:
        read(columns, **settings)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def test_annotators_vote_and_probabilities_decide(read):
    _, rows = read({
        "concept_red@ann": ["yes", "no", "", 1, 0, 1], "concept_red@bob": ["no", "no", "", 1, 0, 1],
        "concept_red@cat": ["yes", "", None, 1, 1, 1], "concept_n=1": [0.2, None, "", 0.5, 0.1, 1],
        "concept_n=20": [0.5, "0.25", math.nan, 0.5, 0.9, 0], "concept_big=true": [0.75, 0.5, 0.25, "", 1, 0],
        "concept_off=false": [0.75, 0.5, 0.25, None, 1, 0],
    })  # fmt: skip
    assert [row["red"] for row in rows] == [True, False, None, True, False, True]
    assert [row["n"] for row in rows] == [20, 20, None, 1, 20, 1]  # the first of equal ones
    assert [row["big"] for row in rows] == [True, True, False, None, True, False]
    assert [row["off"] for row in rows] == [False, False, True, None, False, True]
    assert rows[0]["agreement"] == {"red": pytest.approx(2 / 3), "n": 0.5, "big": 0.75, "off": 0.75}


def test_columns_that_are_asked_for_go_before_those_with_a_prefix(read):
    columns = {
        "y": ["no", "yes"] * 3, "label_y": [3, 4] * 3, "concept_red@ann": [1, 0] * 3, "concept_red@bob": [1, 1] * 3,
        "concept_wide": [0, 1] * 3, "size": [5, 6] * 3, "concept_size": [7, 8] * 3,
    }  # fmt: skip
    data, rows = read(columns, labels=["y"], concepts=["size", "red@bob", "red@ann"])
    assert data.knowledge.space.names == ("size", "red") and [row["size"] for row in rows[:2]] == [5, 6]
    assert [row["red"] for row in rows[:2]] == [True, False] and [row["y"] for row in rows[:2]] == [False, True]
    data, rows = read(columns)
    assert data.knowledge.space.names == ("red", "wide", "size") and [row["y"] for row in rows[:2]] == [3, 4]
    assert [row["size"] for row in rows[:2]] == [7, 8]


def test_names_are_those_that_formulas_can_hold_and_stay_apart(read):
    columns = {"concept_a b": [1, 0] * 3, "concept_a-b": [2, 3] * 3, "concept_5::x (y)": [6, 7] * 3, "concept_true": [0, 1] * 3, "label_class": [4, 5] * 3}  # fmt: skip
    data, rows = read(columns)
    assert data.knowledge.space.names == ("a_b", "a_b_2", "n5__x_y", "true_") and data.knowledge.label_names == (
        "y",
        "class_",
    )
    assert (rows[0]["a_b"], rows[0]["a_b_2"], rows[0]["n5__x_y"]) == (True, 2, 6)


def test_a_row_has_its_texts_sources_and_nuisances(read):
    data, _ = read({
        "concept_a": [1, 0] * 3, "nuisance_light": [1.5, "dim", None, True, 7, 2], "source": ["p; q;", None, "r", "s", "t", "u"],
        "text": [None, 5, "c", "d", "e", "f"], "split": ["train", "train", "train", "val", "test", "unused"],
    }, rule={"labels": {"y": "not a"}, "constraints": {"any": "a or not a"}, "splits": {"test": "not a or a"}, "disjoint": [["train", "test"]]})  # fmt: skip
    train = data["train"]
    assert train.texts == ["", "5", "c"] and data.split_names == ("train", "valid", "test") and len(data["test"]) == 1
    styles = [train.world(row).style for row in range(3)]
    assert [style["light"] for style in styles] == [1.5, "dim", None] and [style["sources"] for style in styles] == [
        ["p", "q"],
        [],
        ["r"],
    ]
    entries = {entry["name"]: entry for entry in data.manifest.to_dict()["splits"]}
    assert entries["train"]["disjoint_from"] == ["test"] and entries["train"]["labels"] == {
        "y": {"False": 2, "True": 1}
    }
    assert [one.name for one in data.knowledge.constraints] == ["any"] and data.manifest.columns == ["image", "text"]
    tags = train.table["boundary_y"].to_pylist()
    assert tags == data.knowledge.boundaries[0].tags(train.concepts)


def test_the_manifest_says_where_the_data_is_from_and_that_it_cannot_be_redrawn(read):
    gaps = {"concept_a": [1, None, 0, 1, 0, None], "split": ["train"] * 4 + ["valid", "test"]}
    data, _ = read(gaps, name="mine", seed=4, resize="crop")
    about = data.manifest.to_dict()["task"]["imported"]
    assert (data.name, data.manifest.seed, about["examples"], about["resize"]) == ("mine", 4, 6, "crop")
    assert about["missing"] == {"train": 0.25, "valid": 0.0, "test": 1.0} and about["splits"] == "as in the source"
    assert data.pairs is None and "cannot be redrawn" in data.why_no_pairs and not data.knowledge.has_rule
    assert data["test"].table["boundary_y"].to_pylist() == ["not placed"]
    other, _ = read(gaps, [PICTURES[1], PICTURES[0], *PICTURES[2:]], name="mine", seed=4, resize="crop")
    assert other.manifest.to_dict()["task"]["imported"]["pictures_sha256"] != about["pictures_sha256"]
    assert other.fingerprint != data.fingerprint


# -- files -------------------------------------------------------------------------------------------------------------

TABLES = {
    "concepts.csv": "file,concept_n,label_y\na.png,1,yes\nb.png,2,no\nc.png,1,no\n",
    "mine.json": '[{"file": "a.png", "concept_n": 1, "label_y": true}, {"file": "b.png", "label_y": false}, {"file": "c.png", "concept_n": 3, "label_y": false}]',
    "mine2.json": '{"file": ["a.png", "b.png", "c.png"], "concept_n": [1, null, 3], "label_y": [1, 0, 0]}',
    "mine.jsonl": '{"file": "a.png", "concept_n": 1, "label_y": true}\n\n{"file": "b.png", "label_y": 0}\n{"file": "c.png", "concept_n": 3, "label_y": 0}\n',
}
SHOWN = {"a.png": 10, "b.png": 20, "c.png": 30}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_a_file_of_several_forms(name, tmp_path):
    put(tmp_path / "in", {name: TABLES[name], **SHOWN})
    rows = imported(tmp_path / "in", tmp_path / "out", **({} if name == "concepts.csv" else {"table": name}))
    assert column(rows, "level") == SHOWN and column(rows, "y") == {"a.png": True, "b.png": False, "c.png": False}
    assert (
        column(rows, "n") == {"a.png": 1, "b.png": 2, "c.png": 1}
        if name[0] == "c"
        else {"a.png": 1, "b.png": None, "c.png": 3}
    )


BAD = {
    "longer": (TABLES["concepts.csv"] + "1,2,3,4\n", "longer or shorter than its first line"),
    "shorter": (TABLES["concepts.csv"] + "1,2\n", "longer or shorter than its first line"),
    "head only": ("file,concept_n,label_y\n", "holds no example"),
    "nothing": ("", "holds no example"),
    "a broken quote": (TABLES["concepts.csv"] + '"x\n', "cannot be read: unexpected end of data"),
    "no text": (b"\xff\xfe", "is not UTF-8 text"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_damaged_table_is_told(case, tmp_path):
    text, why = BAD[case]
    put(tmp_path / "in", {"concepts.csv": text, **SHOWN})
    with pytest.raises(AssayError, match=why) as caught:
        import_folder(tmp_path / "in", tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["{", '"abc"', "[1]", '{"x": []}', "[" * 100_000])
def test_a_table_that_is_no_json_table_is_told(text, tmp_path):
    put(tmp_path / "in", {"t.json": text})
    with pytest.raises(AssayError) as caught:
        import_folder(tmp_path / "in", tmp_path / "out", None, Settings({"table": "t.json"}))
    assert "\n" not in str(caught.value)


def test_a_rule_that_is_given_goes_before_that_of_the_folder(tmp_path):
    put(tmp_path / "strange", {"concepts.csv": TABLES["concepts.csv"], "rule.yaml": "labels: {y: n == 1}\n", **SHOWN})
    assert str(import_folder(tmp_path / "strange", tmp_path / "a").knowledge.labels[0].formula) == "n == 1"
    given = import_folder(tmp_path / "strange", tmp_path / "b", {"y": "n < 2"})
    assert str(given.knowledge.labels[0].formula) == "n < 2" and given.name == "strange"


def test_pictures_by_their_path_lie_in_a_folder_that_is_named(tmp_path):
    put(tmp_path / "shots", SHOWN)
    columns = {"file": ["c.png", "a.png", "b.png"], "concept_a": [1, 0, 0], "label_y": [1, 0, 1]}
    rows = seen(from_table(columns, tmp_path / "out", images=tmp_path / "shots"))
    assert column(rows, "level") == SHOWN and rows["c.png"]["a"] is True
    with pytest.raises(AssayError, match="say in which folder they lie"):
        from_table(columns, tmp_path / "no")


# -- splits ------------------------------------------------------------------------------------------------------------


def splits_of(rows):
    return [row["split"] for row in rows]


def test_splits_that_lack_are_taken_from_training_in_their_shares_by_the_seed(read):
    many, a = [png()] * 40, {"concept_a": [0, 1] * 20}
    shares = {"train": 0.5, "valid": 0.3, "test": 0.2}
    made = splits_of(read(a, many, shares=shares)[1])
    assert {name: made.count(name) for name in shares} == {"train": 20, "valid": 12, "test": 8}
    assert made == splits_of(read(a, many, shares=shares)[1]) != splits_of(read(a, many, shares=shares, seed=1)[1])
    given = ["training"] * 26 + ["testing"] * 10 + ["odd"] * 4
    made = splits_of(read({**a, "split": given}, many, shares=shares)[1])
    assert made[26:] == ["test"] * 10 + ["odd"] * 4 and made.count("valid") == 10  # 3 of 8 parts of 26
    own = ["train", "dev", "test", "mine"] * 10
    assert splits_of(read({**a, "split": own}, many)[1]) == ["train", "valid", "test", "mine"] * 10


def test_pictures_of_one_source_stay_together(read):
    sources = [f"s{row // 4}" for row in range(36)] + [None] * 4
    made = splits_of(read({"concept_a": [0, 1] * 20, "source": sources}, [png()] * 40)[1])
    assert all(len(set(made[start : start + 4])) == 1 for start in range(0, 36, 4)) and set(made) == {
        "train",
        "valid",
        "test",
    }


def test_too_few_rows_for_their_splits_are_told(read):
    assert sorted(splits_of(read({"concept_a": [1, 0, 1]}, PICTURES[:3])[1])) == ["test", "train", "valid"]
    with pytest.raises(AssayError, match="2 examples are too few for the splits train, valid, test"):
        read({"concept_a": [1, 0]}, PICTURES[:2])


# -- again -------------------------------------------------------------------------------------------------------------


def test_the_same_import_may_be_written_again_and_no_other(tmp_path):
    put(tmp_path / "in", {"concepts.csv": TABLES["concepts.csv"], **SHOWN})
    first = import_folder(tmp_path / "in", tmp_path / "out")
    assert import_folder(tmp_path / "in", tmp_path / "out").fingerprint == first.fingerprint
    with pytest.raises(AssayError, match="is not an empty folder; choose another"):
        import_folder(tmp_path / "in", tmp_path / "out", None, Settings({"seed": 1}))
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["fingerprint"] == first.fingerprint
