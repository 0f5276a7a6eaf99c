"""Splits at the matches of regular expressions."""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.shape_rules import check_ranks_first
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.kernels import encode_text, string_op
from tapeflow.strings.regex import split_at_matches
from tapeflow.strings.split_text import in_rows
from tapeflow.strings.unicode import as_rows
from tapeflow.text.tokenizer import SplitterWithOffsets, ragged_or_tensor


def rows_rule(input: TensorShape, *_: Any) -> list[TensorShape]:
    """Returns the static shapes of tokens, two vectors of offsets, and row splits."""
    count = input.num_elements()
    return [*[TensorShape([None])] * 3, TensorShape([None if count is None else count + 1])]


@string_op(
    "RegexSplitWithOffsets",
    shape=check_ranks_first(rows_rule, None, 0, 0),
    signature="input:string, delim_regex_pattern:string, keep_delim_regex_pattern:string -> tokens:string, "
    "begin_offsets:int64, end_offsets:int64, row_splits:int64",
)
def _split_op(input: StringArray, delim_regex_pattern: StringArray, keep_delim_regex_pattern: StringArray) -> Any:
    """Splits strings; the result is in rows."""
    return split_at_matches(input.reshape(-1), delim_regex_pattern.item(), keep_delim_regex_pattern.item())


def regex_split_with_offsets(
    input: TensorLike, delim_regex_pattern: str, keep_delim_regex_pattern: str = "", name: str | None = None
) -> tuple[Tensor | RaggedTensor, ...]:
    """Splits strings at the matches of a regular expression, and finds the bytes of each part.

    Args:
        input: strings, a tensor or `RaggedTensor`. A zero byte ends a string.
        delim_regex_pattern: the expression, in RE2's syntax.
        keep_delim_regex_pattern: an expression. A delimiter that it matches as a whole is a part, too.

    Returns:
        The parts, and the offsets of their first bytes and of their ends, int64, with one dimension more than `input`.

    Raises:
        InvalidArgumentError: an expression is malformed, or the delimiter matches an empty string.

    Example:
        >>> from tapeflow import text
        >>> [rows.to_list() for rows in text.regex_split_with_offsets(["ab c"], " ")]
        [[[b'ab', b'c']], [[0, 3]], [[2, 4]]]
    """
    patterns = [b"(%s)" % encode_text(pattern) for pattern in (delim_regex_pattern, keep_delim_regex_pattern)]

    def split(vector: Tensor) -> list[Any]:
        *parts, splits = _split_op(vector, *patterns, name=name)
        return as_rows(splits, *parts)

    strings = ragged_or_tensor(input)
    if strings.shape.rank == 0:
        return tuple(split(strings))
    return tuple(in_rows(strings, split))


def regex_split(
    input: TensorLike, delim_regex_pattern: str, keep_delim_regex_pattern: str = "", name: str | None = None
) -> Tensor | RaggedTensor:
    """Splits strings at the matches of a regular expression.

    Args:
        input: strings, a tensor or `RaggedTensor`. A zero byte ends a string.
        delim_regex_pattern: the expression, in RE2's syntax.
        keep_delim_regex_pattern: an expression. A delimiter that it matches as a whole is a part, too.

    Returns:
        The parts, with one dimension more than `input`.

    Raises:
        InvalidArgumentError: an expression is malformed, or the delimiter matches an empty string.

    Example:
        >>> from tapeflow import text
        >>> text.regex_split(["a,b"], ",", ",").to_list()
        [[b'a', b',', b'b']]
    """
    return regex_split_with_offsets(input, delim_regex_pattern, keep_delim_regex_pattern, name)[0]


class RegexSplitter(SplitterWithOffsets):
    """Splits strings at the matches of a regular expression.

    Args:
        split_regex: the expression; by default the end of a line.

    Example:
        >>> from tapeflow import text
        >>> text.RegexSplitter().split(["one\\ntwo"]).to_list()
        [[b'one', b'two']]
    """

    def __init__(self, split_regex: str | None = None) -> None:
        super().__init__()
        self._split_regex = split_regex or "\r?\n"

    def split(self, input: TensorLike) -> Any:
        """Splits strings: see `regex_split`."""
        return regex_split(input, self._split_regex)

    def split_with_offsets(self, input: TensorLike) -> Any:
        """Splits strings, with offsets: see `regex_split_with_offsets`."""
        return regex_split_with_offsets(input, self._split_regex)
