"""Clusters: connected element-wise steps, computed in one loop.

A cluster is one step of a program. Intermediate results stay in registers; only results with uses in other steps go to
memory. A cluster has one kernel for each pattern of broadcasts of its inputs. The kernel works for all sizes.

Updates of variables are element-wise steps too. An optimizer's update of a variable and its moving averages is one loop
that writes to the variables' own memory.
"""

from __future__ import annotations

import copy
import functools
import heapq
import importlib.util
import math
import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core import device as devices
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.gc_pause import pause_collection
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elements import DTYPES, Element, Unsupported, supports
from tapeflow.core.ops.static import host_static
from tapeflow.core.rng.elements import uniform
from tapeflow.core.types.dtypes import DType, bool_, float32, float64, resource
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import ResourceVariable, Variable
from tapeflow.graph.compiler.calling import NAMES, caller, fallback, packer
from tapeflow.graph.compiler.expressions import COLUMN, ELEMENT, MOST_STACK, ROW, Passes, Recorder, record_passes
from tapeflow.graph.compiler.loops import SCATTERED, SHORT, STRIDED, Operand, has_short_rows, loops_of
from tapeflow.graph.compiler.target import function
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, VariableUpdate, variable_of
from tapeflow.graph.program.effects import effects_before
from tapeflow.graph.program.program import Program, Step, elements_of, is_reshape, name_of_steps, reduced_axes
from tapeflow.math.arithmetic import add
from tapeflow.nn.bias import bias_add_grad, bias_add_op

_Shapes = tuple[torch.Size, ...]


class Cluster:
    """The kernel of a cluster.

    Attributes:
        outputs: the tensors that it computes.
        program: the steps, from inputs to outputs.
        handles: the handles of the variables that it changes.
        draws: True if it draws random numbers.

    Args:
        name: the names of its ops.
        program: see the attribute.
        numbers: the values of scalar constants, by the tensors' ids.
        handles: the number of handles of variables that it changes. They are its first inputs.
    """

    def __init__(self, name: str, program: Program, numbers: dict[int, Any], handles: int = 0) -> None:
        self._name = name
        self.program = program
        self._steps, self._inputs, self.outputs = program.steps, program.inputs[handles:], program.outputs
        self.handles = program.inputs[:handles]
        self._variables = [variable_of(handle) for handle in self.handles]
        self._is_flat = _is_flat(self._steps)
        self._of_variables = [self._flat(v.shape.as_list()) for v in self._variables]
        self._numbers = numbers
        self._has_reductions = any(map(_combines, self._steps))
        draws = [step for step in self._steps if draws_elements(step)]
        self.draws = bool(draws)
        self._streams = {id(t) for step in draws for t in step.inputs}
        self._columns = {id(step.outputs[0]) for step in self._steps if reduces_columns(step)}
        self._kernels: dict[Any, Any] = {}

    @property
    def count(self) -> int:
        """The number of ops."""
        return len(self._steps)

    def text(self) -> str:
        """Returns the LLVM IR of the kernel for inputs of their static shapes; unknown sizes count as 2."""
        shapes = self._of_elements([torch.Size([2 if d is None else d for d in t.shape]) for t in self._inputs])
        shape, of_outputs = self._shapes_for(shapes)
        if shape is None:
            return f"; {self._name}: its steps are calls of ATen's kernels for these shapes\n"
        rows = self._has_reductions
        sizes, operands, _ = self._loops(shapes, shape, rows)
        passes = self._passes(operands, self._kinds(of_outputs, shape), rows)
        return self._text(operands, passes, len(sizes)).replace("{name}", self._name)

    def function(self, memory: dict[int, int]) -> Callable[..., Any]:
        """Returns the function that takes the variables and the inputs, and returns one tensor or a tuple of them.

        Args:
            memory: for an output, by its index, the index of an input of its shape whose memory it may take.
        """
        plans: dict[Any, _Plan] = {}
        count = len(self._inputs)

        def of_views(*tensors: torch.Tensor) -> Any:
            shapes = tuple([x.shape for x in tensors])
            key = shapes + tuple([x.stride() for x in tensors])
            plan = plans.get(key) or planned(key)
            if plan is not _COPIED:
                return (plan, *tensors)
            return (plans.get(shapes) or planned(shapes), *[x.contiguous() for x in tensors])

        def planned(key: Any) -> _Plan:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            shapes, strides = key[:count], key[count:]
            with pause_collection():  # writing and compiling a kernel makes many objects that are freed at once
                plan = self._planned(shapes, strides)
            if plan.once and (strides or any(shapes[j] != plan.layouts[i][0] for i, j in memory.items())):
                plan = plan._replace(once=False)
            plans[key] = plan
            return plan

        handles = len(self._variables)
        of_changes = {id(t) for _, t in self._changes()}
        assigned = [i for i, t in enumerate(self._inputs, handles) if id(t) in of_changes]

        def one_by_one(*values: Any) -> Any:
            own = list(values)
            for i in assigned:  # a later step may write into the input, and the variable would keep it
                own[i] = own[i].clone()
            results = self._one_by_one(*own)
            return None if not self.outputs else results[0] if len(results) == 1 else results

        namespace = NAMES | {
            "find": plans.get, "planned": planned, "one_by_one": one_by_one, "of_views": of_views,
            "pack": packer(2 * handles + count + len(self.outputs) + bool(self._columns)),
            **{f"dtype{i}": t.dtype.torch for i, t in enumerate(self.outputs)},
        }  # fmt: skip
        reused = tuple([memory.get(i) for i in range(len(self.outputs))])
        exec(_caller(handles, count, reused, bool(self._columns)), namespace)
        call: Callable[..., Any] = namespace["call"]
        return call

    @cached_property
    def _one_by_one(self) -> Any:
        """The fallback for tensors that the loops don't support: the steps as calls of ATen's kernels."""
        return hooks.one_by_one(self._name, self.program)

    def _planned(self, shapes: _Shapes, strides: Sequence[Sequence[int]]) -> _Plan:
        """Returns the plan for inputs of these shapes and strides; without strides, they are contiguous."""
        nest = self.nest(shapes)
        if nest is None:
            return _ONE_BY_ONE
        shapes, (shape, of_outputs, kinds, rows) = self._of_elements(shapes), nest
        sizes, operands, entries = self._loops(shapes, shape, rows, strides)
        accesses = {operand.access for operand in operands}
        if SCATTERED in accesses or (sizes[-1] < SHORT and STRIDED in accesses):
            return _COPIED
        key = rows, kinds, *operands
        known = self._kernels.get(key)
        if known is None:
            try:
                passes = self._passes(operands, kinds, rows)
                text = functools.partial(self._text, operands, passes, len(sizes))
                kernel = function(self._name, f"{len(sizes)} {operands} {passes.signature()}", text)
            except Unsupported:  # the plan records it
                return _ONE_BY_ONE
            known = self._kernels[key] = kernel, passes
        kernel, passes = known
        if passes.stack_bytes(sizes[-1], in_rows=rows or len(sizes) > 1) > MOST_STACK:
            return _ONE_BY_ONE
        count = math.prod(sizes[:-1])
        chunk = max(_FEWEST_ROWS, min(_MOST_ROWS, _CHUNK // max(sizes[-1], 1)))
        table = [*sizes, chunk, *(_bits(value, dtype) for dtype, value in passes.constants), *entries]
        totals = len(self._columns) * -(-count // chunk) * (sizes[-1] + _MOST_LANES)
        layouts = [(s, torch.empty(s, device="meta").stride()) for s in of_outputs]
        return _Plan(kernel, packer(len(table))(*table), layouts, totals, len(passes.roots) == 1)

    def nest(self, shapes: _Shapes) -> NestShape | None:
        """Returns the loops for inputs of these shapes, or None if one nest can't compute all steps."""
        shapes = self._of_elements(shapes)
        shape, of_outputs = self._shapes_for(shapes)
        if shape is None or any(s != shape for s in self._of_variables) or (self._is_flat and len(shape) > 1):
            return None
        rows = self._has_reductions or any(s != shape for s in of_outputs)
        rows_of = [(*shape[:-1], 1), *([shape[:-1]] if self._has_reductions else [])] if len(shape) > 1 else []
        kinds = self._kinds(of_outputs, shape)
        odd = any(k == ROW and s not in rows_of for s, k in zip(of_outputs, kinds, strict=True))
        if self._is_flat:
            of_outputs = [tuple(t.shape.as_list()) for t in self.outputs]
        return None if odd or self._reduces_less(shapes, shape) else NestShape(shape, of_outputs, kinds, rows)

    def _of_elements(self, shapes: Sequence[torch.Size]) -> _Shapes:
        """Returns the shapes of the inputs in loops, with scalars for the keys and counters of random numbers."""
        pairs = zip(self._inputs, shapes, strict=True)
        return tuple([torch.Size() if id(t) in self._streams else self._flat(s) for t, s in pairs])

    def _flat(self, shape: Sequence[int]) -> torch.Size:
        """Returns a shape in loops, without leading dimensions of size 1 if the steps differ in them."""
        return torch.Size(shape[-1:] if self._is_flat and math.prod(shape[:-1]) == 1 else shape)

    def _loops(
        self, shapes: _Shapes, shape: tuple[int, ...], rows: bool, strides: Sequence[Sequence[int]] = ()
    ) -> tuple[list[int], list[Operand], list[int]]:
        """Returns the sizes of the loops over a shape, how variables and inputs vary in them, and their entries of the
        table."""
        dtypes = [t.dtype for t in (*self._variables, *self._inputs)]
        along: list[Sequence[int] | None] = [None] * (len(self._variables) + len(shapes))
        for i, s in enumerate(strides):
            along[len(self._variables) + i] = s[len(s) - len(shapes[i]) :]
        return loops_of([*self._of_variables, *shapes], shape, dtypes, rows, along)

    def _passes(self, operands: Sequence[Operand], kinds: Sequence[str], rows: bool) -> Passes:
        """Returns the passes that compute the new values of the variables, and the outputs."""
        count = len(self._variables)
        return record_passes(operands, self.elements, (*[ELEMENT] * count, *kinds), rows, overwriting=count)

    def _kinds(self, of_outputs: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> tuple[str, ...]:
        """Returns for each output whether it has values for elements, rows or columns, from the shape of the loops."""
        return tuple([
            COLUMN if id(t) in self._columns else ELEMENT if s == shape else ROW
            for t, s in zip(self.outputs, of_outputs, strict=True)
        ])  # fmt: skip

    def _shapes_for(self, shapes: _Shapes) -> tuple[tuple[int, ...] | None, list[tuple[int, ...]]]:
        """Returns the shape of the loops (None if one loop can't compute all steps) and the shapes of the outputs."""
        try:
            known = self._shapes_of_all(shapes)
        except ValueError:  # the step raises the error
            return None, []
        repeated = [known[id(step.outputs[0])] for step in self._steps if step.op is broadcast_to.op]
        drawn = [known[id(step.outputs[0])] for step in self._steps if draws_elements(step)]
        outputs = [known[id(t)] for t in self.outputs]
        if any(known.get(id(t)) != self._flat(v.shape.as_list()) for v, t in self._changes()):
            return None, outputs  # the step raises the error
        try:
            shape = np.broadcast_shapes(*self._of_variables, *shapes, *repeated, *drawn)
            return (shape if all(s == shape for s in drawn) else None), outputs
        except ValueError:  # sizes that are unknown in the graph differ
            return None, outputs

    def _shapes_of_all(self, shapes: _Shapes) -> dict[int, tuple[int, ...]]:
        known: dict[int, tuple[int, ...]] = {id(t): tuple(s) for t, s in zip(self._inputs, shapes, strict=True)}
        for step in self._steps:
            if isinstance(step.op, VariableUpdate):
                continue
            result = np.broadcast_shapes(*[known.get(id(t), ()) for t in step.inputs])
            if step.op is READ or draws_elements(step):
                result = self._flat(step.outputs[0].shape.as_list())
            elif step.op is broadcast_to.op or (is_reshape(step) and not self._is_flat):
                before, result = result, tuple(step.outputs[0].shape.as_list())
                repeats = step.op is broadcast_to.op
                if result != (np.broadcast_shapes(before, result) if repeats else (*before, 1)):
                    raise ValueError(f"{step.name} can't give shape {result}")
            elif id(step.outputs[0]) in self._columns:
                result = (*[1] * (len(result) - 1), result[-1]) if step.args[2] else result[-1:]
            elif step.op.reduced is not None:
                result = (*result[:-1], 1) if step.args[2] else result[:-1]
            known[id(step.outputs[0])] = result
        return known

    def _changes(self) -> Iterator[tuple[Variable, SymbolicTensor]]:
        """Yields the variables that steps change, each with the operand of the change."""
        for step in self._steps:
            if isinstance(step.op, VariableUpdate):
                yield variable_of(step.args[0]), step.args[1]

    def _reduces_less(self, shapes: _Shapes, shape: tuple[int, ...]) -> bool:
        """Returns True if an operand of a reduction has fewer elements than the loops."""
        known = self._shapes_of_all(shapes) if self._has_reductions else {}
        return any(known[id(s.inputs[0])] != shape for s in self._steps if _combines(s))

    def elements(self, b: Recorder, elements: Sequence[Element]) -> list[Element]:
        """Returns the elements of the changed variables and of the outputs."""
        count = len(self._variables)
        values = {v._id: e for v, e in zip(self._variables, elements[:count], strict=True)}
        known = {id(t): e for t, e in zip(self._inputs, elements[count:], strict=True)}

        def element(tensor: SymbolicTensor) -> Element:
            if id(tensor) not in known:
                known[id(tensor)] = b.constant(self._numbers[id(tensor)], tensor.dtype)
            return known[id(tensor)]

        for step in self._steps:
            op = step.op
            if op is READ:
                known[id(step.outputs[0])] = values[variable_of(step.args[0])._id]
                continue
            if isinstance(op, VariableUpdate):
                changed = variable_of(step.args[0])._id
                values[changed] = b.rounded(op.element(b, values[changed], element(step.args[1])))
                continue
            out = step.outputs[0]
            if op is broadcast_to.op or is_reshape(step):
                result = element(step.args[0])
            elif draws_elements(step):
                _, key, counter, *_ = step.args
                result = b.drawn(op.draws, element(key), element(counter))
            elif op.reduced is not None:
                result = op.reduced(b.over_rows() if id(out) in self._columns else b, element(step.args[0]))
            elif op.row is not None:
                result = op.row(b, element(step.args[0]))
            else:
                result = op.element(b, *op.map(element, step.args))
            if result.dtype is not out.dtype:
                raise Unsupported(f"the element form of {step.name} gives {result.dtype.name}, not {out.dtype.name}")
            known[id(out)] = b.rounded(result)
        return [*values.values(), *(known[id(t)] for t in self.outputs)]

    def _text(self, operands: Sequence[Operand], passes: Passes, loops: int) -> str:
        from tapeflow.graph.compiler import kernels  # which loads LLVM

        return kernels.text(operands, passes, loops)


class NestShape(NamedTuple):
    """The loops of a cluster.

    Attributes:
        shape: their sizes before dimensions are joined.
        of_outputs: the shapes of the outputs.
        kinds, rows: see `Passes`.
    """

    shape: tuple[int, ...]
    of_outputs: list[tuple[int, ...]]
    kinds: tuple[str, ...]
    rows: bool


def compiled_kernel(name: str, compute: Callable[..., Any], dtype: DType, count: int, rank: int | None = None) -> Any:
    """Returns the kernel of a function of ops that one cluster computes, for tensors of any sizes.

    Args:
        name: its name.
        compute: the function.
        dtype: the dtype of its arguments.
        count: their number.
        rank: their rank, which a reduction needs.
    """
    graph = FuncGraph(name)
    with graph.as_default():
        inputs = [graph.placeholder(dtype, None if rank is None else [None] * rank) for _ in range(count)]
        outputs = compute(*inputs)
    program = Program(inputs, outputs if isinstance(outputs, (list, tuple)) else [outputs])
    return Cluster(name, program, {}).function({}) if has_llvm() else hooks.one_by_one(name, program)


class ClusterOp(GraphOp):
    """The op of a cluster.

    Attributes:
        cluster: the cluster.

    Args:
        name, cluster: see the attributes.
        memory: see `Cluster.function`.
    """

    allocates = True
    runs_python = False

    def __init__(self, name: str, cluster: Cluster, memory: dict[int, int] | None = None) -> None:
        super().__init__(name, cluster.function(memory or {}), gives_tuple=len(cluster.outputs) > 1)
        self.cluster = cluster
        self.part = cluster.program
        self.text = cluster.text


_MOST_PLANS = 256
_MOST_LANES = 16  # of a vector
# The limits of rows and elements in a sequential sum. Smaller chunks allow several threads, and limit the rounding
# errors of sums over many rows.
_FEWEST_ROWS, _MOST_ROWS, _CHUNK = 16, 512, 1 << 13


class _Plan(NamedTuple):
    """The kernel that a cluster calls for inputs of some shapes, and its arguments.

    Attributes:
        kernel: the compiled function.
        sizes: the end of the kernel's table: the loops' sizes, the chunk size and the constants.
        layouts: the shapes and strides of the outputs. With strides, torch allocates them in half the time.
        totals: the length of the memory for totals, in elements of 8 bytes.
        once: True if the kernel reads each element of its inputs once. Outputs may then take the memory of inputs.
    """

    kernel: Any
    sizes: bytes
    layouts: list[tuple[tuple[int, ...], tuple[int, ...]]]
    totals: int
    once: bool


_ONE_BY_ONE = _Plan(None, b"", [], 0, False)
_COPIED = _ONE_BY_ONE._replace()  # for inputs that are not contiguous: copies of them take less time


def _bits(value: float, dtype: DType) -> int:
    """Returns a constant for the table of a kernel, in the form that it has in a register."""
    return int.from_bytes(struct.pack("<d" if dtype is float64 else "<f", value), "little", signed=True)


@functools.cache
def _caller(variables: int, inputs: int, reused: tuple[int | None, ...], has_totals: bool) -> CodeType:
    """Returns the code of functions that call a kernel with a number of operands and memory for totals.

    Args:
        variables, inputs: the numbers of operands.
        reused: for each output, the index of the input whose memory it may take, or None.
        has_totals: True if there is memory for totals.
    """
    results = [f"y{i}" for i in range(len(reused))]
    addresses = [f"p{i}" for i in range(variables + inputs)]
    written = [*addresses[:variables], *(f"{v}.data_ptr()" for v in [*results, *["totals"] * has_totals])]
    values = [f"x{i}" for i in range(inputs)]
    shapes = f"({''.join(f'{x}.shape, ' for x in values)})"
    are_contiguous = " and ".join(f"{x}.is_contiguous()" for x in values)
    checks = [
        f"    if {are_contiguous or True}: plan = find({shapes}) or planned({shapes})",
        f"    else: {', '.join(['plan', *values])} = of_views({', '.join(values)})",
        "    kernel, sizes, layouts, total, once = plan",
        f"    if kernel is None: return {fallback(variables, inputs)}",
    ]
    lines = [
        *[
            f"    {y} = {'' if j is None else f'x{j} if once else '}strided(*layouts[{i}], dtype=dtype{i})"
            for i, (y, j) in enumerate(zip(results, reused, strict=True))
        ],
        *(["    totals = empty(total, dtype=float64)"] if has_totals else []),
        f"    kernel(pack({', '.join([*addresses, *written])}) + sizes)",
    ]
    return caller(variables, inputs, checks, lines, ", ".join(results))


# ---- choosing clusters -----------------------------------------------------------------------------------------------

_MANY = 8  # steps with calls that together take several times as long as one call of a cluster's kernel
_OF_A_LOOP = 4  # steps with calls that together take longer than one call of a cluster's kernel
_LEAST_WORK = 1 << 15  # elements of intermediate results: for fewer, a kernel never saves the time to compile it


def cluster(program: Program) -> None:
    """Replaces connected element-wise steps by clusters, if the static shapes show that this pays."""
    _replace(program, _pays)


def cluster_small(program: Program) -> None:
    """Replaces connected element-wise steps by clusters, even for few elements, because loops run them repeatedly."""
    _replace(program, lambda steps: len(steps) >= _OF_A_LOOP or _pays(steps))


def cluster_all(program: Program) -> None:
    """Replaces all connected element-wise steps by clusters."""
    _replace(program, lambda steps: True)


def _replace(program: Program, pays: Callable[[Sequence[Step]], bool]) -> None:
    if devices.machine.has_gpu or not has_llvm():
        return
    program.steps = [_canonical(step) for step in program.steps]
    clustering = _Clustering(program)
    chosen = [group for group in clustering.groups() if pays(group.steps)]
    if chosen:
        program.steps = clustering.steps(chosen)


def single_cluster(program: Program, step: Step) -> Step | None:
    """Returns the cluster of one element-wise step; None for other steps and few elements, or without LLVM."""
    step = _canonical(step)
    if devices.machine.has_gpu or not has_llvm() or not is_elementwise(program, step):
        return None
    if elements_of(step.outputs[0]) < _LEAST_WORK:
        return None
    part = copy.copy(program)
    part.steps, part.outputs = [step], list(step.outputs)
    clustering = _Clustering(part)
    return clustering.steps([clustering.group_of(step)])[0]


def clustered(program: Program, apart: Collection[int]) -> list[Step]:
    """Returns the steps of a program with clusters for all connected element-wise steps.

    Args:
        program: the program.
        apart: the ids of steps that are not in clusters with other steps.
    """
    canonical = copy.copy(program)
    canonical.steps = list(map(_canonical, program.steps))
    apart = [id(new) for step, new in zip(program.steps, canonical.steps, strict=True) if id(step) in apart]
    clustering = _Clustering(canonical, apart)
    return clustering.steps(clustering.groups())


def _canonical(step: Step) -> Step:
    """Returns a step in the form that clusters compute best: a bias of channels as a sum, its gradient as a sum over
    rows, a reduction of an axis of one element as a reshape."""
    x: Any = step.args[0] if step.args else None
    if step.op is bias_add_op.op and step.args[2] == "NHWC" and x.shape.rank:
        channels = step.args[1].shape
        if channels.is_fully_defined() and channels == x.shape[-1:]:  # otherwise the op's kernel checks the sizes
            return Step(add.op, step.args[:2], step.outputs, step.origins)
    if step.op is bias_add_grad.op and step.args[1] == "NHWC" and x.shape.rank:
        return Step(ops.Sum.op, [x, tuple(range(x.shape.rank - 1)), False], step.outputs, step.origins)
    if reduced_axes(step) == {-1} and x.shape[-1] == 1 and step.outputs[0].shape.is_fully_defined():
        return Step(reshape.op, [x, tuple(step.outputs[0].shape.as_list())], step.outputs, step.origins)
    return step


@functools.cache
def has_llvm() -> bool:
    """Returns True if LLVM is installed."""
    return importlib.util.find_spec("llvmlite") is not None


def _pays(steps: Sequence[Step]) -> bool:
    """Returns True if a kernel for these steps saves more time than compiling it takes: for many steps or elements."""
    counted = steps if len(steps) == 1 or draws_elements(steps[0]) else steps[1:]
    work = sum(elements_of(_operand(step)) for step in counted)
    return sum(not is_reshape(step) for step in steps) >= _MANY or work >= _LEAST_WORK


def _operand(step: Step) -> SymbolicTensor:
    """Returns the first tensor that a step computes with, or the random numbers that it draws."""
    if draws_elements(step):
        return step.outputs[0]
    return step.inputs[isinstance(step.op, VariableUpdate)]


def is_elementwise(program: Program, step: Step) -> bool:
    """Returns True if a step has an element form for its dtypes."""
    if step.op.element is None or step.placed or step.must_run or len(step.outputs) != 1:
        return False
    statics = step.op.statics(step.args)
    if not step.outputs[0].shape.rank or any(isinstance(a, (SymbolicTensor, list, tuple)) for a in statics):
        return False
    numbers = tuple([_number(program, t) for t in step.inputs])
    return supports(step.op, tuple([t.dtype for t in step.inputs]), tuple(statics), numbers)


def draws_elements(step: Step) -> bool:
    """Returns True if a step draws one random number from each word of a stream, with a static shape."""
    if step.op.draws is not uniform or step.placed:
        return False
    _, key, counter, alg, dtype = step.args
    out = step.outputs[0].shape
    are_tensors = isinstance(key, SymbolicTensor) and isinstance(counter, SymbolicTensor)
    return (
        are_tensors and dtype is float32 and host_static(alg) in (1, 3) and out.is_fully_defined() and out.rank > 0
        and out[-1] > 1 and out.num_elements() > 2 and (key.shape, counter.shape) == ([1], [2])
    )  # fmt: skip


def _is_slow(step: Step) -> bool:
    """Returns True if ATen is slow at a step: it draws random numbers, or its rows are short."""
    if step.op.element is None or isinstance(step.op, VariableUpdate) or elements_of(step.outputs[0]) < _LEAST_WORK:
        return draws_elements(step)
    tensors = [t for t in (*step.inputs, step.outputs[0]) if t.shape.rank is not None]
    shapes = [[2 if d is None else d for d in t.shape] for t in tensors]
    return has_short_rows(shapes[:-1], shapes[-1])


def reduces_columns(step: Step) -> bool:
    """Returns True if a step reduces all dimensions but the last of a tensor of floats, whose rows fill a vector."""
    axes = reduced_axes(step)
    if not axes or axes != set(range(-step.args[0].shape.rank, -1)):
        return False
    columns = step.args[0].shape[-1]
    return columns is None or columns >= _MOST_LANES


def changes_elements(program: Program, step: Step) -> bool:
    """Returns True if a step only changes a variable, element by element."""
    if not isinstance(step.op, VariableUpdate) or step.op.element is None or step.placed:
        return False
    variable = variable_of(step.args[0])
    has_one_value = type(program.constants.get(id(step.args[0]), variable)) is type(variable) is ResourceVariable
    return (
        has_one_value and variable.shape.is_fully_defined() and variable.dtype in DTYPES and variable.dtype is not bool_
    )


def _vector_length(loops: list[int | None] | None, step: Step) -> int | None:
    """Returns the number of elements if a step computes each element of a vector from elements in its place.

    Args:
        loops: the shape of the loops for the step. Leading dimensions of size 1 do not matter.
        step: the step.
    """
    if not loops or loops[-1] in (None, 1) or loops.count(1) < len(loops) - 1:
        return None
    return loops[-1] if step.op.element is not None or is_reshape(step) else None


def _is_flat(steps: Sequence[Step]) -> bool:
    """Returns True if steps compute elements of vectors that differ in the number of leading dimensions of size 1."""
    tensors = [step.outputs[0] if step.outputs else variable_of(step.args[0]) for step in steps]
    if len({t.shape.rank for t in tensors}) < 2 and not any(map(is_reshape, steps)):
        return False
    lengths = {_vector_length(t.shape.as_list(), s) for s, t in zip(steps, tensors, strict=True) if s.op is not READ}
    return len(lengths) == 1 and None not in lengths


def _computes_rows(step: Step) -> bool:
    """Returns True if a step computes each row of floats from a row."""
    out = step.outputs[0] if step.op.row is not None and not step.placed else None
    return out is not None and bool(out.shape.rank) and out.dtype.is_floating


def _combines(step: Step) -> bool:
    """Returns True if a step combines the elements of rows or columns."""
    return step.op.reduced is not None or step.op.row is not None


def _repeats(step: Step) -> bool:
    """Returns True if a step repeats a tensor to a static shape."""
    out = step.outputs[0] if step.op is broadcast_to.op else None
    return out is not None and out.dtype in DTYPES and out.shape.is_fully_defined() and not step.placed


class _Group:
    """Steps that become a cluster, or a single step.

    Attributes:
        steps: the steps, in program order.
        loops: the shape of the cluster's loops; None for a step that can't be in a cluster.
        length: the number of elements, if all steps compute vectors; leading dimensions of size 1 then do not matter.
        is_flat: True if the steps differ in these dimensions.
        sources: the groups that must run before it.
        reads: the ids of the tensors with values of variables after its changes.
        first, last: the indices of its first and its last step.
    """

    __slots__ = ("first", "is_flat", "last", "length", "loops", "reads", "sources", "steps")

    def __init__(self, index: int, step: Step, loops: list[int | None] | None, length: int | None) -> None:
        self.steps = [step]
        self.loops = loops
        self.length = length
        self.is_flat = length is not None and is_reshape(step)
        self.sources: set[_Group] = set()
        self.reads: list[int] = []
        self.first = self.last = index


class _Clustering:
    """The groups of a program's steps. No group depends on itself through another one.

    A step that uses a read depends on the step that gave the variable its value. Reads themselves are in no group: a
    cluster knows the values between its changes, and a read with other uses stays a step.
    """

    def __init__(self, program: Program, apart: Collection[int] | None = None) -> None:
        self._program, self._apart = program, apart or ()
        self._flattens = apart is None  # the code of loops looks at the shapes of operands
        self._group_of: dict[int, _Group] = {}  # by the ids of the tensors that it computes
        self._all: dict[int, _Group] = {}
        self._totals = {id(step.outputs[0]) for step in program.steps if reduces_columns(step)}
        self._before = effects_before(program.steps)
        self._index = {id(step): i for i, step in enumerate(program.steps)}
        self._producers = {id(t): i for i, step in enumerate(program.steps) for t in step.outputs}
        self._groups: list[_Group | None] = []  # by the indices of steps
        for index, (step, before) in enumerate(zip(program.steps, self._before, strict=True)):
            effects = [g for i in before if i >= 0 and (g := self._groups[i]) is not None]
            if step.op is READ and variable_of(step.args[0]) is not None:
                self._groups.append(None)
                if effects:
                    self._group_of[id(step.outputs[0])] = effects[0]
                    effects[0].reads.append(id(step.outputs[0]))
                continue
            sources = {*effects, *(g for t in step.inputs if (g := self._group_of.get(id(t))) is not None)}
            loops = self._loops(step)
            length = _vector_length(loops, step) if self._flattens else None
            group = None if loops is None else self._joined(index, step, sources, loops, length)
            if group is None:
                group = _Group(index, step, loops, length)
                self._all[id(group)] = group
                group.sources = sources
            self._groups.append(group)
            for t in step.outputs:
                self._group_of[id(t)] = group

    def groups(self) -> list[_Group]:
        """Returns the groups that one loop can compute."""
        candidates = (g for g in self._all.values() if g.loops and (len(g.steps) > 1 or _is_slow(g.steps[0])))
        return [group for group in candidates if self._is_whole(group)]

    def group_of(self, step: Step) -> _Group:
        """Returns the group of a step."""
        return self._group_of[id(step.outputs[0])]

    def _is_whole(self, group: _Group) -> bool:
        """Returns True if the loops of a group visit each element of its changed variables exactly once."""
        changes = [step for step in group.steps if isinstance(step.op, VariableUpdate)]
        return group.length is not None or all(variable_of(s.args[0]).shape.as_list() == group.loops for s in changes)

    def _loops(self, step: Step) -> list[int | None] | None:
        """Returns the shape of the loops for a step, or None if it can't be in a cluster."""
        if reduced_axes(step) == {-1} or reduces_columns(step):
            return step.args[0].shape.as_list()
        if changes_elements(self._program, step):
            return variable_of(step.args[0]).shape.as_list() or None
        if draws_elements(step):
            return step.outputs[0].shape.as_list()
        if _repeats(step) or self._restores_axis(step) or _computes_rows(step) or self._keeps_vector(step):
            return step.outputs[0].shape.as_list()
        return step.outputs[0].shape.as_list() if is_elementwise(self._program, step) else None

    def _restores_axis(self, step: Step) -> bool:
        """Returns True if a step restores the axis that a reduction of rows dropped."""
        if step.op is not reshape.op or step.placed or not step.outputs[0].shape.is_fully_defined():
            return False
        source = step.args[0]
        group = self._group_of.get(id(source))
        steps = [] if group is None else [s for s in group.steps if s.outputs and s.outputs[0] is source]
        kept = [*source.shape.as_list(), 1] if source.shape.rank is not None else None
        return any(reduced_axes(s) == {-1} for s in steps) and step.outputs[0].shape.as_list() == kept

    def _keeps_vector(self, step: Step) -> bool:
        """Returns True if a step changes the number of leading dimensions of size 1 of a vector."""
        if not self._flattens or not is_reshape(step) or step.placed or step.outputs[0].dtype not in DTYPES:
            return False
        shapes = [t.shape.as_list() if t.shape.rank else None for t in (step.args[0], step.outputs[0])]
        lengths = {_vector_length(shape, step) for shape in shapes}
        return len(lengths) == 1 and None not in lengths

    def _joined(
        self, index: int, step: Step, sources: set[_Group], loops: list[int | None], length: int | None
    ) -> _Group | None:
        """Adds a step to the group of a producer and returns the group, or None. Unites groups of several producers."""
        joined: _Group | None = None
        is_apart = id(step) in self._apart
        single = _Group(index, step, loops, length)
        for group in sorted((g for g in sources if _go_together(g, single)), key=lambda g: g.first):
            if (id(group.steps[0]) in self._apart) != is_apart or not self._is_aligned(single, group):
                continue
            if joined is None:
                if not any(self._reaches(other, group) for other in sources if other is not group):
                    joined = group
                    _extend(joined, single)
                    joined.sources |= sources - {joined}
            elif group in joined.sources and self._may_unite(joined, group):
                self._unite(joined, group)
        return joined

    def _is_aligned(self, user: _Group, group: _Group) -> bool:
        """Returns True if the operands that steps take from a group have the dimensions of the group's loops.

        A reduction without `keepdims` gives one value per row, which an element-wise step would broadcast along rows.
        Totals are complete only after the group's loops.
        """
        if user.length is not None and user.length == group.length:
            return True
        for step in user.steps:
            taken = [t for t in step.inputs if self._group_of.get(id(t)) is group]
            if any(id(t) in self._totals for t in taken):
                return False
            if any(t.shape.rank != len(group.loops or ()) for t in taken) and not self._restores_axis(step):
                return False
        return True

    def _may_unite(self, a: _Group, b: _Group) -> bool:
        """Returns True if one loop can compute two groups, and neither depends on the other through a third one."""
        return (
            _go_together(a, b)
            and self._is_aligned(a, b)
            and self._is_aligned(b, a)
            and not any(self._reaches(s, b) for s in a.sources if s is not b)
            and not any(self._reaches(s, a) for s in b.sources if s is not a)
        )

    def _unite(self, group: _Group, other: _Group) -> None:
        """Moves the steps of another group to a group."""
        _extend(group, other)
        group.sources = (group.sources | other.sources) - {group, other}
        del self._all[id(other)]
        for g in self._all.values():
            if other in g.sources:
                g.sources.remove(other)
                g.sources.add(group)
        group.reads += other.reads
        for step in other.steps:
            self._groups[self._index[id(step)]] = group
            self._group_of.update((id(t), group) for t in step.outputs)
        self._group_of.update((i, group) for i in other.reads)

    def _reaches(self, group: _Group, wanted: _Group) -> bool:
        """Returns True if a group depends on another one, directly or through others."""
        stack, seen = [group], {group}
        while stack:
            for source in stack.pop().sources:
                if source is wanted:
                    return True
                if source not in seen and source.last > wanted.first:
                    seen.add(source)
                    stack.append(source)
        return False

    def steps(self, chosen: Sequence[_Group]) -> list[Step]:
        """Returns the steps of the program with clusters for the chosen groups, close to the original order."""
        steps, uses = self._program.steps, self._program.use_counts()
        units = [sorted(self._index[id(step)] for step in group.steps) for group in chosen]
        reads = [self._known_reads(members) for members in units]
        unit_of = {i: unit for unit, members in enumerate(units) for i in members}
        inside: Counter[int] = Counter()
        for unit, known in enumerate(reads):
            inside.update(j for i in units[unit] for t in steps[i].inputs if (j := self._index_of(t)) in known)
            unit_of.update((i, unit) for i, is_between in known.items() if is_between)
        gone = {i for i, count in inside.items() if count == uses[id(steps[i].outputs[0])]}
        for i in range(len(steps)):
            if i not in unit_of and i not in gone:
                unit_of[i] = len(units)
                units.append([i])
        reads += [{}] * (len(units) - len(reads))
        sources: list[set[int]] = [set() for _ in units]
        after: list[list[int]] = [[] for _ in units]
        for unit, members in enumerate(units):
            before = [i for member in members for i in self._before[member]]
            before += [j for i in members for t in steps[i].inputs if (j := self._index_of(t)) not in reads[unit]]
            sources[unit] = {unit_of[i] for i in before if i in unit_of} - {unit}
            for source in sources[unit]:
                after[source].append(unit)
        ready = [(members[-1], unit) for unit, members in enumerate(units) if not sources[unit]]
        heapq.heapify(ready)
        ordered: list[Step] = []
        while ready:
            _, unit = heapq.heappop(ready)
            members = units[unit]
            ordered.append(self._cluster(members, reads[unit], uses) if unit < len(chosen) else steps[members[0]])
            for user in after[unit]:
                sources[user].discard(unit)
                if not sources[user]:
                    heapq.heappush(ready, (units[user][-1], user))
        return ordered

    def _known_reads(self, members: Sequence[int]) -> dict[int, bool]:
        """Returns the reads with values that a cluster knows, because it changes their variables.

        Args:
            members: the indices of its steps, in program order.

        Returns:
            The indices of the reads; for each, True if it reads an intermediate value, between two of the changes.
        """
        steps = self._program.steps
        changes: dict[int, list[int]] = {}
        for i in members:
            if isinstance(steps[i].op, VariableUpdate):
                changes.setdefault(variable_of(steps[i].args[0])._id, []).append(i)
        taken = {self._index_of(t) for i in members for t in steps[i].inputs}
        known: dict[int, bool] = {}
        for own in changes.values():
            known.update((i, True) for change in own[1:] for i in self._before[change][1:])
            first, last = self._before[own[0]], own[-1]
            known.update((i, False) for i in taken.intersection(first[1:]))
            known.update((i, False) for i in taken if i >= 0 and steps[i].op is READ and self._before[i] == [last])
        return known

    def _index_of(self, tensor: SymbolicTensor) -> int:
        """Returns the index of the step that computes a tensor, or -1."""
        return self._producers.get(id(tensor), -1)

    def _cluster(self, members: Sequence[int], reads: dict[int, bool], uses: dict[int, int]) -> Step:
        """Returns the step that computes these steps in one loop.

        Args:
            members: the indices of the steps.
            reads: the reads with values that the cluster knows.
            uses: the use counts of tensors in the program, by their ids.
        """
        program = self._program
        own = [program.steps[i] for i in members]
        steps = [program.steps[i] for i in sorted([*members, *reads])]
        stay = {id(program.steps[i].outputs[0]) for i, is_between in reads.items() if not is_between}
        computed = {id(t) for step in steps for t in step.outputs}
        inside = Counter(id(t) for step in steps for t in step.inputs)
        outputs = [t for step in steps for t in step.outputs if uses[id(t)] > inside[id(t)] and id(t) not in stay]
        handles = {variable_of(s.args[0])._id: s.args[0] for s in own if isinstance(s.op, VariableUpdate)}.values()
        outer = {id(t): t for step in own for t in step.inputs if id(t) not in computed and t.dtype is not resource}
        of_draws = [step.args[0] for step in own if draws_elements(step)]
        for shape in [*of_draws, *(step.args[1] for step in own if _repeats(step))]:
            if isinstance(shape, SymbolicTensor) and program.constant(shape) is not None:
                outer.pop(id(shape), None)
        numbers = {i: number for i, t in outer.items() if (number := _number(program, t)) is not None}
        part = copy.copy(program)
        part.steps, part.outputs = steps, outputs
        part.inputs = [*handles, *(t for i, t in outer.items() if i not in numbers)]
        name = name_of_steps(own)
        op = ClusterOp(name, Cluster(name, part, numbers, len(handles)))
        return Step(op, part.inputs, outputs, [o for step in own for o in step.origins], must_run=bool(handles))


def _go_together(a: _Group, b: _Group) -> bool:
    """Returns True if one loop can compute two groups: the shapes are equal, or one has one element per row."""
    if a.length is not None and a.length == b.length:
        return True
    x, y = a.loops, b.loops
    if x is None or y is None or len(x) != len(y) or x[:-1] != y[:-1] or a.is_flat or b.is_flat:
        return False
    return x[-1] == y[-1] or (len(x) > 1 and 1 in (x[-1], y[-1]))


def _extend(group: _Group, other: _Group) -> None:
    """Adds the steps of another group to a group."""
    assert group.loops is not None
    assert other.loops is not None
    group.is_flat = group.is_flat or other.is_flat or len(group.loops) != len(other.loops)
    group.length = group.length if group.length == other.length else None
    group.loops = other.loops if group.loops[-1] == 1 else group.loops
    group.steps += other.steps
    group.first, group.last = min(group.first, other.first), max(group.last, other.last)


def _number(program: Program, tensor: SymbolicTensor) -> Any:
    """Returns the value of a scalar constant, or None."""
    value = program.constant(tensor)
    return value.item() if isinstance(value, torch.Tensor) and not value.ndim else None
