"""A registry finds things by name, loads them late, and says what it has."""

import sys
from types import ModuleType

import pytest

from assay.base import AssayError, Entry, Registry, RunFailed, UnknownName


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


# -- what installed packages offer -------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that installs a package with these entry points for things."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, **points):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{point} = {value}" for point, value in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[things]", *lines, ""]))

    return install


def test_packages_register_objects_and_modules(package):
    package("numbers", root="math:sqrt", counter="collections:Counter")
    registry = Registry("thing", group="things")
    registry.add("bundled", "ours", len)
    assert list(registry) == ["bundled", "counter", "root"] and "root" in registry and len(registry) == 3
    assert registry["root"](4) == 2.0 and registry.installed == {"root", "counter"} and registry.broken == {}
    assert registry.entry("counter").summary == "from the package numbers"
    assert registry.describe("counter").startswith("Dict subclass for counting")  # asked of the object itself
    assert registry.describe("bundled") == "ours"
    assert list(Registry("thing")) == []  # only where there is a group


def test_what_went_wrong_with_a_package_is_kept_in_words_and_the_others_work(package):
    package("numbers", bad="no_such.module.at_all", worse="math:no_such_function", taken="math:cos", fine="math:sin")
    registry = Registry("thing", group="things")
    registry.add("taken", "ours", max)
    assert list(registry) == ["fine", "taken", "worse"] and registry["taken"] is max
    assert registry.broken == {
        "numbers: bad": "ModuleNotFoundError: No module named 'no_such'",
        "numbers: taken": "thing 'taken' is registered twice; choose another name",
    }
    assert registry.installed == {"fine", "worse"}


def test_an_entry_point_of_what_its_module_has_registered_counts_as_installed(package):
    import math

    package("numbers", root="math:sqrt", other="math:cos")
    registry = Registry("thing", group="things")
    registry.add("root", "by itself", math.sqrt)
    registry.add("other", "ours", math.sin)
    assert list(registry) == ["other", "root"] and registry.installed == {"root"}
    assert "registered twice" in registry.broken["numbers: other"]


def test_a_module_may_register_several_and_the_bundled_one_is_no_package(package, tmp_path, monkeypatch):
    for name, things in (("several_things", "ab"), ("bundled_things", "c")):
        text = f"import holder\nfor name in {things!r}:\n    holder.registry.add(name, name.upper(), len)\n"
        (tmp_path / f"{name}.py").write_text(text)
    package("assay_like", own="bundled_things", any="several_things")
    holder = ModuleType("holder")
    holder.registry = registry = Registry("thing", filled_by="bundled_things", group="things")
    monkeypatch.setitem(sys.modules, "holder", holder)
    try:
        registry.scan()  # packages may be asked first
        assert list(registry.registered) == ["a", "b"]
        assert list(registry) == ["a", "b", "c"] and registry.installed == {"a", "b"} and registry.broken == {}
        assert registry.describe("a") == "A"  # it is no address: the line that was given holds
    finally:
        for name in ("several_things", "bundled_things"):
            sys.modules.pop(name, None)


def test_the_module_behind_an_entry_point_may_register_itself_and_nobody_else(package):
    package("x", a="math:sqrt")
    registry = Registry("thing", group="things")
    assert list(registry) == ["a"]
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
    for other in (max, "math:sqrt"):
        with pytest.raises(UnknownName, match="^thing 'a' is registered twice; choose another name$"):
            registry.add("a", "another", other)
    assert registry["a"] is len


def test_entries_are_objects_or_addresses():
    assert Entry("e", "s", "math:pi").load() == pytest.approx(3.14159, abs=1e-5)
    assert Entry("e", "s", 3).load() == 3 and Entry("e", "s", 3).code is None
