"""What each step of a discovery is given: splits, seeds, layers and settings go where they belong."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assay.concepts import Concept, ConceptSpace
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge, evaluate, parse
from assay.models import DiscoveryPlan, discover
from assay.models.discovery import discovering, rule_on_top, runs, sources
from assay.models.discovery.bottlenecks import LabelFreeCBM, LabelFreeConfig, PosthocCBM, PosthocConfig
from assay.models.discovery.components import ICA, PCA, IterativeConfig, KMeans
from assay.models.discovery.discovering import Discovery
from assay.models.discovery.method import DiscoveryConfig, Scaler, SplitRows
from assay.models.discovery.rule_on_top import learn_rule
from assay.models.probes.activations import INPUT, LayerFacts
from assay.models.symbolic.perception import one_hot
from tests.models.discovery.test_edges import discovery, found, match

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"})
CPU = torch.device("cpu")


def noted(notes, name, result=None):
    """Return a function that notes what it is called with."""
    return lambda *given, **named: notes.append((name, *given, *named.values())) or result


# -- from start to end -------------------------------------------------------------------------------------------------


class Data(dict):
    """A dataset whose splits are their names."""

    knowledge = "knowledge"

    def __missing__(self, name):
        return SimpleNamespace(name=name)


@pytest.fixture
def steps(monkeypatch):
    """Note what the steps of a discovery are given, each of which gives its own name."""
    notes = []

    class Method:
        reads = "activations"

        def __init__(self, config, seed):
            self.config, self.seed = config, seed

        def fit(self, train, valid, report):
            notes.append(("fit", self.seed, train.rows, valid.rows, report))

    def judge(method, *splits):
        notes.append(("judge", method.config, method.seed, *(split.rows for split in splits)))
        return SimpleNamespace(test_units=f"units {method.seed}")

    def read(data):
        return SimpleNamespace(data=data, rows=f"rows of {data.name}")

    def sample(data, most):
        notes.append(("sample", data.name, most))
        return data

    monkeypatch.setattr(discovering, "METHODS", {"m": Method, "p": type("Of", (Method,), {"reads": "pictures"})})
    monkeypatch.setattr(discovering, "open_source", noted(notes, "source", SimpleNamespace(name="run@body", rows=read)))
    monkeypatch.setattr(discovering, "pictures_of", read)
    monkeypatch.setattr(discovering, "split_for", lambda dataset, name: f"{name}-1")
    monkeypatch.setattr(discovering, "_sample", sample)
    monkeypatch.setattr(discovering, "_true_concepts", lambda data: (f"concepts of {data.name}", "labels"))
    monkeypatch.setattr(discovering, "learn_rule", noted(notes, "truth", "true rule"))
    monkeypatch.setattr(discovering, "_judge", judge)
    monkeypatch.setattr(discovering, "score_stability", noted(notes, "stability", "stable"))
    return notes


CONFIG = DiscoveryConfig(examples=30, most_features=9, learner="rules", repetitions=3, device="cpu")


def test_seeds_and_splits_go_through_all_steps(steps):
    told, data = [], Data()
    plan = DiscoveryPlan("m", "run", CONFIG, (4, 2), "body")

    def report(*said):
        told.append(said)

    found = discover(plan, data, report)
    assert steps[0] == ("source", "run", "body", data, 9, "cpu")
    assert steps[1:4] == [("sample", "train-1", 30), ("sample", "valid-1", 30), ("sample", "test", 30)]
    assert steps[4] == ("truth", "rules", "knowledge", "concepts of train-1", "labels", 4)
    rows = ("rows of train-1", "rows of valid-1", "rows of test")
    for place, seed in enumerate((4, 2)):
        assert steps[5 + 2 * place] == ("fit", seed, *rows[:2], report)
        assert steps[6 + 2 * place] == ("judge", CONFIG, seed, *rows)
    assert steps[9:] == [("stability", ["units 4", "units 2"], 4, 3)]
    assert told == [("activations", 0, 1), ("scoring seed 4", 0, 1), ("scoring seed 2", 0, 1)]
    assert (found.plan, found.source, found.stability, found.rule_from_truth) == (
        plan,
        "run@body",
        "stable",
        "true rule",
    )
    assert (found.shown.name, found.fitted, found.first.test_units) == ("test", "valid-1", "units 4")
    assert found.model == "m+run@body" and found.read(SimpleNamespace(name="hard")).rows == "rows of hard"


def test_methods_of_pictures_open_no_source(steps):
    found = discover(DiscoveryPlan("p", INPUT, CONFIG, (1,)), Data())
    assert steps[0][0] == "sample" and found.source == INPUT and found.model == "p+input"


def test_units_are_matched_on_validation_and_judged_on_the_test_split(monkeypatch):
    notes = []
    units = {"train": "train units", "valid": "valid units", "test": np.array([[1.0, 5, 2], [3, 5, 4]])}
    rows = {
        name: SplitRows(
            SimpleNamespace(
                name=name, knowledge=KNOWLEDGE, concepts=f"{name} concepts", labels=f"{name} labels",
                given_concepts="annotated", given_labels=f"{name} annotated",
            ),
            None,
        )
        for name in units
    }  # fmt: skip
    matches = tuple(SimpleNamespace(match=name) for name in ("first", "second"))
    readout = SimpleNamespace(probabilities=lambda given: ("read", given))
    monkeypatch.setattr(discovering, "score_units", noted(notes, "scores", SimpleNamespace(matches=matches)))
    monkeypatch.setattr(discovering, "fit_readout", noted(notes, "readout", readout))
    monkeypatch.setattr(discovering, "learn_rule", noted(notes, "rule", "the rule"))
    method = SimpleNamespace(config=CONFIG, seed=5, units=lambda split: units[split.data.name])
    found = discovering._judge(method, rows["train"], rows["valid"], rows["test"])
    (_, fit, judged, space, seed, repetitions), (_, again, matched, same), rule = notes
    assert (fit.units, fit.concepts, fit.labels) == ("valid units", "valid concepts", "valid labels") and again is fit
    assert judged.units is units["test"] and (judged.concepts, judged.labels) == ("test concepts", "test labels")
    assert (space, seed, repetitions) == (SPACE, 5, 3) and (matched, same) == (("first", "second"), SPACE)
    assert rule == ("rule", "rules", KNOWLEDGE, ("read", "train units"), "train annotated", 5)
    assert (found.rule, found.readout, found.live, found.seed) == ("the rule", readout, 2, 5)
    assert found.test_units is units["test"] and found.scores.matches is matches


def test_the_labels_are_those_of_the_methods_own_head_if_it_has_one():
    def discovery(head):
        method = SimpleNamespace(
            units=lambda split: split.rows + 1, label_probabilities=lambda units: head and head(units)
        )
        readout = SimpleNamespace(probabilities=lambda units: [units, units[:, ::-1]])
        rule = SimpleNamespace(labels=lambda concepts: [1 - part for part in concepts])
        return Discovery(method, None, readout, rule, np.zeros((2, 2)), 2)

    data = SimpleNamespace(fingerprint="f", name="hard", index=np.array([8, 3]), knowledge=KNOWLEDGE)
    split = SplitRows(data, np.array([[-0.75, -0.25], [-0.5, -0.5]]))
    units = split.rows + 1
    said = discovery(None).predict(split)
    assert (said.fingerprint, said.split, said.index.tolist()) == ("f", "hard", [8, 3])
    assert list(said.labels) == ["y", "z"] and list(said.concepts) == ["a", "n"]
    for answer, wanted in (
        (said.concepts["a"], units),
        (said.concepts["n"], units[:, ::-1]),
        (said.labels["y"], 1 - units),
    ):
        np.testing.assert_allclose(answer.probabilities, wanted, atol=1e-6)
    own = discovery(lambda units: [units / 2, units / 4]).predict(split)
    np.testing.assert_allclose(own.labels["z"].probabilities, units / 4, atol=1e-6)


# -- the rule on top ---------------------------------------------------------------------------------------------------


class Learner:
    """A learner that gives the true labels, but for `z` where it is told to."""

    def __init__(self, knowledge, layout, settings, backbones, seed):
        self.given = (settings.values, seed)

    def learn(self, examples):
        self.examples = examples

    def state(self):
        return {"labels": {}}

    def labels_from_concepts(self, concepts):
        codes = np.stack([part.argmax(axis=1) for part in concepts], axis=1)
        labels = KNOWLEDGE.labels_of(codes)
        labels[:, 1] += (codes[:, 1] == self.wrong) & (labels[:, 1] == 0)
        return [np.eye(len(label.values))[labels[:, place]] for place, label in enumerate(KNOWLEDGE.labels)]


@pytest.mark.parametrize(("wrong", "agreement"), [(7, 1.0), (0, 5 / 6)])
@pytest.mark.parametrize(("every", "exact"), [([True, True], True), ([True, False], False), ([], True)])
def test_a_rule_is_compared_on_all_worlds_and_then_by_its_formulas(monkeypatch, wrong, agreement, every, exact):
    monkeypatch.setattr(rule_on_top, "MODELS", {"mine": Learner})
    monkeypatch.setattr(Learner, "wrong", wrong, raising=False)
    relations = [SimpleNamespace(exact=one, relation="equal") for one in every]
    monkeypatch.setattr(rule_on_top, "relations_in", lambda program, knowledge: relations)
    concepts = [np.array([[0.4, 0.6], [0.7, 0.3]]), np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])]
    found = learn_rule("mine", KNOWLEDGE, concepts, np.array([[1, 3], [0, 0]]), 6)
    assert found.model.given == ({}, 6) and found.learner == "mine" and found.program == {"labels": {}}
    examples = found.model.examples
    assert examples.codes.tolist() == [[1, 2], [0, 0]] and examples.labels.tolist() == [[1, 3], [0, 0]]
    assert [part.tolist() for part in examples.probabilities] == [[[0, 1], [1, 0]], [[0, 0, 1], [1, 0, 0]]]
    assert found.agreement == pytest.approx(agreement) and found.relations == (tuple(relations) if wrong == 7 else ())
    assert found.exact is (exact if wrong == 7 else True)


def test_a_sample_of_worlds_is_told_as_one(monkeypatch):
    monkeypatch.setattr(rule_on_top, "MODELS", {"mine": Learner})
    monkeypatch.setattr(Learner, "wrong", 0, raising=False)
    monkeypatch.setattr(rule_on_top, "MOST_WORLDS", 4)
    found = learn_rule("mine", KNOWLEDGE, one_hot(SPACE.all_codes(), SPACE), np.zeros((6, 2), dtype=int), 0)
    assert not found.exact and found.relations == () and "sampled worlds" in found.text


def test_a_tree_asks_for_each_value_of_each_concept():
    worlds = SPACE.all_codes()
    asked = [np.asarray(evaluate(test, SPACE, worlds), dtype=float) for test in rule_on_top._tests(SPACE)]
    np.testing.assert_array_equal(np.stack(asked, axis=1), np.concatenate(one_hot(worlds, SPACE), axis=1))
    parts = {
        "left": np.array([1, -1, 3, -1, -1]), "right": np.array([2, -1, 4, -1, -1]),
        "feature": np.array([0, -2, 4, -2, -2]), "classes": np.array([1, 3]),
        "shares": np.array([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [0.3, 0.7]]),
    }  # fmt: skip
    found = [
        (code, [str(test) for test in path])
        for code, path in rule_on_top._leaves(parts, 0, (), rule_on_top._tests(SPACE))
    ]
    assert found == [(3, ["not not a"]), (1, ["not a", "not n == 2"]), (3, ["not a", "n == 2"])]


def test_a_value_that_no_leaf_says_is_never_true():
    parts = {
        "left": np.array([1, -1, -1]), "right": np.array([2, -1, -1]), "feature": np.array([1, -2, -2]),
        "classes": np.array([0, 3]), "shares": np.array([[0.7, 0.3], [0.9, 0.1], [0.6, 0.4]]),
    }  # fmt: skip
    tree = SimpleNamespace(space=SPACE, knowledge=KNOWLEDGE, parts={"y": {"classes": np.array([1])}, "z": parts})
    (zero, first), (three, second) = rule_on_top._tree_program(tree)["labels"]["z"]["formulas"]
    assert (zero, three, second) == (0, 3, "False")
    assert np.asarray(evaluate(parse(first), SPACE, SPACE.all_codes()), dtype=bool).all()


def test_a_score_of_0_is_written():
    lines = runs._csv(found(discovery(7, (), [match("a", 0, 0.0), match("b", 3, 1.0)]))).splitlines()
    assert lines[1:] == ["7,a,0,1,0.0000,0.2500,0.7500,0.1250", "7,b,3,1,1.0000,0.2500,0.7500,0.1250"]


# -- sources -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def network(monkeypatch):
    """A network of two layers, whose activations say what they were asked for."""
    asked = []
    layers = [LayerFacts("in", "pictures", 4, True), LayerFacts("body", "x", 3, True), LayerFacts("act", "x", 3, False)]
    made = torch.nn.Sequential(torch.nn.Linear(1, 1))
    monkeypatch.setattr(sources, "layers_of", lambda subject, images: asked.append((subject, images)) or layers)
    monkeypatch.setattr(sources.Subject, "of", lambda network: network)
    monkeypatch.setattr(sources, "activations", lambda subject, layer, images, most: (subject, layer, images, most))
    monkeypatch.setattr(sources, "split_for", lambda dataset, name: f"{name}-1")
    monkeypatch.setattr(sources, "rows_of", lambda parts, count, most: (parts, count, most))
    made.asked = asked
    return made


def pictures(count, name="train-1"):
    images = (np.arange(count * 6, dtype=np.uint8) * 7).reshape(count, 2, 3, 1)
    return type("Split", (list,), {"__getitem__": lambda self, cut: pictures(len(range(count)[cut]), name),
                                   "columns": ("image",), "images": images, "name": name})(range(count))  # fmt: skip


@pytest.mark.parametrize(("layer", "chosen"), [(None, "in"), ("act", "act")])
def test_a_layer_of_a_run_is_the_named_one_or_the_one_before_the_last(network, monkeypatch, tmp_path, layer, chosen):
    checked = []
    (tmp_path / "run.json").write_text("{}")
    monkeypatch.setattr(sources.RunFolder, "about", lambda self: {"model": "dpl"})
    monkeypatch.setattr(sources, "check_dataset", lambda run, dataset: checked.append((run.folder, dataset)))
    monkeypatch.setattr(sources, "load_network", lambda folder: network if folder == tmp_path else None)
    data = {"train-1": pictures(5)}
    source = sources.open_source(str(tmp_path), layer, data, 17, "cpu")
    assert (source.name, source.layer, source.device) == (f"dpl@{chosen}", chosen, CPU)
    assert source.compute("images") == (network, chosen, "images", 17) and checked == [(tmp_path, data)]
    subject, shown = network.asked[0]
    assert subject is network and shown.shape == (2, 1, 2, 3)
    np.testing.assert_allclose(shown[:, 0], pictures(5).images[:2, :, :, 0] / 255, atol=1e-6)
    with pytest.raises(DataError, match="split 'train-1' has 1 examples; concepts are discovered in many"):
        sources.open_source(str(tmp_path), layer, {"train-1": pictures(1)}, 17, "cpu")


@pytest.mark.parametrize("frozen", [True, False])
def test_a_backbone_gives_its_output_or_a_layer(network, monkeypatch, frozen):
    asked, outside = [], SimpleNamespace(inside=[network], to=lambda device: None) if frozen else network
    if frozen:
        monkeypatch.setattr(sources, "Frozen", SimpleNamespace)
    monkeypatch.setattr(
        sources, "frozen_backbone", lambda text, shape: asked.append((text, shape)) or SimpleNamespace(network=outside)
    )
    data = type("Data", (dict,), {"layout": SimpleNamespace(channels=3, height=5, width=7)})({"train-1": pictures(4)})
    source = sources.open_source("mlp@far/weights", "body", data, 21, "cpu")
    assert (source.name, source.layer) == ("mlp@weights@body", "body") and asked == [("mlp@far/weights", (3, 5, 7))]
    assert source.compute("images") == (network, "body", "images", 21)
    if not frozen:
        whole = sources.open_source("mlp", None, data, 23, "cpu")
        (found,), count, most = whole.compute(torch.full((2, 1), 51, dtype=torch.uint8))
        np.testing.assert_allclose(found.detach(), network(torch.full((2, 1), 0.2)).detach(), atol=1e-6)
        assert (whole.name, whole.layer, count, most) == ("mlp", "output", 2, 23)


def test_the_first_layer_is_taken_where_no_other_has_weights(network):
    layers = [SimpleNamespace(name=str(place), weighted=weighted) for place, weighted in enumerate((1, 0, 0))]
    assert sources._before_last(layers).name == "0"
    with pytest.raises(ConfigError, match="the pictures themselves have no layer ''"):
        sources.open_source(INPUT, "", {}, 5, "cpu")


def test_pictures_are_numbers_from_0_to_1(network):
    source = sources.open_source(INPUT, None, {}, 5, "cpu")
    (found,), count, most = source.compute(torch.tensor([[0, 51], [255, 102]], dtype=torch.uint8))
    np.testing.assert_allclose(found, [[0, 0.2], [1, 0.4]], atol=1e-6)
    assert (source.name, source.layer, count, most) == (INPUT, INPUT, 2, 5)


# -- methods -----------------------------------------------------------------------------------------------------------


def test_fewer_examples_than_features_bound_the_components():
    rows = np.random.default_rng(0).normal(size=(4, 7))
    assert PCA(DiscoveryConfig(), 0).most_units(rows) == 4 and KMeans(DiscoveryConfig(), 0).most_units(rows.T) == 4
    nearly = np.concatenate([rows.T, rows.T[:, :1] + 1e-5 * np.arange(7)[:, None] ** 2], axis=1)
    assert ICA(IterativeConfig(), 0).most_units(nearly) == 4  # a feature that all but repeats another
    assert ICA(IterativeConfig(), 0).most_units(rows.T) == 4
    exact = PCA(DiscoveryConfig(units=4), 0)
    exact.fit(SplitRows(None, torch.from_numpy(rows.T).float()), None, lambda *_: None)
    assert exact.notes == []
    centred = rows.T - rows.T.mean(axis=0)
    scale = np.linalg.norm(centred, axis=1).mean() / 2
    deviations = np.linalg.svd(centred / scale, compute_uv=False)
    found = exact.units(SplitRows(None, torch.from_numpy(rows.T).float()))
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), deviations, atol=1e-4)  # as large as they vary


def test_each_method_draws_from_its_own_seed():
    seeds = {make(make.Config(), 3).torch_seed() for make in (PCA, ICA, KMeans)}
    assert len(seeds) == 3 and PCA(DiscoveryConfig(), 3).random_state in seeds


def test_two_whole_examples_are_enough_for_vectors(monkeypatch):
    monkeypatch.setattr(PosthocCBM, "fit_head", lambda self, train: None)
    data = SimpleNamespace(name="train", knowledge=KNOWLEDGE, given_concepts=np.array([[0, 2], [1, -1], [1, 0]]))
    made = PosthocCBM(PosthocConfig(), 0)
    made.fit(SplitRows(data, torch.tensor([[1.0, 0.0], [5.0, 5.0], [0.0, 2.0]])), None, lambda *_: None)
    assert made.names == ("a", "n = 0", "n = 1", "n = 2") and made.columns == [1, 2, 3, 4]


def test_texts_follow_the_template_and_each_value():
    names, texts = LabelFreeCBM(LabelFreeConfig(template="see {concept}: {value}"), 0)._texts(KNOWLEDGE)
    assert names == ["a", "n = 0", "n = 1", "n = 2"] and texts[1:] == ["see n: 0", "see n: 1", "see n: 2"]


def test_texts_that_are_followed_the_wrong_way_round_are_left_out(monkeypatch):
    made = LabelFreeCBM(LabelFreeConfig(clip="here", concepts=["p", "q", "r"], cutoff=0.5), 0)
    wanted = torch.tensor([[1.0, -1.0, 1.0], [2.0, -2.0, 2.0], [7.0, -7.0, 7.0]])
    monkeypatch.setattr(made, "_similarities", lambda data, texts, report: wanted)
    monkeypatch.setattr(made, "_learn", lambda rows, wanted, report: torch.ones(1, 3))
    monkeypatch.setattr(made, "fit_head", lambda train: None)
    rows = SplitRows(SimpleNamespace(knowledge=None), torch.tensor([[1.0], [2.0], [7.0]]))
    made.fit(rows, rows, lambda *_: None)
    assert made.names == ("p", "r") and made.notes == ["1 of 3 texts are left out: the layer does not follow"]


def test_units_are_taken_to_the_mean_and_deviation_of_training():
    made = LabelFreeCBM(LabelFreeConfig(clip="here"), 0)
    made.scaler = Scaler(torch.tensor([1.0, 2.0]), torch.tensor(2.0))
    made.weights, made.scale = (
        torch.tensor([[1.0, 0.0], [1.0, 2.0]]),
        (torch.tensor([0.5, -1.0]), torch.tensor([2.0, 4.0])),
    )
    found = made.units(SplitRows(None, torch.tensor([[3.0, 4.0], [1.0, 0.0]])))
    assert found.tolist() == [[0.75, 0.75], [-0.75, -0.25]] and found.dtype == np.float64


# -- the folder --------------------------------------------------------------------------------------------------------


def test_a_run_is_written_of_the_first_seed_for_all_but_training_splits(monkeypatch, tmp_path):
    notes, told = [], []

    class Said:
        def __init__(self, data, about):
            self.data = data

        def write(self, path, knowledge):
            notes.append(("predictions", path.name, self.data, knowledge))

    data = type("Data", (dict,), {
        "split_names": ("train", "train-1", "valid", "test"),
        "knowledge": SimpleNamespace(to_dict=lambda: "rules"), "layout": SimpleNamespace(to_dict=lambda: "layout"),
    })(valid="of valid", test="of test")  # fmt: skip
    method = SimpleNamespace(names=("u", "v"))
    first = SimpleNamespace(
        scores="scores", test_units="units", discoverer=method, rule=SimpleNamespace(program={"labels": 1})
    )
    shown = SimpleNamespace(name="test")
    found = SimpleNamespace(first=first, shown=shown, to_dict=lambda: {"method": "m"})
    card = SimpleNamespace(to_dict=lambda: "card")
    monkeypatch.setattr(runs, "_about", lambda discovered: {"model": "m"})
    monkeypatch.setattr(runs, "_predict", lambda discovered, data, about: Said(data, about))
    monkeypatch.setattr(runs, "write_pairs", lambda predict, dataset, run: predict("a pair").data)
    monkeypatch.setattr(runs, "provenance", lambda dataset: "from here")
    monkeypatch.setattr(runs, "_csv", lambda discovered: "rows")
    monkeypatch.setattr(runs, "unit_cards", noted(notes, "cards", [card]))
    monkeypatch.setattr(runs, "concept_rows", lambda scores, data: (scores, data.name))
    monkeypatch.setattr(runs, "with_pictures", lambda cards, data: (cards, data.name))
    monkeypatch.setattr(runs, "write_discovery", lambda path, record, *rest: notes.append((path.name, *rest)))
    monkeypatch.setattr(runs, "write_record", lambda run, dataset, record: notes.append(record))
    runs.write_discovered(found, data, tmp_path, lambda *said: told.append(said))
    assert told == [("predictions", 0, 2), ("predictions", 1, 2)]
    assert notes[:2] == [
        ("predictions", "valid.parquet", "of valid", data.knowledge),
        ("predictions", "test.parquet", "of test", data.knowledge),
    ]
    assert notes[2] == ("cards", "scores", "units", shown, ("u", "v"))
    assert notes[3] == ("discovery.html", ("scores", "test"), ([card], "test"))
    assert notes[4] == {"model": "m", "knowledge": "rules", "layout": "layout", "pairs": "a pair"}
    record = json.loads((tmp_path / "discovery.json").read_text())
    assert (
        record["method"] == "m" and record["data"] == "from here" and (tmp_path / "discovery.csv").read_text() == "rows"
    )
    assert json.loads((tmp_path / "units.json").read_text()) == {"split": "test", "units": ["card"]}
    assert json.loads((tmp_path / "program.json").read_text()) == {"labels": 1}
