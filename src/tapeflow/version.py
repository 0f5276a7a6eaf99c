"""The public `tf.version` namespace: the version of TensorFlow's API that TapeFlow follows, and TapeFlow's own."""

import torch as _torch

from tapeflow.core.public_names import publish as _publish

VERSION = "2.21.0"  # TensorFlow's version: programs that check it then use this API
TAPEFLOW_VERSION = "0.1.0"
GIT_VERSION = f"v{VERSION}-tapeflow-{TAPEFLOW_VERSION}"
COMPILER_VERSION = f"ATen {_torch.__version__}"

# The versions of the GraphDef format that are written, and that can be read.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

_publish(globals())
