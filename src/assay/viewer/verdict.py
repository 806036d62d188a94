"""The verdict on a run, in the words of `assay diagnose`, and how it reads each concept."""

from typing import Any

from assay.diagnosis.findings import MEANINGS
from assay.diagnosis.runs import diagnose_run
from assay.runs import RunFolder
from assay.viewer.state import State


def verdict_of(state: State, key: str, run: str) -> dict[str, Any]:
    """Return the verdict on a run with its findings and notes, and the state of each concept on the first split."""
    held = state.shelf[key]
    found = diagnose_run(RunFolder(held.run(run).folder), held.dataset)
    split, concepts = next(iter(found.concepts.items()))
    return {
        "verdict": found.verdict,
        "meaning": MEANINGS[found.verdict],
        "findings": [{"kind": one.kind, "meaning": MEANINGS[one.kind], "text": one.text} for one in found.findings],
        "notes": list(found.notes),
        "split": split,
        "concepts": [
            {"name": c.concept, "state": c.state, "right": c.right, "answered": c.answered, "used": c.used}
            for c in concepts
        ],
    }
