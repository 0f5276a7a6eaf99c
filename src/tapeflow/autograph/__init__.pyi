# Written by `scripts/record.py stubs`.
from tapeflow.autograph import experimental as experimental
from tapeflow.autograph.api import set_verbosity as set_verbosity
from tapeflow.autograph.api import to_code as to_code
from tapeflow.autograph.api import to_graph as to_graph
from tapeflow.autograph.api import trace as trace
