"""The diagnosis of a run, or of a predictions file that anyone wrote."""

import json
from collections.abc import Mapping
from dataclasses import replace

from assay.base import AssayError, Codes, DataError
from assay.contracts import PAIRS, Predictions, read_predictions
from assay.counting import Supervised
from assay.dataset import Dataset, provenance, training_worlds
from assay.diagnosis.counterfactual import Counterfactuals, counterfactuals
from assay.diagnosis.identifiable import READ_FROM, Identifiability, family_of, identifiability, supervision_of
from assay.diagnosis.reliance import reliance_of
from assay.diagnosis.thresholds import DEFAULTS, Thresholds, Verdict
from assay.diagnosis.verdict import Diagnosis, diagnose
from assay.logic import Knowledge
from assay.metrics import gather_from, relations_in
from assay.runs import PROGRAM, RunFolder, under_rule

NOTHING: Supervised = {}
_TAUGHT: dict[tuple[str, str], Identifiability | None] = {}
"""What the dataset that was last looked at can teach, by its fingerprint and what is supervised."""


def diagnose_run(
    run: RunFolder,
    dataset: Dataset,
    taught: Identifiability | None = None,
    thresholds: Thresholds = DEFAULTS,
    rule: Knowledge | None = None,
) -> Diagnosis:
    """Return the diagnosis of a run, or of a predictions file.

    Parameters
    ----------
    run
        The run's folder, or the file.
    dataset
        The dataset whose truth the predictions are compared with.
    taught
        Which readings the training labels allow, where that is known from another run.
    thresholds
        The numbers that decide.
    rule
        Another rule for the same concepts to judge them by; what changes of concepts do is then left out.
    """
    if rule is not None:
        return _under_rule(run, dataset, rule, thresholds)
    predictions = run.all_predictions(dataset.knowledge, dataset.sizes)
    if run.predictions(PAIRS).exists():
        predictions[PAIRS] = read_predictions(run.predictions(PAIRS), dataset.knowledge, dataset.sizes)
    supervised = supervision_of(run.record, dataset) if run.is_finished else {}
    known = taught_by(dataset, None, supervised) if supervised or taught is None else taught
    found = diagnose_predictions(dataset, predictions, known, thresholds)
    rules = describe_learned_rules(run, dataset.knowledge)
    beyond = beyond_counted(found, dataset.knowledge)
    return replace(found, notes=(*found.notes, *beyond, *rules)) if rules or beyond else found


def diagnose_predictions(
    dataset: Dataset,
    predictions: Mapping[str, Predictions],
    taught: Identifiability | None = None,
    thresholds: Thresholds = DEFAULTS,
) -> Diagnosis:
    """Return the diagnosis of predictions by split, with those for counterfactual worlds under `pairs`.

    Parameters
    ----------
    dataset
        The dataset whose truth they are compared with.
    predictions
        Predictions by split; those for counterfactual worlds under `pairs`.
    taught
        Which readings the training labels allow, where that is known already.
    thresholds
        The numbers that decide.
    """
    judged = {split: found for split, found in predictions.items() if split != PAIRS}
    if not judged:
        raise DataError("there are no predictions to judge, but for counterfactual worlds; predict for 'test' too")
    evidence = {split: gather_from(dataset, found) for split, found in judged.items()}
    about = {**provenance(dataset), **next(iter(judged.values())).about}
    worlds = training_worlds(dataset)
    effects, why_not = effects_of(dataset, predictions, worlds)
    known = taught if taught is not None else taught_by(dataset, worlds)
    level = thresholds.of(Verdict).level / max(1, len(evidence))
    reliance, not_judged = reliance_of(dataset, predictions, level, thresholds)
    found = diagnose(evidence, worlds, about, effects, known, reliance, thresholds)
    return replace(found, notes=(*found.notes, *(why for why in (why_not, not_judged) if why)))


def _under_rule(run: RunFolder, dataset: Dataset, rule: Knowledge, thresholds: Thresholds) -> Diagnosis:
    judged = run.all_predictions(dataset.knowledge, dataset.sizes)
    evidence = {split: under_rule(gather_from(dataset, found), rule) for split, found in judged.items()}
    about = {**provenance(dataset), **next(iter(judged.values())).about}
    worlds = training_worlds(dataset)
    return diagnose(evidence, worlds, about, None, identifiability(rule, worlds), thresholds=thresholds)


def taught_by(
    dataset: Dataset, worlds: Codes | None = None, supervised: Supervised = NOTHING
) -> Identifiability | None:
    """Return what the training labels of a dataset can teach, and the concepts that are supervised; counted once.

    Parameters
    ----------
    dataset
        The dataset; what was counted for the last one is kept.
    worlds
        Its training worlds, if they are known.
    supervised
        The concepts that are supervised.
    """
    key = dataset.fingerprint, repr(sorted(supervised.items()))
    if key not in _TAUGHT:
        for other in [known for known in _TAUGHT if known[0] != key[0]]:
            del _TAUGHT[other]  # a study goes from dataset to dataset
        known = training_worlds(dataset) if worlds is None else worlds
        _TAUGHT[key] = identifiability(dataset.knowledge, known, supervised=supervised)
    return _TAUGHT[key]


def beyond_counted(found: Diagnosis, knowledge: Knowledge) -> tuple[str, ...]:
    """Return a sentence where a model misreads concepts in another way than the shortcuts that were counted."""
    if found.taught is None or "shortcut" not in found.kinds:
        return ()
    states = next(iter(found.concepts.values()))
    family = family_of(states, found.taught, knowledge, keeps_labels=True)
    if family == found.taught.family:
        return ()
    return (
        f"The shortcut of this model is none of those: it reads concepts {READ_FROM[family]}, and counted are readings "
        f"of each concept by itself; assay count --family {family} counts these.",
    )


def effects_of(
    dataset: Dataset, predictions: Mapping[str, Predictions], training: Codes | None = None
) -> tuple[Counterfactuals | None, str]:
    """Return what changes of single concepts did, if there are predictions for such worlds; or why it is not known.

    Pairs with values that no world of `training` shows are told apart.
    """
    if PAIRS not in predictions:
        return None, ""
    if dataset.pairs is None:
        return None, f"What changing one concept does is left out: {dataset.why_no_pairs}."
    original = str(dataset.pairs.split)
    if original not in predictions:
        return None, f"What changing one concept does is left out: there are no predictions for split {original!r}."
    return counterfactuals(dataset, predictions[original], predictions[PAIRS], training), ""


def describe_learned_rules(run: RunFolder, knowledge: Knowledge) -> tuple[str, ...]:
    """Return in words how the formulas that a run has learned relate to the rule, and whether its bias expresses it."""
    try:
        program = json.loads((run.folder / PROGRAM).read_text(encoding="utf-8"))
        learned = program["labels"]
        relations = relations_in(program, knowledge)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, AssayError):
        return ()  # a run that learned no formulas, or whose formulas cannot be compared
    texts = []
    for label in knowledge.labels:
        own = [relation for relation in relations if relation.label == label.name]
        if len(own) == 1:
            texts.append(own[0].text)
        elif own:
            equal = sum(relation.relation == "equal" for relation in own)
            texts.append(f"Of {len(own)} learned formulas of {label.name!r}, {equal} are equal to the rule.")
        bias = learned.get(label.name, {}).get("notes", {}).get("bias")
        if bias and not bias["expressible"]:
            texts.append(f"The bias of the learner does not express the rule of {label.name!r}: {bias['why']}.")
    return tuple(texts)
