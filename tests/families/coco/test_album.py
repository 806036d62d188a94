"""Albums made by hand: what counts, which images can be used, pools, and albums joined; and worlds chosen from one."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.errors import ConfigError, DataError
from assay.families.coco.album import Album, AnnotationFilter, hold_out_test, identifier, join_albums
from assay.families.photos.source import ChosenSource
from assay.worlds import Split


def album(**columns):
    """Four images of unlike sizes, the third without any object; six objects of three classes."""
    usual = {
        "files": ("a.png", "b.png", "c.png", "d.png"),
        "sizes": np.array([[10.0, 20.0], [40.0, 10.0], [5.0, 5.0], [100.0, 50.0]]),
        "parts": np.array([0, 1, 0, 1]),
        "categories": ("dog", "cat", "cup"),
        "owners": np.array([0, 0, 0, 1, 3, 3]),
        "classes": np.array([0, 2, 0, 1, 2, 0]),
        "boxes": np.array([[0, 0, 4, 5], [1, 1, 2, 8], [0, 0, 10, 2], [0, 0, 8, 5], [3, 3, 20, 10], [0, 0, 0, 7.0]]),
        "areas": np.array([20.0, 4.0, 10.0, 20.0, 50.0, 2.0]),
        "crowds": np.array([False, True, False, False, False, True]),
    }
    return Album(**{**usual, **columns})


SHARES = [20 / 200, 4 / 200, 10 / 200, 20 / 400, 50 / 5000, 2 / 5000]


def test_objects_of_an_image_their_shares_of_it_and_of_their_boxes():
    held = album()
    assert len(held) == 4
    assert [list(held.objects_of(number)) for number in range(4)] == [[0, 1, 2], [3], [], [4, 5]]
    assert held.shares.tolist() == pytest.approx(SHARES)
    assert held.fills[:5].tolist() == pytest.approx([1.0, 0.25, 0.5, 0.5, 0.25]) and held.fills[5] > 1e6
    assert album(sizes=np.zeros((4, 2))).shares.tolist() == [20, 4, 10, 20, 50, 2]


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ({}, [1, 1, 1, 1, 1, 1]),
        ({"crowds": "ignore"}, [1, 0, 1, 1, 1, 0]),
        ({"crowds": "drop"}, [1, 1, 1, 1, 1, 1]),  # their images are left out instead
        ({"least_area": 0.05}, [1, 0, 1, 1, 0, 0]),  # just as large is large enough
        ({"least_area": 0.051}, [1, 0, 0, 0, 0, 0]),
        ({"least_area": 0.01, "crowds": "ignore", "tiny": "drop"}, [1, 0, 1, 1, 1, 0]),
    ],
)
def test_what_counts_as_an_object(asked, counted):
    wanted = AnnotationFilter(**asked)
    assert album().is_counted(wanted).astype(int).tolist() == counted
    held = album()
    for names in (("dog", "cat", "cup"), ("cup", "dog"), ("cat", "none", "dog")):
        by_hand = np.zeros((4, len(names)), dtype=int)
        for owner, kind, counts in zip(held.owners, held.classes, counted, strict=True):
            name = held.categories[kind]
            if counts and name in names:
                by_hand[owner, names.index(name)] += 1
        assert (held.counts(names, wanted) == by_hand).all()


@pytest.mark.parametrize(
    ("asked", "dogs", "cups"),
    [
        ({}, [1, 1, 1, 1], [1, 1, 1, 1]),
        ({"crowds": "drop"}, [1, 1, 1, 0], [0, 1, 1, 1]),
        ({"crowds": "ignore", "least_area": 0.06}, [1, 1, 1, 1], [1, 1, 1, 1]),
        ({"least_area": 0.06, "tiny": "drop"}, [0, 1, 1, 0], [0, 1, 1, 0]),
        ({"least_area": 0.05, "tiny": "drop"}, [1, 1, 1, 0], [0, 1, 1, 0]),
        ({"clear_area": 0.01}, [1, 1, 1, 0], [0, 1, 1, 1]),  # at the limit is enough; a crowd never is
        ({"clear_area": 0.0101}, [1, 1, 1, 0], [0, 1, 1, 0]),
        ({"clear_fill": 0.5}, [1, 1, 1, 0], [0, 1, 1, 0]),
        ({"clear_fill": 0.25}, [1, 1, 1, 0], [0, 1, 1, 1]),
        ({"clear_fill": 0.51}, [0, 1, 1, 0], [0, 1, 1, 0]),
        ({"clear_area": 0.06, "clear_fill": 0.0}, [0, 1, 1, 0], [0, 1, 1, 0]),
    ],
)
def test_images_that_some_object_of_ours_speaks_against_are_not_used(asked, dogs, cups):
    held, wanted = album(), AnnotationFilter(**asked)
    assert held.usable_images(("dog",), wanted).astype(int).tolist() == dogs
    assert held.usable_images(("cup",), wanted).astype(int).tolist() == cups
    both = [one & other for one, other in zip(dogs, cups, strict=True)]
    assert held.usable_images(("dog", "cup"), wanted).astype(int).tolist() == both
    assert held.usable_images((), wanted).all()


def many(count, parts=None):
    """So many images without objects."""
    empty = np.zeros(0, dtype=np.int64)
    return album(
        files=tuple(f"{number:03d}.jpg" for number in range(count)),
        sizes=np.ones((count, 2)),
        parts=np.zeros(count, dtype=np.int64) if parts is None else parts,
        owners=empty, classes=empty, boxes=np.zeros((0, 4)), areas=np.zeros(0), crowds=empty.astype(bool),
    )  # fmt: skip


def test_pools_are_sorted_shares_of_each_part_to_the_nearest_image():
    parts = np.arange(30) % 3 == 0
    held = many(30, parts.astype(np.int64))  # 20 for training, 10 for testing
    pools = held.pools(0.13, 0.27)
    assert {name: len(numbers) for name, numbers in pools.items()} == {"train": 17, "valid": 3, "test": 7, "hard": 3}
    assert list(pools) == ["train", "valid", "test", "hard"]
    for names, part in ((("train", "valid"), 0), (("test", "hard"), 1)):
        numbers = np.concatenate([pools[name] for name in names])
        assert sorted(numbers.tolist()) == np.flatnonzero(parts == part).tolist()
    assert all((np.diff(numbers) > 0).all() for numbers in pools.values())
    assert pools["valid"].tolist() != np.flatnonzero(~parts)[:3].tolist()


def test_pools_depend_on_the_names_of_images_and_not_on_their_order():
    parts = (np.arange(30) % 3 == 0).astype(np.int64)
    one = many(30, parts)
    back = many(30, parts[::-1].copy())
    back = Album(**{**{name: getattr(back, name) for name in Album.__dataclass_fields__}, "files": one.files[::-1]})
    for name, numbers in one.pools(0.2, 0.5).items():
        assert {one.files[n] for n in numbers} == {back.files[n] for n in back.pools(0.2, 0.5)[name]}
    assert set(one.pools(0.1, 0.1)["valid"].tolist()) <= set(one.pools(0.3, 0.1)["valid"].tolist())


def test_a_share_of_the_images_is_held_out_by_name():
    held = hold_out_test(many(30), 0.25)
    assert held.parts.sum() == 8 and set(held.parts.tolist()) == {0, 1}  # 7.5, to the nearest even number
    assert hold_out_test(many(31), 0.25).parts.sum() == 8 and hold_out_test(many(27), 0.25).parts.sum() == 7
    assert held.parts[:8].sum() < 8 and held.files == many(30).files
    again = hold_out_test(many(30), 0.5)
    assert (again.parts >= held.parts).all()


def test_two_albums_become_one_the_second_for_testing():
    first = album()
    second = album(
        files=("x.png", "y.png"),
        sizes=np.array([[7.0, 8.0], [9.0, 10.0]]),
        parts=np.array([0, 0]),
        categories=("cup", "bird", "dog"),
        owners=np.array([0, 1, 1]),
        classes=np.array([2, 0, 1]),
        boxes=np.arange(12.0).reshape(3, 4),
        areas=np.array([1.0, 2.0, 3.0]),
        crowds=np.array([True, False, True]),
    )
    both = join_albums(first, second)
    assert both.files == ("a.png", "b.png", "c.png", "d.png", "x.png", "y.png")
    assert both.parts.tolist() == [0, 0, 0, 0, 1, 1] and both.categories == ("dog", "cat", "cup", "bird")
    assert both.owners.tolist() == [0, 0, 0, 1, 3, 3, 4, 5, 5]
    names = [both.categories[kind] for kind in both.classes]
    assert names == ["dog", "cup", "dog", "cat", "cup", "dog", "dog", "cup", "bird"]
    assert both.sizes[-2:].tolist() == [[7, 8], [9, 10]] and both.boxes[-3:].tolist() == second.boxes.tolist()
    assert both.areas.tolist() == [20, 4, 10, 20, 50, 2, 1, 2, 3]
    assert both.crowds.tolist() == [False, True, False, False, False, True, True, False, True]
    turned = join_albums(second, first)
    assert turned.categories == ("cup", "bird", "dog", "cat")
    assert [turned.categories[kind] for kind in turned.classes] == names[6:] + names[:6]
    with pytest.raises(DataError, match=r"image 'b.png' is annotated for training and for testing"):
        join_albums(first, album(files=("z.png", "d.png", "b.png", "w.png")))


def test_names_of_categories_can_stand_in_formulas():
    assert [identifier(name) for name in (" traffic  light ", "3d-glasses", "dog", "a/b")] == [
        "traffic_light", "_3d_glasses", "dog", "a_b",
    ]  # fmt: skip


# -- worlds that are chosen --------------------------------------------------------------------------------------------

SPACE = ConceptSpace((Concept("dog", (0, 1, 2)), Concept("cup", (0, 1, 2))))
CODES = np.array([[0, 0], [1, 2], [2, 0], [1, 1], [0, 2]])


def chosen(rows, size=3):
    split = Split("test", size)
    return ChosenSource(split, SPACE, CODES, lambda number: {"image": f"{number}.png"}, np.array(rows))


def test_worlds_are_the_images_at_their_places():
    held = chosen([4, 1, 3])
    assert held.total == 3 and held.codes(np.array([2, 0])).tolist() == [[1, 1], [0, 2]]
    worlds = held.worlds(np.array([1, 1, 2, 0]))
    assert [world.codes for world in worlds] == [(1, 2), (1, 2), (1, 1), (0, 2)]
    assert [world.style["image"] for world in worlds] == ["1.png", "1.png", "3.png", "4.png"]
    assert all(world.space is SPACE for world in worlds)
    assert held.contains(np.array([[0, 2], [0, 0], [2, 0], [1, 1], [1, 2], [2, 1]])).tolist() == [
        True, False, False, True, True, False,
    ]  # fmt: skip
    assert chosen([4, 1, 3, 0]).total == 4


def test_fewer_images_than_wanted_are_refused():
    assert chosen([4, 1, 3]).split.size == 3
    with pytest.raises(ConfigError, match=r"^split 'test': 3 images are wanted, there are 2$"):
        chosen([4, 1])
