"""The laws of tasks."""

import tempfile
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from assay.base import Settings
from assay.dataset import Dataset, Recipe, make
from assay.logic import Knowledge, parse
from assay.render import Layout, Picture
from assay.tasks import Task
from assay.testing.checks import LawOutcome, need, try_laws
from assay.worlds import Source, Split, World

EXAMPLES = 12
DRAWN_TWICE = 4
"""How many worlds of a split are rendered twice at once; the others a second time by `make`."""
FEW_WORLDS = 20_000


def check_task(task: Task) -> list[LawOutcome]:
    """Try the laws that every task keeps; `require` turns a failure into an error."""
    trial = _Trial(task)
    return try_laws(
        {
            "the rule survives being written and read": lambda: _task_rule(task),
            "small spaces: diagram equals brute force": lambda: _task_counts(task),
            "splits hold worlds of two labels or more": lambda: _task_splits(trial),
            "splits that say so share no world": lambda: _task_disjoint(trial),
            "same seed, same world": lambda: _task_styles(trial),
            "render draws nothing and fits the layout": lambda: _task_pictures(trial),
            "labels follow from the rule on disk": lambda: _task_on_disk(trial),
            "a changed concept can be rendered": lambda: _task_counterfactual(trial),
        }
    )


class _Trial:
    """A task with what several laws look at: its sources, its first worlds and their pictures."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.pictures = dict[str, Picture]()

    @cached_property
    def sources(self) -> dict[str, Source]:
        return {split.name: self.task.source_for(split, 0) for split in self.task.splits()}

    @cached_property
    def worlds(self) -> dict[str, list[World]]:
        """The first worlds of each split, styles drawn as `assay make` draws them."""
        return {name: _first_worlds(source) for name, source in self.sources.items()}

    def picture(self, world: World) -> Picture:
        """Return the picture of a world, rendered when it is first asked for."""
        if world.text not in self.pictures:
            self.pictures[world.text] = self.task.render(world)
        return self.pictures[world.text]


def _first_worlds(source: Source) -> list[World]:
    places = np.arange(min(EXAMPLES, source.split.size))
    worlds = source.worlds(places)
    alone = [source.worlds(places[[place]])[0] for place in (0, len(places) - 1)]
    need(alone == [worlds[0], worlds[-1]], f"a world of split {source.split.name!r} depends on those drawn with it")
    need([list(w.codes) for w in worlds] == source.codes(places).tolist(), "worlds and codes of a split differ")
    return worlds


def _task_rule(task: Task) -> None:
    knowledge = task.knowledge
    need(Knowledge.from_dict(knowledge.to_dict()) == knowledge, "knowledge changes when written and read")
    for label in knowledge.labels:
        need(parse(str(label.formula)) == label.formula, f"label {label.name!r} changes when written and read")


def _task_counts(task: Task) -> None:
    knowledge = task.knowledge
    if knowledge.space.worlds > FEW_WORLDS:
        return
    codes = knowledge.space.all_codes()
    brute_force = np.bincount(knowledge.diagram.outcome_of(codes), minlength=len(knowledge.diagram.outcomes))
    counted = list(knowledge.diagram.counts.values())
    need(brute_force.tolist() == counted, f"the diagram counts {counted}, brute force {brute_force.tolist()}")
    labels = knowledge.labels_of(codes)
    for place, label in enumerate(knowledge.labels):
        by_numpy = [label.values[code] for code in labels[:, place]]
        outcomes = [knowledge.diagram.outcomes[i][place] for i in knowledge.diagram.outcome_of(codes)]
        need(by_numpy == outcomes, f"label {label.name!r}: numpy and diagram disagree")


def _task_splits(trial: _Trial) -> None:
    names = [split.name for split in trial.task.splits()]
    need(len(set(names)) == len(names), f"two splits have one name: {names}")
    for source in trial.sources.values():
        codes = source.codes(np.arange(min(200, source.split.size)))
        need(bool(source.contains(codes).all()), f"split {source.split.name!r} deals worlds that are not its own")


def _task_disjoint(trial: _Trial) -> None:
    sources = trial.sources
    for source in sources.values():
        codes = source.codes(np.arange(min(500, source.split.size)))
        for other in source.split.disjoint_from:
            need(not sources[other].contains(codes).any(), f"{source.split.name!r} shares worlds with {other!r}")


def _task_styles(trial: _Trial) -> None:
    first, second = (chain(*each.worlds.values()) for each in (trial, _Trial(trial.task)))
    for world, drawn_again in zip(first, second, strict=True):
        need(world.text == drawn_again.text, "two draws with one seed differ")
        again = World.from_text(world.text, trial.task.space)
        need(again.text == world.text and again.codes == world.codes, f"text {world.text!r} reads back differently")


def _task_pictures(trial: _Trial) -> None:
    task, layout = trial.task, trial.task.layout
    shape = (layout.height, layout.width) if layout.channels == 1 else (layout.height, layout.width, layout.channels)
    state = repr(np.random.get_state())  # noqa: NPY002 - to see that nobody uses it
    for world in chain(*trial.worlds.values()):
        picture = trial.picture(world)
        image = picture.image
        if "image" in task.columns:
            fits = image.dtype == np.uint8 and image.shape == shape
            need(fits, f"picture is {image.dtype} {image.shape}, not {shape}")
        _task_things(picture, layout)
    for world in chain(*(worlds[:DRAWN_TWICE] for worlds in trial.worlds.values())):
        picture, again = trial.picture(world), task.render(World.from_text(world.text, task.space))
        need(np.array_equal(picture.image, again.image), "two renderings of one world differ")
        need((picture.text, picture.things) == (again.text, again.things), "two descriptions of one world differ")
    need(repr(np.random.get_state()) == state, "the global random state was used")  # noqa: NPY002
    finer = task.knowledge.subconcepts
    names = {*task.space.names, *(() if finer is None else finer.space.names)}
    for name, box in layout.regions.items():
        inside = 0 <= box.left < box.right <= layout.width and 0 <= box.top < box.bottom <= layout.height
        need(inside and name in names, f"region of {name!r} lies outside the picture")


def _task_things(picture: Picture, layout: Layout) -> None:
    for thing in picture.things:
        box = thing.box
        inside = 0 <= box.left <= box.right <= layout.width and 0 <= box.top <= box.bottom <= layout.height
        need(inside, f"the box of {thing.name!r} lies outside the picture")
    for name, array in (("instances", picture.instances), ("parts", picture.parts), ("depth", picture.depth)):
        if array is not None:
            need(array.shape == picture.image.shape[:2], f"{name} do not fit the picture: {array.shape}")
    for map_ in (picture.instances, picture.parts):
        need(map_ is None or int(map_.max(initial=0)) <= len(picture.things), "an instance or a part has no name")


def _few(split: Split) -> int:
    return split.size if split.quota and split.quota.is_set else min(split.size, EXAMPLES)


def _small(task: Task, folder: Path) -> Dataset:
    sizes = tuple((split.name, _few(split)) for split in task.splits())
    values = task.config.model_dump(exclude_defaults=True)
    recipe = Recipe(task.name, Settings(values), sizes=sizes)
    recipe.__dict__["task"] = task  # the task at hand, also where no registry knows it
    make(recipe, folder)
    return Dataset.open(folder)


def _task_on_disk(trial: _Trial) -> None:
    task = trial.task
    with tempfile.TemporaryDirectory() as folder:
        dataset = _small(task, Path(folder) / "data")
        for name in dataset.split_names:
            split = dataset[name]
            need(bool(split.lawful.all()), f"split {name!r} has labels that the rule does not give")
            pictures = [trial.picture(split.world(row)) for row in range(len(split))]
            if "image" in task.columns:
                drawn = np.stack([picture.image for picture in pictures]).reshape(len(split), -1)
                same = np.array_equal(split.images.reshape(len(split), -1), drawn)
                need(same, f"split {name!r} has pictures that its worlds do not give")
            if "text" in task.columns:
                need(split.texts == [p.text for p in pictures], f"split {name!r} has texts that its worlds do not give")


def _task_counterfactual(trial: _Trial) -> None:
    task, world = trial.task, next(iter(trial.worlds.values()))[0]
    for concept in task.space.concepts:
        for value in concept.values[:3]:
            other = task.change_world(world, {concept.name: value})
            if other is not None:
                need(other[concept.name] == value, f"a change of {concept.name!r} to {value!r} was not made")
                task.render(other)
