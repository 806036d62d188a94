"""What a concept may be set to, and what of a table is a number: at their edges."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from assay.config import Settings
from assay.errors import ConfigError, DataError
from assay.models import MODELS, Order, train_together
from assay.models.core.inputs import FEW_VALUES, TableInput, TextInput, cells_of, input_from, kind_of_input, words_of
from assay.models.core.model import mean_f1
from tests.pixels import QUICK

ROWS = 64


@pytest.fixture(scope="module")
def model(data):
    return MODELS["dpl"](data, settings={"backbone": "mlp"})


def test_concepts_are_set_to_codes_or_to_probabilities(model, data):
    sure, codes = np.tile([0.25, 0.75], (ROWS, 1)), np.arange(ROWS) % 2
    for setting in (codes, codes.astype(np.uint8), sure, sure.astype(np.float32), np.eye(2)[codes]):
        said = model.predict(data["test"], {"a": setting}).concepts["a"].probabilities
        assert np.allclose(said, np.eye(2)[setting] if setting.ndim == 1 else setting, atol=1e-6)


@pytest.mark.parametrize(
    "setting",
    [
        np.full(ROWS, 2), np.full(ROWS, -1), np.zeros(ROWS - 1, dtype=int), np.full(ROWS, 0.5),
        np.tile([-0.5, 1.5], (ROWS, 1)), np.tile([0.5, 0.502], (ROWS, 1)), np.tile([0.5, np.nan], (ROWS, 1)),
        np.tile([0.2, 0.3, 0.5], (ROWS, 1)), np.tile(["a", "b"], (ROWS, 1)),
    ],
)  # fmt: skip
def test_anything_else_is_refused(setting, model, data):
    with pytest.raises(ConfigError, match="do: 'a' needs 64 codes from 0 to 1, one for each example, or 64 x 2"):
        model.predict(data["test"], {"a": setting})


def test_a_model_without_concepts_takes_none(data):
    box = MODELS["blackbox"](data, settings={"backbone": "mlp"})
    for ask in (lambda: box.predict(data["test"], {"a": np.zeros(ROWS, int)}), lambda: box.intervene(data["test"])):
        with pytest.raises(ConfigError, match="model 'blackbox' has no concepts that can be set"):
            ask()
    with pytest.raises(ConfigError, match="a model is made of a dataset, not of a str"):
        MODELS["blackbox"]("data")


def test_the_mean_f1_is_over_columns_of_which_something_is_known():
    truth = np.array([[0, -1, 0], [1, -1, -1], [1, -1, 1]])
    said = [np.array([0, 1, 0]), np.array([0, 0, 0]), np.array([0, 0, 0])]
    first, third = (2 / 3 + 2 / 3) / 2, (2 / 3 + 0) / 2
    assert mean_f1(truth, said, [2, 2, 2]) == pytest.approx((first + third) / 2)
    assert mean_f1(np.full((2, 1), -1), [np.zeros(2, int)], [2]) == 0


def with_texts(split, texts):
    return replace(split[: len(texts)], table=split[: len(texts)].table.append_column("text", pa.array(texts)))


@pytest.mark.parametrize(("distinct", "numbers"), [(FEW_VALUES, False), (FEW_VALUES + 1, True)])
def test_columns_of_more_than_twelve_numbers_are_numbers(distinct, numbers, data):
    texts = [f"size={row % distinct}, kind=a" for row in range(40)]
    reads = TableInput.learn(with_texts(data["train"], texts))
    assert FEW_VALUES == 12 and reads.columns == (("size",) if numbers else ())
    assert len(reads.values) == (1 if numbers else 1 + distinct)


def test_what_training_never_had_is_left_out(data):
    reads = TableInput.learn(with_texts(data["train"], ["kind=a, hue=red", "kind=b, hue=red"]))
    rows = reads.array(with_texts(data["train"], ["kind=c, hue=red", "hue=blue", "kind=b"]))[:, 0, :, 0]
    assert reads.values == ("kind=a", "kind=b", "hue=red") and rows.tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 0]]
    boxes = {name: (box.left, box.right) for name, box in reads.layout.regions.items()}
    assert boxes == {"kind": (0, 2), "hue": (2, 3)} and reads.layout.width == 3
    assert input_from(reads.to_dict()) == reads
    with pytest.raises(DataError, match="its texts are no tables"):
        TableInput.learn(with_texts(data["train"], ["ab c", "abc de"]))


def test_texts_are_cut_and_padded_and_strange_words_are_one(data):
    reads = TextInput.learn(with_texts(data["train"], ["red red blue.", "red 12"]), 3)
    assert reads.words == ("red", ".", "1", "2", "blue") and reads.length == 3
    rows = reads.array(with_texts(data["train"], ["Blue sky", "red red red red"]))[:, 0, :, 0]
    assert rows.tolist() == [[6, 1, 0], [2, 2, 2]] and reads.layout.channels == 7
    assert TextInput.learn(with_texts(data["train"], ["a", "a b"]), 9).length == 2
    assert words_of("Ünder_scored 3.5") == ["ünder_scored", "3", ".", "5"]
    assert cells_of("a=1, b=x=y, c") == [("a", "1"), ("b", "x=y")] and cells_of("12 3") == []


def test_the_first_input_that_is_there_is_read():
    assert (
        kind_of_input("auto", ["text", "image"]) == "image"
        and kind_of_input("auto", ["text", "features"]) == "features"
    )
    assert kind_of_input("table", ["text"]) == "table"
    with pytest.raises(DataError, match="input=features needs a column 'features'; there is: text"):
        kind_of_input("features", ["text"])


def test_seeds_of_other_settings_are_not_taken_for_these(data, tmp_path):
    quick = Settings({**QUICK, "epochs": 1, "backbone": "mlp"})
    train_together(Order("cbm", quick), [0], data, tmp_path)
    first = (tmp_path / "seed0" / "run.json").read_bytes()
    other = Settings({**QUICK, "epochs": 1, "backbone": "mlp", "concept_weight": 0.5})
    with pytest.raises(DataError, match="holds a finished run; choose another folder"):
        train_together(Order("cbm", other), [0, 1], data, tmp_path)
    assert (tmp_path / "seed0" / "run.json").read_bytes() == first
    folders = train_together(Order("cbm", quick), [0, 1], data, tmp_path)  # the first is kept, the second trained
    assert [folder.name for folder in folders] == ["seed0", "seed1"]
    assert (tmp_path / "seed0" / "run.json").read_bytes() == first
