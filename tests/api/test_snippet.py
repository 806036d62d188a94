"""The first lines of the README run as they are printed."""

import re
from pathlib import Path

import pytest

from tests.samples import needs_task

README = Path(__file__).parents[2] / "README.md"


@needs_task("mnadd-evenodd")
def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(import assay\n.*?)```", README.read_text(), re.DOTALL)
    small = code.replace("n=4000", "n=64").replace("epochs=12", "epochs=1")
    assert small != code
    names: dict[str, object] = {}
    exec(compile(small, "README.md", "exec"), names)
    assert (tmp_path / "out" / "report.html").exists()
