#!/usr/bin/env python3
"""Builds what is published, and tries it as those get it who install it. Needs nothing but Python and pip.

    python3 dev.py release [--tag v0.1.0]
    python3 dev.py release --try
    .venv/bin/python scripts/release.py --freeze

`--freeze` writes the files that this version saves, with what they give, into `tests/fixtures/releases/VERSION`.
`tests/test_releases.py` has every later version load them.

In `dist` are then the source distributions and wheels of `tapeflow` and `tapeflow-as-tensorflow`. Each wheel is built
from its source distribution, which so lacks nothing. Before: the versions that stand in several files agree, and with
`--tag` the change log has the version as released. After: the metadata is valid, the wheel has all files of the package
and, in a fresh environment that has only the wheels, a program runs, and another that says `import tensorflow`.
`build/sbom.json` lists what was installed there, in CycloneDX's form. `--try` only tries the wheels that are in `dist`.

Two builds of a commit are equal, byte for byte, with the same versions of setuptools and Python: times come from
`SOURCE_DATE_EPOCH`, by default the time of the commit.
"""

import argparse
import gzip
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PROJECTS = (ROOT, ROOT / "as_tensorflow")
PROGRAMS = (
    """
import tapeflow as tf
w = tf.Variable([[0.5], [-1.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.matmul([[1.0, 2.0], [3.0, 4.0]], w) ** 2)
assert tape.gradient(loss, w).numpy().tolist() == [[-9.0], [-13.0]]
assert "MatMul" in tf.function(lambda x: tf.matmul(x, x)).get_concrete_function(tf.ones([2, 2])).source()
""",
    """
import importlib.metadata, sys
import tensorflow as tf
from tensorflow.keras import layers
import tapeflow
assert tf is tapeflow and tf.__version__ == importlib.metadata.version("tensorflow")
model = tf.keras.Sequential([tf.keras.Input([3]), layers.Dense(1)])
model.compile("sgd", "mse")
assert len(model.fit(tf.ones([8, 3]), tf.ones([8, 1]), epochs=2, verbose=0).history["loss"]) == 2
""",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag that is published, which must be that of the version")
    parser.add_argument("--torch-index", metavar="URL")
    parser.add_argument("--try", dest="only_try", action="store_true", help="try the wheels in dist, and stop")
    parser.add_argument("--freeze", action="store_true", help="write the files of this version for tests, and stop")
    args = parser.parse_args()
    if args.freeze:
        freeze()
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.only_try:
            try_wheels(folder, args.torch_index)
            return
        check_versions(args.tag)
        shutil.rmtree(DIST, ignore_errors=True)
        python = build(folder)
        check_files()
        write_sbom(python, try_wheels(folder, args.torch_index))
    print("\nBuilt and tried:", *sorted(f"  {p.name}, {p.stat().st_size:,} bytes" for p in DIST.iterdir()), sep="\n")


def check_versions(tag):
    """Exits unless all files agree on the versions, and on the tag."""
    package, stand_in = (tomllib.loads((p / "pyproject.toml").read_text())["project"]["version"] for p in PROJECTS)
    code = (ROOT / "src/tapeflow/version.py").read_text()
    changes = re.search(r"^## ([^\s,]+)(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    versions = {
        "src/tapeflow/version.py": re.search(r'^TAPEFLOW_VERSION = "(.*)"$', code, re.MULTILINE)[1],
        "CITATION.cff": re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1],
        "CHANGELOG.md": changes[1],
    } | ({"the tag": tag.removeprefix("v")} if tag else {})
    wrong = [f"{file} has {version}" for file, version in versions.items() if version != package]
    if wrong:
        sys.exit(f"pyproject.toml has the version {package}, but {', '.join(wrong)}.")
    if stand_in != re.search(r'^VERSION = "(.*?)"', code, re.MULTILINE)[1]:
        sys.exit(f"as_tensorflow/pyproject.toml has {stand_in}, which is not the version of the API.")
    if not frozen_files().exists():
        sys.exit(f"tests/fixtures/releases has no files of {package}: run scripts/release.py --freeze.")
    if tag and not re.fullmatch(r", \d{4}-\d\d-\d\d", changes[2]):
        sys.exit(f"CHANGELOG.md does not have the day on which {package} is released: it has {changes[0]!r}.")


def frozen_files():
    """Returns the folder with the files of this version."""
    return ROOT / "tests/fixtures/releases" / tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def freeze():
    """Writes the files of this version; a released version keeps its own."""
    folder = frozen_files()
    if folder.exists():
        sys.exit(f"{folder} exists already. A version that is not released yet may write it anew: delete it before.")
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests/support")]
    import release_artefacts

    release_artefacts.freeze(folder)
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    print(f"{folder}: {size:,} bytes")


def build(folder):
    """Builds both distributions into `dist`, and checks their metadata. Returns the Python with the tools."""
    python = environment(folder / "tools")
    run(python, "-m", "pip", "install", "--quiet", "build", "twine", "cyclonedx-bom")
    os.environ["SOURCE_DATE_EPOCH"] = str(commit_time())
    os.umask(0o022)  # setuptools unpacks and copies files by it
    sources = folder / "sources"  # a copy, in which nothing is left of builds before
    shutil.copytree(ROOT / "src", sources / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    stand_in = shutil.copytree(ROOT / "as_tensorflow", folder / "as_tensorflow", ignore=shutil.ignore_patterns("build"))
    for project in (sources, stand_in):
        add_addresses(project / "pyproject.toml", os.environ.get("GITHUB_REPOSITORY"))
        normalize(project)
        run(python, "-m", "build", "--outdir", DIST, project, quiet=True)
    for archive in DIST.glob("*.tar.gz"):
        rewrite(archive, commit_time())
    run(python, "-m", "twine", "check", "--strict", *DIST.iterdir())
    return python


def add_addresses(file, repository):
    """Adds the addresses of the repository that publishes to the metadata, which the package index shows.

    Args:
        file: the path of a pyproject.toml.
        repository: OWNER/NAME, or None outside of a workflow.
    """
    if repository:
        owner, name = repository.split("/")
        source = f"https://github.com/{repository}"
        urls = {
            "Documentation": f"https://{owner.lower()}.github.io/{name}/", "Source": source,
            "Issues": f"{source}/issues", "Changelog": f"{source}/blob/main/CHANGELOG.md",
        }  # fmt: skip
        lines = [f'{key} = "{address}"' for key, address in urls.items()]
        file.write_text("\n".join([file.read_text(), "[project.urls]", *lines, ""]))


def commit_time():
    """Returns the time that all files get, in seconds: that of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 315532800  # the first time that a wheel can hold: 1980


def normalize(folder):
    """Gives files the permissions that they have for everyone, whatever those of this checkout are."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def rewrite(archive, seconds):
    """Rewrites a source distribution in the order of the names, with one time and no user: setuptools has today's."""
    with tarfile.open(archive) as file:
        members = [(m, file.extractfile(m).read() if m.isfile() else None) for m in file.getmembers()]
    contents = io.BytesIO()
    with tarfile.open(fileobj=contents, mode="w", format=tarfile.PAX_FORMAT) as file:
        for member, data in sorted(members, key=lambda pair: pair[0].name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = seconds, 0, 0, "", ""
            member.mode, member.pax_headers = (0o755 if member.isdir() else 0o644), {}
            file.addfile(member, None if data is None else io.BytesIO(data))
    archive.write_bytes(gzip.compress(contents.getvalue(), mtime=seconds))


def check_files():
    """Exits if the wheel lacks a file of its two packages."""
    with zipfile.ZipFile(wheel("tapeflow")) as file:
        names = set(file.namelist())
    files = [p for package in ("tapeflow", "tapeflow_compat") for p in (ROOT / "src" / package).rglob("*")]
    there = {p.relative_to(ROOT / "src").as_posix() for p in files if p.is_file()}
    missing = sorted(p for p in there - names if "__pycache__" not in p)
    if missing:
        sys.exit(f"The wheel lacks {', '.join(missing)}: see package-data in pyproject.toml.")


def try_wheels(folder, torch_index):
    """Installs the wheels into a fresh environment, and runs programs there. Returns its Python."""
    python = environment(folder / "fresh")
    if torch_index:
        run(python, "-m", "pip", "install", "--quiet", "torch", "--index-url", torch_index)
    run(python, "-m", "pip", "install", "--quiet", wheel("tapeflow"), wheel("tapeflow_as_tensorflow"))
    start = time.monotonic()
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel("tapeflow"))
    with zipfile.ZipFile(wheel("tapeflow")) as file:
        size = sum(member.file_size for member in file.infolist())
    print(f"tapeflow alone: {size:,} bytes, installed in {time.monotonic() - start:.1f} s")
    run(python, "-m", "pip", "check")
    run(python, "-m", "tapeflow", "--version", cwd=folder)
    for command in ("tapeflow", "saved_model_cli"):
        run(pathlib.Path(python).with_name(command), "--version", cwd=folder)
    for number, text in enumerate(PROGRAMS):
        program = folder / f"program_{number}.py"
        program.write_text(text)
        run(python, program, cwd=folder)
    return python


def write_sbom(tools, fresh):
    """Writes what an environment has into `build/sbom.json`, without pip and setuptools."""
    path = ROOT / "build" / "sbom.json"
    path.parent.mkdir(exist_ok=True)
    run(fresh, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools")
    command = [tools, "-m", "cyclonedx_py", "environment", fresh, "--output-reproducible", "--of", "JSON", "-o", path]
    run(*command, "--pyproject", ROOT / "pyproject.toml", quiet=True)


def wheel(name):
    """Returns the path of a distribution's wheel."""
    return next(DIST.glob(f"{name}-*.whl"))


def environment(folder):
    """Makes a virtual environment, and returns its Python."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(*command, cwd=ROOT, quiet=False):
    """Runs a command without the variable that would show it this checkout; exits if it fails.

    Args:
        *command: the program and its arguments.
        cwd: the folder in which it runs.
        quiet: shows what it prints only if it fails.
    """
    words = [os.path.relpath(c, cwd) if isinstance(c, pathlib.Path) else c for c in command]
    print("$", *words, flush=True)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if quiet else {}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=variables, check=False, **output)
    if done.returncode:
        sys.exit(f"{done.stdout or ''}That failed: see above.")


if __name__ == "__main__":
    main()
