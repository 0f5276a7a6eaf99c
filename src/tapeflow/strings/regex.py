"""Regular expressions.

The patterns are Python's `re`, which agrees with TensorFlow's RE2 on all but rare constructs (`\\pL`, `(?U)`).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import each, encoded, numbers, string_op, text


def _compiled(pattern: Any) -> re.Pattern[str]:
    """Compiles an expression, or raises InvalidArgumentError."""
    word = text(pattern) if isinstance(pattern, bytes) else pattern
    try:
        return re.compile(word, re.ASCII)  # as RE2 reads \w, \d and \s
    except re.error as error:
        raise invalid(f"Invalid pattern: {word}, error: {error}") from None


def _template(rewrite: Any) -> Any:
    """Returns a replacement as RE2 reads it: `\\0` to `\\9` are groups, and every other backslash is `\\\\`."""
    word = text(rewrite) if isinstance(rewrite, bytes) else rewrite
    parts = re.split(r"\\(\d|\\)", word)

    def replace(match: re.Match[str]) -> str:
        out = [parts[0]]
        for code, rest in zip(parts[1::2], parts[2::2], strict=True):
            out += ["\\" if code == "\\" else match.group(int(code)) or "", rest]
        return "".join(out)

    return replace


def _replace_kernel(input: np.ndarray, pattern: Any, rewrite: Any, replace_global: bool) -> np.ndarray:
    compiled, template = _compiled(pattern), _template(rewrite)
    return each(lambda v: encoded(compiled.sub(template, text(v), count=0 if replace_global else 1)), input)


@string_op("StaticRegexReplace", _replace_kernel, shape=same, elementwise=True)
def _static_replace(
    input: TensorLike, pattern: str = "", rewrite: str = "", replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of an expression that is an attr."""


def _replace_by_tensors(
    input: np.ndarray, pattern: np.ndarray, rewrite: np.ndarray, replace_global: bool
) -> np.ndarray:
    return _replace_kernel(input, pattern[()], rewrite[()], replace_global)


@string_op("RegexReplace", _replace_by_tensors, shape=lambda input, *_: input, elementwise=True)
def _replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of an expression that is a tensor."""


def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of a regular expression.

    Args:
        input: strings.
        pattern: the expression, a scalar.
        rewrite: the replacement, a scalar; `\\1` stands for the first group.
        replace_global: replaces all matches; otherwise only the first one in each string.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: the pattern is malformed.

    Example:
        >>> tf.strings.regex_replace("hello", "(l+)", r"<\\1>").numpy()
        b'he<ll>o'
    """
    if isinstance(pattern, Tensor) or isinstance(rewrite, Tensor):
        return _replace(input, pattern, rewrite, replace_global, name)
    return _static_replace(input, _word(pattern), _word(rewrite), replace_global, name)


def _full_match_kernel(input: np.ndarray, pattern: Any) -> torch.Tensor:
    compiled = _compiled(pattern)
    return numbers(lambda v: compiled.fullmatch(text(v)) is not None, input, torch.bool)


@string_op("StaticRegexFullMatch", _full_match_kernel, shape=same, elementwise=True)
def _static_full_match(input: TensorLike, pattern: str = "", name: str | None = None) -> Tensor:
    """Tests whether strings match an expression that is an attr."""


def _full_match_by_tensor(input: np.ndarray, pattern: np.ndarray) -> torch.Tensor:
    return _full_match_kernel(input, pattern[()])


@string_op("RegexFullMatch", _full_match_by_tensor, shape=lambda input, pattern: input, elementwise=True)
def _full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether strings match an expression that is a tensor."""


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether each string matches a regular expression from its beginning to its end.

    Args:
        input: strings.
        pattern: the expression, a scalar.

    Returns:
        Booleans, of the shape of `input`.

    Raises:
        InvalidArgumentError: the pattern is malformed.

    Example:
        >>> tf.strings.regex_full_match(["abc", "abx"], "ab[cd]").numpy().tolist()
        [True, False]
    """
    if isinstance(pattern, Tensor):
        return _full_match(input, pattern, name)
    return _static_full_match(input, _word(pattern), name)


def _word(value: Any) -> str:
    """Returns a string as Python text."""
    if isinstance(value, str):
        return value
    return text(value if isinstance(value, bytes) else host_value(convert(value, string)))
