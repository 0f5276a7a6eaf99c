"""Writes the graphs in tests/fixtures/graph_defs, with TensorFlow 2.21; or runs with it graphs that TapeFlow wrote.

    record.py graph_defs record            builds, runs and writes anew every program of tests/support/graph_programs.py
    record.py graph_defs record --only X   the same for those whose names have an X (or one of more) in them
    record.py graph_defs check FOLDER      imports NAME.pb from the folder, with what NAME.json says of it, and compares

Programs with conditionals and loops are written twice: as TensorFlow 2 writes these, and, under NAME.v1, as
TensorFlow 1 did.
"""

import argparse
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "tests" / "fixtures" / "graph_defs"
sys.path.insert(0, str(ROOT / "tests" / "support"))

import graph_gradients  # noqa: E402, F401 (adds its programs)
import graph_kernels  # noqa: E402, F401 (adds its programs)
import graph_second_gradients  # noqa: E402, F401 (adds its programs)
from graph_files import difference, encoded, read, run, write  # noqa: E402
from graph_programs import PROGRAMS, WITH_CONTROL_FLOW  # noqa: E402


def record(only):
    import tensorflow as tf

    HOME.mkdir(parents=True, exist_ok=True)
    expected = json.loads((HOME / "expected.json").read_text()) if any(only) else {}
    for name, build in PROGRAMS.items():
        if any(part in name for part in only):
            expected[name] = write(tf, build, HOME / f"{name}.pb")
    tf.compat.v1.disable_control_flow_v2()
    for name in WITH_CONTROL_FLOW:
        if any(part in name for part in only):
            expected[f"{name}.v1"] = write(tf, PROGRAMS[name], HOME / f"{name}.v1.pb")
    lines = [f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in sorted(expected.items())]
    (HOME / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def check(folder):
    import tensorflow as tf

    failed = 0
    for name, entry in sorted(json.loads((folder / "expected.json").read_text()).items()):
        try:
            wrong = difference(entry["values"], [encoded(v) for v in run(tf, read(tf, folder / f"{name}.pb"), entry)])
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error)[:300]}"
        if wrong:
            failed += 1
            print(f"{name}: {wrong}")
    sys.exit(f"{failed} graphs differ" if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["record", "check"])
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default=[""], nargs="+", help="parts of the names of the programs to record")
    args = parser.parse_args()
    check(args.folder) if args.command == "check" else record(args.only)
