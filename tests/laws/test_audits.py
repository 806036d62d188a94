"""Every check of the audit on every irregular dataset: it ends with an outcome and a sentence, or one line says why not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.auditing import CHECKS, AuditedDataset, AuditedSplit, audit
from assay.base import AssayError, rng_for
from assay.logic import Concept, ConceptSpace, Knowledge
from assay.render import encode_png

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("größe", (0, 1, 2)), Concept("hue", ("red", "blue"))))
RULE = Knowledge.of(SPACE, {"y": "a", "s": "(größe + a) % 3"})
OUTCOMES = {"pass", "note", "fail", "not checked", "nothing to check"}


def split(name, rows, pictures=True, **more):
    rng = rng_for(0, "irregular", name, rows)
    codes = rng.integers(0, SPACE.sizes, (rows, 3))
    shown = [encode_png(rng.integers(0, 255, (5 + row % 3, 9, 3), dtype=np.uint8)) for row in range(rows)]
    extras = {
        "pictures": shown if pictures else (), "texts": [f"text {row}" for row in range(rows)],
        "nuisances": {"size": rng.random(rows), "gaps": np.where(rng.random(rows) < 0.5, np.nan, 1.0)},
        "ingredients": [(f"{name}{row}",) * (row % 3) for row in range(rows)],
    }  # fmt: skip
    return AuditedSplit(name, codes, RULE.labels_of(codes), **{**extras, **more})


def changed(part, concepts=None, labels=None):
    return replace(
        part,
        concepts=part.concepts if concepts is None else np.broadcast_to(concepts, part.concepts.shape).copy(),
        labels=part.labels if labels is None else np.broadcast_to(labels, part.labels.shape).copy(),
    )


TRAIN, TEST = split("train", 130), split("test", 110)
GREY = [encode_png(rng_for(0, "grey", row).integers(0, 255, (6, 9), dtype=np.uint8)) for row in range(50)]
GAPS = np.where(rng_for(0, "gaps").random(TRAIN.concepts.shape) < 0.3, -1, TRAIN.concepts)
KINDS = {
    "regular": (TRAIN, TEST),
    "one row": (split("train", 1), split("test", 1)),
    "unlike sizes": (split("train", 130), split("test", 1), split("ood", 101)),
    "no training": (TEST,),
    "training only": (TRAIN,),
    "gaps": (changed(TRAIN, GAPS), TEST),
    "no concept known": (changed(TRAIN, -1), changed(TEST, -1)),
    "one world": (changed(TRAIN, 0, 0), changed(TEST, 0, 0)),
    "labels of one value": (changed(TRAIN, labels=[1, 2]), TEST),
    "no pictures": (split("train", 130, False), split("test", 110, False)),
    "fewer pictures than rows": (
        replace(TRAIN, pictures=TRAIN.pictures[:60]),
        replace(TEST, pictures=TEST.pictures[:1]),
    ),
    "some pictures grey": (replace(TRAIN, pictures=[*GREY, *TRAIN.pictures[50:]]), TEST),
    "bare": tuple(AuditedSplit(part.name, part.concepts, part.labels) for part in (TRAIN, TEST)),
    "extras in one split only": (TRAIN, AuditedSplit("test", TEST.concepts, TEST.labels)),
}


BY_RULE = ("labels", "complete", "splits", "free", "ceilings")
"""The checks that ask for the rule."""
CASES = [
    (check, kind, ruled) for check in CHECKS for kind in KINDS for ruled in (True, False)[: 1 + (check in BY_RULE)]
]


@pytest.mark.parametrize(("check", "kind", "ruled"), CASES)
def test_every_check_ends_with_an_outcome(check, kind, ruled):
    values = {label.name: label.values for label in RULE.labels}
    parts = {part.name: part for part in KINDS[kind]}
    data = AuditedDataset("odd", SPACE, values, parts, RULE if ruled else None)
    try:
        told = audit(data, [check])
    except AssayError as error:
        assert str(error) and "\n" not in str(error)
        return
    (found,) = told.results
    assert found.check == check and found.status in OUTCOMES
    assert found.text and "\n" not in found.text and "nan" not in found.text.split()
    assert json.loads(json.dumps(told.to_dict()))["passed"] == (found.status != "fail")
    if kind == "regular" and ruled:
        assert found.status != "fail"
