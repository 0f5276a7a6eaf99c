"""`tf_upgrade_v2`: upgrades a file, a notebook, or all programs in a folder."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any

from tapeflow.io.atomic_replace import write_file
from tapeflow_compat.tensorflow_python.tools.commands import run_command
from tapeflow_compat.tensorflow_python.upgrade.notes import ERROR, INFO
from tapeflow_compat.tensorflow_python.upgrade.programs import Entry, upgrade_text, use_compat_v1

_RULE = "-" * 80
_Upgrade = Callable[[str], tuple[str, list[Entry]]]


def main() -> None:
    """Runs the command in `sys.argv`, and ends the process."""
    parser = argparse.ArgumentParser("tf_upgrade_v2", description="Changes programs of TensorFlow 1 for TensorFlow 2.")
    parser.add_argument("--infile", help="a program or a notebook")
    parser.add_argument("--outfile", help="the file to write")
    parser.add_argument("--intree", help="a folder of programs")
    parser.add_argument("--outtree", help="the folder to write")
    parser.add_argument("--copyotherfiles", type=bool, default=True, help="copy all other files of the folder, too")
    parser.add_argument("--inplace", action="store_true", help="write over the input")
    parser.add_argument("--no_import_rename", action="store_true", help="accepted, and without effect")
    parser.add_argument(
        "--no_upgrade_compat_v1_import", action="store_true", help="leave programs that import tensorflow.compat.v1"
    )
    parser.add_argument("--reportfile", default="report.txt", help="the file of the report (default: %(default)s)")
    parser.add_argument(
        "--mode", choices=("DEFAULT", "SAFETY"), default="DEFAULT",
        help="DEFAULT changes names and arguments; SAFETY only imports tensorflow.compat.v1",
    )  # fmt: skip
    parser.add_argument("--print_all", action="store_true", help="print the whole report")
    options = parser.parse_args()
    if not options.infile and not options.intree:
        parser.print_help()
        sys.exit(0)
    run_command("tf_upgrade_v2", lambda: _upgrade_files(options))


def _upgrade_files(options: argparse.Namespace) -> None:
    """Upgrades the files on the command line, prints the report and writes it.

    Raises:
        ValueError: there is no place for the output, or two of them.
    """
    given, output = (options.infile, options.outfile) if options.infile else (options.intree, options.outtree)
    flag = "--outfile" if options.infile else "--outtree"
    if options.inplace == bool(output):
        raise ValueError(f"{flag} is invalid with --inplace." if output else f"{flag} or --inplace is required.")
    output = output or given
    if options.infile:
        pairs, others = [(given, output)], list[tuple[str, str]]()
    else:
        pairs, others = _files_of(given, output)
        if output != given and os.path.exists(output):
            raise ValueError(f"Output directory {output!r} must not already exist.")

    def upgrade(text: str) -> tuple[str, list[Entry]]:
        if options.mode == "SAFETY":
            return use_compat_v1(text)
        return upgrade_text(text, not options.no_upgrade_compat_v1_import)

    logs = {path: _upgrade_file(path, target, upgrade) for path, target in pairs}
    for path, target in others if options.copyotherfiles and output != given else ():
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        shutil.copy(path, target)
    report, details = _write_report(logs, dict(pairs))
    with open(options.reportfile, "w") as file:
        file.write(report + details)
    print(report + details if options.print_all else report)
    print(f"\nMake sure to read the detailed log {options.reportfile!r}\n")


def _files_of(folder: str, output: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Returns the programs below a folder and all other files, each with its place below another folder."""
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder!r}")
    pairs = [
        (path, os.path.join(output, os.path.relpath(path, folder)))
        for home, _, names in sorted(os.walk(folder))
        for path in sorted(os.path.join(home, name) for name in names)
    ]
    programs = [pair for pair in pairs if pair[0].endswith(".py") and not os.path.islink(pair[0])]
    return programs, [pair for pair in pairs if pair not in programs]


def _upgrade_file(path: str, target: str, upgrade: _Upgrade) -> list[Entry]:
    """Writes the upgrade of one file. A file that Python 3 can't read is copied.

    Raises:
        ValueError: it is neither a program nor a notebook.
    """
    if not path.endswith((".py", ".ipynb")):
        raise ValueError(f"{path} is neither a .py nor an .ipynb file.")
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    try:
        new, entries = upgrade_notebook(text, upgrade) if path.endswith(".ipynb") else upgrade(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        new, entries = text, [Entry(line, 0, ERROR, f"Python 3 can't parse it, and it was not changed: {error}")]
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    write_file(target, new.encode())
    return entries


def upgrade_notebook(text: str, upgrade: _Upgrade) -> tuple[str, list[Entry]]:
    """Returns the upgrade of a notebook. Its cells are upgraded as one program; lines of IPython stay.

    Args:
        text: the notebook, in JSON.
        upgrade: upgrades a program.

    Raises:
        SyntaxError: its cells are not a program of Python 3.
        ValueError: it is no notebook.
    """
    notebook: dict[str, Any] = json.loads(text)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    kept = [i for i, source in enumerate(sources) if not source.startswith("%%")]
    hidden = [re.sub(r"(?m)^([ \t]*)([%!?].*)$", r"\1pass  #!\2", sources[i]) for i in kept]
    mark = "\n#-----cell-----\n"
    new, entries = upgrade(mark.join(hidden))
    for i, source in zip(kept, new.split(mark), strict=True):
        shown = re.sub(r"(?m)^([ \t]*)pass  #!(.*)$", r"\1\2", source)
        cells[i]["source"] = shown.splitlines(keepends=True) if isinstance(cells[i]["source"], list) else shown
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", entries


def _write_report(logs: dict[str, list[Entry]], targets: dict[str, str]) -> tuple[str, str]:
    """Returns the entries that need attention, and all entries, as texts."""
    attention = {path: [e for e in entries if e.level != INFO] for path, entries in logs.items()}
    lines = [
        "TensorFlow 2.0 Upgrade Script",
        "-----------------------------",
        f"Converted {len(logs)} files",
        f"Detected {sum(map(len, attention.values()))} issues that require attention",
        _RULE,
    ]
    for path, entries in attention.items():
        if entries:
            lines += [_RULE, f"File: {path}", _RULE, *(f"{path}:{entry}" for entry in entries)]
    details = ["=" * 80, "Detailed log follows:\n", "=" * 80]
    for path, entries in logs.items():
        details += [_RULE, f"Processing file {path!r}\n outputting to {targets[path]!r}", f"{_RULE}\n"]
        details += [*map(str, entries), f"{_RULE}\n"]
    return "\n".join(lines) + "\n", "\n".join(details) + "\n"
