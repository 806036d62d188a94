"""What training labels can teach: counts, words and what to supervise, on rules whose readings are known."""

import numpy as np
import pytest

import assay
from assay.diagnosis import identifiability
from assay.logic import NO_RULE, Knowledge, Label, bits, digits

XOR = Knowledge.of(bits(["a", "b"]), {"y": "xor(a, b)"})
WIDE = Knowledge.of(bits(["a", "b", *(f"x{n}" for n in range(12))]), {"y": "xor(a, b)"})
"""Twelve concepts that the rule does not use."""
ALL = XOR.space.all_codes()


def test_both_bits_upside_down_keep_an_xor():
    found = identifiability(XOR, np.repeat(ALL, 3, axis=0))
    assert (found.worlds, found.counted, found.low, found.high) == (4, 4, 2, 2)
    assert found.identified == {"a": False, "b": False} and len(found.settle) == 1
    assert "1 reasoning shortcut:" in found.text and f"Supervising {found.settle[0]} would rule it out" in found.text
    assert found.to_dict()["settled_by"] == list(found.settle) and found.to_dict()["text"] == found.text


def test_concepts_outside_of_the_rule_are_named_by_their_number_alone():
    worlds = np.unique(np.random.default_rng(0).integers(0, 2, (400, 14)), axis=0)
    found = identifiability(WIDE, worlds)
    assert (found.low, found.high, found.used, found.unused) == (2, 2, 2, 12)
    assert set(found.identified) == {"a", "b"} and all(one.split()[0] in "ab" for one in found.settle)
    assert "12 concepts are not in the rule" in found.text and "x1" not in found.text


@pytest.mark.parametrize("family", ["shared", "per-world"])
@pytest.mark.parametrize("supervised", [{}, {"a": None}, {"a": [True]}, {"a": None, "b": None}])
def test_advice_names_only_what_is_not_supervised_and_what_the_rule_uses(family, supervised):
    found = identifiability(WIDE, WIDE.space.all_codes()[::7], supervised=supervised, family=family)
    named = {one.split()[0] for one in found.settle}
    whole = {name for name, values in supervised.items() if values is None}
    assert named <= {"a", "b"} - whole and bool(found.settle) == (found.high > 1)
    settled = {**supervised, **dict.fromkeys(named)}
    assert identifiability(WIDE, WIDE.space.all_codes()[::7], supervised=settled, family=family).high == 1
    assert all(name in found.text for name in supervised)


def test_all_values_of_a_concept_are_named_as_the_concept():
    """Of a digit of which only `d >= 2` matters, every value has two readings: four entries, one name."""
    knowledge = Knowledge.of(digits(["d"], range(4)), {"y": "d >= 2"})
    found = identifiability(knowledge, knowledge.space.all_codes())
    assert found.high == 2**4 and found.settle == (knowledge.space.encoders[0].name,)


def test_huge_numbers_are_powers_of_ten_in_words_and_exact_in_data():
    knowledge = Knowledge.of(digits(["d"], range(30)), {"y": "d >= 15"})
    found = identifiability(knowledge, knowledge.space.all_codes())
    assert found.to_dict()["high"] == 15**30 and "1.9 x 10^35 reasoning shortcuts" in found.text  # 15^30 = 1.92e35


def test_labels_that_say_all_allow_no_shortcut():
    found = identifiability(Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"}), ALL)
    assert found.high == 1 and found.settle == () and set(found.identified.values()) == {True}
    assert "no reasoning shortcut" in found.text and "Supervising" not in found.text


def test_of_very_many_worlds_some_are_counted():
    knowledge = Knowledge.of(digits(["a", "b"], range(60)), {"y": "a > b"})
    found = identifiability(knowledge, knowledge.space.all_codes())
    assert found.worlds == 3600 and found.counted <= 2000 and found.low == 1  # one reading at least
    assert f"{found.counted:,} of the 3,600 training worlds" in found.text


def test_without_worlds_or_time_nothing_is_said_of_entries():
    assert identifiability(XOR, None) is None and identifiability(XOR, ALL[:0]) is None
    hasty = identifiability(XOR, ALL, seconds=0)
    assert hasty.identified == {} and hasty.settle == () and hasty.low <= 2 <= hasty.high
    assert identifiability(Knowledge(XOR.space, (Label("y", NO_RULE, (False, True)),)), ALL) is None


@pytest.fixture(scope="module")
def supervised_and_not(evenodd, tmp_path_factory):
    """Two runs of one model, the first supervised on a concept."""
    folder, own = tmp_path_factory.mktemp("runs"), {"concept_weight": 1.0, "supervised_concepts": ["a"]}
    return [
        assay.train("dpl", evenodd, folder / name, epochs=1, **settings)
        for name, settings in (("taught", own), ("plain", {}))
    ]


def test_advice_on_a_run_names_nothing_that_the_run_was_supervised_on(supervised_and_not):
    taught, plain = (assay.diagnose(run).to_dict() for run in supervised_and_not)
    assert plain["identifiability"]["supervised"] == [] and plain["identifiability"]["settled_by"]
    known = taught["identifiability"]["supervised"]
    assert known and all(text.split()[0] == "a" for text in known)
    assert not set(taught["identifiability"]["settled_by"]) & set(known)
    assert taught["identifiability"]["high"] < plain["identifiability"]["high"]


def test_what_a_report_says_of_the_labels_of_a_dataset_is_true_of_all_its_runs(supervised_and_not, tmp_path):
    plain = assay.diagnose(supervised_and_not[1]).to_dict()["identifiability"]["text"]
    assay.report([run.folder for run in supervised_and_not], tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    assert text.index(plain) < text.index("and the supervision of")  # which is said of the run that was supervised
