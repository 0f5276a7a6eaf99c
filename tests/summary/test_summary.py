"""Summaries, read back with TensorBoard's own code."""

import io
import wave

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.util.tensor_util import make_ndarray

import tapeflow as tf


@pytest.fixture
def writer(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path / "logs")
    yield writer
    writer.close()
    tf.summary.experimental.set_step(None)


def events(writer):
    """What is in a writer's file, after the first event."""
    writer.flush()
    found = [Event.FromString(record) for record in RawEventFileLoader(writer._file.path).Load()]
    assert found[0].file_version == "brain.Event:2"
    return found[1:]


def tensors(writer):
    """`(tag, step, plugin, value)` of each summary."""
    return [
        (v.tag, e.step, v.metadata.plugin_data.plugin_name, make_ndarray(v.tensor))
        for e in events(writer)
        for v in e.summary.value
    ]


def test_scalars_open_in_tensorboard(writer, tmp_path):
    with writer.as_default():
        for step in range(3):
            assert tf.summary.scalar("loss", 1.0 / (step + 1), step=step, description="the *loss*").numpy()
    accumulator = EventAccumulator(str(tmp_path / "logs")).Reload()
    assert accumulator.Tags()["tensors"] == ["loss"]
    assert [(e.step, float(make_ndarray(e.tensor_proto))) for e in accumulator.Tensors("loss")] == [
        (0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3)),
    ]  # fmt: skip
    metadata = accumulator.SummaryMetadata("loss")
    assert metadata.plugin_data.plugin_name == "scalars"
    assert metadata.summary_description == "the *loss*"


def test_scalars_are_float32(writer):
    with writer.as_default(step=0):
        for value in (3, True, np.float64(0.5), tf.constant(2, tf.int64), tf.Variable(7.0)):
            tf.summary.scalar("x", value)
    assert [(v.dtype, v.item()) for *_, v in tensors(writer)] == [(np.float32, x) for x in (3.0, 1.0, 0.5, 2.0, 7.0)]


def test_names_are_under_their_scopes(writer):
    with writer.as_default(step=0), tf.name_scope("outer"):
        tf.summary.scalar("a loss!", 1.0)
        tf.summary.scalar("", 1.0)
        with tf.summary.experimental.summary_scope("!!") as (tag, scope):
            assert (tag, scope) == ("outer/!!", "outer/summary/")
    assert [t[0] for t in tensors(writer)] == ["outer/a loss!", "outer/scalar_summary"]


def test_steps(writer):
    step = tf.Variable(7, dtype=tf.int64)
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("x", 1.0)
        tf.summary.experimental.set_step(step)
        assert tf.summary.experimental.get_step() is step
        tf.summary.scalar("x", 1.0)
        step.assign_add(1)
        tf.summary.scalar("x", 1.0)
        tf.summary.scalar("x", 1.0, step=np.array([3]))
        with writer.as_default(step=9):
            tf.summary.scalar("x", 1.0)
        assert tf.summary.experimental.get_step() is step
        for bad, error in ((1.5, TypeError), ("x", TypeError), (tf.constant(5), ValueError), ([1, 2], ValueError)):
            with pytest.raises(error):
                tf.summary.scalar("x", 1.0, step=bad)
    assert [t[1] for t in tensors(writer)] == [7, 8, 3, 9]


def test_without_a_writer_nothing_is_written():
    assert not tf.summary.scalar("x", 1.0, step=0).numpy()
    assert not tf.summary.scalar("x", 1.0).numpy()
    assert not tf.summary.should_record_summaries().numpy()
    assert tf.summary.flush() is None
    with pytest.raises(ValueError, match="Expected scalar shape, saw shape: \\(1,\\)"):
        tf.summary.scalar("x", [1.0], step=0)
    with pytest.raises(ValueError, match="Received step with shape \\(2,\\)"):
        tf.summary.scalar("x", 1.0, step=[1, 2])


def test_record_if_decorates_functions(writer):
    @tf.summary.record_if(False)
    def records(depth):
        inner = records(depth - 1) if depth else []
        return [*inner, bool(tf.summary.should_record_summaries())]

    with writer.as_default(step=1):
        assert records(2) == [False] * 3 and bool(tf.summary.should_record_summaries())


def test_record_if(writer):
    asked = []

    def every_second():
        asked.append(True)
        return len(asked) % 2 == 0

    with writer.as_default(step=0):
        with tf.summary.record_if(False):
            assert not tf.summary.scalar("no", 1.0).numpy()
            tf.summary.write("no", lambda: pytest.fail("called for nothing"))
            with tf.summary.record_if(tf.constant(True)):
                assert tf.summary.scalar("inner", 1.0).numpy()
        with tf.summary.record_if(every_second):
            assert [bool(tf.summary.scalar("second", 1.0)) for _ in range(4)] == [False, True, False, True]
        with tf.summary.record_if(3), pytest.raises(TypeError):
            tf.summary.scalar("x", 1.0)
    assert [t[0] for t in tensors(writer)] == ["inner", "second", "second"]


def test_histogram(writer):
    with writer.as_default(step=0):
        tf.summary.histogram("h", [1, 2, 3, 5], buckets=2)
        tf.summary.histogram("one value", [2.0, 2.0], buckets=2)
        tf.summary.histogram("empty", tf.zeros([0]), buckets=2)
        tf.summary.histogram("no buckets", [1.0], buckets=-1)
        tf.summary.histogram("default", tf.random.normal([10, 10]))
        with pytest.raises(tf.errors.UnimplementedError):
            tf.summary.histogram("text", ["a"])
    found = {tag: value for tag, _, plugin, value in tensors(writer) if plugin == "histograms"}
    assert found["h"].tolist() == [[1, 3, 2], [3, 5, 2]]
    assert found["one value"].tolist() == [[2, 2, 0], [2, 2, 2]]
    assert found["empty"].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert found["no buckets"].shape == (0, 3)
    assert found["default"].shape == (30, 3)
    assert found["default"][:, 2].sum() == 100


# What tf.image.convert_image_dtype(..., tf.uint8, saturate=True) gives in TensorFlow 2.21.
@pytest.mark.parametrize(
    ("pixels", "dtype", "expected"),
    [
        ([-1.0, 0.0, 0.5, 1.0, 2.0], "float32", [0, 0, 127, 255, 255]),
        ([0.0, 0.25, 1.0], "float64", [0, 63, 255]),
        ([0, 128, 255], "uint8", [0, 128, 255]),
        ([0, 256, 65535], "uint16", [0, 1, 255]),
        ([-5, 0, 2**23, 2**31 - 1], "int32", [0, 0, 1, 255]),
        ([-5, 1, 127], "int8", [0, 2, 254]),
    ],
)
def test_image_pixels(writer, pixels, dtype, expected):
    with writer.as_default(step=0):
        tf.summary.image("i", tf.constant(pixels, dtype)[None, None, :, None])
    ((_, _, plugin, value),) = tensors(writer)
    assert plugin == "images"
    assert value[:2].tolist() == [str(len(pixels)).encode(), b"1"]
    assert np.asarray(Image.open(io.BytesIO(value[2]))).tolist() == [expected]


def test_images(writer):
    with writer.as_default(step=0):
        for channels in (1, 2, 3, 4):
            tf.summary.image("i", tf.ones([5, 2, 3, channels]), max_outputs=2)
        for bad, error in (
            (tf.zeros([2, 2, 3]), ValueError),
            (tf.zeros([1, 2, 2, 5]), tf.errors.InvalidArgumentError),
            (tf.constant([[[["a"]]]]), AttributeError),
        ):
            with pytest.raises(error):
                tf.summary.image("i", bad)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.summary.image("i", tf.zeros([1, 2, 2, 1]), max_outputs=-1)
    values = [t[3] for t in tensors(writer)]
    assert [len(v) for v in values] == [4] * 4
    assert [Image.open(io.BytesIO(v[3])).mode for v in values] == ["L", "LA", "RGB", "RGBA"]


def test_text(writer):
    with writer.as_default(step=0):
        tf.summary.text("t", "abc")
        tf.summary.text("t", [["a", "b"]])
        with pytest.raises(TypeError):
            tf.summary.text("t", 1)
    assert next(t[2:] for t in tensors(writer)) == ("text", b"abc")
    assert tensors(writer)[1][3].tolist() == [[b"a", b"b"]]


def test_audio(writer):
    samples = tf.constant([[[-2.0, 0.5], [1.0, -1.0], [0.00005, 0.0]]])
    with writer.as_default(step=0):
        tf.summary.audio("a", samples, 100)
        for kwargs, error in (
            ({"data": samples[0]}, ValueError),
            ({"encoding": "mp3"}, ValueError),
            ({"sample_rate": 0}, tf.errors.InvalidArgumentError),
            ({"data": tf.zeros([1, 2, 1], tf.int32)}, tf.errors.InvalidArgumentError),
            ({"max_outputs": -1}, tf.errors.InvalidArgumentError),
        ):
            with pytest.raises(error):
                tf.summary.audio("a", **{"data": samples, "sample_rate": 100, **kwargs})
    ((_, _, plugin, value),) = tensors(writer)
    assert plugin == "audio"
    assert value.shape == (1, 2)
    with wave.open(io.BytesIO(value[0, 0])) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (2, 2, 100)
        assert np.frombuffer(wav.readframes(3), "<i2").tolist() == [-32768, 16384, 32767, -32768, 2, 0]


def test_other_tensors(writer):
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="mine", content=b"1"))
    with writer.as_default(step=2):
        tf.summary.write("a", tf.constant([1, 2]), metadata=metadata)
        tf.summary.write("b", lambda: "text", metadata=metadata.SerializeToString())
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.summary.write("c", 1.0, metadata=b"\xff")
    (a, b) = tensors(writer)
    assert a[:3] == ("a", 2, "mine")
    assert a[3].tolist() == [1, 2]
    assert b[3].item() == b"text"


def test_messages(writer):
    summary = Summary(value=[Summary.Value(tag="old", simple_value=3.0)])
    with writer.as_default():
        tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=4)
        tf.summary.import_event(Event(step=5, wall_time=1.0, summary=summary).SerializeToString())
        with pytest.raises(tf.errors.DataLossError):
            tf.summary.experimental.write_raw_pb(b"zzzz", step=1)
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.experimental.write_raw_pb(b"")
    assert [(e.step, e.summary.value[0].simple_value) for e in events(writer)] == [(4, 3.0), (5, 3.0)]


def test_graph(writer, tmp_path):
    with writer.as_default():
        definition = GraphDef()
        definition.node.add(name="x", op="Placeholder")
        assert tf.summary.graph(definition).numpy()
        with pytest.raises(ValueError, match="Argument 'graph_data' is not"):
            tf.summary.graph(3)
    accumulator = EventAccumulator(str(tmp_path / "logs")).Reload()
    assert [n.name for n in accumulator.Graph().node] == ["x"]


def test_trace_without_graphs(writer, tmp_path):
    with writer.as_default():
        with pytest.raises(ValueError, match="Must enable trace before"):
            tf.summary.trace_export("t", step=0)
        tf.summary.trace_on()
        tf.summary.trace_export("t", step=0)
        tf.summary.trace_on()
        tf.summary.trace_off()
        tf.summary.trace_off()
        with pytest.raises(ValueError, match="Must enable trace before"):
            tf.summary.trace_export("t", step=0)
    assert [t[:3] for t in tensors(writer)] == [("t", 0, "graph_run_metadata_graph")]


def test_profile(writer, tmp_path):
    tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path / "profile"))
    tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
    with writer.as_default():
        tf.summary.trace_export("t", step=0)
    (profile,) = (tmp_path / "profile/plugins/profile").glob("*/*.xplane.pb")
    assert b"aten::mm" in profile.read_bytes()
    assert [t[2] for t in tensors(writer)] == ["graph_run_metadata"]


def test_a_trace_and_a_session_share_one_profiler(tmp_path, caplog):
    tf.profiler.experimental.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
    tf.profiler.experimental.stop(save=False)
    tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
    tf.profiler.experimental.stop(save=False)
    tf.summary.trace_off()
    assert "Error while stopping profiler: Cannot export profiling results. No profiler is running." in caplog.text


def test_a_closed_writer(writer):
    writer.close()
    writer.close()
    writer.flush()
    for use in (writer.as_default, writer.set_as_default, writer.init):
        with pytest.raises(RuntimeError, match="is already closed"):
            use()


def test_writer_arguments(tmp_path):
    with pytest.raises(ValueError, match="`logdir` cannot be None"):
        tf.summary.create_file_writer(None)
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.OpError):
        tf.summary.create_file_writer(str(tmp_path / "file" / "logs"))
    with pytest.raises(ValueError, match="Invalid argument to flush"):
        tf.summary.flush(3)
    writer = tf.summary.create_file_writer(str(tmp_path / "new" / "logs"), filename_suffix=".mine")
    assert writer._file.path.endswith(".mine")
    writer.close()


def test_what_waits_in_memory(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=2)
    writer.set_as_default(step=0)

    def written():
        return sum(1 for _ in RawEventFileLoader(writer._file.path).Load()) - 1

    try:
        for expected in (0, 0, 3, 3):
            tf.summary.scalar("x", 1.0)
            assert written() == expected
        tf.summary.flush()
        assert written() == 4
    finally:
        tf.summary.experimental.set_step(None)
        with tf.summary.create_noop_writer().as_default() as noop:
            assert noop is None
        tf.summary.summary_state.recording.writer = None
        writer.close()


def test_the_file_is_complete_when_the_writer_is_gone(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    event = Event(step=1)
    writer.add(event)
    path = writer._file.path
    del writer
    assert sum(1 for _ in RawEventFileLoader(path).Load()) == 2


def test_keras_graph_model_uses_scopes(writer):
    with writer.as_default(), tf.summary.experimental.summary_scope("keras", "graph_keras_model", [1, 0]) as (tag, _):
        tf.summary.write(tag=tag, tensor=tf.constant("{}", dtype=tf.string), step=0)
    assert [t[0] for t in tensors(writer)] == ["keras"]


def test_in_a_function(writer):
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def f(x, wanted):
        with writer.as_default(step=step), tf.summary.record_if(wanted):
            written = tf.summary.scalar("x", x)
            tf.summary.histogram("h", x * tf.ones([3]), buckets=2)
            tf.summary.image("i", tf.ones([2, 2, 2, 1]))
            tf.summary.text("t", "abc")
            tf.summary.audio("a", tf.ones([1, 2, 2]), 100)
        step.assign_add(1)
        return written

    assert [bool(f(tf.constant(float(i)), tf.constant(i != 1))) for i in range(3)] == [True, False, True]
    found = tensors(writer)
    assert [t[0] for t in found] == list("xhita") * 2
    assert [t[1] for t in found] == [0] * 5 + [2] * 5
    assert found[5][3] == 2.0
    assert found[6][3][:, 2].tolist() == [0, 3]
