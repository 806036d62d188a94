"""Pictures of 3D scenes do not depend on the last bits of numbers, which differ between processors."""

import numpy as np
import pytest

from assay.config import Settings
from assay.data import recipe_from
from assay.data.shard import ShardWriter
from assay.render.engines import packed_scene

SCENES = {
    "trains": {"width": 96, "quality": "draft"},
    "sdd-oia": {"width": 64, "height": 48, "quality": "draft"},
    "clevr-small": {"width": 64, "height": 48, "quality": "draft"},
    "chess": {"width": 64, "quality": "draft"},
}


def pictures(task, settings, count=4):
    writer = ShardWriter(recipe_from(task, Settings({**settings, "splits": {"train": count}})))
    drawn = writer.task.render_all(writer.worlds(writer.recipe.splits[0], np.arange(count)))
    return [np.stack([getattr(one, kind) for one in drawn]) for kind in ("image", "instances", "depth")]


def noisy(settle):
    rng = np.random.default_rng(0)

    def settled(numbers):
        numbers = np.asarray(numbers, dtype=np.float64)
        return settle(numbers * (1 + rng.choice([-2.3e-16, 0, 2.3e-16], numbers.shape)))

    return settled


@pytest.mark.parametrize("task", SCENES)
def test_noise_in_the_last_bits_changes_no_pixel(task, monkeypatch):
    pytest.importorskip(f"assay.families.{'driving' if task == 'sdd-oia' else task.partition('-')[0]}")
    usual = pictures(task, SCENES[task])
    packed_scene._packed_meshes.clear()
    monkeypatch.setattr(packed_scene, "settle", noisy(packed_scene.settle))
    try:
        for one, other in zip(usual, pictures(task, SCENES[task]), strict=True):
            assert np.array_equal(one, other)
    finally:
        packed_scene._packed_meshes.clear()
