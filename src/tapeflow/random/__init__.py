"""The public `tf.random` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.core.rng.seeds import set_seed
from tapeflow.nn.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tapeflow.random import experimental
from tapeflow.random.algorithms import Algorithm
from tapeflow.random.generator import Generator, create_rng_state, get_global_generator, set_global_generator
from tapeflow.random.permutation import shuffle
from tapeflow.random.stateful import categorical, gamma, normal, poisson, truncated_normal, uniform
from tapeflow.random.stateless import (
    fold_in,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_parameterized_truncated_normal,
    stateless_poisson,
    stateless_truncated_normal,
    stateless_uniform,
)

_publish(globals(), "experimental")
