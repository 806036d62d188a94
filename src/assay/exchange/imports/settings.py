"""How data is imported: the layout, which columns are what, the size of pictures, and the splits."""

from typing import Literal

from pydantic import Field, field_validator

from assay.base import Config

Resize = Literal["letterbox", "crop", "stretch"]


class ImportSettings(Config):
    """The settings of an import, the same for all layouts."""

    layout: str | None = None
    """The layout of the source; by default found by its files."""
    name: str | None = None
    """The name of the dataset; by default that of the source folder."""
    table: str | None = None
    """The table of concepts inside the folder, for the layout `table`; by default concepts.csv, .parquet or .json."""
    picture: str = "file"
    """The column that has the path of the picture, or the picture itself."""
    labels: list[str] = []
    """Columns, attributes or categories that are labels; by default columns `label_...`, or as the layout says."""
    concepts: list[str] = []
    """Those that are concepts; by default columns `concept_...`, or all that are no labels."""
    split: str | None = None
    """The column that has the split; by default `split`, or the files of the layout."""
    shares: dict[str, float] = {"train": 0.7, "valid": 0.15, "test": 0.15}
    """How large splits are made that the source does not have."""
    size: int | tuple[int, int] | None = None
    """Width and height of pictures; by default their own if all are alike and small, else 128."""
    resize: Resize = "letterbox"
    """How pictures of other shapes fit: `letterbox` (grey bars), `crop` (the middle), or `stretch`."""
    counts: bool = False
    """Of objects (COCO, CVAT): how many there are, instead of whether there is any."""
    seed: int = Field(0, ge=0)
    """The seed of splits that are made."""

    @field_validator("shares")
    @classmethod
    def _shares(cls, shares: dict[str, float]) -> dict[str, float]:
        if "train" not in shares or any(not 0 < share < 1 for share in shares.values()):
            raise ValueError("expected shares between 0 and 1, one of them of 'train'")
        if abs(sum(shares.values()) - 1) > 1e-6:
            raise ValueError("the shares must add up to 1")
        return shares

    @field_validator("size")
    @classmethod
    def _size(cls, size: int | tuple[int, int] | None) -> int | tuple[int, int] | None:
        sides = size if isinstance(size, tuple) else (size or 8,)
        if not all(8 <= side <= 2048 for side in sides):
            raise ValueError("expected 8 to 2048 pixels")
        return size
