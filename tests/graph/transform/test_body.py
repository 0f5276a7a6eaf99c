"""Functions that call functions."""

import sys
from collections import Counter

import tapeflow as tf


def test_tracing_visits_each_of_many_nested_functions_a_few_times():
    @tf.function
    def doubled(x):
        return x + x

    function = doubled
    for _ in range(30):

        def level(inner):
            @tf.function
            def outer(x):
                return inner(x) + inner(1.0 - x)

            return outer

        function = level(function)

    calls: Counter[str] = Counter()

    def count(frame, event, _):
        if event == "call":
            calls[frame.f_code.co_name] += 1
            assert calls["_is_stateful"] < 1000

    sys.setprofile(count)
    try:
        concrete = function.get_concrete_function(tf.TensorSpec([], tf.float32))
    finally:
        sys.setprofile(None)
    assert not concrete.graph.is_stateful
    assert calls["_is_stateful"] > 30
