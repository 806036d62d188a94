"""Doubtful labels without a rule: counted by hand among equal worlds, and by a model that few examples suffice for."""

import numpy as np
import pytest

from assay.auditing import noise
from assay.auditing.noise import Doubt, denied, labels_without_rule, unequal
from assay.seeds import rng_for


def test_labels_that_differ_from_the_most_frequent_one_of_their_world() -> None:
    concepts = np.array([[0, 0]] * 4 + [[0, 1]] * 3 + [[1, 1]] * 2)
    labels = np.array([1, 1, 0, 1, 2, 2, 2, 0, 1])
    found = unequal(labels, concepts)
    assert found.rows.tolist() == [2] and found.judged == 7  # a world met twice says nothing
    assert found.share == pytest.approx(1 / 7) and Doubt(np.zeros(0), 0).share == 0


class Part:
    def __init__(self, name: str, concepts: np.ndarray, labels: np.ndarray) -> None:
        self.name, self.concepts, self.labels = name, concepts, labels

    def __len__(self) -> int:
        return len(self.labels)


class Data:
    labels = ("y",)

    def __init__(self, *parts: Part) -> None:
        self.parts = {part.name: part for part in parts}


def worlds(rows: int) -> np.ndarray:
    return rng_for(0, "noise", rows).integers(2, size=(rows, 2))


def audited(labels: np.ndarray, concepts: np.ndarray, cut: int = 60) -> Data:
    return Data(Part("train", concepts[:cut], labels[:cut, None]), Part("test", concepts[cut:], labels[cut:, None]))


def test_few_differences_fail_and_many_are_not_checked() -> None:
    concepts = worlds(200)
    right = concepts[:, 0]
    assert labels_without_rule(audited(right, concepts)).status == "pass"
    for turned, status in ((20, "fail"), (21, "not checked")):  # a tenth is the most that is called noise
        wrong = right.copy()
        wrong[70 : 70 + turned] ^= 1
        found = labels_without_rule(audited(wrong, concepts))
        assert found.status == status and found.numbers["doubted"]["y"] == pytest.approx(turned / 200)
        assert (f"{turned} of 200 labels 'y' differ" in found.text) and ("first at row 10 of test" in found.text) == (
            status == "fail"
        )
    gaps = concepts.copy()
    gaps[np.flatnonzero(right == 1)[:5], 0] = -1  # a world with gaps is equal to none
    assert "(195 examples)" in labels_without_rule(audited(right, gaps)).text


def test_a_model_of_the_others_denies_labels_that_were_turned() -> None:
    concepts = np.concatenate([worlds(160), np.arange(160)[:, None] // 2], axis=1)
    labels = concepts[:, 0].copy()
    turned = [3, 50, 100]
    labels[turned] ^= 1
    found = denied(labels, concepts[:, :2])
    assert found.judged == 160 and found.rows.tolist() == turned
    note = labels_without_rule(audited(labels, concepts))
    assert note.status == "note" and "first at row 3 of train" in note.text


def test_what_no_model_learns_is_not_judged() -> None:
    concepts, labels = worlds(160), rng_for(1, "labels").integers(2, size=160)
    assert denied(labels, concepts).judged == 0  # nothing to learn
    assert denied(concepts[:99, 0], concepts[:99]).judged == 0  # too few rows
    rare = np.zeros(160, dtype=int)
    rare[:4] = 1
    assert denied(rare, concepts).judged == 0  # a value less frequent than there are folds


def test_the_worst_label_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    concepts = worlds(200)
    wrong = concepts[:, 1].copy()
    wrong[5] ^= 1
    both = np.stack([concepts[:, 0], wrong], axis=1)
    data = Data(Part("train", concepts, both))
    monkeypatch.setattr(data, "labels", ("fine", "bad"), raising=False)
    found = labels_without_rule(data)
    assert found.status == "fail" and "'bad'" in found.text and "'fine'" not in found.text
    assert found.numbers["doubted"] == {"fine": 0.0, "bad": pytest.approx(1 / 200)}
    assert noise.WORST_FIRST[0] == "fail"
