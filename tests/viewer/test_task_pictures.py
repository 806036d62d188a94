"""Tasks that are not on disk are shown by the first worlds of their first split."""

import base64

import numpy as np

from assay.render import encode_png
from assay.tasks import TASKS
from assay.viewer.gallery import EXAMPLES, task_page, task_picture


def decoded(address: str) -> bytes:
    return base64.b64decode(address.partition(",")[2])


def test_a_task_is_shown_by_its_first_training_worlds():
    task = TASKS["mnlogic"]()
    worlds = task.worlds_in(task.splits()[0], 0).worlds(np.arange(EXAMPLES))
    pictures = [encode_png(task.render(world).image) for world in worlds]
    assert task.splits()[0].name == "train" and decoded(task_picture("mnlogic")["image"]) == pictures[0]
    page = task_page("mnlogic")
    assert page["splits"] == [{"name": split.name, "size": split.size} for split in task.splits()]
    assert [decoded(example["image"]) for example in page["examples"]] == pictures
