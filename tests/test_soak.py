"""The jobs of `scripts/stress/soak.py`, each once, and how it judges what they leave behind."""

import random

import pytest

import soak


@pytest.mark.parametrize("job", soak.JOBS, ids=lambda job: job.__name__)
def test_job_runs(job, tmp_path):
    job(random.Random(0), tmp_path)


def test_growth_is_that_of_a_line_through_the_samples():
    assert soak.growth([(0, 100.0), (1, 101.0), (2, 102.0), (3, 103.0)]) == pytest.approx(3.0)
    assert soak.growth([(0, 100.0), (1, 102.0), (2, 102.0), (3, 100.0)]) == pytest.approx(0.0)


def test_failure_ends_the_soak(monkeypatch):
    def fails(rng, folder):
        raise ValueError("on purpose")

    monkeypatch.setattr(soak, "JOBS", [fails])
    state = soak.Soak()
    state.work(seed=0)
    assert "on purpose" in state.failures[0]
    assert state.ends.is_set()
