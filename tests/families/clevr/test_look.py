"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.tasks import TASKS
from tests.families.looks import require_look, scene_looks

LOOKS = scene_looks(TASKS["clevr"](), "scenes", (0, 1, 2, 3))


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("clevr", name, LOOKS[name](), 2e-3)
