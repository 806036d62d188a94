"""The numbers that a setting takes at its limits, and those just beyond."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assay.config import Config, Settings, validate
from assay.errors import ConfigError

Limits = Mapping[str, Sequence[tuple[Any, Any]]]
"""For each setting pairs of what is still taken, and what is refused."""
POSITIVE, COUNT, SHARE = ((1e-9, 0),), ((1, 0),), ((0, -1e-9), (1, 1.001))
NOT_NEGATIVE = ((0, -1e-9),)


def require_limits(config: type[Config], limits: Limits) -> None:
    """Fail where settings take more or less than they should."""
    for key, pairs in limits.items():
        for taken, refused in pairs:
            assert getattr(validate(config, Settings({key: taken})), key) == taken
            with pytest.raises(ConfigError, match=key):
                validate(config, Settings({key: refused}))
