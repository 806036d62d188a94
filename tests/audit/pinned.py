"""Whole audits of small datasets, clean and with planted faults: outcomes, numbers and sentences of every check."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.auditing.audit import CHECKS, audit, card_section
from assay.auditing.audited import (
    AuditedDataset,
    audited_dataset,
    means_of_parts,
    nuisances_of,
    picture_stats,
    place_in_split,
)
from assay.auditing.colours import hue_shares
from assay.auditing.copies import PictureRow, Window, near_copies
from assay.auditing.imported import open_imported
from assay.auditing.noise import denied, unequal
from assay.auditing.nuisance import forest, line, picture_leaks, reachable, sampled_leaks, sampled_nuisances
from assay.auditing.reading import readings
from assay.auditing.regions import effects_in_equal_worlds, leaking_regions, separable_effects
from assay.seeds import rng_for
from tests.audit.planted import Described, Row, Squares, folder_of, made, picture, rows
from tests.conftest import write
from tests.data.imports.verbs import import_layout
from tests.pins import Cases, digest, refusal
from tests.toys import Shelf

COUNT = 300


def told(data: AuditedDataset) -> dict[str, Any]:
    """Return all that an audit says."""
    found = audit(data)
    results = {one.check: [one.status, one.text, one.numbers] for one in found.results}
    return {
        "text": found.text,
        "results": results,
        "card": digest(card_section(found)),
        "plain": digest(found.to_dict()),
    }


# -- faults of a table and its pictures --------------------------------------------------------------------------------


def clean(table: list[Row]) -> None:
    """Leave all as it is."""


def wrong_labels(table: list[Row]) -> None:
    """Give every ninth row another label."""
    for row in table[::9]:
        row["label_y"] = not row["label_y"]


def telling_font(table: list[Row]) -> None:
    """Let the font and the tilt go with the label."""
    for number, row in enumerate(table):
        row["nuisance_font"] = "serif" if row["label_y"] == (number % 12 != 0) else "sans"
        row["nuisance_tilt"] = round(row["nuisance_tilt"] + 2 * row["label_y"], 3)


def shared_sources(table: list[Row]) -> None:
    """Take sources of training for testing."""
    for row in table[205:225]:
        row["source"] = table[3]["source"]


def telling_texts(table: list[Row]) -> None:
    """Say something else of some rows, and the label in others."""
    for number, row in enumerate(table):
        row["text"] = f"a is {row['concept_a']}, b is {row['concept_b'] ^ (number % 7 == 0)}."


def one_class(table: list[Row]) -> None:
    """Test on one class."""
    table[:] = [row for row in table if row["label_y"] or row["split"] == "train"]


def same_worlds(table: list[Row]) -> None:
    """Let the third concept be what the first one is."""
    for row in table:
        row["concept_c"] = row["concept_a"]


FAULTS: dict[str, Callable[[list[Row]], None]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        clean, wrong_labels, telling_font, shared_sources, telling_texts, one_class, same_worlds,
    )
}  # fmt: skip


def table_with(fault: str, folder: Path) -> dict[str, Any]:
    """Audit a table with a fault, without pictures, and without the rule."""
    table = rows(COUNT)
    FAULTS[fault](table)
    ruled = told(open_imported(folder_of(folder / "ruled", table, draw=None)))
    return {"ruled": ruled, "unruled": told(open_imported(folder_of(folder / "unruled", table, None, None)))}


def copied(row: Row, number: int) -> np.ndarray:
    """Return the picture of a training row for some rows of the test."""
    if number < 200 or number % 6:
        return picture(row, number)
    pixels = picture(rows(COUNT)[number - 200], number - 200)
    return np.roll(pixels, 2, axis=0) if number % 12 else pixels


def blind(row: Row, number: int) -> np.ndarray:
    """Return a picture in which the second concept is not shown."""
    return picture({**row, "concept_b": number % 2 == 0}, number)


def marked(row: Row, number: int) -> np.ndarray:
    """Return a picture with a corner that tells the label."""
    pixels = picture(row, number)
    pixels[-2:, -2:] = 250 if row["label_y"] else 5
    return pixels


DRAWN = {"plain": picture, "copied": copied, "blind": blind, "marked": marked}


def pictures_with(fault: str, folder: Path) -> dict[str, Any]:
    """Audit pictures with a fault."""
    return told(open_imported(folder_of(folder / "data", rows(COUNT), draw=DRAWN[fault])))


# -- datasets of tasks -------------------------------------------------------------------------------------------------


def tasks(folder: Path) -> dict[str, Any]:
    """Audit datasets of tasks."""
    found = {}
    sizes = {"train": 200, "valid": 20, "test": 120, "hard": 16}
    with pytest.MonkeyPatch.context() as patch:
        for task in (Squares, Described, Shelf):
            found[task.name] = told(audited_dataset(made(task, folder / task.name, patch, **sizes)))
    few = {"train": 200, "valid": 10, "test": 120, "ood": 16, "hard": 20}
    listed = [{"what": "watermark", "with": "y"}]
    found["mnlogic"] = told(audited_dataset(write(folder / "mnlogic", "mnlogic", k=3, splits=few)))
    found["marked"] = told(audited_dataset(write(folder / "marked", "mnlogic", k=3, splits=few, confound=listed)))
    return found


def parts(folder: Path) -> dict[str, Any]:
    """Look at what checks are made of."""
    table = rows(COUNT)
    telling_font(table)
    data = open_imported(folder_of(folder / "data", table, draw=marked))
    train, test = data.parts["train"], data.parts["test"]
    columns = sampled_nuisances(train)
    rng = rng_for(0, "parts")
    image = rng.integers(256, size=(9, 14, 3)).astype(np.uint8)
    stats = picture_stats(image)
    codes = rng.integers(3, size=(50, 2))
    labels = codes[:, 0] ^ (rng.random(50) < 0.1)
    values = rng.random((50, 4)) + 0.3 * labels[:, None]
    guesses = [learn(values[:30], labels[:30], values[30:]) for learn in (forest, line)]
    effects = [find(values, labels, codes) for find in (separable_effects, effects_in_equal_worlds)]
    styles = [{"a": n, "b": "xyz"[n % 3], "c": [n, 2 * n], "d": {"e": n % 2 == 0}} for n in range(6)]
    rowed = [[PictureRow(part, row) for row in range(30)] for part in (train, test)]
    return {
        "columns": [columns.names, columns.values, columns.only(columns.names[:1])],
        "leaks": [[leak, leak.clear, leak.text, leak.above(0.05)] for find in (sampled_leaks, picture_leaks)
                  for leak in find(data, train, test)],
        "readings": [[one, one.visible, one.hidden, one.text] for one in readings(data)],
        "regions": [[one.name, one.local, two.name] for one, two in leaking_regions(data, train, test, 0)],
        "stats": [stats.shape, stats.small, stats.medium, stats.means, stats.patches, means_of_parts(image, 3)],
        "hues": hue_shares(image, [0, 60, 120, 180, 240]),
        "guesses": [guesses[0].labels, guesses[0].importance, guesses[1].labels], "effects": effects,
        "doubts": [[one.rows, one.judged, one.share] for one in (unequal(labels, codes), denied(labels, codes))],
        "reachable": reachable(codes, labels[:, None]),
        "nuisances": nuisances_of(styles, 6), "place": place_in_split(5, 9),
        "copies": [[copy.row, copy.how] for copy in near_copies(*rowed)],
        "windows": [[Window(5, top, left).inside, Window(5, 1, 2).of(image)] for top, left in ((0, 1), (-1, 2), (2, 9))],
    }  # fmt: skip


def imported(folder: Path) -> dict[str, Any]:
    """Audit imported datasets with gaps, with the rule and without."""
    found = {}
    for rule in (True, False):
        data = audited_dataset(import_layout(folder / str(rule), "table", 210 if rule else 90, rule, 0.15))
        checks = [name for name in CHECKS if name != "sources"]  # which names the folder
        results = audit(data, checks).results
        found[str(rule)] = [[one.check, one.status, one.text.replace(str(folder), ""), one.numbers] for one in results]
    return found


def painted(folder: Path) -> dict[str, Any]:
    """Audit colours that concepts name: as they are, exchanged with another concept, or not shown."""
    found = {}
    rgb = {"red": (230, 20, 20), "green": (20, 220, 30), "blue": (30, 30, 240)}
    rng = rng_for(0, "painted")
    names, shapes = list(rgb), ["round", "flat", "long"]
    for way in ("own", "other", "grey"):
        table = []
        for number in range(160):
            one, two = (int(code) for code in rng.integers(3, size=2))
            table.append({"file": f"pictures/{number}.png", "split": "train" if number < 100 else "test",
                          "concept_colour": names[one], "concept_shape": shapes[two], "label_y": one == 0})  # fmt: skip

        def paint(row: Row, number: int, way: str = way) -> np.ndarray:
            shown = {"own": row["concept_colour"], "other": names[shapes.index(row["concept_shape"])]}.get(way)
            pixels = rng_for(0, "paint", number).integers(60, 75, size=(9, 9, 3)).astype(np.uint8)
            pixels[2:6, 3:8] = (120, 120, 120) if shown is None else rgb[shown]
            return pixels

        data = open_imported(folder_of(folder / way, table, "labels:\n  y: colour == 'red'\n", paint))
        (result,) = audit(data, ["colours"]).results
        found[way] = [result.status, result.text, result.numbers]
    return found


def refused(folder: Path) -> dict[str, Any]:
    """Open folders that cannot be audited."""
    texts = {
        "no split": "concept_a,label_y\ntrue,true\n", "no concept": "split,label_y\ntrain,true\n",
        "no label": "split,concept_a\ntrain,true\n", "gap": "split,concept_a,label_y\ntrain,true,true\ntrain,,true\n",
        "gap in split": "split,concept_a,label_y\n,true,true\n", "fine": "split,concept_a,label_y\ntrain,1,true\ntest,0,false\n",
    }  # fmt: skip
    found = {"none": refusal(lambda: open_imported(folder), folder)}
    for name, text in texts.items():
        (folder / name).mkdir()
        (folder / name / "concepts.csv").write_text(text, encoding="utf-8")
        found[name] = refusal(lambda name=name: open_imported(folder / name), folder)
    rule = folder / "fine" / "rule.yaml"
    for text in ("labels:\n  y: a > 3\n", "labels:\n  y: a + 1\n", "labels:\n  q: a\n", "labels:\n  y: a == 1\n"):
        rule.write_text(text, encoding="utf-8")
        found[text] = refusal(lambda: open_imported(folder / "fine"), folder)
    found["check"] = refusal(lambda: audit(open_imported(folder / "fine"), ["q"]), folder)
    return found


EACH: dict[str, Callable[[Path], Any]] = {f"table, {fault}": partial(table_with, fault) for fault in FAULTS}
CASES: Cases = {
    **EACH, **{f"pictures, {fault}": partial(pictures_with, fault) for fault in DRAWN},
    "tasks": tasks, "parts": parts, "painted": painted, "imported": imported, "refused": refused,
}  # fmt: skip
