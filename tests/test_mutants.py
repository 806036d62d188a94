"""Planted faults must fit the text once, and are tried by the tests of their own folder, the nearest first."""

import json

import pytest
from benchmarks.mutants import FAILED, Mutant, read_list


def test_a_fault_must_fit_exactly_once():
    assert Mutant("x.py", "a < b", "a <= b").apply("if a < b:") == "if a <= b:"
    for old, new in (("a", "c"), ("z", "c"), ("a < b", "a < b")):
        with pytest.raises(SystemExit, match=r"x.py: .* not once"):
            Mutant("x.py", old, new).apply("if a < b: a")


@pytest.mark.parametrize(
    ("file", "folder", "first"),
    [
        ("logic/cnf.py", "tests/logic/", "test_cnf.py"),
        ("auditing/noise.py", "tests/audit/", ""),
        ("diagnosis/interventions/units.py", "tests/diagnosis/", "test_units.py"),
        ("models/alpha_ilp/modes.py", "tests/models/test_alpha_ilp.py", "test_alpha_ilp.py"),
        ("models/core/losses.py", "tests/models/core/", ""),
        ("seeds.py", "tests/test_", "test_seeds.py"),
    ],
)
def test_faults_are_tried_by_the_tests_of_their_folder(file, folder, first):
    tests = [str(path) for path in Mutant(file, "", "x").tests]
    assert tests and all(f"/{folder}" in path for path in tests) and first in tests[0]


def test_files_that_name_the_module_are_run_before_the_others():
    near, far = Mutant("logic/cnf.py", "", "x").stages
    names = [path.name for path in near]
    assert names[0] == "test_cnf.py" and "test_latex.py" in [path.name for path in far]
    assert sorted([*near, *far]) == sorted(Mutant("logic/cnf.py", "", "x").tests)
    assert len(Mutant("models/alpha_ilp/modes.py", "", "x").stages) == 1


def test_a_list_that_no_longer_fits_is_refused(tmp_path):
    path = tmp_path / "list.json"
    fits = {"file": "seeds.py", "old": "SMALL_DECK = 1024", "new": "SMALL_DECK = 1023"}
    path.write_text(json.dumps([fits]))
    assert [mutant.new for mutant in read_list(path)] == ["SMALL_DECK = 1023"]
    path.write_text(json.dumps([fits, {**fits, "old": "SMALL_DECK = 7"}]))
    with pytest.raises(SystemExit, match=r"seeds.py: 'SMALL_DECK = 7' occurs 0 times"):
        list(read_list(path))


def test_the_failure_is_found_in_what_pytest_prints():
    printed = "..F\nFAILED tests/a/test_b.py::test_c[x y-1] - assert 1 == 2\n1 failed"
    assert FAILED.search(printed)[1] == "tests/a/test_b.py::test_c[x y-1]"
    assert FAILED.search("ERROR tests/a/test_b.py - ImportError: x\n")[1] == "tests/a/test_b.py"
    assert FAILED.search("....\n4 passed") is None
