"""Unicode's normal forms, and texts without regard to case."""

from __future__ import annotations

from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import each_text, string_op
from tapeflow.text.characters import fold_case, normalizer

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def _fold_kernel(input: StringArray) -> StringArray:
    whole, offsets = input.packed()
    if whole.isascii():
        return StringArray(whole.lower(), offsets, input.shape)
    return each_text(fold_case, input, "surrogateescape")


@string_op("CaseFoldUTF8", _fold_kernel, shape=same, elementwise=True, signature="input:string -> output:string")
def case_fold_utf8(input: TensorLike, name: str | None = None) -> Tensor:
    """Folds case, as Unicode's form NFKC_Casefold does.

    Args:
        input: strings in UTF-8, a tensor or `RaggedTensor`. Bytes that are not UTF-8 stay.

    Returns:
        Strings, in the shape of `input`.

    Example:
        >>> from tapeflow import text
        >>> text.case_fold_utf8("Straße").numpy()
        b'strasse'
    """


@string_op("NormalizeUTF8", shape=same, elementwise=True,
           signature="input:string -> output:string; attr=normalization_form:string")  # fmt: skip
def _normalize_op(input: StringArray, normalization_form: str) -> StringArray:
    """Normalizes strings."""
    form = normalization_form.upper()
    if form not in _FORMS:
        raise invalid(f"Unknown normalization form: {normalization_form}. Use one of {', '.join(_FORMS)}.")
    if input.packed()[0].isascii():
        return input
    return each_text(normalizer(form), input, "surrogateescape")


def normalize_utf8(input: TensorLike, normalization_form: str = "NFKC", name: str | None = None) -> Tensor:
    """Normalizes strings to one of Unicode's forms.

    Args:
        input: strings in UTF-8, a tensor or `RaggedTensor`. Bytes that are not UTF-8 stay.
        normalization_form: "NFC", "NFD", "NFKC" or "NFKD".

    Returns:
        Strings, in the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such form.

    Example:
        >>> from tapeflow import text
        >>> text.normalize_utf8("é", "NFD").numpy()
        b'e\\xcc\\x81'
    """
    return _normalize_op(input, normalization_form, name=name)
