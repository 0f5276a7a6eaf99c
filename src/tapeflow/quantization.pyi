from tapeflow_compat.quantization import *
