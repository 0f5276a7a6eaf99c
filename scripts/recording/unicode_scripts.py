"""Writes with TensorFlow 2.21 the script of each code point, as its version of ICU has it.

The table is `src/tapeflow/strings/unicode_scripts.txt`. Each line has the number of a script, then its code points as
ranges in hexadecimal digits. Code points of unknown script (103) are left out.
"""

import os
import pathlib

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "src" / "tapeflow" / "strings" / "unicode_scripts.txt"
UNKNOWN = 103


def main():
    import tensorflow as tf

    scripts = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(scripts)) + 1, [len(scripts)]]).tolist()
    ranges = {}
    for first, end in zip(starts, starts[1:], strict=False):
        one = end == first + 1
        ranges.setdefault(int(scripts[first]), []).append(f"{first:x}" if one else f"{first:x}-{end - 1:x}")
    ranges.pop(UNKNOWN)
    FILE.write_text("".join(f"{script} {' '.join(ranges[script])}\n" for script in sorted(ranges)))
