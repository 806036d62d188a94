"""The data of a setup: worlds, pictures, and the training and the table with their faults."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import NO_RULE, ConceptSpace, Knowledge, evaluate, parse
from benchmarks.trained.setups import Setup
from benchmarks.trained.sources import Batch, Look, Source, restricted

MANY = 6000
"""Of so many worlds the few that training shows are drawn."""


@dataclass(frozen=True)
class Shown:
    """Examples as they are judged: worlds, pictures, true labels."""

    batch: Batch
    images: Array
    labels: Codes


@dataclass(frozen=True)
class Bench:
    """A setup with its source, and which of the source's concepts the table has."""

    setup: Setup
    source: Source
    columns: tuple[int, ...]
    knowledge: Knowledge
    """The rule as the diagnosis has it."""

    def rng(self, *purpose: object) -> np.random.Generator:
        """Return the generator for one purpose; variations of a setup differ in its seed alone."""
        return rng_for(self.setup.seed, "trained", self.setup.name.partition("--")[0], *purpose)

    def holds(self, text: str, codes: Codes) -> Array:
        """Return where a formula over all concepts of the source holds."""
        space = self.source.knowledge.space
        return np.asarray(evaluate(parse(text), space, codes)).astype(bool)

    def seed_of(self, *purpose: object) -> int:
        """Return a seed for one purpose."""
        return int(self.rng(*purpose).integers(2**31))


def bench_of(setup: Setup) -> Bench:
    """Return a setup with its source, and the rule as the table allows it."""
    source = setup.source()
    space = source.knowledge.space
    columns = tuple(i for i, name in enumerate(space.names) if name not in setup.hidden)
    knowledge = source.knowledge
    if setup.hidden:
        kept = [space.names[i] for i in columns]
        bare = replace(knowledge, labels=tuple(replace(label, formula=NO_RULE) for label in knowledge.labels))
        knowledge = restricted(knowledge, kept) if setup.rule else _over(bare, kept)
    elif not setup.rule:
        knowledge = replace(knowledge, labels=tuple(replace(part, formula=NO_RULE) for part in knowledge.labels))
    return Bench(setup, source, columns, knowledge)


def _over(bare: Knowledge, names: list[str]) -> Knowledge:
    """Return labels without a rule over some concepts."""
    return Knowledge(ConceptSpace(tuple(bare.space.concept(name) for name in names)), bare.labels)


def few_worlds(bench: Bench) -> Batch:
    """Return the few different worlds that training shows, about as many with a true first label as without."""
    shown = bench.source.worlds("train", MANY, bench.seed_of("worlds"))
    order = bench.rng("few").permutation(len(shown))
    _, first = np.unique(shown.codes[order], axis=0, return_index=True)
    distinct = order[np.sort(first)]  # the more frequent worlds come sooner
    true = bench.source.knowledge.labels_of(shown.codes[distinct])[:, 0] > 0
    half = bench.setup.distinct // 2
    return shown.take(np.concatenate([distinct[true][:half], distinct[~true][: bench.setup.distinct - half]]))


def worlds_of(bench: Bench, split: str, count: int) -> Batch:
    """Return worlds of a split, with as many rare labels as were asked for; training only where it looks."""
    setup, source = bench.setup, bench.source
    few_only = setup.other == "worlds" and split in ("test", "fresh")  # as in training; only `ood` has new worlds
    chosen = bool(setup.rare or (split == "train" and setup.where))
    batch = source.worlds(split, 6 * count if chosen else count, bench.seed_of("worlds"))
    rng = bench.rng("choice", split)
    if split == "train" and setup.where:
        batch = batch.take(np.flatnonzero(bench.holds(setup.where, batch.codes)))
    if setup.distinct and (split == "train" or few_only):
        few = few_worlds(bench)
        batch = few.take(rng.integers(len(few), size=count))
    if setup.rare:
        true = source.knowledge.labels_of(batch.codes)[:, 0] > 0
        positives = np.flatnonzero(true)[: round(setup.rare * count)]
        negatives = np.flatnonzero(~true)[: count - len(positives)]
        batch = batch.take(rng.permutation(np.concatenate([positives, negatives])))
    return batch.take(np.arange(min(count, len(batch))))


def show(bench: Bench, split: str, batch: Batch, look: Look, tie: float) -> Shown:
    """Return examples with their pictures; a watermark agrees with the first label in this share."""
    labels = bench.source.knowledge.labels_of(batch.codes)
    marks = None
    if bench.setup.marks:
        positive = labels[:, 0] > 0
        marks = np.where(bench.rng("marks", split).random(len(batch)) < tie, positive, ~positive)
    return Shown(batch, bench.source.draw(batch, bench.seed_of("style", split), look, marks), labels)


def training_data(bench: Bench) -> tuple[Shown, Codes, Codes]:
    """Return training examples, and their concepts and labels as the model is given them."""
    setup, rng = bench.setup, bench.rng("training")
    shown = show(bench, "train", worlds_of(bench, "train", setup.train), setup.look, setup.marks)
    sizes = [len(label.values) for label in bench.source.knowledge.labels]
    wrong = rng.random(shown.labels.shape) < setup.label_noise
    if setup.poison:
        wrong |= bench.holds(setup.poison, shown.batch.codes)[:, None]
    labels = changed_codes(shown.labels, wrong, sizes, rng)
    truth = shown.batch.codes[:, list(bench.columns)]
    noisy = rng.random(truth.shape) < setup.concept_noise
    return shown, changed_codes(truth, noisy, bench.knowledge.space.sizes, rng), labels


def changed_codes(codes: Codes, where: Array, sizes: Sequence[int], rng: np.random.Generator) -> Codes:
    """Return codes with another value, drawn evenly, in some cells."""
    shift = np.stack([rng.integers(1, size, size=len(codes)) for size in sizes], axis=1)
    return np.where(where, (codes + shift) % np.array(sizes), codes)


def table_of(bench: Bench, split: str, shown: Shown) -> dict[str, Array]:
    """Return the table that is judged by, with its noise and gaps, and the truth where it differs."""
    setup, rng = bench.setup, bench.rng("table", split)
    space, codes, labels = bench.knowledge.space, shown.batch.codes[:, list(bench.columns)], shown.labels
    concepts = codes
    if setup.table_noise:
        where = bench.holds(setup.table_noise_where, shown.batch.codes) if setup.table_noise_where else True
        if setup.table_labels:
            wrong = (rng.random(labels.shape) < setup.table_noise) & np.broadcast_to(where, len(labels))[:, None]
            labels = changed_codes(labels, wrong, [len(part.values) for part in bench.knowledge.labels], rng)
        else:
            wrong = (rng.random(codes.shape) < setup.table_noise) & np.broadcast_to(where, len(codes))[:, None]
            wrong &= np.array([not setup.table_noise_in or name in setup.table_noise_in for name in space.names])
            concepts = changed_codes(codes, wrong, space.sizes, rng)
    if setup.gaps:
        where = bench.holds(setup.gaps_where, shown.batch.codes) if setup.gaps_where else np.ones(len(codes), bool)
        concepts = np.where((rng.random(codes.shape) < setup.gaps) & where[:, None], -1, concepts)
    table = {"labels": labels.astype(np.int8), "concepts": concepts.astype(np.int8)}
    if (concepts != codes).any():
        table["true_concepts"] = codes.astype(np.int8)
    if (labels != shown.labels).any():
        table["true_labels"] = shown.labels.astype(np.int8)
    return table


def changes_of(
    bench: Bench, batch: Batch, training: Codes, count: int, purpose: str
) -> tuple[Array, Array, Codes] | None:
    """Return rows, columns of the table, and worlds with one concept changed to a value of training; None if none."""
    rng, knowledge = bench.rng("changes", purpose), bench.source.knowledge
    found: list[tuple[int, int, Codes]] = []
    labels = knowledge.labels_of(batch.codes)
    values = [np.unique(column[column >= 0]) for column in training.T]
    for row in rng.permutation(len(batch))[:count]:
        options = []
        for place, column in enumerate(bench.columns):
            other = np.repeat(batch.codes[row][None], len(values[place]), axis=0)
            other[:, column] = values[place]
            fits = (other[:, column] != batch.codes[row, column]) & knowledge.can_be(other)
            options += [(int(row), place, world) for world in other[fits]]
        if options:
            moved = [(knowledge.labels_of(o[2][None])[0] != labels[row]).any() for o in options]
            wanted = bool(rng.random() < 0.5)
            pool = [o for o, moves in zip(options, moved, strict=True) if moves == wanted] or options
            found.append(pool[int(rng.integers(len(pool)))])
    if not found:
        return None
    rows, columns, worlds = zip(*found, strict=True)
    return np.array(rows), np.array(columns), np.stack(worlds)
