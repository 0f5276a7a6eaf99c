"""tf.image on drawn numbers: boxes, crops, glimpses, resizing and projections, at all borders and with all options."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
I = tf.image
def drawn(*shape, seed=0, low=0.0, high=1.0, dtype=tf.float32):
    numbers = np.random.default_rng(seed).uniform(low, high, shape)
    return tf.constant(np.round(numbers, 0 if dtype.is_integer else 2), dtype)
def boxes(*shape, seed=0, low=-0.3, high=1.3, ordered=False):
    corners = np.round(np.random.default_rng(seed).uniform(low, high, [*shape, 2, 2]), 2)
    corners = np.sort(corners, -2) if ordered else corners
    return tf.constant(corners.reshape([*shape, 4]), tf.float32)
def painted(count, channels, seed=0, colors=None, size=(7, 9)):
    return I.draw_bounding_boxes(tf.zeros([1, *size, channels]), boxes(1, count, seed=seed, ordered=True), colors)
def scores(*shape, seed=1):
    return tf.constant(np.random.default_rng(seed).uniform(0.0, 0.5, shape), tf.float32)
def softly(n, limit, sigma, least=0.0, seed=0):
    return I.non_max_suppression_with_scores(
        boxes(n, seed=seed, low=0.0, high=1.0), scores(n), limit, 0.4, least, sigma)
def of_classes(n, classes, per_class, total, iou=0.3, least=0.1, each=False, **more):
    return I.combined_non_max_suppression(
        boxes(2, n, classes if each else 1, seed=5), scores(2, n, classes), per_class, total, iou, least, **more)
def padded(n, limit, iou=0.3, least=0.1, images=2, seed=3, **more):
    corners = boxes(images, n, seed=seed, low=0.0, high=1.0, ordered=more.get('canonicalized_coordinates', True))
    more.setdefault('canonicalized_coordinates', True)
    return I.non_max_suppression_padded(corners, scores(images, n), limit, iou, least, True, **more)
def sampled(seed, size=(40, 60, 3), around=[[[0.1, 0.2, 0.6, 0.7]]], **more):
    parts = I.stateless_sample_distorted_bounding_box(size, around, [seed, 7], **more)
    return parts.begin, parts.size, parts.bboxes
def crops(count, size, how='bilinear', outside=0.5, seed=0, dtype=tf.float32, low=-0.4, high=1.4):
    images = drawn(3, 4, 5, 2, high=9.0, dtype=dtype)
    places = boxes(count, seed=seed, low=low, high=high)
    return I.crop_and_resize(images, places, np.arange(count) % 3, size, how, outside)
def seen(mode, how, transform, size=(5, 6), fill=0.25, dtype=tf.float32, shape=(1, 4, 5, 2)):
    return R.ImageProjectiveTransformV3(
        images=drawn(*shape, high=9.0, dtype=dtype), transforms=[transform], output_shape=size, fill_value=fill,
        interpolation=how, fill_mode=mode)
def shifted(y, x):
    return [1.0, 0.0, x, 0.0, 1.0, y, 0.0, 0.0]
def scaled(size, scale, moved, kind='lanczos3', antialias=True, shape=(1, 5, 7, 1), grad=False):
    attrs = dict(scale=scale, translation=moved, kernel_type=kind, antialias=antialias)
    if grad:
        return R.ScaleAndTranslateGrad(grads=drawn(1, *size, 1), original_image=tf.zeros(shape), **attrs)
    return R.ScaleAndTranslate(images=drawn(*shape), size=size, **attrs)
"""
)
LOOSE = {"rtol": 1e-4, "atol": 1e-5, "because": "sums of products in another order"}

# ---- boxes -----------------------------------------------------------------------------------------------------------
GROUP.family("painted({n}, {c}, {seed})", n="1 4", c="1 3", seed="1 2 3")
GROUP.family("painted(3, 1, {seed}, [[2.0], [3.0]], {size})", seed="4 5 6 7", size=["(1, 4)", "(5, 1)", "(6, 7)"])
GROUP.values("""
painted(12, 4, 8)[0, :, :5]
painted(3, 3, 9, [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
painted(3, 4, 9, [[1.0, 2.0, 3.0, 4.0]])[0, :, :7]
I.draw_bounding_boxes(drawn(1, 4, 4, 1, dtype=tf.float16), boxes(1, 2, seed=3), None)
I.draw_bounding_boxes(tf.zeros([1, 4, 4, 1]), [[[nan, 0.0, 1.0, 1.0], [0.2, 0.2, inf, 0.9]]], [[1.0], [2.0]])
I.draw_bounding_boxes(tf.zeros([3, 4, 4, 1]), boxes(3, 2, seed=3, ordered=True), [[1.0], [2.0]])
I.draw_bounding_boxes(tf.zeros([1, 4, 5, 1]), [[[0.0, 0.5, 0.0, 0.5], [1.0, 1.0, 1.0, 1.0]]], [[1.0], [2.0]])
""")
GROUP.family("sampled({seed})", seed=[str(n) for n in range(12)])
GROUP.family(
    "sampled({seed}, size={size}, area_range=(0.02, 0.3), aspect_ratio_range=(0.2, 5.0))",
    seed=[str(n) for n in range(8)],
    size=["(9, 5, 3)", "(5, 9, 1)"],
)
GROUP.family("sampled({seed}, size=(6, 8, 3), area_range=(0.4, 0.5), max_attempts=3)", seed="0 1 2 3 4 5 6 7 8 9")
GROUP.family("sampled({seed}, size=(8, 6, 3), min_object_covered=0.6, area_range=(0.3, 1.0))", seed="0 1 2 3 4 5")
GROUP.values("""
sampled(1, around=[[[0.0, 0.0, 1.0, 1.0]]], min_object_covered=1.0, max_attempts=2)
sampled(1, around=[[[0.0, 0.0, 1.0, 1.0]]], min_object_covered=1.5)
sampled(1, around=tf.zeros([0, 0, 4]), use_image_if_no_bounding_boxes=True)
sampled(2, size=tf.constant([40, 60, 3], tf.int64))
sampled(3, size=tf.constant([7, 3, 3], tf.uint8))
sampled(4, around=[[[0.5, 0.5, 0.5, 0.9]]])
sampled(4, around=[[[0.8, 0.8, 0.2, 0.9], [0.3, 0.4, 0.35, 0.45]]], min_object_covered=0.0)
""")
GROUP.errors("""
sampled(1, size=[[40, 60, 3]])
sampled(1, size=[40, 60])
sampled(1, size=tf.constant([2**31, 60, 3], tf.int64))
sampled(1, around=[[0.1, 0.2, 0.6, 0.7]])
sampled(1, around=[[[0.1, 0.2, 0.6]]])
sampled(1, around=[[[0.1, 0.2, 0.6, 1.1]]])
sampled(1, around=[[[-0.1, 0.2, 0.6, 1.0]]])
sampled(1, around=tf.zeros([1, 0, 4]))
sampled(1, min_object_covered=[0.1])
sampled(1, min_object_covered=-0.1)
sampled(1, aspect_ratio_range=(0.0, 1.0))
sampled(1, aspect_ratio_range=(1.0,))
sampled(1, area_range=(-0.5, 1.0))
sampled(1, area_range=(0.5, 1.1))
sampled(1, area_range=(0.1, 0.2, 0.3))
sampled(1, max_attempts=0)
sampled(1, max_attempts=-1)
I.stateless_sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.6, 0.7]]], [1, 2, 3])
I.stateless_sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.6, 0.7]]], 1)
""")
GROUP.family(
    "I.non_max_suppression(boxes(30, seed={s}, low=0.0, high=1.0), scores(30), {limit}, {iou}, {least})",
    s="0",
    limit="0 3 40",
    iou="0.0 0.3 1.0",
    least="0.0 0.25 -inf",
)
GROUP.family(
    "softly({n}, {limit}, {sigma}, {least}, {seed})",
    n="15",
    limit="4 20",
    sigma="0.0 0.05 0.5",
    least="0.0 0.2",
    seed="0 1",
    rtol=1e-4,
    because="powers",
)
GROUP.family(
    "of_classes({n}, {c}, {per}, {total}, each={each}, pad_per_class={pad})",
    n="9",
    c="1 3",
    per="2 5",
    total="4 20",
    each="True False",
    pad="True False",
)
GROUP.family(
    "padded({n}, {limit}, {iou}, {least}, tile_size={tile})",
    n="9 16",
    limit="3 12",
    iou="0.3 0.8",
    least="0.1 -inf",
    tile="4 512",
)
GROUP.values("""
padded(7, 9, canonicalized_coordinates=False)
padded(7, 9, canonicalized_coordinates=False, seed=4)
padded(7, 5, sorted_input=True)
padded(7, 5, sorted_input=True, tile_size=3)
padded(7, 5, 0.0)
padded(7, 5, 1.0)
padded(7, 5, least=0.9)
I.non_max_suppression_padded(boxes(9, seed=2, ordered=True), scores(9), 4, 0.2, canonicalized_coordinates=True)
I.non_max_suppression_padded(boxes(9, seed=2, ordered=True), scores(9), 4, 0.2, 0.2)
I.non_max_suppression_padded(boxes(9, seed=2, ordered=True), scores(9), 12, 0.2, pad_to_max_output_size=True)
I.non_max_suppression_padded(boxes(2, 3, 5, seed=2, ordered=True), scores(2, 3, 5), 4, 0.2, pad_to_max_output_size=True)
I.non_max_suppression_overlaps(drawn(9, 9), scores(9), 5, 0.7, 0.1)
I.non_max_suppression_overlaps(drawn(9, 9), scores(9), 9, 0.4)
I.non_max_suppression(tf.cast(boxes(9, seed=2), tf.float16), tf.cast(scores(9), tf.float16), 5, 0.3)
I.non_max_suppression([[0.0, 0.0, 1.0, 1.0]] * 4, [0.5, 0.5, 0.7, 0.7], 4, 1.0)
I.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]], [0.5, 0.6], 4, 0.9)
I.non_max_suppression([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]], [0.5, 0.6], 4, 0.0)
I.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 2.0]], [0.5, 0.6], 4, 0.0)
I.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]], [nan, 0.6], 4, 0.5)
I.non_max_suppression(tf.zeros([0, 4]), tf.zeros([0]), 4)
of_classes(0, 2, 2, 3)
of_classes(9, 2, 3, 5, clip_boxes=False)
of_classes(9, 3, 3, 5, each=True, clip_boxes=False)
""")

# ---- crops and glimpses ----------------------------------------------------------------------------------------------
GROUP.family(
    "crops({n}, {size}, '{how}', seed={seed})",
    n="4",
    size=["[3, 2]", "[1, 4]", "[5, 1]", "[2, 6]"],
    how="bilinear nearest",
    seed="0 1",
    **LOOSE,
)
GROUP.family(
    "crops(3, [3, 4], '{how}', dtype={d})", how="bilinear nearest", d="tf.uint8 tf.float64 tf.float16 tf.int32", **LOOSE
)
GROUP.family(
    "grad(lambda x, b: I.crop_and_resize(x, b, [1, 0, 1], {size}, '{how}', 2.0) * drawn(3, *{size}, 2),"
    " drawn(2, 4, 5, 2), boxes(3, seed={seed}))",
    size=["[3, 2]", "[1, 1]"],
    how="bilinear nearest",
    seed="0 2",
    **LOOSE,
)
GROUP.values(
    """
crops(3, [4, 5], low=0.0, high=1.0)
crops(3, [4, 5], 'nearest', low=0.0, high=1.0)
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [4, 5])
I.crop_and_resize(drawn(1, 4, 5, 1), [[1.0, 1.0, 0.0, 0.0]], [0], [4, 5])
I.crop_and_resize(drawn(1, 1, 1, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), tf.zeros([0, 4]), tf.zeros([0], tf.int32), [4, 5])
I.crop_and_resize(tf.constant([[[[1.0], [inf]], [[2.0], [nan]]]]), [[0.0, 0.0, 1.0, 1.0]], [0], [3, 3])
mapped(lambda x, b: I.crop_and_resize(x, b, [1, 0], [2, 3]), drawn(3, 2, 4, 5, 1), boxes(3, 2, seed=4))
""",
    **LOOSE,
)
GROUP.errors("""
I.crop_and_resize(drawn(4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [0.0, 0.0, 1.0, 1.0], [0], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0]], [0], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0, 0], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [0, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [2, -1])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [1], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [-1], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, inf, 1.0, 1.0]], [0], [2, 2])
I.crop_and_resize(drawn(1, 4, 5, 1), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2], 'cubic')
""")
GROUP.family(
    "I.extract_glimpse(drawn(3, 4, 5, 1), {size}, drawn(3, 2, seed=1, low={low}, high={high}), {c}, {n}, 'zero')",
    size=["[2, 3]", "[5, 2]", "[7, 8]"],
    low="-1.5 -4.0",
    high="1.5",
    c="True False",
    n="True False",
)
GROUP.errors("""
I.extract_glimpse(drawn(4, 5, 1), [2, 2], tf.zeros([1, 2]))
I.extract_glimpse(drawn(1, 4, 5, 1), [2, 2, 2], tf.zeros([1, 2]))
I.extract_glimpse(drawn(1, 4, 5, 1), [2, -2], tf.zeros([1, 2]))
I.extract_glimpse(drawn(1, 4, 5, 1), [2, 2], tf.zeros([2, 2]))
I.extract_glimpse(drawn(1, 4, 5, 1), [2, 2], tf.zeros([1, 3]))
I.extract_glimpse(drawn(1, 4, 5, 1), [2, 2], tf.zeros([1, 2]), noise='pink')
""")

# ---- resized ---------------------------------------------------------------------------------------------------------
GROUP.family(
    "R.{op}(images=drawn(1, 5, 7, 1), size={size}, align_corners={a}, half_pixel_centers={h})",
    op="ResizeBilinear ResizeNearestNeighbor ResizeBicubic",
    size=["[3, 11]", "[8, 1]", "[1, 4]"],
    a="True False",
    h="False",
    **LOOSE,
)
GROUP.family(
    "R.{op}(images=drawn(1, 5, 7, 1), size={size}, half_pixel_centers=True)",
    op="ResizeBilinear ResizeNearestNeighbor ResizeBicubic",
    size=["[3, 11]", "[8, 1]", "[1, 4]"],
    **LOOSE,
)
GROUP.family(
    "R.ResizeArea(images=drawn(1, 5, 7, 2), size={size}, align_corners={a})",
    size=["[3, 11]", "[8, 1]", "[1, 4]", "[2, 3]"],
    a="True False",
    **LOOSE,
)
GROUP.family(
    "R.{op}Grad(grads=drawn(1, 3, 11, 1), original_image=tf.zeros([1, 5, 7, 1]), align_corners={a})",
    op="ResizeBilinear ResizeBicubic",
    a="True False",
    **LOOSE,
)
GROUP.family(
    "R.{op}Grad(grads=drawn(1, 6, 4, 1), original_image=tf.zeros([1, 5, 7, 1]), half_pixel_centers=True)",
    op="ResizeBilinear ResizeBicubic",
    **LOOSE,
)
GROUP.family(
    "R.ResizeNearestNeighborGrad(grads=drawn(1, 6, 4, 1), size=[5, 7], align_corners={a}, half_pixel_centers={h})",
    a="True False",
    h="False",
    **LOOSE,
)
GROUP.family(
    "scaled([4, 6], {how}, '{k}', {a})",
    how=["[0.6, 1.7], [1.3, -2.6]", "[2.0, 0.3], [-9.0, 4.0]"],
    k="lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic",
    a="True False",
    **LOOSE,
)
GROUP.family(
    "scaled([4, 6], [0.6, 1.7], [1.3, -2.6], '{k}', {a}, grad=True)",
    k="lanczos3 gaussian box mitchellcubic",
    a="True False",
    **LOOSE,
)
GROUP.family(
    "I.resize(drawn({shape}), {size}, '{m}', antialias={a})",
    shape=["1, 6, 5, 2"],
    size=["[3, 7]", "[9, 4]"],
    m="bilinear lanczos3 lanczos5 bicubic gaussian nearest area mitchellcubic",
    a="True False",
    **LOOSE,
)
GROUP.family(
    "I.resize(drawn(1, 6, 5, 1), {size}, preserve_aspect_ratio=True)",
    size=["[3, 7]", "[9, 4]", "[2, 2]", "[12, 12]"],
    **LOOSE,
)
GROUP.family("I.resize_with_pad(drawn(1, 6, 5, 1), {h}, {w}, antialias={a})", h="3 8", w="3 9", a="True False", **LOOSE)
GROUP.family("I.resize_with_crop_or_pad(drawn(1, 6, 5, 1), {h}, {w})", h="3 6 9", w="2 5 8")
GROUP.family("I.central_crop(drawn({shape}), {f})", shape=["1, 6, 5, 1", "7, 8, 1"], f="0.1 0.3 0.5 0.77 0.999 1.0")

# ---- projected -------------------------------------------------------------------------------------------------------
GROUP.family(
    "seen('{mode}', '{how}', {t})",
    mode="CONSTANT REFLECT WRAP NEAREST",
    how="BILINEAR NEAREST",
    t=[
        "[0.8, 0.3, -2.0, -0.2, 1.2, 1.0, 0.02, -0.03]",
        "[-1.0, 0.0, 4.0, 0.0, -1.0, 3.0, 0.0, 0.0]",
        "[3.0, 0.5, -9.0, 0.4, 4.0, -8.0, 0.0, 0.0]",
        "shifted(-0.5, 2.5)",
        "shifted(-13.3, -17.7)",
        "shifted(9.0, 12.0)",
        "[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -0.5, -0.25]",
    ],
    **LOOSE,
)
GROUP.family(
    "seen('{mode}', '{how}', {t}, dtype={d})",
    mode="CONSTANT REFLECT WRAP NEAREST",
    how="BILINEAR NEAREST",
    t=["[0.8, 0.3, -2.0, -0.2, 1.2, 1.0, 0.02, -0.03]", "shifted(-13.3, -17.7)"],
    d="tf.uint8 tf.float64 tf.int32",
    fill=["0"],
    **LOOSE,
)
GROUP.family(
    "seen('{mode}', '{how}', shifted(0.4, -3.0), shape={shape})",
    mode="CONSTANT REFLECT WRAP NEAREST",
    how="BILINEAR NEAREST",
    shape=["(1, 1, 4, 1)", "(1, 3, 1, 1)", "(1, 1, 1, 3)"],
    **LOOSE,
)
