# Written by `scripts/record.py stubs`.
from tapeflow.random.algorithms import Algorithm as Algorithm
from tapeflow.random.generator import Generator as Generator
from tapeflow.random.generator import create_rng_state as create_rng_state
from tapeflow.random.generator import get_global_generator as get_global_generator
from tapeflow.random.permutation import index_shuffle as index_shuffle
from tapeflow.random.generator import set_global_generator as set_global_generator
from tapeflow.random.stateless import fold_in as _stateless_fold_in
stateless_fold_in = _stateless_fold_in
from tapeflow.random.permutation import stateless_shuffle as stateless_shuffle
from tapeflow.random.stateless import split as _stateless_split
stateless_split = _stateless_split
