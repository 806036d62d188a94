"""Making a dataset: the same bytes whoever makes it and however often it was stopped."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from assay.base import AssayError, DataError, RunFailed, Settings
from assay.dataset import Dataset, Recipe, ShardWriter, default_workers, make, recipe_from
from assay.tasks import TASKS
from tests.leftovers import leave_file

SETTINGS = {"splits": {"train": 3500, "valid": 1000, "test": 1, "ood": 1040, "hard": 1001}, "seed": 3}
SCRIPT = f"""
import sys, time
from pathlib import Path
from assay.base.config import Settings
from assay.dataset.making import make
from assay.dataset.recipe import recipe_from

if __name__ == "__main__":
    made = recipe_from("mnadd-evenodd", Settings({SETTINGS!r}))
    make(made, Path(sys.argv[1]), workers=2, progress=lambda rows: time.sleep(1))  # so that it cannot end unseen
"""
GOLDEN = {  # of the first 20 training worlds and pictures at seed 0; where one changes, the task's version must rise
    ("bdd-oia", 2): "e860297d4745e553bfc4b532f0970aaa",
    ("blocks", 1): "bfa8b937518fb188112057ebb993995e",
    ("bongard", 1): "8074b0d7083d0fba55f0d832ceb05dc7",
    ("bongard-small", 1): "b4dbdfa610cb5308e2b3d589e7b49dad",
    ("chess", 2): "9c652ee04954d2461671457d5a3409c4",
    ("chess-flat", 2): "56ca5c50f8d091613dee30a89977262a",
    ("chess-sane", 2): "c41253557f0d90400e203c8ead443423",
    ("clevr", 2): "462603c6b1e4cd5f30317e9e58253a10",
    ("clevr-hans", 1): "d51cf0f3558dcd6ee1ffcef157dd9aa9",
    ("clevr-many", 2): "6a66f86d8470d3e6f7f98a17f1ccc3d9",
    ("clevr-small", 2): "154c6e226518b730749a986356eab49a",
    ("cocologic", 2): "c787c6a13d96e2c7d09852848c58b8ed",
    ("cocologic-fs", 2): "4bd676c9f17298644fbb6dabceb5635a",
    ("kand-logic", 2): "7882b1fb9b83918bd29adb8402308cd3",
    ("kand-logic-and", 2): "599b8df724395105b6842d46f04e52af",
    ("kand-logic-pairs", 2): "c633804ca72428603c861ba8c1b26c4a",
    ("mnadd", 1): "39554bbb282355293d4b5f754806281c",
    ("mnadd-evenodd", 1): "f98df7f2fb848d46a3e0ac475df4febb",
    ("mnadd-half", 1): "ab191632e051ad92dcfba6fe319c72f2",
    ("mnlogic", 1): "1e5778723bc4ff9a56914454f32446b8",
    ("mnmath", 1): "4b27b8ca71cee7b758bc0cba1a8ad5b2",
    ("raven", 1): "a23fd6c7fef9a5b57c3554f2954647ff",
    ("raven-biased", 1): "633d98b4b1c47249138c2bf640a2fbde",
    ("raven-small", 1): "c17bbcbd9fc8211f7fffdb40644e0e8b",
    ("robots", 1): "83ed1389827f95730fb5976bd1e39dcd",
    ("sdd-oia", 2): "277154deb11158a6995a5295eb34af17",
    ("sudoku", 1): "1e77770b83cecdb9c5df8be8e36442d2",
    ("sudoku-mini", 1): "967d1f3ee312bcf1e72e2bb6bfe1e00d",
    ("sudoku-paper", 1): "929e33260a371f8d6be01f33501aa345",
    ("sudoku-solve", 1): "50d12f55fe4c34989a81c830ec0113d3",
    ("sudoku-solve-mini", 1): "1aaa7b348df81bde36b1a5ba3b7f1f6e",
    ("trains", 1): "5902cbb3fae74082dbab7fc7b723d348",
    ("trains-complex", 1): "279f31277fa79a1698e8a517b2ad0ef5",
    ("trains-numerical", 1): "180f736277f656cf3611dc66c6d869c2",
    ("trains-ood", 1): "0e43dad2416c5e48d53c668e8529cb28",
    ("valued", 2): "a572a190df133ecd71859bc5fa9e582e",
}


def recipe(task: str = "mnadd-evenodd", **settings: object) -> Recipe:
    return recipe_from(task, Settings(settings or SETTINGS))


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "data"
    make(recipe(), folder)
    return folder


@pytest.mark.parametrize("name", sorted(TASKS))
def test_worlds_and_pictures_are_those_of_their_version(name: str) -> None:
    writer = ShardWriter(Recipe(name, Settings(dict(TASKS[name].trial))))
    worlds = writer.worlds(writer.recipe.splits[0], np.arange(20))
    codes = np.array([world.codes for world in worlds])
    pixels = b"".join(writer.task.render(world).image.tobytes() for world in worlds)
    found = hashlib.sha256(codes.astype(np.int64).tobytes() + pixels).hexdigest()
    assert found[:32] == GOLDEN[name, writer.task.version]


def test_files_of_a_dataset(undisturbed: Path) -> None:
    shards = [f"train/part-{number:05d}.parquet" for number in range(4)] + ["valid/part-00000.parquet"]
    ood = [f"ood/part-{number:05d}.parquet" for number in range(2)]
    hard = [f"hard/part-{number:05d}.parquet" for number in range(2)]
    about = ["README.md", "croissant.json", "manifest.json"]
    assert sorted(contents(undisturbed)) == sorted(
        [*shards, *ood, *hard, "test/part-00000.parquet", "pairs/part-00000.parquet", *about]
    )
    assert len(Dataset.open(undisturbed)["train"]) == 3500


def test_several_workers_write_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    make(recipe(), tmp_path / "data", workers=3, progress=seen.append)
    assert contents(tmp_path / "data") == contents(undisturbed)
    assert sum(seen) == 3500 + 1000 + 1 + 1040 + 1001 + 1


def test_a_killed_run_goes_on_to_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    script, folder = tmp_path / "script.py", tmp_path / "data"
    script.write_text(SCRIPT)
    run = subprocess.Popen([sys.executable, str(script), str(folder)], start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("*/part-*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.002)
    os.killpg(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    with pytest.raises(DataError, match="it is half made; run the same 'assay make' again"):
        Dataset.open(folder)
    done = sorted(folder.glob("*/part-*.parquet"))
    done[0].write_bytes(done[0].read_bytes()[:999])  # what a power cut may leave
    leave_file(folder / "train" / "part-00009.parquet")
    make(recipe(), folder)
    assert contents(folder) == contents(undisturbed)


def test_a_worker_that_dies_fails_the_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    trap, file = tmp_path / "trap", tmp_path / "my_task.py"
    trap.touch()
    file.write_text(
        "import os\nfrom pathlib import Path\nfrom assay.tasks import TASKS\n\n"
        f"TRAP = Path({str(trap)!r})\n\n\n"
        "class Mortal(TASKS['mnlogic']):\n    name = 'mortal'\n\n    def render(self, world):\n"
        "        if TRAP.exists() and world.style and world.style['pool'] == 'valid':\n            os._exit(9)\n"
        "        return super().render(world)\n"
    )
    mortal = recipe(str(file), splits={"train": 1500, "valid": 10, "test": 10, "ood": 0, "hard": 10})
    with pytest.raises(RunFailed, match="a worker died .* run the same command again to go on"):
        make(mortal, tmp_path / "data", workers=2)
    with pytest.raises(DataError, match="half made"):
        Dataset.open(tmp_path / "data")
    trap.unlink()
    make(mortal, tmp_path / "data", workers=2)
    assert Dataset.open(tmp_path / "data").name == "mortal"
    make(mortal, tmp_path / "alone")
    assert contents(tmp_path / "data") == contents(tmp_path / "alone")


def test_making_again_changes_nothing(evenodd: Dataset) -> None:
    before = {path: path.stat().st_mtime_ns for path in evenodd.folder.rglob("*")}
    again = {split["name"]: split["size"] for split in evenodd.manifest.to_dict()["splits"]}
    assert make(recipe(splits=again), evenodd.folder) == evenodd.manifest
    assert {path: path.stat().st_mtime_ns for path in evenodd.folder.rglob("*")} == before


def test_making_again_mends_damaged_shards(tmp_path: Path) -> None:
    small = recipe(splits={"train": 1200, "valid": 10, "test": 10, "ood": 10, "hard": 10})
    make(small, tmp_path)
    before = contents(tmp_path)
    shard = tmp_path / "train" / "part-00000.parquet"
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    (tmp_path / "ood" / "part-00000.parquet").unlink()
    make(small, tmp_path)
    assert contents(tmp_path) == before


def test_a_run_killed_before_its_plan_was_written_leaves_a_folder_that_can_be_used(tmp_path: Path) -> None:
    leave_file(tmp_path / ".plan.json")
    make(recipe(splits={"train": 16, "valid": 2, "test": 2, "ood": 2, "hard": 2}), tmp_path)
    assert not list(tmp_path.glob(".*"))


def test_a_plan_made_earlier_that_cannot_be_read_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / ".plan.json").write_text("{")
    with pytest.raises(DataError, match="holds part of another dataset"):
        make(recipe(n=16), tmp_path)


def test_other_folders_are_left_alone(evenodd: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(DataError, match="holds another dataset"):
        make(recipe(n=16), evenodd.folder)
    with pytest.raises(DataError, match="is not an empty folder"):
        make(recipe(n=16), tmp_path)
    with pytest.raises(DataError, match="is not an empty folder"):
        make(recipe(n=16), file)
    with pytest.raises(DataError, match="cannot use folder .*: Not a directory"):
        make(recipe(n=16), file / "x")
    assert list(tmp_path.iterdir()) == [file] and file.read_text() == "mine"


def test_half_of_another_dataset_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".plan.json").write_text(json.dumps(recipe(n=17).to_dict()))
    with pytest.raises(DataError, match="holds part of another dataset"):
        make(recipe(n=16), tmp_path)


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("mnlogic", {"formula": "a | ~a"}),
        ("mnlogic", {"combinations_in_distribution": ["0000"]}),
        ("mnlogic", {"combinations_in_distribution": ["00", "01"]}),
        ("mnlogic", {"combinations_in_distribution": ["0000", "0007"]}),
        ("mnlogic", {"splits": {"trian": 10}}),
        ("mnlogic", {"splits": {"train": 0, "valid": 0, "test": 0, "ood": 0, "hard": 0}}),
        ("mnlogic", {"per_variant": 100, "k": 5, "formula": "a & b | c", "splits": {"hard": 10}}),
        ("mnlogic", {"splits": {"train": -1}}),
        ("mnlogic", {"splits": {3: 4}}),
        ("mnlogic", {"n": 0}),
        ("mnlogic", {"digits": "/nowhere"}),
        ("mnlogic", {"stages": ["a", "3"]}),
        ("mnadd", {"stages": ["a + b"]}),
        ("mnad", {}),
        ("my_task.py", {}),
    ],
)
def test_what_cannot_be_made_leaves_no_folder(task: str, settings: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(AssayError) as caught:
        make(recipe(task, **{"seed": 0, **settings}), tmp_path / "data")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "data").exists()


def test_progress_tells_what_was_there_and_then_each_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recipe, "shard_rows", 3)  # a limit: so that there are several shards
    sizes = {"train": 7, "valid": 0, "test": 5, "hard": 0, "ood": 0, "pairs": 3}
    wanted = recipe_from("mnlogic", Settings({"k": 3, "splits": sizes}))
    seen: list[int] = []
    manifest = make(wanted, tmp_path / "data", progress=seen.append)
    assert seen == [0, 3, 3, 1, 3, 2, 3] and sum(split.size for split in manifest.splits) == 12
    victim = tmp_path / "data" / manifest.splits[0].shards[1].file
    before = victim.read_bytes()
    victim.unlink()
    seen.clear()
    assert make(wanted, tmp_path / "data", progress=seen.append) == manifest and victim.read_bytes() == before
    assert seen[0] == 12 and seen[1:] == [3]  # four whole shards and the pairs, then the one that was missing
    seen.clear()
    (tmp_path / "data" / "pairs" / "part-00000.parquet").write_bytes(b"damaged")
    assert make(wanted, tmp_path / "data", progress=seen.append) == manifest and seen == [12, 3]
    seen.clear()
    make(wanted, tmp_path / "data", progress=seen.append)
    assert seen == [15]


def test_workers_pay_where_there_is_much_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = recipe_from("mnlogic", Settings({"k": 3}))
    rows = sum(split.size for split in wanted.splits) + wanted.pairs
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for seconds, workers in ((0.0, 1), (2 / rows, 1), (6.5 / rows, 3), (100 / rows, 4)):
        monkeypatch.setattr(type(wanted.task), "seconds", seconds)
        assert default_workers(wanted) == workers
