"""The ten rules of COCOLogic-V2: the variants and near-boundary types of the paper's A.1, derived by the machine.

Where the derivation gives more than the paper lists, the extra type is marked, and docs/boundary.md says why.
"""

import pytest

from assay.logic import Concept, ConceptSpace, boundary_of, names_in, parse

NOT_IN_THE_PAPER = "not in the paper"

RULES: dict[str, tuple[list[str], dict[str, str]]] = {
    "traffic_light >= 1 and (bicycle >= 1 or bus >= 1 or train >= 1)": (
        ["traffic_light and bicycle", "traffic_light and bus", "traffic_light and train"],
        {
            "not traffic_light and bicycle": "N1",
            "not traffic_light and bus": "N2",
            "not traffic_light and train": "N3",
            "traffic_light and not bicycle and not bus and not train": "N4",
        },
    ),
    "exactly(2, bottle >= 1, cup >= 1, pizza >= 1)": (
        ["bottle and cup and not pizza", "bottle and not cup and pizza", "not bottle and cup and pizza"],
        {
            "bottle and not cup and not pizza": "N1",
            "not bottle and cup and not pizza": "N2",
            "not bottle and not cup and pizza": "N3",
            "bottle and cup and pizza": "N4",
        },
    ),
    "(cow >= 2 or elephant >= 2 or sheep >= 2) and person == 0": (
        ["cow >= 2 and not person", "elephant >= 2 and not person", "sheep >= 2 and not person"],
        {
            "elephant == 1 and not person": "N1",
            "cow == 1 and not person": "N2",
            "sheep == 1 and not person": "N3",
            "elephant >= 2 and person": "N4",
            "cow >= 2 and person": "N5",
            "sheep >= 2 and person": "N6",
        },
    ),
    "(dog >= 1) ^ (car >= 1)": (
        ["dog and not car", "not dog and car"],
        {"dog and car": "N1", "not dog and not car": "N2"},
    ),
    "bowl == 3 or cup == 3": (
        ["bowl == 3", "cup == 3"],
        {"1-2 cup": "N1", "cup >= 4": "N2", "1-2 bowl": "N3", "bowl >= 4": "N4"},
    ),
    "car > truck and car >= 1 and truck >= 1": (
        ["car > truck and car and truck"],
        {
            "car and not truck": "N1",
            "car == truck and car and truck": "N2",
            "car < truck and car and truck": "N3",
            "not car and truck": NOT_IN_THE_PAPER,
        },
    ),
    "(couch >= 1 or chair >= 1) and person == 0": (
        ["couch and not person", "chair and not person"],
        {"couch and person": "N1", "chair and person": "N2", "not couch and not chair and not person": "N3"},
    ),
    "exactly(1, bicycle >= 1, motorcycle >= 1, car >= 1, bus >= 1)": (
        [
            "bicycle and not motorcycle and not car and not bus",
            "not bicycle and motorcycle and not car and not bus",
            "not bicycle and not motorcycle and car and not bus",
            "not bicycle and not motorcycle and not car and bus",
        ],
        {
            "bicycle and motorcycle and not car and not bus": "N1",
            "bicycle and not motorcycle and car and not bus": "N2",
            "bicycle and not motorcycle and not car and bus": "N3",
            "not bicycle and motorcycle and car and not bus": "N4",
            "not bicycle and motorcycle and not car and bus": "N5",
            "not bicycle and not motorcycle and car and bus": "N6",
            "not bicycle and not motorcycle and not car and not bus": NOT_IN_THE_PAPER,
        },
    ),
    "person >= 1 and ((bicycle >= 1) ^ (car >= 1))": (
        ["person and bicycle and not car", "person and not bicycle and car"],
        {
            "person and bicycle and car": "N1",
            "person and not bicycle and not car": "N2",
            "not person and bicycle and not car": "N3",
            "not person and not bicycle and car": "N4",
        },
    ),
    "person == surfboard and person >= 1 and surfboard >= 1": (
        ["person == surfboard and person and surfboard"],
        {
            "not person and surfboard": "N1",
            "person and not surfboard": "N2",
            "person < surfboard and person and surfboard": "N3",
            "person > surfboard and person and surfboard": "N4",
        },
    ),
}


@pytest.mark.parametrize("text", RULES)
def test_variants_and_types_are_those_of_the_paper(text):
    rule = parse(text)
    space = ConceptSpace(tuple(Concept(name, tuple(range(11)), counts=True) for name in names_in(rule)))
    boundary = boundary_of(rule, space)
    variants, types = RULES[text]
    assert {variant.name for variant in boundary.variants} == set(variants)
    assert {one.name for one in boundary.types} == set(types)


def test_two_types_are_ours_alone():
    assert sum(mark == NOT_IN_THE_PAPER for _, types in RULES.values() for mark in types.values()) == 2
