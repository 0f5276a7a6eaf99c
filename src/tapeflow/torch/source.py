"""The source of a module's forward function: a traced function, as calls that torch's autograd can follow.

It is written like the source of a `tf.function`, one line an operation, but without the passes that write in place or
choose kernels without a derivative. Variables and constants with more than one element are attributes of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch

from tapeflow.core.logger import get_logger
from tapeflow.core.types.dtypes import variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.codegen.step_source import Writer, runs_on_arrays
from tapeflow.graph.codegen.symbolic_source import SymbolicWriter
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, symbolic_in, variable_of
from tapeflow.graph.program.effects import with_stream
from tapeflow.graph.program.loops import LoopParts
from tapeflow.graph.program.program import Program, Step
from tapeflow.graph.program.simplify import prune, simplify
from tapeflow.graph.transform.body import Body
from tapeflow.random.stateful import random_standard_normal, random_uniform
from tapeflow.random.stateless_ops import normal_of, uniform_of
from tapeflow.torch.changes import METHODS, change, changed_variables, is_change
from tapeflow.torch.composite_patterns import recognize, recognize_layers
from tapeflow.torch.own_gradient import TorchGradient
from tapeflow.torch.unconvertible import Unconvertible

# torch draws the numbers: `torch.manual_seed`, `torch.compile` and `torch.export` only know its generators.
_DRAWS = {random_uniform.op: "rand", uniform_of.op: "rand", random_standard_normal.op: "randn", normal_of.op: "randn"}


def _detach_identities(program: Program) -> None:
    """Has torch's autograd stop where a tape does on purpose: at identities that no gradient passes."""
    for step in program.steps:
        if step.op.identity and not step.op.differentiable and len(step.outputs) == 1:
            step.op = GraphOp(step.name, torch.Tensor.detach, template="{0}.detach()")


def _simplify_inner(program: Program) -> None:
    """Derives the programs of branches, loops and called functions by the same passes."""
    for step in program.steps:
        if step.op.control:
            bodies = [(b, step.op.results if step.op.control == "call" else b.outputs) for b in step.op.bodies.values()]
            step.programs = [_Part(b.name, b.inputs, outs, b.graph.effects()).program for b, outs in bodies]


def _forget_residuals(program: Program) -> None:
    """Drops the residuals of loops that nothing in the program uses: a tape in the function had them returned, for
    gradients that the result does not depend on."""
    used = program.use_counts()
    for step in program.steps:
        if step.op.control == "loop":
            count = step.op.kernel.count
            step.outputs = [t for i, t in enumerate(step.outputs) if i < count or id(t) in used]


class ModuleSource(Compiled):
    """The forward function of a module.

    Args:
        body: the traced function.
        attributes: returns the name, as of an attribute of the module, of a variable or of a constant tensor that the
            function reads. For a constant, the second argument is the name that it would have.
        structure: the result's structure, with the body's output tensors for leaves.
        writer: the class of the writer; by default `ModuleWriter`.
    """

    simplifying_passes = (
        _detach_identities, _forget_residuals, simplify, recognize, recognize_layers, prune, _simplify_inner,
    )  # fmt: skip
    special_passes = ()

    def __init__(
        self,
        body: Body,
        attributes: Callable[[Any, str], str],
        structure: Any,
        writer: Callable[..., ModuleWriter] | None = None,
    ) -> None:
        super().__init__("forward", body.inputs, body.outputs, body.graph.effects())
        self._captured = {
            id(inner): outer.value for outer, inner in body.graph.captures if isinstance(outer, EagerTensor)
        }
        self._attributes, self._structure = attributes, structure
        self._writer_class = writer or ModuleWriter
        self._changed = {id(v) for v in changed_variables(body)}

    @property
    def decides(self) -> bool:
        """True if control flow depends on values: the function has an `if` or a loop, or takes numbers from tensors."""
        self.function  # noqa: B018  # written now
        return cast("ModuleWriter", self._writer).decides

    def _write(self) -> Writer:
        writer = self._writer_class(self._attributes, self._structure, self._changed, self._captured)
        writer.write(self.name, self.specialized(()))
        return writer


class _Part(Compiled):
    simplifying_passes = ModuleSource.simplifying_passes


class ModuleWriter(SymbolicWriter):
    """Writes the source of a module's forward function.

    Attributes:
        decides: whether it has an `if` or a loop, or takes numbers from tensors.

    Args:
        attributes, structure: see `ModuleSource`.
        changed: the ids of the variables that the function changes.
        captured: the values of eager tensors that it captures, by the ids of their placeholders.
    """

    def __init__(
        self, attributes: Callable[[Any, str], str], structure: Any, changed: set[int], captured: dict[int, Any]
    ) -> None:
        super().__init__()
        self._used_names.add("self")
        self._attributes, self._structure, self._changed = attributes, structure, changed
        self._captured = captured
        self.decides = False
        self._skipped: set[int] = set()  # the ids of steps whose outputs are used as Python numbers alone

    def write(self, name: str, program: Program) -> None:
        parameters = ["self"]
        for t in program.inputs:
            variable, captured = variable_of(t), self._captured.get(id(t))
            if isinstance(captured, torch.Tensor):
                self._set_forms(t, (None, f"self.{self._attributes(captured, t.op.name)}"))
            elif captured is not None:
                continue  # strings or a table's handle: `_require` names the step that takes it
            elif variable is None:
                parameters.append(self.unique(t.op.name))
                self._set_forms(t, (None, parameters[-1]))
                self.device = f"{parameters[1]}.device"
            else:
                self._set_forms(t, (None, f"self.{self._attributes(variable, '')}"))
        self._constants.update(program.constants)
        self.row(0, f"def {name}({', '.join(parameters)}):")
        self.block(program, 1)
        outputs = iter([self.reference(t) for t in program.outputs])
        self.row(1, f"return {self._result(self._structure, outputs)}")

    def _result(self, structure: Any, outputs: Any) -> str:
        """Returns the expression of the result."""
        if isinstance(structure, SymbolicTensor):
            return next(outputs)
        if structure is None:
            return "None"
        if isinstance(structure, dict):  # in the order of a flattened nest
            by_key = {key: self._result(structure[key], outputs) for key in sorted(structure)}
            return f"{{{', '.join(f'{key!r}: {by_key[key]}' for key in structure)}}}"
        if isinstance(structure, (list, tuple)):
            items = [self._result(item, outputs) for item in structure]
            if isinstance(structure, list):
                return f"[{', '.join(items)}]"
            if hasattr(structure, "_fields"):
                return f"{self.named(type(structure).__name__, type(structure))}({', '.join(items)})"
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        raise Unconvertible(f"torch has no tensor for a {type(structure).__name__}, which the function returns")

    def block(self, program: Program, indent: int) -> None:
        _refuse_residuals(program)
        self.sizes.add(program)
        self._constants.update(program.constants)
        self._skip(program)
        super().block(program, indent)

    def _skip(self, program: Program) -> None:
        """Finds the steps that nothing uses: steps of seeds, and of sizes that are written as Python numbers."""
        used = {id(t) for t in program.outputs}
        for step in reversed(program.steps):
            is_used = any(id(t) in used or id(t) in self.sizes.measured for t in step.outputs)
            if not step.must_run and not is_used:
                self._skipped.add(id(step))
                continue
            operands = symbolic_in(step.args[:1] if step.op in _DRAWS else step.args)
            hosts = {id(a) for a in step.op.hosts(step.args)} if step.registered else set()
            if self.bounds(step) is None:
                used.update(id(t) for t in operands if id(t) not in hosts or self.sizes.of(t) is None)

    def step(self, step: Step, indent: int) -> None:
        if id(step) in self._skipped:
            return
        variable = variable_of(step.args[0]) if step.args else None
        if is_change(step):
            target, value = map(self.reference, step.inputs)
            self.row(indent, f"{self.named('change', change)}({target}, {METHODS[step.op.kernel]!r}, {value})", step)
        elif step.op is READ and variable is not None:
            name = self.reference(step.args[0])
            if id(variable) in self._changed:
                self.row(indent, f"{self.name(step.outputs[0])} = {name}.clone()", step)
            else:
                self._set_forms(step.outputs[0], (None, name))
        elif step.op.control == "call":
            self.inline(step, indent)
        elif step.op in _DRAWS:
            dtype, shape = step.outputs[0].dtype.torch, self._host_argument(step.args[0])
            call = f"torch.{_DRAWS[step.op]}({shape}, dtype={dtype}, device={self.device})"
            self.row(indent, f"{self.name(step.outputs[0])} = {call}", step)
        elif (sizes := self.size_call(step)) is not None:
            self.row(indent, f"{self.name(step.outputs[0])} = {sizes}", step)
        else:
            self._require(step)
            if not step.registered and step.op.gradient is not None and not step.op.bodies and not step.op.template:
                get_logger().warning("torch.module: the gradient that %s defines has no effect.", step.operation.name)
            super().step(step, indent)

    def _conditional(self, step: Step, indent: int) -> None:
        self.decides = True
        super()._conditional(step, indent)

    def _nested_loop(self, step: Step, loop: LoopParts, indent: int) -> None:
        self.decides = True
        super()._nested_loop(step, loop, indent)

    def host(self, tensor: SymbolicTensor) -> str:
        self.decides = True
        return super().host(tensor)

    def _require(self, step: Step) -> None:
        """Checks that torch has tensors for the operands and results of a step.

        Raises:
            Unconvertible: it has none.
        """
        operands = [*step.inputs, *step.outputs]
        if any(variable_of(t) is not None for t in step.inputs) and not step.op.bodies:
            raise Unconvertible(f"{step.name} ({step.operation.name}) changes a variable in a way that torch has not")
        unsupported = next((t for t in operands if t.dtype.torch is None and t.dtype is not variant), None)
        if unsupported is not None and variable_of(unsupported) is None:
            dtype = unsupported.dtype.name
            raise Unconvertible(
                f"{step.name} ({step.operation.name}) has a tensor of dtype {dtype}, which torch lacks: "
                "it can't be split off as preprocessing, because there is no model behind it, or one before it"
            )

    def reference(self, tensor: SymbolicTensor) -> str:
        value = self._constants.get(id(tensor))
        is_held = isinstance(value, Variable) or (isinstance(value, torch.Tensor) and value.ndim)
        if is_held and id(tensor) not in self.names:
            self.names[id(tensor)] = f"self.{self._attributes(value, tensor.op.name)}"
        return super().reference(tensor)

    def _kernel(self, step: Step) -> str:
        op = step.op
        if runs_on_arrays(step):
            return super()._kernel(step)
        key = op.key(step.args), tuple([t.dtype for t in step.outputs])
        name = self._kernels.get((op, key))
        if name is None:
            kernel = with_stream(step, self._typed(step, op.kernel if op.autograd else TorchGradient(step)))
            builtin = getattr(kernel, "__name__", "")
            if getattr(torch, builtin, None) is kernel:
                name = f"torch.{builtin}"
            else:
                name = self.unique(op.name)
                self.namespace[name] = kernel
            self._kernels[op, key] = name
        return name

    def _typed(self, step: Step, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a step's kernel, with results of the dtypes that the op declares."""
        floats = all(t.dtype.is_floating or t.dtype.is_complex for t in (*step.inputs, *step.outputs))
        if floats and step.native and not step.op.creates:
            return kernel
        return Typed(kernel, [t.dtype.torch for t in step.outputs], step.op.creates)


class Typed:
    """A kernel whose results are cast to dtypes. It creates tensors on the device of its operands.

    Args:
        kernel: the kernel.
        dtypes: the dtypes of its results; None for a list of tensors.
        creates: whether it takes a device.
    """

    def __init__(self, kernel: Callable[..., Any], dtypes: Sequence[torch.dtype | None], creates: bool) -> None:
        self._kernel, self._dtypes, self._creates = kernel, dtypes, creates

    def __call__(self, *values: Any) -> Any:
        if self._creates:
            device = next((v.device for v in values if isinstance(v, torch.Tensor)), torch.get_default_device())
            result = self._kernel(*values, device=device)
        else:
            result = self._kernel(*values)
        if isinstance(result, torch.Tensor):
            return _cast_result(result, self._dtypes[0])
        if isinstance(result, (list, tuple)):
            return tuple([_cast_result(r, d) for r, d in zip(result, self._dtypes, strict=True)])
        return result


def _cast_result(result: Any, dtype: torch.dtype | None) -> Any:
    return result if dtype is None or not isinstance(result, torch.Tensor) else result.to(dtype)


def _refuse_residuals(program: Program) -> None:
    """Checks that a program does not compute the gradient of a loop from residuals.

    Raises:
        Unconvertible: it does.
    """
    recorded = next((s.op.gradient_of for s in program.steps if not s.registered and s.op.gradient_of), None)
    if recorded is not None:
        raise Unconvertible(
            f"the gradient of {recorded.type} ({recorded.name}) is computed in the function, and torch "
            "has no operation for it: convert the function without the gradient, which torch computes of a module"
        )
