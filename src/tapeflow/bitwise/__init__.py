"""The public `tf.bitwise` namespace: operations on the bits of integers, element by element."""

from tapeflow.bitwise.bits import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
from tapeflow.core.public_names import publish as _publish

_publish(globals())
