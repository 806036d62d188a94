"""Pictures for the page: masks as coloured film, depth as grey, pictures inside of answers.

Each registered task has a page: its facts, its concepts and rule, its settings, and pictures of its first worlds.
"""

import base64
import colorsys
import io
import sys
from functools import cache
from typing import Any

import numpy as np

from assay.base import Array, describe_settings
from assay.dataset import decode
from assay.render import Picture, encode_png
from assay.tasks import TASKS, Task

FILM = 150
"""How much of a picture a mask covers, of 255."""
TURN = 0.618
"""How far apart on the colour wheel neighbouring numbers lie, so that they can be distinguished."""
EXAMPLES = 8


def film(numbers: Array) -> bytes:
    """Return a map of object numbers as a PNG with a colour for each object, clear where there is none."""
    from PIL import Image

    most = int(numbers.max(initial=0))
    palette = np.zeros((most + 1, 4), dtype=np.uint8)
    for number in range(1, most + 1):
        colour = colorsys.hls_to_rgb((number * TURN) % 1, 0.55, 0.9)
        palette[number] = (*(round(255 * part) for part in colour), FILM)
    out = io.BytesIO()
    Image.fromarray(palette[numbers], "RGBA").save(out, "PNG")
    return out.getvalue()


def nearness(depth: Array) -> bytes:
    """Return a depth map as a grey PNG: the nearest is white, the farthest black.

    >>> decode(nearness(np.array([[0, 50], [100, 100]], dtype=np.uint16))).ravel().tolist()
    [255, 127, 0, 0]
    """
    near, far = int(depth.min()), int(depth.max())
    grey = 255 - np.round((depth.astype(np.float64) - near) * 255 / max(far - near, 1))
    return encode_png(grey.astype(np.uint8))


def to_displayable(column: str, data: bytes) -> bytes:
    """Return an image, mask or depth column as a PNG that a page can show."""
    if column == "image":
        return data
    numbers = decode(data)[:, :, 0]
    return nearness(numbers) if column == "depth" else film(numbers)


def address(data: bytes) -> str:
    """Return a PNG as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def picture_to_dict(picture: Picture, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return a picture as plain data, in the modalities that the dataset has."""
    maps = {"instances": film, "parts": film, "depth": nearness, "image": encode_png}
    pictures = {name: address(make(getattr(picture, name))) for name, make in maps.items() if name in columns}
    boxes = [
        {"name": x.name, "left": x.box.left, "top": x.box.top, "right": x.box.right, "bottom": x.box.bottom}
        for x in picture.things
    ]
    return {
        "pictures": pictures,
        "things": boxes if "things" in columns else [],
        "text": picture.text if "text" in columns else None,
    }


def list_tasks() -> list[dict[str, str]]:
    """Return the registered tasks, a line each."""
    return [{"name": name, "summary": TASKS.entry(name).summary} for name in TASKS]


@cache
def task_picture(name: str) -> dict[str, Any]:
    """Return the picture of a task's first world, or its text."""
    task: Task = TASKS[name]()
    split = task.splits()[0]
    world = task.source_for(split, 0).worlds(np.arange(1))[0]
    picture = task.render(world)
    return {"image": address(encode_png(picture.image)) if picture.image.size else None, "text": picture.text}


@cache
def task_page(name: str) -> dict[str, Any]:
    """Return all about a task, with pictures."""
    task: Task = TASKS[name]()
    split = task.splits()[0]
    worlds = task.source_for(split, 0).worlds(np.arange(min(EXAMPLES, split.size)))
    codes = np.array([world.codes for world in worlds], dtype=np.int64)
    labels = task.knowledge.labels_of(codes).tolist()
    pictures = task.render_all(worlds)
    return {
        "name": name,
        "version": task.version,
        "summary": TASKS.describe(name),
        "about": (sys.modules[type(task).__module__].__doc__ or "").strip(),
        "knowledge": task.knowledge.to_dict(),
        "layout": task.layout.to_dict(),
        "splits": [{"name": split.name, "size": split.size} for split in task.splits()],
        "settings": [
            {"name": key, "default": str(setting["default"]), "help": setting["help"]}
            for key, setting in describe_settings(type(task.config)).items()
        ],
        "examples": [_example(*example) for example in zip(pictures, labels, strict=True)],
    }


def _example(picture: Picture, labels: list[int]) -> dict[str, Any]:
    return {
        "image": address(encode_png(picture.image)) if picture.image.size else None,
        "text": picture.text,
        "labels": labels,
    }
