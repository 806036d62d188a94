"""Sentences beside the findings: how right labels are, for which cause they are wrong, other splits, calibration."""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from assay.base import Array
from benchmarks.claims.on_concepts import surely_right
from benchmarks.claims.patterns import Share, listed, says
from benchmarks.claims.rows import Rows, wilson
from benchmarks.claims.told import Place, count_is, holds, percent_of, share_is

CAUSES = {
    "because of their annotation": "table",
    "because of the label head": "rule",
    "because of misread concepts": "perception",
    "because of both the label head and misread concepts": "both",
    "because of uncertain concepts": "unsure",
    "of an unknown cause": "unknown",
}
FEW, CHANGED, ECE = 30, 0.1, 0.04
BINS, BLUR = 10, 0.01
"""Probabilities that differ by less than the second are taken for the same where leaks are measured."""


@says(
    "On {split:name}, the label is right in {right:share} examples.",
    "On {split:name}, all labels are right together in {right:share} examples.",
)
def accuracy(at: Place, split: str, right: Share) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from share_is("right labels", right, rows.right.sum(), len(rows))


def causes_of(rows: Rows) -> dict[str, Array]:
    """Return the wrong labels by cause; `unsure` are those that may be."""
    ruled, wrong = rows.knowledge.has_rule, rows.wrong
    table = wrong & rows.known[:, None] & (rows.answers == rows.by_table) & ruled
    rest, told = wrong & ~table, (rows.complete & ruled)[:, None]
    follows = rows.implied == rows.answers
    unsure = rest & told & ~follows & rows.probable(rows.answers, False)
    repairs = rows.implied == rows.labels
    return {
        "table": table, "perception": rest & told & follows, "rule": rest & told & repairs & ~unsure, "unsure": unsure,
        "both": rest & told & ~repairs & ~follows & ~unsure, "unknown": rest & ~told,
    }  # fmt: skip


@says("[On {split:name}, ]{n:n} label is wrong: {causes}.", "[On {split:name}, ]{n:n} labels are wrong: {causes}.")
def causes(at: Place, split: str | None, n: int, causes: str) -> Iterator[str]:
    rows = at.on(split or at.split)
    counts = {name: int(cells.sum()) for name, cells in causes_of(rows).items()}
    yield from count_is("wrong labels", n, rows.wrong.sum())
    said = Counter[str]()
    for number, words in re.findall(
        r"([\d,]+) (because of both the label head and misread concepts|(?:because )?of [a-z ]+?)(?=, | and |$)", causes
    ):
        if words not in CAUSES:
            yield f"not known: {words}"
            return
        said[CAUSES[words]] += int(number.replace(",", ""))
    if rows.chances is not None and rows.tolerance > 1e-3:  # sampled: which are unsure is not known exactly
        for parts in (said, counts):
            parts["rule"] += parts.pop("unsure", 0)
    for name, number in counts.items():
        yield from count_is(f"wrong labels by {name}", said.get(name, 0), number)


@says(
    "No rule is known.",
    "Judged without one: {words}.",
    "Not judged, since that needs a rule: {words}.",
    "Have rules proposed: assay train rules|tree|ilp|synthesis DATA.",
)
def without_rule(at: Place, words: str = "") -> Iterator[str]:
    yield from holds("no rule is known", not at.told.knowledge.has_rule)


@says(
    "On {split:name}, {p:n} % of the true concepts that the rule uses are not known and not judged; what needs all of them "
    "is judged on the {whole:n} of {n:n} examples that have them all."
)
def gaps(at: Place, split: str, p: int, whole: int, n: int) -> Iterator[str]:
    rows = at.told.splits[split]
    chosen = rows.true[:, list(rows.used)]
    share = 100 * float((chosen < 0).mean())
    yield from holds(f"{p} % not known, counted {share:.1f} %", abs(share - p) <= 0.51)
    yield from count_is("examples with all concepts", whole, rows.known.sum())
    yield from count_is("examples", n, len(rows))


@says(
    "On {split:name}, {p:n} % of the true concepts are not known and not judged; what needs all of them is judged on the "
    "{whole:n} of {n:n} examples that have them all."
)
def gaps_without_rule(at: Place, split: str, p: int, whole: int, n: int) -> Iterator[str]:
    yield from holds("no rule is known", not at.told.knowledge.has_rule)
    yield from gaps(at, split, p, whole, n)


@says(
    "From {one:name} to {other:name}, the share of examples whose labels are right {moves} from {a:number} to {b:number}.",
    "From {one:name} to {other:name}, the share of examples whose labels are all right {moves} from {a:number} to {b:number}.",
)
def change(at: Place, one: str, other: str, moves: str, a: float, b: float) -> Iterator[str]:
    before, after = (float(at.told.splits[name].right.mean()) for name in (one, other))
    yield from holds(
        f"{a} to {b}, counted {before:.3f} to {after:.3f}", abs(before - a) <= 0.0051 and abs(after - b) <= 0.0051
    )
    yield from holds(
        f"{moves} clearly", (after < before) == (moves == "falls") and abs(after - before) >= CHANGED - 1e-9
    )


def calibration(rows: Rows, what: str) -> tuple[float, float, float]:
    """Return the expected calibration error over bins of confidence, mean confidence and accuracy."""
    truth = rows.evidence.labels if what == "labels" else rows.true
    parts = rows.evidence.label_probabilities if what == "labels" else rows.evidence.concept_probabilities
    errors, sure, hits = [], [], []
    for column, part in enumerate(parts):
        own = truth[:, column] >= 0
        if part is None or not own.any():
            continue
        top, right = part[own].max(axis=1), part[own].argmax(axis=1) == truth[own, column]
        edges = np.clip(np.ceil(top * BINS).astype(int) - 1, 0, BINS - 1)
        errors.append(sum(abs(float((right - top)[edges == b].sum())) for b in range(BINS)) / len(top))
        sure.append(top.mean())
        hits.append(right.mean())
    return tuple(float(np.mean(x)) if x else float("nan") for x in (errors, sure, hits))


@says("On {split:name}, probabilities are not calibrated: {parts}.")
def not_calibrated(at: Place, split: str, parts: str) -> Iterator[str]:
    found = re.findall(
        r"of (labels|concepts) by (\d\.\d+) \((\w+): mean confidence (\d\.\d+), accuracy (\d\.\d+)\)", parts
    )
    yield from holds(f"known words in {parts}", len(found) == parts.count("mean confidence"))
    for what, by, word, sure, right in found:
        error, own_sure, own_right = calibration(at.told.splits[split], what)
        said = float(by), float(sure), float(right)
        close = [abs(x - y) <= 0.0051 for x, y in zip(said, (error, own_sure, own_right), strict=True)]
        yield from holds(
            f"{what}: {said}, counted {error:.3f} {own_sure:.3f} {own_right:.3f}", all(close) and error >= ECE
        )
        yield from holds(f"{what}: {word}", word == ("overconfident" if own_sure > own_right else "underconfident"))


@says("Fewer than {n:n} examples: {names}; what is said of them is uncertain.")
def few(at: Place, n: int, names: str) -> Iterator[str]:
    said = dict(re.findall(r"([\w-]+) \(([\d,]+)\)", names))
    own = {name: str(len(rows)) for name, rows in at.told.splits.items() if len(rows) < n}
    yield from holds(f"{said}, counted {own}", said == own and n == FEW)


@says("Whether labels are right on {names} cannot be decided yet.")
def open_elsewhere(at: Place, names: str) -> Iterator[str]:
    for name in listed(names):
        rows = at.told.splits[name]
        low, high = wilson(int(rows.right.sum()), len(rows))
        yield from holds(f"{name} is not decided ({low:.2f} to {high:.2f})", low < 0.92 and high > 0.7)


@says("Not judged, and not used by the rule: {names}.")
def idle(at: Place, names: str) -> Iterator[str]:
    for name in listed(names):
        if not re.fullmatch(r"\d+ more", name):
            column = at.told.columns(name)[0]
            yield from holds(f"{name} is not used", column not in at.told.used)
            answered = at.rows.answered(column)
            hits = int((at.rows.said == at.rows.true)[answered, column].sum())
            decided = surely_right(at.rows, column) or wilson(hits, int(answered.sum()))[1] < 0.9
            yield from holds(f"{name} is not judged", not answered.all() or not decided)


@says(
    "On {split:name}, the confidence in a concept depends on the label beyond the concept's value (share of the ranks that "
    "the label explains where the concept is right): {parts}."
)
def soft(at: Place, split: str, parts: str) -> Iterator[str]:
    rows = at.told.splits[split]
    for part in listed(parts):
        match = re.fullmatch(r"([\w.-]+) on (\w+) \((\d+) %\)", part)
        if match:
            strength = max(
                ranks_by_label(rows, at.told.columns(match[1])[0], at.told.label(match[2]) or 0), default=0.0
            )
            yield from holds(f"{part}, counted {100 * strength:.1f} %", abs(100 * strength - int(match[3])) <= 0.6)
        else:
            yield from holds(f"known words {part!r}", re.fullmatch(r"\d+ more", part))


@says("By itself this is no fault.")
def no_fault(at: Place) -> Iterator[str]:
    yield from holds("no leak is told beside it", "leaking" not in at.told.diagnosis.kinds)


def best_by_concepts(rows: Rows) -> Array:
    """Return which examples the rule gets right, over the most probable concepts or over their probabilities."""
    probable = rows.probable(rows.labels, False).all(axis=1)
    return probable if probable.sum() > rows.implied_right.sum() else rows.implied_right


def ranks_by_label(rows: Rows, column: int, label: int) -> list[float]:
    """Return which share of the ranks of each probability of a concept the label explains, where it is right."""
    part = rows.evidence.concept_probabilities[column]
    right = rows.said[:, column] == rows.true[:, column]
    strengths = []
    for numbers in np.round(part / BLUR).T if part is not None else []:
        between = total = 0.0
        for value in np.unique(rows.true[right, column]):
            own = right & (rows.true[:, column] == value)
            _, which, counts = np.unique(numbers[own], return_inverse=True, return_counts=True)
            ranks = (np.cumsum(counts) - (counts - 1) / 2)[which.reshape(-1)]
            kinds = np.unique(rows.labels[own, label])
            spread = float(((ranks - ranks.mean()) ** 2).sum())
            if len(kinds) < 2 or not spread:
                continue
            groups = [ranks[rows.labels[own, label] == kind] for kind in kinds]
            explained = sum(len(g) * (g.mean() - ranks.mean()) ** 2 for g in groups)
            between += explained - (len(kinds) - 1) * spread / (len(ranks) - 1)
            total += spread
        strengths.append(max(0.0, between / total) if total else 0.0)
    return strengths


# -- constraints, pairs, resamples -------------------------------------------------------------------------------------


@says("On {split:name}, {p} % of answers break a constraint, most often {parts}.")
def broken(at: Place, split: str, p: str, parts: str) -> Iterator[str]:
    rows = at.told.splits[split]
    whole = (rows.said >= 0).all(axis=1)
    flags = rows.knowledge.violations(rows.said[whole])
    yield from holds(
        f"{p} %, counted {100 * flags.any(axis=1).mean():.2f}", abs(100 * flags.any(axis=1).mean() - float(p)) <= 0.051
    )
    rates = {c.name: 100 * float(r) for c, r in zip(rows.knowledge.constraints, flags.mean(axis=0), strict=True)}
    for name, said in re.findall(r"([\w .<>=-]+?) \((\d+\.\d) %\)", parts):
        yield from holds(f"{name}: {said} %", name.strip() in rates and abs(rates[name.strip()] - float(said)) <= 0.051)


@says("Set F1 is {f1:number}, and {sane:number} if those answers are useless.")
def set_f1(at: Place, f1: float, sane: float) -> Iterator[str]:
    yield from holds("useless answers cost", sane <= f1)


@says(
    "When one concept is changed, the label follows in {follows:percent} of the changes that should move it and stays in "
    "{stays:percent} of those that should not.",
    "When one concept is changed, the label follows in {follows:percent} of the changes that should move it.",
    "When one concept is changed, the label stays in {stays:percent} of the changes that should not move it.",
)
def effects(at: Place, follows: str | None = None, stays: str | None = None) -> Iterator[str]:
    own = pair_shares(at)
    for what, said in (("follows", follows), ("stays", stays)):
        if said is not None:
            yield from percent_of(what, said, own[what])


def pair_shares(at: Place) -> dict[str, float]:
    """Return in which share of the pairs labels follow where they should move, and stay where they should not."""
    changes = at.told.changes
    if changes is None:
        return {"follows": float("nan"), "stays": float("nan")}
    before, after = changes.before, changes.after
    moved = before.labels != after.labels
    right = (before.labels == before.predicted_labels) & (after.labels == after.predicted_labels)
    same = before.predicted_labels == after.predicted_labels

    def mean(true: Array, of: Array) -> float:
        own = of.any(axis=1)
        return float(((true & of).sum(axis=1)[own] / of.sum(axis=1)[own]).mean()) if own.any() else float("nan")

    return {"follows": mean(right, moved), "stays": mean(same, ~moved)}


@says("Certainty: {hits:n} of {n:n} resamples of the worlds say {word}[ (others: {others})].")
def certainty(at: Place, hits: int, n: int, word: str, others: str | None) -> Iterator[str]:
    found = at.told.diagnosis
    yield from holds(f"the first word is {word}", found.verdict == word)
    named = [int(x) for x in re.findall(r"(?:^|, | and )[a-z' ]+? (\d+)(?=, | and |$)", others or "")]
    yield from holds(
        f"{hits} and {named} are at most {n}", hits + sum(named) <= n and (len(named) == 3 or hits + sum(named) == n)
    )
