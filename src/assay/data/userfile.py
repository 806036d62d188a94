"""Tasks that a user wrote in a Python file of their own."""

import importlib.util
import sys
from pathlib import Path

from assay.errors import ConfigError
from assay.seeds import digest
from assay.tasks.base import Task


def load_tasks(path: Path) -> list[type[Task]]:
    """Run a Python file and return the task classes that it defines."""
    if not path.is_file():
        raise ConfigError(f"no file {str(path)!r}")
    name = f"assay_user_{digest(str(path.resolve())).hex()}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ConfigError(f"{path.name} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise ConfigError(f"{path.name} cannot be run: {type(error).__name__}: {error}") from error
    things = vars(sys.modules[name]).values()
    return [thing for thing in things if isinstance(thing, type) and issubclass(thing, Task) and _own(thing, name)]


def _own(task: type[Task], module: str) -> bool:
    return task.__module__ == module and hasattr(task, "name") and not getattr(task, "__abstractmethods__", None)
