"""Every concept model computes what it did, under most of its settings."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from assay.models import Alignment
from assay.models.concept.alignment import _fit, _head_inputs, _row, effects, limits_of, linear_of, set_weights
from tests.models.pins import require_pins, summary
from tests.models.steps import measure_network
from tests.models.tiles import batch, model_of, tiles

MEASURED: dict[str, tuple[str, dict[str, Any]]] = {
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
    "cbm, and": ("cbm", {"head": "and", "world": "lamps"}),
    "cbm, switches": ("cbm", {"world": "switches", "mode": "independent", "missing": "frequency"}),
    "cem, switches": ("cem", {"world": "switches", "width": 2}),
    "probcbm, switches": ("probcbm", {"world": "switches", "samples": 3}),
    "dcr, switches": ("dcr", {"world": "switches", "width": 2, "temperature": 2.0}),
    "dcr, lamps": ("dcr", {"world": "lamps", "width": 2, "logic": "product", "temperature": 1.0}),
    "ecbm, lamps": ("ecbm", {"world": "lamps", "width": 5, "features": 2, "reads": "picture"}),
    "semantic, switches": ("semantic", {"world": "switches", "violation_weight": 1.0}),
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


def measure_model(model: str, settings: Mapping[str, Any]) -> Any:
    """Return what a model computes, on two tiles or in another world."""
    given = dict(settings)
    whole, brief = (bool(given.pop(key, False)) for key in ("whole", "brief"))
    world = given.pop("world", "tiles")
    network = model_of(model, given, world, whole)
    facts = measure_network(network, batch(world), brief=brief)
    return {
        **facts,
        "linear": getattr(network, "linear", None) is not None,
        "taught": network.about().get("constraints"),
    }


def aligned(settings: Mapping[str, Any]) -> Any:
    """Return the bounds on the weights of a linear label head, and the weights that are fitted within them."""
    alignment = Alignment(**settings)
    model, data = model_of("cbm", {}), tiles()["train"]
    limits = limits_of(alignment, model)
    inputs = _head_inputs(model, data, alignment.concepts)
    fits = [_fit(inputs, data, place, model, alignment, limits) for place in range(2)]
    before = effects(model)
    set_weights(model, fits)
    layer = linear_of(model)
    return {
        "limits": np.nan_to_num(limits, posinf=99, neginf=-99).tolist(),
        "inputs": summary(inputs),
        "fits": [[list(weights.shape), *summary(weights, base)] for weights, base in fits],
        "layer": summary(layer.weight, layer.bias),
        "before": list(before.items()),
        "after": summary(list(effects(model).values())),
        "row": _row("aligned", model, data, tiles()["test"]).to_dict(),
    }


def rules(settings: Mapping[str, Any]) -> Any:
    """Return the rules that a reasoner of large weights writes for examples."""
    model, data = model_of("dcr", settings, seed=1), tiles()["train"]
    with torch.no_grad():
        for part in model.parameters():
            part *= 6
    formulas = {str(key): str(formula) for key, formula in model.learned_formulas(data).items()}
    return {"rules": [str(rule) for rule in model.rules(data)], "formulas": formulas}


ALIGNED = {
    "aligned": {"zero": ["left.big"], "positive": ["right.shade=2"], "penalty": 0.05},
    "aligned, negative": {"negative": ["left.shade"], "labels": ["total"], "penalty": 0.02},
    "aligned, bounds": {"bounds": {"right.big": (-0.5, 0.25)}, "positive": ["right.big"], "penalty": 0.1},
    "aligned, predicted": {"zero": ["right.shade=1"], "concepts": "predicted", "penalty": 0.01},
}
RULES = {
    "rules": {"width": 3, "temperature": 1.2},
    "rules, product": {"width": 4, "logic": "product", "temperature": 1.1},
}
CASES: dict[str, Callable[[], Any]] = {
    **{name: partial(measure_model, *case) for name, case in MEASURED.items()},
    **{name: partial(aligned, case) for name, case in ALIGNED.items()},
    **{name: partial(rules, case) for name, case in RULES.items()},
}


def measure(name: str) -> Any:
    """Return what a case gives."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_it_did(name: str) -> None:
    require_pins(__file__, name, measure(name))
