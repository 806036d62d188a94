"""Are models that follow a planted nuisance called spurious, and others not? Verdicts over tasks, models and seeds.

`python -m benchmarks.spurious RECORDS docs/confounders.md` trains what RECORDS (a folder) lacks, and writes the table.
Each dataset is made with a nuisance that goes with the label or with a concept, in 95 % of the examples, and again
with the same nuisance drawn freely: a model trained on the second has nothing to follow.
"""

import argparse
import json
import multiprocessing
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages import read_records, write_between

STRENGTH = 0.95
SEEDS = 10
BEGIN, END = "<!-- spurious: begin -->", "<!-- spurious: end -->"


@dataclass(frozen=True)
class Trial:
    """A model, trained with a nuisance that goes with something, or on data in which it does not."""

    task: str
    model: str
    confounded: bool
    seed: int

    @property
    def name(self) -> str:
        """The name of its record."""
        return f"{self.task}-{self.model}-{'confounded' if self.confounded else 'free'}-{self.seed}"


@dataclass(frozen=True)
class Setting:
    """A dataset, the nuisance, and what it goes with: for the black box, and for the concept bottleneck."""

    data: dict[str, Any]
    what: str
    label: str
    concept: str


SCENE = {"n": 800, "quality": "draft", "width": 64, "height": 48}
SETTINGS = {
    "robots": Setting({"n": 1000, "size": 32}, "style.paper", "glorp", "mouth"),
    "kand-logic": Setting({"n": 1000}, "style.background", "y", "figure1.object1.shape"),
    "sudoku-mini": Setting({"n": 1000, "cell_px": 14}, "style.ink", "valid", "valid"),
    "clevr-small": Setting(SCENE, "style.floor", "y", "object1.shape"),
    "chess-flat": Setting({"n": 500, "width": 96}, "brightness", "white_is_ahead", "e4 in ('P', 'p')"),
    "cocologic": Setting({"n": 800, "width": 64, "height": 64}, "frame", "signal_and_ride", "person >= 1"),
}
MODELS: dict[str, dict[str, Any]] = {"blackbox": {"epochs": 12}, "cbm": {"epochs": 25}}


def run_trial(trial: Trial) -> dict[str, Any]:
    """Make the data, train, diagnose."""
    import assay
    from assay.diagnosis import headline

    setting = SETTINGS[trial.task]
    goes_with = setting.label if trial.model == "blackbox" else setting.concept
    free: dict[str, Any] = {} if trial.confounded else {"where": []}
    folder = Path(tempfile.mkdtemp(prefix="spurious-"))
    try:
        confound = [{"what": setting.what, "with": goes_with, "strength": STRENGTH, **free}]
        data = assay.make(
            trial.task, folder / "data", seed=trial.seed, splits={"hard": 0, "pairs": 0}, confound=confound,
            progress=False, workers=1, **setting.data,
        )  # fmt: skip
        run = assay.train(trial.model, data, folder / "run", seed=trial.seed, progress=False, **MODELS[trial.model])
        found = assay.diagnose(data, run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    row = next(row for row in found.reliance if row.kind == "nuisance")
    accuracy = {split: scores["label_accuracy"].value for split, scores in found.scores.items()}
    return {
        **asdict(trial), "with": goes_with, "what": setting.what, "verdict": found.verdict, "kinds": list(found.kinds),
        "named": row.name, "accuracy": accuracy, "moved": row.share, "why": headline(found).why,
    }  # fmt: skip


def trials(tasks: Iterable[str], models: Iterable[str], seeds: int) -> Iterator[Trial]:
    """Give all trials, each task and model once before any second seed."""
    for seed in range(seeds):
        for task in tasks:
            for model in models:
                for confounded in (True, False):
                    yield Trial(task, model, confounded, seed)


def _keep(job: tuple[Trial, Path]) -> str:
    trial, folder = job
    path = folder / f"{trial.name}.json"
    if not path.exists():
        try:
            record = run_trial(trial)
        except Exception as error:  # one line of a table, and no end of the others
            return f"{trial.name}: {type(error).__name__}: {error}"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    held = json.loads(path.read_text(encoding="utf-8"))
    return f"{trial.name}: {held['verdict']}; {held['why']}"


def table(folder: Path) -> str:
    """Return the records as a table: right verdicts with and without the confounder, and accuracies."""
    records = read_records(folder)
    head = "| task | model | nuisance, with | confounded: spurious | accuracy: test, unconfounded, reversed "
    lines = [f"{head}| free: not spurious | accuracy: test, reversed |", "|" + " --- |" * 7]
    for task, model in sorted({(r["task"], r["model"]) for r in records}):
        both = [[r for r in records if (r["task"], r["model"], r["confounded"]) == (task, model, c)] for c in (True, 0)]
        right = [
            sum((r["verdict"] == "spurious") == c for r in part) for c, part in zip((True, False), both, strict=True)
        ]
        means = [
            {s: sum(r["accuracy"][s] for r in part) / max(1, len(part)) for s in ("test", "unconfounded", "reversed")}
            for part in both
        ]
        lines.append(
            f"| {task} | {model} | {both[0][0]['what']}, {both[0][0]['with']} | {right[0]} of {len(both[0])} "
            f"| {means[0]['test']:.2f}, {means[0]['unconfounded']:.2f}, {means[0]['reversed']:.2f} "
            f"| {right[1]} of {len(both[1])} | {means[1]['test']:.2f}, {means[1]['reversed']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Train what is not there, print each verdict, and write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--tasks", nargs="*", default=list(SETTINGS))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    asked.records.mkdir(parents=True, exist_ok=True)
    jobs = [(trial, asked.records) for trial in trials(asked.tasks, asked.models, asked.seeds)]
    with multiprocessing.get_context("spawn").Pool(asked.workers, maxtasksperchild=8) as pool:
        for line in pool.imap_unordered(_keep, jobs):
            print(line, flush=True)
    if asked.page is not None:
        write_between([str(asked.page)], BEGIN, END, table(asked.records))
    print(table(asked.records))


if __name__ == "__main__":
    main()
