"""Chess: balanced, lawful, split by game; broken rules are broken as asked for; pictures of every square."""

import json
import sys

import numpy as np
import pytest
from PIL import Image

from assay.auditing import audit, audited_dataset
from assay.cli import main
from assay.config import Settings
from assay.data import Dataset, Recipe, export, make
from assay.errors import AssayError, DataError
from assay.families.chess import source as position_source
from assay.families.chess.positions import SQUARES, codes_of, fens
from assay.families.chess.rules import Board
from assay.families.chess.task import Chess, ChessSane
from assay.tasks import TASKS
from assay.worlds import World

RULES = Board().knowledge()
NAMES = [rule.name for rule in RULES.constraints]
GAME = '[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. O-O f6 6. d4 exd4 7. Nxd4 c5 8. Nb3 Qxd1 9. Rxd1 *\n\n'


def source(task, split="train", seed=0):
    return task.worlds_in(next(one for one in task.splits() if one.name == split), seed)


def test_there_are_eight_rules_for_both_colours():
    assert len(NAMES) == 15 and sum(name.startswith("white_") for name in NAMES) == 7
    tags = [rule.tags for rule in RULES.constraints]
    assert tags.count(("counting",)) == 10 and tags.count(("localising",)) == 5
    assert all(concept.nothing == "empty" for concept in RULES.space.concepts)


@pytest.mark.parametrize("split", ["train", "valid", "test", "hard", "ood"])
def test_positions_are_balanced_and_keep_every_rule(split):
    task = TASKS["chess-flat"]()
    found = source(task, split)
    codes = found.codes(np.arange(40))
    assert task.knowledge.labels_of(codes).sum() == 20 and not RULES.violations(codes).any()
    assert found.contains(codes).all() and len(np.unique(codes, axis=0)) >= 38
    lead = np.isin(codes, range(1, 6)).sum(axis=1) - np.isin(codes, range(7, 12)).sum(axis=1)
    assert (split != "hard") or set(lead.tolist()) == {0, 1}


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
        split.name: {task.ingredients(w)[0] for w in source(task, split.name).worlds(np.arange(16))}
        for split in task.splits()
    }
    names = [name for held in games.values() for name in held]
    assert len(names) == len(set(names)) and all(games.values())


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
    task = ChessSane(per_game=20)
    found = source(task)
    codes = found.codes(np.arange(120))
    sane = task.knowledge.labels_of(codes)[:, 0].astype(bool)
    flags = RULES.violations(codes)
    assert sane.sum() == 60 and (flags.any(axis=1) == ~sane).all()
    assert (flags.sum(axis=0) >= 3).all() and not task.knowledge.constraints
    assert {world.style["game"] for world in found.worlds(np.arange(20))} != {"train 0"}


def test_chosen_rules_are_broken_and_no_others_on_purpose():
    task = ChessSane(rules=["kings_apart", "black_no_pawn_at_the_ends"], violations=[1], sane_ratio=0.25)
    codes = source(task).codes(np.arange(40))
    flags = RULES.violations(codes)
    assert flags.any(axis=1).sum() == 30
    assert set(np.array(NAMES)[flags.any(axis=0)]) == {"kings_apart", "black_no_pawn_at_the_ends"}
    assert flags[:, NAMES.index("kings_apart")].sum() == 15


def test_what_positions_are_broken_does_not_tell():
    """Sane positions are chosen as those that are broken, so that the number of pieces hardly tells."""
    task = ChessSane(violations=[1], per_game=20)
    codes = source(task).codes(np.arange(120))
    sane = task.knowledge.labels_of(codes)[:, 0].astype(bool)
    pieces = (codes > 0).sum(axis=1)
    assert abs(pieces[sane].mean() - pieces[~sane].mean()) < 2


# -- games from files --------------------------------------------------------------------------------------------------


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text(
        "".join(GAME.replace("9. Rxd1", f"9. Rxd1 Bg4 10. {move}") for move in ("f3", "Re1", "Rd3", "Kh1")) * 5
    )
    return str(path)


def test_positions_come_from_a_file(games):
    task = TASKS["chess-flat"](pgn=games, balance="world", per_game=2, first=4)
    assert set(task.sources()["pgn"]) == {"name", "sha256", "games", "broken"} and task.sources()["pgn"]["games"] == 20
    known = {fens(row[None])[0] for game in task.recorded.games for row in game}
    worlds = source(task).worlds(np.arange(10))
    assert {fens(np.array([world.codes]))[0] for world in worlds} <= known
    test = source(task, "test").worlds(np.arange(10))
    assert not {task.ingredients(w) for w in worlds} & {task.ingredients(w) for w in test}
    assert "pgn" not in task.config.model_dump()  # the path of this machine is not written down


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pgn": "nowhere.pgn"}, "pgn 'nowhere.pgn' cannot be read: No such file or directory"),
        ({"view": "4d"}, "view"),
        ({"rule": "a1 == 'X'"}, "X"),
        ({"rule": "z9 == 'P'"}, "no concept named 'z9'"),
        ({"rule": "count(a1 == 'P')"}, "must be true or false"),
        ({"stages": ["a1 == 'P'"]}, "stages is not for positions of chess"),
        ({"width": 8}, "width"),
        ({"engine": "oven"}, "engine"),
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
        ({"rule": "a1 == 'P'"}, "not for chess-sane"),
    ],
)
def test_wrong_settings_of_broken_rules_are_one_line(settings, message):
    with pytest.raises(AssayError, match=message):
        ChessSane(**settings)


def test_a_rule_that_is_never_true_is_refused(monkeypatch):
    monkeypatch.setattr(position_source, "PATIENCE", 20)
    task = Chess(rule="a1 == 'k' and h8 == 'K'", per_game=1)
    with pytest.raises(AssayError, match="no 1 positions where the label is True in 20 games"):
        source(task).codes(np.arange(2))


def test_the_command_line_says_what_is_wrong(monkeypatch, capsys, tmp_path):
    (tmp_path / "no.pgn").write_text("nothing here")
    monkeypatch.setattr(
        sys,
        "argv",
        ["assay", "make", "chess-flat", "-n", "20", "-o", str(tmp_path / "x"), "--set", f"pgn={tmp_path}/no.pgn"],
    )
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2 and "at least 10 are needed" in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "x").exists()


def test_blender_missing_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "bpy", None)
    task = Chess(width=32, engine="blender", quality="draft")
    with pytest.raises(AssayError, match=r"\.\[blender\]") as error:
        task.render(source(task).worlds(np.arange(1))[0])
    assert "\n" not in str(error.value)


# -- datasets ----------------------------------------------------------------------------------------------------------


def test_a_dataset_is_audited_and_exported(tmp_path):
    sizes = {"train": 120, "valid": 0, "test": 104, "hard": 0, "ood": 0, "pairs": 0}
    make(Recipe("chess-flat", Settings({"width": 72}), sizes=tuple(sizes.items())), tmp_path / "data")
    dataset = Dataset.open(tmp_path / "data")
    found = audit(audited_dataset(dataset))
    assert not found.failed, found.failed
    assert export(dataset, "valued", tmp_path / "valued", ["train", "test"]) == {"train": 120, "test": 104}
    held = {
        what: json.loads((tmp_path / "valued" / "labels" / f"test_{what}.json").read_text())
        for what in ("labels", "fen", "bounding_boxes")
    }
    key = "120"
    board = np.array(held["labels"][key])
    assert (
        codes_of([held["fen"][key]])[0].tolist() == board[::-1].ravel().tolist() == dataset["test"].concepts[0].tolist()
    )
    assert len(held["bounding_boxes"][key]) == (board > 0).sum() and all(
        len(box) == 4 for box in held["bounding_boxes"][key].values()
    )
    with Image.open(tmp_path / "valued" / "test" / "CV_0000120.jpg") as image:
        assert image.size == (72, 72)


def test_only_chess_is_written_as_valued(tmp_path):
    sizes = (("train", 8), ("valid", 0), ("test", 0), ("hard", 0))
    make(Recipe("mnadd", Settings(), sizes=sizes), tmp_path / "data")
    with pytest.raises(DataError, match="only chess can be written as VALUED"):
        export(Dataset.open(tmp_path / "data"), "valued", tmp_path / "out")


def test_changing_any_square_changes_pixels_in_three_dimensions():
    task = Chess(width=128, quality="draft", room=False)
    world = source(task).worlds(np.arange(1))[0]
    before = task.render(world).image
    for square in ("a1", "d5", "h8"):
        other = "Q" if world[square] == "empty" else "empty"
        assert (task.render(world.do({square: other})).image != before).any()


def test_games_that_are_read_and_their_source_are_those_of_the_settings(tmp_path):
    path = tmp_path / "some.pgn"
    path.write_text(GAME * 9 + '[Event "?"]\n\n1. e4 Ke3 *\n\n' * 2 + GAME * 6)
    task = Chess(pgn=str(path), most_games=12)
    found = task.sources()["pgn"]
    assert (found["name"], found["games"], found["broken"]) == ("some.pgn", 12, 2)
    assert found["sha256"] == task.recorded.sha256 and Chess(pgn=str(path)).sources()["pgn"]["games"] == 15
    assert Chess().sources() == {} and Chess().recorded is None


def test_a_rule_of_ones_own_is_true_or_false():
    with pytest.raises(AssayError, match="must be true or false, not a number"):
        Chess(rule="a1").knowledge
    assert Chess(rule="a1 == 'P'").knowledge.label_names == ("rule",)


def test_layout_columns_and_choices_are_those_of_the_view():
    flat, plain = TASKS["chess-flat"](width=90), TASKS["chess-flat"](width=80, coordinates=False)
    assert flat.layout.regions["a1"].left == 5 and flat.layout.regions["h8"].right == 85
    assert plain.layout.regions["a1"].left == 0 and plain.layout.regions["h8"].right == 80
    assert flat.columns == ("image", "things", "instances", "text") and flat.style_choices == {}
    room = Chess(width=64)
    assert room.columns == ("image", "things", "instances", "depth", "text") and not room.layout.regions
    assert room.style_choices == {"wood": [[0.0, 0], [0.0, 2], [0.0, 1]]} and room.layout.width == 64


def test_scenes_are_made_as_the_settings_say():
    codes = codes_of(["4k3/8/8/8/8/8/8/4K3"])[0].tolist()
    scenes = {}
    for settings in ({}, {"coordinates": False}, {"room": False}):
        task = Chess(width=96, **settings)
        style = task.style(np.random.default_rng(0), codes, "test")
        scenes[str(settings)] = task.scene(World(task.space, tuple(codes), {**style, "wood": [0.5, 1]}))
    plain, bare, small = scenes.values()
    assert all((scene.width, scene.height) == (96, 96) for scene in scenes.values())
    assert len(plain.instances) == len(bare.instances) == len(small.instances) + 3  # a table and two chairs
    tops = [next(i.material.texture for i in scene.instances if i.material.texture) for scene in scenes.values()]
    assert (tops[0].pixels != tops[1].pixels).any() and (tops[0].pixels == tops[2].pixels).all()
    assert plain.ground.z == bare.ground.z == -1.42 and small.ground.z == -0.036
