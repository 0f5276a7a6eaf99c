"""Recurrent networks of TensorFlow 1: sequences of several lengths, batches, states and scopes."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
N = v1.nn
class Cell:
    # A cell with a weight: its output is one wider than its state.
    state_size, output_size = 2, 3
    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 2], dtype)
    def __call__(self, inputs, state, scope=None):
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(0.5))
        state = state * w + inputs
        return tf.concat([state, state[:, :1] + 1.0], 1), state
class Nested:
    # Two inputs, two outputs and two states.
    state_size, output_size = (1, (2,)), [1, 2]
    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 1], dtype), (tf.ones([batch_size, 2], dtype),)
    def __call__(self, inputs, state, scope=None):
        a, b = inputs
        return [a + state[0], b * state[1][0]], (state[0] + a, (state[1][0] + b,))
def floats(*shape):
    return (np.arange(np.prod(shape)).reshape(shape) * 7 % 11 - 4).astype(np.float32)
def ran(make, feed=None):
    with tf.Graph().as_default(), v1.Session() as sess:
        result = make()
        sess.run(v1.global_variables_initializer())
        values = sess.run(tf.nest.flatten(result))
        shapes = [t.shape.as_list() if t.shape.rank is not None else None for t in tf.nest.flatten(result)]
        return values, shapes, [v.name for v in v1.global_variables()]
X = floats(2, 4, 2)
def steps():
    return [tf.constant(X[:, i]) for i in range(4)]
def timed():
    return tf.constant(X.transpose(1, 0, 2))
PAIR = floats(2, 3, 1), floats(2, 3, 2)
def hidden(x, shape):
    return v1.placeholder_with_default(x, shape)
def built(make):
    with tf.Graph().as_default():
        make()
def until(limits, emits=None):
    def loop(time, output, state, own):
        ended = tf.greater_equal(time, limits)
        if output is None:
            return ended, tf.constant(X[:, 0]), tf.ones([2, 2]), emits, tf.constant(10.0)
        emit = output if emits is None else tf.cast(state, emits.dtype)
        return ended, tf.cast(time, tf.float32) + state, state, emit, own + 1.0
    return loop
def raw(*args):
    arrays, state, own = N.raw_rnn(Cell(), until(*args))
    return arrays.stack(), state, own
class Saver:
    def __init__(self):
        self.saved = []
    def state(self, name):
        return tf.ones([2, 2]) * (2.0 if name == "s" else 3.0)
    def save_state(self, name, state):
        self.saved.append(name)
        return tf.identity(state)
""")

GROUP.values("""
ran(lambda: N.dynamic_rnn(Cell(), X, dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), X, [2, 4], dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), X, [0, 1], dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), X, [2, 3], tf.ones([2, 2])))
ran(lambda: N.dynamic_rnn(Cell(), X, None, tf.ones([2, 2]), scope="mine"))
ran(lambda: N.dynamic_rnn(Cell(), timed(), [1, 3], dtype=tf.float32, time_major=True))
ran(lambda: N.dynamic_rnn(Cell(), timed(), dtype=tf.float32, time_major=True))
ran(lambda: N.dynamic_rnn(Cell(), hidden(X, [None, None, 2]), hidden([2, 4], [None]), dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), hidden(X, [2, None, 2]), dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), hidden(X, [None, 4, 2]), dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), X, hidden([2, 3], None), dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Cell(), X, np.array([2, 3], np.int64), dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Nested(), PAIR, dtype=tf.float32))
ran(lambda: N.dynamic_rnn(Nested(), PAIR, [1, 3], dtype=tf.float32))
ran(lambda: N.bidirectional_dynamic_rnn(Cell(), Cell(), X, dtype=tf.float32))
ran(lambda: N.bidirectional_dynamic_rnn(Cell(), Cell(), X, [2, 3], dtype=tf.float32))
ran(lambda: N.bidirectional_dynamic_rnn(Cell(), Cell(), X, None, tf.ones([2, 2]), tf.ones([2, 2]) * 3))
ran(lambda: N.bidirectional_dynamic_rnn(Cell(), Cell(), timed(), [2, 3], dtype=tf.float32, time_major=True, scope="m"))
ran(lambda: N.bidirectional_dynamic_rnn(Cell(), Cell(), timed(), dtype=tf.float32, time_major=True))
ran(lambda: N.static_rnn(Cell(), steps(), dtype=tf.float32))
ran(lambda: N.static_rnn(Cell(), steps(), tf.ones([2, 2]), scope="mine"))
ran(lambda: N.static_rnn(Cell(), steps(), dtype=tf.float32, sequence_length=[1, 3]))
ran(lambda: N.static_rnn(Cell(), steps(), tf.ones([2, 2]), sequence_length=[4, 0]))
ran(lambda: N.static_rnn(Cell(), [hidden(s, [None, 2]) for s in steps()], tf.ones([2, 2])))
ran(lambda: N.static_bidirectional_rnn(Cell(), Cell(), steps(), dtype=tf.float32))
ran(lambda: N.static_bidirectional_rnn(Cell(), Cell(), steps(), tf.ones([2, 2]), tf.ones([2, 2]) * 3, scope="mine"))
ran(lambda: N.static_bidirectional_rnn(Cell(), Cell(), steps(), dtype=tf.float32, sequence_length=[1, 3]))
ran(lambda: N.static_state_saving_rnn(Cell(), steps(), Saver(), "s"))
ran(lambda: N.static_state_saving_rnn(Cell(), steps(), Saver(), "s", [1, 3], "mine"))
ran(lambda: raw([3, 2]))
ran(lambda: raw([1, 4]))
ran(lambda: raw([3, 2], tf.zeros([2], tf.float64)))
""")

GROUP.errors("""
built(lambda: N.dynamic_rnn(Cell(), X))
built(lambda: N.dynamic_rnn(3, X, dtype=tf.float32))
built(lambda: N.dynamic_rnn(Cell(), X[:, 0], dtype=tf.float32))
built(lambda: N.dynamic_rnn(Cell(), hidden(X, None), dtype=tf.float32))
built(lambda: N.dynamic_rnn(Cell(), hidden(X, [2, 4, None]), dtype=tf.float32))
built(lambda: N.dynamic_rnn(Cell(), X, [[2, 4]], dtype=tf.float32))
built(lambda: N.dynamic_rnn(Nested(), (PAIR[0], PAIR[1][:1]), dtype=tf.float32))
built(lambda: N.dynamic_rnn(Nested(), (PAIR[0], PAIR[1][:, :1]), dtype=tf.float32))
built(lambda: N.dynamic_rnn(Nested(), PAIR, [1, 3], tf.ones([2, 1])))
built(lambda: N.dynamic_rnn(Nested(), PAIR, None, (tf.ones([2, 1]), (tf.ones([2, 2], tf.float64),))))
built(lambda: N.bidirectional_dynamic_rnn(3, Cell(), X, dtype=tf.float32))
built(lambda: N.bidirectional_dynamic_rnn(Cell(), 3, X, dtype=tf.float32))
built(lambda: N.static_rnn(Cell(), [], dtype=tf.float32))
built(lambda: N.static_rnn(Cell(), X, dtype=tf.float32))
built(lambda: N.static_rnn(Cell(), steps()))
built(lambda: N.static_rnn(3, steps(), dtype=tf.float32))
built(lambda: N.static_rnn(Cell(), steps(), dtype=tf.float32, sequence_length=[[1, 3]]))
built(lambda: N.static_bidirectional_rnn(Cell(), Cell(), [], dtype=tf.float32))
built(lambda: N.static_bidirectional_rnn(Cell(), Cell(), X, dtype=tf.float32))
built(lambda: N.static_bidirectional_rnn(Cell(), 3, steps(), dtype=tf.float32))
built(lambda: N.static_state_saving_rnn(Cell(), steps(), Saver(), ("s", "t")))
built(lambda: N.raw_rnn(Cell(), 3))
built(lambda: N.raw_rnn(3, until([3, 2])))
""")
