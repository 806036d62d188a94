"""Draws the pictures of the trains page: styles, backgrounds, roofs, loads, long trains, interventions."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.families.trains.drawing.appearance import TrainAppearance
from assay.families.trains.drawing.scene import train_scene
from assay.families.trains.source import remove_roofs, swap_loads
from assay.families.trains.task import MichalskiTrains
from assay.worlds import World

HERE = Path(__file__).parents[1] / "images"
WIDTH, GAP, QUALITY = 320, 8, 82
CAR = {"colour": "blue", "length": "short", "wall": "solid", "roof": "none", "axles": 2, "loads": 1, "load": "box"}
ROOFS = ("foundation", "solid", "braced", "peaked")
LOADS = ("box", "golden_vase", "barrel", "diamond", "metal_pot", "oval_vase")
Row = list[Image.Image]


def drawn(**settings: Any) -> tuple[MichalskiTrains, list[World]]:
    """Return a task and its first test worlds."""
    task = MichalskiTrains(width=WIDTH, **settings)
    source = task.source_for(next(held for held in task.splits() if held.name == settings.get("split", "test")), 0)
    return task, source.worlds(np.arange(60))


def shown(task: MichalskiTrains, world: World) -> Image.Image:
    """Return the picture of a world."""
    return Image.fromarray(task.render(world).image)


def of_cars(cars: list[dict[str, Any]], visualization: str, angle: float = -14.0) -> Image.Image:
    """Return the picture of a train made of these cars, cut to where it stands."""
    from assay.render import shoot

    appearance = TrainAppearance(visualization, "base", 4, 2 * WIDTH, 2 * WIDTH * 9 // 16)  # type: ignore[arg-type]
    image = Image.fromarray(shoot(train_scene(cars, angle, appearance)).image)
    return image.crop((0, 30, 2 * WIDTH, 240))


def strips() -> dict[str, list[Row]]:
    """Return the rows of pictures of each strip."""
    made: dict[str, list[Row]] = {"styles": [], "backgrounds": []}
    for visualization in ("trains", "blocks"):
        task, worlds = drawn(visualization=visualization)
        made["styles"].append([shown(task, world) for world in worlds[:3]])
        row = []
        for background in ("base", "desert", "desert_sky", "fisheye"):
            task, worlds = drawn(visualization=visualization, background=background)
            row.append(shown(task, worlds[3]))
        made["backgrounds"].append(row)
    for visualization in ("trains", "blocks"):
        kinds = [{**CAR, "roof": roof, "wall": wall} for roof, wall in zip(ROOFS, ("solid", "braced") * 2, strict=True)]
        made[f"{visualization}-roofs"] = [[of_cars(kinds, visualization)]]
        some = [{**CAR, "load": load, "loads": 2, "colour": "yellow"} for load in LOADS]
        made[f"{visualization}-loads"] = [[of_cars(some[:3], visualization)], [of_cars(some[3:], visualization)]]
    task = MichalskiTrains(width=WIDTH, ood_longer=7, ood_uniform=True)
    splits = {split.name: split for split in task.splits()}
    made["ood"] = [
        [shown(task, task.source_for(splits[s], 0).worlds(np.arange(2))[1]) for s in ("ood_longer", "ood_uniform")]
    ]
    made["interventions"] = interventions()
    return made


def interventions() -> list[Row]:
    """Return trains before and after each intervention."""
    task, worlds = drawn()
    rows = []
    for change in (swap_loads, remove_roofs):
        pairs = [(world, change(world)) for world in worlds]
        before, after = next((a, b) for a, b in pairs if b is not None and sum(map(int.__ne__, a.codes, b.codes)) > 1)
        rows.append([shown(task, before), shown(task, after)])
    return rows


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, rows in strips().items():
        width = max(sum(one.width + GAP for one in row) for row in rows) - GAP
        strip = Image.new("RGB", (width, sum(row[0].height + GAP for row in rows) - GAP), "white")
        top = 0
        for row in rows:
            left = 0
            for one in row:
                strip.paste(one, (left, top))
                left += one.width + GAP
            top += row[0].height + GAP
        small = strip.resize((min(strip.width, 960), round(strip.height * min(strip.width, 960) / strip.width)))
        small.save(HERE / f"trains-{name}.jpg", quality=QUALITY, optimize=True)  # a palette would change the paint


if __name__ == "__main__":
    main()
