"""TapeFlow from scratch: tensors, ops, a tape, a tracer and the written source, from nothing but torch.

The page `docs/how/from-scratch.md` reads this file from top to bottom. Classes have the names of the package, so that
a reader finds them there: `core/values`, `core/ops`, `core/autodiff/tape.py`, `graph/ir` and `graph/codegen`.
"""

from __future__ import annotations

import itertools
import linecache
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

# ---- tensors ---------------------------------------------------------------------------------------------------------

_ids = itertools.count(1)


class Tensor:
    """What eager and symbolic tensors have in common: an id and operators, which call ops."""

    shape: tuple[int, ...]

    def __init__(self) -> None:
        self.id = next(_ids)

    def __add__(self, other: Any) -> Tensor:
        return add(self, other)

    def __sub__(self, other: Any) -> Tensor:
        return subtract(self, other)

    def __mul__(self, other: Any) -> Tensor:
        return multiply(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return subtract(other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self, other)

    __radd__, __rmul__ = __add__, __mul__


class EagerTensor(Tensor):
    """A tensor with a value, which never changes."""

    def __init__(self, value: torch.Tensor) -> None:
        super().__init__()
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(self.value.shape)

    def __repr__(self) -> str:
        return f"<{self.value}>"


class SymbolicTensor(Tensor):
    """The output of an operation of a graph: a name and a shape, but no value."""

    def __init__(self, graph: Graph, shape: Sequence[int], name: str) -> None:
        super().__init__()
        self.graph, self.shape, self.name = graph, tuple(shape), name

    def __repr__(self) -> str:
        return f"<symbolic {self.name}, shape {self.shape}>"


class Variable(Tensor):
    """A box with a tensor that can be replaced. Each read of it is a tensor of its own."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = torch.as_tensor(value, dtype=torch.float32)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(self.value.shape)

    def assign_sub(self, delta: Any) -> None:
        """Subtracts a tensor from the value: at once, or as an operation of the graph that is built."""
        assign_sub(delta, self)

    def __repr__(self) -> str:
        return f"<variable {self.value}>"


class State(threading.local):
    """What is in force in a thread: the tapes that record, and the graph that is built."""

    def __init__(self) -> None:
        self.tapes: list[Tape] = []
        self.graph: Graph | None = None


state = State()


def convert(value: Any) -> Tensor:
    """Returns a value as a tensor. A variable is read, and a number becomes a constant."""
    if isinstance(value, Variable):
        tensor = read(value)
        for tape in state.tapes:
            tape.variable_read(value, tensor)
        return tensor
    if isinstance(value, Tensor):
        return value
    constant = EagerTensor(torch.as_tensor(value, dtype=torch.float32))
    return constant if state.graph is None else state.graph.constant(constant)


# ---- ops -------------------------------------------------------------------------------------------------------------


class Op:
    """An operation with all that is known about it.

    Args:
        name: its name, TensorFlow's.
        kernel: computes it, from torch tensors and then the attrs.
        tensors: how many of its arguments are tensors. They come first; the others are attrs.
        shape: the static shape of the result, from the shapes of the tensors and the attrs.
        stateful: it reads or changes a variable, so neither its order nor its number of runs may change.
    """

    def __init__(
        self, name: str, kernel: Callable[..., Any], tensors: int, shape: Callable[..., Any], stateful: bool = False
    ) -> None:
        self.name, self.kernel, self.tensors, self.shape, self.stateful = name, kernel, tensors, shape, stateful
        self.backward: Callable[..., Any] | None = None
        self.needs = ""

    def gradient(self, needs: str = "") -> Callable[..., Any]:
        """Declares the gradient, and the residuals that it needs: "inputs", "outputs" or "shapes"."""

        def declare(backward: Callable[..., Any]) -> Callable[..., Any]:
            self.backward, self.needs = backward, needs
            return backward

        return declare

    def __call__(self, *args: Any) -> Any:
        inputs, attrs = [convert(a) for a in args[: self.tensors]], args[self.tensors :]
        if state.graph is not None:
            inputs = [state.graph.inside(t) for t in inputs]
            output: Tensor = state.graph.add(self, inputs, attrs)
        else:
            output = EagerTensor(self.kernel(*[t.value for t in inputs], *attrs))  # type: ignore[attr-defined]
        for tape in state.tapes:
            tape.record(self, inputs, attrs, [output])
        return output


def same(shape: Any, *_: Any) -> Any:
    return shape


def given(_: Any, shape: Any) -> Any:
    return shape


def _subtracted(delta: torch.Tensor, variable: Variable) -> torch.Tensor:
    variable.value = variable.value - delta  # a new tensor: those that were read before stay as they are
    return variable.value


add = Op("AddV2", torch.add, 2, torch.broadcast_shapes)
subtract = Op("Sub", torch.sub, 2, torch.broadcast_shapes)
multiply = Op("Mul", torch.mul, 2, torch.broadcast_shapes)
matmul = Op("MatMul", torch.matmul, 2, lambda x, y: (x[0], y[1]))
transpose = Op("Transpose", torch.t, 1, lambda x: (x[1], x[0]))
tanh = Op("Tanh", torch.tanh, 1, same)
reduce_sum = Op("Sum", torch.sum, 1, lambda x: ())
sum_to = Op("SumToShape", lambda x, shape: x.sum_to_size(shape), 1, given)
broadcast_to = Op("BroadcastTo", torch.broadcast_to, 1, given)
read = Op("ReadVariableOp", lambda variable: variable.value, 0, lambda variable: variable.shape, stateful=True)
assign_sub = Op("AssignSubVariableOp", _subtracted, 1, same, stateful=True)


@add.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    return [sum_to(dy, shape) for shape in call.shapes]


@subtract.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    return [sum_to(dy, call.shapes[0]), sum_to(dy * -1.0, call.shapes[1])]


@multiply.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    x, y = call.inputs
    return [sum_to(dy * y, x.shape), sum_to(dy * x, y.shape)]


@matmul.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    x, y = call.inputs
    return [matmul(dy, transpose(y)), matmul(transpose(x), dy)]


@transpose.gradient()
def _(call: Call, dy: Tensor) -> list[Tensor]:
    return [transpose(dy)]


@tanh.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    (y,) = call.outputs
    return [dy * (1.0 - y * y)]


@reduce_sum.gradient(needs="shapes")
@sum_to.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    return [broadcast_to(dy, call.shapes[0])]


@broadcast_to.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> list[Tensor]:
    return [sum_to(dy, call.shapes[0])]


# ---- the tape --------------------------------------------------------------------------------------------------------


class Call:
    """One run of an op, as its gradient sees it: the residuals that it declares, and ids of all else."""

    def __init__(self, op: Any, inputs: Sequence[Tensor], attrs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        self.op, self.attrs = op, attrs
        self.input_ids, self.output_ids = [t.id for t in inputs], [t.id for t in outputs]
        if op.needs == "inputs":
            self.inputs = inputs
        elif op.needs == "outputs":
            self.outputs = outputs
        elif op.needs == "shapes":
            self.shapes = [t.shape for t in inputs]


class Tape:
    """Records the calls that depend on watched tensors, for one gradient."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.watched: set[int] = set()
        self.reads: dict[int, list[int]] = {}  # the ids of reads, by the id of the variable

    def __enter__(self) -> Tape:
        state.tapes.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        state.tapes.remove(self)

    def watch(self, tensor: Tensor) -> None:
        self.watched.add(tensor.id)

    def variable_read(self, variable: Variable, tensor: Tensor) -> None:
        self.watch(tensor)
        self.reads.setdefault(variable.id, []).append(tensor.id)

    def record(self, op: Any, inputs: Sequence[Tensor], attrs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        if op.backward is None or self.watched.isdisjoint(t.id for t in inputs):
            return
        self.watched.update(t.id for t in outputs)
        self.calls.append(Call(op, inputs, attrs, outputs))

    def gradient(self, target: Tensor, sources: Sequence[Tensor]) -> list[Tensor | None]:
        """Returns the gradients of a scalar for each source; None for one that it does not depend on."""
        return self.backpropagate({target.id: convert(1.0)}, sources)

    def backpropagate(self, grads: dict[int, Tensor], sources: Sequence[Tensor]) -> list[Tensor | None]:
        """Walks the calls once, last to first, and adds up the gradients of each tensor."""

        def accumulate(i: int, dy: Tensor | None) -> None:
            if dy is not None and i in self.watched:
                grads[i] = add(grads[i], dy) if i in grads else dy

        for call in reversed(self.calls):
            dys = [grads.get(i) for i in call.output_ids]
            if any(dy is not None for dy in dys):
                for i, dy in zip(call.input_ids, call.op.backward(call, *dys), strict=True):
                    accumulate(i, dy)
        for variable, reads in self.reads.items():
            for i in reads:
                if i in grads:
                    grads[variable] = add(grads[variable], grads[i]) if variable in grads else grads[i]
        return [grads.get(s.id) for s in sources]


# ---- the tracer ------------------------------------------------------------------------------------------------------


class Operation:
    """A node of a graph: an op, its arguments, and its output."""

    def __init__(self, op: Op, inputs: Sequence[Tensor], attrs: Sequence[Any], output: SymbolicTensor) -> None:
        self.op, self.inputs, self.attrs, self.output = op, inputs, attrs, output


class Graph:
    """Operations in the order of the trace. It captures tensors of its surroundings, which become inputs."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.constants: dict[int, torch.Tensor] = {}
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self._counts: dict[str, int] = {}

    @contextmanager
    def building(self) -> Iterator[Graph]:
        """A context in which ops are added to the graph and do not run. Tapes of the surroundings do not record."""
        before = state.graph, state.tapes
        state.graph, state.tapes = self, []
        try:
            yield self
        finally:
            state.graph, state.tapes = before

    def symbolic(self, shape: Sequence[int], name: str) -> SymbolicTensor:
        count = self._counts[name] = self._counts.get(name, -1) + 1
        return SymbolicTensor(self, shape, f"{name}_{count}" if count else name)

    def add_input(self, shape: Sequence[int], name: str) -> SymbolicTensor:
        self.inputs.append(self.symbolic(shape, name))
        return self.inputs[-1]

    def constant(self, tensor: EagerTensor) -> SymbolicTensor:
        result = self.symbolic(tensor.shape, "Const")
        self.constants[result.id] = tensor.value
        return result

    def inside(self, tensor: Tensor) -> SymbolicTensor:
        """Returns what stands for a tensor in this graph: itself, or the input that it is captured as."""
        if isinstance(tensor, SymbolicTensor) and tensor.graph is self:
            return tensor
        if tensor.id not in self.captures:
            name = tensor.name if isinstance(tensor, SymbolicTensor) else "captured"
            self.captures[tensor.id] = tensor, self.add_input(tensor.shape, name)
        return self.captures[tensor.id][1]

    def add(self, op: Op, inputs: Sequence[Tensor], attrs: Sequence[Any]) -> SymbolicTensor:
        output = self.symbolic(op.shape(*[t.shape for t in inputs], *attrs), op.name)
        self.operations.append(Operation(op, inputs, attrs, output))
        return output


def differentiate(graph: Graph, sources: Sequence[SymbolicTensor]) -> tuple[Graph, list[int]]:
    """Returns the backward graph, and which of the sources have gradients.

    Its inputs are the gradients of the outputs, and then what it captures of the forward graph: the residuals.
    """
    tape, backward = Tape(), Graph()
    for source in sources:
        tape.watch(source)
    with backward.building():
        dys = [backward.add_input(t.shape, f"d{t.name}") for t in graph.outputs]
        for operation in graph.operations:
            tape.record(operation.op, operation.inputs, operation.attrs, [operation.output])
        grads = tape.backpropagate(dict(zip([t.id for t in graph.outputs], dys, strict=True)), sources)
        backward.outputs = [backward.inside(dy) for dy in grads if dy is not None]
    return backward, [i for i, dy in enumerate(grads) if dy is not None]


# ---- the written source ----------------------------------------------------------------------------------------------


class Step:
    """One call of a kernel in a program."""

    def __init__(self, op: Op, args: Sequence[Any], output: SymbolicTensor) -> None:
        self.op, self.args, self.output = op, list(args), output


class Program:
    """The steps of a function. Passes change it; the graph stays as it is."""

    def __init__(self, graph: Graph, outputs: Sequence[SymbolicTensor]) -> None:
        self.inputs, self.outputs, self.constants = graph.inputs, list(outputs), graph.constants
        self.steps = [Step(o.op, [*o.inputs, *o.attrs], o.output) for o in graph.operations]
        for change in PASSES:
            change(self)

    def replace(self, replaced: dict[int, SymbolicTensor]) -> None:
        """Puts other tensors in the place of some, by their ids."""

        def new(tensor: Any) -> Any:
            return replaced.get(getattr(tensor, "id", 0), tensor)

        for step in self.steps:
            step.args = [new(a) for a in step.args]
        self.outputs = [new(t) for t in self.outputs]

    def uses(self, tensor: SymbolicTensor) -> int:
        return sum(a is tensor for step in self.steps for a in step.args) + sum(t is tensor for t in self.outputs)


def drop_identities(program: Program) -> None:
    """Replaces what changes nothing by its argument: a product with 1, a sum to the shape that is there."""
    for step in list(program.steps):
        kept = None
        if step.op is multiply:
            ones = [a for a in step.args if a.id in program.constants and program.constants[a.id].eq(1.0).all()]
            others = [a for a in step.args if a not in ones]
            kept = others[0] if len(others) == 1 else None
        elif step.op in (sum_to, broadcast_to):
            kept = step.args[0]
        if kept is not None and kept.shape == step.output.shape:
            program.steps.remove(step)
            program.replace({step.output.id: kept})


def share_equal_steps(program: Program) -> None:
    """Computes once what several steps compute from the same arguments."""
    first: dict[Any, SymbolicTensor] = {}
    for step in list(program.steps):
        key = step.op.name, *[getattr(a, "id", a) for a in step.args]
        if step.op.stateful:
            continue
        if key in first:
            program.steps.remove(step)
            program.replace({step.output.id: first[key]})
        first.setdefault(key, step.output)


def fuse_products_with_biases(program: Program) -> None:
    """Makes one kernel of a matrix product and the vector that is added to it."""
    producers = {step.output.id: step for step in program.steps}
    for step in [s for s in program.steps if s.op is add]:
        product, bias = producers.get(step.args[0].id), step.args[1]
        if product and product.op is matmul and len(bias.shape) == 1 and program.uses(product.output) == 1:
            program.steps.remove(product)
            step.op, step.args = fused_matmul, [*product.args, bias]


fused_matmul = Op("_FusedMatMul", lambda x, y, bias: torch.addmm(bias, x, y), 3, lambda x, y, _: (x[0], y[1]))


def drop_unused_steps(program: Program) -> None:
    """Removes steps whose outputs nothing uses, last to first. Updates of variables stay."""
    for step in reversed(list(program.steps)):
        if step.op is not assign_sub and not program.uses(step.output):
            program.steps.remove(step)


PASSES = [drop_identities, share_equal_steps, fuse_products_with_biases, drop_unused_steps]


def written(program: Program, name: str) -> tuple[Callable[..., Any], str]:
    """Writes a program as one Python function, and returns the function and its source."""
    names: dict[str, Any] = {}  # what the function finds outside: kernels, constants, variables
    variables: dict[int, str] = {}

    def text(value: Any) -> str:
        if isinstance(value, SymbolicTensor):
            if value.id in program.constants:
                names[value.name] = program.constants[value.id]
            return value.name
        if isinstance(value, Variable):
            name = variables.setdefault(value.id, f"variable_{len(variables)}")
            names[name] = value
            return name
        return repr(value)

    lines = [f"def {name}({', '.join(t.name for t in program.inputs)}):"]
    for step in program.steps:
        names[f"op_{step.op.name}"] = step.op.kernel
        call = f"op_{step.op.name}({', '.join(map(text, step.args))})"
        lines.append(f"    {step.output.name} = {call}" if program.uses(step.output) else f"    {call}")
    lines.append(f"    return ({', '.join(map(text, program.outputs))},)")
    source = "\n".join(lines) + "\n"
    file = f"<function {name} {next(_ids)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # so that a debugger shows it
    exec(compile(source, file, "exec"), names)
    return names[name], source


# ---- functions -------------------------------------------------------------------------------------------------------


class Trace:
    """A Python function for arguments of certain shapes: its graph and its written source. To a tape, it is an op."""

    needs = ""  # its residuals are extra outputs of the forward function

    def __init__(self, python_function: Callable[..., Any], shapes: Sequence[Sequence[int]]) -> None:
        self.name, self.graph = python_function.__name__.replace("<lambda>", "f"), Graph()
        with self.graph.building() as graph:
            names = python_function.__code__.co_varnames
            results = python_function(*[graph.add_input(s, n) for s, n in zip(shapes, names, strict=False)])
            self.one = isinstance(results, Tensor)
            graph.outputs = [graph.inside(convert(r)) for r in ([results] if self.one else results or ())]
        self.captured = [outer for outer, _ in graph.captures.values()]
        self.reads = [o for o in graph.operations if o.op is read]
        self.call, self.source = written(Program(graph, graph.outputs), self.name)
        self.forward: Callable[..., Any] | None = None

    def run(self, args: Sequence[Tensor]) -> list[EagerTensor]:
        """Runs the written function; if a tape records, the one that returns the residuals too."""
        inputs: list[Any] = [*args, *self.captured]
        values = [t.value for t in inputs]
        if not any(self.reads or not tape.watched.isdisjoint(t.id for t in inputs) for tape in state.tapes):
            return [EagerTensor(v) for v in self.call(*values)]
        if self.forward is None:
            self.write_gradient()
        reads = [EagerTensor(o.attrs[0].value) for o in self.reads]  # they lend their ids
        results, count = self.forward(*values), len(self.graph.outputs)  # type: ignore[misc]
        outputs = [EagerTensor(v) for v in results[:count]]
        for tape in state.tapes:
            for operation, tensor in zip(self.reads, reads, strict=True):
                tape.variable_read(operation.attrs[0], tensor)
            tape.record(self, [*inputs, *reads], results[count:], outputs)
        return outputs

    def write_gradient(self) -> None:
        """Writes the forward function, whose extra outputs are the residuals, and the backward function."""
        sources = [*self.graph.inputs, *[o.output for o in self.reads]]
        backward, self.wanted = differentiate(self.graph, sources)
        residuals = [self.graph.inside(outer) for outer, _ in backward.captures.values()]
        self.forward, self.forward_source = written(Program(self.graph, [*self.graph.outputs, *residuals]), self.name)
        gradient = written(Program(backward, backward.outputs), f"{self.name}_gradient")
        self.gradient, self.gradient_source = gradient

    def backward(self, call: Call, *dys: Any) -> list[Tensor | None]:
        """Computes the gradients of a call, whose attrs are the residuals."""
        if state.tapes:
            raise NotImplementedError("A second gradient goes inside of the function here, not around it.")
        zeros = [torch.zeros(t.shape) for t in self.graph.outputs]
        filled = [zero if dy is None else dy.value for zero, dy in zip(zeros, dys, strict=True)]
        grads: list[Tensor | None] = [None] * len(call.input_ids)
        for i, value in zip(self.wanted, self.gradient(*filled, *call.attrs), strict=True):
            grads[i] = EagerTensor(value)
        return grads


class Function:
    """A Python function that is traced once for each list of shapes of its arguments."""

    def __init__(self, python_function: Callable[..., Any]) -> None:
        self.python_function = python_function
        self.traces: dict[Any, Trace] = {}

    def trace(self, *args: Any) -> Trace:
        """Returns the trace for arguments of these shapes."""
        key = tuple(convert(a).shape for a in args)
        if key not in self.traces:
            self.traces[key] = Trace(self.python_function, key)
        return self.traces[key]

    def __call__(self, *args: Any) -> Any:
        if state.graph is not None:  # a function that another one calls becomes a part of its graph
            return self.python_function(*args)
        trace, tensors = self.trace(*args), [convert(a) for a in args]
        outputs = trace.run(tensors)
        return outputs[0] if trace.one else tuple(outputs)


def function(python_function: Callable[..., Any]) -> Function:
    """Makes a Python function one that is traced, as a decorator."""
    return Function(python_function)
