"""A run on disk says where it came from, comes back as it was, and notices what was damaged or moved."""

import json
import shutil
from dataclasses import asdict

import pytest
from safetensors.torch import load_file

from assay import predict
from assay.base import AssayError, DataError, Settings, UnknownName
from assay.contracts import read_predictions
from assay.dataset import Dataset, Fold
from assay.models import TrainSpec, load_model, train_run, transfer_run
from assay.runs import RunFolder
from tests.conftest import write
from tests.pixels import pixels, trained

QUICKEST = {"epochs": 1}


@pytest.fixture
def copy(run, tmp_path):
    """The run, to be damaged."""
    return shutil.copytree(run, tmp_path / "copy")


def test_a_run_holds_weights_history_predictions_and_where_they_came_from(run):
    found = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    splits = {f"predictions/{split}.parquet" for split in ("valid", "test", "hard", "pairs")}
    assert found == {"run.json", "history.json", "model.safetensors", *splits}


def test_run_json_tells_the_seed_versions_and_data(run, data):
    about = json.loads((run / "run.json").read_text())
    assert (about["model"], about["seed"], about["config"]["epochs"]) == ("dpl", 0, 12)
    assert {"assay", "python", "numpy", "torch"} <= about["versions"].keys()
    assert about["data"]["fingerprint"] == data.fingerprint and about["config"]["backbone"] == "mlp"
    assert about["parameters"] == sum(tensor.numel() for tensor in load_file(run / "model.safetensors").values())
    epochs = json.loads((run / "history.json").read_text())["epochs"]
    assert epochs[0].keys() == {"phase", "number", "loss", "score", "best"} and epochs[-1]["loss"] < epochs[0]["loss"]


def test_predictions_tell_the_seed_versions_and_data(run, data):
    found = read_predictions(run / "predictions" / "test.parquet", data.knowledge)
    assert (found.fingerprint, found.split, found.about["model"]) == (data.fingerprint, "test", "dpl")
    assert found.about["seed"] == 0 and {"assay", "torch"} <= found.about["versions"].keys()
    assert found.about["config"] == json.loads((run / "run.json").read_text())["config"]


def test_a_finished_run_is_not_written_over(run, data):
    with pytest.raises(DataError, match="holds a finished run; choose another folder"):
        trained("dpl", data, run)


def test_a_folder_with_other_things_is_refused(data, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="holds other files; choose another folder"):
        trained("dpl", data, tmp_path, QUICKEST)
    with pytest.raises(DataError, match="is a file, not a folder"):
        trained("dpl", data, tmp_path / "notes.txt", QUICKEST)
    with pytest.raises(DataError, match=r"cannot use folder .*: Not a directory"):
        trained("dpl", data, tmp_path / "notes.txt" / "run", QUICKEST)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_unfinished_run_is_begun_again(copy, data):
    (copy / "run.json").unlink()
    trained("dpl", data, copy, QUICKEST)
    assert RunFolder(copy).metadata()["config"]["epochs"] == 1


def test_what_cannot_be_trained_leaves_no_folder(data, mnlogic, tmp_path):
    sizes = {"train": 8, "valid": 0, "test": 8, "ood": 0, "hard": 8}
    without = write(tmp_path / "data", "mnlogic", pixels=True, splits=sizes)
    for settings, dataset in (({"mode": "x"}, data), ({"backbone": "conv-pool"}, data), ({}, without)):
        with pytest.raises(AssayError):
            trained("cbm", dataset, tmp_path / "run", settings)
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("damage", [b"", b"no weights", None])
def test_damaged_weights_are_noticed(damage, copy):
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100] if damage is None else damage)
    with pytest.raises(DataError, match="the weights in .* cannot be read") as caught:
        load_model(copy)
    assert "\n" not in str(caught.value)


def test_weights_of_another_model_are_noticed(copy, mnlogic, tmp_path):
    trained("cbm", mnlogic, tmp_path / "other", QUICKEST)
    shutil.copy(tmp_path / "other" / "model.safetensors", copy)
    with pytest.raises(DataError, match="the weights in .* cannot be read"):
        load_model(copy)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"model": "dpl"}', "\udcff"])
def test_a_damaged_record_is_noticed(text, copy):
    (copy / "run.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"run.json' is damaged; train again"):
        RunFolder(copy).metadata()


def test_what_is_no_run_is_told(tmp_path, run):
    for place in (tmp_path, tmp_path / "nothing", run / "run.json"):
        with pytest.raises(DataError, match="holds no finished run"):
            RunFolder(place).metadata()


def test_a_dataset_that_moved_along_with_its_run_is_found(tmp_path):
    trained("blackbox", pixels(tmp_path / "old" / "data"), tmp_path / "old" / "runs" / "one", QUICKEST)
    (tmp_path / "old").rename(tmp_path / "new")
    assert RunFolder(tmp_path / "new" / "runs" / "one").dataset().folder.resolve() == tmp_path / "new" / "data"


def test_a_dataset_that_is_gone_or_another_is_told(tmp_path):
    trained("blackbox", pixels(tmp_path / "data"), tmp_path / "run", QUICKEST)
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is no longer in .*/data'; move it back"):
        RunFolder(tmp_path / "run").dataset()
    pixels(tmp_path / "data", seed=1)
    with pytest.raises(DataError, match="is no longer the dataset that .*/run' was trained on"):
        RunFolder(tmp_path / "run").dataset()


def test_predictions_for_the_training_split_come_when_asked(copy, data):
    (path,) = predict(copy, data, split="train")
    assert path == copy / "predictions" / "train.parquet" and len(read_predictions(path, data.knowledge).index) == 256
    assert list(RunFolder(copy).all_predictions(data.knowledge)) == ["test", "hard", "valid", "train"]
    with pytest.raises(UnknownName, match="no split named 'tset'; did you mean 'test'"):
        predict(copy, data, split="tset")


def test_predictions_for_another_dataset_are_refused(copy, mnlogic):
    before = (copy / "predictions" / "test.parquet").read_bytes()
    with pytest.raises(DataError, match="was trained on a dataset with fingerprint"):
        predict(copy, mnlogic)
    assert (copy / "predictions" / "test.parquet").read_bytes() == before


def test_a_run_without_predictions_is_told(copy, data):
    shutil.rmtree(copy / "predictions")
    with pytest.raises(DataError, match="has no predictions; make some: assay predict RUN DATA"):
        RunFolder(copy).all_predictions(data.knowledge)


def test_continual_data_is_learned_stage_by_stage_from_the_first(tmp_path):
    stages = {"stages": ["a", "not a"], "formula": "a and b or not a and c"}
    sizes = {f"{name}_{stage}": 32 for name in ("train", "valid", "test") for stage in (1, 2)}
    dataset = pixels(tmp_path / "data", **stages, splits={**sizes, "hard": 32})
    trained("dpl", dataset, tmp_path / "run", QUICKEST)
    found = RunFolder(tmp_path / "run").all_predictions(dataset.knowledge)
    assert list(found) == ["test_1", "test_2", "hard", "valid_1", "valid_2"]
    assert Dataset.open(tmp_path / "data")["train_1"].concepts[:, 0].all()


def test_a_dataset_fits_another_run_if_concepts_labels_and_pictures_are_alike(run, data, tmp_path):
    sizes = {"train": 4, "valid": 4, "test": 8}
    other = pixels(tmp_path / "rule", formula="a or b", splits=sizes)
    assert [path.stem for path in transfer_run(run, other, tmp_path / "out")]
    said = read_predictions(tmp_path / "out" / "predictions" / "test.parquet", other.knowledge)
    own = load_model(run).predict(other["test"])
    assert (said.labels["y"].codes == own.labels["y"].codes).all() and said.fingerprint == other.fingerprint
    with pytest.raises(DataError, match="holds predictions only; the run that made them is"):
        load_model(tmp_path / "out")
    wider = pixels(tmp_path / "wider", k=4, formula="a and b or c and d", splits=sizes)
    with pytest.raises(DataError, match="'mnlogic' has other concepts than the run was trained on"):
        transfer_run(run, wider, tmp_path / "wide")
    numbers = write(
        tmp_path / "sum", "mnmath", equations={"y": "a + b + c"}, names=[*"abc"], digit_values=[0, 1], splits=sizes
    )
    with pytest.raises(DataError, match="has other (labels|concepts)"):
        transfer_run(run, numbers, tmp_path / "number")
    drawn = write(tmp_path / "drawn", "mnlogic", k=3, formula="a or b", splits=sizes)
    with pytest.raises(DataError, match="reads pictures of 3 x 1 in 1 channel, and 'mnlogic' has 84 x 28 in 1 channel"):
        transfer_run(run, drawn, tmp_path / "pictures")


def test_a_fold_is_learned_outside_and_predicted_inside(data, tmp_path):
    fold = Fold(1, 4)
    order = TrainSpec("dpl", Settings({"epochs": 1, "device": "cpu"}), fold=fold)
    train_run(order, data, tmp_path / "run")
    said = read_predictions(tmp_path / "run" / "predictions" / "train.parquet", data.knowledge)
    inside, held_out = fold.divide(data["train"])
    assert sorted(said.index) == sorted(held_out.index) and len(inside) + len(held_out) == 256
    assert json.loads((tmp_path / "run" / "run.json").read_text())["fold"] == asdict(fold)


def test_a_record_says_what_a_study_calls_the_model(data, tmp_path):
    order = TrainSpec("blackbox", Settings({"epochs": 1, "device": "cpu"}), called={"model": "mine"})
    train_run(order, data, tmp_path / "run")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["called"] == {"model": "mine"}
