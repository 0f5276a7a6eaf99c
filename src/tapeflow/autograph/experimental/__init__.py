"""The public `tf.autograph.experimental` namespace."""

from tapeflow.autograph.experimental.options import Feature, do_not_convert, set_loop_options
from tapeflow.core.public_names import publish as _publish

_publish(globals())
