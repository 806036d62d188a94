"""Families of tasks, each in a folder of its own: tasks, rules, settings, worlds, pictures, files of other programs.

The `__init__` of a family registers its tasks, exports and flags by address, so that nothing heavy is imported; its
line here is all that the rest knows of it.
"""

from importlib import import_module

FAMILIES = (
    "digits",
    "kandinsky",
    "robots",
    "sudoku",
    "coco",
    "clevr",
    "driving",
    "trains",
    "chess",
    "raven",
    "bongard",
)
SHARED = ("handwriting", "photos", "rsbench")
"""Folders that are no family, but what several of them share."""

for folder in (*SHARED, *FAMILIES):
    import_module(f"{__name__}.{folder}")
