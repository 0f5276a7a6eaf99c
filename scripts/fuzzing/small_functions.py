"""Random functions of static shapes: many small steps, which machine code computes as a whole.

They multiply matrices, move elements, read and write at indices that may be out of range, draw random numbers, branch,
and update variables that they read before and after. Each call may have other shapes, which are traced anew.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuzzing.compiled import CALLS, FLOATS, INTEGERS, Case

SIZES = (1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33)
MOST = 2000  # elements of a tensor
FAR = (8, 40, -1, -2, -9, 2**31 - 1, -(2**31))  # indices that are out of range in most cases


class SmallDrawing:
    """Draws the ops of a small function.

    Args:
        seed: where the ops come from.
        values: the tensors to begin with.
        indices: scalars of integers.
        variables: the variables.
        dtypes: gets the dtypes of all values.
        tf: TapeFlow.
    """

    def __init__(
        self, seed: int, values: Sequence[Any], indices: Sequence[Any], variables: Sequence[Any], dtypes: set[str],
        tf: Any,
    ) -> None:  # fmt: skip
        self.rng, self.values, self.indices = random.Random(seed), list(values), list(indices)
        self.variables, self.dtypes, self.tf = list(variables), dtypes, tf
        self.reads: list[Any] = []

    def pick(self, wanted: Callable[[Any], bool] = lambda t: True) -> Any:
        """A value, often the last one; None if no value will do."""
        values = [t for t in self.values if wanted(t)]
        if not values:
            return None
        return values[-1] if self.rng.random() < 0.4 else self.rng.choice(values)

    def add(self, tensor: Any) -> None:
        if tensor.shape.num_elements() and tensor.shape.num_elements() <= MOST and tensor.shape.rank <= 4:
            self.values.append(tensor)
            self.dtypes.add(tensor.dtype.name)

    def read(self, tensor: Any) -> None:
        """Adds what may fail, and uses it: unused ops are not run in functions."""
        self.reads.append(self.tf.reduce_mean(self.tf.cast(tensor, self.tf.float32)))
        self.add(tensor)

    def real(self, rank: int = 0) -> Any:
        return self.pick(lambda t: t.dtype.is_floating and t.shape.rank >= rank)

    def index(self, size: int) -> Any:
        """An index: of this function, of an input, or computed; out of range now and then."""
        tf, rng = self.tf, self.rng
        how, given = rng.random(), rng.choice(self.indices)
        if how < 0.4:
            return tf.constant(rng.randrange(size))
        if how < 0.43:
            return tf.constant(rng.choice((*FAR, size)))
        if how < 0.7:
            return tf.math.floormod(given, size)
        return given if how < 0.8 else tf.minimum(tf.abs(given), size - 1) if how < 0.9 else given * 0 + size - 1

    # ---- elements ----------------------------------------------------------------------------------------------------

    def unary(self) -> None:
        tf, x = self.tf, self.real()
        if x is not None:
            functions = (tf.tanh, tf.sin, tf.sigmoid, tf.abs, tf.nn.relu, lambda x: tf.exp(tf.tanh(x)), tf.math.erf,
                         lambda x: tf.sqrt(tf.abs(x) + 1.0), lambda x: x * 0.5 - 0.25, tf.nn.gelu, tf.math.softplus,
                         lambda x: tf.clip_by_value(x, -0.5, 0.5), lambda x: x ** 2 * 0.1)  # fmt: skip
            self.add(self.rng.choice(functions)(x))

    def binary(self) -> None:
        tf, x = self.tf, self.pick(lambda t: not t.dtype.is_bool)
        y = x is not None and self.pick(lambda t: t.dtype == x.dtype and _broadcasts(t.shape, x.shape))
        if y is not None and y is not False:
            functions = [tf.add, tf.subtract, tf.maximum, tf.minimum, lambda a, b: tf.where(a < b, a, b), tf.multiply]
            result = self.rng.choice(functions)(x, y)
            self.add(tf.tanh(result) if result.dtype.is_floating else result)

    def integers(self) -> None:
        tf, x = self.tf, self.pick(lambda t: t.dtype.is_integer)
        if x is not None:
            functions = (lambda x: x * 3 + 1, lambda x: x // 3, lambda x: x % 5, tf.bitwise.invert, tf.square)
            self.add(self.rng.choice(functions)(x))

    def cast(self) -> None:
        tf, x, rng = self.tf, self.pick(), self.rng
        if x.dtype.is_floating:
            near = tf.cast(tf.clip_by_value(tf.cast(x, tf.float32) * 4.0, -9.0, 9.0), rng.choice(("int32", "int64")))
            self.add(tf.cast(x, rng.choice(FLOATS)) if rng.random() < 0.7 else near * 0 + 3)
        else:
            self.add(tf.tanh(tf.cast(x, rng.choice(FLOATS)) * 0.01))

    def compare(self) -> None:
        tf, x = self.tf, self.pick(lambda t: t.dtype.is_integer)
        if x is not None:
            self.add(self.rng.choice((tf.less, tf.equal, tf.greater_equal))(x, tf.cast(3, x.dtype)))

    # ---- rows and matrices -------------------------------------------------------------------------------------------

    def reduce(self) -> None:
        tf, x, rng = self.tf, self.real(1), self.rng
        if x is not None:
            rank = x.shape.rank
            axes = rng.choice(([-1], [0], list(range(rank)), list(range(rank - 1)) or [0]))
            function = rng.choice((tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_logsumexp))
            self.add(tf.tanh(function(x, axes, keepdims=rng.random() < 0.5)))

    def rows(self) -> None:
        tf, x, rng = self.tf, self.real(1), self.rng
        if x is not None:
            functions = (
                tf.nn.softmax, tf.nn.log_softmax, lambda x: tf.exp(x - tf.reduce_max(x, -1, keepdims=True)),
                lambda x: (x - tf.reduce_mean(x, -1, keepdims=True)) / (1.0 + tf.math.reduce_variance(x, -1, True)),
                lambda x: tf.nn.softmax(x, 0), lambda x: tf.math.cumsum(x, -1) * 0.1,
            )  # fmt: skip
            self.add(rng.choice(functions)(x))

    def product(self) -> None:
        tf, rng, x = self.tf, self.rng, self.real(2)
        if x is None:
            return
        others = [t for t in self.values if t.dtype == x.dtype and t.shape.rank >= 1]
        y = rng.choice(others)
        if y.shape.rank == 1:
            fits = y.shape[0] == x.shape[-1]
            self.add(tf.tanh(tf.linalg.matvec(x, y) if fits else tf.linalg.matvec(x, x[..., 0, :])))
            return
        a, b = (rng.random() < 0.5 for _ in range(2))
        batch, other = x.shape[:-2], y.shape[:-2]
        if x.shape[-2 if a else -1] != y.shape[-1 if b else -2] or not _broadcasts(batch, other):
            y, b = x, not a
        if rng.random() < 0.2:
            x, y = x[..., :1, :] if not a else x, y
        self.add(tf.tanh(tf.matmul(x, y, transpose_a=a, transpose_b=b)))

    # ---- moves -------------------------------------------------------------------------------------------------------

    def move(self) -> None:
        tf, rng, x = self.tf, self.rng, self.pick(lambda t: t.shape.rank >= 1)
        if x is None:
            return
        rank = x.shape.rank
        axis = rng.randrange(rank)
        size, some = x.shape[axis], rng.randrange(rank)
        begin = rng.randrange(size)
        functions = (
            lambda: tf.reverse(x, [axis]), lambda: tf.transpose(x, rng.sample(range(rank), rank)),
            lambda: tf.expand_dims(x, axis), lambda: tf.reshape(x, [-1]), lambda: tf.concat([x, x], axis),
            lambda: tf.stack([x, x], axis), lambda: tf.unstack(x, axis=axis)[-1],
            lambda: tf.tile(x, [1] * (rank - 1) + [2]),
            lambda: tf.split(tf.concat([x, x], axis), 2, axis)[1], lambda: tf.roll(x, 1, axis),
            lambda: tf.pad(x, [[int(i == axis), int(i == some)] for i in range(rank)]),
            lambda: tf.slice(x, [begin if i == axis else 0 for i in range(rank)], [-1] * rank),
            lambda: x[..., ::-1], lambda: x[..., ::2], lambda: x[tf.newaxis], lambda: tf.squeeze(x),
            lambda: tf.broadcast_to(x, [2, *x.shape]), lambda: tf.repeat(x, 2, axis),
        )  # fmt: skip
        self.add(rng.choice(functions)())

    def look_up(self) -> None:
        """Reads or writes at indices that are not static."""
        tf, rng, x = self.tf, self.rng, self.real(1)
        if x is None:
            return
        rank = x.shape.rank
        axis = rng.randrange(rank)
        size, at = x.shape[axis], self.index(x.shape[axis])
        first, several = self.index(x.shape[0]), [self.index(size) for _ in range(rng.choice((1, 2, 3, 9)))]
        length = rng.randint(1, size)
        functions = (
            lambda: tf.gather(x, at, axis=axis), lambda: tf.gather(x, tf.stack(several), axis=axis),
            lambda: tf.gather(x, tf.reshape(tf.stack([at, at * 0]), [1, 2]), axis=axis), lambda: x[first],
            lambda: x[..., self.index(x.shape[-1])],
            lambda: tf.slice(x, [at if i == axis else 0 for i in range(rank)],
                             [length if i == axis else n for i, n in enumerate(x.shape)]),
            lambda: tf.gather_nd(x, tf.stack([tf.stack([first]), tf.stack([first * 0])])),
            lambda: tf.tensor_scatter_nd_update(x, [[first]], x[:1] * 0.5),
            lambda: tf.tensor_scatter_nd_add(x, [[first], [0]], tf.stack([x[0], x[0]])),
            lambda: tf.math.unsorted_segment_sum(x[:1], tf.stack([first]), 5) * 0.5,
            lambda: tf.scatter_nd([[first]], x[:1], [7, *x.shape[1:]]),
            lambda: tf.one_hot(tf.stack(several), rng.choice((1, 3, 9, 300)), 0.5, dtype=x.dtype),
            lambda: tf.one_hot(tf.cast(tf.stack(several) % 7, rng.choice(("uint8", "int64"))), rng.choice((3, 300))),
            lambda: tf.cast(tf.argmax(x, axis), x.dtype) * 0.0 + 0.5,
            lambda: tf.gather(x, [[0] * 2] * x.shape[0], axis=1, batch_dims=1) if rank > 1 else x,
        )  # fmt: skip
        self.read(rng.choice(functions)())

    # ---- random numbers, branches and variables ----------------------------------------------------------------------

    def draw(self) -> None:
        tf, rng, x = self.tf, self.rng, self.real()
        if x is not None:
            stateless = tf.random.stateless_uniform(x.shape, [rng.randrange(9), self.indices[0]], dtype="float32")
            drawn = rng.choice((tf.random.normal, tf.random.uniform))(x.shape)
            one = tf.cast(tf.abs(drawn) < 100.0, x.dtype)  # nobody knows the numbers
            self.add(x * one if rng.random() < 0.5 else x + tf.cast(stateless, x.dtype))

    def branch(self) -> None:
        tf, rng, x = self.tf, self.rng, self.real()
        if x is None:
            return
        n, how = rng.choice(self.indices), rng.random()
        if how < 0.4:
            self.add(tf.cond(n > rng.randrange(3), lambda: tf.sin(x) + 1.0, lambda: x * 0.5))
        elif how < 0.7:
            self.add(tf.switch_case(n, [lambda: tf.sin(x), lambda: -x, lambda: x * 0.5]))
        elif how < 0.8 and x.shape.rank:
            at = self.index(x.shape[0])
            self.read(tf.cond(n > 0, lambda: tf.gather(x, at) * 1.0, lambda: x[0] * 0.5))
        else:
            self.add(tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y) + 0.1), [0, x])[1])

    def update(self) -> None:
        """Updates variables, or reads one."""
        tf, rng = self.tf, self.rng
        v = rng.choice(self.variables)
        fitting = [t for t in self.values if t.dtype == v.dtype and t.shape == v.shape]
        peers = [w for w in self.variables if w is not v and w.dtype == v.dtype and w.shape == v.shape]
        how = rng.random()
        if how < 0.3 or not fitting:
            self.add(v.read_value() if rng.random() < 0.5 else tf.tanh(v * 1.0))
        elif how < 0.5 and peers:
            before, w = v.read_value(), rng.choice(peers)
            v.assign(w)
            w.assign(before)
            self.values.append(before)
        elif how < 0.6 and v.shape.rank:
            v.assign(tf.roll(v, 1, 0) if rng.random() < 0.5 else tf.reverse(v, [-1]))
        elif how < 0.65 and v.shape.rank:
            v.scatter_nd_update([[self.index(v.shape[0])]], rng.choice(fitting)[:1])
        else:
            name = rng.choice(("assign", "assign_add", "assign_sub"))
            value = rng.choice(fitting)
            getattr(v, name)(tf.tanh(value) if name == "assign" else value * tf.cast(0.1, v.dtype))

    def results(self) -> list[Any]:
        """Draws ops, and returns some of the values."""
        kinds = (self.unary, self.unary, self.binary, self.binary, self.integers, self.cast, self.compare, self.reduce,
                 self.rows, self.rows, self.product, self.product, self.move, self.move, self.look_up, self.look_up,
                 self.draw, self.branch)  # fmt: skip
        for _ in range(self.rng.randint(8, 30)):
            is_update = self.variables and self.rng.random() < 0.15
            (self.update if is_update else self.rng.choice(kinds))()
        return [*self.values[-self.rng.randint(1, 6) :], *self.reads]


def _broadcasts(a: Any, b: Any) -> bool:
    """Whether two shapes broadcast to a small one."""
    sizes = [(m, n) for m, n in zip(list(a)[::-1], list(b)[::-1], strict=False)]
    longer = math.prod(max(list(a), list(b), key=len))
    return all(m == n or 1 in (m, n) for m, n in sizes) and math.prod(map(max, sizes)) * longer <= MOST * 8


def small_case(rng: random.Random, tf: Any) -> Case:
    """A function of small steps on tensors of static shapes."""
    seed, float_dtype = rng.getrandbits(32), rng.choice(FLOATS)
    inputs = [(rng.choices((0, 1, 2, 3), (1, 3, 5, 3))[0], float_dtype) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        inputs.append((rng.randint(0, 2), rng.choice(INTEGERS)))
    shapes = [[_shape(rng, rank) for rank, _ in inputs] for _ in range(rng.choice((1, 1, 2, 3)))]
    updates, differentiates = rng.random() < 0.6, rng.random() < 0.3
    variable_shapes = [rng.choice(shapes[0]) for _ in range(rng.randint(1, 2))] if updates else []
    variable_shapes += variable_shapes[:1]
    dtypes = {dtype for _, dtype in inputs} | {float_dtype}

    def variables() -> list[Any]:
        starts = np.random.default_rng(seed)
        return [tf.Variable(tf.cast(starts.uniform(-1, 1, shape), float_dtype)) for shape in variable_shapes]

    def function(variables: list[Any], i: Any, j: Any, *tensors: Any) -> list[Any]:
        drawing = SmallDrawing(seed, tensors, [i, j], variables, dtypes, tf)
        if not differentiates:
            return drawing.results()
        sources = [*[t for t in tensors if t.dtype.is_floating], *variables]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            results = drawing.results()
            parts = [tf.reduce_mean(tf.cast(r, tf.float32)) for r in results if r.dtype.is_floating]
            loss = tf.add_n(parts) if parts else tf.constant(0.0)
        gradients = list(map(tf.convert_to_tensor, tape.gradient(loss, sources, unconnected_gradients="zero")))
        for v, gradient in zip(variables, gradients[len(gradients) - len(variables) :], strict=True):
            v.assign_sub(gradient * tf.cast(0.01, v.dtype))
        return [*results, *gradients]

    calls = []
    for call in range(CALLS):
        indices = [tf.constant(rng.choice((0, 0, 1, 1, 2, 3, 4, *(FAR if call else ())))) for _ in range(2)]
        numbers = np.random.default_rng(rng.getrandbits(32))
        tensors = [_tensor(rng, numbers, shape, dtype, tf)
                   for shape, (_, dtype) in zip(shapes[call % len(shapes)], inputs, strict=True)]  # fmt: skip
        calls.append([*indices, *tensors])
    return Case(function, None, calls, variables, dtypes)


def _shape(rng: random.Random, rank: int) -> list[int]:
    shape = [rng.choice(SIZES) for _ in range(rank)]
    if rank > 1 and rng.random() < 0.4:
        shape[-1] = shape[-2]
    return shape if math.prod(shape) <= MOST else [2] * rank


def _tensor(rng: random.Random, numbers: Any, shape: list[int], dtype: str, tf: Any) -> Any:
    """A random tensor, some of them in another layout."""
    transposes = rng.random() < 0.1
    inner = shape[::-1] if transposes else shape
    values = numbers.uniform(-2, 2, inner) if dtype in FLOATS else numbers.integers(0, 100, inner)
    tensor = tf.cast(tf.constant(values), dtype)
    return tf.transpose(tensor) if transposes else tensor
