"""Loops over buffers: machine code and Python give the same results."""

import importlib
import inspect
import linecache
import sys

import numpy as np
import pytest
import torch

from tapeflow.core import loops, machine_code
from tapeflow.core.loops import (
    MASK,
    Bytes,
    Float64s,
    Int32s,
    Int64s,
    Numbers,
    Objects,
    Strings,
    copy,
    equal,
    exp,
    expm1,
    log,
    log1p,
    loop,
    order,
    read_string,
    simd_range,
    sqrt,
    trailing_zeros,
    word,
    write_bytes,
)

WIDE = 0x9DDFEA08EB382D69


@loop
def _square(x: int) -> int:
    return x * x


@loop
def _mixed(data: Bytes, small: Int32s, out: Int64s, size: int, start: int) -> int:
    """Uses every statement."""
    total, i = start, 0
    while True:
        if i >= size:
            break
        i += 1
        if data[i - 1] == 7 or not data[i - 1] < 250:
            continue
        total += _square(data[i - 1]) if i % 2 else -small[i - 1]
    for j in range(1, size, 2):
        out[j] = (word(data, j, 1) * WIDE & MASK) >> 3 ^ j
        out[j] -= min(j, 5) // 2
    if 0 <= total < 10 and size:
        return -1
    if total == 10:
        pass
    return max(total, -100)


@loop
def _bytes(data: Bytes, out: Bytes, size: int) -> int:
    copy(out, 0, data, 1, size - 1)
    out[size - 1] = 255
    return order(data, 0, out, 0, size) > 0 and equal(data, 1, out, 0, size - 1)


@loop
def _scale(out: Float64s, size: int, by: int) -> None:
    for i in range(size):
        out[i] = (out[i] + float(by)) * 0.5 if out[i] < 2.0 else -out[i] / by


@loop
def _distance(x: Numbers, y: Numbers, size: int, by: float) -> float:
    total = 0.0
    for i in range(size - 1, -1, -1):
        total += abs(x[i] - y[i]) * by
    return total


@loop
def _floats(x: Numbers, y: Numbers, out: Numbers, size: int, by: float) -> float:
    for i in simd_range(size):
        out[i] = x[i] * y[i] - by
    for i in range(1, size):
        out[i] += sqrt(abs(x[i])) / 3 + exp(y[i] * 0.25) - int(x[i] * 10.0)
        if abs(out[i]) < 0.5 or x[i] != x[i]:
            out[i] = i
    return _distance(x, y, size, by)


@loop
def _complexes(x: Numbers, y: Numbers, out: Numbers, size: int) -> float:
    for i in simd_range(size):
        out[i] = x[i] * y[i] + x[i] / 2.0 - y[i] / x[i]
        out[i] -= 0.25
    return _distance(x, y, size, 1.5)


@loop
def _fill_until(out: Int64s, size: int, last: int) -> None:
    for i in range(size):
        if i == last:
            return
        out[i] = ~i if i % 2 else -i
    if not size:
        return
    out[0] = size > 1 if last < 0 else size == 1
    out[size - 1] += 100


@loop
def _call_twice(data: Bytes, out: Int64s, words: Bytes, size: int) -> int:
    """Calls loops that return nothing, and functions as statements."""
    _fill_until(out, size, -1)
    copy(words, 0, data, 0, size)
    _fill_until(out, 2, 1)
    pair, other = trailing_zeros(8), word(data, 0, 4)
    other -= MASK & 3
    while other > 1000:
        other = other >> 1
        if other < 2000:
            break
    return other * 10 + pair + 5 * (order(data, 0, words, 1, 2) > 0) + 7 * (order(data, 0, words, 0, 2) == 0)


@loop
def _logarithms(x: Numbers, out: Numbers, size: int, by: float) -> None:
    for i in range(size):
        out[i] = log(x[i]) + log1p(x[i]) * by - expm1(-x[i] * 1.0) if x[i] > 0.0 else float(i) / by


@loop
def _sizes(x: Numbers, y: Numbers, out: Numbers, size: int) -> float:
    largest = 0.0
    for i in range(size):
        out[i] = x[i] * y[i] + 1.0 if abs(x[i]) > abs(y[i]) else x[i] - y[i] / 2.0
        if abs(out[i]) > largest:
            largest = abs(out[i])
    return largest


@loop
def _wholes(x: Numbers, out: Numbers, size: int) -> float:
    """In a loop over integers, floats are float64s."""
    total = 0.0
    for i in range(size):
        out[i] = x[i] * 3 - i
        total += float(x[i]) / 4
        out[i] += int(total)
    return total


def _both(each, *args, dtype=""):
    """Runs a loop as Python and as machine code, and returns the results with the buffers they left."""
    results = []
    for run in (each._run, each._compile(dtype)):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        results.append((run(*copies), [a.tolist() for a in copies if isinstance(a, np.ndarray)]))
    return results


@pytest.mark.parametrize("seed", range(3))
def test_machine_code_does_what_python_does(seed):
    pytest.importorskip("llvmlite")
    random = np.random.default_rng(seed)
    data = random.integers(0, 256, 50).astype(np.uint8)
    small = random.integers(-1000, 1000, 50).astype(np.int32)
    for size in (0, 1, 2, 50):
        python, machine = _both(_mixed, data, small, np.zeros(50, np.int64), size, seed)
        assert python == machine
    python, machine = _both(_bytes, data, np.zeros(50, np.uint8), 50)
    assert python == machine
    python, machine = _both(_scale, random.uniform(0, 4, 20), 20, 3)
    assert python == machine


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_have_the_precision_of_their_buffers(dtype):
    pytest.importorskip("llvmlite")
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 70)).astype(dtype)
    x[3] = 0
    for size in (0, 1, 70):
        python, machine = _both(_floats, x, y, np.zeros_like(x), size, 0.1, dtype=np.dtype(dtype).char)
        assert python == machine
    assert machine[0] == pytest.approx(sum(abs(x - y)) * 0.1)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_floats_may_be_complex(dtype):
    pytest.importorskip("llvmlite")
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 20)).astype(dtype) + 1j * random.normal(size=(2, 20)).astype(dtype)
    (python, (*_, out)), (machine, (*_, out2)) = _both(_complexes, x, y, x, 20, dtype=np.dtype(dtype).char)
    assert machine == pytest.approx(python)
    np.testing.assert_allclose(out2, out, 20 * np.finfo(dtype).eps)
    np.testing.assert_allclose(out2, x * y + x / 2 - y / x - 0.25, 20 * np.finfo(dtype).eps)


def test_loops_that_return_early_and_call_others():
    pytest.importorskip("llvmlite")
    for size, last in ((5, -1), (5, 3), (1, -1), (1, 5), (0, 0)):
        python, machine = _both(_fill_until, np.full(6, 9), size, last)
        assert python == machine and python[0] is None
    expected = [[9] * 6 for _ in range(2)]
    expected[0][:5], expected[1][:3] = [1, -2, -2, -4, 96], [0, -2, -2]
    assert [_both(_fill_until, np.full(6, 9), 5, last)[1][1][0] for last in (-1, 3)] == expected
    data = np.array([5, 1, 2, 3, 4, 0, 0, 0], np.uint8)
    python, machine = _both(_call_twice, data, np.zeros(8, np.int64), np.zeros(8, np.uint8), 5)
    assert python == machine and python[1][2] == [5, 1, 2, 3, 4, 0, 0, 0]
    number = (int.from_bytes(data[:4].tobytes(), "little") - 3) >> 15
    assert python[0] == number * 10 + 3 + 5 + 7


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_functions_of_floats(dtype):
    pytest.importorskip("llvmlite")
    x = np.array([0.5, 2.0, -1.0, 1e-6, 3e4], dtype)
    python, machine = _both(_logarithms, x, np.zeros_like(x), 5, 0.25, dtype=dtype)
    np.testing.assert_allclose(machine[1][1], python[1][1], rtol=4 * np.finfo(dtype).eps)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        exact = np.where(wide > 0, np.log(wide) + np.log1p(wide) * 0.25 - np.expm1(-wide), np.arange(5) / 0.25)
    np.testing.assert_allclose(machine[1][1], exact, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["F", "D"])
def test_sizes_of_complex_numbers(dtype):
    pytest.importorskip("llvmlite")
    x, y = np.array([3 + 4j, 1j, 2.0, 0], dtype), np.array([1 - 1j, 2 + 2j, -2.5, 1j], dtype)
    python, machine = _both(_sizes, x, y, np.zeros_like(x), 4, dtype=dtype)
    expected = [8 + 1j, -1, 3.25, -0.5j]
    np.testing.assert_allclose(machine[1][2], expected, rtol=1e-6)
    np.testing.assert_allclose(python[1][2], expected, rtol=1e-6)
    assert machine[0] == pytest.approx(abs(8 + 1j)) and python[0] == pytest.approx(abs(8 + 1j))


@pytest.mark.parametrize("dtype", ["i", "q"])
def test_numbers_may_be_integers(dtype):
    pytest.importorskip("llvmlite")
    x = np.array([5, -7, 2**30], dtype)
    python, machine = _both(_wholes, x, np.zeros_like(x), 3, dtype=dtype)
    assert python[0] == machine[0] == (5 - 7 + 2**30) / 4
    wide = [15 + 1, -21 - 1 + 0, 3 * 2**30 - 2 + int((2**30 - 2) / 4)]
    assert machine[1][1] == np.array(wide).astype(dtype).tolist()


def test_complex_quotients_do_not_overflow():
    pytest.importorskip("llvmlite")
    x = np.array([3e30 + 4e30j], np.complex64)
    _, (_, (*_, out)) = _both(_complexes, x, x * 2, x, 1, dtype="F")
    assert np.isnan(out[0]) or np.isinf(out[0])  # the product does
    x = np.array([3e-30 + 4e-30j], np.complex64)
    _, (_, (*_, out)) = _both(_complexes, x, x * 2, x, 1, dtype="F")
    assert out[0] == pytest.approx(-2.25)


@loop
def _copy_strings(out: Bytes, room: int, strings: Strings, count: int, is_text: int) -> int:
    at = 0
    for i in range(count):
        left = room - at
        size = read_string(strings, i, is_text, out, at, left)
        if size < 0 or size > left:
            return -1
        at += size
    return at


@loop
def _write_pairs(data: Bytes, out: Objects, count: int) -> None:
    for i in range(count):
        write_bytes(out, i, data, 2 * i, 2)


@pytest.mark.parametrize("strings", [["ab", "", "é\0日"], [b"ab", b"", b"\xff\0"]])
def test_strings_of_python(strings):
    pytest.importorskip("llvmlite")
    is_text = type(strings[0]) is str
    whole = "".join(strings).encode() if is_text else b"".join(strings)
    for room in (len(whole), len(whole) - 1, 0):
        python, machine = _both(_copy_strings, np.zeros(9, np.uint8), room, strings, 3, is_text)
        assert python == machine
        assert python[0] == (len(whole) if room == len(whole) else -1)
    for wrong in ([*strings[:2], 7], [7], [strings[0], b"" if is_text else "", None]):
        for run in (_copy_strings._run, _copy_strings._compile()):
            with pytest.raises(TypeError):
                run(np.zeros(9, np.uint8), 9, wrong, len(wrong), is_text)
    for run in (_copy_strings._run, _copy_strings._compile()):
        with pytest.raises(UnicodeEncodeError):
            run(np.zeros(9, np.uint8), 9, ["\ud800"], 1, True)


def test_bytes_objects_are_made_and_owned_once():
    pytest.importorskip("llvmlite")
    data, old = b"abcd\0\xff" * 50, b"an object that arrays hold"
    for run in (_write_pairs._run, _write_pairs._compile()):
        out = np.array([old] * 150, object)
        count = sys.getrefcount(old)
        run(data, out, 150)
        assert sys.getrefcount(old) == count - 150
        assert out.tolist() == [b"ab", b"cd", b"\0\xff"] * 50
        assert {sys.getrefcount(each) for each in out} == {3}  # the array, `each` and the call


def test_a_loop_is_compiled_after_some_work():
    pytest.importorskip("llvmlite")

    @loop
    def total(data: Bytes, size: int) -> int:
        out = 0
        for i in range(size):
            out += data[i]
        return out

    assert total(b"ab", 2) == 195
    assert not total._compiled
    assert total(bytes([1]) * 100_000, 100_000) == 100_000
    assert total._compiled
    assert total(b"ab", 2) == 195


@pytest.mark.parametrize(
    "module",
    ["image.banded_weights", "image.blends", "image.colors", "linalg.banded", "math.segment",
     "nn.pooling"],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_loops_over_simd_ranges_become_vectors(module, dtype, capfd):
    """LLVM warns of a loop that it was told to compile to vectors, and can't."""
    pytest.importorskip("llvmlite")
    target, found = machine_code.target(), 0
    for name, each in vars(importlib.import_module(f"tapeflow.{module}")).items():
        if isinstance(each, loops.Loop) and "simd_range(" in inspect.getsource(each.function):
            found += 1
            target._compiled(loops._module_text(each, dtype).replace("{name}", "whole"), f"test_{name}_{dtype}")
    assert found and "not vectorized" not in capfd.readouterr().err


def test_tensors_of_torch_are_buffers():
    pytest.importorskip("llvmlite")
    x, y = torch.arange(5.0), torch.ones(5)
    for run in (_distance._run, _distance._compile("f"), _distance):
        assert run(x, y, 5, 0.5) == 3.5
    with pytest.raises((TypeError, NotImplementedError)):
        _distance._compile("f")(x.to("meta"), y, 5, 0.5)


CALLING = """
from called_loops import step
from tapeflow.core.loops import Bytes, loop


@loop
def total(data: Bytes, size: int) -> int:
    found = 0
    for i in range(size):
        found += step(data[i])
    return found
"""
CALLED = """
from tapeflow.core.loops import loop


@loop
def step(x: int) -> int:
    return {factor} * x
"""


def test_code_is_that_of_the_loops_that_it_calls(tmp_path, monkeypatch):
    """It is kept on disk, also when the file of another loop changes."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "calling_loops.py").write_text(CALLING)
    for factor in (2, 3):
        (tmp_path / "called_loops.py").write_text(CALLED.format(factor=factor))
        for name in ("calling_loops", "called_loops"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        loops._source_hash.cache_clear()
        linecache.clearcache()
        total = importlib.import_module("calling_loops").total._compile()
        assert total(np.array([1, 2, 3], np.uint8), 3) == 6 * factor
