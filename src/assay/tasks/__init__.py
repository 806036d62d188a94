"""Tasks by name. A task declares its concepts and its rule once, draws styles, and renders worlds."""

from collections.abc import Mapping
from typing import Any

from assay.registry import Registry
from assay.tasks.presets import Preset


class TaskRegistry(Registry):
    """The tasks, those that are other tasks with other defaults, and what tasks read from a user's disk."""

    def __init__(self, filled_by: str | None = None) -> None:
        super().__init__("task", filled_by)
        self._sources: dict[str, str] = {}

    def preset(
        self,
        name: str,
        summary: str,
        base: str,
        about: str,
        trial: Mapping[str, Any] | None = None,
        seconds: float | None = None,
        **defaults: Any,
    ) -> None:
        """Register as `name` the task `base` with other defaults, and where they differ its `trial` and `seconds`."""
        facts = {"__doc__": about, "trial": trial, "seconds": seconds}
        changed = {key: value for key, value in facts.items() if value is not None}
        self.add_entry(Preset(name, summary, base, defaults, changed, self))

    def source(self, setting: str, about: str) -> None:
        """Declare a setting of tasks that names a file or folder of source images; `assay make` has a flag for it."""
        self._sources[setting] = about

    @property
    def sources(self) -> Mapping[str, str]:
        """The settings that name source images, each with what it wants."""
        self.fill()
        return self._sources


TASKS = TaskRegistry(filled_by="assay.families")
"""Filled by the families, each of which registers its own tasks."""
