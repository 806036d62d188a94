"""Only for `tests/models/core/test_perception.py` as it was: remove with its import."""

from tests.models.symbolic.tables import write_predictions as write_predictions
