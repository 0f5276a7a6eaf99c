# Written by `scripts/record.py stubs`.
from tapeflow_compat.sets.operations import difference as difference
from tapeflow_compat.sets.operations import intersection as intersection
from tapeflow_compat.sets.operations import size as size
from tapeflow_compat.sets.operations import union as union
