"""Which tests reach which lines: the tests of a folder, run once while every line is noted.

Lines that run while a shared fixture is set up belong to all tests that use it.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coverage import Coverage

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "assay"
SHARED = "shared fixture "
"""What stands before the name of a fixture that several tests use."""


@dataclass
class Reach:
    """For each file and line the tests that reach it, and how many seconds each test takes."""

    lines: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def tests(self, file: str, line: int) -> list[str]:
        """Return the tests that reach a line, the quickest first."""
        found = self.lines.get(file, {}).get(str(line), [])
        return sorted(found, key=lambda test: self.seconds.get(test, 0.0))

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Reach":
        """Read what `save` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))


class Noting:
    """A plugin of pytest that tells coverage which test, or which shared fixture, is running."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.now = ""
        self.users: dict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = defaultdict(float)

    def switch(self, context: str) -> str:
        """Note what is running from here on, and return what was."""
        before, self.now = self.now, context
        self.coverage.switch_context(context)
        return before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Note the test, without its case."""
        name, began = _name(item), time.perf_counter()
        for fixture, definitions in item._fixtureinfo.name2fixturedefs.items():
            self.users[f"{SHARED}{definitions[0].baseid} {fixture}"].add(name)
        before = self.switch(name)
        try:
            return (yield)
        finally:
            self.switch(before)
            self.seconds[name] += time.perf_counter() - began

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note a fixture that is set up once for several tests."""
        shared = f"{SHARED}{fixturedef.baseid} {fixturedef.argname}"
        before = self.switch(self.now if fixturedef.scope == "function" else shared)
        try:
            return (yield)
        finally:
            self.switch(before)


def _name(item: Any) -> str:
    return str(item.nodeid).partition("[")[0]


def reach_of(tests: Sequence[str]) -> Reach:
    """Run these files or folders of tests, and return which lines each test reaches."""
    coverage = Coverage(data_file=None, source=[str(SOURCES)], config_file=False)
    noting = Noting(coverage)
    coverage.start()
    try:
        pytest.main(["-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow", *tests], plugins=[noting])
    finally:
        coverage.stop()
    data, lines = coverage.get_data(), dict[str, dict[str, list[str]]]()
    for path in data.measured_files():
        reached = {line: _tests(contexts, noting) for line, contexts in data.contexts_by_lineno(path).items()}
        file = str(Path(path).relative_to(SOURCES))
        lines[file] = {str(line): found for line, found in reached.items() if found}
    return Reach(lines, dict(noting.seconds))


def _tests(contexts: Sequence[str], noting: Noting) -> list[str]:
    found = {name for context in contexts for name in noting.users.get(context, {context})}
    return sorted(found - {""})


if __name__ == "__main__":
    reach_of(sys.argv[2:]).save(Path(sys.argv[1]))
