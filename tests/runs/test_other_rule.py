"""Labels under another rule follow from concepts, true and predicted; where one is unsaid there is no label."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.base import ConfigError
from assay.exchange import read_other_rule
from assay.logic import Knowledge, bits, digits
from assay.metrics import Evidence
from assay.runs import under_rule

AND = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
OTHER = Knowledge.of(bits(["a", "b"]), {"either": "a or b", "same": "a == b"})
TRUE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
SAID = np.array([[0, 1], [0, 1], [1, -1], [1, 0]])


def evidence(concepts: np.ndarray = TRUE, said: np.ndarray = SAID) -> Evidence:
    labels = AND.labels_of(np.maximum(concepts, 0))
    sure = (np.tile([0.5, 0.5], (len(labels), 1)),)
    return Evidence(AND, "test", labels, concepts, 1 - labels, said, sure, (None, None))


def test_labels_true_and_predicted_are_those_of_the_other_rule() -> None:
    swapped = under_rule(evidence(), OTHER)
    assert swapped.knowledge is OTHER and swapped.label_probabilities == (None, None)
    assert swapped.labels.tolist() == [[0, 1], [1, 0], [1, 0], [1, 1]]
    assert swapped.predicted_labels.tolist() == [[1, 0], [1, 0], [-1, -1], [1, 0]]
    assert swapped.predicted_concepts.tolist() == SAID.tolist()


def test_the_true_labels_stay_where_only_the_model_changes_its_rule() -> None:
    same = replace(OTHER, labels=OTHER.labels[:1])
    swapped = under_rule(evidence(), same, only_predicted=True)
    assert swapped.labels.tolist() == [[0], [0], [0], [1]]
    assert swapped.predicted_labels.tolist() == [[1], [1], [-1], [1]]


def test_examples_whose_concepts_are_not_known_are_left_out() -> None:
    swapped = under_rule(evidence(np.array([[0, 0], [-1, 1], [1, 0], [1, -1]])), OTHER)
    assert swapped.concepts.tolist() == [[0, 0], [1, 0]] and len(swapped.predicted_labels) == 2


def test_a_model_that_says_no_concepts_is_refused() -> None:
    with pytest.raises(ConfigError, match="says no concepts"):
        under_rule(evidence(said=np.full_like(SAID, -1)), OTHER)


def test_a_file_gives_formulas_for_labels(tmp_path: Path) -> None:
    file = tmp_path / "rule.yaml"
    file.write_text("labels: {either: a or b, same: a == b}\n")
    read = read_other_rule(file, AND)
    assert read.label_names == ("either", "same")
    assert (read.labels_of(TRUE) == OTHER.labels_of(TRUE)).all()
    for text in ("labels: {}\n", "labels: [a]\n", "constraints: {}\n"):
        file.write_text(text)
        with pytest.raises(ConfigError):
            read_other_rule(file, AND)


def test_several_labels_and_values_stay_in_their_rows() -> None:
    space = digits(["a", "b", "c"], range(4))
    old = Knowledge.of(space, {"y": "a > b", "z": "c"})
    concepts = np.array([[3, 1, 2], [0, 2, -1], [1, 1, 3], [2, 0, 0], [3, 3, 3]])
    said = np.array([[2, 1, 0], [1, 2, 3], [1, -1, 3], [2, 0, 1], [-1, -1, -1]])
    labels, told = (
        np.array([[1, 2], [0, 1], [0, 3], [1, 0], [0, 3]]),
        np.array([[1, 0], [0, 3], [1, 3], [1, 1], [0, 0]]),
    )
    found = Evidence(old, "ood", labels, concepts, told, said, (None, None), (None, None, None))
    new = Knowledge.of(space, {"sum": "a + b", "high": "c > 1", "odd": "(a + c) % 2 == 1"})
    other = under_rule(found, new)
    assert other.labels.tolist() == [[4, 1, 1], [2, 1, 0], [2, 0, 0], [6, 1, 0]]
    assert other.predicted_labels.tolist() == [[3, 0, 0], [-1, -1, -1], [2, 0, 1], [-1, -1, -1]]
    assert (other.split, other.label_probabilities, len(other)) == ("ood", (None, None, None), 4)
    assert other.concepts.tolist() == concepts[[0, 2, 3, 4]].tolist()
    assert other.predicted_concepts.tolist() == said[[0, 2, 3, 4]].tolist()
    kept = under_rule(found, replace(new, labels=new.labels[:2]), only_predicted=True)
    assert kept.labels.tolist() == labels[[0, 2, 3, 4]].tolist()
    assert kept.predicted_labels.tolist() == [[3, 0], [-1, -1], [2, 0], [-1, -1]]
