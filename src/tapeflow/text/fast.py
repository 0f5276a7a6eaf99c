"""BERT's tokenizer on characters: tries in place of regular expressions and tables.

The models have TensorFlow Text's format. A SavedModel has them as tensors of bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.gathers import gather
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.errors import FailedPreconditionError, OutOfRangeError
from tapeflow.core.loops import Bytes, Int32s, Int64s, copy, loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int32, int64, string, uint8
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.kernels import encode_text, string_op
from tapeflow.strings.regex import regex_replace
from tapeflow.text.bert import BasicTokenizer
from tapeflow.text.characters import ALONE, kinds_of_characters, unicode_at
from tapeflow.text.flat_models import FlatTable, build_trie, failure_links, find_longest, nodes_of, write_table
from tapeflow.text.tokenizer import (
    Detokenizer,
    TokenizerWithOffsets,
    VectorTokenizer,
    ragged_or_tensor,
    rows_of_splits,
    split_rows,
)
from tapeflow.text.wordpiece import Pieces
from tapeflow.tracking.module import Module

Raw = Any

# The fields of FastWordpieceTokenizerConfig, and of FastBertNormalizerModel.
(_TRIE, _LINKS, _POPS, _SUFFIX_ROOT, _LONGEST, _SUFFIX, _UNKNOWN, _UNKNOWN_ID, _OWN, _MARKS_NODE, _ALONE, _DETOKENIZES,
 _VOCABULARY, _IS_SUFFIX) = range(14)  # fmt: skip
_LOWER, _FOLDS, _ZERO, _POOL = range(4)

_SHIFT = 8  # a piece is its number, the size in 8 bits, and a bit for suffixes
_SUFFIX_BIT = 30
_DUMMY = "\x11"  # no text has it once it is cleaned
_CHANGED, _SIZE_BITS = 1 << 30, 6


# ---- WordPiece -------------------------------------------------------------------------------------------------------


def build_fast_wordpiece_model(
    vocab: Sequence[str | bytes], max_bytes_per_token: int, suffix_indicator: str, unk_token: str,
    no_pretokenization: bool, support_detokenization: bool,
) -> bytes:  # fmt: skip
    """Builds the model of a `FastWordpieceTokenizer`.

    Args:
        vocab: the pieces.
        max_bytes_per_token: the size of the longest word that is divided.
        suffix_indicator: the mark of pieces that continue a word.
        unk_token: the piece for words without pieces.
        no_pretokenization: strings are words, and are not split.
        support_detokenization: the model has the pieces, too.

    Returns:
        The bytes of a FlatBuffer, as TensorFlow Text has them.

    Raises:
        RuntimeError: a piece occurs twice, or is too long, or `unk_token` is none.

    Example:
        >>> from tapeflow import text
        >>> len(text.build_fast_wordpiece_model(["[UNK]", "a"], 100, "##", "[UNK]", True, False)) > 100
        True
    """
    words = [encode_text(w) if isinstance(w, str) else bytes(w) for w in vocab]
    suffix, unknown = encode_text(suffix_indicator), encode_text(unk_token)
    ids = {word: i for i, word in enumerate(words)}
    if len(ids) < len(words):
        raise RuntimeError("Tokens in the vocabulary must be unique.")
    if unknown not in ids:
        raise RuntimeError("Cannot find unk_token in the vocab!")
    alone, marks = not no_pretokenization, kinds_of_characters() == ALONE
    tokens: dict[bytes, int] = {}
    continues = False
    for word, number in ids.items():
        is_suffix = bool(suffix) and word != suffix and word.startswith(suffix)
        rest = word[len(suffix) * is_suffix :]
        characters = rest.decode("utf-8", "replace")
        if len(rest) > 1 << _SHIFT:
            raise RuntimeError(
                f"Vocab token utf8 length (excluding suffix indicator) exceeds the max supported (256): {word!r}"
            )
        if not word or word == suffix or b"\0" in word:
            continue
        if alone and (len(characters) > 1 or is_suffix) and any(marks[ord(c)] for c in characters):
            continue  # texts are split at the mark
        tokens[word] = number << _SHIFT | len(rest) - 1 | is_suffix << _SUFFIX_BIT
        continues |= is_suffix
    if not tokens:
        raise RuntimeError("No valid vocab tokens were hits to build the trie.")
    dummy = encode_text(_DUMMY)
    if suffix and not continues:
        tokens[suffix + dummy] = ids[unknown] << _SHIFT | 1 << _SUFFIX_BIT
    if alone:
        for code in np.flatnonzero(marks).tolist():
            mark = chr(code).encode()
            tokens.setdefault(mark, ids[unknown] << _SHIFT | len(mark) - 1)
        tokens[dummy] = ids[unknown] << _SHIFT
    units = build_trie(list(tokens), list(tokens.values()))
    root, marks_node = nodes_of(units, [suffix, dummy]).tolist()
    if alone:
        units[marks_node] &= 0xFFFFFE00  # it has neither a value nor a parent
    alone_nodes = nodes_of(units, [chr(code).encode() for code in np.flatnonzero(marks).tolist()] if alone else [])
    links, pops = failure_links(units, root, alone_nodes, marks_node)
    if alone:
        _part_suffix(units, suffix, marks)
    vocabulary = [word.removeprefix(suffix) if word != suffix else word for word in words]
    suffix_flags = np.array([bool(suffix) and w != suffix and w.startswith(suffix) for w in words], np.uint8)
    if not support_detokenization:
        vocabulary, suffix_flags = [], suffix_flags[:0]
    marks_node = marks_node if alone else -1
    return write_table([
        units, links, pops, root, max_bytes_per_token, suffix, unknown, ids[unknown],
        _own_pieces(ids, suffix, unknown, max_bytes_per_token), marks_node, int(alone), int(support_detokenization),
        vocabulary, suffix_flags,
    ])  # fmt: skip


def _part_suffix(units: np.ndarray, suffix: bytes, marks: np.ndarray) -> None:
    """Cuts the path of the suffix behind its first mark, or before the mark if other characters come first: texts are
    split at marks."""
    path = b""
    for i, character in enumerate(suffix.decode("utf-8", "replace")):
        before, path = path, path + character.encode()
        if marks[ord(character)]:
            cut = path if i else suffix[: len(path) + 1]
            if len(cut) > len(before):
                units[nodes_of(units, [cut])] &= 0xFFFFFF00
            return


def _own_pieces(ids: dict[bytes, int], suffix: bytes, unknown: bytes, longest: int) -> np.ndarray:
    """Returns the pieces of the word that is just the suffix."""
    out, at = [], 0
    while at < len(suffix) <= longest:
        prefix = suffix if at else b""
        ends = [end for end in range(len(suffix), at, -1) if prefix + suffix[at:end] in ids]
        if not ends:
            break
        word = prefix + suffix[at : ends[0]]
        is_suffix = word != suffix and word.startswith(suffix)
        out.append(ids[word] << _SHIFT | len(word) - len(suffix) * is_suffix - 1 | is_suffix << _SUFFIX_BIT)
        at = ends[0]
    if at < len(suffix):
        out = [ids[unknown] << _SHIFT | len(unknown) - 1]
    return np.array(out, np.int32)


@functools.lru_cache(8)
def _pieces_of(model: bytes) -> Pieces:
    """Returns the pieces of a model."""
    table = FlatTable(model)
    units, own = table.array(_TRIE, "<u4"), table.array(_OWN, "<i4")
    if not len(units):
        raise invalid("FastWordpieceTokenizerConfig or its trie_array is null.")
    return Pieces(
        units, table.number(_SUFFIX_ROOT, "I"), table.text(_SUFFIX), table.text(_UNKNOWN),
        table.number(_UNKNOWN_ID, "i"), table.number(_LONGEST, "i"), _SHIFT, own,
        alone=bool(table.number(_ALONE, "B")),
    )  # fmt: skip


@string_op(
    "FastWordpieceTokenizeWithOffsets", shape=lambda *_: [TensorShape([None])] * 5,
    signature="input_values:string, wp_model:uint8 -> output_subwords:string, output_ids:int64, "
    "output_row_splits:int64, start_values:int64, end_values:int64",
)  # fmt: skip
def _split_texts_op(input_values: StringArray, wp_model: torch.Tensor) -> tuple[Raw, ...]:
    """Splits texts or words into pieces."""
    words, numbers, starts, limits, splits = _pieces_of(wp_model.numpy().tobytes()).split(input_values.reshape(-1))
    return words, numbers, splits, starts, limits


@string_op(
    "TFText>FastWordpieceDetokenize",
    shape=lambda values, splits, *_: rows_of_splits(splits),
    signature="input_values:int32, input_row_splits:int64, wp_model:uint8 -> output_words:string",
)  # fmt: skip
def _join_pieces_op(input_values: torch.Tensor, input_row_splits: torch.Tensor, wp_model: torch.Tensor) -> StringArray:
    """Joins pieces to texts."""
    table = FlatTable(wp_model.numpy().tobytes())
    if not table.number(_DETOKENIZES, "B"):
        raise FailedPreconditionError.of(
            "Detokenize function is only enabled when support_detokenization is true. Build the model again with it."
        )
    words, is_suffix = table.texts(_VOCABULARY), table.array(_IS_SUFFIX, np.uint8).tolist()
    suffix, numbers, splits = table.text(_SUFFIX), input_values.tolist(), input_row_splits.tolist()
    wrong = [n for n in numbers if not 0 <= n < min(len(words), len(is_suffix))]
    if wrong:
        raise OutOfRangeError.of(f"Token ID out of bounds: {wrong[0]}")
    rows = []
    for start, end in zip(splits, splits[1:], strict=False):
        text: list[bytes] = []
        for number in numbers[start:end]:
            mark = suffix if is_suffix[number] and not text else b"" if is_suffix[number] or not text else b" "
            text += [mark, words[number]]
        rows.append(b"".join(text))
    return StringArray.of(rows)


def _as_model(buffer: Any) -> Tensor:
    """Returns a model as a tensor of its bytes."""
    return buffer if isinstance(buffer, Tensor) else convert(np.frombuffer(bytes(bytearray(buffer)), np.uint8), uint8)


class FastWordpieceTokenizer(VectorTokenizer, Detokenizer):
    """Splits text into pieces of a vocabulary. White space, marks and Chinese characters divide words.

    Args:
        vocab: the pieces, a list of strings.
        suffix_indicator: the mark of pieces that continue a word.
        max_bytes_per_word: an int; longer words are unknown.
        token_out_type: the dtype of the tokens: int64, int32 or string.
        unknown_token: the piece that stands for a word without pieces.
        no_pretokenization: strings are words, and are not split.
        support_detokenization: allows `detokenize`.
        model_buffer: the bytes of a model, in the place of all that; `token_out_type` excepted.

    Raises:
        RuntimeError: a piece occurs twice, or is too long, or `unknown_token` is none.

    Example:
        >>> from tapeflow import text
        >>> tokenizer = text.FastWordpieceTokenizer(["[UNK]", "great", "##est", "!"], support_detokenization=True)
        >>> tokenizer.tokenize("greatest !").numpy().tolist()
        [1, 2, 3]
        >>> tokenizer.detokenize([[1, 2, 3]]).numpy().tolist()
        [b'greatest !']
    """

    def __init__(
        self,
        vocab: Sequence[str] | None = None,
        suffix_indicator: str = "##",
        max_bytes_per_word: int = 100,
        token_out_type: DTypeLike = int64,
        unknown_token: str = "[UNK]",
        no_pretokenization: bool = False,
        support_detokenization: bool = False,
        model_buffer: TensorLike | None = None,
    ) -> None:
        super().__init__()
        if model_buffer is None:
            model_buffer = build_fast_wordpiece_model(
                vocab or [], max_bytes_per_word, suffix_indicator, unknown_token, no_pretokenization,
                support_detokenization,
            )  # fmt: skip
        self._model = _as_model(model_buffer)
        self._token_out_type = as_dtype(token_out_type)

    def _split_vector(self, vector: Tensor) -> Any:
        words, numbers, splits, starts, limits = _split_texts_op(vector, self._model)
        tokens = words if self._token_out_type is string else cast(numbers, self._token_out_type)
        return tokens, splits, starts, limits

    def detokenize(self, input: TensorLike) -> Any:
        """Joins pieces to texts, with spaces between words.

        Args:
            input: the numbers of pieces, a tensor or `RaggedTensor`.

        Returns:
            Strings, with one dimension less.

        Raises:
            ValueError: the rank of `input` is not static.
            FailedPreconditionError: the model does not support it.
            OutOfRangeError: there is no such piece.
        """
        numbers: Any = cast(ragged_or_tensor(input), int32)
        rank = numbers.shape.rank
        if rank is None:
            raise ValueError("input must have a known rank.")
        if rank < 2:
            return self.detokenize(expand_dims(numbers, 0))[0]
        if not isinstance(numbers, RaggedTensor):
            numbers = RaggedTensor.from_tensor(numbers, ragged_rank=rank - 1)
        *outer, inner = numbers.nested_row_splits
        words = _join_pieces_op(numbers.flat_values, cast(inner, int64), self._model)
        return RaggedTensor.from_nested_row_splits(words, outer, validate=False)


# ---- normalization ---------------------------------------------------------------------------------------------------


@functools.cache
def build_fast_bert_normalizer_model(lower_case_nfd_strip_accents: bool) -> bytes:
    """Builds the model of a `FastBertNormalizer`.

    Args:
        lower_case_nfd_strip_accents: folds case and removes accents.

    Returns:
        The bytes of a FlatBuffer, as TensorFlow Text has them.

    Example:
        >>> from tapeflow import text
        >>> len(text.build_fast_bert_normalizer_model(False)) > 1000
        True
    """
    codes = [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE1000)]
    characters = [chr(code).encode() for code in codes]
    with init_scope():
        changed = convert(characters, string)
        if lower_case_nfd_strip_accents:
            changed = BasicTokenizer().lower_case(changed)
        texts = regex_replace(changed, r"\p{Cc}|\p{Cf}", " ").value.flat
    pool, places, values = bytearray(), {b"": 0}, {}
    for character, text in zip(characters, texts, strict=True):
        if text != character:
            place = places.setdefault(text, len(pool))
            if place == len(pool):
                pool += text
            values[character] = _CHANGED | place << _SIZE_BITS | len(text)
    zero = values[b"\1"]  # a trie has no zeros; this control character becomes the same
    units = build_trie(list(values), list(values.values()))
    return write_table([int(lower_case_nfd_strip_accents), units, zero, np.frombuffer(bytes(pool), np.uint8)])


@loop
def _normalize_strings(
    data: Bytes, offsets: Int64s, rows: int, units: Int32s, size: int, zero: int, pool: Bytes, pool_size: int,
    value: Int64s, out: Bytes, room: int, ends: Int64s, places: Int64s,
) -> int:  # fmt: skip
    """Replaces characters. Returns the size of the result, and writes at most `room` bytes of it.

    `places` gets the original place of each byte of the result, and of the end of each string.
    """
    to, ends[0] = 0, 0
    for row in range(rows):
        begin, end = offsets[row], offsets[row + 1]
        at = begin
        while at < end:
            width = unicode_at(data, at, end) & 7
            entry = zero
            if data[at]:
                value[0] = 0
                find_longest(data, at, at + width, 0, units, size, 1, value)
                entry = value[0]
            if entry & 0x40000000 == 0:
                if to + row + width <= room:
                    copy(out, to, data, at, width)
                    for i in range(width):
                        places[to + row + i] = at + i - begin
                to += width
            else:
                length, start = entry & 63, (entry & 0x3FFFFFFF) >> 6
                if start + length > pool_size:
                    length = 0
                if to + row + length <= room:
                    copy(out, to, pool, start, length)
                    for i in range(length):
                        places[to + row + i] = at - begin
                to += length
            at += width
        if to + row < room:
            places[to + row] = end - begin
        ends[row + 1] = to
    return to


@string_op(
    "FastBertNormalize", shape=lambda input, *_: [input, TensorShape([None]), TensorShape([None])],
    signature="input_values:string, fast_bert_normalizer_model:uint8 -> output_values:string, output_offsets:int64, "
    "output_row_splits:int64; attr=get_offsets:bool,default=false",
)  # fmt: skip
def _normalize_op(
    input_values: StringArray, fast_bert_normalizer_model: torch.Tensor, get_offsets: bool = False
) -> tuple[Raw, ...]:
    """Normalizes strings."""
    table, (data, offsets) = FlatTable(fast_bert_normalizer_model.numpy().tobytes()), input_values.reshape(-1).packed()
    units, pool = table.array(_FOLDS, "<u4"), table.array(_POOL, np.uint8)
    if not len(units):
        raise invalid("FastBertNormalizerModel or its required fields are null")
    rows, size = input_values.size, len(data)
    ends = np.empty(rows + 1, np.int64)
    while True:
        room = size + rows + 1
        out, places = np.empty(room, np.uint8), np.empty(room, np.int64)
        hits = _normalize_strings(
            data or b"\0", offsets, rows, units.view(np.int32), len(units), table.number(_ZERO, "i"), pool, len(pool),
            np.empty(1, np.int64), out, room, ends, places,
        )  # fmt: skip
        if hits <= size:
            break
        size = hits
    texts = StringArray(out[:hits], ends, input_values.shape)
    if not get_offsets:
        return texts, torch.empty(0, dtype=torch.int64), torch.zeros(rows + 1, dtype=torch.int64)
    return texts, torch.from_numpy(places[: hits + rows]), torch.from_numpy(ends + np.arange(rows + 1))


class FastBertNormalizer(Module):
    """Cleans text as BERT does: control characters become spaces.

    Args:
        lower_case_nfd_strip_accents: folds case and removes accents.
        model_buffer: the bytes of a model, in the place of that.

    Example:
        >>> from tapeflow import text
        >>> text.FastBertNormalizer(lower_case_nfd_strip_accents=True).normalize("Café").numpy()
        b'cafe'
    """

    def __init__(self, lower_case_nfd_strip_accents: bool = False, model_buffer: TensorLike | None = None) -> None:
        super().__init__()
        if model_buffer is None:
            model_buffer = build_fast_bert_normalizer_model(lower_case_nfd_strip_accents)
        self._model = _as_model(model_buffer)

    def normalize(self, input: TensorLike) -> Any:
        """Normalizes text.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            Strings, in the shape of `input`.
        """
        strings = ragged_or_tensor(input, string)
        if isinstance(strings, RaggedTensor):
            return strings.with_flat_values(self.normalize(strings.flat_values))
        return reshape(_normalize_op(reshape(strings, [-1]), self._model)[0], shape_of(strings))

    def normalize_with_offsets(self, input: TensorLike) -> Any:
        """Normalizes text, and finds where each byte is from.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            Strings, in the shape of `input`; and for each byte, and the end, the place in the original text, with one
            dimension more.
        """
        places = split_rows(input, lambda vector: _normalize_op(vector, self._model, True)[1:])
        return self.normalize(input), *places


class FastBertTokenizer(TokenizerWithOffsets, Detokenizer):
    """Cleans text and splits it into pieces of a vocabulary.

    Args:
        vocab, suffix_indicator, max_bytes_per_word, token_out_type, unknown_token, no_pretokenization,
            support_detokenization: see `FastWordpieceTokenizer`.
        fast_wordpiece_model_buffer: the bytes of a model of it.
        lower_case_nfd_strip_accents: folds case and removes accents.
        fast_bert_normalizer_model_buffer: the bytes of a model of `FastBertNormalizer`.

    Example:
        >>> from tapeflow import text
        >>> tokenizer = text.FastBertTokenizer(["[UNK]", "great", "##est", "!"], lower_case_nfd_strip_accents=True)
        >>> tokenizer.tokenize("GREATEST!").numpy().tolist()
        [1, 2, 3]
    """

    def __init__(
        self,
        vocab: Sequence[str] | None = None,
        suffix_indicator: str = "##",
        max_bytes_per_word: int = 100,
        token_out_type: DTypeLike = int64,
        unknown_token: str = "[UNK]",
        no_pretokenization: bool = False,
        support_detokenization: bool = False,
        fast_wordpiece_model_buffer: TensorLike | None = None,
        lower_case_nfd_strip_accents: bool = False,
        fast_bert_normalizer_model_buffer: TensorLike | None = None,
    ) -> None:
        super().__init__()
        self._fast_bert_normalizer = FastBertNormalizer(lower_case_nfd_strip_accents, fast_bert_normalizer_model_buffer)
        self._fast_wordpiece_tokenizer = FastWordpieceTokenizer(
            vocab, suffix_indicator, max_bytes_per_word, token_out_type, unknown_token, no_pretokenization,
            support_detokenization, fast_wordpiece_model_buffer,
        )  # fmt: skip

    def tokenize_with_offsets(self, text_input: TensorLike) -> Any:
        """Splits text into pieces.

        Args:
            text_input: strings, a tensor or `RaggedTensor`.

        Returns:
            The pieces, and the offsets of their first bytes and of their ends in `text_input`, with one dimension more.
        """
        texts, places = self._fast_bert_normalizer.normalize_with_offsets(text_input)
        pieces, starts, limits = self._fast_wordpiece_tokenizer.tokenize_with_offsets(texts)
        dims = places.shape.rank - 1
        return pieces, *(gather(places, at, batch_dims=dims) for at in (starts, limits))

    def tokenize(self, text_input: TensorLike) -> Any:
        """Splits text into pieces.

        Args:
            text_input: strings, a tensor or `RaggedTensor`.

        Returns:
            The pieces, with one dimension more.
        """
        return self._fast_wordpiece_tokenizer.tokenize(self._fast_bert_normalizer.normalize(text_input))

    def detokenize(self, token_ids: TensorLike) -> Any:
        """Joins pieces to texts: see `FastWordpieceTokenizer.detokenize`."""
        return self._fast_wordpiece_tokenizer.detokenize(token_ids)
