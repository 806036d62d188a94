"""Pieces of training by hand: what a GPU would be asked for, what is refused, groups, replay, pooling and views."""

import contextlib
import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assay.concepts import Concept, ConceptSpace, EncoderGroup
from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed
from assay.logic import Knowledge
from assay.models import MODELS, Order, Robustness
from assay.models.core import capture, devices, encoder, feeds, robust, runs
from assay.models.core.capture import Captured
from assay.models.core.encoder import ConceptEncoder, Context, EncoderView, PerceivedConcepts, Reader, encoder_views
from assay.models.core.feeds import ConceptFeed, Feed, upload
from assay.models.core.fitting import why_not_together
from assay.models.core.losses import Supervision, entropy_loss, supervision_mask
from assay.models.core.optimization import Optimization, make_optimizer
from assay.models.core.replay import with_replay
from assay.models.core.robust import GroupLoss, gradient_outside, group_numbers
from assay.models.core.runs import _require_fitting, _size, load_network, network_of, require_size
from assay.models.core.subconcepts import LEAST_SEEN, SubconceptReader, readers_of, reading_f1, with_reading
from assay.models.core.tensors import Annotations, Batch
from assay.models.core.training import Phase
from assay.models.core.validation import f1_of_columns, macro_f1
from assay.render import Box, Layout

CPU = torch.device("cpu")
GPU = SimpleNamespace(type="cuda")


class Split(SimpleNamespace):
    """Stands for a split."""

    def __len__(self):
        return len(self.given_labels)


# -- what a GPU would be asked for, by stand-ins -----------------------------------------------------------------------


class Graph:
    """Stands for a CUDA graph: what is captured runs again at each replay."""

    def __init__(self):
        self.replays = 0

    def capture_begin(self, **how):
        self.how = how

    def capture_end(self):
        pass

    def pool(self):
        return "pool"

    def replay(self):
        self.replays += 1


@pytest.fixture
def graphs(monkeypatch):
    """Let CUDA be stood for; return the graphs that are made."""
    made, state = [], {"mode": 0, "random": 1}

    def graph():
        made.append(Graph())
        return made[-1]

    monkeypatch.setattr(torch.cuda, "CUDAGraph", graph)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda: state["random"])
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda value: state.update(random=value))
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: state["mode"])
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: state.update(mode=mode))
    return SimpleNamespace(made=made, state=state)


def test_a_function_is_captured_after_three_calls_of_one_size(graphs):
    seen = []

    def function(rows, more):
        seen.append((rows.tolist(), graphs.state["mode"]))
        return rows * 2

    captured = Captured(function)
    for call in range(3):
        assert captured(torch.full((2,), float(call)), None).tolist() == [2.0 * call] * 2
    assert [mode for _, mode in seen] == ["error"] * 3 and graphs.state["mode"] == 0 and graphs.made == []
    captured(torch.tensor([7.0, 8.0]), None)
    (graph,) = graphs.made
    assert len(seen) == 4 and graph.replays == 1 and graph.how == {"capture_error_mode": "thread_local"}
    captured(torch.tensor([5.0, 6.0]), None)
    key = (torch.Size([2]), None)
    assert len(seen) == 4 and graph.replays == 2 and captured._graphs[key][1][0].tolist() == [5.0, 6.0]
    for _ in range(3):
        captured(torch.zeros(3), None)  # another size is counted by itself
    assert len(graphs.made) == 1
    captured(torch.zeros(3), None)
    assert len(graphs.made) == 2 and graphs.made[1].how["pool"] == "pool"
    captured.forget()
    captured(torch.zeros(3), None)
    assert len(graphs.made) == 3 and "pool" not in graphs.made[2].how and capture.WARM == 3


def test_a_function_that_waits_is_run_once_more_as_it_is(graphs):
    total = torch.tensor([1.0])

    def function():
        total.add_(10)
        graphs.state["random"] += 5
        if graphs.state["mode"] == "error":
            raise RuntimeError("called a synchronizing operation")

    captured = Captured(function, [total])
    captured()
    assert total.item() == 11 and graphs.state["random"] == 6 and graphs.state["mode"] == 0
    assert captured.refusal == "it waits for the GPU inside a step"
    for _ in range(5):
        captured()
    assert total.item() == 61 and graphs.made == []
    with pytest.raises(RuntimeError, match="quite another"):
        Captured(lambda: (_ for _ in ()).throw(RuntimeError("quite another")))()


def test_what_cannot_be_captured_is_told(graphs):
    def function():
        if graphs.made:
            raise RuntimeError("first line\nsecond")

    captured = Captured(function)
    for _ in range(3):
        captured()
    with pytest.raises(RunFailed, match=r"as a CUDA graph \(first line\); set captured=false"):
        captured()


class Event:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def synchronize(self):
        self.log.append(("synchronize", self.name))


class Copied:
    """A batch on its way to a GPU."""

    def __init__(self, name, log, pinned=True):
        self.name, self.log, self.pinned = name, log, pinned

    def is_pinned(self):
        return self.pinned

    def pin_memory(self):
        self.log.append(("pin", self.name))
        return Copied(self.name, self.log)

    def to(self, device, non_blocking=False):
        assert non_blocking and self.pinned
        return Copied(self.name, self.log)

    def record_stream(self, stream):
        self.log.append(("record", self.name))


@pytest.fixture
def stream(monkeypatch):
    log, count = [], iter(range(100))
    own = SimpleNamespace(record_event=lambda: Event(log, next(count)))
    current = SimpleNamespace(wait_event=lambda event: log.append(("wait", event.name)))
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: own)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: current)
    return log


def test_batches_are_uploaded_in_order_and_waited_for(stream):
    batches = (Copied(name, stream, pinned=name != 2) for name in range(6))
    found = [each.name for each in upload(batches, GPU, ahead=2)]
    assert found == list(range(6)) and ("pin", 2) in stream and ("pin", 1) not in stream
    assert [name for what, name in stream if what == "wait"] == list(range(6))
    assert [name for what, name in stream if what == "record"] == list(range(6))
    assert [name for what, name in stream if what == "synchronize"] == [0, 1, 2, 3] and feeds.AHEAD == 3


def test_an_error_in_a_batch_reaches_the_caller_and_the_batches_are_closed(stream):
    closed = []

    def batches():
        try:
            yield Copied(0, stream)
            raise ValueError("broken picture")
        finally:
            closed.append(True)

    with pytest.raises(ValueError, match="broken picture"):
        list(upload(batches(), GPU))
    assert closed == [True]
    endless = (Copied(name, stream) for name in range(1000))
    first = upload(endless, GPU, ahead=1)
    next(first)
    first.close()
    assert next(endless, None) is None  # closed too


def test_optimisers_of_a_gpu_have_a_rate_that_can_be_changed_in_place(monkeypatch):
    asked = []
    for kind in ("Adam", "AdamW"):
        monkeypatch.setattr(torch.optim, kind, lambda learned, kind=kind, **how: asked.append((kind, how)))
    monkeypatch.setattr(torch, "tensor", lambda value, device=None: ("there", value, device))
    config = SimpleNamespace(learning_rate=0.5, weight_decay=0.25, optimizer="adamw")
    make_optimizer([], config, GPU)
    config.optimizer = "adam"
    make_optimizer([], config, GPU)
    make_optimizer([], config, CPU)
    how = {"lr": ("there", 0.5, GPU), "weight_decay": 0.25, "fused": True, "capturable": True}
    assert asked == [("AdamW", how), ("Adam", how), ("Adam", {"lr": 0.5, "weight_decay": 0.25})]


def optimization(**changed):
    usual = {"learning_rate": 0.1, "weight_decay": 0.0, "momentum": 0.0, "optimizer": "sgd", "captured": True}
    step = SimpleNamespace(learned=[torch.zeros(1, requires_grad=True)])
    feed = SimpleNamespace(device=CPU)
    return Optimization(step, [], feed, SimpleNamespace(**{**usual, **changed}))


def test_steps_that_are_not_captured_say_why():
    run = optimization()
    assert run.refusal is None and not run.is_captured
    run.feed.device = GPU
    assert run.refusal == "sgd is not captured"
    run.config.captured = False
    assert run.refusal is None
    forgotten = []
    run.graphs = SimpleNamespace(refusal="it waits", forget=lambda: forgotten.append(True))
    assert run.refusal == "it waits" and not run.is_captured
    run.capture_again()
    run.graphs.refusal = None
    assert run.is_captured and forgotten == [True]
    rate = torch.tensor(0.1)
    run.optimizer.param_groups[0]["lr"] = rate
    run.set_rate(0.75)
    assert rate.item() == 0.75


# -- devices -----------------------------------------------------------------------------------------------------------


def test_a_worker_takes_its_own_gpu(monkeypatch):
    monkeypatch.setattr(devices, "worker_number", lambda: 5)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda place: "abb"[place])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert devices.device_of("auto") == torch.device("cuda:2")
    assert devices.describe_gpu() == f"PyTorch {torch.__version__}, 3 x a, b"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.device_of("auto") == CPU and devices.describe_gpu().endswith(", no GPU")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (7, 9))
    assert devices.free_memory(GPU) == 7.0
    with pytest.raises(ConfigError, match="device 'nothing' cannot be used: "):
        devices.device_of("nothing")


def test_what_is_set_for_training_is_put_back():
    before = torch.are_deterministic_algorithms_enabled()
    for wanted in (True, False):
        with pytest.raises(KeyError), devices.determinism(wanted):
            assert torch.are_deterministic_algorithms_enabled() is (wanted or before)
            raise KeyError
        assert torch.are_deterministic_algorithms_enabled() is before
    cuda, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn

    def formats():
        return cuda.allow_tf32, cudnn.allow_tf32, cudnn.benchmark

    usual = formats()
    for tf32 in (True, False):
        for deterministic in (True, False):
            config = SimpleNamespace(tf32=tf32, deterministic=deterministic)
            with pytest.raises(KeyError), devices.number_formats(config, GPU):
                assert formats() == (tf32, tf32, not deterministic)
                raise KeyError
            assert formats() == usual
    with devices.number_formats(SimpleNamespace(tf32=not usual[0]), CPU):
        assert formats() == usual


def test_a_stream_of_ones_own_waits_for_the_usual_one_and_back(monkeypatch):
    log = []

    def named(name):
        return SimpleNamespace(name=name, wait_stream=lambda other: log.append((name, other.name)))

    usual = named("usual")
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: usual)
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: named("own"))
    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    with devices.own_stream(GPU):
        log.append("inside")
    assert log == [("own", "usual"), "inside", ("usual", "own")]
    with devices.own_stream(CPU):
        log.append("again")
    assert log[3:] == ["again"]


def test_threads_and_seeds_are_set():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        devices.one_thread()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    devices.seed_all(3, "a")
    first = torch.rand(1).item()
    devices.seed_all(3, "a")
    assert torch.rand(1).item() == first and devices.seed_of(3, "a") != devices.seed_of(3, "b")
    assert 0 <= devices.seed_of(4, "a") < 2**48 and devices.seed_of(4, "a") != devices.seed_of(3, "a")


# -- runs --------------------------------------------------------------------------------------------------------------

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0"})
LAYOUT = Layout(4, 3)


def network(name="cbm", **settings):
    return MODELS[name](KNOWLEDGE, LAYOUT, Settings({"device": "cpu", "backbone": "mlp", **settings}), seed=2)


def dataset(rule="a and n > 0", concepts=SPACE.concepts, label="y", layout=LAYOUT):
    return SimpleNamespace(name="other", knowledge=Knowledge.of(ConceptSpace(concepts), {label: rule}), layout=layout)


def test_a_dataset_fits_if_concepts_labels_and_pictures_are_alike():
    made = network()
    _require_fitting(made, dataset())
    _require_fitting(made, dataset("a or n > 1"))
    for wrong, message in (
        (dataset(concepts=(Concept("a", (False, True)), Concept("n", (0, 1, 3)))), "'other' has other concepts"),
        (dataset(concepts=(*SPACE.concepts, Concept("b", (False, True)))), "'other' has other concepts"),
        (dataset(label="z"), "'other' has other labels"),
        (dataset("n"), "'other' has other labels"),
        (dataset(layout=Layout(4, 4)), "reads pictures of 4 x 3 in 1 channel, and 'other' has 4 x 4 in 1 channel"),
        (dataset(layout=Layout(4, 3, 3)), "and 'other' has 4 x 3 in 3 channels"),
    ):
        with pytest.raises(DataError, match=message):
            _require_fitting(made, wrong)
    made.reads = "something else than pictures"
    _require_fitting(made, dataset(layout=Layout(9, 9)))
    tree = MODELS["tree"](KNOWLEDGE, LAYOUT, Settings({}))
    _require_fitting(tree, dataset(layout=Layout(9, 9)))
    require_size(tree, Layout(9, 9), "x")
    assert _size((2, 3, 2)) == "2 x 3 in 2 channels" and network_of(tree) is None and network_of(made) is made


def test_only_networks_have_layers(monkeypatch, tmp_path):
    tree = MODELS["tree"](KNOWLEDGE, LAYOUT, Settings({}))
    monkeypatch.setattr(runs, "load_model", lambda folder, device: tree)
    with pytest.raises(ConfigError, match="holds 'tree', which is no network: it has no layers to look into"):
        load_network(tmp_path)
    made = network()
    monkeypatch.setattr(runs, "load_model", lambda folder, device: made)
    assert load_network(tmp_path) is made
    assert Order("cbm", Settings({})).record == {} and Order("cbm", Settings({})).seed == 0
    assert Order("cbm", Settings({}), called={"model": "mine"}).record == {runs.CALLED: {"model": "mine"}}


def test_why_seeds_are_not_trained_side_by_side():
    assert why_not_together(network()) is None
    assert why_not_together(network(supervised_share=0.5)) == "each seed is shown the concepts of other examples"
    assert why_not_together(network(supervised_replay=1)) == "each seed is shown other examples again"
    confounded = "training against confounders is of one network at a time"
    assert why_not_together(network(group_step=0.1)) == confounded
    assert why_not_together(network(reasons_weight=0.1)) == confounded


# -- losses ------------------------------------------------------------------------------------------------------------


def test_supervision_is_of_some_concepts_values_and_examples():
    rules = Supervision()
    assert (rules.supervised_share, rules.supervised_replay, rules.subconcepts) == (1.0, 0, "fixed")
    codes = torch.tensor([[0, 2], [1, -1], [1, 0], [0, 1]])
    batch = Annotations(torch.zeros(4, 1), codes, torch.arange(4))

    def mask(**settings):
        return supervision_mask(Supervision(**settings), SPACE, batch, 0).tolist()

    assert mask() == [[True, True], [True, False], [True, True], [True, True]]
    assert mask(supervised_concepts=["n"]) == [[False, True], [False, False], [False, True], [False, True]]
    assert mask(supervised_values=[2, True]) == [[False, True], [True, False], [True, False], [False, True]]
    half = supervision_mask(Supervision(supervised_share=0.5), SPACE, batch, 0)
    assert half[:, 0].sum() == 2 and (half[:, 1] <= half[:, 0]).all()
    assert not supervision_mask(Supervision(supervised_share=0.0), SPACE, batch, 0).any()
    with pytest.raises(ConfigError, match="supervised_values: no concept has the value 7"):
        mask(supervised_values=[7])


def test_the_entropy_loss_is_of_the_mean_over_a_group():
    one, other = torch.tensor([[0.9, 0.1], [0.5, 0.5]]), torch.tensor([[0.2, 0.8], [0.4, 0.6]])
    third = torch.tensor([[1.0, 0, 0], [0, 1, 0]])
    mean = np.array([0.5, 0.5])
    first = 1 - float(-(mean * np.log(mean)).sum() / np.log(2))
    second = 1 - float(np.log(2) / np.log(3))
    assert entropy_loss([one, third, other], [[0, 2], [1]]).item() == pytest.approx((first + second) / 2, abs=1e-6)
    assert entropy_loss([torch.ones(3, 1)], [[0]]).item() == 1


def test_f1_is_the_mean_over_values_that_occur():
    truth = torch.tensor([0, 0, 1, 1, -1, 3])
    answers = torch.eye(4)[[0, 1, 1, 1, 2, 2]]
    f1, known = macro_f1(truth, answers)  # 2 of 3; 4 of 5; value 2 never occurs; value 3 is never said
    assert f1.item() == pytest.approx((2 / 3 + 4 / 5 + 0) / 3) and known.item() == 1
    none, unknown = macro_f1(torch.full((6,), -1), answers)
    assert (none.item(), unknown.item()) == (0, 0)
    both = torch.stack([truth, torch.full((6,), -1), truth], dim=1)
    perfect = torch.eye(4)[truth.clamp(min=0)]
    assert f1_of_columns(both, [answers, answers, perfect]).item() == pytest.approx((22 / 45 + 1) / 2)
    answers[0, 0] = torch.nan
    assert f1_of_columns(both, [answers, answers, perfect]).isnan()


# -- groups, reasons and replay ----------------------------------------------------------------------------------------


def test_groups_are_of_labels_and_nuisances():
    styles = [json.dumps({robust.NUISANCES: {"hue": hue}}) for hue in (0, 1, 0, 1, 0)]
    column = SimpleNamespace(to_pylist=lambda: styles)
    split = Split(name="train", table={"style": column}, given_labels=np.array([[1], [0], [0], [0], [1]]))
    assert group_numbers(split, np.ones(5, dtype=bool)).tolist() == [3, 2, 1, 2, 3]
    some = np.array([True, True, False, True, False])
    assert group_numbers(split, some).tolist() == [2, 1, 0, 1, 0]
    styles[1] = "{}"
    with pytest.raises(ConfigError, match="group_step: the styles of split 'train' name no nuisances"):
        group_numbers(split, some)


def test_the_worst_group_counts_most():
    groups = torch.tensor([0, 1, 2, 1])
    losses = {0: 1.0, 1: 3.0, 2: 5.0}
    given = []

    def loss(batch):
        given.append((batch.rows.tolist(), batch.labels.tolist(), batch.concepts.tolist(), batch.images.tolist()))
        return torch.tensor(losses[int(groups[batch.rows[0]])])

    weighted = GroupLoss(loss, groups, 0.5)
    assert weighted.weights.tolist() == pytest.approx([1 / 3] * 3)
    rows = torch.tensor([3, 0, 1])
    found = weighted(Batch(rows * 10, rows * 100, rows, rows * 1000))
    raw = np.array([np.exp(0.5 * 1), np.exp(0.5 * 3), 1.0]) / 3
    weights = raw / raw.sum()
    assert weighted.weights.tolist() == pytest.approx(weights.tolist())
    assert found.item() == pytest.approx(weights[0] * 1 + weights[1] * 3)
    assert given == [([0], [0], [0], [0]), ([3, 1], [30, 10], [300, 100], [3000, 1000])]


def test_the_gradient_outside_is_squared_and_added_up():
    weights = torch.tensor([[1.0, 2.0], [0.5, 3.0]])

    def answer(inputs, do):
        share = (inputs[:, 0] * weights).flatten(1).sum(dim=1).sigmoid()[:, None]
        return SimpleNamespace(labels=[share], concepts=[share**2])

    pictures = torch.tensor([[[[0.1, 0.2], [0.3, 0.4]]], [[[0.9, 0.0], [0.1, 0.2]]]])
    outside = torch.tensor([[[[True, False], [True, True]]], [[[False, False], [False, True]]]])
    found = gradient_outside(SimpleNamespace(answer=answer), pictures, outside)
    wanted = []
    for picture, mask in zip(pictures[:, 0], outside[:, 0], strict=True):
        share = torch.sigmoid((picture * weights).sum())
        slope = 3 * (1 - share) * weights  # of log s + log s^2
        wanted.append(((slope * mask) ** 2).sum().item())
    assert found.item() == pytest.approx(np.mean(wanted), rel=1e-4)


def test_robustness_is_off_by_default():
    config = Robustness()
    assert (config.group_step, config.group_examples, config.reasons_weight, config.reasons_examples) == (
        0,
        None,
        0,
        None,
    )


def test_supervised_examples_are_added_to_every_batch():
    codes = torch.tensor([[0, 2], [-1, -1], [1, 0], [-1, -1]])
    annotations = Annotations(torch.arange(4)[:, None], codes, torch.arange(4))
    feed = SimpleNamespace(
        is_held=True,
        annotations=annotations,
        take=lambda rows: Batch(rows[:, None], codes[rows], rows, rows * 10),
    )
    seen = []
    phase = Phase("x", [], lambda batch: seen.append(batch) or torch.zeros(()), "all")
    model, config = SimpleNamespace(space=SPACE, seed=0), Supervision(supervised_replay=5)
    (changed,) = with_replay(model, [phase], feed, config)
    changed.loss(Batch(torch.tensor([[1]]), codes[1:2], torch.tensor([1]), torch.tensor([10])))
    (batch,) = seen
    assert len(batch) == 6 and batch.rows[0] == 1 and set(batch.rows[1:].tolist()) <= {0, 2}
    assert (batch.images == batch.rows * 10).all() and (batch.labels[:, 0] == batch.rows).all()
    assert with_replay(model, [phase], feed, Supervision()) == [phase]
    assert with_replay(model, [phase], feed, Supervision(supervised_replay=1, supervised_share=0.0)) == [phase]
    feed.is_held = False
    with pytest.raises(ConfigError, match="supervised_replay needs pictures that are held in memory"):
        with_replay(model, [phase], feed, config)


# -- encoders ----------------------------------------------------------------------------------------------------------


def boxes(**places):
    return Layout(8, 4, 1, {name: Box(*corners) for name, corners in places.items()})


def test_concepts_with_regions_of_one_size_have_a_view_of_their_own():
    names = ("a", "b", "c", "d")
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in names),
                         encoders=(EncoderGroup("ab", ("a", "b")), EncoderGroup("cd", ("c", "d"))))  # fmt: skip
    layout = boxes(a=(0, 0, 2, 4), b=(2, 0, 4, 4), c=(4, 0, 6, 4), d=(6, 0, 8, 3))
    first = EncoderView(("a", "b"), (Box(0, 0, 2, 4), Box(2, 0, 4, 4)))
    assert encoder_views(space, layout) == [first, EncoderView(("c", "d"))]
    assert encoder_views(space, boxes()) == [EncoderView(names)]
    assert encoder_views(space, layout, without=("b", "c")) == [
        EncoderView(("a",), (Box(0, 0, 2, 4),)),
        EncoderView(("d",), (Box(6, 0, 8, 3),)),
    ]
    single = encoder_views(space, layout, False, without=("a",))
    assert [view.concepts for view in single] == [("b",), ("c",), ("d",)] and all(view.boxes for view in single)


@torch.no_grad()
def test_a_reader_looks_at_each_part_by_itself():
    layout = Layout(4, 3)
    view = EncoderView(("a", "n"), (Box(0, 0, 2, 3), Box(2, 0, 4, 3)))
    reader = Reader(view, {"a": 2, "n": 2}, layout, "mlp").eval()
    pictures = torch.rand(5, 1, 3, 4)
    found = reader(pictures)
    assert reader.each == 1
    np.testing.assert_allclose(found["n"], reader.head(reader.body(pictures[:, :, :, 2:])), atol=1e-6)
    np.testing.assert_allclose(found["a"], reader.head(reader.body(pictures[:, :, :, :2])), atol=1e-6)
    pairs = EncoderView(("a", "n", "b", "m"), view.boxes)
    reader = Reader(pairs, {"a": 2, "n": 3, "b": 2, "m": 3}, layout, "mlp").eval()
    right = reader.head(reader.body(pictures[:, :, :, 2:]))
    assert reader.each == 2 and right.shape[1] == 5
    np.testing.assert_allclose(reader(pictures)["m"], right[:, 2:], atol=1e-6)
    np.testing.assert_allclose(reader(pictures)["b"], right[:, :2], atol=1e-6)
    whole = Reader(EncoderView(("a", "n")), {"a": 2, "n": 3}, layout, "mlp").eval()
    np.testing.assert_allclose(whole(pictures)["n"], whole.head(whole.body(pictures))[:, 2:], atol=1e-6)


def test_a_last_layer_that_is_too_wide_is_of_low_rank(monkeypatch):
    monkeypatch.setattr(encoder, "MOST_WEIGHTS", 12)
    monkeypatch.setattr(encoder, "RANK", 2)
    assert isinstance(encoder._head(3, 4), torch.nn.Linear)
    first, second = encoder._head(3, 5)
    assert (first.in_features, first.out_features, second.in_features, second.out_features) == (3, 2, 2, 5)


@torch.no_grad()
def test_context_adds_something_of_all_concepts_where_each_is_read_off_a_part():
    layout = boxes(a=(0, 0, 2, 4), n=(2, 0, 4, 4))
    parts, whole = ConceptEncoder(SPACE, layout, "mlp", share=False), ConceptEncoder(SPACE, Layout(4, 3), "mlp")
    assert parts.parts and not whole.parts and parts.widths == [2, 3]
    read = [torch.rand(2, 2), torch.rand(2, 3)]
    assert Context(whole)(read) is read
    context = Context(parts)
    more = context.network(torch.cat(read, dim=1))
    assert context.network[0].out_features == 64
    for found, wanted in zip(context(read), (read[0] + more[:, :2], read[1] + more[:, 2:]), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    perceived = PerceivedConcepts(SPACE)(torch.tensor([[0.25, 0.75, 0.0, 0.5, 0.5]]))
    np.testing.assert_allclose(perceived[0].exp(), [[0.25, 0.75]], atol=1e-6)
    assert perceived[1][0, 0].item() == pytest.approx(np.log(1e-12)) and perceived[1].shape == (1, 3)


def test_perceived_concepts_stand_for_pictures():
    split = Split(given_labels=np.zeros((2, 1), dtype=int), given_concepts=np.zeros((2, 2), dtype=int))
    feed = ConceptFeed(split, CPU, [np.array([[0.1, 0.9], [0.2, 0.8]]), np.array([[1.0, 0, 0], [0, 1, 0]])])
    assert feed.images.dtype == torch.float32 and feed.is_held and isinstance(feed, Feed)
    np.testing.assert_allclose(feed.take(torch.tensor([1])).pictures, [[0.2, 0.8, 0, 1, 0]], atol=1e-6)


# -- subconcepts -------------------------------------------------------------------------------------------------------


CELLS = ConceptSpace(tuple(Concept(name, (1, 2, 3)) for name in ("p", "q", "r")))
MADE = Knowledge.of(CELLS, {"u": "p == q", "v": "q == r", "w": "p < r"})
WHOLE = ConceptSpace(tuple(Concept(name, (False, True)) for name in ("u", "v", "w")))


class Cells(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = torch.nn.ParameterList(torch.randn(2, 3) for _ in range(3))

    def forward(self, images):
        return [own + 0 for own in self.logits]


@torch.no_grad()
def test_concepts_follow_from_their_subconcepts_and_features_are_pooled():
    torch.manual_seed(0)
    cells = Cells()
    plain = SubconceptReader(cells, MADE, WHOLE, {})
    assert plain.group_names == [("u", "v"), ("w",)] and len(plain.pooling) == 0 and plain.names == ("u", "v", "w")
    shares = [own.softmax(dim=1) for own in cells.logits]
    p, q, r = shares
    same = {"u": (p * q).sum(dim=1), "v": (q * r).sum(dim=1)}
    same["w"] = p[:, 0] * (r[:, 1] + r[:, 2]) + p[:, 1] * r[:, 2]
    found = plain(None)
    for name, chance in same.items():
        np.testing.assert_allclose(found[name].exp(), torch.stack([1 - chance, chance], dim=1), atol=1e-5)
    pooled = SubconceptReader(cells, MADE, WHOLE, {"u": 4, "v": 4, "w": 5})
    features = pooled(None)
    for name, (one, other) in {"u": (p, q), "v": (q, r), "w": (p, r)}.items():
        layer = pooled.pooling[0 if name != "w" else 1]
        own = torch.stack([1 - same[name], same[name]], dim=1)
        inputs = [(one + other) / 2, torch.maximum(one, other), own, own.log().clamp(min=-20) / 20]
        np.testing.assert_allclose(features[name], layer(torch.cat(inputs, dim=1)), atol=1e-4)
    assert [(layer.in_features, layer.out_features) for layer in pooled.pooling] == [(10, 4), (10, 5)]
    assert LEAST_SEEN == -20


def test_subconcepts_are_learned_first_and_then_left_as_they_are():
    cells = Cells()
    model = torch.nn.Module()
    model.reader, model.head = SubconceptReader(cells, MADE, WHOLE, {}), torch.nn.Linear(2, 1)
    codes = np.array([[0, 1, -1], [2, -1, -1]])
    began = []
    phase = Phase("labels", list(model.parameters()), None, "all", lambda *epochs: began.append(epochs))
    assert readers_of(model) == [model.reader]
    assert with_reading(model, [phase], codes, "latent", 6) == [phase]
    first, second = with_reading(model, [phase], codes, "fixed", 6)
    assert (first.name, first.score, first.batch_size) == ("subconcepts", "subconcepts", 16)
    assert {id(p) for p in first.parameters} == {id(p) for p in cells.parameters()}
    assert {id(p) for p in second.parameters} == {id(p) for p in model.head.parameters()}
    second.begin(1, 5)
    assert model.reader.fixed and began == [(1, 5)] and not model.reader.read(None)[0].requires_grad
    first.begin(0, 5)
    assert not model.reader.fixed and model.reader.read(None)[0].requires_grad
    rows = torch.tensor([0, 1])
    loss = first.loss(SimpleNamespace(rows=rows, pictures=None))
    logs = [own.log_softmax(dim=1) for own in cells.logits]
    wanted = -(logs[0][0, 0] + logs[0][1, 2] + logs[1][0, 1]) / 3
    assert loss.item() == pytest.approx(wanted.item(), abs=1e-5)
    assert with_reading(model, [phase], codes, "tuned", 6)[1] is phase
    assert with_reading(model, [phase], codes, "fixed", 0)[0].batch_size == 1
    with pytest.raises(ConfigError, match="subconcepts=latent"):
        with_reading(model, [phase], None, "fixed", 6)


def test_the_f1_of_subconcepts_is_0_where_they_are_not_annotated():
    cells = Cells()
    model = torch.nn.Module()
    model.reader = SubconceptReader(cells, MADE, WHOLE, {})
    model.chunks = lambda feed: ["pictures"]
    feed = SimpleNamespace(data=SimpleNamespace(subconcepts=None), device=CPU)
    assert reading_f1(model, feed).item() == 0
    right = np.stack([own.detach().argmax(dim=1).numpy() for own in cells.logits], axis=1)
    feed.data.subconcepts = right
    assert reading_f1(model, feed).item() == pytest.approx(1) and not model.training
    feed.data.subconcepts = (right + 1) % 3
    assert reading_f1(model, feed).item() < 0.5
