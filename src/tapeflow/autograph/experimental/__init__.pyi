# Written by `scripts/record.py stubs`.
from tapeflow.autograph.experimental.options import Feature as Feature
from tapeflow.autograph.experimental.options import do_not_convert as do_not_convert
from tapeflow.autograph.experimental.options import set_loop_options as set_loop_options
