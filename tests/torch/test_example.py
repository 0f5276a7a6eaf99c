"""The example with both, run as a user runs it."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_example():
    run = subprocess.run([sys.executable, ROOT / "examples" / "torch_bridge.py"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    accuracies = [float(a) for a in re.findall(r"accuracy ([\d.]+)", run.stdout)]
    assert len(accuracies) == 2
    assert min(accuracies) > 0.9
    assert "def forward(self" in run.stdout
