"""Random loops over small tensors."""

import numpy as np

import tapeflow as tf

SHAPES = [(), (3,), (2, 3), (20,), (5, 7), (4, 20), (33, 2)]
TRIPS = 11


class Draw:
    """Draws the ops of a loop's body. The same seed draws the same ops in each iteration and mode.

    Args:
        seed: the seed.
        i: the counter.
        state: the loop variables.
        captured: tensors around the loop.
    """

    def __init__(self, seed, i, state, captured):
        self.rng = np.random.default_rng(seed)
        self.i, self.captured = i, captured
        self.values = [*state, *captured]

    def one(self, rank=None):
        values = [v for v in self.values if rank is None or v.shape.rank == rank]
        return values[self.rng.integers(len(values))] if values else None

    def axis(self, x):
        return int(self.rng.integers(x.shape.rank))

    def unary(self):
        functions = [tf.tanh, tf.sin, tf.abs, tf.negative, tf.square, tf.sigmoid, tf.nn.relu, lambda x: x * 0.5 + 0.1]
        return functions[self.rng.integers(len(functions))](self.one())

    def binary(self):
        functions = [tf.add, tf.multiply, tf.subtract, tf.maximum, lambda x, y: tf.where(x < y, x, y * 0.5)]
        x = self.one()
        fits = [v for v in self.values if _broadcast(x.shape, v.shape)]
        return functions[self.rng.integers(len(functions))](x, fits[self.rng.integers(len(fits))])

    def reduction(self):
        function = [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min][self.rng.integers(4)]
        x = self.one()
        axis = self.axis(x) if x.shape.rank and self.rng.random() < 0.7 else None
        return tf.tanh(function(x, axis, keepdims=bool(self.rng.random() < 0.3)))

    def move(self):
        x = self.one()
        if not x.shape.rank:
            return tf.fill([2, 9], x) if self.rng.random() < 0.5 else tf.stack([x, x * 0.5])
        axis, kind = self.axis(x), self.rng.integers(9)
        if kind == 0:
            return tf.transpose(x)
        if kind == 1:
            return tf.reverse(x, [axis])
        if kind == 2:
            return tf.roll(x, 1, axis)
        if kind == 3:
            return tf.concat([x, x * 0.25, x], axis)
        if kind == 4:
            return tf.stack([x, -x], axis)
        if kind == 5:
            return tf.split(x, [1, x.shape[axis] - 1], axis)[1] if x.shape[axis] > 2 else x
        if kind == 6:
            return tf.pad(x, [[1, 2]] * x.shape.rank)
        if kind == 7:
            return tf.reshape(x, [-1])[:: 2 if x.shape.num_elements() > 2 else 1]
        return tf.tile(x, [2] + [1] * (x.shape.rank - 1))

    def product(self):
        x = self.one(2)
        fits = [(v, False) for v in self.values if v.shape.rank == 2 and v.shape[0] == x.shape[1]]
        fits += [(v, True) for v in self.values if v.shape.rank == 2 and v.shape[1] == x.shape[1]]
        y, transposes = fits[self.rng.integers(len(fits))]
        return tf.tanh(tf.matmul(x, y, transpose_b=transposes) * 0.3)

    def element(self):
        x = self.one()
        if not x.shape.rank:
            return x
        axis, kind = self.axis(x), self.rng.integers(4)
        index = (self.i * 3 + 1) % x.shape[axis]
        if kind == 0:
            return x[(slice(None),) * axis + (index,)]
        if kind == 1:
            return tf.gather(x, tf.stack([index, 0, x.shape[axis] - 1]), axis=axis)
        if kind == 2:
            place = tf.reshape(self.i % x.shape[0], [1, 1])
            return tf.tensor_scatter_nd_update(x, place, tf.tanh(x[:1] + 0.5))
        begin = [0] * x.shape.rank
        begin[0] = self.i % x.shape[0]
        return tf.slice(x, begin, [1, *x.shape[1:]])

    def conditional(self):
        x = self.one()
        test = tf.reduce_sum(x) > 0.1 if self.rng.random() < 0.5 else self.i % 2 == 0
        return tf.cond(test, lambda: tf.sin(x) * 0.7, lambda: x)

    def inner(self):
        x = self.one()
        count = self.i % 4
        last = tf.while_loop(lambda j, y: j < count, lambda j, y: (j + 1, tf.tanh(y + x * 0.3)), [0, x])
        return last[1]

    def integers(self):
        return tf.cast(tf.cast(self.one() * 10.0, tf.int32) // 3 + self.i, self.values[0].dtype) * 0.1

    def array(self):
        x = self.one()
        array = tf.TensorArray(x.dtype, 3, element_shape=x.shape, clear_after_read=False)
        array = array.write(self.i % 3, x).write((self.i + 1) % 3, x * 0.5)
        return array.read(self.i % 2) + array.stack()[0]

    def body(self, state, smooth=False):
        kinds = [self.unary, self.binary, self.reduction, self.move, self.product, self.element]
        kinds += [] if smooth else [self.conditional, self.inner, self.integers, self.array]
        for _ in range(10):
            value = kinds[self.rng.integers(len(kinds))]()
            if value.shape.num_elements() <= 600:
                self.values.append(value)
        return [self.fitted(v.shape) for v in state]

    def fitted(self, shape):
        x = tf.reshape(self.one(), [-1])
        count = shape.num_elements()
        while x.shape[0] < count:
            x = tf.concat([x, x * 0.9 + 0.01], 0)
        return tf.tanh(tf.reshape(x[:count], shape))


def _broadcast(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(a.as_list()[::-1], b.as_list()[::-1], strict=False))


def loop(seed, state, captured, array, smooth=False):
    """Runs a random loop, which also writes a state to an array at each iteration, and reads what it wrote before.

    Args:
        seed: the seed.
        state: the loop variables.
        captured: tensors around the loop.
        array: the array.
        smooth: whether the loop has neither conditionals, nor inner loops, nor integers.
    """

    def body(i, array, state):
        draw = Draw(seed, i, state, captured)
        if seed % 2 and not smooth:
            before = tf.cond(i > 0, lambda: array.read(tf.maximum(i - 1, 0)), lambda: state[0])
            draw.values.append(before)
        after = draw.body(state, smooth)
        return i + 1, array.write(i, after[0]), after

    i, array, state = tf.while_loop(lambda i, *_: i < TRIPS, body, [0, array, state])
    return i, array.stack(), state


def inputs_of(seed):
    """Returns the dtype, loop variables and captured tensors of a random loop."""
    rng = np.random.default_rng(seed)
    dtype = tf.float64 if seed % 4 else tf.float32
    shapes = [SHAPES[i] for i in rng.integers(len(SHAPES), size=3)]
    state = [tf.constant(rng.uniform(-1, 1, s), dtype) for s in shapes]
    return dtype, state, [tf.constant(rng.uniform(-1, 1, s), dtype) for s in ((50, 3), (7, 20), ())]
