"""Namespaces that load on first use, whichever threads ask first."""

import subprocess
import sys

PROGRAM = """
import threading
import tapeflow as tf

names = "train saved_model io strings sparse ragged image data summary lookup signal random".split()
errors, barrier = [], threading.Barrier(len(names))

def load(name):
    barrier.wait()
    try:
        dir(getattr(tf, name))
    except BaseException as error:
        errors.append(f"{name}: {error!r}")

threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
"""


def test_threads_load_namespaces_at_once():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_pythons_without_the_lock_are_refused():
    program = "import sys; sys._is_gil_enabled = lambda: {}; import tapeflow"
    refused, taken = (
        subprocess.run([sys.executable, "-W", "ignore", "-c", program.format(enabled)], capture_output=True, text=True)
        for enabled in (False, True)
    )
    assert "ImportError: TapeFlow needs Python's global interpreter lock" in refused.stderr
    assert taken.returncode == 0, taken.stderr
