"""Fingerprints of strings, for each range of sizes. The numbers are TensorFlow's."""

import numpy as np
import pytest

from tapeflow.core import farmhash
from tapeflow.core.values.strings import StringArray

DATA = bytes((37 * i + 11) % 256 for i in range(400))
FINGERPRINTS = [
    (0, 0x9AE16A3B2F90404F),
    (1, 0x287B96719560ACF8),
    (2, 0x3827061149A5CE52),
    (3, 0x3D6B4E559CC6DBEF),
    (4, 0xDC09F9ADEC3EE0A2),
    (7, 0x09967B4EA97EF51D),
    (8, 0xEE7261B6809D7077),
    (9, 0xFD8024D99E791506),
    (15, 0xFE37A4957A5A012A),
    (16, 0x50B6FEFCC66E0785),
    (17, 0x979B035A28E15F28),
    (24, 0x7D965D75D4453E1D),
    (31, 0x3FDC7EBD90463D70),
    (32, 0x0A5898693F7590BE),
    (33, 0xFE7205F7F6EB992B),
    (48, 0xA884DC66EEC5AB38),
    (63, 0x6403CA92D0921112),
    (64, 0xB79D2D3FBBAE93A9),
    (65, 0xF787DD044A099A5B),
    (100, 0x860A88B20F711490),
    (127, 0xAC78A2DFF663D480),
    (128, 0xC721B94F6EAE0B84),
    (129, 0x15ECB962EF29B716),
    (191, 0x284428518813EE7A),
    (192, 0x41F6F6B3839CE35C),
    (193, 0xA263FA6D87354B4B),
    (300, 0x6EF84417D0E4DAC3),
]


@pytest.mark.parametrize("compiled", [False, True])
def test_fingerprints(compiled):
    strings = StringArray.of([DATA[5 : 5 + size] for size, _ in FINGERPRINTS])
    if compiled:
        pytest.importorskip("llvmlite")
        found = farmhash.fingerprints64(strings)
    else:
        found = np.empty(strings.size, np.uint64)
        farmhash._hash_strings._run(strings.data, strings.offsets, 0, found, strings.size)
    assert found.dtype == np.uint64 and found.tolist() == [fingerprint for _, fingerprint in FINGERPRINTS]


def test_remainders():
    strings = StringArray.of([DATA[5 : 5 + size] for size, _ in FINGERPRINTS])
    for modulus in (1, 7, 2**40):
        expected = [fingerprint % modulus for _, fingerprint in FINGERPRINTS]
        assert farmhash.fingerprints64(strings, modulus).tolist() == expected
    assert farmhash.fingerprints64(StringArray.of([])).tolist() == []
