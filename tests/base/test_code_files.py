"""Files of a user's own that import and run others, and what they register: each counts as its own file's."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from assay.base import (
    RECORD,
    CodeFile,
    ConfigError,
    Entry,
    Registry,
    UnknownName,
    code_of,
    explain_missing,
    forget_files,
    load_file,
    load_files,
    loaded_files,
    require_same,
)


@pytest.fixture
def shelf(monkeypatch):
    """A module of which files take the registry that they register in."""
    made = ModuleType("shelf")
    monkeypatch.setitem(sys.modules, "shelf", made)
    return made


@pytest.fixture
def things(shelf):
    """A registry that files find as `shelf.THINGS`."""
    shelf.THINGS = Registry("thing", base="decimal:Decimal")
    return shelf.THINGS


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_file_is_known_by_its_real_path(tmp_path):
    path = write(tmp_path / "mine.py", "x = 1\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.py").symlink_to(path)
    around = tmp_path / "folder" / ".." / "mine.py"
    assert CodeFile.of(around) == CodeFile.of(tmp_path / "link.py") == CodeFile.of(path) == load_file(around).file
    assert load_file(tmp_path / "link.py") is load_file(path) and len(loaded_files()) == 1
    assert CodeFile.of(path).path == path.resolve()
    for wrong in (tmp_path / "folder", tmp_path / "none.py"):
        with pytest.raises(ConfigError, match=f"^no file '{wrong}'$"):
            CodeFile.of(wrong)


def test_a_worker_runs_the_files_as_they_were_and_no_others(tmp_path):
    one, two = (write(tmp_path / f"{name}.py", f"name = {name!r}\n") for name in ("one", "two"))
    files = [CodeFile.of(one), CodeFile.of(two)]
    load_files(files)
    assert [loaded.module.name for loaded in loaded_files()] == ["one", "two"]
    two.write_text("name = 'three'\n")
    with pytest.raises(ConfigError, match="two.py has changed since it was read"):
        load_files(files)
    load_files([files[0], CodeFile.of(two)])
    assert [loaded.module.name for loaded in loaded_files()] == ["one", "three"]


REGISTER = "import shelf\nshelf.THINGS.add({name!r}, 'about', {target})\n"


def test_what_a_file_registers_is_kept_with_it(tmp_path, things):
    path = write(tmp_path / "mine.py", REGISTER.format(name="own", target=3))
    things.add("bundled", "ours", 1)
    loaded = load_file(path)
    assert loaded.registered == {"thing": {"own": Entry("own", "about", 3, code=CodeFile.of(path))}}
    assert list(things) == ["bundled", "own"] and things["own"] == 3 and "own" not in things.registered
    assert things.entry("own").code == CodeFile.of(path) and things.entry("bundled").code is None
    forget_files()
    assert list(things) == ["bundled"]


def test_what_a_file_imports_registers_for_itself(tmp_path, things, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path / "imported_things.py", REGISTER.format(name="theirs", target=5))
    path = write(tmp_path / "mine.py", "import imported_things\n" + REGISTER.format(name="own", target=3))
    try:
        assert list(load_file(path).registered["thing"]) == ["own"]
        assert list(things.registered) == ["theirs"] and things.entry("theirs").code is None
    finally:
        sys.modules.pop("imported_things", None)


def test_a_file_that_runs_another_keeps_what_is_its_own(tmp_path, things):
    inner = write(tmp_path / "inner.py", REGISTER.format(name="inner", target=5))
    text = "from pathlib import Path\nfrom assay.base import load_file\n"
    text += REGISTER.format(name="before", target=1) + f"load_file(Path({str(inner)!r}))\n"
    outer = write(tmp_path / "outer.py", text + REGISTER.format(name="after", target=2))
    assert list(load_file(outer).registered["thing"]) == ["before", "after"]
    assert list(load_file(inner).registered["thing"]) == ["inner"]
    assert {name: things.entry(name).code.path.name for name in things} == {
        "before": "outer.py", "after": "outer.py", "inner": "inner.py",
    }  # fmt: skip


def test_names_are_taken_once_in_a_file_and_never_from_what_is_bundled(tmp_path, things):
    things.add("bundled", "ours", 1)
    twice = REGISTER.format(name="own", target=3) + REGISTER.format(name="own", target=4)
    with pytest.raises(ConfigError, match="UnknownName: thing 'own' is registered twice; choose another name"):
        load_file(write(tmp_path / "twice.py", twice))
    with pytest.raises(ConfigError, match="thing 'bundled' is registered twice"):
        load_file(write(tmp_path / "taken.py", REGISTER.format(name="bundled", target=2)))
    load_file(write(tmp_path / "same.py", REGISTER.format(name="bundled", target=1)))
    assert things["bundled"] == 1 and things.entry("bundled").code is None
    assert load_file(write(tmp_path / "other.py", REGISTER.format(name="own", target=7))) and things["own"] == 7


OBJECTS = """
from decimal import Decimal


class Named(Decimal):
    \"\"\"
    A number with a name.

    More about it.
    \"\"\"

    name = "a-number"


class Bare(Decimal):
    name = "bare"


class Nameless(Decimal):
    name = 3
"""


def test_classes_of_a_file_go_by_their_own_names_or_pythons(tmp_path, things):
    path = write(tmp_path / "mine.py", OBJECTS)
    assert things.resolve(f"{path}:Named") == things.resolve(f"{path}:a-number") == "a-number"
    assert list(things) == ["a-number", "bare"] and things.describe("a-number") == "A number with a name."
    assert things.find(f"{path}:Bare").__name__ == "Bare" and things.find("bare").__name__ == "Bare"
    assert code_of(things["bare"]) == CodeFile.of(path) == things.entry("a-number").code
    for wrong in ("Nameless", "Decimal", "nobody"):
        with pytest.raises(UnknownName, match=f"has no thing named '{wrong}'"):
            things.resolve(f"{path}:{wrong}")
    with pytest.raises(
        ConfigError, match=r"expected one thing in the file, found a-number, bare; name one, as in .*:a-number$"
    ):
        things.resolve(str(path))
    only = write(tmp_path / "only.py", OBJECTS.partition("class Bare")[0])
    assert things.resolve(str(only)) == "a-number"


def test_a_file_wins_over_a_package_and_loses_to_what_is_bundled(tmp_path, things):
    path = write(tmp_path / "mine.py", OBJECTS)
    things.add("bare", "theirs", int)
    things.installed.add("bare")
    things.add("a-number", "ours", float)
    load_file(path)
    assert things["bare"].__name__ == "Bare" and things["a-number"] is float
    with pytest.raises(ConfigError, match="assay has a thing named 'a-number'; give yours another name"):
        things.resolve(f"{path}:Named")
    assert things.resolve(f"{path}:Bare") == "bare"
    assert Registry("thing").entries == {}  # no base: files are not looked at


def test_the_file_of_a_thing_is_that_of_its_module_or_its_own(tmp_path):
    loaded = load_file(write(tmp_path / "mine.py", "class Mine: pass\n"))
    elsewhere = CodeFile(tmp_path / "other.py", "0" * 64)
    made = type("Made", (), {RECORD: elsewhere, "__module__": loaded.module.__name__})
    assert code_of(made) == elsewhere and code_of(loaded.module.Mine) == loaded.file
    assert code_of(type("Odd", (), {RECORD: "no file"})) is None
    assert code_of(type("Gone", (), {"__module__": "no_such_module"})) is None


def test_the_same_name_is_not_the_same_file():
    given = CodeFile(Path("mine.py"), "f" * 64)
    require_same(given, {"name": "renamed.py", "sha256": "f" * 64}, "it")
    with pytest.raises(
        ConfigError, match=r"it is of mine.py \(sha256 e{12}\), the file given is mine.py \(sha256 f{12}\)"
    ):
        require_same(given, {"name": "mine.py", "sha256": "e" * 64}, "it")
    with pytest.raises(ConfigError):
        require_same(given, {}, "it")


def test_equal_files_in_two_folders_are_two_modules(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "mine.py", "class Mine: pass\n")
    one, two = (load_file(tmp_path / name / "mine.py") for name in ("one", "two"))
    assert one.module.__name__ != two.module.__name__ and one.file.sha256 == two.file.sha256
    assert code_of(one.module.Mine) == one.file != two.file == code_of(two.module.Mine)
    assert sys.modules[one.module.__name__] is one.module


def test_a_file_may_register_an_address(tmp_path, things):
    path = write(tmp_path / "mine.py", REGISTER.format(name="root", target="'math:sqrt'"))
    load_file(path)
    assert things["root"](9) == 3.0 and things.entry("root").target == "math:sqrt"
    things.installed.add("root")  # of a package it would be asked for its own line
    assert things.describe("root") == "about" and things.entry("root").code == CodeFile.of(path)


def test_where_files_are_not_looked_for_none_is_found(tmp_path, shelf):
    plain = shelf.THINGS = Registry("thing")
    loaded = load_file(write(tmp_path / "mine.py", REGISTER.format(name="own", target=3)))
    assert list(loaded.registered["thing"]) == ["own"] and list(plain) == [] and plain.registered == {}
    assert list(plain.defined_in(loaded)) == ["own"]


def test_a_file_is_run_once_as_it_is(tmp_path):
    path = write(tmp_path / "mine.py", "value = 1\nclass Mine: pass\n")
    first = load_file(path)
    assert load_file(path) is first and loaded_files() == (first,)
    assert code_of(first.module.Mine) == first.file == CodeFile.of(path) and code_of(Path) is None
    assert first.file.to_dict() == {"name": "mine.py", "sha256": first.file.sha256}
    path.write_text("value = 2\n")
    second = load_file(path)
    assert second.module.value == 2 and loaded_files() == (second,)
    with pytest.raises(ConfigError, match="mine.py has changed since it was read"):
        load_file(path, first.file.sha256)
    forget_files()
    assert loaded_files() == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [("1 / 0", "ZeroDivisionError"), ("import sys; sys.exit(3)", "SystemExit: 3"), ("x =", "SyntaxError")],
)
def test_a_file_that_cannot_be_run_leaves_nothing(tmp_path, text, why):
    before = set(sys.modules)
    with pytest.raises(ConfigError, match=f"^bad.py cannot be run: {why}"):
        load_file(write(tmp_path / "bad.py", text))
    assert not {name for name in set(sys.modules) - before if name.startswith("assay_file_")}
    assert loaded_files() == ()


def test_recorded_files_are_only_shown_and_never_run():
    record = {"name": "a/../evil\n.py", "sha256": "0123456789abcdef"}
    for said, shown in (
        (record, "evil.py (sha256 0123456789ab)"),
        ({}, "FILE.py (sha256 )"),
        ({"name": "x" * 90}, "x" * 80),
    ):
        with pytest.raises(ConfigError, match=re.escape(f"it is of {shown}") + r"( |,)"):
            require_same(CodeFile(Path("mine.py"), "f" * 64), said, "it")
    assert "install its package, or give its file: --task FILE.py" in explain_missing("task", "t", None, "it")
    assert "which is not run unasked; give it: --task evil.py" in explain_missing("task", "t", record, "it")
    given = CodeFile(Path("mine.py"), "f" * 64)
    for alike in ((None, record), (given, None), (given, {"sha256": "f" * 64})):
        require_same(*alike, "it")
