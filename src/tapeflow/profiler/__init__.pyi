# Written by `scripts/record.py stubs`.
from tapeflow.profiler import experimental as experimental
