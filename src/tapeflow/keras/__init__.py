"""`tf.keras`: the genuine Keras, on its TensorFlow backend with TapeFlow in TensorFlow's place.

Importing this module loads Keras, which `import tensorflow` then serves with TapeFlow, adds the spellings of TensorFlow
2.0 (`additions.py`), fills the state that Keras's calls read (`state.py`), and puts Keras's own module in
its place, so that `tf.keras` is the same module as with TensorFlow.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from tapeflow.hosting import install_as_tensorflow


def _load() -> ModuleType:
    """Loads Keras, and returns its module with the names of `tf.keras`.

    Raises:
        RuntimeError: the real TensorFlow is imported already, or Keras is, on another backend.
        ModuleNotFoundError: Keras is not installed.
    """
    install_as_tensorflow()
    loaded = sys.modules.get("keras")
    if loaded is not None:
        backend = importlib.import_module("keras.src.backend.config").backend()
        if backend != "tensorflow":
            raise RuntimeError(
                f"Keras is imported already, on its {backend!r} backend, and tf.keras needs its TensorFlow backend: "
                "use tf.keras before anything imports keras, or set KERAS_BACKEND=tensorflow."
            )
        return importlib.import_module("keras._tf_keras.keras")
    configured = os.environ.get("KERAS_BACKEND")
    # `tf.keras` uses TensorFlow, whatever backend is configured for Keras itself.
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        return importlib.import_module("keras._tf_keras.keras")
    finally:
        if configured is None:
            del os.environ["KERAS_BACKEND"]
        else:
            os.environ["KERAS_BACKEND"] = configured


_keras = _load()
importlib.import_module("tapeflow.keras.additions").add()
importlib.import_module("tapeflow.keras.state").fill()
sys.modules[__name__] = _keras
