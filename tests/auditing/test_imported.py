"""Folders of any origin: tables as CSV or Parquet, with or without a rule; what does not fit is told in one line."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from assay.auditing import CHECKS, audit, audited_dataset, open_imported
from assay.base import AssayError, DataError, rng_for
from assay.logic import TRUE
from assay.render import encode_png
from tests.auditing.planted import RULE, audited, finding, folder_of, picture, rows
from tests.conftest import write

FEW = rows()[:4] + rows()[-4:]


def text_of(table):
    head = ",".join(table[0])
    return "\n".join([head, *(",".join(str(cell).replace(",", "") for cell in row.values()) for row in table)]) + "\n"


GOOD = text_of(FEW)


def test_csv_and_parquet_say_the_same(tmp_path):
    one = folder_of(tmp_path / "one", rows())
    two = folder_of(tmp_path / "two", rows())
    (two / "concepts.csv").unlink()
    pd.DataFrame(rows()).to_parquet(two / "concepts.parquet")
    first, second = (open_imported(folder) for folder in (one, two))
    assert first.space == second.space and first.labels == second.labels and first.name == "one"
    for name, part in first.parts.items():
        assert np.array_equal(part.concepts, second.parts[name].concepts)
        assert {key: values.tolist() for key, values in part.nuisances.items()} == {
            key: values.tolist() for key, values in second.parts[name].nuisances.items()
        }
    assert audit(first).to_dict()["findings"] == audit(second).to_dict()["findings"]


def test_numbers_words_and_truths(tmp_path):
    table = text_of(
        [
            {"split": "train", "concept_digit": 7, "concept_hue": "red", "concept_on": "TRUE", "label_sum": 8},
            {"split": "test", "concept_digit": -1, "concept_hue": "blue", "concept_on": "false", "label_sum": -1},
        ]
    )
    (tmp_path / "concepts.csv").write_text("\ufeff" + table, encoding="utf-8")  # as a spreadsheet writes it
    (tmp_path / "rule.yaml").write_text("labels: {sum: digit + on}\n")
    data = open_imported(tmp_path)
    assert {c.name: c.values for c in data.space.concepts} == {
        "digit": (-1, 7),
        "hue": ("blue", "red"),
        "on": (False, True),
    }
    assert data.labels == {"sum": (-1, 0, 7, 8)} and finding(data, "labels")[0] == "pass"


def test_without_a_rule_what_needs_one_is_left_out(tmp_path):
    found = {one.check: one for one in audited(folder_of(tmp_path / "folder", rows(), rule=None)).results}
    assert found["labels"].status == "pass" and "no rule is given, but equal worlds" in found["labels"].text
    assert [one.check for one in found.values() if one.status == "fail"] == [] and list(found) == list(CHECKS)


def test_what_could_not_be_checked_is_told_and_is_no_fault(tmp_path):
    """Without pictures nobody knows what is visible: no ceiling of visible concepts."""
    found = audited(folder_of(tmp_path / "folder", rows(), draw=None))
    by_check = {one.check: one for one in found.results}
    assert by_check["visible"].status == by_check["duplicates"].status == "not checked"
    assert by_check["disjoint"].status == "nothing to check" and found.to_dict()["passed"]
    assert {"duplicates", "visible"} <= set(found.to_dict()["not_checked"])
    assert "visible concepts" not in by_check["ceilings"].numbers and "not checked: duplicates, visible" in found.text


def blind(row, number):
    """Return a picture in which the third concept does not show."""
    return picture({**row, "concept_c": False}, number)


def test_a_concept_that_no_model_reads(tmp_path):
    """It goes with another, so that it is guessed from the pictures all the same."""
    table = [row for number, row in enumerate(rows(900)) if row["concept_c"] == row["concept_a"] or number % 3]
    data = open_imported(folder_of(tmp_path / "folder", table, draw=blind))
    (found,) = audit(data, ["visible"]).results
    assert found.status == "fail" and found.numbers["hidden"] == ["c"] and "reads from the pictures: c (" in found.text
    low, high = found.numbers["gain"]["a"]
    assert 0.2 < low < high < 0.6
    (ceilings,) = audit(data, ["ceilings"]).results
    assert ceilings.status == "note" and ceilings.numbers["visible concepts"] == 1.0  # the rule does not ask for c
    seen = open_imported(folder_of(tmp_path / "seen", table))
    assert finding(seen, "visible")[0] == "pass"


def test_robots_without_knees_of_which_only_pictures_are_left(tmp_path):
    made = write(tmp_path / "data", "robots", splits={"train": 300, "valid": 0, "test": 300}, visible={"knees": 0.0})
    (found,) = audit(replace(audited_dataset(made), task=None), ["visible"]).results
    assert found.status == "fail" and found.numbers["hidden"] == ["knees"]


@pytest.mark.parametrize(("noise", "status"), [(0, "pass"), (50, "fail")])
def test_label_noise_among_equal_worlds(noise, status, tmp_path):
    table = rows(500)
    for row in table[:: noise or len(table)]:
        row["label_y"] ^= bool(noise)
    found, text = finding(open_imported(folder_of(tmp_path / "folder", table, None, draw=None)), "labels")
    assert found == status and (
        "10 of 500 labels 'y' differ from those of equal worlds, first at row 0" in text
    ) == bool(noise)


def test_labels_that_the_concepts_do_not_decide_are_not_checked(tmp_path):
    table = rows(500)
    for number, row in enumerate(table):
        row["label_y"] ^= number % 4 == 0
    found, text = finding(open_imported(folder_of(tmp_path / "folder", table, None, draw=None)), "labels")
    assert found == "not checked" and "the concepts do not decide" in text


def test_label_noise_where_no_world_occurs_twice(tmp_path):
    """By confident learning: labels that were turned round are doubted, and noise is not judged at all."""
    rng = rng_for(0, "noise")
    concepts = rng.integers(2, size=(1000, 30))
    told = {}
    for name, labels in (
        ("law", (concepts[:, 0] & concepts[:, 1]) | concepts[:, 2]),
        ("chance", rng.integers(2, size=1000)),
    ):
        turned = labels ^ (np.arange(1000) % 50 == 7)
        columns = {f"concept_c{place}": concepts[:, place] for place in range(30)}
        (tmp_path / name).mkdir()
        table = pd.DataFrame({"split": ["train"] * 600 + ["test"] * 400, **columns, "label_y": turned})
        table.to_csv(tmp_path / name / "concepts.csv", index=False)
        (told[name],) = audit(open_imported(tmp_path / name), ["labels"]).results
    assert told["law"].status == "note" and 0.012 <= told["law"].numbers["doubted"]["y"] <= 0.04
    assert told["chance"].status == "not checked"


HUES = {"red": (220, 20, 20), "green": (20, 220, 20), "blue": (20, 20, 220)}


def discs(row, number):
    """Return a square or a bar of some colour, at some place."""
    image = rng_for(0, "ground", number).integers(60, 90, size=(24, 24, 3)).astype(np.uint8)
    wide = {"square": 8, "bar": 16, "dot": 3}[row["shape"]]
    top, left = rng_for(0, "place", number).integers(8, size=2)
    image[top : top + 8, left : left + wide] = HUES[row["colour"]]
    return image


@pytest.mark.parametrize("swapped", [False, True])
def test_shape_and_colour_exchanged(swapped, tmp_path):
    """As in rsbench's generator, whose worlds are (colour, shape) but are read as (shape, colour)."""
    rng, table = rng_for(0, "swap"), []
    shapes, hues = ["square", "bar", "dot"], list(HUES)
    for number in range(300):
        shape, colour = rng.integers(3, size=2)
        told = (colour, shape) if swapped else (shape, colour)
        table.append(
            {
                **{"split": "train" if number < 180 else "test", "file": f"pictures/{number}.png"},
                **{"shape": shapes[shape], "colour": hues[colour], "label_y": bool(shape == 0 or colour == 1)},
                **{"concept_shape": shapes[told[0]], "concept_colour": hues[told[1]]},
            }
        )
    status, text = finding(open_imported(folder_of(tmp_path / "folder", table, None, draw=discs)), "colours")
    assert status == ("fail" if swapped else "pass")
    assert ("shape follows the colours that colour names" in text) == swapped


def test_splits_are_those_of_the_table(tmp_path):
    table = [{**row, "split": {"train": "Training", "test": 7}[row["split"]]} for row in rows()]
    rule = f"{RULE}disjoint: [[Training, '7']]\n"
    data = open_imported(folder_of(tmp_path / "folder", table, rule, draw=None))
    assert list(data.parts) == ["Training", "7"] and data.parts["7"].disjoint_from == ("Training",)
    assert [part.name for part in data.training] == ["Training"]


BAD_TABLES = {
    "no split": (GOOD.replace("split", "part", 1), "the table has no column 'split'"),
    "no concepts": (GOOD.replace("concept_", "c_"), "the table needs columns 'concept_NAME' and 'label_NAME'"),
    "no labels": (GOOD.replace("label_", "l_"), "the table needs columns 'concept_NAME' and 'label_NAME'"),
    "only a head": (GOOD.splitlines()[0] + "\n", "holds no example"),
    "nothing": ("", "holds no example"),
    "a row too long": (GOOD + "1,2,3,4,5,6,7,8,9,10,11,12,13\n", "rows that are longer or shorter than its first line"),
    "a row too short": (GOOD + "pictures/1.png,test\n", "rows that are longer or shorter than its first line"),
    "a broken quote": (GOOD + '"pictures/1.png,test\n', "cannot be read: unexpected end of data"),
    "no text": (GOOD.encode() + b"\xff\xfe\x00", "is not UTF-8 text"),
    "an empty cell": (GOOD.replace(",True,", ",,", 1), "is empty in row"),
    "an odd name": (GOOD.replace("concept_a", "concept_a b"), "concept name 'a b' is no identifier"),
    "mixed values": (GOOD.replace(",True,", ",maybe,", 1), "mixes kinds of values"),
    "a picture that is missing": (GOOD.replace("pictures/0.png", "pictures/none.png"), "picture 'pictures/none.png' is missing"),
    "a picture elsewhere": (GOOD.replace("pictures/0.png", "../elsewhere.png"), "picture '../elsewhere.png' lies outside"),
    "a picture anywhere": (GOOD.replace("pictures/0.png", "/etc/hostname"), "picture '/etc/hostname' lies outside the"),
    "a folder": (GOOD.replace("pictures/0.png", "pictures"), "picture 'pictures' is missing"),
}  # fmt: skip
BAD_RULES = {
    "no formula": ("labels: {y: a +}\n", "formula 'a +'"),
    "another concept": ("labels: {y: a ^ z}\n", "no concept named 'z'"),
    "another label": ("labels: {z: a}\n", "rule.yaml line 1: labels: expected a formula for each of y"),
    "no labels": ("labels: a ^ b\n", "rule.yaml line 1: labels: Input should be a valid dictionary"),
    "a number": ("labels: {y: 1}\n", "rule.yaml line 1: labels.y: Input should be a valid string"),
    "a slip": ("label: {y: a}\n", "rule.yaml line 1: unknown key 'label'; did you mean 'labels'?"),
    "a list": ("- labels\n", "rule.yaml: expected 'key: value' lines"),
    "no YAML": ("labels: {y: a\n", "rule.yaml line 2: "),
    "another split": ("splits: {tset: a}\n", "rule.yaml line 1: splits: no split named 'tset'; did you mean 'test'?"),
    "splits as a list": ("splits: [train]\n", "rule.yaml line 1: splits: Input should be a valid dictionary"),
    "a split that is no truth": ("splits: {test: a + b}\n", "splits: a + b of 'test' must be true or false"),
    "disjoint as a word": ("disjoint: train\n", "rule.yaml line 1: disjoint: Input should be a valid list"),
    "disjoint as words": ("disjoint: [train, test]\n", "rule.yaml line 1: disjoint.0: Input should be a valid list"),
    "disjoint from another": ("disjoint: [[train, valid]]\n", "disjoint: no split named 'valid'"),
    "labels the rule never gives": ("labels: {y: a + 5}\n", "label 'y': the rule never gives the value False"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TABLES)
def test_tables_that_do_not_fit_are_told_in_one_line(case, tmp_path):
    folder = folder_of(tmp_path / "folder", FEW)
    text, message = BAD_TABLES[case]
    (folder / "concepts.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    (tmp_path / "elsewhere.png").write_bytes(b"not for you")
    with pytest.raises(AssayError) as caught:
        audited(folder)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("case", BAD_RULES)
def test_rules_that_do_not_fit_are_told_in_one_line(case, tmp_path):
    rule, message = BAD_RULES[case]
    with pytest.raises(AssayError) as caught:
        open_imported(folder_of(tmp_path / "folder", FEW, rule))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_table_that_is_no_parquet_is_told(tmp_path):
    (tmp_path / "concepts.parquet").write_bytes(b"PAR1, or so it says")
    with pytest.raises(AssayError, match=r"concepts.parquet' cannot be read: "):
        open_imported(tmp_path)
    pd.DataFrame([{**row, "concept_a": None} for row in FEW]).to_parquet(tmp_path / "concepts.parquet")
    with pytest.raises(AssayError, match="column 'concept_a' is empty in row 0"):
        open_imported(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n and no more"])
def test_a_picture_that_is_none_is_told(content, tmp_path):
    folder = folder_of(tmp_path / "folder", FEW)
    (folder / FEW[-1]["file"]).write_bytes(content)
    with pytest.raises(AssayError, match="split 'test': the picture of row 3 cannot be read: ") as caught:
        audited(folder)
    assert "\n" not in str(caught.value)


ROWS_OF_ALL_KINDS = """split,file,concept_n,concept_a,label_y,label_s,nuisance_size,nuisance_font,source,text
2,p/3.png,3,no,true,low,2.5,serif,d1; d2,a box
1,p/1.png,1,yes,false,low,,sans,,
2,p/2.png,1,no,true,high,7,serif,d3,two boxes
10,p/0.png,2,yes,false,high,1,,d1,none
1,p/4.png,3,yes,true,low,4,serif,,  b
"""


def test_rows_of_every_split_in_the_order_of_the_table(tmp_path):
    (tmp_path / "p").mkdir()
    for number in range(5):
        (tmp_path / "p" / f"{number}.png").write_bytes(encode_png(np.full((2, 3, 1), number, dtype=np.uint8)))
    (tmp_path / "concepts.csv").write_text(ROWS_OF_ALL_KINDS)
    (tmp_path / "rule.yaml").write_text("splits: {'2': 'n != 2'}\ndisjoint: [['1', '10']]\n")
    data = open_imported(tmp_path)
    assert data.name == tmp_path.name
    assert list(data.parts) == ["2", "1", "10"] and data.knowledge is None and data.task is None
    values = {concept.name: concept.values for concept in data.space.concepts}
    assert list(values) == ["n", "a"] and values["n"] == (1, 2, 3) and sorted(values["a"], key=str) == [False, True]
    first, second, third = data.parts.values()

    def decoded(part, place):
        concept = data.space.concepts[place]
        return [concept.values[code] for code in part.concepts[:, place]]

    assert [decoded(part, 0) for part in (first, second, third)] == [[3, 1], [1, 3], [2]]
    assert [decoded(part, 1) for part in (first, second, third)] == [[False, False], [True, True], [True]]
    labels = [
        [tuple(data.labels[n][c] for n, c in zip(("y", "s"), row, strict=True)) for row in p.labels]
        for p in data.parts.values()
    ]
    assert labels == [[(True, "low"), (True, "high")], [(False, "low"), (True, "low")], [(False, "high")]]
    assert [[int(part.image(row)[0, 0, 0]) for row in range(len(part))] for part in (first, second, third)] == [
        [3, 2],
        [1, 4],
        [0],
    ]
    assert [list(part.texts) for part in (first, second, third)] == [["a box", "two boxes"], ["", "  b"], ["none"]]
    assert list(first.ingredients) == [("d1", "d2"), ("d3",)] and list(second.ingredients) == [(), ()]
    assert list(third.nuisances) == ["index", "size", "font"] and first.nuisances["index"].tolist() == [0.0, 0.5]
    assert first.nuisances["size"].tolist() == [2.5, 7.0] and np.isnan(second.nuisances["size"][0])
    fonts = [first.nuisances["font"], second.nuisances["font"], third.nuisances["font"]]
    assert fonts[0][0] == fonts[0][1] == fonts[1][1] != fonts[1][0] and np.isnan(fonts[2][0])  # a word is a number
    assert first.where != TRUE == second.where == third.where
    assert (first.disjoint_from, second.disjoint_from, third.disjoint_from) == ((), ("10",), ("1",))


@pytest.mark.parametrize("column", ["split", "file", "concept_n", "label_s"])
def test_a_table_with_a_gap_is_refused_by_its_row(column, tmp_path):
    names, *lines = [line.split(",") for line in ROWS_OF_ALL_KINDS.splitlines()]
    lines[3][names.index(column)] = ""
    (tmp_path / "concepts.csv").write_text("\n".join(",".join(line) for line in [names, *lines]))
    with pytest.raises(DataError, match=f"column '{column}' is empty in row 3"):
        open_imported(tmp_path)


@pytest.mark.parametrize("kind", ["concept_", "label_", "split"])
def test_a_table_needs_concepts_labels_and_splits(kind, tmp_path):
    names, *lines = [line.split(",") for line in ROWS_OF_ALL_KINDS.splitlines()]
    kept = [place for place, name in enumerate(names) if not name.startswith(kind)]
    (tmp_path / "concepts.csv").write_text(
        "\n".join(",".join(line[place] for place in kept) for line in [names, *lines])
    )
    with pytest.raises(DataError, match="no column 'split'" if kind == "split" else "needs columns 'concept_NAME' and"):
        open_imported(tmp_path)
