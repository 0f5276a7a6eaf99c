"""BERT's tokenizer: text is cleaned, split at white space and marks, and then into pieces of a vocabulary."""

from __future__ import annotations

from typing import Any

from tapeflow.array.reshapes import expand_dims
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.strings.regex import regex_replace
from tapeflow.strings.text import lower
from tapeflow.text.normal_forms import case_fold_utf8, normalize_utf8
from tapeflow.text.regex_split import regex_split_with_offsets
from tapeflow.text.tokenizer import Detokenizer, TokenizerWithOffsets
from tapeflow.text.wordpiece import WordpieceTokenizer

_MARKS = r"[!-/]|[:-@]|[\[-`]|[{-~]|[\p{P}]"
_CHINESE = (
    r"[\x{4E00}-\x{9FFF}]|[\x{3400}-\x{4DBF}]|[\x{20000}-\x{2A6DF}]|[\x{2A700}-\x{2B73F}]|[\x{2B740}-\x{2B81F}]|"
    r"[\x{2B820}-\x{2CEAF}]|[\x{F900}-\x{FAFF}]|[\x{2F800}-\x{2FA1F}]"
)
_UNUSED = r"\[unused\d+\]"


class BasicTokenizer(TokenizerWithOffsets):
    """Splits text at white space, and at marks and Chinese characters, which are tokens.

    Args:
        lower_case: folds case and removes accents.
        keep_whitespace: keeps white space as tokens.
        normalization_form: the normal form to bring text to; None for none. "NFD" if `lower_case` is True.
        preserve_unused_token: keeps "[unused1]" and the like whole.

    Raises:
        ValueError: `lower_case` does not go with the normal form.

    Example:
        >>> from tapeflow.text.bert import BasicTokenizer
        >>> BasicTokenizer(lower_case=True).tokenize(["Café, no"]).to_list()
        [[b'cafe', b',', b'no']]
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: str | None = None,
        preserve_unused_token: bool = False,
    ) -> None:
        super().__init__()
        if lower_case and normalization_form not in (None, "NFD"):
            raise ValueError("`lower_case` strips accents. When `lower_case` is set, `normalization_form` is 'NFD'.")
        self._lower_case, self._normalization_form = lower_case, normalization_form
        unused = [_UNUSED] if preserve_unused_token else []
        self._delimiter = "|".join([*unused, r"\s+", _MARKS, _CHINESE])
        self._kept = "|".join([*unused, *[r"\s+"] * keep_whitespace, _MARKS, _CHINESE])

    def lower_case(self, text_input: TensorLike) -> Any:
        """Folds case and removes accents."""
        return regex_replace(normalize_utf8(case_fold_utf8(text_input), "NFD"), r"\p{Mn}", "")

    def tokenize_with_offsets(self, text_input: TensorLike) -> Any:
        """Splits text.

        Args:
            text_input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, and the offsets of their first bytes and of their ends in the cleaned text, with one dimension
            more.
        """
        if self._lower_case:
            text_input = self.lower_case(text_input)
        elif self._normalization_form is not None:
            text_input = normalize_utf8(text_input, self._normalization_form)
        cleaned = regex_replace(text_input, r"\p{Cc}|\p{Cf}", " ")
        return regex_split_with_offsets(cleaned, self._delimiter, self._kept, "BertBasicTokenizer")


class AccentPreservingBasicTokenizer(BasicTokenizer):
    """A `BasicTokenizer` whose lower case keeps accents.

    Example:
        >>> from tapeflow.text.bert import AccentPreservingBasicTokenizer
        >>> AccentPreservingBasicTokenizer(lower_case=True).tokenize(["É"])[0, 0].numpy().decode()
        'é'
    """

    def lower_case(self, text_input: TensorLike) -> Any:
        """Changes letters to lower case."""
        return lower(text_input, encoding="utf-8")


class BertTokenizer(TokenizerWithOffsets, Detokenizer):
    """Splits text into words, and these into pieces of a vocabulary.

    Args:
        vocab_lookup_table, suffix_indicator, max_bytes_per_word, max_chars_per_token, token_out_type, unknown_token,
            split_unknown_characters: see `WordpieceTokenizer`.
        lower_case, keep_whitespace, normalization_form, preserve_unused_token: see `BasicTokenizer`.
        basic_tokenizer_class: the class of the tokenizer of words.

    Example:
        >>> from tapeflow import text
        >>> init = tf.lookup.KeyValueTensorInitializer(["[UNK]", "great", "##est", "!"], tf.range(4, dtype=tf.int64))
        >>> tokenizer = text.BertTokenizer(tf.lookup.StaticHashTable(init, default_value=0), lower_case=True)
        >>> tokenizer.tokenize(["Greatest!"]).to_list()
        [[[1, 2], [3]]]
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
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: str | None = None,
        preserve_unused_token: bool = False,
        basic_tokenizer_class: type = BasicTokenizer,
    ) -> None:
        super().__init__()
        options = lower_case, keep_whitespace, normalization_form, preserve_unused_token
        self._basic_tokenizer = basic_tokenizer_class(*options)
        self._wordpiece_tokenizer = WordpieceTokenizer(
            vocab_lookup_table, suffix_indicator, max_bytes_per_word, max_chars_per_token, token_out_type,
            unknown_token, split_unknown_characters,
        )  # fmt: skip

    def tokenize_with_offsets(self, text_input: TensorLike) -> Any:
        """Splits text into pieces.

        Args:
            text_input: strings, a tensor or `RaggedTensor`.

        Returns:
            The pieces in their words, and the offsets of their first bytes and of their ends in the cleaned text, with
            two dimensions more.
        """
        words, begins, _ = self._basic_tokenizer.tokenize_with_offsets(text_input)
        pieces, starts, limits = self._wordpiece_tokenizer.tokenize_with_offsets(words)
        begins = expand_dims(begins, 2)
        return pieces, begins + starts, begins + limits

    def tokenize(self, text_input: TensorLike) -> Any:
        """Splits text into pieces.

        Args:
            text_input: strings, a tensor or `RaggedTensor`.

        Returns:
            The pieces in their words, with two dimensions more.
        """
        return self._wordpiece_tokenizer.tokenize(self._basic_tokenizer.tokenize(text_input))

    def detokenize(self, token_ids: TensorLike) -> Any:
        """Joins pieces to words: see `WordpieceTokenizer.detokenize`."""
        return self._wordpiece_tokenizer.detokenize(token_ids)
