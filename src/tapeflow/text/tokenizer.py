"""The base classes of tokenizers, and tokens in rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.split_text import in_rows
from tapeflow.strings.unicode import as_rows
from tapeflow.tracking.module import Module

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor


class Splitter(Module):
    """The base of splitters of strings.

    Example:
        >>> from tapeflow import text
        >>> issubclass(text.WhitespaceTokenizer, text.Splitter)
        True
    """

    def split(self, input: TensorLike) -> Any:
        """Splits strings; for subclasses.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The parts, with one dimension more than `input`.
        """
        raise NotImplementedError("Abstract method")


class SplitterWithOffsets(Splitter):
    """The base of splitters that also return where each part begins and ends.

    Example:
        >>> from tapeflow import text
        >>> issubclass(text.RegexSplitter, text.SplitterWithOffsets)
        True
    """

    def split_with_offsets(self, input: TensorLike) -> Any:
        """Splits strings, and finds the bytes of each part; for subclasses.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The parts, and the offsets of their first bytes and of their ends, with one dimension more than `input`.
        """
        raise NotImplementedError("Abstract method")


class Tokenizer(Splitter):
    """The base of tokenizers.

    Example:
        >>> from tapeflow import text
        >>> issubclass(text.WhitespaceTokenizer, text.Tokenizer)
        True
    """

    def tokenize(self, input: TensorLike) -> Any:
        """Tokenizes strings; for subclasses.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, with one dimension more than `input`.
        """
        raise NotImplementedError("Abstract method")

    def split(self, input: TensorLike) -> Any:
        """Tokenizes strings: see `tokenize`."""
        return self.tokenize(input)


class TokenizerWithOffsets(Tokenizer, SplitterWithOffsets):
    """The base of tokenizers that also return where each token begins and ends.

    Example:
        >>> from tapeflow import text
        >>> issubclass(text.BertTokenizer, text.TokenizerWithOffsets)
        True
    """

    def tokenize_with_offsets(self, input: TensorLike) -> Any:
        """Tokenizes strings, and finds the bytes of each token; for subclasses.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, and the offsets of their first bytes and of their ends, with one dimension more than `input`.
        """
        raise NotImplementedError("Abstract method")

    def tokenize(self, input: TensorLike) -> Any:
        """Tokenizes strings.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, with one dimension more than `input`.
        """
        return self.tokenize_with_offsets(input)[0]

    def split_with_offsets(self, input: TensorLike) -> Any:
        """Tokenizes strings, with offsets: see `tokenize_with_offsets`."""
        return self.tokenize_with_offsets(input)


class Detokenizer(Module):
    """The base of tokenizers that also join tokens.

    Example:
        >>> from tapeflow import text
        >>> issubclass(text.SentencepieceTokenizer, text.Detokenizer)
        True
    """

    def detokenize(self, input: TensorLike) -> Any:
        """Joins tokens; for subclasses.

        Args:
            input: tokens.

        Returns:
            Strings.
        """
        raise NotImplementedError("Abstract method")


class VectorTokenizer(TokenizerWithOffsets):
    """The base of tokenizers that an op makes of a vector of strings: `_split_vector` returns tokens, row splits, and
    the offsets where they begin and end."""

    def _split_vector(self, vector: Tensor) -> Any:
        raise NotImplementedError

    def tokenize_with_offsets(self, input: TensorLike) -> Any:
        """Tokenizes strings, and finds the bytes of each token.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, and the offsets of their first bytes and of their ends, with one dimension more than `input`.

        Raises:
            ValueError: the rank of `input` is not static.
        """
        return tuple(split_rows(input, self._split_vector))


def ragged_or_tensor(input: TensorLike, dtype: DType | None = None) -> Any:
    """Returns a value as a `RaggedTensor` if it is one or has lists of different lengths, or else as a tensor."""
    return input if isinstance(input, RaggedTensor) else convert(input, dtype)


def rows_of_splits(splits: TensorShape) -> TensorShape:
    """Returns the static shape of a vector with an element for each row, by the shape of the row splits."""
    count = splits.num_elements()
    return TensorShape([None if count is None else count - 1])


def split_rows(input: TensorLike, function: Callable[..., Any]) -> list[Any]:
    """Splits strings of any shape.

    Args:
        input: strings, a tensor or `RaggedTensor`.
        function: takes a vector of strings, and returns tokens, row splits, and other values of the same rows.

    Returns:
        Ragged tensors of all values, with one dimension more than `input`; vectors if that is a scalar.

    Raises:
        ValueError: the rank of `input` is not static.
    """
    strings = ragged_or_tensor(input, string)
    rank = strings.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1 and not isinstance(strings, RaggedTensor):
        strings = RaggedTensor.from_tensor(strings, ragged_rank=rank - 1)

    def split_vector(vector: Tensor) -> list[Any]:
        tokens, splits, *others = function(vector)
        return as_rows(splits, tokens, *others)

    return in_rows(strings, split_vector)
