"""The sentences of a diagnosis about concepts; they say what its tables show."""

from collections.abc import Sequence

import numpy as np

from assay.base import Array
from assay.diagnosis.concepts import ConceptState
from assay.logic import Value
from assay.metrics import Evidence, wilson

MOST_NAMED = 6
"""How many concepts get a sentence; of the others only the number is given."""
MOST_VALUES = 12

NEEDS_RULE = (
    "No rule is known. Judged without one: whether labels and concepts are right, calibrated, memorised, and whether "
    "confidences leak. Not judged, since that needs a rule: shortcuts, a wrong rule, inconsistent or bypassed "
    "concepts, the decision boundary. Have rules proposed: assay train rules|tree|ilp|synthesis DATA."
)
"""What is said of a model on a dataset without a rule."""


def join_words(texts: Sequence[str], word: str = "and") -> str:
    """Return texts as a list in a sentence.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def join_first(texts: Sequence[str], most: int = MOST_NAMED, word: str = "and") -> str:
    """Return a list in a sentence, the first few of many and how many more there are.

    >>> join_first(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    if len(texts) <= most:
        return join_words(texts, word)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def percent(share: float) -> str:
    """Return a share as a percentage that says 0 or 100 only where it is exactly so.

    >>> percent(0.999), percent(1.0), percent(0.001)
    ('99.9 %', '100 %', '0.1 %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if 0.01 <= share <= 0.99:
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


def points(difference: float) -> str:
    """Return a difference of two shares in points of per cent.

    >>> points(0.352), points(0.0104)
    ('35 points', '1 point')
    """
    count = f"{100 * difference:.0f}"
    return f"{count} point{'' if count == '1' else 's'}"


def share_of(right: int, examples: int) -> str:
    """Return a share with its interval and its number of examples.

    >>> share_of(45, 50)
    '90 % (79 to 96 %) of 50'
    """
    low, high = wilson(right, examples)
    return f"{percent(right / max(1, examples))} ({_end(low)} to {_end(high)} %) of {examples:,}"


def _end(share: float) -> str:
    """Return an end of an interval in per cent; one decimal where it is near to 0 or 100 and not there."""
    whole = share in (0.0, 1.0) or 0.01 <= share <= 0.99
    return f"{100 * share:.0f}" if whole else f"{min(max(100 * share, 0.1), 99.9):.1f}"


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


def describe_gaps(split: str, known: Array, ruled: bool = True) -> str:
    """Return how much of the truth of a split is not known, in words; nothing where all is.

    Without a rule all concepts count, with one those that it uses.

    >>> describe_gaps("test", np.array([[True, False], [True, True]]))[:57]
    'On test, 25 % of the true concepts that the rule uses are'
    """
    if known.all():
        return ""
    whole, share = int(np.asarray(known.all(axis=1)).sum()), 100 * float((~known).mean())
    which = "true concepts that the rule uses" if ruled else "true concepts"
    return (
        f"On {split}, {share:.0f} % of the {which} are not known and not judged; what needs "
        f"all of them is judged on the {whole:,} of {len(known):,} examples that have them all."
    )
