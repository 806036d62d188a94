"""The audit of a dataset: is it what it claims to be, and can its labels be had without its concepts?

`audit` runs `CHECKS` on what `audited_dataset` or `open_imported` give, and returns an `Audit`, which writes itself
into the dataset's folder and card.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.auditing.audited import AuditedDataset as AuditedDataset
    from assay.auditing.audited import AuditedSplit as AuditedSplit
    from assay.auditing.audited import audited_dataset as audited_dataset
    from assay.auditing.auditor import CHECKS as CHECKS
    from assay.auditing.auditor import Audit as Audit
    from assay.auditing.auditor import audit as audit
    from assay.auditing.imported import open_imported as open_imported
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
