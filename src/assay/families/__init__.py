"""Families of tasks, each in a folder of its own with all that it needs: tasks, rules, settings, worlds, pictures, files.

A family's `__init__` registers its tasks, its exports and its flags by address, so that nothing heavy is imported. A line
here is all that the rest knows of it. `handwriting` and `photos` are no families, but what several of them share.
"""

from importlib import import_module

FAMILIES: tuple[str, ...] = ()

for family in FAMILIES:
    import_module(f"{__name__}.{family}")
