"""The public `tf.debugging` namespace: assertions and checks of numbers."""

from tapeflow.control.conditions_and_loops import Assert
from tapeflow.core.public_names import publish as _publish
from tapeflow.debugging import experimental
from tapeflow.debugging.numerics import assert_all_finite, check_numerics, disable_check_numerics, enable_check_numerics
from tapeflow.debugging.settings import (
    disable_traceback_filtering,
    enable_traceback_filtering,
    get_log_device_placement,
    is_traceback_filtering_enabled,
    set_log_device_placement,
)
from tapeflow.debugging.shapes import assert_rank, assert_rank_at_least, assert_rank_in, assert_scalar, assert_shapes
from tapeflow.debugging.types import (
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_numeric_tensor,
)
from tapeflow.debugging.values import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
)

_publish(globals(), "experimental")
