"""Where positions come from: what each place asks for, which games are looked through, which rules are broken."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from assay.errors import AssayError, ConfigError
from assay.families.chess import source as position_source
from assay.families.chess.games import Game
from assay.families.chess.positions import codes_of
from assay.families.chess.rules import Board
from assay.families.chess.source import PositionPlan, PositionSource, game_names
from assay.families.chess.task import Chess, ChessSane
from assay.worlds import Split

BOARD = Board()
NAMES = [rule.name for rule in BOARD.rules()]
KINGS = "4k3/8/8/8/8/8/8/4K3"
OPENING = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


class FewGames:
    """Games of so many positions: two kings, and a white pawn on a square that tells game and position apart."""

    def __init__(self, length=6):
        self.length, self.asked = length, []

    def game(self, pool, split, number):
        self.asked.append((pool, split, number))
        rows = np.repeat(codes_of([KINGS]), self.length, axis=0)
        for turn in range(self.length):
            rows[turn, 8 + (number * self.length + turn) % 48] = 1
        return Game(f"{pool} {split} {number}", rows)


class OpeningGames:
    """Games that never leave the opening."""

    def game(self, pool, split, number):
        row = codes_of([OPENING])
        row[0, 16 + number % 32] = 5  # another queen somewhere, so that positions differ
        return Game(f"opening {number}", row)


def drawn_style(rng, codes, pool):
    return {"luck": int(rng.integers(1000)), "pool": pool, "pieces": len(np.flatnonzero(codes))}


def source_of(games, split=None, seed=0, **plan):
    usual = PositionPlan(games, first=2, per_game=3, label=None, where=None, inside=lambda codes: np.ones(len(codes)))
    split = split or Split("hard", 20, pool="test")
    return PositionSource(replace(usual, **plan), BOARD.space, split, seed, "purpose", style=drawn_style)


def pawns(codes):
    return [int(np.flatnonzero(row == 1)[0]) for row in codes]


def test_positions_come_in_blocks_from_the_games_of_their_split():
    games = FewGames()
    found = source_of(games)
    codes = found.codes(np.array([4, 0, 1, 2, 3]))
    assert set(games.asked) == {("test", "hard", 0), ("test", "hard", position_source.PATIENCE)}
    block = {8 + turn for turn in range(2, 6)}  # of the first game, without its first two positions
    assert set(pawns(codes[1:4])) < block and len(set(pawns(codes[1:4]))) == 3
    later = {8 + (position_source.PATIENCE * 6 + turn) % 48 for turn in range(2, 6)}
    assert set(pawns(codes[[0, 4]])) < later and codes.dtype == np.int64
    worlds = found.worlds(np.array([3, 0]))
    assert [world.codes for world in worlds] == [tuple(codes[4].tolist()), tuple(codes[1].tolist())]
    assert [game_names(world.style) for world in worlds] == [("test hard 200",), ("test hard 0",)]
    assert [(world.style["pool"], world.style["pieces"]) for world in worlds] == [("test", 3)] * 2
    assert worlds[0].style["luck"] != worlds[1].style["luck"]
    assert found.worlds(np.array([0]))[0] == worlds[1]
    assert found.total == 13**64 and found.contains(codes).all()


def test_another_seed_split_or_purpose_draws_other_positions_and_styles():
    places = np.arange(12)
    usual = source_of(FewGames(30)).codes(places)
    assert np.array_equal(usual, source_of(FewGames(30)).codes(places))
    for other in (source_of(FewGames(30), seed=1), source_of(FewGames(30), Split("ood", 20, pool="test"))):
        assert not np.array_equal(usual, other.codes(places))
        assert [w.style["luck"] for w in other.worlds(places)] != [
            w.style["luck"] for w in source_of(FewGames(30)).worlds(places)
        ]


def test_a_block_goes_on_to_more_games_where_one_has_too_few_positions_and_takes_each_once():
    games = FewGames(3)  # one position is left of each
    codes = source_of(games, per_game=5).codes(np.arange(5))
    assert pawns(codes) == [8 + 3 * number + 2 for number in range(5)]
    same = source_of(FewGames(3), per_game=16).codes(np.arange(16))
    assert len(np.unique(same, axis=0)) == 16
    with pytest.raises(ConfigError, match=r"^split 'hard': no 17 positions of the kind asked for in 200 games$"):
        source_of(FewGames(3), per_game=17).codes(np.arange(1))  # the seventeenth is the first again


def test_positions_are_taken_in_any_order_and_only_some_of_a_long_game(monkeypatch):
    monkeypatch.setattr(position_source, "LOOKED_AT", 4)
    found = source_of(FewGames(40), per_game=6).codes(np.arange(6))
    assert pawns(found) != sorted(pawns(found))
    first = {8 + turn for turn in range(2, 40)}
    assert set(pawns(found[:4])) < first
    second = {8 + (40 + turn) % 48 for turn in range(2, 40)}
    assert set(pawns(found[4:])) < second


def label(rows):
    return (rows[:, 8:56] == 1).argmax(axis=1) % 2 == 0


def where(rows):
    return (rows[:, 8:56] == 1).argmax(axis=1) % 3 != 0


def test_labels_come_by_turns_from_the_same_games_and_only_where_the_split_has_them():
    games = FewGames(24)
    found = source_of(games, label=label, where=where)
    codes = found.codes(np.arange(12))
    labels, allowed = label(codes), where(codes)
    assert labels.reshape(-1, 2).sum(axis=1).tolist() == [1] * 6 and allowed.all()
    assert labels.tolist() != [True, False] * 6 and labels.tolist() != [False, True] * 6
    assert {number for _, _, number in games.asked} == {0, position_source.PATIENCE}
    assert len(np.unique(codes, axis=0)) >= 11  # each label goes on through its own positions
    never = source_of(FewGames(24), label=lambda rows: np.zeros(len(rows), dtype=bool))
    with pytest.raises(ConfigError, match=r"no 3 positions where the label is True in 200 games"):
        never.codes(np.arange(2))


def test_pieces_are_scattered_only_where_the_plan_wants_it():
    usual, elsewhere = (source_of(FewGames(), scattered=flag).codes(np.arange(6)) for flag in (False, True))
    home = codes_of([KINGS])[0] > 1
    assert (usual[:, home] > 1).all() and not (elsewhere[:, home] > 1).all()
    assert (np.sort(usual, axis=1) == np.sort(elsewhere, axis=1)).all()


# -- broken rules ------------------------------------------------------------------------------------------------------

RULES = ("white_one_king", "black_at_most_16", "white_at_most_8_pawns")


def sane_source(**plan):
    return source_of(OpeningGames(), first=0, rules=RULES, **plan)


@pytest.mark.parametrize("sane", [Fraction(1, 4), Fraction(3, 5)])
def test_the_share_that_is_sane_and_each_rule_come_by_turns(sane):
    places = range(3 * sane.denominator * 4)
    wanted = [sane_source(sane=sane)._request(place) for place in places]
    flags = np.array([request.sane for request in wanted]).reshape(-1, sane.denominator)
    assert (flags.sum(axis=1) == sane.numerator).all() and len({tuple(row) for row in flags.tolist()}) > 1
    for flag, number in ((True, sane.numerator), (False, sane.denominator - sane.numerator)):
        kinds = [request.kind for request in wanted if request.sane is flag]
        assert {kind: kinds.count(kind) for kind in RULES} == dict.fromkeys(RULES, 4 * number)
    asked = {(request.kind, request.number) for request in wanted}
    assert len(asked) == len(wanted)  # no position is asked for twice, broken or not
    assert all(request.number % 2 == request.sane for request in wanted)


def test_sane_positions_are_real_ones_and_the_others_have_the_rule_broken_that_was_asked_for():
    found, places = sane_source(), np.arange(24)
    codes = found.codes(places)
    real = {tuple(OpeningGames().game("", "", number).positions[0].tolist()) for number in range(32)}
    flags = BOARD.knowledge().violations(codes)
    for place, row in enumerate(codes.tolist()):
        request = found._request(place)
        assert (tuple(row) in real) is request.sane
        if not request.sane:
            assert flags[place, NAMES.index(request.kind)]


def test_of_several_rules_the_one_asked_for_is_broken_last():
    found, row = sane_source(counts=(3,)), codes_of([OPENING])[0]
    few = sane_source(counts=(1,))
    for place in range(12):
        for rule in RULES:
            broken = BOARD.knowledge().violations(found._break_rules(place, rule, row)[None])[0]
            assert broken[NAMES.index(rule)] and {NAMES[i] for i in np.flatnonzero(broken)} >= set(RULES)
            alone = BOARD.knowledge().violations(few._break_rules(place, rule, row)[None])[0]
            assert alone[NAMES.index(rule)] and not any(alone[NAMES.index(other)] for other in RULES if other != rule)
    counts = [
        BOARD.knowledge()
        .violations(sane_source(counts=(1, 3))._break_rules(place, RULES[0], row)[None])[0][
            [NAMES.index(name) for name in RULES]
        ]
        .sum()
        for place in range(10)
    ]
    assert sorted(counts) == [1] * 5 + [3] * 5  # each entry equally often


def test_kinds_of_broken_rules_look_through_games_of_their_own():
    first = {(rule, block): sane_source()._find_positions(rule, block)[0].game for rule in RULES for block in (0, 1)}
    assert first == {
        (rule, block): f"opening {(block * 3 + turn) * position_source.PATIENCE}"
        for turn, rule in enumerate(RULES)
        for block in (0, 1)
    }


def test_only_styles_that_name_a_game_have_an_ingredient():
    assert game_names({"game": "train 7", "side": "a1"}) == ("train 7",)
    assert game_names({"side": "a1"}) == ()


# -- what tasks plan ---------------------------------------------------------------------------------------------------


def plan_of(task, name, seed=3):
    split = next(split for split in task.splits() if split.name == name)
    return split, task.plan(split, seed)


def test_the_plan_of_each_split_is_what_the_settings_say():
    task = Chess(first=5, per_game=7, balance="world")
    pools = {split.name: (split.pool, split.balance) for split in task.splits()}
    assert pools == {
        "train": ("train", "world"),
        "valid": ("valid", "world"),
        "test": ("test", "world"),
        "hard": ("test", "label"),
        "ood": ("test", "label"),
    }
    for name in pools:
        split, plan = plan_of(task, name)
        assert (plan.first, plan.per_game, plan.rules) == (5, 7, ())
        assert plan.scattered is (name == "ood") and (plan.label is None) is (split.balance == "world")
        assert (plan.where is None) is (name != "hard")
        assert plan.games.seed == 3 and plan.games.purpose == ("chess", 2)
    assert {split.balance for split in Chess().splits()} == {"label"}


def test_hard_positions_have_one_piece_more_or_none_unless_a_rule_is_given():
    fens = [KINGS.replace("4K3", f"{text}") for text in ("PP2K3", "P3K3", "4K3", "p3K3", "P2pK3", "PPpPK2p")]
    rows = codes_of(fens)  # 2, 1, 0, -1, 0 and 1 pieces more
    _, plan = plan_of(Chess(), "hard")
    assert plan.where(rows).tolist() == [False, True, True, False, True, True]
    _, own = plan_of(Chess(rule="a1 == 'P'"), "hard")
    assert own.where is None and own.label(rows).tolist() == [1, 1, 0, 0, 1, 1]
    two = codes_of(["4k3/8/8/8/8/8/P7/4K3", "4k3/8/8/8/8/8/8/P3K3", "4k3/4K3/8/8/8/8/P7/8"])
    assert plan.inside(two).tolist() == [True, False, False]  # pawns at the ends and kings that meet are none


def test_broken_rules_are_planned_as_the_settings_say_and_hard_ones_are_one_of_two():
    task = ChessSane(rules=list(RULES[::-1]), violations=[2, 1, 3], sane_ratio=0.35)
    _, plan = plan_of(task, "train")
    assert (plan.rules, plan.sane, plan.counts) == (RULES[::-1], Fraction(7, 20), (2, 1, 3))
    _, hard = plan_of(task, "hard")
    assert (hard.rules, hard.sane, hard.counts, hard.where) == (RULES[::-1], Fraction(1, 2), (1,), None)
    assert plan_of(task, "ood")[1].scattered and not hard.scattered


def test_released_rules_are_those_of_the_task():
    names = [rule.name for rule in Chess(as_released=True).knowledge.constraints]
    assert names == [name for name in NAMES if name != "white_promoted"]
    row = np.zeros((1, 64), dtype=np.int64)
    row[0, :4], row[0, 30], row[0, 60] = 5, 6, 12  # four queens, and no pawn that is there; nine of them would be many
    row[0, 4:12] = 5
    assert ChessSane(as_released=True).knowledge.labels_of(row)[0, 0] == 1
    assert ChessSane().knowledge.labels_of(row)[0, 0] == 0


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        (Chess, {"held_out": ["a1 == 'P'"]}, "held_out"),
        (Chess, {"prop_in_distribution": 0.5}, "prop_in_distribution is not for positions of chess"),
        (Chess, {"most_games": 9}, "most_games"),
        (Chess, {"first": -1}, "first"),
        (Chess, {"per_game": 21}, "per_game"),
        (Chess, {"sides": []}, "sides"),
        (Chess, {"coordinates": False, "sides": ["a1", "white"]}, "without coordinates nothing says"),
        (ChessSane, {"balance": "world"}, "not for chess-sane"),
        (ChessSane, {"violations": [1, 3], "rules": list(RULES[:2])}, "from 1 to 2 rules can be broken"),
        (ChessSane, {"sane_ratio": 0.04}, "sane_ratio"),
    ],
)
def test_settings_are_refused_at_their_ends(task, settings, message):
    with pytest.raises(AssayError, match=message):
        task(**settings)


def test_settings_are_taken_at_their_ends():
    assert Chess(most_games=10, first=0, per_game=20, jitter=3).config.per_game == 20
    assert Chess(coordinates=False, sides=["a1"]).config.seen_from == ["a1"]
    assert Chess(coordinates=False).config.seen_from == ["a1"]
    assert Chess(sides=["left", "a1"]).config.seen_from == ["left", "a1"]
    assert ChessSane(rules=list(RULES[:2]), violations=[2]).config.violations == [2]
