"""The card and the Croissant description of made-up manifests, part by part."""

import pytest
import yaml

from assay.concepts import Concept, ConceptSpace
from assay.data import MOST_PAIRS
from assay.data import card as cards
from assay.data.croissant import CONTEXT, croissant
from assay.data.dataset_card import card
from assay.logic import Constraint, Knowledge, parse

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("s", ("x", "y"))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 1"}, (Constraint("few", parse("n < 2"), ("hard", "one")),)).to_dict()


def split(name, size=4, **more):
    shard = {"file": f"{name}/0.parquet", "bytes": 7, "sha256": f"hash of {name}"}
    plain = {
        "where": "a",
        "share": [0.25, 1.0],
        "balance": "label",
        "quota": None,
        "labels": {"y": {"True": 3, "False": 1}},
    }
    return {"name": name, "size": size, "shards": [shard], **plain, **more}


def manifest(**more):
    return {
        "task": {"name": "toy", "version": 3, "config": {"k": 3, "off": None, "none": []}},
        "summary": "A toy.", "seed": 5, "fingerprint": "0123", "versions": {"assay": "9.8"}, "columns": ["image", "text"],
        "layout": {"width": 20, "height": 10, "channels": 1}, "knowledge": KNOWLEDGE, "sources": {}, "left_out": [],
        "drawn": "Drawn evenly over {balance}", "splits": [split("train"), split("test", 2)],
        "pairs": {"asked": MOST_PAIRS, "shards": [], "size": 0, "none": "none were asked for"}, **more,
    }  # fmt: skip


PAIRS = {"asked": 7, "size": 6, "split": "test", "shards": [{"file": "pairs/0.parquet", "bytes": 3, "sha256": "p"}]}


def test_what_splits_are_even_over():
    plain, worlds, hard = split("train"), split("train", balance="world"), split("hard", quota={"x": 1})
    assert cards._balance([plain, worlds]) == "label values" and cards._balance([worlds]) == "worlds"
    assert cards._balance([plain, hard]) == "label values (hard: over the ways to keep and to just miss the rule)"


@pytest.mark.parametrize(
    ("sources", "licence", "people", "address"),
    [
        ({}, "cc-by-4.0", "No.", "https://creativecommons.org/licenses/by/4.0/"),
        ({"digits": 1}, "cc-by-sa-3.0", "Handwriting only; writers are not named.", "https://creativecommons.org/licenses/by-sa/3.0/"),
        ({"digits": 1, "coco": 1}, "other", "Yes: photographs of people, who are not named.", "https://cocodataset.org/#termsofuse"),
    ],
)  # fmt: skip
def test_licences_follow_from_the_sources(sources, licence, people, address):
    assert cards._licence(sources) == licence and cards._people(sources) == people
    assert croissant(manifest(sources=sources))["license"] == address


def test_what_an_example_is():
    layout = {"width": 20, "height": 10, "channels": 1}
    assert cards._example(["image"], layout) == "A picture of 20 x 10 pixels (grey)"
    text = cards._example(["image", "things", "instances", "parts", "depth", "text"], {**layout, "channels": 3})
    assert text.startswith("A picture of 20 x 10 pixels (colour), the box of each object") and text.endswith("a text")
    assert cards._example([], layout) == "A row"


def test_how_to_make_it_again():
    made = cards._remake(manifest(left_out=["ood"]))
    assert made == (
        "`assay make toy --seed 5 --set k=3 --set 'splits={\"ood\": 0, \"test\": 2, \"train\": 4}' -o DIR`"
    )  # fmt: skip
    assert '"pairs": 7' in cards._remake(manifest(pairs=PAIRS))
    annotated = manifest(task={**manifest()["task"], "annotation": {}})
    assert cards._remake(annotated) == "`assay make` makes the dataset that was annotated, `assay annotate` this one"


@pytest.mark.parametrize(
    ("size", "category"),
    [(999, "n<1K"), (1000, "1K<n<10K"), (9_999, "1K<n<10K"), (10_000, "10K<n<100K"), (99_999, "10K<n<100K"),
     (100_000, "100K<n<1M"), (999_999, "100K<n<1M"), (1_000_000, "n>1M")],
)  # fmt: skip
def test_sizes_have_categories(size, category):
    head = yaml.safe_load(cards._front(manifest(splits=[split("train", size - 1), split("test", 1)])))
    assert head["size_categories"] == [category]


def test_the_front_matter():
    head = yaml.safe_load(cards._front(manifest(pairs=PAIRS)))
    files = [{"split": name, "path": f"{name}/*.parquet"} for name in ("train", "test")]
    assert head["configs"] == [
        {"config_name": "default", "data_files": files},
        {"config_name": "pairs", "data_files": [{"split": "pairs", "path": "pairs/*.parquet"}]},
    ]
    assert (head["pretty_name"], head["license"]) == ("assay toy", "cc-by-4.0")
    assert len(yaml.safe_load(cards._front(manifest()))["configs"]) == 1
    imported = manifest(task={"name": "toy", "imported": {}})
    assert yaml.safe_load(cards._front(imported))["license"] == "other"


def test_tables_of_the_card():
    assert cards._concepts(KNOWLEDGE).splitlines() == [
        "| concept | values | read by encoder |", "| --- | --- | --- |", "| a | False, True | a |", "| n | 0, 1, 2 | n |", "| s | x, y | s |",
    ]  # fmt: skip
    assert cards._labels(KNOWLEDGE).splitlines()[2] == "| y | `a and n > 1` | False, True |"
    assert cards._constraints(KNOWLEDGE).splitlines()[2] == "| few | `n < 2` | hard, one |"
    assert cards._constraints({"constraints": []}) == "No constraints: every combination is possible."
    assert cards._splits(manifest()).splitlines()[2:] == [
        "| train | 4 | `a` | 75 % | y: False x 1, True x 3 |", "| test | 2 | `a` | 75 % | y: False x 1, True x 3 |",
    ]  # fmt: skip
    counts = cards._counts({"y": {"2": 5, "0": 1}, "z": {"True": 2}}, {"y": [0, 1, 2], "z": [False, True]})
    assert counts == "y: 0 x 1, 2 x 5; z: True x 2"


def test_words_on_noise_pairs_and_sources():
    drawn = {"labels": [{"name": "y", "odds": {"scale": 0.5, "score": "n - 1"}}, {"name": "z"}]}
    assert cards._noise({"labels": [{"name": "z"}]}) == "No value is missing and no noise was added."
    assert (
        cards._noise(drawn)
        == "No value is missing. Drawn by chance: y; examples with the same concepts can differ in it."
    )
    assert cards._odds(drawn["labels"][0]) == ", drawn: True with probability 1 / (1 + exp(-0.5 x)), x = `n - 1`"
    assert cards._odds({"name": "z"}) == ""
    assert cards._pairs({}) == "No: none were asked for." and cards._pairs({"none": "why", "shards": []}) == "No: why."
    assert cards._pairs(PAIRS).startswith("Yes: split `pairs` holds 6 examples of split test, each with one concept")
    assert cards._sources({}) == ""
    about = {"digits": {"name": "MNIST", "sha256": "0123456789abcdef0123"}, "more": {"name": "M", "sha256": "ff"}}
    assert cards._sources(about) == (
        "Made from digits: MNIST (sha256 `0123456789abcdef`); more: M (sha256 `ff`); "
        "images of one pool never occur in another."
    )


def test_words_on_annotation():
    assert cards._annotation({}) == ""
    about = {"settings": {"label_noise": 0.1, "drop": ["a"]}, "splits": ["train", "valid"], "seed": 3, "parent": "ff"}
    said = cards._annotation({"annotation": about})
    assert (
        'in the splits train, valid (`label_noise: 0.1`, `drop: ["a"]`; seed 3) from the dataset with fingerprint `ff`.'
        in said
    )
    assert "(nothing asked; seed 3)" in cards._annotation({"annotation": {**about, "settings": {}}})
    assert "(concepts read by vlm; seed 3)" in cards._annotation(
        {"annotation": {**about, "settings": {}, "reader": {"reader": "vlm"}}}
    )
    read = cards._annotation({"annotation": {**about, "settings": {"k": 1}, "reader": {"reader": "vlm"}}})
    assert "(concepts read by vlm, `k: 1`; seed 3)" in read
    bought = cards._annotation({"annotation": {**about, "machine": cards.MENDING}})
    assert "(concept labels bought by `assay mend`; seed 3)" in bought


def test_the_whole_card():
    text = card(manifest(pairs=PAIRS, sources={"digits": {"name": "MNIST", "sha256": "f" * 64}}))
    assert (
        text.startswith("---\npretty_name: assay toy\n")
        and "\n# toy\n\nA toy. Made by Assay 9.8 with seed 5; fingerprint `0123`." in text
    )
    for part in (
        "**What is an example?** A picture of 20 x 10 pixels (grey), a text, the concepts",
        "No value is missing and no noise was added. Examples of one split", "offensive?** Handwriting only;",
        "Drawn evenly over label values; pictures were", "made again to the byte: `assay make toy --seed 5",
        "counterfactuals?** Yes: split `pairs` holds 6 examples",
    ):  # fmt: skip
        assert part in text
    about = {
        "layout": "CelebA",
        "examples": 6,
        "resize": "crop",
        "splits": "made",
        "agreement": None,
        "missing": {"train": 0.25, "test": 0},
    }
    imported = card(manifest(task={"name": "toy", "version": 1, "imported": about, "config": {}}))
    assert (
        "Imported by Assay 9.8; fingerprint `0123`." in imported
        and "Concepts are not known in 25 % of train." in imported
    )
    assert "It was imported from CelebA: 6 examples" in imported
    whole = card(
        manifest(task={"name": "toy", "version": 1, "imported": {**about, "missing": {"train": 0}}, "config": {}})
    )
    assert "Every concept has a value." in whole


def test_croissant_lists_files_and_columns():
    found = croissant(manifest(columns=["image", "depth", "text", "things"], pairs=PAIRS))
    assert found["@context"] is CONTEXT and found["name"] == "assay-toy" and found["version"] == "3.0.0"
    assert found["description"] == "A toy. (task toy, seed 5, made by assay)." and found["isLiveDataset"] is False
    assert found["url"] == "https://assay.invalid/0123"
    assert [entry["@id"] for entry in found["distribution"]] == [
        "train/0.parquet", "test/0.parquet", "pairs/0.parquet", "train-shards", "test-shards", "pairs-shards",
    ]  # fmt: skip
    first, files = found["distribution"][0], found["distribution"][3]
    assert (first["name"], first["contentSize"], first["sha256"]) == ("train-0.parquet", "7 B", "hash of train")
    assert files["includes"] == "train/*.parquet" and files["@type"] == "cr:FileSet"
    train, _, pairs = found["recordSet"]
    kinds = {field["name"]: field["dataType"] for field in train["field"]}
    common = {
        "index": "sc:Integer", "style": "sc:Text", "concept_a": "sc:Boolean", "concept_n": "sc:Integer",
        "concept_s": "sc:Text", "label_y": "sc:Boolean", "boundary_y": "sc:Text",
    }  # fmt: skip
    assert kinds == {**common, "text": "sc:Text", "image": "sc:ImageObject", "depth": "sc:ImageObject"}
    assert {field["name"]: field["dataType"] for field in pairs["field"]} == {
        **common, "pair_row": "sc:Integer", "pair_concept": "sc:Text", "text": "sc:Text", "image": "sc:ImageObject", "depth": "sc:ImageObject",
    }  # fmt: skip
    assert train["field"][0]["source"] == {"fileSet": {"@id": "train-shards"}, "extract": {"column": "index"}}
    assert train["field"][-1]["source"]["transform"] == {"jsonPath": "bytes"}
    assert len(croissant(manifest())["recordSet"]) == 2


def test_croissant_of_annotated_and_imported_data():
    given = {"given": ["given_concept_n", "given_label_y"]}
    fields = croissant(manifest(task={**manifest()["task"], "annotation": given}, pairs=PAIRS))["recordSet"]
    names = {field["name"]: field["dataType"] for field in fields[0]["field"]}
    assert names["given_concept_n"] == "sc:Integer" and names["given_label_y"] == "sc:Boolean"
    assert not any(field["name"].startswith("given") for field in fields[2]["field"])
    imported = croissant(manifest(task={"name": "toy", "version": 1, "imported": {}}))
    assert imported["license"] == "https://assay.invalid/licence-of-the-source"


def test_concepts_that_one_encoder_reads_and_labels_that_are_drawn():
    knowledge = {
        "encoders": [{"name": "digit", "concepts": ["p", "q"]}, {"name": "r", "concepts": ["r"]}],
        "concepts": [{"name": name, "values": [0, 1]} for name in ("r", "p", "q")],
        "labels": [
            {"name": "y", "formula": "p", "values": [0, 1]},
            {"name": "z", "formula": "q | r", "values": [0, 1], "odds": {"scale": 2, "score": "q"}},
        ],
    }
    assert [line.split(" | ")[-1] for line in cards._concepts(knowledge).splitlines()[2:]] == [
        "r |",
        "digit |",
        "digit |",
    ]
    assert cards._labels(knowledge).splitlines()[2:] == [
        "| y | `p` | 0, 1 |",
        "| z | `q \\| r`, drawn: True with probability 1 / (1 + exp(-2 x)), x = `q` | 0, 1 |",
    ]
    assert "Drawn by chance: z;" in cards._noise(knowledge)


def test_settings_that_are_off_or_zero_are_settings():
    task = {"name": "toy", "version": 3, "config": {"k": 0, "flag": False, "text": "", "off": None, "none": []}}
    made = cards._remake(manifest(task=task))
    assert "--set flag=false --set k=0 --set 'splits=" in made and "--set 'text=\"\"'" in made
    assert "off" not in made and "none" not in made
    assert '"pairs"' not in cards._remake({key: value for key, value in manifest().items() if key != "pairs"})


def test_only_what_was_bought_is_called_bought():
    about = {"settings": {"k": 1}, "splits": ["train"], "seed": 3, "parent": "ff", "machine": "scores"}
    assert "(`k: 1`; seed 3)" in cards._annotation({"annotation": about})
    noted = card(manifest(task={**manifest()["task"], "annotation": about}))
    assert "no noise was added. That is so of the columns" in noted and "`assay annotate` this one" in noted


def test_shares_and_regions_are_those_of_their_split():
    assert (
        cards._share(split("a", share=[0.1, 0.35])) == "25 %" and cards._share(split("a", share=[0.0, 1.0])) == "100 %"
    )
    counted = [split("train", boundary={"y": {"far": 3}}), split("test", boundary={"y": {"far": 5}})]
    assert cards._regions(manifest(splits=counted)).splitlines()[-1] == "| far | all others | 3 | 5 |"
    imported = card(manifest(task={"name": "toy", "version": 1, "config": {}, "imported": {
        "layout": "x", "examples": 6, "resize": "crop", "splits": "made", "agreement": 0.5, "missing": {"a": 0.5, "b": 0.25}}}))  # fmt: skip
    assert "Concepts are not known in 50 % of a, 25 % of b." in imported and imported.startswith(
        "---\npretty_name: assay toy\n"
    )


def test_croissant_of_photographs_and_of_labels_that_are_numbers_or_words():
    assert croissant(manifest(sources={"coco": 1}))["license"] == "https://cocodataset.org/#termsofuse"
    labels = [
        {"name": "n", "values": [1, 2]},
        {"name": "w", "values": ["a", "b"]},
        {"name": "t", "values": [False, True]},
    ]
    given = {**manifest()["task"], "annotation": {"given": ["given_label_w", "given_label_n"]}}
    (records, *_) = croissant(manifest(knowledge={**KNOWLEDGE, "labels": labels}, task=given))["recordSet"]
    kinds = {field["name"]: field["dataType"] for field in records["field"] if "label" in field["name"]}
    assert kinds == {
        "label_n": "sc:Integer", "label_w": "sc:Text", "label_t": "sc:Boolean", "given_label_w": "sc:Text",
        "given_label_n": "sc:Integer",
    }  # fmt: skip
