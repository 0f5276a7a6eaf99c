"""The packages of the extra `tflite`, loaded when they are needed."""

from __future__ import annotations

import enum
import importlib
from typing import Any, NoReturn

_RUNTIME = "ai_edge_litert.interpreter"


def require(name: str) -> Any:
    """Returns a module of the extra `tflite`.

    Raises:
        ImportError: it is not installed; the text says what to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"tf.lite needs the package {error.name}: pip install 'tapeflow[tflite]'", name=error.name
        ) from error


def of_runtime(name: str) -> Any:
    """Returns a class or a function of the runtime. Without the extra, it is a stand-in: calling it says what to
    install.
    """
    try:
        return getattr(require(_RUNTIME), name)
    except ImportError:
        return _STAND_INS[name]


class Interpreter:
    """Stands for the runtime's class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        require(_RUNTIME)


class OpResolverType(enum.Enum):
    """Chooses the kernels of an interpreter. Stands for the runtime's class."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


def load_delegate(*args: Any, **kwargs: Any) -> NoReturn:
    """Stands for the runtime's function."""
    raise AssertionError(require(_RUNTIME))


_STAND_INS = {"Interpreter": Interpreter, "OpResolverType": OpResolverType, "load_delegate": load_delegate}
