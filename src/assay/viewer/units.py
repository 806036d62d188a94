"""The units of a run of discovered concepts: each with the concept value that it matches and its top pictures."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.base import Array, find_rows
from assay.runs import units_of
from assay.viewer.state import State


def units_page(state: State, key: str, run: str, pictures: Mapping[str, Array] | None = None) -> dict[str, Any] | None:
    """Return the units of a run, None for a run that has none; `pictures` are the rows that can be shown, by split."""
    served = state.shelf[key].run(run)
    content = units_of(served.folder) if served.live else None
    if content is None or content["split"] not in [split.name for split in state.shelf[key].splits]:
        return None
    shown = None if pictures is None else set(pictures[content["split"]].tolist())
    index = state.table(key, content["split"]).index
    units = []
    for unit in content["units"]:
        rows = find_rows(np.array(unit["rows"], dtype=np.int64), index).tolist()
        kept = [place for place, row in enumerate(rows) if row >= 0 and (shown is None or row in shown)]
        has = [unit["has"][place] for place in kept]
        units.append({**unit, "rows": [rows[place] for place in kept], "has": has})
    return {"split": content["split"], "units": units}
