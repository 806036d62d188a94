"""Files and folders that are written whole or not at all."""

import multiprocessing
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.files import open_atomically, write_atomically, write_folder


def test_a_writer_takes_over_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.tmp").write_text("half of something longer")
    write_atomically(tmp_path / "a.txt", b"whole")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "whole"}


def test_a_write_that_fails_leaves_the_file_before_it(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.txt", b"old")
    with pytest.raises(ZeroDivisionError), open_atomically(tmp_path / "a.txt") as handle:
        handle.write(b"new")
        raise ZeroDivisionError
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


def _write_often(path: Path, letter: bytes) -> None:
    for _ in range(300):
        write_atomically(path, letter * 10_000)


def test_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(path, letter)) for letter in (b"a", b"b")]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert not path.exists() or set(path.read_bytes()) in ({ord("a")}, {ord("b")})
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [found.name for found in tmp_path.iterdir()] == ["shared"]


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), write_folder(tmp_path / "new") as half:
        (half / "a.txt").write_text("a")
        assert not (tmp_path / "new").exists()
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with write_folder(tmp_path / "new") as half:
        (half / "a.txt").write_text("a")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["new", "new/a.txt"]


def test_what_a_killed_process_left_of_a_folder_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".new.half" / "deep").mkdir(parents=True)
    (tmp_path / ".new.half" / "deep" / "old.txt").write_text("old")
    with write_folder(tmp_path / "new") as half:
        (half / "a.txt").write_text("a")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["new", "new/a.txt"]


def test_two_do_not_write_one_folder(tmp_path: Path) -> None:
    with write_folder(tmp_path / "new") as half:
        (half / "a.txt").write_text("a")
        with pytest.raises(DataError, match="another process is writing there"), write_folder(tmp_path / "new"):
            pass
    assert (tmp_path / "new" / "a.txt").read_text() == "a"


def test_a_folder_that_holds_the_same_files_stays(tmp_path: Path) -> None:
    def write(text: str) -> None:
        with write_folder(tmp_path / "new", lambda folder: (folder / "a.txt").is_file()) as half:
            (half / "a.txt").write_text(text)

    write("a")
    before = (tmp_path / "new" / "a.txt").stat().st_mtime_ns
    write("a")
    assert (tmp_path / "new" / "a.txt").stat().st_mtime_ns == before
    with pytest.raises(DataError, match="is not an empty folder"):
        write("b")
    (tmp_path / "new" / "b.txt").write_text("b")
    with pytest.raises(DataError, match="is not an empty folder"):
        write("a")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "b.txt", "new"]


def test_the_working_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="choose a folder inside of it"), write_folder(Path()):
        pass
