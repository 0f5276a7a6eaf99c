"""Settings of debugging: logs of devices, the filter of tracebacks, and dumps that begin and end."""

import logging

import pytest

import tapeflow as tf
from tapeflow.core.context import detours, listeners, state

debugging = tf.debugging


@pytest.fixture(autouse=True)
def settings_stay():
    before = len(state.tapes), len(listeners), len(detours)
    yield
    debugging.set_log_device_placement(False)
    debugging.experimental.disable_dump_debug_info()
    debugging.enable_traceback_filtering()
    assert (len(state.tapes), len(listeners), len(detours)) == before


def lines_of(caplog):
    lines = [record.getMessage() for record in caplog.records if record.name == "tensorflow"]
    caplog.clear()
    return lines


def test_devices_of_ops_are_logged(caplog):
    caplog.set_level(logging.WARNING)
    x = tf.constant(1.0)
    for enabled in (True, 1, True):
        debugging.set_log_device_placement(enabled)
        assert debugging.get_log_device_placement() is True
    tf.negative(x)
    (line,) = lines_of(caplog)  # once, though it was turned on three times
    assert line.startswith("Executing op Neg in device ") and "CPU:0" in line
    debugging.set_log_device_placement(False)
    tf.negative(x)
    assert lines_of(caplog) == [] and debugging.get_log_device_placement() is False


def test_functions_are_logged_once(caplog):
    caplog.set_level(logging.WARNING)
    inner = tf.function(lambda x: tf.exp(x))

    @tf.function
    def outer(x):
        return tf.cond(x > 0.0, lambda: inner(x), lambda: tf.negative(x, name="minus"))

    debugging.set_log_device_placement(True)
    outer(tf.constant(1.0))
    lines = lines_of(caplog)
    assert lines[0].startswith("Executing op __inference_outer") and " in device " in lines[0]
    kinds = [line.split("(")[1].split(")")[0] for line in lines[1:]]
    assert {"Greater", "Exp", "Neg"} <= set(kinds) and kinds.count("Exp") == 1
    assert any(line.startswith("cond/minus: (Neg): ") and "CPU:0" in line for line in lines)
    outer(tf.constant(1.0))
    assert len(lines_of(caplog)) == 1


def test_operations_with_a_device_of_their_own(caplog):
    caplog.set_level(logging.WARNING)

    @tf.function
    def function(x):
        with tf.device("/job:worker/device:CPU:0"):
            y = tf.exp(x)
        return y + 1.0

    debugging.set_log_device_placement(True)
    function(tf.constant(1.0))
    places = {line.split("(")[1].split(")")[0]: line for line in lines_of(caplog)[1:]}
    assert "job:worker" in places["Exp"] and "job:worker" not in places["AddV2"]


def test_the_filter_of_tracebacks():
    assert debugging.is_traceback_filtering_enabled() is True
    debugging.disable_traceback_filtering()
    assert debugging.is_traceback_filtering_enabled() is False
    debugging.enable_traceback_filtering()
    assert debugging.is_traceback_filtering_enabled() is True


enable = debugging.experimental.enable_dump_debug_info
disable = debugging.experimental.disable_dump_debug_info


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("",), ValueError, "Empty or None dump root"),
        ((None,), ValueError, "Empty or None dump root"),
        (("ROOT", "FULL_NUMERICS"), NotImplementedError, "FULL_NUMERICS is not implemented yet"),
        (("ROOT", "REDUCE_INF_NAN_THREE_SLOTS"), NotImplementedError, "is not implemented yet"),
        (("ROOT", "UNSPECIFIED"), NotImplementedError, "is not implemented yet"),
        (("ROOT", "NONSENSE"), ValueError, r"Invalid value in tensor_debug_mode \('NONSENSE'\)"),
        (("ROOT", "NO_TENSOR", 1000, None, "float32"), ValueError, "tensor_dtypes is expected to be a list"),
        (("ROOT", "NO_TENSOR", 1000, None, {tf.float32}), ValueError, "tensor_dtypes is expected to be a list"),
    ],
)
def test_dumps_that_are_refused(tmp_path, arguments, error, message):
    with pytest.raises(error, match=message):
        enable(*[str(tmp_path) if a == "ROOT" else a for a in arguments])


def test_dumps_begin_and_end(tmp_path):
    disable()  # of none
    writer = enable(str(tmp_path / "a"), "NO_TENSOR", 7)
    assert enable(str(tmp_path / "a"), "NO_TENSOR", 7) is writer
    for mode, size, what in (("SHAPE", 7, "tensor-debug mode"), ("NO_TENSOR", 8, "circular-buffer size")):
        with pytest.raises(ValueError, match=f"already a dumping callback configured with a different {what}"):
            enable(str(tmp_path / "a"), mode, size)
    other = enable(str(tmp_path / "b"), "NO_TENSOR", 7)
    assert other is not writer and other.dump_root == str(tmp_path / "b")
    disable()
    disable()
    again = enable(str(tmp_path / "a"), "SHAPE", 8, tensor_dtypes=["float32", tf.int32])
    assert again is not writer
    disable()
    enable(str(tmp_path / "c"), tensor_dtypes=lambda dtype: dtype.is_floating)


def test_defaults_of_dumps(tmp_path):
    writer = enable(str(tmp_path / "a"))
    assert enable(str(tmp_path / "a"), "NO_TENSOR", 1000) is writer
