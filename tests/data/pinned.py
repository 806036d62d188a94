"""What is written of small datasets, made, annotated, confounded, changed and imported: rows, manifests and texts."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.concepts import digits
from assay.config import Settings, validate
from assay.data import (
    Annotation,
    ConceptMasks,
    Confounder,
    Dataset,
    Fold,
    SplitData,
    add_examples,
    annotate,
    cells,
    confound_dataset,
    export,
    from_table,
    intervened,
    pairs_of,
    parse_worlds,
    random_worlds,
    read_scores,
    refresh_pairs,
    region_rows,
    training_support,
)
from assay.data.annotator import apply_flips, sample_codes, symmetric
from assay.data.content import content_of
from assay.data.croissant import croissant
from assay.data.dataset_card import card
from assay.data.folds import folds_of
from assay.data.machine_scores import threshold_scores
from assay.data.row_choice import quotas
from assay.data.split_data import example_table
from assay.logic import Knowledge
from assay.markdown import code_text
from assay.testing import TwoSquares
from tests.conftest import write
from tests.data.imports.drawn import LAYOUTS, RULE, draw
from tests.data.imports.verbs import import_layout
from tests.pins import Cases, digest, digests, refusal, without
from tests.toys import Coin, Shelf, written

CHANGING = ("versions", "sha256", "fingerprint", "content", "parent", "bytes", "md5", "contentSize", "version")


def scrubbed(text: str, *folders: Path) -> str:
    """Return a text without hashes, versions and folders."""
    for folder in folders:
        text = text.replace(str(folder), "FOLDER")
    return re.sub(r"Assay \d[\w.]*", "Assay", re.sub(r"\b[0-9a-f]{16,}\b", "HASH", text))


def rows_of(data: SplitData, pictures: bool = True) -> dict[str, Any]:
    """Return what a split holds."""
    columns = {name: digest(data.table[name].to_pylist()) for name in data.table.column_names}
    codes = [data.concepts, data.labels, data.given_concepts, data.given_labels, data.lawful, data.index]
    facts: dict[str, Any] = {"columns": columns, "codes": digest(codes), "where": str(data.where), "repr": repr(data)}
    facts["schema"] = digest(str(data.table.schema.remove_metadata()))
    for name in ("instances", "depths", "parts"):
        if name.removesuffix("s") in data.columns or name in data.columns:
            facts[name] = getattr(data, name)
    if pictures and "image" in data.columns:
        facts["images"] = data.images
    return facts


def whole(data: Dataset, pictures: bool = True, texts: bool = False) -> dict[str, Any]:
    """Return what is in a dataset, but for versions and hashes."""
    folder = data.folder
    manifest = without(json.loads((folder / "manifest.json").read_text(encoding="utf-8")), *CHANGING)
    readme = scrubbed((folder / "README.md").read_text(encoding="utf-8"), folder, folder.parent)
    described = without(json.loads((folder / "croissant.json").read_text(encoding="utf-8")), *CHANGING)
    tables = {split: cells(rows, code_text) for split, rows in region_rows(data.manifest).items()}
    return {
        "files": sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")),
        "manifest": manifest if texts else digests(manifest),
        "card": readme.splitlines() if texts else digest(readme.splitlines()),
        "croissant": digest(scrubbed(json.dumps(described), folder, folder.parent)),
        "regions": digest(tables),
        "repr": re.sub(r"fingerprint \w+", "", repr(data).partition("\n  folder")[0]),
        "splits": {name: rows_of(data[name], pictures) for name in data.split_names},
        "pairs": None if data.pairs is None else rows_of(data["pairs"], pictures),
    }


# -- made --------------------------------------------------------------------------------------------------------------


def shelf(folder: Path) -> Dataset:
    """Return boxes on a shelf, with all that a picture can have."""
    return written(Shelf(), folder / "shelf", train=24, valid=6, test=12, hard=8, pairs=6)


def made(folder: Path) -> dict[str, Any]:
    """Make datasets of our own tasks, and read them in parts."""
    data = shelf(folder)
    test = data["test"]
    part = test.take(np.array([5, 0, 7]))
    masks = ConceptMasks(test)
    read = {
        "texts": test.texts, "things": digest(test.things), "worlds": [test.world(row) for row in (0, 3)],
        "part": rows_of(part), "pieces": [len(piece) for piece in test.pieces(5)],
        "pngs": [len(test.pngs), len(test.files([1, 2]))], "pictures": test.pictures([3, 1]),
        "table": example_table(test, [0, 4]), "pair rows": data["pairs"].pair_rows,
        "batches": [[rows, images] for rows, images in test.batches(5, [3, 4, 5, 9, 0, 1], 1, 1)],
        "masks": [masks.kind, *(masks.of_concept(name) for name in ("one", "two", "hidden"))],
        "content": content_of(test.table) == content_of(test.take(np.arange(12)).table),
        "pandas": digest(test.to_pandas().drop(columns=["image", "instances", "depth"], errors="ignore").to_dict("list")),
    }  # fmt: skip
    squares = written(TwoSquares(), folder / "squares", train=9, valid=0, test=7, pairs=4)
    coin = written(Coin(), folder / "coin", train=20, valid=5, test=9, pairs=0)
    square_masks = ConceptMasks(squares["test"])
    return {
        "shelf": whole(data, texts=True), "read": read, "squares": whole(squares), "coin": whole(coin),
        "squares masks": [square_masks.kind, square_masks.of_concepts(["left"]), square_masks.of_concept("right")],
        "card": digest(scrubbed(card(coin.manifest))), "croissant": digest(without(croissant(coin.manifest), *CHANGING)),
        "luck": [coin["test"].knowledge.chances(coin["test"].concepts)],
    }  # fmt: skip


def changed(folder: Path) -> dict[str, Any]:
    """Change worlds of datasets: pairs, interventions, more examples, other pairs, folds."""
    data, task = shelf(folder), Shelf()
    pairs = pairs_of(data, "train", task, 9)
    done = intervened(data, "test", task, ["two=none"])
    table = intervened(data, "test", task, ["one=blue", "hidden=true"], pictures=False)
    more = written(TwoSquares(), folder / "more", train=9, valid=3, test=4, pairs=0)
    extra = more["test"].full_table()
    add_examples(more, extra, folder / "added", {"why": "a test"})
    squares = written(TwoSquares(), folder / "again", train=9, valid=0, test=7, pairs=2)
    refresh_pairs(squares, TwoSquares(), 5)
    labels = data["train"].labels
    folds = [[len(part) for part in Fold(number, 3).divide(data["train"])] for number in range(3)]
    return {
        "pairs": [rows_of(pairs.data), [[one.row, one.concept, one.value] for one in pairs.changes]],
        "do": [rows_of(done.data), [[one.row, one.concept] for one in done.changes]],
        "symbols": [rows_of(table.data, False), len(table)],
        "added": whole(Dataset.open(folder / "added")),
        "refreshed": whole(Dataset.open(folder / "again")),
        "folds": [folds, folds_of(labels, 4, "key")],
    }


def settings(folder: Path) -> dict[str, Any]:
    """Make datasets under settings: balances, shares, stages, quotas, marks."""
    few = {"train": 12, "valid": 4, "test": 10, "ood": 6, "hard": 8, "pairs": 3}
    listed: dict[str, dict[str, Any]] = {
        "plain": {"k": 3}, "seed": {"k": 3, "seed": 7}, "half": {"k": 3, "prop_in_distribution": 0.5},
        "world": {"k": 3, "balance": "world"},
        "marked": {"k": 3, "confound": [{"what": "watermark", "with": "y", "strength": 0.8},
                                        {"what": "frame", "with": "a and b", "strength": 0.6}]},
    }  # fmt: skip
    found = {}
    for name, values in listed.items():
        found[name] = whole(write(folder / name, "mnlogic", splits=few, **values))
    return found


# -- annotated and confounded ------------------------------------------------------------------------------------------

ANNOTATIONS: dict[str, dict[str, Any]] = {
    "label noise": {"label_noise": 0.3, "seed": 1},
    "label noise by name": {"label_noise": {"same": 0.5}, "splits": ["valid", "train"]},
    "label flips": {"label_flips": {"pile": {True: {False: 0.6}}}},
    "concept noise": {"concept_noise": 0.3},
    "concept noise by name": {"concept_noise": {"two": 0.6, "hidden": 0.2}, "label_noise": 0.1},
    "noise up": {"noise_01": 0.5},
    "noise down": {"noise_10": {"hidden": 0.7}},
    "concept flips": {"concept_flips": {"two": {"red": {"blue": 0.3, "none": 0.4}, "none": {"red": 0.5}}}},
    "missing": {"missing": 0.4, "splits": ["test"]},
    "missing by name": {"missing": {"one": 0.6}},
    "not at random": {"missing": {"hidden": 0.4}, "mechanism": "mnar"},
    "not at random, other": {"missing": 0.5, "mechanism": "mnar", "missing_factors": (0.2, 1.7), "present": ["blue", True]},
    "shown concepts": {"shown_concepts": ["two"]},
    "shown values": {"shown_values": ["red", True]},
    "shown examples": {"shown_examples": 5},
    "where": {"where": "one == 'red' or hidden"},
    "shares": {"shares": {"one == 'red' and hidden": 0.5, "two == 'none' and not hidden": 0.2}},
    "label shares": {"label_shares": {"same": {True: 0.25}}, "seed": 3},
    "examples": {"examples": 5},
    "drop": {"drop": ["hidden"]},
    "refine": {"refine": {"two": ["red", "none"]}},
    "subjective": {"refine": {"two": ["red", "blue", "none"]}, "subjective_noise": 0.5},
    "no regions": {"regions": False, "concept_noise": 0.2, "missing": 0.2, "label_noise": 0.2},
}  # fmt: skip


def annotated(folder: Path) -> dict[str, Any]:
    """Annotate a dataset in every way."""
    data = shelf(folder)
    found: dict[str, Any] = {}
    for name, values in ANNOTATIONS.items():
        annotate(data, validate(Annotation, Settings(values)), folder / name)
        copy = Dataset.open(folder / name)
        facts = whole(copy, pictures=False)
        found[name] = {**digests(facts), "about": without(copy.manifest["task"]["annotation"], *CHANGING)}
    matrix = apply_flips(symmetric(3, 0.3), {"a": {"b": 0.5}, "c": {"a": 0.25}}, ["a", "b", "c"], "x")
    draws = np.linspace(0, 0.999, 30)
    return {**found, "matrix": [matrix, sample_codes(np.arange(30) % 3, matrix, draws)]}


def machine(folder: Path) -> dict[str, Any]:
    """Annotate by scores of a machine."""
    data = shelf(folder)
    rng = np.random.default_rng(3)
    lines = ["split,index,warm,large"]
    for name in data.split_names:
        part = data.symbols(name)
        for index, codes in zip(part.index.tolist(), part.concepts, strict=True):
            noise = rng.random(2).round(3)
            lines.append(f"{name},{index},{codes[0] + noise[0]:.3f},{codes[2] - codes[1] + noise[1]:.3f}")
    path = folder / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    scores = read_scores(path)
    found: dict[str, Any] = {"scores": [scores.names, scores.of("test", data.symbols("test").index)]}
    for threshold in (None, "median", 0.4):
        values = {"machine": str(path), **({} if threshold is None else {"threshold": threshold})}
        annotate(data, validate(Annotation, Settings(values)), folder / str(threshold), scores, "scores.csv")
        copy = Dataset.open(folder / str(threshold))
        found[str(threshold)] = {**digests(whole(copy, pictures=False)), "rule": str(copy.knowledge.labels[0].formula)}
    numbers = np.array([[0.1, 3.0], [0.2, 1.0], [0.9, 2.0], [0.4, 2.0]])
    for threshold in ("mean", "median", 0.4):
        found[f"codes {threshold}"] = threshold_scores(numbers, numbers[:3], threshold)
    found["quotas"] = [quotas(np.array(t), np.array(s), n, "train") for t, s, n in (
        ([7, 9, 20], [0.2, 0.3, 0.5], None), ([7, 9, 20], [0.25, 0.25, 0.5], 11), ([5, 0, 9], [0.5, 0.0, 0.5], 7),
    )]  # fmt: skip
    return found


def confounded(folder: Path) -> dict[str, Any]:
    """Mark the pictures of a dataset that is there."""
    data = shelf(folder)
    listed: dict[str, list[dict[str, Any]]] = {
        **{what: [{"what": what, "with": "same"}] for what in ("watermark", "patch", "noise", "blur")},
        "two": [{"what": "frame", "with": "one", "strength": 0.7}, {"what": "brightness", "with": "pile"}],
        "elsewhere": [{"what": "watermark", "with": "one == 'red' or hidden", "strength": 0.6, "where": ["train"]}],
    }
    found = {}
    for name, values in listed.items():
        confound_dataset(data, [Confounder.model_validate(one) for one in values], folder / name)
        found[name] = digests(whole(Dataset.open(folder / name)))
    return found


# -- imported and exported ---------------------------------------------------------------------------------------------


def imported(layout: str, folder: Path) -> dict[str, Any]:
    """Import a folder of another layout, with gaps, with the rule and without."""
    data = import_layout(folder, layout, 24, missing=0.2)
    other = import_layout(folder / "other", layout, 16, rule=False)
    return {"rule": whole(data, False, layout == "table"), "none": digests(whole(other, False))}


def tables(folder: Path) -> dict[str, Any]:
    """Import tables under settings."""
    drawn = draw(30, 0.1, 2)
    columns: dict[str, Any] = {name: [one.given[name] for one in drawn] for name in ("red", "wide", "dotted")}
    columns |= {"alarm": [one.alarm for one in drawn], "part": [("training", "dev", "test")[i % 3] for i in range(30)]}
    columns["number"] = [i % 4 for i in range(30)]
    images = [one.pixels[: 14 + i % 3] for i, one in enumerate(drawn)]
    named: dict[str, Any] = {"concepts": ["red", "wide", "dotted", "number"], "labels": ["alarm"], "rule": RULE}
    ways: dict[str, dict[str, Any]] = {
        "plain": {}, "seed": {"seed": 4}, "size": {"size": 10}, "crop": {"size": (8, 12), "resize": "crop"},
        "stretch": {"size": (12, 9), "resize": "stretch"}, "split": {"split": "part"}, "counts": {"counts": True},
        "shares": {"shares": {"train": 0.5, "test": 0.5}}, "name": {"name": "mine"},
        "limits": {"rule": {"labels": RULE, "constraints": {"few": "number < 4"}, "splits": {"train": "True"}}},
    }  # fmt: skip
    found = {}
    for name, values in ways.items():
        data = from_table(columns, folder / name, images=images, **{**named, **values})
        shape, mean = data["train"].images.shape, round(float(data["train"].images.mean()))
        found[name] = {**digests(whole(data, name == "plain")), "shape": shape, "mean": mean}
    return found


def exported(folder: Path) -> dict[str, Any]:
    """Export a dataset as Prolog, and ask what training shows."""
    data = shelf(folder)
    counts = export(data, "prolog", folder / "prolog", ["train", "test"])
    files = sorted(path for path in (folder / "prolog").rglob("*") if path.is_file())
    texts = {path.name: scrubbed(path.read_text(encoding="utf-8"), folder) for path in files if path.name[0] != "."}
    support = training_support(str(data.folder), Settings(), 0)[1]
    knowledge = data.knowledge
    return {
        "counts": counts, "names": [path.name for path in files], "texts": {k: digest(t) for k, t in texts.items()},
        "rules": [text for name, text in texts.items() if "rule" in name or "background" in name],
        "support": support, "random": random_worlds(knowledge, 9, 2),
        "parsed": parse_worlds(Knowledge.of(digits(["x", "y", "z"]), {"sum": "x + y + z"}), "061, 289,333"),
    }  # fmt: skip


REFUSED: tuple[dict[str, Any], ...] = (
    {"drop": ["q"]}, {"drop": ["one", "two", "hidden"]}, {"refine": {"two": []}}, {"refine": {"two": ["red", "red"]}},
    {"refine": {"two": ["green"]}}, {"refine": {"q": [1]}}, {"drop": ["two"], "refine": {"two": ["red"]}},
    {"label_noise": {"q": 0.1}}, {"label_noise": 1.5}, {"concept_noise": {"q": 0.1}}, {"missing": {"q": 0.1}},
    {"label_flips": {"q": {}}}, {"label_flips": {"same": {True: {"x": 0.1}}}}, {"concept_flips": {"two": {"x": {"red": 1}}}},
    {"concept_flips": {"two": {"red": {"blue": 0.7, "none": 0.7}}}}, {"subjective_noise": 0.2},
    {"subjective_noise": 0.2, "subjective_groups": [["hidden"]]}, {"subjective_noise": 0.2, "subjective_groups": [["one", "two"]]},
    {"missing": 0.2, "mechanism": "mnar"}, {"missing_factors": (-1, 1)}, {"shown_concepts": ["q"]}, {"shown_values": ["q"]},
    {"shown_examples": -1}, {"where": "q == 1"}, {"where": "one == 'red' and one == 'blue'"}, {"examples": 100},
    {"shares": {"one == 'red'": 0.5, "one != 'blue'": 0.5}}, {"shares": {"one == 'red'": 0.5}, "label_shares": {"same": {True: 0.5}}},
    {"shares": {"one == 'red'": 0.7, "one == 'blue'": 0.7}}, {"label_shares": {True: 0.5}}, {"label_shares": {"q": {True: 0.5}}},
    {"label_shares": {"same": {"x": 0.5}}}, {"threshold": 0.5}, {"reader": {"model": "x"}}, {"splits": ["q"]}, {},
    {"noise_01": {"one": 0.5}}, {"present": ["q"], "missing": 0.1, "mechanism": "mnar"}, {"other": 1},
)  # fmt: skip


def refused(folder: Path) -> dict[str, Any]:
    """Ask for what cannot be."""
    data, task = shelf(folder), Shelf()
    marks: tuple[dict[str, Any], ...] = (
        {"what": "watermark", "with": "q"}, {"what": "q", "with": "same"}, {"what": "position", "with": "same"},
        {"what": "tint", "with": "same"},
        {"what": "frame", "with": "same", "one_sided": True}, {"what": "frame", "with": "same", "values": [1]},
        {"what": "frame", "with": "same", "where": ["q"]},
    )  # fmt: skip
    columns = {"a": [True, False] * 8, "y": [True, False] * 8}
    images = [np.full((9, 9), n, dtype=np.uint8) for n in range(16)]
    tabled: tuple[dict[str, Any], ...] = (
        {"labels": ["q"]}, {"concepts": ["q"]}, {"labels": []}, {"concepts": []}, {"shares": {"train": 0.2}},
        {"shares": {"test": 1.0}}, {"size": 2}, {"split": "q"}, {"rule": {"y": "b"}}, {"rule": {"q": "a"}}, {"images": images[:3]},
        {"rule": {"labels": {"y": "a"}, "constraints": {"c": "not a"}}}, {"rule": {"labels": {"y": "a"}, "splits": {"q": "a"}}},
        {"picture": "q"}, {"layout": "q"}, {"resize": "q"}, {"rule": {"y": "not a"}},
        {"rule": {"labels": {"y": "a"}, "disjoint": [["train", "q"]]}},
    )  # fmt: skip
    scores = folder / "scores.csv"
    texts = ("", "split,index", "split,index,a,a", "split,index,a\ntrain,x,1", "split,index,a\ntrain,1,x", "split,index,a\ntrain,1",
             "split,index,a\ntrain,1,1\ntrain,1,2", "split,index,a\ntrain,1,nan")  # fmt: skip
    found: dict[str, Any] = {}
    for number, values in enumerate(REFUSED):
        ask = partial(lambda values, to: annotate(data, validate(Annotation, Settings(values)), to), values)
        found[f"annotation {values}"] = refusal(partial(ask, folder / f"a{number}"), folder)
    for number, mark in enumerate(marks):
        ask = partial(lambda mark, to: confound_dataset(data, [Confounder.model_validate(mark)], to), mark)
        found[f"mark {mark}"] = refusal(partial(ask, folder / f"m{number}"), folder)[:200]
    for number, table in enumerate(tabled):
        given = {"concepts": ["a"], "labels": ["y"], "images": images, "rule": {"y": "a"}, **table}
        found[f"table {number}"] = refusal(partial(from_table, columns, folder / f"t{number}", **given), folder)
    for number, text in enumerate(texts):
        scores.write_text(text, encoding="utf-8")
        found[f"scores {number}"] = refusal(lambda: read_scores(scores), folder)
    for do in (["q"], ["q=1"], ["two=q"], ["one=red", "two"], ["one=red"], []):
        found[f"do {do}"] = refusal(partial(intervened, data, "test", task, do, False), folder)
    for word in ("0", "12345", "99x", "ab"):
        knowledge = Knowledge.of(digits(["x", "y"]), {"sum": "x + y"})
        found[f"worlds {word}"] = refusal(partial(parse_worlds, knowledge, word))
    found["splits"] = [refusal(lambda: data["q"], folder),
                       refusal(lambda: export(data, "q", folder / "e"), folder).partition(";")[0],
                       refusal(lambda: export(data, "prolog", folder / "e", ["q"]), folder),
                       refusal(lambda: Dataset.open(folder / "none"), folder)]  # fmt: skip
    return found


IMPORTS: dict[str, Callable[[Path], Any]] = {f"imported {name}": partial(imported, name) for name in sorted(LAYOUTS)}
CASES: Cases = {
    "made": made, "changed": changed, "settings": settings, "annotated": annotated, "machine": machine,
    "confounded": confounded, "tables": tables, "refused": refused, "exported": exported, **IMPORTS,
}  # fmt: skip
