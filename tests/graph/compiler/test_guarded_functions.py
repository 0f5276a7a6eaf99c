"""Random compiled functions between protected pages; nightly, `scripts/stress/compiled_functions.py` runs more."""

import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[3] / "scripts" / "stress" / "compiled_functions.py"


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler")
def test_some_functions():
    command = [sys.executable, SCRIPT, "--functions", "12", "--seed", "100", "--threads", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "48 calls compared, 0 faults" in done.stdout
