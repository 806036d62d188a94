"""Annotated datasets on disk: pictures and truth as they were, what was given beside them, other concepts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from assay.auditing import audit, audited_dataset
from assay.base import ConfigError, DataError, Settings, validate
from assay.dataset import Dataset, SplitData, make, pairs_of, recipe_from, task_of
from assay.exchange import Annotation, annotate, read_scores

SIZES = {"train": 64, "valid": 16, "test": 32, "ood": 16, "hard": 18}


def annotated(dataset: Dataset, folder: Path, machine: Any = None, **settings: Any) -> Dataset:
    annotate(dataset, validate(Annotation, Settings(settings)), folder, machine)
    return Dataset.open(folder)


def test_pictures_and_truth_stay_and_only_named_splits_change(mnlogic: Dataset, tmp_path: Path) -> None:
    new = annotated(mnlogic, tmp_path / "new", missing=0.3, concept_noise=0.2, label_noise=0.2)
    for name in mnlogic.split_names:
        old, data = mnlogic[name], new[name]
        assert data.pngs == old.pngs
        assert (data.concepts == old.concepts).all() and (data.labels == old.labels).all()
        changed = name in ("train", "valid")
        assert (data.annotated_concepts != data.concepts).any() == changed
        assert (data.given_labels != data.labels).any() == changed
        assert ((data.annotated_concepts < 0).any()) == changed
        assert data.lawful.all()
    about = new.manifest.to_dict()["task"]["annotation"]
    assert about["parent"] == mnlogic.fingerprint != new.fingerprint and about["splits"] == ["train", "valid"]
    assert about["settings"] == {"missing": 0.3, "concept_noise": 0.2, "label_noise": 0.2}


def test_annotating_twice_goes_on_from_what_was_given(mnlogic: Dataset, tmp_path: Path) -> None:
    once = annotated(mnlogic, tmp_path / "once", missing=0.3)
    twice = annotated(once, tmp_path / "twice", label_noise=0.5, splits=["train"])
    assert (twice["train"].annotated_concepts == once["train"].annotated_concepts).all()
    assert (twice["train"].given_labels != once["train"].given_labels).any()
    assert twice.manifest.to_dict()["task"]["annotation"]["before"]["settings"] == {"missing": 0.3}


def test_others_read_it_and_worlds_can_be_drawn_again(mnlogic: Dataset, tmp_path: Path) -> None:
    new = annotated(mnlogic, tmp_path / "new", splits=["test"], concept_noise=0.3)
    assert len(pairs_of(new, "test", task_of(new))) > 0
    assert new["pairs"].pngs == mnlogic["pairs"].pngs
    table = pq.read_table(tmp_path / "new" / "test" / "part-00000.parquet")
    info = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert list(info) == table.column_names and "given_concept_a" in info
    fields = {f["@id"] for f in json.loads((tmp_path / "new" / "croissant.json").read_text())["recordSet"][0]["field"]}
    assert "train/given_label_y" in fields
    card = (tmp_path / "new" / "README.md").read_text()
    assert "assay annotate" in card and mnlogic.fingerprint in card
    with pytest.raises(DataError, match="holds another dataset"):
        make(recipe_from("mnlogic", Settings({"k": 3, "splits": SIZES})), tmp_path / "new")


def test_datasets_opens_all_splits(mnlogic: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import datasets

    datasets.disable_progress_bars()
    new = annotated(mnlogic, tmp_path / "new", missing=0.3)
    whole = datasets.load_dataset(str(tmp_path / "new"), cache_dir=str(tmp_path / "cache"))
    gaps = [value is None for value in whole["train"]["given_concept_a"]]
    assert gaps == (new["train"].annotated_concepts[:, 0] < 0).tolist() and any(gaps)
    assert whole["test"]["given_concept_a"][:] == whole["test"]["concept_a"][:]


def test_rows_keep_their_numbers(mnlogic: Dataset, tmp_path: Path) -> None:
    new = annotated(mnlogic, tmp_path / "new", label_shares={True: 0.75}, splits=["train"])
    data, old = new["train"], mnlogic["train"]
    assert len(data) == 42 and data.labels.mean() == pytest.approx(0.75, abs=0.02)
    assert (old.concepts[data.index] == data.concepts).all() and data.pngs == [old.pngs[i] for i in data.index]
    assert new.manifest.to_dict()["splits"][0]["size"] == 42 and len(new["test"]) == len(mnlogic["test"])


def test_dropped_concepts_leave_the_label_to_chance(mnlogic: Dataset, tmp_path: Path) -> None:
    new = annotated(mnlogic, tmp_path / "new", drop=["c"], regions=False)
    knowledge = new.knowledge
    assert knowledge.space.names == ("a", "b") and knowledge.labels[0].odds is not None and not new.layout.regions
    for name in new.split_names:
        assert (new[name].labels == mnlogic[name].labels).all() and new[name].pngs == mnlogic[name].pngs
        assert (new[name].concepts == mnlogic[name].concepts[:, :2]).all()
    assert audit(audited_dataset(new), ["labels"]).results[0].status == "pass"
    rows = np.concatenate([new[name].concepts for name in new.split_names])
    labels = np.concatenate([new[name].labels[:, 0] for name in new.split_names])
    for pattern in np.unique(rows, axis=0):
        here = (rows == pattern).all(axis=1)
        assert knowledge.chances(pattern[None])[0, 0] == pytest.approx(labels[here].mean(), abs=0.01)
    with pytest.raises(DataError, match="are not those of its task"):
        task_of(new)


def test_a_rule_over_kept_concepts_stays(tmp_path: Path) -> None:
    settings = {"k": 3, "formula": "a and b", "prop_in_distribution": 1.0, "splits": {"train": 16, "valid": 8}}
    make(recipe_from("mnlogic", Settings(settings)), tmp_path / "old")
    old = Dataset.open(tmp_path / "old")
    new = annotated(old, tmp_path / "new", drop=["c"], concept_noise=0.2)
    assert new.knowledge.labels == old.knowledge.labels and new["train"].lawful.all()
    assert set(new.layout.regions) == {"a", "b"}
    with pytest.raises(ConfigError, match="no part in the rule of label 'y'"):
        annotated(old, tmp_path / "none", drop=["a", "b"])
    assert not (tmp_path / "none").exists()


def test_refined_concepts_are_indicators_of_values(evenodd: Dataset, tmp_path: Path) -> None:
    every = list(range(10))
    new = annotated(evenodd, tmp_path / "new", refine={"a": every, "b": every})
    data, old = new["test"], evenodd["test"]
    assert new.knowledge.space.names[3] == "a_is_3" and not new.knowledge.stochastic
    assert (data.concepts[:, :10].argmax(axis=1) == old.concepts[:, 0]).all()
    assert (new.knowledge.labels_of(data.concepts) == old.labels).all()  # all values: the sum still follows
    assert not new.knowledge.violations(data.concepts).any() and new.knowledge.constraints[0].tags == ("one_hot",)
    one = np.eye(10, dtype=int)
    worlds = np.array([[*one[3], *one[4]], [*one[3], *np.zeros(10, int)], [*(one[3] + one[5]), *one[4]]])
    assert new.knowledge.violations(worlds).sum(axis=1).tolist() == [0, 1, 1]  # exactly one, as all values are there
    assert {g.name: len(g.concepts) for g in new.knowledge.space.encoders}["digit_is_3"] == 2
    assert new.layout.regions["a_is_3"] == evenodd.layout.regions["a"]
    with pytest.raises(ConfigError, match="only true-or-false labels can be left to chance"):
        annotated(evenodd, tmp_path / "some", refine={"a": [0, 2]})


def test_what_a_model_says_becomes_what_is_given(mnlogic: Dataset, tmp_path: Path) -> None:
    said = {name: 1 - mnlogic[name].concepts for name in ("train", "valid")}
    new = annotated(mnlogic, tmp_path / "new", machine=said)
    assert (new["train"].annotated_concepts == 1 - new["train"].concepts).all()
    assert (new["test"].annotated_concepts == new["test"].concepts).all()
    with pytest.raises(DataError, match="no predictions for split 'test'; make them: assay predict"):
        annotated(mnlogic, tmp_path / "other", machine=said, splits=["test"])


def scored(dataset: Dataset, path: Path, splits: tuple[str, ...]) -> Path:
    """Scores for two words: one goes with the concept a, the other with nothing."""
    lines = ["split,index,stripe,glow"]
    for name in splits:
        data, rng = dataset[name], np.random.default_rng(0)
        for index, a in zip(data.index, data.concepts[:, 0], strict=True):
            lines.append(f"{name},{index},{a + 0.1 * rng.random():.4f},{rng.random():.4f}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_scores_make_concepts_of_their_own(mnlogic: Dataset, tmp_path: Path) -> None:
    scores = read_scores(scored(mnlogic, tmp_path / "scores.csv", mnlogic.split_names))
    new = annotated(mnlogic, tmp_path / "new", machine=scores)
    assert new.knowledge.space.names == ("stripe", "glow") and new.knowledge.stochastic
    assert (new["test"].concepts[:, 0] == mnlogic["test"].concepts[:, 0]).all()
    assert all(new[name].lawful.all() and new[name].pngs == mnlogic[name].pngs for name in new.split_names)
    few = read_scores(scored(mnlogic, tmp_path / "few.csv", ("train",)))
    with pytest.raises(DataError, match="the scores say nothing of example 0 of split 'valid'"):
        annotated(mnlogic, tmp_path / "few", machine=few)
    with pytest.raises(DataError, match="says the same of 'stripe' in every example"):
        annotate(mnlogic, Annotation(machine="s.csv", threshold=5.0), tmp_path / "high", scores)


@pytest.mark.parametrize("threshold", [None, "median", 0.4])
def test_scores_are_cut_at_the_mean_of_training_or_as_asked(threshold, mnlogic: Dataset, tmp_path: Path) -> None:
    rng, lines = np.random.default_rng(2), ["index, split,warm,big"]  # in any order, with blanks
    values = {name: rng.random((len(mnlogic[name]), 2)).round(3) for name in mnlogic.split_names}
    for name, rows in values.items():
        lines += [f"{row},{name},{warm},{big}" for row, (warm, big) in reversed(list(enumerate(rows)))]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    asked = Annotation(machine="s.csv", threshold=threshold)
    annotate(mnlogic, asked, tmp_path / "new", read_scores(tmp_path / "s.csv"), "a clerk")
    new = Dataset.open(tmp_path / "new")
    train = values["train"]
    cut = train.mean(axis=0) if threshold is None else np.median(train, axis=0) if threshold == "median" else threshold
    for name in new.split_names:
        assert (new[name].concepts == (values[name] >= cut)).all()
    assert new.manifest.to_dict()["task"]["annotation"]["machine"] in ("scores", "a clerk")
    with pytest.raises(ConfigError, match="a machine's own concepts take the place of all others"):
        annotate(mnlogic, asked.model_copy(update={"drop": ["a"]}), tmp_path / "no", read_scores(tmp_path / "s.csv"))


def test_many_combinations_are_fitted_by_weights(tmp_path: Path) -> None:
    names = [f"w{i}" for i in range(10)]
    make(recipe_from("mnlogic", Settings({"k": 3, "splits": {"train": 600, "valid": 16}})), tmp_path / "old")
    old, rng = Dataset.open(tmp_path / "old"), np.random.default_rng(1)
    lines = ["split,index," + ",".join(names)]
    lines += [f"{s},{i}," + ",".join(map(str, rng.random(10))) for s in old.split_names for i in old[s].index]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    new = annotated(old, tmp_path / "new", machine=read_scores(tmp_path / "s.csv"))
    assert " * w3 " in str(new.knowledge.labels[0].formula) and new["train"].lawful.all()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected the columns split, index"),
        ("a,b\n1,2\n", "expected the columns split, index"),
        ("index,split\n1,train\n", "one or more concepts"),
        ("split,index,a,a\n", "expected the columns"),
        ("split,index,w\ntrain,x,1\n", "line 2: expected a split, a whole number and 1 numbers"),
        ("split,index,w\ntrain,0,1\ntrain,1.5,1\n", "line 3: expected a split, a whole number"),
        ("split,index,w\ntrain,1\n", "line 2: expected a split"),
        ("split,index,w\ntrain,1,b\n", "line 2: expected a split"),
        ("split,index,w\ntrain,1,nan\n", "every score must be a number"),
        ("split,index,w\ntrain,1,inf\n", "every score must be a number"),
        ("split,index,w\ntrain,1,1\ntest,1,1\ntrain,1,2\n", "line 4: example 1 of split 'train' occurs twice"),
    ],
)
def test_scores_that_cannot_be_read(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(DataError, match=told):
        read_scores(tmp_path / "s.csv")


def test_a_folder_that_holds_something_is_refused(mnlogic: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not an empty folder"):
        annotated(mnlogic, mnlogic.folder, missing=0.1)


def test_counterfactual_worlds_go_along_with_the_rows_that_are_kept(tmp_path: Path) -> None:
    settings = {"pixels": True, "k": 3, "formula": "a and b or c", "prop_in_distribution": 1.0}
    sizes = {"train": 16, "valid": 8, "test": 40, "hard": 8}
    make(recipe_from("mnlogic", Settings({**settings, "splits": sizes})), tmp_path / "data")
    old = Dataset.open(tmp_path / "data")
    fewer = annotated(old, tmp_path / "fewer", label_shares={True: 0.9}, splits=["test"])
    pairs, before = fewer["pairs"], old["pairs"]
    kept = np.isin(before.pair_rows, fewer["test"].index)
    assert 0 < len(pairs) == kept.sum() < len(before) and fewer.pairs is not None and fewer.pairs.size == len(pairs)
    assert pairs.pair_rows.tolist() == before.pair_rows[kept].tolist()
    assert (pairs.concepts == before.concepts[kept]).all()
    assert pairs.pngs == [png for png, keep in zip(before.pngs, kept, strict=True) if keep]
    same = annotated(old, tmp_path / "same", missing=0.5)
    assert same["pairs"].pair_rows.tolist() == before.pair_rows.tolist()
    other = annotated(old, tmp_path / "other", drop=["c"])
    assert other.pairs is None and "its concepts are not those" in other.why_no_pairs


class Machine:
    """Reads concepts with written-down probabilities, or scores words of its own."""

    def __init__(self, words: tuple[str, ...] = ()) -> None:
        self.words, self.asked = words, list[str]()

    def probabilities(self, data: SplitData) -> list[np.ndarray]:
        self.asked.append(data.name)
        sure = np.where(data.concepts[:, 0] == 1, 0.6, 0.2)
        first = np.stack([1 - sure, sure], axis=1)
        gaps = np.where(np.arange(len(data))[:, None] % 2 == 0, np.nan, [[0.9, 0.1]])
        return [first, gaps, np.eye(2)[1 - data.concepts[:, 2]]]

    def scores(self, data: SplitData) -> np.ndarray:
        self.asked.append(data.name)
        return np.stack([data.concepts[:, 1], np.arange(len(data)) % 2], axis=1).astype(float)

    def metadata(self) -> dict[str, Any]:
        return {"reader": "written down"}


def test_a_machine_reads_the_pictures_that_are_annotated(mnlogic: Dataset, tmp_path: Path) -> None:
    machine = Machine()
    new = annotated(mnlogic, tmp_path / "new", machine=machine)
    assert (
        machine.asked == ["train", "valid"]
        and new.manifest.to_dict()["task"]["annotation"]["reader"] == machine.metadata()
    )
    for name in ("train", "valid"):
        data = new[name]
        assert (data.annotated_concepts[:, 0] == data.concepts[:, 0]).all()  # 0.6 and 0.2: the likelier value
        assert (data.annotated_concepts[::2, 1] == -1).all() and (data.annotated_concepts[1::2, 1] == 0).all()
        assert (data.annotated_concepts[:, 2] == 1 - data.concepts[:, 2]).all()
    assert (new["test"].annotated_concepts == new["test"].concepts).all()
    annotate(mnlogic, Annotation(machine="it", threshold=0.7), tmp_path / "strict", Machine())
    strict = Dataset.open(tmp_path / "strict")
    assert (strict["train"].annotated_concepts[:, 0] == 0).all()  # 0.6 is not enough
    annotate(mnlogic, Annotation(machine="it", threshold=0.6), tmp_path / "fine", Machine())
    fine = Dataset.open(tmp_path / "fine")["train"]
    assert (fine.annotated_concepts[:, 0] == fine.concepts[:, 0]).all()
    with pytest.raises(ConfigError, match="threshold: 'mean' is for scores"):
        annotate(mnlogic, Annotation(machine="it", threshold="mean"), tmp_path / "mean", Machine())


def test_a_machine_with_words_of_its_own_reads_every_split(mnlogic: Dataset, tmp_path: Path) -> None:
    machine = Machine(("a stripe", "glow"))
    new = annotated(mnlogic, tmp_path / "new", machine=machine)
    assert sorted(machine.asked) == sorted(mnlogic.split_names)
    assert len(new.knowledge.space) == 2 and new.knowledge.space.names[1] == "glow"
    for name in mnlogic.split_names:
        assert (new[name].concepts[:, 0] == mnlogic[name].concepts[:, 1]).all()
        assert (new[name].concepts[:, 1] == np.arange(len(new[name])) % 2).all()


def test_other_concepts_claim_no_longer_which_worlds_splits_share(mnlogic: Dataset, tmp_path: Path) -> None:
    wheres = {"train": "a and not b", "valid": "b or c", "test": "b"}
    splits = [{**entry, "where": wheres.get(entry["name"], "c")} for entry in mnlogic.manifest.to_dict()["splits"]]
    old = replace(mnlogic, manifest=mnlogic.manifest.but(splits=splits))
    same, other = annotated(old, tmp_path / "same", concept_noise=0.2), annotated(old, tmp_path / "other", drop=["c"])
    claims = [(entry["name"], entry["disjoint_from"], entry["where"]) for entry in splits]
    assert ("ood", ["train", "valid", "test", "hard"], "c") in claims
    assert [(x["name"], x["disjoint_from"], x["where"]) for x in same.manifest.to_dict()["splits"]] == claims
    assert [(x["name"], x["disjoint_from"], x["where"]) for x in other.manifest.to_dict()["splits"]] == [
        ("train", [], "a and not b"), ("valid", [], "True"), ("test", [], "b"), ("ood", [], "True"), ("hard", [], "True"),
    ]  # fmt: skip
    assert other.manifest.to_dict()["pairs"]["none"] == "its concepts are not those that its worlds are drawn by"
    assert other.manifest.to_dict()["pairs"]["size"] == 0 and other.manifest.to_dict()["pairs"]["shards"] == []
