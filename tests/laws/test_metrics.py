"""Every registered metric on every irregular evidence: against references, and what holds of its value and interval."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import f1_score, recall_score

from assay.base import Array, Codes, rng_for
from assay.logic import NO_RULE, Concept, ConceptSpace, Constraint, EncoderGroup, Knowledge, Slot, bits, names_in, parse
from assay.metrics import METRICS, Evidence, score
from assay.testing import check_metric
from tests.rules import RULES

ROWS = 60
NAMES = sorted(METRICS)

# -- rules -------------------------------------------------------------------------------------------------------------


def objects() -> Knowledge:
    """Return three objects of three shapes and three colours, with a constraint, each attribute read by one encoder."""
    slots = tuple(Slot(f"o{i}", "objects", ("shape", "colour")) for i in range(3))
    values = {"shape": ("square", "circle", "star"), "colour": ("red", "green", "blue")}
    concepts = tuple(Concept(slot.concept(name), values[name]) for slot in slots for name in values)
    encoders = tuple(EncoderGroup(name, tuple(slot.concept(name) for slot in slots)) for name in values)
    limits = (Constraint("unlike", parse("not (o0.shape == o1.shape and o0.colour == o1.colour)")),)
    labels = {
        "same": "o0.shape == o1.shape or o1.colour == o2.colour",
        "red": "any(o.colour == 'red' for o in objects)",
    }
    return Knowledge.of(ConceptSpace(concepts, slots, encoders), labels, limits)


def always() -> Knowledge:
    """Return a rule beside a concept of one value, and a label that is a number of two values."""
    space = ConceptSpace((Concept("always", ("x",)), *bits(["b", "c"]).concepts))
    return Knowledge.of(space, {"y": "b and c", "n": "b % 2"})


def unruled() -> Knowledge:
    """Return labels of which no rule is known."""
    known = RULES["mixed"]()
    return Knowledge(known.space, tuple(replace(label, formula=NO_RULE) for label in known.labels))


KNOWN: Mapping[str, Callable[[], Knowledge]] = {**RULES, "objects": objects, "always": always, "unruled": unruled}

# -- evidence ----------------------------------------------------------------------------------------------------------


def unsure(codes: Codes, size: int, *purpose: object) -> Array:
    """Return probabilities that are highest for these codes, those that are silent aside."""
    chances = rng_for(0, *purpose).dirichlet(np.full(size, 0.6), len(codes))
    return np.where(np.arange(size) == codes[:, None], chances + 1, chances) / (1 + (codes >= 0)[:, None])


def soft(held: Evidence) -> Evidence:
    labels = [unsure(c, len(x.values), x.name) for c, x in zip(held.predicted_labels.T, held.knowledge.labels, strict=True)]  # fmt: skip
    space = held.knowledge.space
    concepts = [unsure(c, n, x) for c, n, x in zip(held.predicted_concepts.T, space.sizes, space.names, strict=True)]
    return replace(held, label_probabilities=tuple(labels), concept_probabilities=tuple(concepts))


def holed(held: Evidence, *sides: str, share: float = 0.15) -> Evidence:
    """Return the evidence with some codes missing: -1 is silence, or a truth that is not known."""
    masks = {side: rng_for(1, side, share).random(getattr(held, side).shape) < share for side in sides}
    return replace(held, **{side: np.where(mask, -1, getattr(held, side)) for side, mask in masks.items()})


def column(held: Evidence, side: str, place: int, code: int) -> Evidence:
    codes = getattr(held, side).copy()
    codes[:, place] = code
    return replace(held, **{side: codes})


def right(held: Evidence) -> Evidence:
    return replace(held, predicted_labels=held.labels, predicted_concepts=held.concepts)


def wrong(held: Evidence) -> Evidence:
    values = np.array([len(label.values) for label in held.knowledge.labels])
    sizes = np.array(held.knowledge.space.sizes)
    labels, concepts = (held.labels + 1) % values, (held.concepts + 1) % sizes
    return replace(held, predicted_labels=labels, predicted_concepts=concepts)


def counted(held: Evidence) -> Evidence:
    return replace(held, counts=rng_for(2, "counts").integers(1, 6, len(held)))


BOTH = ("concepts", "predicted_concepts")
IRREGULAR: Mapping[str, Callable[[Evidence], Evidence]] = {
    "plain": lambda held: held,
    "one row": lambda held: held.take(np.array([7])),
    "equal rows": lambda held: held.take(rng_for(3, "equal").integers(5, size=ROWS)),
    "rows that stand for several": counted,
    "probabilities": soft,
    "probabilities of some": lambda held: replace(
        soft(held), label_probabilities=(None, *soft(held).label_probabilities[1:]),
        concept_probabilities=(*soft(held).concept_probabilities[:-1], None),
    ),
    "unknown truth": lambda held: holed(held, "concepts"),
    "truth of one concept unknown": lambda held: column(held, "concepts", 1, -1),
    "no known truth": lambda held: holed(held, "concepts", share=1.0),
    "silence": lambda held: holed(held, "predicted_concepts", "predicted_labels"),
    "one concept never said": lambda held: column(held, "predicted_concepts", 0, -1),
    "no concept said": lambda held: holed(held, "predicted_concepts", share=1.0),
    "no label said": lambda held: holed(held, "predicted_labels", share=1.0),
    "all at once": lambda held: soft(holed(held, *BOTH, "predicted_labels")),
    "all at once, counted": lambda held: counted(holed(held, *BOTH)),
    "one true label": lambda held: soft(held).take(np.flatnonzero(held.labels[:, 0] == held.labels[0, 0])),
    "constant": lambda held: column(column(held, "predicted_labels", 0, 1), "predicted_concepts", 1, 0),
    "right": lambda held: soft(right(held)),
    "wrong": lambda held: soft(wrong(held)),
}  # fmt: skip
CASES = list(product(KNOWN, IRREGULAR))


@cache
def evidence(name: str, kind: str) -> Evidence:
    """Return answers that are often right, made irregular."""
    knowledge, rng = KNOWN[name](), rng_for(0, "metrics", name)
    sizes = np.array(knowledge.space.sizes)
    truth = rng.integers(sizes, size=(ROWS, len(sizes)))
    read = np.where(rng.random(truth.shape) < 0.25, rng.integers(sizes, size=truth.shape), truth)
    ruled = RULES["mixed"]() if name == "unruled" else knowledge
    values = np.array([len(label.values) for label in knowledge.labels])
    labels, said = ruled.labels_of(truth), ruled.labels_of(read)
    said = np.where(rng.random(said.shape) < 0.1, rng.integers(values, size=said.shape), said)
    silent = (None,) * len(values), (None,) * len(sizes)
    return IRREGULAR[kind](Evidence(knowledge, "test", labels, truth, said, read, *silent))


# -- references --------------------------------------------------------------------------------------------------------


def mean(values: list[float]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan


def f1(truth: Codes, said: Codes, values: set[int]) -> float:
    if not values:
        return math.nan
    return float(f1_score(truth, said, labels=sorted(values), average="macro", zero_division=0))


def occurring(codes: Codes) -> set[int]:
    return {int(code) for code in np.unique(codes) if code >= 0}


def label_f1(e: Evidence, union: bool = False) -> float:
    pairs = zip(e.labels.T, e.predicted_labels.T, strict=True)
    return mean([f1(t, p, occurring(t) | (occurring(p) if union else set())) for t, p in pairs])


def label_mean_f1(e: Evidence) -> float:
    pairs = zip(e.knowledge.labels, e.labels.T, e.predicted_labels.T, strict=True)
    return mean([f1(t, p, {1}) for label, t, p in pairs if label.kind == "bool"])


def closed_label_f1(e: Evidence) -> float:
    """The model may only answer with values that occur; nothing of its own where all do."""
    allowed = [sorted(occurring(truth)) for truth in e.labels.T]
    full = all(len(own) == len(label.values) for own, label in zip(allowed, e.knowledge.labels, strict=True))
    if full or any(table is None for table in e.label_probabilities):
        return math.nan
    tables = zip(e.labels.T, e.label_probabilities, allowed, strict=True)
    return mean([f1(t, np.array(own)[table[:, own].argmax(axis=1)], set(own)) for t, table, own in tables])


def answered(e: Evidence) -> list[int]:
    return [i for i in range(e.concepts.shape[1]) if (e.predicted_concepts[:, i] >= 0).any()]


def pooled(e: Evidence) -> list[tuple[Codes, Codes]]:
    """Return for each encoder group the true and predicted codes of its concepts that are said and known."""
    found = []
    for group in e.knowledge.space.encoders:
        places = [e.knowledge.space.place(name) for name in group.concepts]
        places = [place for place in places if place in answered(e)]
        truth, said = e.concepts[:, places].ravel(), e.predicted_concepts[:, places].ravel()
        found.append((truth[truth >= 0], said[truth >= 0]))
    return [pair for pair in found if len(pair[0])]


def concept_f1(e: Evidence, union: bool = False) -> float:
    return mean([f1(t, p, occurring(t) | (occurring(p) if union else set())) for t, p in pooled(e)])


def concept_mean_f1(e: Evidence) -> float:
    scores = []
    for place in answered(e):
        concept, known = e.knowledge.space.concepts[place], e.concepts[:, place] >= 0
        truth, said = e.concepts[known, place], e.predicted_concepts[known, place]
        values = {1} if concept.values == (False, True) and known.any() else occurring(truth)
        scores.append(f1(truth, said, values))
    return mean(scores)


def concept_accuracy(e: Evidence) -> float:
    shares = []
    for truth, said in zip(e.concepts[:, answered(e)], e.predicted_concepts[:, answered(e)], strict=True):
        shares.append(mean([float(t == p) if t >= 0 else math.nan for t, p in zip(truth, said, strict=True)]))
    return mean(shares)


def whole(e: Evidence) -> Evidence:
    return e.take((e.concepts >= 0).all(axis=1))


def concept_exact(e: Evidence) -> float:
    if len(answered(e)) < e.concepts.shape[1]:
        return math.nan
    return mean([float((t == p).all()) for t, p in zip(whole(e).concepts, whole(e).predicted_concepts, strict=True)])


def balanced_accuracy(e: Evidence) -> float:
    pairs = zip(e.labels.T, e.predicted_labels.T, strict=True)
    return mean([recall_score(t, p, labels=np.unique(t), average="macro", zero_division=0) for t, p in pairs])


def regions(e: Evidence, which: str) -> float:
    """Accuracy on each region of each label's rule that holds an example, averaged over regions, then labels."""
    if not e.knowledge.has_rule:
        return math.nan
    some, scores = whole(e), []
    for place, boundary in enumerate(e.knowledge.boundaries):
        hits = some.labels[:, place] == some.predicted_labels[:, place]
        inside = boundary.in_variants(some.concepts)
        if boundary.explicit:
            types = boundary.in_types(some.concepts)
        else:
            types = boundary.flips(some.concepts)
        far = ~inside.any(axis=1) & ~types.any(axis=1)
        columns = {"variant": inside, "near": types, "far": far[:, None]}[which].T
        scores.append(mean([float(hits[rows].mean()) for rows in columns if rows.any()]))
    return mean(scores)


def calibration(truth: Codes, tables: tuple[Array | None, ...]) -> float:
    """Gaps between confidence and accuracy in ten bins, each with its upper edge, weighted by size."""
    errors = []
    for own, table in zip(truth.T, tables, strict=True):
        if table is None or not (own >= 0).any():
            continue
        gaps = [0.0] * 10
        for code, row in zip(own.tolist(), table.tolist(), strict=True):
            if code >= 0:
                gaps[max(0, math.ceil(max(row) * 10) - 1)] += (row.index(max(row)) == code) - max(row)
        errors.append(sum(map(abs, gaps)) / int((own >= 0).sum()))
    return mean(errors)


def collapse_of(truth: set[object], said: set[object]) -> float:
    return 1 - len(said) / len(truth | said)


def collapse(e: Evidence) -> float:
    return mean([collapse_of(occurring(t), occurring(p)) for t, p in pooled(e)])


def collapse_of_rows(e: Evidence, tables: list[list[list[int]]]) -> float:
    """Mean collapse of tables of vectors: each a list of columns that are read the same way."""
    some, scores = whole(e), []
    if len(answered(e)) < e.concepts.shape[1] or not len(some):
        return math.nan
    for places in tables:
        true = {tuple(row) for own in places for row in some.concepts[:, own].tolist()}
        said = {tuple(row) for own in places for row in some.predicted_concepts[:, own].tolist() if min(row) >= 0}
        scores.append(collapse_of(true, said))
    return mean(scores)


def of_objects(e: Evidence) -> list[list[list[int]]]:
    space = e.knowledge.space
    return [[[space.place(name) for name in slot.concepts] for slot in slots] for slots in space.kinds]


def of_labels(e: Evidence) -> list[list[list[int]]]:
    """The concepts that each label's rule names; a quantifier names those of all its objects."""
    space, found = e.knowledge.space, []
    for label in e.knowledge.labels if e.knowledge.has_rule else ():
        names = [name for name in names_in(label.formula) if name in space.places]
        for name in set(names_in(label.formula)) - set(names):
            names += [slot.concept(name.partition(".")[2]) for slot in space.slots]
        found.append([[space.place(name) for name in names]])
    return found


def follows(e: Evidence) -> float:
    said = e.predicted_concepts
    rows = np.flatnonzero((said >= 0).all(axis=1))
    if not e.knowledge.has_rule or not len(rows):
        return math.nan
    return float((e.knowledge.labels_of(said[rows]) == e.predicted_labels[rows]).all(axis=1).mean())


def broken(e: Evidence, codes: Codes | None = None) -> list[float]:
    """How many constraints each row breaks, NaN where it is not wholly said."""
    codes = e.predicted_concepts if codes is None else codes
    if not e.knowledge.constraints:
        return [math.nan] * len(codes)
    flags = e.knowledge.violations(np.maximum(codes, 0)).sum(axis=1)
    return [float(n) if min(row) >= 0 else math.nan for n, row in zip(flags, codes.tolist(), strict=True)]


def sets(e: Evidence) -> list[float]:
    """F1 of the set of things that are there, 1 if there are none; NaN where not all is said and known."""
    nothing, found = [concept.nothing_code for concept in e.knowledge.space.concepts], []
    for truth, said in zip(e.concepts.tolist(), e.predicted_concepts.tolist(), strict=True):
        there, named = ({(i, c) for i, c in enumerate(row) if c != nothing[i]} for row in (truth, said))
        both = len(there) + len(named)
        known = min(*truth, *said) >= 0
        found.append(math.nan if not known else 2 * len(there & named) / both if both else 1.0)
    return found


def sane(e: Evidence) -> list[float]:
    return [math.nan if math.isnan(n) else 0.0 * f if n else f for f, n in zip(sets(e), broken(e), strict=True)]


def against_random(e: Evidence) -> float:
    usual = mean(broken(e, e.knowledge.space.all_codes().astype(np.int64)))
    return mean(broken(e)) / usual


def along_objects(e: Evidence) -> Evidence | None:
    """Concepts as the likeliest object of each value: where each group has as many objects as values, and only these."""
    space = e.knowledge.space
    in_slots = {name for slot in space.slots for name in slot.concepts}
    alike = all(
        len(space.concept(n).values) == len(own) for own in space.groups.values() for s in own for n in s.concepts
    )
    if not in_slots or in_slots != set(space.names) or not alike or any(t is None for t in e.concept_probabilities):
        return None
    codes = e.predicted_concepts.copy()
    for slots in space.groups.values():
        for attribute in slots[0].attributes:
            places = [space.place(slot.concept(attribute)) for slot in slots]
            for value, place in enumerate(places):
                codes[:, place] = np.argmax([e.concept_probabilities[p][:, value] for p in places], axis=0)
    return replace(e, predicted_concepts=codes)


def transposed(e: Evidence, reference: Callable[[Evidence], float]) -> float:
    other = along_objects(e)
    return math.nan if other is None else reference(other)


def collapse_object(e: Evidence) -> float:
    return collapse_of_rows(e, of_objects(e))


REFERENCES: Mapping[str, Callable[[Evidence], float]] = {
    "label_accuracy": lambda e: float((e.labels == e.predicted_labels).mean()),
    "label_exact": lambda e: float((e.labels == e.predicted_labels).all(axis=1).mean()),
    "label_f1": label_f1,
    "rsbench_label_f1": lambda e: label_f1(e, union=True),
    "label_mean_f1": label_mean_f1,
    "closed_label_f1": closed_label_f1,
    "label_ece": lambda e: calibration(e.labels, e.label_probabilities),
    "balanced_accuracy": balanced_accuracy,
    "concept_accuracy": concept_accuracy,
    "concept_exact": concept_exact,
    "concept_f1": concept_f1,
    "rsbench_concept_f1": lambda e: concept_f1(e, union=True),
    "concept_mean_f1": concept_mean_f1,
    "concept_ece": lambda e: calibration(e.concepts, e.concept_probabilities),
    "variant_accuracy": lambda e: regions(e, "variant"),
    "near_accuracy": lambda e: regions(e, "near"),
    "far_accuracy": lambda e: regions(e, "far"),
    "collapse": collapse,
    "collapse_joint": lambda e: collapse_of_rows(e, [[[*range(e.concepts.shape[1])]]]),
    "collapse_object": collapse_object,
    "collapse_block": lambda e: collapse_of_rows(e, of_labels(e)),
    "rule_consistency": follows,
    "violation_rate": lambda e: mean([math.nan if math.isnan(n) else float(n > 0) for n in broken(e)]),
    "mean_violations": lambda e: mean(broken(e)),
    "violations_vs_random": against_random,
    "set_f1": lambda e: mean(sets(e)),
    "sane_f1": lambda e: mean(sane(e)),
    "f1_room": lambda e: mean([f - s for f, s in zip(sets(e), sane(e), strict=True)]),
    "rsbench_concept_f1_transposed": lambda e: transposed(e, lambda other: concept_f1(other, union=True)),
    "collapse_object_transposed": lambda e: transposed(e, collapse_object),
}
ABOVE_ONE = {"mean_violations", "violations_vs_random"}

# -- laws --------------------------------------------------------------------------------------------------------------


def test_every_metric_has_a_reference_and_applies_to_something():
    assert set(REFERENCES) == set(METRICS)
    applies = {name for name in NAMES for case in CASES if not math.isnan(METRICS[name](evidence(*case)))}
    assert applies == set(METRICS)


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("rule", KNOWN)
def test_every_metric_is_its_reference(rule, kind):
    held = evidence(rule, kind)
    for name in NAMES:
        expected = REFERENCES[name](held.singly)
        assert METRICS[name](held) == pytest.approx(expected, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("rule", KNOWN)
def test_values_lie_in_their_intervals_and_rows_have_no_order(rule, kind):
    held = evidence(rule, kind)
    turned, twice = held.take(np.arange(len(held))[::-1]), held.take(np.repeat(np.arange(len(held)), 2))
    for name, found in score(held, resamples=4).items():
        assert found.examples == held.examples and found.applies != math.isnan(found.value), name
        if found.applies:
            assert 0 <= found.low <= found.value <= found.high, name
            assert name in ABOVE_ONE or found.high <= 1, name
            data = found.to_dict()
            assert data["value"] == found.value and data["examples"] == held.examples
        else:
            assert math.isnan(found.low) and math.isnan(found.high), name
        for other in (turned, twice):
            assert METRICS[name](other) == pytest.approx(found.value, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("rule", KNOWN)
def test_examples_that_are_equal_count_one_by_one(rule):
    held = evidence(rule, "all at once, counted")
    together, singly = (score(each, resamples=4) for each in (held, held.singly))
    for name in NAMES:
        found, expected = ((each[name].value, each[name].low, each[name].high) for each in (together, singly))
        assert found == pytest.approx(expected, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("rule", KNOWN)
def test_examples_of_which_nothing_is_known_change_no_metric_of_concepts(rule):
    held = evidence(rule, "probabilities")
    more = held.take(np.r_[np.arange(ROWS), np.arange(20)])
    more = replace(more, concepts=np.concatenate([held.concepts, np.full_like(held.concepts[:20], -1)]))
    of_labels = {name for name in NAMES if name.startswith(("label", "rsbench_label", "closed", "balanced"))}
    of_answers = {"rule_consistency", "violation_rate", "mean_violations", "violations_vs_random"}
    for name in set(NAMES) - of_labels - of_answers:
        assert METRICS[name](more) == pytest.approx(METRICS[name](held), abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_keeps_the_laws_that_strangers_metrics_keep(name):
    assert {check.law: check.fault for check in check_metric(METRICS[name]) if not check.passed} == {}


@pytest.mark.parametrize("rule", [name for name in KNOWN if name != "unruled"])
def test_the_right_answer_is_the_best_and_no_metric_is_better_for_the_wrong_one(rule):
    best, worst = evidence(rule, "right"), evidence(rule, "wrong")
    best = replace(best, label_probabilities=certain(best.labels, [len(x.values) for x in best.knowledge.labels]),
                   concept_probabilities=certain(best.concepts, best.knowledge.space.sizes))  # fmt: skip
    possible = bool(best.knowledge.can_be(best.concepts).all())
    for name in NAMES:
        metric, value = METRICS[name], METRICS[name](best)
        sign = {"higher": 1, "lower": -1}[metric.better]
        if not math.isnan(value) and "transposed" not in name:
            usual = {"higher": 1.0, "lower": 0.0}[metric.better]
            of_worlds = name in ABOVE_ONE | {"violation_rate", "sane_f1", "f1_room"}
            occurs = name in ("label_mean_f1", "concept_mean_f1")  # a value that never occurs has no F1 to add
            assert value == pytest.approx(usual) or (of_worlds and not possible) or occurs, name
        if name not in ABOVE_ONE | {"violation_rate", "f1_room", "rule_consistency"} and "transposed" not in name:
            assert math.isnan(METRICS[name](worst)) or sign * value >= sign * METRICS[name](worst), name


def certain(codes: Codes, sizes: list[int]) -> tuple[Array, ...]:
    return tuple(np.eye(size)[codes[:, place]] for place, size in enumerate(sizes))
