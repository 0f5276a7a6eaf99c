"""`tf.experimental.numpy.random`: random numbers, from the generators that `tf.random.set_seed` seeds."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals())
