"""Writes src/tapeflow/compat/v1.pyi, by which editors and type checkers know `tf.compat.v1`; it needs no TensorFlow.

Functions that `aliases.txt` lists are made when `tf.compat.v1` is loaded, so their parameters stand in the stub.
"""

import inspect
import pathlib

FILE = pathlib.Path(__file__).resolve().parents[2] / "src" / "tapeflow" / "compat" / "v1.pyi"


def stub() -> str:
    """Returns the text of the stub."""
    from tapeflow_compat.compat.v1 import aliases

    lines = ["# Written by `scripts/record.py v1_stub`.", "from typing import Any", ""]
    lines += ["from tapeflow_compat.compat.v1 import *", ""]
    for name, alias in sorted(aliases.listed().items()):
        if "." not in name:
            parameters = inspect.signature(aliases.function(alias)).parameters.values()
            typed = [f"{p.name}: Any{'' if p.default is p.empty else ' = ...'}" for p in parameters]
            lines.append(f"def {name}({', '.join(typed)}) -> Any: ...")
    return "\n".join([*lines, "def __getattr__(name: str) -> Any: ...", ""])


def main():
    FILE.write_text(stub())
