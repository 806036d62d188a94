"""Folders of any origin: tables as CSV or Parquet, with or without a rule; what does not fit is told in one line."""

import numpy as np
import pandas as pd
import pytest

from assay.auditing.audit import CHECKS, audit
from assay.auditing.imported import is_imported, open_imported
from assay.errors import AssayError, UnknownName
from tests.audit.planted import RULE, audited, finding, folder_of, rows

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
    assert is_imported(one) and is_imported(two) and not is_imported(tmp_path)
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
    assert found["labels"].status == found["visible"].status == "not checked" and "no rule" in found["labels"].text
    assert [one.check for one in found.values() if one.status == "fail"] == [] and list(found) == list(CHECKS)


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
    "no text": (GOOD.encode() + b"\xff\xfe\x00", "cannot be read: 'utf-8' codec can't decode"),
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


def test_a_check_that_there_is_not_is_told(tmp_path):
    data = open_imported(folder_of(tmp_path / "folder", FEW))
    with pytest.raises(UnknownName, match="no check named 'label'; did you mean 'labels'?"):
        audit(data, ["label"])
