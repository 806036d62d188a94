"""A run in which anything was damaged is refused in one line, or gives what it gave; runs without hashes still load."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.base import AssayError, DataError, Settings, rng_for
from assay.contracts import read_predictions
from assay.dataset import Dataset
from assay.models import TrainSpec, load_model, train_run
from assay.runs import RUN, RunFolder
from tests.pixels import pixels, trained

FLIPS = 150


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a network and a tree."""
    place = tmp_path_factory.mktemp("seals")
    data = pixels(place / "data")
    trained("cbm", data, place / "cbm", {"epochs": 1, "backbone": "mlp"})
    train_run(TrainSpec("tree", Settings({})), data, place / "tree")
    return place


def weights(place: Path) -> Any:
    return {name: tensor.tolist() for name, tensor in load_model(place / "cbm").state_dict().items()}


def answers(place: Path, knowledge: Any) -> Any:
    found = read_predictions(place / "cbm/predictions/test.parquet", knowledge)
    parts = {**found.labels, **found.concepts}
    numbers = {name: (part.codes.tolist(), part.probabilities.tolist()) for name, part in parts.items()}
    return found.fingerprint, found.split, found.index.tolist(), numbers, found.about


READERS: dict[str, Callable[[Path], Any]] = {
    "cbm/run.json": lambda place: RunFolder(place / "cbm").metadata(),
    "cbm/model.safetensors": weights,
    "tree/program.json": lambda place: load_model(place / "tree").state(),
    "cbm/predictions/test.parquet": lambda place: answers(place, Dataset.open(place / "data").knowledge),
}


def outcome(read: Callable[[Path], Any], place: Path) -> str:
    try:
        return repr(read(place))
    except AssayError as error:
        assert "\n" not in str(error)
        return "refused"


@pytest.mark.parametrize("file", READERS)
def test_a_flipped_bit_never_changes_what_is_read(file: str, place: Path) -> None:
    path, read = place / file, READERS[file]
    whole, expected = path.read_bytes(), repr(read(place))
    flip = partial(rng_for(0, "seals", file).integers, 8 * len(whole))
    found = []
    for _ in range(FLIPS):
        damaged, bit = bytearray(whole), int(flip())
        damaged[bit // 8] ^= 1 << bit % 8
        path.unlink()  # the old file may still be mapped
        path.write_bytes(damaged)
        found.append(outcome(read, place))
    path.write_bytes(whole)
    assert set(found) <= {"refused", expected} and "refused" in found
    assert outcome(read, place) == expected


def test_runs_of_older_versions_have_no_hashes(place: Path) -> None:
    record = place / "cbm" / RUN
    whole = record.read_bytes()
    old = {key: value for key, value in json.loads(whole).items() if key not in ("files", "sha256")}
    record.write_text(json.dumps(old))
    assert RunFolder(place / "cbm").metadata() == old and load_model(place / "cbm").name == "cbm"
    record.write_bytes(whole)


def test_a_seal_cannot_be_left_out(place: Path) -> None:
    record = place / "cbm" / RUN
    whole = record.read_bytes()
    record.write_text(json.dumps({key: value for key, value in json.loads(whole).items() if key != "sha256"}))
    with pytest.raises(DataError, match="is damaged; train again"):
        RunFolder(place / "cbm").metadata()
    record.write_bytes(whole)


def test_weights_of_another_run_are_refused(place: Path) -> None:
    path = place / "cbm/model.safetensors"
    whole = path.read_bytes()
    trained("cbm", Dataset.open(place / "data"), place / "other", {"epochs": 1, "backbone": "mlp"}, seed=1)
    path.write_bytes((place / "other/model.safetensors").read_bytes())
    with pytest.raises(DataError, match="model.safetensors does not match its hash"):
        load_model(place / "cbm")
    path.unlink()
    with pytest.raises(DataError, match="model.safetensors does not match its hash"):
        load_model(place / "cbm")
    path.write_bytes(whole)
