"""`tf_upgrade_v2` on files and folders."""

import json

import pytest

from tapeflow_compat.tensorflow_python.upgrade import command
from tapeflow_compat.tensorflow_python.upgrade.programs import upgrade_text

OLD, NEW = "import tensorflow as tf\ntf.log(x)\n", "import tensorflow as tf\ntf.math.log(x)\n"


@pytest.fixture
def run(monkeypatch, tmp_path):
    def run(*arguments):
        flags = ["tf_upgrade_v2", "--reportfile", str(tmp_path / "report.txt"), *map(str, arguments)]
        monkeypatch.setattr("sys.argv", flags)
        with pytest.raises(SystemExit) as exit:
            command.main()
        return exit.value.code

    return run


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "old.py"
    path.write_text(OLD)
    return path


def test_without_files_it_prints_its_help(run, capsys):
    assert run() == 0
    assert capsys.readouterr().out.startswith("usage: tf_upgrade_v2")


def test_one_file(run, program, tmp_path, capsys):
    assert run("--infile", program, "--outfile", tmp_path / "sub" / "new.py") == 0
    assert (tmp_path / "sub" / "new.py").read_text() == NEW and program.read_text() == OLD
    printed = capsys.readouterr().out
    assert "Converted 1 files\nDetected 0 issues that require attention\n" in printed and "Renamed" not in printed
    assert "2:0: INFO: Renamed 'tf.log' to 'tf.math.log'" in (tmp_path / "report.txt").read_text()
    assert run("--infile", program, "--inplace", "--print_all") == 0
    assert program.read_text() == NEW
    assert "2:0: INFO: Renamed 'tf.log' to 'tf.math.log'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--mode", "SAFETY"], "import tensorflow.compat.v1 as tf\ntf.log(x)\n"),
        (["--mode", "DEFAULT"], NEW),
        (["--no_import_rename"], NEW),
    ],
)
def test_modes(run, program, flags, expected):
    assert run("--infile", program, "--inplace", *flags) == 0
    assert program.read_text() == expected


@pytest.mark.parametrize("keep", [True, False])
def test_programs_of_compat_v1(run, program, keep):
    text = OLD.replace("tensorflow", "tensorflow.compat.v1")
    program.write_text(text)
    assert run("--infile", program, "--inplace", *(["--no_upgrade_compat_v1_import"] if keep else [])) == 0
    assert program.read_text() == (text if keep else NEW)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--infile", "PROGRAM"], "ValueError: --outfile or --inplace is required."),
        (["--infile", "PROGRAM", "--outfile", "x", "--inplace"], "ValueError: --outfile is invalid with --inplace."),
        (["--intree", "FOLDER"], "ValueError: --outtree or --inplace is required."),
        (["--intree", "FOLDER", "--outtree", "x", "--inplace"], "ValueError: --outtree is invalid with --inplace."),
        (["--intree", "FOLDER", "--outtree", "FOLDER/sub"], "must not already exist."),
        (["--intree", "FOLDER/nothing", "--inplace"], "FileNotFoundError: there is no folder "),
        (["--infile", "FOLDER/data.txt", "--inplace"], "data.txt is neither a .py nor an .ipynb file."),
    ],
)
def test_files_and_folders_that_are_refused(run, program, tmp_path, flags, message, capsys):
    (tmp_path / "sub").mkdir()
    (tmp_path / "data.txt").write_text("x")
    assert run(*(f.replace("PROGRAM", str(program)).replace("FOLDER", str(tmp_path)) for f in flags)) == 1
    assert message in capsys.readouterr().err and program.read_text() == OLD


def test_folders(run, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "a").mkdir(parents=True)
    (old / "p.py").write_text(OLD)
    (old / "a" / "q.py").write_text(OLD)
    (old / "a" / "data.txt").write_text("data")
    assert run("--intree", old, "--outtree", new) == 0
    found = {str(p.relative_to(new)): p.read_text() for p in new.rglob("*") if p.is_file()}
    assert found == {"p.py": NEW, "a/q.py": NEW, "a/data.txt": "data"}
    assert run("--intree", old, "--outtree", tmp_path / "other", "--copyotherfiles", "") == 0
    assert not (tmp_path / "other" / "a" / "data.txt").exists() and (tmp_path / "other" / "a" / "q.py").exists()
    assert run("--intree", old, "--inplace") == 0
    assert (old / "a" / "q.py").read_text() == NEW


def test_cells_of_notebooks():
    cells = [
        {"cell_type": "code", "source": "import tensorflow as tf\n"}, {"cell_type": "markdown", "source": ["tf.log"]},
        {"cell_type": "code", "source": ["%time tf.log(x)\n", "if a:\n", "    !ls\n", "y = tf.log(x)"]},
    ]  # fmt: skip
    new, entries = command.upgrade_notebook(json.dumps({"cells": cells, "nbformat": 4, "ä": "ö"}), upgrade_text)
    found = json.loads(new)
    assert found["nbformat"] == 4 and new.endswith("\n") and "ö" in new
    assert [cell["source"] for cell in found["cells"]] == [
        "import tensorflow as tf\n", ["tf.log"], ["%time tf.log(x)\n", "if a:\n", "    !ls\n", "y = tf.math.log(x)"],
    ]  # fmt: skip
    assert [entry.level for entry in entries] == ["INFO"]
    with pytest.raises(ValueError, match=r"Expecting value"):
        command.upgrade_notebook("no notebook", upgrade_text)


def test_programs_that_python_can_not_read_stay(run, program, tmp_path, capsys):
    program.write_text("x = 1\nprint 'x'\n")
    assert run("--infile", program, "--inplace") == 0
    assert program.read_text() == "x = 1\nprint 'x'\n"
    assert "old.py:2:0: ERROR: Python 3 can't parse it, and it was not changed" in capsys.readouterr().out
