"""The instructions of core operations, which a change may not raise unnoticed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.skipif(sys.platform != "linux", reason="the counts are recorded on Linux")
def test_core_operations_run_no_more_instructions_than_recorded():
    run = subprocess.run([sys.executable, BENCHMARKS / "instructions.py"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_count_that_has_grown_by_more_than_three_percent_is_named(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import instructions

    recorded = json.loads(instructions.RECORD.read_text(encoding="utf-8"))["counts"]
    assert list(recorded) == [f"{program}: {name}" for program, name in instructions.CORE]
    assert instructions.grown(recorded, recorded) == []
    counts = {"a": {"instructions": 103, "calls": 10}, "b": {"instructions": 104, "calls": 9}}
    lines = instructions.grown(counts, {name: {"instructions": 100, "calls": 10} for name in counts})
    assert lines == ["b: 104 instructions, recorded are 100 (+4.0%)"]


def test_more_instructions_are_counted_for_more_work(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from instructions import count

    few, many = count(lambda: [len("") for _ in range(10)]), count(lambda: [len("") for _ in range(20)])
    assert many["calls"] == few["calls"] + 10
    assert many["instructions"] >= few["instructions"] + 10 * 3
