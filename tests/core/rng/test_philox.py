"""Philox 4x32-10 and its numbers. The blocks are the known answers of its authors (Random123)."""

import numpy as np
import pytest
import torch

from tapeflow.core.rng import philox
from tapeflow.core.rng.philox import Philox

CPU = torch.device("cpu")
# The words of a counter and of a key, and of the block, the lowest first.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def joined(words):
    return sum(word << 32 * i for i, word in enumerate(words))


def unsigned(words):
    return words.numpy().view(np.uint32).tolist()


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN)
def test_known_blocks(counter, key, block):
    stream = Philox(joined(key), joined(counter))
    for blocks in (1, 4, 5, 3000):  # one at a time, by the generator, in several chunks
        words = stream.words(blocks, CPU)
        assert words.dtype == torch.int32 and words.shape == (blocks, 4) and unsigned(words)[0] == list(block)
    assert stream.words_at(np.array([0])).tolist() == [list(block)]
    assert unsigned(philox._tensor_blocks(stream, torch.arange(1))) == [list(block)]
    before = stream.skipped(-7)
    assert unsigned(before.words(8, CPU))[7] == list(block) and before.words_at(np.array([7])).tolist() == [list(block)]
    assert stream.words(0, CPU).shape == (0, 4)


@pytest.mark.parametrize("counter", [0, 2**32 - 3, 2**64 - 3, 2**96 - 3, 2**128 - 3, 2**64 + 2**33])
def test_counters_carry(counter):
    stream = Philox(0x0123456789ABCDEF, counter)
    blocks = [unsigned(stream.skipped(i).words(1, CPU))[0] for i in range(6)]
    assert unsigned(stream.words(6, CPU)) == blocks
    assert unsigned(philox._tensor_blocks(stream, torch.arange(6))) == blocks
    assert stream.words_at(np.arange(6)).tolist() == blocks
    assert stream.words_at(np.array([5, 0, 3])).tolist() == [blocks[i] for i in (5, 0, 3)]
    assert len({tuple(block) for block in blocks}) == 6
    assert stream.skipped(2**128) == stream and stream.skipped(6).counter == (counter + 6) % 2**128


def test_streams_of_seeds():
    assert philox.from_seeds(3, 5) == Philox(3, 5 << 64)
    assert philox.from_seeds(-1, -2) == Philox(2**64 - 1, (2**64 - 2) << 64)
    first = philox.from_seed([3, 5])
    mixed = unsigned(Philox(philox.SCRAMBLER, 3 | 5 << 64).words(1, CPU))[0]
    assert first == Philox(joined(mixed[:2]), joined(mixed[2:]) << 64)
    assert philox.from_seed([-1, 0]) == philox.from_seed([2**64 - 1, 0]) != philox.from_seed([0, -1])
    seeds = np.array([[3, 5], [-1, 7], [2**62, 0]])
    expected = [unsigned(philox.from_seed(seed).words(1, CPU))[0] for seed in seeds]
    assert philox.first_blocks(seeds).tolist() == expected and philox.first_blocks(seeds).dtype == np.uint32


WORDS = np.array([0, 1, 0x7FFFFF, 0x800000, 0xFFFFFFFF, 0x12345678, 0x3FF, 0x400], np.uint32)


def signed(words):
    return torch.from_numpy(words.view(np.int32))


@pytest.mark.parametrize(("dtype", "bits"), [(torch.float16, 10), (torch.bfloat16, 7), (torch.float32, 23)])
def test_uniform_numbers(dtype, bits):
    for words in (signed(WORDS), signed(WORDS).reshape(2, 4)):
        given = words.clone()
        found = philox.to_uniform(words, dtype)
        assert found.dtype == dtype and found.double().tolist() == [(int(w) % 2**bits) / 2**bits for w in WORDS]
        assert torch.equal(words, given)


def test_wide_uniform_numbers():
    found = philox.to_uniform(signed(WORDS), torch.float64)
    pairs = WORDS.reshape(-1, 2).tolist()
    assert found.tolist() == [((high & 0xFFFFF) << 32 | low) / 2**52 for high, low in pairs]


def test_integers():
    words = signed(WORDS)
    assert philox.to_integers(words, torch.int32).tolist() == WORDS.view(np.int32).tolist()
    assert philox.to_integers(words, torch.uint32).tolist() == WORDS.tolist()
    assert philox.to_integers(words, torch.int64).tolist() == WORDS.view(np.int64).tolist()
    for low, high in ((-3, 5), (0, 7), (10, 11), (-(2**31), 2**31 - 1)):
        found = philox.to_range(words, torch.int32, low, high)
        assert found.dtype == torch.int32 and found.tolist() == [int(w) % (high - low) + low for w in WORDS]
    for low, high in ((-3, 5), (-(2**62), 2**62)):
        found = philox.to_range(words, torch.int64, low, high)
        wide = WORDS.view(np.uint64).tolist()
        assert found.dtype == torch.int64 and found.tolist() == [w % (high - low) + low for w in wide]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_numbers_fill_a_tensor(dtype, monkeypatch):
    stream, size = Philox(7, 9), 2 if dtype == torch.float64 else 4
    whole = philox.to_uniform(stream.words(10, CPU), dtype)
    for count in (0, 1, size, size + 1, 4 * size, 4 * size + 1, 9 * size - 1):
        for at_once in (1 << 14, 4):
            monkeypatch.setattr(philox, "_BLOCKS_AT_ONCE", at_once)
            found = philox.fill(stream, count, dtype, CPU, philox.to_uniform)
            assert found.dtype == dtype and torch.equal(found, whole[:count])
    ranged = philox.fill(stream, 9, torch.int32, CPU, philox.to_range, -3, 4)
    assert ranged.tolist() == philox.to_range(stream.words(3, CPU), torch.int32, -3, 4)[:9].tolist()


def box_muller(uniform):
    """Returns normal numbers of uniform ones, in float64."""
    u, v = np.asarray(uniform, np.float64).reshape(-1, 2).T
    radius, angle = np.sqrt(-2 * np.log(np.maximum(u, 1e-7))), 2 * np.pi * v
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], 1).reshape(-1)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float32, 2e-6), (torch.float64, 1e-14), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)],
)
@pytest.mark.parametrize("blocks", [1, 700])
def test_normal_numbers(dtype, tolerance, blocks):
    words = Philox(5, 6).words(blocks, CPU)
    uniform = philox.to_uniform(words, torch.float64 if dtype == torch.float64 else torch.float32)
    found = philox.to_normal(words, dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.double(), box_muller(uniform), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_truncated_normal_numbers(dtype):
    stream, size = Philox(11, 12), 2 if dtype == torch.float64 else 4
    count = 101
    found = philox.truncated_normal(stream, count, dtype, CPU)
    assert found.dtype == dtype and found.shape == (count,) and float(found.double().abs().max()) <= 2.0
    wide = torch.float64 if size == 2 else torch.float32
    expected = []
    for group in range(-(-count // size)):
        words = stream.skipped(group * (256 * size // 4)).words(64, CPU)
        numbers = philox.to_normal(words, wide)
        expected += numbers[numbers.abs() < 2][:size].to(dtype).tolist()
    assert found.tolist() == expected[:count]


def test_words_on_other_devices_have_the_shape_of_those_of_a_cpu():
    words = Philox(5, 6).words(700, torch.device("meta"))
    assert words.shape == (700, 4) and words.dtype == torch.int32 and words.device.type == "meta"
