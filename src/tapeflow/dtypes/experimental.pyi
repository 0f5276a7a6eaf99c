# Written by `scripts/record.py stubs`.
from tapeflow.core.types.dtypes import float4_e2m1fn as float4_e2m1fn
from tapeflow.core.types.dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from tapeflow.core.types.dtypes import float8_e4m3fn as float8_e4m3fn
from tapeflow.core.types.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from tapeflow.core.types.dtypes import float8_e5m2 as float8_e5m2
from tapeflow.core.types.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from tapeflow.core.types.dtypes import int2 as int2
from tapeflow.core.types.dtypes import int4 as int4
from tapeflow.core.types.dtypes import uint2 as uint2
from tapeflow.core.types.dtypes import uint4 as uint4
