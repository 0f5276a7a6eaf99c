"""Inner functions of concrete functions: they take what these capture as arguments."""

import numpy as np

import tapeflow as tf


def test_captured_tensors_are_arguments():
    v, c = tf.Variable([1.0, 2.0]), tf.constant([10.0, 20.0])
    concrete = tf.function(lambda x: {"sum": x + c, "more": (v * x, 3)}).get_concrete_function(tf.TensorSpec([2]))
    inner = concrete.inference_fn
    assert inner.name == concrete.name and inner.graph is concrete.graph
    assert inner.function_type is concrete.function_type
    assert inner.definition.signature.name == concrete.name.decode()
    assert repr(inner) == f"<AtomicFunction> {concrete.pretty_printed_signature(verbose=False)}"
    x, captured = tf.constant([3.0, 4.0]), concrete.captured_inputs
    for flat in (inner(x, *captured), inner.call_flat(x, *captured)):
        assert [t.numpy().tolist() for t in flat] == [[3.0, 8.0], 3, [13.0, 24.0]]
    result = inner.call_with_captures((x,), {}, captured)
    assert result["sum"].numpy().tolist() == [13.0, 24.0] and result["more"][0].numpy().tolist() == [3.0, 8.0]
    by_name = inner.call_with_captures((), {"x": x}, captured)
    np.testing.assert_array_equal(by_name["sum"], result["sum"])
