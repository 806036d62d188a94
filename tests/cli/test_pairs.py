"""`assay pairs`: pictures with one concept changed, and what becomes of the answers of a model of any make."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from assay.dataset import Dataset
from assay.runs import RunFolder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def seen(table: pd.DataFrame) -> np.ndarray:
    """Return the three pixels of each picture, as a model outside of assay reads them."""
    files = [Image.open(io.BytesIO(image["bytes"])) for image in table["image"]]
    return np.array([np.asarray(file).ravel() > 127 for file in files])


def answers(table: pd.DataFrame, split: str, fingerprint: str, labels: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"index": table["index"], "split": split, "fingerprint": fingerprint, "label_y": labels})


def test_a_trained_run_has_answered(assay, run, data):
    about = json.loads((run / "run.json").read_text())
    assert about["pairs"] == "64 of split test" and RunFolder(run).predictions("pairs").exists()
    found = json.loads(assay("diagnose", run, data.folder, "--json").out)
    effects = found["counterfactuals"]
    assert (effects["split"], effects["pairs"]) == ("pairs", 64) and effects["all"]["follows"]["value"] > 0.9
    assert set(effects["by_concept"]) == {"a", "b", "c"}
    assert "When one concept is changed, the label follows in" in assay("diagnose", run, data.folder, "--full").out


def test_a_model_of_another_make_joins(assay, data, here):
    """The rule is `a and b or c`; the model outside looks at `c` alone."""
    table, test = pd.read_parquet(data.folder / "pairs"), pd.read_parquet(data.folder / "test")
    assert len(table) == 64 and table["index"].tolist() == list(range(64))
    pixels, before = seen(table), seen(test)[table["pair_row"]]
    assert (pixels != before).sum(axis=1).tolist() == [1] * 64
    assert ["abc"[place] for place in (pixels != before).argmax(axis=1)] == table["pair_concept"].tolist()
    assert (pixels == table[["concept_a", "concept_b", "concept_c"]].to_numpy()).all()
    folder = here / "theirs" / "predictions"
    folder.mkdir(parents=True)
    answers(test, "test", data.fingerprint, seen(test)[:, 2]).to_parquet(folder / "test.parquet")
    answers(table, "pairs", data.fingerprint, pixels[:, 2]).to_parquet(folder / "pairs.parquet")
    found = json.loads(assay("diagnose", "theirs", data.folder, "--json").out)["counterfactuals"]
    by_concept = {name: effects["follows"]["value"] for name, effects in found["by_concept"].items()}
    assert by_concept["a"] == by_concept["b"] == 0.0 and by_concept["c"] == 1.0
    assert found["by_concept"]["a"]["stays"]["value"] == 1.0 and found["by_concept"]["c"]["stays"]["value"] < 1


def test_a_file_holds_worlds_before_and_after(assay, data, here):
    told = json.loads(assay("pairs", data.folder, "-o", "pairs.parquet", "--json").out)
    assert told == {"file": "pairs.parquet", "split": "test-pairs", "fingerprint": data.fingerprint, "pairs": 64}
    table, split = pd.read_parquet("pairs.parquet"), pd.read_parquet(data.folder / "pairs")
    assert len(table) == 128 and table["index"].tolist() == list(range(128))
    assert (seen(table[64:]) == seen(split)).all()


def test_the_split_is_drawn_anew_and_added_to_older_datasets(assay, data, here):
    folder = here / "copy"
    shutil.copytree(data.folder, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["pairs"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    shutil.rmtree(folder / "pairs")
    assert "pairs" not in Dataset.open(folder)
    told = assay("pairs", folder)
    assert told.status == 0 and "64 worlds of split test with one concept changed" in told.err
    for name in ("manifest.json", "README.md", "croissant.json", "pairs/part-00000.parquet"):
        assert (folder / name).read_bytes() == (data.folder / name).read_bytes(), name
    assert json.loads(assay("pairs", folder, "-n", "10", "--json").out)["pairs"] == 10
    fewer = Dataset.open(folder)["pairs"]
    assert len(fewer) == 10 and fewer.pngs == Dataset.open(data.folder)["pairs"].pngs[:10]


def test_pairs_of_another_split_for_people(assay, data, here):
    told = assay("pairs", data.folder, "-o", "some/hard.parquet", "--split", "hard")
    assert told.status == 0 and told.out == ""
    assert told.err.splitlines()[0] == "32 pairs; rows 32 and up are the changed worlds"
    assert f"some/hard.parquet  split hard-pairs  fingerprint {data.fingerprint}" in told.err
    assert Path("some/hard.parquet").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("DATA -o p.parquet --split tset", "no split named 'tset'; did you mean 'test'?"),
        ("nowhere -o p.parquet", "no dataset folder 'nowhere'"),
        ("DATA --split hard", "--split and --do need -o FILE"),
        ("DATA --do a=true", "--split and --do need -o FILE"),
        ("DATA -o p.parquet --set digits=nowhere --set pixel=3", "unknown key 'pixel'"),
    ],
)
def test_what_cannot_be_paired_is_told_in_one_line(words, message, assay, data, here):
    told = assay("pairs", *(data.folder if word == "DATA" else word for word in words.split()))
    assert message in told.error and told.status == 2 and not Path("p.parquet").exists()


def test_answers_for_some_of_the_changed_worlds_are_refused(assay, data, here):
    table, test = pd.read_parquet(data.folder / "pairs"), pd.read_parquet(data.folder / "test")
    folder = here / "theirs" / "predictions"
    folder.mkdir(parents=True)
    answers(test, "test", data.fingerprint, test["label_y"]).to_parquet(folder / "test.parquet")
    answers(table[32:], "pairs", data.fingerprint, table["label_y"][32:]).to_parquet(folder / "pairs.parquet")
    assert "hold 32 of the 64 rows of split 'pairs'" in assay("diagnose", "theirs", data.folder).error
