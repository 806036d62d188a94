"""The split `hard` of a task: like `test` if not said otherwise, by quota if asked for, and kept apart from `ood`."""

import pytest

from assay.base import Settings
from assay.dataset import Dataset, recipe_from
from assay.tasks import TASKS
from assay.testing import check_task, require
from assay.worlds import Quota
from tests.boundaries import counts
from tests.conftest import Made
from tests.toys import Coin, Shelf

MNLogic = TASKS["mnlogic"]


class Untested(Coin):
    """Lamps without a test."""

    name = "untested"
    sizes = {"train": 40, "valid": 10}


class Apart(Shelf):
    """Boxes from a pool of their own."""

    name = "apart"
    pools = {**Shelf.pools, "hard": "spare"}


def test_it_comes_last_and_is_as_large_as_test_and_of_its_pool() -> None:
    *_, ood, hard = MNLogic().splits()
    assert (hard.name, hard.size, hard.pool, hard.share) == ("hard", 300, "test", (0.0, 0.8))
    assert hard.quota == Quota() and ood.disjoint_from == ("train", "valid", "test", "hard")


def test_a_task_can_give_its_size_and_pool() -> None:
    assert [(split.name, split.size, split.pool) for split in Apart().splits()][-2:] == [
        ("test", 24, "test"),
        ("hard", 12, "spare"),
    ]


def test_a_task_without_a_test_has_none() -> None:
    assert [split.name for split in Untested().splits()] == ["train", "valid"]
    require(check_task(Untested()), "untested")


@pytest.mark.parametrize("settings", [{"per_variant": 2}, {"per_type": 3}, {"per_variant": 1, "per_type": 2}])
def test_a_task_with_quotas_keeps_the_laws(settings: dict[str, int]) -> None:
    task = MNLogic(pixels=True, k=5, formula="a & b | c & d", **settings)
    assert task.splits()[-1].quota == Quota(settings.get("per_variant"), settings.get("per_type"))
    require(check_task(task), "mnlogic")


def test_quotas_are_in_the_recipe_and_decide_the_data(made: Made) -> None:
    settings = {"pixels": True, "k": 8, "formula": "a & b", "per_variant": 9, "n": 100}
    plan = recipe_from("mnlogic", Settings(settings)).splits
    assert [split.to_dict()["quota"] for split in plan] == [None] * 4 + [{"per_variant": 9, "per_type": None}]
    dataset: Dataset = made("mnlogic", **settings)
    assert counts(dataset.knowledge, dataset["hard"].concepts) == [9, 9, 9, 3]  # the variant, two types, and far ones
