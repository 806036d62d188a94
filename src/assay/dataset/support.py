"""The worlds that a count is about: those of a task's or dataset's training split, random ones, or listed ones."""

from pathlib import Path

import numpy as np

from assay.base import Codes, ConfigError, SeededPermutation, Settings, is_remote
from assay.dataset.dataset import Dataset, training_worlds
from assay.dataset.recipe import recipe_from
from assay.logic import TRUE, Knowledge
from assay.tasks import combinations

MOST_WORLDS = 100_000
"""The most training examples of a task that is not made whose worlds are counted over; a dataset's are all."""


def training_support(source: str, settings: Settings, seed: int) -> tuple[Knowledge, Codes]:
    """Return the rule of a dataset folder or task, and the distinct worlds that its training shows.

    Parameters
    ----------
    source
        The folder or address of a dataset, or the name of a task.
    settings
        Settings of the task; a dataset has its own.
    seed
        The seed of the splits of a task.
    """
    if is_remote(source) or (Path(source) / "manifest.json").exists():
        dataset = Dataset.open(source)
        if not any(name.startswith("train") for name in dataset.split_names):
            raise ConfigError(f"{source!r} has no training split; give --support full")
        dataset.knowledge.require_rule("counting reasoning shortcuts")
        known = training_worlds(dataset)
        if known is None:
            raise ConfigError(f"{source!r} has no training example whose concepts are all known; give --support full")
        return dataset.knowledge, np.unique(known, axis=0)
    recipe = recipe_from(source, settings)
    task = recipe.task
    parts = []
    for split in recipe.splits:
        if split.name.startswith("train"):
            worlds = task.source_for(split, seed)
            parts.append(worlds.codes(np.arange(min(worlds.total, split.size, MOST_WORLDS))))
    return task.knowledge, np.unique(np.concatenate(parts), axis=0)


def support_worlds(knowledge: Knowledge, support: str, seed: int) -> Codes:
    """Return the worlds that a text asks for: `random:N` different possible ones, or those listed, such as `06,28`.

    Parameters
    ----------
    knowledge
        The rule, whose constraints every world keeps.
    support
        What is asked for; a number without `random:` is a list if it has as many digits as there are concepts.
    seed
        The seed of random worlds.
    """
    number = support.removeprefix("random:")
    if number.isdecimal() and (support != number or len(number) != len(knowledge.space)):
        diagram = knowledge.diagram_within(TRUE)
        ranking = diagram.among(np.array([bool(outcome[-1]) for outcome in diagram.outcomes]))
        if not 1 <= int(number) <= ranking.total:
            raise ConfigError(f"--support {int(number)}: there are {ranking.total:,} worlds")
        return ranking.worlds(SeededPermutation(ranking.total, seed, "random support").deal(np.arange(int(number))))
    formula = combinations([piece.strip() for piece in support.split(",") if piece.strip()], knowledge.space)
    codes = knowledge.space.encode([dict(zip(knowledge.space.names, row, strict=True)) for row in formula.rows])
    if not knowledge.can_be(codes).all():
        raise ConfigError(f"--support {support}: a listed world breaks a constraint of the rule")
    return codes
