"""Datasets that many tests read: small ones, made once. Properties are tried on the same examples in every run."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads that wait for a core of other tests spin; before torch reads it

import pytest
from hypothesis import settings

from assay.code_files import forget_files
from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.make import make
from assay.data.recipe import recipe_from
from tests.samples import skip_where_samples_are_missing

Made = Callable[..., Dataset]

settings.register_profile("same", derandomize=True)
settings.load_profile("same")
skip_where_samples_are_missing()


def write(folder: Path, task: str, **settings: Any) -> Dataset:
    make(recipe_from(task, Settings(settings)), folder)
    return Dataset.open(folder)


@pytest.fixture(scope="session")
def evenodd(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Each of the 16 training pairs ten times, each of the 84 others twice."""
    sizes = {"train": 160, "valid": 32, "test": 160, "ood": 168, "hard": 32}
    return write(tmp_path_factory.mktemp("evenodd") / "data", "mnadd-evenodd", splits=sizes)


@pytest.fixture(scope="session")
def mnlogic(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The XOR of three bits."""
    sizes = {"train": 64, "valid": 16, "test": 32, "ood": 16, "hard": 18}
    return write(tmp_path_factory.mktemp("mnlogic") / "data", "mnlogic", k=3, splits=sizes)


@pytest.fixture(autouse=True)
def no_files() -> Iterator[None]:
    """Let no test find what the files of another one define."""
    yield
    forget_files()


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a function that makes a dataset in a fresh folder."""
    return lambda task, **settings: write(tmp_path / "made", task, **settings)


@pytest.fixture(scope="session", autouse=True)
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let models that ask an endpoint ask one of ours, and keep answers among the files of the tests."""
    from tests.endpoint import Endpoint, first_concept

    server = Endpoint(first_concept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_LLM_URL", server.url)
        patch.delenv("ASSAY_LLM_KEY", raising=False)
        patch.delenv("OPENAI_API_KEY", raising=False)
        patch.setenv("ASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
    server.close()


ALIKE = (
    *(
        "test_hostile.py::test_a_hostile_program_ends_in_an_answer_or_one_line[texts",
        "test_hostile.py::test_such_a_program",
    ),
    *("test_inputs.py::test_every_network_trains", "test_subconcepts.py::test_every_network_reads_units"),
    *("test_predicates.py::test_printed_programs_label_as_our_rules_do", "test_tasks.py::test_every_task_passes"),
    "test_side_by_side.py::test_every_run_has_records_whether_trained_side_by_side_or_not[False",
    *(
        "sudoku/test_task.py::test_variants_keep_the_contract[{'cell_px",
        "test_contracts.py::test_task_keeps_the_contract[sudoku-paper",
    ),
    *(
        "test_contracts.py::test_backbone_gives_the_features_it_says[vit-l-32",
        "test_drawing.py::test_knobs_are_gradual[blur",
    ),
    *(
        "test_ilp.py::test_rules_of_trains_are_found_exactly[complex",
        "test_ilp.py::test_rules_of_trains_are_found_exactly[num",
    ),
    *("test_own_file.py::test_every_verb_says", "chess/test_task.py::test_a_dataset_is_audited_and_exported"),
    "clevr/test_task.py::test_settings_that_do_not_fit_are_refused_in_one_line[settings2",
    "clevr/test_task.py::test_settings_that_do_not_fit_are_refused_in_one_line[settings3",
    *(
        "test_claims.py::test_every_claim_is_true_of_the_data[2",
        "test_claims.py::test_every_claim_is_true_of_the_data[3",
    ),
    *(
        "robots/test_task.py::test_the_laws_of_tasks[paper-",
        "test_no_placeholder_and_few_twins[t",
        "test_most_rules_of_the_paper_are_found_exactly_from_24_examples[25",
    ),
    *("test_few_shot_tasks_keep_the_laws[settings1", "test_36_readings_fit_the_default_rule[3"),
)
"""Tests over many cases that take seconds each: of these only some run in `make test`, all in `make test-slow`."""
QUICK = (
    "cbm-",
    "[cbm]",
    "dpl-text",
    "theory",
    "numerical-list",
    "mnlogic]",
    "kand-logic]",
    "robots]",
    "mnadd-evenodd]",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the many to `make test-slow`."""
    for item in items:
        if any(name in item.nodeid for name in ALIKE) and not any(name in item.nodeid for name in QUICK):
            item.add_marker(pytest.mark.slow)
