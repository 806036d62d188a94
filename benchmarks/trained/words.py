"""Which words of a verdict the measured facts make true or false, by criteria that are written here.

Each criterion returns True (surely so), False (surely not so), or None (between). Intervals are Wilson's, at 95 %.
A word that is surely false is forbidden. Which true word comes first is what the setup intended, if that is true.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

Facts = Mapping[str, Any]
Truth = bool | None
SURE = 1.96
GAP = 2.5
"""Standard errors by which two shares must differ to differ surely."""
WORDS = (
    "sound", "spurious", "shortcut", "annotations", "leaking", "memorised", "shifted", "wrong rule", "missed region",
    "incomplete", "inconsistent", "noisy", "opaque", "boundary", "unidentified", "underfit", "no rule",
)  # fmt: skip
"""All words but `too few`, which is never forbidden."""
HARMLESS = frozenset({"sound", "opaque", "no rule", "unidentified", "too few"})
"""Words of models in which nothing is wrong: where a fault is surely there beside them, it may come first as well."""
SMALL = 150
"""Up to so many test examples, `too few` may come first unless everything is sure."""


def bounds(count: list[int]) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    >>> low, high = bounds([88, 100]); round(low, 3), round(high, 3)
    (0.802, 0.93)
    """
    hits, of = count
    if not of:
        return 0.0, 1.0
    share, square = hits / of, SURE**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = SURE * sqrt(share * (1 - share) / of + square / (4 * of**2)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(count: list[int]) -> float:
    """Return a share; 1 of nothing."""
    return count[0] / count[1] if count[1] else 1.0


def surely_less(second: list[int], first: list[int], by: float) -> bool:
    """Return whether the second share is less than the first, by so much and by more than chance."""
    if min(first[1], second[1]) < 15:
        return False
    together = (first[0] + second[0]) / (first[1] + second[1])
    error = sqrt(max(together * (1 - together), 1e-9) * (1 / first[1] + 1 / second[1]))
    fall = share(first) - share(second)
    return fall >= by and fall / error >= GAP


def read_rightly(facts: Facts) -> Truth:
    """All used concepts are right: surely, or some surely not; None also where some are not predicted."""
    counts = [facts["concept_right"][name] for name in facts["used"] if name in facts["concept_right"]]
    if any(bounds(c)[1] < 0.95 for c in counts):
        return False
    return True if not facts["unspoken"] and all(share(c) >= 0.96 for c in counts) else None


def labels_right(facts: Facts) -> Truth:
    """Labels are right: surely 88 %, each value recalled."""
    low, high = bounds(facts["right"])
    values = [c for parts in facts["recalled"].values() for c in parts if c[1] >= 10]
    if high < 0.9 or share(facts["right"]) < 0.88 or any(bounds(c)[1] < 0.8 for c in values):
        return False
    return True if low >= 0.88 and all(share(c) >= 0.88 for c in values) else None


def falls(facts: Facts) -> Truth:
    """Labels fall on another split."""
    test = facts["right"]
    others = [part["right"] for name, part in facts["splits"].items() if name != "test"]
    if any(surely_less(other, test, 0.1) for other in others):
        return True
    return False if all(share(other) >= share(test) - 0.03 for other in others) else None


def sound(facts: Facts, rule: bool) -> Truth:
    """Labels and used concepts are right, labels follow, pairs pass, and no split is worse."""
    if not rule or facts["unspoken"] or labels_right(facts) is False or read_rightly(facts) is False:
        return False
    pairs = [facts[key] for key in ("pairs_follow", "pairs_stay") if key in facts]
    if falls(facts) or bounds(facts["follows"])[1] < 0.95 or any(bounds(c)[1] < 0.9 for c in pairs):
        return False
    if wrong_rule(facts, rule) or share(facts["contradictions"]) > 0.02:
        return False
    good = labels_right(facts) and read_rightly(facts) and falls(facts) is False
    passed = share(facts["follows"]) >= 0.97 and all(share(c) >= 0.9 for c in pairs)
    return True if good and passed and share(facts["contradictions"]) <= 0.01 else None


def shortcut(facts: Facts, rule: bool) -> Truth:
    """Used concepts are misread in a tenth of the examples, and keep labels more than random errors would."""
    if not rule or facts["unspoken"]:
        return False
    kept, chance = facts["kept"], facts["kept_by_chance"]
    misread = kept[1] / facts["n"]
    if misread >= 0.1 and kept[1] >= 20 and bounds(kept)[0] > chance + 0.1 and share(facts["by_values"]) >= 0.8:
        return True
    return False if misread < 0.05 or share(kept) <= chance else None


def annotations(facts: Facts, rule: bool) -> Truth:
    """The table contradicts itself, and does so where the model, which is right, disagrees with it."""
    if not rule or not facts["contradictions"][0]:
        return False
    if share(facts["contradictions"]) < 0.02 or labels_right(facts) is False:
        return None
    if facts["unspoken"]:
        return True if share(facts["right"]) - share(facts["table_right"]) >= 0.02 else None
    explained = share(facts["disagreements"]) >= 0.5 * (1 - facts["kept_by_chance"])
    by_label = share(facts["right"]) - share(facts["table_right"]) >= 0.02
    return True if read_rightly(facts) and (explained or by_label) else None


def leaking(facts: Facts, rule: bool) -> Truth:
    """Labels are better than the predicted concepts allow: by the rule, or by their cells where there is none."""
    if facts["unspoken"]:
        return False
    if rule:
        more, less = facts["beyond"]
        gain, error = (more - less) / facts["n"], sqrt(max(1, more + less)) / facts["n"]
    else:
        allowed = max(facts["ceiling"], facts["from_predicted"], facts["cells"] if facts["n"] >= 400 else 0)
        gain = share(facts["right"]) - allowed
        error = sqrt(max(1e-4, allowed * (1 - allowed)) / facts["n"])
    if gain >= 0.05 and gain >= GAP * error:
        return True
    return False if gain <= 0.01 else None


def memorised(facts: Facts) -> Truth:
    """Right on worlds of training and worse on new ones, in equal cells of used concepts or in new cells."""
    new = facts["new"]
    if surely_less(new["equal_new"], new["equal_known"], 0.1) and share(new["known_right"]) >= 0.85:
        return True
    if surely_less(new["cells_new"], new["known_right"], 0.1) and share(new["known_right"]) >= 0.85:
        return True
    if surely_less(new["new_right"], new["known_right"], 0.1):
        return True if new["equal_new"][1] < 15 and share(new["known_right"]) >= 0.85 else None
    return False if share(new["new_right"]) >= share(new["known_right"]) - 0.03 else None


def shifted(facts: Facts, other_pictures: bool) -> Truth:
    """Labels fall on a split with other pictures, on worlds that training has."""
    if not other_pictures:
        return False
    test, other = (facts["splits"][name]["known_right"] for name in ("test", "ood"))
    if falls(facts) and (surely_less(other, test, 0.1) or other[1] < 15):
        return True
    return False if falls(facts) is False else None


def wrong_rule(facts: Facts, rule: bool) -> Truth:
    """Labels are wrong where every used concept is right, or one value of a label is missed there."""
    if not rule or facts["unspoken"]:
        return False
    counts = facts["right_where_read"], facts["recalled_where_read"]
    if counts[0][1] >= 30 and (bounds(counts[0])[1] < 0.95 or bounds(counts[1])[1] < 0.8):
        return True
    return False if share(counts[0]) >= 0.97 and share(counts[1]) >= 0.9 else None


def missed_region(facts: Facts) -> Truth:
    """A model without all concepts is wrong in a region, which holds most of its errors, and right elsewhere."""
    region, wrong = facts["region"], facts["right"][1] - facts["right"][0]
    if not facts["unspoken"]:
        return False
    if surely_less(facts["new"]["cells_new"], facts["new"]["known_right"], 0.1):
        return None  # a region that training did not show may be in another split than the test split
    if share(facts["right"]) >= 0.98 or not region:
        return False
    inside, outside = region["inside"], region["outside"]
    part = (inside[1] - inside[0]) / max(1, wrong)
    if bounds(inside)[1] < 0.75 and share(outside) >= 0.9 and part >= 0.6:
        return True
    return False if part < 0.4 or share(inside) > 0.85 else None


def incomplete(facts: Facts, rule: bool) -> Truth:
    """Without a rule: the concepts do not determine the labels, and the model is about at their ceiling."""
    if rule or facts["ceiling"] >= 0.98:
        return False
    return True if facts["ceiling"] <= 0.93 and share(facts["right"]) >= facts["ceiling"] - 0.06 else None


def inconsistent(facts: Facts, rule: bool) -> Truth:
    """Labels do not follow from concepts that are wrong."""
    if not rule or facts["unspoken"]:
        return False
    astray = facts["follows_misread"]
    if astray[1] >= 30 and bounds(astray)[1] < 0.85 and share(facts["follows"]) < 0.95:
        return True
    return False if share(facts["follows"]) >= 0.97 else None


def noisy(facts: Facts, rule: bool) -> Truth:
    """Some used concept is wrong more often than in 5 %, on test or on another split, and labels are not kept."""
    if facts["unspoken"] == facts["used"]:
        return False
    reading = read_rightly({**facts, "unspoken": []})
    if reading is False:
        return None if shortcut(facts, rule) else True
    elsewhere = [part["read"] for split, part in facts["splits"].items() if split != "test" and "read" in part]
    if any(bounds(c)[1] < 0.95 for c in elsewhere):
        return True if len(facts["used"]) == 1 else None
    return False if reading else None


def boundary(facts: Facts, rule: bool) -> Truth:
    """Right far from the boundary and wrong near it, or counterfactual pairs fail."""
    if not rule:
        return False
    pairs = [facts[key] for key in ("pairs_follow", "pairs_stay") if key in facts]
    if surely_less(facts["near"], facts["far"], 0.1) and share(facts["far"]) >= 0.9:
        return True
    if labels_right(facts) and any(bounds(c)[1] < 0.88 for c in pairs):
        return True
    fails = any(share(c) < 0.95 for c in pairs)
    return False if not fails and share(facts["near"]) >= share(facts["far"]) - 0.02 else None


def unidentified(facts: Facts, rule: bool) -> Truth:
    """Used concepts are right, and only others are wrong."""
    counts = [c for name, c in facts["concept_right"].items() if name not in facts["used"]]
    if not rule or not counts or read_rightly(facts) is False or all(share(c) >= 0.97 for c in counts):
        return False
    return True if read_rightly(facts) and any(bounds(c)[1] < 0.95 for c in counts) else None


def underfit(facts: Facts) -> Truth:
    """Labels are clearly below 75 %, or no better than the most frequent ones."""
    low, high = bounds(facts["right"])
    usual = facts["most_frequent"] / facts["n"]
    if high < 0.75 or share(facts["right"]) <= usual:
        return True
    return False if low >= 0.75 and low > usual else None


def no_rule(facts: Facts, rule: bool) -> Truth:
    """No rule is known, and labels and concepts are right."""
    if rule or labels_right(facts) is False or read_rightly(facts) is False or facts["unspoken"]:
        return False
    if facts["ceiling"] < 0.95:
        return None
    return True if labels_right(facts) and read_rightly(facts) and falls(facts) is False else None


def truths(facts: Facts, rule: bool, other_pictures: bool) -> dict[str, Truth]:
    """Return for each word whether the facts make it true."""
    return {
        "sound": sound(facts, rule),
        "spurious": False,  # no nuisance is declared anywhere in this zoo
        "shortcut": shortcut(facts, rule),
        "annotations": annotations(facts, rule),
        "leaking": leaking(facts, rule),
        "memorised": memorised(facts),
        "shifted": shifted(facts, other_pictures),
        "wrong rule": wrong_rule(facts, rule),
        "missed region": missed_region(facts),
        "incomplete": incomplete(facts, rule),
        "inconsistent": inconsistent(facts, rule),
        "noisy": noisy(facts, rule),
        "opaque": bool(facts["unspoken"]),
        "boundary": boundary(facts, rule),
        "unidentified": unidentified(facts, rule),
        "underfit": underfit(facts),
        "no rule": no_rule(facts, rule),
    }


def expectation(intended: Sequence[str], rule: bool, other_pictures: bool, facts: Facts) -> dict[str, Any]:
    """Return which words may come first, which must be among the findings, and which would be false."""
    found = truths(facts, rule, other_pictures)
    accept = [word for word in intended if found.get(word)]
    materialised = bool(accept) or "too few" in intended
    open_too = not accept or "too few" in intended or (set(accept) <= HARMLESS and not labels_right(facts))
    if open_too or {"incomplete", "memorised"} & set(accept):  # what is between may then be told as well
        accept += [word for word in intended if found.get(word) is None and word != "too few"]
    if set(accept) <= HARMLESS:
        accept += [word for word in WORDS if found[word] and word not in HARMLESS]
    if found["sound"] and "sound" not in accept:
        accept.append("sound")
    small = facts["n"] <= SMALL and not found["sound"] and labels_right(facts) is None
    if "too few" in intended or small or not accept:
        accept.append("too few")
    sure = [word for word in intended[:1] if found.get(word) and facts["n"] >= 300]
    return {
        "accept": list(dict.fromkeys(accept)),
        "required": sure,
        "forbidden": [word for word in WORDS if found[word] is False and word not in accept],
        "truths": found,
        "materialised": materialised,
    }
