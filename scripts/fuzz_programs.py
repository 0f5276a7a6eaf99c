"""Random programs, computed by a `tf.function` and eagerly, in processes that have run nothing else.

    python scripts/fuzz_programs.py --draws 1000 --seed 7

Each program is a few lines of casts, reshapes, element-wise ops, reductions, products, convolutions and batch
normalizations. A forked process runs it as a function, then eagerly, then both again. What ran before may not change a
result: values, gradients and the dtypes of the tensors underneath are compared, the second run bit for bit with the
first. A program that differs is printed.

With `--batches`, `tf.vectorized_map` runs each program on several slices, some in branches and loops that differ
between slices, and its results are compared with those of single slices.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
import traceback
from collections.abc import Callable
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # threads do not live on in a forked process
os.environ.setdefault("TAPEFLOW_CHECK_PASSES", "1")

import numpy as np

import tapeflow as tf
from tapeflow.graph.compiler import clusters

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int64", "uint8", "int8", "int16", "uint16")
TOLERANCE = {"float32": 1e-4, "float64": 1e-9, "float16": 2e-2, "bfloat16": 1e-1}
LARGEST = 1e4  # of the numbers of a program: beyond, its dtypes overflow
UNARY = (
    "tf.tanh({0})", "tf.sigmoid({0})", "tf.nn.relu({0})", "tf.square(tf.sin({0}))", "-{0}", "tf.abs({0})",
    "tf.exp(tf.tanh({0}))", "tf.sqrt(tf.abs({0}) + 1.0)", "{0} * 0.5", "1.0 - {0}", "{0} + 2.0", "tf.nn.gelu({0})",
    "tf.math.softplus({0})", "tf.nn.softmax({0})", "tf.clip_by_value({0}, -1.0, 1.0)", "tf.math.rsqrt({0} * {0} + 1.0)",
)  # fmt: skip


class Value:
    """A variable of a program: its name, dtype and shape."""

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        self.name, self.dtype, self.shape = name, dtype, shape


class Program:
    """A random program.

    Args:
        seed: decides everything about it.

    Attributes:
        inputs: the names of its inputs, all of them float32, and their values.
        source: the source of a function `program` of the inputs.
        known: whether the function is traced for the inputs' shapes, or for unknown sizes of the same rank.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._values: list[Value] = []
        numbers = np.random.default_rng(seed)
        self.inputs: dict[str, np.ndarray] = {}
        for name in ("x", "y")[: self._random.choice((1, 2, 2))]:
            rows = tuple(self._random.choice((1, 2, 3, 4)) for _ in range(self._random.randint(0, 2)))
            shape = (*rows, self._random.choice((1, 2, 3, 4, 17)))  # 17: more than a vector
            self.inputs[name] = numbers.normal(size=shape).astype("float32")
            self._values.append(Value(name, "float32", shape))
        self.known = self._random.random() < 0.7
        for _ in range(self._random.randint(3, 16)):
            self._random.choice(self.kinds)(self)
        results = [v.name for v in self._values[-self._random.randint(1, 3) :]]
        header = f"def program({', '.join(self.inputs)}):"
        self.source = "\n".join([header, *("    " + line for line in self._lines), f"    return {', '.join(results)},"])

    def _pick(self, wanted: Callable[[Value], bool] = lambda v: True) -> Value | None:
        """Returns a value, half of the time the last one: passes look for results that are used once."""
        values = [v for v in self._values if wanted(v)]
        return self._random.choice(values[-1:] if self._random.random() < 0.5 else values) if values else None

    def _add(self, expression: str, dtype: str, shape: tuple[int, ...]) -> None:
        name = f"v{len(self._lines)}"
        self._lines.append(f"{name} = {expression}")
        self._values.append(Value(name, dtype, shape))

    def _cast(self) -> None:
        value = self._pick()
        dtype = self._random.choice((*FLOATS, *INTEGERS, "bool", "float32", "float32"))
        signed = value.dtype in FLOATS or value.dtype[0] == "i"
        source = f"tf.abs({value.name})" if signed and dtype[0] == "u" else value.name
        self._add(f"tf.cast({source}, tf.{dtype})", dtype, value.shape)

    def _reshape(self) -> None:
        value = self._pick()
        shape, rank = value.shape, len(value.shape)
        axis = self._random.randrange(-rank - 1, rank + 1)
        kind = self._random.choice(("expand", "expand", "flatten", "squeeze", "transpose", "split", "rows"))
        if kind == "expand":
            at = axis if axis >= 0 else axis + rank + 1
            self._add(f"tf.expand_dims({value.name}, {axis})", value.dtype, (*shape[:at], 1, *shape[at:]))
        elif kind == "flatten":
            self._add(f"tf.reshape({value.name}, [-1])", value.dtype, (int(np.prod(shape)),))
        elif kind == "squeeze" and 1 in shape:
            at = shape.index(1)
            self._add(f"tf.squeeze({value.name}, {at})", value.dtype, shape[:at] + shape[at + 1 :])
        elif kind == "transpose" and rank > 1:
            order = self._random.sample(range(rank), rank)
            self._add(f"tf.transpose({value.name}, {order})", value.dtype, tuple(shape[i] for i in order))
        elif kind == "split" and rank and shape[-1] % 2 == 0:
            split = (*shape[:-1], 2, shape[-1] // 2)
            self._add(f"tf.reshape({value.name}, {self._sizes(split)})", value.dtype, split)
        elif kind == "rows" and rank > 1:
            rows = (int(np.prod(shape[:-1])), shape[-1])
            self._add(f"tf.reshape({value.name}, {self._sizes(rows)})", value.dtype, rows)

    def _sizes(self, shape: tuple[int, ...]) -> list[int]:
        """Returns a shape with the first size left open, which unknown sizes need."""
        return [-1, *shape[1:]]

    def _unary(self) -> None:
        value = self._pick(lambda v: v.dtype in FLOATS and v.shape != ())
        if value is not None:
            self._add(self._random.choice(UNARY).format(value.name), value.dtype, value.shape)

    def _partner(self, value: Value) -> Value | None:
        """Returns a value of the same dtype that can be broadcast with it."""
        return self._pick(lambda v: v.dtype == value.dtype and _together(v.shape, value.shape) is not None)

    def _binary(self) -> None:
        value = self._pick(lambda v: v.dtype != "bool")
        other = value and self._partner(value)
        if other is not None:
            left, right = self._random.sample((value.name, other.name), 2)
            form = self._random.choice(("{} + {}", "{} - {}", "{} * {}", "tf.maximum({}, {})", "tf.minimum({}, {})"))
            self._add(form.format(left, right), value.dtype, _together(value.shape, other.shape))

    def _compare(self) -> None:
        value = self._pick(lambda v: v.dtype != "bool")
        other = value and self._partner(value)
        if other is not None:
            sign = self._random.choice((">", "<", ">=", "!="))
            against = other.name if self._random.random() < 0.5 else "0"
            shape = _together(value.shape, other.shape) if against != "0" else value.shape
            form = "tf.not_equal({}, {})" if sign == "!=" else f"{{}} {sign} {{}}"
            self._add(form.format(value.name, against), "bool", shape)

    def _select(self) -> None:
        condition = self._pick(lambda v: v.dtype == "bool")
        value = self._pick(lambda v: v.dtype != "bool")
        other = value and self._partner(value)
        if condition is None or other is None:
            return
        shape = _together(value.shape, other.shape)
        if _together(shape, condition.shape) is not None:
            call = f"tf.where({condition.name}, {value.name}, {other.name})"
            self._add(call, value.dtype, _together(shape, condition.shape))

    def _logic(self) -> None:
        value = self._pick(lambda v: v.dtype == "bool")
        other = value and self._partner(value)
        if other is not None:
            form = self._random.choice(("tf.logical_and({}, {})", "tf.logical_or({}, {})", "tf.logical_not({})"))
            shape = _together(value.shape, other.shape) if "not" not in form else value.shape
            self._add(form.format(value.name, other.name), "bool", shape)

    def _reduce(self) -> None:
        value = self._pick(lambda v: v.shape != ())
        if value is None:
            return
        names = ("any", "all") if value.dtype == "bool" else ("sum", "max", "min", "mean")
        rank, keep = len(value.shape), self._random.random() < 0.5
        axes = list(range(rank - 1)) if self._random.random() < 0.4 else [self._random.randrange(rank)]
        name = self._random.choice(names)
        kept = [1 if i in axes else d for i, d in enumerate(value.shape) if keep or i not in axes]
        self._add(f"tf.reduce_{name}({value.name}, {axes}, keepdims={keep})", value.dtype, tuple(kept))

    def _product(self) -> None:
        value = self._pick(lambda v: v.dtype in ("float32", "float64") and len(v.shape) > 1)
        if value is None:
            return
        columns = self._random.choice((2, 3, 4))
        weights = f"weights({value.shape[-1]}, {columns}, tf.{value.dtype})"
        shape = (*value.shape[:-1], columns)
        if self._random.random() < 0.5:
            self._add(f"tf.matmul({value.name}, {weights})", value.dtype, shape)
        elif self._random.random() < 0.5:
            rows = (int(np.prod(value.shape[:-1])), columns)
            flat = f"tf.reshape({value.name}, [-1, {value.shape[-1]}])"
            self._add(f"tf.matmul({flat}, {weights})", value.dtype, rows)
        else:
            self._add(f"tf.nn.bias_add(tf.matmul({value.name}, {weights}), weights({columns}, tf.{value.dtype}))",
                      value.dtype, shape)  # fmt: skip

    def _convolve(self) -> None:
        """Adds a convolution; half of the time, its results stand beside its images, as in DenseNet."""
        value = self._pick(lambda v: v.dtype == "float32" and len(v.shape) in (2, 3))
        if value is None:
            return
        before = 4 - len(value.shape)
        size, results = self._random.choice((1, 1, 3)), self._random.choice((2, 3, 17))
        filters = f"weights({size}, {size}, {value.shape[-1]}, {results}, tf.float32) * 0.2"
        image = f"{value.name}[{'None, ' * before}...]"
        y, channels = f'tf.nn.conv2d({image}, {filters}, 1, "SAME")', results
        if self._random.random() < 0.5:
            y, channels = f"tf.concat([{image}, {y}], -1)", channels + value.shape[-1]
        self._add(f"tf.squeeze({y}, {list(range(before))})", "float32", (*value.shape[:-1], channels))

    def _normalize(self) -> None:
        value = self._pick(lambda v: v.dtype in ("float32", "float64") and len(v.shape) > 1)
        if value is None:
            return
        name, channels = value.name, value.shape[-1]
        axes, shape = list(range(len(value.shape) - 1)), [1] * (len(value.shape) - 1) + [channels]
        self._lines.append(f"mean, variance = tf.nn.moments({name}, {axes})")
        scale = f"tf.reshape(weights({channels}, tf.{value.dtype}), {shape})"
        vectors = f"tf.reshape(mean, {shape}), tf.reshape(variance, {shape}), {scale}, {scale}"
        self._add(f"tf.nn.relu(tf.nn.batch_normalization({name}, {vectors}, 0.1))", value.dtype, value.shape)
        self._add("mean + 0.5 * tf.sqrt(variance + 0.1)", value.dtype, (channels,))

    def _move(self) -> None:
        value = self._pick(lambda v: v.shape != ())
        if value is None:
            return
        name, shape = value.name, value.shape
        kind = self._random.choice(("concat", "slice", "rest", "stack", "tile", "last"))
        if kind == "concat":
            self._add(f"tf.concat([{name}, {name}], -1)", value.dtype, (*shape[:-1], 2 * shape[-1]))
        elif kind == "slice" and shape[0] > 1:
            self._add(f"{name}[1:]", value.dtype, (shape[0] - 1, *shape[1:]))
        elif kind == "rest" and shape[-1] > 1:
            self._add(f"{name}[..., 1:]", value.dtype, (*shape[:-1], shape[-1] - 1))
        elif kind == "stack":
            self._add(f"tf.stack([{name}, {name}], 1)", value.dtype, (shape[0], 2, *shape[1:]))
        elif kind == "tile":
            self._add(f"tf.tile({name}, {[2] * len(shape)})", value.dtype, tuple(2 * d for d in shape))
        else:
            self._add(f"{name}[..., -1]", value.dtype, shape[:-1])

    kinds = (
        _cast, _cast, _cast, _reshape, _reshape, _reshape, _unary, _unary, _binary, _binary, _compare, _select, _logic,
        _reduce, _product, _move, _convolve, _normalize,
    )  # fmt: skip


def _together(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """Returns the shape of two shapes that are broadcast, or None if they don't go together or become large."""
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        return None
    return shape if np.prod(shape) <= 4096 else None


def weights(*arguments: Any) -> tf.Tensor:
    """Returns a constant matrix, or vector, of these sizes; the last argument is its dtype."""
    *sizes, dtype = arguments
    return tf.constant(np.sin(np.arange(1.0, 1.0 + np.prod(sizes))).reshape(sizes), dtype)


def _with_gradients(program: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function that computes a program's results, and the gradients of their sum."""

    def computed(*inputs: tf.Tensor) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            results = program(*inputs)
            loss = tf.add_n([tf.reduce_sum(tf.cast(r, tf.float32)) for r in results])
        return [*results, *tape.gradient(loss, inputs, unconnected_gradients="zero")]

    return computed


def _arrays(tensors: list[tf.Tensor]) -> list[np.ndarray]:
    """Returns the values of tensors, whose dtypes must be those of the tensors underneath."""
    for t in tensors:
        if t.value.dtype is not t.dtype.torch:
            raise AssertionError(f"a tensor of {t.dtype.name} holds {t.value.dtype}")
    return [t.numpy() for t in tensors]


def _differences(got: list[np.ndarray], wanted: list[np.ndarray], slack: float = 1.0) -> list[str]:
    found = []
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            found.append(f"result {i} is {a.dtype}{a.shape}, eagerly {b.dtype}{b.shape}")
        elif not slack and a.tobytes() != b.tobytes():
            found.append(f"result {i} is {a}, and was {b}")
        elif slack:
            tolerance = slack * TOLERANCE.get(str(b.dtype), 0)
            if not np.allclose(a.astype("float64"), b.astype("float64"), tolerance, tolerance, equal_nan=True):
                found.append(f"result {i} is {a}, eagerly {b}")
    return found


def differences(seed: int) -> list[str] | None:
    """Runs the program of a seed in this process, which should have run nothing; returns what differs.

    None means that the program can't be compared: it overflows, or a tiny change of its inputs changes its results.
    """
    program = Program(seed)
    namespace: dict[str, Any] = {"tf": tf, "weights": weights}
    exec(program.source, namespace)  # the source is the one that was just written
    computed = _with_gradients(namespace["program"])
    inputs = [tf.constant(v) for v in program.inputs.values()]
    specs = None if program.known else [tf.TensorSpec([None] * v.ndim, tf.float32) for v in program.inputs.values()]

    def in_function() -> list[np.ndarray]:
        return _arrays(tf.function(computed, input_signature=specs, autograph=False)(*inputs))

    cold, eager = in_function(), _arrays(computed(*inputs))
    found = _differences(cold, eager)
    if found and _is_unstable(computed, program.inputs, eager):
        return None
    found += [f"again in a function: {d}" for d in _differences(in_function(), cold, 0)]
    found += [f"again eagerly: {d}" for d in _differences(_arrays(computed(*inputs)), eager, 0)]
    return found


def batch_differences(seed: int) -> list[str] | None:
    """Runs the program of a seed for several slices at once and one by one, as `differences` does."""
    program = Program(seed)
    namespace: dict[str, Any] = {"tf": tf, "weights": weights}
    exec(program.source, namespace)  # the source is the one that was just written
    computed = _with_gradients(_in_control_flow(namespace["program"], seed % 4))
    factors = np.linspace(-1.0, 1.2, 4, dtype="float32")
    slices = [[tf.constant(v * f) for v in program.inputs.values()] for f in factors]
    batches = [tf.stack(column) for column in zip(*slices, strict=True)]
    rows = [_arrays(computed(*inputs)) for inputs in slices]
    wanted = [np.stack(column) for column in zip(*rows, strict=True)]

    def mapped(*inputs: tf.Tensor) -> list[tf.Tensor]:
        return tf.vectorized_map(lambda one: computed(*one), inputs, warn=False)

    specs = None if program.known else [tf.TensorSpec([None, *v.shape], tf.float32) for v in program.inputs.values()]
    found = _differences(_arrays(mapped(*batches)), wanted)
    in_function = tf.function(mapped, input_signature=specs, autograph=False)
    found += [f"in a function: {d}" for d in _differences(_arrays(in_function(*batches)), wanted)]
    with tf.GradientTape() as tape:
        tape.watch(batches)
        recorded = mapped(*batches)
    found += [f"under a tape: {d}" for d in _differences(_arrays(recorded), wanted)]
    scaled = [{n: v * f for n, v in program.inputs.items()} for f in factors]
    if found and any(_is_unstable(computed, one, row) for one, row in zip(scaled, rows, strict=True)):
        return None
    return found


def _in_control_flow(program: Callable[..., Any], kind: int) -> Callable[..., Any]:
    """Returns the function that runs a program in a branch (1), after a loop (2), in both (3), or as it is (0)."""
    program = tf.autograph.experimental.do_not_convert(program)  # its source is in no file

    def run(*inputs: tf.Tensor) -> Any:
        first = inputs[0]
        if kind & 2:
            trips = tf.cast(tf.reduce_sum(tf.abs(first)) * 3.0, tf.int32) % 3
            first = tf.while_loop(lambda i, a: i < trips, lambda i, a: (i + 1, tf.sin(a) + 0.5), (0, first))[1]
        others = inputs[1:]
        if kind & 1:
            return tf.cond(
                tf.reduce_sum(inputs[0]) > 0.0, lambda: program(first, *others), lambda: program(-first, *others)
            )
        return program(first, *others)

    return run


def _is_unstable(computed: Callable[..., Any], inputs: dict[str, np.ndarray], eager: list[np.ndarray]) -> bool:
    """Returns True if a program's results are too large, or change when its inputs change in their last digits."""
    if any(not np.all(np.abs(e.astype("float64")) < LARGEST) for e in eager):
        return True
    slightly = [[tf.constant(v * np.float32(factor)) for v in inputs.values()] for factor in (1 + 3e-6, 1 - 3e-6)]
    low = bool({"float16", "bfloat16"} & {str(e.dtype) for e in eager})
    return any(_differences(_arrays(computed(*near)), eager) for near in slightly) or low


def run_forked(seed: int, compare: Callable[[int], list[str] | None] = differences) -> tuple[str, str]:
    """Runs the program of a seed in a process of its own; returns "same", "skipped" or "different", and a report."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            found = compare(seed)
            report = "skipped" if found is None else "\n".join(["different", *found]) if found else "same"
        except BaseException:
            report = "different\n" + traceback.format_exc()
        os.write(writer, report.encode()[:60000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        report = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    outcome, _, rest = (report or "different\nthe process died").partition("\n")
    return outcome, rest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next ones count on from it")
    parser.add_argument("--clusters", action="store_true", help="compile all connected element-wise steps to loops")
    parser.add_argument("--batches", action="store_true", help="compare vectorized_map with single slices")
    args = parser.parse_args()
    importlib.import_module("tapeflow.graph.codegen.passes.reuse")._LEAST_BYTES = 0
    if args.clusters:
        clusters._LEAST_WORK = 0
    counts = {"same": 0, "skipped": 0, "different": 0}
    for seed in range(args.seed, args.seed + args.draws):
        outcome, report = run_forked(seed, batch_differences if args.batches else differences)
        counts[outcome] += 1
        if outcome == "different":
            print(f"--- seed {seed}\n{Program(seed).source}\n{report}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
