"""TapeFlow in the place of TensorFlow: importing this module imports TapeFlow, and makes way for it."""

import sys
from typing import TYPE_CHECKING

import tapeflow

if TYPE_CHECKING:  # editors complete `tf.con` as they do with `import tapeflow as tf`
    from tapeflow import *  # noqa: F403

del sys.modules[__name__]
tapeflow.install_as_tensorflow()
