"""Worlds of a rule that is a program: labels evenly, worlds of the split only, at any place."""

import numpy as np
import pytest

from assay.base import KnowledgeError
from assay.logic import Constraint, Knowledge, digits, parse
from assay.prolog import rule_of
from assay.worlds import ProgramSource, Split

SPACE = digits(["a", "b"])
PROGRAM = "big(W) :- a(W, A), b(W, B), A + B > 12."


def knowledge(program: str = PROGRAM, limits: tuple[Constraint, ...] = ()) -> Knowledge:
    return Knowledge.of(SPACE, {"big": rule_of(program, SPACE)}, list(limits))


def source(known: Knowledge | None = None, **split: object) -> ProgramSource:
    held = Split(**{"name": "train", "size": 1, **split})  # type: ignore[arg-type]
    return ProgramSource(known or knowledge(), held, 0, "test")


def test_labels_come_equally_often_though_one_is_rare() -> None:
    codes = source().codes(np.arange(100))
    assert ((codes.sum(axis=1) > 12) == np.array(knowledge().labels_of(codes)[:, 0], dtype=bool)).all()
    assert (codes.sum(axis=1) > 12).sum() == 50


def test_only_worlds_of_the_split_are_drawn() -> None:
    held = source(where=parse("a < b"))
    codes = held.codes(np.arange(60))
    assert (codes[:, 0] < codes[:, 1]).all() and held.contains(codes).all() and held.total == 45
    tied = knowledge(limits=(Constraint("differ", parse("a != b")),))
    assert (np.diff(source(tied).codes(np.arange(60)), axis=1) != 0).all() and source(tied).total == 90


def test_shares_part_the_worlds() -> None:
    inner, outer = source(share=(0.0, 0.7)), source(share=(0.7, 1.0), name="ood")
    everything = SPACE.all_codes()
    assert (inner.contains(everything) ^ outer.contains(everything)).all() and inner.total == 70
    assert not outer.contains(inner.codes(np.arange(50))).any()


def test_what_cannot_be_drawn_is_told() -> None:
    with pytest.raises(KnowledgeError, match="split 'train': label 'big' is False in all of 4,000 worlds"):
        source(where=parse("a + b < 5"))
    with pytest.raises(KnowledgeError, match="split 'train' .*: no world fits"):
        source(where=parse("a > b and b > a"))


def test_places_beside_one_another_draw_worlds_of_their_own() -> None:
    codes = source().codes(np.arange(400))
    small = codes[codes.sum(axis=1) <= 12]  # of 79 such worlds
    assert (small[1:] == small[:-1]).all(axis=1).mean() < 0.06 and len(np.unique(small, axis=0)) > 65


def test_of_two_labels_every_combination_comes_as_often() -> None:
    known = Knowledge.of(SPACE, {"big": rule_of(PROGRAM, SPACE), "less": "a < b"})
    held = ProgramSource(known, Split("train", 1, where=parse("a != 5")), 3, "test", style=lambda rng, codes, pool: {"p": pool})  # fmt: skip
    codes = held.codes(np.arange(80))
    pairs = [(int(a + b > 12), int(a < b)) for a, b in codes.tolist()]
    assert {pair: pairs.count(pair) for pair in {*pairs}} == {(x, y): 20 for x in (0, 1) for y in (0, 1)}
    assert (codes[:, 0] != 5).all() and held.total == 90
    worlds = held.worlds(np.array([4, 1]))
    assert [list(world.codes) for world in worlds] == codes[[4, 1]].tolist() and worlds[0].style == {"p": "train"}
    assert (ProgramSource(known, held.split, 4, "test").codes(np.arange(80)) != codes).any(axis=1).mean() > 0.5


def test_one_of_two_labels_that_never_varies_is_named() -> None:
    known = Knowledge.of(SPACE, {"less": "a < b", "big": rule_of(PROGRAM, SPACE)})
    with pytest.raises(KnowledgeError, match="label 'big' is True in all of 4,000 worlds: change the rule, or give"):
        source(known, where=parse("a + b > 13"))
    with pytest.raises(KnowledgeError, match="label 'less' is False in all of 4,000 worlds"):
        source(known, where=parse("a > b"))
