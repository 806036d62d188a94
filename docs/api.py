"""Writes the page on the public interface, from the docstrings: `python docs/api.py`."""

import inspect
import re
from pathlib import Path
from typing import Any

import assay
from assay.registry import Registry

HERE = Path(__file__).parent


def page() -> str:
    """Return the page."""
    parts = [
        "# The public interface",
        "",
        "Names that `from assay import ...` gives, written by `python docs/api.py`.",
        "",
    ]
    for name in assay.__all__:
        parts += entry(name, getattr(assay, name))
    return "\n".join(parts)


def entry(name: str, thing: Any) -> list[str]:
    """Return the section of a name: its home, signature, docstring and public methods."""
    home = assay._HOMES[name]
    if isinstance(thing, Registry):
        listed = ", ".join(f"`{key}`" for key in thing)
        return [f"## {name}", "", f'In `{home}`. A registry: `{name}["name"]` gives one of {listed}.', ""]
    lines = [f"## {name}", "", f"In `{home}`.", "", "```python", f"{name}{signature(thing)}", "```", "", doc(thing), ""]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        lines += [f"- `{method}`: {text}" for method, text in methods(thing)] + [""]
    return lines


def signature(thing: Any) -> str:
    try:
        text = re.sub(r"<function .*? at 0x\w+>", "...", str(inspect.signature(thing)))
        return re.sub(r"numpy\.ndarray\[.*?\]\]\]?", "Array", text).replace("'", "")
    except (TypeError, ValueError):
        return ""


def doc(thing: Any) -> str:
    """Return a docstring without its examples, as Markdown."""
    text = inspect.getdoc(thing) or ""
    kept = text.split("\n>>>")[0].rstrip()
    first, _, rest = kept.partition("\n")
    return first if not rest.strip() else f"{first}\n\n```text\n{rest.strip(chr(10))}\n```"


def methods(thing: type) -> list[tuple[str, str]]:
    """Return the public methods and properties of a class with their first line, those of our base classes too."""
    found = []
    bases = [vars(base) for base in reversed(thing.__mro__) if base.__module__.startswith("assay.")]
    for name, member in sorted({name: member for base in bases for name, member in base.items()}.items()):
        text = inspect.getdoc(member)
        if not name.startswith("_") and text and (callable(member) or isinstance(member, (property, classmethod))):
            found.append((name, text.splitlines()[0]))
        elif not name.startswith("_") and type(member).__name__ == "cached_property" and member.__doc__:
            found.append((name, member.__doc__.strip().splitlines()[0]))
    return found


if __name__ == "__main__":
    (HERE / "api.md").write_text(page())
