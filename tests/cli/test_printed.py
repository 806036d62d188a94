"""What commands print and write beside the verdicts: counts, lists, settings by file, marks of ends."""

import csv
import json
import re

import numpy as np
import pytest
from PIL import Image

from assay.base import VERSION
from assay.cli import main
from assay.tasks import TASKS
from tests.own_files import OWN, install, installed
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


# -- counting ----------------------------------------------------------------------------------------------------------

COUNT = ["count", "mnlogic", "--set", "k=2"]


def test_counting_a_task(assay, tmp_path):
    said = assay(*COUNT, "--support", "full", "--write", tmp_path / "out.cnf")
    assert said.status == 0 and lines(said.out)[0].startswith("1 reasoning shortcut: 2 readings keep every label")
    assert lines(said.out)[-1] == f"dimacs: {tmp_path / 'out.cnf'}" and "p cnf" in (tmp_path / "out.cnf").read_text()
    told = json.loads(assay(*COUNT, "--supervise", "a", "--support", "full", "--json").out)
    assert (told["source"], told["support"], told["total"]) == ("mnlogic", "full", 1)


@pytest.mark.parametrize(
    ("support", "worlds"), [("full", 4), ("random:3", 3), ("003", 3), ("01", 1), ("01,10", 2), ("random:2", 2)]
)
def test_worlds_are_all_or_so_many_or_those_listed(support, worlds, assay):
    """`01` is a world of two concepts, `003` a number of worlds."""
    told = json.loads(assay(*COUNT, "--support", support, "--json").out)["worlds"]
    assert 0 < told <= worlds


@pytest.mark.parametrize(
    ("supervise", "total"), [("", 2), ("a", 1), ("a,b", 1), ("a=true;b=false", 1), (";a,;b=false;", 1), ("b=", 2)]
)
def test_supervised_concepts_are_named_with_values_or_without(supervise, total, assay):
    told = json.loads(assay(*COUNT, "--support", "full", "--supervise", supervise, "--json").out)
    assert told["total"] == total


def test_a_count_names_what_is_outside_of_the_rule_by_its_number(assay, tmp_path):
    """`xor` of two bits keeps its labels with both upside down; 76 further bits may be read in any way."""
    (tmp_path / "x.cnf").write_text("p cnf 78 2\n1 2 0\n-1 -2 0\n")
    text = lines(assay("count", tmp_path / "x.cnf").out)
    assert text[0].startswith("1 reasoning shortcut: 2 readings keep every label")
    assert text[1].startswith("76 concepts are not in the rule") and sum("50 %" in line for line in text) == 4
    found = json.loads(assay("count", tmp_path / "x.cnf", "--support", "full", "--json").out)
    assert found["total"] == 2 * 4**76 and found["used_high"] == 2 and len(found["unused_concepts"]) == 76


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("no.cnf", "no file 'no.cnf'"),
        ("mnlogic --supervise z", "no concept named 'z'"),
        ("mnlogic --supervise a,z=1", "no concept named 'a,z'"),
        ("mnlogic --family shred", "shred"),
        (
            "mnlogic --set k=3 --family free --check ganak",
            "need an exact count of a table of entries, not family 'free'",
        ),
        (
            "mnlogic --set k=3 --family free --write x.cnf",
            "need an exact count of a table of entries, not family 'free'",
        ),
    ],
)
def test_what_cannot_be_counted_is_told_in_one_line(words, message, assay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in assay("count", *words.split()).error and not list(tmp_path.iterdir())


# -- settings and seeds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "make mnlogic -o NEW", "count mnlogic", "show mnlogic", "train cbm DATA -o NEW", "annotate DATA -o NEW",
        "align RUN DATA -o NEW", "probe RUN DATA -o NEW", "discover pca input DATA -o NEW", "saliency RUN", "mend RUN -o NEW",
        "import MINE -o NEW",
    ],
)  # fmt: skip
def test_settings_come_from_a_file_and_the_command_line(words, assay, data, run, tmp_path):
    (tmp_path / "odd.yaml").write_text("# a slip\noddly: 1\n")
    if "MINE" in words:
        assert assay("new", "data", "mine", "-o", tmp_path).status == 0
    places = {"DATA": data.folder, "RUN": run, "NEW": tmp_path / "new", "MINE": tmp_path / "mine"}
    pieces = [places.get(word, word) for word in words.split()]
    assert "odd.yaml line 2: unknown key 'oddly'" in assay(*pieces, "--config", tmp_path / "odd.yaml").error
    assert "--set: unknown key 'evenly'" in assay(*pieces, "--set", "evenly=1").error
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("text", ["", "a", "0-2,1", "3-1", "1-2-3", "1,1"])
def test_seeds_are_different_numbers(text, assay, tmp_path):
    words = (["discover", "pca", "input", "data"], ["train", "cbm", "data"], ["suite", "run", "cbm"])
    for verb in words:
        assert "--seeds: expected" in assay(*verb, "-o", tmp_path / "x", "--seeds", text).error


def test_several_seeds_are_trained_and_found_again(assay, data, tmp_path):
    words = ["train", "cbm", data.folder, "-o", tmp_path / "runs", "--seeds", "1,4", "--epochs", 1]
    quick = ["--set", "device=cpu", "--set", "backbone=mlp"]
    told = assay(*words, *quick)
    assert told.status == 0 and f"trained cbm: {tmp_path}/runs/seed1, {tmp_path}/runs/seed4" in told.err
    assert assay(*words, *quick).err == f"{tmp_path / 'runs'} is finished already\n"
    folders = [str(tmp_path / "runs" / f"seed{seed}") for seed in (1, 4)]
    assert json.loads(assay(*words, *quick, "--json").out) == folders


def test_a_seed_goes_before_that_of_the_settings(assay, data, tmp_path):
    for more, seed in ((["--seed", 4], 4), ([], 2)):
        words = ("annotate", data.folder, "-o", tmp_path / f"{seed}", *more, "--set", "seed=2")
        assert assay(*words).status == 0
        manifest = json.loads((tmp_path / f"{seed}" / "manifest.json").read_text())
        assert manifest["task"]["annotation"]["seed"] == seed


def test_a_run_that_is_finished_is_found_again(assay, data, tmp_path):
    words = ["train", "tree", data.folder, "-o", tmp_path / "run"]
    first = json.loads(assay(*words, "--json").out)
    assert assay(*words).err.startswith(f"{tmp_path / 'run'} is finished already  next: assay diagnose")
    assert json.loads(assay(*words, "--json").out).keys() == first.keys()


# -- making, copying ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("make mnlogic -o memory://x/y --archive zip", "--archive packs folders of this machine, not 'memory://x/y'"),
        ("make mnlogic -o new --cluster auto --workers 1", "give --workers or --cluster, not both"),
        ("run study.yaml --cluster auto --workers 1", "give --workers or --cluster, not both"),
        ("train cbm data -o s3://bucket/run", "only datasets can lie elsewhere"),
    ],
)
def test_a_folder_and_workers_are_of_one_kind(words, message, assay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in assay(*words.split()).error and not list(tmp_path.iterdir())


def test_long_makings_are_told_before(assay, tmp_path, monkeypatch):
    now = [0.0]

    def clock():
        now[0] += 5
        return now[0]

    monkeypatch.setattr("time.perf_counter", clock)  # the clock
    told = assay("make", "mnlogic", "-o", tmp_path / "new", "-n", 30, "--workers", 1).err
    assert re.search(r"pictures at .* s each: about .* with 1 process; fewer with -n, such as -n 200", told)


def test_an_export_is_counted(assay, data, tmp_path):
    told = assay("export", data.folder, "--to", "prolog", "-o", tmp_path / "out", "--split", "test")
    assert lines(told.out) == ["split examples", "test 64"]
    assert told.err == f"{tmp_path / 'out'}  in the format 'prolog'\n"
    found = json.loads(assay("export", data.folder, "--to", "prolog", "-o", tmp_path / "all", "--json").out)
    assert found == {"folder": str(tmp_path / "all"), "form": "prolog", "splits": found["splits"]}
    assert found["splits"]["test"] == 64 and set(found["splits"]) == set(data.split_names)
    assert "no export named 'prolg'" in assay("export", data.folder, "--to", "prolg", "-o", tmp_path / "x").error


def test_a_dataset_is_pushed_whole(assay, data, tmp_path):
    told = assay("push", data.folder, tmp_path / "there")
    assert told.err == f"{tmp_path / 'there'}  next: assay show {tmp_path / 'there'}\n"
    assert data.fingerprint in assay("show", tmp_path / "there").out


# -- what is there -----------------------------------------------------------------------------------------------------


def test_a_metric_a_model_and_a_backbone_are_shown(assay):
    assert assay("show", "label_f1").out.rstrip().endswith("(higher is better)")
    assert json.loads(assay("show", "label_f1", "--json").out)["better"] == "higher"
    said = json.loads(assay("show", "blackbox", "--json").out)
    assert (said["name"], said["has_concepts"], said["can_intervene"]) == ("blackbox", False, False)
    assert said["settings"]["epochs"]["help"]
    text = lines(assay("show", "cbm").out)
    assert text[0].startswith("cbm: ") and text[1] == "setting default" and any(t.startswith("epochs ") for t in text)
    for name, setting in (("conv-3", "conv-3"), ("resnet-18", "resnet-18 or resnet-18@FILE.safetensors")):
        assert lines(assay("show", name).out)[-1] == f"use it by --set backbone={setting}"
        assert json.loads(assay("show", name, "--json").out)["name"] == name


def test_a_folder_with_data_goes_before_a_name_and_a_task_before_any_other_folder(assay, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cbm").symlink_to(data.folder)
    (tmp_path / "mnlogic").mkdir()
    assert data.fingerprint in assay("show", "cbm").out and "label" in assay("show", "mnlogic").out


def test_a_dataset_is_shown_by_split_and_region(assay, data):
    text = lines(assay("show", data.folder).out)
    assert text[:2] == [f"mnlogic (version {TASKS['mnlogic'].version}), seed 0", f"fingerprint {data.fingerprint}"]
    assert text[2] == "split examples worlds where labels" and f"train {len(data['train']):,}" in text[3]
    assert any(line.startswith("y worlds where train") for line in text)


def test_scores_name_the_files_of_metrics(assay, data, run, tmp_path):
    (tmp_path / "own.py").write_text(OWN.replace('"two-lamps"', '"my-lamps"'))
    told = json.loads(assay("score", run, "--metric", f"{tmp_path / 'own.py'}:both_right", "--json").out)
    assert set(told["code"]) == {"both_right"} and len(told["code"]["both_right"]["sha256"]) == 64
    assert told["scores"]["test"]["both_right"]["value"] == 1 and told["fingerprint"] == data.fingerprint


def test_the_version_is_printed_and_no_more(assay):
    told = assay("--version")
    assert (told.status, told.out, told.err) == (0, f"{VERSION}\n", "")


def test_pictures_of_new_data_are_as_bright_as_their_concepts(assay, tmp_path):
    assert assay("new", "data", "MyLamps2", "-o", tmp_path).err.endswith("my_lamps2\n")
    rows = list(csv.DictReader((tmp_path / "my_lamps2" / "concepts.csv").open()))
    assert {(row["concept_left"], row["concept_right"]) for row in rows} == {(a, b) for a in "012" for b in "012"}
    for row in rows[::25]:
        left, right = int(row["concept_left"]), int(row["concept_right"])
        assert row["label_brighter"] == str(left > right)
        with Image.open(tmp_path / "my_lamps2" / row["file"]) as picture:
            pixels = np.asarray(picture).reshape(12, 24, -1)[:, :, 0].astype(int)
        for half, level in ((pixels[:, :12], left), (pixels[:, 12:], right)):
            assert 80 * level <= half.min() and half.max() < 80 * level + 60


@pytest.mark.parametrize("name", ["-", "_", "3x", "a b", "a.b", "ä", "lampé"])
def test_what_is_no_name_is_refused(name, assay, tmp_path):
    assert "is no name; give letters, digits, '-' and '_'" in assay("new", "model", "-o", tmp_path, "--", name).error


# -- ends --------------------------------------------------------------------------------------------------------------

BROKEN = """
from assay.tasks import TASKS


class Broken(TASKS["mnlogic"]):
    \"\"\"Fails as a lock does that a signal reached while it was being released.\"\"\"

    name = "broken"

    def render(self, world):
        try:
            raise {error}
        finally:
            raise RuntimeError("release unlocked lock")
"""


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "ValueError"])
def test_an_error_that_an_interrupt_caused_is_an_interrupt(error, tmp_path, monkeypatch, capsys):
    (tmp_path / "broken.py").write_text(BROKEN.format(error=error))
    words = ["make", str(tmp_path / "broken.py"), "-o", str(tmp_path / "data"), "-n", "8", "--workers", "1"]
    monkeypatch.setattr("sys.argv", ["assay", *words])
    if error == "ValueError":  # an error of the program: a traceback helps who mends it
        with pytest.raises(RuntimeError, match="release unlocked lock"):
            main()
        return
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130 and capsys.readouterr().err.startswith("error: interrupted")


BAD = """
from assay.models.concept.cbm import CBM


class Bad(CBM):
    \"\"\"A model that breaks.\"\"\"

    name = "bad"

    def fit(self, *given, **named):
        raise ValueError("odd")
"""


@needs_task("mnadd-evenodd")
def test_the_matrix_ends_with_1_if_a_model_breaks(assay, tmp_path):
    install(tmp_path / "site", "[assay.models]\nbad = own_package:Bad\n", own_package=BAD)
    with installed(tmp_path / "site"):
        told = assay("suite", "matrix", "bad", "tree", "--family", "digits", "--json")
    assert told.status == 1 and [cell["outcome"] for cell in json.loads(told.out)] == ["crashes", "works"]
    assert "1 cells break; the first, bad on digits: ValueError" in told.err
