"""The public `tf.bitwise` namespace: operations on the bits of integers, element by element."""

from tapeflow.bitwise.bits import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]
__dir__ = __all__.copy
