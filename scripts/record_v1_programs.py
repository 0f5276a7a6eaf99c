#!/usr/bin/env python3
"""Writes tests/data/v1_programs.json with TensorFlow 2.21: what the programs of tests/v1_programs.py give."""

import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from v1_programs import PROGRAMS, plain  # noqa: E402


def main():
    import tensorflow.compat.v1 as tf

    found = {}
    for name, program in PROGRAMS.items():
        with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
            found[name] = plain(program(tf, folder))
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items())]
    (TESTS / "data" / "v1_programs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
