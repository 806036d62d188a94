"""What external engines are told and what is taken of what they say, without running any."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.config import Settings
from assay.errors import ConfigError, DataError, MissingExtra
from assay.logic import Knowledge
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.ilp import aleph, external, popper
from assay.models.symbolic.ilp.aleph import Aleph, aleph_file
from assay.models.symbolic.ilp.external import ProcessResult, find_clauses, problem_of, read_clauses, run_for
from assay.models.symbolic.ilp.popper import Popper, popper_folder
from assay.models.symbolic.perception import one_hot
from assay.prolog import Bias

SLOTS = tuple(Slot(f"car{n}", "cars", ("hue",)) for n in (1, 2))
SPACE = ConceptSpace(tuple(Concept(slot.concept("hue"), ("red", "blue", "grey")) for slot in SLOTS), SLOTS)
KNOWLEDGE = Knowledge.of(SPACE, {"east": "any(c.hue == 'red' for c in cars)"})
CODES = np.array([[1, 2], [0, 1], [2, 2], [1, 0], [0, 0]])
POSITIVE = np.array([False, True, False, True, True])
EXAMPLES = LabelExamples(SPACE, KNOWLEDGE.labels[0], CODES, one_hot(CODES, SPACE), POSITIVE.astype(int))
RED, BLUE, GREY = (f"east(A) :- has_car(A,B), hue_{hue}(B)." for hue in ("red", "blue", "grey"))
BIAS = Bias(SPACE)


def literals(found):
    return [[placed.literal.name for placed in clause.body] for clause in found]


# -- what is common ----------------------------------------------------------------------------------------------------


def test_worlds_are_told_by_their_numbers_on_either_side():
    problem = problem_of(BIAS, "east", EXAMPLES, POSITIVE)
    assert problem.bias is BIAS and problem.head == "east"
    assert (list(problem.positive), list(problem.negative)) == (["w1", "w3", "w4"], ["w0", "w2"])


def test_clauses_that_cannot_be_read_are_left_out_and_later_ones_are_not():
    lines = ["east(A) :- shiny(A).", RED, "east(A :-", BLUE]
    assert literals(read_clauses(lines, "east", BIAS)) == [["hue_red"], ["hue_blue"]]


def test_the_program_with_fewest_errors_is_taken_the_last_of_several():
    def best(*programs):
        return literals(external.best_of(programs, "east", BIAS, EXAMPLES, POSITIVE))

    assert best([RED]) == [["hue_red"]] and best([GREY], [RED], [BLUE]) == [["hue_red"]]
    assert best([GREY]) == [] and best([], ["east(A) :- shiny(A)."]) == []  # four errors are more than those of nothing
    assert best([BLUE]) == [["hue_blue"]]  # as many as nothing has
    assert best([RED], [RED, RED]) == [["hue_red"]] and best([RED, GREY], [BLUE, RED]) == [["hue_blue"], ["hue_red"]]


def test_clauses_are_found_in_a_log():
    text = "x east(A) :- a(A).\neast(B).\nweast(C) :- c(C).\n'east(D).\neast(e).\neast(F) :-\n  f(F),\n g(F).\neast(G) :- h"
    assert find_clauses(text, "east") == ["east(A) :- a(A).", "east(B).", "east(F) :- f(F), g(F)."]
    assert find_clauses("a_b(X1).", "a_b") == ["a_b(X1)."] and find_clauses("ayb(X).", "a.b") == []


def test_a_program_runs_in_its_folder_with_an_environment_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_TEST_WORD", "outside")
    script = "import os; print(os.environ['ASSAY_TEST_WORD'], os.getcwd())"
    found = run_for([sys.executable, "-c", script], tmp_path, 60.0, {"ASSAY_TEST_WORD": "inside"})
    assert found.finished and found.output.split() == ["inside", str(tmp_path.resolve())] and 0 < found.seconds < 60


# -- Popper ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def poppers(monkeypatch, tmp_path):
    """Return a function that learns by a Popper that says something, and what it was called with."""
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "popper.py").touch()
    monkeypatch.setenv("PYTHONPATH", "there")

    def learn(output, seconds=20.0, finished=True, **settings):
        asked = []

        def ran(command, folder, left, environment):
            asked.append((command, sorted(path.name for path in folder.iterdir()), left, environment, str(folder)))
            return ProcessResult(finished, output, 1.23456)

        monkeypatch.setattr(popper, "run_for", ran)
        model = Popper(KNOWLEDGE, None, Settings({"popper": str(tmp_path / "checkout"), **settings}))
        return model.induce(EXAMPLES, POSITIVE, "east", seconds), asked[0]

    return learn


def test_popper_is_called_with_its_time_its_python_and_its_own_modules(poppers, tmp_path):
    found, (command, files, left, environment, folder) = poppers("", seconds=20.7)
    script = str((tmp_path / "checkout").resolve() / "popper.py")
    assert command == [sys.executable, script, folder, "--timeout", "20"] and files == ["bias.pl", "bk.pl", "exs.pl"]
    assert 15 < left <= 0.93 * 20.7 and environment["PYTHONUNBUFFERED"] == "1"
    assert environment["PYTHONPATH"].split(os.pathsep) == [str((tmp_path / "checkout").resolve()), "there"]
    assert found.clauses == () and found.notes == {"finished": True, "engine_seconds": 1.235}
    _, (command, *_) = poppers("", seconds=0.5, python="mine", noisy=True)
    assert command[0] == "mine" and command[3:] == ["--timeout", "1", "--noisy"]


def test_of_all_that_popper_says_the_best_is_taken(poppers):
    log = f"{BLUE}\nNew best hypothesis:\n{RED}\n{BLUE}\nNew best hypothesis\n{RED}\n********** SOLUTION **********\n{GREY}\n"
    assert literals(poppers(log)[0].clauses) == [["hue_red"]]
    assert literals(poppers(f"New best hypothesis:\n{RED}\nValueError: late\n")[0].clauses) == [["hue_red"]]
    failed = "KeyError: first\n  File x\nmodule.SomeException: no\nImportError: last thing\n"
    with pytest.raises(DataError, match="^popper: ImportError: last thing$"):
        poppers(failed)
    assert poppers(failed, finished=False)[0].clauses == ()
    with pytest.raises(DataError) as caught:
        poppers("ValueError: " + "x" * 400)
    assert len(str(caught.value)) == len("popper: ") + 300


def test_a_setting_says_where_popper_is_before_the_environment(monkeypatch, tmp_path):
    for name, version in (("a", "4.4.0"), ("b", "3.1"), ("c", "10.0"), ("d", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "popper.py").touch()
        if version:
            (tmp_path / name / "pyproject.toml").write_text(f'name = "popper"\nversion = "{version}"\n')
    monkeypatch.setenv("ASSAY_POPPER", str(tmp_path / "a"))
    assert popper_folder(str(tmp_path / "b")) == tmp_path / "b" and popper_folder(None) == tmp_path / "a"
    assert popper_folder(str(tmp_path / "d")) == tmp_path / "d"
    with pytest.raises(ConfigError, match="is Popper 5"):
        popper_folder(str(tmp_path / "c"))
    (tmp_path / "d" / "popper").mkdir()
    (tmp_path / "d" / "popper" / "gen_norec.py").touch()
    with pytest.raises(ConfigError, match="is Popper 5"):
        popper_folder(str(tmp_path / "d"))


# -- Aleph -------------------------------------------------------------------------------------------------------------


def test_what_aleph_has_learned_goes_before_what_it_was_trying(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(aleph, "aleph_file", lambda setting: engine)
    monkeypatch.setattr(aleph, "aleph_files", lambda *given: asked.append(given[1:]) or {".b": "b", ".f": "f"})
    engine = tmp_path / "aleph.pl"
    engine.write_text("the engine")

    def learn(done, tried, **settings):
        def ran(command, folder, left):
            assert command[0] == "swipl" and command[-2:] == ["-s", "run.pl"] and 15 < left <= 0.93 * 20
            assert (folder / "engine.pl").read_text() == "the engine" and (folder / "train.f").read_text() == "f"
            if done is not None:
                (folder / "program.txt").write_text(done)
            return ProcessResult(False, tried, 2.0)

        monkeypatch.setattr(aleph, "run_for", ran)
        model = Aleph(KNOWLEDGE, None, Settings(settings))
        return model.induce(EXAMPLES, POSITIVE, "east", 20.0)

    found = learn(f"{BLUE}\n", f"{GREY}\n{RED}\n", noise=2, nodes=7, search="bfs")
    assert literals(found.clauses) == [["hue_blue"], ["hue_red"]]  # one error less with the last that it tried
    assert asked == [(2, 7, "bfs")] and found.notes == {"finished": False, "engine_seconds": 2.0}
    assert literals(learn(None, f"{GREY}\n{RED}\n").clauses) == [["hue_red"]]  # the last that it tried
    assert learn(None, f"{RED}\n{GREY}\n").clauses == () and asked[1] == (0, 5000, "heuristic")
    assert literals(learn(f"{RED}\n", f"{GREY}\n").clauses) == [["hue_red"]]


def test_aleph_is_where_a_setting_the_environment_or_its_package_says(monkeypatch, tmp_path):
    monkeypatch.setattr(aleph.shutil, "which", lambda name: "/usr/bin/swipl")
    files = [tmp_path / name for name in ("set.pl", "named.pl")]
    for path in files:
        path.write_text("% aleph")
    monkeypatch.setenv("ASSAY_ALEPH", str(files[1]))
    assert aleph_file(str(files[0])) == files[0] and aleph_file(None) == files[1]
    with pytest.raises(ConfigError, match="aleph: no file"):
        aleph_file(str(tmp_path))  # a folder
    monkeypatch.delenv("ASSAY_ALEPH")
    inside = tmp_path / "second" / "wrappers" / "aleph" / "aleph.pl"
    inside.parent.mkdir(parents=True)
    inside.write_text("% aleph")
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path / "first"), str(tmp_path / "second")])
    monkeypatch.setattr(aleph.importlib.util, "find_spec", lambda name: spec)
    assert aleph_file(None) == inside
    inside.unlink()
    with pytest.raises(MissingExtra, match="needs Aleph 5"):
        aleph_file(None)
