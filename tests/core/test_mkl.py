"""MKL's speed, which the first process measures and later ones read."""

import threading
import time

import pytest

from tapeflow.core import disk_cache, mkl


@pytest.mark.parametrize(
    ("slowness", "products", "narrow"),
    [((1.05, 1.6), False, True), ((1.06, 1.49), True, False), ((2.0, 1.5), True, True), ((0.0, 0.0), False, False)],
)
def test_what_is_slow(monkeypatch, slowness, products, narrow):
    monkeypatch.setattr(mkl, "_find_slowness", lambda: mkl.Slowness(*slowness))
    assert mkl.products_are_slow() is products and mkl.narrow_products_are_slow() is narrow


def test_the_first_process_measures_and_others_read(monkeypatch, tmp_path):
    if not (mkl.torch.backends.mkl.is_available() and mkl.torch.backends.mkldnn.is_available()):
        pytest.skip("torch has no MKL")
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("MKL_VERBOSE", raising=False)
    threads = []

    def measure():
        threads.append(threading.get_ident())
        return mkl.Slowness(1.25, 2.0 + len(threads))

    monkeypatch.setattr(mkl, "_measure_slowness", measure)
    find = mkl._find_slowness.__wrapped__
    assert find() == find() == mkl.Slowness(products=1.25, narrow=3.0)
    assert len(threads) == 1 and threads[0] != threading.get_ident()
    (path,) = (tmp_path / "tapeflow" / "kernels").iterdir()
    assert disk_cache.read(path.name) == b"1.25 3.0"
    monkeypatch.setenv("MKL_VERBOSE", "0")  # another setting of MKL is another machine
    assert find() == (1.25, 4.0)
    monkeypatch.setenv("OTHER_VERBOSE", "0")
    assert find() == (1.25, 4.0)


def test_the_ratio_of_two_times(monkeypatch):
    calls = {"first": 0, "second": 0}
    now = [0]
    monkeypatch.setattr(time, "thread_time_ns", lambda: now[0])

    def function(name, durations):
        def run():
            now[0] += durations[calls[name] % len(durations)]
            calls[name] += 1

        return run

    assert mkl._time_ratio(function("first", [60, 30, 90]), function("second", [50, 20, 15])) == 2.0  # the fastest
    assert calls == {"first": 10, "second": 10}
    calls.update(first=0, second=0)
    assert mkl._time_ratio(function("first", [7]), function("second", [0])) == 7.0  # too short for the clock


def test_a_measurement():
    pytest.importorskip("torch").backends.mkldnn.is_available() or pytest.skip("torch has no oneDNN")
    slowness = mkl._measure_slowness()
    assert 0 < slowness.products < 1000 and 0 < slowness.narrow < 1000
