"""A black box that is probed speaks of concepts: its predictions are scored, diagnosed and reported like any other's."""

import csv
import json
import shutil

import numpy as np
import pytest
import torch
from torch import nn

from assay.config import Settings, validate
from assay.diagnosis import diagnose_run
from assay.errors import AssayError, ConfigError, DataError, UnknownName
from assay.models import Ask, ProbeConfig, load_model, probe_run, table
from assay.models.probes.activations import Subject
from assay.models.probes.probing import METRICS, probe_layers
from assay.predictions import read_predictions
from assay.runs import RunFolder, evidence_of
from tests.cli.conftest import assay, program
from tests.conftest import write
from tests.pixels import trained

__all__ = ["assay", "program"]


@pytest.fixture(scope="module")
def box(data, tmp_path_factory):
    """A black box that has learned the rule."""
    folder = tmp_path_factory.mktemp("box") / "run"
    trained("blackbox", data, folder, {"epochs": 4})
    return folder


@pytest.fixture(scope="module")
def linear(box, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("linear") / "probes"
    return folder, probe_run(box, data, folder, Ask())


@pytest.fixture(scope="module")
def tcav(box, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tcav") / "probes"
    return folder, probe_run(box, data, folder, Ask("tcav"))


def test_every_layer_with_weights_is_probed_and_a_black_box_speaks(linear, data):
    folder, probed = linear
    assert [result.layer.name for result in probed.results] == ["input", "body.1", "body.3", "head"]
    assert probed.results[0].value("test", "concept_f1") == 1  # the pixels are the concepts
    assert probed.results[1].value("test", "concept_f1") > 0.95
    assert probed.best.layer.name != "input"
    evidence = evidence_of(RunFolder(folder), data)
    assert list(evidence) == ["test", "hard", "valid"] and all(held.has_concepts for held in evidence.values())


def test_labels_are_those_of_the_black_box_itself(linear, box, data):
    for folder in (linear[0], linear[0] / "layers" / "head"):
        for split in ("valid", "test", "hard"):
            said = read_predictions(folder / "predictions" / f"{split}.parquet", data.knowledge)
            own = read_predictions(box / "predictions" / f"{split}.parquet", data.knowledge)
            assert np.allclose(said.labels["y"].probabilities, own.labels["y"].probabilities, atol=1e-6)
            assert not own.concepts and list(said.concepts) == ["a", "b", "c"]
            assert said.about["probe"]["method"] == "linear" and said.about["model"].startswith("blackbox+linear@")


def test_a_probed_black_box_gets_a_verdict_and_an_opaque_one_does_not(linear, box, data):
    assert diagnose_run(RunFolder(box), data).verdict == "opaque"
    found = diagnose_run(RunFolder(linear[0]), data)
    assert found.verdict == "sound" and found.counterfactuals is not None


def test_files_tell_all_that_was_found(linear, tcav, data):
    told = json.loads((linear[0] / "probes.json").read_text())
    assert (told["method"], told["fingerprint"], told["best"]) == (
        "linear",
        data.fingerprint,
        linear[1].best.layer.name,
    )
    assert told["layers"] == json.loads(json.dumps(table(linear[1], ["valid", "test", "hard"])))
    assert set(told["layers"][0]["test"]) == set(METRICS) and told["effects"] == {}
    with (linear[0] / "probes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["layer"] for row in rows] == ["input", "body.1", "body.3", "head"]
    assert float(rows[0]["test_concept_f1"]) == 1
    effects = json.loads((tcav[0] / "probes.json").read_text())["effects"]["body.3"]
    assert {(e["concept"], e["value"], e["label"], e["class"]) for e in effects} == {
        (concept, value, "y", class_) for concept in "abc" for value in (False, True) for class_ in (False, True)
    }


def test_tcav_finds_the_concept_that_decides(tcav):
    """In `a and b or c` it is `c` that moves the label most; three pixels leave little room for random directions."""
    result = next(r for r in tcav[1].results if r.layer.name == "body.3")
    towards = {(e.concept, e.value): e for e in result.effects if e.class_ == 1}
    assert (towards[2, 1].score, towards[2, 0].score) == (1, 0)
    assert towards[2, 1].p_family <= 0.05 and towards[2, 1].derivative > abs(towards[0, 1].derivative)
    said = tcav[1].best.predictions["test"].concepts["c"]
    assert said.probabilities is None and set(np.unique(said.codes)) <= {-1, 0, 1}


def test_what_is_fitted_is_not_fitted_on_what_is_scored(box, data):
    """Probes of concepts that were shuffled in the training split only are no better than chance."""

    class Shuffled(type(data)):
        def __getitem__(self, name):
            held = super().__getitem__(name)
            if name.startswith(("train", "valid")):
                order = np.random.default_rng(0).permutation(len(held))
                held.__dict__["concepts"] = held.concepts[order]
            return held

    dataset = Shuffled(data.folder, data.manifest)
    probed = probe_layers(Subject.of(load_model(box)), dataset, Ask(layers=("body.1",)))
    assert probed.best.value("test", "concept_accuracy") < 0.7


def test_the_same_seed_gives_the_same_probes(box, data, tmp_path):
    asked = Ask("tcav", layers=("body.3",))
    found = [probe_run(box, data, tmp_path / name, asked) for name in ("one", "two")]
    assert found[0].best.effects == found[1].best.effects
    first, second = ((tmp_path / name / "probes.json").read_bytes() for name in ("one", "two"))
    assert first == second


def test_models_with_concepts_are_probed_inside_their_encoder(run, data, tmp_path):
    probed = probe_run(run, data, tmp_path / "probes", Ask())
    for place, name in enumerate("abc"):  # each reader sees one pixel, and so holds one concept
        found = next(r for r in probed.results if r.layer.name == f"encoder.readers.{place}.body.1")
        right = [
            (found.predictions["test"].concepts[c].codes == data["test"].concepts[:, i]).mean()
            for i, c in enumerate("abc")
        ]
        assert right[place] == 1 and sorted(right)[1] < 0.8, name


class Foreign(nn.Module):
    """A network of someone else."""

    def __init__(self, outputs):
        super().__init__()
        self.first, self.last = nn.Linear(3, 8), nn.Linear(8, outputs)

    def forward(self, pictures):
        return self.last(torch.tanh(self.first(pictures.flatten(1))))


@pytest.mark.parametrize("outputs", [1, 2])
def test_any_network_is_probed(outputs, data):
    torch.manual_seed(0)
    probed = probe_layers(Subject.of(Foreign(outputs)), data, Ask())
    assert [result.layer.name for result in probed.results] == ["input", "first", "last"]
    assert probed.best.layer.name == "first" and probed.best.value("test", "concept_f1") > 0.95
    assert probed.best.predictions["test"].labels["y"].probabilities.shape == (64, 2)


def test_a_network_that_answers_something_else_is_told(data):
    with pytest.raises(ConfigError, match=r"the network gives \[5\] scores for the labels' \[2\] values"):
        probe_layers(Subject.of(Foreign(5)), data, Ask())


def test_a_split_too_small_to_fit_on_is_told(box, tmp_path):
    sizes = {"train": 1, "valid": 8, "test": 8, "ood": 0, "hard": 0}
    tiny = write(tmp_path / "data", "mnlogic", pixels=True, k=3, formula="a and b or c", splits=sizes)
    with pytest.raises(DataError, match="split 'train' has 1 examples; probes need at least 2"):
        probe_layers(Subject.of(Foreign(2)), tiny, Ask())


def test_bad_requests_are_refused_before_anything_is_written(box, data, mnlogic, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    cases = [
        (box, mnlogic, tmp_path / "new", Ask(), DataError, "was trained on a dataset with fingerprint"),
        (tmp_path, data, tmp_path / "new", Ask(), DataError, "holds no finished run"),
        (box, data, tmp_path / "full", Ask(), DataError, "is not an empty folder; choose another"),
        (box, data, tmp_path / "full" / "notes.txt", Ask(), DataError, "is not an empty folder"),
        (box, data, tmp_path / "new", Ask(layers=("haed",)), UnknownName, "no layer named 'haed'; did you mean 'head'"),
    ]
    for run, dataset, output, ask, kind, message in cases:
        with pytest.raises(kind, match=message):
            probe_run(run, dataset, output, ask)
    assert not list((tmp_path / "new").glob("*")) and issubclass(UnknownName, AssayError)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("method", ["linear", "tcav"])
def test_a_gpu_finds_the_same(method, box, data):
    found = []
    for device in ("cpu", "cuda"):
        ask = Ask(method, config=validate(ProbeConfig, Settings({"device": device})))
        found.append(probe_layers(Subject.of(load_model(box)), data, ask))
    for one, other in zip(found[0].results, found[1].results, strict=True):
        assert abs(one.value("test", "concept_f1") - other.value("test", "concept_f1")) < 0.05
        for before, after in zip(one.effects, other.effects, strict=True):
            assert before.derivative == pytest.approx(after.derivative, abs=1e-2)


# -- the command -------------------------------------------------------------------------------------------------------


def test_probe_score_diagnose_report_on_the_command_line(assay, box, data, tmp_path):
    out = tmp_path / "probes"
    told = assay("probe", box, data.folder, "-o", out)
    assert told.status == 0 and "body.1" in told.out and "test Acc F1 Cls" in told.out
    assert f"next: assay diagnose {out}" in told.err.replace("\n", "")
    assert json.loads(assay("score", out, data.folder, "--json").out)["scores"]["test"]["concept_f1"]["value"] > 0.9
    scores = json.loads(assay("score", out / "layers" / "head", data.folder, "--json").out)["scores"]
    assert scores["test"]["concept_f1"]["value"] < 0.95
    assert "Verdict: sound." in assay("diagnose", out, data.folder).out
    assert assay("report", out, "-o", tmp_path / "report").status == 0


def test_probe_by_tcav_in_json(assay, box, data, tmp_path):
    words = ["--method", "tcav", "--layer", "body.3", "--set", "repetitions=19", "--json"]
    told = json.loads(assay("probe", box, data.folder, "-o", tmp_path / "probes", *words).out)
    assert told["best"] == "body.3" and {e["p"] >= 1 / 20 for e in told["effects"]["body.3"]} == {True}
    shutil.rmtree(tmp_path / "probes")
    shown = assay("probe", box, data.folder, "-o", tmp_path / "probes", *words[:-1]).out
    assert "TCAV" in shown and "p of all" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "linaer"], "no method named 'linaer'; did you mean 'linear'?"),
        (["--set", "examples=1"], "--set: examples: Input should be greater than or equal to 2 (given: 1)"),
        (["--set", "exmaples=9"], "--set: unknown key 'exmaples'; did you mean 'examples'?"),
        (["--layer", "boddy"], "no layer named 'boddy'; did you mean 'body'?"),
    ],
)
def test_the_command_refuses_in_one_line(words, message, assay, box, data, tmp_path):
    assert assay("probe", box, data.folder, "-o", tmp_path / "probes", *words).error == message
