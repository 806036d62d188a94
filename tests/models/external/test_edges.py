"""Wrapped modules: scores in every form, and what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, ConceptSpace
from assay.errors import ConfigError
from assay.logic import Knowledge
from assay.models import wrap
from assay.models.core.neural import Outputs
from assay.models.external.wrapped import Wrapped, _parts, _split_columns, _Transformed
from assay.render import Layout

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a", "z": "n"})
NAMED = [("a", (False, True)), ("n", (0, 1, 2))]


def wrapped(scores="logits"):
    return Wrapped(nn.Identity(), KNOWLEDGE, Layout(2, 2), scores)


def close(found, wanted):
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-6)


def test_what_a_module_says_has_two_parts():
    one, two = torch.zeros(1, 2), torch.ones(1, 2)
    assert _parts((one, two)) == {"concepts": one, "labels": two}
    assert _parts(Outputs([two], [one])) == {"labels": [two], "concepts": [one]}
    assert _parts(one) == {"labels": one} and _parts(SimpleNamespace(logits=two)) == {"labels": two}
    mapping = {"labels": one, "more": two}
    assert _parts(mapping) is mapping
    for bad in ({"concepts": one}, (one,), (one, two, one), [one, two], None):
        with pytest.raises(ConfigError, match="a wrapped module must return label scores"):
            _parts(bad)


def test_columns_side_by_side_are_cut_by_width():
    full, short = torch.arange(5.0)[None], torch.arange(4.0)[None]
    assert [part.tolist() for part in _split_columns(full, NAMED, "concept")] == [[[0, 1]], [[2, 3, 4]]]
    assert [part.tolist() for part in _split_columns(short, NAMED, "concept")] == [[[0]], [[1, 2, 3]]]
    for width in (3, 6):
        with pytest.raises(ConfigError, match=rf"the module gives \({width},\) scores for all labels; 5 are needed"):
            _split_columns(torch.zeros(1, width), NAMED, "label")


def test_scores_become_probabilities_by_their_kind():
    logit = torch.log(torch.tensor([[3.0], [1.0]]))
    close(wrapped()._probabilities(logit, "a", 2), [[0.25, 0.75], [0.5, 0.5]])
    close(wrapped()._probabilities(logit[:, 0], "a", 2), [[0.25, 0.75], [0.5, 0.5]])
    close(wrapped()._probabilities(torch.log(torch.tensor([[1.0, 2.0, 5.0]])), "n", 3), [[0.125, 0.25, 0.625]])
    sure = wrapped("probabilities")
    close(sure._probabilities(torch.tensor([[0.75]]), "a", 2), [[0.25, 0.75]])
    close(sure._probabilities(torch.tensor([[0.2, 0.8]]), "a", 2), [[0.2, 0.8]])
    for width, size in ((1, 3), (3, 2), (2, 3)):
        with pytest.raises(ConfigError, match=f"the module gives {width} scores for 'n', which has {size} values"):
            wrapped()._probabilities(torch.zeros(1, width), "n", size)


def test_scores_are_taken_by_name_or_in_order():
    mine = wrapped("probabilities")
    first, second = torch.tensor([[0.25, 0.75]]), torch.tensor([[0.5, 0.25, 0.25]])
    for given in ({"n": second, "a": first, "more": None}, [first, second], torch.cat([first, second], dim=1)):
        found = mine._all_probabilities(given, "concept")
        close(found[0], first)
        close(found[1], second)
    with pytest.raises(ConfigError, match="the module says nothing of concept 'n'"):
        mine._all_probabilities({"a": first}, "concept")
    with pytest.raises(ConfigError, match="the module says nothing of label 'z'"):
        mine._all_probabilities({"y": first}, "label")
    for bad in (None, [first], [first, second, second]):
        with pytest.raises(ConfigError, match="must say something of 2 labels, in order or by name"):
            mine._all_probabilities(bad, "label")


def test_a_hook_that_gives_other_labels_is_refused():
    mine, own = wrapped(), torch.tensor([[0.5, 0.5]])
    mine._same_encoding([own, own], [own, own + 0.0009])
    with pytest.raises(ConfigError, match=r"set to its own concepts, Identity gives other labels \(by 0.250\)"):
        mine._same_encoding([own, own], [own + 0.25, own])
    with pytest.raises(ConfigError, match="Identity is wrapped: train it where it comes from"):
        mine.fit(None, None)
    assert not mine.can_intervene and mine.phases(None) == [] and mine.about()["wrapped"] == "Identity"
    tell = Wrapped(nn.Identity(), KNOWLEDGE, Layout(2, 2), tell=lambda pictures, concepts: None)
    blind = Wrapped(nn.Identity(), KNOWLEDGE, Layout(2, 2), tell=tell.tell, has_concepts=False)
    assert tell.can_intervene and not blind.can_intervene and not blind.has_concepts


def test_labels_change_only_in_rows_that_are_set():
    class Says(nn.Module):
        def forward(self, pictures):
            concepts = {"a": torch.tensor([[0.25, 0.75]] * 2), "n": torch.tensor([[0.5, 0.25, 0.25]] * 2)}
            return {"concepts": concepts, "labels": tell(pictures, list(concepts.values()))}

    def tell(pictures, concepts):
        return {"y": concepts[0], "z": concepts[1]}

    mine = Wrapped(Says(), KNOWLEDGE, Layout(2, 2), "probabilities", tell)
    setting = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    found = mine.answer(torch.zeros(2, 1, 2, 2), {0: setting})
    close(found.labels[0], [[1, 0], [0.25, 0.75]])
    close(found.concepts[0], [[1, 0], [0.25, 0.75]])
    close(found.labels[1], [[0.5, 0.25, 0.25]] * 2)
    plain = mine.answer(torch.zeros(2, 1, 2, 2), {})
    close(plain.labels[0], [[0.25, 0.75]] * 2)


def test_pictures_are_bytes_for_a_transform():
    seen = []

    def transform(images):
        seen.append(images)
        return {"x": torch.ones(1)} if len(seen) == 1 else images.astype(np.float32)

    class Takes(nn.Module):
        def forward(self, x):
            return x

    made = _Transformed(Takes(), transform)
    pictures = torch.tensor([0.0, 1.0, 0.5, 0.2]).view(1, 2, 1, 2)
    assert made(pictures).tolist() == [1.0]
    assert (
        seen[0].shape == (1, 1, 2, 2) and seen[0].dtype == np.uint8 and seen[0][0, 0].tolist() == [[0, 128], [255, 51]]
    )
    assert made(pictures).shape == (1, 1, 2, 2)


def test_a_row_is_answered_anew_if_any_of_its_concepts_is_set():
    class Says(nn.Module):
        def forward(self, pictures):
            concepts = [torch.tensor([[0.25, 0.75]] * 4), torch.tensor([[0.5, 0.25, 0.25]] * 4)]
            shift = torch.tensor([[5e-4, -5e-4]] * 4)  # within what a hook may differ by
            return {"concepts": concepts, "labels": [concepts[0] + shift, concepts[1]]}

    def tell(pictures, concepts):
        return [concepts[0], concepts[1]]

    mine = Wrapped(Says(), KNOWLEDGE, Layout(2, 2), "probabilities", tell)
    first = torch.tensor([[1.0, 0.0], [0.25, 0.75], [1.0, 0.0], [0.25, 0.75]])
    second = torch.tensor([[0.5, 0.25, 0.25], [0, 1.0, 0], [0, 1.0, 0], [0.5, 0.25, 0.25]])
    found = mine.answer(torch.zeros(4, 1, 2, 2), {1: second, 0: first})
    close(found.labels[0], [[1, 0], [0.25, 0.75], [1, 0], [0.2505, 0.7495]])
    close(found.labels[1], second)
    close(found.concepts[0], first)
    close(found.concepts[1], second)
    only = mine.answer(torch.zeros(4, 1, 2, 2), {1: second})
    close(only.labels[0], [[0.2505, 0.7495], [0.25, 0.75], [0.25, 0.75], [0.2505, 0.7495]])
    coded = mine.answer(torch.zeros(4, 1, 2, 2), {1: torch.tensor([2, 0, 1, 2])})
    close(coded.labels[1], [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_the_picture_asked_about_is_of_the_first_split_there_is():
    asked = []

    class Says(nn.Module):
        def forward(self, pictures):
            asked.append((pictures.tolist(), self.training))
            return torch.zeros(1, 5)

    pictures = np.array([[[[0, 51], [102, 255]]], [[[9, 9], [9, 9]]]], dtype=np.uint8)
    data = type("Data", (dict,), {"split_names": ("odd", "train"), "knowledge": KNOWLEDGE, "layout": Layout(2, 1, 2)})
    split = SimpleNamespace(take=lambda rows: SimpleNamespace(images=pictures[rows]))
    made = wrap(Says(), data(odd=split), scores="probabilities")
    ((given, training),) = asked
    assert np.array(given).shape == (1, 2, 1, 2) and not training and not made.has_concepts
    np.testing.assert_allclose(given, [[[[0, 0.4]], [[0.2, 1]]]], atol=1e-6)
    assert made.scores == "probabilities" and made.layout == Layout(2, 1, 2)
