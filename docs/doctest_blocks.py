"""Lets the reference show the examples of docstrings as code: an extension of griffe, which reads the docstrings."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^[ ]*(?:>>>|\.\.\.).*\n?)(?:^.*\S.*\n?)*", re.MULTILINE)


def fence_examples(text: str) -> str:
    """Return a docstring with each example in a fenced block.

    >>> fence_examples("Add.\\n\\n>>> 1 + 1\\n2")
    'Add.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text).rstrip()


class FencedExamples(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fence_examples(obj.docstring.value)
