"""A compiled function on all slices of a batch at once.

`torch.func.vmap` runs it, so that each kernel is called once, for the whole batch. What vmap can't take (a kernel that
looks at values, or that goes through NumPy) is computed slice by slice, and the rest still at once. Where that is not
enough, the function as a whole runs once for each slice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.kernels import compute
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

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body

logger = logging.getLogger("tapeflow")

# What becomes of an output of the function: all slices', stacked; their sum; or what is the same for all of them.
STACKED, SUMMED, SHARED = "stacked", "summed", "shared"

# The random ops whose numbers are all of one distribution: they are drawn for all slices in one call.
_FILLED = frozenset({"RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt"})


# What is stateful by TensorFlow's registry or has effects, and can still run for all slices at once.
CHECKS = frozenset({"Assert", "CheckNumerics", "GuaranteeConst"})
# What says something of a shape, or how long a list is, which is the same for all slices.
OF_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank", "TensorListLength", "TensorListElementShape"})


class Manner(NamedTuple):
    """How a program wants slices to be computed.

    Attributes:
        fallback: whether what can't be computed at once may be computed slice by slice.
        warn: whether to say so.
        chunk: how many slices are computed at once at most; None for all.
    """

    fallback: bool = True
    warn: bool = True
    chunk: int | None = None


# ---- what depends on slices ------------------------------------------------------------------------------------------


def draws(op: Any) -> bool:
    """Whether an op, or a function that it calls, draws random numbers of which each slice has its own."""
    if isinstance(op, GraphOp):
        return any(draws(o.op) for body in op.bodies.values() for o in body.graph._operations)
    return op.opdef.stateful and op.name not in CHECKS


def own_stream(operation: Operation, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that draws an operation's random numbers, if it has any, from the stream of that operation."""
    if isinstance(operation.op, GraphOp) or not draws(operation.op):
        return function
    from tapeflow.random.seeds import of_operation  # the package needs graphs

    return of_operation(operation, function)


def varying(operations: Iterable[Operation], slices: Iterable[SymbolicTensor]) -> set[int]:
    """The ids of the operations whose outputs are not the same for all slices, of a function that takes these."""
    found = {id(t.op) for t in slices}
    for operation in operations:
        if operation.type in OF_SHAPES:
            continue
        if draws(operation.op) or any(id(t.op) in found for t in operation.inputs):
            found.add(id(operation))
    return found


def hindrance(body: Body, batched: Sequence[bool]) -> str:
    """Why a function can't run on all slices at once: what it does besides, or has of each slice that is no number;
    "" where it can."""
    effects = [o.type for o in body.graph.effects() if o.type not in CHECKS]
    if effects:
        return f"{effects[0]} has side effects"
    slices = [t for t, b in zip(body.inputs, batched, strict=True) if b]
    found = varying(body.graph._operations, slices)
    for t in (t for o in body.graph._operations if id(o) in found for t in o.outputs):
        if t.dtype is string or (t.dtype.torch is None and any(t is out for out in (*slices, *body.outputs))):
            return f"{t.op.type} gives a {t.dtype.name} tensor for each slice"
    return ""


def only_computes(body: Body) -> bool:
    """Whether a function has nothing but kernels on tensors, and calls of such functions."""
    known = ("Const", "Placeholder", "NoOp", READ.name)
    return all(
        only_computes(o.op.bodies["f"]) if o.type in CALLS else o.type in known
        for o in body.graph._operations
        if isinstance(o.op, GraphOp)
    )


# ---- steps that vmap can't take --------------------------------------------------------------------------------------


class _SliceBySlice(torch.autograd.Function):
    """A kernel, called by itself for each slice."""

    @staticmethod
    def forward(kernel: Callable[..., Any], *values: Any) -> Any:
        return kernel(*values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is kept: gradients are TapeFlow's own."""

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[Any], kernel: Callable[..., Any], *values: Any) -> Any:
        rows = []
        for i in range(info.batch_size):
            taken = [v if d is None else v.select(d, i) for v, d in zip(values, in_dims[1:], strict=True)]
            rows.append(_SliceBySlice.apply(kernel, *taken))
        made = tuple([torch.stack(column) for column in zip(*rows, strict=True)])
        return made, (0,) * len(made)


class _Drawn(torch.autograd.Function):
    """A kernel that fills a shape with random numbers: `kernel(*dimensions in front)`."""

    @staticmethod
    def forward(kernel: Callable[..., Any], number: torch.Tensor) -> Any:
        return kernel()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is kept."""

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[Any], kernel: Callable[..., Any], number: torch.Tensor) -> Any:
        return _Drawn.apply(lambda *outer: kernel(*outer, info.batch_size), number.select(in_dims[1], 0)), 0


def _by_slices(step: Step, number: SymbolicTensor) -> Step:
    """The step that computes another one slice by slice. It takes the slice's number, so that it never looks the same
    for all slices."""
    tensors = step.inputs

    def kernel(_: Any, *values: Any) -> tuple[Any, ...]:
        if not step.registered:
            made = step.op.kernel(*values)
        else:
            given = {id(t): v for t, v in zip(tensors, values, strict=True)}
            eager = arguments(step.op, step.args, lambda t: EagerTensor(given[id(t)], t.dtype))
            made, _ = own_stream(step.operation, compute)(step.op, eager, step.types, step.operation.name)
        return () if made is None else tuple(made) if isinstance(made, (tuple, list)) else (made,)

    op = GraphOp(step.name, lambda *values: _SliceBySlice.apply(kernel, *values), gives_tuple=True)
    return Step(op, [number, *tensors], step.outputs, step.origins, must_run=step.must_run)


def _drawn(step: Step, number: SymbolicTensor, known: Callable[[SymbolicTensor], Any]) -> Step:
    """The step that draws a random op's numbers for all slices. What the op takes is known."""
    shape, *rest = arguments(step.op, step.args, lambda t: EagerTensor(known(t), t.dtype))

    def fill(*outer: int) -> torch.Tensor:
        given = [(*outer, *shape), *rest]
        made, _ = own_stream(step.operation, compute)(step.op, given, step.types, step.operation.name)
        return made

    op = GraphOp(step.name, lambda number: _Drawn.apply(fill, number))
    return Step(op, [number], step.outputs, step.origins)


# ---- functions -------------------------------------------------------------------------------------------------------


class Sliced(Compiled):
    """A function of one slice as vmap runs it. It takes the slice's number after its inputs."""

    special_passes = (prune, bind)  # nothing in place, on many tensors in one call, or that vmap takes apart again
    writer = Writer

    def __init__(self, body: Body, outputs: Sequence[SymbolicTensor]) -> None:
        number = Operation(body.graph, GraphOp("Placeholder"), "slice_number", ())
        self._number = SymbolicTensor(number, 0, int64, TensorShape([]))
        number.outputs.append(self._number)
        super().__init__(f"slice_of_{body.name}", [*body.inputs, self._number], outputs, body.graph.effects())
        self._alone: set[int] = set()
        steps = self.program.steps
        self.program.steps = [self._at_once(step) for step in steps]
        if any(a is not b for a, b in zip(steps, self.program.steps, strict=True)):
            self.rewrite()

    def _at_once(self, step: Step) -> Step:
        """The step in the form in which it is tried first."""
        if step.name in CALLS and not draws(step.op):
            callee = Sliced(step.op.body, step.op.gives)
            op = GraphOp(step.name, callee.run, gives_tuple=True)
            return Step(op, [*step.inputs, self._number], step.outputs, step.origins, must_run=step.must_run)
        if step.op is READ or not draws(step.op):
            return step
        if step.name in _FILLED and all(self.program.constant(t) is not None for t in step.inputs):
            return _drawn(step, self._number, self.program.constant)
        return self._by_slices(step)

    def _by_slices(self, step: Step) -> Step:
        made = _by_slices(step, self._number)
        self._alone.add(id(made))
        return made

    def run(self, *values: Any) -> Any:
        """Runs the function on the raw values of slices, inside vmap; errors are as kernels raise them."""
        return self.function(*values)

    def give_way(self, error: Exception) -> str:
        """Has the step that raised an error computed slice by slice from now on.

        Returns:
            The name of its op; "" where nothing is left to be done about it.
        """
        step, _ = self.failed(error)
        if step is None:
            return ""
        steps = self.program.steps
        made = {id(o) for o in step.origins}
        found = [i for i, s in enumerate(steps) if id(s) not in self._alone and made & {id(o) for o in s.origins}]
        for i in found:
            steps[i] = self._by_slices(steps[i])
        if not found:
            return ""
        self.rewrite()
        return step.name


class OnSlices:
    """The kernel of a function of slices: takes their number, then the batches and what is the same for all slices.

    Args:
        body: the function.
        gives: the tensors of its graph that are given.
        batched: for each input of the body, whether slices are taken of it.
        forms: for each of `gives`, what becomes of it.
        manner: how slices are to be computed.
    """

    def __init__(
        self, body: Body, gives: Sequence[SymbolicTensor], batched: Sequence[bool], forms: Sequence[str], manner: Manner
    ) -> None:
        self.body, self.gives, self.batched, self.forms, self.manner = body, list(gives), batched, list(forms), manner
        self._sliced: Sliced | None = None
        self._one_by_one = False

    def add(self, tensor: SymbolicTensor, form: str) -> None:
        """Has it give another tensor."""
        self.gives.append(tensor)
        self.forms.append(form)
        self._sliced = None

    @property
    def sliced(self) -> Sliced:
        """The function of one slice, for vmap."""
        if self._sliced is None:
            slices = [t for t, b in zip(self.body.inputs, self.batched, strict=True) if b]
            found = varying(self.body.graph._operations, slices)
            self._varying = [id(t.op) in found for t in self.gives]
            self._sliced = Sliced(self.body, self.gives)
        return self._sliced

    def __call__(self, count: Any, *values: Any) -> tuple[Any, ...]:
        """Raw values of what is given.

        Raises:
            OpError: an op failed.
            ValueError: something can't be computed at once, and must not be computed otherwise.
        """
        count = int(count)
        for value, batched in zip(values, self.batched, strict=True):
            if batched and value.shape[0] != count:
                sizes = [v.shape[0] for v, b in zip(values, self.batched, strict=True) if b]
                raise invalid(f"vectorized_map: first dimensions {sizes} differ")
        if not count:
            return self._of_nothing(values)
        while not self._one_by_one:
            sliced = self.sliced
            try:
                return self._at_once(count, values)
            except Exception as error:
                name = sliced.give_way(error)
                whole = None if name and self.manner.fallback else self._each(count, values)  # the program's own errors
                self._tell(name or self.body.name, error)
                if whole is not None:
                    self._one_by_one = True
                    return whole
        return self._each(count, values)

    def compiled(self, count: int, *values: Any) -> tuple[Any, ...]:
        """The same for a compiler of kernels that looks at what is called: at once or not at all.

        Raises:
            Exception: something can't be computed at once.
        """
        if self._one_by_one:
            raise ValueError(f"{self.body.name} is computed slice by slice")
        return self._at_once(count, values) if count else self._of_nothing(values)

    def _tell(self, name: str, error: Exception) -> None:
        """Says that something is computed slice by slice, or that it must not be."""
        if not self.manner.fallback:
            raise ValueError(
                f"No pfor vectorization defined for {name}. Allow fallback_to_while_loop to have it computed for the "
                "slices one by one."
            ) from error
        if self.manner.warn:
            logger.warning("vectorized_map computes %s for the slices one by one, not for all of them at once", name)

    def _at_once(self, count: int, values: Sequence[Any]) -> tuple[Any, ...]:
        run, places = self.sliced.run, [i for i, b in enumerate(self.batched) if b]
        shared = list(values)
        given: Sequence[Any] = ()

        def one(number: torch.Tensor, *slices: torch.Tensor) -> tuple[torch.Tensor, ...]:
            nonlocal given
            for i, value in zip(places, slices, strict=True):
                shared[i] = value
            given = run(*shared, number)
            return tuple([v for v, varies in zip(given, self._varying, strict=True) if varies])

        at_once = torch.func.vmap(one, randomness="different", chunk_size=self.manner.chunk)
        numbers = torch.arange(count)
        found = iter(at_once(numbers, *[values[i] for i in places]))
        return tuple(
            [
                _summed(next(found)) if form == SUMMED and varies
                else next(found) if varies
                else value * count if form == SUMMED
                else _repeated(value, count) if form == STACKED
                else value
                for value, form, varies in zip(given, self.forms, self._varying, strict=True)
            ]
        )  # fmt: skip

    def _each(self, count: int, values: Sequence[Any]) -> tuple[Any, ...]:
        """What `_at_once` gives, by running the function for each slice."""
        run = self.body.giving(self.gives)
        rows = [run(*[v[i] if b else v for v, b in zip(values, self.batched, strict=True)]) for i in range(count)]
        columns = zip(*rows, strict=True)
        return tuple([_joined(column, form) for column, form in zip(columns, self.forms, strict=True)])

    def _of_nothing(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What there is for no slices: batches of none, in the shapes that a slice of zeros leads to."""
        zeros = [_zeros(v) if b else v for v, b in zip(values, self.batched, strict=True)]
        made = self.body.giving(self.gives)(*zeros)
        return tuple([
            value if form == SHARED else torch.zeros_like(value) if form == SUMMED else _repeated(value, 0)
            for value, form in zip(made, self.forms, strict=True)
        ])  # fmt: skip


def _summed(values: torch.Tensor) -> torch.Tensor:
    return values.sum(0, dtype=values.dtype)


def _repeated(value: Any, count: int) -> Any:
    if isinstance(value, np.ndarray):
        return np.broadcast_to(value, (count, *value.shape))
    return value.expand(count, *value.shape)


def _joined(column: tuple[Any, ...], form: str) -> Any:
    """What all slices gave as one value."""
    if form == SHARED:
        return column[0]
    if form == SUMMED:
        return _summed(torch.stack(column))
    shapes = {tuple(v.shape) for v in column}
    if len(shapes) > 1:
        raise invalid(f"vectorized_map: the slices gave results of different shapes: {sorted(shapes)}")
    return np.stack(column) if isinstance(column[0], np.ndarray) else torch.stack(column)


def _zeros(batch: Any) -> Any:
    """A slice of zeros like those of a batch."""
    return batch.new_zeros(batch.shape[1:])
