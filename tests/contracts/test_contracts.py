"""Laws over the registries: every task, metric and model that registers keeps them."""

from functools import cache

import pytest

from assay.base import MissingExtra, Settings
from assay.dataset import Dataset, Recipe, make
from assay.metrics import METRICS
from assay.models import BACKBONES, MODELS, build_backbone
from assay.tasks import TASKS
from assay.testing import check_metric, check_model, check_task, require
from tests.quick import COUSINS, tasks

QUICK = {"mnadd-half", "mnadd-evenodd", "kand-logic-and", "kand-logic-pairs", "sudoku", "sudoku-paper"}


@pytest.mark.parametrize("name", tasks(COUSINS - QUICK | {"chess-flat"}))
def test_task_keeps_the_contract(name):
    require(check_task(TASKS[name](**TASKS[name].trial)), name)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_metric_keeps_the_contract(name):
    require(check_metric(METRICS[name]), name)


SIZES = (("train", 64), ("valid", 16), ("test", 16), ("ood", 16), ("hard", 24))
DATA = {
    "categorical": ("mnadd-half", {}),
    "binary": ("mnlogic", {"k": 2, "prop_in_distribution": 0.5}),
    "multi": ("mnmath", {}),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return a function that makes each dataset once: a fixture with a parameter would make it for every model."""

    @cache
    def made(data):
        task, settings = DATA[data]
        folder = tmp_path_factory.mktemp("data") / task
        make(Recipe(task, Settings(settings), sizes=SIZES), folder)
        return Dataset.open(folder)

    return made


SLOW = {("multi", name) for name in ("bears", "ecbm", "alpha-ilp", "dcr", "probcbm", "cem", "ilp")}
MODELS_ON_DATA = [
    pytest.param(data, name, marks=pytest.mark.slow if (data, name) in SLOW else ())
    for data in sorted(DATA)
    for name in sorted(MODELS)
]


@pytest.mark.parametrize(("data", "name"), MODELS_ON_DATA)
def test_model_keeps_the_contract(data, name, small):
    try:
        require(check_model(name, small(data)), name)
    except MissingExtra as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", sorted(name for name in BACKBONES if "image" in BACKBONES[name].reads))
def test_backbone_gives_the_features_it_says(name):
    import torch

    try:
        plan = BACKBONES[name]
        side = max(28, plan.smallest)
        made = build_backbone(name, (1, side, 56 + side - 28)) if plan.weights != "must" else None
    except MissingExtra as error:
        pytest.skip(str(error))
    if made is not None:  # one that must have weights is tried where there are some
        assert made.network(torch.zeros(3, 1, side, 56 + side - 28)).shape == (3, made.features)


def test_registered_tasks_and_models_carry_their_names():
    for registry in (TASKS, MODELS):
        for name in registry:
            assert registry[name].name == name
