"""How many readings of the concepts keep every training label right? One is the truth; every other is a shortcut.

`count_shortcuts` gives a `ReadingCount`: the number, and `readings`, which can be listed, drawn and planned with.
`count_with` asks another program for the same number.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.counting.backends import count_with as count_with
    from assay.counting.count import ReadingCount as ReadingCount
    from assay.counting.count import count_shortcuts as count_shortcuts
    from assay.counting.count import describe_unused as describe_unused
    from assay.counting.count import numeral as numeral
    from assay.counting.count import numerals as numerals
    from assay.counting.problem import Supervised as Supervised
    from assay.counting.readings import WorldReadings as WorldReadings
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
