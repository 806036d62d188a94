"""What each strategy buys: as much as it may, nothing twice, the same for the same seed, and what it is named for."""

import numpy as np
import pytest

import assay
from assay.base import ConfigError, Settings
from assay.diagnosis import diagnose_run
from assay.lab import STRATEGIES, AcquiredData, AcquisitionContext, MendSettings, mend_run
from assay.models import TrainSpec, load_model, train_run
from assay.runs import RunFolder
from tests.pixels import pixels, trained

UNTRAINED = {"epochs": 1, "learning_rate": 1e-9}
LABELS = ("plan", "uncertainty", "disagreement", "boundary", "random")


@pytest.fixture(scope="module")
def committee(tmp_path_factory):
    return tmp_path_factory.mktemp("committee") / "run"


@pytest.fixture
def situation(run, data, committee):
    def make(strategy="random", budget=6, holdings=None, seed=0):
        nothing = AcquiredData(np.full(data["train"].concepts.shape, -1))
        chosen = MendSettings(strategy=strategy, seed=seed)
        return AcquisitionContext(
            run, data, data, nothing if holdings is None else holdings, budget, 1, chosen, committee
        )

    return make


@pytest.mark.parametrize("name", LABELS)
def test_as_much_is_bought_as_may_be_and_nothing_twice(name, situation, data):
    first = STRATEGIES[name](situation(name))
    again = STRATEGIES[name](situation(name))
    assert first.labels == 6 and np.array_equal(first.concepts, again.concepts)
    more = STRATEGIES[name](situation(name, 9, first))
    had = first.concepts >= 0
    assert more.labels == 15 and np.array_equal(more.concepts[had], first.concepts[had])
    bought = more.concepts >= 0
    assert np.array_equal(more.concepts[bought], data["train"].concepts[bought])


def test_random_choice_follows_the_seed(situation):
    choices = [STRATEGIES["random"](situation(seed=seed)).concepts for seed in (0, 1)]
    assert not np.array_equal(*choices)


def answers_of(asked):
    """Return what the model says of each concept of the training split, as probabilities."""
    said = load_model(asked.run).predict(asked.training).concepts
    return [np.asarray(said[name].probabilities, dtype=float) for name in asked.dataset.knowledge.space.names]


def chosen_and_left(name, asked, columns):
    """Return the scores of what a strategy buys and of what it leaves, by those of all cells."""
    cells = STRATEGIES[name](asked).concepts >= 0
    return columns[cells], columns[~cells]


def test_the_least_certain_labels_come_first(situation):
    asked = situation("uncertainty", budget=9)
    entropies = [-(p * np.log(np.clip(p, 1e-12, 1))).sum(axis=1) / np.log(p.shape[1]) for p in answers_of(asked)]
    bought, left = chosen_and_left("uncertainty", asked, np.stack(entropies, axis=1))
    assert bought.min() >= left.max() - 1e-6


def distances(knowledge, probabilities):
    """Return for each cell the least log ratio to a value of the concept that moves a label, by trying every value."""
    own = np.stack([p.argmax(axis=1) for p in probabilities], axis=1)
    labels, found = knowledge.labels_of(own), np.full(own.shape, np.inf)
    for row, place in np.ndindex(*own.shape):
        for value, p in enumerate(probabilities[place][row]):
            other = own[row].copy()
            other[place] = value
            if (knowledge.labels_of(other[None])[0] != labels[row]).any():
                ratio = np.log(probabilities[place][row, own[row, place]] / p)
                found[row, place] = min(found[row, place], ratio)
    return found


def test_labels_near_the_boundary_come_first(situation, data):
    asked = situation("boundary", budget=9)
    far = distances(data.knowledge, answers_of(asked))
    bought, left = chosen_and_left("boundary", asked, far)
    assert bought.max() <= left.min() + 1e-5


def test_the_labels_that_a_run_was_supervised_on_are_not_bought_again(data, tmp_path):
    trained("dpl", data, tmp_path / "run", {**UNTRAINED, "concept_weight": 1.0, "supervised_share": 0.25})
    chosen = MendSettings(strategy="random", budget=40, first=40)
    mend_run(tmp_path / "run", data, chosen, tmp_path / "out")
    given = RunFolder(tmp_path / "out" / "round-1").dataset()["train"].annotated_concepts
    assert abs((given >= 0).sum() - (0.25 * given.size + 40)) <= 0.02 * given.size


@pytest.mark.parametrize("name", LABELS)
def test_not_more_is_bought_than_there_is(name, situation, data):
    size = data["train"].concepts.size
    bought = STRATEGIES[name](situation(name, budget=size + 10))
    assert bought.labels <= bought.searched and (bought.labels == size or name == "plan")


def test_the_plan_shows_only_values_that_count_names(situation, data):
    """Both pixels are read as their opposites: a single value of one settles both, labels decide the other."""
    (named,) = {step.supervised for step in assay.count(data).readings.plan()}
    bought = STRATEGIES["plan"](situation("plan"))
    space = data.knowledge.space
    rows, columns = np.nonzero(bought.concepts >= 0)
    shown = {
        (space.names[c], space.concepts[c].values[bought.concepts[r, c]]) for r, c in zip(rows, columns, strict=True)
    }
    assert {f"{name} {value}" for name, value in shown} == {named}
    assert bought.searched >= bought.labels


@pytest.fixture(scope="module")
def wider(tmp_path_factory):
    """A rule on two pixels of three, and a model that follows it; none of its concepts was supervised."""
    data = pixels(tmp_path_factory.mktemp("wider") / "data", formula="a and b")
    folder = tmp_path_factory.mktemp("wider") / "run"
    trained("dpl", data, folder, UNTRAINED)
    return data, folder


def facing(wider, strategy, budget, held=None):
    data, run = wider
    nothing = AcquiredData(np.full(data["train"].concepts.shape, -1))
    return AcquisitionContext(
        run, data, data, held or nothing, budget, 1, MendSettings(strategy=strategy), run / "committee"
    )


@pytest.mark.parametrize("name", [name for name in LABELS if name != "disagreement"])
def test_only_the_baseline_buys_what_the_rule_does_not_use(name, wider):
    bought = STRATEGIES[name](facing(wider, name, 90)).concepts
    outside = wider[0].knowledge.space.place("c")
    assert (bought >= 0).sum() == 90 and bool((bought[:, outside] >= 0).any()) == (name == "random")


def test_the_plan_buys_what_is_misread_and_no_label_that_the_rule_gives(wider):
    """An untrained model predicts one value of each pixel; where `a and b` holds, both are known to be true."""
    data = wider[0]
    bought = STRATEGIES["plan"](facing(wider, "plan", 40)).concepts
    rows, columns = np.nonzero(bought >= 0)
    misread = {
        state.concept for state in diagnose_run(RunFolder(wider[1]), data).concepts["valid"] if state.state != "right"
    }
    assert {data.knowledge.space.names[column] for column in columns} <= misread - {"c"}
    assert not data["train"].labels[rows, 0].any()
    for column in set(columns.tolist()):
        values = np.bincount(bought[rows[columns == column], column], minlength=2)
        assert abs(int(values[0]) - int(values[1])) <= 1


def test_labels_that_are_held_count_when_a_round_is_shared_out(wider):
    first = STRATEGIES["plan"](facing(wider, "plan", 7))
    more = STRATEGIES["plan"](facing(wider, "plan", 9, first))
    alone = STRATEGIES["plan"](facing(wider, "plan", 16))
    counts = [np.stack([(one.concepts == code).sum(axis=0) for code in (0, 1)]) for one in (more, alone)]
    assert more.labels == alone.labels == 16 and np.abs(counts[0] - counts[1]).max() <= 1


def test_a_plan_needs_something_to_show(tmp_path):
    """A rule that leaves one reading: nothing is left to buy."""
    data = pixels(tmp_path / "data")
    trained("dpl", data, tmp_path / "run", {"epochs": 1, "concept_weight": 1.0})
    curve = mend_run(tmp_path / "run", data, MendSettings(budget=4, first=4), tmp_path / "out")
    assert curve.spent == 0 and curve.ended


def test_who_learns_from_no_labels_or_predicts_no_concepts_is_refused(data, tmp_path):
    for model in ("tree", "blackbox"):
        train_run(TrainSpec(model, Settings({"epochs": 1} if model == "blackbox" else {}), 0), data, tmp_path / model)
        for strategy in ("random", "uncertainty"):
            with pytest.raises(ConfigError, match=f"strategy '{strategy}' .*'{model}'|predicts every concept"):
                STRATEGIES[strategy](facing((data, tmp_path / model), strategy, 3))
