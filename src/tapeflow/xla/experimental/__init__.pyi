# Written by `scripts/record.py stubs`.
from tapeflow.xla.experimental.compile_function import compile as compile
from tapeflow.xla.experimental.compile_function import jit_scope as jit_scope
