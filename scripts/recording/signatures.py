"""Writes tests/fixtures/signatures.json with TensorFlow 2.21: the parameters of public functions and methods."""

import json
import os
import pathlib

from recording.v1_signatures import signatures

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "signatures.json"
LEFT_OUT = {"autograph", "compat", "keras", "mlir", "raw_ops", "tpu"}  # with ways, packages or records of their own


def main():
    import tensorflow as tf

    lines = [f"{json.dumps(name)}: {json.dumps(text)}" for name, text in sorted(signatures(tf, LEFT_OUT).items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
