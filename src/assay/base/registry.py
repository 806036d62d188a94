"""Registries: tasks, models, metrics and backbones by name.

A registry holds addresses instead of objects, so that listing names imports nothing heavy. Entries come from three
places: the bundled module `filled_by`, installed packages (an entry point group), and files that the user named in this
process (`assay.base.code_files`). An entry point is either an object, `package.module:Object`, or a module that
registers several when it is imported; the bundled ones are the latter.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from assay.base.code_files import CodeFile, LoadedFile, load_file, loaded_files, running_file, split_reference
from assay.base.distribution import import_extra
from assay.base.errors import AssayError, ConfigError, UnknownName, suggestion


@dataclass(frozen=True)
class Entry:
    """A registered name: one line about it, the object itself or its address `module:attribute`, and its own file."""

    name: str
    summary: str
    target: Any
    code: CodeFile | None = field(default=None, kw_only=True)
    """The user's file that it came from, None if it is installed."""

    def load(self) -> Any:
        """Return the object, importing its module if only the address is known."""
        return load_address(self.target, repr(self.name)) if isinstance(self.target, str) else self.target


def load_address(address: str, what: str) -> Any:
    """Return the object at `module:attribute`; a package that is missing is said to be needed for `what`."""
    module, _, attribute = address.partition(":")
    return getattr(import_extra(module, what), attribute)


@dataclass
class Registry:
    """The entries of one kind, by name."""

    kind: str
    filled_by: str | None = None
    """The bundled module that registers more when the registry is first used."""
    group: str | None = None
    """The entry point group by which packages register."""
    base: str | None = None
    """The address of the class that a file's objects are found by: subclasses of it, or instances."""
    registered: dict[str, Entry] = field(default_factory=dict, repr=False)
    installed: set[str] = field(default_factory=set, repr=False)
    """The names that other packages registered."""
    broken: dict[str, str] = field(default_factory=dict, repr=False)
    """Packages that could not register, and why."""
    scanned: bool = field(default=False, repr=False)

    @property
    def entries(self) -> dict[str, Entry]:
        """All entries by name; a file's own win over an installed package's, and never over bundled ones."""
        self.fill()
        self.scan()
        files = loaded_files() if self.base is not None else ()
        if not files:
            return self.registered
        own = {name: entry for loaded in files for name, entry in self.defined_in(loaded).items()}
        return self.registered | {name: entry for name, entry in own.items() if not self._is_bundled(name)}

    def fill(self) -> None:
        """Import the module that registers more, if there is one; a second time costs nothing."""
        if self.filled_by is not None:
            importlib.import_module(self.filled_by)

    def scan(self) -> None:
        """Register what installed packages offer; one that fails is left out, and `broken` says why."""
        if self.scanned or self.group is None:
            return
        self.scanned = True
        from importlib.metadata import entry_points

        for point in entry_points(group=self.group):
            if point.value == self.filled_by:
                continue
            package = point.dist.name if point.dist is not None else point.value.partition(".")[0]
            before = set(self.registered)
            try:
                if (
                    point.name in self.registered
                    and load_address(point.value, repr(point.name)) is self.registered[point.name].load()
                ):
                    self.installed.add(point.name)  # its module was imported before, and registered itself
                elif ":" in point.value:
                    self.add(point.name, f"from the package {package}", point.value)
                else:
                    importlib.import_module(point.value)
            except Exception as error:  # whatever a package may raise: the others shall work
                text = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
                self.broken[f"{package}: {point.name}"] = text
            self.installed |= set(self.registered) - before

    def _is_bundled(self, name: str) -> bool:
        return name in self.registered and name not in self.installed

    def add(self, name: str, summary: str, target: Any) -> None:
        """Register `target`, an object or an address `module:attribute`, under `name`."""
        self.add_entry(Entry(name, summary, target))

    def add_entry(self, entry: Entry) -> None:
        """Register an entry under its name, which must be free; an entry of a user's file is kept with that file."""
        loaded = running_file()
        own = self.registered if loaded is None else loaded.registered.setdefault(self.kind, {})
        existing = own.get(entry.name) or (self.registered.get(entry.name) if self._is_bundled(entry.name) else None)
        if existing is not None and isinstance(existing.target, str) and entry.name in self.installed:
            return  # the module behind an entry point registers itself
        if existing is not None and existing.target is not entry.target and existing.target != entry.target:
            raise UnknownName(f"{self.kind} {entry.name!r} is registered twice; choose another name")
        own[entry.name] = entry if loaded is None else replace(entry, code=loaded.file)

    def defined_in(self, loaded: LoadedFile) -> dict[str, Entry]:
        """Return what a user's file defines of this kind, by its own name."""
        entries: dict[str, Entry] = dict(loaded.registered.get(self.kind, {}))
        if self.base is None:
            return entries
        base = load_address(self.base, self.kind)
        for thing in vars(loaded.module).values():
            if _is_kind(thing, base, loaded.module.__name__):
                entries.setdefault(thing.name, Entry(thing.name, _summary_of(thing), thing, code=loaded.file))
        return entries

    def resolve(self, reference: str) -> str:
        """Return the registered name of a reference: itself, or that of the object in `FILE.py` or `FILE.py:Name`.

        The file is run: a reference comes from the user, never from a dataset, a run or a study file.
        """
        parts = split_reference(reference)
        if parts is None:
            return self.entry(reference).name
        if self.base is None:
            raise ConfigError(f"a {self.kind} cannot be given as a file, as in {reference!r}")
        name = self._choose(load_file(parts[0]), str(parts[0]), parts[1])
        self.fill()
        if self._is_bundled(name):
            raise ConfigError(f"{parts[0]}: assay has a {self.kind} named {name!r}; give yours another name")
        return name

    def _choose(self, loaded: LoadedFile, file: str, wanted: str | None) -> str:
        own = self.defined_in(loaded)
        if wanted is None:
            if len(own) != 1:
                names = ", ".join(own) or "none"
                hint = f"; name one, as in {file}:{next(iter(own))}" if own else ""
                raise ConfigError(f"{file}: expected one {self.kind} in the file, found {names}{hint}")
            return next(iter(own))
        name = wanted if wanted in own else getattr(vars(loaded.module).get(wanted), "name", None)
        if not isinstance(name, str) or name not in own:
            raise UnknownName(f"{file} has no {self.kind} named {wanted!r}{suggestion(wanted, own)}")
        return name

    def find(self, reference: str) -> Any:
        """Return the object of a registered name, `FILE.py` or `FILE.py:Name`; a file is run, as by `resolve`."""
        return self[self.resolve(reference)]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.entries))

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, name: str) -> Entry:
        """Return the entry of `name`; no file is run."""
        known = self.entries
        if name not in known:
            raise UnknownName(f"no {self.kind} named {name!r}{suggestion(name, known)}")
        return known[name]

    def describe(self, name: str) -> str:
        """Return the line about a name; that of a package's object is asked of the object, which is imported."""
        entry = self.entry(name)
        foreign = name in self.installed and entry.code is None and isinstance(entry.target, str)
        return _summary_of(entry.load()) if foreign else entry.summary

    def __getitem__(self, name: str) -> Any:
        return self.entry(name).load()


def _summary_of(thing: Any) -> str:
    """Return the first line about a class, by its docstring, or about an object that has a summary."""
    about = thing.__doc__ if isinstance(thing, type) else thing.summary
    return str(about or thing.name).strip().splitlines()[0]


def _is_kind(thing: Any, base: type, module: str) -> bool:
    """Return whether a module's attribute is a class of its own below `base` that can be built, or an object of it."""
    if not isinstance(thing, type):
        return isinstance(thing, base)
    whole = isinstance(getattr(thing, "name", None), str) and not getattr(thing, "__abstractmethods__", None)
    return issubclass(thing, base) and thing.__module__ == module and whole
