"""`make bench`: run every benchmark, or those named, and print a table."""

import sys

from benchmarks import (
    audit,
    boundary,
    chess_boards,
    circuits,
    cocologic,
    concept_models,
    consistency,
    counting,
    coverage,
    driving,
    formulas,
    generation,
    ilp,
    interventions,
    kandinsky,
    million,
    probes,
    prolog,
    rendering,
    robots,
    sudoku,
    synthesis,
    training,
    trains,
    verdicts,
    viewer,
)
from benchmarks.timing import Result, table

ALL = {
    "audit": audit.run,
    "boundary": boundary.run,
    "formulas": formulas.run,
    "generation": generation.run,
    "chess": chess_boards.run,
    "circuits": circuits.run,
    "concept_models": concept_models.run,
    "consistency": consistency.run,
    "counting": counting.run,
    "coverage": coverage.run,
    "driving": driving.run,
    "cocologic": cocologic.run,
    "interventions": interventions.run,
    "kandinsky": kandinsky.run,
    "million": million.run,
    "probes": probes.run,
    "prolog": prolog.run,
    "rendering": rendering.run,
    "robots": robots.run,
    "sudoku": sudoku.run,
    "synthesis": synthesis.run,
    "ilp": ilp.run,
    "training": training.run,
    "trains": trains.run,
    "viewer": viewer.run,
    "verdicts": verdicts.run,
}


def main() -> None:
    chosen = sys.argv[1:] or list(ALL)
    results: list[Result] = []
    for name in chosen:
        if name not in ALL:
            sys.exit(f"no benchmark named {name!r}; there is: {', '.join(ALL)}")
        results += ALL[name]()
    print(table(results))


if __name__ == "__main__":
    main()
