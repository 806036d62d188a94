"""Keeps what the models of the demo predicted, and writes its nine verdicts, and one as an example, into pages.

`python -m benchmarks.demo DEMO docs/diagnosis.md README.md` reads what `assay demo -o DEMO` wrote. Tests repeat
each verdict on the kept predictions, and check by hand that it is true; nothing is trained for that.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.base import Array, Codes, find_rows
from assay.contracts import PAIR_CONCEPT, PAIRS, read_predictions
from assay.diagnosis import Diagnosis, diagnose
from assay.metrics import Evidence, gather_from
from benchmarks.claims.diagnosing import effects_of
from benchmarks.pages import write_between
from benchmarks.trained.kept import Case, kept_cases, packed, read_case, write_case

if TYPE_CHECKING:
    from assay.runs import RunFolder

FOLDER = Path(__file__).parent / "records" / "demo"
BEGIN, END = "<!-- demo: begin -->", "<!-- demo: end -->"
EXAMPLE, EXAMPLE_BEGIN, EXAMPLE_END = "dpl-mnadd-evenodd", "<!-- example: begin -->", "<!-- example: end -->"
WIDTH = 92


def case_of(run: "RunFolder") -> Case:
    """Return what a run predicted, beside what is true."""
    dataset = run.dataset()
    knowledge, predictions = dataset.knowledge, run.all_predictions(dataset.knowledge)
    evidence = {split: gather_from(dataset, found) for split, found in predictions.items() if split != PAIRS}
    arrays: dict[str, Array] = {"training": small(dataset.symbols("train", styles=False).concepts)}
    for split, rows in evidence.items():
        arrays |= arrays_of(split, rows)
    if run.predictions(PAIRS).exists() and dataset.pairs is not None and dataset.pairs["split"] == "test":
        changed = read_predictions(run.predictions(PAIRS), knowledge)
        symbols, after = dataset.symbols(PAIRS, styles=False), gather_from(dataset, changed)
        names = symbols.table[PAIR_CONCEPT].to_pylist()
        arrays |= {
            f"{PAIRS}.rows": find_rows(symbols.pair_rows, predictions["test"].index).astype(np.int32),
            f"{PAIRS}.columns": small(np.array([knowledge.space.place(name) for name in names])),
            **arrays_of(PAIRS, after.take(np.argsort(changed.index))),
        }
    header: dict[str, Any] = {
        "name": run.title.partition(",")[0].replace(" on ", "-"),
        "title": run.title,
        "knowledge": knowledge.to_dict(),
        "splits": list(evidence),
        "answered": [part is not None for part in next(iter(evidence.values())).concept_probabilities],
    }
    return Case(header, arrays)


def arrays_of(split: str, rows: Evidence) -> dict[str, Array]:
    """Return the arrays of a split."""
    parts = {"labels": small(rows.labels), "concepts": small(rows.concepts)}
    masses = {"label_mass": packed(rows.label_probabilities), "concept_mass": packed(rows.concept_probabilities)}
    return {f"{split}.{name}": part for name, part in (parts | masses).items() if part is not None}


def small(codes: Codes) -> Array:
    """Return codes as small numbers."""
    return codes.astype(np.int16)


def diagnosed(case: Case) -> Diagnosis:
    """Return the diagnosis of kept predictions."""
    effects = None if case.pairs is None else effects_of(case.pairs)
    return diagnose(case.evidence, case.training, effects=effects)


def demo_cases() -> Iterator[Case]:
    """Yield the kept runs of the demo."""
    yield from map(read_case, kept_cases(FOLDER))


def markdown(found: Mapping[str, Diagnosis]) -> str:
    """Return the verdicts as Markdown."""
    parts = []
    for title, diagnosis in found.items():
        parts.append(
            "\n".join([f"**{title}**", "", *(f"> {text}\n>" for text in diagnosis.sentences)]).removesuffix("\n>")
        )
    return "\n\n".join(parts)


def example(diagnosis: Diagnosis) -> str:
    """Return a diagnosis as it is printed, in a block of code."""
    lines = [line for text in diagnosis.sentences for line in wrap(text, WIDTH)]
    return "\n".join(["```", *lines, "```"])


def main() -> None:
    """Keep the predictions of a demo, and write its verdicts into pages."""
    from assay.runs import RUN, RunFolder

    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder that `assay demo` wrote")
    parser.add_argument("pages", nargs="*", type=Path, help="pages to write the verdicts into")
    chosen = parser.parse_args()
    for path in sorted(chosen.folder.rglob(RUN)):
        print(write_case(case_of(RunFolder(path.parent)), FOLDER))
    found = {case.name: diagnosed(case) for case in demo_cases()}
    text = markdown({case.header["title"]: found[case.name] for case in demo_cases()})
    print(text)
    for begin, end, block in ((BEGIN, END, text), (EXAMPLE_BEGIN, EXAMPLE_END, example(found[EXAMPLE]))):
        write_between([str(page) for page in chosen.pages if begin in page.read_text()], begin, end, block)


if __name__ == "__main__":
    main()
