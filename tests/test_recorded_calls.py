"""Random calls whose outcomes under TensorFlow are on record: TapeFlow's are the same, but for those on a list.

The record is what `scripts/fuzz.py --in-turn --calls 1500 --seed 1 --tensorflow ... --record fixtures/fuzz.jsonl.gz`
wrote; `fixtures/fuzz_known.json` has the calls that differ, by cause. A call on the list that agrees must leave it:
`scripts/fuzz.py --replay tests/fixtures/fuzz.jsonl.gz --known tests/fixtures/fuzz_known.json` writes it anew. The same
holds of `fuzz_raw.jsonl.gz` and `fuzz_raw_known.json`, written with `--raw` instead of `--in-turn`: the shapes that are
inferred for calls of raw ops, and what is refused while tracing.
"""

import contextlib
import json
import pathlib
import resource

import pytest

import fuzz
import tapeflow as tf
from fuzzing import comparing, worker

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
MEMORY = 3 << 30  # bytes of addresses: some calls ask for gigabytes
RECORDS = {name: fuzz.read_record(FIXTURES / f"{name}.jsonl.gz") for name in ("fuzz", "fuzz_raw")}
KNOWN = {name: json.loads((FIXTURES / f"{name}_known.json").read_text()) for name in RECORDS}
CALLS = sorted({f"{name} {task['call']['function']}" for name, (tasks, _) in RECORDS.items() for task in tasks})


@contextlib.contextmanager
def limited_memory():
    """Limits the memory that a call may take beside what the process has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    limits = (pages * resource.getpagesize() + MEMORY, *(limit for limit in before if limit >= 0))
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def run(tasks):
    with limited_memory():
        return {task["id"]: worker.outcome(task, tf) for task in tasks}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_outcomes_are_those_of_tensorflow(name):
    record, function = name.split()
    tasks, theirs = RECORDS[record]
    tasks = [task for task in tasks if task["call"]["function"] == function]
    ours = run(tasks)
    found = comparing.differences(tasks, theirs, ours, {})
    if found:  # by rounding, or by more than that?
        spread = comparing.by_task(run(comparing.doubtful(tasks, found)))
        found = comparing.differences(tasks, theirs, ours, spread)
    listed = {call for cause in KNOWN[record] for call in cause["calls"]} & {task["id"] for task in tasks}
    lines = comparing.report(comparing.findings(tasks, {i: d for i, d in found.items() if i not in listed}))
    agreeing = sorted(listed - found.keys())
    assert not lines, "\n".join(lines)
    assert not agreeing, f"take these from {record}_known.json (`scripts/fuzz.py --replay ... --known ...`): {agreeing}"


@pytest.mark.parametrize("record", RECORDS)
def test_known_differences_are_explained_and_counted(record):
    for cause in KNOWN[record]:
        assert cause["because"], cause
        assert cause["count"] == len(set(cause["calls"])), cause
