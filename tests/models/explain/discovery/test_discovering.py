"""Discovery from start to end: an ordinary run that is scored, diagnosed, reported and viewed; a rule on top of it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.base import AssayError, ConfigError, DataError, UnknownName
from assay.dataset import Dataset
from assay.diagnosis import diagnose_run
from assay.reporting import write_report
from assay.runs import PROGRAM, UNITS, RunFolder, units_of
from tests.pixels import pixels

TABLE, PAGE = "discovery.json", "discovery.html"
QUICK = {"repetitions": 2, "device": "cpu", "units": 12}


def discover(data, method, source="input", output=None, seeds=(0, 1), **settings):
    return assay.discover(data, method, source, output, seeds=seeds, progress=False, **{**QUICK, **settings})


@pytest.fixture(scope="module")
def found(data, tmp_path_factory):
    """Concepts discovered in pictures, in their folder."""
    folder = tmp_path_factory.mktemp("found") / "found"
    return folder, discover(data, "posthoc-cbm", output=folder)


def test_the_folder_is_a_run_that_can_be_judged(found, data):
    folder, discovered = found
    about = RunFolder(folder).metadata()
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
    discover(data, "posthoc-cbm", output=tmp_path / "again")
    for name in (TABLE, UNITS, PAGE, "discovery.csv", "predictions/test.parquet"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name
    discover(data, "posthoc-cbm", output=folder)  # the very same files may stay
    with pytest.raises(DataError, match="is not an empty folder"):
        discover(data, "posthoc-cbm", output=folder, seeds=(7,))


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
    said = found[1].first.predict(found[1].read(data["test"]))
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).all()


@pytest.mark.parametrize("learner", ["tree", "rules", "ilp", "synthesis"])
def test_learners_find_the_rule_in_true_concepts(learner, data):
    rule = assay.discover(
        data, "pca", seeds=(0,), units=2, repetitions=1, learner=learner, device="cpu"
    ).rule_from_truth
    assert rule.is_equal and rule.learner == learner, rule.text


def test_a_value_that_training_never_shows_is_not_taken_for_learned(tmp_path):
    """Of the nine sums of two digits training lacks one: of the worlds, the rule that is learned has eight."""
    for shown, equal, share in ((9, True, 1.0), (8, False, 8 / 9)):
        worlds = [(a, b) for a in range(3) for b in range(3)]
        rows = [world for world in worlds[:shown] for _ in range(8)] + worlds * 6
        columns = {"a": [a for a, _ in rows], "b": [b for _, b in rows], "total": [a + b for a, b in rows]}
        columns["split"] = ["train"] * 8 * shown + ["valid"] * 27 + ["test"] * 27
        pictures = [np.full((4, 4), 50 * a + 20 * b, dtype=np.uint8) for a, b in rows]
        data = assay.from_table(
            columns, tmp_path / str(shown), images=pictures, concepts=["a", "b"], labels=["total"], split="split",
            rule={"total": "a + b"},
        )  # fmt: skip
        rule = assay.discover(data, "pca", seeds=(0,), units=1, repetitions=1, device="cpu").rule_from_truth
        assert (rule.is_equal, rule.agreement) == (equal, pytest.approx(share)) and rule.exact


# -- sources -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "layer"), [("run", None), ("run", "encoder.readers.0.body.3"), ("mlp", None), ("mlp", "1"),
                                               ("frozen:mlp", None), ("input", None)])  # fmt: skip
def test_activations_come_from_runs_backbones_and_pictures(source, layer, run, data):
    where = run if source == "run" else source
    settings = {"seeds": (0,), "repetitions": 1, "units": 3, "device": "cpu"}
    one = assay.discover(data, "pca", where, layer=layer, **settings)
    assert one.first.test_units.shape[0] == len(data["test"]) and one.first.test_units.std() > 0
    assert one.to_dict() == assay.discover(data, "pca", where, layer=layer, **settings).to_dict()
    assert one.model == f"pca+{one.source}" and str(run.parent) not in one.source


def test_what_cannot_be_a_source_is_refused(run, data, tmp_path):
    cases = [
        (("conv-pol", None), UnknownName, "no run's folder, no backbone and not 'input'; did you mean 'conv-pool'"),
        ((str(tmp_path), None), DataError, "holds no finished run"),
        (("input", "3"), ConfigError, "the pictures themselves have no layer '3'"),
        ((str(run), "nose"), UnknownName, "no layer named 'nose'"),
    ]
    for (text, layer), kind, words in cases:
        with pytest.raises(kind, match=words):
            assay.discover(data, "pca", text, layer=layer, device="cpu")
    for source, layer in ((run, None), ("input", "body")):
        with pytest.raises(ConfigError, match="slots learns from pictures, not from activations"):
            assay.discover(data, "slots", source, layer=layer)
    with pytest.raises(UnknownName, match="no discovery method named 'pcaa'"):
        discover(data, "pcaa")
    with pytest.raises(AssayError, match="active"):
        discover(data, "pca", active=3)


def test_random_features_score_as_chance(data):
    scores = discover(data, "random", repetitions=5)
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
    discovered = discover(data, "kmeans", output=tmp_path / "found", units=4)
    assert discovered.summary()["f1"]["mean"] > 0.8
    rule = discovered.first.rule
    assert rule.agreement is None and rule.is_equal is None and rule.text.startswith("No rule is known")
    assert RunFolder(tmp_path / "found").metadata()["pairs"].startswith("none: ")
    assert diagnose_run(RunFolder(tmp_path / "found"), Dataset.open(data.folder)).verdict


def test_few_examples_are_refused(tmp_path):
    few = pixels(tmp_path / "few", splits={"train": 64, "valid": 19, "test": 32, "hard": 8})
    with pytest.raises(DataError, match="split 'valid' has 19 examples; discovery needs at least 20"):
        discover(few, "pca")


def test_scores_of_seeds_are_averaged_and_each_match_is_a_row(found):
    folder, discovered = found
    content = json.loads((folder / TABLE).read_text())
    assert [seed["seed"] for seed in content["seeds"]] == [0, 1] and content["config"]["units"] == 12
    for name, row in content["summary"].items():
        if name == "stability":
            continue
        values = [seed["scores"][name]["value"] for seed in content["seeds"]]
        assert row["mean"] == pytest.approx(np.mean(values)) and row["deviation"] == pytest.approx(np.std(values))
    assert discovered.summary().keys() == content["summary"].keys()
    with (folder / "discovery.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["seed"], row["value"]) for row in rows] == [(seed, name) for seed in "01" for name in "abc"]
    assert content["examples"] == 64 and (content["matched_on"], content["scored_on"]) == ("valid", "test")


def test_examples_are_drawn_once_for_all_seeds_and_no_more_than_asked_for(data):
    few = assay.discover(data, "pca", seeds=(0, 1), units=3, repetitions=1, examples=21, device="cpu")
    assert len(few.shown) == 21 and (np.diff(few.shown.index) > 0).all()
    assert [one.test_units.shape for one in few.discoveries] == [(21, 3)] * 2


def test_damaged_units_are_named(found, tmp_path):
    (tmp_path / UNITS).write_text('{"split": "test", "units": [{}]}')
    with pytest.raises(DataError, match="units.json of"):
        units_of(tmp_path)
    assert units_of(Path(found[0]).parent) is None
