"""Every concept model computes what it did, under most of its settings."""

from typing import Any

import pytest

from tests.models.pins import require_pins
from tests.models.steps import measure_network
from tests.models.tiles import batch, model_of

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "blackbox": ("blackbox", {}),
    "blackbox, conv": ("blackbox", {"backbone": "conv-pool", "dropout": 0.3}),
    "embedding": ("embedding", {"hidden": [12, 8]}),
    "embedding, whole": ("embedding", {"parts": False, "backbone": "mlp-wide"}),
    "cbm": ("cbm", {}),
    "cbm, conv": ("cbm", {"backbone": "conv-stride"}),
    "cbm, whole": ("cbm", {"whole": True, "concept_weight": 0.3}),
    "cbm, objects": ("cbm", {"share": "objects", "dropout": 0.4}),
    "cbm, unshared": ("cbm", {"share": False, "hard": True}),
    "cbm, sequential": ("cbm", {"mode": "sequential", "head": "mlp", "hidden": [9, 7]}),
    "cbm, independent": ("cbm", {"mode": "independent", "supervised_concepts": ["left.shade", "right.big"]}),
    "cbm, independent, frequency": ("cbm", {"mode": "independent", "missing": "frequency", "head": "log-linear"}),
    "cbm, log-linear": ("cbm", {"head": "log-linear", "supervised_share": 0.4}),
    "cbm, logits": ("cbm", {"reads": "logits", "softmax_twice": True}),
    "cbm, rule": ("cbm", {"head": "rule", "supervised_values": [1, True]}),
    "cbm, rule, sequential": ("cbm", {"head": "rule", "mode": "sequential"}),
    "semantic": ("semantic", {}),
    "semantic, violations": ("semantic", {"semantic_weight": 0.7, "violation_weight": 1.3, "head": "mlp"}),
    "semantic, sequential": ("semantic", {"mode": "sequential", "constraints": ["dark"], "semantic_weight": 2.0}),
    "semantic, independent": ("semantic", {"mode": "independent", "semantic_weight": 0.0, "violation_weight": 0.5}),
    "cem": ("cem", {}),
    "cem, wide": ("cem", {"width": 3, "intervention_chance": 0.8, "hard": True, "whole": True}),
    "cem, batch": ("cem", {"intervened_by": "batch", "concept_weight": 0.2, "share": False}),
    "probcbm": ("probcbm", {}),
    "probcbm, joint": ("probcbm", {"mode": "joint", "latent": 5, "width": 3, "label_width": 6, "samples": 4}),
    "probcbm, means": ("probcbm", {"samples": 0, "intervention_chance": 0.9, "spread_weight": 0.1, "hard": True}),
    "probcbm, joint, supervised": ("probcbm", {"mode": "joint", "intervention_chance": 1.0, "concept_weight": 0.4}),
    "ecbm": ("ecbm", {"steps": 5}),
    "ecbm, usual steps": ("ecbm", {"width": 6, "features": 2, "brief": True}),
    "ecbm, picture": (
        "ecbm",
        {"reads": "picture", "begin": "picture", "perturbed": 0.8, "steps": 3, "step": 0.3, "label_weight": 0.4},
    ),
    "ecbm, global": (
        "ecbm",
        {"told": "global", "perturbed": 0.9, "perturbed_by": "batch", "steps": 3, "global_weight": 2.5, "hard": True},
    ),
    "dcr": ("dcr", {}),
    "dcr, product": ("dcr", {"logic": "product", "width": 4, "temperature": 1.5, "intervention_chance": 0.7}),
    "dcr, hard": ("dcr", {"hard": True, "concept_weight": 0.3, "temperature": 3.0, "whole": True}),
}


def measure(name: str) -> Any:
    """Return what a model computes on two tiles."""
    model, settings = CASES[name]
    given = dict(settings)
    whole, brief = (bool(given.pop(key, False)) for key in ("whole", "brief"))
    return measure_network(model_of(model, given, whole), batch(), brief=brief)


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_it_did(name: str) -> None:
    require_pins(__file__, name, measure(name))
