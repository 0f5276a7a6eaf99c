#!/usr/bin/env python3
"""Damages files of every format and reads them: each is read, or refused with one of TensorFlow's errors.

    python scripts/stress/corrupt_files.py [--files 1000] [--only PART-OF-A-NAME] [--seed 0]

Prints how many files were read all the same (a flipped bit of a message without checksum may be valid), how many were
refused, and what ended in another error. See tests/support/corruption.py for the formats and the damage.
"""

import argparse
import collections
import logging
import os
import pathlib
import random
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "src"), str(HOME / "tests")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from support.corruption import FORMATS, attempts

    wrong = 0
    print(f"{'format':22}{'files':>7}{'read':>7}{'refused':>9}{'wrong':>7}{'seconds':>9}")
    for name in [n for n in FORMATS if arguments.only in n]:
        start, kinds = time.monotonic(), collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for number, (refused, error) in enumerate(
                attempts(name, folder, random.Random(arguments.seed), arguments.files)
            ):
                kinds["refused" if refused else "read" if error is None else "wrong"] += 1
                if error is not None and not refused:
                    print(f"    file {number}: {type(error).__name__}: {error}"[:200])
        counts = "".join(f"{kinds[kind]:{width}}" for kind, width in (("read", 7), ("refused", 9), ("wrong", 7)))
        print(f"{name:22}{arguments.files:7}{counts}{time.monotonic() - start:9.1f}", flush=True)
        wrong += kinds["wrong"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
