"""How much must be bought until a model is mended? Strategies compared over tasks and seeds.

`python -m benchmarks.mending run RECORDS --workers 16` mends what RECORDS (a folder) lacks, a small record for each
task, strategy and seed; `python -m benchmarks.mending table RECORDS docs/mending.md` writes the table. All strategies
of a task and seed begin with the same dataset and the same run.
"""

import argparse
import json
import math
import multiprocessing
import shutil
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.pages import read_records, write_between

SEEDS = 10
FIRST_SEED = 10
"""Settings were chosen on seeds 0 to 2, so these are not measured."""
BEGIN, END = "<!-- mending: begin -->", "<!-- mending: end -->"


@dataclass(frozen=True)
class Setting:
    """A task, a model that goes wrong on it, and how it is mended."""

    task: str
    data: dict[str, Any]
    model: str
    training: dict[str, Any]
    strategies: tuple[str, ...]
    baseline: str
    mending: dict[str, Any] = field(default_factory=dict)


SETTINGS = {
    "mnadd-evenodd": Setting(
        task="mnadd-evenodd",
        data={"n": 6720, "splits": {"valid": 500, "test": 500, "ood": 600, "hard": 200, "pairs": 200}},
        model="dpl",
        training={
            "epochs": 16, "entropy_weight": 2.0, "backbone": "conv-pool", "learning_rate": 3e-3, "schedule": "cosine",
            "patience": 100,
        },
        strategies=("plan", "uncertainty", "disagreement", "boundary", "random"),
        baseline="random",
        mending={"budget": 30, "first": 2, "growth": 1.0, "concept_weight": 2.0},
    ),
    "clevr-hans": Setting(
        task="clevr-hans",
        data={
            "n": 600, "quality": "draft", "width": 64, "height": 48, "objects": (3, 4),
            "splits": {"valid": 200, "test": 300, "hard": 0, "pairs": 0},
            "confound": [{"what": "style.floor", "with": "y", "strength": 0.95}],
        },
        model="blackbox",
        training={"epochs": 12},
        strategies=("augment", "reweight", "reasons", "fresh"),
        baseline="fresh",
        mending={"budget": 600, "first": 150, "growth": 2.0},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """A model of a seed that is mended by a strategy."""

    setting: str
    strategy: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its record."""
        return f"{self.setting}-{self.strategy}-{self.seed}"


@dataclass(frozen=True)
class Beginning:
    """The dataset and the run that all strategies of a seed begin with."""

    setting: str
    seed: int
    work: Path

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.work / f"{self.setting}-{self.seed}"


def prepare(beginning: Beginning) -> str:
    """Make the data and train the run that is to be mended, unless that is done; return how it stands."""
    import assay

    setting, folder, seed = SETTINGS[beginning.setting], beginning.folder, beginning.seed
    try:
        data = assay.make(setting.task, folder / "data", seed=seed, progress=False, workers=1, **setting.data)
        if not (folder / "run" / "run.json").exists():
            assay.train(setting.model, data, folder / "run", seed=seed, progress=False, **setting.training)
    except Exception as error:  # one line, and no end of the others
        return f"{folder.name}: {type(error).__name__}: {error}"
    return f"{folder.name}: prepared"


def run_trial(trial: Trial, work: Path) -> dict[str, Any]:
    """Mend the run of a seed by a strategy."""
    import assay

    setting, seed = SETTINGS[trial.setting], trial.seed
    run = assay.Run.open(Beginning(trial.setting, seed, work).folder / "run")
    folder = Path(tempfile.mkdtemp(prefix="mending-"))
    try:
        curve = assay.mend(
            run, folder / "mended", strategy=trial.strategy, seed=seed, progress=False, **setting.mending
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    about = {"task": setting.task, "model": setting.model, "fingerprint": run.dataset.fingerprint}
    known = {"budget": setting.mending["budget"], "versions": run.about["versions"], "config": run.about["config"]}
    return {**asdict(trial), **about, **known, **curve.to_dict()}


def trials(settings: Iterable[str], strategies: Sequence[str], seeds: Sequence[int]) -> Iterator[Trial]:
    """Give all trials, each setting and strategy once before any second seed."""
    for seed in seeds:
        for setting in settings:
            for strategy in SETTINGS[setting].strategies:
                if not strategies or strategy in strategies:
                    yield Trial(setting, strategy, seed)


def _keep(job: tuple[Trial, Path, Path]) -> str:
    trial, folder, work = job
    path = folder / f"{trial.name}.json"
    if not path.exists():
        try:
            record = run_trial(trial, work)
        except Exception as error:  # one line of a table, and no end of the others
            return f"{trial.name}: {type(error).__name__}: {error}"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    held = json.loads(path.read_text(encoding="utf-8"))
    rounds = " ".join(f"{one['spent']}:{one['verdict']}" for one in held["rounds"])
    return f"{trial.name}: {held['spent_until_mended']} ({rounds})"


def _cost(record: dict[str, Any]) -> float:
    """Return what was spent until a model was mended, infinite if it was not."""
    spent = record["spent_until_mended"]
    return math.inf if spent is None else float(spent)


def _median(values: Sequence[float]) -> str:
    """Return the median, with the mean where all were mended."""
    middle = statistics.median(values)
    if middle == math.inf:
        return "more than the budget"
    return f"{middle:g}" if math.inf in values else f"{middle:g} ({statistics.mean(values):.1f})"


def _beats(records: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]]) -> str:
    """Return for how many seeds less was spent than by the baseline, as much and more, and Wilcoxon's p of that."""
    from scipy.stats import wilcoxon

    by_seed = {record["seed"]: _cost(record) for record in others}
    both = [(_cost(record), by_seed[record["seed"]]) for record in records if record["seed"] in by_seed]
    less, same, more = (sum((a > b) - (a < b) == sign for a, b in both) for sign in (-1, 0, 1))
    finite = [pair for pair in both if math.inf not in pair]
    unsure = len(finite) < len(both) or less + more == 0
    return f"{less}, {same}, {more}" + ("" if unsure else f" (p = {wilcoxon(*zip(*finite, strict=True)).pvalue:.2f})")


def _last(record: dict[str, Any], key: str) -> float:
    """Return a score of the last round; NaN where it does not apply."""
    last = record["rounds"][-1]
    accuracy = last["accuracy"]
    elsewhere = next((accuracy[name] for name in ("unconfounded", "ood") if name in accuracy), None)
    value = elsewhere if key == "elsewhere" else last[key]
    return float("nan") if value is None else float(value)


def _mean(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    return "" if mean != mean else f"{mean:.2f}"


def table(folder: Path) -> str:
    """Return the records as a table, a row for each task and strategy."""
    records = read_records(folder)
    head = "| task, model | strategy | begins as | mended | spent until then: median (mean) "
    lines = [
        f"{head}| less, as much, more than baseline | looked at | concept F1 | label accuracy elsewhere |",
        "|" + " --- |" * 9,
    ]
    for name, setting in SETTINGS.items():
        own = {s: [r for r in records if (r["setting"], r["strategy"]) == (name, s)] for s in setting.strategies}
        for strategy in (s for s in setting.strategies if own[s]):
            rows = own[strategy]
            begins = sorted({row["rounds"][0]["verdict"] for row in rows})
            mended = sum(row["spent_until_mended"] is not None for row in rows)
            looked = statistics.median(row["rounds"][-1]["searched"] for row in rows)
            versus = "baseline" if strategy == setting.baseline else _beats(rows, own[setting.baseline])
            scores = [_mean([_last(row, key) for row in rows]) for key in ("concept_f1", "elsewhere")]
            lines.append(
                f"| {name}, {setting.model} | `{strategy}` | {', '.join(begins)} | {mended} of {len(rows)} "
                f"| {_median([_cost(row) for row in rows])} | {versus} | {looked:g} | {' | '.join(scores)} |"
            )
    return "\n".join(lines)


def facts(folder: Path) -> Iterator[str]:
    """Give the accuracies of the page's text: on `test` before and after, of those that were mended."""
    records = read_records(folder)
    for name, setting in SETTINGS.items():
        for strategy in setting.strategies:
            own = [r for r in records if (r["setting"], r["strategy"]) == (name, strategy) and _cost(r) < math.inf]
            if own:
                before, after = (_mean([r["rounds"][at]["accuracy"]["test"] for r in own]) for at in (0, -1))
                yield f"{name} {strategy}: test accuracy {before} before, {after} after, of {len(own)} mended"


def main() -> None:
    """Mend what is not there, or write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("records", type=Path)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS))
    parser.add_argument("--strategies", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--work", type=Path, help="where datasets and first runs lie; by default beside the records")
    asked = parser.parse_args()
    asked.records.mkdir(parents=True, exist_ok=True)
    if asked.what == "run":
        work = asked.work or asked.records.with_name(f"{asked.records.name}-work")
        seeds = range(FIRST_SEED, FIRST_SEED + asked.seeds)
        beginnings = [Beginning(name, seed, work) for seed in seeds for name in asked.settings]
        jobs = [(trial, asked.records, work) for trial in trials(asked.settings, asked.strategies, seeds)]
        with multiprocessing.get_context("spawn").Pool(asked.workers, maxtasksperchild=8) as pool:
            for line in pool.imap_unordered(prepare, beginnings):
                print(line, flush=True)
            for line in pool.imap_unordered(_keep, jobs):
                print(line, flush=True)
    if asked.page is not None:
        write_between([str(asked.page)], BEGIN, END, table(asked.records))
    print(table(asked.records), *facts(asked.records), sep="\n")


if __name__ == "__main__":
    main()
