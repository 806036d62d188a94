"""The settings of the sudoku tasks."""

from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from assay.base import ConfigError, Settings
from assay.families.sudoku.boards import BoardShape, Incomplete
from assay.families.sudoku.source import ConceptKind, violations_fault
from assay.families.sudoku.style import BoardAppearance, Font, Hand, Ink
from assay.tasks import TaskConfig

RELEASED = {
    "valid_board_ratio": "valid_ratio",
    "max_cell_swaps": "actions",
    "max_corrupt": "actions",
    "cell_margin_px": "margin_px",
    "gridline_px": "grid_px",
    "block_border_px": "block_px",
    "starter_percent": "starters",
}
PER_GRID = {2: 4, 3: 25, 4: 100}


class BoardConfig(TaskConfig):
    """How large boards are and how they look."""

    block_size: Literal[2, 3, 4] = 3
    """Rows and columns of a block: boards of 4 x 4, 9 x 9 or 16 x 16 cells, the last with A to G for 10 to 16."""
    boards_per_grid: int | None = Field(None, ge=1)
    """Boards that are one solved grid up to symmetry; by default 4, 25 or 100 for block size 2, 3 or 4."""
    image: bool = True
    """Draw pictures; without, a dataset has the boards as text only."""
    cell_px: int = Field(50, ge=8, le=200)
    """The width of a cell in pixels."""
    margin_px: int = Field(2, ge=0, le=100)
    """The white around the board."""
    grid_px: int | None = Field(None, ge=0, le=20)
    """The width of the lines between cells; by default a 50th of a cell."""
    block_px: int | None = Field(None, ge=0, le=20)
    """The width of the lines between blocks; by default a 12th of a cell."""
    fonts: list[Font] = Field(["sans"], min_length=1)
    """Typefaces of starters, one drawn for each board: sans, bold, slanted, or file for `font_file`."""
    font_file: str | None = Field(None, exclude=True)
    """A TrueType or OpenType file for the typeface `file`."""
    print_size: float = Field(0.5, gt=0.1, le=1)
    """The size of printed symbols, in cells."""
    hand: Hand = "digits"
    """Entries: real handwritten `digits`, symbols drawn by `strokes`, or `printed`. Letters are always strokes."""
    inks: list[Ink] = Field(["blue"], min_length=1)
    """Colours of entries, one drawn for each board and varied a little: blue, black, green, red, pencil."""
    jitter: float = Field(1.0, ge=0, le=2)
    """How much handwriting varies: slant, size and weight by board; turn, shift, size and bends by cell."""
    forms: int = Field(3, ge=1, le=81)
    """How many ways of writing each symbol a board shows."""
    starters: float = Field(0.35, ge=0, le=1)
    """The share of cells that are printed."""
    digits: str | None = Field(None, exclude=True)
    """A folder with the idx files of MNIST; by default the 5,000 digits that come with the installation."""

    @property
    def shape(self) -> BoardShape:
        """The board's shape."""
        return BoardShape(self.block_size)

    @property
    def per_grid(self) -> int:
        """How many boards share a solved grid."""
        return self.boards_per_grid or PER_GRID[self.block_size]

    @property
    def appearance(self) -> BoardAppearance:
        """How boards are drawn."""
        same = ("font_file", "print_size", "hand", "jitter", "forms", "starters")
        return BoardAppearance(
            self.shape,
            cell=self.cell_px,
            margin=self.margin_px,
            grid=max(1, round(self.cell_px / 50)) if self.grid_px is None else self.grid_px,
            border=max(1, round(self.cell_px / 12)) if self.block_px is None else self.block_px,
            fonts=tuple(self.fonts),
            inks=tuple(self.inks),
            candidates=0.0,
            **{key: getattr(self, key) for key in same},
        )

    @model_validator(mode="after")
    def _must_have_font(self) -> "BoardConfig":
        if ("file" in self.fonts) != (self.font_file is not None):
            raise ValueError("fonts 'file' and font_file go together; give both or none")
        return self


class SudokuConfig(BoardConfig):
    """What boards are made and how they look."""

    concepts: ConceptKind = "units"
    """`units`: whether each row, column and block is valid; `cells`: the digit of each cell, 0 where there is none;
    `both`: units, and beneath them the cells, which are annotated too, so that models read a unit off its cells."""
    valid_ratio: float = Field(0.5, ge=0.01, le=0.99)
    """The share of valid boards."""
    violations: list[int] = Field(list(range(2, 10)), min_length=1)
    """How many units of an invalid board are violated; each entry equally often, so that repeats are weights."""
    actions: int | None = Field(None, ge=1, le=100)
    """Instead of `violations`: make boards invalid by 1 to this many of the paper's corruption actions."""
    incomplete: Incomplete = "violated"
    """Whether a unit with a blank cell is `violated`, or `open`: judged by the digits that it has."""
    blanks: int = Field(0, ge=0)
    """Blank cells on every board of train, valid, test and hard; needs `incomplete: open`."""
    odd_symbols: list[Literal[".", "0", "a", "h", "k", "x"]] = Field([".", "0", "a"], min_length=1)
    """The symbols out of place that boards of `ood` show; `.` is a blank cell."""
    odd_cells: int = Field(3, ge=1, le=16)
    """The most cells of an `ood` board that show one."""
    candidates: float = Field(0.22, ge=0, le=1)
    """The share of the other cells that have candidate marks."""
    candidates_max: int = Field(3, ge=2, le=4)
    """The most candidate marks in a cell; there are 2 or more, one of them the cell's own digit."""

    @property
    def appearance(self) -> BoardAppearance:
        """How boards are drawn."""
        return replace(super().appearance, candidates=self.candidates, most_marks=self.candidates_max)

    @model_validator(mode="after")
    def _must_agree(self) -> "SudokuConfig":
        self.refuse_shared("is not for boards, which are too many to list; see valid_ratio and violations")
        if self.blanks and (self.incomplete == "violated" or self.actions is not None):
            raise ValueError("blanks need 'incomplete: open' and no actions, or no board would be valid")
        if self.blanks > self.shape.cells // 3:
            raise ValueError(f"blanks: at most {self.shape.cells // 3} of {self.shape.cells} cells, not {self.blanks}")
        if self.concepts != "units" and self.incomplete == "open":
            raise ValueError(
                f"concepts {self.concepts!r} are for 'incomplete: violated': their rule asks for every digit"
            )
        if self.odd_cells > self.shape.cells:
            raise ValueError(f"odd_cells: {self.odd_cells} of {self.shape.cells} cells")
        fault = None if self.actions is not None else violations_fault(self.violations, self.shape, self.blanks)
        if fault:
            raise ValueError(f"violations: {fault}")
        return self


def from_released(settings: Settings) -> Settings:
    """Understand the generator's keys of the paper's released code."""
    values = dict(settings.values)
    translated: dict[str, object] = {}
    if "data_type" in values:
        translated["image"] = _one_of(settings, "data_type", {"image": True, "tabular": False})
    if "font_style" in values:
        translated["hand"] = _one_of(settings, "font_style", {"handwritten": "digits", "printed": "printed"})
    if "font_size" in values:
        sizes = values["font_size"], values.get("cell_px", 50)
        if not all(isinstance(size, (int, float)) and size > 0 for size in sizes):
            raise ConfigError(f"{settings.place('font_size')}font_size: expected a number of pixels, not {sizes[0]!r}")
        translated["print_size"] = sizes[0] / sizes[1]
    plain = settings.without({"data_type", "font_style", "font_size"}).merge(Settings(translated))
    return plain.rename_keys(RELEASED)


def _one_of(settings: Settings, key: str, known: dict[str, object]) -> object:
    value = settings.values[key]
    if value not in known:
        raise ConfigError(f"{settings.place(key)}{key}: expected {' or '.join(known)}, not {value!r}")
    return known[value]
