"""The files that describe a dataset: Croissant file, card and manifest, written alike by all who write datasets."""

from assay.base import Folder, write_atomically
from assay.contracts import Manifest, to_json
from assay.dataset.croissant import croissant
from assay.dataset.dataset_card import card
from assay.dataset.manifest import NAME

CARD, CROISSANT = "README.md", "croissant.json"


def describe(manifest: Manifest) -> dict[str, bytes]:
    """Return the card and the Croissant file of a dataset, by file name."""
    return {CROISSANT: to_json(croissant(manifest)), CARD: card(manifest).encode()}


def write_description(folder: Folder, manifest: Manifest) -> None:
    """Write all that describes a dataset; the manifest comes last, because without it the folder does not load."""
    for name, data in {**describe(manifest), NAME: to_json(manifest.to_dict())}.items():
        write_atomically(folder / name, data)
