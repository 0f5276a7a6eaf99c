"""Properties of characters, by version 16 of Unicode.

Python's own tables follow its version. They serve for the characters of `strings/unicode_scripts.txt`: every supported
Python knows these. `newer_characters.txt` has the properties of later ones.
"""

from __future__ import annotations

import functools
import pathlib
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.loops import Bytes, loop
from tapeflow.strings.kernels import character_at
from tapeflow.strings.unicode import script_table

_CODES = 0x110000
_UNKNOWN_SCRIPT = 103
SPACE, ALONE = 1, 2  # kinds of characters: white space, and words of one character

# Characters that case folding removes: Unicode's default ignorable code points.
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SPACES = [9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
# ASCII marks (Unicode counts some as symbols), and BERT's list of Chinese characters.
_ALONE = [
    (33, 48), (58, 65), (91, 97), (123, 127), (0x4E00, 0xA000), (0x3400, 0x4DC0), (0x20000, 0x2A6E0),
    (0x2A700, 0x2B740), (0x2B740, 0x2B820), (0x2B820, 0x2CEB0), (0xF900, 0xFB00), (0x2F800, 0x2FA20),
]  # fmt: skip


@functools.cache
def _newer_characters() -> dict[str, dict[int, str]]:
    """Returns the replacements of characters that the oldest Python does not know, by the names of the forms."""
    tables: dict[str, dict[int, str]] = {}
    for line in pathlib.Path(__file__).with_name("newer_characters.txt").read_text().splitlines():
        name, *entries = line.split()
        pairs = [entry.split("=") for entry in entries]
        tables[name] = {int(code, 16): "".join(chr(int(c, 16)) for c in to.split("+") if c) for code, to in pairs}
    return tables


class _Folds(dict[int, str]):
    """The text for each character without regard to case, computed when it is first asked for."""

    def __missing__(self, code: int) -> str:
        text, folded = "", chr(code)
        if script_table()[code] == _UNKNOWN_SCRIPT:
            text = folded = _newer_characters()["fold"].get(code, _IGNORED.sub("", folded))
        while text != folded:  # decomposing may bring letters to fold, and the other way round
            text = folded
            folded = unicodedata.normalize("NFKC", _IGNORED.sub("", text.casefold()))
        self[code] = folded
        return folded


_folds = _Folds()


def fold_case(text: str) -> str:
    """Returns a text without regard to case, in the form NFKC."""
    return unicodedata.normalize("NFC", text.translate(_folds))


@functools.cache
def normalizer(form: Any) -> Callable[[str], str]:
    """Returns the function that normalizes a text to "NFC", "NFD", "NFKC" or "NFKD"."""
    newer = _newer_characters().get(form[:-1] + "D", {}) if form != "NFC" else {}
    if form == "NFKC":  # these would decompose only to be composed again
        newer = {code: to for code, to in newer.items() if code not in _newer_characters()["NFD"]}
    pattern = re.compile(f"[{''.join(map(chr, newer))}]") if newer else None

    def normalize(text: str) -> str:
        if pattern is not None and pattern.search(text):
            text = text.translate(newer)
        return unicodedata.normalize(form, text)

    return normalize


@functools.cache
def kinds_of_characters() -> np.ndarray:
    """Returns the kind of each code point: `SPACE`, `ALONE`, or 0 for parts of longer words."""
    kinds = np.zeros(_CODES, np.uint8)
    known = np.flatnonzero(script_table().numpy() != _UNKNOWN_SCRIPT).tolist()
    kinds[[code for code in known if unicodedata.category(chr(code))[0] == "P"]] = ALONE
    kinds[[*_newer_characters()["alone"]]] = ALONE
    for first, end in _ALONE:
        kinds[first:end] = ALONE
    kinds[_SPACES] = SPACE
    return kinds


@loop
def unicode_at(data: Bytes, at: int, end: int) -> int:
    """Returns a character's code point times 8, plus its width in bytes; the width minus 8 for bytes that are none."""
    character = character_at(data, at, end)
    code, first, width = character >> 3 if character > 0 else 0, data[at], 1
    if character >= 0 and code < 0x110000 and not 0xD800 <= code < 0xE000:
        return character
    if 0xE0 <= first <= 0xF4 and at + 1 < end:  # the longest part that a character could begin with
        low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
        high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
        if low <= data[at + 1] <= high:
            width = 3 if first >= 0xF0 and at + 2 < end and data[at + 2] & 0xC0 == 0x80 else 2
    return width - 8
