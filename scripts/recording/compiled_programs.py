"""Records what the compiler makes of small programs, in tests/fixtures/compiled_programs.txt, without TensorFlow.

Record again after a change of the compiler, and review the difference: more steps, kernels or instructions of a program
take more time.
"""

import pathlib
import sys

import pytest


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))
    from compiled_programs import PROGRAMS, RECORD, compile_program

    parts = []
    for name in PROGRAMS:
        with pytest.MonkeyPatch.context() as monkeypatch:
            parts.append(f"==== {name}\n{compile_program(name, monkeypatch)[1]}\n")
    RECORD.write_text("\n".join(parts), encoding="utf-8")
    print(f"{len(parts)} programs")
