# Written by `scripts/record.py stubs`.
from tapeflow.xla import experimental as experimental
