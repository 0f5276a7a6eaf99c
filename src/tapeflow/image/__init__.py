"""The public `tf.image` namespace."""

from tapeflow.array.blocks import extract_patches
from tapeflow.core.public_names import publish as _publish
from tapeflow.image.adjustments import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,
    per_image_standardization,
)
from tapeflow.image.box_suppression import (
    combined_non_max_suppression,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
)
from tapeflow.image.boxes import (
    draw_bounding_boxes,
    generate_bounding_box_proposals,
    sample_distorted_bounding_box,
    stateless_sample_distorted_bounding_box,
)
from tapeflow.image.colors import (
    grayscale_to_rgb,
    hsv_to_rgb,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)
from tapeflow.image.conversion import convert_image_dtype
from tapeflow.image.crops import crop_and_resize, extract_glimpse, random_crop, stateless_random_crop
from tapeflow.image.files import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from tapeflow.image.flip_rotate import flip_left_right, flip_up_down, rot90, transpose
from tapeflow.image.patches import image_gradients, sobel_edges, total_variation
from tapeflow.image.quality import psnr, ssim, ssim_multiscale
from tapeflow.image.random_adjustments import (
    random_brightness,
    random_contrast,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_jpeg_quality,
    random_saturation,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_jpeg_quality,
    stateless_random_saturation,
)
from tapeflow.image.resizes import (
    ResizeMethod,
    central_crop,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize,
    resize_with_crop_or_pad,
    resize_with_pad,
)

_publish(globals())
