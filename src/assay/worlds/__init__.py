"""Worlds (concepts and style), splits, and how the worlds of a split are sampled.

A `Split` is a name, a size and a formula; a `Source` gives its `World`s, any one by its number.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.worlds.hard import HardSource as HardSource
    from assay.worlds.object_counts import object_count_source as object_count_source
    from assay.worlds.source import DrawStyle as DrawStyle
    from assay.worlds.source import ProgramSource as ProgramSource
    from assay.worlds.source import SeededSource as SeededSource
    from assay.worlds.source import Source as Source
    from assay.worlds.source import WorldSource as WorldSource
    from assay.worlds.source import labels_of as labels_of
    from assay.worlds.world import CONTENT as CONTENT
    from assay.worlds.world import HARD as HARD
    from assay.worlds.world import LUCK as LUCK
    from assay.worlds.world import SOURCES as SOURCES
    from assay.worlds.world import Balance as Balance
    from assay.worlds.world import Quota as Quota
    from assay.worlds.world import Split as Split
    from assay.worlds.world import Style as Style
    from assay.worlds.world import World as World
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
