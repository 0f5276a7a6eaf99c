"""Replaced and found matches of regular expressions. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

replace, match = tf.strings.regex_replace, tf.strings.regex_full_match
T = tf.constant(["hello world", "a1b22c333", "", "Aa aA", "x.y*z", "zażółć", "tab\tnew\nline"])
MANY = tf.constant(["abc", "aXbXc", "", "123-456", "zażółć", "a b  c"] * 3)
PATTERNS = [
    "a+",
    "[a-c]",
    "b|c",
    "\\d+",
    "\\w+",
    "\\s",
    ".",
    "(a)(b)?",
    "^a",
    "c$",
    "x*",
    "[^a-z]",
    "(?i)AB",
    "a{2}",
    "a{1,2}?",
    "\\bc",
    "ż",
    "(ab|a)(c|bcd)?",
    "[[:digit:]]",
    "\\.",
    "(?:ab)+",
    "a??",
    "\\Aa",
    "c\\z",
    "(?s).+",
    "(?P<name>b)",
    "[\\d-]+",
    "\\x61",
    "\\pL+",
    "(?m)^\\w",
    "$",
    "^$",
    "b*?c",
    "[^\\x00-\\x7F]",
]

ROWS = read_rows(r"""
[replace(T, p, "<\\0>") for p in PATTERNS[:12]]
    (string [7] [b'hello world', b'<a>1b22c333', b'', b'A<a> <a>A', b'x.y*z', b'z<a>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b't<a>b\tnew\nline']; string [7] [b'hello world', b'<a>1<b>22<c>333', b'', b'A<a> <a>A', b'x.y*z',
    b'z<a>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't<a><b>\tnew\nline']; string [7] [b'hello world', b'a1<b>22<c>333', b'',
    b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'ta<b>\tnew\nline']; string [7] [b'hello world',
    b'a<1>b<22>c<333>', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7]
    [b'<hello> <world>', b'<a1b22c333>', b'', b'<Aa> <aA>', b'<x>.<y>*<z>', b'<za>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b'<tab>\t<new>\n<line>']; string [7] [b'hello< >world', b'a1b22c333', b'', b'Aa< >aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab<\t>new<\n>line']; string [7] [b'<h><e><l><l><o>< ><w><o><r><l><d>',
    b'<a><1><b><2><2><c><3><3><3>', b'', b'<A><a>< ><a><A>', b'<x><.><y><*><z>',
    b'<z><a><\xc5\xbc><\xc3\xb3><\xc5\x82><\xc4\x87>', b'<t><a><b><\t><n><e><w>\n<l><i><n><e>']; string [7] [b'hello
    world', b'<a>1b22c333', b'', b'A<a> <a>A', b'x.y*z', b'z<a>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't<ab>\tnew\nline'];
    string [7] [b'hello world', b'<a>1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'<>h<>e<>l<>l<>o<> <>w<>o<>r<>l<>d<>',
    b'<>a<>1<>b<>2<>2<>c<>3<>3<>3<>', b'<>', b'<>A<>a<> <>a<>A<>', b'<x>.<>y<>*<>z<>',
    b'<>z<>a<>\xc5\xbc<>\xc3\xb3<>\xc5\x82<>\xc4\x87<>', b'<>t<>a<>b<>\t<>n<>e<>w<>\n<>l<>i<>n<>e<>']; string [7]
    [b'hello< >world', b'a<1>b<2><2>c<3><3><3>', b'', b'<A>a< >a<A>', b'x<.>y<*>z',
    b'za<\xc5\xbc><\xc3\xb3><\xc5\x82><\xc4\x87>', b'tab<\t>new<\n>line'])
[replace(T, p, "<\\0>") for p in PATTERNS[12:24]]
    (string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b't<ab>\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'<a>1b22c333', b'', b'A<a>
    <a>A', b'x.y*z', b'z<a>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't<a>b\tnew\nline']; string [7] [b'hello world',
    b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7]
    [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za<\xc5\xbc>\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline'];
    string [7] [b'hello world', b'<a>1b22c333', b'', b'A<a> <a>A', b'x.y*z', b'z<a>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b't<ab>\tnew\nline']; string [7] [b'hello world', b'a<1>b<2><2>c<3><3><3>', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA',
    b'x<.>y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333',
    b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't<ab>\tnew\nline']; string [7]
    [b'<>h<>e<>l<>l<>o<> <>w<>o<>r<>l<>d<>', b'<>a<>1<>b<>2<>2<>c<>3<>3<>3<>', b'<>', b'<>A<>a<> <>a<>A<>',
    b'<>x<>.<>y<>*<>z<>', b'<>z<>a<>\xc5\xbc<>\xc3\xb3<>\xc5\x82<>\xc4\x87<>',
    b'<>t<>a<>b<>\t<>n<>e<>w<>\n<>l<>i<>n<>e<>']; string [7] [b'hello world', b'<a>1b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA',
    b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline'])
[replace(T, p, "<\\0>") for p in PATTERNS[24:]]
    (string [7] [b'<hello world>', b'<a1b22c333>', b'', b'<Aa aA>', b'<x.y*z>', b'<za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87>',
    b'<tab\tnew\nline>']; string [7] [b'hello world', b'a1<b>22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'ta<b>\tnew\nline']; string [7] [b'hello world', b'a<1>b<22>c<333>', b'',
    b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world',
    b'<a>1b22c333', b'', b'A<a> <a>A', b'x.y*z', b'z<a>\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't<a>b\tnew\nline']; string
    [7] [b'<hello> <world>', b'<a>1<b>22<c>333', b'', b'<Aa> <aA>', b'<x>.<y>*<z>',
    b'<za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87>', b'<tab>\t<new>\n<line>']; string [7] [b'<h>ello world', b'<a>1b22c333',
    b'', b'<A>a aA', b'<x>.y*z', b'<z>a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'<t>ab\tnew\n<l>ine']; string [7] [b'hello
    world<>', b'a1b22c333<>', b'<>', b'Aa aA<>', b'x.y*z<>', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87<>',
    b'tab\tnew\nline<>']; string [7] [b'hello world', b'a1b22c333', b'<>', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22<c>333', b'', b'Aa
    aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333',
    b'', b'Aa aA', b'x.y*z', b'za<\xc5\xbc><\xc3\xb3><\xc5\x82><\xc4\x87>', b'tab\tnew\nline'])
[replace(T, p, "-", False) for p in PATTERNS]
    (string [7] [b'hello world', b'-1b22c333', b'', b'A- aA', b'x.y*z', b'z-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b't-b\tnew\nline']; string [7] [b'hello world', b'-1b22c333', b'', b'A- aA', b'x.y*z',
    b'z-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't-b\tnew\nline']; string [7] [b'hello world', b'a1-22c333', b'', b'Aa aA',
    b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'ta-\tnew\nline']; string [7] [b'hello world', b'a-b22c333', b'',
    b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'- world', b'-', b'',
    b'- aA', b'-.y*z', b'-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'-\tnew\nline']; string [7] [b'hello-world', b'a1b22c333',
    b'', b'Aa-aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab-new\nline']; string [7] [b'-ello world',
    b'-1b22c333', b'', b'-a aA', b'-.y*z', b'-a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'-ab\tnew\nline']; string [7]
    [b'hello world', b'-1b22c333', b'', b'A- aA', b'x.y*z', b'z-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't-\tnew\nline'];
    string [7] [b'hello world', b'-1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'-hello world', b'-a1b22c333', b'-', b'-Aa
    aA', b'-.y*z', b'-za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'-tab\tnew\nline']; string [7] [b'hello-world',
    b'a-b22c333', b'', b'-a aA', b'x-y*z', b'za-\xc3\xb3\xc5\x82\xc4\x87', b'tab-new\nline']; string [7] [b'hello
    world', b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't-\tnew\nline']; string [7]
    [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline'];
    string [7] [b'hello world', b'-1b22c333', b'', b'A- aA', b'x.y*z', b'z-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b't-b\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA',
    b'x.y*z', b'za-\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'-1b22c333', b'', b'A-
    aA', b'x.y*z', b'z-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't-\tnew\nline']; string [7] [b'hello world', b'a-b22c333',
    b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world',
    b'a1b22c333', b'', b'Aa aA', b'x-y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7]
    [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't-\tnew\nline'];
    string [7] [b'-hello world', b'-a1b22c333', b'-', b'-Aa aA', b'-x.y*z', b'-za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b'-tab\tnew\nline']; string [7] [b'hello world', b'-1b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA',
    b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'-', b'-', b'', b'-', b'-', b'-',
    b'-']; string [7] [b'hello world', b'a1-22c333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b'ta-\tnew\nline']; string [7] [b'hello world', b'a-b22c333', b'', b'Aa aA', b'x.y*z',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7] [b'hello world', b'-1b22c333', b'', b'A- aA',
    b'x.y*z', b'z-\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b't-b\tnew\nline']; string [7] [b'- world', b'-1b22c333', b'', b'-
    aA', b'-.y*z', b'-', b'-\tnew\nline']; string [7] [b'-ello world', b'-1b22c333', b'', b'-a aA', b'-.y*z',
    b'-a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'-ab\tnew\nline']; string [7] [b'hello world-', b'a1b22c333-', b'-', b'Aa
    aA-', b'x.y*z-', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87-', b'tab\tnew\nline-']; string [7] [b'hello world',
    b'a1b22c333', b'-', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline']; string [7]
    [b'hello world', b'a1b22-333', b'', b'Aa aA', b'x.y*z', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'tab\tnew\nline'];
    string [7] [b'hello world', b'a1b22c333', b'', b'Aa aA', b'x.y*z', b'za-\xc3\xb3\xc5\x82\xc4\x87',
    b'tab\tnew\nline'])
[replace(MANY, p, "", False) for p in PATTERNS[:16]]
    (string [18] [b'bc', b'XbXc', b'', b'123-456', b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'',
    b'123-456', b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c']; string [18] [b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c']; string [18] [b'ac', b'aXXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a c', b'ac', b'aXXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a c', b'ac', b'aXXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a c']; string [18] [b'abc', b'aXbXc', b'', b'-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'', b'', b'', b'-456',
    b'\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'', b'', b'', b'-456', b'\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c',
    b'', b'', b'', b'-456', b'\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c']; string [18] [b'abc', b'aXbXc', b'',
    b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'ab c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'ab c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'ab c']; string [18] [b'bc', b'XbXc', b'', b'23-456',
    b'a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'23-456', b'a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b' b c', b'bc', b'XbXc', b'', b'23-456', b'a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c']; string [18] [b'c', b'XbXc',
    b'', b'123-456', b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'c', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'c', b'XbXc', b'', b'123-456', b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87',
    b' b c']; string [18] [b'bc', b'XbXc', b'', b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc',
    b'XbXc', b'', b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c']; string [18] [b'ab', b'aXbX', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b ', b'ab', b'aXbX', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b ', b'ab', b'aXbX', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b ']; string [18] [b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'abc', b'abXc', b'', b'23-456',
    b'za\xc3\xb3\xc5\x82\xc4\x87', b'ab c', b'abc', b'abXc', b'', b'23-456', b'za\xc3\xb3\xc5\x82\xc4\x87', b'ab c',
    b'abc', b'abXc', b'', b'23-456', b'za\xc3\xb3\xc5\x82\xc4\x87', b'ab c']; string [18] [b'c', b'aXbXc', b'',
    b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'c', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'c', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c', b'bc', b'XbXc', b'', b'123-456',
    b'z\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b' b c']; string [18] [b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b ', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b ', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b '])
[replace(MANY, p, "[\\0]") for p in PATTERNS[16:]]
    (string [18] [b'abc', b'aXbXc', b'', b'123-456', b'za[\xc5\xbc]\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc',
    b'aXbXc', b'', b'123-456', b'za[\xc5\xbc]\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za[\xc5\xbc]\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'[abc]', b'[a]XbXc', b'', b'123-456',
    b'z[a]\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[abc]', b'[a]XbXc', b'', b'123-456',
    b'z[a]\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[abc]', b'[a]XbXc', b'', b'123-456',
    b'z[a]\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c']; string [18] [b'abc', b'aXbXc', b'', b'[1][2][3]-[4][5][6]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'[1][2][3]-[4][5][6]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'[1][2][3]-[4][5][6]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'[ab]c', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'[ab]c', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'[ab]c', b'aXbXc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'[]a[]b[]c[]', b'[]a[]X[]b[]X[]c[]', b'[]',
    b'[]1[]2[]3[]-[]4[]5[]6[]', b'[]z[]a[]\xc5\xbc[]\xc3\xb3[]\xc5\x82[]\xc4\x87[]', b'[]a[] []b[] [] []c[]',
    b'[]a[]b[]c[]', b'[]a[]X[]b[]X[]c[]', b'[]', b'[]1[]2[]3[]-[]4[]5[]6[]',
    b'[]z[]a[]\xc5\xbc[]\xc3\xb3[]\xc5\x82[]\xc4\x87[]', b'[]a[] []b[] [] []c[]', b'[]a[]b[]c[]', b'[]a[]X[]b[]X[]c[]',
    b'[]', b'[]1[]2[]3[]-[]4[]5[]6[]', b'[]z[]a[]\xc5\xbc[]\xc3\xb3[]\xc5\x82[]\xc4\x87[]', b'[]a[] []b[] [] []c[]'];
    string [18] [b'[a]bc', b'[a]XbXc', b'', b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[a]bc',
    b'[a]XbXc', b'', b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[a]bc', b'[a]XbXc', b'',
    b'123-456', b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c']; string [18] [b'ab[c]', b'aXbX[c]', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b [c]', b'ab[c]', b'aXbX[c]', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b [c]', b'ab[c]', b'aXbX[c]', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b [c]']; string [18] [b'[abc]', b'[aXbXc]', b'', b'[123-456]',
    b'[za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87]', b'[a b c]', b'[abc]', b'[aXbXc]', b'', b'[123-456]',
    b'[za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87]', b'[a b c]', b'[abc]', b'[aXbXc]', b'', b'[123-456]',
    b'[za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87]', b'[a b c]']; string [18] [b'a[b]c', b'aX[b]Xc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a [b] c', b'a[b]c', b'aX[b]Xc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a [b] c', b'a[b]c', b'aX[b]Xc', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a [b] c']; string [18] [b'abc', b'aXbXc', b'', b'[123-456]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'[123-456]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'', b'[123-456]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'[a]bc', b'[a]XbXc', b'', b'123-456',
    b'z[a]\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[a]bc', b'[a]XbXc', b'', b'123-456',
    b'z[a]\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[a]bc', b'[a]XbXc', b'', b'123-456',
    b'z[a]\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c']; string [18] [b'[abc]', b'[aXbXc]', b'', b'123-456',
    b'[za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87]', b'[a] [b] [c]', b'[abc]', b'[aXbXc]', b'', b'123-456',
    b'[za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87]', b'[a] [b] [c]', b'[abc]', b'[aXbXc]', b'', b'123-456',
    b'[za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87]', b'[a] [b] [c]']; string [18] [b'[a]bc', b'[a]XbXc', b'', b'[1]23-456',
    b'[z]a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[a]bc', b'[a]XbXc', b'', b'[1]23-456',
    b'[z]a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c', b'[a]bc', b'[a]XbXc', b'', b'[1]23-456',
    b'[z]a\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'[a] b c']; string [18] [b'abc[]', b'aXbXc[]', b'[]', b'123-456[]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87[]', b'a b c[]', b'abc[]', b'aXbXc[]', b'[]', b'123-456[]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87[]', b'a b c[]', b'abc[]', b'aXbXc[]', b'[]', b'123-456[]',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87[]', b'a b c[]']; string [18] [b'abc', b'aXbXc', b'[]', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'[]', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c', b'abc', b'aXbXc', b'[]', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b c']; string [18] [b'a[bc]', b'aXbX[c]', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b [c]', b'a[bc]', b'aXbX[c]', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b [c]', b'a[bc]', b'aXbX[c]', b'', b'123-456',
    b'za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87', b'a b [c]']; string [18] [b'abc', b'aXbXc', b'', b'123-456',
    b'za[\xc5\xbc][\xc3\xb3][\xc5\x82][\xc4\x87]', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za[\xc5\xbc][\xc3\xb3][\xc5\x82][\xc4\x87]', b'a b c', b'abc', b'aXbXc', b'', b'123-456',
    b'za[\xc5\xbc][\xc3\xb3][\xc5\x82][\xc4\x87]', b'a b c'])
[match(T, p) for p in PATTERNS]
    (bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False, False, False, False,
    False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False, False, False,
    False, False]; bool [7] [False, True, False, False, False, False, False]; bool [7] [False, False, False, False,
    False, False, False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False,
    False, False, False, False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False,
    False, False, False, False, False]; bool [7] [False, False, True, False, False, False, False]; bool [7] [False,
    False, False, False, False, False, False]; bool [7] [False, False, False, False, False, False, False]; bool [7]
    [False, False, False, False, False, False, False]; bool [7] [False, False, False, False, False, False, False]; bool
    [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False, False, False, False, False];
    bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False, False, False, False,
    False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False, False, False,
    False, False]; bool [7] [False, False, True, False, False, False, False]; bool [7] [False, False, False, False,
    False, False, False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [True, True, False, True,
    True, True, True]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False, False,
    False, False, False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False, False,
    False, False, True, False]; bool [7] [False, False, False, False, False, False, False]; bool [7] [False, False,
    True, False, False, False, False]; bool [7] [False, False, True, False, False, False, False]; bool [7] [False,
    False, False, False, False, False, False]; bool [7] [False, False, False, False, False, False, False])
[tf.reduce_sum(tf.cast(match(MANY, p), tf.int32)) for p in PATTERNS]
    (int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 6; int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 0; int32
    [] 0; int32 [] 3; int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 0; int32 [] 3; int32 [] 0;
    int32 [] 0; int32 [] 0; int32 [] 3; int32 [] 0; int32 [] 0; int32 [] 15; int32 [] 0; int32 [] 3; int32 [] 0; int32
    [] 9; int32 [] 0; int32 [] 3; int32 [] 3; int32 [] 0; int32 [] 0)
replace("abcabc", "(a)(b)", "\\2\\1")
    string [] b'bacbac'
replace("abcabc", "(a)(b)", "\\2\\1", replace_global=False)
    string [] b'bacabc'
replace("abc", "b", "\\\\")
    string [] b'a\\c'
replace("abc", "(b)", "\\1\\0\\1")
    string [] b'abbbc'
replace("abc", "b", "\\1")
    string [] b'abc'
replace("abc", "b", "\\q")
    string [] b'ac'
replace("abc", "b", "\\")
    string [] b'ac'
replace("abc", "(", "x")
    InvalidArgumentError
replace("abc", "[", "x")
    InvalidArgumentError
replace("abc", "a(?=b)", "x")
    InvalidArgumentError
replace("abc", "(a)\\1", "x")
    InvalidArgumentError
replace("aaa", "", "-")
    string [] b'-a-a-a-'
replace("żó", "", "-")
    string [] b'-\xc5\xbc-\xc3\xb3-'
replace("aaa", "a*?", "-")
    string [] b'-a-a-a-'
replace("baaac", "a*", "-")
    string [] b'-b-c-'
replace(["a", "b"], tf.constant("a"), tf.constant("x"))
    string [2] [b'x', b'b']
replace(["a", "b"], tf.constant(["a"]), "x")
    InvalidArgumentError
replace(["a", "b"], "a", tf.constant(["x"]))
    InvalidArgumentError
replace(["\xff\xfe".encode("latin1"), b"a\xffb"], "a", "x")
    string [2] [b'\xff\xfe', b'x\xffb']
replace([b"a\xffb"], ".", "x")
    string [1] [b'x\xffx']
replace([b"a\xffb"], "\\C", "x")
    string [1] [b'xxx']
replace([["a"], ["b"]], "b", "c")
    string [2, 1] [[b'a'], [b'c']]
replace(tf.constant([], tf.string), "b", "c")
    string [0] []
match("ab", "a")
    bool [] False
match(["ab", "a"], tf.constant("a"))
    bool [2] [False, True]
match(["ab", "a"], tf.constant(["a"]))
    InvalidArgumentError
match("ab", "(")
    InvalidArgumentError
match([b"\xff", b"a"], ".")
    bool [2] [False, True]
match(["a\n", "a"], "a$")
    bool [2] [False, True]
match(["ab" * 50] * 20, "(ab)*")
    bool [20] [True, True, True, True, True, True, True, True, True, True, True, True, True, True, True, True, True,
    True, True, True]
replace(["ab" * 20 + "c"] * 20, "(ab)+", "<\\1>")
    string [20] [b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c',
    b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c', b'<ab>c']
replace(["x=1, y=22"] * 20, "(\\w)=(\\d+)", "\\2:\\1")
    string [20] [b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y',
    b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y',
    b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y', b'1:x, 22:y']
replace(["x=1, y=22"] * 20, "(\\w)=(\\d+)", "\\2:\\1", False)
    string [20] [b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22',
    b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22',
    b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22', b'1:x, y=22']
replace(["aXbX"] * 20, "X|b", "")
    string [20] [b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a',
    b'a', b'a', b'a']
replace(["  a  b "] * 20, "\\s+", " ")
    string [20] [b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b'
    a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ', b' a b ']
replace(["  a  b "] * 20, "^\\s+|\\s+$", "")
    string [20] [b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b',
    b'a b', b'a b', b'a b', b'a b', b'a b', b'a b', b'a b']
sized(lambda x: replace(x, "a", "b"), ["a", "c"])
    string [2] [b'b', b'c']
sized(lambda x, p, r: replace(x, p, r), ["a", "c"], "a", "b")
    string [2] [b'b', b'c']
sized(lambda x, p: match(x, p), ["a", "c"], "a")
    bool [2] [True, False]
static(lambda x: replace(x, "a", "b"), tf.TensorSpec([2, None], tf.string))
    '(2, None)'
static(lambda x, p: match(x, p), tf.TensorSpec([2, None], tf.string), tf.TensorSpec([], tf.string))
    '(2, None)'
static(lambda x, p: replace(x, p, "a"), tf.TensorSpec([2], tf.string), tf.TensorSpec([2], tf.string))
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
