"""Loops over buffers: machine code and Python give the same results."""

import numpy as np
import pytest

from tapeflow.core.loops import MASK, Bytes, Float64s, Int32s, Int64s, copy, equal, loop, order, word

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


def _both(each, *args):
    """Runs a loop as Python and as machine code, and returns the results with the buffers they left."""
    results = []
    for run in (each._run, each._compile()):
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


def test_a_loop_is_compiled_after_some_work():
    pytest.importorskip("llvmlite")

    @loop
    def total(data: Bytes, size: int) -> int:
        out = 0
        for i in range(size):
            out += data[i]
        return out

    assert total(b"ab", 2) == 195
    assert total._compiled is None
    assert total(bytes([1]) * 100_000, 100_000) == 100_000
    assert total._compiled is not None
    assert total(b"ab", 2) == 195
