"""A picture of a world, and the layout that all pictures of a task share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.base import Array, DataError


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels: left and top inside, right and bottom outside."""

    left: int
    top: int
    right: int
    bottom: int

    def crop(self, image: Array) -> Array:
        """Return this part of an image."""
        part: Array = image[self.top : self.bottom, self.left : self.right]
        return part


@dataclass(frozen=True)
class ObjectBox:
    """An object in a picture: its name, such as a slot's, and the box around what is seen of it."""

    name: str
    box: Box


NO_IMAGE: Array = np.zeros((0, 0), dtype=np.uint8)


@dataclass(frozen=True)
class Picture:
    """How a world looks, in as many modalities as its task has.

    `image`       bytes, height x width for grey and height x width x 3 for colour
    `things`      the objects in it, with their boxes, and after them their parts, named "object/part"
    `instances`   for each pixel which object it shows: 1 for the first of `things`, and so on, 0 for none
    `parts`       for each pixel which part of an object it shows, numbered in the same way, 0 for none
    `depth`       for each pixel how far away it is, in 65,535ths of the task's farthest
    `text`        the world in words, or as a table in one line
    """

    image: Array = field(default_factory=lambda: NO_IMAGE)
    things: tuple[ObjectBox, ...] = ()
    instances: Array | None = None
    parts: Array | None = None
    depth: Array | None = None
    text: str = ""


def boxes_of(instances: Array, names: Sequence[str]) -> tuple[ObjectBox, ...]:
    """Return the objects of an instance map with the boxes around their pixels; one that is hidden has an empty box.

    >>> boxes_of(np.array([[0, 2], [0, 2]]), ["car1", "car2"])[1]
    ObjectBox(name='car2', box=Box(left=1, top=0, right=2, bottom=2))
    """
    objects = []
    for number, name in enumerate(names, start=1):
        rows, columns = (
            np.nonzero((instances == number).any(axis=1))[0],
            np.nonzero((instances == number).any(axis=0))[0],
        )
        ends = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1) if len(rows) else (0, 0, 0, 0)
        objects.append(ObjectBox(name, Box(*map(int, ends))))
    return tuple(objects)


@dataclass(frozen=True)
class Layout:
    """The size of the pictures, and the part of each that shows a concept, where that part is always the same.

    An encoder that reads concepts one by one looks at the regions; without regions it looks at the whole picture.
    """

    width: int
    height: int
    channels: int = 1
    regions: Mapping[str, Box] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as plain data."""
        boxes = {name: [box.left, box.top, box.right, box.bottom] for name, box in self.regions.items()}
        return {"width": self.width, "height": self.height, "channels": self.channels, "regions": boxes}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Layout":
        """Return the layout that `to_dict` wrote."""
        try:
            boxes = {name: Box(*map(int, corners)) for name, corners in data["regions"].items()}
            return cls(int(data["width"]), int(data["height"]), int(data["channels"]), boxes)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"a layout is not in the form that assay writes: {error!r}") from None
