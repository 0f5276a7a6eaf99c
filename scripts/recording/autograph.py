"""Records what TensorFlow gives for the programs in `tests/support/autograph_programs`, eagerly and as `tf.function`.

python scripts/record.py autograph          # needs TensorFlow
"""

import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "support"))

import tensorflow as tf

from autograph_programs.case import FOLDER, load
from goldens.result import encode


def outcome(function, args) -> dict:
    """What a function gave, or the class of its error."""
    try:
        return {"result": encode(function(*map(tf.constant, args)), tf)}
    except Exception as error:
        return {"error": type(error).__name__}


def main() -> None:
    tf.get_logger().setLevel("ERROR")
    lines = []
    for title, (function, args) in load(tf).items():
        entry = {"eager": outcome(function, args), "traced": outcome(tf.function(function), args)}
        lines.append(f"{json.dumps(title)}: {json.dumps(entry, separators=(',', ':'))}")
    text = ",\n".join(lines)
    (FOLDER / "recorded.json").write_text(f'{{"tensorflow": "{tf.__version__}", "programs": {{\n{text}\n}}}}\n')
    print(f"{len(lines)} programs")
