"""What an import writes and says of itself, and what Arrow tables, pictures in memory and scores are read into."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assay.concepts import Concept, ConceptSpace, bits
from assay.config import Settings
from assay.data import Dataset, Lookahead, cluster, decode, decode_ahead, read_scores
from assay.data.decoding import count_workers
from assay.data.imports import hub, importing, pictures, write
from assay.data.imports.settings import ImportSettings
from assay.data.imports.source_table import SourceTable
from assay.data.machine_scores import refuse_constant, threshold_scores
from assay.errors import ConfigError, DataError, RunFailed
from assay.logic import Knowledge


def png(width=8, height=8, level=0, mode="L"):
    file = io.BytesIO()
    Image.new(mode, (width, height), level).save(file, "PNG")
    return file.getvalue()


def table(count=6, **more):
    truth = [row % 2 == 0 for row in range(count)]
    columns = {"a": [*truth[:-1], None], "n": [row % 3 for row in range(count)]}
    splits = ["train"] * (count - 3) + ["valid", "test", "ood"]
    return SourceTable(
        [png(level=row) for row in range(count)],
        [f"{row}.png" for row in range(count)],
        columns,
        {"y": truth},
        **{"splits": splits, **more},
    )


def written(folder, source=None, rule=None, **settings):
    write.write_dataset(
        source or table(), folder, ImportSettings(name="toy", **settings), Settings(rule or {}), "a table"
    )
    return Dataset.open(folder)


def test_an_import_is_a_dataset_that_tells_where_it_is_from(tmp_path):
    source = table(
        agreement={"a": [0.5, None, 1.0, 1.0, 1.0, 1.0]},
        nuisances={"light": [np.int64(3)] * 6},
        sources=[("s", "t")] * 6,
        texts=["words"] * 6,
    )
    data = written(tmp_path / "out", source, {"splits": {"ood": "n == 2"}, "disjoint": [["ood", "test"]]}, seed=4)
    manifest = data.manifest
    assert (
        manifest["task"]["name"],
        manifest["summary"],
        manifest["drawn"],
        manifest["seed"],
        manifest["columns"],
    ) == ("toy", "Imported from a table", "Imported", 4, ["image", "text"])
    about = manifest["task"]["imported"]
    assert (about["layout"], about["examples"], about["resize"], about["agreement"], about["splits"]) == (
        "a table",
        6,
        "letterbox",
        0.9,
        "as in the source",
    )
    assert (
        about["missing"] == {"train": 0.0, "valid": 0.0, "test": 0.0, "ood": 0.5}
        and len(about["pictures_sha256"]) == 64
    )
    entries = {entry["name"]: entry for entry in manifest["splits"]}
    assert list(entries) == ["train", "valid", "test", "ood"] and [entry["size"] for entry in entries.values()] == [
        3,
        1,
        1,
        1,
    ]
    assert (
        entries["ood"]["where"] == "n == 2"
        and entries["train"]["where"] == "True"
        and entries["train"]["share"] == [0.0, 0.5]
    )
    assert (
        entries["ood"]["disjoint_from"] == ["test"]
        and entries["train"]["labels"] == {"y": {"False": 1, "True": 2}}
        and entries["train"]["boundary"] == {"y": {"not placed": 3}}
    )
    assert manifest["pairs"] == {"asked": 0, "split": "test", "size": 0, "shards": [], "none": write.NO_PAIRS}
    rows = data["train"]
    assert (
        rows.concepts.tolist() == [[1, 0], [0, 1], [1, 2]]
        and rows.texts == ["words"] * 3
        and [image.mean() for image in rows.images] == [0, 1, 2]
    )
    style = json.loads(rows.table["style"][0].as_py())
    assert "0.png" in json.dumps(style) and style["light"] == 3 and ["s", "t"] in style.values()
    assert [json.loads(cell.as_py()) for cell in rows.table["style"]][1] != style and data["ood"].concepts.tolist() == [
        [-1, 2]
    ]
    assert not data.knowledge.has_rule and data.knowledge.label("y").values == (False, True)


def test_a_rule_places_the_examples_that_are_known(tmp_path):
    data = written(tmp_path / "out", rule={"labels": {"y": "a"}})
    assert data.knowledge.has_rule and data["train"].lawful.all()
    tags = data["train"].table["boundary_y"].to_pylist()
    assert "not placed" not in tags and data["ood"].table["boundary_y"].to_pylist() == ["not placed"]
    assert data.manifest["columns"] == ["image"] and data.manifest["task"]["imported"]["agreement"] is None


@pytest.mark.parametrize(
    ("change", "rule", "why"),
    [
        ({"labels": {"y": [True] * 6}}, {}, "label 'y' is always"), ({"labels": {"y": [True, None, True, False, True, False]}}, {}, "label 'y' of picture '1.png' is empty"),
        ({"labels": {"y": ["u", "v"] * 3}}, {"labels": {"y": "a"}}, "label 'y': the rule never gives the value 'u'"), ({"concepts": {"a": [None] * 6}}, {}, "concept 'a' has no value"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_written_leave_nothing(tmp_path, change, rule, why):
    plain = table()
    given = SourceTable(
        plain.pictures,
        plain.names,
        change.get("concepts", plain.concepts),
        change.get("labels", plain.labels),
        plain.splits,
    )
    if "is always" in why:
        given = SourceTable(plain.pictures, plain.names, plain.concepts, {"y": ["u"] * 6}, plain.splits)
    with pytest.raises(DataError, match=why):
        written(tmp_path / "out", given, rule)
    assert not (tmp_path / "out").exists()


def test_cells_that_are_written_are_plain():
    assert [write._plain(cell) for cell in (np.float64(0.5), None, True, "x", [1])] == [0.5, None, True, "x", "[1]"]
    assert write._count([True, False, True, "a"]) == {"False": 1, "True": 2, "a": 1}
    assert write._codes([2, None, 1], (1, 2), "x").tolist() == [1, -1, 0]
    made = write.describe_source(table(splits=None), "x", SimpleNamespace(resize="crop"), ImportSettings(seed=7))
    assert made["splits"] == "made by shares with seed 7" and made["resize"] == "crop"


# pictures


def test_sizes_that_suit_pictures():
    def fit(*given, size=None):
        found = pictures.fit_for([png(*one) for one in given], ["x"] * len(given), size, "letterbox").layout
        return found.width, found.height, found.channels

    assert fit((10, 20), (10, 20)) == (10, 20, 1) and fit((10, 20), (20, 10)) == (128, 128, 1)
    assert fit((128, 9)) == (128, 9, 1) and fit((129, 9)) == (128, 128, 1) and fit((10, 20), size=16) == (16, 16, 1)
    assert fit((10, 20), size=(16, 32)) == (16, 32, 1) and fit((10, 20, (1, 2, 3), "RGB"), (10, 20)) == (10, 20, 3)


def test_pictures_are_brought_to_one_size():
    wide = io.BytesIO()
    Image.fromarray(np.repeat(np.array([[0, 100, 200, 250]], dtype=np.uint8), 2, axis=0)).save(wide, "PNG")

    def encoded(resize):
        return decode(pictures.PictureFit(pictures.Layout(4, 4, 1), resize).encode(wide.getvalue(), "x"))[:, :, 0]

    boxed = encoded("letterbox")
    assert boxed[1].tolist() == [0, 100, 200, 250] and len(set(boxed[0].tolist())) == 1 and (boxed[0] == boxed[3]).all()
    assert encoded("stretch")[0].tolist() == [0, 100, 200, 250] == encoded("stretch")[3].tolist()
    cropped = encoded("crop")
    assert cropped.min() >= 60 and cropped.max() <= 230 and cropped.shape == (4, 4)
    clear = io.BytesIO()
    Image.new("RGBA", (2, 2), (0, 0, 0, 0)).save(clear, "PNG")
    assert (decode(pictures.PictureFit(pictures.Layout(2, 2, 3), "crop").encode(clear.getvalue(), "x")) == 255).all()
    listed = Image.new("P", (2, 2), 1)
    listed.putpalette([9, 9, 9, 50, 60, 70])
    seen, hidden = io.BytesIO(), io.BytesIO()
    listed.save(seen, "PNG")
    listed.save(hidden, "PNG", transparency=1)
    fit = pictures.PictureFit(pictures.Layout(2, 2, 3), "crop")
    assert (
        decode(fit.encode(seen.getvalue(), "x"))[0, 0].tolist() == [50, 60, 70]
        and (decode(fit.encode(hidden.getvalue(), "x")) == 255).all()
    )
    deep = io.BytesIO()
    Image.fromarray(np.array([[256 * 7, 65535]], dtype=np.uint16)).save(deep, "PNG")
    assert decode(pictures.PictureFit(pictures.Layout(2, 1, 1), "crop").encode(deep.getvalue(), "x"))[
        :, :, 0
    ].tolist() == [[7, 255]]


def test_pictures_in_memory():
    assert importing._png(b"x", 0) == b"x"
    assert decode(importing._png(np.array([[0.0, 0.5], [1.0, 0.25]]), 0))[:, :, 0].tolist() == [[0, 128], [255, 64]]
    assert decode(importing._png(np.full((2, 2, 1), 7, dtype=np.uint8), 0)).shape == (2, 2, 1) and decode(
        importing._png(Image.new("L", (2, 3)), 0)
    ).shape == (3, 2, 3)
    for odd in (np.array([[0.0, 1.5]]), np.zeros((2, 2, 5), dtype=np.uint8)):
        with pytest.raises(DataError, match="^picture 4: .*give height x width"):
            importing._png(odd, 4)


def test_tables_of_any_kind_and_rules(tmp_path):
    rows = [{"a": 1, "b": 2}, {"a": 3}]
    assert importing._columns(rows) == {"a": [1, 3], "b": [2, None]} and importing._columns({1: (2, 3)}) == {
        "1": [2, 3]
    }
    assert importing._columns(pa.table({"a": [1]})) == {"a": [1]}
    assert importing._rule({"y": "a"}).values == {"labels": {"y": "a"}} and importing._rule(
        {"labels": {"y": "a"}}
    ).values == {"labels": {"y": "a"}}
    assert importing._rule(None).values == {}
    named = importing._with_names(pa.table({"y": pa.array([0, 1, None, -1]), "x": [1, 2, 3, 4]}), {"y": ["u", "v"]})
    assert named.to_pydict() == {"y": ["u", "v", None, None], "x": [1, 2, 3, 4]} and named.schema.metadata is None
    with pytest.raises(DataError, match="1 pictures for 2 rows of the table; give one for each row"):
        importing.from_table(
            {"concept_a": [1, 0], "label_y": [1, 0]}, tmp_path / "out", images=[np.zeros((8, 8), np.uint8)]
        )
    with pytest.raises(DataError, match=r"expected a datasets.Dataset, a DatasetDict or a folder, not int"):
        importing.from_hf(3, tmp_path / "out")


def test_unused_rows_are_left_out(tmp_path):
    source = table(7, splits=["train", "train", "unused", "train", "valid", "test", "ood"])
    data = importing._write(source, tmp_path / "out", ImportSettings(), None, "x", "my data")
    assert (
        data.manifest["task"]["name"] == "my_data"
        and data.split_names == ("train", "valid", "test", "ood")
        and len(data["train"]) == 3
    )
    assert importing._write(source, tmp_path / "two", ImportSettings(name="mine"), None, "x", "my data").name == "mine"


# Hugging Face


def hf_table(codes, split_column=False):
    known = {
        "huggingface": json.dumps(
            {"info": {"features": {"y": {"names": ["u", "v"], "_type": "ClassLabel"}, "a": {"_type": "Value"}}}}
        )
    }
    cells = {
        "image": [{"bytes": png(level=row), "path": None} for row in range(len(codes))],
        "a": [row % 2 for row in range(len(codes))],
        "y": codes,
    }
    return pa.table({**cells, **({"split": ["own"] * len(codes)} if split_column else {})}).replace_schema_metadata(
        known
    )


def test_parts_of_a_hugging_face_dataset():
    asked = ImportSettings(labels=["y"], concepts=["a"])
    found = hub.table_of_parts([("train", hf_table([0, 1, None])), ("test", hf_table([-1]))], None, asked)
    assert (
        found.labels == {"y": ["u", "v", None, None]}
        and found.splits == ["train", "train", "train", "test"]
        and found.concepts == {"a": [0, 1, 0, 0]}
    )
    assert (
        found.pictures[1] == png(level=1) and hub.table_of_parts([("x", hf_table([0, 1]))], None, asked).splits is None
    )
    assert hub.table_of_parts([("train", hf_table([0, 1], split_column=True))], None, asked).splits == ["own", "own"]
    assert hub.class_names(pa.schema([])) == {} and hub.class_names(pa.schema([], metadata={"huggingface": "{"})) == {}


def test_files_of_a_hugging_face_dataset(tmp_path):
    (tmp_path / "data").mkdir()
    pq.write_table(hf_table([0, 1]), tmp_path / "data" / "train-00000.parquet")
    with (
        pa.OSFile(str(tmp_path / "validation.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, hf_table([0]).schema) as writer,
    ):
        writer.write_table(hf_table([1]))
    for hidden in ("cache-1.arrow", ".x.parquet", "concepts.parquet"):
        (tmp_path / hidden).write_bytes(b"x")
    assert hub.recognise(tmp_path)
    found = hub.read(tmp_path, ImportSettings(labels=["y"], concepts=["a"]))
    assert found.splits == ["train", "train", "valid"] and found.labels == {"y": ["u", "v", "v"]}
    assert (
        hub._split_of(tmp_path / "dev" / "0.parquet", tmp_path) == "valid"
        and hub._split_of(tmp_path / "odd" / "0.parquet", tmp_path) == "odd"
    )
    (tmp_path / "bad.parquet").write_bytes(b"x")
    with pytest.raises(DataError, match="bad.parquet cannot be read"):
        hub.read(tmp_path, ImportSettings())
    with pytest.raises(DataError, match="has no Parquet or Arrow files"):
        hub.read(tmp_path / "data" / "none", ImportSettings())


def test_cells_that_hold_pictures(tmp_path):
    (tmp_path / "a.png").write_bytes(b"file")
    assert hub._bytes(b"x", None) == b"x" and hub._bytes({"bytes": b"y", "path": "a.png"}, tmp_path) == b"y"
    assert (
        hub._bytes({"bytes": None, "path": "a.png"}, tmp_path) == b"file" and hub._bytes("a.png", tmp_path) == b"file"
    )
    for cell, folder in (("a.png", None), (3, tmp_path), ({"path": None}, tmp_path)):
        with pytest.raises(DataError, match="a cell that should hold a picture holds"):
            hub._bytes(cell, folder)
    assert (
        hub._picture({"img": [1], "image": [1]}, "file") == "image"
        and hub._picture({"shot": [1], "image": [1]}, "shot") == "shot"
    )
    assert hub._picture({"x": [3], "shown": [{"bytes": b""}]}, "file") == "shown"
    with pytest.raises(DataError, match="no column holds pictures; name it: --set picture=COLUMN, one of x"):
        hub._picture({"x": [3]}, "file")


# scores of machines, decoding, clusters


def test_scores_of_a_machine(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("index, split,red,big\n4,train,0.5,-1\n2,train,0.25,3\n4,test,1,2\n")
    found = read_scores(path)
    assert (
        found.names == ("red", "big")
        and found.of("train", np.array([2, 4])).tolist() == [[0.25, 3], [0.5, -1]]
        and found.of("test", np.array([4])).tolist() == [[1, 2]]
    )
    for split, index in (("train", 3), ("valid", 4)):
        with pytest.raises(DataError, match=f"the scores say nothing of example {index} of split '{split}'"):
            found.of(split, np.array([index]))
    for text, why in (
        ("index,red\n1,2\n", "expected the columns split, index"), ("index,split\n1,train\n", "one or more concepts"), ("index,split,a,a\n1,t,2,3\n", "expected the columns"), ("", "expected the columns"),
        ("index,split,a\n1,train,x\n", "line 2: expected a split, a whole number and 1 numbers"), ("index,split,a\n1,t,1\n1,t,2\n", "line 3: example 1 of split 't' occurs twice"),
        ("index,split,a\n1.5,t,1\n", "line 2"), ("index,split,a\n1,t,nan\n", "every score must be a number"), ("index,split,a\n1,t\n", "line 2"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DataError, match=why):
            read_scores(path)
    scores, training = np.array([[0.5, 2.0], [0.4, 3.0]]), np.array([[0.0, 1.0], [0.0, 2.0], [1.5, 9.0]])
    assert threshold_scores(scores, training, "mean").tolist() == [[1, 0], [0, 0]] and threshold_scores(
        scores, training, "median"
    ).tolist() == [[1, 1], [1, 1]]
    assert threshold_scores(scores, training, 0.5).tolist() == [[1, 1], [0, 1]]
    refuse_constant(["a"], np.array([[0], [1]]))
    with pytest.raises(DataError, match="the machine says the same of 'b' in every example"):
        refuse_constant(["a", "b"], np.array([[0, 1], [1, 1]]))


def test_batches_are_decoded_ahead_in_order():
    def fill(images, rows):
        images[:] = rows[:, None, None, None]

    order = np.array([5, 3, 9, 1, 7])
    found = list(decode_ahead(fill, (2, 2, 1), order, 2, Lookahead(2, 1)))
    assert [rows.tolist() for rows, _ in found] == [[5, 3], [9, 1], [7]] and [
        images[:, 0, 0, 0].tolist() for _, images in found
    ] == [[5, 3], [9, 1], [7]]
    assert found[0][1].shape == (2, 2, 2, 1) and found[0][1].dtype == np.uint8

    def fail(images, rows):
        raise DataError("damaged")

    with pytest.raises(DataError, match="damaged"):
        list(decode_ahead(fail, (2, 2, 1), order, 2, Lookahead(1, 1)))
    assert (
        Lookahead.of(8, 2, 3) == Lookahead(2, 3)
        and Lookahead.of(10**6, 2, None).batches == 2
        and Lookahead.of(1, 2, None).batches > 2
    )
    assert 1 <= count_workers() <= 16 and Lookahead.of(8, None, 1).workers == count_workers()


def test_calls_on_a_node(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    from pathlib import Path

    versions = cluster.versions()
    assert cluster._do(lambda *given: (Path.cwd(), given), (1, 2), tmp_path / "there", versions) == (
        tmp_path / "there",
        (1, 2),
    )
    assert cluster._do(lambda: Path.cwd(), (), tmp_path / "none", versions) == tmp_path / "there"
    with pytest.raises(
        RunFailed, match=f"a node has numpy {versions['numpy']}, not 0.1; install the same on all nodes"
    ):
        cluster._do(lambda: None, (), tmp_path, {**versions, "numpy": "0.1"})
    clock = iter([0.0, 1.0, 20.9, 21.0, 21.5])
    monkeypatch.setattr(cluster.time, "monotonic", lambda: next(clock))
    looks = []
    glance = cluster._seldom(lambda: looks.append(1))
    for expected in (1, 1, 2):
        glance()
        assert len(looks) == expected


def test_addresses_of_clusters(monkeypatch):
    assert cluster._environment("local")[
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
    ] == "0" and "RAY_gcs_server_port_wait_time_s" not in cluster._environment("local")
    assert cluster._environment("auto") == {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_gcs_server_port_wait_time_s": "1",
    }
    asked = []
    monkeypatch.setattr(cluster, "_answers", lambda host, port: asked.append((host, port)) or host == "good")
    monkeypatch.setattr(cluster, "_outer", lambda: "outer")
    for fine in ("auto", "local", "good:6379", "ray://x/y:1", "good:port"):
        cluster._knock(fine)
    with pytest.raises(ConnectionError, match="nothing answers there"):
        cluster._knock("bad:6379")
    with pytest.raises(ConnectionError):
        cluster._knock("127.0.0.1:6379")
    assert asked[-2:] == [("127.0.0.1", "6379"), ("outer", "6379")]
    resources = {"CPU": 8.0, "GPU": 3.0}
    monkeypatch.setattr(cluster, "_connect", lambda address: SimpleNamespace(cluster_resources=lambda: resources))
    assert cluster.Cluster("x").processors == 8 and cluster.Cluster("x").gpu_share == 0.375
    resources.update(CPU=2.0)
    assert cluster.Cluster("x").gpu_share == 1.0
    resources.clear()
    assert cluster.Cluster("x").processors == 0 and cluster.Cluster("x").gpu_share == 0.0


def test_one_writer_is_kept_on_a_node(monkeypatch):
    monkeypatch.setattr(cluster, "_writers", {})
    monkeypatch.setattr(cluster, "ShardWriter", lambda recipe: [recipe])
    first = cluster._writer("a", "x")
    assert cluster._writer("a", "x") is first and cluster._writer("b", "y") == ["y"] and list(cluster._writers) == ["b"]


def test_errors_of_nodes_are_told():
    errors = SimpleNamespace(
        **{name: type(name, (Exception,), {}) for name in ("RayTaskError", "RuntimeEnvSetupError", "RayError")}
    )

    def get(error):
        def raised(reference):
            raise error

        return SimpleNamespace(get=raised, exceptions=errors)

    ours, theirs = errors.RayTaskError(), errors.RayTaskError()
    ours.cause, theirs.cause = ConfigError("no rule"), ValueError("odd")
    with pytest.raises(ConfigError, match="^no rule$"):
        cluster._result(get(ours), None)
    with pytest.raises(RunFailed, match="a node failed: ValueError: odd"):
        cluster._result(get(theirs), None)
    with pytest.raises(RunFailed, match="a node cannot start workers: x"):
        cluster._result(get(errors.RuntimeEnvSetupError("x")), None)
    assert cluster._result(get(errors.RayError()), None) == cluster.Died(cluster.TRIES)
    assert cluster._result(SimpleNamespace(get=lambda reference: reference, exceptions=errors), 7) == 7
    space = ConceptSpace((*bits(["a"]).concepts, Concept("b", (0, 1))))
    assert write.boundary_columns(Knowledge.of(space, {"y": "a"}), np.array([[-1, 0]]))["boundary_y"].to_pylist() == [
        "not placed"
    ]
