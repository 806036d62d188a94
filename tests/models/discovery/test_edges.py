"""Discovery at its edges: what is sampled, named, averaged over seeds, and refused."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assay.concepts import bits
from assay.config import Settings
from assay.diagnosis import ChanceScore, ConceptValue, UnitScores
from assay.diagnosis.discovery.matching import MatchScore, UnitMatch
from assay.errors import ConfigError, DataError
from assay.models import METHODS, Discovered, DiscoveryPlan
from assay.models.discovery import bottlenecks
from assay.models.discovery.bottlenecks import LabelFreeCBM, LabelFreeConfig, SparseHead, cubed_similarity
from assay.models.discovery.discovering import Discovery, _plain, _record, _sample, _true_concepts
from assay.models.discovery.method import Scaler, SplitRows, seeded
from assay.models.discovery.runs import _about, _csv
from assay.models.discovery.sources import _without_folder, images_of
from assay.models.probes.activations import INPUT

NAN = float("nan")


class Split(SimpleNamespace):
    """Examples that remember which were taken."""

    def __len__(self):
        return len(self.concepts)

    def take(self, rows):
        return Split(**{**vars(self), "concepts": self.concepts[rows], "given_labels": self.given_labels[rows]})


def split(whole, gaps, name="train"):
    concepts = np.array([[1, 0]] * whole + [[1, -1]] * gaps)
    space = SimpleNamespace(space=bits(["a", "b"]))
    return Split(concepts=concepts, given_labels=np.arange(len(concepts))[:, None], knowledge=space, name=name)


def test_gaps_are_left_out_where_enough_is_whole():
    concepts, labels = _true_concepts(split(20, 5))
    assert len(concepts[0]) == len(labels) == 20 and concepts[1].tolist() == [[1.0, 0.0]] * 20
    concepts, labels = _true_concepts(split(19, 5))
    assert len(concepts[0]) == len(labels) == 24 and concepts[0].tolist() == [[0.0, 1.0]] * 24


def test_a_sample_is_drawn_in_order_and_few_are_refused():
    data = split(30, 0)
    found = _sample(data, 12).given_labels[:, 0].tolist()
    assert len(found) == 12 and found == sorted(set(found)) and found != list(range(12))
    assert _sample(data, 12).given_labels.tolist() == _sample(data, 12).given_labels.tolist()
    assert _sample(data, 30) is data and _sample(data, 99) is data and len(_sample(split(20, 0), 99)) == 20
    with pytest.raises(DataError, match="split 'train' has 19 examples; discovery needs at least 20"):
        _sample(split(19, 0), 99)


def test_methods_of_pictures_take_pictures_only():
    plan = DiscoveryPlan.of("slots", INPUT, Settings({"units": 3}))
    assert (plan.method, plan.source, plan.config.units, plan.seeds, plan.layer) == ("slots", INPUT, 3, (0, 1, 2), None)
    for source, layer in (("run", None), (INPUT, "body")):
        with pytest.raises(ConfigError, match="slots learns from pictures, not from activations"):
            DiscoveryPlan.of("slots", source, Settings(), layer=layer)
    other = DiscoveryPlan.of("pca", "run", Settings(), [4], "body")
    assert (other.seeds, other.layer, other.config.units) == ((4,), "body", 64)


def match(name, unit, f1=0.5):
    return MatchScore(UnitMatch(ConceptValue(0, 1, name), unit), f1, 0.25, 0.75, 0.125)


def discovery(seed, names=(), scores=(), **values):
    chance = {name: ChanceScore(value, value / 2, 1.0) for name, value in values.items()}
    discoverer = SimpleNamespace(seed=seed, names=names, notes=["a note"])
    rule = SimpleNamespace(to_dict=lambda: {"rule": seed})
    return Discovery(discoverer, UnitScores(tuple(scores), chance), None, rule, np.zeros((4, 3)), 2)


def test_named_units_are_right_where_they_match_their_own_value():
    matches = [match("a", 0), match("b", 2), match("c", None), match("d", 1)]
    assert discovery(0, ("a", "b", "d", "x"), matches).named_right == pytest.approx(1 / 3)
    assert discovery(0, ("x", "y"), matches).named_right is None and discovery(0, (), matches).named_right is None
    assert discovery(0, ("c",), [match("c", None)]).named_right == 0.0
    assert discovery(0, ("a", "d", "b"), matches).named_right == 1.0


def found(*discoveries):
    plan = DiscoveryPlan.of("pca", "run", Settings({"units": 3}), [7, 8])
    truth = SimpleNamespace(to_dict=lambda: {"true": 1})
    shown = Split(concepts=np.zeros((5, 1)), name="test")
    return Discovered(plan, "dpl@body", discoveries, ChanceScore(0.5, NAN, 0.75), truth, shown, "valid", None)


def test_scores_are_averaged_over_seeds():
    all_seeds = found(discovery(7, f1=0.5, mig=NAN), discovery(8, f1=1.0, mig=0.25))
    summary = all_seeds.summary()
    assert summary["f1"] == {"mean": 0.75, "deviation": 0.25, "chance": 0.375}
    assert summary["stability"]["mean"] == 0.5 and summary["stability"]["deviation"] == 0.0
    assert list(summary) == ["f1", "mig", "stability"] and all_seeds.model == "pca+dpl@body"
    plain = all_seeds.to_dict()
    assert plain["summary"]["stability"] == {"mean": 0.5, "deviation": 0.0, "chance": None}
    keys = ("method", "source", "matched_on", "scored_on", "examples", "rule_from_true_concepts")
    assert [plain[key] for key in keys] == ["pca", "dpl@body", "valid", "test", 5, {"true": 1}]
    assert plain["config"]["units"] == 3 and [record["seed"] for record in plain["seeds"]] == [7, 8]
    assert _plain(NAN) is None and _plain(0.0) == 0.0
    about = _about(all_seeds)
    assert (about["model"], about["seed"]) == ("pca+dpl@body", 7)
    assert about["discovery"] == {"method": "pca", "source": "dpl@body", "seeds": [7, 8]}


def test_a_seed_is_recorded_and_written_as_rows():
    one = discovery(7, ("a", "x"), [match("a", 0), match("b", None, NAN)], f1=0.5)
    record = _record(one)
    assert (record["seed"], record["units"], record["live_units"], record["named_right"]) == (7, 3, 2, 1.0)
    assert record["names"] == ["a", "x"] and record["notes"] == ["a note"] and record["rule"] == {"rule": 7}
    assert record["scores"] == {"f1": {"value": 0.5, "chance": 0.25, "highest_chance": 1.0}}
    assert _csv(found(one, discovery(8, (), [match("c", 2)]))).splitlines() == [
        "seed,value,unit,direction,f1,information,purity,share",
        "7,a,0,1,0.5000,0.2500,0.7500,0.1250",
        "7,b,,1,,0.2500,0.7500,0.1250",
        "8,c,2,1,0.5000,0.2500,0.7500,0.1250",
    ]


def test_a_seed_is_drawn_from_inside_a_block_only():
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    with seeded(5) as generator:
        inside, own = torch.rand(2), torch.rand(2, generator=generator)
    assert torch.equal(torch.rand(2), wanted) and torch.equal(inside, own) and not torch.equal(inside, wanted)


def test_warnings_become_notes_once():
    method = METHODS["pca"](METHODS["pca"].Config(), 2)
    for _ in range(2):
        with method.noting_warnings():
            warnings.warn("too  few\nsteps", stacklevel=1)
            warnings.warn("another", stacklevel=1)
    assert method.notes == ["pca: too few steps", "pca: another"]
    assert method.torch_seed() == method.torch_seed() != METHODS["pca"](method.config, 3).torch_seed()
    assert method.label_probabilities(np.zeros((1, 2))) is None and method.names == ()


def test_rows_that_are_all_alike_are_scaled_to_0():
    scaler = Scaler.of(torch.full((3, 4), 2.0))
    assert scaler(torch.full((1, 4), 2.0)).tolist() == [[0.0] * 4]
    scaler = Scaler.of(torch.tensor([[0.0, 0.0], [6.0, 8.0]]))
    np.testing.assert_allclose(scaler.scale, 5 / 2**0.5, rtol=1e-6)
    np.testing.assert_allclose(scaler(torch.tensor([[6.0, 8.0]])), [[3 / 5 * 2**0.5, 4 / 5 * 2**0.5]], rtol=1e-6)


def test_similarity_is_by_column_and_blind_to_scale():
    units = torch.tensor([[0.0, 1.0], [1.0, 5.0], [5.0, 2.0]])
    wanted = torch.tensor([[3.0, -1.0], [5.0, -5.0], [13.0, -2.0]])
    np.testing.assert_allclose(cubed_similarity(units, wanted), [1.0, -1.0], atol=1e-5)
    mixed = cubed_similarity(units, units[:, [1, 0]])
    z = [(c - c.mean()) / c.std() for c in units.numpy().T]
    value = float((z[0] ** 3 @ z[1] ** 3) / np.sqrt((z[0] ** 6).sum() * (z[1] ** 6).sum()))
    np.testing.assert_allclose(mixed, [value, value], atol=1e-5)


def test_a_head_takes_out_the_mean_and_gives_every_class_a_chance():
    head = SparseHead(
        np.array([1.0, 0.0]), np.array([2.0, 1.0]), (3,), (np.array([0, 2]),),
        (np.array([[1.0, -1.0], [0.0, 0.0]]),), (np.array([0.0, 0.5]),),
    )  # fmt: skip
    (chances,) = head.probabilities(np.array([[3.0, 9.0]]))
    first, last = 1 / (1 + np.exp(-1.0)), 1 / (1 + np.exp(0.5))
    np.testing.assert_allclose(chances, np.array([[first, 0, last]]) / (first + last), atol=1e-8)
    assert head.used == 2 and chances[0, 1] > 0
    (far,) = head.probabilities(np.array([[1e6, 0.0]]))
    np.testing.assert_allclose(far, [[1, 0, 0]], atol=1e-8)


def test_units_are_standardised_before_a_head_is_fitted(monkeypatch):
    seen = []

    class Fitted:
        def __init__(self, **settings):
            seen.append(settings)

        def fit(self, inputs, labels):
            seen.append((inputs, labels))
            self.coef_, self.intercept_ = np.array([[2.0, 0.0]]), np.array([0.25])

    monkeypatch.setattr(bottlenecks, "import_extra", lambda *_: SimpleNamespace(SGDClassifier=Fitted))
    label = SimpleNamespace(name="y", values=(0, 1))
    units = np.array([[1.0, 4.0], [3.0, 4.0], [5.0, 4.0]])
    labels, knowledge = np.array([[1], [0], [-1]]), SimpleNamespace(labels=(label,))
    head = SparseHead.fit(units, labels, knowledge, 0.5, 9)
    deviation = units[:, 0].std()
    np.testing.assert_allclose(seen[1][0], [[-2 / deviation, 0], [0, 0]])
    assert seen[1][1].tolist() == [1, 0] and (seen[0]["alpha"], seen[0]["l1_ratio"], seen[0]["random_state"]) == (
        0.5, 0.99, 9,
    )  # fmt: skip
    assert head.weights[0].tolist() == [[-2, 2], [0, 0]] and head.biases[0].tolist() == [-0.25, 0.25]
    with pytest.raises(DataError, match="no training example has the label 'y'"):
        SparseHead.fit(units, np.full((3, 1), -1), knowledge, 0.5, 9)


def test_texts_that_nothing_follows_are_refused(monkeypatch):
    config = LabelFreeConfig(clip="weights", concepts=["p", "q"], cutoff=0.9)
    made = LabelFreeCBM(config, 0)
    monkeypatch.setattr(made, "_similarities", lambda data, texts, report: torch.tensor([[0.0, 1], [1, 0], [5, 0]]))
    monkeypatch.setattr(made, "_learn", lambda rows, wanted, report: torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    rows = SplitRows(SimpleNamespace(knowledge=None), torch.tensor([[1.0, 0.0], [2.0, 3.0], [0.0, 1.0]]))
    with pytest.raises(ConfigError, match=r"the activations follow none of 2 texts by 0.9 \(at most by -?0\.\d\d\)"):
        made.fit(rows, rows, print)
    with pytest.raises(ConfigError, match="label-free-cbm needs a local folder with the weights of CLIP"):
        LabelFreeCBM(LabelFreeConfig(), 0).fit(rows, rows, print)


def test_backbones_are_called_without_where_they_lie():
    names = ["resnet-18", "vit@a/b/c.safetensors", "frozen:vit@c"]
    assert [_without_folder(text) for text in names] == ["resnet-18", "vit@c.safetensors", "vit@c"]
    with pytest.raises(DataError, match="split 'test' has no pictures; concepts are discovered in pictures only"):
        images_of(SimpleNamespace(columns=("text",), name="test"), torch.device("cpu"))
    pictures = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    images = images_of(SimpleNamespace(columns=("image",), images=pictures), torch.device("cpu"))
    assert images.shape == (2, 3, 2, 2) and images[1, 2, 0, 1].item() == pictures[1, 0, 1, 2]
