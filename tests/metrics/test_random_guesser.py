"""A random guesser, scored exactly, equals the average over all its guesses; where that is too much, it has bounds."""

from dataclasses import replace

import numpy as np
import pytest

from assay import METRICS, Concept, ConceptSpace, Constraint, Evidence, Knowledge, bits, parse
from assay.base import rng_for
from assay.logic import ABSENT, Limits
from assay.metrics import Between, frequencies, uniform_guesser
from tests.predictors import random_evidence

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
EMPTY = Knowledge.of(ConceptSpace(SPACE.concepts[:-1]), {"y": "c"}, KNOWN.constraints)  # a world can be empty
SOME = [("r0",), ("r1", "r2"), ("r2", "r0"), ()]


def guesses(knowledge, seed):
    """Return all guesses, how probable each is, and the guesser."""
    rng = rng_for(seed, "guesser")
    chances = [rng.dirichlet(np.ones(size))[None] for size in knowledge.space.sizes]
    codes = knowledge.space.all_codes().astype(int)
    weights = np.prod([one[0][codes[:, place]] for place, one in enumerate(chances)], axis=0)
    return codes, weights, replace(uniform_guesser(knowledge), distributions=chances)


@pytest.mark.parametrize("knowledge", [KNOWN, EMPTY])
@pytest.mark.parametrize("seed", range(3))
def test_every_number_is_the_average_over_all_guesses(knowledge, seed):
    codes, weights, guesser = guesses(knowledge, seed)
    nothing = np.array([concept.nothing_code for concept in knowledge.space.concepts])
    broken = knowledge.violations(codes)
    truth = codes[rng_for(seed, "truth").integers(len(codes), size=30)]
    truth[0] = np.maximum(nothing, 0)
    f1 = []
    for row in truth:
        held = Evidence(knowledge, "test", codes[:, :1], np.broadcast_to(row, codes.shape), codes[:, :1], codes, (None,), (None,) * len(nothing))  # fmt: skip
        f1.append(METRICS["set_f1"].values(held))
    f1, sane = np.array(f1), ~broken.any(axis=1)
    assert guesser.rule_rates == pytest.approx(weights @ broken)
    assert guesser.mean_violations == pytest.approx(weights @ broken.sum(axis=1))
    assert guesser.contradiction_rate().exact and guesser.contradiction_rate().low == pytest.approx(weights @ ~sane)
    for names in SOME:
        own = broken[:, [int(name[1]) for name in names]].any(axis=1)
        assert guesser.contradiction_rate(names).low == pytest.approx(weights @ own, abs=1e-12)
    assert guesser.set_f1(truth) == pytest.approx((f1 @ weights).mean())
    assert guesser.sane_f1(truth).low == pytest.approx((f1 @ (weights * sane)).mean())
    same = (truth[:, None] == codes[None]).all(axis=2)
    assert guesser.exact_match(truth) == pytest.approx((same @ weights).mean())


def test_bounds_hold_where_one_diagram_cannot_and_large_rules_are_not_guessed_at():
    codes, _, exact = guesses(KNOWN, 0)
    truth, bounded = codes[:50], 0
    for budget in (12, 16, 20, 25, 30, 40):  # nodes of a diagram: of none, of some, of all rules, of all together
        rough = replace(exact, limits=Limits(KNOWN, budget))
        for names in (None, *SOME):
            if names and np.isnan(rough.rule_rates[[int(name[1]) for name in names]]).all():
                continue  # nothing at all is known of these rules
            found, true = rough.contradiction_rate(names), exact.contradiction_rate(names).low
            assert found.low - 1e-12 <= true <= found.high + 1e-12 and found.high <= 1
            bounded += not found.exact
        known = ~np.isnan(rough.rule_rates)
        assert rough.rule_rates[known] == pytest.approx(exact.rule_rates[known])
        sane = rough.sane_f1(truth)
        assert sane.low <= exact.sane_f1(truth).low + 1e-12 <= sane.high + 2e-12 <= exact.set_f1(truth) + 3e-12
    assert bounded > 3 and np.isnan(replace(exact, limits=Limits(KNOWN, 12)).mean_violations)


def test_a_guesser_by_frequencies_and_one_to_whom_all_values_are_alike():
    codes = SPACE.all_codes()[:50]
    found = frequencies(codes, SPACE)
    assert [one.shape for one in found] == [(1, size) for size in SPACE.sizes]
    assert found[3][0].tolist() == [(codes[:, 3] == value).mean() for value in range(3)]
    assert uniform_guesser(KNOWN) is uniform_guesser(KNOWN)  # what it costs to compile is paid once
    assert uniform_guesser(KNOWN).rule_rates == pytest.approx(KNOWN.violations(SPACE.all_codes()).mean(axis=0))


def test_a_guess_of_nothing_is_no_sane_answer_where_something_must_be():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"}, [Constraint("some", parse("a or b"))])
    guesser, nothing = uniform_guesser(knowledge), np.array([[0, 0]])
    assert guesser.set_f1(nothing) == pytest.approx(0.25)  # both guess nothing
    assert guesser.sane_f1(nothing) == Between(0.0, 0.0) and not Between(0.2, 0.3).exact
    assert guesser.contradiction_rate().low == pytest.approx(0.25) == guesser.exact_match(nothing)


def test_violations_of_random_answers_are_those_of_the_guesser():
    held = random_evidence(KNOWN, 4000, "random")
    assert METRICS["violations_vs_random"](held) == pytest.approx(1, abs=0.05)
