"""The units of a run of discovered concepts, as those see them who only read."""

import json
from pathlib import Path
from typing import Any

from assay.base import DataError

UNITS = "units.json"
"""The split whose pictures are shown, and each unit with the concept value that it matches and its top examples."""
KEYS = {"unit", "name", "value", "matched", "direction", "f1", "share", "rows", "has"}


def units_of(folder: Path) -> dict[str, Any] | None:
    """Return the units of a run's folder, None for a run that has none."""
    path = folder / UNITS
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if all(unit.keys() >= KEYS for unit in content["units"]) and isinstance(content["split"], str):
            return {"split": content["split"], "units": content["units"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise DataError(f"{UNITS} of {folder.name!r} cannot be read")
