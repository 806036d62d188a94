"""What comes and goes: other layouts and tables in, other formats and the hub out, and copies with other annotations.

`import_folder` reads what others wrote, `EXPORTS` writes what others read, `push` sends a dataset to the hub,
`annotate` copies one with other annotations, a `Cluster` makes one on many machines.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.exchange.annotated_copy import Machine as Machine
    from assay.exchange.annotated_copy import annotate as annotate
    from assay.exchange.annotated_copy import likeliest_codes as likeliest_codes
    from assay.exchange.annotation import Annotation as Annotation
    from assay.exchange.cluster import Call as Call
    from assay.exchange.cluster import Cluster as Cluster
    from assay.exchange.cluster import WorkerLost as WorkerLost
    from assay.exchange.confounded_copy import Copying as Copying
    from assay.exchange.confounded_copy import confound_dataset as confound_dataset
    from assay.exchange.exports import EXPORTS as EXPORTS
    from assay.exchange.exports import export as export
    from assay.exchange.imports.importing import from_hf as from_hf
    from assay.exchange.imports.importing import from_table as from_table
    from assay.exchange.imports.importing import import_folder as import_folder
    from assay.exchange.imports.importing import read_labelled as read_labelled
    from assay.exchange.imports.plain_table import find_table as find_table
    from assay.exchange.imports.source import plain_name as plain_name
    from assay.exchange.imports.source import read_other_rule as read_other_rule
    from assay.exchange.machine_scores import read_scores as read_scores
    from assay.exchange.pushing import archive as archive
    from assay.exchange.pushing import push as push
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
