"""The laws of models, and a task small enough to train on in a second: two squares, is the left one brighter?"""

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.base import Array, AssayError, Settings
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset, Recipe, make
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge
from assay.render import Box, Layout, Picture
from assay.tasks import Task
from assay.testing.checks import CheckFailed, LawOutcome, need, try_laws
from assay.worlds import Style, World

SIDE = 12


class TwoSquares(Task):
    """Two grey squares, each of three brightnesses; is the left one brighter?"""

    name = "two-squares"
    sizes: ClassVar[Mapping[str, int]] = {"train": 64, "valid": 16, "test": 16}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The two brightnesses and the comparison."""
        squares = tuple(Concept(name, (0, 1, 2)) for name in ("left", "right"))
        space = ConceptSpace(squares, encoders=(EncoderGroup("square", ("left", "right")),))
        return Knowledge.of(space, {"brighter": "left > right"})

    @cached_property
    def layout(self) -> Layout:
        """The squares side by side."""
        boxes = {"left": Box(0, 0, SIDE, SIDE), "right": Box(SIDE, 0, 2 * SIDE, SIDE)}
        return Layout(2 * SIDE, SIDE, 1, boxes)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw noise for each column of pixels."""
        return {"noise": rng.integers(0, 40, size=2 * SIDE).tolist()}

    def render(self, world: World) -> Picture:
        """Fill the squares."""
        row = 90 * np.repeat([int(code) for code in world.codes], SIDE) + np.array(world.style["noise"])
        return Picture(np.repeat(row.astype(np.uint8)[None, :], SIDE, axis=0))


def small_dataset(task: Task, folder: Path, most: int = 64) -> Dataset:
    """Make a dataset of a task, with few examples of each split.

    Parameters
    ----------
    task
        Any task.
    folder
        Where it is written.
    most
        So many examples of a split at most.
    """
    sizes = {split.name: min(split.size, most if split.name.startswith("train") else 16) for split in task.splits()}
    values = task.config.model_dump(exclude_defaults=True)
    recipe = Recipe(task.name, Settings(values), sizes=(*sizes.items(), ("pairs", 0)))
    recipe.__dict__["task"] = task  # the task at hand, also where no registry knows it
    make(recipe, folder)
    return Dataset.open(folder)


def check_model(name: str, dataset: Dataset, settings: Mapping[str, Any] | None = None) -> list[LawOutcome]:
    """Try the laws that every trained model keeps, on a dataset small enough to train on in seconds.

    Parameters
    ----------
    name
        A registered model, or `FILE.py:Name`.
    dataset
        Few examples of any task.
    settings
        Settings of the model, such as fewer epochs.
    """
    from assay.models import MODELS, TrainSpec, load_model, train_run

    quick = {"epochs": 1, "device": "cpu", "members": 2, "programs": 20_000, "beam": 4, "steps": 20, "literals": 2}
    name = MODELS.resolve(name)
    known = MODELS[name].Config.model_fields
    order = TrainSpec(name, Settings({**{k: v for k, v in quick.items() if k in known}, **(settings or {})}))
    with tempfile.TemporaryDirectory() as folder:
        first = train_run(order, dataset, Path(folder) / "first")
        second = train_run(order, dataset, Path(folder) / "second")
        loaded = load_model(Path(folder) / "first")
        test = dataset[dataset.split_names[-1]]
        predictions, repeated, reloaded = first.predict(test), second.predict(test), loaded.predict(test)

        def probabilities() -> None:
            for answer in [*predictions.labels.values(), *predictions.concepts.values()]:
                need(answer.probabilities is not None, "an answer has no probabilities")
                rows = np.asarray(answer.probabilities)
                need(bool(np.isfinite(rows).all() and (rows >= 0).all()), "a probability is not from 0 to 1")

        def same(expected: Predictions, actual: Predictions) -> None:
            for label, answer in expected.labels.items():
                close = np.allclose(_probabilities(answer), _probabilities(actual.labels[label]), atol=1e-5)
                need(close, f"answers for label {label!r} differ")

        def concepts() -> None:
            need(bool(predictions.concepts) == first.has_concepts, "has_concepts does not say what predict does")

        def intervention() -> None:
            column = dataset.knowledge.space.names[0]
            codes = np.zeros(len(test), dtype=np.int64)
            if not first.can_intervene:
                try:
                    first.predict(test, {column: codes})
                except AssayError:
                    return
                raise CheckFailed("a model that cannot be intervened on took an intervention")
            set_to = first.predict(test, {column: codes}).concepts[column].codes
            need(bool((set_to == 0).all()), "a concept that was set did not stay set")

        return try_laws(
            {
                "answers are probabilities": probabilities,
                "same seed, same answers": lambda: same(predictions, repeated),
                "saved and loaded, same answers": lambda: same(predictions, reloaded),
                "concepts as declared": concepts,
                "interventions as declared": intervention,
            }
        )


def _probabilities(answer: Prediction) -> Array:
    return np.asarray(answer.probabilities)
