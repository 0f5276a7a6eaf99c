"""Runs a TensorFlow program unchanged: `python -m tapeflow program.py --its --arguments`.

`python -m tapeflow convert` converts models for torch (see `tapeflow.torch`) and for phones (see `tapeflow.lite`),
`serve` serves them (see `tapeflow.serving`), `show` prints what is in them, and `run` comes before the name of a
program that is one of these words. The command `tapeflow` is the same.

`import tensorflow` imports TapeFlow there, and in Python processes that it starts: these find the `tensorflow.py` in
`as_tensorflow/`. All else is as with `python program.py`: `sys.argv`, `__main__`, tracebacks and exit status. So are
`-m MODULE`, `-c CODE`, `-` for a program from the standard input, and folders and zip files with a `__main__.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import pkgutil
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from typing import Any

from tapeflow import version
from tapeflow.install import install_as_tensorflow

USAGE = """usage: tapeflow [--version] [run] (PROGRAM.py | -m MODULE | -c CODE | -) [ARGUMENTS ...]
       tapeflow convert MODEL --to torch|pt2|onnx|tflite [--output PATH]
       tapeflow serve MODEL [--port PORT] [--grpc-port PORT]
       tapeflow show MODEL

`python -m tapeflow` is the same. `tapeflow COMMAND --help` describes the arguments."""
_COMMANDS = {
    "convert": "tapeflow.torch.commands",
    "serve": "tapeflow.serving.command",
    "show": "tapeflow.torch.commands",
}


def run_command_line() -> None:
    """Runs what `sys.argv` says, and ends the process: the command `tapeflow`."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Runs the program or module that the command line names, and returns the exit status."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments in (["-m"], ["-c"]):
        print(USAGE, file=sys.stdout if arguments[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if arguments[0] == "--version":
        print(f"TapeFlow {version.TAPEFLOW_VERSION}, with the API of TensorFlow {version.VERSION}")
        return 0
    if arguments[0] in _COMMANDS and not os.path.exists(arguments[0]):
        room: Any = importlib.import_module(_COMMANDS[arguments[0]])
        command: Callable[[list[str]], int] = getattr(room, f"{arguments[0]}_command")
        return command(arguments[1:])
    if arguments[0] == "run" and len(arguments) > 1 and not os.path.exists("run"):
        arguments = arguments[1:]
    install_as_tensorflow()
    _install_in_children()
    return run_program(arguments)


def _install_in_children() -> None:
    """Lets the processes that the program starts find TapeFlow as `tensorflow`: by `sys.path`, which those that
    `multiprocessing` and joblib spawn take over before they import the program, and by the environment."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_tensorflow")
    sys.path.insert(1, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))


class _NoProgram(Exception):
    """There is no such program. The arguments are the message and the exit status."""


def run_program(arguments: list[str]) -> int:
    """Runs the program that a command line names as `__main__`.

    Args:
        arguments: a path, `-m` and a module, `-c` and a text, or `-`; then the arguments of the program.

    Returns:
        The exit status.
    """
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = module
    try:
        code, names = _read_program(arguments)
        vars(module).update(names)
        exec(code, vars(module))
    except _NoProgram as error:
        message, status = error.args
        print(f"tapeflow: {message}", file=sys.stderr)
        return status
    except BaseException:
        _show_without_us()
        raise  # Python handles it: the program's hook shows it, and Ctrl-C ends the process by its signal
    return 0


def _show_without_us() -> None:
    """Lets the hook that shows errors leave out the frames between Python and the program."""
    show = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        program = frame = traceback
        while frame is not None:
            last = frame.tb_frame.f_code.co_filename == __file__
            frame = frame.tb_next
            program = frame if last else program
        show(kind, error.with_traceback(program), program)

    sys.excepthook = excepthook


def _read_program(arguments: list[str]) -> tuple[types.CodeType, dict[str, Any]]:
    """Returns the code of a program and the names in its `__main__`. Sets `sys.argv` and `sys.path[0]` for it.

    Raises:
        _NoProgram: there is none.
        SyntaxError: it can't be compiled.
    """
    kind = arguments[0]
    sys.argv = arguments[1:] if kind in ("-m", "-c") else arguments
    if kind == "-m":
        sys.path[0] = os.getcwd()
        sys.argv[0] = "-m"  # while the packages around the module are imported
        spec, code = _find_module(arguments[1])
        sys.argv[0] = spec.origin or arguments[1]
        return code, _names_of(spec)
    if kind in ("-c", "-"):
        sys.path[0] = ""
        sys.argv[0] = kind
        source = arguments[1] if kind == "-c" else sys.stdin.buffer.read()
        return compile(source, "<string>" if kind == "-c" else "<stdin>", "exec", dont_inherit=True), (
            {} if kind == "-c" else {"__file__": "<stdin>"}
        )
    path = os.path.join(os.getcwd(), kind)
    finder = pkgutil.get_importer(path)
    if finder is not None:  # a folder or a zip file
        found = finder.find_spec("__main__")
        if found is None or found.loader is None:
            raise _NoProgram(f"can't find '__main__' module in {path!r}", 1)
        sys.path[0] = path
        return found.loader.get_code("__main__"), _names_of(found)  # type: ignore[attr-defined]
    try:
        with io.open_code(path) as file:
            code = pkgutil.read_code(file)  # of a .pyc file
        kind_of_loader = SourceFileLoader if code is None else SourcelessFileLoader
        if code is None:
            with io.open_code(path) as file:
                code = compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as error:
        raise _NoProgram(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}", 2) from None
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    return code, {"__file__": path, "__cached__": None, "__loader__": kind_of_loader("__main__", path)}


def _find_module(name: str) -> tuple[ModuleSpec, types.CodeType]:
    """Returns the spec and the code of the module that runs for a name: of a package, its `__main__`.

    Raises:
        _NoProgram: there is none.
    """
    if name.startswith("."):
        raise _NoProgram("Relative module names not supported", 1)
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:  # a package around it
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        hint = f". Try using {name[:-3]!r} instead of {name!r} as the module name." if name.endswith(".py") else ""
        raise _NoProgram(
            f"Error while finding module specification for {name!r} (ModuleNotFoundError: {error}){hint}", 1
        ) from None
    except ValueError as error:
        raise _NoProgram(f"Error while finding module specification for {name!r} (ValueError: {error})", 1) from None
    if spec is None:
        raise _NoProgram(f"No module named {name}", 1)
    if spec.submodule_search_locations is not None:
        if name.endswith(".__main__"):
            raise _NoProgram("Cannot use package as __main__ module", 1)
        try:
            return _find_module(f"{name}.__main__")
        except _NoProgram as error:
            message = f"{error.args[0]}; {name!r} is a package and cannot be directly executed"
            raise _NoProgram(message, 1) from None
    code = getattr(spec.loader, "get_code", lambda name: None)(spec.name)
    if code is None:
        raise _NoProgram(f"No code object available for {name}", 1)
    return spec, code


def _names_of(spec: ModuleSpec) -> dict[str, Any]:
    return {
        "__file__": spec.origin, "__cached__": spec.cached, "__loader__": spec.loader, "__package__": spec.parent,
        "__spec__": spec,
    }  # fmt: skip


if __name__ == "__main__":
    run_command_line()
