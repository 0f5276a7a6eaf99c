#!/usr/bin/env python3
"""Runs tests with several versions of Python, PyTorch, NumPy and Keras, and writes a table of the results.

    python scripts/matrix.py [--tests FOLDER ...] [--with keras==3.12.4 ...] PYTHON [PYTHON ...]

PYTHON is an interpreter with what TapeFlow needs, or a command that runs one. `--with` puts other versions of packages
before those of the interpreter, in a folder that is deleted afterwards. Results are kept in `matrix.json`, beside this
file, by the versions; a folder that did not run keeps its result. `docs/start/versions.md` gets the table.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = pathlib.Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "start" / "versions.md"
START, END = "<!-- the table of scripts/matrix.py -->", "<!-- its end -->"
TESTS = ["tests/core", "tests/function", "tests/keras", "tests/saved_model", "tests/test_releases.py"]
PACKAGES = ["torch", "numpy", "keras"]
VERSIONS = f"""
import importlib.metadata, platform
print("versions:", platform.python_version(), *[importlib.metadata.version(name) for name in {PACKAGES}])
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", metavar="PYTHON", nargs="*", help="without any, only the table is written")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="FOLDER")
    parser.add_argument("--with", dest="packages", nargs="+", default=[], metavar="PACKAGE==VERSION")
    args = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for python in args.pythons:
        with tempfile.TemporaryDirectory() as folder:
            run_tests(shlex.split(python), args.packages, args.tests, folder, results)
    write_table(results)


def run_tests(python, packages, tests, folder, results):
    """Runs tests with an interpreter, and adds what came of them to the results."""
    if packages:
        command = [*python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, *packages]
        subprocess.run(command, check=True, cwd=ROOT)
    path = os.pathsep.join([folder, str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    options = {"cwd": ROOT, "env": environment, "text": True, "stdout": subprocess.PIPE, "check": False}
    found = subprocess.run([*python, "-c", VERSIONS], **options).stdout
    match = re.search(r"^versions: (.*)$", found, re.MULTILINE)
    if match is None:
        sys.exit(f"{shlex.join(python)} lacks one of {', '.join(PACKAGES)}: see above.")
    row = results.setdefault(match[1], {})
    for test in tests:
        done = subprocess.run([*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", test], **options)
        lines = done.stdout.splitlines()
        row[test] = summary(lines[-1] if lines else "")
        row["date"] = datetime.date.today().isoformat()
        print(match[1], test, row[test], sep="\t", flush=True)
        print(*[line for line in lines if line.startswith(("FAILED", "ERROR"))], sep="\n", flush=True)
        RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")


def summary(line):
    """Returns the numbers in the last line of pytest that matter."""
    counts = dict(reversed(pair) for pair in re.findall(r"(\d+) (passed|failed|errors?)", line))
    if not counts:
        return "did not run"
    return ", ".join(f"{int(count):,} {kind}" for kind, count in reversed(counts.items()))


def table(results):
    """Returns the results as a table in Markdown."""
    tests = [t for t in TESTS if any(t in row for row in results.values())]
    head = ["Python", "PyTorch", "NumPy", "Keras", *(f"`{t}`" for t in tests), "date"]
    lines = [" | ".join(head), " | ".join([":--"] * len(head))]
    for versions, row in sorted(results.items(), key=lambda item: [version_key(v) for v in item[0].split()]):
        cells = [*versions.split(), *(row.get(t, "not tried") for t in tests), row["date"]]
        lines.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in lines)


def version_key(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def write_table(results):
    text = PAGE.read_text()
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n\n{table(results)}\n\n{END}{after}")


if __name__ == "__main__":
    main()
