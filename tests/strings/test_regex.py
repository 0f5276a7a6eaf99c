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
    b"(?:(a)|b){2}", "[éz]".encode(), "[^日]".encode(), rb"\pN", rb"\PL", rb"\p{Han}", rb"[\p{L}\s]", rb"\P{^Mn}",
    rb"\x41|\x{e9}", rb"[\D]", rb"[^\S\pL]", rb"[\x{3000}-\x{ffff}]", rb"[^\x{80}]", rb"\pC", rb"\351",
    b"[[:^alpha:]-]", b"[^]a]", b"[[:a]", rb"\n|\x{10ffff}",
]  # fmt: skip
PIECES = [
    *map(bytes, zip(b"aabbc \t\n\v\f\r.,-!x]1_^)|}#Zy")), b"\0", b"\xff", b"\xc3", b"\xa9", "é".encode(), "日".encode(),
    b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", "\U0001d11e".encode(), b"\xe0\x80",
    "\u0663".encode(), "\u0301".encode(), "\uff21".encode(), "\U0010ffff".encode(),
]  # fmt: skip


def test_automata_match_as_re2_does():
    draws, built = random.Random(3), 0
    for _ in range(1200):
        pattern = b"".join(draws.choices(TOKENS, k=draws.randint(1, 4))) + draws.choice([b"", b"+", b"(b+)"])
        try:
            compiled = regex._compile_pattern(pattern)
        except tf.errors.InvalidArgumentError:
            continue
        if automaton(pattern, whole=False, effort=1 << 16) is None:
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


def test_automata_split_as_re2_does():
    draws, split = random.Random(5), 0
    while split < 300:
        pattern = b"(%s)" % b"".join(draws.choices(TOKENS, k=draws.randint(1, 2)))
        kept = draws.choice([b"", b"()", b"(%s)" % draws.choice(TOKENS)])
        words = [b"".join(draws.choices(PIECES, k=draws.randint(0, 9))) for _ in range(12)]
        try:
            rows = [regex.split_at_matches(StringArray.of([word]), pattern, kept) for word in words]
        except tf.errors.InvalidArgumentError:
            with pytest.raises(tf.errors.InvalidArgumentError):
                regex.split_at_matches(StringArray.of(words), pattern, kept)
            continue
        parts, starts, limits, splits = regex.split_at_matches(StringArray.of(words), pattern, kept)
        places = list(zip(parts.tolist(), starts.tolist(), limits.tolist(), strict=True))
        for row, first, last in zip(rows, splits, splits[1:], strict=False):
            wanted = list(zip(row[0].tolist(), row[1].tolist(), row[2].tolist(), strict=True))
            assert places[first:last] == wanted, (pattern, kept, words)
        split += 1


@pytest.mark.parametrize(
    "pattern", ["a**", "(a*)+", "(?i)a", "a{900}", "a{", r"\C", r"\Qa\E", r"\B", "(?:[a-z]{50}){30}"]
)
def test_other_expressions_are_left_to_re2(pattern):
    assert automaton(pattern.encode(), whole=False, effort=1 << 16) is None


def test_expressions_with_many_states_have_automata():
    assert automaton(b"(a|b).{8}x", whole=False, effort=1 << 16) is not None
    assert automaton(b"(a|b).{11}x", whole=False, effort=1 << 20) is not None


def test_a_repeated_group_in_a_long_text_takes_linear_time():
    text = "a" * 200_000
    assert tf.strings.regex_replace([text, "ab"], "[a-z]+b", "").numpy().tolist() == [text.encode(), b""]
    assert tf.strings.regex_replace([text, "ab"], "([a-z]+)b", r"\1").numpy().tolist() == [text.encode(), b"a"]
    assert tf.strings.regex_full_match([text, "ab"], "(a*)*b").numpy().tolist() == [False, True]
    assert tf.strings.regex_full_match([text, "ab"], "a*a*a*b").numpy().tolist() == [False, True]
