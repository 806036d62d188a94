"""What a round is trained on and how: the dataset with what was bought, and the settings that this needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import Codes
from assay.contracts import MENDING
from assay.dataset import Dataset, SplitData
from assay.exchange import Annotation, annotate
from assay.lab.acquisition.additions import add_examples
from assay.lab.acquisition.holdings import Holdings
from assay.lab.acquisition.redrawing import TrainingRedraw
from assay.lab.acquisition.situation import MendSettings

ALL_SUPERVISED = {"supervised_concepts": None, "supervised_values": None, "supervised_share": 1.0}
"""Of a round that learns from bought labels: those that there are, and no others, are in its dataset."""


@dataclass(frozen=True)
class RoundData:
    """What there was at first, and what there is now."""

    dataset: Dataset
    first: Holdings
    now: Holdings
    settings: MendSettings

    @property
    def has_labels(self) -> bool:
        """Whether concept labels were bought."""
        return self.now.labels > self.first.labels

    def write(self, folder: Path) -> Dataset:
        """Write the dataset of the round and open it; where nothing was bought that a dataset holds, the first one."""
        if self.has_labels:
            return self._write_labels(folder)
        if self.now.redrawn or self.now.fresh:
            return self._write_examples(folder)
        return self.dataset

    def model_settings(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of the first run, with those that what was bought needs."""
        now, settings, updates = self.now, self.settings, dict[str, Any]()
        if self.has_labels:
            weight = config["concept_weight"] or settings.concept_weight
            updates = {**ALL_SUPERVISED, "concept_weight": weight, "supervised_replay": settings.replay}
        elif "keeps" in config:  # validation shares the confounder
            updates = {"keeps": "last"}
        if now.nuisances:
            updates |= {"group_step": settings.group_step, "group_examples": now.nuisances}
        if now.masks:
            updates |= {"reasons_weight": settings.reasons_weight, "reasons_examples": now.masks}
        return {**config, **updates}

    def _write_labels(self, folder: Path) -> Dataset:
        """Write a copy whose annotated concepts are those that were bought.

        Validation keeps its annotated concepts only if the first run learned from some; else it has none either.
        """
        train, valid = self.dataset["train"], self.dataset["valid"]
        given = {"train": _by_index(train, self.now.concepts)}
        if not self.first.labels:
            given["valid"] = _by_index(valid, np.full(valid.concepts.shape, -1))
        annotate(self.dataset, Annotation.model_validate({"splits": list(given)}), folder, given, MENDING)
        return Dataset.open(folder)

    def _write_examples(self, folder: Path) -> Dataset:
        """Write a copy with the examples that were drawn anew."""
        drawing, now = TrainingRedraw(self.dataset, self.settings.clean), self.now
        tables = [drawing.redraw(np.array(now.redrawn))] if now.redrawn else []
        tables += [drawing.draw_further(now.fresh, len(now.redrawn))] if now.fresh else []
        about = {"redrawn": list(now.redrawn), "fresh": now.fresh}
        add_examples(self.dataset, pa.concat_tables(tables), folder, about)
        return Dataset.open(folder)


def _by_index(data: SplitData, codes: Codes) -> Codes:
    """Return codes in the places of the examples' numbers, as annotations by a machine are given."""
    placed = np.full((1 + int(data.index.max(initial=-1)), codes.shape[1]), -1)
    placed[data.index] = codes
    return placed
