"""The parts of mending, by hand: holdings and their cost, choices of strategies, rounds, the curve, and its end."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.data import Confounder
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.mending import MendingCurve, MendSettings, confounders, labels, loop, redrawing, round_data, situation
from assay.mending.curve import HEAD, MendingRound
from assay.mending.holdings import Holdings
from assay.mending.situation import Situation
from assay.seeds import rng_for

HELD = Holdings(np.array([[0, -1, 2], [-1, 1, -1]]), (4,), 2, 3, 5, 7)


# holdings


def test_what_is_held_is_counted_and_paid():
    more = Holdings(np.array([[0, 1, 2], [1, 1, -1]]), (4, 6, 9), 6, 3, 6, 20)
    assert HELD.labels == 3 and more.labels == 5
    assert more.bought_since(HELD) == {"labels": 2, "redrawn": 2, "fresh": 4, "nuisances": 0, "masks": 1}
    assert more.spent_since(HELD) == 9 and HELD.spent_since(HELD) == 0
    purchase = more.purchase_since(HELD)
    assert purchase == {
        "labels": [[0, 1, 1], [1, 0, 1]],
        "redrawn": [6, 9],
        "fresh": 4,
        "nuisances": 0,
        "masks": 1,
        "searched": 13,
    }
    again = HELD.with_purchase(json.loads(json.dumps(purchase)))
    assert again.concepts.tolist() == more.concepts.tolist() and again.redrawn == more.redrawn
    assert (again.fresh, again.nuisances, again.masks, again.searched) == (6, 3, 6, 20)


def test_labels_are_what_an_annotator_answers():
    answers = np.array([[9, 8, 7], [6, 5, 4]])
    found = HELD.with_labels(np.array([[0, 1], [1, 2]]), answers)
    assert found.concepts.tolist() == [[0, 8, 2], [-1, 1, 4]] and found.searched == 9 and HELD.concepts[0, 1] == -1
    assert HELD.with_labels(np.array([[0, 1]]), answers, searched=5).searched == 12
    assert Holdings(np.zeros((1, 1))).redrawn == () and Holdings(np.zeros((1, 1))).searched == 0


# the situation


SPACE = ConceptSpace((Concept("a", (0, 1)), Concept("b", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a == 1 and b == 2"})
TRUE = np.array([[0, 1], [1, 2], [1, -1], [0, 0]])
GIVEN = np.array([[1, -1], [-1, -1], [-1, -1], [0, 2]])


class Network:
    name = "net"
    is_network = True
    Config = SimpleNamespace(model_fields={"concept_weight": None})


class Table:
    name = "table"
    is_network = False
    Config = SimpleNamespace(model_fields={"concept_weight": None})


class Training(SimpleNamespace):
    def __len__(self):
        return len(self.concepts)


def facing(held=None, budget=2, model=None, **settings):
    made = Situation(Path("run"), {"train": Training(concepts=TRUE, given_concepts=GIVEN, knowledge=KNOWLEDGE)}, None,
                     Holdings(np.full((4, 2), -1)) if held is None else held, budget, 3, MendSettings(**settings), Path("committee"))  # fmt: skip
    made.__dict__["model"] = model or Network()
    return made


def test_a_round_spends_more_than_the_one_before():
    settings = MendSettings()
    assert [settings.spending(number) for number in (1, 2, 4)] == [10, 20, 80]
    assert [MendSettings(first=3, growth=1.5).spending(number) for number in (1, 2, 3)] == [3, 4, 7]
    assert (settings.strategy, settings.budget, settings.seed, settings.concept_weight, settings.replay) == (
        "plan",
        200,
        0,
        1.0,
        16,
    )
    assert (settings.group_step, settings.reasons_weight, settings.clean) == (0.05, 10.0, None)


def test_annotations_go_before_the_truth():
    held = Holdings(np.array([[-1, -1], [1, -1], [-1, -1], [-1, -1]]))
    assert facing().answers.tolist() == [[1, 1], [1, 2], [1, -1], [0, 2]]
    assert facing(held).is_open.tolist() == [[True, True], [False, True], [True, False], [True, True]]
    assert facing(seed=5).rng.random() == rng_for(5, "mend", "plan", 3).random()


def test_the_highest_scores_are_bought():
    scores = np.array([[0.5, 0.9], [0.9, 0.1], [0.7, 9.0], [0.2, 0.9]])
    bought = facing(budget=3).buy(scores)
    assert bought.concepts.tolist() == [[-1, 1], [1, -1], [-1, -1], [-1, 2]] and bought.searched == 3
    assert facing(budget=99).buy(scores).labels == 7
    for model in (Table(), SimpleNamespace()):
        kind = type("Odd", (), {"name": "odd", "is_network": True, "Config": SimpleNamespace(model_fields={})})
        with pytest.raises(
            ConfigError, match="strategy 'plan' buys concept labels, and model '(table|odd)' does not learn"
        ):
            facing(model=model if isinstance(model, Table) else kind()).buy(scores)


def test_every_concept_must_be_predicted():
    model = Network()
    model.answers = lambda data, given: SimpleNamespace(concepts=(np.zeros((4, 2)),))
    with pytest.raises(ConfigError, match="strategy 'plan' needs a model that predicts every concept"):
        facing(model=model).concepts
    model.answers = lambda data, given: SimpleNamespace(concepts=("p", "q"))
    assert facing(model=model).concepts == ["p", "q"]


# labels one by one


def test_entropy_and_its_greatest():
    rows = np.array([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    assert labels.entropy_of_rows(rows).tolist() == pytest.approx([0.0, 1.5 * np.log(2)])
    assert labels._greatest(rows) == pytest.approx(np.log(3)) and labels._greatest(rows[:, :1]) == pytest.approx(
        np.log(2)
    )


def with_concepts(*soft, **more):
    made = facing(**more)
    made.__dict__["concepts"] = [np.array(rows) for rows in soft]
    return made


A = [[0.9, 0.1], [0.6, 0.4], [0.99, 0.01], [0.8, 0.2]]
B = [[0.6, 0.3, 0.1], [0.98, 0.01, 0.01], [0.9, 0.05, 0.05], [0.4, 0.35, 0.25]]


def test_the_least_sure_is_bought_as_a_share_of_the_greatest_entropy():
    # shares of the greatest entropy: a 0.47, 0.97, 0.08, 0.72; b 0.82, 0.10, -, 0.98
    assert np.argwhere(labels.uncertain_labels(with_concepts(A, B, budget=3)).concepts >= 0).tolist() == [
        [0, 1],
        [1, 0],
        [3, 1],
    ]
    drawn = labels.random_labels(facing(budget=2, seed=1))
    assert (
        drawn.labels == 2
        and drawn.concepts.tolist() == labels.random_labels(facing(budget=2, seed=1)).concepts.tolist()
    )


def test_distances_to_the_boundary():
    found = labels.boundary_distances(
        KNOWLEDGE,
        [np.array([[0.2, 0.8], [0.9, 0.1], [0.4, 0.6]]), np.array([[0.1, 0.3, 0.6], [0.1, 0.2, 0.7], [0.5, 0.2, 0.3]])],
    )
    expected = [[np.log(0.8 / 0.2), np.log(0.6 / 0.3)], [np.log(9), np.inf], [np.inf, np.log(0.5 / 0.3)]]
    assert found.tolist() == [pytest.approx(row) for row in expected]
    bought = labels.boundary_labels(
        with_concepts([[0.2, 0.8]] * 4, [[0.1, 0.3, 0.6], [0.1, 0.1, 0.8], [0.0, 0.0, 1.0], [0.2, 0.2, 0.6]], budget=1)
    )
    assert np.argwhere(bought.concepts >= 0).tolist() == [[0, 1]]


def test_a_committee_is_trained_once(monkeypatch, tmp_path):
    trained, loaded = [], []
    monkeypatch.setattr(
        labels,
        "train_run",
        lambda order, data, folder: trained.append(
            (order.model, dict(order.settings.values), order.seed, data, folder)
        ),
    )
    monkeypatch.setattr(labels, "load_model", lambda run: loaded.append(run) or run)
    monkeypatch.setattr(labels, "_member_concepts", lambda model, data: model)
    made = facing()
    made.__dict__["about"] = {"model": "dpl", "seed": 4, "config": {"epochs": 3, "not_known": 1}}
    assert labels.members_of(made) == Path("committee") and trained == [
        ("bears", {"epochs": 3}, 4, None, Path("committee"))
    ]
    monkeypatch.setattr(labels.RunFolder, "is_finished", property(lambda self: True))
    labels.members_of(made)
    made.__dict__["about"] = {"model": "bears"}
    assert labels.members_of(made) == Path("run") and len(trained) == 1


HELD_NONE = Holdings(np.full((4, 2), -1))


# confounders


def test_labels_take_turns_in_what_is_redrawn(monkeypatch):
    seen = []

    class Redraw:
        def __init__(self, dataset, clean=None):
            seen.append(clean)

        couplings = ()

        def rows_that_fit(self):
            return np.array([0, 1, 2, 3, 5])

    monkeypatch.setattr(confounders, "TrainingRedraw", Redraw)
    data = Training(concepts=TRUE, labels=np.array([[0], [0], [0], [1], [1], [1]]), columns=("image",))
    made = facing(Holdings(np.zeros((6, 2)), redrawn=(3,)), budget=2, clean="there")
    made.__dict__["training"] = data
    found = confounders.augmented_examples(made).redrawn
    assert (
        found[0] == 3 and len(found) == 3 and sorted(data.labels[list(found[1:]), 0].tolist()) == [0, 1] and 5 in found
    )
    assert seen == ["there"] and confounders.fresh_examples(made).fresh == 2
    assert len(confounders.augmented_examples(facing_with(data, 9)).redrawn) == 5


def facing_with(data, budget, **held):
    made = facing(Holdings(np.zeros((6, 2)), redrawn=(3,), **held), budget=budget)
    made.__dict__["training"] = data
    return made


def test_nuisances_and_masks_are_bought_up_to_all_examples(monkeypatch):
    monkeypatch.setattr(confounders, "_require_network", lambda situation: None)
    monkeypatch.setattr(confounders, "TrainingRedraw", lambda dataset: SimpleNamespace(couplings=()))
    data = Training(concepts=np.zeros((6, 2)), columns=("image", "instances"))
    assert confounders.grouped_examples(facing_with(data, 3, nuisances=2)).nuisances == 5
    assert confounders.grouped_examples(facing_with(data, 9, nuisances=2)).nuisances == 6
    assert (
        confounders.masked_examples(facing_with(data, 3, masks=1)).masks == 4
        and confounders.masked_examples(facing_with(data, 9)).masks == 6
    )
    made = facing_with(Training(concepts=np.zeros((6, 2)), columns=("image",)), 3)
    object.__setattr__(made, "dataset", SimpleNamespace(folder="data"))
    with pytest.raises(ConfigError, match="reasons: 'data' has no masks"):
        confounders.masked_examples(made)
    monkeypatch.undo()
    with pytest.raises(
        ConfigError, match="strategy 'plan' changes how a network is trained, and model 'table' is none"
    ):
        confounders._require_network(facing(model=type("Table", (), {"name": "table", "Config": dict})()))


def test_rows_in_which_a_nuisance_goes_with_the_label():
    planted = [Confounder.model_validate({"what": "watermark", "with": "y"}).to_dict()]
    styles = [json.dumps({"nuisances": {"watermark": code}}) for code in (0, 1, 1, 0)]
    data = Training(concepts=np.array([[0, 1], [1, 2], [1, 0], [1, 2]]), labels=np.array([[0], [1], [0], [1]]), index=np.arange(4) + 10,
                    table={"style": SimpleNamespace(to_pylist=lambda: styles)})  # fmt: skip
    dataset = type(
        "Data",
        (dict,),
        {"manifest": {"task": {"confound": planted}, "seed": 3}, "knowledge": KNOWLEDGE, "folder": "data"},
    )(train=data)
    redraw = redrawing.TrainingRedraw(dataset)
    assert redraw.rows_that_fit().tolist() == [0, 1]
    assert redraw._new_index(2, 3).tolist() == [17, 18] and redraw._seed == 3
    dataset.manifest = {"task": {}, "confounded_from": "ff"}
    with pytest.raises(ConfigError, match="'data' declares no confounder to break"):
        redrawing.TrainingRedraw(dataset).rows_that_fit()
    with pytest.raises(ConfigError, match="was marked after it was drawn, so no further examples can be drawn"):
        redrawing.TrainingRedraw(dataset).draw_further(2, 0)
    with pytest.raises(ConfigError, match="name the dataset without marks: --set clean=FOLDER"):
        redrawing.TrainingRedraw(dataset)._unmarked


# data of a round


def round_of(now, first=None, **settings):
    return round_data.RoundData("first data", first or Holdings(np.full((2, 2), -1)), now, MendSettings(**settings))


def test_settings_that_what_was_bought_needs():
    bare = Holdings(np.full((2, 2), -1))
    bought = round_of(Holdings(np.array([[1, -1], [-1, -1]])), replay=5, concept_weight=3.0)
    supervised = {"supervised_concepts": None, "supervised_values": None, "supervised_share": 1.0}
    assert bought.has_labels and not round_of(bare).has_labels
    assert bought.model_settings({"concept_weight": 0.0, "x": 1}) == {
        **supervised,
        "concept_weight": 3.0,
        "supervised_replay": 5,
        "x": 1,
    }
    assert bought.model_settings({"concept_weight": 0.5, "keeps": "best"})["concept_weight"] == 0.5
    assert bought.model_settings({"concept_weight": 0.5, "keeps": "best"})["keeps"] == "best"
    grouped = round_of(Holdings(bare.concepts, nuisances=4), group_step=0.1)
    assert grouped.model_settings({"keeps": "best"}) == {"keeps": "last", "group_step": 0.1, "group_examples": 4}
    masked = round_of(Holdings(bare.concepts, masks=6), reasons_weight=2.0)
    assert masked.model_settings({}) == {"reasons_weight": 2.0, "reasons_examples": 6}
    assert round_of(bare).write(Path("no")) == "first data"


def test_codes_lie_at_the_numbers_of_their_examples():
    data = SimpleNamespace(index=np.array([4, 1]))
    assert round_data._by_index(data, np.array([[1, 2], [3, 4]])).tolist() == [
        [-1, -1],
        [3, 4],
        [-1, -1],
        [-1, -1],
        [1, 2],
    ]


# the curve


def mending_round(number, verdict, spent, **more):
    facts = {"run": f"round-{number}", "searched": 0, "bought": {}, "kinds": (verdict,), "why": f"because {number}"}
    scores = {"label_f1": 0.5 + number / 10, "concept_f1": 0.25, "accuracy": {"test": 0.9, "ood": 0.5}, "seconds": 1.25}
    return MendingRound(number=number, verdict=verdict, spent=spent, **{**facts, **scores, **more})


def test_a_round_as_a_row():
    one = mending_round(2, "noisy", 30, concept_f1=None)
    assert one.cells == ["2", "30", "noisy", "0.70", "", "0.50", "1.2", "because 2"] and len(HEAD) == 8
    assert mending_round(1, "x", 1, accuracy={"ood": 0.5, "unconfounded": 0.75}).elsewhere == 0.75
    assert mending_round(1, "x", 1, accuracy={"test": 0.5}).elsewhere is None
    plain = json.loads(json.dumps({**one.__dict__, "kinds": list(one.kinds)}))
    assert MendingRound.from_dict(plain) == one


def test_the_curve_of_a_mending():
    rounds = (
        mending_round(0, "shortcut", 0),
        mending_round(1, "noisy", 10),
        mending_round(2, "sound", 30),
        mending_round(3, "sound", 70),
    )
    curve = MendingCurve("plan", rounds, ("sound", "opaque"), "the verdict is sound")
    assert curve.mended is rounds[2] and curve.spent == 70
    assert (
        curve.text == "shortcut -> sound, 30 spent by 'plan'" and repr(curve) == f"MendingCurve({curve.text}; 3 rounds)"
    )
    found = curve.to_dict()
    assert (
        found["spent_until_mended"] == 30
        and found["goal"] == ["sound", "opaque"]
        and len(found["rounds"]) == 4
        and found["ended"]
    )
    failed = MendingCurve("plan", rounds[:2], ("sound",), "the budget is spent")
    assert failed.mended is None and failed.to_dict()["spent_until_mended"] is None
    assert failed.text == "shortcut -> noisy, not mended with 10 spent by 'plan': the budget is spent"
    (axes,) = curve.plot().axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["label F1", "concept F1", "elsewhere"]
    assert axes.lines[0].get_xdata().tolist() == [0, 10, 30, 70] and axes.lines[
        0
    ].get_ydata().tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8])
    silent = MendingCurve("plan", (mending_round(0, "opaque", 0, concept_f1=None),), ("sound",))
    assert [text.get_text() for text in silent.plot().axes[0].get_legend().get_texts()] == ["label F1", "elsewhere"]
    assert curve.to_frame()["spent"].tolist() == [0, 10, 30, 70] and "because 3" in curve._repr_html_()


def score(value, applies=True):
    return SimpleNamespace(value=value, applies=applies)


def test_a_round_of_a_diagnosis(monkeypatch):
    from assay.mending import curve

    monkeypatch.setattr(curve, "headline", lambda diagnosis: SimpleNamespace(verdict="noisy", why="why"))
    scores = {
        "test": {"label_f1": score(0.9), "concept_f1": score(0.3, applies=False), "label_accuracy": score(0.8)},
        "ood": {"label_accuracy": score(0.4)},
    }
    made = MendingRound.of(
        SimpleNamespace(scores=scores, kinds=("noisy", "boundary")),
        number=1,
        run="r",
        spent=5,
        searched=6,
        bought={},
        seconds=0.5,
    )
    assert (made.label_f1, made.concept_f1, made.accuracy, made.kinds) == (
        0.9,
        None,
        {"test": 0.8, "ood": 0.4},
        ("noisy", "boundary"),
    )


# the loop


def under_way(tmp_path, rounds, rule=True, model="cbm", **settings):
    data = SimpleNamespace(knowledge=SimpleNamespace(has_rule=rule), fingerprint="ff", folder="data")
    made = loop._Mending(
        SimpleNamespace(folder=Path("run")), data, MendSettings(**settings), tmp_path, lambda *words: None, rounds
    )
    made.__dict__["about"] = {"model": model, "seed": 1, "config": {"epochs": 2}}
    made.__dict__["first"] = Holdings(np.full((2, 2), -1))
    return made


def test_when_a_mending_ends(tmp_path):
    assert under_way(tmp_path, []).goal == ("sound", "unidentified") and under_way(tmp_path, [], rule=False).goal == (
        "no rule",
    )
    assert under_way(tmp_path, [], model="blackbox").goal == ("sound", "unidentified", "opaque")
    for verdict, spent, why in (
        ("sound", 0, "the verdict is sound"),
        ("noisy", 199, None),
        ("noisy", 200, "the budget is spent"),
        ("sound", 200, "the verdict is sound"),
    ):
        assert under_way(tmp_path, [mending_round(0, verdict, spent)])._end() == why


def test_what_a_round_may_spend(tmp_path, monkeypatch):
    monkeypatch.setattr(loop.RunFolder, "dataset", lambda self, known=None: f"data of {self.folder.name}")
    made = under_way(tmp_path, [mending_round(0, "noisy", 0)], first=10, budget=25)
    first = made._situation(1, "held")
    assert (first.run, first.current, first.budget, first.number, first.committee) == (
        Path("run"),
        made.dataset,
        10,
        1,
        tmp_path / "committee-1",
    )
    made.rounds.append(mending_round(1, "noisy", 10))
    second = made._situation(2, "held")
    assert (second.run, second.current, second.budget) == (tmp_path / "round-1", "data of round-1", 15)


def test_rounds_are_kept_and_taken_up(tmp_path):
    made = under_way(tmp_path, [mending_round(0, "noisy", 0), mending_round(1, "noisy", 2)])
    bought = Holdings(np.array([[1, -1], [-1, 0]]), fresh=1)
    made.purchases += [made.first.purchase_since(made.first), bought.purchase_since(made.first)]
    assert made.holdings.concepts.tolist() == [[1, -1], [-1, 0]] and made.holdings.fresh == 1
    assert made._keep("it ended").ended == "it ended"
    record = json.loads((tmp_path / "mending.json").read_text())
    assert record["ended"] == "it ended" and record["data"] == "ff" and record["rounds"][1]["purchase"]["fresh"] == 1
    again = under_way(tmp_path, [])
    again._resume()
    assert again.rounds == made.rounds and again.holdings.concepts.tolist() == [[1, -1], [-1, 0]]
    other = under_way(tmp_path, [], seed=5)
    with pytest.raises(DataError, match="holds another mending; choose another folder or delete it"):
        other._resume()
    for text in ("{", "{}", '{"rounds": 1}', "[]"):
        (tmp_path / "mending.json").write_text(text)
        with pytest.raises(DataError, match="is damaged; delete the folder and mend again"):
            loop.read_record(tmp_path / "mending.json")


def test_a_mending_goes_on_until_it_ends(tmp_path, monkeypatch):
    made = under_way(tmp_path, [mending_round(0, "noisy", 0)], budget=9, strategy="random")
    made.purchases.append(made.first.purchase_since(made.first))
    bought = iter(
        [
            Holdings(np.array([[1, -1], [-1, -1]])),
            Holdings(np.array([[1, 1], [1, 1]])),
            Holdings(np.array([[1, 1], [1, 1]])),
        ]
    )
    monkeypatch.setattr(loop, "STRATEGIES", {"random": lambda situation: next(bought)})
    monkeypatch.setattr(loop._Mending, "_resume", lambda self: None)
    monkeypatch.setattr(loop._Mending, "_situation", lambda self, number, before: None)
    trained = []

    def judge(self, run, data, now, before, began):
        self.purchases.append(now.purchase_since(before))
        self.rounds.append(mending_round(len(self.rounds), "noisy", now.spent_since(self.first)))

    monkeypatch.setattr(
        loop._Mending, "_train", lambda self, number, now: trained.append((number, now.labels)) or ("run", "data")
    )
    monkeypatch.setattr(loop._Mending, "_judge", judge)
    curve = made.carry_out()
    assert trained == [(1, 1), (2, 4)] and curve.ended == "nothing is left that it could buy" and curve.spent == 4


def test_a_model_is_mended_on_its_own_data(monkeypatch, tmp_path):
    monkeypatch.setattr(loop, "check_dataset", lambda run, data: None)
    for lacking in ("train", "valid"):
        data = type("Data", (dict,), {"folder": "data"})({name: 1 for name in ("train", "valid") if name != lacking})
        with pytest.raises(ConfigError, match=f"'data' has no split '{lacking}'; a model is mended without stages"):
            loop.mend_run(Path("run"), data, MendSettings(), tmp_path)


def test_situations_load_their_model_and_record(monkeypatch):
    monkeypatch.setattr(situation, "load_model", lambda run: f"model of {run}")
    monkeypatch.setattr(situation.RunFolder, "about", lambda self: {"of": self.folder.name})
    made = Situation(Path("run"), {"train": "rows"}, None, HELD_NONE, 1, 1, MendSettings(), Path("c"))
    assert made.model == "model of run" and made.about == {"of": "run"} and made.training == "rows"
