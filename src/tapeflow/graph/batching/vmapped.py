"""A compiled function on all slices of a batch at once.

`torch.func.vmap` runs it, so that each kernel is called once, for the whole batch. A step that vmap can't run (its
kernel looks at values, or goes through NumPy) is computed slice by slice, and the rest still at once. Where that is not
enough, the function as a whole runs once for each slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.kernels import compute
from tapeflow.core.rng.seeds import of_operation
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.graph.codegen.compile import Compiled, arguments
from tapeflow.graph.codegen.passes.binding import bind
from tapeflow.graph.codegen.passes.pruning import prune
from tapeflow.graph.codegen.program import CALLS, Step
from tapeflow.graph.codegen.writing import Writer
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.logger import get_logger

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body

# The forms in which an output of the function is returned: the outputs of all slices, stacked; their sum; or the one
# value that all slices share.
STACKED, SUMMED, SHARED = "stacked", "summed", "shared"


class Manner(NamedTuple):
    """A program's options for computing slices.

    Attributes:
        fallback: whether steps that can't be computed at once may be computed slice by slice.
        warn: whether to log a warning then.
        chunk: the most slices that are computed at once; None for no limit.
    """

    fallback: bool = True
    warn: bool = True
    chunk: int | None = None


# ---- operations that differ between slices ---------------------------------------------------------------------------


def draws(op: Any) -> bool:
    """Tests whether an op, or a function that it calls, has another result each time it runs, as random ops do.

    Each slice then has a result of its own. Of the ops that TensorFlow's registry calls stateful, those that check or
    pass on each element by itself (`CheckNumerics`, `GuaranteeConst`) are no such ops.
    """
    if isinstance(op, GraphOp):
        return any(draws(o.op) for body in op.bodies.values() for o in body.graph._operations)
    return op.opdef.stateful and not op.elementwise


def own_stream(operation: Operation, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function, drawing an operation's random numbers, if any, from the stream of that operation."""
    if isinstance(operation.op, GraphOp) or not draws(operation.op):
        return function
    return of_operation(operation, function)


def varying(operations: Iterable[Operation], slices: Iterable[SymbolicTensor]) -> set[int]:
    """Returns the ids of the operations of a function whose outputs differ between slices.

    Args:
        operations: the function's, in order.
        slices: those of its inputs that differ.
    """
    ids = {id(t.op) for t in slices}
    for operation in operations:
        if operation.op.reads_shape:  # slices have the same shape, and lists of them the same length
            continue
        if draws(operation.op) or any(id(t.op) in ids for t in operation.inputs):
            ids.add(id(operation))
    return ids


def hindrance(body: Body, batched: Sequence[bool]) -> str:
    """Returns the reason why a function can't run on all slices at once, "" if it can.

    Reasons are side effects, and tensors that differ between slices and hold no numbers.
    """
    effects = [o.type for o in body.graph.effects() if not o.op.elementwise and o.type != "Assert"]
    if effects:
        return f"{effects[0]} has side effects"
    slices = [t for t, b in zip(body.inputs, batched, strict=True) if b]
    ids = varying(body.graph._operations, slices)
    for t in (t for o in body.graph._operations if id(o) in ids for t in o.outputs):
        if t.dtype is string or (t.dtype.torch is None and any(t is out for out in (*slices, *body.outputs))):
            return f"{t.op.type} gives a {t.dtype.name} tensor for each slice"
    return ""


def only_computes(body: Body) -> bool:
    """Tests whether a function consists of kernels on tensors, and calls of such functions."""
    pure = ("Const", "Placeholder", "NoOp", READ.name)
    return all(
        only_computes(o.op.bodies["f"]) if o.type in CALLS else o.type in pure
        for o in body.graph._operations
        if isinstance(o.op, GraphOp)
    )


# ---- steps that vmap can't run ---------------------------------------------------------------------------------------


class _SliceBySlice(torch.autograd.Function):
    """A kernel, called by itself for each slice."""

    @staticmethod
    def forward(kernel: Callable[..., Any], *values: Any) -> Any:
        return kernel(*values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Saves nothing: gradients are TapeFlow's own."""

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[Any], kernel: Callable[..., Any], *values: Any) -> Any:
        rows = []
        for i in range(info.batch_size):
            slices = [v if d is None else v.select(d, i) for v, d in zip(values, in_dims[1:], strict=True)]
            rows.append(_SliceBySlice.apply(kernel, *slices))
        outputs = tuple([torch.stack(column) for column in zip(*rows, strict=True)])
        return outputs, (0,) * len(outputs)


class _RandomFill(torch.autograd.Function):
    """A kernel that fills a shape with random numbers: `kernel(*leading_dimensions)`."""

    @staticmethod
    def forward(kernel: Callable[..., Any], number: torch.Tensor) -> Any:
        return kernel()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Saves nothing: random numbers have no gradients."""

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[Any], kernel: Callable[..., Any], number: torch.Tensor) -> Any:
        return _RandomFill.apply(lambda *outer: kernel(*outer, info.batch_size), number.select(in_dims[1], 0)), 0


def _by_slices(step: Step, number: SymbolicTensor) -> Step:
    """Returns a step that computes another one slice by slice.

    The slice's number is its first input, so that vmap never takes its result to be the same for all slices.
    """
    tensors = step.inputs

    def kernel(_: Any, *values: Any) -> tuple[Any, ...]:
        if not step.registered:
            result = step.op.kernel(*values)
        else:
            by_id = {id(t): v for t, v in zip(tensors, values, strict=True)}
            eager = arguments(step.op, step.args, lambda t: EagerTensor(by_id[id(t)], t.dtype))
            result, _ = own_stream(step.operation, compute)(step.op, eager, step.types, step.operation.name)
        return () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)

    op = GraphOp(step.name, lambda *values: _SliceBySlice.apply(kernel, *values), gives_tuple=True)
    return Step(op, [number, *tensors], step.outputs, step.origins, must_run=step.must_run)


def _random_fill(step: Step, number: SymbolicTensor, constant: Callable[[SymbolicTensor], Any]) -> Step:
    """Returns a step that draws a random op's numbers for all slices in one call.

    Args:
        step: of an op with the trait `random_fill`, whose inputs are all constants.
        number: the slice's number.
        constant: returns the value of a constant.
    """
    shape, *rest = arguments(step.op, step.args, lambda t: EagerTensor(constant(t), t.dtype))

    def fill(*outer: int) -> torch.Tensor:
        args = [(*outer, *shape), *rest]
        numbers, _ = own_stream(step.operation, compute)(step.op, args, step.types, step.operation.name)
        return numbers

    op = GraphOp(step.name, lambda number: _RandomFill.apply(fill, number))
    return Step(op, [number], step.outputs, step.origins)


# ---- functions -------------------------------------------------------------------------------------------------------


class Sliced(Compiled):
    """A function of one slice as vmap runs it. The slice's number is its last input."""

    special_passes = (prune, bind)  # nothing in place, on many tensors in one call, or that vmap takes apart again
    writer = Writer

    def __init__(self, body: Body, outputs: Sequence[SymbolicTensor]) -> None:
        number = Operation(body.graph, GraphOp("Placeholder"), "slice_number", ())
        self._number = SymbolicTensor(number, 0, int64, TensorShape([]))
        number.outputs.append(self._number)
        super().__init__(f"slice_of_{body.name}", [*body.inputs, self._number], outputs, body.graph.effects())
        self._slice_by_slice: set[int] = set()  # the ids of the steps that are computed slice by slice
        steps = self.program.steps
        self.program.steps = [self._rewritten(step) for step in steps]
        if any(a is not b for a, b in zip(steps, self.program.steps, strict=True)):
            self.rewrite()

    def _rewritten(self, step: Step) -> Step:
        """Returns the step in the form that vmap runs first."""
        if step.name in CALLS and not draws(step.op):
            callee = Sliced(step.op.body, step.op.results)
            op = GraphOp(step.name, callee.run, gives_tuple=True)
            return Step(op, [*step.inputs, self._number], step.outputs, step.origins, must_run=step.must_run)
        if step.op is READ or not draws(step.op):
            return step
        if step.op.random_fill and all(self.program.constant(t) is not None for t in step.inputs):
            return _random_fill(step, self._number, self.program.constant)
        return self._by_slices(step)

    def _by_slices(self, step: Step) -> Step:
        rewritten = _by_slices(step, self._number)
        self._slice_by_slice.add(id(rewritten))
        return rewritten

    def run(self, *values: Any) -> Any:
        """Runs the function on the raw values of slices, inside vmap; errors are as kernels raise them."""
        return self.function(*values)

    def split_failed(self, error: Exception) -> str:
        """Rewrites the step that raised an error, so that it is computed slice by slice from now on.

        Returns:
            The name of its op; "" if no step raised the error, or the one that did is computed slice by slice already.
        """
        step, _ = self.failed(error)
        if step is None:
            return ""
        steps = self.program.steps
        origins = {id(o) for o in step.origins}
        failed = [
            i for i, s in enumerate(steps)
            if id(s) not in self._slice_by_slice and origins & {id(o) for o in s.origins}
        ]  # fmt: skip
        for i in failed:
            steps[i] = self._by_slices(steps[i])
        if not failed:
            return ""
        self.rewrite()
        return step.name


class OnSlices:
    """The kernel of a function of slices. Its inputs are the number of slices, then batches and shared values.

    Args:
        body: the function of one slice.
        results: the tensors of its graph that are the kernel's outputs.
        batched: for each input of the body, whether the kernel has a batch of slices for it, or one shared value.
        forms: for each of `results`, `STACKED`, `SUMMED` or `SHARED`.
        manner: the options for computing slices.
    """

    def __init__(
        self,
        body: Body,
        results: Sequence[SymbolicTensor],
        batched: Sequence[bool],
        forms: Sequence[str],
        manner: Manner,
    ) -> None:
        self.body, self.results, self.batched, self.forms, self.manner = (
            body,
            list(results),
            batched,
            list(forms),
            manner,
        )
        self._sliced: Sliced | None = None
        self._one_by_one = False

    @property
    def sliced(self) -> Sliced:
        """The function of one slice that vmap runs."""
        if self._sliced is None:
            slices = [t for t, b in zip(self.body.inputs, self.batched, strict=True) if b]
            ids = varying(self.body.graph._operations, slices)
            self._varying = [id(t.op) in ids for t in self.results]
            self._sliced = Sliced(self.body, self.results)
        return self._sliced

    def __call__(self, count: Any, *values: Any) -> tuple[Any, ...]:
        """Computes the raw values of the outputs.

        Raises:
            OpError: an op failed.
            ValueError: a step can't be computed at once, and `manner` excludes slice by slice.
        """
        count = int(count)
        for value, batched in zip(values, self.batched, strict=True):
            if batched and value.shape[0] != count:
                sizes = [v.shape[0] for v, b in zip(values, self.batched, strict=True) if b]
                raise invalid(f"vectorized_map: first dimensions {sizes} differ")
        if not count:
            return self._empty(values)
        while not self._one_by_one:
            sliced = self.sliced
            try:
                return self._at_once(count, values)
            except Exception as error:
                name = sliced.split_failed(error)
                # An error of the program's own is raised again here, from the slice that causes it.
                outputs = None if name and self.manner.fallback else self._each(count, values)
                self._report(name or self.body.name, error)
                if outputs is not None:
                    self._one_by_one = True
                    return outputs
        return self._each(count, values)

    def compiled(self, count: int, *values: Any) -> tuple[Any, ...]:
        """Computes the outputs at once or not at all, for a compiler that traces the kernels called.

        Raises:
            Exception: a step can't be computed at once.
        """
        if self._one_by_one:
            raise ValueError(f"{self.body.name} is computed slice by slice")
        return self._at_once(count, values) if count else self._empty(values)

    def _report(self, name: str, error: Exception) -> None:
        """Warns that an op or function is computed slice by slice, or raises if `manner` excludes that."""
        if not self.manner.fallback:
            raise ValueError(
                f"No pfor vectorization defined for {name}. Allow fallback_to_while_loop to have it computed for the "
                "slices one by one."
            ) from error
        if self.manner.warn:
            get_logger().warning(
                "vectorized_map computes %s for the slices one by one, not for all of them at once", name
            )

    def _at_once(self, count: int, values: Sequence[Any]) -> tuple[Any, ...]:
        run, places = self.sliced.run, [i for i, b in enumerate(self.batched) if b]
        inputs = list(values)
        outputs: Sequence[Any] = ()  # of `one`, set while it runs: here the values that slices share are read from it

        def one(number: torch.Tensor, *slices: torch.Tensor) -> tuple[torch.Tensor, ...]:
            nonlocal outputs
            for i, value in zip(places, slices, strict=True):
                inputs[i] = value
            outputs = run(*inputs, number)
            return tuple([v for v, varies in zip(outputs, self._varying, strict=True) if varies])

        at_once = torch.func.vmap(one, randomness="different", chunk_size=self.manner.chunk)
        numbers = torch.arange(count)
        stacked = iter(at_once(numbers, *[values[i] for i in places]))
        return tuple(
            [
                _summed(next(stacked)) if form == SUMMED and varies
                else next(stacked) if varies
                else value * count if form == SUMMED
                else _repeated(value, count) if form == STACKED
                else value
                for value, form, varies in zip(outputs, self.forms, self._varying, strict=True)
            ]
        )  # fmt: skip

    def _each(self, count: int, values: Sequence[Any]) -> tuple[Any, ...]:
        """Computes the outputs by running the function for each slice."""
        run = self.body.returning(self.results)
        rows = [run(*[v[i] if b else v for v, b in zip(values, self.batched, strict=True)]) for i in range(count)]
        columns = zip(*rows, strict=True)
        return tuple([_joined(column, form) for column, form in zip(columns, self.forms, strict=True)])

    def _empty(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Computes the outputs for no slices: empty batches, in the shapes that a slice of zeros leads to."""
        zeros = [v.new_zeros(v.shape[1:]) if b else v for v, b in zip(values, self.batched, strict=True)]
        outputs = self.body.returning(self.results)(*zeros)
        return tuple([
            value if form == SHARED else torch.zeros_like(value) if form == SUMMED else _repeated(value, 0)
            for value, form in zip(outputs, self.forms, strict=True)
        ])  # fmt: skip


def _summed(values: torch.Tensor) -> torch.Tensor:
    return values.sum(0, dtype=values.dtype)


def _repeated(value: Any, count: int) -> Any:
    if isinstance(value, np.ndarray):
        return np.broadcast_to(value, (count, *value.shape))
    return value.expand(count, *value.shape)


def _joined(column: tuple[Any, ...], form: str) -> Any:
    """Returns one value for the outputs of all slices."""
    if form == SHARED:
        return column[0]
    if form == SUMMED:
        return _summed(torch.stack(column))
    shapes = {tuple(v.shape) for v in column}
    if len(shapes) > 1:
        raise invalid(f"vectorized_map: the slices gave results of different shapes: {sorted(shapes)}")
    return np.stack(column) if isinstance(column[0], np.ndarray) else torch.stack(column)
