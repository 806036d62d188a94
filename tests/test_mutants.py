"""Planted faults must fit the text once, and are tried by the tests of their own folder and the laws, the nearest first.

Faults that are drawn change the module, and are planted in functions that are there already.
"""

import ast
import json

import pytest
from benchmarks import planted
from benchmarks.mutants import FAILED, Mutant, read_list
from benchmarks.mutations import apply, mutations
from benchmarks.reach import SOURCES, Reach


def test_a_fault_must_fit_exactly_once():
    assert Mutant("x.py", "a < b", "a <= b").apply("if a < b:") == "if a <= b:"
    for old, new in (("a", "c"), ("z", "c"), ("a < b", "a < b")):
        with pytest.raises(SystemExit, match=r"x.py: .* not once"):
            Mutant("x.py", old, new).apply("if a < b: a")


@pytest.mark.parametrize(
    ("file", "folder", "first"),
    [
        ("logic/cnf.py", "tests/logic/", "test_cnf.py"),
        ("auditing/noise.py", "tests/auditing/", ""),
        ("prolog/lift.py", "tests/prolog/", ""),
        ("diagnosis/interventions/units.py", "tests/diagnosis/", "test_units.py"),
        ("models/symbolic/alpha_ilp/modes.py", "tests/models/symbolic/", "test_alpha_ilp.py"),
        ("models/core/losses.py", "tests/models/core/", ""),
        ("base/seeds.py", "tests/base/", "test_seeds.py"),
    ],
)
def test_faults_are_tried_by_the_tests_of_their_folder_and_by_the_laws(file, folder, first):
    tests = [str(path) for path in Mutant(file, "", "x").tests]
    own = [path for path in tests if "/laws/" not in path]
    assert own and all(f"/{folder}" in path for path in own) and first in own[0] and len(own) < len(tests)


def test_files_that_name_the_module_are_run_before_the_others():
    near, far = Mutant("logic/cnf.py", "", "x").stages
    names = [path.name for path in near]
    assert names[0] == "test_cnf.py" and "test_latex.py" in [path.name for path in far]
    assert sorted([*near, *far]) == sorted(Mutant("logic/cnf.py", "", "x").tests)


def test_a_list_that_no_longer_fits_is_refused(tmp_path):
    path = tmp_path / "list.json"
    fits = {"file": "base/seeds.py", "old": "SMALL_DECK = 1024", "new": "SMALL_DECK = 1023"}
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


MODULE = '''
def choose(values: list[int], limit: int = 3) -> list[int]:
    """Return 1 to 3 values."""
    if not values or limit < 0:
        raise ValueError(f"{limit + 1} is too few")
    kept = [max(value, -limit) for value in sorted(values)[1:] if value % 2 == 0]
    kept.append(sum(kept) * 0.5 if True else 7)
    return kept
'''


def test_every_kind_of_fault_is_drawn_once_and_none_in_texts_or_defaults():
    assert [(fault.old, fault.new) for fault in mutations(MODULE)] == [
        ("not values or limit < 0", "not (not values or limit < 0)"),
        ("not values or limit < 0", "not values and limit < 0"),
        ("not values or limit < 0", "limit < 0"),
        ("not values or limit < 0", "not values"),
        ("not values", "values"),
        ("limit < 0", "limit <= 0"),
        ("0", "1"),
        ("max(value, -limit)", "min(value, -limit)"),
        ("-limit", "limit"),
        ("for value in sorted(values)[1:] if value % 2 == 0", "for value in sorted(values)[1:]"),
        ("sorted(values)", "values"),
        ("1:", "1 + 1:"),
        ("1", "2"),
        ("value % 2 == 0", "value % 2 != 0"),
        ("value % 2", "value // 2"),
        ("2", "3"),
        ("0", "1"),
        ("kept.append(sum(kept) * 0.5 if True else 7)", "pass"),
        ("sum(kept) * 0.5 if True else 7", "7 if True else sum(kept) * 0.5"),
        ("True", "False"),
        ("sum(kept) * 0.5", "sum(kept) + 0.5"),
        ("0.5", "1.5"),
        ("7", "8"),
    ]


def test_each_fault_is_another_module_that_compiles():
    plain, trees = ast.dump(ast.parse(MODULE)), [apply(MODULE, fault) for fault in mutations(MODULE)]
    for tree in trees:
        compile(tree, "module", "exec")
    assert len({plain, *map(ast.dump, trees)}) == len(trees) + 1


def test_a_draw_is_repeated_by_its_seed_and_spread_over_functions():
    drawn = planted.draw("worlds", "", 30, seed=4)
    assert drawn == planted.draw("worlds", "", 30, seed=4) != planted.draw("worlds", "", 30, seed=5)
    places = [(fault.file, fault.mutation.function) for fault in drawn]
    assert len(drawn) == 30 and max(places.count(place) for place in places) <= planted.FUNCTION_LIMIT
    assert {fault.file for fault in planted.draw("worlds", "hard", 9, seed=0)} == {"worlds/hard.py"}


def test_a_planted_fault_is_caught_by_a_test_that_reaches_it_and_by_no_other():
    faults = mutations((SOURCES / "base/seeds.py").read_text(encoding="utf-8"))
    fault = planted.Fault("base/seeds.py", next(fault for fault in faults if fault.function == "rng_for"))
    functions = planted.functions_of(["base/seeds.py"])
    assert planted.try_out(fault, ["tests/base/test_seeds.py"], 1.0, functions) == planted.CAUGHT
    assert planted.try_out(fault, ["tests/base/test_html.py"], 1.0, functions) == planted.SURVIVED
    assert planted.judge_by_tests(fault, Reach(), [], functions) == planted.UNREACHED


def test_written_faults_are_those_in_functions_of_the_folder(tmp_path):
    inside = {"file": "worlds/world.py", "old": "class World:", "new": "class World(object):"}
    text = (SOURCES / "base/seeds.py").read_text(encoding="utf-8")
    start = text.index("return", text.index("def rng_for"))
    line = text[start : text.index("\n", start)]
    wrong = {"file": "base/seeds.py", "old": line, "new": "return None"}
    (tmp_path / "list.json").write_text(
        json.dumps([wrong, inside, {**wrong, "old": "SMALL_DECK = 1024", "new": "SMALL_DECK = 1"}])
    )
    (fault,) = planted.written_faults(tmp_path / "list.json", ".")
    assert fault.file == "base/seeds.py" and fault.mutation.function == "rng_for"
    assert text.splitlines()[fault.mutation.line - 1].strip() == line
    assert (
        planted.try_out(fault, ["tests/base/test_seeds.py"], 1.0, planted.functions_of(["base/seeds.py"]))
        == planted.CAUGHT
    )
    assert planted.written_faults(tmp_path / "list.json", "worlds") == []


def test_survivors_of_a_draw_are_read_back(tmp_path):
    fault = planted.draw("worlds", "hard", 1, seed=0)[0]
    row = {"file": fault.file, **vars(fault.mutation)}
    lines = [json.dumps({"outcome": outcome, **row}) for outcome in ("caught", "survived", "does not fit", "endless")]
    (tmp_path / "draw.jsonl").write_text("\n".join(lines))
    assert planted.survivors(tmp_path / "draw.jsonl") == [fault, fault]


def test_the_quickest_test_of_a_line_comes_first_and_new_tests_are_known_by_name():
    reach = Reach({"a.py": {"3": ["slow", "quick"]}}, {"slow": 2.0, "quick": 0.1})
    assert reach.tests("a.py", 3) == ["quick", "slow"] and reach.tests("a.py", 4) == []
    fault = planted.draw("worlds", "hard", 1, seed=0)[0]
    assert planted.NewTest("t", "from assay.worlds.hard import Quota", "").may_reach(fault)
    assert not planted.NewTest("t", "from assay.worlds.world import World", "assert 1").may_reach(fault)
