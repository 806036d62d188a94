"""Checks of concepts, labels and splits: nothing is drawn.

Where no rule is given, *label noise* shows in equal worlds whose labels differ: if concepts decide labels nearly
always, the few that differ are wrong. Where worlds hardly ever occur twice, labels are learned from concepts on
other examples (Northcutt et al., *Confident learning*, 2021): a label is suspect if the model is at least as sure of
another value as it is, on average, where that value is given.

*Completeness* (Yeh et al., 2020): examples that share all concepts and differ in a label bound every model that sees
concepts only. Where no example shares all its concepts with another one, nothing can be said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from assay.auditing.audited import (
    NOT_CHECKED,
    NOTHING,
    AuditedDataset,
    AuditedSplit,
    CheckResult,
    Status,
    fail_if,
    first_few,
)
from assay.base import Array, Codes, TooLarge, distinct_rows, import_extra
from assay.logic import TRUE, Formula, Var, compile_diagram, conjunction, disjunction, evaluate
from assay.metrics import Ceiling
from assay.metrics import ceilings as ceilings_of

RARE = 0.1
LEAST = 0.02
FEWEST_ROWS = 100
LEAST_MET = 10
"""How many rows there must be for each pair of values, for one concept to determine another."""
MOST_TRIED = 1000
"""How many pairs of concepts are compared with the rule: each takes a decision diagram."""
AT_ONCE = 4096
PURPOSE = "the audit of labels without a rule"
FEWEST_MET = 3
MOST_NOISE = 0.1
"""The most labels that may differ among equal worlds before the concepts are said not to decide the label."""
LEARNED = 0.9
SUSPECT = 0.005
FOLDS = 5
TOLERATED = 0.05
"""The share of the labels that concepts may leave open: labels may be noisy."""
FEWEST_EQUAL = 100
"""How many examples must share all concepts with another one for concepts to be called complete."""
MOST_CELLS = 3
MOST_CONCEPTS = 4
LEAST_OF_CELL = 0.1
"""The least share of a label value among the examples that share all concepts, for it to be named."""


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


WORST_FIRST: tuple[Status, ...] = ("fail", "note", NOT_CHECKED, "pass")


@dataclass(frozen=True)
class LabelIssues:
    """The rows whose label is doubted, of the rows that could be judged."""

    rows: Array
    judged: int

    @property
    def share(self) -> float:
        """Their share."""
        return len(self.rows) / max(1, self.judged)


def labels_without_rule(data: AuditedDataset) -> CheckResult:
    """Equal worlds have equal labels; where there are too few, no label is one that a model of the others denies."""
    concepts = np.concatenate([part.concepts for part in data.parts.values()])
    labels = np.concatenate([part.labels for part in data.parts.values()])
    whole = np.flatnonzero((concepts >= 0).all(axis=1))  # a world with gaps is equal to none
    results = [_judged(name, labels[:, place], concepts, whole, data) for place, name in enumerate(data.labels)]
    numbers = {"doubted": {name: result.numbers["share"] for name, result in zip(data.labels, results, strict=True)}}
    worst = min((result.status for result in results), key=WORST_FIRST.index)
    return CheckResult("labels", worst, first_few([r.text for r in results if r.status == worst]), numbers)


def _judged(name: str, labels: Codes, concepts: Codes, whole: Array, data: AuditedDataset) -> CheckResult:
    doubt = unequal(labels[whole], concepts[whole])
    numbers = {"share": doubt.share}
    if doubt.judged >= FEWEST_ROWS:
        first = _place(whole[doubt.rows], data)
        if not len(doubt.rows):
            text = f"no rule is given, but equal worlds have equal labels {name!r} ({doubt.judged:,} examples)"
            return CheckResult("labels", "pass", text, numbers)
        differ = f"{len(doubt.rows):,} of {doubt.judged:,} labels {name!r} differ from those of equal worlds"
        if doubt.share <= MOST_NOISE:
            return CheckResult("labels", "fail", f"{differ}, first at {first}", numbers)
        text = f"no rule is given, and the concepts do not decide: {differ}"
        return CheckResult("labels", NOT_CHECKED, text, numbers)
    doubt = denied(labels[whole], concepts[whole])
    if not doubt.judged:
        text = f"no rule is given, worlds hardly ever occur twice, and no model learns {name!r} from the concepts"
        return CheckResult("labels", NOT_CHECKED, text, {"share": float("nan")})
    denials = f"{len(doubt.rows):,} of {doubt.judged:,} labels {name!r} are denied by a model of the others"
    if doubt.share >= SUSPECT:
        first = _place(whole[doubt.rows], data)
        text = f"{denials}, first at {first}: noise, or exceptions that it has not learned"
        return CheckResult("labels", "note", text, {"share": doubt.share})
    return CheckResult("labels", "pass", f"no rule is given; {denials}", {"share": doubt.share})


def _place(rows: Array, data: AuditedDataset) -> str:
    """Return the first of rows of all splits together as a row of its split; nothing where there is none."""
    row = int(rows[0]) if len(rows) else 0
    for part in data.parts.values():
        if row < len(part):
            return f"row {row} of {part.name}"
        row -= len(part)
    return f"row {row}"


def unequal(labels: Codes, concepts: Codes) -> LabelIssues:
    """Return the rows whose label is not the most frequent one of their world, among worlds met three times.

    >>> unequal(np.array([1, 1, 1, 0]), np.array([[0], [0], [0], [0]])).rows.tolist()
    [3]
    """
    if not len(labels):
        return LabelIssues(np.zeros(0, dtype=np.int64), 0)
    _, worlds = np.unique(concepts, axis=0, return_inverse=True)
    worlds = worlds.ravel()
    counts = np.zeros((worlds.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(counts, (worlds, labels), 1)
    often = counts.sum(axis=1)[worlds] >= FEWEST_MET
    return LabelIssues(np.flatnonzero(often & (counts.argmax(axis=1)[worlds] != labels)), int(often.sum()))


def denied(labels: Codes, concepts: Codes) -> LabelIssues:
    """Return the rows whose label a forest, learned on other rows, denies; none are judged where it learns nothing."""
    values, known = np.unique(labels, return_inverse=True)
    if len(labels) < FEWEST_ROWS or min(np.bincount(known), default=0) < FOLDS:
        return LabelIssues(np.zeros(0, dtype=np.int64), 0)
    forest = import_extra("sklearn.ensemble", PURPOSE).RandomForestClassifier(100, random_state=0, n_jobs=1)
    predict = import_extra("sklearn.model_selection", PURPOSE).cross_val_predict
    inputs = np.concatenate([column[:, None] == np.unique(column)[None, 1:] for column in concepts.T], axis=1)
    chances = np.asarray(predict(forest, inputs, known, cv=FOLDS, method="predict_proba"))
    if (chances.argmax(axis=1) == known).mean() < LEARNED:
        return LabelIssues(np.zeros(0, dtype=np.int64), 0)
    usual = np.array([chances[known == value, value].mean() for value in range(len(values))])
    confident = np.where(chances >= usual, chances, -1.0)
    wrong = (confident.max(axis=1) >= 0) & (confident.argmax(axis=1) != known)
    return LabelIssues(np.flatnonzero(wrong), len(labels))


@dataclass(frozen=True)
class Completeness:
    """The ceiling of each label, over the examples of all splits whose concepts are all known."""

    ceilings: tuple[Ceiling, ...]
    """None where there are too few examples, or the rule is known."""
    examples: int
    equal: int
    """How many examples share all concepts with another one."""

    @property
    def incomplete(self) -> tuple[int, ...]:
        """The places of the labels that the concepts surely do not determine."""
        return tuple(place for place, found in enumerate(self.ceilings) if found.upper < 1 - TOLERATED)


def completeness_of(data: AuditedDataset) -> Completeness:
    """Return how many labels the concepts determine, computed once."""

    def compute() -> Completeness:
        concepts, labels = _known_rows(data)
        known = () if data.knowledge is not None else ceilings_of(concepts, labels, tuple(data.labels))
        return Completeness(known, len(concepts), equal_examples(concepts))

    return data.remember("completeness", compute)


def equal_examples(concepts: Codes) -> int:
    """Return how many examples share all concepts with another one.

    >>> equal_examples(np.array([[0, 1], [1, 1], [0, 1]]))
    2
    """
    worlds = distinct_rows(concepts)
    return int(worlds.counts[worlds.counts > 1].sum())


def _known_rows(data: AuditedDataset) -> tuple[Codes, Codes]:
    """Return the concepts and labels of all examples whose concepts are all known."""
    concepts = np.concatenate([part.concepts for part in data.parts.values()])
    labels = np.concatenate([part.labels for part in data.parts.values()])
    rows = (concepts >= 0).all(axis=1)
    return concepts[rows], labels[rows]


def complete(data: AuditedDataset) -> CheckResult:
    """The concepts determine the labels: examples that share all concepts have equal labels."""
    if data.knowledge is not None:
        return CheckResult("complete", NOTHING, "the rule gives every label for the concepts")
    found = completeness_of(data)
    numbers = {
        ceiling.label: {"determined": ceiling.share, "held out": ceiling.held_out / ceiling.examples}
        for ceiling in found.ceilings
    }
    if found.incomplete:
        texts = [_describe(found.ceilings[place], place, data) for place in found.incomplete]
        return CheckResult("complete", "note", first_few(texts), numbers)
    if found.equal < FEWEST_EQUAL:
        text = f"only {found.equal:,} of {found.examples:,} examples share all concepts with another one"
        return CheckResult("complete", NOT_CHECKED, f"no rule is given, and {text}", numbers)
    least = min(found.ceilings, key=lambda ceiling: ceiling.share)
    share = f"{100 * least.share:.0f} % of the labels {least.label!r}"
    text = f"concepts determine {share}, by {found.equal:,} examples that share all concepts with another one"
    return CheckResult("complete", "pass", text, numbers)


def _describe(ceiling: Ceiling, place: int, data: AuditedDataset) -> str:
    """Return how many labels the concepts determine, and which values share all concepts."""
    held = 100 * ceiling.held_out / ceiling.examples
    most = f"at most {100 * ceiling.share:.0f} % of the labels {ceiling.label!r} ({held:.0f} % held out)"
    return f"concepts determine {most}; all concepts are equal for {', '.join(_mixed_cells(place, data))}"


def _mixed_cells(place: int, data: AuditedDataset) -> list[str]:
    """Return the label values of the worlds in which most labels are not the most frequent one."""
    concepts, labels = _known_rows(data)
    values, worlds = list(data.labels.values())[place], distinct_rows(concepts)
    cells = np.bincount(worlds.which * len(values) + labels[:, place], minlength=len(worlds) * len(values))
    counts = cells.reshape(len(worlds), len(values))
    open_labels = counts.sum(axis=1) - counts.max(axis=1)
    texts = []
    for number in np.argsort(-open_labels, kind="stable")[:MOST_CELLS].tolist():
        own = counts[number]
        named = [str(values[code]) for code in range(len(own)) if own[code] >= LEAST_OF_CELL * own.sum()]
        world = [f"{name} {value}" for name, value in data.space.decode(concepts[worlds.first[number]]).items()]
        shown = ", ".join(world[:MOST_CONCEPTS]) + (", ..." if len(world) > MOST_CONCEPTS else "")
        texts.append(f"{'/'.join(named)} ({own.sum():,} examples with {shown})")
    return texts
