"""`python -m tapeflow` in this process: what it returns for programs that do not exist."""

import sys

import pytest

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
