# Written by `scripts/record.py stubs`.
from tapeflow.types import experimental as experimental
