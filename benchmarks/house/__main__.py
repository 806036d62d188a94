"""`python -m benchmarks.house record | compare | mutants | walks`: see `benchmarks/house/__init__.py`."""

import argparse
import difflib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.house.forks import RECORDS, Stage, Texts, chosen, import_all
from benchmarks.house.seen import sha

KEPT = 3000
"""Texts of no more letters are kept whole, to show what differs."""
SUMS, TEXTS = RECORDS / "sums.json", RECORDS / "texts.json"


def probe_all(part: str, verbose: bool, keep: bool) -> dict[str, str]:
    """Run the probes whose name fits; return their texts by probe and part, and record them if asked to."""
    import_all()
    from benchmarks.house.probes import all_probes

    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="house-") as place:
        stage, printed = Stage.build(Path(place))
        found |= keyed("stage", printed)
        for probe in chosen(all_probes(), part):
            began = os.times()
            found |= keyed(probe.name, stage.run(probe))
            ended = os.times()
            if keep:
                record(found, part)
            if verbose:
                cpu = ended.children_user + ended.children_system - began.children_user - began.children_system
                print(f"{cpu:6.1f} s  {probe.name}", flush=True)
    return found


def keyed(name: str, texts: Texts) -> dict[str, str]:
    """Return the texts of a probe by its name and the part's."""
    return {f"{name} | {part}": text for part, text in texts.items()}


def record(found: dict[str, str], part: str) -> None:
    """Write the digests of all texts, and the short ones as they are; of other probes they stay."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    sums = {name: sha(text) for name, text in found.items()}
    for path, new in ((SUMS, sums), (TEXTS, {name: text for name, text in found.items() if len(text) <= KEPT})):
        old = json.loads(path.read_text(encoding="utf-8")) if part else {}
        kept = {name: text for name, text in old.items() if not asked_for(name, part)}
        path.write_text(json.dumps(kept | new, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def asked_for(name: str, part: str) -> bool:
    """Return whether a text is one of a probe that is asked for."""
    return bool(re.search(part, name.partition(" | ")[0])) or name.startswith("stage | ")


def compare(found: dict[str, str], part: str) -> int:
    """Print what differs from the record; return how much does, texts with new lines only apart."""
    known, texts = (json.loads(path.read_text(encoding="utf-8")) for path in (SUMS, TEXTS))
    known = {name: text for name, text in known.items() if asked_for(name, part)}
    differ = 0
    for name in [*known, *(name for name in found if name not in known)]:
        if name not in found or name not in known:
            print(f"{'GONE' if name in known else 'NEW'} {name}")
            differ += name in known
        elif sha(found[name]) != known[name]:
            lines = [*difflib.ndiff(texts[name].splitlines(), found[name].splitlines())] if name in texts else []
            changed = [line for line in lines if line[:1] in "+-"]
            only_new = bool(changed) and all(line.startswith("+") for line in changed)
            print(f"{'MORE' if only_new else 'DIFFERS'} {name}", *changed[:12], sep="\n    ")
            differ += not only_new
    print(f"{differ} of {len(known)} texts differ")
    return differ


def main() -> int:
    """Record, compare, or judge mutants."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description=__doc__)
    parser.add_argument("what", choices=["record", "compare", "mutants", "walks"])
    parser.add_argument("--probe", default="", help="only probes in whose name this regular expression is found")
    parser.add_argument("--verbose", action="store_true", help="print the CPU seconds of each probe")
    parser.add_argument("--count", type=int, default=300, help="mutants: how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="mutants: the seed of the draw")
    parser.add_argument("--check", action="store_true", help="mutants: whether the tests catch those that are visible")
    parser.add_argument("--first", type=int, default=0, help="mutants: judge only so many more of them")
    parser.add_argument("--write", action="store_true", help="walks: put them into docs/architecture.md")
    asked = parser.parse_args()
    if asked.what == "walks":
        from benchmarks.house import walks

        return walks.main(asked.write)
    if asked.what == "mutants":
        from benchmarks.house.mutants import check, judge

        (check if asked.check else judge)(asked.count, asked.seed, asked.first)
        return 0
    found, spent = probe_all(asked.probe, asked.verbose, asked.what == "record"), os.times()
    print(f"{len(found)} texts, {sum(spent[:4]):.0f} CPU seconds")
    return 0 if asked.what == "record" else int(compare(found, asked.probe) > 0)


if __name__ == "__main__":
    sys.exit(main())
