"""Concepts of one group are read by one network, each in its own part of the picture, and come in their own order."""

import pytest
import torch

from assay.concepts import Concept, ConceptSpace, EncoderGroup
from assay.errors import ConfigError
from assay.families.kandinsky.task import KandLogic
from assay.models.core.encoder import ConceptEncoder, EncoderView, encoder_views
from assay.render.picture import Box, Layout

SPACE = ConceptSpace(
    (Concept("a", (0, 1, 2)), Concept("lit", (False, True)), Concept("b", (0, 1, 2)), Concept("hue", ("red", "blue"))),
    encoders=(EncoderGroup("digit", ("a", "b")), EncoderGroup("lit", ("lit",)), EncoderGroup("hue", ("hue",))),
)
A, B, LIT = Box(0, 0, 4, 4), Box(4, 0, 8, 4), Box(8, 0, 10, 4)
LAYOUT = Layout(10, 4, 1, {"a": A, "b": B, "lit": LIT})  # the hue shows nowhere in particular


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def read(encoder, images):
    return dict(zip(SPACE.names, encoder.eval()(images), strict=True))


def turned(images):
    """Return the pictures with the parts of `a` and `b` exchanged."""
    return torch.cat([images[..., 4:8], images[..., :4], images[..., 8:]], dim=3)


def test_a_look_for_each_group_and_one_for_the_rest():
    assert encoder_views(SPACE, LAYOUT) == [
        EncoderView(("a", "b"), (A, B)),
        EncoderView(("lit",), (LIT,)),
        EncoderView(("hue",)),
    ]
    apart = [EncoderView(("a",), (A,)), EncoderView(("lit",), (LIT,)), EncoderView(("b",), (B,)), EncoderView(("hue",))]
    assert encoder_views(SPACE, LAYOUT, share=False) == apart
    assert encoder_views(SPACE, Layout(10, 4)) == [EncoderView(("a", "b", "lit", "hue"))]


def test_a_group_whose_parts_differ_in_size_reads_the_whole_picture():
    uneven = Layout(10, 4, 1, {"a": A, "b": Box(4, 0, 7, 4), "lit": LIT})
    assert encoder_views(SPACE, uneven) == [EncoderView(("lit",), (LIT,)), EncoderView(("a", "b", "hue"))]


@pytest.mark.parametrize("layout", [LAYOUT, Layout(10, 4)])
@pytest.mark.parametrize("share", [True, False])
def test_logits_come_in_the_order_of_the_concepts(layout, share):
    found = ConceptEncoder(SPACE, layout, "mlp", share)(torch.rand(5, 1, 4, 10))
    assert [one.shape for one in found] == [(5, 3), (5, 2), (5, 3), (5, 2)]


def test_a_group_shares_its_weights():
    images = torch.rand(5, 1, 4, 10)
    encoder = ConceptEncoder(SPACE, LAYOUT, "mlp")
    first, second = read(encoder, images), read(encoder, turned(images))
    assert torch.allclose(first["a"], second["b"]) and torch.allclose(first["b"], second["a"])


def test_without_sharing_each_concept_has_its_own_weights():
    images = torch.rand(5, 1, 4, 10)
    shared, apart = ConceptEncoder(SPACE, LAYOUT, "mlp"), ConceptEncoder(SPACE, LAYOUT, "mlp", share=False)
    first, second = read(apart, images), read(apart, turned(images))
    assert not torch.allclose(first["a"], second["b"])
    assert (len(shared.readers), len(apart.readers)) == (3, 4)


def test_a_concept_sees_its_part_and_nothing_else():
    images = torch.rand(5, 1, 4, 10)
    encoder = ConceptEncoder(SPACE, LAYOUT, "mlp")
    before = read(encoder, images)
    for name, box in LAYOUT.regions.items():
        changed = images.clone()
        changed[..., box.left : box.right] = 0
        after = read(encoder, changed)
        moved = {concept for concept in SPACE.names if not torch.allclose(before[concept], after[concept])}
        assert moved == {name, "hue"}  # what has no part of its own looks at the whole picture


def test_crossed_numbers_are_those_of_objects_under_other_names():
    task = KandLogic(view="objects")
    images = torch.rand(2, 3, 28, 252)
    torch.manual_seed(1)
    straight = ConceptEncoder(task.space, task.layout, "mlp", "objects").eval()
    crossed = ConceptEncoder(task.space, task.layout, "mlp", "crossed").eval()
    crossed.load_state_dict(straight.state_dict())
    rows = [dict(zip(task.space.names, encoder(images), strict=True)) for encoder in (straight, crossed)]
    for figure in ("figure1", "figure3"):
        by_object = [rows[0][f"{figure}.object{i}.{a}"] for i in (1, 2, 3) for a in ("shape", "colour")]
        by_attribute = [rows[1][f"{figure}.object{i}.{a}"] for a in ("shape", "colour") for i in (1, 2, 3)]
        assert all(torch.equal(one, other) for one, other in zip(by_object, by_attribute, strict=True))


def test_crossed_numbers_need_attributes_of_as_many_values():
    task = KandLogic(None, view="objects", colours=["red", "blue"])
    with pytest.raises(ConfigError, match="share: crossed: the attributes of an object have different numbers"):
        encoder_views(task.space, task.layout, "crossed")
