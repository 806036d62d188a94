"""What findings about concepts say: annotations, shortcuts, leaks, labels that do not follow, silence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from assay.base import Array, Codes, rng_for
from benchmarks.claims.on_concepts import kept_in_training
from benchmarks.claims.on_labels import best_by_concepts, causes_of
from benchmarks.claims.patterns import Share, listed, says, whole
from benchmarks.claims.rows import Rows, numbered
from benchmarks.claims.told import Place, count_is, holds, percent_of, share_is

TIMES = 30
SIMULATED = 0.025
"""How far a simulated share may be off."""
LEARNED = 0.06
"""How far rules that another learner finds may be off, beside chance."""


@says(
    "On {split:name}, predicted and annotated concepts differ in {differ:n} of {n:n} examples; in {contradict:share} "
    "the annotated concepts contradict the annotated label by the rule, and in {implied:n} of these {of:n} the predicted "
    "concepts imply it."
)
def differ(at: Place, split: str, differ: int, n: int, contradict: Share, implied: int, of: int) -> Iterator[str]:
    rows = at.told.splits[split]
    both = rows.misread & rows.contradicts
    yield from count_is("examples", n, rows.complete.sum())
    yield from count_is("differing examples", differ, rows.misread.sum())
    yield from share_is("contradictions", contradict, both.sum(), rows.misread.sum())
    yield from count_is("contradictions", of, both.sum())
    yield from count_is("contradictions that predictions resolve", implied, (both & rows.implied_right).sum())


@says(
    "On {split:name}, {n:n} of {wrong:n} wrong labels are those that the rule gives for the annotated concepts: there the "
    "annotated label contradicts the annotated concepts."
)
def wrong_tables(at: Place, split: str, n: int, wrong: int) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from count_is("wrong labels", wrong, rows.wrong.sum())
    yield from count_is(
        "labels as the rule gives", n, (rows.wrong & (rows.answers == rows.by_table) & rows.known[:, None]).sum()
    )


# -- shortcuts ---------------------------------------------------------------------------------------------------------


def right_where_wrong(rows: Rows, mixed: Codes, columns: Sequence[int]) -> tuple[int, int]:
    """Return how many labels the rule keeps where concepts are wrong in this way, and how many examples these are."""
    wrong = rows.complete & (mixed[:, list(columns)] != rows.true[:, list(columns)]).any(axis=1)
    return int((wrong & (rows.by_rule(mixed) == rows.labels).all(axis=1)).sum()), int(wrong.sum())


def kept_by_random(rows: Rows, columns: Sequence[int]) -> float:
    """Return the share of labels that errors in random places, of random values and of the same rate, keep."""
    rng, sizes, hits, count = rng_for(0, "claims", "random", len(rows)), rows.knowledge.space.sizes, 0, 0
    for _ in range(TIMES):
        mixed = rows.true.copy()
        for column in columns:
            rate = float((rows.said != rows.true)[rows.complete, column].mean())
            hit = rows.complete & (rng.random(len(rows)) < rate)
            mixed[hit, column] = (mixed[hit, column] + rng.integers(1, max(2, sizes[column]), int(hit.sum()))) % sizes[
                column
            ]
        kept, of = right_where_wrong(rows, mixed, columns)
        hits, count = hits + kept, count + of
    return hits / max(1, count)


def kept_by_independent(rows: Rows) -> float:
    """Return the share of labels kept where each concept errs as it does, but apart from the others."""
    rng, hits, count = rng_for(0, "claims", "independent", len(rows)), 0, 0
    for _ in range(TIMES):
        mixed = rows.said.copy()
        for column in rows.used:
            for value in np.unique(rows.true[:, column]):
                own = np.flatnonzero(rows.true[:, column] == value)
                mixed[own, column] = rows.said[rng.permutation(own), column]
        kept, of = right_where_wrong(rows, mixed, rows.used)
        hits, count = hits + kept, count + of
    return hits / max(1, count)


def kept(at: Place, columns: Sequence[int]) -> tuple[Array, Array]:
    """Return which examples have one of these concepts misread, and in which of these the rule keeps the labels."""
    misread = at.rows.misread_of(columns) & at.rows.complete
    return misread, misread & at.rows.implied_right


def columns_of(at: Place, names: str) -> list[int]:
    """Return the columns of the concepts that a sentence names; those of the finding where it leaves some out."""
    named = [at.told.columns(name) for name in listed(names)]
    return [columns[0] for columns in named] if all(len(columns) == 1 for columns in named) else at.named()


def misread_counts(at: Place, split: str, names: str, misread: Share, hits: Share) -> Iterator[str]:
    """Yield what is false about how often concepts are misread, and how often the rule keeps the labels then."""
    at = replace(at, split=split)
    rows, (wrong, right) = at.rows, kept(at, columns_of(at, names))
    yield from share_is("misread examples", misread, wrong.sum(), rows.complete.sum())
    yield from share_is("kept labels", hits, right.sum(), wrong.sum())


SYSTEMATIC = "On {split:name}, {names} {verb:name} systematically misread in {misread:share} examples"


@says(
    SYSTEMATIC + ", and the rule gives the right labels for the predicted concepts in {hits:share}; random errors of "
    "these concepts would keep {random:percent}."
)
def shortcut(at: Place, split: str, names: str, verb: str, misread: Share, hits: Share, random: str) -> Iterator[str]:
    yield from misread_counts(at, split, names, misread, hits)
    yield from percent_of(
        "labels that random errors keep",
        random,
        kept_by_random(at.told.splits[split], columns_of(at, names)),
        SIMULATED,
    )


@says(
    SYSTEMATIC
    + "; with this concept mapping {p:percent} of the training worlds keep their labels, and {hits:share} of the "
    "misread examples."
)
def in_training(at: Place, split: str, names: str, verb: str, misread: Share, p: str, hits: Share) -> Iterator[str]:
    yield from misread_counts(at, split, names, misread, hits)
    yield from percent_of(
        "training worlds that keep their labels", p, kept_in_training(replace(at, split=split), columns_of(at, names))
    )


@says(
    "On {split:name}, {names} {verb:name} misread in {misread:share} examples, and the rule gives the right labels for the "
    "predicted concepts in {hits:share}; independent errors would keep {random:percent}."
)
def mixed(at: Place, split: str, names: str, verb: str, misread: Share, hits: Share, random: str) -> Iterator[str]:
    yield from misread_counts(at, split, names, misread, hits)
    yield from percent_of(
        "labels that independent errors keep", random, kept_by_independent(at.told.splits[split]), SIMULATED
    )


@says(
    "On {split:name}, some concept that the rule uses is misread in {misread:share} examples, and {n:n} labels are wrong "
    "because of that."
)
def together(at: Place, split: str, misread: Share, n: int) -> Iterator[str]:
    rows = at.told.splits[split]
    causes = causes_of(rows)
    yield from share_is("misread examples", misread, rows.misread.sum(), rows.complete.sum())
    ends = int(causes["perception"].sum()), int((causes["perception"] | causes["unsure"] | causes["both"]).sum())
    yield from holds(f"{n} labels by misread concepts, counted {ends[0]} to {ends[1]}", ends[0] <= n <= ends[1])


# -- labels and concepts -----------------------------------------------------------------------------------------------


@says(
    "On {split:name}, the labels follow from the predicted concepts, or from their probabilities, in {follow:share} "
    "examples; of the {misread:n} examples with a misread concept, in {also:n}."
)
def inconsistent(at: Place, split: str, follow: Share, misread: int, also: int) -> Iterator[str]:
    rows = at.told.splits[split]
    sure, most = rows.follows(True), rows.follows(False)
    counts = [int((rows.complete & part).sum()) for part in (sure, most)]
    fits = any(follow.is_of(hits, int(rows.complete.sum())) for hits in range(counts[0], counts[1] + 1))
    yield from holds(f"labels follow in {follow.text}, counted {counts} of {rows.complete.sum()}", fits)
    yield from count_is("misread examples", misread, rows.misread.sum())
    ends = [int((rows.misread & part).sum()) for part in (sure, most)]
    yield from holds(f"{also} of the misread follow, counted {ends}", ends[0] <= also <= ends[1])


def learned_accuracy(rows: Rows) -> float:
    """Return the accuracy of labels by decision trees over the predicted concepts, each fitted on other examples."""
    from sklearn.tree import DecisionTreeClassifier

    own = np.flatnonzero(rows.complete)
    sizes = [rows.knowledge.space.sizes[column] for column in rows.used]
    ones = np.concatenate([np.eye(size)[rows.said[own, c]] for c, size in zip(rows.used, sizes, strict=True)], axis=1)
    features = np.concatenate([ones, rows.said[own][:, list(rows.used)]], axis=1)
    half, right = np.arange(len(own)) % 2, np.ones(len(own), dtype=bool)
    for place in range(rows.labels.shape[1]):
        truth, said = rows.labels[own, place], np.zeros(len(own), dtype=np.int64)
        for part in (0, 1):
            tree = DecisionTreeClassifier(min_samples_leaf=2, max_depth=12, random_state=0)
            said[half == part] = tree.fit(features[half != part], truth[half != part]).predict(features[half == part])
        right &= said == truth
    return float(right.mean())


@says(
    "On {split:name}, the labels are right in {right:share} examples; the rule over the predicted concepts is right in "
    "{implied:percent}, and other rules over them, learned on half of the examples, in {other:percent}."
)
def leaking(at: Place, split: str, right: Share, implied: str, other: str) -> Iterator[str]:
    rows = at.told.splits[split]
    total = int(rows.complete.sum())
    yield from share_is("right labels", right, (rows.right & rows.complete).sum(), total)
    shares = [float((part & rows.complete).sum()) / total for part in (rows.implied_right, best_by_concepts(rows))]
    yield from holds(
        f"the rule is right in {implied}, counted {shares}",
        any(not list(percent_of("", implied, x, rows.tolerance > 1e-3 and 0.02)) for x in shares),
    )
    yield from percent_of("labels by learned rules", other, learned_accuracy(rows), LEARNED + total**-0.5)


def expected_within(rows: Rows, label: int) -> tuple[int, float, int]:
    """Return how many labels are right, how many would be if exchanged among equal concepts, and of how many."""
    own = (rows.true >= 0).all(axis=1)
    cells = numbered(np.concatenate([rows.true, rows.said], axis=1)[own])
    truth, said = rows.labels[own, label], rows.answers[own, label]
    size = int(max(truth.max(), said.max())) + 1
    tables = [np.zeros((cells.max() + 1, size)) for _ in range(2)]
    for table, values in zip(tables, (truth, said), strict=True):
        np.add.at(table, (cells, values), 1)
    expected = float(((tables[0] * tables[1]).sum(axis=1) / np.bincount(cells)).sum())
    return int((truth == said).sum()), expected, int(own.sum())


@says(
    "On {split:name}, {label:name} is right in {right:share} examples; exchanged among examples whose true and predicted "
    "concepts are all equal, it would be right in {p:percent}."
)
def exchanged(at: Place, split: str, label: str, right: Share, p: str) -> Iterator[str]:
    hits, expected, total = expected_within(at.told.splits[split], at.told.label(label) or 0)
    yield from share_is("right labels", right, hits, total)
    yield from percent_of("exchanged labels", p, expected / total)


# -- silence -----------------------------------------------------------------------------------------------------------


@says(
    "On {split:name}, it predicts none of the {used:n} concepts that could decide labels; all labels are right in "
    "{right:share} examples.",
    "On {split:name}, of {used:n} concepts that could decide labels it does not predict {names}; all labels are right in "
    "{right:share} examples.",
)
def opaque(at: Place, split: str, used: int, right: Share, names: str = "") -> Iterator[str]:
    rows = at.told.splits[split]
    columns = list(rows.used)
    yield from count_is("concepts that could decide", used, len(columns))
    yield from share_is("right labels", right, rows.right.sum(), len(rows))
    if not names:
        yield from holds("none is predicted", (rows.said[:, columns] < 0).all())
    for name in listed(names):
        part = re.fullmatch(r"([\w.-]+) in ([\d,]+) of ([\d,]+) examples", name)
        if part:
            column = at.told.columns(part[1])[0]
            absent = (rows.said[:, column] < 0) & (rows.true[:, column] >= 0)
            yield from count_is(f"examples without {part[1]}", whole(part[2]), absent.sum())
            yield from count_is("examples", whole(part[3]), (rows.true[:, column] >= 0).sum())
        elif not re.fullmatch(r"\d+ more", name):
            yield from holds(f"{name} is not predicted", (rows.said[:, at.told.columns(name)] < 0).all())


@says("{label:name} is wrong in {n:n} of the {of:n} examples where it is {value}.")
def missed_value(at: Place, label: str, n: int, of: int, value: str) -> Iterator[str]:
    rows, place = at.rows, at.told.label(label) or 0
    own = rows.labels[:, place] == [str(v) for v in at.told.knowledge.labels[place].values].index(value)
    yield from count_is(f"examples where {label} is {value}", of, own.sum())
    yield from count_is(f"wrong {label}", n, rows.wrong[own, place].sum())


@says("On {split:name}, {names} {verb:name} clearly wrong, and the rule does not use {them:name}.")
def unused(at: Place, split: str, names: str, verb: str, them: str) -> Iterator[str]:
    for name in listed(names):
        if not re.fullmatch(r"\d+ more", name):
            yield from holds(f"{name} is not used", at.told.columns(name)[0] not in at.told.used)


__all__ = ["kept_by_independent", "kept_by_random", "learned_accuracy"]
