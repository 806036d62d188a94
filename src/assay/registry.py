"""Registries: tasks, models, metrics and backbones by name.

A registry holds addresses instead of objects, so that listing names imports nothing heavy. It can name a module that
registers more when the registry is first used, so that entries may live in a higher layer than their registry.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from assay.distribution import import_extra
from assay.errors import UnknownName, suggestion


@dataclass(frozen=True)
class Entry:
    """A registered name: one line about it, and the object itself or its address `module:attribute`."""

    name: str
    summary: str
    target: Any

    def load(self) -> Any:
        """Return the object, importing its module if only the address is known."""
        if not isinstance(self.target, str):
            return self.target
        module, _, attribute = self.target.partition(":")
        return getattr(import_extra(module, repr(self.name)), attribute)


@dataclass
class Registry:
    """The entries of one kind, by name; importing the module `filled_by` registers more of them."""

    kind: str
    filled_by: str | None = None
    registered: dict[str, Entry] = field(default_factory=dict, repr=False)

    @property
    def entries(self) -> dict[str, Entry]:
        """All entries by name."""
        self.fill()
        return self.registered

    def fill(self) -> None:
        """Import the module that registers more, if there is one; a second time costs nothing."""
        if self.filled_by is not None:
            importlib.import_module(self.filled_by)

    def add(self, name: str, summary: str, target: Any) -> None:
        """Register `target`, an object or an address `module:attribute`, under `name`."""
        self.add_entry(Entry(name, summary, target))

    def add_entry(self, entry: Entry) -> None:
        """Register an entry under its name, which must be free."""
        existing = self.registered.get(entry.name)
        if existing is not None and existing.target is not entry.target and existing.target != entry.target:
            raise UnknownName(f"{self.kind} {entry.name!r} is registered twice; choose another name")
        self.registered[entry.name] = entry

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.entries))

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, name: str) -> Entry:
        """Return the entry of `name`."""
        if name not in self.entries:
            raise UnknownName(f"no {self.kind} named {name!r}{suggestion(name, self.entries)}")
        return self.entries[name]

    def __getitem__(self, name: str) -> Any:
        return self.entry(name).load()
