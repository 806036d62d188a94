"""Do black boxes fall on CLEVR-Hans3 where its confounder no longer holds, as published?

`python -m benchmarks.clevr_hans run RECORDS` trains what RECORDS (a folder) lacks, on 9,000 scenes as published (on a
GPU with 16 cores eight minutes); `python -m benchmarks.clevr_hans table RECORDS docs/confounders.md` writes the table.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.pages import read_records, write_between

SCENES, SEEDS = 9000, 3
DATA: dict[str, Any] = {
    "n": SCENES, "width": 128, "height": 96, "quality": "draft",
    "splits": {"valid": 750, "test": 750, "pairs": 0, "hard": 0},
}  # fmt: skip
EPOCHS = {"resnet-18": 40, "resnet-small": 60}
SPLITS = ("valid", "test", "unconfounded", "reversed")
BEGIN, END = "<!-- hans: begin -->", "<!-- hans: end -->"


def run(records: Path) -> None:
    """Make the scenes, and train and diagnose each network that has no record."""
    import assay

    with tempfile.TemporaryDirectory(prefix="hans-") as folder:
        data = assay.make("clevr-hans", Path(folder) / "data", seed=0, **DATA)
        for seed in range(SEEDS):
            for backbone, epochs in EPOCHS.items():
                path = records / f"{backbone}-{seed}.json"
                if path.exists():
                    continue
                trained = assay.train(
                    "blackbox", data, Path(folder) / path.stem, seed=seed, backbone=backbone, epochs=epochs, patience=20
                )
                found = assay.diagnose(data, trained)
                accuracy = {split: scores["label_accuracy"].value for split, scores in found.scores.items()}
                about = {"backbone": backbone, "seed": seed, "n": SCENES, "fingerprint": data.fingerprint}
                record = {
                    **about, "verdict": found.verdict, "accuracy": accuracy, "versions": trained.about["versions"]
                }  # fmt: skip
                path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def table(records: Path) -> str:
    """Return the means over seeds, a row for each network."""
    known = read_records(records)
    lines = [f"| backbone | seeds | {' | '.join(SPLITS)} | verdict |", "|" + " --- |" * (len(SPLITS) + 3)]
    for backbone in EPOCHS:
        own = [record for record in known if record["backbone"] == backbone]
        if own:
            means = [sum(record["accuracy"][split] for record in own) / len(own) for split in SPLITS]
            spurious = sum(record["verdict"] == "spurious" for record in own)
            cells = [f"`{backbone}`", str(len(own)), *(f"{mean:.2f}" for mean in means)]
            lines.append(f"| {' | '.join(cells)} | spurious in {spurious} of {len(own)} |")
    return "\n".join(lines)


def main() -> None:
    """Train what is not there, or write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("records", type=Path)
    parser.add_argument("page", type=Path, nargs="?")
    asked = parser.parse_args()
    asked.records.mkdir(parents=True, exist_ok=True)
    if asked.what == "run":
        run(asked.records)
    if asked.page is not None:
        write_between([str(asked.page)], BEGIN, END, table(asked.records))
    print(table(asked.records))


if __name__ == "__main__":
    main()
