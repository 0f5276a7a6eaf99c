# Written by `scripts/record.py stubs`.
from tapeflow.linalg.experimental.conjugate_gradient import conjugate_gradient as conjugate_gradient
