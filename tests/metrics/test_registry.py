"""Which metrics there are, which way is better, and which count equal rows once."""

from assay.metrics import METRICS, Metric, average_interval, calibration, interval, score
from assay.metrics.metric import overall, per_example

LOWER = {
    "collapse", "collapse_block", "collapse_joint", "collapse_object", "collapse_object_transposed", "concept_ece", "f1_room",
    "label_ece", "mean_violations", "violation_rate", "violations_vs_random",
}  # fmt: skip
NOT_COUNTED = {
    "closed_label_f1", "collapse_object_transposed", "concept_ece", "label_ece", "rsbench_concept_f1_transposed",
}  # fmt: skip
MEANS = {
    "concept_accuracy", "concept_exact", "f1_room", "label_accuracy", "label_exact", "mean_violations", "rule_consistency",
    "sane_f1", "set_f1", "violation_rate", "violations_vs_random",
}  # fmt: skip


def test_less_is_better_of_errors_and_collapse_and_more_of_all_else():
    assert {name for name in METRICS if METRICS[name].better == "lower"} == LOWER
    assert {METRICS[name].better for name in METRICS if name not in LOWER} == {"higher"} and len(list(METRICS)) == 30


def test_metrics_that_look_at_probabilities_see_every_example():
    assert {name for name in METRICS if not METRICS[name].counted} == NOT_COUNTED


def test_means_have_values_and_others_an_interval_of_their_own():
    assert {name for name in METRICS if METRICS[name].values is not None} == MEANS
    others = {name for name in METRICS if name not in MEANS}
    assert all(METRICS[name].interval is not None and METRICS[name].overall is not None for name in others)


def test_a_metric_of_yours_is_higher_the_better_and_sees_every_example_by_default(monkeypatch):
    monkeypatch.setattr(METRICS, "add", lambda *given: None)
    for metric in (
        per_example("mine", "words")(lambda evidence: None),
        overall("mine", "words")(lambda evidence: None),
    ):
        assert (
            isinstance(metric, Metric) and metric.better == "higher" and not metric.counted and metric.interval is None
        )
    assert (
        per_example("mine", "words", "lower", True)(len).counted
        and overall("mine", "w", "lower")(len).better == "lower"
    )


def test_constants_of_intervals():
    assert (score.NORMAL, score.RESAMPLES, score.FEWEST, calibration.BINS) == (1.96, 200, 30, 10)
    assert (interval.ADDED, average_interval.LEAST_TOGETHER) == (2, 0.01)
    assert (average_interval.FOR_VARIANCE, average_interval.FOR_BIAS) == (3.0, 0.5)
    assert abs(calibration.Z - 1.959964) < 1e-6
