"""A dataset of any origin under audit before it is imported: a folder with a table of concepts, and its pictures."""

from pathlib import Path

import numpy as np

from assay.auditing.audited import AuditedDataset, AuditedSplit, as_number, place_in_split
from assay.exchange import read_labelled
from assay.logic import TRUE


def open_imported(folder: Path) -> AuditedDataset:
    """Return a folder of pictures with a table, ready for the audit; the table must be whole."""
    read = read_labelled(folder)
    parts = {}
    for part in read.parts:
        nuisances = {key: np.array(list(map(as_number, column))) for key, column in part.table.nuisances.items()}
        parts[part.name] = AuditedSplit(
            part.name,
            part.concepts,
            part.labels,
            pictures=part.table.pictures,
            texts=part.table.texts,
            nuisances={"index": place_in_split(len(part.labels), len(part.labels)), **nuisances},
            ingredients=part.table.sources,
            where=read.rule.where.get(part.name, TRUE),
            disjoint_from=read.rule.apart_from(part.name),
        )
    return AuditedDataset(folder.resolve().name, read.space, read.labels, parts, read.rule.knowledge)
