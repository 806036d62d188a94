"""Concepts of one group are read by one network, each in its own part of the picture, as `share` says."""

import pytest
import torch

import assay
from assay.base import ConfigError
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, Slot
from assay.models import MODELS
from assay.render import Box, Layout

SPACE = ConceptSpace(
    (Concept("a", (0, 1, 2)), Concept("lit", (False, True)), Concept("b", (0, 1, 2)), Concept("hue", ("red", "blue"))),
    encoders=(EncoderGroup("digit", ("a", "b")), EncoderGroup("lit", ("lit",)), EncoderGroup("hue", ("hue",))),
)
A, B, LIT = Box(0, 0, 4, 4), Box(4, 0, 8, 4), Box(8, 0, 10, 4)
LAYOUT = Layout(10, 4, 1, {"a": A, "b": B, "lit": LIT})  # the hue shows nowhere in particular
IMAGES = torch.rand(5, 1, 4, 10, generator=torch.Generator().manual_seed(0))
TURNED = torch.cat([IMAGES[..., 4:8], IMAGES[..., :4], IMAGES[..., 8:]], dim=3)
"""The parts of `a` and `b` exchanged."""


def model_of(space, layout, **settings):
    names = [concept.name for concept in space.concepts if concept.kind == "bool"]
    rule = names[0] if names else f"{space.concepts[0].name} == {space.concepts[0].values[0]!r}"
    given = {"backbone": "mlp", "device": "cpu", **settings}
    return MODELS["dpl"](Knowledge.of(space, {"y": rule}), layout, given).eval()


@torch.no_grad()
def read(model, images):
    return dict(zip(model.space.names, model.answer(images, {}).concepts, strict=True))


def seen(model):
    """Return for each concept which columns of the picture change it."""
    before, columns = read(model, IMAGES), {name: set() for name in model.space.names}
    for column in range(10):
        changed = IMAGES.clone()
        changed[..., column] += 1
        for name, after in read(model, changed).items():
            if not torch.equal(before[name], after):
                columns[name].add(column)
    return columns


@pytest.mark.parametrize("share", [True, False])
def test_a_concept_sees_its_part_and_nothing_else(share):
    found = seen(model_of(SPACE, LAYOUT, share=share))
    assert found["a"] <= set(range(4)) and found["b"] <= set(range(4, 8)) and found["lit"] <= {8, 9}
    assert found["a"] and found["b"] and found["lit"] and found["hue"] & {8, 9} and found["hue"] & set(range(4))


def test_parts_of_another_size_or_no_parts_are_read_off_the_whole_picture():
    uneven = Layout(10, 4, 1, {"a": A, "b": Box(4, 0, 7, 4), "lit": LIT})
    found = seen(model_of(SPACE, uneven))
    assert found["lit"] <= {8, 9} and found["a"] & set(range(4, 10)) and found["b"] & set(range(4))
    assert all(len(columns) > 4 for columns in seen(model_of(SPACE, Layout(10, 4))).values())


@pytest.mark.parametrize(("share", "alike"), [(True, True), (False, False)])
def test_a_group_shares_its_weights_unless_told_otherwise(share, alike):
    model = model_of(SPACE, LAYOUT, share=share)
    first, second = read(model, IMAGES), read(model, TURNED)
    assert torch.allclose(first["a"], second["b"]) == torch.allclose(first["b"], second["a"]) == alike
    assert torch.equal(first["lit"], second["lit"])


@pytest.mark.parametrize("name", ["cbm", "semantic", "cem", "probcbm", "ecbm", "dcr", "dpl", "ltn", "bears"])
def test_every_network_shares_as_is_set(name):
    more = {"ecbm": {"steps": 2}, "bears": {"members": 2}}.get(name, {})
    knowledge = Knowledge.of(SPACE, {"y": "lit"})
    counts = []
    for share in (True, False):
        given = {"backbone": "mlp", "device": "cpu", "share": share, **more}
        counts.append(sum(p.numel() for p in MODELS[name](knowledge, LAYOUT, given).parameters()))
    assert counts[0] < counts[1]


# -- objects -----------------------------------------------------------------------------------------------------------


def objects(colours, mixed=False):
    """Return two groups of three objects, each with a shape of three values and a colour, and a part for each."""
    slots = [Slot(f"group{g}.object{i}", f"group{g}", ("shape", "colour")) for g in (1, 2) for i in (1, 2, 3)]
    values = {"shape": (0, 1, 2), "colour": tuple(colours)}
    concepts = tuple(Concept(slot.concept(a), values[a]) for slot in slots for a in values)
    regions = {name: Box(4 * i, 0, 4 * i + 4, 4) for i, slot in enumerate(slots) for name in slot.concepts}
    slots = [slots[i] for i in (0, 3, 1, 4, 2, 5)] if mixed else slots
    return ConceptSpace(concepts, tuple(slots)), Layout(24, 4, 1, regions)


def test_one_network_reads_all_attributes_of_any_object():
    model = model_of(*objects(("red", "green")), share="objects")
    images = torch.rand(2, 1, 4, 24)
    swapped = torch.cat([images[..., 4:8], images[..., :4], images[..., 8:]], dim=3)
    first, second = read(model, images), read(model, swapped)
    for attribute in ("shape", "colour"):
        assert torch.allclose(first[f"group1.object1.{attribute}"], second[f"group1.object2.{attribute}"], atol=1e-6)
        assert torch.allclose(first[f"group2.object3.{attribute}"], second[f"group2.object3.{attribute}"], atol=1e-6)


def test_crossed_numbers_are_those_of_objects_under_other_names():
    space, layout = objects(("red", "green", "blue"))
    images = torch.rand(2, 1, 4, 24)
    straight, crossed = (model_of(space, layout, share=share) for share in ("objects", "crossed"))
    crossed.load_state_dict(straight.state_dict())
    rows = [read(model, images) for model in (straight, crossed)]
    for group in ("group1", "group2"):
        by_object = [rows[0][f"{group}.object{i}.{a}"] for i in (1, 2, 3) for a in ("shape", "colour")]
        by_attribute = [rows[1][f"{group}.object{i}.{a}"] for a in ("shape", "colour") for i in (1, 2, 3)]
        assert all(torch.equal(one, other) for one, other in zip(by_object, by_attribute, strict=True))


@torch.no_grad()
def test_objects_of_each_kind_have_a_network_and_may_share_a_part():
    looks = {"x": {"shape": (0, 1, 2), "colour": ("r", "g", "b")}, "y": {"size": (1, 2)}}
    slots = tuple(Slot(name, name[0], tuple(looks[name[0]])) for name in ("x1", "x2", "y1", "y2"))
    concepts = tuple(Concept(slot.concept(own), looks[slot.name[0]][own]) for slot in slots for own in slot.attributes)
    places = {"x1": Box(0, 0, 2, 2), "x2": Box(2, 0, 4, 2), "y1": Box(1, 2, 3, 5), "y2": Box(1, 2, 3, 5)}
    layout = Layout(4, 5, 1, {name: places[slot.name] for slot in slots for name in slot.concepts})
    model = model_of(ConceptSpace(concepts, slots), layout, share="objects")
    pictures = torch.rand(3, 1, 5, 4)
    found, swapped = read(model, pictures), pictures.clone()
    swapped[:, :, :2] = torch.cat([pictures[:, :, :2, 2:], pictures[:, :, :2, :2]], dim=3)
    again = read(model, swapped)
    assert torch.equal(found["y1.size"], found["y2.size"]) and found["y1.size"].shape == (3, 2)
    assert torch.allclose(found["x1.shape"], again["x2.shape"]) and torch.equal(found["y1.size"], again["y1.size"])


def test_what_shows_no_objects_apart_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="share: crossed: the attributes of an object have different numbers"):
        model_of(*objects(("red", "blue")), share="crossed")
    with pytest.raises(ConfigError, match="share: crossed: the objects of a group do not follow one another"):
        model_of(*objects(("red", "green", "blue"), mixed=True), share="crossed")
    data = assay.make("kand-logic", n=20, output=tmp_path / "figures")
    with pytest.raises(ConfigError, match="share: objects: the pictures do not show figure1.object1 in a part"):
        MODELS["dpl"](data, settings={"share": "objects"})
    with pytest.raises(ConfigError, match="share: objects: the concepts are not all attributes of objects"):
        model_of(SPACE, LAYOUT, share="objects")
