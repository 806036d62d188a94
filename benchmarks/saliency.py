"""Do saliency maps fall where models look? Planted marks and exact masks, on three tasks, by four methods.

`python -m benchmarks.saliency docs/saliency.md` prints the table and writes it into the page, between two markers
(minutes on one core). Each model is trained once; on `robots` it is the same task with a watermark that goes with the
label in training, and with one that does not.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of small networks wait for one another; before torch reads it

import numpy as np

import assay
from assay.api.explanations import draw_over
from assay.metrics import SaliencyScore
from assay.render import encode_png
from benchmarks.pages import publish

BEGIN, END = "<!-- saliency: begin -->", "<!-- saliency: end -->"
EXAMPLES = 100
SHOWN, EDGE = 4, ((8, 8), (8, 8), (0, 0))
"""How many maps are drawn, and the white around each."""
SETTINGS: Mapping[str, Any] = {"device": "cpu", "check": "all", "check_examples": 40, "pictures": 0}
SPLITS = {"valid": 300, "test": 300, "hard": 0, "pairs": 0}


@dataclass(frozen=True)
class Setup:
    """A task with its settings, a model and how it is trained; and what the row of the table says of the data."""

    task: str
    data: Mapping[str, Any]
    model: str
    epochs: int
    said: str = ""


def _watermark(where: Mapping[str, Any]) -> dict[str, Any]:
    return {"n": 1500, "confound": [{"what": "watermark", "with": "glorp", "strength": 0.95, **where}]}


SETUPS = (
    Setup("robots", _watermark({}), "blackbox", 12, "watermark goes with the label"),
    Setup("robots", _watermark({"where": []}), "blackbox", 12, "watermark is free"),
    Setup("cocologic", {"n": 1500, "width": 64, "height": 64}, "cbm", 20),
    Setup("kand-logic", {"n": 1500, "side": 32, "masks": True}, "cbm", 20),
)


def _train(setup: Setup, folder: Path) -> assay.Run:
    """Make the data and train the model."""
    data = assay.make(setup.task, folder / "data", splits=SPLITS, progress=False, workers=1, **setup.data)
    return assay.train(setup.model, data, folder / "run", epochs=setup.epochs, device="cpu", progress=False)


def run_setup(setup: Setup, folder: Path) -> Iterator[str]:
    """Yield the rows of one setup."""
    start = time.perf_counter()
    run = _train(setup, folder)
    data = run.dataset
    scored = assay.score(data, run, metrics=["label_accuracy", "concept_accuracy"])["test"]
    known = [f"labels {scored['label_accuracy'].value:.2f}"]
    if setup.model != "blackbox":
        known.append(f"concepts {scored['concept_accuracy'].value:.2f}")
    print(f"{setup.task}: {', '.join(known)}, {time.perf_counter() - start:.0f} s", flush=True)
    title = f"`{setup.task}`{f', {setup.said}' if setup.said else ''}; `{setup.model}` ({', '.join(known)})"
    for method in ("integrated-gradients", "grad-cam", "occlusion", "input-gradient"):
        found = assay.saliency(run, data, method, n=EXAMPLES, **SETTINGS)
        similarity = "" if found.check is None else f"{found.check.stages[-1].similarity:.2f}, {found.check.witness}"
        for maps, scores in _groups(found.scores):
            yield f"| {title} | `{method}` | {maps} | {_cells(scores)} | {similarity} |"
            title = ""
        print(f"  {method}: {time.perf_counter() - start:.0f} s", flush=True)


def _groups(scores: tuple[SaliencyScore, ...]) -> Iterator[tuple[str, list[SaliencyScore]]]:
    """Yield the scores of labels on concepts, of concepts on themselves, and of labels on marks."""
    for kind, words in (("label", "labels on their concepts"), ("concept", "concepts on themselves")):
        some = [score for score in scores if score.kind == kind and not score.is_mark]
        if some:
            yield words, some
    for mark in dict.fromkeys(score.place for score in scores if score.is_mark):
        yield f"labels on the {mark}", [s for s in scores if s.kind == "label" and s.place == mark]


def _cells(scores: list[SaliencyScore]) -> str:
    """Return the means over targets: pointing, energy, rank, chance, and the energy of the untrained network."""
    parts = [[s.pointing.value for s in scores], [s.energy.value for s in scores], [s.rank.value for s in scores]]
    parts += [[s.chance for s in scores], [s.untrained for s in scores if s.untrained is not None]]
    return " | ".join(f"{sum(part) / len(part):.2f}" if part else "" for part in parts)


def draw_sheet(path: Path) -> None:
    """Draw integrated gradients of the two black boxes over the same robots, a row each."""
    rows = []
    for setup in SETUPS[:2]:
        with tempfile.TemporaryDirectory() as folder:
            found = assay.saliency(_train(setup, Path(folder)), **{**SETTINGS, "check": "none", "pictures": SHOWN})
            pairs = zip(found.shown.images, found.maps[0], strict=True)
            rows.append(np.concatenate([np.pad(draw_over(*pair), EDGE, constant_values=255) for pair in pairs], axis=1))
    path.write_bytes(encode_png(np.concatenate(rows)))


def main() -> None:
    """Print the table, and put it into the pages that were named, with a picture beside each."""
    lines = [
        "| data; model (accuracy) | method | maps of | pointing | energy | rank | chance | untrained | check |",
        f"| {' | '.join(['---'] * 9)} |",
    ]
    for setup in SETUPS:
        with tempfile.TemporaryDirectory() as folder:
            lines += run_setup(setup, Path(folder))
    publish("\n".join(lines), BEGIN, END)
    for page in sys.argv[1:]:
        draw_sheet(Path(page).parent / "images" / "saliency.png")


if __name__ == "__main__":
    main()
