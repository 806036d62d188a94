"""Matrices: the rules mean what they say, one candidate completes each, and no other tells which."""

from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from scipy import ndimage

from assay.base import ConfigError
from assay.tasks import TASKS
from tests.families.drawn import class_indices, split_of, worlds_of

Raven = TASKS["raven"]
CONTEXT = 8
RULES = ("constant", "progression", "arithmetic", "distribute_three")
SMALL = {"candidates": 4, "rules": {"number": ["constant", "progression", "arithmetic"], "shade": ["distribute_three"]}}


def puzzles(task, split="train", count=60):
    """Return worlds of a split with their panels x attributes, and the place of the right candidate."""
    worlds = worlds_of(task, split, count)
    codes = class_indices(worlds)
    panels = codes.reshape(count, len(task.config.rules), -1).transpose(0, 2, 1)  # attribute by attribute
    return worlds, panels, task.knowledge.labels_of(codes)[:, 0] - 1


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


def rows_of(cells):
    return [list(cells[i : i + 3]) for i in range(0, 9, 3)]


@pytest.mark.parametrize("allowed", [*([rule] for rule in RULES), ["progression", "arithmetic"]], ids="-".join)
def test_a_matrix_can_be_where_its_rows_follow_one_rule_and_one_candidate_completes_it(allowed):
    task = Raven(candidates=4, numbers=5, distractors="near", rules={"number": allowed}, held_out_every=None)
    rng = np.random.default_rng(0)
    codes = class_indices(worlds_of(task, count=120))
    changed = codes.repeat(3, axis=0)
    changed[np.arange(360), rng.integers(12, size=360)] = rng.integers(5, size=360)
    codes = np.concatenate([codes, changed, rng.integers(5, size=(400, 12)), rng.integers(2, size=(200, 12))])
    for can_be, label, puzzle in zip(
        task.knowledge.can_be(codes), task.knowledge.labels_of(codes)[:, 0], (codes + 1).tolist(), strict=True
    ):
        context, candidates = puzzle[:CONTEXT], puzzle[CONTEXT:]
        begun = [rule for rule in allowed if follows(rule, rows_of(context)[:2])]
        fitting = [
            place
            for place, last in enumerate(candidates, start=1)
            if any(follows(rule, rows_of([*context, last])) for rule in allowed)
        ]
        assert can_be == (len(begun) == len(fitting) == 1), puzzle
        assert not can_be or label == fitting[0]


def test_every_matrix_of_a_rule_is_drawn_and_no_other():
    """Of numbers 1 to 3 there are 27, 2, 54 and 12 matrices."""
    rules = {"number": ["constant"], "shade": ["constant"]}
    for rule, count in zip(RULES, (27, 2, 54, 12), strict=True):
        task = Raven(candidates=4, numbers=3, shades=3, rules={**rules, "number": [rule]}, held_out_every=None)
        assert task.source_for(split_of(task, "train"), 0).total == 4 * 27 * count  # by the place of the answer
        drawn = {tuple(panels[:CONTEXT, 0].tolist()) for panels in puzzles(task, count=400)[1]}
        lawful = {
            cells[:CONTEXT] for cells in product(range(3), repeat=9) if follows(rule, rows_of([c + 1 for c in cells]))
        }
        assert drawn == lawful


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
                any(
                    follows(rule, rows_of([panel[column] for panel in [*puzzle[:CONTEXT], candidate]]))
                    for rule in rules
                )
                for column, rules in enumerate(SMALL["rules"].values())
            )
        ]
        assert fitting == [answer]


def test_rules_of_ood_are_combined_as_nowhere_else():
    task = Raven(**SMALL, held_out_every=2)

    def combined(split):
        _, panels, answers = puzzles(task, split)
        whole = [[*one[:CONTEXT], one[CONTEXT + answer]] for one, answer in zip(panels + 1, answers, strict=True)]
        return {
            tuple(
                next(rule for rule in allowed if follows(rule, rows_of([panel[place] for panel in matrix])))
                for place, allowed in enumerate(SMALL["rules"].values())
            )
            for matrix in whole
        }

    inside, outside = combined("train"), combined("ood")
    assert len(inside) + len(outside) == 3 and not inside & outside and combined("hard") == inside
    assert task.splits()[-1].disjoint_from == ("train", "valid", "test", "hard")
    assert "ood" not in [split.name for split in TASKS["raven-small"]().splits()]


# -- candidates --------------------------------------------------------------------------------------------------------


def test_fair_candidates_hide_the_answer():
    task = Raven()
    _, panels, answers = puzzles(task, count=160)
    candidates = panels[:, CONTEXT:]
    assert (voted(candidates) == -1).all()  # no candidate has more votes than another
    assert np.bincount(answers, minlength=8).tolist() == [20] * 8
    wrong = [
        {row[place] for row in one} - {one[a][place]}
        for one, a in zip(candidates, answers, strict=True)
        for place in range(4)
    ]
    assert max(map(len, wrong)) == 1  # each attribute has the right value and at most one other


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
        moved = np.array(changed.codes).reshape(2, -1).T
        label = task.knowledge.labels_of(np.array([changed.codes]))[0, 0] - 1
        assert changed[f"candidate{answer + 1}.number"] == wanted and label != answer
        assert sorted(moved[CONTEXT:].tolist()) == sorted(puzzle[CONTEXT:].tolist())


def test_a_split_may_hold_puzzles_of_its_own_candidates_only():
    task = Raven(**SMALL)
    codes = {name: class_indices(worlds_of(task, name)) for name in ("train", "test", "hard", "ood")}
    for name, split in (("train", "fair"), ("hard", "near")):
        source = task.source_for(split_of(task, name), 0)
        assert source.contains(codes[name]).all() and not source.contains(codes["ood"]).any()
        assert source.contains(codes["test"]).all() == (split == "fair")
        assert not source.contains(codes["hard" if split == "fair" else "train"]).any()


def test_a_changed_matrix_is_the_nearest_lawful_one_that_keeps_its_answer():
    task = Raven(**SMALL)
    worlds, panels, answers = puzzles(task, count=8)
    changed = [task.change_world(world, {"panel1.shade": world["panel2.shade"]}) for world in worlds]
    kept = [place for place, world in enumerate(changed) if world is not None]
    found = class_indices([changed[place] for place in kept])
    assert len(found) > 4 and task.knowledge.can_be(found).all()
    assert (task.knowledge.labels_of(found)[:, 0] - 1 == answers[kept]).all()
    squares = [sum(rows, ()) for some in combinations(range(5), 3) for rows in product(permutations(some), repeat=3)]
    squares = np.array([cells for cells in squares if follows("distribute_three", rows_of(cells))])
    for codes, place in zip(found.reshape(len(found), 2, -1).transpose(0, 2, 1), kept, strict=True):
        before = panels[place]
        assert (codes[:, 0] == before[:, 0]).all() and (codes[CONTEXT:] == before[CONTEXT:]).all()
        wanted = codes[0, 1], before[CONTEXT + answers[place], 1]
        fitting = squares[(squares[:, 0] == wanted[0]) & (squares[:, 8] == wanted[1])]
        fewest = (fitting[:, :CONTEXT] != before[:CONTEXT, 1]).sum(axis=1).min()
        assert (codes[:CONTEXT, 1] != before[:CONTEXT, 1]).sum() == fewest


def test_a_panel_shows_as_many_objects_as_it_has():
    task = Raven()
    worlds, _, _ = puzzles(task, count=6)
    for world in worlds:
        image = task.render(world).image
        for slot in task.space.slots:
            name = slot.name
            inside = task.layout.regions[f"{name}.number"].crop(image)[2:-2, 2:-2] < 200
            outlines = ndimage.label(ndimage.binary_fill_holes(inside))[1]
            assert outlines == world[f"{name}.number"], name


def test_shades_and_sizes_show_and_what_no_rule_governs_is_plain():
    task = Raven(rules={"size": ["constant"], "shade": ["constant"]}, candidates=4, side=64, held_out_every=None)
    world = worlds_of(task, count=1)[0]
    ink = {}
    for size, shade in product(range(1, 5), range(1, 6)):
        image = task.render(world.do({"panel1.size": size, "panel1.shade": shade})).image
        inside = task.layout.regions["panel1.size"].crop(image)[1:-1, 1:-1]
        assert ndimage.label(ndimage.binary_fill_holes(inside < 245))[1] == 4  # as many as ever
        ink[size, shade] = (inside < 245).sum(), np.median(inside[inside < 245])
    assert all(ink[size, 3][0] < ink[size + 1, 3][0] for size in (1, 2, 3))
    assert all(ink[4, shade][1] > ink[4, shade + 1][1] for shade in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": {"colour": ["constant"]}}, "no attribute named 'colour'"),
        ({"rules": {"number": ["growth"]}}, "no rule of number named 'growth'"),
        ({"rules": {"shape": ["arithmetic"], "number": ["constant"]}, "candidates": 4}, "shapes are no numbers"),
        ({"rules": {"number": ["constant"], "size": ["constant"]}}, "8 fair candidates need 3 attributes"),
        ({"rules": {"number": ["constant"]}, "candidates": 4}, "4 fair candidates need 2 attributes"),
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


def test_a_rule_that_leaves_no_choice_is_refused():
    with pytest.raises(ConfigError, match="leaves no choice for the last panel"):
        worlds_of(Raven(rules={"number": ["constant"], "shape": ["constant"]}, shapes=["star"], candidates=4))
