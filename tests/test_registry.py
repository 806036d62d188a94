"""A registry finds things by name, loads them late, and says what it has."""

import importlib.metadata
import sys
from types import ModuleType, SimpleNamespace

import pytest

from assay import registry as registries
from assay.errors import AssayError, RunFailed, UnknownName
from assay.registry import Entry, Registry


def filled():
    registry = Registry("metric")
    registry.add("collapse", "how many values are never predicted", "colorsys:rgb_to_hls")
    registry.add("accuracy", "how often it is right", len)
    return registry


def test_names_come_in_order_and_can_be_asked_for():
    registry = filled()
    assert list(registry) == ["accuracy", "collapse"] and len(registry) == 2
    assert "collapse" in registry and "colapse" not in registry
    assert registry.entry("accuracy").summary == "how often it is right" and registry["accuracy"] is len


def test_listing_imports_nothing_and_asking_imports_the_module():
    sys.modules.pop("colorsys", None)
    registry = filled()
    assert list(registry) and registry.entry("collapse").target and "colorsys" not in sys.modules
    assert registry["collapse"].__name__ == "rgb_to_hls" and "colorsys" in sys.modules


def test_a_near_miss_is_named_and_a_far_one_gets_the_list():
    with pytest.raises(UnknownName, match=r"^no metric named 'colapse'; did you mean 'collapse'\?$"):
        filled()["colapse"]
    with pytest.raises(UnknownName, match=r"^no metric named 'x'; there is: accuracy, collapse$"):
        filled()["x"]
    with pytest.raises(UnknownName, match=r"^no task named 'x'; there is none$"):
        Registry("task")["x"]


def test_a_name_is_taken_once():
    registry = filled()
    registry.add("accuracy", "the same once more", len)
    with pytest.raises(UnknownName, match="registered twice"):
        registry.add("accuracy", "another thing", max)
    assert registry["accuracy"] is len


def test_errors_end_the_command_line_with_2_and_failed_runs_with_1():
    assert issubclass(UnknownName, AssayError) and (AssayError.exit_code, RunFailed.exit_code) == (2, 1)


class Counted:
    """A thing with a docstring
    of two lines."""

    name = "counted"
    summary = "not this"


class Bare:
    name = "bare"


@pytest.fixture
def offered(monkeypatch):
    """Return a function that makes a registry with these entry points, and what it asked the system for."""
    asked = []

    def made(*points, **how):
        def entry_points(group):
            asked.append(group)
            return [
                SimpleNamespace(name=name, value=value, dist=dist and SimpleNamespace(name=dist))
                for name, value, dist in points
            ]

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        return Registry("thing", group="things", **how)

    return made, asked


def test_packages_are_asked_once_and_only_where_there_is_a_group(offered):
    make, asked = offered
    registry = make(("root", "math:sqrt", "numbers"))
    assert asked == [] and list(registry) == ["root"] and "root" in registry and len(registry) == 1
    assert asked == ["things"] and registry.scanned
    assert list(Registry("thing")) == [] and asked == ["things"]


def test_what_went_wrong_with_a_package_is_kept_in_words(offered):
    make, _ = offered
    registry = make(
        ("bad", "no_such.module.at_all", None),
        ("worse", "math:no_such_function", "numbers"),
        ("taken", "math:cos", "numbers"),
    )
    registry.add("taken", "ours", max)
    assert list(registry) == ["taken", "worse"] and registry["taken"] is max
    assert registry.broken == {
        "no_such: bad": "ModuleNotFoundError: No module named 'no_such'",
        "numbers: taken": "thing 'taken' is registered twice; choose another name",
    }
    assert registry.installed == {"worse"} and not registry._is_bundled("worse") and registry._is_bundled("taken")


def test_a_module_that_registers_several_counts_as_installed(offered, monkeypatch, tmp_path):
    make, _ = offered
    (tmp_path / "several_things.py").write_text(
        "import holder\nfor name in 'ab':\n    holder.registry.add(name, name.upper(), len)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = make(("any", "several_things", "theirs"), ("own", "bundled_things", "assay"), filled_by="bundled_things")
    holder, bundled = ModuleType("holder"), ModuleType("bundled_things")
    holder.registry = registry
    monkeypatch.setitem(sys.modules, "holder", holder)
    monkeypatch.setitem(sys.modules, "bundled_things", bundled)
    registry.add("ours", "O", max)
    assert list(registry) == ["a", "b", "ours"] and registry.installed == {"a", "b"} and registry.broken == {}
    assert registry.describe("a") == "A"  # it is no address: the line that was given holds
    sys.modules.pop("several_things")


def test_things_are_described_by_their_first_line():
    assert registries._summary_of(Counted) == "A thing with a docstring" and registries._summary_of(Bare) == "bare"
    assert (
        registries._summary_of(Counted()) == "not this"
        and registries._summary_of(SimpleNamespace(summary=" \n x\ny")) == "x"
    )
    entry = Entry("e", "s", "collections:OrderedDict")
    assert entry.load().__name__ == "OrderedDict" and Entry("e", "s", 3).load() == 3 and entry.code is None


def test_the_module_behind_an_entry_point_may_register_itself_and_nobody_else():
    registry = Registry("thing")
    registry.add("a", "from the package x", "math:sqrt")
    registry.installed.add("a")
    registry.add("a", "by itself", len)
    assert registry.entry("a").target == "math:sqrt"
    registry.add("b", "ours", "math:sqrt")
    registry.add("b", "the same", "math:sqrt")
    assert registry.entry("b").summary == "the same"
    with pytest.raises(UnknownName, match="thing 'b' is registered twice"):
        registry.add("b", "another", "math:cos")


def test_a_name_that_a_package_registered_itself_is_taken_too():
    registry = Registry("thing")
    registry.add("a", "by itself", len)
    registry.installed.add("a")
    registry.add("a", "the same", len)
    with pytest.raises(UnknownName, match="^thing 'a' is registered twice; choose another name$"):
        registry.add("a", "another", max)
    with pytest.raises(UnknownName, match="^thing 'a' is registered twice"):
        registry.add("a", "an address", "math:sqrt")
    assert registry["a"] is len and not registry._is_bundled("a")


def test_the_bundled_module_is_no_package_even_if_packages_are_asked_first(offered, monkeypatch, tmp_path):
    make, _ = offered
    for name in ("bundled_first", "theirs_first"):
        (tmp_path / f"{name}.py").write_text(f"import holder\nholder.registry.add({name!r}, 'about', len)\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry = make(("ours", "bundled_first", "assay"), ("theirs", "theirs_first", "other"), filled_by="bundled_first")
    holder = ModuleType("holder")
    holder.registry = registry
    monkeypatch.setitem(sys.modules, "holder", holder)
    try:
        registry.scan()
        assert list(registry.registered) == ["theirs_first"] == sorted(registry.installed)
        assert list(registry) == ["bundled_first", "theirs_first"] and registry._is_bundled("bundled_first")
        assert not registry._is_bundled("theirs_first") and registry.broken == {}
    finally:
        for name in ("bundled_first", "theirs_first"):
            sys.modules.pop(name, None)
