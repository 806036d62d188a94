"""Tasks by name. A task declares its concepts and its rule once, draws styles, and renders worlds.

A preset is another task with other defaults, registered by name instead of written as a class.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from assay.base import RECORD, Entry, Registry

if TYPE_CHECKING:
    from assay.tasks.base import Task


@dataclass(frozen=True)
class Preset(Entry):
    """A task that is another one, registered as `target`, but for defaults of settings and facts of its class."""

    defaults: Mapping[str, Any]
    facts: Mapping[str, Any]
    registry: Registry = field(repr=False, compare=False)

    def load(self) -> type["Task"]:
        """Return the class, which is built at its first use."""
        return self.task

    @cached_property
    def task(self) -> type["Task"]:
        """A class below that of the other task, with a `Config` below the other's."""
        from pydantic import Field, create_model  # only where the task is asked for

        base: type[Task] = self.registry[self.target]
        title = "".join(part.capitalize() for part in self.name.split("-"))
        known = {key: base.Config.model_fields[key] for key in self.defaults}
        fields: dict[str, Any] = {
            key: (Annotated[info.annotation, *info.metadata, Field(exclude=info.exclude)], self.defaults[key])
            for key, info in known.items()
        }
        config = create_model(f"{title}Config", __base__=base.Config, __module__=base.__module__, **fields)
        own = {"name": self.name, "Config": config, "__module__": base.__module__, RECORD: self.code, **self.facts}
        return type(title, (base,), own)


class TaskRegistry(Registry):
    """The tasks, those that are other tasks with other defaults, and what tasks read from a user's disk."""

    def __init__(self, filled_by: str | None = None, group: str | None = None) -> None:
        super().__init__("task", filled_by, group, "assay.tasks.base:Task")
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
        """The settings that name source images, each with what it wants; no package is looked for, so it is fast."""
        self.fill()
        return self._sources


TASKS = TaskRegistry(filled_by="assay.families", group="assay.tasks")
"""Filled by the families, each of which registers its own tasks, and by installed packages."""
