"""Discovery from start to end: units of several seeds, matched, scored, read as concepts, with a rule on top.

Activations come from a layer of a trained run, from a backbone as it is, or are the pictures themselves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.base import (
    Array,
    ConfigError,
    DataError,
    ProgressCallback,
    Settings,
    UnknownName,
    rng_for,
    suggestion,
    validate,
)
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset, SplitData
from assay.metrics import (
    ChanceScore,
    Readout,
    UnitScores,
    UnitSplit,
    live_units,
    mean,
    score_stability,
)
from assay.models.backbones.build import BackboneSpec, frozen_backbone
from assay.models.backbones.weights import Frozen
from assay.models.core.devices import device_of
from assay.models.core.network import load_network
from assay.models.core.perception import one_hot
from assay.models.explain.discovery import Discoverer, DiscoveryConfig, SplitRows
from assay.models.explain.layers import INPUT, LayerFacts, Subject, activations, choose_layers, layers_of, rows_of
from assay.models.explain.rule_on_top import RuleOnTop, learn_rule
from assay.models.registered import BACKBONES, METHODS
from assay.runs import RUN, RunFolder, check_dataset, split_for

AT_ONCE = 512
FEWEST = 20
"""Fewer examples than this cannot be matched or scored."""
TEST = "test"
Reader = Callable[[SplitData], SplitRows]
"""What a method sees of a split."""


# -- where activations come from ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ActivationSource:
    """Activations of pictures: what they are called, and how they are computed from pictures of bytes."""

    name: str
    layer: str
    device: torch.device
    compute: Callable[[Tensor], Tensor]

    def rows(self, data: SplitData) -> SplitRows:
        """Return a row of activations for each example of a split."""
        return SplitRows(
            data, torch.cat([self.compute(images_of(piece, self.device)).cpu() for piece in data.pieces(AT_ONCE)])
        )


def pictures_of(data: SplitData) -> SplitRows:
    """Return the pictures of a split, for a method that learns from them."""
    return SplitRows(data, images_of(data, torch.device("cpu")))


def images_of(data: SplitData, device: torch.device) -> Tensor:
    """Return pictures as bytes: examples x channels x height x width."""
    if "image" not in data.columns:
        raise DataError(f"split {data.name!r} has no pictures; concepts are discovered in pictures only")
    return torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous().to(device)


def open_source(text: str, layer: str | None, dataset: Dataset, most: int, device: str) -> ActivationSource:
    """Return the source that a text names: a run's folder, a backbone, or `input` for the pictures themselves."""
    chosen = device_of(device)
    if (Path(text) / RUN).is_file():
        return _of_run(Path(text), layer, dataset, most, chosen)
    if text == INPUT:
        if layer is not None:
            raise ConfigError(f"the pictures themselves have no layer {layer!r}; name a run or a backbone")
        return ActivationSource(INPUT, INPUT, chosen, lambda images: rows_of([images.float() / 255], len(images), most))
    if BackboneSpec.of(text).name in BACKBONES:
        return _of_backbone(text, layer, dataset, most, chosen)
    if Path(text).exists():
        raise DataError(f"{text!r} holds no finished run (no {RUN})")
    name = BackboneSpec.of(text).name
    raise UnknownName(
        f"{text!r} is no run's folder, no backbone and not 'input'{suggestion(name, [*BACKBONES, INPUT])}"
    )


def _of_run(folder: Path, layer: str | None, dataset: Dataset, most: int, device: torch.device) -> ActivationSource:
    run = RunFolder(folder)
    check_dataset(run, dataset)
    network = load_network(folder).to(device)
    subject = Subject.of(network)
    chosen = _layer(subject, layer, dataset, device)
    return ActivationSource(
        f"{run.record.model}@{chosen}", chosen, device, lambda images: activations(subject, chosen, images, most)
    )


def _of_backbone(text: str, layer: str | None, dataset: Dataset, most: int, device: torch.device) -> ActivationSource:
    layout = dataset.layout
    network = frozen_backbone(text, (layout.channels, layout.height, layout.width)).network
    name = _without_folder(text)
    if layer is None:
        network.to(device)
        return ActivationSource(
            name, "output", device, lambda images: rows_of([network(images.float() / 255)], len(images), most)
        )
    inside = network.inside[0] if isinstance(network, Frozen) else network
    subject = Subject.of(inside.to(device))
    chosen = _layer(subject, layer, dataset, device)
    return ActivationSource(
        f"{name}@{chosen}", chosen, device, lambda images: activations(subject, chosen, images, most)
    )


def _without_folder(text: str) -> str:
    """Return a backbone's text without where its weights lie."""
    spec = BackboneSpec.of(text)
    return spec.name if spec.source is None else f"{spec.name}@{Path(spec.source).name}"


def _layer(subject: Subject, name: str | None, dataset: Dataset, device: torch.device) -> str:
    """Return the layer of this name, or else the one that is called right before the last layer with weights."""
    first = dataset[split_for(dataset, "train")][:2]
    if len(first) < 2:
        raise DataError(f"split {first.name!r} has {len(first)} examples; concepts are discovered in many")
    layers = layers_of(subject, images_of(first, device).float() / 255)
    if name is not None:
        return choose_layers(layers, (name,), every=True)[0].name
    return _before_last(layers).name


def _before_last(layers: list[LayerFacts]) -> LayerFacts:
    last = max(place for place, layer in enumerate(layers) if layer.weighted)
    return layers[max(0, last - 1)]


# -- from start to end -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiscoveryPlan:
    """What to discover: by which method, in what, with which settings and seeds."""

    method: str
    source: str
    config: DiscoveryConfig
    seeds: tuple[int, ...] = (0, 1, 2)
    layer: str | None = None

    @classmethod
    def of(
        cls, method: str, source: str, settings: Settings, seeds: Sequence[int] = (0, 1, 2), layer: str | None = None
    ) -> "DiscoveryPlan":
        """Return a plan, its method and settings checked."""
        make: type[Discoverer] = METHODS[method]
        if make.reads == "pictures" and (source != INPUT or layer is not None):
            raise ConfigError(
                f"{method} learns from pictures, not from activations: assay discover {method} input DATA"
            )
        return cls(method, source, validate(make.Config, settings), tuple(seeds), layer)


@dataclass(frozen=True)
class Discovery:
    """What one seed found: units, what they are worth, and the concepts and labels that follow from them."""

    discoverer: Discoverer
    scores: UnitScores
    readout: Readout
    rule: RuleOnTop
    test_units: Array
    """The units of the examples that were scored, a column each."""
    live: int
    """How many units vary."""

    @property
    def seed(self) -> int:
        """The seed."""
        return self.discoverer.seed

    @property
    def named_right(self) -> float | None:
        """Of the units that the method named after a concept value, the share that is matched with it."""
        names, matches = self.discoverer.names, [score.match for score in self.scores.matches]
        values = {match.value.name for match in matches}
        named = {unit for unit, name in enumerate(names) if name in values}
        right = sum(match.unit in named and names[match.unit or 0] == match.value.name for match in matches)
        return right / len(named) if named else None

    def predict(self, split: SplitRows) -> Predictions:
        """Return the concepts that matched units give, and the labels of the method's head or of the learned rule."""
        units, data = self.discoverer.units(split), split.data
        concepts = self.readout.probabilities(units)
        labels = self.discoverer.label_probabilities(units) or self.rule.labels(concepts)
        return Predictions(
            data.fingerprint,
            data.name,
            data.index,
            {name: Prediction.of(p) for name, p in zip(data.knowledge.label_names, labels, strict=True)},
            {name: Prediction.of(p) for name, p in zip(data.knowledge.space.names, concepts, strict=True)},
        )


@dataclass(frozen=True)
class Discovered:
    """What all seeds found, the first of them in full, and how stable it is."""

    plan: DiscoveryPlan
    source: str
    discoveries: tuple[Discovery, ...]
    stability: ChanceScore
    rule_from_truth: RuleOnTop
    """What the same learner makes of the true concepts of the same examples: how much is lost by discovery."""
    shown: SplitData
    """The examples that were scored."""
    fitted: str
    """The split that units were matched on."""
    read: Reader

    @property
    def first(self) -> Discovery:
        """The seed that predictions are written of."""
        return self.discoveries[0]

    @property
    def model(self) -> str:
        """What stands where a model's name does, such as `sae-topk+blackbox@body`."""
        return f"{self.plan.method}+{self.source}"

    def summary(self) -> dict[str, dict[str, float]]:
        """Return each score averaged over seeds, its deviation, and chance."""
        rows = {}
        for name in self.first.scores.scores:
            scores = [discovery.scores.scores[name] for discovery in self.discoveries]
            values, chance = (np.array([getattr(score, part) for score in scores]) for part in ("value", "chance"))
            rows[name] = {"mean": mean(values), "deviation": float(np.std(values)), "chance": mean(chance)}
        rows["stability"] = {"mean": self.stability.value, "deviation": 0.0, "chance": self.stability.chance}
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "method": self.plan.method,
            "source": self.source,
            "config": self.plan.config.model_dump(mode="json"),
            "matched_on": self.fitted,
            "scored_on": self.shown.name,
            "examples": len(self.shown),
            "summary": {name: {k: _plain(x) for k, x in row.items()} for name, row in self.summary().items()},
            "stability": self.stability.to_dict(),
            "rule_from_true_concepts": self.rule_from_truth.to_dict(),
            "seeds": [_record(discovery) for discovery in self.discoveries],
        }


def _record(discovery: Discovery) -> dict[str, Any]:
    return {
        "seed": discovery.seed,
        "units": discovery.test_units.shape[1],
        "live_units": discovery.live,
        "names": list(discovery.discoverer.names),
        "named_right": discovery.named_right,
        "notes": list(discovery.discoverer.notes),
        "scores": {name: score.to_dict() for name, score in discovery.scores.scores.items()},
        "matches": [score.to_dict() for score in discovery.scores.matches],
        "rule": discovery.rule.to_dict(),
    }


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else number


def discover(plan: DiscoveryPlan, dataset: Dataset, report: ProgressCallback = lambda *_: None) -> Discovered:
    """Discover concepts by every seed of a plan, and score them against the true ones.

    Units are learned on the training split, matched on validation and scored on the test split.

    Parameters
    ----------
    plan
        The method, its settings, what it learns from, and the seeds.
    dataset
        The dataset that has the splits.
    report
        Told how far it is.
    """
    config = plan.config
    source: ActivationSource | None = None
    if METHODS[plan.method].reads == "activations":
        source = open_source(plan.source, plan.layer, dataset, config.most_features, config.device)
    read = pictures_of if source is None else source.rows
    names = [split_for(dataset, "train"), split_for(dataset, "valid"), TEST]
    report("activations", 0, 1)
    train, valid, test = (read(_sample(dataset[name], config.examples)) for name in names)
    truth = learn_rule(config.learner, dataset.knowledge, *_true_concepts(train.data), plan.seeds[0])
    discoveries = []
    for seed in plan.seeds:
        discoverer: Discoverer = METHODS[plan.method](config, seed)
        discoverer.fit(train, valid, report)
        report(f"scoring seed {seed}", 0, 1)
        discoveries.append(_judge(discoverer, train, valid, test))
    stability = score_stability([d.test_units for d in discoveries], plan.seeds[0], config.repetitions)
    where = INPUT if source is None else source.name
    return Discovered(plan, where, tuple(discoveries), stability, truth, test.data, valid.data.name, read)


def _judge(discoverer: Discoverer, train: SplitRows, valid: SplitRows, test: SplitRows) -> Discovery:
    """Match and score the units of a method, and learn a rule from the concepts that they give."""
    config, knowledge = discoverer.config, train.data.knowledge
    fit, judged = (_unit_split(discoverer.units(split), split.data) for split in (valid, test))
    scores = UnitScores.of(fit, judged, knowledge.space, discoverer.seed, config.repetitions)
    readout = Readout.of(fit, tuple(score.match for score in scores.matches), knowledge.space)
    concepts = readout.probabilities(discoverer.units(train))
    rule = learn_rule(config.learner, knowledge, concepts, train.data.given_labels, discoverer.seed)
    return Discovery(discoverer, scores, readout, rule, judged.units, len(live_units(judged.units)))


def _unit_split(units: Array, data: SplitData) -> UnitSplit:
    return UnitSplit(units, data.concepts, data.labels)


def _true_concepts(data: SplitData) -> tuple[list[Array], Array]:
    """Return the true concepts of the examples that have all, with certainty, and their labels."""
    known = np.flatnonzero((data.concepts >= 0).all(axis=1))
    whole = data.take(known) if len(known) >= FEWEST else data
    return one_hot(whole.concepts, whole.knowledge.space), whole.given_labels


def _sample(data: SplitData, most: int) -> SplitData:
    """Return at most so many examples of a split, drawn without favour."""
    if len(data) < FEWEST:
        raise DataError(f"split {data.name!r} has {len(data)} examples; discovery needs at least {FEWEST}")
    rows = np.sort(rng_for(0, "discovery", data.name, len(data)).permutation(len(data))[:most])
    return data.take(rows) if len(rows) < len(data) else data
