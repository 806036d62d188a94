"""The verdict on a run, in the words of `assay diagnose`, and how it reads each concept."""

from typing import Any

from assay.diagnosis.findings import MEANINGS
from assay.diagnosis.runs import diagnose_run
from assay.runs.folder import RunFolder
from assay.viewer.state import State


def verdict_of(state: State, key: str, run: str) -> dict[str, Any]:
    """Return the verdict on a run with its findings and notes, and the state of each concept on the first split."""
    served = state.shelf[key]
    diagnosis = diagnose_run(RunFolder(served.run(run).folder), served.dataset)
    split, concepts = next(iter(diagnosis.concepts.items()))
    return {
        "verdict": diagnosis.verdict,
        "meaning": MEANINGS[diagnosis.verdict],
        "findings": [
            {"kind": finding.kind, "meaning": MEANINGS[finding.kind], "text": finding.text}
            for finding in diagnosis.findings
        ],
        "notes": list(diagnosis.notes),
        "split": split,
        "concepts": [
            {"name": c.concept, "state": c.state, "right": c.right, "answered": c.answered, "used": c.used}
            for c in concepts
        ],
    }
