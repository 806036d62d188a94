"""What a run took is measured for this run alone, programs that it starts included."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.runs import measure_usage

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is counted on Linux")
MB = 2**20


def fill(megabytes):
    return sum(bytearray(b"x" * MB * megabytes)[:: 4096 * 64])  # written to, so that it is resident


@linux
def test_the_peak_is_that_of_the_work_and_not_of_what_came_before():
    code = (
        "from assay.runs.usage import measure_usage\nfrom tests.runs.test_usage import fill\n"
        "large, small = measure_usage(lambda: fill(200)), measure_usage(lambda: fill(1))\n"
        "print(large.memory_mb - small.memory_mb, large.programs_mb, small.programs_mb)"
    )  # in a process of its own: memory that others have freed is used again
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    difference, *programs = map(float, told.stdout.split())
    assert difference > 150 and programs == [0, 0]


@linux
def test_programs_are_counted_by_themselves():
    code = "block = bytearray(b'x' * 150 * 2**20); import time; time.sleep(0.3)"
    found = measure_usage(lambda: subprocess.run(["sh", "-c", f"{sys.executable} -c {code!r}; true"], check=True))
    assert 150 < found.programs_mb < 600


@linux
def test_a_program_that_ran_before_is_not_counted():
    with subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1) as program:
        program.stdout.readline()
        assert measure_usage(lambda: time.sleep(0.2)).programs_mb == 0
        program.stdin.close()


def test_time_is_that_of_the_work():
    assert 0.2 <= measure_usage(lambda: time.sleep(0.2)).seconds < 5


def test_what_the_system_does_not_tell_is_left_open(monkeypatch):
    monkeypatch.setattr("assay.runs.usage.PROCESSES", Path("/nowhere"))  # a system that counts no memory
    found = measure_usage(lambda: None)
    assert (found.memory_mb, found.programs_mb) == (None, None) and found.seconds >= 0


def test_work_that_fails_fails():
    with pytest.raises(ZeroDivisionError):
        measure_usage(lambda: 1 / 0)
