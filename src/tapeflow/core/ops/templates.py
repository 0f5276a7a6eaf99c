"""Generates an op's function: the code of the fast path, written for the op's parameters.

The code is the same for all ops with parameters of the same kinds. It is compiled at the first call of such an op;
until then an op's function is a stub. Stub and compiled function are closures over the same names, so one's code can
replace the other's.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from pathlib import Path
from types import CodeType, NoneType
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.autodiff.tape import record, record_binary, record_unary
from tapeflow.core.context import detours, listeners
from tapeflow.core.ops.convert import convert, scalars
from tapeflow.core.ops.definition import MANY
from tapeflow.core.tracebacks import filter_traceback
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor, TensorType

if TYPE_CHECKING:
    from tapeflow.core.ops.op import RegisteredOp
    from tapeflow.core.ops.op_def import AttrDef

# Types of the numbers and lists that the fast path hands to a kernel unchanged. A list may hold tensors; then the
# kernel refuses it (or reads the tensor through __index__, to the same result).
STATIC = frozenset({int, float, bool, str, tuple, list, NoneType, DType, torch.Size})

# The code of every function closes over these, beside itself: values of the op, and values of all ops.
_SHARED = {
    "new": object.__new__, "record": record, "record_unary": record_unary, "record_binary": record_binary,
    "EagerTensor": EagerTensor, "DType": DType, "STATIC": STATIC, "ReadAsTensor": ReadAsTensor,
    "TensorType": TensorType, "Tensor": Tensor, "convert": convert, "scalars": scalars, "detours": detours,
    "listeners": listeners, "filtered": filter_traceback,
}  # fmt: skip
_NAMES = ("op", "kernel", "checked", "lookup", "slow", "first", *_SHARED)


def function_of(op: RegisteredOp, declared: Callable[..., Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function of an op.

    Args:
        op: the op.
        declared: the declaration, with parameters, defaults, documentation and name.
        slow: `slow(args, name)`, for calls off the fast path.
    """
    kinds = tuple("static" if k in ("host", "attr") else k for k in op.kinds)
    tensors = kinds.count("tensor") + kinds.count("list")
    one_type = len(op.opdef.outputs) == 1 and not op.opdef.outputs[0].type_list_attr
    has_fast_path = tensors and (one_type or op.several) and ("list" not in kinds or (tensors == 1 and one_type))
    names = (*op.params, "name")
    same = op.uniform and has_fast_path and one_type and _keeps_dtype(op)

    def dressed(code: CodeType) -> CodeType:
        varnames = names + code.co_varnames[len(names) :]
        return code.replace(co_varnames=varnames, co_name=declared.__name__, co_qualname=declared.__name__)

    def first(args: tuple[Any, ...], name: str | None) -> Any:
        checks = tuple([_check_template(attr) for _, attr in op.attr_params()])
        keyed = op.keyed_params()
        by_count = op.kernel_for_many is not None
        call.__code__ = dressed(_template_code(kinds, checks, op.uniform, op.many, op.several, keyed, same, by_count))
        return call(*args, name)

    own = (op, op.kernel, op.direct, op.direct.get, slow, first if has_fast_path else slow)
    call: Any = _stub_factory(len(kinds))(*own, *_SHARED.values())
    call.__code__ = dressed(call.__code__)
    call.__defaults__ = declared.__defaults__
    call.__kwdefaults__ = declared.__kwdefaults__
    functools.update_wrapper(call, declared)  # whose source `inspect` and editors show
    call.__signature__ = None  # the function's own: the declaration may lack `name`
    return call


def _compile_lines(lines: list[str], title: str) -> Any:
    """Compiles the lines of a function named `call`, and returns its factory, a function of the values of the names."""
    filename = str(Path(__file__).with_name(f"<{title}>"))  # in this library's folder, to whoever filters tracebacks
    # The line that never runs makes every function close over every name.
    everything = f"        if False: ({', '.join(_NAMES)}, call)"
    source = "\n".join([f"def make({', '.join(_NAMES)}):", lines[0], everything, *lines[1:], "    return call", ""])
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)  # for pdb to show it
    namespace: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["make"]


def _check_template(attr: AttrDef) -> str:
    """Returns the template of the check that an argument is a valid value of an attr without conversion."""
    if attr.type == "string" and attr.allowed is not None:
        return f"type({{0}}) is str and {{0}} in {attr.allowed!r}"
    if attr.type == "int" and attr.minimum is not None:
        return f"type({{0}}) is int and {{0}} >= {attr.minimum}"
    return _CHECKS.get(attr.type, _CHECK)


_CHECK = "type({0}) in STATIC"
_CHECKS = {
    "bool": "type({0}) is bool", "int": "type({0}) is int", "string": "type({0}) is str", "type": "type({0}) is DType",
    "float": "(type({0}) is float or type({0}) is int)",
}  # fmt: skip


def _keeps_dtype(op: RegisteredOp) -> bool:
    """Returns True if the result has the dtype of the inputs, which all have the same."""
    output_attr = op.opdef.outputs[0].type_attr
    return bool(output_attr) and op.tensor_attrs == {output_attr}


@functools.cache
def _stub_factory(count: int) -> Any:
    """Returns the factory of functions of so many parameters and `name` that pass everything to `first`."""
    names = "".join(f"a{i}, " for i in range(count))
    return _compile_lines(
        [f"    def call({names}name):", *_filtering_lines(f"first(({names}), name)", " " * 8)], f"op stub {count}"
    )


def _filtering_lines(call: str, pad: str) -> list[str]:
    """Returns the lines that return the result of a call, or raise its error without this library's frames."""
    return [
        f"{pad}try:",
        f"{pad}    return {call}",
        f"{pad}except Exception as _error:",
        f"{pad}    raise filtered(_error)",
    ]


@functools.cache
def _template_code(
    kinds: tuple[str, ...],
    attr_checks: tuple[str, ...],
    uniform: bool,
    many: bool,
    several: bool,
    keyed: tuple[int, ...],
    same: bool,
    by_count: bool,
) -> CodeType:
    """Returns the code of functions with these parameters, compiled once for all ops that share them.

    Args:
        kinds: of each parameter, "tensor", "list" or "static".
        attr_checks: the checks of the attrs, which are the last parameters.
        uniform: all tensors are of one dtype.
        many: the result is a list.
        several: there are several results.
        keyed: the positions of the attrs that decide the result's dtype.
        same: the result has the dtype of the inputs.
        by_count: there is a kernel for many elements.
    """
    names = [f"a{i}" for i in range(len(kinds))]
    by_kind = {k: [n for n, kind in zip(names, kinds, strict=True) if kind == k] for k in ("tensor", "list", "static")}
    tensors, lists = by_kind["tensor"], by_kind["list"]
    checks = [f"type({n}) is EagerTensor" for n in tensors]
    checks += [f"type({n}) is list or type({n}) is tuple" if len(checks) == 0 else f"type({n}) is list" for n in lists]
    checks = [f"({c})" if " or " in c else c for c in checks]
    inputs = len(names) - len(attr_checks)
    checks += [_CHECK.format(n) for n, kind in zip(names[:inputs], kinds, strict=False) if kind == "static"]
    checks += [check.format(n) for n, check in zip(names[inputs:], attr_checks, strict=True)]
    checks += ["not detours"]
    types = [f"{n}.dtype.as_datatype_enum" for n in tensors] + [f"{names[i]}.as_datatype_enum" for i in keyed]
    lines = [f"    def call({', '.join([*names, 'name'])}):", f"        if {' and '.join(checks)}:"]
    pad = "            "
    if lists:
        # One list of tensors and no other tensor: all of one dtype, or the careful path.
        n = lists[0]
        lines += [
            f"{pad}_dtype = {n}[0].dtype if {n} and type({n}[0]) is EagerTensor else None",
            f"{pad}_values = [_t.value for _t in {n} if type(_t) is EagerTensor and _t.dtype is _dtype]",
            f"{pad}_result = lookup(_dtype.as_datatype_enum) if _values and len(_values) == len({n}) else None",
        ]
    else:
        agree = " and ".join(f"{n}.dtype is _dtype" for n in tensors[1:])
        if uniform and not keyed:
            lines += [f"{pad}_dtype = {tensors[0]}.dtype"]
            if not same:
                lines += [
                    f"{pad}_result = lookup(_dtype.as_datatype_enum)" + (f" if {agree} else None" if agree else "")
                ]
        else:
            lines += [f"{pad}_result = lookup(({', '.join(types)},))"]
    arguments = ", ".join(
        "_values" if kind == "list" else f"{n}.value" if kind == "tensor" else n
        for n, kind in zip(names, kinds, strict=True)
    )
    statics = ", ".join(by_kind["static"])
    statics = f"({statics},)" if statics else "()"
    ready = "_result is not None"
    if same and not lists:  # the result has the dtype of the inputs: one look-up is enough
        ready = f"_dtype.as_datatype_enum in checked{' and ' + agree if agree else ''}"
    lines += [
        f"{pad}if {ready}:",
        f"{pad}    try:",
        *(f"{pad}        {line}" for line in _calling_lines(arguments, by_count)),
        f"{pad}    except Exception:",  # whatever it is, the careful path raises it in TensorFlow's words
        *_filtering_lines(f"slow(({', '.join(names)},), name)", f"{pad}        "),
    ]
    result = "_dtype" if same and not lists else "_result"
    if many:
        lines += [f"{pad}    _out = [EagerTensor(_v, {result}) for _v in _value]"]
    elif several:
        lines += [f"{pad}    _out = [EagerTensor(_v, _d) for _v, _d in zip(_value, _result)]"]
    else:  # as EagerTensor(_value, ...), without the call
        lines += [
            f"{pad}    _out = new(EagerTensor)",
            f"{pad}    _out.value = _value",
            f"{pad}    _out.dtype = {result}",
            f"{pad}    _out._id = 0",
        ]
    lines += [
        f"{pad}    if listeners:",
        f"{pad}        {_recording_call(tensors, lists, statics, many or several)}",
        f"{pad}    return _out",
        *_reading_lines(tensors, names),
        *(_with_number(tensors, names) if len(tensors) == 2 and uniform else ()),
        *_converting_lines(tensors, names),
        *_filtering_lines(f"slow(({''.join(n + ', ' for n in names)}), name)", " " * 8),
    ]
    flags = {"many": many, "several": several, "mixed": not uniform, "same": same, "by count": by_count}
    words = ["-".join(kinds), *(word for word, holds in flags.items() if holds), *(f"{i}:DType" for i in keyed)]
    words += [check.replace("{0}", "attr") for check in attr_checks]
    make = _compile_lines(lines, f"op template {' '.join(words)}")
    return make(*_NAMES).__code__


def _calling_lines(arguments: str, by_count: bool) -> list[str]:
    """Returns the lines that call the kernel: `op.kernel_for_many` for many elements, if there is one."""
    if not by_count:
        return [f"_value = kernel({arguments})"]
    first = arguments.partition(",")[0]
    return [f"_value = (kernel if {first}.numel() < {MANY} else op.kernel_for_many)({arguments})"]


def _reading_lines(tensors: list[str], names: list[str]) -> list[str]:
    """Returns the lines that read variables and call the function again with their tensors."""
    lines = []
    for i, first in enumerate(tensors):  # those before it are no variables
        rest = tensors[i + 1 :]
        read = {n: f"{n}._read() if isinstance({n}, ReadAsTensor) else {n}" for n in rest} | {first: f"{first}._read()"}
        lines += [
            f"        if isinstance({first}, ReadAsTensor) and not detours:",
            f"            return call({', '.join(read.get(n, n) for n in names)}, name)",
        ]
    return lines


def _converting_lines(tensors: list[str], names: list[str]) -> list[str]:
    """Returns the lines that convert arguments with `__tf_tensor__`, such as Keras's variables, and call the function
    again."""
    if not tensors:
        return []
    is_one = "isinstance({0}, TensorType) and not isinstance({0}, Tensor)"
    is_any = " or ".join(is_one.format(n) for n in tensors)
    again = ", ".join(f"convert({n}) if {is_one.format(n)} else {n}" if n in tensors else n for n in names)
    return [f"        if ({is_any}) and not detours:", f"            return call({again}, name)"]


def _with_number(tensors: list[str], names: list[str]) -> list[str]:
    """Returns the lines that call the function again with the cached tensor of a Python number. Zero is left out: it
    has two signs.
    """
    lines = []
    for number, other in (tensors[::-1], tensors):
        again = ", ".join("_number" if n == number else n for n in names)
        lines += [
            f"        if type({other}) is EagerTensor and (type({number}) is float or type({number}) is int) and "
            f"{number}:",
            f"            _number = scalars.get(({number}, type({number}), {other}.dtype.as_datatype_enum))",
            "            if _number is not None:",
            f"                return call({again}, name)",
        ]
    return lines


def _recording_call(tensors: list[str], lists: list[str], statics: str, many: bool) -> str:
    """Returns the call that records on the tapes."""
    if many or lists or len(tensors) > 2:
        inputs = lists[0] if lists else f"({', '.join(tensors)},)"
        return f"record(op, {inputs}, {statics}, {'_out' if many else '(_out,)'})"
    return f"record_{'unary' if len(tensors) == 1 else 'binary'}(op, {', '.join(tensors)}, {statics}, _out)"
