# Written by `scripts/record.py stubs`.
from tapeflow_compat.compat.conversion import as_bytes as as_bytes
from tapeflow_compat.compat.conversion import as_str as as_str
from tapeflow_compat.compat.conversion import as_str_any as as_str_any
from tapeflow_compat.compat.conversion import as_text as as_text
from tapeflow_compat.compat.conversion import bytes_or_text_types as bytes_or_text_types
from tapeflow_compat.compat.conversion import complex_types as complex_types
from tapeflow_compat.compat.conversion import dimension_at_index as dimension_at_index
from tapeflow_compat.compat.conversion import dimension_value as dimension_value
from tapeflow_compat.compat.conversion import integral_types as integral_types
from tapeflow_compat.compat.conversion import path_to_str as path_to_str
from tapeflow_compat.compat.conversion import real_types as real_types
from tapeflow.compat import v1 as v1
from tapeflow.compat import v2 as v2
