"""Every command does what the page on the command line says, for people and as JSON, with the exit status that tells."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from assay.base import DataError, install_line
from assay.dataset import Dataset
from assay.exchange import EXPORTS
from assay.lab import STRATEGIES
from assay.metrics import METRICS
from assay.models import BACKBONES, METHODS, MODELS
from assay.tasks import TASKS
from tests.pixels import TASK
from tests.quick import FEW, tasks
from tests.samples import needs_task

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorials" / "11_your_own_task.py"
PAGE = [line.split("#")[0].strip() for line in (ROOT / "docs" / "command_line.md").read_text().splitlines()]
SHORTER = {"4000": "160", "12": "1", "sae-topk": "pca", "20": "5"}
PIXELS = [word for key, value in TASK.items() for word in ("--set", f"{key}={value}")]
STUDY = f"""
output: out
tasks: [{{task: mnlogic, {", ".join(f"{key}: {json.dumps(value)}" for key, value in TASK.items())}}}]
models: [dpl, {{model: blackbox, learning_rate: 0.01}}]
n: 32
epochs: 1
"""


def by_hand(dataset, path, rows=100, **columns):
    """Write predictions with pandas, all right but for these columns."""
    table = pd.read_parquet(dataset.folder / "test").iloc[:rows]
    mine = pd.DataFrame({"index": range(rows), "split": "test", "fingerprint": dataset.fingerprint})
    for name in ("label_sum", "concept_a", "concept_b"):
        mine[name] = table[name].to_numpy()
    mine.assign(**columns).to_parquet(path)
    return path


@pytest.fixture
def lamps(tmp_path):
    """The file that the tutorial on tasks tells to save."""
    from docs.run_notebook import cells_of

    cells = [cell.source for cell in cells_of(TUTORIAL.read_text()) if "class Lamps" in cell.source]
    path = tmp_path / "lamps.py"
    path.write_text("\n".join(cells))
    return path


def test_the_commands_of_the_page_in_their_order(assay, tmp_path, monkeypatch, in_process):
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text(STUDY)
    commands = [shlex.split(line)[1:] for line in PAGE if line.startswith("assay ")]
    assert len(commands) >= 9
    for words in commands:
        if words[0] == "score":
            by_hand(Dataset.open("data"), "predictions.parquet", rows=20)
        if words[0] == "import":
            assert assay("new", "data", words[1]).status == 0
        if words[0] == "view":
            words = [*words, "--bundle", "page"]  # the page itself would wait for a visitor
        told = assay(*(SHORTER.get(word, word) for word in words))
        assert told.status == (1 if words[0] == "diagnose" else 0), (words, told.err)
        assert "Traceback" not in told.err
    made = {path.name for path in Path().iterdir()}
    assert {"data", "run", "report", "out"} <= made and Path("report/report.html").exists()


def test_list_names_what_there_is(assay):
    told = assay("list")
    assert told.status == 0 and all(name in told.out for name in [*TASKS, *MODELS, *METRICS, *BACKBONES])
    found = json.loads(assay("list", "--json").out)
    assert {kind: [entry["name"] for entry in held] for kind, held in found.items()} == {
        **{"tasks": list(TASKS), "models": list(MODELS), "metrics": list(METRICS), "backbones": list(BACKBONES)},
        "exports": list(EXPORTS),
        "discovery": list(METHODS),
        "strategies": list(STRATEGIES),
    }
    assert [entry["name"] for entry in json.loads(assay("list", "models", "--json").out)] == list(MODELS)


@pytest.mark.parametrize("name", tasks(FEW))
def test_show_tells_concepts_rule_splits_and_settings(name, assay):
    told, facts = assay("show", name), json.loads(assay("show", name, "--json").out)
    assert told.status == 0
    for part in [*facts["settings"], *(split["name"] for split in facts["splits"])]:
        assert part in told.out
    unbroken = "".join(told.out.split())  # long rules go over several lines
    assert all("".join(label["formula"].split()) in unbroken for label in facts["knowledge"]["labels"])
    assert facts["worlds"] > 1 and (facts["diagram_nodes"] or 2) > 1 and facts["latex"]


def test_show_takes_settings_files_and_folders(assay, data, lamps):
    assert json.loads(assay("show", "mnlogic", "--set", "k=64", "--json").out)["worlds"] == 2**64
    assert "left > right" in assay("show", lamps).out
    assert data.fingerprint in assay("show", data.folder).out
    assert json.loads(assay("show", data.folder, "--json").out) == data.manifest.to_dict()


def test_make_tells_what_it_made(assay, tmp_path):
    words = ["make", "mnlogic", "-o", tmp_path / "data", "-n", 20, "--split", "test=7", "--seed", 3, *PIXELS]
    told = json.loads(assay(*words, "--json").out)
    dataset = Dataset.open(tmp_path / "data")
    assert (told["examples"], told["made"], told["splits"]) == (
        *(44, 44, {"train": 20, "valid": 4, "test": 7, "hard": 6, "pairs": 7}),
    )
    assert told["fingerprint"] == dataset.fingerprint and dataset.manifest.seed == 3
    again = assay(*words)
    assert again.status == 0 and "made 0 examples" in again.err and "44 were there" in again.err


def test_make_takes_a_file_of_settings_and_flags_go_on_top(assay, tmp_path):
    (tmp_path / "c.yaml").write_text(
        "n_samples: 40\nxor_rule: false\nuse_mnist: false\nlogic: Or(And(a, b), Not(c))\nn_digits: 3\nseed: 1\n"
        f"splits: {{valid: 8}}\noutput_dir: {tmp_path / 'there'}\ncompression: zip\n"
    )
    told = json.loads(assay("make", "mnlogic", "--config", tmp_path / "c.yaml", "--split", "test=6", "--json").out)
    assert told["folder"] == str(tmp_path / "there") and told["archive"] == str(tmp_path / "there.zip")
    assert told["splits"] == {"train": 40, "valid": 8, "test": 6, "ood": 12, "hard": 12, "pairs": 6}
    more = ["-n", 10, "-o", tmp_path / "here", "--archive", "tar.gz"]
    told = json.loads(assay("make", "mnlogic", "--config", tmp_path / "c.yaml", *more, "--json").out)
    assert told["splits"]["train"] == 10 and Path(told["archive"]) == tmp_path / "here.tar.gz"


def test_make_takes_a_task_of_ones_own(assay, tmp_path, lamps):
    assert assay("make", lamps, "-o", tmp_path / "lamps", "-n", 40).status == 0
    assert Dataset.open(tmp_path / "lamps").name == "lamps"


def test_train_predict_score_diagnose_report(assay, data, tmp_path):
    run, learn = tmp_path / "run", ["--set", "learning_rate=0.01", "--set", "batch_size=32", "--epochs", 12]
    told = json.loads(assay("train", "dpl", data.folder, "-o", run, *learn, "--seed", 4, "--json").out)
    assert (told["model"], told["seed"], told["run"]) == ("dpl", 4, str(run)) and told["history"]
    told = json.loads(assay("predict", run, data.folder, "--split", "train", "--json").out)
    assert Path(told["predictions"]).exists() and told["fingerprint"] == data.fingerprint
    told = json.loads(assay("score", run, data.folder, "--json").out)
    assert list(told["scores"]) == ["test", "hard", "valid", "train"]
    assert told["scores"]["test"]["label_accuracy"]["value"] == told["scores"]["hard"]["near_accuracy"]["value"] == 1
    told = assay("diagnose", run, data.folder)
    assert told.status == 0 and told.out.startswith("Verdict: sound. The labels are right")
    assert json.loads(assay("diagnose", run, data.folder, "--json").out)["verdict"] == "sound"
    told = assay("report", run, "-o", tmp_path / "report", "--title", "Mine")
    assert told.status == 0 and told.err.strip().endswith("report.html")
    assert "# Mine" in (tmp_path / "report" / "report.md").read_text()


def test_train_tells_the_best_score_of_the_labels(assay, data, tmp_path):
    words = ["--set", "mode=sequential", "--set", "learning_rate=0.02", "--epochs", 3]
    told = assay("train", "cbm", data.folder, "-o", tmp_path / "run", *words)
    epochs = json.loads((tmp_path / "run" / "history.json").read_text())["epochs"]
    best = max(epoch["score"] for epoch in epochs if epoch["phase"] == "labels")
    assert f"trained cbm for {len(epochs)} epochs; best F1 on validation {best:.3f}\n" in told.err


def test_score_shows_only_the_metrics_asked_for(assay, run, data):
    told = assay("score", run, data.folder, "--metric", "collapse", "--metric", "label_f1")
    assert told.status == 0 and "collapse" in told.out and "label_f1" in told.out and "concept_f1" not in told.out


def test_a_model_that_is_not_sound_gives_status_1(assay, evenodd, tmp_path):
    wrong = by_hand(evenodd, tmp_path / "wrong.parquet", concept_a=0)
    told = assay("diagnose", wrong, evenodd.folder, "--json")
    assert told.status == 1 and json.loads(told.out)["verdict"] == "leaking"
    right = by_hand(evenodd, tmp_path / "right.parquet")
    assert assay("diagnose", right, evenodd.folder).status == 0


def test_run_plans_runs_and_keeps(assay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text(STUDY)
    told = assay("run", "study.yaml", "--plan")
    assert told.status == 0 and [line.rsplit("-", 1)[0] for line in told.out.split()] == [
        "mnlogic-dpl-seed0",
        "mnlogic-blackbox-seed0",
    ]
    assert [path.name for path in Path().iterdir()] == ["study.yaml"]
    assert assay("run", "study.yaml", "--workers", "1").status == 0
    before = {path: path.stat().st_mtime_ns for path in Path("out/runs").glob("*/*")}
    told = assay("run", "study.yaml")
    assert told.status == 0 and told.err.count("kept  ") == 3
    assert {path: path.stat().st_mtime_ns for path in Path("out/runs").glob("*/*")} == before


def test_a_study_with_a_failed_run_gives_status_1(assay, tmp_path, monkeypatch, in_process):
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text(STUDY.replace("learning_rate: 0.01", "learning_rate: 1.0e+30"))
    told = assay("run", "study.yaml", "--workers", "1")
    assert told.status == 1 and "error: 1 of 2 runs failed (mnlogic-blackbox-seed0-" in told.err
    assert Path("out/report/report.html").exists() and "Traceback" not in told.err


def test_check_holds_a_task_to_the_laws(assay, tmp_path, lamps):
    told = assay("check", lamps)
    assert told.status == 0 and "holds" in told.out and "BROKEN" not in told.out
    (tmp_path / "bad.py").write_text(lamps.read_text().replace('world.style["noise"]', "np.random.randint(9, size=2)"))
    told = assay("check", tmp_path / "bad.py")
    assert told.status == 1 and "BROKEN: two renderings of one world differ" in told.out
    laws = json.loads(assay("check", tmp_path / "bad.py", "--json").out)["lamps"]
    assert {law["passed"] for law in laws} == {True, False}


def test_help_is_for_people(assay):
    told = assay("--help")
    assert told.status == 0 and "shortcut" in told.out and assay().out == told.out
    verbs = ["list", "show", "make", "train", "predict", "score", "pairs", "diagnose", "report", "run", "check", "demo"]
    for verb in verbs:
        assert verb in told.out and assay(verb, "--help").status == 0


def test_the_program_is_the_same(program):
    told = program("list", "models", "--json")
    assert told.status == 0 and [entry["name"] for entry in json.loads(told.out)] == list(MODELS)
    assert program("list", "modles").error == "nothing to list under 'modles'; did you mean 'models'?"


# -- without torch -----------------------------------------------------------------------------------------------------


ONE_AFTER_THE_OTHER = """
import json, sys
from assay.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["assay", *words]
    try:
        main()
    except SystemExit as left:
        assert (left.code or 0) == STATUS, words
"""


def in_a_row_without_torch(shadow, status, *commands):
    """Do commands in one process that has no torch, each of which ends with this status; return what they printed."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    search = os.pathsep.join([str(shadow), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": search}
    program = ONE_AFTER_THE_OTHER.replace("STATUS", str(status))
    told = subprocess.run([sys.executable, "-c", program, words], capture_output=True, text=True, env=env, check=False)
    assert told.returncode == 0, told.stderr
    return told


def test_training_without_torch_names_the_install_line(shadow, run, data, tmp_path):
    told = in_a_row_without_torch(
        shadow,
        2,
        ["train", "dpl", data.folder, "-o", tmp_path / "run"],
        ["predict", run, data.folder],
        ["demo", "-o", tmp_path / "run"],
    )
    models = ("dpl", "dpl", "blackbox")
    lines = [f"error: {model!r} needs torch: {install_line('train')}" for model in models]
    assert told.stdout == "" and told.stderr.splitlines() == lines
    assert not (tmp_path / "run").exists()


def test_all_but_training_works_without_torch(shadow, run, data, tmp_path):
    in_a_row_without_torch(
        shadow,
        0,
        ["list"],
        ["show", "mnadd"],
        ["make", "mnlogic", "-o", tmp_path / "made", "-n", 8, *PIXELS],
        ["score", run, data.folder],
        ["diagnose", run, data.folder],
        ["report", run, "-o", tmp_path / "report"],
        ["train", "--help"],
    )


def test_predictions_by_hand_are_scored_and_diagnosed_without_torch(program, evenodd, tmp_path):
    path = by_hand(evenodd, tmp_path / "mine.parquet", rows=100)
    scores = json.loads(program("score", path, evenodd.folder, "--json", torch=False).out)["scores"]["test"]
    assert scores["label_accuracy"]["value"] == scores["concept_accuracy"]["value"] == 1
    assert scores["label_accuracy"]["examples"] == 100
    told = program("diagnose", path, evenodd.folder, torch=False)
    assert told.status == 0 and told.out.startswith("Verdict: sound.")


# -- stopped in the middle ---------------------------------------------------------------------------------------------


@needs_task("mnlogic")
def test_ctrl_c_leaves_nothing_half_made_and_the_same_command_goes_on(tmp_path):
    folder = tmp_path / "data"
    words = ["make", "mnlogic", "-o", str(folder), "-n", "16000", *PIXELS]
    words += ["--split", "valid=10", "--split", "test=10", "--split", "hard=10"]
    command = [sys.executable, "-m", "assay", *words]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while started.poll() is None and not list(folder.glob("train/*.parquet")):
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGINT)
    told = started.communicate(timeout=60)[1]
    assert started.returncode == 130 and told.count("\n") == 1
    assert told.startswith("error: interrupted; what is finished is kept, run the same command again")
    with pytest.raises(DataError, match="it is half made; run the same 'assay make' again"):
        Dataset.open(folder)
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "were there" in again.stderr and len(Dataset.open(folder).symbols("train")) == 16_000
