"""One framework running one program, at the runner's word: `python worker.py FRAMEWORK PROGRAM.py`.

Speaks JSON, a line each way. First it says {"version": ..., "benchmarks": [[name, variant], ...]}, then it answers

    {"time": [name, variant]}           with {"seconds": of one call, "digest": of the first call's result}
    {"mean": [name, variant]}           with the same; not the fastest batch counts, but the mean
    {"processor": [name, variant]}      with the same, in the process's time on the processors
    {"memory": [name, variant]}         with {"first": seconds, "peak": bytes, "growth": bytes, "digest": ...}
    {"allocations": [name, variant]}    with {"allocations": peak bytes in a step, by torch's profiler}

or with {"error": ...}. It ends when its standard input does.
"""

import gc
import importlib
import itertools
import json
import math
import os
import pathlib
import resource
import runpy
import statistics
import sys
import tempfile
import time
import zlib

BATCH_SECONDS = 0.02  # calls are timed in batches about this long
SETTLING, SETTLED = 25, 50  # batches for a mean: half a second in which threads adapt to the load, then a second
BATCHES = 5  # and the fastest one counts, if not told otherwise: what disturbs a batch only ever slows it
STEPS = 10  # training steps before memory is read: the peak rises for some steps, until the heap has found its shape
ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(framework, program):
    """Returns the framework and the program's callables as {(name, variant): callable}."""
    if framework == "tapeflow":
        sys.path.insert(0, str(ROOT / "src"))  # the checkout that these benchmarks lie in
    module = importlib.import_module(framework)
    namespace = runpy.run_path(program)
    own = {"torch": "setup_torch", "jax": "setup_jax"}.get(framework, "setup")
    benchmarks = {}
    for name, what in namespace[own](module).items():
        variants = what if isinstance(what, dict) else {"": what}
        benchmarks.update({(name, variant): call for variant, call in variants.items()})
    return module, benchmarks


# --- time ------------------------------------------------------------------------------------


class Timer:
    """Times calls; remembers how many of each fill a batch, and a digest of what the first one gave."""

    def __init__(self, wait):
        self.wait = wait  # JAX returns before the work is done: the last result of a batch is waited for
        self.calls, self.digests = {}, {}

    def measure(self, key, call, clock, chosen=min):
        if key not in self.calls:
            self.digests[key] = digest(call())
            self.calls[key] = self.calibrate(call)
        calls = self.calls[key]
        gc.collect()
        if chosen is statistics.fmean:
            for _ in range(SETTLING):
                self.batch(call, calls)
        count = BATCHES if chosen is min else SETTLED
        seconds = chosen([self.batch(call, calls, clock) for _ in range(count)]) / calls
        return {"seconds": seconds, "digest": self.digests[key]}

    def calibrate(self, call):
        calls = 1
        while (seconds := self.batch(call, calls)) < BATCH_SECONDS / 2:
            calls *= 2
        return max(1, round(calls * BATCH_SECONDS / seconds))

    def batch(self, call, calls, clock=time.perf_counter):
        start = clock()
        for _ in itertools.repeat(None, calls):
            result = call()
        self.wait(result)
        return clock() - start


def digest(result):
    """A number that two frameworks agree on only if their results do, element by element."""
    import numpy as np

    for names in (("indices", "values"), ("flat_values", "nested_row_splits")):  # of sparse and of ragged tensors
        if all(hasattr(result, name) for name in names):
            result = [getattr(result, name) for name in names]
    if isinstance(result, list | tuple):
        return sum((i + 1) * digest(part) for i, part in enumerate(result) if part is not None)
    flat = np.asarray(result)
    if flat.dtype == object:  # strings, by their checksums
        flat = np.array([zlib.crc32(text) for text in flat.ravel().tolist()])
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag])
    flat = flat.astype(np.float64).ravel()
    return float(flat @ np.cos(np.arange(flat.size)))


# --- memory ----------------------------------------------------------------------------------


def peak_rss():
    """The most memory this process has held so far, in bytes (getrusage counts KiB, and bytes on macOS)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure_memory(make_step):
    step = make_step()
    before, start = peak_rss(), time.process_time()
    losses = [digest(step())]
    first = time.process_time() - start
    losses += [digest(step()) for _ in range(STEPS - 1)]
    return {"first": first, "peak": peak_rss(), "growth": peak_rss() - before, "digest": sum(losses)}


def measure_allocations(make_step):
    """The peak of what ATen's allocator handed out during one step, beyond what it held when the step began."""
    import torch

    step = make_step()
    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    changes = sorted((e["ts"], e["args"]["Bytes"]) for e in events if e.get("name") == "[memory]")
    return {"allocations": max(itertools.accumulate(size for _, size in changes))}


# --- the protocol ----------------------------------------------------------------------------


def main():
    framework, program = sys.argv[1:]
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a framework prints is not for the runner

    def say(**message):
        answers.write(json.dumps(message) + "\n")

    try:
        module, benchmarks = load(framework, program)
    except Exception as error:
        return say(error=describe(error))
    version = getattr(module.version, "TAPEFLOW_VERSION", module.__version__)  # TapeFlow's __version__ is its API's
    say(version=version, benchmarks=list(benchmarks))

    timer = Timer(wait=getattr(module, "block_until_ready", lambda result: None))
    for line in sys.stdin:
        ((request, key),) = json.loads(line).items()
        key = tuple(key)
        try:
            match request:
                case "time":
                    answer = timer.measure(key, benchmarks[key], time.perf_counter)
                case "mean":
                    answer = timer.measure(key, benchmarks[key], time.perf_counter, statistics.fmean)
                case "processor":
                    answer = timer.measure(key, benchmarks[key], time.process_time)
                case "memory":
                    answer = measure_memory(benchmarks[key])
                case "allocations":
                    answer = measure_allocations(benchmarks[key])
            if not math.isfinite(answer.get("digest", 0.0)):
                answer = {"error": "the result is not finite"}
        except Exception as error:
            answer = {"error": describe(error)}
        say(**answer)
    return None


def describe(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


if __name__ == "__main__":
    main()
