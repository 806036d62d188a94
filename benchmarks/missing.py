"""What missing concept annotations cost: every concept model on three pixels, and a bottleneck on handwritten bits.

`python -m benchmarks.missing models` prints the first table, `python -m benchmarks.missing bits` the second; with the
name of a page that has the markers it also writes it there. Gaps are those of `assay annotate`: completely at random
(`mcar`), or thrice as often where a concept is true (`mnar`).
"""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of small networks wait for one another; before torch reads it

import numpy as np

from assay.base import Array, Settings, validate
from assay.dataset import Dataset, make, recipe_from
from assay.exchange import Annotation, annotate
from benchmarks.pages import write_between

MODELS_TRIED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "`cbm` joint": ("cbm", {}),
    "sequential": ("cbm", {"mode": "sequential"}),
    "independent": ("cbm", {"mode": "independent"}),
    "`cem`": ("cem", {}),
    "`probcbm`": ("probcbm", {}),
    "`ecbm`": ("ecbm", {}),
    "`dcr`": ("dcr", {}),
}
GAPS = {
    "none": ("mcar", 0.0),
    "60 %, thrice as often where true": ("mnar", 0.6),
    "95 % at random": ("mcar", 0.95),
}
FORMULA = {"k": 3, "formula": "a and b or c", "prop_in_distribution": 1.0}
PIXELS = {**FORMULA, "pixels": True, "splits": {"train": 256, "valid": 64, "test": 64, "hard": 0}}
BITS = {**FORMULA, "splits": {"train": 500, "valid": 200, "test": 500, "hard": 0}}
SHORT = {"learning_rate": 0.01, "batch_size": 32, "epochs": 15}
SHARES = (0.0, 0.6, 0.9)
SEEDS = 2


def with_gaps(data: Dataset, folder: Path, mechanism: str, share: float) -> Dataset:
    """Return a copy of the data without so many annotations, in training and validation."""
    wanted = {"missing": share, "mechanism": mechanism, "splits": ["train", "valid"]}
    annotate(data, validate(Annotation, Settings(wanted)), folder)
    return Dataset.open(folder)


def accuracies(data: Dataset, model: str, settings: Mapping[str, Any], seed: int) -> Array:
    """Return the accuracy of labels and of concepts on the test split."""
    from assay.models import MODELS

    network = MODELS[model](data, settings={"device": "cpu", **settings}, seed=seed)
    network.fit(data["train"], data["valid"])
    test, said = data["test"], network.answers(data["test"], {})
    concepts = [np.mean(own.argmax(axis=1) == test.concepts[:, i]) for i, own in enumerate(said.concepts)]
    return np.array([np.mean(said.labels[0].argmax(axis=1) == test.labels[:, 0]), np.mean(concepts)])


def table_of_models(folder: Path) -> str:
    """Return percentages of labels / concepts that are right, a row a way to miss and a column a model."""
    make(recipe_from("mnlogic", Settings(PIXELS)), folder / "data")
    lines = [f"| missing | {' | '.join(MODELS_TRIED)} |", "| --- " * (len(MODELS_TRIED) + 1) + "|"]
    for place, (name, gaps) in enumerate(GAPS.items()):
        data = with_gaps(Dataset.open(folder / "data"), folder / str(place), *gaps)
        cells = []
        for model, settings in MODELS_TRIED.values():
            labels, concepts = np.mean(
                [accuracies(data, model, {**SHORT, **settings}, s) for s in range(SEEDS)], axis=0
            )
            cells.append(f"{100 * labels:.0f} / {100 * concepts:.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_bits(folder: Path) -> str:
    """Return concept accuracy / label accuracy of an independent bottleneck, a row a mechanism and a column a share."""
    make(recipe_from("mnlogic", Settings(BITS)), folder / "data")
    lines = [f"| `missing` | {' | '.join(f'{share:g}' for share in SHARES)} |", "| --- " * (len(SHARES) + 1) + "|"]
    for mechanism in ("mcar", "mnar"):
        cells = []
        for share in SHARES:
            data = with_gaps(Dataset.open(folder / "data"), folder / f"{mechanism}-{share}", mechanism, share)
            labels, concepts = accuracies(data, "cbm", {"mode": "independent"}, 0)
            cells.append(f"{concepts:.3f} / {labels:.3f}")
        lines.append(f"| `{mechanism}` | {' | '.join(cells)} |")
    return "\n".join(lines)


TABLES = {"models": table_of_models, "bits": table_of_bits}


def main(name: str, pages: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = TABLES[name](Path(folder))
    print(text)
    write_between(pages, f"<!-- missing {name}: begin -->", f"<!-- missing {name}: end -->", text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
