"""The packages of the extra `tflite`, loaded when they are needed."""

from __future__ import annotations

import importlib
from typing import Any


def require(name: str) -> Any:
    """Returns a module of the extra `tflite`.

    Raises:
        ImportError: it is not installed; the text says what to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"tf.lite needs the package {error.name}: pip install tapeflow[tflite]", name=error.name
        ) from error
