"""Every element form computes what its op's kernel computes, in each dtype that it supports."""

import contextlib
import itertools
import math

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.definition import load_all, registry
from tapeflow.core.ops.elements import DTYPES, FUNCTIONS, Element, Probe, Unsupported, supports
from tapeflow.core.values.tensor import EagerTensor

pytest.importorskip("llvmlite")

import llvmlite.ir as ir

from tapeflow.graph.compiler.calling import packer
from tapeflow.graph.compiler.expressions import record_passes
from tapeflow.graph.compiler.kernels import text
from tapeflow.graph.compiler.loops import Operand
from tapeflow.graph.compiler.target import function
from tapeflow.graph.compiler.vectors import MEMORY, Vectors

for load in load_all:
    load()

ALL = sorted(DTYPES, key=lambda d: d.as_datatype_enum)
FORMS = sorted(name for name, op in registry.items() if op.element is not None)
CONSTANTS = (2, 3, 7, 1, 0, -1, -2, -3, 0.5, -0.5, 1.5)
SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -7.0, 6.0, math.pi, 40.5, -88.0, 88.6, -103.9, 1e-3, -1e-7, 1e9, 1e19,
    3e38, -3e38, 1e-38, 1e-40, -1e-45, 1e-310, 1e200, -1e300, math.inf, -math.inf, math.nan,
)  # fmt: skip
INTEGERS = (0, 1, -1, 2, -2, 3, 5, 7, -7, 8, 15, 31, 63, 100, -100, 2**15, 2**31, 2**40)


# ---- calls -----------------------------------------------------------------------------------------------------------


def calls(op):
    """The dtypes of the tensors, and the attrs, of all calls of an op by its registration that it has a kernel for."""
    attrs = [op.opdef.attrs[op.attr_names[p]] for _, p in zip(op.kinds, op.params, strict=True) if p in op.attr_names]
    types = [list(ALL) if attr.type == "type" else [attr.default] for attr in attrs]
    for dtype in ALL:
        dtypes = tuple([i.type or dtype for i in op.opdef.inputs])
        allowed = [op.opdef.attrs[i.type_attr].allowed for i in op.opdef.inputs if i.type_attr]
        if any(a is not None and dtype not in a for a in allowed) or (not allowed and dtype is not ALL[0]):
            continue
        for values in itertools.product(*types):
            with contextlib.suppress(tf.errors.UnimplementedError, tf.errors.NotFoundError):
                ones = [EagerTensor(torch.ones(8, dtype=d.torch), d) for d in dtypes]
                op.run(tuple(op.with_tensors(ones, values)))
                yield dtypes, values


def samples(dtypes, seed=0):
    """Tensors of elements that meet each other: all pairs of special ones, and random ones."""
    random = np.random.default_rng(seed)

    def special(dtype):
        if dtype.is_bool:
            return torch.tensor([False, True])
        if dtype.is_floating:
            return torch.tensor(SPECIAL, dtype=torch.float64).to(dtype.torch)
        info = np.iinfo(dtype.as_numpy_dtype)
        values = [i for i in INTEGERS if info.min <= i <= info.max] + [info.min, info.min + 1, info.max]
        return torch.from_numpy(np.array(values, dtype.as_numpy_dtype))

    def some(dtype, count):
        if dtype.is_bool:
            return torch.from_numpy(random.integers(0, 2, count) > 0)
        if dtype.is_floating:
            x = random.normal(size=count) * 10.0 ** random.choice([-3, 0, 0, 0, 1, 3], count)
            return torch.from_numpy(x).to(dtype.torch)
        info = np.iinfo(dtype.as_numpy_dtype)
        return torch.from_numpy(random.integers(info.min, info.max, count, dtype.as_numpy_dtype, endpoint=True))

    specials = [special(d) for d in dtypes]
    if len(dtypes) > 2:  # not all of them meet
        specials = [t[torch.from_numpy(random.integers(0, len(t), 500))] for t in specials]
    elif len(dtypes) == 2:
        i, j = (torch.from_numpy(a.reshape(-1)) for a in np.indices([len(t) for t in specials]))
        specials = [specials[0][i], specials[1][j]]
    return [torch.cat([s, some(d, 333)]) for s, d in zip(specials, dtypes, strict=True)]


# ---- both ways to compute --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def skipping_without_sleef():
    """Skips a test where torch has no functions of floats for this processor."""
    try:
        yield
    except Unsupported as error:
        if "is missing" in str(error):
            pytest.skip(str(error))
        raise


class Compiled:
    """An element form as a kernel.

    Args:
        op: the op.
        dtypes: the dtypes of its tensors.
        attrs: its attrs.
        constants: by the position of a tensor, the numbers that it is; there is an output for each.
        broadcast: the positions of the inputs that are one number in each row.
    """

    def __init__(self, op, dtypes, attrs, constants=(None,), broadcast=()):
        self.inputs = [d for i, d in enumerate(dtypes) if constants == (None,) or i == 0]
        result = op.element(Probe(), *op.with_tensors([Element(None, d, constants[0]) for d in dtypes], attrs)).dtype

        def compute(b, elements):
            if constants == (None,):
                return [op.element(b, *op.with_tensors(elements, attrs))]
            return [op.element(b, *elements, b.number(c, dtypes[1])) for c in constants]

        self.outputs = [result.torch] * len(constants)
        loops = 2 if broadcast else 1
        operands = [Operand(d, (True, i not in broadcast)[-loops:]) for i, d in enumerate(self.inputs)]
        with skipping_without_sleef():
            module = text(operands, record_passes(operands, compute), loops)
        self.function = function(op.name, module, lambda: module)

    def __call__(self, *values, sizes=None):
        sizes = sizes or [len(values[0])]
        values = [v.contiguous() for v in values]
        outputs = [torch.empty(sizes, dtype=d) for d in self.outputs]
        table = [*(t.data_ptr() for t in (*values, *outputs)), *sizes]
        self.function(packer(len(table))(*table))
        return outputs


def eager(op, dtypes, attrs, values):
    """What the op gives, at each place of a vector: ATen's vectorized kernels and its others may differ."""
    for strided in (False, True):
        tensors = [torch.stack([v, v], -1)[..., 0] if strided and v.ndim else v for v in values]
        tensors = [EagerTensor(t, d) for t, d in zip(tensors, dtypes, strict=True)]
        yield op.run(tuple(op.with_tensors(tensors, attrs))).value


def is_exact(op, dtypes, attrs, constants):
    used = set()

    class Recording(Probe):
        def emit(self, name, operands, dtype):
            used.add(name)

    elements = [Element(None, d, c) for d, c in zip(dtypes, constants, strict=True)]
    op.element(Recording(), *op.with_tensors(elements, attrs))
    return not used & (FUNCTIONS | {"sqrt"})  # ATen's square root may be off by one unit of the last digit


_INTS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def order(x):
    """The places of floats among all floats, as float64, in which distances of a few are exact."""
    bits = x.view(_INTS[x.itemsize]).to(torch.int64)
    least = -(1 << 8 * x.itemsize - 1)
    return torch.where(bits < 0, least - bits, bits)


def near(x, y, ulp):
    """Where two tensors are equal: in all bits, or up to units of the last digit."""
    if x.dtype is torch.bool or not x.is_floating_point():
        return x.view(_INTS[x.itemsize]) == y.view(_INTS[y.itemsize])
    bits = x.view(_INTS[x.itemsize]) == y.view(_INTS[y.itemsize])
    distance = (order(x).double() - order(y).double()).abs()
    return bits | (x.isnan() & y.isnan()) | ((distance <= ulp) & ~x.isnan() & ~y.isnan() & (ulp > 0))


def stood_in_for(op, dtypes, attrs, values):
    """Where an op computes uint64 by a kernel for int64, as ATen has none; results for large numbers are then wrong."""
    large = torch.zeros((), dtype=torch.bool)
    for v in values:
        large = large | (v.view(torch.int64) < 0 if v.dtype is torch.uint64 else False)
    if large.any():
        try:
            op.kernel(*op.with_tensors(values, attrs))
        except (RuntimeError, TypeError):
            return large & (not op.orders)
    return large & False


def check(op, dtypes, attrs, values, result, constants=None):
    constants = constants or (None,) * len(dtypes)
    exact = is_exact(op, dtypes, attrs, constants)
    good = torch.zeros(result.shape, dtype=torch.bool) | stood_in_for(op, dtypes, attrs, values)
    for expected in eager(op, dtypes, attrs, values):
        assert expected.dtype == result.dtype
        good |= near(result, expected, 0 if exact else 2)
    if result.dtype in (torch.float32, torch.float16, torch.bfloat16) and not good.all():
        wide = [v.double() if v.is_floating_point() else v for v in values]
        doubles = [tf.float64 if d.is_floating else d for d in dtypes]
        good |= near(result, next(eager(op, doubles, attrs, wide)).to(result.dtype), 0 if exact else 2)
    if not good.all():
        (places,) = torch.nonzero(~good, as_tuple=True)
        some = places[:8]
        given = [v[some].tolist() if v.ndim else v.item() for v in values]
        expected = [e[some].tolist() for e in eager(op, dtypes, attrs, values)]
        pytest.fail(
            f"{op.name}{[d.name for d in dtypes]}{attrs} of {given} gives {result[some].tolist()}, not {expected}; "
            f"{len(places)} of {len(good)}"
        )


# ---- tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_form_computes_what_the_kernel_computes(name):
    op = registry[name]
    some = False
    for dtypes, attrs in calls(op):
        if not supports(op, dtypes, attrs):
            continue
        some = True
        values = samples(dtypes)
        compiled = Compiled(op, dtypes, attrs)
        (result,) = compiled(*values)
        check(op, dtypes, attrs, values, result)
        for size in (1, 7, 16, 33):
            (part,) = compiled(*[v[:size] for v in values])
            assert near(part, result[:size], 0).all()
    assert some or any(supports(op, d, a, (None, 3)) for d, a in calls(op))


@pytest.mark.parametrize("name", [n for n in FORMS if len(registry[n].kinds) == 2 and registry[n].uniform])
def test_form_of_a_constant_computes_what_the_kernel_computes(name):
    op = registry[name]
    for dtypes, attrs in calls(op):
        if attrs:
            return
        numbers = [
            c for c in CONSTANTS if dtypes[1].is_floating or (c == int(c) and (c >= 0 or not dtypes[1].is_unsigned))
        ]
        numbers = [c for c in numbers if supports(op, dtypes, attrs, (None, c))]
        if dtypes[1].is_bool or not numbers or (name != "Pow" and supports(op, dtypes, attrs)):
            continue
        values = samples(dtypes[:1])
        for number, result in zip(numbers, Compiled(op, dtypes, attrs, tuple(numbers))(*values), strict=True):
            constant = torch.tensor(number, dtype=dtypes[1].torch)
            check(op, dtypes, attrs, [*values, constant], result, (None, number))


@pytest.mark.parametrize("name", [n for n in FORMS if len(registry[n].opdef.inputs) == 2])
@pytest.mark.parametrize("broadcast", [0, 1])
def test_form_of_rows_and_single_elements(name, broadcast):
    op = registry[name]
    for dtypes, attrs in calls(op):
        if dtypes[0].as_datatype_enum in (1, 10, 14, 9) and supports(op, dtypes, attrs):
            rows, columns = 5, 19
            values = [v[: rows * columns].reshape(rows, columns) for v in samples(dtypes, seed=1)]
            values[broadcast] = values[broadcast][:, :1]
            (result,) = Compiled(op, dtypes, attrs, broadcast=(broadcast,))(*values, sizes=[rows, columns])
            full = [v.expand(rows, columns).reshape(-1) for v in values]
            check(op, dtypes, attrs, full, result.reshape(-1))


@pytest.mark.parametrize("name", FORMS)
def test_supports_agrees_with_vectors(name):
    """A kernel can be written for what is supported, and only for that."""
    op = registry[name]
    for dtypes, attrs in calls(op):
        module = ir.Module("kernel")
        b = Vectors(module, 8)
        kinds = [b.type(d) for d in dtypes]
        b.block = ir.IRBuilder(ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "f").append_basic_block())
        elements = [Element(a, d) for a, d in zip(b.block.function.args, dtypes, strict=True)]
        try:
            with skipping_without_sleef():
                result = op.element(b, *op.with_tensors(elements, attrs))
        except Unsupported:
            assert not supports(op, dtypes, attrs)
        else:
            assert supports(op, dtypes, attrs)
            assert result.value.type == b.type(result.dtype)


def test_dtypes_without_a_form():
    assert not supports(registry["AddV2"], (tf.complex64, tf.complex64))
    assert not supports(registry["Identity"], (tf.string,))
    assert not supports(registry["Cast"], (tf.float32,), (tf.complex64,))
    assert not supports(registry["Cast"], (tf.float32,), (tf.uint8,))
    assert not supports(registry["MatMul"], (tf.float32, tf.float32))
    assert not supports(registry["FloorMod"], (tf.int32, tf.int32))
    assert not supports(registry["FloorMod"], (tf.int32, tf.int32), (), (None, 0))
    assert supports(registry["FloorMod"], (tf.int32, tf.int32), (), (None, 8))
    assert set(MEMORY) == DTYPES
