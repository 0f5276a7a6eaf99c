"""The nodes of pipelines, and their ops in TensorFlow.

A pipeline is a tree of nodes that never changes. `tf.data.Dataset` holds its last node. A node has the spec of its
elements, their number (`cardinality`), its inputs, and `iterate`, which returns a new iterator. Several iterators may
run at once. A source whose elements are rows of arrays also has `rows`.

A class of nodes declares its op with `dataset_op`. The class is the op's kernel: the inputs and attrs of the op are the
fields of the class. In a graph, a node is an operation of that op.

Operations see flat elements: tuples of tensors, with variants for ragged and sparse components. `flat` and
`structure_node` convert a node between this form and a user's structure.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import numpy as np
import torch

from tapeflow.array.concat_and_split import pack_op
from tapeflow.core.context import state
from tapeflow.core.errors import OutOfRangeError, UnimplementedError
from tapeflow.core.ops import op_def, raw_kernels
from tapeflow.core.ops.convert import convert, datatype_name, host_value
from tapeflow.core.ops.definition import find
from tapeflow.core.ops.shape_rules import scalar
from tapeflow.core.ops.shape_rules import text as shape_text
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.dtypes import FROM_TORCH, bool_, int64, resource, string, variant
from tapeflow.core.types.spec import NoneTensorSpec, TensorSpec
from tapeflow.core.values.boxed_objects import box_object, hold_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, OpFunction, nested_graphs
from tapeflow.data.options import Options
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.python_op import executing_eagerly, python_op
from tapeflow.graph.transform.body import Body
from tapeflow.math.casting import cast_op

if TYPE_CHECKING:
    from tapeflow.core.ops.op_def import ArgDef

INFINITE = -1
UNKNOWN = -2
Class = TypeVar("Class", bound="type[Node]")
_NO_OPTIONS = Options()  # of every pipeline that sets none


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Elements that are rows of arrays, so many can be gathered at once.

    Attributes:
        count: the number of rows.
        take: returns the rows with some numbers as one batch.
        between: returns the rows from `start` to `stop` as one batch.
    """

    count: int
    take: Callable[[torch.Tensor], Element]
    between: Callable[[int, int], Element]

    def at(self, number: int) -> Element:
        """Returns one row."""
        return tuple([elements.slice_row(v, 0) for v in self.between(number, number + 1)])

    def mapped(self, function: MappedFunction) -> Rows:
        """Returns the results of a function that has `of_batches`, as rows."""
        return Rows(
            self.count,
            lambda numbers: function.many(self.take(numbers)),
            lambda start, stop: function.many(self.between(start, stop)),
        )


def pieces(count: int) -> Iterator[tuple[int, int]]:
    """Yields the bounds of runs of rows to unbind together. The first runs are short, for a fast start."""
    start, size = 0, 8
    while start < count:
        stop = min(start + size, count)
        yield start, stop
        start, size = stop, min(2 * size, 256)


def slices_of(value: Any, count: int) -> Iterator[Any]:
    """Returns an iterator over the slices of a batched component; `count` is their number."""
    if isinstance(value, torch.Tensor):
        return (row for start, stop in pieces(count) for row in value[start:stop].unbind(0))
    if isinstance(value, StringArray) and value.ndim == 1:
        return (StringArray.scalar(text) for start, stop in pieces(count) for text in value[start:stop].flat)
    return (elements.slice_row(value, i) for i in range(count))


@dataclass_transform(eq_default=False)
class Node:
    """A step of a pipeline: a source, or a transformation of other nodes.

    The annotated attributes of a subclass are its fields, and the arguments of its constructor. Attributes with the
    annotation `Node` or `Sequence[Node]` are the inputs, in the order of the op's inputs.

    Attributes:
        spec: the spec of the elements.
        inputs: the nodes that it takes elements from.
        graph: the graph that the node is an operation of; None for a pipeline outside of graphs.
    """

    spec: Any
    inputs: Sequence[Node]
    graph: Any
    symbolic: Any

    fields: tuple[str, ...] = ()
    input_fields: tuple[str, ...] = ()
    name: str = ""  # of TensorFlow's class, which a dataset prints
    op = ""  # the op in TensorFlow; "" for a node that calls Python
    renamed: Mapping[str, str] = MappingProxyType({})  # the fields of inputs and attrs with other names
    same_size = False  # whether there is an element for each element of the input
    passes_elements = False  # whether the elements are elements of the inputs
    chooses = False  # whether it chooses among the elements of its input, and looks at none of them
    names_errors = False  # whether errors of its function say so
    is_asynchronous = False  # whether threads compute the elements ahead
    is_map = False  # whether it is the results of a function
    is_slow = False  # whether computing an element may be worth a thread: it reads files, calls Python or has threads
    draws_seeds = False  # whether each iterator may begin with seeds of its own
    passes_options = False  # whether it only sets how other nodes run
    is_view = False  # whether operations see the elements of the input in the same way
    names_files = False  # whether the input's elements are names of files that it reads
    shards_inside = False  # whether a shard of the elements may be computed from a shard of the input's

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", f"_{cls.__name__}Dataset")
        own = inspect.get_annotations(cls)
        cls.fields = (*cls.fields, *[n for n in own if n not in cls.fields])
        cls.input_fields = (*cls.input_fields, *[n for n, a in own.items() if a in ("Node", "Sequence[Node]")])

    def __init__(self, *values: Any, **named: Any) -> None:
        self.__dict__.update(zip(self.fields, values, strict=False), **named)
        self.graph, self.symbolic = state.graph, None
        self.spec = self.element_spec()
        inputs: list[Node] = []
        for name in self.input_fields:
            value = getattr(self, name)
            inputs.extend([value] if isinstance(value, Node) else value)
        self.inputs = inputs

    def element_spec(self) -> Any:
        """Checks the fields of a new node, and returns the spec of its elements."""
        return self.spec

    # ---- elements ----------------------------------------------------------------------------------------------------

    def cardinality(self) -> int:
        """Returns the number of elements; `INFINITE`, or `UNKNOWN`."""
        return self.inputs[0].cardinality() if self.same_size else UNKNOWN

    def iterate(self) -> Iterator[Element]:
        """Returns an iterator over the elements. Iterators over the inputs begin now, not with the first element."""
        return self.generate(*[node.iterate() for node in self.inputs])

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        """Returns an iterator over the elements, from iterators over the inputs. It goes on after an error."""
        raise NotImplementedError

    def rows(self) -> Rows | None:
        """Returns the elements as rows; None if they are not rows of arrays."""
        return None

    def function_of_rows(self) -> MappedFunction | None:
        """Returns the function from the input's elements to this node's if one call can compute many; else None."""
        return None

    def batches(self, size: int, drop_remainder: bool) -> Iterator[Element] | None:
        """Returns an iterator over batches of the elements if these need not be stacked one by one; else None.

        Args:
            size: the number of elements in a batch.
            drop_remainder: whether a last, smaller batch is dropped.
        """
        return None

    def reads_files(self) -> bool:
        """Returns True if the input's elements are names of files that it reads, or that its function does."""
        return self.names_files

    def size_of_batches(self) -> int:
        """Returns the number of elements in each batch; -1 if it differs or is not known."""
        sizes = {node.size_of_batches() for node in self.inputs} if self.passes_elements else set()
        return sizes.pop() if len(sizes) == 1 else -1

    def element_at(self, number: int) -> Element:
        """Returns the element with a number.

        Raises:
            OutOfRangeError: there is no such element.
            UnimplementedError: the cardinality is unknown.
        """
        size = self.cardinality()
        if size == UNKNOWN:
            raise UnimplementedError.of(
                f"Random access is not implemented for dataset {self.name.lstrip('_')} [Op:GetElementAtIndex] name: "
            )
        if number < 0 or 0 <= size <= number:
            raise OutOfRangeError.of(f"Index out of range [0, {size}):{number} [Op:GetElementAtIndex] name: ")
        rows = self.rows()
        return next(itertools.islice(self.rewritten().iterate(), number, None)) if rows is None else rows.at(number)

    def only_element(self) -> Element:
        """Returns the only element.

        Raises:
            InvalidArgumentError: there is none, or more than one.
        """
        first = list(itertools.islice(self.rewritten().iterate(), 2))
        if len(first) != 1:
            problem = "had more than one element" if first else "was empty"
            raise invalid(f"Dataset {problem}. [Op:DatasetToSingleElement] name: ")
        elements.check_shapes(first[0], self.spec)
        return first[0]

    # ---- running -----------------------------------------------------------------------------------------------------

    def options(self) -> Options:
        """Returns the options of the pipeline. Other pipelines share them."""
        merged = _NO_OPTIONS
        for node in self.inputs:
            options = node.options()
            merged = options if merged is _NO_OPTIONS else merged.merge(options)
        return merged

    def in_place(self) -> Node:
        """Returns the node that runs in place of this one, with the same elements. The inputs are rewritten already."""
        return self

    def rewritten(self) -> Node:
        """Returns the node that runs in place of this one, with the same elements. Each is rewritten once."""
        result: Node | None = self.__dict__.get("_rewritten")
        if result is None:
            result = self.__dict__["_rewritten"] = self if self._is_kept() else self._rewrite()
        return result

    def outermost(self) -> Node:
        """Returns the node that runs in place of this one where the program itself uses the elements."""
        result = self.rewritten()
        return result if self._is_kept() else result._with_places({})

    def _with_places(self, places: dict[int, int]) -> Node:
        """Returns this node with functions that draw random numbers independently of each other.

        Args:
            places: the last place so far of each graph that draws.
        """
        node = self.over_if_new([node._with_places(places) for node in self.inputs])
        moved = {}
        for name, function in self.functions().items():
            if not function.draws:
                continue
            graphs = list(map(id, nested_graphs(function._body.graph)))
            place = 1 + max(places.get(graph, 0) for graph in graphs)
            places.update(dict.fromkeys(graphs, place))
            moved[name] = function.at_place(place)
        if moved:
            node = node._copy(_CACHES)
            node.__dict__.update(moved)
        return node

    def _is_kept(self) -> bool:
        """Returns True if options say that it runs itself."""
        return self.options().experimental_optimization.apply_default_optimizations is False

    def _rewrite(self) -> Node:
        return self.over_if_new([node._rewrite() for node in self.inputs]).in_place()

    def computes_ahead(self) -> bool:
        """Returns True if iterators compute elements ahead of the consumer.

        As in TensorFlow, they do unless the last step is asynchronous itself, or options turn it off. Here a step must
        be slow, too.
        """
        if not self.has_slow_step():
            return False
        options = self.options()
        chosen = options.experimental_optimization
        if False in (options.autotune.enabled, chosen.inject_prefetch, chosen.apply_default_optimizations):
            return False
        last = self
        while last.passes_options:
            last = last.inputs[0]
        return not last.is_asynchronous

    def has_slow_step(self) -> bool:
        """Returns True if a step may be worth a thread."""
        return self.is_slow or any(node.has_slow_step() for node in self.inputs)

    def draws(self) -> bool:
        """Returns True if iterators draw seeds or random numbers, or call functions that return datasets, which may."""
        functions = self.functions().values()
        if self.draws_seeds or any(f.draws for f in functions):
            return True
        specs = [s for f in functions for s in elements.flatten(f.output_spec)] + elements.flatten(self.spec)
        return any(type(s) not in (TensorSpec, NoneTensorSpec) for s in specs) or any(n.draws() for n in self.inputs)

    def declares_shapes(self) -> bool:
        """Returns True if `set_shape` declared shapes in functions, which nobody has checked."""
        functions = self.functions().values()
        return any(f.declares_shapes for f in functions) or any(n.declares_shapes() for n in self.inputs)

    # ---- other nodes -------------------------------------------------------------------------------------------------

    def over(self, inputs: Sequence[Node]) -> Any:
        """Returns this node with other inputs."""
        node = self._copy(_CACHES)
        rest = iter(inputs)
        for name in self.input_fields:
            value = getattr(self, name)
            setattr(node, name, next(rest) if isinstance(value, Node) else [next(rest) for _ in value])
        node.inputs = inputs
        return node

    def over_if_new(self, inputs: Sequence[Node]) -> Any:
        """Returns this node with other inputs; itself if they are the same."""
        return self if all(new is old for new, old in zip(inputs, self.inputs, strict=True)) else self.over(inputs)

    def with_spec(self, spec: Any) -> Any:
        """Returns this node with the same elements in another structure."""
        node = self._copy(_CACHES[1:])
        node.spec = spec
        return node

    def _copy(self, caches: Sequence[str]) -> Any:
        node = copy.copy(self)
        for name in caches:
            node.__dict__.pop(name, None)
        return node

    # ---- graphs ------------------------------------------------------------------------------------------------------

    # Returns the node of an operation, from the op's inputs and attrs with the names of the parameters. A class whose
    # fields are others overrides it.
    of_op: Any = classmethod(lambda cls, **arguments: cls(**arguments))

    @property
    def variant(self) -> Tensor:
        """The tensor that stands for the node: a variant that holds it, or the output of its operation."""
        if self.graph is None:
            return hold_object(self, variant)
        if self.symbolic is None:
            with self.graph.as_default():
                self.symbolic = self.operation()
        return self.symbolic

    @classmethod
    def is_op(cls) -> bool:
        """Returns True if TensorFlow has operations that create such a node."""
        return bool(cls.op) or cls.operation is not Node.operation

    def operation(self) -> Any:
        """Adds the operation of this node to the graph that is being built; returns its output."""
        return add_operation(self.op, Fields(self)) if self.op else _python_operation(self)

    def operands(self) -> Sequence[Node]:
        """Returns the nodes that the operation takes."""
        return self.inputs

    def functions(self) -> dict[str, MappedFunction]:
        """Returns the user's functions that this node calls, by their fields."""
        return {name: f for name, f in self.__dict__.items() if isinstance(f, MappedFunction)}


_CACHES = ("_rewritten", "_flat", "_plan")


class Unary(Node):
    """A node that transforms the elements of one other."""

    input_dataset: Node

    def element_spec(self) -> Any:
        return self.input_dataset.spec


class Variant(Node):
    """A dataset that a graph takes or creates, which exists only when the graph runs.

    Args:
        symbolic: the symbolic tensor that stands for it.
        spec: the spec of its elements.
    """

    def __init__(self, symbolic: SymbolicTensor, spec: Any) -> None:
        super().__init__(spec=spec)
        self.symbolic, self.graph = symbolic, symbolic.graph

    def iterate(self) -> Iterator[Element]:
        raise TypeError(
            f"<{self.name} element_spec={self.spec}> is known only when its graph runs: iterate over it inside of the "
            "tf.function, with autograph or `iter`."
        )


# ---- flat elements ---------------------------------------------------------------------------------------------------


class _View(Unary):
    """The elements of another node in another form."""

    same_size = passes_elements = is_view = True


class _Encoded(_View):
    """The elements as flat tuples of tensors."""

    def element_spec(self) -> Any:
        self._specs = elements.flatten(self.input_dataset.spec)
        return tuple(elements.encoded_specs(self.input_dataset.spec))

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return map(self._encode, inputs[0])

    def _encode(self, element: Element) -> Element:
        return tuple([t.value for t in elements.encode_values(element, self._specs)])


class _Decoded(_View):
    """The elements of a node of flat tuples in a structure with ragged or sparse tensors, or datasets."""

    spec: Any

    def element_spec(self) -> Any:
        self._specs = elements.flatten(self.spec)
        self._dtypes = [s.dtype for s in elements.flatten(self.input_dataset.spec)]
        return self.spec

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return map(self._decode, inputs[0])

    def _decode(self, element: Element) -> Element:
        return elements.decode_element(map(EagerTensor, element, self._dtypes), self._specs)


def _is_plain(spec: Any) -> bool:
    return all(type(s) is TensorSpec for s in elements.flatten(spec))


def flat(node: Node) -> Node:
    """Returns a node as operations see it, with elements that are flat tuples of tensors."""
    spec = node.spec
    if type(spec) is tuple and all(type(s) is TensorSpec for s in spec):
        return node
    view: Node | None = node.__dict__.get("_flat")
    if view is None:
        specs = tuple(elements.encoded_specs(spec))
        view = node.__dict__["_flat"] = node.with_spec(specs) if _is_plain(spec) else _Encoded(node)
    return view


def structure_node(node: Node, spec: Any) -> Node:
    """Returns a node, as operations see it or in a structure, with its elements in that structure."""
    if node.spec == spec:
        return node
    check_declared(node.spec, spec, "MakeIterator")
    return _Decoded(node, spec) if _is_plain(node.spec) and not _is_plain(spec) else node.with_spec(spec)


def check_declared(found: Any, declared: Any, op: str) -> None:
    """Refuses elements that are others than declared.

    Args:
        found, declared: specs of elements.
        op: the op that takes them, for messages.

    Raises:
        InvalidArgumentError: the number of their tensors, a dtype or a shape differs.
    """
    mine, others = elements.encoded_specs(declared), elements.encoded_specs(found)
    if len(mine) != len(others):
        wrong = f"Number of components does not match: expected {len(mine)} types but got {len(others)}."
        raise invalid(f"{wrong} [Op:{op}] name: ")
    for i, (a, b) in enumerate(zip(mine, others, strict=True)):
        if (a.dtype, b.dtype) == (variant, string):  # serialized sparse tensors
            continue
        if a.dtype is not b.dtype:
            kinds = f"expected {datatype_name(a.dtype)} but got {datatype_name(b.dtype)}"
            raise invalid(f"Data type mismatch at component {i}: {kinds}. [Op:{op}] name: ")
        if not a.shape.is_compatible_with(b.shape):
            shapes = f"expected {shape_text(a.shape)} but got {shape_text(b.shape)}"
            raise invalid(f"Incompatible shapes at component {i}: {shapes}. [Op:{op}] name: ")


# ---- kernels ---------------------------------------------------------------------------------------------------------


class _FunctionAttr:
    """The value of an operation's function attr.

    Attributes:
        body: the function's body. The operation passes all of its inputs.
        captured_inputs: none.
    """

    captured_inputs: Sequence[Any] = ()

    def __init__(self, body: Body) -> None:
        self.body = body

    def __repr__(self) -> str:
        return f"<function {self.body.name!r}>"


def _eager_value(value: Any) -> Any:
    """Converts a raw value to a tensor; returns a variable unchanged."""
    if hasattr(value, "_read"):
        return value
    if isinstance(value, (StringArray, np.ndarray)):
        return EagerTensor(value, string if isinstance(value, StringArray) else variant)
    return EagerTensor(value, FROM_TORCH[value.dtype])


def _dataset_argument(value: Any) -> Any:
    content = value[()]
    return flat(content) if isinstance(content, Node) else content


def _input_reader(definition: ArgDef) -> Callable[[Any], Any]:
    """Returns the function from a kernel's argument for an input to the argument of `of_op`."""
    read: Callable[[Any], Any] = operator.methodcaller("tolist")  # of numbers or strings
    if definition.type is None:
        read = _eager_value
    elif definition.type in (variant, resource):
        read = _dataset_argument
    return (lambda values: [read(v) for v in values]) if definition.is_list else read


_OTHERS = ("other_arguments", "other_args")  # the ends of names of inputs that go to a function


def _others_of(function: str, names: Sequence[str]) -> str | None:
    """Returns the name of the input whose tensors go to a function attr."""
    own = [f"{function}_{end}" for end in _OTHERS]
    return next((n for n in (*own, *_OTHERS) if n in names), None)


def declared_shapes(*_: Any) -> Any:
    """Stands for the shape rule of an op whose attr `output_shapes` has the shapes of its outputs."""
    raise AssertionError


def op_kernel(*names: str, shape: Callable[..., Any] = scalar) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the kernel of ops on datasets and iterators.

    It takes the inputs and attrs that it names: datasets and iterators in the places of variants and resources, an
    `OpFunction` for a function, a Python value for other inputs with a dtype of their own. `spec` is the spec that
    `output_types` and `output_shapes` declare. It returns a dataset or raw values.
    """

    def decorate(kernel: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            _define_op(name, kernel, _kernel_parameters(kernel), shape)
        return kernel

    return decorate


def _kernel_parameters(function: Callable[..., Any]) -> set[str]:
    code = getattr(function, "__func__", function).__code__
    return set(code.co_varnames[: code.co_argcount])


def _define_op(name: str, kernel: Callable[..., Any], accepted: set[str], shape: Callable[..., Any]) -> None:
    takes_spec = "spec" in accepted
    definition, parameters = op_def.get(name), raw_kernels.parameters(name)
    inputs = {a.name: a for a in definition.inputs}
    place = {p: i for i, p in enumerate(parameters)}
    readers = [(p, place[p], _input_reader(inputs[p])) for p in parameters if p in inputs and p in accepted]
    functions, attrs = [], []
    for p in parameters:
        if p in inputs or p not in accepted:
            continue
        if definition.attrs[p].type == "func":
            others = _others_of(p, parameters)
            functions.append((p, place[p], None if others is None else place[others]))
        else:
            attrs.append((p, place[p]))
    declares = "output_types" in place and "output_shapes" in place

    def run(*values: Any) -> Any:
        with executing_eagerly():
            arguments = {p: read(values[i]) for p, i, read in readers}
            for p, i in attrs:
                arguments[p] = values[i]
            spec: Any = None
            if declares and (functions or takes_spec):
                spec = tuple(map(TensorSpec, values[place["output_shapes"]], values[place["output_types"]]))
            for p, i, j in functions:
                arguments[p] = OpFunction(values[i], () if j is None else list(map(_eager_value, values[j])), spec)
            if takes_spec:
                arguments["spec"] = spec
            result = kernel(**arguments)
            node = result if isinstance(result, Node) else getattr(result, "_node", None)
            return result if node is None else box_object(flat(node))

    if shape is declared_shapes:
        raw_kernels.define(name, run, lambda *arguments: list(arguments[place["output_shapes"]]))
    else:
        raw_kernels.define(name, run, shape)


CLASSES: dict[str, type[Node]] = {}  # the classes of nodes, by their ops


def dataset_op(*names: str) -> Callable[[Class], Class]:
    """Declares the ops of TensorFlow that create nodes of a class; in graphs, its nodes are operations of the first."""

    def declare(cls: Class) -> Class:
        cls.op = names[0]
        accepted = set(cls.fields) if cls.of_op.__func__ is Node.of_op.__func__ else _kernel_parameters(cls.of_op)
        for name in names:
            CLASSES[name] = cls
            _define_op(name, cls.of_op, accepted, scalar)
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


def truth(value: Any) -> Any:
    """Returns a boolean argument: a bool, or a tensor that has no value before a graph runs."""
    tensor = convert(value, bool_)
    static = value_of(tensor) if isinstance(tensor, SymbolicTensor) else tensor.value
    return tensor if static is None else bool(static)


def text(value: Any) -> Any:
    """Returns the text of a string argument, or the tensor if its value is not static."""
    if isinstance(value, SymbolicTensor):
        static = value_of(value)
        return value if static is None else static.item().decode()
    return convert(value, string).value.item().decode()


def tensor_of(value: Any, dtype: Any) -> Any:
    """Returns the tensor of a field of a node, for an input of its operation."""
    if isinstance(value, UnknownInteger):
        value = value.tensor
    if isinstance(value, Tensor):
        return value if dtype is None or value.dtype is dtype else cast_op(value, dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, (UnknownInteger, Tensor)) for v in value):
        return pack_op([tensor_of(v, dtype) for v in value])
    return convert(value, dtype)


class Fields:
    """The inputs and attrs of a node's operation, by name."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._operands = iter(node.operands())

    def __call__(self, name: str, definition: Any) -> Any:
        node = self._node
        if definition is not None and definition.type is variant:
            if definition.is_list:
                return [operand.variant for operand in self._operands]
            return next(self._operands).variant
        if name in ("output_types", "Toutput_types"):
            return [s.dtype for s in elements.encoded_specs(node.spec)]
        if name == "output_shapes":
            return [s.shape for s in elements.encoded_specs(node.spec)]
        return getattr(node, node.renamed.get(name, name), op_def.NO_DEFAULT)


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
    specs, results = elements.flatten(function._spec), elements.flatten(function.output_spec)
    if not any(map(elements.is_encoded, (*specs, *results))):
        return function._body
    body = function._body
    graph = FuncGraph(body.name)
    with graph.as_default():
        arguments = [graph.input(s, "args") for s in elements.encoded_specs(function._spec)]
        element = elements.decoded_values(iter(arguments), specs)
        count = len(body.inputs) - len(function._captured)
        captured = [graph.input_like(t) for t in body.inputs[count:]]
        values = iter(body.call([*elements.tensors_of(element, specs), *captured]))
        outputs = elements.encode_values([s.from_tensors(values) for s in results], results)
        graph.outputs = [graph.as_output(t, body.name) for t in outputs]
    graph.structured_outputs = list(graph.outputs)
    return Body(graph)


def _python_operation(node: Node) -> SymbolicTensor:
    """Adds an operation that creates a node in Python, which no file can hold; returns its output."""
    inputs = node.inputs
    captured = [(name, f._captured) for name, f in node.functions().items()]
    values = [t for _, tensors in captured for t in tensors]

    def build(*tensors: Any) -> list[Any]:
        nodes, rest = tensors[: len(inputs)], list(tensors[len(inputs) :])
        built = node.over([structure_node(t.value[()], i.spec) for t, i in zip(nodes, inputs, strict=True)])
        built.graph = built.symbolic = None
        for name, of_function in captured:
            built.__dict__[name] = built.__dict__[name].with_captures(rest[: len(of_function)])
            del rest[: len(of_function)]
        return [hold_object(built, variant)]

    return add_python_operation(node.name, build, [*[i.variant for i in inputs], *values])


def add_python_operation(name: str, build: Callable[..., list[Any]], inputs: Sequence[Any]) -> Any:
    """Adds an operation that calls Python, and has the name as its token; returns its only output, a variant."""
    attrs = {"Tin": [getattr(t, "dtype", resource) for t in inputs], "Tout": [variant], "token": name}
    return python_op("PyFunc", build, inputs, [(variant, ())], attrs=attrs).outputs[0]
