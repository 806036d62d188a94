"""Worlds whose concepts go with their label: those that do not fit are replaced by others of the same label."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.data import ConfoundedSource, Confounder, Coupling
from assay.errors import ConfigError
from assay.logic import Knowledge
from assay.worlds import World
from tests.toys import Coin

SPACE = ConceptSpace((*bits(["a", "b"]).concepts, Concept("shape", ("round", "square", "cross"))))
ALARM = Knowledge.of(SPACE, {"y": "a and b"})


def confounded(formula, total=400, quota=None, name="train", **settings):
    """Return a source whose world at each place is the number of the place, with the formula going with `y`."""
    every = np.array([[a, b, shape] for a in (0, 1) for b in (0, 1) for shape in range(3)])
    base = SimpleNamespace(
        split=SimpleNamespace(name="train", size=11, quota=quota),
        total=total,
        codes=lambda places: every[np.asarray(places) * 7 % 12],
        contains=lambda codes: codes[:, 0] == 1,
        worlds=lambda places: [World(SPACE, tuple(row), {}) for row in every[np.asarray(places) * 7 % 12].tolist()],
    )
    coupling = Coupling(Confounder(**{"what": formula, "with": "y", "strength": 1.0, **settings}), ALARM)
    return ConfoundedSource(base, SimpleNamespace(name=name), [coupling], 0)


def test_worlds_that_do_not_fit_are_replaced_by_those_of_places_further_on():
    source = confounded("shape == 'cross'")
    places = np.arange(10)
    plain, taken = source.base.codes(places), source._drawn(places)[0]
    codes = source.codes(places)
    assert (ALARM.labels_of(codes)[:, 0] == ALARM.labels_of(plain)[:, 0]).all()
    assert ((codes[:, 2] == 2) == (ALARM.labels_of(codes)[:, 0] == 1)).all() and (taken % 11 == places).all()
    fitting = (plain[:, 2] == 2) == (plain[:, 0] & plain[:, 1]).astype(bool)
    assert (
        (taken[fitting] == places[fitting]).all()
        and (taken[~fitting] > 9).all()
        and fitting.any()
        and not fitting.all()
    )
    assert [world.codes for world in source.worlds(places)] == [tuple(row) for row in codes.tolist()]
    assert [world.style["nuisances"]["shape == 'cross'"] for world in source.worlds(places)] == (
        codes[:, 2] == 2
    ).astype(int).tolist()
    assert source.total == 400 and source.contains(codes).tolist() == (codes[:, 0] == 1).tolist()
    chosen = confounded("shape == 'cross'", quota="some")  # chosen by where they lie in the rule
    assert chosen.codes(places).tolist() == plain.tolist() and chosen._drawn(places)[1].tolist() == [[-1]] * 10
    turned = confounded("shape == 'cross'", name="reversed").codes(places)
    assert ((turned[:, 2] == 2) != (ALARM.labels_of(turned)[:, 0] == 1)).all()
    assert confounded("frame").codes(places).tolist() == plain.tolist()


def test_worlds_that_there_are_not_are_told():
    with pytest.raises(ConfigError, match="split 'train' has hardly a world whose 'not a' is as asked for its label"):
        confounded("not a").codes(np.arange(12))


def test_formulas_all_fit_and_drawn_labels_stay():
    knowledge = Coin().knowledge
    every = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])

    def worlds(places):
        rows = np.asarray(places)
        return [
            World(knowledge.space, tuple(every[p * 3 % 8].tolist()), {"luck": [(p * 37 % 100) / 100, 0.5]})
            for p in rows.tolist()
        ]

    base = SimpleNamespace(
        split=SimpleNamespace(name="train", size=13, quota=None), codes=lambda places: every[np.asarray(places) * 3 % 8], worlds=worlds,
    )  # fmt: skip
    couplings = [
        Coupling(Confounder.model_validate({"what": what, "with": "y", "strength": 1.0}), knowledge)
        for what in ("b", "c != a")
    ]
    source = ConfoundedSource(base, SimpleNamespace(name="train"), couplings, 0)
    places = np.arange(13)
    before = source._labels(places, base.codes(places))
    taken, drawn = source._drawn(places)
    after = source._labels(taken, base.codes(taken))
    assert (before == after).all() and (before[:, 0] != knowledge.labels_of(base.codes(places))[:, 0]).any()
    codes = source.codes(places)
    assert (codes[:, 1] == before[:, 0]).all() and ((codes[:, 2] != codes[:, 0]) == before[:, 0]).all()
    assert (drawn == before[:, :1]).all() and (taken % 13 == places).all()
