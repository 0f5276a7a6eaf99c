"""`python -m tapeflow` in this process: its commands, and the programs that it runs or does not find."""

import io
import os
import py_compile
import sys
import zipfile
from importlib.machinery import SourceFileLoader, SourcelessFileLoader

import pytest

import tapeflow as tf
from tapeflow import __main__ as command_line
from tapeflow import version
from tapeflow.__main__ import run_program


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nothing.py"], 2, "can't open file"),
        (["."], 1, "can't find '__main__' module"),
        (["-m", "nothing"], 1, "No module named nothing"),
        (["-m", "nothing.inside"], 1, "Error while finding module specification for 'nothing.inside'"),
        (["-m", "json.tool.py"], 1, "Try using 'json.tool' instead of 'json.tool.py'"),
        (["-m", "importlib"], 1, "'importlib' is a package and cannot be directly executed"),
        (["-c", "pass"], 0, ""),
    ],
)
def test_status(arguments, status, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, kept in (("argv", [*sys.argv]), ("path", [*sys.path])):
        monkeypatch.setattr(sys, name, kept)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    assert run_program(arguments) == status
    assert message in capsys.readouterr().err


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A folder to run programs in. What they change of `sys` and of the environment is put back."""
    monkeypatch.chdir(tmp_path)
    for name in ("argv", "path"):
        monkeypatch.setattr(sys, name, [*getattr(sys, name)])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setenv("PYTHONPATH", "kept")
    return tmp_path


SHOW = "import sys; print(__name__, __file__, sys.argv, sys.path[0], __package__, __spec__ and __spec__.name)"


def test_a_file_runs(program, capsys):
    (program / "a.py").write_text(
        "from __future__ import annotations\nimport sys\nprint(__name__, __file__, sys.argv)\n"
    )
    assert run_program(["a.py", "x", "-y"]) == 0
    assert capsys.readouterr().out == f"__main__ {program}/a.py ['a.py', 'x', '-y']\n"
    assert sys.path[0] == str(program)
    assert type(sys.modules["__main__"].__loader__) is SourceFileLoader
    assert sys.modules["__main__"].__cached__ is None


def test_compiled_files_run(program, capsys):
    (program / "a.py").write_text("print('compiled', __file__)")
    py_compile.compile(str(program / "a.py"), cfile=str(program / "b.pyc"))
    (program / "a.py").unlink()
    assert run_program(["b.pyc"]) == 0
    assert capsys.readouterr().out == f"compiled {program}/b.pyc\n"
    assert type(sys.modules["__main__"].__loader__) is SourcelessFileLoader


def test_folders_and_zip_files_run(program, capsys):
    (program / "folder").mkdir()
    (program / "folder" / "__main__.py").write_text(SHOW)
    with zipfile.ZipFile(program / "a.zip", "w") as archive:
        archive.writestr("__main__.py", SHOW)
    for name, inside in (("folder", "folder/__main__.py"), ("a.zip", "a.zip/__main__.py")):
        assert run_program([name, "x"]) == 0
        expected = f"__main__ {program}/{inside} [{name!r}, 'x'] {program}/{name}  __main__\n"
        assert capsys.readouterr().out == expected


def test_modules_and_packages_run(program, capsys):
    (program / "own_module.py").write_text(SHOW)
    (program / "own_package").mkdir()
    (program / "own_package" / "__init__.py").write_text("import sys; print(sys.argv)")
    (program / "own_package" / "__main__.py").write_text(SHOW)
    sys.path[0] = str(program)
    assert run_program(["-m", "own_module", "x"]) == 0
    path = f"{program}/own_module.py"
    assert capsys.readouterr().out == f"__main__ {path} ['{path}', 'x'] {program}  own_module\n"
    assert run_program(["-m", "own_package", "y"]) == 0
    path = f"{program}/own_package/__main__.py"
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["['-m', 'y']", f"__main__ {path} ['{path}', 'y'] {program} own_package own_package.__main__"]
    assert run_program(["-m", "own_package.__main__"]) == 0
    capsys.readouterr()
    assert run_program(["-m", "own_module.inside"]) == 1
    assert "Error while finding module specification for 'own_module.inside'" in capsys.readouterr().err
    for name in ("own_package", "own_package.__main__"):
        sys.modules.pop(name, None)


def test_text_runs(program, capsys, monkeypatch):
    assert (
        run_program(["-c", "import sys; print(__name__, sys.argv, repr(sys.path[0]), '__file__' in vars())", "x"]) == 0
    )
    assert capsys.readouterr().out == "__main__ ['-c', 'x'] '' False\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"import sys; print(__file__, sys.argv)")))
    assert run_program(["-", "y"]) == 0
    assert capsys.readouterr().out == "<stdin> ['-', 'y']\n"


def test_modules_without_code(program, capsys):
    assert run_program(["-m", "sys"]) == 1
    assert "tapeflow: No code object available for sys" in capsys.readouterr().err
    assert run_program(["-m", ".json"]) == 1
    assert "Relative module names not supported" in capsys.readouterr().err
    assert run_program(["-m", "__main__"]) == 1
    assert "Error while finding module specification for '__main__' (ValueError:" in capsys.readouterr().err


def test_errors_of_programs_show_the_program_alone(program):
    (program / "a.py").write_text("def fail():\n    return 1 / 0\n\nfail()\n")
    shown = []
    sys.excepthook = lambda kind, error, traceback: shown.append((kind, error, traceback))
    with pytest.raises(ZeroDivisionError) as caught:
        run_program(["a.py"])
    sys.excepthook(caught.type, caught.value, caught.tb)
    kind, error, traceback = shown[0]
    assert (kind, error) == (ZeroDivisionError, caught.value)
    names = []
    while traceback is not None:
        names.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    assert names == [(f"{program}/a.py", 4), (f"{program}/a.py", 2)]
    with pytest.raises(SyntaxError):
        run_program(["-c", "1 +"])
    with pytest.raises(SystemExit):
        run_program(["-c", "import sys; sys.exit(5)"])


def test_a_missing_package_of_a_package_is_an_error_of_the_program(program):
    (program / "own_broken").mkdir()
    (program / "own_broken" / "__init__.py").write_text("import no_such_package_anywhere")
    (program / "own_broken" / "inside.py").write_text("")
    sys.path[0] = str(program)
    with pytest.raises(ModuleNotFoundError, match="no_such_package_anywhere"):
        run_program(["-m", "own_broken.inside"])


@pytest.mark.parametrize(("arguments", "status"), [
    ([], 2), (["-m"], 2), (["-c"], 2), (["-h"], 0), (["--help"], 0), (["-h", "x"], 0),
])  # fmt: skip
def test_usage(arguments, status, program, capsys):
    assert command_line.main(arguments) == status
    shown = capsys.readouterr()
    assert "tapeflow serve MODEL" in (shown.err if status else shown.out)
    assert not (shown.out if status else shown.err)


def test_versions(program, capsys):
    assert command_line.main(["--version"]) == 0
    shown = capsys.readouterr().out
    assert shown == f"TapeFlow {version.TAPEFLOW_VERSION}, with the API of TensorFlow {tf.__version__}\n"


def test_programs_and_commands(program, capsys, monkeypatch):
    installed = []
    monkeypatch.setattr(command_line, "install_as_tensorflow", lambda: installed.append(True))
    (program / "a.py").write_text("import os, sys; print(sys.argv, os.environ['PYTHONPATH'])")
    folder = os.path.join(os.path.dirname(command_line.__file__), "as_tensorflow")
    for arguments in (["a.py", "x"], ["run", "a.py", "x"]):
        monkeypatch.setenv("PYTHONPATH", "kept")
        assert command_line.main(arguments) == 0
        assert capsys.readouterr().out == f"['a.py', 'x'] {folder}{os.pathsep}kept\n"
        assert sys.path[1] == folder
    monkeypatch.delenv("PYTHONPATH")
    assert command_line.main(["-c", "import os; print(os.environ['PYTHONPATH'])"]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    assert installed == [True] * 3
    (program / "run").write_text("print('a file of the name run')")
    assert command_line.main(["run", "a.py"]) == 0
    assert capsys.readouterr().out == "a file of the name run\n"
    (program / "serve").write_text("print('a file of the name serve')")
    assert command_line.main(["serve"]) == 0
    assert capsys.readouterr().out == "a file of the name serve\n"
    (program / "serve").unlink()
    monkeypatch.setattr("tapeflow.serving.command.serve_command", lambda arguments: len(arguments) + 40)
    assert command_line.main(["serve", "x", "y"]) == 42
    monkeypatch.setattr(sys, "argv", ["tapeflow", "serve", "x"])
    with pytest.raises(SystemExit) as ended:
        command_line.run_command_line()
    assert ended.value.code == 41
