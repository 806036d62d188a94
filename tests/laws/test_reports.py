"""Any runs have a report: a page that stands alone, tables that are well-formed, and the same verdicts in all of it."""

import json
import random
import re

import numpy as np
import pytest

from assay.contracts import Prediction, Predictions
from assay.reporting import write_report
from tests.canned import bits, sums
from tests.reporting.pages import Page, tables
from tests.toys import Coin, Shelf, written

DATA = {
    "bits": bits,
    "sums": sums,
    "coin": lambda folder: written(Coin(), folder, train=30, valid=10, test=25),
    "shelf": lambda folder: written(Shelf(), folder, train=30, valid=8, test=12, hard=6),
}
"""Counterfactual pairs; many values; a label that is drawn; texts, boxes and two labels."""


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    return {name: make(tmp_path_factory.mktemp(name) / "data") for name, make in DATA.items()}


def said(rng, data):
    """Return what an odd run says of a split: of some rows in any order, of labels or concepts some, with or without
    probabilities, right or not.
    """
    rows = np.array(rng.sample(range(len(data)), rng.choice((1, 2, len(data) // 2, len(data)))))
    knowledge, seeded = data.knowledge, np.random.default_rng(rng.randrange(10**6))
    share, soft, silent = rng.choice((0.0, 0.3, 1.0)), rng.random() < 0.5, rng.random() < 0.3

    def answer(truth, size):
        codes = np.where(seeded.random(len(rows)) < share, seeded.integers(size, size=len(rows)), truth[rows])
        if soft:
            return Prediction.of(0.8 * np.eye(size)[codes] + 0.2 * seeded.dirichlet(np.ones(size), len(rows)))
        return Prediction(np.where(seeded.random(len(rows)) < 0.1, -1, codes) if silent else codes)

    labels = {label.name: answer(data.labels[:, i], len(label.values)) for i, label in enumerate(knowledge.labels)}
    concepts = {
        one.name: answer(data.concepts[:, i], len(one.values)) for i, one in enumerate(knowledge.space.concepts)
    }
    spoken = rng.sample(list(concepts), rng.choice((0, len(concepts) // 2, len(concepts))))
    about = {"model": rng.choice(("<i>m</i>", "m | n")), "seed": 3} if rng.random() < 0.5 else {}
    return Predictions(data.fingerprint, data.name, data.index[rows], labels, {n: concepts[n] for n in spoken}, about)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_any_runs_have_a_report(name, seed, datasets, tmp_path):
    rng, dataset = random.Random(f"{name} {seed}"), datasets[name]
    files = []
    for number in range(rng.randrange(1, 5)):
        run = tmp_path / f"run <{number}>"
        splits = rng.sample([one for one in dataset.split_names if not one.startswith("train")], rng.choice((1, 2)))
        for split in splits:
            said(rng, dataset[split]).write(run / "predictions" / f"{split}.parquet", dataset.knowledge)
        files.append(run if len(splits) > 1 else run / "predictions" / f"{splits[0]}.parquet")
    path = write_report(files, tmp_path / "out", "<b>|", dataset=dataset)
    page, markdown = Page(path.read_text()), path.with_suffix(".md").read_text()
    record = json.loads(path.with_name("report.json").read_text(), parse_constant=lambda text: pytest.fail(text))
    assert page.open == [] and not {"script", "link", "i", "b"} & set(page.tags)
    assert len(page.ids) == len(set(page.ids)) and len(record["cases"]) == len(files)
    assert all(len(set(cells)) == 1 for cells in tables(markdown))
    assert "<" not in re.sub(r"`[^`]*`|</?details>|</?summary>", "", markdown)
    for case in record["cases"]:
        assert case["diagnosis"]["verdict"] in page.text and f"**{case['diagnosis']['verdict']}**" in markdown
        assert case["headline"]["verdict"] == case["diagnosis"]["verdict"]
    latex = path.with_name("tables.tex").read_text()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
