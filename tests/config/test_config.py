"""Devices and settings. What must come before the first use of a device runs in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

import tapeflow as tf


def run(program):
    """Runs a program in a fresh process, and gives what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "import tapeflow as tf\n" + textwrap.dedent(program)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CPU = tf.config.PhysicalDevice(name="/physical_device:CPU:0", device_type="CPU")


def test_physical_devices():
    assert tf.config.list_physical_devices("CPU") == [CPU]
    assert repr(CPU) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert CPU in tf.config.get_visible_devices()
    assert tf.config.experimental.list_physical_devices("CPU") == [CPU]


def test_logical_devices():
    assert repr(tf.config.list_logical_devices("CPU")[0]) == "LogicalDevice(name='/device:CPU:0', device_type='CPU')"


def test_a_cpu_split_in_two():
    said = run("""
        cpu, = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        print([d.name for d in tf.config.list_logical_devices("CPU")])
        with tf.device("CPU:1"):
            x = tf.constant(1.0)
            print(x.device, (x + 1.0).device)
        with tf.device("CPU:1"), tf.device(None):
            print(tf.constant(1.0).device)
        try:
            tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])
        except RuntimeError as e:
            print(e)
    """)
    first = "/job:localhost/replica:0/task:0/device:CPU:0"
    second = "/job:localhost/replica:0/task:0/device:CPU:1"
    assert said.splitlines() == [
        "['/device:CPU:0', '/device:CPU:1']",
        f"{second} {second}",
        first,
        "Virtual devices cannot be modified after being initialized",
    ]


def test_a_device_that_is_not_there():
    said = run("""
        tf.config.set_visible_devices([], "GPU")
        with tf.device("GPU:0"):
            print(tf.constant(1.0).device)
        tf.config.set_soft_device_placement(False)
        try:
            with tf.device("GPU:0"):
                tf.constant(1.0)
        except tf.errors.InvalidArgumentError as e:
            print(e)
    """).splitlines()
    assert said[0] == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert said[1].startswith(
        "Could not satisfy device specification '/job:localhost/replica:0/task:0/device:GPU:0'. "
        "enable_soft_placement=0."
    )


def test_unknown_devices():
    with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
        tf.config.set_visible_devices("x")
    with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
        tf.config.experimental.set_memory_growth("x", True)
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:99'"):
        tf.config.experimental.get_memory_info("GPU:99")
    with pytest.raises(ValueError, match="Failed parsing device name: 'foo'"):
        tf.config.experimental.get_memory_info("foo")
    said = "Unknown attribute 'foo' is encountered while parsing the device spec: 'foo'"
    with pytest.raises(ValueError, match=said), tf.device("foo"):
        pass


def test_memory_of_a_cpu_is_not_counted():
    assert tf.config.experimental.get_memory_info("CPU:0") == {"current": 0, "peak": 0}


def test_device_policy():
    before = tf.config.experimental.get_device_policy()
    try:
        assert before == "silent"
        tf.config.experimental.set_device_policy("explicit")
        assert tf.config.experimental.get_device_policy() == "explicit"
        with pytest.raises(ValueError, match="Invalid argument `device_policy`: 'foo'"):
            tf.config.experimental.set_device_policy("foo")
    finally:
        tf.config.experimental.set_device_policy(None)


def test_functions_run_eagerly():
    assert tf.config.functions_run_eagerly() is False
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly() is True
    finally:
        tf.config.run_functions_eagerly(False)


def test_optimizer_settings():
    assert run("""
        print(repr(tf.config.optimizer.get_jit()))
        tf.config.optimizer.set_jit(True)
        print(repr(tf.config.optimizer.get_jit()))
        tf.config.optimizer.set_experimental_options({"constant_folding": True})
        print(tf.config.optimizer.get_experimental_options()["constant_folding"])
    """).splitlines() == ["''", "'autoclustering'", "True"]


def test_threads():
    assert run("""
        import torch
        tf.config.threading.set_intra_op_parallelism_threads(1)
        print(tf.config.threading.get_intra_op_parallelism_threads(), torch.get_num_threads())
    """) == "1 1"  # fmt: skip
    with pytest.raises(ValueError, match="can't be negative"):
        tf.config.threading.set_intra_op_parallelism_threads(-1)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "/job:a/replica:0/task:1/device:GPU:2",
            "<DeviceSpec(job=a, replica=0, task=1, device_type=GPU, device_index=2)>",
        ),
        ("gpu:0", "<DeviceSpec(job=None, replica=None, task=None, device_type=GPU, device_index=0)>"),
        ("/task:3", "<DeviceSpec(job=None, replica=None, task=3, device_type=None, device_index=None)>"),
    ],
)
def test_device_specs(text, parts):
    assert repr(tf.DeviceSpec.from_string(text)) == parts


def test_device_specs_are_merged_and_changed():
    spec = tf.DeviceSpec(job="a", device_type="gpu", device_index=1)
    assert spec.to_string() == "/job:a/device:GPU:1"
    assert spec.make_merged_spec(tf.DeviceSpec(task=1)).to_string() == "/job:a/task:1/device:GPU:1"
    assert spec.replace(job="b").to_string() == "/job:b/device:GPU:1"
    assert spec == tf.DeviceSpec.from_string("/job:a/gpu:1")
    assert len({spec, tf.DeviceSpec.from_string("/job:a/gpu:1")}) == 1


def test_a_device_scope_takes_no_function():
    with pytest.raises(RuntimeError, match="device does not support functions"):
        tf.device(lambda op: "CPU:0")
