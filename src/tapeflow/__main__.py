"""Runs a TensorFlow program unchanged: `python -m tapeflow program.py --its --arguments`.

`python -m tapeflow convert` converts models for torch (see `tapeflow.torch`), and `serve` serves them (see
`tapeflow.serving`).

`import tensorflow` imports TapeFlow there, and in Python processes that it starts: these find the `tensorflow.py` in
`as_tensorflow/`. All else is as with `python program.py`: `sys.argv`, `__main__`, tracebacks and exit status.
"""

from __future__ import annotations

import os
import runpy
import sys
import types

from tapeflow import version
from tapeflow.install import install_as_tensorflow

USAGE = """usage: python -m tapeflow [--version] (PROGRAM.py | -m MODULE) [ARGUMENTS ...]
       python -m tapeflow convert MODEL --to torch|pt2|onnx [--output PATH]
       python -m tapeflow serve MODEL [--port PORT]"""


def main(arguments: list[str]) -> int:
    """Runs the program or module that the command line names, and returns the exit status."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        print(USAGE, file=sys.stdout if arguments[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if arguments[0] == "--version":
        print(f"TapeFlow {version.TAPEFLOW_VERSION}, with the API of TensorFlow {version.VERSION}")
        return 0
    if arguments[0] in ("convert", "serve") and not os.path.exists(arguments[0]):
        from tapeflow.torch import commands

        return (commands.convert_command if arguments[0] == "convert" else commands.serve_command)(arguments[1:])
    install_as_tensorflow()
    _install_in_children()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    return run_program(arguments)


def _install_in_children() -> None:
    """Lets the processes that the program starts find TapeFlow as `tensorflow`: by `sys.path`, which those that
    `multiprocessing` and joblib spawn take over before they import the program, and by the environment."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_tensorflow")
    sys.path.insert(1, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))


def run_program(arguments: list[str]) -> int:
    """Runs a file as `__main__`, and returns the exit status."""
    program = arguments[0]
    try:
        with open(program, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"python -m tapeflow: can't open file {program!r}: {error.strerror}", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    module = types.ModuleType("__main__")
    vars(module).update(__file__=program, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    try:
        exec(compile(source, program, "exec"), vars(module))
    except Exception as error:
        # Without the frame of this function, as if nothing stood between Python and the program.
        traceback = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
