"""From settings to a recipe: our keys, rsbench's keys, files of one's own."""

import pickle
from pathlib import Path

import pytest

from assay.base import AssayError, ConfigError, Settings, UnknownName, load_yaml
from assay.dataset import Recipe, recipe_from
from tests.samples import needs_task

XOR = """\
n_digits: 3
xor_rule: False
symbols:
  - a
  - b
  - c
logic: Or(And(a, b), Not(c))
use_mnist: True
val_prop: 0.2
test_prop: 0.3
ood_prop: 0.3
prop_in_distribution: 0.8
combinations_in_distribution:
  - "001"
  - "010"
  - "000"
"""
MATH = """\
num_digits: 2
digit_values: [0, 1, 2]
symbols: [a, b]
logic:
  - 2*a + b
  - a + b
val_prop: 0.2
test_prop: 0.3
ood_prop: 0.0
prop_in_distribution: 1
combinations_in_distribution: ["0120", "2101", "0002"]
"""


def recipe(task: str = "mnlogic", **settings: object) -> Recipe:
    return recipe_from(task, Settings(settings))


def sizes(held: Recipe) -> dict[str, int]:
    return {split.name: split.size for split in held.splits}


def from_file(folder: Path, task: str, text: str) -> Recipe:
    (folder / "rsbench.yml").write_text(text)
    return recipe_from(task, load_yaml(folder / "rsbench.yml"))


def test_files_of_rsbench(tmp_path: Path) -> None:
    xor, math = from_file(tmp_path, "mnlogic", XOR), from_file(tmp_path, "mnmath", MATH)
    assert sizes(xor) == {"train": 1000, "valid": 200, "test": 300, "ood": 300, "hard": 300}
    assert sizes(math) == {"train": 1000, "valid": 200, "test": 300, "hard": 300}
    assert str(xor.task.knowledge.labels[0].formula) == "a and b or not c"
    assert [str(label.formula) for label in math.task.knowledge.labels] == ["2 * a_1 + b_1", "a_2 + b_2"]
    assert math.task.knowledge.labels[0].values == tuple(range(7))


def test_sizes_by_default_in_proportion_and_as_given() -> None:
    assert sizes(recipe()) == {"train": 1000, "valid": 200, "test": 300, "ood": 300, "hard": 300}
    assert sizes(recipe(n=50)) == {"train": 50, "valid": 10, "test": 15, "ood": 15, "hard": 15}
    assert sizes(recipe(n_samples=50, val_prop=1, ood_prop=0)) == {"train": 50, "valid": 50, "test": 15, "hard": 15}
    assert sizes(recipe(splits={"ood": 0, "test": 7})) == {"train": 1000, "valid": 200, "test": 7, "hard": 300}
    assert sizes(recipe(splits={"hard": 0, "test": 7})) == {"train": 1000, "valid": 200, "test": 7, "ood": 300}
    assert sizes(recipe("mnadd-evenodd", n=672, continual=True))["train_2"] == 336


def test_a_split_left_out_is_not_kept_apart_from() -> None:
    ood = {split.name: split for split in recipe(splits={"valid": 0}).splits}["ood"]
    assert ood.disjoint_from == ("train", "test", "hard")
    assert recipe(splits={"valid": 0, "hard": 0}).splits[-1].disjoint_from == ("train", "test")


def test_the_plan_of_a_recipe_does_not_know_where_the_digits_lie() -> None:
    assert "digits" not in recipe().to_dict()["task"]["config"]
    assert recipe().to_dict()["sources"]["digits"]["images"] == 5000


def test_a_recipe_travels_light() -> None:
    held = recipe(k=3, seed=4)
    held.task.sources()
    data = pickle.dumps(held)
    assert len(data) < 1000 and pickle.loads(data) == held


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": "many"}, "n: expected a whole number from 1 up, not 'many'"),
        ({"n": True}, "n: expected a whole number"),
        ({"seed": -1}, "seed: expected a whole number from 0 up"),
        ({"val_prop": 1.5}, "val_prop: expected a share from 0 to 1, not 1.5"),
        ({"val_prop": float("nan")}, "val_prop: expected a share"),
        ({"n": 5, "n_samples": 5}, "'n_samples' and 'n' mean the same"),
        ({"task": "mnadd"}, "the file is for task 'mnadd', not 'mnlogic'"),
        ({"splits": {"train": 1.5}}, "splits: expected 'name: size'"),
        ({"splits": [1]}, "splits: expected 'name: size'"),
        ({"splits": {"test": -1}}, "splits: expected 'name: size'"),
        ({"splits": {3: 1}}, "splits: expected"),
        ({"splits": {"test": True}}, "splits: expected"),
        ({"test_prop": True}, "test_prop: expected a share"),
        ({"splits": {"train": 0, "valid": 0, "test": 0, "ood": 0, "hard": 0}}, "every split has size 0"),
        ({"n_digit": 3}, "unknown key 'n_digit'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        sizes(recipe_from("mnlogic", Settings(settings)))
    assert "\n" not in str(caught.value)


def test_errors_say_where_a_setting_stands(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="^rsbench.yml line 1: k: "):
        from_file(tmp_path, "mnlogic", XOR.replace("3", "x", 1)).splits
    with pytest.raises(ConfigError, match="^rsbench.yml line 9: val_prop: expected a share"):
        from_file(tmp_path, "mnlogic", XOR.replace("val_prop: 0.2", "val_prop: 2"))
    with pytest.raises(ConfigError, match="^rsbench.yml line 1: num_digits: expected a whole number"):
        from_file(tmp_path, "mnmath", MATH.replace("num_digits: 2", "num_digits: two")).splits


@needs_task("mnadd")
def test_near_misses_are_suggested() -> None:
    with pytest.raises(UnknownName, match="no task named 'mnad'; did you mean 'mnadd'"):
        recipe("mnad").task


TASK = "from assay.tasks import TASKS\n\nclass {0}(TASKS['mnadd']):\n    name = '{0}'\n"


def test_a_task_in_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "my_task.py"
    file.write_text(TASK.format("Mine"))
    assert recipe(str(file), n=10).task.name == "Mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no file"),
        ("x = 1", "expected one task in the file, found none"),
        (TASK.format("A") + TASK.format("B"), "expected one task in the file, found A, B"),
        ("1 / 0", "cannot be run: ZeroDivisionError"),
        ("def", "cannot be run: SyntaxError"),
    ],
)
def test_files_that_are_no_task(text: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "my_task.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(AssayError, match=message) as caught:
        recipe(str(file)).task
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seconds", [1e-9, 0.5, 100.0])
def test_the_slower_pictures_are_drawn_the_fewer_a_shard_holds(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = recipe_from("mnlogic", Settings({"k": 3}))
    usual = wanted.shard_rows
    monkeypatch.setattr(type(wanted.task), "seconds", seconds)  # what the task says of itself
    slow = recipe_from("mnlogic", Settings({"k": 3}))
    assert slow.shard_rows == slow.to_dict()["shard_rows"] and 1 <= slow.shard_rows <= usual
    assert slow.shard_rows * seconds < 60 or slow.shard_rows == 1


@needs_task("mnadd-evenodd")
def test_shares_are_divided_among_stages() -> None:
    held = sizes(recipe("mnadd-evenodd", continual=True, n=50, test_prop=0.5, val_prop=0.3))
    assert [held[f"test_{stage}"] for stage in (1, 2)] == [12, 12] and [held[f"valid_{stage}"] for stage in (1, 2)] == [
        7,
        7,
    ]


def test_what_shows_the_test_split_again_is_as_large() -> None:
    held = recipe(confound=[{"what": "frame", "with": "y"}], splits={"test": 9, "reversed": 4})
    assert [sizes(held)[name] for name in ("test", "unconfounded", "reversed")] == [9, 9, 4]
    assert [one["what"] for one in held.to_dict()["task"]["confound"]] == ["frame"]
    assert recipe(splits={"test": 7, "pairs": 3}).pairs == 3 and recipe(splits={"test": 7}).pairs == 7
