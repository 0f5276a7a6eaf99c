"""TapeFlow in the place of TensorFlow Text: importing this module imports `tapeflow.text`, and makes way for it."""

import importlib
import sys
from typing import TYPE_CHECKING

import tensorflow  # noqa: F401  # finds `tensorflow_text` from now on

if TYPE_CHECKING:
    from tapeflow.text import *  # noqa: F403

del sys.modules[__name__]
importlib.import_module(__name__)
