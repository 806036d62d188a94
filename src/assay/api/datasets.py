"""Make a dataset, or open one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.config import Settings
from assay.contracts import PAIRS
from assay.data import (
    Confounder,
    Dataset,
    Folder,
    Recipe,
    SplitData,
    cache_folder,
    confound_dataset,
    default_workers,
    recipe_from,
    refresh_pairs,
    task_of,
)
from assay.data import make as write
from assay.progress import progress_bar
from assay.seeds import digest


def make(
    task: str | Recipe,
    output: Folder | str | None = None,
    *,
    n: int | None = None,
    seed: int = 0,
    splits: Mapping[str, int] | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Dataset:
    """Make the dataset of a task, or go on with one that was stopped, and open it.

    Without `output` it goes into the cache (`$ASSAY_CACHE`), where the same call finds it again. `n` is the number of
    training examples, `splits` gives sizes by name; all other keywords are settings of the task.

    >>> import assay
    >>> assay.make("mnlogic", n=16, k=3)["train"].labels.shape
    (16, 1)
    """
    recipe = task if isinstance(task, Recipe) else _recipe(task, n, seed, splits, settings)
    where = _cached(recipe) if output is None else output
    total = sum(split.size for split in recipe.splits) + recipe.pairs
    with progress_bar(progress) as bar:
        write(recipe, where, workers or default_workers(recipe), bar.counter(f"making {recipe.task_name}", total))
    return Dataset.open(where)


def _recipe(
    task: str, n: int | None, seed: int, splits: Mapping[str, int] | None, settings: Mapping[str, Any]
) -> Recipe:
    asked = {"n": n, "splits": None if splits is None else dict(splits)}
    given = {**settings, "seed": seed, **{key: value for key, value in asked.items() if value is not None}}
    return recipe_from(task, Settings(given))


def _cached(recipe: Recipe) -> Path:
    """Return the folder in the cache that holds the dataset of a recipe."""
    plan = json.dumps([recipe.to_dict(), recipe.most_pairs], sort_keys=True)
    return cache_folder() / "made" / f"{Path(recipe.task_name).stem}-{digest(plan).hex()[:12]}"


def load(where: Folder | str) -> Dataset:
    """Open a dataset that lies in a folder, or at an address such as `s3://bucket/folder` or `hf://datasets/user/name`."""
    return Dataset.open(where)


def pairs(dataset: Dataset) -> SplitData:
    """Return the counterfactual worlds of a dataset; one that has none gets them now, if its task is at hand."""
    if dataset.pairs is None:
        refresh_pairs(dataset, task_of(dataset))
        dataset = Dataset.open(dataset.folder)
    return dataset[PAIRS]


def confound(dataset: Dataset, output: Path | str, what: str, goes_with: str, strength: float = 0.95) -> Dataset:
    """Write a copy of a dataset whose pictures carry a mark that goes with a label, and open it.

    `what` is a mark such as `watermark`, `goes_with` a label, a concept or a formula over concepts. To confound with a
    part of the style, or with concepts, make the dataset with the keyword `confound` of `assay.make`.
    """
    planted = Confounder.model_validate({"what": what, "with": goes_with, "strength": strength})
    confound_dataset(dataset, [planted], Path(output))
    return Dataset.open(output)
