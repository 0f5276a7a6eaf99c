# Written by `scripts/record.py stubs`.
from tapeflow.autodiff.forward import ForwardAccumulator as ForwardAccumulator
from tapeflow.autodiff.gradient_tape import GradientTape as GradientTape
