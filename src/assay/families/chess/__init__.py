"""Chess positions under the rules of the game, on a board and as diagrams (VALUED)."""

from assay.exchange import EXPORTS
from assay.tasks import TASKS

TASKS.add(
    "chess", "chess positions on a board under 15 rules: has White more pieces?", "assay.families.chess.task:Chess"
)
TASKS.add("chess-sane", "chess positions, half of which break a rule", "assay.families.chess.task:ChessSane")
TASKS.preset(
    "chess-flat",
    "chess positions as flat diagrams",
    "chess",
    "Does White have more pieces? 64 squares under 15 rules, on a diagram.",
    trial={"width": 64},
    seconds=0.01,
    view="flat",
    width=256,
)
TASKS.preset(
    "valued",
    "chess positions as they occur in games, to be read under 15 rules",
    "chess",
    "VALUED: positions as they come in games, the board to be read under 15 rules.",
    balance="world",
    sides=["a1"],
    first=0,
    per_game=8,
)
EXPORTS.add(
    "valued", "images, boards, boxes and FEN of chess, as VALUED has them", "assay.families.chess.export:write_valued"
)
