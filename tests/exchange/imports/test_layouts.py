"""Each layout becomes an ordinary dataset: the same pictures, concepts, labels and splits, and a planted rule is found."""

import numpy as np
import pytest

from assay.base import ConfigError, DataError, Settings
from assay.dataset import Dataset
from assay.exchange import import_folder
from assay.lab import perform, study_from
from assay.models import TrainSpec, train_run
from tests.exchange.imports.drawn import LAYOUTS
from tests.exchange.imports.verbs import every_verb, import_layout

COUNT, MISSING = 56, 0.2


def test_every_layout_is_tried(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no layout that is known") as caught:
        import_folder(tmp_path / "empty", tmp_path / "out")
    assert set(str(caught.value).partition("(")[2].partition(")")[0].split(", ")) == set(LAYOUTS)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_layout_is_recognised_and_read(layout, tmp_path):
    data = import_layout(tmp_path, layout, COUNT, missing=MISSING)
    parts = [data[name] for name in data.split_names]
    assert set(data.split_names) == {"train", "valid", "test"} and sum(map(len, parts)) == COUNT
    assert len(data.knowledge.space) == 3 and data.knowledge.has_rule and data.knowledge.space.sizes == (2, 2, 2)
    assert all(part.lawful.all() for part in parts)  # the labels follow the planted rule wherever concepts are known
    gaps = np.mean([(part.concepts < 0).mean() for part in parts])
    assert gaps == 0 if layout == "awa2" else 0.02 < gaps < 0.4
    labels = np.concatenate([part.labels[:, 0] for part in parts])
    assert np.bincount(labels).min() == COUNT // 4  # one picture of four is red and dotted, one animal of four an ant
    red = next(place for place, name in enumerate(data.knowledge.space.names) if name.endswith("red"))
    for part in parts:  # each picture beside its own row: the bar is red where the concept says so
        bar = part.images[:, 4:9, 3:8].astype(int).mean(axis=(1, 2))
        known = part.concepts[:, red] >= 0
        assert ((bar[:, 0] > bar[:, 2]) == (part.concepts[:, red] == 1))[known].all()


@pytest.mark.parametrize("layout", ["cvat", "hf", "coco"])
def test_planted_rule_is_proposed_back(layout, tmp_path):
    data = import_layout(tmp_path, layout, COUNT, rule=False, missing=0.1)
    for model in ("rules", "ilp"):
        trained = train_run(
            TrainSpec(model, Settings({} if model == "rules" else {"seconds": 3})), data, tmp_path / model
        )
        words = trained.describe()
        assert all("no exceptions" in line and "covers" in line for line in trained.coverage())
        names = [name for name in data.knowledge.space.names if name in words[0]]
        assert {name.removeprefix("sign__") for name in names} == {"red", "dotted"}


def check(outcome, rule):
    cbm, dpl = outcome.diagnoses["cbm"], outcome.diagnoses["dpl"]
    assert outcome.page == len(outcome.dataset["test"]) and outcome.report.is_file()
    assert outcome.verdict == cbm.verdict
    assert {result.check for result in outcome.audit.failed} <= {"nuisances"}  # the mean colour tells what is red
    assert any("covers" in line for line in outcome.proposed)
    assert outcome.dataset.pairs is None and "cannot be redrawn" in outcome.dataset.why_no_pairs
    if rule:
        assert isinstance(outcome.readings, int) and outcome.readings >= 1 and dpl.verdict
    else:
        assert "needs a rule" in outcome.readings and "model 'dpl' needs a rule" in dpl
        assert any("No rule is known" in text for text in cbm.details)
        assert not set(cbm.kinds) & {"shortcut", "wrong rule", "inconsistent", "boundary", "unidentified", "sound"}


@pytest.mark.parametrize("rule", [True, False], ids=["rule", "no rule"])
def test_every_verb_on_a_table_with_gaps(rule, tmp_path):
    data = import_layout(tmp_path, "table", 120, rule=rule, missing=MISSING)
    outcome = every_verb(tmp_path / "runs", data, epochs=1)
    check(outcome, rule)
    told = "true concepts that the rule uses are not known" if rule else "true concepts are not known"
    assert any(told in text for text in outcome.diagnoses["cbm"].details)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, MISSING])
@pytest.mark.parametrize("rule", [True, False], ids=["rule", "no rule"])
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_every_verb_on_every_layout(layout, rule, missing, tmp_path):
    data = import_layout(tmp_path, layout, 300, rule=rule, missing=missing)
    outcome = every_verb(tmp_path / "runs", Dataset.open(data.folder), epochs=4)
    check(outcome, rule)
    assert any("no exceptions" in line for line in outcome.proposed)  # the planted rule is proposed back


def test_a_study_on_a_dataset_of_ones_own(tmp_path):
    data = import_layout(tmp_path, "table", COUNT)
    listed = {"tasks": [{"task": str(data.folder), "name": "mine"}], "models": ["rules", "tree"]}
    study = study_from(Settings(listed), tmp_path / "out")
    for step in (*study.datasets, *study.runs):
        assert perform(step, tmp_path / "out").fault is None
    assert Dataset.open(tmp_path / "out" / "data" / study.datasets[0].name).fingerprint == data.fingerprint
    assert {run.task for run in study.runs} == {"mine"}
    with pytest.raises(ConfigError, match="is a dataset that is there; 'n' cannot change it"):
        study_from(Settings({**listed, "tasks": [{"task": str(data.folder), "n": 5}]}), tmp_path / "out")
