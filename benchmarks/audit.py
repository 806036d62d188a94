"""What the audit's check of nuisances finds: watermarks of several strengths, and false alarms on clean sets.

`python -m benchmarks.audit [PAGE]` prints the tables; with the name of a page it also writes them there, between two
markers. Pictures of 32 x 32 pixels show one object, red or blue, big or small, square or round, on a noisy ground. The
watermark is a light square of 4 x 4 pixels in a corner of some of the positives. Of n examples three fifths are for
training and the rest for testing.
"""

import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from assay.auditing import AuditedDataset, AuditedSplit, audit
from assay.base import Array, Codes, rng_for
from assay.logic import Knowledge, bits
from assay.render import encode_png
from benchmarks.pages import publish
from benchmarks.timing import Result

SIDE, MARK = 32, 4
TRAINING = 0.6
RULES = {
    "xor": "red ^ big",
    "and": "red and big",
    "implies": "not red or big",
    "majority": "red + big + square >= 2",
    "parity": "red ^ big ^ square",
}
SIZES = (250, 500, 1000, 2000)
SHARES = (0.95, 0.5, 0.3, 0.2, 0.1)
POWER_TRIES, CLEAN_TRIES = 20, 30
BEGIN, END = "<!-- power: begin -->", "<!-- power: end -->"


@dataclass(frozen=True)
class Setting:
    """Where the object may lie, how noisy the ground is, how light the watermark is, and how many positives have it."""

    rule: str = "xor"
    moves: bool = True
    noise: int = 20
    light: int = 235
    share: float = 0.0


@cache
def _knowledge(rule: str) -> Knowledge:
    return Knowledge.of(bits(["red", "big", "square"]), {"y": RULES[rule]})


def pictures(rng: np.random.Generator, concepts: Codes, marked: Array, setting: Setting) -> Array:
    """Return a picture of each world: number x height x width x 3."""
    count, (red, big, square) = len(concepts), concepts.T.astype(bool)
    image = rng.integers(setting.noise, size=(count, SIDE, SIDE, 3)).astype(np.float64)
    radius = np.where(big, 8.0, 4.0)[:, None, None]
    middle = rng.uniform(8, SIDE - 8, size=(2, count)) if setting.moves else np.full((2, count), SIDE / 2)
    across, down = (np.abs(np.arange(SIDE)[None, :] + 0.5 - centre[:, None]) for centre in middle)
    round_part = across[:, None, :] ** 2 + down[:, :, None] ** 2 <= radius**2
    square_part = np.maximum(across[:, None, :], down[:, :, None]) <= radius * 0.886
    inside = np.where(square[:, None, None], square_part, round_part)
    colour = np.where(red[:, None], [200, 30, 30], [30, 30, 200])[:, None, None, :]
    image = np.where(inside[..., None], colour + image, image)
    image[marked, 1 : 1 + MARK, 1 : 1 + MARK] = setting.light
    return np.clip(image, 0, 255).astype(np.uint8)


def dataset(seed: int, examples: int, setting: Setting) -> AuditedDataset:
    """Return a set of pictures, its positives watermarked or not."""
    knowledge = _knowledge(setting.rule)
    parts = {}
    for name, share in (("train", TRAINING), ("test", 1 - TRAINING)):
        rng = rng_for(seed, "audit power", name, examples, setting.rule, setting.moves, setting.share)
        count = round(examples * share)
        concepts = rng.integers(2, size=(count, 3))
        labels = knowledge.labels_of(concepts)
        marked = (labels[:, 0] == 1) & (rng.random(count) < setting.share)
        files = [encode_png(image) for image in pictures(rng, concepts, marked, setting)]
        parts[name] = AuditedSplit(
            name, concepts, labels, pictures=files, nuisances={"index": np.arange(count) / count}
        )
    return AuditedDataset("watermarks", knowledge.space, {"y": (False, True)}, parts, knowledge)


def found(seed: int, examples: int, setting: Setting) -> bool:
    """Return whether the check of nuisances fails."""
    return bool(audit(dataset(seed, examples, setting), ["nuisances"]).failed)


def rate_of(tries: int, examples: int, setting: Setting) -> float:
    """Return how often it fails."""
    return float(np.mean([found(seed, examples, setting) for seed in range(tries)]))


def power(tries: int) -> list[str]:
    """Return the table of watermarks found, a row a share of the positives and a column a number of examples."""
    lines = [f"| watermark on | {' | '.join(f'n = {n:,}' for n in SIZES)} |", "| --- |" + " --- |" * len(SIZES)]
    for share in SHARES:
        rates = [rate_of(tries, examples, Setting(share=share)) for examples in SIZES]
        lines.append(
            f"| {100 * share:.0f} % of the positives | {' | '.join(f'{100 * rate:.0f} %' for rate in rates)} |"
        )
    return lines


def false_alarms(tries: int) -> list[str]:
    """Return the table of clean sets that fail, a row a rule."""
    lines = ["| clean sets, n = 500 | object anywhere | object in the middle |", "| --- | --- | --- |"]
    for rule, formula in RULES.items():
        counts = [sum(found(seed, 500, Setting(rule, moves)) for seed in range(tries)) for moves in (True, False)]
        lines.append(f"| `{formula}` | {' | '.join(f'{count} of {tries}' for count in counts)} |")
    return lines


def written(power_tries: int = POWER_TRIES, clean_tries: int = CLEAN_TRIES) -> str:
    """Return both tables."""
    return "\n".join([*power(power_tries), "", *false_alarms(clean_tries)])


def run() -> list[Result]:
    start = time.process_time()
    print(written(4, 4))
    print(f"\n{time.process_time() - start:.0f} CPU seconds\n")
    return []


def main() -> None:
    publish(written(), BEGIN, END)


if __name__ == "__main__":
    main()
