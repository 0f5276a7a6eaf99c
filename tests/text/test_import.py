"""`import tensorflow_text` finds `tapeflow.text`, in a program that TapeFlow runs and in its children."""

import subprocess
import sys

PROGRAM = """
import subprocess, sys
import tensorflow_text
print(tensorflow_text.__name__)
child = [sys.executable, "-c", "import tensorflow_text; print(tensorflow_text.__name__)"]
print(subprocess.run(child, check=True, capture_output=True, text=True).stdout.strip())
try:
    import tensorflow_text.python
except ModuleNotFoundError as error:
    print(error)
"""


def test_import():
    command = [sys.executable, "-m", "tapeflow", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expected = ["tapeflow.text", "tapeflow.text", "TapeFlow has no tensorflow_text.python."]
    assert done.stdout.splitlines() == expected, done.stderr
