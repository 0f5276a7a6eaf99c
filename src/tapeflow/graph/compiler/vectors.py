"""Element forms, memory and reductions as LLVM instructions on vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import HALVES, Element, ElementBuilder, Unsupported
from tapeflow.core.types.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from tapeflow.graph.compiler import functions
from tapeflow.graph.compiler.instructions import I1, I8, I16, I32, I64, POINTER, allocated, declared

# The types of numbers in memory. A bool is a byte in memory and a bit in a register.
MEMORY = {
    float32: ir.FloatType(), float64: ir.DoubleType(), float16: ir.HalfType(), bfloat16: I16, bool_: I8, int8: I8,
    int16: I16, int32: I32, int64: I64, uint8: I8, uint16: I16, uint32: I32, uint64: I64,
}  # fmt: skip
_IDENTITIES = {"add": 0.0, "maximum": -math.inf, "minimum": math.inf}
_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "neg": "fneg"}
_INTRINSICS = {
    "abs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "sqrt": "sqrt",
    "copysign": "copysign", "fma": "fma",
}  # fmt: skip
_INTEGERS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "bit_and": "and_",
    "bit_or": "or_",
    "bit_xor": "xor",
    "shift_left": "shl",
}
_SIGNED = {"quotient": "sdiv", "remainder": "srem", "shift_right": "ashr"}
_UNSIGNED = {"quotient": "udiv", "remainder": "urem", "shift_right": "lshr"}
_SIGNS = {"equal": "==", "less": "<", "less_equal": "<="}
# The largest error, in tenths of a unit of the last digit, of the SLEEF function that ATen calls.
_ERRORS = {"sin": 35, "cos": 35, "erfc": 15}
_SLEEF_NAMES = {"next_after": "nextafter"}


class Vectors(ElementBuilder):
    """Primitives as instructions that compute `lanes` elements at once.

    Args:
        module: the module that functions are declared in.
        lanes: the number of elements; 1 for plain numbers.

    Attributes:
        block: the builder of the instructions.
    """

    def __init__(self, module: ir.Module, lanes: int) -> None:
        self.module = module
        self.lanes = lanes
        self.block: ir.IRBuilder

    @property
    def one(self) -> Vectors:
        """The builder of single elements at the same place."""
        return self.of_lanes(1)

    def of_lanes(self, lanes: int) -> Vectors:
        """Returns the builder of shorter or longer vectors at the same place."""
        other = Vectors(self.module, lanes)
        other.block = self.block
        return other

    # ---- types ---------------------------------------------------------------------------------------------------

    def type(self, dtype: DType) -> Any:
        """Returns the type that holds elements of a dtype in registers."""
        if dtype not in MEMORY:
            raise Unsupported(f"elements of {dtype.name} are not compiled")
        kind = MEMORY[float32] if dtype in HALVES else I1 if dtype is bool_ else MEMORY[dtype]
        return self.vector(kind)

    def number_type(self, dtype: DType) -> Any:
        """Returns the type that holds one element of a dtype in a register."""
        kind = self.type(dtype)
        return kind if self.lanes == 1 else kind.element

    def vector(self, kind: Any) -> Any:
        """Returns the type of `lanes` numbers."""
        return kind if self.lanes == 1 else ir.VectorType(kind, self.lanes)

    def splat(self, number: Any) -> Any:
        """Returns a vector with equal elements."""
        if self.lanes == 1:
            return number
        vector = self.block.insert_element(ir.Constant(ir.VectorType(number.type, self.lanes), ir.Undefined), number,
                                           ir.Constant(I32, 0))  # fmt: skip
        zeros = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        return self.block.shuffle_vector(vector, vector, zeros)

    def mask_of_first(self, count: Any) -> Any:
        """Returns the mask of the first elements, at most `lanes`."""
        numbers = ir.Constant(ir.VectorType(I32, self.lanes), list(range(self.lanes)))
        return self.block.icmp_signed("<", numbers, self.splat(self.block.trunc(count, I32)))

    def _constant(self, kind: Any, number: float | int) -> Any:
        return ir.Constant(self.vector(kind), number if self.lanes == 1 else [number] * self.lanes)

    def _zero(self, kind: Any) -> Any:
        return ir.Constant(kind, None)

    def element_of(self, x: Element, lane: int) -> Element:
        """Returns one element of a vector."""
        return x if self.lanes == 1 else Element(self.block.extract_element(x.value, ir.Constant(I32, lane)), x.dtype)

    # ---- memory --------------------------------------------------------------------------------------------------

    def loaded(self, value: Any, dtype: DType) -> Element:
        """Returns the element for numbers in their form in memory."""
        if dtype is bool_:
            return Element(self.block.icmp_unsigned("!=", value, self._zero(value.type)), dtype)
        if dtype is float16:
            return Element(self.block.fpext(value, self.type(dtype)), dtype)
        if dtype is bfloat16:
            wide = self.block.zext(value, self.vector(I32))
            shifted = self.block.shl(wide, self._constant(I32, 16))
            return Element(self.block.bitcast(shifted, self.type(dtype)), dtype)
        return Element(value, dtype)

    def stored(self, x: Element) -> Any:
        """Returns numbers as they go to memory."""
        if x.dtype is bool_:
            return self.block.zext(x.value, self.vector(I8))
        if x.dtype is float16:
            return self.block.fptrunc(x.value, self.vector(ir.HalfType()))
        if x.dtype is bfloat16:
            return self._bfloat16_bits(x.value)
        return x.value

    def _bfloat16_bits(self, value: Any) -> Any:
        """Rounds float32 numbers to the nearest bfloat16, ties to even, as bits."""
        bits = self.block.bitcast(value, self.vector(I32))
        odd = self.block.and_(self.block.lshr(bits, self._constant(I32, 16)), self._constant(I32, 1))
        up = self.block.add(self.block.add(bits, odd), self._constant(I32, 0x7FFF))
        up = self.block.lshr(up, self._constant(I32, 16))
        is_nan = self.block.fcmp_unordered("uno", value, value)
        return self.block.trunc(self.block.select(is_nan, self._constant(I32, 0x7FC0), up), self.vector(I16))

    def moved(self, pointer: Any, offset: Any, dtype: DType) -> Any:
        """Returns the address of the element at an offset in memory."""
        return self.block.gep(pointer, [offset], source_etype=MEMORY[dtype])

    def load(self, pointer: Any, dtype: DType, mask: Any = None) -> Element:
        """Returns the elements at an address.

        Args:
            pointer: the address.
            dtype: the dtype of the elements.
            mask: the elements that are read, or the number of first ones. The others are 0. A number is faster: a
                processor waits for memory that was just written with a mask.
        """
        kind = self.vector(MEMORY[dtype])
        if mask is None:
            return self.loaded(self.block.load(pointer, typ=kind, align=dtype.size), dtype)
        if mask == 1:
            return self.load_strided(pointer, 1, 1, dtype)
        if isinstance(mask, int):
            first = self.block.load(pointer, typ=ir.VectorType(MEMORY[dtype], mask), align=dtype.size)
            return self.loaded(self._resized(first, self.lanes), dtype)
        load = self._masked("load", dtype, kind, [POINTER, I32, mask.type, kind])
        align = ir.Constant(I32, dtype.size)
        return self.loaded(self.block.call(load, [pointer, align, mask, self._zero(kind)]), dtype)

    def load_one(self, pointer: Any, dtype: DType) -> Element:
        """Returns the element at an address, in each lane."""
        return self.loaded(self.splat(self.block.load(pointer, typ=MEMORY[dtype], align=dtype.size)), dtype)

    def store(self, x: Element, pointer: Any, mask: Any = None) -> None:
        """Stores elements at an address; with a mask or a number of first elements, only some."""
        value, align = self.stored(x), x.dtype.size
        if mask == 1:
            self.store_strided(x, pointer, 1, 1)
            return
        if mask is None or isinstance(mask, int):
            self.block.store(value if mask is None else self._resized(value, mask), pointer, align=align)
            return
        store = self._masked("store", x.dtype, ir.VoidType(), [value.type, POINTER, I32, mask.type])
        self.block.call(store, [value, pointer, ir.Constant(I32, align), mask])

    def _resized(self, value: Any, count: int) -> Any:
        """Returns a vector with its first elements, and then zeros."""
        size = value.type.count
        places = ir.Constant(ir.VectorType(I32, count), [min(i, size) for i in range(count)])
        return self.block.shuffle_vector(value, self._zero(value.type), places)

    def load_strided(self, pointer: Any, step: int, count: int, dtype: DType) -> Element:
        """Returns some elements that are `step` elements apart. The others are 0."""
        kind = MEMORY[dtype]
        loaded = self._zero(self.vector(kind))
        for i in range(count):
            item = self.block.load(self._apart(pointer, i * step, dtype), typ=kind, align=dtype.size)
            loaded = item if self.lanes == 1 else self.block.insert_element(loaded, item, ir.Constant(I32, i))
        return self.loaded(loaded, dtype)

    def store_strided(self, x: Element, pointer: Any, step: int, count: int) -> None:
        """Stores some elements `step` elements apart."""
        value = self.stored(x)
        for i in range(count):
            item = value if self.lanes == 1 else self.block.extract_element(value, ir.Constant(I32, i))
            self.block.store(item, self._apart(pointer, i * step, x.dtype), align=x.dtype.size)

    def _apart(self, pointer: Any, distance: int, dtype: DType) -> Any:
        return self.moved(pointer, ir.Constant(I64, distance), dtype) if distance else pointer

    def _masked(self, what: str, dtype: DType, result: Any, arguments: Sequence[Any]) -> Any:
        letter = "i" if isinstance(MEMORY[dtype], ir.IntType) else "f"
        return declared(self.module, f"llvm.masked.{what}.v{self.lanes}{letter}{8 * dtype.size}.p0", result, arguments)

    # ---- reductions ----------------------------------------------------------------------------------------------

    def identity(self, name: str, dtype: DType) -> Element:
        """Returns the identity of a reduction by `add`, `maximum` or `minimum`."""
        return self.number(_IDENTITIES[name], dtype)

    # ---- primitives ----------------------------------------------------------------------------------------------

    def emit_number(self, value: Any, dtype: DType) -> Any:
        kind = ir.FloatType() if dtype in HALVES else I1 if dtype is bool_ else MEMORY[dtype]
        return self._constant(kind, _rounded(float(value), dtype) if dtype.is_floating else int(value))

    def emit(self, name: str, operands: Sequence[Any], dtype: DType) -> Any:
        if dtype.is_floating:
            if name in functions.FUNCTIONS and dtype is not float64 and target().has_fma:
                return functions.FUNCTIONS[name](self, Element(operands[0], float32)).value
            result = self._of_floats(name, operands)
            if name not in ("asinh", "acosh"):
                return result
            dtype = dtype if dtype is float64 else float32
            return functions.of_large(self, Element(result, dtype), Element(operands[0], dtype)).value
        if name in _INTEGERS:
            return getattr(self.block, _INTEGERS[name])(*operands)
        if name == "neg":
            return self.block.neg(*operands)
        if name == "abs":
            (x,) = operands
            is_negative = self.block.icmp_signed("<", x, self._zero(x.type))
            return x if dtype.is_unsigned else self.block.select(is_negative, self.block.neg(x), x)
        return getattr(self.block, (_UNSIGNED if dtype.is_unsigned else _SIGNED)[name])(*operands)

    def _of_floats(self, name: str, values: Sequence[Any]) -> Any:
        if name in _ARITHMETIC:
            return getattr(self.block, _ARITHMETIC[name])(*values)
        if name in _INTRINSICS:
            return self.block.call(self._intrinsic(_INTRINSICS[name], values[0].type, len(values)), values)
        return self._sleef(name, values)

    def _intrinsic(self, name: str, kind: Any, count: int) -> Any:
        number = kind if self.lanes == 1 else kind.element
        suffix = "f64" if number == ir.DoubleType() else "f32"
        symbol = f"llvm.{name}.{suffix if self.lanes == 1 else f'v{self.lanes}{suffix}'}"
        return declared(self.module, symbol, kind, [kind] * count)

    def _sleef(self, name: str, values: Sequence[Any]) -> Any:
        """Calls a function of SLEEF, if necessary on parts of a vector."""
        kind = values[0].type
        number = kind if self.lanes == 1 else kind.element
        is_double = number == ir.DoubleType()
        lanes = target().lanes // (2 if is_double else 1)
        error = "" if name == "next_after" else f"_u{_ERRORS.get(name, 10)}"
        symbol = f"Sleef_{_SLEEF_NAMES.get(name, name)}{'d' if is_double else 'f'}{lanes}{error}"
        if not target().has(symbol):
            raise Unsupported(f"{symbol} is missing")
        vector = ir.VectorType(number, lanes)
        function = declared(self.module, symbol, vector, [vector] * len(values))
        function.attributes.add("nounwind")
        parts = [
            self.block.call(function, [self._part(v, lanes, i) for v in values])
            for i in range(max(1, self.lanes // lanes))
        ]
        return self._joined(parts)

    def _part(self, value: Any, lanes: int, i: int) -> Any:
        """Returns a part of a value, a vector of `lanes` numbers. Repeats a shorter value."""
        if self.lanes == lanes:
            return value
        if self.lanes == 1:
            undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
            value = self.block.insert_element(undefined, value, ir.Constant(I32, 0))
        wanted = [(i * lanes + j) % self.lanes for j in range(lanes)]
        return self.block.shuffle_vector(value, value, ir.Constant(ir.VectorType(I32, lanes), wanted))

    def _joined(self, parts: list[Any]) -> Any:
        """Concatenates vectors to a vector of `lanes` numbers."""
        if self.lanes == 1:
            return self.block.extract_element(parts[0], ir.Constant(I32, 0))
        while len(parts) > 1:
            count = 2 * parts[0].type.count
            order = ir.Constant(ir.VectorType(I32, count), list(range(count)))
            parts = [self.block.shuffle_vector(a, b, order) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        if parts[0].type.count > self.lanes:
            first = ir.Constant(ir.VectorType(I32, self.lanes), list(range(self.lanes)))
            return self.block.shuffle_vector(parts[0], parts[0], first)
        return parts[0]

    def emit_compare(self, name: str, x: Any, y: Any, dtype: DType) -> Any:
        if dtype.is_floating:
            return self.block.fcmp_ordered(_SIGNS[name], x, y)
        unsigned = dtype.is_unsigned or dtype is bool_
        return (self.block.icmp_unsigned if unsigned else self.block.icmp_signed)(_SIGNS[name], x, y)

    def emit_select(self, condition: Any, x: Any, y: Any) -> Any:
        return self.block.select(condition, x, y)

    def emit_convert(self, value: Any, source: DType, dtype: DType) -> Any:
        kind, b = self.type(dtype), self.block
        unsigned = source.is_unsigned or source is bool_
        if source.is_floating and dtype.is_floating:
            if value.type != kind:
                value = b.fpext(value, kind) if dtype is float64 else b.fptrunc(value, kind)
            return self.emit_rounded(value, dtype)
        if dtype.is_floating:
            return self.emit_rounded((b.uitofp if unsigned else b.sitofp)(value, kind), dtype)
        if source.is_floating:
            return b.fptosi(value, kind)
        if source is not bool_ and source.size >= dtype.size:
            return b.trunc(value, kind) if source.size > dtype.size else value
        return (b.zext if unsigned else b.sext)(value, kind)

    def emit_bits(self, value: Any, dtype: DType) -> Any:
        return self.block.bitcast(value, self.type(dtype))

    def emit_rounded(self, value: Any, dtype: DType) -> Any:
        return self.loaded(self.stored(Element(value, dtype)), dtype).value if dtype in HALVES else value


class Register:
    """Elements that instructions change. LLVM replaces them by loop-carried values.

    Args:
        vectors: the builder of its instructions.
        dtype: the dtype of the elements.
        first: the initial elements.
    """

    def __init__(self, vectors: Vectors, dtype: DType, first: Element | None = None) -> None:
        self._vectors, self._dtype, b = vectors, dtype, vectors.block
        with b.goto_entry_block():
            self._address = allocated(b, vectors.type(dtype))
        if first is not None:
            self.store(first)

    def load(self) -> Element:
        """Returns the elements."""
        value = self._vectors.block.load(self._address, typ=self._vectors.type(self._dtype))
        return Element(value, self._dtype)

    def store(self, x: Element) -> None:
        """Changes the elements."""
        self._vectors.block.store(x.value, self._address)


class Accumulator(Register):
    """A register that combines elements.

    Args:
        vectors: the builder of its instructions.
        name: `add`, `maximum` or `minimum`.
        dtype: the dtype of the elements.
    """

    def __init__(self, vectors: Vectors, name: str, dtype: DType) -> None:
        super().__init__(vectors, dtype, vectors.identity(name, dtype))
        self._name = name

    def add(self, x: Element) -> None:
        """Combines a vector of elements with the vector in the register."""
        self.store(self._vectors.combined(self._name, [self.load(), x]))

    def elements(self) -> list[Element]:
        """Returns the elements of its vector. Together, they are the result."""
        vector = self.load()
        return [self._vectors.element_of(vector, lane) for lane in range(self._vectors.lanes)]


def _rounded(value: float, dtype: DType) -> float:
    """Rounds a constant to its dtype, like an element of a tensor."""
    import torch

    return torch.tensor(value, dtype=dtype.torch).item()
