"""Files and encodings. What is expected is what TensorFlow 2.21 gave."""

import numpy as np
import pytest

import tapeflow as tf

gfile = tf.io.gfile


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, text):
    with gfile.GFile(path, "w") as f:
        f.write(text)


def test_reading_and_writing():
    write("a", "héllo\nworld\n")
    assert gfile.GFile("a").read() == "héllo\nworld\n"
    assert gfile.GFile("a", "rb").read(3) == b"h\xc3\xa9"
    assert gfile.GFile("a").readlines() == ["héllo\n", "world\n"]
    assert list(gfile.GFile("a", "rb")) == [b"h\xc3\xa9llo\n", b"world\n"]
    assert gfile.GFile("a").size() == 13
    with gfile.GFile("a", "a") as f:
        f.write(b"!")
    with gfile.GFile("a") as f:
        assert (f.readline(), f.tell()) == ("héllo\n", 7)
        f.seek(-1, 2)
        assert f.read() == "!"
        f.seek(7)
        assert f.next() == "world\n"


def test_modes():
    write("a", "x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for reading"):
        gfile.GFile("b", "w").read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for writing"):
        gfile.GFile("a").write("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        gfile.GFile("a", "x")
    with pytest.raises(tf.errors.NotFoundError, match="zz; No such file or directory"):
        gfile.GFile("zz").read()


def test_folders():
    gfile.mkdir("d")
    gfile.mkdir("d")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.mkdir("x/y")
    gfile.makedirs("x/y")
    write("x/file", "")
    assert sorted(gfile.listdir("x")) == ["file", "y"]
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory nope"):
        gfile.listdir("nope")
    assert list(gfile.walk("x")) == [("x", ["y"], ["file"]), ("x/y", [], [])]
    assert next(gfile.walk("x", topdown=False))[0] == "x/y"
    assert list(gfile.walk("nope")) == []
    assert (gfile.isdir("x"), gfile.isdir("x/file"), gfile.exists("x/file")) == (True, False, True)
    gfile.rmtree("x")
    with pytest.raises(tf.errors.NotFoundError, match="x not found"):
        gfile.rmtree("x")


def test_moving_files(tmp_path):
    write("a", "abc")
    gfile.copy("a", "b")
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        gfile.copy("a", "b")
    gfile.copy("a", "b", overwrite=True)
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.rename("b", "a")
    gfile.rename("b", f"file://{tmp_path}/c")
    assert not gfile.exists("b")
    assert (gfile.stat("c").length, gfile.stat("c").is_directory) == (3, False)
    gfile.remove("c")
    for missing in (gfile.remove, gfile.stat, lambda p: gfile.copy(p, "q"), lambda p: gfile.rename(p, "q")):
        with pytest.raises(tf.errors.NotFoundError, match="zz; No such file or directory"):
            missing("zz")


def test_glob():
    gfile.makedirs("new/dir")
    for name in ("a1", "a2", "new/dir/f"):
        write(name, "")
    assert gfile.glob("a*") == ["./a1", "./a2"]
    assert gfile.glob(["a1", "*/*/f"]) == ["a1", "./new/dir/f"]
    assert gfile.glob("zz*") == []
    assert tf.io.matching_files(["a*", "new*/*/f"]).numpy().tolist() == [b"./a1", b"./a2", b"./new/dir/f"]
    assert tf.io.matching_files("zz").shape == [0]


def test_whole_files():
    tf.io.write_file("new/dir/f", "abc")
    assert tf.io.read_file("new/dir/f").numpy() == b"abc"
    with pytest.raises(tf.errors.NotFoundError, match="zz; No such file or directory"):
        tf.io.read_file("zz")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be scalar"):
        tf.io.read_file(["a"])


def test_base64():
    assert tf.io.encode_base64(["a?>", "xyz"]).numpy().tolist() == [b"YT8-", b"eHl6"]
    assert tf.io.encode_base64("a", pad=True).numpy() == b"YQ=="
    assert tf.io.decode_base64(["YT8-", "YQ", "YQ=="]).numpy().tolist() == [b"a?>", b"a", b"a"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be 1 modulo 4"):
        tf.io.decode_base64("!")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid character"):
        tf.io.decode_base64("YQ=")


def test_decode_raw():
    assert tf.io.decode_raw("1234", tf.int16).numpy().tolist() == [12849, 13363]
    assert tf.io.decode_raw(["1234"], tf.int16, little_endian=False).numpy().tolist() == [[12594, 13108]]
    assert tf.io.decode_raw(["1234", "5678"], tf.uint8, fixed_length=3).numpy().tolist() == [[49, 50, 51], [53, 54, 55]]
    padded = tf.io.decode_raw(["1234", "5"], tf.uint16, fixed_length=6)
    assert padded.numpy().tolist() == [[12849, 13363, 0], [53, 0, 0]]
    assert tf.io.decode_raw(np.float32([1.5, -2.0]).tobytes(), tf.float32).numpy().tolist() == [1.5, -2.0]
    for bad, dtype in ((["1234", "56"], tf.int16), ("123", tf.int16), ("12", tf.string)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_raw(bad, dtype)


@pytest.mark.parametrize("value", [[1, 2], [[1.5]], ["a", "b"], True, np.zeros((0, 2), np.int64)], ids=repr)
def test_serialized_tensors(value):
    tensor = tf.constant(value)
    again = tf.io.parse_tensor(tf.io.serialize_tensor(tensor), tensor.dtype)
    assert again.dtype is tensor.dtype
    assert again.numpy().tolist() == tensor.numpy().tolist()


def test_bad_serialized_tensors():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(int32\) and dtype \(float\)"):
        tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse `serialized` as TensorProto"):
        tf.io.parse_tensor(b"zz", tf.float32)


@pytest.mark.parametrize(
    ("dtype", "dims", "fields"),
    [("float32", [1 << 60], {"float_val": [1.0]}), ("float32", [1 << 40, 1 << 40], {}), ("float32", [-1], {}),
     ("float32", [3], {"tensor_content": b"1234"}), ("float32", [1], {"tensor_content": b"12345"}),
     ("string", [2], {"tensor_content": b"\1\5ab"}), ("string", [1], {"tensor_content": b"\1abc"}),
     ("bool", [1], {"tensor_content": b"\7"}), (99, [1], {"float_val": [1.0]}), (0, [1], {})],
)  # fmt: skip
def test_a_serialized_tensor_that_lies(dtype, dims, fields):
    from tensorboard.compat.proto import tensor_pb2

    number = tf.as_dtype(dtype).as_datatype_enum if isinstance(dtype, str) else dtype
    proto = tensor_pb2.TensorProto(dtype=number, **fields)
    for size in dims:
        proto.tensor_shape.dim.add(size=size)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot parse tensor from proto"):
        tf.io.parse_tensor(proto.SerializeToString(), dtype if isinstance(dtype, str) else "float32")


def test_a_serialized_tensor_of_wide_numbers():
    from tensorboard.compat.proto import tensor_pb2

    proto = tensor_pb2.TensorProto(dtype=tf.uint8.as_datatype_enum, int_val=[300])
    assert tf.io.parse_tensor(proto.SerializeToString(), tf.uint8).numpy() == 44
    proto = tensor_pb2.TensorProto(dtype=tf.float16.as_datatype_enum, half_val=[0x3C00 + (1 << 16)])
    assert tf.io.parse_tensor(proto.SerializeToString(), tf.float16).numpy() == 1.0


def test_examples_in_json():
    numbers, texts = '{"int64List": {"value": ["3", 4]}}', '{"bytesList": {"value": ["aGk="]}}'
    text = f'{{"features": {{"feature": {{"a": {numbers}, "b": {texts}}}}}}}'
    features = {"a": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.FixedLenFeature([], tf.string)}
    parsed = tf.io.parse_example(tf.io.decode_json_example([text]), features)
    assert parsed["a"].numpy().tolist() == [[3, 4]] and parsed["b"].numpy().tolist() == [b"hi"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
        tf.io.decode_json_example("{")
