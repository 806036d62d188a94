"""Metrics of what is not regular: several labels that differ, gaps and silence at once, rows that stand for many."""

import math
from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.concepts import Concept, ConceptSpace, Slot, bits
from assay.errors import DataError
from assay.logic import Constraint, Knowledge, parse
from assay.metrics import (
    METRICS,
    Between,
    Evidence,
    Score,
    accuracy_by_region,
    balanced_accuracy,
    codes_of,
    confusion,
    expected_calibration_error,
    format_score,
    gather,
    mean_score,
    score,
    uniform_guesser,
)
from assay.metrics.calibration import _interval, _over_columns, calibration_interval
from assay.metrics.concept_collapse import (
    block_tables,
    collapse_by_group,
    collapse_interval,
    collapse_of_vectors,
    joint_collapse_interval,
    object_tables,
)
from assay.metrics.consistency import set_f1_of
from assay.metrics.quality import _of_concepts, _of_groups, _of_labels, _of_true_labels, occurring
from assay.metrics.random_guesser import frequencies
from assay.metrics.scoring import score_with_resamples
from assay.metrics.transposed import transpose
from assay.predictions import Answer
from assay.seeds import rng_for
from tests.predictors import predictions
from tests.toys import Shelf, written

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("m", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "s": "n + m"}, [Constraint("k", parse("n <= m or a"))])


def evidence(knowledge=KNOWLEDGE, rows=60, seed=0, wrong=0.3):
    rng = rng_for(seed, "unlike rows", rows)
    sizes = np.array(knowledge.space.sizes)
    truth = rng.integers(0, sizes, (rows, len(sizes)))
    said = np.where(rng.random(truth.shape) < wrong, rng.integers(0, sizes, truth.shape), truth)
    labels = knowledge.labels_of(truth)
    spoken = np.where(rng.random(labels.shape) < 0.8, knowledge.labels_of(said), 0)
    nothing = (None,) * labels.shape[1], (None,) * len(sizes)
    return Evidence(knowledge, "test", labels, truth, spoken, said, *nothing)


def holed(held):
    """The same with some true concepts unknown and some answers missing, in different places."""
    truth, said = held.concepts.copy(), held.predicted_concepts.copy()
    truth[::7, 0], truth[3::11, 1], said[::5, 2], said[1::13, 0] = -1, -1, -1, -1
    return replace(held, concepts=truth, predicted_concepts=said)


# plain functions


def test_codes_come_in_tuples_too_and_are_no_less_than_minus_one():
    tables = [np.array([[0.1, 0.9], [0.6, 0.4]]), np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])]
    assert codes_of(tables).tolist() == codes_of(tuple(tables)).tolist() == [[1, 2], [0, 1]]
    assert codes_of([[-1.0], [2.0]]).tolist() == [[-1], [2]] and codes_of([[3, -1]]).tolist() == [[3, -1]]
    for wrong in ([0, -2], [[0, 1], [-3, 0]], [0.5], [math.inf]):
        with pytest.raises(DataError, match="codes must be whole numbers from 0, or -1"):
            codes_of(wrong)
    with pytest.raises(DataError, match="in one or two dimensions"):
        codes_of(np.zeros((2, 2, 2)))


def test_as_many_columns_are_needed_as_there_are_true_ones():
    for function in (assay.accuracy, assay.exact_match, assay.label_f1, assay.collapse):
        with pytest.raises(DataError, match=r"not \(2, 2\) for \(2, 1\)"):
            function([0, 1], [[0, 1], [1, 1]])


def test_values_that_only_occur_or_are_only_said():
    assert assay.concept_f1([0, 0, 1], [0, 3, 1]) == pytest.approx(
        (2 / 3 + 1) / 2
    )  # 3 is said, and no value of its own
    assert assay.label_f1([2, 2, 0], [2, 0, 0]) == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert assay.label_f1([0, 0, 0, 1], [0, 0, 1, 1]) == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert assay.collapse([0, 0, 1], [0, 3, 0]) == pytest.approx(1 / 3)
    assert assay.collapse([[0, 2], [1, 2]], [[0, 2], [0, -1]]) == pytest.approx((1 / 2 + 0) / 2)


def test_groups_pool_what_is_known_of_their_columns():
    truth, said = [[0, 1, -1], [1, -1, -1], [1, 0, -1]], [[0, 0, 1], [-1, 1, 1], [1, 0, 0]]
    pooled = assay.concept_f1(truth, said, groups=[[1, 0], [2]])
    # of 0: two true, two said right and one said wrongly; of 1: three true, one said right
    assert pooled == pytest.approx((4 / 5 + 2 / 4) / 2)
    assert math.isnan(assay.concept_f1(truth, said, groups=[[2]])) and math.isnan(
        assay.concept_f1(truth, said, groups=[])
    )
    assert assay.accuracy(truth, said) == 3 / 5 and assay.exact_match(truth, said) == 1 / 3


def test_a_rule_is_followed_by_all_labels_of_an_example():
    concepts = [[1, 1, 2], [0, 2, 0], [1, 0, 0], [1, -1, 0], [1, 2, 2]]
    labels = [[1, 3], [0, 3], [1, 0], [1, 1], [1, 4]]
    assert assay.rule_consistency(labels, concepts, KNOWLEDGE) == 2 / 4
    with pytest.raises(DataError, match="expected 2 columns of labels and 3 of concepts, with as many rows"):
        assay.rule_consistency(labels[:4], concepts, KNOWLEDGE)


def test_a_running_metric_hands_its_options_on_every_time():
    metric = assay.RunningMetric(assay.concept_f1, groups=[[0, 1]])
    assert metric([[0, 1]], [[0, 0]]) == assay.concept_f1([[0, 0]], [[0, 1]], groups=[[0, 1]])
    assert metric([[1, 1]], [[1, 1]]) == 1.0
    whole = assay.concept_f1([[0, 0], [1, 1]], [[0, 1], [1, 1]], groups=[[0, 1]])
    assert metric.compute() == whole != assay.concept_f1([[0, 0], [1, 1]], [[0, 1], [1, 1]])
    assert repr(metric) == "RunningMetric(concept_f1, 2 examples)"


# quality


def test_confusions_are_weighted_and_leave_out_what_is_not_known():
    truth, said = np.array([2, -1, 0, 2, 1, 0]), np.array([0, 1, -1, 2, 2, 0])
    weights = np.array([5, 100, 3, 7, 11, 13])
    assert confusion(truth, said, 3, weights).tolist() == [[13, 0, 0, 3], [0, 0, 11, 0], [5, 0, 7, 0]]
    assert confusion(truth, said, 3).tolist() == [[1, 0, 0, 1], [0, 0, 1, 0], [1, 0, 1, 0]]


def test_parts_of_f1_are_columns_with_their_own_values():
    held = holed(evidence())
    y, s = _of_labels(held, occurring)
    assert y.predicted.tolist() == held.predicted_labels[:, [0]].tolist() and (y.size, s.size) == (2, 5)
    assert (
        s.predicted.tolist() == held.predicted_labels[:, [1]].tolist()
        and s.truth.tolist() == held.labels[:, [1]].tolist()
    )
    (only,) = _of_true_labels(held)
    assert only.values.tolist() == [1] and only.truth.tolist() == held.labels[:, [0]].tolist()
    parts = _of_concepts(held)
    assert [part.values.tolist() for part in parts] == [[1], [0, 1, 2], [0, 1, 2]] and [p.size for p in parts] == [
        2,
        3,
        3,
    ]
    for place, part in enumerate(parts):
        gone = held.concepts[:, place] < 0
        assert part.truth[:, 0].tolist() == held.concepts[:, place].tolist()
        assert part.predicted[:, 0].tolist() == np.where(gone, -1, held.predicted_concepts[:, place]).tolist()
    nowhere = replace(held, concepts=np.concatenate([np.full((60, 1), -1), held.concepts[:, 1:]], axis=1))
    assert _of_concepts(nowhere)[0].values.tolist() == [] and math.isnan(_of_concepts(nowhere)[0].f1)
    by_two = METRICS["concept_mean_f1"](nowhere)
    assert by_two == pytest.approx(np.mean([part.f1 for part in parts[1:]]))


def test_groups_of_several_concepts_are_weighted_row_by_row():
    shared = Knowledge.of(bits(["a", "b"], shared=True), {"y": "a and b"})
    truth, said = np.array([[0, 1], [1, 1], [-1, 0]]), np.array([[0, 0], [1, 1], [1, 1]])
    labels = np.zeros((3, 1), dtype=np.int64)
    held = Evidence(shared, "test", labels, truth, labels, said, (None,), (None, None), counts=np.array([10, 200, 3]))
    (part,) = _of_groups(held, occurring)
    # 0 is true 13 times and said 20 times, ten of them rightly; 1 is true 410 times and said 403 times
    assert part.f1 == pytest.approx((2 * 10 / 33 + 2 * 400 / 813) / 2)
    assert METRICS["concept_f1"](held) == pytest.approx(part.f1)
    assert METRICS["concept_f1"](held) == pytest.approx(METRICS["concept_f1"](held.singly))


def test_shares_of_concepts_are_of_those_known_and_spoken_of():
    held = holed(evidence())
    silent = held.predicted_concepts.copy()
    silent[:, 1] = -1
    held = replace(held, predicted_concepts=silent)
    expected = []
    for truth, said in zip(held.concepts[:, [0, 2]], silent[:, [0, 2]], strict=True):
        known = [t == p for t, p in zip(truth, said, strict=True) if t >= 0]
        expected.append(np.mean(known))
    assert METRICS["concept_accuracy"].values(held) == pytest.approx(expected)
    assert np.isnan(METRICS["concept_exact"].values(held)).all()  # of n nothing is ever said
    exact = METRICS["concept_exact"].values(holed(evidence()))
    truth, said = holed(evidence()).concepts, holed(evidence()).predicted_concepts
    wanted = [math.nan if (t < 0).any() else float((t == p).all()) for t, p in zip(truth, said, strict=True)]
    assert exact == pytest.approx(wanted, nan_ok=True) and 0 < np.nanmean(exact) < 1


# the rule, regions and constraints


def test_things_that_are_there_are_counted_on_both_sides():
    truth, said = (
        np.array([[1, 0, 2], [0, 0, 0], [0, 0, 1], [2, 1, 0]]),
        np.array([[1, 1, 0], [0, 0, 0], [0, 0, 0], [2, 2, 0]]),
    )
    assert set_f1_of(truth, said, np.zeros(3)).tolist() == [0.5, 1.0, 0.0, 0.5]
    assert set_f1_of(truth, said, np.array([-1, -1, -1])).tolist() == pytest.approx([1 / 3, 1.0, 2 / 3, 2 / 3])


def test_constraints_are_broken_by_what_is_said_of_an_example():
    held = holed(evidence())
    broken, expected = METRICS["mean_violations"].values(held), []
    for said in held.predicted_concepts.tolist():
        expected.append(math.nan if min(said) < 0 else float(said[1] > said[2] and not said[0]))
    assert broken == pytest.approx(expected, nan_ok=True) and np.nansum(broken) > 0
    assert METRICS["violation_rate"].values(held) == pytest.approx(expected, nan_ok=True)
    f1, sane, room = (METRICS[name].values(held) for name in ("set_f1", "sane_f1", "f1_room"))
    whole = (held.concepts >= 0).all(axis=1) & (held.predicted_concepts >= 0).all(axis=1)
    assert np.isnan(f1).tolist() == (~whole).tolist()
    fine = np.array(expected) == 0
    assert sane[whole & fine].tolist() == f1[whole & fine].tolist() and set(room[whole & fine].tolist()) == {0.0}
    bad = whole & (np.array(expected) == 1)
    assert bad.any() and set(sane[bad].tolist()) == {0.0} and room[bad].tolist() == f1[bad].tolist()
    usual = METRICS["violations_vs_random"].values(held)
    assert usual == pytest.approx(
        np.array(expected) / (0.5 * 3 / 9), nan_ok=True
    )  # half are not a, three of nine pairs fall


def test_accuracy_of_regions_and_values_is_weighted():
    right, weights = np.array([True, False, True, True]), np.array([1, 2, 4, 8])
    inside = np.array([[True, False, True], [True, False, False], [False, False, True], [True, False, True]])
    assert accuracy_by_region(right, inside, weights).tolist() == pytest.approx([9 / 11, math.nan, 1.0], nan_ok=True)
    truth, said = np.array([0, 0, 2, 2]), np.array([0, 1, 2, 0])
    assert balanced_accuracy(truth, said, weights) == pytest.approx((1 / 3 + 4 / 12) / 2)
    assert balanced_accuracy(truth, said) == 0.5


def test_regions_are_those_of_each_label_by_itself():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b", "z": "b or c"})
    held = evidence(knowledge, rows=200, wrong=0.2)
    for name, regions in (("near_accuracy", "in_types"), ("variant_accuracy", "in_variants")):
        by_label = []
        for place, side in enumerate(held.sides):
            hits = held.labels[:, place] == held.predicted_labels[:, place]
            parts = [hits[rows].mean() for rows in getattr(side, regions).T if rows.any()]
            by_label.append(np.mean(parts))
        assert METRICS[name](held) == pytest.approx(np.mean(by_label)) and by_label[0] != by_label[1]
    right = held.labels == held.predicted_labels
    far = [right[side.far, place].mean() for place, side in enumerate(held.sides) if side.far.any()]
    assert METRICS["far_accuracy"](held) == pytest.approx(np.mean(far))
    each = [balanced_accuracy(held.labels[:, place], held.predicted_labels[:, place]) for place in (0, 1)]
    assert METRICS["balanced_accuracy"](held) == pytest.approx(np.mean(each)) and each[0] != each[1]
    low, high = METRICS["balanced_accuracy"].interval(held)
    assert low < np.mean(each) < high


# calibration


def spread(codes, size, *purpose):
    chances = rng_for(0, *purpose).dirichlet(np.full(size, 0.6), len(codes))
    return np.where(np.arange(size) == codes[:, None], chances + 1, chances) / 2


def calibration_by_hand(truth, chances, bins):
    gaps = [0.0] * bins
    for code, row in zip(truth.tolist(), chances.tolist(), strict=True):
        sure = max(row)
        gaps[max(0, math.ceil(sure * bins) - 1)] += (row.index(sure) == code) - sure
    return sum(map(abs, gaps)) / len(truth)


@pytest.mark.parametrize("bins", [3, 10, 17])
def test_calibration_in_so_many_bins(bins):
    held = evidence()
    truth, chances = held.concepts[:, 1], spread(held.predicted_concepts[:, 1], 3, "bins")
    assert expected_calibration_error(truth, chances, bins) == pytest.approx(calibration_by_hand(truth, chances, bins))
    gaps = truth.copy()
    gaps[::4] = -1
    some = gaps >= 0
    wanted = calibration_by_hand(truth[some], chances[some], bins)
    assert expected_calibration_error(gaps, chances, bins) == pytest.approx(wanted)


def test_calibration_is_of_the_columns_that_have_probabilities():
    held = holed(evidence())
    tables = (None, spread(held.predicted_concepts[:, 1], 3, 1), spread(held.predicted_concepts[:, 2], 3, 2))
    truth = held.concepts
    each = []
    for place in (1, 2):
        known = truth[:, place] >= 0
        each.append(calibration_by_hand(truth[known, place], tables[place][known], 10))
    assert _over_columns(truth, tables) == pytest.approx(np.mean(each))
    whole = (truth >= 0).all(axis=1)
    sure = np.stack([table[whole].max(axis=1) for table in tables[1:]], axis=1)
    right = np.stack([tables[i][whole].argmax(axis=1) == truth[whole, i] for i in (1, 2)], axis=1)
    assert _interval(truth, tables) == calibration_interval(sure, right)
    nothing = np.full_like(truth, -1)
    nothing[:, 1] = truth[:, 1]
    known = truth[:, 1] >= 0
    assert _over_columns(nothing, tables) == pytest.approx(calibration_by_hand(truth[known, 1], tables[1][known], 10))
    assert all(map(math.isnan, _interval(nothing, tables))) and all(map(math.isnan, _interval(truth, (None,) * 3)))


# collapse


def two_objects():
    names = [(f"o{number}.{kind}", values) for number in (1, 2) for kind, values in (("s", "xyz"), ("c", "rb"))]
    slots = tuple(Slot(f"o{number}", "object", ("s", "c")) for number in (1, 2))
    space = ConceptSpace(tuple(Concept(name, tuple(values)) for name, values in names), slots)
    return Knowledge.of(space, {"same": "o1.s == o2.s", "red": "o1.c == 'r'"})


def test_rows_of_objects_stand_for_as_many_examples():
    held = evidence(two_objects(), rows=4)
    held = replace(held, counts=np.array([2, 30, 5, 7]))
    held.concepts[2, 1] = -1  # the third row is not wholly known
    ((truth, said, weights),) = object_tables(held)
    rows = [0, 1, 3]
    assert truth.tolist() == [*held.concepts[rows][:, :2].tolist(), *held.concepts[rows][:, 2:].tolist()]
    assert said.tolist() == [
        *held.predicted_concepts[rows][:, :2].tolist(),
        *held.predicted_concepts[rows][:, 2:].tolist(),
    ]
    assert weights.tolist() == [2, 30, 7, 2, 30, 7]
    same, red = block_tables(held)
    assert same[0].tolist() == held.concepts[rows][:, [0, 2]].tolist() and same[2].tolist() == [2, 30, 7]
    assert red[1].tolist() == held.predicted_concepts[rows][:, [1]].tolist()
    blocks = [collapse_of_vectors(*table[:2]) for table in (same, red)]
    assert METRICS["collapse_block"](held) == pytest.approx(np.mean(blocks))
    assert METRICS["collapse_object"](held) == pytest.approx(collapse_of_vectors(truth, said))


def test_what_is_not_wholly_said_is_no_vector():
    truth, said = np.array([[0, 1], [1, 1], [0, 0]]), np.array([[0, 1], [1, -1], [-1, -1]])
    assert collapse_of_vectors(truth, said) == pytest.approx(2 / 3)
    assert collapse_of_vectors(truth, np.full((3, 2), -1)) == 1.0
    assert math.isnan(METRICS["collapse_joint"](replace(evidence(), predicted_concepts=np.array([[0, -1, 0]] * 60))))


def test_groups_of_which_something_is_known_have_a_collapse():
    held = evidence()
    truth = held.concepts.copy()
    truth[:, 2], truth[1:, 1] = -1, -1
    held = replace(held, concepts=truth)
    found = collapse_by_group(held)
    said = set(held.predicted_concepts[:, 0].tolist())
    assert list(found) == ["a", "n"] and found["a"] == 1 - len(said) / len(said | set(truth[:, 0].tolist()))
    assert found["n"] == (0.0 if held.predicted_concepts[0, 1] == truth[0, 1] else 0.5)
    assert METRICS["collapse"](held) == pytest.approx(np.mean(list(found.values())))
    low, high = METRICS["collapse"].interval(held)
    bounds = [collapse_interval(truth[:, [i]], held.judged_concepts[:, [i]]) for i in (0, 1)]
    values = np.array(list(found.values()))
    below, above = (np.sqrt(((np.array(side) - values) ** 2).sum()) / 2 for side in zip(*bounds, strict=True))
    assert (low, high) == pytest.approx((values.mean() - below, values.mean() + above))


def test_leaving_out_each_example_in_turn_by_a_plain_loop():
    rng = rng_for(0, "leave out")
    truth = rng.integers(0, 5, (25, 2))  # many vectors stand in one example only, some of them only as answers
    said = np.where(rng.random((25, 2)) < 0.4, rng.integers(0, 5, (25, 2)), truth)
    said[4, 1] = -1
    without = []
    for row in range(25):
        rest = np.arange(25) != row
        without.append(1 - collapse_of_vectors(truth[rest], said[rest]))
    value = collapse_of_vectors(truth, said)
    error = math.sqrt(24 * np.var(without))
    assert joint_collapse_interval(truth, said) == pytest.approx(assay.metrics.interval.from_error(value, error, 25))
    often = np.array([3] + [1] * 24)
    repeated = np.repeat(np.arange(25), often)
    assert joint_collapse_interval(truth, said, often) == pytest.approx(
        joint_collapse_interval(truth[repeated], said[repeated])
    )


# evidence and scores


def test_rows_that_differ_in_any_column_are_not_equal():
    held = evidence(rows=6)
    same = held.take(np.array([0] * 6))
    for field in ("labels", "concepts", "predicted_labels", "predicted_concepts"):
        codes = getattr(same, field).copy()
        codes[2, -1] = 1 - min(1, codes[2, -1])
        few = replace(same, **{field: codes}).distinct
        assert sorted(few.weights.tolist()) == [1, 5] and few.examples == 6, field
    soft = replace(same, concept_probabilities=tuple(np.full((6, size), 1 / size) for size in SPACE.sizes))
    assert soft.distinct.concept_probabilities == (None,) * 3 and soft.distinct.label_probabilities == (None,) * 2


def test_rows_taken_keep_their_counts_sides_and_probabilities():
    held = evidence(rows=5)
    chances = tuple(np.arange(5 * size).reshape(5, size) for size in SPACE.sizes)
    held = replace(held, counts=np.array([1, 20, 300, 4, 5]), concept_probabilities=chances)
    assert held.sides and held.examples == 330 and len(held) == 5
    for rows in (np.array([4, 2, 2]), np.array([False, True, True, False, True])):
        some = held.take(rows)
        assert some.counts.tolist() == held.counts[rows].tolist() and some.labels.tolist() == held.labels[rows].tolist()
        assert [p.tolist() for p in some.concept_probabilities] == [p[rows].tolist() for p in chances]
        for side, whole in zip(some.sides, held.sides, strict=True):
            for field in ("in_variants", "in_types", "placed", "far"):
                assert getattr(side, field).tolist() == getattr(whole, field)[rows].tolist()


def test_examples_lie_nowhere_where_a_concept_is_not_known():
    held = holed(evidence(rows=300))
    gone = (held.concepts < 0).any(axis=1)
    for side in held.sides:
        assert side.placed.tolist() == (~gone).tolist()
        assert not side.in_types[gone].any() and not side.in_variants[gone].any() and not side.far[gone].any()
    full = evidence(rows=300)
    for side, whole in zip(held.sides, full.sides, strict=True):
        assert side.in_types[~gone].tolist() == whole.in_types[~gone].tolist()
        assert side.far[~gone].tolist() == whole.far[~gone].tolist()


def test_concepts_are_transposed_where_each_object_has_a_value_of_its_own():
    names = [(f"o{number}.{kind}", values) for number in (1, 2, 3) for kind, values in (("s", "xyz"), ("c", "rgb"))]
    slots = tuple(Slot(f"o{number}", "object", ("s", "c")) for number in (1, 2, 3))
    space = ConceptSpace(tuple(Concept(name, tuple(values)) for name, values in names), slots)
    held = evidence(Knowledge.of(space, {"same": "o1.s == o2.s"}), rows=7)
    tables = tuple(rng_for(0, "transposed", place).dirichlet(np.ones(3), 7) for place in range(6))
    held = replace(held, concept_probabilities=tables)
    found = transpose(held).predicted_concepts
    for row in range(7):
        for kind in range(2):
            for value in range(3):
                likely = [tables[2 * number + kind][row, value] for number in range(3)]
                assert found[row, 2 * value + kind] == likely.index(max(likely))
    assert held.predicted_concepts.tolist() != found.tolist()
    for missing in range(6):
        assert transpose(replace(held, concept_probabilities=(*tables[:missing], None, *tables[missing + 1 :]))) is None
    for name, plain in (
        ("rsbench_concept_f1_transposed", "rsbench_concept_f1"),
        ("collapse_object_transposed", "collapse_object"),
    ):
        assert METRICS[name](held) == METRICS[plain](transpose(held)) != METRICS[plain](held)
        assert METRICS[name].interval(held) == METRICS[plain].interval(METRICS[plain].rows_of(transpose(held)))


def test_scores_of_weighted_values_count_the_examples():
    found = mean_score("x", np.array([1.0, np.nan, 0.25]), np.array([30, 5, 10]))
    assert (found.value, found.examples) == (pytest.approx(32.5 / 40), 45)
    assert found.low < found.value < found.high and not found.few and found.applies
    assert mean_score("x", np.array([1.0, 0.0, 1.0])).examples == 3


def test_scores_in_words_with_and_without_their_interval():
    found = Score("x", 0.125, 0.1, math.inf, 30)
    assert format_score(found) == "0.12 (0.10–inf)" and format_score(found, interval=False) == "0.12"
    assert format_score(Score("x", math.nan, 0.0, 1.0, 30)) == format_score(None) == "–"
    assert found.to_dict() == {"metric": "x", "value": 0.125, "low": 0.1, "high": None, "examples": 30}
    assert not found.few and Score("x", 0.5, 0.4, 0.6, 29).few


def test_a_seed_and_a_number_of_resamples_are_taken_as_given(monkeypatch):
    held = evidence(rows=80)
    drawn = []

    def spread_of(rows):
        drawn.append(rows)
        return float(rows.predicted_concepts[:, 1].mean() / 2)

    monkeypatch.setitem(assay.metrics.metric.METRICS.entries, "mine", METRICS.entries["label_f1"])
    mine = assay.metrics.metric.Metric("mine", "", "higher", overall=spread_of)
    monkeypatch.setattr(type(METRICS), "__getitem__", lambda self, name: mine)
    first, again, other = (score(held, ["mine"], resamples=12, seed=seed)["mine"] for seed in (1, 1, 2))
    assert first == again and (first.low, first.high) != (other.low, other.high) and first.value == other.value
    assert len(drawn) == 3 * 13 and all(len(rows) == 80 for rows in drawn)


def test_a_label_of_which_nothing_is_said_is_named(tmp_path):
    data = written(Shelf(), tmp_path / "data", train=4, test=9)["test"]
    said = predictions(data, data.labels, data.concepts)
    for gone, kept in (("same", "pile"), ("pile", "same")):
        with pytest.raises(DataError, match=f"say nothing of label '{gone}'; add a column 'label_{gone}'"):
            gather(data, replace(said, labels={kept: said.labels[kept]}))
    with pytest.raises(DataError, match=r"has no example 77 \(it has 9\)"):
        gather(data, replace(said, index=np.array([*range(4), 77, 5, 6, 7, 8])))
    rows = np.array([8, 0, 5])
    some = replace(
        said,
        index=data.index[rows],
        labels={
            "pile": Answer.of(np.array([[0.3, 0.7], [0.9, 0.1], [0.2, 0.8]])),
            "same": Answer(np.array([1, -1, 0])),
        },
        concepts={"two": Answer.of(np.eye(3)[[2, 0, 1]]), "one": Answer(np.array([0, 1, -1]))},
    )
    found = gather(data, some)
    assert (
        found.labels.tolist() == data.labels[rows].tolist() and found.concepts.tolist() == data.concepts[rows].tolist()
    )
    assert found.predicted_labels.tolist() == [[1, 1], [-1, 0], [0, 1]]
    assert found.predicted_concepts.tolist() == [[0, 2, -1], [1, 0, -1], [-1, 1, -1]]
    assert found.label_probabilities[0] is None and found.label_probabilities[1].tolist()[1] == [0.9, 0.1]
    assert [p is None for p in found.concept_probabilities] == [True, False, True]
    assert (
        found.answered == (0, 1)
        and repr(found) == "Evidence(split test: 3 examples, 2 labels, 2 of 3 concepts predicted)"
    )


def test_a_guesser_is_asked_about_some_rules_or_none():
    limits = [Constraint("k", parse("n <= m")), Constraint("l", parse("a")), Constraint("q", parse("m > 0 or a"))]
    knowledge = Knowledge.of(SPACE, {"y": "a"}, limits)
    worlds = SPACE.all_codes()
    broken = np.stack(
        [worlds[:, 1] > worlds[:, 2], worlds[:, 0] == 0, (worlds[:, 2] == 0) & (worlds[:, 0] == 0)], axis=1
    )
    guesser = uniform_guesser(knowledge)
    np.testing.assert_allclose(guesser.rule_rates, broken.mean(axis=0))
    assert guesser.mean_violations == pytest.approx(broken.sum(axis=1).mean())
    for names, places in ((None, [0, 1, 2]), (["k"], [0]), (["q", "k"], [2, 0]), ([], [])):
        found = guesser.contradiction_rate(names)
        rate = broken[:, places].any(axis=1).mean() if places else 0.0
        assert found.exact and found.low == pytest.approx(rate)
    often = frequencies(np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0], [0, 0, 1]]), SPACE)
    assert [p.tolist() for p in often] == [[[1.0, 0.0]], [[0.5, 0.5, 0.0]], [[0.25, 0.75, 0.0]]]
    mine = replace(guesser, distributions=often)
    truth = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 1]])
    assert mine.exact_match(truth) == pytest.approx((0.5 * 0.75 + 0.5 * 0.25 + 0) / 3)
    assert not Between(0.2, 0.3).exact


def test_resamples_without_a_value_are_left_out():
    found = score_with_resamples("x", 0.5, [0.4, math.nan, 0.6, 0.45], 9)
    error = float(np.std([0.4, 0.6, 0.45]))
    assert (found.low, found.high) == pytest.approx(assay.metrics.interval.from_error(0.5, error, 9))
    found = score_with_resamples("x", 0.5, [0.4, math.nan, 1.2], 9)  # a value above 1 is no share
    assert (found.low, found.high) == pytest.approx((0.5 - 1.96 * 0.4, 0.5 + 1.96 * 0.4))
