"""`tf.__operators__`: what Python's operators are of tensors."""

from operator import add, eq, getitem, ne
from operator import getitem as ragged_getitem

__all__ = ["add", "eq", "getitem", "ne", "ragged_getitem"]
