"""A dataset that is pushed opens elsewhere as the same dataset: by Assay, and by Hugging Face `datasets`."""

import shutil
from importlib import import_module
from pathlib import Path

import huggingface_hub
import pytest
from fsspec.implementations.local import LocalFileSystem

from assay.base import ConfigError, DataError
from assay.dataset import Dataset
from assay.exchange import push


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub in a folder: its file system for reading, and its interface for commits."""
    home = tmp_path / "hub"

    class HubFiles(LocalFileSystem):
        protocol = "hf"

        @classmethod
        def _strip_protocol(cls, path):
            inside = str(path).removeprefix("hf://")
            return inside if inside.startswith(str(home)) else str(home / inside)

    class HubApi:
        def create_repo(self, repo_id, repo_type, exist_ok, private):
            (home / f"{repo_type}s" / repo_id).mkdir(parents=True, exist_ok=exist_ok)
            self.private = private

        def upload_folder(self, repo_id, repo_type, folder_path, allow_patterns, commit_message):
            for name in allow_patterns:
                target = home / f"{repo_type}s" / repo_id / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(folder_path) / name, target)

    registry = import_module("fsspec.registry")  # fsspec.registry, the attribute, is a view that cannot be changed
    monkeypatch.setitem(registry._registry, "hf", HubFiles)
    monkeypatch.setattr(huggingface_hub, "HfApi", HubApi)
    return home


def test_the_hub_layout_opens_with_assay_and_with_datasets(evenodd, hub, tmp_path):
    push(evenodd, "hf://lab/evenodd")
    folder = hub / "datasets" / "lab" / "evenodd"
    assert {"README.md", "croissant.json", "manifest.json", "pairs/part-00000.parquet"} <= set(files(folder))
    assert all(files(evenodd.folder)[name] == data for name, data in files(folder).items())
    for address in ("hf://lab/evenodd", "hf://datasets/lab/evenodd", Path("hf://lab/evenodd")):
        opened = Dataset.open(address)
        assert opened.fingerprint == evenodd.fingerprint
    assert opened["test"].table.equals(evenodd["test"].table)
    import datasets

    datasets.disable_progress_bars()
    whole = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "arrow"))
    assert {name: len(split) for name, split in whole.items()} == {n: len(evenodd[n]) for n in evenodd.split_names}
    pairs = datasets.load_dataset(str(folder), "pairs", cache_dir=str(tmp_path / "arrow"))["pairs"]
    assert pairs["label_sum"][:] == [int(code) for code in evenodd["pairs"].table["label_sum"].to_pylist()]
    assert pairs[0]["image"].size == (56, 28)


def test_what_was_fetched_is_pushed_on_to_other_places(mnlogic, tmp_path):
    push(mnlogic, f"file://{tmp_path}/first")
    assert files(tmp_path / "first") == {k: v for k, v in files(mnlogic.folder).items() if not k.startswith(".")}
    second = push(Dataset.open(f"file://{tmp_path}/first"), tmp_path / "second")  # from the cache, without its card
    assert second == tmp_path / "second" and files(second) == files(tmp_path / "first")
    assert push(mnlogic, second) == second  # again


def test_another_dataset_is_not_overwritten(mnlogic, evenodd, tmp_path, hub):
    push(mnlogic, tmp_path / "place")
    with pytest.raises(DataError, match="holds another dataset"):
        push(evenodd, tmp_path / "place")
    with pytest.raises(ConfigError, match="expected hf://datasets/USER/NAME"):
        push(evenodd, "hf://lab/evenodd/deeper")


def test_what_the_hub_refuses_is_one_line(mnlogic, hub, monkeypatch):
    def refuse(self, *words, **named):
        raise PermissionError("no token")

    monkeypatch.setattr(huggingface_hub.HfApi, "create_repo", refuse)
    with pytest.raises(DataError, match="cannot push to 'hf://datasets/lab/x': PermissionError: no token"):
        push(mnlogic, "hf://lab/x")


@pytest.mark.parametrize("private", [True, False])
def test_one_commit_has_the_files_of_the_dataset_and_no_others(private, mnlogic, tmp_path, hub, monkeypatch):
    shutil.copytree(mnlogic.folder, tmp_path / "data")
    (tmp_path / "data" / "notes.txt").write_text("mine")
    asked = []
    for name in ("create_repo", "upload_folder"):
        done = getattr(huggingface_hub.HfApi, name)
        monkeypatch.setattr(
            huggingface_hub.HfApi,
            name,
            lambda self, *words, done=done, **named: asked.append(named) or done(self, *words, **named),
        )
    push(Dataset.open(tmp_path / "data"), "hf://lab/x", private)
    made, sent = asked
    assert made["private"] == private and sent["allow_patterns"][-1] == "manifest.json"
    assert mnlogic.fingerprint in sent["commit_message"]
    whole = {name for name in files(tmp_path / "data") if name != "notes.txt" and not name.startswith(".")}
    assert set(files(hub / "datasets" / "lab" / "x")) == whole


def test_damaged_data_is_not_pushed_and_an_audit_goes_along(mnlogic, tmp_path):
    shutil.copytree(mnlogic.folder, tmp_path / "data")
    (tmp_path / "data" / "audit.json").write_text("{}")
    data = Dataset.open(tmp_path / "data")
    push(data, tmp_path / "there")
    assert "audit.json" in files(tmp_path / "there")
    shard = tmp_path / "data" / "train" / "part-00000.parquet"
    shard.write_bytes(shard.read_bytes() + b"?")
    with pytest.raises(DataError, match=r"train/part-00000.parquet' does not match its hash: it is damaged"):
        push(data, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()
