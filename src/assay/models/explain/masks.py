"""Which pixels show which concept, and where maps are scored: on masks of concepts, and on the areas of marks.

A concept shows where things of its name are (`e4`, `person`). A concept of a slot shows in the part of that name
(`car1/roof` for `car1.roof`) where the picture has one, and else on the whole object (`car1`). Where no thing shows a
concept, its region of the layout does, if there is one. Pixels are those of exact masks, of boxes, or of the regions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, join_first
from assay.dataset import Dataset, SplitData, confounders_of
from assay.metrics import SaliencyScore, ScoredTarget
from assay.models.explain.examined import SaliencyTarget
from assay.render import ObjectBox, mark_area

OWN, RULE = "the concept", "its concepts"
WHOLE = 0.999


class ConceptMasks:
    """The masks of concepts in the pictures of a split, which are decoded as a whole: give it few rows at a time."""

    def __init__(self, data: SplitData) -> None:
        self.data = data
        self.things: Sequence[Sequence[ObjectBox]] = data.things if "things" in data.columns else [()] * len(data)
        self.slots = {name: slot.name for slot in data.knowledge.space.slots for name in slot.concepts}

    @property
    def kind(self) -> str:
        """What the masks come from: `masks`, `boxes` or `regions`; nothing where the data has none of them."""
        if "things" in self.data.columns:
            return "masks" if "instances" in self.data.columns else "boxes"
        return "regions" if self.data.layout.regions else ""

    def of_concept(self, name: str) -> Array:
        """Return which pixels of each picture show a concept; none of a picture where it does not show."""
        masks = self._empty()
        for row, things in enumerate(self.things):
            for number in self._numbers(name, things):
                masks[row] |= self._thing(row, number)
        region = self.data.layout.regions.get(name)
        if region is not None:
            hidden = ~masks.any(axis=(1, 2))
            masks[hidden, region.top : region.bottom, region.left : region.right] = True
        return masks

    def of_concepts(self, names: Iterable[str]) -> Array:
        """Return which pixels of each picture show any of some concepts."""
        masks = self._empty()
        for name in names:
            masks |= self.of_concept(name)
        return masks

    def _empty(self) -> Array:
        return np.zeros((len(self.data), self.data.layout.height, self.data.layout.width), dtype=bool)

    def _numbers(self, name: str, things: Sequence[ObjectBox]) -> list[int]:
        """Return the numbers of the things that show a concept in a picture."""
        slot = self.slots.get(name)
        wanted = [name] if slot is None else [name, f"{slot}/{name.removeprefix(f'{slot}.')}", slot]
        for candidate in wanted:
            numbers = [number for number, thing in enumerate(things, start=1) if thing.name == candidate]
            if any(_is_seen(things[number - 1]) for number in numbers):
                return numbers
        return []

    def _thing(self, row: int, number: int) -> Array:
        """Return the pixels of a thing: those of its mask, or else of its box."""
        thing = self.things[row][number - 1]
        column = "parts" if "/" in thing.name else "instances"
        if column in self.data.columns:
            return np.asarray((self.data.parts if column == "parts" else self.data.instances)[row] == number)
        mask, box = np.zeros((self.data.layout.height, self.data.layout.width), dtype=bool), thing.box
        mask[max(0, box.top) : max(0, box.bottom), max(0, box.left) : max(0, box.right)] = True
        return mask


def _is_seen(thing: ObjectBox) -> bool:
    """Return whether a thing has pixels in the picture."""
    return thing.box.right > thing.box.left and thing.box.bottom > thing.box.top


@dataclass(frozen=True)
class SaliencyPlaces:
    """The masks that the maps of targets are scored on."""

    targets: Sequence[SaliencyTarget]
    used: Mapping[str, Sequence[str]]
    marks: Mapping[str, Array]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, dataset: Dataset, data: SplitData, targets: Sequence[SaliencyTarget], used: Mapping[str, Sequence[str]]
    ) -> "SaliencyPlaces":
        """Return the places that are known of a dataset, given the concepts that the rule of each label uses."""
        marks, notes = _marks(dataset, data)
        if not ConceptMasks(data[:0]).kind:
            notes.append(
                f"{str(dataset.folder)!r} has no masks, no boxes and no regions of its concepts: maps are not scored "
                "on them; -o FOLDER draws the maps."
            )
        return cls(targets, used, marks, tuple(notes))

    def masks(self, data: SplitData) -> Iterator[tuple[int, ScoredTarget, Array]]:
        """Yield for each target, by its place, what its maps are scored on, and the masks of some examples."""
        concepts = ConceptMasks(data)
        for place, target in enumerate(self.targets):
            if concepts.kind:
                names = self.used[target.name] if target.kind == "label" else (target.name,)
                scored = ScoredTarget(target.title, target.kind, RULE if target.kind == "label" else OWN)
                yield place, scored, concepts.of_concepts(names)
            for name, area in self.marks.items():
                scored = ScoredTarget(target.title, target.kind, name, is_mark=True)
                yield place, scored, np.broadcast_to(area, (len(data), *area.shape))

    def missing(self, scores: Sequence[SaliencyScore], unseen: Sequence[ScoredTarget]) -> list[str]:
        """Say which masks cover all of every picture, and which targets have no pixels to be scored on."""
        whole = [score.target for score in scores if score.chance > WHOLE]
        hidden = [scored.target for scored in unseen if not scored.is_mark]
        verb = "covers" if len(whole) == 1 else "cover"
        return [
            *([f"What shows {join_first(whole)} {verb} the whole picture: these scores say nothing."] if whole else []),
            *(
                [f"Not scored, since no pixels show them or all maps are blank: {join_first(hidden)}."]
                if hidden
                else []
            ),
        ]


def _marks(dataset: Dataset, data: SplitData) -> tuple[dict[str, Array], list[str]]:
    """Return the areas of the marks that confound a dataset, and which confounders have none."""
    areas, notes = dict[str, Array](), list[str]()
    for coupling in confounders_of(dataset):
        area = mark_area(coupling.name, coupling.count, data.picture_shape)
        if area is None:
            notes.append(f"Confounder {coupling.name!r} has no place of its own in the picture: it is not scored.")
        else:
            areas[coupling.name] = area
    return areas, notes
