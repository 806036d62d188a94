"""The laws of tasks, models and metrics: each notices what breaks it, and lets pass what keeps it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from assay.base import AssayError, Config, DataError
from assay.contracts import ModelOutput, Prediction, Predictions
from assay.dataset import Dataset
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, bits, parse
from assay.metrics import METRICS, Evidence, Metric
from assay.models import MODELS, Model
from assay.render import Box, Layout, ObjectBox, Picture
from assay.testing import (
    LawOutcome,
    TwoSquares,
    check_metric,
    check_model,
    check_task,
    constant,
    given_mapping,
    oracle,
    require,
    shuffled,
    small_dataset,
)
from assay.worlds import Split, World


def broken(checks: list[LawOutcome]) -> dict[str, str | None]:
    """Return the laws that do not hold, with their faults."""
    return {check.law: check.fault for check in checks if not check.passed}


def test_the_first_broken_law_is_raised() -> None:
    require([LawOutcome("a", None)], "thing")
    with pytest.raises(AssayError, match="^thing: b: bad$") as caught:
        require([LawOutcome("a", None), LawOutcome("b", "bad"), LawOutcome("c", "worse")], "thing")
    assert caught.value.exit_code == 1
    assert not LawOutcome("in silence", "").passed  # a fault of no words is one


# metrics


def right_labels(evidence: Evidence) -> np.ndarray:
    return np.asarray((evidence.predicted_labels == evidence.labels).all(axis=1), dtype=float)


def right_concepts(evidence: Evidence) -> np.ndarray:
    return np.asarray((evidence.predicted_concepts == evidence.concepts).all(axis=1), dtype=float)


@pytest.mark.parametrize("name", ["label_accuracy", "concept_accuracy", "collapse"])
def test_metrics_of_ours_keep_the_laws(name: str) -> None:
    checks = check_metric(METRICS[name])
    assert len(checks) == 4 and not broken(checks)


def test_a_metric_in_which_others_beat_the_oracle_is_refused() -> None:
    better = Metric("m", "", "higher", values=right_concepts)
    worse = Metric("m", "", "lower", values=lambda evidence: 1 - right_concepts(evidence))
    assert not broken(check_metric(better)) and not broken(check_metric(worse))
    for metric in (replace(better, better="lower"), replace(worse, better="higher")):
        assert list(broken(check_metric(metric))) == ["the oracle is best"]
    fault = broken(check_metric(replace(better, better="lower")))["the oracle is best"]
    assert fault == "constant scores 0.005, the oracle 1.0" or "constant scores 0.0" in str(fault)
    silent = Metric("m", "", "higher", overall=lambda evidence: float("nan"))
    assert not broken(check_metric(silent))
    only_wrong = Metric("m", "", "lower", overall=lambda e: float("nan") if right_concepts(e).all() else -1.0)
    assert not broken(check_metric(only_wrong))


def test_a_metric_that_depends_on_the_order_is_refused() -> None:
    ordered = Metric("m", "", "higher", overall=lambda e: float(right_concepts(e).all() * 20 + e.concepts[0, 0] / 10))
    assert set(broken(check_metric(ordered))) == {"the order of examples does not matter"}


def test_a_metric_with_too_few_values_is_refused() -> None:
    short = Metric("m", "", "higher", values=lambda e: np.ones(len(e) - 1))
    assert "a value for each example" in broken(check_metric(replace(short)))
    flat = Metric("m", "", "higher", values=lambda e: np.ones((len(e), 1)))
    assert broken(check_metric(flat))["a value for each example"] == "(400, 1) values for 400 examples"


def test_a_metric_that_does_not_weigh_equal_rows_is_refused() -> None:
    share = Metric("m", "", "higher", overall=lambda e: float(right_labels(e).mean()), counted=True)
    faults = broken(check_metric(share))
    assert list(faults) == ["equal examples can be counted"]
    weighed = Metric("m", "", "higher", overall=lambda e: float(np.average(right_labels(e), weights=e.weights)))
    assert not broken(check_metric(replace(weighed, counted=True)))
    assert not broken(check_metric(replace(share, counted=False)))


# models


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")


class Fake(Model):
    """A model that knows the truth, and answers as it is told."""

    name = "fake"
    has_concepts = True
    can_intervene = True
    is_network = False
    obeys = True
    says_concepts = True
    hard = False
    first, again, loaded = 0.0, 0.0, 0.0
    """How far the probabilities of a first and a second training, and of a model that was loaded, are off."""
    trained: ClassVar[list[tuple[int, Any]]] = []

    class Config(Config):
        epochs: int = 5
        device: str = "auto"

    def prepare(self) -> None:
        self.shift = 0.0

    def fit(self, train_data: Any, valid: Any, report: Any = None) -> None:
        self.trained.append((self.seed, self.config))
        self.shift = self.again if len(self.trained) > 1 else self.first

    def save(self, folder: Path) -> dict[str, Any]:
        return {}

    def restore(self, folder: Path, device: str) -> None:
        self.shift = self.loaded

    def answers(self, data: Any, do: Any) -> ModelOutput:
        raise NotImplementedError

    def answerer(self, data: Any) -> Any:
        raise NotImplementedError

    def predict(self, data: Any, do: Mapping[str, np.ndarray] | None = None) -> Predictions:
        said = oracle(data)
        if do and not self.can_intervene and self.obeys:
            raise DataError("no interventions")
        labels = {
            n: Prediction(a.codes, np.asarray(a.probabilities) * (1 - self.shift)) for n, a in said.labels.items()
        }
        concepts = {n: Prediction(a.codes) if self.hard else a for n, a in said.concepts.items() if self.says_concepts}
        for name, codes in (do or {}).items():
            if self.obeys:
                concepts[name] = Prediction(codes, np.eye(3)[codes])
        return replace(said, labels=labels, concepts=concepts, about=self.metadata())


def tried(data: Dataset, settings: Mapping[str, Any] | None = None, **about: Any) -> dict[str, str | None]:
    """Check a fake of which this is so."""
    made = type("Told", (Fake,), {**about, "trained": [], "name": "fake"})
    MODELS.registered.pop("fake", None)
    MODELS.add("fake", "a fake", made)
    try:
        faults = broken(check_model("fake", data, settings))
    finally:
        MODELS.registered.pop("fake", None)
    assert len(made.trained) == 2 and made.trained[0] == made.trained[1]
    tried.last = made.trained[0][1]  # type: ignore[attr-defined]
    return faults


@pytest.mark.parametrize(
    ("about", "law", "fault"),
    [
        ({}, None, None),
        ({"again": 5e-6, "loaded": 5e-6}, None, None),
        ({"has_concepts": False, "says_concepts": False, "can_intervene": False}, None, None),
        ({"again": 3e-4}, "same seed, same answers", "answers for label 'brighter' differ"),
        ({"loaded": 3e-4}, "saved and loaded, same answers", "answers for label 'brighter' differ"),
        ({"first": 2.0, "again": 2.0, "loaded": 2.0}, "answers are probabilities", "a probability is not from 0 to 1"),
        ({"hard": True}, "answers are probabilities", "an answer has no probabilities"),
        ({"obeys": False}, "interventions as declared", "a concept that was set did not stay set"),
        (
            {"obeys": False, "can_intervene": False},
            "interventions as declared",
            "a model that cannot be intervened on took an intervention",
        ),
        ({"says_concepts": False}, "concepts as declared", "has_concepts does not say what predict does"),
        ({"has_concepts": False}, "concepts as declared", "has_concepts does not say what predict does"),
    ],
)
def test_a_model_that_does_not_keep_its_word_is_noticed(
    about: dict[str, Any], law: str | None, fault: str | None, squares: Dataset
) -> None:
    assert tried(squares, **about) == ({} if law is None else {law: fault})


def test_models_are_tried_quickly_or_with_the_settings_asked_for(squares: Dataset) -> None:
    assert tried(squares) == {}
    config = tried.last  # type: ignore[attr-defined]
    assert (config.epochs, config.device) == (1, "cpu")
    assert tried(squares, {"epochs": 3}) == {}
    config = tried.last  # type: ignore[attr-defined]
    assert (config.epochs, config.device) == (3, "cpu")


def test_the_sample_task_is_learned_from(squares: Dataset) -> None:
    assert [(name, len(squares[name])) for name in squares.split_names] == [
        ("train", 64),
        ("valid", 16),
        ("test", 16),
        ("hard", 16),
    ]
    data = squares["train"]
    assert (data.labels[:, 0] == (data.concepts[:, 0] > data.concepts[:, 1])).all()
    images = data.images.reshape(64, 12, 2 * 12)
    assert (images == images[:, :1]).all()
    for column, half in enumerate((images[:, 0, :12], images[:, 0, 12:])):
        noise = half.astype(int) - 90 * data.concepts[:, column, None]
        assert noise.min() == 0 and noise.max() == 39


def test_a_small_dataset_is_small(tmp_path: Any) -> None:
    class Long(TwoSquares):
        sizes: ClassVar[Mapping[str, int]] = {"train": 40, "valid": 9, "test": 30}

    data = small_dataset(Long(), tmp_path / "data", most=20)
    assert [len(data[name]) for name in data.split_names] == [20, 9, 16, 16]


# predictors


def test_reference_predictors(squares: Dataset) -> None:
    data = squares["train"]
    for said, labels, concepts in (
        (oracle(data), data.labels, data.concepts),
        (constant(data), np.zeros_like(data.labels), np.zeros_like(data.concepts)),
    ):
        assert said.labels["brighter"].codes.tolist() == labels[:, 0].tolist()
        assert [said.concepts[name].codes.tolist() for name in ("left", "right")] == concepts.T.tolist()
        assert np.asarray(said.concepts["right"].probabilities).tolist() == np.eye(3)[concepts[:, 1]].tolist()
        assert np.asarray(said.labels["brighter"].probabilities).tolist() == np.eye(2)[labels[:, 0]].tolist()
        assert (said.fingerprint, said.split, said.index.tolist()) == (data.fingerprint, "train", data.index.tolist())
    mixed = shuffled(data)
    rows = [answer.codes for answer in (mixed.concepts["left"], mixed.concepts["right"], mixed.labels["brighter"])]
    truth = np.concatenate([data.concepts, data.labels], axis=1)
    assert sorted(np.stack(rows, axis=1).tolist()) == sorted(truth.tolist())
    assert (np.stack(rows, axis=1) != truth).any()
    other = shuffled(data, seed=1)
    assert other.concepts["left"].codes.tolist() != mixed.concepts["left"].codes.tolist()
    assert shuffled(data, seed=0).concepts["left"].codes.tolist() == mixed.concepts["left"].codes.tolist()


def test_a_given_reading_reasons_by_the_rule(squares: Dataset) -> None:
    data = squares["train"]
    said = given_mapping(data, {"square": {0: 2, 2: 0}})
    left, right = 2 - data.concepts[:, 0], 2 - data.concepts[:, 1]
    assert said.concepts["left"].codes.tolist() == left.tolist()
    assert said.concepts["right"].codes.tolist() == right.tolist()
    assert said.labels["brighter"].codes.tolist() == (left > right).astype(int).tolist()
    assert given_mapping(data, {}).concepts["left"].codes.tolist() == data.concepts[:, 0].tolist()


def test_predictors_of_several_labels_and_encoders() -> None:
    space = ConceptSpace(
        (Concept("a", (3, 1, 2)), Concept("b", ("x", "y")), Concept("c", (3, 1, 2))),
        encoders=(EncoderGroup("number", ("a", "c")), EncoderGroup("word", ("b",))),
    )
    knowledge = Knowledge.of(space, {"sum": "a + c", "same": "b == 'y'"})
    concepts = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0], [0, 0, 0]])
    labels = knowledge.labels_of(concepts)
    data: Any = SimpleNamespace(
        knowledge=knowledge,
        concepts=concepts,
        labels=labels,
        fingerprint="f",
        name="test",
        index=np.array([4, 2, 9, 1]),
    )
    said = oracle(data)
    assert [said.labels[name].codes.tolist() for name in ("sum", "same")] == labels.T.tolist()
    assert [said.concepts[name].codes.tolist() for name in "abc"] == concepts.T.tolist()
    for name, size in (("sum", len(knowledge.label("sum").values)), ("same", 2)):
        probabilities = np.asarray(said.labels[name].probabilities)
        assert probabilities.tolist() == np.eye(size)[said.labels[name].codes].tolist()
    read = given_mapping(data, {"number": {3: 1, 1: 2}, "other": {"x": "y"}})  # 2 stays 2
    a, c = ([{3: 1, 1: 2, 2: 2}[(3, 1, 2)[code]] for code in concepts[:, place]] for place in (0, 2))
    assert [(3, 1, 2)[code] for code in read.concepts["a"].codes] == a
    assert [(3, 1, 2)[code] for code in read.concepts["c"].codes] == c
    assert read.concepts["b"].codes.tolist() == concepts[:, 1].tolist()
    sums = [knowledge.label("sum").values[code] for code in read.labels["sum"].codes]
    assert sums == [x + y for x, y in zip(a, c, strict=True)]
    assert (read.fingerprint, read.split, read.index.tolist()) == ("f", "test", [4, 2, 9, 1])


# tasks

RULE, COUNTS, DEALT, APART, DRAWN, PICTURES, DISK, CHANGED = LAWS = [
    "the rule survives being written and read",
    "small spaces: diagram equals brute force",
    "splits hold worlds of two labels or more",
    "splits that say so share no world",
    "same seed, same world",
    "render draws nothing and fits the layout",
    "labels follow from the rule on disk",
    "a changed concept can be rendered",
]


def test_a_task_that_keeps_its_word_passes() -> None:
    checks = check_task(TwoSquares())
    assert [check.law for check in checks] == LAWS and not broken(checks)


def fault_of(law: str, **changes: Any) -> str | None:
    """Return how two squares, changed like this, break a law."""
    return broken(check_task(type("Changed", (TwoSquares,), changes)())).get(law)


def drawn_as(change: Any) -> str | None:
    """Return what is wrong with the pictures of a task that draws differently."""
    return fault_of(PICTURES, render=lambda self, world: change(TwoSquares.render(self, world)))


def laid_out(*layout: Any) -> str | None:
    return fault_of(PICTURES, layout=Layout(*layout))


FLAT = np.zeros((12, 24), dtype=np.uint8)
THING = (ObjectBox("x", Box(0, 0, 24, 12)),)


def test_pictures_must_fit_the_layout() -> None:
    assert drawn_as(lambda p: Picture(p.image[:, :-1])) == "picture is uint8 (12, 23), not (12, 24)"
    assert drawn_as(lambda p: Picture(p.image.astype(int))) == "picture is int64 (12, 24), not (12, 24)"
    fine = lambda p: Picture(p.image, THING, FLAT + 1, depth=FLAT, parts=FLAT + 1)  # noqa: E731
    assert drawn_as(fine) is None
    for name in ("instances", "parts", "depth"):
        wrong = drawn_as(lambda p, name=name: replace(p, things=THING, **{name: FLAT[1:]}))
        assert wrong == f"{name} do not fit the picture: (11, 24)"
    for name in ("instances", "parts"):
        wrong = drawn_as(lambda p, name=name: replace(p, things=THING, **{name: FLAT + 2}))
        assert wrong == "an instance or a part has no name"


def test_pictures_in_colour_have_their_height_first_and_maps_without_colours() -> None:
    def coloured(change: Any) -> str | None:
        def render(self: Any, world: World) -> Picture:
            return change(np.repeat(TwoSquares.render(self, world).image[:, :, None], 3, axis=2))

        return fault_of(PICTURES, render=render, layout=Layout(24, 12, 3, {}))

    assert coloured(Picture) is None
    assert coloured(lambda image: Picture(image.transpose(1, 0, 2))) == "picture is uint8 (24, 12, 3), not (12, 24, 3)"
    assert coloured(lambda image: Picture(image, THING, FLAT + 1, depth=FLAT, parts=FLAT)) is None
    assert "do not fit the picture" in str(coloured(lambda image: Picture(image, THING, depth=image)))


@pytest.mark.parametrize(
    "box", [(-1, 0, 5, 5), (0, -1, 5, 5), (0, 0, 25, 5), (0, 0, 5, 13), (5, 0, 4, 5), (0, 5, 5, 4)]
)
def test_boxes_and_regions_lie_inside_the_picture(box: tuple[int, int, int, int]) -> None:
    assert (
        drawn_as(lambda p: Picture(p.image, (ObjectBox("x", Box(*box)),))) == "the box of 'x' lies outside the picture"
    )
    if box[0] <= box[2] and box[1] <= box[3]:
        assert laid_out(24, 12, 1, {"left": Box(*box)}) == "region of 'left' lies outside the picture"


def test_regions_are_of_concepts_and_hold_something() -> None:
    assert laid_out(24, 12, 1, {"left": Box(0, 0, 24, 12)}) is None
    assert laid_out(24, 12, 1, {"middle": Box(0, 0, 24, 12)}) == "region of 'middle' lies outside the picture"
    for box in (Box(3, 0, 3, 12), Box(0, 4, 24, 4)):
        assert laid_out(24, 12, 1, {"left": box}) == "region of 'left' lies outside the picture"
    finer = Knowledge.of(bits(["pale", "dark"]), {"left": "pale + dark"})
    knowledge = replace(TwoSquares().knowledge, subconcepts=finer)
    layout = Layout(24, 12, 1, {"pale": Box(0, 0, 6, 12), "right": Box(12, 0, 24, 12)})
    assert fault_of(PICTURES, knowledge=knowledge, layout=layout) is None


def test_pictures_are_the_same_each_time() -> None:
    counter = iter(range(10**6))

    def draws(picture: Picture) -> Picture:
        np.random.rand()  # noqa: NPY002 - what a task must not do
        return picture

    assert drawn_as(draws) == "the global random state was used"
    two = "two descriptions of one world differ"
    assert (
        drawn_as(lambda p: Picture(np.full_like(p.image, next(counter) % 251))) == "two renderings of one world differ"
    )
    assert drawn_as(lambda p: replace(p, text=str(next(counter)))) == two
    assert drawn_as(lambda p: replace(p, things=(ObjectBox(f"x{next(counter)}", Box(0, 0, 1, 1)),))) == two


class Fixed:
    """A source whose worlds and codes are what they are told to be."""

    def __init__(self, source: Any, **others: Any) -> None:
        self.source, self.others = source, others

    def __getattr__(self, name: str) -> Any:
        return self.others.get(name) or getattr(self.source, name)


def dealt(law: str, change: Any) -> str | None:
    """Return how a task breaks a law whose sources are changed."""

    def source_for(self: Any, split: Split, seed: int) -> Any:
        source = TwoSquares.source_for(self, split, seed)
        return Fixed(source, **change(source))

    return fault_of(law, source_for=source_for)


def test_worlds_depend_on_the_seed_alone() -> None:
    counter = iter(range(10**6))
    noise = lambda self, rng, codes, pool: {"noise": [next(counter) % 40] * 24}  # noqa: E731
    assert fault_of(DRAWN, style=noise) == "a world of split 'train' depends on those drawn with it"
    later = lambda self, split, seed: TwoSquares.source_for(self, split, seed + next(counter))  # noqa: E731
    assert fault_of(DRAWN, source_for=later) == "two draws with one seed differ"

    def late(source: Any) -> dict[str, Any]:
        def worlds(places: np.ndarray) -> list[World]:
            drawn = source.worlds(places)
            return drawn if len(places) > 1 or places[0] == 0 else [drawn[0].do(left=2, right=2)]

        return {"worlds": worlds}

    assert dealt(DRAWN, late) == "a world of split 'train' depends on those drawn with it"  # the last one, too


def test_worlds_read_back_as_they_were_and_have_the_codes_that_are_dealt() -> None:
    class Forgetful(World):
        @property
        def text(self) -> str:
            return "left=0 right=0 | {}"

    def blank(source: Any) -> dict[str, Any]:
        return {"worlds": lambda places: [Forgetful(w.space, w.codes, {}) for w in source.worlds(places)]}

    assert "reads back differently" in str(dealt(DRAWN, blank))
    shifted = lambda source: {"codes": lambda places: (source.codes(places) + 1) % 3}  # noqa: E731
    assert dealt(DRAWN, shifted) == "worlds and codes of a split differ"
    stray = lambda source: {"contains": lambda codes: codes[:, 0] < 2}  # noqa: E731
    assert dealt(DEALT, stray) == "split 'train' deals worlds that are not its own"


def test_splits_that_say_so_share_no_world() -> None:
    def split_so(law: str, change: Any) -> str | None:
        return fault_of(law, splits=lambda self: change(*TwoSquares.splits(self)))

    def apart(train: Split, *others: Split) -> tuple[Split, ...]:
        return train, *(replace(split, disjoint_from=("train",)) for split in others)

    shared = "'valid' shares worlds with 'train'"
    assert split_so(APART, apart) == shared
    assert split_so(APART, lambda train, *others: apart(replace(train, where=parse("left < 2")), *others)) == shared
    twice = split_so(DEALT, lambda train, *others: (train, *others, train))
    assert twice == "two splits have one name: ['train', 'valid', 'test', 'hard', 'train']"


def with_knowledge(law: str, **changes: Any) -> str | None:
    """Return how a task breaks a law whose knowledge lies about itself."""
    return fault_of(law, knowledge=Fixed(TwoSquares().knowledge, **changes))


def test_the_rule_is_written_and_counted_as_it_is() -> None:
    knowledge = TwoSquares().knowledge
    other = Knowledge.of(bits([*"ab"]), {"y": "b"})
    assert with_knowledge(RULE, to_dict=other.to_dict) == "knowledge changes when written and read"
    diagram = knowledge.diagram
    counts = dict(zip(diagram.counts, [*diagram.counts.values()][::-1], strict=True))
    assert "the diagram counts" in str(with_knowledge(COUNTS, diagram=Fixed(diagram, counts=counts)))
    wrong = with_knowledge(COUNTS, labels_of=lambda codes: 1 - knowledge.labels_of(codes))
    assert wrong == "label 'brighter': numpy and diagram disagree"


def test_what_lies_on_disk_is_what_worlds_give() -> None:
    counter = iter(range(10**6))

    def wordy(text: Any) -> str | None:
        render = lambda self, world: replace(TwoSquares.render(self, world), text=text(world))  # noqa: E731
        return fault_of(DISK, columns=("image", "text"), render=render)

    assert wordy(lambda world: f"a {world.codes}") is None
    assert wordy(lambda world: str(next(counter))) == "split 'train' has texts that its worlds do not give"
    painted = lambda self, world: Picture(TwoSquares.render(self, world).image + np.uint8(next(counter) % 53))  # noqa: E731
    assert fault_of(DISK, render=painted) == "split 'train' has pictures that its worlds do not give"


def test_a_change_must_be_made() -> None:
    def changing(change: Any) -> str | None:
        return fault_of(CHANGED, change_world=lambda self, world, values: change(world, values))

    stubborn = changing(lambda world, values: world)
    assert stubborn is not None and stubborn.startswith("a change of 'left' to ") and stubborn.endswith("was not made")
    assert "was not made" in str(changing(lambda world, values: world.do(right=(int(world["right"]) + 1) % 3)))
    assert changing(lambda world, values: None) is None
    tried_values = []

    def watch(world: World, values: Mapping[str, Any]) -> World:
        tried_values.append(dict(values))
        return world.do(**values)

    assert changing(watch) is None
    assert all({name: value} in tried_values for name in ("left", "right") for value in (0, 1, 2))


def test_small_datasets_keep_quotas_and_stages(tmp_path: Path) -> None:
    class Many(TwoSquares):
        sizes: ClassVar[Mapping[str, int]] = {"train": 44, "test": 13, "hard": 14}

    small = small_dataset(Many(stages=["left < 2", "left > 0"], balance="world"), tmp_path / "small", most=20)
    assert [(name, len(small[name])) for name in small.split_names] == [
        ("train_1", 20), ("train_2", 20), ("test_1", 6), ("test_2", 6), ("hard", 14)]  # fmt: skip
    assert small.pairs is None
