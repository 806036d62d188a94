"""A model is found under the name that it is registered by, and no class name under `models` has two meanings."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from assay.models import BACKBONES, MODELS
from tests.source_trees import FILES, PACKAGE, tree_of

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
CLASSES = {"rules": "RuleList"}
"""Where the class has a fuller name than the registry."""
TWICE = {"Batch", "Bias", "Clause", "Cover", "Node", "Pool", "Problem", "Term", "Told", "Writer"}
"""Names of `symbolic/ilp` that other modules have too; each that is renamed there leaves this list."""


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_model_lies_in_a_module_and_a_class_of_its_name(name):
    made = MODELS[name]
    *_, folder, module = made.__module__.split(".")
    assert name.replace("-", "_") in (module, folder if module == "learner" else ""), made.__module__
    assert made.__name__ == CLASSES.get(name, made.__name__)
    assert name in CLASSES or made.__name__.lower() == name.replace("-", "")


def test_the_page_lists_the_module_and_class_of_every_model():
    row = r"^\| \[`([\w-]+)`\]\(models/[\w-]+\.md\) \| [^|]+ \| `([\w.]+)` \| `(\w+)` \|"
    rows = re.findall(row, PAGE.read_text(), re.MULTILINE)
    wanted = {name: MODELS.entry(name).target for name in MODELS}
    assert {name: f"assay.models.{module}:{made}" for name, module, made in rows} == wanted
    assert len(rows) == len(wanted)


@pytest.mark.parametrize("name", sorted(BACKBONES))
def test_a_backbone_is_built_by_a_function_of_its_name(name):
    assert BACKBONES.entry(name).target.partition(":")[2] == name.replace("-", "_")


def test_no_class_under_models_shares_its_name_with_another():
    places = defaultdict(list)
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    double = {name: found for name, found in places.items() if len(found) > 1}
    ours = {name for name, found in double.items() if any(path.startswith("models/") for path in found)}
    assert not ours - TWICE, {name: double[name] for name in ours - TWICE}
