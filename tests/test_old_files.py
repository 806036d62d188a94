"""Files that earlier versions wrote open, and what is shown of them is what was shown then; JSON may have new keys.

`python -m benchmarks.house.old tests/old_files/VERSION` wrote them, with what each command showed.
"""

import json
import shutil
from pathlib import Path

import pytest
from benchmarks.house.old import SHOWN
from benchmarks.house.seen import call

from tests.samples import needs_task

VERSIONS = sorted(path for path in (Path(__file__).parent / "old_files").iterdir() if path.is_dir())
pytestmark = needs_task("mnlogic", "mnadd-evenodd")


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda path: path.name)
def shown(request, tmp_path_factory):
    """Return what was shown by command, in a copy of the files."""
    folder = tmp_path_factory.mktemp("old") / "files"
    shutil.copytree(request.param, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in {"COLUMNS": "100", "NO_COLOR": "1", "ASSAY_CACHE": str(folder / ".cache")}.items():
            patch.setenv(name, value)
        yield json.loads((folder / SHOWN).read_text(encoding="utf-8"))


def test_old_files_open_with_the_same_output(shown):
    for words, before in shown.items():
        now = call(words)
        if "--json" in words:
            assert set(before.splitlines()) <= set(now.splitlines()), words
        else:
            assert now == before


def test_no_folder_of_a_machine_is_named():
    for path in (path for version in VERSIONS for path in version.rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert not any(word in content for word in (b"/tmp/", b"/work/", b"/home/", b"/root/")), path
