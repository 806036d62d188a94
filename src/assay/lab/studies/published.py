"""Published numbers that a study puts beside its own."""

import math
from dataclasses import dataclass

from assay.base import ConfigError, PlottedValue
from assay.lab.studies.study import PLAIN, Study
from assay.lab.studies.summary import RecordKey

KEYS = ("task", "model", "metric", "split", "challenge", "value", "deviation", "source")


@dataclass(frozen=True)
class Published:
    """A number that was published, with its deviation and its source where they are known."""

    value: float
    deviation: float = math.nan
    source: str = ""

    @property
    def text(self) -> str:
        """The number for a table.

        >>> Published(0.5, 0.02, "paper").text, Published(0.5).text
        ('0.50 ± 0.02 [paper]', '0.50')
        """
        deviation = "" if math.isnan(self.deviation) else f" ± {self.deviation:.2f}"
        return f"{self.value:.2f}{deviation}{f' [{self.source}]' if self.source else ''}"

    @property
    def estimate(self) -> PlottedValue:
        """The number for a chart; the interval is one deviation to each side."""
        return PlottedValue(self.value, self.value - self.deviation, self.value + self.deviation)


def published_numbers(study: Study) -> dict[RecordKey, Published]:
    """Return the published numbers by what they are about."""
    numbers = {}
    for entry in study.config.published:
        strangers = entry.keys() - set(KEYS)
        if strangers or not {"task", "model", "metric", "value"} <= entry.keys():
            raise ConfigError(f"published: expected task, model, metric and value, not {dict(entry)!r}")
        key = RecordKey(
            *(str(entry["task"]), str(entry.get("challenge", PLAIN)), str(entry["model"])),
            *(str(entry.get("split", "test")), str(entry["metric"])),
        )
        deviation = float(entry.get("deviation", math.nan))
        numbers[key] = Published(float(entry["value"]), deviation, str(entry.get("source", "")))
    return numbers
