"""What works against shortcuts, and how training can be made faster or repeatable."""

import numpy as np
import pytest
import torch

from assay.config import Settings
from assay.errors import AssayError, ConfigError, FormulaError
from assay.metrics import METRICS, gather
from assay.models import load_model
from assay.models.rule.ltn import LTN
from tests.models.core.test_models import fitted
from tests.pixels import trained


def test_members_of_an_ensemble_differ_and_their_average_is_unsure_where_labels_leave_it_open(made):
    dataset = made(
        "mnlogic",
        pixels=True,
        k=2,
        formula="a ^ b",
        prop_in_distribution=1.0,
        splits={"train": 256, "valid": 64, "test": 64},
    )
    settings = {"epochs": 40, "learning_rate": 0.02}
    alone = fitted("dpl", dataset, **settings)
    several = fitted("bears", dataset, members=3, diversity=1.0, **settings)
    test = dataset["test"]
    one, many = (gather(test, model.predict(test)) for model in (alone, several))
    assert METRICS["label_accuracy"](many) > 0.9 and METRICS["label_accuracy"](one) > 0.9
    spread = many.concept_probabilities[0].max(axis=1).mean()
    assert spread < 0.9 < one.concept_probabilities[0].max(axis=1).mean(), "the average of readings is sure of one"


def test_an_ensemble_is_loaded_with_all_its_members(data, tmp_path):
    model = trained("bears", data, tmp_path / "run", {"members": 2, "epochs": 2})
    again = load_model(tmp_path / "run")
    said, read = (one.predict(data["test"]).concepts["a"].probabilities for one in (model, again))
    assert np.allclose(said, read, atol=1e-6) and len(again.encoders()) == 2


def test_further_labels_are_taught_but_not_answered(data):
    model = fitted("dpl", data, further_labels={"sum": "a + b + c"}, epochs=1)
    assert list(model.predict(data["test"]).labels) == ["y"] and len(model.taught.labels) == 2


@pytest.mark.parametrize(("text", "error"), [("a +", AssayError), ("q and a", FormulaError)])
def test_a_further_label_that_cannot_be_read_is_refused(data, text, error):
    with pytest.raises(error):
        fitted("dpl", data, further_labels={"bad": text})


def test_the_p_of_the_quantifiers_rises(data):
    model = fitted("ltn", data, p=2.0, last_p=6.0, epochs=3, patience=10)
    assert isinstance(model, LTN) and model.semantics.p == 6.0
    model.begin(2, 3)
    assert model.semantics.p == 4.0


def test_fuzzy_logic_refuses_what_it_would_have_to_list(made):
    dataset = made("mnadd", k=8, splits={"train": 8, "valid": 8, "test": 8, "hard": 0})
    with pytest.raises(ConfigError, match="use the model 'dpl'"):
        fitted("ltn", dataset)


def test_shorter_numbers_learn_as_well(data, bfloat16):
    said = fitted("dpl", data, precision="bfloat16").predict(data["test"])
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9


def test_deterministic_training_repeats_itself_and_is_switched_off_again(data):
    first, second = (fitted("dpl", data, deterministic=True, epochs=2).state_dict() for _ in range(2))
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert not torch.are_deterministic_algorithms_enabled()


def test_settings_that_make_no_sense_are_refused():
    from assay.config import validate
    from assay.models.rule.bears import BearsConfig

    for values in ({"members": 1}, {"diversity": -1}, {"precision": "float8"}):
        with pytest.raises(ConfigError):
            validate(BearsConfig, Settings(values))
