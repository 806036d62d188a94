"""Probes into solids: where there is matter and where there is none, and how far it reaches."""

from collections.abc import Iterable
from typing import Any

from manifold3d import Manifold

Point = tuple[float, float, float]
SIZE = 0.01


def bare_solids(monkeypatch: Any, *modules: Any) -> None:
    """Let modules return solids in place of their meshes."""
    for module in modules:
        monkeypatch.setattr(module, "mesh_of", lambda name, solid, crease=35.0: solid)


def inside(solid: Manifold, points: Iterable[Point]) -> list[float]:
    """Return which share of a small cube about each point is filled."""
    cube = Manifold.cube((SIZE, SIZE, SIZE), True)
    return [round((solid ^ cube.translate(point)).volume() / SIZE**3, 2) for point in points]


def require_matter(solid: Manifold, full: Iterable[Point], empty: Iterable[Point]) -> None:
    """Fail where a solid has none at a point where it should, or some where it should not."""
    full, empty = list(full), list(empty)
    lacking = [point for point, share in zip(full, inside(solid, full), strict=True) if share < 0.99]
    beyond = [point for point, share in zip(empty, inside(solid, empty), strict=True) if share > 0.01]
    assert not lacking and not beyond, f"no matter at {lacking}; matter at {beyond}"


def extent(solid: Manifold) -> list[float]:
    """Return the least and the greatest x, y and z."""
    return [round(float(number), 4) for number in solid.bounding_box()]
