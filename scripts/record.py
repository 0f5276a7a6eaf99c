#!/usr/bin/env python3
"""Records what tests and tables of the package hold: mostly what TensorFlow 2.21 does.

    python scripts/record.py                    # lists the subjects
    python scripts/record.py SUBJECT --help     # how one is recorded

A subject is a module of `recording/`. Most need an interpreter that has TensorFlow.
"""

import ast
import importlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).with_name("recording")
SUBJECTS = sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in ("__init__", "members"))


def main() -> int:
    """Runs the recorder of the subject that the command line names, and returns the exit status."""
    subject, *options = sys.argv[1:] or ["--help"]
    if subject not in SUBJECTS:
        print(__doc__)
        for name in SUBJECTS:
            text = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text())) or ""
            print(f"{name:16} {text.splitlines()[0]}")
        return 0 if subject in ("-h", "--help") else 2
    sys.argv = [f"{sys.argv[0]} {subject}", *options]
    return importlib.import_module(f"recording.{subject}").main() or 0


if __name__ == "__main__":
    sys.exit(main())
