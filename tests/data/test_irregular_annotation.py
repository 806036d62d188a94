"""Annotated, changed and extended copies of data that is less regular: rows left out, several labels, odd shards."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, bits, digits
from assay.config import Settings, validate
from assay.data import (
    Annotation,
    ConceptMasks,
    Dataset,
    add_examples,
    annotate,
    cache,
    check_code,
    concept_sets,
    parse_worlds,
    random_worlds,
    rebuild,
    support,
    training_support,
)
from assay.data import annotate as annotating
from assay.data import pairs as pairing
from assay.data.annotated_copy import Annotated, Copy
from assay.data.annotator import Annotator, Given
from assay.data.concept_sets import ConceptSet, label_from
from assay.data.machine_scores import Scores
from assay.data.prolog import _write_split, rules_of
from assay.data.rebuild import Redrawing
from assay.data.row_choice import choose_rows
from assay.errors import ConfigError
from assay.logic import Constraint, Knowledge, Odds, evaluate, parse
from assay.prolog import oracle
from assay.render import Box, Layout, ObjectBox
from assay.worlds import World
from tests.data.test_split_rows import split as split_of
from tests.toys import Coin, Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=9, valid=4, test=7, hard=0, pairs=7)


# -- annotated copies --------------------------------------------------------------------------------------------------


def test_copies_of_several_shards_keep_their_rows_together(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr(annotating, "SHARD_ROWS", 3)
    asked = Annotation(
        splits=["test", "train"], examples=5, label_noise=0.5, concept_noise=0.5, missing=0.3, regions=False
    )
    manifest = annotate(shelf, asked, tmp_path / "copy")
    copy = Dataset.open(tmp_path / "copy")
    about = manifest["task"]["annotation"]
    assert about["splits"] == ["train", "test"] and about["machine"] is None and about["parent"] == shelf.fingerprint
    assert [len(entry["shards"]) for entry in manifest["splits"]] == [2, 2, 2] and copy.layout == Layout(16, 8, 3)
    for name in ("train", "test"):
        old, new = shelf[name], copy[name]
        assert len(new) == 5 and new.index.tolist() == sorted(new.index.tolist()) != list(range(5))
        assert new.pngs == [old.pngs[row] for row in new.index] and (new.labels == old.labels[new.index]).all()
        assert (new.concepts == old.concepts[new.index]).all() and new.texts == [old.texts[row] for row in new.index]
        given = Annotator(shelf.knowledge, asked, name)(Given(new.labels, new.concepts), new.concepts)
        assert (new.given_concepts == given.concepts).all() and (new.given_labels == given.labels).all()
        gaps = given.concepts < 0
        assert about["found"][name] == {
            "examples": 5, "missing": round(gaps.mean(), 6), "wrong": round(((given.concepts != new.concepts) & ~gaps).mean(), 6),
            "wrong_labels": round((given.labels != new.labels).mean(), 6),
        }  # fmt: skip
    assert (copy["valid"].given_concepts == shelf["valid"].concepts).all() and len(copy["valid"]) == 4
    kept = [row for row in shelf["pairs"].pair_rows.tolist() if row in copy["test"].index]
    assert 3 < len(kept) < 7 and copy["pairs"].pair_rows.tolist() == kept
    assert [shard["rows"] for shard in manifest["pairs"]["shards"]] == [3, len(kept) - 3]
    order = copy["train"].table.column_names
    first = order.index("given_concept_one")
    assert order[first:] == [
        "given_concept_one", "given_concept_two", "given_concept_hidden", "given_label_same", "given_label_pile", "style",
    ]  # fmt: skip
    assert about["given"] == order[first:-1]


def test_a_machine_is_called_by_its_source(shelf, tmp_path):
    codes = {name: np.tile([1, 2, 0], (20, 1)) for name in ("train", "valid")}
    codes["train"][:, 0] = np.arange(20) % 2
    for number, (source, called) in enumerate((("a file", "a file"), (None, "predictions"))):
        manifest = annotate(shelf, Annotation(examples=4), tmp_path / str(number), codes, source)
        assert manifest["task"]["annotation"]["machine"] == called
    train = Dataset.open(tmp_path / "1")["train"]
    assert train.given_concepts.tolist() == [[row % 2, 2, 0] for row in train.index.tolist()]


class Clerk:
    """Reads concepts by the numbers of examples."""

    def __init__(self, words=()):
        self.words = words

    def scores(self, data):
        return np.stack([data.index, -data.index], axis=1).astype(float)

    def probabilities(self, data):
        return [np.eye(2)[data.index % 2], np.eye(3)[data.index % 3], np.eye(2)[data.index // 2 % 2]]


def test_what_a_machine_says_goes_to_the_rows_that_are_kept(shelf):
    chosen = {
        name: Annotated(shelf[name].take(np.array(rows)), None, None)
        for name, rows in (("train", [8, 3, 5]), ("valid", [1]), ("test", [6, 2]))
    }
    scores = annotating._ask(Clerk(("a b", "c")), chosen, ["train"], Annotation())
    assert scores.names == ("a_b", "c") and set(scores.rows) == {"train", "valid", "test"}
    for name, rows in (("train", [5, 8]), ("valid", [1]), ("test", [2, 6])):
        assert scores.of(name, np.array(rows)).tolist() == [[row, -row] for row in rows]
    codes = annotating._ask(Clerk(), chosen, ["train", "test"], Annotation())
    assert set(codes) == {"train", "test"} and codes["train"].shape == (9, 3)
    assert codes["train"][[8, 3, 5]].tolist() == [[0, 2, 0], [1, 0, 1], [1, 2, 0]]
    assert (codes["train"][[0, 1, 2, 4, 6, 7]] == -1).all() and codes["test"][6].tolist() == [0, 0, 1]


def test_scores_are_cut_at_the_mean_of_training_or_as_asked(shelf):
    chosen = {
        name: Annotated(shelf[name], None, Given(shelf[name].given_labels, None)) for name in ("test", "valid", "train")
    }
    rows = {
        name: {row: start + row for row in range(len(shelf[name]))}
        for name, start in (("test", 0), ("valid", 7), ("train", 11))
    }
    values = np.concatenate([np.arange(20)[:, None] % 7 - 3.0, np.linspace(-1, 2, 20)[:, None]], axis=1)
    scores = Scores(("u", "v"), rows, values)
    for threshold, cut in ((None, values[11:].mean(axis=0)), (0.0, [0, 0]), ("median", np.median(values[11:], axis=0))):
        asked = Annotation(machine="x", threshold=threshold)
        knowledge, layout, splits = annotating._with_concepts(
            chosen, Layout(16, 8, 3, {"one": Box(0, 0, 1, 1)}), asked, scores
        )
        assert (
            knowledge.space.names == ("u", "v")
            and layout == Layout(16, 8, 3)
            and list(splits) == ["test", "valid", "train"]
        )
        for name, start, stop in (("test", 0, 7), ("valid", 7, 11), ("train", 11, 20)):
            assert splits[name].true.tolist() == (values[start:stop] >= cut).astype(int).tolist()
            assert splits[name].given.concepts is splits[name].true
    with pytest.raises(ConfigError, match="a machine's own concepts take the place of all others"):
        annotating._with_concepts(chosen, Layout(1, 1), Annotation(drop=["one"]), scores)


def test_splits_of_stages_are_annotated_too():
    names = ("train_1", "train_2", "valid_1", "test_1", "old_train")
    holder = type("D", (), {"split_names": names, "__contains__": lambda self, name: name in names})()
    assert annotating._splits(holder, Annotation()) == ["train_1", "train_2", "valid_1"]
    assert annotating._splits(holder, Annotation(splits=["test_1", "train_1"])) == ["train_1", "test_1"]


def test_where_a_split_lies_is_told_as_far_as_the_new_concepts_tell():
    space = bits(["a", "b", "c"])
    copy = Copy(Knowledge.of(bits(["a", "c"]), {"y": "a"}), Layout(1, 1), True)
    assert copy.where("a and not c", space) == "a and not c" and copy.where("a and b", space) == "True"
    assert copy.where("True", space) == "True"


def test_columns_of_a_copy_are_described_in_their_order():
    knowledge = Shelf().knowledge
    columns = ["style", "depth", "index", "parts", "text", "image", "instances", "concept_two", "label_same",
               "given_concept_two", "given_concept_hidden", "given_label_pile", "boundary_pile"]  # fmt: skip
    text = Copy(knowledge, Layout(1, 1), False)._metadata(columns)["huggingface"]
    known = json.loads(text)["info"]["features"]
    image, string, truth = {"_type": "Image"}, *({"dtype": kind, "_type": "Value"} for kind in ("string", "bool"))
    assert list(known.items()) == [
        ("style", string), ("depth", image), ("index", {"dtype": "int64", "_type": "Value"}), ("parts", image),
        ("text", string), ("image", image), ("instances", image), ("concept_two", string), ("label_same", truth),
        ("given_concept_two", string), ("given_concept_hidden", truth), ("given_label_pile", truth), ("boundary_pile", string),
    ]  # fmt: skip


class LateCoin(Coin):
    """The label that is drawn comes second, and a lamp has no part in it."""

    name = "late-coin"
    knowledge = Knowledge.of(
        bits([*"abcd"]), {"first": "a or d", "y": "a + b + c >= 2"}, odds={"y": Odds(parse("2 * (a + b + c) - 3"), 0.7)}
    )
    layout = Layout(4, 1)


def test_luck_is_drawn_anew_only_where_the_odds_are_others(tmp_path):
    old = written(LateCoin(), tmp_path / "coin", train=120, valid=4, test=4, hard=0, pairs=0)
    styles = [json.loads(text)["luck"] for text in old["train"].table["style"].to_pylist()]
    annotate(old, Annotation(drop=["c"]), tmp_path / "without-c")
    new = Dataset.open(tmp_path / "without-c")
    assert new["train"].lawful.all() and (new["train"].labels == old["train"].labels).all()
    assert new.knowledge.labels[1].odds != old.knowledge.labels[1].odds
    luck = np.array([json.loads(text)["luck"] for text in new["train"].table["style"].to_pylist()])
    assert (luck[:, 0] == np.array(styles)[:, 0]).all() and (luck[:, 1] != np.array(styles)[:, 1]).mean() > 0.9
    annotate(old, Annotation(drop=["d"]), tmp_path / "without-d")
    same = Dataset.open(tmp_path / "without-d")["train"]
    assert [json.loads(text)["luck"][1] for text in same.table["style"].to_pylist()] == [pair[1] for pair in styles]
    assert same.lawful.all()


def test_rows_in_shares_of_a_label_that_is_not_the_first():
    space = ConceptSpace((*bits(["a"]).concepts, Concept("shape", ("round", "square", "cross"))))
    knowledge = Knowledge.of(space, {"y": "a", "kind": "shape"})
    concepts = np.array([[row % 2, row % 3] for row in range(30)])
    labels = knowledge.labels_of(concepts)
    asked = validate(Annotation, Settings({"label_shares": {"kind": {"cross": 0.5, "round": 0.25}}, "examples": 12}))
    rows = choose_rows(asked, knowledge, "train", concepts, labels)
    assert np.bincount(labels[rows, 1]).tolist() == [3, 3, 6]
    within = validate(Annotation, Settings({"where": "not a", "label_shares": {"kind": {"round": 1.0}}}))
    assert choose_rows(within, knowledge, "train", concepts, labels).tolist() == [0, 6, 12, 18, 24]


# -- annotators --------------------------------------------------------------------------------------------------------


def test_labels_of_several_values_are_noisy_by_their_own_draws(monkeypatch):
    space = ConceptSpace((*bits(["a"]).concepts, Concept("shape", ("round", "square", "cross"))))
    knowledge = Knowledge.of(space, {"y": "a", "kind": "shape"})
    draws = {("label", "y"): [0.1, 0.3, 0.05], ("label", "kind"): [0.19, 0.21, 0.45]}
    monkeypatch.setattr(Annotator, "draws", lambda self, what, name, rows: np.array(draws[what, name]))
    asked = Annotation(label_noise={"y": 0.2, "kind": 0.4}, label_flips={"kind": {"cross": {"round": 0.5}}})
    labels = np.array([[0, 0], [1, 1], [1, 2]])
    assert Annotator(knowledge, asked, "s").noisy_labels(labels).tolist() == [[1, 1], [1, 0], [0, 0]]
    assert labels.tolist() == [[0, 0], [1, 1], [1, 2]]


def test_gaps_depend_on_the_truth_and_not_on_what_noise_made_of_it(monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"})
    monkeypatch.setattr(Annotator, "draws", lambda self, what, name, rows: np.full(rows, 0.5))
    asked = Annotation(noise_01=1.0, noise_10=1.0, missing={"b": 0.5}, mechanism="mnar", missing_factors=(1.5, 0.5))
    true = np.array([[0, 0], [1, 1], [0, 1]])
    given = Annotator(knowledge, asked, "s")(Given(true[:, :1], true), true)
    assert given.concepts.tolist() == [[1, 1], [0, -1], [1, -1]] and given.labels.tolist() == [[0], [1], [0]]


def test_draws_differ_by_split_seed_kind_and_name():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"})
    made = [
        Annotator(knowledge, Annotation(seed=seed), split).draws(what, name, 4).tolist()
        for seed, split, what, name in ((0, "s", "c", "a"), (1, "s", "c", "a"), (0, "t", "c", "a"), (0, "s", "d", "a"), (0, "s", "c", "b"))
    ]  # fmt: skip
    assert len({tuple(row) for row in made}) == 5


def test_groups_that_are_named_go_before_those_of_constraints():
    space = bits(["p", "q", "r", "s"])
    one = Constraint("one", parse("p or q"), ("one_hot",))
    knowledge = Knowledge.of(space, {"y": "p"}, [one, Constraint("other", parse("r or s"))])
    assert Annotator(knowledge, Annotation(), "s").groups() == [["p", "q"]]
    named = Annotation(subjective_groups=[["r", "s"], ["p", "s"]])
    assert Annotator(knowledge, named, "s").groups() == [["r", "s"], ["p", "s"]]


def test_values_of_one_kind_do_not_stand_for_those_of_another():
    space = ConceptSpace((*bits(["a"]).concepts, Concept("n", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"y": "a"})
    true = np.array([[1, 1], [0, 0], [1, 2]])
    shown = Annotator(knowledge, Annotation(shown_values=[True, 2]), "s").shown_mask(true)
    assert shown.astype(int).tolist() == [[1, 0], [0, 0], [1, 1]]
    present = Annotator(knowledge, Annotation(present=[]), "s")
    assert present._present(space.concepts[1]).tolist() == [False] * 3
    hidden = Annotator(knowledge, Annotation(), "s")._present(Concept("two", ("red", "none", "blue"), nothing="none"))
    assert hidden.tolist() == [True, False, True]


def test_settings_at_the_edge_of_what_can_be():
    fine = Annotation(missing_factors=(0.0, 1.0), concept_flips={"a": {True: {False: 1.0}}}, threshold=0.0, machine="x")
    assert not fine.changes_concepts and Annotation(refine={"n": [1]}).changes_concepts
    assert Annotation(machine="x", reader={"m": 1}, seed=4, examples=3).non_defaults == {"examples": 3}


# -- other concepts ----------------------------------------------------------------------------------------------------


def test_objects_keep_the_attributes_that_are_left():
    space = ConceptSpace(
        (Concept("c1.x", (0, 1)), Concept("c1.y", (0, 1)), Concept("c2.x", (0, 1)), Concept("c2.y", (0, 1))),
        (Slot("c1", "cars", ("x", "y")), Slot("c2", "cars", ("x", "y"))),
    )
    old = Knowledge.of(space, {"l": "c1.y == 1"})
    found = ConceptSet.of(old, Annotation(drop=["c1.x", "c2.x"])).space
    assert [(slot.name, slot.group, slot.attributes) for slot in found.slots] == [
        ("c1", "cars", ("y",)),
        ("c2", "cars", ("y",)),
    ]
    gone = ConceptSet.of(old, Annotation(drop=["c2.x", "c2.y"])).space
    assert [(slot.name, slot.attributes) for slot in gone.slots] == [("c1", ("x", "y"))]


def test_a_rule_through_other_concepts_names_only_those_that_it_needs():
    space = ConceptSpace((*bits(["a", "b"]).concepts, Concept("n", ("x", "y", "z"))))
    old = Knowledge.of(space, {"l": "a", "y": "a and n == 'x'"})
    chosen = ConceptSet.of(old, Annotation(refine={"n": ["x"]}))
    codes = space.all_codes()
    new = chosen.knowledge(chosen.translate(codes), old.labels_of(codes))
    assert "b" not in str(new.labels[1].formula).replace("'", " ").split() and str(new.labels[0].formula) == "a"
    assert (new.labels_of(chosen.translate(codes)) == old.labels_of(codes)).all()
    fine = Knowledge.of(bits(["p", "q"]), {"a": "p", "b": "q"})
    finer = ConceptSet.of(Knowledge(space, old.labels, (), fine), Annotation(drop=["b"]))
    left = finer.knowledge(finer.translate(codes), old.labels_of(codes)).subconcepts
    assert left.label_names == ("a",)


def test_values_that_do_not_occur_are_not_given():
    space = bits(["p", "q"])
    three = Knowledge.of(space, {"n": "p + q + 4"}).labels[0]
    codes = space.all_codes()
    label = label_from(space, [0, 1], codes, np.array([0, 1, 1, 0]), three)
    assert evaluate(label.formula, space, codes).tolist() == [4, 5, 5, 4] and label.values == (4, 5, 6)


def test_as_many_combinations_as_are_listed_are_not_fitted(monkeypatch):
    monkeypatch.setattr(concept_sets, "MOST_PATTERNS", 4)
    monkeypatch.setattr(concept_sets, "_weight_formula", None)
    space = bits(["p", "q"])
    codes = np.repeat(space.all_codes(), 2, axis=0)
    label = label_from(
        space, [0, 1], codes, np.array([0, 1, 0, 0, 1, 1, 0, 1]), Knowledge.of(space, {"y": "p"}).labels[0]
    )
    assert evaluate(label.odds.score, space, space.all_codes()).tolist() == [0, -2560, 2560, 0]


def test_every_value_has_a_weight():
    pytest.importorskip("sklearn")
    concepts = [Concept("n", (5, 6, 7)), Concept("a", (False, True))]
    space = ConceptSpace(tuple(concepts))
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(3, size=900), rng.integers(2, size=900)], axis=1)
    odds = np.array([-1.5, 0.0, 2.0])[codes[:, 0]] - 1.0 * codes[:, 1]
    labels = (rng.random(900) < 1 / (1 + np.exp(-odds))).astype(int)
    formula = concept_sets._weight_formula(concepts, codes, labels)
    scores = evaluate(formula, space, np.array([[0, 0], [1, 0], [2, 0], [0, 1]])) / 64
    assert (
        np.abs(scores - [-1.5, 0.0, 2.0, -2.5]).max() < 0.45 and "n == 7" in str(formula) and "n == 6" in str(formula)
    )
    assert [str(concept_sets._says(concepts[0], code)) for code in (1, 2)] == ["n == 6", "n == 7"]


# -- pairs, redrawing, additions ---------------------------------------------------------------------------------------


def test_pairs_are_numbered_through_and_show_only_the_truth(shelf, tmp_path):
    annotate(shelf, Annotation(splits=["train"], concept_noise=0.5), tmp_path / "copy")
    copy = Dataset.open(tmp_path / "copy")
    pairs = pairing.pairs_of(copy, "train", Shelf(), 5)
    assert len(pairs) == 5 and pairs.data.index.tolist() == list(range(10)) and pairs.data.name == "train-pairs"
    assert not [name for name in pairs.data.columns if name.startswith("given")]
    rows = [change.row for change in pairs.changes]
    assert (pairs.data.concepts[:5] == copy["train"].concepts[rows]).all() and len(set(rows)) == 5
    assert pairs.data.files(range(5)) == copy["train"].files(rows)
    assert [tuple(row) for row in pairs.data.concepts[5:]] == [change.world.codes for change in pairs.changes]
    bare = pairing.pairs_of(copy, "train", Shelf(), 5, pictures=False)
    assert "image" not in bare.data.columns and (bare.data.concepts == pairs.data.concepts).all()


def test_an_intervention_keeps_the_numbers_of_the_worlds_that_it_is_for(shelf):
    data = shelf["train"]
    found = pairing.intervened(shelf, "train", Shelf(), ["one=BLUE"])
    rows = [row for row in range(len(data)) if data.world(row)["one"] == "red"]
    assert 0 < len(rows) < len(data) and [change.row for change in found.changes] == rows
    assert all(change.concept == "do" and change.world["one"] == "blue" for change in found.changes)
    assert (found.data.concepts[: len(rows)] == data.concepts[rows]).all()


def test_options_are_all_values_of_large_concepts():
    space = ConceptSpace((Concept("n", tuple(range(60))), Concept("m", (0, 1))))
    places, codes = pairing._options(Knowledge.of(space, {"y": "n > m"}), np.array([7, 0]), np.random.default_rng(0))
    assert len(places) == 60 and {tuple(row) for row in codes.tolist()} == {
        *((n, 0) for n in range(60) if n != 7),
        (7, 1),
    }


def changed(knowledge, codes, across, change=None, seed=0):
    task = SimpleNamespace(
        knowledge=knowledge, space=knowledge.space, change_world=change or (lambda world, changes: world.do(changes))
    )
    return pairing._changed(task, World(knowledge.space, codes, {}), np.random.default_rng(seed), across)


def test_a_change_crosses_where_any_label_changes():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a", "z": "b"})
    for seed in range(6):
        assert changed(knowledge, (0, 1, 0), True, seed=seed)[0] in ("a", "b")
        assert changed(knowledge, (0, 1, 0), False, seed=seed)[0] == "c"


def test_changes_that_are_possible_come_first_and_others_are_tried_after():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a"}, [Constraint("one", parse("a != b"))])
    for seed in range(6):
        assert changed(knowledge, (1, 0, 0), True, seed=seed)[0] == "c"  # though it leads along the boundary

    def follow(world, changes):
        if "c" in changes:
            return None
        (name,) = changes
        return world.do({"a": not world["a"], "b": not world["b"]}) if name == "a" else world.do(changes)

    for seed in range(6):
        name, made = changed(knowledge, (1, 0, 0), False, follow, seed)
        assert name == "a" and made.codes == (0, 1, 0)


def test_redrawn_rows_keep_their_numbers(shelf):
    some = shelf["test"].take(np.array([5, 2]))
    drawn = Redrawing(Shelf()).draw(some, [some.world(row) for row in range(2)])
    assert drawn.index.tolist() == [5, 2] and drawn.pngs == some.pngs
    assert [cell["path"] for cell in drawn.table["image"].to_pylist()] == ["test-5.png", "test-2.png"]


def test_only_files_that_the_user_gave_are_compared(monkeypatch):
    asked = []
    monkeypatch.setattr(rebuild, "TASKS", SimpleNamespace(entry=lambda name: SimpleNamespace(code=f"code of {name}")))
    monkeypatch.setattr(rebuild, "require_same", lambda *words: asked.append(words))
    dataset = SimpleNamespace(manifest={"task": {"name": "mine"}, "code": "kept"}, folder=Path("x"))
    check_code(dataset, ["other"])
    assert asked == []
    check_code(dataset, ["other", "mine"])
    assert asked == [("code of mine", "kept", "'x'")]


def test_examples_are_added_again_and_again(shelf, tmp_path):
    first = add_examples(shelf, shelf["test"][:2].full_table(), tmp_path / "one", {})
    one = Dataset.open(tmp_path / "one")
    second = add_examples(one, shelf["test"][2:6].full_table(), tmp_path / "two", {"round": 2})
    two = Dataset.open(tmp_path / "two")
    entry = second["splits"][0]
    assert [shard["file"][-10:] for shard in entry["shards"]] == ["00.parquet", "01.parquet", "02.parquet"]
    assert entry["size"] == len(two["train"]) == 15 and first["splits"][0]["size"] == 11
    assert (two["train"].labels == np.concatenate([shelf["train"].labels, shelf["test"].labels[:6]])).all()
    for place, label in enumerate(two.knowledge.labels):
        counts = np.bincount(two["train"].labels[:, place], minlength=2)
        assert entry["labels"][label.name] == {str(v): int(n) for v, n in zip(label.values, counts, strict=True) if n}
        tags = [tag for text in two["train"].table[f"boundary_{label.name}"].to_pylist() for tag in text.split("; ")]
        assert entry["boundary"][label.name] == {tag: tags.count(tag) for tag in sorted(set(tags))}
    assert second["task"]["added"] == {"parent": one.fingerprint, "split": "train", "examples": 4, "round": 2}
    assert two["pairs"].pngs == shelf["pairs"].pngs


# -- support, caches, Prolog -------------------------------------------------------------------------------------------


def test_worlds_of_all_training_splits_whose_concepts_are_known(monkeypatch, tmp_path):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"})
    held = {"train_1": [[0, 1], [0, 1]], "test": [[0, 0]], "train_2": [[1, 1], [1, -1], [0, 1]]}
    dataset = SimpleNamespace(
        split_names=tuple(held),
        knowledge=knowledge,
        symbols=lambda name: SimpleNamespace(concepts=np.array(held[name])),
    )
    monkeypatch.setattr(support.Dataset, "open", lambda source: dataset)
    (tmp_path / "manifest.json").touch()
    found, codes = training_support(str(tmp_path), Settings(), 0)
    assert found is knowledge and codes.tolist() == [[0, 1], [1, 1]]
    held.update(train_1=[[0, -1]], train_2=[[-1, 1]])
    with pytest.raises(ConfigError, match="has no training example whose concepts are all known"):
        training_support(str(tmp_path), Settings(), 0)


def test_worlds_of_a_task_that_is_not_made_are_as_many_as_its_training(monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"})
    asked = []

    def worlds_in(split, seed):
        def codes(places):
            asked.append((split.name, seed, len(places)))
            return np.stack([places % 2, places // 2 % 2], axis=1)

        return SimpleNamespace(total={"train_1": 3, "train_2": 50, "train_3": 50}[split.name], codes=codes)

    splits = [
        SimpleNamespace(name=name, size=size)
        for name, size in (("train_1", 9), ("test", 9), ("train_2", 2), ("train_3", 40))
    ]
    recipe = SimpleNamespace(task=SimpleNamespace(knowledge=knowledge, worlds_in=worlds_in), splits=splits)
    monkeypatch.setattr(support, "recipe_from", lambda source, settings: recipe)
    monkeypatch.setattr(support, "MOST_WORLDS", 5)
    _, codes = training_support("some-task", Settings(), 7)
    assert asked == [("train_1", 7, 3), ("train_2", 7, 2), ("train_3", 7, 5)] and len(codes) == 4


def test_all_worlds_can_be_random_and_one_that_cannot_be_is_refused():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a"}, [Constraint("c", parse("a or b"))])
    assert len(np.unique(random_worlds(knowledge, 6, 0), axis=0)) == 6
    assert random_worlds(knowledge, 3, 1).tolist() != random_worlds(knowledge, 3, 2).tolist()
    for count in (0, 7):
        with pytest.raises(ConfigError, match=f"--support {count}: there are 6 worlds"):
            random_worlds(knowledge, count, 0)
    assert parse_worlds(knowledge, " 101, 011 ,").tolist() == [[1, 0, 1], [0, 1, 1]]
    with pytest.raises(ConfigError, match="a listed world breaks a constraint"):
        parse_worlds(knowledge, "101,001")


def test_the_cache_lies_where_the_environment_says(monkeypatch):
    for name in ("ASSAY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache.cache_folder() == Path.home() / ".cache" / "assay"
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert cache.cache_folder() == Path("/some/where/assay")
    monkeypatch.setenv("ASSAY_CACHE", "/mine")
    assert cache.cache_folder() == Path("/mine")


def test_learners_read_the_labels_that_are_given(tmp_path):
    data = split_of(concept_a=[True, False, True], given_label_z=[False, True, None], given_label_y=[True, True, False])
    assert _write_split(data.knowledge, data, tmp_path / "train") == 3
    expected = {"y": ({"w0", "w1"}, {"w2"}), "z": ({"w1"}, {"w0"})}
    for label, (true, false) in expected.items():
        for ending, worlds in (("f", true), ("n", false)):
            text = (tmp_path / "train" / "aleph" / f"{label}.{ending}").read_text()
            assert {f"w{row}" for row in range(3) if f"(w{row})" in text} == worlds
        assert ":- include('../facts.pl')." in (tmp_path / "train" / "aleph" / f"{label}.b").read_text()
        assert ":- include('../../facts.pl')." in (tmp_path / "train" / "popper" / label / "bk.pl").read_text()


def test_rules_and_programs_stand_in_one_file():
    space = digits(["a"])
    text = rules_of(Knowledge.of(space, {"big": oracle("big(W) :- a(W, X), X > 4.\n\n", space), "few": "a < 3"}))
    assert text.count("big(") == 1 and text.endswith("\nbig(W) :- a(W, X), X > 4.\n")
    assert 0 <= text.index("few(") < text.index("% label big is big/1 of this program, worlds told as facts")


# -- masks and no changes at all ---------------------------------------------------------------------------------------


def test_a_region_shows_only_what_no_thing_shows():
    class Data(SimpleNamespace):
        def __len__(self):
            return 3

    things = [
        [ObjectBox("p", Box(0, 0, 0, 2)), ObjectBox("p", Box(1, 0, 3, 1))],  # the first has no pixels
        [ObjectBox("p", Box(0, 0, 2, 0))],
        [],
    ]
    layout = Layout(4, 2, 1, {"p": Box(3, 0, 4, 2), "q": Box(0, 1, 2, 2)})
    data = Data(things=things, columns=("things",), layout=layout, knowledge=Knowledge.of(bits(["p", "q"]), {"y": "p"}))
    masks = ConceptMasks(data)
    region = [[0, 0, 0, 1], [0, 0, 0, 1]]
    assert masks.of_concept("p").astype(int).tolist() == [[[0, 1, 1, 0], [0, 0, 0, 0]], region, region]
    both = masks.of_concepts(["p", "q"]).astype(int)
    assert both[0].tolist() == [[0, 1, 1, 0], [1, 1, 0, 0]] and both[2].tolist() == [[0, 0, 0, 1], [1, 1, 0, 1]]


def test_no_changes_are_none(shelf):
    assert pairing.choose_changes(shelf["test"], Shelf(), 0, 0) == []
    few = pairing.choose_changes(shelf["test"], Shelf(), 0, 3)
    assert len(few) == 3 and [change.row for change in pairing.choose_changes(shelf["test"], Shelf(), 0, 99)][:3] == [
        change.row for change in few
    ]
    other = pairing.choose_changes(shelf["test"], Shelf(), 1, 99)
    assert [change.row for change in other] != [
        change.row for change in pairing.choose_changes(shelf["test"], Shelf(), 0)
    ]


def test_every_concept_and_every_label_has_draws_of_its_own(monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"})
    asked, draws = [], {"a": 0.1, "b": 0.9, "y": 0.9, "z": 0.1}

    def drawn(self, what, name, rows):
        asked.append((what, name, rows))
        return np.full(rows, draws[name])

    monkeypatch.setattr(Annotator, "draws", drawn)
    one = Annotator(knowledge, Annotation(concept_noise=0.5, label_noise=0.5, missing=0.5), "s")
    codes = np.array([[0, 0], [1, 1], [0, 1]])
    assert one.noisy_concepts(codes).tolist() == [[1, 0], [0, 1], [1, 1]]
    assert one.noisy_labels(codes).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert one.gaps(codes).tolist() == [[True, False]] * 3
    assert asked == [
        ("concept", "a", 3), ("concept", "b", 3), ("label", "y", 3), ("label", "z", 3), ("missing", "a", 3), ("missing", "b", 3),
    ]  # fmt: skip


def test_a_group_with_a_gap_is_left_alone_and_rates_go_by_encoder(monkeypatch):
    space = ConceptSpace(
        bits(["p", "q", "r"]).concepts, encoders=(EncoderGroup("both", ("p", "r")), EncoderGroup("q", ("q",)))
    )
    knowledge = Knowledge.of(space, {"y": "p"})
    monkeypatch.setattr(Annotator, "draws", lambda self, what, name, rows: np.full(rows, 0.25))
    asked = Annotation(subjective_noise=0.5, subjective_groups=[["p", "q", "r"]], missing={"both": 0.5, "r": 0.1})
    one = Annotator(knowledge, asked, "s")
    given = np.array([[1, 1, -1], [0, 1, 0], [1, 1, 0]])
    assert one.subjective_concepts(given).tolist() == [[1, 1, -1], [1, 0, 0], [1, 1, 0]]
    assert (
        one.gaps(np.zeros((2, 3), int)).tolist() == [[True, False, False]] * 2
    )  # its own name goes before its group's
