"""Sources of examples: worlds of a bundled task, and a plain picture of each, drawn fast.

Each concept has its own patch of the picture, and each value of it a fixed random glyph; concepts with equal values
share their glyphs. A glyph is moved by up to a pixel and differs in brightness; noise is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.ndimage import gaussian_filter

from assay.base import Array, Codes, Settings, rng_for
from assay.dataset import recipe_from
from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, ground_formula, names_in
from assay.tasks import Task

GLYPH, CELL, MARK, FRAME = 5, 7, 4, 5
"""Pixels: of a glyph, of a concept's patch, of a watermark, of the margin that watermarks are in."""


@dataclass(frozen=True)
class Look:
    """How pictures look: standard deviations of noise and blur (in pixels), brightness, places of a glyph."""

    noise: float = 0.1
    brightness: float = 1.0
    blur: float = 0.0
    places: int = 3

    def apply(self, images: Array, rng: np.random.Generator) -> Array:
        """Return pictures (a row an example, one channel) seen this way."""
        seen = images * self.brightness
        if self.blur:
            seen = gaussian_filter(seen, sigma=(0, 0, self.blur, self.blur))
        return (seen + rng.normal(0, self.noise, seen.shape)).astype(np.float32)


@dataclass(frozen=True)
class Batch:
    """Worlds, and the number of the picture of each where pictures are not drawn."""

    codes: Codes
    pictures: Array

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Array) -> "Batch":
        """Return some rows."""
        return Batch(self.codes[rows], self.pictures[rows])


class Source(Protocol):
    """Where examples come from: the knowledge that labels them, worlds of a split, and their pictures."""

    @property
    def knowledge(self) -> Knowledge:
        """The rule by which worlds get their labels."""

    @property
    def drawn(self) -> bool:
        """Whether any world can be drawn, so that there are counterfactual pairs."""

    def worlds(self, split: str, count: int, seed: int) -> Batch:
        """Return worlds of `train`, `test`, `ood` or `fresh`; no picture is in two of these."""

    def draw(self, batch: Batch, seed: int, look: Look, marks: Array | None = None) -> Array:
        """Return the pictures of worlds; the same seed gives changed worlds the same style."""


@dataclass(frozen=True)
class Glyphs:
    """The worlds of a task, with some of its labels and concepts, as pictures of glyphs."""

    task: Task
    knowledge: Knowledge
    columns: tuple[int, ...]
    most: tuple[int, ...]
    """The largest code of each concept: larger numbers of objects are taken for it."""
    drawn: bool = True

    def worlds(self, split: str, count: int, seed: int) -> Batch:
        """Return worlds of a split; `fresh` are further ones of training."""
        named = {part.name: part for part in self.task.splits()}
        wanted = {"fresh": "valid"}.get(split, split)
        part = named[wanted if wanted in named else "test"]
        source = self.task.source_for(part, seed + 1000 * (split == "fresh"))
        index = np.arange(min(count, part.size) if self.finite else count)
        codes = np.minimum(source.codes(index)[:, list(self.columns)], np.array(self.most))
        return Batch(codes, np.zeros(len(codes), dtype=np.int64))

    @cached_property
    def finite(self) -> bool:
        """Whether a split has no more worlds than it says."""
        try:
            part = self.task.splits()[0]
            self.task.source_for(part, 0).codes(np.array([part.size]))
        except IndexError:
            return True
        return False

    @cached_property
    def glyphs(self) -> tuple[Array, ...]:
        """The glyph of each value of each concept: lit pixels of a square; nothing where a slot is empty."""
        return tuple(_glyphs(concept) for concept in self.knowledge.space.concepts)

    def draw(self, batch: Batch, seed: int, look: Look, marks: Array | None = None) -> Array:
        """Return pictures; the margin on top has a watermark where `marks` says so."""
        rng, count, width = rng_for(seed, "style"), len(batch), len(self.glyphs)
        across = int(np.ceil(np.sqrt(width)))
        down = int(np.ceil(width / across))
        images = np.zeros((count, 1, FRAME + down * CELL, across * CELL), dtype=np.float64)
        moves = rng.integers(0, look.places, size=(count, width, 2))
        light = rng.uniform(0.7, 1.0, size=(count, width))
        rows = np.arange(count)[:, None, None]
        for place, glyphs in enumerate(self.glyphs):
            top, left = FRAME + (place // across) * CELL, (place % across) * CELL
            y = (top + moves[:, place, 0])[:, None, None] + np.arange(GLYPH)[None, :, None]
            x = (left + moves[:, place, 1])[:, None, None] + np.arange(GLYPH)[None, None, :]
            images[rows, 0, y, x] = glyphs[batch.codes[:, place]] * light[:, place, None, None]
        return look.apply(marked(images, marks), rng)


def marked(images: Array, marks: Array | None) -> Array:
    """Return pictures with a bright square in the upper right corner where `marks` says so."""
    if marks is not None:
        images[np.asarray(marks, dtype=bool), :, :MARK, -MARK:] = 1.0
    return images


def _glyphs(concept: Concept) -> Array:
    rng = rng_for(7, "glyphs", str(concept.values))
    glyphs = np.zeros((len(concept.values), GLYPH * GLYPH))
    for code in range(len(glyphs)):
        candidates = rng.random((200, GLYPH * GLYPH)) < 0.5
        apart = [min((np.abs(glyph - glyphs[k]).sum() for k in range(code)), default=0) for glyph in candidates]
        glyphs[code] = candidates[int(np.argmax(apart))]
    if concept.optional:
        glyphs[concept.values.index("absent")] = 0
    return glyphs.reshape(-1, GLYPH, GLYPH)


def task_source(
    name: str, labels: Sequence[str] = (), concepts: Sequence[str] = (), most: int = 0, rule: str = ""
) -> Glyphs:
    """Return a task as a source, with some of its labels or concepts, counts up to `most`, or another rule."""
    task = recipe_from(name, Settings({})).task
    chosen = labels or task.knowledge.label_names
    knowledge = replace(task.knowledge, labels=tuple(task.knowledge.label(label) for label in chosen))
    columns = tuple(task.knowledge.space.place(name) for name in concepts or task.knowledge.space.names)
    if concepts or rule or most:
        knowledge = restricted(knowledge, [task.knowledge.space.names[c] for c in columns], most, rule)
    limits = tuple(size - 1 for size in knowledge.space.sizes)
    return Glyphs(task, knowledge, columns, limits)


def restricted(knowledge: Knowledge, names: Sequence[str], most: int = 0, rule: str = "") -> Knowledge:
    """Return knowledge over some concepts, without slots, its formulas written out."""
    old = [knowledge.space.concept(name) for name in names]
    space = ConceptSpace(tuple(replace(c, values=c.values[: most + 1]) if most and c.counts else c for c in old))
    formulas = {label.name: ground_formula(label.formula, knowledge.space) for label in knowledge.labels}
    grounded = [Constraint(c.name, ground_formula(c.formula, knowledge.space), c.tags) for c in knowledge.constraints]
    limits = [c for c in grounded if set(names_in(c.formula)) <= set(names)]
    return Knowledge.of(space, {"y": rule} if rule else formulas, limits)
