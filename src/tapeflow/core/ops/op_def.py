"""The definitions of TensorFlow's registered ops: inputs, outputs, attrs and defaults.

The definitions stand in `op_defs.txt`, one op a line, in the notation of TensorFlow's own errors
(`scripts/record.py op_defs` records them). The file is read at the first look-up and a line is parsed when its op is
first looked up, so that importing this module costs nothing.
"""

import functools
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.types.dtypes import DType, as_dtype

_FILE = pathlib.Path(__file__).with_name("op_defs.txt")

# Names of dtypes in definitions that differ from their Python names. `as_dtype` takes either.
_PROTO_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


class ArgDef(NamedTuple):
    """An input or output of an op.

    Its dtype is fixed (`type`), or the value of a type attr (`type_attr`); the number of tensors is the int attr
    `number_attr`, or one for each dtype in the list attr `type_list_attr`, or else exactly one.
    """

    name: str
    type: DType | None = None
    type_attr: str = ""
    number_attr: str = ""
    type_list_attr: str = ""
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Returns True if the argument is a list of tensors."""
        return bool(self.number_attr or self.type_list_attr)

    def __str__(self) -> str:
        # A list of tensors of several types has no dtype to print: TensorFlow leaves the place empty.
        dtype = self.type_attr
        if self.type is not None:
            dtype = _PROTO_NAMES.get(self.type.name, self.type.name)
        if self.number_attr:
            dtype = f"{self.number_attr}*{dtype}"
        return f"{self.name}:Ref({dtype})" if self.is_ref else f"{self.name}:{dtype}"


class AttrDef(NamedTuple):
    """An attr of an op.

    `type` is TensorFlow's word for it: "type", "int", "float", "bool", "string", "shape", "tensor", "func", or
    "list(...)" with one of these inside. `default` is a Python value, or `NO_DEFAULT` if the attr is required: a
    `DType` for a type; for a shape a tuple of ints, with -1 for an unknown dimension, or None; an array for a tensor; a
    list for a list.
    """

    name: str
    type: str
    default: Any
    minimum: int | None
    allowed: tuple | None
    text: str

    @property
    def has_default(self) -> bool:
        """Returns True if the attr may be left out."""
        return self.default is not NO_DEFAULT

    @property
    def is_required_list(self) -> bool:
        """Returns True if it is a list that must not be left out."""
        return self.type.startswith("list(") and not self.has_default


class _NoDefault:
    """The type of `NO_DEFAULT`, which None can't stand for because it is a shape of unknown rank."""

    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT = _NoDefault()


class OpDef(NamedTuple):
    """The definition of one op.

    Example:
        >>> from tapeflow.core.ops import op_def
        >>> op_def.get("Floor").signature
        'Op<name=Floor; signature=x:T -> y:T; attr=T:type,allowed=[DT_BFLOAT16, DT_HALF, DT_FLOAT, DT_DOUBLE]>'
    """

    name: str
    inputs: tuple[ArgDef, ...]
    outputs: tuple[ArgDef, ...]
    attrs: Mapping[str, AttrDef]
    stateful: bool = False
    commutative: bool = False
    aggregate: bool = False
    allows_uninitialized_input: bool = False
    distributed: bool = False

    @property
    def signature(self) -> str:
        """The definition as TensorFlow's error messages print it."""
        inputs, outputs = (", ".join(map(str, args)) for args in (self.inputs, self.outputs))
        parts = [f"name={self.name}", f"signature={inputs} -> {outputs}"]
        parts += [f"attr={attr.text}" for attr in self.attrs.values()]
        parts += [f"{flag}=true" for flag, field in _FLAGS.items() if getattr(self, field)]
        return f"Op<{'; '.join(parts)}>"


_FLAGS = {
    "is_commutative": "commutative",
    "is_aggregate": "aggregate",
    "is_stateful": "stateful",
    "allows_uninitialized_input": "allows_uninitialized_input",
    "is_distributed_communication": "distributed",
}


_own: dict[str, str] = {}  # the definitions of ops that TensorFlow lacks


@functools.cache
def get(name: str) -> OpDef:
    """Returns the definition of the op of this name.

    Raises:
        LookupError: if there is no such op.
    """
    try:
        line = _own.get(name) or _definition_lines()[name]
    except KeyError:
        raise LookupError(f"No op is named {name!r}; all names stand in {_FILE.name}.") from None
    return _parse_definition(line)


def implied_attrs(definition: OpDef) -> set[str]:
    """Returns the attrs of an op that follow from its inputs."""
    return {t for a in definition.inputs for t in (a.type_attr, a.number_attr, a.type_list_attr) if t}


def declare(name: str, signature: str) -> None:
    """Adds the definition of an op that TensorFlow lacks, such as `x:T, y:T -> z:T; attr=T:type`."""
    _own[name] = f"Op<name={name}; signature={signature}>"


def names() -> list[str]:
    """Returns the names of all ops of TensorFlow, sorted."""
    return list(_definition_lines())


@functools.cache
def snake_case(name: str) -> str:
    """Returns the name of an op's generated Python function in TensorFlow."""
    return re.sub(r"(?<=[a-z])([A-Z])|(?!^)([A-Z])(?=[a-z])", r"_\1\2", name).lower()


@functools.cache
def _definition_lines() -> dict[str, str]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return {line[len("Op<name=") : line.index(";")]: line for line in lines}


def _parse_definition(line: str) -> OpDef:
    name, _, definition = line[len("Op<name=") : -len(">")].partition("; ")  # a name may have a `>`
    (_, signature), *rest = (part.split("=", 1) for part in _split_outside(definition, "; "))
    attrs = Attrs(value for key, value in rest if key == "attr")
    types = attrs.types
    inputs, outputs = (_parse_args(side, types) for side in signature.split(" -> "))
    flags = {_FLAGS[key]: True for key, _ in rest if key != "attr"}
    return OpDef(name, inputs, outputs, attrs, **flags)


class Attrs(Mapping[str, AttrDef]):
    """An op's attrs by name, each parsed when it is first read: most are never."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._parsed: dict[str, Any] = {}  # the text, until it is first read
        self.types: dict[str, str] = {}
        for text in texts:
            name, rest = text.split(":", 1)
            self._parsed[name] = text
            self.types[name] = rest.split(",", 1)[0]

    def __getitem__(self, name: str) -> AttrDef:
        attr = self._parsed[name]
        if isinstance(attr, str):
            attr = self._parsed[name] = _parse_attr(attr)
        return attr

    def __contains__(self, name: object) -> bool:
        return name in self._parsed

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed)

    def __len__(self) -> int:
        return len(self._parsed)


def _parse_args(text: str, attr_types: dict[str, str]) -> tuple[ArgDef, ...]:
    return tuple(_parse_arg(arg, attr_types) for arg in text.split(", ")) if text else ()


def _parse_arg(text: str, attr_types: dict[str, str]) -> ArgDef:
    name, dtype = text.split(":")
    is_ref = dtype.startswith("Ref(")
    if is_ref:
        dtype = dtype[len("Ref(") : -len(")")]
    number, _, dtype = dtype.rpartition("*")
    kind = attr_types.get(dtype)
    return ArgDef(
        name,
        type=as_dtype(dtype) if kind is None else None,
        type_attr=dtype if kind == "type" else "",
        number_attr=number,
        type_list_attr=dtype if kind == "list(type)" else "",
        is_ref=is_ref,
    )


def _parse_attr(text: str) -> AttrDef:
    head, *rest = _split_outside(text, ",")
    name, attr_type = head.split(":")
    options = dict(option.split("=", 1) for option in rest)
    default = _parse_value(options["default"], attr_type) if "default" in options else NO_DEFAULT
    minimum = int(options["min"]) if "min" in options else None
    listed = attr_type if attr_type.startswith("list(") else f"list({attr_type})"
    allowed = tuple(_parse_value(options["allowed"], listed)) if "allowed" in options else None
    return AttrDef(name, attr_type, default, minimum, allowed, text)


def _parse_value(text: str, attr_type: str) -> Any:
    """Returns a default or an allowed value as a Python value."""
    if attr_type.startswith("list("):
        element_type = attr_type[len("list(") : -len(")")]
        return [_parse_value(item.strip(), element_type) for item in _split_outside(text[1:-1], ",") if item.strip()]
    return _READERS[attr_type](text)


def _parse_shape(text: str) -> tuple[int, ...] | None:
    if text == "<unknown>":
        return None
    return tuple(-1 if dim == "?" else int(dim) for dim in text[1:-1].split(",") if dim)


def _parse_string(text: str) -> str:
    letters = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda match: letters.get(match[1], match[1]), text[1:-1])


def _parse_tensor(text: str) -> np.ndarray:
    dtype, shape, values = re.split("Tensor<type: | shape: | values: |>", text)[1:-1]
    return np.array(values.split(), dtype).reshape(_parse_shape(shape))


_READERS: dict[str, Callable[[str], Any]] = {
    "type": lambda text: as_dtype(text.removeprefix("DT_").lower()),
    "int": int,
    "float": float,
    "bool": lambda text: text == "true",
    "string": _parse_string,
    "shape": _parse_shape,
    "tensor": _parse_tensor,
}


def _split_outside(text: str, separator: str) -> Iterator[str]:
    """Splits at the separators that stand outside quotes and brackets."""
    depth = start = 0
    for mark in _mark_pattern(separator).finditer(text):
        letter = mark[0]
        if letter in "[<":
            depth += 1
        elif letter in "]>":
            depth -= 1
        elif letter == separator and depth == 0:
            yield text[start : mark.start()]
            start = mark.end()
    yield text[start:]


@functools.cache
def _mark_pattern(separator: str) -> re.Pattern[str]:
    """Returns the pattern of quoted strings, brackets (no arrows) and separators, for `_split_outside`."""
    return re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]<]|(?<!-)>|' + re.escape(separator), re.DOTALL)
