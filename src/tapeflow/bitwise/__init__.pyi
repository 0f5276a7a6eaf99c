# Written by `scripts/record.py stubs`.
from tapeflow.bitwise.bits import bitwise_and as bitwise_and
from tapeflow.bitwise.bits import bitwise_or as bitwise_or
from tapeflow.bitwise.bits import bitwise_xor as bitwise_xor
from tapeflow.bitwise.bits import invert as invert
from tapeflow.bitwise.bits import left_shift as left_shift
from tapeflow.bitwise.bits import right_shift as right_shift
