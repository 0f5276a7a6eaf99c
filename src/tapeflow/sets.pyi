from tapeflow_compat.sets import *
