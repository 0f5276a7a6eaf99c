"""Encodings of strings. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from typed_values import typed

words = ["", "a", "bc", "def", "ghij", "\xff\x00?>", "klmno pq", "r", "stuvwxyz01", "2", "345", "ÿþý"]

VALUES = [
    (
        lambda: tf.io.encode_base64(words),
        (
            "string",
            [
                b"",
                b"YQ",
                b"YmM",
                b"ZGVm",
                b"Z2hpag",
                b"w78APz4",
                b"a2xtbm8gcHE",
                b"cg",
                b"c3R1dnd4eXowMQ",
                b"Mg",
                b"MzQ1",
                b"w7_DvsO9",
            ],
        ),
    ),
    (
        lambda: tf.io.encode_base64(words, pad=True),
        (
            "string",
            [
                b"",
                b"YQ==",
                b"YmM=",
                b"ZGVm",
                b"Z2hpag==",
                b"w78APz4=",
                b"a2xtbm8gcHE=",
                b"cg==",
                b"c3R1dnd4eXowMQ==",
                b"Mg==",
                b"MzQ1",
                b"w7_DvsO9",
            ],
        ),
    ),
    (lambda: tf.io.encode_base64(words[2:5]), ("string", [b"YmM", b"ZGVm", b"Z2hpag"])),
    (lambda: tf.io.encode_base64(["a", "ab", "abc"], True), ("string", [b"YQ==", b"YWI=", b"YWJj"])),
    (lambda: tf.io.encode_base64([["a", "ab"], ["abc", ""]]), ("string", [[b"YQ", b"YWI"], [b"YWJj", b""]])),
    (lambda: tf.io.encode_base64(""), ("string", b"")),
    (lambda: tf.io.encode_base64("", True), ("string", b"")),
    (lambda: tf.io.encode_base64(tf.constant([], tf.string)), ("string", [0], [])),
    (lambda: tf.io.encode_base64(b"\xfb\xef\xbe\xff\xfe"), ("string", b"----__4")),
    (
        lambda: tf.io.decode_base64(tf.io.encode_base64(words)),
        (
            "string",
            [
                b"",
                b"a",
                b"bc",
                b"def",
                b"ghij",
                b"\xc3\xbf\x00?>",
                b"klmno pq",
                b"r",
                b"stuvwxyz01",
                b"2",
                b"345",
                b"\xc3\xbf\xc3\xbe\xc3\xbd",
            ],
        ),
    ),
    (
        lambda: tf.io.decode_base64(tf.io.encode_base64(words, True)),
        (
            "string",
            [
                b"",
                b"a",
                b"bc",
                b"def",
                b"ghij",
                b"\xc3\xbf\x00?>",
                b"klmno pq",
                b"r",
                b"stuvwxyz01",
                b"2",
                b"345",
                b"\xc3\xbf\xc3\xbe\xc3\xbd",
            ],
        ),
    ),
    (lambda: tf.io.decode_base64(["YQ", "YWI", "YWJj", ""]), ("string", [b"a", b"ab", b"abc", b""])),
    (lambda: tf.io.decode_base64(["YQ==", "YWI=", "YWJj"]), ("string", [b"a", b"ab", b"abc"])),
    (lambda: tf.io.decode_base64("-_-_"), ("string", b"\xfb\xff\xbf")),
    (lambda: tf.io.decode_base64("YR"), ("string", b"a")),
    (
        lambda: tf.io.decode_base64(["YWJj"] * 11 + ["YQ=="]),
        ("string", [b"abc", b"abc", b"abc", b"abc", b"abc", b"abc", b"abc", b"abc", b"abc", b"abc", b"abc", b"a"]),
    ),
    (lambda: tf.io.decode_raw(["abcd", "efgh"], tf.uint8), ("uint8", [[97, 98, 99, 100], [101, 102, 103, 104]])),
    (lambda: tf.io.decode_raw(["abcd", "efgh"], tf.int16), ("int16", [[25185, 25699], [26213, 26727]])),
    (
        lambda: tf.io.decode_raw(["abcd", "efgh"], tf.int16, little_endian=False),
        ("int16", [[24930, 25444], [25958, 26472]]),
    ),
    (lambda: tf.io.decode_raw("abcd", tf.int32, False), ("int32", [1633837924])),
    (lambda: tf.io.decode_raw([["abcdefgh"]], tf.int64), ("int64", [[[7523094288207667809]]])),
    (lambda: tf.io.decode_raw(b"\x00\x3c\x00\xc0", tf.float16), ("float16", [1.0, -2.0])),
    (
        lambda: tf.io.decode_raw(b"\x80\x3f\x00\xc0", tf.bfloat16, False),
        ("bfloat16", [-5.7856362579534463e-39, 1.7632415262334313e-38]),
    ),
    (lambda: tf.io.decode_raw("\x01\x00", tf.bool), ("bool", [True, False])),
    (
        lambda: tf.io.decode_raw("abcdefgh", tf.complex64),
        ("complex64", [(1.6777999408082104e22 + 4.371022013021617e24j)]),
    ),
    (lambda: tf.io.decode_raw(["", ""], tf.int32), ("int32", [2, 0], [[], []])),
    (lambda: tf.io.decode_raw(tf.constant([], tf.string), tf.int32), ("int32", [0, 0], [])),
    (
        lambda: tf.io.decode_raw(["ab"] * 20, tf.uint16),
        (
            "uint16",
            [
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
                [25185],
            ],
        ),
    ),
    (
        lambda: tf.io.decode_raw(["abc", "abcdefgh", ""], tf.uint8, fixed_length=4),
        ("uint8", [[97, 98, 99, 0], [97, 98, 99, 100], [0, 0, 0, 0]]),
    ),
    (
        lambda: tf.io.decode_raw(["abc", "abcdefgh", ""], tf.int16, fixed_length=4),
        ("int16", [[25185, 99], [25185, 25699], [0, 0]]),
    ),
    (lambda: tf.io.decode_raw(["abc", "abcdefgh"], tf.int16, False, 4), ("int16", [[24930, 25344], [24930, 25444]])),
    (lambda: tf.io.decode_raw("abc", tf.int32, fixed_length=4), ("int32", [6513249])),
    (lambda: tf.io.decode_raw([["abc"], ["d"]], tf.uint8, fixed_length=2), ("uint8", [[[97, 98]], [[100, 0]]])),
    (lambda: tf.io.parse_tensor(tf.io.serialize_tensor([[1, 2], [3, 4]]), tf.int32), ("int32", [[1, 2], [3, 4]])),
    (lambda: tf.io.parse_tensor(tf.io.serialize_tensor(2.5), tf.float32), ("float32", 2.5)),
    (lambda: tf.io.parse_tensor(tf.io.serialize_tensor(["a", "bc"]), tf.string), ("string", [b"a", b"bc"])),
    (lambda: tf.io.parse_tensor(tf.io.serialize_tensor(tf.zeros([0, 3])), tf.float32), ("float32", [0, 3], [])),
    (lambda: tf.io.parse_tensor(tf.io.serialize_tensor([True, False]), tf.bool), ("bool", [True, False])),
    (
        lambda: tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant([1.5, 2], tf.bfloat16)), tf.bfloat16),
        ("bfloat16", [1.5, 2.0]),
    ),
    (
        lambda: tf.io.serialize_tensor([1, 2]),
        ("string", b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02\x00\x00\x00'),
    ),
    (lambda: tf.io.serialize_tensor(["a", "bc"]), ("string", b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc")),
    (lambda: tf.io.serialize_tensor(True), ("string", b'\x08\n\x12\x00"\x01\x01')),
    (lambda: tf.io.decode_compressed(["x\x9cK\x04\x00\x00b\x00b"], ""), ("string", [b"x\xc2\x9cK\x04\x00\x00b\x00b"])),
    (
        lambda: tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": [3]}}}}}'),
        ("string", b"\n\x0b\n\t\n\x01a\x12\x04\x1a\x02\x08\x03"),
    ),
    (lambda: tf.io.decode_json_example(["{}", '{"features": {}}']), ("string", [b"", b"\n\x00"])),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert typed(compute()) == expected


ERRORS = [
    (lambda: tf.io.encode_base64(3), TypeError, "Cannot convert 3 to EagerTensor of dtype string"),
    (
        lambda: tf.io.decode_base64("a"),
        tf.errors.InvalidArgumentError,
        "Base64 string length cannot be 1 modulo 4. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("abcde"),
        tf.errors.InvalidArgumentError,
        "Base64 string length cannot be 1 modulo 4. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("ab+/"),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("YQ="),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("YQ==="),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("Y==="),
        tf.errors.InvalidArgumentError,
        "Base64 string length cannot be 1 modulo 4. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("="),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64] name:",
    ),
    (
        lambda: tf.io.decode_base64("===="),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64("Y=Q="),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64(["YWJj"] * 11 + ["a"]),
        tf.errors.InvalidArgumentError,
        "Base64 string length cannot be 1 modulo 4. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64(["YWJj"] * 11 + ["ab!d"]),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64(["YWJj"] * 11 + ["YQ="]),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64(["YWJj"] * 11 + ["YWJj===="]),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_base64(["YWJj"] * 11 + ["YQ===="]),
        tf.errors.InvalidArgumentError,
        "Invalid character found in base64. [Op:DecodeBase64]",
    ),
    (
        lambda: tf.io.decode_raw("\x00\x00\x80?", tf.float32),
        tf.errors.InvalidArgumentError,
        "Input to DecodeRaw has length 5 that is not a multiple of 4, the size of float",
    ),
    (
        lambda: tf.io.decode_raw(["ab", "abcd"], tf.uint8),
        tf.errors.InvalidArgumentError,
        "DecodeRaw requires input strings to all be the same size, but element 1 has size 2 != 4 [O",
    ),
    (
        lambda: tf.io.decode_raw(["ab"] * 20 + ["abc"], tf.uint8),
        tf.errors.InvalidArgumentError,
        "DecodeRaw requires input strings to all be the same size, but element 20 has size 2 != 3 [",
    ),
    (
        lambda: tf.io.decode_raw("abc", tf.int16),
        tf.errors.InvalidArgumentError,
        "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16 [Op:DecodeR",
    ),
    (
        lambda: tf.io.decode_raw("abc", tf.string),
        tf.errors.InvalidArgumentError,
        "Value for attr 'out_type' of string is not in the list of allowed values: half, float, dou",
    ),
    (
        lambda: tf.io.decode_raw("abc", tf.int16, fixed_length=3),
        tf.errors.InvalidArgumentError,
        "fixed_length (3) must be a multiple of the size of out_type (2) [Op:DecodePaddedRaw]",
    ),
    (
        lambda: tf.io.decode_raw("abc", tf.int16, fixed_length=0),
        tf.errors.InvalidArgumentError,
        "fixed_length (0) must be greater than zero. [Op:DecodePaddedRaw]",
    ),
    (
        lambda: tf.io.decode_raw("abc", tf.int16, fixed_length=-2),
        tf.errors.InvalidArgumentError,
        "fixed_length (-2) must be greater than zero. [Op:DecodePaddedRaw]",
    ),
    (
        lambda: tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32),
        tf.errors.InvalidArgumentError,
        "Type mismatch between parsed tensor (int32) and dtype (float) [Op:ParseTensor] name: ",
    ),
    (
        lambda: tf.io.parse_tensor("nothing", tf.float32),
        tf.errors.InvalidArgumentError,
        "Could not parse `serialized` as TensorProto, base64: bm90aGluZw== [Op:ParseTensor]",
    ),
    (
        lambda: tf.io.parse_tensor(["a", "b"], tf.float32),
        tf.errors.InvalidArgumentError,
        "Expected `serialized` to be a scalar, got shape: [2] [Op:ParseTensor]",
    ),
    (lambda: tf.io.parse_tensor("", tf.float32), tf.errors.InvalidArgumentError, "Cannot parse tensor from proto:"),
    (lambda: tf.io.parse_tensor(3, tf.float32), TypeError, "Cannot convert 3 to EagerTensor of dtype string"),
    (
        lambda: tf.io.decode_compressed("abc", "LZ4"),
        tf.errors.InvalidArgumentError,
        "Only ZLIB, GZIP or NONE are supported compressions [Op:Decod",
    ),
    (
        lambda: tf.io.decode_compressed("abc", "ZLIB"),
        tf.errors.DataLossError,
        "inflate() failed with error -3: incorrect header check [Op:DecodeCompressed]",
    ),
    (lambda: tf.io.decode_json_example("{"), tf.errors.InvalidArgumentError, "Error while parsing JSON:"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
