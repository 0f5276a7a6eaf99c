"""Writes static shapes that TensorFlow 2.21 infers to tests/fixtures.

`static_shapes.json` has the calls of the op table in functions whose arguments have an unknown first dimension, unknown
dimensions, or an unknown rank. `partial_shapes.json` has calls whose shapes, sizes, axes or paddings are partly static.
"""

import json
import os
import pathlib
import sys
from unittest.mock import MagicMock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
sys.path.insert(0, str(ROOT / "tests" / "support"))


def main():
    import tensorflow

    sys.modules["tapeflow"] = tensorflow  # of which the op table is then
    for name in ("", ".linalg", ".special", ".fft", ".signal", ".signal.windows", ".stats"):
        sys.modules["scipy" + name] = MagicMock()  # for the references in NumPy, which are not run
    from partial_shapes import calls, static_shapes
    from static_shapes import MODES, cases

    write(FIXTURES / "static_shapes.json", {c.key: {m: c.static_shapes(m) for m in MODES} for c in cases()})
    write(FIXTURES / "partial_shapes.json", {name: static_shapes(call, vector) for name, call, vector in calls()})


def write(path, shapes):
    lines = sorted(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in shapes.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
