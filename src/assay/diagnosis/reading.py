"""How a model reads concepts: the map of each encoder group, and sentences about concepts that are misread."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, join_first, join_words
from assay.diagnosis.concepts import ConceptState
from assay.logic import Value
from assay.metrics import Evidence, confusion, percent, share_of

MOST_NAMED = 6
"""How many concepts get a sentence; of the others only the number is given."""
MOST_VALUES = 12


@dataclass(frozen=True)
class ConceptMapping:
    """The concept mapping of one encoder group: for each true value the one most often predicted, or None."""

    group: str
    concepts: tuple[str, ...]
    values: tuple[Value, ...]
    image: tuple[int | None, ...]
    counts: Array
    fidelity: float
    """The share of predictions that the reading explains."""

    @property
    def is_identity(self) -> bool:
        """Whether every value that occurs is read as itself."""
        return all(to is None or to == place for place, to in enumerate(self.image))

    @property
    def text(self) -> str:
        """The values most often said, in words."""
        wrong = [f"{self.values[i]} as {self.values[to]}" for i, to in enumerate(self.image) if to not in (None, i)]
        if not wrong:
            return f"most often says every {self.group} as it is"
        right = [str(self.values[i]) for i, to in enumerate(self.image) if to == i]
        text = f"most often says {self.group} {join_words(wrong)}"
        if right:
            text += f", and {join_words(right)} as {'it is' if len(right) == 1 else 'they are'}"
        true, said = self.counts.sum(axis=1), self.counts[:, : len(self.values)].sum(axis=0)
        never = [str(v) for v, occurs, spoken in zip(self.values, true, said, strict=True) if occurs and not spoken]
        return text + (f"; never says {join_words(never, 'or')}" if never else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the reading as plain data."""
        pairs = [[self.values[place], None if to is None else self.values[to]] for place, to in enumerate(self.image)]
        return {
            "group": self.group,
            "concepts": list(self.concepts),
            "reads": pairs,
            "fidelity": self.fidelity,
            "confusion": self.counts.tolist(),
            "text": self.text,
        }


def fit_readings(evidence: Evidence) -> tuple[ConceptMapping, ...]:
    """Return the reading of each encoder group that the model answers for."""
    return tuple(_fit(evidence, name, columns) for name, columns in evidence.groups.items())


def _fit(evidence: Evidence, name: str, columns: list[int]) -> ConceptMapping:
    space = evidence.knowledge.space
    concept = space.concepts[columns[0]]
    truth, predicted = evidence.concepts[:, columns].ravel(), evidence.predicted_concepts[:, columns].ravel()
    counts = confusion(truth, predicted, len(concept.values))
    spoken = counts[:, : len(concept.values)]
    image = tuple(int(row.argmax()) if row.any() else None for row in spoken)
    return ConceptMapping(
        group=name,
        concepts=tuple(space.names[column] for column in columns),
        values=concept.values,
        image=image,
        counts=counts,
        fidelity=float(spoken.max(axis=1).sum() / max(1, counts.sum())),
    )


def describe_concepts(states: Sequence[ConceptState], evidence: Evidence) -> list[str]:
    """Return what is wrong with these concepts, a sentence each; concepts of one encoder together if they agree."""
    sentences: list[str] = []
    left = list(states)
    for exchanged in _exchanges(states):
        sentences.append(_describe_exchange(exchanged))
        left = [state for state in left if state not in exchanged]
    parts = _alike(left, evidence)
    sentences += [_describe(name, members, evidence) for name, members in parts]
    if len(sentences) <= MOST_NAMED:
        return sentences
    hidden = len(sentences) - MOST_NAMED
    return [
        *sentences[:MOST_NAMED],
        f"The table of concepts has {hidden} more such {'line' if hidden == 1 else 'lines'}.",
    ]


def _exchanges(states: Sequence[ConceptState]) -> list[tuple[ConceptState, ...]]:
    """Return the circles in which concepts are said for one another as they are."""
    read_from = {s.concept: s.map.sources[0] for s in states if s.map is not None and s.map.renames}
    by_name, circles, seen = {s.concept: s for s in states}, [], set[str]()
    for start in read_from:
        circle, name = [start], read_from[start]
        while name in read_from and name not in circle:
            circle.append(name)
            name = read_from[name]
        if name == start and start not in seen:
            circles.append(tuple(by_name[n] for n in circle))
            seen.update(circle)
    return circles


def _describe_exchange(states: tuple[ConceptState, ...]) -> str:
    follow = sum(f for s in states if s.map for _, f in s.map.entries.values())
    answers = sum(s.answered for s in states)
    explained = f"({percent(follow / answers)} of {answers:,} answers)"
    if len(states) == 2:
        return f"It exchanges {states[0].concept} and {states[1].concept}: each is said for the other {explained}."
    steps = [f"{s.concept} from {s.map.sources[0]}" for s in states if s.map]
    return f"It exchanges concepts: it reads {join_first(steps)} {explained}."


def _alike(states: Sequence[ConceptState], evidence: Evidence) -> list[tuple[str, tuple[ConceptState, ...]]]:
    """Return the states that share a sentence: all concepts of an encoder if they are read alike, else one each."""
    by_name = {state.concept: state for state in states}
    groups: list[tuple[str, tuple[ConceptState, ...]]] = []
    for group in evidence.knowledge.space.encoders:
        members = tuple(by_name[name] for name in group.concepts if name in by_name)
        whole = len(members) == len(group.concepts) > 1
        if whole and len({m.state for m in members}) == 1 and _same_images(members):
            groups.append((group.name, members))
        else:
            groups += [(member.concept, (member,)) for member in members]
    return groups


def _same_images(members: tuple[ConceptState, ...]) -> bool:
    if any(member.map is None or member.map.kind != "own" for member in members):
        return False
    image: dict[tuple[Value, ...], Value] = {}
    pairs = [pair for member in members if member.map for pair in member.map.image.items()]
    return all(image.setdefault(key, value) == value for key, value in pairs)


def _describe(name: str, members: tuple[ConceptState, ...], evidence: Evidence) -> str:
    state, mapping = members[0].state, members[0].map
    right, answered = sum(m.right for m in members), sum(m.answered for m in members)
    if state == "absent" or mapping is None:
        silent = sum(m.examples for m in members) - answered
        return f"It says nothing of {name}." if not answered else f"It says nothing of {name} in {silent:,} examples."
    if state in ("noisy", "not learned"):
        word = "is noisy" if state == "noisy" else "is hardly learned"
        missed = [] if len(members) > 1 else list(members[0].missed)
        rare = f"; clearly missed: {join_first(missed)}" if missed and len(missed) < len(mapping.image) else ""
        return f"{name} {word}: right in {share_of(right, answered)} answers{rare}."
    if mapping.kind == "own":
        return _describe_own(name, members, evidence)
    return _describe_elsewhere(members[0])


def _describe_own(name: str, members: tuple[ConceptState, ...], evidence: Evidence) -> str:
    counts: dict[Value, tuple[int, int]] = {}
    image: dict[Value, Value] = {}
    for member in members:
        if member.map is not None:
            for (key,), value in member.map.image.items():
                image[key] = value
                examples, follow = counts.get(key, (0, 0))
                counts[key] = examples + member.map.entries[key,][0], follow + member.map.entries[key,][1]
    answers, follow = (sum(pair[i] for pair in counts.values()) for i in (0, 1))
    explained = f"({percent(follow / answers)} of {answers:,} answers)"
    answered = set(image.values())
    if len(answered) == 1:
        return f"It mostly predicts {answered.pop()} for each value of {name} {explained}."
    wrong = [f"{key} as {value}" for key, value in image.items() if key != value]
    right = [str(key) for key, value in image.items() if key == value]
    text = f"It reads {name} {join_first(wrong, MOST_VALUES)}"
    if right:
        text += f"; {join_first(right, MOST_VALUES)} {'is' if len(right) == 1 else 'are'} read right most often"
    never = never_said([member.concept for member in members], evidence)
    return text + (f"; it never says {join_first(never, MOST_VALUES, 'or')}" if never else "") + f" {explained}."


def never_said(concepts: Sequence[str], evidence: Evidence) -> list[str]:
    """Return the values that occur in these concepts and are never said of any of them."""
    space = evidence.knowledge.space
    columns = [space.place(name) for name in concepts]
    true, predicted = np.unique(evidence.concepts[:, columns]), np.unique(evidence.predicted_concepts[:, columns])
    values = space.concepts[columns[0]].values
    return [str(values[code]) for code in true[true >= 0].tolist() if code not in predicted]  # -1: not known


def _describe_elsewhere(state: ConceptState) -> str:
    mapping = state.map
    if mapping is None:
        return f"{state.concept} is misread."
    answers = sum(examples for examples, _ in mapping.entries.values())
    explained = f"({percent(mapping.fidelity)} of {answers:,} answers)"
    if mapping.renames:
        return f"It reads {state.concept} from {mapping.sources[0]} {explained}."
    pairs = [f"{', '.join(map(str, key))} as {value}" for key, value in mapping.image.items()]
    if mapping.kind == "source":
        return f"It reads {state.concept} from {mapping.sources[0]}: {join_first(pairs, MOST_VALUES)} {explained}."
    of = "the whole world" if mapping.kind == "world" else join_words(mapping.sources)
    return f"It reads {state.concept} from {of} together, through a map of {len(pairs):,} entries {explained}."
