# Written by `scripts/record.py stubs`.
from tapeflow.autograph.operators.variables import Undefined as Undefined
from tapeflow.autograph.operators.variables import UndefinedReturnValue as UndefinedReturnValue
from tapeflow.autograph.operators.logical import and_ as and_
from tapeflow.autograph.operators.assertions import assert_stmt as assert_stmt
from tapeflow.autograph.operators.variables import changed as changed
from tapeflow.autograph.operators.logical import compare as compare
from tapeflow.autograph.operators.loops import for_stmt as for_stmt
from tapeflow.autograph.operators.conditions import if_exp as if_exp
from tapeflow.autograph.operators.conditions import if_stmt as if_stmt
from tapeflow.autograph.operators.variables import ld as ld
from tapeflow.autograph.operators.variables import ldu as ldu
from tapeflow.autograph.operators.logical import not_ as not_
from tapeflow.autograph.operators.logical import or_ as or_
from tapeflow.autograph.operators.variables import ret as ret
from tapeflow.autograph.operators.loops import while_stmt as while_stmt
