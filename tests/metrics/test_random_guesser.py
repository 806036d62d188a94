"""A random guesser, scored exactly, equals the average over all its guesses."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace
from assay.errors import ConfigError
from assay.logic import Constraint, Knowledge, Limits, parse, uniform
from assay.metrics import uniform_guesser
from assay.metrics.consistency import set_f1_of
from assay.metrics.random_guesser import Guesser, frequencies
from assay.seeds import rng_for

SPACE = ConceptSpace(
    (
        Concept("a", ("none", "x", "y"), nothing="none"),
        Concept("b", ("x", "none", "y"), nothing="none"),
        Concept("c", (False, True)),
        Concept("d", (0, 1, 2), counts=True),
        Concept("e", ("x", ABSENT)),
        Concept("f", ("x", "y")),
    )
)
RULES = ["count(a == 'x', b == 'x', c, d > 0) <= 2", "a == b or c", "implies(d == 2, not c)"]
KNOWN = Knowledge.of(SPACE, {"y": "c"}, [Constraint(f"r{n}", parse(text)) for n, text in enumerate(RULES)])
NO_F = ConceptSpace(SPACE.concepts[:-1])  # without `f` a world can be empty
EMPTY = Knowledge.of(NO_F, {"y": "c"}, KNOWN.constraints)


def guesses(knowledge, seed):
    """Return all guesses, how probable each is, and the guesser."""
    rng = rng_for(seed, "guesser")
    spread = [rng.dirichlet(np.ones(size))[None] for size in knowledge.space.sizes]
    codes = knowledge.space.all_codes().astype(int)
    weights = np.prod([one[0][codes[:, place]] for place, one in enumerate(spread)], axis=0)
    return codes, weights, Guesser(knowledge, Limits(knowledge), spread)


@pytest.mark.parametrize("knowledge", [KNOWN, EMPTY])
@pytest.mark.parametrize("seed", range(3))
def test_every_number_is_the_average_over_all_guesses(knowledge, seed):
    codes, weights, guesser = guesses(knowledge, seed)
    nothing = np.array([concept.nothing_code for concept in knowledge.space.concepts])
    broken = knowledge.violations(codes)
    truth = codes[rng_for(seed, "truth").integers(len(codes), size=30)]
    truth[0] = np.maximum(nothing, 0)
    f1 = np.stack([set_f1_of(np.broadcast_to(row, codes.shape), codes, nothing) for row in truth])
    sane = ~broken.any(axis=1)
    assert guesser.rule_rates == pytest.approx(weights @ broken)
    assert guesser.mean_violations == pytest.approx(weights @ broken.sum(axis=1))
    assert guesser.contradiction_rate().low == pytest.approx(weights @ ~sane) and guesser.contradiction_rate().exact
    assert guesser.contradiction_rate(["r1", "r2"]).low == pytest.approx(weights @ broken[:, 1:].any(axis=1))
    assert guesser.set_f1(truth) == pytest.approx((f1 @ weights).mean())
    assert guesser.sane_f1(truth).low == pytest.approx((f1 @ (weights * sane)).mean())
    same = (truth[:, None] == codes[None]).all(axis=2)
    assert guesser.exact_match(truth) == pytest.approx((same @ weights).mean())


class Alone(Limits):
    """Limits that cannot be joined."""

    def diagram(self, names):
        chosen = list(names)
        return super().diagram(chosen) if len(chosen) == 1 else None


def test_bounds_hold_where_one_diagram_cannot():
    codes, _, exact = guesses(KNOWN, 0)
    rough = Guesser(KNOWN, Alone(KNOWN), exact.distributions)
    assert not np.isnan(rough.rule_rates).any() and rough.limits.diagram(rough.limits.names) is None
    low, high = rough.contradiction_rate().low, rough.contradiction_rate().high
    assert low < exact.contradiction_rate().low < high and not rough.contradiction_rate().exact
    sane = rough.sane_f1(codes[:50])
    assert sane.low == 0 and exact.sane_f1(codes[:50]).low < sane.high <= exact.set_f1(codes[:50])


def test_rules_that_are_too_large_are_not_guessed_at():
    rough = Guesser(KNOWN, Limits(KNOWN, budget=12), uniform(SPACE))
    assert np.isnan(rough.rule_rates).any() and np.isnan(rough.mean_violations)
    assert rough.contradiction_rate().high == 1


def test_a_guesser_by_frequencies():
    codes = SPACE.all_codes()[:50]
    found = frequencies(codes, SPACE)
    assert [one.shape for one in found] == [(1, size) for size in SPACE.sizes]
    assert found[3][0].tolist() == [(codes[:, 3] == value).mean() for value in range(3)]


def test_the_uniform_guesser_is_made_once():
    assert uniform_guesser(KNOWN) is uniform_guesser(KNOWN)


def test_which_value_says_that_nothing_is_there():
    assert [concept.nothing_code for concept in SPACE.concepts] == [0, 1, 0, 0, 1, -1]
    again = Knowledge.from_dict(KNOWN.to_dict())
    assert again.space == SPACE
    with pytest.raises(ConfigError, match="says nothing by 'void', which is none of its values"):
        Concept("a", ("x", "y"), nothing="void")
