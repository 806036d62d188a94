"""Where maps should fall, and where not: masks of the concepts, and the areas of marks that confound."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.base import Array, join_first
from assay.dataset import Dataset, SplitData, confounders_of
from assay.diagnosis import used_concepts
from assay.logic import Knowledge
from assay.metrics import SaliencyScore, ScoredTarget
from assay.models.explain.saliency.concept_masks import ConceptMasks
from assay.models.explain.saliency.examined import SaliencyTarget
from assay.render import mark_area

OWN, RULE = "the concept", "its concepts"
WHOLE = 0.999


@dataclass(frozen=True)
class SaliencyPlaces:
    """The masks that the maps of targets are scored on."""

    targets: Sequence[SaliencyTarget]
    used: Mapping[str, tuple[str, ...]]
    """The concepts that the rule of each label uses."""
    marks: Mapping[str, Array]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, dataset: Dataset, data: SplitData, targets: Sequence[SaliencyTarget]) -> "SaliencyPlaces":
        """Return the places that are known of a dataset."""
        marks, notes = _marks(dataset, data)
        if not ConceptMasks(data[:0]).kind:
            notes.append(
                f"{str(dataset.folder)!r} has no masks, no boxes and no regions of its concepts: maps are not scored "
                "on them; -o FOLDER draws the maps."
            )
        knowledge = dataset.knowledge
        used = {label.name: _used(knowledge, place) for place, label in enumerate(knowledge.labels)}
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


def _used(knowledge: Knowledge, place: int) -> tuple[str, ...]:
    """Return the concepts that a label depends on."""
    alone = replace(knowledge, labels=(knowledge.labels[place],))
    return tuple(knowledge.space.names[column] for column in sorted(used_concepts(alone)))


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
