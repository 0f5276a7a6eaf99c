from tapeflow_compat.compat import *
