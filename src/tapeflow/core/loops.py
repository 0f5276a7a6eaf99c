"""Loops over buffers of bytes and numbers, written in Python and compiled by LLVM.

    @loop
    def count_byte(data: Bytes, size: int, byte: int) -> int:
        count = 0
        for i in range(size):
            if data[i] == byte:
                count += 1
        return count

A loop takes buffers and numbers, and returns a number or nothing. Buffers are bytes, arrays of NumPy, or tensors of
torch in the memory of the host; all are contiguous. `read_string` reads a list of strings, and `write_bytes`
fills an array with `bytes`, by functions of Python's C API. A loop may use integers, floats, indexing,
arithmetic, comparisons, `if`, `while`, `for` over a `range`, other loops, and the functions of this module. It is
Python: small calls run as they stand, until a loop has had enough work to be worth its compilation. Both ways give the
same results if the source keeps to three rules. An integer that can exceed 64 bits is masked by `MASK`, and shifts to
the right, quotients and remainders take integers that are not negative. In a loop over `Numbers`, constants and floats
made of integers meet an element first: Python computes with two of them in float64. Only the last bits of complex
quotients may differ. Machine code checks no indices, so a loop does that itself.

The compiler of graphs (`graph/compiler/`) computes tensors of known sizes. `machine_code.py` compiles for both.
A checksum of 64 kB takes 63 us here and 83 us as a loop of a `tf.function`, one of 20 bytes 0.9 us and 7 us. One of a
new size takes 20 ms there, because the graph's loop then runs in Python. These are processor times of one thread of an
AMD EPYC. The ops below the graph use this module, too.

NumPy has no function for strings of different lengths, and a library of such kernels (Arrow's, 170 MB) has those of
TensorFlow for few ops: its kernels for text refuse bytes that are not UTF-8, positions differ, and there are no hashes.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import hashlib
import inspect
import math
import pathlib
import re
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core import machine_code
from tapeflow.core.ops.elements import Unsupported

MASK = (1 << 64) - 1


class Bytes(list[int]):
    """A buffer of bytes, in annotations of parameters."""


class Int32s(list[int]):
    """A buffer of int32s."""


class Int64s(list[int]):
    """A buffer of int64s."""


class Words(list[int]):
    """A buffer of 64-bit integers without signs."""


class Float64s(list[float]):
    """A buffer of float64s."""


class Numbers(np.ndarray[Any, Any]):
    """A buffer of floats, complex numbers, int32s or int64s. All of a call have the same dtype, and floats are computed
    with its precision, that of float64 beside integers."""


class Strings(list[Any]):
    """A list of `str`, or of `bytes`."""


class Objects(list[Any]):
    """An array of Python objects."""


_ELEMENTS = {
    "Bytes": ("i8", "zext"), "Int32s": ("i32", "sext"), "Int64s": ("i64", ""), "Words": ("i64", ""),
    "Float64s": ("double", ""), "Numbers": ("", ""), "Strings": ("ptr", ""), "Objects": ("ptr", ""),
}  # fmt: skip
_RETURNED = {"None": "void", "int": "i64", "float": "double"}
_C_TYPES: dict[str, Any] = {"None": None, "int": ctypes.c_int64, "float": ctypes.c_double}
_OF_PYTHON = {"Strings", "Objects"}
_FORMATS: dict[str, Any] = {"Bytes": "B", "Int32s": "i", "Int64s": "q", "Words": "Q", "Float64s": "d"}

# By the letter of the dtype of `Numbers`: the loop's floats, the elements and how they become integers.
_NUMBERS = {
    "": ("double", "", ""), "f": ("float", "float", ""), "d": ("double", "double", ""),
    "F": ("float", "<2 x float>", ""), "D": ("double", "<2 x double>", ""),
    "i": ("double", "i32", "sext"), "q": ("double", "i64", ""),
}  # fmt: skip
_LETTERS: dict[Any, str] = {np.dtype(letter): letter for letter in "fdFDiq"}
_LETTERS |= {getattr(torch, dtype.name): letter for dtype, letter in _LETTERS.items()}
_SUFFIXES = {"float": ("f32", "f"), "double": ("f64", "")}  # of the names of LLVM's functions, and of C's
_FUNCTIONS = "exp", "expm1", "log", "log1p"  # of C's library
_RUNNING = (memoryview, Numbers)  # the types of buffers in a loop that runs as Python

_MOST_EXPONENT = math.log(np.finfo(np.float64).max)

_NOTHING = memoryview(bytearray())
_WORTH_COMPILING = 1 << 13  # bytes of buffers that a loop has run over in Python


# A range whose steps are compiled to vectors: they read and write elements, without `if`. Constant elements are read
# before. No step reads or writes an element that another one writes.
simd_range = range


def copy(target: Any, at: int, source: Any, start: int, size: int) -> None:
    """Copies bytes from one buffer to another."""
    target[at : at + size] = source[start : start + size]


def equal(a: Any, i: int, b: Any, j: int, size: int) -> bool:
    """Returns True if the bytes at two places are equal."""
    return a[i : i + size] == b[j : j + size]


def order(a: Any, i: int, b: Any, j: int, size: int) -> int:
    """Returns a negative number, zero or a positive number: the order of the bytes at two places."""
    first, second = bytes(a[i : i + size]), bytes(b[j : j + size])
    return (first > second) - (first < second)


def word(data: Any, at: int, size: int) -> int:
    """Returns the little-endian integer of 1, 4 or 8 bytes; of 8 bytes without a sign."""
    return int.from_bytes(data[at : at + size], "little")


def read_string(strings: Any, i: int, is_text: int, target: Any, at: int, room: int) -> int:
    """Copies a string of a list to a buffer if there is room for it, text as UTF-8. Returns its size.

    Raises:
        TypeError: it is something else. Machine code returns a negative number and has to return then.
        UnicodeEncodeError: it has half of a surrogate pair.
    """
    value = str.encode(strings[i]) if is_text else strings[i]
    if not isinstance(value, bytes):
        raise TypeError(f"expected bytes, {type(value).__name__} found")
    if len(value) <= room:
        target[at : at + len(value)] = value
    return len(value)


def write_bytes(objects: Any, i: int, data: Any, at: int, size: int) -> int:
    """Puts a new `bytes` into an array of objects. Returns a negative number if there is no memory."""
    objects[i] = bytes(data[at : at + size])
    return 0


def sqrt(value: Any) -> Any:
    """Returns the square root of a float that is not negative."""
    return type(value)(math.sqrt(value))


def exp(value: Any) -> Any:
    """Returns `e ** value`."""
    return type(value)(math.inf if value > _MOST_EXPONENT else math.exp(value))


def expm1(value: Any) -> Any:
    """Returns `e ** value - 1`."""
    return type(value)(math.inf if value > _MOST_EXPONENT else math.expm1(value))


def log(value: Any) -> Any:
    """Returns the natural logarithm of a float that is positive."""
    return type(value)(math.log(value))


def log1p(value: Any) -> Any:
    """Returns the natural logarithm of `1 + value`, which is positive."""
    return type(value)(math.log1p(value))


def trailing_zeros(value: int) -> int:
    """Returns the number of zero bits below the lowest one bit of an integer of 64 bits, which is not zero."""
    return (value & -value).bit_length() - 1


class Loop:
    """A loop: a function of buffers and integers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        kinds = {name: getattr(kind, "__name__", str(kind)) for name, kind in function.__annotations__.items()}
        self.returns = kinds.pop("return")
        self.params = kinds
        self._buffers = [kind in _ELEMENTS for kind in self.params.values()]
        self._first = self._buffers.index(True) if any(self._buffers) else None
        self._numbers = [*self.params.values()].index("Numbers") if "Numbers" in self.params.values() else None
        self._calls_python = not _OF_PYTHON.isdisjoint(self.params.values())
        self._compiled: dict[str, Callable[..., Any]] = {}  # by the dtype of `Numbers`
        self._work = 0  # the bytes it has run over in Python

    def __call__(self, *args: Any) -> Any:
        if self._first is None or type(args[self._first]) in _RUNNING:
            return self.function(*args)  # called by another loop
        dtype = "" if self._numbers is None else _LETTERS[args[self._numbers].dtype]
        compiled = self._compiled.get(dtype)
        if compiled is None:
            buffers = [a for a, is_buffer in zip(args, self._buffers, strict=True) if is_buffer]
            self._work += 256 + sum(len(a) if isinstance(a, (bytes, list)) else a.nbytes for a in buffers)
            if self._work < _WORTH_COMPILING:
                return self._run(*args)
            compiled = self._compiled[dtype] = self._compile(dtype)
        return compiled(*args)

    def _run(self, *args: Any) -> Any:
        """Runs the loop as Python."""
        args = tuple([a.view(-1).numpy() if type(a) is torch.Tensor else a for a in args])
        dtype = None if self._numbers is None else args[self._numbers].real.dtype
        number = float if dtype is None or dtype.kind == "i" else dtype.type
        converted = [
            a.reshape(-1).view(Numbers) if kind == "Numbers" else number(a) if kind == "float" else a
            if kind not in _FORMATS else memoryview(a).cast("B").cast(_FORMATS[kind]) if len(a) else _NOTHING
            for a, kind in zip(args, self.params.values(), strict=True)
        ]  # fmt: skip
        if self._numbers is None:
            return self.function(*converted)
        with np.errstate(all="ignore"):
            return self.function(*converted)

    def _compile(self, dtype: str = "") -> Callable[..., Any]:
        """Returns the loop for a dtype of `Numbers` as machine code, or as Python if this machine has no LLVM."""
        try:
            target = machine_code.target()
        except Unsupported:
            return self._run
        if self._calls_python and not all(map(target.has, _PYTHON_FUNCTIONS)):
            return self._run
        function = self.function
        key = f"{function.__module__}.{function.__qualname__} {dtype} {_source_hash(self._files())}"
        code = target.load(function.__name__.strip("_"), key, lambda: _module_text(self, dtype))
        kinds = [_C_TYPES.get(kind, ctypes.c_void_p) for kind in self.params.values()]
        names = [f"a{i}" for i in range(len(kinds))]
        values = [
            f"id({n})" if kind == "Strings" else n if kind not in _ELEMENTS else
            f"{n}.data_ptr() if type({n}) is Tensor and {n}.is_cpu else {n} if type({n}) is bytes else address({n})"
            for n, kind in zip(names, self.params.values(), strict=True)
        ]  # fmt: skip
        # A function generated for the parameters takes half the time of one that goes through them.
        source = f"lambda {', '.join(names)}: compiled({', '.join(values)})"
        # Python's own functions need its lock, and their errors are raised.
        prototype: Any = ctypes.PYFUNCTYPE if self._calls_python else ctypes.CFUNCTYPE
        compiled: Any = prototype(_C_TYPES[self.returns], *kinds)(code.address)
        compiled.code = code  # it is freed with the function
        return eval(source, {"compiled": compiled, "Tensor": torch.Tensor, "address": _address_of})

    def _files(self) -> tuple[str, ...]:
        """Returns the files of the loop and of those that it calls."""
        found, pending = {self}, [self]
        while pending:
            function = pending.pop().function
            named = [function.__globals__.get(name) for name in function.__code__.co_names]
            called = {value for value in named if isinstance(value, Loop)} - found
            found |= called
            pending += called
        return tuple(sorted({each.function.__code__.co_filename for each in found}))


_no_bytes_of = (ctypes.c_char * 0).from_buffer


def _address_of(array: Any) -> int:
    """Returns where the elements of an array lie."""
    try:
        return ctypes.addressof(_no_bytes_of(array))  # a fifth of the time that the array takes to tell
    except (TypeError, ValueError, BufferError):  # it is not writable, or a tensor
        address: int = np.asarray(array).__array_interface__["data"][0]  # which refuses other devices
        return address


def loop(function: Callable[..., Any]) -> Loop:
    """Declares a function as a loop, see the module."""
    return Loop(function)


@functools.cache
def _source_hash(paths: tuple[str, ...]) -> str:
    """Returns a hash of a loop's files and of this one, which determine its code."""
    return hashlib.sha256(b"".join(pathlib.Path(path).read_bytes() for path in (*paths, __file__))).hexdigest()


def _module_text(main: Loop, dtype: str) -> str:
    """Returns the LLVM IR of a loop for a dtype of `Numbers`, and of the loops that it calls."""
    written: dict[str, str] = {}
    metadata = ['!0 = !{!"llvm.loop.vectorize.enable", i1 true}']
    pending = [main]
    while pending:
        each = pending.pop()
        if each.function.__name__ not in written:
            writer = _Writer(each, each is main, dtype, len(metadata))
            written[each.function.__name__] = writer.text()
            metadata += writer.metadata
            pending += writer.called
    declared = (
        "declare ptr @memcpy(ptr, ptr, i64)\n"
        "declare i32 @memcmp(ptr, ptr, i64)\ndeclare i64 @llvm.smin.i64(i64, i64)\n"
        "declare i64 @llvm.smax.i64(i64, i64)\ndeclare i64 @llvm.cttz.i64(i64, i1)\n"
        "declare float @hypotf(float, float)\ndeclare double @hypot(double, double)\n"
    )
    for kind, (suffix, ending) in _SUFFIXES.items():
        declared += "".join(f"declare {kind} @llvm.{name}.{suffix}({kind})\n" for name in ("fabs", "sqrt"))
        declared += "".join(f"declare {kind} @{name}{ending}({kind})\n" for name in _FUNCTIONS)
    if not _OF_PYTHON.isdisjoint(main.params.values()):
        declared += _CALLS_OF_PYTHON
    return "\n".join([declared, *written.values(), *metadata])


_CALLS_OF_PYTHON = """
declare ptr @PyList_GetItem(ptr, i64)
declare ptr @PyUnicode_AsUTF8AndSize(ptr, ptr)
declare ptr @PyBytes_AsString(ptr)
declare i64 @PyBytes_Size(ptr)
declare ptr @PyBytes_FromStringAndSize(ptr, i64)
declare void @Py_DecRef(ptr)

define internal i64 @read_string(ptr %list, i64 %i, i64 %is.text, ptr %target, i64 %room) alwaysinline {
  %place = alloca i64
  %item = call ptr @PyList_GetItem(ptr %list, i64 %i)
  %missing = icmp eq ptr %item, null
  br i1 %missing, label %failed, label %found
found:
  %is.bytes = icmp eq i64 %is.text, 0
  br i1 %is.bytes, label %bytes, label %text
text:
  %text.data = call ptr @PyUnicode_AsUTF8AndSize(ptr %item, ptr %place)
  %text.size = load i64, ptr %place
  br label %read
bytes:
  %bytes.data = call ptr @PyBytes_AsString(ptr %item)
  %bytes.size = call i64 @PyBytes_Size(ptr %item)
  br label %read
read:
  %data = phi ptr [%text.data, %text], [%bytes.data, %bytes]
  %size = phi i64 [%text.size, %text], [%bytes.size, %bytes]
  %wrong = icmp eq ptr %data, null
  br i1 %wrong, label %failed, label %good
good:
  %fits = icmp sle i64 %size, %room
  br i1 %fits, label %copied, label %done
copied:
  call ptr @memcpy(ptr %target, ptr %data, i64 %size)
  br label %done
done:
  ret i64 %size
failed:
  ret i64 -1
}

define internal i64 @write_bytes(ptr %objects, i64 %i, ptr %data, i64 %size) alwaysinline {
  %new = call ptr @PyBytes_FromStringAndSize(ptr %data, i64 %size)
  %missing = icmp eq ptr %new, null
  br i1 %missing, label %failed, label %made
made:
  %place = getelementptr ptr, ptr %objects, i64 %i
  %old = load ptr, ptr %place
  store ptr %new, ptr %place
  %was.empty = icmp eq ptr %old, null
  br i1 %was.empty, label %written, label %replaced
replaced:
  call void @Py_DecRef(ptr %old)
  br label %written
written:
  ret i64 0
failed:
  ret i64 -1
}
"""
_PYTHON_FUNCTIONS = re.findall(r"declare .*@(\w+)", _CALLS_OF_PYTHON)


_ARITHMETIC = {
    ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"), ast.Div: ("", "fdiv"),
    ast.BitAnd: ("and", ""), ast.BitOr: ("or", ""), ast.BitXor: ("xor", ""), ast.LShift: ("shl", ""),
    ast.RShift: ("lshr", ""), ast.FloorDiv: ("udiv", ""), ast.Mod: ("urem", ""),
}  # fmt: skip
_COMPARISONS = {
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"),
}  # fmt: skip


class _Writer:
    """Writes the LLVM IR of one loop. Variables live in stack slots, which LLVM turns into registers."""

    def __init__(self, loop: Loop, is_main: bool, dtype: str, first_metadata: int) -> None:
        self._loop, self._is_main, self._first_metadata = loop, is_main, first_metadata
        self._float, self._element_kind, self._extended = _NUMBERS[dtype]
        self._is_complex = self._element_kind.startswith("<")
        self._lines: list[str] = []
        self._slots: dict[str, str] = {}  # the types of local variables
        self._count = 0
        self._ends: list[tuple[str, str]] = []  # the labels that `continue` and `break` jump to
        self._open = True  # the block being written has no end yet
        self.called: list[Loop] = []
        self.metadata: list[str] = []  # of loops in vectors
        self._group = ""  # of the accesses to elements in the loop in vectors that is being written

    def text(self) -> str:
        tree: Any = ast.parse(textwrap.dedent(inspect.getsource(self._loop.function))).body[0]
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        params = []
        for name, kind in self._loop.params.items():
            passed = "ptr noundef" if kind in _ELEMENTS else _RETURNED[kind]
            params.append(f"{passed} %{name}" if kind in _ELEMENTS else f"{passed} %{name}.in")
            if kind not in _ELEMENTS:
                self._store(ast.Name(name), self._from_outside(f"%{name}.in", passed))
        self._block(body)
        if self._open:
            self._emit("ret void" if self._loop.returns == "None" else "unreachable")
        slots = [f"  %{name} = alloca {kind}" for name, kind in self._slots.items()]
        symbol = "{name}" if self._is_main else self._loop.function.__name__
        kind = _RETURNED[self._loop.returns]
        linkage = "" if self._is_main else "internal "
        inlined = "" if self._is_main else " alwaysinline"
        head = f'define {linkage}{kind} @"{symbol}"({", ".join(params)}){inlined} {{\nblock.first:'
        return "\n".join([head, *slots, *self._lines, "}\n"])

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def _emit(self, line: str) -> None:
        if self._open:
            self._lines.append(f"  {line}")

    def _value(self, line: str) -> str:
        self._count += 1
        self._emit(f"%.{self._count} = {line}")
        return f"%.{self._count}"

    def _label(self) -> str:
        self._count += 1
        return f"block.{self._count}"

    def _jump(self, label: str) -> None:
        self._emit(f"br label %{label}")
        self._open = False

    def _branch(self, test: str, yes: str, no: str) -> None:
        self._emit(f"br i1 {test}, label %{yes}, label %{no}")
        self._open = False

    def _begin(self, label: str) -> None:
        if self._open:
            self._jump(label)
        self._lines.append(f"{label}:")
        self._open = True

    # ---- statements --------------------------------------------------------------------------------------------------

    def _block(self, statements: list[Any]) -> None:
        for statement in statements:
            getattr(self, f"_write_{type(statement).__name__.lower()}")(statement)

    def _write_pass(self, node: ast.Pass) -> None:
        pass

    def _write_expr(self, node: ast.Expr) -> None:
        self._expression(node.value)

    def _write_assign(self, node: Any) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            values = [self._expression(v) for v in node.value.elts]
            for name, value in zip(target.elts, values, strict=True):
                self._store(name, value)
            return
        self._store(target, self._expression(node.value))

    def _write_augassign(self, node: Any) -> None:
        load = ast.Subscript(node.target.value, node.target.slice) if isinstance(node.target, ast.Subscript) else (
            ast.Name(node.target.id)
        )  # fmt: skip
        self._store(node.target, self._expression(ast.BinOp(load, node.op, node.value)))

    def _store(self, target: Any, value: tuple[str, str]) -> None:
        text, kind = value
        if isinstance(target, ast.Name):
            if kind == "i1":
                text, kind = self._value(f"zext i1 {text} to i64"), "i64"
            self._slots.setdefault(target.id, kind)
            self._emit(f"store {kind} {text}, ptr %{target.id}")
            return
        pointer, element, _ = self._element(target)
        if kind == self._float and element.startswith("i"):
            text, kind = value = self._value(f"fptosi {kind} {text} to i64"), "i64"
        if element in ("i8", "i32"):
            text = self._value(f"trunc i64 {self._integer(value)} to {element}")
        elif element.startswith("<"):
            text = self._to_complex(value)
        elif element in ("float", "double"):
            text = self._to_float(value)
        self._emit(f"store {element} {text}, ptr {pointer}, align 1{self._access()}")

    def _access(self) -> str:
        """Returns the metadata of an access to an element."""
        return f", !llvm.access.group {self._group}" if self._group else ""

    def _write_return(self, node: ast.Return) -> None:
        if node.value is None:
            self._emit("ret void")
        else:
            value = self._expression(node.value)
            self._emit(f"ret {self._typed_argument(value, self._loop.returns)}")
        self._open = False

    def _write_if(self, node: ast.If) -> None:
        yes, no, after = self._label(), self._label(), self._label()
        self._branch(self._test(node.test), yes, no)
        self._begin(yes)
        self._block(node.body)
        if self._open:
            self._jump(after)
        self._begin(no)
        self._block(node.orelse)
        self._begin(after)

    def _write_while(self, node: ast.While) -> None:
        head, body, after = self._label(), self._label(), self._label()
        self._begin(head)
        self._branch(self._test(node.test), body, after)
        self._begin(body)
        self._ends.append((head, after))
        self._block(node.body)
        self._ends.pop()
        if self._open:
            self._jump(head)
        self._begin(after)

    def _write_for(self, node: Any) -> None:
        """Writes a loop over a range with a constant step."""
        bounds = [self._integer(self._expression(a)) for a in node.iter.args]
        start, stop, step = ["0", *bounds, "1"] if len(bounds) == 1 else [*bounds, "1"][:3]
        is_simd = node.iter.func.id == "simd_range" and not self._is_complex
        if is_simd:
            self._group = f"!{self._first_metadata + len(self.metadata) + 1}"
        name = node.target.id
        self._count += 1
        counter = f"{name}.{self._count}"  # the body may assign to the variable
        self._slots[name] = self._slots[counter] = "i64"
        self._emit(f"store i64 {start}, ptr %{counter}")
        head, body, again, after = self._label(), self._label(), self._label(), self._label()
        self._begin(head)
        now = self._value(f"load i64, ptr %{counter}")
        self._branch(self._value(f"icmp {'sgt' if step[0] == '-' else 'slt'} i64 {now}, {stop}"), body, after)
        self._begin(body)
        self._emit(f"store i64 {now}, ptr %{name}")
        self._ends.append((again, after))
        self._block(node.body)
        self._ends.pop()
        self._begin(again)
        self._emit(f"store i64 {self._value(f'add i64 {now}, {step}')}, ptr %{counter}")
        metadata = ""
        if is_simd:
            number, accesses = (f"!{self._first_metadata + len(self.metadata) + i}" for i in (0, 2))
            self.metadata += [
                f"{number} = distinct !{{{number}, !0, {accesses}}}",
                f"{self._group} = distinct !{{}}",
                f'{accesses} = !{{!"llvm.loop.parallel_accesses", {self._group}}}',
            ]
            metadata, self._group = f", !llvm.loop {number}", ""
        self._emit(f"br label %{head}{metadata}")
        self._open = False
        self._begin(after)

    def _write_break(self, node: ast.Break) -> None:
        self._jump(self._ends[-1][1])

    def _write_continue(self, node: ast.Continue) -> None:
        self._jump(self._ends[-1][0])

    # ---- expressions -------------------------------------------------------------------------------------------------

    def _integer(self, value: tuple[str, str]) -> str:
        text, kind = value
        return self._value(f"zext i1 {text} to i64") if kind == "i1" else text

    def _to_float(self, value: tuple[str, str]) -> str:
        """Writes the conversion of a number to the loop's floats."""
        text, kind = value
        return text if kind == self._float else self._value(f"sitofp i64 {self._integer(value)} to {self._float}")

    def _to_complex(self, value: tuple[str, str]) -> str:
        """Writes the conversion of a number to the loop's complex numbers, which are vectors of two floats."""
        return value[0] if value[1] == self._element_kind else self._complex_of(self._to_float(value), "0.0")

    def _from_outside(self, text: str, kind: str) -> tuple[str, str]:
        """Writes the conversion of a float64 from outside to the loop's floats."""
        if kind == "double" and self._float == "float":
            return self._value(f"fptrunc double {text} to float"), "float"
        return text, kind

    def _typed_argument(self, value: tuple[str, str], kind: str) -> str:
        """Writes the conversion of a number to the type in which loops pass and return it."""
        if kind == "int":
            return f"i64 {self._integer(value)}"
        text = self._to_float(value)
        return f"double {self._value(f'fpext float {text} to double') if self._float == 'float' else text}"

    def _test(self, node: ast.expr) -> str:
        text, kind = self._expression(node)
        return text if kind == "i1" else self._value(f"icmp ne i64 {text}, 0")

    def _element(self, node: Any) -> tuple[str, str, str]:
        """Returns the address of an element, its type, and how it becomes an integer."""
        element, extended = _ELEMENTS[self._loop.params[node.value.id]]
        if not element:
            element, extended = self._element_kind, self._extended
        index = self._integer(self._expression(node.slice))
        return self._value(f"getelementptr {element}, ptr %{node.value.id}, i64 {index}"), element, extended

    def _expression(self, node: Any) -> tuple[str, str]:
        return getattr(self, f"_read_{type(node).__name__.lower()}")(node)

    def _read_constant(self, node: Any) -> tuple[str, str]:
        if isinstance(node.value, float):
            value = np.float64(node.value if self._float == "double" else np.float32(node.value))
            return f"0x{value.view(np.uint64):016X}", self._float
        return _signed_text(int(node.value)), "i64"

    def _read_name(self, node: ast.Name) -> tuple[str, str]:
        if node.id in self._slots:
            kind = self._slots[node.id]
            return self._value(f"load {kind}, ptr %{node.id}"), kind
        return self._read_constant(ast.Constant(self._loop.function.__globals__[node.id]))

    def _read_subscript(self, node: ast.Subscript) -> tuple[str, str]:
        pointer, element, extended = self._element(node)
        loaded = self._value(f"load {element}, ptr {pointer}, align 1{self._access()}")
        if extended:
            return self._value(f"{extended} {element} {loaded} to i64"), "i64"
        return loaded, element

    def _read_unaryop(self, node: ast.UnaryOp) -> tuple[str, str]:
        if isinstance(node.op, ast.Invert):
            return self._value(f"xor i64 {self._integer(self._expression(node.operand))}, -1"), "i64"
        if isinstance(node.op, ast.Not):
            return self._value(f"xor i1 {self._test(node.operand)}, true"), "i1"
        if isinstance(node.operand, ast.Constant):
            value: Any = node.operand.value
            return self._read_constant(ast.Constant(-value))
        text, kind = self._expression(node.operand)
        return self._value(f"sub i64 0, {text}" if kind == "i64" else f"fneg {kind} {text}"), kind

    def _read_binop(self, node: ast.BinOp) -> tuple[str, str]:
        left, right = self._expression(node.left), self._expression(node.right)
        whole, floating = _ARITHMETIC[type(node.op)]
        kinds = left[1], right[1]
        if self._is_complex and self._element_kind in kinds:
            return self._write_complex(floating, self._to_complex(left), self._to_complex(right)), self._element_kind
        if self._float in kinds or not whole:
            a, b = self._to_float(left), self._to_float(right)
            return self._value(f"{floating} {self._float} {a}, {b}"), self._float
        return self._value(f"{whole} i64 {self._integer(left)}, {self._integer(right)}"), "i64"

    def _write_complex(self, operation: str, a: str, b: str) -> str:
        kind, real = self._element_kind, self._float
        if operation in ("fadd", "fsub"):
            return self._value(f"{operation} {kind} {a}, {b}")
        (re, im), (re2, im2) = parts = [
            [self._value(f"extractelement {kind} {each}, i64 {i}") for i in (0, 1)] for each in (a, b)
        ]  # fmt: skip
        if operation == "fdiv":
            sizes = [self._absolute_value(x) for x in (re2, im2)]  # after this division no square overflows
            size = self._value(f"fadd {real} {sizes[0]}, {sizes[1]}")
            (re, im), (re2, im2) = [[self._value(f"fdiv {real} {x}, {size}") for x in each] for each in parts]
            im2 = self._value(f"fneg {real} {im2}")
        products = [self._value(f"fmul {real} {x}, {y}") for x, y in ((re, re2), (im, im2), (re, im2), (im, re2))]
        out = [self._value(f"{op} {real} {products[i]}, {products[i + 1]}") for op, i in (("fsub", 0), ("fadd", 2))]
        if operation == "fdiv":
            squares = [self._value(f"fmul {real} {x}, {x}") for x in (re2, im2)]
            divisor = self._value(f"fadd {real} {squares[0]}, {squares[1]}")
            out = [self._value(f"fdiv {real} {x}, {divisor}") for x in out]
        return self._complex_of(*out)

    def _complex_of(self, re: str, im: str) -> str:
        kind, real = self._element_kind, self._float
        first = self._value(f"insertelement {kind} poison, {real} {re}, i64 0")
        return self._value(f"insertelement {kind} {first}, {real} {im}, i64 1")

    def _absolute_value(self, text: str) -> str:
        return self._value(f"call {self._float} @llvm.fabs.{_SUFFIXES[self._float][0]}({self._float} {text})")

    def _read_compare(self, node: ast.Compare) -> tuple[str, str]:
        values = [self._expression(v) for v in (node.left, *node.comparators)]
        out = ""
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            whole, floating = _COMPARISONS[type(op)]
            if self._float in (left[1], right[1]):
                test = self._value(f"fcmp {floating} {self._float} {self._to_float(left)}, {self._to_float(right)}")
            else:
                test = self._value(f"icmp {whole} i64 {self._integer(left)}, {self._integer(right)}")
            out = self._value(f"and i1 {out}, {test}") if out else test
        return out, "i1"

    def _read_boolop(self, node: ast.BoolOp) -> tuple[str, str]:
        """Writes `and` and `or`, which do not look at the right if the left decides."""
        self._count += 1
        slot = f"t{self._count}.bool"
        self._slots[slot] = "i1"
        done = self._label()
        for i, operand in enumerate(node.values):
            test = self._test(operand)
            self._emit(f"store i1 {test}, ptr %{slot}")
            if i + 1 < len(node.values):
                following = self._label()
                both = (following, done) if isinstance(node.op, ast.And) else (done, following)
                self._branch(test, *both)
                self._begin(following)
        self._begin(done)
        return self._value(f"load i1, ptr %{slot}"), "i1"

    def _read_ifexp(self, node: ast.IfExp) -> tuple[str, str]:
        self._count += 1
        slot = f"t{self._count}.if"
        yes, no, after = self._label(), self._label(), self._label()
        self._branch(self._test(node.test), yes, no)
        for label, branch in ((yes, node.body), (no, node.orelse)):
            self._begin(label)
            text, kind = self._expression(branch)
            if kind == "i1":
                text, kind = self._integer((text, kind)), "i64"
            self._slots[slot] = kind
            self._emit(f"store {kind} {text}, ptr %{slot}")
            self._jump(after)
        self._begin(after)
        return self._value(f"load {kind}, ptr %{slot}"), kind

    def _read_call(self, node: Any) -> tuple[str, str]:
        name = node.func.id
        if name in ("min", "max"):
            a, b = (self._integer(self._expression(v)) for v in node.args)
            return self._value(f"call i64 @llvm.s{name}.i64(i64 {a}, i64 {b})"), "i64"
        if name == "float":
            return self._to_float(self._expression(node.args[0])), self._float
        if name == "int":
            return self._value(f"fptosi {self._float} {self._expression(node.args[0])[0]} to i64"), "i64"
        if name in _FUNCTIONS:
            text = self._to_float(self._expression(node.args[0]))
            function = name + _SUFFIXES[self._float][1]
            return self._value(f"call {self._float} @{function}({self._float} {text})"), self._float
        if name in ("sqrt", "abs"):
            text, kind = self._expression(node.args[0])
            if kind != self._float:  # the absolute value of a complex number
                parts = [self._value(f"extractelement {kind} {text}, i64 {i}") for i in (0, 1)]
                function = f"hypot{_SUFFIXES[self._float][1]}"
                pair = ", ".join(f"{self._float} {part}" for part in parts)
                return self._value(f"call {self._float} @{function}({pair})"), self._float
            if name == "abs":
                return self._absolute_value(text), kind
            return self._value(f"call {kind} @llvm.sqrt.{_SUFFIXES[kind][0]}({kind} {text})"), kind
        if name in ("copy", "equal", "order"):
            first, i, second, j, size = node.args
            a, b = (
                self._value(f"getelementptr i8, ptr %{buffer.id}, i64 {self._integer(self._expression(index))}")
                for buffer, index in ((first, i), (second, j))
            )
            count = self._integer(self._expression(size))
            if name == "copy":
                return self._value(f"call ptr @memcpy(ptr {a}, ptr {b}, i64 {count})"), "ptr"
            compared = self._value(f"call i32 @memcmp(ptr {a}, ptr {b}, i64 {count})")
            if name == "equal":
                return self._value(f"icmp eq i32 {compared}, 0"), "i1"
            return self._value(f"sext i32 {compared} to i64"), "i64"
        if name in ("read_string", "write_bytes"):
            objects, *numbers, buffer, at, size = node.args
            passed = [f"i64 {self._integer(self._expression(number))}" for number in (*numbers, at, size)]
            passed[-2] = f"ptr {self._value(f'getelementptr i8, ptr %{buffer.id}, {passed[-2]}')}"
            return self._value(f"call i64 @{name}(ptr %{objects.id}, {', '.join(passed)})"), "i64"
        if name == "trailing_zeros":
            value = self._integer(self._expression(node.args[0]))
            return self._value(f"call i64 @llvm.cttz.i64(i64 {value}, i1 true)"), "i64"
        if name == "word":
            buffer, at, size = node.args
            pointer = self._value(f"getelementptr i8, ptr %{buffer.id}, i64 {self._integer(self._expression(at))}")
            bits = 8 * size.value
            loaded = self._value(f"load i{bits}, ptr {pointer}, align 1")
            return (loaded if bits == 64 else self._value(f"zext i{bits} {loaded} to i64")), "i64"
        called = self._loop.function.__globals__[name]
        self.called.append(called)
        args = []
        for value, kind in zip(node.args, called.params.values(), strict=True):
            is_buffer = kind in _ELEMENTS
            args.append(f"ptr %{value.id}" if is_buffer else self._typed_argument(self._expression(value), kind))
        if called.returns == "None":
            self._emit(f"call void @{name}({', '.join(args)})")
            return "", "void"
        kind = _RETURNED[called.returns]
        return self._from_outside(self._value(f"call {kind} @{name}({', '.join(args)})"), kind)


def _signed_text(value: int) -> str:
    """Returns an integer of 64 bits as LLVM writes it."""
    value &= MASK
    return str(value - (1 << 64) if value >> 63 else value)
