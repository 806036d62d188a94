"""Random predictors: knowledge, worlds, perception, label heads, gaps and annotation noise drawn at random."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import NO_RULE, Concept, ConceptSpace, Constraint, EncoderGroup, Knowledge, Slot, bits, digits, parse
from assay.metrics import Evidence
from assay.testing import zoo_task

Random = np.random.Generator
SHAPES, COLOURS = ("square", "circle", "star"), ("red", "green", "blue")
OBJECTS = ConceptSpace(
    tuple(Concept(f"o{i}.{what}", values) for i in (1, 2) for what, values in (("shape", SHAPES), ("colour", COLOURS))),
    tuple(Slot(f"o{i}", "object", ("shape", "colour")) for i in (1, 2)),
    (EncoderGroup("shape", ("o1.shape", "o2.shape")), EncoderGroup("colour", ("o1.colour", "o2.colour"))),
)
BEAST = ConceptSpace(
    (
        Concept("legs", tuple(range(9)), True),
        Concept("skin", ("fur", "scales", "slime")),
        Concept("tail", (False, True)),
        Concept("age", tuple(range(12))),
    ),
    (),
    tuple(EncoderGroup(name, (name,)) for name in ("legs", "skin", "tail", "age")),
)
TASKS = ("mnadd-evenodd", "kand-logic", "sdd-oia", "clevr")
SMALL = 12
"""How many of the rules are small ones."""


@cache
def rules() -> tuple[Knowledge, ...]:
    """Return the small rules."""
    return (
        Knowledge.of(bits(list("pqrs")), {"y": "p and q or r"}),
        Knowledge.of(bits(list("pqr")), {"y": "xor(p, q, r)", "z": "p or q"}),
        Knowledge.of(digits(["u", "v"], range(5)), {"sum": "u + v"}),
        Knowledge.of(digits(["u", "v"]), {"big": "u + v > 9"}),
        Knowledge.of(OBJECTS, {"same": "o1.shape == o2.shape"}),
        Knowledge.of(OBJECTS, {"y": "o1.shape == o2.shape and o1.colour != o2.colour or o1.colour == 'red'"}),
        Knowledge.of(BEAST, {"beast": "legs > 3 and tail or skin == 'scales' and age < 5"}),
        Knowledge.of(bits([f"f{i}" for i in range(8)]), {"ill": "count(f0, f1, f2, f3, f4, f5) >= 3"}),
        Knowledge.of(bits(list("abcdefgh")), {"y": "(a and b) or (c and not d) or (e and f)"}),
        Knowledge.of(bits(list("pqrs")), {"y": "p or q", "z": "r and s"}, [Constraint("least", parse("p or q or r or s"))]),
        Knowledge.of(bits(list("stuv")), {"go": "s and not t", "stop": "t or u"}, [Constraint("apart", parse("not (s and u)"))]),
        Knowledge.of(digits(["u", "v", "w"], range(4)), {"y": "u + v == w", "up": "u < v"}),
    )  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """A random predictor's evidence, and the worlds that training showed."""

    name: str
    evidence: Mapping[str, Evidence]
    training: Codes


def random_predictor(seed: int) -> Drawn:
    """Return the random predictor of a seed."""
    rng = rng_for(seed, "claims", "predictor")
    if seed % 5 == 4:
        home = _home(TASKS[seed // 5 % len(TASKS)])
        knowledge, training, worlds = home.knowledge, home.training[: int(rng.integers(100, 2000))], dict(home.splits)
        worlds = {
            name: codes[: int(rng.integers(60, 300))]
            for name, codes in worlds.items()
            if name == "test" or rng.random() < 0.5
        }
    else:
        knowledge = rules()[seed % SMALL]
        training, worlds = _worlds(knowledge, rng)
    nature = _Nature(knowledge, training, rng)
    evidence = {name: nature.evidence(name, codes) for name, codes in worlds.items()}
    return Drawn(f"random {seed}", evidence, training)


@cache
def _home(task: str) -> "object":
    return zoo_task(task)


def _possible(knowledge: Knowledge, rng: Random, rows: int, skewed: Array | None = None) -> Codes:
    sizes = knowledge.space.sizes
    codes = np.stack([rng.integers(0, size, 4 * rows + 40) for size in sizes], axis=1)
    if skewed is not None:
        codes[rng.random(codes.shape) < skewed] = 0
    codes = codes[np.asarray(knowledge.can_be(codes), dtype=bool)]
    return codes[:rows]


def _worlds(knowledge: Knowledge, rng: Random) -> tuple[Codes, dict[str, Codes]]:
    """Return training worlds, perhaps few or without some, and the worlds of one split or more."""
    skewed = rng.choice([0.0, 0.0, 0.4, 0.7], size=len(knowledge.space)) if rng.random() < 0.4 else None
    training = _possible(knowledge, rng, int(rng.choice([8, 25, 60, 200, 1500])), skewed)
    if rng.random() < 0.3:  # training lacks one value of one concept
        column = int(rng.integers(len(knowledge.space)))
        kept = training[:, column] != rng.integers(knowledge.space.sizes[column])
        training = training[kept] if kept.sum() > 4 else training
    worlds = {
        "test": _possible(
            knowledge, rng, int(rng.choice([25, 60, 120, 300, 500])), skewed if rng.random() < 0.5 else None
        )
    }
    if rng.random() < 0.3 and len(training) >= 8:  # the test split shows worlds of training, mostly
        rows = rng.integers(len(training), size=int(rng.choice([100, 400])))
        mixed = np.concatenate([training[rows], worlds["test"][:60]])
        worlds["test"] = mixed[rng.permutation(len(mixed))]
    if rng.random() < 0.45:
        worlds["ood"] = (
            worlds["test"] if rng.random() < 0.4 else _possible(knowledge, rng, int(rng.choice([40, 150, 300])))
        )
    return training, worlds


class _Nature:
    """How a model and its annotators err: the same on every split, but for what is drawn to differ on `ood`."""

    def __init__(self, knowledge: Knowledge, training: Codes, rng: Random) -> None:
        self.knowledge, self.training, self.rng = knowledge, training, rng
        self.sizes, self.columns = knowledge.space.sizes, list(range(len(knowledge.space)))
        self.tables = [np.arange(size) for size in self.sizes]
        self.noise = np.zeros(len(self.sizes))
        self.silent = np.zeros(len(self.sizes))
        self.swap: tuple[int, int] | None = None
        self._perceive()
        self.head = rng.choice(
            ["rule", "probable", "true", "noise", "other", "memory", "shuffled", "region"],
            p=[0.25, 0.15, 0.15, 0.12, 0.1, 0.1, 0.03, 0.1],
        )
        self.label_noise = float(rng.choice([0, 0, 0, 0.01, 0.05, 0.12, 0.3]))
        self.probabilities = bool(rng.random() < 0.5) or self.head == "probable"
        self.annotations = float(rng.choice([0, 0, 0, 0, 0.03, 0.1, 0.2]))
        self.gaps = float(rng.choice([0, 0, 0, 0, 0.05, 0.3]))
        self.wrong_labels = float(rng.choice([0, 0, 0, 0, 0.05, 0.15]))
        self.ruled = bool(rng.random() < 0.8)
        self.shift = float(rng.choice([0, 0, 0.1, 0.3]))
        self.region = [(int(c), int(rng.integers(self.sizes[c]))) for c in rng.permutation(len(self.sizes))[:2]]

    def _perceive(self) -> None:
        rng = self.rng
        style = rng.choice(["right", "some", "black box", "shortcut"], p=[0.35, 0.4, 0.1, 0.15])
        if style == "black box":
            self.silent[:] = 1
        if style == "shortcut":
            self._exchange_values()
        for column, size in enumerate(self.sizes):
            if style != "some":
                self.noise[column] = rng.choice([0, 0.005, 0.02])
                continue
            kind = rng.choice(
                ["as it is", "map", "noise", "silent", "constant", "some silent"], p=[0.5, 0.13, 0.25, 0.04, 0.05, 0.03]
            )
            if kind == "map":
                self.tables[column] = rng.integers(0, size, size)
            elif kind == "constant":
                self.tables[column] = np.full(size, rng.integers(size))
            elif kind.endswith("silent"):
                self.silent[column] = 1 if kind == "silent" else 0.3
            self.noise[column] = rng.choice([0.02, 0.08, 0.2, 0.5]) if kind == "noise" else rng.choice([0, 0.01])
        if style == "some" and rng.random() < 0.3:
            one, other = rng.permutation(len(self.sizes))[:2]
            if self.knowledge.space.concepts[one].values == self.knowledge.space.concepts[other].values:
                self.swap = int(one), int(other)

    def _exchange_values(self) -> None:
        """Exchange values so that training labels are kept, if a few tries find such."""
        for _ in range(60):
            column = int(self.rng.integers(len(self.sizes)))
            table = np.arange(self.sizes[column])
            table[self.rng.permutation(self.sizes[column])[:2]] = table[self.rng.permutation(self.sizes[column])[:2]]
            read = self.training.copy()
            read[:, column] = table[read[:, column]]
            kept = (self.knowledge.labels_of(read) == self.knowledge.labels_of(self.training)).all(axis=1).mean()
            if kept > 0.97 and (read != self.training).any():
                self.tables[column] = table
                return

    def evidence(self, split: str, worlds: Codes) -> Evidence:
        """Return what the model says of some worlds, beside what the table says of them."""
        rng, knowledge = self.rng, self.knowledge
        labels = knowledge.labels_of(worlds)
        said, shown = self._read(worlds, split)
        parts = self._probabilities(said)
        answers = self._answers(worlds, labels, shown, parts, split)
        silent = rng.random(said.shape) < self.silent
        concepts = np.where(silent, -1, said)
        parts = tuple(None if part is None or silent[:, i].any() else part for i, part in enumerate(parts))
        table = self._annotated(worlds)
        labels = np.where(rng.random(labels.shape) < self.wrong_labels, labels[rng.permutation(len(labels))], labels)
        own = knowledge if self.ruled else _without_rule(knowledge)
        return Evidence(own, split, labels, table, answers, concepts, self._sure(answers), parts)

    def _read(self, worlds: Codes, split: str) -> tuple[Codes, Codes]:
        """Return the concepts that are said, and those that the label head sees."""
        said = np.stack([table[worlds[:, c]] for c, table in enumerate(self.tables)], axis=1)
        if self.swap:
            said[:, list(self.swap)] = worlds[:, list(self.swap[::-1])]
        noise = self.noise + (self.shift if split == "ood" else 0)
        hit = self.rng.random(said.shape) < noise
        drawn = np.stack([self.rng.integers(0, size, len(said)) for size in self.sizes], axis=1)
        said = np.where(hit, drawn, said)
        return said, said

    def _probabilities(self, said: Codes) -> tuple[Array | None, ...]:
        if not self.probabilities:
            return (None,) * len(self.sizes)
        sure = self.rng.choice([0.55, 0.7, 0.9, 0.99])
        parts = []
        for column, size in enumerate(self.sizes):
            part = self.rng.dirichlet(np.ones(size), len(said)) * (1 - sure)
            part[np.arange(len(said)), said[:, column]] += sure
            parts.append(part)
        return tuple(parts)

    def _answers(
        self, worlds: Codes, labels: Codes, shown: Codes, parts: tuple[Array | None, ...], split: str
    ) -> Codes:
        rng, answers = self.rng, self.knowledge.labels_of(shown)
        drawn = np.stack([rng.integers(0, len(label.values), len(worlds)) for label in self.knowledge.labels], axis=1)
        if self.head == "true":
            answers = labels.copy()
        elif self.head == "probable" and self.knowledge.space.worlds <= 20_000:
            answers = _most_probable(self.knowledge, parts)
        elif self.head == "other":  # as if one concept had another value
            column = self.region[0][0]
            answers = self.knowledge.labels_of(np.where(np.arange(len(self.sizes)) == column, self.region[0][1], shown))
        elif self.head == "memory":
            known = {row.tobytes() for row in self.training.astype(np.int64)}
            new = np.array([row.tobytes() not in known for row in worlds.astype(np.int64)], dtype=bool)
            answers = np.where((new & (rng.random(len(worlds)) < 0.7))[:, None], drawn, answers)
        elif self.head == "shuffled":
            answers = labels[rng.permutation(len(labels))]
        elif self.head == "region":
            inside = np.all([worlds[:, c] == v for c, v in self.region], axis=0)
            answers = np.where((inside & (rng.random(len(worlds)) < 0.8))[:, None], drawn, answers)
        noise = self.label_noise + (self.shift if split == "ood" and self.silent.all() else 0)
        return np.where(rng.random(answers.shape) < noise, drawn, answers)

    def _annotated(self, worlds: Codes) -> Codes:
        drawn = np.stack([self.rng.integers(0, size, len(worlds)) for size in self.sizes], axis=1)
        table = np.where(self.rng.random(worlds.shape) < self.annotations, drawn, worlds)
        return np.where(self.rng.random(worlds.shape) < self.gaps, -1, table)

    def _sure(self, answers: Codes) -> tuple[Array | None, ...]:
        if not self.probabilities:
            return (None,) * answers.shape[1]
        parts, sure = [], self.rng.uniform(0.55, 0.99, len(answers))
        for column, label in zip(answers.T, self.knowledge.labels, strict=True):
            part = np.repeat(((1 - sure) / max(1, len(label.values) - 1))[:, None], len(label.values), axis=1)
            part[np.arange(len(part)), column] = sure
            parts.append(part)
        return tuple(parts)


def _most_probable(knowledge: Knowledge, parts: tuple[Array | None, ...]) -> Codes:
    worlds = knowledge.space.all_codes().astype(np.int64)
    labels = knowledge.labels_of(worlds)
    joint = np.ones((len(parts[0]), 1))
    for part in parts:
        joint = (joint[:, :, None] * part[:, None, :]).reshape(len(joint), -1)
    columns = [
        np.stack([joint[:, labels[:, i] == v].sum(axis=1) for v in range(len(label.values))], axis=1).argmax(axis=1)
        for i, label in enumerate(knowledge.labels)
    ]
    return np.stack(columns, axis=1)


@cache
def _without_rule(knowledge: Knowledge) -> Knowledge:
    labels = tuple(replace(label, formula=NO_RULE) for label in knowledge.labels)
    return Knowledge(knowledge.space, labels)
