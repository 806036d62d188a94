"""A concept shows where its things, its slot, the part of its name or its region are, and nowhere else."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from assay.concepts import Concept, ConceptSpace, Slot
from assay.data import ConceptMasks, SplitData
from assay.data.shard import picture_columns
from assay.logic import TRUE, Knowledge
from assay.render import Box, Layout, ObjectBox, Picture
from assay.render.picture import boxes_of

INSTANCES = np.array([[1, 1, 0, 2], [1, 1, 0, 2], [0, 0, 0, 0]], dtype=np.uint8)
PARTS = np.array([[3, 3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.uint8)
IMAGE = np.zeros((3, 4), dtype=np.uint8)
SPACE = ConceptSpace(
    (Concept("car1.roof", ("none", "flat")), Concept("car1.colour", ("red", "blue")), Concept("tree", (False, True))),
    (Slot("car1", "cars", ("roof", "colour")),),
)


def split(pictures: Sequence[Picture], columns: Sequence[str], regions: Mapping[str, Box] | None = None) -> SplitData:
    shown = picture_columns(columns, pictures, [f"{row}.png" for row in range(len(pictures))])  # type: ignore[arg-type]
    table = pa.table({"index": list(range(len(pictures))), **shown})
    knowledge = Knowledge.of(SPACE, {"y": "tree"})
    return SplitData("test", "0", knowledge, Layout(4, 3, 1, regions or {}), table, TRUE)


def picture() -> Picture:
    things = (*boxes_of(INSTANCES, ["car1", "tree"]), ObjectBox("car1/roof", Box(0, 0, 2, 1)))
    return Picture(IMAGE, things, INSTANCES, PARTS)


def test_a_concept_shows_in_its_part_its_object_or_the_things_of_its_name() -> None:
    masks = ConceptMasks(split([picture()], ["image", "things", "instances", "parts"]))
    assert masks.kind == "masks"
    assert np.array_equal(masks.of_concept("car1.roof")[0], PARTS == 3)
    assert np.array_equal(masks.of_concept("car1.colour")[0], INSTANCES == 1)
    assert np.array_equal(masks.of_concept("tree")[0], INSTANCES == 2)
    assert np.array_equal(masks.of_concepts(["tree", "car1.colour"])[0], INSTANCES > 0)


def test_without_the_part_the_object_shows_the_concept_and_without_the_object_nothing_does() -> None:
    no_roof = Picture(IMAGE, boxes_of(INSTANCES, ["car1", "tree"]), INSTANCES, np.zeros_like(PARTS))
    hidden = Picture(
        IMAGE, boxes_of(np.zeros_like(INSTANCES), ["car1"]), np.zeros_like(INSTANCES), np.zeros_like(PARTS)
    )
    masks = ConceptMasks(split([no_roof, hidden], ["image", "things", "instances", "parts"]))
    assert np.array_equal(masks.of_concept("car1.roof")[0], INSTANCES == 1)
    assert not masks.of_concept("car1.roof")[1].any() and not masks.of_concept("tree")[1].any()


def test_boxes_take_the_place_of_masks() -> None:
    two_trees = Picture(IMAGE, (ObjectBox("tree", Box(0, 0, 1, 2)), ObjectBox("tree", Box(3, 2, 9, 9))))
    masks = ConceptMasks(split([two_trees], ["image", "things"]))
    assert masks.kind == "boxes"
    assert masks.of_concept("tree")[0].astype(int).tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_regions_show_what_no_thing_shows() -> None:
    regions = {"tree": Box(2, 0, 4, 1)}
    alone = ConceptMasks(split([Picture(IMAGE)], ["image"], regions))
    assert alone.kind == "regions" and alone.of_concept("tree").sum() == 2 and not alone.of_concept("car1.roof").any()
    both = ConceptMasks(split([picture()], ["image", "things", "instances", "parts"], regions))
    assert np.array_equal(both.of_concept("tree")[0], INSTANCES == 2)
    assert ConceptMasks(split([Picture(IMAGE)], ["image"])).kind == ""
