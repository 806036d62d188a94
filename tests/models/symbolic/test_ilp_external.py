"""Aleph and Popper as models: found, run, killed in time, read back and scored by us. Stand-ins play the engines."""

import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from assay.config import Settings
from assay.data import Dataset, Recipe, export, make
from assay.errors import ConfigError, DataError, MissingExtra
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.ilp import aleph as aleph_module
from assay.models.symbolic.ilp.aleph import Aleph, aleph_file
from assay.models.symbolic.ilp.external import ProcessResult, run_for
from assay.models.symbolic.ilp.popper import Popper
from assay.models.symbolic.perception import one_hot
from tests.models.symbolic.test_ilp import relation, trains

TRUE = "east(A):- has_car(A,B),car_length_short(B),roof_not_none(B)."
SECOND = "east(V0):- has_car(V0,V1),load_golden_vase(V1),has_car(V0,V2),car_before(V1,V2),load_barrel(V2)."
WRONG = "east(A):- has_car(A,B),colour_yellow(B)."
SLEEPS = 60
"""How many seconds a stand-in would sleep if it were not killed."""
needs_swi = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")


def learned(model_class, size=120, **settings):
    """Return the model after learning theory X."""
    knowledge, codes = trains("theory_x", size)
    model = model_class(knowledge, None, Settings(settings))
    model.learn(Examples(knowledge, codes, one_hot(codes, knowledge.space), knowledge.labels_of(codes)))
    return model, knowledge


def popper_that(folder: Path, *lines: str) -> str:
    """Return a folder with a stand-in for Popper that runs these lines."""
    (folder / "popper").mkdir(parents=True)
    (folder / "popper.py").write_text("import sys, time, pathlib\n" + "\n".join(lines), encoding="utf-8")
    return str(folder)


def says(*clauses: str) -> str:
    """Return a line that logs a hypothesis as Popper does, with a claim that it is perfect."""
    log = "".join(f"12:00:00 {line}\n" for line in ("New best hypothesis:", "tp:60 fn:0 tn:60 fp:0 size:9", *clauses))
    return f"print({log!r}, flush=True)"


def test_the_best_program_of_popper_is_taken_by_our_own_count(tmp_path):
    folder = popper_that(tmp_path / "p", says(TRUE), says(TRUE, SECOND), says(WRONG))
    model, knowledge = learned(Popper, popper=folder, seconds=20)
    notes = model.learned["east"].notes
    assert notes["errors"] == 0 and notes["clauses"] == 2 and notes["finished"]
    assert relation(model, knowledge) == "equal"


def test_popper_is_killed_in_time_and_its_best_program_kept(tmp_path):
    child = f"import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep({SLEEPS})'])"
    folder = popper_that(tmp_path / "p", child, says(TRUE), f"time.sleep({SLEEPS})")
    model, knowledge = learned(Popper, popper=folder, seconds=3)
    assert model.learned["east"].notes["seconds"] < SLEEPS / 2
    assert relation(model, knowledge) == "more specific" and not model.learned["east"].notes["finished"]


def test_popper_gets_examples_facts_and_bias(tmp_path):
    kept = tmp_path / "kept"
    folder = popper_that(tmp_path / "p", f"import shutil; shutil.copytree(sys.argv[1], {str(kept)!r})")
    learned(Popper, popper=folder, seconds=20)
    assert (kept / "exs.pl").read_text().count("pos(east(w") == 60
    assert "has_car(w0,w0_car1)." in (kept / "bk.pl").read_text()
    assert "body_pred(all_different_colour,3)." in (kept / "bias.pl").read_text()


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return examples of a dataset, and the folder of its training split as Prolog."""
    folder = tmp_path_factory.mktemp("exported")
    make(
        Recipe("kand-logic-pairs", Settings(), sizes=(("train", 30), ("valid", 0), ("test", 0), ("hard", 0))),
        folder / "data",
    )
    dataset = Dataset.open(folder / "data")
    export(dataset, "prolog", folder / "out")
    knowledge, codes = dataset.knowledge, dataset["train"].concepts
    examples = Examples(knowledge, codes, one_hot(codes, knowledge.space), dataset["train"].labels)
    return examples, folder / "out" / "train"


def included(path):
    """Return the text of a file of Prolog, with what it includes."""
    return re.sub(r":- include\('(.*)'\)\.\n", lambda found: (path.parent / found[1]).read_text(), path.read_text())


def test_popper_gets_the_files_that_are_exported(exported, tmp_path):
    examples, out = exported
    folder = popper_that(tmp_path / "p", f"import shutil; shutil.copytree(sys.argv[1], {str(tmp_path / 'kept')!r})")
    Popper(examples.knowledge, None, Settings({"popper": folder, "seconds": 20})).learn(examples)
    for name in ("bk.pl", "bias.pl", "exs.pl"):
        label = examples.knowledge.labels[0].name
        assert (tmp_path / "kept" / name).read_text() == included(out / "popper" / label / name)


def test_aleph_gets_the_files_that_are_exported(exported, tmp_path, monkeypatch):
    examples, out = exported
    (tmp_path / "aleph.pl").write_text("")
    monkeypatch.setattr(aleph_module.shutil, "which", lambda name: "/usr/bin/swipl")

    def run_for(command, folder, *_):
        shutil.copytree(folder, tmp_path / "kept")
        return ProcessResult(True, "", 0.0)

    monkeypatch.setattr(aleph_module, "run_for", run_for)
    Aleph(examples.knowledge, None, Settings({"aleph": str(tmp_path / "aleph.pl")})).learn(examples)
    for ending in (".b", ".f", ".n"):
        label = examples.knowledge.labels[0].name
        assert (tmp_path / "kept" / f"train{ending}").read_text() == included(out / "aleph" / f"{label}{ending}")


def test_popper_5_is_refused_by_name(tmp_path):
    folder = Path(popper_that(tmp_path / "p"))
    (folder / "pyproject.toml").write_text('[project]\nname = "popper"\nversion = "5.0.0"\n')
    with pytest.raises(ConfigError, match=r"is Popper 5, which can return programs that are worse than it says"):
        learned(Popper, popper=str(folder))
    (folder / "pyproject.toml").unlink()
    (folder / "popper" / "combiner_size.py").touch()
    with pytest.raises(ConfigError, match="Popper 5"):
        learned(Popper, popper=str(folder))


def test_a_popper_that_fails_says_why(tmp_path):
    with pytest.raises(DataError, match="ModuleNotFoundError: No module named 'no_such_module'"):
        learned(Popper, popper=popper_that(tmp_path / "p", "import no_such_module"), seconds=20)


def test_where_popper_is_must_be_said(monkeypatch, tmp_path):
    monkeypatch.delenv("ASSAY_POPPER", raising=False)
    with pytest.raises(MissingExtra, match="needs a checkout of Popper 4.4 or 3.1: set popper=FOLDER or ASSAY_POPPER"):
        learned(Popper)
    monkeypatch.setenv("ASSAY_POPPER", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"holds no popper\.py"):
        learned(Popper)


ENGINE = r"""
:- dynamic('$aleph_global'/2).
read_all(_).
induce :- C = (east(A) :- has_car(A,B), car_length_short(B), roof_not_none(B)),
    assertz('$aleph_global'(theory, theory(1, 0, C, [], []))), broadcast(start(sat(2))), sleep(SLEEPS).
""".replace("SLEEPS", str(SLEEPS))


@needs_swi
def test_aleph_is_killed_in_time_and_its_best_program_kept(tmp_path):
    (tmp_path / "aleph.pl").write_text(ENGINE)
    model, knowledge = learned(Aleph, aleph=str(tmp_path / "aleph.pl"), seconds=4)
    assert model.learned["east"].notes["seconds"] < SLEEPS / 2
    assert relation(model, knowledge) == "more specific" and not model.learned["east"].notes["finished"]


@needs_swi
def test_aleph_itself_learns_the_numerical_rule():
    try:
        where = aleph_file(None)
    except MissingExtra as error:
        pytest.skip(str(error))
    knowledge, codes = trains("numerical", 200)
    model = Aleph(knowledge, None, Settings({"aleph": str(where), "seconds": 30, "counts": 0, "objects": 1}))
    model.learn(Examples(knowledge, codes, one_hot(codes, knowledge.space), knowledge.labels_of(codes)))
    assert relation(model, knowledge) == "equal"


def test_what_aleph_needs_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(aleph_module.shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match="needs SWI-Prolog: apt-get install swi-prolog"):
        learned(Aleph)
    monkeypatch.setattr(aleph_module.shutil, "which", lambda name: "/usr/bin/swipl")
    monkeypatch.setattr(aleph_module.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv("ASSAY_ALEPH", raising=False)
    with pytest.raises(MissingExtra, match="needs Aleph 5: pip install --no-deps python-rdm"):
        learned(Aleph)
    with pytest.raises(ConfigError, match="no file"):
        learned(Aleph, aleph=str(tmp_path / "none.pl"))
    (tmp_path / "pack.pl").write_text(":- module(aleph, [induce/1]).\n")
    with pytest.raises(ConfigError, match="as a module"):
        learned(Aleph, aleph=str(tmp_path / "pack.pl"))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="tells processes by /proc")
def test_nothing_is_left_running(tmp_path):
    sleeping = f"import time; time.sleep({SLEEPS})"
    script = f"import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', '{sleeping}'])"
    ran = run_for([sys.executable, "-c", f"{script}; print(p.pid, flush=True); time.sleep({SLEEPS})"], tmp_path, 1.5)
    assert not ran.finished and ran.seconds < SLEEPS / 2
    time.sleep(0.1)
    state = Path(f"/proc/{int(ran.output)}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"
