"""Automata find the matches that RE2 finds."""

import random

import pytest

import tapeflow as tf
from tapeflow.core.values.strings import StringArray
from tapeflow.strings import regex
from tapeflow.strings.automata import automaton

TOKENS = [
    b"a", b"-", b" ", b"}", b"#", b".", rb"\.", rb"\s", rb"\S", rb"\d", rb"\D", rb"\w", rb"\W", b"[ab]", b"[^a]",
    rb"[a-c\s]", rb"[^\w]", rb"[\]x]", rb"[,-\.^]", rb"[!\-]", rb"[\d_]", b"[)(|]", b"(ab)", b"(.)", b"([^b]c)",
    b"a+", b".*", rb"\w?", rb"\b", b"(a|bc)", b"(a*|[^b]+x)", b"(ab|a|)", "é".encode(), b"^", b"$", rb"\B", b"a??",
    b"(?:b|a+?)+", b"c{2}", b"(a|b){1,3}", b"[[:alpha:]]", b"[[:punct:] ]", "(?:日|x)*y".encode(), b"(a|b)*", b"((a)b)",
    b"(?:(a)|(b))+", b"((a)|b)*?", b"(a*)(a*)", b"(b)?", b"(?P<n>[ab])", b"(a|ab)(c|bcd)?", rb"(\b)", b"(^|a)",
    b"(?:(a)|b){2}",
]  # fmt: skip
PIECES = [
    *map(bytes, zip(b"aabbc \t\n\v\f\r.,-!x]1_^)|}#Zy")), b"\0", b"\xff", b"\xc3", b"\xa9", "é".encode(), "日".encode(),
    b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", "\U0001d11e".encode(),
]  # fmt: skip


def test_automata_match_as_re2_does():
    draws, built = random.Random(3), 0
    for _ in range(1200):
        pattern = b"".join(draws.choices(TOKENS, k=draws.randint(1, 4))) + draws.choice([b"", b"+", b"(b+)"])
        try:
            compiled = regex._compile_pattern(pattern)
        except tf.errors.InvalidArgumentError:
            continue
        if automaton(pattern, whole=False) is None:
            continue
        built += 1
        words = [b"".join(draws.choices(PIECES, k=draws.randint(0, 9))) for _ in range(12)]
        strings = StringArray.of(words)
        matches = [compiled.fullmatch(word) is not None for word in words]
        assert regex._full_match_kernel(strings, pattern).tolist() == matches, pattern
        for rewrite in (b"<>", rb"[\0]", rb"\1x", rb"\\", rb"\2,\1", rb"\3\2\1", rb"\1\x"):
            for everywhere in (True, False):
                replace = regex._replacing_function(pattern, rewrite, everywhere)
                replaced = regex._replace_kernel(strings, pattern, rewrite, everywhere)
                assert replaced.tolist() == [replace(word) for word in words], (pattern, rewrite, words)
    assert built > 700


@pytest.mark.parametrize("pattern", ["a**", "(a*)+", "(?i)a", "[é]", r"\pN", "a{900}", r"\x41", r"[\D]", "a{"])
def test_other_expressions_are_left_to_re2(pattern):
    assert automaton(pattern.encode(), whole=False) is None


def test_a_repeated_group_in_a_long_text_takes_linear_time():
    text = "a" * 200_000
    assert tf.strings.regex_replace([text, "ab"], "[a-z]+b", "").numpy().tolist() == [text.encode(), b""]
    assert tf.strings.regex_replace([text, "ab"], "([a-z]+)b", r"\1").numpy().tolist() == [text.encode(), b"a"]
    assert tf.strings.regex_full_match([text, "ab"], "(a*)*b").numpy().tolist() == [False, True]
    assert tf.strings.regex_full_match([text, "ab"], "a*a*a*b").numpy().tolist() == [False, True]
