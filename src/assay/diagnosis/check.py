"""A check: one way in which a model can be wrong, the claims that it can make, and the rivals that it must beat.

A check looks at a case and returns what it found: which of its claims holds on which split, with the numbers that
decided and the wrong labels that it accounts for. The sentence of a claim is a template over these numbers, so that a
sentence says what was tested and nothing else. Checks register as tasks, models and metrics do; other packages by the
entry point group `assay.findings`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from assay.base import Array, ConfigError, Registry, join_words, suggestion
from assay.diagnosis.thresholds import SHARED, Section, Thresholds
from assay.metrics import percent, share_of

if TYPE_CHECKING:
    from assay.diagnosis.case import Case

Kind = str
"""The name of a check: the word of the verdict where its finding comes first."""
Tone = Literal["good", "bad", "weak", "unknown"]
"""How a verdict is coloured: fine, a fault that decides, a partial fault, not known."""
Number = int | float | str
"""What a template takes: a count, a share, or words."""
FINDINGS: Registry = Registry("finding", "assay.diagnosis.checks", "assay.findings", "assay.diagnosis.check:Check")
ONE = re.compile(r"(?<![\d,.])1 (example|label|concept|world)s\b")
PLACE = re.compile(r"\{(\w+)(?:/(\w+)|([%+]))?\}")


@dataclass(frozen=True)
class Claim:
    """A sentence that a check can say: what it means, its text, and what to do next.

    In a text, `{a}` stands for a number or words, `{a%}` for a share in per cent, `{a+}` for a difference of shares in
    points, and `{a/b}` for a of b with its 95 % interval.
    """

    meaning: str
    text: str
    next: str = ""


def render(template: str, numbers: Mapping[str, Number]) -> str:
    """Return a template with its numbers.

    >>> render("{what}: {wrong} wrong, {wrong/all}; {share%}", {"what": "y", "wrong": 5, "all": 50, "share": 0.25})
    'y: 5 wrong, 10 % (4 to 21 %) of 50; 25 %'
    """

    def filled(match: re.Match[str]) -> str:
        name, of, form = match.groups()
        value = numbers[name]
        if of is not None:
            return share_of(int(value), int(numbers[of]))
        if form:
            return percent(float(value)) if form == "%" else points(float(value))
        return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"

    return ONE.sub(r"1 \1", PLACE.sub(filled, template))


def points(difference: float) -> str:
    """Return a difference of two shares in points of per cent.

    >>> points(0.352), points(0.0104)
    ('35 points', '1 point')
    """
    count = f"{100 * difference:.0f}"
    return f"{count} point{'' if count == '1' else 's'}"


@dataclass(frozen=True)
class Found:
    """What a check found on a split: the claim that holds, its numbers, and what it is about."""

    claim: str
    split: str
    numbers: Mapping[str, Number]
    concepts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    """Further sentences, such as which values are misread as which."""
    rows: Mapping[str, Array] = field(default_factory=dict)
    """For each split the wrong labels that it accounts for: a row an example, a column a label."""

    def says_all_of(self, other: "Found") -> bool:
        """Return whether it makes the same claim on another split, about the same concepts and labels at least."""
        alike = self.claim == other.claim and self.split != other.split
        return alike and set(other.concepts) <= set(self.concepts) and set(other.labels) <= set(self.labels)


@dataclass(frozen=True)
class Finding:
    """A finding: its kind, the splits that show it, a sentence, and the concepts and labels concerned."""

    kind: Kind
    split: str
    text: str
    concepts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    why_numbers: Mapping[str, Number] = field(default_factory=dict, repr=False)
    """The numbers with the words that a claim's template takes."""
    claim: str = ""
    meaning: str = ""
    next: str = ""
    details: tuple[str, ...] = ()
    wrong_labels: int = 0
    """How many wrong labels it accounts for, over all splits that are compared."""
    unsettled: tuple[str, ...] = ()
    """The kinds that explain the same wrong labels about as well."""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        lists = {name: list(getattr(self, name)) for name in ("concepts", "labels", "details", "unsettled")}
        plain = {name: getattr(self, name) for name in ("kind", "claim", "split", "text", "meaning", "next")}
        return {**plain, **lists, "numbers": dict(self.numbers), "wrong_labels": self.wrong_labels}


@dataclass(frozen=True)
class Rival:
    """Another finding that may explain the same: it withdraws this one where the data prefer it."""

    kind: Kind
    withdraws: Callable[["Case", Found, Found], bool]
    why: str
    """When it is withdrawn, in words."""


S = TypeVar("S", bound=Section)


class Check(ABC):
    """One way in which a model can be wrong, or right."""

    name: ClassVar[str]
    summary: ClassVar[str]
    tone: ClassVar[Tone]
    severity: ClassVar[int]
    """Among findings that account for as many wrong labels, the highest comes first."""
    measure: ClassVar[str]
    """The metric that shows it on its split."""
    null: ClassVar[str]
    """The null hypothesis, in words."""
    statistic: ClassVar[str]
    """The statistic and its test, in words."""
    claims: ClassVar[Mapping[str, Claim]]
    settings: ClassVar[type[Section] | None] = None
    rivals: ClassVar[tuple[Rival, ...]] = ()
    refines: ClassVar[tuple[Kind, ...]] = ()
    """Findings that it says more exactly, so that it comes before them."""
    why: ClassVar[str] = ""
    """A few words for tables; the template of the claim's text, shortened, if there is none."""
    detailed: ClassVar[bool] = False
    """Whether its first detail says more than another finding, so that it is the second reason."""
    fallback: ClassVar[bool] = False
    """Whether it is asked only where no other check found a fault."""
    needs_rule: ClassVar[bool] = False

    @abstractmethod
    def find(self, case: "Case") -> Iterable[Found]:
        """Return what holds of a case, at most one for each claim and split."""

    def finding(self, found: Sequence[Found]) -> Finding:
        """Return what was found as one finding: the first in words, and the splits that show the same or more."""
        first = found[0]
        claim = self.claims[first.claim]
        others = list(dict.fromkeys(f.split for f in found[1:] if f.says_all_of(first)))
        text = render(claim.text, first.numbers)
        if others:  # the numbers are those of the first
            text = text.replace(f"On {first.split}", f"On {first.split} (also on {join_words(others)})", 1)
        numbers = {name: value for name, value in first.numbers.items() if not isinstance(value, str)}
        return Finding(
            self.name,
            first.split,
            text,
            first.concepts,
            tuple(dict.fromkeys(name for f in found for name in f.labels)),
            numbers,
            first.numbers,
            first.claim,
            render(claim.meaning, first.numbers),
            render(claim.next, first.numbers),
            tuple(dict.fromkeys(text for f in found for text in self._details(f, first))),
        )

    def fault(self, found: Found) -> str:
        """Return what keeps a claim from being said of what was found, in words; nothing if it can be said."""
        if found.claim not in self.claims:
            return f"no claim {found.claim!r}"
        claim = self.claims[found.claim]
        for template in (claim.meaning, claim.text, claim.next):
            needed = {name for match in PLACE.finditer(template) for name in match.groups()[:2] if name}
            if missing := sorted(needed - set(found.numbers)):
                return f"claim {found.claim!r} needs the number {', '.join(missing)}"
            for match in PLACE.finditer(template):
                name, of, share = match.groups()
                value = found.numbers[name]
                if of is not None and not 0 <= int(value) <= int(found.numbers[of]):
                    return f"{name} of {of}: {value} is not part of it"
                if share and not 0 <= float(value) <= 1:
                    return f"{name} = {value} is no share"
        return ""

    def _details(self, found: Found, first: Found) -> list[str]:
        """Return the further sentences of what was found, with the split where it is not the first."""
        if found is first:
            return list(found.details)
        same = found.says_all_of(first) and first.says_all_of(found)
        own = [] if same else [render(self.claims[found.claim].text, found.numbers)]
        return [*own, *(f"On {found.split}: {text}" for text in found.details)]


def register(check: type[Check]) -> type[Check]:
    """Register a check under its name."""
    FINDINGS.add(check.name, check.summary, check)
    return check


def known_checks() -> tuple[Check, ...]:
    """Return one of every registered check, the gravest first."""
    checks = [FINDINGS[name]() for name in FINDINGS]
    return tuple(sorted(checks, key=lambda check: (-check.severity, check.name)))


def kinds_in_order() -> tuple[Kind, ...]:
    """Return the names of all findings, the gravest first."""
    return tuple(check.name for check in known_checks())


def check_of(kind: Kind) -> Check | None:
    """Return the check of a kind; None for one that is not registered here, such as another package's."""
    found: Check | None = FINDINGS[kind]() if kind in FINDINGS else None
    return found


def tone_of(kind: Kind) -> Tone:
    """Return how a verdict is coloured; that of a finding that is not registered here is not known.

    >>> tone_of("sound"), tone_of("a stranger's")
    ('good', 'unknown')
    """
    check = check_of(kind)
    return "unknown" if check is None else check.tone


def meaning_of(kind: Kind) -> str:
    """Return what a word says in general: the summary of its check."""
    check = check_of(kind)
    return "" if check is None else check.summary


def overlap(mine: Found, theirs: Found) -> float:
    """Return the share of the wrong labels that one accounts for and the other does too; 0 where it has none."""
    total = sum(int(mask.sum()) for mask in mine.rows.values())
    both = sum(int((mask & theirs.rows[s]).sum()) for s, mask in mine.rows.items() if s in theirs.rows)
    return both / total if total else 0.0


@dataclass(frozen=True)
class DescribedThreshold:
    """A threshold by its `section.name`: its value and bounds, what it decides, and why it has this value."""

    name: str
    default: float
    about: str
    chosen: str
    low: float
    high: float


def _thresholds() -> "dict[str, tuple[type[Section], Field[Any]]]":
    """Return the section and field of every threshold by `section.name`, those that checks share first."""
    kinds = [*SHARED, *(check.settings for check in known_checks() if check.settings is not None)]
    return {f"{kind.section}.{entry.name}": (kind, entry) for kind in kinds for entry in fields(kind)}


def described() -> list[DescribedThreshold]:
    """Return every threshold."""
    known = _thresholds().items()
    return [DescribedThreshold(name, entry.default, **entry.metadata) for name, (_, entry) in known]  # type: ignore[arg-type]


def read_thresholds(values: Mapping[str, Any]) -> Thresholds:
    """Return thresholds by `section.name`, as users set them.

    >>> from assay.diagnosis import Verdict
    >>> read_thresholds({"verdict.resamples": 0}).of(Verdict).resamples
    0
    """
    known, changed = _thresholds(), dict[str, Section]()
    for key, value in values.items():
        if str(key) not in known:
            is_section = str(key).rpartition(".")[0] in {kind.section for kind, _ in known.values()}
            form = "" if is_section else ": expected SECTION.NAME"
            raise ConfigError(f"no threshold {key!r}{form}{suggestion(str(key), list(known))}")
        kind, entry = known[str(key)]
        settings = changed.get(kind.section, kind())
        changed[kind.section] = replace(settings, **{entry.name: _number(str(key), value, entry)})
    return Thresholds(changed)


def _number(key: str, value: Any, entry: "Field[Any]") -> float | int:
    whole = isinstance(entry.default, int)
    try:
        number = float(value)
        if isinstance(value, bool) or (whole and number != int(number)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"{key}: expected a {'whole ' if whole else ''}number, got {value!r}") from None
    return int(number) if whole else number
