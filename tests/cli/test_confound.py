"""`assay confound` and `assay make` with confounders, on the command line and in Python, on imported data too."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import assay
from assay.base import AssayError, rng_for
from assay.cli import app
from tests.conftest import write


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(result.exception, AssayError):
        return f"error: {result.exception}"
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


def test_a_mark_is_planted_and_a_model_that_follows_it_is_told_of(tmp_path: Path) -> None:
    plain = write(tmp_path / "data", "mnlogic", k=3, n=12, splits={"train": 12, "valid": 4, "test": 200, "pairs": 0})
    said = run("confound", tmp_path / "data", "-o", tmp_path / "marked", "--what", "frame", "--strength", 0.9)
    assert "frame goes with y in 90 % of the examples" in said
    made = assay.load(tmp_path / "marked")
    assert made.fingerprint in said and made.fingerprint != plain.fingerprint
    for name in ("test", "unconfounded", "reversed"):
        part = made[name]
        codes = np.array([json.loads(style)["nuisances"]["frame"] for style in part.table["style"].to_pylist()])
        part.predictions(codes).write(tmp_path / "run" / "predictions" / f"{name}.parquet", made.knowledge)
    told = run("diagnose", tmp_path / "run", tmp_path / "marked")
    assert told.startswith("Verdict: spurious.") and "What the label moves with" not in told
    assert "What the label moves with" in run("diagnose", tmp_path / "run", tmp_path / "marked", "--full")
    again = run("confound", tmp_path / "marked", "-o", tmp_path / "twice")
    assert again.startswith("error:") and "has confounders already" in again


def test_imported_pictures_can_be_marked(tmp_path: Path) -> None:
    rng, lines = rng_for(0, "imported"), ["file,split,concept_bright,label_y"]
    (tmp_path / "own").mkdir()
    for number in range(60):
        bright = int(rng.integers(2))
        pixels = rng.integers(100 * bright, 100 + 100 * bright, (20, 20, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "own" / f"{number}.png")
        lines.append(f"{number}.png,{'train' if number < 30 else 'test'},{bright},{bright}")
    (tmp_path / "own" / "table.csv").write_text("\n".join(lines) + "\n")
    data = assay.from_table(tmp_path / "own" / "table.csv", tmp_path / "data")
    marked = assay.confound(data, tmp_path / "marked", "watermark", data.knowledge.label_names[0], strength=1.0)
    assert {"unconfounded", "reversed"} <= set(marked.split_names) and marked.pairs is None
    before, after = (np.asarray(part["test"][0]["image"]) for part in (data, marked))
    changed = (before != after).any(axis=-1)
    assert before.shape == after.shape and not changed[:14].any()
    with pytest.raises(AssayError, match="drawn anew"):
        assay.confound(data, tmp_path / "other", "style.paper", "y")


def test_json_says_what_was_planted(tmp_path: Path) -> None:
    write(tmp_path / "data", "mnlogic", k=3, n=8)
    facts = json.loads(run("confound", tmp_path / "data", "-o", tmp_path / "marked", "--where", "train", "--json"))
    assert facts["confound"]["with"] == "y" and facts["confound"]["where"] == ["train"]
