"""A picture of a world, and the layout that all pictures of a task share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.arrays import Array


@dataclass(frozen=True)
class Picture:
    """An image of bytes, height x width for grey and height x width x 3 for colour."""

    image: Array


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels: left and top inside, right and bottom outside."""

    left: int
    top: int
    right: int
    bottom: int

    def cut(self, image: Array) -> Array:
        """Return this part of an image."""
        part: Array = image[self.top : self.bottom, self.left : self.right]
        return part


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
        boxes = {name: Box(*corners) for name, corners in data["regions"].items()}
        return cls(data["width"], data["height"], data["channels"], boxes)
