"""What a study does with a run beyond the usual scores: interventions, automation, leakage, probes of its layers.

An analysis gives numbers, each with the name of a metric of its own, such as `accuracy_k3`; they join the records.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.base import Config, ConfigError, Settings, suggestion, validate
from assay.dataset import Dataset
from assay.metrics import gather_from
from assay.runs import RunFolder


@dataclass(frozen=True)
class Number:
    """One number of an analysis."""

    split: str
    metric: str
    value: float
    examples: int


class Intervening(Config):
    """Ask about concepts within budgets; with a `target` the model abstains where it is not sure."""

    policy: str = "responsiveness"
    budget: str = "0,1,3,max"
    source: str | None = None
    reader: dict[str, Any] = {}
    """The settings of a source that is a machine: `vlm` or `clip:FOLDER`."""
    kind: str = "confirmation"
    threshold: float | None = None
    target: float | None = None
    split: str = "test"
    suffix: str = ""
    """Added to the names of the metrics, where a study asks in several ways."""


def interventions(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return accuracy, coverage and net work for each budget: `accuracy_k0`, `accuracy_k3`, `accuracy_max`, ..."""
    from assay.dataset import redrawing_for
    from assay.diagnosis import InterventionPlan, intervene
    from assay.lab.run_models import answering_for
    from assay.models import reader_for

    asked = validate(Intervening, settings)
    plan = InterventionPlan(
        *(asked.policy, asked.budget, asked.source, asked.kind, asked.split, asked.threshold), target=asked.target
    )
    answering, _ = answering_for(folder, dataset, asked.split)
    redraw = redrawing_for(asked.kind, dataset)
    found = intervene(plan, dataset, answering, redraw, reader_for(asked.source, asked.reader))
    numbers = []
    for point in found.curve.points:
        where = "max" if point.whole else f"k{point.budget:g}"
        for key, value in point.to_dict().items():
            if key in ("accuracy", "coverage", "selective_accuracy", "net_work_automated") and value is not None:
                name = f"{key}_{where}{asked.suffix}"
                numbers.append(Number(asked.split, name, float(value), len(found.index)))
    return numbers


class Leaking(Config):
    """Which split to look at."""

    split: str = "test"


def leaks(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return the leakage of concepts: `ctl_soft`, `icl_soft`, `probe_soft`, and the same `hard`."""
    from assay.diagnosis import leakage

    asked = validate(Leaking, settings)
    said = RunFolder(folder).all_predictions(dataset.knowledge)
    if asked.split not in said:
        raise ConfigError(f"no predictions for split {asked.split!r}")
    found = leakage(gather_from(dataset, said[asked.split])).to_dict()
    kinds = [kind for kind in ("soft", "hard") if found[kind] is not None]
    keys = ("ctl", "icl", "probe")
    return [
        Number(asked.split, f"{key}_{kind}", float(found[kind][key]), found["rows"]) for kind in kinds for key in keys
    ]


class Probing(Config):
    """How the layers are read."""

    method: str = "linear"
    layers: list[str] = []
    """The layers that are read, by name; by default all that have weights. `_layer1` is the first of them."""
    settings: dict[str, Any] = {}
    """How probes are fitted, such as `vectors: sgd`."""
    suffix: str = ""
    """Added to the names of the metrics, where a study probes in several ways."""


def probes(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return how well concepts can be read off each layer: `concept_f1_conv1`, ..., and off the best, `concept_f1`."""
    from assay.models import Ask, probe_run

    asked = validate(Probing, settings)
    ask = Ask.of(asked.method, Settings(asked.settings), asked.layers)
    with tempfile.TemporaryDirectory() as scratch:
        probed = probe_run(folder, dataset, Path(scratch) / "probes", ask)
    numbers = []
    for place, result in enumerate(probed.results):
        for split, scores in result.scores.items():
            for metric, score in scores.items():
                name = f"{metric}_layer{place + 1}{asked.suffix}"
                numbers.append(Number(split, name, score.value, score.examples))
                if result is probed.best:
                    numbers.append(Number(split, f"{metric}_probed{asked.suffix}", score.value, score.examples))
    return numbers


class Changing(Config):
    """Which worlds of which split are changed, and how: a named intervention of the task, or `CONCEPT=VALUE`s."""

    do: list[str]
    split: str = "test"


def changes(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return the label accuracy before and after a change, and after it where the true label moved or stayed."""
    from assay.dataset import intervened, task_of
    from assay.metrics import gather
    from assay.models import load_model

    asked = validate(Changing, settings)
    pairs = intervened(dataset, asked.split, task_of(dataset), asked.do)
    found = gather(pairs.data, load_model(folder).predict(pairs.data))
    right = (found.labels == found.predicted_labels).all(axis=1)
    before, after = right[: len(pairs)], right[len(pairs) :]
    moved = (found.labels[: len(pairs)] != found.labels[len(pairs) :]).any(axis=1)
    name = asked.do[0] if len(asked.do) == 1 and "=" not in asked.do[0] else "do"
    parts = {"before": before, "after": after, "after_moved": after[moved], "after_stays": after[~moved]}
    return [Number(asked.split, f"{key}_{name}", float(x.mean()), len(x)) for key, x in parts.items() if len(x)]


class Aligning(Config):
    """Constraints on the weights of the label head, as `assay align` takes them."""

    weights: dict[str, Any]
    budget: str = ""
    """Also ask about concepts within these budgets, with the head as trained and as aligned: `accuracy_k3_aligned`."""


def alignments(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return accuracy and what setting concepts brings, of each label head: `gain_as_trained`, `gain_aligned`, ..."""
    from assay.models import Alignment, align_run

    given = validate(Aligning, settings)
    asked, numbers = validate(Alignment, Settings(given.weights)), list[Number]()
    with tempfile.TemporaryDirectory() as scratch:
        found = align_run(folder, dataset, asked, Path(scratch) / "aligned")
        for run, suffix in ((folder, "_as_trained"), (Path(scratch) / "aligned", "_aligned")):
            budget = Settings({"budget": given.budget, "suffix": suffix})
            numbers += interventions(run, dataset, budget) if given.budget else []
    for row in found.rows:
        for key, value in row.to_dict().items():
            if key != "front_end":
                name = f"{key}_{row.front_end.replace(' ', '_')}"
                numbers.append(Number("test", name, float(value), len(dataset["test"])))
    return numbers


class SwappingRule(Config):
    """Another rule for the same concepts: the formula of each label."""

    labels: dict[str, str]
    only_predicted: bool = False
    """Keep the true labels of the data, and apply the other rule to the predicted concepts alone."""
    splits: list[str] = ["test"]
    metrics: list[str] = ["label_accuracy", "rsbench_label_f1", "label_mean_f1"]
    suffix: str = "_swapped"


def swaps(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return how right the labels are that another rule gives to the predicted concepts: `label_accuracy_swapped`."""
    from assay.logic import Knowledge
    from assay.metrics import score
    from assay.runs import evidence_of, under_rule

    asked = validate(SwappingRule, settings)
    rule = Knowledge.of(dataset.knowledge.space, asked.labels)
    numbers = []
    for split, evidence in evidence_of(RunFolder(folder), dataset).items():
        if split in asked.splits:
            found = score(under_rule(evidence, rule, asked.only_predicted), asked.metrics)
            numbers += [Number(split, name + asked.suffix, s.value, s.examples) for name, s in found.items()]
    return numbers


class Transferring(Config):
    """On which other datasets of the study a run is tried; the study puts their folders beside their tasks."""

    to: list[str]
    folders: dict[str, str] = {}
    """The dataset of each, by its name in the study's folder."""
    split: str = "test"
    metrics: list[str] = ["label_accuracy"]


def transfers(folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Return how right a run is on other datasets with the same concepts: `label_accuracy_on_trains-desert`, ..."""
    from assay.metrics import score
    from assay.models import transfer_run
    from assay.runs import evidence_of

    asked = validate(Transferring, settings)
    numbers = []
    for task, name in asked.folders.items():
        other = Dataset.open(folder.parents[1] / "data" / name)
        with tempfile.TemporaryDirectory() as scratch:
            transfer_run(folder, other, Path(scratch) / "there")
            evidence = evidence_of(RunFolder(Path(scratch) / "there"), other)[asked.split]
        found = score(evidence, asked.metrics)
        numbers += [Number(asked.split, f"{metric}_on_{task}", s.value, s.examples) for metric, s in found.items()]
    return numbers


Analysis = Callable[[Path, Dataset, Settings], list[Number]]
ANALYSES: Mapping[str, tuple[Analysis, type[Config]]] = {
    "intervene": (interventions, Intervening),
    "leakage": (leaks, Leaking),
    "probe": (probes, Probing),
    "change": (changes, Changing),
    "align": (alignments, Aligning),
    "swap_rule": (swaps, SwappingRule),
    "transfer": (transfers, Transferring),
}


def analyses_from(
    given: list[str | dict[str, Any]],
    place: str = "",
    model: str | None = None,
    others: Mapping[str, str] | None = None,
) -> tuple[tuple[str, Settings], ...]:
    """Return the analyses that a study asks for, each with its settings; unknown ones are errors.

    With a model only those that are for it: an analysis may name its `models`. `others` are the datasets of the tasks
    that a run may be tried on.
    """
    made = []
    for entry in given:
        values: dict[str, Any] = {"analysis": entry} if isinstance(entry, str) else dict(entry)
        name, models = str(values.pop("analysis", "")), values.pop("models", None)
        if not (models is None or (isinstance(models, list) and all(isinstance(label, str) for label in models))):
            raise ConfigError(f"{place}models of analysis {name!r}: expected a list of names, not {models!r}")
        if name not in ANALYSES:
            raise ConfigError(f"{place}no analysis named {name!r}{suggestion(name, ANALYSES)}")
        validate(ANALYSES[name][1], Settings(values))
        if name == "transfer" and others is not None:
            values["folders"] = _datasets_of(list(values["to"]), others, place)
        if model is None or models is None or model in models:
            made.append((name, Settings(values)))
    return tuple(made)


def _datasets_of(tasks: list[str], others: Mapping[str, str], place: str) -> dict[str, str]:
    """Return the dataset of each task that runs are tried on."""
    for task in tasks:
        if task not in others:
            raise ConfigError(f"{place}transfer: no task is called {task!r}{suggestion(task, others)}")
    return {task: others[task] for task in tasks}


def run_analysis(name: str, folder: Path, dataset: Dataset, settings: Settings) -> list[Number]:
    """Carry out an analysis of a run."""
    return ANALYSES[name][0](folder, dataset, settings)
