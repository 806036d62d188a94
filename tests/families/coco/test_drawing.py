"""Drawn scenes: everything can be seen, boxes hold what they name, and all is a function of the scene's number."""

import numpy as np
import pytest
from PIL import Image

from assay.errors import DataError
from assay.families.coco.drawing.brush import Appearance, Brush
from assay.families.coco.drawing.scene import DRAWINGS, draw_scene
from assay.families.coco.scene_templates import (
    CROWDED,
    EYE,
    HEIGHT,
    MOST,
    NAMES,
    OBJECT_KINDS,
    OUTDOORS,
    SCENE_KINDS,
    WIDTH,
)
from assay.families.coco.synthetic import lay_out, recompose, synthetic_album
from assay.render import Canvas, Letterbox, read_photograph

ALL = [True] * CROWDED


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
        if content["scene"] in OUTDOORS:
            outdoors += 1
            line = content["horizon"] * HEIGHT
            for name, _, foot, tall, *_ in recompose(content, {"person": 1})["objects"]:
                assert tall == pytest.approx(OBJECT_KINDS[name].metres / EYE * (foot - line), abs=1.0)
    assert outdoors > 100


def test_all_looks_occur_and_classes_are_as_common_as_planned(held):
    assert set(held.scenes.views.tolist()) == set(range(len(SCENE_KINDS)))
    counts = np.zeros((len(held.album), len(NAMES)), dtype=int)
    np.add.at(counts, (held.album.owners, held.album.classes), 1)
    assert counts.max() == MOST and counts.sum(axis=1).max() <= CROWDED
    for place, kind in enumerate(OBJECT_KINDS.values()):
        share, number = (counts[:, place] > 0).mean(), counts[counts[:, place] > 0, place].mean()
        assert 0.9 < share / kind.images < 3.4, (NAMES[place], share)
        assert 0.5 < number / kind.objects < 1.2, (NAMES[place], number)  # cars are wide, and few fit in


def test_a_scene_does_not_depend_on_the_others(held):
    alone = lay_out(held.scenes.numbers[[77]])
    assert alone.content(0, ALL) == held.scenes.content(77, ALL)


def test_objects_come_and_go_and_the_rest_stays(held):
    content = held.scenes.content(3, ALL)
    more = recompose(content, {"dog": 2, "elephant": 1})
    assert [row[0] for row in more["objects"]][-3:] == ["dog", "dog", "elephant"]
    assert more["objects"][:-3] == content["objects"]
    assert recompose(more, {"dog": 0, "elephant": 0})["objects"] == content["objects"]
    assert recompose(content, dict.fromkeys(NAMES, 9)) is None, "there are not so many spare places"
    drawn, before = draw_scene(more, (160, 120)), draw_scene(content, (160, 120))
    assert len(drawn.things) == len(before.things) + 3 and not np.array_equal(drawn.image, before.image)


def test_pictures_are_fitted_with_bars(tmp_path):
    path = tmp_path / "wide.png"
    Image.new("RGB", (80, 20), (200, 10, 10)).save(path)
    image = read_photograph(path, (40, 40))
    assert image.shape == (40, 40, 3) and (image[:15] == 114).all() and (image[25:] == 114).all()
    assert (image[16:24] == (200, 10, 10)).all()
    fit = Letterbox.of((80, 20), (40, 40))
    box = fit.box([8, 4, 16, 8], (80, 20))
    assert (box.left, box.top, box.right, box.bottom) == (4, 17, 12, 21)


def test_an_image_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"picture 'a.jpg' is no PNG, JPEG or WebP file"):
        read_photograph(tmp_path / "a.jpg", (8, 8))
