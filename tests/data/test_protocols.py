"""Only the usual protocols are opened, unless the environment names more."""

import pytest

from assay.data import Dataset, folder_at
from assay.errors import ConfigError

pytest.importorskip("fsspec")
STRANGE = [
    "http://127.0.0.1:1/data",
    "ftp://host/data",
    "webhdfs://host/data",
    "reference://x/data",
    "github://a:b@c/d",
]


@pytest.mark.parametrize("address", STRANGE)
def test_other_protocols_are_refused(address):
    with pytest.raises(ConfigError, match="are not opened; allowed are"):
        Dataset.open(address)


def test_the_environment_allows_more(monkeypatch):
    pytest.importorskip("fsspec.implementations.local")
    monkeypatch.setenv("ASSAY_PROTOCOLS", "local, sftp")
    assert folder_at("local:///nowhere/at/all").exists() is False


def test_an_address_inside_of_an_address_is_refused():
    with pytest.raises(ConfigError, match="holds another address inside"):
        folder_at("memory://x::http://127.0.0.1/y").exists()


@pytest.mark.parametrize(
    "address", ["https://me:secret@host/data", "s3://key:secret@bucket/data", "sftp://me:secret@h/x"]
)
def test_a_password_in_an_address_is_refused_without_showing_it(address):
    with pytest.raises(ConfigError, match="must hold no password") as caught:
        Dataset.open(address)
    assert "secret" not in str(caught.value)


def test_what_stands_before_a_host_may_be_a_container():
    assert str(folder_at("abfs://box@account.dfs.core.windows.net/x")) == "abfs://box@account.dfs.core.windows.net/x"
    assert str(folder_at("hf://me/data@v1:2")) == "hf://datasets/me/data@v1:2"
