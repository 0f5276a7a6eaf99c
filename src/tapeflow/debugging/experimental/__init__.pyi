# Written by `scripts/record.py stubs`.
from tapeflow.debugging.dump_settings import disable_dump_debug_info as disable_dump_debug_info
from tapeflow.debugging.dump_settings import enable_dump_debug_info as enable_dump_debug_info
