"""Input that does not come as it usually does: several columns of numbers, objects in two parts, seeds with orders."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, digits
from assay.config import Settings
from assay.errors import ConfigError, MissingExtra
from assay.logic import Knowledge
from assay.models import MODELS, Epoch, NeuralConfig, check_log
from assay.models.backbones.dropout import HeadLayer
from assay.models.core import capture, continual, devices, encoder, feeds, inputs, logs, precision
from assay.models.core.checkpoints import Checkpoint, Progress
from assay.models.core.continual import fit_stages
from assay.models.core.encoder import ConceptEncoder, EncoderView, encoder_views
from assay.models.core.feeds import Feed
from assay.models.core.inputs import (
    FeatureInput,
    InputSettings,
    SentenceInput,
    TableInput,
    TextInput,
    input_from,
    learn_input,
)
from assay.models.core.logs import EpochLog
from assay.models.core.losses import Supervision
from assay.models.core.neural import Outputs
from assay.models.core.replay import with_replay
from assay.models.core.robust import GroupLoss, gradient_outside
from assay.models.core.subconcepts import SubconceptReader, reading_f1, with_reading
from assay.models.core.tensors import Annotations, Batch
from assay.models.core.training import BestEpoch, Phase, Trainee
from assay.models.core.validation import f1_of_columns
from assay.render import Box, Layout
from assay.runs import RunFolder
from tests.models.core.test_inputs_by_hand import Split
from tests.models.limits import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, require_limits
from tests.models.tiles import model_of, tiles

CPU = torch.device("cpu")


# -- what is read ------------------------------------------------------------------------------------------------------


def test_a_table_may_have_several_columns_of_numbers_between_others():
    rows = [f"high={n}, hat={'ab'[n % 2]}, wide={-2 * n + (n == 3)}, dull=7" for n in range(13)]
    learned = TableInput.learn(Split(name="train", texts=rows[::-1]))
    high, wide = np.arange(13.0), -2 * np.arange(13.0) + (np.arange(13) == 3)
    assert learned.values == ("hat=a", "hat=b", "dull=7") and learned.columns == ("high", "wide")
    assert learned.means == pytest.approx((high.mean(), wide.mean()))
    assert learned.deviations == pytest.approx((high.std(), wide.std()))
    assert learned.layout == Layout(5, 1, 1, {"hat": Box(0, 0, 2, 1), "dull": Box(2, 0, 3, 1)})
    found = learned.array(Split(texts=["wide=3, dull=7, high=x, hat=a", "hat=c, high=inf, wide=nan", "high=-1e1"]))
    wanted = np.zeros((3, 5))
    wanted[0, [0, 2, 4]] = 1, 1, (3 - wide.mean()) / wide.std()
    wanted[2, 3] = (-10 - high.mean()) / high.std()
    np.testing.assert_allclose(found[:, 0, :, 0], wanted, atol=1e-5)
    assert found.dtype == np.float32 and found.shape == (3, 1, 5, 1)
    twice = learned.array(Split(texts=["hat=b, dull=7, hat=b"]))[0, 0, :, 0]
    assert twice.tolist() == [0, 1, 1, 0, 0]
    some = TableInput.learn(Split(name="train", texts=[f"n={n}" if n else "n=many" for n in range(20)]))
    assert some.columns == () and len(some.values) == 20  # one that is no number makes all of them names


def test_what_is_set_decides_what_is_learned(monkeypatch):
    split = Split(
        texts=["x=1"], name="train", columns=("text", "features"), index=np.array([0]), features=np.ones((1, 3))
    )
    assert isinstance(learn_input(InputSettings("text", features="folder"), split), TextInput)
    assert learn_input(InputSettings(), split) == FeatureInput(3, None)
    assert learn_input(InputSettings("features"), split) == FeatureInput(3, None)
    monkeypatch.setattr(inputs, "_features", lambda data, folder: np.zeros((1, 9 if folder == "folder" else 3)))
    assert learn_input(InputSettings(features="folder"), split) == FeatureInput(9, "folder")
    assert learn_input(InputSettings("features", features="folder"), split) == FeatureInput(9, "folder")
    monkeypatch.setattr(SentenceInput, "learn", lambda folder: ("sentences of", folder))
    for kind in ("auto", "text"):
        assert learn_input(InputSettings(kind, sentences="model"), split) == ("sentences of", "model")
    with pytest.raises(ConfigError, match="sentences=model reads texts, not input=features"):
        learn_input(InputSettings("features", sentences="model"), split)
    for kept in (SentenceInput("model", 8, "abc"), FeatureInput(9, "folder"), TextInput(("a", "b"), 3)):
        assert input_from(json.loads(json.dumps(kept.to_dict()))) == kept


def test_sentences_are_read_by_the_model_that_was_learned_from(monkeypatch):
    from assay.models.backbones.sentences import SentenceModel

    model = SimpleNamespace(width=4, digest="abc", features=lambda texts: np.arange(4.0 * len(texts)).reshape(-1, 4))
    monkeypatch.setattr(SentenceModel, "open", lambda folder: model if folder == "here" else None)
    learned = SentenceInput.learn("here")
    assert learned == SentenceInput("here", 4, "abc") and learned.layout == Layout(4, 1)
    found = learned.array(Split(texts=["a", "b"]))
    assert found.shape == (2, 1, 4, 1) and found[1, 0, :, 0].tolist() == [4, 5, 6, 7]
    model.digest = "other"
    with pytest.raises(inputs.DataError, match="the weights in 'here' are not those that the model was trained with"):
        learned.array(Split(texts=["a"]))


def test_only_a_few_batches_are_copied_ahead(monkeypatch):
    sizes = []

    class Noted(feeds.Queue):
        def __init__(self, size=0):
            sizes.append(size)
            super().__init__(size)

    monkeypatch.setattr(feeds, "Queue", Noted)
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: None)
    for ahead in (5, feeds.AHEAD):
        assert list(feeds.upload(iter([]), SimpleNamespace(type="cuda"), ahead)) == []
    assert sizes == [5, 3]


def test_a_split_is_held_up_to_its_share_of_memory(monkeypatch):
    data = SimpleNamespace(layout=Layout(5, 3, 2))
    sized = type("Sized", (), {"__len__": lambda self: 4, "layout": data.layout})()
    monkeypatch.setattr(feeds, "free_memory", lambda device: 480.0)
    assert feeds._fits(sized, CPU, 0.25) and not feeds._fits(sized, CPU, 0.2499)  # 4 pictures of 30 bytes


@pytest.mark.parametrize(("share", "repeats", "kept"), [(0.0, True, True), (0.0, False, False), (1.0, True, False)])
def test_decoded_pictures_are_kept_where_they_are_asked_for_again(monkeypatch, share, repeats, kept):
    made = []

    class Kept:
        def __init__(self, decode, count, shape):
            made.append((count, shape))
            self.fill = decode

    monkeypatch.setattr(feeds, "DecodedFile", Kept)
    data = tiles()["valid"]
    feed = Feed(data, CPU, share, repeats=repeats)
    assert made == ([(22, data.picture_shape)] if kept else []) and feed.is_held is (share == 1.0)
    rows = torch.tensor([[4, 0, 7], [2, 2, 1]])
    whole = torch.from_numpy(data.images).permute(0, 3, 1, 2)
    for part, images in feed.batches(rows, 2):
        for seed in range(2):
            found = feed.take(part[seed], None if images is None else images[seed])
            assert torch.equal(found.images, whole[part[seed]]) and torch.equal(found.rows, part[seed])
            assert found.labels.tolist() == data.given_labels[part[seed].numpy()].tolist()
    chosen = torch.cat(list(feed.choose(np.array([9, 3, 9])).chunks(2)))
    assert torch.equal(chosen, whole[[9, 3, 9]])


# -- encoders ----------------------------------------------------------------------------------------------------------


def test_an_object_must_lie_in_one_part_and_all_concepts_be_attributes():
    slots = (Slot("x", "things", ("hue", "size")), Slot("y", "things", ("hue", "size")))
    names = [f"{slot.name}.{own}" for slot in slots for own in slot.attributes]
    concepts = tuple(Concept(name, (0, 1)) for name in names)
    left, right, low = Box(0, 0, 2, 2), Box(2, 0, 4, 2), Box(2, 2, 4, 4)
    space = ConceptSpace(concepts, slots)
    whole = Layout(4, 4, 1, dict(zip(names, (left, left, right, right), strict=True)))
    assert encoder_views(space, whole, "objects") == [EncoderView(tuple(names), (left, right))]
    for places in ((left, left, right, low), (left, low, right, right)):
        with pytest.raises(ConfigError, match="share: objects: the pictures do not show x in a part of its own"):
            encoder_views(space, Layout(4, 4, 1, dict(zip(names, places, strict=True))), "objects")
    more = ConceptSpace((*concepts, Concept("night", (False, True))), slots)
    with pytest.raises(ConfigError, match="the concepts are not all attributes of objects; set share=true"):
        encoder_views(more, whole, "objects")


def test_a_wide_head_drops_features_before_its_first_layer(monkeypatch):
    assert (encoder.MOST_WEIGHTS, encoder.RANK) == (100_000_000, 512)
    monkeypatch.setattr(encoder, "MOST_WEIGHTS", 11)
    monkeypatch.setattr(encoder, "RANK", 2)
    first, second = encoder._head(3, 4)
    assert (
        isinstance(first, HeadLayer)
        and type(second) is nn.Linear
        and (encoder.CONTEXT, encoder.SMALLEST) == (64, 1e-12)
    )


def test_widths_are_those_of_concepts_by_name():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1))))
    layout = Layout(4, 2, 1, {"a": Box(0, 0, 2, 2), "b": Box(2, 0, 4, 2)})
    made = ConceptEncoder(space, layout, "mlp", False, {"b": 5, "a": 4})
    assert made.widths == [4, 5] and [own.shape[1] for own in made(torch.rand(1, 1, 2, 4))] == [4, 5]
    assert ConceptEncoder(space, layout, "mlp", False).widths == [3, 2]


def test_cells_are_read_apart_where_concepts_are():
    cells = digits(["p", "q"], range(2))
    finer = Knowledge.of(cells, {"same": "p == q"})
    space = ConceptSpace((Concept("free", (0, 1, 2)), Concept("same", (False, True))))
    layout = Layout(6, 2, 1, {"p": Box(0, 0, 2, 2), "q": Box(2, 0, 4, 2), "free": Box(4, 0, 6, 2)})
    for share, readers in ((True, 1), (False, 2)):
        made = ConceptEncoder(space, layout, "mlp", share, subconcepts=finer).eval()
        assert [type(own).__name__ for own in made.readers] == ["Reader", "SubconceptReader"] and made.parts
        assert len(made.readers[1].encoder.readers) == readers and made.readers[0].view.concepts == ("free",)
        found = made(torch.rand(3, 1, 2, 6))
        assert [tuple(own.shape) for own in found] == [(3, 3), (3, 2)]
        assert torch.allclose(found[1].exp().sum(dim=1), torch.ones(3), atol=1e-5)
    only = ConceptSpace((Concept("same", (False, True)),))
    assert ConceptEncoder(only, layout, "mlp", subconcepts=finer).parts


def test_concepts_share_a_diagram_only_if_their_cells_are_alike():
    cells = ConceptSpace(
        (
            Concept("p", (1, 2, 3)),
            Concept("r", (1, 2)),
            Concept("q", (1, 2, 3)),
            Concept("s", (1, 2)),
            Concept("o", (1, 2)),
        )
    )
    finer = Knowledge.of(cells, {"x": "p == q", "w": "s == r", "v": "r == o", "u": "q == p", "y": "o < s"})
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in "uvwxy"))

    class Read(nn.Module):
        def forward(self, images):
            drawn = torch.Generator().manual_seed(0)
            return [torch.randn(2, size, generator=drawn) for size in cells.sizes]

    plain = SubconceptReader(Read(), finer, space, {})
    assert plain.group_names == [("x", "u"), ("w", "v"), ("y",)]
    assert [group.parts for group in plain.groups] == [[[0, 2], [2, 0]], [[3, 1], [1, 4]], [[4, 3]]]
    p, r, q, s, o = (logits.softmax(dim=1) for logits in Read()(None))
    same = {"x": (p, q), "w": (s, r), "v": (r, o), "u": (q, p)}
    wanted = {name: (one * other).sum(dim=1) for name, (one, other) in same.items()} | {"y": o[:, 0] * s[:, 1]}
    for name, made in plain(None).items():
        assert torch.allclose(made.exp(), torch.stack([1 - wanted[name], wanted[name]], dim=1), atol=1e-5)
    wide = SubconceptReader(Read(), finer, space, {"x": 3, "u": 4, "v": 2, "w": 2, "y": 5})
    assert wide.group_names == [("x",), ("w", "v"), ("u",), ("y",)]
    assert [(own.in_features, own.out_features) for own in wide.pooling] == [(10, 3), (8, 2), (10, 4), (8, 5)]
    assert {name: own.shape[1] for name, own in wide(None).items()} == {"x": 3, "v": 2, "w": 2, "u": 4, "y": 5}


def test_several_readers_are_taught_and_scored_alike():
    cells = digits(["p", "q"], range(3))
    finer, space = Knowledge.of(cells, {"same": "p == q"}), ConceptSpace((Concept("same", (False, True)),))

    class Read(nn.Module):
        def __init__(self, seed):
            super().__init__()
            drawn = torch.Generator().manual_seed(seed)
            self.logits = nn.ParameterList(torch.randn(4, 3, generator=drawn) for _ in range(2))

        def forward(self, images):
            return [own[images] for own in self.logits]

    model = nn.Module()
    model.one, model.two = (SubconceptReader(Read(seed), finer, space, {}) for seed in (1, 2))
    codes = np.array([[0, 2], [1, -1], [2, 2], [0, 1]])
    phase = Phase("labels", list(model.parameters()), None)
    first, second = with_reading(model, [phase], codes, "fixed", 5)
    rows = torch.tensor([3, 1, 0])
    wanted = 0.0
    for reader in (model.one, model.two):
        logs = [own.log_softmax(dim=1) for own in reader.encoder.logits]
        wanted -= sum(logs[i][row, codes[row, i]] for row in rows.tolist() for i in range(2) if codes[row, i] >= 0) / 5
    found = first.loss(SimpleNamespace(rows=rows, pictures=rows))
    assert found.item() == pytest.approx(wanted.item(), abs=1e-5) and first.batch_size == 20
    assert len(first.parameters) == 4 and second.parameters == []
    first.begin(1, 2)
    assert not model.one.fixed and not model.two.fixed
    second.begin(1, 2)
    assert model.one.fixed and model.two.fixed
    model.chunks = lambda feed: [torch.arange(3), torch.tensor([3])]
    feed = SimpleNamespace(data=SimpleNamespace(subconcepts=codes), device=CPU)
    truth = torch.from_numpy(codes)
    scores = [float(f1_of_columns(truth, list(reader.encoder.logits))) for reader in (model.one, model.two)]
    assert scores[0] != scores[1] and reading_f1(model, feed).item() == pytest.approx(np.mean(scores))


# -- checkpoints, stages, logs -----------------------------------------------------------------------------------------


def seeded(number):
    model = nn.Linear(2, 1, bias=False)
    nn.init.constant_(model.weight, number)
    return Trainee(model, [], None, torch.Generator().manual_seed(number), number)


def test_each_seed_goes_on_in_its_own_order(tmp_path):
    old, new = [seeded(3), seeded(5)], [seeded(1), seeded(2)]
    optimizer = torch.optim.SGD([own.model.weight for own in old], lr=0.1)
    step = SimpleNamespace(learned=optimizer.param_groups[0]["params"])
    descent = SimpleNamespace(
        step=step, optimizer=optimizer, feed=SimpleNamespace(device=CPU), set_rate=lambda rate: None
    )
    best = [
        BestEpoch(0.5, 1.5, {"weight": torch.full((1, 2), 7.0)}),
        BestEpoch(0.25, 2.5, {"weight": torch.ones(1, 2)}, 3),
    ]
    old[1].history = [Epoch("b", 1, 0.5, 0.75, True)]
    Checkpoint(tmp_path / "c", {}).keep(old, descent, Progress(0, 2, 0.5, best))
    draws = [torch.rand(3, generator=own.order) for own in old]
    found = Checkpoint(tmp_path / "c", {}).restore(new)
    found.begin(new, descent, None)
    assert [torch.rand(3, generator=own.order).tolist() for own in new] == [own.tolist() for own in draws]
    assert [own.model.weight.tolist() for own in new] == [[[3, 3]], [[5, 5]]]
    assert [own.weights["weight"].tolist() for own in found.best] == [[[7, 7]], [[1, 1]]]
    assert [own.since for own in found.best] == [0, 3] and [len(own.history) for own in new] == [0, 1]
    assert Checkpoint(tmp_path / "c", {}).restore([*new, seeded(4)]) is None
    text = (tmp_path / "c").read_bytes()
    for key, was, now in (
        (b"rate", b"0.5", b"0.4"),
        (b"epoch", b"2", b"1"),
    ):  # notes that were changed are not believed
        note = b'\\"' + key + b'\\": '
        assert text.count(note + was) == 1
        (tmp_path / "d").write_bytes(text.replace(note + was, note + now))
        assert Checkpoint(tmp_path / "d", {}).restore(new) is None


class Learner:
    """A model with concepts, which knows the stage it was last trained on."""

    has_concepts = True

    def __init__(self):
        self.history, self.stage = [], None

    def fit(self, train_data, valid, report):
        self.stage = train_data
        self.history = [Epoch("joint", number, 0.5, 0.25, True) for number in range(int(train_data[-1]))]

    def predict(self, data):
        return self.stage, data

    def save(self, folder):
        pass

    def restore(self, folder, device):
        self.stage = f"train_{folder.name}"


def test_stages_that_were_learned_are_not_counted_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(continual, "gather", lambda data, predicted: predicted)
    scored = {"label_accuracy": 1, "label_f1": 2, "concept_f1": 3}

    def score(found, names):
        stage, data = found
        return {name: SimpleNamespace(value=scored[name] + int(stage[-1]) / 10 + int(data[-1]) / 100) for name in names}

    monkeypatch.setattr(continual, "score", score)
    names = [f"{split}_{number}" for number in (1, 2, 3) for split in ("train", "test")]
    dataset = {name: name for name in (*names, "valid", "valid_3")}
    first = Learner()
    found = fit_stages(first, dataset, RunFolder(tmp_path), None, lambda number: None)
    assert [row["concept_f1"] for row in found["after_each"]] == [
        pytest.approx([3 + stage / 10 + test / 100 for test in (1, 2, 3)]) for stage in (1, 2, 3)
    ]
    phases = [f"stage {stage}, joint" for stage in (1, 2, 2, 3, 3, 3)]
    assert [epoch.phase for epoch in first.history] == phases
    (tmp_path / "stages" / "3" / "scores.json").unlink()
    begun, again = [], Learner()
    assert fit_stages(again, dataset, RunFolder(tmp_path), None, begun.append) == found and begun == [3]
    assert again.history == first.history
    whole = Learner()
    assert fit_stages(whole, dataset, RunFolder(tmp_path), None, begun.append) == found and begun == [3]
    assert whole.history == first.history and whole.stage == "train_3"


def test_scores_of_every_split_are_logged(monkeypatch):
    monkeypatch.setattr(logs, "gather_from", lambda dataset, predictions: predictions)
    monkeypatch.setattr(logs, "METRICS", {name: lambda own, n=n: own + n for n, name in enumerate(logs.SUMMARY)})
    log = EpochLog(SimpleNamespace())
    run = SimpleNamespace(all_predictions=lambda knowledge: {"valid": 10.0, "test": 20.0})
    log.add_scores(SimpleNamespace(knowledge=None), run)
    assert log.summary == {
        "valid/label_f1": 10, "valid/concept_f1": 11, "valid/collapse": 12,
        "test/label_f1": 20, "test/concept_f1": 21, "test/collapse": 22,
    }  # fmt: skip


def test_the_package_of_a_log_is_asked_for_before_anything_is_trained(monkeypatch):
    asked = []

    def missing(name, purpose):
        asked.append((name, purpose))
        raise MissingExtra("missing")

    monkeypatch.setattr(logs, "import_extra", missing)
    check_log(None)
    for kind, package in (("tensorboard", "torch.utils.tensorboard"), ("wandb", "wandb"), ("mlflow", "mlflow")):
        with pytest.raises(MissingExtra):
            check_log(kind)
        assert asked.pop() == (package, f"--log {kind}")
    with pytest.raises(logs.UnknownName, match="no log named 'wanbd'; did you mean 'wandb'"):
        check_log("wanbd")


# -- devices -----------------------------------------------------------------------------------------------------------


def test_memory_is_kept_by_the_c_library_that_can(monkeypatch):
    asked = []
    library = SimpleNamespace(mallopt=lambda *given: asked.append(given))
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: library)
    devices.reuse_memory()
    assert asked == [(-4, 0), (-1, 2**31 - 1)]
    del library.mallopt
    devices.reuse_memory()


def test_settings_that_were_on_stay_on(monkeypatch):
    try:
        torch.use_deterministic_algorithms(True)
        with devices.determinism(False):
            assert torch.are_deterministic_algorithms_enabled()
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)
    state = {"mode": 1}
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: state["mode"])
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: state.update(mode=mode))
    with pytest.raises(KeyError), capture._refusing_to_wait():
        assert state["mode"] == "error"
        raise KeyError
    assert state["mode"] == 1


def test_the_device_of_training_is_refused_if_it_cannot_compute(monkeypatch):
    asked = []
    monkeypatch.setattr(devices, "check_precision", lambda precision, device: asked.append((precision, device)))
    config = SimpleNamespace(device="cpu", precision="bfloat16")
    assert devices.device_for(config) == CPU and asked == [("bfloat16", CPU)]


class Program:
    """A program that ended, or does not."""

    def __init__(self, status, errors="", endless=False):
        self.returncode, self.errors, self.endless, self.asked = status, errors, endless, []

    def __call__(self, command, **how):
        self.asked.append((command, how))
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def communicate(self, timeout):
        self.asked.append(timeout)
        if self.endless:
            raise precision.subprocess.TimeoutExpired("go", timeout)
        return None, self.errors


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (Program(0, "a warning\n"), None),
        (Program(-4, "a\n"), "this CPU dies on bfloat16 matrix products"),
        (Program(1, "first\nlast line\n"), "this CPU fails on bfloat16 matrix products (last line)"),
        (Program(3, " \n"), "this CPU fails on bfloat16 matrix products (exit status 3)"),
        (Program(None, endless=True), "this CPU does not end a bfloat16 matrix product within 2.5 s"),
    ],
)
def test_a_program_tells_whether_short_numbers_work(monkeypatch, program, fault):
    monkeypatch.setattr(precision, "start_program", program)
    path = [*precision.sys.path, "", "/somewhere"]
    monkeypatch.setattr(precision.sys, "path", path)
    assert precision.probe(["go"], 2.5) == fault
    (command, how), timeout = program.asked
    assert command == ["go"] and timeout == 2.5 and how["env"]["PYTHONPATH"].split(":") == [own or "." for own in path]
    assert how["env"].items() >= {**precision.os.environ, "PYTHONPATH": how["env"]["PYTHONPATH"]}.items()


def test_the_workspace_of_a_gpu_is_set_only_where_bytes_must_repeat(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    with devices.determinism(False):
        assert "CUBLAS_WORKSPACE_CONFIG" not in devices.os.environ
        assert not torch.are_deterministic_algorithms_enabled()
    with devices.determinism(True):
        assert devices.os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with devices.determinism(True):
        assert devices.os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


def test_a_purpose_is_seeded_by_six_bytes_of_its_digest():
    for seed, purpose in ((0, ("m", "training")), (7, ("cbm", "samples")), (7, ())):
        wanted = sum(byte << 8 * place for place, byte in enumerate(devices.digest(seed, *purpose)[:6]))
        assert devices.seed_of(seed, *purpose) == wanted
    assert max(devices.seed_of(seed, "m") for seed in range(40)) > 2**45


# -- examples that are only partly annotated ---------------------------------------------------------------------------


def test_examples_of_which_some_concepts_are_known_are_shown_again():
    codes = torch.tensor([[-1, -1], [-1, 2], [-1, -1], [1, -1], [-1, -1]])
    feed = SimpleNamespace(
        is_held=True,
        annotations=Annotations(torch.zeros(5, 1, dtype=torch.long), codes, torch.arange(5)),
        take=lambda rows: Batch(rows[:, None] + 10, codes[rows], rows, rows + 100),
    )
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
    seen = []
    phase = Phase("x", ["learned"], lambda batch: seen.append(batch) or torch.zeros(()), "all", batch_size=3)
    config = Supervision(supervised_replay=40)
    (changed,) = with_replay(SimpleNamespace(space=space, seed=0), [phase], feed, config)
    assert (changed.name, changed.parameters, changed.score, changed.batch_size) == ("x", ["learned"], "all", 3)
    own = Batch(torch.tensor([[7], [8]]), codes[:2], torch.tensor([0, 2]), torch.tensor([5, 6]))
    changed.loss(own)
    (batch,) = seen
    assert len(batch) == 42 and set(batch.rows[2:].tolist()) == {1, 3} and batch.rows[:2].tolist() == [0, 2]
    assert batch.labels[:, 0].tolist() == [7, 8, *(batch.rows[2:] + 10).tolist()]
    assert batch.images.tolist() == [5, 6, *(batch.rows[2:] + 100).tolist()]
    assert torch.equal(batch.concepts[2:], codes[batch.rows[2:]])


def test_a_group_that_no_example_is_in_has_its_share_too():
    groups = torch.tensor([3, 1, 3, 1, 1])  # of which nuisances are all annotated: none is in group 0, and 2 is gone
    weighted = GroupLoss(lambda batch: batch.images.sum(), groups, 0.25)
    assert weighted.weights.tolist() == [0.25] * 4
    rows = torch.tensor([4, 0, 1])
    given = Batch(rows, rows, rows, torch.tensor([2.0, 4.0, 1.0]))
    raw = np.array([1, np.exp(0.25 * 3), 1, np.exp(0.25 * 4)])
    assert weighted(given).item() == pytest.approx((raw[1] * 3 + raw[3] * 4) / raw.sum())
    assert weighted.weights.tolist() == pytest.approx((raw / raw.sum()).tolist())


def test_pictures_of_a_batch_are_left_as_they_are_by_the_penalty():
    pictures = torch.tensor([[[[0.25, 0.5]]]])
    model = SimpleNamespace(answer=lambda given, do: Outputs([given.flatten(1).sigmoid()], None))
    found = gradient_outside(model, pictures, torch.tensor([[[[True, False]]]]))
    assert found.item() == pytest.approx((1 - 1 / (1 + np.exp(-0.25))) ** 2, rel=1e-5)
    assert not pictures.requires_grad and pictures.grad is None


def test_a_network_that_was_asked_to_read_pictures_needs_no_record_of_what_it_reads(tmp_path):
    model, other = model_of("blackbox", {"input": "image"}), model_of("blackbox", {"input": "image"}, seed=9)
    model.save(tmp_path)
    assert not torch.equal(other.head.weight, model.head.weight)
    other.restore(tmp_path, "cpu")
    assert torch.equal(other.head.weight, model.head.weight) and other.reads is None


# -- objects of several kinds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", ["xxyy", "xyxy"])
def test_objects_of_each_kind_have_a_view_and_may_share_a_part(groups):
    looks = {"x": {"shape": (0, 1, 2), "colour": ("r", "g", "b")}, "y": {"size": (1, 2)}}
    order = ("x1", "x2", "y1", "y2") if groups == "xxyy" else ("x1", "y1", "x2", "y2")
    slots = tuple(
        Slot(name, name[0] if groups == "xxyy" else f"side{name[1]}", tuple(looks[name[0]])) for name in order
    )
    concepts = tuple(Concept(slot.concept(own), looks[slot.name[0]][own]) for slot in slots for own in slot.attributes)
    space = ConceptSpace(concepts, slots)
    places = {"x1": Box(0, 0, 2, 2), "x2": Box(2, 0, 4, 2), "y1": Box(1, 2, 3, 5), "y2": Box(1, 2, 3, 5)}
    layout = Layout(4, 5, 1, {name: places[slot.name] for slot in slots for name in slot.concepts})
    first, second = encoder_views(space, layout, "objects")
    straight = ("x1.shape", "x1.colour", "x2.shape", "x2.colour")
    assert (first.concepts, first.boxes) == (straight, (places["x1"], places["x2"]))
    assert (second.concepts, second.boxes) == (("y1.size", "y2.size"), (places["y1"], places["y2"]))
    across = ("x1.shape", "x2.shape", "x1.colour", "x2.colour") if groups == "xxyy" else straight
    assert encoder_views(space, layout, "crossed") == [EncoderView(across, first.boxes), second]
    made = ConceptEncoder(space, layout, "mlp", "objects").eval()
    pictures = torch.rand(3, 1, 5, 4)
    found = dict(zip(space.names, made(pictures), strict=True))
    reader = made.readers[0]
    with torch.no_grad():
        own = reader.head(reader.body(pictures[:, :, :2, 2:]))
    assert torch.allclose(torch.cat([found["x2.shape"], found["x2.colour"]], dim=1), own, atol=1e-6)
    assert torch.equal(found["y1.size"], found["y2.size"]) and found["y1.size"].shape == (3, 2)


def test_concepts_without_a_part_are_read_off_the_whole_picture_together():
    groups = (EncoderGroup("one", ("a", "b")), EncoderGroup("two", ("c",)), EncoderGroup("three", ("d", "e")))
    space = ConceptSpace(tuple(Concept(name, (0, 1)) for name in "abcde"), (), groups)
    left, right, tall = Box(0, 0, 2, 2), Box(2, 0, 4, 2), Box(0, 0, 1, 4)
    layout = Layout(4, 4, 1, {"a": left, "c": right, "d": left, "e": tall})
    part = EncoderView(("c",), (right,))
    assert encoder_views(space, layout) == [part, EncoderView(("a", "b", "d", "e"))]
    assert encoder_views(space, layout, without=("b", "e", "c")) == [
        EncoderView(("a",), (left,)), EncoderView(("d",), (left,)),
    ]  # fmt: skip
    assert encoder_views(space, layout, False, without=("a",)) == [
        part, EncoderView(("d",), (left,)), EncoderView(("e",), (tall,)), EncoderView(("b",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "layout", "built"),
    [
        ({}, Layout(16, 11, 3), True),
        ({"input": "image"}, Layout(16, 11, 3), True),
        ({"backbone": "frozen:mlp"}, Layout(16, 11, 3), True),
        ({"input": "text"}, Layout(16, 11, 3), False),
        ({"input": "features"}, Layout(16, 11, 3), False),
        ({"backbone": "bag-of-ngrams"}, Layout(16, 11, 3), False),
        ({}, Layout(0, 0), False),
    ],
)
def test_a_network_is_built_at_once_only_where_it_reads_pictures(settings, layout, built):
    given = Settings({"backbone": "mlp", "device": "cpu", **settings})
    made = MODELS["blackbox"](tiles().knowledge, layout, given, {}, 4)
    assert bool(list(made.parameters())) is built and made.reads is None and made.perception is None
    if not built:
        made.read_as(TextInput(("a", "b"), 5) if made.config.backbone == "bag-of-ngrams" else FeatureInput(7))
        assert list(made.parameters()) and made.config.backbone == given.values["backbone"]
    again = MODELS["blackbox"](tiles().knowledge, layout, given, {}, 4)
    if built:
        assert all(map(torch.equal, made.parameters(), again.parameters()))
        other = MODELS["blackbox"](tiles().knowledge, layout, given, {}, 5)
        assert not all(map(torch.equal, made.parameters(), other.parameters()))


# -- limits of settings ------------------------------------------------------------------------------------------------


def test_settings_of_networks_have_limits():
    counts = dict.fromkeys(("epochs", "batch_size", "schedule_epochs", "patience", "tokens"), COUNT)
    none = ((0, -1),)
    require_limits(
        NeuralConfig,
        {
            **counts, "learning_rate": POSITIVE, "momentum": (*NOT_NEGATIVE, (0.999, 1)), "weight_decay": NOT_NEGATIVE,
            "learning_rate_decay": (*POSITIVE, (1, 1.001)), "warmup_epochs": none, "memory_share": SHARE,
            "dropout": (*NOT_NEGATIVE, (0.999, 1)), "group_step": NOT_NEGATIVE, "group_examples": none,
            "reasons_weight": NOT_NEGATIVE, "reasons_examples": none,
        },
    )  # fmt: skip
    require_limits(Supervision, {"supervised_share": SHARE, "supervised_replay": none})
    config = NeuralConfig()
    assert (config.backbone, config.input, config.tokens, config.feature_files, config.sentences, config.dropout) == (
        None, "auto", 256, None, None, 0,
    )  # fmt: skip
