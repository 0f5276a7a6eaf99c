"""The public `tf.image` namespace."""

from tapeflow.image.adjusting import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    convert_image_dtype,
    per_image_standardization,
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
from tapeflow.image.patches import extract_patches, image_gradients, sobel_edges, total_variation
from tapeflow.image.resizing import (
    ResizeMethod,
    central_crop,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize,
    resize_with_crop_or_pad,
    resize_with_pad,
)
from tapeflow.image.turning import flip_left_right, flip_up_down, rot90, transpose
