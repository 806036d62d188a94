"""Models by what they predict, written down: builders of evidence, and a clear case of every claim of every check."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.diagnosis import Counterfactuals, Diagnosis, Effects, Reliance, Rights, diagnose, read_thresholds
from assay.logic import NO_RULE, Concept, ConceptSpace, Knowledge, Label, bits
from assay.metrics import Evidence, mean_score

Random = np.random.Generator
SIGNS = ConceptSpace(
    (
        Concept("shape", ("disc", "square", "ring")),
        Concept("colour", ("blue", "green", "red")),
        Concept("stripe", (False, True)),
        Concept("dots", (0, 1, 2, 3)),
        Concept("frame", (False, True)),
    )
)
"""Traffic signs of five concepts, of which rules use some."""
SHAPE, COLOUR, STRIPE, DOTS, FRAME = range(5)


def rule(text: str, concepts: str | ConceptSpace = "abc") -> Knowledge:
    """Return a rule for one label `y`, over bits of these letters or over other concepts."""
    return Knowledge.of(bits(list(concepts)) if isinstance(concepts, str) else concepts, {"y": text})


def unruled(space: ConceptSpace, values: Sequence[Any] = (False, True)) -> Knowledge:
    """Return what is known where no rule is: a label `y` of these values."""
    return Knowledge(space, (Label("y", NO_RULE, tuple(values)),))


FINE = rule("(colour == 'red' and stripe) or dots >= 2", SIGNS)
"""Who has to pay: a rule that uses three of the five concepts."""


def worlds(space: ConceptSpace, count: int, rng: Random) -> Codes:
    """Return worlds drawn evenly."""
    return rng.integers(0, np.array(space.sizes), size=(count, len(space)))


def every(space: ConceptSpace, times: int = 1) -> Codes:
    """Return every world so many times."""
    return np.tile(np.array(list(product(*map(range, space.sizes)))), (times, 1))


def evidence(
    knowledge: Knowledge,
    truth: Codes,
    said: Codes | None = None,
    predicted: Codes | None = None,
    labels: Codes | None = None,
    split: str = "test",
    sure: Sequence[Array | None] = (),
    odds: Sequence[Array | None] = (),
) -> Evidence:
    """Return the evidence of a model that predicts the truth, and the rule's labels, unless something else is given.

    `said` and `predicted` are its concepts and labels, `labels` those of the table; `sure` and `odds` are probabilities
    of concepts and labels.
    """
    said = truth if said is None else said
    labels = knowledge.labels_of(truth) if labels is None else labels
    if predicted is None:
        predicted = knowledge.labels_of(np.where(said >= 0, said, np.maximum(truth, 0)))
    parts = tuple(sure) or (None,) * len(knowledge.space), tuple(odds) or (None,) * len(knowledge.labels)
    predicted = np.asarray(predicted).astype(np.int64).reshape(labels.shape)
    return Evidence(knowledge, split, labels, truth, predicted, said, parts[1], parts[0])


def silent(truth: Codes) -> Codes:
    """Return the concepts of a black box: none."""
    return np.full_like(truth, -1)


def some(count: int, share: float, rng: Random) -> Array:
    """Return which of so many rows are drawn: exactly this share."""
    return np.isin(np.arange(count), rng.permutation(count)[: round(share * count)])


def turned(codes: Codes, rows: Array, column: int = 0, size: int = 2) -> Codes:
    """Return codes with the next value in some rows of a column."""
    other = codes.copy()
    other[rows, column] = (other[rows, column] + 1) % size
    return other


def redrawn(codes: Codes, share: float, rng: Random, columns: Sequence[int], space: ConceptSpace = SIGNS) -> Codes:
    """Return codes of which each cell of some columns has, with this chance, another value."""
    other = codes.copy()
    for column in columns:
        rows = rng.random(len(codes)) < share
        drawn = rng.integers(1, space.sizes[column], int(rows.sum()))
        other[rows, column] = (other[rows, column] + drawn) % space.sizes[column]
    return other


def certain(codes: Codes, confidence: Array | float, size: int = 2) -> Array:
    """Return probabilities that give each code this confidence and share the rest alike."""
    sure = np.broadcast_to(np.asarray(confidence, dtype=float), codes.shape)[:, None]
    return np.where(codes[:, None] == np.arange(size), sure, (1 - sure) / (size - 1))


@dataclass(frozen=True)
class Model:
    """What a model predicts of some splits, the worlds that training showed, and what changes of inputs do to it."""

    splits: Mapping[str, Evidence]
    training: Codes | None = None
    reliance: tuple[Reliance, ...] = ()
    effects: Counterfactuals | None = None

    def diagnosed(self, resamples: int = 0, **changed: Any) -> Diagnosis:
        """Return the diagnosis, by default without certainty; thresholds are given as `section__name`."""
        settings = {name.replace("__", ".").replace("_", " "): value for name, value in changed.items()}
        thresholds = read_thresholds({"verdict.resamples": resamples, **settings})
        return diagnose(self.splits, self.training, effects=self.effects, reliance=self.reliance, thresholds=thresholds)


def on_test(*parts: Any, training: Codes | None = None, **more: Any) -> Model:
    """Return a model that is judged on its test split; the arguments are those of `evidence`."""
    return Model({"test": evidence(*parts, **more)}, training)


Build = Callable[[Random], Model]
CLEAR: dict[tuple[str, str], Build] = {}
"""By the word and its claim: a model of which it is clearly true."""


def clear(word: str, claim: str) -> Callable[[Build], Build]:
    """Register the clear case of a claim."""

    def register(build: Build) -> Build:
        CLEAR[word, claim] = build
        return build

    return register


@cache
def clear_case(word: str, claim: str = "") -> Model:
    """Return the clear case of a claim, or of the first one of a word."""
    claim = claim or next(own for kind, own in CLEAR if kind == word)
    return CLEAR[word, claim](rng_for(0, "clear case", word, claim))


def signs(count: int, rng: Random) -> tuple[Codes, Codes, Codes]:
    """Return training worlds, test worlds and the labels of these."""
    training, test = worlds(SIGNS, 1000, rng), worlds(SIGNS, count, rng)
    return training, test, FINE.labels_of(test)


@clear("sound", "right")
def right(rng: Random) -> Model:
    """Everything is right."""
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, training=training)


@clear("no rule", "right")
def right_without_a_rule(rng: Random) -> Model:
    """Everything is right, and no rule is known."""
    training, test, labels = signs(500, rng)
    return on_test(unruled(SIGNS), test, labels=labels, predicted=labels, training=training)


@clear("too few", "undecided")
def a_dozen(rng: Random) -> Model:
    """Everything is right in twelve examples."""
    training, test, _ = signs(12, rng)
    return on_test(FINE, test, training=training)


@clear("opaque", "all")
def black_box(rng: Random) -> Model:
    """Labels are right, and no concept is predicted."""
    training, test, labels = signs(500, rng)
    return on_test(FINE, test, silent(test), labels, training=training)


@clear("unidentified", "unused")
def unused_concepts_wrong(rng: Random) -> Model:
    """Shape and frame, which the rule does not use, are wrong in two of five examples."""
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, redrawn(test, 0.4, rng, [SHAPE, FRAME]), training=training)


@clear("shortcut", "kept")
def three_dots_as_two(rng: Random) -> Model:
    """Three dots are read as two, which keeps every label."""
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, np.minimum(test, [2, 2, 1, 2, 1]), training=training)


@clear("noisy", "used")
def concepts_at_random(rng: Random) -> Model:
    """Every concept is wrong in a fifth of the examples, and labels follow."""
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, redrawn(test, 0.2, rng, range(5)), training=training)


@clear("annotations", "concepts")
def wrong_table(rng: Random) -> Model:
    """The model is right about everything; a tenth of the concepts in the table is wrong."""
    training, test, labels = signs(600, rng)
    return on_test(FINE, redrawn(test, 0.1, rng, range(5)), test, labels=labels, training=training)


@clear("leaking", "rule")
def past_the_concepts(rng: Random) -> Model:
    """Of two bits one is always read as false; their exclusive or is right all the same."""
    knowledge = rule("xor(a, b)", "ab")
    test = every(knowledge.space, 100)
    return on_test(knowledge, test, test * [0, 1], knowledge.labels_of(test), training=test)


@clear("wrong rule", "labels")
def another_rule(rng: Random) -> Model:
    """Concepts are right; the label is that of another rule."""
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, predicted=(test[:, COLOUR] == 2) | (test[:, DOTS] == 3), training=training)


@clear("inconsistent", "apart")
def labels_that_do_not_follow(rng: Random) -> Model:
    """Concepts are often misread, and there labels go by chance."""
    training, test, labels = signs(500, rng)
    said = redrawn(test, 0.15, rng, range(5))
    misread = (said != test)[:, [COLOUR, STRIPE, DOTS]].any(axis=1, keepdims=True)
    follow = FINE.labels_of(said)
    return on_test(FINE, test, said, np.where(misread & (follow == labels), 1 - labels, labels), training=training)


@clear("memorised", "cells")
def half_of_the_worlds(rng: Random) -> Model:
    """A black box guesses on the worlds that training does not show."""
    knowledge = rule("xor(a, b, c)", "abcdefg")
    known = every(knowledge.space)[rng.permutation(128)[:64]]
    test = every(knowledge.space, 8)
    new = ~(test[:, None] == known).all(axis=2).any(axis=1)
    labels = knowledge.labels_of(test)
    return on_test(knowledge, test, silent(test), turned(labels, new & (rng.random(len(test)) < 0.5)), training=known)


@clear("shifted", "worlds")
def other_pictures(rng: Random) -> Model:
    """A black box is wrong in a quarter of another split that shows the same worlds."""
    training, test, labels = signs(500, rng)
    wrong = turned(labels, some(500, 0.25, rng))
    first, other = evidence(FINE, test, silent(test), labels), evidence(FINE, test, silent(test), wrong, split="ood")
    return Model({"test": first, "ood": other}, training)


@clear("missed region", "trained")
def a_disjunct_missed(rng: Random) -> Model:
    """A black box knows one of the two reasons only, though training shows both."""
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, silent(test), test[:, DOTS] >= 2, training=training)


@clear("incomplete", "ceiling")
def at_the_ceiling(rng: Random) -> Model:
    """Dots are not annotated; labels are the likeliest for the other concepts. No rule is known."""
    training, test, labels = signs(1500, rng)
    kept = [SHAPE, COLOUR, STRIPE, FRAME]
    space = ConceptSpace(tuple(SIGNS.concepts[column] for column in kept))
    likeliest = (test[:, COLOUR] == 2) & (test[:, STRIPE] == 1)
    return on_test(unruled(space), test[:, kept], None, likeliest, labels, training=training[:, kept])


@clear("underfit", "labels")
def labels_by_chance(rng: Random) -> Model:
    """No concept is predicted, and labels go by chance."""
    training, test, labels = signs(500, rng)
    return on_test(FINE, test, silent(test), rng.permutation(labels), training=training)


@clear("boundary", "near")
def near_misses(rng: Random) -> Model:
    """A black box is wrong in half of the worlds that one change brings across the boundary of a conjunction."""
    knowledge = rule("a and b and c and d", "abcd")
    test = np.concatenate([every(knowledge.space, 30), np.ones((200, 4), dtype=np.int64)])
    labels, near = knowledge.labels_of(test), test.sum(axis=1) == 3
    return on_test(knowledge, test, silent(test), turned(labels, near & (rng.random(len(test)) < 0.5)), training=test)


@clear("spurious", "labels")
def follows_a_mark(rng: Random) -> Model:
    """Labels follow a mark that goes with them in training."""
    box = black_box(rng)
    mark = Reliance("mark", "nuisance", "reversed", 400, 380, 0, Rights(200, 200, 10, 200, True))
    return Model(box.splits, box.training, (mark,))


# -- further claims of the same words ----------------------------------------------------------------------------------


@clear("annotations", "labels")
def wrong_labels_in_the_table(rng: Random) -> Model:
    """The model is right about everything; a tenth of the labels in the table is wrong."""
    training, test, labels = signs(500, rng)
    return on_test(FINE, test, predicted=labels, labels=turned(labels, some(500, 0.1, rng)), training=training)


@clear("leaking", "cells")
def past_the_concepts_without_a_rule(rng: Random) -> Model:
    """Dots are not annotated, no rule is known, and labels are right."""
    capped = at_the_ceiling(rng).splits["test"]
    return on_test(capped.knowledge, capped.concepts, None, capped.labels, capped.labels)


@clear("noisy", "any")
def concepts_at_random_without_a_rule(rng: Random) -> Model:
    """A concept is wrong in a fifth of the examples, and no rule is known."""
    training, test, labels = signs(500, rng)
    said = redrawn(test, 0.2, rng, [SHAPE])
    return on_test(unruled(SIGNS), test, said, labels, labels, training=training)


@clear("opaque", "some")
def one_concept_not_predicted(rng: Random) -> Model:
    """Labels are right, and one of the concepts of the rule is not predicted."""
    training, test, labels = signs(500, rng)
    said = np.where(np.arange(5) == DOTS, -1, test)
    return on_test(FINE, test, said, labels, training=training)


@clear("shortcut", "training")
def what_training_cannot_reveal(rng: Random) -> Model:
    """A bit is turned; it decides where another one is true, which it never is in training."""
    knowledge = rule("a and b")
    test = every(knowledge.space, 60)
    return on_test(knowledge, test, 1 - test * [1, -1, -1] - [0, 1, 1], training=test[test[:, 1] == 0])


@clear("shortcut", "mixed")
def errors_that_cancel(rng: Random) -> Model:
    """In two of five examples two bits of an exclusive or are both turned."""
    knowledge = rule("xor(a, b, c)")
    test = every(knowledge.space, 75)
    both = some(600, 0.4, rng)
    return on_test(knowledge, test, turned(turned(test, both, 0), both, 1), training=test)


@clear("wrong rule", "value")
def a_rare_value_missed(rng: Random) -> Model:
    """Concepts are right; of the few labels that are true nearly half are missed."""
    knowledge, test = rule("colour == 'red' and stripe and dots == 3", SIGNS), worlds(SIGNS, 1500, rng)
    labels = knowledge.labels_of(test)
    missed = (labels[:, 0] == 1) & (rng.random(1500) < 0.45)
    return on_test(knowledge, test, predicted=turned(labels, missed), training=test)


@clear("wrong rule", "region")
def a_rare_reason_missed(rng: Random) -> Model:
    """Concepts are right; a rare combination of them is missed, seldom enough for the label to be right."""
    knowledge = rule("(colour == 'red' and stripe and dots >= 2) or frame", SIGNS)
    splits = {}
    for name in ("test", "ood"):
        test = worlds(SIGNS, 1000, rng)
        splits[name] = evidence(knowledge, test, predicted=test[:, FRAME], split=name)
    return Model(splits, worlds(SIGNS, 1000, rng))


SQUARE = rule("a + b > 9", ConceptSpace(tuple(Concept(name, tuple(range(10))) for name in "ab")))
"""A rule that uses all of a world, so that no other world has the same used concepts."""


@clear("memorised", "regions")
def half_of_the_squares(rng: Random) -> Model:
    """A black box guesses on the half of the worlds that training does not show; each is a cell of its own."""
    test, labels = every(SQUARE.space, 10), SQUARE.labels_of(every(SQUARE.space, 10))
    known = some(100, 0.5, rng)
    new = np.tile(~known, 10)
    guessed = turned(labels, new & (rng.random(1000) < 0.5))
    return on_test(SQUARE, test, silent(test), guessed, training=test[:100][known])


@clear("memorised", "part")
def new_worlds_of_a_region(rng: Random) -> Model:
    """A black box is wrong in the two worlds without a and with b that training lacks, right in two others it lacks."""
    knowledge, lacking = rule("(a and b) or (c and not d)", "abcd"), [4, 7, 10, 14]
    shown = np.array([place for place in range(16) if place not in lacking])
    known, new = every(knowledge.space)[shown], every(knowledge.space, 75)
    new = new[np.isin(np.arange(len(new)) % 16, lacking)]
    test = known[np.arange(300) % len(known)]
    lost = (new[:, 0] == 0) & (new[:, 1] == 1)
    wrong = evidence(knowledge, new, silent(new), turned(knowledge.labels_of(new), lost), split="ood")
    return Model({"test": evidence(knowledge, test, silent(test)), "ood": wrong}, known)


@clear("memorised", "worlds")
def large_values_never_seen(rng: Random) -> Model:
    """A black box guesses where a value is larger than any of training."""
    test, labels = every(SQUARE.space, 10), SQUARE.labels_of(every(SQUARE.space, 10))
    new = (test > 6).any(axis=1)
    guessed = turned(labels, new & (rng.random(1000) < 0.5))
    return on_test(SQUARE, test, silent(test), guessed, training=test[:100][~new[:100]])


@clear("missed region", "untrained")
def a_region_never_seen(rng: Random) -> Model:
    """A black box knows one of the two reasons only; training lacks the other, and many worlds that are right."""
    model = a_disjunct_missed(rng)
    test = model.splits["test"]
    known = (test.labels == test.predicted_labels)[:, 0] & (test.concepts[:, FRAME] == 0)
    return Model(model.splits, test.concepts[known])


@clear("missed region", "unknown")
def a_region_of_unknown_training(rng: Random) -> Model:
    """A black box knows one of the two reasons only; what training showed is not known."""
    return Model(a_disjunct_missed(rng).splits)


@clear("shifted", "cells")
def other_pictures_of_other_worlds(rng: Random) -> Model:
    """A black box is wrong in a quarter of another split, whose worlds differ in what the rule does not use."""
    knowledge = rule("xor(a, b)", "abcdefghijkl")
    test, other = worlds(knowledge.space, 400, rng), worlds(knowledge.space, 400, rng)
    wrong = turned(knowledge.labels_of(other), some(400, 0.25, rng))
    first = evidence(knowledge, test, silent(test), knowledge.labels_of(test))
    return Model({"test": first, "ood": evidence(knowledge, other, silent(other), wrong, split="ood")})


@clear("shifted", "splits")
def another_split_of_other_values(rng: Random) -> Model:
    """A black box is wrong in a quarter of another split, which shares no used concepts with the first."""
    test, other = every(SQUARE.space, 10), every(SQUARE.space, 10)
    test, other = test[test.sum(axis=1) % 2 == 0], other[other.sum(axis=1) % 2 == 1]
    wrong = turned(SQUARE.labels_of(other), some(len(other), 0.25, rng))
    first = evidence(SQUARE, test, silent(test), SQUARE.labels_of(test))
    return Model({"test": first, "ood": evidence(SQUARE, other, silent(other), wrong, split="ood")})


@clear("underfit", "unexplained")
def labels_often_wrong(rng: Random) -> Model:
    """Concepts are right, no rule is known, and a tenth of the labels is wrong."""
    training, test, labels = signs(800, rng)
    wrong = turned(labels, some(800, 0.12, rng))
    return on_test(unruled(SIGNS), test, None, wrong, labels, training=training)


@clear("too few", "contested")
def either_the_table_or_the_model(rng: Random) -> Model:
    """Of a hundred examples one concept of a fifth differs from the table, which contradicts the label now and then."""
    training, test, labels = signs(100, rng)
    return on_test(FINE, redrawn(test, 0.2, rng, [STRIPE]), test, labels=labels, training=training)


@clear("too few", "never whole")
def gaps_in_every_example(rng: Random) -> Model:
    """Everything is right, and of each example one of the two concepts that the rule uses is not known."""
    training, test, _ = signs(500, rng)
    table = test.copy()
    table[np.arange(500), np.where(np.arange(500) % 2, STRIPE, DOTS)] = -1
    return on_test(FINE, table, test, labels=FINE.labels_of(test), training=training)


@clear("noisy", "together")
def many_small_errors(rng: Random) -> Model:
    """Each of four bits is wrong in 4 % of the examples, and their exclusive or in 15 %."""
    knowledge = rule("xor(a, b, c, d)", "abcd")
    test = every(knowledge.space, 60)
    said = test
    for column in range(4):
        said = turned(said, some(len(test), 0.04, rng), column)
    return on_test(knowledge, test, said, training=test)


@clear("underfit", "uncertain")
def too_uncertain(rng: Random) -> Model:
    """Concepts are right, often with 70 % only, where the rule makes it most probable that not all three are true."""
    knowledge = rule("a and b and c")
    test = every(knowledge.space, 60)
    unsure = some(len(test), 0.75, rng)
    sure = [certain(column, np.where(unsure, 0.7, 0.99)) for column in test.T]
    return on_test(knowledge, test, None, ~unsure & test.all(axis=1), sure=sure, training=test)


@clear("underfit", "mixed")
def three_causes(rng: Random) -> Model:
    """A third of the wrong labels each because of misread concepts, of the label head, and of their annotation."""
    training, test, labels = signs(1200, rng)
    said = redrawn(test, 0.08, rng, [COLOUR, STRIPE, DOTS])
    parts = rng.permutation(1200)
    predicted = turned(FINE.labels_of(said), np.isin(np.arange(1200), parts[:95]))
    table = turned(labels, np.isin(np.arange(1200), parts[100:195]))
    return on_test(FINE, test, said, predicted, table, training=training)


def with_pairs(follows: float, stays: float, rng: Random) -> Model:
    """Return a model that is right, but for what changes of single concepts do to its labels."""
    scores = {name: mean_score(name, some(200, share, rng)) for name, share in (("follows", follows), ("stays", stays))}
    effects = Effects(
        **scores, noticed=mean_score("noticed", np.ones(200)), untouched=mean_score("untouched", np.ones(200))
    )
    return replace(right(rng), effects=Counterfactuals("pairs", 200, effects, {}))


@clear("boundary", "follows")
def pairs_that_do_not_follow(rng: Random) -> Model:
    """Everything is right on test; in half of the pairs the label does not follow."""
    return with_pairs(0.5, 1.0, rng)


@clear("boundary", "stays")
def pairs_that_do_not_stay(rng: Random) -> Model:
    """Everything is right on test; in half of the pairs the label moves though it should not."""
    return with_pairs(1.0, 0.5, rng)


@clear("spurious", "concepts")
def a_concept_follows_a_mark(rng: Random) -> Model:
    """Everything is right on test, where one concept is read from a mark."""
    spoilt = {"stripe": Rights(200, 200, 20, 200, True)}
    mark = Reliance("mark", "nuisance", "reversed", 400, 10, 0, Rights(200, 200, 198, 200), spoilt)
    return replace(right(rng), reliance=(mark,))


@clear("missed region", "hardly trained")
def a_region_hardly_seen(rng: Random) -> Model:
    """A black box knows one of the two reasons only; of the other, training shows three examples."""
    model = a_region_never_seen(rng)
    test = model.splits["test"]
    missed = test.concepts[(test.labels != test.predicted_labels)[:, 0]]
    return Model(model.splits, np.concatenate([model.training, missed[:3]]))
