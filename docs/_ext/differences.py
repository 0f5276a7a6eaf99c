"""Writes the tables of differences from TensorFlow into a page, from what the tests hold.

`{differences}` is a table of `DELIBERATELY_DIFFERENT` in `tests/test_goldens.py`: each program with its result under
TensorFlow, which is on record, its result here, which a run gives, and the reason. `{known-differences}` lists what
random calls brought to light (`tests/fixtures/fuzz_known.json`), by the reason.
"""

from __future__ import annotations

import ast
import importlib
import json
import pathlib
import tempfile
from typing import Any, NamedTuple

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
GOLDENS, KNOWN = TESTS / "test_goldens.py", TESTS / "fixtures" / "fuzz_known.json"


class Difference(NamedTuple):
    """A program whose result is not TensorFlow's, with both results as text."""

    program: str
    tensorflow: str
    tapeflow: str
    reason: str


def on_purpose() -> list[Difference]:
    """Returns the programs that differ on purpose."""
    tf = importlib.import_module("tapeflow")
    case, result = importlib.import_module("goldens.case"), importlib.import_module("goldens.result")
    differences = []
    for title, reason in deliberately_different().items():
        group, _, program = title.partition("/")
        record = json.loads(case.record_path(group).read_text(encoding="utf-8"))["cases"][program]
        there = f"raises {record['error']}" if "error" in record else shown(record["result"])
        with tempfile.TemporaryDirectory() as folder:
            try:
                here = shown(result.encode(case.load(group).cases[program].run(tf, folder), tf))
            except Exception as error:
                here = f"raises {type(error).__name__}"
        differences.append(Difference(program, there, here, reason))
    return differences


def deliberately_different() -> dict[str, str]:
    """Returns the dict of that name in the tests, which are read and not imported: they need pytest."""
    for statement in ast.parse(GOLDENS.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "DELIBERATELY_DIFFERENT":
            return ast.literal_eval(statement.value)
    raise LookupError(f"{GOLDENS} has no DELIBERATELY_DIFFERENT")


def shown(result: Any) -> str:
    """Returns a golden's result as a reader knows it: `float16: inf`."""
    if isinstance(result, dict) and list(result) == ["tensor"]:
        dtype, shape, values = result["tensor"]
        text = ", ".join(str(v) for v in values)
        return f"{dtype}: {text if not shape else f'[{text}]'}"
    return str(result)


def by_reason() -> dict[str, list[str]]:
    """Returns the functions whose random calls differ, by the reasons."""
    functions: dict[str, set[str]] = {}
    for entry in json.loads(KNOWN.read_text(encoding="utf-8")):
        functions.setdefault(entry["because"], set()).add(f"tf.{entry['function']}")
    return {reason: sorted(names) for reason, names in sorted(functions.items())}


def code(text: str) -> str:
    """Returns text as code in a cell of a Markdown table."""
    return "`" + text.replace("|", "\\|") + "`"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Returns a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, (":--",) * len(head), *rows])


def table_on_purpose() -> str:
    """Returns the table of what differs on purpose."""
    rows = [(code(d.program), code(d.tensorflow), code(d.tapeflow), d.reason) for d in on_purpose()]
    return table(("program", "TensorFlow", "TapeFlow", "why"), rows)


def table_by_reason() -> str:
    """Returns the table of what random calls brought to light."""
    rows = [(reason, ", ".join(map(code, names))) for reason, names in by_reason().items()]
    return table(("difference", "functions"), rows)


def write_tables(app: Any, name: str, source: list[str]) -> None:
    """Changes the text of a page as Sphinx reads it."""
    for fence, text in (("differences", table_on_purpose), ("known-differences", table_by_reason)):
        block = f"```{{{fence}}}\n```"
        if block in source[0]:
            source[0] = source[0].replace(block, text())


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", write_tables)
    return {"parallel_read_safe": True}
