"""Matrices: the rules mean what they say, one candidate completes each, and no other tells which."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import ndimage

from assay.errors import ConfigError
from assay.families.raven.rules import CONTEXT, RULES
from assay.families.raven.source import matrix_table
from assay.families.raven.task import Raven
from assay.tasks import TASKS

SMALL = {"candidates": 4, "rules": {"number": ["constant", "progression", "arithmetic"], "shade": ["distribute_three"]}}


def puzzles(task, split="train", count=60):
    """Return worlds of a split with their panels x attributes, and the place of the right candidate."""
    source = task.worlds_in(next(one for one in task.splits() if one.name == split), 0)
    worlds = source.worlds(np.arange(count))
    codes = np.array([world.codes for world in worlds])
    return worlds, task.plan(split).panels(codes), task.knowledge.labels_of(codes)[:, 0] - 1


def voted(candidates):
    """Return the candidate whose values most candidates have, where there is only one such; else -1."""
    votes = (candidates[:, :, None] == candidates[:, None]).sum(axis=(2, 3))
    first = votes.argmax(axis=1)
    alone = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return np.where(alone, first, -1)


# -- rules -------------------------------------------------------------------------------------------------------------


def follows(rule, rows):
    """Say of numbers what a rule asks, independently of its formula."""
    steps = {b - a for row in rows for a, b in pairwise(row)}
    if rule == "constant":
        return steps == {0}
    if rule == "progression":
        return len(steps) == 1 and steps != {0}
    if rule == "arithmetic":
        return all(a + b == c for a, b, c in rows) or all(a - b == c for a, b, c in rows)
    columns = list(zip(*rows, strict=True))
    return len({tuple(sorted(row)) for row in rows}) == 1 and all(
        len(set(line)) == len(line) for line in [*rows, *columns]
    )


@pytest.mark.parametrize(
    ("rule", "count"), [("constant", 27), ("progression", 2), ("arithmetic", 54), ("distribute_three", 12)]
)
def test_a_rule_holds_of_exactly_its_matrices(rule, count):
    lawful = [
        cells for cells in product(range(1, 4), repeat=9) if follows(rule, [cells[i : i + 3] for i in range(0, 9, 3)])
    ]
    table = matrix_table(rule, [rule], (1, 2, 3))
    assert sorted(map(tuple, (table.matrices + 1).tolist())) == lawful and len(lawful) == count


def test_a_matrix_whose_first_rows_follow_two_rules_is_not_drawn():
    table = matrix_table("progression", list(RULES), (1, 2, 3, 4, 5))
    rows = table.matrices.reshape(-1, 3, 3) + 1
    assert not any(follows("arithmetic", matrix[:2].tolist()) for matrix in rows)
    assert any(follows("arithmetic", matrix[:1].tolist()) for matrix in rows)  # as 1, 2, 3


@pytest.mark.parametrize("split", ["train", "hard", "ood"])
def test_the_label_is_the_candidate_that_follows_the_rules(split):
    task = Raven(**SMALL)
    _, panels, answers = puzzles(task, split)
    codes = panels + 1
    for puzzle, answer in zip(codes.tolist(), answers.tolist(), strict=True):
        fitting = [
            number
            for number, candidate in enumerate(puzzle[CONTEXT:])
            if all(
                any(follows(rule, _rows(puzzle, candidate, column)) for rule in rules)
                for column, rules in enumerate(SMALL["rules"].values())
            )
        ]
        assert fitting == [answer]


def _rows(puzzle, candidate, column):
    cells = [panel[column] for panel in [*puzzle[:CONTEXT], candidate]]
    return [cells[i : i + 3] for i in range(0, 9, 3)]


def test_rules_of_ood_are_combined_as_nowhere_else():
    task = Raven()
    inside, outside = task.combinations[False], task.combinations[True]
    assert len(inside) + len(outside) == 3 * 2 * 3 * 3 and not set(inside) & set(outside)
    for column, rules in enumerate(task.config.rules.values()):
        assert {combination[column] for combination in inside} == set(rules)
    assert "ood" not in [split.name for split in TASKS["raven-small"]().splits()]


# -- candidates --------------------------------------------------------------------------------------------------------


def test_fair_candidates_hide_the_answer():
    task = Raven()
    _, panels, answers = puzzles(task, count=160)
    candidates = panels[:, CONTEXT:]
    assert (voted(candidates) == -1).all()  # no candidate has more votes than another
    assert np.bincount(answers, minlength=8).tolist() == [20] * 8
    for table in task.tables.values():
        assert np.allclose(table.pairs, table.pairs.T)  # a right and a wrong value are as probable the other way round


def test_near_candidates_betray_it():
    _, panels, answers = puzzles(TASKS["raven-biased"](), count=40)
    assert (voted(panels[:, CONTEXT:]) == answers).all()
    assert (voted(puzzles(TASKS["raven-biased"](), "fair", 40)[1][:, CONTEXT:]) == -1).all()


# -- changes and pictures ----------------------------------------------------------------------------------------------


def test_a_changed_candidate_trades_places_and_takes_the_label_along():
    task = Raven(**SMALL)
    worlds, panels, answers = puzzles(task, count=8)
    for world, puzzle, answer in zip(worlds, panels, answers.tolist(), strict=True):
        other = next(n for n in range(4) if puzzle[CONTEXT + n, 0] != puzzle[CONTEXT + answer, 0])
        wanted = world[f"candidate{other + 1}.number"]
        changed = task.change_world(world, {f"candidate{answer + 1}.number": wanted})
        moved = task.plan("train").panels(np.array([changed.codes]))[0]
        label = task.knowledge.labels_of(np.array([changed.codes]))[0, 0] - 1
        assert changed[f"candidate{answer + 1}.number"] == wanted and label != answer
        assert sorted(moved[CONTEXT:].tolist()) == sorted(puzzle[CONTEXT:].tolist())


def test_a_changed_matrix_stays_lawful_and_keeps_its_answer():
    task = Raven(**SMALL)
    worlds, _, answers = puzzles(task, count=8)
    changed = [task.change_world(world, {"panel1.shade": world["panel2.shade"]}) for world in worlds]
    found = np.array([world.codes for world in changed if world is not None])
    kept = answers[[place for place, world in enumerate(changed) if world is not None]]
    assert len(found) > 4 and task.knowledge.can_be(found).all()
    assert (task.knowledge.labels_of(found)[:, 0] - 1 == kept).all()


def test_a_panel_shows_as_many_objects_as_it_has():
    task = Raven()
    worlds, _, _ = puzzles(task, count=6)
    for world in worlds:
        image = task.render(world).image
        for name, box in task.sheet.boxes.items():
            inside = box.crop(image)[2:-2, 2:-2] < 200
            outlines = ndimage.label(ndimage.binary_fill_holes(inside))[1]
            assert outlines == world[f"{name}.number"], name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": {"colour": ["constant"]}}, "no attribute named 'colour'"),
        ({"rules": {"number": ["growth"]}}, "no rule of number named 'growth'"),
        ({"rules": {"shape": ["arithmetic"], "number": ["constant"]}, "candidates": 4}, "shapes are no numbers"),
        ({"rules": {"number": ["constant"], "size": ["constant"]}}, "8 fair candidates need 3 attributes"),
        ({"rules": {"size": ["constant"]}, "distractors": "near"}, "8 candidates are too many"),
        ({"shapes": ["blob"]}, "no shape named 'blob'"),
        ({"stages": ["panel1.number == 1"]}, "stages is not for matrices"),
        ({"candidates": 5}, "candidates"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        Raven(**settings)
    assert "\n" not in str(caught.value)
