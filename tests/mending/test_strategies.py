"""What each strategy buys: as much as it may, nothing twice, the same for the same seed, and what it is named for."""

import numpy as np
import pytest

import assay
from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import diagnose_run
from assay.errors import ConfigError
from assay.logic import Constraint, Knowledge, parse
from assay.mending import STRATEGIES, MendSettings
from assay.mending.holdings import Holdings
from assay.mending.labels import boundary_distances
from assay.mending.plan import count_values
from assay.mending.situation import Situation
from assay.models import load_model, supervised_labels
from assay.runs import RunFolder
from tests.pixels import pixels, trained

LABELS = ("plan", "uncertainty", "disagreement", "boundary", "random")


@pytest.fixture(scope="module")
def committee(tmp_path_factory):
    return tmp_path_factory.mktemp("committee") / "run"


@pytest.fixture
def situation(run, data, committee):
    def make(strategy="random", budget=6, holdings=None, seed=0):
        nothing = Holdings(np.full(data["train"].concepts.shape, -1))
        chosen = MendSettings(strategy=strategy, seed=seed)
        return Situation(run, data, data, nothing if holdings is None else holdings, budget, 1, chosen, committee)

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


def test_the_least_certain_labels_come_first(situation):
    asked = situation("uncertainty", budget=2)
    sure = np.tile([0.99, 0.01], (len(asked.training), 1))
    vars(asked)["concepts"] = [sure.copy(), sure.copy()]
    asked.concepts[0][7] = asked.concepts[1][3] = [0.6, 0.4]
    assert np.argwhere(STRATEGIES["uncertainty"](asked).concepts >= 0).tolist() == [[3, 1], [7, 0]]


def test_labels_near_the_boundary_come_first(situation):
    asked = situation("boundary", budget=1)
    sure = np.tile([0.99, 0.01], (len(asked.training), 1))
    vars(asked)["concepts"] = [sure.copy(), sure.copy()]
    asked.concepts[1][5] = [0.45, 0.55]
    assert np.argwhere(STRATEGIES["boundary"](asked).concepts >= 0).tolist() == [[5, 1]]


def test_the_distance_to_the_boundary_is_that_of_the_nearest_value_that_moves_the_label(data):
    rows = [np.array([[0.7, 0.3]]), np.array([[0.2, 0.8]])]
    expected = [[np.log(0.7 / 0.3), np.log(0.8 / 0.2)]]
    assert np.allclose(boundary_distances(data.knowledge, rows), expected)


def test_disputed_labels_are_those_on_which_members_differ(situation, monkeypatch):
    asked = situation("disagreement", budget=1)
    rows = len(asked.training)
    one, other = (np.tile(p, (rows, 1)) for p in ([0.5, 0.5], [0.5, 0.5]))
    first, second = one.copy(), other.copy()
    first[4], second[4] = [0.9, 0.1], [0.1, 0.9]
    monkeypatch.setattr("assay.mending.labels.members_of", lambda _: [[first, one], [second, other]])
    assert np.argwhere(STRATEGIES["disagreement"](asked).concepts >= 0).tolist() == [[4, 0]]


def test_a_run_has_the_labels_that_it_was_supervised_on(data, tmp_path):
    trained("dpl", data, tmp_path / "a", {"epochs": 1})
    trained("dpl", data, tmp_path / "b", {"epochs": 1, "concept_weight": 1.0, "supervised_share": 0.25})
    none, some = (supervised_labels(load_model(tmp_path / name), data["train"]) for name in "ab")
    assert (none < 0).all() and abs((some >= 0).mean() - 0.25) < 0.01


def test_purchases_are_kept_as_plain_data():
    before = Holdings(np.array([[-1, 1], [-1, -1]]), redrawn=(4,), searched=3)
    after = Holdings(np.array([[0, 1], [-1, 1]]), redrawn=(4, 2), fresh=1, nuisances=5, masks=2, searched=9)
    purchase = after.purchase_since(before)
    again = before.with_purchase(purchase)
    assert purchase["labels"] == [[0, 0, 0], [1, 1, 1]] and purchase["redrawn"] == [2]
    assert np.array_equal(again.concepts, after.concepts) and again.spent_since(before) == 2 + 1 + 1 + 5 + 2
    assert (again.redrawn, again.searched) == ((4, 2), 9)


def test_distances_to_the_boundary_by_trying_every_value():
    space = ConceptSpace((Concept("n", (0, 1, 2)), Concept("b", (False, True)), Concept("idle", (False, True))))
    knowledge = Knowledge.of(space, {"y": "n >= 1 and b"}, [Constraint("small", parse("n + b <= 2"))])
    rng = np.random.default_rng(0)
    concepts = [rng.dirichlet(np.ones(size), size=40) for size in space.sizes]
    found = boundary_distances(knowledge, concepts)
    for row in range(40):
        own = [int(p[row].argmax()) for p in concepts]
        label = own[0] >= 1 and own[1] == 1
        for place, size in enumerate(space.sizes):
            gaps = [np.inf]
            for value in range(size):
                other = [*own[:place], value, *own[place + 1 :]]
                if (other[0] >= 1 and other[1] == 1) != label and other[0] + other[1] <= 2:
                    gaps.append(np.log(concepts[place][row, own[place]] / concepts[place][row, value]))
            assert found[row, place] == pytest.approx(min(gaps))
    assert np.isinf(found[:, 2]).all()


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
    trained("dpl", data, folder, {"epochs": 1, "learning_rate": 1e-9})
    return data, folder


def facing(wider, strategy, budget, held=None):
    data, run = wider
    nothing = Holdings(np.full(data["train"].concepts.shape, -1))
    return Situation(run, data, data, held or nothing, budget, 1, MendSettings(strategy=strategy), run / "committee")


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
    """A labelled network that reads `a and b` right, of a rule that leaves one reading: nothing is left to buy."""
    data = pixels(tmp_path / "data")
    with pytest.raises(ConfigError, match="leave only the right reading.*--strategy uncertainty"):
        count_values(data)
