"""The strategies but `plan`: what each acquires.

Concept labels are bought one by one: at random, uncertain, disputed, near the boundary; all but the baseline buy only
concepts that the rule uses. Against confounders there are other values of the nuisance, further examples, group weights
and right reasons.
"""

from dataclasses import replace

import numpy as np

from assay.base import Array, ConfigError, Settings
from assay.lab.acquisition.round_data import TrainingRedraw
from assay.lab.acquisition.situation import AcquiredData, AcquisitionContext
from assay.logic import Knowledge
from assay.models import MASKS, MODELS, TrainSpec, load_model, train_run
from assay.runs import RunFolder

SMALLEST = 1e-12
COMMITTEE = "bears"


def random_labels(situation: AcquisitionContext) -> AcquiredData:
    """Buy labels at random, of all concepts: the baseline."""
    return situation.buy(np.asarray(situation.rng.random(situation.holdings.concepts.shape)))


def uncertain_labels(situation: AcquisitionContext) -> AcquiredData:
    """Buy the labels that the model is least sure of: of the highest entropy, as a share of the greatest."""
    return situation.buy(np.stack([entropy_of_rows(p) / _greatest(p) for p in situation.concepts], axis=1), used=True)


def disputed_labels(situation: AcquisitionContext) -> AcquiredData:
    """Buy the labels that the members of a `bears` ensemble dispute most.

    That is the mutual information of the label and the member: the entropy of the average less the average entropy. A
    run of another model has such an ensemble trained beside it, with the settings that both know.
    """
    situation.require_labels()
    by_member = members_of(situation)
    scores = [
        (entropy_of_rows(np.mean(same, axis=0)) - np.mean([entropy_of_rows(p) for p in same], axis=0))
        / _greatest(same[0])
        for same in zip(*by_member, strict=True)
    ]
    return situation.buy(np.stack(scores, axis=1), used=True)


def boundary_labels(situation: AcquisitionContext) -> AcquiredData:
    """Buy the labels that nearly change the predicted label: where another value of one concept is nearly as probable.

    The distance of an example to the boundary along a concept is the least difference of log probabilities between the
    predicted value and one with which the rule gives another label.
    """
    knowledge = situation.training.knowledge
    knowledge.require_rule("strategy 'boundary'")
    return situation.buy(-boundary_distances(knowledge, situation.concepts), used=True)


def boundary_distances(knowledge: Knowledge, concepts: list[Array]) -> Array:
    """Return how far each example is from the boundary along each concept; infinite where no value changes the label.

    >>> from assay.logic.concepts import bits
    >>> knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    >>> boundary_distances(knowledge, [np.array([[0.5, 0.5]]), np.array([[0.0, 1.0]])]).tolist()
    [[0.0, inf]]
    """
    codes = np.stack([p.argmax(axis=1) for p in concepts], axis=1)
    labels, logs = knowledge.labels_of(codes), [np.log(np.maximum(p, SMALLEST)) for p in concepts]
    least, rows = np.full(codes.shape, np.inf), np.arange(len(codes))
    for place, own in enumerate(logs):
        for value in range(own.shape[1]):
            changed = codes.copy()
            changed[:, place] = value
            moves = (knowledge.labels_of(changed) != labels).any(axis=1) & knowledge.can_be(changed)
            gap = own[rows, codes[:, place]] - own[:, value]
            least[:, place] = np.where(moves, np.minimum(least[:, place], gap), least[:, place])
    return least


def members_of(situation: AcquisitionContext) -> list[list[Array]]:
    """Return what each member of a `bears` ensemble says of the concepts of the training split."""
    run = situation.run
    if situation.record.model != COMMITTEE:
        run = situation.committee
        _train_committee(situation)
    return load_model(run).member_concepts(situation.training)


def _train_committee(situation: AcquisitionContext) -> None:
    """Train a `bears` ensemble on what the run so far was trained on, unless that is done."""
    if RunFolder(situation.committee).is_finished:
        return
    known = MODELS[COMMITTEE].Config.model_fields
    settings = {key: value for key, value in situation.record.config.items() if key in known}
    train_run(TrainSpec(COMMITTEE, Settings(settings), situation.record.seed), situation.current, situation.committee)


def entropy_of_rows(probabilities: Array) -> Array:
    """Return the entropy of each row.

    >>> entropy_of_rows(np.array([[0.5, 0.5], [0.1, 0.9]])).round(3).tolist()
    [0.693, 0.325]
    """
    return np.asarray(-(probabilities * np.log(np.maximum(probabilities, SMALLEST))).sum(axis=1))


def _greatest(probabilities: Array) -> float:
    return float(np.log(max(2, probabilities.shape[1])))


def augmented_examples(situation: AcquisitionContext) -> AcquiredData:
    """Buy counterfactual examples: training examples once more with another value of the nuisance, the label kept.

    Only those count in which the nuisance is as it goes with the label; labels take turns.
    """
    held, data = situation.holdings, situation.training
    rows = TrainingRedraw(situation.dataset, situation.settings.clean).rows_that_fit()
    left = np.setdiff1d(rows, held.redrawn)
    order = left[situation.rng.permutation(len(left))]
    turns = np.zeros(len(order), dtype=np.int64)
    for label in np.unique(data.labels[:, 0]):
        same = data.labels[order, 0] == label
        turns[same] = np.arange(same.sum())
    chosen = order[np.argsort(turns, kind="stable")][: situation.budget]
    return replace(held, redrawn=(*held.redrawn, *chosen.tolist()))


def fresh_examples(situation: AcquisitionContext) -> AcquiredData:
    """Buy further examples, drawn as training's own: the baseline of `augment`."""
    return replace(situation.holdings, fresh=situation.holdings.fresh + situation.budget)


def grouped_examples(situation: AcquisitionContext) -> AcquiredData:
    """Buy annotations of the nuisance, and train by group DRO over groups of label and nuisance."""
    _require_network(situation)
    TrainingRedraw(situation.dataset).couplings  # noqa: B018 refuses a dataset without confounders
    held, size = situation.holdings, len(situation.training)
    return replace(held, nuisances=min(size, held.nuisances + situation.budget))


def masked_examples(situation: AcquisitionContext) -> AcquiredData:
    """Buy masks of objects or parts, and train right for the right reasons: no gradient outside of them."""
    _require_network(situation)
    held, data = situation.holdings, situation.training
    if not set(MASKS) & set(data.columns):
        raise ConfigError(
            f"reasons: {str(situation.dataset.folder)!r} has no masks, neither {' nor '.join(MASKS)}; choose "
            "--strategy augment or reweight"
        )
    return replace(held, masks=min(len(data), held.masks + situation.budget))


def _require_network(situation: AcquisitionContext) -> None:
    """Refuse a model whose training takes no settings against confounders."""
    if "group_step" not in type(situation.model).Config.model_fields:
        raise ConfigError(
            f"strategy {situation.settings.strategy!r} changes how a network is trained, and model "
            f"{situation.model.name!r} is none; choose --strategy augment"
        )
