"""Theory X from 100 trains whose concepts are seen badly, by the differentiable learner.

`python -m benchmarks.alpha_ilp 0 10 [PAGE]` prints a table over seeds 0 to 9; with the name of a page it also writes it
there, between two markers. It has the accuracy on 2,000 other trains, for true concepts and for an eye that takes each
concept for another with chance 0.1. Of its two kinds, `flat` gives what it sees 0.9 whether it errs or not, and
`graded` is less sure where it errs. The last rows are the true rule on what is seen.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from assay.base import Array, Settings
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset, Recipe, make
from assay.logic import evaluate
from assay.models import MODELS, perception_of
from assay.models.symbolic.examples import most_probable_codes
from benchmarks.pages import write_between

BEGIN, END = "<!-- theory x: begin -->", "<!-- theory x: end -->"
SIZES = (("train", 100), ("valid", 20), ("test", 2000))
RATE = 0.1
MODELS_TRIED: tuple[tuple[str, dict[str, str]], ...] = (
    ("alpha-ilp", {}),
    ("alpha-ilp", {"answers": "program", "reading": "hard"}),
    ("tree", {}),
    ("mlp", {}),
)


def seen(codes: Array, size: int, kind: str, rng: np.random.Generator) -> Array:
    """Return what an eye says of a concept with these values: probabilities, of which the largest is wrong at RATE."""
    rows, true = len(codes), np.eye(size)[codes]
    if kind == "flat":
        shown = np.where(rng.random(rows) < RATE, (codes + rng.integers(1, size, rows)) % size, codes)
        return np.asarray(np.eye(size)[shown] * (1 - RATE - RATE / (size - 1)) + RATE / (size - 1))
    noise, low, high = rng.normal(size=(rows, size)), 0.05, 5.0
    for _ in range(40):
        scale = (low + high) / 2
        wrong = ((true + scale * noise).argmax(axis=1) != codes).mean()
        low, high = (scale, high) if wrong < RATE else (low, scale)
    odds = np.exp((true + scale * noise) / scale**2 - ((true + scale * noise) / scale**2).max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def write_eye(data: Dataset, folder: Path, kind: str, seed: int) -> str:
    """Write what an eye says of every split, and return where."""
    folder.mkdir()
    for number, (split, _) in enumerate(SIZES):
        part, rng = data[split], np.random.default_rng([seed, number])
        concepts = enumerate(part.knowledge.space.concepts)
        said = {c.name: Prediction.of(seen(part.concepts[:, at], len(c.values), kind, rng)) for at, c in concepts}
        Predictions(part.fingerprint, split, part.index, {}, said).write(folder / f"{split}.parquet", data.knowledge)
    return str(folder)


def rows_of(seed: int, folder: Path) -> Iterator[tuple[str, str, float, float]]:
    """Give for each way of seeing and each model the accuracy and the processor seconds."""
    make(Recipe("trains", Settings({"image": False}), sizes=SIZES, seed=seed), folder / "data")
    data = Dataset.open(folder / "data")
    test, space = data["test"], data.knowledge.space
    label = data.knowledge.labels[0]
    for kind in ("clean", "flat", "graded"):
        eye = None if kind == "clean" else write_eye(data, folder / kind, kind, seed)
        for name, settings in MODELS_TRIED:
            model = MODELS[name](data.knowledge, data.layout, Settings({**settings, "perception": eye}), {}, seed)
            began = time.process_time()
            model.learn(model.examples(data["train"]))
            spent = time.process_time() - began
            right = model.predict(test).labels[label.name].codes == test.labels[:, 0]
            yield kind, " ".join([name, *map(str, settings.values())]), float(right.mean()), spent
        held = evaluate(label.formula, space, most_probable_codes(perception_of(eye).probabilities(test)))
        yield kind, "the true rule", float((held.astype(int) == test.labels[:, 0]).mean()), 0.0


def written(first: int, last: int) -> str:
    """Return the table."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            for kind, name, accuracy, seconds in rows_of(seed, Path(folder)):
                found.setdefault((kind, name), []).append((accuracy, seconds))
    lines = ["| concepts | model | accuracy | least | CPU seconds |", "| --- | --- | --- | --- | --- |"]
    for (kind, name), pairs in found.items():
        accuracies, seconds_spent = np.array(pairs).T
        cell = f"{accuracies.mean():.3f} ± {accuracies.std():.3f} | {accuracies.min():.3f}"
        lines.append(f"| {kind} | {name} | {cell} | {np.median(seconds_spent):.1f} |")
    return "\n".join(lines)


def main(first: int, last: int, pages: Sequence[str]) -> None:
    text = written(first, last)
    print(text)
    write_between(pages, BEGIN, END, text)


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:3] or ("0", "10")), sys.argv[3:])
