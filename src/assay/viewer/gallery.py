"""A page for each registered task: its facts, its concepts and rule, its settings, and pictures of its first worlds."""

import sys
from functools import cache
from typing import Any

import numpy as np

from assay.base import describe_settings
from assay.render import Picture, encode_png
from assay.tasks import TASKS, Task
from assay.viewer.pictures import address

EXAMPLES = 8


def list_tasks() -> list[dict[str, str]]:
    """Return the registered tasks, a line each."""
    return [{"name": name, "summary": TASKS.entry(name).summary} for name in TASKS]


@cache
def task_picture(name: str) -> dict[str, Any]:
    """Return the picture of a task's first world, or its text."""
    task: Task = TASKS[name]()
    split = task.splits()[0]
    world = task.worlds_in(split, 0).worlds(np.arange(1))[0]
    picture = task.render(world)
    return {"image": address(encode_png(picture.image)) if picture.image.size else None, "text": picture.text}


@cache
def task_page(name: str) -> dict[str, Any]:
    """Return all about a task, with pictures."""
    task: Task = TASKS[name]()
    split = task.splits()[0]
    worlds = task.worlds_in(split, 0).worlds(np.arange(min(EXAMPLES, split.size)))
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
