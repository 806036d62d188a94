"""Engines that render scenes: a built-in ray tracer, and Blender; both give the object of each pixel."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from assay.base import Array, MissingExtra, UnknownName, import_extra, install_line, suggestion
from assay.render.picture import ObjectBox, Picture, boxes_of
from assay.render.scene import Scene, Shot

Engine = Literal["embedded", "blender"]
Quality = Literal["draft", "standard", "high"]
ENGINES: tuple[str, ...] = get_args(Engine)
QUALITIES: tuple[str, ...] = get_args(Quality)
FULL = 65_535
SOLIDS = "a scene in three dimensions"
TRACER = "the embedded ray tracer"
MISSING = f"drawing with Blender needs: {install_line('blender')}"


def shoot(scene: Scene, engine: str = "embedded", quality: str = "standard") -> Shot:
    """Render a scene with an engine; return the image with the object, part and depth of each pixel.

    Parameters
    ----------
    scene
        What to render.
    engine
        `embedded` or `blender`.
    quality
        `draft`, `standard` or `high`.
    """
    if quality not in QUALITIES:
        raise UnknownName(f"no quality named {quality!r}{suggestion(quality, QUALITIES)}")
    if engine == "embedded":
        import_extra("numba", TRACER)
        from assay.render.engines.ray_tracer import trace_scene

        return trace_scene(scene, quality)
    if engine == "blender":
        from assay.render.engines.blender import render_with_blender

        return render_with_blender(scene, quality)
    raise UnknownName(f"no engine named {engine!r}{suggestion(engine, ENGINES)}")


def check_engine(engine: str) -> None:
    """Raise if an engine, or what builds solids for it, is not installed."""
    import_extra("manifold3d", SOLIDS)
    if engine == "embedded":
        import_extra("numba", TRACER)
    if engine == "blender":
        from assay.render.engines.blender import interpreter

        if interpreter() is None:
            raise MissingExtra(MISSING)


def label_pixels(scene: Scene) -> Shot:
    """Return the object, part and depth of each pixel without an image: much faster than `shoot`."""
    import_extra("numba", TRACER)
    from assay.render.engines.ray_tracer import trace_labels

    return trace_labels(scene)


def picture_of(scene: Scene, farthest: float, engine: str = "embedded", quality: str = "standard") -> Picture:
    """Return a task's picture of a scene; depths beyond `farthest` count as that.

    Parameters
    ----------
    scene
        What to render.
    farthest
        The depth that counts as the greatest, as do all beyond.
    engine
        `embedded` or `blender`.
    quality
        `draft`, `standard` or `high`.
    """
    shot = shoot(scene, engine, quality)
    things = boxes_of(shot.things, scene.things) + boxes_of(shot.parts, scene.parts)
    depth = np.rint(np.minimum(shot.depth / farthest, 1.0) * FULL).astype(np.uint16)
    parts = np.where(shot.parts > 0, shot.parts + len(scene.things), 0) if scene.parts else None  # numbers in `things`
    return Picture(
        shot.image, things, _narrow(shot.things, things), None if parts is None else _narrow(parts, things), depth
    )


def _narrow(numbers: Array, things: Sequence[ObjectBox]) -> Array:
    """Return a map of numbers in as few bytes as hold them."""
    return numbers.astype(np.uint8 if len(things) < 256 else np.uint16)
