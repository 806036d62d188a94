"""Checkers for tasks, models and metrics, ours and anyone's, and predictors whose scores are known.

`assay check my_task.py` runs `check_task` on the tasks in a file; the project's own tests run every checker over the
registries.
"""

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import Value, digits
from assay.config import Settings
from assay.data.dataset import Dataset, SplitData
from assay.data.make import make
from assay.data.recipe import Recipe
from assay.errors import AssayError
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from assay.metrics.metric import Metric
from assay.predictions import Answer, Predictions
from assay.seeds import rng_for
from assay.tasks.base import Task
from assay.worlds.source import WorldSource
from assay.worlds.world import World

EXAMPLES = 24
FEW_WORLDS = 20_000


class CheckFailed(AssayError):
    """A law that a task, model or metric does not keep."""

    exit_code = 1


@dataclass(frozen=True)
class Check:
    """The outcome of one law."""

    law: str
    fault: str | None

    @property
    def passed(self) -> bool:
        """Whether the law holds."""
        return self.fault is None


def _run(laws: Mapping[str, Callable[[], None]]) -> list[Check]:
    """Try every law; a law holds if its function returns."""
    found = []
    for law, test in laws.items():
        try:
            test()
            found.append(Check(law, None))
        except Exception as error:
            found.append(
                Check(law, f"{error}" if isinstance(error, AssayError) else f"{type(error).__name__}: {error}")
            )
    return found


def _need(holds: bool, fault: str) -> None:
    if not holds:
        raise CheckFailed(fault)


def require(checks: list[Check], what: str) -> None:
    """Raise if a law does not hold, naming the first."""
    for check in checks:
        if not check.passed:
            raise CheckFailed(f"{what}: {check.law}: {check.fault}")


# -- tasks -------------------------------------------------------------------------------------------------------------


def check_task(task: Task) -> list[Check]:
    """Try the laws that every task keeps; `require` turns a failure into an error."""
    return _run(
        {
            "the rule survives being written and read": lambda: _task_rule(task),
            "small spaces: diagram equals brute force": lambda: _task_counts(task),
            "splits hold worlds of two labels or more": lambda: _task_splits(task),
            "splits that say so share no world": lambda: _task_disjoint(task),
            "same seed, same world": lambda: _task_styles(task),
            "render draws nothing and fits the layout": lambda: _task_pictures(task),
            "labels follow from the rule on disk": lambda: _task_on_disk(task),
            "a changed concept can be rendered": lambda: _task_counterfactual(task),
        }
    )


def _sources(task: Task) -> dict[str, WorldSource]:
    return {s.name: WorldSource(task.knowledge, s, 0, task.name, task.version) for s in task.splits()}


def _worlds(task: Task, index: int = EXAMPLES) -> list[World]:
    """Return the first worlds of each split, styles drawn as `assay make` draws them."""
    made = []
    for split in task.splits():
        places = np.arange(min(index, split.size))
        codes = WorldSource(task.knowledge, split, 0, task.name, task.version).codes(places)
        for place, row in enumerate(codes.tolist()):
            rng = rng_for(0, task.name, task.version, split.name, place)
            made.append(World(task.space, tuple(row), task.style(rng, row, split.pool)))
    return made


def _task_rule(task: Task) -> None:
    knowledge = task.knowledge
    _need(Knowledge.from_dict(knowledge.to_dict()) == knowledge, "knowledge changes when written and read")
    for label in knowledge.labels:
        _need(parse(str(label.formula)) == label.formula, f"label {label.name!r} changes when written and read")


def _task_counts(task: Task) -> None:
    knowledge = task.knowledge
    if knowledge.space.worlds > FEW_WORLDS:
        return
    codes = knowledge.space.all_codes()
    found = np.bincount(knowledge.diagram.outcome_of(codes), minlength=len(knowledge.diagram.outcomes))
    counted = list(knowledge.diagram.counts.values())
    _need(found.tolist() == counted, f"the diagram counts {counted}, brute force {found.tolist()}")
    labels = knowledge.labels_of(codes)
    for place, label in enumerate(knowledge.labels):
        given = [label.values[code] for code in labels[:, place]]
        outcomes = [knowledge.diagram.outcomes[i][place] for i in knowledge.diagram.outcome_of(codes)]
        _need(given == outcomes, f"label {label.name!r}: numpy and diagram disagree")


def _task_splits(task: Task) -> None:
    names = [split.name for split in task.splits()]
    _need(len(set(names)) == len(names), f"two splits have one name: {names}")
    for source in _sources(task).values():
        codes = source.codes(np.arange(min(200, source.split.size)))
        _need(bool(source.contains(codes).all()), f"split {source.split.name!r} deals worlds that are not its own")


def _task_disjoint(task: Task) -> None:
    sources = _sources(task)
    for source in sources.values():
        codes = source.codes(np.arange(min(500, source.split.size)))
        for other in source.split.disjoint_from:
            _need(not sources[other].contains(codes).any(), f"{source.split.name!r} shares worlds with {other!r}")


def _task_styles(task: Task) -> None:
    first, second = _worlds(task), _worlds(task)
    _need([w.text for w in first] == [w.text for w in second], "two draws with one seed differ")
    for world in first:
        again = World.from_text(world.text, task.space)
        _need(again.text == world.text and again.codes == world.codes, f"text {world.text!r} reads back differently")


def _task_pictures(task: Task) -> None:
    layout = task.layout
    shape = (layout.height, layout.width) if layout.channels == 1 else (layout.height, layout.width, layout.channels)
    state = repr(np.random.get_state())  # noqa: NPY002 - to see that nobody uses it
    for world in _worlds(task):
        image = task.render(world).image
        _need(image.dtype == np.uint8 and image.shape == shape, f"picture is {image.dtype} {image.shape}, not {shape}")
        again = task.render(World.from_text(world.text, task.space)).image
        _need(np.array_equal(image, again), "two renderings of one world differ")
    _need(repr(np.random.get_state()) == state, "the global random state was used")  # noqa: NPY002
    for name, box in layout.regions.items():
        inside = 0 <= box.left < box.right <= layout.width and 0 <= box.top < box.bottom <= layout.height
        _need(inside and name in task.space.places, f"region of {name!r} lies outside the picture")


def _small(task: Task, folder: Path) -> Dataset:
    names = [split.name for split in task.splits()]
    values = task.config.model_dump(exclude_defaults=True)
    recipe = Recipe(task.name, Settings(values), sizes=tuple((name, EXAMPLES) for name in names))
    recipe.__dict__["task"] = task  # the task at hand, also where no registry knows it
    make(recipe, folder)
    return Dataset.open(folder)


def _task_on_disk(task: Task) -> None:
    with tempfile.TemporaryDirectory() as folder:
        dataset = _small(task, Path(folder) / "data")
        for name in dataset.split_names:
            split = dataset[name]
            implied = task.knowledge.labels_of(split.concepts)
            _need(np.array_equal(split.labels, implied), f"split {name!r} has labels that the rule does not give")
            pictures = [task.render(split.world(row)).image for row in range(len(split))]
            same = np.array_equal(split.images.reshape(len(split), -1), np.stack(pictures).reshape(len(split), -1))
            _need(same, f"split {name!r} has pictures that its worlds do not give")


def _task_counterfactual(task: Task) -> None:
    world = _worlds(task, 1)[0]
    for concept in task.space.concepts:
        for value in concept.values[:3]:
            task.render(world.do({concept.name: value}))


# -- predictors whose scores are known ---------------------------------------------------------------------------------


def oracle(data: SplitData) -> Predictions:
    """Return the truth, with certainty."""
    return _hard(data, data.labels, data.concepts)


def constant(data: SplitData) -> Predictions:
    """Return, for every example, the first value of every label and concept."""
    return _hard(data, np.zeros_like(data.labels), np.zeros_like(data.concepts))


def shuffled(data: SplitData, seed: int = 0) -> Predictions:
    """Return the truth of other examples: right frequencies, no knowledge."""
    order = rng_for(seed, "shuffled", data.name).permutation(len(data))
    return _hard(data, data.labels[order], data.concepts[order])


def given_reading(data: SplitData, reading: Mapping[str, Mapping[Value, Value]]) -> Predictions:
    """Return what a model says that reads concepts this way (encoder group, then value to value) and knows the rule."""
    space = data.knowledge.space
    read = data.concepts.copy()
    for group in space.encoders:
        for name in group.concepts:
            concept, column = space.concept(name), space.place(name)
            meanings = reading.get(group.name, {})
            table = np.array([concept.code(meanings.get(value, value)) for value in concept.values])
            read[:, column] = table[data.concepts[:, column]]
    return _hard(data, data.knowledge.labels_of(read), read)


def _hard(data: SplitData, labels: Codes, concepts: Codes) -> Predictions:
    knowledge = data.knowledge
    spoken = {x.name: _certain(labels[:, i], len(x.values)) for i, x in enumerate(knowledge.labels)}
    held = {c.name: _certain(concepts[:, i], len(c.values)) for i, c in enumerate(knowledge.space.concepts)}
    return Predictions(data.fingerprint, data.name, data.index, spoken, held, {"model": "reference"})


def _certain(codes: Array, size: int) -> Answer:
    return Answer(codes, np.eye(size)[codes])


# -- metrics -----------------------------------------------------------------------------------------------------------


def _evidence(labels: Codes, concepts: Codes, said: Codes, read: Codes, knowledge: Knowledge) -> Evidence:
    spoken = tuple(np.eye(len(x.values))[said[:, i]] for i, x in enumerate(knowledge.labels))
    held = tuple(np.eye(size)[read[:, i]] for i, size in enumerate(knowledge.space.sizes))
    return Evidence(knowledge, "test", labels, concepts, said, read, spoken, held)


def known_evidence(rows: int = 400) -> dict[str, Evidence]:
    """Return the evidence of the oracle, the constant, the shuffled and a shortcut predictor on sums of two digits."""
    knowledge = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
    rng = rng_for(0, "known evidence")
    concepts = rng.integers(10, size=(rows, 2))
    labels = knowledge.labels_of(concepts)
    order = rng.permutation(rows)
    swapped = np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8])[concepts]
    nothing = np.zeros_like(concepts)
    pairs = {
        "oracle": (labels, concepts),
        "constant": (np.zeros_like(labels), nothing),
        "shuffled": (labels[order], concepts[order]),
        "shortcut": (labels, swapped),
    }
    return {name: _evidence(labels, concepts, said, read, knowledge) for name, (said, read) in pairs.items()}


def check_metric(metric: Metric) -> list[Check]:
    """Try the laws that every metric keeps."""
    known = known_evidence()
    sign = 1 if metric.better == "higher" else -1

    def oracle_is_best() -> None:
        best = metric(known["oracle"])
        for name, evidence in known.items():
            found = metric(evidence)
            worse = math.isnan(best) or math.isnan(found) or sign * best >= sign * found
            _need(worse, f"{name} scores {found}, the oracle {best}")

    def order_does_not_matter() -> None:
        evidence = known["shortcut"]
        turned = evidence.take(np.arange(len(evidence))[::-1])
        same = np.isclose(metric(evidence), metric(turned), equal_nan=True)
        _need(bool(same), f"{metric(evidence)} becomes {metric(turned)} when rows are turned round")

    def values_fit() -> None:
        if metric.values is not None:
            found = metric.values(known["shuffled"])
            _need(
                found.shape == (len(known["shuffled"]),), f"{found.shape} values for {len(known['shuffled'])} examples"
            )

    return _run(
        {
            "the oracle is best": oracle_is_best,
            "the order of examples does not matter": order_does_not_matter,
            "a value for each example": values_fit,
        }
    )


# -- models ------------------------------------------------------------------------------------------------------------


def check_model(name: str, dataset: Dataset, settings: Mapping[str, Any] | None = None) -> list[Check]:
    """Try the laws that every trained model keeps, on a dataset small enough to train on in seconds."""
    from assay.models.runs import Order, load_model, train_run

    order = Order(name, Settings({"epochs": 1, "device": "cpu", **(settings or {})}))
    with tempfile.TemporaryDirectory() as folder:
        first = train_run(order, dataset, Path(folder) / "first")
        second = train_run(order, dataset, Path(folder) / "second")
        loaded = load_model(Path(folder) / "first")
        test = dataset[dataset.split_names[-1]]
        said, again, read = first.predict(test), second.predict(test), loaded.predict(test)

        def probabilities() -> None:
            for answer in [*said.labels.values(), *said.concepts.values()]:
                _need(answer.probabilities is not None, "an answer has no probabilities")
                spread = np.asarray(answer.probabilities)
                _need(bool(np.isfinite(spread).all() and (spread >= 0).all()), "a probability is not from 0 to 1")

        def same(one: Predictions, other: Predictions) -> None:
            for label, answer in one.labels.items():
                close = np.allclose(_spread(answer), _spread(other.labels[label]), atol=1e-5)
                _need(close, f"answers for label {label!r} differ")

        def concepts() -> None:
            _need(bool(said.concepts) == first.has_concepts, "has_concepts does not say what predict does")

        def intervention() -> None:
            column = dataset.knowledge.space.names[0]
            given = np.zeros(len(test), dtype=np.int64)
            if not first.can_intervene:
                try:
                    first.predict(test, {column: given})
                except AssayError:
                    return
                raise CheckFailed("a model that cannot be intervened on took an intervention")
            set_to = first.predict(test, {column: given}).concepts[column].codes
            _need(bool((set_to == 0).all()), "a concept that was set did not stay set")

        return _run(
            {
                "answers are probabilities": probabilities,
                "same seed, same answers": lambda: same(said, again),
                "saved and loaded, same answers": lambda: same(said, read),
                "concepts as declared": concepts,
                "interventions as declared": intervention,
            }
        )


def _spread(answer: Answer) -> Array:
    return np.asarray(answer.probabilities)
