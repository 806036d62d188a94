"""Concepts of one group are read by one network, each in its own part of the picture, and come in their own order."""

import pytest
import torch

from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot
from assay.errors import ConfigError
from assay.models.core.encoder import ConceptEncoder, EncoderView, encoder_views
from assay.render import Box, Layout

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


def test_a_last_layer_of_too_many_weights_has_a_low_rank(monkeypatch):
    layout, space = Layout(16, 16, 1), ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1))))
    widths, pictures = {"a": 30, "b": 20}, torch.rand(2, 1, 16, 16)

    def weights(most):
        monkeypatch.setattr("assay.models.core.encoder.MOST_WEIGHTS", most)
        encoder = ConceptEncoder(space, layout, "mlp-wide", widths=widths)
        assert [tuple(numbers.shape) for numbers in encoder(pictures)] == [(2, 30), (2, 20)]
        return [tuple(layer.weight.shape) for layer in encoder.readers[0].head.modules() if hasattr(layer, "weight")]

    monkeypatch.setattr("assay.models.core.encoder.RANK", 4)
    [(outputs, features)] = weights(10**9)
    assert outputs == 50 and weights(50 * features) == [(50, features)]
    assert weights(50 * features - 1) == [(4, features), (50, 4)]


def objects(colours):
    """Return two groups of three objects, each with a shape of three values and a colour, and a part for each."""
    slots = tuple(Slot(f"group{g}.object{i}", f"group{g}", ("shape", "colour")) for g in (1, 2) for i in (1, 2, 3))
    values = {"shape": (0, 1, 2), "colour": tuple(colours)}
    concepts = tuple(Concept(slot.concept(a), values[a]) for slot in slots for a in values)
    regions = {name: Box(4 * i, 0, 4 * i + 4, 4) for i, slot in enumerate(slots) for name in slot.concepts}
    return ConceptSpace(concepts, slots), Layout(24, 4, 1, regions)


def test_crossed_numbers_are_those_of_objects_under_other_names():
    space, layout = objects(("red", "green", "blue"))
    images = torch.rand(2, 1, 4, 24)
    straight, crossed = (ConceptEncoder(space, layout, "mlp", share).eval() for share in ("objects", "crossed"))
    crossed.load_state_dict(straight.state_dict())
    rows = [dict(zip(space.names, encoder(images), strict=True)) for encoder in (straight, crossed)]
    for group in ("group1", "group2"):
        by_object = [rows[0][f"{group}.object{i}.{a}"] for i in (1, 2, 3) for a in ("shape", "colour")]
        by_attribute = [rows[1][f"{group}.object{i}.{a}"] for a in ("shape", "colour") for i in (1, 2, 3)]
        assert all(torch.equal(one, other) for one, other in zip(by_object, by_attribute, strict=True))


def test_crossed_numbers_need_attributes_of_as_many_values():
    with pytest.raises(ConfigError, match="share: crossed: the attributes of an object have different numbers"):
        encoder_views(*objects(("red", "blue")), "crossed")


def test_crossed_numbers_need_objects_of_a_group_side_by_side():
    space, layout = objects(("red", "green", "blue"))
    mixed = ConceptSpace(space.concepts, tuple(space.slots[i] for i in (0, 3, 1, 4, 2, 5)))
    with pytest.raises(ConfigError, match="share: crossed: the objects of a group do not follow one another"):
        encoder_views(mixed, layout, "crossed")
