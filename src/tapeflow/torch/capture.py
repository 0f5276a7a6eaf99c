"""A module of torch as operations of a graph: `torch.export` captures it, and its calls of ATen become our ops."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch.fx import Node

from tapeflow.array.reshapes import transpose_op
from tapeflow.core import aten, errors
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, Tensor, alias
from tapeflow.math.casting import cast_op
from tapeflow.torch.aten import Uncallable, call_aten
from tapeflow.torch.aten_ops import ANY_LAYOUT, ARITHMETIC, IMAGES, TABLE, sizes
from tapeflow.torch.parameter import ParameterVariable
from tapeflow.torch.sample_inputs import LARGE, SMALL, first_line, largest_size

_OpOverload: Any = type(torch.ops.aten.add.Tensor)
_TO_LAST, _TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
# The exceptions of `torch.export` for modules that it can't trace: its own, and those that the module's code raises.
_FAILURES = (RuntimeError, TypeError, ValueError, AttributeError, LookupError, AssertionError, errors.OpError)
_SIZE = torch.ops.aten.sym_size.int


class Captures:
    """The programs that a module is captured as: one for each mode and signature of its arguments.

    Args:
        module: the module.
        variables: the variables of its parameters and buffers, by their names in the module.
    """

    def __init__(self, module: torch.nn.Module, variables: Mapping[str, ParameterVariable]) -> None:
        self._module, self._variables = module, variables
        self._programs: dict[Any, ExportedProgram | None] = {}
        self._warned: set[str] = set()

    def written(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Adds the operations of a call to the graph that this thread builds.

        Args:
            args: the arguments, tensors in nests.
            named: those by names.

        Returns:
            The module's result in a tuple; None where it can't be captured, which is logged once.
        """
        structure = (list(args), dict(sorted(named.items())))
        leaves = nest.flatten(structure)
        key = self._key(structure, leaves)
        try:
            if key not in self._programs:
                self._programs[key] = None
                self._programs[key] = self._exported(structure, leaves)
            program = self._programs[key]
            if program is None:
                return None
            flat = aten.pytree.tree_leaves((tuple(structure[0]), structure[1]))
            return (_Writing(program, self._variables, flat).result(),)
        except _FAILURES as error:
            self._programs[key] = None
            self._warn(error)
            return None

    def _key(self, structure: Any, leaves: Sequence[Any]) -> Any:
        """Returns a program's key: the module's modes, and the arguments' structure, dtypes, shapes and other
        values."""
        modes = tuple([m.training for m in self._module.modules()])
        described = [(t.dtype.name, str(t.shape)) if isinstance(t, Tensor) else repr(t) for t in leaves]
        trains = tuple([p.requires_grad for p in self._module.parameters()])
        return modes, trains, tuple(described), repr(nest.map_structure(lambda _: None, structure))

    def _exported(self, structure: Any, leaves: Sequence[Any]) -> ExportedProgram:
        """Returns a program, traced with small sizes for unknown ones unless it only holds for these, or fails."""
        program, first_error = None, None
        for size in (SMALL, LARGE):
            try:
                program = self._exported_for(size, structure, leaves)
            except _FAILURES as error:
                first_error = first_error or error
            else:
                if largest_size(program) is None:
                    break
        if program is None:
            raise first_error  # type: ignore[misc]
        return program

    def _exported_for(self, size: int, structure: Any, leaves: Sequence[Any]) -> ExportedProgram:
        """Returns a program that is traced with unknown dimensions of a size, and of the next ones."""
        examples: list[Any] = []
        dynamic: list[Any] = []
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                examples.append(leaf)
                dynamic.append(None)
                continue
            if leaf.shape.rank is None:
                raise Uncallable(f"an input has no static rank: {leaf!r}")
            shape = leaf.shape.as_list()
            unknown = [i for i, d in enumerate(shape) if d is None]
            shape = [size + unknown.index(i) if d is None else d for i, d in enumerate(shape)]
            examples.append(torch.empty(shape, dtype=leaf.dtype.torch))
            dynamic.append(dict.fromkeys(unknown, torch.export.Dim.DYNAMIC))
        args, named = nest.pack_sequence_as(structure, examples)
        shapes, named_shapes = nest.pack_sequence_as(structure, dynamic)
        sizes_of = inspect.signature(self._module.forward).bind(*shapes, **named_shapes).arguments
        program = torch.export.export(self._module, tuple(args), named, dynamic_shapes=sizes_of)
        return program.run_decompositions({})

    def _warn(self, error: BaseException) -> None:
        text = f"{type(error).__name__}: {first_line(error)}"
        if text not in self._warned:
            self._warned.add(text)
            get_logger().warning(
                "tf.torch.Layer: %s is one operation in the graph, as torch.export can't capture it: %s",
                type(self._module).__name__, text,
            )  # fmt: skip


class _Images:
    """A tensor of images, with channels last where torch has them first."""

    def __init__(self, last: Any) -> None:
        self.last = last

    @cached_property
    def first(self) -> Any:
        return transpose_op(self.last, _TO_FIRST)


class _Writing:
    """Adds the operations of a program to the graph that this thread builds.

    Args:
        program: the program.
        variables: the variables of its parameters and buffers, by their names in the module.
        inputs: its inputs.
    """

    def __init__(
        self, program: ExportedProgram, variables: Mapping[str, ParameterVariable], inputs: Sequence[Any]
    ) -> None:
        self._program, self._variables = program, variables
        self._values: dict[str, Any] = {}
        rest = iter(inputs)
        for spec in program.graph_signature.input_specs:
            if spec.kind is InputKind.USER_INPUT:
                value = next(rest)
            elif spec.target in variables:
                value = convert(variables[spec.target])
            elif spec.kind in (InputKind.CONSTANT_TENSOR, InputKind.BUFFER) and spec.target is not None:
                constant = program.constants[spec.target]
                value = convert(EagerTensor(alias(constant), FROM_TORCH[constant.dtype]))
            else:
                raise Uncallable(f"it takes a {spec.kind.name}")
            if not isinstance(spec.arg, ConstantArgument):
                self._values[spec.arg.name] = value

    def result(self) -> Any:
        """Adds the operations, and returns the module's result."""
        outputs: Sequence[Any] = ()
        for node in self._program.graph.nodes:
            if node.op == "call_function" and node.users:
                self._values[node.name] = self._called(node)
            elif node.op == "output":
                outputs = node.args[0]
        results = []
        for spec, value in zip(self._program.graph_signature.output_specs, outputs, strict=True):
            if spec.kind is OutputKind.BUFFER_MUTATION and spec.target in self._variables:
                self._variables[spec.target].assign(self._plain(value))
            elif spec.kind is OutputKind.USER_OUTPUT:
                results.append(self._plain(value) if isinstance(spec.arg, TensorArgument) else value)
            elif spec.kind is not OutputKind.USER_INPUT_MUTATION:  # inputs are never written to
                raise Uncallable(f"it returns a {spec.kind.name}")
        return aten.pytree.tree_unflatten(results, self._program.call_spec.out_spec)

    def _plain(self, value: Any) -> Any:
        """Returns the value of a node, with channels first for images; for a list or tuple, the values of its items."""
        if isinstance(value, Node):
            value = self._values[value.name]
        if isinstance(value, (list, tuple)):
            return [self._plain(v) for v in value]
        return value.first if isinstance(value, _Images) else value

    def _called(self, node: Node) -> Any:
        """Adds the operation of a node."""
        function: Any = node.target
        if function is operator.getitem:
            return self._values[node.args[0].name][node.args[1]]  # type: ignore[union-attr, index]
        if function is _SIZE:
            return sizes(self._plain(node.args[0]))[node.args[1]]  # type: ignore[index]
        if not isinstance(function, _OpOverload):
            if getattr(function, "__module__", "") not in ("_operator", "operator"):
                raise Uncallable(f"it calls {function}")
            return function(*self._plain(node.args))
        result = self._on_images(function, node)
        if result is NotImplemented:
            args = _promoted(function, node, self._plain(node.args))
            named = {k: self._plain(v) for k, v in node.kwargs.items()}
            result = TABLE[function](*args, **named) if function in TABLE else NotImplemented
            like = node.meta["val"]
            if result is NotImplemented:
                result = call_aten(function, args, named, like if isinstance(like, (list, tuple)) else [like])
                result = result if isinstance(like, (list, tuple)) else result[0]
            elif isinstance(result, Tensor) and result.dtype is not FROM_TORCH[like.dtype]:
                result = cast_op(result, FROM_TORCH[like.dtype])
        return result

    def _on_images(self, function: Callable[..., Any], node: Node) -> Any:
        """Adds a call on images with channels last, or returns NotImplemented."""
        args: list[Any] = [self._values[a.name] if isinstance(a, Node) else a for a in node.args]
        others = any(isinstance(a, (Tensor, list, tuple)) for a in args)
        if function in ANY_LAYOUT and isinstance(args[0], _Images) and not others:
            operands = [a.last if isinstance(a, _Images) else a for a in args]
            return _as_images(TABLE[function](*_promoted(function, node, operands), **node.kwargs))
        if function not in IMAGES or node.args[0].meta["val"].ndim != 4:  # type: ignore[union-attr]
            return NotImplemented
        first = args[0].last if isinstance(args[0], _Images) else transpose_op(args[0], _TO_LAST)
        return _as_images(IMAGES[function](first, *[self._plain(a) for a in args[1:]], **node.kwargs))


def _as_images(result: Any) -> Any:
    """Returns the first result of a function of images as images."""
    if result is NotImplemented:
        return result
    return [_Images(result[0]), *result[1:]] if isinstance(result, list) else _Images(result)


def _promoted(function: Any, node: Node, args: list[Any]) -> list[Any]:
    """Returns the arguments of a function: the two operands of arithmetic in the dtype that torch computes in."""
    if function not in ARITHMETIC:
        return args
    dtype = node.meta["val"].dtype
    if dtype is torch.bool:
        pair: list[Any] = [a.meta["val"] if isinstance(a, Node) else a for a in node.args[:2]]
        dtype = torch.result_type(*pair)
    own = FROM_TORCH[dtype]
    return [cast_op(o, own) if isinstance(o, Tensor) and o.dtype is not own else o for o in args[:2]] + args[2:]
