"""What a machine says of concepts, for `assay annotate` and for the challenges of a study."""

from pathlib import Path
from typing import Any

import numpy as np

from assay.base import ConfigError, DataError, ProgressCallback
from assay.dataset import Dataset
from assay.exchange import Annotation, Machine, likeliest_codes, read_scores
from assay.models import reader_for
from assay.runs import RunFolder


def machine_of(annotation: Annotation, dataset: Dataset, report: ProgressCallback = lambda *_: None) -> Machine | None:
    """Return a machine that reads, scores of a CSV file, or predicted concepts of a file or of a run."""
    reader = reader_for(annotation.machine, annotation.reader, report)
    if reader is not None or annotation.machine is None:
        return reader
    path = Path(annotation.machine)
    if path.suffix == ".csv":
        return read_scores(path)
    if isinstance(annotation.threshold, str):
        raise ConfigError(f"threshold: {annotation.threshold!r} is for a CSV of scores; give a probability")
    codes: dict[str, Any] = {}
    for split, predictions in RunFolder(path).all_predictions(dataset.knowledge).items():
        if predictions.fingerprint != dataset.fingerprint:
            raise DataError(
                f"{str(path)!r} is about a dataset with fingerprint {predictions.fingerprint}, not this one"
            )
        size = 1 + max(int(predictions.index.max(initial=-1)), int(dataset.symbols(split).index.max()))
        codes[split] = np.full((size, len(dataset.knowledge.space)), -1)
        for place, concept in enumerate(dataset.knowledge.space.concepts):
            answer = predictions.concepts.get(concept.name)
            if answer is None:
                raise DataError(f"{str(path)!r} has no concept {concept.name!r} in split {split!r}")
            known = answer.codes
            if answer.probabilities is not None and annotation.threshold is not None:
                known = likeliest_codes(answer.probabilities, concept, annotation.threshold)
            codes[split][predictions.index, place] = known
    return codes
