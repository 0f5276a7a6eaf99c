"""Tokenizers of characters: at white space, at changes of the script, into characters and into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.gathers import gather
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.loops import Bytes, Int64s, loop
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, gather_ranges, numbers_within
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.ragged import boolean_mask
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.kernels import string_op
from tapeflow.strings.text import length
from tapeflow.strings.unicode import script_table, unicode_decode_with_offsets, unicode_encode
from tapeflow.text.characters import SPACE, kinds_of_characters, unicode_at
from tapeflow.text.tokenizer import (
    Detokenizer,
    SplitterWithOffsets,
    TokenizerWithOffsets,
    VectorTokenizer,
    ragged_or_tensor,
    split_rows,
)

Raw = Any


def _vectors_rule(count: int) -> Any:
    """Returns the shape rule of an op whose outputs are vectors."""
    return lambda *_: [TensorShape([None])] * count


# ---- white space -----------------------------------------------------------------------------------------------------


@loop
def _split_at_spaces(
    data: Bytes, offsets: Int64s, rows: int, spaces: Bytes, most: int, starts: Int64s, limits: Int64s, splits: Int64s
) -> int:
    """Finds words between white space, which is a set of `most` bits; returns their number. A word ends at the last
    byte of the character behind it."""
    count, splits[0] = 0, 0
    for row in range(rows):
        begin, end, at, word = offsets[row], offsets[row + 1], offsets[row], -1
        while at < end:
            character = unicode_at(data, at, end)
            code, following = character >> 3, at + (character & 7)
            if 0 <= character < 8 * most and (spaces[code >> 3] >> (code & 7)) & 1:
                if word >= 0:
                    starts[count], limits[count] = word - begin, following - 1 - begin
                    count += 1
                    word = -1
            elif word < 0:
                word = at
            at = following
        if word >= 0:
            starts[count], limits[count] = word - begin, end - begin
            count += 1
        splits[row + 1] = count
    return count


@string_op(
    "TFText>WhitespaceTokenizeWithOffsetsV2", shape=_vectors_rule(4),
    signature="input_values:string, input_config:string -> output_tokens:string, output_row_splits:int64, "
    "output_start_offsets:int32, output_end_offsets:int32",
)  # fmt: skip
def _split_words_op(input_values: StringArray, input_config: StringArray) -> tuple[Raw, ...]:
    """Splits strings at white space."""
    spaces, (data, offsets) = input_config.item(), input_values.packed()
    starts, limits = (np.empty(len(data) + 1, np.int64) for _ in range(2))
    splits = np.empty(input_values.size + 1, np.int64)
    count = _split_at_spaces(data, offsets, input_values.size, spaces or b"\0", 8 * len(spaces), starts, limits, splits)
    starts, limits = starts[:count], limits[:count]
    tokens = gather_ranges(data, starts + np.repeat(offsets[:-1], np.diff(splits)), limits - starts)
    return tokens, *map(torch.from_numpy, (splits, starts.astype(np.int32), limits.astype(np.int32)))


class WhitespaceTokenizer(VectorTokenizer):
    """Splits strings at white space, as Unicode defines it. The offsets are int32.

    Example:
        >>> from tapeflow import text
        >>> text.WhitespaceTokenizer().tokenize(["an  example"]).to_list()
        [[b'an', b'example']]
    """

    def __init__(self) -> None:
        super().__init__()
        spaces = kinds_of_characters() == SPACE
        used = spaces[: (np.flatnonzero(spaces)[-1] // 8 + 1) * 8]
        self._config = np.packbits(used, bitorder="little").tobytes()

    def _split_vector(self, vector: Tensor) -> Any:
        return _split_words_op(vector, self._config)


# ---- scripts ---------------------------------------------------------------------------------------------------------


def _split_points(points: torch.Tensor, splits: torch.Tensor, kinds: np.ndarray, keeps_spaces: bool) -> tuple[Raw, ...]:
    """Splits rows of code points where the kind changes.

    Args:
        points: the code points.
        splits: their row splits.
        kinds: the kind of each.
        keeps_spaces: white space is part of tokens, too, but of none together with others.

    Returns:
        The code points of tokens, their row splits, the begins and ends of tokens in their row, and the row splits of
        these.
    """
    count, rows = len(points), splits.numpy().astype(np.int64)
    if not len(rows) or rows[0] != 0 or rows[-1] != count or (rows[1:] < rows[:-1]).any():
        raise invalid(f"The row splits must go up from 0 to the number of values, {count}.")
    codes = points.numpy().clip(0, 0x10FFFF)
    spaces = kinds_of_characters()[codes] == SPACE
    row = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    changes = np.ones(count, bool)
    changes[1:] = (row[1:] != row[:-1]) | (kinds[1:] != kinds[:-1])
    if keeps_spaces:
        changes[1:] |= spaces[1:] != spaces[:-1]
        held = np.ones(count, bool)
    else:
        held = ~spaces
    run = np.cumsum(changes)[held]  # the number of the run that each character is in
    places = np.flatnonzero(held)
    first = np.flatnonzero(np.append(True, run[1:] != run[:-1])[: len(run)])
    last = np.append(first[1:], len(run)) - 1 if len(first) else first
    begins = rows[:-1][row[places[first]]]
    outer = np.searchsorted(row[places[first]], np.arange(len(rows)))
    inner = np.append(first, len(run)) if len(first) else np.zeros(1, np.int64)
    return (
        points[torch.from_numpy(places)], torch.from_numpy(inner).to(splits.dtype),
        torch.from_numpy(places[first] - begins), torch.from_numpy(places[last] + 1 - begins),
        torch.from_numpy(outer).to(splits.dtype),
    )  # fmt: skip


_OF_POINTS = (
    "input_values:int32, input_splits:Tsplits -> output_values:int32, output_values_inner_splits:Tsplits, "
    "output_offset_starts:int64, output_offset_limits:int64, output_outer_splits:Tsplits; "
    "attr=Tsplits:type,default=DT_INT64,allowed=[DT_INT32, DT_INT64]"
)


@string_op("UnicodeScriptTokenizeWithOffsets", shape=_vectors_rule(5),
           signature=_OF_POINTS + "; attr=keep_whitespace:bool,default=false")  # fmt: skip
def _split_scripts_op(
    input_values: torch.Tensor, input_splits: torch.Tensor, keep_whitespace: bool = False
) -> tuple[Raw, ...]:
    """Splits rows of code points where the script changes."""
    scripts = script_table().numpy()[input_values.numpy().clip(0, 0x10FFFF)]
    return _split_points(input_values, input_splits, scripts, keep_whitespace)


@string_op("WhitespaceTokenizeWithOffsets", shape=_vectors_rule(5), signature=_OF_POINTS)
def _split_spaces_op(input_values: torch.Tensor, input_splits: torch.Tensor) -> tuple[Raw, ...]:
    """Splits rows of code points at white space: the op of older SavedModels."""
    kinds = kinds_of_characters()[input_values.numpy().clip(0, 0x10FFFF)] == SPACE
    return _split_points(input_values, input_splits, kinds, False)


class UnicodeScriptTokenizer(VectorTokenizer):
    """Splits strings where the script of the characters changes.

    Args:
        keep_whitespace: keeps white space as tokens; otherwise it is left out at the ends of tokens, and inside.

    Example:
        >>> from tapeflow import text
        >>> text.UnicodeScriptTokenizer().tokenize(["Мир world"])[0, 1].numpy()
        b'world'
    """

    def __init__(self, keep_whitespace: bool = False) -> None:
        super().__init__()
        self._keep_whitespace = keep_whitespace

    def _split_vector(self, vector: Tensor) -> Any:
        points, starts = unicode_decode_with_offsets(vector, "UTF-8")
        ends = concat([starts[:, 1:], cast(expand_dims(length(vector), 1), int64)], 1)
        codes, inner, first, last, outer = _split_scripts_op(points.values, points.row_splits, self._keep_whitespace)
        tokens = unicode_encode(RaggedTensor.from_row_splits(codes, inner, validate=False), "UTF-8")
        begins, limits = (
            gather(offsets, RaggedTensor.from_row_splits(places, outer, validate=False), batch_dims=1).values
            for offsets, places in ((starts, first), (ends, last - 1))
        )
        return tokens, outer, begins, limits


# ---- characters and bytes --------------------------------------------------------------------------------------------


class UnicodeCharTokenizer(TokenizerWithOffsets, Detokenizer):
    """Splits strings into code points, int32.

    Example:
        >>> from tapeflow import text
        >>> tokens = text.UnicodeCharTokenizer().tokenize(["aé"])
        >>> tokens.to_list()
        [[97, 233]]
        >>> text.UnicodeCharTokenizer().detokenize(tokens).numpy().tolist()
        [b'a\xc3\xa9']
    """

    def tokenize_with_offsets(self, input: TensorLike) -> Any:
        """Splits strings into code points.

        Args:
            input: strings in UTF-8, a tensor or `RaggedTensor`. Bytes that are not UTF-8 become U+FFFD.

        Returns:
            The code points, and the offsets of their first bytes and of their ends, with one dimension more.
        """
        return tuple(split_rows(input, self._split_vector))

    def _split_vector(self, vector: Tensor) -> Any:
        points, starts = unicode_decode_with_offsets(vector, "UTF-8")
        sizes = cast(expand_dims(length(vector), 1), int64)
        last: Any = RaggedTensor.from_tensor(sizes)
        ends = concat([starts[:, 1:], boolean_mask(last, last > 0)], 1)  # an empty string has no last character
        return points.values, points.row_splits, starts.values, ends.values

    def detokenize(self, input: TensorLike) -> Any:
        """Joins code points.

        Args:
            input: int32 code points, a tensor or `RaggedTensor`.

        Returns:
            Strings in UTF-8, with one dimension less.
        """
        return unicode_encode(ragged_or_tensor(input), "UTF-8")


@string_op(
    "TFText>ByteSplitWithOffsets", shape=_vectors_rule(4),
    signature="input_values:string -> output_bytes:uint8, output_row_splits:int64, output_start_offsets:int32, "
    "output_end_offsets:int32",
)  # fmt: skip
def _split_bytes_op(input_values: StringArray) -> tuple[Raw, ...]:
    """Splits strings into bytes."""
    data, offsets = input_values.packed()
    starts = torch.from_numpy(numbers_within(np.diff(offsets)).astype(np.int32))
    values = torch.from_numpy(np.frombuffer(bytearray(data), np.uint8))
    return values, torch.from_numpy(offsets.copy()), starts, starts + 1


class ByteSplitter(SplitterWithOffsets):
    """Splits strings into bytes, uint8. The offsets are int32.

    Example:
        >>> from tapeflow import text
        >>> text.ByteSplitter().split("hi").numpy().tolist()
        [104, 105]
    """

    def split(self, input: TensorLike) -> Any:
        """Splits strings into bytes, with one dimension more than `input`."""
        return self.split_with_offsets(input)[0]

    def split_with_offsets(self, input: TensorLike) -> Any:
        """Splits strings into bytes.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The bytes, and the offsets where they begin and end, with one dimension more.
        """
        return tuple(split_rows(input, _split_bytes_op))
