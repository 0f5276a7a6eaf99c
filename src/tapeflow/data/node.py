"""The nodes of pipelines, and their ops in TensorFlow.

A dataset is a tree of nodes that never changes. A node has the spec of its elements, their number (`_size`), its
inputs, and `_iterate`, which goes over its elements as often as one likes and for several iterators at once. A source
whose elements are rows of arrays also has `_rows`.

A class of nodes declares its op with `dataset_op`. The declaration serves both directions: the class is the op's
kernel, and a node that is created in a graph is an operation of it. An input or attr `count` of the op is the argument
`count` of the class, and the field `_count` of its nodes.

Operations see flat elements: tuples of tensors, where ragged and sparse components are variants. `flat` and
`structured` convert a dataset between this form and a user's structure.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.ops import op_def, raw_kernels
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.definition import find, ops
from tapeflow.core.ops.shape_rules import scalar
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.dtypes import FROM_TORCH, int64, resource, string, variant
from tapeflow.core.types.spec import NoneTensorSpec, TensorSpec
from tapeflow.core.values.boxed_objects import boxed, held
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.data import structure
from tapeflow.data.dataset import UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.graph.control.body import Body
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.python_op import executing_eagerly, python_op

Class = TypeVar("Class", bound="type[Node]")


class Node(Dataset):
    """A source, or a dataset computed from others.

    Args:
        spec: the spec of the elements.
        inputs: the datasets it takes elements from.
    """

    _op: str = ""  # the op in TensorFlow; "" for a node that calls Python
    _renamed: Mapping[str, str] = MappingProxyType({})  # the fields of inputs and attrs with other names
    _same_size = False  # whether there is an element for each one of the input
    _passes_elements = False  # whether the elements are elements of the inputs
    _is_asynchronous = False  # whether threads compute the elements ahead
    _is_slow = False  # whether computing an element may be worth a thread: it reads files, calls Python or has threads
    _passes_options = False  # whether it only sets how other nodes run
    _is_view = False  # whether operations see the elements of the input in the same way
    _graph: Any = None  # the graph that the node is an operation of; None for a dataset that exists now

    def __init__(self, spec: Any, *inputs: Dataset) -> None:
        self._spec = spec
        self._input_datasets = inputs
        self._graph = state.graph
        self._symbolic: SymbolicTensor | None = None

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _variant_tensor(self) -> Tensor:
        if self._graph is None:
            return held(self, variant)
        if self._symbolic is None:
            with self._graph.as_default():
                self._symbolic = self._operation()
        return self._symbolic

    @classmethod
    def _is_op(cls) -> bool:
        """Returns True if TensorFlow has operations that create such a node."""
        return bool(cls._op) or cls._operation is not Node._operation

    def _operation(self) -> Any:
        """Adds the operation of this node to the graph that is being built; returns its output."""
        return add_operation(self._op, Fields(self)) if self._op else _python_operation(self)

    @property
    def _input_dataset(self) -> Any:
        return self._input_datasets[0]

    def _inputs(self) -> list[Any]:
        return list(self._input_datasets)

    def _operands(self) -> list[Any]:
        """Returns the datasets that the node's operation takes."""
        return self._inputs()

    def _over(self, inputs: Sequence[Any]) -> Any:
        """Returns this node with other inputs."""
        node = copy.copy(self)
        for name in _CACHES:
            node.__dict__.pop(name, None)
        node._input_datasets = tuple(inputs)
        return node

    def _as(self, spec: Any) -> Any:
        """Returns this node with the same elements in another structure."""
        node = copy.copy(self)
        for name in _CACHES[1:]:
            node.__dict__.pop(name, None)
        node._spec = spec
        return node

    # Returns the node of an operation, from those of its inputs and attrs that are its parameters. A class that
    # overrides it names them there.
    _of_op: Any = classmethod(lambda cls, **arguments: cls(**arguments))

    def _in_place(self) -> Any:
        """Returns the dataset that runs in place of this one, with the same elements; the inputs are such ones."""
        return self

    def _function_of_rows(self) -> MappedFunction | None:
        """Returns the function that maps the input's elements to this node's, where one call can compute many; else
        None.
        """
        return None

    def _size(self) -> int:
        return self._input_dataset._size() if self._same_size else UNKNOWN

    def _functions(self) -> dict[str, MappedFunction]:
        """Returns the user's functions that this node calls, by its attributes."""
        return {name: f for name, f in self.__dict__.items() if isinstance(f, MappedFunction)}

    def _iterate(self) -> Iterator[Element]:
        """Returns an iterator over the elements. Those over its inputs begin now, and not with the first element."""
        return self._from_inputs(*[ds._iterate() for ds in self._input_datasets])

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        """Returns an iterator over the elements, of iterators over the inputs'. It goes on after an error."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<_{type(self).__name__} element_spec={self._spec}>"


_CACHES = ("_rewritten", "_flat", "_tracker", "_plan")


class VariantDataset(Node):
    """A dataset that a graph takes or creates, which exists only when it runs.

    Args:
        variant_tensor: the symbolic tensor that stands for it.
        element_spec: the spec of its elements.
    """

    def __init__(self, variant_tensor: SymbolicTensor, element_spec: Any) -> None:
        super().__init__(element_spec)
        self._symbolic, self._graph = variant_tensor, variant_tensor.graph

    @property
    def _variant_tensor(self) -> Any:
        return self._symbolic

    def _iterate(self) -> Iterator[Element]:
        raise TypeError(
            f"{self!r} is known only when its graph runs: iterate over it inside of the tf.function, with autograph "
            "or `iter`."
        )


# ---- running ---------------------------------------------------------------------------------------------------------


def rewritten(dataset: Any) -> Any:
    """Returns the dataset that runs in place of another, with the same elements. Each is rewritten once."""
    result = dataset.__dict__.get("_rewritten")
    if result is None:
        left_alone = dataset.options().experimental_optimization.apply_default_optimizations is False
        result = dataset if left_alone else _rewrite(dataset)
        dataset.__dict__["_rewritten"] = result
    return result


def _rewrite(dataset: Any) -> Any:
    inputs = [_rewrite(i) for i in dataset._inputs()]
    if any(new is not old for new, old in zip(inputs, dataset._inputs(), strict=True)):
        dataset = dataset._over(inputs)
    return dataset._in_place() if isinstance(dataset, Node) else dataset


def computes_ahead(dataset: Any) -> bool:
    """Returns True if iterators compute elements ahead of the consumer.

    As in TensorFlow, they do unless the last step is asynchronous itself, or options turn it off. Here a step must be
    slow, too.
    """
    options = dataset.options()
    chosen = options.experimental_optimization
    if False in (options.autotune.enabled, chosen.inject_prefetch, chosen.apply_default_optimizations):
        return False
    last = dataset
    while getattr(last, "_passes_options", False) or not isinstance(last, Node):
        last = next(iter(last._inputs()), None)
        if last is None:
            return False
    return not last._is_asynchronous and _has_slow_step(last)


def _has_slow_step(dataset: Any) -> bool:
    return getattr(dataset, "_is_slow", False) or any(map(_has_slow_step, dataset._inputs()))


def has_seeds(dataset: Any) -> bool:
    """Returns True if iterators draw seeds, or call functions that return datasets, which may draw some."""
    if not isinstance(dataset, Node):
        return any(map(has_seeds, dataset._inputs()))
    specs = [s for f in dataset._functions().values() for s in structure.flatten(f.output_spec)]
    specs += structure.flatten(dataset.element_spec)
    drawn = hasattr(dataset, "_seeds") or any(type(s) not in (TensorSpec, NoneTensorSpec) for s in specs)
    return drawn or any(map(has_seeds, dataset._inputs()))


# ---- flat elements ---------------------------------------------------------------------------------------------------


class _Encoded(Node):
    """The elements of a dataset as flat tuples of tensors."""

    _same_size = _passes_elements = _is_view = True

    def __init__(self, source: Dataset) -> None:
        self._specs = structure.flatten(source.element_spec)
        super().__init__(tuple(structure.encoded_specs(source.element_spec)), source)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return map(self._encode, inputs[0])

    def _encode(self, element: Element) -> Element:
        return tuple([t.value for t in structure.encoded(element, self._specs)])


class _Decoded(Node):
    """The elements of a dataset of flat tuples in a structure with ragged or sparse tensors, or datasets."""

    _same_size = _passes_elements = _is_view = True

    def __init__(self, source: Dataset, spec: Any) -> None:
        self._specs = structure.flatten(spec)
        self._dtypes = [s.dtype for s in structure.flatten(source.element_spec)]
        super().__init__(spec, source)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return map(self._decode, inputs[0])

    def _decode(self, element: Element) -> Element:
        return structure.decoded(map(EagerTensor, element, self._dtypes), self._specs)


class _Viewed(Node):
    """The elements of a dataset that is no node, in another structure."""

    _same_size = _passes_elements = _is_view = True

    def __init__(self, source: Dataset, spec: Any) -> None:
        super().__init__(spec, source)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return inputs[0]


def _is_plain(spec: Any) -> bool:
    return all(type(s) is TensorSpec for s in structure.flatten(spec))


def flat(dataset: Any) -> Any:
    """Returns a dataset as operations see it, with elements that are flat tuples of tensors."""
    spec = dataset.element_spec
    if type(spec) is tuple and all(type(s) is TensorSpec for s in spec):
        return dataset
    view = dataset.__dict__.get("_flat")
    if view is None:
        specs = tuple(structure.encoded_specs(spec))
        view = _Encoded(dataset) if not _is_plain(spec) else _with_spec(dataset, specs)
        dataset.__dict__["_flat"] = view
    return view


def structured(dataset: Any, spec: Any) -> Any:
    """Returns a dataset, as operations see it or in a structure, with its elements in that structure."""
    own = dataset.element_spec
    if own == spec:
        return dataset
    if _is_plain(own) and not _is_plain(spec):
        return _Decoded(dataset, spec)
    return _with_spec(dataset, spec)


def _with_spec(dataset: Any, spec: Any) -> Any:
    return dataset._as(spec) if isinstance(dataset, Node) else _Viewed(dataset, spec)


# ---- kernels ---------------------------------------------------------------------------------------------------------


class OpFunction:
    """A function attr of an operation, with the tensors that the operation passes to it besides the elements.

    Args:
        attr: the attr's value, which has a `body`.
        others: the tensors.
    """

    def __init__(self, attr: Any, others: Sequence[Any]) -> None:
        self._attr = attr
        self._others = [*others] if others else list(attr.captured_inputs)

    @property
    def argument_specs(self) -> list[TensorSpec]:
        """The specs of the arguments."""
        inputs = self._attr.body.inputs
        return [TensorSpec(t.shape, t.dtype) for t in inputs[: len(inputs) - len(self._others)]]

    @property
    def result_specs(self) -> tuple[TensorSpec, ...]:
        """The specs of the results."""
        return tuple([TensorSpec(t.shape, t.dtype) for t in self._attr.body.outputs])

    def typed(self, spec: Any, output_spec: Any = None) -> MappedFunction:
        """Returns the function of elements.

        Args:
            spec: the spec of the elements.
            output_spec: the spec of the results; by default a tuple of tensors.
        """
        cached: MappedFunction | None = getattr(self._attr, "_function", None)
        if cached is None or cached._spec != spec or (output_spec is not None and cached.output_spec != output_spec):
            results = self.result_specs if output_spec is None else output_spec
            cached = MappedFunction.of_body(self._attr.body, spec, results, len(self._others))
            self._attr._function = cached
        return cached.with_captures(self._others) if self._others else cached


class _FunctionAttr:
    """The value of an operation's function attr.

    Attributes:
        body: the function's body, all of whose inputs the operation passes.
        captured_inputs: none.
    """

    captured_inputs: Sequence[Any] = ()

    def __init__(self, body: Body) -> None:
        self.body = body

    def __repr__(self) -> str:
        return f"<function {self.body.name!r}>"


def _plain(value: Any) -> Any:
    """Returns a raw value of numbers or strings as a Python value; strings as bytes."""
    return value.tolist()


def _eager(value: Any) -> Any:
    """Converts a raw value to a tensor; returns a variable unchanged."""
    if hasattr(value, "_read"):
        return value
    if isinstance(value, np.ndarray):
        return EagerTensor(value, string if not value.size or isinstance(value.flat[0], bytes) else variant)
    return EagerTensor(value, FROM_TORCH[value.dtype])


def _dataset(value: Any) -> Any:
    content = value[()]
    return flat(content) if isinstance(content, Dataset) else content


def _reader(definition: Any) -> Callable[[Any], Any]:
    """Returns the function from a kernel's argument for an input to the argument of `_of_op`."""
    if definition.is_list:
        read: Callable[[Any], Any] = _dataset if definition.type is variant else (
            _eager if definition.type is None else _plain)  # fmt: skip
        return lambda values: [read(v) for v in values]
    if definition.type in (variant, resource):
        return _dataset
    return _eager if definition.type is None else _plain


_OTHERS = ("other_arguments", "other_args")  # the ends of names of inputs that go to a function


def _others_of(function: str, names: Sequence[str]) -> str | None:
    """Returns the name of the input whose tensors go to a function attr."""
    own = [f"{function}_{end}" for end in _OTHERS]
    return next((n for n in (*own, *_OTHERS) if n in names), None)


def declared_shapes(*_: Any) -> Any:
    """Stands for the shape rule of an op whose attr `output_shapes` has the shapes of its outputs."""
    raise AssertionError


def op_kernel(*names: str, shape: Any = scalar) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the kernel of ops on datasets and iterators.

    It takes the inputs and attrs that it names: datasets and iterators in the places of variants and resources, an
    `OpFunction` for a function, a Python value for other inputs with a dtype of their own. `spec` is the spec that
    `output_types` and `output_shapes` declare. It returns a dataset or raw values.
    """

    def decorate(kernel: Callable[..., Any]) -> Callable[..., Any]:
        function: Any = getattr(kernel, "__func__", kernel)
        code = function.__code__
        accepted = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        for name in names:
            _define(name, kernel, accepted, shape)
        return kernel

    return decorate


def _define(name: str, kernel: Callable[..., Any], accepted: set[str], shape: Any) -> None:
    definition, parameters = op_def.get(name), raw_kernels.parameters(name)
    inputs = {a.name: a for a in definition.inputs}
    place = {p: i for i, p in enumerate(parameters)}
    readers = [(p, place[p], _reader(inputs[p])) for p in parameters if p in inputs and p in accepted]
    functions, attrs = [], []
    for p in parameters:
        if p in inputs or p not in accepted:
            continue
        if definition.attrs[p].type == "func":
            others = _others_of(p, parameters)
            functions.append((p, place[p], None if others is None else place[others]))
        else:
            attrs.append((p, place[p]))
    spec = None
    if "spec" in accepted:
        spec = place["output_types"], place["output_shapes"]

    def run(*values: Any) -> Any:
        with executing_eagerly():
            arguments = {p: read(values[i]) for p, i, read in readers}
            for p, i in attrs:
                arguments[p] = values[i]
            for p, i, j in functions:
                arguments[p] = OpFunction(values[i], () if j is None else list(map(_eager, values[j])))
            if spec is not None:
                arguments["spec"] = tuple(map(TensorSpec, values[spec[1]], values[spec[0]]))
            result = kernel(**arguments)
            return boxed(flat(result)) if isinstance(result, Dataset) else result

    if shape is declared_shapes:
        raw_kernels.define(name, run, lambda *arguments: list(arguments[place["output_shapes"]]))
    else:
        raw_kernels.define(name, run, shape)


def dataset_op(*names: str) -> Callable[[Class], Class]:
    """Declares the ops of TensorFlow that create nodes of a class; in graphs, its nodes are operations of the first."""

    def declare(cls: Class) -> Class:
        cls._op = names[0]
        code: Any = cls._of_op.__func__.__code__
        if code is Node._of_op.__func__.__code__:
            code = cls.__init__.__code__
        accepted = set(code.co_varnames[1 : code.co_argcount])
        for name in names:
            _define(name, cls._of_op, accepted, scalar)
        return cls

    return declare


# ---- operations ------------------------------------------------------------------------------------------------------


class UnknownInteger(int):
    """A stand-in for a number that has no value before a graph runs.

    Attributes:
        tensor: the number, as a symbolic tensor.
    """

    tensor: SymbolicTensor


def integer(value: Any) -> int:
    """Returns the number that an argument stands for.

    Raises:
        TypeError: it is no integer.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, SymbolicTensor):
        static = value_of(value)
        if static is None:
            number = UnknownInteger(1)
            number.tensor = value
            return number
        value = EagerTensor(static, value.dtype)
    return operator.index(host_value(convert(value, None if hasattr(value, "dtype") else int64)))


def text(value: Any) -> Any:
    """Returns the text of a string argument, or the tensor if its value is not static."""
    if isinstance(value, SymbolicTensor):
        static = value_of(value)
        return value if static is None else static.item().decode()
    tensor = convert(value, string)
    return tensor.value.item().decode()


def tensor_of(value: Any, dtype: Any) -> Any:
    """Returns the tensor of a field of a node, for an input of its operation."""
    if isinstance(value, UnknownInteger):
        value = value.tensor
    if isinstance(value, Tensor):
        return value if dtype is None or value.dtype is dtype else ops.Cast(value, dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, (UnknownInteger, Tensor)) for v in value):
        return ops.Pack([tensor_of(v, dtype) for v in value])
    return convert(value, dtype)


class Fields:
    """The inputs and attrs of a node's operation, by name."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._datasets = iter(node._operands())

    def __call__(self, name: str, definition: Any) -> Any:
        node = self._node
        if definition is not None and definition.type is variant:
            if definition.is_list:
                return [ds._variant_tensor for ds in self._datasets]
            return next(self._datasets)._variant_tensor
        if name in ("output_types", "Toutput_types"):
            return [s.dtype for s in structure.encoded_specs(node.element_spec)]
        if name == "output_shapes":
            return [s.shape for s in structure.encoded_specs(node.element_spec)]
        return getattr(node, node._renamed.get(name, f"_{name}"), op_def.NO_DEFAULT)


def add_operation(op: str, field: Callable[[str, Any], Any]) -> Any:
    """Adds an operation to the graph that is being built; returns its outputs.

    Args:
        op: the op's name.
        field: returns the value of an input or attr, from its name and the definition of an input.
    """
    graph: Any = state.graph
    definition, parameters = op_def.get(op), raw_kernels.parameters(op)
    inputs = {a.name: a for a in definition.inputs}
    functions = {p: field(p, None) for p in parameters if p not in inputs and definition.attrs[p].type == "func"}
    others = {_others_of(p, parameters): f for p, f in functions.items()}
    arguments: list[Any] = []
    for p in parameters:
        if p in functions:
            arguments.append(_FunctionAttr(encoded_body(functions[p])))
        elif p in others:
            arguments.append(list(map(graph.capture, others[p]._captured)))
        elif p in inputs:
            value = field(p, inputs[p])
            arguments.append([tensor_of(v, inputs[p].type) for v in value] if inputs[p].is_list
                             else tensor_of(value, inputs[p].type))  # fmt: skip
        else:
            value = field(p, None)
            arguments.append(definition.attrs[p].default if value is op_def.NO_DEFAULT else value)
    return find(op).run(tuple(arguments))


def encoded_body(function: MappedFunction) -> Body:
    """Returns a function's body as operations call it, with variants for ragged and sparse tensors."""
    specs, results = structure.flatten(function._spec), structure.flatten(function.output_spec)
    if not any(map(structure.is_encoded, (*specs, *results))):
        return function._body
    body = function._body
    graph = FuncGraph(body.name)
    with graph.as_default():
        arguments = [graph.input(s, "args") for s in structure.encoded_specs(function._spec)]
        element = structure.decoded_values(iter(arguments), specs)
        count = len(body.inputs) - len(function._captured)
        captured = [graph.input_like(t) for t in body.inputs[count:]]
        values = iter(body.call([*structure.tensors_of(element, specs), *captured]))
        outputs = structure.encoded([s.from_tensors(values) for s in results], results)
        graph.outputs = [graph.as_output(t, body.name) for t in outputs]
    graph.structured_outputs = list(graph.outputs)
    return Body(graph)


def _python_operation(node: Node) -> SymbolicTensor:
    """Adds an operation that creates a node in Python, which no file can hold; returns its output."""
    inputs = node._inputs()
    captured = [(name, f._captured) for name, f in node._functions().items()]
    values = [t for _, tensors in captured for t in tensors]

    def build(*tensors: Any) -> list[Any]:
        datasets, rest = tensors[: len(inputs)], list(tensors[len(inputs) :])
        own = [structured(t.value[()], ds.element_spec) for t, ds in zip(datasets, inputs, strict=True)]
        built = node._over(own)
        built._graph = built._symbolic = None
        for name, of_function in captured:
            built.__dict__[name] = built.__dict__[name].with_captures(rest[: len(of_function)])
            del rest[: len(of_function)]
        return [held(built, variant)]

    tensors = [ds._variant_tensor for ds in inputs]
    return add_python_operation(type(node).__name__, build, [*tensors, *values])


def add_python_operation(name: str, build: Callable[..., list[Any]], inputs: Sequence[Any]) -> Any:
    """Adds an operation that calls Python, and has the name as its token; returns its only output, a variant."""
    attrs = {"Tin": [getattr(t, "dtype", resource) for t in inputs], "Tout": [variant], "token": name}
    return python_op("PyFunc", build, inputs, [(variant, ())], attrs=attrs).outputs[0]


register(VariantDataset, structured)
