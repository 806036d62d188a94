"""A reasoning shortcut: a wrong reading of the digits that keeps every training sum, found by the diagnosis."""

import tempfile
from pathlib import Path

from assay import Dataset, Recipe, diagnose, gather, make
from assay.config import Settings
from assay.testing import given_reading, oracle

with tempfile.TemporaryDirectory() as folder:
    make(Recipe("mnadd-evenodd", Settings(), train=400), Path(folder) / "data")
    dataset = Dataset.open(Path(folder) / "data")
    test, ood, train = (dataset.symbols(name) for name in ("test", "ood", "train"))

    # training has 0+6, 2+8, 4+6, 4+8 and odd pairs: with one added to 0, 2, 4 and taken from 6, 8, no sum changes
    wrong = {"digit": {0: 1, 2: 3, 4: 5, 6: 5, 8: 7}}
    shortcut = {split.name: gather(split, given_reading(split, wrong)) for split in (test, ood)}
    diagnosis = diagnose(shortcut, training=train.concepts)
    print(diagnosis.text)
    assert diagnosis.verdict == "shortcut" and diagnosis.agreement == 1.0

    truth = {split.name: gather(split, oracle(split)) for split in (test, ood)}
    assert diagnose(truth, training=train.concepts).verdict == "sound"
