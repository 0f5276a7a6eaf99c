"""`tf.keras`: the genuine Keras, on its TensorFlow backend with TapeFlow in TensorFlow's place.

With the environment variable `TF_USE_LEGACY_KERAS=1`, it is Keras 2, the package `tf_keras`. Only the `safe_mode` of
its older formats is changed (`tensorflow_python/keras_2.py`).

Otherwise, importing this module loads Keras. TapeFlow serves its `import tensorflow`. The module adds the spellings of
TensorFlow 2.0 (`additions.py`), lets optimizers update in turn and compiled (`updates.py`), compiles normalizations in
eager mode (`composites.py`), adds the backend of
`keras.distribution` (`distribution.py`), and fills the state that Keras's calls read (`state.py`). Then it puts Keras's
own module in its place: `tf.keras` is the same module as with TensorFlow.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from tapeflow.install import install_as_tensorflow, uses_legacy_keras
from tapeflow.keras import internals

if TYPE_CHECKING:  # editors complete `tf.keras.layers.De`: this module makes way for Keras's own
    from keras import Input as Input
    from keras import Model as Model
    from keras import Sequential as Sequential
    from keras import activations as activations
    from keras import applications as applications
    from keras import backend as backend
    from keras import callbacks as callbacks
    from keras import config as config
    from keras import constraints as constraints
    from keras import datasets as datasets
    from keras import distribution as distribution
    from keras import initializers as initializers
    from keras import layers as layers
    from keras import losses as losses
    from keras import metrics as metrics
    from keras import mixed_precision as mixed_precision
    from keras import models as models
    from keras import ops as ops
    from keras import optimizers as optimizers
    from keras import preprocessing as preprocessing
    from keras import random as random
    from keras import regularizers as regularizers
    from keras import saving as saving
    from keras import tree as tree
    from keras import utils as utils


def _load_keras() -> ModuleType:
    """Loads Keras, and returns its module with the names of `tf.keras`.

    Raises:
        RuntimeError: the real TensorFlow is imported already, or Keras is, on another backend.
        ModuleNotFoundError: Keras is not installed.
    """
    install_as_tensorflow()
    loaded = sys.modules.get("keras")
    if loaded is not None:
        backend = internals.configured_backend()
        if backend != "tensorflow":
            raise RuntimeError(
                f"Keras is imported already, on its {backend!r} backend, and tf.keras needs its TensorFlow backend: "
                "use tf.keras before anything imports keras, or set KERAS_BACKEND=tensorflow."
            )
        return internals.tf_keras
    configured = os.environ.get("KERAS_BACKEND")
    # `tf.keras` uses TensorFlow, whatever backend is configured for Keras itself.
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        return internals.tf_keras
    finally:
        if configured is None:
            del os.environ["KERAS_BACKEND"]
        else:
            os.environ["KERAS_BACKEND"] = configured


def _load_legacy() -> ModuleType:
    """Loads Keras 2.

    Raises:
        ImportError: it is not installed.
    """
    install_as_tensorflow()
    try:
        return importlib.import_module("tf_keras.api._v2.keras")
    except ModuleNotFoundError as error:
        if error.name != "tf_keras":
            raise
        raise ImportError(
            "TF_USE_LEGACY_KERAS is set, but Keras 2 is not installed: `pip install --no-deps tf_keras`, or unset it.",
            name="tf_keras",
        ) from None


if uses_legacy_keras():
    _keras = _load_legacy()
else:
    _keras = _load_keras()
    for _name in ("additions", "updates", "composites", "distribution"):
        importlib.import_module(f"tapeflow.keras.{_name}").add()
    importlib.import_module("tapeflow.keras.state").fill()
sys.modules[__name__] = _keras
