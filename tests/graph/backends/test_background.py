"""Compiling in the background. The compiler and the clock are the tests' own, but for the last test."""

import gc
import logging
import os
import shutil
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.backends import background, compile_process, inductor
from tapeflow.graph.backends.flat import Refused
from tapeflow.graph.codegen.compile import Compiled

ON = {"background_compile": True}
compiles = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++")) or sys.platform == "win32", reason="needs a C++ compiler"
)


class World:
    """A clock that versions of a function advance, and a thread and a compiler that work when they are told to."""

    def __init__(self):
        self.now = 0.0
        self.seconds = {"python": 1.0, "compiled": 0.5}
        self.ran, self.jobs, self.sent = [], [], []

    def advancing(self, what, run):
        def advanced(*args):
            self.ran.append(what)
            self.now += self.seconds[what]
            return run(*args)

        return advanced

    def work(self):
        while self.jobs:
            self.jobs.pop(0)()


@pytest.fixture
def world(monkeypatch):
    world = World()
    monkeypatch.setattr(background, "clock", lambda: world.now)
    monkeypatch.setattr(background, "enqueue", world.jobs.append)
    monkeypatch.setattr(background, "second_process", world.sent.append)
    monkeypatch.setattr(background, "_COMPILER", sys.executable)
    monkeypatch.setattr(background.Hot, "uncompiled", world.advancing("python", background.Hot.uncompiled))
    monkeypatch.setattr(inductor.Plan, "__call__", world.advancing("compiled", inductor.Plan.__call__))
    monkeypatch.setattr(inductor, "inducted", lambda graphs, only_cached: [graph.module for graph in graphs])
    return world


def counting():
    """A function that changes a variable, in which each call counts."""
    total = tf.Variable(0.0)

    @tf.function(experimental_attributes=ON)
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return total * 2.0

    return add, total


def explained(function, *args):
    return function.get_concrete_function(*args).explain_background_compile()


def test_a_hot_function_is_compared_call_by_call_and_swapped_in_when_it_is_faster(world, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    add, total = counting()
    x = tf.constant([1.0, 2.0])
    calls = 0

    def call(times):
        nonlocal calls
        for _ in range(times):
            calls += 1
            assert add(x).numpy() == 6.0 * calls
            assert total.numpy() == 3.0 * calls

    call(background.FEWEST - 1)
    assert not world.jobs and explained(add, x) == "not compiled yet: it has taken 19 s of 5, in 19 calls"
    call(3)
    assert len(world.jobs) == 1 and explained(add, x) == "not compiled yet: TorchInductor is at work"
    world.work()
    assert len(world.sent) == 1 and set(world.ran) == {"python"}
    assert explained(add, x) == "not decided yet: its next calls compare the versions"
    world.ran.clear()
    call(2 * background.ROUNDS + 2)
    assert world.ran == ["python", "compiled"] * (background.ROUNDS + 1)
    assert explained(add, x) == "compiled: 500 ms a call instead of 1e+03"
    assert [r.levelname for r in caplog.records if "instead of" in r.getMessage()] == ["INFO"]
    world.ran.clear()
    call(3)
    assert world.ran == ["compiled"] * 3


def test_what_is_not_faster_stays_python(world):
    add, total = counting()
    world.seconds["compiled"] = 1.0
    x = tf.constant([1.0])
    for _ in range(background.FEWEST):
        add(x)
    world.work()
    for _ in range(2 * background.ROUNDS + 2):
        add(x)
    assert explained(add, x) == "not compiled: that takes 1e+03 ms a call, and the Python version 1e+03"
    world.ran.clear()
    add(x)
    assert world.ran == ["python"]
    assert total.numpy() == background.FEWEST + 2 * background.ROUNDS + 3


def test_compiled_code_that_fails_is_dropped_without_a_trace_in_the_results(world, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG, "tensorflow")

    def failing(graphs, only_cached):
        def run(*tensors):
            raise RuntimeError("no such instruction")

        return [run for _ in graphs]

    monkeypatch.setattr(inductor, "inducted", failing)
    add, _ = counting()
    for i in range(background.FEWEST + 4):
        world.work()
        assert add(tf.constant([1.0])).numpy() == 2.0 * (i + 1)
    assert explained(add, tf.constant([1.0])) == "not compiled: the compiled code failed: no such instruction"
    assert [r.levelname for r in caplog.records if "no such instruction" in r.getMessage()] == ["DEBUG"]


def test_errors_are_those_of_the_python_version_which_does_not_end_the_compiled_one(world):
    take = tf.function(lambda x, i: tf.gather(x, i) * 2, experimental_attributes=ON)
    x, good = tf.constant([1, 2, 3]), tf.constant([2, 0])
    for _ in range(background.FEWEST + 2 * background.ROUNDS + 2):
        take(x, good)
        world.work()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 3\)"):
        take(x, tf.constant([0, 5]))
    assert take(x, good).numpy().tolist() == [6, 2]
    assert explained(take, x, good).startswith("compiled")


@pytest.mark.parametrize("why", ["process", "compiler", "graph"])
def test_what_cannot_be_compiled_stays_python(world, monkeypatch, why):
    def failing(data):
        raise Refused("the compiling process failed: it was ended")

    function = tf.function(tf.strings.length if why == "graph" else tf.sqrt, experimental_attributes=ON)
    x = tf.constant("abc") if why == "graph" else tf.constant([4.0])
    if why == "process":
        monkeypatch.setattr(background, "second_process", failing)
    if why == "compiler":
        monkeypatch.setattr(background, "_COMPILER", "no-such-compiler")
    for _ in range(background.FEWEST + 2):
        value = function(x).numpy()
        world.work()
    assert value == (3 if why == "graph" else 2)
    expected = {"process": "it was ended", "compiler": "there is no C++ compiler", "graph": "string"}[why]
    beginning = "length: Python; " if why == "graph" else "not compiled: "
    assert explained(function, x).startswith(beginning) and expected in explained(function, x)
    assert not world.sent and set(world.ran) == {"python"}


def test_no_full_collection_holds_up_calls_while_the_compiler_is_loaded(world, monkeypatch):
    before, within = gc.get_threshold(), []

    def failing(data):
        within.append(gc.get_threshold())
        raise Refused("the compiling process failed: it was ended")

    monkeypatch.setattr(background, "second_process", failing)
    function = tf.function(tf.sqrt, experimental_attributes=ON)
    for _ in range(background.FEWEST):
        function(tf.constant([4.0]))
    world.work()
    assert within[0][:2] == before[:2] and within[0][2] > 1e6
    assert gc.get_threshold() == before


def test_other_shapes_run_python(world):
    double = tf.function(
        lambda x: x * 2.0, input_signature=[tf.TensorSpec([None])], experimental_attributes=ON, autograph=False
    )
    for _ in range(background.FEWEST + 2 * background.ROUNDS + 2):
        double(tf.ones([3]))
        world.work()
    world.ran.clear()
    assert double(tf.ones([2])).numpy().tolist() == [2.0, 2.0]
    assert double(tf.ones([3])).numpy().tolist() == [2.0, 2.0, 2.0]
    assert world.ran == ["python", "compiled"]


def test_functions_of_gradients_are_compiled_too_and_inner_functions_inlined(world):
    inner = tf.function(lambda x: tf.tanh(x) * 3.0, experimental_attributes=ON)
    outer = tf.function(lambda x: tf.reduce_sum(inner(x)))
    x = tf.constant([0.5, -1.0])
    outer(x)
    assert not world.ran
    for _ in range(background.FEWEST + 2 * background.ROUNDS + 2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        np.testing.assert_allclose(tape.gradient(y, x), 3 * (1 - np.tanh(x) ** 2), rtol=1e-5)
        world.work()
    assert len(world.sent) == 2 and world.ran[-2:] == ["compiled", "compiled"]


def test_the_option(world, monkeypatch):
    def compiled(**kwargs):
        return type(tf.function(tf.sqrt, **kwargs).get_concrete_function(tf.TensorSpec([2])).body.compiled)

    assert compiled() is Compiled
    tf.config.optimizer.set_experimental_options({"background_compile": True})
    assert compiled() is background.Hot
    assert compiled(experimental_attributes={"background_compile": False}) is Compiled
    assert compiled(jit_compile=True) is inductor.Jitted
    with pytest.raises(ValueError, match="must be True or False, not 'auto'"):
        tf.config.optimizer.set_experimental_options({"background_compile": "auto"})
    with pytest.raises(ValueError, match="must be True or False, not 1"):
        tf.function(tf.sqrt, experimental_attributes={"background_compile": 1})


def test_a_function_that_was_dropped_is_not_compiled(world):
    def hot():
        function = tf.function(tf.sqrt, experimental_attributes=ON, autograph=False)
        for _ in range(background.FEWEST):
            function(tf.constant([4.0]))

    hot()
    gc.collect()
    world.work()
    assert not world.sent


# ---- the thread, and the second process ------------------------------------------------------------------------------


def test_the_second_process_reads_what_was_packed(world):
    f = tf.function(lambda x: tf.split(tf.tanh(x) * tf.constant([1.0, 2.0]), 2, axis=1), experimental_attributes=ON)
    x = tf.ones([3, 2])
    for _ in range(background.FEWEST):
        f(x)
    graphs = []
    original = compile_process.packed

    def packed(described):
        graphs.extend(described)
        return original(described)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile_process, "packed", packed)
        world.work()
    (data,) = world.sent
    _, ((module, arguments),) = compile_process.unpacked(data)
    assert module.code == graphs[0][0].code
    assert arguments == graphs[0][1]
    assert [shape for shape, *_ in arguments] == [(3, 2), (2,)]


def test_the_thread_sleeps_in_proportion_to_what_it_runs(monkeypatch):
    now, slept = [0.0], []
    clock = types.SimpleNamespace(perf_counter=lambda: now[0], thread_time=lambda: now[0] / 2, sleep=slept.append)
    monkeypatch.setattr(background, "time", clock)
    throttle = background._Throttle()
    for _ in range(6):
        throttle(None, "call", None)
        now[0] += 0.004
    assert slept == pytest.approx([0.004 * 9] * 2)
    monkeypatch.setattr(inductor.compiling, "_waiting", [None])
    throttle(None, "call", None)
    now[0] += 1.0
    throttle(None, "call", None)
    assert len(slept) == 2  # another thread waits for the lock
    monkeypatch.setattr(background, "_ending", True)
    with pytest.raises(background._Ending):
        throttle(None, "call", None)


_EXITING = """
import sys, threading
from tapeflow.graph.backends import background, compile_process
compile_process.__file__ = sys.argv[1]
started = threading.Event()
popen = background.subprocess.Popen
def start(*args, **kwargs):
    process = popen(*args, **kwargs)
    print(process.pid, flush=True)
    started.set()
    return process
background.subprocess.Popen = start
background.enqueue(lambda: background.second_process(b""))
started.wait()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX's processes")
def test_nothing_is_left_at_exit(tmp_path):
    program = tmp_path / "compiler.py"
    program.write_text("import subprocess, sys; subprocess.run([sys.executable, '-c', 'import sys; sys.stdin.read()'])")
    done = subprocess.run(
        [sys.executable, "-c", _EXITING, str(program)], capture_output=True, text=True, timeout=60, check=True
    )
    with pytest.raises(ProcessLookupError):
        os.killpg(int(done.stdout), 0)
    assert done.stderr == ""


def test_the_second_process_ends_with_the_first():
    process = subprocess.Popen(
        [sys.executable, "-P", compile_process.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    answer, _ = process.communicate((8).to_bytes(8, "little"), timeout=60)  # and no more: the parent is gone
    assert answer != compile_process.DONE.encode()


@compiles
def test_from_the_first_call_to_the_compiled_one(monkeypatch):
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "disabled", True)
    monkeypatch.setattr(background, "HOT", 0.0)
    monkeypatch.setattr(background, "FEWEST", 1)
    monkeypatch.setattr(background, "SHARE", 1.0)
    monkeypatch.setattr(background, "clock", lambda: 0.0)
    built = threading.Event()
    original = background.build

    def build(*args):
        original(*args)
        built.set()

    monkeypatch.setattr(background, "build", build)
    f = tf.function(lambda x: tf.tanh(x) * tf.constant([1.0, 2.0]) + 0.25, experimental_attributes=ON)
    x = tf.constant([[1.0, -1.0]])
    expected = f(x)
    assert built.wait(300)
    assert explained(f, x).startswith("not decided yet")
    for _ in range(4):
        np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    assert explained(f, x).startswith("not decided yet")  # and not "the compiled code failed"
