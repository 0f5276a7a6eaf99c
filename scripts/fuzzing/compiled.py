"""Random compiled functions, called with sizes and indices that change between calls, and compared with eager calls.

A function draws its ops while it runs, from a seed and the names of sizes, so that it draws the same ones eagerly and
in a trace. A third of the functions are element-wise ops, reductions and broadcasts of sizes that change. Others are
loops over small tensors (`tests/support/random_loops.py`) that also read and write at indices which may be out of
range. The rest (`fuzzing/small_functions.py`) are small functions of static shapes, which become machine code.
"""

from __future__ import annotations

import math
import os
import pathlib
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests"))

FLOATS = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = (*FLOATS, *FLOATS, *INTEGERS, "bool", "bool")
# Around the borders of vectors, of blocks, and of what fits on the stack.
SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 129, 255, 257, 1000, 4095, 4097)
LONG = (16385, 32769, 70_001)
LARGER_THAN_STACKS = 2_200_003
MOST = 300_000  # elements of a tensor, except for a row of the largest size
TOLERANCE = {"float32": 2e-3, "float64": 1e-7, "float16": 3e-2, "bfloat16": 2e-1}
CALLS = 4


class Value(NamedTuple):
    """A tensor of a function: the names of its sizes, or 1."""

    tensor: Any
    dims: tuple[Any, ...]
    dtype: str


class Case(NamedTuple):
    """A random function.

    Attributes:
        function: it takes variables and tensors.
        specs: the types of the tensors; None for a trace of each combination of shapes.
        calls: the tensors of each call.
        variables: creates the variables.
        dtypes: the dtypes of all values, after a call.
    """

    function: Callable[..., Any]
    specs: Sequence[Any] | None
    calls: Sequence[Sequence[Any]]
    variables: Callable[[], list[Any]]
    dtypes: set[str]

    @property
    def tolerance(self) -> float:
        """How far results may be off: as much as the values with the fewest digits."""
        return max((TOLERANCE.get(dtype, 0.0) for dtype in self.dtypes), default=0.0)


def compare(call: dict[str, Any], tf: Any) -> dict[str, Any]:
    """What differs between a compiled function and its eager calls."""
    from fuzzing.small_functions import small_case

    if "guard_pages" in os.environ.get("LD_PRELOAD", ""):
        put_buffers_on_heap()
    rng = random.Random(call["seed"])
    case = rng.choices((cluster_case, loop_case, small_case), (35, 25, 40))[0](rng, tf)
    jit, own, others = rng.choice((True, None)), case.variables(), case.variables()
    compiled = tf.function(
        lambda *inputs: case.function(own, *inputs), input_signature=case.specs, jit_compile=jit, autograph=False
    )
    found, skipped = [], 0
    for inputs in case.calls:
        kept = [(t, t.numpy().copy()) for t in (*inputs, *(v.read_value() for v in own))]
        wanted, got = _results(lambda *x: case.function(others, *x), inputs), _results(compiled, inputs)
        got_variables, wanted_variables = ([v.numpy() for v in vs] for vs in (own, others))
        shapes = [(x.dtype.name, x.shape.as_list()) for x in inputs]
        if any(t.numpy().tobytes() != copy.tobytes() for t, copy in kept):
            found.append(f"{shapes}: an input, or a value of a variable from before the call, has changed")
        # Nothing says which updates precede an error.
        same = isinstance(wanted, Exception) or _same(got_variables, wanted_variables, case.tolerance)
        if _same(got, wanted, case.tolerance) and same:
            _copy_variables(others, own)
            continue
        before = case.variables()
        for variable, (_, value) in zip(before, kept[len(inputs) :], strict=True):
            variable.assign(value)
        _copy_variables(others, own)
        if _is_unstable(case, before, inputs, wanted, tf):
            skipped += 1
        else:
            found.append(
                f"{shapes}: {_text(got)} is not {_text(wanted)}; variables: {_text(got_variables)}, and not "
                f"{_text(wanted_variables)}"
            )
    if found:
        return {"different": found}
    return {"same": CALLS - skipped, "native": _has_native_steps(compiled)}


def put_buffers_on_heap() -> None:
    """Lets machine code keep its tensors in memory of torch, between protected pages, and not on the stack."""
    import torch

    from tapeflow.graph.compiler.loop_code import Code

    def buffer(code: Any, shape: tuple[int, ...], dtype: Any, ahead: bool = False) -> Any:
        memory = torch.empty(math.prod(shape), dtype=dtype.torch)
        return code.at(code.address(("constant", memory)), shape, dtype, ahead)

    Code.buffer = buffer


def _copy_variables(source: Sequence[Any], target: Sequence[Any]) -> None:
    """Assigns the values of variables to others, so that differences don't add up."""
    for v, w in zip(target, source, strict=True):
        v.assign(w)


def _has_native_steps(compiled: Any) -> bool:
    """Whether a trace of a function runs steps or loops as machine code."""
    return any("op_Native" in trace.source() for trace in compiled._list_all_concrete_functions())


def _results(function: Callable[..., Any], inputs: Sequence[Any]) -> list[np.ndarray] | Exception:
    import tapeflow as tf

    try:
        return [t.numpy() for t in tf.nest.flatten(function(*inputs))]
    except (tf.errors.InvalidArgumentError, ValueError) as error:
        return error


def _same(got: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two calls have the same results, or both of them raise."""
    if isinstance(got, Exception) or isinstance(wanted, Exception):
        return isinstance(got, Exception) and isinstance(wanted, Exception)
    return len(got) == len(wanted) and all(_near(a, b, tolerance) for a, b in zip(got, wanted, strict=True))


def _near(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if str(a.dtype) not in TOLERANCE:
        return bool(np.array_equal(a, b))
    x, y = a.astype("float64"), b.astype("float64")
    finite = np.abs(y[np.isfinite(y)])
    return bool(np.allclose(x, y, tolerance, tolerance * max(1.0, finite.max(initial=0.0)), equal_nan=True))


def _is_unstable(case: Case, variables: list[Any], inputs: Sequence[Any], wanted: Any, tf: Any) -> bool:
    """Whether results change if the inputs change in their last digits, or overflow."""
    if isinstance(wanted, Exception):
        return False
    if any(a.dtype.kind not in "iub" and not np.all(np.abs(a.astype("float64")) < 1e4) for a in wanted if a.size):
        return True
    near = [tf.cast(tf.cast(x, tf.float64) * (1 + 1e-5), x.dtype) if x.dtype.is_floating else x for x in inputs]
    return not _same(_results(lambda *x: case.function(variables, *x), near), wanted, case.tolerance / 10)


def _text(results: Any) -> str:
    """The results in short."""
    if isinstance(results, Exception):
        return f"{type(results).__name__}({str(results)[-200:]})"
    return "; ".join(f"{a.dtype}{a.shape} {a.ravel()[:6]!s}" for a in results)


# ---- element-wise ops and reductions ---------------------------------------------------------------------------------


class Drawing:
    """Draws the ops of a function."""

    def __init__(
        self, seed: int, values: Sequence[Value], sizes: dict[str, Any], variables: Any, dtypes: set[str], tf: Any
    ) -> None:
        self.rng, self.values, self.sizes = random.Random(seed), list(values), sizes
        self.variables, self.tf = variables, tf
        self.dtypes = dtypes

    def pick(self, wanted: Callable[[Value], bool]) -> Value | None:
        values = [v for v in self.values if wanted(v)]
        if not values:
            return None
        return values[-1] if self.rng.random() < 0.5 else self.rng.choice(values)

    def add(self, tensor: Any, dims: Sequence[Any]) -> None:
        self.values.append(Value(tensor, tuple(dims), tensor.dtype.name))
        self.dtypes.add(tensor.dtype.name)

    def unary(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dtype in FLOATS)
        if v is not None:
            functions = (
                tf.tanh, tf.sin, lambda x: tf.exp(tf.tanh(x)), tf.abs, tf.negative, lambda x: tf.square(tf.tanh(x)),
                tf.sigmoid, lambda x: tf.sqrt(tf.abs(x) + 1.0), tf.math.softplus, tf.math.erf, tf.nn.relu,
                lambda x: tf.math.log1p(tf.abs(x)), lambda x: tf.math.rsqrt(x * x + 1.0), lambda x: x * 0.5 - 0.25,
                tf.nn.gelu, tf.nn.softmax if v.dims else tf.identity,
            )  # fmt: skip
            self.add(self.rng.choice(functions)(v.tensor), v.dims)

    def integers(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dtype in INTEGERS)
        if v is not None:
            functions = [lambda x: x * 3 + 1, lambda x: x // 3, lambda x: x % 5, tf.bitwise.invert, tf.square]
            self.add(self.rng.choice(functions)(v.tensor), v.dims)

    def binary(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dtype != "bool")
        w = v and self.pick(lambda w: w.dtype == v.dtype and _together(v.dims, w.dims) is not None)
        if w is None:
            return
        functions = [
            tf.add, tf.subtract, tf.maximum, tf.minimum, tf.multiply, lambda x, y: tf.where(x < y, x, y),
            tf.math.squared_difference if v.dtype in FLOATS else tf.add,
        ]  # fmt: skip
        result = self.rng.choice(functions)(v.tensor, w.tensor)
        self.add(
            tf.tanh(result) if v.dtype in FLOATS and self.rng.random() < 0.5 else result, _together(v.dims, w.dims)
        )

    def compare(self) -> None:
        v = self.pick(lambda v: v.dtype in INTEGERS)
        w = v and self.pick(lambda w: w.dtype == v.dtype and _together(v.dims, w.dims) is not None)
        if w is not None:
            function = self.rng.choice((self.tf.less, self.tf.equal, self.tf.greater_equal))
            self.add(function(v.tensor, w.tensor), _together(v.dims, w.dims))

    def logic(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dtype == "bool")
        w = v and self.pick(lambda w: w.dtype == "bool" and _together(v.dims, w.dims) is not None)
        if w is not None:
            function = self.rng.choice(
                (tf.logical_and, tf.logical_or, lambda x, y: tf.logical_not(tf.logical_and(x, y)))
            )
            self.add(function(v.tensor, w.tensor), _together(v.dims, w.dims))

    def select(self) -> None:
        tf, c, v = self.tf, self.pick(lambda v: v.dtype == "bool"), self.pick(lambda v: v.dtype != "bool")
        dims = _together(c.dims, v.dims) if c and v else None
        if dims is not None:
            self.add(tf.where(c.tensor, v.tensor, tf.zeros_like(v.tensor)), dims)

    def cast(self) -> None:
        v, tf = self.rng.choice(self.values), self.tf
        if v.dtype in FLOATS:
            self.add(tf.cast(v.tensor, self.rng.choice(FLOATS)), v.dims)
        elif self.rng.random() < 0.5 or v.dtype == "bool":
            self.add(tf.tanh(tf.cast(v.tensor, self.rng.choice(FLOATS)) * 0.01), v.dims)
        else:
            self.add(tf.cast(v.tensor, self.rng.choice(INTEGERS)), v.dims)

    def reduce(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dims)
        if v is None:
            return
        rank, keep = len(v.dims), self.rng.random() < 0.5
        axes = self.rng.choice(([rank - 1], [rank - 1], list(range(rank - 1)), list(range(rank)), [0]))
        dims = [1 if i in axes else d for i, d in enumerate(v.dims) if keep or i not in axes]
        if v.dtype == "bool":
            self.add(self.rng.choice((tf.reduce_any, tf.reduce_all))(v.tensor, axes, keepdims=keep), dims)
            return
        function = self.rng.choice((tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_mean))
        if v.dtype in INTEGERS:
            self.add(tf.reduce_sum(v.tensor, axes, keepdims=keep), dims)
            return
        result = function(v.tensor, axes, keepdims=keep)
        self.add(result * 0.01 if function is tf.reduce_sum else result, dims)
        if keep and axes == [rank - 1] and self.rng.random() < 0.6:
            together = (
                v.tensor - result if self.rng.random() < 0.5 else tf.exp(tf.tanh(v.tensor)) / (tf.abs(result) + 1.0)
            )
            self.add(together, v.dims)

    def softmax(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dtype in FLOATS and v.dims)
        if v is not None:
            e = tf.exp(v.tensor - tf.reduce_max(v.tensor, -1, keepdims=True))
            self.add(e / tf.reduce_sum(e, -1, keepdims=True), v.dims)

    def normalize(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dtype in FLOATS and v.dims)
        if v is not None:
            centered = v.tensor - tf.reduce_mean(v.tensor, -1, keepdims=True)
            variance = tf.reduce_mean(tf.square(centered), -1, keepdims=True)
            self.add(centered * tf.math.rsqrt(variance + 0.1), v.dims)

    def move(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dims)
        if v is None:
            return
        axis = self.rng.randrange(len(v.dims))
        kind = self.rng.choice(("expand", "squeeze", "reverse", "transpose", "double", "swap"))
        if kind == "expand":
            self.add(tf.expand_dims(v.tensor, axis), (*v.dims[:axis], 1, *v.dims[axis:]))
        elif kind == "squeeze" and v.dims[axis] == 1:
            self.add(tf.squeeze(v.tensor, axis), v.dims[:axis] + v.dims[axis + 1 :])
        elif kind == "reverse":
            self.add(tf.reverse(v.tensor, [axis]), v.dims)
        elif kind == "transpose":
            self.add(tf.transpose(v.tensor), v.dims[::-1])
        elif kind == "double":
            half = tf.concat([v.tensor, v.tensor], axis)
            self.add(tf.split(half, 2, axis)[1], v.dims)
        elif kind == "swap" and len(v.dims) > 2:
            self.add(tf.transpose(v.tensor, [1, 0, *range(2, len(v.dims))]), (v.dims[1], v.dims[0], *v.dims[2:]))

    def draw(self) -> None:
        tf, v = self.tf, self.pick(lambda v: v.dims and v.dtype == "float32")
        sizes = [1 if d == 1 else self.sizes[d] for d in v.dims] if v else [None]
        if None not in sizes and 0 not in sizes:
            self.add(v.tensor + tf.random.stateless_uniform(sizes, [self.rng.randrange(9), 1]), v.dims)
            self.add(tf.broadcast_to(v.tensor, sizes), v.dims)

    def update(self) -> None:
        tf = self.tf
        for variable, dims in self.variables:
            values = [v for v in self.values if v.dims == dims and v.dtype == "float32"]
            if values:
                v = self.rng.choice(values)
                variable.assign(variable * 0.5 + tf.tanh(v.tensor))
                self.add(variable.read_value(), dims)

    def results(self) -> list[Any]:
        """Draws ops, and returns some of the last values."""
        kinds = (self.unary, self.unary, self.unary, self.integers, self.binary, self.binary, self.binary, self.compare,
                 self.logic, self.select, self.cast, self.reduce, self.reduce, self.softmax, self.softmax,
                 self.normalize, self.move, self.draw, self.update)  # fmt: skip
        for _ in range(self.rng.randint(3, 14)):
            self.rng.choice(kinds)()
        return [v.tensor for v in self.values[-self.rng.randint(1, 4) :]]


def _together(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The dims of two values that are broadcast, or None if their sizes may differ."""
    rank = max(len(a), len(b))
    if rank > 3:
        return None
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(1 not in (m, n) and m != n for m, n in zip(a, b, strict=True)):
        return None
    dims = tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    names = [d for d in dims if d != 1]
    return dims if len(set(names)) == len(names) else None  # an outer product of a long row would be too large


def cluster_case(rng: random.Random, tf: Any) -> Case:
    """A function of element-wise ops and reductions."""
    names, seed = "abc"[: rng.choice((1, 2, 2, 2, 3))], rng.getrandbits(32)
    static = {name: rng.choice(SIZES[1:24]) if rng.random() < 0.25 else None for name in names}
    if math.prod(size for size in static.values() if size) > MOST:
        static[names[0]] = None
    inputs: list[tuple[tuple[Any, ...], str]] = []
    for i in range(rng.randint(1, 4)):
        dims = tuple(names[rng.choice((0, 0, len(names) - 1)) :])
        if i:
            dims = tuple(1 if rng.random() < 0.25 else d for d in dims)
        inputs.append((dims, rng.choice(DTYPES if i else FLOATS)))
    shapes = [[1 if d == 1 else static[d] for d in dims] for dims, _ in inputs]
    specs = [tf.TensorSpec(shape, dtype) for shape, (_, dtype) in zip(shapes, inputs, strict=True)]
    differentiates = rng.random() < 0.3
    variable_dims = [dims for dims, _ in inputs if dims and all(d == 1 or static[d] for d in dims)][: rng.randint(0, 1)]

    dtypes = {dtype for _, dtype in inputs}

    def variables() -> list[Any]:
        sizes = [[1 if d == 1 else static[d] for d in dims] for dims in variable_dims]
        return [tf.Variable(tf.fill(shape, 0.5)) for shape in sizes]

    def function(variables: list[Any], *tensors: Any) -> list[Any]:
        changed = list(zip(variables, variable_dims, strict=True))
        values = [Value(t, dims, dtype) for t, (dims, dtype) in zip(tensors, inputs, strict=True)]
        drawing = Drawing(seed, values, static, changed, dtypes, tf)
        if not differentiates:
            return drawing.results()
        sources = [t for t in tensors if t.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            results = drawing.results()
            parts = [tf.reduce_mean(tf.cast(r, tf.float32)) for r in results if r.dtype.is_floating]
            loss = tf.add_n(parts) if parts else tf.constant(0.0)
        return [*results, *tape.gradient(loss, sources, unconnected_gradients="zero")]

    calls = []
    for call in range(CALLS):
        sizes = {name: _size(rng, call) if static[name] is None else static[name] for name in names}
        free = [name for name in names if static[name] is None]
        while np.prod([max(n, 1) for n in sizes.values()]) > MOST:
            sizes[rng.choice(free)] = rng.choice(SIZES[:8])
        others = {name: static[name] or 1 for name in names[:-1]}
        if call and names[-1] in free and math.prod(others.values()) <= 2 and rng.random() < 0.05:
            sizes = {**others, names[-1]: LARGER_THAN_STACKS}
        calls.append([_input(rng, [1 if d == 1 else sizes[d] for d in dims], dtype, tf) for dims, dtype in inputs])
    return Case(function, specs, calls, variables, dtypes)


def _size(rng: random.Random, call: int) -> int:
    return rng.choice(LONG) if call and rng.random() < 0.2 else rng.choice(SIZES)


def _input(rng: random.Random, shape: list[int], dtype: str, tf: Any) -> Any:
    """A random tensor, some of them in other layouts."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    layout, inner = rng.random(), list(shape)
    if layout < 0.1:
        inner = inner[::-1]
    elif layout < 0.2 and inner:
        inner[0] += 1
    values = (
        numbers.uniform(-2, 2, inner) if dtype in FLOATS else numbers.integers(0, 2 if dtype == "bool" else 100, inner)
    )
    tensor = tf.cast(tf.constant(values), dtype)
    return tf.transpose(tensor) if layout < 0.1 else tensor[1:] if layout < 0.2 and shape else tensor


# ---- loops -----------------------------------------------------------------------------------------------------------


def _read(kind: int, x: Any, entries: Any, at: Any, rng: random.Random, tf: Any) -> Any:
    """What a loop reads or writes at an index, of a tensor with two dimensions or of a list of rows."""
    rows, columns = x.shape
    size, axis = rng.choice((1, 2, rows, rows + 1, rows + 9)), rng.randrange(2)
    if kind == 0:
        return x[at]
    if kind == 1:
        return x[:, at]
    if kind == 2:
        return tf.gather(x, at, axis=axis)
    if kind == 3:
        return tf.gather(x, tf.stack([at, 0, at + 1]), axis=axis)
    if kind == 4:
        return tf.slice(x, [at, 0], [size, columns])
    if kind == 5:
        return tf.slice(x, [0, at], [rows, columns])
    if kind == 6:
        return tf.gather_nd(x, tf.stack([tf.stack([0, at]), tf.stack([at, 1])]))
    if kind == 7:
        return tf.tensor_scatter_nd_update(x[:7], [[at]], x[:1] * 0.5)
    if kind == 8:
        return tf.math.unsorted_segment_sum(x[:2], tf.stack([at, 1]), 5)
    if kind == 9:
        written = tf.raw_ops.TensorListSetItem(input_handle=entries, index=at, item=x[0] * 0.5)
        return tf.raw_ops.TensorListGetItem(
            input_handle=written, index=0, element_shape=x.shape[1:].as_list(), element_dtype=x.dtype
        )
    return tf.raw_ops.TensorListGetItem(
        input_handle=entries, index=at, element_shape=x.shape[1:].as_list(), element_dtype=x.dtype
    )


def loop_case(rng: random.Random, tf: Any) -> Case:
    """A loop over small tensors that reads and writes at indices."""
    from support.random_loops import Draw, inputs_of

    seed, kinds = rng.getrandbits(31), [rng.randrange(12) for _ in range(2)]
    _, state, captured = inputs_of(seed)
    step, smooth, differentiates = rng.choice((-1, 0, 1, 2)), rng.random() < 0.5, rng.random() < 0.3
    columns = 3

    def loop(trips: Any, start: Any, rows: Any, state: Any, captured: Any) -> Any:
        entries = tf.raw_ops.TensorListFromTensor(tensor=rows, element_shape=tf.constant([columns]))

        def body(i: Any, state: Any) -> Any:
            draw, own = Draw(seed, i, state, captured), random.Random(seed)
            reads = [_read(kind, captured[0], entries, start + i * step, own, tf) for kind in kinds]
            draw.values += [tf.tanh(read) for read in reads]
            first, *rest = draw.body(state, smooth)
            used = tf.add_n([tf.tanh(tf.reduce_mean(read)) for read in reads])  # unused reads are not run
            return i + 1, [first + used * 0.1, *rest]

        return tf.while_loop(lambda i, _: i < trips, body, [0, state])[1]

    def function(_: Any, trips: Any, start: Any, rows: Any, *tensors: Any) -> list[Any]:
        state, captured = list(tensors[:3]), list(tensors[3:])
        if not (differentiates and smooth):
            return loop(trips, start, rows, state, captured)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            last = loop(trips, start, rows, state, captured)
            loss = tf.add_n([tf.reduce_sum(tf.tanh(x)) for x in last])
        gradients = tape.gradient(loss, list(tensors), unconnected_gradients="zero")
        return [*last, *map(tf.convert_to_tensor, gradients)]

    specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32), tf.TensorSpec([None, columns], state[0].dtype)]
    specs += [tf.TensorSpec(t.shape, t.dtype) for t in (*state, *captured)]
    calls = []
    for _ in range(CALLS):
        rows = tf.constant(np.random.default_rng(seed).uniform(-1, 1, [rng.choice((0, 1, 2, 5, 40)), columns]))
        start = rng.choice((0, 0, 0, 1, 1, 2, 3, 4, 7, 47, 49, 50, -1, -3, -50, -51, 2**31 - 1, -(2**31)))
        trips = rng.choice((0, 1, 2, 5))
        calls.append([tf.constant(trips), tf.constant(start), tf.cast(rows, state[0].dtype), *state, *captured])
    return Case(function, specs, calls, list, {state[0].dtype.name})
