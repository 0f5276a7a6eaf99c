"""Unicode: from bytes to code points and back."""

from __future__ import annotations

import codecs
import functools
import itertools
import math
import pathlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.creation import range as range_op
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, int32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, offsets_of
from tapeflow.core.values.tensor import Tensor, dtype_error, invalid
from tapeflow.strings.kernels import count_characters, each, find_characters, splits_of_rows, string_op
from tapeflow.strings.split_text import in_rows

if TYPE_CHECKING:
    from tapeflow.ragged.tensor import RaggedTensor

_ENCODINGS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


def _codec_name(encoding: str) -> str:
    """Returns Python's name of an encoding, or raises InvalidArgumentError."""
    if encoding.upper() in _ENCODINGS:
        return _ENCODINGS[encoding.upper()]
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):  # ValueError for a null character
        raise invalid(f"Could not create converter for input encoding: {encoding}") from None


def _check_replacement(code: int) -> None:
    """Raises InvalidArgumentError for a replacement that is no code point."""
    if not 0 <= code < 0x110000:
        raise invalid("replacement_char out of unicode codepoint range")


def _decoding_function(
    encoding: str, errors: str, replacement: int, control: bool
) -> Callable[[bytes], list[tuple[int, int]]]:
    """Returns a function from bytes to pairs of a code point and the offset of its first byte.

    Raises:
        InvalidArgumentError: there is no such encoding or code point; the function: the bytes are malformed.
    """
    _check_replacement(replacement)
    codec = _codec_name(encoding)

    def decode(element: bytes) -> list[tuple[int, int]]:
        points: list[tuple[int, int]] = []
        position = 0
        while position < len(element):
            try:
                characters, malformed = element[position:].decode(codec), 0
            except UnicodeDecodeError as error:
                if errors == "strict":
                    raise invalid("Invalid formatting on input string") from None
                characters = element[position : position + error.start].decode(codec)
                malformed = max(error.end - error.start, 1)
            for character in characters:
                points.append((ord(character), position))
                position += len(character.encode(codec, "surrogatepass"))
            if malformed:
                if errors == "replace":
                    points.append((replacement, position))
                position += malformed
        if control:
            points = [(replacement if c < 32 else c, at) for c, at in points if errors != "ignore" or c >= 32]
        return points

    return decode


def _valid_text(input: StringArray, encoding: str, control: bool) -> str | None:
    """Returns the text of all strings together, where each is well-formed UTF-8, and without control characters if
    these are replaced; otherwise None.
    """
    whole, offsets = input.packed()
    if _codec_name(encoding) != "utf-8" or (control and not whole.isalnum() and _CONTROL.search(whole)):
        return None
    if not whole.isascii():
        first = np.frombuffer(whole, np.uint8)[offsets[:-1][input.lengths > 0]]
        if (first & 0xC0 == 0x80).any():
            return None  # a character might begin in the string before
    try:
        return whole.decode()
    except UnicodeDecodeError:
        return None


_CONTROL = re.compile(rb"[\x00-\x1f]")


def _code_points(text: str) -> np.ndarray:
    """Returns the int32 code points of a text."""
    return np.frombuffer(bytearray(text.encode("utf-32-le")), np.dtype("<i4"))


def _decode_vector(
    input: StringArray, encoding: str, errors: str, replacement: int, control: bool, splits_dtype: DType
) -> tuple[torch.Tensor, ...]:
    """Computes row splits, code points and offsets of a vector of strings."""
    decode = _decoding_function(encoding, errors, replacement, control)
    text = _valid_text(input, encoding, control)
    if text is not None:
        counts, starts = np.empty(input.size, np.int32), np.empty(len(text), np.int64)
        find_characters(input.data, input.offsets, counts, starts, input.size)
        splits = torch.from_numpy(offsets_of(counts))
        return splits.to(splits_dtype.torch), torch.from_numpy(_code_points(text)), torch.from_numpy(starts)
    rows = [decode(element) for element in input.reshape(-1).tolist()]
    points = torch.tensor([c for row in rows for c, _ in row], dtype=torch.int32)
    offsets = torch.tensor([at for row in rows for _, at in row], dtype=torch.int64)
    return splits_of_rows(rows, splits_dtype), points, offsets


def _decoded_rule(input: TensorShape, *_: Any) -> list[TensorShape]:
    count = input.num_elements()
    return [TensorShape([None if count is None else count + 1]), TensorShape([None])]


@string_op(
    "UnicodeDecode", lambda *args: _decode_vector(*args)[:2], shape=_decoded_rule, rename={"splits_dtype": "Tsplits"}
)
def _decode_rows(
    input: TensorLike, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False, splits_dtype: DTypeLike = int64, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Decodes a vector of strings to row splits and code points."""


@string_op("UnicodeDecodeWithOffsets", _decode_vector, shape=lambda *args: [*_decoded_rule(*args), TensorShape([None])],
           rename={"splits_dtype": "Tsplits"})  # fmt: skip
def _decode_with_offsets(
    input: TensorLike, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False, splits_dtype: DTypeLike = int64, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Decodes a vector of strings to row splits, code points, and the points' offsets."""


def unicode_decode(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Decodes each string to its code points.

    Args:
        input: a string tensor of any shape.
        input_encoding: a string: "UTF-8", "UTF-16-BE", "UTF-32-BE", or another encoding.
        errors: the treatment of malformed bytes: "replace", "ignore", or "strict" to fail. The default is "replace".
        replacement_char: an int, the code point that replaces them; 0xFFFD by default.
        replace_control_characters: treats control characters, those up to 31, as malformed.

    Returns:
        int32; a vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Raises:
        InvalidArgumentError: the encoding is unknown, or a string is malformed and `errors` is "strict".

    Example:
        >>> tf.strings.unicode_decode("aé", "UTF-8").numpy().tolist()
        [97, 233]
    """
    arguments = input_encoding, errors, replacement_char, replace_control_characters

    def decode(vector: Any) -> list[Any]:
        return as_rows(*_decode_rows(vector, *arguments, name=name))

    return in_rows(input, decode)[0]


def as_rows(splits: Tensor, *values: Any) -> list[Any]:
    """Returns values as ragged tensors with these row splits."""
    from tapeflow.ragged.tensor import RaggedTensor

    return [RaggedTensor.from_row_splits(v, splits, validate=False) for v in values]


def unicode_decode_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Tensor | RaggedTensor, Tensor | RaggedTensor]:
    """Decodes each string to its code points, and their offsets.

    Args:
        input: a string tensor of any shape.
        input_encoding: a string: "UTF-8", "UTF-16-BE", "UTF-32-BE", or another encoding.
        errors: the treatment of malformed bytes: "replace", "ignore", or "strict" to fail. The default is "replace".
        replacement_char: an int, the code point that replaces them; 0xFFFD by default.
        replace_control_characters: treats control characters, those up to 31, as malformed.

    Returns:
        The code points, int32, and the offset of each one's first byte, int64: vectors for a scalar, otherwise
        `RaggedTensor`s with one dimension more than `input`.

    Raises:
        InvalidArgumentError: the encoding is unknown, or a string is malformed and `errors` is "strict".

    Example:
        >>> points, offsets = tf.strings.unicode_decode_with_offsets("éa", "UTF-8")
        >>> offsets.numpy().tolist()
        [0, 2]
    """
    arguments = input_encoding, errors, replacement_char, replace_control_characters

    def decode(vector: Any) -> list[Any]:
        return as_rows(*_decode_with_offsets(vector, *arguments, name=name))

    points, offsets = in_rows(input, decode)
    return points, offsets


def _split_characters(input: Any, encoding: str, errors: str, replacement: int) -> list[Any]:
    """Splits each string into its characters, and computes their offsets."""

    def split(vector: Any) -> list[Any]:
        points, offsets = as_rows(*_decode_with_offsets(vector, encoding, errors, replacement, False))
        return [points.with_values(unicode_encode(expand_dims(points.values, 1), encoding, errors="ignore")), offsets]

    return in_rows(input, split)


def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Splits each string into its characters.

    Args:
        input: a string tensor of any shape.
        input_encoding: a string: "UTF-8", "UTF-16-BE", "UTF-32-BE", or another encoding.
        errors: the treatment of malformed bytes: "replace", "ignore", or "strict" to fail. The default is "replace".
        replacement_char: an int, the code point that replaces them; 0xFFFD by default.

    Returns:
        Strings in the same encoding; a vector for a scalar, otherwise a `RaggedTensor` with one dimension more than
        `input`.

    Raises:
        InvalidArgumentError: the encoding is unknown, or a string is malformed and `errors` is "strict".

    Example:
        >>> tf.strings.unicode_split("aé", "UTF-8").numpy().tolist()
        [b'a', b'\\xc3\\xa9']
    """
    return _split_characters(input, input_encoding, errors, replacement_char)[0]


def unicode_split_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> tuple[Tensor | RaggedTensor, Tensor | RaggedTensor]:
    """Splits each string into its characters, and computes their offsets.

    Args:
        input: a string tensor of any shape.
        input_encoding: a string: "UTF-8", "UTF-16-BE", "UTF-32-BE", or another encoding.
        errors: the treatment of malformed bytes: "replace", "ignore", or "strict" to fail. The default is "replace".
        replacement_char: an int, the code point that replaces them; 0xFFFD by default.

    Returns:
        The characters, strings in the same encoding, and the offset of each one's first byte, int64: vectors for a
        scalar, otherwise `RaggedTensor`s with one dimension more than `input`.

    Raises:
        InvalidArgumentError: the encoding is unknown, or a string is malformed and `errors` is "strict".

    Example:
        >>> [t.numpy().tolist() for t in tf.strings.unicode_split_with_offsets("ab", "UTF-8")]
        [[b'a', b'b'], [0, 1]]
    """
    characters, offsets = _split_characters(input, input_encoding, errors, replacement_char)
    return characters, offsets


def _encode_rows(points: np.ndarray, splits: np.ndarray, codec: str) -> StringArray:
    """Encodes rows of code points, which are all valid."""
    text = points[splits[0] : splits[-1]].astype("<i4").tobytes().decode("utf-32-le")
    if codec not in _ENCODINGS.values():
        ends = (splits - splits[0]).tolist()
        return StringArray.of([text[i:j].encode(codec, "replace") for i, j in itertools.pairwise(ends)])
    ends = _encoded_sizes(points, codec)[splits]
    return StringArray(text.encode(codec), ends - ends[0])


def _encoded_sizes(points: np.ndarray, codec: str) -> np.ndarray:
    """Returns where each code point begins when all are encoded, and the end of the last one."""
    if codec == "utf-32-be":
        return np.arange(len(points) + 1) * 4
    if codec == "utf-16-be":
        return offsets_of(2 + 2 * (points > 0xFFFF))
    return offsets_of(1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF))


def _encoded_rule(values: TensorShape, splits: TensorShape, *_: Any) -> TensorShape:
    with_rank(values, 1)
    count = with_rank(splits, 1)[0]
    return TensorShape([None if count is None else count - 1])


@string_op("UnicodeEncode", shape=_encoded_rule)
def _encode(
    input_values: torch.Tensor, input_splits: torch.Tensor, errors: str = "replace", output_encoding: str = "",
    replacement_char: int = 0xFFFD,
) -> StringArray:  # fmt: skip
    """Encodes each row of code points as a string."""
    _check_replacement(replacement_char)
    codec = _codec_name(output_encoding)

    def point(code: int) -> str:
        if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
            return chr(code)
        if errors == "strict":
            raise invalid(f"Code point is out of range for Unicode, or a noncharacter: {code}")
        return chr(replacement_char) if errors == "replace" else ""

    splits = input_splits.numpy().astype(np.int64)
    array = input_values.numpy()
    malformed = ((array < 0) | (array >= 0x110000) | (array >> 11 == 0xD800 >> 11)).any()
    in_order = splits.size and splits[0] >= 0 and splits[-1] <= len(array) and (splits[1:] >= splits[:-1]).all()
    if not malformed and in_order:
        return _encode_rows(array, splits, codec)
    points = input_values.tolist()
    rows = [points[i:j] for i, j in itertools.pairwise(splits.tolist())]
    return StringArray.of(["".join(map(point, row)).encode(codec) for row in rows])


def _check_encoding(dtype: DType, encoding: str) -> None:
    """Raises TensorFlow's error for inputs that are no code points, or for an unknown encoding."""
    if dtype is not int32:
        raise dtype_error(f"cannot compute UnicodeEncode as the input was expected to be int32 but is {dtype.name}")
    if encoding not in _ENCODINGS:
        allowed = ", ".join(f'"{e}"' for e in _ENCODINGS)
        raise invalid(
            f"Value for attr 'output_encoding' of \"{encoding}\" is not in the list of allowed values: {allowed}"
        )


def unicode_encode(
    input: TensorLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Encodes code points as strings. Each row of the last dimension becomes a string.

    Args:
        input: int32, at least one dimension; a tensor or a `RaggedTensor`.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: the treatment of numbers that are not code points: "replace", "ignore", or "strict" to fail. The default
            is "replace".
        replacement_char: an int, the code point that replaces them; 0xFFFD by default.

    Returns:
        Strings, of the shape of `input` without the last dimension; ragged if the other dimensions are.

    Raises:
        InvalidArgumentError: a number is not a code point, and `errors` is "strict"; or there is no such encoding.
        ValueError: `input` is a scalar.

    Example:
        >>> tf.strings.unicode_encode([97, 233], "UTF-8").numpy()
        b'a\\xc3\\xa9'
    """
    from tapeflow.ragged.tensor import RaggedTensor

    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor) or len(input.values.shape) > 1:
            return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char, name))
        _check_encoding(input.dtype, output_encoding)
        return _encode(input.values, input.row_splits, errors, output_encoding, replacement_char, name)
    tensor = convert(input)
    if tensor.shape.rank is None:
        raise ValueError("Rank of input_tensor must be statically known.")
    if not tensor.shape.rank:
        raise ValueError("input_tensor's rank must be at least 1.")
    _check_encoding(tensor.dtype, output_encoding)
    *outer, width = shape_of(tensor)
    splits = range_op(math.prod(outer) + 1) * width
    encoded = _encode(reshape(tensor, [-1]), splits, errors, output_encoding, replacement_char, name)
    return reshape(encoded, outer)


@string_op("UnicodeTranscode", shape=lambda input, *_: input, elementwise=True)
def _transcode_strings(
    input: StringArray, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char: int = 0xFFFD, replace_control_characters: bool = False,
) -> StringArray:  # fmt: skip
    """Changes the encoding of strings."""
    decode = _decoding_function(input_encoding, errors, replacement_char, replace_control_characters)
    codec = _codec_name(output_encoding)
    text = _valid_text(input, input_encoding, replace_control_characters)
    if text is None:
        return each(lambda v: "".join(chr(c) for c, _ in decode(v)).encode(codec, "replace"), input)
    if input.few is not None:
        return each(lambda v: v.decode().encode(codec, "replace"), input)
    splits = offsets_of(count_characters(input))
    return _encode_rows(_code_points(text), splits, codec).reshape(input.shape)


def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Changes the encoding of strings.

    Args:
        input: a string tensor of any shape.
        input_encoding: a string: "UTF-8", "UTF-16-BE", "UTF-32-BE", or another encoding.
        output_encoding: the new encoding.
        errors: the treatment of malformed bytes: "replace", "ignore", or "strict" to fail. The default is "replace".
        replacement_char: an int, the code point that replaces them; 0xFFFD by default.
        replace_control_characters: treats control characters, those up to 31, as malformed.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: an encoding is unknown, or a string is malformed and `errors` is "strict".

    Example:
        >>> tf.strings.unicode_transcode("aé", "UTF-8", "UTF-16-BE").numpy()
        b'\\x00a\\x00\\xe9'
    """
    arguments = input_encoding, output_encoding, errors, replacement_char, replace_control_characters
    return _transcode_strings(convert(input, string), *arguments, name)


_INVALID, _UNKNOWN = -1, 103
_CODE_POINTS = 0x110000


@functools.cache
def script_table() -> torch.Tensor:
    """Returns the script of each code point, int16; the file is written by `scripts/record.py unicode_scripts`."""
    table = np.full(_CODE_POINTS, _UNKNOWN, np.int16)
    for line in pathlib.Path(__file__).with_name("unicode_scripts.txt").read_text(encoding="utf-8").splitlines():
        script, *ranges = line.split()
        for text in ranges:
            first, _, last = text.partition("-")
            table[int(first, 16) : int(last or first, 16) + 1] = int(script)
    return torch.from_numpy(table)


def _script_kernel(input: torch.Tensor) -> torch.Tensor:
    codes = input.cpu()
    scripts = script_table()[codes.clamp(0, _CODE_POINTS - 1).long()].int()
    return scripts.masked_fill_((codes < 0) | (codes >= _CODE_POINTS), _INVALID)


@string_op("UnicodeScript", _script_kernel, shape=lambda input: input, elementwise=True)
def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the script of each code point, by ICU's numbers (25 is Latin, 8 Cyrillic, 0 several, 103 unknown, -1
    invalid).

    Args:
        input: int32 code points, of any shape.

    Returns:
        int32, of the shape of `input`.

    Raises:
        InvalidArgumentError: `input` is not int32.

    Example:
        >>> tf.strings.unicode_script([97, 1041]).numpy().tolist()
        [25, 8]
    """
