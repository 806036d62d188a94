"""`python -m benchmarks.claims`: check every sentence of the diagnoses of random predictors, and of the trained zoo."""

import argparse
import os
from collections import Counter
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.claims.account import accounted
from benchmarks.claims.checking import False_, check
from benchmarks.claims.diagnosing import kept, random_ones
from benchmarks.claims.told import Told


def main() -> None:
    """Check the laws and print what breaks them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims", description=__doc__)
    parser.add_argument("--random", type=int, default=300, metavar="N", help="how many random predictors")
    parser.add_argument("--start", type=int, default=0, metavar="SEED", help="the seed of the first one")
    parser.add_argument("--kept", action="store_true", help="check the zoo of trained models too")
    parser.add_argument("--half", choices=("choosing", "held"), help="only this half of it")
    chosen = parser.parse_args()
    report(random_ones(chosen.start, chosen.random), "random predictors")
    if chosen.kept:
        report(kept(chosen.half), "trained models")


def report(all_told: Iterator[Told], what: str) -> None:
    """Check the laws on some diagnoses, and print what breaks them."""
    cases = sentences = asked = 0
    wrong, unaccounted, words = list[False_](), list[str](), Counter[str]()
    for told in all_told:
        count, found = check(told)
        cases, sentences, wrong = cases + 1, sentences + count, wrong + found
        words[told.diagnosis.verdict] += 1
        for problem in found:
            print(problem, flush=True)
        counts = accounted(told)
        if counts is not None:
            asked += 1
            if 2 * counts[0] < counts[1]:
                line = f"{told.name} {', '.join(told.diagnosis.kinds)}: the first word accounts for {counts[0]} of {counts[1]}"
                unaccounted.append(line)
                print(line, flush=True)
    by_kind = Counter(problem.kind for problem in wrong)
    print(
        f"\n{cases} {what} ({', '.join(f'{word} {n}' for word, n in words.most_common())}): {sentences:,} sentences, {len(wrong)} false"
    )
    print(f"by kind: {dict(by_kind.most_common())}")
    print(f"the first word accounts for less than half of the wrong labels in {len(unaccounted)} of {asked}\n")


if __name__ == "__main__":
    main()
