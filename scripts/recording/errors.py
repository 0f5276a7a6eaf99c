"""Records the classes of the errors that TensorFlow raises for the calls of `tests/support/failures.py`.

    python scripts/record.py errors           # needs TensorFlow, and SciPy for the op table
    python scripts/record.py errors --check   # writes nothing, and says what would change

Some of the calls end TensorFlow's process. They are recorded as null, and another process goes on with the next one.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
RECORD = pathlib.Path(__file__).parents[2] / "record.py"
TESTS = pathlib.Path(__file__).parents[2] / "tests"
PATH = TESTS / "fixtures" / "errors.json"


def run_from(first: int) -> None:
    """Prints the outcome of each call from that number on, as a line each."""
    sys.path[:0] = [str(TESTS), str(TESTS / "support")]
    import tensorflow as tf

    sys.modules["tapeflow"] = tf
    import failures

    for text, call in list(failures.calls().items())[first:]:
        print("call", text, flush=True)
        print("outcome", json.dumps(failures.outcome(*call)), flush=True)
    print("end", flush=True)


def record() -> dict[str, list[str] | None]:
    """Returns the outcome of each call by its text."""
    outcomes: dict[str, list[str] | None] = {}
    while True:
        command = [sys.executable, RECORD, "errors", "--from", str(len(outcomes))]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        text = None
        for line in done.stdout.splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "end":
                return outcomes
            if kind == "call":
                text = rest
                outcomes[text] = None
            elif kind == "outcome":
                outcomes[text] = json.loads(rest)
        if text is None:
            raise RuntimeError(f"no call was made: {command}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--from", type=int, dest="first", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.first is not None:
        run_from(args.first)
        return 0
    new = record()
    old = json.loads(PATH.read_text()) if PATH.exists() else {}
    changed = [text for text in {**old, **new} if text not in old or text not in new or old[text] != new[text]]
    print(*changed, f"{len(changed)} of {len(new)} changed", sep="\n")
    if args.check:
        return bool(changed)
    lines = [f"{json.dumps(text)}: {json.dumps(outcome)}" for text, outcome in new.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0
