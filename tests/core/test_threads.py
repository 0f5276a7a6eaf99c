"""How many threads kernels use, and how they wait."""

import os
import platform
import subprocess
import sys

import pytest

from tapeflow.core.threads import quota

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
def test_waiting_threads_soon_sleep():
    assert spins() == ({"1000"}, "None")


@pytest.mark.skipif(platform.system() != "Linux", reason="torch has libgomp there")
def test_settings_of_the_user_stay_in_force():
    assert spins(GOMP_SPINCOUNT="77") == ({"77"}, "77")
    assert "1000" not in spins(OMP_WAIT_POLICY="active")[0]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "max 100000"}, None),
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "100000 100000"}, 1),
        ({"cpu.max": "5000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({}, None),
    ],
)
def test_quota_of_a_container(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert quota(tmp_path) == expected
