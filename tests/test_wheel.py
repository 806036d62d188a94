"""The wheel holds all that the program needs, and works where the source folder is not."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from assay.base import VERSION

ROOT = Path(__file__).parent.parent
pytestmark = [
    pytest.mark.slow,  # `make check` runs it
    pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert wheel.name == f"concept_assay-{VERSION}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(["git", "ls-files", "src/assay"], cwd=ROOT, capture_output=True, text=True, check=True)
    expected = {name.removeprefix("src/") for name in tracked.stdout.split()}
    if expected:  # not in a source archive without a history
        assert expected <= names
    assert {"assay/py.typed", "assay/families/handwriting/mnist_5000/images-idx3-ubyte.gz"} <= names
    assert {name.split("/")[0] for name in names} == {"assay", f"concept_assay-{VERSION}.dist-info"}


def test_the_wheel_works_outside_of_the_source_folder(wheel, tmp_path):
    """In an environment of its own, which borrows the packages of this one but not this source folder."""
    home = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def assay(*words):
        command = [home / "bin" / "assay", *words]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout

    where = subprocess.run(
        [python, "-c", "import assay; print(assay.__file__)"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert Path(where.stdout.strip()).is_relative_to(site)
    assert assay("--version") == f"{VERSION}\n"
    assay("make", "mnadd-evenodd", "-o", "data", "--set", "n=40", "--workers", "1")
    assert "mnadd-evenodd" in assay("show", "data")
    assert "rsbench-table-2" in assay("study", "list")
