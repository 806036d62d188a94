"""The cache lies where the environment says."""

from pathlib import Path

from assay.dataset import cache_folder


def test_the_cache_lies_where_the_environment_says(monkeypatch):
    for name in ("ASSAY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() == Path.home() / ".cache" / "assay"
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert cache_folder() == Path("/some/where/assay")
    monkeypatch.setenv("ASSAY_CACHE", "/mine")
    assert cache_folder() == Path("/mine")
