"""Scores and verdicts of a million examples: equal rows counted, against a row for each example.

`python -m benchmarks.million [ROWS]` makes mnlogic's pixels with a test split of that size and prints what `score` and
`diagnose` take, in CPU seconds and peak memory, each in a process of its own (minutes, most of them for the data).
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.base import Codes, rng_for
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset
from assay.diagnosis import diagnose
from assay.logic import Knowledge, bits
from assay.metrics import METRICS, Evidence, score
from benchmarks.timing import Result, rate

ROWS, RESAMPLES = 1_000_000, 200
LOGIC = Knowledge.of(bits(["a", "b", "c", "d"]), {"y": "xor(a, b, c, d)"})
VERB = """
import contextlib, os
from pathlib import Path
from assay.__main__ import main
from assay.runs.usage import peak_memory
with contextlib.suppress(SystemExit):
    main()
times = os.times()
Path(os.environ["MEASURED"]).write_text(f"{times.user + times.system} {peak_memory(os.getpid())}")
"""
"""What runs a verb of the command line and notes what it took."""


def evidence_of(rows: int) -> Evidence:
    """Return the evidence of a model that misreads 4 % of the concepts, and 2 % of the labels beyond that."""
    rng = rng_for(0, "million", rows)
    truth = rng.integers(2, size=(rows, 4))
    said = np.where(rng.random(truth.shape) < 0.04, 1 - truth, truth)
    implied = LOGIC.labels_of(said)
    labels = np.where(rng.random(implied.shape) < 0.02, 1 - implied, implied)
    return Evidence(LOGIC, "test", LOGIC.labels_of(truth), truth, labels, said, (None,), (None,) * 4)


def row_by_row(evidence: Evidence) -> Evidence:
    """Return the evidence as if no two rows were equal."""
    rows = replace(evidence)
    rows.__dict__["distinct"] = rows
    return rows


def run() -> list[Result]:
    held, what = evidence_of(ROWS), f"{ROWS:,} examples"
    return [
        _judging(f"every metric of {what} with its interval", held, score),
        _judging(f"diagnosis of {what}", held, lambda evidence: diagnose({"test": evidence})),
        _resampling(held),
    ]


def _judging(what: str, held: Evidence, judge: Callable[[Evidence], object]) -> Result:
    def ours() -> int:
        judge(replace(held))  # a copy, so that equal rows are looked for each time
        return len(held)

    def theirs() -> int:
        judge(row_by_row(held))
        return len(held)

    return Result(what, "examples", rate(ours), rate(theirs), "a row for each example")


def _resampling(held: Evidence) -> Result:
    """Macro F1 of resamples: counts of equal rows drawn anew, or rows."""
    rng, metric = rng_for(0, "resampling"), METRICS["label_f1"]
    few = held.distinct
    row_metric = replace(metric, counted=False)

    def counts() -> int:
        for _ in range(RESAMPLES):
            metric(replace(few, counts=rng.multinomial(few.examples, few.weights / few.examples)))
        return RESAMPLES

    def rows() -> int:
        row_metric(held.take(rng.integers(len(held), size=len(held))))
        return 1

    return Result(f"macro F1 of {len(held):,} resampled examples", "resamples", rate(counts), rate(rows), "rows drawn")


def measure(verb: str, predictions: Path, data: Path) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in MB of a verb of the command line, in a process of its own."""
    measured = predictions.with_suffix(".txt")
    words = [sys.executable, "-c", VERB, verb, str(predictions), str(data)]
    subprocess.run(words, env={**os.environ, "MEASURED": str(measured)}, stdout=subprocess.DEVNULL, check=True)
    seconds, peak = measured.read_text().split()
    return float(seconds), float(peak)


def write_predictions(data: Path, path: Path) -> None:
    """Write codes and probabilities of a model that misreads 4 % of the concepts, and 2 % of the labels beyond that."""
    dataset = Dataset.open(data)
    split, knowledge = dataset.symbols("test", styles=False), dataset.knowledge
    rng = rng_for(0, "predictions")
    said = np.where(rng.random(split.concepts.shape) < 0.04, 1 - split.concepts, split.concepts)
    implied = knowledge.labels_of(said)
    labels = np.where(rng.random(implied.shape) < 0.02, 1 - implied, implied)

    def answers(names: tuple[str, ...], codes: Codes) -> dict[str, Prediction]:
        sure = 0.5 + rng.random((*codes.shape, 1)) / 2
        chances = np.where(codes[:, :, None] == np.arange(2), sure, 1 - sure)
        return {name: Prediction.of(chances[:, place]) for place, name in enumerate(names)}

    labels_said, concepts_said = answers(knowledge.label_names, labels), answers(knowledge.space.names, said)
    Predictions(dataset.fingerprint, "test", split.index, labels_said, concepts_said).write(path, knowledge)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        data, predictions = Path(folder) / "data", Path(folder) / "predictions.parquet"
        make = ["make", "mnlogic", "--set", "pixels=true", "-n", "10000", "--split", f"test={rows}", "-o", str(data)]
        subprocess.run([sys.executable, "-m", "assay", *make], check=True)
        write_predictions(data, predictions)
        print("| verb | examples | CPU seconds | peak memory |", "| --- | --- | --- | --- |", sep="\n")
        for verb in ("score", "diagnose"):
            seconds, peak = measure(verb, predictions, data)
            print(f"| `{verb}` | {rows:,} | {seconds:.1f} | {peak:,.0f} MB |")


if __name__ == "__main__":
    main()
