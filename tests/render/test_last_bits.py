"""Pictures of 3D scenes do not depend on the last bits of numbers, which differ between processors."""

from dataclasses import replace

import numpy as np
import pytest

from assay.render import shoot
from assay.tasks import TASKS


@pytest.mark.parametrize(
    ("task", "settings"),
    [("trains", {"width": 96}), ("sdd-oia", {"width": 64, "height": 48}), ("chess", {"width": 64})],
)
def test_noise_in_the_last_bits_changes_no_pixel(task, settings):
    pytest.importorskip(f"assay.families.{'driving' if task == 'sdd-oia' else task}")
    made, rng = TASKS[task](**settings), np.random.default_rng(0)

    def noisy(numbers):
        return numbers * (1 + rng.choice([-2.3e-16, 0, 2.3e-16], np.shape(numbers)))

    for world in made.source_for(made.splits()[0], 0).worlds(np.arange(3)):
        usual = made.scene(world)
        known = {
            mesh: replace(mesh, vertices=noisy(mesh.vertices), normals=noisy(mesh.normals))
            for mesh in {instance.mesh for instance in usual.instances}
        }
        instances = tuple(replace(i, mesh=known[i.mesh], matrix=noisy(i.matrix)) for i in usual.instances)
        camera = replace(usual.camera, eye=tuple(noisy(np.array(usual.camera.eye))))
        shots = [shoot(s, quality="draft") for s in (usual, replace(usual, instances=instances, camera=camera))]
        assert np.array_equal(shots[0].image, shots[1].image) and np.array_equal(shots[0].things, shots[1].things)
