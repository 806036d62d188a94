"""Checks of pictures and texts: source images, duplicates, what a changed concept changes, unfilled places."""

import re

import numpy as np

from assay.auditing.audited import AuditedDataset, AuditedSplit
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, fail_if, first_few
from assay.auditing.copies import AS_IT_IS, PictureRow, near_copies
from assay.auditing.reading import FEWEST_READ, PixelReading, concepts_to_read, readings
from assay.base import AssayError, rng_for
from assay.logic import listing
from assay.render import Picture
from assay.tasks import Task
from assay.worlds import World

TOO_MANY = 0.01
WORLDS = 24
COMPARED = 2000
PLACEHOLDER = re.compile(r"\{[^{}]*\}|\[[A-Z_]{3,}\]|<[A-Z_]{3,}>|\bTODO\b")


def sources(data: AuditedDataset) -> CheckResult:
    """No source image (digit, photograph) occurs both where models learn and where they are tested."""
    if not any(any(part.ingredients) for part in data.parts.values()):
        why = "no source images are used" if data.task is not None else f"not known: {data.no_task}"
        return CheckResult("sources", NOTHING if data.task is not None else NOT_CHECKED, why)
    if not data.training:
        return CheckResult("sources", NOT_CHECKED, "no training split")
    learned = {name for part in data.training for names in part.ingredients for name in names}
    shared = []
    for part in data.held_out:
        both = learned & {name for names in part.ingredients for name in names}
        if both:
            shared.append(f"{part.name} shows {len(both):,} of them, such as {min(both)}")
    text = f"{len(learned):,} source images of training occur nowhere else"
    return fail_if(shared, "sources", "source images of training occur elsewhere", text)


def duplicates(data: AuditedDataset) -> CheckResult:
    """Hardly any picture of a held-out split is one of training, or nearly: also mirrored, brighter or cropped."""
    training = [PictureRow(part, row) for part in data.training for row in range(len(part.pictures))][:COMPARED]
    held_out = {part.name: [PictureRow(part, row) for row in range(len(part.pictures))] for part in data.held_out}
    if not training or not any(held_out.values()):
        return CheckResult("duplicates", NOT_CHECKED, "no pictures to compare")
    copies, worst = [], 0.0
    for name, pictures in held_out.items():
        near = near_copies(training, pictures[:COMPARED]) if pictures else []
        share = len(near) / max(1, min(COMPARED, len(pictures)))
        worst = max(worst, share)
        if share > TOO_MANY:
            how = f", {near[0].how}" if near[0].how != AS_IT_IS else ""
            copies.append(f"{name}: {len(near):,} pictures ({100 * share:.0f} %), such as row {near[0].row}{how}")
    if copies:
        return CheckResult("duplicates", "fail", f"pictures that training shows: {first_few(copies)}", {"share": worst})
    text = f"at most {100 * worst:.1f} % of a held-out split is nearly in training"
    return CheckResult("duplicates", "pass", text, {"share": worst})


def invisible_concepts(data: AuditedDataset) -> list[str] | None:
    """Return the concepts that show nowhere; None if that is not known.

    Where worlds can be drawn again, those whose change alters no pixel and no word in any world tried; else those that
    no model reads from the pictures, if every other one is read.
    """
    if data.task is None or not data.splits:
        tried = _read(data)
        known = bool(tried) and not _left_out(data) and all(reading.visible or reading.hidden for reading in tried)
        return [reading.concept for reading in tried if reading.hidden] if known else None
    if "hidden" not in data.memo:
        data.memo["hidden"] = _hidden(data, data.task)
    hidden: list[str] = data.memo["hidden"]
    return hidden


def _hidden(data: AuditedDataset, task: Task) -> list[str]:
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
    columns = [name for name in task.columns if name in ("image", "depth", "text")]
    return any(not np.array_equal(getattr(before, name), getattr(after, name)) for name in columns)


def visible(data: AuditedDataset) -> CheckResult:
    """Every concept shows: changing it changes the picture or the text, or models read it from the pictures."""
    if data.task is None or not data.splits:
        return _readable(data)
    hidden = invisible_concepts(data) or []
    if hidden:
        text = f"changing {', '.join(hidden)} alters nothing that is shown, in {WORLDS} worlds"
        return CheckResult("visible", "fail", text, {"hidden": hidden})
    untried: list[str] = data.memo["untried"]
    if len(untried) == sum(size > 1 for size in data.space.sizes):
        return CheckResult("visible", NOT_CHECKED, "no world can be drawn again with a concept changed")
    text = "changing any concept changes what is shown"
    left = f", but for {listing(untried, 5)}, which no world could be drawn again with" if untried else ""
    return CheckResult("visible", "note" if untried else "pass", text + left)


def _read(data: AuditedDataset) -> list[PixelReading]:
    if "readings" not in data.memo:
        data.memo["readings"] = readings(data)
    tried: list[PixelReading] = data.memo["readings"]
    return tried


def _readable(data: AuditedDataset) -> CheckResult:
    """Return whether models read every concept from the pictures, where nobody can draw its worlds again."""
    tried = _read(data)
    if not tried:
        why = f"{data.no_task}, and there are fewer than {FEWEST_READ} pictures to read concepts from"
        return CheckResult("visible", NOT_CHECKED, why)
    gains = {reading.concept: [reading.low, reading.high] for reading in tried}
    numbers = {"hidden": [reading.concept for reading in tried if reading.hidden], "gain": gains}
    hidden, left = [reading.text for reading in tried if reading.hidden], _left_out(data)
    unread = [reading.text for reading in tried if not reading.visible and not reading.hidden]
    if hidden:
        return CheckResult("visible", "fail", f"no model reads from the pictures: {first_few(hidden)}{left}", numbers)
    if unread:
        text = f"too few examples, or too hard to read: {first_few(unread)}{left}"
        return CheckResult("visible", NOT_CHECKED, text, numbers)
    least = min(tried, key=lambda reading: reading.low)
    text = f"models read every concept from the pictures, least of all {least.text}{left}"
    return CheckResult("visible", "note" if left else "pass", text, numbers)


def _left_out(data: AuditedDataset) -> str:
    """Return how many concepts were tried where there were too many for all; nothing where all were."""
    tried, whole = len(concepts_to_read(data)), len(data.space.names)
    return f"; {tried} of {whole} concepts were tried, drawn at random" if tried < whole else ""


def texts(data: AuditedDataset) -> CheckResult:
    """No text has an unfilled place, none is empty."""
    parts = [part for part in data.parts.values() if len(part.texts)]
    if not parts:
        return CheckResult("texts", NOTHING, "there are no texts")
    faults = [fault for part in parts for fault in _text_faults(part)]
    total = sum(len(part.texts) for part in parts)
    return fail_if(faults, "texts", "unfinished texts", f"{total:,} texts without an unfilled place")


def _text_faults(part: AuditedSplit) -> list[str]:
    unfilled = [row for row, text in enumerate(part.texts) if PLACEHOLDER.search(text)]
    empty = [row for row, text in enumerate(part.texts) if not text.strip()]
    faults = []
    if unfilled:
        sample = PLACEHOLDER.search(part.texts[unfilled[0]])
        what = sample.group() if sample else ""
        faults.append(f"{part.name}: {len(unfilled):,} of {len(part.texts):,} hold an unfilled place such as {what}")
    return faults + ([f"{part.name}: {len(empty):,} are empty"] if empty else [])
