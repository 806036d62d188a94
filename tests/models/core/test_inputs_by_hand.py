"""What networks read, defaults of training, epochs that are kept, and answers with concepts set, by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed
from assay.logic import Knowledge
from assay.models import MODELS, Epoch, Training
from assay.models.core import answering, inputs, logs
from assay.models.core.answering import ReadOnce, Rerun, _is_close, _linear, _plain, _settings
from assay.models.core.encoder import ReadPictures
from assay.models.core.inputs import (
    FeatureInput,
    InputSettings,
    TableInput,
    TextInput,
    cells_of,
    input_from,
    kind_of_input,
    learn_input,
    words_of,
)
from assay.models.core.logs import EpochLog, _finite
from assay.models.core.neural import Outputs, apply_interventions, as_probabilities, is_set
from assay.models.core.steps import ManySeeds, OneSeed, running_means
from assay.models.core.training import BestEpoch, Phase, Trainee, _judge_epoch, _score, first_rate, next_rate
from assay.render import Box, Layout


class Split(SimpleNamespace):
    def __len__(self):
        return len(self.texts if "texts" in self.__dict__ else self.index)


# -- texts, tables and features ----------------------------------------------------------------------------------------


def test_words_are_numbered_by_frequency_and_texts_padded_or_cut(monkeypatch):
    train = Split(texts=["Red red blue, 12", "blue: red ape"])
    learned = TextInput.learn(train, 256)
    assert learned.words == ("red", "blue", ",", "1", "2", ":", "ape") and learned.length == 6
    assert learned.layout == Layout(6, 1, 9) and learned.numbers["red"] == 2 and learned.numbers["ape"] == 8
    found = learned.array(Split(texts=["blue red", "cow red, 2 1 1 ape blue"]))
    assert found[:, 0, :, 0].tolist() == [[3, 2, 0, 0, 0, 0], [1, 2, 4, 6, 5, 5]] and found.shape == (2, 1, 6, 1)
    assert TextInput.learn(train, 4).length == 4 and TextInput.learn(Split(texts=["", ""]), 9).length == 1
    monkeypatch.setattr(inputs, "MOST_WORDS", 2)
    assert TextInput.learn(train, 256).words == ("red", "blue")
    assert words_of("A_b 34's") == ["a_b", "3", "4", "'", "s"]


def test_a_table_has_a_place_for_each_value_and_each_column_of_numbers():
    sizes = [float(number) for number in range(13)]
    rows = [f"hat={'red' if n % 2 else 'blue'}, size={size:g}, n={n % 3}" for n, size in enumerate(sizes)]
    learned = TableInput.learn(Split(name="train", texts=rows))
    assert learned.values == ("hat=blue", "hat=red", "n=0", "n=1", "n=2") and learned.columns == ("size",)
    assert learned.means == (6.0,) and learned.deviations == pytest.approx((float(np.std(sizes)),))
    assert learned.layout == Layout(6, 1, 1, {"hat": Box(0, 0, 2, 1), "n": Box(2, 0, 5, 1)})
    found = learned.array(Split(texts=["hat=red, size=9, n=2", "hat=green, size=tall", "n=0"]))[:, 0, :, 0]
    np.testing.assert_allclose(found, [[0, 1, 0, 0, 1, 3 / np.std(sizes)], [0] * 6, [0, 0, 1, 0, 0, 0]], atol=1e-6)
    few = TableInput.learn(Split(name="train", texts=rows[:12]))
    assert few.columns == () and "size=11" in few.values  # twelve values are categories still
    with pytest.raises(DataError, match="split 'train': its texts are no tables; read them as texts: input=text"):
        TableInput.learn(Split(name="train", texts=["one two three"]))
    assert cells_of("a=1, b, c=d=e") == [("a", "1"), ("c", "d=e")] and cells_of("12 345") == []
    assert cells_of("12 34") == [("r1c1", "1"), ("r1c2", "2"), ("r2c1", "3"), ("r2c2", "4")]
    assert inputs._is_number("1e3") and not inputs._is_number("nan") and not inputs._is_number("x")


def test_features_are_those_of_the_examples_numbers(tmp_path):
    rows = np.arange(12.0).reshape(6, 2)
    np.save(tmp_path / "train.npy", rows)
    split = Split(name="train", index=np.array([5, 0]), features=np.array([[1.0, 2, 3], [4, 5, 6]]))
    from_file = FeatureInput.learn(split, str(tmp_path))
    assert from_file.width == 2 and from_file.array(split)[:, 0, :, 0].tolist() == [[10, 11], [0, 1]]
    own = FeatureInput.learn(split, None)
    assert own.width == 3 and own.layout == Layout(3, 1) and own.array(split).shape == (2, 1, 3, 1)
    with pytest.raises(DataError, match="split 'train' has 2 features, the model was trained on 3"):
        FeatureInput(3, str(tmp_path)).array(split)
    split.features = np.array([[1.0, np.nan, 3]])
    with pytest.raises(DataError, match="some features are no finite numbers"):
        FeatureInput.learn(split, None)
    for wrong in (rows[:5], rows[0], rows.astype(str)):
        np.save(tmp_path / "train.npy", wrong)
        with pytest.raises(DataError, match="needed: 6 rows of numbers"):
            FeatureInput.learn(split, str(tmp_path))
    with pytest.raises(DataError, match=r"features of split 'other': .* cannot be read"):
        FeatureInput.learn(Split(name="other", index=np.array([0])), str(tmp_path))


def test_what_is_read_is_what_is_asked_for_or_the_first_that_is_there():
    assert (
        kind_of_input("auto", ("text", "image")) == "image"
        and kind_of_input("auto", ("text", "features")) == "features"
    )
    assert kind_of_input("auto", ("text",)) == "text" and kind_of_input("table", ("text", "image")) == "table"
    with pytest.raises(DataError, match="input=features needs a column 'features'; there is: "):
        kind_of_input("features", ("text",))
    with pytest.raises(DataError, match="input=auto needs a column 'image' or 'features' or 'text'"):
        kind_of_input("auto", ("sound",))
    settings = InputSettings()
    assert (settings.kind, settings.tokens, settings.features, settings.sentences) == ("auto", 256, None, None)
    split = Split(texts=["a=1 b"], name="train", columns=("text", "image"))
    assert learn_input(InputSettings(), split) is None and isinstance(
        learn_input(InputSettings("text"), split), TextInput
    )
    assert isinstance(learn_input(InputSettings("table"), split), TableInput)
    assert learn_input(InputSettings("text", tokens=2), split).length == 2
    with pytest.raises(ConfigError, match="sentences=x reads texts, not input=table"):
        learn_input(InputSettings("table", sentences="x"), split)
    for kept in (TextInput(("a",), 3), TableInput(("a=1",), ("n",), (1.0,), (2.0,)), FeatureInput(4, None)):
        assert input_from(kept.to_dict()) == kept
    assert input_from({"kind": "text", "words": ["a"], "length": 3}) == TextInput(("a",), 3)
    for wrong in ({"kind": "sound"}, {"kind": "text", "length": 3}):
        with pytest.raises(DataError, match="what the run reads is not in the form that assay writes"):
            input_from(wrong)


# -- training ----------------------------------------------------------------------------------------------------------


def test_usual_settings_of_training():
    wanted = {
        "epochs": 40, "batch_size": 64, "learning_rate": 1e-3, "optimizer": "adam", "momentum": 0.9,
        "weight_decay": 1e-4, "schedule": "exponential", "learning_rate_decay": 0.99, "schedule_epochs": 10,
        "warmup_epochs": 0, "patience": 10, "keeps": "best", "precision": "auto", "tf32": True, "channels_last": True,
        "captured": True, "compiled": False, "memory_share": 0.25, "deterministic": False,
    }  # fmt: skip
    config = Training()
    assert {key: getattr(config, key) for key in wanted} == wanted
    phase = Phase("x", [], None)
    assert phase.score == "labels" and not phase.varies and phase.batch_size is None


def test_the_best_epoch_has_the_highest_score_then_the_lowest_loss():
    model, best = nn.Linear(1, 1), BestEpoch()
    told = []
    for score, loss in ((0.5, 3.0), (0.5, 2.0), (0.5, 2.5), (0.4, 1.0), (0.6, 9.0), (0.6, 9.0)):
        with torch.no_grad():
            model.weight.fill_(loss)
        told.append((best.judge(score, loss, model), best.since, best.weights["weight"].item()))
    assert told == [(True, 0, 3.0), (True, 1, 2.0), (False, 2, 2.0), (False, 3, 2.0), (True, 0, 9.0), (False, 1, 9.0)]
    last = BestEpoch(keeps_last=True)
    assert last.judge(0.5, 1.0, model) and last.judge(0.4, 2.0, model) and last.since == 0 and last.score == 0.4
    assert (BestEpoch().score, BestEpoch().loss, BestEpoch().since) == (-1, math.inf, 0)


def rates(epochs=6, **settings):
    config = Training(epochs=epochs, learning_rate=0.8, **settings)
    found = [first_rate(config)]
    for epoch in range(1, epochs):
        found.append(next_rate(config, epoch, found[-1]))
    return found


def test_rates_of_every_schedule():
    assert rates(learning_rate_decay=0.5) == pytest.approx([0.8 / 2**k for k in range(6)])
    assert rates(schedule="step", schedule_epochs=2, learning_rate_decay=0.5) == pytest.approx(
        [0.8, 0.8, 0.4, 0.4, 0.2, 0.2]
    )
    assert rates(schedule="cosine") == pytest.approx([0.4 * (1 + math.cos(math.pi * k / 6)) for k in range(6)])
    warm = rates(schedule="cosine", warmup_epochs=2)
    assert warm == pytest.approx([0.4, 0.8, 0.8] + [0.4 * (1 + math.cos(math.pi * k / 4)) for k in (1, 2, 3)])
    assert rates(warmup_epochs=4, learning_rate_decay=0.5) == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.4, 0.2])


def test_scores_are_of_seeds_that_have_not_stopped():
    asked = []
    trainees = [Trainee(None, (), lambda what, k=k: asked.append((k, what)) or torch.tensor(k / 10)) for k in range(3)]
    phases = [Phase("x", [], None, score) for score in ("labels", "concepts", "all")]
    found = _score(trainees, phases, torch.tensor([5.0, 6.0, 7.0]), [0, 2])
    assert found == [(5.0, 0.0), (7.0, pytest.approx(0.2))] and asked == [(0, "labels"), (2, "all")]


def test_what_is_no_number_ends_the_run_and_names_its_seed():
    alone, one = Trainee(nn.Linear(1, 1), (), None), Trainee(nn.Linear(1, 1), (), None, torch.Generator(), 4)
    phase = Phase("labels", [], None)
    with pytest.raises(RunFailed, match="the loss became NaN in phase 'labels'; lower the learning rate"):
        _judge_epoch(alone, phase, 1, (math.nan, 0.5), BestEpoch())
    with pytest.raises(RunFailed, match="the answers of seed 4 became NaN; lower the learning rate"):
        _judge_epoch(one, phase, 1, (0.5, math.nan), BestEpoch())
    assert _judge_epoch(one, phase, 3, (0.5, 0.25), BestEpoch()) == Epoch("labels", 3, 0.5, 0.25, True)


def test_seeds_side_by_side_have_losses_and_weights_of_their_own():
    torch.manual_seed(0)
    models = [nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)) for _ in range(2)]
    assert running_means(models[0]) == ["1.running_mean", "1.running_var", "1.num_batches_tracked"]
    rows = torch.rand(5, 2)
    feed = SimpleNamespace(take=lambda chosen, images=None: rows[chosen])
    phases = [Phase("x", list(model[0].parameters()), lambda given, model=model: model(given).square().mean() * 0 + model[0](given).sum())
              for model in models]  # fmt: skip
    wanted = [models[k][0](rows[list(own)]).sum().item() for k, own in enumerate(((0, 1, 2), (4, 3, 2)))]
    step = ManySeeds(models, phases, feed, None)
    found = step.losses(torch.tensor([[0, 1, 2], [4, 3, 2]]))
    assert found.tolist() == pytest.approx(wanted, abs=1e-5) and len(step.learned) == 2
    with torch.no_grad():
        step.weights["0.bias"][1] = torch.tensor([7.0, 8.0])
    step.write_back(1)
    assert models[1][0].bias.tolist() == [7, 8] and models[0][0].bias.tolist() != [7, 8]
    single = OneSeed(models[:1], phases[:1], feed, SimpleNamespace(compiled=False))
    assert single.losses(torch.tensor([[0, 1, 2]])).tolist() == pytest.approx(wanted[:1], abs=1e-5)


# -- answers -----------------------------------------------------------------------------------------------------------


def test_concepts_are_set_where_they_differ_from_the_models_own():
    own = torch.tensor([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    same = torch.tensor([[0.25, 0.75], [0.0, 1.0], [1.0, 0.0]])
    assert is_set(own, same).tolist() == [False, True, False] and is_set(own, torch.tensor([1, 1, 0])).tolist() == [
        True,
        True,
        False,
    ]
    assert as_probabilities(torch.tensor([1, 0]), own).tolist() == [[0, 1], [1, 0]]
    first, second = apply_interventions([own, own], {1: same})
    assert first is own and second.tolist() == same.tolist()


def test_outputs_become_arrays_by_label_and_concept():
    labels, concepts = [torch.rand(2, 3), torch.rand(2, 2)], [torch.rand(2, 4)]
    for kind in (torch.float32, torch.float64):
        found = _plain(Outputs([labels[0].to(kind), labels[1]], concepts))
        assert [part.shape for part in found.labels] == [(2, 3), (2, 2)] and found.concepts[0].shape == (2, 4)
        np.testing.assert_allclose(found.labels[1], labels[1], atol=1e-7)
    one = [np.array([[0.5, 0.5]])]
    assert _is_close(one, [np.array([[0.5 + 9e-5, 0.5]])]) and not _is_close(one, [np.array([[0.5, 0.5 - 2e-4]])])


def test_what_is_not_set_stays_the_models_own():
    own = SimpleNamespace(concepts=[np.array([[0.2, 0.8], [0.6, 0.4], [0.1, 0.9]])])
    found = _settings(own, np.array([2, 0]), {0: np.array([[np.nan, np.nan], [1.0, 0.0]])}, torch.device("cpu"))
    np.testing.assert_allclose(found[0], [[0.1, 0.9], [1.0, 0.0]], atol=1e-6)
    assert found[0].dtype == torch.float32


def test_a_network_is_run_again_or_from_what_it_has_read(monkeypatch):
    monkeypatch.setattr(answering, "AT_ONCE", 2)
    read = ReadPictures([torch.arange(10.0).reshape(5, 2)])
    asked = []
    own = SimpleNamespace(concepts=[np.full((5, 2), 0.5)])

    def answer_chunks(chunks, do):
        asked.append([chunk.numbers[0][:, 0].tolist() for chunk in chunks])
        return Outputs([torch.zeros(1, 2)], [torch.zeros(1, 2)])

    model = SimpleNamespace(name="m", device=torch.device("cpu"), answer_cost=4, answer_chunks=answer_chunks)
    once = ReadOnce(model, read, own)
    once.answer(np.array([4, 0, 3]), {})
    once.answer(slice(1, 3), {})
    assert asked == [[[8, 0], [6]], [[2, 4]]] and once.work == 1_000_000 and once.name == "m" and once.soft
    model.device = SimpleNamespace(type="cuda")
    assert once.work == 6_250_000 and once.concepts is own.concepts
    again = Rerun(model, None, own)
    assert again.work == 400_000 and again.soft and again.linear is None


def test_a_linear_head_is_told_by_its_weights():
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"y": "a", "z": "n + a"})
    settings = {"device": "cpu", "backbone": "mlp"}
    made = MODELS["cbm"](knowledge, Layout(3, 2), Settings(settings))
    head = _linear(made)
    weights = made.linear.weight.detach().numpy().T
    np.testing.assert_allclose(head.weights[0], weights[:2], atol=1e-6)
    np.testing.assert_allclose(head.weights[1], weights[2:], atol=1e-6)
    assert head.sizes == (2, 4) and len(head.weights) == 2
    np.testing.assert_allclose(head.bias, made.linear.bias.detach(), atol=1e-6)
    assert _linear(MODELS["cbm"](knowledge, Layout(3, 2), Settings({**settings, "hard": True}))) is None
    assert _linear(MODELS["cbm"](knowledge, Layout(3, 2), Settings({**settings, "head": "mlp"}))) is None


# -- logs --------------------------------------------------------------------------------------------------------------


def test_epochs_of_all_phases_are_numbered_and_only_numbers_logged():
    taken = []
    log = EpochLog(SimpleNamespace(log=lambda numbers, step: taken.append((numbers, step))))
    log.add(Epoch("concepts", 1, 0.5, 0.25, True))
    log.add(Epoch("labels", 1, math.inf, 0.75, False))
    assert taken == [({"concepts/loss": 0.5, "concepts/validation_f1": 0.25}, 1), ({"labels/validation_f1": 0.75}, 2)]
    nothing = EpochLog(None)
    nothing.add(Epoch("x", 1, 1.0, 1.0, True))
    nothing.add_scores(None, None)
    assert nothing.step == 1 and nothing.summary == {}
    assert _finite({"a": 1, "b": math.nan, "c": -math.inf}) == {"a": 1.0}
    assert (
        logs._plain(3) == 3 and logs._plain(True) is True and logs._plain([1]) == "[1]" and logs._plain(None) == "None"
    )
