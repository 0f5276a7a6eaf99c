from tapeflow_compat.feature_column import *
