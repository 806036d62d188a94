"""What cars carry: box, golden vase, barrel, diamond, metal pot, oval vase, each on z = 0, 0.84 wide or less."""

from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.families.trains.drawing import materials
from assay.families.trains.drawing.materials import bevelled_box
from assay.render import Material, Mesh, cylinder, mesh_of, prism, revolve, torus, union

WIDE = 0.84
Pieces = tuple[tuple[Mesh, Material], ...]


@cache
def load(kind: str) -> Pieces:
    """Return the pieces of a load, each of one material."""
    return LOADS[kind]()


def _box() -> Pieces:
    """A crate: boards between darker battens."""
    side = 0.84
    core = bevelled_box(side - 0.08, side - 0.08, side - 0.04, 0.02).translate((0, 0, 0.02))
    bars = []
    for a in (-1, 1):
        for b in (-1, 1):
            reach = (side - 0.12) / 2
            bars.append(Manifold.cube((0.12, 0.12, side), True).translate((a * reach, b * reach, side / 2)))
            bars.append(Manifold.cube((side, 0.12, 0.12), True).translate((0, a * reach, side / 2 + b * reach)))
            bars.append(Manifold.cube((0.12, side, 0.12), True).translate((a * reach, 0, side / 2 + b * reach)))
    return (mesh_of("crate", core), materials.OAK), (mesh_of("crate-battens", union(*bars)), materials.WALNUT)


def _golden_vase() -> Pieces:
    """A slim vase with a foot, a round belly low down, a long neck and a flaring lip."""
    profile = [(0.0, 0.0), (0.24, 0.0), (0.24, 0.06), (0.14, 0.14), (0.26, 0.26), (0.35, 0.42), (0.33, 0.56)]
    profile += [(0.2, 0.72), (0.12, 0.86), (0.11, 0.98), (0.17, 1.1), (0.28, 1.2), (0.24, 1.22), (0.0, 1.0)]
    return ((mesh_of("golden-vase", revolve(_smooth(profile)), 50), materials.GOLD),)


def _barrel() -> Pieces:
    """Staves that bulge, and iron hoops around them."""
    heights = np.linspace(0, 1.02, 13)
    radii = 0.4 - 0.11 * (2 * heights / 1.02 - 1) ** 2
    staves = revolve([(0.0, 0.0), *zip(radii.tolist(), heights.tolist(), strict=True), (0.0, 1.02)])
    hoops = []
    for z in (0.1, 0.3, 0.66, 0.86):
        radius = 0.4 - 0.11 * (2 * (z + 0.03) / 1.02 - 1) ** 2 + 0.018
        hoops.append(cylinder(radius, 0.075) - cylinder(radius - 0.05, 0.075))
        hoops[-1] = hoops[-1].translate((0, 0, z))
    return (mesh_of("barrel", staves, 40), materials.WALNUT), (mesh_of("barrel-hoops", union(*hoops)), materials.STEEL)


def _diamond() -> Pieces:
    """A cut stone that stands on its point: a flat top, a girdle, a long point."""
    crown = prism(8, 0.42, 0.2, 0.27).translate((0, 0, 0.62))
    point = prism(8, 0.02, 0.62, 0.42)
    return ((mesh_of("diamond", crown + point, 5), materials.ICE),)


def _metal_pot() -> Pieces:
    """A pot with straight sides, a lid with a knob, and two handles."""
    pot = cylinder(0.38, 0.6, rim=0.05)
    rim = cylinder(0.41, 0.06).translate((0, 0, 0.55))
    lid = revolve([(0.0, 0.6), (0.38, 0.6), (0.36, 0.66), (0.2, 0.73), (0.0, 0.76)])
    knob = Manifold.sphere(0.09, 24).translate((0, 0, 0.83))
    handles = [torus(0.11, 0.035).translate((0, sign * 0.43, 0.44)) for sign in (-1, 1)]
    return ((mesh_of("metal-pot", union(pot, rim, lid, knob, *handles), 40), materials.SILVER),)


def _oval_vase() -> Pieces:
    """A vase like an egg, with a short wide neck."""
    angles = np.linspace(-0.46 * np.pi, 0.36 * np.pi, 22)
    egg = [(0.42 * float(np.cos(a)), 0.46 + 0.46 * float(np.sin(a))) for a in angles]
    lip = [(0.17, 0.92), (0.22, 1.0), (0.17, 1.01), (0.0, 0.9)]
    return ((mesh_of("oval-vase", revolve([(0.0, egg[0][1]), *egg, *lip]), 50), materials.PORCELAIN),)


def _smooth(profile: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the profile with its corners cut, twice; its ends on the axis stay."""
    for _ in range(2):
        points = np.array(profile)
        cut = np.stack([0.75 * points[:-1] + 0.25 * points[1:], 0.25 * points[:-1] + 0.75 * points[1:]], axis=1)
        profile = [profile[0], *map(tuple, cut.reshape(-1, 2)[1:-1].tolist()), profile[-1]]
    return profile


LOADS = {
    **{"box": _box, "golden_vase": _golden_vase, "barrel": _barrel},
    **{"diamond": _diamond, "metal_pot": _metal_pot, "oval_vase": _oval_vase},
}
