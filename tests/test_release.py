"""The versions that stand in several files agree, as `scripts/release.py` asks before it builds."""

import importlib.metadata
import io
import pathlib
import re
import runpy
import tarfile
import tomllib

import pytest

import release
import tapeflow

ROOT = pathlib.Path(__file__).parents[1]


def test_versions_agree():
    release.check_versions(None)


def test_a_tag_of_another_version_is_refused():
    with pytest.raises(SystemExit, match=r"the tag has 9\.9\.9"):
        release.check_versions("v9.9.9")


def test_the_versions_of_python_agree():
    dev = runpy.run_path(str(ROOT / "dev.py"))
    oldest, newest = dev["OLDEST"][1], dev["NEWEST"][1]
    pythons = [f"3.{minor}" for minor in range(oldest, newest + 1)]
    for folder in ("", "as_tensorflow"):
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        assert project["requires-python"] == f">={pythons[0]},<3.{newest + 1}"
    for name in ("tests", "publish"):
        workflow = (ROOT / f".github/workflows/{name}.yml").read_text()
        assert re.search(r"python: \[(.*)\]", workflow)[1] == ", ".join(f'"{p}"' for p in pythons)
    for page in ("README.md", "docs/start/install.md"):
        assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / page).read_text()


def test_the_versions_of_torch_and_keras_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, module in (("torch", "core/aten.py"), ("keras", "keras/internals.py")):
        source = (ROOT / "src/tapeflow" / module).read_text()
        oldest, newest = re.search(r'OLDEST, NEWEST = "(.*)", "(.*)"', source).groups()
        major, minor = newest.split(".")
        (wanted,) = [d for d in project["dependencies"] if re.match(rf"{name}\b", d)]
        assert wanted.startswith(f"{name}>={oldest}") and wanted.endswith(f",<{major}.{int(minor) + 1}")
        assert wanted in source


def test_the_package_index_shows_addresses_and_pythons(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_bytes((ROOT / "pyproject.toml").read_bytes())
    release.add_addresses(file, None)
    assert "urls" not in tomllib.loads(file.read_text())["project"]
    release.add_addresses(file, "Someone/tapeflow")
    project = tomllib.loads(file.read_text())["project"]
    assert project["urls"]["Documentation"] == "https://someone.github.io/tapeflow/"
    assert project["urls"]["Source"] == "https://github.com/Someone/tapeflow"
    pythons = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert f">={pythons[0]},<3.{int(pythons[-1][2:]) + 1}" == project["requires-python"]


@pytest.mark.parametrize("folder", ["", "as_tensorflow"])
def test_commands_are_functions(folder):
    tapeflow.install_as_tensorflow()
    scripts = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["scripts"]
    for name, value in scripts.items():
        assert callable(importlib.metadata.EntryPoint(name, value, "console_scripts").load())


def test_source_distributions_are_reproducible(tmp_path):
    """Files in another order, of another time, user and mode give the same archive."""
    archives = []
    for number in range(2):
        archive = tmp_path / f"{number}.tar.gz"
        with tarfile.open(archive, "w:gz") as file:
            for name in sorted(["a", "b/c", "d"], reverse=bool(number)):
                member = tarfile.TarInfo(name)
                member.mtime, member.uid, member.uname, member.mode, member.size = number, number, f"{number}", 0o640, 3
                file.addfile(member, io.BytesIO(b"abc"))
        release.rewrite(archive, 315532800)
        archives.append(archive.read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(tmp_path / "0.tar.gz") as file:
        assert [(m.name, m.mtime, m.mode) for m in file] == [(n, 315532800, 0o644) for n in ("a", "b/c", "d")]


def test_files_have_the_time_of_the_commit(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert release.commit_time() == 1700000000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert release.commit_time() >= 315532800


def test_dev_refuses_pythons_that_tapeflow_does_not_run_on(monkeypatch):
    dev = runpy.run_path(str(ROOT / "dev.py"))
    dev["check_python"]()
    monkeypatch.setattr(release.sys, "_is_gil_enabled", lambda: False, raising=False)
    with pytest.raises(SystemExit, match="needs Python's global lock"):
        dev["check_python"]()
    monkeypatch.undo()
    monkeypatch.setattr(release.sys, "version_info", (3, 10, 0, "final", 0))
    with pytest.raises(SystemExit, match=r"TapeFlow needs Python 3\.11 to 3\.15"):
        dev["check_python"]()


def test_the_wheel_holds_every_file():
    """`package-data` of pyproject.toml names all files of both packages that are no Python."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for package in ("tapeflow", "tapeflow_compat"):
        folder = ROOT / "src" / package
        named = {path for pattern in patterns[package] for path in folder.glob(pattern)}
        there = {p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
        assert not there - named
