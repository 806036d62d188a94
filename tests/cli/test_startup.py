"""What the first commands import: each word that is not needed for an answer is paid for by whoever waits for it."""

import json
import os
import subprocess
import sys

import pytest

from assay.families import FAMILIES, SHARED
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")

SCRIPT = """
import contextlib, io, json, sys
from assay.cli import main

loaded = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["assay", *words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    loaded.append(sorted(sys.modules))
print(json.dumps(loaded))
"""
STUDY = "tasks: [{task: mnlogic, k: 2}]\nmodels: [rules]\nn: 16\n"
HEAVY = ["torch", "sklearn", "scipy.stats", "pandas", "matplotlib", "transformers"]
NOT_FOR = {  # in this order in one process, which loads more with each command
    "--help": ["numpy", "pydantic", "rich", "yaml", "assay.base.config", "assay.dataset.dataset"],
    "list": ["pyarrow", "scipy", "assay.logic.knowledge", "assay.dataset.dataset"],
    "score": ["jinja2", "assay.reporting", "assay.diagnosis", "assay.counting"],
    "run": ["assay.reporting.write", "assay.viewer"],
}


@pytest.fixture(scope="module")
def loaded(data, run, tmp_path_factory):
    """The modules that are loaded after each command."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(STUDY)
    plan = ["run", str(folder / "study.yaml"), "-o", str(folder / "out"), "--plan", "--no-trial"]
    commands = [["--help"], ["list"], ["score", str(run), str(data.folder)], plan]
    words = [sys.executable, "-c", SCRIPT, json.dumps(commands)]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ, check=True)
    assert "1 datasets and 1 runs to do" in done.stderr
    return dict(zip(NOT_FOR, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("verb", NOT_FOR)
def test_a_command_imports_nothing_that_it_does_not_need(loaded, verb):
    assert not set(loaded[verb]) & {*HEAVY, *NOT_FOR[verb]}


def test_help_and_lists_load_few_modules_of_ours(loaded):
    ours = {verb: sum(name.partition(".")[0] == "assay" for name in names) for verb, names in loaded.items()}
    families = len(FAMILIES) + len(SHARED)  # each is one small module, which registers its tasks
    assert ours["--help"] - families < 54 and ours["list"] - families < 78
