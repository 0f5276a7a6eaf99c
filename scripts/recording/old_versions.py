"""Writes the artefacts of old TensorFlow versions in tests/fixtures/old_versions, each by its own version.

    record.py old_versions write --subject graphs [--only NAME ...] [--versions 1.15.5 ...] [--out FOLDER]
    record.py old_versions check --tensorflow PYTHON [--out FOLDER]

A subject is a file `scripts/old_versions/<subject>.py`: a program that old versions run. Its commands are `write FOLDER
[NAME ...]`, which writes each artefact into a folder of its name, with inputs, outputs, and what three training steps
give, and `check FOLDER`, which loads each in every way and writes what happened to `loads.json`. It says in `VERSIONS`
which versions write it, and `FIXTURES` names the artefacts that the repository keeps.

`write` makes an environment for each version (in `--environments`), with the interpreter that the version needs: Python
3.7 to 3.11, found as `python3.x` on the path or among pyenv's versions. `check` has an interpreter with TensorFlow 2.21
load all that was written.
"""

import argparse
import ast
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBJECTS = ROOT / "scripts" / "old_versions"
HOME = ROOT / "tests" / "fixtures" / "old_versions"
# By the version of TensorFlow: the version of Python, and the packages that it needs beside it.
NEEDS = {
    "1.15.5": ("3.7", ["numpy==1.18.5", "protobuf==3.20.3", "h5py==2.10.0"]),
    "2.0.4": ("3.7", ["numpy==1.18.5", "protobuf==3.20.3", "h5py==2.10.0"]),
    "2.3.4": ("3.8", ["numpy==1.18.5", "protobuf==3.20.3", "h5py==2.10.0"]),
    "2.4.4": ("3.8", ["numpy==1.19.5", "protobuf==3.20.3", "h5py==2.10.0"]),
    "2.8.4": ("3.9", ["numpy==1.23.5", "protobuf==3.19.6"]),
    "2.11.1": ("3.10", ["numpy==1.23.5", "protobuf==3.19.6"]),
    "2.13.1": ("3.11", ["numpy==1.24.3", "protobuf==4.25.8"]),
    "2.15.1": ("3.11", ["numpy==1.26.4", "protobuf==4.25.8"]),
    "2.16.2": ("3.11", ["numpy==1.26.4"]),
    "2.18.1": ("3.11", ["numpy==2.0.2"]),
}


def constants(subject):
    """Returns the constants of a subject's file, which can't be imported without an old TensorFlow."""
    tree = ast.parse((SUBJECTS / f"{subject}.py").read_text())
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("VERSIONS", "FIXTURES")
    }


def interpreter(version):
    """Returns the interpreter of a version of Python."""
    found = shutil.which(f"python{version}")
    pyenv = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if found is None and not pyenv:
        sys.exit(f"There is no python{version} on the path and none among pyenv's versions.")
    return str(pyenv[-1]) if pyenv else found


def environment(version, folder):
    """Returns the interpreter of an environment with a version of TensorFlow, which it makes if there is none."""
    python = folder / f"tensorflow-{version}" / "bin" / "python"
    if not python.exists():
        python_version, packages = NEEDS[version]
        subprocess.run([interpreter(python_version), "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"tensorflow=={version}", *packages], check=True)
    return python


def write(subjects, only, versions, out, environments):
    for subject in subjects:
        known = constants(subject)
        for version in versions or known["VERSIONS"]:
            home = out / version / subject
            names = only or known["FIXTURES"].get(version, [])
            for name in names:
                shutil.rmtree(home / name, ignore_errors=True)
            python = environment(version, environments)
            subprocess.run([python, SUBJECTS / f"{subject}.py", "write", home, *names], check=True)


def check(subjects, tensorflow, out):
    for subject in subjects:
        for home in sorted(out.glob(f"*/{subject}")):
            subprocess.run([tensorflow, SUBJECTS / f"{subject}.py", "check", home], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["write", "check"])
    parser.add_argument("--subject", action="append", help="by default all")
    parser.add_argument("--only", nargs="*", default=[], help="names of artefacts; by default those of the repository")
    parser.add_argument("--versions", nargs="*", default=[], choices=list(NEEDS))
    parser.add_argument("--out", type=pathlib.Path, default=HOME)
    parser.add_argument(
        "--environments", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "old_tensorflow"
    )
    parser.add_argument("--tensorflow", help="an interpreter with TensorFlow 2.21")
    given = parser.parse_args()
    subjects = given.subject or sorted(p.stem for p in SUBJECTS.glob("*.py"))
    if given.command == "write":
        write(subjects, given.only, given.versions, given.out.resolve(), given.environments.resolve())
    else:
        check(subjects, given.tensorflow, given.out.resolve())
