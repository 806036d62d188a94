"""Checks of concepts, labels and splits: nothing is drawn, nothing is learned."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from assay.auditing.audited import AuditedDataset, AuditedSplit
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, fail_if, first_few
from assay.auditing.noise import labels_without_rule
from assay.base import Array, Codes, TooLarge
from assay.logic import TRUE, Formula, Var, compile_diagram, conjunction, disjunction, evaluate

RARE = 0.1
LEAST = 0.02
FEWEST_ROWS = 100
LEAST_MET = 10
"""How many rows there must be for each pair of values, for one concept to determine another."""
MOST_TRIED = 1000
"""How many pairs of concepts are compared with the rule: each takes a decision diagram."""
AT_ONCE = 4096


def labels(data: AuditedDataset) -> CheckResult:
    """Every label is one that the rule gives; without a rule, equal worlds have equal labels."""
    if data.knowledge is None:
        return labels_without_rule(data)
    wrong = []
    for part in data.parts.values():
        lawful = part.lawful if part.lawful is not None else part.labels == data.knowledge.labels_of(part.concepts)
        for place, name in enumerate(data.labels):
            rows = np.flatnonzero(~lawful[:, place])
            if len(rows):
                wrong.append(f"{part.name}: {len(rows):,} of {len(part):,} labels {name!r}, first at row {rows[0]}")
    return fail_if(wrong, "labels", "labels that the rule does not give", "every label is one that the rule gives")


def classes(data: AuditedDataset) -> CheckResult:
    """No split has one label only, and no true-or-false label is very rare."""
    single, rare, low = list[str](), list[str](), list[str]()
    for part in data.parts.values():
        for place, (name, values) in enumerate(data.labels.items()):
            counts = np.bincount(part.labels[:, place], minlength=len(values))
            share = counts.min() / len(part)
            if (counts > 0).sum() < 2:
                single.append(f"{part.name}: {name!r} is always {values[int(counts.argmax())]}")
            elif len(values) == 2 and share < LEAST and not part.by_quota:
                rare.append(f"{part.name}: {name!r} is {values[int(counts.argmin())]} in {100 * share:.1f} %")
            elif len(values) == 2 and share < RARE:
                low.append(f"{part.name}: {name!r} is {values[int(counts.argmin())]} in {100 * share:.1f} %")
    if low and not single + rare:
        return CheckResult("classes", "note", f"unbalanced: {first_few(low)}")
    text = "every split has several labels, none of them rare"
    return fail_if(single + rare, "classes", "one-class or badly unbalanced", text)


def splits(data: AuditedDataset) -> CheckResult:
    """Every world lies where its split says that its worlds lie."""
    if all(part.where == TRUE for part in data.parts.values()):
        return CheckResult("splits", NOTHING, "every split may hold any world")
    outside = []
    for part in data.parts.values():
        if part.where != TRUE:
            inside = evaluate(part.where, data.space, np.maximum(part.concepts, 0))
            rows = np.flatnonzero(~inside & (part.concepts >= 0).all(axis=1))
            if len(rows):
                world = " ".join(f"{n}={v}" for n, v in data.space.decode(part.concepts[rows[0]]).items())
                outside.append(f"{part.name}: {len(rows):,} of {len(part):,} worlds, such as {world}")
    return fail_if(outside, "splits", "worlds outside what their split says", "every world lies where its split says")


def disjoint(data: AuditedDataset) -> CheckResult:
    """Splits that say that they share no world share none."""
    shared, claims = [], 0
    for part in data.parts.values():
        for other in part.disjoint_from:
            if other in data.parts:
                claims += 1
                both = _rows(part.concepts) & _rows(data.parts[other].concepts)
                if both:
                    world = " ".join(f"{n}={v}" for n, v in data.space.decode(np.array(min(both))).items())
                    shared.append(f"{part.name} and {other} share {len(both):,} worlds, such as {world}")
    if not claims:
        return CheckResult("disjoint", NOTHING, "no split claims to share no world")
    text = f"{claims} claims to share no world hold"
    return fail_if(shared, "disjoint", "splits that say they share no world do", text)


def _rows(codes: Codes) -> set[tuple[int, ...]]:
    return set(map(tuple, np.unique(codes[(codes >= 0).all(axis=1)], axis=0).tolist()))


def free(data: AuditedDataset) -> CheckResult:
    """Concepts that the space says are free vary, and none tells another."""
    parts = [part for part in data.training if len(part) >= FEWEST_ROWS]
    if not parts:
        return CheckResult("free", NOT_CHECKED, f"no training split of {FEWEST_ROWS} examples or more")
    ties = [text for part in parts for text in (*_find_constants(part, data), *_find_ties(part, data))]
    text = "every concept varies, and none determines another that is free"
    return fail_if(ties, "free", "concepts are tied although the rule leaves them free", text)


def _find_constants(part: AuditedSplit, data: AuditedDataset) -> list[str]:
    texts = []
    for place, concept in enumerate(data.space.concepts):
        codes = np.unique(part.concepts[part.concepts[:, place] >= 0, place])
        if len(codes) == 1 and len(concept.values) > 1:
            other = Var(concept.name).ne(concept.values[codes[0]])
            if _possible(conjunction(other), part, data):
                texts.append(f"{part.name}: {concept.name} is always {concept.values[codes[0]]}")
    return texts


def _find_ties(part: AuditedSplit, data: AuditedDataset) -> list[str]:
    """Return the pairs of which one tells the other in the data, but not in the worlds that the split may hold."""
    texts, done = [], set[frozenset[int]]()
    for first_place, second_place in islice(_determined(part.concepts, data.space.sizes), MOST_TRIED):
        pair = frozenset((first_place, second_place))
        if pair not in done:
            both = part.concepts[:, [first_place, second_place]]
            combinations = np.unique(both[(both >= 0).all(axis=1)], axis=0)
            first, second = data.space.concepts[first_place], data.space.concepts[second_place]
            cases = [
                Var(first.name).eq(first.values[a]) & Var(second.name).ne(second.values[b])
                for a, b in combinations.tolist()
            ]
            if _possible(disjunction(*cases), part, data):
                done.add(pair)
                texts.append(f"{part.name}: {first.name} determines {second.name}")
    return texts


def _determined(concepts: Codes, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give the places of two concepts that vary, of which the first determines the second in the rows that know both.

    >>> list(_determined(np.repeat([[0, 0, 1], [1, 1, 1], [2, 0, 0]], 10, axis=0), (3, 2, 2)))
    [(0, 1), (0, 2)]
    """
    starts = np.cumsum([0, *sizes[:-1]])
    varies = np.array([len(np.unique(column[column >= 0])) > 1 for column in concepts.T])
    for first, size in enumerate(sizes):
        if varies[first]:
            rows = _met_together(concepts, starts, sum(sizes), first, size)
            pairs = np.add.reduceat((rows > 0).sum(axis=0), starts)
            values = (np.add.reduceat(rows, starts, axis=1) > 0).sum(axis=0)
            known = np.add.reduceat(rows.sum(axis=0), starts)
            tied = varies & (pairs == values) & (known >= LEAST_MET * pairs)
            yield from ((first, second) for second in np.flatnonzero(tied).tolist() if second != first)


def _met_together(concepts: Codes, starts: Array, width: int, first: int, size: int) -> Array:
    """Return how often each value of a concept is met with each value of every one."""
    met = np.zeros(size * width, dtype=np.int64)
    for row in range(0, len(concepts), AT_ONCE):
        some = concepts[row : row + AT_ONCE]
        some = some[some[:, first] >= 0]
        cells = some[:, first, None] * width + starts + some
        met += np.bincount(cells[some >= 0], minlength=len(met))
    return met.reshape(size, width)


def _possible(formula: Formula, part: AuditedSplit, data: AuditedDataset) -> bool:
    """Return whether some world of the split's own kind satisfies the formula."""
    limits = [part.where] if data.knowledge is None else [part.where, data.knowledge.possible]
    try:
        diagram = compile_diagram([conjunction(formula, *(x for x in limits if x != TRUE))], data.space)
    except TooLarge:
        return True
    return (True,) in diagram.outcomes
