"""A whole few-shot evaluation against an endpoint that fails in every way, is killed, and goes on from its cache."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from assay import predict
from assay.base import AssayError, ConfigError, Settings
from assay.diagnosis import diagnose_run
from assay.models import TrainSpec, load_model, train_run
from assay.runs import RunFolder
from tests.endpoint import Fault, pictures, rule, texts
from tests.models.language.incontext.conftest import TRUE_RULE

QUICK = {"model": "scripted", "first_wait": 0.001}
ASK = {**QUICK, "form": "words", "classify": "ask"}


def learn(data, folder, seed=0, **settings):
    return train_run(TrainSpec("incontext", Settings(settings), seed), data, folder)


def about(folder):
    return json.loads((folder / "run.json").read_text())["incontext"]


def test_an_evaluation_survives_every_fault(fewshot, server, tmp_path):
    server.script.extend(
        [
            Fault(429, {"Retry-After": "0.01"}, '{"error": {"message": "slow down"}}'),
            Fault(500),
            Fault(drop=True),
            Fault(body="<html>hello</html>"),
            Fault(body=json.dumps({"choices": [{"message": {"content": "RULE: x"}}]}), cut=True),
            "I like surfing.",
        ]
    )
    model = learn(fewshot, tmp_path / "run", **ASK, price_in=2.0, price_out=10.0)
    assert (fewshot["test"].labels[:, 0] == model.predict(fewshot["test"]).labels["surf_trip"].codes).all()
    assert len(server.asked) == 5 + 2 + 40  # faults, an answer that is no rule and the rule, the test pictures
    told = about(tmp_path / "run")
    assert (told["requests"], told["from_cache"], told["retries"]) == (42, 0, 5)
    assert (told["tokens_in"], told["tokens_out"], told["endpoint"]) == (4200, 420, "local")
    assert told["cost"] == pytest.approx((4200 * 2 + 420 * 10) / 1e6)
    assert told["answered_by"] == ["scripted"] and len(told["prompts"]) == 10 and not told["failed"]
    retold = texts(server.asked[6])
    assert "I like surfing." in retold and "there is no line 'RULE: ...'" in retold


def test_what_is_shown_are_the_shots_and_no_name_of_the_label(fewshot, server, tmp_path):
    learn(fewshot, tmp_path / "run", **QUICK)
    (body,) = server.asked
    assert set(pictures(body)) == set(fewshot["train"].pngs) and len(pictures(body)) == 24
    parts = body["messages"][1]["content"]
    truth = dict(zip(fewshot["train"].pngs, fewshot["train"].given_labels[:, 0], strict=True))
    for words, picture in zip(parts[1:-1:2], parts[2:-1:2], strict=True):
        shown = pictures({"messages": [{"content": [picture]}]})[0]
        assert ("answers yes" in words["text"]) == bool(truth[shown])
    assert "surf_trip" not in json.dumps(body) and "`surfboard`: a number from 0 to" in texts(body)
    assert (body["model"], body["seed"], body["temperature"], body["max_tokens"]) == ("scripted", 0, 0.0, 32768)


def test_the_formula_is_evaluated_on_concepts_and_the_run_is_like_any_other(fewshot, server, tmp_path):
    model = learn(fewshot, tmp_path / "run", **QUICK)
    assert len(server.asked) == 1 and str(model.formulas["surf_trip"]) == TRUE_RULE
    for split in ("valid", "test", "hard"):
        said = RunFolder(tmp_path / "run").all_predictions(fewshot.knowledge)[split]
        assert (said.labels["surf_trip"].codes == fewshot[split].labels[:, 0]).all() and said.concepts
    assert diagnose_run(RunFolder(tmp_path / "run"), fewshot) is not None
    assert "as many surfboards as people" in model.describe()[0]
    assert RunFolder(tmp_path / "run").predictions("pairs").exists()


def test_a_model_that_is_only_asked_says_nothing_of_concepts(fewshot, server, tmp_path):
    model = learn(fewshot, tmp_path / "run", **ASK)
    assert not model.has_concepts and not model.can_intervene and type(model).has_concepts
    said = RunFolder(tmp_path / "run").all_predictions(fewshot.knowledge)
    assert list(said) == ["test"] and not said["test"].concepts
    assert not RunFolder(tmp_path / "run").predictions("pairs").exists()  # nobody asked for these
    assert diagnose_run(RunFolder(tmp_path / "run"), fewshot) is not None
    with pytest.raises(ConfigError, match="no concepts to set"):
        model.predict(fewshot["test"], {"person": np.zeros(40, int)})
    asked = len(server.asked)
    predict(tmp_path / "run", fewshot, split="hard")  # what is asked for by name is asked
    assert len(server.asked) == asked + len(fewshot["hard"])
    assert not load_model(tmp_path / "run").has_concepts


def test_killed_and_started_again_it_asks_for_what_is_missing_only(fewshot, server, tmp_path):
    words = [sys.executable, "-m", "assay", "train", "incontext", str(fewshot.folder), "-o", str(tmp_path / "run")]
    words += [word for key, value in ASK.items() for word in ("--set", f"{key}={value}")]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    server.hold_after = 20
    first = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert server.held.wait(60)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert not (tmp_path / "run" / "run.json").exists() and len(server.asked) == 21
    server.hold_after = None
    server.go.set()
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == 21 + 21  # of 41 requests 20 are in the cache
    told = about(tmp_path / "run")
    assert (told["requests"], told["from_cache"]) == (41, 20)
    said = RunFolder(tmp_path / "run").all_predictions(fewshot.knowledge)["test"]
    assert (said.labels["surf_trip"].codes == fewshot["test"].labels[:, 0]).all()


def test_a_second_run_asks_nothing_unless_answers_are_damaged(fewshot, server, tmp_path):
    one = learn(fewshot, tmp_path / "one", **ASK)
    asked = len(server.asked)
    server.close()  # nobody is there any more
    two = learn(fewshot, tmp_path / "two", **ASK, retries=0)
    same = [model.predict(fewshot["test"]).labels["surf_trip"].codes.tolist() for model in (one, two)]
    assert same[0] == same[1] and about(tmp_path / "two")["from_cache"] == asked
    held = sorted((tmp_path / "cache" / "answers").rglob("*.json"))
    assert len(held) == asked
    held[0].write_bytes(held[0].read_bytes().replace(b"yes", b"no").replace(b"ANSWER", b"answer")[:-3])
    with pytest.raises(AssayError, match="cannot be reached"):
        learn(fewshot, tmp_path / "three", **ASK, retries=0)


def test_another_seed_asks_anew_and_shows_other_shots(fewshot, server, tmp_path):
    for seed in (0, 1):
        learn(fewshot, tmp_path / str(seed), seed=seed, **QUICK, shots=10)
    one, two = server.asked
    assert one["seed"] != two["seed"] and pictures(one) != pictures(two)
    truth = dict(zip(fewshot["train"].pngs, fewshot["train"].given_labels[:, 0], strict=True))
    assert [sum(bool(truth[p]) for p in pictures(body)) for body in (one, two)] == [5, 5]


def test_several_at_once_say_the_same(fewshot, server, tmp_path):
    server.script.append(Fault(503))
    model = learn(fewshot, tmp_path / "run", **ASK, parallel=8)
    assert (model.predict(fewshot["test"]).labels["surf_trip"].codes == fewshot["test"].labels[:, 0]).all()
    assert len(server.asked) == 42


def test_no_rule_after_all_tries_is_a_failure_and_nothing_else(fewshot, server, tmp_path):
    server.script.extend(["no idea", rule("x", "persons > 1"), rule("x", "person + 1")])
    model = learn(fewshot, tmp_path / "run", **QUICK)
    assert len(server.asked) == 3
    assert "no concept named 'persons'" in texts(server.asked[2]) or "persons" in texts(server.asked[2])
    assert about(tmp_path / "run")["failed"] == {
        "surf_trip": "the formula gives a number, but the rule gives a truth value"
    }
    assert model.describe()[0].startswith("surf_trip: no answer was a rule: ")
    said = RunFolder(tmp_path / "run").all_predictions(fewshot.knowledge)["test"]
    assert (said.labels["surf_trip"].codes == -1).all() and said.labels["surf_trip"].probabilities is None
    again = load_model(tmp_path / "run")
    assert again.failures == model.failures and (again.predict(fewshot["test"]).labels["surf_trip"].codes == -1).all()


def test_an_example_that_is_not_answered_has_no_answer(fewshot, server, tmp_path):
    server.script.extend([rule("y", "person == 1"), "perhaps", "ANSWER: maybe", "hm"])
    model = learn(fewshot, tmp_path / "run", **ASK)
    codes = model.predict(fewshot["test"]).labels["surf_trip"].codes
    assert codes[0] == -1 and (codes[1:] == fewshot["test"].labels[1:, 0]).all()
    assert diagnose_run(RunFolder(tmp_path / "run"), fewshot) is not None


# -- symbols, text and Prolog ------------------------------------------------------------------------------------------


def test_a_rule_from_symbols_as_prolog(trains, server, tmp_path):
    server.script.append(
        rule("a short closed car", "target(W) :- has_car(W, C), car_length(C, short), \\+ roof(C, none).", "prolog")
    )
    model = learn(trains, tmp_path / "run", **QUICK, show="symbols", form="prolog")
    said = texts(server.asked[0])
    assert "has_car(w1,w1_car1)." in said and "`car_length(Car, V)`: V is one of" in said
    name = trains.knowledge.label_names[0]
    assert "any(" in str(model.formulas[name])
    assert load_model(tmp_path / "run").formulas == model.formulas


def test_a_program_that_loops_is_no_rule_and_the_model_is_told(trains, server, tmp_path):
    server.script.extend(
        [rule("x", "target(W) :- target(W).", "prolog"), rule("y", "target(W) :- has_car(W, _).", "prolog")]
    )
    learn(trains, tmp_path / "run", **QUICK, show="text", form="prolog")
    assert (
        len(server.asked) == 2
        and "target" in texts(server.asked[1])
        and trains["train"].texts[0] in texts(server.asked[0])
    )


def test_classes_are_asked_with_the_symbols_that_perception_tells(made, server, tmp_path):
    data = made("mnlogic", k=2, prop_in_distribution=1.0, splits={"train": 8, "valid": 4, "test": 4, "hard": 4})
    server.answerer = lambda body: rule("a", "a") if "What is the rule?" in texts(body) else "**ANSWER:** No."
    model = learn(data, tmp_path / "run", **QUICK, show="symbols", classify="ask")
    assert (model.predict(data["test"]).labels[data.knowledge.label_names[0]].codes == 0).all()
    asked = texts(server.asked[-1])
    assert "a = " in asked and "b = " in asked and "```" not in asked and "It speaks of these" in asked
