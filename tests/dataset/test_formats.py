"""Others open our folders: Hugging Face `datasets`, `mlcroissant`, and a person who reads the card."""

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from assay.base import Settings, from_pairs
from assay.dataset import Dataset, recipe_from
from tests.conftest import Made


def test_datasets_decodes_pictures_and_finds_all_splits(
    evenodd: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import datasets

    datasets.disable_progress_bars()
    files = [str(path) for path in sorted((evenodd.folder / "test").glob("*.parquet"))]
    loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=str(tmp_path))
    data = evenodd["test"]
    assert (np.stack([np.asarray(image) for image in loaded["image"]]) == data.images[:, :, :, 0]).all()
    assert loaded["label_sum"][:] == data.labels[:, 0].tolist()
    whole = datasets.load_dataset(str(evenodd.folder), cache_dir=str(tmp_path))
    assert {name: len(split) for name, split in whole.items()} == {
        **{"train": 160, "valid": 32, "test": 160, "ood": 168, "hard": 32}
    }


def test_mlcroissant_validates_and_reads_every_record(mnlogic: Dataset) -> None:
    import mlcroissant

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ConjunctiveGraph is deprecated", DeprecationWarning)
        warnings.filterwarnings("ignore", "The inplace keyword in DataFrame.reset_index")
        described = mlcroissant.Dataset(mnlogic.folder / "croissant.json")
        issues = described.metadata.ctx.issues
        assert not issues.errors and not issues.warnings
        for name in mnlogic.split_names:
            data = mnlogic[name]
            records = list(described.records(name))
            assert [record[f"{name}/index"] for record in records] == data.index.tolist()
            assert [record[f"{name}/label_y"] for record in records] == data.labels[:, 0].astype(bool).tolist()
            shown = np.stack([np.asarray(record[f"{name}/image"]) for record in records])
            assert (shown == data.images[:, :, :, 0]).all()


def test_pandas_reads_a_shard(evenodd: Dataset) -> None:
    frame = pq.read_table(evenodd.folder / "ood" / "part-00000.parquet").to_pandas()
    assert list(frame) == ["index", "image", "concept_a", "concept_b", "label_sum", "boundary_sum", "style"]
    assert (frame.label_sum == frame.concept_a + frame.concept_b).all()


def front_matter(dataset: Dataset) -> dict[str, object]:
    _, head, _ = (dataset.folder / "README.md").read_text().split("---\n", 2)
    held = yaml.safe_load(head)
    assert isinstance(held, dict)
    return held


def test_the_card_has_front_matter_and_the_sections_of_a_datasheet(evenodd: Dataset) -> None:
    text = (evenodd.folder / "README.md").read_text()
    assert re.findall("^## (.*)", text, re.MULTILINE) == [
        *["Motivation", "Composition", "Collection and preprocessing", "Uses", "Distribution and maintenance"]
    ]
    head = front_matter(evenodd)
    assert head["license"] == "cc-by-sa-3.0" and head["size_categories"] == ["n<1K"]
    assert evenodd.fingerprint in text and "`a + b`" in text and "{" not in text.split("assay make")[0]


def test_the_licence_is_the_same_everywhere(evenodd: Dataset, made: Made) -> None:
    pixels = made("mnlogic", pixels=True, n=10)
    for dataset, short, link in ((evenodd, "cc-by-sa-3.0", "by-sa/3.0"), (pixels, "cc-by-4.0", "by/4.0")):
        assert front_matter(dataset)["license"] == short
        assert f"licenses/{link}/" in (dataset.folder / "croissant.json").read_text()


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("mnadd-evenodd", {"n": 32, "splits": {"ood": 0}, "continual": True}),
        ("mnlogic", {"n": 20, "formula": "a & b | ~c", "k": 3, "seed": 5}),
        (
            "mnlogic",
            {"n": 20, "n_digits": 3, "logic": "Xor(a, b)", "combinations_in_distribution": ["001", "010", "000"]},
        ),
        ("mnmath", {"n": 20, "names": ["p", "q"], "equations": {"more": "p > q"}, "balance": "world"}),
    ],
)
def test_the_card_says_how_to_make_the_data_again(task: str, settings: dict[str, object], made: Made) -> None:
    dataset = made(task, **settings)
    command = re.search("`(assay make .*)`", (dataset.folder / "README.md").read_text())
    assert command is not None
    words = shlex.split(command[1])
    assert words[:5] == ["assay", "make", task, "--seed", str(settings.get("seed", 0))]
    assert words[5:-2:2] == ["--set"] * (len(words[5:-2]) // 2) and words[-2:] == ["-o", "DIR"]
    again = from_pairs(words[6:-2:2]).merge(Settings({"seed": int(words[4])}))
    assert recipe_from(task, again).to_dict() == recipe_from(task, Settings(settings)).to_dict()
