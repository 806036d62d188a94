"""Matrices by hand: what a rule lists, which candidates a plan makes and recognises, and where panels are drawn."""

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.families.raven.panels import EMPTY, FRAME, INK, PAPER, PanelSheet, shape_sprite
from assay.families.raven.rules import (
    CONTEXT,
    combinations_where,
    context_of,
    panel_names,
    raven_knowledge,
    rows_of,
    space_of,
)
from assay.families.raven.source import MatrixTable, PuzzlePlan, matrix_table
from assay.families.raven.task import Raven
from assay.logic import Evaluator
from assay.render import Box
from assay.seeds import rng_for
from assay.worlds import World

VALUES = {"number": (1, 2, 3), "shape": ("star", "square", "circle", "hexagon"), "shade": (1, 2, 3, 4, 5)}
RULES = {"number": ["constant"], "shape": ["constant"], "shade": ["constant"]}


def table(lasts, values):
    """Return a table of matrices that are all one value but for their last panels."""
    return MatrixTable(np.array([[place] * 8 + [last] for place, last in enumerate(lasts)]), values)


def plan(distractors="fair", candidates=4, values=VALUES, rules=RULES, **tables):
    return PuzzlePlan(values, rules, (("constant",) * len(rules),), candidates, distractors, tables)


# -- rules -------------------------------------------------------------------------------------------------------------


def test_spaces_list_attribute_by_attribute_and_panel_by_panel():
    space = space_of({"number": (1, 2), "size": (1, 2, 3)}, 4)
    assert panel_names(2) == [*(f"panel{i}" for i in range(1, 9)), "candidate1", "candidate2"]
    assert space.names[:2] == ("panel1.number", "panel2.number") and space.names[8] == "candidate1.number"
    assert space.names[12:14] == ("panel1.size", "panel2.size") and len(space) == 24
    assert {slot.group for slot in space.slots[:8]} == {"panels"}
    assert {slot.group for slot in space.slots[8:]} == {"candidates"}
    assert [len(group.concepts) for group in space.encoders] == [12, 12]
    assert [str(cell) for cell in context_of("size")] == [f"panel{i}.size" for i in range(1, 9)]
    assert [len(row) for row in rows_of(context_of("size"))] == [3, 3, 2]


def lawful(knowledge, values, candidates):
    """Return whether a puzzle of one attribute can be, and its answer."""
    codes = np.array([[value - 1 for value in (*values, *candidates)]])
    return bool(knowledge.can_be(codes)[0]), int(knowledge.labels_of(codes)[0, 0])


def test_the_answer_is_the_one_candidate_that_completes_the_matrix():
    knowledge = raven_knowledge({"number": tuple(range(1, 6))}, {"number": ["progression", "constant"]}, 4)
    assert knowledge.labels[0].values == (0, 1, 2, 3, 4)
    rising = (1, 2, 3, 2, 3, 4, 3, 4)
    for place in range(4):
        others = [1, 2, 3]
        others.insert(place, 5)
        assert lawful(knowledge, rising, others) == (True, place + 1)
    assert lawful(knowledge, rising, (1, 2, 3, 4)) == (False, 0)
    assert lawful(knowledge, rising, (5, 2, 5, 4))[0] is False  # two candidates complete it
    assert lawful(knowledge, (1, 2, 3, 3, 2, 1, 3, 4), (5, 1, 2, 3))[0] is False  # the rows follow no rule together
    assert lawful(knowledge, (2, 2, 2, 4, 4, 4, 1, 1), (2, 3, 1, 4)) == (True, 3)


def test_rows_that_follow_two_rules_cannot_be():
    both = raven_knowledge({"number": tuple(range(1, 6))}, {"number": ["progression", "arithmetic"]}, 4)
    assert lawful(both, (1, 2, 3, 1, 2, 3, 1, 2), (3, 1, 2, 4))[0] is False  # steps of 1, and sums
    assert lawful(both, (1, 2, 3, 2, 3, 4, 1, 2), (3, 1, 2, 4)) == (True, 1)
    assert lawful(both, (1, 2, 3, 1, 3, 4, 1, 4), (3, 5, 2, 4)) == (True, 2)
    two = raven_knowledge({"number": (1, 2, 3), "size": (1, 2, 3)}, {"number": ["constant"], "size": ["constant"]}, 4)
    assert [limit.name for limit in two.constraints] == ["one_rule_of_number", "one_rule_of_size", "one_answer"]


def test_combinations_of_rules_hold_of_the_first_two_rows():
    rules = {"number": ["constant", "progression"], "size": ["constant", "progression"]}
    values = {"number": (1, 2, 3, 4), "size": (1, 2, 3, 4)}
    space = space_of(values, 4)
    where = Evaluator(space, combinations_where([("constant", "progression"), ("progression", "constant")], rules))
    flat, rising = [0, 0, 0, 2, 2, 2, 3, 1], [0, 1, 2, 1, 2, 3, 0, 0]  # the last row does not matter
    half = [0, 0, 0, 0, 1, 2, 0, 0]
    rows = [[*number, 0, 0, 0, 0, *size, 0, 0, 0, 0] for number, size in
            [(flat, rising), (rising, flat), (flat, flat), (rising, rising), (half, rising), (flat, half)]]  # fmt: skip
    assert where(np.array(rows)).tolist() == [True, True, False, False, False, False]


# -- tables and candidates ---------------------------------------------------------------------------------------------


def test_pairs_are_as_probable_as_the_ends_of_matrices():
    ends = table([0, 0, 0, 1, 2, 2], 4)
    weights = np.outer([3, 1, 2, 0], [3, 1, 2, 0]) * (1 - np.eye(4))
    assert ends.pairs == pytest.approx(weights / 22)


def test_a_drawn_matrix_ends_in_the_right_value_and_never_in_the_wrong_one():
    ends = table([0, 0, 0, 1, 2, 2], 4)
    drawn = [ends.draw(rng_for(k, "draw")) for k in range(300)]
    assert {(int(cells[8]), wrong) for cells, wrong in drawn} == {(a, b) for a in range(3) for b in range(3) if a != b}
    assert {int(cells[0]) for cells, _ in drawn} == set(range(6))  # any matrix with that end
    assert all([0, 0, 0, 1, 2, 2][cells[0]] == cells[8] for cells, _ in drawn)
    share = np.mean([cells[8] == 0 for cells, _ in drawn])
    assert share == pytest.approx(9 / 22, abs=0.08)


def test_a_rule_that_leaves_no_choice_is_refused():
    assert len(matrix_table("progression", ["progression"], (1, 2, 3)).matrices) == 2
    with pytest.raises(ConfigError, match="'constant' over 1 values leaves no choice for the last panel"):
        matrix_table("constant", ["constant"], (1,))


def test_matrices_that_follow_another_allowed_rule_in_their_first_rows_are_left_out():
    both = matrix_table("progression", ["progression", "arithmetic"], (1, 2, 3, 4))
    alone = matrix_table("progression", ["progression"], (1, 2, 3, 4))
    apart = [
        row for row in (alone.matrices + 1).tolist() if not (row[0] + row[1] == row[2] and row[3] + row[4] == row[5])
    ]
    assert sorted((both.matrices + 1).tolist()) == sorted(
        row for row in apart if not (row[0] - row[1] == row[2] and row[3] - row[4] == row[5])
    )
    assert both.values == 4


def test_fair_candidates_are_all_combinations_of_two_values_of_some_attributes():
    right, wrong = np.array([0, 3, 4]), np.array([2, 1, 0])
    chosen = set()
    for k in range(60):
        others = plan()._fair(rng_for(k, "fair"), right, wrong)
        assert others.shape == (3, 3)
        changed = np.flatnonzero((others != right).any(axis=0)).tolist()
        assert len(changed) == 2 and ((others == right) | (others == wrong)).all()
        assert sorted((others[:, changed] == wrong[changed]).tolist()) == [[False, True], [True, False], [True, True]]
        chosen.add(tuple(changed))
    assert chosen == {(0, 1), (0, 2), (1, 2)}
    eight = plan(candidates=8)._fair(rng_for(0, "fair"), right, wrong)
    assert len({tuple(row) for row in eight.tolist()} | {tuple(right.tolist())}) == 8


def test_near_candidates_differ_in_one_attribute_by_any_step():
    right, seen = np.array([2, 3, 0]), set()
    for k in range(60):
        others = plan("near")._near(rng_for(k, "near"), right)
        assert others.shape == (3, 3) and len({tuple(row) for row in others.tolist()}) == 3
        for row in others:
            (place,) = np.flatnonzero(row != right)
            seen.add((int(place), int(row[place])))
    assert seen == {(0, 0), (0, 1), *((1, v) for v in (0, 1, 2)), *((2, v) for v in (1, 2, 3, 4))}


@pytest.mark.parametrize("position", [0, 1, 3])
def test_the_right_candidate_lies_at_its_position_and_the_others_in_any_order(position):
    tables = {(name, "constant"): table(list(range(len(values))), len(values)) for name, values in VALUES.items()}
    made = PuzzlePlan(VALUES, RULES, (("constant",) * 3,), 4, "fair", tables)
    orders = set()
    for k in range(40):
        puzzle = made.puzzle(rng_for(k, "puzzle"), ("constant",) * 3, position)
        assert puzzle.shape == (12, 3) and (puzzle[:8] == puzzle[0]).all()
        right = puzzle[8 + position]
        assert (right == puzzle[0]).all()  # the matrices here end as they begin
        others = np.delete(puzzle[8:], position, axis=0)
        orders.add(tuple((others != right).sum(axis=1).tolist()))
    assert orders == {(1, 1, 2), (1, 2, 1), (2, 1, 1)}


def test_codes_are_written_attribute_by_attribute_and_read_back():
    puzzles = np.arange(2 * 12 * 3).reshape(2, 12, 3)
    codes = plan().codes(puzzles)
    assert codes.shape == (2, 36) and codes[0, :3].tolist() == [0, 3, 6] and codes[1, 12] == 37
    assert (plan().panels(codes) == puzzles).all()


def puzzle_of(*candidates, matrix=(0, 0, 0)):
    return np.array([[matrix] * 8 + list(candidates)]).reshape(-1, len(matrix))


@pytest.mark.parametrize(
    ("candidates", "fair", "near"),
    [
        (((0, 0, 0), (1, 0, 0), (0, 2, 0), (1, 2, 0)), True, False),
        (((0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)), False, True),
        (((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 2, 0)), False, True),
        (((0, 0, 0), (1, 0, 0), (0, 2, 0), (1, 3, 0)), False, False),  # three values of one attribute
        (((0, 0, 0), (1, 0, 0), (0, 2, 0), (1, 0, 0)), False, True),  # halves of one attribute, a quarter of another
        (((0, 0, 0), (1, 2, 0), (1, 2, 4), (0, 0, 4)), False, False),  # halves of three attributes
        (((0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 0, 0)), False, True),  # halves of one attribute only
    ],
)
def test_candidates_are_recognised(candidates, fair, near):
    for place in range(4):
        turned = [*candidates[1:]]
        turned.insert(place, candidates[0])
        codes = plan().codes(puzzle_of(*turned)[None])
        assert plan("fair").has_candidates(codes, np.array([place])).tolist() == [fair]
        assert plan("near").has_candidates(codes, np.array([place])).tolist() == [near]


# -- changes -----------------------------------------------------------------------------------------------------------


def test_a_candidate_trades_places_with_the_one_most_like_it():
    before = puzzle_of((0, 1, 2), (2, 0, 0), (2, 1, 3), (2, 1, 2), matrix=(2, 2, 2))
    after = plan().exchanged(before, CONTEXT, 0, 2)
    assert after[CONTEXT:].tolist() == [[2, 1, 2], [2, 0, 0], [2, 1, 3], [0, 1, 2]]
    assert (after[:CONTEXT] == before[:CONTEXT]).all() and before[CONTEXT].tolist() == [0, 1, 2]
    alone = plan().exchanged(before, CONTEXT + 1, 1, 2)  # only the matrix has this value
    assert alone[CONTEXT:].tolist() == [[0, 1, 2], [2, 2, 0], [2, 1, 3], [2, 1, 2]]


def test_a_changed_matrix_is_the_nearest_that_keeps_the_answer():
    first = np.array([[0, 0, 0, 0, 0, 0, 0, 0, 1], [2, 1, 1, 1, 1, 1, 1, 1, 1], [2, 0, 0, 0, 0, 0, 0, 0, 2]])
    second = np.array([[2, 0, 0, 0, 0, 3, 3, 3, 1], [2, 3, 3, 3, 3, 3, 3, 3, 0]])
    rules = {"size": ["constant"], "shade": ["constant", "progression"]}
    tables = {("shade", "constant"): MatrixTable(first, 4), ("shade", "progression"): MatrixTable(second, 4)}
    made = PuzzlePlan({"size": (1,), "shade": (1, 2, 3, 4)}, rules, (), 4, "fair", tables)
    before = puzzle_of((0, 0), (0, 1), (0, 2), (0, 3), matrix=(0, 0))
    after = made.followed(before, 0, 1, 2, 1)
    assert after[:CONTEXT, 1].tolist() == [2, 0, 0, 0, 0, 3, 3, 3]  # nearer than the one of ones
    assert (after[CONTEXT:] == before[CONTEXT:]).all() and not after[:, 0].any()
    assert made.followed(before, 0, 1, 2, 0)[:CONTEXT, 1].tolist() == [2, 3, 3, 3, 3, 3, 3, 3]
    assert made.followed(before, 0, 1, 3, 1) is None and made.followed(before, 0, 1, 2, 3) is None


def test_puzzles_without_an_answer_cannot_be_changed_in_the_matrix():
    task = Raven(candidates=4, rules={"number": ["constant"], "shape": ["constant"]}, held_out_every=None)
    codes = task.plan("train").codes(puzzle_of((1, 0), (2, 0), (3, 0), (4, 1), matrix=(0, 0))[None])[0]
    world = World(task.space, tuple(codes.tolist()), {})
    assert task.change_world(world, {"panel1.number": 2}) is None


def test_the_first_candidate_can_be_changed():
    task = Raven(candidates=4, rules={"number": ["constant"], "shape": ["constant"]}, held_out_every=None)
    codes = task.plan("train").codes(puzzle_of((0, 0), (2, 0), (0, 1), (2, 1), matrix=(0, 0))[None])[0]
    world = World(task.space, tuple(codes.tolist()), {})
    other = task.change_world(world, {"candidate1.number": 3})
    assert task.plan("train").panels(np.array([other.codes]))[0, CONTEXT:].tolist() == [[2, 0], [0, 0], [0, 1], [2, 1]]


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_combinations_whose_places_add_up_to_a_multiple_are_held_out():
    rules = {"number": ["constant", "progression", "arithmetic"], "size": ["constant", "distribute_three"]}
    task = Raven(rules=rules, candidates=4, held_out_every=3)
    assert task.combinations[True] == (("constant", "constant"), ("arithmetic", "distribute_three"))
    assert len(task.combinations[False]) == 4
    assert [split.name for split in task.splits()] == ["train", "valid", "test", "hard", "ood"]
    assert task.splits()[-1].disjoint_from == ("train", "valid", "test", "hard")
    for split, inside in {"train": False, "hard": False, "ood": True}.items():
        assert task.plan(split).combinations == task.combinations[inside]
    only = Raven(rules={"number": ["constant"], "size": ["constant"]}, candidates=4, held_out_every=2)
    assert only.combinations == {False: (("constant", "constant"),), True: ()}
    none = Raven(rules=rules, candidates=4, held_out_every=None)
    assert none.combinations[True] == () and len(none.combinations[False]) == 6


def test_splits_have_their_own_candidates():
    rules = {"number": ["constant"], "size": ["constant"]}
    fair, near = (Raven(rules=rules, candidates=4, distractors=kind) for kind in ("fair", "near"))
    assert [split.name for split in fair.splits()] == ["train", "valid", "test", "hard"]
    assert [split.name for split in near.splits()] == ["train", "valid", "test", "fair"]
    assert [fair.plan(name).distractors for name in ("train", "hard")] == ["fair", "near"]
    assert [near.plan(name).distractors for name in ("train", "fair")] == ["near", "fair"]


def test_a_source_counts_matrices_of_its_combinations_and_knows_its_own_puzzles():
    rules = {"number": ["constant", "progression"], "size": ["constant", "distribute_three"]}
    task = Raven(rules=rules, candidates=4, numbers=3, sizes=3, held_out_every=2)
    splits = {split.name: split for split in task.splits()}
    train, ood = (task.worlds_in(splits[name], 0) for name in ("train", "ood"))
    sizes = {pair: len(table.matrices) for pair, table in task.tables.items()}
    assert train.total == 4 * (
        sizes["number", "constant"] * sizes["size", "distribute_three"]
        + sizes["number", "progression"] * sizes["size", "constant"]
    )
    inside, outside = train.codes(np.arange(20)), ood.codes(np.arange(20))
    assert train.contains(inside).all() and ood.contains(outside).all()
    assert not train.contains(outside).any() and not ood.contains(inside).any()
    labels = task.knowledge.labels_of(inside)[:, 0]
    assert np.bincount(labels, minlength=5).tolist() == [0, 5, 5, 5, 5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"rules": {"size": ["constant"], "shape": ["constant"]}, "candidates": 4, "shapes": ["star"], "sizes": 3},
            "too many",
        ),
        ({"shapes": ["star", "blob"]}, "no shape named 'blob'"),
        ({"rules": {"number": ["constant"]}, "candidates": 4}, "4 fair candidates need 2 attributes"),
    ],
)
def test_settings_just_beyond_their_bounds_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Raven(**settings)


def test_settings_exactly_at_their_bounds_are_taken():
    task = Raven(rules={"size": ["constant"], "shape": ["constant"]}, candidates=4, sizes=3, shapes=["star", "square"])
    assert task.config.values == {"size": (1, 2, 3), "shape": ("star", "square")}
    other = Raven(rules={"number": ["constant"], "size": ["constant"], "shade": ["constant"]}, numbers=4, shades=6)
    assert other.config.values == {"number": (1, 2, 3, 4), "size": (1, 2, 3, 4), "shade": (1, 2, 3, 4, 5, 6)}


def test_every_panel_has_an_order_of_its_own():
    task = Raven(rules={"number": ["constant"], "shape": ["constant"]}, candidates=4)
    cells = task.style(rng_for(0, "style"), (), "train")["cells"]
    assert len(cells) == 12 and all(sorted(order) == list(range(9)) for order in cells)
    assert len({tuple(order) for order in cells}) == 12


# -- panels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("candidates", "width"), [(4, 2), (8, 3)])
def test_candidates_lie_beside_the_matrix_in_as_many_columns_as_three_rows_need(candidates, width):
    sheet = PanelSheet(20, candidates)
    places = [(3 + 23 * (i % 3), 3 + 23 * (i // 3)) for i in range(8)]
    places += [(3 + 69 + 14 + 23 * (i % width), 3 + 23 * (i // width)) for i in range(candidates)]
    names = panel_names(candidates)
    assert sheet.boxes == {n: Box(x, y, x + 20, y + 20) for n, (x, y) in zip(names, places, strict=True)}
    assert sheet.size == (86 + 23 * width, 72)
    empty = sheet.empty
    assert empty.shape == (72, 86 + 23 * width)
    assert empty[49, 49] == EMPTY and empty[49:69, 49].tolist() == [EMPTY] * 20  # the missing panel
    last = sheet.boxes["candidate4"]
    for box in (sheet.boxes["panel1"], sheet.boxes["panel8"], last):
        frame = box.crop(empty).copy()
        assert (frame[[0, -1]] == FRAME).all() and (frame[:, [0, -1]] == FRAME).all()
        assert (frame[1:-1, 1:-1] == PAPER).all()
    assert (empty == FRAME).sum() == (8 + candidates) * (4 * 20 - 4)


def test_objects_fill_the_first_cells_of_an_order():
    sheet = PanelSheet(32, 4)
    panel = {"number": 3, "shape": "square", "size": 4, "shade": 3}
    image = sheet.draw({"candidate2": panel}, [[5, 0, 7, 1, 2, 3, 4, 6, 8]], most=5)
    box = sheet.boxes["candidate2"]
    inside = box.crop(image)[1:31, 1:31]
    filled = [[bool((inside[10 * row : 10 * row + 10, 10 * column : 10 * column + 10] < 200).any())
               for column in range(3)] for row in range(3)]  # fmt: skip
    assert filled == [[True, False, False], [False, False, True], [False, True, False]]
    assert inside[5, 5] == round(235 - (235 - INK) / 2)  # in the middle between the lightest and the darkest
    box.crop(image)[:] = box.crop(sheet.empty)
    assert (image == sheet.empty).all()


@pytest.mark.parametrize(("shade", "most", "grey"), [(1, 5, 235), (5, 5, INK), (2, 5, 181), (1, 1, 235), (3, 4, 92)])
def test_shades_go_from_light_to_dark(shade, most, grey):
    sheet = PanelSheet(64, 4)
    image = sheet.draw({"panel1": {"number": 1, "shape": "circle", "size": 4, "shade": shade}}, [[4]], most)
    assert sheet.boxes["panel1"].crop(image)[32, 32] == grey


def test_sizes_grow_by_even_steps():
    widths = []
    for size in (1, 2, 3, 4):
        sprite = shape_sprite("diamond", size, 128, 43)
        assert sprite.shape == (43, 43)
        rows, columns = np.nonzero(sprite < 150)
        widths.append(int(rows.max() - rows.min()))
        assert rows.max() + rows.min() == pytest.approx(42, abs=1)
        assert columns.max() - columns.min() == pytest.approx(0.6 * widths[-1], abs=2)
    assert widths == pytest.approx([2 * 20 * (0.46 + 0.18 * k) for k in range(4)], abs=1.6)


def test_what_no_rule_governs_is_plain():
    task = Raven(rules={"size": ["constant"], "shade": ["constant"]}, candidates=4, shades=8, held_out_every=None)
    world = World(task.space, tuple([2] * 12 + [7] * 12), {"cells": [list(range(9))] * 12})
    same = task.sheet.draw(
        {name: {"number": 4, "shape": "circle", "size": 3, "shade": 8} for name in panel_names(4)},
        world.style["cells"],
        8,
    )
    assert (task.render(world).image == same).all()
