"""How Ray is told where it runs: no usage reports, the loopback address only for what is on this machine."""

import socket

import pytest

from assay.data import cluster
from assay.errors import RunFailed

WAIT, LOOPBACK = "RAY_gcs_server_port_wait_time_s", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


def test_a_cluster_that_is_started_here_stays_on_the_loopback_address():
    found = cluster._environment("local")
    assert found["RAY_USAGE_STATS_ENABLED"] == "0" and found[LOOPBACK] == "0" and WAIT not in found


def test_one_that_is_elsewhere_is_tried_once():
    for address in ("auto", "head.example:6379", "127.0.0.1:1"):
        found = cluster._environment(address)
        assert found[WAIT] == "1" and LOOPBACK not in found and found["RAY_USAGE_STATS_ENABLED"] == "0"


def test_one_on_this_machine_is_known_by_its_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert cluster._environment(address)[LOOPBACK] == "0"
        cluster._knock(address)
    with pytest.raises(ConnectionError, match="nothing answers there"):
        cluster._knock("127.0.0.1:1")


def test_nodes_have_the_same_versions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = cluster.versions()
    assert cluster._do(lambda x: x + 1, (2,), tmp_path, wanted) == 3
    with pytest.raises(RunFailed, match=r"a node has assay .*, not 0.0.0; install the same on all nodes"):
        cluster._do(len, ("",), tmp_path, {**wanted, "assay": "0.0.0"})
