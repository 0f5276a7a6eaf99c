# Written by `scripts/record.py stubs`.
from tapeflow.experimental.numpy.random.samples import poisson as poisson
from tapeflow.experimental.numpy.random.samples import rand as rand
from tapeflow.experimental.numpy.random.samples import randint as randint
from tapeflow.experimental.numpy.random.samples import randn as randn
from tapeflow.experimental.numpy.random.samples import random as random
from tapeflow.experimental.numpy.random.samples import seed as seed
from tapeflow.experimental.numpy.random.samples import standard_normal as standard_normal
from tapeflow.experimental.numpy.random.samples import uniform as uniform
