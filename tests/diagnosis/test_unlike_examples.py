"""Numbers of a diagnosis where nothing is alike: concepts of two to four values, three labels, masks of any size, gaps."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import leakage as leaks
from assay.diagnosis import saliency
from assay.diagnosis.calibration import Scaling, fit_scaling, fit_scalings
from assay.diagnosis.information import Blur, entropy, mutual_information, mutual_information_knn
from assay.diagnosis.interventions.label_heads import LinearHead, rule_head
from assay.diagnosis.leakage import leakage
from assay.diagnosis.propagation import (
    _half,
    _joint,
    _sums,
    through_and,
    through_any,
    through_linear,
    through_rule,
)
from assay.diagnosis.saliency import ExampleScores, SaliencyScore, ScoreBesideChance, ScoredTarget, summarise
from assay.diagnosis.soft_leakage import explained_ranks, find_soft_leak, mean_ranks, soft_leaks
from assay.diagnosis.views import SplitView
from assay.errors import DataError, TooLarge
from assay.logic.knowledge import NO_RULE, Knowledge, Label, Odds
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from assay.metrics.interval import of_difference, of_mean
from assay.seeds import rng_for

SPACE = ConceptSpace(
    (Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("m", (0, 1, 2, 3)), Concept("one", (7,)))
)
RULE = Knowledge.of(SPACE, {"y": "a and n > 0", "s": "(n + m) % 3", "always": "n < 3"})
ROWS = 130


def evidence(knowledge=RULE, rows=ROWS, soft=True, seed=0):
    """Answers that are often right, a little unsure, and surer where the first label is true."""
    rng = rng_for(seed, "unlike examples", rows)
    truth = np.stack([rng.integers(0, size, rows) for size in SPACE.sizes], axis=1)
    labels = RULE.labels_of(truth)
    chances = []
    for place, size in enumerate(SPACE.sizes):
        table = rng.dirichlet(np.full(size, 0.5), rows) * 0.9 + np.eye(size)[truth[:, place]]
        table += 0.3 * labels[:, [0]] * np.eye(size)[truth[:, place]]
        chances.append(table / table.sum(axis=1, keepdims=True))
    said = np.stack([table.argmax(axis=1) for table in chances], axis=1)
    spoken = np.where(rng.random(labels.shape) < 0.85, RULE.labels_of(said), 0)
    return Evidence(
        knowledge, "test", labels, truth, spoken, said, (None,) * 3, tuple(chances) if soft else (None,) * 4
    )


# leakage


def ctl_by_hand(held, told):
    """How much more is told of each label than by the truth, as a share, averaged over labels that vary."""
    found = []
    for place in range(3):
        shares = []
        for label in range(2):
            codes = held.labels[:, label]
            extra = told(place, label) - mutual_information(held.concepts[:, place], codes)
            shares.append(max(0.0, extra) / entropy(codes))
        found.append(np.mean(shares))
    return found


def test_leakage_into_several_labels_of_which_one_does_not_vary():
    held = evidence()
    found = leakage(held, seed=3, precision=0.05)
    said = held.predicted_concepts
    hard = ctl_by_hand(held, lambda place, label: mutual_information(said[:, place], held.labels[:, label]))
    assert found.hard.ctl == pytest.approx(np.mean(hard)) and (found.rows, found.pairs, found.split) == (130, 6, "test")
    blur = Blur(3, 0.05)

    def soft(place, label):
        return mutual_information_knn(
            held.concept_probabilities[place][:, 1:], held.labels[:, label], blur, place, label
        )

    by_concept = ctl_by_hand(held, soft)
    assert found.soft.ctl == pytest.approx(np.mean(by_concept))
    assert found.by_concept == pytest.approx(dict(zip("anm", by_concept, strict=True)), abs=1e-6)
    between = {"hard": [], "soft": []}
    for first, second in itertools.permutations(range(3), 2):
        true = [held.concepts[:, first], held.concepts[:, second]]
        own = math.sqrt(entropy(true[0]) * entropy(true[1]))
        answers = [said[:, first], said[:, second]]
        alike = mutual_information(*answers) / math.sqrt(entropy(answers[0]) * entropy(answers[1]))
        between["hard"].append(max(0.0, alike - mutual_information(*true) / own))
        told = mutual_information_knn(held.concept_probabilities[first][:, 1:], true[1], blur, "pair", first, second)
        between["soft"].append(max(0.0, (told - mutual_information(*true)) / own))
    assert found.hard.icl == pytest.approx(np.mean(between["hard"]))
    assert found.soft.icl == pytest.approx(np.mean(between["soft"]))
    strongest = {}
    for leak in soft_leaks(held):
        strongest[leak.concept] = max(strongest.get(leak.concept, 0.0), leak.strength)
    assert found.beyond_value == pytest.approx(strongest, abs=1e-6) and list(strongest) == ["a", "n", "m", "one"]


def test_leakage_is_of_rows_that_are_wholly_known_and_of_concepts_always_said():
    held = evidence()
    truth, said = held.concepts.copy(), held.predicted_concepts.copy()
    truth[::3, 1], said[5, 2] = -1, -1
    holed = replace(held, concepts=truth, predicted_concepts=said, concept_probabilities=(None,) * 4)
    whole = held.take(np.flatnonzero(np.arange(130) % 3 != 0))
    assert list(leakage(holed).by_concept) == ["a", "n"] and leakage(holed).rows == 86
    mine = replace(whole, concept_probabilities=(None,) * 4)
    silent = mine.predicted_concepts.copy()
    silent[:, 2] = -1
    expected = leakage(replace(mine, predicted_concepts=silent))
    assert leakage(holed) == replace(expected, hard=leakage(holed).hard)
    assert leakage(holed).hard.ctl == expected.hard.ctl and leakage(holed).hard.icl == expected.hard.icl
    with pytest.raises(DataError, match="has 39 examples whose concepts are known"):
        leakage(whole.take(np.arange(39)))
    assert leakage(whole.take(np.arange(40))).rows == 40


def test_many_rows_and_pairs_are_sampled(monkeypatch):
    monkeypatch.setattr(leaks, "MOST_ROWS", 50)
    monkeypatch.setattr(leaks, "MOST_PAIRS", 4)
    held = evidence(soft=False)
    found = leakage(held, seed=2)
    assert (found.rows, found.pairs) == (50, 4)
    rows = np.sort(rng_for(2, "leakage", "rows").permutation(130)[:50])
    some = held.take(rows)
    hard = ctl_by_hand(
        some, lambda place, label: mutual_information(some.predicted_concepts[:, place], some.labels[:, label])
    )
    assert found.hard.ctl == pytest.approx(np.mean(hard))


def measured(held, seed=0):
    return leaks._Measurement(held, [0, 1, 2], [(0, 1)], Blur(seed))


def test_what_the_probe_sees_of_concepts():
    held = evidence()
    on = measured(held)
    codes, said = held.concepts, held.predicted_concepts
    for true, shown in ((True, codes), (False, said)):
        wide = [np.eye(size)[shown[:, place]][:, 1:] for place, size in enumerate((2, 3, 4))]
        assert on.hard_features(true).tolist() == np.concatenate(wide, axis=1).tolist()
    tables = [p[:, 1:] for p in held.concept_probabilities[:3]]
    sure = np.stack([p.max(axis=1) for p in held.concept_probabilities[:3]], axis=1)
    chances = np.concatenate([*tables, *tables, sure], axis=1)
    logs = np.clip(np.log(np.clip(chances, 1e-6, None) / np.clip(1 - chances, 1e-6, None)), -8, 8) / 8
    np.testing.assert_allclose(
        on.soft_features(False), np.concatenate([chances[:, :6], logs[:, 6:]], axis=1), atol=1e-9
    )
    ones = on.soft_features(True)
    assert ones.shape == (130, 6 + 6 + 3) and set(np.unique(ones[:, :6])) == {0.0, 1.0} and (ones[:, 12:] == 1).all()
    assert [on._rule(place).shape[1] for place in range(3)] == [1, 2, 1]
    assert on._rule(1).tolist() == np.eye(3)[held.labels[:, 1]][:, 1:].tolist()


def test_the_rule_of_a_label_is_its_odds_or_nothing():
    drawn = Knowledge.of(SPACE, {"y": "a", "s": "(n + m) % 3", "z": "n > 0"}, odds={"z": Odds(parse("n - 1"), 0.5)})
    on = measured(evidence(drawn))
    chance = drawn.chances(on.evidence.concepts)[:, 2]
    np.testing.assert_allclose(on._rule(2)[:, 0], np.log(chance / (1 - chance)))
    assert len(np.unique(on._rule(2))) == 3 and on._rule(0).tolist() == on.evidence.concepts[:, [0]].tolist()
    bare = Knowledge(SPACE, (*RULE.labels[:2], Label("free", NO_RULE, (False, True))))
    assert measured(evidence(bare))._rule(2).shape == (130, 0)


def test_the_probe_is_the_gain_of_cross_entropy_over_labels_that_vary(monkeypatch):
    held = evidence()
    on, seen = measured(held, seed=6), []

    def cross_entropy(features, labels, halves):
        seen.append((features.shape[1], labels.tolist(), halves.tolist()))
        return {0: 0.9, 1: 0.7, 2: 0.3, 3: 0.5, 4: 0.4, 5: 0.1}[len(seen) - 1]

    monkeypatch.setattr(leaks, "_cross_entropy", cross_entropy)
    gain = on.probe(on.hard_features)
    assert gain == pytest.approx((0.2 / entropy(held.labels[:, 0]) + 0) / 2)  # the second falls, the third is constant
    assert [width for width, _, _ in seen] == [6 + 1 + 6] * 2 + [6 + 2 + 6] * 2 + [6 + 1 + 6] * 2
    for number, (_, labels, halves) in enumerate(seen):
        place = number // 2
        assert labels == held.labels[:, place].tolist()
        assert halves == (rng_for(6, "probe", place).permutation(130) % 2).tolist()


def test_cross_entropy_of_labels_that_one_half_has_not_seen():
    labels, halves = np.array([0, 0, 2, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1])
    found = leaks._cross_entropy(np.zeros((6, 1)), labels, halves)
    by_first = np.array([math.log(2 / 3), math.log(1 / 3)])  # for 0 and for 2, by a fit of the bias alone
    assert found == pytest.approx(-(3 * by_first[1] + 0 + 2 * math.log(1e-6)) / 6, abs=1e-3)
    labels = np.array([1, 2, 1, 2, 1, 2])
    assert leaks._cross_entropy(9.0 * labels[:, None], labels, halves) < 0.1


# soft leakage


def test_soft_leaks_by_the_strongest_value_of_each_concept_and_label():
    held = evidence()
    found = soft_leaks(held)
    assert [(leak.concept, leak.label) for leak in found] == list(
        itertools.product(("a", "n", "m", "one"), ("y", "s", "always"))
    )
    by_pair = {(leak.concept, leak.label): (leak.strength, leak.chance) for leak in found}
    for place, columns in ((0, [1]), (1, [0, 1, 2]), (2, [0, 1, 2, 3])):
        right = held.predicted_concepts[:, place] == held.concepts[:, place]
        for number, label in ((0, "y"), (1, "s")):
            tests = [
                explained_ranks(np.round(held.concept_probabilities[place][right, column] / 0.01), held.labels[right, number], held.concepts[right, place])
                for column in columns
            ]  # fmt: skip
            strength, chance = max(tests)
            assert by_pair["anm"[place], label] == pytest.approx((strength, min(1.0, chance * len(columns))))
    assert by_pair["one", "y"] == (0.0, 1.0) and by_pair["n", "always"] == (0.0, 1.0)


def test_of_very_many_values_only_the_confidence_is_tested(monkeypatch):
    held = evidence()
    monkeypatch.setattr("assay.diagnosis.soft_leakage.MOST_TESTS", 3 * (4 + 9 + 16 + 1))
    assert soft_leaks(held)[3].strength == soft_leaks(evidence())[3].strength
    every = soft_leaks(held)
    monkeypatch.setattr("assay.diagnosis.soft_leakage.MOST_TESTS", 3 * (4 + 9 + 16 + 1) - 1)
    right = held.predicted_concepts[:, 2] == held.concepts[:, 2]
    sure = np.round(held.concept_probabilities[2][right].max(axis=1) / 0.01)
    found = soft_leaks(held)
    assert (found[6].strength, found[6].chance) == explained_ranks(sure, held.labels[right, 0], held.concepts[right, 2])
    assert found[6] != every[6]


def test_strata_that_tell_nothing_are_passed_over():
    rng = rng_for(0, "strata")
    strata = np.repeat([0, 1, 2], [30, 40, 50])
    labels = np.where(strata == 0, 1, rng.integers(0, 3, 120))
    numbers = np.where(strata == 1, 5.0, np.round(rng.normal(size=120) + labels, 1))
    assert explained_ranks(numbers, labels, strata) == explained_ranks(numbers[70:], labels[70:], strata[70:])
    ranks, told = stats.rankdata(numbers[70:]), labels[70:]
    assert mean_ranks(numbers[70:]).tolist() == ranks.tolist()
    statistic, chance = stats.kruskal(*(numbers[70:][told == kind] for kind in np.unique(told)))
    strength, found = explained_ranks(numbers, labels, strata)
    assert found == pytest.approx(chance) and strength == pytest.approx((statistic - 2) / 49)


def test_leaks_are_told_strongest_first_of_concepts_that_are_judged():
    from assay.diagnosis.concepts import ConceptState

    def view(held, states):
        concepts = tuple(ConceptState(name, state, True, 0, 1, 1, 1) for name, state in zip("anm", states, strict=True))
        return SplitView("test", held, concepts, (), frozenset({0, 1, 2}), 0.01)

    rng = rng_for(0, "told")
    truth = np.stack([rng.integers(0, size, 600) for size in SPACE.sizes], axis=1)
    labels = RULE.labels_of(truth)
    tables = []
    for place, (size, strength) in enumerate(zip(SPACE.sizes, (0.05, 0.3, 0.1, 0.0), strict=True)):
        sure = 0.6 + strength * labels[:, 0] + 0.05 * rng.random(600)
        table = np.tile(((1 - sure) / max(1, size - 1))[:, None], (1, size))
        table[np.arange(600), truth[:, place]] = sure
        tables.append(table)
    held = Evidence(RULE, "test", labels, truth, labels, truth, (None,) * 3, tuple(tables))
    strength = {(leak.concept, leak.label): leak.strength for leak in soft_leaks(held)}
    found = find_soft_leak(view(held, ("right", "noisy", "too few")))
    order = sorted(("a", "n", "m"), key=lambda name: -strength[name, "y"])
    assert found.kind == "leaking" and found.concepts[0] == order[0] and set(found.concepts) == {"a", "n", "m"}
    assert found.numbers == {"strength": strength[order[0], "y"]} and "y" in found.labels
    assert f"{order[0]} of y ({100 * strength[order[0], 'y']:.0f} %)" in found.text
    assert find_soft_leak(view(held, ("misread", "collapsed", "right"))).concepts == ("m",)
    assert find_soft_leak(view(held, ("misread", "collapsed", "absent"))) is None


# saliency


def maps_of(rows=40):
    rng = rng_for(0, "maps")
    masks = rng.random((rows, 5, 9)) < rng.random((rows, 1, 1)) * 0.6
    maps = np.round(rng.normal(size=(rows, 5, 9)) + masks, 1)
    maps[3], maps[8], masks[5] = -1.0, 0.0, False
    masks[8] = False
    return maps, masks


def test_scores_of_maps_by_plain_loops():
    maps, masks = maps_of()
    scores = ExampleScores.of(maps, masks)
    for row in range(40):
        relevance, inside = np.maximum(maps[row], 0).ravel().tolist(), masks[row].ravel().tolist()
        total, size = sum(relevance), sum(inside)
        assert scores.blank[row] == (total == 0) and scores.share[row] == size / 45
        if not total or not size:
            assert all(np.isnan(values[row]) for values in scores.values.values())
            continue
        largest = [place for place, value in enumerate(relevance) if value == max(relevance)]
        expected = {
            "pointing": sum(inside[place] for place in largest) / len(largest),
            "energy": sum(value for value, here in zip(relevance, inside, strict=True) if here) / total,
        }
        least = sorted(relevance)[-size]
        above = [place for place, value in enumerate(relevance) if value > least]
        tied = [place for place, value in enumerate(relevance) if value == least]
        part = (size - len(above)) / len(tied)
        expected["rank"] = (sum(inside[p] for p in above) + part * sum(inside[p] for p in tied)) / size
        for name, value in expected.items():
            assert scores.values[name][row] == pytest.approx(value), name
    some = scores.take(np.array([7, 3, 3]))
    assert some.share.tolist() == scores.share[[7, 3, 3]].tolist() and some.blank.tolist() == [False, True, True]
    assert some.values["rank"].tolist() == pytest.approx(scores.values["rank"][[7, 3, 3]].tolist(), nan_ok=True)


def test_a_summary_of_maps_by_value_beside_the_chance_of_each():
    maps, masks = maps_of()
    scores = ExampleScores.of(maps, masks)
    untrained = ExampleScores.of(np.roll(maps, 1, axis=0), masks)
    predicted = np.array(["b", "a", "c"])[np.arange(40) % 3]
    found = summarise(ScoredTarget("concept n", "concept", "n", True), scores, predicted.tolist(), untrained)
    rows = [row for row in range(40) if row not in (3, 5, 8)]
    assert (found.target, found.kind, found.place, found.is_mark) == ("concept n", "concept", "n", True)
    assert found.examples == 37 and found.blank == 1  # of the third there is a mask, of the eighth none
    assert found.chance == pytest.approx(scores.share[rows].mean())
    for name in ("pointing", "energy", "rank"):
        values = scores.values[name][rows]
        low, high = of_mean(values)
        below, above = of_difference(values - scores.share[rows])
        side = "above" if below > 0 else "below" if above < 0 else "as chance"
        assert getattr(found, name) == ScoreBesideChance(pytest.approx(values.mean()), low, high, side)
    assert list(found.by_value) == ["b", "a", "c"]
    for word, part in found.by_value.items():
        mine = [row for row in rows if predicted[row] == word]
        assert part == ScoreBesideChance.of(scores.values["energy"][mine], scores.share[mine])
    assert found.untrained == pytest.approx(np.nanmean(untrained.values["energy"]))
    assert found.untrained != pytest.approx(np.nanmean(untrained.values["energy"][rows]))
    nothing = replace(untrained, values={name: values * np.nan for name, values in untrained.values.items()})
    assert summarise(ScoredTarget("x", "label", "y"), scores, predicted.tolist(), nothing).untrained is None


def test_chance_is_compared_example_by_example():
    share = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    more = np.array([0.05, 0.06, 0.05, 0.04, 0.05])
    assert ScoreBesideChance.of(share + more, share).side == "above"
    assert ScoreBesideChance.of(share - more, share).side == "below"
    assert ScoreBesideChance.of(share[::-1], share).side == "as chance"
    holed = np.array([0.2, np.nan, 0.6])
    found = ScoreBesideChance.of(holed, np.array([0.1, 0.9, 0.5]))
    assert found.value == 0.4 and (found.low, found.high) == of_mean(np.array([0.2, 0.6]))


def stage(similarity, layers=1, examples=9):
    return saliency.RandomisedStage(layers, f"layer {layers}", similarity, similarity - 0.1, similarity + 0.1, examples)


@pytest.mark.parametrize(
    ("similarity", "witness"),
    [(0.49, "witness"), (0.5, "weak witness"), (0.79, "weak witness"), (0.8, "no witness"), (math.nan, "witness")],
)
def test_the_last_stage_says_whether_maps_are_a_witness(similarity, witness):
    check = saliency.RandomisationCheck((stage(0.99), stage(0.6, 2), stage(similarity, 3)))
    assert check.witness == witness and f"maps correlate by {similarity:.2f} (" in check.text
    plain = check.to_dict()
    assert plain["witness"] == witness and plain["text"] == check.text and len(plain["stages"]) == 3
    assert plain["stages"][2]["similarity"] == (None if math.isnan(similarity) else similarity)
    assert plain["stages"][0] == {"layers": 1, "last": "layer 1", "similarity": 0.99, "low": pytest.approx(0.89), "high": pytest.approx(1.09), "examples": 9}  # fmt: skip


def test_stages_leave_out_maps_that_rank_nothing():
    maps, _ = maps_of(12)
    other = np.roll(maps, 2, axis=0)
    found = saliency.RandomisedStage.of(2, "conv", maps, other)
    wanted = []
    for first, second in zip(maps, other, strict=True):
        first, second = np.maximum(first, 0).ravel(), np.maximum(second, 0).ravel()
        if np.ptp(first):
            wanted.append(stats.spearmanr(first, second)[0] if np.ptp(second) else 0.0)
    assert (found.layers, found.last, found.examples) == (2, "conv", 10) and found.similarity == pytest.approx(
        np.mean(wanted)
    )
    assert (found.low, found.high) == pytest.approx(of_mean(np.array(wanted)))
    blank = saliency.RandomisedStage.of(1, "conv", np.zeros((2, 2, 2)), np.ones((2, 2, 2)))
    assert blank.examples == 0 and math.isnan(blank.similarity)
    assert "the maps of the trained network are all blank" in saliency.RandomisationCheck((blank,)).text
    assert "1 examples" in saliency.RandomisationCheck((stage(0.9, examples=1),)).text


def test_scores_of_marks_in_words():
    def scored(target, kind, place, is_mark, side, blank=0, untrained=None):
        parts = [
            ScoreBesideChance(value, value - 0.1, value + 0.1, which)
            for value, which in ((0.5, "below"), (0.25, side), (0.75, "above"))
        ]
        return SaliencyScore(target, kind, place, is_mark, 1234, blank, 0.125, *parts, {}, untrained)

    scores = [
        scored("label y", "label", "its concepts", False, "above", 2, 0.375),
        scored("label y", "label", "watermark", True, "as chance", 3),
        scored("concept a", "concept", "watermark", True, "above"),
        scored("concept a", "concept", "a", False, "below", 1100),
        scored("label z", "label", "border", True, "below"),
    ]
    assert saliency.score_rows(scores)[:2] == [
        ["label y", "its concepts", "1,234", "0.50 (0.40 to 0.60)", "0.25 (0.15 to 0.35)", "0.75 (0.65 to 0.85)", "0.12", "0.38", "above chance"],
        ["label y", "watermark", "1,234", "0.50 (0.40 to 0.60)", "0.25 (0.15 to 0.35)", "0.75 (0.65 to 0.85)", "0.12", "", "as chance"],
    ]  # fmt: skip
    assert saliency.describe_marks(scores) == [
        "25 % of the relevance of label y lies on the watermark, which covers 12 % of the picture: no more than by chance.",
        "25 % of the relevance of label z lies on the border, which covers 12 % of the picture: less than by chance.",
    ]
    assert saliency.describe_blank(scores) == "Blank maps, which are not scored: label y (2) and concept a (1,100)."
    assert saliency.describe_blank(scores[1:3]) == ""


# propagation, calibration and information


def world_by_world(head, concepts):
    """The expected label probabilities, by asking about one world after the other."""
    sizes = [p.shape[1] for p in concepts]
    total = None
    for codes in itertools.product(*map(range, sizes)):
        weight = np.prod([p[:, code] for p, code in zip(concepts, codes, strict=True)], axis=0)
        said = head([np.eye(size)[[code]] for size, code in zip(sizes, codes, strict=True)])
        parts = [weight[:, None] * p for p in said]
        total = parts if total is None else [before + more for before, more in zip(total, parts, strict=True)]
    return total


def linear(sizes, outputs, scale=1.0):
    rng = rng_for(0, "linear head", *sizes)
    weights = [scale * rng.normal(size=(size, sum(outputs))) for size in sizes]
    return LinearHead(weights, rng.normal(size=sum(outputs)), outputs)


@pytest.mark.parametrize(
    ("sizes", "outputs"), [((2, 3, 4, 2), (2, 2)), ((3, 2), (2, 2)), ((5,), (2,)), ((2, 3, 2), (3, 2))]
)
def test_labels_of_uncertain_concepts_world_by_world(sizes, outputs, monkeypatch):
    monkeypatch.setattr("assay.diagnosis.propagation.CHUNK", 4)  # nine rows: two whole parts and one row
    concepts = [rng_for(1, "uncertain", place).dirichlet(np.ones(size), 9) for place, size in enumerate(sizes)]
    for scale in (0.01, 1.0, 20.0):
        head = linear(sizes, outputs, scale)
        expected = world_by_world(head, concepts)
        for found in (through_linear(head, concepts), through_any(head, concepts)):
            assert [p.shape for p in found] == [(9, size) for size in outputs]
            for mine, wanted in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine, wanted, atol=1e-8)
    rule = rule_head(RULE)
    found = through_rule(RULE, evidence().concept_probabilities)
    for mine, wanted in zip(found, world_by_world(rule, evidence().concept_probabilities), strict=True):
        np.testing.assert_allclose(mine, wanted, atol=1e-12)


def test_long_halves_are_interpolated_within_the_error():
    sizes = (2,) * 14
    head = linear(sizes, (2, 2), 0.4)
    concepts = [rng_for(2, "long", place).dirichlet(np.ones(2), 3) for place in range(14)]
    exact = through_any(head, concepts)
    for error in (1e-3, 1e-6, 1e-9):
        for mine, wanted in zip(through_linear(head, concepts, error), exact, strict=True):
            assert np.abs(mine - wanted).max() <= error


def test_worlds_that_are_too_many_are_refused(monkeypatch):
    concepts = [np.full((2, 2), 0.5)] * 5
    monkeypatch.setattr("assay.diagnosis.propagation.MOST_WORLDS", 32)
    assert len(through_any(linear((2,) * 5, (2,)), concepts)) == 1
    with pytest.raises(TooLarge, match="64 worlds of 6 concepts are too many to ask a head about \\(at most 32\\)"):
        through_any(linear((2,) * 6, (2,)), [*concepts, concepts[0]])
    monkeypatch.setattr("assay.diagnosis.propagation.MOST_HALF", 7)
    with pytest.raises(TooLarge, match="5 concepts are too many for an exact logistic head"):
        through_linear(linear((2,) * 5, (2,)), concepts)


def test_parts_of_worlds_have_the_last_concept_fastest():
    first, second = np.array([[0.25, 0.75]]), np.array([[0.5, 0.3, 0.2]])
    np.testing.assert_allclose(_joint([first, second]), [[0.125, 0.075, 0.05, 0.375, 0.225, 0.15]])
    assert _sums([np.array([1.0, 2.0]), np.array([10.0, 20.0, 30.0])]).tolist() == [11, 21, 31, 12, 22, 32]
    assert [_half(sizes) for sizes in ((4,), (2, 2), (2, 2, 2, 2), (100, 2, 2), (2, 2, 100), (2, 3, 6, 1))] == [
        1,
        1,
        2,
        1,
        2,
        2,
    ]
    chances = [np.array([[0.2, 0.8], [1.0, 0.0]]), np.array([[0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])]
    np.testing.assert_allclose(through_and(chances), [0.24, 0.0])
    np.testing.assert_allclose(through_and(chances, [0, 2]), [0.12, 0.3])


def test_scalings_are_of_each_label_and_leave_what_falls_with_accuracy():
    rng = rng_for(0, "scalings")
    truth = np.stack([rng.integers(0, size, 500) for size in (2, 3)], axis=1)
    labels = [rng.dirichlet(np.ones(size), 500) + 0.5 * np.eye(size)[truth[:, i]] for i, size in enumerate((2, 3))]
    labels = [p / p.sum(axis=1, keepdims=True) for p in labels]
    first, second = fit_scalings(labels, truth)
    assert first == fit_scaling(labels[0], truth[:, 0]) and second == fit_scaling(labels[1], truth[:, 1])
    assert first.shift != 0 and second.shift == 0 and second.slope != 1

    def loss(scaling, p, codes):
        return -np.log(scaling(p)[np.arange(500), codes]).mean()

    for scaling, p, codes in ((first, labels[0], truth[:, 0]), (second, labels[1], truth[:, 1])):
        least = loss(scaling, p, codes)
        steps = [(0.02, 0), (-0.02, 0), *([(0, 0.02), (0, -0.02)] if p.shape[1] == 2 else [])]
        assert all(loss(Scaling(scaling.slope + a, scaling.shift + b), p, codes) > least for a, b in steps)
    assert fit_scaling(labels[0], 1 - truth[:, 0]) == Scaling()
    assert Scaling(1.0, 0.5)(np.array([[0.5, 0.5]]))[0, 1] == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))
    assert Scaling(2.0, 0.5).to_dict() == {"slope": 2.0, "shift": 0.5}


def test_information_of_unequal_classes_by_neighbours():
    from scipy.special import digamma

    rng = rng_for(0, "neighbours")
    codes = np.repeat([0, 1, 2, 3], [30, 4, 1, 2])  # of one example there is no neighbour; of two there is one
    numbers = rng.normal(size=(37, 2)) + codes[:, None]
    blur = Blur(3, 0.02)
    noise = rng_for(3, "blur", "x", 1).uniform(-0.5, 0.5, (37, 2))
    points = numbers + 0.02 * noise
    assert blur(numbers, "x", 1).tolist() == points.tolist() and Blur().precision == 0.01
    used = np.flatnonzero(codes != 2)
    terms = []
    for row in used:
        apart = np.abs(points - points[row]).max(axis=1)
        mine = np.sort(apart[codes == codes[row]])
        near = min(5, len(mine) - 1)
        within = int((apart[used] < mine[near]).sum())
        terms.append(digamma(near) - digamma(len(mine)) - digamma(within))
    assert mutual_information_knn(numbers, codes, blur, "x", 1) == pytest.approx(digamma(36) + np.mean(terms))
    assert mutual_information_knn(np.arange(3.0), np.arange(3), blur) == 0.0
    assert entropy(np.array([5, 5, 7, 9])) == pytest.approx(1.5 * math.log(2)) and entropy(np.array([])) == 0.0
    assert mutual_information(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])) == pytest.approx(0.2157615)
