"""Errors of functions, and what concrete functions from files show, in TensorFlow's form."""

import pytest

import tapeflow as tf


def test_the_error_for_a_leaked_tensor_names_the_line_that_made_it():
    leaked = []

    @tf.function
    def leak(x):
        y = x + 1
        leaked.append(y)
        return y

    leak(tf.constant(1))
    for use in (lambda: leaked[0] + 1, tf.function(lambda: leaked[0] * 2)):
        with pytest.raises(TypeError) as caught:
            use()
        message = str(caught.value)
        line = leak.python_function.__code__.co_firstlineno + 2
        assert f'File "{__file__}", line {line}, in leak' in message.split("was defined here:")[1]


def test_the_error_for_a_tensor_that_leaks_from_a_branch_or_loop_names_the_line():
    leaked = []

    @tf.function
    def f(n):
        for i in tf.range(n):
            leaked.append(i * 2)
        return leaked[-1] + 1

    with pytest.raises(TypeError, match=r"was defined here:(.|\n)*in f"):
        f(tf.constant(1))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + None,
        lambda x: None * x,
        lambda x: tf.reduce_sum(None),
        lambda x: tf.matmul([[x]], None),
        lambda x: tf.constant(None),
        lambda x: tf.convert_to_tensor(None),
        lambda x: tf.map_fn(lambda e: None, tf.stack([x])),
    ],
)
def test_none_in_a_function_is_no_tensor(use):
    with pytest.raises(ValueError, match=r"None values not supported\."):
        tf.function(use)(tf.constant(1.0))


def test_a_loaded_function_shows_the_specs_of_its_results(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def nested(self, x):
            return {"a": x + 1, "b": [x, (x,)]}

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def pair(self, x):
            return x, x * 2

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def ragged(self, x):
            return tf.RaggedTensor.from_row_lengths(x, [tf.size(x)])

    model = Model()
    tf.saved_model.save(model, str(tmp_path), signatures=model.pair)
    loaded = tf.saved_model.load(str(tmp_path))

    def spec(name):
        return tf.TensorSpec([None], tf.float32, name)

    def outputs(function):
        return function.concrete_functions[0].structured_outputs

    assert loaded.signatures["serving_default"].structured_outputs == {
        "output_0": spec("output_0"), "output_1": spec("output_1"),
    }  # fmt: skip
    assert outputs(loaded.pair) == (spec("tensor_0"), spec("tensor_1"))
    assert outputs(loaded.nested) == {"a": spec("a"), "b": [spec("b_0"), (spec("b_1_0"),)]}
    assert outputs(loaded.ragged) == tf.RaggedTensorSpec([1, None], tf.float32, 1, tf.int64)


V = tf.Variable(1.0)


@pytest.mark.parametrize(
    "result",
    [
        lambda: tf.no_op(),
        lambda: {"a": tf.constant(1.0).op},
        lambda: (tf.constant(1.0), [tf.group(tf.constant(1.0))]),
        lambda: V.assign_add(1.0, read_value=False),
        lambda: tf.print("x"),
    ],
)
def test_a_function_cannot_return_an_operation(result):
    with pytest.raises(TypeError, match="found return value of type Operation, which is not a Tensor"):
        tf.function(result).get_concrete_function()
    assert tf.function(lambda x: tf.cond(x, tf.no_op, tf.no_op))(tf.constant(True)).dtype is tf.bool
