"""A train as a scene: the engine, the cars behind it, the rails, and what they stand in.

That is a studio, or a desert seen from above, at eye level, or through a fisheye lens.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from assay.base import Array, rng_for
from assay.families.trains.drawing import blocks, cars, materials
from assay.families.trains.drawing.appearance import TrainAppearance
from assay.families.trains.drawing.materials import bevelled_box
from assay.logic import Value
from assay.render import (
    AreaLight,
    Camera,
    Ground,
    Instance,
    Material,
    Mesh,
    Scene,
    Sky,
    Sun,
    Texture,
    linear_rgb,
    mesh_of,
    pose,
    union,
)

Car = Mapping[str, Value]
PIVOT = (0.0, -0.1)
"""What the train turns about, and where its middle is."""
SUNK = 0.2
"""How deep the lengths of trains begin below the ground."""
SLEEPERS = 44
GAUGE = 1.42
"""From the middle of one rail to that of the other."""
SLEEPER_STEP = 0.8
LARGEST = 1.12
"""How large loads are at most; where many share a short car they are smaller."""
RAIL, ENGINE = "rail", "locomotive"


def train_scene(train: Sequence[Car], angle: float, appearance: TrainAppearance) -> Scene:
    """Return the scene of a train that is turned by an angle; its cars follow the engine in their order."""
    pieces = _toys(train) if appearance.visualization == "trains" else _blocks(train)
    scale, instances = appearance.scale(len(train)), []
    turned = pose((*PIVOT, 0.0), angle, scale)
    for mesh, material, matrix, thing, part in pieces:
        instances.append(Instance(mesh, material, turned @ matrix, thing, part))
    background = surroundings(appearance.background)
    return Scene(
        appearance.width, appearance.height, background.camera, tuple(instances), background.lights,
        background.sky, background.ground, background.exposure,
    )  # fmt: skip


Piece = tuple[Mesh, Material, Array, str, str]


def _at(x: float, z: float = 0.0, scale: float = 1.0) -> Array:
    return pose((x, 0.0, z), scale=scale)


def _places(lengths: Sequence[float]) -> list[float]:
    """Return the middle of each of some lengths that follow one another backwards, all of them around 0."""
    ends = sum(lengths) / 2 - np.cumsum(lengths)
    return [float(end + length / 2) for end, length in zip(ends, lengths, strict=True)]


@cache
def _rails(length: int) -> cars.Pieces:
    """Return two steel bars on sleepers, longer than any train; their upper side is at z = 0.5."""
    long = length * SLEEPER_STEP
    bars = union(*(bevelled_box(long, 0.12, 0.16, 0.02).translate((0, sign * GAUGE / 2, 0.34)) for sign in (-1, 1)))
    places = (np.arange(length) - (length - 1) / 2) * SLEEPER_STEP
    sleepers = union(*(bevelled_box(0.3, 2.3, 0.16, 0.03).translate((float(x), 0, 0.2)) for x in places))
    return (
        (mesh_of(f"rails-{length}", bars), materials.STEEL),
        (mesh_of(f"sleepers-{length}", sleepers), materials.SLEEPER),
    )


def _toys(train: Sequence[Car]) -> Iterator[Piece]:
    first, *places = _places([cars.ENGINE_SPACE, *(cars.SPACE[str(car["length"])] for car in train)])
    for mesh, material in _rails(SLEEPERS):
        yield mesh, material, _at(0.0, -SUNK), RAIL, ""
    for part, mesh, material in cars.engine():
        yield mesh, material, _at(first, -SUNK), ENGINE, part
    for number, (car, x) in enumerate(zip(train, places, strict=True), start=1):
        yield from _toy_car(car, x, f"car{number}")


def _toy_car(car: Car, x: float, thing: str) -> Iterator[Piece]:
    length, colour, at = str(car["length"]), materials.COLOURS[str(car["colour"])], _at(x, -SUNK)
    hook = _at(x + cars.SPACE[length] / 2, -SUNK)
    yield cars.coupling(), materials.STEEL, hook, thing, "floor"
    yield cars.floor(length), colour, at, thing, "floor"
    yield cars.walls(str(car["wall"]), length), colour, at, thing, "wall"
    for mesh, material in cars.wheels(int(car["axles"]), length):
        yield mesh, material, at, thing, "wheels"
    if car["roof"] != "none":
        yield cars.roof(str(car["roof"]), length), colour, at, thing, "roof"
    if car["load"] != "none":
        yield from _toy_loads(str(car["load"]), int(car["loads"]), x, length, thing)


def _toy_loads(kind: str, count: int, x: float, length: str, thing: str) -> Iterator[Piece]:
    room = cars.body(length) - 3 * cars.THICK
    step = min(1.05, room / max(1, count))
    size = min(LARGEST, step / cars.WIDE)
    for place in range(count):
        at = _at(x + ((count - 1) / 2 - place) * step, cars.DECK + cars.STAND - SUNK, size)
        for mesh, material in cars.load(kind):
            yield mesh, material, at, thing, f"payload{place + 1}"


def _blocks(train: Sequence[Car]) -> Iterator[Piece]:
    lengths = [blocks.ENGINE, *(blocks.SPACE[str(car["length"])] for car in train)]
    first, *places = _places([length + blocks.GAP for length in lengths])
    yield blocks.strip(36), materials.STRIP, _at(0.0), RAIL, ""
    for part, mesh, material in blocks.engine():
        yield mesh, material, _at(first, blocks.STRIP), ENGINE, part
    for number, (car, x) in enumerate(zip(train, places, strict=True), start=1):
        yield from _block_car(car, x, f"car{number}")


def _block_car(car: Car, x: float, thing: str) -> Iterator[Piece]:
    roof, length, colour = str(car["roof"]), str(car["length"]), materials.COLOURS[str(car["colour"])]
    layers = {
        "wheels": ("bottom", materials.BLACK if car["axles"] == 3 else colour),
        "roof": ("middle", colour),
        "wall": ("top", materials.BLACK if car["wall"] == "braced" else colour),
    }
    for part, (layer, material) in layers.items():
        yield blocks.block(roof, length, layer), material, _at(x, blocks.STRIP), thing, part
    if car["load"] != "none":
        for place, off in enumerate(reversed(blocks.load_places(int(car["loads"]), length)), start=1):
            z = blocks.height_at(roof, length, off) + blocks.STRIP
            yield blocks.load(str(car["load"])), materials.ORANGE, _at(x + off, z), thing, f"payload{place}"


def positions(scene: Scene) -> dict[str, tuple[float, float, float]]:
    """Return the middle of each thing and of each of its parts ("car1/roof") in the scene, by the box around it."""
    corners: dict[str, list[Array]] = {}
    for instance in scene.instances:
        points = instance.mesh.vertices @ instance.matrix[:3, :3].T + instance.matrix[:3, 3]
        for name in filter(None, (instance.thing, instance.part_name)):
            corners.setdefault(name, []).append(np.stack([points.min(axis=0), points.max(axis=0)]))
    boxes = {name: np.stack(ends) for name, ends in corners.items()}
    middles = {name: (ends[:, 0].min(axis=0) + ends[:, 1].max(axis=0)) / 2 for name, ends in boxes.items()}
    return {name: (float(at[0]), float(at[1]), float(at[2])) for name, at in middles.items()}


FOV = 49.134
"""The horizontal angle of a lens of 35 mm on a sensor of 32 mm."""
FISHEYE = 98.03
"""That of an equisolid lens of 15 mm on a sensor of 24.89 mm."""
TILE, TEXELS = 24.0, 768


@dataclass(frozen=True)
class Surroundings:
    """All of a scene but the train."""

    camera: Camera
    lights: tuple[AreaLight | Sun, ...]
    sky: Sky
    ground: Ground
    exposure: float


@cache
def surroundings(background: str) -> Surroundings:
    """Return the stage of a background."""
    if background == "base":
        return _studio()
    camera = {
        "desert": Camera((0.0, 11.0, 4.0), (0.0, 0.0, 0.0), FOV),
        "desert_sky": Camera((0.0, 11.0, 3.0), (0.0, 0.0, 1.1), FOV),
        "fisheye": Camera((0.0, 7.0, 3.0), (0.0, 0.0, 0.5), FISHEYE, projection="fisheye"),
    }[background]
    return _desert(camera)


def _studio() -> Surroundings:
    middle = (0.0, 0.0, 0.0)
    lights = (AreaLight((6.5, 6.5, 6.0), middle, 3.0, 760.0), AreaLight((-6.5, 4.0, 5.5), middle, 4.0, 420.0))
    ground = Ground(Material(linear_rgb(176, 178, 182), roughness=0.9))
    return Surroundings(
        Camera((0.0, 11.0, 4.0), middle, FOV), lights, Sky((0.42,) * 3, (0.42,) * 3, (0.3,) * 3), ground, 1.0
    )


def _desert(camera: Camera) -> Surroundings:
    sun = Sun((-0.55, 0.6, 0.75), 3.0, angle=1.0, color=(1.0, 0.95, 0.86))
    sky = Sky(zenith=(0.11, 0.27, 0.62), horizon=(0.55, 0.68, 0.82), below=(0.4, 0.31, 0.2))
    sand = Material(roughness=1.0, texture=Texture(_sand(), (-TILE / 2, -TILE / 2), (TILE, TILE)))
    return Surroundings(camera, (sun,), sky, Ground(sand), 1.0)


@cache
def _sand() -> Array:
    """Return a square of sand that repeats: soft patches, and ripples that the wind has drawn."""
    rng = rng_for(0, "trains", "sand")
    patches: Array = np.sum([_noise(rng, waves) / waves**0.6 for waves in (3, 6, 12, 24, 96, 300)], axis=0)
    rows, columns = np.mgrid[0:TEXELS, 0:TEXELS] * (2 * np.pi / TEXELS)
    bend = _noise(rng, 5)
    ripples = np.sin(34 * rows + 6 * columns + 2.2 * bend) * (0.6 + 0.4 * np.tanh(_noise(rng, 4)))
    light = 1.0 + 0.075 * patches / patches.std() + 0.04 * ripples
    colour: Array = np.clip(np.array([206, 164, 112]) * light[:, :, None], 0, 255).astype(np.uint8)
    return colour


def _noise(rng: np.random.Generator, waves: int) -> Array:
    """Return smooth noise of about so many waves across, periodic, of standard deviation 1."""
    white = np.fft.rfft2(rng.standard_normal((TEXELS, TEXELS)))
    high = np.fft.fftfreq(TEXELS, 1 / TEXELS)[:, None]
    wide = np.fft.rfftfreq(TEXELS, 1 / TEXELS)[None, :]
    gains = np.exp(-((np.hypot(high, wide) / waves) ** 2))
    noise = np.fft.irfft2(white * gains, s=(TEXELS, TEXELS))
    smooth: Array = (noise - noise.mean()) / noise.std()
    return smooth
