"""What is kept is read once, also when many ask at the same time."""

import time
from concurrent.futures import ThreadPoolExecutor

from assay.viewer.keep import keep


def test_many_who_ask_at_once_wait_for_one_reading():
    read = []

    def slow(name):
        read.append(name)
        time.sleep(0.05)
        return name.upper()

    kept = keep(slow)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(kept, ["a"] * 16)) == ["A"] * 16
    assert read == ["a"]


def test_only_the_last_few_are_kept():
    read = []
    kept = keep(read.append, 2)
    for name in ("a", "b", "c", "c", "a"):
        kept(name)
    assert read == ["a", "b", "c", "a"]
