"""Checks of pictures and texts: source images, duplicates, what a changed concept changes, unfilled places."""

import re

import numpy as np

from assay.arrays import Array
from assay.audit.examined import Examined, Part
from assay.audit.finding import Finding, first_few
from assay.errors import AssayError
from assay.seeds import rng_for
from assay.tasks.base import Task
from assay.worlds.world import World

THUMB = 16
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
    training = [image for part in data.training for image in part.images]
    if not training or not data.held_out:
        return Finding("duplicates", "skip", "no pictures to compare")
    found, worst = [], 0.0
    for part in data.held_out:
        rows = _seen_before(training[:COMPARED], part.images[:COMPARED]) if part.images else []
        share = len(rows) / max(1, min(COMPARED, len(part.images)))
        worst = max(worst, share)
        if share > TOO_MANY:
            found.append(f"{part.name}: {len(rows):,} pictures ({100 * share:.0f} %), such as row {rows[0]}")
    if found:
        return Finding("duplicates", "fail", f"pictures that training shows: {first_few(found)}", {"share": worst})
    return Finding("duplicates", "pass", f"at most {100 * worst:.1f} % of a held-out split is nearly in training")


def _seen_before(training: list[Array], held_out: list[Array]) -> list[int]:
    """Return the pictures whose nearest training picture is the same but for noise, by thumbnails and then pixels."""
    small, asked = (np.stack([_thumbnail(image) for image in images]) for images in (training, held_out))
    gaps = (small**2).sum(axis=1)[None, :] - 2 * asked @ small.T
    found = []
    for row, (image, nearest) in enumerate(zip(held_out, gaps.argmin(axis=1).tolist(), strict=True)):
        if training[nearest].shape == image.shape:
            apart = np.abs(training[nearest].astype(np.int16) - image.astype(np.int16))
            if apart.mean() <= MEAN_GAP and apart.max() <= LARGEST_GAP:
                found.append(row)
    return found


def _thumbnail(image: Array) -> Array:
    """Return a picture as a few grey numbers."""
    grey = image.mean(axis=2)
    rows = np.linspace(0, grey.shape[0], min(THUMB, grey.shape[0]) + 1).astype(int)[:-1]
    columns = np.linspace(0, grey.shape[1], min(THUMB, grey.shape[1]) + 1).astype(int)[:-1]
    added = np.add.reduceat(np.add.reduceat(grey, rows, axis=0), columns, axis=1)
    sizes = np.outer(np.diff([*rows, grey.shape[0]]), np.diff([*columns, grey.shape[1]]))
    return np.asarray((added / sizes).ravel(), dtype=np.float32)


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
    return [
        concept.name
        for concept in data.space.concepts
        if len(concept.values) > 1 and _is_hidden(task, worlds, concept.name)
    ]


def _is_hidden(task: Task, worlds: list[World], name: str) -> bool:
    """Return whether no change of a concept that can be drawn makes a difference; without any, it is not hidden."""
    tried = False
    for world in worlds:
        for value in task.space.concept(name).values:
            if value != world[name]:
                try:
                    other = task.changed(world, {name: value})
                except AssayError:
                    other = None
                if other is None:
                    continue
                before, after = task.render(world), task.render(other)
                if not np.array_equal(before.image, after.image) or before.text != after.text:
                    return False
                tried = True
    return tried


def visible(data: Examined) -> Finding:
    """Every concept shows: changing it changes the picture or the text."""
    hidden = invisible_concepts(data)
    if hidden is None:
        return Finding("visible", "skip", f"cannot be tried: {data.no_task}")
    if hidden:
        text = f"changing {', '.join(hidden)} alters no pixel in {WORLDS} worlds"
        return Finding("visible", "fail", text, {"hidden": hidden})
    return Finding("visible", "pass", "changing any concept changes the picture")


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
