"""Laws of every registered check: its claims, its words, its thresholds, and a model of which each claim is true."""

import re
from collections.abc import Iterator
from dataclasses import fields

import pytest

from assay.diagnosis.check import FINDINGS, Claim, kinds_in_order, known_checks, meaning_of, places_of, render, tone_of
from assay.diagnosis.thresholds import described, read_thresholds, sections
from assay.errors import ConfigError
from assay.testing import check_finding
from tests.diagnosis.models import CLEAR, clear_case

CHECKS = {check.name: check for check in known_checks()}
CLAIMS = [(kind, claim) for kind, check in CHECKS.items() for claim in check.claims]
THRESHOLDS = {
    f"{section}.{entry.name}": (entry.default, entry.metadata["low"], entry.metadata["high"])
    for section, kind in sections().items()
    for entry in fields(kind)
}


def words(parts: object) -> str:
    return " ".join(parts) if isinstance(parts, tuple) else str(parts)


@pytest.mark.parametrize("kind", sorted(FINDINGS))
def test_a_check_keeps_the_laws_that_strangers_checks_keep(kind: str) -> None:
    assert {check.law: check.fault for check in check_finding(type(CHECKS[kind])) if not check.passed} == {}


def test_the_order_of_kinds_is_total() -> None:
    order = kinds_in_order()
    assert sorted(order) == sorted(FINDINGS) and len(set(order)) == len(order)
    severities = [CHECKS[kind].severity for kind in order]
    assert severities == sorted(severities, reverse=True) and len(set(severities)) == len(severities)
    assert order[-1] == "sound" and {tone_of(kind) for kind in order} == {"good", "bad", "weak", "unknown"}
    assert all(meaning_of(kind) == CHECKS[kind].summary for kind in order)
    assert (tone_of("a stranger's"), meaning_of("a stranger's")) == ("unknown", "")


def filled(template: str) -> str:
    """Return a template with numbers: a share where it is one, else a count."""
    shares = {name: 0.25 for name, part in re.findall(r"\{(\w+)(%|/\w+)?\}", template) if part == "%"}
    return render(template, {name: shares.get(name, 40) for name in places_of(template)})


@pytest.mark.parametrize(("kind", "claim"), CLAIMS, ids=[f"{kind}: {claim}" for kind, claim in CLAIMS])
def test_a_claim_is_a_sentence_about_its_numbers(kind: str, claim: str) -> None:
    own: Claim = CHECKS[kind].claims[claim]
    for template in (own.meaning, own.text, own.next):
        text = filled(template)
        assert "{" not in text and "}" not in text and "  " not in text
    assert own.meaning.endswith(".") and ". " not in own.meaning.removesuffix(".")
    assert own.next and (own.next.endswith(".") or own.next.startswith("{"))
    assert places_of(own.text)  # a sentence without a number says nothing that was tested


@pytest.mark.parametrize(("kind", "claim"), CLAIMS, ids=[f"{kind}: {claim}" for kind, claim in CLAIMS])
def test_every_claim_is_made_of_a_model_of_which_it_is_true(kind: str, claim: str) -> None:
    """A new claim needs a clear case in `tests/diagnosis/models.py`."""
    found = clear_case(kind, claim).diagnosed()
    assert (found.verdict, found.findings[0].claim) == (kind, claim)
    assert found.meaning == found.findings[0].meaning and found.next and "{" not in found.text


def test_no_claim_is_left_without_a_check() -> None:
    assert set(CLEAR) == set(CLAIMS)


# -- thresholds --------------------------------------------------------------------------------------------------------


def test_the_table_of_thresholds_names_each_with_its_reason() -> None:
    rows = described()
    assert {name: value for name, value, _, _ in rows} == {name: default for name, (default, _, _) in THRESHOLDS.items()}
    assert all(about and chosen for _, _, about, chosen in rows)


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_threshold_is_set_within_its_bounds(name: str) -> None:
    default, low, high = THRESHOLDS[name]
    section, _, entry = name.rpartition(".")
    assert low <= default <= high
    for value in (low, default, high, str(low)):
        settings = read_thresholds({name: value}).of(sections()[section])
        assert getattr(settings, entry) == type(default)(float(value))
    for value in (low - 1, high + 1, float("nan"), float("inf"), "much", None, True):
        with pytest.raises(ConfigError) as refused:
            read_thresholds({name: value})
        line = str(refused.value)
        assert line.startswith(f"{name}: expected a ") and "\n" not in line and f"got {value!r}" in line


def test_a_threshold_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no threshold 'memorised.dorp'; did you mean .*'memorised.drop'"):
        read_thresholds({"memorised.dorp": 0.2})
    with pytest.raises(ConfigError, match="no threshold 'drop': expected SECTION.NAME"):
        read_thresholds({"drop": 0.2})
    assert read_thresholds({}).to_dict() == {}
    assert read_thresholds({"memorised.drop": 0.2}).to_dict()["memorised"]["drop"] == 0.2


def told(kind: str, claim: str, **changed: float) -> list[tuple[object, ...]]:
    """Return what is told of a clear case: of each finding its kind, claim, sentence and the labels it accounts for."""
    found = clear_case(kind, claim).diagnosed(**changed)
    return [(f.kind, f.claim, f.text, f.wrong_labels, f.unsettled) for f in found.findings] + [found.notes]


def extremes(name: str) -> Iterator[dict[str, float]]:
    """Yield a threshold at both ends of its range, as `Model.diagnosed` takes it."""
    default, low, high = THRESHOLDS[name]
    key = name.replace(".", "__").replace(" ", "_")
    yield from ({key: type(default)(value)} for value in (low, high))


@pytest.mark.parametrize("name", sorted(set(THRESHOLDS) - {"verdict.resamples"}))
def test_a_threshold_at_its_extreme_changes_what_is_told(name: str) -> None:
    """Of the check that it belongs to, or of any."""
    section = name.rpartition(".")[0]
    order = sorted(CLAIMS, key=lambda entry: entry[0] != section)
    assert any(
        told(kind, claim, **changed) != told(kind, claim) for kind, claim in order for changed in extremes(name)
    )
