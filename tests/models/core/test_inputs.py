"""Every network learns from texts, tables and features as from pictures: trained, saved, loaded, intervened on."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

import assay
from assay.base import AssayError, ConfigError, DataError, Settings
from assay.cli import main
from assay.dataset import Dataset
from assay.models import MODELS, TrainSpec, load_model, train_run, train_together
from tests.models.tiles import tiles

NETWORKS = ("blackbox", "cbm", "semantic", "cem", "probcbm", "ecbm", "dcr", "dpl", "ltn", "bears")
FAST = {"epochs": 1, "batch_size": 16}
MORE = {"bears": {"members": 2}, "probcbm": {"samples": 2}, "ecbm": {"steps": 2}}
SIZES = {"train": 48, "valid": 16, "test": 16, "hard": 0, "ood": 0}


def robots(folder: Path, text: str) -> Dataset:
    splits = {name: size for name, size in SIZES.items() if size}
    return assay.make("robots", folder, splits={**splits, "hard": 0}, text=text, image=False)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dataset]:
    folder = tmp_path_factory.mktemp("robots")
    return {text: robots(folder / text, text) for text in ("terse", "table")}


@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_trains_saves_loads_and_is_intervened_on(name: str, kind: str, data, tmp_path: Path) -> None:
    dataset = data["terse" if kind == "text" else "table"]
    asked = {} if kind == "text" else {"input": "table"}
    model = train_run(TrainSpec(name, Settings({**FAST, **MORE.get(name, {}), **asked})), dataset, tmp_path / "run")
    again, test = load_model(tmp_path / "run"), dataset["test"]
    assert (again.config.input, again.config.backbone) == (kind, "bag-of-ngrams" if kind == "text" else "mlp")
    for label, answer in model.predict(test).labels.items():
        assert np.allclose(answer.probabilities, again.predict(test).labels[label].probabilities, atol=1e-6)
    if model.can_intervene:
        first = dataset.knowledge.space.names[0]
        truth = test.concepts[:, 0]
        assert (again.predict(test, {first: truth}).concepts[first].codes == truth).all()
        assert len(again.intervene(test).concepts) == len(dataset.knowledge.space)


def test_a_transformer_reads_texts_and_several_seeds_side_by_side(data, tmp_path: Path) -> None:
    order = TrainSpec("cbm", Settings({**FAST, "backbone": "text-transformer"}))
    folders = train_together(order, (0, 1), data["terse"], tmp_path / "runs")
    predictions = [load_model(folder).predict(data["terse"]["test"]) for folder in folders]
    assert predictions[0].labels["glorp"].probabilities.shape == (16, 2)
    shutil.rmtree(folders[1])  # as if it had been killed
    first = (folders[0] / "run.json").stat().st_mtime_ns
    assert train_together(order, (0, 1), data["terse"], tmp_path / "runs") == folders
    assert (folders[0] / "run.json").stat().st_mtime_ns == first  # a finished seed is left alone


def test_terse_texts_are_learned(tmp_path: Path) -> None:
    dataset = assay.make("robots", tmp_path / "d", splits={"train": 400, "valid": 60, "test": 100, "hard": 0}, text="terse", image=False)  # fmt: skip
    model = MODELS["cbm"](dataset, settings={"epochs": 12, "learning_rate": 0.005})
    model.fit(dataset["train"], dataset["valid"])
    test = dataset["test"]
    found = model.predict(test)
    right = [(found.concepts[name].codes == test.concepts[:, i]).mean() for i, name in enumerate(found.concepts)]
    assert np.mean(right) > 0.98


# -- what is read of texts and tables ----------------------------------------------------------------------------------


def with_texts(split, texts):
    """Return as many rows of a split, with other texts."""
    rows = split[: len(texts)]
    return replace(rows, table=rows.table.set_column(rows.table.column_names.index("text"), "text", pa.array(texts)))


def reading(texts, **settings):
    """Return a model that has learned from these texts, and a function that gives its answer for each of some others."""
    given = {"epochs": 2, "batch_size": 8, "device": "cpu", "learning_rate": 0.02, "keeps": "last", **settings}
    model = MODELS["blackbox"](tiles(), settings=given)
    train = with_texts(tiles()["train"], texts)
    model.fit(train, train)
    return lambda *asked: model.predict(with_texts(tiles()["test"], asked)).labels["total"].probabilities


def same(answers):
    return [np.allclose(answers[0], row, atol=1e-6) for row in answers[1:]]


@pytest.mark.parametrize("backbone", ["bag-of-ngrams", "text-transformer"])
def test_words_that_training_never_had_are_one_and_small_letters_are_large_ones(backbone) -> None:
    ask = reading([f"{'red' if n % 2 else 'blue'} hat, {n % 4}" for n in range(24)], input="text", backbone=backbone)
    answers = ask("red hat, 1", "RED Hat, 1", "red zyzzyva, 1", "red cow, 1", "hat red, 1")
    assert same(answers) == [True, False, False, False] and same(answers[2:]) == [True, False]
    assert same(ask("", "zyzzyva")) == [False]  # something is there


@pytest.mark.parametrize("tokens", [2, 256])
def test_texts_are_cut_after_so_many_words_and_where_no_text_of_training_went_on(tokens) -> None:
    ask = reading(
        [f"{'red' if n % 2 else 'blue'} hat {'ab'[n % 3 > 1]}" for n in range(24)], input="text", tokens=tokens
    )
    assert same(ask("red hat a", "red hat b", "red hat a and so on", "red")) == [tokens == 2, True, False]


@pytest.mark.parametrize(("distinct", "numbers"), [(12, False), (13, True)])
def test_columns_of_more_than_twelve_numbers_are_numbers(distinct, numbers) -> None:
    ask = reading([f"size={n % distinct}, kind={'ab'[n % 2]}" for n in range(24)], input="table")
    found = same(ask("kind=a", "size=99, kind=a", "size=nan, kind=a", "size=3, kind=a", "size=3.0, kind=a"))
    assert found == [not numbers, True, False, not numbers]  # a value that is not known is an empty cell


def test_numbers_are_standardised() -> None:
    rows = [(n, 7 * n % 24) for n in range(24)]
    plain = reading([f"kind={'ab'[a % 2]}, high={a}, wide={b}" for a, b in rows], input="table")
    scaled = reading([f"kind={'ab'[a % 2]}, high={1000 * a + 7}, wide={b / 8}" for a, b in rows], input="table")
    one, other = plain("kind=a, high=3, wide=5", "high=30"), scaled("kind=a, high=3007, wide=0.625", "high=30007")
    np.testing.assert_allclose(one, other, atol=1e-4)
    assert not np.allclose(one[0], one[1])


def test_what_training_never_had_is_an_empty_cell_and_the_order_of_cells_does_not_matter() -> None:
    ask = reading([f"kind={'ab'[n % 2]}, hue={'rgb'[n % 3]}" for n in range(24)], input="table")
    found = same(ask("kind=a, hue=r", "hue=r, kind=a", "hue=r, kind=a, kind=a", "kind=c, hue=r", "kind=a", "hue=r"))
    assert found == [True, True, False, False, False]
    assert same(ask("hue=r", "kind=c, hue=r", "height=3, hue=r, and more")) == [True, True]


def test_a_grid_is_read_cell_by_cell_and_words_are_no_table() -> None:
    ask = reading([f"{n % 2}2 3{n % 3}" for n in range(24)], input="table")
    assert same(ask("12 31", "12 31", "12 32", "92 31")) == [True, False, False]
    with pytest.raises(DataError, match="split 'train': its texts are no tables; read them as texts: input=text"):
        reading(["ab c", "abc de"] * 12, input="table")


@pytest.mark.parametrize("kind", ["auto", "text", "table"])
def test_pictures_are_read_where_there_are_some_unless_told_otherwise(kind) -> None:
    train, model = tiles()["train"], MODELS["blackbox"](tiles(), settings={"input": kind, "epochs": 1})
    train = with_texts(train, [f"a={n % 2}" for n in range(24)])
    model.fit(train, train)
    other = with_texts(train, [f"a={(n + 1) % 2}" for n in range(24)])
    one, two = (model.predict(split).labels["y"].probabilities for split in (train, other))
    assert np.allclose(one, two) == (kind == "auto") and model.config.input == kind


def with_features(data: Dataset, name: str) -> object:
    split = data[name]
    rows = np.eye(2, dtype=np.float32)[split.concepts].reshape(len(split), -1)
    return replace(split, table=split.table.append_column("features", pa.array(rows.tolist(), pa.list_(pa.float32()))))


def test_features_from_a_column_or_from_files(data, tmp_path: Path) -> None:
    dataset = data["terse"]
    train, valid, test = (with_features(dataset, name) for name in ("train", "valid", "test"))
    model = MODELS["cbm"](
        dataset, settings={"epochs": 30, "learning_rate": 0.01, "batch_size": 16}
    )  # features before texts
    model.fit(train, valid)
    name = dataset.knowledge.space.names[0]
    assert model.layout.width == train.features.shape[1]
    assert (model.predict(test).concepts[name].codes == test.concepts[:, 0]).mean() > 0.9
    for split in (train, valid, test):
        np.save(tmp_path / f"{split.name}.npy", split.features)
    order = TrainSpec("cbm", Settings({**FAST, "feature_files": str(tmp_path)}))
    run = train_run(order, dataset, tmp_path / "run")
    again = load_model(tmp_path / "run").predict(dataset["test"])
    assert np.allclose(again.concepts[name].probabilities, run.predict(dataset["test"]).concepts[name].probabilities)
    some = dataset["test"].take(np.array([5, 0, 9]))  # rows of the file are found by the numbers of examples
    answers = (run.predict(split).concepts[name].probabilities for split in (dataset["test"], some))
    assert np.allclose(next(answers)[[5, 0, 9]], next(answers), atol=1e-6)
    for wrong in (test.features[:5], test.features[0], test.features.astype(str)):
        np.save(tmp_path / "test.npy", wrong)
        with pytest.raises(DataError, match="needed: 16 rows of numbers"):
            run.predict(dataset["test"])
    np.save(tmp_path / "test.npy", test.features[:, 1:])
    with pytest.raises(DataError, match="split 'test' has 13 features, the model was trained on 14"):
        run.predict(dataset["test"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"input": "image"}, "input=image needs a column 'image'; there is: index, text"),
        ({"input": "features"}, "input=features needs a column 'features'"),
        ({"input": "table"}, "its texts are no tables; read them as texts: input=text"),
        (
            {"backbone": "conv-pool"},
            "backbone 'conv-pool' does not read texts; these do: bag-of-ngrams, text-transformer",
        ),
        ({"backbone": "mlp"}, "backbone 'mlp' does not read texts"),
        ({"sentences": "nowhere", "input": "table"}, "sentences=nowhere reads texts, not input=table"),
        ({"feature_files": "nowhere"}, "features of split 'train': 'nowhere/train.npy' cannot be read"),
        ({"sentences": "nowhere"}, "sentences: 'nowhere' is no folder of a text model"),
    ],
    ids=str,
)
def test_what_is_not_there_is_named(settings: dict[str, str], message: str, data, tmp_path: Path) -> None:
    if "sentences" in settings:
        pytest.importorskip("transformers")
    with pytest.raises(AssayError) as refusal:
        train_run(TrainSpec("cbm", Settings({**FAST, **settings})), data["terse"], tmp_path / "run")
    assert message in str(refusal.value)


def test_models_that_need_pictures_say_so(data, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="model 'embedding' embeds pictures"):
        train_run(TrainSpec("embedding", Settings(FAST)), data["terse"], tmp_path / "run")
    with pytest.raises(ConfigError, match="reconstruction_weight draws pictures again"):
        train_run(TrainSpec("dpl", Settings({**FAST, "reconstruction_weight": 1})), data["terse"], tmp_path / "run")


def test_a_sudoku_table_is_read_cell_by_cell(tmp_path: Path) -> None:
    sizes = {"train": 150, "valid": 40, "test": 60, "hard": 0, "ood": 0}
    boards = assay.make("sudoku-mini", tmp_path / "d", splits=sizes, image=False, concepts="both")
    model = MODELS["dpl"](boards, settings={"input": "table", "epochs": 25, "learning_rate": 0.01})
    model.fit(boards["train"], boards["valid"])
    test = boards["test"]
    assert (model.predict(test).labels["valid"].codes == test.labels[:, 0]).all()


def test_sentence_features_from_a_local_folder(data, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "head", "body", "round", "square", "no", "yes", ":", "."]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizer(str(tmp_path / "vocab.txt"))
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    model = transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **small))
    folder = tmp_path / "bert"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    run = train_run(TrainSpec("cbm", Settings({**FAST, "sentences": str(folder)})), data["terse"], tmp_path / "run")
    test = data["terse"]["test"]
    whole, few = run.predict(test), run.predict(test[3:5])  # whatever longer texts are beside them
    assert np.allclose(whole.labels["glorp"].probabilities[3:5], few.labels["glorp"].probabilities, atol=1e-5)
    assert run.layout.width == 16 and run.config.backbone == "mlp"
    test = data["terse"]["test"]
    again = load_model(tmp_path / "run").predict(test)
    assert np.allclose(again.labels["glorp"].probabilities, run.predict(test).labels["glorp"].probabilities)


def test_from_the_command_line(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> None:
        monkeypatch.setattr("sys.argv", ["assay", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capsys.readouterr().err

    call("make", "robots", "-o", "data", "--set", "text=terse", "--set", "image=false", "-n", "60")
    call("train", "cbm", "data", "-o", "run", "--set", "epochs=1")
    call("report", "run", "-o", "report")
    assert "Head: " in Path("report/report.html").read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["assay", "diagnose", "run", "data"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None, 1)  # 1 is a finding
    assert capsys.readouterr().out.splitlines()[-1].startswith("Next: ")
