"""The calls of registered ops that the op table makes: what tests run that hold for every op."""

import importlib
import pkgutil

import pytest

import op_table
import tapeflow as tf
from tapeflow.core.context import discard, listeners, state

for _module in pkgutil.walk_packages(tf.__path__, "tapeflow."):  # an op is registered when its namespace is loaded
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)

MOST_CALLS = 12  # of one op


class Recorder:
    """Notes every registered op that runs, with its arguments, as a tape does."""

    def __init__(self):
        self.calls = {}

    def record(self, op, inputs, attrs, outputs):
        calls = self.calls.setdefault(op.name, [])
        if op.registered and op.kinds.count("list") < 2 and len(calls) < MOST_CALLS:
            in_list = len(inputs) - op.kinds.count("tensor")
            calls.append((op, op.with_tensors(inputs, attrs, in_list), list(outputs)))


# What no row of the op table runs: an op of strings, and gradients' ops of few shapes.
MORE = [
    lambda: tf.strings.lower([["AB", "c"], ["d", "E"]]),
    lambda: tf.strings.upper([["AB", "c"], ["d", "E"]]),
    lambda: tf.strings.length([["AB", "c"], ["d", ""]]),
    lambda: tf.strings.strip([[" AB", "c "], ["d", ""]]),
    lambda: tf.strings.regex_replace(["ab", "bc"], "b", "x"),
    lambda: tf.strings.regex_full_match(["ab", "bc"], "a."),
    lambda: tf.strings.to_number(["1", "2.5"]),
    lambda: tf.strings.as_string([[1, 2], [3, 4]]),
    lambda: tf.strings.substr(["abc", "defg"], [0, 1], [1, 2]),
    lambda: tf.strings.to_hash_bucket_fast(["a", "b"], 10),
    lambda: tf.strings.to_hash_bucket_strong(["a", "b"], 10, [1, 2]),
    lambda: tf.raw_ops.StringToHashBucket(string_tensor=["a", "b"], num_buckets=10),
    lambda: tf.raw_ops.RegexReplace(input=["ab", "bc"], pattern="b", rewrite="x"),
    lambda: tf.raw_ops.RegexFullMatch(input=["ab", "bc"], pattern="a."),
    lambda: tf.strings.unicode_script([97, 1040]),
    lambda: tf.strings.unicode_transcode(["a", "b"], "UTF-8", "UTF-16-BE"),
    lambda: tf.io.decode_compressed(["a", "b"]),
    lambda: tf.io.decode_json_example(['{"features": {}}', "{}"]),
    lambda: tf.io.encode_base64(["a", "bc"]),
    lambda: tf.io.decode_base64(tf.io.encode_base64(["a", "bc"])),
    lambda: tf.zeros_like([[1.0, 2.0]]),
    lambda: tf.ones_like([[1.0, 2.0]]),
    lambda: tf.shape([[1.0, 2.0]]),
    lambda: tf.size([[1.0, 2.0]]),
    lambda: tf.rank([[1.0, 2.0]]),
    lambda: tf.raw_ops.AddV2(x=[[1.0, 2.0]], y=[[3.0], [4.0]]),
    lambda: tf.raw_ops.Mul(x=[[1, 2]], y=[[3], [4]]),
    lambda: tf.raw_ops.Sub(x=[[1, 2]], y=[[3], [4]]),
    lambda: tf.raw_ops.Sub(x=[[1.0, -2.0]], y=[[3.0], [4.0]]),
    lambda: tf.raw_ops.Neg(x=[[1, 2]]),
    lambda: tf.raw_ops.Square(x=[[1, 2]]),
    lambda: tf.raw_ops.Abs(x=[[1, -2]]),
    lambda: tf.raw_ops.FloorDiv(x=[[7, -7]], y=[[2], [-2]]),
    lambda: tf.raw_ops.FloorMod(x=[[7, -7]], y=[[2], [-2]]),
    lambda: tf.raw_ops.Maximum(x=[[7, -7]], y=[[2], [-2]]),
    lambda: tf.raw_ops.Minimum(x=[[7, -7]], y=[[2], [-2]]),
    lambda: tf.raw_ops.AddN(inputs=[tf.constant([1.0, 2.0]), tf.constant([3.0, 4.5])]),
    lambda: tf.raw_ops.Inv(x=[2.0, -4.0]),
    lambda: tf.raw_ops.PreventGradient(input=[2.0, -4.0]),
    lambda: tf.raw_ops.RandomGammaGrad(alpha=[0.5, 2.0], sample=[1.0, 3.0]),
    lambda: tf.debugging.check_numerics([2.0, -4.0], "finite"),
    lambda: tf.quantization.fake_quant_with_min_max_args([-7.0, 0.3, 5.0]),
    lambda: tf.quantization.fake_quant_with_min_max_args_gradient([1.0, 2.0, 3.0], [-7.0, 0.3, 5.0]),
    lambda: tf.raw_ops.BroadcastTo(input=[1.0, 2.0], shape=[2]),
    lambda: tf.raw_ops.Cast(x=[1.0, 2.0], DstT=tf.float32),
]


@pytest.fixture(scope="package")
def calls():
    """The calls of registered ops that the op table makes, in one dtype, and those of their gradients."""
    recorder = Recorder()
    state.tapes.append(recorder)
    listeners.append(recorder)
    try:
        for call in MORE:
            call()
        for row in op_table.all_rows():
            dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
            for args, kwargs in row.samples:
                row.function(*[op_table.cast(a, dtype) for a in args], **kwargs)
            if row.gradient and row.samples:
                op_table._gradients(row.function, *differentiable(row))
    finally:
        discard(state.tapes, recorder)
        discard(listeners, recorder)
    return recorder.calls


def differentiable(row):
    args, kwargs = row.samples[0]
    nth = op_table._differentiated(row, args)
    given = [tf.constant(a) if i in nth else op_table.cast(a, "float64") for i, a in enumerate(args)]
    return given, {k: op_table.cast(v, "float64") for k, v in kwargs.items()}, nth, 3
