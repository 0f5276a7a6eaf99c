"""Runs Keras's own tests on TapeFlow, and says how many pass of those that pass with TensorFlow.

    git clone --branch v3.15.1 https://github.com/keras-team/keras /somewhere/keras
    python scripts/keras_tests.py /somewhere/keras [--only losses metrics ...] [--workers 2]

The checkout must be of the version that is installed; nothing in it is changed. Its tests import more than Keras does:
jax, grain, pandas, scikit-learn, dm-tree. What fails is listed by cause: the exception, and the line of TapeFlow or
Keras that raised it. `--record`, with an interpreter that has TensorFlow, writes what passes there to
`keras_tests.json`, beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from typing import Any

HERE = pathlib.Path(__file__).resolve()
RECORD = HERE.with_suffix(".json")
FOLDERS = (
    "activations", "applications", "backend", "callbacks", "constraints", "datasets", "distillation", "distribution",
    "dtype_policies", "export", "initializers", "layers", "legacy", "losses", "metrics", "models", "ops",
    "optimizers", "quantizers", "random", "regularizers", "saving", "testing", "trainers", "tree", "utils",
    "wrappers",
)  # fmt: skip
# Tests of what TapeFlow does otherwise on purpose, by a part of their names.
DELIBERATELY_DIFFERENT = {
    "test_save_model_exception_raised": "a save that fails leaves the former file, not one without weights"
}


# ---- inside pytest: this file is its plugin --------------------------------------------------------------------------


if os.environ.get("KERAS_TESTS_FRAMEWORK") == "tapeflow":  # before a conftest imports anything of Keras
    import tapeflow

    tapeflow.install_as_tensorflow()


def pytest_runtest_logreport(report: Any) -> None:
    """Notes how a test went."""
    if report.when == "call" or report.outcome != "passed":
        _note(report)


def pytest_collectreport(report: Any) -> None:
    """Notes a file that could not be imported."""
    if report.outcome == "failed":
        _note(report)


def _note(report: Any) -> None:
    cause = ""
    if report.outcome == "failed":
        crash = getattr(report.longrepr, "reprcrash", None)
        text = str(crash.message if crash else report.longrepr).strip().splitlines() or [""]
        said = f"{text[0]} {text[-1].strip()}" if text[0].endswith("in user code:") else text[0]
        place = f"{crash.path.rpartition('site-packages/')[2]}:{crash.lineno}" if crash else ""
        cause = f"{said[:160]}  [{place}]"
    with open(os.environ["KERAS_TESTS_OUTCOMES"], "a") as file:
        file.write(json.dumps([report.nodeid, report.outcome, cause]) + "\n")


# ---- the runs --------------------------------------------------------------------------------------------------------


def run(checkout: pathlib.Path, folder: str, framework: str, workers: int) -> dict[str, tuple[str, str]]:
    """The outcome of every test in a folder, and the cause of a failure."""
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = os.path.join(scratch, "outcomes")
        environment = {
            **os.environ, "KERAS_BACKEND": "tensorflow", "KERAS_HOME": scratch,
            "KERAS_TESTS_OUTCOMES": outcomes, "KERAS_TESTS_FRAMEWORK": framework, "TF_CPP_MIN_LOG_LEVEL": "3",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE.parents[1] / "src"),
            os.environ.get("PYTHONPATH", "")]),
        }  # fmt: skip
        plugins = ["-p", HERE.stem, "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", *plugins, "-o", "addopts="]
        command.append("--continue-on-collection-errors")
        if workers > 1:
            command += ["-n", str(workers)]
        command.append(f"keras/src/{folder}")
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        if not os.path.exists(outcomes):
            print(f"no test ran in {folder}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}", file=sys.stderr)
            return {}
        found: dict[str, tuple[str, str]] = {}
        with open(outcomes) as file:
            for name, outcome, cause in map(json.loads, file):
                if name not in found or outcome == "failed":
                    found[name] = outcome, cause
        return found


def recorded(found: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """By file: how many tests pass, and the names of those that do not."""
    files: dict[str, Any] = defaultdict(lambda: {"passed": 0, "others": []})
    for name, (outcome, _) in sorted(found.items()):
        file, _, test = name.partition("::")
        if outcome == "passed":
            files[file]["passed"] += 1
        else:
            files[file]["others"].append(test)
    return dict(files)


def compare(folder: str, found: dict[str, tuple[str, str]], record: dict[str, Any]) -> dict[str, list[str]]:
    """Prints a folder's figure, and gives what fails here and passes with TensorFlow, by cause."""
    within = f"keras/src/{folder}"
    known = {f: r for f, r in record.items() if f == within or f.startswith(f"{within}/")}
    expected = sum(r["passed"] for r in known.values())
    passed, causes = 0, defaultdict[str, list[str]](list)
    for name, (outcome, cause) in found.items():
        file, _, test = name.partition("::")
        if known and test in known.get(file, {"others": []})["others"]:
            continue
        if outcome == "passed":
            passed += 1
        elif any(part in test for part in DELIBERATELY_DIFFERENT):
            expected -= 1
        elif outcome == "failed":
            causes[re.sub(r"0x[0-9a-f]+", "0x", cause)].append(name)
    share = f" of {expected} that pass with TensorFlow ({100 * passed / expected:.1f} %)" if expected else ""
    print(f"{folder:16} {passed:6} pass{share}", flush=True)
    return causes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("checkout", type=pathlib.Path, help="Keras's repository, at the version that is installed")
    parser.add_argument("--only", nargs="+", default=FOLDERS, metavar="FOLDER", help="folders or files of keras/src")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--causes", type=int, default=20, help="how many causes of failure to print")
    parser.add_argument("--names", action="store_true", help="name the tests that fail, below each cause")
    parser.add_argument("--record", action="store_true", help="run on the real TensorFlow, and record what passes")
    args = parser.parse_args()
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    causes = defaultdict[str, list[str]](list)
    for folder in args.only:
        found = run(args.checkout, folder, "tensorflow" if args.record else "tapeflow", args.workers)
        if args.record:
            record.update(recorded(found))
            RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n")
        for cause, names in compare(folder, found, record).items():
            causes[cause] += names
    for cause, names in sorted(causes.items(), key=lambda item: -len(item[1]))[: args.causes]:
        print(f"{len(names):6} x {cause}")
        for name in names if args.names else ():
            print(f"         {name}")


if __name__ == "__main__":
    main()
