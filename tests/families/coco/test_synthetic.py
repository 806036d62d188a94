"""Drawn scenes in numbers: where objects stand, what they hide, how many there are, and scenes that are changed."""

import numpy as np
import pytest

from assay.families.coco import synthetic
from assay.families.coco.scene_templates import (
    CROWDED,
    EYE,
    HEIGHT,
    MOST,
    NAMES,
    OBJECT_KINDS,
    SCENE_KINDS,
    SCENE_TEMPLATES,
    TABLE_TOP,
    WIDTH,
)
from assay.families.coco.synthetic import (
    HIDDEN,
    SPARE,
    counts_of,
    hash_uniform,
    lay_out,
    recompose,
    stance,
    synthetic_album,
)

VIEW = {name: place for place, name in enumerate(SCENE_KINDS)}
KIND = {name: place for place, name in enumerate(NAMES)}


def test_numbers_from_0_to_1_differ_by_scene_and_purpose():
    drawn = hash_uniform(np.arange(2000)[:, None], 4, np.arange(5))
    assert drawn.shape == (2000, 5) and drawn.min() >= 0 and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.01
    assert len(np.unique(drawn)) == 10_000
    assert np.array_equal(hash_uniform(np.array([7]), 4, 3), drawn[7, 3:4])
    salts = [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]
    assert len({float(hash_uniform(np.array([7]), *salt)[0]) for salt in salts}) == len(salts)


def stand(name, view, depth, horizon=0.4):
    feet, tall = stance(np.array([KIND[name]]), np.array([VIEW[view]]), np.array([horizon]), np.array([depth]))
    return float(feet[0]), float(tall[0])


@pytest.mark.parametrize("depth", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", ["person", "cup", "bus"])
def test_objects_stand_where_their_place_and_distance_say(name, depth):
    kind, line = OBJECT_KINDS[name], 0.4 * HEIGHT
    for view in ("street", "rail", "field", "park", "beach"):
        share = kind.depth[0] + (kind.depth[1] - kind.depth[0]) * depth
        foot = line + share * (HEIGHT - line)
        assert stand(name, view, depth) == pytest.approx((foot, kind.metres / EYE * (foot - line)))
    room = (HEIGHT * (0.62 + 0.36 * depth), HEIGHT * kind.indoors * (0.75 + 0.5 * depth))
    assert stand(name, "room", depth) == pytest.approx(room)
    if kind.table:
        wanted = (HEIGHT * (0.74 + 0.23 * depth), HEIGHT * kind.table * (0.8 + 0.4 * depth))
    else:  # behind the table
        wanted = (HEIGHT * (0.76 + 0.03 * depth), HEIGHT * kind.indoors * (0.8 + 0.2 * depth))
    assert stand(name, "table", depth) == pytest.approx(wanted)


def test_what_is_nearer_hides_what_is_farther():
    box = np.array([[10.0, 10.0, 30.0, 40.0]])  # 20 x 30
    others = np.array([[
        [20.0, 20.0, 40.0, 30.0],  # farther: 10 x 10 of its 20 x 10 are hidden
        [0.0, 0.0, 15.0, 50.0],  # nearer: it hides 5 x 30 of ours
        [30.0, 10.0, 50.0, 40.0],  # beside it, just as near
        [10.0, 35.0, 20.0, 40.0],  # just as near: it hides ours, 10 x 5
        [0.0, 50.0, 90.0, 60.0],  # below it
    ]])  # fmt: skip
    covers, covered = synthetic._overlaps(box, others)
    assert covers.tolist() == [pytest.approx([0.5, 0, 0, 0, 0])]
    assert covered.tolist() == [pytest.approx([0, 150 / 600, 0, 50 / 600, 0])]
    assert synthetic._area(others).tolist() == [[200, 750, 600, 50, 900]]


def test_crowded_things_stand_nearer_to_the_horizon_outdoors_only():
    views = np.array([VIEW["street"], VIEW["room"], VIEW["table"], VIEW["beach"]])
    feet = synthetic._farther(np.full(4, 400.0), (views, np.array([0.4, 0.4, 0.4, 0.5])))
    assert feet.tolist() == [192 + 0.5 * 208, 400, 400, 240 + 0.5 * 160]


def test_counts_follow_the_templates():
    numbers = np.arange(4000)
    places, counts = counts_of(numbers)
    weights = np.array([place.weight for place in SCENE_TEMPLATES])
    seen = np.bincount(places, minlength=len(weights)) / len(numbers)
    assert np.abs(seen - weights / weights.sum()).max() < 0.02
    ends = np.cumsum(weights) / weights.sum()
    assert (places == (hash_uniform(numbers, 0)[:, None] >= ends).sum(axis=1)).all()
    assert counts.max() == MOST and counts.sum(axis=1).max() == CROWDED and counts.min() == 0
    chances = np.array([[place.chances.get(name, 0.0) for name in NAMES] for place in SCENE_TEMPLATES])
    assert not counts[chances[places] == 0].any() and (counts[chances[places] == 1] > 0).all()
    lone = counts.sum(axis=1) < CROWDED  # where nothing had to go
    for name in ("sheep", "person", "bus"):
        there = lone & (counts[:, KIND[name]] > 0)
        draws = hash_uniform(numbers, 2, KIND[name])
        means = np.array([p.objects.get(name, OBJECT_KINDS[name].objects) for p in SCENE_TEMPLATES])[places]
        wanted = 1 + np.minimum(np.floor(np.log(draws) / np.log(1 - 1 / means)), MOST - 1)
        assert (counts[there, KIND[name]] == wanted[there]).all()


def test_scenes_hold_their_objects_the_large_ones_first():
    numbers = np.array([5, 900, 33, 2, 71])
    held = lay_out(numbers)
    _, counts = counts_of(numbers)
    sizes = {name: kind.metres**2 * kind.aspect for name, kind in OBJECT_KINDS.items()}
    for row in range(len(numbers)):
        kinds = [NAMES[kind] for kind in held.classes[row] if kind >= 0]
        assert [kinds.count(name) for name in NAMES] == counts[row].tolist()
        assert (held.classes[row, len(kinds) :] == -1).all()
        assert [sizes[name] for name in kinds] == sorted((sizes[name] for name in kinds), reverse=True)
    assert ((held.horizons >= 0.38) & (held.horizons <= 0.52)).all() and len(set(held.horizons.tolist())) == 5
    some = held.select(np.array([3, 1]))
    assert some.numbers.tolist() == [2, 900]
    for name in ("views", "x", "looks", "hidden", "left"):
        assert np.array_equal(getattr(some, name), getattr(held, name)[[3, 1]])


def boxes_of(scenes, row):
    """The boxes of a scene's objects, from where they stand and how they look."""
    found = []
    for slot in np.flatnonzero(scenes.classes[row] >= 0):
        kind = OBJECT_KINDS[NAMES[scenes.classes[row, slot]]]
        front = kind.front if kind.front and scenes.looks[row, slot, 2] > 0.72 else kind.aspect
        x, y, tall = scenes.x[row, slot], scenes.y[row, slot], scenes.heights[row, slot]
        found.append((x - tall * front / 2, y - tall, x + tall * front / 2, y))
    return np.array(found).reshape(-1, 4)


def test_what_is_hidden_of_each_object_is_what_nearer_ones_cover():
    scenes = lay_out(np.arange(40))
    for row in range(40):
        boxes = boxes_of(scenes, row)
        for place, box in enumerate(boxes):
            total = 0.0
            for other_place, other in enumerate(boxes):
                nearer = other[3] > box[3] or (other[3] == box[3] and other_place < place)
                if other_place != place and nearer:
                    wide = min(box[2], other[2]) - max(box[0], other[0])
                    high = min(box[3], other[3]) - max(box[1], other[1])
                    total += max(wide, 0) * max(high, 0) / ((box[2] - box[0]) * (box[3] - box[1]))
            assert scenes.hidden[row, place] == pytest.approx(total, abs=1e-9)
    assert scenes.hidden[scenes.classes < 0].sum() == 0


def shares(box, other):
    """What a box hides of another, and what the other hides of it: the one that stands nearer hides."""
    wide = max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
    high = max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
    near = box[3] > other[3]
    hidden = other if near else box
    share = wide * high / ((hidden[2] - hidden[0]) * (hidden[3] - hidden[1]))
    return (share, 0.0) if near else (0.0, share)


def best_boxes(number, kinds, view, horizon, aspects):
    """The boxes of a scene's objects, one after the other, each at the first of its best places."""
    boxes, hidden = [], []
    for slot, (kind, aspect) in enumerate(zip(kinds, aspects, strict=True)):
        best = None
        for attempt in range(synthetic.TRIES):
            across, depth = (float(hash_uniform(np.array([number]), 6, slot, attempt, axis)[0]) for axis in (0, 1))
            feet, tall = stand(NAMES[kind], SCENE_KINDS[view], depth, horizon)
            if attempt >= synthetic.TRIES / 2:
                tall *= synthetic.FARTHER
                line = horizon * HEIGHT
                feet = feet if SCENE_KINDS[view] in ("room", "table") else line + synthetic.FARTHER * (feet - line)
            wide = tall * aspect
            middle = 0.4 * wide + across * (WIDTH - 0.8 * wide)
            box = (middle - wide / 2, feet - tall, middle + wide / 2, feet)
            pairs = [shares(box, other) for other in boxes]
            lost = sum(covered for _, covered in pairs)
            worst = max([lost, *(own + covers for own, (covers, _) in zip(hidden, pairs, strict=True))])
            if best is None or worst < best[0]:
                best = (worst, box, lost, [covers for covers, _ in pairs])
        hidden = [own + covers for own, covers in zip(hidden, best[3], strict=True)] + [best[2]]
        boxes.append(best[1])
    return boxes, hidden


def test_every_object_stands_where_least_is_hidden_of_it_and_of_those_before_it():
    numbers = np.array([3, 17, 40, 8, 123, 51, 77, 90])
    scenes = lay_out(numbers)
    for row, number in enumerate(numbers.tolist()):
        kinds = [int(kind) for kind in scenes.classes[row] if kind >= 0]
        fronts = [OBJECT_KINDS[NAMES[kind]].front or OBJECT_KINDS[NAMES[kind]].aspect for kind in kinds]
        sides = [OBJECT_KINDS[NAMES[kind]].aspect for kind in kinds]
        turned = scenes.looks[row, : len(kinds), 2] > 0.72
        aspects = np.where(turned, fronts, sides).tolist()
        boxes, hidden = best_boxes(number, kinds, int(scenes.views[row]), float(scenes.horizons[row]), aspects)
        assert boxes_of(scenes, row) == pytest.approx(np.array(boxes).reshape(-1, 4))
        assert scenes.hidden[row, : len(kinds)].tolist() == pytest.approx(hidden, abs=1e-9)
    assert {SCENE_KINDS[view] for view in scenes.views} >= {"street", "room", "table"} and scenes.classes.shape[1] > 4


def test_the_album_has_what_can_be_seen_of_each_object():
    held = synthetic_album(120)
    album, scenes = held.album, held.scenes
    kept = lay_out(np.arange(120))
    assert scenes.numbers.tolist() == np.flatnonzero(kept.hidden.max(axis=1) <= HIDDEN).tolist() != list(range(120))
    assert album.files[:2] == tuple(f"scene-{number:06d}.png" for number in scenes.numbers[:2])
    assert (album.sizes == [WIDTH, HEIGHT]).all() and not album.crowds.any() and album.categories == NAMES
    assert (album.parts == (hash_uniform(scenes.numbers, 7) < 0.25)).all()
    row = 0
    for number in range(len(album)):
        slots = np.flatnonzero(scenes.classes[number] >= 0)
        for slot, box in zip(slots, boxes_of(scenes, number), strict=True):
            name = NAMES[scenes.classes[number, slot]]
            left, top, right, bottom = np.clip(box, 0, [WIDTH, HEIGHT] * 2)
            if scenes.views[number] == VIEW["table"] and not OBJECT_KINDS[name].table:
                bottom = min(bottom, TABLE_TOP * HEIGHT)
            assert (album.owners[row], NAMES[album.classes[row]]) == (number, name)
            assert album.boxes[row].tolist() == pytest.approx([left, top, right - left, bottom - top])
            seen = 1 - min(1.0, scenes.hidden[number, slot])
            wanted = OBJECT_KINDS[name].fill * (right - left) * (bottom - top) * seen
            assert album.areas[row] == pytest.approx(wanted)
            row += 1
    assert row == len(album.owners)


def test_a_scene_as_plain_data_names_its_objects_and_whether_they_count():
    held = synthetic_album(120).scenes
    row = next(row for row in range(len(held.numbers)) if (held.classes[row] >= 0).sum() >= 3)
    count = int((held.classes[row] >= 0).sum())
    counted = [place % 2 == 0 for place in range(count)]
    found = held.content(row, counted)
    assert [one[0] for one in found["objects"]] == [NAMES[kind] for kind in held.classes[row, :count]]
    for place, one in enumerate(found["objects"]):
        at = [held.x[row, place], held.y[row, place], held.heights[row, place]]
        assert one[1:4] == np.round(at, 1).tolist() and one[4] == int(held.left[row, place])
        assert one[5:8] == np.round(held.looks[row, place], 3).tolist() and one[8] == int(counted[place])
    assert found["scene"] == SCENE_KINDS[held.views[row]] and found["horizon"] == round(float(held.horizons[row]), 3)
    assert np.shape(found["spare"]) == (SPARE, 6) and len(found["lights"]) == synthetic.LIGHTS
    number = held.numbers[row]
    assert found["spare"][2][5] == round(float(hash_uniform(number, 900, 2, 5)[0]), 3)
    assert found["lights"][3] == round(float(hash_uniform(number, 901, 3)[0]), 3)


# -- scenes that are changed -------------------------------------------------------------------------------------------


def row(name, x, y, tall, counted=1, pose=0.5):
    return [name, x, y, tall, 0, 0.3, 0.4, pose, counted]


def content(objects, spare=((0.5, 0.5, 0.2, 0.1, 0.2, 0.3),) * 3, scene="park"):
    return {"scene": scene, "horizon": 0.4, "lights": [], "objects": objects, "spare": [list(one) for one in spare]}


def test_the_last_of_a_class_go_and_what_does_not_count_stays():
    dogs = [row("dog", 50.0 * n, 400.0, 60.0, counted) for n, counted in enumerate((1, 0, 1, 1))]
    held = content([*dogs, row("cup", 5.0, 400.0, 20.0)])
    assert recompose(held, {"dog": 2})["objects"] == [dogs[0], dogs[1], dogs[2], held["objects"][4]]
    assert recompose(held, {"dog": 0, "cup": 1})["objects"] == [dogs[1], held["objects"][4]]
    assert recompose(held, {})["objects"] == held["objects"]
    assert recompose(held, {"dog": 3})["objects"] == held["objects"]
    more = recompose(held, {"dog": 4})["objects"]
    assert more[:5] == held["objects"] and more[5][0] == "dog" and len(more) == 6
    assert recompose(held, {"dog": 5, "cup": 2})["objects"][5:] and recompose(held, {"dog": 5, "cup": 3}) is None
    assert [one[0] for one in recompose(held, {"cup": 2, "dog": 4})["objects"][5:]] == ["cup", "dog"]
    assert recompose(held, {"dog": 2})["spare"] == held["spare"] and recompose(held, {})["scene"] == "park"


def test_a_new_object_stands_on_its_spare_place():
    made = synthetic._new_object("dog", content([]), [0.25, 0.3, 0.6, 0.11, 0.22, 0.33])
    foot, tall = stand("dog", "park", 0.3)
    wide = tall * OBJECT_KINDS["dog"].aspect
    x = wide * 0.4 + 0.25 * (WIDTH - 0.8 * wide)
    assert made == ["dog", round(x, 1), round(foot, 1), round(tall, 1), 0, 0.11, 0.22, 0.33, 1]
    other = synthetic._new_object("cup", content([], scene="table"), [0.9, 0.1, 0.4, 0.5, 0.6, 0.7])
    foot, tall = stand("cup", "table", 0.1)
    assert other[2:5] == [round(foot, 1), round(tall, 1), 1] and other[5:] == [0.5, 0.6, 0.7, 1]


def test_new_objects_take_the_places_where_they_hide_least_each_only_once():
    places = [(0.1, 0.5, 0.2, 0.1, 0.2, 0.3), (0.9, 0.5, 0.2, 0.1, 0.2, 0.3), (0.5, 0.5, 0.2, 0.1, 0.2, 0.3)]
    made = [synthetic._new_object("dog", content([]), list(place)) for place in places]
    crowd = [[*made[0][:1], *made[0][1:]], [*made[1][:1], *made[1][1:]]]
    held = content(crowd, places)
    assert recompose(held, {"dog": 3})["objects"][2] == made[2]  # the others are taken
    empty = recompose(content([], places), {"dog": 3})["objects"]
    assert sorted(one[1] for one in empty) == sorted(one[1] for one in made) and empty[0] == made[0]


def test_the_largest_share_that_is_hidden_decides():
    far, near = row("cup", 100.0, 300.0, 40.0), row("cup", 100.0, 310.0, 40.0)
    wide = 40.0 * OBJECT_KINDS["cup"].aspect
    assert synthetic._box(far) == pytest.approx((100 - wide / 2, 260, 100 + wide / 2, 300))
    assert synthetic._hidden_share(near, []) == 0
    assert synthetic._hidden_share(near, [far]) == pytest.approx(30 / 40)
    assert synthetic._hidden_share(far, [near]) == pytest.approx(30 / 40)
    assert synthetic._hidden_share(far, [near, near]) == pytest.approx(2 * 30 / 40)  # both hide it
    assert synthetic._hidden_share(near, [far, far]) == pytest.approx(30 / 40)  # each is hidden as much
    car, bus = row("car", 0.0, 10.0, 10.0, pose=0.73), row("car", 0.0, 10.0, 10.0, pose=0.72)
    assert synthetic._box(car)[2] == pytest.approx(7.0) and synthetic._box(bus)[2] == pytest.approx(13.0)
    assert synthetic._box(row("dog", 0.0, 10.0, 10.0, pose=0.9))[2] == pytest.approx(7.0)  # it has no front
