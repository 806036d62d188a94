"""What a lot of work costs on many nodes, computed from what a little of it costs here.

`python -m benchmarks.scaling --measure` measures the unit costs (minutes; needs the extras `train` and `cluster`) and
keeps them in `benchmarks/scaling.json`; without it, the tables of `docs/scaling.md` are written from that file.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
UNITS, PAGE = HERE / "scaling.json", HERE.parent / "docs" / "scaling.md"
SCENES, RUNS, NODES, PROCESSORS = 200_000, 10_000, (1, 100, 1000), 16
CHESS = {"n": 40, "splits": {"valid": 0, "test": 0, "hard": 0, "ood": 0}}
COPIES = 200
STUDY = {
    "tasks": [{"task": "mnadd-evenodd"}],
    "models": [{"model": "dpl", "epochs": 10, "device": "cpu"}],
    "seeds": [0, 1],
    "n": 2000,
}


@dataclass(frozen=True)
class Units:
    """What was measured: seconds are those of one processor unless they say wall."""

    scene: float
    """A chess scene, 512 x 512, with masks, depth, boxes and text, as PNG in Parquet."""
    scene_bytes: float
    scenes_in_shard: int
    chess_start: float
    """Until a worker makes its first scene: imports, games, pieces."""
    shard_driver: float
    """What the driver does for each shard besides the call: reading back its labels."""
    data_driver: float
    """What the driver does for a dataset: card and manifest."""
    run: float
    """A small training run with its predictions and scores."""
    run_bytes: float
    run_start: float
    """Until a worker trains: imports."""
    run_driver: float
    """What the driver does for each run besides the call: records and tables."""
    data: float
    """The dataset of the runs."""
    call_driver: float
    """What the driver does for a call to Ray."""
    call_wall: float
    """Wall seconds of a call to Ray that does nothing, one at a time on a worker."""


@dataclass(frozen=True)
class Job:
    """Work in equal parts, and what is not done in parallel."""

    parts: int
    seconds: float
    start: float
    driver: float
    once: float
    bytes: float

    def wall(self, units: Units, nodes: int) -> float:
        """Return the wall seconds: what the driver does alone, the start of a worker, and the longest queue of parts.

        The driver hands parts out while others are under way, so the slower of the two counts.
        """
        queue = math.ceil(self.parts / (nodes * PROCESSORS)) * (self.seconds + units.call_wall)
        return self.once + self.start + max(queue, self.parts * units.call_driver) + self.parts * self.driver

    def processor_hours(self, units: Units, nodes: int) -> float:
        """Return the hours of all processors that did something."""
        workers = min(self.parts, nodes * PROCESSORS)
        spent = self.parts * (self.seconds + units.call_wall + units.call_driver + self.driver)
        return (spent + workers * self.start + self.once) / 3600


def jobs(units: Units) -> dict[str, Job]:
    """Return the two jobs of the page."""
    shards = math.ceil(SCENES / units.scenes_in_shard)
    shard = units.scene * units.scenes_in_shard
    return {
        f"{SCENES:,} chess scenes": Job(
            shards,
            shard,
            units.chess_start,
            units.shard_driver,
            units.chess_start + units.data_driver,
            SCENES * units.scene_bytes,
        ),
        f"{RUNS:,} training runs": Job(
            RUNS, units.run, units.run_start, units.run_driver, units.data, RUNS * units.run_bytes
        ),
    }


def table(units: Units) -> str:
    """Return the table of costs."""
    lines = [
        "| what | nodes | parts in a row | wall time | of it serial | CPU hours | disk | written |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for what, job in jobs(units).items():
        for nodes in NODES:
            wall = job.wall(units, nodes)
            serial = (job.once + job.start + job.parts * job.driver) / wall
            rate = job.bytes / wall / 1e6
            lines.append(
                f"| {what} | {nodes:,} | {math.ceil(job.parts / (nodes * PROCESSORS)):,} | {_time(wall)} "
                f"| {serial:.0%} | {job.processor_hours(units, nodes):,.1f} | {job.bytes / 1e9:,.1f} GB "
                f"| {rate:,.0f} MB/s |"
            )
    return "\n".join(lines)


def measured_table(units: Units) -> str:
    """Return the table of what was measured."""
    rows = [
        ("a chess scene (512 x 512, masks, depth, boxes, text; PNG in Parquet)", units.scene, units.scene_bytes),
        (f"a shard of {units.scenes_in_shard} scenes", units.scene * units.scenes_in_shard, None),
        ("start of a worker that makes chess scenes", units.chess_start, None),
        ("a shard, in the driver: labels read back", units.shard_driver, None),
        ("a dataset, in the driver: card, manifest", units.data_driver, None),
        ("a training run: DPL on MNAdd-EvenOdd, 2,000 examples, 10 epochs, scored", units.run, units.run_bytes),
        ("start of a worker that trains", units.run_start, None),
        ("a run, in the driver: records and tables", units.run_driver, None),
        ("the dataset of the runs", units.data, None),
        ("a call to Ray, in the driver", units.call_driver, None),
        ("a call to Ray that does nothing, wall seconds", units.call_wall, None),
    ]
    lines = ["| what | seconds | kilobytes |", "| --- | --- | --- |"]
    return "\n".join(
        [*lines, *(f"| {a} | {_short(b)} | {'' if c is None else f'{c / 1e3:,.0f}'} |" for a, b, c in rows)]
    )


def _short(number: float) -> str:
    return f"{number:,.1f}" if number >= 10 else f"{number:.2g}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def written(page: str, units: Units) -> str:
    """Return the page with both tables put between their marks."""
    for name, text in (("measured", measured_table(units)), ("computed", table(units))):
        head, _, rest = page.partition(f"<!-- {name} -->\n")
        _, _, tail = rest.partition(f"<!-- end of {name} -->")
        page = f"{head}<!-- {name} -->\n\n{text}\n\n<!-- end of {name} -->{tail}"
    return page


def stored() -> Units:
    """Return what was measured last."""
    return Units(**json.loads(UNITS.read_text()))


def measure(part: str) -> None:
    """Measure some of the unit costs on one processor of this machine, in a process that has done nothing else yet."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"chess": _chess, "driver": _driver, "training": _training, "ray": _ray}[part](Path(folder))
    held = json.loads(UNITS.read_text()) if UNITS.exists() else {}
    UNITS.write_text(json.dumps({**held, **found}, indent=1, sort_keys=True) + "\n")


def _chess(folder: Path) -> dict[str, Any]:
    from assay.base import Settings
    from assay.dataset import ShardWriter, recipe_from

    recipe = recipe_from("valued", Settings(CHESS))
    writer = ShardWriter(recipe)
    todo = writer.jobs
    recipe.task.render_all(writer.worlds(recipe.splits[0], writer.places(todo[0])[:1]))
    start = time.process_time()
    records = [writer.write(job, folder) for job in todo]
    made = time.process_time() - start
    rows = sum(record.rows for record in records)
    return {
        "scene": made / rows,
        "scene_bytes": sum(record.bytes for record in records) / rows,
        "scenes_in_shard": recipe.shard_rows,
        "chess_start": start,
    }


def _driver(folder: Path) -> dict[str, Any]:
    """Measure what the driver does with shards that others made; small pictures do, since it reads labels only."""
    from assay.base import Settings
    from assay.contracts import BOUNDARY, LABEL, read_parquet
    from assay.dataset import make, recipe_from, split_counts, write_description

    recipe = recipe_from("valued", Settings({**CHESS, "width": 64}))
    manifest, knowledge = make(recipe, folder), recipe.task.knowledge
    many = [folder / shard.file for split in manifest.splits for shard in split.shards] * COPIES
    columns = [kind + name for name in knowledge.label_names for kind in (LABEL, BOUNDARY)]
    began = time.process_time()
    split_counts(knowledge, (read_parquet(path, columns) for path in many))
    each = (time.process_time() - began) / len(many)
    began = time.process_time()
    write_description(folder, manifest)
    return {"shard_driver": each, "data_driver": time.process_time() - began}


def _training(folder: Path) -> dict[str, float]:
    import torch

    from assay.base import Settings
    from assay.lab import perform, study_from, tables_of, write_records

    torch.set_num_threads(1)
    study = study_from(Settings(STUDY), folder / "study")
    began = time.process_time()
    perform(study.datasets[0], study.output)
    data = time.process_time() - began
    first, second = study.runs
    perform(first, study.output)
    began = time.process_time()
    perform(second, study.output)
    run = time.process_time() - began
    runs = study.output / "runs"
    kept = runs / second.name
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    many = tuple(replace(second, name=f"{second.name}-{seed}", seed=seed) for seed in range(COPIES))
    for step in many:
        copy = runs / step.name
        copy.mkdir()
        (copy / "records.json").write_bytes((kept / "records.json").read_bytes())
    began = time.process_time()
    records = write_records(many, study.output)
    tables_of(replace(study, runs=many), records)
    driver = (time.process_time() - began) / COPIES
    before = os.times().children_user + os.times().children_system
    subprocess.run(
        [sys.executable, "-c", "import ray, torch, assay.models.core.runs, assay.diagnosis.runs"], check=True
    )
    start = os.times().children_user + os.times().children_system - before
    return {"run": run, "run_bytes": size, "run_start": start, "run_driver": driver, "data": data}


def _ray(folder: Path) -> dict[str, float]:
    from assay.exchange import Call, Cluster

    cluster = Cluster("local")
    list(cluster.run([Call(f"warm {number}", os.getpid, ()) for number in range(20)]))
    calls = [Call(f"call {number}", os.getpid, ()) for number in range(400)]
    wall, began = time.perf_counter(), time.process_time()
    list(cluster.run(calls))
    wall, driver = time.perf_counter() - wall, time.process_time() - began
    return {"call_driver": driver / len(calls), "call_wall": wall * cluster.processors / len(calls)}


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(sys.argv[2])
        sys.exit()
    if "--measure" in sys.argv:
        for part in ("chess", "driver", "training", "ray"):
            subprocess.run([sys.executable, "-m", "benchmarks.scaling", "--measure", part], check=True)
    PAGE.write_text(written(PAGE.read_text(), stored()))
    print(measured_table(stored()), table(stored()), sep="\n\n")
