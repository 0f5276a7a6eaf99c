"""Names of devices and their parts. The expected values are TensorFlow's."""

import pytest

import tapeflow as tf

PARTS = ("job", "replica", "task", "device_type", "device_index")


@pytest.mark.parametrize(
    ("text", "parts", "name"),
    [
        ("", (None, None, None, None, None), ""),
        ("/job:a/replica:2/task:1/device:CPU:3", ("a", 2, 1, "CPU", 3), "/job:a/replica:2/task:1/device:CPU:3"),
        ("/device:*:*", (None, None, None, None, None), ""),
        ("/device:gpu:1", (None, None, None, "GPU", 1), "/device:GPU:1"),
        ("gpu", (None, None, None, "GPU", None), "/device:GPU:*"),
        ("/GPU:2/task:4", (None, None, 4, "GPU", 2), "/task:4/device:GPU:2"),
        ("cpu:*", (None, None, None, "CPU", None), "/device:CPU:*"),
        ("//CPU:0/", (None, None, None, "CPU", 0), "/device:CPU:0"),
        ("/job:*/replica:*/task:*/device:CPU:0", (None, None, None, "CPU", 0), "/device:CPU:0"),
    ],
)
def test_parts_of_a_name(text, parts, name):
    for parse in (tf.DeviceSpec.from_string, tf.DeviceSpec(job="other").parse_from_string):
        spec = parse(text)
        assert tuple(getattr(spec, part) for part in PARTS) == parts
        assert spec.to_string() == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/device:A:B:C", "Unknown attribute 'device' .* device spec: '/device:A:B:C'"),
        ("/device", "Unknown attribute 'device'"),
        ("/job", "Unknown attribute 'job'"),
        ("/job:a:b", "Unknown attribute 'job'"),
        ("/foo:1", "Unknown attribute 'foo'"),
        ("GPU:0:1", "Unknown attribute 'GPU'"),
        ("/task:x", "invalid literal for int"),
        ("gpu:x", "invalid literal for int"),
    ],
)
def test_malformed_names(text, said):
    with pytest.raises(ValueError, match=said):
        tf.DeviceSpec.from_string(text)


def test_parts_are_converted_and_zeros_are_kept():
    spec = tf.DeviceSpec("a", "1", "2", "gpu", "3")
    assert tuple(getattr(spec, part) for part in PARTS) == ("a", 1, 2, "GPU", 3)
    assert spec.to_string() == "/job:a/replica:1/task:2/device:GPU:3"
    zeros = tf.DeviceSpec(replica=0, task=0, device_type="CPU", device_index=0)
    assert zeros.to_string() == "/replica:0/task:0/device:CPU:0"
    assert tf.DeviceSpec(replica=0, task=0, device_index=0).to_string() == "/replica:0/task:0"


def test_merged_and_replaced_parts():
    spec = tf.DeviceSpec("a", 1, 2, "GPU", 3)
    assert spec.make_merged_spec(tf.DeviceSpec(job="b", device_index=0)).to_string() == (
        "/job:b/replica:1/task:2/device:GPU:0"
    )
    assert spec.make_merged_spec(tf.DeviceSpec()) == spec
    assert spec.replace(task=None).to_string() == "/job:a/replica:1/device:GPU:3"
    assert spec.to_string() == "/job:a/replica:1/task:2/device:GPU:3"  # it stays as it was


def test_equal_specs():
    spec = tf.DeviceSpec("a", 1, 2, "GPU", 3)
    assert spec == tf.DeviceSpec("a", 1, 2, "gpu", 3)
    assert spec != tf.DeviceSpec("a", 1, 2, "GPU", 4)
    assert spec != "x"
    assert hash(spec) == hash(tf.DeviceSpec("a", 1, 2, "gpu", 3))
