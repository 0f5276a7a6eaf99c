"""The public `tf.autodiff` namespace: `GradientTape` and `ForwardAccumulator`."""

from tapeflow.autodiff.forward import ForwardAccumulator
from tapeflow.autodiff.gradient_tape import GradientTape
from tapeflow.core.public_names import publish as _publish

_publish(globals())
