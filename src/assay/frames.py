"""Data frames, for those who have pandas."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd


def to_frame(columns: Mapping[str, Sequence[Any]]) -> "pd.DataFrame":
    """Return columns as a data frame."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtra("a data frame needs pandas: pip install pandas") from None
    return pandas.DataFrame(dict(columns))
