"""The source that `torch.compile` takes: a program of tensors, as one function without side effects.

Dynamo reads the source, and puts calls of kernels into its graph. AOTAutograd follows the kernels to the ATen calls in
them. The source differs from the one that Python runs in three points:

- Variables are arguments. A read is the current value, an update replaces it, and the function returns the new values
  after its results.
- A kernel gets its constants bound. Its other arguments are tensors, and sizes as Python numbers.
- Kernels that look at values, or draw random numbers, are calls of `tapeflow::opaque`, an op that the compiler does
  not look into. So random numbers go on in the streams of eager mode.
"""

from __future__ import annotations

import copy
import functools
import itertools
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import device as devices
from tapeflow.core.ops.static import numbers
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import _add_delta, _assign_value, _subtract_delta
from tapeflow.graph.codegen.step_source import PARTLY_SUPPORTED, static_numbers
from tapeflow.graph.codegen.symbolic_source import Sizes, SymbolicWriter
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.program.program import Program, Step


def _checked_sum(value: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    _check_delta_shape(value, delta)
    return torch.add(value, delta)


def _checked_difference(value: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    _check_delta_shape(value, delta)
    return torch.sub(value, delta)


def _check_delta_shape(value: torch.Tensor, delta: torch.Tensor) -> None:
    if value.shape != delta.shape:
        raise ValueError("the shapes of a variable and of its change differ")


# The new value of a variable from the old one and the operand; None: the operand itself.
CHANGES: dict[Any, Any] = {_assign_value: None, _add_delta: _checked_sum, _subtract_delta: _checked_difference}


class GraphWriter(SymbolicWriter):
    """Writes the source of a program for `torch.compile`.

    Args:
        untraceable: the ops whose kernels can't be traced.

    Attributes:
        tracing: the op of the kernel that was traced last.
        changed: the places of the variables, among the inputs, that the program changes.
    """

    def __init__(self, untraceable: Collection[Any]) -> None:
        super().__init__()
        self._untraceable = untraceable
        self._calls: list[Any] = []  # the function holds them by its writer
        self.tracing: Any = None
        self.changed: list[int] = []

    def write(self, name: str, program: Program) -> None:
        changed = {id(variable_of(t)) for t in changed_handles(program)}
        self.changed = [i for i, t in enumerate(program.inputs) if id(variable_of(t)) in changed]
        whole = copy.copy(program)
        whole.outputs = [*program.outputs, *(program.inputs[i] for i in self.changed)]
        super().write(name, whole)

    def step(self, step: Step, indent: int) -> None:
        if step.op is READ:
            self.row(indent, f"{self.name(step.outputs[0])} = {self.reference(step.args[0])}", step)
        elif not step.registered and step.op.kernel in CHANGES:
            variable, value = map(self.reference, step.inputs)
            change = CHANGES[step.op.kernel]
            if change is not None:
                value = f"{self.helper(change, f'op_{step.name}')}({variable}, {value})"
            self.row(indent, f"{variable} = {value}", step)
        elif step.op.control == "call":
            self.inline(step, indent)
        elif (call := self.size_call(step)) is not None:
            self.row(indent, f"{self.name(step.outputs[0])} = {call}", step)
        else:
            super().step(step, indent)

    # ---- calls ---------------------------------------------------------------------------------------------------

    def call(self, step: Step) -> str:
        template = self._template(step)
        given = [a for a in template if type(a) is _Given]
        if not is_opaque(step, self._untraceable, self.sizes, self._constants, self._static):
            number = self._numbered(self._traceable(step, template))
            return f"{self.helper(run_kernel)}({', '.join([repr(step.name), str(number), *(a.text for a in given)])})"
        kernel: Any = step.op.kernel
        if step.registered:
            name = self._kernel(step)
            kernel = lambda *values: self.namespace[name](*values)  # noqa: E731  (the first call may replace it)
        call = OpaqueCall(kernel, template, step)
        tensors = [e for a in given if not a.counts for e in a.expressions]
        sizes = [size for row in result_sizes(step, self.sizes) or () for size in row]
        sizes += [e for a in given if a.counts for e in a.expressions]
        text = f"({call.description!r}, {self._numbered(call)}, [{', '.join(tensors)}], [{', '.join(sizes)}])"
        return f"{self.named('opaque', opaque)}{text}{'' if step.gives_tuple else '[0]'}"

    def _numbered(self, call: Any) -> int:
        """Returns the number by which compiled code finds a call."""
        number = next(_numbers)
        self._calls.append(call)
        _calls[number] = call
        return number

    def _template(self, step: Step) -> list[Any]:
        """Returns the arguments of a step's kernel: constants, and `_Given`s for those that a call passes."""
        template: list[Any] = []
        kinds = step.op.kinds if step.registered else ["host", *["tensor"] * (len(step.args) - 1)]
        for kind, arg in zip(kinds, step.args, strict=True):
            constant = self._constants.get(id(arg))
            if kind == "list":
                template.append(_Given(list(map(self.reference, arg)), True))
            elif not isinstance(arg, SymbolicTensor):
                template.append(arg)
            elif kind == "host" and (known := static_numbers(arg, self._constants, self._static)) is not None:
                template.append(known)
            elif kind == "host":
                sizes = self.sizes.of(arg)
                given = [self.reference(arg)] if sizes is None else [sizes] if type(sizes) is str else sizes
                template.append(_Given(given, type(sizes) is list, sizes is not None, is_host=True))
            elif isinstance(constant, torch.Tensor) and constant.numel() == 1 and not constant.dtype.is_complex:
                template.append(_Number(constant))
            else:
                template.append(_Given([self.reference(arg)]))
        return template

    def helper(self, function: Callable[..., Any], wish: str = "") -> str:
        """Returns the name of a function in the source. Dynamo does not look into it."""
        return self.named(wish or function.__name__, torch.compiler.allow_in_graph(function))

    def _traceable(self, step: Step, template: Sequence[Any]) -> Callable[..., Any]:
        """Returns the kernel of a step with constants bound, and with results of the dtypes that the op declares.

        Args:
            step: the step.
            template: the arguments, see `_template`.
        """
        dtypes, kernel = [t.dtype.torch for t in step.outputs], step.op.kernel
        if not step.registered:
            kernel = step.op.at_once
        elif step.op.creates:
            kernel = functools.partial(kernel, device=devices.current_or_default(dtypes[0]))

        def call(*given: Any, has_values: bool = False) -> Any:
            self.tracing = step.op
            values = iter(given)
            args = [next(values) if type(a) is _Given else a for a in template]
            args = [a.tensor(has_values) if type(a) is _Number else a for a in args]
            try:
                result = kernel(*args)
            except Exception:
                if has_values:
                    raise
                return call(*given, has_values=True)
            results = result if isinstance(result, (list, tuple)) else [result]
            cast = [r if r.dtype is d else r.to(d) for r, d in zip(results, dtypes, strict=True)]
            return cast if step.gives_tuple else cast[0]

        return call


class _Given(NamedTuple):
    """An argument that a call passes.

    Attributes:
        expressions: the expressions of its tensors or numbers.
        several: True if it is a list of tensors, or a tuple of numbers.
        counts: True if it is made of numbers.
        is_host: True if the kernel takes numbers.
    """

    expressions: list[str]
    several: bool = False
    counts: bool = False
    is_host: bool = False

    @property
    def text(self) -> str:
        """The expression of the argument."""
        if not self.several:
            return self.expressions[0]
        items = "".join(f"{e}, " for e in self.expressions)
        return f"({items})" if self.counts else f"[{items}]"


class _Number:
    """A constant with one element, which is a number in the compiled code.

    Args:
        tensor: the constant.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self._value: Any = tensor.tolist()
        self._shape = tensor.shape
        self._options: dict[str, Any] = {"dtype": tensor.dtype, "device": tensor.device}

    def tensor(self, has_value: bool) -> torch.Tensor:
        """Returns the tensor; with `has_value`, one whose value a traced kernel can look at."""
        if has_value:
            return torch.tensor(self._value, **self._options)
        value = self._value
        while type(value) is list:
            (value,) = value
        return torch.full(self._shape, value, **self._options)


def changed_handles(program: Program) -> list[SymbolicTensor]:
    """Returns the handles of the variables that a program changes, also in functions that it calls."""
    handles = []
    for step in program.steps:
        if not step.registered and step.op.kernel in CHANGES:
            handles.append(step.args[0])
        elif step.op.control == "call":
            inner = step.programs[0]
            places = {id(t): i for i, t in enumerate(inner.inputs)}
            handles += [step.args[places[id(t)]] for t in changed_handles(inner)]
    return handles


# ---- opaque calls ----------------------------------------------------------------------------------------------------

_numbers = itertools.count()
# The calls, by number. TorchInductor keeps functions in graphs for ever, so all graphs call the same two.
_calls: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def is_opaque(step: Step, untraceable: Collection[Any], sizes: Sizes, constants: dict[int, Any], static: bool) -> bool:
    """Returns True if the compiler must not look into the kernel of a step.

    Args:
        step: the step.
        untraceable: the ops whose kernels can't be traced.
        sizes: the sizes in its program.
        constants, static: see `Program`.
    """
    if step.op in untraceable or not step.registered:
        return step.op in untraceable or bool(getattr(step.op, "one_by_one", False))
    if step.op.random or step.name.startswith("Stateless"):
        return True
    if any(t.dtype in PARTLY_SUPPORTED for t in (*step.inputs, *step.outputs)):  # a trace does not see values
        return True
    hosts = [a for a in step.op.hosts(step.args) if isinstance(a, SymbolicTensor) and sizes.of(a) is None]
    return any(static_numbers(a, constants, static) is None for a in hosts)


def result_sizes(step: Step, sizes: Sizes) -> list[list[str]] | None:
    """Returns the expressions of the sizes of a step's results, or None if only its run can tell them."""
    rows = []
    for out in step.outputs:
        shapes = [sizes.of(a) for a in step.op.hosts(step.args)] if step.registered else []
        shapes += [sizes.shape_of(t) for t in step.inputs if step.op.elementwise and t.shape.rank]
        fitting = [s for s in shapes if type(s) is list and len(s) == out.shape.rank]
        if out.shape.is_fully_defined():
            rows.append([repr(d) for d in out.shape.as_list()])
        elif len(fitting) == 1:
            rows.append(fitting[0])
        else:
            return None
    return rows


class OpaqueCall:
    """A call of a kernel that the compiler does not look into.

    Args:
        kernel: takes and returns raw values.
        template: its arguments, as of `GraphWriter`.
        step: the step that it computes.

    Attributes:
        description: a text for the compiler's cache. It distinguishes calls by op, dtypes and ranks.
    """

    def __init__(self, kernel: Callable[..., Any], template: Sequence[Any], step: Step) -> None:
        self._kernel, self._template = kernel, template
        self._results: list[tuple[int, Any]] = [(t.shape.rank, t.dtype.torch) for t in step.outputs]
        self.description = f"{step.name} {self._results}"

    def results(self, tensors: Sequence[torch.Tensor], given: Sequence[int]) -> list[torch.Tensor]:
        """Calls the kernel.

        Args:
            tensors: the tensors among its arguments.
            given: the sizes of the results, then the numbers among the arguments.
        """
        values, rest = iter(tensors), iter(given[sum(rank for rank, _ in self._results) :])
        args = []
        for a in self._template:
            if type(a) is _Given:
                items: Any = list(itertools.islice(rest if a.counts else values, len(a.expressions)))
                items = items if a.several else items[0]
                if a.is_host:
                    items = numbers(items) if not a.counts else tuple(items) if a.several else items
                args.append(items)
            else:
                args.append(a.tensor(True) if type(a) is _Number else a)
        result = self._kernel(*args)
        memory = {t.untyped_storage().data_ptr() for t in tensors}
        return [
            r.clone(memory_format=torch.contiguous_format)
            if not r.is_contiguous() or r.untyped_storage().data_ptr() in memory
            else r
            for r in (result if isinstance(result, (list, tuple)) else [result])
        ]

    def empty_results(self, tensors: Sequence[torch.Tensor], given: Sequence[int]) -> list[torch.Tensor]:
        """Returns results without values; arguments as in `results`."""
        device = tensors[0].device if tensors else devices.current_or_default()
        sizes = iter(given)
        return [
            torch.empty(list(itertools.islice(sizes, rank)), dtype=dtype, device=device)
            for rank, dtype in self._results
        ]


def run_kernel(name: str, number: int, *given: Any) -> Any:
    """Runs a kernel that is traced.

    Args:
        name: the op's name, for readers.
        number: the call's number.
        *given: the arguments that a call passes.
    """
    return _calls[number](*given)


def run_opaque(what: str, number: int, tensors: Sequence[torch.Tensor], given: Sequence[int]) -> list[torch.Tensor]:
    """Runs an opaque call.

    Args:
        what: its description, for the compiler's cache.
        number: its number.
        tensors, given: see `OpaqueCall.results`.
    """
    return _calls[number].results(tensors, given)


# The tags keep the compiler from joining two draws, and from putting one into a CUDA graph.
_definition = torch.library.custom_op(
    "tapeflow::opaque",
    run_opaque,
    mutates_args=(),
    schema="(str what, int number, Tensor[] tensors, SymInt[] given) -> Tensor[]",
    tags=(torch.Tag.nondeterministic_seeded, torch.Tag.cudagraph_unsafe),
)
_definition.register_fake(lambda what, number, tensors, given: _calls[number].empty_results(tensors, given))
opaque: Any = torch.ops.tapeflow.opaque
