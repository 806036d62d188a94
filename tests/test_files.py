"""Files and folders that are written whole or not at all."""

import errno
import multiprocessing
import os
from pathlib import Path

import pytest

from assay import files
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


def test_an_empty_folder_that_is_there_is_filled_even_if_it_may_be_the_same(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with write_folder(tmp_path / "new", lambda folder: True) as half:
        (half / "a.txt").write_text("a")
    assert (tmp_path / "new" / "a.txt").read_text() == "a"
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="is not an empty folder"), write_folder(tmp_path / "file", lambda folder: True):
        pass


def test_what_a_link_in_a_left_folder_points_to_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "kept.txt").write_text("kept")
    (tmp_path / ".new.half").mkdir()
    (tmp_path / ".new.half" / "link").symlink_to(tmp_path / "precious")
    (tmp_path / ".new.half" / "old.txt").write_text("old")
    with write_folder(tmp_path / "new") as half:
        assert list(half.iterdir()) == []
    assert (tmp_path / "precious" / "kept.txt").read_text() == "kept" and list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("fault", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_no_locks_are_known_files_are_written_all_the_same(
    fault: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock(descriptor: int, how: int) -> None:
        raise OSError(fault, "no locks")

    monkeypatch.setattr(files.fcntl, "flock", lock)
    write_atomically(tmp_path / "a.txt", b"whole")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.txt": b"whole"}


def test_other_faults_of_locks_are_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def lock(descriptor: int, how: int) -> None:
        asked.append(how)
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(files.fcntl, "flock", lock)
    with pytest.raises(DataError, match=r"^cannot write '.*a.txt': broken disk$"):
        write_atomically(tmp_path / "a.txt", b"whole")
    with pytest.raises(DataError, match="cannot write"), write_folder(tmp_path / "new"):
        pass
    assert asked == [files.fcntl.LOCK_EX, files.fcntl.LOCK_EX | files.fcntl.LOCK_NB]


def test_a_lock_is_of_the_file_that_has_the_name_now(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("w") as handle:
        assert files._is_at(handle.fileno(), path)
        path.rename(tmp_path / "b")
        assert not files._is_at(handle.fileno(), path) and files._is_at(handle.fileno(), tmp_path / "b")
        path.touch()
        assert not files._is_at(handle.fileno(), path)


def test_a_lock_is_taken_again_where_the_file_was_moved_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, moves = tmp_path / "a", iter([True, False])

    def lock(descriptor: int, wait: bool) -> None:
        if next(moves):
            path.rename(tmp_path / "moved")

    monkeypatch.setattr(files, "_lock", lock)
    with files._locked(path, os.O_RDWR | os.O_CREAT) as descriptor:
        assert os.path.samestat(os.fstat(descriptor), path.stat())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "moved"]


def test_leftovers_are_temporary_files_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in (".a.tmp", "deep/.b.tmp", "deep/er/.c.txt.tmp", "a.tmp", "deep/.b.txt"):
        (tmp_path / name).touch()
    files.remove_leftovers(tmp_path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "a.tmp",
        "deep/.b.txt",
    ]


def test_folders_with_more_or_fewer_files_are_not_the_same(tmp_path: Path) -> None:
    for folder, names in (("a", ("x", "s/y")), ("b", ("x", "s/y", "z")), ("c", ("x",))):
        for name in names:
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_text(name)
    same = {(one, other): files._same_files(tmp_path / one, tmp_path / other) for one in "abc" for other in "abc"}
    assert same == {(one, other): one == other for one in "abc" for other in "abc"}


def test_sizes_in_words() -> None:
    sizes = {
        0: "0 bytes", 999: "999 bytes", 1_000: "1.0 kB", 4_321: "4.3 kB", 1_000_000: "1.0 MB", 9_876_000: "9.9 MB",
        1_000_000_000: "1.0 GB", 43_210_000_000: "43.2 GB", 1_000_000_000_000: "1.0 TB", 5e15: "5000.0 TB",
    }  # fmt: skip
    assert {count: files.size_in_words(count) for count in sizes} == sizes


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match=f"^cannot use folder '{tmp_path}': Permission denied$"):
        files.require_empty(tmp_path)
    files.require_empty(tmp_path / "none")


def test_folders_on_the_way_to_a_file_or_folder_are_made(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b" / "c.txt", b"c")
    with write_folder(tmp_path / "d" / "e" / "f") as half:
        (half / "g.txt").write_text("g")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*")) if path.is_file()] == [
        "a/b/c.txt",
        "d/e/f/g.txt",
    ]


def test_a_mount_point_is_not_replaced_and_what_is_not_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda folder: folder.name in ("disk", "none"))
    with (
        pytest.raises(DataError, match="disk' is the working folder or a mount point"),
        write_folder(tmp_path / "disk"),
    ):
        pass
    for name in ("none", "other"):
        with write_folder(tmp_path / name) as half:
            assert half == tmp_path / f".{name}.half"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "none", "other"]


def test_a_link_to_a_folder_stays_a_link_to_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with write_folder(tmp_path / "link") as half:
        assert half.name == ".real.half"
        (half / "a.txt").write_text("a")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "a.txt").read_text() == "a"
