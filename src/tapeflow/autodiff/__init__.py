"""The public `tf.autodiff` namespace: `GradientTape` and `ForwardAccumulator`."""

from tapeflow.autodiff.forward import ForwardAccumulator
from tapeflow.autodiff.gradient_tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
__dir__ = __all__.copy
