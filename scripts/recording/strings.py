"""Records what TensorFlow makes of random strings, for `tests/strings/test_random_strings.py`.

python scripts/record.py strings                       # needs TensorFlow; writes the fixture
python scripts/record.py strings --seeds 500 --against PYTHON   # compares with the TapeFlow of an interpreter
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
TESTS = pathlib.Path(__file__).parents[2] / "tests"
PATH = TESTS / "fixtures" / "random_strings.json"
RECORDED = 40


def outcomes(framework: str, seeds: int) -> list[dict[str, str]]:
    """Returns the outcomes of a framework for the first seeds."""
    sys.path.insert(0, str(TESTS / "support"))
    import random_strings

    tf = __import__(framework)
    return [random_strings.draws(tf, seed) for seed in range(seeds)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=RECORDED, help="how many draws")
    parser.add_argument("--against", help="an interpreter that has TapeFlow: compares instead of writing")
    parser.add_argument("--framework", default="tensorflow", help=argparse.SUPPRESS)
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    expected = outcomes(options.framework, options.seeds)
    if options.print:
        print(json.dumps(expected))
        return 0
    if not options.against:
        names = list(expected[0])
        lines = [json.dumps([draw[name] for name in names]) for draw in expected]
        PATH.write_text("[" + ",\n".join([json.dumps(names), *lines]) + "]\n")
        return 0
    record = pathlib.Path(__file__).parents[1] / "record.py"
    command = [options.against, str(record), "strings", "--framework", "tapeflow", "--print"]
    command += ["--seeds", str(options.seeds)]
    actual = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    different = 0
    for seed, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        for name, outcome in theirs.items():
            if mine[name] != outcome:
                different += 1
                print(f"seed {seed}, {name}: TensorFlow {outcome}, TapeFlow {mine[name]}")
    print(f"{different} differences in {sum(map(len, expected))} calls")
    return min(different, 1)
