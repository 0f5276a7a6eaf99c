"""The public `tf.debugging.experimental` namespace: dumps of what a program computes."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.debugging.dump_settings import disable_dump_debug_info, enable_dump_debug_info

_publish(globals())
