"""WordPiece: words are divided into the longest pieces of a vocabulary, from left to right."""

from __future__ import annotations

import re
import weakref
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.gathers import gather
from tapeflow.array.properties import ensure_shape, size
from tapeflow.array.sorting import argsort
from tapeflow.control.conditions_and_loops import Assert
from tapeflow.core.loops import Bytes, Int32s, Int64s, copy, equal, loop
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, offsets_of
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.lookup.initializers import TextFileIndex, TextFileInitializer
from tapeflow.lookup.storage import TableStorage, storage_of
from tapeflow.lookup.tables import LookupTable, StaticVocabularyTable
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal as equal_op
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_all
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.join_and_ngrams import reduce_join
from tapeflow.strings.kernels import encode_text, string_op
from tapeflow.strings.regex import regex_replace
from tapeflow.strings.split_text import split
from tapeflow.text.characters import kinds_of_characters, unicode_at
from tapeflow.text.flat_models import build_trie, find_longest, nodes_of
from tapeflow.text.tokenizer import Detokenizer, VectorTokenizer, ragged_or_tensor

Raw = Any
_PREFIXED, _UNKNOWN = 1, 2  # flags of a piece: it continues a word, and it is not in the vocabulary
_ANY = 1 << 62


class Pieces:
    """A vocabulary as a trie, with the treatment of unknown words.

    Args:
        units: the trie; its values are the numbers of pieces times `1 << shift`, plus sizes for `own`.
        suffix_root: the node of pieces that continue a word, or -1.
        suffix: the mark of these.
        unknown: the token for words without pieces; None if they stay.
        unknown_number: its number.
        longest: the size of the longest word in bytes that is divided.
        shift: see `units`.
        own: the pieces of the word that is just the mark, as values; None if it is no exception.
        most: the largest number of characters in a piece.
        splits_unknown: a character without a piece is a token, and the word goes on.
        alone: texts are split into words at white space and marks, and these marks are words.
        sized_by_unknown: a word that is too long seems to have the length of `unknown`, as in TensorFlow Text.
    """

    def __init__(
        self, units: np.ndarray, suffix_root: int, suffix: bytes, unknown: bytes | None, unknown_number: int,
        longest: int, shift: int = 0, own: np.ndarray | None = None, most: int = _ANY, splits_unknown: bool = False,
        alone: bool = False, sized_by_unknown: bool = False,
    ) -> None:  # fmt: skip
        self.suffix, self.unknown = suffix, unknown
        token, values = unknown or b"", np.empty(0, np.int64) if own is None else own.astype(np.int64)
        if len(values) > len(suffix):
            raise invalid("The model of a tokenizer is damaged: the suffix has more pieces than bytes")
        self._arguments = (
            np.ascontiguousarray(units).view(np.int32), len(units), suffix_root, suffix or b"\0", len(suffix),
            values if len(values) else np.zeros(1, np.int64), -1 if own is None else len(values), shift, unknown_number,
            longest, most, splits_unknown, len(token) if sized_by_unknown and unknown is not None else -1,
            kinds_of_characters() if alone else np.zeros(1, np.uint8), alone,
        )  # fmt: skip

    def split(self, input: StringArray) -> tuple[StringArray, Raw, Raw, Raw, Raw]:
        """Returns the pieces of all strings, their numbers, begins and ends, and the row splits."""
        data, offsets = input.packed()
        room = len(data) + input.size + len(self.suffix) + 1
        numbers, starts, limits = (np.empty(room, np.int64) for _ in range(3))
        flags, splits, value = np.empty(room, np.uint8), np.empty(input.size + 1, np.int64), np.empty(1, np.int64)
        results = numbers, starts, limits, flags, splits
        count = _find_pieces(data or b"\0", offsets, input.size, *self._arguments, *results, value)
        numbers, starts, limits = (a[:count] for a in (numbers, starts, limits))
        flags = flags[:count]
        unknown = self.unknown or b""
        replaced = (flags & _UNKNOWN != 0) & (self.unknown is not None)
        sizes = np.where(replaced, len(unknown), limits - starts) + len(self.suffix) * (flags & _PREFIXED)
        ends = offsets_of(sizes)
        out = np.empty(int(ends[-1]), np.uint8)
        begins = starts + np.repeat(offsets[:-1], np.diff(splits))
        marks = self.suffix, len(self.suffix), unknown, len(unknown)
        _write_pieces(data, begins, flags, replaced, ends, count, *marks, out)
        vectors = [torch.from_numpy(a) for a in (numbers, starts, limits, splits)]
        return StringArray(out, ends), vectors[0], vectors[1], vectors[2], vectors[3]


@loop
def _write_pieces(
    data: Bytes, begins: Int64s, flags: Bytes, replaced: Bytes, ends: Int64s, count: int, suffix: Bytes,
    suffix_size: int, unknown: Bytes, unknown_size: int, out: Bytes,
) -> None:  # fmt: skip
    for i in range(count):
        to = ends[i]
        if flags[i] & 1:
            copy(out, to, suffix, 0, suffix_size)
            to += suffix_size
        if replaced[i]:
            copy(out, to, unknown, 0, unknown_size)
        else:
            copy(out, to, data, begins[i], ends[i + 1] - to)


@loop
def _find_pieces(
    data: Bytes, offsets: Int64s, rows: int, units: Int32s, units_size: int, suffix_root: int, suffix: Bytes,
    suffix_size: int, own: Int64s, own_count: int, shift: int, unknown_number: int, longest: int, most: int,
    splits_unknown: int, unknown_size: int, kinds: Bytes, alone: int, numbers: Int64s, starts: Int64s, limits: Int64s,
    flags: Bytes, splits: Int64s, value: Int64s,
) -> int:  # fmt: skip
    """Finds the pieces of strings; returns their number. See `Pieces` for the arguments."""
    count, splits[0] = 0, 0
    for row in range(rows):
        origin, end = offsets[row], offsets[row + 1]
        begin = origin
        while begin < end:
            stop = end
            if alone:
                stop = begin
                kind = 0
                while stop < end and kind == 0:  # to the end of the word
                    character = unicode_at(data, stop, end)
                    kind = kinds[character >> 3] if 0 <= character < 8 * 0x110000 else 0
                    if kind == 0 or (stop == begin and kind != 1):
                        stop += character & 7
                if stop == begin:  # white space
                    begin += character & 7
                    continue
            first, at = count, begin
            if stop - begin > longest:
                numbers[count], flags[count], starts[count] = unknown_number, 2, begin - origin
                limits[count] = (stop if unknown_size < 0 else begin + unknown_size) - origin
                count += 1
                at = stop
            elif own_count >= 0 and stop - begin == suffix_size and equal(data, begin, suffix, 0, suffix_size):
                for i in range(own_count):
                    piece = own[i]
                    numbers[count] = (piece & 0x3FFFFFFF) >> shift
                    flags[count] = (at > begin) + 2 * (numbers[count] == unknown_number)
                    starts[count] = at - origin
                    at = min(stop, at + (piece & 255) + 1 + (suffix_size if at == begin and piece >> 30 & 1 else 0))
                    limits[count] = at - origin
                    count += 1
                at = stop
            while at < stop:
                root = 0 if at == begin else suffix_root
                following = find_longest(data, at, stop, root, units, units_size, most, value)
                if following < 0 and not splits_unknown:
                    count = first
                    numbers[count], flags[count] = unknown_number, 2
                    starts[count], limits[count] = begin - origin, stop - origin
                    count += 1
                    break
                flags[count] = at > begin
                if following < 0:
                    following = at + (unicode_at(data, at, stop) & 7)
                    numbers[count] = unknown_number
                    flags[count] = (at > begin) + 2
                else:
                    numbers[count] = (value[0] & 0x3FFFFFFF) >> shift
                    flags[count] = (at > begin) + 2 * (numbers[count] == unknown_number)
                starts[count], limits[count] = at - origin, following - origin
                count += 1
                at = following
            begin = stop
        splits[row + 1] = count
    return count


# ---- the op on tables ------------------------------------------------------------------------------------------------

_tries: weakref.WeakKeyDictionary[TableStorage, dict[Any, Pieces]] = weakref.WeakKeyDictionary()


def _pieces_of(storage: TableStorage, *options: Any) -> Pieces:
    """Returns the pieces of a table's vocabulary. They are cached for tables that never change."""
    storage.find(EagerTensor(StringArray.of([]), string), EagerTensor(torch.tensor(-1), int64))  # or raises its errors
    held = _tries.setdefault(storage, {}) if type(storage) is TableStorage else {}
    pieces = held.get(options)
    if pieces is None:
        suffix, longest, most, unknown, splits_unknown = options
        keys, values = (tensor.value for tensor in storage.export())
        words = [word for word, value in zip(keys.flat, values.tolist(), strict=True) if word and value != -1]
        words = [word for word in words if b"\0" not in word]
        units = build_trie(words, range(len(words)))
        pieces = held[options] = Pieces(
            units, int(nodes_of(units, [suffix])[0]), suffix, unknown, -1, longest, most=most or _ANY,
            splits_unknown=splits_unknown, sized_by_unknown=True,
        )  # fmt: skip
    return pieces


@string_op(
    "WordpieceTokenizeWithOffsets", shape=lambda *_: [TensorShape([None])] * 4,
    signature="input_values:string, vocab_lookup_table:resource -> output_values:string, output_row_lengths:int64, "
    "start_values:int64, limit_values:int64; attr=suffix_indicator:string; attr=max_bytes_per_word:int; "
    "attr=max_chars_per_token:int,default=0; attr=use_unknown_token:bool; attr=unknown_token:string; "
    "attr=split_unknown_characters:bool,default=false; "
    'attr=output_row_partition_type:string,default="row_lengths",allowed=["row_lengths", "row_splits"]; '
    "is_stateful=true",
)  # fmt: skip
def _split_words_op(
    input_values: StringArray, vocab_lookup_table: Raw, suffix_indicator: str, max_bytes_per_word: int,
    use_unknown_token: bool, unknown_token: str, max_chars_per_token: int = 0, split_unknown_characters: bool = False,
    output_row_partition_type: str = "row_lengths",
) -> tuple[Raw, ...]:  # fmt: skip
    """Splits words into pieces."""
    pieces = _pieces_of(
        storage_of(vocab_lookup_table), encode_text(suffix_indicator), max_bytes_per_word, max_chars_per_token,
        encode_text(unknown_token) if use_unknown_token else None, split_unknown_characters,
    )  # fmt: skip
    words, _, starts, limits, splits = pieces.split(input_values.reshape(-1))
    return words, splits.diff() if output_row_partition_type == "row_lengths" else splits, starts, limits


class WordpieceTokenizer(VectorTokenizer, Detokenizer):
    """Splits words into pieces of a vocabulary.

    Args:
        vocab_lookup_table: a table from pieces to int64 numbers, or the path of a file with a piece on each line.
        suffix_indicator: the mark of pieces that continue a word.
        max_bytes_per_word: an int; longer words are unknown.
        max_chars_per_token: an int, the length of the longest piece in characters; None for any.
        token_out_type: the dtype of the tokens: int64, int32 or string.
        unknown_token: stands for a word without pieces; None if such words stay.
        split_unknown_characters: a character without a piece is unknown, and not the whole word.

    Raises:
        TypeError: `vocab_lookup_table` is neither a table nor a path.

    Example:
        >>> from tapeflow import text
        >>> init = tf.lookup.KeyValueTensorInitializer(["[UNK]", "great", "##est"], tf.range(3, dtype=tf.int64))
        >>> table = tf.lookup.StaticHashTable(init, default_value=0)
        >>> text.WordpieceTokenizer(table).tokenize(["greatest", "x"]).to_list()
        [[1, 2], [0]]
    """

    def __init__(
        self,
        vocab_lookup_table: Any,
        suffix_indicator: str = "##",
        max_bytes_per_word: int = 100,
        max_chars_per_token: int | None = None,
        token_out_type: DTypeLike = int64,
        unknown_token: str | None = "[UNK]",
        split_unknown_characters: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(vocab_lookup_table, str) or getattr(vocab_lookup_table, "dtype", None) is string:
            lines, numbers = TextFileIndex.WHOLE_LINE, TextFileIndex.LINE_NUMBER
            init = TextFileInitializer(vocab_lookup_table, string, lines, int64, numbers)
            vocab_lookup_table = StaticVocabularyTable(init, 1, string)
        if not isinstance(vocab_lookup_table, (LookupTable, StaticVocabularyTable)):
            raise TypeError(f"Unable to build a lookup table from {vocab_lookup_table}")
        self._vocab_lookup_table: Any = vocab_lookup_table
        self._token_out_type = as_dtype(token_out_type)
        self._unknown_token = unknown_token or "[UNK]"
        self._options: dict[str, Any] = {
            "suffix_indicator": suffix_indicator, "max_bytes_per_word": max_bytes_per_word,
            "max_chars_per_token": max_chars_per_token or 0, "use_unknown_token": bool(unknown_token),
            "unknown_token": self._unknown_token, "split_unknown_characters": split_unknown_characters,
            "output_row_partition_type": "row_splits",
        }  # fmt: skip

    def vocab_size(self, name: str | None = None) -> Tensor:
        """Returns the number of pieces, an int64 scalar; with one more for unknown words if there is a file."""
        return self._vocab_lookup_table.size()

    def _split_vector(self, vector: Tensor) -> Any:
        table = self._vocab_lookup_table
        words, splits, starts, limits = _split_words_op(vector, table.resource_handle, **self._options)
        if self._token_out_type is not string:
            words = cast(table.lookup(words), self._token_out_type)
        return words, splits, starts, limits

    def detokenize(self, token_ids: TensorLike) -> Any:
        """Joins pieces to words.

        Args:
            token_ids: the numbers of pieces, a tensor or `RaggedTensor` of rank 2.

        Returns:
            The words, a `RaggedTensor` of strings.

        Raises:
            InvalidArgumentError: the numbers in the table are not those from 0 on.
        """
        table = getattr(self._vocab_lookup_table, "_table", self._vocab_lookup_table)
        words, numbers = (ensure_shape(t, [None]) for t in table.export())
        order = argsort(numbers)
        words, numbers = gather(words, order), gather(numbers, order)
        dense = equal_op(numbers[0], 0) & reduce_all(equal_op(numbers[1:] - numbers[:-1], 1))
        message = "`detokenize` only works with vocabulary tables whose numbers are those from 0 to the last one"
        tokens = ragged_or_tensor(token_ids)
        with control_dependencies([Assert(dense, [message])]):
            tokens = minimum(tokens, cast(size(words), tokens.dtype))
        pieces: Any = gather(concat([words, [self._unknown_token]], 0), tokens)
        if not isinstance(pieces, RaggedTensor):
            pieces = RaggedTensor.from_tensor(pieces)
        joined = reduce_join(pieces, axis=-1, separator=" ")
        joined = regex_replace(joined, " " + re.escape(self._options["suffix_indicator"]), "")
        return split(regex_replace(joined, "^ +| +$", ""), " ")
