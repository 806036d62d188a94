"""Files and folders that are written whole or not at all, and never through a link."""

import errno
import fcntl
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from assay.base import (
    DataError,
    open_atomically,
    private_folder,
    remove_leftovers,
    require_empty,
    size_in_words,
    write_atomically,
    write_folder,
    write_new,
)
from tests.leftovers import hidden, leave_file, leave_folder


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_writer_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    leave_file(tmp_path / "other.txt")
    assert len(hidden(tmp_path)) == 1
    write_atomically(tmp_path / "a.txt", b"whole")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "whole"}


def test_leftovers_are_removed_at_any_depth_and_nothing_else_is(tmp_path: Path) -> None:
    kept = (".a.tmp", "deep/.b.txt.tmp", "deep/c.0123456789abcdef.tmp", ".d.half", "deep/.e.01234567.tmp")
    for name in kept:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    (tmp_path / "deep" / ".link.0123456789abcdef.tmp").symlink_to(tmp_path / ".a.tmp")
    for place in (tmp_path, tmp_path / "deep"):
        leave_file(place / "x")
        leave_folder(place / "y")
    with open_atomically(tmp_path / "deep" / "whole") as handle, write_folder(tmp_path / "z") as half:
        (half / "a").touch()
        remove_leftovers(tmp_path)  # those that are written now stay
        handle.write(b"x")
    left = [*kept, "deep", "deep/.link.0123456789abcdef.tmp", "deep/whole", "z", "z/a"]
    assert names(tmp_path) == sorted(left)


def test_a_write_that_fails_leaves_the_file_before_it(tmp_path: Path) -> None:
    write_atomically(tmp_path / "deep" / "a.txt", b"old")
    with pytest.raises(ZeroDivisionError), open_atomically(tmp_path / "deep" / "a.txt") as handle:
        handle.write(b"new")
        raise ZeroDivisionError
    assert names(tmp_path) == ["deep", "deep/a.txt"] and (tmp_path / "deep" / "a.txt").read_text() == "old"
    with pytest.raises(DataError, match="cannot write .*: (Not a directory|File exists)"):
        write_atomically(tmp_path / "deep" / "a.txt" / "b", b"")
    with pytest.raises(DataError, match="cannot write .*: Is a directory"):
        write_atomically(tmp_path / "deep", b"")
    assert not hidden(tmp_path)


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    for name in ("a.txt", ".a.txt.tmp", "b.txt"):
        (tmp_path / name).symlink_to(tmp_path / "precious")
    write_atomically(tmp_path / "a.txt", b"new")
    with pytest.raises(DataError, match="File exists"):
        write_new(tmp_path / "b.txt", b"new")
    assert (tmp_path / "precious").read_text() == "kept"
    assert (tmp_path / "a.txt").read_text() == "new" and not (tmp_path / "a.txt").is_symlink()


def test_a_path_through_a_link_of_the_users_own_works(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    write_atomically(tmp_path / "link" / "a.txt", b"a")
    with write_folder(tmp_path / "link" / "b") as half:
        (half / "c").touch()
    (tmp_path / "disk" / "empty").mkdir()
    (tmp_path / "direct").symlink_to("disk/empty")
    with write_folder(tmp_path / "direct") as half:
        (half / "d").touch()
    assert names(tmp_path / "disk") == ["a.txt", "b", "b/c", "empty", "empty/d"]
    assert (tmp_path / "direct").is_symlink()


@pytest.mark.parametrize("target", ["nowhere", "loop"])
def test_a_link_to_no_folder_is_not_written_through(target: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(target)
    with pytest.raises(DataError, match=r"^[^\n]*(is a link to|a link to itself)"), write_folder(tmp_path / "loop"):
        pass
    assert names(tmp_path) == ["loop"]


def test_files_and_folders_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
        with write_folder(tmp_path / "b"):
            pass
    finally:
        os.umask(before)
    assert [oct((tmp_path / name).stat().st_mode & 0o777) for name in "ab"] == ["0o640", "0o750"]


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append("synced"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda *names: (events.append("named"), replace(*names)))
    write_atomically(tmp_path / "a", b"whole")
    assert events == ["synced", "named"]


def _write_often(path: Path, letter: bytes) -> None:
    for _ in range(100):
        write_atomically(path, letter * 10_000)


def test_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(path, letter)) for letter in (b"a", b"b")]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert not path.exists() or set(path.read_bytes()) in ({ord("a")}, {ord("b")})
        remove_leftovers(tmp_path)
        time.sleep(0.001)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert names(tmp_path) == ["shared"]


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), write_folder(tmp_path / "a" / "new") as half:
        (half / "a.txt").write_text("a")
        assert not (tmp_path / "a" / "new").exists()
        raise ZeroDivisionError
    assert names(tmp_path) == ["a"]
    leave_folder(tmp_path / "a" / "new")
    assert hidden(tmp_path)
    with write_folder(tmp_path / "a" / "new") as half:
        assert list(half.iterdir()) == []
        (half / "a.txt").write_text("a")
    assert names(tmp_path) == ["a", "a/new", "a/new/a.txt"]


def test_two_do_not_write_one_folder(tmp_path: Path) -> None:
    with write_folder(tmp_path / "new") as half, write_folder(tmp_path / "other"):
        (half / "a.txt").write_text("a")
        with pytest.raises(DataError, match="another process is writing there"), write_folder(tmp_path / "new"):
            pass
    assert names(tmp_path) == ["new", "new/a.txt", "other"]


def _write_folder(folder: Path) -> None:
    try:
        with write_folder(folder, lambda there: True) as half:
            (half / "a.txt").write_text("a")
    except DataError as error:
        assert "another process is writing there" in str(error)


@pytest.mark.parametrize("rounds", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_writers_that_begin_at_once_leave_one_whole_folder(rounds: int, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for number in range(rounds):
        writers = [context.Process(target=_write_folder, args=(tmp_path / str(number),)) for _ in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert [writer.exitcode for writer in writers] == [0] * 4
        assert names(tmp_path / str(number)) == ["a.txt"]
    assert not hidden(tmp_path)


def test_a_folder_that_holds_the_same_files_stays(tmp_path: Path) -> None:
    def write(text: str, may_be_same: bool = True) -> None:
        with write_folder(tmp_path / "new", lambda folder: may_be_same) as half:
            write_atomically(half / "s" / "a.txt", text.encode())

    (tmp_path / "new").mkdir()
    write("a")
    before = (tmp_path / "new" / "s" / "a.txt").stat().st_mtime_ns
    write("a")
    assert (tmp_path / "new" / "s" / "a.txt").stat().st_mtime_ns == before
    for text, may_be_same, more in (("b", True, False), ("a", False, False), ("a", True, True)):
        if more:
            (tmp_path / "new" / "b.txt").write_text("b")
        with pytest.raises(DataError, match="is not an empty folder"):
            write(text, may_be_same)
    assert names(tmp_path) == ["new", "new/b.txt", "new/s", "new/s/a.txt"]
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="is not an empty folder"), write_folder(tmp_path / "file", lambda _: True):
        pass


def test_the_working_folder_and_mount_points_are_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "disk").mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda folder: folder.name == "disk")
    monkeypatch.chdir(tmp_path / "here")
    for folder in (Path(), tmp_path / "disk"):
        with pytest.raises(DataError, match="choose a folder inside of it"), write_folder(folder):
            pass
    assert names(tmp_path) == ["disk", "here"]


@pytest.mark.parametrize("fault", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_no_locks_are_known_files_are_written_all_the_same(
    fault: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock(descriptor: int, how: int) -> None:
        raise OSError(fault, "no locks")

    monkeypatch.setattr(fcntl, "flock", lock)
    with write_folder(tmp_path / "new") as half:
        write_atomically(half / "a.txt", b"whole")
    assert names(tmp_path) == ["new", "new/a.txt"]


def test_other_faults_of_locks_are_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lock(descriptor: int, how: int) -> None:
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(fcntl, "flock", lock)
    with pytest.raises(DataError, match=r"^cannot write '.*a.txt': broken disk$"):
        write_atomically(tmp_path / "a.txt", b"whole")
    with pytest.raises(DataError, match="cannot write"), write_folder(tmp_path / "new"):
        pass
    assert names(tmp_path) == []


def test_a_private_folder_is_the_users_alone(tmp_path: Path) -> None:
    assert private_folder(tmp_path / "a") == private_folder(tmp_path / "a")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to("a")
    for name in ("open", "link"):
        with pytest.raises(DataError, match="is no folder of yours alone"):
            private_folder(tmp_path / name)


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match=f"^cannot use folder '{tmp_path}': Permission denied$"):
        require_empty(tmp_path)
    require_empty(tmp_path / "none")


def test_sizes_in_words() -> None:
    sizes = {
        0: "0 bytes", 999: "999 bytes", 1_000: "1.0 kB", 4_321: "4.3 kB", 1_000_000: "1.0 MB", 9_876_000: "9.9 MB",
        1_000_000_000: "1.0 GB", 43_210_000_000: "43.2 GB", 1_000_000_000_000: "1.0 TB", 5e15: "5000.0 TB",
    }  # fmt: skip
    assert {count: size_in_words(count) for count in sizes} == sizes
