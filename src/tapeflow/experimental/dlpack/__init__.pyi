# Written by `scripts/record.py stubs`.
from tapeflow.experimental.dlpack.capsules import from_dlpack as from_dlpack
from tapeflow.experimental.dlpack.capsules import to_dlpack as to_dlpack
