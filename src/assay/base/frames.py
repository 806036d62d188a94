"""Data frames, for those who have pandas."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.base.distribution import import_extra

if TYPE_CHECKING:
    import pandas as pd


def to_frame(columns: Mapping[str, Sequence[Any]]) -> "pd.DataFrame":
    """Return columns as a data frame."""
    frame: pd.DataFrame = import_extra("pandas", "a data frame").DataFrame(dict(columns))
    return frame
