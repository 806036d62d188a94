"""The examples of a report: wrong labels first, then wrong concepts, then the first of the split, none twice."""

import base64
from pathlib import Path

import numpy as np
import pytest

from assay.base import DataError
from assay.dataset import Dataset
from assay.reporting import cases_of
from tests.predictors import predictions
from tests.toys import Shelf
from tests.toys import written as written_task


def written(data: Dataset, folder: Path, wrong_labels: list[int], wrong_concepts: list[int]) -> Path:
    test = data["test"]
    labels, concepts = test.labels.copy(), test.concepts.copy()
    labels[wrong_labels] = 1 - labels[wrong_labels]
    concepts[wrong_concepts, 0] = 1 - concepts[wrong_concepts, 0]
    predictions(test, labels, concepts).write(folder / "said.parquet", data.knowledge)
    return folder / "said.parquet"


def case_of(file: Path, dataset: Dataset):
    (case,) = cases_of([file], dataset)
    return case


def test_errors_come_first_and_the_gravest_before_others(mnlogic: Dataset, tmp_path: Path) -> None:
    file = written(mnlogic, tmp_path, [20, 9], [30, 20, 25, 15])
    case = case_of(file, mnlogic)
    shown = [example.number for example in case.examples]
    assert shown[:5] == [20, 9, 15, 25, 30] and len(shown) == len(set(shown)) == 12
    assert shown[5:] == [row for row in range(12) if row != 9][:7]
    assert [example.right for example in case.examples[:3]] == [False, False, True]
    assert case.name == "said" and case.split == "test" and case.at_boundary == "test"


def test_an_example_is_that_of_its_row(mnlogic: Dataset, tmp_path: Path) -> None:
    case = case_of(written(mnlogic, tmp_path, [20], [20]), mnlogic)
    example, data = case.examples[0], mnlogic["test"]
    assert example.truth == mnlogic.knowledge.space.decode(data.concepts[20])
    assert example.predicted == {**example.truth, "a": not example.truth["a"]}
    assert example.labels == {"y": bool(data.labels[20, 0])} and example.predicted_labels == {
        "y": not data.labels[20, 0]
    }
    assert base64.b64decode(example.picture.partition(",")[2]) == data.pngs[20]


def test_what_is_not_said_is_left_out(mnlogic: Dataset, tmp_path: Path) -> None:
    data = mnlogic["test"]
    labels = np.full_like(data.labels, -1)
    predictions(data, labels).write(tmp_path / "said.parquet", mnlogic.knowledge)
    case = case_of(tmp_path / "said.parquet", mnlogic)
    assert case.examples[0].predicted == {} and case.examples[0].predicted_labels == {"y": "none"}
    assert case.model == "unknown" and case.seed == "unknown" and not case.applies("concept_f1")


def test_a_file_needs_its_dataset(mnlogic: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a predictions file; name its dataset: --data DIR"):
        cases_of([written(mnlogic, tmp_path, [], [])])
    with pytest.raises(DataError, match="no run to report on"):
        cases_of([])


def test_a_text_stands_in_for_a_picture_and_the_first_of_two_labels_may_be_wrong_alone(tmp_path: Path) -> None:
    dataset = written_task(Shelf(), tmp_path / "data", hard=0)
    test = dataset["test"]
    labels = test.labels.copy()
    labels[5, 1] = 1 - labels[5, 1]
    predictions(test, labels, test.concepts).write(tmp_path / "said.parquet", dataset.knowledge)
    example = case_of(tmp_path / "said.parquet", dataset).examples[0]
    names = dataset.knowledge.label_names
    assert example.number == test.index[5] and not example.right
    assert [name for name in names if example.predicted_labels[name] != example.labels[name]] == [names[1]]
    assert example.implied == example.labels  # what the rule makes of concepts that are read right


def test_the_witness_of_a_fault_on_another_split_is_of_that_split(evenodd: Dataset, tmp_path: Path) -> None:
    (tmp_path / "predictions").mkdir()
    for split in ("test", "ood"):
        data = evenodd.symbols(split)
        concepts = data.concepts if split == "test" else (data.concepts + 1) % 10
        said = predictions(data, evenodd.knowledge.labels_of(concepts), concepts)
        said.write(tmp_path / "predictions" / f"{split}.parquet", evenodd.knowledge)
    case = case_of(tmp_path, evenodd)
    shown = evenodd["ood"]
    assert case.split == "test" and case.headline.split == "ood" and not case.witness.right
    place = int(np.flatnonzero(shown.index == case.witness.number)[0])
    assert base64.b64decode(case.witness.picture.partition(",")[2]) == shown.pngs[place]
