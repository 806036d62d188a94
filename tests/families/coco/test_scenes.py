"""Drawn scenes: everything can be seen, boxes hold what they name, and all is a function of the scene's number."""

import numpy as np
import pytest

from assay.families.coco.drawing.brush import Appearance, Brush
from assay.families.coco.drawing.scene import DRAWINGS, draw_scene
from assay.families.coco.drawing.scene_templates import HEIGHT, NAMES, OBJECT_KINDS, SCENE_KINDS, WIDTH
from assay.families.coco.synthetic import synthetic_album
from assay.render import Canvas, Letterbox
from assay.tasks import TASKS
from assay.worlds import CONTENT
from tests.families.drawn import worlds_of

ALL = [True] * 13
EYE = 1.6
"""The height in metres of the eye that scenes outdoors are seen by."""


@pytest.fixture(scope="module")
def held():
    return synthetic_album(3000)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pose", [0.1, 0.5, 0.9])
def test_a_drawing_stands_in_its_box(name, pose):
    canvas = Canvas(700, 300)
    with canvas.thing(name):
        DRAWINGS[name](Brush(canvas, 350, 250, 200), Appearance(0.3, 0.4, pose))
    box, kind = canvas.things[0].box, OBJECT_KINDS[name]
    wide = 200 * (kind.front if kind.front and pose > 0.72 else kind.aspect)
    assert 45 <= box.top <= 85 and 245 <= box.bottom <= 262, "its height is 1, and its foot stands on the ground"
    assert 0.45 * wide <= box.right - box.left <= 1.15 * wide
    assert abs((box.left + box.right) / 2 - 350) < 0.22 * wide
    area = (canvas.instances > 0).sum() / (wide * 200)
    assert 0.25 * kind.fill < area < 1.5 * kind.fill


def test_looks_and_sides_differ():
    def seen(left, look):
        canvas = Canvas(260, 120)
        DRAWINGS["car"](Brush(canvas, 130, 110, 80, left), look)
        return canvas.image

    plain = seen(False, Appearance(0.3, 0.4, 0.5))
    assert np.abs(plain.astype(int) - seen(True, Appearance(0.3, 0.4, 0.5))[:, ::-1]).mean() < 4, (
        "left is right mirrored"
    )
    for other in (Appearance(0.8, 0.4, 0.5), Appearance(0.3, 0.9, 0.5), Appearance(0.3, 0.4, 0.9)):
        assert not np.array_equal(plain, seen(False, other))


def test_every_object_of_a_scene_is_seen(held):
    for row in range(150):
        content = held.scenes.content(row, ALL)
        picture = draw_scene(content, (WIDTH, HEIGHT))
        assert sorted(thing.name for thing in picture.things) == sorted(one[0] for one in content["objects"])
        pixels = np.bincount(picture.instances.ravel(), minlength=len(picture.things) + 1)[1:]
        assert pixels.min(initial=999) >= 40, (row, [t.name for t in picture.things], pixels)


@pytest.mark.parametrize("size", [(96, 96), (160, 60), (60, 160)])
def test_scenes_fill_pictures_of_any_shape(held, size):
    for row in range(40):
        content = held.scenes.content(row, ALL)
        whole, usual = draw_scene(content, size), draw_scene(content, (WIDTH, HEIGHT))
        assert whole.image.shape[:2] == size[::-1]
        edges = np.concatenate([whole.image[[0, -1]].reshape(-1, 3), whole.image[:, [0, -1]].reshape(-1, 3)])
        assert not (edges == 114).all(axis=1).any() and not (edges == 255).all(axis=1).any()
        assert [thing.name for thing in whole.things] == [thing.name for thing in usual.things]
        fit = Letterbox.of((WIDTH, HEIGHT), size)
        for small, large in zip(whole.things, usual.things, strict=True):
            place = fit.box([large.box.left, large.box.top, 0, 0], (WIDTH, HEIGHT))
            assert abs(small.box.top - place.top) <= 3 and small.box.left <= place.left + 3


def test_outdoors_things_are_as_high_as_their_distance_says(held):
    outdoors = 0
    for row in range(300):
        content = held.scenes.content(row, ALL)
        if content["scene"] in ("street", "rail", "field", "park", "beach"):
            outdoors += 1
            line = content["horizon"] * HEIGHT
            for name, _, foot, tall, *_ in content["objects"]:
                assert tall == pytest.approx(OBJECT_KINDS[name].metres / EYE * (foot - line), abs=1.0)
    assert outdoors > 100


def test_all_looks_occur_and_classes_are_as_common_as_planned(held):
    assert set(held.scenes.views.tolist()) == set(range(len(SCENE_KINDS)))
    counts = np.zeros((len(held.album), len(NAMES)), dtype=int)
    np.add.at(counts, (held.album.owners, held.album.classes), 1)
    assert counts.max() == 8 and counts.sum(axis=1).max() <= len(ALL)
    for place, kind in enumerate(OBJECT_KINDS.values()):
        share, number = (counts[:, place] > 0).mean(), counts[counts[:, place] > 0, place].mean()
        assert 0.9 < share / kind.images < 3.4, (NAMES[place], share)
        assert 0.5 < number / kind.objects < 1.2, (NAMES[place], number)  # cars are wide, and few fit in


def test_a_scene_does_not_depend_on_how_many_there_are(held):
    few = synthetic_album(600)
    row = len(few.scenes.numbers) - 1
    assert few.scenes.content(row, ALL) == held.scenes.content(row, ALL)
    assert few.album.files == held.album.files[: len(few.album.files)]


def test_objects_are_annotated_where_and_as_far_as_they_are_seen(held):
    """Areas are estimated from boxes, and what stands in front hides: the pixels drawn agree on the whole."""
    gaps = []
    for number in range(60):
        picture = draw_scene(held.scenes.content(number, ALL), (WIDTH, HEIGHT))
        rows = held.album.objects_of(number)
        names = [NAMES[held.album.classes[row]] for row in rows]
        assert sorted(names) == sorted(thing.name for thing in picture.things)
        for name in set(names):
            told = sum(held.album.areas[row] for row, one in zip(rows, names, strict=True) if one == name)
            numbers = [place for place, thing in enumerate(picture.things, start=1) if thing.name == name]
            gaps.append(np.log(told / np.isin(picture.instances, numbers).sum()))
    assert len(gaps) > 100 and abs(np.median(gaps)) < 0.2 and np.quantile(np.abs(gaps), 0.9) < 0.8


def test_objects_come_and_go_and_the_rest_stays():
    task = TASKS["cocologic"](scenes=600, width=160, height=120)
    for world in worlds_of(task, count=20):
        objects = world.style[CONTENT]["objects"]
        more = {"dog": int(world["dog"]) + 2, "elephant": int(world["elephant"]) + 1}
        other = task.change_world(world, more)
        if other is None:  # there are not so many spare places
            continue
        made = other.style[CONTENT]["objects"]
        assert made[: len(objects)] == objects and sorted(one[0] for one in made[len(objects) :]) == [
            *("dog", "dog", "elephant")
        ]
        back = task.change_world(other, {name: world[name] for name in more})
        assert back.style[CONTENT]["objects"] == objects and back.codes == world.codes
        assert len(task.render(other).things) == len(task.render(world).things) + 3
    assert task.change_world(world, dict.fromkeys(NAMES, 9)) is None


def test_the_backdrop_can_be_chosen_and_changes_no_object():
    task = TASKS["cocologic"](scenes=600, width=160, height=120)
    world = next(one for one in worlds_of(task) if one.style[CONTENT]["scene"] == "street")
    pictures = [
        task.render(type(world)(world.space, world.codes, {**world.style, "backdrop": backdrop}))
        for backdrop in task.style_choices["backdrop"]
    ]
    assert len({picture.image.tobytes() for picture in pictures}) == len(pictures) == 6
    assert all(picture.things == pictures[0].things for picture in pictures)
