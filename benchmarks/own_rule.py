"""What does `assay mend` buy where a rule uses two of five concepts? Strategies compared over seeds.

Small pictures have a shape, a colour, stripes, dots and a frame; the label is `stripe and dots >= 2`. A `dpl` learns
the label by a shortcut: it predicts stripes only together with dots. `python -m benchmarks.own_rule RECORDS [PAGE]`
mends what RECORDS (a folder) lacks, a record for each seed and strategy, and writes the table, into a page too.
`stripe` buys nothing but labels of one misread concept: a reference, no strategy of Assay's.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.base import Array, Codes
from assay.lab import STRATEGIES, AcquiredData, AcquisitionContext
from benchmarks.pages import read_records, write_between

if TYPE_CHECKING:
    from assay.dataset import Dataset

RULE = "stripe and dots >= 2"
VALUES: dict[str, tuple[Any, ...]] = {
    "shape": ("disc", "square", "triangle"),
    "colour": ("blue", "green", "red", "yellow"),
    "stripe": (False, True),
    "dots": (0, 1, 2, 3),
    "frame": (False, True),
}
USED = ("stripe", "dots")
SPLITS = {"train": 700, "valid": 120, "test": 400}
SIDE = 20
PAINT = np.array([[60, 80, 230], [40, 200, 60], [220, 40, 40], [230, 210, 50]])
TRAINING = {"epochs": 10}
BUDGET = 90
BEGIN, END = "<!-- own rule: begin -->", "<!-- own rule: end -->"


def paint(world: Codes, rng: np.random.Generator) -> Array:
    """Return the picture of a world: a body with or without stripes, dots below it, perhaps a frame, and noise."""
    shape, colour, stripe, dots, frame = (int(code) for code in world)
    picture = np.full((SIDE, SIDE, 3), 30.0)
    rows, columns = np.indices((SIDE, SIDE))
    down, right = rows - 8 - rng.integers(-1, 2), columns - 9 - rng.integers(-1, 2)
    body = (
        down**2 + right**2 <= 25,
        np.maximum(abs(down), abs(right)) <= 4,
        (abs(down) <= 5) & (2 * abs(right) <= down + 5),
    )[shape]
    picture[body] = PAINT[colour]
    if stripe:
        picture[body & (down % 3 == 0)] = 250
    for dot in range(dots):
        picture[17:19, 2 + 5 * dot : 4 + 5 * dot] = 240
    if frame:
        picture[0, :] = picture[:, 0] = 180
    return np.clip(picture + rng.normal(0, 8, picture.shape), 0, 255).astype(np.uint8)


def draw(folder: Path, seed: int) -> "Dataset":
    """Write the dataset of a seed, and open it."""
    import assay

    rng = np.random.default_rng((36, seed))
    sizes = [len(values) for values in VALUES.values()]
    worlds = np.stack([rng.integers(0, size, sum(SPLITS.values())) for size in sizes], axis=1)
    table: dict[str, list[Any]] = {"split": [name for name, size in SPLITS.items() for _ in range(size)]}
    for place, (name, values) in enumerate(VALUES.items()):
        table[f"concept_{name}"] = [values[code] for code in worlds[:, place]]
    table["label_y"] = [bool(stripe and dots >= 2) for _, _, stripe, dots, _ in worlds.tolist()]
    return assay.from_table(table, folder, images=[paint(world, rng) for world in worlds], rule={"y": RULE})


def stripe_labels(situation: AcquisitionContext) -> AcquiredData:
    """Buy labels of `stripe` at random: what someone would do who knows which concept is misread."""
    place = situation.training.knowledge.space.place("stripe")
    scores = np.asarray(situation.rng.random(situation.holdings.concepts.shape))
    scores[:, place] += 1
    return situation.buy(scores)


STRATEGIES.add("stripe", "reference: labels of the misread concept", "benchmarks.own_rule:stripe_labels")


def mend_seed(seed: int, strategies: Sequence[str], records: Path) -> Iterator[str]:
    """Train the model of a seed and mend it by each strategy that has no record yet; give a line for each."""
    import assay

    missing = {name: records / f"{seed}-{name}.json" for name in strategies}
    missing = {name: path for name, path in missing.items() if not path.exists()}
    if not missing:
        return
    with tempfile.TemporaryDirectory(prefix="own-rule-") as work:
        data = draw(Path(work) / "data", seed)
        run = assay.train("dpl", data, Path(work) / "run", seed=seed, progress=False, **TRAINING)
        for name, path in missing.items():
            folder = Path(work) / name
            assay.mend(run, folder, strategy=name, budget=BUDGET, seed=seed, progress=False)
            made = json.loads((folder / "mending.json").read_text(encoding="utf-8"))
            last = folder / made["rounds"][-1]["run"]
            record = {"seed": seed, "scores": _scores(assay.Run.open(last)), **made}
            path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            yield f"seed {seed}, {name}: {' -> '.join(one['verdict'] for one in made['rounds'])}"


def _scores(run: Any) -> dict[str, float]:
    """Return the F1 of label and of used concepts, and the accuracy of each, on `test`."""
    from assay.metrics import label_f1

    found, data = run.predictions["test"], run.dataset["test"]
    space, truth = data.knowledge.space, np.asarray(data.concepts)
    scores = {"label_f1": label_f1(np.asarray(data.labels)[:, 0], found.labels["y"].codes)}
    columns = {name: (truth[:, space.place(name)], found.concepts[name].codes) for name in space.names}
    f1 = {name: label_f1(*pair) for name, pair in columns.items()}
    scores["used_concept_f1"] = float(np.mean([f1[name] for name in USED]))
    scores["concept_f1"] = float(np.mean(list(f1.values())))
    return scores | {name: float((true == said).mean()) for name, (true, said) in columns.items()}


def table(records: Path) -> str:
    """Return the records as a table, a row for each strategy."""
    found = read_records(records)
    lines = [
        "| strategy | mended | labels of stripe, dots, unused | first round | label F1 | concept F1, used | all "
        "| stripe right | dots right |",
        "|" + " --- |" * 9,
    ]
    for name in dict.fromkeys(record["strategy"] for record in found):
        own = [record for record in found if record["strategy"] == name]
        mended = sum(record["spent_until_mended"] is not None for record in own)
        bought = [_bought(record["rounds"]) for record in own]
        first = sum((_bought(record["rounds"][:2]) for record in own), Counter())
        keys = ("label_f1", "used_concept_f1", "concept_f1", "stripe", "dots")
        scores = [f"{np.mean([record['scores'][key] for record in own]):.3f}" for key in keys]
        spent = "; ".join(f"{one['stripe']}, {one['dots']}, {one['unused']}" for one in bought)
        begin = ", ".join(f"{key} {count}" for key, count in first.most_common())
        lines.append(f"| `{name}` | {mended} of {len(own)} | {spent} | {begin} | {' | '.join(scores)} |")
    return "\n".join(lines)


def _bought(rounds: Sequence[dict[str, Any]]) -> "Counter[str]":
    """Return how many labels of each used concept were bought in some rounds, and of unused ones."""
    names = list(VALUES)
    cells = [names[cell[1]] for one in rounds for cell in one["purchase"]["labels"]]
    return Counter(name if name in USED else "unused" for name in cells)


def main() -> None:
    """Mend what is not there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("pages", nargs="*", help="pages to write the table into")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3])
    parser.add_argument("--strategies", nargs="*", default=["plan", "random", "stripe"])
    asked = parser.parse_args()
    asked.records.mkdir(parents=True, exist_ok=True)
    for seed in asked.seeds:
        for line in mend_seed(seed, asked.strategies, asked.records):
            print(line, flush=True)
    text = table(asked.records)
    print(text)
    write_between(asked.pages, BEGIN, END, text)


if __name__ == "__main__":
    main()
