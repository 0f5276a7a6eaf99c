#!/usr/bin/env python3
"""TapeFlow from a fresh clone, with nothing but Python and pip.

    python3 dev.py mnist [options]     train the MNIST example; `dev.py mnist --help` shows its options
    python3 dev.py test [options]      lint, type check and test; options go to pytest
    python3 dev.py test FILE           of a file of src: lint, type check, and a minute of what can fail if FILE breaks
    python3 dev.py docs [options]      build the documentation into site; options go to Sphinx
    python3 dev.py notebooks [folder]  write the tutorial as notebooks, by default into notebooks
    python3 dev.py bench [options]     compare with TensorFlow in ten minutes; options go to benchmarks/run.py
    python3 dev.py release [options]   build what is published into dist, and try it in an environment of its own

The first run makes .venv and installs TapeFlow and what it needs there; the next ones start at once. `bench` makes
.venv-tensorflow too, with TensorFlow, and writes build/bench.html; `--python tensorflow=PATH` takes another one.

PyTorch comes from wherever pip is set up to look. On Linux that may be the build for NVIDIA GPUs, which is some
gigabytes; `python3 dev.py --torch-index URL mnist`, or the variable TAPEFLOW_TORCH_INDEX, takes it from another package
index, such as PyTorch's own for the CPU (its address is on PyTorch's page "Get started").
"""

import argparse
import contextlib
import hashlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent
VENV, VENV_OF_TENSORFLOW = ROOT / ".venv", ROOT / ".venv-tensorflow"
OLDEST, NEWEST = (3, 11), (3, 15)
TORCH = "torch==2.13.0" if sys.version_info < (3, 15) else "torch==2.15.0"  # the first one for Python 3.15
TENSORFLOW = "tensorflow==2.21.*"


def python_of(folder):
    """The Python of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


PYTHON = python_of(VENV)


def main():
    check_python()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-index", metavar="URL", default=os.environ.get("TAPEFLOW_TORCH_INDEX"))
    parser.add_argument("command", choices=["mnist", "test", "docs", "notebooks", "bench", "release"])
    parser.add_argument("options", nargs=argparse.REMAINDER)
    args = parser.parse_args()

    if args.command == "release":  # which has environments of its own
        index = ["--torch-index", args.torch_index] if args.torch_index else []
        return run([sys.executable, ROOT / "scripts" / "release.py", *index, *args.options])
    install(args.torch_index)
    if args.command == "mnist":
        return run([PYTHON, ROOT / "examples" / "mnist.py", *args.options], cwd=None)
    if args.command == "notebooks":
        return run([PYTHON, ROOT / "docs" / "_ext" / "notebooks.py", *(args.options or [ROOT / "notebooks"])], cwd=None)
    if args.command == "bench":
        return bench(args.options)
    return docs(args.options) if args.command == "docs" else test(args.options)


def check_python():
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        wanted = "{}.{} to {}.{}".format(*OLDEST, *NEWEST)
        sys.exit(f"TapeFlow needs Python {wanted}; this is {sys.version.split()[0]}. Run dev.py with another python3.")
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        sys.exit("TapeFlow needs Python's global lock, and this Python runs without: run dev.py with another python3.")


def install(torch_index):
    """Makes .venv and installs into it, unless what is there came of the same pyproject.toml and Python."""
    made_of = (ROOT / "pyproject.toml").read_bytes() + f"{sys.version_info[:2]} {TORCH}".encode()
    with environment(VENV, made_of) as python:
        if python is None:
            return
        if run([python, "-c", "import sys, importlib.util as u; sys.exit(not u.find_spec('torch'))"]):
            index = ["--index-url", torch_index] if torch_index else []
            must([*pip(python), *index, TORCH], f"install {TORCH}")
        must([*pip(python), "--editable", f"{ROOT}[dev,docs,examples]"], "install TapeFlow")


@contextlib.contextmanager
def environment(folder, made_of):
    """Makes an environment, and has the block install into it. Gives its Python, or None if it is installed already.

    Args:
        folder: its folder.
        made_of: bytes; after the same ones, nothing is made.
    """
    python, stamp, digest = python_of(folder), folder / "tapeflow-installed", hashlib.sha256(made_of).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == digest:
        yield None
        return
    print(f"Installing into {folder}. Only the first run does this.", flush=True)
    stamp.unlink(missing_ok=True)  # an install that breaks off is begun again
    must([sys.executable, "-m", "venv", folder], f"make {folder} (Debian and Ubuntu need python3-venv for it)")
    yield python
    stamp.write_text(digest)


def pip(python):
    return [python, "-m", "pip", "install", "--disable-pip-version-check"]


def test(options):
    """Runs all three even if one fails, the tests last, so that their summary ends the output."""
    checks = [run([PYTHON, "-m", "ruff", "check", "."]), run([PYTHON, "-m", "mypy"])]
    options = [o for option in options for o in ([f"--of={option}"] if is_source(option) else [option])]
    one_thread = {"OMP_NUM_THREADS": "1"}  # the two test processes would otherwise fight for the cores
    checks.append(run([PYTHON, "-m", "pytest", "-n", "2", *options], **one_thread))
    return next((status for status in checks if status), 0)


def is_source(option):
    """Returns True for a file of src."""
    path = pathlib.Path(option).resolve()
    return path.suffix == ".py" and path.is_relative_to(ROOT / "src")


def docs(options):
    """Builds the site anew, with every program on its pages run; what is wrong is told at the end, and fails."""
    strict = ["-W", "--keep-going", "-E", "-q", "-d", ROOT / "build" / "doctrees"]
    return run([PYTHON, "-m", "sphinx", *strict, *options, ROOT / "docs", ROOT / "site"])


def bench(options):
    """Runs forty benchmarks under TapeFlow and TensorFlow in turn, and writes a page."""
    if any(option.startswith("tensorflow=") for option in options):
        python = []
    else:
        with environment(VENV_OF_TENSORFLOW, f"{sys.version_info[:2]} {TENSORFLOW}".encode()) as tensorflow:
            if tensorflow is not None:
                must([*pip(tensorflow), TENSORFLOW], f"install {TENSORFLOW}")
        python = ["--python", f"tensorflow={python_of(VENV_OF_TENSORFLOW)}"]
    page = ROOT / "build" / "bench.html"
    page.parent.mkdir(exist_ok=True)
    given = ["--core", "--rounds", "15", "--page", page, *python]
    status = run([PYTHON, ROOT / "benchmarks" / "run.py", *given, *options], cwd=None)
    if not status and "--page" not in options:
        print(f"The page: {page}")
    return status


def run(command, cwd=ROOT, **variables):
    try:
        return subprocess.run(command, cwd=cwd, env={**os.environ, **variables}, check=False).returncode
    except KeyboardInterrupt:  # the child has had it too, and has said what there is to say
        return 130


def must(command, what):
    if run(command):
        sys.exit(f"Could not {what}: see above.")


if __name__ == "__main__":
    sys.exit(main())
