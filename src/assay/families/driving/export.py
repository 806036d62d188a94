"""Writing driving scenes as BDD-OIA comes: images, and for each split a file of actions and a file of reasons.

The folder goes back in with `assay make bdd-oia --set folder=FOLDER`, and into any program that reads BDD-OIA.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.base import DataError, write_atomically
from assay.dataset import Dataset, SplitData
from assay.families.driving.bdd_files import PARTS
from assay.families.driving.rules import ACTIONS, CONCEPTS


def write_bdd(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a driving dataset; return how many examples of each. BDD-OIA knows of no emergency."""
    knowledge = dataset.knowledge
    if not set(CONCEPTS) <= set(knowledge.space.names) or not set(ACTIONS) <= set(knowledge.label_names):
        raise DataError(f"{str(dataset.folder)!r} is of task {dataset.name!r}; only driving can be written as BDD-OIA")
    return {name: _write_split(dataset[name], folder) for name in splits}


def _write_split(data: SplitData, folder: Path) -> int:
    space, labels = data.knowledge.space, data.knowledge.label_names
    concepts = data.concepts[:, [space.place(name) for name in CONCEPTS]].tolist()
    actions = data.labels[:, [labels.index(name) for name in ACTIONS]].tolist()
    images, notes, reasons = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for place, number in enumerate(data.index.tolist()):
        file = f"{data.name}-{number:06d}.png"
        write_atomically(folder / "data" / file, data.files([place])[0])
        images.append({"id": place, "file_name": file})
        notes.append({"id": place, "category": [*actions[place], 0]})
        reasons.append({"file_name": file, "reason": concepts[place]})
    stem = f"{PARTS.get(data.name, data.name)}_25k_images"
    write_atomically(folder / f"{stem}_actions.json", _json({"images": images, "annotations": notes}))
    write_atomically(folder / f"{stem}_reasons.json", _json(reasons))
    return len(images)


def _json(data: Any) -> bytes:
    return (json.dumps(data) + "\n").encode()
