"""Readers by how they are written: `vlm`, or `clip:FOLDER`, with settings of their own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.base import Config, ConfigError, ProgressCallback, Settings, validate
from assay.dataset import ConceptReader
from assay.models.registered import READERS

VLM = "vlm"
CLIP = "clip:"


def is_reader(text: str | None) -> bool:
    """Return whether a text names a reader; a folder called `vlm` is written `./vlm`.

    >>> is_reader("vlm"), is_reader("clip:weights"), is_reader("run")
    (True, True, False)
    """
    return text is not None and (text == VLM or text.startswith(CLIP) or text == CLIP.removesuffix(":"))


def open_reader(text: str, settings: Mapping[str, Any], report: ProgressCallback = lambda *_: None) -> ConceptReader:
    """Return the reader that a text names; what is wrong with its settings or its folder is told now."""
    made, folder = READERS[VLM if text == VLM else "clip"], [] if text == VLM else [_clip_folder(text)]
    reader: ConceptReader = made(*folder, _config(made, settings), report)
    return reader


def reader_for(
    text: str | None, settings: Mapping[str, Any], report: ProgressCallback = lambda *_: None
) -> ConceptReader | None:
    """Return the reader that a text names, None where it names something else, which has no such settings."""
    if text is not None and is_reader(text):
        return open_reader(text, settings, report)
    if settings:
        other = "none is named" if text is None else f"{text!r} is neither"
        raise ConfigError(f"reader: these are settings of {VLM} or {CLIP}FOLDER, and {other}")
    return None


def resolve_reader(text: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return text and settings as they are kept: the folder made whole, files of texts read, defaults left out."""
    made = READERS[VLM if text == VLM else "clip"]
    kept = _config(made, settings).model_dump(mode="json", exclude_defaults=True)
    return (VLM if text == VLM else f"{CLIP}{_clip_folder(text).resolve()}"), kept


def without_folder(text: str) -> str:
    """Return what a source of concepts is called, without where it lies.

    >>> without_folder("clip:/home/me/weights"), without_folder("/runs/first"), without_folder("vlm")
    ('clip:weights', 'first', 'vlm')
    """
    return f"{CLIP}{Path(text.removeprefix(CLIP)).name}" if text.startswith(CLIP) else Path(text).name


def _config(made: Any, settings: Mapping[str, Any]) -> Config:
    config: Config = validate(made.Config, Settings(dict(settings), dict.fromkeys(settings, "reader")))
    return config


def _clip_folder(text: str) -> Path:
    folder = text.removeprefix(CLIP.removesuffix(":")).removeprefix(":")
    if not folder:
        raise ConfigError(f"{text!r} is not whole: {CLIP}FOLDER, a local folder with the weights of CLIP")
    return Path(folder)
