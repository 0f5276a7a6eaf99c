"""Records the tables of outcomes in tests with TensorFlow 2.21, and with TensorFlow Text.

    python scripts/record.py outcomes                           # all tests that have a table
    python scripts/record.py outcomes tests/linalg/test_norms.py
    python scripts/record.py outcomes --check

A row whose outcome still agrees stays as it is. A new row needs no outcome. An expression that calls functions of
TapeFlow alone keeps its outcome. `tests/support/outcomes.py` has the form of tables.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import textwrap
import types
from collections.abc import Sequence
from typing import Any
from unittest.mock import MagicMock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = re.compile(r"""(read_rows\((r?)('{3}|"{3})\n)(.*?)(^\3\))""", re.DOTALL | re.MULTILINE)
WIDTH = 120


class TensorFlowFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds TensorFlow's modules under TapeFlow's names, and for modules that it lacks some that have every name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name.partition(".")[0] == "tapeflow" else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        found: Any = sys.modules["tapeflow"]
        for part in spec.name.split(".")[1:]:
            found = getattr(found, part, None)
        return found if isinstance(found, types.ModuleType) else MagicMock(__path__=[])

    def exec_module(self, module: types.ModuleType) -> None:
        """The module is complete."""


def record(path: pathlib.Path, writes: bool) -> tuple[int, int]:
    """Records the tables of a file; returns how many rows changed, and how many TensorFlow does not know."""
    from outcomes import agree, outcome, read_rows

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        print(f"{path.relative_to(ROOT)}: left out, as it is about modules of TapeFlow: {error}", flush=True)
        return 0, 0
    names = {**vars(sys.modules.get("traced_calls", module)), **vars(module)}
    changed, unknown = 0, []

    def table(found: re.Match[str]) -> str:
        nonlocal changed
        begin, raw, quotes, text, end = found.groups()
        lines = []
        for source, expected in read_rows(text if raw else eval(f"{quotes}{text}{quotes}")).items():
            actual = outcome(source, names)
            if "MagicMock" in actual or actual.startswith(("NameError", "AttributeError: module")):
                unknown.append(source)
                actual = expected
            elif agree(actual, expected):
                actual = expected
            else:
                changed += 1
                print(f"{path.relative_to(ROOT)}: {source}\n    was {expected}\n    is  {actual}", flush=True)
            wrapped = textwrap.wrap(actual, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
            lines += [source, *(f"    {line}" for line in wrapped)]
        text = "\n".join(lines)
        return f"{begin}{text if raw else text.replace(chr(92), chr(92) * 2)}\n{end}"

    source = path.read_text(encoding="utf-8")
    recorded = TABLE.sub(table, source)
    if writes and changed:
        path.write_text(recorded, encoding="utf-8")
    for row in unknown:
        print(f"{path.relative_to(ROOT)}: {row}\n    kept: TensorFlow does not know it", flush=True)
    return changed, len(unknown)


def main() -> int:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files of tests; all that have a table by default")
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()

    import tensorflow
    import tensorflow_text

    tensorflow.text = tensorflow_text  # as TapeFlow has it
    sys.modules["tapeflow"] = tensorflow
    sys.meta_path.insert(0, TensorFlowFinder())
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support")]
    tests = args.files or sorted((ROOT / "tests").rglob("test_*.py"))
    tables = [path.resolve() for path in tests if "read_rows(" in path.read_text(encoding="utf-8")]
    totals = [record(path, not args.check) for path in tables]
    changed, unknown = (sum(column) for column in zip(*totals, strict=True))
    print(f"{changed} changed, {unknown} kept that TensorFlow does not know")
    return int(args.check and changed > 0)
