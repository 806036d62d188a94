"""Checks of pictures and texts: source images, duplicates, what a changed concept changes, unfilled places."""

import re
from dataclasses import dataclass

import numpy as np

from assay.audit.examined import Examined, Part
from assay.audit.finding import Finding, first_few
from assay.audit.look import Look
from assay.concepts import listing
from assay.errors import AssayError
from assay.render.picture import Picture
from assay.seeds import rng_for
from assay.tasks.base import Task
from assay.worlds.world import World

MEAN_GAP = 1.5
LARGEST_GAP = 24
TOO_MANY = 0.01
WORLDS = 24
COMPARED = 2000
PLACEHOLDER = re.compile(r"\{[^{}]*\}|\[[A-Z_]{3,}\]|<[A-Z_]{3,}>|\bTODO\b")


def sources(data: Examined) -> Finding:
    """No source image (digit, photograph) occurs both where models learn and where they are tested."""
    if not any(any(part.ingredients) for part in data.parts.values()):
        why = "no source images are used" if data.task is not None else f"not known: {data.no_task}"
        return Finding("sources", "pass" if data.task is not None else "skip", why)
    if not data.training:
        return Finding("sources", "skip", "no training split")
    learned = {name for part in data.training for names in part.ingredients for name in names}
    shared = []
    for part in data.held_out:
        both = learned & {name for names in part.ingredients for name in names}
        if both:
            shared.append(f"{part.name} shows {len(both):,} of them, such as {min(both)}")
    if shared:
        return Finding("sources", "fail", f"source images of training occur elsewhere: {first_few(shared)}")
    return Finding("sources", "pass", f"{len(learned):,} source images of training occur nowhere else")


def duplicates(data: Examined) -> Finding:
    """Hardly any picture of a held-out split is one of training, or nearly."""
    training = [Shown(part, row) for part in data.training for row in range(len(part.pictures))][:COMPARED]
    asked = {part.name: [Shown(part, row) for row in range(len(part.pictures))] for part in data.held_out}
    if not training or not any(asked.values()):
        return Finding("duplicates", "skip", "no pictures to compare")
    found, worst = [], 0.0
    for name, pictures in asked.items():
        rows = _seen_before(training, pictures[:COMPARED]) if pictures else []
        share = len(rows) / max(1, min(COMPARED, len(pictures)))
        worst = max(worst, share)
        if share > TOO_MANY:
            found.append(f"{name}: {len(rows):,} pictures ({100 * share:.0f} %), such as row {rows[0]}")
    if found:
        return Finding("duplicates", "fail", f"pictures that training shows: {first_few(found)}", {"share": worst})
    text = f"at most {100 * worst:.1f} % of a held-out split is nearly in training"
    return Finding("duplicates", "pass", text, {"share": worst})


@dataclass(frozen=True)
class Shown:
    """A picture of a split, by its row."""

    part: Part
    row: int

    @property
    def look(self) -> Look:
        """The picture in a few numbers."""
        return self.part.looks[self.row]

    def like(self, other: "Shown") -> bool:
        """Return whether two pictures are the same but for noise."""
        if self.look.shape != other.look.shape or np.abs(self.look.small - other.look.small).mean() > MEAN_GAP:
            return False
        one, two = (shown.part.image(shown.row).astype(np.int16) for shown in (self, other))
        apart = np.abs(one - two)
        return bool(apart.mean() <= MEAN_GAP and apart.max() <= LARGEST_GAP)


def _seen_before(training: list[Shown], held_out: list[Shown]) -> list[int]:
    """Return the pictures that are like the training picture nearest by small copies."""
    small, asked = (np.stack([shown.look.small for shown in group]) for group in (training, held_out))
    gaps = (small**2).sum(axis=1)[None, :] - 2 * asked @ small.T
    pairs = zip(held_out, gaps.argmin(axis=1).tolist(), strict=True)
    return [shown.row for shown, nearest in pairs if shown.like(training[nearest])]


def invisible_concepts(data: Examined) -> list[str] | None:
    """Return the concepts whose change alters no pixel and no word in any world tried; None if it cannot be tried."""
    if data.task is None or not data.splits:
        return None
    if "hidden" not in data.memo:
        data.memo["hidden"] = _hidden(data, data.task)
    found: list[str] = data.memo["hidden"]
    return found


def _hidden(data: Examined, task: Task) -> list[str]:
    name = next((part.name for part in data.held_out), next(iter(data.parts)))
    split = data.splits[name]
    rng = rng_for(0, "audit", "visible")
    rows = rng.permutation(len(split))[:WORLDS].tolist()
    worlds = [split.world(row) for row in rows]
    names = [concept.name for concept in data.space.concepts if len(concept.values) > 1]
    shows = {name: _shows(task, worlds, name) for name in names}
    data.memo["untried"] = [name for name in names if shows[name] is None]
    return [name for name in names if shows[name] is False]


def _shows(task: Task, worlds: list[World], name: str) -> bool | None:
    """Return whether some change of a concept makes a difference; None where no change of it can be drawn."""
    tried = False
    for world in worlds:
        for value in task.space.concept(name).values:
            if value != world[name]:
                try:
                    other = task.change_world(world, {name: value})
                except AssayError:
                    other = None
                if other is None:
                    continue
                if _differ(task.render(world), task.render(other), task):
                    return True
                tried = True
    return False if tried else None


def _differ(before: Picture, after: Picture, task: Task) -> bool:
    """Return whether two pictures differ in what is written to disk and a model may see."""
    shown = [name for name in task.columns if name in ("image", "depth", "text")]
    return any(not np.array_equal(getattr(before, name), getattr(after, name)) for name in shown)


def visible(data: Examined) -> Finding:
    """Every concept shows: changing it changes the picture or the text."""
    hidden = invisible_concepts(data)
    if hidden is None:
        return Finding("visible", "skip", f"cannot be tried: {data.no_task}")
    if hidden:
        text = f"changing {', '.join(hidden)} alters nothing that is shown, in {WORLDS} worlds"
        return Finding("visible", "fail", text, {"hidden": hidden})
    untried: list[str] = data.memo["untried"]
    if len(untried) == sum(size > 1 for size in data.space.sizes):
        return Finding("visible", "skip", "no world can be drawn again with a concept changed")
    text = "changing any concept changes what is shown"
    left = f", but for {listing(untried, 5)}, which no world could be drawn again with" if untried else ""
    return Finding("visible", "note" if untried else "pass", text + left)


def texts(data: Examined) -> Finding:
    """No text has an unfilled place, none is empty."""
    parts = [part for part in data.parts.values() if len(part.texts)]
    if not parts:
        return Finding("texts", "skip", "there are no texts")
    faults = [fault for part in parts for fault in _text_faults(part)]
    if faults:
        return Finding("texts", "fail", f"unfinished texts: {first_few(faults)}")
    total = sum(len(part.texts) for part in parts)
    return Finding("texts", "pass", f"{total:,} texts without an unfilled place")


def _text_faults(part: Part) -> list[str]:
    unfilled = [row for row, text in enumerate(part.texts) if PLACEHOLDER.search(text)]
    empty = [row for row, text in enumerate(part.texts) if not text.strip()]
    faults = []
    if unfilled:
        sample = PLACEHOLDER.search(part.texts[unfilled[0]])
        what = sample.group() if sample else ""
        faults.append(f"{part.name}: {len(unfilled):,} of {len(part.texts):,} hold an unfilled place such as {what}")
    return faults + ([f"{part.name}: {len(empty):,} are empty"] if empty else [])
