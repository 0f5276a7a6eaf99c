"""Rare ops, and older ones; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

R, v1 = tf.raw_ops, tf.compat.v1
UPDATE = {"x": [[1, 1], [2, 2], [3, 3]], "i": [2, 0], "v": [[10, 20], [30, 40]]}
REFUSED = (tf.errors.InvalidArgumentError, ValueError)
SOUND = np.sin(np.arange(64, dtype=np.float32) * 0.4)[:, None]
IMAGE = np.arange(4 * 5 * 3, dtype=np.float32).reshape(1, 4, 5, 3)  # TensorFlow pads only the first image


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        (lambda: R.NthElement(input=[[3, 1, 2], [9, 7, 8]], n=0), [1, 7]),
        (lambda: R.NthElement(input=[[3, 1, 2], [9, 7, 8]], n=0, reverse=True), [3, 9]),
        (lambda: R.NthElement(input=[[3, 1, 2], [9, 7, 8]], n=2), [3, 9]),
        (lambda: R.ToBool(input=0.0), False), (lambda: R.ToBool(input=-2), True), (lambda: R.ToBool(input=""), False),
        (lambda: R.ToBool(input="a"), True), (lambda: R.ToBool(input=[0]), True),
        (lambda: R.ToBool(input=np.zeros([0, 2], np.float32)), False),
        (lambda: R.Empty(shape=[2, 1], dtype=tf.int32, init=True), [[0], [0]]),
        (lambda: R.DeepCopy(x=[1, 2]), [1, 2]),
        (lambda: R.InplaceAdd(**UPDATE), [[31, 41], [2, 2], [13, 23]]),
        (lambda: R.InplaceSub(**UPDATE), [[-29, -39], [2, 2], [-7, -17]]),
        (lambda: R.InplaceUpdate(**UPDATE), [[30, 40], [2, 2], [10, 20]]),
        (lambda: R.ScatterNdNonAliasingAdd(input=[1, 2, 3], indices=[[2], [0], [2]], updates=[10, 20, 30]),
         [21, 2, 43]),
        (lambda: R.ParallelConcat(values=[[[1, 2]], [[3, 4]], [[5, 6]]], shape=[3, 2]), [[1, 2], [3, 4], [5, 6]]),
        (lambda: R.ParallelDynamicStitch(indices=[[2, 0], [1]], data=[[[1], [2]], [[3]]]), [[2], [3], [1]]),
        (lambda: R.ApproximateEqual(x=[1.0, 2.0, 3.0], y=[1.1, 2.0, 3.6], tolerance=0.5), [True, True, False]),
        (lambda: R.ApproximateEqual(x=[1.0, 2.0], y=[1.0, 2.00002]), [True, False]),
        (lambda: R.Bincount(arr=[1, 3, 1, 9], size=4, weights=[1.0, 2.0, 3.0, 4.0]), [0.0, 4.0, 0.0, 2.0]),
        (lambda: R.DebugNanCount(input=[1.0, np.nan, np.nan]), [2]),
        (lambda: R.DebugNanCount(input=[1.0, 2.0]), [0]),
        (lambda: R.FakeParam(dtype=tf.int32, shape=[2, 0]), [[], []]),
        (lambda: R.ShardedFilespec(basename="a", num_shards=12), b"a-?????-of-00012"),
        (lambda: R.ParseTensor(serialized=R.SerializeTensor(tensor=[[1, 2]]), out_type=tf.int32), [[1, 2]]),
        (lambda: R.Enter(data=3, frame_name="f", is_constant=True), 3),
        (lambda: R.LoopCond(input=True), True),
    ],
)  # fmt: skip
def test_values(do, expected):
    assert plain(do()) == expected


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda: R.NthElement(input=[[3, 1, 2]], n=3), "last dimension > n = 3"),
        (lambda: R.NthElement(input=[[3, 1, 2]], n=-1), "must be non-negative|non-negative"),
        (lambda: R.NthElement(input=[[3, 1, 2]], n=[1]), "scalar"),
        (lambda: R.ParallelConcat(values=[[[1, 2], [3, 4]]], shape=[2, 2]), "first dimension"),
        (lambda: R.ParallelConcat(values=[[[1, 2]]], shape=[None, 2]), "fully defined"),
        (lambda: R.ParallelConcat(values=[1, 2], shape=[2]), "rank"),
        (lambda: R.ApproximateEqual(x=[1.0, 2.0], y=[1.0]), "x and y must be of the same shape"),
        (lambda: R.AudioSpectrogram(input=SOUND, window_size=1, stride=2), "window size"),
        (lambda: R.AudioSpectrogram(input=SOUND, window_size=16, stride=0), "stride"),
        (lambda: R.AudioSummaryV2(tag="t", tensor=SOUND[None], sample_rate=0.0), "sample_rate must be > 0"),
        (lambda: R.AudioSummaryV2(tag="t", tensor=[1.0], sample_rate=9.0), "must be 3-D or 2-D"),
        (lambda: R.MergeSummary(inputs=[b"\xff"]), "Could not parse one of the summary inputs"),
    ],
)  # fmt: skip
def test_arguments_that_are_refused(do, message):
    with pytest.raises(REFUSED, match=message):
        do()


@pytest.mark.parametrize(("shape", "expected"), [([2, None], [2]), (None, None), ([4], []), ([None, 3, 4], [None, 3])])
def test_static_shapes_of_the_nth_element(shape, expected):
    with tf.Graph().as_default():
        found = R.NthElement(input=v1.placeholder(tf.float32, shape), n=1).shape
        assert (found.as_list() if found.rank is not None else None) == expected


@pytest.mark.parametrize(
    ("window", "stride", "shape"), [(16, 8, [1, 7, 9]), (10, 16, [1, 4, 9]), (65, 1, [1, 0, 65]), (100, 2, [1, 0, 65])]
)
def test_spectrograms(window, stride, shape):
    found = R.AudioSpectrogram(input=SOUND, window_size=window, stride=stride)
    squared = R.AudioSpectrogram(input=SOUND, window_size=window, stride=stride, magnitude_squared=True)
    assert found.shape.as_list() == squared.shape.as_list() == shape
    np.testing.assert_allclose(found**2, squared, rtol=1e-4, atol=1e-5)
    if window == 16:
        assert found.numpy()[0, 0].argmax() == 1


@pytest.mark.parametrize(("channels", "coefficients"), [(0, 3), (3, 0), (-1, 3)])
def test_coefficients_of_no_channels(channels, coefficients):
    spectrogram = R.AudioSpectrogram(input=SOUND, window_size=16, stride=8, magnitude_squared=True)
    with pytest.raises(REFUSED):
        R.Mfcc(
            spectrogram=spectrogram, sample_rate=8000, filterbank_channel_count=channels,
            dct_coefficient_count=coefficients,
        )  # fmt: skip


def test_coefficients():
    spectrogram = R.AudioSpectrogram(input=SOUND, window_size=16, stride=8, magnitude_squared=True)
    found = R.Mfcc(
        spectrogram=spectrogram, sample_rate=8000, upper_frequency_limit=3000.0, lower_frequency_limit=100.0,
        filterbank_channel_count=4, dct_coefficient_count=3,
    ).numpy()  # fmt: skip
    np.testing.assert_allclose(found[0, 0], [-2.0744529, 4.0139189, -2.2996132], rtol=1e-5)


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
def test_padded_convolutions(mode):
    filters = np.arange(2 * 3 * 3 * 2, dtype=np.float32).reshape(2, 3, 3, 2)
    paddings = [[0, 0], [1, 2], [0, 1], [0, 0]]
    found = R.FusedPadConv2D(
        input=IMAGE, paddings=paddings, filter=filters, mode=mode, strides=[1, 2, 1, 1], padding="VALID"
    )
    expected = tf.nn.conv2d(tf.pad(IMAGE, paddings, mode), filters, [1, 2, 1, 1], "VALID")
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    for align in (True, False):
        found = R.FusedResizeAndPadConv2D(
            input=IMAGE, size=[6, 7], paddings=paddings, filter=filters, mode=mode, strides=[1, 1, 1, 1],
            padding="VALID", resize_align_corners=align,
        )  # fmt: skip
        resized = v1.image.resize_bilinear(IMAGE, [6, 7], align_corners=align)
        expected = tf.nn.conv2d(tf.pad(resized, paddings, mode), filters, 1, "VALID")
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_crops_are_parts():
    found = R.RandomCrop(image=IMAGE[0], size=tf.constant([2, 3], tf.int64), seed=1).numpy()
    assert found.shape == (2, 3, 3)
    parts = [IMAGE[0, i : i + 2, j : j + 3].tolist() for i in range(3) for j in range(3)]
    assert found.tolist() in parts


# ---- resources -------------------------------------------------------------------------------------------------------


def test_variables_by_their_shared_name():
    def handle(**options):
        return R.VarHandleOp(dtype=tf.float32, shape=[2], **options)

    def read(found):
        return R.ReadVariableOp(resource=found, dtype=tf.float32).numpy().tolist()

    first = handle(shared_name="test_misc", container="")
    R.AssignVariableOp(resource=first, value=[1.0, 2.0])
    assert read(handle(shared_name="test_misc", container="")) == [1.0, 2.0]
    assert bool(R.VarIsInitializedOp(resource=first))
    other = handle(shared_name="test_misc", container="other")
    assert not bool(R.VarIsInitializedOp(resource=other))
    R.AssignVariableOp(resource=first, value=[3.0, 5.0])
    gathered = R.ResourceGatherNd(resource=first, indices=[[1], [0]], dtype=tf.float32)
    assert gathered.numpy().tolist() == [5.0, 3.0]
    R.ResourceStridedSliceAssign(ref=first, begin=[1], end=[2], strides=[1], value=[9.0])
    assert read(first) == [3.0, 9.0]


def test_checkpoints_are_merged(tmp_path):
    paths = [str(tmp_path / name) for name in ("a", "b", "whole", "none")]
    for path, name in zip(paths, ("x", "y"), strict=False):
        R.SaveV2(prefix=path, tensor_names=[name], shape_and_slices=[""], tensors=[tf.constant([1.0, 2.0])])
    R.MergeV2Checkpoints(checkpoint_prefixes=paths[:2], destination_prefix=paths[2], delete_old_dirs=False)
    assert tf.train.load_checkpoint(paths[2]).get_variable_to_shape_map() == {"x": [2], "y": [2]}
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError)):
        R.MergeV2Checkpoints(checkpoint_prefixes=[paths[0], paths[3]], destination_prefix=paths[2])
    R.MergeV2Checkpoints(
        checkpoint_prefixes=[paths[0], paths[3]], destination_prefix=paths[2], delete_old_dirs=False,
        allow_missing_files=True,
    )  # fmt: skip
    assert tf.train.load_checkpoint(paths[2]).get_variable_to_shape_map() == {"x": [2]}


def test_files_are_written(tmp_path):
    path = str(tmp_path / "new" / "file")
    R.WriteFile(filename=path, contents="text")
    assert tf.io.read_file(path).numpy() == b"text"


@pytest.mark.parametrize("name", ["", "test_misc_mutex"])
def test_mutexes(name):
    mutex = R.MutexV2(shared_name=name)
    for _ in range(2):  # each lock is freed with its variant
        lock = R.MutexLock(mutex=mutex)
        R.ConsumeMutexLock(mutex_lock=lock)
        del lock


# ---- summaries -------------------------------------------------------------------------------------------------------


def test_writers_of_summaries(tmp_path):
    writer = R.SummaryWriter(shared_name="test_misc_writer")
    with pytest.raises(tf.errors.NotFoundError):
        R.FlushSummaryWriter(writer=writer)
    R.CreateSummaryFileWriter(
        writer=writer, logdir=str(tmp_path), max_queue=10, flush_millis=1000, filename_suffix=".end"
    )
    R.WriteScalarSummary(
        writer=R.SummaryWriter(shared_name="test_misc_writer"), step=tf.constant(7, tf.int64), tag="s", value=2.5
    )
    R.FlushSummaryWriter(writer=writer)
    R.CloseSummaryWriter(writer=writer)
    (path,) = tmp_path.iterdir()
    assert path.name.endswith(".end")
    events = list(v1.train.summary_iterator(str(path)))
    assert [(e.step, e.summary.value[0].tag, e.summary.value[0].simple_value) for e in events[1:]] == [(7, "s", 2.5)]


def test_numbers_that_images_can_not_show():
    image = np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)
    image[0, 0, 1, 2] = np.nan
    text = R.ImageSummary(tag="t", tensor=image, max_images=1).numpy()
    (value,) = v1.Summary.FromString(text).value
    pixels = tf.io.decode_png(value.image.encoded_image_string).numpy()
    assert value.tag == "t/image" and pixels[0, 1].tolist() == [255, 0, 0]
    assert pixels[0, 0].tolist() == [0, 23, 46] and pixels[1].tolist() == [[139, 162, 185], [208, 231, 255]]
    two = v1.Summary.FromString(R.ImageSummary(tag="t", tensor=np.zeros([3, 1, 1, 1], np.uint8), max_images=2).numpy())
    assert [v.tag for v in two.value] == ["t/image/0", "t/image/1"]


def test_tags_of_written_images_and_sounds(tmp_path):
    writer = R.SummaryWriter(shared_name="test_misc_images")
    R.CreateSummaryFileWriter(writer=writer, logdir=str(tmp_path), max_queue=1, flush_millis=1, filename_suffix="")
    step = tf.constant(3, tf.int64)
    for most in (1, 2):
        R.WriteImageSummary(
            writer=writer, step=step, tag="t", tensor=np.zeros([2, 1, 1, 1], np.uint8), max_images=most,
            bad_color=np.zeros([4], np.uint8),
        )  # fmt: skip
        sound = np.zeros([1, 4, 1], np.float32)
        R.WriteAudioSummary(writer=writer, step=step, tag="t", tensor=sound, sample_rate=8000.0, max_outputs=most)
    R.CloseSummaryWriter(writer=writer)
    (path,) = tmp_path.iterdir()
    tags = [v.tag for e in v1.train.summary_iterator(str(path)) for v in e.summary.value]
    assert tags == ["t/image", "t/audio", "t/image/0", "t/image/1", "t/audio/0"]
