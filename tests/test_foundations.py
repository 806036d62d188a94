"""What everything stands on, edge by edge: settings, registries, files of code, folders, words, numbers, predictions."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from pydantic import BaseModel, Field, field_validator

from assay import code_files, config, distribution, registry
from assay.arrays import as_array, distinct_rows, find_rows, number_rows
from assay.code_files import CodeFile, WrongCode, describe_record, explain_missing, hash_file, load_file, require_same
from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, bits, digits, listing
from assay.config import Config, Settings, check_names, describe_settings, load_yaml, validate
from assay.distribution import import_extra, install_line, is_optional
from assay.errors import ConfigError, DataError, MissingExtra, UnknownName, suggestion
from assay.logic import Constraint, Knowledge, parse
from assay.predictions import Answer, Predictions, answers_in, apply_constraints, read_predictions
from assay.registry import Entry, Registry
from assay.seeds import Draws, Streams, fractions, numbers_below, rng_for

# settings


class Base(Config):
    first: int = 3
    """The first
    of all."""


class Boat(Base):
    came_later: ClassVar[tuple[str, ...]] = ("sails",)
    name: str
    sails: list[str] = Field(default_factory=list)
    """What it is moved by."""
    depth: float = 0.5
    nested: dict[str, int] = {}

    @field_validator("depth")
    @classmethod
    def _shallow(cls, depth: float) -> float:
        if depth > 1:
            raise ValueError("too deep")
        return depth


def test_settings_are_described_by_the_text_below_them():
    assert describe_settings(Boat) == {
        "first": {"default": 3, "help": "The first of all."}, "name": {"default": None, "help": ""},
        "sails": {"default": [], "help": "What it is moved by."}, "depth": {"default": 0.5, "help": ""},
        "nested": {"default": {}, "help": ""},
    }  # fmt: skip
    made = type("Made", (BaseModel,), {"__annotations__": {"x": int}, "x": 1})
    assert describe_settings(made) == {"x": {"default": 1, "help": ""}}


def test_settings_that_came_later_are_recorded_where_they_are_not_the_default():
    class Old(Config):
        came_later: ClassVar[tuple[str, ...]] = ("new",)
        old: int = 1
        new: int = 2

    assert Old().recorded() == {"old": 1} and Old(new=3).recorded() == {"old": 1, "new": 3}


def test_words_of_another_system_are_replaced():
    words = {"mode": {"fast": {"epochs": 1, "lr": 0.5}}}
    settings = Settings({"mode": "fast", "lr": 0.1, "k": 2})
    assert settings.replace_words(words).values == {"lr": 0.5, "k": 2, "epochs": 1}
    for other in ({"mode": "slow"}, {"mode": 3}, {}):
        assert Settings(other).replace_words(words).values == other


def test_places_are_remembered_to_the_key_of_an_entry(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("x:\n  - p: 1\n    q:\n      r: 2\n  - 7\n")
    places = load_yaml(path).places
    assert places == {
        "x": "a.yaml line 1", "x.0": "a.yaml line 2", "x.0.p": "a.yaml line 2", "x.0.q": "a.yaml line 3", "x.1": "a.yaml line 5",
    }  # fmt: skip
    path.write_text("x: {p: 1, p: 2}\n")
    with pytest.raises(ConfigError, match="a.yaml line 1: 'p' is given twice"):
        load_yaml(path)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"name": "x", "dept": 1}, "^file line 2: unknown key 'dept'; did you mean 'depth'"), ({"name": "x", "depth": 3.0}, r"^depth: too deep \(given: 3.0\)$"),
        ({"name": "x", "nested": {"a": "b"}}, r"^nested.a: .*valid integer.* \(given: 'b'\)$"), ({}, "^name: Field required$"),
    ],
)  # fmt: skip
def test_errors_name_the_place_the_key_and_the_fault(values, why):
    with pytest.raises(ConfigError, match=why):
        validate(Boat, Settings(values, {"dept": "file line 2"}))


def test_names_are_known_and_different():
    assert check_names(["a", "b"], ["b", "a"], "thing") == ["a", "b"]
    for names, why in (
        (["a", "c"], "no thing named 'c'"),
        (["a", "a"], "one or more different names"),
        ([], "one or more different"),
    ):
        with pytest.raises(ValueError, match=why):
            check_names(names, ["a", "b"], "thing")
    assert config.DEPTH == 2


# errors and words


def test_listings_name_the_first_and_count_the_rest():
    assert listing(range(12)).endswith("11") and listing(range(13)).endswith("11, ... (13 in all)")
    assert listing("abc", most=2) == "a, b, ... (3 in all)"


def test_near_names_are_suggested_and_others_listed():
    assert suggestion("collaps", ["accuracy", "collapse"]) == "; did you mean 'collapse'?"
    assert suggestion("x", ["b", "a"]) == "; there is: a, b" and suggestion("x", []) == "; there is none"
    names = [f"n{number:02d}" for number in range(41)]
    assert suggestion("zzz", names[:40]).endswith("n39") and suggestion("zzz", names).endswith("n39 and 1 more")


# optional packages


def test_missing_packages_are_told_with_what_brings_them(monkeypatch):
    assert install_line("train", "view") == "pip install '.[train,view]' in Assay's source folder"
    assert is_optional("sklearn.tree") and not is_optional("numpy") and not is_optional(None)

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(distribution.importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"a tree needs sklearn: pip install '.\[probes\]'"):
        import_extra("sklearn.tree", "a tree")
    with pytest.raises(ModuleNotFoundError, match="other"):
        import_extra("other", "it")


# registries


@pytest.fixture
def points(monkeypatch):
    """Return a function that makes a registry with these entry points of packages."""
    import importlib.metadata

    def made(*offered, **how):
        found = [
            SimpleNamespace(name=name, value=value, dist=None if package is None else SimpleNamespace(name=package))
            for name, value, package in offered
        ]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found if group == "things" else [])
        return Registry("thing", group="things", **how)

    return made


def test_packages_register_objects_and_modules(points, monkeypatch):
    monkeypatch.setitem(sys.modules, "package_of_things", ModuleType("package_of_things"))
    offered = (
        ("root", "math:sqrt", "numbers"),
        ("many", "package_of_things", "things"),
        ("own", "assay.errors", "assay"),
    )
    found = points(*offered, filled_by="assay.errors")
    assert list(found) == ["root"] and found["root"](4) == 2.0 and found.installed == {"root"} and found.scanned
    assert found.entry("root").summary == "from the package numbers" and not found.broken


def test_a_package_that_fails_is_left_out(points):
    found = points(("bad", "no_such_module_at_all", None), ("root", "math:sqrt", "numbers"))
    found.add("bundled", "ours", len)
    assert list(found) == ["bundled", "root"]
    assert list(found.broken) == ["no_such_module_at_all: bad"] and found.broken[
        "no_such_module_at_all: bad"
    ].startswith("ModuleNotFoundError: ")
    assert found._is_bundled("bundled") and not found._is_bundled("root") and not found._is_bundled("other")
    found.add("root", "again", "math:cos")  # the module behind an entry point registers itself
    assert found["root"](4) == 2.0


def test_an_entry_point_of_what_is_registered_counts_as_installed(points):
    import math

    found = points(("root", "math:sqrt", "numbers"), ("other", "math:cos", "numbers"))
    found.add("root", "ours", math.sqrt)
    found.add("other", "ours", math.sin)
    assert found.entries and found.installed == {"root"}
    assert "registered twice" in found.broken["numbers: other"]


def test_what_is_installed_describes_itself(points):
    found = points(("counter", "collections:Counter", "numbers"))
    assert (
        found.describe("counter").startswith("Dict subclass for counting")
        and found.entry("counter").summary == "from the package numbers"
    )
    found.add("plain", "a line", "math:sqrt")
    assert found.describe("plain") == "a line"
    assert (
        registry._summary_of(SimpleNamespace(summary="one\ntwo")) == "one"
        and registry._summary_of(SimpleNamespace(summary="", name="n")) == "n"
    )
    assert Entry("x", "", "math:pi").load() == pytest.approx(3.14159, abs=1e-5)


FILE = """
from assay.metrics.metric import Metric

first = Metric("first", "The first.", "higher", values=len)
second = Metric("second", "The second.", "lower", values=len)
"""


@pytest.fixture
def metrics():
    return Registry("metric", base="assay.metrics.metric:Metric")


def test_things_in_a_file_are_found(tmp_path, metrics):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    assert metrics.resolve(f"{path}:first") == "first" and metrics.find(f"{path}:second").better == "lower"
    assert (
        list(metrics) == ["first", "second"]
        and metrics.entry("first").code == hash_file(path)
        and metrics.describe("second") == "The second."
    )
    with pytest.raises(
        ConfigError, match=r"expected one metric in the file, found first, second; name one, as in .*mine.py:first"
    ):
        metrics.resolve(str(path))
    with pytest.raises(UnknownName, match="has no metric named 'frist'; did you mean 'first'"):
        metrics.resolve(f"{path}:frist")
    (tmp_path / "none.py").write_text("x = 1\n")
    with pytest.raises(ConfigError, match="expected one metric in the file, found none$"):
        metrics.resolve(str(tmp_path / "none.py"))
    (tmp_path / "one.py").write_text(FILE.rpartition("second =")[0])
    metrics.add("first", "ours", len)
    with pytest.raises(ConfigError, match="assay has a metric named 'first'; give yours another name"):
        metrics.resolve(str(tmp_path / "one.py"))
    with pytest.raises(ConfigError, match="a thing cannot be given as a file"):
        Registry("thing").resolve(str(path))
    assert metrics["first"] is len and metrics.resolve("first") == "first"


def test_only_whole_classes_of_the_file_itself_count():
    class Kind:
        name = "kind"

    class Nameless(Kind):
        name = None

    class Abstract(Kind):
        name = "abstract"
        __abstractmethods__ = frozenset({"x"})

    here = __name__
    assert (
        registry._is_kind(Kind, Kind, here)
        and registry._is_kind(Kind(), Kind, "other")
        and not registry._is_kind(3, Kind, here)
    )
    assert (
        not registry._is_kind(Kind, Kind, "other")
        and not registry._is_kind(Nameless, Kind, here)
        and not registry._is_kind(Abstract, Kind, here)
    )
    assert not registry._is_kind(int, Kind, here)


# files of code


def test_a_file_is_run_once_as_it_is(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("import sys\nvalue = len(sys.modules)\nclass Mine: pass\n")
    first = load_file(path)
    assert load_file(path) is first and code_files.loaded_files() == (first,)
    assert code_files.code_of(first.module.Mine) == first.file == hash_file(path) and code_files.code_of(Path) is None
    assert (
        first.file.to_dict() == {"name": "mine.py", "sha256": first.file.sha256}
        and str(first.file) == f"mine.py (sha256 {first.file.sha256[:12]})"
    )
    assert first.module.__name__ in sys.modules and first.module.__spec__.origin == str(path)
    path.write_text("value = 2\n")
    second = load_file(path)
    assert second.module.value == 2 and code_files.loaded_files() == (second,)
    with pytest.raises(WrongCode, match="mine.py has changed since it was read"):
        load_file(path, first.file.sha256)
    code_files.load_files([second.file])
    code_files.forget_files()
    assert code_files.loaded_files() == () and code_files.running_file() is None
    with pytest.raises(ConfigError, match="no file"):
        load_file(tmp_path / "no.py")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("x =", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_run_leaves_nothing(tmp_path, text, why):
    path = tmp_path / "bad.py"
    path.write_text(text)
    before = set(sys.modules)
    with pytest.raises(ConfigError, match=f"^bad.py cannot be run: {why}"):
        load_file(path)
    assert (
        not {name for name in set(sys.modules) - before if name.startswith("assay_file_")} and not code_files._running
    )


def test_recorded_files_are_only_shown():
    record = {"name": "a/../evil\n.py", "sha256": "0123456789abcdef"}
    assert describe_record(record) == "evil.py (sha256 0123456789ab)" and describe_record(3) is None
    assert describe_record({}) == "FILE.py (sha256 )" and describe_record({"name": "x" * 90})[:80] == "x" * 80
    given = CodeFile(Path("mine.py"), "f" * 64)
    require_same(None, record, "it")
    require_same(given, None, "it")
    require_same(given, {"sha256": "f" * 64}, "it")
    with pytest.raises(WrongCode, match=r"it is of evil.py \(sha256 0123456789ab\), the file given is mine.py"):
        require_same(given, record, "it")
    assert (
        explain_missing("task", "t", None, "it")
        == "the task 't' of it is not installed; install its package, or give its file: --task FILE.py"
    )
    assert (
        explain_missing("task", "t", record, "it")
        == "the task 't' of it is in evil.py (sha256 0123456789ab), which is not run unasked; give it: --task evil.py"
    )
    assert code_files.split_reference("a/b.py:X") == (Path("a/b.py"), "X") and code_files.split_reference("b.py") == (
        Path("b.py"),
        None,
    )
    assert code_files.split_reference("mnadd") is None


# numbers


def test_rows_are_found_by_their_numbers():
    assert find_rows(np.array([7, 5, 6, 99, 1]), np.array([5, 9, 7])).tolist() == [2, 0, -1, -1, -1]
    assert find_rows(np.array([3, 4]), np.array([3, 4])).tolist() == [0, 1] and find_rows(
        np.array([3]), np.array([], dtype=int)
    ).tolist() == [-1]
    assert as_array(SimpleNamespace(detach=lambda: SimpleNamespace(cpu=lambda: [1, 2]))).tolist() == [
        1,
        2,
    ] and as_array([3]).tolist() == [3]


@pytest.mark.parametrize("wide", [1, 10**6, 2**40])
def test_distinct_rows_are_those_of_numpy(wide):
    rng = np.random.default_rng(3)
    left, right = rng.integers(-1, 3, size=(60, 2)) * wide, rng.integers(0, 2, size=(60, 2)) * wide
    found, both = distinct_rows(left, right), np.concatenate([left, right], axis=1)
    rows, first, which, counts = np.unique(both, axis=0, return_index=True, return_inverse=True, return_counts=True)
    assert (
        found.first.tolist() == first.tolist()
        and found.which.tolist() == which.ravel().tolist()
        and found.counts.tolist() == counts.tolist()
    )
    assert (
        len(found) == len(rows)
        and (np.argsort(number_rows(left, right), kind="stable") == np.lexsort(both.T[::-1])).all()
    )


def test_words_of_random_numbers():
    assert fractions(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)).tolist() == [0.0, 0.5, 1 - 2.0**-53]
    assert numbers_below(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), 10).tolist() == [0, 5, 9]
    assert numbers_below(np.array([2**63, 2**63], dtype=np.uint64), np.array([4, 7])).tolist() == [2, 3]
    draws = Draws(0, "a")
    words = draws.words(np.arange(3), 4)
    assert words.shape == (3, 4) and len(set(words.ravel().tolist())) == 12
    assert (
        draws.words(np.array([2, 0]), 4).tolist() == [words[2].tolist(), words[0].tolist()]
        and (draws.words(np.arange(3), 2) == words[:, :2]).all()
    )
    assert (draws.words(np.arange(3), 4, turn=1) != words).all() and (
        Draws(0, "b").words(np.arange(3), 4) != words
    ).all()
    assert abs(fractions(draws.words(np.arange(4000), 1)).mean() - 0.5) < 0.02
    assert Streams(1, "t", "train")[7].random() == rng_for(1, "t", "train", 7).random()


# concepts


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Concept("1a", (0,)), "is no identifier"), (lambda: Concept("a.if", (0,)), "or reserved"), (lambda: Concept("true", (0,)), "reserved"),
        (lambda: Concept("__x", (0,)), "reserved"), (lambda: Concept("a", (0.5,)), "needs truth values, whole numbers or symbols"), (lambda: Concept("a", ()), "needs distinct values"),
        (lambda: Concept("a", (1, 1)), "needs distinct values"), (lambda: Concept("a", (1, 2), counts=True), "counts things, so its values are 0, 1, 2"),
        (lambda: Concept("a", (1, "x")), "mixes kinds"), (lambda: Concept("a", (0, 1), nothing=5), "says nothing by 5"), (lambda: Concept("a", (0, 1), nothing=True), "says nothing by True"),
        (lambda: ConceptSpace(()), "empty space"), (lambda: ConceptSpace((Concept("a", (0,)), Concept("a", (0,)))), r"twice: \['a'\]"),
        (lambda: ConceptSpace((Concept("a", (0, 1)),), (Slot("s", "g", ()),)), "slot 's' has no attributes"),
        (lambda: ConceptSpace((Concept("a", (0, 1)),), encoders=(EncoderGroup("e", ()),)), "every concept of the space exactly once"),
        (lambda: ConceptSpace((Concept("a", (0, 1)), Concept("b", (0, 2))), encoders=(EncoderGroup("e", ("a", "b")),)), "holds concepts with different values"),
        (lambda: ConceptSpace((Concept("s.a", ("x", "absent")), Concept("s.b", ("x", "y"))), (Slot("s", "g", ("a", "b")),)), "either all attributes may be absent or none"),
    ],
)  # fmt: skip
def test_concepts_that_cannot_be(make, why):
    with pytest.raises(ConfigError, match=why):
        make()


def test_codes_of_concepts():
    truth, count = Concept("t", (False, True)), Concept("n", (0, 1, 2), counts=True)
    assert truth.code(1) == 1 and truth.code(False) == 0 and Concept("k", (1, 0)).code(0) == 1
    with pytest.raises(UnknownName, match="concept 'n' has no value True; it has: 0, 1, 2"):
        count.code(True)
    shape = Concept("s", ("round", "absent", "flat"))
    assert (shape.present, shape.kind, shape.optional, shape.nothing_code) == (("round", "flat"), "symbol", True, 1)
    assert (
        count.nothing_code == 0
        and Concept("k", (0, 1)).nothing_code == -1
        and truth.nothing_code == 0
        and not truth.optional
    )
    assert Concept("q", ("x", "e"), nothing="e").nothing_code == 1 and Concept("o", ("absent",)).optional is False
    space = ConceptSpace((Concept("c1.k", (0, 1)), Concept("c2.k", (0, 1)), Concept("d1.k", (0, 2)), Concept("x", (5, 6, 7))),
                         (Slot("c1", "car", ("k",)), Slot("c2", "car", ("k",)), Slot("d1", "dog", ("k",))))  # fmt: skip
    assert {name: [slot.name for slot in slots] for name, slots in space.groups.items()} == {
        "car": ["c1", "c2"],
        "dog": ["d1"],
    }
    assert (
        [[slot.name for slot in kind] for kind in space.kinds] == [["c1", "c2"], ["d1"]]
        and space.worlds == 24
        and space.sizes == (2, 2, 2, 3)
    )
    assert space.slots[0].concepts == ("c1.k",) and space.decode([0, -1, 1, 2]) == {"c1.k": 0, "d1.k": 2, "x": 7}
    assert space.encode([{"c1.k": 1, "c2.k": 0, "d1.k": 2, "x": 6}]).tolist() == [[1, 0, 1, 1]] and space.encode(
        []
    ).shape == (0, 4)
    with pytest.raises(UnknownName, match="a row without the concept 'c2.k'; it has: c1.k"):
        space.encode([{"c1.k": 1}])
    assert (
        bits(["a", "b"]).all_codes().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
        and len(bits(["a", "b"], shared=True).encoders) == 1
    )
    assert digits(["a", "b"], (3, 4)).concepts[1].values == (3, 4) and [
        group.name for group in digits(["a"]).encoders
    ] == ["digit"]


# predictions


KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a and b"}, (Constraint("one", parse("a != b")),))


def said(**more):
    facts = {
        "labels": {"y": Answer.of(np.array([[0.25, 0.75], [1.0, 0.0]]))},
        "concepts": {"b": Answer(np.array([1, -1]))},
        "about": {"model": "m"},
    }
    return Predictions("print", "test", np.array([4, 2]), **{**facts, **more})


def test_predictions_are_read_as_they_were_written(tmp_path):
    said().write(tmp_path / "p.parquet", KNOWLEDGE)
    read = read_predictions(tmp_path / "p.parquet", KNOWLEDGE)
    assert (read.fingerprint, read.split, read.index.tolist(), read.about) == ("print", "test", [4, 2], {"model": "m"})
    assert read.labels["y"].codes.tolist() == [1, 0] and read.labels["y"].probabilities.tolist() == [
        [0.25, 0.75],
        [1.0, 0.0],
    ]
    assert (
        read.concepts["b"].codes.tolist() == [1, -1]
        and read.concepts["b"].probabilities is None
        and set(read.concepts) == {"b"}
    )
    assert (
        repr(read) == "Predictions(m, split test: 2 examples; labels y; concepts b)"
        and repr(said(concepts={}, about={})) == "Predictions(split test: 2 examples; labels y; concepts none)"
    )
    assert (
        repr(read.labels["y"]) == "Answer(2 examples, probabilities of 2 values)"
        and repr(read.concepts["b"]) == "Answer(2 examples, codes)"
    )


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[0.5, 0.5015], [1.0, 0.0]], "add up to 1 in each row"), ([[1.5, -0.5], [1.0, 0.0]], "from 0 to 1"), ([[0.5, 0.25, 0.25], [1.0, 0.0]], "must list 2 probabilities"),
        ([[0.5, None], [1.0, 0.0]], "must be numbers"), ([None, [1.0, 0.0]], "must list 2"), ([["a", "b"], ["c", "d"]], "must list 2 probabilities"), ([0.5, 0.5], "must list 2"),
    ],
)  # fmt: skip
def test_probabilities_that_cannot_be(rows, why):
    with pytest.raises(DataError, match=f"^here: label_y_probabilities: .*{why}"):
        answers_in(pa.table({"label_y_probabilities": rows}), KNOWLEDGE, "here")


def test_probabilities_may_miss_one_by_rounding():
    labels, concepts = answers_in(
        pa.table({"label_y_probabilities": [[0.5, 0.5009], [1, 0]], "concept_a": [True, None]}), KNOWLEDGE, "here"
    )
    assert labels["y"].codes.tolist() == [1, 0] and concepts["a"].codes.tolist() == [1, -1]
    for columns, why in (
        ({"label_z": [True]}, "unknown column 'label_z'; did you mean 'label_y'"),
        ({"concept_ab": [True]}, "unknown column 'concept_ab'"),
    ):
        with pytest.raises(DataError, match=f"^here: {why}"):
            answers_in(pa.table(columns), KNOWLEDGE, "here")
    twice = pa.Table.from_arrays([pa.array([True]), pa.array([True])], names=["label_y", "label_y"])
    with pytest.raises(DataError, match="column 'label_y' is there 2 times; leave one"):
        answers_in(twice, KNOWLEDGE, "here")


def test_constraints_choose_the_most_probable_world_that_can_be():
    soft = {"a": Answer.of(np.array([[0.4, 0.6], [0.9, 0.1]])), "b": Answer.of(np.array([[0.2, 0.8], [0.3, 0.7]]))}
    found = apply_constraints(said(concepts=soft), KNOWLEDGE)
    assert [found.concepts[name].codes.tolist() for name in "ab"] == [[0, 0], [1, 1]] and found.labels[
        "y"
    ].codes.tolist() == [1, 0]
    assert found.about == {
        "model": "m",
        "decoded": {"changed": 1, "not_proven": 0, "not_found": 0, "labels_by_rule": False},
    }
    assert found.concepts["a"].probabilities.tolist() == soft["a"].probabilities.tolist()
    ruled = apply_constraints(said(concepts=soft), KNOWLEDGE, labels_by_rule=True)
    assert (
        ruled.labels["y"].codes.tolist() == [0, 0]
        and ruled.labels["y"].probabilities is None
        and ruled.about["decoded"]["labels_by_rule"]
    )
    with pytest.raises(
        DataError, match="decoding needs the probabilities of every concept; add a column 'concept_b_probabilities'"
    ):
        apply_constraints(said(concepts={"a": soft["a"], "b": Answer(np.array([0, 1]))}), KNOWLEDGE)
    with pytest.raises(DataError, match="the rule has no constraints"):
        apply_constraints(said(concepts=soft), Knowledge.of(bits(["a", "b"]), {"y": "a"}))
