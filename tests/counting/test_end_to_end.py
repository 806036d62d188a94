"""From rules to counts and the command: the known numbers, brute force, an independent counter, bad input."""

import itertools
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, bits, digits
from assay.config import Settings
from assay.counting import count_readings, count_with
from assay.counting.problem import Problem
from assay.data import training_support
from assay.errors import AssayError
from assay.logic import Knowledge, clauses_formula, random_cnf
from assay.seeds import rng_for
from assay.tasks import TASKS

NAMES = [f"x{i}" for i in range(12)]
SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
EVENODD = [(0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9)]
HALF = [(0, 0), (0, 1), (2, 3), (2, 4)]


def both(pairs):
    return np.unique([*pairs, *(pair[::-1] for pair in pairs)], axis=0)


def xor(k, shared=False):
    return Knowledge.of(bits(NAMES[:k], shared), {"y": f"xor({', '.join(NAMES[:k])})"})


def conjunction(k):
    return Knowledge.of(bits(NAMES[:k]), {"y": " and ".join(NAMES[:k])})


def objects(count, shapes, colours):
    offered = {"shape": [f"s{i}" for i in range(shapes)], "colour": [f"c{i}" for i in range(colours)]}
    concepts = [Concept(f"o{o}.{a}", tuple(values)) for o in range(count) for a, values in offered.items()]
    slots = tuple(Slot(f"o{o}", "objects", tuple(offered)) for o in range(count))
    groups = tuple(EncoderGroup(a, tuple(f"o{o}.{a}" for o in range(count))) for a in offered)
    rule = "any(x.shape == y.shape and x.colour == y.colour for x, y in pairs(objects))"
    return Knowledge.of(ConceptSpace(tuple(concepts), slots, groups), {"y": rule})


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 12])
def test_block_counts_of_xor_and_and(k):
    assert count_readings(xor(k), "block").total == math.factorial(k) * 2 ** (k - 1)
    assert count_readings(conjunction(k), "block").total == math.factorial(k)


@pytest.mark.parametrize(
    ("rule", "world", "total"),
    [(xor(3), (0, 0, 0), 192), (conjunction(3), (1, 1, 1), 48), (conjunction(3), (0, 1, 1), 336)],
)
def test_one_example(rule, world, total):
    assert count_readings(rule, "block", np.array([world])).total == total


@pytest.mark.parametrize("text", ["x0 or x1 or x2", "count(x0, x1, x2) >= 2"])
def test_or_and_majority(text):
    rule = Knowledge.of(bits(NAMES[:3]), {"y": text})
    assert count_readings(rule, "block").total == 6
    assert count_readings(rule, "per-concept").total == 1


@pytest.mark.parametrize("k", [2, 3, 4, 5, 10])
def test_xor_read_bit_by_bit(k):
    assert count_readings(xor(k), "per-concept").total == 2 ** (k - 1)
    assert count_readings(xor(k, shared=True), "shared").total == (2 if k % 2 == 0 else 1)


def test_free_maps_in_closed_form():
    assert count_readings(xor(3), "free").total == 4**8
    assert count_readings(conjunction(3), "free").total == 7**7
    assert count_readings(conjunction(3), "free", np.array([[1, 1, 1]])).total == 8**7


def test_sums_of_digits():
    assert count_readings(SUM).total == 1
    assert count_readings(SUM, support=both(EVENODD)).total == 36
    assert count_readings(SUM, support=both(HALF)).total == 6
    small = Knowledge.of(digits(["a", "b"], range(5)), {"sum": "a + b"})
    assert count_readings(small, support=both(HALF)).total == 3


def test_objects_that_share_shape_and_colour():
    assert count_readings(objects(2, 10, 10)).total == math.factorial(10) ** 2 == 13_168_189_440_000
    assert count_readings(objects(3, 3, 2)).total == 12


def test_driving_rules_leave_follow_open():
    names = [
        "green_light",
        "follow",
        "red_light",
        "stop_sign",
        "car",
        "person",
        "rider",
        "other_obstacle",
        "no_left_lane",
        "left_obstacle",
        "left_solid_line",
        "right_lane",
        "right_green_light",
        "right_follow",
        "no_right_lane",
        "right_obstacle",
        "right_solid_line",
        "left_lane",
        "left_green_light",
        "left_follow",
    ]
    obstacle = "(car or person or rider or other_obstacle)"
    stop = f"(red_light and not green_light or stop_sign or {obstacle})"
    turn = "({0}_lane or {0}_green_light or {0}_follow) and not (no_{0}_lane or {0}_obstacle or {0}_solid_line)"
    forward = f"(green_light or follow or not {obstacle}) and not {stop}"
    labels = {"stop": stop, "forward": forward, "left": turn.format("left"), "right": turn.format("right")}
    found = count_readings(Knowledge.of(bits(names), labels), "per-concept")
    assert found.total == 4 and found.worlds is None


def figures(count, objects):
    """Return the default Kandinsky rule: the figures agree in how many shapes, or how many colours, are the same."""
    concepts, groups = [], {"shape": [], "colour": []}
    for figure, place in itertools.product(range(count), range(objects)):
        for attribute, values in (("shape", ("square", "circle", "triangle")), ("colour", ("red", "yellow", "blue"))):
            concepts.append(Concept(f"f{figure}.{attribute}{place}", values))
            groups[attribute].append(concepts[-1].name)
    kinds = []
    for attribute in groups:
        cells = [", ".join(f"f{f}.{attribute}{i}" for i in range(objects)) for f in range(count)]
        same = " and ".join(f"all_equal({cell})" for cell in cells)
        different = " and ".join(f"all_different({cell})" for cell in cells)
        pair = " and ".join(f"not all_equal({cell}) and not all_different({cell})" for cell in cells)
        kinds += [f"({same})", f"({different})", f"({pair})"]
    encoders = tuple(EncoderGroup(name, tuple(held)) for name, held in groups.items())
    return Knowledge.of(ConceptSpace(tuple(concepts), encoders=encoders), {"y": " or ".join(kinds)})


def test_kandinsky_patterns_leave_names_of_shapes_and_colours_open():
    assert count_readings(figures(2, 3)).total == 36


def brute(rule, family, support):
    """Return the number of optimal readings by trying every table."""
    problem = Problem(rule, family, support)
    labels = rule.labels_of(support)
    total = 0
    for reading in itertools.product(*(range(len(entry.values)) for entry in problem.entries)):
        read = support.copy()
        for cell in problem.cells:
            for row, codes in enumerate(support.tolist()):
                truth = tuple(rule.space.concepts[i].values[codes[i]] for i in cell.columns)
                number = problem.numbers[cell.owner, truth]
                concept = rule.space.concepts[cell.concept]
                read[row, cell.concept] = concept.code(problem.entries[number].values[reading[number]])
        total += bool((rule.labels_of(read) == labels).all())
    return total


RULES = [
    Knowledge.of(digits(["a", "b"], range(3)), {"y": "a * b", "z": "a > b"}),
    Knowledge.of(digits(["a", "b", "c"], range(3)), {"y": "(a + b) % 3 == c"}),
    Knowledge.of(bits(list("abc")), {"y": "a and b or c", "z": "xor(b, c)"}),
    objects(2, 2, 2),
]


@pytest.mark.parametrize("family", ["per-concept", "shared", "per-object"])
@pytest.mark.parametrize("number", range(len(RULES)))
def test_families_agree_with_brute_force(family, number):
    rule = RULES[number]
    worlds = rule.space.all_codes().astype(np.int64)
    rng = rng_for(number, "support", family)
    for support in (worlds[: len(worlds) // 2], worlds[rng.permutation(len(worlds))[:4]]):
        support = np.unique(support, axis=0)
        if math.prod(len(entry.values) for entry in Problem(rule, family, support).entries) <= 20_000:
            assert count_readings(rule, family, support).total == brute(rule, family, support)


def blocks(rule, support, one_to_one=False):
    """Return the number of optimal block readings by trying every permutation and every map."""
    sizes, labels = rule.space.sizes, rule.labels_of(support)
    total = 0
    for order in itertools.permutations(range(len(sizes))):
        maps = [list(itertools.product(range(sizes[i]), repeat=sizes[source])) for i, source in enumerate(order)]
        if one_to_one:
            maps = [[m for m in offered if len(set(m)) == len(m)] for offered in maps]
        for chosen in itertools.product(*maps):
            columns = [np.array(m)[support[:, source]] for m, source in zip(chosen, order, strict=True)]
            total += bool((rule.labels_of(np.stack(columns, axis=1)) == labels).all())
    return total


@pytest.mark.parametrize("seed", range(12))
def test_blocks_agree_with_brute_force(seed):
    rng = rng_for(seed, "blocks")
    clauses = random_cnf(3, int(rng.integers(1, 5)), int(rng.integers(2, 4)), rng)
    rule = Knowledge.of(bits(NAMES[:3]), {"y": clauses_formula(clauses, NAMES)})
    worlds = rule.space.all_codes().astype(np.int64)
    assert count_readings(rule, "block").total == blocks(rule, worlds)
    assert count_readings(rule, "block-permutation").total == blocks(rule, worlds, one_to_one=True)
    some = worlds[np.sort(rng.permutation(8)[:3])]
    assert count_readings(rule, "block", some).total == blocks(rule, some)


def test_blocks_of_unlike_concepts_agree_with_brute_force():
    space = ConceptSpace((Concept("a", (0, 1)), Concept("b", (0, 1, 2)), Concept("c", (0, 1))))
    for text in ("a + b == 2", "b == 1", "b == 1 or a == c"):
        rule = Knowledge.of(space, {"y": text})
        assert count_readings(rule, "block").total == blocks(rule, space.all_codes().astype(np.int64)), text


@pytest.mark.parametrize("seed", range(200))
def test_methods_agree_on_random_tasks(seed):
    pytest.importorskip("pyganak")
    rng = rng_for(seed, "methods")
    rule = RULES[seed % len(RULES)]
    worlds = rule.space.all_codes().astype(np.int64)
    support = np.unique(worlds[rng.permutation(len(worlds))[: rng.integers(1, 6)]], axis=0)
    family = ("per-concept", "shared")[seed % 2]
    found = count_readings(rule, family, support)
    problem = found.readings.problem
    assert problem.as_knowledge().diagram.counts.get((True,), 0) == found.total
    assert count_with("ganak", problem).count == found.total


def test_readings_can_be_asked_for_and_shown():
    found = count_readings(SUM, support=both(EVENODD)).readings
    readings = list(found)
    assert len(set(readings)) == 36 and found.problem.truth in readings
    for number, (_, share) in enumerate(found.identifiability()):
        assert share == np.mean([reading[number] == found.problem.truth[number] for reading in readings])
    assert set(found.sample(rng_for(0), 50)) <= set(readings)
    assert [(step.supervised, step.left) for step in found.plan()] == [("digit 0", 6), ("digit 1", 1)]
    assert found.plan_examples()[-1].left == 1 and len(found.least_to_show()) == 2
    assert found.add_worlds(np.array([[0, 1]])).total == 1
    assert count_readings(SUM, support=both(EVENODD), supervised={"a": [0, 1]}).total == 1
    assert found.text(found.problem.truth) == "reads everything right"


def test_a_budget_gives_bounds():
    found = count_readings(objects(2, 6, 6), seconds=0)
    assert found.total is None and found.low <= math.factorial(6) ** 2 <= found.high


def test_a_budget_holds_before_anything_is_counted():
    found = count_readings(SUM, support=both(EVENODD), seconds=0)
    assert found.method.startswith("bounds only") and found.low <= 36 <= found.high


def test_spaces_too_large_to_list():
    names = NAMES[:8]
    assert count_readings(Knowledge.of(digits(names), {"sum": " + ".join(names)})).total == 1
    equations = {"y": "x0 + x1 == x2 + x3", "z": "x4 * x5 == x6 * x7"}
    assert count_readings(Knowledge.of(digits(names), equations)).total == 1


def run(*words):
    return CliRunner().invoke(app, ["count", *words])


def test_the_command_counts(tmp_path):
    found = json.loads(run("mnadd-evenodd", "--json").stdout)
    assert found["total"] == 36 and found["identifiability"]["digit 0"] == pytest.approx(1 / 6)
    assert (
        json.loads(run("mnlogic", "--set", "k=3", "--family", "block", "--support", "full", "--json").stdout)["total"]
        == 24
    )
    (tmp_path / "and3.cnf").write_text("c three\np cnf 3 3\n1 0\n2 0\n3 0\n")
    assert json.loads(run(str(tmp_path / "and3.cnf"), "--family", "block", "--json").stdout)["total"] == 6
    assert "supervise next: digit 0 (6 left), then digit 1 (1 left)" in run("mnadd-evenodd").stdout


def test_a_support_is_a_world_or_so_many_at_random():
    logic = ["mnlogic", "--set", "k=3", "--json", "--support"]
    world, other, some = (json.loads(run(*logic, text).stdout) for text in ("111", "110", "random:1"))
    assert world["worlds"] == other["worlds"] == some["worlds"] == 1
    assert json.loads(run(*logic, "random:5").stdout)["worlds"] == 5 == json.loads(run(*logic, "5").stdout)["worlds"]


def test_the_worlds_of_a_large_task_are_all_counted():
    task = TASKS["clevr"]()
    train = next(split for split in task.splits() if split.name == "train")
    _, worlds = training_support("clevr", Settings(), 0)
    assert len(worlds) == len(np.unique(task.worlds_in(train, 0).codes(np.arange(train.size)), axis=0)) > 2000


@pytest.mark.parametrize(
    "words",
    [["mnadd", "--family", "blok"], ["mnadd", "--supervise", "q"], ["mnadd", "--support", "5x,"], ["mnlogic", "--support", "999"],
     ["missing.cnf"], ["mnadd", "--family", "free", "--supervise", "a"], ["mnmath", "--family", "free"]],
)  # fmt: skip
def test_bad_input_is_one_line(words):
    found = run(*words)
    assert isinstance(found.exception, AssayError) and "\n" not in str(found.exception)


def test_damaged_clauses_are_one_line(tmp_path):
    for text in ("p cnf 1 1\n1 2 0\n", "1 0\n", "p cnf 1 1\n1\n"):
        (tmp_path / "bad.cnf").write_text(text)
        assert isinstance(run(str(tmp_path / "bad.cnf")).exception, AssayError)


def test_the_problem_is_written_and_checked(tmp_path):
    pytest.importorskip("pyganak")
    found = run("mnadd-half", "--check", "ganak", "--write", str(tmp_path / "half.cnf"), "--json")
    assert json.loads(found.stdout)["ganak"] == 6
    assert "c p show" in (tmp_path / "half.cnf").read_text()
    assert isinstance(run("mnlogic", "--family", "block", "--check", "ganak").exception, AssayError)
    assert isinstance(run("mnadd-half", "--check", "nobody").exception, AssayError)


def test_the_closest_shortcuts_change_least():
    found = count_readings(SUM, support=both(HALF)).readings
    wrong = [sum(a != b for a, b in zip(r, found.problem.truth, strict=True)) for r in found.closest(9)]
    assert len(wrong) == 5 and wrong == sorted(wrong)
