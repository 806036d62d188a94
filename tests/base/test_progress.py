"""Progress: how much is done, in words; when lines are written; what a terminal shows."""

import contextlib
import io
import time

import pytest

from assay.base import duration, progress_bar


@pytest.fixture
def lines(monkeypatch, capsys):
    """Where there is no terminal: what is written by calls of a bar, each at its second."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def written(*calls):
        with progress_bar() as bar:
            for second, *call in calls:
                now[0] = second
                bar(*call)
        return capsys.readouterr().err.splitlines()

    return written


def test_a_line_has_both_numbers_unless_there_is_a_note(lines):
    assert lines((0, "a", 1200, 3000), (10, "a", 1200, 3000)) == ["a: 40 %, 1,200 of 3,000"]
    assert lines((0, "a", 5, 0), (10, "a", 5, 0)) == ["a"]
    assert lines((0, "a", 5, 10, "train"), (10, "a", 5, 10, "train")) == ["a: 50 %, train"]
    assert lines((0, "a", 5, 10, ""), (10, "a", 5, 10, "")) == ["a: 50 %"]


def test_a_counter_adds_up(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for whole, line in (
        (10, "a: 50 %, 5 of 10, about 17 s left"),
        (None, "a: 100 %, 5 of 5, about 1 s left"),
        (0, "a"),
    ):
        with progress_bar() as bar:
            count = bar.counter("a", whole)
            for second, more in ((0.0, 2), (10.0, 3)):
                now[0] = second
                count(more)
        assert capsys.readouterr().err == f"{line}\n"


def test_lines_are_written_now_and_then(lines):
    calls = [
        (100.0, "a", 10, 50, "10 of 50"),
        (109.9, "a", 20, 50, "20 of 50"),
        (110.0, "a", 30, 50, "30 of 50"),  # 20 in 10 s: 10 s for 20 more
        (129.9, "a", 40, 50, ""),
        (130.0, "a", 45, 50, ""),  # 35 in 30 s
        (131.0, "b", 0, 0, ""),
        (140.9, "b", 5, 0, ""),
        (141.0, "b", 5, 0, ""),
        (161.0, "b", 5, 0, "five"),
        (162.0, "c", 7, 9, ""),
        (172.0, "c", 7, 9, ""),
        (192.0, "c", 12, 9, ""),
    ]
    assert lines(*calls) == [
        *("a: 60 %, 30 of 50, about 10 s left", "a: 90 %, about 4 s left"),
        *("b", "b: five", "c: 78 %", "c: 133 %, about 1 s left"),
    ]


def test_the_next_line_comes_twenty_seconds_after_the_last_one_was_written(lines):
    seconds = (0.0, 17.0, 30.0, 36.9, 37.5, 57.4, 57.5)
    assert lines(*((second, "a", done, 0, str(done)) for done, second in enumerate(seconds))) == [
        "a: 1",
        "a: 4",
        "a: 6",
    ]


def test_the_time_left_is_of_what_was_done_since_it_began(lines):
    half = (1030.0, "a", 50, 100, "half")  # 10 in 30 s, 50 more
    still = (1050.0, "b", 5, 10, "still")  # nothing done yet
    assert lines((1000.0, "a", 40, 100, ""), half, (1030.0, "b", 5, 10, ""), still, (1080.0, "b", 10, 10, "")) == [
        *("a: 50 %, half, about 2 min left", "b: 50 %, still", "b: 100 %, about 1 s left"),
    ]


def test_times_in_words():
    times = {
        0: "1 s", 1.6: "2 s", 89.4: "89 s", 90: "2 min", 5399: "90 min", 5400: "1.5 h", 172_799: "48.0 h",
        172_800: "2.0 days", 216_000: "2.5 days",
    }  # fmt: skip
    assert {seconds: duration(seconds) for seconds in times} == times


def test_where_progress_is_shown(monkeypatch):
    def shown(asked=None, terminal=False):
        stream = io.StringIO()
        stream.isatty = lambda: terminal
        with contextlib.redirect_stderr(stream), progress_bar(asked) as bar:
            bar("making", 1, 2)
        return stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(False) == shown(False, True) == ""
    assert shown() == ""  # in its first seconds, nothing
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "making" in shown(True) and "making" in shown(None, True)
