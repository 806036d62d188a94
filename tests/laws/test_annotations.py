"""Laws of every way to annotate: each has the rate and the direction that it says, and touches nothing else."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest

from assay.base import AssayError, Settings, validate
from assay.dataset import Dataset
from assay.exchange import Annotation, annotate
from assay.logic import Concept, ConceptSpace, Constraint, EncoderGroup, Knowledge, bits, evaluate, parse
from assay.render import Layout, Picture
from assay.tasks import Task
from tests.toys import Coin, Shelf, written

ROWS = 3000
LIMIT = 0.045
"""How far a share of a quarter of the rows may be from its chance: three standard errors."""


class Marbles(Task):
    """Two bits, a shape, and a cap that may be missing, in words; of `p`, `q` and `r` at most one is true."""

    name = "marbles"
    sizes: ClassVar[Mapping[str, int]] = {"train": ROWS, "valid": 8, "test": 40}
    columns = ("text",)
    layout = Layout(8, 8)

    @cached_property
    def knowledge(self):
        others = Concept("shape", ("round", "square", "cross")), Concept("cap", ("red", "none", "blue"), nothing="none")
        groups = (
            EncoderGroup("bit", ("a", "b")),
            *(EncoderGroup(name, (name,)) for name in ("shape", "cap", "p", "q", "r")),
        )
        space = ConceptSpace((*bits(["a", "b"]).concepts, *others, *bits(["p", "q", "r"]).concepts), encoders=groups)
        one = Constraint("one", parse("p + q + r <= 1"), ("one_hot",))
        return Knowledge.of(space, {"y": "a and b", "kind": "shape"}, [one])

    def style(self, rng, codes, pool):
        return {"seed": int(rng.integers(10**6))}

    def render(self, world):
        return Picture(np.zeros((8, 8), np.uint8), text=" ".join(map(str, world.values.values())))


@pytest.fixture(scope="module")
def marbles(tmp_path_factory):
    return written(
        Marbles(), tmp_path_factory.mktemp("marbles") / "data", train=ROWS, valid=8, test=40, hard=0, pairs=0
    )


def copied(parent, folder, **settings):
    annotate(parent, validate(Annotation, Settings(settings)), folder)
    return Dataset.open(folder)


def shares(true, given, value):
    """Return how often each code, or -1, was given where a code is true."""
    found = given[true == value]
    return {code: float((found == code).mean()) for code in np.unique([*given[given != true], value])}


KEEP = {}
NEVER = {-1: 1.0}
RATES = {
    "concept noise": ({"concept_noise": 0.3}, {"a": {0: {1: 0.3}, 1: {0: 0.3}}, "shape": {0: {1: 0.15, 2: 0.15}, 2: {0: 0.15, 1: 0.15}}}),
    "by concept before its group": ({"concept_noise": {"bit": 0.4, "b": 0.1}}, {"a": {0: {1: 0.4}}, "b": {0: {1: 0.1}}, "shape": {0: KEEP}}),
    "up": ({"noise_01": 0.3}, {"a": {0: {1: 0.3}, 1: KEEP}, "shape": {0: KEEP}}),
    "down": ({"noise_10": {"bit": 0.3}}, {"b": {0: KEEP, 1: {0: 0.3}}, "p": {1: KEEP}}),
    "flips": ({"concept_flips": {"shape": {"round": {"cross": 0.25}}, "cap": {"none": {"red": 0.5}}}},
              {"shape": {0: {2: 0.25}, 1: KEEP}, "cap": {1: {0: 0.5}, 0: KEEP}, "a": {0: KEEP}}),
    "one after another": ({"concept_noise": {"a": 0.2}, "noise_01": {"a": 0.5}, "concept_flips": {"a": {True: {False: 0.5}}}},
                          {"a": {0: {1: 0.3}, 1: {0: 0.55}}}),
    "missing": ({"missing": 0.3}, {"a": {0: {-1: 0.3}, 1: {-1: 0.3}}, "cap": {1: {-1: 0.3}}}),
    "missing by group": ({"missing": {"bit": 0.5, "b": 0.1}}, {"a": {1: {-1: 0.5}}, "b": {1: {-1: 0.1}}, "shape": {0: KEEP}}),
    "missing not at random": ({"missing": {"bit": 0.4, "cap": 0.8}, "mechanism": "mnar"},
                              {"a": {1: {-1: 0.6}, 0: {-1: 0.2}}, "cap": {0: NEVER, 2: NEVER, 1: {-1: 0.4}}}),
    "other factors": ({"missing": {"shape": 0.5}, "mechanism": "mnar", "missing_factors": [0.2, 1.7], "present": ["square"]},
                      {"shape": {1: {-1: 0.1}, 0: {-1: 0.85}}}),
    "gaps by the truth, not by what noise made of it": (
        {"noise_01": {"a": 1.0}, "noise_10": {"a": 1.0}, "missing": {"a": 0.5}, "mechanism": "mnar"},
        {"a": {1: {-1: 0.75, 0: 0.25}, 0: {-1: 0.25, 1: 0.75}}}),
    "subjective noise": ({"subjective_noise": 0.4}, {"p": {1: {0: 0.4}}, "a": {1: KEEP}}),
    "subjective noise of groups": ({"subjective_noise": 0.4, "subjective_groups": [["a", "b"]]}, {"p": {1: KEEP}}),
    "shown concepts": ({"shown_concepts": ["b"]}, {"b": {0: KEEP, 1: KEEP}, "a": {0: NEVER, 1: NEVER}, "cap": {2: NEVER}}),
    "shown values": ({"shown_values": [True, "round"]}, {"a": {1: KEEP, 0: NEVER}, "shape": {0: KEEP, 1: NEVER}, "cap": {0: NEVER}}),
    "label noise": ({"label_noise": 0.3}, {"y": {0: {1: 0.3}, 1: {0: 0.3}}, "kind": {0: {1: 0.15, 2: 0.15}}, "a": {0: KEEP}}),
    "label noise by name": ({"label_noise": {"kind": 0.2}}, {"y": {0: KEEP}, "kind": {1: {0: 0.1, 2: 0.1}}}),
    "label flips": ({"label_flips": {"kind": {"square": {"round": 0.5}}}}, {"kind": {1: {0: 0.5}, 0: KEEP}, "y": {1: KEEP}}),
}  # fmt: skip


def columns(data, what):
    """Return each concept and label by name: true or given."""
    concepts, labels = (data.annotated_concepts, data.given_labels) if what == "given" else (data.concepts, data.labels)
    names = *data.knowledge.space.names, *data.knowledge.label_names
    return dict(zip(names, (*concepts.T, *labels.T), strict=True))


@pytest.mark.parametrize("case", RATES)
def test_what_is_given_has_the_rates_that_were_asked_for(case, marbles, tmp_path):
    settings, expected = RATES[case]
    new = copied(marbles, tmp_path / "new", **settings)
    train, before = new["train"], marbles["train"]
    assert (
        (train.concepts == before.concepts).all()
        and (train.labels == before.labels).all()
        and train.texts == before.texts
    )
    true, given = columns(train, "true"), columns(train, "given")
    for name, by_value in expected.items():
        for value, chances in by_value.items():
            found = shares(true[name], given[name], value)
            wanted = {**dict.fromkeys(found, 0.0), **chances}
            wanted[value] = 1 - sum(chances.values())
            assert found == pytest.approx({code: wanted[code] for code in found}, abs=LIMIT), (name, value)
            if chances in (KEEP, NEVER):
                assert (given[name][true[name] == value] == (value if chances == KEEP else -1)).all()
    about = new.manifest.to_dict()["task"]["annotation"]
    concepts, labels = train.annotated_concepts, train.given_labels
    assert about["found"]["train"] == {
        "examples": ROWS, "missing": pytest.approx((concepts < 0).mean(), abs=1e-6),
        "wrong": pytest.approx(((concepts != train.concepts) & (concepts >= 0)).mean(), abs=1e-6),
        "wrong_labels": pytest.approx((labels != train.labels).mean(), abs=1e-6),
    }  # fmt: skip
    test = new["test"]
    assert (test.annotated_concepts == test.concepts).all() and (test.given_labels == test.labels).all()


def test_subjective_noise_moves_the_one_that_is_true_to_any_other_of_its_group(marbles, tmp_path):
    train = copied(marbles, tmp_path / "new", subjective_noise=0.5)["train"]
    before, after = train.concepts[:, 4:], train.annotated_concepts[:, 4:]
    assert (after.sum(axis=1) == before.sum(axis=1)).all()
    moved = after[(before[:, 0] == 1) & (after[:, 0] == 0)]
    assert moved[:, 1].mean() == pytest.approx(0.5, abs=0.1) and (moved[:, 1] ^ moved[:, 2]).all()


@pytest.mark.parametrize("count", [0, 1, 20, ROWS + 5])
def test_in_so_many_examples_all_concepts_are_shown_and_in_the_others_none(count, marbles, tmp_path):
    given = copied(marbles, tmp_path / "new", shown_examples=count)["train"].annotated_concepts
    assert ((given >= 0).all(axis=1) | (given < 0).all(axis=1)).all()
    assert (given[:, 0] >= 0).sum() == min(count, ROWS)


@pytest.mark.parametrize("key", ["missing", "concept_noise", "label_noise"])
def test_what_changes_at_a_low_rate_changes_at_a_high_one_whatever_else_is_asked(key, marbles, tmp_path):
    def changed(name, **settings):
        train = copied(marbles, tmp_path / name, **settings)["train"]
        return (
            (train.annotated_concepts != train.concepts)
            if key != "label_noise"
            else (train.given_labels != train.labels)
        )

    few, many = changed("few", **{key: 0.1}), changed("many", **{key: 0.3})
    assert (many | ~few).all() and few.sum() < many.sum()
    other = {"label_noise": 0.5} if key != "label_noise" else {"concept_noise": 0.5, "missing": 0.5}
    assert (changed("both", **{key: 0.1}, **other) == few).all()
    assert (changed("seed", **{key: 0.1}, seed=1) != few).any()


def test_the_same_is_given_again_and_other_splits_have_other_draws(marbles, tmp_path):
    one, two = (copied(marbles, tmp_path / name, missing=0.5, splits=["train", "test"]) for name in ("one", "two"))
    assert one.fingerprint == two.fingerprint != marbles.fingerprint
    assert ((one["train"].annotated_concepts < 0)[:40] != (one["test"].annotated_concepts < 0)).any()


# -- rows --------------------------------------------------------------------------------------------------------------

ROW_CHOICES = {
    "where": ({"where": "a and not b"}, {"a and not b": 1.0}),
    "where, some": ({"where": "a and not b", "examples": 50}, {"a and not b": 1.0}),
    "label shares": ({"label_shares": {"y": {True: 0.8}}}, {"a and b": 0.8}),
    "label shares of some": ({"label_shares": {"kind": {"cross": 0.5, "round": 0.25}}, "examples": 200},
                             {"shape == 'cross'": 0.5, "shape == 'round'": 0.25, "shape == 'square'": 0.25}),
    "shares of formulas": ({"shares": {"shape == 'round' and a": 0.6, "shape == 'cross'": 0.15}, "examples": 333},
                           {"shape == 'round' and a": 0.6, "shape == 'cross'": 0.15}),
    "one value only": ({"label_shares": {"y": {True: 1.0}}}, {"a and b": 1.0}),
    "none of it": ({"shares": {"a": 0.0}}, {"a": 0.0}),
    "within": ({"where": "not p", "shares": {"a": 0.9}, "seed": 3}, {"not p": 1.0, "a": 0.9}),
    "some": ({"examples": 7}, {}),
    "more than there are": ({"examples": 10 * ROWS}, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", ROW_CHOICES)
def test_rows_are_kept_in_the_shares_asked_for_to_less_than_one_row(case, marbles, tmp_path):
    settings, expected = ROW_CHOICES[case]
    new, old = copied(marbles, tmp_path / "new", splits=["train"], **settings)["train"], marbles["train"]
    space = old.knowledge.space
    for formula, share in expected.items():
        there = evaluate(parse(formula), space, new.concepts).sum()
        assert abs(there - share * len(new)) < 1
    index = new.index.tolist()
    assert (
        index == sorted(set(index))
        and (new.concepts == old.concepts[index]).all()
        and new.texts == [old.texts[row] for row in index]
    )
    assert len(new) == min(settings.get("examples", len(new)), ROWS)


def test_the_rows_that_are_kept_depend_on_the_seed_and_grow_with_their_number(marbles, tmp_path):
    few, more, other = (
        copied(marbles, tmp_path / str(number), splits=["train"], examples=count, seed=seed)["train"].index.tolist()
        for number, (count, seed) in enumerate(((50, 0), (80, 0), (50, 1)))
    )
    assert set(few) < set(more) and few != other


# -- what cannot be ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=24, valid=6, test=12, hard=0, pairs=0)


REFUSED = [
    ({"drop": ["q"]}, "no concept named 'q'"), ({"drop": ["one", "two", "hidden"]}, "drop: no concept is left"),
    ({"drop": ["two"], "refine": {"two": ["red"]}}, "cannot be both dropped and refined"),
    ({"refine": {"two": []}}, "give distinct values of 'two'"), ({"refine": {"two": ["red", "red"]}}, "give distinct values of 'two'"),
    ({"refine": {"two": ["green"]}}, "green"), ({"refine": {"q": [1]}}, "no concept named 'q'"),
    ({"label_noise": {"q": 0.1}}, "label_noise: no label 'q'"), ({"label_noise": 1.5}, "label_noise"),
    ({"concept_noise": {"q": 0.1}}, "concept_noise: no concept 'q'"), ({"missing": {"q": 0.1}}, "missing: no concept 'q'"),
    ({"missing": 1.5}, "missing"), ({"noise_01": {"one": 0.5}}, "concept 'one' is not true or false"),
    ({"label_flips": {"q": {}}}, "label_flips: no label 'q'"), ({"label_flips": {"same": {True: {"x": 0.1}}}}, "'same' has no value 'x'"),
    ({"concept_flips": {"two": {"x": {"red": 1}}}}, "'two' has no value 'x'"),
    ({"concept_flips": {"two": {"red": {"blue": 0.7, "none": 0.7}}}}, "the chances to leave 'red' of 'two' add up to 1.4"),
    ({"subjective_noise": 0.2}, "subjective_noise needs subjective_groups"),
    ({"subjective_noise": 0.2, "subjective_groups": [["hidden"]]}, "are not two or more true-or-false concepts"),
    ({"subjective_noise": 0.2, "subjective_groups": [["one", "two"]]}, "are not two or more true-or-false concepts"),
    ({"missing": 0.2, "mechanism": "mnar"}, "no value of concept 'one' says that nothing is there"),
    ({"missing_factors": [-1, 1]}, "missing_factors are not negative"), ({"present": ["q"]}, "present: no concept has the value 'q'"),
    ({"shown_concepts": ["q"]}, "shown_concepts: no concept 'q'"), ({"shown_values": ["q"]}, "shown_values: no concept has the value 'q'"),
    ({"shown_examples": -1}, "shown_examples"), ({"where": "q == 1"}, "'q'"), ({"where": "two"}, "is not true or false"),
    ({"where": "one == 'red' and one == 'blue'"}, "holds in no row of split 'train'"), ({"examples": 0}, "examples"),
    ({"shares": {"one == 'red'": 0.5, "one != 'blue'": 0.5}}, "two of the formulas hold in one row"),
    ({"shares": {"one == 'red'": 0.7, "one == 'blue'": 0.7}}, "the shares add up to 1.4, more than 1"),
    ({"shares": {"one == 'red'": 0.3, "one == 'blue'": 0.3}}, "no row is left for the rest"),
    ({"shares": {"one == 'red'": 0.5}, "label_shares": {"same": {True: 0.5}}}, "give shares or label_shares, not both"),
    ({"label_shares": {True: 0.5}}, "say of which label: same, pile"), ({"label_shares": {"q": {True: 0.5}}}, "'q'"),
    ({"label_shares": {"same": {"x": 0.5}}}, "label 'same' has no value 'x'"),
    ({"label_shares": {"same": {True: 0.5}, "pile": {True: 0.5}}}, "give the shares of one label"),
    ({"label_shares": {"same": {True: 0.9}}, "examples": 24}, "has rows for .* examples in the shares asked for, not 24"),
    ({"threshold": 0.5}, "a threshold needs a machine"), ({"reader": {"model": "x"}}, "reader: settings of a machine, and none is named"),
    ({"splits": ["trian"]}, "no split named 'trian'; did you mean 'train'"), ({"other": 1}, "other"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "why"), REFUSED, ids=[str(settings) for settings, _ in REFUSED])
def test_what_cannot_be_annotated_is_told_in_a_line_and_leaves_nothing(settings, why, shelf, tmp_path):
    with pytest.raises(AssayError, match=why) as caught:
        copied(shelf, tmp_path / "new", **settings)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


# -- other concepts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"drop": ["p", "r"]}, {"drop": ["b"]}, {"drop": ["shape"]}, {"refine": {"shape": ["cross", "round", "square"]}},
        {"refine": {"cap": ["red"]}}, {"drop": ["a"], "refine": {"shape": ["square"], "cap": ["none", "blue"]}, "regions": False},
    ],
)  # fmt: skip
def test_other_concepts_are_functions_of_the_old_ones_and_labels_stay(settings, marbles, tmp_path):
    """A label that other concepts do not decide is left to chance where it is true or false, and refused where not."""
    try:
        new = copied(marbles, tmp_path / "new", missing=0.2, **settings)
    except AssayError as error:
        assert "only true-or-false labels can be left to chance" in str(error) or "have no part in the rule" in str(
            error
        )
        assert {"shape"} & {*settings.get("drop", ()), *settings.get("refine", ())}
        return
    refined, space = settings.get("refine", {}), new.knowledge.space
    for split in new.split_names:
        data, old = new[split], marbles[split]
        assert (data.labels == old.labels).all() and data.lawful.all() and data.texts == old.texts
        for place, name in enumerate(space.names):
            concept, _, value = name.partition("_is_")
            before = columns(old, "true")[concept]
            if value:
                before = (before == marbles.knowledge.space.concept(concept).values.index(value)).astype(int)
            assert (data.concepts[:, place] == before).all()
    kept = [name for name in marbles.knowledge.space.names if name not in {*settings.get("drop", ()), *refined}]
    assert set(space.names) == {*kept, *(f"{name}_is_{value}" for name, values in refined.items() for value in values)}
    assert not new.knowledge.violations(new["train"].concepts).any()
    assert new.manifest.to_dict()["splits"][0]["disjoint_from"] == []
    for place, label in enumerate(new.knowledge.labels):
        if label.odds is not None:
            patterns, where = np.unique(new["train"].concepts, axis=0, return_inverse=True)
            chances = new.knowledge.chances(patterns)[:, place]
            mean = np.bincount(where.ravel(), new["train"].labels[:, place]) / np.bincount(where.ravel())
            often = np.bincount(where.ravel()) > 60
            assert chances[often] == pytest.approx(mean[often], abs=0.1)


def test_luck_is_drawn_anew_only_where_the_odds_are_others(tmp_path):
    coin = written(Coin(), tmp_path / "coin", train=120, valid=4, test=4, hard=0, pairs=0)

    def luck(data):
        return np.array([data["train"].world(row).style["luck"] for row in range(120)])

    noisy = copied(coin, tmp_path / "noisy", concept_noise=0.2)
    assert (luck(noisy) == luck(coin)).all()
    other = copied(coin, tmp_path / "other", drop=["c"])
    assert other["train"].lawful.all() and (luck(other)[:, 0] != luck(coin)[:, 0]).mean() > 0.9
    assert (luck(other)[:, 1] == luck(coin)[:, 1]).all()
