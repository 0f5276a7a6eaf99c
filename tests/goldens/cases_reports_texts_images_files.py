"""What people report about strings, tables, images, checkpoints and SavedModels."""

from goldens.case import Group

GROUP = Group("""
tf.random.set_seed(1)
""")

GROUP.snippets(r"""
# the length of text in bytes and characters
(tf.strings.length("naïve"), tf.strings.length("naïve", unit="UTF8_CHAR"))

# split on whitespace and on a separator
(tf.strings.split(" a  b "), tf.strings.split("a,,b", ","), tf.strings.split(["a b", "c"]).to_tensor("?"))

# split on characters of two bytes
tf.strings.split(["abc à cc"])

# split a matrix of strings
tf.strings.split([["a b"], ["c"]]).to_list()

# unicode split and code points
mended = tf.strings.unicode_transcode(b"\xff", "UTF-8", "UTF-8")
(tf.strings.unicode_split("añ😀", "UTF-8"), tf.strings.unicode_decode("añ", "UTF-8"), mended)

# a regex with groups
tf.strings.regex_replace("john smith", r"(\w+) (\w+)", r"\2 \1")

# a regex that matches in full
tf.strings.regex_full_match(["abc", "xabc"], "a.c")

# numbers of strings
tf.strings.to_number(["1.5", "-2e3", " 7 ", "inf"])

# numbers as strings
text = tf.strings.as_string
(text([1.5, 0.1]), text(3.14159, precision=2), text(7, width=3, fill="0"), text([True]))

# joining along an axis
rows = tf.strings.reduce_join([["a", "b"], ["c", "d"]], 1, separator="-")
(rows, tf.strings.join([["a", "b"], "x"], separator="+"), tf.strings.join([[], []]))

# substrings from the end and by characters
(tf.strings.substr("abc", -2, 5), tf.strings.substr("añb", 1, 1, unit="UTF8_CHAR"))

# upper and lower case of umlauts
(tf.strings.upper("äb"), tf.strings.upper("äb", encoding="utf-8"), tf.strings.lower("ÄB", "utf-8"))

# hashes of strings
(tf.strings.to_hash_bucket_fast(["a", "b"], 1000), tf.strings.to_hash_bucket_strong(["a"], 1000, [1, 2]))

# n-grams with padding
tf.strings.ngrams(["a", "b", "c"], 2, pad_values=("<", ">"))

# strings added and multiplied
(tf.constant("a") + "b", tf.add("x", ["y", "z"]))

# base64 there and back
tf.io.decode_base64(tf.io.encode_base64(["hi?"]))

# base64 with padding characters
tf.io.decode_base64("aGk=")

# raw bytes as numbers
(tf.io.decode_raw(b"\x01\x00\x02\x00", tf.int16), tf.io.decode_raw([b"\x01\x02"], tf.uint8))

# tensors serialized
tf.io.parse_tensor(tf.io.serialize_tensor([1.0, 2.0]), tf.float32)

# format with summaries
tf.strings.format("{} and {}", (tf.range(10), "x"))

# csv columns with a quote
tf.io.decode_csv(['1,"a, b",', '2,c,3'], [[0], [""], [5]])

# json to an example
tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}')

# json to an example with features in another order, negative numbers, bytes and floats
f = '"b": {"int64List": {"value": [1, "-2"]}}, "a": {"floatList": {"value": [1.5, "NaN"]}}, "c": {}'
g = '{"bytesList": {"value": ["YWI=", ""]}}'
tf.io.decode_json_example(['{"features": {"feature": {%s, "\u00fc": %s}}}' % (f, g), "{}", '{"features": {}}'])

# a table of strings
t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
(t.lookup(tf.constant(["b", "z"])), t.size())

# a table with a key twice and one value
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 1]), -1).size()

# a table in a dataset
t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
list(tf.data.Dataset.from_tensor_slices(["b", "x"]).map(t.lookup).as_numpy_iterator())

# a table of ragged keys
t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
t.lookup(tf.ragged.constant([["a"], ["b", "c"]]))

# a table with buckets for others
t = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), 2)
(t.lookup(tf.constant(["a", "x", "y"])), t.size())

# a table from a file
with open(tmp + "/v.txt", "w") as f:
    f.write("x\ny\n")
index = tf.lookup.TextFileIndex
i = tf.lookup.TextFileInitializer(tmp + "/v.txt", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
tf.lookup.StaticHashTable(i, -1)[tf.constant(["y", "q"])]

# a table that grows
t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
t.insert(tf.constant(["a"]), tf.constant([1], tf.int64))
t.insert(tf.constant(["a", "b"]), tf.constant([5, 6], tf.int64))
t.remove(tf.constant(["b"]))
(t.lookup(tf.constant(["a", "b"])), t.size(), t.export())

# resize of an image of uint8
tf.image.resize(np.array([[[0], [100]], [[200], [50]]], np.uint8), [3, 3])[..., 0]

# resize by nearest neighbours keeps the dtype
tf.image.resize(np.array([[[0], [100]]], np.uint8), [2, 4], "nearest")[..., 0]

# resize up by half pixels
tf.image.resize(tf.constant([[[6.0], [7.0]], [[11.0], [12.0]]]), [4, 4])[..., 0]

# resize by bicubic, Lanczos and area
x = tf.reshape(tf.range(16.0), [4, 4, 1])
[tf.image.resize(x, [3, 2], m)[..., 0] for m in ("bicubic", "lanczos3", "area", "gaussian", "mitchellcubic")]

# resize down with antialiasing
tf.image.resize(tf.reshape(tf.range(16.0), [4, 4, 1]), [2, 2], antialias=True)[..., 0]

# resize that keeps the ratio
tf.image.resize(tf.ones([4, 8, 1]), [4, 4], preserve_aspect_ratio=True).shape

# resize with padding
tf.image.resize_with_pad(tf.ones([2, 1, 1]), 2, 3)[..., 0]

# crop and resize at the border
i = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
tf.image.crop_and_resize(i, [[0.0, 0.0, 1.0, 1.0], [0.5, 0.5, 1.5, 1.5]], [0, 0], [2, 2])[..., 0]

# a crop or pad of odd sizes
tf.image.resize_with_crop_or_pad(tf.reshape(tf.range(9), [3, 3, 1]), 2, 4)[..., 0]

# conversions of image dtypes
convert = tf.image.convert_image_dtype
(convert(np.array([0, 128, 255], np.uint8), tf.float32), convert([0.0, 0.5, 1.0, 1.5], tf.uint8, saturate=True))

# brightness of uint8
tf.image.adjust_brightness(np.array([[[250, 10, 0]]], np.uint8), 0.1)

# contrast, saturation, hue and gamma
x = tf.constant([[[0.2, 0.4, 0.6]], [[0.8, 0.1, 0.3]]])
image = tf.image
(image.adjust_contrast(x, 2.0), image.adjust_saturation(x, 0.5), image.adjust_hue(x, 0.2), image.adjust_gamma(x, 0.5))

# gray and back
(tf.image.rgb_to_grayscale(tf.constant([[[0.2, 0.4, 0.6]]])), tf.image.grayscale_to_rgb(tf.constant([[[0.5]]])))

# HSV and back
x = tf.constant([[[0.2, 0.4, 0.6]]])
(tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x)))

# flips and turns
x = tf.reshape(tf.range(6), [2, 3, 1])
turned = [tf.image.flip_left_right(x), tf.image.rot90(x), tf.image.rot90(x, -1), tf.image.transpose(x)]
[t[..., 0] for t in turned]

# stateless augmentation
x = tf.reshape(tf.range(12.0), [2, 2, 3]) / 12
(tf.image.stateless_random_flip_left_right(x, [1, 2]), tf.image.stateless_random_brightness(x, 0.2, [1, 2]))

# a random flip with a seed
tf.random.set_seed(3)
[tf.image.random_flip_up_down(tf.constant([[[1]], [[2]]]), seed=5)[..., 0] for _ in range(3)]

# standardization of a constant image
tf.image.per_image_standardization(tf.fill([2, 2, 1], 7.0))[..., 0]

# suppression of boxes with a tie
boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
tf.image.non_max_suppression(boxes, [0.5, 0.5, 0.5], 3, 0.5)

# suppression of boxes with their corners swapped
tf.image.non_max_suppression([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]], [0.5, 0.6], 2)

# combined suppression pads
b = tf.constant([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]]]])
tf.image.combined_non_max_suppression(b, [[[0.9], [0.8]]], 3, 3, 0.5)

# PSNR of equal images
tf.image.psnr(tf.ones([2, 2, 1]), tf.ones([2, 2, 1]), 1.0)

# total variation and edges
x = tf.reshape(tf.range(9.0), [3, 3, 1])
(tf.image.total_variation(x), tf.image.sobel_edges(x[None])[0, 1, 1])

# patches of an image
x = tf.reshape(tf.range(9), [1, 3, 3, 1])
tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")[0, 0]

# a PNG there and back
tf.io.decode_image(tf.io.encode_png(tf.constant([[[1], [200]]], tf.uint8)))

# a PNG with another number of channels
tf.io.decode_png(tf.io.encode_png(tf.constant([[[1], [200]]], tf.uint8)), channels=3)

# a GIF has four dimensions
gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x00\x00\x00\x00\x00"
gif += b",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
(tf.io.decode_image(gif).shape, tf.io.decode_image(gif, expand_animations=False).shape)

# bounding boxes drawn
tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]], [[1.0]])[0, ..., 0]

# a checkpoint of lists and dicts
class M(tf.Module):
    def __init__(self, x):
        self.parts = [tf.Variable(x), {"k": tf.Variable(x * 2)}]
path = tf.train.Checkpoint(m=M(3.0)).save(tmp + "/c")
m = M(0.0)
tf.train.Checkpoint(m=m).restore(path).assert_consumed()
[v.numpy() for v in m.variables]

# a checkpoint restored before its variables exist
path = tf.train.Checkpoint(v=tf.Variable(7.0)).save(tmp + "/c")
c = tf.train.Checkpoint()
s = c.restore(path)
c.v = tf.Variable(0.0)
s.assert_consumed()
c.v

# a checkpoint with a variable too many that is expected
path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(1.0)).save(tmp + "/c")
a = tf.Variable(0.0)
tf.train.Checkpoint(a=a).restore(path).expect_partial()
a

# no checkpoint at all
(tf.train.latest_checkpoint(tmp), bool(tf.train.Checkpoint(a=tf.Variable(1.0)).restore(None)))

# a manager keeps the last
c = tf.train.Checkpoint(step=tf.Variable(0))
m = tf.train.CheckpointManager(c, tmp, max_to_keep=2)
for _ in range(3):
    c.step.assign_add(1)
    m.save()
[p.replace(tmp, "") for p in m.checkpoints]

# names in a checkpoint
path = tf.train.Checkpoint(a=tf.Variable(1.0), n={"x": tf.Variable([2])}).save(tmp + "/c")
[(n, s) for n, s in tf.train.list_variables(path) if "GRAPH" not in n]

# a checkpoint of an iterator
it = iter(tf.data.Dataset.range(5))
next(it)
next(it)
path = tf.train.Checkpoint(it=it).save(tmp + "/c")
it2 = iter(tf.data.Dataset.range(5))
tf.train.Checkpoint(it=it2).restore(path)
next(it2)

# a module saved with a signature
class M(tf.Module):
    def __init__(self):
        self.v = tf.Variable(2.0)
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(self, x):
        return {"y": x * self.v}
m = M()
tf.saved_model.save(m, tmp + "/s", signatures=m.f)
n = tf.saved_model.load(tmp + "/s")
(n.f([1.0]), list(n.signatures), n.signatures["serving_default"](x=tf.constant([3.0])))

# a loaded module trains
class M(tf.Module):
    def __init__(self):
        self.v = tf.Variable(2.0)
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(self, x):
        return x * self.v
tf.saved_model.save(M(), tmp + "/s")
n = tf.saved_model.load(tmp + "/s")
with tf.GradientTape() as tape:
    y = n.f(3.0) ** 2
tape.gradient(y, n.v)

# a Python attribute is not saved
class M(tf.Module):
    k = 3
m = M()
m.n = 5
tf.saved_model.save(m, tmp + "/s")
hasattr(tf.saved_model.load(tmp + "/s"), "n")

# a table in a SavedModel
class M(tf.Module):
    def __init__(self):
        self.t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def f(self, x):
        return self.t.lookup(x)
tf.saved_model.save(M(), tmp + "/s")
n = tf.saved_model.load(tmp + "/s")
n.f(["a", "b"])

# a signature with one positional argument
class M(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(self, a):
        return a * 2
m = M()
tf.saved_model.save(m, tmp + "/s", signatures={"f": m.f})
n = tf.saved_model.load(tmp + "/s")
n.signatures["f"](tf.constant(5.0))

# a SavedModel's signature names its outputs
class M(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def f(self, x):
        return x, tf.reduce_sum(x)
m = M()
tf.saved_model.save(m, tmp + "/s", signatures=m.f)
tf.saved_model.load(tmp + "/s").signatures["serving_default"].structured_outputs
""")

GROUP.snippets(
    """
# a table with a key twice
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)

# a dense table and its empty key
t = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-2)
t.insert(tf.constant([0], tf.int64), tf.constant([5], tf.int64))

# the structural similarity of small images
tf.image.ssim(tf.zeros([4, 4, 1]), tf.zeros([4, 4, 1]), 1.0)

# an image that is none
tf.io.decode_image(b"not an image")

# a folder for a checkpoint
tf.train.Checkpoint(a=tf.Variable(1.0)).save(tmp + "/c")
tf.train.Checkpoint(a=tf.Variable(1.0)).restore(tmp).expect_partial() is None

# a method that is no tf.function is not saved
class M(tf.Module):
    def f(self, x):
        return x
tf.saved_model.save(M(), tmp + "/s")
m = tf.saved_model.load(tmp + "/s")
m.f(1)

# a variable that nobody tracks
v = tf.Variable(2.0)
class M(tf.Module):
    @tf.function(input_signature=[])
    def f(self):
        return v + 1
tf.saved_model.save(M(), tmp + "/s")

# a signature with positional arguments
class M(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="a"), tf.TensorSpec([], tf.float32, name="b")])
    def f(self, a, b):
        return a - b
m = M()
tf.saved_model.save(m, tmp + "/s", signatures={"f": m.f})
n = tf.saved_model.load(tmp + "/s")
n.signatures["f"](tf.constant(5.0), tf.constant(2.0))

# a signature with an argument missing
class M(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="a"), tf.TensorSpec([], tf.float32, name="b")])
    def f(self, a, b):
        return a - b
m = M()
tf.saved_model.save(m, tmp + "/s", signatures={"f": m.f})
n = tf.saved_model.load(tmp + "/s")
n.signatures["f"](a=tf.constant(5.0))

# json to an example that is a list
tf.io.decode_json_example("[]")
""",
    raises=True,
)

GROUP.snippets(
    r"""
# unicode that is not valid
tf.strings.unicode_decode(b"a\xff", "UTF-8", errors="strict")

# a regex with a lookahead
tf.strings.regex_replace("abc", r"a(?=b)", "x")

# text that is no number
tf.strings.to_number(["1.5", "x"])

# an integer that overflows
tf.strings.to_number(["99999999999"], tf.int32)

# a substring beyond the end
tf.strings.substr("abc", 5, 1)

# a string compared with a number
tf.constant("1") == 1

# strings ordered
tf.constant("a") < tf.constant("b")

# a string times a number
tf.constant("a") * 2

# raw bytes of an odd length
tf.io.decode_raw(b"\x01\x00\x02", tf.int16)

# tensors serialized with another dtype
tf.io.parse_tensor(tf.io.serialize_tensor([1.0, 2.0]), tf.int32)

# csv with too many columns
tf.io.decode_csv("1,2,3", [[0], [0]])

# a table and another dtype
t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
t.lookup(tf.constant([1]))

# a table's default of another dtype
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), "none")

# resize of a matrix
tf.image.resize(tf.ones([4, 4]), [2, 2])

# a crop beyond the image
tf.image.crop_to_bounding_box(tf.ones([2, 2, 1]), 1, 1, 2, 2)

# a random crop larger than the image
tf.image.random_crop(tf.ones([2, 2, 3]), [3, 3, 3])

# gray of one channel
tf.image.rgb_to_grayscale(tf.ones([2, 2, 1]))

# an empty JPEG
tf.io.decode_jpeg(b"")

# a checkpoint with a variable too few
path = tf.train.Checkpoint(a=tf.Variable(1.0)).save(tmp + "/c")
tf.train.Checkpoint(a=tf.Variable(0.0), b=tf.Variable(0.0)).restore(path).assert_existing_objects_matched()

# a checkpoint with a variable too many
path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(1.0)).save(tmp + "/c")
tf.train.Checkpoint(a=tf.Variable(0.0)).restore(path).assert_consumed()

# a checkpoint of another shape
path = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0])).save(tmp + "/c")
tf.train.Checkpoint(a=tf.Variable([0.0])).restore(path)

# a checkpoint of another dtype
path = tf.train.Checkpoint(a=tf.Variable(1.0)).save(tmp + "/c")
tf.train.Checkpoint(a=tf.Variable(1)).restore(path)

# a checkpoint that is not there
tf.train.Checkpoint(a=tf.Variable(1.0)).restore(tmp + "/missing")

# a checkpoint of a plain number
tf.train.Checkpoint(a=3)

# a loaded function and another rank
class M(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(self, x):
        return x
tf.saved_model.save(M(), tmp + "/s")
m = tf.saved_model.load(tmp + "/s")
m.f(tf.constant([[1.0]]))

# a function saved without a trace
class M(tf.Module):
    @tf.function
    def f(self, x):
        return x
tf.saved_model.save(M(), tmp + "/s")
m = tf.saved_model.load(tmp + "/s")
m.f(1.0)

# a SavedModel that is not there
tf.saved_model.load(tmp + "/missing")
""",
    raises=True,
    message=True,
)
