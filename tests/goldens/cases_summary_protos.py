"""Messages for TensorBoard that raw ops write: numbers, histograms, images, sound and tensors."""

from goldens.case import Group

GROUP = Group("""
R = tf.raw_ops
nan, inf = float("nan"), float("inf")
def told(text):
    found = []
    for v in tf.compat.v1.Summary.FromString(text.numpy()).value:
        if v.HasField("simple_value"):
            content = v.simple_value
        elif v.HasField("histo"):
            h = v.histo
            content = h.min, h.max, h.num, h.sum, h.sum_squares, list(h.bucket_limit), list(h.bucket)
        elif v.HasField("image"):
            i = v.image
            content = i.height, i.width, i.colorspace, tf.io.decode_png(i.encoded_image_string)
        elif v.HasField("audio"):
            a = v.audio
            sound = tf.audio.decode_wav(a.encoded_audio_string)
            content = a.sample_rate, a.num_channels, a.length_frames, a.content_type, sound.audio, sound.sample_rate
        else:
            content = tf.make_ndarray(v.tensor), v.metadata.plugin_data.plugin_name, v.metadata.display_name
        found.append((v.tag, content))
    return found
def histogram(values):
    return told(R.HistogramSummary(tag="h", values=values))
def image(pixels, **options):
    return told(tf.function(lambda: R.ImageSummary(tag="i", tensor=pixels, **options))())
def sound(values, rate=8000.0, **options):
    return told(R.AudioSummaryV2(tag="a", tensor=values, sample_rate=rate, **options))
def one(tag, value):
    return R.ScalarSummary(tags=tag, values=value)
def shape(function, *specs):
    return tf.function(function).get_concrete_function(*specs).output_shapes
GRAY = tf.reshape(tf.range(8.0), [2, 2, 2, 1])
METADATA = tf.compat.v1.SummaryMetadata(display_name="d").SerializeToString()
""")

GROUP.values("""
told(one("a", 1.5))
told(one(["a", "b"], [1, 2]))
told(one([["a"], ["b"]], tf.constant([[1.5], [-2.0]], tf.float64)))
told(one("a", tf.constant(2.5, tf.bfloat16)))
told(one(tf.zeros([0], tf.string), tf.zeros([0])))
histogram([1.0, 2.0, 2.0, -3.5])
histogram([0.0])
histogram([0.0, 1e-13, -1e-13, 1e-12])
histogram(tf.zeros([0]))
histogram([[1, 2], [3, 300]])
histogram([1e30, -1e30])
histogram(tf.constant([0.5, 0.25], tf.float16))
histogram(tf.constant([0.5, 3.0], tf.bfloat16))
histogram(tf.constant([200, 7], tf.uint8))
histogram(tf.constant([1e300], tf.float64))
histogram(tf.range(100.0))
image(GRAY)
image(GRAY - 3.0)
image(GRAY - 20.0)
image(GRAY * 0.0)
image(GRAY * 1e-8)
image(GRAY + 1000.0)
image(tf.cast(GRAY * 30, tf.uint8))
image(tf.cast(GRAY, tf.float64) * 2 - 1)
image(tf.cast(GRAY, tf.float16))
image(tf.constant([[[[1.0], [nan]], [[inf], [0.5]]]]))
image(tf.constant([[[[1.0, 2.0, nan], [3.0, 0.0, 1.0]]]]))
image(tf.constant([[[[1.0, 2.0, -inf, 1.0], [3.0, 0.0, 1.0, -1.0]]]]))
image(tf.constant([[[[nan]]]]))
image(tf.reshape(tf.range(24.0), [1, 2, 4, 3]))
image(GRAY, max_images=1)
image(GRAY, max_images=2)
image(tf.zeros([5, 1, 1, 1]))
sound([[0.0, 0.5, -0.5, 1.0]])
sound(tf.reshape(tf.linspace(-1.0, 1.0, 12), [2, 3, 2]))
sound(tf.zeros([5, 2, 1]), 44100.0)
sound(tf.zeros([5, 2, 1]), 4000.5, max_outputs=1)
sound(tf.zeros([2, 2]), max_outputs=2)
told(R.TensorSummaryV2(tag="t", tensor=[[1.0, 2.0]], serialized_summary_metadata=METADATA))
told(R.TensorSummaryV2(tag="t", tensor=["a", "b"], serialized_summary_metadata=""))
told(R.TensorSummaryV2(tag="t", tensor=tf.constant([1, 2], tf.int64), serialized_summary_metadata=METADATA))
told(R.MergeSummary(inputs=[one("a", 1.0), one("b", 2.0)]))
told(R.MergeSummary(inputs=[one("a", 1.0)]))
told(R.MergeSummary(inputs=[tf.stack([one("a", 1.0), one("b", 2.0)]), one(["c", "d"], [3.0, 4.0])]))
told(R.MergeSummary(inputs=[b""]))
shape(lambda x: R.HistogramSummary(tag="h", values=x), tf.TensorSpec(None))
shape(lambda x: R.ScalarSummary(tags="h", values=x), tf.TensorSpec([]))
shape(lambda x: R.ImageSummary(tag="h", tensor=x), tf.TensorSpec(None))
shape(lambda x: R.AudioSummaryV2(tag="h", tensor=x, sample_rate=8.0), tf.TensorSpec(None))
shape(lambda x: R.MergeSummary(inputs=[x, x]), tf.TensorSpec(None, tf.string))
""")

GROUP.errors("""
one("a", [1.0])
one(["a", "b"], [1.0])
histogram([1.0, nan])
histogram([inf])
histogram([1.0, -inf])
image(tf.zeros([1, 2, 2, 2]))
image(tf.zeros([2, 2, 1]))
image(tf.zeros([1, 2, 2, 1]), max_images=0)
sound([1.0])
sound(tf.zeros([1, 2, 3, 4]))
sound([[1.0]], 0.0)
sound([[1.0]], -5.0)
R.MergeSummary(inputs=[one("a", 1.0), one("a", 2.0)])
R.MergeSummary(inputs=[b"\\xff"])
R.MergeSummary(inputs=[])
""")
