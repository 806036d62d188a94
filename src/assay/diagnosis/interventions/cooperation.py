"""How far the probability of the predicted labels is expected to move when a concept is answered."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from assay.arrays import Array
from assay.diagnosis.interventions.answering import EVERY, Answerer
from assay.diagnosis.interventions.units import Units


def expected_changes(model: Answerer, units: Units, given: Mapping[int, Array]) -> Array:
    """Return for each unit the mean absolute change over its answers, as likely as the model thinks them."""
    before = model.answer(EVERY, given)
    codes, rows = before.label_codes, np.arange(len(before.labels[0]))
    likely = [spread[rows, codes[:, i]] for i, spread in enumerate(before.labels)]
    found = np.zeros((len(rows), len(units)))
    for unit, places in enumerate(units.members):
        for values in product(*(range(units.sizes[place]) for place in places)):
            chance = np.ones(len(rows))
            answered = dict(given)
            for place, code in zip(places, values, strict=True):
                chance = chance * before.concepts[place][:, code]
                answered[place] = np.broadcast_to(np.eye(units.sizes[place])[code], (len(rows), units.sizes[place]))
            after = model.answer(EVERY, answered).labels
            moved = [np.abs(spread[rows, codes[:, i]] - likely[i]) for i, spread in enumerate(after)]
            found[:, unit] += chance * np.mean(moved, axis=0)
    return found
