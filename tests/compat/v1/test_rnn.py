"""What TensorFlow 1's recurrent networks refuse, and keep from one run to the next; `test_training.py` has a program
that TensorFlow runs, too."""

import pytest

import tapeflow as tf
from tapeflow.compat import v1


class Sum:
    """Adds up its inputs, in a state of two parts."""

    output_size = 2
    state_size = (2, 1)

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 2], dtype), tf.zeros([batch_size, 1], dtype)

    def __call__(self, inputs, state):
        total, count = state
        return total + inputs, (total + inputs, count + 1.0)


def steps():
    return tf.reshape(tf.range(12.0), [2, 3, 2])


def test_states_and_inputs_may_be_nested():
    class Two(Sum):
        def __call__(self, inputs, state):
            return super().__call__(inputs["a"] + inputs["b"], state)

    for graph in (False, True):

        def run():
            return v1.nn.dynamic_rnn(Two(), {"a": steps(), "b": -steps()}, [3, 1], dtype=tf.float32)

        outputs, (total, count) = tf.function(run)() if graph else run()
        assert float(tf.reduce_sum(tf.abs(outputs))) == float(tf.reduce_sum(tf.abs(total))) == 0.0
        assert count.numpy().tolist() == [[3.0], [1.0]]


def test_a_state_to_begin_with():
    begin = (tf.ones([2, 2]), tf.ones([2, 1]))
    outputs, (total, count) = v1.nn.dynamic_rnn(Sum(), steps(), initial_state=begin)
    assert outputs[:, -1].numpy().tolist() == total.numpy().tolist() == [[7.0, 10.0], [25.0, 28.0]]
    assert count.numpy().tolist() == [[4.0], [4.0]]


def test_lengths_that_the_graph_does_not_know():
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [None, None, 2])
        outputs, _ = v1.nn.dynamic_rnn(Sum(), x, dtype=tf.float32)
        assert outputs.shape.as_list() == [None, None, 2]
        assert sess.run(outputs, {x: [[[1.0, 2.0], [3.0, 4.0]]]}).tolist() == [[[1.0, 2.0], [4.0, 6.0]]]
        assert sess.run(outputs, {x: [[[1.0, 2.0]]] * 3}).shape == (3, 1, 2)


def test_a_state_that_goes_on_from_run_to_run():
    class Saver:
        def __init__(self):
            self.held = {"total": tf.Variable(tf.zeros([2, 2])), "count": tf.Variable(tf.zeros([2, 1]))}

        def state(self, name):
            return self.held[name].read_value()

        def save_state(self, name, value):
            return self.held[name].assign(value)

    with tf.Graph().as_default(), v1.Session() as sess:
        inputs = tf.unstack(steps(), axis=1)
        outputs, state = v1.nn.static_state_saving_rnn(Sum(), inputs, Saver(), ("total", "count"))
        sess.run(v1.global_variables_initializer())
        assert [sess.run(outputs[-1]).tolist() for _ in range(2)] == [[[6, 9], [24, 27]], [[12, 18], [48, 54]]]
        assert sess.run(state)[1].tolist() == [[9.0], [9.0]]
        for name, message in (("total", "should be the same type"), (("total",), "are mismatched")):
            with pytest.raises(ValueError, match=message):
                v1.nn.static_state_saving_rnn(Sum(), inputs, Saver(), name)


@pytest.mark.parametrize(
    ("run", "kind", "message"),
    [
        (lambda nn: nn.dynamic_rnn(lambda a, b: a, steps(), dtype=tf.float32), TypeError, "is not an RNNCell"),
        (lambda nn: nn.dynamic_rnn(Sum(), steps()), ValueError, "argument `dtype` must be specified"),
        (lambda nn: nn.dynamic_rnn(Sum(), steps(), [[1, 2]], dtype=tf.float32), ValueError, "must be a vector"),
        (lambda nn: nn.dynamic_rnn(Sum(), steps()[0], dtype=tf.float32), ValueError, "rank at least 3"),
        (
            lambda nn: nn.dynamic_rnn(Sum(), {"a": steps(), "b": steps()[:, :1]}, dtype=tf.float32),
            ValueError,
            "Time steps is not the same",
        ),
        (lambda nn: nn.static_rnn(Sum(), steps(), dtype=tf.float32), TypeError, "must be a sequence"),
        (lambda nn: nn.static_rnn(Sum(), [], dtype=tf.float32), ValueError, "must not be empty"),
        (lambda nn: nn.static_bidirectional_rnn(Sum(), Sum(), []), ValueError, "must not be empty"),
        (lambda nn: nn.raw_rnn(Sum(), 3), TypeError, "must be a callable"),
        (lambda nn: nn.bidirectional_dynamic_rnn(Sum(), 3, steps()), TypeError, "'cell_bw'"),
    ],
)
def test_errors(run, kind, message):
    with pytest.raises(kind, match=message):
        run(v1.nn)
