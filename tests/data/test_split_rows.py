"""A split in a notebook: examples by number, parts, data frames, features, pictures with captions; odd rows refused."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from assay.concepts import bits
from assay.data.confounding.confounder import Confounder, Coupling, couplings_of, draw_codes, set_codes, with_choices
from assay.data.confounding.task import ConfoundedTask, plain, with_confounders
from assay.data.dataset import Dataset
from assay.data.split_data import SplitData, example_table
from assay.errors import ConfigError, DataError, UnknownName
from assay.logic.formula import TRUE
from assay.logic.knowledge import Knowledge
from assay.render.picture import Box, Layout, ObjectBox
from assay.seeds import rng_for
from assay.worlds.world import World
from tests.toys import Coin, Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=7, valid=2, test=5, hard=0)


KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})


def split(**columns):
    rows = len(next(iter(columns.values()))) if columns else 3
    plain_columns = {"index": np.arange(rows) + 10, "concept_a": [True, False, None][:rows], "concept_b": [True] * rows,
                     "label_y": [True, False, False][:rows], "label_z": [True, True, False][:rows], "style": ["{}"] * rows}  # fmt: skip
    return SplitData("test", "print", KNOWLEDGE, Layout(4, 2), pa.table({**plain_columns, **columns}), TRUE)


def test_an_example_by_its_number(shelf):
    data = shelf["train"]
    first, last = data[0], data[-1]
    assert last["labels"] == data[6]["labels"] and last["concepts"] == data[6]["concepts"]
    assert first["concepts"] == shelf.knowledge.space.decode(data.concepts[0]) and first["image"].size == (16, 8)
    assert first["labels"] == {"same": first["concepts"]["one"] == first["concepts"]["two"],
                               "pile": first["concepts"]["two"] != "none" and first["concepts"]["hidden"]}  # fmt: skip
    for row in (7, -8):
        with pytest.raises(IndexError, match=f"split 'train' has 7 examples, so no example {row}"):
            data[row]
    with pytest.raises(UnknownName, match="found by its number, not by 'image'"):
        data["image"]
    assert [example["labels"] for example in data] == [data[row]["labels"] for row in range(7)]
    assert data[2:5].index.tolist() == [2, 3, 4] and [len(part) for part in data.pieces(3)] == [3, 3, 1]
    assert data.take(np.array([5, 1])).index.tolist() == [5, 1]


def test_examples_without_pictures_have_concepts_and_labels():
    data = split()
    assert data[0] == {"concepts": {"a": True, "b": True}, "labels": {"y": True, "z": True}}
    assert data.index.tolist() == [10, 11, 12] and data.concepts.tolist() == [[1, 1], [0, 1], [-1, 1]]
    assert data.lawful.tolist() == [[True, True], [True, False], [True, True]]  # what is not known is not judged
    table = example_table(data, [0])
    assert "<img" not in table and "a = True, b = True" in table and "y = True, z = True" in table


def test_given_codes_replace_the_true_ones_where_there_are_some():
    data = split(given_concept_b=[False, None, True], given_label_z=[False, True, True])
    assert data.given_concepts.tolist() == [[1, 0], [0, -1], [-1, 1]]
    assert data.given_labels.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_rows_whose_concepts_are_known():
    data = split()
    assert data.with_known_concepts("it").index.tolist() == [10, 11]
    known = data[:2]
    assert known.with_known_concepts("it") is known
    with pytest.raises(DataError, match="it needs examples whose concepts are all known; split 'test' has none"):
        data[2:].with_known_concepts("it")


def test_features_are_numbers_of_one_length():
    assert split(features=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert split(features=[[1.0], [3.0], [5.0]]).features.dtype == np.float32
    for odd in ([[1.0], [2.0, 3.0], [4.0]], [[1.0], None, [4.0]], [[1.0], [None], [4.0]], [1.0, 2.0, 3.0], [None] * 3):
        with pytest.raises(DataError, match="features must be lists of numbers of one length, without gaps"):
            split(features=pa.array(odd) if odd[0] is not None else pa.array(odd, pa.list_(pa.float64()))).features


def test_objects_texts_and_worlds(shelf):
    data = shelf["train"]
    for row in range(7):
        world = data.world(row)
        assert world.codes == tuple(data.concepts[row]) and 1000 <= world.style["distance"] < 60_000
        named = [name for name in ("one", "two") if world[name] != "none"]
        assert [thing.name for thing in data.things[row]] == named and data.texts[row].count("box") == len(named)
    assert data.things[0][0] == ObjectBox("one", Box(1, 1, 7, 7))


def test_a_data_frame_without_pictures(shelf):
    frame = shelf["train"].to_pandas()
    assert "image" not in frame and "instances" not in frame and "depth" not in frame
    assert {"index", "concept_one", "label_same", "text", "style"} <= set(frame.columns) and len(frame) == 7


def test_pictures_with_captions(shelf):
    figure = shelf["train"].plot(3)
    assert len(figure.axes) == 3
    labels = shelf["train"][1]["labels"]
    assert figure.axes[1].get_title() == f"same = {labels['same']}, pile = {labels['pile']}"
    assert len(shelf["valid"].plot().axes) == 2
    assert "<img" in shelf["train"]._repr_html_() and shelf["train"]._repr_html_().count("<tr>") == 7
    assert repr(shelf["train"]) == "Split(train: 7 examples; concepts one, two, hidden; labels same, pile)"


def test_drawn_labels_are_lawful_by_their_luck(tmp_path):
    data = written(Coin(), tmp_path / "coin", train=200, valid=2, test=3, hard=0)["train"]
    assert data.lawful.all()
    labels = data.table["label_y"].to_pylist()
    place = data.table.column_names.index("label_y")
    turned = replace(data, table=data.table.set_column(place, "label_y", pa.array([not y for y in labels])))
    assert not turned.lawful[:, 0].any() and turned.lawful[:, 1].all()


# confounders


def test_a_confounded_task_is_its_task_in_all_else():
    task = Shelf()
    planted = Confounder.model_validate({"what": "watermark", "with": "same"})
    made = with_confounders(task, [planted])
    assert (
        isinstance(made, ConfoundedTask) and plain(made) is task is plain(task) and with_confounders(task, []) is task
    )
    for name in ("knowledge", "layout", "style_choices", "planted", "columns", "summary", "interventions"):
        assert getattr(made, name) == getattr(task, name)
    assert made.backbones() == task.backbones() and made.sources() == task.sources()
    assert str(made.in_distribution()) == str(task.in_distribution()) and str(made.held_out()) == str(task.held_out())
    world = World(task.space, (0, 1, 0), {"distance": 2000})
    assert made.ingredients(world) == task.ingredients(world)
    assert made.style(rng_for(0), (0, 1, 0), "train") == task.style(rng_for(0), (0, 1, 0), "train")
    assert np.array_equal(made.render(world).image, task.render(world).image)
    marked = World(task.space, (0, 1, 0), {"distance": 2000, "nuisances": {"watermark": 1}})
    assert not np.array_equal(made.render(marked).image, task.render(world).image)
    assert np.array_equal(made.render_all([marked])[0].image, made.render(marked).image)
    changed = made.change_world(marked, {"one": "blue"})
    assert changed is not None and changed["one"] == "blue" and changed.style["nuisances"] == {"watermark": 1}


def coupling(**values):
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b", "n": "a + b + c"})
    return Coupling(Confounder.model_validate({"what": "watermark", "with": "y", **values}), knowledge)


def test_a_nuisance_has_a_code_for_each_value_that_it_goes_with():
    concepts, labels = np.array([[1, 1, 0], [0, 1, 1]]), np.array([[1, 2], [0, -1]])
    assert coupling().count == 2 and coupling(**{"with": "n"}).count == 4 and coupling(**{"with": "a or c"}).count == 2
    assert coupling().partner(concepts, labels).tolist() == [1, 0]
    assert coupling(**{"with": "n"}).partner(concepts, labels).tolist() == [2, -1]
    assert coupling(**{"with": "c"}).partner(concepts, labels).tolist() == [0, 1]
    assert coupling(**{"with": "a and not c"}).partner(concepts, labels).tolist() == [1, 0]
    style = coupling(what="style.ink", values=["r", "g", "b"], **{"with": "n"})
    assert style.count == 3 and [style.value(code) for code in range(3)] == ["r", "g", "b"]
    assert style.partner(concepts, np.array([[1, 3], [0, 2]])).tolist() == [0, 2]
    two = coupling(what="style.ink", values=["r", "g", "b", "k"])
    assert two.count == 2 and [two.value(code) for code in range(2)] == ["r", "k"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"what": "a", "with": "n"}, "'a' and what it goes with must be true or false"),
        ({"what": "a + b", "with": "y"}, "must be true or false"),
        ({"one_sided": True}, "one_sided is for formulas, not for 'watermark'"),
        ({"with": "a + b"}, "'a . b' must be a label, a concept, or true or false"),
        ({"with": "q"}, "no mark, label or concept named 'q'"),
    ],
)
def test_couplings_that_cannot_be(values, why):
    with pytest.raises(ConfigError, match=why):
        coupling(**values)


def test_codes_are_drawn_with_their_strength():
    strong = coupling(strength=0.8, **{"with": "n"})
    rng = rng_for(0, "draw")
    codes = [strong.draw(rng, 2, "train") for _ in range(2000)]
    shares = np.bincount(codes, minlength=4) / 2000
    np.testing.assert_allclose(shares, [0.2 / 3, 0.2 / 3, 0.8, 0.2 / 3], atol=0.03)
    elsewhere = coupling(where=["valid"], **{"with": "n"})
    free = np.bincount([elsewhere.draw(rng, 2, "train") for _ in range(2000)], minlength=4) / 2000
    np.testing.assert_allclose(free, [0.25] * 4, atol=0.04)
    assert elsewhere.confounder.holds_in("valid_2") and not elsewhere.confounder.holds_in("test")
    always = coupling(strength=1.0)
    assert {always.draw(rng, 1, "train") for _ in range(50)} == {1} and {
        coupling(strength=0.0).draw(rng, 1, "t") for _ in range(50)
    } == {0}
    assert {strong.draw(rng, -1, "train") for _ in range(200)} == {0, 1, 2, 3}
    assert {strong.draw_reversed(rng, 2) for _ in range(200)} == {0, 1, 3}
    one_sided = coupling(what="c", one_sided=True, strength=1.0)
    assert one_sided.draw(rng, 0, "train") == -1 == one_sided.draw_reversed(rng, 0) == one_sided.draw_freely(rng)
    assert one_sided.draw(rng, 1, "train") == 1 and one_sided.draw_reversed(rng, 1) == 0


def test_codes_of_shifted_splits():
    pair = (
        coupling(strength=1.0),
        coupling(what="frame", strength=1.0, **{"with": "a"}),
        coupling(what="c", strength=1.0),
    )
    places, partners = np.arange(40), np.tile([[1, 0, 1]], (40, 1))
    plain_codes = np.array(draw_codes(pair, "test", "test", 0, places, partners))
    assert (plain_codes == [1, 0, 1]).all()
    reversed_codes = np.array(draw_codes(pair, "reversed", "test", 0, places, partners))
    assert (reversed_codes[:, 2] == 0).all()
    assert (reversed_codes[::2, 0] == 0).all() and (reversed_codes[1::2, 0] == 1).all()  # marks in turn
    assert (reversed_codes[::2, 1] == 0).all() and (reversed_codes[1::2, 1] == 1).all()
    freely = np.array(draw_codes(pair, "unconfounded", "test", 0, places, partners))
    assert (freely[:, 2] == -1).all() and set(freely[:, 0]) == {0, 1} == set(freely[:, 1])
    space = pair[0].knowledge.space
    world = set_codes(World(space, (1, 0, 1), {"k": 5}), pair, [1, 0, -1])
    assert world.style == {"k": 5, "nuisances": {"watermark": 1, "frame": 0, "c": 1}}
    ink = coupling(what="style.ink", values=["r", "g"])
    assert set_codes(World(space, (1, 0, 1), {}), [ink], [1]).style == {"ink": "g", "nuisances": {"style.ink": 1}}


def test_values_of_a_style_must_be_offered():
    offered = {"ink": ["r", "g", "b"]}

    def chosen(**values):
        return with_choices(Confounder.model_validate({"what": "style.ink", "with": "y", **values}), offered).values

    assert chosen() == ["r", "g", "b"] and chosen(values=["b", "r"]) == ["b", "r"]
    for values, why in (
        ({"what": "style.odd"}, "no 'style.odd'; there is style.ink, or a mark"), ({"values": ["r", "k"]}, "style.ink cannot be 'k'"),
        ({"values": ["r"]}, "style.ink needs two values or more"), ({"what": "frame", "values": [1, 2]}, "'frame' takes no values"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=why):
            chosen(**values)
    twice = [Confounder.model_validate({"what": "frame", "with": name}) for name in ("y", "a")]
    with pytest.raises(ConfigError, match="a nuisance is named twice"):
        couplings_of(twice, coupling().knowledge)
    single = Confounder.model_validate({"what": "frame", "with": "y", "where": "train"})
    assert single.where == ["train"] and single.strength == 0.95 and not single.one_sided
    assert json.loads(json.dumps(single.to_dict()))["with"] == "y"
