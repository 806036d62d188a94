"""Takes a diagnosis apart into sentences, and has each of them counted again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.diagnosis import Finding
from benchmarks.claims import meanings, on_concept_findings, on_concepts, on_label_findings, on_labels, steps
from benchmarks.claims.patterns import ALSO, PATTERNS, sentences_of
from benchmarks.claims.told import Place, Told

REGISTERED = (meanings, on_concept_findings, on_concepts, on_label_findings, on_labels, steps)
"""The modules that say what sentences claim; importing them registers their patterns."""


@dataclass(frozen=True)
class False_:
    """A sentence that is false, and why."""

    case: str
    kind: str
    sentence: str
    why: str

    def __str__(self) -> str:
        return f"{self.case} [{self.kind}] {self.sentence}\n    {self.why}"


def texts_of(told: Told) -> Iterator[tuple[Finding | None, str]]:
    """Yield every text of a diagnosis with the finding that it belongs to, if any."""
    found = told.diagnosis
    for finding in found.findings:
        for text in (finding.meaning, finding.text, finding.next, *finding.details):
            if text:
                yield finding, text
    for note in found.notes:
        yield None, note
    if found.certainty.text:
        yield None, found.certainty.text


def check(told: Told) -> tuple[int, list[False_]]:
    """Return how many sentences a diagnosis says, and which are false."""
    count, wrong = 0, list[False_]()
    known = set[str]()
    for finding, text in texts_of(told):
        kind = "note" if finding is None else f"{finding.kind}: {finding.claim}"
        split = next(iter(told.splits)) if finding is None else finding.split.split(", ")[0]
        known.add(text)
        for sentence in sentences_of(text):
            count += 1
            problems = problems_of(Place(told, finding, split, sentence, text))
            if problems:
                wrong.append(False_(told.name, kind, sentence, "; ".join(problems)))
    if why := told.not_used_rightly:
        wrong.append(False_(told.name, "used concepts", "the concepts that the rule uses", why))
    wrong += [
        False_(told.name, "shown", text, "not known: neither a finding's text nor a note")
        for text in strangers(told, known)
    ]
    return count, wrong


def problems_of(place: Place) -> list[str]:
    """Return what is false about a sentence, on the split that it begins with and on those named with it."""
    prefix = re.match(r"On ([\w-]+): ", place.text)
    if prefix:
        place = replace(place, split=prefix[1], text=place.text[prefix.end() :])
    also = ALSO.match(place.text)
    if also is None:
        return _problems(place)
    rest = list(meanings.elsewhere(place, also[2]))
    here = replace(place, split=also[1], text=f"On {also[1]}{also[3]}{place.text[also.end() :]}")
    return [*(problems_of(here) if also[3] == ": " else _problems(here)), *rest]


def _problems(place: Place) -> list[str]:
    """Return what is false about a sentence; nothing if one of the patterns that it fits finds it true."""
    found = []
    for pattern in PATTERNS:
        said = pattern.read(place.text)
        if said is not None:
            try:
                problems = list(pattern.claim(place, **said))
            except (LookupError, ValueError) as error:
                problems = [f"not to be read: {error!r}"]
            if not problems:
                return []
            found.append(problems)
    return min(found, key=len) if found else ["no pattern knows this sentence"]


def strangers(told: Told, known: set[str]) -> list[str]:
    """Return what is shown of a diagnosis and is none of these texts."""
    found = told.diagnosis
    first = f"Verdict: {found.verdict}. {found.meaning}"
    texts = [text for text in (*found.sentences, *found.details, *found.reasons) if text != first]
    bare = {text: text.removeprefix("Next: ") for text in texts}
    for kind in found.kinds:
        bare = {text: rest.removeprefix(f"Also {kind}: ") for text, rest in bare.items()}
    return [text for text, rest in bare.items() if rest not in known]
