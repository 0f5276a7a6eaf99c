"""The public `tf.random.experimental` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.random.algorithms import Algorithm
from tapeflow.random.generator import Generator, create_rng_state, get_global_generator, set_global_generator
from tapeflow.random.permutation import index_shuffle, stateless_shuffle
from tapeflow.random.stateless import fold_in as stateless_fold_in
from tapeflow.random.stateless import split as stateless_split

_publish(globals())
