"""The public `tf.math` namespace."""

from tapeflow.math.arithmetic import add, divide, floordiv, floormod, mod, multiply, negative, realdiv, subtract, truediv
from tapeflow.math.elementwise import exp
from tapeflow.math.reduction import reduce_sum
