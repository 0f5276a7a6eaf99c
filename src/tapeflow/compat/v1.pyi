from typing import Any

from tapeflow_compat.compat.v1 import *

def __getattr__(name: str) -> Any: ...
