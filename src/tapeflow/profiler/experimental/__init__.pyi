# Written by `scripts/record.py stubs`.
from typing import Any
from tapeflow.profiler.experimental.profiles import Profile as Profile
from tapeflow.profiler.experimental.profiles import ProfilerOptions as ProfilerOptions
from tapeflow.profiler.experimental.profiles import Trace as Trace
client: Any
server: Any
from tapeflow.profiler.experimental.profiles import start as start
from tapeflow.profiler.experimental.profiles import stop as stop
