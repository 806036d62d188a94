"""Supervised examples are added to every batch, and only those."""

import pytest
import torch

from assay.errors import ConfigError
from assay.models.core.fitting import why_not_together
from assay.models.core.replay import with_replay
from assay.models.core.training import Phase
from tests.pixels import trained

FEW = {"concept_weight": 1.0, "supervised_share": 0.05, "supervised_replay": 8, "epochs": 1}


def test_every_batch_has_supervised_examples_at_its_end(data, tmp_path):
    model = trained("dpl", data, tmp_path / "run", FEW)
    feed = model.feed(data["train"], torch.device("cpu"))
    seen = []
    phase = Phase("seen", [], lambda batch: seen.append(batch) or torch.zeros(()))
    (replayed,) = with_replay(model, [phase], feed, model.config)
    rows = torch.arange(10)
    replayed.loss(feed.take(rows))
    (batch,) = seen
    supervised = {int(row) for row in batch.rows[10:]}
    assert len(batch) == 18 and torch.equal(batch.rows[:10], rows) and len(supervised) > 1
    assert torch.equal(batch.images[10:], feed.take(batch.rows[10:]).images)
    again = with_replay(model, [phase], feed, model.config.model_copy(update={"supervised_share": 0.0}))
    assert again[0].loss is phase.loss  # none are supervised
    assert "shown other examples again" in why_not_together(
        trained("dpl", data, tmp_path / "all", {**FEW, "supervised_share": 1.0})
    )


def test_pictures_that_are_not_held_are_refused(data, tmp_path):
    with pytest.raises(ConfigError, match="raise memory_share"):
        trained("dpl", data, tmp_path / "run", {**FEW, "memory_share": 0.0})
