"""The public `tf.random.experimental` namespace."""

from tapeflow.random.algorithms import Algorithm
from tapeflow.random.generator import Generator, create_rng_state, get_global_generator, set_global_generator
from tapeflow.random.permutation import index_shuffle, stateless_shuffle
from tapeflow.random.stateless import fold_in as stateless_fold_in
from tapeflow.random.stateless import split as stateless_split

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]  # fmt: skip
__dir__ = __all__.copy
