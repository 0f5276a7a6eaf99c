from tapeflow_compat.queue import *
