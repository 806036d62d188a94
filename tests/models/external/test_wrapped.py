"""Modules of other makes are models: whatever form their answers have, and with interventions where there is a hook."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay import Concept, ConceptSpace, Dataset, Knowledge, Layout, from_table
from assay.base import ConfigError, DataError, MissingExtra
from assay.exchange import Annotation, annotate
from assay.models import Wrapped, to_pyc, wrap, wrap_pyc


class Reads(nn.Module):
    """Reads three pixels right, and follows the rule softly: `a and b or c`."""

    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, pictures):
        seen = pictures.flatten(1) * 8 - 4
        labels = self.tell(pictures, [torch.stack([1 - p, p], 1) for p in seen.sigmoid().T])
        if self.form == "tuple":
            return seen, labels
        if self.form == "names":
            return {"concepts": dict(zip("abc", seen.T, strict=True)), "labels": {"y": labels}}
        both = torch.stack([torch.zeros_like(seen), seen], dim=2).flatten(1)
        return {"concepts": both, "labels": [torch.cat([torch.zeros_like(labels), labels], dim=1)]}

    def tell(self, pictures, concepts):
        a, b, c = (one[:, 1] for one in concepts)
        return (1 - (1 - a * b) * (1 - c)).clamp(1e-6, 1 - 1e-6).logit()[:, None]


def wrapped(data, form="tuple", **settings):
    module = Reads(form)
    return Wrapped(module, data.knowledge, data.layout, **{"tell": module.tell, **settings})


@pytest.mark.parametrize("form", ["tuple", "names", "both"])
def test_any_form_of_answer_is_understood(form, data):
    test, model = data["test"], wrapped(data, form)
    said = model.predict(test)
    assert np.array_equal(said.labels["y"].codes, test.labels[:, 0])
    assert all(np.array_equal(said.concepts[name].codes, test.concepts[:, i]) for i, name in enumerate("abc"))
    assert said.about["wrapped"] == "Reads"


def test_a_wrapped_model_is_intervened_on_by_its_hook(data):
    test, model = data["test"], wrapped(data)
    said = model.predict(test, {name: 1 - test.concepts[:, i] for i, name in enumerate("abc")})
    assert np.array_equal(said.labels["y"].codes, data.knowledge.labels_of(1 - test.concepts)[:, 0])
    own = {name: answer.probabilities for name, answer in model.predict(test).concepts.items()}
    again, before = model.predict(test, own), model.predict(test)
    assert np.array_equal(again.labels["y"].probabilities, before.labels["y"].probabilities)


def test_a_hook_that_hands_concepts_on_in_another_way_is_refused(data):
    hard = lambda pictures, concepts: Reads.tell(None, pictures, [one.round() for one in concepts])  # noqa: E731
    with pytest.raises(ConfigError, match="set to its own concepts, Reads gives other labels"):
        wrapped(data, tell=hard).predict(data["test"], {"a": np.zeros(64, dtype=int)})


def test_without_a_hook_there_are_no_interventions(data):
    model = wrapped(data, tell=None)
    assert model.has_concepts
    assert not model.can_intervene
    with pytest.raises(ConfigError, match="has no concepts that can be set"):
        model.predict(data["test"], {"a": np.zeros(64, dtype=int)})


def test_a_module_may_say_labels_only_and_probabilities(data):
    class Half(nn.Module):
        def forward(self, pictures):
            return {"labels": torch.full((len(pictures), 2), 0.5)}

    said = Wrapped(Half(), data.knowledge, data.layout, "probabilities", has_concepts=False).predict(data["test"])
    assert not said.concepts
    assert (said.labels["y"].probabilities == 0.5).all()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: "a word", "must return label scores"),
        (lambda x: {"labels": x.new_zeros(len(x), 7), "concepts": x.new_zeros(len(x), 3)}, "gives \\(7,\\) scores"),
        (lambda x: {"labels": {}, "concepts": {}}, "says nothing of label 'y'"),
        (lambda x: {"labels": [x.new_zeros(len(x), 3)], "concepts": {}}, "gives 3 scores for 'y', which has 2 values"),
        (lambda x: {"labels": x.new_zeros(len(x), 1)}, "must say something of 3 concepts"),
    ],
)
def test_answers_that_do_not_fit_are_refused(answer, message, data):
    module = nn.Module()
    module.forward = lambda pictures: answer(pictures.flatten(1))
    with pytest.raises(ConfigError, match=message):
        Wrapped(module, data.knowledge, data.layout).predict(data["test"])


def test_a_wrapped_model_is_not_trained_here(data):
    with pytest.raises(ConfigError, match="Reads is wrapped: train it where it comes from"):
        wrapped(data).fit(data["train"], data["valid"])


# -- concepts and labels of several values -----------------------------------------------------------------------------

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
SEVERAL = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"})
CONCEPTS = torch.tensor([[0.25], [0.5], [0.75], [0.25]]), torch.tensor([[0.5, 0.25, 0.25]] * 4)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Four pictures of two concepts and two labels."""
    codes = np.array([[0, 1], [1, 2], [1, 0], [0, 0]])
    columns = {"a": codes[:, 0].astype(bool).tolist(), "n": codes[:, 1].tolist()}
    columns |= {"y": [bool(a and n) for a, n in codes], "z": (codes[:, 0] + codes[:, 1]).tolist()}
    columns = {key: values * 6 for key, values in columns.items()}
    columns["split"] = (["train"] * 4 + ["valid"] * 4 + ["test"] * 4) * 2
    pictures = [np.full((2, 3), 40 * row, dtype=np.uint8) for row in range(4)] * 6
    return from_table(
        columns, tmp_path_factory.mktemp("numbers") / "data", images=pictures, concepts=["a", "n"], labels=["y", "z"],
        split="split", rule={"y": "a and n > 0", "z": "n + a"},
    )  # fmt: skip


class Says(nn.Module):
    """A module that says what it is told, whatever it sees."""

    def __init__(self, said):
        super().__init__()
        self.said, self.seen = said, []

    def forward(self, *inputs, **named):
        self.seen.append(inputs[0] if inputs else named)
        return self.said


@pytest.mark.parametrize("scores", ["logits", "probabilities"])
def test_scores_are_probabilities_or_become_them(scores, numbers):
    """Of two values one score or both, side by side or by name or in order."""
    four = numbers["test"].take(np.arange(4))
    a, n = CONCEPTS
    y, z = a, torch.tensor([[0.1, 0.2, 0.3, 0.4]] * 4)
    both = torch.cat([1 - a, a], dim=1)
    wanted = [both, n, both, z]
    if scores == "logits":
        wanted = [torch.cat([1 - a.sigmoid(), a.sigmoid()], dim=1), n.softmax(1), None, z.softmax(1)]
        wanted[2] = wanted[0]
        both = torch.cat([torch.zeros_like(a), a], dim=1)
    for said in (
        {"concepts": {"n": n, "a": a}, "labels": {"z": z, "y": y}},
        {"concepts": [both, n], "labels": [y, z]},
        (torch.cat([a, n], dim=1), torch.cat([both, z], dim=1)),
    ):
        told = Wrapped(Says(said), numbers.knowledge, numbers.layout, scores).predict(four)
        found = [*told.concepts.values(), *told.labels.values()]
        for answer, probabilities in zip(found, wanted, strict=True):
            np.testing.assert_allclose(answer.probabilities, probabilities, atol=1e-6)


def test_only_rows_in_which_a_concept_is_set_are_answered_anew(numbers):
    """The others keep the module's own labels, though the hook would give slightly others."""
    a, n = CONCEPTS
    shift = torch.tensor([[5e-4, -5e-4]] * 4)  # within what a hook may differ by

    def tell(pictures, concepts):
        return {"y": concepts[0], "z": torch.cat([concepts[1], 0 * concepts[0][:, :1]], dim=1)}

    both = torch.cat([1 - a, a], dim=1)
    said = {"concepts": [a, n], "labels": [both + shift, torch.cat([n, 0 * a], dim=1)]}
    model = Wrapped(Says(said), numbers.knowledge, numbers.layout, "probabilities", tell)
    four = numbers["test"].take(np.arange(4))
    set_a = both.clone()
    set_a[0] = torch.tensor([0.0, 1.0])
    told = model.predict(four, {"a": set_a.numpy()})
    np.testing.assert_allclose(told.labels["y"].probabilities[0], [0, 1], atol=1e-6)
    np.testing.assert_allclose(told.labels["y"].probabilities[1:], (both + shift)[1:], atol=1e-6)
    coded = model.predict(four, {"n": np.array([2, 0, 1, 2])})
    assert coded.labels["z"].codes.tolist() == [2, 0, 1, 2]


def test_one_picture_is_asked_about_to_find_out_what_a_module_says(numbers):
    module = Says((torch.zeros(1, 4), torch.zeros(1, 5))).train()
    made = wrap(module, numbers)
    assert made.has_concepts and not made.can_intervene and not module.training
    assert not wrap(Says(torch.zeros(1, 5)), numbers, scores="probabilities").has_concepts
    first = numbers["train"].images[0].transpose(2, 0, 1) / 255
    np.testing.assert_allclose(module.seen[0][0], first, atol=1e-6)


def test_a_transform_is_given_bytes_and_gives_any_input(numbers):
    given = []
    for made in (lambda x: {"pixels": x}, lambda x: torch.ones(3), lambda x: x.astype(np.float32)):
        module = Says(torch.zeros(1, 5))
        wrap(module, numbers, lambda images, made=made: given.append(images) or made(images))
        assert given[-1].dtype == np.uint8 and np.array_equal(given[-1], numbers["train"].images[:1])
    assert module.seen[0].tolist() == numbers["train"].images[:1].tolist()


# -- PyTorch-Concepts --------------------------------------------------------------------------------------------------


def test_what_is_missing_is_not_handed_to_pytorch_concepts(data, tmp_path):
    annotate(data, Annotation(missing=0.3), tmp_path / "data")
    with pytest.raises(DataError, match="concepts are missing, and PyTorch-Concepts has no masks"):
        to_pyc(Dataset.open(tmp_path / "data")["train"])


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A package of their name whose parts keep what they are given."""
    folder = tmp_path / "packages" / "torch_concepts" / "data" / "base"
    folder.mkdir(parents=True)
    kept = "class {}:\n    def __init__(self, *given, **named):\n        self.given, self.named = given, named\n"
    (folder / "dataset.py").write_text(kept.format("ConceptDataset"))
    (tmp_path / "packages" / "torch_concepts" / "__init__.py").write_text(kept.format("Annotations"))
    monkeypatch.syspath_prepend(tmp_path / "packages")
    for name in [name for name in sys.modules if name.split(".")[0] == "torch_concepts"]:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "torch_concepts"]:
        del sys.modules[name]


def test_a_split_is_a_dataset_of_theirs_with_concepts_and_labels_side_by_side(numbers, stand_in):
    made = to_pyc(numbers["test"])
    pictures, codes = made.given
    np.testing.assert_allclose(pictures.permute(0, 2, 3, 1) * 255, numbers["test"].images, atol=1e-4)
    np.testing.assert_array_equal(codes, np.concatenate([numbers["test"].concepts, numbers["test"].labels], axis=1))
    notes = made.named["annotations"].named
    assert notes["labels"] == ["a", "n", "y", "z"] and notes["cardinalities"] == [1, 3, 1, 4]
    assert notes["types"] == ["binary", "categorical"] * 2


def test_their_models_are_queried_for_all_and_told_concepts_as_evidence():
    class Queried(nn.Module):
        def __init__(self):
            super().__init__()
            self.asked = []

        def forward(self, query, evidence, input):
            self.asked.append((query, evidence, input))
            sizes = {"a": 1, "n": 3, "y": 1, "z": 4}
            logits = {name: SimpleNamespace(tensor=torch.zeros(len(input), sizes[name])) for name in query}
            return SimpleNamespace(logits=logits)

    module = Queried()
    model = wrap_pyc(module, SEVERAL, Layout(2, 1), lambda pictures: pictures * 2)
    a, n = torch.tensor([[0.2, 0.8]]), torch.tensor([[0.1, 0.2, 0.7]])
    model.answer(torch.ones(1, 1, 1, 2), {0: a, 1: n})
    query, evidence, given = module.asked[0]
    assert query == ["a", "n", "y", "z"] and evidence == {} and given.flatten().tolist() == [2, 2]
    query, evidence, _ = module.asked[-1]
    assert query == ["y", "z"] and evidence["n"].tolist() == n.tolist()
    np.testing.assert_allclose(evidence["a"], [[0.8]])  # of two values they are told the second


@pytest.mark.skipif(find_spec("torch_concepts") is not None, reason="PyTorch-Concepts is installed")
def test_without_pytorch_concepts_the_install_line_is_named(data):
    with pytest.raises(MissingExtra, match=r"pip install '\.\[pyc\]'"):
        to_pyc(data["train"])


@pytest.mark.parametrize("kind", ["ConceptBottleneckModel", "ConceptEmbeddingModel"])
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_pytorch_concepts_is_wrapped(kind, data):
    nn_of = pytest.importorskip("torch_concepts.nn")
    from assay.models import annotations_of

    body = nn_of.MLP(input_size=3, hidden_size=8, n_layers=1)
    made = getattr(nn_of, kind)(
        input_size=3, annotations=annotations_of(data.knowledge), task_names=["y"], backbone=body, latent_size=8
    )
    model, test = wrap_pyc(made, data.knowledge, data.layout, nn.Flatten()), data["test"]
    said = model.predict(test)
    own = {name: answer.probabilities for name, answer in said.concepts.items()}
    again = model.predict(test, own)
    assert np.array_equal(again.labels["y"].probabilities, said.labels["y"].probabilities)
    told = model.predict(test, {"a": np.ones(64, dtype=int)})
    assert not np.allclose(told.labels["y"].probabilities, said.labels["y"].probabilities)


@pytest.mark.filterwarnings("ignore")
def test_data_is_handed_to_pytorch_concepts(data):
    pytest.importorskip("torch_concepts.data.base.dataset", exc_type=(ImportError, RuntimeError))
    handed = to_pyc(data["train"])
    assert len(handed) == 256
    assert handed.concept_names == ["a", "b", "c", "y"]
    assert torch.equal(
        handed[3]["concepts"]["c"].long(),
        torch.from_numpy(np.concatenate([data["train"].concepts[3], data["train"].labels[3]])),
    )
