"""Images: tf.image."""

from goldens.case import GRADIENTS, Group

GROUP = Group(
    """
x = np.random.default_rng(0).random((2, 3, 4, 3)).astype(np.float32)
big = np.random.default_rng(1).random((2, 13, 11, 3)).astype(np.float32)
bytes_ = (x * 255).astype(np.uint8)
ramp = np.arange(24, dtype=np.float32).reshape(1, 4, 6, 1)
boxes = np.array([[0, 0, 1, 1], [0, 0, 0.9, 1], [0.5, 0.5, 1, 1], [0, 0.1, 1, 1.1]], np.float32)
scores = np.array([0.9, 0.8, 0.7, 0.6], np.float32)
padded = lambda b, s, *a, **k: tf.image.non_max_suppression_padded(tf.constant(b), tf.constant(s), *a, **k)
combined = lambda *a, **k: tf.image.combined_non_max_suppression(
    boxes[None, :, None], np.stack([scores, scores[::-1]], -1)[None], *a, **k)
draw = lambda channels, box, colors: tf.image.draw_bounding_boxes(
    np.zeros((1, 5, 6, channels), np.float32), [box], colors)
sample = lambda boxes, seed, *a, **k: tf.image.stateless_sample_distorted_bounding_box(
    [40, 60, 3], [boxes], seed, *a, **k)
sample_none = lambda seed, **k: tf.image.stateless_sample_distorted_bounding_box(
    [40, 60, 3], np.zeros((1, 0, 4)), seed, **k)
column = lambda pixels: np.array(pixels, np.float32).reshape(1, 8, 6, 1)
IMAGES = tf.TensorSpec([2, 4, None, 3])
thing = [[0.1, 0.2, 0.6, 0.7]]
project = lambda transforms, interpolation, mode: tf.raw_ops.ImageProjectiveTransformV3(
    images=big, transforms=transforms, output_shape=[6, 7], fill_value=0.25, interpolation=interpolation,
    fill_mode=mode)
"""
    + GRADIENTS.format(name="grad")
)

# ---- colours ----
NARROW = {"rtol": 2e-6, "atol": 1e-6, "because": "float64 images are computed in float32, in another order"}
GROUP.family("tf.image.adjust_hue({x}, {delta})", x="x bytes_ x.astype('float64')", delta="0.3 -0.9 0 1.0", **NARROW)
GROUP.family(
    "tf.image.adjust_saturation({x}, {factor})", x="x bytes_ x.astype('float64')", factor="0.5 2.0 0.0", **NARROW
)
GROUP.family(
    "tf.image.adjust_contrast({x}, {factor})", x="x x[0] bytes_ x.astype('float64')", factor="0.5 2.0 -1.0", **NARROW
)
GROUP.family("tf.image.adjust_brightness({x}, {delta})", x="x bytes_ x.astype('float64')", delta="0.3 -0.9", **NARROW)
GROUP.family("tf.image.adjust_gamma({x}, 2.0, 0.5)", x="x bytes_ x.astype('float64')", **NARROW)
GROUP.values("""
tf.image.per_image_standardization(tf.cast(x[0] * 255, tf.float16))
tf.image.per_image_standardization(tf.cast(x[0], tf.float64))
tf.image.resize(big[..., :1], [13, 8], 'gaussian', antialias=True)
tf.image.resize(tf.reshape(tf.range(63.), [7, 9, 1]), [3, 8], 'gaussian', antialias=True)
tf.image.adjust_jpeg_quality(bytes_[0], 50, dct_method='INTEGER_ACCURATE')
tf.image.adjust_jpeg_quality(x[0], 5, dct_method='INTEGER_ACCURATE')
tf.image.adjust_jpeg_quality(x[0, ..., :1], tf.constant(80), dct_method='INTEGER_ACCURATE')
tf.image.rgb_to_hsv(x)
tf.image.hsv_to_rgb(x)
tf.image.rgb_to_yuv(x)
tf.image.yuv_to_rgb(x)
tf.image.rgb_to_yiq(x)
tf.image.yiq_to_rgb(x)
tf.image.rgb_to_grayscale(x)
tf.image.rgb_to_grayscale(bytes_)
tf.image.grayscale_to_rgb(tf.constant(ramp))
tf.image.per_image_standardization(x)
tf.image.per_image_standardization(bytes_)
tf.image.convert_image_dtype(x, tf.uint16)
tf.image.convert_image_dtype(bytes_, tf.float32)
tf.image.convert_image_dtype(bytes_, tf.int16)
tf.image.convert_image_dtype(x * 2, tf.uint8, saturate=True)
""")

# ---- seen from elsewhere ----
GROUP.family(
    "project({transforms}, '{interpolation}', '{mode}')",
    transforms="[[1.9,.3,-4.2,-.4,2.1,3.3,0.,0.]] [[.7,-1.2,9.5,1.3,.8,-30.,.02,-.01]] "
    "[[-1.,0.,3.5,0.,-1.,50.5,0.,0.],[3.,0.,-20.,0.,2.,-9.,.1,-.2]]",
    interpolation="BILINEAR NEAREST",
    mode="CONSTANT REFLECT WRAP NEAREST",
)
GROUP.errors("""
grad(lambda x: tf.image.adjust_hue(x, 0.1), x)
grad(lambda x: tf.image.adjust_saturation(x, 0.5), x)
""")

# ---- sizes and parts ----
GROUP.values("""
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1], [.2, .3, .7, .9]], [0, 0], [2, 3])
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1], [.2, .3, .7, .9]], [0, 0], [2, 3], 'nearest')
tf.image.crop_and_resize(ramp, [[-.5, 0, 1, 1.5], [.7, .3, .2, .9]], [0, 0], [2, 3], extrapolation_value=-1)
tf.image.crop_and_resize(ramp, [[-.5, 0, 1, 1.5], [.7, .3, .2, .9]], [0, 0], [1, 1], 'nearest')
tf.image.crop_and_resize(bytes_, [[0, 0, 1, 1], [.1, .2, .3, .4]], [1, 0], [1, 2])
tf.image.crop_and_resize(ramp, np.zeros((0, 4)), np.zeros((0,), 'int32'), [2, 3])
grad(lambda x: tf.image.crop_and_resize(x, [[.1, .2, .7, .9]], [0], [2, 3])[0], ramp)
grad(lambda b: tf.image.crop_and_resize(ramp, b, [0], [2, 3], "nearest") ** 2, np.array([[.1, .2, .7, .9]], np.float32))
grad(lambda x: tf.image.crop_and_resize(x, [[.1, .2, .7, .9]], [0], [2, 3], 'nearest')[0], ramp)
grad(lambda b: tf.image.crop_and_resize(big, b, [1], [3, 2]), [[.12, .23, .71, .88]])
tf.image.extract_glimpse(ramp, [2, 3], [[0., 0.]])
tf.image.extract_glimpse(ramp, [2, 3], [[0., 0.]], centered=False, normalized=True)
tf.image.extract_glimpse(ramp, [2, 3], [[1., 2.]], centered=False, normalized=False)
tf.image.extract_glimpse(ramp, [2, 3], [[.9, .8]], noise='zero')
tf.image.extract_glimpse(ramp, [2, 3], [[1.9, 1.8]], noise='zero')
tf.image.extract_glimpse(ramp, [3, 3], [[-1., -1.]], noise='zero')
tf.image.extract_glimpse(ramp, [3, 3], [[-1., -1.]], centered=False, noise='zero')
tf.image.extract_glimpse(ramp, [3, 3], [[-1., -1.]], centered=False, normalized=False, noise='zero')
tf.image.extract_glimpse(big, [4, 5], [[.3, -.2], [-1., .9]], noise='zero')
tf.image.extract_patches(ramp, [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'VALID')
tf.image.extract_patches(ramp, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], 'SAME')
tf.image.resize_with_pad(ramp, 5, 5)
tf.image.resize_with_crop_or_pad(ramp, 6, 3)
tf.image.central_crop(big, 0.4)
tf.image.pad_to_bounding_box(ramp, 1, 2, 7, 9)
tf.image.crop_to_bounding_box(ramp, 1, 2, 2, 3)
tf.image.flip_left_right(ramp)
tf.image.flip_up_down(ramp[0])
tf.image.transpose(ramp)
tf.image.rot90(ramp, 3)
tf.image.sobel_edges(tf.constant(ramp))
tf.image.image_gradients(tf.constant(ramp))
tf.image.total_variation(tf.constant(big))
""")
GROUP.family(
    "tf.image.resize(ramp, {size}, '{method}', antialias={antialias})",
    size=["[2, 3]", "[7, 9]", "[3, 8]"],
    method="bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic",
    antialias="True False",
    rtol=1e-5,
    atol=1e-5,
    because="sums of products in another order",
)
GROUP.shapes("""
tf.image.extract_glimpse(ramp, [3, 3], [[-1., -1.]])
tf.image.extract_glimpse(ramp, [3, 3], [[-1., -1.]], noise='gaussian')
tf.image.random_brightness(bytes_, 0.2)
tf.image.random_contrast(bytes_, 0.2, 0.4)
tf.image.random_hue(x, 0.2)
tf.image.random_saturation(x, 0.2, 0.4)
tf.image.random_flip_left_right(bytes_)
tf.image.random_flip_up_down(x[0])
tf.image.random_crop(x, [1, 2, 2, 3])
tf.image.random_jpeg_quality(bytes_[0], 50, 90)
tf.image.sample_distorted_bounding_box([40, 60, 3], [thing])
""")

# ---- at random ----
SEEDS = ["(1, 2)", "(3, 2)", "(5, 9)"]
GROUP.family("tf.image.stateless_random_brightness({x}, 0.5, {seed})", x="x bytes_", seed=SEEDS)
GROUP.family("tf.image.stateless_random_contrast({x}, 0.5, 1.7, {seed})", x="x bytes_", seed=SEEDS)
GROUP.family("tf.image.stateless_random_hue({x}, 0.5, {seed})", x="x bytes_", seed=SEEDS)
GROUP.family("tf.image.stateless_random_saturation({x}, 0.5, 1.7, {seed})", x="x bytes_", seed=SEEDS)
GROUP.family("tf.image.stateless_random_flip_left_right({x}, {seed})", x="x bytes_[0]", seed=SEEDS)
GROUP.family("tf.image.stateless_random_flip_up_down({x}, {seed})", x="x bytes_[0]", seed=SEEDS)
GROUP.family("tf.image.stateless_random_crop({x}, [1, 2, 2, 3], {seed})", x="x bytes_", seed=SEEDS)
GROUP.family(
    "sample(thing, {seed}{more})",
    seed=SEEDS,
    more="""

, min_object_covered=0.8
, 0.5, (0.5, 2.0), (0.2, 0.9), 20
, min_object_covered=1.8
, area_range=(0.5, 0.6), aspect_ratio_range=(1.0, 1.0)
"""[1:],
)
GROUP.snippets("""
# the ops with seeds
tf.random.set_seed(3)
[tf.image.random_brightness(ramp, 0.5, 7), tf.image.random_flip_left_right(x, 7),
 tf.image.random_crop(x, [1, 2, 2, 3], 7), tf.image.random_hue(x, 0.5, 7),
 tf.image.sample_distorted_bounding_box([40, 60, 3], [thing], 5),
 tf.image.sample_distorted_bounding_box([40, 60, 3], [thing], 5)]
""")
GROUP.values("""
sample_none((5, 6), use_image_if_no_bounding_boxes=True)
tf.image.stateless_sample_distorted_bounding_box(tf.constant([40, 60, 3], tf.int64), [thing], (5, 6))
tf.image.stateless_sample_distorted_bounding_box(tf.constant([40, 60, 3], tf.uint8), [thing], (5, 6))
""")

# ---- boxes ----
GROUP.values("""
tf.image.non_max_suppression(boxes, scores, 3)
tf.image.non_max_suppression(boxes, scores, 3, 0.95)
tf.image.non_max_suppression(boxes, scores, 3, 0.95, .65)
tf.image.non_max_suppression(boxes, scores, 0)
tf.image.non_max_suppression(boxes[:, [2, 3, 0, 1]], scores, 3)
tf.image.non_max_suppression(np.zeros((0, 4), 'float32'), np.zeros((0,), 'float32'), 3)
tf.image.non_max_suppression(np.zeros((2, 4), 'float32'), [.5, .5], 3)
tf.image.non_max_suppression(np.array([[0, 0, 1, 1], [0, 0, 1, 1]], 'float32'), [.5, .5], 3, 1.0)
tf.image.non_max_suppression(np.array([[0, 0, 1, 1], [0, 0, .5, 1]], 'float32'), [.5, .5], 3, 0.5)
tf.image.non_max_suppression(tf.constant(boxes, tf.float16), tf.constant(scores, tf.float16), 3)
tf.image.non_max_suppression_with_scores(boxes, scores, 4, soft_nms_sigma=.5)
tf.image.non_max_suppression_with_scores(boxes, scores, 4, .5)
tf.image.non_max_suppression_with_scores(boxes, scores, 4, .5, .2, soft_nms_sigma=.5)
tf.image.non_max_suppression_with_scores(boxes, scores, 4, 1., -1., soft_nms_sigma=.1)
tf.raw_ops.NonMaxSuppressionV4(boxes=boxes, scores=scores, max_output_size=4, iou_threshold=.5, score_threshold=.1)
tf.image.non_max_suppression_overlaps(np.eye(4, dtype='float32'), scores, 3)
tf.image.non_max_suppression_overlaps(np.ones((4, 4), 'float32'), scores, 3, .9, .1)
padded(boxes, scores, 4, pad_to_max_output_size=True)
padded(boxes, scores, 4)
padded(boxes, scores, 4, iou_threshold=.6, score_threshold=.65)
padded(boxes - 2, scores, 4)
padded(boxes, scores[::-1], 3, .99, pad_to_max_output_size=True, canonicalized_coordinates=True, sorted_input=True)
padded(boxes, scores[::-1], 3, .99, pad_to_max_output_size=True, canonicalized_coordinates=True)
padded(np.stack([boxes, boxes[::-1]]), np.stack([scores, scores[::-1]]), 3, .99, .65, pad_to_max_output_size=True)
padded(np.stack([[boxes, boxes]]), np.stack([[scores, scores]]), 3, .5, pad_to_max_output_size=True)
padded(boxes[::-1, [2, 1, 0, 3]], scores, 4)
padded(boxes * [[1], [-1], [1], [-1]], scores, 4, canonicalized_coordinates=True)
padded(np.stack([boxes, boxes[:, [2, 3, 0, 1]]]), np.stack([scores, scores]), 3, pad_to_max_output_size=True)
padded(np.float32([[0, 0, 2, 1], [0, 0, 1, 1], [0, 0, 1, 1]]), scores[:3], 3, .5)
padded(np.float32([[0, 0, 3, 3], [0, 0, 2, 3], [0, 0, 1, 3], [0, 0, 1, 2]]), scores, 4, 2 / 3)
[padded(boxes, scores[::-1], 4, .45, .65, sorted_input=True, tile_size=n) for n in (1, 2, 3)]
[padded(boxes, scores, 6, 0., tile_size=n, pad_to_max_output_size=True) for n in (1, 2, 4)]
padded(boxes, scores - .75, 4, .45, -.1)
padded(boxes, scores, 4, 1.5)
padded(boxes, scores, 0, pad_to_max_output_size=True)
padded(np.int32(boxes * 10), scores, tf.constant(5), tf.constant(.3), tf.constant(-np.inf), True)
tf.function(lambda: padded(boxes, scores, 2, .3, .1, tile_size=2))()
combined(3, 5)
combined(3, 5, .99)
combined(1, 5, .99, .7)
combined(3, 5, pad_per_class=True)
combined(1, 5, pad_per_class=True, clip_boxes=False)
draw(1, thing, [[3.]])
draw(3, thing, [[1., .5, .25]])
draw(3, thing + [[-.3, .1, .3, 1.4]], np.zeros((0, 3)))
draw(1, thing + [[-.3, .1, .3, 1.4]], None)
draw(4, thing + [[-.3, .1, .3, 1.4]], None)
draw(1, thing + [[-1.3, .1, -.3, 1.4]], [[3.], [2.]])
draw(1, [[.6, .2, .1, .7]], [[3.]])
""")

# ---- quality ----
GROUP.values("""
tf.image.psnr(x[:1], x[1:], 1.)
tf.image.psnr(bytes_[0], bytes_[1], 255)
tf.image.ssim(x[:1], x[1:], 1., filter_size=3)
tf.image.ssim(big[:1], big[1:], 1.)
tf.image.ssim(big[0], big[1], 1., filter_size=5, filter_sigma=1., k1=.1, k2=.2)
tf.image.ssim(bytes_[:1], bytes_[1:], 255, filter_size=3)
tf.image.ssim(big[:1], big[1:], 1., filter_size=9, return_index_map=True)
tf.image.ssim_multiscale(big[:1], big[1:], 1., filter_size=2, power_factors=(.5, .3, .1))
tf.image.ssim_multiscale(big[0], big[0] * .9, 1., filter_size=3, power_factors=(.5, .3))
""")

GROUP.errors("""
tf.image.adjust_hue(x, 1.3)
tf.image.adjust_hue(x[..., :2], 0.3)
tf.image.adjust_hue(x[0, 0, 0], 0.3)
tf.image.adjust_saturation(x[..., :2], 2.)
tf.image.adjust_saturation(x, [2., 2.])
tf.image.adjust_contrast(x, [2., 1.])
tf.image.adjust_contrast(x[0, 0], 2.)
tf.image.adjust_jpeg_quality(x, 50)
tf.image.adjust_jpeg_quality(x[0], 500)
tf.image.random_brightness(x, -1.)
tf.image.random_hue(x, -1.)
tf.image.random_hue(x, 1.)
tf.image.random_saturation(x, 1., 1.)
tf.image.random_contrast(x, -1., 1.)
tf.image.random_jpeg_quality(bytes_[0], 90, 50)
tf.image.random_jpeg_quality(bytes_[0], 1, 500)
tf.image.stateless_random_flip_up_down(x[0, 0], (1, 2))
tf.image.stateless_random_crop(x, (3, 2, 2, 3), (1, 2))
tf.image.stateless_random_crop(x, (2, 2, 3), (1, 2))
tf.image.psnr(x[:1], x[:, :2], 1.)
tf.image.psnr(x[0, 0], x[1, 0], 1.)
tf.image.ssim(x[:1], x[1:], 1.)
tf.image.ssim(x[0, 0], x[1, 0], 1.)
tf.image.ssim(x[:1], bytes_[1:], 1., filter_size=3)
tf.image.ssim_multiscale(x[:1], x[1:], 1., filter_size=3)
tf.image.non_max_suppression(boxes, scores, 3, 1.5)
tf.image.non_max_suppression(boxes, scores, -3)
tf.image.non_max_suppression(boxes, scores[:2], 3)
tf.image.non_max_suppression(boxes[0], scores, 3)
tf.image.non_max_suppression(boxes[:, :3], scores, 3)
tf.image.non_max_suppression(boxes, scores[None], 3)
tf.image.non_max_suppression(boxes, scores, [3])
tf.image.non_max_suppression(boxes, scores, 3, [.5])
tf.image.non_max_suppression_with_scores(boxes, scores, 4, soft_nms_sigma=-1.)
tf.image.non_max_suppression_overlaps(np.ones((4, 3), 'float32'), scores, 3)
padded(boxes[None], scores[None], 3)
padded(boxes, scores, 3, tile_size=0)
padded(boxes, scores, -1)
padded(boxes, scores, 3.)
combined(0, 5)
combined(1, 0)
combined(1, 5, 1.5)
tf.image.combined_non_max_suppression(boxes[None], scores[None, :, None], 1, 5)
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1]], [1], [2, 3])
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1]], [0, 1], [2, 3])
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1]], [0], [2, 3, 1])
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1]], [0], [0, 3])
tf.image.crop_and_resize(ramp, [[0, 0, 1]], [0], [2, 3])
tf.image.crop_and_resize(ramp[0], [[0, 0, 1, 1]], [0], [2, 3])
tf.image.crop_and_resize(ramp, [[0, 0, 1, 1]], [0], [2, 3], 'cubic')
tf.image.crop_and_resize(ramp, [[float('nan'), 0, 1, 1]], [0], [2, 3])
tf.image.extract_glimpse(ramp, [2, 3], [[.9, .8]], noise='loud')
tf.image.extract_glimpse(ramp, [3, 3], [-1., -1.])
tf.image.extract_glimpse(ramp, [3], [[-1., -1.]])
tf.image.extract_glimpse(ramp[0], [3, 3], [[-1., -1.]])
tf.image.extract_glimpse(ramp, [3, 3], [[-1., -1.], [1., 1.]])
draw(2, thing, [[3., 2.]])
draw(3, thing, [[3.]])
draw(3, thing[0], [[3.]])
draw(3, [[.1, .2, .6]], [[3., 1., 1.]])
sample_none((5, 6))
sample([[.1, .2, 1.6, .7]], (5, 6))
sample(thing, (5, 6), area_range=(.5, 1.1))
sample(thing, (5, 6), max_attempts=0)
sample(thing, (5, 6), min_object_covered=-1.)
sample(thing, (5, 6, 7))
tf.image.stateless_sample_distorted_bounding_box([40, 60], [thing], (5, 6))
""")

# ---- rare values and arguments, which random calls found -------------------------------------------------------------

GROUP.values("""
tf.image.resize(column([1, 2, 3, 4, 5, 6] * 4 + [np.nan] + [1] * 23), [4, 3], 'area')
tf.image.resize(column([1, 2, 3, 4, 5, np.inf] * 4 + [1] * 24), [4, 3], 'area')
tf.image.resize(column([1] * 12 + [np.inf] + [2] * 35), [4, 3], 'mitchellcubic', antialias=True)
tf.image.resize(column([1] * 12 + [-np.inf] + [2] * 35), [4, 3], 'lanczos3', antialias=True)
tf.function(lambda f: tf.image.central_crop(big, f))(tf.constant(0.5))
tf.function(lambda f: tf.image.central_crop(big[0], f))(tf.constant(0.0, tf.float64)).shape
tf.function(tf.image.central_crop).get_concrete_function(IMAGES, tf.TensorSpec([])).output_shapes
tf.function(tf.image.rot90).get_concrete_function(tf.TensorSpec([4, 4, 3]), 2).output_shapes
tf.image.resize_with_pad(x, tf.constant(2), 3)
tf.image.resize_with_pad(x[0], 5, tf.constant(2), 'nearest')
tf.function(lambda n: tf.image.resize_with_pad(x, n, 3))(tf.constant(2))
tf.function(lambda n, m: tf.image.resize_with_pad(x, n, m))(tf.constant(4), tf.constant(3))
tf.function(tf.image.flip_up_down, input_signature=[tf.TensorSpec(None)])(x[0])
tf.function(tf.image.rot90).get_concrete_function(tf.TensorSpec([2, 4, 5, 3]), 2).output_shapes
""")
GROUP.errors("""
tf.image.sobel_edges(tf.constant(0.0))
tf.image.resize_with_pad(x, 0, 3)
tf.image.resize_with_pad(x, tf.constant(0), 3)
tf.function(lambda n: tf.image.resize_with_pad(x, n, 3))(tf.constant(0))
tf.function(tf.image.flip_up_down, input_signature=[tf.TensorSpec(None)])(tf.constant(0.0))
tf.function(tf.image.flip_left_right, input_signature=[tf.TensorSpec(None)])([[0.0]])
tf.function(tf.image.grayscale_to_rgb, input_signature=[tf.TensorSpec(None)])([[0.0]])
tf.function(tf.image.grayscale_to_rgb, input_signature=[tf.TensorSpec([None, 1])])([[0.0]])
tf.function(lambda f: tf.image.central_crop(big, f))(tf.constant(7.0))
""")
