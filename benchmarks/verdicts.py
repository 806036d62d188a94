"""Right and wrong verdicts on models with known faults: the zoo over eight tasks and three seeds.

`python -m benchmarks.verdicts` prints the table; with the name of a page it also writes it there, between two markers.
"""

import time

from assay.testing import FAULTY_PREDICTORS, Survey, survey, zoo_task
from benchmarks.pages import publish
from benchmarks.timing import Result

TASKS = ("mnadd-evenodd", "mnlogic", "kand-logic", "clevr", "robots", "sdd-oia", "trains", "cocologic")
SEEDS = range(3)
BEGIN, END = "<!-- verdicts: begin -->", "<!-- verdicts: end -->"


def rows() -> tuple[list[list[str]], Survey, int]:
    """Return the table, the sums, and the number of diagnoses."""
    homes = [zoo_task(task, seed) for task in TASKS for seed in SEEDS]
    made, total, diagnoses = [], Survey(), 0
    for name, counts in survey(homes):
        summary = FAULTY_PREDICTORS[name][0].strip().splitlines()[0]
        made.append(
            [
                name,
                summary,
                *(f"{x:,}" for x in (counts.tried, counts.reported, counts.required, counts.falsely_reported)),
            ]
        )
        for key in ("required", "reported", "forbidden", "falsely_reported", "misses"):
            setattr(total, key, getattr(total, key) + getattr(counts, key))
        diagnoses += counts.tried
    return made, total, diagnoses


def markdown(made: list[list[str]], total: Survey, diagnoses: int) -> str:
    """Return the table as Markdown, with a sentence on the sums."""
    head = ["predictor", "its fault", "diagnoses", "findings reported", "of required", "forbidden reported"]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *made)]
    told, false = total.reported / total.required, total.falsely_reported / total.forbidden
    text = (
        f"{diagnoses:,} diagnoses ({len(FAULTY_PREDICTORS)} predictors, {len(TASKS)} tasks, {len(SEEDS)} seeds, "
        f"where a task has room for the fault): {total.reported:,} of {total.required:,} required findings reported "
        f"({told:.1%}), and {total.falsely_reported:,} of {total.forbidden:,} forbidden ones ({false:.2%})."
    )
    missed = [f"- {miss}" for miss in total.misses]
    return "\n".join([text, "", *lines, *(["", "What went wrong:", "", *missed] if missed else [])])


def run() -> list[Result]:
    start = time.process_time()
    made, total, diagnoses = rows()
    print(markdown(made, total, diagnoses))
    took = (time.process_time() - start) / max(1, diagnoses)
    print(f"\n{took:.2f} CPU seconds a diagnosis\n")
    return []


def main() -> None:
    publish(markdown(*rows()), BEGIN, END)


if __name__ == "__main__":
    main()
