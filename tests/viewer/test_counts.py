"""What the viewer counts is what a plain look through all rows counts, however uneven: concepts that nobody knows, runs
that answer some rows only, out of order, or say little, constraints that answers break, a split in several files.
"""

import itertools
import json
import random
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset
from assay.logic import Concept, ConceptSpace, Constraint, EncoderGroup, Knowledge, parse
from assay.render import Layout, Picture
from assay.tasks import Task
from tests.canned import run_of
from tests.toys import written
from tests.viewer.forging import divide

SIZES = (3, 3, 2)
RUNS = ("whole", "some", "few", "mute")
LIMITS = {"sum": lambda a, b, c: a + b < 4, "free": lambda a, b, c: b < 2 or not c}


class Uneven(Task):
    """Two digits that share an encoder, and a flag."""

    name = "uneven"
    sizes = {"train": 24, "valid": 6, "test": 60}

    @cached_property
    def knowledge(self):
        digits = (Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (False, True)))
        space = ConceptSpace(digits, encoders=(EncoderGroup("digit", ("a", "b")), EncoderGroup("c", ("c",))))
        limits = (Constraint("sum", parse("a + b < 4")), Constraint("free", parse("b < 2 or not c")))
        return Knowledge.of(space, {"y": "a > b", "z": "c"}, limits)

    @cached_property
    def layout(self):
        return Layout(3, 1)

    def style(self, rng, codes: Sequence[int], pool):
        return {}

    def render(self, world):
        return Picture(100 * np.array([world.codes], dtype=np.uint8))


def forget(table):
    """Forget one concept in every seventh row."""
    column = table["concept_b"].to_pylist()
    unknown = pa.array([None if row % 7 == 3 else value for row, value in enumerate(column)], table["concept_b"].type)
    return table.set_column(table.column_names.index("concept_b"), table.schema.field("concept_b"), unknown)


class Truth:
    """A split as its files have it, row by row."""

    def __init__(self, folder, split):
        shards = next(one for one in listed(folder) if one["name"] == split)["shards"]
        tables = [pq.ParquetFile(folder / shard["file"]).read() for shard in shards]
        self.rows = pa.concat_tables(tables).to_pylist()
        self.index = [row["index"] for row in self.rows]
        self.concepts = [[code(row[f"concept_{name}"]) for name in "abc"] for row in self.rows]
        self.labels = [[code(row[f"label_{name}"]) for name in "yz"] for row in self.rows]
        self.tags = {name: [row[f"boundary_{name}"].split("; ") for row in self.rows] for name in "yz"}


def code(value):
    return -1 if value is None else int(value)


def listed(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return [*manifest["splits"], {"name": "pairs", **manifest["pairs"]}]


def said_of(truth, kind, rng):
    """Return what a run says: for some rows, in any order; of each its labels and concepts, -1 where it is silent."""
    share = {"whole": 1.0, "some": 0.7, "few": 0.1, "mute": 0.9}[kind]
    rows = [row for row in range(len(truth.rows)) if rng.random() < share] or [0]
    rng.shuffle(rows)
    said = {}
    for row in rows:
        concepts = [
            rng.randrange(size) if true < 0 or rng.random() < 0.2 else true
            for true, size in zip(truth.concepts[row], SIZES, strict=True)
        ]
        labels = [1 - true if rng.random() < 0.15 else true for true in truth.labels[row]]
        if kind == "some":
            concepts, labels = ([-1 if rng.random() < 0.1 else one for one in codes] for codes in (concepts, labels))
        said[row] = labels, ([-1] * 3 if kind == "mute" else concepts)
    return said


@pytest.fixture(scope="module")
def uneven(opened, tmp_path_factory):
    """The viewer, the splits, and what runs say of each row, by split and run."""
    folder = tmp_path_factory.mktemp("uneven")
    written(Uneven(), folder / "data", pairs=30)
    dataset, rng = Dataset.open(divide(folder / "data", (10, 33, 17), forget)), random.Random(5)
    truths = {split: Truth(folder / "data", split) for split in ("test", "pairs")}
    said = {split: {run: said_of(truth, run, rng) for run in RUNS} for split, truth in truths.items()}
    for run in RUNS:
        path = run_of(dataset, folder / "runs" / run, "silent")
        for split, truth in truths.items():
            rows = list(said[split][run])
            labels, concepts = (np.array([said[split][run][row][part] for row in rows]) for part in (0, 1))
            index = np.array([truth.index[row] for row in rows])
            named = {name: Prediction(labels[:, place]) for place, name in enumerate("yz")}
            spoken = {} if run == "mute" else {name: Prediction(concepts[:, place]) for place, name in enumerate("abc")}
            answers = Predictions(dataset.fingerprint, split, index, named, spoken)
            answers.write(path / f"predictions/{split}.parquet", dataset.knowledge)
    return opened(folder), truths, said


def pairs_of_codes(truth, said, row):
    """Return the true and the predicted code of each concept that is known and said."""
    both = zip(truth.concepts[row], said[row][1], strict=True)
    return [(place, one, two) for place, (one, two) in enumerate(both) if one >= 0 and two >= 0]


def facts(truth, said, row):
    """Return what is true of an answer: right, misread, and the constraints that it breaks."""
    if row not in said:
        return {"answered": False, "right": False, "misread": False, "broken": []}
    labels, concepts = said[row]
    broken = [name for name, holds in LIMITS.items() if min(concepts) >= 0 and not holds(*concepts)]
    misread = any(one != two for _, one, two in pairs_of_codes(truth, said, row))
    return {"answered": True, "right": labels == truth.labels[row], "misread": misread, "broken": broken}


def outcome_of(truth, every, row, outcome):
    found = [facts(truth, said, row) for said in every]
    first = found[0]
    if outcome in ("right", "misread"):
        return first[outcome]
    if outcome == "wrong":
        return first["answered"] and not first["right"]
    if outcome == "hidden":
        return first["right"] and first["misread"]
    if outcome == "violating":
        return bool(first["broken"])
    if outcome in ("only_first", "only_second"):
        one, other = found[:2] if outcome == "only_first" else found[1::-1]
        return one["answered"] and other["answered"] and one["right"] and not other["right"]
    if not all(one["answered"] for one in found):
        return False
    if outcome == "differ":
        return any(said[row][0] != every[0][row][0] for said in every[1:])
    return all(one["right"] for one in found) if outcome == "all_right" else not any(one["right"] for one in found)


def kinds(truth, label):
    """Return what each tag of a label is: far, a change, or by whether the label holds on any row that has it."""
    place, tags = "yz".index(label), truth.tags[label]
    named = dict.fromkeys(name for row in tags for name in row)
    holds = {name for row, own in enumerate(tags) if truth.labels[row][place] == 1 for name in own}
    return {
        name: "far" if name == "far" else "changes" if name.startswith("change ") else "holds" if name in holds else "just misses"
        for name in named
    }  # fmt: skip


def has_tag(truth, label, row, wanted):
    own, kind = truth.tags[label][row], kinds(truth, label)
    if wanted == "*near":
        return any(kind[name] in ("changes", "just misses") for name in own)
    return any(kind[name] == "holds" for name in own) if wanted == "*holds" else wanted in own


COLUMNS = {"digit": (0, 1), "a": (0,), "b": (1,), "c": (2,)}


def asked_for(truth, every, row, query):
    """Return whether a row is what a query asks for."""
    for key, value in query:
        name, _, rest = value.partition(":")
        own = every[0].get(row) if every else None
        if key == "label" and truth.labels[row]["yz".index(name)] != int(rest):
            return False
        if key == "concept" and truth.concepts[row]["abc".index(name)] != int(rest):
            return False
        if key == "tag" and not has_tag(truth, name, row, rest):
            return False
        if key == "outcome" and not outcome_of(truth, every, row, value):
            return False
        if key == "predicts" and (own is None or own[0]["yz".index(name)] != (-1 if rest == "none" else int(rest))):
            return False
        if key == "violates" and value not in facts(truth, every[0], row)["broken"]:
            return False
        if key == "reads":
            true, read = rest.split(":")
            wanted = int(true), -1 if read == "none" else int(read)
            if own is None or wanted not in [(truth.concepts[row][c], own[1][c]) for c in COLUMNS[name]]:
                return False
    return True


OF_ONE = ("right", "wrong", "misread", "hidden", "violating")
OF_MORE = ("only_first", "only_second", "differ", "all_right", "all_wrong")


def random_query(rng, truth):
    runs = rng.sample(RUNS, rng.randrange(4))
    query = [("run", run) for run in runs]
    for _ in range(rng.randrange(1, 4)):
        label, concept = rng.choice("yz"), rng.choice("abc")
        size = SIZES["abc".index(concept)]
        choices = [("label", f"{label}:{rng.randrange(2)}"), ("concept", f"{concept}:{rng.randrange(size)}"),
                   ("tag", f"{label}:{rng.choice(['*near', '*holds', 'nothing', *kinds(truth, label)])}")]  # fmt: skip
        if runs:
            group = rng.choice(list(COLUMNS))
            size = SIZES[COLUMNS[group][0]]
            choices += [("predicts", f"{label}:{rng.choice(['0', '1', 'none'])}"), ("violates", rng.choice(list(LIMITS))),
                        ("reads", f"{group}:{rng.randrange(size)}:{rng.choice([*map(str, range(size)), 'none'])}")]  # fmt: skip
        query.append(rng.choice(choices))
    if runs and rng.random() < 0.6:
        query.append(("outcome", rng.choice(OF_ONE + (OF_MORE if len(runs) > 1 else ()))))
    return runs, query


def test_a_query_finds_the_rows_that_all_of_it_is_true_of(uneven):
    viewer, truths, said = uneven
    truth, rng, sizes = truths["test"], random.Random(1), set()
    for _ in range(250):
        runs, query = random_query(rng, truth)
        every = [said["test"][run] for run in runs]
        wanted = [row for row in range(60) if asked_for(truth, every, row, query)]
        assert viewer.rows("test", query, "data") == wanted, query
        sizes.add(len(wanted))
    assert len(sizes) > 20


def test_a_page_counts_the_labels_and_tags_of_its_rows_and_says_what_was_read(uneven):
    viewer, truths, said = uneven
    truth, own = truths["test"], said["test"]["some"]
    for query in ([], [("label", "y:1")], [("concept", "b:2"), ("label", "z:0")], [("tag", "y:nothing")]):
        rows = [row for row in range(60) if asked_for(truth, [], row, query)]
        found = viewer.get("data/data/test.json", [*query, ("run", "some")])
        assert (found["total"], found["whole"]) == (len(rows), 60)
        for place, name in enumerate("yz"):
            assert found["labels"][name] == [sum(truth.labels[row][place] == code for row in rows) for code in (0, 1)]
            told = {tag["name"]: (tag["kind"], tag["count"]) for tag in found["tags"][name]}
            kind = kinds(truth, name)
            assert told == {tag: (kind[tag], sum(tag in truth.tags[name][row] for row in rows)) for tag in kind}
        for brief in found["rows"]:
            row, answer = brief["row"], brief["said"]["some"]
            assert brief["index"] == truth.index[row] and (answer is None) == (row not in own)
            if answer is not None:
                wrong = [[place, one, two] for place, one, two in pairs_of_codes(truth, own, row) if one != two]
                assert answer["labels"] == own[row][0] and answer["right"] == facts(truth, own, row)["right"]
                assert answer["misread"] == len(wrong) and answer["reads"] == wrong[:4]


def test_a_sample_has_what_is_true_and_what_each_run_says(uneven):
    viewer, truths, said = uneven
    for split, truth in truths.items():
        for row in range(0, len(truth.rows), 4):
            found = viewer.get(f"data/data/{split}/{row}.json")
            assert found["concepts"] == truth.concepts[row] and found["labels"] == truth.labels[row]
            assert found["tags"] == {name: truth.tags[name][row] for name in "yz"} and found["violated"] == []
            for run in RUNS:
                answer, own = found["answers"][run], said[split][run]
                if row not in own:
                    assert answer is None
                    continue
                codes = [[one["code"] for one in answer[kind]] for kind in ("labels", "concepts")]
                assert codes == [*own[row]] and answer["violated"] == facts(truth, own, row)["broken"]
                a, b, c = own[row][1]
                assert answer["by_rule"] == (None if min(a, b, c) < 0 else [int(a > b), int(c)])


def share(truth, codes):
    both = [(one, two) for one, two in zip(truth, codes, strict=True) if one >= 0 and two >= 0]
    return pytest.approx(sum(one == two for one, two in both) / len(both), abs=1e-4) if both else None


def test_runs_are_compared_on_the_rows_that_all_have_answers_for(uneven):
    viewer, truths, said = uneven
    truth = truths["test"]
    for runs in itertools.chain(itertools.combinations(RUNS, 2), itertools.permutations(RUNS, 3)):
        every = [said["test"][run] for run in runs]
        rows = [row for row in range(60) if all(row in own for own in every)]
        found = viewer.get("data/data/test/compare.json", [("run", run) for run in runs])
        right = [{row for row in rows if facts(truth, own, row)["right"]} for own in every]
        assert found["rows"] == len(rows) and found["right"] == [len(one) for one in right]
        assert found["only"] == [[len(one - other) for other in right] for one in right]
        for name in ("differ", "all_right", "all_wrong"):
            assert found[name] == sum(outcome_of(truth, every, row, name) for row in rows)
        for kind, names, part in (("labels", "yz", 0), ("concepts", "abc", 1)):
            for place, name in enumerate(names):
                true = [getattr(truth, kind)[row][place] for row in rows]
                shares = [share(true, [own[row][part][place] for row in rows]) for own in every]
                assert found[kind][place]["name"] == name and found[kind][place]["right"] == shares
        misread = [sum(facts(truth, own, row)["misread"] for row in rows) for own in every]
        assert found["misread"] == [None if run == "mute" else n for run, n in zip(runs, misread, strict=True)]
        for place in (0, 1):
            counts = [[sum((every[0][row][0][place], every[1][row][0][place]) == (one, two) for row in rows)
                       for two in (0, 1)] for one in (0, 1)]  # fmt: skip
            assert found["labels"][place]["against"] == (counts if len(runs) == 2 else None)
    for runs in ([], ["whole"], ["whole", "whole"]):
        why = viewer.why_not("data/data/test/compare.json", [("run", run) for run in runs])
        assert "comparing takes from 2 to 20 different runs" in why


def confusion(pairs, size):
    """Return how often each value is said for each true one that is known, in the last column nothing."""
    counts = [[0] * (size + 1) for _ in range(size)]
    for true, read in pairs:
        if true >= 0:
            counts[true][read if read >= 0 else size] += 1
    return counts


@pytest.mark.parametrize("run", RUNS)
def test_how_a_run_reads_a_split(uneven, run):
    viewer, truths, said = uneven
    truth, own = truths["test"], said["test"][run]
    silent = [-1] * 2, [-1] * 3
    told = [own.get(row, silent) for row in range(60)]
    found = viewer.get(f"runs/data/{run}/test/reading.json")
    assert (found["whole"], found["answered"]) == (60, len(own))
    for name, count in found["outcomes"].items():
        assert count == sum(outcome_of(truth, [own], row, name) for row in range(60))
    for place, label in enumerate(found["labels"]):
        counts = confusion([(truth.labels[row][place], told[row][0][place]) for row in range(60)], 2)
        assert label["counts"] == counts and label["right"] == counts[0][0] + counts[1][1]
    groups = {group["name"]: group for group in found["groups"]}
    assert set(groups) == (set() if run == "mute" else {"digit", "c"})
    for name, group in groups.items():
        pairs = [(truth.concepts[row][c], told[row][1][c]) for row in range(60) for c in COLUMNS[name]]
        size = SIZES[COLUMNS[name][0]]
        assert group["counts"] == confusion(pairs, size)
        assert group["answered"] == sum(true >= 0 and read >= 0 for true, read in pairs)
    for place, concept in enumerate(found["concepts"]):
        both = [
            (t, r) for row in range(60) if (t := truth.concepts[row][place]) >= 0 and (r := told[row][1][place]) >= 0
        ]
        assert (concept["right"], concept["answered"]) == (sum(t == r for t, r in both), len(both))
    broken = {name: sum(name in facts(truth, own, row)["broken"] for row in range(60)) for name in LIMITS}
    assert {one["name"]: one["count"] for one in found["constraints"]} == broken
    counts = [one["count"] for one in found["constraints"]]
    assert counts == sorted(counts, reverse=True)  # the most often broken first
    for region in found["regions"]:
        place = "yz".index(region["label"])
        rows = [row for row in own if region["name"] in truth.tags[region["label"]][row]]
        assert region["examples"] == len(rows) > 0 and region["kind"] == kinds(truth, region["label"])[region["name"]]
        assert region["right"] == sum(own[row][0][place] == truth.labels[row][place] for row in rows)


def kinds_of_pair(before, after, said_before, said_after, old, row, place):
    one, two = facts(before, said_before, old), facts(after, said_after, row)
    moved = before.labels[old] != after.labels[row]
    both_right, read = one["right"] and two["right"], said_after[row][1][place]
    found = {
        "missed": moved and not both_right,
        "moved": not moved and said_before[old][0] != said_after[row][0],
        "unnoticed": read >= 0 and read != after.concepts[row][place],
        "fine": both_right,
    }
    return ["all", *(name for name, holds in found.items() if holds)]


@pytest.mark.parametrize("run", RUNS)
def test_pairs_are_compared_with_their_own_originals(uneven, run):
    viewer, truths, said = uneven
    before, after = truths["test"], truths["pairs"]
    wanted = {}
    for row, changed in enumerate(after.rows):
        old, place = before.index.index(changed["pair_row"]), "abc".index(changed["pair_concept"])
        if row in said["pairs"][run] and old in said["test"][run]:
            named = kinds_of_pair(before, after, said["test"][run], said["pairs"][run], old, row, place)
            wanted[row] = (old, place, named)
    for kind in ("all", "missed", "moved", "unnoticed", "fine"):
        first = viewer.get(f"runs/data/{run}/pairs.json", [("kind", kind)])
        pages = [
            viewer.get(f"runs/data/{run}/pairs.json", [("kind", kind), ("page", n)]) for n in range(first["pages"])
        ]
        told = {pair["sides"][1]["row"]: (pair["sides"][0]["row"], pair["concept"], pair["kinds"])
                for page in pages for pair in page["pairs"]}  # fmt: skip
        assert told == {row: one for row, one in wanted.items() if kind in one[2]}
        assert {one["name"]: one["count"] for one in first["kinds"]}[kind] == len(told)
    assert "no kind of pair 'odd'" in viewer.why_not(f"runs/data/{run}/pairs.json", [("kind", "odd")])
    for row in range(0, 30, 5):
        origin = viewer.get(f"data/data/pairs/{row}.json")["changed_from"]
        changed = after.rows[row]
        assert origin == {
            "split": "test",
            "row": before.index.index(changed["pair_row"]),
            "concept": changed["pair_concept"],
        }


def test_the_distribution_counts_what_is_known(uneven):
    viewer, truths, _ = uneven
    truth = truths["test"]
    found = viewer.get("datasets/data/test/distribution.json")
    for kind, sizes in (("labels", (2, 2)), ("concepts", SIZES)):
        for place, size in enumerate(sizes):
            column = [row[place] for row in getattr(truth, kind)]
            assert found[kind][place]["counts"] == [column.count(code) for code in range(size)]


@pytest.mark.parametrize("run", ["whole", "mute"])
def test_a_map_is_the_plane_of_principal_components_of_what_a_run_says(uneven, run):
    viewer, truths, said = uneven
    truth, own = truths["test"], said["test"][run]
    part, sizes = (0, (2, 2)) if run == "mute" else (1, SIZES)
    found = viewer.get(f"runs/data/{run}/test/map.json")
    rows = sorted(own)
    features = np.array([[float(code == value) for code, size in zip(own[row][part], sizes, strict=True)
                          for value in range(size)] for row in rows])  # fmt: skip
    assert found["rows"] == rows and found["features"] == sum(sizes)
    assert found["labels"] == [truth.labels[row] for row in rows] and found["predicted"] == [
        own[row][0] for row in rows
    ]
    told = [facts(truth, own, row) for row in rows]
    wanted = ["wrong" if not one["right"] else "misread" if one["misread"] else "right" for one in told]
    assert found["outcomes"] == wanted
    centred = features - features.mean(axis=0)
    values = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1]
    assert found["explained"] == pytest.approx((values[:2] / values.sum()).tolist(), abs=1e-3)
    points = np.array(found["points"])
    assert np.abs(points).max() == 1 and (points**2).sum(axis=0) / (points**2).sum() == pytest.approx(
        values[:2] / values[:2].sum(), abs=1e-3
    )
