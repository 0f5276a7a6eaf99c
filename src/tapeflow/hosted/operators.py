"""`tf.__operators__`: Python's operators on tensors."""

from operator import add, eq, getitem, ne
from operator import getitem as ragged_getitem

__all__ = ["add", "eq", "getitem", "ne", "ragged_getitem"]
