"""The operators that converted code calls, as `ag__`: Python's own for Python values, the graph's for tensors."""

from tapeflow.autograph.operators.assertions import assert_stmt
from tapeflow.autograph.operators.conditions import if_exp, if_stmt
from tapeflow.autograph.operators.logical import and_, compare, not_, or_
from tapeflow.autograph.operators.loops import for_stmt, while_stmt
from tapeflow.autograph.operators.variables import Undefined, UndefinedReturnValue, changed, ld, ldu, ret
from tapeflow.core.public_names import publish as _publish

_publish(globals())
