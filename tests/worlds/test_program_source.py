"""Worlds of a rule that is a program: labels evenly, worlds of the split only, at any place."""

import numpy as np
import pytest

from assay.concepts import digits
from assay.errors import KnowledgeError
from assay.logic import Constraint, Knowledge, parse
from assay.prolog import oracle
from assay.worlds import ProgramSource, Split, program_source

SPACE = digits(["a", "b"])
PROGRAM = "big(W) :- a(W, A), b(W, B), A + B > 12."


def knowledge(program: str = PROGRAM, limits: tuple[Constraint, ...] = ()) -> Knowledge:
    return Knowledge.of(SPACE, {"big": oracle(program, SPACE)}, list(limits))


def source(known: Knowledge | None = None, **split: object) -> ProgramSource:
    held = Split(**{"name": "train", "size": 1, **split})  # type: ignore[arg-type]
    return ProgramSource(known or knowledge(), held, 0, "test")


def test_labels_come_equally_often_though_one_is_rare() -> None:
    codes = source().codes(np.arange(100))
    assert ((codes.sum(axis=1) > 12) == np.array(knowledge().labels_of(codes)[:, 0], dtype=bool)).all()
    assert (codes.sum(axis=1) > 12).sum() == 50


def test_any_place_can_be_asked_for_alone() -> None:
    together = source().codes(np.arange(40))
    places = np.array([39, 7, 7, 0])
    assert (source().codes(places) == together[places]).all()


def test_by_world_every_world_comes_once() -> None:
    codes = source(balance="world").codes(np.arange(100))
    assert len(np.unique(codes, axis=0)) == 100 == source(balance="world").total


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


def test_labels_that_are_too_rare_end_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    held = source()
    held.kinds  # known before draws run out
    monkeypatch.setattr(program_source, "TRIES", 2)
    with pytest.raises(KnowledgeError, match=r"no world with labels \[True\] in 2 draws; they are too rare"):
        held.codes(np.arange(200))


def test_places_beside_one_another_draw_worlds_of_their_own() -> None:
    codes = source().codes(np.arange(400))
    small = codes[codes.sum(axis=1) <= 12]  # of 79 such worlds
    assert (small[1:] == small[:-1]).all(axis=1).mean() < 0.06 and len(np.unique(small, axis=0)) > 65


def test_of_two_labels_every_combination_comes_as_often() -> None:
    known = Knowledge.of(SPACE, {"big": oracle(PROGRAM, SPACE), "less": "a < b"})
    held = ProgramSource(known, Split("train", 1, where=parse("a != 5")), 3, "test", style=lambda rng, codes, pool: {"p": pool})  # fmt: skip
    assert held.kinds.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    codes = held.codes(np.arange(80))
    pairs = [(int(a + b > 12), int(a < b)) for a, b in codes.tolist()]
    assert {pair: pairs.count(pair) for pair in {*pairs}} == {(x, y): 20 for x in (0, 1) for y in (0, 1)}
    assert (codes[:, 0] != 5).all() and held.total == 90
    worlds = held.worlds(np.array([4, 1]))
    assert [list(world.codes) for world in worlds] == codes[[4, 1]].tolist() and worlds[0].style == {"p": "train"}
    assert (ProgramSource(known, held.split, 4, "test").codes(np.arange(80)) != codes).any(axis=1).mean() > 0.5


def test_a_place_has_the_first_world_of_its_turns_that_fits() -> None:
    held = source()
    places = np.array([17, 3, 40, 8, 25, 31])
    wanted = held.kinds[held._deck(len(held.kinds), "label").deal(places)][:, 0]
    expected = []
    for place, label in zip(places.tolist(), wanted.tolist(), strict=True):
        turns = held.base.codes(place * program_source.TRIES + np.arange(200))
        fits = (turns.sum(axis=1) > 12) == bool(label)
        expected.append(turns[fits.argmax()].tolist())
    assert {*wanted.tolist()} == {0, 1} and held.codes(places).tolist() == expected


def test_one_of_two_labels_that_never_varies_is_named() -> None:
    known = Knowledge.of(SPACE, {"less": "a < b", "big": oracle(PROGRAM, SPACE)})
    with pytest.raises(KnowledgeError, match="label 'big' is True in all of 4,000 worlds: change the rule, or give"):
        source(known, where=parse("a + b > 13"))
    with pytest.raises(KnowledgeError, match="label 'less' is False in all of 4,000 worlds"):
        source(known, where=parse("a > b"))
