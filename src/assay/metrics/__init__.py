"""Metrics: pure functions of evidence, the truth beside what a model says.

`gather` puts predictions beside a dataset's truth as `Evidence`, `score` takes any of `METRICS` of it with an interval.
The functions of one metric each take arrays; `wilson` and its like are intervals and tests of shares.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.metrics.boundary import RegionScore as RegionScore
    from assay.metrics.boundary import balanced_accuracy as balanced_accuracy
    from assay.metrics.boundary import region_scores as region_scores
    from assay.metrics.calibration import BINS as BINS
    from assay.metrics.calibration import expected_calibration_error as expected_calibration_error
    from assay.metrics.ceiling import Ceiling as Ceiling
    from assay.metrics.ceiling import ceilings as ceilings
    from assay.metrics.consistency import Violations as Violations
    from assay.metrics.consistency import violations_of as violations_of
    from assay.metrics.continual import stage_metrics as stage_metrics
    from assay.metrics.evidence import Evidence as Evidence
    from assay.metrics.evidence import gather as gather
    from assay.metrics.evidence import gather_from as gather_from
    from assay.metrics.functions import RunningMetric as RunningMetric
    from assay.metrics.functions import accuracy as accuracy
    from assay.metrics.functions import class_indices as class_indices
    from assay.metrics.functions import collapse as collapse
    from assay.metrics.functions import concept_f1 as concept_f1
    from assay.metrics.functions import exact_match as exact_match
    from assay.metrics.functions import label_f1 as label_f1
    from assay.metrics.functions import rule_consistency as rule_consistency
    from assay.metrics.interval import Between as Between
    from assay.metrics.interval import at_least as at_least
    from assay.metrics.interval import at_most as at_most
    from assay.metrics.interval import holm as holm
    from assay.metrics.interval import of_difference as of_difference
    from assay.metrics.interval import of_mean as of_mean
    from assay.metrics.interval import percent as percent
    from assay.metrics.interval import share_of as share_of
    from assay.metrics.interval import wilson as wilson
    from assay.metrics.metric import FEWEST as FEWEST
    from assay.metrics.metric import METRICS as METRICS
    from assay.metrics.metric import Metric as Metric
    from assay.metrics.metric import Score as Score
    from assay.metrics.metric import format_score as format_score
    from assay.metrics.metric import mean as mean
    from assay.metrics.metric import mean_score as mean_score
    from assay.metrics.metric import score as score
    from assay.metrics.quality import confusion as confusion
    from assay.metrics.random_guesser import frequencies as frequencies
    from assay.metrics.random_guesser import uniform_guesser as uniform_guesser
    from assay.metrics.rule_relation import RuleRelation as RuleRelation
    from assay.metrics.rule_relation import relations_in as relations_in
    from assay.metrics.rule_relation import worlds_of as worlds_of
    from assay.metrics.saliency import ExampleScores as ExampleScores
    from assay.metrics.saliency import RandomisationCheck as RandomisationCheck
    from assay.metrics.saliency import RandomisedStage as RandomisedStage
    from assay.metrics.saliency import SaliencyScore as SaliencyScore
    from assay.metrics.saliency import ScoredTarget as ScoredTarget
    from assay.metrics.unit_matching import ConceptValue as ConceptValue
    from assay.metrics.unit_matching import Readout as Readout
    from assay.metrics.unit_matching import UnitSplit as UnitSplit
    from assay.metrics.unit_matching import concept_values as concept_values
    from assay.metrics.unit_scores import MEANINGS as MEANINGS
    from assay.metrics.unit_scores import ChanceScore as ChanceScore
    from assay.metrics.unit_scores import UnitScores as UnitScores
    from assay.metrics.unit_scores import live_units as live_units
    from assay.metrics.unit_scores import score_stability as score_stability
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
