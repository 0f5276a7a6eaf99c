"""The comparison with TensorFlow that `python3 dev.py bench` runs."""

import inspect
import io
import operator
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import tapeflow as tf

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def core(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import core

    return core


def test_forty_benchmarks_are_named_and_exist(core, monkeypatch):
    assert sum(map(len, core.BENCHMARKS.values())) == 40
    for program, names in core.BENCHMARKS.items():
        found = runpy.run_path(str(ROOT / "benchmarks" / "programs" / f"{program}.py"))["setup"](tf)
        assert set(names) <= set(found), program


@pytest.mark.skipif(sys.platform == "win32", reason="workers read the memory of a process, which Windows does not tell")
def test_a_small_selection_writes_a_page(tmp_path):
    page = tmp_path / "bench.html"
    options = ["--core", "--only", "small_ops", "--benchmarks", "add", "--rounds", "1", "--frameworks", "tapeflow"]
    command = [sys.executable, ROOT / "benchmarks" / "run.py", *options, "--page", page]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "100%" in run.stderr and "Small ops" in run.stdout
    text = page.read_text(encoding="utf-8")
    assert "<td>add</td>" in text and f"tapeflow {tf.version.TAPEFLOW_VERSION}" in text


def test_a_noisy_machine_is_said(core):
    busy = "The machine is too busy for these figures to be quoted: measure again when it is idle."
    assert busy in core.state_of_machine(0.9, [0.01, 0.02])
    assert busy in core.state_of_machine(0.0, [0.01, 0.2, 0.3])
    assert core.state_of_machine(0.05, [0.01, 0.02, 0.03]) == [
        "Before the first measurement, 5% of the processors were at work.",
        "Half of the rounds' ratios lie within 2% of each other.",
    ]


def test_progress_without_a_terminal_is_a_line_for_each_tenth(core):
    out = io.StringIO()
    progress = core.Progress(40, out)
    for i in range(40):
        progress.step(f"benchmark {i}")
    lines = out.getvalue().splitlines()
    assert len(lines) == 11 and lines[-1].split() == ["100%", "0:00", "left", "benchmark", "39"]


def test_a_second_environment_is_made_once(tmp_path, capsys):
    names = runpy.run_path(str(ROOT / "dev.py"))
    variables, commands = names["bench"].__globals__, []
    variables.update(ROOT=tmp_path, VENV_OF_TENSORFLOW=tmp_path / "venv")

    def run(command, cwd=None):
        commands.append([str(part) for part in command])
        if "venv" in command:
            python = names["python_of"](tmp_path / "venv")
            python.parent.mkdir(parents=True)
            python.touch()
        return 0

    variables["run"] = run
    assert names["bench"](["--rounds", "1"]) == 0
    made, installed, measured = commands
    assert made[1:3] == ["-m", "venv"] and installed[-1] == names["TENSORFLOW"]
    assert measured[-2:] == ["--rounds", "1"] and f"tensorflow={names['python_of'](tmp_path / 'venv')}" in measured
    assert "bench.html" in capsys.readouterr().out
    names["bench"]([])
    names["bench"](["--python", "tensorflow=elsewhere"])
    assert len(commands) == 5


# Strings, files that TensorFlow can't write, functions that it has for GPUs alone, and second names of others.
WITHOUT_A_USUAL_INPUT = """
    image.decode_bmp image.decode_gif image.decode_jxl image.decode_webp image.encode_jpeg image.encode_png
    image.generate_bounding_box_proposals math.approx_min_k math.special.bessel_i0 math.special.bessel_i0e
    math.special.bessel_i1 math.special.bessel_i1e nn.approx_min_k ragged.cross ragged.cross_hashed signal.fftnd
    signal.ifftnd signal.irfftnd signal.rfftnd sparse.cross sparse.cross_hashed sparse.sampled_addmm
"""


def test_the_sweep_calls_every_function():
    program = runpy.run_path(str(ROOT / "benchmarks" / "programs" / "usual_inputs.py"))
    called = {name for names in program["SHARED"].values() for name in names.split()}
    called |= {line.partition("(")[0] for line in program["CALLS"].strip().splitlines()}
    public = set()
    for namespace in ["math", "math.special", "nn", "nn.experimental", "image", "linalg", "sparse", "ragged", "signal"]:
        module = operator.attrgetter(namespace)(tf)
        functions = [name for name in module.__all__ if callable(getattr(module, name))]
        public |= {f"{namespace}.{name}" for name in functions if not inspect.isclass(getattr(module, name))}
    assert public - called == set(WITHOUT_A_USUAL_INPUT.split())
