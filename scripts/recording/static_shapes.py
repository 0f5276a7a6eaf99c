"""Writes tests/fixtures/static_shapes.json, with TensorFlow 2.21: the static shapes that it infers for the calls of the
op table in functions whose arguments have an unknown first dimension, unknown dimensions, or an unknown rank."""

import json
import os
import pathlib
import sys
from unittest.mock import MagicMock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "fixtures" / "static_shapes.json"
sys.path.insert(0, str(ROOT / "tests" / "support"))


def main():
    import tensorflow

    sys.modules["tapeflow"] = tensorflow  # of which the op table is then
    for name in ("", ".linalg", ".special", ".fft", ".signal", ".signal.windows", ".stats"):
        sys.modules["scipy" + name] = MagicMock()  # for the references in NumPy, which are not run
    from static_shapes import MODES, cases

    lines = []
    for case in cases():
        shapes = {mode: case.static_shapes(mode) for mode in MODES}
        lines.append(f"{json.dumps(case.key)}: {json.dumps(shapes)}")
    OUT.write_text("{\n" + ",\n".join(sorted(lines)) + "\n}\n")
