"""Ready studies beside what was published: settings agree or the departure is explained, quantities are the same."""

import pytest
import yaml

from assay.errors import DataError, UnknownName
from assay.studies import fidelity as module
from assay.studies.fidelity import absent_tables, departures, fidelity, fidelity_of
from assay.studies.ready import find_study, ready_studies

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
