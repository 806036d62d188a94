"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.families.chess.drawing import pieces, room
from assay.families.chess.drawing.textures import board_texture, floor_texture, table_texture
from assay.render import Material
from assay.tasks import TASKS
from tests.families.looks import measure_model, measure_picture, require_look, scene_looks

PLAIN = Material()
LOOKS = {
    **{f"piece {kind}": lambda kind=kind: measure_model([(pieces.piece(kind), PLAIN)]) for kind in pieces.KINDS},
    "table": lambda: measure_model([(room.table_mesh(), PLAIN)]),
    "chair": lambda: measure_model([(room.chair_mesh(), PLAIN)]),
    **{
        f"board {wood}": lambda wood=wood: measure_picture(board_texture(wood, True, room.SIDE).pixels)
        for wood in range(3)
    },
    "floor": lambda: measure_picture(floor_texture().pixels),
    "table top": lambda: measure_picture(table_texture().pixels),
    **scene_looks(TASKS["valued"](), "scenes"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("chess", name, LOOKS[name](), 2e-3)
