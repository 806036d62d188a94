"""A black box that is probed speaks of concepts: its predictions are scored, diagnosed and reported like any other's."""

import csv
import json
import shutil

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from assay import Dataset
from assay.base import AssayError, DataError, Settings, UnknownName
from assay.contracts import read_predictions
from assay.diagnosis import diagnose_run
from assay.exchange import Annotation, annotate
from assay.models import Ask, Subject, activations, concept_directions, load_model, probe_run, sensitivity
from assay.runs import RunFolder, evidence_of
from tests.cli.conftest import assay, program
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
    assert told["layers"] == json.loads(json.dumps(linear[1].to_dict(data.knowledge)["layers"]))
    assert {"concept_accuracy", "concept_f1", "collapse"} <= set(told["layers"][0]["test"]) and told["effects"] == {}
    with (linear[0] / "probes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["layer"] for row in rows] == ["input", "body.1", "body.3", "head"]
    for row, layer in zip(rows, told["layers"], strict=True):  # each split has its columns; what is not known is empty
        assert row["best"] == str(layer["best"]) and int(row["features"]) == layer["features"]
        for split in ("valid", "test", "hard"):
            for metric, score in layer[split].items():
                written = row[f"{split}_{metric}"]
                assert written == "" if score["value"] is None else float(written) == round(score["value"], 4)
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


def ask(method="linear", layers=(), every=False, **settings):
    return Ask.of(method, Settings({"device": "cpu", **settings}), layers, every=every)


def test_probes_are_the_logistic_regressions_of_scikit_learn(box, data, tmp_path):
    """On activations around their mean, in units of the mean deviation along a direction."""
    for strength in (0.1, 0.003):
        asked = ask(layers=("body.3",), strengths=[strength])
        probed = probe_run(box, data, tmp_path / str(strength), asked)
        assert probed.best.strengths == (strength,) * 3
        subject = Subject.of(load_model(box))
        train, test = (
            activations(subject, "body.3", torch.from_numpy(data[name].images).permute(0, 3, 1, 2), 8192).double()
            for name in ("train", "test")
        )
        centred = train - train.mean(dim=0)
        rank = int(torch.linalg.matrix_rank(centred, rtol=1e-3))
        scale = float((centred.square().sum() / (len(train) * rank)).sqrt())
        inputs, later = (centred / scale).numpy(), ((test - train.mean(dim=0)) / scale).numpy()
        for place, name in enumerate("abc"):
            # with two classes the library has one direction, which stands for two of ours of opposite sign
            model = LogisticRegression(C=2 / (strength * len(train)), tol=1e-8, max_iter=5000)
            wanted = model.fit(inputs, data["train"].concepts[:, place]).predict_proba(later)
            found = probed.best.predictions["test"].concepts[name].probabilities
            assert np.abs(found - wanted).mean() < 0.01


def test_what_is_fitted_is_not_fitted_on_what_is_scored_and_validation_chooses_the_penalty(data, tmp_path):
    """Of a concept that training and validation say at random, a probe is no better than chance, and cautious."""
    annotate(data, Annotation(concept_noise={"a": 0.5}), tmp_path / "data")
    noisy = Dataset.open(tmp_path / "data")
    trained("blackbox", noisy, tmp_path / "run", {"epochs": 2})
    asked = ask(layers=("body.1",), strengths=[10.0, 1.0, 0.1, 0.01, 0.001])
    probed = probe_run(tmp_path / "run", noisy, tmp_path / "probes", asked)
    said, test = probed.best.predictions["test"].concepts, data["test"]
    right = [(said[name].codes == test.concepts[:, place]).mean() for place, name in enumerate("abc")]
    assert right[0] < 0.75 and min(right[1:]) > 0.95
    assert probed.best.strengths[0] > max(probed.best.strengths[1:])


def test_probes_are_fitted_on_the_examples_that_have_every_concept(data, tmp_path):
    """Half of all concepts are missing: an eighth of the rows is whole, and enough."""
    annotate(data, Annotation(missing=0.5), tmp_path / "data")
    gaps = Dataset.open(tmp_path / "data")
    trained("blackbox", gaps, tmp_path / "run", {"epochs": 2})
    probed = probe_run(tmp_path / "run", gaps, tmp_path / "probes", ask(layers=("input",)))
    assert probed.best.value("test", "concept_accuracy") > 0.95


def test_the_best_layer_is_the_best_on_validation_and_not_the_input(linear):
    scores = {r.layer.name: r.value("valid", "concept_f1") for r in linear[1].results if r.layer.name != "input"}
    assert linear[1].best.layer.name == max(scores, key=scores.get)


def test_layers_are_those_that_are_asked_for_or_every_one(box, data, tmp_path):
    some = probe_run(box, data, tmp_path / "some", ask(layers=("head", "body.1"), examples=9))
    assert [result.layer.name for result in some.results] == ["head", "body.1"]
    every = probe_run(box, data, tmp_path / "every", ask(every=True, examples=9))
    names = [result.layer.name for result in every.results]
    assert {"input", "body.1", "body.3", "head"} < set(names) and len(set(names)) == len(names)


def test_tcav_reads_the_value_whose_direction_moves_the_answer_most(box, data, tcav):
    """By its parts: directions of the training examples, and the slopes of the answer along them."""
    subject = Subject.of(load_model(box))
    train, test = (torch.from_numpy(data[name].images).permute(0, 3, 1, 2) for name in ("train", "test"))
    for result in tcav[1].results[1:]:
        rows = activations(subject, result.layer.name, train, 10_000)
        directions = concept_directions(
            rows, torch.from_numpy(data["train"].concepts), data.knowledge.space.sizes, 0.01
        )
        felt = sensitivity(subject, result.layer.name, test, 10_000, directions.span.directions)
        moved = (torch.stack(felt.gradients).sum(dim=0) @ directions.columns).reshape(len(test), 3, 2)
        wanted = torch.where(moved.abs().amax(dim=2) > 0, moved.argmax(dim=2), -1)
        said = [result.predictions["test"].concepts[name].codes for name in "abc"]
        assert (np.stack(said, axis=1) == wanted.numpy()).mean() > 0.99


def test_other_directions_find_the_concept_that_decides_too(box, data, tmp_path):
    asked = ask("tcav", layers=("body.3",), vectors="sgd")
    found, again = (probe_run(box, data, tmp_path / name, asked) for name in ("one", "two"))
    towards = {(e.concept, e.value): e for e in found.best.effects if e.class_ == 1}
    assert (towards[2, 1].score, towards[2, 0].score) == (1, 0) and found.best.effects == again.best.effects


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


def test_a_split_too_small_to_fit_on_is_told(box, data, tmp_path):
    annotate(data, Annotation(examples=1, splits=["train"]), tmp_path / "data")
    tiny = Dataset.open(tmp_path / "data")
    trained("blackbox", tiny, tmp_path / "run", {"epochs": 1})
    with pytest.raises(DataError, match="split 'train' has 1 examples; probes need at least 2"):
        probe_run(tmp_path / "run", tiny, tmp_path / "probes", Ask())


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
def test_a_gpu_finds_the_same(method, box, data, tmp_path):
    found = [probe_run(box, data, tmp_path / device, ask(method, device=device)) for device in ("cpu", "cuda")]
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
        (["--set", "ridge=0"], "--set: ridge: Input should be greater than 0 (given: 0)"),
        (["--set", "examples=1"], "--set: examples: Input should be greater than or equal to 2 (given: 1)"),
        (["--set", "exmaples=9"], "--set: unknown key 'exmaples'; did you mean 'examples'?"),
        (["--layer", "boddy"], "no layer named 'boddy'; did you mean 'body'?"),
    ],
)
def test_the_command_refuses_in_one_line(words, message, assay, box, data, tmp_path):
    assert assay("probe", box, data.folder, "-o", tmp_path / "probes", *words).error == message
