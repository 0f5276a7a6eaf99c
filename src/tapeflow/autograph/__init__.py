"""`tf.autograph`: Python's control flow, for tensors of a graph."""

from tapeflow.autograph import experimental
from tapeflow.autograph.api import set_verbosity, to_code, to_graph, trace
from tapeflow.core.public_names import publish as _publish

_publish(globals(), "experimental")
