"""What `assay make` was told, as settings; apart from the verb, whose help needs no pydantic."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from assay.config import Config, Settings, from_pairs

FLAGS = {"n": "-n", "output_dir": "-o"}


class Output(Config):
    """What decides where a dataset goes and how fast, and none of its bytes."""

    output_dir: str | None = None
    archive: Literal["zip", "tar.gz", "tar.bz2", "gzip", "bz2", "tgz"] | None = None
    workers: int | None = Field(None, ge=1)
    cluster: str | None = None


def given_options(options: dict[str, Any]) -> Settings:
    """Return the options that were given, as settings."""
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in options.items()}
    chosen = {key: value for key, value in plain.items() if value is not None}
    return Settings(chosen, {key: FLAGS.get(key, f"--{key}") for key in chosen})


def given_sizes(split: list[str], base: Settings) -> Settings:
    """Return the sizes of splits that were given, on top of those of the file."""
    if not split:
        return Settings()
    held = base.values.get("splits")
    given = dict(from_pairs(split, "--split").values)
    return Settings({"splits": {**(held if isinstance(held, dict) else {}), **given}}, {"splits": "--split"})
