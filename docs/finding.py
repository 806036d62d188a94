"""Draws the finding of the README: what a model reads where its sums are right. `python docs/finding.py`.

It makes the data and trains `dpl` (some minutes), or takes a run and its data: `python docs/finding.py RUN DATA`.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import assay

HERE = Path(__file__).parent
GOOD, BAD, INK = "#1a7f37", "#b3261e", "#24292f"
SHOWN = 6


def trained(folder: Path) -> tuple[assay.Dataset, dict[str, assay.Predictions]]:
    """Return the data, and the predictions of a trained model for test and ood."""
    if len(sys.argv) == 3:
        ds, files = assay.load(sys.argv[2]), Path(sys.argv[1]) / "predictions"
        return ds, {name: assay.read_predictions(files / f"{name}.parquet", ds.knowledge) for name in ("test", "ood")}
    ds = assay.make("mnadd-evenodd", folder / "data", n=4000)
    run = assay.train("dpl", ds, folder / "run", epochs=12, entropy_weight=1.0)
    return ds, {name: run.predict(name) for name in ("test", "ood")}


def different_pairs(split: assay.SplitData) -> list[int]:
    """Return the places of examples that show different pairs of digits, over the whole range of sums."""
    first: dict[tuple[int, ...], int] = {}
    for place, codes in enumerate(split.concepts.tolist()):
        first.setdefault(tuple(sorted(codes)), place)
    places = sorted(first.values(), key=lambda place: int(split.concepts[place].sum()))
    return [places[round(k * (len(places) - 1) / (SHOWN - 1))] for k in range(SHOWN)]


def draw_example(axis: Axes, image: np.ndarray, true: np.ndarray, read: np.ndarray, total: int) -> None:
    """Draw a picture, the digits that it shows, and those that the model reads."""
    axis.imshow(image, cmap="gray", interpolation="nearest")
    axis.set_axis_off()
    mark, colour = ("sum right", GOOD) if total == true.sum() else ("sum wrong", BAD)
    where = {"ha": "center", "va": "top", "fontsize": 12, "transform": axis.transAxes}
    axis.text(0.5, -0.05, f"shows {true[0]} + {true[1]} = {true.sum()}", color=INK, **where)
    axis.text(0.5, -0.25, f"reads {read[0]} + {read[1]} = {total}", color=BAD, weight="bold", **where)
    axis.text(0.5, -0.45, mark, color=colour, **where)


def draw_reading(axis: Axes, true: np.ndarray, read: np.ndarray) -> None:
    """Draw for each true digit how often the model reads it as which."""
    counts = np.zeros((10, 10))
    np.add.at(counts, (true.ravel(), read.ravel()), 1)
    axis.imshow(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), cmap="Reds", vmin=0, vmax=1.15)
    axis.plot(range(10), range(10), "s", markersize=16, markerfacecolor="none", markeredgecolor=GOOD)
    axis.set(xticks=range(10), yticks=range(10), xlabel="digit that the model reads", ylabel="true digit")
    axis.set_title("green squares: the true digit", fontsize=12, color=GOOD)
    axis.tick_params(length=0)


def draw(ds: assay.Dataset, predictions: dict[str, assay.Predictions]) -> Figure:
    """Return the figure."""
    split, said = ds["test"], predictions["test"]
    read = np.stack([said.concepts[name].codes for name in ("a", "b")], axis=1)
    sums = [int(ds.knowledge.labels[0].values[code]) for code in said.labels["sum"].codes]
    figure = plt.figure(figsize=(11, 4.3), dpi=160)
    grid = figure.add_gridspec(
        2, 5, width_ratios=[1, 1, 1, 0.25, 1.75], left=0.02, right=0.99, bottom=0.16, top=0.82, hspace=0.8
    )
    for number, place in enumerate(different_pairs(split)):
        axis = figure.add_subplot(grid[number // 3, number % 3])
        draw_example(axis, split.images[place], split.concepts[place], read[place], sums[place])
    draw_reading(figure.add_subplot(grid[:, 4]), split.concepts, read)
    rates = [assay.score(ds, predictions)[name]["label_accuracy"].value for name in ("test", "ood")]
    right = float((read == split.concepts).mean())
    title = f"{rates[0]:.0%} of the test sums are right, and {right:.0%} of the digits: a reasoning shortcut"
    figure.text(0.02, 0.93, title, fontsize=16, weight="bold", color=INK)
    figure.text(
        0.02,
        0.875,
        f"On pairs of digits that were not in training, {rates[1]:.0%} of the sums are right.",
        fontsize=12,
        color=INK,
    )
    return figure


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        figure = draw(*trained(Path(place)))
    figure.savefig(HERE / "images" / "finding.png")
    from PIL import Image

    picture = Image.open(HERE / "images" / "finding.png").convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(HERE / "images" / "finding.png", optimize=True)
