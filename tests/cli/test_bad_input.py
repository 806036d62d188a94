"""Bad input gives one clear line, a status that tells, and nothing half-written that loads."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.base import DataError
from assay.dataset import Dataset
from tests.cli.test_cli import PIXELS, by_hand
from tests.samples import needs_task

pytestmark = needs_task("mnlogic", "mnadd")

FILES = {
    "plain.txt": "a file, not a folder",
    "slip.yaml": "k: 3\nformla: a and b\n",
    "syntax.yaml": "k: 3\nnames: [a, b\nformula: a\n",
    "list.yaml": "- k\n",
    "twice.yaml": "k: 3\nk: 4\n",
    "workers.yaml": "workers: many\n",
    "there.yaml": "output_dir: [here]\n",
    "study.yaml": "tasks: [mnadd]\nmodels: [dpll]\n",
    "empty.py": "x = 1\n",
    "broken.py": "x = (\n",
    "raises.py": "1 / 0\n",
    "two.py": "from assay.tasks import TASKS\nBase = TASKS['mnlogic']\nclass A(Base):\n    name = 'a'\nclass B(Base):\n    name = 'b'\n",
    "none.parquet": "not Parquet",
}
MAKE = [
    ("mnad", "no task named 'mnad'; did you mean 'mnadd'?"),
    ("nowhere.py", "no file 'nowhere.py'"),
    ("empty.py", "empty.py: expected one task in the file, found none"),
    ("two.py", "two.py: expected one task in the file, found a, b"),
    ("broken.py", "broken.py cannot be run: SyntaxError: '(' was never closed"),
    ("raises.py", "raises.py cannot be run: ZeroDivisionError: division by zero"),
    ("mnlogic --config slip.yaml", "slip.yaml line 2: unknown key 'formla'; did you mean 'formula'?"),
    ("mnlogic --config syntax.yaml", "syntax.yaml line 3: "),
    ("mnlogic --config list.yaml", "list.yaml: expected 'key: value' lines with text keys"),
    ("mnlogic --config twice.yaml", "twice.yaml line 2: 'k' is given twice"),
    ("mnlogic --config nowhere.yaml", "settings file 'nowhere.yaml' cannot be read: No such file or directory"),
    ("mnlogic --config workers.yaml", "workers.yaml line 1: workers: Input should be a valid integer"),
    ("mnlogic --set k", "--set 'k': expected KEY=VALUE"),
    ("mnlogic --set kk=3", "--set: unknown key 'kk'"),
    ("mnlogic --set k=many", "--set: k: Input should be a valid integer"),
    ("mnlogic --set k=1", "--set: k: Input should be greater than or equal to 2"),
    ("mnlogic --set formula=a&z", "no concept named 'z'; there is: a, b, c, d"),
    ("mnlogic --set formula=a+", "formula 'a+'"),
    ("mnlogic --set formula=__import__('os')", "no function named '__import__'"),
    ("mnlogic --set formula=().__class__", "formula '().__class__'"),
    ("mnlogic --set formula=a|~a", "label 'y' is always True"),
    ("mnlogic --set combinations_in_distribution=['01']", "'01' has 2 values, the concepts are 4: a, b, c, d"),
    ("mnlogic --set combinations_in_distribution=['0121']", "'0121': concept 'c' has no value"),
    ("mnlogic --set combinations_in_distribution=[]", "combinations_in_distribution is empty"),
    ("mnlogic --set combinations_in_distribution=['0101']", "label 'y' is always False"),
    ("mnlogic -n 0", "Invalid value for '-n': Input should be greater than or equal to 1"),
    ("mnlogic -n many", "Invalid value for '-n': "),
    ("mnlogic --set n=0", "--set: n: expected a whole number from 1 up, not 0"),
    ("mnlogic --seed -1", "Invalid value for '--seed': "),
    ("mnlogic --workers 0", "Invalid value for '--workers': "),
    ("mnlogic --split tset=3", "no split named 'tset'; did you mean 'test'?"),
    ("mnlogic --split test=some", "splits: expected 'name: size' with whole numbers"),
    ("mnlogic --split test", "--split 'test': expected KEY=VALUE"),
    ("mnlogic --split train=0 --split valid=0 --split test=0 --split ood=0 --split hard=0", "nothing to make"),
    ("mnlogic --set per_type=0", "per_type"),
    ("mnlogic --set k=6 --set per_variant=1 --split hard=20", "split 'hard': its quotas ask for"),
    ("mnlogic --archive rar", "--archive: archive: Input should be 'zip', 'tar.gz'"),
    ("mnlogic --digits nowhere", "no digits in 'nowhere': expected a file 'train-images-idx3-ubyte'"),
    ("mnlogic --bogus", "No such option: --bogus"),
    ("mnmath --set equations=['x1/x2']", "formula 'x1/x2'"),
    ("mnadd --set k=1000", "--set: k: Input should be less than or equal to 20"),
]
OTHER = [
    ("make mnlogic", "no output folder; give -o DIR"),
    ("make mnlogic --config there.yaml", "there.yaml line 1: output_dir: Input should be a valid string"),
    ("make", "Missing argument 'task'; see 'assay make --help'"),
    ("maek mnlogic", "No such command 'maek'"),
    ("list taks", "nothing to list under 'taks'; did you mean 'tasks'?"),
    ("show mnad", "no task named 'mnad'; did you mean 'mnadd'?"),
    ("show .", "'.' has no manifest.json"),
    ("check nowhere.py", "no file 'nowhere.py'"),
    ("check empty.py", "empty.py defines no task"),
    ("run nowhere.yaml", "settings file 'nowhere.yaml' cannot be read"),
    ("run study.yaml", "study.yaml line 2: no model named 'dpll'; did you mean 'dpl'?"),
    ("train dpll DATA -o new", "no model named 'dpll'; did you mean 'dpl'?"),
    ("train dpl nowhere -o new", "no dataset folder 'nowhere'"),
    ("train dpl plain.txt -o new", "no dataset folder 'plain.txt'"),
    ("train dpl . -o new", "'.' has no manifest.json"),
    ("train dpl DATA", "Missing option '-o'"),
    ("train dpl DATA -o new --epochs 0", "Invalid value for '--epochs'"),
    ("train dpl DATA -o new --set entropy=1", "--set: unknown key 'entropy'"),
    ("train dpl DATA -o new --set device=nowhere", "device 'nowhere' cannot be used"),
    ("train dpl DATA -o new --set backbone=conv", "no backbone named 'conv'"),
    ("train dpl DATA -o new --set backbone=conv-wide", "backbone 'conv-wide' cannot read pictures of 1 x 1"),
    ("train cbm DATA -o new --set supervised_concepts=[z]", "no concept named 'z'"),
    ("train dpl DATA -o RUN", "holds a finished run; choose another folder"),
    ("train dpl DATA -o DATA", "holds other files; choose another folder"),
    ("train dpl DATA -o plain.txt", "'plain.txt' is a file, not a folder"),
    ("train dpl DATA -o plain.txt/run", "cannot use folder 'plain.txt/run': Not a directory"),
    ("predict nowhere DATA", "'nowhere' holds no finished run (no run.json)"),
    ("predict RUN DATA --split tset", "no split named 'tset'; did you mean 'test'?"),
    ("score nowhere DATA", "no run or predictions file 'nowhere'"),
    ("score none.parquet DATA", "'none.parquet' is no Parquet file that can be read"),
    ("score RUN nowhere", "no dataset folder 'nowhere'"),
    ("score RUN DATA --metric labelf1", "no metric named 'labelf1'; did you mean 'label_f1'?"),
    ("diagnose DATA DATA", "has no predictions; make some: assay predict"),
    ("report nowhere -o new", "'nowhere' holds no finished run"),
    ("report RUN -o plain.txt/report", "Not a directory"),
    ("report none.parquet -o new", "'none.parquet' is a predictions file; name its dataset: --data DIR"),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with what is needed, to work in."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loads(folder):
    try:
        Dataset.open(folder)
    except DataError:
        return False
    return True


@pytest.mark.parametrize(("words", "message"), MAKE, ids=[words for words, _ in MAKE])
def test_make_refuses_what_it_cannot_make(words, message, assay, here):
    told = assay("make", *words.split(), "-o", "new")
    assert message in told.error and told.status == 2
    assert not Path("new").exists()


@pytest.mark.parametrize(("words", "message"), OTHER, ids=[words for words, _ in OTHER])
def test_the_other_commands_refuse_what_they_cannot_use(words, message, assay, here, data, run):
    places = {"DATA": data.folder, "RUN": shutil.copytree(run, here / "run")}
    told = assay(*(places.get(word, word) for word in words.split()))
    assert message in told.error and told.status == 2
    assert not Path("new", "run.json").exists()


@pytest.mark.parametrize("folder", ["plain.txt", "plain.txt/data"])
def test_a_folder_that_cannot_be_used_is_told(folder, assay, here):
    told = assay("make", "mnlogic", "-n", 8, *PIXELS, "-o", folder)
    assert told.status == 2 and repr(folder) in told.error
    assert Path("plain.txt").read_text() == FILES["plain.txt"]


def test_a_folder_with_another_dataset_is_left_alone(assay, here):
    assert assay("make", "mnlogic", "-n", 8, *PIXELS, "-o", "data").status == 0
    before = Dataset.open("data").fingerprint
    assert "'data' holds another dataset" in assay("make", "mnlogic", "-n", 9, *PIXELS, "-o", "data").error
    assert Dataset.open("data").fingerprint == before


def test_a_full_disk_is_told_and_the_same_command_goes_on(assay, here, monkeypatch):
    words = ["make", "mnlogic", "-n", 3000, *PIXELS, "-o", "data"]
    room = [4]

    def fill(number):
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr("os.fsync", fill)
        told = assay(*words)
    assert told.status == 2 and told.error.endswith(".parquet': No space left on device") and not loads("data")
    assert not list(Path("data").rglob("*.tmp"))
    again = assay(*words)
    assert again.status == 0 and "were there" in again.err and loads("data")


def test_a_full_disk_ends_training_without_a_finished_run(assay, here, data, monkeypatch):
    def fill(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr("os.fsync", fill)
        told = assay("train", "blackbox", data.folder, "-o", "run", "--epochs", 1)
    assert told.status == 2 and "No space left on device" in told.error
    assert assay("train", "blackbox", data.folder, "-o", "run", "--epochs", 1).status == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["list"], ["list", "--json"]])
def test_an_output_that_is_full_is_told(words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "assay", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error: cannot use the output: No space left on device\n")


def test_an_output_that_is_closed_early_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m assay show mnmath --json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("{\n", "")


# -- damaged data and predictions --------------------------------------------------------------------------------------


@pytest.fixture
def broken(data, here):
    """A copy of the data, to be damaged."""
    return shutil.copytree(data.folder, here / "broken")


def test_a_shard_that_was_cut_short_is_noticed(assay, broken):
    shard = broken / "train" / "part-00000.parquet"
    shard.write_bytes(shard.read_bytes()[:-10])
    for words in (["train", "dpl", broken, "-o", "new"], ["show", broken], ["score", "none.parquet", broken]):
        assert "it is damaged" in assay(*words).error
    shard.unlink()
    assert "is missing; make the dataset again" in assay("train", "dpl", broken, "-o", "new").error


def test_a_shard_that_was_changed_is_noticed(assay, broken):
    shard = broken / "train" / "part-00000.parquet"
    held = bytearray(shard.read_bytes())
    held[len(held) // 2] ^= 1
    shard.write_bytes(held)
    assert "does not match its hash: it is damaged" in assay("train", "dpl", broken, "-o", "new").error
    assert not Path("new").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}'])
def test_a_manifest_that_is_damaged_is_noticed(text, assay, broken):
    (broken / "manifest.json").write_text(text)
    assert "is damaged; delete the folder and make it again" in assay("train", "dpl", broken, "-o", "new").error


def test_a_manifest_that_was_changed_is_noticed(assay, broken):
    manifest = json.loads((broken / "manifest.json").read_text())
    manifest["seed"] += 1
    (broken / "manifest.json").write_text(json.dumps(manifest))
    assert "does not match its fingerprint" in assay("show", broken).error


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"fingerprint": "0" * 32}, "are for a dataset with fingerprint 0000"),
        ({"split": "tset"}, "no split named 'tset'; did you mean 'test'?"),
        ({"label_sum": 99}, "label_sum: value 99 is not one of"),
        ({"concept_c": 1}, "unknown column 'concept_c'"),
        ({"index": 3}, "'index' names an example twice"),
    ],
)
@pytest.mark.parametrize("verb", ["score", "diagnose"])
def test_predictions_that_do_not_fit_are_refused(verb, columns, message, assay, evenodd, here):
    told = assay(verb, by_hand(evenodd, here / "mine.parquet", **columns), evenodd.folder)
    assert message in told.error and told.status == 2


def test_predictions_of_a_run_on_another_dataset_are_refused(assay, run, mnlogic):
    for verb in ("score", "diagnose"):
        assert "are for a dataset with fingerprint" in assay(verb, run, mnlogic.folder).error
    assert "was trained on a dataset with fingerprint" in assay("predict", run, mnlogic.folder).error


def test_damaged_weights_and_records_are_told(assay, run, data, here):
    copy = shutil.copytree(run, here / "copy")
    (copy / "model.safetensors").write_bytes(b"")
    assert "the weights in" in assay("predict", copy, data.folder).error
    (copy / "run.json").write_text("{")
    for words in (["predict", copy, data.folder], ["report", copy, "-o", "new"]):
        assert "run.json' is damaged; train again" in assay(*words).error
