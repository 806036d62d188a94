"""Every model that learns through the rule computes what it did, under most of its settings."""

from typing import Any

import pytest

from tests.models.pins import require_pins
from tests.models.steps import measure_network
from tests.models.tiles import batch, model_of

FURTHER = {"more": "left.shade + 2 * right.shade", "either": "xor(left.big, right.big)"}
CONNECTIVES = {
    "all": "iff(left.big, left.shade < right.shade) and implies(right.big, left.shade == 1 or right.shade == 2)",
    "few": "count(left.big, right.big, left.shade == 0, right.shade == 0) <= 2",
    "odd": "xor(left.big, right.big, left.shade >= 1)",
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "dpl": ("dpl", {}),
    "dpl, unshared": ("dpl", {"share": False, "entropy_weight": 0.8}),
    "dpl, objects": ("dpl", {"share": "objects", "concept_weight": 0.6, "supervised_share": 0.5}),
    "dpl, drawing": ("dpl", {"reconstruction_weight": 1.5, "entropy_weight": 0.1, "concept_weight": 0.2}),
    "dpl, own rule": ("dpl", {"rule": {"y": "left.big or right.big"}}),
    "dpl, further": ("dpl", {"further_labels": FURTHER}),
    "dpl, own rule, further": ("dpl", {"rule": {"total": "left.shade + left.big"}, "further_labels": FURTHER}),
    "dpl, switches": ("dpl", {"world": "switches", "entropy_weight": 0.5}),
    "ltn, switches": ("ltn", {"world": "switches", "exists": "p-mean"}),
    "ltn, lamps": ("ltn", {"world": "lamps", "conjunction": "lukasiewicz", "disjunction": "goedel"}),
    "bears, lamps": ("bears", {"world": "lamps", "members": 2, "diversity": 3.0}),
    "bears": ("bears", {"members": 3}),
    "bears, diverse": ("bears", {"members": 2, "diversity": 1.4, "concept_weight": 0.3, "entropy_weight": 0.2}),
    "bears, further": ("bears", {"members": 2, "further_labels": FURTHER}),
    "ltn": ("ltn", {}),
    "ltn, further": ("ltn", {"further_labels": CONNECTIVES, "concept_weight": 0.4, "p": 3.0}),
    "ltn, rising p": ("ltn", {"last_p": 6.0, "exists": "or", "entropy_weight": 0.3}),
    "ltn, own rule": ("ltn", {"rule": {"y": "left.big or right.big"}, "exists": "p-mean", "p": 4.0}),
    **{
        f"ltn, {implication}": ("ltn", {"implication": implication, "further_labels": CONNECTIVES})
        for implication in ("goedel", "lukasiewicz", "goguen", "kleene-dienes")
    },
    **{
        f"ltn, {both}, {either}, {exists}": (
            "ltn",
            {"conjunction": both, "disjunction": either, "exists": exists, "further_labels": CONNECTIVES},
        )
        for both, either, exists in (
            ("goedel", "product", "or"),
            ("goedel", "lukasiewicz", "auto"),
            ("lukasiewicz", "goedel", "p-mean"),
            ("lukasiewicz", "lukasiewicz", "or"),
            ("product", "goedel", "or"),
            ("goedel", "goedel", "or"),
        )
    },
}


def measure(name: str) -> Any:
    """Return what a model computes on two tiles; further labels follow from concepts, of which none may be missing."""
    model, settings = CASES[name]
    given = dict(settings)
    world = given.pop("world", "tiles")
    return measure_network(model_of(model, given, world), batch(world, missing="further_labels" not in given))


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_it_did(name: str) -> None:
    require_pins(__file__, name, measure(name))
