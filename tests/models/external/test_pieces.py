"""Modules of other makes by hand: forms of scores, what is refused, and PyTorch-Concepts stood for."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, ConceptSpace
from assay.errors import ConfigError, DataError, MissingExtra
from assay.logic import Knowledge
from assay.models import wrap
from assay.models.core.neural import Outputs
from assay.models.external import pyc
from assay.models.external.pyc import PycModule, annotations_of, to_pyc, wrap_pyc
from assay.models.external.wrapped import Wrapped, _parts, _split_columns, _Transformed
from assay.render import Layout

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"})
LAYOUT = Layout(2, 1)


class Says(nn.Module):
    """A module that says what it is told."""

    def __init__(self, said):
        super().__init__()
        self.said, self.given = said, None

    def forward(self, *inputs, **named):
        self.given = inputs[0] if inputs else named
        return self.said


def model(said, **settings):
    return Wrapped(Says(said), KNOWLEDGE, LAYOUT, **settings)


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, atol=1e-6)


A, N = torch.tensor([[0.3], [-1.0]]), torch.tensor([[1.0, 0, 2], [0, 3, 0]])
Y, Z = torch.tensor([[2.0], [0.5]]), torch.tensor([[1.0, 2, 3, 4], [4, 3, 2, 1]])


def test_scores_come_side_by_side_with_one_or_two_columns_for_two_values():
    named = [("a", (0, 1)), ("n", (0, 1, 2))]
    full, short = torch.arange(10.0).reshape(2, 5), torch.arange(8.0).reshape(2, 4)
    assert [part.tolist() for part in _split_columns(full, named, "concept")] == [
        [[0, 1], [5, 6]],
        [[2, 3, 4], [7, 8, 9]],
    ]
    assert [part.tolist() for part in _split_columns(short, named, "concept")] == [[[0], [4]], [[1, 2, 3], [5, 6, 7]]]
    with pytest.raises(ConfigError, match=r"the module gives \(6,\) scores for all concepts; 5 are needed"):
        _split_columns(torch.zeros(2, 6), named, "concept")


def test_logits_become_probabilities_and_probabilities_stay():
    said = {"labels": [Y, Z], "concepts": {"n": N, "a": A}}
    found = model(said).answer(torch.zeros(2, 1, 1, 2), {})
    close(found.concepts[0], torch.cat([1 - A.sigmoid(), A.sigmoid()], dim=1))
    close(found.concepts[1], N.softmax(dim=1))
    close(found.labels[1], Z.softmax(dim=1))
    plain = model({"labels": [Y / 4, Z], "concepts": [A.abs(), N]}, scores="probabilities").answer(None, {})
    close(plain.labels[0], torch.cat([1 - Y / 4, Y / 4], dim=1))
    close(plain.concepts[1], N)
    for wrong, message in (
        ({"labels": {"y": Y}}, "the module says nothing of label 'z'"),
        ({"labels": [Y]}, "the module must say something of 2 labels, in order or by name"),
        ({"labels": 3}, "the module must say something of 2 labels"),
        ({"labels": [Y, N]}, "the module gives 3 scores for 'z', which has 4 values"),
    ):
        with pytest.raises(ConfigError, match=message):
            model(wrong, has_concepts=False).answer(None, {})


def test_any_form_of_output_is_taken_apart():
    assert _parts((1, 2)) == {"concepts": 1, "labels": 2} and _parts({"labels": 3}) == {"labels": 3}
    assert _parts(Outputs([4], [5])) == {"labels": [4], "concepts": [5]} and _parts(A) == {"labels": A}
    assert _parts(SimpleNamespace(logits=6)) == {"labels": 6}
    for wrong in ((1, 2, 3), {"concepts": 1}, 7):
        with pytest.raises(ConfigError, match="a wrapped module must return label scores"):
            _parts(wrong)


def test_labels_follow_the_hook_where_concepts_are_set():
    told = []

    def tell(pictures, concepts):
        told.append(concepts)
        first = 4 * concepts[0][:, 1:]
        return [first, torch.cat([first, first, first, 2 * first], dim=1)]

    own = torch.cat([1 - A.sigmoid(), A.sigmoid()], dim=1)
    said = {"labels": tell(None, [own]), "concepts": [A, N]}
    made = model(said, tell=tell)
    assert (
        made.can_intervene
        and not model(said).can_intervene
        and not model(said, tell=tell, has_concepts=False).can_intervene
    )
    changed = torch.tensor([[0.0, 1.0], own[1].tolist()])
    found = made.answer(None, {0: changed})
    close(found.labels[0][0, 1], torch.tensor(4.0).sigmoid())
    close(found.labels[0][1, 1], (4 * own[1, 1]).sigmoid())
    close(found.concepts[0], changed)
    off = model({"labels": [Y, Z], "concepts": [A, N]}, tell=tell)
    with pytest.raises(ConfigError, match="set to its own concepts, Says gives other labels"):
        off.answer(None, {0: changed})
    close(off.answer(None, {}).labels[1], Z.softmax(dim=1))
    with pytest.raises(ConfigError, match="Says is wrapped: train it where it comes from"):
        off.fit(None, None)
    assert off.phases(None) == [] and off.about()["wrapped"] == "Says"


def dataset(images):
    split = SimpleNamespace(take=lambda rows: SimpleNamespace(images=images[rows]))

    class Data(dict):
        split_names = ("train", "test")
        knowledge, layout = KNOWLEDGE, LAYOUT

    return Data(train=split)


def test_a_module_is_asked_about_one_picture():
    images = np.array([[[[0], [255]]], [[[51], [102]]]], dtype=np.uint8)
    module = Says((A, Y)).train()
    made = wrap(module, dataset(images), scores="probabilities")
    assert made.has_concepts and made.scores == "probabilities" and not module.training and made.module is module
    assert module.given.tolist() == [[[[0.0, 1.0]]]] and not wrap(Says(Y), dataset(images)).has_concepts
    seen = []
    changed = wrap(Says(Y), dataset(images), lambda given: seen.append(given) or {"pixels": 3})
    assert seen[0].tolist() == [[[[0], [255]]]] and seen[0].dtype == np.uint8
    assert changed.module.module.given == {"pixels": 3}


def test_pictures_are_transformed_as_bytes():
    module = Says(Y)
    plain = _Transformed(module, lambda images: images[..., 0] * 2)
    assert plain(torch.tensor([[[[0.1, 0.4]]]])) is Y and module.given.tolist() == [[[26 * 2, 102 * 2]]]
    tensor = torch.ones(3)
    _Transformed(module, lambda images: tensor)(torch.zeros(1, 1, 1, 2))
    assert module.given is tensor


# -- PyTorch-Concepts --------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch):
    monkeypatch.setattr(pyc, "_part", lambda name, what: lambda *given, **named: (what, given, named))


def test_concepts_and_labels_stand_side_by_side(parts):
    what, _, named = annotations_of(KNOWLEDGE)
    assert what == "Annotations" and named["labels"] == ["a", "n", "y", "z"]
    assert named["cardinalities"] == [1, 3, 1, 4] and named["types"] == [
        "binary",
        "categorical",
        "binary",
        "categorical",
    ]
    with pytest.raises(DataError, match="needs one name for one thing: 'n' is a concept and a label"):
        annotations_of(Knowledge.of(SPACE, {"y": "a", "n": "n + 1"}))


def test_a_split_is_a_dataset_of_theirs(parts):
    images = np.array([[[[0], [255]]]], dtype=np.uint8)

    class Split(SimpleNamespace):
        def __len__(self):
            return 1

    split = Split(name="test", images=images, given_concepts=np.array([[1, 2]]), given_labels=np.array([[1, 3]]),
                  knowledge=KNOWLEDGE)  # fmt: skip
    what, (pictures, codes), named = to_pyc(split)
    assert what == "ConceptDataset" and pictures.tolist() == [[[[0.0, 1.0]]]] and codes.tolist() == [[1, 2, 1, 3]]
    assert named["name"] == "test" and named["reorder_by_type"] is False and named["annotations"][0] == "Annotations"
    split.given_concepts = np.array([[1, -1]])
    with pytest.raises(DataError, match="1 concepts are missing, and PyTorch-Concepts has no masks for them"):
        to_pyc(split)


class Queried(nn.Module):
    def __init__(self):
        super().__init__()
        self.asked = []

    def forward(self, query, evidence, input):
        self.asked.append((query, evidence, input))
        return SimpleNamespace(logits={name: SimpleNamespace(tensor=f"{name}!") for name in query})


def test_their_models_are_queried_for_all_and_told_concepts_as_evidence():
    module = Queried()
    made = PycModule(module, KNOWLEDGE, lambda pictures: pictures + 1)
    assert made(torch.zeros(2)) == {"concepts": {"a": "a!", "n": "n!"}, "labels": {"y": "y!", "z": "z!"}}
    query, evidence, given = module.asked[0]
    assert query == ["a", "n", "y", "z"] and evidence == {} and given.tolist() == [1, 1]
    a, n = torch.tensor([[0.2, 0.8]]), torch.tensor([[0.1, 0.2, 0.7]])
    assert made.tell(torch.zeros(2), [a, n]) == {"y": "y!", "z": "z!"}
    query, evidence, _ = module.asked[1]
    assert query == ["y", "z"] and evidence["n"] is n
    close(evidence["a"], [[0.8]])
    wrapped = wrap_pyc(module, KNOWLEDGE, LAYOUT)
    assert wrapped.can_intervene and isinstance(wrapped.module.prepare, nn.Identity)


def test_what_cannot_be_loaded_is_told_in_one_line():
    with pytest.raises(MissingExtra, match=r"PyTorch-Concepts cannot be loaded \(No module named 'no_such_module'\); "):
        pyc._part("no_such_module", "x")
    assert pyc._part("math", "pi") > 3


def test_their_models_get_what_is_made_of_pictures():
    module = Queried()
    wrapped = wrap_pyc(module, KNOWLEDGE, LAYOUT, lambda pictures: pictures * 2)
    wrapped.module(torch.ones(3))
    wrapped.tell(torch.ones(2), [torch.tensor([[0.25, 0.75]]), torch.tensor([[0.5, 0.25, 0.25]])])
    (first, second) = module.asked
    assert first[2].tolist() == [2, 2, 2] and second[2].tolist() == [2, 2] and second[0] == ["y", "z"]
    assert second[1]["a"].tolist() == [[0.75]] and second[1]["n"].tolist() == [[0.5, 0.25, 0.25]]
    assert (wrapped.has_concepts, wrapped.scores, wrapped.layout, wrapped.name) == (True, "logits", LAYOUT, "wrapped")
