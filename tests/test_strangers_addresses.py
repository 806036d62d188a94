"""An address that a stranger's record names is shown and not connected to, unless that is allowed."""

import functools
import http.server
import json
import shutil
import threading
import urllib.request
from pathlib import Path

import fsspec
import pytest

import assay
from assay.base import DataError
from assay.contracts import fingerprint, to_json
from assay.dataset import Dataset
from assay.runs import RunFolder, write_record
from tests.own_files import call
from tests.predictors import predictions
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
VERBS = ("diagnose", "score", "attribute", "predict", "intervene", "saliency", "mend", "report", "view")


class Loopback(fsspec.AbstractFileSystem):
    """Files of a server on this machine, over a protocol of our own."""

    protocol = "loopback"
    cachable = False

    def _get(self, path):
        return urllib.request.urlopen(f"http://{self._strip_protocol(path)}", timeout=10).read()

    def cat_file(self, path, **how):
        return self._get(path)

    def isfile(self, path):
        return path.endswith((".json", ".parquet"))

    def isdir(self, path):
        return not self.isfile(path)


@pytest.fixture
def server(mnlogic, monkeypatch):
    """A server of a dataset; the paths that were asked for."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *what):
            asked.append(self.path)

    handler = functools.partial(Handler, directory=str(mnlogic.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        fsspec.register_implementation("loopback", Loopback, clobber=True)
        monkeypatch.setenv("ASSAY_PROTOCOLS", "loopback")
        yield f"loopback://127.0.0.1:{httpd.server_port}/x/..", asked
        httpd.shutdown()


@pytest.fixture
def run(server, mnlogic, tmp_path):
    """The run of a stranger, whose record names the server."""
    folder = RunFolder(tmp_path / "run")
    about = {"model": "tree", "seed": 0, "config": {}, "knowledge": {}, "layout": {}}
    test = mnlogic["test"]
    predictions(test, test.labels, test.concepts).write(folder.predictions("test"), mnlogic.knowledge)
    write_record(folder, mnlogic, about)
    record = json.loads((folder.folder / "run.json").read_text())
    kept = {key: value for key, value in record.items() if key not in ("sha256", "files")}
    (folder.folder / "run.json").write_text(json.dumps({**kept, "data": {**record["data"], "folder": server[0]}}))
    return folder.folder


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_connects_because_a_record_says_so(verb, run, server, tmp_path):
    more = {
        "mend": ["-o", tmp_path / "out"],
        "report": ["-o", tmp_path / "out"],
        "view": ["--bundle", tmp_path / "out"],
    }
    status, out, err = call(verb, run, *more.get(verb, []))
    assert (status, out) == (2, "") and server[1] == []
    assert f"says that its data lies at '{server[0]}'" in err and "--allow-remote" in err
    assert err.count("\n") == 1


def test_it_connects_where_that_is_allowed(run, server, mnlogic, tmp_path):
    assert call("score", run, "--allow-remote")[0] == 0 and server[1]
    asked = len(server[1])
    assert call("score", run)[0] == 2 and len(server[1]) == asked  # it is allowed to that command only
    assert call("report", run, "-o", tmp_path / "report", "--allow-remote")[0] == 0
    assert call("view", run, "--bundle", tmp_path / "bundle", "--samples", 2, "--allow-remote")[0] == 0
    assert call("score", run, mnlogic.folder)[0] == 0


def test_it_connects_to_what_the_user_names(server, mnlogic):
    assert call("show", server[0])[0] == 0 and server[1]
    assert Dataset.open(server[0]).fingerprint == mnlogic.fingerprint


def test_python_connects_where_that_is_allowed(run, server, mnlogic, tmp_path):
    for refused in (lambda: assay.Run.open(run), lambda: assay.report(run, tmp_path / "report"),
                    lambda: assay.view(run)):  # fmt: skip
        with pytest.raises(DataError, match="which is not opened unasked"):
            refused()
    assert server[1] == []
    opened = assay.Run.open(run, allow_remote=True)
    assert opened.dataset.fingerprint == mnlogic.fingerprint and server[1]
    assert assay.report(opened, tmp_path / "report").is_file()
    assert assay.report(run, tmp_path / "again", allow_remote=True).is_file()


def test_no_verb_connects_because_a_manifest_says_so(server, mnlogic, tmp_path):
    shutil.copytree(mnlogic.folder, tmp_path / "data")
    path: Path = tmp_path / "data" / "manifest.json"
    manifest = json.loads(path.read_text())
    address = server[0]
    manifest["sources"] = {"digits": {"name": address, "sha256": address, "url": address}}
    manifest |= {
        "local": {"digits": address, "formula": address},
        "backbones": {"cnn": address},
        "code": {"name": address},
    }
    path.write_bytes(to_json({**manifest, "fingerprint": fingerprint(manifest)}))
    for words in (["show"], ["audit", "--no-write"], ["pairs"], ["export", "--to", "prolog", "-o", tmp_path / "out"],
                  ["push", tmp_path / "pushed"], ["annotate", "-o", tmp_path / "copy"]):  # fmt: skip
        assert call(words[0], tmp_path / "data", *words[1:])[0] in (0, 1, 2)
    assert server[1] == []
