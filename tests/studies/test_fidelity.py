"""Ready studies beside what was published: settings agree or the departure is explained, quantities are the same."""

import pytest
import yaml

from assay.errors import DataError, UnknownName
from assay.studies import departures, find_study, ready_studies
from assay.studies import fidelity as module
from assay.studies.ledger import absent_tables, fidelity, fidelity_of

KNOWN = fidelity()


def test_every_ready_study_has_an_entry():
    assert set(KNOWN) == set(ready_studies())
    assert all(absent.why and absent.numbers >= 0 for absent in absent_tables())


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_settings_are_the_published_ones_or_the_departure_is_explained(name):
    unexplained = [departure for departure in departures(name) if not departure.why]
    assert not unexplained, unexplained


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_published_numbers_stand_beside_the_quantity_that_they_are(name):
    study, entry = find_study(name, "paper"), KNOWN[name]
    for published in study.config.published:
        assert published["metric"] in entry.quantities, published
        assert published["model"] in entry.rows, published
    assert set(entry.quantities) <= set(study.config.metrics)


def test_a_study_that_is_changed_is_found(monkeypatch):
    values = yaml.safe_load((module.files("assay.studies") / module.FILE).read_text())
    row = values["studies"]["rsbench-table-2"]["rows"]["DPL"]
    row["paper"]["batch_size"] = 64
    monkeypatch.setattr(module, "_file", lambda: module.Settings(values))
    (found,) = [departure for departure in departures("rsbench-table-2") if not departure.why]
    assert (found.model, found.setting, found.published, found.ours) == ("DPL", "batch_size", 64, 32)
    row["paper"]["batch_size"], row["departs"] = 32, {"batch_size": "smaller"}
    with pytest.raises(DataError, match="rsbench-table-2, DPL: ours does not depart in 'batch_size'"):
        departures("rsbench-table-2")
    row["paper"]["batch"] = 32
    with pytest.raises(DataError, match="there is no setting 'batch'; did you mean 'batch_size'"):
        departures("rsbench-table-2")


def test_an_unknown_study_is_refused():
    with pytest.raises(UnknownName, match="nothing published is known of study 'rsbench-table-3'"):
        fidelity_of("rsbench-table-3")


def test_what_was_published_is_read_whole(monkeypatch):
    row = {"paper": {"epochs": 3}, "departs": {"seeds": "time"}}
    studies = {
        "b": {"table": "T 2", "quantities": {"f1": "F1"}, "rows": {"m": row}},
        "a": {"table": "T 1", "needs": "disk"},
    }
    absent = [{"table": "T 3", "numbers": 4, "why": "w"}, {"table": "F 1", "numbers": 0, "why": "x", "needs": "GPU"}]
    monkeypatch.setattr(module, "_file", lambda: module.Settings({"studies": studies, "absent": absent}))
    known = fidelity()
    assert list(known) == ["b", "a"] and known["a"].needs == "disk" and known["b"].quantities == {"f1": "F1"}
    assert (
        known["b"].rows["m"].paper == {"epochs": 3}
        and known["b"].rows["m"].released == {}
        and fidelity_of("a") == known["a"]
    )
    assert [(one.table, one.numbers, one.why, one.needs) for one in absent_tables()] == [
        ("T 3", 4, "w", ""),
        ("F 1", 0, "x", "GPU"),
    ]
    monkeypatch.setattr(module, "_file", lambda: module.Settings({}))
    assert fidelity() == {} and absent_tables() == []
