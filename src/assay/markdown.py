"""Text that is safe inside Markdown."""


def escape_cell(text: str) -> str:
    """Return a text as a cell of a Markdown table: on one line, with no sign taken for a table or for HTML.

    >>> escape_cell("a | b")
    'a \\\\| b'
    """
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
