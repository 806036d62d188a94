"""The zoo of known faults: what must be told is told, what must not is not. `make bench` tries it in full."""

import pytest

from assay.testing.zoo import SPECIMENS, Habitat, Survey, habitat, survey

HOMES = ("mnadd-evenodd", "robots")
"""A few of the tasks; the benchmark takes eight and three seeds."""


@pytest.fixture(scope="module")
def homes() -> list[Habitat]:
    return [habitat(task) for task in HOMES]


def test_known_faults_are_told_and_no_others(homes: list[Habitat]) -> None:
    total, names = Survey(), 0
    for _, counts in survey(homes):
        names += 1
        total.required += counts.required
        total.reported += counts.reported
        total.forbidden += counts.forbidden
        total.falsely_reported += counts.falsely_reported
        total.misses += counts.misses
    assert names == len(SPECIMENS) >= 30
    assert total.reported >= 0.98 * total.required > 60, total.misses
    assert total.falsely_reported <= 0.01 * total.forbidden, total.misses


def test_a_survey_counts_what_is_missed(homes: list[Habitat], monkeypatch: pytest.MonkeyPatch) -> None:
    """A diagnosis that always said sound would be found out."""
    from assay.diagnosis import verdict

    monkeypatch.setattr(verdict, "_findings", lambda views, *_: ((verdict._sound(views),), None))
    counts = dict(survey(homes[:1], ["oracle", "shuffled", "bypass"]))
    assert not counts["oracle"].misses
    assert counts["shuffled"].reported == 0 and counts["shuffled"].falsely_reported == 1
    assert "no leaking" in counts["bypass"].misses[0] and "sound was told" in counts["bypass"].misses[0]
