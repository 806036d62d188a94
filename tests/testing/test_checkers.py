"""The laws of tasks, models and metrics: each notices what breaks it, and lets pass what keeps it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, EncoderGroup, bits
from assay.data import Dataset
from assay.errors import AssayError, DataError
from assay.logic import Knowledge, parse
from assay.metrics import METRICS, Evidence, Metric
from assay.models.core import runs
from assay.predictions import Answer, Predictions
from assay.render import Box, Layout, ObjectBox, Picture
from assay.testing import (
    CheckFailed,
    LawOutcome,
    TwoSquares,
    check_metric,
    check_model,
    check_task,
    constant,
    given_reading,
    known_evidence,
    oracle,
    require,
    shuffled,
    small_dataset,
)
from assay.testing import tasks as task_laws
from assay.testing.checks import need, try_laws
from assay.testing.sample_task import SIDE
from assay.worlds import Quota, Split, World


def broken(checks: list[LawOutcome]) -> dict[str, str | None]:
    """Return the laws that do not hold, with their faults."""
    return {check.law: check.fault for check in checks if not check.passed}


# laws


def test_a_law_holds_if_its_function_returns() -> None:
    def refuse() -> None:
        raise DataError("no such thing")

    checks = try_laws({"fine": lambda: None, "ours": refuse, "theirs": lambda: [][0]})
    assert checks[:2] == [LawOutcome("fine", None), LawOutcome("ours", "no such thing")]
    assert checks[2] == LawOutcome("theirs", "IndexError: list index out of range")
    assert [check.passed for check in checks] == [True, False, False]
    assert not LawOutcome("in silence", "").passed  # a fault of no words is one


def test_the_first_broken_law_is_raised() -> None:
    require([LawOutcome("a", None)], "thing")
    with pytest.raises(CheckFailed, match="^thing: b: bad$") as caught:
        require([LawOutcome("a", None), LawOutcome("b", "bad"), LawOutcome("c", "worse")], "thing")
    assert isinstance(caught.value, AssayError) and caught.value.exit_code == 1
    need(True, "fine")
    with pytest.raises(CheckFailed, match="^not fine$"):
        need(False, "not fine")


# metrics


def test_known_evidence_is_what_it_says() -> None:
    known = known_evidence(300)
    assert list(known) == ["oracle", "constant", "shuffled", "shortcut"]
    for evidence in known.values():
        assert len(evidence) == 300 and evidence.split == "test"
        assert (evidence.labels[:, 0] == evidence.concepts.sum(axis=1)).all()
        assert set(np.unique(evidence.concepts)) == set(range(10))
        answers = (
            (evidence.predicted_concepts, evidence.concept_probabilities),
            (
                evidence.predicted_labels,
                evidence.label_probabilities,
            ),
        )
        for (codes, probabilities), size in zip(answers, (10, 19), strict=True):
            for column, rows in enumerate(probabilities):
                assert rows is not None and rows.shape == (300, size)
                assert (rows.sum(axis=1) == 1).all() and (rows.argmax(axis=1) == codes[:, column]).all()
    assert (known["oracle"].predicted_concepts == known["oracle"].concepts).all()
    assert (known["oracle"].predicted_labels == known["oracle"].labels).all()
    assert not known["constant"].predicted_concepts.any() and not known["constant"].predicted_labels.any()
    mixed = known["shuffled"]
    assert sorted(mixed.predicted_concepts.tolist()) == sorted(mixed.concepts.tolist())
    assert (mixed.predicted_concepts.sum(axis=1) == mixed.predicted_labels[:, 0]).all()
    assert (mixed.predicted_concepts != mixed.concepts).mean() > 0.8
    shortcut = known["shortcut"]
    assert (shortcut.predicted_labels == shortcut.labels).all()
    assert (shortcut.predicted_concepts == (shortcut.concepts ^ 1)).all()
    assert len(known_evidence()["oracle"]) == 400


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


class Fake:
    """A model that answers as it is told."""

    has_concepts = True
    can_intervene = True
    obeys = True

    def __init__(self, shift: float = 0.0, row: tuple[float, ...] = ()) -> None:
        self.shift, self.row = shift, row

    def predict(self, data: Any, interventions: Mapping[str, np.ndarray] | None = None) -> Predictions:
        said = oracle(data)
        if interventions and not self.can_intervene and self.obeys:
            raise DataError("no interventions")
        labels = {n: Answer(a.codes, np.asarray(a.probabilities) * (1 - self.shift)) for n, a in said.labels.items()}
        if self.row:
            labels["brighter"] = SimpleNamespace(codes=said.labels["brighter"].codes, probabilities=self.row)  # type: ignore[assignment]
        concepts = {n: a for n, a in said.concepts.items() if self.has_concepts}
        for name, codes in (interventions or {}).items():
            if self.obeys:
                concepts[name] = Answer(codes, np.eye(3)[codes])
        return replace(said, labels=labels, concepts=concepts)


def tried(monkeypatch: pytest.MonkeyPatch, data: Dataset, *models: Any) -> dict[str, str | None]:
    """Check three models that stand for the first run, the second and the one that was loaded."""
    orders = []

    def train_run(order: Any, dataset: Dataset, folder: Any) -> Any:
        orders.append(order)
        return models[len(orders) - 1]

    monkeypatch.setattr(runs, "train_run", train_run)
    monkeypatch.setattr(runs, "load_model", lambda folder: models[2] if folder.name == "first" else None)
    faults = broken(check_model("cbm", data, {"seed": 4}))
    assert [order.settings.values["seed"] for order in orders] == [4, 4]
    assert all(order.settings.values["epochs"] == 1 and order.settings.values["device"] == "cpu" for order in orders)
    assert "beam" not in orders[0].settings.values
    return faults


def test_a_model_that_keeps_its_word_passes(monkeypatch: pytest.MonkeyPatch, squares: Dataset) -> None:
    assert tried(monkeypatch, squares, Fake(), Fake(), Fake()) == {}
    near = 5e-6
    assert tried(monkeypatch, squares, Fake(), Fake(near), Fake(near)) == {}


def test_answers_that_differ_are_noticed(monkeypatch: pytest.MonkeyPatch, squares: Dataset) -> None:
    different = "answers for label 'brighter' differ"
    assert tried(monkeypatch, squares, Fake(), Fake(3e-4), Fake()) == {"same seed, same answers": different}
    assert tried(monkeypatch, squares, Fake(), Fake(), Fake(3e-4)) == {"saved and loaded, same answers": different}


def test_answers_that_are_no_probabilities_are_noticed(monkeypatch: pytest.MonkeyPatch, squares: Dataset) -> None:
    for row in ((0.5, -0.1), (0.5, np.nan), (np.inf, 0.5)):
        faults = tried(monkeypatch, squares, *[Fake(row=row)] * 3)
        assert faults["answers are probabilities"] == "a probability is not from 0 to 1"
    assert tried(monkeypatch, squares, *[Fake(row=(0.0, 1.0))] * 3) == {}

    class Hard(Fake):
        def predict(self, data: Any, interventions: Any = None) -> Predictions:
            said = super().predict(data, interventions)
            return replace(said, concepts={n: Answer(a.codes) for n, a in said.concepts.items()})

    assert tried(monkeypatch, squares, *[Hard()] * 3) == {"answers are probabilities": "an answer has no probabilities"}


def test_concepts_and_interventions_are_as_declared(monkeypatch: pytest.MonkeyPatch, squares: Dataset) -> None:
    class Silent(Fake):
        has_concepts = False
        can_intervene = False

    assert tried(monkeypatch, squares, *[Silent()] * 3) == {}

    class Deaf(Fake):
        obeys = False

    class Secret(Fake):
        can_intervene = False
        obeys = False

    ignored, taken = (
        "a concept that was set did not stay set",
        "a model that cannot be intervened on took an intervention",
    )
    assert tried(monkeypatch, squares, *[Deaf()] * 3) == {"interventions as declared": ignored}
    assert tried(monkeypatch, squares, *[Secret()] * 3) == {"interventions as declared": taken}
    says_nothing = Fake()
    says_nothing.predict = Silent().predict  # type: ignore[method-assign]
    faults = tried(monkeypatch, squares, *[says_nothing] * 3)
    assert faults["concepts as declared"] == "has_concepts does not say what predict does"


def test_the_sample_task_is_learned_from(squares: Dataset) -> None:
    assert [(name, len(squares[name])) for name in squares.split_names] == [
        ("train", 64),
        ("valid", 16),
        ("test", 16),
        ("hard", 16),
    ]
    data = squares["train"]
    assert (data.labels[:, 0] == (data.concepts[:, 0] > data.concepts[:, 1])).all()
    images = data.images.reshape(64, SIDE, 2 * SIDE)
    assert (images == images[:, :1]).all()
    for column, half in enumerate((images[:, 0, :SIDE], images[:, 0, SIDE:])):
        noise = half.astype(int) - 90 * data.concepts[:, column, None]
        assert noise.min() == 0 and noise.max() == 39
    task = TwoSquares()
    assert task.layout.regions == {"left": Box(0, 0, 12, 12), "right": Box(12, 0, 24, 12)}
    assert (task.layout.width, task.layout.height, task.layout.channels) == (24, 12, 1)
    assert [group.concepts for group in task.space.encoders] == [("left", "right")]


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
    said = given_reading(data, {"square": {0: 2, 2: 0}})
    left, right = 2 - data.concepts[:, 0], 2 - data.concepts[:, 1]
    assert said.concepts["left"].codes.tolist() == left.tolist()
    assert said.concepts["right"].codes.tolist() == right.tolist()
    assert said.labels["brighter"].codes.tolist() == (left > right).astype(int).tolist()
    assert given_reading(data, {}).concepts["left"].codes.tolist() == data.concepts[:, 0].tolist()


# tasks


LAWS = [
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


def pictures_of(change: Callable[[Picture], Picture]) -> dict[str, str | None]:
    """Check the pictures alone of a task that draws differently."""

    class Other(TwoSquares):
        def render(self, world: World) -> Picture:
            return change(super().render(world))

    trial = task_laws._Trial(Other())
    return broken(try_laws({"pictures": lambda: task_laws._task_pictures(trial)}))


def test_pictures_must_fit_the_layout() -> None:
    assert pictures_of(lambda picture: picture) == {}
    assert pictures_of(lambda p: Picture(p.image[:, :-1])) == {"pictures": "picture is uint8 (12, 23), not (12, 24)"}
    assert pictures_of(lambda p: Picture(p.image.astype(int))) == {
        "pictures": "picture is int64 (12, 24), not (12, 24)"
    }
    full = np.zeros((12, 24), dtype=np.uint8)
    thing = (ObjectBox("x", Box(0, 0, 24, 12)),)
    assert pictures_of(lambda p: Picture(p.image, thing, full + 1, depth=full, parts=full + 1)) == {}
    for name in ("instances", "parts", "depth"):
        faults = pictures_of(lambda p, name=name: replace(p, things=thing, **{name: full[1:]}))  # type: ignore[misc]
        assert faults == {"pictures": f"{name} do not fit the picture: (11, 24)"}
    for name in ("instances", "parts"):
        faults = pictures_of(lambda p, name=name: replace(p, things=thing, **{name: full + 2}))  # type: ignore[misc]
        assert faults == {"pictures": "an instance or a part has no name"}


@pytest.mark.parametrize(
    "box", [(-1, 0, 5, 5), (0, -1, 5, 5), (0, 0, 25, 5), (0, 0, 5, 13), (5, 0, 4, 5), (0, 5, 5, 4)]
)
def test_boxes_lie_inside_the_picture(box: tuple[int, int, int, int]) -> None:
    faults = pictures_of(lambda p: Picture(p.image, (ObjectBox("x", Box(*box)),)))
    assert faults == {"pictures": "the box of 'x' lies outside the picture"}
    if box[0] <= box[2] and box[1] <= box[3]:
        assert regions_of({"left": Box(*box)}) == {"pictures": "region of 'left' lies outside the picture"}


def regions_of(regions: dict[str, Box]) -> dict[str, str | None]:
    class Other(TwoSquares):
        @cached_property
        def layout(self) -> Layout:
            return Layout(24, 12, 1, regions)

    trial = task_laws._Trial(Other())
    return broken(try_laws({"pictures": lambda: task_laws._task_pictures(trial)}))


def test_regions_are_of_concepts_and_hold_something() -> None:
    assert regions_of({"left": Box(0, 0, 24, 12)}) == {}
    assert regions_of({"middle": Box(0, 0, 24, 12)}) == {"pictures": "region of 'middle' lies outside the picture"}
    for box in (Box(3, 0, 3, 12), Box(0, 4, 24, 4)):
        assert regions_of({"left": box}) == {"pictures": "region of 'left' lies outside the picture"}


def test_pictures_are_the_same_each_time() -> None:
    counter = iter(range(10**6))
    faults = pictures_of(lambda p: Picture(np.full_like(p.image, next(counter) % 251)))
    assert faults == {"pictures": "two renderings of one world differ"}
    faults = pictures_of(lambda p: replace(p, text=str(next(counter))))
    assert faults == {"pictures": "two descriptions of one world differ"}

    def draws(picture: Picture) -> Picture:
        np.random.rand()  # noqa: NPY002 - what a task must not do
        return picture

    assert pictures_of(draws) == {"pictures": "the global random state was used"}


class Chance(TwoSquares):
    """Draws something else each time."""

    drawn = iter(range(10**6))

    def style(self, rng: np.random.Generator, codes: Any, pool: str) -> Any:
        return {"noise": [next(self.drawn) % 40] * (2 * SIDE)}


def test_worlds_depend_on_the_seed_alone() -> None:
    faults = broken(check_task(Chance()))
    assert faults["same seed, same world"] == "a world of split 'train' depends on those drawn with it"

    class Later(TwoSquares):
        drawn = iter(range(10**6))

        def worlds_in(self, split: Split, seed: int) -> Any:
            return super().worlds_in(split, seed + next(self.drawn))

    assert broken(check_task(Later()))["same seed, same world"] == "two draws with one seed differ"


def test_splits_that_say_so_share_no_world() -> None:
    class Overlapping(TwoSquares):
        def splits(self) -> tuple[Split, ...]:
            train, *others = super().splits()
            return train, *(replace(split, disjoint_from=("train",)) for split in others)

    assert (
        broken(check_task(Overlapping()))["splits that say so share no world"] == "'valid' shares worlds with 'train'"
    )

    class Twice(TwoSquares):
        def splits(self) -> tuple[Split, ...]:
            splits = super().splits()
            return *splits, splits[0]

    trial = task_laws._Trial(Twice())
    with pytest.raises(CheckFailed, match=r"two splits have one name: \['train', 'valid', 'test', 'hard', 'train'\]"):
        task_laws._task_splits(trial)


class Fixed:
    """A source whose worlds and codes are what they are told to be."""

    def __init__(self, source: Any, **others: Any) -> None:
        self.source, self.others = source, others

    def __getattr__(self, name: str) -> Any:
        return self.others.get(name) or getattr(self.source, name)


def test_sources_know_their_own_worlds() -> None:
    class Stray(TwoSquares):
        def worlds_in(self, split: Split, seed: int) -> Any:
            source = super().worlds_in(split, seed)
            return Fixed(source, contains=lambda codes: codes[:, 0] < 2)

    faults = broken(try_laws({"splits": lambda: task_laws._task_splits(task_laws._Trial(Stray()))}))
    assert faults == {"splits": "split 'train' deals worlds that are not its own"}

    class Shifted(TwoSquares):
        def worlds_in(self, split: Split, seed: int) -> Any:
            source = super().worlds_in(split, seed)
            return Fixed(source, codes=lambda places: (source.codes(places) + 1) % 3)

    faults = broken(try_laws({"worlds": lambda: task_laws._task_styles(task_laws._Trial(Shifted()))}))
    assert faults == {"worlds": "worlds and codes of a split differ"}


def test_the_diagram_is_counted_by_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    knowledge = Knowledge.of(bits([*"abc"]), {"y": "a and b or c", "z": "a"})
    task: Any = SimpleNamespace(knowledge=knowledge)
    task_laws._task_counts(task)
    task_laws._task_rule(task)
    diagram = knowledge.diagram
    counts = {**diagram.counts}
    counts[next(iter(counts))] += 1
    other = SimpleNamespace(outcome_of=diagram.outcome_of, outcomes=diagram.outcomes, counts=counts)
    wrong = SimpleNamespace(
        space=knowledge.space, diagram=other, labels=knowledge.labels, labels_of=knowledge.labels_of
    )
    with pytest.raises(CheckFailed, match="the diagram counts"):
        task_laws._task_counts(SimpleNamespace(knowledge=wrong))  # type: ignore[arg-type]
    other.counts = diagram.counts
    wrong.labels_of = lambda codes: 1 - knowledge.labels_of(codes)
    with pytest.raises(CheckFailed, match="label 'y': numpy and diagram disagree"):
        task_laws._task_counts(SimpleNamespace(knowledge=wrong))  # type: ignore[arg-type]
    monkeypatch.setattr(task_laws, "FEW_WORLDS", 7)
    task_laws._task_counts(SimpleNamespace(knowledge=wrong))  # type: ignore[arg-type]
    monkeypatch.setattr(task_laws, "FEW_WORLDS", 8)
    with pytest.raises(CheckFailed):
        task_laws._task_counts(SimpleNamespace(knowledge=wrong))  # type: ignore[arg-type]


def test_what_lies_on_disk_is_what_worlds_give() -> None:
    class Drawn(TwoSquares):
        columns = ("image", "text")
        calls = iter(range(10**6))

        def render(self, world: World) -> Picture:
            return replace(super().render(world), text=f"{self.word()} {world.codes}")

        def word(self) -> str:
            return "a"

    class Wordy(Drawn):
        def word(self) -> str:
            return str(next(self.calls))

    class Painted(TwoSquares):
        calls = iter(range(10**6))

        def render(self, world: World) -> Picture:
            return Picture(super().render(world).image + np.uint8(next(self.calls) % 7))

    def on_disk(task: TwoSquares) -> dict[str, str | None]:
        trial = task_laws._Trial(task)
        return broken(try_laws({"disk": lambda: task_laws._task_on_disk(trial)}))

    assert on_disk(Drawn()) == {}
    assert on_disk(Wordy()) == {"disk": "split 'train' has texts that its worlds do not give"}
    assert on_disk(Painted()) == {"disk": "split 'train' has pictures that its worlds do not give"}


def test_the_trial_on_disk_is_small(tmp_path: Any) -> None:
    class Many(TwoSquares):
        sizes: ClassVar[Mapping[str, int]] = {"train": 64, "valid": 5, "test": 13}

    data = task_laws._small(Many(), tmp_path / "data")
    assert [len(data[name]) for name in data.split_names] == [12, 5, 12, 12]


def test_a_change_must_be_made() -> None:
    class Stubborn(TwoSquares):
        def change_world(self, world: World, values: Mapping[str, Any]) -> World | None:
            return world

    fault = broken(check_task(Stubborn()))["a changed concept can be rendered"]
    assert fault is not None and fault.startswith("a change of 'left' to ") and fault.endswith("was not made")

    class Unchangeable(TwoSquares):
        def change_world(self, world: World, values: Mapping[str, Any]) -> World | None:
            return None

    assert "a changed concept can be rendered" not in broken(check_task(Unchangeable()))
    changes = []

    class Counting(TwoSquares):
        def change_world(self, world: World, values: Mapping[str, Any]) -> World | None:
            changes.append(dict(values))
            return super().change_world(world, values)

    task_laws._task_counterfactual(task_laws._Trial(Counting()))
    assert changes == [{name: value} for name in ("left", "right") for value in (0, 1, 2)]


def test_a_rule_that_changes_when_written_is_refused() -> None:
    knowledge = Knowledge.of(bits([*"ab"]), {"y": "a"})
    other = SimpleNamespace(to_dict=Knowledge.of(bits([*"ab"]), {"y": "b"}).to_dict, labels=knowledge.labels)
    with pytest.raises(CheckFailed, match="knowledge changes when written and read"):
        task_laws._task_rule(SimpleNamespace(knowledge=other))  # type: ignore[arg-type]


def test_every_label_on_disk_follows_from_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    class Data(dict[str, Any]):
        split_names = ("train", "test")

    class Rows(SimpleNamespace):
        def __len__(self) -> int:
            return 0

    data = Data(train=Rows(lawful=np.array([[True]])), test=Rows(lawful=np.array([[True], [False]])))
    monkeypatch.setattr(task_laws, "_small", lambda task, folder: data)
    trial: Any = SimpleNamespace(task=SimpleNamespace(columns=()), picture=None)
    with pytest.raises(CheckFailed, match="split 'test' has labels that the rule does not give"):
        task_laws._task_on_disk(trial)
    data["test"].lawful[:] = True
    task_laws._task_on_disk(trial)


def test_the_first_world_is_changed() -> None:
    seen = []

    class Watching(TwoSquares):
        def change_world(self, world: World, values: Mapping[str, Any]) -> World | None:
            seen.append(world)
            return None

    trial = task_laws._Trial(Watching())
    task_laws._task_counterfactual(trial)
    assert {world.text for world in seen} == {trial.worlds["train"][0].text}


# what is uneven: colours, several labels, worlds that differ at the end


def test_pictures_in_colour_have_their_height_first() -> None:
    class Coloured(TwoSquares):
        turned = False

        @cached_property
        def layout(self) -> Layout:
            return Layout(24, 12, 3, {})

        def render(self, world: World) -> Picture:
            image = np.repeat(super().render(world).image[:, :, None], 3, axis=2)
            return Picture(image.transpose(1, 0, 2) if self.turned else image)

    class Turned(Coloured):
        turned = True

    for task, fault in ((Coloured(), {}), (Turned(), {"pictures": "picture is uint8 (24, 12, 3), not (12, 24, 3)"})):
        trial = task_laws._Trial(task)
        assert broken(try_laws({"pictures": lambda trial=trial: task_laws._task_pictures(trial)})) == fault  # type: ignore[misc]


def test_things_are_the_same_each_time_and_may_fill_the_picture() -> None:
    counter = iter(range(10**6))
    faults = pictures_of(lambda p: replace(p, things=(ObjectBox(f"x{next(counter)}", Box(0, 0, 1, 1)),)))
    assert faults == {"pictures": "two descriptions of one world differ"}
    assert pictures_of(lambda p: Picture(p.image, (ObjectBox("x", Box(24, 12, 24, 12)), ObjectBox("y", Box(0, 0, 24, 12))))) == {}  # fmt: skip


def test_regions_may_be_of_finer_concepts() -> None:
    class Finer(TwoSquares):
        @cached_property
        def knowledge(self) -> Knowledge:
            finer = Knowledge.of(bits(["pale", "dark"]), {"left": "pale + dark"})
            return replace(super().knowledge, subconcepts=finer)

        @cached_property
        def layout(self) -> Layout:
            return Layout(24, 12, 1, {"pale": Box(0, 0, 6, 12), "right": Box(12, 0, 24, 12)})

    task_laws._task_pictures(task_laws._Trial(Finer()))


def test_the_last_world_too_is_drawn_alone() -> None:
    class Late(TwoSquares):
        def worlds_in(self, split: Split, seed: int) -> Any:
            source = super().worlds_in(split, seed)

            def worlds(places: np.ndarray) -> list[World]:
                drawn = source.worlds(places)
                return drawn if len(places) > 1 or places[0] == 0 else [drawn[0].do(left=2, right=2)]

            return Fixed(source, worlds=worlds)

    with pytest.raises(CheckFailed, match="a world of split 'train' depends on those drawn with it"):
        task_laws._Trial(Late()).worlds
    few = [len(worlds) for worlds in task_laws._Trial(TwoSquares()).worlds.values()]
    assert few == [12, 12, 12, 12]

    class Tiny(TwoSquares):
        sizes: ClassVar[Mapping[str, int]] = {"train": 5, "test": 2}

    assert [len(worlds) for worlds in task_laws._Trial(Tiny()).worlds.values()] == [5, 2, 2]


def test_splits_that_share_some_worlds_are_noticed() -> None:
    class Partly(TwoSquares):
        def splits(self) -> tuple[Split, ...]:
            train, *others = super().splits()
            return replace(train, where=parse("left < 2")), *(replace(s, disjoint_from=("train",)) for s in others)

    fault = broken(check_task(Partly()))["splits that say so share no world"]
    assert fault == "'valid' shares worlds with 'train'"


def test_a_world_must_read_back_as_it_was() -> None:
    class Forgetful(World):
        @property
        def text(self) -> str:
            return "left=0 right=0 | {}"

    class Blank(TwoSquares):
        def worlds_in(self, split: Split, seed: int) -> Any:
            source = super().worlds_in(split, seed)
            own = lambda places: [Forgetful(w.space, w.codes, {}) for w in source.worlds(places)]  # noqa: E731
            return Fixed(source, worlds=own)

    with pytest.raises(CheckFailed, match="reads back differently"):
        task_laws._task_styles(task_laws._Trial(Blank()))


def test_splits_with_a_quota_are_made_whole_and_with_their_settings(tmp_path: Any) -> None:
    class Many(TwoSquares):
        sizes: ClassVar[Mapping[str, int]] = {"train": 44, "test": 13, "hard": 14}

    data = task_laws._small(Many(per_type=1, per_variant=2, balance="world"), tmp_path / "trial")
    assert [(name, len(data[name])) for name in data.split_names] == [("train", 12), ("test", 12), ("hard", 14)]
    assert task_laws._few(Split("hard", 40, quota=Quota(1))) == 40 and task_laws._few(Split("hard", 40, quota=Quota())) == 12  # fmt: skip
    assert task_laws._few(Split("test", 7)) == 7
    small = small_dataset(Many(stages=["left < 2", "left > 0"], balance="world"), tmp_path / "small", most=20)
    assert [(name, len(small[name])) for name in small.split_names] == [
        ("train_1", 20), ("train_2", 20), ("test_1", 6), ("test_2", 6), ("hard", 14)]  # fmt: skip
    assert small.pairs is None


def test_models_are_checked_with_the_settings_asked_for(monkeypatch: pytest.MonkeyPatch, squares: Dataset) -> None:
    asked = []

    def train_run(order: Any, dataset: Dataset, folder: Any) -> Any:
        asked.append((order.settings.values, folder.name))
        return Fake()

    monkeypatch.setattr(runs, "train_run", train_run)
    monkeypatch.setattr(runs, "load_model", lambda folder: Fake())
    assert broken(check_model("cbm", squares, {"epochs": 3, "seed": 9})) == {}
    assert [folder for _, folder in asked] == ["first", "second"]
    assert all(values["epochs"] == 3 and values["seed"] == 9 and values["device"] == "cpu" for values, _ in asked)


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
    read = given_reading(data, {"number": {3: 1, 1: 2}, "other": {"x": "y"}})  # 2 stays 2
    a, c = ([{3: 1, 1: 2, 2: 2}[(3, 1, 2)[code]] for code in concepts[:, place]] for place in (0, 2))
    assert [(3, 1, 2)[code] for code in read.concepts["a"].codes] == a
    assert [(3, 1, 2)[code] for code in read.concepts["c"].codes] == c
    assert read.concepts["b"].codes.tolist() == concepts[:, 1].tolist()
    sums = [knowledge.label("sum").values[code] for code in read.labels["sum"].codes]
    assert sums == [x + y for x, y in zip(a, c, strict=True)]
    assert (read.fingerprint, read.split, read.index.tolist()) == ("f", "test", [4, 2, 9, 1])


def test_maps_of_pictures_in_colour_have_no_colours() -> None:
    thing = (ObjectBox("x", Box(0, 0, 24, 12)), ObjectBox("y", Box(1, 1, 2, 2)))
    layout = Layout(24, 12, 3, {})
    image, flat = np.zeros((12, 24, 3), dtype=np.uint8), np.zeros((12, 24), dtype=np.uint8)
    task_laws._task_things(Picture(image, thing, flat + 2, depth=flat, parts=flat + 1), layout)
    for wrong in (Picture(image, thing, image), Picture(image, thing, parts=image), Picture(image, depth=image)):
        with pytest.raises(CheckFailed, match="do not fit the picture"):
            task_laws._task_things(wrong, layout)
    with pytest.raises(CheckFailed, match="an instance or a part has no name"):
        task_laws._task_things(Picture(image, thing, flat + 3), layout)


def test_worlds_counted_under_another_label_and_labels_of_any_place_are_noticed() -> None:
    knowledge = Knowledge.of(bits([*"abc"]), {"y": "a and b or c", "z": "a"})
    diagram = knowledge.diagram
    counts = dict(zip(diagram.counts, [*diagram.counts.values()][::-1], strict=True))
    assert list(counts.values()) != list(diagram.counts.values())
    swapped = SimpleNamespace(outcome_of=diagram.outcome_of, outcomes=diagram.outcomes, counts=counts)
    other: Any = SimpleNamespace(
        space=knowledge.space, diagram=swapped, labels=knowledge.labels, labels_of=knowledge.labels_of
    )
    with pytest.raises(CheckFailed, match="the diagram counts"):
        task_laws._task_counts(SimpleNamespace(knowledge=other))  # type: ignore[arg-type]
    swapped.counts = diagram.counts
    other.labels_of = lambda codes: knowledge.labels_of(codes) ^ np.array([0, 1])
    with pytest.raises(CheckFailed, match="label 'z': numpy and diagram disagree"):
        task_laws._task_counts(SimpleNamespace(knowledge=other))  # type: ignore[arg-type]


def test_a_change_that_is_not_made_is_noticed_whatever_world_comes_back() -> None:
    class Copying(TwoSquares):
        def change_world(self, world: World, values: Mapping[str, Any]) -> World | None:
            return world.do(right=(int(world["right"]) + 1) % 3)

    with pytest.raises(CheckFailed, match="a change of 'left' to . was not made"):
        task_laws._task_counterfactual(task_laws._Trial(Copying()))


def test_a_model_that_says_concepts_in_secret_is_noticed(monkeypatch: pytest.MonkeyPatch, squares: Dataset) -> None:
    class Chatty(Fake):
        can_intervene = True

        def predict(self, data: Any, interventions: Any = None) -> Predictions:
            self.has_concepts = True
            said = super().predict(data, interventions)
            self.has_concepts = False
            return said

    faults = tried(monkeypatch, squares, *[Chatty() for _ in range(3)])
    assert faults == {"concepts as declared": "has_concepts does not say what predict does"}
