"""A page as its readers see it, the tables of a Markdown page, and a shortcut on sums of an even and an odd digit."""

import re
from html.parser import HTMLParser

import numpy as np

SHIFTED = np.array([1, 2, 3, 4, 5, 4, 5, 6, 7, 8])
"""What is read for each digit: 0 and 1 as 1 and 2, 2 and 3 as 3 and 4, and so on; sums of the training pairs stay."""


class Page(HTMLParser):
    """The tags of a page, where its links lead, its text, and what of that is seen before anything is unfolded."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids, self.open, self.text, self.seen = [], [], [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [(key, value) for key, value in attributes if key in ("src", "href", "action", "srcset")]
        self.ids += [value for key, value in attributes if key == "id"]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "style" not in self.open and ("details" not in self.open or "summary" in self.open):
            self.seen += data


def tables(markdown):
    """Return for each table the number of cells of each row."""
    found, inside = [], False
    for line in markdown.splitlines():
        if line.startswith("|"):
            if not inside:
                found.append([])
            found[-1].append(len(re.findall(r"(?<!\\)\|", line)) - 1)
        inside = line.startswith("|")
    return found
