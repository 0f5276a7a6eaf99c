"""The public `tf.profiler.experimental` namespace: profiles of the time between a start and a stop."""

import typing as _typing

from tapeflow.core.unsupported import below as _below
from tapeflow.profiler.experimental.profiles import Profile, ProfilerOptions, Trace, start, stop

__all__ = ["Profile", "ProfilerOptions", "Trace", "client", "server", "start", "stop"]
__dir__ = __all__.copy

if not _typing.TYPE_CHECKING:
    __getattr__ = _below("profiler.experimental")
