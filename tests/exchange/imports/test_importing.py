"""What an import keeps, makes and refuses: gaps, annotators, probabilities, sizes, splits, and files of strangers."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import assay
from assay.base import AssayError, DataError, RuleUnknown, Settings
from assay.dataset import Dataset, task_of
from assay.exchange import export, from_hf, from_table, import_folder
from tests.exchange.imports.drawn import RULE, draw, write_table

DRAWN = draw(40)
IMAGES = [one.pixels for one in DRAWN]
COLUMNS = {
    **{name: [one.truth[name] for one in DRAWN] for name in ("red", "wide", "dotted")},
    "alarm": [one.alarm for one in DRAWN],
}
NAMED = {"concepts": ["red", "wide", "dotted"], "labels": ["alarm"]}


def all_of(data: Dataset, what: str) -> np.ndarray:
    return np.concatenate([getattr(data[name], what) for name in data.split_names])


def test_one_picture_for_each_row(tmp_path):
    for count in (39, 41):
        with pytest.raises(DataError, match=f"{count} pictures for 40 rows of the table; give one for each row"):
            from_table(COLUMNS, tmp_path / "b", images=[*IMAGES, IMAGES[0]][:count], **NAMED)
    assert not (tmp_path / "b").exists()


def test_hugging_face_objects_and_folders(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "image": datasets.Image(),
            **{name: datasets.Value("bool") for name in NAMED["concepts"]},
            "alarm": datasets.ClassLabel(names=["calm", "loud"]),
        }
    )
    pictures = [Image.fromarray(pixels) for pixels in IMAGES]
    columns = {**COLUMNS, "alarm": [int(x) for x in COLUMNS["alarm"]], "image": pictures}
    whole = datasets.Dataset.from_dict(columns, features=features)
    both = datasets.DatasetDict({"train": whole.select(range(30)), "test": whole.select(range(30, 40))})
    both.save_to_disk(tmp_path / "saved")
    first = from_hf(both, tmp_path / "one", name="h", **NAMED)
    second = assay.from_hf(tmp_path / "saved", tmp_path / "two", name="h", **NAMED)
    for data in (first, second):
        assert data.knowledge.labels[0].values == ("calm", "loud") and len(data["test"]) == 10
        assert np.array_equal(data["test"].images, np.stack(IMAGES[30:]))
        assert np.array_equal(data["test"].labels[:, 0], columns["alarm"][30:])
    with pytest.raises(DataError, match="expected a datasets.Dataset"):
        from_hf(3, tmp_path / "three")


def test_gaps_are_kept_as_gaps(tmp_path):
    red = [None if row % 4 == 0 else value for row, value in enumerate(COLUMNS["red"])]
    data = from_table({**COLUMNS, "red": red}, tmp_path / "d", images=IMAGES, rule=RULE, **NAMED)
    concepts = all_of(data, "concepts")
    assert (concepts[:, 0] < 0).sum() == 10 and (concepts[:, 1:] >= 0).all() and all_of(data, "lawful").all()
    assert np.array_equal(concepts, all_of(data, "annotated_concepts"))
    table = data["train"].table
    assert table["concept_red"].null_count == (data["train"].concepts[:, 0] < 0).sum() > 0
    missing = data.manifest.to_dict()["task"]["imported"]["missing"]
    assert missing["train"] == pytest.approx(table["concept_red"].null_count / (3 * len(table)), abs=1e-4)
    assert "not known in" in (data.folder / "README.md").read_text()
    assert data["train"].with_known_concepts("x").concepts.min() == 0


def test_imported_data_says_that_it_cannot_be_redrawn(tmp_path):
    data = from_table(COLUMNS, tmp_path / "d", images=IMAGES, **NAMED)
    with pytest.raises(DataError, match="was imported from a table: it cannot be redrawn"):
        task_of(data)
    assert data.manifest.to_dict()["pairs"]["none"] == data.why_no_pairs and data.pairs is None
    with pytest.raises(RuleUnknown, match="none is known for label 'alarm'; give rule.yaml"):
        data.knowledge.labels_of(data["train"].concepts)
    assert "not known" in (data.folder / "README.md").read_text()


def refusal(folder: Path, **settings: object) -> str:
    with pytest.raises(AssayError) as caught:
        import_folder(folder, folder.parent / "out", None, Settings(settings))
    assert not (folder.parent / "out" / "manifest.json").exists() and "\n" not in str(caught.value)
    return str(caught.value)


def test_strangers_files_are_refused(tmp_path):
    folder = tmp_path / "source"
    write_table(folder, DRAWN[:12])
    text = (folder / "concepts.csv").read_text()
    secret = tmp_path / "secret.png"
    secret.write_bytes((folder / "pictures/0.png").read_bytes())
    (folder / "concepts.csv").write_text(text.replace("pictures/0.png", "../secret.png"))
    assert "lies outside the folder" in refusal(folder)
    (folder / "link.png").symlink_to(secret)
    (folder / "concepts.csv").write_text(text.replace("pictures/0.png", "link.png"))
    assert "lies outside the folder" in refusal(folder)
    (folder / "concepts.csv").write_text(text.replace("pictures/0.png", "pictures/none.png"))
    assert "is missing" in refusal(folder)
    (folder / "concepts.csv").write_text(text)
    Image.fromarray(IMAGES[0]).save(folder / "pictures/0.png", "BMP")
    assert "is no PNG, JPEG or WebP" in refusal(folder)
    Image.new("1", (8000, 8000)).save(folder / "pictures/0.png", "PNG")
    assert "at most 50,000,000 are read" in refusal(folder)
    (folder / "pictures/0.png").write_bytes((folder / "pictures/1.png").read_bytes()[:200])
    assert "pictures/0.png" in refusal(folder)


def test_only_examples_whose_concepts_are_known_become_facts(tmp_path):
    gaps = {**COLUMNS, "wide": [None if row % 4 == 0 else value for row, value in enumerate(COLUMNS["wide"])]}
    data = from_table(gaps, tmp_path / "data", images=IMAGES, rule=RULE, **NAMED)
    counts = export(data, "prolog", tmp_path / "out")
    whole = {name: int((data[name].concepts >= 0).all(axis=1).sum()) for name in data.split_names}
    assert counts == whole and sum(whole.values()) == 30
