"""What networks are made of, what they read, are trained in and are saved with, piece by piece and without training."""

import contextlib
import json
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, digits
from assay.config import Settings
from assay.data import Fold
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.models import MODELS, Epoch, Model, Order, TorchSplit, Training, supervised_labels, train_seeds
from assay.models.core import devices, fitting, neural, robust, runs, subconcepts, training
from assay.models.core.losses import Supervision, concept_loss, supervision_mask
from assay.models.core.model import _are_probabilities
from assay.models.core.neural import NeuralModel, Outputs, apply_interventions, as_probabilities, is_set
from assay.models.core.robust import Reasons, against_confounders
from assay.models.core.runs import finish_run
from assay.models.core.steps import ManySeeds, OneSeed
from assay.models.core.subconcepts import LikeConcepts
from assay.models.core.tensors import Annotations, Batch, one_hot_like, scaled, to_annotations, to_batch
from assay.models.core.training import Phase, Trainee, first_rate, next_rate, train
from assay.render import Layout
from tests.models.core.test_edges import Sized
from tests.models.tiles import Tiles, model_of, tiles

CPU = torch.device("cpu")
GPU = SimpleNamespace(type="cuda")


# -- making a model ----------------------------------------------------------------------------------------------------


def test_a_model_of_a_dataset_has_its_knowledge_its_layout_and_its_backbones():
    dataset = tiles()
    hinted = type(dataset)(
        dataset.folder, {**dataset.manifest, "backbones": {"concept": "mlp-wide", "label": "conv-3"}}
    )
    made = MODELS["cbm"](hinted, seed=4)
    assert (made.config.backbone, made.seed, made.knowledge is hinted.knowledge) == ("mlp-wide", 4, True)
    assert made.layout == hinted.layout and MODELS["blackbox"](hinted).config.backbone == "conv-3"
    assert MODELS["cbm"](hinted, backbones={}).config.backbone == "conv-stride"
    assert MODELS["cbm"](hinted, backbones={"concept": "mlp"}).config.backbone == "mlp"
    other = Layout(9, 8, 3)
    assert MODELS["cbm"](hinted, other).layout is other
    assert MODELS["cbm"](hinted, settings={"backbone": "conv-wide"}).config.backbone == "conv-wide"


def test_a_model_says_how_long_it_was_trained_and_sets_concepts_by_name(monkeypatch):
    model = model_of("cbm", {})
    assert repr(model) == "CBM(seed 3, as made or loaded)"
    model.history = [Epoch("a", 1, 0.5, 0.25, True), Epoch("a", 2, 0.25, 0.5, False)]
    assert repr(model) == "CBM(seed 3, 2 epochs)"
    assert model.history_as_dicts()[1] == {"phase": "a", "number": 2, "loss": 0.25, "score": 0.5, "best": False}
    asked = {}

    def answers(data, do):
        asked.update(do)
        sizes = [len(label.values) for label in model.knowledge.labels]
        rows = [np.full((len(data), size), 1 / size) for size in (*sizes, *model.space.sizes)]
        return SimpleNamespace(labels=rows[: len(sizes)], concepts=rows[len(sizes) :])

    monkeypatch.setattr(model, "answers", answers)
    data = tiles()["test"].take(np.array([4, 0, 2]))
    soft = np.array([[0.5, 0.25, 0.25], [0, 0, 1.0], [0.2, 0.2, 0.6]])
    said = model.predict(data, {"right.big": np.array([1, 0, 1], dtype=np.uint8), "left.shade": soft})
    assert set(asked) == {3, 0} and asked[3].tolist() == [1, 0, 1] and asked[3].dtype == np.int64
    assert asked[0].tolist() == soft.tolist() and asked[0].dtype == np.float64
    assert said.index.tolist() == data.index.tolist() and (said.split, said.fingerprint) == ("test", data.fingerprint)
    assert list(said.labels) == ["y", "total"] and list(said.concepts) == list(model.space.names)
    assert said.about["seed"] == 3 and said.about["model"] == "cbm"


@pytest.mark.parametrize(
    ("rows", "fits"),
    [
        ([[0.2, 0.8], [1.0, 0.0]], True),
        ([[0.2, 0.8], [0.5, 0.6]], False),
        ([[0.5, 0.6], [0.2, 0.8]], False),
        ([[0.2, 0.8009], [0.5, 0.5]], True),
        ([[1.2, -0.2], [0.5, 0.5]], False),
        ([[np.inf, 0.0], [0.5, 0.5]], False),
        ([[True, False], [False, True]], False),
    ],
)
def test_probabilities_are_not_below_0_and_add_up_to_1_in_every_row(rows, fits):
    assert _are_probabilities(np.array(rows)) is fits


def test_nothing_is_supervised_where_no_concept_is_named():
    model = model_of("cbm", {})
    codes = torch.tensor([[0, 1, 2, 0], [2, -1, 0, 1]])
    shown = Annotations(torch.zeros(2, 2), codes, torch.arange(2))
    assert not supervision_mask(Supervision(supervised_concepts=[]), model.space, shown, 0).any()
    assert not supervision_mask(Supervision(supervised_values=[]), model.space, shown, 0).any()
    both = Supervision(supervised_concepts=["right.shade", "left.big"], supervised_values=[2, True])
    assert supervision_mask(both, model.space, shown, 0).tolist() == [[False, True, True, False], [False] * 4]
    unsupervised = supervised_labels(model_of("cbm", {"concept_weight": 0.0}), tiles()["train"])
    assert (unsupervised == -1).all() and unsupervised.shape == tiles()["train"].given_concepts.shape
    given = supervised_labels(model_of("cbm", {"supervised_concepts": ["left.big"]}), tiles()["train"])
    assert (given[:, 1] == tiles()["train"].given_concepts[:, 1]).all() and (given[:, [0, 2, 3]] == -1).all()


def test_a_concept_of_one_value_may_be_missing():
    logits = [torch.tensor([[0.7], [0.2]]), torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]])]
    codes = torch.tensor([[-1, 2], [0, -1]])
    wanted = -torch.log_softmax(logits[1], dim=1)[0, 2].item() / 2  # what has one value only is always right
    assert concept_loss(logits, codes, codes >= 0).item() == pytest.approx(wanted)


# -- concepts that are set ---------------------------------------------------------------------------------------------


def test_what_hardly_differs_is_no_intervention():
    own = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]], dtype=torch.double)
    setting = own.clone()
    setting[0, :2] += torch.tensor([0.9e-4, -0.9e-4])
    setting[1, :2] += torch.tensor([1.2e-4, -1.2e-4])
    assert is_set(own, setting).tolist() == [False, True, False, False]
    assert is_set(own, torch.tensor([0, 1, 1, 2])).tolist() == [True, True, False, True]
    other = torch.rand(4, 2, dtype=torch.double)
    kept, changed = apply_interventions([other, own], {1: setting})
    assert kept is other and torch.equal(
        changed, torch.where(torch.tensor([[False], [True], [False], [False]]), setting, own)
    )
    coded = apply_interventions([other, own], {1: torch.tensor([0, 1, 1, 2])})[1]
    assert coded.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert as_probabilities(torch.rand(4, 3), own).dtype == torch.double
    assert (
        one_hot_like(torch.tensor([2, 0]), own).dtype == torch.double
        and one_hot_like(torch.tensor([-1]), own).sum() == 0
    )


def test_answers_are_asked_for_chunk_by_chunk_with_their_own_settings(monkeypatch):
    model = model_of("cbm", {})
    seen = []

    def answer(pictures, do):
        seen.append((len(pictures), {place: own.tolist() for place, own in do.items()}, model.training))
        return Outputs([pictures.flatten(1)[:, :1]], [pictures.flatten(1)[:, 1:2]])

    monkeypatch.setattr(model, "answer", answer)
    model.train()
    chunks = [torch.rand(n, 1, 1, 2) for n in (2, 3, 1)]
    found = model.answer_chunks(iter(chunks), {2: torch.arange(6), 0: torch.arange(6) * 10})
    assert seen == [
        (2, {2: [0, 1], 0: [0, 10]}, False), (3, {2: [2, 3, 4], 0: [20, 30, 40]}, False), (1, {2: [5], 0: [50]}, False),
    ]  # fmt: skip
    assert torch.equal(found.labels[0], torch.cat(chunks)[:, 0, 0, :1])
    assert torch.equal(found.concepts[0], torch.cat(chunks)[:, 0, 0, 1:])


@pytest.mark.parametrize(
    ("layout", "size"),
    [(Layout(16, 11, 3), 1024), (Layout(2**13, 2**12, 1), 1), (Layout(2**13, 2**13, 3), 1), (Layout(2**8, 2**8, 3), 170)],
)  # fmt: skip
def test_as_many_pictures_at_once_as_their_pixels_allow(layout, size):
    asked = []
    pictures = SimpleNamespace(
        chunks=lambda count: asked.append(count) or [torch.full((1, 1, 1, 1), 51, dtype=torch.uint8)]
    )
    (found,) = NeuralModel.chunks(SimpleNamespace(layout=layout), pictures)
    assert asked == [size] and found.item() == pytest.approx(0.2)


def test_answers_are_arrays_whose_rows_add_up_to_1(monkeypatch):
    model = model_of("cbm", {})
    asked = {}

    def probabilities(feed, do):
        asked.update({place: (own.dtype, own.tolist()) for place, own in do.items()})
        return Outputs([torch.tensor([[0.2, 0.2], [1.0, 3.0]])], None)

    monkeypatch.setattr(model, "probabilities", probabilities)
    soft = np.array([[0.25, 0.75], [0.5, 0.5]])
    found = model.answers(tiles()["test"], {0: np.array([2, 1]), 1: soft})
    assert found.labels[0].tolist() == [[0.5, 0.5], [0.25, 0.75]] and found.concepts == []
    assert asked == {0: (torch.int64, [2, 1]), 1: (torch.float32, soft.tolist())}


def test_validation_sets_only_concepts_that_are_known(monkeypatch):
    model = model_of("cbm", {})
    truth = Annotations(torch.tensor([[0], [1], [1]]), torch.tensor([[0, -1], [1, 1], [-1, 0]]), torch.arange(3))
    own = [torch.tensor([[0.4, 0.6], [0.2, 0.8], [0.3, 0.7]]), torch.tensor([[0.1, 0.9], [0.4, 0.6], [0.6, 0.4]])]
    right, wrong = torch.eye(2)[[0, 1, 1]], torch.eye(2)[[1, 0, 1]]
    asked = []

    def probabilities(feed, do):
        asked.append({place: given.tolist() for place, given in do.items()})
        return Outputs([right if do else wrong], own)

    monkeypatch.setattr(model, "probabilities", probabilities)
    feed = SimpleNamespace(annotations=truth)
    labels = 0.25  # value 0 never rightly said, value 1 once of two, said twice
    found = {what: float(model.validation_f1(feed, what)) for what in ("labels", "concepts", "intervened", "all")}
    assert found["labels"] == pytest.approx(labels) and found["intervened"] == 1.0
    assert found["concepts"] == pytest.approx((1 / 3 + 1.0) / 2)  # of the first both are said to be 1
    assert found["all"] == pytest.approx((found["labels"] + found["concepts"] + 1.0) / 3)
    set_to = {0: [[1, 0], [0, 1], pytest.approx([0.3, 0.7])], 1: [pytest.approx([0.1, 0.9]), [0, 1], [1, 0]]}
    assert asked == [{}, {}, {}, set_to, {}, set_to]


# -- what is read ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "columns", "sees"),
    [
        ({}, ["image", "text"], True),
        ({}, ["text"], False),
        ({"input": "image"}, ["text", "image"], True),
        ({"input": "text"}, ["image", "text"], False),
        ({"feature_files": "folder"}, ["image"], False),
        ({"sentences": "folder"}, ["image"], False),
    ],
)
def test_who_sees_pictures(settings, columns, sees):
    config = SimpleNamespace(**{"input": "auto", "feature_files": None, "sentences": None, **settings})
    assert NeuralModel.sees_pictures(SimpleNamespace(config=config), columns) is sees


def test_all_that_is_set_of_inputs_is_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(neural, "learn_input", lambda settings, data: asked.append((settings, data)) or "read")
    config = SimpleNamespace(input="text", tokens=7, feature_files="files", sentences="folder", backbone="mlp")
    model = SimpleNamespace(reads=None, config=config, read_as=lambda reads: asked.append(reads))
    NeuralModel.see(model, "data")
    (settings, data), reads = asked
    assert (settings.kind, settings.tokens, settings.features, settings.sentences) == ("text", 7, "files", "folder")
    assert (data, reads) == ("data", "read")
    model.reads = "known"
    NeuralModel.see(model, "data")
    assert len(asked) == 2
    monkeypatch.setattr(neural, "learn_input", lambda settings, data: None)
    model.reads, config.backbone = None, "bag-of-ngrams"
    with pytest.raises(ConfigError, match="backbone 'bag-of-ngrams' does not read pictures"):
        NeuralModel.see(model, "data")


def test_reading_something_else_changes_layout_input_and_backbone():
    model = model_of("blackbox", {"input": "features"})
    reads = SimpleNamespace(layout=Layout(5, 1), kind="features", usual_backbone="mlp-wide", to_dict=lambda: {"a": 1})
    assert not list(model.parameters())  # built when its data are seen
    model.read_as(reads)
    assert (model.layout, model.reads, model.config.input) == (Layout(5, 1), reads, "features")
    assert model.config.backbone == "mlp" and model.answer(torch.rand(2, 1, 1, 5), {}).labels[0].shape == (2, 2)
    usual = MODELS["blackbox"](Tiles().knowledge, Layout(0, 0), Settings({"device": "cpu"}), {"label": "conv-3"})
    usual.read_as(reads)
    assert usual.config.backbone == "mlp-wide"
    words = SimpleNamespace(layout=Layout(4, 1, 9), kind="text", usual_backbone="mlp")
    with pytest.raises(ConfigError, match="backbone 'mlp' does not read texts; these do: "):
        usual.read_as(words)


@pytest.mark.parametrize(
    ("precision", "backbone", "device", "supported", "perception", "wanted"),
    [
        ("auto", "resnet-18", GPU, True, None, "bfloat16"),
        ("auto", "resnet-18", CPU, True, None, "float32"),
        ("auto", "resnet-18", GPU, False, None, "float32"),
        ("auto", "mlp", GPU, True, None, "float32"),
        ("auto", "frozen:resnet-18", GPU, True, None, "float32"),
        ("auto", "resnet-18", GPU, True, "run", "float32"),
        ("float32", "resnet-18", GPU, True, None, "float32"),
        ("bfloat16", "mlp", CPU, False, "run", "bfloat16"),
    ],
)
def test_deep_networks_are_trained_in_short_numbers_on_a_gpu(
    monkeypatch, precision, backbone, device, supported, perception, wanted
):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: supported)
    model = SimpleNamespace(config=SimpleNamespace(precision=precision, backbone=backbone), perception=perception)
    assert NeuralModel.training_precision(model, device) == wanted


def test_a_feed_is_of_pictures_or_of_what_perception_says(monkeypatch):
    asked = []
    monkeypatch.setattr(neural, "Feed", lambda *given: asked.append(given) or "feed")
    monkeypatch.setattr(neural, "ConceptFeed", lambda *given: asked.append(given) or "concepts")
    model = SimpleNamespace(perception=None, reads="reads", config=SimpleNamespace(memory_share=0.125))
    assert NeuralModel.feed(model, "data", CPU, True, repeats=True) == "feed"
    assert NeuralModel.feed(model, "data", CPU) == "feed"
    model.perception = SimpleNamespace(probabilities=lambda data: f"perceived of {data}")
    assert NeuralModel.feed(model, "data", CPU, True, True) == "concepts"
    assert asked == [
        ("data", CPU, 0.125, True, True, "reads"), ("data", CPU, 0.125, False, False, "reads"),
        ("data", CPU, "perceived of data"),
    ]  # fmt: skip


def test_what_is_saved_comes_back(tmp_path):
    model = model_of("blackbox", {"dropout": 0.25})
    assert model.head.dropout == 0.25 and model.device == CPU
    facts = model.save(tmp_path)
    assert facts == {"device": "cpu", "parameters": sum(p.numel() for p in model.parameters())}
    assert not (tmp_path / "input.json").exists()
    model.training_facts = {"held": True}
    assert model.save(tmp_path)["training"] == {"held": True}
    normed = model_of("blackbox", {})
    normed.norm = nn.BatchNorm1d(2)
    normed.norm.running_mean.fill_(4.0)
    (tmp_path / "normed").mkdir()
    normed.save(tmp_path / "normed")
    normed.norm.running_mean.zero_()
    normed.restore(tmp_path / "normed", "cpu")
    assert normed.norm.running_mean.tolist() == [4, 4]
    other = model_of("blackbox", {"dropout": 0.25}, seed=8)
    assert other.seed == 8 and not torch.equal(other.head.weight, model.head.weight)
    other.train().restore(tmp_path, "cpu")
    assert torch.equal(other.head.weight, model.head.weight) and not other.training
    with pytest.raises(DataError, match="the weights in .* cannot be read: "):
        other.restore(tmp_path / "none", "cpu")
    with pytest.raises(DataError, match="input.json' cannot be read"):
        neural._read_input(tmp_path)
    (tmp_path / "input.json").write_text(json.dumps({"kind": "features", "width": 4, "folder": None}))
    assert neural._read_input(tmp_path).width == 4
    assert NeuralModel.saved_settings(tmp_path, {"config": {"epochs": 4, "perception": None}}) == {"epochs": 4, "perception": None}  # fmt: skip


def test_a_rule_without_weights_is_where_its_buffers_are():
    only = nn.Module()
    only.register_buffer("table", torch.empty(2, device="meta"))
    assert NeuralModel.device.fget(only).type == "meta" and NeuralModel.device.fget(nn.Module()).type == "cpu"


# -- splits as tensors -------------------------------------------------------------------------------------------------


def noted(**more):
    images = np.arange(2 * 2 * 3 * 3, dtype=np.uint8).reshape(2, 2, 3, 3)
    facts = {
        "given_labels": np.array([[1], [0]]), "labels": np.array([[0], [0]]), "given_concepts": np.array([[0, -1], [1, 1]]),
        "concepts": np.array([[0, 1], [1, 0]]), "images": images, "size": 2, "name": "train",
        "pictures": lambda rows: images[rows], **more,
    }  # fmt: skip
    return Sized(**facts)


def test_networks_learn_from_what_is_given_and_not_from_the_truth():
    found = to_annotations(noted(), CPU)
    assert found.labels.tolist() == [[1], [0]] and found.concepts.tolist() == [[0, -1], [1, 1]] and len(found) == 2
    whole = to_batch(noted(), CPU)
    assert whole.images.shape == (2, 3, 2, 3) and whole.images[1, 2, 0, 1] == noted().images[1, 0, 1, 2]
    assert whole.labels.tolist() == [[1], [0]] and whole.rows.tolist() == [0, 1] and whole.device == CPU
    one = TorchSplit(noted())
    picture, labels, concepts = one[-2]
    assert picture.shape == (3, 2, 3) and labels.tolist() == [1] and concepts.tolist() == [0, -1]
    assert torch.allclose(picture, whole.images[0] / 255) and torch.allclose(one[-1][0], whole.pictures[1])
    assert one[1][1].tolist() == [0] and len(one) == 2
    for row in (2, -3):
        with pytest.raises(IndexError, match=f"split 'train' has 2 examples, so no example {row}"):
            one[row]
    assert scaled(torch.zeros(1, dtype=torch.uint8)).dtype == torch.float32
    words = torch.tensor([300])
    assert scaled(words) is words


# -- fitting -----------------------------------------------------------------------------------------------------------


def test_a_model_with_nothing_to_learn_is_scored_as_it_is():
    scores = {"train": 0.75, "valid": 0.5}
    model = SimpleNamespace(validation_f1=lambda split, what: torch.tensor(scores[split] if what == "labels" else 0))
    assert fitting._as_given(model, "train", "valid") == Epoch("as given", 1, 0.25, 0.5, True)


def test_each_seed_has_an_order_of_its_own():
    def order(models):
        return [torch.randperm(50, generator=own).tolist() for own in fitting._seeded_orders(models, CPU)]

    models = [SimpleNamespace(seed=seed, name="m") for seed in (4, 9)]
    both = order(models)
    state = torch.rand(1)
    assert both[0] != both[1] and order(models[1:]) == both[1:] and order([models[1], models[0]]) == both[::-1]
    order(models)
    assert torch.equal(torch.rand(1), state)
    assert fitting._seeded_alone(models[0]) == [None]
    alone = torch.rand(1)
    devices.seed_all(4, "m", "training")
    assert torch.equal(torch.rand(1), alone) and not torch.equal(alone, state)


class Told(Exception):
    """Ends fitting once it is known what is asked for."""


@pytest.mark.parametrize(
    ("settings", "captured", "keeps"),
    [({}, True, True), ({"group_step": 0.5}, False, False), ({"reasons_weight": 0.5}, False, False)],
)
def test_steps_against_confounders_are_neither_captured_nor_kept(monkeypatch, settings, captured, keeps):
    told = []

    def stop(trainees, feed, config, step, report, checkpoint):
        told.append((trainees, config, step, report, checkpoint))
        raise Told

    monkeypatch.setattr(fitting, "train", stop)
    monkeypatch.setattr(fitting, "against_confounders", lambda model, phases, data: phases)
    model = model_of("blackbox", {"precision": "float32", **settings})
    model.checkpoint = "checkpoint"
    with pytest.raises(Told):
        fitting.fit_models([model], tiles()["train"], tiles()["valid"], "report", OneSeed)
    ((trainees, config, step, report, checkpoint),) = told
    assert config.captured is captured and checkpoint == ("checkpoint" if keeps else None) and step is OneSeed
    assert report == "report" and [own.seed for own in trainees] == [3] and trainees[0].order is None
    assert [phase.name for phase in trainees[0].phases] == ["labels"]


def test_seeds_side_by_side_are_each_scored_by_their_own_network(monkeypatch):
    told = []

    def stop(trainees, *rest):
        told.extend(trainees)
        raise Told

    monkeypatch.setattr(fitting, "train", stop)
    models = [model_of("blackbox", {}, seed=seed) for seed in (2, 7)]
    with pytest.raises(Told):
        fitting.fit_together(models, tiles()["train"], tiles()["valid"])
    assert [own.model for own in told] == models and [own.seed for own in told] == [2, 7]
    assert [own.score.func.__self__ for own in told] == models and all(own.order is not None for own in told)
    assert told[0].score.args == told[1].score.args and len(told[0].score.args[0]) == 22


def test_parts_of_training_are_put_around_those_of_the_model(monkeypatch):
    def noted(name):
        return lambda model, phases, *more: [*phases, (name, *more)]

    monkeypatch.setattr(fitting, "with_reading", noted("reading"))
    monkeypatch.setattr(fitting, "with_replay", noted("replay"))
    monkeypatch.setattr(fitting, "against_confounders", noted("robust"))
    feed = SimpleNamespace(annotations="annotations", data=SimpleNamespace(subconcepts="codes"))
    config = model_of("cbm", {"batch_size": 5, "subconcepts": "tuned"}).config
    model = SimpleNamespace(config=config, phases=lambda data: [data])
    assert fitting._phases(model, feed) == [
        "annotations", ("reading", "codes", "tuned", 5), ("replay", feed, config), ("robust", feed.data),
    ]  # fmt: skip
    model.config = model_of("blackbox", {}).config
    assert fitting._phases(model, feed) == ["annotations", ("robust", feed.data)]


@pytest.mark.parametrize(("device", "together"), [("cpu", False), ("cuda", True)])
def test_dropout_is_drawn_for_one_network_at_a_time_on_a_cpu_only(monkeypatch, device, together):
    monkeypatch.setattr(fitting, "device_of", lambda name: SimpleNamespace(type=device))
    model = model_of("dpl", {"backbone": "conv-stride"})
    assert (fitting.why_not_together(model) is None) is together


# -- against confounders -----------------------------------------------------------------------------------------------


def test_groups_and_reasons_have_annotations_of_their_own(monkeypatch):
    asked = []
    monkeypatch.setattr(robust, "group_numbers", lambda data, annotated: np.array([0, 1, int(annotated.sum()) - 2]))

    class Kept:
        def __init__(self, model, data, annotated):
            asked.append(annotated.tolist())

        def added_to(self, loss):
            return ("reasons", loss)

    monkeypatch.setattr(robust, "Reasons", Kept)
    config = SimpleNamespace(group_step=0.25, group_examples=2, reasons_weight=0.5, reasons_examples=4)
    model, data = SimpleNamespace(config=config, seed=6), Sized(size=9)
    phases = [Phase("one", [], "first"), Phase("two", [], "second", "all")]
    changed = against_confounders(model, phases, data)
    assert [(phase.name, phase.score, phase.loss[0], phase.loss[1].loss) for phase in changed] == [
        ("one", "labels", "reasons", "first"), ("two", "all", "reasons", "second"),
    ]  # fmt: skip
    assert all(phase.loss[1].step == 0.25 and phase.loss[1].groups.tolist() == [0, 1, 0] for phase in changed)
    assert changed[0].loss[1] is not changed[1].loss[1] and asked == [robust.annotated_rows(9, 4, 6).tolist()]
    config.group_step = config.reasons_weight = 0.0
    assert against_confounders(model, phases, data) == phases


def test_pixels_that_show_nothing_are_known_of_the_annotated_examples():
    data = tiles()["train"]
    annotated = np.zeros(len(data), dtype=bool)
    annotated[[2, 5, 11]] = True
    reasons = Reasons(model_of("blackbox", {"reasons_weight": 0.75}), data, annotated)
    masks = np.stack([robust.decode(file)[:, :, 0] for file in data.files(np.array([2, 5, 11]), "instances")])
    assert reasons.outside.shape == (3, 1, *masks.shape[1:]) and reasons.weight == 0.75
    assert np.array_equal(reasons.outside[:, 0].numpy(), masks == 0) and 0 < reasons.outside.float().mean() < 1
    wanted = np.full(len(data), -1)
    wanted[[2, 5, 11]] = [0, 1, 2]
    assert reasons.places.tolist() == wanted.tolist()
    for facts in ({"perception": "run", "reads": None}, {"perception": None, "reads": "text"}):
        with pytest.raises(ConfigError, match="this model reads no pictures; set it to 0"):
            Reasons(SimpleNamespace(**facts), data, annotated)


def test_the_penalty_is_of_each_examples_own_pixels(monkeypatch):
    reasons = Reasons.__new__(Reasons)
    reasons.model, reasons.weight = "model", 2.0
    reasons.outside = torch.tensor([[True, False], [False, True], [True, True]])
    reasons.places = torch.tensor([-1, 2, 0, -1, 1])
    asked = []

    def penalty(model, pictures, outside):
        asked.append((model, pictures.tolist(), outside.tolist()))
        return torch.tensor(0.5)

    monkeypatch.setattr(robust, "gradient_outside", penalty)
    batch = SimpleNamespace(
        device=CPU, rows=torch.tensor([4, 3, 2, 1]), pictures=torch.tensor([40.0, 30.0, 20.0, 10.0])
    )
    assert reasons.added_to(lambda given: torch.tensor(3.0))(batch).item() == 4.0
    assert asked == [("model", [40, 20, 10], [[False, True], [True, False], [True, True]])]


# -- runs --------------------------------------------------------------------------------------------------------------


class Splits(dict):
    """Splits by name, with facts of their dataset."""

    def __init__(self, *names, **facts):
        super().__init__({name: Sized(name=name, size=3) for name in names})
        self.split_names = names
        self.knowledge, self.fingerprint = "knowledge", "ff"
        self.__dict__.update(facts)


@pytest.fixture
def recorded(monkeypatch):
    """Return what is written of runs, and by whom."""
    wrote = []
    monkeypatch.setattr(runs, "write_pairs", lambda predict, dataset, run: ("pairs", predict("pairs")))
    monkeypatch.setattr(runs, "_save", lambda model, dataset, run, more: wrote.append((model.name, run.name, more)))
    monkeypatch.setattr(runs, "_predict", lambda model, dataset, name, run: wrote.append((model.name, name, run.name)))
    return wrote


def test_a_finished_run_has_predictions_for_all_but_training(recorded, monkeypatch):
    model, run = SimpleNamespace(name="m", predict=lambda data: f"of {data}"), SimpleNamespace(name="r")
    dataset = Splits("train", "train_2", "test", "valid")
    finish_run(model, dataset, run, {"fold": 1})
    assert recorded == [
        ("m", "test", "r"),
        ("m", "valid", "r"),
        ("m", "r", {"pairs": ("pairs", "of pairs"), "fold": 1}),
    ]


class Learner(SimpleNamespace):
    """A model that is no network."""

    is_network = False

    def fit(self, training, valid, report):
        self.fitted.append((self.name, training.name, valid.name))

    def about(self):
        return {"model": self.name}


def learner(name, fitted):
    return Learner(name=name, fitted=fitted, history=[name], predict=lambda data: SimpleNamespace(name=data))


@pytest.mark.parametrize(("last", "claimed"), [(False, ["b", "c"]), (True, ["a", "b", "c"])])
def test_seeds_that_are_finished_are_left_as_they_are(recorded, monkeypatch, last, claimed):
    fitted, logged, told = [], [], []
    names = ["a", "b", "c"]
    models = dict(zip((4, 5, 6), (learner(name, fitted) for name in names), strict=True))
    folders = {
        seed: SimpleNamespace(
            name=name, is_finished=name == "a" or (last and name == "c"), claim=lambda name=name: told.append(name),
            release=lambda name=name: told.append(f"release {name}"),
        )
        for seed, name in zip((4, 5, 6), names, strict=True)
    }  # fmt: skip
    monkeypatch.setattr(runs, "_build", lambda order, dataset, seed: models[seed])
    monkeypatch.setattr(runs, "_is_finished", lambda run, model, dataset: run.is_finished)
    monkeypatch.setattr(runs, "split_for", lambda dataset, name: name)

    @contextlib.contextmanager
    def log_of(kind, model, dataset, run):
        yield SimpleNamespace(
            add=lambda epoch: logged.append((kind, run.name, epoch)),
            add_scores=lambda dataset, run: logged.append(("scores", run.name)),
        )

    monkeypatch.setattr(runs, "log_of", log_of)
    order = Order("m", Settings(), log="mlflow", called={"model": "M"})
    train_seeds(order, folders, Splits("train", "valid", "test"), "report")
    done = ["b"] if last else ["b", "c"]
    assert told == claimed and fitted == [(name, "train", "valid") for name in done]
    assert logged == [one for name in done for one in (("mlflow", name, name), ("scores", name))]
    saved = [own for own in recorded if isinstance(own[2], dict)]
    assert [(own[0], own[2]["called"]) for own in saved] == [(name, {"model": "M"}) for name in done]

    def broken(*given):
        raise DataError("broken")

    monkeypatch.setattr(runs, "finish_run", broken)
    told.clear()
    with pytest.raises(DataError, match="broken"):
        train_seeds(order, folders, Splits("train", "valid", "test"), "report")
    assert told[-3:] == ["release a", "release b", "release c"]


def test_a_fold_is_learned_outside_and_predicted_inside(monkeypatch, tmp_path):
    fitted, wrote, kept = [], [], []
    fold = Fold(1, 3)
    inside, held_out = Sized(name="inside", size=2), Sized(name="held out", size=1)
    monkeypatch.setattr(Fold, "divide", lambda self, data: (inside, held_out))
    monkeypatch.setattr(runs, "split_for", lambda dataset, name: name)
    monkeypatch.setattr(runs, "_keep_checkpoints", lambda model, dataset, run, more=None: kept.append(more))
    model = learner("m", fitted)
    model.predict = lambda data: SimpleNamespace(
        write=lambda path, knowledge: wrote.append((data.name, path, knowledge))
    )
    run = SimpleNamespace(predictions=lambda name: f"path of {name}")
    dataset = Splits("train", "valid", "train_1", "train_2")
    facts = asdict(fold)
    assert runs._fit(model, Order("m", Settings(), fold=fold), dataset, run, "report") == {"fold": facts}
    assert fitted == [("m", "inside", "valid")] and wrote == [("held out", "path of train", "knowledge")]
    assert kept == [{"fold": facts}]
    staged = []
    monkeypatch.setattr(runs, "fit_stages", lambda model, dataset, run, report, keep: keep(2) or staged.append(report))
    assert runs._fit(model, Order("m", Settings()), dataset, run, "report") == {"stages": None}
    assert staged == ["report"] and kept[1] == {"stage": 2} and len(fitted) == 1
    assert runs._fit(model, Order("m", Settings()), Splits("train", "valid", "train_1"), run, "report") == {}
    assert fitted[1] == ("m", "train", "valid") and kept[2] is None


def test_a_checkpoint_is_known_by_model_data_and_what_else_decides(monkeypatch, tmp_path):
    network = SimpleNamespace(about=lambda: {"model": "m"}, is_network=True)
    monkeypatch.setattr(runs, "network_of", lambda model: network if model.is_network else None)
    run, dataset = SimpleNamespace(folder=tmp_path), SimpleNamespace(fingerprint="ff")
    runs._keep_checkpoints(network, dataset, run, {"fold": 2})
    assert network.checkpoint.identity == {"model": "m", "data": "ff", "fold": 2}
    assert network.checkpoint.path == tmp_path / runs.CHECKPOINT
    runs._keep_checkpoints(learner("m", []), dataset, run)


@pytest.mark.parametrize(("why", "networks", "together"), [(None, 2, True), ("why", 2, False), (None, 0, False)])
def test_networks_are_fitted_side_by_side_where_that_can_be(monkeypatch, why, networks, together):
    told = []
    made = [SimpleNamespace(seed=seed) for seed in (5, 1)]
    monkeypatch.setattr(runs, "network_of", lambda model: model if networks else None)
    monkeypatch.setattr(runs, "_keep_checkpoints", lambda *given: told.append(given))
    monkeypatch.setattr(fitting, "why_not_together", lambda model: why)
    monkeypatch.setattr(fitting, "fit_together", lambda *given: told.append(given))
    found = runs._fit_side_by_side(made, "training", "valid", "report", "dataset", "last")
    kept = [(made[0], "dataset", "last", {"seeds": [5, 1]}), (made, "training", "valid", "report")]
    assert found is together and told == (kept if together else [])


def test_a_model_is_loaded_onto_the_device_that_is_asked_for(monkeypatch, tmp_path):
    asked = []
    about = {"model": "cbm"}
    monkeypatch.setattr(runs.RunFolder, "about", lambda self: about)
    monkeypatch.setattr(runs, "check_learned", lambda folder, about: asked.append((folder, about)))
    monkeypatch.setattr(MODELS["cbm"], "load", lambda folder, about, device: asked.append(device) or "model")
    assert runs.load_model(tmp_path, "cuda:3") == "model" and asked == [(tmp_path, about), "cuda:3"]
    monkeypatch.setattr(
        runs, "load_model", lambda folder, device="cpu": SimpleNamespace(device=device, is_network=True)
    )
    monkeypatch.setattr(runs, "network_of", lambda model: model)
    assert runs.load_network(tmp_path, "cuda:2").device == "cuda:2"


def test_a_run_is_saved_with_all_that_is_known_of_it(monkeypatch, tmp_path):
    wrote = []
    monkeypatch.setattr(runs, "write_record", lambda run, dataset, facts: wrote.append(facts))
    model = model_of("blackbox", {})
    model.history = [Epoch("a", 1, 0.5, 0.25, True)]
    run = SimpleNamespace(folder=tmp_path)
    (tmp_path / runs.CHECKPOINT).touch()
    runs._save(model, tiles(), run, {"pairs": 7})
    (facts,) = wrote
    assert not (tmp_path / runs.CHECKPOINT).exists() and facts["pairs"] == 7 and facts["parameters"] > 0
    assert facts["knowledge"] == model.knowledge.to_dict() and facts["layout"] == model.layout.to_dict()
    assert facts["machine"] and "code" not in facts and facts["seed"] == 3
    assert json.loads((tmp_path / "history.json").read_text())["epochs"] == model.history_as_dicts()
    code = SimpleNamespace(to_dict=lambda: {"file": "mine.py"})
    monkeypatch.setattr(runs, "code_of", lambda kind: code if kind is type(model) else None)
    runs._save(model, tiles(), run, {"pairs": 7})
    assert wrote[1]["code"] == {"file": "mine.py"} and wrote[1]["pairs"] == 7


# -- training ----------------------------------------------------------------------------------------------------------


class Feed:
    """Six examples that are nothing but their rows."""

    device, is_held = CPU, True

    def __len__(self):
        return 6

    def take(self, rows, images=None):
        return Batch(rows[:, None], rows[:, None], rows, rows)

    def batches(self, orders, size):
        return ((rows, None) for rows in torch.split(orders, size, dim=1))


def seed_in_training(scores, number, begun, weight=0.0):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, weight)
    given = iter(scores)
    order = torch.Generator().manual_seed(number)

    def loss(batch):
        return model.weight.sum() + 0 * batch.rows.sum()

    phase = Phase("walk", [model.weight], loss, begin=lambda *epoch: begun.append((number, *epoch)))
    return Trainee(model, [phase], lambda what: torch.tensor(next(given)), order, number)


def test_seeds_stop_one_by_one_and_keep_their_best():
    begun, told, counted = [], [], iter(range(1, 9))
    steps = []

    def step(models, phases, feed, config):
        learned = [torch.zeros(2, requires_grad=True)]

        def losses(rows, images=None):
            return learned[0] + torch.tensor([10.0, 20.0]) + 0 * rows.sum()

        def write_back(seed):
            steps.append(seed)
            nn.init.constant_(models[seed].weight, next(counted))

        return SimpleNamespace(learned=learned, losses=losses, write_back=write_back)

    trainees = [
        seed_in_training([0.5, 0.4, 0.3], 11, begun),
        seed_in_training([0.1, 0.2, 0.3, 0.2, 0.1], 12, begun),
    ]
    config = Training(device="cpu", epochs=9, patience=2, batch_size=4, learning_rate=1e-9)
    facts = train(
        trainees, Feed(), config, step, lambda epoch, epochs: told.append((epoch.number, epoch.score, epochs))
    )
    assert [epoch.score for epoch in trainees[0].history] == pytest.approx([0.5, 0.4, 0.3])
    assert [epoch.score for epoch in trainees[1].history] == pytest.approx([0.1, 0.2, 0.3, 0.2, 0.1])
    assert steps == [0, 1, 0, 1, 0, 1, 1, 1]
    assert [trainee.model.weight.item() for trainee in trainees] == [1, 6]
    assert [epoch.number for epoch in trainees[1].history] == [1, 2, 3, 4, 5]
    assert begun == [(seed, epoch, 9) for epoch in range(1, 6) for seed in (11, 12)]
    assert [epoch.loss for epoch in trainees[1].history] == pytest.approx([20.0] * 5)
    assert [number for number, _, _ in told] == [1, 2, 3, 3, 3] and {epochs for _, _, epochs in told} == {9}
    assert told[2][1] == pytest.approx(0.3)
    assert facts == {"device": "cpu", "precision": "auto", "held": True, "captured": False}


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"schedule": "step", "schedule_epochs": 2, "learning_rate_decay": 0.5, "warmup_epochs": 2}, [0.5, 1, 1, 1, 0.5, 0.5]),
        ({"schedule": "cosine", "epochs": 6, "warmup_epochs": 2}, [0.5, 1, 1, 0.853553, 0.5, 0.146447]),
        ({"schedule": "cosine", "epochs": 2}, [1, 0.5, 0, 0, 0, 0]),
        ({"schedule": "cosine", "epochs": 2, "warmup_epochs": 4}, [0.25, 0.5, 0.75, 1, 1, 0]),
        ({"warmup_epochs": 3, "learning_rate_decay": 0.5}, [1 / 3, 2 / 3, 1, 0.5, 0.25, 0.125]),
    ],
)  # fmt: skip
def test_rates_rise_and_then_fall(settings, wanted):
    config = Training(learning_rate=1.0, **settings)
    rates = [first_rate(config)]
    for epoch in range(1, 6):
        rates.append(next_rate(config, epoch, rates[-1]))
    assert rates == pytest.approx(wanted, abs=1e-5)


def test_the_rate_of_a_step_is_that_of_its_epoch():
    rates = []

    def step(models, phases, feed, config):
        return SimpleNamespace(learned=[torch.zeros(1, requires_grad=True)], losses=None, write_back=lambda seed: None)

    class Noted:
        is_captured, refusal, feed = False, "because", Feed()
        device = CPU

        def __init__(self, step, models, feed, config):
            self.step, self.again = step, 0

        def set_rate(self, value):
            rates.append(value)

        def epoch(self, orders):
            rates.append("epoch")
            return torch.tensor([1.0])

        def capture_again(self):
            rates.append("again")

    trainee = Trainee(nn.Linear(1, 1), [], lambda what: torch.tensor(0.5))
    trainee.phases = [Phase("p", list(trainee.model.parameters()), None, varies=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "Optimization", Noted)
        facts = train([trainee], Feed(), Training(epochs=2, learning_rate=1.0, learning_rate_decay=0.5), step)
    assert rates == [1.0, "again", "epoch", 0.5, "again", "epoch", 0.25] and facts["not_captured"] == "because"


@pytest.mark.parametrize(("step", "learned"), [(OneSeed, 1), (ManySeeds, 1)])
def test_only_what_a_phase_learns_is_trained(step, learned):
    models = [nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2, affine=False)) for _ in range(2)]
    for number, model in enumerate(models):
        model.fixed = nn.Parameter(torch.full((1,), float(number)))
        model[1].running_mean.fill_(number)
    phase = Phase("p", [models[0][0].weight], lambda batch: batch.rows.float().mean() * models[0].fixed.sum())
    made = step(models, [phase], Feed(), Training(device="cpu"))
    assert len(made.learned) == learned and all(own.requires_grad for own in made.learned)
    if step is ManySeeds:
        rows = torch.tensor([[0, 1], [4, 5]])
        assert made.losses(rows).tolist() == [0.0, 4.5]
        assert not made.weights["fixed"].requires_grad and made.weights["1.running_mean"].tolist() == [[0, 0], [1, 1]]
        assert {"1.running_var", "1.num_batches_tracked"} <= set(made.weights)
        made.weights["0.weight"].data[1] += 3.0
        before = models[1][0].weight.detach().clone()
        made.write_back(1)
        assert torch.allclose(models[1][0].weight, before + 3) and models[1].fixed.item() == 1.0
    else:
        images = torch.tensor([[7.0], [8.0]])[None]
        feed = SimpleNamespace(take=lambda rows, own: Batch(rows, rows, rows, own))
        one = OneSeed(models, [Phase("p", [], lambda batch: batch.images.sum() + batch.rows.sum())], feed, Training())
        assert one.losses(torch.tensor([[1, 2]]), images).tolist() == [18.0]


# -- subconcepts -------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_values_that_a_formula_never_gives_are_impossible():
    cells = digits(["p", "q", "r"], range(2))
    formula = Knowledge.of(cells, {"n": "p + q"}).labels[0].formula
    renamed = subconcepts.substitute(formula, {"p": subconcepts.Var("part1"), "q": subconcepts.Var("part2")})
    made = LikeConcepts(renamed, [(2, 0), (0, 1)], cells, Concept("n", (0, 1, 2, 3)))
    shares = [torch.tensor([[0.75, 0.25]]), torch.tensor([[0.5, 0.5]]), torch.tensor([[0.2, 0.8]])]
    first, second = made([share.log() for share in shares])
    assert first.exp().tolist()[0] == pytest.approx([0.15, 0.65, 0.2, 0.0]) and first[0, 3] < -1e20
    assert second.exp().tolist()[0] == pytest.approx([0.375, 0.5, 0.125, 0.0])


def test_what_is_fixed_is_read_as_in_use():
    class Noted(nn.Module):
        def forward(self, images):
            return (torch.tensor([[float(self.training)]]),)

    reader = subconcepts.SubconceptReader.__new__(subconcepts.SubconceptReader)
    nn.Module.__init__(reader)
    reader.encoder, reader.fixed = Noted(), False
    reader.train()
    assert reader.read(None)[0].item() == 1
    reader.fixed = True
    assert reader.read(None)[0].item() == 0


def test_models_take_no_interventions_without_concepts():
    with pytest.raises(ConfigError, match="model 'm' has no concepts that can be set"):
        Model.predict(SimpleNamespace(can_intervene=False, name="m"), None, {"a": np.zeros(1)})
