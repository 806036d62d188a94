"""Chess: balanced, lawful, split by game; broken rules are broken as asked for; datasets are audited."""

import sys

import numpy as np
import pytest

from assay.auditing import audit, audited_dataset
from assay.base import AssayError, Settings
from assay.cli import main
from assay.dataset import Dataset, Recipe, make
from assay.families.chess.games import play_game
from assay.families.chess.settings import Board
from assay.families.chess.task import Chess
from assay.tasks import TASKS
from tests.families.chess.test_rules import plainly_broken

RULES = Board().knowledge()
NAMES = [rule.name for rule in RULES.constraints]
SQUARES = RULES.space.names
Sane = TASKS["chess-sane"]


def source(task, split="train", seed=0):
    return task.source_for(next(one for one in task.splits() if one.name == split), seed)


def lead(codes):
    return np.isin(codes, range(1, 6)).sum(axis=1) - np.isin(codes, range(7, 12)).sum(axis=1)


@pytest.mark.parametrize("split", ["train", "valid", "test", "hard", "ood"])
def test_positions_are_balanced_and_keep_every_rule(split):
    task = TASKS["chess-flat"]()
    found = source(task, split)
    codes = found.codes(np.arange(40))
    labels = task.knowledge.labels_of(codes)[:, 0]
    assert (labels == (lead(codes) > 0)).all() and (labels.reshape(-1, 2).sum(axis=1) == 1).all()
    assert not any(map(plainly_broken, codes.tolist()))
    assert found.contains(codes).all() and len(np.unique(codes, axis=0)) >= 38
    assert (split != "hard") or set(lead(codes).tolist()) == {0, 1}


def test_pieces_of_ood_stand_elsewhere():
    """In real positions kings seldom leave the first rank so early; scattered ones stand anywhere."""
    home = [
        np.mean([(row[:8] == 6).any() for row in source(TASKS["chess-flat"](), name).codes(np.arange(40))])
        for name in ("test", "ood")
    ]
    assert home[0] > 0.5 > home[1]


def test_an_item_depends_on_its_place_alone():
    whole = source(TASKS["chess-flat"]()).worlds(np.arange(12))
    assert [source(TASKS["chess-flat"]()).worlds(np.array([place]))[0] for place in (11, 3)] == [whole[11], whole[3]]
    assert source(TASKS["chess-flat"](), seed=1).worlds(np.arange(1))[0].codes != whole[0].codes


def test_splits_share_no_game():
    task = TASKS["chess-flat"]()
    games = {
        split.name: {task.ingredients(world)[0] for world in source(task, split.name).worlds(np.arange(16))}
        for split in task.splits()
    }
    names = [name for held in games.values() for name in held]
    assert len(names) == len(set(names)) and all(games.values())


@pytest.mark.parametrize(("first", "per_game"), [(0, 4), (20, 2)])
def test_positions_are_taken_from_games_from_a_move_on_and_only_some_of_each(first, per_game):
    task = TASKS["chess-flat"](first=first, per_game=per_game, balance="world")
    counts = {}
    for world in source(task).worlds(np.arange(24)):
        (name,) = task.ingredients(world)
        split, number = name.split()
        game = play_game(0, task.name, task.version, split, int(number))
        assert any((row == world.codes).all() for row in game[first:])
        counts[name] = counts.get(name, 0) + 1
    assert max(counts.values()) <= per_game


def test_valued_takes_positions_as_they_come():
    task = TASKS["valued"]()
    labels = task.knowledge.labels_of(source(task).codes(np.arange(120)))
    assert 0.1 < labels.mean() < 0.5  # not balanced
    assert task.config.first == 0 and task.layout.width == 512 and task.knowledge == RULES


def test_own_rules_are_labels():
    task = Chess(rule="count(d4 == 'P', e4 == 'P') >= 1")
    codes = source(task).codes(np.arange(12))
    assert task.knowledge.label_names == ("rule",) and len(task.knowledge.constraints) == 15
    pawns = (codes[:, [SQUARES.index("d4"), SQUARES.index("e4")]] == 1).any(axis=1)
    assert pawns.sum() == 6 and (task.knowledge.labels_of(codes)[:, 0] == pawns).all()


# -- broken rules ------------------------------------------------------------------------------------------------------


def test_half_the_positions_break_rules_each_equally_often():
    task = Sane(per_game=20)
    found = source(task)
    codes = found.codes(np.arange(120))
    sane = task.knowledge.labels_of(codes)[:, 0].astype(bool)
    broken = [plainly_broken(row) for row in codes.tolist()]
    assert sane.sum() == 60 and [not one for one in broken] == sane.tolist()
    assert all(sum(name in one for one in broken) >= 3 for name in NAMES) and not task.knowledge.constraints
    assert {world.style["game"] for world in found.worlds(np.arange(20))} != {"train 0"}
    pieces = (codes > 0).sum(axis=1)  # sane positions are chosen as those that are broken: their pieces hardly tell
    assert abs(pieces[sane].mean() - pieces[~sane].mean()) < 4


def test_chosen_rules_are_broken_and_no_others_on_purpose():
    task = Sane(rules=["kings_apart", "black_no_pawn_at_the_ends"], violations=[1], sane_ratio=0.25)
    broken = [plainly_broken(row) for row in source(task).codes(np.arange(40)).tolist()]
    assert sum(map(bool, broken)) == 30 and set.union(*broken) == {"kings_apart", "black_no_pawn_at_the_ends"}
    assert sum("kings_apart" in one for one in broken) == 15


@pytest.mark.parametrize("rule", NAMES)
def test_each_rule_is_broken_by_changing_few_squares_of_a_position_of_its_game(rule):
    task = Sane(rules=[rule], violations=[1], sane_ratio=0.05)
    made, worlds = 0, source(task).worlds(np.arange(12))
    for world in worlds:
        split, number = task.ingredients(world)[0].split()
        game = play_game(0, task.name, task.version, split, int(number))
        changed = (game != np.array(world.codes)).sum(axis=1).min()
        broken = plainly_broken(world.codes)
        assert (rule in broken) == bool(broken) == (1 <= changed <= 4)
        made += bool(broken)
    assert made >= 11


def test_several_rules_are_broken_as_often_as_asked_for():
    rules = ["white_one_king", "black_at_most_16", "black_one_king"]
    codes = source(Sane(rules=rules, violations=[1, 2], sane_ratio=0.05)).codes(np.arange(60))
    counts = [len(plainly_broken(row) & set(rules)) for row in codes.tolist()]
    assert 20 < counts.count(1) < 40 and counts.count(2) > 15 and 1 <= counts.count(0) <= 6


def test_hard_positions_break_one_rule_or_none():
    codes = source(Sane(rules=["white_one_king", "black_one_king"], violations=[2]), "hard").codes(np.arange(20))
    assert sorted(len(plainly_broken(row)) for row in codes.tolist()) == [0] * 10 + [1] * 10


def test_sanity_as_released_forgets_whites_promoted_pieces():
    row = np.zeros((1, 64), dtype=np.int64)
    row[0, :12], row[0, 30], row[0, 60] = 5, 6, 12  # twelve queens and no pawn
    assert Sane(as_released=True).knowledge.labels_of(row)[0, 0] == 1
    assert Sane().knowledge.labels_of(row)[0, 0] == 0
    names = [rule.name for rule in Chess(as_released=True).knowledge.constraints]
    assert names == [name for name in NAMES if name != "white_promoted"]


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"view": "4d"}, "view"),
        ({"rule": "a1 == 'X'"}, "X"),
        ({"rule": "z9 == 'P'"}, "no concept named 'z9'"),
        ({"rule": "count(a1 == 'P')"}, "must be true or false, not a number"),
        ({"stages": ["a1 == 'P'"]}, "stages is not for positions of chess"),
        ({"prop_in_distribution": 0.5}, "prop_in_distribution is not for positions of chess"),
        ({"width": 8}, "width"),
        ({"engine": "oven"}, "engine"),
        ({"most_games": 9}, "most_games"),
        ({"per_game": 21}, "per_game"),
        ({"sides": []}, "sides"),
        ({"coordinates": False, "sides": ["a1", "white"]}, "without coordinates nothing says"),
    ],
)
def test_wrong_settings_are_one_line(settings, message):
    with pytest.raises(AssayError, match=message) as error:
        source(Chess(**settings)).codes(np.arange(2))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": ["white_wins"]}, "no rule named 'white_wins'"),
        ({"violations": [0]}, "from 1 to 15"),
        ({"violations": [1, 3], "rules": NAMES[:2]}, "from 1 to 2 rules can be broken"),
        ({"rule": "a1 == 'P'"}, "not for chess-sane"),
        ({"balance": "world"}, "not for chess-sane"),
        ({"sane_ratio": 0.04}, "sane_ratio"),
    ],
)
def test_wrong_settings_of_broken_rules_are_one_line(settings, message):
    with pytest.raises(AssayError, match=message) as error:
        Sane(**settings)
    assert "\n" not in str(error.value)


def test_a_rule_that_is_never_true_is_refused():
    with pytest.raises(AssayError, match="no 1 positions where the label is True in 200 games"):
        source(Chess(rule="a1 == 'k' and h8 == 'K'", per_game=1)).codes(np.arange(2))


def test_the_command_line_says_what_is_wrong(monkeypatch, capsys, tmp_path):
    (tmp_path / "no.pgn").write_text("nothing here")
    words = ["assay", "make", "chess-flat", "-n", "20", "-o", str(tmp_path / "x"), "--set", f"pgn={tmp_path}/no.pgn"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2 and "at least 10 are needed" in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "x").exists()


# -- datasets ----------------------------------------------------------------------------------------------------------


def test_a_dataset_is_audited(tmp_path):
    sizes = {"train": 120, "valid": 0, "test": 104, "hard": 0, "ood": 0, "pairs": 0}
    make(Recipe("chess-flat", Settings({"width": 72}), sizes=tuple(sizes.items())), tmp_path / "data")
    found = audit(audited_dataset(Dataset.open(tmp_path / "data")))
    assert not found.failed, found.failed


def test_where_the_games_lie_is_no_part_of_the_dataset(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O *\n\n' * 12)
    settings = Settings({"pgn": str(path), "balance": "world", "first": 0, "width": 32})
    sizes = {"train": 6, "valid": 0, "test": 0, "hard": 0, "ood": 0, "pairs": 0}
    make(Recipe("chess-flat", settings, sizes=tuple(sizes.items())), tmp_path / "data")
    manifest = Dataset.open(tmp_path / "data").manifest.to_dict()
    assert "pgn" not in manifest["task"]["config"] and manifest["sources"]["pgn"]["games"] == 12
