"""Runs libraries that are written for TensorFlow on TapeFlow, and prints a table of what works, and why the rest fails.

    python scripts/downstream.py /tmp/downstream                # all; the folder holds the environment, and is kept
    python scripts/downstream.py /tmp/downstream gpflow shap    # only these

`downstream/<package>.py` is the quick start of a package. The environment has TapeFlow in TensorFlow's place
(`as_tensorflow/`), the packages of the interpreter that runs this, and what each library requires but TensorFlow.
A line of a program, `# requires: name`, names what its library imports without saying so.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import sysconfig
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = pathlib.Path(__file__).with_suffix("")
# What TapeFlow stands in for, and what must be as TapeFlow has it.
NEVER = re.compile(
    r"tensorflow(-cpu|-gpu|-intel|-macos|-estimator|-io.*)?|tf-(nightly|estimator).*|keras|torch|numpy|protobuf"
)
# What TensorFlow requires, and libraries import without saying so.
OF_TENSORFLOW = ("astunparse", "flatbuffers", "gast", "requests", "six", "termcolor", "wrapt")

# Run in the environment: the requirements of a distribution that hold here and are not installed.
REQUIRED = """
import importlib.metadata as metadata, sys
from packaging.requirements import Requirement
for text in metadata.requires(sys.argv[1]) or ():
    requirement = Requirement(text)
    if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
        try:
            metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            print(requirement.name)
"""


def environment(folder: pathlib.Path) -> str:
    """Makes the virtual environment, unless it is there; gives its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        site = next(folder.glob("lib/python*/site-packages"))
        (site / "of_this_checkout.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n")
        pip(str(python), "--no-deps", str(ROOT / "as_tensorflow"))
        pip(str(python), *OF_TENSORFLOW)
    return str(python)


def pip(python: str, *args: str) -> None:
    """Installs with the environment's pip; raises CalledProcessError."""
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *args]
    subprocess.run(command, check=True, capture_output=True, text=True)


def install(python: str, name: str) -> None:
    """Installs a distribution and what it requires, but for TensorFlow."""
    pip(python, "--no-deps", name)
    listed = subprocess.run([python, "-c", REQUIRED, name], capture_output=True, text=True, check=True).stdout
    for required in listed.split():
        if not NEVER.fullmatch(required.lower()):
            install(python, required)


def outcome(python: str, name: str, limit: float) -> tuple[str, str, str]:
    """Installs a library and runs its quick start; gives its version, whether it works, and the cause if not."""
    program = PROGRAMS / f"{name}.py"
    try:
        for distribution in [name, *re.findall(r"^# requires: (\S+)$", program.read_text(), re.M)]:
            install(python, distribution)
    except subprocess.CalledProcessError as error:
        return "", "can't be installed", last_line(error.stderr)
    version = subprocess.run(
        [python, "-c", f"import importlib.metadata as m; print(m.version({name!r}))"], capture_output=True, text=True
    ).stdout.strip()
    try:
        done = subprocess.run([python, "-P", program], capture_output=True, text=True, timeout=limit, cwd=python[:-10])
    except subprocess.TimeoutExpired:
        return version, "fails", f"takes more than {limit:.0f} s"
    return (version, "works", "") if done.returncode == 0 else (version, "fails", last_line(done.stderr))


def last_line(text: str) -> str:
    """The last line that is not empty, which says what went wrong."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def main() -> int:
    """Prints the table; returns how many do not work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="of the virtual environment")
    parser.add_argument("packages", nargs="*", help="only these")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one quick start")
    args = parser.parse_args()
    python = environment(args.folder.resolve())
    failed = 0
    print("| package | version | quick start | cause |\n| :-- | :-- | :-- | :-- |")
    for name in args.packages or sorted(p.stem for p in PROGRAMS.glob("*.py")):
        version, result, cause = outcome(python, name, args.limit)
        failed += result != "works"
        print(f"| {name} | {version} | {result} | {cause[:200]} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
