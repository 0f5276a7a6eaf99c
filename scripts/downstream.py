"""Runs libraries that are written for TensorFlow on TapeFlow and on TensorFlow, and writes the table of what works.

    python scripts/downstream.py /tmp/downstream                # all; the folder holds what is installed, and is kept
    python scripts/downstream.py /tmp/downstream gpflow shap    # only these
    python scripts/downstream.py /tmp/downstream --tensorflow PYTHON --page benchmarks/DOWNSTREAM.md

`downstream/<package>.py` is the quick start of a package: what its README shows, on small random data, with no network.
Lines of it say what it needs:

    # distribution: transformers==4.44.2     (what to install; else the file's name)
    # requires: tf-keras                      (what the package imports without saying so)
    # tests: tf_slim/losses tf_slim/metrics   (a sample of its own tests, which run on both sides)
    # sources: google-research/tf-slim v1.1.0   (GitHub's repository and its revision that has them; else the package)
    # helpers: tests/conftest.py              (what these tests import, beside them)
    # imports: tf_keras tf_keras.src          (what they import by one name has the other one in the built package)
    # without: test_download                  (tests that are left out, by a part of their names: they need a network)
    # environment: TENSORLY_BACKEND=tensorflow   (variables for them)

What a package requires is installed into a folder of its own by `uv`, but TensorFlow and what TapeFlow stands on.
TapeFlow runs in TensorFlow's place (`as_tensorflow/`), with the packages of the interpreter that runs this; TensorFlow
in the one named. Both import from that one folder, so that they run the same versions. Outcomes are kept there too,
but those of TensorFlow in `downstream.json`, until `--tensorflow` runs it again.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = pathlib.Path(__file__).with_suffix("")
RECORD = PROGRAMS.with_suffix(".json")
# What both sides have already, and each in its own version.
OWN = ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tf-nightly", "keras", "torch", "numpy", "protobuf")
NEWER = ("typing-extensions>=4.12", "pytest>=8")  # which old pins would take away from both sides
# What TensorFlow requires, and libraries import without saying so.
TESTING = ("pytest>=8", "hypothesis", "mock", "parameterized", "scipy")  # what tests import
# pytest, where flags have the values that they have in programs without arguments
PYTEST = "import sys, absl.flags, pytest; absl.flags.FLAGS.mark_as_parsed(); sys.exit(pytest.main(sys.argv[1:]))"
OF_TENSORFLOW = ("absl-py", "astunparse", "flatbuffers", "gast", "h5py", "requests", "six", "termcolor", "wrapt")


def environment(folder: pathlib.Path) -> str:
    """Makes the virtual environment with TapeFlow in TensorFlow's place, unless it is there; gives its interpreter."""
    python = folder / "python" / "bin" / "python"
    new = not python.exists()
    if new:
        venv.create(folder / "python", with_pip=True)
    site = next((folder / "python").glob("lib/python*/site-packages"))
    (site / "of_this_checkout.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n")
    if new:
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", ROOT / "as_tensorflow"], check=True)
        subprocess.run([*pip, "uv"], check=True)
        overrides = [f"{name}; python_version < '3'" for name in OWN] + list(NEWER)
        (folder / "overrides.txt").write_text("\n".join(overrides))
    return str(python)


def line(program: pathlib.Path, word: str) -> list[str]:
    """Returns the words of a program's line `# <word>: ...`."""
    return " ".join(re.findall(rf"^# {word}: (.+)$", program.read_text(), re.M)).split()


def install(python: str, folder: pathlib.Path, requirements: list[str]) -> str:
    """Installs what a program requires into a folder, unless it is there; returns why it can't be, or nothing."""
    stamp = folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == " ".join(requirements):
        return ""
    uv = [python, "-m", "uv", "pip", "install", "-q", "--python", python, "--target", folder]
    done = subprocess.run(
        [*uv, "--overrides", folder.parents[1] / "overrides.txt", *requirements, *OF_TENSORFLOW],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return last_line(done.stderr)
    stamp.write_text(" ".join(requirements))
    return ""


def run(python: str, folder: pathlib.Path, limit: float, *args: object, **own: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with the packages of a folder, and more variables; raises TimeoutExpired."""
    variables = {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory() as cwd:
        return subprocess.run(
            [python, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=limit,
            cwd=cwd,
            env={**os.environ, **variables, **own},
        )


def quick_start(python: str, folder: pathlib.Path, program: pathlib.Path, limit: float) -> str:
    """Runs a quick start; returns why it fails, or nothing."""
    try:
        done = run(python, folder, limit, "-P", program)
    except subprocess.TimeoutExpired:
        return f"takes more than {limit:.0f} s"
    return last_line(done.stderr) or f"exit status {done.returncode}" if done.returncode else ""


def check_out(program: pathlib.Path, folder: pathlib.Path) -> None:
    """Copies the tests of a package from its repository to their places beside it, unless they are there."""
    repository, revision = line(program, "sources")
    paths = [*line(program, "tests"), *line(program, "helpers")]
    imports = line(program, "imports")
    stamp = folder / "checked_out.txt"
    if stamp.exists() and stamp.read_text() == " ".join([repository, revision, *paths, *imports]):
        return
    branch = [] if revision == "HEAD" else ["--branch", revision]
    git = ["git", "-c", "advice.detachedHead=false"]
    with tempfile.TemporaryDirectory() as clone:
        url = f"https://github.com/{repository}"
        parts = ["--depth", "1", "--filter=blob:none", "--no-checkout"]  # files travel when they are checked out
        subprocess.run([*git, "clone", "-q", *parts, *branch, url, clone], check=True)
        subprocess.run([*git, f"--work-tree={folder}", "checkout", "-q", "HEAD", "--", *paths], cwd=clone, check=True)
    if imports:
        files = [file for path in paths for file in [folder / path, *(folder / path).rglob("*.py")] if file.is_file()]
        for file in files:
            file.write_text(re.sub(rf"\b(from|import) {imports[0]}\b", rf"\1 {imports[1]}", file.read_text()))
    stamp.write_text(" ".join([repository, revision, *paths, *imports]))


def own_tests(python: str, folder: pathlib.Path, program: pathlib.Path, limit: float) -> dict[str, object]:
    """Runs a sample of a package's own tests; returns those that pass, those that end, and whether time was enough."""
    if line(program, "sources"):
        check_out(program, folder)
    variables = dict(variable.split("=", 1) for variable in line(program, "environment"))
    variables["PYTHONPATH"] = f"{folder}{os.pathsep}{folder.parent / 'testing'}"
    arguments = ["-c", PYTEST, "-v", "--tb=no", "--import-mode=importlib", "-p", "no:cacheprovider"]
    arguments.append("--continue-on-collection-errors")
    if without := line(program, "without"):
        arguments += ["-k", f"not ({' or '.join(without)})"]
    paths, whole = [folder / path for path in line(program, "tests")], True
    try:
        output = run(python, folder, limit, *arguments, f"--rootdir={folder}", *paths, **variables).stdout
    except subprocess.TimeoutExpired as error:
        output, whole = (error.stdout or b"").decode(), False
    output = re.sub(r"0x[0-9a-f]+", "0x", output)  # the names of tests may have addresses of their arguments
    lines = re.findall(r"^(\S.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", output, re.M)
    ended = {test.rpartition(f"{folder.parent.name}/{folder.name}/")[2]: how for test, how in lines}  # wherever it ran
    return {"passed": sorted(t for t, o in ended.items() if o == "PASSED"), "ended": sorted(ended), "whole": whole}


def recorded(result: dict) -> dict[str, object]:
    """Returns what is recorded of TensorFlow's side: the quick start, and the tests that pass, by file."""
    passed: dict[str, list[str]] = {}
    for test in result.get("tests of TensorFlow", {}).get("passed", ()):
        file, _, name = test.partition("::")
        passed.setdefault(file, []).append(name)
    return {"quick start": result["TensorFlow"], "passed": passed}


def counts_of_tests(here: dict, there: dict) -> tuple[int, int]:
    """Returns how many tests pass on TapeFlow, of those that pass on TensorFlow and that had the time to run here."""
    tests = here.get("tests of TapeFlow", {"passed": [], "ended": [], "whole": True})
    asked = {f"{file}::{name}" for file, names in there.get("passed", {}).items() for name in names}
    if not tests["whole"]:
        asked &= {*tests["ended"]}
    return len(asked & {*tests["passed"]}), len(asked)


def last_line(text: str) -> str:
    """Returns the last line that is not empty, which says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt|Exit)\b", line)]
    return (named or lines or [""])[-1]


def outcome(name: str, folder: pathlib.Path, sides: dict[str, str], limit: float) -> dict[str, object]:
    """Installs a package and runs its quick start and tests on each side."""
    program, packages = PROGRAMS / f"{name}.py", folder / "packages" / name
    own, tests = line(program, "distribution") or [name], line(program, "tests")
    python = sides["TapeFlow"]
    if why := install(python, packages, [*own, *line(program, "requires")]):
        return {"version": "", "uninstallable": why}
    distribution = re.split(r"[=<>~\[]", own[0])[0]
    version = run(python, packages, 60, "-c", f"import importlib.metadata as m; print(m.version({distribution!r}))")
    result: dict[str, object] = {"version": version.stdout.strip()}
    for side, interpreter in sides.items():
        result[side] = quick_start(interpreter, packages, program, limit)
        if tests:
            result[f"tests of {side}"] = own_tests(interpreter, packages, program, limit)
    return result


def row(name: str, here: dict, there: dict) -> str:
    """Returns a package's row of the table, of its outcomes on TapeFlow and of those recorded on TensorFlow."""
    if "uninstallable" in here:
        return f"| {name} | | can't be installed | | | {shortened(here['uninstallable'])} |"
    words = {None: "", "": "works"}
    theirs, ours = there.get("quick start"), here.get("TapeFlow")
    passing, asked = counts_of_tests(here, there)
    tests = f"{passing} of {asked}" if asked else ""
    cause = ours or (f"TensorFlow: {theirs}" if theirs else "")
    outcomes = f"{words.get(theirs, 'fails')} | {words.get(ours, 'fails')}"
    return f"| {name} | {here['version']} | {outcomes} | {tests} | {shortened(cause)} |"


def shortened(cause: str) -> str:
    """Returns a cause as a cell of the table, without paths of this machine."""
    cause = re.sub(r"(/[\w.@+-]+){2,}/", "", cause).replace("|", "\\|")
    return cause if len(cause) <= 160 else f"{cause[:157]}..."


HEADER = "| package | version | TensorFlow | TapeFlow | own tests | cause |\n| :-- | :-- | :-- | :-- | --: | :-- |"


def page(results: dict[str, dict], record: dict[str, dict]) -> str:
    """Returns the page with the table of all outcomes."""
    there = {name: record.get(name, {}) for name in results}
    working = [name for name in results if there[name].get("quick start") == ""]
    both = [name for name in working if results[name].get("TapeFlow") == ""]
    tests = [pair for name in results if (pair := counts_of_tests(results[name], there[name]))[1]]
    passing, asked = map(sum, zip(*tests, strict=True)) if tests else (0, 0)
    rows = "\n".join(row(name, results[name], there[name]) for name in sorted(results))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    return f"""# Libraries written for TensorFlow

Of {len(results)} packages tried, the quick starts of {len(working)} work with TensorFlow 2.21, and {len(both)} of
those on TapeFlow ({datetime.date.today()}, commit {commit.strip()}, Python {sys.version.split()[0]}). Each is a
small program of ours that uses the package as its README does ([scripts/downstream](../scripts/downstream)), on
random data. "Own tests" are samples of the packages' tests (the programs say which), and count those that pass with
TensorFlow ([recorded](../scripts/downstream.json)): {passing} of {asked} pass here, in {len(tests)} packages. The same
again: `python scripts/downstream.py FOLDER --page FILE`, and with `--tensorflow PYTHON` both sides.

{HEADER}
{rows}
"""


def main() -> int:
    """Prints the table as it grows; returns how many work on TensorFlow and not on TapeFlow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="for what is installed, and outcomes")
    parser.add_argument("packages", nargs="*", help="only these")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="that has TensorFlow; nothing is installed there")
    parser.add_argument("--page", type=pathlib.Path, help="where to write all outcomes in the folder, as a page")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one quick start")
    args = parser.parse_intermixed_args()
    folder = args.folder.resolve()
    (folder / "packages").mkdir(parents=True, exist_ok=True)
    sides = {"TapeFlow": environment(folder)}
    install(sides["TapeFlow"], folder / "packages" / "testing", list(TESTING))
    if args.tensorflow:
        sides["TensorFlow"] = args.tensorflow

    print(HEADER)
    worse, record = 0, json.loads(RECORD.read_text()) if RECORD.exists() else {}
    names = sorted(p.stem for p in PROGRAMS.glob("*.py"))
    files = {name: folder / "packages" / f"{name}.json" for name in names}
    for name in args.packages or names:
        result = outcome(name, folder, sides, args.limit)
        files[name].write_text(json.dumps(result))
        if "TensorFlow" in result:
            record[name] = recorded(result)
            RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n")
        there = record.get(name, {})
        worse += bool(result.get("TapeFlow")) and there.get("quick start") == ""
        print(row(name, result, there), flush=True)
    if args.page:
        results = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
        _, section, rest = args.page.read_text().partition("\n## ") if args.page.exists() else ("", "", "")
        args.page.write_text(page(results, record) + section + rest)  # sections behind the table are kept
    return worse


if __name__ == "__main__":
    sys.exit(main())
