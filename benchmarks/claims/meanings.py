"""What the first sentence of a finding means: for every kind and claim, a predicate over evidence."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from assay.base import Array
from benchmarks.claims.account import accounted_by, names_cause
from benchmarks.claims.on_concept_findings import (
    expected_within,
    kept,
    kept_by_independent,
    kept_by_random,
    learned_accuracy,
)
from benchmarks.claims.on_concepts import RECALLED, kept_in_training, noisy, surely_right, systematic
from benchmarks.claims.on_label_findings import ceiling, region_of
from benchmarks.claims.on_labels import best_by_concepts, causes_of, pair_shares
from benchmarks.claims.patterns import PATTERNS, listed, says
from benchmarks.claims.regions import chance, difference, inside
from benchmarks.claims.rows import STRICT, Rows, among, clearly_below, numbered, wilson
from benchmarks.claims.told import Place, Told, holds

Meaning = Callable[[Place], Iterator[str]]
MEANINGS: dict[str, Meaning] = {}
"""By the sentence. Where a finding holds on other splits too, it is asked there as well."""
UNLIKELY = 0.05
"""The chance from which on a difference is none."""
KEPT, BEYOND_CHANCE, MOSTLY, TOLERATED, DROP = 0.7, 0.05, 0.75, 0.05, 0.1
NATS = 25.0
"""The likelihood that one grouping of the examples gains, on the examples that it is seen in, if it is an explanation."""
SELDOM = 0.7
"""The accuracy of a concept that is misread seldom."""
OFTEN = 1 / 3
"""The share of wrong labels from which on they are often wrong."""
CLEAR = 0.03
"""The least share, at the lower end of its interval, of what is said to be wrong too often."""


def means(*sentences: str) -> Callable[[Meaning], Meaning]:
    """Register what sentences mean."""

    def register(meaning: Meaning) -> Meaning:
        for sentence in sentences:
            MEANINGS[sentence] = meaning
        return says(*sentences)(meaning)

    return register


def elsewhere(at: Place, names: str) -> Iterator[str]:
    """Yield what is false about a finding on further splits."""
    meaning = MEANINGS.get(at.finding.meaning if at.finding else "")
    if meaning is None:
        yield "no meaning to ask elsewhere"
        return
    for name in listed(names):
        for problem in meaning(replace(at, split=name)):
            yield f"on {name}: {problem}"


def low(hits: float, of: float) -> float:
    """Return the lower end of the interval of a share."""
    return wilson(hits, of)[0]


# -- sound -------------------------------------------------------------------------------------------------------------


@means(
    "The labels are right, and they follow from concepts that are right.",
    "Labels and concepts are right; without a rule it cannot be told whether labels follow from concepts.",
)
def sound(at: Place) -> Iterator[str]:
    rows, ruled = at.rows, at.told.knowledge.has_rule
    for label, own in zip(at.told.knowledge.labels, rows.wrong.T, strict=True):
        yield from holds(f"{label.name} is right", low((~own).sum(), len(rows)) >= 0.88)
        for value in np.unique(rows.labels[:, at.told.knowledge.labels.index(label)]):
            chosen = rows.labels[:, at.told.knowledge.labels.index(label)] == value
            missed = clearly_below(int((~own)[chosen].sum()), int(chosen.sum()), RECALLED, STRICT)
            yield from holds(f"{label.name} {value} is recalled", not missed)
    names = at.told.knowledge.space.names
    for column in at.told.used:
        yield from holds(f"{names[column]} is right", surely_right(rows, column) and not noisy(rows, column, STRICT))
    if ruled:
        yield from holds("labels follow", low((rows.complete & rows.follows(False)).sum(), rows.complete.sum()) >= 0.88)
        shares = pair_shares(at) if at.told.changes is not None else {}
        for name, share in shares.items():
            yield from holds(f"pairs pass ({name} {share:.2f})", not share < 0.85)
    yield from holds("no rule is known", ruled or at.finding is None or at.finding.kind == "no rule")


# -- concepts ----------------------------------------------------------------------------------------------------------


@means("The annotated concepts contradict the annotated labels where the model disagrees with them.")
def wrong_concepts(at: Place) -> Iterator[str]:
    rows = at.rows
    both, rest = rows.misread & rows.contradicts, rows.read & rows.contradicts
    usual = rest.sum() / max(1, rows.read.sum())
    counts = (
        f"{both.sum()} of {rows.misread.sum()} where they differ, {rest.sum()} of {rows.read.sum()} where they agree"
    )
    yield from holds(f"contradictions belong to differences ({counts})", low(both.sum(), rows.misread.sum()) > usual)
    yield from holds("predictions resolve them", (both & rows.implied_right).sum() * 2 >= both.sum())


@means("Annotated labels contradict the annotated concepts where the model disagrees with them.")
def wrong_label_table(at: Place) -> Iterator[str]:
    rows = at.rows
    own = rows.wrong & (rows.answers == rows.by_table) & rows.known[:, None]
    yield from holds("half of the wrong labels are the rule's", 2 * own.sum() >= rows.wrong.sum() > 0)


@means(
    "A reasoning shortcut: concepts that the rule uses are systematically misread, and the rule still gives the right labels.",
)
def shortcut(at: Place) -> Iterator[str]:
    yield from each_systematic(at)
    wrong, right = kept(at, at.named())
    random = kept_by_random(at.rows, at.named())
    yield from holds(f"labels are kept ({right.sum()} of {wrong.sum()})", low(right.sum(), wrong.sum()) >= KEPT)
    yield from holds(
        f"more than by random errors ({random:.2f})", low(right.sum(), wrong.sum()) > random + BEYOND_CHANCE
    )


def each_systematic(at: Place) -> Iterator[str]:
    """Yield which concepts of a finding are not systematically misread, or not used."""
    names = at.told.knowledge.space.names
    for column in at.named():
        yield from holds(f"{names[column]} is systematically misread", systematic(at.told, at.rows, column))
        yield from holds(f"{names[column]} is used", column in at.told.used)


@means(
    "A reasoning shortcut: concepts that the rule uses are systematically misread, and training labels cannot reveal it."
)
def hidden_shortcut(at: Place) -> Iterator[str]:
    yield from each_systematic(at)
    share = kept_in_training(at)
    yield from holds(f"training labels cannot reveal it ({share:.3f} are kept)", share >= 1 - TOLERATED)


@means("A reasoning shortcut: concepts that the rule uses are misread together in a way that keeps the labels.")
def mixed_shortcut(at: Place) -> Iterator[str]:
    rows = at.rows
    own = rows.misread & ~rows.contradicts if rows.contradicts.any() else rows.misread
    hits, random = int((own & rows.implied_right).sum()), kept_by_independent(rows)
    yield from holds(f"labels are kept ({hits} of {own.sum()})", low(hits, own.sum()) >= KEPT - 0.05)
    yield from holds(f"more than by independent errors ({random:.2f})", low(hits, own.sum()) > random)
    for column in at.named():
        yield from holds(f"{at.told.knowledge.space.names[column]} is noisy", noisy(rows, column))


@means("Some concepts that the rule uses are misread too often.", "Some concepts are misread too often.")
def misread_often(at: Place) -> Iterator[str]:
    names = at.told.knowledge.space.names
    for column in at.named():
        yield from holds(
            f"{names[column]} is misread too often on {at.split}",
            noisy(at.rows, column) or systematic(at.told, at.rows, column),
        )
        yield from holds(f"{names[column]} is used", column in at.told.used)


@means("Concepts are misread seldom one by one, but together they make labels wrong too often.")
def misread_together(at: Place) -> Iterator[str]:
    rows, causes = at.rows, causes_of(at.rows)
    wrong = (causes["perception"] | causes["unsure"] | causes["both"]).any(axis=1)
    yield from holds(
        f"labels are wrong too often by it ({wrong.sum()} of {len(rows)})", low(wrong.sum(), len(rows)) > CLEAR
    )
    for column in at.told.used:
        own = rows.answered(column)
        yield from holds("concepts are misread seldom", (rows.said == rows.true)[own, column].mean() >= SELDOM)


@means(
    "Every concept that the rule uses is right; concepts that it does not use are clearly wrong, and labels could not have supervised them."
)
def unidentified(at: Place) -> Iterator[str]:
    names = at.told.knowledge.space.names
    for column in at.told.used:
        yield from holds(f"{names[column]} is right", surely_right(at.rows, column))
    for column in at.named():
        yield from holds(f"{names[column]} is not used", column not in at.told.used)
        yield from holds(
            f"{names[column]} is clearly wrong", noisy(at.rows, column) or systematic(at.told, at.rows, column)
        )


@means("The model predicts no concept, so that it cannot be told what its labels rest on.")
def opaque(at: Place) -> Iterator[str]:
    yield from holds("no concept is predicted", (at.rows.said < 0).all())


@means("The model does not predict some concepts that the rule uses, so that they cannot be judged.")
def partly_opaque(at: Place) -> Iterator[str]:
    for column in at.named():
        absent = (at.rows.said[:, column] < 0) & (at.rows.true[:, column] >= 0)
        yield from holds(f"{at.told.knowledge.space.names[column]} is used", column in at.told.used)
        yield from holds(
            "it is not predicted", absent.sum() and low(absent.sum(), (at.rows.true[:, column] >= 0).sum()) > CLEAR
        )


# -- labels beside concepts --------------------------------------------------------------------------------------------


@means(
    "The labels are better than the predicted concepts allow: information leaks past the concepts.",
    "The labels are better than the concepts allow: information leaks past the concepts.",
)
def leaking(at: Place) -> Iterator[str]:
    rows = at.rows
    if rows.knowledge.has_rule:
        own = rows.complete
        best = max(float(best_by_concepts(rows)[own].mean()), learned_accuracy(rows))
        yield from holds(f"better than concepts allow ({best:.3f})", low((rows.right & own).sum(), own.sum()) > best)
    else:
        for label in at.labels():
            hits, expected, of = expected_within(rows, label)
            yield from holds(f"better than by exchange ({hits} of {of}, {expected:.1f})", hits - expected >= 0.015 * of)


@means("The labels do not follow from the predicted concepts by the rule, where these are wrong.")
def inconsistent(at: Place) -> Iterator[str]:
    rows = at.rows
    astray = rows.misread & ~rows.follows(False)
    yield from holds(
        f"labels do not follow ({astray.sum()} of {rows.complete.sum()})",
        low(astray.sum(), rows.complete.sum()) > CLEAR,
    )
    yield from holds(
        f"where concepts are wrong ({astray.sum()} of {rows.misread.sum()})",
        low(astray.sum(), rows.misread.sum()) > CLEAR,
    )


@means("The concepts do not determine the labels, and the model is about as good as they allow.")
def incomplete(at: Place) -> Iterator[str]:
    for label in at.labels():
        top, held = ceiling(at.rows, label)
        right = (~at.rows.wrong[:, label]).sum()
        yield from holds(
            f"concepts do not determine the label ({top:.3f})", wilson(top * len(at.rows), len(at.rows))[1] < 0.96
        )
        yield from holds(f"the model is about as good ({held:.3f})", wilson(right, len(at.rows))[1] >= held - 0.04)


@means("Labels are wrong where every concept that the rule uses is right.")
def wrong_rule(at: Place) -> Iterator[str]:
    own = at.rows.read & ~at.rows.contradicts
    for label in at.labels():
        wrong = at.rows.wrong[:, label]
        mostly = (wrong & own).sum() >= 0.75 * wrong.sum() > 0
        yield from holds(
            f"label {label} is wrong there ({wrong[own].sum()} of {own.sum()})",
            low(wrong[own].sum(), own.sum()) > CLEAR or mostly,
        )


@means("A label value is often missed where every concept that the rule uses is right.")
def missed_value(at: Place) -> Iterator[str]:
    own = at.rows.read & ~at.rows.contradicts
    for label in at.labels():
        truth, wrong = at.rows.labels[:, label], at.rows.wrong[:, label]
        rates = [low(wrong[own & (truth == v)].sum(), (own & (truth == v)).sum()) for v in np.unique(truth[own])]
        yield from holds(f"a value of label {label} is missed", max(rates, default=0) > CLEAR)


# -- where labels are wrong --------------------------------------------------------------------------------------------


def wrong_region(at: Place) -> Iterator[str]:
    """Yield what is false about a region in which labels are wrong, and elsewhere right."""
    told = at.told
    within = inside(region_of(at), told.knowledge.space, told.gathered("true"))
    wrong = ~told.gathered("right")
    yield from holds(
        f"labels are wrong there ({wrong[within].sum()} of {within.sum()})",
        low(wrong[within].sum(), within.sum()) >= 0.25,
    )
    yield from holds("right elsewhere", (~wrong[~within]).mean() >= MOSTLY)
    open_rows = {split: causes_of(rows) for split, rows in told.compared.items()}
    left = [(causes["rule"] | causes["unknown"]).any(axis=1)[told.compared[s].known] for s, causes in open_rows.items()]
    unexplained = np.concatenate(left)
    yield from holds("half of what is not explained is there", 2 * unexplained[within].sum() >= unexplained.sum())


@means(
    "Labels are wrong in a region of the concepts, and right elsewhere.",
    "Labels are wrong in a region of the concepts, where every concept that the rule uses is right.",
)
def region(at: Place) -> Iterator[str]:
    yield from wrong_region(at)


@means("Labels are wrong in a region of the concepts, and right elsewhere, though training shows that region.")
def trained_region(at: Place) -> Iterator[str]:
    yield from wrong_region(at)
    share = inside(region_of(at), at.told.knowledge.space, at.told.training).sum()
    yield from holds(f"training shows that region ({share} examples)", share >= 3)


@means("Labels are wrong in a region of the concepts that training hardly shows, and right elsewhere.")
def hardly_trained_region(at: Place) -> Iterator[str]:
    yield from wrong_region(at)
    share = inside(region_of(at), at.told.knowledge.space, at.told.training).sum()
    yield from holds(f"training hardly shows that region ({share} examples)", 0 < share < 10)


@means("Labels are wrong in a region of the concepts that training does not show, and right elsewhere.")
def untrained_region(at: Place) -> Iterator[str]:
    yield from wrong_region(at)
    within = inside(region_of(at), at.told.knowledge.space, at.told.training)
    yield from holds(
        f"training does not show that region ({within.sum()} of {len(within)} examples)",
        within.sum() <= 0.002 * len(within),
    )


def memory(at: Place, cells: Sequence[Array]) -> Iterator[str]:
    """Yield what is false about labels that are right on worlds of training and wrong more often on new ones."""
    right, codes = at.told.gathered("right"), at.told.gathered("true")
    new = ~among(codes, at.told.training)
    old_share, new_share = float(right[~new].mean()), float(right[new].mean())
    yield from holds(
        f"right on worlds of training ({old_share:.2f})", low(right[~new].sum(), (~new).sum()) >= MOSTLY - 0.05
    )
    by, _ = difference(~right, new, cells)
    yield from holds(
        f"wrong on new ones ({new_share:.2f}, {100 * by:.0f} points)",
        by >= DROP - 0.03 and old_share - new_share >= DROP - 0.03,
    )
    yield from holds("no chance", chance(~right, new, cells, numbered(codes)) <= UNLIKELY)


def cells_of(told: Told) -> Array:
    """Return a number for the used concepts of each compared example."""
    return numbered(told.gathered("true")[:, list(told.used)])


@means(
    "The model is right on worlds of the training set, and wrong more often on new ones with the same used concepts."
)
def memorised(at: Place) -> Iterator[str]:
    yield from memory(at, [cells_of(at.told)])


@means(
    "The model is right on worlds of the training set, and wrong more often on new ones in a region of the concepts."
)
def memorised_in_part(at: Place) -> Iterator[str]:
    right, codes = at.told.gathered("right"), at.told.gathered("true")
    new, within = ~among(codes, at.told.training), inside(region_of(at), at.told.knowledge.space, codes)
    yield from holds("right on worlds of training", low(right[~new].sum(), (~new).sum()) >= MOSTLY - 0.05)
    yield from holds("right on those in the region, too", right[within & ~new].mean() > 1 - OFTEN)
    yield from holds("wrong on new ones there", right[within & new].mean() < right[within & ~new].mean() - DROP)


@means(
    "The model is right on worlds of the training set, and wrong more often on new ones in the same region of the rule."
)
def memorised_in_regions(at: Place) -> Iterator[str]:
    yield from memory(at, [numbered(at.told.gathered("near").astype(np.int64))])


@means("The model is right on worlds of the training set, and wrong more often on new ones.")
def memorised_anyhow(at: Place) -> Iterator[str]:
    yield from memory(at, [np.zeros(len(cells_of(at.told)), dtype=np.int64)])


def falls(at: Place, columns: Sequence[int] | None) -> tuple[float, float]:
    """Return by how much labels fall from the first split, at equal concepts, and the chance of it."""
    rows = [next(iter(at.told.compared.values())), at.rows]
    codes = np.concatenate([r.true[r.known] for r in rows])
    wrong = np.concatenate([~r.right[r.known] for r in rows])
    side = np.arange(len(wrong)) >= int(rows[0].known.sum())
    cells = [numbered(codes[:, list(columns)]) if columns is not None else np.zeros(len(wrong), dtype=np.int64)]
    return difference(wrong, side, cells)[0], chance(wrong, side, cells, np.arange(len(wrong)))


@means("Labels are wrong more often on another split that shows the same worlds: its pictures differ.")
def other_pictures(at: Place) -> Iterator[str]:
    by, luck = falls(at, range(len(at.told.knowledge.space)))
    yield from holds(
        f"labels fall at equal worlds ({100 * by:.1f} points, chance {luck:.3f})", by >= 0.045 and luck <= UNLIKELY
    )


@means("Labels are wrong more often on another split at equal values of the used concepts: its pictures differ.")
def other_pictures_in_cells(at: Place) -> Iterator[str]:
    told = at.told
    by, luck = falls(at, told.used)
    yield from holds(
        f"labels fall at equal used concepts ({100 * by:.1f} points, chance {luck:.3f})",
        by >= 0.045 and luck <= UNLIKELY,
    )
    rows = [next(iter(told.compared.values())), at.rows]
    if all(r.new is not None for r in rows):  # new worlds would look the same
        codes = np.concatenate([r.true for r in rows])
        wrong, new = np.concatenate([~r.right for r in rows]), np.concatenate([r.new for r in rows])
        side = np.arange(len(wrong)) >= len(rows[0])
        rest, both = difference(wrong, side, [numbered(codes[:, list(told.used)]), new])
        yield from holds(
            f"not for new worlds ({100 * rest:.1f} points among equally known worlds)",
            (both & side).sum() < 20 or rest >= by / 3,
        )


@means("Labels are wrong more often on another split; whether its worlds or its pictures are why cannot be told.")
def other_split(at: Place) -> Iterator[str]:
    by, luck = falls(at, None)
    yield from holds(f"labels fall ({100 * by:.1f} points, chance {luck:.3f})", by >= DROP - 0.01 and luck <= UNLIKELY)


@means("Labels are right far from the boundary of the rule and wrong more often near it.")
def boundary(at: Place) -> Iterator[str]:
    known = (at.rows.true >= 0).all(axis=1) & at.rows.knowledge.can_be(np.maximum(at.rows.true, 0))
    text = at.finding.text if at.finding else at.text
    named = re.search(r", ([\w.-]+) is right in", text)  # its labels are those of every split that shows some
    for label in at.labels() if named is None else [at.told.label(named[1]) or 0]:
        ok, near = ~at.rows.wrong[:, label], at.rows.near[:, label]
        close, far = ok[near & known], ok[~near & known]
        yield from holds(f"right far from it ({far.mean():.2f})", low(far.sum(), len(far)) >= MOSTLY - 0.05)
        yield from holds(f"wrong near it ({close.mean():.2f})", close.mean() <= min(0.92, far.mean() - 0.05))


@means("Labels do not change where the change of one concept should change them.")
def insensitive(at: Place) -> Iterator[str]:
    yield from holds("labels do not follow pairs", pair_shares(at)["follows"] < 0.9)


@means("Labels change where the change of one concept should not change them.")
def variant(at: Place) -> Iterator[str]:
    yield from holds("labels do not stay in pairs", pair_shares(at)["stays"] < 0.9)


# -- labels that are wrong, or not decided -----------------------------------------------------------------------------


@means("Labels are wrong: they are not learned.")
def underfit(at: Place) -> Iterator[str]:
    for label in at.labels():
        right, truth = int((~at.rows.wrong[:, label]).sum()), at.rows.labels[:, label]
        majority, n = int(np.bincount(truth).max()), len(truth)
        least = min(0.75, (n + majority) / (2 * n))
        yield from holds(
            f"label {label} is not learned ({right} of {n}, most frequent {majority})",
            right <= majority or wilson(right, n)[1] <= least + 0.02,
        )


@means("Labels are wrong too often because the concepts are too uncertain, though most of them are right.")
def uncertain(at: Place) -> Iterator[str]:
    cells = causes_of(at.rows)["unsure"]
    for label in at.labels():
        parts = [np.ones(len(at.rows), bool), *(at.rows.labels[:, label] == code for code in np.unique(at.rows.labels))]
        often = any(low(cells[part, label].sum(), part.sum()) > CLEAR for part in parts if part.any())
        yield from holds(f"label {label} is wrong too often", often)
    right = [float((at.rows.said == at.rows.true)[at.rows.answered(c), c].mean()) for c in at.told.used]
    yield from holds(f"most concepts are right ({min(right):.2f})", np.mean(right) > 0.5)


@means("Labels are wrong too often, and nothing that was tested says why.")
def unexplained(at: Place) -> Iterator[str]:
    rows, told = at.rows, at.told
    causes = causes_of(rows)
    cells = causes["rule"] | causes["unknown"] | causes["both"]
    for label in at.labels():
        yield from holds(f"label {label} is wrong too often", low(cells[:, label].sum(), len(rows)) > CLEAR)
    own = cells[:, at.labels()].any(axis=1)
    yield from nothing_else(told, rows, own)


@means("Labels are wrong too often, and no finding by itself accounts for half of them.")
def mixed_causes(at: Place) -> Iterator[str]:
    wrong = int(at.rows.wrong.sum())
    yield from holds(f"labels are wrong too often ({wrong})", low((~at.rows.right).sum(), len(at.rows)) > CLEAR)
    for finding in filter(names_cause, at.told.diagnosis.findings[1:]):
        hits, total = accounted_by(at.told, finding, sparing=True)
        yield from holds(f"nothing has half, yet {finding.kind} has {hits} of {total}", 2 * hits < total)


def nothing_else(told: Told, rows: Rows, wrong: Array) -> Iterator[str]:
    """Yield what else explains some wrong labels: new worlds, the boundary, or one value of a used concept."""
    space = told.knowledge.space
    sides = {"new worlds": rows.new, "the boundary": rows.near.any(axis=1)}
    for column in told.used:
        for value in range(space.sizes[column]):
            sides[f"{space.names[column]} is {space.concepts[column].values[value]}"] = rows.true[:, column] == value
    for name, side in sides.items():
        if side is not None and min(side.sum(), (~side).sum()) >= 20:
            if "is" in name and low(wrong[side].sum(), side.sum()) < OFTEN:
                continue
            gain = likelihood(wrong[side]) + likelihood(wrong[~side]) - likelihood(wrong)
            counts = f"{wrong[side].sum()} of {side.sum()}, elsewhere {wrong[~side].sum()} of {(~side).sum()}"
            yield from holds(f"nothing else explains it, yet {name} does ({counts}; {gain:.0f} nats)", gain < NATS)


def likelihood(wrong: Array) -> float:
    """Return the log-likelihood of errors by their own rate."""
    hits, misses = int(wrong.sum()), int((~wrong).sum())
    return sum(n * float(np.log(n / len(wrong))) for n in (hits, misses) if n)


@means(
    "No example has the truth of all concepts that the rule uses, so that it cannot be told whether labels follow from "
    "them."
)
def never_whole(at: Place) -> Iterator[str]:
    yield from holds("no example is whole", not at.rows.complete.any())


@means(
    "There are too few examples to tell whether labels and concepts are right.",
    "There are too few examples to tell whether the model errs or the annotations.",
)
def too_few(at: Place) -> Iterator[str]:
    rows = at.rows
    shares = [(int((~own).sum()), len(rows)) for own in rows.wrong.T]
    shares += [
        (int((rows.said == rows.true)[rows.answered(c), c].sum()), int(rows.answered(c).sum())) for c in told_used(at)
    ]
    if rows.knowledge.has_rule and rows.complete.any():
        shares.append((int((rows.complete & rows.follows(False)).sum()), int(rows.complete.sum())))
    contested = bool((rows.misread & rows.contradicts).any())
    yield from holds("something is not decided", contested or any(low(*share) < 0.92 for share in shares))


def told_used(at: Place) -> list[int]:
    """Return the used concepts that are predicted."""
    return [column for column in at.told.used if at.rows.answered(column).any()]


__all__ = ["MEANINGS", "PATTERNS"]
