"""Simple expressions, which Python's engine matches, give what RE2 gives."""

import random
import warnings

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.strings import regex

TOKENS = [
    b"a", b"-", b" ", b"}", b"#", b".", rb"\.", rb"\s", rb"\S", rb"\d", rb"\D", rb"\w", rb"\W", b"[ab]", b"[^a]",
    rb"[a-c\s]", rb"[^\w]", rb"[\]x]", rb"[,-\.^]", rb"[!\-]", rb"[\d_]", b"[)(|]", b"(ab)", b"(.)", b"([^b]c)",
    b"a+", b".*", rb"\w?", rb"\b", b"(a|bc)", b"(a*|[^b]+x)", b"(ab|a|)",
]  # fmt: skip
LETTERS = b"aabbc \t\n\v\f\r.,-!x]1_^)|}#Z"


def test_simple_expressions_match_as_in_re2():
    draws, simple = random.Random(3), 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Python warns of sets that it may read differently one day
        for _ in range(1200):
            pattern = b"".join(draws.choices(TOKENS, k=draws.randint(1, 4))) + draws.choice([b"", b"+", b"(b+)"])
            if regex._for_python(pattern) is None:
                continue
            simple += 1
            words = [bytes(draws.choices(LETTERS, k=draws.randint(0, 9))) for _ in range(12)]
            strings = np.array(words, object)
            compiled = regex._compiled(pattern)
            matches = [compiled.fullmatch(word) is not None for word in words]
            assert regex._full_match_kernel(strings, pattern).tolist() == matches, pattern
            for rewrite in (b"<>", rb"[\0]", rb"\1x", rb"\\"):
                for everywhere in (True, False):
                    replace = regex._replacing(pattern, rewrite, everywhere)
                    replaced = regex._replace_kernel(strings, pattern, rewrite, everywhere)
                    assert replaced.tolist() == [replace(word) for word in words], (pattern, rewrite)
    assert simple > 500


@pytest.mark.parametrize(
    "pattern", ["a++b", "a*?", "a|b", "^a", "(a+)+", "()", "", "(a|b)*", "((a)b)", "a{2}", "[[:alpha:]]", "(?i)a", "é"]
)
def test_other_expressions_are_left_to_re2(pattern):
    assert regex._for_python(pattern.encode()) is None


def test_a_repeated_group_in_a_long_text_takes_linear_time():
    text = "a" * 200_000
    assert tf.strings.regex_replace([text], "[a-z]+b", "").numpy() == [text.encode()]
    assert not tf.strings.regex_full_match([text], "(a*)*b").numpy()[0]
    assert not tf.strings.regex_full_match([text], "a*a*a*b").numpy()[0]
