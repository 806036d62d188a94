"""`python -m benchmarks.blind --list` prints what is expected; without it every case is built and its cause checked."""

import argparse
import time

from benchmarks.blind import CASES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blind", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print names, causes and accepted words, and build nothing")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--facts", action="store_true", help="print what was measured of each case")
    options = parser.parse_args()
    for name, case in CASES.items():
        if options.list:
            print(f"{name:32}{' or '.join(sorted(case.accept)):26}{case.why}")
            continue
        start = time.process_time()
        trial = case.build(options.seed)
        print(f"{name:32}built in {time.process_time() - start:5.2f} s")
        if options.facts:
            print("    " + ", ".join(f"{fact} {value:.3f}" for fact, value in trial.facts.items()))


if __name__ == "__main__":
    main()
