"""A suite of two small datasets of pixels, made once, and what is run on it in this process."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from assay.lab import find_suite, make_data, perform

SPLITS = {"train": 64, "valid": 16, "test": 40, "hard": 16, "pairs": 12}
SETTINGS = {"pixels": True, "k": 3, "formula": "a and b or c", "prop_in_distribution": 1.0}
CONFIG = {
    "name": "tiny",
    "about": "Two datasets of pixels.",
    "seeds": [0, 1],
    "training": {"epochs": 2, "device": "cpu", "learning_rate": 0.01, "batch_size": 16},
    "levels": {
        "labels": {"sees": ["pictures", "labels"], "about": "pictures and labels"},
        "concepts": {"sees": ["pictures", "labels", "concepts"], "about": "concepts too"},
        "rule": {"sees": ["pictures", "labels", "rule"], "about": "the rule, no concepts"},
        "symbols": {"sees": ["labels", "concepts", "test concepts"], "about": "true concepts"},
    },
    "models": {
        "blackbox": {"level": "labels"},
        "cbm": {"level": "concepts"},
        "dpl": {"level": "rule"},
        "tree": {"level": "symbols"},
        "popper": {"level": "symbols", "settings": {"popper": "nowhere"}},
    },
    "datasets": {
        "plain": {
            **{"family": "digits", "shows": "boundary", "about": "Three pixels.", "task": "mnlogic"},
            **{"settings": SETTINGS, "splits": SPLITS},
        },
        "noisy": {
            **{"family": "digits", "shows": "label noise", "about": "The same.", "of": "plain"},
            "annotate": {"label_noise": 0.2, "missing": 0.5},
        },
    },
}


@dataclass(frozen=True)
class Here:
    """Does steps in this process, so that no test waits for others to start."""

    count: int = 1

    def check(self, steps, output):
        pass

    def make(self, step, output, watch):
        return perform(step, output, watch=watch)

    def run(self, steps, output, poll):
        for step in steps:
            yield perform(step, output)


def suite_of(config):
    """Return the suite of a file with this content."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(dict(config), file, sort_keys=False)
        file.flush()
        return find_suite(file.name)


@pytest.fixture(scope="session")
def output(tmp_path_factory) -> Path:
    """Return the folder of the suite's data."""
    return tmp_path_factory.mktemp("suite")


@pytest.fixture(scope="session")
def suite(output):
    """Return the suite with the fingerprints of what it makes."""
    unpinned = suite_of(CONFIG)
    faults, config = make_data(unpinned, output, workers=Here()).faults, unpinned.to_dict()
    for name, fault in faults.items():
        config["datasets"][name]["fingerprint"] = fault.split("fingerprint ")[1].split(",")[0]
    return suite_of(config)
