"""From evidence to a verdict: what the model has learned, in numbers and in words.

`diagnose_run` and `diagnose_predictions` give a `Diagnosis`. A kind of finding is a `Check` among `FINDINGS`; its
numbers are `Thresholds`. Beside them: interventions (`intervene`), leakage, error attribution, and the scores of
discovered units and of saliency maps.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.diagnosis.attribution import Attribution as Attribution
    from assay.diagnosis.attribution import attribute as attribute
    from assay.diagnosis.case import Case as Case
    from assay.diagnosis.case import case_of as case_of
    from assay.diagnosis.case import new_worlds as new_worlds
    from assay.diagnosis.check import FINDINGS as FINDINGS
    from assay.diagnosis.check import Check as Check
    from assay.diagnosis.check import Claim as Claim
    from assay.diagnosis.check import Finding as Finding
    from assay.diagnosis.check import Found as Found
    from assay.diagnosis.check import Tone as Tone
    from assay.diagnosis.check import described as described
    from assay.diagnosis.check import kinds_in_order as kinds_in_order
    from assay.diagnosis.check import meaning_of as meaning_of
    from assay.diagnosis.check import read_thresholds as read_thresholds
    from assay.diagnosis.check import tone_of as tone_of
    from assay.diagnosis.concepts import STATES as STATES
    from assay.diagnosis.concepts import ConceptState as ConceptState
    from assay.diagnosis.concepts import used_concepts as used_concepts
    from assay.diagnosis.counterfactual import Counterfactuals as Counterfactuals
    from assay.diagnosis.counterfactual import Effects as Effects
    from assay.diagnosis.counterfactual import counterfactuals as counterfactuals
    from assay.diagnosis.headlines import Headline as Headline
    from assay.diagnosis.headlines import headline as headline
    from assay.diagnosis.identifiable import Identifiability as Identifiability
    from assay.diagnosis.identifiable import identifiability as identifiability
    from assay.diagnosis.interventions.automation import coverage_curve as coverage_curve
    from assay.diagnosis.interventions.curve import Answering as Answering
    from assay.diagnosis.interventions.curve import Trial as Trial
    from assay.diagnosis.interventions.curve import Truth as Truth
    from assay.diagnosis.interventions.curve import budgets_from as budgets_from
    from assay.diagnosis.interventions.intervene import InterventionPlan as InterventionPlan
    from assay.diagnosis.interventions.intervene import InterventionResult as InterventionResult
    from assay.diagnosis.interventions.intervene import intervene as intervene
    from assay.diagnosis.interventions.policies import POLICIES as POLICIES
    from assay.diagnosis.interventions.policies import policy_of as policy_of
    from assay.diagnosis.interventions.sources import answers_from as answers_from
    from assay.diagnosis.interventions.units import Budget as Budget
    from assay.diagnosis.interventions.units import Units as Units
    from assay.diagnosis.judging import TABLE_HEAD as TABLE_HEAD
    from assay.diagnosis.judging import cells_of as cells_of
    from assay.diagnosis.judging import judge as judge
    from assay.diagnosis.leaks import Leakage as Leakage
    from assay.diagnosis.leaks import leakage as leakage
    from assay.diagnosis.reliance import Reliance as Reliance
    from assay.diagnosis.reliance import Rights as Rights
    from assay.diagnosis.runs import diagnose_predictions as diagnose_predictions
    from assay.diagnosis.runs import diagnose_run as diagnose_run
    from assay.diagnosis.runs import taught_by as taught_by
    from assay.diagnosis.thresholds import DEFAULTS as DEFAULTS
    from assay.diagnosis.thresholds import Thresholds as Thresholds
    from assay.diagnosis.thresholds import Verdict as Verdict
    from assay.diagnosis.verdict import VERSION as VERSION
    from assay.diagnosis.verdict import Diagnosis as Diagnosis
    from assay.diagnosis.verdict import diagnose as diagnose
    from assay.diagnosis.views import SplitView as SplitView
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
