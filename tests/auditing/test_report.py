"""An audit in a line, as plain data, in a notebook, and in the card of the dataset, where one section replaces another."""

import json

import pytest

from assay.auditing import CHECKS, Audit, audit, open_imported
from assay.base import UnknownName
from tests.auditing.planted import folder_of, rows

LEFT = ["duplicates", "visible", "nuisances"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """An audit with each outcome: labels of one class in the test split, and nothing but a table."""
    table = [row for row in rows(600) if row["label_y"] or row["split"] == "train"]
    return audit(open_imported(folder_of(tmp_path_factory.mktemp("folder") / "toys", table, draw=None)))


def test_an_audit_counts_what_failed_passed_and_was_not_checked(found):
    outcomes = {result.check: result.status for result in found.results}
    assert list(outcomes) == list(CHECKS) and [result.check for result in found.failed] == ["classes"]
    plain = found.to_dict()
    assert plain["dataset"] == "toys" and not plain["passed"] and sum(plain["counts"].values()) == len(CHECKS)
    assert plain["not_checked"] == [result.check for result in found.not_checked] == LEFT
    passed = plain["counts"]["pass"] + plain["counts"]["note"]
    assert found.text == f"failed: classes; passed {passed} checks; not checked: {', '.join(LEFT)}"
    assert "failed: classes" in repr(found) and "is always True" in found._repr_html_()
    assert [one["check"] for one in json.loads(json.dumps(plain))["findings"]] == list(CHECKS)
    fine = Audit("toys", tuple(result for result in found.results if result.status != "fail"))
    assert fine.to_dict()["passed"] and "failed" not in fine.text and "failed" not in repr(fine)


def test_the_card_has_one_section_and_keeps_what_stands_around_it(found, tmp_path):
    card = tmp_path / "README.md"
    found.write(tmp_path)  # where there is no card yet
    assert card.read_text().count("## Audit") == 1
    card.write_text("# Card\n\nabout | it\n\n", encoding="utf-8")
    found.write(tmp_path)
    card.write_text(card.read_text() + "\n## After\n", encoding="utf-8")
    few = Audit("toys", found.results[:2])
    few.write(tmp_path)
    text = card.read_text(encoding="utf-8")
    assert text.startswith("# Card\n\nabout | it\n\n<!-- audit -->") and text.endswith("\n## After\n")
    assert text.count("## Audit") == 1 and "| classes |" not in text
    assert json.loads((tmp_path / "audit.json").read_text()) == few.to_dict()
    found.write(tmp_path)
    lines = card.read_text(encoding="utf-8").splitlines()
    assert [line.split(" | ")[1] for line in lines if line.startswith("| classes")] == ["**failed**"]
    assert sum(line.startswith("| ") for line in lines) == len(CHECKS) + 2


def test_checks_are_made_in_the_order_asked_for_and_watched(tmp_path):
    data, seen = open_imported(folder_of(tmp_path / "folder", rows(), draw=None)), []
    asked = audit(data, ["texts", "labels"], lambda name, share: seen.append((name, share)))
    assert [result.check for result in asked.results] == ["texts", "labels"]
    assert list(dict.fromkeys(name for name, _ in seen)) == ["texts", "labels"] and seen[0][1] == 0
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[-1] < 1
    with pytest.raises(UnknownName, match="no check named 'label'; did you mean 'labels'?"):
        audit(data, ["label"])
