"""Where a camera sees the floor of CLE4EVR, and places on it for objects: in the picture, apart, none behind another.

Places suit objects of every size and shape, so that a world keeps them when a concept changes. Objects stand in the
order of their places from left to right in the picture: that is how a reader knows which is the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import atan, degrees, radians, tan

import numpy as np

from assay.base import Array
from assay.render import Camera, Vector

EYE: Vector = (0.0, -11.0, 7.4)
TARGET: Vector = (0.0, 0.0, 0.25)
REACH, FOV, ASPECT = 3.0, 34.0, 4 / 3
"""Objects stand between -REACH and REACH in x and in y; then the picture is so many degrees wide."""
RIM = 0.012
"""The part of the picture's width that stays free at its edges."""
TALL = 2.0
"""The height of the tallest shape, in radii."""
CANDIDATES = 96
DISC = np.array([(r * np.cos(a), r * np.sin(a)) for r in (0.35, 0.7, 1.0) for a in np.arange(0, 2 * np.pi, np.pi / 6)])
"""Points all over a disc of radius 1."""


@dataclass(frozen=True)
class CameraView:
    """A picture's size, how far objects stand from the middle, and how far the camera is moved from its usual place."""

    width: int
    height: int
    reach: float = REACH
    jitter: tuple[float, ...] = (0.0, 0.0, 0.0)

    @cached_property
    def camera(self) -> Camera:
        """The camera; wide pictures see more to the sides, tall ones more above and below."""
        wide = self.reach / REACH * max(1.0, self.width / self.height / ASPECT)
        x, y, z = (place + by for place, by in zip(EYE, self.jitter, strict=True))
        return Camera((x, y, z), TARGET, 2 * degrees(atan(wide * tan(radians(FOV / 2)))))

    @cached_property
    def axes(self) -> Array:
        """The directions to the right, up, and into the picture, a row each."""
        ahead = np.subtract(self.camera.target, self.camera.eye)
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right = right / np.linalg.norm(right)
        return np.stack([right, np.cross(right, ahead), ahead])

    @property
    def focus(self) -> float:
        """How many pixels a length of 1 has at distance 1."""
        return self.width / 2 / tan(radians(self.camera.fov / 2))

    def project(self, points: Array) -> Array:
        """Return column, row and depth of points in space, a row each."""
        right, up, ahead = np.moveaxis((np.asarray(points) - self.camera.eye) @ self.axes.T, -1, 0)
        scale = self.focus / ahead
        return np.stack([self.width / 2 + right * scale, self.height / 2 - up * scale, ahead], axis=-1)


@dataclass(frozen=True)
class Bodies:
    """Where bodies of one radius show that stand at some places: each an upright capsule of pixels."""

    columns: Array
    tops: Array
    bottoms: Array
    halves: Array
    depths: Array

    @classmethod
    def at(cls, view: CameraView, spots: Array, radius: float, tall: float = TALL) -> "Bodies":
        """Return bodies that are `tall` radii high."""
        low, high = (np.insert(spots, 2, height * radius, axis=-1) for height in (0.5, max(0.5, tall - 0.5)))
        feet, heads = view.project(low), view.project(high)
        depths = view.project(np.insert(spots, 2, 0.0, axis=-1))[..., 2]
        return cls(feet[..., 0], heads[..., 1], feet[..., 1], radius * view.focus / feet[..., 2], depths)

    def points(self) -> Array:
        """Return points all over each body: places x points x (column, row)."""
        middles = (np.stack([self.columns, rows], axis=-1) for rows in (self.tops, self.bottoms))
        return np.concatenate(
            [middle[..., None, :] + self.halves[..., None, None] * DISC for middle in middles], axis=-2
        )

    def cover(self, points: Array) -> Array:
        """Return whether each body covers each point: bodies x points."""
        columns, rows = points[None, ..., 0], points[None, ..., 1]
        own = (slice(None), *([None] * (points.ndim - 1)))
        nearest = np.clip(rows, self.tops[own], self.bottoms[own])
        return np.asarray((columns - self.columns[own]) ** 2 + (rows - nearest) ** 2 <= self.halves[own] ** 2)


@dataclass(frozen=True)
class Placement:
    """What places must keep to.

    `least`, `most`   the radii of the smallest and the largest objects
    `apart`           how far objects must be from one another, both as large as they can be
    `margin`          how far apart their middles must be from left to right
    `share`           how much of the smallest object must show behind the largest; 1: the largest must, wholly
    """

    view: CameraView
    least: float
    most: float
    apart: float
    margin: float
    share: float

    @property
    def farthest(self) -> float:
        """How far away the farthest object stands."""
        return float(self.view.project(np.array([[0.0, self.view.reach, 0.0]]))[0, 2])

    def scatter(self, rng: np.random.Generator, count: int) -> Array | None:
        """Draw places (x, y) one after another, as far as there is room for all; sorted from left to right."""
        spots = np.zeros((0, 2))
        for _ in range(count):
            fitting = self.fitting_spot(spots, self.draw_candidates(rng))
            if not len(fitting):
                return None
            spots = np.concatenate([spots, fitting])
        return spots[np.argsort(self.columns(spots), kind="stable")]

    def draw_candidates(self, rng: np.random.Generator) -> Array:
        """Draw places, fitting or not."""
        return rng.uniform(-self.view.reach, self.view.reach, (CANDIDATES, 2)).round(3)

    def columns(self, spots: Array) -> Array:
        """Return how far to the right in the picture objects at these places stand."""
        return np.asarray(self.view.project(np.insert(spots, 2, 0.0, axis=-1))[..., 0])

    def fitting_spot(self, spots: Array, candidates: Array) -> Array:
        """Return the first of the candidates at which one more object can stand, as one row, or no row."""
        free = candidates[self._inside(candidates)]
        if not len(spots) or not len(free):
            return free[:1]
        gaps = np.linalg.norm(free[:, None] - spots[None], axis=-1)
        free = free[(gaps >= 2 * self.most + self.apart).all(axis=1)]
        pixels = self.view.focus / self.view.project(np.zeros((1, 3)))[0, 2]
        beside = np.abs(self.columns(free)[:, None] - self.columns(spots)[None]) >= self.margin * pixels
        free = free[beside.all(axis=1)][:8]
        seen = (self.visible_shares(np.concatenate([spots, spot[None]])).min() >= self.share for spot in free)
        first = next((place for place, enough in enumerate(seen) if enough), len(free))
        return np.asarray(free[first : first + 1])

    def _inside(self, spots: Array) -> Array:
        bodies = Bodies.at(self.view, spots, self.most)
        rim = RIM * self.view.width
        inside = (bodies.columns - bodies.halves >= rim) & (bodies.columns + bodies.halves <= self.view.width - rim)
        above = bodies.tops - bodies.halves >= rim
        return np.asarray(inside & above & (bodies.bottoms + bodies.halves <= self.view.height - rim))

    def visible_shares(self, spots: Array) -> Array:
        """Return the share that shows of an object at each place, in the worst case of sizes and shapes."""
        if self.share == 1:
            return self._visible_shares(spots, Bodies.at(self.view, spots, self.most))
        return self._visible_shares(spots, Bodies.at(self.view, spots, self.least, tall=1.0))

    def _visible_shares(self, spots: Array, bodies: Bodies) -> Array:
        hiding = Bodies.at(self.view, spots, self.most)
        covers = hiding.cover(bodies.points()) & (hiding.depths[:, None] < bodies.depths[None, :])[..., None]
        return np.asarray(1 - covers.any(axis=0).mean(axis=-1))

    def find_spots(self, rng: np.random.Generator, count: int, tries: int) -> Array | None:
        """Return places for so many objects, found in so many tries, or None."""
        return next((spots for _ in range(tries) if (spots := self.scatter(rng, count)) is not None), None)

    def holds(self, rng: np.random.Generator, count: int) -> bool:
        """Return whether so many objects fit easily: places are found more often than in one of three tries."""
        return sum(self.scatter(rng, count) is not None for _ in range(12)) > 4

    def seen_from(self, jitter: Sequence[float]) -> "Placement":
        """Return the same room, the camera moved."""
        return replace(self, view=replace(self.view, jitter=tuple(jitter)))


@dataclass(frozen=True)
class OrderedPlacement(Placement):
    """Places of which it can be told on which side of the picture they are, and which of two is nearer."""

    gap: float = 0.1
    """How much nearer one of two must be."""

    @classmethod
    def of(cls, usual: Placement) -> "OrderedPlacement":
        """Return places that keep to what others do, and can be told apart."""
        return cls(usual.view, usual.least, usual.most, usual.apart, usual.margin, usual.share)

    def fitting_spot(self, spots: Array, candidates: Array) -> Array:
        """Return the first of the candidates at which one more object can stand, as one row, or no row."""
        columns, depths = self.seen_at(candidates)
        clear = np.abs(columns - self.view.width / 2) >= self.margin / 2 * self.view.focus / self.farthest
        if len(spots):
            clear &= (np.abs(depths[:, None] - self.seen_at(spots)[1][None]) >= self.gap).all(axis=1)
        return super().fitting_spot(spots, candidates[clear])

    def seen_at(self, spots: Array) -> tuple[Array, Array]:
        """Return how far to the right in the picture, and how far away, objects at these places stand."""
        seen = self.view.project(np.insert(spots, 2, 0.0, axis=-1))
        return np.asarray(seen[..., 0]), np.asarray(seen[..., 2])
