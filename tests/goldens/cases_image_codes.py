"""Image files written byte by byte, and changes of images: adjusted, compared, flipped, converted."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
import struct, zlib
I = tf.image
def drawn(*shape, seed=0, low=0.0, high=1.0, dtype=tf.float32):
    numbers = np.random.default_rng(seed).uniform(low, high, shape)
    return tf.constant(np.round(numbers, 0 if dtype.is_integer else 2), dtype)
def chunk(name, body):
    return struct.pack('>I', len(body)) + name + body + struct.pack('>I', zlib.crc32(name + body))
def png(width, height, bits, kind, filters=None, seed=0, more=b'', lines=None, top=256):
    # Lines of drawn bytes behind the numbers of their filters.
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    length = -(-width * channels * bits // 8)
    body = np.random.default_rng(seed).integers(0, top, (height, length)).astype(np.uint8)
    numbers = np.array([(filters or [0])[i % len(filters or [0])] for i in range(height)], np.uint8)
    raw = np.concatenate([numbers[:, None], body], 1).tobytes()
    head = struct.pack('>IIBBBBB', width, height, bits, kind, 0, 0, 0)
    body = chunk(b'IDAT', zlib.compress(raw))
    return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', head) + more + body + chunk(b'IEND', b'')
palette = chunk(b'PLTE', bytes(range(10, 58)))
def bmp(width, height, bits, start=54, cut=0, seed=0):
    size = -(-(bits // 8) * width // 4) * 4 * abs(height)
    body = np.random.default_rng(seed).integers(0, 256, size).astype(np.uint8).tobytes()
    head = struct.pack('<IHHIIiiHHIIiiII', 54 + size, 0, 0, start, 40, width, height, 1, bits, *[0] * 6)
    return (b'BM' + head + body)[:54 + size - cut]
def png_again(x, **more):
    return tf.io.decode_png(tf.io.encode_png(x, **more), dtype=x.dtype)
def converted(x, dtype, saturate=False):
    return I.convert_image_dtype(x, dtype, saturate)
small = drawn(2, 6, 7, 3, seed=3)
other = tf.clip_by_value(small + drawn(2, 6, 7, 3, low=-0.1, high=0.1, seed=4), 0.0, 1.0)
octets = drawn(2, 6, 7, 3, high=255.0, dtype=tf.uint8)
"""
)
LOOSE = {"rtol": 2e-4, "atol": 1e-5, "because": "sums in another order"}

# ---- files -----------------------------------------------------------------------------------------------------------
GROUP.family(
    "tf.io.decode_png(png(5, 6, {bits}, {kind}, [0, 1, 2, 3, 4]), {channels}, tf.{d})",
    bits="8 16",
    kind="0 2 4 6",
    channels="0 1 3 4",
    d="uint8 uint16",
)
GROUP.family("tf.io.decode_png(png(9, 3, {bits}, 0), {channels})", bits="1 2 4", channels="0 1 3")
GROUP.family(
    "tf.io.decode_png(png(5, 3, {bits}, 3, more=palette + {t}, top={top}), {channels})",
    bits="8",
    top="8",
    t=["b''", "chunk(b'tRNS', bytes([0, 90, 255]))"],
    channels="0 1 3 4",
)
GROUP.family(
    "tf.io.decode_png(png(4, 3, {bits}, 2, more=chunk(b'tRNS', bytes(6)), top={top}), {channels})",
    bits="8 16",
    top="1 2",
    channels="0 3 4",
)
GROUP.family(
    "tf.io.decode_png(png(4, 3, {bits}, 0, more=chunk(b'tRNS', bytes(2)), top=2), {channels})",
    bits="8 16",
    channels="0 1 3 4",
)
GROUP.family(
    "png_again(drawn(*{s}, high={top}, dtype=tf.{d}))",
    s=["(5, 7, 1)", "(3, 4, 2)", "(6, 2, 3)", "(1, 9, 4)"],
    top="255.0",
    d="uint8 uint16",
)
GROUP.family("png_again(drawn(4, 5, 3, high=60000.0, dtype=tf.uint16), compression={c})", c="-1 0 1 9")
GROUP.family("tf.io.decode_bmp(bmp({w}, {h}, {bits}), {channels})", w="3 4", h="3 -2", bits="8 24 32", channels="0 3 4")
GROUP.values("""
tf.io.decode_image(bmp(3, 2, 24))
tf.io.decode_image(bmp(3, 2, 24), dtype=tf.float32)
tf.io.decode_image(png(3, 2, 8, 6))
tf.io.decode_image(png(3, 2, 16, 2), dtype=tf.uint16)
tf.io.decode_image(png(3, 2, 16, 2), dtype=tf.float32)
tf.io.decode_image(png(3, 2, 8, 2), channels=1, expand_animations=False)
tf.io.is_jpeg(png(3, 2, 8, 6))
tf.io.decode_png(tf.io.encode_png(drawn(2, 2, 3, 1, high=255.0, dtype=tf.uint8))[1])
""")
GROUP.errors("""
tf.io.decode_png(b'')
tf.io.decode_png(b'abc')
tf.io.decode_png(png(3, 2, 16, 6)[:60])
tf.io.decode_png(png(3, 2, 16, 6).replace(b'IDAT', b'IDAX'))
tf.io.decode_png(png(3, 2, 8, 2, [5]))
tf.io.decode_png(png(3, 2, 16, 2, [5]))
tf.io.decode_png(png(3, 2, 8, 2), 2)
tf.io.decode_png(png(3, 2, 8, 2), 5)
tf.io.decode_png([png(3, 2, 8, 2)])
tf.io.decode_png(png(3, 2, 8, 2), dtype=tf.float32)
tf.io.decode_bmp(bmp(3, 2, 16))
tf.io.decode_bmp(bmp(3, 2, 24, start=50))
tf.io.decode_bmp(bmp(3, 2, 24, cut=1))
tf.io.decode_bmp(bmp(3, 0, 24))
tf.io.decode_bmp(bmp(0, 2, 24))
tf.io.decode_bmp(bmp(3, 2, 24, cut=9))
tf.io.decode_bmp(bmp(3, 2, 24), 1)
tf.io.decode_bmp(bmp(3, 2, 24), 2)
tf.io.decode_bmp(bmp(3, 2, 24)[:20])
tf.io.decode_gif(png(3, 2, 8, 2)[:20])
tf.io.decode_image(b'RIFF1234WEB')
tf.io.decode_image(b'')
tf.io.decode_jpeg(b'abc')
tf.io.encode_png(drawn(2, 2, 5, dtype=tf.uint8))
tf.io.encode_png(drawn(2, 2, dtype=tf.uint8))
tf.io.encode_png(drawn(2, 2, 1))
tf.io.encode_png(drawn(2, 2, 1, dtype=tf.uint8), 10)
tf.io.encode_jpeg(drawn(2, 2, 2, dtype=tf.uint8))
tf.io.encode_jpeg(drawn(2, 2, 3, dtype=tf.uint8), quality=101)
tf.io.encode_jpeg(drawn(2, 2, 3, dtype=tf.uint8), 'grayscale')
""")

# ---- changes of images -----------------------------------------------------------------------------------------------
GROUP.family("I.adjust_brightness({x}, {d})", x="small[0] octets[0]", d="0.2 -0.4", **LOOSE)
GROUP.family("I.adjust_contrast({x}, {d})", x="small octets[0]", d="0.0 0.5 2.5", **LOOSE)
GROUP.family("I.adjust_gamma({x}, {g}, {k})", x="small[0] octets[0]", g="0.5 2.0", k="1.0 1.5", **LOOSE)
GROUP.family(
    "I.per_image_standardization({x})",
    x=["small", "octets[0]", "tf.ones([2, 3, 1])", "tf.ones([40, 40, 1])"][:3],
    **LOOSE,
)
GROUP.family(
    "I.psnr({p})",
    p=["small, other, 1.0", "octets, octets[::-1], 255", "small[0], other, 2.0", "small, small, 1.0"],
    **LOOSE,
)
GROUP.family(
    "I.ssim(small, other, {m}, {size}, {sigma}, {k1}, {k2}, {full})",
    m="1.0 2.0",
    size="3 5",
    sigma="0.7 1.5",
    k1="0.01 0.1",
    k2="0.03",
    full="False True",
    **LOOSE,
)
GROUP.values(
    """
I.ssim(octets, octets[::-1], 255, 4, k2=0.5)
I.ssim(small[0], other, 1.0, 3)
I.ssim_multiscale(small, other, 1.0, (0.4, 0.6), 3)
I.ssim_multiscale(small, other, 1.0, (0.4, 0.6), 3, 0.7, 0.1, 0.2)
I.ssim_multiscale(octets[:, :5], octets[::-1, :5], 255, (0.5, 0.3), 2)
sized(lambda a, b: I.ssim(a, b, 1.0, 3), small, other)
sized(lambda a, b: I.psnr(a, b, 1.0), small, other)
I.adjust_gamma(small[0], 0.0)
I.adjust_contrast(drawn(2, 5, 3, 2, dtype=tf.float64), 0.3)
grad(lambda x: I.adjust_brightness(x, 0.3) ** 2, small[0])
I.total_variation(small)
I.total_variation(small[0])
I.sobel_edges(small[:1, :, :, :1])
I.image_gradients(small[:1, :, :, :1])
grad(I.total_variation, drawn(3, 4, 2))
""",
    **LOOSE,
)
GROUP.errors("""
I.adjust_contrast(drawn(3, 4), 2.0)
I.adjust_contrast(small, [2.0])
I.adjust_gamma(small, -1.0)
I.adjust_hue(small, 1.5)
I.per_image_standardization(drawn(3, 4))
I.psnr(small, other[:, 1:], 1.0)
I.psnr(small[0, 0], other[0, 0], 1.0)
I.ssim(small, other, 1.0)
I.ssim(small, octets, 1.0, 3)
I.ssim(small, tf.tile(other, [2, 1, 1, 1])[:3], 1.0, 3)
I.ssim_multiscale(small, other, 1.0, (0.4, 0.6), 4)
I.total_variation(drawn(3, 4))
I.image_gradients(drawn(3, 4, 1))
I.sobel_edges(drawn(4))
I.rot90(drawn(4, 3))
I.flip_left_right(drawn(4, 3))
I.transpose(drawn(4, 3))
""")
GROUP.family("I.{f}({x})", f="flip_left_right flip_up_down transpose rot90", x=["drawn(2, 3, 1)", "drawn(2, 3, 2, 1)"])
GROUP.family("I.rot90(drawn(2, 3, 1), {k})", k="0 2 3 4 -1 7")
GROUP.family("sized(I.{f}, drawn(2, 3, 2, 1), rank={r})", f="flip_left_right flip_up_down transpose rot90", r="True")
GROUP.family(
    "converted(tf.constant({x}, tf.uint8), tf.{d})",
    x=["[0, 1, 127, 128, 255]"],
    d="uint8 int8 uint16 int32 float16 float32 float64",
)
GROUP.family(
    "converted(tf.constant({x}, tf.int32), tf.{d}, {s})",
    x=["[-5, 0, 1, 2**30, 2**31 - 1]"],
    d="uint8 int16 float32",
    s="True False",
)
GROUP.family(
    "converted(tf.constant({x}, tf.{t}), tf.{d}, True)",
    x=["[-0.5, 0.0, 0.3, 0.999, 1.0, 1.7]"],
    t="float32 float16 float64",
    d="uint8 int16 float16 float64",
)
GROUP.family("converted(tf.constant({x}), tf.{d})", x=["[0.0, 0.3, 0.999, 1.0]"], d="uint8 int16 int32 uint16")
GROUP.family(
    "I.{f}(small[0], {a}, seed=({n}, 5))",
    f="stateless_random_brightness stateless_random_hue",
    a="0.2",
    n="0 1 2",
    **LOOSE,
)
GROUP.family(
    "I.{f}(small[0], 0.4, 1.7, seed=({n}, 5))",
    f="stateless_random_contrast stateless_random_saturation",
    n="0 1 2",
    **LOOSE,
)
GROUP.family(
    "I.{f}({x}, ({n}, 5))",
    f="stateless_random_flip_left_right stateless_random_flip_up_down",
    x=["drawn(2, 3, 1)", "drawn(3, 2, 2, 1)"],
    n="0 1 2",
)
GROUP.family("I.stateless_random_crop(drawn(4, 5, 2), {size}, ({n}, 5))", size=["[2, 3, 2]", "[1, 5, 1]"], n="0 1 2")
GROUP.errors("""
I.stateless_random_brightness(small[0], -0.1, (1, 2))
I.stateless_random_contrast(small[0], 1.0, 0.5, (1, 2))
I.stateless_random_contrast(small[0], -1.0, 0.5, (1, 2))
I.stateless_random_hue(small[0], 0.6, (1, 2))
I.stateless_random_hue(small[0], -0.1, (1, 2))
I.stateless_random_saturation(small[0], 1.0, 0.5, (1, 2))
I.stateless_random_saturation(small[0], -1.0, 0.5, (1, 2))
I.stateless_random_jpeg_quality(small[0], 80, 70, (1, 2))
I.stateless_random_jpeg_quality(small[0], -1, 70, (1, 2))
I.stateless_random_jpeg_quality(small[0], 1, 101, (1, 2))
I.stateless_random_crop(drawn(4, 5, 2), [5, 3, 2], (1, 2))
I.stateless_random_flip_left_right(drawn(4, 5), (1, 2))
I.random_brightness(small[0], -0.1)
I.random_contrast(small[0], 1.0, 0.5)
I.random_hue(small[0], 0.6)
I.random_saturation(small[0], -1.0, 0.5)
I.random_jpeg_quality(small[0], 80, 70)
""")
GROUP.shapes("""
I.random_brightness(small[0], 0.1)
I.random_contrast(octets[0], 0.5, 1.5, seed=3)
I.random_hue(octets[0], 0.3)
I.random_saturation(small[0], 0.5, 1.5)
I.random_jpeg_quality(octets[0], 50, 90)
I.stateless_random_jpeg_quality(small[0], 50, 90, (1, 2))
I.random_flip_left_right(small)
I.random_flip_up_down(octets[0])
I.random_crop(small, [1, 2, 3, 3])
I.adjust_jpeg_quality(small[0], 50)
I.adjust_jpeg_quality(octets[0], 50)
""")
