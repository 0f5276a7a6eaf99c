"""Random programs give the same in a function and eagerly, also in a process that has run nothing before."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "fuzz_programs.py"
CASTS = """
import tapeflow as tf

x = tf.constant([[1.0, 2.0, 0.0]])
functions = [
    lambda x: tf.cast(tf.expand_dims(x > 0, 1), tf.float32) * 2.0,
    lambda x: tf.cast(tf.expand_dims(x * 1.5, 1), tf.int32),
    lambda x: 1.0 - tf.cast(tf.expand_dims(x != 0, -2), tf.float32),
]
for function in functions:
    y = tf.function(function)(x)
    print(y.numpy().tolist(), y.value.dtype)
"""


def output(*arguments):
    """Returns what another Python prints."""
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.splitlines()


def test_casts_after_reshapes():
    assert output("-c", CASTS) == [
        "[[[2.0, 2.0, 0.0]]] torch.float32", "[[[1, 3, 0]]] torch.int32", "[[[0.0, 0.0, 1.0]]] torch.float32",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
@pytest.mark.parametrize("first", [0, 100, 200])
def test_random_programs(first):
    last = output(SCRIPT, "--draws", "100", "--seed", str(first))[-1]
    assert last.endswith(" 0 different")
    assert int(last.split()[0]) > 90, last
