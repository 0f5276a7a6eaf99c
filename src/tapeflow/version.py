"""The public `tf.version` namespace: the version of TensorFlow's API that TapeFlow follows, and TapeFlow's own."""

import torch as _torch

VERSION = "2.21.0"  # TensorFlow's version: programs that check it then use this API
TAPEFLOW_VERSION = "0.1.0"
GIT_VERSION = f"v{VERSION}-tapeflow-{TAPEFLOW_VERSION}"
COMPILER_VERSION = f"ATen {_torch.__version__}"

# The versions of the GraphDef format that are written, and that can be read.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

__all__ = [
    "COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER", "TAPEFLOW_VERSION", "VERSION",
]  # fmt: skip
__dir__ = __all__.copy
