"""Maps over pictures, to the pixel, and what is scored on which masks."""

from types import SimpleNamespace

import numpy as np

from assay.models.saliency import places
from assay.models.saliency.folder import _file_name, draw_over
from assay.models.saliency.places import SaliencyPlaces


def test_a_map_is_drawn_beside_its_picture():
    image = np.array([[[30, 60, 90], [0, 0, 0]]], dtype=np.uint8)
    drawn = draw_over(image, np.array([[-5.0, 2.0]]))
    assert drawn.shape == (128, 2 * 256 + 4, 3) and drawn.dtype == np.uint8
    assert drawn[0, 0].tolist() == drawn[127, 127].tolist() == [30, 60, 90] and drawn[5, 128].tolist() == [0, 0, 0]
    assert (drawn[:, 256:260] == 255).all() and drawn[0, 260].tolist() == [60, 60, 60]
    assert drawn[0, 260 + 128].tolist() == [225, 30, 40]


def test_maps_that_are_blank_or_of_one_place_are_drawn():
    image = np.full((100, 100, 1), 100, dtype=np.uint8)
    blank = draw_over(image, np.full((100, 100), -1.0))
    assert blank.shape == (100, 204, 3) and (blank[:, :100] == 100).all() and (blank[:, 104:] == 100).all()
    lone = np.zeros((100, 100))
    lone[2, 3] = 8.0
    found = draw_over(image, lone)
    assert found[2, 107].tolist() == [225, 30, 40] and found[2, 108].tolist() == [100, 100, 100]
    half = np.full((100, 100), 4.0)
    half[:, :50] = 2.0
    assert draw_over(image, half)[0, 104].tolist() == [162, 65, 70]
    assert draw_over(np.zeros((400, 10, 1), np.uint8), np.ones((400, 10))).shape == (400, 24, 3)
    assert _file_name("n = 3/4 (x.y) z") == "n-3-4-x.y-z"


def test_labels_are_scored_on_the_concepts_of_their_rule_and_on_marks(monkeypatch):
    class Masks:
        kind = "masks"

        def __init__(self, data):
            pass

        def of_concepts(self, names):
            return names

    class Data(SimpleNamespace):
        def __len__(self):
            return 3

    monkeypatch.setattr(places, "ConceptMasks", Masks)
    targets = [
        SimpleNamespace(name="y", title="label y", kind="label"),
        SimpleNamespace(name="b", title="concept b", kind="concept"),
    ]
    area = np.array([[True, False]])
    made = SaliencyPlaces(targets, {"y": ("a", "c")}, {"stripe": area}, ())
    found = [(place, s.target, s.kind, s.is_mark, np.shape(mask)) for place, s, mask in made.masks(Data())]
    assert found == [
        (0, "label y", "label", False, (2,)),
        (0, "label y", "label", True, (3, 1, 2)),
        (1, "concept b", "concept", False, (1,)),
        (1, "concept b", "concept", True, (3, 1, 2)),
    ]
    masks = [mask for _, _, mask in made.masks(Data())]
    assert masks[0] == ("a", "c") and masks[2] == ("b",) and masks[1][2].tolist() == [[True, False]]
    monkeypatch.setattr(Masks, "kind", "")
    assert [scored.is_mark for _, scored, _ in made.masks(Data())] == [True, True]


def test_few_places_are_drawn_by_the_largest_of_them():
    image = np.full((100, 100, 3), 100, dtype=np.uint8)
    few = np.zeros((100, 100))
    few[2, 3], few[4, 5], few[6, 7] = 8.0, 4.0, -8.0
    found = draw_over(image, few)
    assert [found[row, 104 + column].tolist() for row, column in ((2, 3), (4, 5), (6, 7))] == [
        [225, 30, 40], [162, 65, 70], [100, 100, 100]
    ]  # fmt: skip


def test_areas_are_of_marks_with_so_many_values(monkeypatch):
    couplings = [SimpleNamespace(name="stripe", count=5), SimpleNamespace(name="dot", count=2)]
    monkeypatch.setattr(places, "confounders_of", lambda dataset: couplings)
    monkeypatch.setattr(places, "mark_area", lambda *given: given)
    areas, notes = places._marks(None, SimpleNamespace(picture_shape=(4, 6, 1)))
    assert areas == {"stripe": ("stripe", 5, (4, 6, 1)), "dot": ("dot", 2, (4, 6, 1))} and notes == []
