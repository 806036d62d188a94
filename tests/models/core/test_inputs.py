"""Every network learns from texts, tables and features as from pictures: trained, saved, loaded, intervened on."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

import assay
from assay.cli import main
from assay.config import Settings
from assay.data import Dataset
from assay.errors import AssayError, ConfigError, DataError
from assay.models import MODELS, Order, load_model, train_run, train_together
from assay.models.core.inputs import TableInput, TextInput, kind_of_input

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
    model = train_run(Order(name, Settings({**FAST, **MORE.get(name, {}), **asked})), dataset, tmp_path / "run")
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
    order = Order("cbm", Settings({**FAST, "backbone": "text-transformer"}))
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


def test_padding_does_not_change_what_is_read() -> None:
    from assay.models.backbones.build import build_network

    for name in ("bag-of-ngrams", "text-transformer"):
        torch.manual_seed(0)
        network = build_network(name, (9, 1, 6)).network.eval()
        text = torch.tensor([[2, 3, 4, 0, 0, 0]]).view(1, 1, 1, 6)
        other = torch.tensor([[3, 2, 4, 0, 0, 0]]).view(1, 1, 1, 6)
        short = network(text[..., :4]) if name == "bag-of-ngrams" else None
        assert short is None or torch.allclose(network(text), short, atol=1e-6)
        assert not torch.allclose(network(text), network(other), atol=1e-4)  # the order of words counts


def test_words_of_training_are_kept_and_others_are_unknown(data) -> None:
    train = data["terse"]["train"]
    reads = TextInput.learn(train, 7)
    rows = reads.array(train)
    assert rows.shape == (48, 1, 7, 1) and reads.layout.channels == len(reads.words) + 2
    strange = replace(train, table=train.table.set_column(1, "text", pa.array(["zyzzyva head"] * 48)))
    assert train.table.column_names[1] == "text" and reads.array(strange)[0, 0, :3, 0].tolist() == [
        1,
        reads.numbers["head"],
        0,
    ]


def test_columns_of_numbers_are_standardised(data) -> None:
    train = data["table"]["train"]
    texts = [f"size={row / 2}, kind={'ab'[row % 2]}" for row in range(48)]
    table = replace(train, table=train.table.set_column(1, "text", pa.array(texts)))
    reads = TableInput.learn(table)
    rows = reads.array(table)[:, 0, :, 0]
    assert (reads.values, reads.columns) == (("kind=a", "kind=b"), ("size",))
    assert abs(rows[:, 2].mean()) < 1e-5 and abs(rows[:, 2].std() - 1) < 1e-5 and rows[3, :2].tolist() == [0, 1]


def with_features(data: Dataset, name: str) -> object:
    split = data[name]
    rows = np.eye(2, dtype=np.float32)[split.concepts].reshape(len(split), -1)
    return replace(split, table=split.table.append_column("features", pa.array(rows.tolist(), pa.list_(pa.float32()))))


def test_features_from_a_column_or_from_files(data, tmp_path: Path) -> None:
    dataset = data["terse"]
    train, valid, test = (with_features(dataset, name) for name in ("train", "valid", "test"))
    model = MODELS["cbm"](
        dataset, settings={"epochs": 30, "learning_rate": 0.01, "batch_size": 16, "input": "features"}
    )
    model.fit(train, valid)
    name = dataset.knowledge.space.names[0]
    assert model.layout.width == train.features.shape[1]
    assert (model.predict(test).concepts[name].codes == test.concepts[:, 0]).mean() > 0.9
    for split in (train, valid, test):
        np.save(tmp_path / f"{split.name}.npy", split.features)
    order = Order("cbm", Settings({**FAST, "feature_files": str(tmp_path)}))
    run = train_run(order, dataset, tmp_path / "run")
    again = load_model(tmp_path / "run").predict(dataset["test"])
    assert np.allclose(again.concepts[name].probabilities, run.predict(dataset["test"]).concepts[name].probabilities)
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
        ({"feature_files": "nowhere"}, "features of split 'train': 'nowhere/train.npy' cannot be read"),
        ({"sentences": "nowhere"}, "sentences: 'nowhere' is no folder of a text model"),
    ],
    ids=str,
)
def test_what_is_not_there_is_named(settings: dict[str, str], message: str, data, tmp_path: Path) -> None:
    if "sentences" in settings:
        pytest.importorskip("transformers")
    with pytest.raises(AssayError) as refusal:
        train_run(Order("cbm", Settings({**FAST, **settings})), data["terse"], tmp_path / "run")
    assert message in str(refusal.value)


def test_models_that_need_pictures_say_so(data, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="model 'embedding' embeds pictures"):
        train_run(Order("embedding", Settings(FAST)), data["terse"], tmp_path / "run")
    with pytest.raises(ConfigError, match="reconstruction_weight draws pictures again"):
        train_run(Order("dpl", Settings({**FAST, "reconstruction_weight": 1})), data["terse"], tmp_path / "run")


def test_which_input_is_chosen() -> None:
    assert kind_of_input("auto", ["text", "image"]) == "image"
    assert kind_of_input("auto", ["text", "features"]) == "features"
    assert kind_of_input("text", ["text", "image"]) == "text"


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
    run = train_run(Order("cbm", Settings({**FAST, "sentences": str(folder)})), data["terse"], tmp_path / "run")
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
