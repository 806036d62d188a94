"""The law of every model with a rule inside: certain true concepts give the rule's labels, on every task."""

import numpy as np
import pytest
import torch

from assay.base import ConfigError, KnowledgeError, Settings
from assay.models import MODELS
from assay.render import Layout
from assay.tasks import TASKS

PICTURE = Layout(8, 8, 1)
INSIDE = {"dpl": {}, "ltn": {}, "bears": {"members": 2}, "cbm": {"head": "rule"}, "semantic": {"head": "rule"}}
ROWS = 60


def worlds_of(task):
    """Return the codes of worlds of every split, as the task deals them."""
    codes = []
    for split in task.splits():
        source = task.source_for(split, 0)
        count = min(split.size, ROWS)
        codes += [world.codes for world in source.worlds(np.arange(count))]
    return np.unique(np.array(codes), axis=0)


@pytest.fixture(scope="module")
def dealt():
    return {}


ALIKE = {"bears", "semantic"}
"""Their labels are those of `dpl` and of the head `rule`."""
LONG = {"chess", "chess-sane", "valued", "clevr-many", "raven-small", "raven-biased", "bongard-small"}
"""Their diagrams take up to minutes, or another task has the same rule: `chess-flat`, `clevr-small`, `raven`, ..."""


@pytest.mark.parametrize("model", [pytest.param(m, marks=pytest.mark.slow if m in ALIKE else ()) for m in INSIDE])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in sorted(TASKS)])
def test_certain_true_concepts_give_the_labels_of_the_rule(model, name, dealt):
    if name not in dealt:
        task = TASKS[name](**TASKS[name].trial)
        dealt[name] = task.knowledge, worlds_of(task)
    knowledge, codes = dealt[name]
    settings = Settings({"backbone": "mlp", "device": "cpu", **INSIDE[model]})
    try:
        built = MODELS[model](knowledge, PICTURE, settings)
    except (ConfigError, KnowledgeError) as error:
        pytest.skip(f"{model} refuses {name}: {error}")
    concepts = [torch.eye(size)[codes[:, place]] for place, size in enumerate(knowledge.space.sizes)]
    with torch.no_grad():
        labels = built.labels_from_concepts(concepts)
    expected = knowledge.labels_of(codes)
    for place, label in enumerate(knowledge.labels):
        said = labels[place].argmax(dim=1).numpy()
        right = (said == expected[:, place]).mean()
        assert right == 1, f"{model} on {name}: {label.name} is right in {right:.2f} of {len(codes)} worlds"
