"""Discovery from start to end: an ordinary run that is scored, diagnosed, reported and viewed; a rule on top of it."""

import json
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.config import Settings
from assay.data import Dataset
from assay.diagnosis import diagnose_run
from assay.errors import AssayError, ConfigError, DataError, UnknownName
from assay.models import PAGE, DiscoveryPlan, discover, discover_run
from assay.models.discovery.rule_on_top import learn_rule
from assay.models.discovery.runs import TABLE
from assay.models.discovery.sources import open_source
from assay.models.symbolic.perception import one_hot
from assay.reporting import write_report
from assay.runs import PROGRAM, UNITS, RunFolder, units_of

QUICK = {"repetitions": 2, "device": "cpu", "units": 12}


def plan_of(method, source, seeds=(0, 1), **settings):
    return DiscoveryPlan.of(method, str(source), Settings({**QUICK, **settings}), seeds)


@pytest.fixture(scope="module")
def found(data, tmp_path_factory):
    """Concepts discovered in pictures, in their folder."""
    folder = tmp_path_factory.mktemp("found") / "found"
    return folder, discover_run(plan_of("posthoc-cbm", "input"), data, folder)


def test_the_folder_is_a_run_that_can_be_judged(found, data):
    folder, discovered = found
    about = RunFolder(folder).about()
    assert about["model"] == discovered.model and about["discovery"]["method"] == "posthoc-cbm"
    assert about["model"] == "posthoc-cbm+input"
    assert set(RunFolder(folder).all_predictions(data.knowledge)) == {"valid", "test", "hard"}
    diagnosis = diagnose_run(RunFolder(folder), data)
    assert diagnosis.scores["test"]["concept_f1"].value > 0.9
    assert any("equal to the rule" in note for note in diagnosis.notes)
    content = json.loads((folder / TABLE).read_text())
    assert content["summary"]["f1"]["mean"] > 0.9 > content["summary"]["f1"]["chance"] + 0.1
    assert len((folder / "discovery.csv").read_text().splitlines()) == 1 + 2 * 3
    assert json.loads((folder / PROGRAM).read_text()) == discovered.first.rule.program


def test_the_same_command_gives_the_same_bytes(found, data, tmp_path):
    folder, _ = found
    discover_run(plan_of("posthoc-cbm", "input"), data, tmp_path / "again")
    for name in (TABLE, UNITS, PAGE, "discovery.csv", "predictions/test.parquet"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name
    discover_run(plan_of("posthoc-cbm", "input"), data, folder)  # the very same files may stay
    with pytest.raises(DataError, match="is not an empty folder"):
        discover_run(plan_of("posthoc-cbm", "input", seeds=(7,)), data, folder)


def test_named_units_are_matched_with_their_own_values(found):
    assert found[1].first.named_right == 1.0


def test_top_pictures_of_a_unit_have_the_value_it_matches(found, data):
    folder, discovered = found
    content = units_of(folder)
    assert content["split"] == "test" and [unit["value"] for unit in content["units"] if unit["matched"]] == [
        "a",
        "b",
        "c",
    ]
    for place, unit in enumerate(content["units"][:3]):
        assert unit["has"] == [bool(data["test"].concepts[row, place]) for row in unit["rows"]] == [True] * 8
    page = (folder / PAGE).read_text()
    assert page.count("<img") == 8 * len(content["units"]) and "http" not in page.replace("http-equiv", "")
    assert discovered.first.rule.text in page.replace("&#39;", "'")


def test_a_report_shows_the_units_too(found, tmp_path):
    page = write_report([found[0]], tmp_path).read_text()
    assert page.count(' has it"') >= 24 and "Discovered units" in page


def test_the_rule_is_learned_on_top(found, data):
    rule = found[1].first.rule
    assert rule.is_equal and rule.agreement == 1 and rule.exact
    assert rule.text == "The rule learned by tree is equal to the true rule on all worlds."
    wrong = learn_rule(
        "tree",
        data.knowledge,
        one_hot(data["train"].concepts[:, [1, 2, 0]], data.knowledge.space),
        data["train"].labels,
        0,
    )
    assert (
        wrong.is_equal is False
        and wrong.agreement == 0.75
        and "gives the same labels in 75.0 % of all worlds" in wrong.text
    )


@pytest.mark.parametrize("learner", ["tree", "ilp"])
def test_learners_find_the_rule_in_true_concepts(learner, data):
    train = data["train"]
    rule = learn_rule(learner, data.knowledge, one_hot(train.concepts, data.knowledge.space), train.labels, 0)
    assert rule.is_equal, rule.text


def test_a_value_that_training_never_shows_is_not_taken_for_learned():
    knowledge = assay.Knowledge.of(assay.digits(["a", "b"], range(3)), {"sum": "a + b"})
    codes = knowledge.space.all_codes().astype(np.int64)
    labels = knowledge.labels_of(codes)
    whole = learn_rule("tree", knowledge, one_hot(codes, knowledge.space), labels, 0)
    assert whole.is_equal and len(whole.relations) == 5
    seen = labels[:, 0] < 4
    part = learn_rule("tree", knowledge, one_hot(codes[seen], knowledge.space), labels[seen], 0)
    assert part.is_equal is False and part.agreement == pytest.approx(8 / 9)


def test_without_a_rule_there_is_nothing_to_compare(tmp_path):
    data = imported(tmp_path)
    rule = learn_rule(
        "tree", data.knowledge, one_hot(data["train"].concepts, data.knowledge.space), data["train"].labels, 0
    )
    assert rule.agreement is None and rule.is_equal is None and rule.text.startswith("No rule is known")


# -- sources -----------------------------------------------------------------------------------------------------------


def test_activations_come_from_runs_backbones_and_pictures(run, data):
    for text, layer in ((run, None), ("mlp", None), ("mlp", "1"), ("frozen:mlp", None), ("input", None)):
        source = open_source(str(text), layer, data, 2048, "cpu")
        rows = source.rows(data["test"]).rows
        assert len(rows) == len(data["test"]) and rows.ndim == 2, source.name
    assert open_source("mlp", None, data, 2048, "cpu").rows(data["test"]).rows.std() > 0


def test_what_cannot_be_a_source_is_refused(run, data, tmp_path):
    cases = [
        (
            ("conv-pol", None),
            UnknownName,
            "'conv-pol' is no run's folder, no backbone and not 'input'; did you mean 'conv-pool'",
        ),
        ((str(tmp_path), None), DataError, "holds no finished run"),
        (("input", "3"), ConfigError, "the pictures themselves have no layer '3'"),
        ((str(run), "nose"), UnknownName, "no layer named 'nose'"),
    ]
    for (text, layer), kind, words in cases:
        with pytest.raises(kind, match=words):
            open_source(text, layer, data, 64, "cpu")
    with pytest.raises(
        ConfigError, match="slots learns from pictures, not from activations: assay discover slots input DATA"
    ):
        plan_of("slots", run)
    with pytest.raises(UnknownName, match="no discovery method named 'pcaa'"):
        plan_of("pcaa", "input")
    with pytest.raises(AssayError, match="active"):
        plan_of("pca", "input", active=3)


def test_random_features_score_as_chance(data):
    scores = discover(plan_of("random", "input", repetitions=5), data)
    for name, row in scores.summary().items():
        assert row["mean"] == pytest.approx(row["chance"], abs=0.12), name


def test_pictures_alone_hold_the_concepts_of_pixels(data):
    found = assay.discover(data, "ica", seeds=(0, 1), units=3, repetitions=2, device="cpu")
    assert found.source == "input" and found.summary()["f1"]["mean"] > 0.95 and found.stability.value > 0.9
    assert found.first.rule.agreement > 0.8 and found.rule_from_truth.is_equal


# -- imported data -----------------------------------------------------------------------------------------------------


def imported(folder):
    """Return an imported dataset without a rule, with a gap in its concepts."""
    from PIL import Image

    rng = np.random.default_rng(0)
    rows = []
    (folder / "pictures").mkdir(parents=True)
    for number in range(160):
        bright, red = (bool(x) for x in rng.integers(0, 2, 2))
        pixels = np.full((8, 8, 3), 200 if bright else 60, dtype=np.uint8)
        pixels[:, :, 1:] = pixels[:, :, 1:] // (4 if red else 1)
        Image.fromarray(pixels).save(folder / "pictures" / f"{number}.png")
        rows.append(
            f"pictures/{number}.png,{str(bright).lower()},{'' if number % 9 == 0 else str(red).lower()},{str(bright and red).lower()}"
        )
    (folder / "table.csv").write_text("file,concept_bright,concept_red,label_y\n" + "\n".join(rows) + "\n")
    return assay.from_table(folder / "table.csv", folder / "data")


def test_an_imported_dataset_without_rule_and_with_gaps(tmp_path):
    data = imported(tmp_path)
    discovered = discover_run(plan_of("kmeans", "input", units=4), data, tmp_path / "found")
    assert discovered.summary()["f1"]["mean"] > 0.8 and discovered.first.rule.agreement is None
    assert RunFolder(tmp_path / "found").about()["pairs"].startswith("none: ")
    assert diagnose_run(RunFolder(tmp_path / "found"), Dataset.open(data.folder)).verdict


def test_few_examples_are_refused(data, monkeypatch):
    monkeypatch.setattr("assay.models.discovery.discovering.FEWEST", 100)
    with pytest.raises(DataError, match="split 'valid' has 64 examples; discovery needs at least 100"):
        discover(plan_of("pca", "input"), data)


def test_damaged_units_are_named(found, tmp_path):
    (tmp_path / UNITS).write_text('{"split": "test", "units": [{}]}')
    with pytest.raises(DataError, match="units.json of"):
        units_of(tmp_path)
    assert units_of(Path(found[0]).parent) is None
