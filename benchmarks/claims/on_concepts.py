"""Sentences about how concepts are predicted, counted again."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from assay.base import Array
from benchmarks.claims.patterns import Share, listed, percent_is, says
from benchmarks.claims.rows import Rows, clearly_below, wilson
from benchmarks.claims.told import Place, Told, count_is, holds, percent_of, share_is, values_of

TOLERATED, RECALLED = 0.05, 0.88
"""The share of wrong answers above which a concept is noisy, and the recall below which a value is missed."""
ASSOCIATED = 0.25
"""Cramer's V below which answers have little to do with the truth; the check's own bound is 0.2."""
EXPLAINED = 0.05
"""The share of answers that another map must explain beyond their own concept."""
FOLDS = 4


def confusion(rows: Rows, columns: Sequence[int]) -> Array:
    """Return how often each true value (row) is predicted as each value (column), over some concepts together."""
    size = rows.knowledge.space.sizes[columns[0]]
    table = np.zeros((size, size), dtype=np.int64)
    for column in columns:
        own = rows.answered(column)
        np.add.at(table, (rows.true[own, column], rows.said[own, column]), 1)
    return table


def association(table: Array) -> float:
    """Return Cramer's V of a table, corrected for chance."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(float)
    n, (r, c) = table.sum(), table.shape
    if min(r, c) < 2 or n < 3:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = max(0.0, float(((table - expected) ** 2 / expected).sum() / n) - (r - 1) * (c - 1) / (n - 1))
    return float(np.sqrt(phi / max(1e-9, min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1)))


def noisy(rows: Rows, column: int, chance: float = 0.025) -> bool:
    """Return whether a concept is clearly wrong in more than 5 %, or one of its values clearly missed."""
    table = confusion(rows, [column])
    counts = [(int(row[v]), int(row.sum())) for v, row in enumerate(table)]
    often = clearly_below(sum(hits for hits, _ in counts), int(table.sum()), 1 - TOLERATED, chance)
    return often or any(clearly_below(hits, of, RECALLED, chance) for hits, of in counts)


def surely_right(rows: Rows, column: int) -> bool:
    """Return whether a concept is right in clearly more than nine of ten answers."""
    own = rows.answered(column)
    return wilson(int((rows.said == rows.true)[own, column].sum()), int(own.sum()))[0] >= 0.89


def most_said(keys: Array, answers: Array) -> dict[tuple[int, ...], tuple[int, int, int]]:
    """Return for each key how many rows have it, the most frequent answer there, and how often it is given."""
    found = {}
    for key in np.unique(keys, axis=0):
        counts = np.bincount(answers[(keys == key).all(axis=1)])
        found[tuple(key.tolist())] = int(counts.sum()), int(counts.argmax()), int(counts.max())
    return found


def explained(keys: Array, answers: Array) -> Array:
    """Return which answers a map from keys foretells that is fitted on other rows."""
    number = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    fold, right = np.arange(len(answers)) % FOLDS, np.zeros(len(answers), dtype=bool)
    for part in range(FOLDS):
        table = np.zeros((number.max() + 1, answers.max() + 1))
        np.add.at(table, (number[fold != part], answers[fold != part]), 1)
        right[fold == part] = (table.argmax(axis=1)[number] == answers)[fold == part]
    return right


def values_misread(rows: Rows, column: int) -> bool:
    """Return whether some true value is clearly predicted as another one more often than as itself."""
    table = confusion(rows, [column])
    pairs = [(int(row.max()), int(row[v])) for v, row in enumerate(table) if row.max() > row[v]]
    total, right = int(table.sum()), int(np.trace(table))
    better = int(table.max(axis=1).sum()) - right
    return any(wilson(a, a + b)[0] > 0.5 for a, b in pairs) or better >= EXPLAINED * max(1, total) > 0


def systematic(told: Told, rows: Rows, column: int) -> bool:
    """Return whether a concept is misread by some map: values for one another, or from other concepts."""
    if values_misread(rows, column):
        return True
    states = {state.concept: state for state in told.diagnosis.concepts[rows.evidence.split]}
    state = states[told.knowledge.space.names[column]]
    if state.map is None or state.map.kind == "own":
        return False
    sources = [told.knowledge.space.place(name) for name in state.map.sources]
    known = rows.answered(column) & (rows.true[:, sources] >= 0).all(axis=1)
    own = float((rows.said == rows.true)[known, column].mean())
    return float(explained(rows.true[known][:, sources], rows.said[known, column]).mean()) >= own + EXPLAINED


# -- the sentences -----------------------------------------------------------------------------------------------------


@says("It says nothing of {name:name}.", "It says nothing of {name:name} in {n:n} examples.")
def silent(at: Place, name: str, n: int | None = None) -> Iterator[str]:
    rows, columns = at.rows, at.told.columns(name)
    absent = (rows.said[:, columns] < 0) & (rows.true[:, columns] >= 0)
    if n is None:
        yield from holds(f"{name} is never predicted", (rows.said[:, columns] < 0).all())
    else:
        yield from count_is(f"examples without {name}", n, absent.any(axis=1).sum())


@says("{name:name} {word}: right in {right:share} answers[; clearly missed: {missed}].")
def wrong_often(at: Place, name: str, word: str, right: Share, missed: str | None) -> Iterator[str]:
    rows, columns = at.rows, at.told.columns(name)
    if word not in ("is noisy", "is hardly learned") or not columns:
        yield f"not known: {name} {word}"
        return
    table = confusion(rows, columns)
    yield from share_is(f"right answers of {name}", right, np.trace(table), table.sum())
    if word == "is hardly learned":
        yield from holds(f"{name} is hardly learned", association(table) < ASSOCIATED)
    else:
        yield from holds(f"{name} is noisy", all(noisy(rows, column) for column in columns))
    values = values_of(at.told.knowledge, columns[0])
    for value in listed(missed or ""):
        if not re.fullmatch(r"\d+ more", value):
            row = table[values.index(value)]
            yield from holds(
                f"{value} of {name} is clearly missed",
                clearly_below(int(row[values.index(value)]), int(row.sum()), RECALLED),
            )


@says("It mostly predicts {value} for each value of {name:name} ({p:percent} of {n:n} answers).")
def one_value(at: Place, name: str, value: str, p: str, n: int) -> Iterator[str]:
    rows, columns = at.rows, at.told.columns(name)
    table, values = confusion(rows, columns), values_of(at.told.knowledge, columns[0])
    yield from count_is(f"answers of {name}", n, table.sum())
    share = table[:, values.index(value)].sum() / table.sum()
    yield from percent_of(f"{name} predicted as {value}", p, share)
    own = table[:, values.index(value)]
    yield from holds(f"{value} is mostly predicted for each value", (own == table.max(axis=1)).all())


@says(
    "It reads {name:name} {pairs}; {right} is read right most often[; it never says {never}] ({p:percent} of {n:n} answers).",
    "It reads {name:name} {pairs}; {right} are read right most often[; it never says {never}] ({p:percent} of {n:n} answers).",
    "It reads {name:name} {pairs}[; it never says {never}] ({p:percent} of {n:n} answers).",
)
def own_map(at: Place, name: str, pairs: str, never: str | None, p: str, n: int, right: str = "") -> Iterator[str]:
    if re.match(r"from ", pairs):
        yield from elsewhere(at, at.rows, name, pairs.removeprefix("from "), p, n)
        return
    rows, columns = at.rows, at.told.columns(name)
    table, values = confusion(rows, columns), values_of(at.told.knowledge, columns[0])
    yield from count_is(f"answers of {name}", n, table.sum())
    yield from percent_of(f"answers by the map of {name}", p, table.max(axis=1).sum() / table.sum())
    for pair in listed(pairs):
        match = re.fullmatch(r"(\S+) as (\S+)", pair)
        if match:
            row = table[values.index(match[1])]
            yield from holds(f"{name}: {pair}", row[values.index(match[2])] == row.max() and match[1] != match[2])
        else:
            yield from holds(f"known words {pair!r}", re.fullmatch(r"\d+ more", pair))
    for value in listed(right):
        if not re.fullmatch(r"\d+ more", value):
            row = table[values.index(value)]
            yield from holds(f"{value} of {name} is read right most often", row[values.index(value)] == row.max())
    for value in listed(never or ""):
        yield from holds(f"{name} never says {value}", table[:, values.index(value)].sum() == 0)


def elsewhere(at: Place, rows: Rows, name: str, text: str, p: str, n: int) -> Iterator[str]:
    """Yield what is false about a concept that is read from others."""
    knowledge = at.told.knowledge
    sources, _, pairs = text.partition(": ")
    together = re.fullmatch(r"(.+) together, through a map of ([\d,]+) entries", sources)
    names = sources if not together else together[1]
    whole = list(knowledge.space.names) if names == "the whole world" else listed(names)
    column, columns = at.told.columns(name)[0], [knowledge.space.place(source) for source in whole]
    known = rows.answered(column) & (rows.true[:, columns] >= 0).all(axis=1)
    found = most_said(rows.true[known][:, columns], rows.said[known, column])
    yield from count_is(f"answers of {name} by {names}", n, known.sum())
    yield from percent_of(
        f"answers of {name} by {names}", p, sum(most for _, _, most in found.values()) / max(1, known.sum())
    )
    if together:
        yield from count_is(f"entries of the map of {name}", int(together[2].replace(",", "")), len(found))
        return
    values, own = values_of(knowledge, columns[0]), values_of(knowledge, column)
    told = (
        dict(pair.split(" as ") for pair in listed(pairs) if " as " in pair)
        if pairs
        else dict(zip(values, values, strict=True))
    )
    for (code,), (_, _answer, most) in found.items():
        if values[code] in told:
            said = told[values[code]]
            row = rows.said[known & (rows.true[:, columns[0]] == code), column]
            yield from holds(
                f"{name} by {names}: {values[code]} as {said}", said in own and (row == own.index(said)).sum() == most
            )


@says("It exchanges {a:name} and {b:name}: each is said for the other ({p:percent} of {n:n} answers).")
def exchange(at: Place, a: str, b: str, p: str, n: int) -> Iterator[str]:
    yield from circle(at, at.rows, [(a, b), (b, a)], p, n)


@says("It exchanges concepts: it reads {steps} ({p:percent} of {n:n} answers).")
def exchanges(at: Place, steps: str, p: str, n: int) -> Iterator[str]:
    pairs = [tuple(step.split(" from ")) for step in listed(steps) if " from " in step]
    yield from circle(at, at.rows, pairs, p, n)


def circle(at: Place, rows: Rows, pairs: Sequence[tuple[str, ...]], p: str, n: int) -> Iterator[str]:
    """Yield what is false about concepts that are read from one another."""
    follow = answers = 0
    for name, source in pairs:
        column, other = at.told.columns(name)[0], at.told.columns(source)[0]
        own = rows.answered(column) & (rows.true[:, other] >= 0)
        said = np.array(values_of(at.told.knowledge, column))[rows.said[own, column]]
        true = np.array(values_of(at.told.knowledge, other))[rows.true[own, other]]
        follow, answers = follow + int((said == true).sum()), answers + int(rows.answered(column).sum())
    yield from count_is("answers", n, answers)
    if answers:
        yield from percent_of("exchanged answers", p, follow / answers)


@says("The table of concepts has {n:n} more such line.", "The table of concepts has {n:n} more such lines.")
def more_lines(at: Place, n: int) -> Iterator[str]:
    yield from holds(f"{n} more concepts are named", 0 < n < len(at.told.knowledge.space))


@says("With this concept mapping {p:percent} of the training worlds keep their labels.")
def keep_in_training(at: Place, p: str) -> Iterator[str]:
    yield from percent_of("training worlds that keep their labels", p, kept_in_training(at))


def kept_in_training(at: Place, columns: Sequence[int] = ()) -> float:
    """Return the share of training worlds that keep their labels where the named concepts are read as they are."""
    told, rows, space = at.told, at.rows, at.told.knowledge.space
    states = {state.concept: state for state in told.diagnosis.concepts[rows.evidence.split]}
    worlds = np.unique(told.training[(told.training >= 0).all(axis=1)], axis=0)
    mapped = worlds.copy()
    for column in columns or at.named():
        state = states[space.names[column]]
        if state.map is None:
            continue
        sources = [space.place(name) for name in state.map.sources]
        known = rows.answered(column) & (rows.true[:, sources] >= 0).all(axis=1)
        found = most_said(rows.true[known][:, sources], rows.said[known, column])
        for key, (_, answer, most) in found.items():
            own = rows.said[known & (rows.true[:, sources] == key).all(axis=1), column]
            if sources == [column] and (own == key[0]).sum() == most:
                answer = key[0]  # as often as another
            mapped[(worlds[:, sources] == key).all(axis=1), column] = answer
    return float((told.knowledge.labels_of(worlds) == told.knowledge.labels_of(mapped)).all(axis=1).mean())


__all__ = ["association", "confusion", "noisy", "percent_is", "surely_right", "systematic"]
