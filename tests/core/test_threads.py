"""How the threads of kernels wait."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = "import tapeflow, os; print(os.environ.get('GOMP_SPINCOUNT'))"


def spins(**settings):
    """Returns the setting that libgomp says it has, and the one that child processes would have."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True, capture_output=True, text=True, env=inherited | {"OMP_DISPLAY_ENV": "verbose"} | settings,
    )  # fmt: skip
    shown = {line.split("GOMP_SPINCOUNT = ")[1].strip("'") for line in run.stderr.splitlines() if "SPINCOUNT" in line}
    return shown, run.stdout.strip()


@pytest.mark.skipif(platform.system() != "Linux", reason="torch has libgomp there")
def test_threads_wait_actively_for_a_millisecond():
    assert spins() == ({"10000"}, "None")


@pytest.mark.skipif(platform.system() != "Linux", reason="torch has libgomp there")
def test_settings_of_the_user_stay_in_force():
    assert spins(GOMP_SPINCOUNT="77") == ({"77"}, "77")
    assert "30000" not in spins(OMP_WAIT_POLICY="active")[0]
