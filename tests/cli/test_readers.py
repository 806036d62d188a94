"""A machine that reads concepts, from the command line: annotate, intervene, train."""

import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.api import Run, intervene
from assay.dataset import Dataset
from tests.cli.conftest import Told
from tests.endpoint import Endpoint, Fault, pictures
from tests.models.language.readers.conftest import write_clip
from tests.pixels import trained

Assay = Callable[..., Told]
KEY = "sk-very-secret-key"


@pytest.fixture
def server(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint that sees the pixels."""
    names, truth = data.knowledge.space.names, {}
    for split in (*data.split_names, "pairs"):
        for png, codes in zip(data[split].pngs, data[split].concepts.tolist(), strict=True):
            truth[png] = dict(zip(names, map(bool, codes), strict=True))

    def answer(body: dict[str, Any]) -> str:
        return json.dumps(truth[pictures(body)[0]])

    made = Endpoint(answer, KEY)
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_LLM_KEY", KEY)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def bottleneck(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cbm") / "run"
    trained("cbm", data, folder, {"epochs": 1, "mode": "independent"})
    return folder


def written(folder: Path) -> str:
    """Return all that was written as text."""
    return "".join(p.read_text() for p in folder.rglob("*") if p.suffix in (".json", ".md", ".html"))


def test_annotate_by_a_vision_language_model(assay: Assay, data: Dataset, server: Endpoint, tmp_path: Path) -> None:
    words = ("--set", "machine=vlm", "--set", "reader={model: eye}")
    told = assay("annotate", data.folder, "-o", tmp_path / "new", *words)
    assert told.status == 0 and "answers: 8 (0 from the cache), 0 pictures not read, tokens: 800 + 80" in told.err
    again = assay("annotate", data.folder, "-o", tmp_path / "again", *words, "--json")
    facts = json.loads(again.out)
    assert facts["usage"]["from_cache"] == 8 and facts["splits"]["train"]["wrong"] == 0
    assert facts["fingerprint"] == Dataset.open(tmp_path / "new").fingerprint and len(server.asked) == 8
    assert KEY not in written(tmp_path) and server.url not in written(tmp_path)


def test_a_vision_language_model_answers_in_interventions(
    assay: Assay, data: Dataset, bottleneck: Path, server: Endpoint, tmp_path: Path
) -> None:
    words = ("intervene", bottleneck, data.folder, "--policy", "random", "--budget", "0,max", "--json")
    perfect = json.loads(assay(*words).out)
    out = ("-o", tmp_path / "out")
    seen = json.loads(assay(*words, "--source", "vlm", "--reader", "model=eye", *out).out)
    assert seen["summary"][-1]["accuracy"] == perfect["summary"][-1]["accuracy"] and seen["plan"]["source"] == "vlm"
    assert seen["runs"][0]["about"]["reader"]["model"] == "eye" and server.asked[0]["model"] == "eye"
    assert KEY not in written(tmp_path) and server.url not in written(tmp_path)
    again = intervene(Run.open(bottleneck), source="vlm", policy="random", budget="max", reader={"model": "eye"})
    assert again.curve.points[-1].accuracy == seen["summary"][-1]["accuracy"]["mean"] and len(server.asked) <= 8
    strange = assay(*words, "--reader", "model=eye")
    assert strange.error == "reader: these are settings of vlm or clip:FOLDER, and none is named"


def test_train_on_what_a_vision_language_model_sees(
    assay: Assay, data: Dataset, server: Endpoint, tmp_path: Path
) -> None:
    words = ("--set", "perception=vlm", "--set", "reader={model: eye}")
    assert assay("train", "tree", data.folder, "-o", tmp_path / "tree", *words).status == 0
    told = assay("train", "dpl", data.folder, "-o", tmp_path / "dpl", *words, "--set", "device=cpu")
    assert told.status == 0 and "best F1 on validation 1.000" in told.err and len(server.asked) == 8
    assert assay("diagnose", tmp_path / "dpl", data.folder).out.startswith("Verdict: sound")
    assert not (tmp_path / "dpl" / "predictions" / "pairs.parquet").exists()  # these would have to be asked for
    used = json.loads((tmp_path / "tree" / "run.json").read_text())["perception"]["usage"]
    assert (used["requests"], used["tokens_in"]) == (8, 800)
    assert KEY not in written(tmp_path) and server.url not in written(tmp_path)


def test_clip_from_a_folder(assay: Assay, data: Dataset, bottleneck: Path, server: Endpoint, tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip", pytest.importorskip("transformers"))
    words = ("--set", f"machine=clip:{clip}", "--set", "reader={concepts: [beanie, wheel]}")
    assert assay("annotate", data.folder, "-o", tmp_path / "words", *words).status == 0
    assert Dataset.open(tmp_path / "words").knowledge.space.names == ("beanie", "wheel")
    assert assay("annotate", data.folder, "-o", tmp_path / "own", "--set", f"machine=clip:{clip}").status == 0
    assert assay("intervene", bottleneck, data.folder, "--source", f"clip:{clip}", "--budget", "1").status == 0
    perceived = ("--set", f"perception=clip:{clip}", "--set", "device=cpu", "--epochs", 1)
    assert assay("train", "cbm", data.folder, "-o", tmp_path / "run", *perceived).status == 0
    assert not server.asked


def test_a_run_perceives_for_other_models(assay: Assay, data: Dataset, run: Path, tmp_path: Path) -> None:
    words = ("--set", f"perception={run}", "--set", "device=cpu")
    told = assay("train", "ltn", data.folder, "-o", tmp_path / "ltn", *words)
    assert told.status == 0 and "trained ltn for 1 epochs; best F1 on validation 1.000" in told.err
    assert assay("predict", tmp_path / "ltn", data.folder, "--split", "train").status == 0
    refused = assay("train", "cem", data.folder, "-o", tmp_path / "cem", *words).error
    assert refused == (
        "--set: 'cem' cannot take its concepts from perception: its labels follow from embeddings that it reads off the "
        "picture; cbm, semantic, dpl, ltn and all learners on concepts can"
    )


FAULTS = [
    ("annotate DATA -o NEW --set machine=clip", "'clip' is not whole: clip:FOLDER, a local folder with the weights"),
    ("annotate DATA -o NEW --set machine=clip:none", "'none/config.json' cannot be read: No such file or directory"),
    (
        "annotate DATA -o NEW --set machine=vlm --set 'reader={modle: 1}'",
        "reader: unknown key 'modle'; did you mean 'model'",
    ),
    ("annotate DATA -o NEW --set 'reader={model: eye}'", "reader: settings of a machine, and none is named"),
    ("annotate DATA -o NEW --set machine=vlm --set threshold=mean", "threshold: 'mean' is for scores"),
    ("annotate DATA -o NEW --set machine=vlm --set 'reader={texts: none.yaml}'", "'none.yaml' cannot be read"),
    ("intervene RUN DATA --source clip", "'clip' is not whole"),
    ("intervene RUN DATA --source vlm --reader model", "--reader 'model': expected KEY=VALUE"),
    ("intervene RUN DATA --source vlm --reader most_tokens=1", "most_tokens: the budget of 1 does not do"),
    ("train tree DATA -o NEW --set perception=clip:none", "none/config.json' cannot be read"),
    ("train cbm DATA -o NEW --set perception=none", "perception: no run or predictions file"),
    ("train tree DATA -o NEW --set 'reader={model: eye}' --set perception=RUN", "reader: only perception=vlm or clip:"),
]


@pytest.mark.parametrize(("line", "message"), FAULTS)
def test_faults_are_one_line(
    line: str, message: str, assay: Assay, data: Dataset, bottleneck: Path, server: Endpoint, tmp_path: Path
) -> None:
    places = {"DATA": data.folder, "NEW": tmp_path / "new", "RUN": bottleneck}
    words = [
        str(places.get(word, word)).replace("perception=RUN", f"perception={bottleneck}") for word in shlex.split(line)
    ]
    told = assay(*words)
    assert message in told.error and not (tmp_path / "new").exists()


def test_the_key_reaches_no_file_and_no_output(
    assay: Assay, data: Dataset, bottleneck: Path, server: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The endpoint tells the key in every answer and every error; nobody passes it on."""
    monkeypatch.chdir(tmp_path)
    answer = server.answerer
    server.answerer = lambda body: f"{answer(body)}\nYour key is {KEY}."
    told = [
        assay("annotate", data.folder, "-o", "seen", "--set", "machine=vlm", "--set", "splits=[valid]"),
        assay("train", "tree", data.folder, "-o", "tree", "--set", "perception=vlm"),
        assay("intervene", bottleneck, data.folder, "-o", "interventions", "--source", "vlm", "--budget", "1"),
        assay("score", "tree", data.folder),
        assay("report", "tree", "-o", "report"),
    ]
    assert [one.status for one in told] == [0] * 5, told
    server.script.extend([Fault(400, body=json.dumps({"error": {"message": f"the key {KEY} is bad"}}))] * 20)
    shutil.rmtree(tmp_path / "cache")
    told.append(assay("annotate", data.folder, "-o", "again", "--set", "machine=vlm", "--set", "splits=[valid]"))
    assert told[-1].status == 2 and "[key]" in told[-1].err
    assert not [one for one in told if KEY in one.out + one.err]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 20 and not [path for path in files if KEY.encode() in path.read_bytes()]
