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
    """Runs a .tflite file. Stands for the runtime's class.

    Args:
        args, kwargs: those of the runtime's class.

    Raises:
        ImportError: the extra `tflite` is not installed.

    Example:
        >>> interpreter = tf.lite.Interpreter("model.tflite")  # doctest: +SKIP
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        require(_RUNTIME)


class OpResolverType(enum.Enum):
    """Chooses the kernels of an interpreter. Stands for the runtime's class.

    Attributes:
        AUTO: the fastest ones.
        BUILTIN: those for this processor.
        BUILTIN_REF: the reference kernels.
        BUILTIN_WITHOUT_DEFAULT_DELEGATES: the builtin ones, without XNNPACK.

    Example:
        >>> tf.lite.experimental.OpResolverType.BUILTIN_REF.value
        2
    """

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


def load_delegate(library: str, options: dict[str, Any] | None = None) -> NoReturn:
    """Loads a library that computes operators. Stands for the runtime's function.

    Args:
        library: the path of the library.
        options: its options.

    Returns:
        The delegate, for `experimental_delegates` of the interpreter.

    Raises:
        ImportError: the extra `tflite` is not installed.

    Example:
        >>> delegate = tf.lite.experimental.load_delegate("libdelegate.so")  # doctest: +SKIP
    """
    raise AssertionError(require(_RUNTIME))


_STAND_INS = {"Interpreter": Interpreter, "OpResolverType": OpResolverType, "load_delegate": load_delegate}
