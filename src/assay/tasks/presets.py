"""Presets: tasks that are another task with other defaults, declared by name instead of written as classes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from assay.registry import Entry, Registry

if TYPE_CHECKING:
    from assay.tasks.base import Task


@dataclass(frozen=True)
class Preset(Entry):
    """A task that is another one, registered as `target`, but for defaults of settings and facts of its class."""

    defaults: Mapping[str, Any]
    facts: Mapping[str, Any]
    registry: Registry = field(repr=False, compare=False)

    def load(self) -> type["Task"]:
        """Return the class, which is built when it is first asked for."""
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
        own = {"name": self.name, "Config": config, "__module__": base.__module__, **self.facts}
        return type(title, (base,), own)
