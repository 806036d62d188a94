"""A machine that reads concepts off pictures: what annotation and interventions ask of it, whoever it is.

The machines themselves are in `assay.models.language`; who calls, the command line or a study, hands one over.
"""

from typing import Any, Protocol

from assay.base import Array
from assay.dataset.split_data import SplitData


class ConceptReader(Protocol):
    """A machine that says which values the concepts of a picture have."""

    @property
    def words(self) -> tuple[str, ...]:
        """The true-or-false concepts of its own that it is to look for instead of the dataset's; mostly none."""

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the probabilities of the values of each concept (examples x values); NaN where it says nothing."""

    def scores(self, data: SplitData) -> Array:
        """Return a score for each of its own words (examples x words); the higher, the more the picture shows it."""

    def about(self) -> dict[str, Any]:
        """Return who it is, for the record: the same for the same answers, without addresses, keys and paths."""

    def usage(self) -> dict[str, Any]:
        """Return what asking it took; nothing where that costs nothing."""
