"""What a researcher types first in a notebook: each call works, or says in one line what to do."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import assay
from assay.dataset import Dataset
from tests.samples import needs_task

pytestmark = needs_task("mnlogic", "mnadd-half")

SIZES = {"train": 64, "valid": 16, "test": 48, "ood": 0, "hard": 16}


@pytest.fixture(scope="module")
def ds() -> Dataset:
    return assay.make("mnlogic", k=3, pixels=True, splits=SIZES, seed=1)


@pytest.fixture(scope="module")
def run(ds: Dataset) -> Any:
    return assay.train("dpl", ds, epochs=3, learning_rate=0.02, progress=False)


def labels_of(images: np.ndarray) -> np.ndarray:
    """The rule of the sample: the parity of three pixels."""
    return (images.reshape(len(images), -1) > 127).sum(axis=1) % 2


class Parity(torch.nn.Module):
    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        odd = (pictures.flatten(1) > 0.5).sum(dim=1) % 2
        return 10.0 * torch.nn.functional.one_hot(odd, 2).float()


WORKS: dict[str, Callable[..., Any]] = {
    "assay.make(name)": lambda ds, run, to: assay.make("mnlogic", k=3, n=16),
    "assay.make(name, n=...)": lambda ds, run, to: assay.make("mnadd-half", n=20),
    "assay.make(name, folder)": lambda ds, run, to: assay.make("mnlogic", to / "made", n=8),
    "assay.make(name, splits={...})": lambda ds, run, to: assay.make("mnlogic", n=8, splits={"test": 6}),
    "assay.make(recipe, folder)": lambda ds, run, to: assay.make(assay.Recipe("mnlogic", {"k": 2}, train=8), to / "r"),
    "Recipe(name, {...})": lambda ds, run, to: assay.Recipe("mnlogic", {"k": 2}).task,
    "assay.load(folder)": lambda ds, run, to: assay.load(str(ds.folder)),
    "assay.load(Path)": lambda ds, run, to: assay.load(ds.folder),
    "repr(ds)": lambda ds, run, to: repr(ds),
    "ds._repr_html_()": lambda ds, run, to: ds._repr_html_(),
    "list(ds)": lambda ds, run, to: list(ds),
    "'test' in ds": lambda ds, run, to: "test" in ds,
    "ds['train']": lambda ds, run, to: ds["train"],
    "len(ds['train'])": lambda ds, run, to: len(ds["train"]),
    "ds['train'][0]": lambda ds, run, to: ds["train"][0],
    "ds['train'][-1]": lambda ds, run, to: ds["train"][-1],
    "ds['train'][:5]": lambda ds, run, to: ds["train"][:5],
    "for example in ds['train']": lambda ds, run, to: [example["labels"] for example in ds["train"]],
    "ds['train'].images": lambda ds, run, to: ds["train"].images,
    "ds['train'].to_pandas()": lambda ds, run, to: ds["train"].to_pandas(),
    "ds['train'].to_hf()": lambda ds, run, to: ds["train"].to_hf(),
    "DataLoader(ds['train'].torch())": lambda ds, run, to: next(
        iter(torch.utils.data.DataLoader(ds["train"].torch(), batch_size=8, shuffle=True))
    ),
    "DataLoader(ds['train'])": lambda ds, run, to: next(iter(torch.utils.data.DataLoader(ds["train"], batch_size=8))),
    "ds['train'].plot()": lambda ds, run, to: ds["train"].plot(),
    "assay.train(name, ds, ...)": lambda ds, run, to: assay.train("blackbox", ds, epochs=1, progress=False),
    "run.predict('test')": lambda ds, run, to: run.predict("test"),
    "run.history": lambda ds, run, to: run.history,
    "run.plot()": lambda ds, run, to: run.plot(),
    "predictions from codes": lambda ds, run, to: ds["test"].predictions(labels=ds["test"].labels[:, 0]),
    "predictions from probabilities": lambda ds, run, to: ds["test"].predictions(labels=np.full((48, 2), 0.5)),
    "predictions from tensors": lambda ds, run, to: ds["test"].predictions(
        labels=torch.full((48, 2), 0.5), concepts={"a": torch.zeros(48, dtype=torch.long)}
    ),
    "predictions from a data frame": lambda ds, run, to: ds["test"].predictions(
        pd.DataFrame({"label_y": ds["test"].to_pandas()["label_y"]})
    ),
    "assay.diagnose(ds, predictions)": lambda ds, run, to: assay.diagnose(
        ds, ds["test"].predictions(ds["test"].labels)
    ),
    "assay.diagnose(ds, run)": lambda ds, run, to: assay.diagnose(ds, run),
    "assay.diagnose(run)": lambda ds, run, to: assay.diagnose(run),
    "assay.diagnose(folder of a run)": lambda ds, run, to: assay.diagnose(ds, run.folder),
    "assay.diagnose(evidence)": lambda ds, run, to: assay.diagnose(
        assay.gather(ds["test"], ds["test"].predictions(ds["test"].labels))
    ),
    "assay.diagnose(ds, function)": lambda ds, run, to: assay.diagnose(ds, labels_of),
    "assay.diagnose(ds, module)": lambda ds, run, to: assay.diagnose(ds, Parity()),
    "assay.diagnose(ds, estimator)": lambda ds, run, to: assay.diagnose(ds, fitted(ds)),
    "diagnosis.plot(), to_frame(), text": lambda ds, run, to: drawn(assay.diagnose(run)),
    "assay.count(ds)": lambda ds, run, to: assay.count(ds),
    "assay.audit(ds)": lambda ds, run, to: assay.audit(ds),
    "assay.intervene(run, ds)": lambda ds, run, to: assay.intervene(run, ds, policy="uncertainty", budget="0,1").plot(),
    "assay.saliency(run)": lambda ds, run, to: assay.saliency(run, n=8, check="all"),
    "assay.saliency(function, ds)": lambda ds, run, to: assay.saliency(labels_of, ds, "occlusion", n=8),
    "assay.pairs(ds)": lambda ds, run, to: assay.pairs(ds),
    "assay.report([run], folder)": lambda ds, run, to: assay.report([run], to / "report"),
    "assay.view(ds, run)": lambda ds, run, to: assay.view(ds, run).stop(),
}

REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "a misspelt task": (lambda ds, run, to: assay.make("mnlogik"), "did you mean 'mnlogic'"),
    "a misspelt setting": (lambda ds, run, to: assay.make("mnlogic", kk=3), "unknown key 'kk'"),
    "a folder that is not there": (lambda ds, run, to: assay.load(to / "nowhere"), "no dataset folder"),
    "a split that is not there": (lambda ds, run, to: ds["tests"], "no split named 'tests'; did you mean 'test'?"),
    "a column by name": (lambda ds, run, to: ds["train"]["label_y"], "to_pandas() has all columns by name"),
    "a misspelt model": (lambda ds, run, to: assay.train("cbmm", ds), "no model named 'cbmm'; did you mean 'cbm'?"),
    "predictions without a dataset": (
        lambda ds, run, to: assay.diagnose(ds["test"].predictions(ds["test"].labels)),
        "diagnose needs a dataset and what a model says",
    ),
    "logits": (lambda ds, run, to: ds["test"].predictions(np.full((48, 2), 3.0)), "of logits take the softmax first"),
    "too few rows": (lambda ds, run, to: ds["test"].predictions(np.zeros(3, int)), "expected 48 rows"),
    "a code that is none": (lambda ds, run, to: ds["test"].predictions(np.full(48, 7)), "7 is no code"),
    "an unknown concept": (
        lambda ds, run, to: ds["test"].predictions(np.zeros(48, int), {"z": np.zeros(48, int)}),
        "no concept named 'z'",
    ),
    "a misspelt threshold": (
        lambda ds, run, to: assay.diagnose(run, thresholds={"memorised.drob": 0.2}),
        "did you mean 'memorised.drop'",
    ),
    "what is no model": (lambda ds, run, to: assay.diagnose(ds, 3), "a int is no model"),
    "a misspelt plan": (lambda ds, run, to: assay.intervene(run, ds, polcy="x"), "no setting named 'polcy'"),
}


def fitted(ds: Dataset) -> LogisticRegression:
    train = ds["train"]
    return LogisticRegression().fit(train.images.reshape(len(train), -1) / 255, train.labels[:, 0])


def drawn(found: Any) -> Any:
    assert found.text.startswith("Verdict: ")
    assert len(found.to_frame()) > 0
    return found.plot()


@pytest.mark.parametrize("call", WORKS)
def test_a_first_call_works(call: str, ds: Dataset, run: Any, tmp_path: Path) -> None:
    assert WORKS[call](ds, run, tmp_path) is not Ellipsis


@pytest.mark.parametrize("call", REFUSED)
def test_a_wrong_call_is_told_in_one_line(call: str, ds: Dataset, run: Any, tmp_path: Path) -> None:
    function, message = REFUSED[call]
    with pytest.raises(assay.AssayError) as caught:
        function(ds, run, tmp_path)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_function_module_and_estimator_are_judged_alike(ds: Dataset) -> None:
    by_function, by_module = assay.diagnose(ds, labels_of), assay.diagnose(ds, Parity())
    assert by_function.scores["test"]["label_accuracy"].value == by_module.scores["test"]["label_accuracy"].value == 1
    assert by_function.verdict == by_module.verdict == "opaque"
    assert by_function.counterfactuals is not None and by_function.counterfactuals.all.follows.value == 1


def test_only_the_splits_named_are_asked_and_pictures_are_transformed_first(ds: Dataset) -> None:
    found = assay.diagnose(ds, lambda images: 1 - labels_of(images), splits=["hard"], transform=lambda rows: 255 - rows)
    assert list(found.scores) == ["hard"] and found.scores["hard"]["label_accuracy"].value == 1  # of three pixels


def test_thresholds_decide_and_are_kept(ds: Dataset, run: Any, tmp_path: Path) -> None:
    """Right labels of 48 examples are not surely right in 99 %: the same answers, another word."""
    answers, strict = [ds["test"].predictions(ds["test"].labels, ds["test"].concepts)], {"labels.right": 0.99}
    usual, other = assay.diagnose(ds, answers), assay.diagnose(ds, answers, thresholds=strict)
    assert (usual.verdict, other.verdict) == ("sound", "too few")
    assert usual.thresholds.to_dict() == {} and other.to_dict()["thresholds"] == strict
    page = assay.report(run, tmp_path / "report", title="Mine", thresholds=strict)
    assert "Mine" in page.read_text() and "labels.right = 0.99" in page.read_text()


def test_every_public_object_has_a_short_repr(ds: Dataset, run: Any) -> None:
    answers = ds["test"].predictions(ds["test"].labels, {"a": ds["test"].concepts[:, 0]})
    study = assay.intervene(run, ds, policy="uncertainty", budget="0,1")
    things = [
        *(ds, ds["train"], run, answers, assay.diagnose(ds, answers), assay.count(ds), assay.audit(ds), study),
        *(ds.knowledge, ds.knowledge.space, assay.Recipe("mnlogic", {"k": 3}), assay.TASKS["mnlogic"]()),
        *(ds["train"].world(0), assay.gather(ds["test"], answers), assay.TASKS, assay.MODELS, assay.METRICS),
        *(ds.knowledge.labels[0].formula, run.model, answers.labels["y"], assay.METRICS["collapse"]),
    ]
    for thing in things:
        assert len(repr(thing)) < 400, type(thing).__name__
    for thing in things[:8]:
        assert thing is answers or "<" in thing._repr_html_()


@pytest.mark.parametrize("task", sorted(assay.TASKS))
def test_rules_of_every_task_have_a_short_repr(task: str) -> None:
    knowledge = assay.TASKS[task]().knowledge
    assert len(repr(knowledge)) < 400 and len(repr(knowledge.space)) < 400
    assert len(repr(knowledge.space.concepts[0])) < 400


def test_every_public_name_is_documented() -> None:
    for name in assay.__all__:
        thing = getattr(assay, name)
        assert inspect.getdoc(thing), name
