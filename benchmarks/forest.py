"""An entry of the suite by another framework: random forests of scikit-learn on pixels, written with pandas alone.

`python -m benchmarks.forest SUITE ENTRY` reads the data in SUITE (of `assay suite make`) and writes the folder for
`assay suite score ENTRY --data SUITE`.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

import assay

SEEDS = (0, 1, 2)
TREES = 100
WIDTH = 32
"""Pictures are averaged down to about so many pixels in a row, so that forests stay small."""


def features(split: assay.SplitData) -> np.ndarray:
    """Return the pixels of a split's pictures, a row for each."""
    images = np.asarray(split.images, dtype=np.float32)
    images = images.reshape(len(images), *images.shape[1:3], -1)
    step = max(1, images.shape[2] // WIDTH)
    high, wide = (size // step * step for size in images.shape[1:3])
    blocks = images[:, :high, :wide].reshape(len(images), high // step, step, wide // step, step, -1)
    return blocks.mean(axis=(2, 4)).reshape(len(images), -1)


def main(suite: Path, entry: Path) -> None:
    """Train a forest for each dataset, seed and label, and write its probabilities."""
    start = time.perf_counter()
    for folder in sorted(path for path in (suite / "data").iterdir() if path.is_dir()):
        data = assay.load(folder)
        pictures = {name: features(data[name]) for name in ("train", *answered(data))}
        for seed in SEEDS:
            forests = [fit(pictures["train"], column, seed) for column in data["train"].labels.T]
            for name in answered(data):
                write(data, name, forests, pictures[name], entry / folder.name / f"seed{seed}")
        print(f"{folder.name}: {time.perf_counter() - start:.0f} s", flush=True)
    facts = {
        "suite": "assay-1",
        "name": "sklearn-forest",
        "level": "labels",
        "seeds": list(SEEDS),
        "trained_on": "[train]",
    }
    (entry / "entry.yaml").write_text("".join(f"{key}: {value}\n" for key, value in facts.items()))


def answered(data: assay.Dataset) -> list[str]:
    """Return the splits that an entry answers."""
    return [*(name for name in data.split_names if name not in ("train", "valid")), *(["pairs"] if data.pairs else [])]


def fit(pictures: np.ndarray, codes: np.ndarray, seed: int) -> RandomForestClassifier:
    """Return a forest for a label, given as codes of its values."""
    return RandomForestClassifier(TREES, random_state=seed, n_jobs=2).fit(pictures, codes)


def write(
    data: assay.Dataset, name: str, forests: list[RandomForestClassifier], pictures: np.ndarray, folder: Path
) -> None:
    """Write the predictions file of a split."""
    split = data[name]
    frame = pd.DataFrame({"index": split.index, "split": name, "fingerprint": data.fingerprint})
    for label, forest in zip(data.knowledge.labels, forests, strict=True):
        shares = np.zeros((len(split), len(label.values)))
        shares[:, forest.classes_] = forest.predict_proba(pictures)
        frame[f"label_{label.name}_probabilities"] = list(shares)
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(folder / f"{name}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
