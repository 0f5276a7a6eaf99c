"""The parameters of a function, the types of its arguments, and the tensors in them."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.spec import TensorSpec, TypeSpec, VariableSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import ResourceVariable, Variable

if TYPE_CHECKING:
    from tapeflow.graph.ir.func_graph import FuncGraph

_LITERALS = (int, float, bool, str, bytes, complex, type(None))
ARRAYS = (np.ndarray, np.generic, torch.Tensor)  # arguments that are converted to tensors


class WeakKey:
    """Represents an object in a trace key by its identity, and does not keep it alive."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, value: Any) -> None:
        self._hash = hash((type(value), id(value)))
        try:
            self._ref: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._ref = lambda: value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeakKey) and self._ref() is not None and self._ref() is other._ref()

    def __repr__(self) -> str:
        return f"<{type(self._ref()).__name__} object>"


class Variables(list):
    """Takes the tensors of arguments among which specs may stand for tensors, and keeps the variables alone."""

    def append(self, tensor: Any) -> None:
        """Keeps a variable, or its spec."""
        if isinstance(tensor, (ReadAsTensor, VariableSpec)):
            super().append(tensor)

    def extend(self, tensors: Any) -> None:
        """Keeps the variables among several."""
        for tensor in tensors:
            self.append(tensor)


def key_of(value: Any, tensors: list[Any]) -> Any:
    """Returns the hashable part of a trace key for an argument: traces are shared by arguments of the same key.

    Args:
        value: the argument.
        tensors: gets the tensors and the variables in it, in the order of the trace's inputs.
    """
    kind = type(value)
    if kind is EagerTensor:
        tensors.append(value)
        return value.dtype.as_datatype_enum, value.value.shape
    if kind in (int, float, bool, str, bytes, complex):
        return kind, value
    if value is None:
        return None
    if kind is list or kind is tuple:
        return (kind, *[key_of(v, tensors) for v in value])
    if kind is dict:
        keys = nest.sorted_keys(value)
        return (dict, (*keys,), *[key_of(value[k], tensors) for k in keys])
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.dtype.as_datatype_enum, value.shape if value.shape.rank is None else tuple(value.shape.as_list())
    if is_shared(value):
        tensors.append(value)
        return _key_of_variable(value)
    if isinstance(value, ReadAsTensor):
        return "variable", value._id
    if isinstance(value, ARRAYS):
        return key_of(convert(value), tensors)
    if isinstance(value, TypeSpec):
        if type(tensors) is Variables:
            tensors.append(value)
        elif is_tensor_spec(value):
            convert(value)  # it raises the error
        return _key_of_spec(value)
    if isinstance(value, CompositeTensor) or hasattr(kind, "__tf_composite__"):
        components = components_of(value)
        tensors.extend(c for c in components if not isinstance(c, ReadAsTensor))
        return "composite", value._type_spec, *(c._id for c in components if isinstance(c, ReadAsTensor))
    trace = getattr(value, "__tf_tracing_type__", None)
    if trace is not None:
        tensors.extend(v for v in nest.flatten(value) if isinstance(v, Tensor))
        return "type", trace(None)
    if isinstance(value, Mapping) or nest.is_nested(value):
        return (kind, *[key_of(v, tensors) for v in nest.flatten(value)], str(getattr(value, "keys", list)()))
    try:
        hash(value)
    except TypeError:
        return WeakKey(value)
    if kind.__hash__ is object.__hash__ or callable(value):
        return WeakKey(value)
    return kind, value


def is_shared(value: Any) -> bool:
    """Returns True for a variable that shares a trace with all variables of its type."""
    return type(value) is ResourceVariable and value._graph is None


def key_of_aliases(variables: Sequence[Any]) -> Any:
    """Returns the part of a trace key that tells which of the variables in arguments are the same variable."""
    places: dict[int, int] = {}
    return "aliases", *[places.setdefault(id(v), len(places)) for v in variables]


def without_aliases(tensors: Sequence[Any]) -> list[Any]:
    """Returns the tensors and variables of arguments with each variable once: the inputs of a trace."""
    return list({id(t) if isinstance(t, ReadAsTensor) else -i: t for i, t in enumerate(tensors, 1)}.values())


def covers(general: tuple[Any, ...], special: tuple[Any, ...]) -> bool:
    """Returns True if a trace of the key `general` serves calls of the key `special`, too."""
    if general == special:
        return True
    if type(general) is not tuple or type(special) is not tuple or len(general) != len(special):
        return False
    wide, narrow = _spec_of_key(general), _spec_of_key(special)
    if wide is not None or narrow is not None:
        return wide is not None and narrow is not None and narrow.is_subtype_of(wide)
    return all(map(covers, general, special))


def _spec_of_key(key: tuple[Any, ...]) -> TypeSpec | None:
    """Returns the spec of the tensors or variables with a key, or None for keys of other values."""
    if len(key) == 2 and type(key[0]) is int:
        return TensorSpec(key[1], key[0])
    if len(key) == 2 and key[0] in ("spec", "composite") and isinstance(key[1], TypeSpec):
        return key[1]
    if len(key) == 4 and key[0] == "variable":
        return VariableSpec(key[2], key[1], key[3])
    return None


def _key_of_variable(value: Any) -> Any:
    """Returns the key of a variable or of its spec."""
    shape = value.shape
    dims = None if shape.rank is None else tuple(shape.as_list())
    return "variable", value.dtype.as_datatype_enum, dims, value.trainable


def components_of(value: Any) -> list[Any]:
    """Returns the tensors and variables of a composite tensor. A trace belongs to its variables."""
    value = value.__tf_composite__() if hasattr(type(value), "__tf_composite__") else value
    return value._type_spec.to_tensors(value)


def _key_of_spec(spec: TypeSpec) -> Any:
    """Returns the key of a spec: the key of its tensors if the shape is fully defined."""
    if isinstance(spec, VariableSpec):
        return _key_of_variable(spec)
    if not isinstance(spec, TensorSpec):
        return "spec", spec
    shape = spec.shape
    if not shape.is_fully_defined():
        return "spec", TensorSpec(shape, spec.dtype)
    return spec.dtype.as_datatype_enum, tuple(shape.as_list())


def spec_of(value: Any) -> Any:
    """Returns the spec of a tensor, an array or a composite tensor; other values unchanged."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, ARRAYS):
        tensor = convert(value)
        return TensorSpec(tensor.shape, tensor.dtype)
    if isinstance(value, CompositeTensor) or hasattr(type(value), "__tf_composite__"):
        return value._type_spec
    return value


def specs_of(arguments: tuple[Any, ...]) -> Any:
    """Returns a structure of arguments with the specs of tensors and of variables that share traces.

    Variables with the same `alias_id` are the same variable.
    """
    aliases: dict[int, int] = {}

    def spec(value: Any) -> Any:
        if is_shared(value) or isinstance(value, VariableSpec):
            alias = aliases.setdefault(id(value), len(aliases))
            return VariableSpec(value.shape, value.dtype, value.trainable, alias)
        return spec_of(value)

    return nest.map_structure(spec, arguments)


def is_tensor_spec(spec: Any) -> bool:
    """Tests whether a spec is for an argument that a call passes to the graph: any but a variable's."""
    return isinstance(spec, TypeSpec) and not isinstance(spec, VariableSpec)


def named_specs(name: str, value: Any, of_part: Callable[[str, Any], Any] | None = None) -> Any:
    """Returns a structure of specs, each named after its place.

    Args:
        name: the name of the whole.
        value: the structure.
        of_part: returns a part with names; by default this function.
    """
    of_part = of_part or named_specs
    if isinstance(value, TensorSpec):
        return TensorSpec(value.shape, value.dtype, value.name or name)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)([of_part(f"{name}_{i}", v) for i, v in enumerate(value)])
    if isinstance(value, dict):
        return {k: of_part(f"{name}_{k}", v) for k, v in value.items()}
    return value


class Signature:
    """The parameters of a Python function.

    Args:
        function: the function.
        bound: whether its first parameter is bound already (a method's `self`).
    """

    def __init__(self, function: Callable[..., Any], bound: bool = False) -> None:
        try:
            signature = inspect.signature(function, follow_wrapped=True)
        except (TypeError, ValueError):
            signature = inspect.signature(lambda *args, **kwargs: None)
        parameters = list(signature.parameters.values())
        self.signature = signature.replace(parameters=parameters[1:] if bound else parameters)
        self.name = getattr(function, "__name__", type(function).__name__)
        kinds = inspect.Parameter
        rows = [(p.name, p.default, p.kind) for p in self.signature.parameters.values()]
        self._by_place = [row for row in rows if row[2] in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
        self._by_name = [(name, default) for name, default, kind in rows if kind is kinds.KEYWORD_ONLY]
        self._takes_more = any(kind is kinds.VAR_POSITIONAL for *_, kind in rows)
        self._takes_names = any(kind is kinds.VAR_KEYWORD for *_, kind in rows)
        self._defaults = tuple([default for _, default, _ in self._by_place])
        self._required = sum(default is kinds.empty for default in self._defaults)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns positional and keyword arguments in canonical form, with defaults.

        Raises:
            TypeError: they do not fit the parameters.
        """
        if not kwargs and not self._by_name and len(args) >= self._required:
            if len(args) <= len(self._defaults):
                return (*args, *self._defaults[len(args) :]), {}
            if self._takes_more:
                return tuple(args), {}
        by_place, missing = self._by_place, inspect.Parameter.empty
        values, named = list(args), dict(kwargs)
        for name, default, kind in by_place[len(args) :]:
            value = default if kind is inspect.Parameter.POSITIONAL_ONLY else named.pop(name, default)
            if value is missing:
                return self._bound(args, kwargs)
            values.append(value)
        for name, default in self._by_name:
            if named.setdefault(name, default) is missing:
                return self._bound(args, kwargs)
        too_many = len(args) > len(by_place) and not self._takes_more
        others = len(named) > len(self._by_name)  # for `**kwargs`; or unknown, or given by their places too
        if too_many or (others and (not self._takes_names or any(row[0] in named for row in by_place))):
            return self._bound(args, kwargs)
        return tuple(values), dict(sorted(named.items())) if len(named) > 1 else named

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Binds as Python does, with its messages."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise unfit(error, args, kwargs, self.shown()) from None
        bound.apply_defaults()
        return bound.args, dict(sorted(bound.kwargs.items()))

    def shown(self, specs: Sequence[Any] = ()) -> str:
        """Returns the parameters as TensorFlow's messages print them, with the specs of an input signature."""
        parameters = []
        for i, p in enumerate(self.signature.parameters.values()):
            has_default = p.default is not p.empty
            value = specs[i] if i < len(specs) else p.default if specs else p.empty
            annotation = p.empty if value is p.empty else _Text(describe_types(value))
            default = _Text("<captured_default_value>") if has_default else p.empty
            parameters.append(p.replace(default=default, annotation=annotation))
        return str(self.signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))

    @property
    def arg_names(self) -> list[str]:
        """The names of the parameters that take positional arguments."""
        return [name for name, _, _ in self._by_place]

    def names(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        """Returns the name of the parameter of each positional argument, then of each keyword argument."""
        star = next((p.name for p in self.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
        names = self.arg_names[: len(args)]
        names += [f"{star}_{i}" for i in range(len(args) - len(names))]
        return names + list(kwargs)


class _Text:
    """A text with a `repr` without quotes. Python composes printed signatures of such `repr`s."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def unfit(why: object, args: Sequence[Any], kwargs: Mapping[str, Any], signature: str) -> TypeError:
    """Returns the error for arguments that do not fit a function's parameters, in TensorFlow's words."""
    return TypeError(
        f"Binding inputs to tf.function failed due to `{why}`. Received args: {tuple(args)} and kwargs: {dict(kwargs)} "
        f"for signature: {signature}."
    )


class FunctionType:
    """The type of one trace's arguments: a structure of specs and Python values."""

    def __init__(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> None:
        self.signature = signature
        self.args = args
        self.kwargs = kwargs
        self.names = names
        self.flat = nest.flatten((args, kwargs))

    @property
    def structured_input_signature(self) -> tuple[Any, dict[str, Any]]:
        """The specs, each named after its parameter. Specs of the same variable share an `alias_id`."""
        aliases: dict[int, int] = {}
        named = [
            self._named(name, value, aliases)
            for name, value in zip(self.names, [*self.args, *self.kwargs.values()], strict=True)
        ]
        return tuple(named[: len(self.args)]), dict(zip(self.kwargs, named[len(self.args) :], strict=True))

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters, annotated with the types of their arguments."""
        values = zip(self.rows(), [*self.args, *self.kwargs.values()], strict=True)
        kinds = inspect.Parameter
        return {n: kinds(n, getattr(kinds, kind), annotation=value) for (n, kind, _), value in values}

    def _named(self, name: str, value: Any, aliases: dict[int, int]) -> Any:
        if isinstance(value, Variable):
            alias = aliases.setdefault(id(value), len(aliases))
            return VariableSpec(value.shape, value.dtype, value.trainable, alias)
        return named_specs(name, value, lambda n, v: self._named(n, v, aliases))

    def tensors(self, args: tuple[Any, ...], kwargs: dict[Any, Any]) -> list[Any]:
        """Returns the tensors of a call's arguments, in the order of the placeholders."""
        tensors: list[Any] = []
        aliases: set[int | None] = set()
        for spec, value in zip(self.flat, nest.flatten((args, kwargs)), strict=True):
            if isinstance(spec, TensorSpec):
                tensors.append(value if isinstance(value, Tensor) else convert(value, spec.dtype))
            elif isinstance(spec, VariableSpec):
                if spec.alias_id not in aliases:
                    tensors.append(value)
                    aliases.add(spec.alias_id)
            elif is_tensor_spec(spec):
                tensors += [c for c in components_of(value) if not isinstance(c, ReadAsTensor)]
        return tensors

    # ---- printing ----------------------------------------------------------------------------------------------------

    def rows(self) -> list[tuple[str, str, str]]:
        """Returns the name and kind of each parameter, and the type of its argument."""
        rows = []
        kinds = {name: p.kind.name for name, p in self.signature.signature.parameters.items()}
        by_name = "VAR_POSITIONAL" not in kinds.values()
        for i, (name, value) in enumerate(zip(self.names, [*self.args, *self.kwargs.values()], strict=True)):
            kind = "POSITIONAL_ONLY" if i < len(self.args) else "KEYWORD_ONLY"
            if by_name and kinds.get(name) == "POSITIONAL_OR_KEYWORD":
                kind = "POSITIONAL_OR_KEYWORD"
            rows.append((name, kind, describe_types(value)))
        return rows

    def described(self, outputs: tuple[Any, ...], graph: FuncGraph) -> str:
        """Returns a text of the parameters, one a line, with outputs and captures."""
        lines = ["Input Parameters:"]
        lines += [f"  {name} ({kind}): {text}" for name, kind, text in self.rows()]
        lines += ["Output Type:", f"  {describe_types(outputs)}", "Captures:"]
        captures = [f"  {id(outer)}: {TensorSpec(t.shape, t.dtype)!r}" for outer, t in graph.captures]
        return "\n".join(lines + (captures or ["  None"]))

    def short(self, outputs: TensorSpec | dict[Any, Any] | tuple[TensorSpec, ...]) -> str:
        """Returns a text of the parameters and the result in one line."""
        parts, last = [], ""
        for name, kind, text in self.rows():
            if last == "POSITIONAL_ONLY" and kind != last:
                parts.append("/")
            if kind == "KEYWORD_ONLY" and last != kind:
                parts.append("*")
            parts.append(f"{name}: {text}")
            last = kind
        if last == "POSITIONAL_ONLY":
            parts.append("/")
        return f"({', '.join(parts)}) -> {describe_types(outputs)}"


def describe_types(value: Any) -> str:
    """Returns a structure of specs and values as TensorFlow prints its trace types."""
    if isinstance(value, TypeSpec):
        return repr(value)
    if isinstance(value, list):
        return f"List[{', '.join(map(describe_types, value))}]"
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(describe_types, value))}]"
    if isinstance(value, Mapping):
        return f"Dict[{', '.join(f'[{k!r}, {describe_types(v)}]' for k, v in value.items())}]"
    if isinstance(value, _LITERALS):
        return f"Literal[{value!r}]"
    return f"Reference[{value!r}]"
