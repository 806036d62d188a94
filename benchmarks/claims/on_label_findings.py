"""What findings about labels say: wrong rules, regions, memory, other pictures, the boundary, and what is right."""

import re
from collections.abc import Iterator

import numpy as np

from assay.base import Array, rng_for
from benchmarks.claims.on_concepts import confusion
from benchmarks.claims.on_labels import causes_of, pair_shares
from benchmarks.claims.patterns import Share, listed, percent_is, says, whole
from benchmarks.claims.regions import difference, inside
from benchmarks.claims.rows import Rows, among, numbered, wilson
from benchmarks.claims.told import Place, any_of, count_is, holds, percent_of, points_are, share_is

HALVED = 0.05
"""How far a share on other halves of the examples may be off, beside chance."""
RIGHT = 0.9
LEAST_HELD, HELD = 0.2, 0.15
"""The least share of wrong labels in a region on other worlds, and by how much it may be above that of all."""
REGIONS = 0.1
"""How far a difference within regions of the rule may be off, which are told by trees."""


@says(
    "On {split:name}, in {n:n} examples every concept that the rule uses is right and sure enough, and no annotation "
    "contradicts it, yet {named} there."
)
def wrong_rule(at: Place, split: str, n: int, named: str) -> Iterator[str]:
    rows = at.told.splits[split]
    few, many = (
        sure_rows(rows, surely) for surely in (False, True)
    )  # where probabilities are sampled, they may differ
    doubtful = np.flatnonzero(many & ~few)
    options = [few.copy() for _ in range(len(doubtful) + 1)]
    for own, more in zip(options, range(len(options)), strict=True):
        own[doubtful[:more]] = True
    yield from any_of(*(list(wrong_there(at, rows, own, n, named)) for own in options))


def sure_rows(rows: Rows, surely: bool) -> Array:
    """Return which examples have right concepts, whose probabilities the rule does not turn into the predicted label."""
    unsure = (rows.implied != rows.answers) & rows.probable(rows.answers, surely)
    return rows.read & ~rows.contradicts & ~unsure.any(axis=1)


def wrong_there(at: Place, rows: Rows, own: Array, n: int, named: str) -> Iterator[str]:
    """Yield what is false about how often labels are wrong in some examples."""
    yield from count_is("examples with right concepts", n, own.sum())
    for part in listed(named):
        match = re.fullmatch(r"([\w.-]+) is wrong in ([\d,]+)(?: of the ([\d,]+) where it is (\S+))?", part)
        if match is None:
            yield from holds(f"known words {part!r}", re.fullmatch(r"\d+ more", part))
            continue
        label = at.told.label(match[1]) or 0
        values = [str(value) for value in at.told.knowledge.labels[label].values]
        chosen = own if match[4] is None else own & (rows.labels[:, label] == values.index(match[4]))
        yield from count_is(f"wrong {match[1]}", whole(match[2]), rows.wrong[chosen, label].sum())
        if match[3]:
            yield from count_is(f"examples with {match[1]} {match[4]}", whole(match[3]), chosen.sum())


REGION = "Labels are wrong where {where}[, though most concepts are right there]: in {share:share} ({held:percent} on worlds not used to find it"
ELSEWHERE = "), while elsewhere {right:share} are right."


@says(
    REGION + "; training shows {trained:n} worlds there" + ELSEWHERE,
    REGION + "; training shows {examples:n} examples there" + ELSEWHERE,
    REGION + "; training shows no world there, so that memorised worlds would look the same" + ELSEWHERE,
    REGION + ELSEWHERE,
)
def region(
    at: Place, where: str, share: Share, held: str, right: Share, trained: int = 0, examples: int = 0
) -> Iterator[str]:
    space, wrong = at.told.knowledge.space, ~at.told.gathered("right")
    within = inside(where, space, at.told.gathered("true"))
    yield from share_is("wrong labels there", share, wrong[within].sum(), within.sum())
    yield from share_is("right labels elsewhere", right, (~wrong)[~within].sum(), (~within).sum())
    about = float(held.removesuffix(" %")) / 100  # other trees than these say where
    yield from holds(f"{held} on other worlds is likely", LEAST_HELD <= about <= wrong[within].mean() + HELD)
    if "training shows" in at.text:
        what = at.told.training if examples else np.unique(at.told.training, axis=0)
        yield from count_is("what training shows there", examples or trained or 0, inside(where, space, what).sum())
    if "concepts are right there" in at.text:
        read = at.told.gathered("read")[within & wrong]
        yield from holds(f"most concepts are right there ({read.mean():.2f})", read.mean() > 0.5)


@says(
    "Labels are wrong where {where}, on worlds that training does not show: in {share:share} examples of {worlds:n} such "
    "worlds; on worlds of training there, {old:share} are right, and elsewhere {right:share}."
)
def new_region(at: Place, where: str, share: Share, worlds: int, old: Share, right: Share) -> Iterator[str]:
    codes, ok = at.told.gathered("true"), at.told.gathered("right")
    within, new = inside(where, at.told.knowledge.space, codes), ~among(codes, at.told.training)
    yield from share_is("wrong labels on new worlds there", share, (~ok)[within & new].sum(), (within & new).sum())
    yield from count_is("new worlds there", worlds, len(np.unique(codes[within & new], axis=0)))
    yield from share_is("right labels on old worlds there", old, ok[within & ~new].sum(), (within & ~new).sum())
    yield from share_is("right labels elsewhere", right, ok[~within].sum(), (~within).sum())


def region_of(at: Place) -> str:
    """Return the region that a finding speaks of."""
    text = at.finding.text if at.finding else at.around
    match = re.search(r"Labels are wrong where (.+?)(?:, (?:though|on worlds)[^:]*)?: in ", text)
    return match[1] if match else "everywhere"


MEMORY = "Labels are right in {seen:share} examples whose world training shows, and in {new:share} of {worlds:n} other worlds"


@says(
    MEMORY
    + "; among examples with equal values of the concepts that the rule uses[{split}], the share of wrong labels is {by:points} higher on the new ones.",
    MEMORY
    + "; in equal regions of the rule[{split}], the share of wrong labels is {by:points} higher on the new ones.",
    MEMORY
    + "; {apart:percent} of these examples have used concepts that no world of training has, so that a missed region would "
    "look the same.",
)
def memorised(
    at: Place,
    seen: Share,
    new: Share,
    worlds: int,
    by: str | None = None,
    split: str | None = None,
    apart: str | None = None,
) -> Iterator[str]:
    told = at.told
    right, codes = told.gathered("right"), told.gathered("true")
    fresh = ~among(codes, told.training)
    yield from share_is("right on worlds of training", seen, right[~fresh].sum(), (~fresh).sum())
    yield from share_is("right on new worlds", new, right[fresh].sum(), fresh.sum())
    yield from count_is("new worlds", worlds, len(np.unique(codes[fresh], axis=0)))
    columns = list(told.used)
    if by is None:
        shown = among(codes[fresh][:, columns], told.training[:, columns]) if len(told.training) else np.zeros(1)
        yield from percent_of("used concepts that no world of training has", apart or "", float(1 - shown.mean()))
        return
    yield from holds(f"known words {split!r}", split in (None, "", " and on one split"))
    regions = "equal regions" in at.text
    cells = [numbered(told.gathered("near").astype(np.int64) if regions else codes[:, columns])]
    parts = np.concatenate([np.full(int(rows.known.sum()), i) for i, rows in enumerate(told.compared.values())])
    found = difference(~right, fresh, [*cells, parts] if split else cells)[0]
    yield from points_are("more wrong on new worlds", by, found, REGIONS if regions else 0.0)


@says(
    "On {split:name}, labels are wrong in {wrong:share} examples whose worlds {first:name} shows too, {by:points} more than there.",
    "On {split:name}, labels are wrong in {wrong:share} examples with values of the used concepts that {first:name} shows too"
    "[ ({apart})], {by:points} more than there.",
)
def shifted(at: Place, split: str, wrong: Share, first: str, by: str, apart: str | None = None) -> Iterator[str]:
    own, other = at.told.splits[first], at.told.splits[split]
    columns = list(at.told.used) if "values of the used" in at.text else list(range(len(at.told.knowledge.space)))
    codes = [rows.true[rows.known][:, columns] for rows in (own, other)]
    new = [rows.new for rows in (own, other)]
    if "values of the used" in at.text and new[0] is not None and new[1] is not None:
        told_apart = [mask[rows.known] for mask, rows in zip((new[0], new[1]), (own, other), strict=True)]
        codes = [np.column_stack(pair) for pair in zip(codes, told_apart, strict=True)]
        some = np.concatenate(told_apart)
        yield from holds("new worlds are told apart", (apart is not None) == (0 < some.sum() < len(some)))
    bad = [~rows.right[rows.known] for rows in (own, other)]
    shared = among(codes[1], codes[0])
    yield from share_is("wrong labels at equal worlds", wrong, bad[1][shared].sum(), shared.sum())
    side = np.arange(len(bad[0]) + len(bad[1])) >= len(bad[0])
    found = difference(np.concatenate(bad), side, [numbered(np.concatenate(codes))])[0]
    yield from points_are("more wrong labels", by, found)


@says(
    "On {split:name}, labels are wrong in {wrong:share} examples, {by:points} more than on {first:name}; {shared:percent} of "
    "its examples[{whole}] have worlds that {other:name} shows too."
)
def other_split(
    at: Place, split: str, wrong: Share, by: str, first: str, shared: str, other: str, whole: str | None = None
) -> Iterator[str]:
    rows, own = at.told.splits[split], at.told.splits[first]
    bad, before = ~rows.right[rows.known], ~own.right[own.known]
    yield from share_is("wrong labels", wrong, bad.sum(), len(bad))
    yield from points_are("more wrong labels", by, float(bad.mean() - before.mean()))
    codes = [r.true[(r.true >= 0).all(axis=1)] for r in (rows, own)]
    yield from holds("whose concepts are known", bool(whole) == (sum(map(len, codes)) < len(rows) + len(own)))
    yield from percent_of("equal worlds", shared, float(among(*codes).mean()) if len(codes[0]) else 0.0)


@says(
    "On {split:name}, {label:name} is right in {near:share} examples {where} one change of a concept alters it, and in "
    "{far:share} {there} no such change does[; clearly wrong: {worst}]."
)
def boundary(
    at: Place, split: str, label: str, near: Share, where: str, far: Share, there: str, worst: str | None
) -> Iterator[str]:
    rows, place = at.told.splits[split], at.told.label(label) or 0
    ok, close, known = ~rows.wrong[:, place], rows.near[:, place], (rows.true >= 0).all(axis=1)
    possible = np.asarray(rows.knowledge.can_be(np.maximum(rows.true, 0)), dtype=bool)
    bare, only = where.removeprefix("whose annotated world is possible, "), there.startswith("whose annotated")
    yield from holds("whether all are possible", only == (not possible[known].all()) and where == there)
    known = known & possible
    if bare == "that keep no variant of the rule and where":  # a variant is a way in which the rule holds
        by_rule = np.zeros(len(rows), dtype=bool)
        by_rule[known] = rows.knowledge.labels_of(rows.true[known])[:, place] == 1
        close, known = close & ~by_rule, known & ~by_rule
    else:
        yield from holds(f"known words {where!r}", bare == "where")
    yield from share_is("right near the boundary", near, ok[close & known].sum(), (close & known).sum())
    yield from share_is("right far from it", far, ok[known & ~close].sum(), (known & ~close).sum())
    for hits, of in re.findall(r"'[^']+' \(([\d,]+) of ([\d,]+) right\)", worst or ""):
        yield from holds(f"{hits} of {of} is clearly wrong", whole(hits) * 2 < whole(of))


@says(
    "On pairs of {split:name} that differ in one concept, the label changes in {p:percent} of those where it should "
    "(sensitivity, at most {high:percent}).",
    "On pairs of {split:name} that differ in one concept, the label stays in {p:percent} of those where it should "
    "(invariance, at most {high:percent}).",
)
def pairs(at: Place, split: str, p: str, high: str) -> Iterator[str]:
    own = pair_shares(at)["follows" if "sensitivity" in at.text else "stays"]
    yield from percent_of("pairs", p, own)
    yield from holds(f"{high} is above {p}", float(high[:-2]) >= float(p[:-2]))


def ceiling(rows: Rows, label: int) -> tuple[float, float]:
    """Return how many labels equal concepts determine at most, and how many on halves not used."""
    own = (rows.true >= 0).all(axis=1)
    cells, truth = numbered(rows.true[own]), rows.labels[own, label]

    def table(chosen: Array) -> Array:
        counts = np.zeros((cells.max() + 1, truth.max() + 1))
        np.add.at(counts, (cells[chosen], truth[chosen]), 1)
        return counts

    top = float(table(np.ones(len(cells), bool)).max(axis=1).sum() / len(cells))
    rng, shares = rng_for(0, "claims", "ceiling", len(cells)), []
    for _ in range(20):
        half = rng.permutation(len(cells)) % 2 == 0
        for fitted in (half, ~half):
            counts = table(fitted)
            best = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), counts.sum(axis=0).argmax())
            shares.append(float((best[cells] == truth)[~fitted].mean()))
    return top, float(np.mean(shares))


@says(
    "On {split:name}, examples that share all concepts have different values of {label:name}: the concepts determine at "
    "most {top:percent} of its labels ({held:percent} on examples not used), and the model has {right:share}."
)
def incomplete(at: Place, split: str, label: str, top: str, held: str, right: Share) -> Iterator[str]:
    rows, place = at.told.splits[split], at.told.label(label) or 0
    own_top, own_held = ceiling(rows, place)
    yield from percent_of("ceiling", top, own_top)
    yield from percent_of("ceiling on other examples", held, own_held, HALVED + 0.5 * len(rows) ** -0.5)
    yield from share_is("right labels", right, (~rows.wrong[:, place]).sum(), len(rows))


@says("Of the {n:n} examples with {world}, {label:name} is {parts}.")
def shared_world(at: Place, n: int, world: str, label: str, parts: str) -> Iterator[str]:
    rows, place = at.rows, at.told.label(label) or 0
    values = [str(value) for value in at.told.knowledge.labels[place].values]
    own = np.ones(len(rows), dtype=bool)
    for part in listed(world):
        name, _, value = part.partition(" ")
        column = at.told.columns(name)[0]
        own &= rows.true[:, column] == [str(v) for v in at.told.knowledge.space.concepts[column].values].index(value)
    yield from count_is(f"examples with {world}", n, own.sum())
    for value, count in re.findall(r"(\S+) in ([\d,]+)", parts):
        yield from count_is(f"{label} {value}", whole(count), (rows.labels[own, place] == values.index(value)).sum())


LEARNED = re.compile(r"([\w.-]+) is right in (\d+(?:\.\d)? % \([\d.]+ to [\d.]+ %\) of [\d,]+)")


def right_labels(at: Place, named: str) -> Iterator[str]:
    """Yield what is false about how right labels are, and which they are."""
    for name, share in LEARNED.findall(named):
        place = at.told.label(name)
        if place is None:
            yield f"no label {name}"
            continue
        yield from share_is(f"right {name}", Share(share), (~at.rows.wrong[:, place]).sum(), len(at.rows))


@says("On {split:name}, {named}; the most frequent value would be right in {majority}.")
def underfit(at: Place, split: str, named: str, majority: str) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from right_labels(at, named)
    names = [name for name, _ in LEARNED.findall(named)]
    for name, said in zip(names, re.findall(r"\d+(?:\.\d)? %", majority), strict=False):
        place = at.told.label(name) or 0
        yield from percent_of(f"most frequent {name}", said, np.bincount(rows.labels[:, place]).max() / len(rows))


@says(
    "On {split:name}, {named}; {n:n} wrong labels are explained neither by annotations nor by concepts, nor by new worlds, "
    "another split, the boundary or a region of the concepts where labels are often wrong."
)
def unexplained(at: Place, split: str, named: str, n: int) -> Iterator[str]:
    rows, places = at.told.splits[split], at.labels()
    yield from right_labels(at, named)
    causes = causes_of(rows)
    cells = (causes["rule"] | causes["unknown"] | causes["both"]) & rows.known[:, None]
    drawn = (cells | causes["unsure"])[:, places].sum() if rows.tolerance > 1e-3 else cells[:, places].sum()
    yield from holds(
        f"{n} wrong labels without a cause, counted {cells[:, places].sum()}",
        cells[:, places].sum() - 3 <= n <= drawn if rows.tolerance > 1e-3 else n == drawn,
    )


@says(
    "On {split:name}, {named}; {n:n} wrong labels are those that the rule makes most probable for the probabilities of the "
    "concepts, where the most probable concepts imply another."
)
def uncertain(at: Place, split: str, named: str, n: int) -> Iterator[str]:
    rows, places = at.told.splits[split], at.labels()
    yield from right_labels(at, named)
    ends = [int(cells[:, places].sum()) for cells in (surely_unsure(rows), causes_of(rows)["unsure"])]
    yield from holds(f"{n} labels by uncertain concepts, counted {ends}", ends[0] <= n <= ends[1])


def surely_unsure(rows: Rows) -> Array:
    """Return which wrong labels are surely those that uncertain concepts make most probable."""
    return causes_of(rows)["unsure"] & rows.probable(rows.answers, True)


@says(
    "On {split:name}, every label is right in at least {labels:percent}, each of the {used:n} concepts[ that the rule uses] in "
    "at least {least:percent} (lower ends of 95 % intervals, {n:n} examples), and labels follow from the predicted concepts "
    "in {follow:n} of {complete:n}.",
    "On {split:name}, every label is right in at least {labels:percent}, and each of the {used:n} concepts in at least "
    "{least:percent} (lower ends of 95 % intervals, {n:n} examples).",
)
def sound(
    at: Place,
    split: str,
    labels: str,
    used: int,
    least: str,
    n: int,
    follow: int | None = None,
    complete: int | None = None,
) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from count_is("examples", n, len(rows))
    yield from count_is("concepts", used, len(rows.used))
    lows = [wilson(int((~own).sum()), len(rows))[0] for own in rows.wrong.T]
    yield from at_least("label", labels, min(lows))
    tables = [confusion(rows, [column]) for column in rows.used]
    yield from at_least("concept", least, min((wilson(int(np.trace(t)), int(t.sum()))[0] for t in tables), default=1.0))
    if follow is not None and complete is not None:
        ends = [int((rows.complete & rows.follows(surely)).sum()) for surely in (True, False)]
        yield from holds(f"{follow} labels follow, counted {ends}", ends[0] <= follow <= ends[1])
        yield from count_is("complete examples", complete, rows.complete.sum())


def at_least(what: str, said: str, lowest: float) -> Iterator[str]:
    """Yield that a bound is not the lowest one."""
    share = float(said.removesuffix(" %")) / 100
    yield from holds(
        f"{what} in at least {said}, counted {100 * lowest:.2f} %", share <= lowest + 1e-6 and share >= lowest - 0.011
    )


@says("On {split:name}, {n:n} examples do not decide whether these are right: {named}.")
def undecided(at: Place, split: str, n: int, named: str) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from count_is("examples", n, len(rows))
    for name, share in parts_of(named):
        least, most, of = counted(at, rows, name)
        fits = any(Share(share).is_of(hits, of) for hits in range(least, most + 1))
        yield from holds(f"right {name}: says {share}, counted {least} to {most} of {of}", fits)
        yield from holds(f"{name} is not decided", wilson(least, of)[0] < RIGHT + 0.02)


@says(
    "On {split:name}, {n:n} examples have gaps in the truth of the {used:n} concepts that the rule uses, or are not "
    "predicted in all of them."
)
def gaps(at: Place, split: str, n: int, used: int) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from count_is("examples", n, (~rows.complete).sum())
    yield from count_is("used concepts", used, len(at.told.used))


def parts_of(named: str) -> list[tuple[str, str]]:
    """Return the things and shares of a list such as `label y (90 % (79 to 96 %) of 50)`."""
    return re.findall(r"(?:^|, | and )([\w. -]+?) \((\d+(?:\.\d)? % \(\d+ to \d+ %\) of [\d,]+)\)", named)


def counted(at: Place, rows: Rows, name: str) -> tuple[int, int, int]:
    """Return how many are right at least and at most, and of how many: of a label, a concept, or labels that follow."""
    if name.startswith("labels that follow"):  # where there are many worlds, their probabilities are drawn
        ends = [int((rows.complete & rows.follows(surely)).sum()) for surely in (True, False)]
        return ends[0], ends[1], int(rows.complete.sum())
    hits, of = counted_once(at, rows, name)
    return hits, hits, of


def counted_once(at: Place, rows: Rows, name: str) -> tuple[int, int]:
    """Return how often a label or a concept is right, and of how many."""
    if " where it is " in name:
        label, _, value = name.removeprefix("label ").partition(" where it is ")
        place = at.told.label(label) or 0
        own = rows.labels[:, place] == [str(v) for v in at.told.knowledge.labels[place].values].index(value)
        return int((own & ~rows.wrong[:, place]).sum()), int(own.sum())
    if name.startswith("label "):
        return int((~rows.wrong[:, at.told.label(name.removeprefix("label ")) or 0]).sum()), len(rows)
    own = confusion(rows, at.told.columns(name))
    return int(np.trace(own)), int(own.sum())


@says(
    "On {split:name}, predicted and annotated concepts differ in {n:n} examples; in {contradict:n} of these the annotated "
    "concepts contradict the annotated label, which is too few to tell whose error it is."
)
def contested(at: Place, split: str, n: int, contradict: int) -> Iterator[str]:
    rows = at.told.splits[split]
    yield from count_is("differing examples", n, rows.misread.sum())
    yield from count_is("contradictions", contradict, (rows.misread & rows.contradicts).sum())


__all__ = ["ceiling", "percent_is", "region_of"]
