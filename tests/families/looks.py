"""How models look, in a few numbers each: what is drawn otherwise changes a task's pictures, and so its version.

`python -m tests.families.looks` measures all models anew and writes each family's `looks.json`; raise its version too.
"""

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.render import AreaLight, Material, Mesh, Scene
from assay.tasks import SceneTask

HERE, FILE = Path(__file__).parent, "looks.json"
Model = Iterable[tuple[Mesh, Material]]
Looks = dict[str, Callable[[], list[float]]]


def measure_model(model: Model) -> list[float]:
    """Return surface, middle, extent and colour of a model, each piece by its surface."""
    total = np.zeros(14)
    for mesh, material in model:
        corners = mesh.vertices[mesh.faces]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
        middles = corners.mean(axis=1)
        facts = [material.roughness, material.metallic, material.emission]
        parts = [areas.sum(), *(areas @ middles), *(areas @ middles**2), *(areas @ np.abs(middles))]
        total += np.array([*parts, *(areas.sum() * np.array([*material.color, 1 + sum(facts)]))])
    return [round(float(number), 4) for number in total]


def measure_scene(scene: Scene) -> dict[str, list[float]]:
    """Return the measures of each thing of a scene in its place, and of camera, lights and sky."""
    models: dict[str, list[tuple[Mesh, Material]]] = {}
    for instance in scene.instances:
        points = instance.mesh.vertices @ instance.matrix[:3, :3].T + instance.matrix[:3, 3]
        moved = Mesh(instance.mesh.name, points, instance.mesh.normals, instance.mesh.faces)
        models.setdefault(instance.thing or "background", []).append((moved, instance.material))
    camera, sky = scene.camera, scene.sky
    view = [*camera.eye, *camera.target, camera.fov, scene.exposure, *sky.zenith, *sky.horizon, *sky.below]
    for light in scene.lights:
        view += [*(light.position if isinstance(light, AreaLight) else light.direction), *light.color]
        view += [light.power, light.size] if isinstance(light, AreaLight) else [light.strength, light.angle]
    return {
        "view": [round(float(x), 4) for x in view],
        **{name: measure_model(model) for name, model in models.items()},
    }


def measure_stage(scene: Scene) -> list[float]:
    """Return what of a scene is neither a thing nor the sky: picture, camera, ground, where lamps shine, textures."""
    camera, ground = scene.camera, scene.ground
    numbers = [scene.width, scene.height, *camera.up, len(camera.projection), len(scene.instances)]
    materials = [instance.material for instance in scene.instances] + ([ground.material] if ground else [])
    if ground:
        numbers += [ground.z, *ground.material.color, ground.material.roughness, ground.material.metallic]
    for texture in {id(m.texture): m.texture for m in materials if m.texture}.values():
        numbers += [*texture.corner, *texture.size, *texture.pixels.shape, *measure_picture(texture.pixels, 3)]
    targets = [light.target for light in scene.lights if isinstance(light, AreaLight)]
    return [round(float(number), 4) for number in (*numbers, *np.ravel(targets))]


def scene_looks(task: SceneTask, label: str, places: Sequence[int] = (0, 1, 2)) -> Looks:
    """Return what measures the scenes of the first training worlds of a task."""

    def measured() -> list[float]:
        worlds = task.worlds_in(task.splits()[0], 0).worlds(np.array(places))
        things = [numbers for world in worlds for numbers in measure_scene(task.scene(world)).values()]
        return [number for numbers in things for number in numbers]

    return {label: measured}


def measure_picture(image: np.ndarray, blocks: int = 6) -> list[float]:
    """Return the mean colour of each of so many by so many parts of a picture."""
    rows, columns = (np.array_split(np.arange(size), blocks) for size in image.shape[:2])
    colours = [image[np.ix_(row, column)].mean(axis=(0, 1)) for row in rows for column in columns]
    return np.ravel(colours).round(2).tolist()


def require_look(family: str, name: str, measured: list[float], tolerance: float) -> None:
    """Fail where a model looks otherwise than when it was measured."""
    known: Mapping[str, list[float]] = json.loads((HERE / family / FILE).read_text(encoding="utf-8"))
    assert measured == pytest.approx(known[name], rel=2e-3, abs=tolerance), (
        f"{family}: {name} looks otherwise; if it should, raise the task's version: python -m tests.families.looks"
    )


def write_measured(path: Path, measured: Mapping[str, Any]) -> None:
    """Write what was measured as JSON, a line for each name."""
    lines = [f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in measured.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Measure everything and write it down."""
    for path in sorted(HERE.glob("*/test_look.py")):
        looks: Looks = importlib.import_module(f"tests.families.{path.parent.name}.test_look").LOOKS
        write_measured(path.parent / FILE, {name: look() for name, look in looks.items()})


if __name__ == "__main__":
    main()
