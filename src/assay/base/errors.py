"""Errors, each with one line that says what was asked, what there is, and what to do."""

import difflib
import re
from collections.abc import Iterable

MOST_LISTED = 40
"""How many names an error lists; of more it says how many."""
MOST_QUOTED, LONGEST = 200, 4000
"""How many characters of a value an error quotes, and how long it may be in all: values may be strangers' files."""
QUOTED = re.compile(rf"""(?<!\w)(['"])((?:(?!\1).){{{MOST_QUOTED}}})(?:(?!\1).)+(?:\1|\Z)""", re.DOTALL)


class AssayError(Exception):
    """Base of every error that the caller can fix; the command line prints it without a traceback."""

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        super().__init__(cut(QUOTED.sub(r"\1\2 ...\1", message[: 2 * LONGEST]), LONGEST))


class UnknownName(AssayError):
    """A name that no registry, space, split or column has."""


class ConfigError(AssayError):
    """A setting that does not fit."""


class FormulaError(AssayError):
    """A text that is no formula, or a formula that does not fit its concepts."""


class KnowledgeError(AssayError):
    """A rule that cannot be learned: it has one class only, or no world satisfies it."""


class RuleUnknown(AssayError):
    """Something that needs the rule of a label, of which none is known."""


class DataError(AssayError):
    """A dataset or predictions file that is missing, damaged or about something else."""


class MissingExtra(AssayError):
    """An optional part that is not installed; the message names the install line."""


class TooLarge(AssayError):
    """A computation that would outgrow its budget."""


class NoSymbols(TooLarge):
    """An analysis that needs a formula, requested for a rule that is a program."""


class RunFailed(AssayError):
    """A run that started well and did not finish."""

    exit_code = 1


def cut(text: str, most: int = MOST_QUOTED) -> str:
    """Return a text that is no longer than this but for dots where something was left out.

    >>> cut("abcdefgh", 3)
    'abc ...'
    """
    return text if len(text) <= most else f"{text[:most]} ..."


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for a near miss, else the list of what there is.

    >>> suggestion("collaps", ["accuracy", "collapse"])
    "; did you mean 'collapse'?"
    >>> suggestion("zzz", [f"a{number}" for number in range(42)])[-12:]
    '7 and 2 more'
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"; there is: {', '.join(names[:MOST_LISTED])}{more}" if names else "; there is none"
