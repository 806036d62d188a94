"""Saliency from start to end: maps of examples, scored on the pixels that show concepts and on marks, and the check."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from assay.base import (
    Array,
    Config,
    ConfigError,
    DataError,
    ProgressCallback,
    Settings,
    UnknownName,
    join_words,
    rng_for,
    suggestion,
    validate,
)
from assay.dataset import Dataset, SplitData, provenance, versions
from assay.metrics import (
    ExampleScores,
    RandomisationCheck,
    RandomisedStage,
    SaliencyScore,
    ScoredTarget,
)
from assay.models.core.devices import device_of
from assay.models.core.model import Model
from assay.models.core.tensors import scaled, to_batch
from assay.models.explain.examined import (
    ExaminedModel,
    ExaminedPredictor,
    SaliencyTarget,
    examine_model,
    scores_of,
    targets_of,
)
from assay.models.explain.masks import SaliencyPlaces
from assay.models.explain.saliency_methods import (
    Attribution,
    GradCam,
    IntegratedGradients,
    Occlusion,
    eyes_of,
    input_gradient,
    randomise_downwards,
    stage_ends,
    weighted_layers,
)

METHODS = ("integrated-gradients", "grad-cam", "occlusion", "input-gradient")
MOST_CONCEPTS = 12
"""How many concepts are explained where none are named."""
AT_ONCE, MOST_NUMBERS = 64, 2**22
"""How many pictures, and how many numbers of pictures, are explained at once."""


# -- what to explain, and how ------------------------------------------------------------------------------------------


class SaliencyConfig(Config):
    """Settings of saliency maps."""

    baseline: Literal["mean", "black"] = "mean"
    """Where integrated gradients begin: the mean of the explained pictures, or black."""
    steps: int = Field(32, ge=1)
    """The steps of integrated gradients."""
    patch: int | None = Field(None, ge=1)
    """The side of the grey patch of occlusion in pixels; by default an eighth of the picture's smaller side."""
    stride: int | None = Field(None, ge=1)
    """By how many pixels the patch moves; by default half its side."""
    check: Literal["cascade", "all", "none"] = "cascade"
    """Draw weights anew layer by layer from the top down, all at once, or leave this check out."""
    check_examples: int = Field(40, ge=1)
    """How many of the examples the check is made with."""
    pictures: int = Field(24, ge=0)
    """How many maps of each target are kept, to be drawn over their pictures."""
    concepts: list[str] = []
    """The concepts to explain; by default the first twelve, if the model predicts concepts."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""


@dataclass(frozen=True)
class SaliencyPlan:
    """What to explain, and how."""

    method: str
    config: SaliencyConfig
    examples: int = 200
    split: str = "test"
    seed: int = 0

    @classmethod
    def of(cls, method: str, settings: Settings, **rest: Any) -> "SaliencyPlan":
        """Return a plan, its method and settings checked."""
        if method not in METHODS:
            raise UnknownName(f"no saliency method named {method!r}{suggestion(method, METHODS)}")
        return cls(method, validate(SaliencyConfig, settings), **rest)


def choose_examples(dataset: Dataset, plan: SaliencyPlan) -> SplitData:
    """Return the examples to explain, drawn by the seed."""
    data = dataset[plan.split]
    if "image" not in data.columns or not data.layout.width:
        raise DataError(f"{str(dataset.folder)!r} has no pictures: there is nothing to draw maps of")
    if plan.examples < 1 or not len(data):
        raise DataError(f"split {plan.split!r} has {len(data)} examples, and {plan.examples} are asked for")
    order = rng_for(plan.seed, "saliency", plan.split).permutation(len(data))
    return data.take(np.sort(order[: plan.examples]))


def choose_concepts(model: ExaminedModel, dataset: Dataset, plan: SaliencyPlan) -> tuple[Sequence[str], str]:
    """Return the concepts to explain, and what is to be said about that."""
    space = dataset.knowledge.space
    if plan.config.concepts and not model.has_concepts:
        raise ConfigError(f"{model.name!r} predicts no concepts, so none can be explained; leave out --concept")
    if plan.config.concepts or not model.has_concepts:
        return [space.concept(name).name for name in plan.config.concepts], ""
    if len(space) <= MOST_CONCEPTS:
        return space.names, ""
    note = f"The first {MOST_CONCEPTS} of {len(space)} concepts are explained; name others by --concept."
    return space.names[:MOST_CONCEPTS], note


def attribution_for(plan: SaliencyPlan, model: ExaminedModel, data: SplitData) -> Attribution:
    """Return the method for a model; refuse one that the model has nothing for."""
    config, layout = plan.config, data.layout
    if plan.method == "occlusion":
        return Occlusion.of_size(layout.height, layout.width, config.patch, config.stride)
    if model.network is None:
        raise ConfigError(f"{model.name!r} has no gradients, which {plan.method} needs; use --method occlusion")
    if plan.method == "grad-cam":
        return GradCam(eyes_of(model.network, model.name))
    if plan.method == "input-gradient":
        return input_gradient
    baseline = torch.zeros(layout.channels, layout.height, layout.width)
    if config.baseline == "mean":
        total = sum(images.astype(np.float64).sum(axis=0) for _, images in data.batches(64))
        baseline = torch.from_numpy(np.asarray(total) / len(data) / 255).permute(2, 0, 1).float()
    return IntegratedGradients(baseline.to(model.device), config.steps)


# -- maps and their scores ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saliency:
    """The scores of maps, the check of the method, and some maps."""

    plan: SaliencyPlan
    model: str
    about: Mapping[str, Any]
    scores: tuple[SaliencyScore, ...]
    check: RandomisationCheck | None
    completeness: float | None
    """Of integrated gradients: by how much maps miss the changes of scores, as a share of these."""
    notes: tuple[str, ...]
    targets: tuple[SaliencyTarget, ...]
    shown: SplitData
    """The examples whose maps are kept."""
    maps: Array
    """Their maps: targets x examples x height x width."""
    codes: Array
    """What is predicted for them: targets x examples."""

    def score(self, target: str, place: str) -> SaliencyScore:
        """Return the scores of a target (`label y`, `concept a`) on a place (`its concepts`, a mark's name)."""
        found = {(score.target, score.place): score for score in self.scores}
        if (target, place) not in found:
            known = ", ".join(f"{one} on {other}" for one, other in found)
            raise UnknownName(f"no maps of {target!r} on {place!r}; there are: {known or 'none'}")
        return found[target, place]

    @property
    def text(self) -> str:
        """What was found, a sentence a line."""
        check = [] if self.check is None else [self.check.text]
        marks = [score.text for score in self.scores if score.is_mark and score.kind == "label"]
        return "\n".join([*marks, *check, *self.notes])

    def __repr__(self) -> str:
        return f"Saliency({self.plan.method} of {self.model} on {self.plan.split})\n{self.text}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plan = self.plan
        return {
            "method": plan.method,
            "model": dict(self.about),
            "split": plan.split,
            "examples": plan.examples,
            "seed": plan.seed,
            "config": plan.config.model_dump(mode="json"),
            "scores": [score.to_dict() for score in self.scores],
            "check": None if self.check is None else self.check.to_dict(),
            "completeness_error": self.completeness,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ExplainedPart:
    """Maps of some examples, and of integrated gradients how far they miss the changes of scores, and these."""

    data: SplitData
    codes: Array
    maps: Array
    gaps: tuple[float, float] | None = None


@dataclass(frozen=True)
class Explainer:
    """A model, what is explained of it, labels first, and by which method."""

    model: ExaminedModel
    targets: tuple[SaliencyTarget, ...]
    attribution: Attribution

    def parts(
        self, data: SplitData, report: ProgressCallback = lambda *_: None, codes: Array | None = None
    ) -> Iterator[ExplainedPart]:
        """Yield the maps of examples, some at a time, of the values that are predicted or of those that `codes` say."""
        height, width, channels = data.picture_shape
        size, done = max(1, min(AT_ONCE, MOST_NUMBERS // (height * width * channels))), 0
        for part in data.pieces(size):
            report("maps", done, len(data))
            pictures = scaled(to_batch(part, self.model.device).images)
            if codes is None:
                chosen = self.model.predict_codes(part, self.targets, pictures)
            else:
                chosen = [torch.from_numpy(own[done : done + len(part)]) for own in codes]
            done += len(part)
            yield self._explain(part, pictures, chosen)

    def _explain(self, part: SplitData, pictures: Tensor, codes: Sequence[Tensor]) -> ExplainedPart:
        scores = scores_of(self.model.answerer(part, self.targets), codes)
        maps, gaps = self.attribution(scores, pictures), None
        if isinstance(self.attribution, IntegratedGradients):
            missed, changes = self.attribution.gaps(scores, pictures, maps)
            gaps = float(missed.sum()), float(changes.sum())
        plain = np.asarray(maps.detach().cpu().numpy(), dtype=np.float32)
        return ExplainedPart(part, np.stack([own.cpu().numpy() for own in codes]), plain, gaps)


@dataclass
class _Collected:
    """What is kept of the parts: scores of all maps, and a few maps."""

    most: int
    scores: dict[ScoredTarget, list[ExampleScores]] = field(default_factory=dict)
    codes: list[Array] = field(default_factory=list)
    maps: list[Array] = field(default_factory=list)
    gaps: list[tuple[float, float]] = field(default_factory=list)

    def add(self, part: ExplainedPart, places: SaliencyPlaces) -> None:
        """Score the maps of a part, and keep them while there is room."""
        for place, scored, masks in places.masks(part.data):
            self.scores.setdefault(scored, []).append(ExampleScores.of(part.maps[place], masks))
        room = self.most - sum(maps.shape[1] for maps in self.maps)
        self.maps.append(part.maps[:, : max(0, room)])
        self.codes.append(part.codes)
        self.gaps += [] if part.gaps is None else [part.gaps]

    @property
    def by_mask(self) -> dict[ScoredTarget, ExampleScores]:
        """The scores of all examples on each mask."""
        return {scored: ExampleScores.join(parts) for scored, parts in self.scores.items()}

    @property
    def completeness(self) -> float | None:
        """How far maps miss the changes of scores, as a share of these."""
        missed, changes = (sum(pair[side] for pair in self.gaps) for side in (0, 1))
        return missed / changes if changes else None

    def first(self, count: int) -> tuple[Array, Array]:
        """Return what is predicted for the first examples, and their maps."""
        return np.concatenate(self.codes, axis=1)[:, :count], np.concatenate(self.maps, axis=1)[:, :count]


@dataclass(frozen=True)
class _Checked:
    """What the check by random weights found, or why there is none."""

    check: RandomisationCheck | None = None
    untrained: Mapping[ScoredTarget, ExampleScores] = field(default_factory=dict)
    """The scores of the network without any trained layer."""
    why_not: str = ""


def measure_saliency(
    model: Model | ExaminedPredictor,
    dataset: Dataset,
    plan: SaliencyPlan,
    used: Mapping[str, Sequence[str]],
    report: ProgressCallback = lambda *_: None,
) -> Saliency:
    """Explain a model's predictions for examples of a split, score the maps, and check the method.

    Parameters
    ----------
    model
        A model of ours, or anything else that predicts for pictures.
    dataset
        The dataset that has the split of the plan.
    plan
        The method, its settings, and which examples.
    used
        The concepts that the rule of each label uses: maps of the label are scored on the pixels that show them.
    report
        Told how far it is.
    """
    examined = model if isinstance(model, ExaminedPredictor) else examine_model(model)
    if examined.network is not None:
        examined.network.to(device_of(plan.config.device))
    data = choose_examples(dataset, plan)
    concepts, note = choose_concepts(examined, dataset, plan)
    explainer = Explainer(
        examined, tuple(targets_of(dataset.knowledge, concepts)), attribution_for(plan, examined, data)
    )
    places = SaliencyPlaces.of(dataset, data, explainer.targets, used)
    found = _Collected(max(plan.config.pictures, plan.config.check_examples))
    for part in explainer.parts(data, report):
        found.add(part, places)
    checked = _check(explainer, places, data, plan, found, report)
    scores, unseen = _summarise(found, checked, explainer.targets)
    named = [f"{score.target} ({score.blank:,})" for score in scores if score.blank and not score.is_mark]
    blank = f"Blank maps, which are not scored: {join_words(named)}." if named else ""
    notes = [note, checked.why_not, *places.notes, *places.missing(scores, unseen), blank]
    about = {**examined.metadata(), "data": provenance(dataset), "used": {**versions(), "torch": torch.__version__}}
    codes, maps = found.first(plan.config.pictures)
    return Saliency(
        replace(plan, examples=len(data)), examined.name, about, tuple(scores), checked.check, found.completeness,
        tuple(filter(None, notes)), explainer.targets, data[: plan.config.pictures], maps, codes,
    )  # fmt: skip


def _summarise(
    found: _Collected, checked: _Checked, targets: Sequence[SaliencyTarget]
) -> tuple[list[SaliencyScore], list[ScoredTarget]]:
    """Return the scores on each mask, and the masks on which no map could be scored."""
    codes = np.concatenate(found.codes, axis=1)
    words = {
        target.title: [str(target.values[code]) for code in own] for target, own in zip(targets, codes, strict=True)
    }
    scores, unseen = [], []
    for scored, examples in found.by_mask.items():
        score = SaliencyScore.of(scored, examples, words[scored.target], checked.untrained.get(scored))
        if score is None:
            unseen.append(scored)
        else:
            scores.append(score)
    return scores, unseen


def _check(
    explainer: Explainer,
    places: SaliencyPlaces,
    data: SplitData,
    plan: SaliencyPlan,
    found: _Collected,
    report: ProgressCallback,
) -> _Checked:
    """Compare maps with those of the same network with weights drawn anew, from the top down."""
    model, config = explainer.model, plan.config
    network = model.network
    if config.check == "none":
        return _Checked(why_not="The check by random weights was left out.")
    if network is None or not any(True for _ in network.parameters()):
        return _Checked(why_not=f"No check by random weights: {model.name!r} has no weights that can be drawn anew.")
    few = data[: config.check_examples]
    codes, maps = found.first(len(few))
    labels = tuple(target for target in explainer.targets if target.kind == "label")
    answer, first = model.answerer(few[:1], explainer.targets), scaled(to_batch(few[:1], model.device).images)
    layers = weighted_layers(network, lambda: answer(first))
    ends = stage_ends(len(layers), config.check == "cascade")
    stages, last = list[RandomisedStage](), _Collected(0)
    for number, layer in randomise_downwards(network, layers, ends, plan.seed):
        report("random weights", len(stages), len(ends))
        whole = number == ends[-1]
        some = explainer if whole else replace(explainer, targets=labels)
        parts = list(some.parts(few, codes=codes[: len(some.targets)]))
        drawn = np.concatenate([part.maps[: len(labels)] for part in parts], axis=1)
        pairs = [one.reshape(-1, *one.shape[2:]) for one in (maps[: len(labels)], drawn)]
        stages.append(RandomisedStage.of(number, layer.name, *pairs))
        for part in parts if whole else ():
            last.add(part, places)
    return _Checked(RandomisationCheck(tuple(stages)), last.by_mask)
