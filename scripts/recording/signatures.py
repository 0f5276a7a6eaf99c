"""Writes tests/fixtures/signatures.json with TensorFlow 2.21: the parameters of public functions and methods."""

import inspect
import json
import os
import pathlib

from recording.members import members
from recording.v1_signatures import parameters

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "signatures.json"
LEFT_OUT = {"autograph", "compat", "keras", "mlir", "raw_ops", "tpu"}  # with ways, packages or records of their own


def signatures(tf):
    """Returns the parameters as text, by public name."""
    found = {}
    for path, value in members(tf, LEFT_OUT):
        if not callable(value):
            continue
        found[".".join(path)] = parameters(value)
        if inspect.isclass(value):
            for name in dir(value):
                member = getattr(value, name, None)
                if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member)):
                    found[".".join((*path, name))] = parameters(member)
    return {name: text for name, text in found.items() if text is not None}


def main():
    import tensorflow as tf

    lines = [f"{json.dumps(name)}: {json.dumps(text)}" for name, text in sorted(signatures(tf).items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
