"""Entries from other frameworks are scored like runs; what is missing, tampered with, or against the level is refused."""

import math
import re
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from assay.base import AssayError
from assay.dataset import Dataset
from assay.lab import read_rows, score_entry

SPLITS = ("test", "hard", "pairs")
FACTS = {"name": "theirs", "level": "concepts", "seeds": [0], "link": "https://example.org/theirs"}


def write_by_hand(folder, data, dataset, doubt=0.9):
    """Write predictions as any program would, with pandas alone."""
    for split in SPLITS:
        rows = data[split]
        labels = np.where(np.arange(len(rows)) % 5 == 0, 1 - rows.labels[:, 0], rows.labels[:, 0]).astype(bool)
        frame = pd.DataFrame({"index": rows.index, "split": split, "fingerprint": data.fingerprint, "label_y": labels})
        for place, name in enumerate("abc"):
            right = np.where(rows.concepts[:, place] == 1, doubt, 1 - doubt)
            frame[f"concept_{name}_probabilities"] = [[1 - p, p] for p in right]
        (folder / dataset / "seed0").mkdir(parents=True, exist_ok=True)
        frame.sample(frac=1, random_state=0).to_parquet(folder / dataset / "seed0" / f"{split}.parquet")


@pytest.fixture
def data(output):
    return output / "data"


@pytest.fixture
def entry(suite, data, tmp_path):
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(suite.to_dict(), sort_keys=False))
    folder = tmp_path / "entry"
    for name in suite.datasets:
        write_by_hand(folder, Dataset.open(data / name), name)
    declare(folder)
    return folder


def declare(entry, **facts):
    """Write the facts of an entry to a suite of a file."""
    (entry / "entry.yaml").write_text(yaml.safe_dump({"suite": str(entry.parent / "tiny.yaml"), **FACTS, **facts}))


def scored(entry, data, **more):
    """Return the rows of an entry, which are then among the records."""
    rows = score_entry(entry, data.parent, entry.parent / "records", **more)
    assert {row.key for row in read_rows(entry.parent / "records")} == {row.key for row in rows}
    return rows


def refusal(entry, data):
    with pytest.raises(AssayError) as caught:
        scored(entry, data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def change(entry, how, split="test", dataset="plain"):
    path = entry / dataset / "seed0" / f"{split}.parquet"
    how(pd.read_parquet(path)).to_parquet(path)


def test_predictions_made_by_hand_are_scored(entry, data):
    rows = scored(entry, data)
    assert [(row.dataset, row.seed, row.status) for row in rows] == [("plain", 0, "done"), ("noisy", 0, "done")]
    row = rows[0]
    assert (row.model, row.level, row.link) == ("theirs", "concepts", FACTS["link"])
    assert row.concept_f1 == 1 and 0.7 < row.label_f1 < 0.9 and row.verdict != "sound"
    assert math.isnan(row.intervention_area) and 0 < row.follows < 1
    assert sorted(map(int, yaml.safe_load(row.wrong))) == list(range(0, 40, 5))


def test_a_second_entry_of_a_name_is_refused_and_the_same_one_is_not(entry, data):
    rows = scored(entry, data)
    assert [row.to_dict() for row in scored(entry, data)] == [row.to_dict() for row in rows]
    change(entry, lambda frame: frame.assign(label_y=True))
    assert re.search(r"holds rows of another entry that is called 'theirs'; choose another name$", refusal(entry, data))
    assert [row.scored for row in read_rows(entry.parent / "records")] == [rows[1].scored, rows[0].scored]


def test_a_dataset_may_be_refused_with_a_reason(entry, data):
    shutil.rmtree(entry / "noisy")
    assert "no predictions for dataset 'noisy' with seed 0" in refusal(entry, data)
    declare(entry, refused={"noisy": "takes no noise"})
    rows = {row.dataset: row for row in scored(entry, data)}
    assert (rows["noisy"].status, rows["noisy"].reason) == ("refused", "takes no noise")


def test_missing_rows_are_refused(entry, data):
    change(entry, lambda frame: frame[frame["index"] != 17])
    assert refusal(entry, data) == "plain/seed0/test.parquet leaves out 1 of 40 examples, such as number 17"


def test_rows_that_are_not_in_the_data_are_refused(entry, data):
    change(entry, lambda frame: pd.concat([frame, frame.head(1).assign(index=40)]))
    assert "has 41 rows for 40 examples" in refusal(entry, data)


def test_a_missing_split_is_refused(entry, data):
    (entry / "plain" / "seed0" / "hard.parquet").unlink()
    assert "no predictions file" in refusal(entry, data)


def test_another_fingerprint_is_refused(entry, data):
    change(entry, lambda frame: frame.assign(fingerprint="0" * 32))
    assert f"is about data with fingerprint {'0' * 32}, the suite's is" in refusal(entry, data)


def test_data_that_are_not_those_of_the_suite_are_refused(entry, data, tmp_path):
    for one, other in (("plain", "noisy"), ("noisy", "plain")):
        shutil.copytree(data / one, tmp_path / "data" / other)
    assert "has fingerprint" in refusal(entry, tmp_path / "data")


def test_seeds_of_all_datasets_are_scored_in_order(entry, data):
    for name in ("plain", "noisy"):
        shutil.copytree(entry / name / "seed0", entry / name / "seed1")
    declare(entry, seeds=[1, 0])
    told = []
    rows = scored(entry, data, watch=lambda *numbers: told.append(numbers))
    assert [(row.dataset, row.seed) for row in rows] == [("plain", 1), ("plain", 0), ("noisy", 1), ("noisy", 0)]
    assert told == [(0, 2), (1, 2)]


def test_another_split_is_refused(entry, data):
    shutil.copy(entry / "plain" / "seed0" / "hard.parquet", entry / "plain" / "seed0" / "test.parquet")
    assert "is about split 'hard', not 'test'" in refusal(entry, data)


def test_probabilities_of_nan_are_refused(entry, data):
    path = entry / "plain" / "seed0" / "test.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("concept_a_probabilities")
    nan = pa.array([[math.nan, math.nan]] * len(table))
    pq.write_table(table.set_column(place, "concept_a_probabilities", nan), path)
    told = refusal(entry, data)
    assert told.startswith("plain/seed0/test.parquet: ") and "probabilities must be numbers from 0 to 1" in told


def test_labels_must_be_predicted(entry, data):
    change(entry, lambda frame: frame.drop(columns="label_y"))
    assert "label 'y' is not predicted in every row" in refusal(entry, data)


def test_labels_must_be_predicted_in_every_row(entry, data):
    change(entry, lambda frame: frame.assign(label_y=[None, *frame["label_y"][1:]]))
    assert "label 'y' is not predicted in every row" in refusal(entry, data)


def test_concepts_read_off_the_truth_are_refused_unless_the_level_sees_them(entry, data, suite):
    for name in suite.datasets:
        write_by_hand(entry, Dataset.open(data / name), name, doubt=1.0)
    assert "is right and certain, as if read off the truth" in refusal(entry, data)
    declare(entry, level="symbols")
    assert len(scored(entry, data)) == 2


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"level": "labels"}, "predicts concepts, and level 'labels' sees none"),
        ({"level": "all"}, "no level named 'all'"),
        *(
            ({"trained_on": ["train", split]}, f"level 'concepts' forbids to learn from '{split}'")
            for split in ("test", "valid_2", "")
        ),
        ({"name": "cbm"}, "'cbm' is a baseline of the suite"),
        *(({"name": name}, "name") for name in ("a/b", "-a", "", "a b")),
        *(({"link": link}, "link") for link in ("javascript:alert(1)", "ftp://x")),
        ({"seeds": [0, 0]}, "each once"),
        ({"seeds": [0, 1]}, "no predictions for dataset 'plain' with seed 1"),
        ({"refused": {"plane": "why"}}, "did you mean 'plain'"),
        ({"colour": "red"}, "unknown key 'colour'"),
    ],
)
def test_facts_against_the_rules_are_refused(entry, data, facts, message):
    declare(entry, **facts)
    assert message in refusal(entry, data)


def test_an_entry_needs_its_file(entry, data):
    (entry / "entry.yaml").unlink()
    assert "entry.yaml" in refusal(entry, data)
