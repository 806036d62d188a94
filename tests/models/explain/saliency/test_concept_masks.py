"""A concept shows where its things, its slot, the part of its name or its region are, and nowhere else."""

import numpy as np
import pyarrow as pa

from assay.dataset import SplitData
from assay.logic import TRUE, Concept, ConceptSpace, Knowledge, Slot
from assay.models import ConceptMasks
from assay.render import Box, Layout, encode_png

INSTANCES = np.array([[1, 1, 0, 2], [1, 1, 0, 2], [0, 0, 0, 0]], dtype=np.uint8)
PARTS = np.array([[3, 3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.uint8)
NOTHING = np.zeros_like(INSTANCES)
SPACE = ConceptSpace(
    (Concept("car1.roof", ("none", "flat")), Concept("car1.colour", ("red", "blue")), Concept("tree", (False, True))),
    (Slot("car1", "cars", ("roof", "colour")),),
)


def split(*rows, regions=None):
    """Return a split of pictures with these columns: arrays as maps, things as pairs of a name and a box."""
    columns = {"index": list(range(len(rows))), "image": [cell(NOTHING)] * len(rows)}
    for name in rows[0]:
        columns[name] = [cell(row[name]) if name != "things" else [thing(*one) for one in row[name]] for row in rows]
    return SplitData(
        "test", "0", Knowledge.of(SPACE, {"y": "tree"}), Layout(4, 3, 1, regions or {}), pa.table(columns), TRUE
    )


def cell(image):
    return {"bytes": encode_png(image), "path": "x.png"}


def thing(name, box):
    return {"name": name, "left": box.left, "top": box.top, "right": box.right, "bottom": box.bottom}


def shown(instances=INSTANCES, parts=PARTS, names=("car1", "tree")):
    things = []
    for number, name in enumerate(names, start=1):
        rows, columns = np.nonzero(instances == number)
        here = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1] if len(rows) else [0, 0, 0, 0]
        things.append((name, Box(*map(int, here))))
    return {"things": [*things, ("car1/roof", Box(0, 0, 2, 1))], "instances": instances, "parts": parts}


def test_a_concept_shows_in_its_part_its_object_or_the_things_of_its_name():
    masks = ConceptMasks(split(shown()))
    assert masks.kind == "masks"
    assert np.array_equal(masks.of_concept("car1.roof")[0], PARTS == 3)
    assert np.array_equal(masks.of_concept("car1.colour")[0], INSTANCES == 1)
    assert np.array_equal(masks.of_concept("tree")[0], INSTANCES == 2)
    assert np.array_equal(masks.of_concepts(["tree", "car1.colour"])[0], INSTANCES > 0)
    assert not masks.of_concepts([]).any()


def test_without_the_part_the_object_shows_the_concept_and_without_the_object_nothing_does():
    hidden = {**shown(NOTHING, NOTHING, ("car1",)), "things": [("car1", Box(0, 0, 0, 0))]}
    masks = ConceptMasks(split({**shown(parts=NOTHING), "things": shown()["things"][:2]}, hidden))
    assert np.array_equal(masks.of_concept("car1.roof")[0], INSTANCES == 1)
    assert not masks.of_concept("car1.roof")[1].any() and not masks.of_concept("tree")[1].any()


def test_boxes_take_the_place_of_masks_and_end_at_the_edge():
    trees = [("tree", Box(0, 0, 1, 2)), ("tree", Box(3, 2, 9, 9)), ("tree", Box(2, 1, 2, 3))]
    masks = ConceptMasks(split({"things": trees}))
    assert masks.kind == "boxes"
    assert masks.of_concept("tree")[0].astype(int).tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_regions_show_what_no_thing_shows():
    regions = {"tree": Box(2, 0, 4, 1)}
    alone = ConceptMasks(split({}, regions=regions))
    assert alone.kind == "regions" and alone.of_concept("tree").sum() == 2 and not alone.of_concept("car1.roof").any()
    both = ConceptMasks(split(shown(), {**shown(), "things": []}, regions=regions))
    assert np.array_equal(both.of_concept("tree")[0], INSTANCES == 2) and both.of_concept("tree")[1].sum() == 2
    assert ConceptMasks(split({})).kind == ""
