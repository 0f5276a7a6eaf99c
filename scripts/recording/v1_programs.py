"""Writes tests/fixtures/v1_programs.json and v1_metrics.json with TensorFlow 2.21: what the programs of
tests/support/v1_programs.py and v1_loop_programs.py and the metrics of tests/support/v1_metric_programs.py give."""

import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path.insert(0, str(TESTS / "support"))

import v1_loop_programs  # noqa: E402
import v1_metric_programs  # noqa: E402
from v1_programs import PROGRAMS, plain  # noqa: E402


def main():
    import tensorflow.compat.v1 as tf

    found = {}
    for name, program in (PROGRAMS | v1_loop_programs.PROGRAMS).items():
        with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
            found[name] = plain(program(tf, folder))
    write("v1_programs", found)
    write("v1_metrics", {name: v1_metric_programs.run(tf, name) for name in v1_metric_programs.PROGRAMS})


def write(name, found):
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(found.items())]
    (TESTS / "fixtures" / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
