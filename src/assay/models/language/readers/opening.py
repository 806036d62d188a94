"""Readers by how they are written: `vlm`, or `clip:FOLDER`, with settings of their own. Imports no torch by itself."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.base import ConfigError, Settings, validate
from assay.dataset import ConceptReader

VLM = "vlm"
CLIP = "clip:"
Report = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""


def is_reader(text: str | None) -> bool:
    """Return whether a text names a reader; a folder called `vlm` is written `./vlm`.

    >>> is_reader("vlm"), is_reader("clip:weights"), is_reader("run")
    (True, True, False)
    """
    return text is not None and (text == VLM or text.startswith(CLIP) or text == CLIP.removesuffix(":"))


def open_reader(text: str, settings: Mapping[str, Any], report: Report = lambda *_: None) -> ConceptReader:
    """Return the reader that a text names; what is wrong with its settings or its folder is told now."""
    if text == VLM:
        from assay.models.language.readers.vlm import VlmConfig, VlmReader

        return VlmReader(validate(VlmConfig, _settings(settings)), report)
    from assay.models.language.readers.clip import ClipReader
    from assay.models.language.readers.texts import ClipConfig

    return ClipReader(_clip_folder(text), validate(ClipConfig, _settings(settings)), report)


def reader_for(text: str | None, settings: Mapping[str, Any], report: Report = lambda *_: None) -> ConceptReader | None:
    """Return the reader that a text names, None where it names something else, which has no such settings."""
    if text is not None and is_reader(text):
        return open_reader(text, settings, report)
    if settings:
        other = "none is named" if text is None else f"{text!r} is neither"
        raise ConfigError(f"reader: these are settings of {VLM} or {CLIP}FOLDER, and {other}")
    return None


def resolve_reader(text: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return text and settings as they are kept: the folder made whole, files of texts read, defaults left out."""
    if text == VLM:
        from assay.models.language.readers.vlm import VlmConfig

        return text, validate(VlmConfig, _settings(settings)).model_dump(mode="json", exclude_defaults=True)
    from assay.models.language.readers.texts import ClipConfig

    kept = validate(ClipConfig, _settings(settings)).model_dump(mode="json", exclude_defaults=True)
    return f"{CLIP}{_clip_folder(text).resolve()}", kept


def without_folder(text: str) -> str:
    """Return what a source of concepts is called, without where it lies.

    >>> without_folder("clip:/home/me/weights"), without_folder("/runs/first"), without_folder("vlm")
    ('clip:weights', 'first', 'vlm')
    """
    return f"{CLIP}{Path(text.removeprefix(CLIP)).name}" if text.startswith(CLIP) else Path(text).name


def _settings(settings: Mapping[str, Any]) -> Settings:
    return Settings(dict(settings), dict.fromkeys(settings, "reader"))


def _clip_folder(text: str) -> Path:
    folder = text.removeprefix(CLIP.removesuffix(":")).removeprefix(":")
    if not folder:
        raise ConfigError(f"{text!r} is not whole: {CLIP}FOLDER, a local folder with the weights of CLIP")
    return Path(folder)
