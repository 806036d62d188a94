"""What a study will cost, estimated before it starts: steps, time and disk, from a small trial of each."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from assay.base import AssayError, ProgressCallback, Settings, duration, size_in_words
from assay.dataset import Dataset, Recipe, make
from assay.lab.steps import DataStep, RunStep, is_finished
from assay.lab.studies.study import Study
from assay.models import MODELS

TRIAL = 32
"""How many examples are made and learned to know what one costs."""
TRIAL_SECONDS = 60.0
"""When a trial ends. What was not tried by then is named as not counted."""


@dataclass(frozen=True)
class Cost:
    """What steps take: seconds of one processor, and bytes on disk."""

    seconds: float = 0.0
    bytes: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.seconds + other.seconds, self.bytes + other.bytes)


@dataclass(frozen=True)
class StudyPlan:
    """The steps that are left of a study, and their cost as a trial estimates it."""

    datasets: int
    runs: int
    kept: int
    cost: Cost | None
    """Not known without a trial."""
    unknown: tuple[str, ...]
    """Datasets and models whose cost is not known."""

    def text(self, workers: int) -> str:
        """Return the plan in a line."""
        left = f"{self.datasets} datasets and {self.runs} runs to do, {self.kept} runs kept"
        if not self.datasets and not self.runs:
            return f"all {self.kept} runs are kept"
        if self.cost is None:
            return left
        unsure = f", not counting {', '.join(self.unknown)}" if self.unknown else ""
        return f"{left}; about {duration(self.cost.seconds / workers)} and {size_in_words(self.cost.bytes)}{unsure}"


def plan_of(
    study: Study,
    watch: ProgressCallback = lambda what, done, all_: None,
    trial: bool = True,
    seconds: float = TRIAL_SECONDS,
) -> StudyPlan:
    """Return what is left of a study, and what that takes, by trying a little of each dataset and model on it.

    After `seconds` nothing more is tried; a step that was begun is finished.

    Parameters
    ----------
    study
        What would be run.
    watch
        Told what is tried, how much of how much.
    trial
        Whether a little of each step is done to measure it.
    seconds
        No further step is tried after that time.
    """
    deadline = time.monotonic() + seconds
    left = [step for step in study.runs if not is_finished(step, study.output)]
    data = [step for step in study.datasets if not is_finished(step, study.output)]
    parents = {copy.name: copy.parent for copy in study.copies}
    datasets = {step.name: step for step in study.datasets}
    cost: Cost | None = Cost() if trial else None
    unknown: set[str] = set()
    pairs = {(parents.get(run.data, run.data), run.label): run for run in left}
    wanted = {step.name for step in data} | {name for name, _ in pairs}
    for place, name in enumerate(sorted(wanted) if cost is not None else ()):
        watch("trying", place, len(wanted))
        kinds = [run for (of, _), run in pairs.items() if of == name]
        tried = _try_step(datasets[name], kinds, left, parents, deadline)
        unknown.update(tried[1])
        cost = (cost or Cost()) + (tried[0] if name in {step.name for step in data} else replace(tried[0], bytes=0))
    return StudyPlan(len(data), len(left), len(study.runs) - len(left), cost, tuple(sorted(unknown)))


def _try_step(
    step: DataStep, kinds: Sequence[RunStep], left: Sequence[RunStep], parents: dict[str, str], deadline: float = inf
) -> tuple[Cost, set[str]]:
    """Return the cost of a dataset and of its runs, and what cannot be tried on few examples or in time."""
    recipe = step.recipe
    if recipe is None:  # it is there, and is only copied; a trial would train on all of it
        there = sum(path.stat().st_size for path in Path(step.source).rglob("*.parquet"))
        return Cost(0.0, there), {kind.label for kind in kinds}
    if time.monotonic() >= deadline:
        return Cost(), {step.name, *(kind.label for kind in kinds)}
    rows = sum(split.size for split in recipe.splits)
    unknown: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        small = _small(recipe)
        try:
            make(small, Path(folder) / "data")
        except AssayError:
            return Cost(), {step.name}
        dataset = Dataset.open(Path(folder) / "data")
        tried = sum(split.size for split in small.splits)
        share = rows / tried
        took = time.perf_counter() - began
        cost = Cost(took * share, int(sum(p.stat().st_size for p in dataset.folder.rglob("*.parquet")) * share))
        for kind in kinds:
            late = time.monotonic() >= deadline
            each = None if late else _training_seconds(kind, dataset, rows=recipe.splits[0].size)
            runs = [run for run in left if run.label == kind.label and parents.get(run.data, run.data) == step.name]
            if each is None:
                unknown.add(kind.label)
            else:
                cost = cost + Cost(each * len(runs))
    return cost, unknown


def _small(recipe: Recipe) -> Recipe:
    """Return the recipe with as few examples as a trial needs."""
    sizes = {split.name: min(split.size, TRIAL if split.name.startswith("train") else 4) for split in recipe.splits}
    return replace(recipe, sizes=tuple({**dict(recipe.sizes), **sizes}.items()))  # those of size 0 stay away


def _training_seconds(run: RunStep, dataset: Dataset, rows: int) -> float | None:
    """Return how long a run will train: the time of one epoch of a trial, scaled to all its examples and epochs."""
    fields = MODELS[run.model].Config.model_fields
    if "epochs" not in fields:
        return None
    epochs = int(run.settings.values.get("epochs", fields["epochs"].default))
    settings = Settings({**run.settings.values, "epochs": 3})
    stamps: list[float] = []
    try:
        model = MODELS[run.model](dataset.knowledge, dataset.layout, settings, dataset.manifest.backbones, 0)
        train = dataset["train"] if "train" in dataset else dataset[dataset.split_names[0]]
        model.fit(train, train, lambda epoch, all_: stamps.append(time.perf_counter()))
    except AssayError:
        return None
    if len(stamps) < 2:
        return None
    return (stamps[-1] - stamps[-2]) / len(train) * rows * epochs
