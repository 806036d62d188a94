"""Every layout, every form of a table and every export, over irregular data: rows stay whole, or one line says why not."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from assay.base import AssayError, Settings, rng_for
from assay.dataset import Dataset
from assay.exchange import EXPORTS, export, from_table, import_folder
from assay.prolog import Worlds, label
from tests.exchange.imports.drawn import ANIMALS, CONCEPTS, LAYOUTS, Drawn, draw
from tests.exchange.imports.seen import png, seen
from tests.listings import list_backwards


def given(change: Callable[[int, dict], dict], count: int = 24) -> list[Drawn]:
    """Return drawn pictures whose annotation was changed row by row."""
    return [Drawn(one.pixels, one.truth, change(row, dict(one.given))) for row, one in enumerate(draw(count))]


DRAWN = {
    "regular": draw(24),
    "no rows": [],
    "one row": draw(1),
    "two rows": draw(2),
    "three rows": draw(3),
    "gaps": draw(24, 0.4),
    "a concept that nobody knows": given(lambda row, held: {**held, "wide": None}),
    "nothing known": given(lambda row, held: dict.fromkeys(held)),
    "one concept of one value": [one for one in draw(48) if one.truth["wide"]],
    "labels of one value": [one for one in draw(48) if not one.alarm],
    "sorted": sorted(draw(24), key=lambda one: (one.alarm, *one.truth.values())),
    "equal rows": draw(8, 0.2) * 3,
}


def number_of(layout, file):
    """Return the row that a picture was drawn for; CUB counts from one, and pictures of Hugging Face have no names."""
    return int(re.search(r"(\d+)\.\w+$", file)[1]) - (layout == "cub")


def expected(layout, drawn, file):
    """Return the concepts that a picture was annotated with: in COCO objects are seen, animals have those of their class."""
    if layout == "awa2":
        return dict(zip(CONCEPTS, map(bool, ANIMALS[file.split("/")[-2]]), strict=True))
    one = drawn[number_of(layout, file)]
    return {**one.given, **({"dotted": one.truth["dotted"]} if layout == "coco" else {})}


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_a_folder_of_any_layout_is_read_row_by_row_or_refused_in_a_line(layout, kind, tmp_path, monkeypatch):
    drawn, source = DRAWN[kind], tmp_path / "source"
    writer, _ = LAYOUTS[layout]
    source.mkdir()
    settings = writer(source, drawn)
    try:
        data = import_folder(source, tmp_path / "data", None, Settings(settings))
    except AssayError as error:
        assert str(error) and "\n" not in str(error) and not (tmp_path / "data").exists()
        assert kind not in ("regular", "gaps", "sorted", "equal rows")
        return
    rows, shown = seen(data), list(data.knowledge.space.names)
    assert sum(len(data[name]) for name in data.split_names) == len(drawn)
    assert all((data[name].labels >= 0).all() for name in data.split_names)
    if layout != "hf":
        assert len(rows) == len(drawn)
        for file, row in rows.items():
            wanted = expected(layout, drawn, file)
            for name in shown:
                assert row[name] == wanted[name.removeprefix("sign__")]
    list_backwards(monkeypatch)  # however the disk lists them, files are taken by their names
    assert (
        import_folder(source, tmp_path / "again", None, Settings({**settings, "name": data.name})).fingerprint
        == data.fingerprint
    )


# -- tables ------------------------------------------------------------------------------------------------------------

ALPHABETS = {"bool": [True, False], "int": [-3, 0, 7, 10**12], "text": ["é", "rot", "größer", "红 x", "a'b\"c"]}


def table(seed):
    """Return generated columns: of any type and number of values, with gaps, beside unsorted splits and pictures."""
    rng = rng_for(seed, "table")
    rows = int(rng.integers(4, 30))
    columns = {}
    for place in range(int(rng.integers(1, 5))):
        values = ALPHABETS[list(ALPHABETS)[rng.integers(3)]]
        some = values[: int(rng.integers(1, len(values) + 1))]
        cells = [some[code] for code in rng.integers(len(some), size=rows)]
        columns[f"concept_{'größe ' * (place % 2)}{place}"] = [
            None if rng.random() < 0.2 and row else cell for row, cell in enumerate(cells)
        ]
    columns["label_ja?"] = [bool(bit) for bit in rng.permutation(np.arange(rows) % 2)]
    columns["split"] = ["train", "test", "valid", *rng.choice(["train", "val", "testing", "five"], rows - 3).tolist()]
    return columns, [png(8 * row) for row in range(rows)]


def as_rows(columns, folder):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def parquet(columns, folder):
    pd.DataFrame({name: pd.array(cells) for name, cells in columns.items()}).to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def json_lines(columns, folder):
    pd.DataFrame(as_rows(columns, folder)).to_json(folder / "t.jsonl", orient="records", lines=True, force_ascii=False)
    return folder / "t.jsonl"


def csv(columns, folder):
    pd.DataFrame(columns, dtype=object).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


FORMS = {
    "columns": lambda columns, folder: columns,
    "rows": as_rows,
    "pandas": lambda columns, folder: pd.DataFrame(columns, dtype=object),
    "arrow": lambda columns, folder: pa.table(columns),
    "parquet": parquet,
    "json lines": json_lines,
    "csv": csv,
}


@pytest.mark.parametrize("seed", range(12))
def test_tables_of_any_form_say_the_same_and_come_back_row_by_row(seed, tmp_path):
    columns, pictures = table(seed)
    prints = set()
    for form, change in FORMS.items():
        data = from_table(change(columns, tmp_path), tmp_path / form.replace(" ", "_"), images=pictures, name="t")
        prints.add(data.fingerprint)
    assert len(prints) == 1
    rows = seen(data)
    keys = dict(zip([name for name in columns if name.startswith("concept_")], data.knowledge.space.names, strict=True))
    usual = {"val": "valid", "testing": "test"}
    for row in range(len(pictures)):
        found = rows[f"{row}.png"]
        assert found["level"] == 8 * row and found["ja"] == columns["label_ja?"][row]
        assert found["split"] == usual.get(columns["split"][row], columns["split"][row])
        for key, name in keys.items():
            assert found[name] == columns[key][row] or (
                set(columns[key]) <= {0, 1, None} and found[name] == bool(columns[key][row])
            )


@pytest.mark.parametrize("name", ["fünf", "a b", "..", "a/b", ""])
def test_a_split_whose_name_is_no_name_of_a_folder_is_refused_before_anything_is_written(name, tmp_path):
    columns = {"concept_a": [0, 1, 0, 1], "label_y": [0, 1, 0, 1], "split": ["train", "valid", "test", name]}
    with pytest.raises(AssayError):
        from_table(columns, tmp_path / "out", images=[png()] * 4)
    assert not (tmp_path / "out").exists()


# -- exports -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["regular", "gaps", "sorted", "one concept of one value"])
def imported(request, tmp_path_factory) -> Dataset:
    folder = tmp_path_factory.mktemp("imported")
    source = folder / "source"
    source.mkdir()
    LAYOUTS["table"][0](source, DRAWN[request.param])
    return import_folder(source, folder / "data", {"alarm": "red and dotted"})


@pytest.mark.parametrize("form", EXPORTS)
def test_every_export_writes_all_that_is_known_or_refuses_in_a_line(form, imported, tmp_path):
    try:
        counts = export(imported, form, tmp_path / "out")
    except AssayError as error:
        assert form != "prolog" and "\n" not in str(error) and not (tmp_path / "out").exists()
        return
    known = {name: int((imported[name].concepts >= 0).all(axis=1).sum()) for name in imported.split_names}
    assert counts == known and (tmp_path / "out" / ".export.json").is_file()


def test_what_is_exported_as_prolog_reads_back(imported, tmp_path):
    counts = export(imported, "prolog", tmp_path / "out")
    rules = (tmp_path / "out" / "rules.pl").read_text()
    for name in imported.split_names:
        data = imported[name].with_known_concepts("the test")
        facts = (tmp_path / "out" / name / "facts.pl").read_text()
        for place, concept in enumerate(CONCEPTS):
            true = {int(row) for row in re.findall(rf"^{concept}\(w(\d+)(?:,true)?\)\.", facts, re.MULTILINE)}
            assert true == set(np.flatnonzero(data.concepts[:, place]).tolist()), facts[:200]
        proven = label(rules, Worlds(imported.knowledge.space, data.concepts))
        assert proven.tolist() == data.labels[:, 0].astype(bool).tolist() and len(data) == counts[name]
