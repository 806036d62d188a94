"""What an import keeps, makes and refuses: gaps, annotators, probabilities, sizes, splits, and files of strangers."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

import assay
from assay.config import Settings, validate
from assay.data import Dataset, export, from_hf, from_table, import_folder, task_of
from assay.data.imports.chosen_names import choose, need_label
from assay.data.imports.pictures import PictureFit
from assay.data.imports.settings import ImportSettings
from assay.errors import AssayError, DataError, RuleUnknown
from assay.render import Layout
from assay.worlds import CONTENT
from tests.data.imports.drawn import RULE, draw, write_table

DRAWN = draw(40)
IMAGES = [one.pixels for one in DRAWN]
COLUMNS = {
    **{name: [one.truth[name] for one in DRAWN] for name in ("red", "wide", "dotted")},
    "alarm": [one.alarm for one in DRAWN],
}
NAMED = {"concepts": ["red", "wide", "dotted"], "labels": ["alarm"]}


def all_of(data: Dataset, what: str) -> np.ndarray:
    return np.concatenate([getattr(data[name], what) for name in data.split_names])


def test_tables_of_any_kind_give_the_same_dataset(tmp_path):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    tables = [COLUMNS, pd.DataFrame(COLUMNS), pa.table(COLUMNS), rows]
    made = [from_table(x, tmp_path / str(i), images=IMAGES, name="t", rule=RULE, **NAMED) for i, x in enumerate(tables)]
    assert len({data.fingerprint for data in made}) == 1 and assay.from_table is from_table
    assert made[0].knowledge.labels[0].formula == assay.parse("red and dotted")
    for suffix in ("csv", "json", "jsonl", "parquet"):
        frame, path = pd.DataFrame(COLUMNS), tmp_path / f"table.{suffix}"
        if suffix == "json":
            path.write_text(json.dumps(rows))
        elif suffix == "jsonl":
            path.write_text("\n".join(map(json.dumps, rows)))
        else:
            getattr(frame, {"csv": "to_csv", "parquet": "to_parquet"}[suffix])(path, index=False)
        data = from_table(path, tmp_path / suffix, images=IMAGES, name="t", rule=RULE, **NAMED)
        assert data.fingerprint == made[0].fingerprint, suffix


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
    assert np.array_equal(concepts, all_of(data, "given_concepts"))
    table = data["train"].table
    assert table["concept_red"].null_count == (data["train"].concepts[:, 0] < 0).sum() > 0
    missing = data.manifest["task"]["imported"]["missing"]
    assert missing["train"] == pytest.approx(table["concept_red"].null_count / (3 * len(table)), abs=1e-4)
    assert "not known in" in (data.folder / "README.md").read_text()
    assert data["train"].with_known_concepts("x").concepts.min() == 0


def test_annotators_vote_and_probabilities_decide(tmp_path):
    votes = {f"concept_red@{who}": list(COLUMNS["red"]) for who in ("ann", "bob", "cat")}
    votes["concept_red@cat"] = [not value for value in COLUMNS["red"]]
    shape = ["big" if value else "small" for value in COLUMNS["wide"]]
    chances = {f"concept_shape={word}": [0.9 if word == one else 0.1 for one in shape] for word in ("big", "small")}
    dotted = {"concept_dotted=true": [0.8 if value else 0.3 for value in COLUMNS["dotted"]]}
    columns = {**votes, **chances, **dotted, "label_alarm": COLUMNS["alarm"]}
    data = from_table(columns, tmp_path / "d", images=IMAGES, rule=RULE)
    assert {c.name: c.values for c in data.knowledge.space.concepts} == {
        "red": (False, True),
        "shape": ("big", "small"),
        "dotted": (False, True),
    }
    assert all_of(data, "lawful").all()  # the majority and the likeliest value are the truth here
    agreement = data["train"].world(0).style[CONTENT]["agreement"]
    assert agreement["red"] == pytest.approx(2 / 3) and agreement["shape"] == 0.9 and agreement["dotted"] in (0.8, 0.7)
    assert data.manifest["task"]["imported"]["agreement"] == pytest.approx(np.mean([2 / 3, 0.9, 0.75]), abs=0.03)
    with pytest.raises(DataError, match="probabilities from 0 to 1"):
        from_table({**columns, "concept_shape=big": [1.5] * 40}, tmp_path / "e", images=IMAGES)


def test_splits_are_the_given_ones_or_made_by_seed(tmp_path):
    def names(folder: str, **more: object) -> list[list[str]]:
        data = from_table({**COLUMNS, **more}, tmp_path / folder, images=IMAGES, **NAMED)
        return [
            [world.style[CONTENT]["file"] for row in range(len(data[s])) if (world := data[s].world(row))]
            for s in data.split_names
        ]

    first, again = names("a"), names("b")
    assert first == again and [len(part) for part in first] == [28, 6, 6]
    given = names("c", split=["training"] * 30 + ["testing"] * 10)
    assert len(given[2]) == 10 and len(given[0]) + len(given[1]) == 30 and len(given[1]) == 5
    grouped = names("d", source=[f"s{row // 4}" for row in range(40)])
    of = [{int(name.removesuffix(".png")) // 4 for name in part} for part in grouped]
    assert not of[0] & of[1] and not of[0] & of[2] and not of[1] & of[2]
    with pytest.raises(DataError, match="no row is of split 'train'"):
        names("e", split=["test"] * 40)


def test_pictures_of_all_sizes_by_a_stated_policy(tmp_path):
    tall = np.zeros((60, 30, 3), dtype=np.uint8)
    tall[:, :, 0] = 200
    buffer = io.BytesIO()
    Image.fromarray(tall).save(buffer, "PNG")
    fits = {
        how: PictureFit(Layout(16, 16, 3), how).encode(buffer.getvalue(), "x")
        for how in ("letterbox", "crop", "stretch")
    }
    pixels = {how: np.asarray(Image.open(io.BytesIO(data))) for how, data in fits.items()}
    assert pixels["letterbox"].shape == (16, 16, 3) and (pixels["letterbox"][:, 0] == 114).all()
    assert (pixels["crop"][:, :, 0] == 200).all() and (pixels["stretch"][:, :, 0] == 200).all()
    images = [image if row % 2 else np.zeros((30, 60, 3), np.uint8) for row, image in enumerate(IMAGES)]
    data = from_table(COLUMNS, tmp_path / "d", images=images, size=[24, 16], resize="crop", **NAMED)
    assert data["train"].images.shape[1:] == (16, 24, 3) and data.manifest["task"]["imported"]["resize"] == "crop"
    grey = from_table(COLUMNS, tmp_path / "g", images=[image[:, :, 0] for image in IMAGES], **NAMED)
    assert grey.layout.channels == 1 and grey.layout.width == 20


def test_imported_data_says_that_it_cannot_be_redrawn(tmp_path):
    data = from_table(COLUMNS, tmp_path / "d", images=IMAGES, **NAMED)
    with pytest.raises(DataError, match="was imported from a table: it cannot be redrawn"):
        task_of(data)
    assert data.manifest["pairs"]["none"] == data.why_no_pairs and data.pairs is None
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


def test_wrong_tables_are_told_in_a_line(tmp_path):
    folder = tmp_path / "source"
    write_table(folder, DRAWN[:12])
    text = (folder / "concepts.csv").read_text()
    (folder / "concepts.csv").write_text(text.replace("concept_", "c_"))
    assert "needs columns 'concept_NAME' and 'label_NAME'" in refusal(folder)
    assert "has no column 'c_rad'; did you mean 'c_red'" in refusal(folder, concepts=["c_rad"])
    lines = text.splitlines()
    (folder / "concepts.csv").write_text("\n".join([lines[0], lines[1].rsplit(",", 1)[0] + ",", *lines[2:]]))
    assert "label 'alarm' of picture" in refusal(folder)
    (folder / "concepts.csv").write_text(text)
    assert "no layout named 'cubs'; did you mean 'cub'" in refusal(folder, layout="cubs")
    assert "shares" in refusal(folder, shares={"train": 0.9, "test": 0.3})
    (folder / "rule.yaml").write_text("labels: {alarm: rad and dotted}\n")
    assert "rad" in refusal(folder)
    (folder / "annotations.xml").write_text(
        '<!DOCTYPE x [<!ENTITY a "b">]><annotations><image name="&a;"/></annotations>'
    )
    assert "declares entities" in refusal(folder, layout="cvat", labels=["x"])


def test_columns_and_pictures_go_together(tmp_path):
    short = {**COLUMNS, "wide": COLUMNS["wide"][:39]}
    with pytest.raises(DataError, match="the columns of the table differ in length"):
        from_table(short, tmp_path / "a", images=IMAGES, **NAMED)
    for count in (39, 41):
        with pytest.raises(DataError, match=f"{count} pictures for 40 rows of the table; give one for each row"):
            from_table(COLUMNS, tmp_path / "b", images=[*IMAGES, IMAGES[0]][:count], **NAMED)
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()


def test_which_is_the_label_must_be_said():
    cells = {"red": [True], "wide": [False], "alarm": [True]}
    asked = validate(ImportSettings, Settings({"labels": ["alarm"]}))
    concepts, labels = choose(cells, asked, "tag")
    assert (
        list(concepts) == ["red", "wide"] and list(labels) == ["alarm"] and need_label(labels, cells, "tag") == labels
    )
    one = choose(cells, validate(ImportSettings, Settings({"labels": ["alarm"], "concepts": ["wide"]})), "tag")[0]
    assert list(one) == ["wide"]
    with pytest.raises(AssayError, match="say which tag is the label: --label NAME, one or more of: red, wide, alarm"):
        need_label({}, cells, "tag")
    with pytest.raises(AssayError, match="'alarm' cannot be both a concept and a label"):
        choose(cells, validate(ImportSettings, Settings({"labels": ["alarm"], "concepts": ["alarm"]})), "tag")
    with pytest.raises(AssayError, match="there is no tag 'alram'; did you mean 'alarm'"):
        choose(cells, validate(ImportSettings, Settings({"labels": ["alram"]})), "tag")


def test_only_examples_whose_concepts_are_known_become_facts(tmp_path):
    gaps = {**COLUMNS, "wide": [None if row % 4 == 0 else value for row, value in enumerate(COLUMNS["wide"])]}
    data = from_table(gaps, tmp_path / "data", images=IMAGES, rule=RULE, **NAMED)
    counts = export(data, "prolog", tmp_path / "out")
    whole = {name: int((data[name].concepts >= 0).all(axis=1).sum()) for name in data.split_names}
    assert counts == whole and sum(whole.values()) == 30
