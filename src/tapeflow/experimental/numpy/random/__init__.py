"""`tf.experimental.numpy.random`: random numbers, from the generators that `tf.random.set_seed` seeds."""

from tapeflow.experimental.numpy.random.samples import (
    poisson,
    rand,
    randint,
    randn,
    random,
    seed,
    standard_normal,
    uniform,
)

__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]
__dir__ = __all__.copy
