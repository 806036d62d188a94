"""Rails: two steel bars on wooden sleepers, longer than any train."""

from functools import cache

import numpy as np

from assay.families.trains.drawing import materials
from assay.families.trains.drawing.materials import bevelled_box
from assay.render.scene import Material, Mesh
from assay.render.solids import mesh_of, union

GAUGE = 1.42
"""From the middle of one rail to that of the other."""
STEP = 0.8
Pieces = tuple[tuple[Mesh, Material], ...]


@cache
def rails(length: int) -> Pieces:
    """Return rails of a length in sleepers, their upper side at z = 0.5."""
    long = length * STEP
    bars = union(*(bevelled_box(long, 0.12, 0.16, 0.02).translate((0, sign * GAUGE / 2, 0.34)) for sign in (-1, 1)))
    places = (np.arange(length) - (length - 1) / 2) * STEP
    sleepers = union(*(bevelled_box(0.3, 2.3, 0.16, 0.03).translate((float(x), 0, 0.2)) for x in places))
    return (
        (mesh_of(f"rails-{length}", bars), materials.STEEL),
        (mesh_of(f"sleepers-{length}", sleepers), materials.SLEEPER),
    )
