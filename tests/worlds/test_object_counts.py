"""Worlds with few or many objects: every number as often as another, labels evenly in each, by counting or drawing."""

from collections import Counter

import numpy as np
import pytest

from assay.arrays import Array, Codes
from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.errors import KnowledgeError
from assay.logic import Knowledge, parse
from assay.worlds import Source, Split, WorldSource, object_count_source, object_counts
from assay.worlds.object_counts import ObjectCountSource, RejectionSource, _is_small, _slots_filled

COLOURS = ("red", "green", "blue")
NUMBERS = (2, 3, 4)
EVERY = (0.0, 1.0)


def objects(rule: str, most: int = 4) -> Knowledge:
    slots = tuple(Slot(f"object{i + 1}", "objects", ("colour", "size")) for i in range(most))
    values = {"colour": (*COLOURS, ABSENT), "size": (1, 2, ABSENT)}
    concepts = tuple(Concept(slot.concept(name), values[name]) for slot in slots for name in slot.attributes)
    return Knowledge.of(ConceptSpace(concepts, slots), {"y": rule})


TWO_RED = objects("count(o.colour == 'red' for o in objects) >= 2")


def sizes(codes: Codes) -> Array:
    """Return how many objects each world has, which must be the first ones and whole."""
    there = codes != np.array([3, 2] * 4)
    assert (there[:, ::2] == there[:, 1::2]).all() and (np.diff(there[:, ::2].astype(int), axis=1) <= 0).all()
    return np.asarray(there[:, ::2].sum(axis=1))


def part(number: int, exact: bool, share: tuple[float, float] = EVERY, name: str = "train", seed: int = 0) -> Source:
    split = Split(name, 1, share=share)
    if not exact:
        return RejectionSource(TWO_RED, split, seed, "test", number)
    source = object_count_source(TWO_RED, split, seed, "test", numbers=[number], style=lambda *_: {})
    assert isinstance(source.parts[0], WorldSource)
    return source.parts[0]


def whole(monkeypatch: pytest.MonkeyPatch, exact: bool, **split: object) -> ObjectCountSource:
    """Return the source of two to four objects, made for large spaces or for small ones."""
    object_counts._is_small.cache_clear()
    monkeypatch.setattr(object_counts, "NODES", 20_000 if exact else 1)
    held = Split(**{"name": "train", "size": 1, **split})  # type: ignore[arg-type]
    source = object_count_source(TWO_RED, held, 0, "test", numbers=NUMBERS, style=lambda *_: {})
    assert {isinstance(part, RejectionSource) for part in source.parts} == {not exact}
    object_counts._is_small.cache_clear()
    return source


@pytest.mark.parametrize("exact", [True, False])
def test_every_number_of_objects_is_as_frequent_as_another_and_labels_in_each(
    monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    codes = whole(monkeypatch, exact).codes(np.arange(240))
    pairs = Counter(zip(sizes(codes).tolist(), TWO_RED.labels_of(codes)[:, 0].tolist(), strict=True))
    assert pairs == {(number, label): 40 for number in NUMBERS for label in (0, 1)}


@pytest.mark.parametrize("exact", [True, False])
def test_any_place_can_be_asked_for_alone_and_is_of_the_split(monkeypatch: pytest.MonkeyPatch, exact: bool) -> None:
    source = whole(monkeypatch, exact)
    together = source.codes(np.arange(60))
    places = np.array([59, 4, 4, 0, 31])
    assert (source.codes(places) == together[places]).all()
    assert source.contains(together).all() and len(np.unique(together, axis=0)) > 40
    none = together.copy()
    none[:, 2:] = np.array([3, 2] * 3)  # one object is none of the numbers
    assert not source.contains(none).any()
    half = together.copy()
    half[:, 0] = 3  # a slot of which one attribute is absent
    assert not source.contains(half).any()


@pytest.mark.parametrize("number", NUMBERS)
def test_different_worlds_are_counted(number: int) -> None:
    assert part(number, exact=True).total == part(number, exact=False).total == 6**number


def test_all_numbers_together_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert whole(monkeypatch, True).total == whole(monkeypatch, False).total == 6**2 + 6**3 + 6**4


@pytest.mark.parametrize("exact", [True, False])
def test_shares_part_the_worlds(exact: bool) -> None:
    everything = TWO_RED.space.all_codes()
    cuts = [part(3, exact, share, name) for share, name in (((0.0, 0.3), "a"), ((0.3, 0.8), "b"), ((0.8, 1.0), "c"))]
    inside = np.stack([cut.contains(everything) for cut in cuts])
    three = part(3, exact).contains(everything)
    assert (inside.sum(axis=0) == three).all() and three.sum() == 6**3
    assert np.abs(inside.sum(axis=1) / 6**3 - [0.3, 0.5, 0.2]).max() < (0.01 if exact else 0.1)
    for cut, mine in zip(cuts, inside, strict=True):
        drawn = cut.codes(np.arange(100))
        assert cut.contains(drawn).all() and set(map(tuple, drawn.tolist())) <= set(
            map(tuple, everything[mine].tolist())
        )


def test_by_world_no_label_is_wanted() -> None:
    split = Split("train", 1, balance="world")
    drawn = RejectionSource(TWO_RED, split, 0, "test", 4).codes(np.arange(2000))
    share = 1 - (2 / 3) ** 4 - 4 * (1 / 3) * (2 / 3) ** 3  # two or more of four are red
    assert TWO_RED.labels_of(drawn).mean() == pytest.approx(share, abs=0.04)


def test_other_seeds_and_splits_draw_other_worlds() -> None:
    first = part(4, exact=False).codes(np.arange(200))
    for other in (part(4, exact=False, seed=1), part(4, exact=False, name="valid")):
        assert (other.codes(np.arange(200)) == first).all(axis=1).mean() < 0.05


def test_a_label_that_never_varies_is_refused() -> None:
    with pytest.raises(KnowledgeError, match="with 1 objects label 'y' is False in all of 20,000 draws"):
        RejectionSource(TWO_RED, Split("train", 1), 0, "test", 1)


def test_a_wanted_label_that_is_too_rare_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    source = part(2, exact=False)
    source.kinds  # known before draws run out
    monkeypatch.setattr(object_counts, "MOST_TRIES", 0)
    with pytest.raises(KnowledgeError, match="split 'train': no world of the wanted label in 0 draws"):
        source.codes(np.arange(3))


# -- parts -------------------------------------------------------------------------------------------------------------


def mixed(rules: dict[str, str]) -> Knowledge:
    """Return knowledge of two objects that are always there, and two that may be absent, with a concept beside them."""
    slots = tuple(Slot(f"o{n}", "things", ("n", "hue")) for n in (1, 2, 3, 4))
    empty = {1: (), 2: (), 3: (ABSENT,), 4: (ABSENT,)}
    concepts = [
        Concept(f"o{n}.{name}", (*values, *empty[n]))
        for n in (1, 2, 3, 4)
        for name, values in (("n", (1, 2, 3)), ("hue", ("red", "blue")))
    ]
    return Knowledge.of(ConceptSpace((Concept("day", (False, True)), *concepts), slots), rules)


def test_slots_that_are_always_there_are_not_asked_for() -> None:
    knowledge = mixed({"y": "day"})
    asked = {number: [str(formula) for formula in _slots_filled(knowledge, number)] for number in (1, 2, 3, 4)}
    assert asked == {
        1: ["o3.n == 'absent'", "o4.n == 'absent'"],
        2: ["o3.n == 'absent'", "o4.n == 'absent'"],
        3: ["o3.n != 'absent'", "o4.n == 'absent'"],
        4: ["o3.n != 'absent'", "o4.n != 'absent'"],
    }


RULES = {"some": "any(x.n == 3 for x in things)", "many": "count(x.hue == 'red' for x in things) >= 2"}


@pytest.mark.parametrize("exact", [True, False])
def test_every_combination_of_labels_is_as_frequent_for_each_number(
    monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    knowledge = mixed(RULES)
    _is_small.cache_clear()
    monkeypatch.setattr(object_counts, "NODES", 20_000 if exact else 1)
    split = Split("train", 1, where=parse("o1.n != 2 or day"))
    source = object_count_source(
        knowledge, split, 0, "p", numbers=(2, 4), style=lambda rng, codes, pool: {"pool": pool}
    )
    _is_small.cache_clear()
    codes = source.codes(np.arange(160))
    there = 2 + (codes[:, 5] != 3).astype(int) + (codes[:, 7] != 3)
    labels = map(tuple, knowledge.labels_of(codes).tolist())
    found = Counter(zip(there.tolist(), labels, strict=True))
    assert found == {(n, (some, many)): 20 for n in (2, 4) for some in (0, 1) for many in (0, 1)}
    assert ((codes[:, 1] != 1) | (codes[:, 0] == 1)).all() and source.contains(codes).all()
    assert [part.purpose for part in source.parts] == [("p", 2), ("p", 4)] and source.split is split  # type: ignore[attr-defined]
    worlds = source.worlds(np.array([7, 2]))
    assert [list(world.codes) for world in worlds] == codes[[7, 2]].tolist() and worlds[0].style == {"pool": "train"}
    other = codes.copy()
    other[:, 0], other[:, 1] = 0, 1  # what the split's own formula shuts out
    assert not source.contains(other).any()


def test_what_is_drawn_for_an_empty_slot_is_absent_and_elsewhere_never() -> None:
    source = RejectionSource(mixed(RULES), Split("train", 1), 0, "p", 3)
    assert source.filled == 3 and source.absent.tolist() == [-1] * 7 + [3, 2]
    assert source.sizes.tolist() == [2, 3, 2, 3, 2, 3, 2, 1, 1] and source.total == 2 * 6**3
    drawn = source._draw(np.array([4, 9]), 0, 300)
    assert drawn.shape == (2, 300, 9) and (drawn[:, :, 7:] == [3, 2]).all()
    assert (drawn.max(axis=(0, 1)) == [1, 2, 1, 2, 1, 2, 1, 3, 2]).all() and not drawn.min(axis=(0, 1))[:7].any()
    assert (source._draw(np.array([9]), 100, 50)[0] == drawn[1, 100:150]).all()  # later tries are those of the whole
    assert (drawn[0] != drawn[1]).any(axis=1).mean() > 0.9 and len(np.unique(drawn[0], axis=0)) > 150
    assert sorted(source.kinds) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_place_has_the_first_of_its_tries_that_fits() -> None:
    source = RejectionSource(mixed(RULES), Split("train", 1, where=parse("day")), 0, "p", 4)
    places = np.array([3, 11, 5, 8])
    wanted = np.array([0, 3, 2, 0])
    hit, found = source._draw_tries(places, wanted, 0, 6)
    tried = source._draw(places, 0, 6)
    expected = []
    for row in range(4):
        labels = map(tuple, source.knowledge.labels_of(tried[row]).tolist())
        good = [t for t, label in enumerate(labels) if label == source.kinds[wanted[row]] and tried[row, t, 0] == 1]
        expected.append(tried[row, good[0]].tolist() if good else None)
    assert hit.tolist() == [world is not None for world in expected] and 0 < hit.sum() < 4
    assert found.tolist() == [world for world in expected if world is not None]


def test_each_label_must_vary() -> None:
    rules = {"some": RULES["some"], "few": "count(x.hue == 'red' for x in things) <= 3"}
    with pytest.raises(KnowledgeError, match="with 3 objects label 'few' is True in all of 20,000 draws"):
        RejectionSource(mixed(rules), Split("train", 1), 0, "p", 3)
    assert len(RejectionSource(mixed(rules), Split("train", 1), 0, "p", 4).kinds) == 4
    with pytest.raises(KnowledgeError, match="label 'some' is missing in all"):
        RejectionSource(mixed(rules), Split("train", 1, where=parse("day and not day")), 0, "p", 4)


def test_a_share_depends_on_every_concept_and_not_on_the_split() -> None:
    knowledge = mixed(RULES)
    first, second = (RejectionSource(knowledge, Split(name, 1), 0, "p", 4) for name in ("a", "b"))
    codes = first._draw(np.array([0]), 0, 400)[0]
    shares = first._share(codes)
    assert (shares == second._share(codes)).all() and 0 <= shares.min() < 0.02 and 0.98 < shares.max() < 1
    assert shares.mean() == pytest.approx(0.5, abs=0.05)
    for column in range(9):
        other = codes.copy()
        other[:, column] = (other[:, column] + 1) % 2
        assert (first._share(other) != shares).all()
    assert (RejectionSource(knowledge, Split("a", 1), 1, "p", 4)._share(codes) != shares).all()
    assert first._share(codes[:, ::-1].copy()).tolist() != shares.tolist()


def test_labels_that_are_drawn_once_only_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_counts, "PROBE", 30)
    knowledge, lonely = mixed(RULES), 0
    for seed in range(25):
        try:
            source = RejectionSource(knowledge, Split("train", 1, where=parse("o1.n != 2")), seed, "p", 3)
        except KnowledgeError:
            continue
        drawn = source._draw(np.zeros(1, dtype=np.int64), 0, 30, "kinds")[0]
        inside = drawn[drawn[:, 1] != 1]
        found = Counter(map(tuple, knowledge.labels_of(inside).tolist()))
        assert source.kinds == sorted(kind for kind, count in found.items() if count > 1)
        lonely += 1 in found.values()
    assert lonely > 1
