"""The small folder that probes begin from: pictures of one's own, datasets of all families, runs, a suite, rules."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import yaml

from benchmarks.house.seen import call

WRITTEN = yaml.safe_load((Path(__file__).parent / "scenes.yaml").read_text(encoding="utf-8"))
FAMILIES: dict[str, str] = WRITTEN["families"]
"""A task of each family."""
SMALLER: dict[str, str] = WRITTEN["smaller"]
"""Settings that make the pictures of a family small."""
PIXELS = "--set pixels=true --set k=3 --set 'formula=a and b or c' --set prop_in_distribution=0.8"
QUICK = "--set device=cpu --epochs 2"
RUNS = {"dpl": "dpl", "cbm": "cbm", "cem": "cem", "blackbox": "blackbox", "tree": "tree"}
SPLITS = "--split valid=8 --split test=16 --split hard=8"
FINGERPRINT = "4c2b3c4eb0dde9ad714c571cf051db0b"
FEW = "-n 12 --split valid=4 --split test=8 --split hard=4"
SUITE = f"""
name: tiny
about: Two datasets of pixels.
seeds: [0]
training: {{epochs: 2, device: cpu, learning_rate: 0.01, batch_size: 16}}
levels:
  labels: {{sees: [pictures, labels], about: pictures and labels}}
  concepts: {{sees: [pictures, labels, concepts], about: concepts too}}
  symbols: {{sees: [labels, concepts, test concepts], about: true concepts}}
models:
  blackbox: {{level: labels}}
  cbm: {{level: concepts}}
  tree: {{level: symbols}}
datasets:
  plain:
    family: digits
    shows: boundary
    about: Three pixels.
    task: mnlogic
    fingerprint: "{FINGERPRINT}"
    settings: {{pixels: true, k: 3, formula: a and b or c, prop_in_distribution: 1.0}}
    splits: {{train: 64, valid: 16, test: 40, hard: 16, pairs: 12}}
"""
STUDY = """
name: tiny
tasks:
  - {task: mnlogic, pixels: true, k: 3, formula: a and b or c, splits: {valid: 16, test: 24, hard: 16}, n: 48}
models: [{model: dpl, device: cpu, learning_rate: 0.02}, {model: tree}]
seeds: [0, 1]
epochs: 2
analyses: [leakage, {analysis: intervene, policy: uncertainty, budget: "0,1"}]
"""
TEXTS = {"study.yaml": STUDY, "suite.yaml": SUITE, **WRITTEN["files"]}
"""Files by name."""


def filled(words: str, fill: Mapping[str, str]) -> str:
    """Return a command with its abbreviations written out."""
    for key, text in fill.items():
        words = words.replace(f"{{{key}}}", text)
    return words


def draw_pictures(folder: Path, count: int = 48) -> None:
    """Write pictures of bars that are red or blue, wide or narrow, dotted or not, with a table and a rule."""
    from PIL import Image

    rng, rows = np.random.default_rng(0), ["file,concept_red,concept_wide,concept_dotted,label_alarm"]
    (folder / "images").mkdir(parents=True)
    for number in range(count):
        red, wide, dotted = (number >> place & 1 for place in range(3))
        pixels = rng.integers(30, 60, (16, 16, 3)).astype(np.uint8)
        pixels[3:7, 2 : 14 if wide else 6] = (220, 40, 40) if red else (40, 70, 220)
        pixels[10:13, 3:6] = (240, 240, 90) if dotted else pixels[10:13, 3:6]
        Image.fromarray(pixels).save(folder / "images" / f"{number:02}.png")
        given = "" if number % 11 == 5 else wide
        rows.append(f"images/{number:02}.png,{red},{given},{dotted},{red & dotted}")
    (folder / "concepts.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "rule.yaml").write_text("labels: {alarm: red and dotted}\n", encoding="utf-8")


def build() -> dict[str, str]:
    """Fill the present folder, and return what the commands printed."""
    draw_pictures(Path("mine"))
    for name, text in TEXTS.items():
        Path(name).write_text(text, encoding="utf-8")
    commands = [
        f"make mnlogic -o data -n 48 {SPLITS} {PIXELS} --workers 1",
        f"make mnlogic -o transfer -n 24 {SPLITS} {PIXELS} --seed 5 --workers 1",
        "make mnadd-evenodd -o sums -n 48 --split valid=24 --split test=48 --split hard=8 --workers 1",
        "import mine -o imported --set size=16",
        *(f"make {task} -o {family} {FEW} --workers 1 {SMALLER.get(family, '')}" for family, task in FAMILIES.items()),
        *(f"train {model} data -o run-{name} {QUICK if model != 'tree' else ''}" for name, model in RUNS.items()),
        f"train cbm imported -o run-imported {QUICK}", f"train dpl sums -o run-sums {QUICK}",
    ]  # fmt: skip
    return {words: call(words) for words in commands}
