"""Our concept models compute what their authors' code does, weight by weight, where that code can be had.

`torch_explain` (CEM and DCR, by authors of both) and `torch_concepts` (PyC) are installed with `pip install --no-deps`. The
code of ECBM and ProbCBM is no package: `ASSAY_ECBM` names its `networks/EBM.py`, `ASSAY_PROBCBM` its `models/module.py`.
"""

import importlib.util
import os
import sys
import types
from dataclasses import replace

import pytest
import torch
from benchmarks.attention import Place
from torch import nn

from assay.logic import Concept, ConceptSpace, Knowledge
from assay.models import MODELS
from assay.render import Layout

WIDTH = 4


def whole(name, data, **settings):
    """Return an untrained model that reads every concept off the whole picture."""
    layout = replace(data.layout, regions={})
    return MODELS[name](data.knowledge, layout, {"device": "cpu", "backbone": "mlp", **settings}).double().eval()


def pictures(data, count=16):
    return torch.rand(count, data.layout.channels, data.layout.height, data.layout.width, dtype=torch.float64)


def copied(layer, weight, bias):
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)


def swapped(rows):
    """Return the two halves exchanged: our first half is of the value false, theirs of true."""
    return torch.cat([rows[WIDTH:], rows[:WIDTH]])


def test_cem_mixes_and_answers_as_torch_explain_does(data):
    theirs_of = pytest.importorskip("torch_explain.nn.concepts")
    ours = whole("cem", data, width=WIDTH)
    (reader,), scorer, count = ours.embedded.encoder.readers, ours.embedded.scorers["2"], len(ours.space)
    theirs = theirs_of.ConceptEmbedding(reader.head.weight.shape[1], count, WIDTH).double()
    for weight, bias, generator in zip(
        reader.head.weight.split(2 * WIDTH), reader.head.bias.split(2 * WIDTH), theirs.concept_context_generators,
        strict=True,
    ):  # fmt: skip
        copied(generator[0], swapped(weight), swapped(bias))
    apart = scorer.weight[1] - scorer.weight[0]
    copied(theirs.concept_prob_predictor[0], swapped(apart)[None], (scorer.bias[1] - scorer.bias[0])[None])
    seen = pictures(data).requires_grad_()
    truth = torch.randint(2, (len(seen), count))
    for places in ([], [1], [0, 2]):
        mixed, concepts = theirs(reader.body(seen), intervention_idxs=places, c=truth.double())
        labels = ours.head(mixed.flatten(1)).softmax(dim=1)
        said = ours.answer(seen, {i: truth[:, i] for i in places})
        assert torch.allclose(said.labels[0], labels, atol=1e-12)
        own = ours.answer(seen, {})
        assert all(torch.allclose(own.concepts[i][:, 1], concepts[:, i], atol=1e-12) for i in range(count))
        gradients = [torch.autograd.grad(answer[:, 1].sum(), seen)[0] for answer in (said.labels[0], labels)]
        assert gradients[0].abs().max() > 0 and torch.allclose(*gradients, atol=1e-12)


def test_cem_mixes_concepts_of_many_values_as_pyc_does():
    theirs_of = pytest.importorskip("torch_concepts.nn", exc_type=(ImportError, RuntimeError))
    from torch_concepts import Annotations

    sizes = [3, 4, 2]
    names = Annotations(labels=["a", "b", "c"], cardinalities=sizes, types=["categorical"] * 3)
    mixture = theirs_of.MixConceptEmbeddings(in_concepts=names, in_embeddings=WIDTH)
    space = ConceptSpace(tuple(Concept(name, tuple(range(size))) for name, size in zip("abc", sizes, strict=True)))
    knowledge = Knowledge.of(space, {"y": "a > 0"})
    ours = MODELS["cem"](knowledge, Layout(4, 3), {"device": "cpu", "backbone": "mlp", "width": WIDTH})
    embeddings = [torch.randn(8, size, WIDTH) for size in sizes]
    concepts = [torch.randn(8, size).softmax(dim=1) for size in sizes]
    theirs = mixture(concepts=torch.cat(concepts, dim=1), embeddings=torch.cat(embeddings, dim=1))
    assert torch.allclose(ours.labels_from(embeddings, concepts)[0], ours.head(theirs.flatten(1)), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_cbm_answers_as_that_of_pyc_does(data):
    theirs_of = pytest.importorskip("torch_concepts.nn", exc_type=(ImportError, RuntimeError))
    from assay.models import annotations_of, wrap_pyc

    ours, count = whole("cbm", data), len(data.knowledge.space)
    (reader,) = ours.encoder.readers
    theirs = theirs_of.ConceptBottleneckModel(
        input_size=reader.head.weight.shape[1], annotations=annotations_of(data.knowledge), task_names=["y"]
    ).double()
    encoder, predictor = [layer for layer in theirs.modules() if isinstance(layer, nn.Linear)]
    assert encoder.weight.shape[0] == count and predictor.weight.shape == (1, count)
    weight, bias = reader.head.weight, reader.head.bias
    copied(encoder, weight[1::2] - weight[::2], bias[1::2] - bias[::2])
    rows = ours.linear.weight[1] - ours.linear.weight[0]
    shift = ours.linear.bias[1] - ours.linear.bias[0]
    copied(predictor, (rows[1::2] - rows[::2])[None], (shift + rows[::2].sum())[None])
    wrapped = wrap_pyc(theirs, data.knowledge, ours.layout, lambda images: reader.body(images.double()))
    seen = pictures(data)
    for do in ({}, {1: torch.eye(2, dtype=torch.float64)[torch.randint(2, (len(seen),))]}):
        mine, other = ours.answer(seen, do), wrapped.answer(seen, do)
        for ours_says, theirs_says in zip(
            [*mine.labels, *mine.concepts], [*other.labels, *other.concepts], strict=True
        ):
            assert torch.allclose(ours_says, theirs_says.double(), atol=1e-6)


def test_dcr_reasons_as_torch_explain_does(data):
    theirs_of = pytest.importorskip("torch_explain.nn.concepts")
    ours = whole("dcr", data, width=WIDTH)
    layer = theirs_of.ConceptReasoningLayer(WIDTH, sum(ours.label_sizes), temperature=ours.config.temperature).double()
    layer.filter_nn.load_state_dict(ours.matters.state_dict())
    layer.sign_nn.load_state_dict(ours.meant.state_dict())
    embeddings, logits = ours.embed_atoms(pictures(data))
    concepts = [own.softmax(dim=1) for own in logits]
    truth = torch.stack([own[:, 1] for own in concepts], dim=1)
    mixed = (torch.stack([truth, 1 - truth], dim=2)[..., None] * embeddings).sum(dim=2)
    assert torch.allclose(ours.truths(embeddings, concepts), layer(mixed, truth).double(), atol=1e-6)


def loaded(variable, name):
    """Return the module of authors' code that a variable names, or skip; what it imports beside itself is not needed."""
    if variable not in os.environ:
        pytest.skip(f"{variable} does not name the authors' file")
    spec = importlib.util.spec_from_file_location(f"authors.{name}", os.environ[variable])
    sys.modules["authors"] = types.ModuleType("authors")
    sys.modules["authors.backbone"] = types.SimpleNamespace(get_model=None)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ecbm_has_the_energies_of_its_authors(data, monkeypatch):
    code = loaded("ASSAY_ECBM", "EBM")
    ours = whole("ecbm", data, reads="picture", hard=True, width=WIDTH)
    count, features = len(ours.space), ours.encoder(pictures(data))
    inputs = torch.cat(features, dim=1)
    shares = types.SimpleNamespace(cy_perturb_prob=0.2, cy_permute_prob=0.2)
    theirs = code.EBM_GL(shares, 2, inputs.shape[1], WIDTH, count).double().eval()
    monkeypatch.setattr(theirs, "cy_augment", lambda c_gt, permute_ratio, permute_prob: c_gt)
    with torch.no_grad():
        theirs.y_embedding.copy_(ours.labels[0])
        theirs.c_embedding.copy_(torch.cat([torch.stack([own[code] for own in ours.values]) for code in (0, 1)]))
    pairs = [(theirs.xy_fc1, ours.of_label.project), (theirs.xc_fc1, ours.of_concept.project)]
    pairs += [(theirs.concept_proj, ours.of_both.project), (theirs.classifier_xy, ours.read_label[0])]
    pairs += [(theirs.classifier_cy, ours.read_both[0]), *zip(theirs.classifier_xc, ours.read_concept, strict=True)]
    for layer, own in pairs:
        layer.load_state_dict(own.state_dict())
    truth = torch.randint(2, (len(inputs), count))
    by_label, by_both, by_concept = theirs(inputs, 1 - truth, is_training=True)  # there an embedding is of the opposite
    one_hot = [torch.eye(2, dtype=torch.float64)[truth[:, i]] for i in range(count)]
    labels, values = [own[None] for own in ours.labels], [own[None] for own in ours.values]
    assert torch.allclose(ours.label_energies(features, labels)[0], by_label, atol=1e-12)
    assert torch.allclose(ours.global_energies(one_hot, labels)[0], by_both, atol=1e-12)
    assert torch.allclose(torch.stack(ours.concept_energies(features, values), dim=1), by_concept, atol=1e-12)


def test_the_attention_we_compare_with_is_that_of_probcbm():
    code = loaded("ASSAY_PROBCBM", "module")
    place = Place(WIDTH, attend=True).double()
    mean, spread = (
        code.PIENet(1, WIDTH, WIDTH, WIDTH).double(),
        code.UncertaintyModuleImage(WIDTH, WIDTH, WIDTH).double(),
    )
    pairs = [(mean.f_fc, place.mean), (mean.fc, place.added[0]), (mean.layer_norm, place.norm)]
    pairs += [(spread.fc2, place.log_variance), (spread.fc, place.added[1])]
    for theirs, pick in zip((mean.attention, spread.attention), place.picks, strict=True):
        pairs += [(theirs.w_1, pick.weigh[0]), (theirs.w_2, pick.weigh[2])]
    for layer, own in pairs:
        layer.load_state_dict(own.state_dict())
    positions = torch.randn(5, 9, WIDTH, dtype=torch.float64)
    ours, average = place(positions), positions.mean(dim=1)
    assert torch.allclose(ours[0], mean(average, positions)[0], atol=1e-12)
    assert torch.allclose(ours[1], spread(average, positions)["logsigma"], atol=1e-12)
