"""A registry finds things by name, loads them late, and says what it has."""

import sys

import pytest

from assay.errors import AssayError, RunFailed, UnknownName
from assay.registry import Registry


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
