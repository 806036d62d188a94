"""`assay annotate`, `assay leakage` and `assay align`, as typed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.dataset import Dataset
from tests.cli.conftest import Told
from tests.pixels import trained

Assay = Callable[..., Told]


@pytest.fixture(scope="module")
def bottleneck(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cbm") / "run"
    trained("cbm", data, folder, {"epochs": 8})
    return folder


def test_annotate_train_score_and_diagnose(assay: Assay, data: Dataset, tmp_path: Path) -> None:
    new = tmp_path / "new"
    words = ("--set", "missing=0.3", "--set", "mechanism=mnar", "--set", "label_noise=0.1", "--json")
    told = json.loads(assay("annotate", data.folder, "-o", new, "--seed", 3, *words).out)
    assert told["splits"]["train"]["missing"] == pytest.approx(0.3, abs=0.08) and told["splits"]["test"]["missing"] == 0
    assert told["splits"]["train"]["wrong_labels"] > 0
    assert Dataset.open(new).manifest.task.annotation.seed == 3
    quick = ("--epochs", 2, "--set", "device=cpu", "--set", "mode=independent")
    assert assay("train", "cbm", new, "-o", tmp_path / "run", *quick).status == 0
    assert assay("score", tmp_path / "run", new).status == 0
    assert assay("diagnose", tmp_path / "run", new).out.startswith("Verdict: ")
    assert "concepts missing" in assay("annotate", data.folder, "-o", tmp_path / "b", "--set", "missing=0.1").out


def test_annotate_by_a_file_of_settings(assay: Assay, data: Dataset, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("drop: [c]\nconcept_noise: {a: 0.5}\nlabel_flips: {y: {true: {false: 0.5}}}\n")
    assert assay("annotate", data.folder, "-o", tmp_path / "new", "--config", tmp_path / "a.yaml").status == 0
    train = Dataset.open(tmp_path / "new")["train"]
    wrong = train.annotated_concepts != train.concepts
    assert wrong[:, 0].any() and not wrong[:, 1].any() and wrong.shape[1] == 2
    assert (train.labels[train.given_labels != train.labels] == 1).all()


def test_annotate_with_what_a_run_says(assay: Assay, data: Dataset, bottleneck: Path, tmp_path: Path) -> None:
    missing = assay("annotate", data.folder, "-o", tmp_path / "new", "--set", f"machine={bottleneck}")
    assert missing.error == "no predictions for split 'train'; make them: assay predict RUN DATA --split train"
    assert assay("predict", bottleneck, data.folder, "--split", "train").status == 0
    words = ("--set", f"machine={bottleneck}", "--set", "threshold=0.0")  # all is true
    assert assay("annotate", data.folder, "-o", tmp_path / "new", *words).status == 0
    new = Dataset.open(tmp_path / "new")
    assert (new["train"].annotated_concepts == 1).all() and (
        new["test"].annotated_concepts == new["test"].concepts
    ).all()
    other = assay("annotate", tmp_path / "new", "-o", tmp_path / "again", "--set", f"machine={bottleneck}")
    assert "is about a dataset with fingerprint" in other.error
    assert (bottleneck / "predictions" / "train.parquet").unlink() is None


def test_leakage_twice_is_the_same(assay: Assay, data: Dataset, bottleneck: Path) -> None:
    first, again = (assay("leakage", bottleneck, data.folder, "--json").out for _ in range(2))
    assert first == again and json.loads(first)["bypass"]["by_picture"] == 0
    told = assay("leakage", bottleneck, data.folder).out
    assert "CTL" in told and "survival" in told
    file = bottleneck / "predictions" / "test.parquet"
    assert "bypass left out: a predictions file has no model" in assay("leakage", file, data.folder).err


def test_leakage_needs_no_torch_but_says_what_is_left_out(program: Assay, data: Dataset, bottleneck: Path) -> None:
    told = program("leakage", bottleneck, data.folder, torch=False)
    assert told.status == 0 and "CTL" in told.out and "bypass left out: 'cbm' needs torch" in told.err


def test_align(assay: Assay, data: Dataset, bottleneck: Path, tmp_path: Path) -> None:
    told = assay("align", bottleneck, data.folder, "-o", tmp_path / "new", "--set", "zero=[c]")
    assert "aligned" in told.out and "y=True < c=True" in told.out
    assert assay("score", tmp_path / "new", data.folder).status == 0
    as_json = assay("align", bottleneck, data.folder, "-o", tmp_path / "j", "--set", "negative=[c]", "--json")
    found = json.loads(as_json.out)
    assert found["weights"]["y=True < c=True"][2] <= 0 and len(found["front_ends"]) == 3


BAD = [
    ("annotate DATA -o NEW --set mising=0.3", "--set: unknown key 'mising'; did you mean 'missing'?"),
    ("annotate DATA -o NEW --set missing=3", "--set: missing"),
    ("annotate DATA -o NEW --set missing={z: 0.3}", "missing: no concept 'z'"),
    ("annotate DATA -o NEW --set splits=[trian]", "splits: no split named 'trian'; did you mean 'train'?"),
    ("annotate DATA -o NEW --set where=a+", "formula 'a+'"),
    ("annotate DATA -o NEW --set machine=none.csv", "'none.csv' cannot be read: No such file or directory"),
    ("annotate DATA -o NEW --set machine=nowhere", "no run or predictions file 'nowhere'"),
    ("annotate DATA -o DATA --set missing=0.3", "is not an empty folder; choose another"),
    ("annotate nowhere -o NEW", "no dataset folder 'nowhere'"),
    ("leakage nowhere DATA", "no run or predictions file 'nowhere'"),
    ("leakage RUN DATA --split train", "has no predictions for split 'train': assay predict RUN DATA --split train"),
    (
        "leakage RUN DATA --split hard",
        "split 'hard' has 32 examples whose concepts are known, leakage needs 40 or more",
    ),
    ("align RUN DATA -o NEW", "nothing to align: give zero, positive, negative or bounds"),
    ("align RUN DATA -o NEW --set zero=[z]", "no weight 'z'"),
    ("align RUN DATA -o NEW --set zero=a", "--set: zero"),
    ("align RULE DATA -o NEW --set zero=[a]", "model 'dpl' of this run has no linear label head to align"),
    ("align nowhere DATA -o NEW --set zero=[a]", "'nowhere' holds no finished run"),
]


@pytest.mark.parametrize(("words", "told"), BAD, ids=[words for words, _ in BAD])
def test_bad_input_is_one_line(
    words: str, told: str, assay: Assay, data: Dataset, bottleneck: Path, run: Path, tmp_path: Path
) -> None:
    named = {"DATA": data.folder, "NEW": tmp_path / "new", "RUN": bottleneck, "RULE": run}
    pieces = words.replace("{z: 0.3}", "{z:_0.3}").split()
    said = assay(*(named.get(piece, piece.replace("_0.3", " 0.3")) for piece in pieces))
    assert told in said.error and said.status == 2
    assert not (tmp_path / "new").exists()
