"""The public `tf.profiler.experimental` namespace: profiles of the time between a start and a stop."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.profiler.experimental.profiles import Profile, ProfilerOptions, Trace, start, stop

_publish(globals())
