"""The in-context learner by hand: which examples it shows and how, what it asks, and what it makes of the answers."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.config import Settings
from assay.errors import ConfigError
from assay.logic import Knowledge, parse
from assay.models.incontext import learner, messages, wording
from assay.models.incontext.client import Reply
from assay.models.incontext.conversation import ReadFailure
from assay.models.incontext.learner import InContext, _readable
from assay.models.incontext.replies import ParsedRule
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.formulas import LearnedFormulas
from assay.models.symbolic.perception import MissingPerception, one_hot
from assay.predictions import Answer, Predictions

SPACE = ConceptSpace(
    (Concept("n", (0, 1, 2, 3)), Concept("car1.hue", ("red", "blue")), Concept("car2.hue", ("red", "blue"))),
    (Slot("car1", "cars", ("hue",)), Slot("car2", "cars", ("hue",))),
)
KNOWLEDGE = Knowledge.of(SPACE, {"z": "n", "y": "any(c.hue == 'red' for c in cars)"})
Z, Y = KNOWLEDGE.labels
CODES = np.array([[3, 1, 0], [0, 1, 1], [2, 0, 0], [1, 1, 1], [0, 0, 1]])
LABELS = np.array([[3, -1], [0, 0], [-1, 1], [1, 0], [0, 1]])


class Split(SimpleNamespace):
    """Examples with pictures and texts, whose numbers are not their rows."""

    def __len__(self):
        return len(self.index)

    def files(self, rows):
        return [f"picture {row}".encode() for row in rows]


def split(name="test"):
    return Split(
        name=name, fingerprint="f", index=np.array([40, 7, 12, 9, 3]), given_labels=LABELS, concepts=CODES,
        texts=[f"text {row}" for row in range(5)],
    )  # fmt: skip


def examples(label):
    place = KNOWLEDGE.label_names.index(label.name)
    rows = np.flatnonzero(LABELS[:, place] >= 0)
    return LabelExamples(SPACE, label, CODES[rows], one_hot(CODES[rows], SPACE), LABELS[rows, place])


class Talk:
    """A conversation that gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers, local=True):
        self.answers, self.asked = list(answers), []
        self.client = SimpleNamespace(endpoint=SimpleNamespace(local=local))

    def read(self, messages, purpose, reader, complain):
        self.asked.append((messages, purpose, reader, complain))
        return self.answers.pop(0)

    def each(self, work, items):
        return [work(item) for item in items]


def model(*answers, **settings):
    made = InContext(KNOWLEDGE, None, Settings({"model": "m", **settings}), {}, 5)
    made._talk, made._train = Talk(*answers), split("train")
    return made


def text_of(content):
    return content if isinstance(content, str) else [part.get("text", "picture") for part in content]


# -- the shots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shots", [2, 5, 7, 11])
def test_shots_take_turns_over_the_values_in_a_random_order(shots):
    targets = np.array([0, 2, 2, 0, 0, 3, 0, 2, 0, 0, 2])
    made = model(shots=shots)
    order = made.rng("shots", "z").permutation(11)
    turns, seen = [], {}
    for place, row in enumerate(order.tolist()):
        seen[targets[row]] = seen.get(targets[row], -1) + 1
        turns.append((seen[targets[row]], place))
    kept = sorted(place for _, place in sorted(turns)[:shots])
    found = made._chosen(Z, LabelExamples(SPACE, Z, np.zeros((11, 3), int), [], targets))
    assert found.tolist() == (order if shots == 11 else order[kept]).tolist()


@pytest.mark.parametrize(("show", "form"), [("images", "formula"), ("symbols", "formula"), ("text", "words")])
def test_examples_are_shown_as_they_are_in_the_split(show, form):
    made = model(show=show, form=form, classify="ask")
    parts = made._rule_parts(Y, examples(Y), np.array([2, 0, 3]))  # rows 3, 1 and 4 of the split
    head, *shown, how = text_of(parts)
    assert f"{'3 pictures' if show == 'images' else 'descriptions of 3 examples'}." in head and "yes or no" in head
    assert ("speaks of nothing but these" in head) == (form == "formula")
    answers = [f"Example {number}, the rule answers {answer}:" for number, answer in ((1, "no"), (2, "no"), (3, "yes"))]
    if show == "images":
        assert shown == [line for answer in answers for line in (answer, "picture")]
        pictures = [part["image_url"]["url"].split(",")[1] for part in parts if part["type"] == "image_url"]
        assert pictures == [messages.picture_part(f"picture {row}".encode())["image_url"]["url"].split(",")[1]
                            for row in (3, 1, 4)]  # fmt: skip
    else:
        described = {
            "text": ["text 3", "text 1", "text 4"],
            "symbols": [f"car1: hue = {a}\ncar2: hue = {b}\nn = {n}" for a, b, n in
                        (("blue", "blue", 1), ("blue", "blue", 0), ("red", "blue", 0))],
        }[show]  # fmt: skip
        assert shown == [f"{answer}\n{words}" for answer, words in zip(answers, described, strict=True)]
    if form == "formula":
        assert "gives true or false" in how and "any(x.hue == 'red' for x in cars)" in how
    assert how.endswith("RULE: ...") == (form == "words")


def test_facts_of_prolog_have_the_number_of_their_example():
    knowledge = Knowledge.of(SPACE, {"y": "n > 1"})
    made = InContext(knowledge, None, Settings({"form": "prolog", "show": "symbols", "model": "m"}), {}, 0)
    assert "has_car(w4,w4_car1)." in made._present(split(), 2, CODES[2], 4)[0]
    made._train = None
    with pytest.raises(ConfigError, match="examples are shown as they are in a split; use fit"):
        made._rule_parts(knowledge.labels[0], examples(Y), np.array([0]))
    two = Knowledge.of(SPACE, {"z": "n", "y": "n > 1"})
    with pytest.raises(ConfigError, match="form=prolog needs labels that are true or false"):
        InContext(two, None, Settings({"form": "prolog"}), {}, 0)


# -- the rule ----------------------------------------------------------------------------------------------------------


def test_a_rule_is_asked_for_and_tried_on_the_shots():
    made = model(ParsedRule("more than one", "n", parse("n")), shots=3)
    found = made.learn_label(Z, examples(Z))
    (opened, purpose, reader, complain) = made._talk.asked[0]
    rows = made._chosen(Z, examples(Z))
    parts = made._rule_parts(Z, examples(Z), rows)
    assert purpose == "rule of z" and opened == messages.opening(parts) and len(rows) == 3
    assert complain("it is odd") == messages.fill("not_a_rule", problem="it is odd", form="formula", head="target")
    given = Reply("RULE: w\n```formula\nn + 0\n```", "stop", "m", 1, 1)
    assert reader(given) == ParsedRule("w", "n + 0", parse("n + 0"))
    assert found.notes == {
        "shots": 3, "prompt": _readable(parts), "words": "more than one", "text": "n", "right": 3
    }  # fmt: skip
    assert str(found.formulas[None]) == "n"
    wrong = model(ParsedRule("w", "t", parse("0 if n < 3 else 3")), shots=9)
    assert wrong.learn_label(Z, examples(Z)).notes["right"] == 3  # of four examples, one is 1


def test_words_alone_and_failures_leave_no_formula():
    words = model(ParsedRule("in words"), form="words", classify="ask").learn_label(Y, examples(Y))
    assert words.formulas == {} and words.notes["words"] == "in words" and "right" not in words.notes
    failed = model(ReadFailure("it is none", "hm")).learn_label(Y, examples(Y))
    assert failed.formulas == {} and (failed.notes["failed"], failed.notes["answer"]) == ("it is none", "hm")
    assert failed.notes["shots"] == 4 and "words" not in failed.notes
    none = LabelExamples(SPACE, Y, CODES[:0], [], np.zeros(0, int))
    with pytest.raises(ConfigError, match="label 'y' is given for no training example"):
        model().learn_label(Y, none)


def test_a_fit_is_judged_by_its_shots_and_on_validation(monkeypatch):
    made, told, seen = model(), [], []

    def learn(given):
        seen.append((given, made._train))
        made.learned = {
            "z": LearnedFormulas({}, notes={"right": 3, "shots": 4}),
            "y": LearnedFormulas({}, notes={"right": 1, "shots": 2}),
            "x": LearnedFormulas({}, notes={"failed": "no", "shots": 2}),
        }

    monkeypatch.setattr(made, "examples", lambda data: f"examples of {data}")
    monkeypatch.setattr(made, "learn", learn)
    monkeypatch.setattr(made, "_f1", lambda data: {"valid": 0.75}[data])
    made.fit("train", "valid", lambda *said: told.append(said))
    assert seen == [("examples of train", "train")]
    (epoch,) = made.history
    assert (epoch.phase, epoch.number, epoch.score, epoch.best) == ("learning", 1, 0.75, True) and told == [(epoch, 1)]
    assert epoch.loss == pytest.approx((1 / 4 + 1 / 2) / 2)

    def unseen(data):
        raise MissingPerception

    monkeypatch.setattr(made, "_f1", unseen)
    made.fit("train", "valid")
    assert made.history_as_dicts() == [
        {"phase": "learning", "number": 1, "loss": pytest.approx(0.375), "score": None, "best": True}
    ]
    monkeypatch.setattr(made, "learn", lambda given: made.learned.update(z=made.learned["x"], y=made.learned["x"]))
    made.fit("train", "valid")
    assert made.history[0].loss == 0.0


# -- answers -----------------------------------------------------------------------------------------------------------


def with_rules(*answers, **settings):
    made = model(*answers, **settings)
    made.learned = {
        "z": LearnedFormulas({None: parse("n")}, notes={"words": "as many", "text": "n", "shots": 2}),
        "y": LearnedFormulas({}, notes={"failed": "no rule"}),
    }
    return made


def test_labels_without_a_rule_are_unknown(monkeypatch):
    made = with_rules()
    said = Predictions(
        "f", "test", np.arange(5), {"z": Answer(np.zeros(5, int)), "y": Answer(np.ones(5, int))}, {"n": "c"}, {"who": 1}
    )
    monkeypatch.setattr(learner.FormulaModel, "predict", lambda self, data, do: said)
    found = made.predict(split())
    assert found.labels["z"] is said.labels["z"] and found.labels["y"].codes.tolist() == [-1] * 5
    assert found.labels["y"].probabilities is None
    assert (found.fingerprint, found.split, found.concepts, found.about) == ("f", "test", {"n": "c"}, {"who": 1})
    z, y = made.label_probabilities(one_hot(CODES, SPACE))
    assert z.argmax(axis=1).tolist() == CODES[:, 0].tolist() and y.tolist() == [[0.5, 0.5]] * 5
    assert made.failures == {"y": "no rule"}


def test_only_the_splits_that_are_set_are_asked_about(monkeypatch):
    made = with_rules(classify="ask", splits=["hard"])
    monkeypatch.setattr(made, "_ask_labels", lambda label, data: f"{label.name} of {data.name}")
    monkeypatch.setattr(made, "about", lambda: {"who": 2})
    assert not made.has_concepts and not made.can_intervene
    found = made.predict(split("hard"))
    assert found.labels == {"z": "z of hard", "y": "y of hard"} and found.concepts == {} and found.about == {"who": 2}
    assert (found.fingerprint, found.split, found.index.tolist()) == ("f", "hard", [40, 7, 12, 9, 3])
    with pytest.raises(MissingPerception, match="split 'test' is not among those that the model is asked about"):
        made.predict(split())
    made._asks_any = True
    assert made.predict(split()).labels["z"] == "z of test"
    with pytest.raises(ConfigError, match="has no concepts to set; use classify=evaluate"):
        made.predict(split("hard"), {"n": np.zeros(5)})


@pytest.mark.parametrize("show", ["images", "symbols", "text"])
def test_each_example_is_asked_about_with_the_rule(show):
    made = with_rules(3, 1, 0, 0, 2, classify="ask", show=show)
    seen = CODES[::-1].copy()
    made.perception = SimpleNamespace(probabilities=lambda data: one_hot(seen, SPACE))
    found = made._ask_labels(Z, split())
    assert found.codes.tolist() == [3, 1, 0, 0, 2] and found.probabilities.argmax(axis=1).tolist() == [3, 1, 0, 0, 2]
    assert [purpose for _, purpose, _, _ in made._talk.asked] == [f"z of test {index}" for index in split().index]
    opened, _, reader, complain = made._talk.asked[1]
    asked = text_of(opened[1]["content"])
    first = asked if isinstance(asked, str) else asked[0]
    assert "as many" in first and "The same rule as a formula:\nn\n" in first and "`n`: a number from 0 to 3" in first
    assert first.endswith("ANSWER: a number from 0 to 3") and "answers a number from 0 to 3:" in first
    described = {"images": "", "text": "text 1", "symbols": "car1: hue = blue\ncar2: hue = blue\nn = 1"}[show]
    assert ("picture below" in first) == (show == "images") and described in first
    assert (asked[1:] if show == "images" else []) == (["picture"] if show == "images" else [])
    assert reader(Reply("ANSWER: 2", "stop", "m", 1, 1)) == 2
    assert complain("odd") == messages.fill("not_an_answer", problem="odd", choices="a number from 0 to 3")


def test_an_example_without_an_answer_leaves_no_probabilities():
    made = with_rules(3, ReadFailure("why", "x"), 0, 0, 2, classify="ask")
    found = made._ask_labels(Z, split())
    assert found.codes.tolist() == [3, -1, 0, 0, 2] and found.probabilities is None
    assert made._ask_labels(Y, split()).codes.tolist() == [-1] * 5 and len(made._talk.asked) == 5
    del made.learned["y"]
    with pytest.raises(ConfigError, match="model 'incontext' has learned nothing yet of label 'y'"):
        made._ask_labels(Y, split())


# -- the record --------------------------------------------------------------------------------------------------------


def test_what_was_asked_is_told_and_comes_back(monkeypatch):
    made = with_rules(price_in=2.0)
    made.where = "remote"
    for request, cached in (("a", False), ("b", True)):
        made.ledger.enter(f"purpose {request}", request, Reply("", "stop", "who", 1500, 20, retries=3), cached)
    assert made.in_words() == [
        "z: as many", "z: n", "y: no answer was a rule: no rule",
        "answers: 2 (1 from the cache), retries: 6, tokens: 3,000 + 40, cost: 0.006",
    ]  # fmt: skip
    other = model()
    assert other.where == "not asked"
    other.set_state(json.loads(json.dumps(made.state())))
    assert other.where == "remote" and other.ledger.to_list() == made.ledger.to_list()
    assert other.failures == {"y": "no rule"} and str(other.learned["z"].formulas[None]) == "n"
    monkeypatch.setattr(learner.FormulaModel, "about", lambda self: {"model": "incontext"})
    about = made.about()["incontext"]
    assert (about["endpoint"], about["failed"], about["requests"]) == ("remote", {"y": "no rule"}, 2)
    assert about["prompts"] == messages.hashes()


@pytest.mark.parametrize(("local", "where"), [(True, "local"), (False, "remote")])
def test_a_conversation_is_opened_once_with_the_seed(monkeypatch, local, where):
    made, asked = model(), []
    made._talk = None
    monkeypatch.setattr(learner, "open_conversation", lambda *given: asked.append(given) or Talk(local=local))
    assert made.conversation is made.conversation and asked == [(made.config, 5, made.ledger)] and made.where == where


def test_a_prompt_is_recorded_without_its_pictures():
    parts = [messages.text_part("a"), messages.picture_part(b"x"), messages.text_part("b")]
    assert _readable(parts) == "a\n\n[picture]\n\nb"


# -- words -------------------------------------------------------------------------------------------------------------


def test_predicates_are_listed_with_their_arguments():
    lines = wording.vocabulary(SPACE, "prolog").splitlines()
    assert lines[:3] == [
        "- `has_car(World, Car)`: the car is there",
        "- `car_num(Car, N)`: its place, from 1 on",
        "- `before(Car1, Car2)`: the first comes before the second",
    ]
    assert lines[3:] == ["- `hue(Car, V)`: V is one of red, blue", "- `n(World, V)`: V is one of 0, 1, 2, 3"]
    assert wording.quantifier_example(SPACE) == ("cars", "x.hue == 'red'")
    facts = wording.describe_example(SPACE, CODES[0], "prolog", 6).splitlines()
    assert facts[0] == "has_car(w6,w6_car1)." and "n(w6,3)." in facts


def test_prompts_have_no_empty_lines_of_their_own():
    assert messages.fill("example", number=3, answer="no", description="d") == "Example 3, the rule answers no:\nd"
    assert messages.fill("example", number=3, answer="no", description="") == "Example 3, the rule answers no:"
    asked = messages.fill("not_a_rule", problem="p", form="words", head="h")
    assert asked.endswith("RULE: the rule in words, on one line")
    formula = messages.fill("not_a_rule", problem="p", form="formula", head="h")
    assert formula == f"{asked}\n```formula\nthe formula\n```"
    whole = messages.fill("rule_from_images", count=2, values="yes or no", vocabulary="- `a`")
    assert whole.endswith("Find the rule.\n\nThe rule speaks of nothing but these:\n- `a`")
    assert list(messages.hashes(("system_reader", "example"))) == ["system_reader", "example"]
    assert messages.opening([messages.text_part("x")], "system_reader")[0] == {
        "role": "system", "content": messages.fill("system_reader")
    }  # fmt: skip
