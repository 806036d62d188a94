"""Answers of a trained model, and what happens next: on other pictures and worlds, interventions and fresh pairs."""

from dataclasses import replace

import numpy as np

from assay.base import Array, Codes
from benchmarks.trained.data import Bench, Shown, changes_of, show, worlds_of
from benchmarks.trained.kept import packed
from benchmarks.trained.models import Answers, Trained
from benchmarks.trained.sources import Batch

CHANGES, FRESH = 120, 400


def arrays_of(answers: Answers) -> dict[str, Array]:
    """Return what a model answers, as it is kept."""
    masses = {"concept_mass": packed(answers.concepts), "label_mass": packed(answers.labels)}
    return {name: mass for name, mass in masses.items() if mass is not None}


def answer(bench: Bench, model: Trained, shown: Shown) -> Answers:
    """Return what a model answers, but for the concepts on which it is silent."""
    given = model.answers(shown.images, shown.batch.codes[:, list(bench.columns)])
    names = bench.knowledge.space.names
    spoken = [None if name in bench.setup.silent else p for name, p in zip(names, given.concepts, strict=True)]
    return Answers(spoken, given.labels)


def next_facts(bench: Bench, model: Trained, training: Codes) -> dict[str, float | None]:
    """Return what happens next: on other pictures and worlds, after interventions, and on fresh pairs."""
    setup = bench.setup
    batch = worlds_of(bench, "fresh", FRESH)
    other = worlds_of(bench, "ood", FRESH)
    harder = replace(setup.look, noise=1.5 * setup.look.noise)
    iid = show(bench, "next", batch, setup.look, setup.marks)
    ood = show(bench, "next ood", other, harder, 0.5)
    given = model.intervened(batch.codes[:, list(bench.columns)])
    return {
        "next_iid": _share_right(answer(bench, model, iid).labels, iid.labels),
        "next_ood": _share_right(answer(bench, model, ood).labels, ood.labels),
        "next_interventions": None if given is None else 1 - _share_right(given, iid.labels),
        "next_pairs": _failed_pairs(bench, model, iid, training),
    }


def _share_right(answers: list[Array], labels: Codes) -> float:
    codes = np.stack([part.argmax(axis=1) for part in answers], axis=1)
    return round(float((codes == labels).all(axis=1).mean()), 4)


def _failed_pairs(bench: Bench, model: Trained, before: Shown, training: Codes) -> float | None:
    """Return in how many fresh pairs the label does not follow, or does not stay."""
    changes = changes_of(bench, before.batch, training, CHANGES, "fresh") if bench.source.drawn else None
    if changes is None:
        return None
    rows, _, worlds = changes
    codes = before.batch.codes.copy()
    codes[rows] = worlds
    after = show(bench, "next", Batch(codes, before.batch.pictures), bench.setup.look, bench.setup.marks)
    first, second = (np.stack([p.argmax(axis=1) for p in answer(bench, model, s).labels], 1) for s in (before, after))
    moved = (before.labels != after.labels)[rows]
    follows = (first == before.labels)[rows] & (second == after.labels)[rows]
    right = np.where(moved, follows, (first == second)[rows]).all(axis=1)
    return round(float(1 - right.mean()), 4)
