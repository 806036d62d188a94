"""Folders that are listed backwards: what must be sorted is not sorted by the disk."""

from pathlib import Path

import pytest


def list_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `glob`, `rglob` and `iterdir` of every path give what they find against the order of names."""
    for method in ("glob", "rglob", "iterdir"):
        listed = getattr(Path, method)
        monkeypatch.setattr(
            Path, method, lambda self, *words, listed=listed, **more: iter(sorted(listed(self, *words, **more))[::-1])
        )
