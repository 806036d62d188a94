"""Datasets: what the page needs to know of each, how its concepts and labels are distributed, its rule as a table, what
an audit found, and which reasoning shortcuts its labels allow.
"""

import json
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from assay.auditing import CHECKS, audit, audited_dataset
from assay.base import Array, AssayError, Codes, DataError
from assay.contracts import CONCEPT, LABEL, SplitRecord
from assay.diagnosis import taught_by
from assay.logic import Knowledge, ground_formula, names_in
from assay.tasks import TASKS
from assay.viewer.folders import ServedDataset, Workspace, inside
from assay.viewer.runs import JUDGING, run_facts
from assay.viewer.state import State
from assay.viewer.table import SplitTable

AUDIT = "audit.json"
PREVIEW = 4
MOST_ROWS, MOST_GRID = 32, 144
"""How many rows a truth table may have, and how many cells the table of two concepts."""
MOST_NODES, MOST_WORLDS = 40, 100_000
"""How many nodes a decision diagram may have to be drawn, and of how many worlds it is compiled."""


def overview(shelf: Workspace) -> dict[str, Any]:
    """Return all that is served."""
    broken = [{"folder": one.folder, "why": one.why} for one in shelf.broken]
    return {"datasets": [facts(served, shelf) for served in shelf.datasets.values()], "broken": broken}


def facts(served: ServedDataset, shelf: Workspace) -> dict[str, Any]:
    """Return what the page needs to know of a dataset: its rule, its splits, its runs, where it comes from."""
    manifest = served.dataset.manifest
    splits = [{"name": s.name, "size": s.size, "where": s.where, "pool": s.pool} for s in served.splits]
    shown = preview_split(served)
    return {
        "key": served.key,
        "title": shelf.title(served.key),
        "task": manifest.task.to_dict(),
        "registered": manifest.task.name in TASKS,
        "summary": manifest.summary,
        "folder": served.dataset.folder.name,
        "knowledge": manifest.knowledge,
        "layout": manifest.layout,
        "columns": manifest.columns,
        "splits": splits,
        "preview": {"split": shown.name, "rows": list(range(min(PREVIEW, shown.size)))},
        "runs": run_facts(served),
        "seed": manifest.seed,
        "fingerprint": served.dataset.fingerprint,
        "versions": manifest.versions,
        "sources": manifest.sources,
        "why_no_pairs": None if served.dataset.pairs else served.dataset.why_no_pairs,
    }


def preview_split(served: ServedDataset) -> SplitRecord:
    """Return the split whose first pictures stand for a dataset."""
    splits = served.splits
    return next((split for split in splits if split.name == "test"), splits[0])


def dataset_page(state: State, key: str) -> dict[str, Any]:
    """Return the rule of a dataset as a table or diagram where that is small, and the audit that was stored."""
    served = state.shelf[key]
    return {"rule": rule_table(served.dataset.knowledge), "audit": stored_audit(served)}


def rule_table(knowledge: Knowledge) -> dict[str, Any]:
    """Return the labels of all combinations of the concepts that the rule names; only how many, where they are many."""
    try:
        formulas = [ground_formula(label.formula, knowledge.space) for label in knowledge.labels]
    except AssayError as error:
        return {"kind": "none", "why": str(error)}
    if not knowledge.has_rule or not knowledge.symbolic:
        return {"kind": "none", "why": "The rule is not given by formulas."}
    named = {name for formula in formulas for name in names_in(formula)}
    places = [place for place, name in enumerate(knowledge.space.names) if name in named]
    sizes = [knowledge.space.sizes[place] for place in places]
    count = int(np.prod(sizes, dtype=object))
    grid = len(places) == 2 and count <= MOST_GRID
    if count > MOST_ROWS and not grid:
        return {"kind": "many", "count": count, "concepts": places, "diagram": small_diagram(knowledge)}
    codes = np.zeros((count, len(knowledge.space)), dtype=np.int64)
    codes[:, places] = list(product(*(range(size) for size in sizes)))
    return {
        "kind": "table" if count <= MOST_ROWS else "grid",
        "concepts": places,
        "rows": codes[:, places].tolist(),
        "labels": knowledge.labels_of(codes).tolist(),
        "possible": _can_be(knowledge, codes, places),
        "diagram": small_diagram(knowledge),
    }


def _can_be(knowledge: Knowledge, codes: Codes, places: list[int]) -> list[bool]:
    """Return for each row whether the concepts that are not at these places can be such that no constraint is broken.

    Where these are too many to try, nothing is held against a row.
    """
    space = knowledge.space
    bound = set(names_in(ground_formula(knowledge.possible, space)))
    others = [place for place, name in enumerate(space.names) if name in bound and place not in places]
    ways = math.prod(space.sizes[place] for place in others)
    if len(codes) * ways > MOST_WORLDS:
        return [True] * len(codes)
    tried = np.repeat(codes, ways, axis=0)
    every = list(product(*(range(space.sizes[place]) for place in others)))
    tried[:, others] = np.tile(np.array(every, dtype=np.int64), (len(codes), 1))
    return [bool(kept.any()) for kept in knowledge.can_be(tried).reshape(len(codes), ways)]


def small_diagram(knowledge: Knowledge) -> dict[str, Any] | None:
    """Return the rule's decision diagram if it is small: layers of nodes, each with its next node for each value."""
    if knowledge.space.worlds > MOST_WORLDS or len(knowledge.labels) > 1:
        return None
    try:
        diagram = knowledge.diagram
    except AssayError:
        return None
    layers = list[dict[str, Any]]()
    for place, layer in zip(diagram.order, diagram.layers, strict=True):
        if not _decides(layer):
            continue  # a concept that the rule does not use: each node has one next node of its own, in order
        layers.append({"concept": int(place), "next": layer.tolist()})
    if sum(len(layer["next"]) for layer in layers) > MOST_NODES:
        return None
    return {"layers": layers, "outcomes": [[str(value) for value in outcome] for outcome in diagram.outcomes]}


def _decides(layer: Array) -> bool:
    """Return whether the value of a layer's concept makes a difference anywhere, or nodes are merged there."""
    return not np.array_equal(layer, np.broadcast_to(np.arange(len(layer))[:, None], layer.shape))


def distribution_of(state: State, key: str, split: str) -> dict[str, Any]:
    """Return how often each value of each concept and label occurs in a split."""
    table: SplitTable = state.table(key, split)
    knowledge = table.knowledge
    concepts = {concept.name: (CONCEPT, len(concept.values)) for concept in knowledge.space.concepts}
    labels = {label.name: (LABEL, len(label.values)) for label in knowledge.labels}
    return {
        "split": split,
        "size": len(table),
        **{
            what: [_counts(table, kind + name, name, size) for name, (kind, size) in named.items()]
            for what, named in (("labels", labels), ("concepts", concepts))
        },
    }


def _counts(table: SplitTable, column: str, name: str, size: int) -> dict[str, Any]:
    codes = table.codes(column)
    return {"name": name, "counts": np.bincount(codes[codes >= 0], minlength=size).tolist()}


def stored_audit(served: ServedDataset) -> dict[str, Any] | None:
    """Return the audit that `assay audit` wrote, if there is one."""
    if not (served.dataset.folder / AUDIT).is_file():
        return None
    try:
        found = json.loads(inside(served.dataset.folder, AUDIT).read_text(encoding="utf-8"))
        findings = [{name: str(entry[name]) for name in ("check", "status", "text")} for entry in found["findings"]]
    except (OSError, ValueError, LookupError, TypeError):
        raise DataError(f"{AUDIT} of {served.key!r} cannot be read") from None
    return {"findings": findings, "stored": True}


def audit_now(state: State, key: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Return what an audit finds; nothing is written."""
    names = list(CHECKS)
    found = audit(
        audited_dataset(state.shelf[key].dataset),
        watch=lambda name, share: tell(f"{name} ({names.index(name) + 1} of {len(names)})"),
    )
    findings = [{"check": r.check, "status": r.status, "text": r.text} for r in found.results]
    return {"findings": findings, "stored": False}


def shortcuts_of(state: State, key: str) -> dict[str, Any]:
    """Return how many reasoning shortcuts the training labels allow, and what to supervise against them."""
    with JUDGING:
        found = taught_by(state.shelf[key].dataset)
    if found is None:
        return {"text": "Shortcuts cannot be counted here: there are no training worlds, or too many."}
    return found.to_dict()
