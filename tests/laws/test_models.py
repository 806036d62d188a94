"""Laws of every registered model, on datasets as they should be and on irregular ones."""

import re
import shutil
from functools import cache

import numpy as np
import pytest
import torch

from assay.base import AssayError, ConfigError, MissingExtra, Settings, validate
from assay.contracts import read_predictions
from assay.dataset import Dataset
from assay.exchange import Annotation, annotate
from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, bits, parse
from assay.models import MODELS, TrainSpec, load_model, train_run
from assay.render import Layout, Picture
from assay.runs import RunFolder
from assay.tasks import Task
from tests.toys import written

QUICK = {
    "epochs": 1,
    "device": "cpu",
    "members": 2,
    "programs": 2_000,
    "beam": 2,
    "steps": 3,
    "literals": 1,
    "samples": 2,
}
NETWORKS = [name for name in MODELS if MODELS[name].is_network]
LEARNERS = [name for name in MODELS if name not in NETWORKS]

# -- datasets ----------------------------------------------------------------------------------------------------------

MIXED = ConceptSpace(
    (Concept("n", (0, 2, 5)), Concept("b", (True, False)), Concept("s", ("x", "y")), Concept("a", (False, True)))
)
RULES = {
    "truths": Knowledge.of(bits([*"abc"]), {"y": "a and b or c"}),
    "mixed": Knowledge.of(MIXED, {"y": "n > 0 and b", "z": "n + a", "w": "a or s == 'x'"}),
    "one value": Knowledge.of(
        ConceptSpace((Concept("k", ("only",)), *bits(["a", "b"]).concepts)),
        {"y": "a or b"},
        [Constraint("r", parse("a or b or not a"))],
    ),
}


class Lamps(Task):
    """A pixel for each concept, as bright as the place of its value; labels without a rule are drawn."""

    name = "lamps"
    sizes = {"train": 14, "valid": 5, "test": 7}

    @property
    def layout(self):
        return Layout(4, 2)

    def style(self, rng, codes, pool):
        return {}

    def render(self, world):
        image = np.zeros((2, 4), dtype=np.uint8)
        image[0, : len(world.codes)] = 60 * (1 + np.array(world.codes))
        return Picture(image)


IRREGULAR = {
    "as usual": ("mixed", {}, {}),
    "one example each": ("truths", {"train": 1, "valid": 1, "test": 1}, {}),
    "few for training and many for validation": ("mixed", {"train": 2, "valid": 19, "test": 1}, {}),
    "a concept of one value": ("one value", {}, {}),
    "some concepts missing": ("mixed", {}, {"missing": 0.4}),
    "one concept never annotated": ("mixed", {}, {"missing": {"n": 1.0}}),
    "no concept annotated": ("truths", {}, {"missing": 1.0}),
    "one example annotated": ("truths", {}, {"shown_examples": 1}),
    "a value that training never shows": ("mixed", {"train": 30, "valid": 15}, {"where": "n != 5"}),
    "a label of one value in training": ("truths", {"train": 30, "valid": 15}, {"where": "a and b or c"}),
    "one world only": ("truths", {"train": 60, "valid": 30}, {"where": "a and b and c"}),
    "labels against the rule": ("truths", {}, {"label_noise": 0.5}),
    "a concept left out": ("mixed", {}, {"drop": ["s"]}),
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Return a function that makes each dataset once."""

    @cache
    def made(case):
        rule, sizes, changes = IRREGULAR[case]
        folder = tmp_path_factory.mktemp("irregular")
        task = type("Lamps", (Lamps,), {"knowledge": RULES[rule]})()
        plain = written(task, folder / "plain", **{**Lamps.sizes, **sizes})
        if not changes:
            return plain
        annotate(plain, Annotation(**changes), folder / "changed")
        return Dataset.open(folder / "changed")

    return made


def order(name, seed=2, **settings):
    known = MODELS[name].Config.model_fields
    given = {key: value for key, value in QUICK.items() if key in known}
    return TrainSpec(
        name, Settings({**given, **({"backbone": "mlp"} if "backbone" in known else {}), **settings}), seed
    )


def train(name, data, folder, **settings):
    """Train a model, or skip where what it needs is not installed."""
    try:
        return train_run(order(name, **settings), data, folder)
    except MissingExtra as error:
        pytest.skip(str(error))


def arrays(predictions):
    return [answer.probabilities for answer in [*predictions.labels.values(), *predictions.concepts.values()]]


def require_sound(model, split, predictions):
    """Fail where answers are not those of a model for these examples."""
    assert (predictions.index == split.index).all() and predictions.fingerprint == split.fingerprint
    assert predictions.split == split.name and predictions.about["model"] == model.name
    assert list(predictions.labels) == list(split.knowledge.label_names)
    assert list(predictions.concepts) == (list(split.knowledge.space.names) if model.has_concepts else [])
    sizes = [len(label.values) for label in split.knowledge.labels]
    sizes += split.knowledge.space.sizes if model.has_concepts else []
    for rows, size in zip(arrays(predictions), sizes, strict=True):
        assert rows.shape == (len(split), size) and np.isfinite(rows).all() and (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)


# -- laws --------------------------------------------------------------------------------------------------------------

REFUSED = {("a concept left out", name): "the rule can never give the labels" for name in ("dpl", "bears")}
LONG = {"alpha-ilp", "synthesis", "ecbm", "linear"}


def is_slow(place, number, name):
    """Quick are the first cases of all models, and of each other case every second model."""
    return (place > 0 and (place + number) % 2 == 1) or (name in LONG and place > 4)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        pytest.param(case, name, marks=pytest.mark.slow if is_slow(place, number, name) else ())
        for place, case in enumerate(IRREGULAR)
        for number, name in enumerate(sorted(MODELS))
    ],
)
def test_a_model_learns_from_irregular_data_or_refuses_in_one_line(case, name, dataset, tmp_path):
    data = dataset(case)
    if (case, name) in REFUSED:
        with pytest.raises(AssayError, match=REFUSED[case, name]) as caught:
            train(name, data, tmp_path / "run")
        assert "\n" not in str(caught.value) and not (tmp_path / "run" / "run.json").exists()
        return
    model = train(name, data, tmp_path / "run")
    again = load_model(tmp_path / "run")
    for split in data.split_names:
        said = model.predict(data[split])
        require_sound(model, data[split], said)
        for one, other in zip(arrays(said), arrays(again.predict(data[split])), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.fixture(scope="module")
def runs(dataset, tmp_path_factory):
    """Return a function that gives a model and its run on data of which some concepts are missing, trained once."""
    data = dataset("some concepts missing")

    @cache
    def made(name):
        folder = tmp_path_factory.mktemp("runs") / name
        return train(name, data, folder, **({"epochs": 3} if name in NETWORKS else {})), folder, data

    return made


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_run_holds_what_the_model_predicts_and_gives_it_back(name, runs):
    model, folder, data = runs(name)
    about = RunFolder(folder).metadata()
    assert (about["model"], about["seed"], about["data"]["fingerprint"]) == (name, 2, data.fingerprint)
    again = load_model(folder)
    assert (again.seed, again.knowledge, sorted(again.describe())) == (2, model.knowledge, sorted(model.describe()))
    for split in ("valid", "test"):
        held = read_predictions(folder / "predictions" / f"{split}.parquet", data.knowledge)
        require_sound(model, data[split], again.predict(data[split]))
        for one, other in zip(arrays(held), arrays(again.predict(data[split])), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    assert not (folder / "predictions" / "train.parquet").exists()


def contents(folder):
    """Return the bytes of all that was learned and predicted; a search also says how long it took."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "run.json"]
    held = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {name: re.sub(rb'"(\w+_)?seconds": [\d.e-]+', b"", own) for name, own in held.items()}


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"incontext"}))  # of an endpoint nothing is known
def test_a_seed_repeats_every_byte_whatever_others_draw(name, runs, tmp_path):
    _, folder, data = runs(name)
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    torch.rand(7)
    train(name, data, tmp_path / "again", **({"epochs": 3} if name in NETWORKS else {}))
    assert contents(tmp_path / "again") == contents(folder)


@pytest.mark.parametrize("name", NETWORKS)
def test_another_seed_gives_other_weights(name, runs, tmp_path):
    model, _, data = runs(name)
    other = train(name, data, tmp_path / "other", seed=3)
    assert any(not torch.equal(one, two) for one, two in zip(model.parameters(), other.parameters(), strict=True))


class Killed(BaseException):
    """Stands for what no code can catch."""


@pytest.mark.parametrize("name", NETWORKS)
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(name, runs, tmp_path):
    _, folder, data = runs(name)
    plan = order(name, epochs=3)

    def kill(epoch, epochs):
        if epoch.number == 2:
            raise Killed

    with pytest.raises(Killed):
        train_run(plan, data, tmp_path / "run", kill)
    train_run(plan, data, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(folder)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_an_answer_does_not_depend_on_the_other_examples_nor_on_their_order(name, runs):
    model, _, data = runs(name)
    whole, rows = model.predict(data["test"]), np.array([4, 0, 4, 6])
    some = data["test"].take(rows)
    said = model.predict(some)
    require_sound(model, some, said)
    for one, other in zip(arrays(said), arrays(whole), strict=True):
        np.testing.assert_allclose(one, other[rows], atol=1e-5)


EMPTY = pytest.mark.xfail(strict=True, raises=RuntimeError, reason="a fault: frozen features of no picture")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=EMPTY if name == "embedding" else ()) for name in sorted(MODELS)]
)
def test_no_examples_have_no_answers(name, runs):
    model, _, data = runs(name)
    require_sound(model, data["test"][:0], model.predict(data["test"][:0]))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_own_answers_change_nothing_and_what_is_set_changes_its_own_example_only(name, runs):
    model, _, data = runs(name)
    test = data["test"]
    own = model.predict(test)
    if not model.can_intervene:
        with pytest.raises(ConfigError, match=f"model '{name}' has no concepts that can be set"):
            model.predict(test, {"b": np.zeros(len(test), dtype=int)})
        return
    if own.concepts:
        for do in (own.concepts, {"n": own.concepts["n"]}):
            again = model.predict(test, {concept: answer.probabilities for concept, answer in do.items()})
            for one, other in zip(arrays(own), arrays(again), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-6)
    shares = own.concepts["n"].probabilities.copy() if own.concepts else np.eye(3)[test.concepts[:, 0]]
    shares[:3] = np.eye(3)[(shares[:3].argmax(axis=1) + 1) % 3]
    after = model.predict(test, {"n": shares})
    before = own if own.concepts else model.predict(test, {"n": np.eye(3)[test.concepts[:, 0]]})
    for label in own.labels:
        one, other = (said.labels[label].probabilities[3:] for said in (after, before))
        np.testing.assert_allclose(one, other, atol=1e-6)
    if own.concepts:
        np.testing.assert_allclose(after.concepts["n"].probabilities, shares, atol=2e-4)
        codes = test.concepts[:, 0]
        assert (model.predict(test, {"n": codes}).concepts["n"].codes == codes).all()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_damaged_files_of_a_run_are_refused_in_one_line(name, runs, tmp_path):
    _, folder, data = runs(name)
    learned = [path for path in folder.iterdir() if path.is_file() and path.name not in ("run.json", "history.json")]
    assert learned, "nothing was learned"
    for path in learned:
        for place, damage in enumerate((b"", b"\x00junk", path.read_bytes()[:-5])):
            copy = tmp_path / f"{path.name} {place}"
            shutil.copytree(folder, copy)
            (copy / path.name).write_bytes(damage)
            with pytest.raises(AssayError) as caught:
                load_model(copy).predict(data["test"])
            assert "\n" not in str(caught.value)


# -- settings ----------------------------------------------------------------------------------------------------------

BOUNDS = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
"""How far beyond a bound of JSON Schema a number has to be to be refused."""
UNBOUNDED = {"seed", "threshold"}


def numbers_of(name):
    """Return the settings of a model that are numbers, with their bounds."""
    schema = MODELS[name].Config.model_json_schema()["properties"]
    kinds = {key: own.get("anyOf", [own]) for key, own in schema.items()}
    return {key: own for key, parts in kinds.items() for own in parts if own.get("type") in ("integer", "number")}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_numbers_beyond_their_bounds_are_refused_by_name(name):
    config, found = MODELS[name].Config, numbers_of(name)
    unbounded = {key for key, own in found.items() if not set(own) & {"minimum", "exclusiveMinimum"}}
    assert unbounded <= UNBOUNDED, "a setting takes any negative number"
    for key, own in found.items():
        for bound, step in BOUNDS.items():
            if bound in own:
                size = 1 if own["type"] == "integer" else 1e-3
                with pytest.raises(ConfigError, match=f"{key}: "):
                    validate(config, Settings({key: own[bound] + step * size}))
                if step:
                    assert getattr(validate(config, Settings({key: own[bound]})), key) == own[bound]
    for key in ("epohcs", "learning"):
        with pytest.raises(ConfigError, match=f"unknown key '{key}'"):
            validate(config, Settings({key: 1}))
