"""Conversion of a call's arguments to the types in an op's definition in TensorFlow's registry.

The careful path of a call, and tracing, go through it. Who looks first decides the class of an error, as in TensorFlow:
attrs before inputs, then the dtypes of inputs, then the values of attrs.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.attr_values import attr_value, items_of
from tapeflow.core.ops.convert import convert, datatype_name, from_numpy_type, host_value, operand, wrap_integer
from tapeflow.core.ops.definition import Op, ops
from tapeflow.core.ops.memory import check_outputs
from tapeflow.core.ops.op_def import ArgDef, AttrDef, OpDef, snake_case
from tapeflow.core.ops.sequences import MIXED, array_of, fits, letter, unconvertible, unfit, unsupported_value
from tapeflow.core.types.dtypes import DType, as_dtype, int32, string, uint64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import TensorLike

_MOST_SETTLED = 256  # calls of an op whose types and attrs are remembered


class Settled(NamedTuple):
    """The types and attrs of calls of an op whose arguments are alike, see `DefinedOp.likeness`.

    Attributes:
        types: the op's type attrs.
        attrs: the values of the parameters that stand for attrs.
        dtypes: the dtypes of the outputs.
    """

    types: dict[str, Any]
    attrs: Sequence[Any]
    dtypes: Sequence[DType]


class DefinedOp(Op):
    """An op with a definition in TensorFlow's registry.

    Attributes:
        opdef: the definition.
        params: the names of the function's parameters.
        kinds: for each "tensor", "list" (of tensors), "host" (a tensor that the kernel gets as Python numbers) or
            "attr".
        attr_names: the attrs that parameters stand for.
        uniform: all its tensors are of one dtype.
        settled: the dtypes settled by earlier calls, keyed by `likeness`.
        alias: the name of another registered op that takes the same arguments, or "".
        output_numbers: the attrs that are the lengths of lists among several outputs.
        function: the op as a function.
    """

    opdef: OpDef
    params: Sequence[str]
    kinds: tuple[str, ...]
    attr_names: dict[str, str]
    uniform: bool
    settled: dict[Any, Settled]
    function: Callable[..., Any]
    alias = ""
    output_numbers: Sequence[str] = ()

    def likeness(self, args: Sequence[Any]) -> Any:
        """Returns a key that is equal for calls of the op in a graph that settle the same types and attrs; or None.

        It serves calls whose arguments need no conversion, or only a Python number cast to a tensor's dtype.
        """
        key: list[Any] = []
        for kind, arg in zip(self.kinds, args, strict=True):
            cls: Any = type(arg)
            if cls is SymbolicTensor:
                if kind != "tensor":
                    return None
                key.append(arg.dtype)
            elif kind == "attr":
                if cls not in _HASHABLE:
                    return None
                key += cls, arg
            elif kind == "tensor":
                if not self.uniform or (cls is not float and (cls is not int or not -128 <= arg < 128)):
                    return None
                key += cls, arg < 0  # the sign decides whether an unsigned dtype takes it
            elif kind == "list":
                if cls is not list or any(type(item) is not SymbolicTensor for item in arg):
                    return None
                key.append(tuple([item.dtype for item in arg]))
            elif cls is int or arg is None:
                key.append(cls)
            elif (cls is tuple or cls is list) and all(type(item) is int for item in arg):
                key.append(tuple)
            else:
                return None
        return tuple(key)

    def settle(
        self, key: tuple[Any, ...], types: dict[str, Any], arguments: Sequence[Any], dtypes: Sequence[DType]
    ) -> None:
        """Keeps the result for later calls with the same key."""
        if len(self.settled) >= _MOST_SETTLED:
            self.settled.clear()
        self.settled[key] = Settled(types, arguments[len(self.opdef.inputs) :], dtypes)

    def convert_arguments(
        self, args: tuple[Any, ...], promotes: bool = False, in_turn: bool = False
    ) -> tuple[list[Any], dict[str, Any]]:
        """Converts every argument to its parameter's type, and determines the op's type attrs on the way.

        As in TensorFlow, the first tensor settles the type of all inputs that share its type attr; Python
        values and arrays are converted to it. In a graph, or `in_turn`, it is the first input, whether a tensor or not.
        """
        in_turn = in_turn or state.in_turn or state.graph is not None
        types: dict[str, Any] = {}
        inputs = self.opdef.inputs
        out = list(args)
        attrs = self.attr_params()
        for i, attr_def in attrs:  # TensorFlow looks at the attrs before it converts the inputs
            if args[i] is None and attr_def.is_required_list and self.converts_slowly(args):
                items_of(snake_case(self.name), attr_def.name, None)  # raises
            out[i] = attr_value(self, attr_def, args[i])
            if attr_def.type in ("type", "list(type)") and out[i] is not None:
                types[attr_def.name] = out[i]
        for i, kind in enumerate(self.kinds[: len(inputs)]):
            arg, attr = args[i], inputs[i].type_attr
            if kind == "list":
                arg = out[i] = self.as_list(arg, inputs[i], args)
                if attr and attr not in types:
                    types.update((attr, as_dtype(v.dtype)) for v in arg[::-1] if is_tensor_like(v))
            elif kind == "tensor" and attr and attr not in types and not in_turn and is_tensor_like(arg):
                types[attr] = as_dtype(arg.dtype)
        if self.kinds.count("list") > 1:
            self.check_lengths(out, args)
        position = 0
        for i, kind in enumerate(self.kinds[: len(inputs)]):
            if kind == "tensor":
                out[i] = self.convert_input(out[i], inputs[i], types, position, promotes, args)
                position += 1
            elif kind == "list":
                if inputs[i].type_list_attr:
                    out[i] = [convert(v) for v in out[i]]
                    types[inputs[i].type_list_attr] = [v.dtype for v in out[i]]
                else:
                    out[i] = self.convert_list(out[i], inputs[i], types, position, promotes, args)
                position += len(out[i])
            else:
                out[i] = self.convert_host(out[i], inputs[i], types, position, args)
                position += 1
        self.check_types(types)
        for i, attr_def in attrs:
            self.check_attr(attr_def, out[i])
        if self.output_numbers:
            types |= self.numbers(out)
        return out, types

    def numbers(self, args: Sequence[Any]) -> dict[str, int]:
        """Returns the lengths of the lists among the outputs, by the attrs that name them."""
        attrs = {self.attr_names[p]: arg for p, arg in zip(self.params, args, strict=True) if p in self.attr_names}
        lists = {a.number_attr: len(arg) for a, arg in zip(self.opdef.inputs, args, strict=False) if a.number_attr}
        every = attrs | lists
        return {attr: every[attr] for attr in self.output_numbers if attr in every}

    def check_lengths(self, values: Sequence[Any], args: Sequence[Any]) -> None:
        """Raises ValueError for lists of unequal lengths that TensorFlow's Python code would reject."""
        first: dict[str, tuple[str, int]] = {}
        for kind, value, argument in zip(self.kinds, values, self.opdef.inputs, strict=False):
            if kind == "list" and argument.number_attr:
                name, count = first.setdefault(argument.number_attr, (argument.name, len(value)))
                if count != len(value) and (state.graph is not None or self.converts_slowly(args)):
                    raise ValueError(
                        f"List argument '{argument.name}' to '{snake_case(self.name)}' Op with length {len(value)} "
                        f"must match length {count} of argument '{name}'."
                    )

    @functools.cache  # noqa: B019 (ops live as long as the process)
    def attr_params(self) -> list[tuple[int, AttrDef]]:
        """Returns the positions of the parameters that stand for attrs, and the attrs' definitions."""
        first = len(self.opdef.inputs)
        return [(i, self.opdef.attrs[self.attr_names[p]]) for i, p in enumerate(self.params[first:], first)]

    def convert_host(
        self, value: Any, argument: ArgDef, types: dict[str, Any], position: int, args: Sequence[Any]
    ) -> Any:
        """Returns an argument as kernels get it: Python numbers in the place of a tensor."""
        if value is None and not self.may_lack(argument):
            raise unsupported_value(value, value)
        if type(value) is bool and self.takes_integers(argument):
            value = int(value)  # as an axis; a tensor of bools is none
        elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
            value = self.cast_host(value, argument, types, args)  # arrays are cast; Python's floats are not
        elif isinstance(value, np.ndarray) and value.dtype.kind in "OSU" and self.takes_integers(argument):
            default = self._default(argument)
            hint = default if isinstance(default, DType) else None
            value = convert(value, None if argument.type_attr else argument.type, hint)
        elif type(value) in (list, tuple) and _needs_stacking(value):
            value = convert(value, None if argument.type_attr else argument.type)
        if isinstance(value, EagerTensor):
            self.check_host_dtype(value, argument, position, args)
            if argument.type_attr and types.setdefault(argument.type_attr, value.dtype) is not value.dtype:
                raise self.mismatch(types[argument.type_attr], value.dtype, position)
        elif isinstance(value, (np.ndarray, np.generic)):
            attr = argument.type_attr
            if attr and attr not in types and not isinstance(self._default(argument), DType):
                self.check_types({attr: from_numpy_type(value) or int32})
        elif isinstance(value, DType):
            raise unsupported_value(value, value)
        host = host_value(value)
        if isinstance(value, (list, tuple)) and self.takes_integers(argument):
            limit = 2**64 if argument.type is uint64 else 2**63
            if any(type(v) is int and not -(2**63) <= v < limit for v in host):
                raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
            host = tuple([_integer_entry(e, v) for e, v in zip(value, host, strict=True)])
        elif type(host) is int and host not in _INT32 and self.takes_integers(argument):
            dtype = self.host_dtype(argument, types, args)
            if dtype is not None:
                host = int(operand(host, dtype)) if state.graph is None else wrap_integer(host, dtype)
        self.check_host(host, argument, types, args)
        return host

    def may_lack(self, argument: ArgDef) -> bool:
        """Returns True if an argument may be None: if the op's function has None for its default."""
        defaults = self.function.__defaults__ or ()
        at = self.opdef.inputs.index(argument) + len(defaults) - len(self.params) - 1  # the last parameter is the name
        return at >= 0 and defaults[at] is None

    def host_dtype(self, argument: ArgDef, types: dict[str, Any], args: Sequence[Any]) -> DType | None:
        """Returns the dtype that numbers in the place of a tensor are converted to, or None where they decide it."""
        if not argument.type_attr:
            return argument.type
        default = self._default(argument) if self.converts_quickly(args) else None
        return types.get(argument.type_attr, default if isinstance(default, DType) else None)

    def cast_host(
        self, value: np.generic | np.ndarray, argument: ArgDef, types: dict[str, Any], args: Sequence[Any]
    ) -> Any:
        """Returns an array of numbers in the place of a tensor as TensorFlow casts it, if it does."""
        dtype, default = self.host_dtype(argument, types, args), self._default(argument)
        if dtype is None and isinstance(default, DType):
            allowed = self.opdef.attrs[argument.type_attr].allowed
            dtype = None if allowed and from_numpy_type(value) in allowed else default
        if dtype is None or (state.graph is not None and value.dtype.kind != "f"):
            return value
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return value.astype(dtype.as_numpy_dtype)

    def converts_slowly(self, args: Sequence[Any]) -> bool:
        """Returns True if TensorFlow's eager fast path leaves a call to its Python code. It does so with lists, texts,
        NumPy's scalars, and an integer for a float attr. The Python code raises other errors for inputs of wrong
        dtypes."""
        if state.graph is not None:
            return False
        for kind, arg in zip(self.kinds, args, strict=True):
            items = arg if kind == "list" and isinstance(arg, (list, tuple)) else () if kind == "attr" else (arg,)
            if any(isinstance(item, (list, tuple, str, bytes, np.generic)) for item in items):
                return True
        return any(type(args[i]) is int and attr_def.type == "float" for i, attr_def in self.attr_params())

    def converts_quickly(self, args: Sequence[Any]) -> bool:
        """Returns True if TensorFlow's eager fast path takes a call: it converts numbers and arrays to the default of
        a type attr, whatever dtype they have."""
        return state.graph is None and not self.converts_slowly(args)

    def converts_one_by_one(self, argument: ArgDef, args: Sequence[Any]) -> bool:
        """Returns True if TensorFlow's Python code converts an input to a dtype: it does not where all inputs that
        share the type attr are tensors."""
        if not self.converts_slowly(args):
            return False
        inputs = zip(self.kinds, args, self.opdef.inputs, strict=False)
        shared = [arg if kind == "list" else (arg,) for kind, arg, a in inputs if a.type_attr == argument.type_attr]
        return not argument.type_attr or not all(isinstance(item, Tensor) for items in shared for item in items)

    def _default(self, argument: ArgDef) -> Any:
        """Returns the dtype of an argument whose type attr has a default, or another value."""
        return self.opdef.attrs[argument.type_attr].default if argument.type_attr else None

    def takes_integers(self, argument: Any) -> bool:
        """Returns True if an argument's dtype is, or may be, an integer one."""
        attr = argument.type_attr
        return any(d.is_integer for d in self.opdef.attrs[attr].allowed or ()) if attr else argument.type.is_integer

    def check_host_dtype(self, tensor: Tensor, argument: Any, position: int, args: Sequence[Any]) -> None:
        """Raises TensorFlow's error for a tensor of a dtype that an argument of numbers can't have."""
        dtype = tensor.dtype
        if argument.type_attr:
            self.check_types({argument.type_attr: dtype})
        elif dtype is not argument.type:
            if self.converts_slowly(args):
                convert(tensor, argument.type)
            raise self.mismatch(argument.type, dtype, position)

    def check_host(self, value: Any, argument: Any, types: dict[str, Any], args: Sequence[Any]) -> None:
        """Raises TensorFlow's error for non-integers in integer arguments, which kernels would accept."""
        attr = argument.type_attr
        kind: Any = type(value)
        if kind is tuple and any(type(v) is not int for v in value):
            _check_sequence(value, None if attr else argument.type)
        if attr in types and (kind is int or kind is float) and not fits(letter(kind), types[attr]):
            raise unfit(value, types[attr])
        if attr in types and (kind is str or kind is bytes) and types[attr] is not string:
            raise unfit(value, types[attr])
        leaves: Any = value
        while type(leaves) is tuple and leaves:
            item = next((v for v in leaves if type(v) in (tuple, float, str, bytes, bool, NoneType)), leaves[0])
            if item is None or (type(item) in (str, bytes) and any(type(v) is int for v in leaves)):
                raise unconvertible(value, MIXED)
            leaves = item
        if type(leaves) in (float, complex, str, bytes, bool):
            if not attr:
                if argument.type.is_integer:
                    raise unfit(value, argument.type)
            elif any(d.is_integer for d in self.opdef.attrs[attr].allowed or ()):
                default = self._default(argument)
                if type(value) is float and isinstance(default, DType) and not self.converts_slowly(args):
                    raise unfit(value, default)
                self.check_types({attr: convert(leaves).dtype})

    def as_list(self, arg: Sequence[TensorLike], argument: ArgDef, args: Sequence[Any]) -> list[Any]:
        if isinstance(arg, (list, tuple)):
            return list(arg)
        if isinstance(arg, np.ndarray) and arg.ndim > 1 and state.graph is None:
            raise ValueError(f"expected a sequence for attr N, got an ndarray with rank {arg.ndim} instead")
        if state.graph is None and is_tensor_like(arg) and not self.converts_slowly(args):
            return list(arg)
        return list(items_of(snake_case(self.name), argument.name, arg))

    def mismatch(self, wanted: DType, dtype: DType, position: int) -> Exception:
        """Returns the error for an input tensor of a wrong dtype."""
        return errors.InvalidArgumentError.of(
            f"cannot compute {self.name} as input #{position}(zero-based) was expected to be a "
            f"{datatype_name(wanted)} tensor but is a {datatype_name(dtype)} tensor [Op:{self.name}] name: "
        )

    def convert_input(
        self, arg: Any, argument: ArgDef, types: dict[str, Any], position: int, promotes: bool, args: Sequence[Any]
    ) -> Tensor:
        attr = argument.type_attr
        dtype = argument.type if not attr else types.get(attr)
        if promotes and not isinstance(arg, Tensor):
            try:
                arg = convert(arg, dtype)
            except (TypeError, ValueError):
                arg = convert(arg)
        elif dtype is None:
            definition = self.opdef.attrs[attr]
            hint = definition.default if isinstance(definition.default, DType) else None
            arg = self.convert_to_default(arg, hint, definition.allowed, args)
        else:
            arg = convert(arg, None if is_tensor_like(arg) else dtype)
        if dtype is None:
            types[attr] = arg.dtype
            if state.graph is not None and not promotes:
                self.check_types({attr: arg.dtype})  # there before the next input is converted
        elif arg.dtype is not dtype:
            if not promotes and self.converts_one_by_one(argument, args):
                convert(arg, dtype)
            if not promotes and state.graph is None:
                self.convert_others(args, types)
            raise self.mismatch(dtype, arg.dtype, position)
        return arg

    def convert_others(self, args: Sequence[Any], types: dict[str, Any]) -> None:
        """Raises the errors of inputs that are no tensors: TensorFlow compares dtypes after all conversions."""
        for kind, arg, argument in zip(self.kinds, args, self.opdef.inputs, strict=False):
            dtype = types.get(argument.type_attr) if argument.type_attr else argument.type
            if kind == "tensor" and dtype is not None and not is_tensor_like(arg):
                convert(arg, dtype)

    def convert_to_default(
        self, arg: Any, default: DType | None, allowed: Sequence[Any] | None, args: Sequence[Any]
    ) -> Tensor:
        """Returns the tensor of an input whose dtype nothing but itself decides, and the default of its type attr."""
        if self.converts_quickly(args):
            return convert(arg, default)
        if allowed:
            try:
                tensor = convert(arg)
            except TypeError:  # it may convert to the default
                return convert(arg, hint=default)
            if tensor.dtype in allowed:
                return tensor
        return convert(arg, hint=default)

    def convert_list(
        self,
        values: Sequence[Any],
        argument: ArgDef,
        types: dict[str, Any],
        position: int,
        promotes: bool,
        args: Sequence[Any],
    ) -> list[Tensor]:
        """Returns the tensors of a list of inputs of one dtype. In a graph, if no tensor in the list settles the dtype,
        each item is converted on its own, and a failed conversion raises the error for unequal types."""
        if state.graph is None:
            return [self.convert_input(v, argument, types, position + i, promotes, args) for i, v in enumerate(values)]
        apart = argument.type_attr and argument.type_attr not in types
        out: list[Tensor] = []
        wrong = "types that don't all match"
        try:
            for i, v in enumerate(values):
                dtypes = {} if apart else types
                out.append(self.convert_input(v, argument, dtypes, position + i, promotes, args))
        except (TypeError, ValueError) as error:
            wrong = f"types that are not convertible: {error}"
        if len(out) < len(values) or len({t.dtype for t in out}) > 1:
            raise TypeError(f"Tensors in list passed to '{argument.name}' of '{self.name}' Op have {wrong}.")
        if apart and out:
            types[argument.type_attr] = out[0].dtype
        return out

    def check_attr(self, attr: AttrDef, value: Any) -> None:
        """Raises InvalidArgumentError for a string that the attr does not allow, an int below its minimum, a list that
        is shorter than its minimum, or an int among several that needs more than 32 bits."""
        if attr.type == "string" and attr.allowed is not None and value not in attr.allowed:
            allowed = ", ".join(f'"{a}"' for a in attr.allowed)
            wrong = f'"{value}" is not in the list of allowed values: {allowed}'
        elif attr.type == "int" and attr.minimum is not None and isinstance(value, int) and value < attr.minimum:
            wrong = f"{value} must be at least minimum {attr.minimum}"
        elif type(value) is int and (outputs := value * self.outputs_of(attr.name)):
            if outputs >= 2**31:
                raise ValueError(f"Number of outputs is too big: {outputs}")
            check_outputs(outputs)
            return
        elif attr.minimum and type(value) is tuple and len(value) < attr.minimum and state.graph is None:
            raise self.refused(f"Length for attr '{attr.name}' of {len(value)} must be at least minimum {attr.minimum}")
        elif attr.name in _OF_32_BITS and any(map(_is_long, _iterate_leaves(value))):
            wrong = f"{value} out of range for an int32"
        else:
            return
        raise self.refused(f"Value for attr '{attr.name}' of {wrong}")

    @functools.cache  # noqa: B019 (ops live as long as the process)
    def outputs_of(self, attr: str) -> int:
        """Returns the number of lists among the outputs that are as long as an attr says."""
        return sum(output.number_attr == attr for output in self.opdef.outputs)

    def refused(self, wrong: str) -> Exception:
        """Returns the error for the value of an attr that the op's definition does not allow."""
        return errors.InvalidArgumentError.of(
            f"{wrong}\n\t; NodeDef: {{{{node {self.name}}}}}; {self.opdef.signature} [Op:{self.name}] name: "
        )

    def check_types(self, types: dict[str, Any]) -> None:
        """Raises InvalidArgumentError for a type attr that the op's definition and its alias's both forbid."""
        for attr, dtype in types.items():
            allowed = self.opdef.attrs[attr].allowed
            if allowed is None:
                continue
            more = op_defs.get(self.alias).attrs[attr].allowed or () if self.alias else ()
            for d in dtype if isinstance(dtype, (list, tuple)) else (dtype,):
                if d not in allowed and d not in more:
                    names = ", ".join(datatype_name(a) for a in allowed)
                    raise self.refused(
                        f"Value for attr '{attr}' of {datatype_name(d)} is not in the list of allowed values: {names}"
                    )


_INT32 = range(-(2**31), 2**31)

# The attrs of 64 bits that TensorFlow's kernels read as numbers of 32.
_OF_32_BITS = frozenset(
    {"beam_width", "block_size", "channels", "compression", "dilations", "groups", "ksize", "ksizes", "ngram_widths",
     "num_bits", "quality", "rates", "squeeze_dims", "strides"}
)  # fmt: skip


# The types of attrs that a key can hold. Floats are excluded: 0.0 equals -0.0.
_HASHABLE = frozenset({bool, int, str, NoneType, DType})


def is_tensor_like(value: TensorLike | None) -> bool:
    """Returns True if a value's dtype decides the op's dtype: true of tensors and variables, not of arrays."""
    return isinstance(value, Tensor) or (hasattr(type(value), "__tf_tensor__") and hasattr(value, "dtype"))


def _needs_stacking(value: Sequence[Any]) -> bool:
    """Returns True if a list holds eager tensors whose numbers can't be read one by one: tensors of several dtypes,
    tensors that are no scalars, or tensors beside numbers that are no integers. Stacking them raises the error."""
    leaves = list(_iterate_leaves(value))
    tensors = [leaf for leaf in leaves if isinstance(leaf, EagerTensor)]
    if not tensors:
        return False
    several = len({t.dtype for t in tensors}) > 1 or any(t.shape.rank for t in tensors)
    return several or any(isinstance(leaf, (float, str, bytes)) for leaf in leaves)


def _iterate_leaves(value: TensorLike | None) -> Iterator[Any]:
    """Yields the items of nested lists."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _iterate_leaves(item)
    else:
        yield value


def _is_long(value: int | None) -> bool:
    """Returns True if a number needs more than 32 bits."""
    return type(value) is int and not -(2**31) <= value < 2**31


def _check_sequence(value: tuple[Any, ...], dtype: DType | None) -> None:
    """Raises TensorFlow's error for nested numbers that form no tensor."""
    rows = set(map(len, value)) if all(type(v) is tuple for v in value) else ()
    if len(rows) == 1 and all(type(v) is int for row in value for v in row):
        return
    if not any(v is None or isinstance(v, Tensor) for v in _iterate_leaves(value)):
        array_of(value, dtype)


def _integer_entry(entry: TensorLike | None, value: TensorLike | None) -> Any:
    """Returns the host value of an entry of a list of integers, such as a shape. A float tensor or a Python bool may
    stand for one; a float may not."""
    if type(entry) is bool:
        return int(entry)
    if not isinstance(entry, Tensor) or not entry.dtype.is_floating:
        return value
    if isinstance(value, Tensor):
        return ops.Cast(value, int32)
    return int(value) if type(value) is float and value.is_integer() else value
