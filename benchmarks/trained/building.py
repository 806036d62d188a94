"""A case from a setup: data with the fault, a trained model, its answers, and what was measured of them."""

import platform
from typing import Any

import numpy as np
import sklearn
import torch

from assay.base import Array, Codes
from benchmarks.trained.data import Bench, Shown, bench_of, changes_of, show, table_of, training_data, worlds_of
from benchmarks.trained.following import CHANGES, answer, arrays_of, next_facts
from benchmarks.trained.kept import PAIRS, Case
from benchmarks.trained.measures import accuracy_within_cells, facts_of
from benchmarks.trained.models import Trained, train_model
from benchmarks.trained.setups import Setup
from benchmarks.trained.sources import Batch, Look
from benchmarks.trained.words import expectation

POOL = 6000


def pair_arrays(bench: Bench, model: Trained, test: Shown, training: Codes) -> dict[str, Array]:
    """Return the answers to changed test worlds, drawn in the same style."""
    changes = changes_of(bench, test.batch, training, CHANGES, "test")
    if changes is None:
        return {}
    rows, columns, worlds = changes
    codes = test.batch.codes.copy()
    codes[rows] = worlds
    style = bench.setup.marks
    marks_as_before = show(bench, "test", Batch(codes, test.batch.pictures), bench.setup.look, style)
    after = Shown(Batch(worlds, test.batch.pictures[rows]), marks_as_before.images[rows], marks_as_before.labels[rows])
    table = {"labels": after.labels.astype(np.int8), "concepts": worlds[:, list(bench.columns)].astype(np.int8)}
    kept = {"rows": rows.astype(np.int16), "columns": columns.astype(np.int8), **table}
    return {**kept, **arrays_of(answer(bench, model, after))}


def build(setup: Setup) -> Case:
    """Train the model of a setup, and return its case."""
    torch.manual_seed(setup.seed)
    bench = bench_of(setup)
    train, concepts, labels = training_data(bench)
    model = train_model(bench.setup, bench.knowledge, train.images, concepts, labels)
    test = show(bench, "test", worlds_of(bench, "test", setup.test), setup.look, setup.marks)
    shown = {"test": test}
    if setup.other:
        split = "ood" if setup.other == "worlds" else "fresh"
        look = setup.other_look or setup.look
        shown["ood"] = show(bench, "ood", worlds_of(bench, split, setup.others), look, 0.5)
    arrays: dict[str, Array] = {"training": concepts.astype(np.int8), "training_labels": labels.astype(np.int8)}
    for split, part in shown.items():
        kept = {**table_of(bench, split, part), **arrays_of(answer(bench, model, part))}
        arrays |= {f"{split}.{name}": array for name, array in kept.items()}
    if bench.source.drawn and bench.knowledge.has_rule:
        kept = pair_arrays(bench, model, test, concepts)
        arrays |= {f"{PAIRS}.{name}": array for name, array in kept.items()}
    answered = [part is not None for part in answer(bench, model, test).concepts]
    header = {**_header(bench, list(shown)), "answered": answered}
    case = Case({**header, "facts": facts_of(Case(header, arrays))}, arrays)
    fresh = {"ceiling": ceiling_of(bench), **next_facts(bench, model, concepts)}
    facts = {**case.header["facts"], **fresh}
    return Case(
        {**header, "facts": facts, **expectation(setup.intended, setup.rule, bool(header["other_pictures"]), facts)},
        arrays,
    )


def _header(bench: Bench, splits: list[str]) -> dict[str, Any]:
    setup = bench.setup
    versions = {"numpy": np.__version__, "torch": torch.__version__, "scikit-learn": sklearn.__version__}
    return {
        "name": setup.name,
        "family": setup.family,
        "half": setup.half,
        "cause": setup.cause,
        "model": f"{setup.model} {setup.head}".strip(),
        "setup": _plain(setup),
        "seed": setup.seed,
        "versions": {"python": platform.python_version(), **versions},
        "knowledge": bench.knowledge.to_dict(),
        "generating": bench.source.knowledge.to_dict(),
        "other_pictures": [split for split in splits if split == "ood" and _other_pictures(setup)],
        "splits": splits,
    }


def _other_pictures(setup: Setup) -> bool:
    return bool(setup.marks or setup.other_look)


def _plain(setup: Setup) -> dict[str, Any]:
    """Return what a setup changes of the usual one, as plain data."""
    usual = {name: field.default for name, field in Setup.__dataclass_fields__.items()}
    shown = {name: getattr(setup, name) for name in usual if name not in ("source", "name")}
    return {
        name: vars(value) if isinstance(value, Look) else value for name, value in shown.items() if value != usual[name]
    }


def ceiling_of(bench: Bench) -> float | None:
    """Return the best accuracy that the table's true concepts allow, by the cells of many worlds; None by a rule."""
    if bench.knowledge.has_rule:
        return None
    batch = worlds_of(bench, "train", POOL)
    labels = bench.source.knowledge.labels_of(batch.codes)
    return accuracy_within_cells(batch.codes[:, list(bench.columns)], labels)
