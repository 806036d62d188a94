"""`assay view` as a user calls it."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import assay

__all__ = ["assay"]


def test_it_serves_until_ctrl_c(folder):
    command = [sys.executable, "-m", "assay", "view", str(folder), "--no-open"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        address = process.stderr.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address, timeout=10) as page:
            assert page.url == address.partition("?")[0] and b"<html" in page.read()
        with browser.open(f"{page.url}api/shelf.json", timeout=10) as answer:
            assert b"pixels" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{page.url}api/shelf.json", timeout=10)
        port = urlsplit(address).port
        assert listening(port) == {"0100007F"}
        modules = Path(f"/proc/{process.pid}/maps")
        assert not modules.exists() or "libtorch" not in modules.read_text()  # until a model is asked
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "stopped\n")


def listening(port):
    """Return the addresses at which a port is listened to, as the kernel writes them."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("only Linux tells")
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    return {row[1].split(":")[0] for row in rows if int(row[1].split(":")[1], 16) == port and row[3] == "0A"}


def test_a_port_that_is_taken_is_one_line(assay, folder, address):
    taken = urlsplit(address).port
    assert assay("view", folder, "--port", taken, "--no-open").error.startswith(f"port {taken} cannot be used: ")


def test_a_bundle_is_written_and_what_is_broken_told(assay, folder, tmp_path):
    (tmp_path / "given" / "broken").mkdir(parents=True)
    (tmp_path / "given" / "broken" / "manifest.json").write_text("{")
    told = assay("view", folder, tmp_path / "given", "--bundle", tmp_path / "out", "--samples", "2")
    assert told.status == 0 and "left out: " in told.err and (tmp_path / "out" / "index.html").exists()
    assert assay("view", folder, "--bundle", tmp_path / "out").error.endswith("is not an empty folder; choose another")


def test_bad_folders_are_one_line(assay, tmp_path):
    assert "no folder" in assay("view", tmp_path / "nowhere").error
    assert "no dataset or run" in assay("view", tmp_path).error
    assert "Missing argument" in assay("view").error


def test_without_the_extra_it_names_the_install_line(assay, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert assay("view", folder).error == "the viewer needs uvicorn: pip install '.[view]' in Assay's source folder"
