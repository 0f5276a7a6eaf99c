"""Image files: what `tf.io` decodes and encodes."""

from goldens.case import Group

GROUP = Group("""
import base64

rows, columns = np.mgrid[0:5, 0:7]
image = np.stack([columns * 30 % 256, rows * 50 % 256, columns * rows * 9 % 256], -1).astype(np.uint8)
png_rgb16 = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFEAIAAABWaL3MAAAAZklEQVQImXXKsQ2CUABF0fMSY6CE8hNtcAH30EmcAAeCTVwAJsEFLCw0'
    'QZubW5wAh5vIu8c/v+O8B6lmpF5+t1q+aD0j7YQ00+fbJ9KsG9qMSDcg5Y50D6RsaTsiZUBOF6S/Iv36AhbNF0EzpEOSAAAAAElFTkSu'
    'QmCC'
)
png_ga16 = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFEAQAAABzA+IQAAAAJUlEQVQImWNkYGBgkM1mYJTNZmCUQ6NZGBgM2RgYGBixYRpJAgDmTwQ+'
    'PSbDBwAAAABJRU5ErkJggg=='
)
png_rgba = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAYAAACJmvbYAAAAKklEQVQImWNkYGBgkGNgkMOGWRiMGBgYGDixYiRJIQyMJimNgrFIqsAx'
    'ADvcBAQ/qGneAAAAAElFTkSuQmCC'
)
png_palette = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAgMAAADgGo6JAAAACVBMVEX/AAAA/wAAAP8tSs2KAAAAAnRSTlP/AOW3MEoAAAAMSURBVHic'
    'Y5BgmAAAANwAqWznwCMAAAAASUVORK5CYII='
)
png_bits = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAkAAAADAQAAAABpcRjbAAAAEUlEQVR4nGPs/8jkxsBkyQAADQMCBRZoirMAAAAASUVORK5CYII='
)
png_keyed = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAABnRSTlMAAQACAAPJS6v1AAAAD0lEQVR4nGNkZGJmZmYGAAA8ABHVfkbm'
    'AAAAAElFTkSuQmCC'
)
gif = base64.b64decode(
    'R0lGODlhAwACAIEAAP8AAAD/AAAA/wAAACH5BAkAAAEALAAAAAADAAIAAAgJAAEEECAgAICAACH5BAkAAAEALAAAAAADAAIAgf8AAAD/'
    'AAAA/wAAAAgIAAMEEABgYEAAIfkECQAAAQAsAQAAAAEAAgCB/wAAAP8AAAD/AAAACAUABQAICAA7'
)
gif_still = base64.b64decode('R0lGODdhAwACAIEAAP8AAAD/AAAA/wAAACwAAAAAAwACAAAICQABBBAgIACAgAA7')
webp = base64.b64decode('UklGRi4AAABXRUJQVlA4TCIAAAAvBgABALkyRPQ/dhHR/4BCthGgMZ0/3oswHpMQEwBkBdoT')
jpeg_cmyk = base64.b64decode(
    '/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+'
    'WmFaUGBKUVJP/8AAFAgABQAHBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMF'
    'BQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldY'
    'WVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn'
    '6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwDP8D/6pf8Adqb/AIQjS/T/AMdrE8I+HrPVYwbgckZ6V6dX/9k='
)
jpeg = base64.b64decode(
    '/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKB'
    'TmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8'
    'fHz/wAARCAAFAAcDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAaEAACAgMAAAAAAAAAAAAAAAAAAQIEBSGh/8QAFQEB'
    'AQAAAAAAAAAAAAAAAAAAAgP/xAAZEQACAwEAAAAAAAAAAAAAAAABAwACEiL/2gAMAwEAAhEDEQA/AIo4evJbXAABIFqAmTQ9mB1P/9k='
)
bmp = base64.b64decode(
    'Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABgAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQFBgcICQoLDA0ODw=='
)
bmp_down = base64.b64decode(
    'Qk1GAAAAAAAAADYAAAAoAAAAAgAAAP7///8BABgAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQFBgcICQoLDA0ODw=='
)
bmp_gray = base64.b64decode(
    'Qk0+AAAAAAAAADYAAAAoAAAAAgAAAAIAAAABAAgAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQFBgc='
)
bmp_alpha = base64.b64decode(
    'Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABACAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQFBgcICQoLDA0ODw=='
)
bmp_wrong = base64.b64decode(
    'Qk0+AAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQFBgc='
)
""")

GROUP.family("tf.io.decode_png({file}, {channels}, tf.{dtype})", file="png_rgb16 png_ga16 png_rgba png_keyed",
             channels="0 1 3 4", dtype="uint8 uint16")  # fmt: skip
GROUP.family("tf.io.decode_png({file}, {channels})", file="png_palette png_bits gif_still", channels="0 3")
GROUP.family(
    "tf.io.decode_jpeg({file}, {channels}, dct_method='INTEGER_ACCURATE')", file="jpeg jpeg_cmyk", channels="0 3"
)
GROUP.family(
    "tf.io.decode_jpeg({file}, {options}, dct_method='INTEGER_ACCURATE')",
    file="jpeg",
    options="channels=1\nratio=2\nratio=4",
)
GROUP.family("tf.io.decode_bmp({file}, {channels})", file="bmp bmp_down bmp_gray bmp_alpha", channels="0 3 4")
GROUP.family(
    "tf.io.decode_image({file}, dtype=tf.{dtype})",
    file="png_rgb16 png_rgba gif gif_still bmp",
    dtype="uint8 uint16 float32 float64 float16",
)
GROUP.values("""
tf.io.decode_jpeg(jpeg)
tf.io.decode_jpeg(jpeg, dct_method='INTEGER_FAST')
tf.io.decode_jpeg(jpeg, fancy_upscaling=False)
tf.io.decode_jpeg(jpeg, 1, ratio=2)
tf.io.decode_image(jpeg)
tf.io.decode_gif(gif)
tf.io.decode_gif(png_rgba)
tf.io.decode_webp(webp)
tf.io.decode_webp(png_rgba)
tf.io.decode_png(webp)
tf.io.decode_jpeg(png_rgba)
tf.io.decode_image(gif, expand_animations=False)
tf.io.decode_image(gif, channels=3)
tf.io.decode_image(webp)
tf.io.decode_and_crop_jpeg(tf.io.encode_jpeg(image[..., :1]), [1, 2, 3, 4], dct_method='INTEGER_ACCURATE')
tf.io.is_jpeg([jpeg, png_rgba, b''])
tf.io.extract_jpeg_shape(jpeg)
tf.io.extract_jpeg_shape(jpeg_cmyk, tf.int64)
tf.io.encode_jpeg(image)
tf.io.encode_jpeg(image, quality=0)
tf.io.encode_jpeg(image, quality=100, chroma_downsampling=False)
tf.io.encode_jpeg(image[..., :1], 'grayscale', 50)
tf.io.encode_jpeg(image, progressive=True, optimize_size=True, density_unit='cm', x_density=100, y_density=50)
tf.io.encode_jpeg(image, xmp_metadata='<x>text</x>')
tf.io.decode_png(tf.io.encode_png(image, compression=0))
tf.io.encode_png(np.stack([image, image])).shape
""")
GROUP.errors("""
tf.io.decode_png(b'')
tf.io.decode_png(b'abc')
tf.io.decode_png([png_rgba])
tf.io.decode_png(png_rgba[:60])
tf.io.decode_png(png_rgb16[:60])
tf.io.decode_png(png_rgba, channels=2)
tf.io.decode_png(png_rgba, dtype=tf.float32)
tf.io.decode_png(gif)
tf.io.decode_png(bmp)
tf.io.decode_jpeg(jpeg[:200])
tf.io.decode_jpeg(jpeg, ratio=3)
tf.io.decode_jpeg(jpeg, channels=4)
tf.io.decode_jpeg(jpeg_cmyk, channels=1)
tf.io.decode_jpeg(jpeg, dct_method='fast')
tf.io.decode_gif(b'GIF89a')
tf.io.decode_image(gif, channels=1)
tf.io.decode_webp(webp, channels=1)
tf.io.decode_image(webp, dtype=tf.uint16)
tf.io.decode_webp(webp, channels=4)
tf.io.decode_bmp(bmp, channels=1)
tf.io.decode_bmp(bmp[:60])
tf.io.decode_bmp(bmp[:20])
tf.io.decode_bmp(bmp_wrong)
tf.io.decode_bmp(jpeg)
tf.io.extract_jpeg_shape(png_rgba)
tf.io.decode_and_crop_jpeg(jpeg, [1, 2, 30, 4])
tf.io.decode_and_crop_jpeg(jpeg, [1, 2, 30])
tf.io.encode_jpeg(image[..., :2])
tf.io.encode_jpeg(image[..., 0])
tf.io.encode_jpeg(image[:0])
tf.io.encode_jpeg(image, quality=101)
tf.io.encode_jpeg(image, format='grayscale')
tf.io.encode_png(image[..., 0])
tf.io.encode_png(image[:0])
tf.io.encode_png(np.zeros([2, 3, 5], np.uint8))
tf.io.encode_png(image, compression=10)
tf.io.encode_png(image.astype(np.float32))
""")
