"""Work in the background is done once, told when it is ready, and tried again after an error."""

import threading

import pytest

from assay.errors import DataError
from assay.viewer import jobs as module
from assay.viewer.jobs import Jobs


def test_the_same_work_is_done_once():
    jobs, calls = Jobs(), []
    for _ in range(3):
        job = jobs.ask(("one",), lambda tell: calls.append(1) or "done", patience=5)
    assert job.result == "done" and calls == [1]


def test_what_is_not_ready_says_how_far_it_is():
    jobs, begun, may_end = Jobs(), threading.Event(), threading.Event()

    def work(tell):
        tell("half")
        begun.set()
        may_end.wait(5)
        return 7

    job = jobs.ask(("slow",), work, patience=0)
    assert begun.wait(5) and not job.finished.is_set() and job.step == "half"
    assert jobs.ask(("slow",), work, patience=0) is job
    may_end.set()
    assert jobs.ask(("slow",), work, patience=5).result == 7


def test_an_error_is_told_and_the_work_can_be_tried_again():
    jobs, answers = Jobs(), iter([DataError("not yet"), None])

    def work(tell):
        error = next(answers)
        if error is not None:
            raise error
        return "now"

    with pytest.raises(DataError, match="not yet"):
        jobs.ask(("often",), work, patience=5)
    assert jobs.ask(("often",), work, patience=5).result == "now"


def test_old_results_are_dropped_and_unfinished_ones_kept(monkeypatch):
    monkeypatch.setattr(module, "KEPT", 3)
    jobs, may_end = Jobs(), threading.Event()
    waiting = jobs.ask(("waiting",), lambda tell: may_end.wait(5), patience=0)
    calls = []
    for name in "abcdef":
        jobs.ask((name,), lambda tell, name=name: calls.append(name), patience=5)
    jobs.ask(("a",), lambda tell: calls.append("again"), patience=5)
    assert calls == [*"abcdef", "again"] and jobs.ask(("waiting",), lambda tell: None, patience=0) is waiting
    may_end.set()
