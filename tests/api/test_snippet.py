"""The first lines that a notebook holds run as they are printed: in the README, and all calls in short."""

import re
from pathlib import Path

import pytest

from tests.samples import needs_task

README = Path(__file__).parents[2] / "README.md"
PRELUDE = """
import assay, torch
ds = assay.make("mnadd-evenodd", n=64)
p = assay.train("dpl", ds, epochs=1, seed=0).predict("test")
p_y, p_a, p_b = p.labels["sum"].probabilities, p.concepts["a"].probabilities, p.concepts["b"].probabilities
"""
SNIPPET = """
import assay
ds = assay.make("mnadd-evenodd", n=4000)
ds
ds["train"][0]
loader = torch.utils.data.DataLoader(ds["train"].torch(), batch_size=64, shuffle=True)
ds["train"].to_pandas(); ds["train"].to_hf()
run = assay.train("dpl", ds, epochs=12, seed=0)
answers = ds["test"].predictions(labels=p_y, concepts={"a": p_a, "b": p_b})
found = assay.diagnose(ds, answers)
found; found.plot(); found.to_frame(); found.text
assay.count(ds); assay.audit(ds); assay.intervene(run, ds); assay.pairs(ds); assay.report([run], "out"); assay.view(ds, run)
"""


def run_small(code: str) -> None:
    """Run code with little data and one epoch."""
    small = code.replace("n=4000", "n=64").replace("epochs=12", "epochs=1")
    assert small != code
    exec(compile(small, "snippet", "exec"), {})


@needs_task("mnadd-evenodd")
def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(import assay\n.*?)```", README.read_text(), re.DOTALL)
    run_small(code)
    assert (tmp_path / "out" / "report.html").exists()


@needs_task("mnadd-evenodd")
def test_all_calls_in_short_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_small(PRELUDE + SNIPPET)
    assert (tmp_path / "out" / "report.html").exists()
