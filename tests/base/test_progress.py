"""Progress: how much is done, in words; when lines are written; what a terminal shows."""

import contextlib
import io

from assay.base import Bar, LiveBar, PlainLines, Silence, duration, progress_bar


class Shown:
    def __init__(self):
        self.calls = []

    def show(self, *call):
        self.calls.append(call)


def test_a_bar_says_both_numbers_unless_there_is_a_note():
    shown = Shown()
    bar = Bar(shown)
    bar("making", 1200, 3000)
    bar("making", 5, 0)
    bar("making", 5, 9, "train")
    bar("making", 5, 9, "")
    assert shown.calls == [
        ("making", 1200, 3000, "1,200 of 3,000"),
        ("making", 5, 0, ""),
        ("making", 5, 9, "train"),
        ("making", 5, 9, ""),
    ]


def test_a_counter_adds_up():
    shown = Shown()
    count, open_ended = Bar(shown).counter("a", 10), Bar(shown).counter("b")
    for more in (2, 3):
        count(more)
        open_ended(more)
    assert [call[:3] for call in shown.calls] == [("a", 2, 10), ("b", 2, 2), ("a", 5, 10), ("b", 5, 5)]


def test_lines_are_written_now_and_then():
    lines, now = [], [100.0]
    plain = PlainLines(lines.append, lambda: now[0])

    def at(time, *call):
        now[0] = time
        plain.show(*call)

    at(100.0, "a", 10, 50, "10 of 50")
    at(109.9, "a", 20, 50, "20 of 50")
    assert lines == []
    at(110.0, "a", 30, 50, "30 of 50")  # 20 in 10 s: 10 s for 20 more
    at(129.9, "a", 40, 50, "")
    at(130.0, "a", 45, 50, "")  # 35 in 30 s
    assert lines == ["a: 60 %, 30 of 50, about 10 s left\n", "a: 90 %, about 4 s left\n"]
    at(131.0, "b", 0, 0, "")
    at(140.9, "b", 5, 0, "")
    at(141.0, "b", 5, 0, "")
    at(161.0, "b", 5, 0, "five")
    assert lines[2:] == ["b\n", "b: five\n"]
    at(162.0, "c", 7, 9, "")
    at(172.0, "c", 7, 9, "")
    at(192.0, "c", 12, 9, "")
    assert lines[4:] == ["c: 78 %\n", "c: 133 %, about 1 s left\n"]


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
        return type(bar.display), stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(False) == shown(False, True) == (Silence, "")
    assert shown() == (PlainLines, "")  # in its first seconds, nothing
    monkeypatch.setenv("FORCE_COLOR", "1")
    for display, text in (shown(True), shown(None, True)):
        assert display is LiveBar and "making" in text


def test_the_next_line_comes_twenty_seconds_after_the_last_one_was_written():
    lines, now = [], [0.0]
    plain = PlainLines(lines.append, lambda: now[0])
    for time, done in ((0.0, 0), (17.0, 1), (30.0, 2), (36.9, 3), (37.5, 4), (57.4, 5), (57.5, 6)):
        now[0] = time
        plain.show("a", done, 0, str(done))
    assert lines == ["a: 1\n", "a: 4\n", "a: 6\n"]


def test_the_time_left_is_of_what_was_done_since_it_began():
    lines, now = [], [1000.0]
    plain = PlainLines(lines.append, lambda: now[0])
    plain.show("a", 40, 100, "")
    now[0] = 1030.0
    plain.show("a", 50, 100, "half")  # 10 in 30 s, 50 more
    plain.show("b", 5, 10, "")
    now[0] = 1050.0
    plain.show("b", 5, 10, "still")  # nothing done yet
    now[0] = 1080.0
    plain.show("b", 10, 10, "")
    assert lines == ["a: 50 %, half, about 2 min left\n", "b: 50 %, still\n", "b: 100 %, about 1 s left\n"]


def test_a_counter_of_nothing_known_shows_what_is_done():
    shown = Shown()
    count = Bar(shown).counter("a", 0)
    count(3)
    Bar(shown).counter("b")(1234)
    assert shown.calls == [("a", 3, 0, ""), ("b", 1234, 1234, "1,234 of 1,234")]
