"""Examples added to a dataset: a copy with one more shard, everything else as it was."""

from pathlib import Path

import numpy as np
import pytest

from assay.base import DataError
from assay.contracts import BOUNDARY
from assay.dataset import Dataset
from assay.exchange import Annotation, annotate
from assay.lab import add_examples


def test_a_copy_holds_the_old_rows_and_the_new(mnlogic: Dataset, tmp_path: Path) -> None:
    train, more = mnlogic["train"], mnlogic["ood"][:5].full_table()
    manifest = add_examples(mnlogic, more, tmp_path / "more", {"round": 2}).to_dict()
    new = Dataset.open(tmp_path / "more")
    assert new.manifest.to_dict() == manifest and new.fingerprint != mnlogic.fingerprint
    assert manifest["task"]["added"] == {
        **{"parent": mnlogic.fingerprint, "split": "train", "examples": 5},
        "round": 2,
    }
    data = new["train"]
    assert len(data) == len(train) + 5 and data.pngs == [*train.pngs, *mnlogic["ood"].pngs[:5]]
    assert (data.concepts == np.concatenate([train.concepts, mnlogic["ood"].concepts[:5]])).all()
    for name in ("valid", "test", "ood", "hard"):
        assert new[name].pngs == mnlogic[name].pngs and (new[name].labels == mnlogic[name].labels).all()
    entry = next(part for part in manifest["splits"] if part["name"] == "train")
    before = next(part for part in mnlogic.manifest.to_dict()["splits"] if part["name"] == "train")
    assert entry["size"] == len(data) and len(entry["shards"]) == len(before["shards"]) + 1
    assert entry["shards"][:-1] == before["shards"]
    label = mnlogic.knowledge.labels[0]
    counted = dict(zip(map(str, label.values), np.bincount(data.labels[:, 0], minlength=2).tolist(), strict=True))
    assert {str(key): number for key, number in entry["labels"][label.name].items()} == counted
    tags = [tag for text in data.table[BOUNDARY + label.name].to_pylist() for tag in text.split("; ")]
    assert entry["boundary"] == {label.name: {tag: tags.count(tag) for tag in sorted(set(tags))}}


def test_another_split_can_grow(mnlogic: Dataset, tmp_path: Path) -> None:
    add_examples(mnlogic, mnlogic["ood"][:3].full_table(), tmp_path / "more", {}, split="valid")
    new = Dataset.open(tmp_path / "more")
    assert len(new["valid"]) == len(mnlogic["valid"]) + 3 and len(new["train"]) == len(mnlogic["train"])


def test_the_same_addition_may_be_written_again_and_no_other(mnlogic: Dataset, tmp_path: Path) -> None:
    rows = mnlogic["ood"][:3].full_table()
    first, again = (add_examples(mnlogic, rows, tmp_path / "more", {}) for _ in range(2))
    assert first == again and len(Dataset.open(tmp_path / "more")["train"]) == len(mnlogic["train"]) + 3
    for data, more in ((mnlogic, mnlogic["ood"][:4]), (Dataset.open(tmp_path / "more"), mnlogic["ood"][:3])):
        with pytest.raises(DataError, match="is not an empty folder"):
            add_examples(data, more.full_table(), tmp_path / "more", {})
    second = add_examples(Dataset.open(tmp_path / "more"), mnlogic["ood"][3:5].full_table(), tmp_path / "two", {})
    assert [shard.file[-10:] for shard in second.splits[0].shards] == [f"0{n}.parquet" for n in range(3)]
    assert second.splits[0].size == len(mnlogic["train"]) + 5
    annotate(mnlogic, Annotation(missing=0.5), tmp_path / "annotated")
    with pytest.raises(DataError, match="is an annotated copy"):
        add_examples(Dataset.open(tmp_path / "annotated"), rows, tmp_path / "other", {})
