"""tf.image at the limits of what it takes: refusals, options of raw ops, static shapes, gradients."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
I = tf.image
F = lambda *dims: tf.TensorSpec(dims, tf.float32)
def picture(*shape, dtype=tf.float32):
    wave = 0.5 + 0.5 * np.sin(1.3 * np.arange(np.prod(shape))).reshape(shape)
    return tf.cast(wave * 255, dtype) if dtype.is_integer else tf.cast(wave, dtype)
def fake(rows, columns, channels=3, dtype=tf.uint8):
    return picture(rows, columns, channels, dtype=dtype)
img = picture(2, 4, 5, 3)
octets = picture(2, 4, 5, 3, dtype=tf.uint8)
boxes = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.1, 0.0, 1.0, 0.9], [0.5, 0.5, 0.9, 1.0], [0.0, 0.0, 0.4, 0.4]])
scores = tf.constant([0.9, 0.8, 0.7, 0.3])
thing = [[[0.1, 0.2, 0.6, 0.7]]]
tilted = [0.9, 0.2, -7.0, -0.1, 1.1, 9.0, 0.01, 0.02]
flat = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
def seen(x, transforms, size=(4, 5), mode='CONSTANT', how='BILINEAR', fill=0.25):
    return R.ImageProjectiveTransformV3(
        images=x, transforms=transforms, output_shape=size, fill_value=fill, interpolation=how, fill_mode=mode)
def scaled(kind, antialias):
    return R.ScaleAndTranslate(
        images=img, size=[3, 4], scale=[0.7, 1.4], translation=[0.5, -1.0], kernel_type=kind, antialias=antialias)
def suppressed(limit=4, iou=0.5, least=0.0, sigma=0.0, pad=False):
    return R.NonMaxSuppressionV5(
        boxes=boxes, scores=scores, max_output_size=limit, iou_threshold=iou, score_threshold=least,
        soft_nms_sigma=sigma, pad_to_max_output_size=pad)
def combined(b, s, per_class=2, total=4, iou=0.5, least=0.0, **more):
    return R.CombinedNonMaxSuppression(
        boxes=b, scores=s, max_output_size_per_class=per_class, max_total_size=total, iou_threshold=iou,
        score_threshold=least, **more)
one_class = tf.reshape(boxes, [1, 4, 1, 4])
two_classes = tf.stack([scores, tf.reverse(scores, [0])], 1)[None]
def sample(size=(40, 60, 3), around=thing, seed=(1, 2), **more):
    return I.stateless_sample_distorted_bounding_box(size, around, seed, **more)
"""
)
LOOSE = {"rtol": 1e-4, "atol": 1e-5, "because": "sums of products in another order"}

# ---- resized ---------------------------------------------------------------------------------------------------------
GROUP.errors("""
I.resize(img[0, 0], [2, 3])
I.resize(img, [2])
I.resize(img, [2, 3, 4])
I.resize(img, [0, 3])
I.resize(img, 3)
I.resize(img, [2, 3], 'cubic')
I.resize(tf.zeros([1, 0, 3, 1]), [2, 2])
I.resize(tf.zeros([1, 2, 0, 1]), [2, 2], 'nearest')
I.resize(tf.zeros([1, 2, 2, 0]), [2, 2], 'bicubic')
R.ResizeArea(images=tf.zeros([1, 0, 2, 1]), size=[2, 2])
R.ResizeBilinear(images=img, size=[[2, 2]])
R.ResizeBilinear(images=img[0], size=[2, 2])
R.ResizeBilinearGrad(grads=img, original_image=tf.zeros([2, 0, 5, 3]))
R.ResizeBicubicGrad(grads=img[0], original_image=img)
R.ScaleAndTranslate(images=img, size=[2, 3], scale=[1.0, 1.0], translation=[0.0, 0.0], kernel_type='cubic')
R.ScaleAndTranslate(images=img, size=[2, 3], scale=[0.0, 1.0], translation=[0.0, 0.0])
R.ScaleAndTranslate(images=img, size=[2, 3], scale=[-1.0, 1.0], translation=[0.0, 0.0])
R.ScaleAndTranslateGrad(grads=img[0], original_image=img, scale=[1.0, 1.0], translation=[0.0, 0.0])
rule(lambda x: I.resize(x, [2, 3]), F(4, 5))
rule(lambda x: R.ResizeBilinear(images=x, size=[2, 3, 4]), F(1, 4, 5, 3))
I.resize_with_pad(img, -1, 3)
I.resize_with_crop_or_pad(img, 0, 3)
I.resize_with_crop_or_pad(img[0, 0], 2, 3)
I.central_crop(img, 0.0)
I.central_crop(img, 1.1)
I.central_crop(img[0, 0], 0.5)
I.crop_to_bounding_box(img, 2, 0, 3, 5)
I.crop_to_bounding_box(img, 0, -1, 3, 5)
I.crop_to_bounding_box(img, 0, 0, 0, 5)
I.pad_to_bounding_box(img, 1, 0, 4, 5)
I.pad_to_bounding_box(img, -1, 0, 9, 9)
I.pad_to_bounding_box(img, 0, 0, 4, 4)
""")
GROUP.family("R.{op}(images={x}, size=[3, 7], align_corners={a}, half_pixel_centers={h})",
             op="ResizeBilinear ResizeNearestNeighbor ResizeBicubic", x="img octets", a="False True", h="False",
             **LOOSE)  # fmt: skip
GROUP.family("R.{op}(images={x}, size=[3, 7], half_pixel_centers=True)",
             op="ResizeBilinear ResizeNearestNeighbor ResizeBicubic", x="img octets", **LOOSE)  # fmt: skip
GROUP.family("R.ResizeArea(images={x}, size={size}, align_corners={a})", x="img octets", size="[3,7] [1,1]",
             a="False True", **LOOSE)  # fmt: skip
GROUP.family("scaled('{k}', {a})", k="lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic",
             a="True False", **LOOSE)  # fmt: skip
GROUP.family("grad(lambda x: R.{op}(images=x, size=[3, 7], align_corners={a}) ** 2, img[:1, ..., :1])",
             op="ResizeBilinear ResizeNearestNeighbor ResizeBicubic", a="False True", **LOOSE)  # fmt: skip
GROUP.family("grad(lambda x: R.{op}(images=x, size=[3, 7], half_pixel_centers=True) ** 2, img[:1, ..., :1])",
             op="ResizeBilinear ResizeNearestNeighbor ResizeBicubic", **LOOSE)  # fmt: skip
GROUP.values("""
grad(lambda x: I.resize(x, [3, 7], 'lanczos3', antialias=True) ** 2, img[:1, ..., :1])
grad(lambda x: I.resize(x, [3, 7]) ** 2, picture(1, 4, 5, 1, dtype=tf.float16))
I.resize(picture(1, 4, 5, 1, dtype=tf.float64), [3, 7])
I.resize(picture(1, 4, 5, 12), [3, 2])[..., :4]
I.resize([[[[1.0], [inf]], [[2.0], [3.0]]]], [3, 3])
I.resize(img, [4, 5])
I.resize(octets, [4, 5], 'nearest')
I.resize(img[0], [2, 3])
I.resize(img, [8, 3], preserve_aspect_ratio=True)
I.resize(img, [1, 30], preserve_aspect_ratio=True)
rule(lambda x: I.resize(x, [2, 3]), F(None, None, None, 3))
rule(lambda x, n: I.resize(x, n), F(2, 4, 5, 3), [2])
rule(lambda x: R.ResizeArea(images=x, size=[2, 3]), F(None, 4, 5, None))
mapped(lambda x: I.resize(x[None], [3, 7]), img)
mapped(lambda x: R.ResizeNearestNeighbor(images=x[None], size=[3, 7]), octets)
I.central_crop(img, 0.5)
I.central_crop(img[0], 0.6)
I.central_crop(img, 1.0)
sized(lambda x: I.central_crop(x, 0.5), img)
I.crop_to_bounding_box(img, 1, 2, 3, 2)
I.crop_to_bounding_box(img[0], 0, 1, 1, 1)
I.pad_to_bounding_box(img[0], 1, 2, 6, 7)
I.pad_to_bounding_box(img, 0, 0, 4, 5)
I.resize_with_crop_or_pad(img, 2, 7)
I.resize_with_crop_or_pad(img[0], 7, 2)
I.resize_with_pad(img, 3, 7)
I.resize_with_pad(octets[0], 7, 3, 'nearest')
I.resize_with_pad(img, 6, 2, antialias=True)
""", **LOOSE)  # fmt: skip

# ---- projected -------------------------------------------------------------------------------------------------------
GROUP.family("seen(img[..., :1], [[0.9, 0.2, -1.0, -0.1, 1.1, 2.0, 0.01, 0.02]], mode='{mode}', how='{how}')",
             mode="CONSTANT REFLECT WRAP NEAREST", how="BILINEAR NEAREST", **LOOSE)  # fmt: skip
GROUP.family("seen(octets[..., :1], [tilted], mode='{mode}', how='{how}', fill=7.0)",
             mode="CONSTANT REFLECT WRAP NEAREST", how="BILINEAR NEAREST", **LOOSE)  # fmt: skip
GROUP.family("seen(octets[:, :1, :, :1], [flat[:2] + [-7.0] + flat[3:]], mode='{mode}', how='NEAREST')",
             mode="CONSTANT REFLECT WRAP NEAREST")  # fmt: skip
GROUP.values("""
seen(img[..., :1], [flat, [2.0, 0.0, 1.0, 0.0, 2.0, -1.0, 0.0, 0.0]], (2, 3))
seen(picture(1, 3, 3, 2, dtype=tf.float64), [[0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]], (3, 4))
seen(img[..., :1], [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -0.5, 0.0]])
rule(lambda x, t: seen(x, t, [3, 4]), F(None, 4, 5, 2), F(1, 8))
""", **LOOSE)  # fmt: skip
GROUP.errors("""
seen(img[0], [flat])
seen(img, [flat] * 3)
seen(img, [flat[:7]])
seen(img, flat)
seen(img, [flat], (0, 3))
seen(img, [flat], (3,))
rule(lambda x, t: seen(x, t), F(4, 5, 2), F(1, 8))
""")

# ---- boxes -----------------------------------------------------------------------------------------------------------
GROUP.values("""
suppressed()
suppressed(2)
suppressed(4, 1.0)
suppressed(4, 0.0)
suppressed(4, 0.5, 0.75)
suppressed(4, 0.5, 0.3)
suppressed(6, pad=True)
suppressed(4, 0.5, 0.1, 0.5)
suppressed(4, 0.9, 0.4, 0.3, True)
suppressed(0, pad=True)
I.non_max_suppression_overlaps([[1.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 1.0]], [0.3, 0.9, 0.5], 3)
I.non_max_suppression_overlaps([[1.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 1.0]], [0.3, 0.9, 0.5], 3, 0.2, 0.4)
combined(one_class, two_classes)
combined(one_class, two_classes, 1, 4)
combined(one_class, two_classes, 3, 2)
combined(one_class, two_classes, 1, 9, pad_per_class=True)
combined(one_class, two_classes, 3, 2, pad_per_class=True)
combined(one_class * 2.0 - 0.5, two_classes, clip_boxes=False)
combined(one_class * 2.0 - 0.5, two_classes, clip_boxes=True)
combined(tf.tile(one_class, [1, 1, 2, 1]) * [[[[1.0]], [[0.5]], [[1.0]], [[0.2]]]], two_classes, 4, 8, 0.3, 0.5)
rule(lambda b, s: combined(b, s), F(None, 4, 1, 4), F(1, 4, 2))
rule(lambda b, s: combined(b, s, 1, 9, pad_per_class=True), F(1, 4, 1, 4), F(1, 4, 2))
rule(lambda b, s: combined(b, s, 9, 5, pad_per_class=True), F(1, 4, None, 4), F(1, 4, None))
rule(lambda b, s: I.non_max_suppression(b, s, 3), F(None, 4), F(None))
rule(lambda b, s: I.non_max_suppression_with_scores(b, s, 3), F(5, 4), F(5))
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 1]), [[[0.1, 0.2, 0.9, 0.8]]], None)
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 3]), [[[0.1, 0.2, 0.9, 0.8], [0.0, 0.0, 1.0, 1.0]]], None)
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 4]), [[[0.1, 0.2, 0.9, 0.8], [-0.5, 0.5, 0.5, 1.5]]], None)
I.draw_bounding_boxes(tf.zeros([2, 5, 6, 1]), [[[0.1, 0.2, 0.9, 0.8]], [[0.4, 0.4, 0.4, 0.9]]], [[3.0], [4.0]])
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 3], tf.float16), [[[0.1, 0.2, 0.9, 0.8]]], [[1.0, 2.0, 3.0, 4.0]])
I.draw_bounding_boxes(tf.ones([1, 5, 6, 1]), [[[0.9, 0.2, 0.1, 0.8], [1.5, 0.0, 1.8, 1.0]]], [[3.0]])
sample()
sample(seed=(3, 4), min_object_covered=0.5)
sample(aspect_ratio_range=(0.5, 0.6), area_range=(0.3, 0.4))
sample(aspect_ratio_range=(3.0, 4.0), area_range=(0.9, 1.0), max_attempts=5)
sample(max_attempts=1, area_range=(0.99, 1.0), min_object_covered=1.0)
sample((7, 5, 3), seed=(5, 6), area_range=(0.1, 0.2))
sample((1, 1, 3), seed=(5, 6))
sample((4, 300, 1), seed=(8, 6), aspect_ratio_range=(2.0, 90.0))
sample(around=tf.zeros([1, 0, 4]), use_image_if_no_bounding_boxes=True)
sample(around=[[[0.0, 0.0, 0.1, 0.1], [0.5, 0.5, 1.0, 1.0]]], min_object_covered=0.9)
sample(tf.constant([40, 60, 3], tf.int16))
[sample(seed=(n, 9), area_range=(0.2, 0.9)).begin for n in range(8)]
[sample(seed=(n, 9), aspect_ratio_range=(0.3, 3.0)).size for n in range(8)]
I.crop_and_resize(img, boxes, [0, 1, 1, 0], [3, 2])[..., :1]
I.crop_and_resize(img, boxes[:1] * 3.0 - 1.0, [1], [3, 1], 'nearest', 5.0)
I.crop_and_resize(octets, boxes[2:3], [1], [1, 4])
grad(lambda x, b: I.crop_and_resize(x, b, [0], [3, 2])[..., :1] ** 2, img[:1], boxes[2:3])
grad(lambda x: I.crop_and_resize(x, boxes[2:3], [1], [3, 2], 'nearest')[..., :1] ** 2, img)
mapped(lambda x, b: I.crop_and_resize(x[None], b[None], [0], [3, 2]), img, boxes[1:3])
rule(lambda x, b, n: I.crop_and_resize(x, b, n, [3, 2]), F(2, 4, 5, None), F(None, 4), [6])
rule(lambda x, b, s: I.crop_and_resize(x, b, [0], s), F(2, 4, 5, 3), F(1, 4), [2])
I.extract_glimpse(img[..., :1], [3, 2], [[0.0, 0.5], [-0.5, 0.1]], noise='zero')
I.extract_glimpse(img[..., :1], [3, 2], [[1.0, 2.0], [-1.0, 0.0]], False, False, 'zero')
I.extract_glimpse(img[..., :1], [3, 2], [[1.0, 2.0], [-1.0, 0.0]], True, False, 'zero')
I.extract_glimpse(img[..., :1], [3, 2], [[0.5, 0.2], [0.1, 0.0]], False, True, 'zero')
I.extract_glimpse(img[:0], [3, 2], tf.zeros([0, 2]))
I.extract_glimpse(img, [0, 2], tf.zeros([2, 2]))
rule(lambda x, o: I.extract_glimpse(x, [3, 2], o), F(None, 4, 5, 2), F(6, 2))
""", **LOOSE)  # fmt: skip
GROUP.errors("""
suppressed(-1)
suppressed([2])
suppressed(4, 1.5)
suppressed(4, -0.1)
suppressed(4, [0.5])
suppressed(4, 0.5, [0.0])
suppressed(4, 0.5, 0.0, -1.0)
suppressed(4, 0.5, 0.0, [0.1])
I.non_max_suppression(boxes[:, :3], scores, 3)
I.non_max_suppression(boxes, scores[:3], 3)
I.non_max_suppression(boxes[None], scores, 3)
I.non_max_suppression(boxes, scores[None], 3)
rule(lambda b, s: I.non_max_suppression(b, s, [3]), F(5, 4), F(5))
rule(lambda b, s: I.non_max_suppression(b, s, 3), F(5, 4), F(6))
rule(lambda b, s: I.non_max_suppression(b, s, 3), F(5, 3), F(5))
I.non_max_suppression_overlaps(boxes, scores[:3], 3)
I.non_max_suppression_overlaps(boxes[:3], scores[:3], 3)
I.non_max_suppression_overlaps(boxes[0], scores, 3)
combined(boxes, two_classes)
combined(one_class, scores)
combined(one_class[..., :3], two_classes)
combined(one_class[:, :3], two_classes)
combined(tf.tile(one_class, [1, 1, 3, 1]), two_classes)
combined(tf.tile(one_class, [2, 1, 1, 1]), two_classes)
combined(one_class, two_classes, 0)
combined(one_class, two_classes, 2, 0)
combined(one_class, two_classes, [2])
combined(one_class, two_classes, 2, [4])
combined(one_class, two_classes, iou=1.5)
combined(one_class, two_classes, iou=[0.5])
combined(one_class, two_classes, least=[0.5])
rule(lambda b, s: combined(b, s), F(4, 1, 4), F(1, 4, 2))
rule(lambda b, s: combined(b, s), F(1, 4, 1, 4), F(4, 2))
rule(lambda b, s: combined(b, s), F(1, 4, 1, 3), F(1, 4, 2))
rule(lambda b, s: combined(b, s), F(1, 4, 3, 4), F(1, 4, 2))
rule(lambda b, s: combined(b, s), F(1, 4, 1, 4), F(2, 4, 2))
rule(lambda b, s: combined(b, s, total=0), F(1, 4, 1, 4), F(1, 4, 2))
rule(lambda b, s: combined(b, s, 0, pad_per_class=True), F(1, 4, 1, 4), F(1, 4, 2))
I.draw_bounding_boxes(tf.zeros([5, 6, 1]), [[[0.1, 0.2, 0.9, 0.8]]], None)
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 2]), [[[0.1, 0.2, 0.9, 0.8]]], None)
I.draw_bounding_boxes(tf.zeros([2, 5, 6, 1]), [[[0.1, 0.2, 0.9, 0.8]]], None)
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 1]), [[[0.1, 0.2, 0.9]]], None)
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 1]), [[0.1, 0.2, 0.9, 0.8]], None)
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 3]), [[[0.1, 0.2, 0.9, 0.8]]], [[1.0, 2.0]])
I.draw_bounding_boxes(tf.zeros([1, 5, 6, 1]), [[[0.1, 0.2, 0.9, 0.8]]], [1.0])
sample((40, 60))
sample([[40, 60, 3]])
sample(around=[[0.1, 0.2, 0.6, 0.7]])
sample(around=[[[0.1, 0.2, 0.6]]])
sample(around=[[[0.1, 0.2, 0.6, 1.7]]])
sample(around=tf.zeros([1, 0, 4]))
sample(min_object_covered=[0.5])
sample(min_object_covered=-0.5)
sample(aspect_ratio_range=(0.0, 1.0))
sample(aspect_ratio_range=(1.0,))
sample(area_range=(0.0, 1.0))
sample(area_range=(0.5, 1.5))
sample(max_attempts=0)
sample(seed=(1, 2, 3))
rule(lambda b: sample(around=b), F(1, 1, 3))
I.crop_and_resize(img, boxes, [0, 1, 2, 0], [3, 2])
I.crop_and_resize(img, boxes, [0, -1, 1, 0], [3, 2])
I.crop_and_resize(img, boxes, [0, 1], [3, 2])
I.crop_and_resize(img, boxes, [0, 1, 1, 0], [3, 0])
I.crop_and_resize(img, boxes, [0, 1, 1, 0], [3])
I.crop_and_resize(img, [[inf, 0.0, 1.0, 1.0]], [0], [3, 2])
rule(lambda b: I.crop_and_resize(img, b, [0], [3, 2]), F(1, 3))
rule(lambda b: I.crop_and_resize(img, b, [0], [3, 2, 1]), F(1, 4))
I.extract_glimpse(img, [3], tf.zeros([2, 2]))
I.extract_glimpse(img, [3, -1], tf.zeros([2, 2]))
I.extract_glimpse(img, [3, 2], tf.zeros([3, 2]))
I.extract_glimpse(img, [3, 2], tf.zeros([2, 3]))
I.extract_glimpse(img[0], [3, 2], tf.zeros([2, 2]))
I.extract_glimpse(img, [3, 2], tf.zeros([2, 2]), noise='pink')
rule(lambda x: I.extract_glimpse(x, [3, 2], tf.zeros([2, 2])), F(4, 5, 2))
""")

# ---- colours, quality, files -----------------------------------------------------------------------------------------
GROUP.values("""
I.adjust_brightness(octets[0], 0.2)[..., 0]
I.adjust_contrast(octets[0], 1.5)[..., 0]
I.adjust_contrast(img[0], 0.5)
I.adjust_hue(octets[0], 0.3)
I.adjust_hue(img[0], -0.7)
I.adjust_saturation(octets[0], 1.7)
I.adjust_saturation(img[0], 0.3)
I.adjust_gamma(img[0], 0.5, 2.0)
I.adjust_gamma(octets[0], 1.5)
I.rgb_to_hsv(img)
I.hsv_to_rgb(img)
grad(lambda x: I.rgb_to_hsv(x) ** 2, img[0])
I.convert_image_dtype(img, tf.uint8)
I.convert_image_dtype(img * 2 - 0.5, tf.uint8, True)
I.convert_image_dtype(octets, tf.int32)
I.convert_image_dtype(octets, tf.float16)
I.convert_image_dtype(tf.constant([-5, 2**30]), tf.int8)
I.convert_image_dtype(tf.constant([-5, 2**30]), tf.uint8, True)
I.convert_image_dtype(tf.constant([1.5], tf.float64), tf.float32)
I.convert_image_dtype(octets, tf.uint8)
I.per_image_standardization(img)
I.per_image_standardization(tf.ones([2, 2, 1]))
I.psnr(img[:1], img[1:], 2.0)
I.psnr(octets[0], octets[1], 255)
I.ssim(picture(1, 12, 13, 2), picture(1, 12, 13, 2) * 0.9, 1.0)
I.ssim(picture(12, 13, 1), picture(12, 13, 1) * 0.9, 1.0, 5, 2.0, 0.1, 0.2)
I.ssim_multiscale(picture(1, 16, 16, 1), picture(1, 16, 16, 1) * 0.9, 1.0, (0.3, 0.7), 4)
I.total_variation(img)
I.total_variation(img[0])
I.image_gradients(img[..., :1])
I.sobel_edges(img[..., :1])
I.flip_left_right(img[0])
I.flip_up_down(img)
I.rot90(img)
I.rot90(img[0], 2)
I.rot90(img, -1)
I.rot90(img, tf.constant(3))
I.transpose(img)
I.transpose(img[0])
I.rgb_to_grayscale(octets)
I.grayscale_to_rgb(octets[..., :1])
I.yuv_to_rgb(I.rgb_to_yuv(img[0]))
I.rgb_to_yiq(img[0])
I.yiq_to_rgb(img[0])
[I.stateless_random_brightness(img[0], 0.3, (n, 2)) for n in range(2)]
[I.stateless_random_contrast(octets[0], 0.3, 1.5, (n, 2)) for n in range(2)]
[I.stateless_random_flip_left_right(img, (n, 2))[:, 0, :, 0] for n in range(4)]
[I.stateless_random_flip_up_down(img[0], (n, 2))[:, :, 0] for n in range(4)]
[I.stateless_random_crop(img, [1, 2, 2, 3], (n, 2)) for n in range(4)]
I.decode_png(I.encode_png(octets[0]))
I.decode_png(I.encode_png(octets[0], 0), channels=1)
I.decode_png(I.encode_png(fake(3, 4, 4)), channels=3)
I.decode_png(I.encode_png(fake(3, 4, 2)), channels=4)
I.decode_png(I.encode_png(fake(3, 4, 1, tf.uint16)), dtype=tf.uint16)
I.decode_png(I.encode_png(fake(3, 4, 3, tf.uint16)))
I.decode_image(I.encode_png(octets[0]), 1)
I.decode_image(I.encode_png(octets[0]), dtype=tf.float32)
I.decode_image(I.encode_png(octets[0]), 3, tf.uint16)
I.is_jpeg(I.encode_jpeg(octets[0])), I.is_jpeg(I.encode_png(octets[0]))
I.extract_jpeg_shape(I.encode_jpeg(octets[0])), I.extract_jpeg_shape(I.encode_jpeg(octets[0]), tf.int64)
I.decode_jpeg(I.encode_jpeg(octets[0], quality=90)).shape, I.decode_jpeg(I.encode_jpeg(octets[0]), channels=1).shape
I.decode_jpeg(I.encode_jpeg(fake(16, 24)), ratio=2).shape, I.decode_jpeg(I.encode_jpeg(fake(16, 24)), ratio=8).shape
I.decode_and_crop_jpeg(I.encode_jpeg(fake(16, 24)), [2, 3, 5, 7]).shape
""", **LOOSE)  # fmt: skip
GROUP.errors("""
I.adjust_hue(img, 1.5)
I.adjust_hue(img[..., :2], 0.1)
I.adjust_saturation(img[..., :2], 0.1)
I.adjust_gamma(img, -1.0)
I.rgb_to_hsv(img[..., :2])
I.rgb_to_hsv(3.0)
I.convert_image_dtype(img, tf.string)
I.convert_image_dtype(img, tf.bool)
I.psnr(img[:, :2], img, 1.0)
I.ssim(img, img, 1.0)
I.ssim_multiscale(img, img, 1.0)
I.total_variation(img[0, 0])
I.image_gradients(img[0])
I.rot90(img[0, 0])
I.rot90(img, [1, 2])
I.transpose(img[0, 0])
I.rgb_to_grayscale(img[..., :2])
I.grayscale_to_rgb(img)
I.flip_left_right(img[0, 0])
I.stateless_random_crop(img, [3, 2, 2, 3], (1, 2))
I.stateless_random_contrast(img, 1.0, 0.5, (1, 2))
I.stateless_random_hue(img, 0.7, (1, 2))
I.stateless_random_saturation(img, -1.0, 0.5, (1, 2))
I.stateless_random_jpeg_quality(octets[0], 90, 80, (1, 2))
I.encode_png(img)
I.encode_png(fake(3, 4, 5))
I.encode_jpeg(fake(3, 4, 4))
I.encode_jpeg(octets[0], quality=101)
I.decode_png(b'nothing')
I.decode_png(I.encode_png(octets[0]), channels=5)
I.decode_png(I.encode_png(octets[0]), channels=-1)
I.decode_png(I.encode_png(octets[0])[None])
I.decode_jpeg(I.encode_png(octets[0])[:9])
I.decode_jpeg(I.encode_jpeg(octets[0]), channels=4)
I.decode_jpeg(I.encode_jpeg(octets[0]), ratio=3)
I.decode_and_crop_jpeg(I.encode_jpeg(octets[0]), [0, 0, 9, 9])
I.decode_and_crop_jpeg(I.encode_jpeg(octets[0]), [0, 0, 2])
I.decode_and_crop_jpeg(I.encode_png(octets[0]), [0, 0, 2, 2])
I.decode_bmp(b'BM' + bytes(60))
I.decode_gif(b'GIF')
I.decode_image(b'', -1)
I.extract_jpeg_shape(b'none')
""")
